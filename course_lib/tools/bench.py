"""How fast is it, side by side with others?  `python3 course.py bench [--only NAME …] [--json FILE]`

One table, measured in one run: ours and its peers take turns, so that a busy moment of the machine hits all of
them. Times are medians, "±" is half of the interquartile range. "peer/ours" above 1 means that ours is faster.
A promise that the course makes is shown beside the row with "ok" or "OVER".

To add a row, write a function that takes a `Size` and yields `Row`s, and put it into GROUPS.

Public names: `Row`, `Size`, `GROUPS`, `interleaved`, `summary`, `table`, `document`, `machine`, `measure`.
"""

import argparse
import contextlib
import io
import json
import logging
import os
import platform
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from course_lib.check import PROJECT

sys.path.insert(0, str(PROJECT / "tests"))  # `engines` and `lab_browser` are shared with the tests


@dataclass(frozen=True)
class Size:
    """How much to measure. A test makes it tiny."""

    repeats: int = 7  # of anything short
    long_repeats: int = 3  # of anything that takes seconds
    configurations: int = 100_000  # for batches
    redraws: int = 25  # per explorer
    presses: int = 20  # of a key, per explorer
    files: int = 100  # real URDF files at most
    notebooks: Path = PROJECT / "notebooks"
    modules: tuple = tuple(sorted(p.stem for p in (PROJECT / "course_lib").glob("[a-z]*.py")))


@dataclass(frozen=True)
class Row:
    """One thing measured: our times and those of its peers, all in `unit`; without ours, `note` says why.

    at_most: promised median of ours [unit]; faster_than: peers by name, with the promised peer/ours.
    """

    name: str
    unit: str = "ms"
    ours: list[float] = field(default_factory=list)
    peers: dict[str, list[float]] = field(default_factory=dict)
    at_most: float | None = None
    faster_than: dict[str, float] = field(default_factory=dict)
    note: str = ""


# ---- the table ------------------------------------------------------------------------------


def interleaved(
    contenders: dict[str, Callable[[], object]], repeats: int
) -> dict[str, list[float]]:
    """Seconds that each contender takes, `repeats` times in turn, after one turn that is not counted."""
    turns = [
        {name: seconds_of(call) for name, call in contenders.items()} for _ in range(repeats + 1)
    ]
    return {name: [turn[name] for turn in turns[1:]] for name in contenders}


def seconds_of(call: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def scaled(times: dict[str, list[float]], factor: float) -> dict[str, list[float]]:
    """All times multiplied by factor."""
    return {name: [factor * t for t in values] for name, values in times.items()}


def spread(values: list[float]) -> float:
    """Half of the interquartile range: half of the values lie about this near to the median."""
    low, high = np.percentile(values, [25, 75])
    return float(high - low) / 2


def summary(row: Row) -> dict:
    """What the table and the JSON file say about a row."""
    said = {
        "name": row.name,
        "unit": row.unit,
        "note": row.note,
        "ours": _numbers(row.ours),
        "peers": [],
        "promises": [],
    }
    if row.ours:
        ours = statistics.median(row.ours)
        if row.at_most is not None:
            said["promises"].append(
                {
                    "of": None,
                    "what": f"at most {row.at_most:g} {row.unit}",
                    "kept": ours <= row.at_most,
                }
            )
        for name, values in row.peers.items():
            ratio = statistics.median(values) / ours
            said["peers"].append({"name": name, **_numbers(values), "peer/ours": ratio})
            if name in row.faster_than:
                least = row.faster_than[name]
                said["promises"].append(
                    {
                        "of": name,
                        "what": f"at least {least:g} times as fast",
                        "kept": ratio >= least,
                    }
                )
    return said


def _numbers(values):
    return (
        {"median": statistics.median(values), "spread": spread(values), "count": len(values)}
        if values
        else None
    )


def table(summaries: list[dict]) -> str:
    """The summaries as text: a line for each row, and one more for each further peer."""
    lines = [("row", "ours", "", "unit", "peer", "theirs", "", "peer/ours", "promise")]
    for said in summaries:
        if not said["ours"]:
            lines.append((said["name"], "–", "", "", said["note"], *4 * [""]))
            continue
        own = (said["name"], *_show(said["ours"]), said["unit"])
        for i, peer in enumerate(said["peers"] or [{}]):
            theirs = (peer["name"], *_show(peer), f"{peer['peer/ours']:.2f}") if peer else 4 * [""]
            promises = [
                p
                for p in said["promises"]
                if p["of"] == peer.get("name") or (p["of"] is None and i == 0)
            ]
            kept = "; ".join(f"{p['what']}: {'ok' if p['kept'] else 'OVER'}" for p in promises)
            lines.append((*(own if i == 0 else 4 * [""]), *theirs, kept))
    right = {1, 2, 5, 6, 7}
    widths = [max(map(len, column)) for column in zip(*[line for line in lines if line[1] != "–"])]
    widths[0] = max(len(line[0]) for line in lines)
    pad = lambda text, i: text.rjust(widths[i]) if i in right else text.ljust(widths[i])  # noqa: E731
    return "\n".join(
        "  ".join(pad(text, i) for i, text in enumerate(line)).rstrip() for line in lines
    )


def _show(numbers):
    median, half = numbers["median"], numbers["spread"]
    digits = max(0, 2 - int(np.floor(np.log10(median)))) if median > 0 else 2
    return f"{median:.{digits}f}", f"± {half:.{digits}f}"


def machine() -> dict:
    """Where this is measured; load is the number of busy processes over the last minute, None if not known."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "load": load,
    }


def machine_line(place: dict) -> str:
    """The machine in one line, with a warning where others keep it busy."""
    line = (
        f"Python {place['python']}, NumPy {place['numpy']}, {place['system']}, {place['cores']}"
        " cores"
    )
    if place["load"] is not None:
        line += f", load {place['load']:.1f} at the start"
        if place["load"] > place["cores"] / 2:
            line += ": others are busy here, so times are too long; compare only within a row"
    return line


def document(place: dict, summaries: list[dict]) -> dict:
    """What goes into the JSON file."""
    return {
        "machine": place,
        "ratio": "peer/ours: above 1 means that ours is faster",
        "rows": summaries,
    }


def guarded(name: str, rows: Iterator[Row]) -> Iterator[Row]:
    """The rows, and where they break off a row that says why: the other numbers are still wanted."""
    try:
        yield from rows
    except Exception as error:
        yield Row(name, note=f"failed: {type(error).__name__}: {error}".splitlines()[0])


# ---- fk -------------------------------------------------------------------------------------


def bench_fk(size: Size) -> Iterator[Row]:
    """Tool poses of many postures, and of one."""
    from course_lib.arm import load_arm
    from course_lib.kinematics import fk

    arm = load_arm("cobot6")
    q = np.random.default_rng(0).uniform(arm.q_min, arm.q_max, (size.configurations, arm.n))
    few = q[: max(1, size.configurations // 10)]  # enough for a loop of 0.1 ms a turn
    fkine, ets_eval = toolbox_calls(arm)
    calls = {
        "ours": lambda: fk(arm, q),
        "stacked 4x4 products": lambda: stacked_products(arm, q),
        "Robotics Toolbox ets().eval": lambda: ets_eval(q),
        "Robotics Toolbox fkine": lambda: fkine(few),
    }
    with contextlib.suppress(ImportError):  # no wheel for Windows
        calls["Pinocchio loop"] = pinocchio_loop(arm, q)
    times = {
        name: [1e6 * t / len(few if "fkine" in name else q) for t in values]
        for name, values in interleaved(calls, size.repeats).items()
    }
    promised = {name: 2.0 for name in ("Robotics Toolbox fkine", "Pinocchio loop") if name in times}
    yield Row(
        f"fk, batch of {size.configurations}, each",
        "µs",
        times.pop("ours"),
        times,
        faster_than=promised,
    )

    peers = {
        "Robotics Toolbox fkine": lambda: fkine(q[0]),
        "Robotics Toolbox ets().eval": lambda: ets_eval(q[0]),
    }
    with contextlib.suppress(ImportError):
        peers["Pinocchio"] = pinocchio_loop(arm, q[:1])
    times = scaled(interleaved({"ours": lambda: fk(arm, q[0]), **peers}, 20 * size.repeats), 1e6)
    yield Row("fk of one posture", "µs", times.pop("ours"), times)


def stacked_products(arm, q):
    """Tool poses (N, 4, 4) by NumPy's matrix products of whole stacks."""
    from course_lib.dh import dh_matrix

    A = dh_matrix(arm.a, arm.alpha, arm.d, arm.theta + q)
    T = arm.base @ A[:, 0]
    for i in range(1, arm.n):
        T = T @ A[:, i]
    return T @ arm.tool


def pinocchio_loop(arm, q):
    """A function that gives the tool poses (N, 4, 4) of q, in the quickest loop that we found."""
    import pinocchio as pin
    from course_lib import engines

    model, tool = engines.pinocchio_model(arm)
    data = model.createData()

    def loop():
        poses, pose, update = np.empty((len(q), 4, 4)), data.oMf[tool], pin.framesForwardKinematics
        for T, q_k in zip(poses, q):
            update(model, data, q_k)
            T[:] = pose.homogeneous
        return poses

    return loop


def toolbox_calls(arm):
    """Robotics Toolbox's two ways to the tool poses (N, 4, 4)."""
    from course_lib import engines

    robot = engines.toolbox_robot(arm)
    return (lambda q: robot.fkine(q).A), robot.ets().eval


# ---- jacobian -------------------------------------------------------------------------------


def bench_jacobian(size: Size) -> Iterator[Row]:
    """World Jacobians of many postures, and of one."""
    from course_lib.arm import load_arm
    from course_lib.kinematics import jacobian

    arm = load_arm("cobot6")
    q = np.random.default_rng(0).uniform(arm.q_min, arm.q_max, (size.configurations, arm.n))
    few = q[: max(1, size.configurations // 10)]  # enough for a loop of 10 µs a turn
    peers = {}
    with contextlib.suppress(ImportError):  # no wheel for Windows
        peers["Pinocchio loop"] = pinocchio_jacobians(arm, q)
    times = scaled(
        interleaved({"ours": lambda: jacobian(arm, q), **peers}, size.repeats), 1e6 / len(q)
    )
    slow = {name: lambda J=J: [J(q_k) for q_k in few] for name, J in toolbox_jacobians(arm).items()}
    times |= scaled(interleaved(slow, size.long_repeats), 1e6 / len(few))
    promised = {name: 1.0 if name == "Pinocchio loop" else 2.0 for name in times if name != "ours"}
    yield Row(
        f"jacobian, batch of {size.configurations}, each",
        "µs",
        times.pop("ours"),
        times,
        faster_than=promised,
    )

    peers = {name: lambda J=J: J(q[0]) for name, J in toolbox_jacobians(arm).items()}
    with contextlib.suppress(ImportError):
        peers["Pinocchio"] = pinocchio_jacobians(arm, q[:1])
    times = scaled(
        interleaved({"ours": lambda: jacobian(arm, q[0]), **peers}, 20 * size.repeats), 1e6
    )
    yield Row("jacobian of one posture", "µs", times.pop("ours"), times)


def pinocchio_jacobians(arm, q):
    """A function that gives the world Jacobians (N, 6, n) of q in a loop."""
    import pinocchio as pin
    from course_lib import engines

    model, tool = engines.pinocchio_model(arm)
    data = model.createData()

    def loop():
        J, compute = np.empty((len(q), 6, arm.n)), pin.computeFrameJacobian
        for J_k, q_k in zip(J, q):
            J_k[:] = compute(model, data, q_k, tool, pin.LOCAL_WORLD_ALIGNED)
        return J

    return loop


def toolbox_jacobians(arm):
    """Robotics Toolbox's two ways to one world Jacobian (6, n)."""
    from course_lib import engines

    robot = engines.toolbox_robot(arm)
    return {
        "Robotics Toolbox jacob0": robot.jacob0,
        "Robotics Toolbox ets().jacob0": robot.ets().jacob0,
    }


# ---- explorers ------------------------------------------------------------------------------


def bench_urdf(size: Size) -> Iterator[Row]:
    """Checking each URDF file of a real arm that rtb-data ships, beside Pinocchio reading it."""
    from course_lib.urdf_check import check_urdf

    for path in real_urdf_files()[: size.files]:
        contenders = {"ours": lambda: check_urdf(path)}
        with contextlib.suppress(ImportError):
            if loads := pinocchio_reader(path):
                contenders["Pinocchio reads it"] = loads
        times = scaled(interleaved(contenders, size.long_repeats), 1e3)
        yield Row(f"check_urdf {path.name}", "ms", times.pop("ours"), times, at_most=1000)


def real_urdf_files():
    """The plain URDF files of rtb-data, by name; none where the package is missing."""
    try:
        import rtbdata
    except ImportError:
        return []
    return sorted(
        (
            path
            for path in Path(rtbdata.__file__).parent.rglob("*.urdf")
            if path.stat().st_size > 100
        ),
        key=lambda path: path.name,
    )


def pinocchio_reader(path):
    """A call that reads the file with Pinocchio, or None where Pinocchio refuses it."""
    import pinocchio as pin

    def read():
        return pin.buildModelFromUrdf(str(path))

    try:
        read()
    except (ValueError, RuntimeError):
        return None
    return read


def bench_redraw(size: Size) -> Iterator[Row]:
    """From new values to the bytes of the picture, in the kernel."""
    for lesson in lessons(size):
        yield from guarded(f"{lesson.stem[:2]} redraw", redraw_rows(lesson, size))


def redraw_rows(lesson, size):
    """A row for each explorer of a lesson; all contenders draw the same number of random postures."""
    for i, (build, draw, explorer) in enumerate(explorers_of(lesson), 1):
        rng = np.random.default_rng(i)
        postures = iter(
            [random_values(explorer.controls, rng) for _ in range(3 * (size.redraws + 1))]
        )
        times = interleaved(
            {
                "ours": lambda: explorer.set(**next(postures)),
                "draw all, same figure": full_redraw(build, draw, postures),
                "new figure (interact)": lambda: new_figure(build, draw, next(postures)),
            },
            size.redraws,
        )
        if explorer.error:
            raise RuntimeError(f"explorer {i}: {explorer.error}")
        solid = any(ax.name == "3d" for ax in build()[0].axes)
        times = scaled(times, 1e3)
        yield Row(
            f"{lesson.stem[:2]} explorer {i} ({'3D' if solid else '2D'}), redraw",
            "ms",
            times.pop("ours"),
            times,
            at_most=50 if solid else 25,
        )


def lessons(size):
    """Paths of all lessons, in order."""
    return sorted(size.notebooks.glob("[0-9][0-9]_*.ipynb"))


def explorers_of(lesson):
    """Run a lesson's code cells in this process: [(build, draw, Explorer), …] from top to bottom."""
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output
    from traitlets.config import Config

    from course_lib import explore as module

    found, original = [], module.explore
    cells = json.loads(lesson.read_text(encoding="utf-8"))["cells"]

    def recording(build, draw, alt, **controls):
        explorer = original(build, draw, alt, **controls)
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


def random_values(controls, rng):
    """A value for each control, anywhere in its range."""
    return {
        name: (
            list(c.options.values())[rng.integers(len(c.options))]
            if c.options is not None
            else type(c.lo)(rng.uniform(c.lo, c.hi))
        )
        for name, c in controls.items()
    }


def full_redraw(build, draw, postures):
    """A function that moves the artists of one figure and draws everything again."""
    fig, artists = build()

    def redraw():
        draw(artists, **next(postures))
        return encode(fig)

    return redraw


def new_figure(build, draw, values):
    """What `interact` with a plotting function does: a new figure for each picture."""
    fig, artists = build()
    draw(artists, **values)
    return encode(fig)


def encode(fig):
    """All of a figure as PNG bytes, as quickly as the explorer writes them."""
    from PIL import Image

    fig.canvas.draw()
    out = io.BytesIO()
    Image.fromarray(np.asarray(fig.canvas.buffer_rgba())[..., :3]).save(
        out, "PNG", compress_level=1
    )
    return out.getvalue()


# ---- in the browser -------------------------------------------------------------------------

ARM_BOTH_WAYS = """
from ipywidgets import FloatSlider, interact
from course_lib import plots
from course_lib.arm import load_arm
from course_lib.explore import explore, slider

arm = load_arm("cobot6")
def build():
    fig, ax = plots.space(0.6)
    return fig, {"arm": plots.ArmArtist(ax, arm)}
def draw(artists, **q):
    artists["arm"].set(list(q.values()))
def new_figure(**q):
    fig, artists = build()
    draw(artists, **q)
    plots.show(fig, "The arm in a new figure.")
names = [f"q{i}" for i in range(1, 7)]
"""
AS_EXPLORER = (
    'explore(build, draw, "The arm in a kept figure.", **{name: slider(-2.0, 2.0, 0.4, step=0.05)'
    " for name in names})"
)
AS_INTERACT = (
    "interact(new_figure, **{name: FloatSlider(min=-2, max=2, value=0.4, step=0.05) for name in"
    " names});"
)


def bench_key(size: Size) -> Iterator[Row]:
    """From a key press on an explorer's first slider to its new picture on the screen, in a real browser."""
    from support.lab_browser import NoBrowser, start_lab

    try:
        with start_lab(size.notebooks) as lab:
            yield key_both_ways(lab, size)
            for lesson in lessons(size):
                yield from guarded(f"{lesson.stem[:2]} key to picture", key_rows(lab, lesson, size))
    except NoBrowser as reason:
        yield Row("key to picture", note=str(reason))


def key_rows(lab, lesson, size):
    """A row for each explorer of a lesson."""
    with lab.open(lesson.name) as page:
        page.run_all()
        for i, explorer in enumerate(page.explorers(), 1):
            times = presses_in_turn({"ours": explorer}, size.presses)
            yield Row(
                f"{lesson.stem[:2]} explorer {i}, key to picture", "ms", times["ours"], at_most=150
            )


def presses_in_turn(explorers, presses):
    """Milliseconds from key to picture for each explorer on a page, in turn, after one turn that is not counted."""
    turns = [
        {name: explorer.key_to_picture() for name, explorer in explorers.items()}
        for _ in range(presses + 1)
    ]
    return {name: [turn[name] for turn in turns[1:]] for name in explorers}


def key_both_ways(lab, size):
    """The same arm with six sliders, as an explorer and with `interact`."""
    import nbformat
    from nbformat.v4 import new_code_cell, new_notebook
    from support.lab_browser import ExplorerOnPage

    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cells = [new_code_cell(source) for source in (ARM_BOTH_WAYS, AS_EXPLORER, AS_INTERACT)]
    nbformat.write(
        new_notebook(cells=cells, metadata={"kernelspec": kernel}), lab.home / "both_ways.ipynb"
    )
    with lab.open("both_ways.ipynb") as page:
        page.run_all()
        box = (
            page.tab.locator(".jp-OutputArea-output")
            .filter(has=page.tab.locator(".widget-interact"))
            .first
        )
        page.until(lambda: box.locator("img").count() == 1, "interact showed no picture")
        times = presses_in_turn(
            {"ours": page.explorers()[0], "interact, new figure": ExplorerOnPage(page, box)},
            size.presses,
        )
    return Row("arm with six sliders, key to picture", "ms", times.pop("ours"), times, at_most=150)


# ---- imports, lessons, grading --------------------------------------------------------------

IMPORT = """import time
start = time.perf_counter()
import numpy
middle = time.perf_counter()
import course_lib.{}
print(time.perf_counter() - middle, middle - start)"""


def bench_import(size: Size) -> Iterator[Row]:
    """A module of course_lib beyond NumPy, in a fresh process."""
    times = {module: ([], []) for module in size.modules}
    for turn in range(size.long_repeats + 3):
        for module, (ours, theirs) in times.items():
            command = [sys.executable, "-c", IMPORT.format(module)]
            done = subprocess.run(
                command, cwd=PROJECT, capture_output=True, text=True, check=True, timeout=60
            )
            if turn:  # the first may have to compile it
                for values, seconds in zip((ours, theirs), done.stdout.split()):
                    values.append(1e3 * float(seconds))
    for module, (ours, theirs) in times.items():
        yield Row(f"import course_lib.{module}", "ms", ours, {"import numpy": theirs}, at_most=300)


def bench_lesson(size: Size) -> Iterator[Row]:
    """A lesson from top to bottom in a fresh kernel."""
    for lesson in lessons(size):
        yield from guarded(f"{lesson.stem[:2]} run", lesson_rows(lesson, size))


def lesson_rows(lesson, size):
    """The row of one lesson."""
    times = [seconds_of(lambda: run_notebook(lesson)) for _ in range(size.long_repeats)]
    yield Row(f"{lesson.stem}, run", "s", times, at_most=30)


def run_notebook(path):
    """Run a notebook in a fresh kernel, in its own folder; the file stays as it is."""
    import nbformat

    from course_lib.tools.refresh import execute

    execute(nbformat.read(path, as_version=4), path.parent)


def bench_grading(size: Size) -> Iterator[Row]:
    """A right submission of each homework, from its file to the grade book, beside nbgrader's own way."""
    try:
        import nbgrader  # noqa: F401
    except ImportError as reason:
        yield Row("grading", note=str(reason))
        return
    for judge in sorted(size.notebooks.glob("homework/hw[0-9][0-9]_*/judge.py")):
        yield from guarded(f"{judge.parent.name} grading", grading_rows(judge.parent, size))


def grading_rows(folder, size):
    """The row of one homework."""
    from course_lib.tools.grading import load_homework

    homework = load_homework(folder)
    with tempfile.TemporaryDirectory(prefix="course-bench-", ignore_cleanup_errors=True) as room:
        make_class(
            homework, Path(room)
        )  # the first turn, which does not count, makes the grade books
        times = interleaved(
            {
                "ours": lambda: grade_one(homework, Path(room)),
                "nbgrader autograde": lambda: nbgrader_one(homework, Path(room)),
            },
            size.long_repeats,
        )
    yield Row(f"{homework.name}, grade a submission", "s", times.pop("ours"), times, at_most=3)


def make_class(homework, folder):
    """A class of one, who hands in the source with its solutions; known to nbgrader too."""
    from nbgrader.apps import NbGraderAPI

    os.environ["PATH"] = (
        sysconfig.get_path("scripts") + os.pathsep + os.environ.get("PATH", "")
    )  # nbgrader calls `alembic`
    notebook = Path(homework.name) / f"{homework.name}.ipynb"
    for place in (folder / "source", folder / "submitted" / "ada"):
        (place / homework.name).mkdir(parents=True)
        shutil.copy(homework.folder / notebook.name, place / notebook)
    with quiet():
        made = NbGraderAPI(config=nbgrader_config(folder)).generate_assignment(homework.name)
    if not made["success"]:
        raise RuntimeError(
            f"nbgrader could not release {homework.name}: {made['error'].strip().splitlines()[-1]}"
        )


def nbgrader_config(folder):
    """nbgrader's configuration for a class in a folder, in a grade book of its own."""
    from traitlets.config import Config

    return Config(
        {
            "CourseDirectory": {
                "root": str(folder),
                "course_id": "bench",
                "db_url": f"sqlite:///{folder / 'nbgrader.db'}",
            }
        }
    )


def grade_one(homework, folder):
    """What `course.py homework grade` does with a class of one."""
    from course_lib.tools.homework import grade

    with quiet():
        if grade([homework], folder) != 0:
            raise RuntimeError(f"{homework.name}: the solutions could not be graded")


def nbgrader_one(homework, folder):
    """What `nbgrader autograde` does with it, without the start of a new process."""
    from nbgrader.apps import NbGraderAPI

    with quiet():
        NbGraderAPI(config=nbgrader_config(folder)).autograde(homework.name, "ada", force=True)
    if not list(folder.glob("autograded/ada/*/*.ipynb")):
        raise RuntimeError(f"nbgrader could not grade {homework.name}")


@contextlib.contextmanager
def quiet():
    """Nothing is printed and nothing logged in this block."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        logging.disable(logging.CRITICAL)
        try:
            yield
        finally:
            logging.disable(logging.NOTSET)


# ---- command line ---------------------------------------------------------------------------

GROUPS = {
    "fk": bench_fk,
    "jacobian": bench_jacobian,
    "urdf": bench_urdf,
    "redraw": bench_redraw,
    "key": bench_key,
    "import": bench_import,
    "lesson": bench_lesson,
    "grading": bench_grading,
}


def measure(names: list[str], size: Size) -> list[dict]:
    """Run the named groups and return a summary of each row."""
    rows = []
    for name in names:
        print(f"{name} ...", file=sys.stderr, flush=True)
        rows.extend(guarded(name, GROUPS[name](size)))
    return [summary(row) for row in rows]


def main(arguments=None) -> int:
    """Measure, print the table, and return 0; 1 if a group failed or a promise is not kept."""
    parser = argparse.ArgumentParser(prog="course.py bench", description=__doc__.split("\n")[0])
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="NAME",
        choices=list(GROUPS),
        default=list(GROUPS),
        help=f"groups of rows: {', '.join(GROUPS)} (default: all)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the same numbers to FILE")
    options = parser.parse_args(arguments)
    place = machine()
    summaries = measure(options.only, Size())
    print(table(summaries), machine_line(place), sep="\n\n")
    if options.json:
        options.json.write_text(
            json.dumps(document(place, summaries), indent=1) + "\n", encoding="utf-8"
        )
    failed = any(said["note"].startswith("failed") for said in summaries)
    over = any(not p["kept"] for said in summaries for p in said["promises"])
    return int(failed or over)


if __name__ == "__main__":
    sys.exit(main())
