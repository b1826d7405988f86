"""Homework 06: the truths hold against SciPy and the library, and more answers are tried."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.optimize import linprog, minimize
from support.complaints import complaints
from support.judges import judge_of

from course_lib import fabrik

JUDGE, BY_NAME = judge_of("hw06_tasks")
# How many cases come before those that are drawn; they alone tell every mistake from the truth.
FIXED = {"spare_step": 6, "two_tasks": 13, "broken": 21, "drive": 14}


def cases_of(name, seed=3):
    return BY_NAME[name].cases(np.random.default_rng(seed))


# ---------------------------------------------------------------- the truths


def cheapest(J, dx, k, wish, weights):
    """By SciPy's SLSQP; the wish is a constraint where J leaves room for it. Step, and whether."""
    row = np.eye(J.shape[1])[k]
    free = np.linalg.matrix_rank(np.vstack([J, row]), 1e-9) > len(J)
    A, b = (np.vstack([J, row]), np.append(dx, wish)) if free else (J, dx)
    found = minimize(
        lambda dq: 1e3 * weights @ dq**2,
        np.zeros(len(row)),
        jac=lambda dq: 2e3 * weights * dq,
        constraints={"type": "eq", "fun": lambda dq: A @ dq - b, "jac": lambda dq: A},
        options={"ftol": 1e-15, "maxiter": 500},
    )
    return found.x, free


def test_the_spare_step_is_the_cheapest_that_moves_the_tool_and_grants_the_wish():
    granted = []
    for case in cases_of("spare_step"):
        step, free = cheapest(*case)
        np.testing.assert_allclose(JUDGE.spare_step(*case), step, atol=1e-6)
        granted.append(free)
    assert granted.count(False) == 1


def share_of(dq, more, most):
    """The largest share of `more` that fits on top of dq: a linear programme of one unknown."""
    A, b = np.append(more, -more)[:, None], np.append(most - dq, most + dq)
    return linprog([-1], A_ub=A, b_ub=np.maximum(b, 0), bounds=[(0, 1)]).x[0]


def assert_least(J, e, dq, ways):
    """No motion along `ways` makes |J dq - e| smaller: its slope is zero there."""
    np.testing.assert_allclose(ways.T @ J.T @ (J @ dq - e), 0, atol=1e-10)


@pytest.mark.parametrize("seed", [3, 4])
def test_both_tasks_are_least_in_their_order_and_shortest(seed):
    """Null spaces by SciPy, and the conditions of a minimum: nothing of the judge's own formula."""
    shares = []
    for J1, e1, J2, e2, most in cases_of("two_tasks", seed):
        n, far = len(most), np.full(len(most), 1e9)
        alone = JUDGE.two_tasks(J1, e1, J2[:0], e2[:0], far)
        Z = null_space(J1, rcond=1e-9)
        assert_least(J1, e1, alone, np.eye(n))
        np.testing.assert_allclose(Z.T @ alone, 0, atol=1e-10)
        first = share_of(0 * alone, alone, most) * alone
        both = JUDGE.two_tasks(J1, J1 @ first, J2, e2, far)
        np.testing.assert_allclose(J1 @ (both - first), 0, atol=1e-10)
        assert_least(J2, e2, both, Z)
        small = np.where(np.abs(J2 @ Z) < 1e-12, 0, J2 @ Z)
        np.testing.assert_allclose(null_space(small, 1e-9).T @ Z.T @ both, 0, atol=1e-9)
        shares.append(share_of(first, both - first, most))
        expected = first + shares[-1] * (both - first)
        np.testing.assert_allclose(JUDGE.two_tasks(J1, e1, J2, e2, most), expected, atol=1e-8)
    assert min(shares) < 0.9 and max(shares) == 1


def test_the_small_singular_values_of_all_cases_are_rounding_and_the_others_are_not():
    for seed in range(20):
        for J1, _, J2, _, _ in cases_of("two_tasks", seed):
            for A in (J1, J2 @ null_space(J1, rcond=1e-9)):
                sigma = np.linalg.svd(A, compute_uv=False)
                assert ((sigma < 1e-11) | (sigma > 1e-3)).all(), sigma


@pytest.mark.parametrize("seed", range(3))
def test_runs_of_the_library_are_sound_and_what_is_damaged_is_named(seed):
    rng = np.random.default_rng(seed)
    lengths, limits = rng.uniform(0.2, 0.5, 4), np.tile([-0.9, 1.3], (4, 1))
    before = JUDGE.chain(lengths, np.zeros(4), np.zeros(4), rng.uniform(-1, 1, 2))
    target = JUDGE.chain(lengths, rng.uniform(-0.6, 1.0, 4), np.zeros(4), before[0])[-1]
    run = fabrik.solve(before, target, limits=limits)
    case = before, target, limits, np.zeros(4), 1e-3, run.reason
    judged = lambda points: JUDGE.broken(before, points, *case[1:])
    assert judged(run.points) == [] and run.reason in ("converged", "joint limit", "stalled")
    moved = run.points + [0.01, 0]
    assert judged(moved)[0] == "base" and "tip" in judged(moved) + ["tip"] * (not run.success)
    longer = run.points + np.outer(np.arange(5) > 2, 0.1 * np.diff(run.points, axis=0)[2])
    assert "link 3" in judged(longer) and not [n for n in judged(longer) if n[:5] == "joint"]
    tight = np.array([fabrik.bends(run.points) + 0.01, fabrik.bends(run.points) + 1]).T
    names = JUDGE.broken(before, run.points, target, tight, *case[3:])
    assert names == [f"joint {i}" for i in (1, 2, 3, 4)]


def reported(rng, exact, ticks=40):
    """An arm under the judge's loop: angles (ticks+1, 2), and whether each command was sent."""
    q, sent, reports, came = [np.array([0.4, -0.3])], np.zeros((0, 2)), [], {}
    goal, settings = np.array([-0.5, 0.6]), (0.05, 4.0, np.array([1.5, 1.0]), 4)
    speeds = []
    for now in range(ticks):
        if rng.random() < 0.7:
            came[now + int(rng.integers(0, 3))] = (now, q[-1])
        reports.append(came.get(now))
        speeds.append(JUDGE.drive(now, goal, sent, reports, *settings))
        sent = np.vstack([sent, speeds[-1]])
        q.append(q[-1] + (1.0 if exact else 0.85) * 0.05 * speeds[-1])
    return np.array(q), np.array(speeds), goal


def test_losses_do_not_matter_to_an_arm_that_follows_exactly_and_little_to_one_that_lags():
    for seed in range(5):
        q, speeds, goal = reported(np.random.default_rng(seed), exact=True)
        wanted = 4.0 * (goal - q[:-1])
        wanted /= np.maximum(1, np.abs(wanted / [1.5, 1.0]).max(axis=1, keepdims=True))
        known = np.flatnonzero(np.abs(speeds).max(axis=1) > 0)
        np.testing.assert_allclose(speeds[known], wanted[known], atol=1e-12)
        assert len(known) > 30
        q, _, goal = reported(np.random.default_rng(seed), exact=False)
        assert np.abs(q[-1] - goal).max() < 0.02
        beyond = (q - goal) * np.sign(goal - q[0])
        assert beyond.max() < 1e-3  # no running past the goal


# ---------------------------------------------------------------- more right answers


def by_elimination(J, dx, k, wish, weights):
    """Is column k needed by the others' column space? Then dq[k] follows; else it is the wish."""
    rest = np.delete(np.arange(len(weights)), k)
    U, sigma, _ = np.linalg.svd(J[:, rest])
    lost = U[:, (np.pad(sigma, (0, len(J) - len(sigma))) < 1e-9)]
    mine = wish if lost.size == 0 else (lost.T @ dx / (lost.T @ J[:, k]))[0]
    root, dq = np.sqrt(weights[rest]), np.empty(len(weights))
    dq[rest] = np.linalg.lstsq(J[:, rest] / root, dx - J[:, k] * mine, rcond=1e-9)[0] / root
    dq[k] = mine
    return dq


def by_basis_of_scipy(J, dx, k, wish, weights):
    Z, W = null_space(J), np.diag(weights)
    dq = np.linalg.lstsq(J, dx, rcond=None)[0]
    dq = dq - Z @ np.linalg.solve(Z.T @ W @ Z, Z.T @ W @ dq)
    way = Z @ np.linalg.solve(Z.T @ W @ Z, Z[k])
    return dq + way * ((wish - dq[k]) / way[k] if way[k] > 1e-9 else 0)


def by_null_spaces(J1, e1, J2, e2, most):
    Z = null_space(J1, rcond=1e-9)
    first = np.linalg.lstsq(J1, e1, rcond=1e-9)[0]
    first = first / max(1, (np.abs(first) / most).max())
    A, e = J2 @ Z, e2 - J2 @ first
    A[np.abs(A) < 1e-12] = 0
    second = Z @ np.linalg.lstsq(A, e, rcond=1e-9)[0]
    return first + share_of(first, second, most) * second


def by_polishing(J1, e1, J2, e2, most):
    """The smallest room of all joints, with loops."""
    dq = list(JUDGE.inverse(J1) @ e1)
    worst = max([abs(x) / m for x, m in zip(dq, most)] + [1])
    dq = np.array(dq) / worst
    more = JUDGE.inverse(J2 - J2 @ JUDGE.inverse(J1) @ J1) @ (e2 - J2 @ dq)
    factor = 1.0
    for x, m, limit in zip(dq, more, most):
        if abs(m) > 1e-11:
            factor = min(factor, max(0, (limit - x) / m if m > 0 else (limit + x) / -m))
    return dq + factor * more


def by_turning(before, after, target, limits, zeros, tolerance, says):
    """Walk along the chain, and turn each link back by its frame."""
    names, frame = [], np.eye(2)
    for i, link in enumerate(np.diff(after, axis=0)):
        x, y = frame.T @ link
        reading = np.arctan2(y, x) - zeros[i]
        reading -= 2 * np.pi * round(reading / (2 * np.pi))
        if reading < limits[i][0] - 1e-6 or reading > limits[i][1] + 1e-6:
            names += [f"joint {i + 1}"]
        u = link / np.hypot(*link)
        frame = np.array([[u[0], -u[1]], [u[1], u[0]]])
        if abs(np.hypot(*link) - np.hypot(*(before[i + 1] - before[i]))) > 1e-6:
            names += [f"link {i + 1}"]
    names += ["base"] if np.abs(before[0] - after[0]).sum() > 1e-6 else []
    return names + ["tip"] * int(
        says == "converged" and np.hypot(*(after[-1] - target)) > tolerance
    )


def by_direction(before, after, target, limits, zeros, tolerance, says):
    """Limits as a cone about their middle: a dot product, no angle at all."""
    along = np.diff(after, axis=0) / np.linalg.norm(np.diff(after, axis=0), axis=1)[:, None]
    names = ["base"] * (not np.allclose(after[0], before[0], rtol=0, atol=1e-6))
    for i, (low, high) in enumerate(limits):
        old = along[i - 1] if i else np.array([1.0, 0])
        turn = zeros[i] + (low + high) / 2
        middle = np.cos(turn) * old + np.sin(turn) * np.array([-old[1], old[0]])
        names += [f"joint {i + 1}"] * bool(along[i] @ middle < np.cos((high - low) / 2 + 1e-6))
        grown = np.linalg.norm(after[i + 1] - after[i]) - np.linalg.norm(before[i + 1] - before[i])
        names += [f"link {i + 1}"] * bool(abs(grown) > 1e-6)
    far = np.sum((after[-1] - target) ** 2) > tolerance**2
    return names + ["tip"] * bool(far and says == "converged")


def by_running_sum(now, goal, sent, reports, period, gain, qd_max, oldest):
    """What was sent as a running sum: the way since a tick is a difference."""
    taken, q = -1, None
    for report in reports:
        if report and report[0] > taken:
            taken, q = report
    if q is None or now > taken + oldest:
        return [0, 0]
    total = np.vstack([np.zeros(2), period * np.cumsum(sent, axis=0)])
    speed = gain * (goal - (q + total[now] - total[taken]))
    too_fast = (np.abs(speed) / qd_max).max()
    return speed if too_fast <= 1 else speed / too_fast


def by_loop(now, goal, sent, reports, period, gain, qd_max, oldest):
    """Backwards through time, the first measurement that is met."""
    taken = {report[0]: report[1] for report in reports if report is not None}
    for age in range(min(oldest, now) + 1):
        if now - age in taken:
            here = taken[now - age].copy()
            for speeds in sent[now - age :]:
                here += speeds * period
            wanted = (goal - here) * gain
            return (wanted * min(1, *(qd_max / np.maximum(np.abs(wanted), 1e-12)))).tolist()
    return np.zeros(2)


def as_lists(answer):
    return lambda *case: np.asarray(answer(*case)).tolist()


MORE = {
    "spare_step": [
        by_elimination,
        by_basis_of_scipy,
        lambda *case: cheapest(*case)[0],
        as_lists(by_basis_of_scipy),
    ],
    "two_tasks": [
        by_null_spaces,
        by_polishing,
        as_lists(by_null_spaces),
        lambda *case: tuple(by_null_spaces(*case)),
        lambda *case: np.float32(by_polishing(*case)),
    ],
    "broken": [
        by_turning,
        by_direction,
        lambda *case: sorted(by_turning(*case)),
        lambda *case: tuple(by_direction(*case)),
        lambda *case: [name.title() for name in by_direction(*case)][::-1],
    ],
    "drive": [
        by_running_sum,
        by_loop,
        as_lists(by_running_sum),
        lambda *case: np.float32(by_loop(*case)),
        lambda *case: [f"{x:.6f}" for x in by_loop(*case)] and np.round(by_loop(*case), 6),
    ],
}


@pytest.mark.parametrize("name", MORE)
def test_ten_right_answers_pass_and_ten_wrong_ones_are_told(name):
    exercise = BY_NAME[name]
    assert len(exercise.alternatives) + len(MORE[name]) >= 10 and len(exercise.mistakes) >= 10
    for answer in MORE[name]:
        for seed in (0, 1, 2):
            result = exercise.judge(answer, np.random.default_rng(seed))
            assert result.passed, result.message


@pytest.mark.parametrize("name", FIXED)
def test_the_fixed_cases_alone_tell_every_mistake(name):
    exercise = BY_NAME[name]
    fixed = replace(exercise, cases=lambda rng: exercise.cases(rng)[: FIXED[name]])
    assert complaints(fixed, np.random.default_rng(0)) == []
    one, other = (exercise.cases(np.random.default_rng(seed)) for seed in (1, 2))
    np.testing.assert_equal(one[: FIXED[name]], other[: FIXED[name]])
    with pytest.raises(AssertionError):
        np.testing.assert_equal(one[FIXED[name]], other[FIXED[name]])


# ---------------------------------------------------------------- wrong in ways of their own


def damped(J, square):
    return np.linalg.solve(J.T @ J + square * np.eye(J.shape[1]), J.T)


def spare_leaking(damping):
    """A projector that is damped, the rest as it should be."""

    def answer(J, dx, k, wish, weights):
        root = np.sqrt(weights)
        P = damped(J / root, damping**2)
        y, N = P @ dx, np.eye(len(root)) - P @ (J / root)
        return (y + N[k] * (root[k] * wish - y[k]) / N[k, k]) / root

    return answer


def spare_from(J, dx, k, wish, weights, scale=1.0, least=1e-6, weighted=True):
    """Push `scale` of what is missing, where the freedom is above `least`."""
    dq = JUDGE.spare_step(J, dx, k, wish, weights if weighted else np.ones_like(weights), False)
    N = np.eye(len(dq)) - JUDGE.inverse(J / weights) @ (J / weights)
    way = JUDGE.spare_step(J, 0 * dx, k, 1.0, weights)
    return dq + (scale * (wish - dq[k]) * way if N[k, k] > least else 0)


def tasks_stacked(weight):
    return lambda J1, e1, J2, e2, most: JUDGE.two_tasks(
        np.vstack([weight * J1, J2]), np.r_[weight * e1, e2], J2[:0], e2[:0], most
    )


def tasks_from(J1, e1, J2, e2, most, kind):
    """Steps put together with one fault of a kind that a learner may invent."""
    first = JUDGE.inverse(J1) @ e1
    if kind == "pinv by default":
        first = np.linalg.pinv(J1) @ e1
    if kind == "damped":
        first = damped(J1, 1e-6) @ e1
    if kind == "each joint":
        first = np.clip(first, -most, most)
    elif kind == "norm":
        first = first * min(1, np.linalg.norm(most) / np.linalg.norm(first))
    else:
        first = first * JUDGE.room(0 * first, first, most)
    N = np.eye(len(most)) - JUDGE.inverse(J1) @ J1
    second = JUDGE.inverse(J2 @ N) @ (e2 - J2 @ first)
    if kind == "crooked basis":
        Z = null_space(J1, rcond=1e-9)
        Z = Z * np.arange(1.0, Z.shape[1] + 1)
        second = Z @ JUDGE.inverse(J2 @ Z) @ (e2 - J2 @ first)
    if kind == "both signs":
        second = JUDGE.inverse(J2 @ N) @ (e2 + J2 @ first)
    left = most - (first if kind == "signless" else np.sign(second) * first)
    share = np.min(np.where(np.abs(second) > 1e-12, left, 9e9) / np.maximum(np.abs(second), 1e-12))
    share = {"own room": JUDGE.room(0 * first, second, most), "beyond": min(share, 50)}.get(
        kind, np.clip(share, 0, 1)
    )
    if kind == "half":
        share = share if share == 1 else share / 2
    if kind == "second clipped":
        return np.clip(first + second, -most, most)
    return first + share * second


def chain_with(slack=1e-6, tip=1.0, wrap=np.arctan2):
    """Slacks other than announced; readings wrapped otherwise."""

    def answer(before, after, target, limits, zeros, tolerance, says):
        grown = np.linalg.norm(np.diff(after, axis=0), axis=1)
        grown = np.abs(grown - np.linalg.norm(np.diff(before, axis=0), axis=1))
        q = fabrik.bends(after) - zeros
        q = q % (2 * np.pi) if wrap is None else wrap(np.sin(q), np.cos(q))
        names = ["base"] * bool(np.linalg.norm(after[0] - before[0]) > slack)
        names += [f"link {i + 1}" for i in np.flatnonzero(grown > slack)]
        out = (q < limits[:, 0] - slack) | (q > limits[:, 1] + slack)
        names += [f"joint {i + 1}" for i in np.flatnonzero(out)]
        far = np.linalg.norm(after[-1] - target) > tip * tolerance
        return names + ["tip"] * bool(far and says == "converged")

    return answer


def tip_of_the_sound(before, after, target, *rest):
    """Looks at the tip where nothing else is broken."""
    names = JUDGE.broken(before, after, target, *rest)
    return names if names == ["tip"] else [name for name in names if name != "tip"]


def drive_from(now, goal, sent, reports, period, gain, qd_max, oldest, kind):
    """The loop with one fault of a kind that a learner may invent."""
    came = [report for report in reports if report]
    if not came or (kind == "only this tick" and not reports[-1]):
        return np.zeros(2)
    taken, q = max(came, key=lambda report: report[0])
    if kind == "mean":
        recent = [t for t in came if now - t[0] <= oldest] or [(taken, q)]
        here = np.mean([p + period * sent[t:].sum(axis=0) for t, p in recent], axis=0)
    elif kind == "line":
        other = sorted(came, key=lambda report: report[0])[-2:]
        slope = (other[1][1] - other[0][1]) / (other[1][0] - other[0][0]) if other[1:] else 0.0
        here = q + slope * (now - taken)
    elif kind == "mean speed":
        here = q + period * (now - taken) * (sent.mean(axis=0) if now else 0)
    else:
        ahead = {"a tick ahead": 1, "half a tick": 0.5}.get(kind, 0)
        here = q + period * sent[taken:].sum(axis=0)
        here = here + ahead * period * (sent[-1] if now else 0)
    silent = next((i for i, report in enumerate(reports[::-1]) if report), 0)
    if (silent if kind == "silence" else now - taken) > oldest:
        return sent[-1] / 2 if kind == "slows down" else np.zeros(2)
    speed = gain * (goal - here)
    share = np.max(np.abs(speed) / qd_max)
    if kind == "always full":
        return speed / share
    if kind == "by the norm":
        share = np.linalg.norm(speed) / np.linalg.norm(qd_max)
    if kind == "slowest joint":
        share = np.linalg.norm(speed) / qd_max.min()
    if kind == "deadband" and np.abs(goal - here).max() < 0.5:
        return np.zeros(2)
    return speed / max(1, share)


def kinds(function, *names):
    return [lambda *case, kind=kind: function(*case, kind) for kind in names]


WRONG = {
    "spare_step": [
        *map(spare_leaking, (0.1, 0.01, 0.003)),
        lambda *case: spare_from(*case, scale=0.9),
        lambda *case: spare_from(*case, scale=2.0),
        lambda *case: spare_from(*case, least=0.5),
        lambda *case: spare_from(*case, weighted=False),
        lambda J, dx, k, wish, w: JUDGE.spare_step(J, dx, k, wish, w**0.5),
        lambda J, dx, k, wish, w: JUDGE.spare_step(J, dx, k, wish, w / w.max() + 0.01),
        lambda J, dx, k, wish, w: JUDGE.spare_step(J, dx, k, min(wish, 0.2), w),
        lambda J, dx, k, wish, w: JUDGE.spare_step(J, dx, k, abs(wish), w),
        lambda *case: JUDGE.spare_step(*case) * 1.001,
        lambda *case: np.round(JUDGE.spare_step(*case), 3),
        lambda J, *rest: JUDGE.spare_step(J, *rest)[: len(J)],
    ],
    "two_tasks": [
        *map(tasks_stacked, (100.0, 1000.0)),
        *kinds(tasks_from, "pinv by default", "damped", "each joint", "norm", "crooked basis"),
        *kinds(tasks_from, "both signs", "signless", "own room", "beyond", "half"),
        *kinds(tasks_from, "second clipped"),
        lambda J1, e1, J2, e2, most: JUDGE.two_tasks(J1, e1, J2, e2, 0.8 * most),
        lambda *case: np.round(JUDGE.two_tasks(*case), 3),
    ],
    "broken": [
        *(chain_with(slack) for slack in (1e-9, 1e-4, 1e-3)),
        *(chain_with(tip=tip) for tip in (0.5, 1.1, 2.0)),
        chain_with(wrap=None),
        chain_with(wrap=lambda s, c: np.arcsin(s)),
        chain_with(wrap=lambda s, c: np.arccos(c)),
        tip_of_the_sound,
        lambda *case: [],
        lambda *case: JUDGE.broken(*case)[-1:],
        lambda *case: len(JUDGE.broken(*case)),
        lambda *case: JUDGE.broken(*case) or "sound",
        lambda *case: [n.replace(" ", "") for n in JUDGE.broken(*case)],
        lambda *case: [n for n in JUDGE.broken(*case) if n[:4] != "base"] + ["base"],
    ],
    "drive": [
        *kinds(drive_from, "only this tick", "mean", "line", "mean speed", "a tick ahead"),
        *kinds(drive_from, "half a tick", "silence", "slows down", "always full", "by the norm"),
        *kinds(drive_from, "slowest joint", "deadband"),
        lambda *case: np.round(JUDGE.drive(*case), 3),
        lambda *case: np.zeros(2),
        lambda *case: JUDGE.drive(*case) + 1e-4,
    ],
}


@pytest.mark.parametrize("name", WRONG)
def test_the_fixed_cases_alone_refuse_what_is_wrong_in_its_own_way(name):
    exercise = BY_NAME[name]
    fixed = replace(exercise, cases=lambda rng: exercise.cases(rng)[: FIXED[name]])
    for i, answer in enumerate(WRONG[name]):
        result = fixed.judge(answer, np.random.default_rng(0))
        assert not result.passed, i
        assert len(result.message.splitlines()[-1]) > 10, result.message
