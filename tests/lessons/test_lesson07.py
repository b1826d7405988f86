"""Lesson 07: its measured file is measured again, and its own functions stand against witnesses.

Functions are taken from the lesson's cells without running the rest. The witnesses are ruckig,
toppra, SciPy and properties; none of the numbers below was printed by our code.
"""

import ast
import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.signal import StateSpace, lsim

from course_lib import trajectory
from course_lib.check import load_exercises

PROJECT = Path(__file__).resolve().parents[2]
LESSON = PROJECT / "notebooks" / "07_trajectories.ipynb"
MEASURED = PROJECT / "data" / "measurements" / "trajectories.csv"


def is_constant(node):
    name = getattr(node.targets[0], "id", "") if isinstance(node, ast.Assign) else ""
    return name.isupper() and len(name) > 1


@pytest.fixture(scope="module")
def lesson():
    """The names of lesson 07 after its imports, functions and CONSTANTS alone."""
    names, kinds = {}, (ast.Import, ast.ImportFrom, ast.FunctionDef)
    for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            body = ast.parse("".join(cell["source"])).body
            body = [node for node in body if isinstance(node, kinds) or is_constant(node)]
            exec(ast.unparse(ast.Module(body, [])), names)
    return names


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("measured", MEASURED.with_suffix(".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ---------------------------------------------------------------- the measured file


@pytest.mark.parametrize("engine", ["ruckig", "toppra"])
def test_the_file_is_what_the_engine_says(script, engine):
    pytest.importorskip(engine, reason=f"{engine} is not installed: no outside witness")
    rows = [row.split(",") for row in MEASURED.read_text(encoding="utf-8").splitlines()[1:]]
    found = {task: float(duration) for name, task, duration in rows if name == engine}
    if engine == "ruckig":
        again = {" ".join(f"{x:g}" for x in move): script.by_ruckig(*move) for move in script.MOVES}
    else:
        again = {f"{steps}": script.by_toppra(steps) for steps in script.STEPS}
    assert found.keys() == again.keys()
    assert found == pytest.approx(again, rel=2e-5)


def test_the_scripts_way_points_are_the_lessons(script):
    """They reach the four poses, within the limits, and no joint turns further than needed."""
    from course_lib import ik
    from course_lib.kinematics import fk

    way = script.way_points()
    assert ik.in_limits(script.ARM, way).all()
    places = fk(script.ARM, way)[:, :3, 3]
    assert np.allclose(places[0], [0.35, -0.15, 0.40]) and np.allclose(
        places[3], [0.30, 0.25, 0.05]
    )
    assert np.linalg.norm(places[1] - places[0]) == pytest.approx(0.10)
    assert places[2] - places[3] == pytest.approx([0, 0, 0.15])


# ---------------------------------------------------------------- part A: what is left swinging


@pytest.mark.parametrize("f", [0.7, 2.3, 8.1])
def test_what_is_left_is_what_an_exact_simulation_leaves(lesson, f):
    """Undamped: the energy of the spring after the stop, by SciPy's matrix exponential."""
    move, w = trajectory.scurve(0, 1, 2.0, 8.0, 32.0), 2 * np.pi * f
    t = np.linspace(0, move.duration, 20_001)
    system = StateSpace([[0, 1], [-w * w, 0]], [[0], [-1]], np.eye(2), [[0], [0]])
    delta, rate = lsim(system, move(t)[2], t)[1][-1]
    assert lesson["residual"](move, f) == pytest.approx(np.hypot(delta, rate / w), rel=1e-4)


@pytest.mark.parametrize("ramp, f", [(0.2, 5.0), (0.2, 1.25), (0.4, 5.0), (0.31, 1 / 0.69)])
def test_whole_periods_of_ramp_or_gap_leave_nothing(lesson, ramp, f):
    move = trajectory.trapezoid(0, 1, 1 / (1 - ramp), 1 / (ramp * (1 - ramp)))
    assert move.duration == pytest.approx(1)
    assert lesson["trapezoid_left"](ramp, f) < 1e-12
    assert lesson["residual"](move, f) < 1e-3 * lesson["residual"](move, 1.1 * f)


def test_checkpoint_quiet_leaves_the_link_at_rest():
    """The truth's duration belongs to a trapezoid within both limits that leaves nothing."""
    path = PROJECT / "notebooks" / "checks" / "07_trajectories.py"
    quiet = next(e for e in load_exercises(path) if e.name == "quiet")
    for D, v, a, period in quiet.cases(np.random.default_rng(3)):
        T, D, w = quiet.truth(D, v, a, period), abs(D), 2 * np.pi / period
        ramps = [n * period for n in range(1, 50)] + [T - n * period for n in range(1, 50)]
        fits = [
            r
            for r in ramps
            if 0 < r <= T / 2 + 1e-9
            and D / (T - r) <= v * (1 + 1e-9)
            and D / (r * (T - r)) <= a * (1 + 1e-9)
            and abs(np.sin(w * r / 2) * np.sin(w * (T - r) / 2)) < 1e-9
        ]
        assert fits


# ---------------------------------------------------------------- parts C to F


@pytest.mark.parametrize("profile", ["cubic", "quintic", "trapezoid"])
def test_the_lessons_durations_are_feasible_and_tight(lesson, profile):
    for D, v, a in ((0.05, 1.5, 3), (1.0, 1.5, 3), (2.7, 0.8, 5)):
        T = lesson["shortest"](profile, D, v, a)
        if profile == "trapezoid":
            assert T == pytest.approx(trajectory.trapezoid(0, D, v, a).duration)
            continue
        used = lambda T: max(
            np.max(getattr(trajectory, profile)(0, D, T).peaks(k)) / limit
            for k, limit in ((1, v), (2, a))
        )
        assert T == pytest.approx(brentq(lambda T: used(T) - 1, 0.01, 50), rel=1e-9)


def test_in_step_is_the_librarys_synchronise(lesson):
    rng = np.random.default_rng(0)
    for _ in range(20):
        q0, q1, v, a = *rng.normal(size=(2, 5)), *rng.uniform(0.5, 3, (2, 5))
        q1[rng.integers(5)] = q0[rng.integers(5)]
        library = trajectory.synchronise(q0, q1, v, a, profile="trapezoid")
        assert lesson["in_step"](q0, q1, v, a).duration == pytest.approx(library.duration)


def test_the_linear_programme_finds_the_highest_curve(lesson):
    """On an arc at both speeds of its limits: toppra's problem, solved without its theory."""
    turn = np.linspace(0, np.pi, 9)
    path = trajectory.spline(turn, np.column_stack([np.cos(turn), np.sin(turn)]))
    places, top, best = trajectory.phase_plane(path, np.ones(2), np.full(2, 2.0), steps=80)
    found = lesson["highest_curve"](path, places, np.ones(2), np.full(2, 2.0))
    assert np.all(found <= top + 1e-6)
    assert np.abs(found - best).max() < 0.01 * best.max()
    assert found.sum() >= best.sum() - 1e-4
