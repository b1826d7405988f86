"""How soon does the picture follow the slider: in the kernel, and on the screen?

Public names: `bench_redraw`, `bench_key`, `explorers_of`, `full_redraw`.
"""

import contextlib
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from course_lib.plots import style
from course_lib.tools.bench.core import Row, Size, guarded, lessons, race

REDRAW_3D, REDRAW_2D = 50, 25  # [ms] at most
KEY = 100  # [ms] at most
SIMULATES = {"13": (80, 150)}  # [ms] at most in the kernel, on the screen: a run in each redraw
BOTH_WAYS = Path(__file__).with_name("both_ways.txt")
BROWSERS_CLOCK = {"clock": lambda press: press() / 1e3, "at_most": KEY}


def bench_redraw(size: Size) -> Iterator[Row]:
    """From new values to the bytes of the picture, in the kernel."""
    for lesson in lessons(size):
        yield from guarded(f"{lesson.stem[:2]} redraw", redraw_rows(lesson, size))


def redraw_rows(lesson: Path, size: Size) -> Iterator[Row]:
    """A row for each explorer of a lesson; all contenders draw as many random postures."""
    for i, (build, draw, explorer) in enumerate(explorers_of(lesson), 1):
        rng, count = np.random.default_rng(i), 3 * (size.redraws + 1)
        postures = iter([random_values(explorer.controls, rng) for _ in range(count)])
        same = build()
        contenders = {
            "ours": lambda: explorer.set(**next(postures)),
            "draw all, same figure": lambda: full_redraw(*same, draw, next(postures)),
            "new figure (interact)": lambda: full_redraw(*build(), draw, next(postures)),
        }
        solid = any(ax.name == "3d" for ax in same[0].axes)
        space, most = ("3D", REDRAW_3D) if solid else ("2D", REDRAW_2D)
        most = SIMULATES.get(lesson.stem[:2], (most,))[0]
        name = f"{lesson.stem[:2]} explorer {i} ({space}), redraw"
        row = race(name, "ms", contenders, size.redraws, at_most=most)
        if explorer.error:
            raise RuntimeError(f"explorer {i}: {explorer.error}")
        yield row


def explorers_of(lesson: Path) -> list[tuple[Callable, Callable, object]]:
    """Run a lesson's code cells in this process: [(build, draw, Explorer), …] from the top."""
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output
    from traitlets.config import Config

    from course_lib import explore as module

    found, original = [], module.explore
    cells = json.loads(lesson.read_text(encoding="utf-8"))["cells"]

    def recording(build, draw, *words, **controls):
        explorer = original(build, draw, *words, **controls)
        found.append((build, draw, explorer))
        return explorer

    shell = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))
    module.explore = recording
    try:
        with capture_output(), contextlib.chdir(lesson.parent):
            for cell in cells:
                if cell["cell_type"] == "code":
                    shell.run_cell("".join(cell["source"])).raise_error()
    finally:
        module.explore = original
    return found


def random_values(controls: dict, rng: np.random.Generator) -> dict:
    """A value for each control: one of its options, or a number of its own kind in its range."""
    values = {}
    for name, control in controls.items():
        if control.options is None:
            values[name] = type(control.lo)(rng.uniform(control.lo, control.hi))
        else:
            values[name] = list(control.options.values())[rng.integers(len(control.options))]
    return values


def full_redraw(fig: Figure, artists: dict, draw: Callable, values: dict) -> bytes:
    """Move the artists and draw all of the figure again, as an explorer's JPEG bytes.

    With a new figure for each picture it is what `interact` with a plotting function does.
    """
    draw(artists, **values)
    canvas = style.canvas_of(fig)
    fig.dpi = style.DPI * style.SHARP
    canvas.draw()
    out = io.BytesIO()
    style.pixels(canvas).save(out, format="JPEG", quality=90, subsampling=0)
    return out.getvalue()


def bench_key(size: Size) -> Iterator[Row]:
    """From a key press on an explorer's first slider to its new picture on the screen."""
    from course_lib.tools.browser import NoBrowser, start_lab

    try:
        with start_lab(size.notebooks) as lab:
            yield key_both_ways(lab, size)
            for lesson in lessons(size):
                yield from guarded(f"{lesson.stem[:2]} key to picture", key_rows(lab, lesson, size))
    except NoBrowser as reason:
        yield Row("key to picture", note=str(reason))


def key_rows(lab, lesson: Path, size: Size) -> Iterator[Row]:
    """A row for each explorer of a lesson."""
    with lab.open(lesson.name) as page:
        page.run_all()
        for i, explorer in enumerate(page.explorers(), 1):
            name = f"{lesson.stem[:2]} explorer {i}, key to picture"
            contenders = {"ours": explorer.key_to_picture}
            most = SIMULATES.get(lesson.stem[:2], (KEY,))[-1]
            bound = BROWSERS_CLOCK | {"at_most": most}
            yield race(name, "ms", contenders, size.presses, **bound)


def key_both_ways(lab, size: Size) -> Row:
    """The same arm with six sliders, as an explorer and with `interact`."""
    from course_lib.tools import new
    from course_lib.tools.browser import ExplorerOnPage

    text = new.notebook(BOTH_WAYS.read_text(encoding="utf-8"))
    (lab.home / "both_ways.ipynb").write_text(text, encoding="utf-8")
    with lab.open("both_ways.ipynb") as page:
        page.run_all()
        interact = page.tab.locator(".widget-interact")
        box = page.tab.locator(".jp-OutputArea-output").filter(has=interact).first
        page.until(lambda: box.locator("img").count() == 1, "interact showed no picture")
        contenders = {"ours": page.explorers()[0].key_to_picture}
        contenders["interact, new figure"] = ExplorerOnPage(page, box).key_to_picture
        name = "arm with six sliders, key to picture"
        return race(name, "ms", contenders, size.presses, **BROWSERS_CLOCK)
