"""Every explorer of every lesson, driven to both ends of every control and into its corners."""

import importlib.util
import json
from pathlib import Path

import IPython.display
import numpy as np
import pytest
from IPython.core.inputtransformer2 import TransformerManager

from course_lib import explore as explore_module

ROOT = Path(__file__).resolve().parents[2]
LESSONS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
SKIP = "skip-explorer-test"  # tag of a cell that need not run here (long, and no explorer needs it)


def cells(lesson):
    """Tags and source of each code cell that is to run here."""
    for cell in json.loads(lesson.read_text(encoding="utf-8"))["cells"]:
        tags = set(cell["metadata"].get("tags", ()))
        without_pin = "needs-pin" in tags and importlib.util.find_spec("pinocchio") is None
        if cell["cell_type"] == "code" and SKIP not in tags and not without_pin:
            yield tags, "".join(cell["source"])


def run(lesson, monkeypatch):
    """Run a lesson's cells in this process; return the explorers it made."""
    made, start = [], explore_module.Explorer.__init__
    monkeypatch.chdir(lesson.parent)
    monkeypatch.setattr(IPython.display, "display", lambda *shown, **options: None)
    monkeypatch.setattr(
        explore_module.Explorer,
        "__init__",
        lambda self, *a: (start(self, *a), made.append(self))[0],
    )
    space, transform = {"__name__": "__main__"}, TransformerManager().transform_cell
    for i, (tags, source) in enumerate(cells(lesson)):
        try:
            exec(compile(transform(source), f"{lesson.stem}, code cell {i + 1}", "exec"), space)
        except Exception:
            if "raises-exception" not in tags:
                raise
    return made


def drive(explorer):
    """Set an explorer to its ends and corners; return what is wrong, one line a finding."""
    start, default, wrong = dict(explorer.values), explorer.png(), []

    def try_out(**values):
        explorer.set(**{**start, **values})
        if explorer.error:
            wrong.append(f"{values}: {explorer.error}")
        elif bad := not_finite(explorer):
            wrong.append(f"{values}: {bad}")
        return explorer.png()

    controls = explorer.controls
    for name, control in controls.items():
        places = list(control.options.values()) if control.options else [control.lo, control.hi]
        if all(try_out(**{name: place}) == default for place in places):
            wrong.append(f"{name}: the picture is the same at {places} as at the start")
    try_out(**{name: c.lo for name, c in controls.items()})
    try_out(**{name: c.hi for name, c in controls.items()})
    if try_out() != default:
        wrong.append("back at the start the picture is another one")
    return wrong


def not_finite(explorer):
    """Name of a moving line or set of points with an infinite number, or with nothing but NaN; else None."""
    for artist in explorer._picture.moving:
        for get in ("get_data_3d", "get_xydata", "get_offsets"):
            if hasattr(artist, get):
                data = np.ma.filled(np.ma.asarray(getattr(artist, get)(), dtype=float), np.nan)
                if np.isinf(data).any() or (data.size and np.isnan(data).all()):
                    return f"{type(artist).__name__} is not finite"
                break
    return None


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.stem)
def test_explorers_stand_every_setting(lesson, monkeypatch):
    explorers = run(lesson, monkeypatch)
    wrong = [f"{explorer}\n    {line}" for explorer in explorers for line in drive(explorer)]
    assert not wrong, "\n".join(wrong)


def make_lesson(folder, draw):
    source = [
        "from course_lib import plots\n",
        "from course_lib.explore import explore, slider, choice\n",
        "def build():\n",
        "    fig, ax = plots.figure(size=(3, 2))\n",
        "    return fig, {'line': ax.plot([0, 1], [0, 1])[0]}\n",
        "def draw(artists, a, kind):\n",
        *(f"    {line}\n" for line in draw),
        (
            "explore(build, draw, 'A line that you tilt.', a=slider(0.0, 1, 0.5),"
            " kind=choice(['up', 'down', 'flat']))"
        ),
    ]
    path = folder / "99_made_up.ipynb"
    path.write_text(
        json.dumps({"cells": [{"cell_type": "code", "metadata": {}, "source": source}]}),
        encoding="utf-8",
    )
    return path


GOOD = [
    "k = {'up': 1, 'down': -1, 'flat': 0}[kind]",
    "artists['line'].set_ydata([0.2 * a, k * (a + 1) / 2])",
]


@pytest.mark.parametrize(
    "draw, finding",
    [
        (GOOD, None),
        ([*GOOD, "1 / a"], "ZeroDivisionError"),
        (
            [*GOOD, "if a == 1 and kind == 'flat': raise RuntimeError('corner')"],
            "RuntimeError: corner",
        ),
        (["artists['line'].set_ydata([0, a])"], "kind: the picture is the same"),
        (
            ["artists['line'].set_ydata([0, a / 2 if kind == 'up' else float('inf')])"],
            "Line2D is not finite",
        ),
        (
            [
                *GOOD,
                "draw.count = getattr(draw, 'count', 0) + 1",
                "artists['line'].set_xdata([draw.count / 50, 1])",
            ],
            "back at the start",
        ),
    ],
)
def test_these_tests_can_fail(tmp_path, monkeypatch, draw, finding):
    (explorer,) = run(make_lesson(tmp_path, draw), monkeypatch)
    wrong = drive(explorer)
    assert not wrong if finding is None else any(finding in line for line in wrong), wrong
