"""Homework 12: the truths hold against Pinocchio, SciPy's integrator and `simulate`; more answers;
three whole hand-ins through the grader."""

import contextlib
import copy
import io
import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares, minimize, root
from support.complaints import remembered, solved_once
from support.judges import judge_of

from course_lib.arm import Arm
from course_lib.control import FeedForward, PDGravityAtReference
from course_lib.dynamics import Planar2R
from course_lib.sampled import simulate
from course_lib.tools.grading import command as tool
from course_lib.tools.grading.marking import grade_id, load_homework

JUDGE, BY_NAME = judge_of("hw12_control")
SOURCE = load_homework(tool.SOURCES / "hw12_control")
# How many cases come before those that are drawn; they alone tell every mistake from the truth.
FIXED = {"own_dynamics": 4, "audit": 10, "resting": 8, "drive": 3}


def cases_of(name, seed=3):
    return BY_NAME[name].cases(np.random.default_rng(seed))


# ---------------------------------------------------------------- the truths


def by_pinocchio(a, m, com, I, load, grip, down, q, qd):
    """The arm as a Pinocchio model, its load one body more on the second joint."""
    pin = pytest.importorskip("pinocchio")
    model = pin.Model()
    model.gravity.linear = np.array([*down, 0])
    joint, at = 0, [pin.SE3.Identity(), pin.SE3(np.eye(3), np.array([a, 0, 0]))]
    bodies = [[(m[0], com[0], I[0])], [(m[1], com[1], I[1]), (load, grip, 0.0)]]
    for k in range(2):
        joint = model.addJoint(joint, pin.JointModelRZ(), at[k], f"q{k + 1}")
        for mass, place, moment in bodies[k]:
            inertia = pin.Inertia(mass, np.array([*place, 0]), np.diag([0, 0, moment]))
            model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    data = model.createData()
    M = pin.crba(model, data, q).copy()
    M[1, 0] = M[0, 1]
    g = pin.computeGeneralizedGravity(model, data, q).copy()
    return M, pin.nonLinearEffects(model, data, q, qd) - g, g


@pytest.mark.parametrize("seed", range(5))
def test_the_torques_are_pinocchios(seed):
    for case in cases_of("own_dynamics", seed):
        for mine, theirs in zip(JUDGE.own_dynamics(*case), by_pinocchio(*case)):
            np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-10)


def test_c_is_there_in_a_stretched_arm_as_the_page_asks():
    case = cases_of("own_dynamics")[0][:7]
    c = JUDGE.own_dynamics(*case, np.zeros(2), np.array([1.0, 0.5]))[1]
    assert np.abs(c).min() > 0.01


FAULTS = [("none", 0.0), ("speed", 0.7), ("weight", 0.15), ("brakes", 0.5), ("hidden", 1.5)]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault[0])
def test_a_log_and_its_audit_are_those_of_scipys_integrator(fault):
    """SciPy moves the right arm, and the fault pushes it; its work is what is invented."""
    numbers, start, (kind, s) = JUDGE.ARMS[1], np.array([0.5, -1.0, 1.0, 2.0]), fault
    A, B, D, G1, G2 = numbers
    t, q, qd, tau = JUDGE.logged(numbers, start, 1.5, 24, fault, 0.4, np.random.default_rng(5))

    def wrong_torque(q1, q2, v, w):
        h, low = B * np.sin(q2), np.cos(q1 + q2)
        return {
            "none": np.zeros(2),
            "speed": np.array([-s * h * (2 * v * w + w * w), s * h * v * v]),
            "weight": -s * np.array([G1 * np.cos(q1) + 2 * G2 * low, 2 * G2 * low]),
            "brakes": -s * np.array([v, w]),
            "hidden": np.array([-s * h * v * w, s * h * v * v]),
        }[kind]

    def slope(_, x, held):
        q1, q2, v, w, _ = x
        b, h, low = B * np.cos(q2), B * np.sin(q2), G2 * np.cos(q1 + q2)
        M, extra = np.array([[A + 2 * b, D + b], [D + b, D]]), wrong_torque(*x[:4])
        c = np.array([-h * (2 * v * w + w * w), h * v * v])
        acceleration = np.linalg.solve(M, held + extra - c - [G1 * np.cos(q1) + low, low])
        return [v, w, *acceleration, extra @ [v, w]]

    x, rows = np.array([*start, 0.0]), []
    for k in range(len(tau)):
        span = t[k], t[k + 1]
        x = solve_ivp(slope, span, x, args=(tau[k],), rtol=1e-11, atol=1e-12).y[:, -1]
        rows.append(x)
    rows = np.array(rows)
    np.testing.assert_allclose(np.exp(1j * q[1:]), np.exp(1j * rows[:, :2]), atol=1e-7)
    np.testing.assert_allclose(qd[1:], rows[:, 2:4], atol=1e-6)
    invented, word = JUDGE.audit(t, q, qd, tau, np.array(numbers))
    np.testing.assert_allclose(invented[1:], rows[:, 4], atol=1e-5)
    assert word == {"none": "keeps", "hidden": "keeps"}.get(kind, kind)


def test_logs_of_all_words_jumps_of_angles_and_a_hidden_fault_are_among_the_fixed_cases():
    fixed = cases_of("audit")[: FIXED["audit"]]
    words = [JUDGE.audit(*case)[1] for case in fixed]
    kinds = "speed keeps weight brakes keeps weight speed keeps brakes keeps"
    assert words == kinds.split()
    for case, word in zip(fixed, words):
        assert JUDGE.clear_word(case, word if word != "keeps" else "none")
    assert sum(np.abs(np.diff(case[1], axis=0)).max() > np.pi for case in fixed) >= 3
    for case in cases_of("audit", 8):
        assert np.abs(np.diff(np.unwrap(case[1], axis=0), axis=0)).max() < 0.9 * np.pi


def two_links(G):
    """An arm of two links with the weights G [N m]."""
    m2 = G[1] / (9.81 * 0.3)
    m1 = (G[0] / 9.81 - 0.5 * m2) / 0.3
    zero, inertia = np.zeros(2), [np.eye(3)] * 2
    com = [[0.3 - 0.5, 0, 0], [0.3 - 0.5, 0, 0]]
    arm = Arm("own", "standard", [0.5, 0.5], zero, zero, zero, mass=[m1, m2], com=com)
    return Planar2R(replace(arm, inertia=inertia))


@pytest.mark.parametrize("seed", range(2))
def test_the_arm_rests_where_it_comes_to_rest_in_oil(seed):
    """The library's arm is let go; only friction takes its energy."""
    cases = [x for x in cases_of("resting", seed) if x[0][0] > 1.7 * x[0][1]]
    assert len(cases) >= 8
    for G, model, Kp, tau_max, q_ref in cases if seed == 0 else cases[-3:]:
        known, arm, oil = JUDGE.weight(model, q_ref), two_links(G), G[0] / 2
        joints = list(zip(*(x.tolist() for x in (Kp, tau_max, q_ref, known))))
        x, v = q_ref.tolist(), [0.0, 0.0]
        for _ in range(25_000):
            asked = [(k * (r - y) + f, most) for y, (k, most, r, f) in zip(x, joints)]
            tau = [max(-most, min(most, t)) - oil * w for (t, most), w in zip(asked, v)]
            x, v = arm.advance(x, v, tau, 5e-3, 1)
        rest = JUDGE.resting(G, model, Kp, tau_max, q_ref)
        np.testing.assert_allclose([*x, *v], [*rest, 0, 0], atol=1e-4)


def test_a_damper_in_the_motor_at_its_limit_damps_nothing():
    """Why the page has oil: the same arm under PD with limits swings on."""
    G, model, Kp, tau_max, q_ref = cases_of("resting")[3]
    law = PDGravityAtReference(Kp, Kp / 4, two_links(model), tau_max)
    run = simulate(two_links(G), law, q_ref, 4e-3, 20.0)
    assert not run.settled and run.saturated.max() > 0.9


def potential(G, model, Kp, tau_max, q_ref, q):
    """Of weight and motors. A motor is a spring up to its limit, and a constant torque beyond."""
    out = np.abs(q - q_ref - JUDGE.weight(model, q_ref) / Kp)
    soft = Kp * out**2 / 2
    store = np.where(out > tau_max / Kp, tau_max * out - tau_max**2 / (2 * Kp), soft).sum()
    return store + G[0] * np.sin(q[0]) + G[1] * np.sin(q[0] + q[1])


@pytest.mark.parametrize("seed", range(2))
def test_no_search_finds_another_posture_of_rest_inside_the_range(seed):
    rng = np.random.default_rng(seed)
    for case in cases_of("resting", seed):
        assert JUDGE.rests_clearly(*case)
        q_ref, q = case[4], JUDGE.resting(*case)
        lack = lambda x, case=case: JUDGE.motor(*case, x) - JUDGE.weight(case[0], x)
        assert np.abs(lack(q)).max() < 1e-6 and np.abs(q - q_ref).max() < 2.4
        for start in q_ref + rng.uniform(-2.4, 2.4, (6, 2)):
            bounds = [*zip(q_ref - 2.5, q_ref + 2.5)]
            V = lambda x, case=case: potential(*case, x)
            found = minimize(V, start, bounds=bounds, jac=lambda x, f=lack: -f(x), tol=1e-14).x
            inside = np.abs(found - q_ref).max() < 2.49
            assert not inside or np.abs(found - q).max() < 1e-3 or not low_there(V, found)


def test_a_small_valley_beside_a_large_one_is_found():
    """A grid of a twentieth of a radian misses one of them: its rim is a hundredth away."""
    case = [[24.3847, 25.065], [21.53, 13.902], [77.448, 97.522], [39.609, 38.203]]
    case = [*map(np.array, case), np.array([1.9544, 0.9198])]
    assert len(JUDGE.rests(*case)) == 2 and not JUDGE.rests_clearly(*case)


def low_there(V, q):
    """Is q lower than all points of a small ring around it?"""
    ring = 1e-3 * np.exp(1j * np.linspace(0, 2 * np.pi, 73))
    return all(V(q) < V(q + [p.real, p.imag]) for p in ring)


def test_the_slope_of_the_potential_is_what_motors_and_weight_do():
    rng = np.random.default_rng(1)
    for case in cases_of("resting"):
        for q in case[4] + rng.uniform(-2, 2, (5, 2)):
            V = lambda x, case=case: potential(*case, x)
            slope = [(V(q + d) - V(q - d)) / 2e-6 for d in 1e-6 * np.eye(2)]
            pull = JUDGE.motor(*case, q) - JUDGE.weight(case[0], q)
            np.testing.assert_allclose(slope, -pull, atol=1e-4)


@pytest.mark.parametrize("seed", range(2))
def test_the_motion_is_a_motion_and_its_arm_is_the_arm_of_exercise_1(seed):
    for a, m, r, I, load, q, qd, qdd, h, *_ in cases_of("drive", seed):
        np.testing.assert_allclose(np.gradient(q, h, axis=0)[1:-1], qd[1:-1], atol=5e-3)
        step = np.abs(np.diff(qdd, axis=0)).max()  # at both ends the acceleration has a kink
        np.testing.assert_allclose(np.gradient(qd, h, axis=0)[1:-1], qdd[1:-1], atol=0.6 * step)
        assert not qd[round(-0.99 / h) :].any() and not qd[0].any()
        com, grip = np.column_stack([r, np.zeros(2)]), np.array([a[1], 0])
        down, model = np.array([0, -9.81]), JUDGE.with_load(a, m, r, I, load)
        for k in (0, 60, 100):
            row = JUDGE.own_dynamics(a[0], m, com, I, load, grip, down, q[k], qd[k])
            mine = model.M(q[k]), model.c(q[k], qd[k]), model.g(q[k])
            for x, y in zip(mine, row):
                np.testing.assert_allclose(x, y, atol=1e-9)


def test_the_run_is_that_of_a_plain_loop_with_scipys_integrator():
    case = cases_of("drive")[0]
    a, m, r, I, load, q, qd, qdd, h, tau_max, *_ = case
    table, Kp, Kd = JUDGE.drive(*case)
    com, grip = np.column_stack([r, np.zeros(2)]), np.array([a[1], 0])

    def slope(_, x, tau):
        down = np.array([0, -9.81])
        M, c, g = JUDGE.own_dynamics(a[0], m, com, I, 1.2 * load, grip, down, x[:2], x[2:])
        return np.r_[x[2:], np.linalg.solve(M, tau - c - g)]

    tool_at = lambda q: a[0] * np.exp(1j * q[0]) + a[1] * np.exp(1j * q.sum())
    x, off = np.r_[q[0], 0, 0], [0.0]
    for k in range(len(q) - 1):
        tau = np.clip(table[k] + Kp * (q[k] - x[:2]) + Kd * (qd[k] - x[2:]), -tau_max, tau_max)
        x = solve_ivp(slope, (0, h), x, args=(tau,), rtol=1e-7, atol=1e-9).y[:, -1]
        off.append(abs(tool_at(x[:2]) - tool_at(q[k + 1])))
    heavy = list(JUDGE.runs((table, Kp, Kd), *case))[-1]
    np.testing.assert_allclose(off, heavy.tool_error, atol=1e-6)


def half_way(share=0.5, damping=1.0):
    """Gains as in the source: a share of what the switching on allows."""

    def answer(*case):
        table, Kp, Kd = truth("drive")(*case)
        most = (case[9] - np.abs(table[0])) / case[10]
        return table, share * most, damping * Kd * np.sqrt(share * most / Kp)

    return answer


@pytest.mark.parametrize("seed", range(3))
def test_there_is_room_for_a_choice_of_gains(seed):
    for case in cases_of("drive", seed):
        for share, damping in ((0.36, 1), (0.5, 0.7), (0.5, 1.3), (0.7, 1), (0.95, 1)):
            answer = half_way(share, damping)(*case)
            assert JUDGE.measured(answer, case) is None, (share, damping)
        assert "Switched on" in JUDGE.measured(half_way(1.02)(*case), case)
        assert "RMSE" in JUDGE.measured(half_way(0.2)(*case), case)


# ---------------------------------------------------------------- more answers

TRUTH = {name: remembered(exercise.truth) for name, exercise in BY_NAME.items()}


def truth(name):
    return TRUTH[name]


def changed(name, change):
    return lambda *case: change(truth(name)(*case))


def each(change):
    """A change of each part of an answer."""
    return lambda parts: [change(part) for part in parts]


def by_energies(a, m, com, I, load, grip, down, q, qd):
    """Energies alone, by finite differences: M from speeds, g and c by Lagrange."""

    def places(q):
        u, w = np.exp(1j * q[0]), np.exp(1j * (q[0] + q[1]))
        z = [com[0] @ [1, 1j] * u, a * u + com[1] @ [1, 1j] * w, a * u + grip @ [1, 1j] * w]
        return np.array(z)

    masses, d = np.array([*m, load]), 1e-4

    def kinetic(q, v):
        speed = (places(q + d * v) - places(q - d * v)) / (2 * d)
        return (masses @ np.abs(speed) ** 2 + I @ [v[0] ** 2, v.sum() ** 2]) / 2

    def M(q):
        e, f = np.eye(2)
        one, two, both = kinetic(q, e), kinetic(q, f), kinetic(q, e + f)
        return np.array([[2 * one, both - one - two], [both - one - two, 2 * two]])

    height = lambda q: -masses @ (places(q) * np.conj(down @ [1, 1j])).real
    slope = lambda f: np.array([(f(q + d * e) - f(q - d * e)) / (2 * d) for e in np.eye(2)])
    rate = (M(q + d * qd) - M(q - d * qd)) / (2 * d)
    return M(q), rate @ qd - slope(lambda q: kinetic(q, qd)), slope(height)


def by_newton_euler(a, m, com, I, load, grip, down, q, qd):
    """Forces from link to link, out and back, column by column."""

    def torque(v, acceleration, fall):
        i, u, w = 1j, np.exp(1j * q[0]), np.exp(1j * q.sum())
        spin, push = np.cumsum(v), np.cumsum(acceleration)
        carry = lambda k, arm: (i * push[k] - spin[k] ** 2) * arm  # acceleration of a point
        z1, z2, z3 = com[0] @ [1, 1j] * u, com[1] @ [1, 1j] * w, grip @ [1, 1j] * w
        elbow = carry(0, a * u) - fall @ [1, 1j]
        f1 = m[0] * (carry(0, z1) - fall @ [1, 1j])
        f2, f3 = m[1] * (elbow + carry(1, z2)), load * (elbow + carry(1, z3))
        cross = lambda r, f: (r.conjugate() * f).imag
        second = I[1] * push[1] + cross(z2, f2) + cross(z3, f3)
        return np.array([second + I[0] * push[0] + cross(z1, f1) + cross(a * u, f2 + f3), second])

    still, none = np.zeros(2), np.zeros(2)
    M = [torque(still, e, none) for e in np.eye(2)]
    return np.transpose(M), torque(qd, still, none), torque(still, still, down)


def audit_by_moments(t, q, qd, tau, arm):
    """Energies by the velocities of two points; the weight found by least squares in SciPy."""
    A, B, D, G1, G2 = arm
    q = q[0] + np.r_[np.zeros((1, 2)), np.cumsum((np.diff(q, axis=0) + np.pi) % (2 * np.pi), axis=0)
                     - np.pi * np.arange(1, len(q))[:, None]]  # fmt: skip
    v, w = qd[:, 0], qd.sum(axis=1)
    kinetic = (A - D) / 2 * v**2 + D / 2 * w**2 + B * np.cos(q[:, 1]) * v * w
    energy = kinetic + G1 * np.sin(q[:, 0]) + G2 * np.sin(q.sum(axis=1))
    invented = energy - energy[0]
    for k in range(1, len(t)):
        invented[k:] -= tau[k - 1] @ (q[k] - q[k - 1])
    rise = np.sin(np.c_[q[:, 0], q.sum(axis=1)]) - np.sin([q[0, 0], q[0].sum()])
    fitted = least_squares(lambda x: rise @ x - invented, [0, 0]).fun
    rows = [("keeps", np.abs(invented)), ("weight", np.abs(fitted)), ("brakes", np.diff(invented))]
    return invented.tolist(), next((word for word, x in rows if x.max() < 1e-3), "speed")


def rest_by_descent(G, model, Kp, tau_max, q_ref):
    """SciPy rolls down the potential from the posture asked for."""
    case = G, model, Kp, tau_max, q_ref
    pull = lambda x: JUDGE.weight(G, x) - JUDGE.motor(*case, x)
    x = JUDGE.by_sinking(*case)
    x = minimize(lambda x: potential(*case, x), x, jac=pull, method="BFGS", tol=1e-9).x
    return root(pull, x).x


def rest_by_time(G, model, Kp, tau_max, q_ref):
    """A first-order arm, integrated by SciPy until nothing moves."""
    case = G, model, Kp, tau_max, q_ref
    pull = lambda t, x: JUDGE.motor(*case, x) - JUDGE.weight(G, x)
    return solve_ivp(pull, (0, 20), q_ref, method="LSODA", rtol=1e-9, atol=1e-10).y[:, -1]


def by_feed_forward(a, m, r, I, load, q, qd, qdd, h, tau_max, off, bound):
    """The library's law on the library's arm."""
    model = JUDGE.with_load(a, m, r, I, load)
    table = FeedForward(1, 1, model).ahead(q, qd, qdd)
    Kp = 0.6 * (tau_max - abs(table[0])) / off
    inverse = np.linalg.inv(model.M(q))
    return [table, Kp, 2 * np.sqrt(Kp / np.diagonal(inverse, 0, 1, 2).max(axis=0))]


FORMS = [
    each(lambda x: np.asarray(x, np.float32)),
    each(lambda x: np.asarray(x).tolist()),
    each(lambda x: np.asarray(x) * (1 + 1e-6)),
    each(lambda x: np.asarray(x) + 0j),
    each(lambda x: np.asarray(x, dtype=object)),
    each(lambda x: np.ma.masked_array(x)),
    tuple,
]
RIGHT = {
    "own_dynamics": [
        *(changed("own_dynamics", form) for form in FORMS),
        by_energies,
        by_newton_euler,
        changed("own_dynamics", each(sp.Matrix)),
        changed("own_dynamics", lambda a: (a[0], a[1], np.array([*map(Fraction, a[2])]))),
    ],
    "audit": [
        audit_by_moments,
        changed("audit", lambda a: (np.float32(a[0]), a[1])),
        changed("audit", lambda a: (a[0].tolist(), a[1].upper())),
        changed("audit", lambda a: [tuple(a[0]), f" {a[1]}\n"]),
        changed("audit", lambda a: (a[0] + 1e-4, a[1])),
        changed("audit", lambda a: (np.round(a[0], 3), a[1])),
        changed("audit", lambda a: (a[0] + 0j, np.str_(a[1]))),
        changed("audit", lambda a: (a[0].astype(object), a[1])),
        changed("audit", lambda a: (np.ma.masked_array(a[0]), a[1].capitalize())),
        lambda *case: JUDGE.step_by_step(*case),
    ],
    "resting": [
        rest_by_descent,
        rest_by_time,
        changed("resting", np.float32),
        changed("resting", lambda q: q.tolist()),
        changed("resting", lambda q: [np.array([x]) for x in q]),
        changed("resting", lambda q: tuple(float(f"{x:.6g}") for x in q)),
        changed("resting", lambda q: q + 0j),
        changed("resting", lambda q: q + 5e-5),
        changed("resting", lambda q: np.array([*map(Fraction, q)])),
        changed("resting", sp.Matrix),
        changed("resting", lambda q: np.ma.masked_array(q)),
    ],
    "drive": [
        *(changed("drive", form) for form in FORMS),
        by_feed_forward,
        half_way(),
        half_way(0.8, 0.8),
        changed("drive", lambda a: (np.round(a[0], 2), np.round(a[1]), np.round(a[2], 1))),
        changed("drive", lambda a: (a[0] + 0.05, 1.4 * a[1], 1.2 * a[2])),
    ],
}
NONSENSE = [np.nan, np.inf, 1e300, "keeps", -1.0, 0.0, [0.01, 0.01], np.zeros((3, 2))]
nonsense = [lambda *case, x=x: x for x in NONSENSE]
broken = [each(lambda x, n=n: np.full(np.shape(x), n)) for n in (np.nan, np.inf, 1e300, -1e300)]


def own_with(change):
    """Right torques of a changed arm."""
    return lambda *case: truth("own_dynamics")(*change(*map(np.array, case)))


def drive_with(change):
    """Right tables and gains for a changed task."""
    return lambda *case: truth("drive")(*change(list(case)))


def missing(case):
    return lambda q: JUDGE.motor(*case, q) - JUDGE.weight(case[0], q)


def with_item(k, change):
    def made(case):
        case[k] = change(case[k])
        return case

    return made


WRONG = {
    "own_dynamics": [
        *nonsense,
        *(changed("own_dynamics", ruin) for ruin in broken),
        changed("own_dynamics", lambda a: a[::-1]),
        changed("own_dynamics", lambda a: a[:2]),
        changed("own_dynamics", lambda a: (a[0], a[1] + a[2])),
        changed("own_dynamics", lambda a: (np.diag(np.diag(a[0])), *a[1:])),
        changed("own_dynamics", lambda a: (np.linalg.inv(a[0]), *a[1:])),
        changed("own_dynamics", lambda a: (a[0] + [[0, 1e-3], [0, 0]], *a[1:])),
        changed("own_dynamics", lambda a: (np.round(a[0], 2), *a[1:])),
        changed("own_dynamics", lambda a: (a[0], a[1], a[2] / 9.81)),
        own_with(lambda *x: (*x[:7], x[7], x[8][::-1])),
        own_with(lambda *x: (*x[:7], np.degrees(x[7]), x[8])),
        own_with(lambda *x: (*x[:2], x[2][::-1], *x[3:])),
        own_with(lambda *x: (*x[:5], np.array([x[5][0], 0]), *x[6:])),
        own_with(lambda *x: (*x[:6], x[6] * [-1, 1], *x[7:])),
    ],
    "audit": [
        *nonsense,
        *(changed("audit", lambda a, n=n: (a[0] * n, a[1])) for n in (np.nan, np.inf, 1e300)),
        *(changed("audit", lambda a, w=w: (a[0], w)) for w in ("keeps", "weight", "speed", "fair")),
        changed("audit", lambda a: a[0]),
        changed("audit", lambda a: a[1]),
        changed("audit", lambda a: a[::-1]),
        changed("audit", lambda a: (a[0][1:], a[1])),
        changed("audit", lambda a: (a[0] + 0.01, a[1])),
        changed("audit", lambda a: (np.abs(a[0]), a[1])),
        changed("audit", lambda a: (1e-3 * a[0], a[1])),
        changed("audit", lambda a: (a[0], {"weight": "speed"}.get(a[1], a[1]))),
        changed("audit", lambda a: (a[0], {"speed": "brakes"}.get(a[1], a[1]))),
        changed("audit", lambda a: (a[0], 1)),
        lambda *case: (truth("audit")(*case)[0], case[0]),
    ],
    "resting": [
        *nonsense,
        changed("resting", lambda q: q * np.nan),
        changed("resting", lambda q: np.degrees(q)),
        changed("resting", lambda q: q[::-1]),
        changed("resting", lambda q: q + 1e-3),
        changed("resting", lambda q: np.round(q, 2)),
        changed("resting", lambda q: q + 2 * np.pi),
        changed("resting", lambda q: np.cumsum(q)),
        changed("resting", lambda q: {"x": q}),
        lambda G, model, Kp, tau_max, q_ref: q_ref - truth("resting")(G, model, Kp, tau_max, q_ref),
        lambda G, model, Kp, tau_max, q_ref: truth("resting")(G, model, Kp, 2 * tau_max, q_ref),
        lambda G, model, Kp, tau_max, q_ref: truth("resting")(G, model, 2 * Kp, tau_max, q_ref),
        lambda *case: np.array([-np.pi / 2, 0]),
        lambda *case: root(missing(case), case[4]).x,
        lambda *case: root(missing(case), case[4], method="lm").x,
        lambda *case: root(missing(case), case[4], method="lm"),
        lambda *case: root(missing(case), case[4] + [0.3, 1.5]).x,
    ],
    "drive": [
        *nonsense,
        *(changed("drive", ruin) for ruin in broken),
        changed("drive", lambda a: (a[0], -a[1], a[2])),
        changed("drive", lambda a: (a[0], a[1], -a[2])),
        changed("drive", lambda a: (a[0][:-1], a[1], a[2])),
        changed("drive", lambda a: a[::-1]),
        changed("drive", lambda a: a[1:]),
        changed("drive", lambda a: (a[0], 0 * a[1], 0 * a[2])),
        changed("drive", lambda a: (a[0], 1e6 * a[1], 1e3 * a[2])),
        changed("drive", lambda a: (a[0][::-1], a[1], a[2])),
        changed("drive", lambda a: (-a[0], a[1], a[2])),
        changed("drive", lambda a: (np.roll(a[0], 20, axis=0), a[1], a[2])),
        changed("drive", lambda a: (np.tile(a[0][0], (len(a[0]), 1)), a[1], a[2])),
        changed("drive", lambda a: (a[0], np.array([300.0, 225]), np.array([45, 33.75]))),
        half_way(1.1),
        half_way(0.1),
        drive_with(with_item(4, lambda load: 2 * load)),
    ],
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_answers_pass_in_whatever_form(name):
    assert len(RIGHT[name]) >= 10
    for seed in range(2):
        exercise = solved_once(BY_NAME[name], np.random.default_rng(seed))
        for i, answer in enumerate(RIGHT[name]):
            result = exercise.judge(answer, np.random.default_rng(seed))
            assert result.passed, (seed, i, result.message)


@pytest.mark.parametrize("name", WRONG)
@np.errstate(all="ignore")
def test_the_fixed_cases_alone_refuse_what_is_wrong_in_its_own_way(name):
    exercise = BY_NAME[name]
    assert len(WRONG[name]) >= 10 and len(exercise.mistakes) >= 10
    fixed = replace(exercise, cases=lambda rng: exercise.cases(rng)[: FIXED[name]])
    fixed = solved_once(fixed, np.random.default_rng(0))
    for i, answer in enumerate([*WRONG[name], *(m.answer for m in exercise.mistakes)]):
        result = fixed.judge(answer, np.random.default_rng(0))
        assert not result.passed, i
        assert len(result.message.splitlines()[-1]) > 10, result.message


def test_pinocchio_is_a_right_answer():
    pytest.importorskip("pinocchio")
    assert BY_NAME["own_dynamics"].judge(by_pinocchio, np.random.default_rng(4)).passed


def test_a_fault_of_the_table_is_named_whatever_the_gains():
    exercise = BY_NAME["drive"]
    for kind in ("gravity alone", "signs of c", "no load"):
        answer = lambda *case, kind=kind: (
            JUDGE.drive(*case, kind)[0],
            *(0.8 * x for x in truth("drive")(*case)[1:]),
        )
        result = exercise.judge(answer, np.random.default_rng(0))
        assert not result.passed and result.message.endswith(JUDGE.DRIVE_SAYS[kind])


SAID = {
    (1, 1.02 / 0.4, 1): "Switched on",
    (0, 1.0, 6.0): "the loop shakes",
    (0, 1.0, 0.02): "it swings on at the end",
    (1, 1.0, 0.3): "does not come to rest",
    (1, 1.0, 3.0): "asks for more than its motor has",
    (0, 0.3, 0.6): "times what is allowed",
    (0, 0.73, 0.854): "% more than allowed",
    (2, 1e6, 1e4): "Switched on",
    (2, 1.0, 1e5): "the loop shakes",
}


@pytest.mark.parametrize("change", SAID, ids=str)
def test_what_gains_do_is_said(change):
    k, stiffness, damping = change
    case = cases_of("drive")[k]
    table, Kp, Kd = truth("drive")(*case)
    answer = table, stiffness * Kp, damping * Kd
    assert SAID[change] in JUDGE.good_drive(answer, JUDGE.drive(*case), case)


def test_an_equilibrium_that_is_no_rest_is_told_apart():
    case = [np.array(x, float) for x in ([76, 25], [0, 0], [30, 8], [150, 120], [1.6, 0.05])]
    top = root(missing(case), [1.55, 0.0]).x
    assert np.abs(missing(case)(top)).max() < 1e-9 and np.abs(top - case[4]).max() < 0.5
    rest = JUDGE.resting(*case)
    assert "does not stay there" in JUDGE.same_rest(top, rest, case)
    assert "more than 2.5 rad" in JUDGE.same_rest(rest + 2 * np.pi, rest, case)
    assert "the weight asks for" in JUDGE.same_rest(rest + 0.01, rest, case)


# ---------------------------------------------------------------- three whole hand-ins


def handed_in(replaced):
    notebook = copy.deepcopy(SOURCE.notebook)
    for cell in notebook["cells"]:
        if grade_id(cell) in replaced:
            cell["source"] = replaced[grade_id(cell)]
    return json.dumps(notebook)


MIXED = {
    "audit": """
def audit(t, q, qd, tau, arm):
    A, B, D, G1, G2 = arm
    v, w = qd.T
    E = A * v**2 / 2 + D * w**2 / 2 + D * v * w + B * np.cos(q[:, 1]) * v * (v + w)
    E = E + G1 * np.sin(q[:, 0]) + G2 * np.sin(q[:, 0] + q[:, 1])
    W = np.cumsum((tau * np.diff(q, axis=0)).sum(axis=1))  # the angles jump
    found = E - E[0] - np.r_[0, W]
    rise = np.sin(np.c_[q[:, 0], q.sum(axis=1)])
    rise = rise - rise[0]
    left = found - rise @ np.linalg.lstsq(rise, found, None)[0]
    for word, x in ("keeps", abs(found)), ("weight", abs(left)), ("brakes", np.diff(found)):
        if x.max() < 1e-3:
            return found, word
    return found, "speed"
""",
    "resting": "def resting(G, model, Kp, tau_max, q_ref):\n    return q_ref / 0 * [1, 2, 3]",
    "drive": """
def drive(a, m, r, I, load, q, qd, qdd, h, tau_max, off, bound):
    com = np.c_[r, [0, 0]]
    one = lambda x, v: own_dynamics(a[0], m, com, I, load, np.array([a[1], 0]), [0, -9.81], x, v)
    return np.array([one(x, v)[2] for x, v in zip(q, qd)]), [900, 300], [40, 9]
""",
}


def test_three_whole_hand_ins_get_their_marks(tmp_path):
    from nbgrader.api import Gradebook  # takes seconds to import

    texts = {
        "perfect": handed_in({}),
        "nothing": tool.learners_version(SOURCE),
        "mixed": handed_in(MIXED),
    }
    for student, text in texts.items():
        folder = tmp_path / "submitted" / student / "hw12_control"
        folder.mkdir(parents=True)
        (folder / "hw12_control.ipynb").write_text(text)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        status = tool.main(["--classroom", str(tmp_path), "grade", "hw12"])
    assert status == 0, out.getvalue()
    address = f"sqlite:///{(tmp_path / 'gradebook.db').as_posix()}"
    with Gradebook(address, "robot_arms") as book:
        scores, said = {}, {}
        for student in texts:
            submission = book.find_submission("hw12_control", student)
            scores[student] = submission.score
            for name in BY_NAME:
                comment = book.find_comment(name, "hw12_control", "hw12_control", student)
                said[student, name] = comment.comment
    assert scores == {"perfect": 10, "nothing": 0, "mixed": 2}
    assert said["mixed", "own_dynamics"].startswith("Right")
    assert JUDGE.AUDIT_SAYS["wrapped"] in said["mixed", "audit"]
    assert "stopped with" in said["mixed", "resting"]
    assert JUDGE.DRIVE_SAYS["gravity alone"] in said["mixed", "drive"]
