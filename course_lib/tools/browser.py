"""JupyterLab in a headless browser: what the browser test and the bench press keys in.

    with start_lab() as lab:                        # server on a copy of notebooks/, and a browser
        with lab.open("02_dh_derivation.ipynb") as page:
            page.run_all()
            page.explorers()[0].press("ArrowRight")

A page that ends without an error must have said nothing bad on the console and asked nobody but
this machine; one that ends with an error leaves a screenshot and its console in tests/screenshots/.

Public names: `start_lab`, `Lab`, `Page`, `ExplorerOnPage`, `find_browser`, `free_port`,
`NoBrowser`, `SCREENSHOTS`.
"""

import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from course_lib.explore import slider

PROJECT = Path(__file__).resolve().parents[2]
NOTEBOOKS = PROJECT / "notebooks"
SCREENSHOTS = PROJECT / "tests" / "screenshots"

START_SECONDS = 60  # for the server
STEP_SECONDS = 60  # for anything one waits for in the page
RUN_SECONDS = 240  # for all cells of a notebook

WIDGETS = "@jupyter-widgets/jupyterlab-manager/plugin"

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
    "microsoft-edge",
)
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)


class NoBrowser(Exception):
    """There is no browser to drive; the text says why."""


# ---- the browser ----------------------------------------------------------------------------


def find_browser() -> str:
    """Path of a Chromium, Chrome or Edge. Raises NoBrowser."""
    found = next(filter(None, map(shutil.which, NAMES + PLACES)), None)
    if not found:
        raise NoBrowser("no chromium, google-chrome or msedge is installed")
    return found


# ---- the server -----------------------------------------------------------------------------


@contextlib.contextmanager
def start_lab(notebooks: Path = NOTEBOOKS) -> Iterator["Lab"]:
    """A `Lab`: JupyterLab on a temporary copy of the folder `notebooks`, and a browser.

    Both end with the block. Raises NoBrowser.
    """
    browser = find_browser()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise NoBrowser("playwright is not installed") from None
    with tempfile.TemporaryDirectory(prefix="course-lab-", ignore_cleanup_errors=True) as folder:
        home = Path(folder) / "notebooks"
        shutil.copytree(
            notebooks, home, ignore=shutil.ignore_patterns(".ipynb_checkpoints", "__pycache__")
        )
        token = secrets.token_hex(16)
        with _server(home, Path(folder), token) as url, sync_playwright() as playwright:
            chromium = playwright.chromium.launch(executable_path=browser, args=FLAGS)
            try:
                _wait_for_server(url, token, Path(folder) / "lab.log")
                yield Lab(url, token, home, chromium)
            finally:
                chromium.close()


@contextlib.contextmanager
def _server(home, folder, token):
    """Start JupyterLab with all its files in `folder`; yields its address at once.

    It ends by its process group.
    """
    _write_setting(folder, "@jupyterlab/apputils-extension/notification", {"fetchNews": "false"})
    _write_setting(folder, WIDGETS, {"saveState": False})
    env = {
        **os.environ,
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
        "JUPYTER_TOKEN": token,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(PROJECT), os.environ.get("PYTHONPATH")])),
    }
    port = free_port()
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        "--no-browser",
        "--ip=127.0.0.1",
        f"--port={port}",
        "--ServerApp.port_retries=0",
        "--allow-root",
        f"--ServerApp.root_dir={home}",
    ]
    with open(folder / "lab.log", "wb") as log:
        process = subprocess.Popen(
            command,
            env=env,
            cwd=home,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=os.name != "nt",
        )
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            _end(process)


def _write_setting(folder, place, setting):
    """Keep one of JupyterLab's settings below `folder`; it is read when a page is opened."""
    path = folder / "settings" / f"{place}.jupyterlab-settings"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(setting), encoding="utf-8")


def _end(process):
    """Ask the server and its kernels to stop, then make them."""
    for force in (False, True):
        if os.name == "nt":
            subprocess.run(
                ["taskkill", "/T", "/F", "/PID", str(process.pid)], capture_output=True, check=False
            )
        else:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL if force else signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
            return


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def _ask(method, url, token):
    """The server's answer to a request, from JSON; None where it has nothing to say."""
    request = urllib.request.Request(
        url, method=method, headers={"Authorization": f"token {token}"}
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.loads(answer.read() or "null")


def _wait_for_server(url, token, log):
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            return _ask("GET", f"{url}/api/status", token)
        except (urllib.error.URLError, OSError):
            if time.monotonic() > deadline:
                said = log.read_text(encoding="utf-8", errors="replace")[-2000:]
                raise TimeoutError(
                    f"JupyterLab did not answer within {START_SECONDS} s; its log ends with\n{said}"
                ) from None
        time.sleep(0.1)


# ---- pages ----------------------------------------------------------------------------------


class Lab:
    """A running JupyterLab. home: the temporary folder it shows; a test may put notebooks there."""

    def __init__(self, url, token, home, chromium):
        self.url, self.home, self._token, self._chromium = url, home, token, chromium

    @contextlib.contextmanager
    def open(self, name: str, width: int = 1366, height: int = 900) -> Iterator["Page"]:
        """The notebook `name` (below home) in a fresh window, as a `Page`; its kernel is ready."""
        context = self._chromium.new_context(viewport={"width": width, "height": height})
        context.set_default_timeout(1000 * STEP_SECONDS)
        page = Page(context.new_page(), self.url, self.home / name)
        page.forget_evidence()
        try:
            page.load(f"{self.url}/lab/tree/{Path(name).as_posix()}?reset&token={self._token}")
            yield page
            page.require_clean()
        except BaseException:
            page.keep_evidence()
            raise
        finally:
            context.close()
            for session in self._ask("GET", "/api/sessions"):
                self._ask("DELETE", f"/api/sessions/{session['id']}")

    def save_widgets(self, on: bool) -> None:
        """Whether notebooks that are opened from now on are saved with their widgets."""
        _write_setting(self.home.parent, WIDGETS, {"saveState": on})

    @contextlib.contextmanager
    def phone(self, path: Path) -> Iterator[Any]:
        """A file in a window as narrow as a phone's (390 px), as Playwright's page."""
        context = self._chromium.new_context(
            viewport={"width": 390, "height": 844}, device_scale_factor=2, is_mobile=True
        )
        try:
            tab = context.new_page()
            tab.goto(Path(path).as_uri())
            yield tab
        finally:
            context.close()

    def _ask(self, method, path):
        return _ask(method, self.url + path, self._token)


class Page:
    """One notebook in the browser. tab: Playwright's page; path: the file it shows."""

    def __init__(self, tab, url, path):
        self.tab, self.path, self.console, self.outside = tab, Path(path), [], []
        self._here = urlsplit(url).netloc
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
        SCREENSHOTS.mkdir(exist_ok=True)
        self.tab.screenshot(path=SCREENSHOTS / f"{self.path.stem}-{suffix}.png")

    def keep_evidence(self):
        """A screenshot and the console, as NAME-failed.png and .txt."""
        SCREENSHOTS.mkdir(exist_ok=True)
        lines = [f"{kind}: {text}" for kind, text in self.console] + [
            f"asked outside: {url}" for url in self.outside
        ]
        (SCREENSHOTS / f"{self.path.stem}-failed.txt").write_text(
            "\n".join(lines) + "\n", encoding="utf-8"
        )
        with contextlib.suppress(Exception):  # the page itself may be gone
            self.screenshot("failed")

    def forget_evidence(self):
        """Remove what an earlier run left behind when it failed."""
        for suffix in ("png", "txt"):
            (SCREENSHOTS / f"{self.path.stem}-failed.{suffix}").unlink(missing_ok=True)

    def until(self, condition, what, seconds=STEP_SECONDS):
        """Wait until condition() is true, return what it gave; or AssertionError says `what`."""
        deadline = time.monotonic() + seconds
        while not (seen := condition()):
            assert time.monotonic() < deadline, f"{self.path.name}: within {seconds} s, {what}"
            self.tab.wait_for_timeout(20)
        return seen

    # ---- the notebook

    def load(self, address):
        """Load the page; wait for the kernel and for all cells."""
        cells = json.loads(self.path.read_text(encoding="utf-8"))["cells"]
        self.tab.goto(address)
        self.until(
            lambda: self.tab.locator(".jp-Notebook .jp-Cell").count() == len(cells),
            "not all cells were shown",
        )
        kernel = self.tab.locator(".jp-Toolbar-kernelName")
        self.until(
            lambda: kernel.text_content() != "No Kernel",
            "no kernel was started; does the notebook name one?",
        )
        self.tab.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').wait_for(
            state="attached"
        )

    def pictures(self):
        """How many pictures in outputs the browser could draw."""
        return self.tab.locator(".jp-OutputArea-output img").evaluate_all(
            "images => images.filter(i => i.complete && i.naturalWidth > 0).length"
        )

    def run_all(self, seconds=RUN_SECONDS):
        """Run → Run All Cells, and wait until every cell has run."""
        self.tab.locator(".jp-Notebook .jp-Cell").first.click()
        self.tab.get_by_role("menuitem", name="Run", exact=True).click()
        self.tab.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        self.until(lambda: any("*" in p for p in self.prompts()), "no cell started")
        self.until(
            lambda: not any("*" in p for p in self.prompts()), "not all cells were run", seconds
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

    def prompts(self):
        """What stands left of each code cell: [1]: ran, [*]: waits or runs, [ ]: never ran."""
        return self.tab.locator(".jp-CodeCell .jp-InputPrompt").all_text_contents()

    def code_cell(self, cell):
        """The locator of a code cell, counted from 0 among code cells."""
        return self.tab.locator(".jp-CodeCell").nth(cell)

    def answer(self, cell, source):
        """Type source into a code cell instead of what is there, and run it."""
        self.code_cell(cell).locator(".cm-content").click()
        self.tab.keyboard.press("ControlOrMeta+a")
        self.tab.keyboard.insert_text(source)
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
        box = self.tab.locator(".course-explorer")
        return [ExplorerOnPage(self, box.nth(i)) for i in range(box.count())]


class ExplorerOnPage:
    """A picture with its controls. box: where it stands; `control` counts sliders from 0."""

    def __init__(self, page, box):
        self.page, self.box = page, box

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
        self.box.locator(".noUi-handle").nth(control).press(key)
        return self.other_picture(old, key)

    def text(self, control=0):
        """What the box beside a slider shows."""
        return self.box.locator(".course-box input").nth(control).input_value()

    def number(self, control=0):
        """The number in the box beside a slider."""
        return ANY_NUMBER.read(self.text(control))

    def says(self, control=0):
        """What a screen reader gets of a slider's handle: its name and its value in words."""
        handle = self.box.locator(".noUi-handle").nth(control)
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

    def key_to_picture(self, control=0):
        """Press an arrow key on a slider, towards its middle; [ms] until its new picture is seen.

        The page's own clock runs from the key's event to the second frame after the new image was
        loaded (the first is the one that paints it).
        """
        handle = self.box.locator(".noUi-handle").nth(control)
        low, now, high = (
            float(handle.get_attribute(f"aria-value{name}")) for name in ("min", "now", "max")
        )
        handle.focus()
        self.box.evaluate(STOPWATCH)
        handle.press("ArrowLeft" if 2 * now > low + high else "ArrowRight")
        self.page.until(
            lambda: self.box.evaluate("box => box.seen !== null"),
            "a key press showed no new picture",
        )
        return self.box.evaluate("box => box.seen")


ANY_NUMBER = slider(-1e9, 1e9, 0.0)

FINGERPRINT = """async image => {
    const bytes = await (await fetch(image.src)).arrayBuffer();
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    return Array.from(digest, b => b.toString(16).padStart(2, "0")).join("");
}"""

STOPWATCH = """async box => {
    await new Promise(idle => requestIdleCallback(idle));  // scrolling here is not measured
    box.seen = null;
    if (box.watched) return;
    box.watched = true;
    let start = null;
    box.addEventListener("keydown", () => { start = performance.now(); }, true);
    box.addEventListener("load", () => {
        if (start === null) return;
        const began = start;
        start = null;
        const seen = () => { box.seen = performance.now() - began; };
        requestAnimationFrame(() => requestAnimationFrame(seen));
    }, true);
}"""
