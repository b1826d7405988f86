"""What does the page need beyond the widgets?  A style, names for controls, and words for the rest.

Public names: `dress` (HTML that each live explorer carries), `caption` (HTML below the stored
picture), `ASLEEP`.

ipywidgets give a slider's handle no name and let it say its index; pictures have no alternative
text, and no region is announced. NAMES puts this right in the browser. It sits in the `onload` of
an empty image, since a widget's HTML runs no script elements; where a page forbids that, too, all
else works as before.
"""

from __future__ import annotations

import html
import json

ASLEEP = "The sliders sleep until this notebook runs: choose Run → Run All Cells."

STYLE = """
.course-explorer { container-type: inline-size; width: 100%; }
.course-explorer .course-dress { display: none; }
.course-explorer .course-board { display: grid; gap: 4px 20px; align-items: start;
  grid-template-columns: minmax(0, 1fr); overflow: visible; }
.course-explorer .course-side { display: block; min-width: 0; overflow: visible; }
.course-explorer .course-picture { width: auto; height: auto; margin: 0; }
.course-explorer .course-controls { display: grid; gap: 2px 24px; overflow: visible;
  grid-template-columns: repeat(auto-fit, minmax(240px, 1fr)); }
.course-explorer .course-row { display: grid; align-items: center; overflow: visible;
  grid-template: "label box" 24px "track track" 20px / minmax(0, 1fr) auto; }
.course-explorer .course-row.course-plays { grid-template:
  "label box" 24px "play track" 24px / 76px minmax(0, 1fr); }
.course-explorer .course-row.course-plays .course-box { justify-self: end; }
.course-explorer .course-row > * { margin: 0; width: auto; height: auto; min-width: 0; }
.course-explorer .course-row > .widget-slider, .course-explorer .course-row > .widget-dropdown,
.course-explorer .course-row > .course-box { display: contents; }
.course-explorer .course-row .widget-label { grid-area: label; text-align: left; width: auto;
  margin: 0; line-height: 24px; height: 24px; }
.course-explorer .course-row .slider-container { grid-area: track; margin: 0 8px; }
.course-explorer .course-row .widget-dropdown select { grid-area: track; width: 100%; height: 22px;
  padding-top: 0; padding-bottom: 0; }
.course-explorer .course-row .course-box .widget-label { position: absolute; width: 1px;
  height: 1px; overflow: hidden; clip-path: inset(50%); }
.course-explorer .course-row .course-box input { grid-area: box; justify-self: end; width: 84px;
  height: 22px; text-align: right; }
.course-explorer .widget-play { grid-area: play; }
.course-explorer .widget-play .jupyter-button { height: 22px; line-height: 22px; width: 34px;
  padding: 0; flex: none; }
.course-explorer .course-readout { margin: 0 0 6px; overflow: visible; height: auto; }
.course-explorer .course-readout .widget-html-content { white-space: pre-wrap;
  font: 13px/19px var(--jp-code-font-family, monospace); color: var(--jp-content-font-color0); }
.course-explorer .course-foot { align-items: center; gap: 12px; }
.course-explorer .course-foot > * { margin: 4px 0 0; }
.course-explorer .course-asleep { display: none; }
.course-explorer.jupyter-widgets-disconnected .course-asleep { display: block; width: auto; }
.course-explorer.jupyter-widgets-disconnected .course-foot .jupyter-button { display: none; }
.course-explorer.jupyter-widgets-disconnected .course-row { opacity: .5; pointer-events: none; }
.course-explorer .jupyter-widgets-disconnected::before,
.course-explorer.jupyter-widgets-disconnected::before { content: none; }
@container (min-width: 840px) {
  .course-explorer .course-board { grid-template-columns: minmax(0, 62%) minmax(250px, 1fr); }
  .course-explorer .course-picture { max-height: calc(100vh - 150px) !important; }
}
"""

# The stored picture stands for the live one wherever no kernel gives it life. They are two outputs
# of one cell, one after the other; JupyterLab and exported pages use the same names.
STILL_STYLE = """
.jp-OutputArea-child:has(.course-still):has(+ .jp-OutputArea-child .course-explorer),
.jp-OutputArea-child:has(.course-still) + .jp-OutputArea-child:not(:has(.course-explorer))
{ display: none; }
.course-still figcaption { color: #545b66; font-size: 90%; }
.course-still pre { margin: 4px 0; white-space: pre-wrap; }
"""

NAMES = """
(async picture => {
  let root;
  for (let i = 0; i < 100 && !(root = picture.closest(".course-explorer")); i++)
    await new Promise(wait => setTimeout(wait, 100));
  if (!root || root.named) return;
  root.named = true;
  const says = JSON.parse(picture.dataset.says), put = (element, name, value) => {
    if (element && value !== undefined && element.getAttribute(name) !== value)
      element.setAttribute(name, value);
  };
  const name = () => {
    const image = root.querySelector(".course-picture");
    put(image, "alt", picture.dataset.alt);
    const readout = root.querySelector(".course-readout .widget-html-content");
    put(readout, "role", "status");
    root.querySelectorAll(".course-row").forEach((row, i) => {
      const handle = row.querySelector(".noUi-handle"), label = row.querySelector("label");
      put(handle, "aria-label", label?.textContent);
      if (handle && says[i])
        put(handle, "aria-valuetext", says[i][Math.round(handle.getAttribute("aria-valuenow"))]);
      row.querySelectorAll(".widget-play button").forEach((button, k) => {
        const playing = button.querySelector(".fa-pause");
        put(button, "aria-label", ["Play", "Stop and go back to the start", "Repeat"][k]);
        if (k === 0) put(button, "aria-pressed", String(!!playing));
      });
    });
  };
  name();
  new MutationObserver(name).observe(root, {subtree: true, childList: true, attributes: true,
    attributeFilter: ["aria-valuenow", "aria-valuetext", "class"]});
})(this)
"""

EMPTY = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="


def dress(alt: str, says: list[list[str] | None]) -> str:
    """Style and names for an explorer; says: what each row's slider says at each tick, or None."""
    words = html.escape(json.dumps(says, ensure_ascii=False, separators=(",", ":")))
    return (
        f"<style>{STYLE}</style>"
        f'<img alt="" src="{EMPTY}" data-alt="{html.escape(alt)}" data-says="{words}"'
        f' onload="{html.escape(NAMES)}">'
    )


def caption(readout: str) -> str:
    """What stands below the stored picture: the readout, and how the sliders come to life."""
    said = f"<pre>{html.escape(readout)}</pre>\n" if readout else ""
    return f"<figcaption>{said}{ASLEEP}</figcaption>\n<style>{STILL_STYLE}</style>\n"
