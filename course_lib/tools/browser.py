"""JupyterLab in a headless browser: what the bench and the browser test press keys in.

    with start_lab() as lab:                        # server on a copy of notebooks/, and a browser
        with lab.open("02_dh_derivation.ipynb") as page:
            page.run_all()
            page.explorers()[0].key_to_picture()

What only tests ask of a page is in tests/support/watched_lab.py.

Public names: `start_lab`, `start_browser`, `wait_for`, `free_port`, `Lab`, `Page`,
`ExplorerOnPage`, `NoBrowser`.
"""

import contextlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from course_lib.tools.environment import JUPYTER, OWN_GROUP, end_group

PROJECT = Path(__file__).resolve().parents[2]
NOTEBOOKS = PROJECT / "notebooks"
STOPWATCH = Path(__file__).with_name("stopwatch.js").read_text(encoding="utf-8")

START_SECONDS = 60  # for the server
STEP_SECONDS = 60  # for anything one waits for in the page
RUN_SECONDS = 240  # for all cells of a notebook

FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
BROWSERS = [
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"),
    *("msedge", "microsoft-edge"),
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
]


class NoBrowser(Exception):
    """There is no browser to drive; the text says why."""


# ---- pages ----------------------------------------------------------------------------------


class Lab:
    """A running JupyterLab. home: the folder it shows; a test may put notebooks there."""

    def __init__(self, url, token, home, chromium):
        self.url, self.home, self._token, self._chromium = url, home, token, chromium

    @contextlib.contextmanager
    def open(self, name: str, width: int = 1366, height: int = 900) -> Iterator["Page"]:
        """The notebook `name` (below home) in a fresh window, as a `Page`; its kernel is ready."""
        with self.window(viewport={"width": width, "height": height}) as tab:
            page = Page(tab, self.home / name)
            page.load(self.address(name))
            yield page

    @contextlib.contextmanager
    def window(self, **options: Any) -> Iterator[Any]:
        """A fresh window, as Playwright's page; all kernels end with it."""
        context = self._chromium.new_context(**options)
        context.set_default_timeout(1000 * STEP_SECONDS)
        try:
            yield context.new_page()
        finally:
            context.close()
            for session in _ask("GET", f"{self.url}/api/sessions", self._token):
                _ask("DELETE", f"{self.url}/api/sessions/{session['id']}", self._token)

    def address(self, name: str) -> str:
        """Where JupyterLab shows a notebook, and nothing of before."""
        return f"{self.url}/lab/tree/{Path(name).as_posix()}?reset&token={self._token}"


class Page:
    """One notebook in the browser. tab: Playwright's page; path: the file it shows."""

    def __init__(self, tab, path):
        self.tab, self.path = tab, Path(path)

    def until(self, condition, what, seconds=STEP_SECONDS):
        """Wait until condition() is true, return what it gave; or AssertionError says `what`."""
        deadline = time.monotonic() + seconds
        while not (seen := condition()):
            assert time.monotonic() < deadline, f"{self.path.name}: within {seconds} s, {what}"
            self.tab.wait_for_timeout(20)
        return seen

    def load(self, address):
        """Load the page; wait for the kernel and for all cells."""
        count = len(json.loads(self.path.read_text(encoding="utf-8"))["cells"])
        self.tab.goto(address)
        cells = self.tab.locator(".jp-Notebook .jp-Cell")
        self.until(lambda: cells.count() == count, "not all cells were shown")
        kernel = self.tab.locator(".jp-Toolbar-kernelName")
        nameless = "no kernel was started; does the notebook name one?"
        self.until(lambda: kernel.text_content() != "No Kernel", nameless)
        idle = '.jp-Notebook-ExecutionIndicator[data-status="idle"]'
        self.tab.locator(idle).wait_for(state="attached")

    def run_all(self, seconds=RUN_SECONDS):
        """Run → Run All Cells, and wait until every cell has run."""
        self.tab.locator(".jp-Notebook .jp-Cell").first.click()
        for item in ("Run", "Run All Cells"):
            self.tab.get_by_role("menuitem", name=item, exact=True).click()
        waits = lambda: any("*" in prompt for prompt in self.prompts())
        self.until(waits, "no cell started")
        self.until(lambda: not waits(), "not all cells were run", seconds)

    def prompts(self):
        """What stands left of each code cell: [1]: ran, [*]: waits or runs, [ ]: never ran."""
        return self.tab.locator(".jp-CodeCell .jp-InputPrompt").all_text_contents()

    def explorers(self):
        """The explorers with a live panel, from top to bottom."""
        return [ExplorerOnPage(self, box) for box in self.tab.locator(".course-explorer").all()]


class ExplorerOnPage:
    """A picture with its controls. box: where it stands; sliders are counted from 0."""

    def __init__(self, page, box):
        self.page, self.box = page, box

    def handle(self, control=0):
        """The handle of a slider."""
        return self.box.locator(".noUi-handle").nth(control)

    def key_to_picture(self, control=0):
        """Press an arrow key on a slider, towards its middle; [ms] until its new picture is seen.

        The page's own clock runs from the key's event to the second frame after the new image was
        loaded (the first is the one that paints it).
        """
        handle = self.handle(control)
        marks = (handle.get_attribute(f"aria-value{name}") for name in ("min", "now", "max"))
        low, now, high = map(float, marks)
        handle.focus()
        self.box.evaluate(STOPWATCH)
        handle.press("ArrowLeft" if 2 * now > low + high else "ArrowRight")
        seen = lambda: self.box.evaluate("box => box.seen !== null")
        self.page.until(seen, "a key press showed no new picture")
        return self.box.evaluate("box => box.seen")


# ---- the browser and the server -------------------------------------------------------------


@contextlib.contextmanager
def start_browser() -> Iterator[Any]:
    """A headless Chromium, Chrome or Edge, as Playwright's browser. Raises NoBrowser."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not found:
        raise NoBrowser("no chromium, google-chrome or msedge is installed")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise NoBrowser("playwright is not installed") from None
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=FLAGS)
        try:
            yield chromium
        finally:
            chromium.close()


@contextlib.contextmanager
def start_lab(notebooks: Path = NOTEBOOKS, kind: type[Lab] = Lab) -> Iterator[Lab]:
    """A `Lab`: JupyterLab on a temporary copy of `notebooks`, and a browser.

    kind: the class of what is yielded. Both end with the block. Raises NoBrowser.
    """
    left = shutil.ignore_patterns(".ipynb_checkpoints", "__pycache__")
    room = tempfile.TemporaryDirectory(prefix="course-lab-", ignore_cleanup_errors=True)
    with start_browser() as chromium, room as folder:
        home = Path(shutil.copytree(notebooks, Path(folder) / "notebooks", ignore=left))
        with _server(home, Path(folder)) as (url, token):
            yield kind(url, token, home, chromium)


@contextlib.contextmanager
def _server(home, folder):
    """Start JupyterLab with all its files in `folder`; yields its address and token."""
    port, token = free_port(), secrets.token_hex(16)
    places = ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR")
    env = {**os.environ, **{f"JUPYTER_{place}": str(folder / place.lower()) for place in places}}
    env |= {"JUPYTER_TOKEN": token, "JUPYTER_CONFIG_PATH": str(JUPYTER)}
    path = filter(None, [str(PROJECT), os.environ.get("PYTHONPATH")])
    env["PYTHONPATH"] = os.pathsep.join(path)
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += ["--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"]
    command += [f"--ServerApp.root_dir={home}"]
    with open(folder / "lab.log", "wb") as log:
        said = {"stdout": log, "stderr": subprocess.STDOUT}
        process = subprocess.Popen(command, env=env, cwd=home, **said, **OWN_GROUP)
        try:
            url = f"http://127.0.0.1:{port}"
            wait_for(url, token, folder / "lab.log")
            yield url, token
        finally:
            end_group(process, patience=10)


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(url: str, token: str, log: Path) -> None:
    """Wait until the server answers. Raises TimeoutError with the end of its log."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            return _ask("GET", f"{url}/api/status", token)
        time.sleep(0.1)
    said = log.read_text(encoding="utf-8", errors="replace")[-2000:]
    raise TimeoutError(
        f"JupyterLab did not answer within {START_SECONDS} s; its log ends with\n{said}"
    )


def _ask(method, url, token):
    """The server's answer to a request, from JSON; None where it has nothing to say."""
    head = {"Authorization": f"token {token}"}
    request = urllib.request.Request(url, method=method, headers=head)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.loads(answer.read() or "null")
