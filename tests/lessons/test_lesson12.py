"""Lesson 12: its functions against MuJoCo, Pinocchio and properties, and what its answers say.

The lesson's own functions are taken from its cells without running the rest; none of the numbers
below was printed by our code.
"""

import json
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
import sympy as sp

from course_lib.check import PROJECT, load_exercises
from course_lib.control import PD
from course_lib.dynamics import from_pinocchio
from course_lib.kinematics import jacobian
from course_lib.sampled import simulate
from course_lib.urdf import to_urdf

LESSON = PROJECT / "notebooks" / "12_dynamics_and_control.ipynb"
CHECKS = PROJECT / "notebooks" / "checks" / "12_dynamics_and_control.py"
BY_NAME = {exercise.name: exercise for exercise in load_exercises(CHECKS)}
UPRIGHT = (0.0, -9.81, 0.0)
CELLS = ("imports", "energies", "lagrange", "numbers", "toolbox", "swing", "skew-code", "sag-code")
CELLS += ("laws", "build-gains", "draw-gains", "build-laws", "draw-laws", "loaded", "scaling")
CELLS += ("build-load", "draw-load")


@cache
def lesson():
    """The names of the cells above, run in their order up to the first loop or print at the top."""
    cells = json.loads(LESSON.read_text(encoding="utf-8"))["cells"]
    sources = {cell["id"]: "".join(cell["source"]) for cell in cells}
    space = {"LIMITS": np.array([150.0, 120.0])}
    for name in CELLS:
        lines = sources[name].split("\n")
        ends = [i for i, line in enumerate(lines) if line.startswith(("for ", "print("))]
        exec("\n".join(lines[: min(ends, default=None)]), space)
        if name == "numbers":  # its last line stands behind its prints
            exec("\n".join(lines[-2:]), space)
    return SimpleNamespace(**space)


def states(count=20, seed=5):
    return np.random.default_rng(seed).uniform(-3, 3, (2, count, 2))


# ---------------------------------------------------------------- its functions


def test_the_lagrangian_of_the_lesson_agrees_with_mujoco():
    mujoco = pytest.importorskip("mujoco")
    here = lesson()
    tail = '<mujoco><compiler fusestatic="false" balanceinertia="false"/></mujoco></robot>'
    there = mujoco.MjModel.from_xml_string(to_urdf(here.arm).replace("</robot>", tail))
    there.opt.gravity[:] = UPRIGHT
    data, column = mujoco.MjData(there), np.zeros(2)
    for q, v in zip(*states()):
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(there, data)
        M, c, g = (np.array(f(*q, *v), float) for f in here.mine)
        for k, e in enumerate(np.eye(2)):
            mujoco.mj_mulM(there, data, column, e)
            assert np.allclose(M[:, k], column, rtol=0, atol=1e-9)
        assert np.allclose((c + g)[:, 0], data.qfrc_bias, rtol=0, atol=1e-9)


@pytest.mark.parametrize("kg", [-1.0, 0.0, 2.5])
def test_a_load_is_a_point_mass_at_the_tool(kg):
    """Pinocchio, with the point appended to the empty arm's last link."""
    pin = pytest.importorskip("pinocchio")
    here = lesson()
    theirs = from_pinocchio(here.arm, UPRIGHT)
    tool = theirs.model.frames[theirs.model.nframes - 1].placement
    theirs.model.appendBodyToJoint(2, pin.Inertia(kg, np.zeros(3), np.zeros((3, 3))), tool)
    theirs._data = theirs.model.createData()
    q, v = states()
    ours = here.loaded(kg)
    assert np.allclose(ours.M(q), theirs.M(q), rtol=0, atol=1e-9)
    assert np.allclose(ours.c(q, v), theirs.c(q, v), rtol=0, atol=1e-9)
    assert np.allclose(ours.g(q), theirs.g(q), rtol=0, atol=1e-9)


def test_rest_is_where_springs_carry_the_weight():
    here = lesson()
    for q_ref in (here.start, [0.0, 0.0], [1.2, -2.0]):
        q = here.rest(np.array(q_ref))
        weight = here.robot.gravload(q, gravity=list(UPRIGHT))
        assert np.allclose(here.KP * (q_ref - q), weight, rtol=0, atol=1e-8)


def test_the_published_signs_are_the_only_difference():
    """M and g of the published arm are right, so at rest and in M it can't be told."""
    here, (q, v) = lesson(), states()
    assert np.allclose(here.published.M(q), here.model.M(q))
    assert np.allclose(here.published.g(q), here.model.g(q))
    assert np.allclose(here.published.c(q, v), -here.model.c(q, v))
    assert np.abs(here.invented_power(here.model, q, v)).max() < 1e-6
    assert np.abs(here.invented_power(here.published, q, v)).max() > 1


def test_the_lesson_says_what_can_depend_on_the_first_angle():
    here = lesson()
    for e in [*here.M, *here.c]:
        assert not here.plain(e).has(sp.Symbol("q1"))
    assert here.plain(here.G[0]).has(sp.Symbol("q1"))


# ---------------------------------------------------------------- answers below the explorers


class Curve:
    def set(self, points):
        self.points = np.asarray(points)

    def set_data(self, x, y):
        self.x, self.y = np.asarray(x), np.asarray(y)


def drawn(name, *values):
    art = {key: Curve() for key in ("ghost", "held", "curve", "torque", "known")}
    return art, getattr(lesson(), name)(art, *values)


def sag(stiffness, damping=1.0):
    return drawn("draw_gains", stiffness, damping, 55)[0]["curve"].y


def test_answers_of_the_springs():
    assert sag(2)[-1] < 0.5 * sag(1)[-1]
    assert sag(2.8)[-1] < 100 < sag(2.6)[-1] and sag(4)[-1] > 10
    assert abs(sag(1, 2)[-1] - sag(1, 1)[-1]) < 3
    assert np.ptp(sag(1, 0.2)[-100:]) > 30  # still swings
    late = sag(1, 3)[-50:]
    assert (np.diff(late) > 0).all()  # creeps


def test_answers_of_the_laws():
    worst = lambda law, T: drawn("draw_laws", law, T)[0]["curve"].y.max()
    assert worst("PD + gravity", 1.2) > 40 > worst("PD + gravity", 1.3)
    assert worst("PD + feed-forward", 1) < 0.6 and worst("computed torque", 1) < 0.6
    assert worst("PD + feed-forward", 0.4) > 50 * worst("PD + feed-forward", 0.6)
    assert np.abs(drawn("draw_laws", "PD + feed-forward", 0.4)[0]["torque"].y).max() == 150


def test_answers_of_the_loads():
    most = lambda law, kg: np.abs(drawn("draw_load", law, kg)[0]["torque"].y).max()
    assert most("PD", 3.0) < 150 and most("PD", 3.2) == 150
    assert most("PD + feed-forward", 5.0) < 150 and most("PD + feed-forward", 6.0) == 150
    error = lambda law, kg: drawn("draw_load", law, kg)[0]["curve"].y
    assert error("PD", -3.0).mean() < error("PD", 0.0).mean()
    up, down = (error("PD + feed-forward", kg)[-1] for kg in (-1.0, 1.0))
    assert 0.8 < up / down < 1.25


@pytest.mark.parametrize("q1", [-90, 90])
@pytest.mark.parametrize("stiffness, damping", [(0.5, 0.2), (0.5, 3), (4, 0.2), (4, 3)])
def test_both_ends_of_the_sliders_are_safe(q1, stiffness, damping):
    art, said = drawn("draw_gains", stiffness, damping, q1)
    assert np.isfinite(art["curve"].y).all() and len(art["curve"].x) == 501
    assert art["curve"].y.max() < 1e3 * 2 * 1.0 and "nan" not in " ".join(said)


# ---------------------------------------------------------------- statements


def test_torques_but_gravity_go_with_the_square_of_the_speed():
    """For any arm and any path: cobot6 by Pinocchio."""
    pytest.importorskip("pinocchio")
    from course_lib.arm import load_arm

    model, rng = from_pinocchio(load_arm("cobot6")), np.random.default_rng(3)
    q, qd, qdd = rng.normal(size=(3, 10, 6))
    for k in (0.5, 3.0):
        slow = model.inverse(q, qd / k, qdd / k**2)
        fast = model.inverse(q, qd, qdd)
        assert np.allclose(slow, model.g(q) + (fast - model.g(q)) / k**2, rtol=0, atol=1e-9)


def test_no_damping_changes_the_sag():
    here = lesson()
    ends = [
        simulate(here.model, PD(here.KP, k * here.KD), here.start, 2e-3, 15.0).q[-1]
        for k in (0.5, 1, 2)
    ]
    assert np.allclose(ends, ends[1], rtol=0, atol=1e-6)


def test_computed_torque_leaves_the_same_equation_for_each_joint():
    """q'' of the arm under the law is qdd_ref + Kp e + Kd ed, at any state."""
    here, rng = lesson(), np.random.default_rng(4)
    q, v, r, rd, rdd = rng.normal(size=(5, 30, 2))
    law = here.laws["computed torque"]
    wanted = rdd + here.KP * (r - q) + here.KD * (rd - v)
    assert np.allclose(here.model.forward(q, v, law(q, v, r, rd, rdd)), wanted, atol=1e-8)


# ---------------------------------------------------------------- more answers to the checkpoints


def mass_by_energy(mc, m, r, I, th):
    """Kinetic energy of unit speeds: M11 = 2K(1, 0), M12 = K(1, 1) - K(1, 0) - K(0, 1)."""

    def K(s, w):
        p = np.array([s - r * w * np.sin(th), r * w * np.cos(th)])
        return (mc * s * s + m * p @ p + I * w * w) / 2

    mixed = K(1, 1) - K(1, 0) - K(0, 1)
    return [[2 * K(1, 0), mixed], [mixed, 2 * K(0, 1)]]


def c_by_energy(dM, qd):
    """Differences of K = v M(q) v / 2, with M linear in q."""
    M = lambda q: np.asarray(dM) @ q
    K = lambda q, v: v @ M(q) @ v / 2
    n, e = len(qd), 1e-5
    momentum = lambda t: M(t * np.asarray(qd)) @ qd
    rate = (momentum(e) - momentum(-e)) / (2 * e)
    slope = [(K(e * u, qd) - K(-e * u, qd)) / (2 * e) for u in np.eye(n)]
    return rate - slope


def stiffer_by_steps(J, g, Kp, limit):
    low, high = 1.0, 1e9
    if np.linalg.norm(J @ (g / Kp)) <= limit:
        return 1
    for _ in range(100):
        s = np.sqrt(low * high)
        low, high = (s, high) if np.linalg.norm(J @ (g / (s * Kp))) > limit else (low, s)
    return [high]


def load_by_jacobian(a, q, Kp, e, g):
    """The height row of the tool's Jacobian is its levers."""
    levers = jacobian(lesson().arm, q)[1]
    return np.mean((Kp * e - g)[0] / levers[0]) / 9.81


def time_by_bound(weight, dynamic, T, tau_max):
    """One instant after the other."""
    most = np.inf
    for w, d in zip(weight, dynamic):
        for a, b, limit in zip(w, d, tau_max):
            if abs(a) > limit:
                return None
            if b:
                most = min(most, (limit * np.sign(b) - a) / b)
    return np.float32(T / most**0.5)


RIGHT = {
    "slide_mass": mass_by_energy,
    "speed_torque": c_by_energy,
    "stiffer": stiffer_by_steps,
    "load_mass": load_by_jacobian,
    "shortest": time_by_bound,
}
WRONG = {
    "slide_mass": lambda mc, m, r, I, th: (
        np.diag([mc + m, I + m * r * r]) - m * r * np.eye(2)[::-1]
    ),
    "speed_torque": lambda dM, qd: c_by_energy(np.swapaxes(dM, 1, 2), qd),
    "stiffer": lambda J, g, Kp, limit: max(1, np.linalg.norm(J @ g) / np.linalg.norm(Kp) / limit),
    "load_mass": lambda a, q, Kp, e, g: np.linalg.norm(Kp * e - g) / 9.81 / sum(a),
    "shortest": lambda w, d, T, most: T * np.sqrt(max(1, (abs(w + d) / most).max())),
}


@pytest.mark.parametrize("name", RIGHT)
def test_another_right_answer_passes_and_another_wrong_one_fails(name):
    for seed in range(3):
        result = BY_NAME[name].judge(RIGHT[name], np.random.default_rng(seed))
        assert result.passed, result.message
        assert not BY_NAME[name].judge(WRONG[name], np.random.default_rng(seed)).passed


def each(change):
    """Of an answer with or without a shape; None stays None."""
    return lambda value: None if value is None else change(np.asarray(value, float))


SAME = {
    "list": each(np.ndarray.tolist),
    "float32": each(np.float32),
    "long": each(np.longdouble),
    "six digits": each(lambda x: np.array([float(f"{v:.6g}") for v in x.flat]).reshape(x.shape)),
    "Fortran": each(np.asfortranarray),
    "complex, real all the same": each(lambda x: (x + 0j).real),
}
OTHER = {
    "a hundredth too much": each(lambda x: 1.01 * x),
    "a hundredth too little": each(lambda x: 0.99 * x),
    "the other sign": each(np.negative),
    "one thing off": each(lambda x: x + 0.02 * (np.arange(x.size).reshape(x.shape) == 0)),
    "squared": each(lambda x: x**2 + 0.5),
    "in degrees": each(np.degrees),
}


@pytest.mark.parametrize("name", RIGHT)
def test_the_form_of_an_answer_does_not_count_its_value_does(name):
    exercise, rng = BY_NAME[name], np.random.default_rng
    for form, change in SAME.items():
        answer = lambda *args: change(exercise.truth(*args))
        assert exercise.judge(answer, rng(1)).passed, form
    for form, change in OTHER.items():
        answer = lambda *args: change(exercise.truth(*args))
        assert not exercise.judge(answer, rng(1)).passed, form
