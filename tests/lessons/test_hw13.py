"""Homework 13: the truths hold against python-control, SciPy and a simulation; more answers."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support.complaints import remembered, solved_once
from support.judges import judge_of

from course_lib.arm import Arm
from course_lib.dynamics import Planar2R

JUDGE, BY_NAME = judge_of("hw13_sampling")
# How many cases come before those that are drawn; they alone tell every mistake from the truth.
FIXED = {"pulse_limit": 8, "sum_matrix": 4, "own_clock": 8}


def cases_of(name, seed=3):
    return BY_NAME[name].cases(np.random.default_rng(seed))


# ---------------------------------------------------------------- the truths


@pytest.mark.parametrize("seed", range(3))
def test_a_joint_with_a_resting_motor_comes_to_rest_below_its_limit_only(seed):
    for J, kp, kd, share in cases_of("pulse_limit", seed):
        limit = JUDGE.pulse_limit(J, kp, kd, share)
        for factor, calm in ((0.98, True), (1.02, False)):
            h, x = factor * limit, np.array([1.0, 0.3])
            size = []
            for _ in range(3000):
                u = -(kp * x[0] + kd * x[1]) / J
                on = share * h
                x = np.array([x[0] + on * x[1] + u * on**2 / 2, x[1] + u * on])  # while it pulls
                x = np.array([x[0] + (h - on) * x[1], x[1]])  # while it rests
                size.append(np.hypot(x[0], h * x[1]))
                if not 1e-200 < size[-1] < 1e200:
                    break
            half = len(size) // 2
            assert (max(size[-100:]) < max(size[half : half + 100])) == calm, (
                J,
                kp,
                kd,
                share,
                factor,
            )


def test_a_share_of_one_is_the_limit_of_the_lesson():
    for J, kp, kd, _ in cases_of("pulse_limit"):
        expected = min(2 * J / kd, 2 * kd / kp)
        assert JUDGE.pulse_limit(J, kp, kd, 1.0) == pytest.approx(expected, rel=1e-12)


def test_both_conditions_decide_somewhere():
    fixed = cases_of("pulse_limit")[: FIXED["pulse_limit"]]
    pairs = [JUDGE.pulse_limit(*case) == JUDGE.pulse_limit(*case, "swing") for case in fixed]
    assert 3 <= sum(pairs) <= len(pairs) - 3


@pytest.mark.parametrize("seed", range(3))
def test_the_loop_with_a_sum_has_the_poles_of_python_control(seed):
    control = pytest.importorskip("control")
    for M, G, Kp, Ki, Kd, h in cases_of("sum_matrix", seed):
        n = len(M)
        zero, one = np.zeros((n, n)), np.eye(n)
        A = np.block([[zero, one], [-np.linalg.solve(M, G), zero]])
        B = np.vstack([zero, np.linalg.inv(M)])
        plant = control.c2d(control.ss(A, B, np.eye(2 * n), 0), h, "zoh")
        law = control.ss(
            one,
            np.hstack([h * one, zero]),
            -np.diag(Ki),
            -np.diag(Kp).dot(np.hstack([one, zero])) - np.diag(Kd).dot(np.hstack([zero, one])),
            h,
        )
        loop = control.feedback(plant, law, sign=1)
        theirs = np.sort_complex(loop.poles())
        ours = np.sort_complex(np.linalg.eigvals(JUDGE.sum_matrix(M, G, Kp, Ki, Kd, h)))
        far = np.abs(theirs[:, None] - ours)
        assert far.min(axis=0).max() < 1e-7 and far.min(axis=1).max() < 1e-7


def arm_of(a, m, c, I):
    """The two links as an `Arm`: the centre of mass seen from the link's far end."""
    com = np.column_stack([c - a, np.zeros((2, 2))])
    inertia = [np.diag([0.6 * i, 0.6 * i, i]) for i in I]
    zero = np.zeros(2)
    return Arm("own", "standard", a, zero, zero, zero, mass=m, com=com, inertia=inertia)


@pytest.mark.parametrize("seed", range(3))
def test_mass_and_weight_are_those_of_the_library(seed):
    for a, m, c, I, q, *_, g in cases_of("own_clock", seed):
        model = Planar2R(arm_of(a, m, c, I), g)
        M, G = JUDGE.mass_and_weight(a, m, c, I, q, g)
        np.testing.assert_allclose(M, model.M(q), atol=1e-12)
        np.testing.assert_allclose(JUDGE.weight(a, m, c, q, g), model.g(q), atol=1e-12)
        d = 1e-6
        slopes = [(model.g(q + d * e) - model.g(q - d * e)) / (2 * d) for e in np.eye(2)]
        np.testing.assert_allclose(G, np.array(slopes).T, atol=1e-6)


def grows(case, h, periods=1500):
    """Does a deviation of 1e-8 rad of the non-linear arm grow under the loop with a sum?"""
    a, m, c, I, q0, Kp, Ki, Kd, g = case
    model = Planar2R(arm_of(a, m, c, I), g)
    x, v, s = q0 + [1e-8, -1e-8], np.zeros(2), -model.g(q0) / Ki
    size = []
    for _ in range(periods):
        tau = -Kp * (x - q0) - Kd * v - Ki * s
        s = s + h * (x - q0)
        x, v = (np.array(y) for y in model.advance(x.tolist(), v.tolist(), tau.tolist(), h / 8, 8))
        size.append(np.linalg.norm(np.r_[x - q0, h * v]))
        if size[-1] > 1e-3:
            return True
    return max(size[-100:]) > max(size[400:500])


@pytest.mark.parametrize("seed", range(2))
def test_the_non_linear_arm_grows_restless_where_the_poles_say(seed):
    for case in cases_of("own_clock", seed):
        limit = JUDGE.own_clock(*case)
        if limit == 0:
            assert grows(case, 1e-3) and grows(case, 1e-2)
        else:
            assert not grows(case, 0.995 * limit) and grows(case, 1.005 * limit)


def test_one_arm_has_no_period_that_is_short_enough():
    assert 0.0 in [JUDGE.own_clock(*case) for case in cases_of("own_clock")]


# ---------------------------------------------------------------- more answers


TRUTH = {name: remembered(exercise.truth) for name, exercise in BY_NAME.items()}


def truth(name):
    return TRUTH[name]


def changed(name, change):
    return lambda *case: change(truth(name)(*case))


def kind(function, *kinds):
    return [lambda *case, k=k: function(*case, k) for k in kinds]


def by_steps(M, G, Kp, Ki, Kd, h):
    """The held matrix by a thousand steps of the midpoint rule, squared together."""
    n = len(M)
    zero, one, none = np.zeros((n, n)), np.eye(n), np.zeros((n, 3 * n))
    X = np.block([[zero, one, zero], [-np.linalg.solve(M, G), zero, np.linalg.inv(M)], [none]])
    X = X * h / 2**12
    E = np.eye(3 * n) + X + X @ X / 2 + X @ X @ X / 6
    for _ in range(12):
        E = E @ E
    law = -np.hstack([np.diag(Kp), np.diag(Kd), np.diag(Ki)])
    full = np.hstack([E[:, : 2 * n], np.zeros((3 * n, n))]) + E[:, 2 * n :] @ law
    full[2 * n :] = np.hstack([h * one, zero, one])
    return full


def by_one_state(M, G, Kp, Ki, Kd, h):
    """SciPy's integrator, all columns in one run."""
    n, X = len(M), np.eye(3 * len(M))
    tau = -Kp[:, None] * X[:n] - Kd[:, None] * X[n : 2 * n] - Ki[:, None] * X[2 * n :]

    def slope(t, y):
        q, v = y.reshape(2, n, 3 * n)
        return np.concatenate([v, np.linalg.solve(M, tau - G @ q)]).ravel()

    end = solve_ivp(slope, (0, h), X[: 2 * n].ravel(), rtol=1e-10, atol=1e-12).y[:, -1]
    return np.vstack([end.reshape(2 * n, -1), X[2 * n :] + h * X[:n]])


def jury(J, kp, kd, share):
    """By bisection on the determinant and on the value at -1."""
    A = lambda h: JUDGE.pulse_matrix(J, kp, kd, share, h)
    fine = lambda h: np.linalg.det(A(h)) < 1 and 1 + np.trace(A(h)) + np.linalg.det(A(h)) > 0
    low, high = 0.0, 1e-6
    while fine(high):
        low, high = high, 1.1 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if fine(middle) else (low, middle)
    return low


def roots(J, kp, kd, share):
    """The same with the roots of the polynomial of h."""
    a = [share * (1 - share) * kp, 2 * share * kd, -4 * J]
    return min([x.real for x in np.roots(a) if x.real > 0] + [2 * kd / (share * kp)])


def same_on(name):
    """Right answers in other forms, for all exercises that return a number or a matrix."""
    return [
        changed(name, lambda x: np.asarray(x)),
        changed(name, lambda x: np.asarray(x).tolist()),
        changed(name, lambda x: np.asarray(x, np.float32)),
        changed(name, lambda x: np.asarray(x) * (1 + 1e-6)),
        changed(name, lambda x: np.asarray(x) + 0j),
        changed(name, lambda x: np.asarray(x, dtype=object)),
        changed(name, lambda x: np.asfortranarray(x)),
    ]


RIGHT = {
    "pulse_limit": [
        *same_on("pulse_limit"),
        jury,
        roots,
        changed("pulse_limit", lambda x: Fraction(x)),
        changed("pulse_limit", lambda x: float(f"{x:.6g}")),
    ],
    "sum_matrix": [
        *same_on("sum_matrix"),
        by_steps,
        by_one_state,
        changed("sum_matrix", lambda x: np.round(x, 6)),
        changed("sum_matrix", lambda x: np.ma.masked_array(x)),
    ],
    "own_clock": [
        *same_on("own_clock"),
        changed("own_clock", lambda x: float(f"{x:.6g}")),
        changed("own_clock", lambda x: Fraction(x)),
        changed("own_clock", lambda x: x or -0.0),
        changed("own_clock", lambda x: x or 0),
    ],
}
NONSENSE = [np.nan, np.inf, 1e300, "0.01", -1.0, 0.0, [0.01, 0.01]]
WRONG = {
    "pulse_limit": [
        *(lambda *case, x=x: x for x in NONSENSE),
        changed("pulse_limit", lambda x: 1e3 * x),
        changed("pulse_limit", lambda x: 1 / x),
        changed("pulse_limit", lambda x: x * 1.001),
        changed("pulse_limit", lambda x: x / 2),
        lambda J, kp, kd, share: min(2 * J / kd, 2 * kd / kp) / share,
        lambda J, kp, kd, share: share * min(2 * J / kd, 2 * kd / kp),
    ],
    "sum_matrix": [
        *(lambda *case, x=x: x for x in NONSENSE),
        changed("sum_matrix", lambda A: A.T),
        changed("sum_matrix", lambda A: A[: len(A) * 2 // 3]),
        changed("sum_matrix", lambda A: np.linalg.inv(A)),
        changed("sum_matrix", lambda A: A - np.eye(len(A))),
        changed("sum_matrix", lambda A: A + 1e-3),
        changed("sum_matrix", lambda A: np.linalg.eigvals(A)),
        changed("sum_matrix", lambda A: A * np.nan),
        changed("sum_matrix", lambda A: np.round(A, 2)),
    ],
    "own_clock": [
        *(lambda *case, x=x: x for x in NONSENSE),
        changed("own_clock", lambda x: 1e3 * x + (x == 0)),
        changed("own_clock", lambda x: x * 1.001 + (x == 0)),
        changed("own_clock", lambda x: x or 1e-3),
        changed("own_clock", lambda x: x or None),
        *kind(JUDGE.own_clock, "points", "no weight", "sagged", "diagonal"),
        lambda *case: truth("own_clock")(*case[:4], -case[4], *case[5:]),
    ],
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_answers_pass_in_whatever_form(name):
    assert len(RIGHT[name]) + len(BY_NAME[name].alternatives) >= 10
    for seed in range(2):
        exercise = solved_once(BY_NAME[name], np.random.default_rng(seed))
        for i, answer in enumerate(RIGHT[name]):
            result = exercise.judge(answer, np.random.default_rng(seed))
            assert result.passed, (seed, i, result.message)


@pytest.mark.parametrize("name", WRONG)
def test_the_fixed_cases_alone_refuse_what_is_wrong_in_its_own_way(name):
    exercise = BY_NAME[name]
    assert len(WRONG[name]) >= 10
    fixed = replace(exercise, cases=lambda rng: exercise.cases(rng)[: FIXED[name]])
    fixed = solved_once(fixed, np.random.default_rng(0))
    for i, answer in enumerate([*WRONG[name], *(m.answer for m in exercise.mistakes)]):
        result = fixed.judge(answer, np.random.default_rng(0))
        assert not result.passed, i
        assert len(result.message.splitlines()[-1]) > 10, result.message
