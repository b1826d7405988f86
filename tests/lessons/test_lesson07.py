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
from scipy.interpolate import CubicSpline
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


@pytest.fixture(scope="module")
def exercises():
    path = PROJECT / "notebooks" / "checks" / "07_trajectories.py"
    return {exercise.name: exercise for exercise in load_exercises(path)}


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


def test_checkpoint_quiet_leaves_the_link_at_rest(exercises):
    """The truth's duration belongs to a trapezoid within both limits that leaves nothing."""
    quiet = exercises["quiet"]
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
    """On a half circle, against the two passes: nowhere above what is allowed, not lower."""
    turn = np.linspace(0, np.pi, 9)
    path = trajectory.spline(turn, np.column_stack([np.cos(turn), np.sin(turn)]))
    places, top, best = trajectory.phase_plane(path, np.ones(2), np.full(2, 2.0), steps=80)
    found = lesson["highest_curve"](path, places, np.ones(2), np.full(2, 2.0))
    assert np.all(found <= top + 1e-6)
    assert np.abs(found - best).max() < 0.01 * best.max()
    assert found.sum() >= best.sum() - 1e-4


def test_the_linear_programme_is_as_fast_as_toppra(lesson, script):
    pytest.importorskip("toppra", reason="toppra is not installed: no outside witness")
    path, places = trajectory.spline(np.arange(4.0), script.way_points()), np.linspace(0, 3, 91)
    speed = lesson["highest_curve"](path, places, script.ARM.qd_max, script.ARM.qdd_max)
    duration = np.sum(2 * np.diff(places) / (speed[1:] + speed[:-1]))
    assert duration == pytest.approx(script.by_toppra(90), rel=0.01)


# ---------------------------------------------------------------- more answers to the checkpoints

PEAK = 10 / np.sqrt(3)


def by_grid(D, v, a, period):
    """The shortest of all silent pairs of ramp and gap: one whole, the other on a fine grid."""
    D, best, whole = abs(D), np.inf, period * np.arange(1, 60)
    free = np.concatenate([whole, np.geomspace(1e-3, 20, 40_001)])
    for one in whole:
        for ramp, gap in ((one, free), (free, one)):
            ok = (D / gap <= v * 1.000001) & (D / (ramp * gap) <= a * 1.0005) & (gap >= ramp)
            best = min(best, np.min((ramp + gap)[ok], initial=np.inf))
    return best


@pytest.mark.parametrize("D, period", [(1.0, 0.2), (-0.3, 0.25), (2.0, 0.9), (0.6, 0.7)])
def test_no_quiet_trapezoid_is_shorter(exercises, D, period):
    shortest = exercises["quiet"].truth(D, 1.5, 3.0, period)
    assert shortest == pytest.approx(by_grid(D, 1.5, 3.0, period), rel=1e-3)


def own(s):
    return s**3 * (10 - 15 * s + 6 * s * s)


def joined(t, q0, t0, T, x0, w, speed=1.0, after=1.0, shape=own):
    """A quintic to the meeting point that arrives with a part of the speed w."""
    s = np.clip((t - t0) / T, 0, 1)
    way, last = x0 + w * T - q0, speed * w * T
    ride = after * w * np.maximum(t - t0 - T, 0)
    return q0 + way * shape(s) + last * s**3 * (1 - s) * (3 * s - 4) + ride


def six_equations(t, q0, t0, T, x0, w):
    """The six conditions as a linear system, in seconds since the start."""
    derivative = lambda k, order, at: (
        np.prod(np.arange(k, k - order, -1.0)) * at ** max(k - order, 0)
    )
    A = [[derivative(k, order, at) for k in range(6)] for at in (0.0, T) for order in range(3)]
    c = np.linalg.solve(A, [q0, 0, 0, x0 + w * T, w, 0])
    return np.polyval(c[::-1], np.clip(t - t0, 0, T)) + w * np.maximum(t - t0 - T, 0)


def slowest(q0, q1, v, a, c1=15 / 8, c2=PEAK, power=0.5):
    """Joint and limit that ask for the longest, in a plain loop."""
    best = (0.0, None)
    for k, D in enumerate(np.abs(np.subtract(q1, q0)), 1):
        for seconds, word in (
            (c1 * D / v[k - 1], "speed"),
            ((c2 * D / a[k - 1]) ** power, "acceleration"),
        ):
            best = max(best, (seconds, (k, word)), key=lambda pair: pair[0])
    return best[1]


def dip(t, z, count, ends="clamped"):
    return CubicSpline(t, z, bc_type=ends)(np.linspace(t[0], t[-1], count)).min()


def by_pairs(slope, bend, v, a, turning=True, gap=np.subtract):
    """Speed limits, joints that turn back, and each pair of strips, in plain loops."""
    x = [(v[i] / abs(q)) ** 2 for i, q in enumerate(slope) if q]
    for i, q in enumerate(slope):
        if not q and bend[i] and turning:
            x.append(a[i] / abs(bend[i]))
        for j in range(i):
            if q and slope[j] and (apart := abs(gap(bend[i] / q, bend[j] / slope[j]))) > 1e-12:
                x.append((a[i] / abs(q) + a[j] / abs(slope[j])) / apart)
    return min(x) ** 0.5


ANSWERS = {  # right ones that look unusual, and wrong ones that tempt
    "quiet": (
        [
            lambda *x: np.array(by_exact(*x)),
            lambda *x: [by_exact(*x)],
            lambda *x: by_exact(*x) + 1e-9,
        ],
        [
            lambda D, v, a, P: abs(D) / v,
            lambda D, v, a, P: 2 * np.sqrt(abs(D) / a),
            lambda D, v, a, P: by_exact(D, v, a, P) + P,
            lambda D, v, a, P: by_exact(D, v, a, P / (2 * np.pi)),
            lambda D, v, a, P: by_exact(D, np.inf, a, P),
            lambda D, v, a, P: by_exact(D, v, 100 * a, P),
            lambda D, v, a, P: P * np.ceil(v / a / P) + abs(D) / v,
            lambda D, v, a, P: 0.99 * by_exact(D, v, a, P),
        ],
    ),
    "catch": (
        [joined, six_equations, lambda *x: list(joined(*x)), lambda *x: joined(*x) + 1e-8],
        [
            lambda *x: joined(*x, after=0.0),
            lambda *x: joined(*x, speed=0.0),
            lambda *x: joined(*x, speed=-1.0),
            lambda *x: joined(*x, shape=lambda s: s),
            lambda *x: joined(*x, shape=lambda s: s * s * (3 - 2 * s)),
            lambda *x: joined(*x)[:-1],
            lambda t, q0, t0, T, x0, w: joined(t, q0, t0, T, x0 + w * t0, w),
            lambda t, q0, t0, T, x0, w: joined(t, q0, t0 + T, T, x0, w),
            lambda *x: np.degrees(joined(*x)),
        ],
    ),
    "reach_in": (
        [
            lambda T, v, a, m: (
                (1 - m) * min(8 * v * T / 15, a * T * T * np.sqrt(3) / 10),
                (1 - m) * (a * T * T / 4 if a * T < 2 * v else v * T - v * v / a),
            ),
            lambda *x: np.array(far(*x)),
            lambda *x: [[far(*x)[0]], [far(*x)[1]]],
            lambda *x: (float(far(*x)[0]), far(*x)[1] + 1e-9),
        ],
        [
            lambda T, v, a, m: (far(T, v, a, m)[1],) * 2,
            lambda T, v, a, m: (far(T, v, a, m)[0],) * 2,
            lambda T, v, a, m: far(T, v, a, -m),
            lambda T, v, a, m: (v * T, v * T),
            lambda T, v, a, m: far(T, v, a, m)[0],
            lambda T, v, a, m: (far(T, v, a, m)[0], a * (1 - m) * T**2 / 2),
            lambda T, v, a, m: far(T, v * (1 - m), a / (1 - m), m),
            lambda T, v, a, m: np.degrees(far(T, v, a, m)),
        ],
    ),
    "upgrade": (
        [
            slowest,
            lambda *x: slowest(*x) and [float(slowest(*x)[0]), slowest(*x)[1].upper()],
            lambda q0, q1, v, a: slowest(np.array(q1) - q0, 0 * q0, list(v), list(a)),
        ],
        [
            lambda *x: slowest(*x, c1=1.5, c2=6),
            lambda *x: slowest(*x, c1=1, c2=1),
            lambda *x: slowest(*x, power=1),
            lambda q0, q1, v, a: slowest(0 * q0, q1, v, a),
            lambda q0, q1, v, a: (int(np.argmin(v)) + 1, "speed"),
            lambda q0, q1, v, a: (int(np.argmin(a)) + 1, "acceleration"),
            lambda *x: slowest(*x) and slowest(*x)[::-1],
            lambda *x: slowest(*x) and slowest(*x)[0],
        ],
    ),
    "lowest": (
        [
            lambda t, z: dip(t, z, 200_001),
            lambda t, z: [dip(t - 3, list(z), 150_001)],
            lambda t, z: (
                -(
                    -CubicSpline(t, z, bc_type=((1, 0), (1, 0)))(np.linspace(*t[[0, -1]], 10**5))
                ).max()
            ),
        ],
        [
            lambda t, z: dip(t, z, 20),
            lambda t, z: dip(t, z, 100),
            lambda t, z: dip(t, z, 50_001, "natural"),
            lambda t, z: dip(t, z, 50_001, "not-a-knot"),
            lambda t, z: -dip(t, -z, 50_001),
            lambda t, z: 1e3 * dip(t, z, 50_001),
            lambda t, z: dip(t, z, 50_001) - np.min(z),
            lambda t, z: trajectory.spline(t, z, 5)(np.linspace(t[0], t[-1], 5001))[0].min(),
        ],
    ),
    "top_speed": (
        [by_pairs, lambda *x: [by_pairs(*x)], lambda *x: np.float32(by_pairs(*x))],
        [
            lambda *x: by_pairs(*x, turning=False),
            lambda *x: by_pairs(*x, gap=np.add),
            lambda *x: by_pairs(*x) ** 2,
            lambda *x: 1 / by_pairs(*x),
            lambda s, b, v, a: np.min(v / np.maximum(np.abs(s), 1e-12)),
            lambda s, b, v, a: by_pairs(s, 0 * b, v, a),
            lambda s, b, v, a: by_pairs(s, b, v, a / 2),
            lambda s, b, v, a: by_pairs(s[:1], b[:1], v, a),
        ],
    ),
}


def by_exact(D, v, a, period):
    D, whole = abs(D), period * np.arange(1, 300)
    with_ramp = whole + np.maximum(np.maximum(D / v, D / (a * whole)), whole)
    gap = whole[(whole >= D / v) & (whole**2 * a >= D * (1 - 1e-9))][0]
    return min(with_ramp.min(), gap + D / (a * gap))


def far(T, v, a, margin):
    v, a = (1 - margin) * v, (1 - margin) * a
    ramp = min(v / a, T / 2)
    return min(v * T * 8 / 15, a * T**2 / PEAK), a * ramp * (T - ramp)


@pytest.mark.parametrize("name", ANSWERS)
def test_unusual_answers_pass_and_tempting_ones_are_told_why_not(exercises, name):
    right, wrong = ANSWERS[name]
    for seed in range(3):
        rng = np.random.default_rng(seed)
        for k, answer in enumerate(right):
            result = exercises[name].judge(answer, rng)
            assert result.passed, (k, result.message)
        for k, answer in enumerate(wrong):
            result = exercises[name].judge(answer, rng)
            assert not result.passed and len(result.message) > 40, k
