"""Lesson 13: its own functions against witnesses, and more answers to its checkpoints.

Functions are taken from the lesson's cells without running the rest. The witnesses are SciPy,
Robotics Toolbox, simulations written here, and limits worked out by hand.
"""

import ast
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import eigh, eigvals

from course_lib.arm import load_arm
from course_lib.check import load_exercises
from course_lib.control import PD, PDGravity, straight_line
from course_lib.dynamics import Planar2R
from course_lib.sampled import closed_loop, critical_period

PROJECT = Path(__file__).resolve().parents[2]
LESSON = PROJECT / "notebooks" / "13_sampling_period.ipynb"
MODEL = Planar2R(load_arm("planar2"))
KP, KD = np.array([300.0, 225.0]), np.array([45.0, 33.75])
START = straight_line(MODEL, (0.75, 0.55), (0.30, 0.55), 5.0)(0.0)[0]


@pytest.fixture(scope="module")
def lesson():
    """The names of lesson 13 after its imports and functions alone, and what these need."""
    names = {"model": MODEL, "KP": KP, "KD": KD, "start": START}
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef)
    for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"]:
        tags = cell["metadata"].get("tags", [])
        if cell["cell_type"] == "code" and "needs-pin" not in tags:
            body = ast.parse("".join(cell["source"])).body
            exec(ast.unparse(ast.Module([n for n in body if isinstance(n, kinds)], [])), names)
    return names


@pytest.fixture(scope="module")
def exercises():
    path = PROJECT / "notebooks" / "checks" / "13_sampling_period.py"
    return {exercise.name: exercise for exercise in load_exercises(path)}


# ---------------------------------------------------------------- the lesson's own functions


@pytest.mark.parametrize("kp, kd", [(100, 4), (100, 20), (400, 9), (0.0001, 12)])
def test_the_hold_has_the_limit_by_hand_and_euler_its_own(lesson, kp, kd):
    limits = [
        lesson["longest"](lambda h: lesson[name](kp, kd, h)) for name in ("by_scipy", "by_euler")
    ]
    assert limits[0] == pytest.approx(min(2 / kd, 2 * kd / kp), rel=1e-6)
    # Euler: p(-1) = kp h^2 - 2 kd h + 4, and b = 1 - kd h + kp h^2
    jump = (kd - np.sqrt(kd**2 - 4 * kp)) / kp if kd**2 > 4 * kp else np.inf
    assert limits[1] == pytest.approx(min(kd / kp, jump), rel=1e-6)


@pytest.mark.parametrize("kp, kd", [(100, 4), (100, 20), (0, 20)])
def test_half_a_period_of_delay_swings_where_the_delayed_loop_does(lesson, kp, kd):
    """s^2 + exp(-s h/2) (kp + kd s) = 0 at s = i w."""
    h, w = lesson["by_half_delay"](kp, kd)
    s = 1j * w
    assert abs(s**2 + np.exp(-s * h / 2) * (kp + kd * s)) < 1e-9 * w**2


@pytest.mark.parametrize("compensated", [False, True])
def test_the_lessons_matrix_is_one_period_of_the_linear_arm(lesson, compensated):
    """Played by SciPy's solve_ivp with the torque held."""
    S, M, h = lesson["stiffness"](START), MODEL.M(START), 0.017
    e = 1e-6
    slopes = [(MODEL.g(START + d) - MODEL.g(START - d)) / (2 * e) for d in e * np.eye(2)]
    assert np.allclose(S, np.transpose(slopes), atol=1e-7)
    for x in np.eye(4):
        u = -KP * x[:2] - KD * x[2:] + compensated * S @ x[:2]
        rate = lambda t, x, u=u: np.r_[x[2:], np.linalg.solve(M, u - S @ x[:2])]
        end = solve_ivp(rate, (0, h), x, rtol=1e-11, atol=1e-12).y[:, -1]
        assert np.allclose(lesson["my_loop"](START, h, compensated) @ x, end, atol=1e-9)


@pytest.mark.parametrize("law", [PD(KP, KD), PDGravity(KP, KD, MODEL)])
@pytest.mark.parametrize("late", [{}, {"delay": 1.0}, {"velocity": "difference"}])
def test_a_push_grows_by_the_size_of_the_pole(lesson, law, late):
    h = 1.004 * critical_period(MODEL, law, START, **late)
    size = closed_loop(MODEL, law, START, h, **late).radius
    assert lesson["growth"](law, START, h, **late) == pytest.approx(size, abs=3e-4)


def test_a_joint_in_euler_steps_gets_better_with_more_of_them(lesson):
    """True limit 0.04 s for (100, 2); with one Euler step a period 0.02 s."""
    late = [lesson["euler_loop"](100, 2, 0.025, steps) for steps in (1, 2, 64)]
    assert late[0] > 1 > late[1] > late[2]
    assert lesson["euler_loop"](100, 2, 0.019, 1) < 1 < lesson["euler_loop"](100, 2, 0.021, 1)


def test_a_delay_of_a_quarter_doubles_the_limit_of_one_joint(exercises):
    """p(z) = z^2 - (1 - k (1 - f)) z + k f, k = kd h: its roots at the limit the lesson states."""
    for f in (0.0, 0.125, 0.25, 0.5, 1.0):
        limit = min(2 / (1 - 2 * f) if f < 0.5 else np.inf, 1 / f if f else np.inf)
        size = lambda k: np.abs(np.roots([1, -(1 - k * (1 - f)), k * f])).max()
        assert size(0.999 * limit) < 1 < size(1.001 * limit)


# ---------------------------------------------------------------- more answers to the checkpoints

AS_TYPED = {  # right answers in other clothes
    "float32": np.float32,
    "array": np.array,
    "list": lambda x: [x],
    "tuple": lambda x: (x,),
    "array of one": lambda x: np.array([x]),
    "rounded": lambda x: float(f"{x:.8g}"),
    "a little off": lambda x: x * (1 + 3e-7),
}
MORE_WRONG = {
    "speed_limit": [
        lambda kd, b: 2 / (kd + 2 * b) if kd > b else None,
        lambda kd, b: np.log(kd / b) / b if kd > b else None,
        lambda kd, b: 2 * np.arctan(b / kd) / b if kd > b else None,
        lambda kd, b: np.pi / kd,
        lambda kd, b: None,
        lambda kd, b: 1e3 * np.log((kd + b) / (kd - b)) / b if kd > b else None,
        lambda kd, b: np.log((kd + b) / (kd - b)) if kd > b else None,
    ],
    "damping_factor": [
        lambda M, Kd, h: 2 / h * np.linalg.eigvalsh(M)[0] / max(Kd),
        lambda M, Kd, h: 2 / h * np.linalg.eigvalsh(M)[-1] / max(Kd),
        lambda M, Kd, h: 2 / h / np.trace(np.linalg.solve(M, np.diag(Kd))) * len(Kd),
        lambda M, Kd, h: 2 / h / eigh(np.diag(Kd), M, eigvals_only=True).mean(),
        lambda M, Kd, h: 2e3 / h / eigh(np.diag(Kd), M, eigvals_only=True)[-1],
        lambda M, Kd, h: np.pi / h / eigh(np.diag(Kd), M, eigvals_only=True)[-1],
        lambda M, Kd, h: 2 / h / np.linalg.solve(M, Kd).max(),
    ],
    "late_limit": [
        lambda kd, d: 2 / kd * np.sin(np.pi / (4 * d + 4)),
        lambda kd, d: 2 / kd * np.cos(np.pi * d / (2 * d + 1)) * 1.01,
        lambda kd, d: 1 / (kd * (d + 0.5)),
        lambda kd, d: 2 / kd / (2 * d + 1),
        lambda kd, d: 2 / kd * np.sin(np.pi / (2 * d + 1)),
        lambda kd, d: 2e3 / kd * np.sin(np.pi / (4 * d + 2)),
    ],
    "rattles": [
        lambda tau: True,
        lambda tau: False,
        lambda tau: bool(np.abs(np.diff(tau[-(len(tau) // 5) :], axis=0)).max() > 1),
        lambda tau: bool((np.std(tau[-(len(tau) // 5) :], axis=0) > 1).any()),
        lambda tau: bool((np.ptp(tau[-(len(tau) // 5) :], axis=0) > 5).any()),
        lambda tau: bool((tau[-10:, 0] * tau[-9:, :1].mean() < 0).any()),
    ],
    "pendulum_limit": [
        lambda I, s, kp, kd: min(2 * I / kd, 2 * kd / max(kp - s, 1e-9)),
        lambda I, s, kp, kd: np.pi * np.sqrt(I / s),
        lambda I, s, kp, kd: 2 * kd / (kp + s),
        lambda I, s, kp, kd: None,
        lambda I, s, kp, kd: 1.0,
        lambda I, s, kp, kd: min(I / kd, kd / kp),
    ],
}


@pytest.mark.parametrize("name", MORE_WRONG)
def test_tempting_answers_fail(exercises, name):
    exercise, rng = exercises[name], np.random.default_rng
    wrong = [mistake.answer for mistake in exercise.mistakes] + MORE_WRONG[name]
    assert len(wrong) >= 10
    with np.errstate(all="ignore"):
        for answer in wrong:
            assert [exercise.judge(answer, rng(seed)).passed for seed in range(3)] == [False] * 3


@pytest.mark.parametrize("name", set(MORE_WRONG) - {"rattles"})
def test_unusual_right_answers_pass(exercises, name):
    exercise = exercises[name]
    right = list(exercise.alternatives)
    for dressed in AS_TYPED.values():
        right.append(
            lambda *args, f=dressed: None if (x := exercise.truth(*args)) is None else f(x)
        )
    assert len(right) >= 10
    for answer in right:
        judged = exercise.judge(answer, np.random.default_rng(5))
        assert judged.passed, judged.message


RATTLE_RIGHT = [
    lambda truth: lambda tau: truth(tau),
    lambda truth: lambda tau: np.bool_(truth(tau)),
    lambda truth: lambda tau: int(truth(tau)),
    lambda truth: lambda tau: truth(np.array(tau)[:, ::-1]),
    lambda truth: lambda tau: truth(-np.array(tau)),
    lambda truth: lambda tau: truth(np.array(tau) + 100.0),
    lambda truth: lambda tau: any(truth(np.array(tau)[:, [k]]) for k in range(len(tau[0]))),
]


def test_a_rattle_may_be_told_in_other_ways(exercises):
    exercise = exercises["rattles"]
    right = [*exercise.alternatives, *(make(exercise.truth) for make in RATTLE_RIGHT)]
    assert len(right) >= 10
    for answer in right:
        assert exercise.judge(answer, np.random.default_rng(5)).passed


def test_the_truths_hold_against_other_ways(exercises):
    """Roots of the polynomial, eigenvalues of M^-1 Kd, the pole with friction by solve_ivp."""
    for kd, d in ((20.0, 0), (7.0, 2), (33.0, 5)):
        limit = exercises["late_limit"].truth(kd, d)
        for factor, stable in ((0.999, True), (1.001, False)):
            p = [1.0, -1.0, *[0.0] * d]
            p[-1] += kd * factor * limit
            assert (np.abs(np.roots(p)).max() < 1) == stable
    M, Kd = np.array([[3.0, 1.0], [1.0, 2.0]]), np.array([5.0, 9.0])
    factor = exercises["damping_factor"].truth(M, Kd, 0.01)
    assert eigvals(np.linalg.inv(M) @ np.diag(factor * Kd)).real.max() == pytest.approx(200)
    h = exercises["speed_limit"].truth(20.0, 5.0)
    end = solve_ivp(lambda t, v: -5.0 * v - 20.0, (0, h), [1.0], rtol=1e-10).y[0, -1]
    assert end == pytest.approx(-1, abs=1e-6)
