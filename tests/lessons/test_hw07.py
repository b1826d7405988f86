"""Homework 07: the truths hold against SciPy and motions that run, and more answers are tried."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.interpolate import BPoly, CubicHermiteSpline, CubicSpline
from scipy.optimize import brentq
from support.complaints import complaints
from support.judges import judge_of

from course_lib import trajectory

JUDGE, BY_NAME = judge_of("hw07_trajectories")
# How many cases come before those that are drawn; they alone tell every mistake from the truth.
FIXED = {"soft_duration": 4, "mended": 7, "together": 8, "corner_speeds": 11, "on_clock": 6}


def cases_of(name, seed=3):
    return BY_NAME[name].cases(np.random.default_rng(seed))


# ---------------------------------------------------------------- the truths

SOFT = BPoly.from_derivatives([0, 1], [[0, 0, 0], [1, 0, 0, 0]])  # by SciPy, from its ends


def use_of_limits(T, distance, *limits):
    """The largest share of each limit that the motion uses, on a fine grid, (3,)."""
    x = np.linspace(0, 1, 4001)
    peaks = [np.abs(SOFT.derivative(k)(x)).max() * abs(distance) / T**k for k in (1, 2, 3)]
    return np.divide(peaks, limits)


def test_the_profile_has_seven_conditions_and_the_text_tells_its_middle():
    assert len(SOFT.c) == 7  # degree 6
    np.testing.assert_allclose(JUDGE.SOFT(np.linspace(0, 1, 9)), SOFT(np.linspace(0, 1, 9)))
    assert SOFT(0.5) == 0.65625


@pytest.mark.parametrize("seed", range(3))
def test_the_soft_duration_reaches_a_limit_and_passes_none(seed):
    binding = set()
    for case in cases_of("soft_duration", seed):
        for T, *joint in zip(JUDGE.soft_duration(*case), *case):
            if joint[0] == 0:
                assert T == 0
                continue
            use = use_of_limits(T, *joint)
            assert use.max() == pytest.approx(1, abs=2e-6)
            binding.add(int(use.argmax()))
    assert binding == {0, 1, 2}


@pytest.mark.parametrize("seed", range(3))
def test_the_mended_times_are_those_of_the_librarys_motion(seed):
    astray = []
    for case in cases_of("mended", seed):
        ramp, cruise, T = JUDGE.timing(*case)
        move = trajectory.trapezoid(0, *case)
        assert T == pytest.approx(move.duration, abs=1e-12)
        steps = np.diff(move.breaks)
        expected = [steps[0], steps[1] if len(steps) == 3 else 0.0]
        np.testing.assert_allclose([ramp, cruise], expected, atol=1e-9)
        astray.append(abs(JUDGE.given(*case)[2] - T))
    assert astray[0] < 1e-12 and astray[1] < 1e-12  # the author's two tests see nothing
    assert max(astray[2:]) > 1e-3


def by_phase_plane(q0, q1, v_max, a_max, b_max):
    """As fast as the start, the end and the speed limit allow at each place: time is ∫ ds / s'."""
    D = np.abs(q1 - q0)
    if not D.any():
        return 0.0, 0 * D
    with np.errstate(divide="ignore"):
        v, a, b = (np.min(limit / D) for limit in (v_max, a_max, b_max))
    rate = lambda s: min(v, np.sqrt(2 * a * s), np.sqrt(2 * b * (1 - s)))
    corner = b / (a + b)  # where both ramps meet
    speed_up, brake = (lambda y: 2 * y / rate(y * y)), (lambda y: 2 * y / rate(1 - y * y))
    ends = [(speed_up, np.sqrt(corner)), (brake, np.sqrt(1 - corner))]  # s = y², 1 - y²
    kinks = [v / np.sqrt(2 * a), v / np.sqrt(2 * b)]
    T = sum(
        quad(f, 0, top, points=[k] if k < top else None, epsabs=1e-11)[0]
        for (f, top), k in zip(ends, kinks)
    )
    return T, (q1 - q0) * rate(corner)


@pytest.mark.parametrize("seed", range(3))
def test_together_is_the_fastest_run_along_the_line(seed):
    for case in cases_of("together", seed):
        (T, speeds), (other, peaks) = JUDGE.together(*case), by_phase_plane(*case)
        assert T == pytest.approx(other, abs=1e-8)
        np.testing.assert_allclose(speeds, peaks, atol=1e-9)


def test_with_equal_ramps_it_is_the_librarys():
    for q0, q1, v, a, _ in cases_of("together"):
        move = trajectory.synchronise(q0, q1, v, a, profile="trapezoid")
        T, speeds = JUDGE.together(q0, q1, v, a, a)
        assert T == pytest.approx(move.duration, abs=1e-12)
        if T:
            np.testing.assert_allclose(move.peaks(1).max(axis=0), np.abs(speeds), atol=1e-9)


def largest_arc(before, corner, after, miss):
    """Radius of the largest allowed arc: its centre moves out along the bisector."""
    u, w = corner - before, after - corner
    half = 0.5 * min(np.linalg.norm(u), np.linalg.norm(w))
    u, w = u / np.linalg.norm(u), w / np.linalg.norm(w)
    inward = w - u
    if np.linalg.norm(inward) < 1e-9:
        return np.inf
    inward = inward / np.linalg.norm(inward)

    def spare(h):
        """What is left of miss and of the line, whichever is less, with the centre h away."""
        along = h * (inward @ -u)
        r = np.linalg.norm(h * inward + along * u)
        return min(miss - (h - r), half - along)

    h = brentq(spare, 0, 1e4, xtol=1e-14, rtol=1e-14)
    return np.linalg.norm(h * inward + h * (inward @ -u) * u)


@pytest.mark.parametrize("seed", range(3))
def test_corner_speeds_belong_to_the_largest_arc(seed):
    for points, miss, v_max, a_max in cases_of("corner_speeds", seed):
        corners = zip(points, points[1:], points[2:])
        radii = np.array([largest_arc(*corner, miss) for corner in corners])
        expected = np.minimum(v_max, np.sqrt(a_max * radii))
        found = JUDGE.corner_speeds(points, miss, v_max, a_max)
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_the_plan_moves_as_its_speeds_say_and_ends_when_its_clock_is_through():
    for t, q, qd, _, t_slow, factor in cases_of("on_clock"):
        early, late = min(t[0], t_slow), max(t[-1], t_slow)
        ticks = np.linspace(early - 0.3, late + (t[-1] - t[0]) / factor + 1, 4001)
        q_at, speeds = JUDGE.on_clock(t, q, qd, ticks, t_slow, factor)
        h = 1e-6
        ahead, behind = (JUDGE.on_clock(t, q, qd, ticks + d, t_slow, factor)[0] for d in (h, -h))
        smooth = np.abs(ticks - t_slow) > 2 * h
        slopes = (ahead - behind)[smooth] / (2 * h)
        np.testing.assert_allclose(speeds[smooth], slopes, atol=1e-4)
        np.testing.assert_allclose([q_at[0], q_at[-1]], [q[0], q[-1]], atol=1e-12)
        start, pace = min(t[0], t_slow), lambda x: factor if x > t_slow else 1.0
        for i in (1, 2):  # the plan's own samples are passed when its clock shows them
            wall = t[i] if t[i] < t_slow else t_slow + (t[i] - t_slow) / factor
            shown = start + quad(pace, start, wall, points=[t_slow])[0]
            assert shown == pytest.approx(t[i], abs=1e-7)
            there = JUDGE.on_clock(t, q, qd, np.array([wall]), t_slow, factor)[0][0]
            np.testing.assert_allclose(there, q[i], atol=1e-9)


# ---------------------------------------------------------------- more right answers


def soft_by_bisection(*case):
    """Halve until the grid shows that the limits just hold."""
    found = []
    for D, *limits in zip(*case):
        low, high = 0.0, 50.0
        for _ in range(40 if D else 0):
            T = (low + high) / 2
            low, high = (
                (low, T)
                if SOFT_PEAKS[0] * abs(D) / T <= limits[0]
                and all(SOFT_PEAKS[k] * abs(D) / T ** (k + 1) <= limits[k] for k in (1, 2))
                else (T, high)
            )
        found.append(high if D else 0.0)
    return found


SOFT_PEAKS = [np.abs(SOFT.derivative(k)(np.linspace(0, 1, 30001))).max() for k in (1, 2, 3)]


def soft_by_zeros(D, v_max, a_max, j_max):
    """Zeros of the next derivative, by NumPy's polynomials from the system of seven conditions."""
    rows = [[n == k for n in range(7)] for k in range(3)]  # at 0: 1, x and x² have no part
    falling = lambda n, k: float(np.prod([n - i for i in range(k)]))
    rows += [[falling(n, k) for n in range(7)] for k in range(4)]
    curve = np.polynomial.Polynomial(np.linalg.solve(np.array(rows, float), [0, 0, 0, 1, 0, 0, 0]))
    T = np.zeros(len(D))
    for k, limit in ((1, v_max), (2, a_max), (3, j_max)):
        places = np.r_[0, 1, np.clip(curve.deriv(k + 1).roots().real, 0, 1)]
        peak = np.abs(curve.deriv(k)(places)).max()
        T = np.fmax(T, (peak * np.abs(D) / limit) ** (1 / k))
    return T


def timing_by_library(distance, v_max, a_max):
    T = float(trajectory.shortest_duration("trapezoid", distance, v_max, a_max))
    ramp = (T - np.sqrt(max(T * T - 4 * abs(distance) / a_max, 0))) / 2  # T² - 4 D/a = cruise²
    return ramp, T - 2 * ramp, T


def timing_by_cases(distance, v_max, a_max):
    D = abs(distance)
    if D <= v_max * v_max / a_max:
        return [np.sqrt(D / a_max), 0, 2 * np.sqrt(D / a_max)]
    return np.array([v_max / a_max, D / v_max - v_max / a_max, D / v_max + v_max / a_max])


def together_by_limits(q0, q1, v_max, a_max, b_max):
    """Seconds for each unit of peak, joint by joint in a loop."""
    slowest = up = down = 0.0
    for x, y, v, a, b in zip(q0, q1, v_max, a_max, b_max):
        D = abs(y - x)
        slowest, up, down = max(slowest, D / v), max(up, D / a), max(down, D / b)
    if slowest == 0:
        return 0, [0] * len(q0)
    v = 1 / max(slowest, ((up + down) / 2) ** 0.5)
    ramps = v * up, v * down
    T = sum(ramps) + (1 - v * sum(ramps) / 2) / v
    return T, [v * (y - x) for x, y in zip(q0, q1)]


def corners_by_arc(points, miss, v_max, a_max):
    """Each corner by a search for its largest arc."""
    corners = zip(points, points[1:], points[2:])
    return [min(v_max, (a_max * largest_arc(*corner, miss)) ** 0.5) for corner in corners]


def corners_by_cosine(points, miss, v_max, a_max):
    """Half-angle formulas, no angle at all."""
    way = np.diff(points, axis=0)
    length = np.linalg.norm(way, axis=1)
    c = np.clip((way[1:] * way[:-1]).sum(axis=1) / (length[1:] * length[:-1]), -1, 1)
    half_c, half_s = np.sqrt((1 + c) / 2), np.sqrt((1 - c) / 2)
    bent = half_s > 1e-8
    d = np.where(bent, miss * (1 + half_c) / np.where(bent, half_s, 1), np.inf)
    d = np.minimum(d, np.minimum(length[1:], length[:-1]) / 2)
    r = np.where(bent, d * half_c / np.where(bent, half_s, 1), np.inf)
    return np.minimum(v_max, np.sqrt(a_max * r))


def clock_by_new_plan(t, q, qd, ticks, t_slow, factor):
    """Cut the plan at t_slow, and stretch what comes after it."""
    plan = CubicHermiteSpline(t, q, qd)
    if t_slow >= t[-1]:
        wall, q_new, v_after = t, q, qd
        pieces = [(wall, q_new, v_after)]
    else:
        cut = max(t_slow, t[0])
        later = np.r_[cut, t[t > cut]]
        stretched = t_slow + (later - t_slow) / factor
        pieces = [(stretched, plan(later), factor * plan(later, 1))]
        before = np.r_[t[t < cut], cut]
        if len(before) > 1:
            pieces.insert(0, (before, plan(before), plan(before, 1)))
    q_at, speeds = np.tile(q[0], (len(ticks), 1)), np.zeros((len(ticks), q.shape[1]))
    for wall, values, slopes in pieces:
        now = (ticks >= wall[0]) & (ticks < wall[-1])
        piece = BPoly.from_derivatives(wall, np.stack([values, slopes], axis=1))
        q_at[now], speeds[now] = piece(ticks[now]), piece.derivative()(ticks[now])
        q_at[ticks >= wall[-1]] = values[-1]
    return q_at, speeds


def clock_by_library(t, q, qd, ticks, t_slow, factor):
    """The library's cubic, piece by piece."""
    at = np.where(ticks > t_slow, t_slow + factor * (ticks - t_slow), ticks)
    where = np.clip(np.searchsorted(t, at, side="right") - 1, 0, len(t) - 2)
    rows = []
    for x, tick, i in zip(at, ticks, where):
        ends = q[i], q[i + 1], t[i + 1] - t[i], qd[i : i + 2]
        there, speed, _ = trajectory.cubic(*ends).starting(t[i])(x)
        rows.append((there, speed * (factor if tick > t_slow else 1)))
    return [np.array(part) for part in zip(*rows)]


def as_list(answer):
    return lambda *case: np.asarray(answer(*case)).tolist()


def single(answer):
    return lambda *case: np.float32(answer(*case))


MORE = {
    "soft_duration": [
        soft_by_bisection,
        soft_by_zeros,
        as_list(soft_by_zeros),
        single(soft_by_bisection),
        lambda *case: np.round(soft_by_zeros(*case), 4) + 0,
        lambda *case: tuple(soft_by_zeros(*case)),
    ],
    "mended": [
        JUDGE.says(4, timing_by_library),
        JUDGE.says(4, timing_by_cases),
        JUDGE.says(4.0, single(timing_by_library)),
        lambda *case: [4, list(timing_by_cases(*case))],
        lambda *case: (4, tuple(map(float, timing_by_library(*case)))),
        lambda *case: (np.array(4), np.round(timing_by_cases(*case), 5)),
    ],
    "together": [
        together_by_limits,
        by_phase_plane,
        lambda *case: list(by_phase_plane(*case)),
        lambda *case: (np.float32(together_by_limits(*case)[0]), together_by_limits(*case)[1]),
        lambda *case: [np.array(part) for part in together_by_limits(*case)],
        lambda *case: (np.array([by_phase_plane(*case)[0]]), tuple(by_phase_plane(*case)[1])),
    ],
    "corner_speeds": [
        corners_by_arc,
        corners_by_cosine,
        as_list(corners_by_cosine),
        single(corners_by_cosine),
        lambda *case: tuple(corners_by_arc(*case)),
        lambda *case: np.round(corners_by_cosine(*case), 5),
    ],
    "on_clock": [
        clock_by_new_plan,
        clock_by_library,
        lambda *case: [part.tolist() for part in clock_by_new_plan(*case)],
        lambda *case: np.array(clock_by_new_plan(*case)),
        lambda *case: tuple(map(np.float32, clock_by_library(*case))),
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


def soft_with(*peaks):
    """The right formula with these peaks."""
    powers = [1.0, 0.5, 1 / 3]
    return lambda D, *limits: np.max(
        [(p * np.abs(D) / limit) ** k for p, limit, k in zip(peaks, limits, powers)], axis=0
    )


def changed(name, change):
    """The truth of an exercise, changed."""
    return lambda *case: change(BY_NAME[name].truth(*case))


def timing_with(border=1.0, ramp=1.0, peak=1.0, cruise=0.0):
    """The trapezoid with one number exchanged."""

    def answer(distance, v_max, a_max):
        way, v = abs(distance), v_max
        if way < border * v * v / a_max:
            v = np.sqrt(peak * way * a_max)
        t = ramp * v / a_max
        rest = max(cruise, (way - v * t) / v)
        return 4, [t, rest, 2 * t + rest]

    return answer


def together_with(kind):
    """Joints in step with a fault of a kind that a learner may invent."""

    def answer(q0, q1, v_max, a_max, b_max):
        D = np.abs(q1 - q0)
        if not D.any():
            return 0.0, 0 * D
        floor = {"at rest counts": 1.0, "tiny": 0.3}.get(kind, 1e-12)
        share = np.maximum(D, floor) if floor < 1 else np.where(D > 0, D, 1.0)
        v, a, b = (np.min(limit / share) for limit in (v_max, a_max, b_max))
        if kind == "root of the mean":
            peak = min(v, np.sqrt((a + b) / 2))
        elif kind == "least ramp":
            peak = min(v, np.sqrt(min(a, b)))
        elif kind == "stronger ramp":
            peak = min(v, np.sqrt(max(a, b)))
        elif kind == "half-way":
            peak = min(v, np.sqrt(a), np.sqrt(b))
        else:
            peak = min(v, np.sqrt(2 * a * b / (a + b)))
        T = 1 / peak + peak / 2 * (1 / a + 1 / b)
        T = {"speed alone": 1 / v, "without braking": 1 / peak + peak / 2 / a}.get(kind, T)
        speeds = (q1 - q0) * peak
        if kind == "limits as speeds":
            speeds = np.sign(q1 - q0) * v_max
        if kind == "longer":
            T = 1.01 * T
        return T, speeds

    return answer


def corners_with(kind):
    """Corner speeds with a fault of a kind that a learner may invent."""

    def answer(points, miss, v_max, a_max):
        points = points[:, :2] if kind == "from above" else points
        way = np.diff(points, axis=0)
        length = np.linalg.norm(way, axis=1)
        u = way / np.maximum(length, 1e-12)[:, None]
        turn = 2 * np.arctan2(
            np.linalg.norm(u[1:] - u[:-1], axis=1), np.linalg.norm(u[1:] + u[:-1], axis=1)
        )
        turn = np.minimum(turn, np.pi / 2) if kind == "arcsin" else turn
        quarter = np.maximum(np.tan(turn / 4), 1e-12)
        quarter = {"sine": np.sin(turn / 4), "thin": turn / 4}.get(kind, quarter)
        quarter = 1 - np.cos(turn / 2) if kind == "sagitta" else quarter
        d = miss / np.maximum(quarter, 1e-12)
        room = np.minimum(length[1:], length[:-1]) / 2
        room = {"mean line": (length[1:] + length[:-1]) / 4, "third": room * 2 / 3}.get(kind, room)
        d = np.minimum(d, room)
        r = d / np.maximum(np.tan(turn / 2), 1e-12)
        r = d / np.maximum(np.sin(turn / 2), 1e-12) if kind == "r by sine" else r
        v = {"twice": np.sqrt(2 * a_max * r), "v by r": a_max * r}.get(kind, np.sqrt(a_max * r))
        v = np.minimum(v, v_max)
        v = np.where(turn < 1e-6, 0, v) if kind == "straight is zero" else v
        return np.full(len(v), v.min()) if kind == "slowest" and len(v) else v

    return answer


def clock_with(kind):
    """A clock with a fault of a kind that a learner may invent."""

    def answer(t, q, qd, ticks, t_slow, factor):
        if kind == "akin to natural":
            curve = CubicSpline(t, q)
        else:
            curve = CubicHermiteSpline(t, q, qd)
        late = ticks > t_slow
        at = np.where(late, t_slow + factor * (ticks - t_slow), ticks)
        if kind == "early ones forgotten":
            at = np.where(late & (t_slow > t[0]), at, ticks)
        if kind == "stretched from now":
            at = np.where(late, t[0] + factor * (ticks - t[0]), ticks)
        at = {"a tick late": at - 0.01, "from the first tick": at - ticks[0] + t[0]}.get(kind, at)
        held = np.clip(at, t[0], t[-1])
        pace = np.where(late, factor, 1.0)[:, None] * (held == at)[:, None]
        pace = {"squared": pace**2, "all slowed": 0 * pace + factor}.get(kind, pace)
        q_at, speeds = curve(held), curve(held, 1) * pace
        if kind == "back home":
            q_at = np.where((at > t[-1])[:, None], q[0], q_at)
        if kind == "nothing before":
            q_at = np.where((at < t[0])[:, None], 0, q_at)
        return (speeds, q_at) if kind == "turned round" else (q_at, speeds)

    return answer


WRONG = {
    "soft_duration": [
        soft_with(2.0736, 8.1339, 60.0),
        soft_with(2.0736, 5.97, 120.0),
        soft_with(2.0, 8.1339, 120.0),
        soft_with(2.0736, 7.5, 120.0),
        soft_with(2.08, 8.1339, 120.0),
        soft_with(2.0736, 8.15, 120.0),
        soft_with(2.0736, 8.1339, 120.5),
        soft_with(1.5, 6.0, 12.0),
        lambda *case: soft_with(2.0736, 8.1339, 120.0)(*case).max(),
        changed("soft_duration", lambda T: T + 1e-3),
        changed("soft_duration", lambda T: T[::-1]),
        changed("soft_duration", lambda T: np.round(T, 2)),
    ],
    "mended": [
        *(timing_with(border=b) for b in (0.0, 0.4, 0.9, 1.2)),
        timing_with(ramp=0.5),
        timing_with(peak=0.5),
        timing_with(border=0.5, cruise=0.0),
        changed("mended", lambda answer: answer[1]),
        changed("mended", lambda answer: ("line 4", answer[1])),
        changed("mended", lambda answer: (answer[0], answer[1][::-1])),
        changed("mended", lambda answer: (answer[0], answer[1][-1])),
        changed("mended", lambda answer: (3, answer[1])),
    ],
    "together": [
        *map(together_with, ("at rest counts", "tiny", "root of the mean", "least ramp")),
        *map(together_with, ("stronger ramp", "half-way", "speed alone", "without braking")),
        *map(together_with, ("limits as speeds", "longer")),
        changed("together", lambda answer: answer[0]),
        changed("together", lambda answer: answer[::-1]),
        changed("together", lambda answer: (answer[0], np.abs(answer[1]).max())),
    ],
    "corner_speeds": [
        *map(corners_with, ("from above", "arcsin", "sine", "thin", "sagitta", "mean line")),
        *map(corners_with, ("third", "r by sine", "twice", "v by r", "straight is zero")),
        corners_with("slowest"),
        changed("corner_speeds", lambda v: v + 1e-3),
        changed("corner_speeds", lambda v: v[::-1]),
    ],
    "on_clock": [
        *map(clock_with, ("akin to natural", "early ones forgotten", "stretched from now")),
        *map(clock_with, ("a tick late", "from the first tick", "squared", "all slowed")),
        *map(clock_with, ("back home", "nothing before", "turned round")),
        changed("on_clock", lambda answer: answer[0]),
        changed("on_clock", lambda answer: (answer[0].T, answer[1].T)),
        changed("on_clock", lambda answer: np.concatenate(answer)),
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
