"""How soon does the picture follow the slider: in the kernel, and on the screen?

Public names: `bench_redraw`, `bench_key`, `explorers_of`, `full_redraw`, `new_figure`.
"""

import contextlib
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from course_lib.plots import style
from course_lib.tools.bench.core import Row, Size, guarded, interleaved, lessons, race

REDRAW_3D, REDRAW_2D = 50, 25  # [ms] at most
KEY = 100  # [ms] at most
BOTH_WAYS = Path(__file__).with_name("both_ways.txt")


def bench_redraw(size: Size) -> Iterator[Row]:
    """From new values to the bytes of the picture, in the kernel."""
    for lesson in lessons(size):
        yield from guarded(f"{lesson.stem[:2]} redraw", redraw_rows(lesson, size))


def redraw_rows(lesson: Path, size: Size) -> Iterator[Row]:
    """A row for each explorer of a lesson; all contenders draw as many random postures."""
    for i, (build, draw, explorer) in enumerate(explorers_of(lesson), 1):
        rng, count = np.random.default_rng(i), 3 * (size.redraws + 1)
        postures = iter([random_values(explorer.controls, rng) for _ in range(count)])
        contenders = {
            "ours": lambda: explorer.set(**next(postures)),
            "draw all, same figure": full_redraw(build, draw, postures),
            "new figure (interact)": lambda: new_figure(build, draw, next(postures)),
        }
        solid = any(ax.name == "3d" for ax in build()[0].axes)
        space, most = ("3D", REDRAW_3D) if solid else ("2D", REDRAW_2D)
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


def full_redraw(build: Callable, draw: Callable, postures: Iterator[dict]) -> Callable[[], bytes]:
    """A function that moves the artists of one figure and draws everything again."""
    fig, artists = build()

    def redraw():
        draw(artists, **next(postures))
        return encode(fig)

    return redraw


def new_figure(build: Callable, draw: Callable, values: dict) -> bytes:
    """What `interact` with a plotting function does: a new figure for each picture."""
    fig, artists = build()
    draw(artists, **values)
    return encode(fig)


def encode(fig: Figure) -> bytes:
    """All of a figure drawn as sharp as an explorer draws it, as JPEG bytes of the same quality."""
    canvas = style.canvas_of(fig)
    fig.dpi = style.DPI * style.SHARP
    canvas.draw()
    out = io.BytesIO()
    style.pixels(canvas).save(out, format="JPEG", quality=90, subsampling=0)
    return out.getvalue()


# ---- in the browser -------------------------------------------------------------------------


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
            times = presses_in_turn({"ours": explorer}, size.presses)
            name = f"{lesson.stem[:2]} explorer {i}, key to picture"
            yield Row(name, "ms", times["ours"], at_most=KEY)


def presses_in_turn(explorers: dict, presses: int) -> dict[str, list[float]]:
    """Milliseconds from key to picture of each explorer, in turn."""
    contenders = {name: explorer.key_to_picture for name, explorer in explorers.items()}
    return interleaved(contenders, presses, clock=lambda press: press())


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
        contenders = {"ours": page.explorers()[0]}
        contenders["interact, new figure"] = ExplorerOnPage(page, box)
        times = presses_in_turn(contenders, size.presses)
    name = "arm with six sliders, key to picture"
    return Row(name, "ms", times.pop("ours"), times, at_most=KEY)
