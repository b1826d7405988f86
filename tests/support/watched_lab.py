"""What only tests ask of a lesson in the browser: pictures, readouts, complaints, screenshots.

`WatchedLab` is the `Lab` of course_lib.tools.browser with eyes: a page that ends without an error
must have said nothing bad on the console and asked nobody but this machine; one that ends with an
error leaves a screenshot and its console in tests/screenshots/.
"""

import contextlib
import json
from pathlib import Path
from urllib.parse import urlsplit

from course_lib.explore import slider
from course_lib.tools.browser import PROJECT, ExplorerOnPage, Lab, Page

SCREENSHOTS = PROJECT / "tests" / "screenshots"
WIDGETS = "config_dir/lab/user-settings/@jupyter-widgets/jupyterlab-manager"
ANY_NUMBER = slider(-1e9, 1e9, 0.0)
FINGERPRINT = """async image => {
    const bytes = await (await fetch(image.src)).arrayBuffer();
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    return Array.from(digest, b => b.toString(16).padStart(2, "0")).join("");
}"""


class WatchedLab(Lab):
    """A running JupyterLab whose pages are watched."""

    @contextlib.contextmanager
    def open(self, name, width=1366, height=900):
        """The notebook `name` in a fresh window, as a `WatchedPage`; its kernel is ready."""
        with self.window(viewport={"width": width, "height": height}) as tab:
            page = WatchedPage(tab, self.home / name, self.url)
            page.forget_evidence()
            try:
                page.load(self.address(name))
                yield page
                page.require_clean()
            except BaseException:
                page.keep_evidence()
                raise

    @contextlib.contextmanager
    def phone(self, path):
        """A file in a window as narrow as a phone's (390 px), as Playwright's page."""
        size = {"width": 390, "height": 844}
        with self.window(viewport=size, device_scale_factor=2, is_mobile=True) as tab:
            tab.goto(Path(path).as_uri())
            yield tab

    def save_widgets(self, on):
        """Whether notebooks that are opened from now on are saved with their widgets."""
        folder = self.home.parent / WIDGETS
        folder.mkdir(parents=True, exist_ok=True)
        setting = json.dumps({"saveState": on})
        (folder / "plugin.jupyterlab-settings").write_text(setting, encoding="utf-8")


class WatchedPage(Page):
    """One notebook in the browser, with what it said (`console`) and whom it asked (`outside`)."""

    def __init__(self, tab, path, url):
        super().__init__(tab, path)
        self.console, self.outside, self._here = [], [], urlsplit(url).netloc
        tab.on(
            "console",
            lambda m: self.console.append((m.type, f"{m.text} ({m.location.get('url', '')})")),
        )
        tab.on("pageerror", lambda error: self.console.append(("error", str(error))))
        tab.on("request", lambda request: self._asked(request.url))
        tab.on("websocket", lambda socket: self._asked(socket.url))

    def _asked(self, url):
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob", "about") and parts.netloc != self._here:
            self.outside.append(url)

    # ---- what was seen

    def require_clean(self):
        """AssertionError when the page complained on its console or asked another machine."""
        errors = [text for kind, text in self.console if kind == "error"]
        assert not errors, f"{self.path.name}: the console says {errors}"
        assert not self.outside, f"{self.path.name}: asked another machine for {self.outside}"

    def screenshot(self, suffix, centre=None):
        """Keep what the window shows as tests/screenshots/NAME-suffix.png, scrolled to centre."""
        if centre:
            centre.evaluate("element => element.scrollIntoView({block: 'center'})")
        self.tab.screenshot(path=self._evidence(f"{suffix}.png"))

    def keep_evidence(self):
        """A screenshot and the console, as NAME-failed.png and .txt."""
        lines = [f"{kind}: {text}" for kind, text in self.console]
        lines += [f"asked outside: {url}" for url in self.outside]
        self._evidence("failed.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        with contextlib.suppress(Exception):  # the page itself may be gone
            self.screenshot("failed")

    def forget_evidence(self):
        """Remove what an earlier run left behind when it failed."""
        for name in ("failed.png", "failed.txt"):
            self._evidence(name).unlink(missing_ok=True)

    def _evidence(self, name):
        SCREENSHOTS.mkdir(exist_ok=True)
        return SCREENSHOTS / f"{self.path.stem}-{name}"

    # ---- the notebook

    def pictures(self):
        """How many pictures in outputs the browser could draw."""
        return self.tab.locator(".jp-OutputArea-output img").evaluate_all(
            "images => images.filter(i => i.complete && i.naturalWidth > 0).length"
        )

    def save(self):
        """Save the notebook, and wait until the file has changed."""
        before = self.path.stat().st_mtime_ns
        self.tab.locator(".jp-Notebook .jp-Cell").first.click()
        self.tab.keyboard.press("ControlOrMeta+s")
        self.until(
            lambda: (
                self.path.stat().st_mtime_ns != before
                and self.path.read_text().rstrip()[-1:] == "}"
            ),
            "it was not saved",
        )

    def code_cell(self, cell):
        """The locator of a code cell, counted from 0 among code cells."""
        return self.tab.locator(".jp-CodeCell").nth(cell)

    def type(self, cell, source):
        """Type source into a code cell instead of what is there."""
        self.code_cell(cell).locator(".cm-content").click()
        self.tab.keyboard.press("ControlOrMeta+a")
        self.tab.keyboard.insert_text(source)

    def answer(self, cell, source):
        """Type source into a code cell instead of what is there, and run it."""
        self.type(cell, source)
        self.run(cell)

    def run(self, cell):
        """Run one code cell and wait for its end."""
        before = self.prompts()[cell]
        self.code_cell(cell).locator(".cm-content").click()
        self.tab.keyboard.press("ControlOrMeta+Enter")
        self.until(
            lambda: self.prompts()[cell] not in (before, "[*]:"), f"code cell {cell} was not run"
        )

    def output(self, cell):
        """Text below a code cell."""
        return "\n".join(self.code_cell(cell).locator(".jp-OutputArea-output").all_text_contents())

    def errors(self):
        """Tracebacks and stderr shown in outputs."""
        marks = (
            '[data-mime-type="application/vnd.jupyter.error"],'
            ' [data-mime-type="application/vnd.jupyter.stderr"]'
        )
        return self.tab.locator(
            f".jp-OutputArea-output:is({marks}), .jupyter-widgets-error-widget"
        ).all_text_contents()

    def explorers(self):
        """The explorers with a live panel, from top to bottom."""
        return [WatchedExplorer(self, explorer.box) for explorer in super().explorers()]


class WatchedExplorer(ExplorerOnPage):
    """A picture with its controls, as somebody sees and uses it."""

    def picture(self):
        """A fingerprint of the picture's bytes."""
        return self.box.locator("img.course-picture").evaluate(FINGERPRINT)

    def other_picture(self, old, after):
        """Wait for a picture that differs from old; returns its fingerprint."""
        return self.page.until(
            lambda: (new := self.picture()) != old and new,
            f"the picture did not change after {after}",
        )

    def press(self, key, control=0):
        """Press a key on a slider; returns the fingerprint of the new picture."""
        old = self.picture()
        self.handle(control).press(key)
        return self.other_picture(old, key)

    def text(self, control=0):
        """What the box beside a slider shows."""
        return self.box.locator(".course-box input").nth(control).input_value()

    def number(self, control=0):
        """The number in the box beside a slider."""
        return ANY_NUMBER.read(self.text(control))

    def says(self, control=0):
        """What a screen reader gets of a slider's handle: its name and its value in words."""
        handle = self.handle(control)
        return handle.get_attribute("aria-label"), handle.get_attribute("aria-valuetext")

    def height(self):
        """From the picture's top to the last control's foot [px], and what the window has."""
        room = self.page.tab.locator(".jp-WindowedPanel-outer:visible").first.bounding_box()
        return self.box.bounding_box()["height"], room["height"]

    def readout(self):
        """The readout's text."""
        return self.box.locator(".course-readout .widget-html-content").text_content()

    def type(self, number, control=0):
        """Type into the box beside a slider; returns the fingerprint of the new picture."""
        old, box = self.picture(), self.box.locator(".course-box input").nth(control)
        box.fill(str(number))
        box.press("Enter")
        return self.other_picture(old, f"typing {number}")

    def choose(self, label):
        """Pick a label in the drop-down list; returns the fingerprint of the new picture."""
        old = self.picture()
        self.box.locator("select").first.select_option(label)
        return self.other_picture(old, f"choosing {label}")

    def reset(self, start):
        """Press Reset and wait for the picture with the fingerprint start."""
        self.box.get_by_role("button", name="Reset").click()
        self.page.until(
            lambda: self.picture() == start, "Reset did not bring the first picture back"
        )

    def has_player(self):
        """Whether there is a play button."""
        return self.box.locator(".widget-play").count() > 0

    def player_button(self, name):
        """The "play" (also pause), "stop" or "repeat" button of the first player."""
        return self.box.locator(".widget-play button").nth(("play", "stop", "repeat").index(name))
