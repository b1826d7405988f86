"""What does the page need beyond the widgets?  A style, names for controls, and words for the rest.

Public names: `dress` (HTML that each live explorer carries), `caption` (HTML below the stored
picture), `ASLEEP`.

ipywidgets give a slider's handle no name and let it say its index; pictures have no alternative
text, and no region is announced. names.js puts this right in the browser. It sits in the `onload`
of an empty image, since a widget's HTML runs no script elements; where a page forbids that, too,
all else works as before. The stored picture stands for the live one wherever no kernel gives it
life: they are two outputs of one cell, one after the other, and still.css shows one of them.
"""

from __future__ import annotations

import html
import json
from functools import cache
from pathlib import Path

ASLEEP = "The sliders sleep until this notebook runs: choose Run → Run All Cells."

EMPTY = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="


def dress(alt: str, says: list[list[str] | None]) -> str:
    """Style and names for an explorer; says: what each row's slider says at each tick, or None."""
    script, spoken = _file("names.js"), json.dumps(says, ensure_ascii=False, separators=(",", ":"))
    data = {"src": EMPTY, "alt": "", "data-alt": alt, "data-says": spoken, "onload": script}
    attributes = " ".join(f'{name}="{html.escape(value)}"' for name, value in data.items())
    return f"<style>{_file('live.css')}</style><img {attributes}>"


def caption(readout: str) -> str:
    """What stands below the stored picture: the readout, and how the sliders come to life."""
    said = f'<pre style="font-family:monospace">{html.escape(readout)}</pre>\n' if readout else ""
    return f"<figcaption>{said}{ASLEEP}</figcaption>\n<style>\n{_file('still.css')}</style>\n"


@cache
def _file(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
