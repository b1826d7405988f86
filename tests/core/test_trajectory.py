"""course_lib.trajectory by its promises, against SciPy, Robotics Toolbox, ruckig and toppra."""

import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import BPoly, CubicSpline, PPoly, make_interp_spline
from scipy.spatial import cKDTree

from course_lib import trajectory as module
from course_lib.trajectory import (
    Trajectory,
    blend,
    cubic,
    phase_plane,
    quintic,
    scurve,
    shortest_duration,
    spline,
    synchronise,
    time_optimal,
    trapezoid,
)

PROFILES = ("cubic", "quintic", "trapezoid", "scurve")
few = settings(max_examples=40, deadline=None)
number = st.floats(-3, 3, allow_subnormal=False)
positive = st.floats(0.05, 20)


def needs(name):
    return pytest.importorskip(name, reason=f"{name} is not installed: no outside witness")


def grid(motion, count=2001):
    """Times from the start of a motion to its end."""
    return np.linspace(motion.t0, motion.t0 + motion.duration, count)


def motion_of(profile, distance, v, a, j):
    """The move 0 -> distance in the shortest duration that the closed form gives."""
    if profile == "trapezoid":
        return trapezoid(0, distance, v, a)
    if profile == "scurve":
        return scurve(0, distance, v, a, j)
    return getattr(module, profile)(0, distance, shortest_duration(profile, distance, v, a))


def uses(motion, v, a, j=np.inf, count=2001):
    """Largest part of a limit that a motion uses, on a fine grid and just off its breaks."""
    off = np.r_[motion.breaks[:-1] + 1e-12, motion.breaks[1:] - 1e-12] + motion.t0
    t = np.sort(np.r_[grid(motion, count), off])
    (_, qd, qdd), jerk = motion(t), motion.jerk(t)
    return max(np.max(np.abs(x) / limit) for x, limit in ((qd, v), (qdd, a), (jerk, j)))


def random_moves(count, seed):
    """(distance, v, a, j): from a thousandth to ten radians, limits over two decades."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        v, a, j = 10 ** rng.uniform([-1, -1, 0], [1, 1, 2])
        yield rng.choice([-1, 1]) * 10 ** rng.uniform(-3, 1), v, a, j


# ------------------------------------------------ Trajectory


@st.composite
def trajectories(draw):
    """Any polynomials of degree 0 to 5 in 1 to 4 pieces, for one joint or three."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    pieces, shape = draw(st.integers(1, 4)), draw(st.sampled_from([(), (3,)]))
    coefs = rng.normal(size=(draw(st.integers(1, 6)), pieces, *shape))
    breaks = np.r_[0, np.cumsum(rng.uniform(0.2, 2, pieces))]
    return Trajectory(breaks, coefs, rng.normal() * 10)


@few
@given(trajectories())
def test_values_are_those_of_scipys_piecewise_polynomials(motion):
    rng = np.random.default_rng(0)
    t = motion.t0 + rng.uniform(0, motion.duration, (2, 5))
    poly = PPoly(motion.coefs, motion.breaks)
    values = [*motion(t), motion.jerk(t)]
    for order, value in enumerate(values):
        expected = poly(t - motion.t0, order)
        assert value.shape == expected.shape
        assert np.allclose(value, expected, rtol=1e-12, atol=1e-10)


@few
@given(trajectories())
def test_peaks_are_the_largest_values_on_a_grid(motion):
    poly = PPoly(motion.coefs, motion.breaks)
    for order in (1, 2, 3):
        peaks = motion.peaks(order)
        for k, (a, b) in enumerate(zip(motion.breaks, motion.breaks[1:])):
            seen = np.abs(poly(np.linspace(a, b, 2000, endpoint=False), order)).max(axis=0)
            assert np.all(seen <= peaks[k] * (1 + 1e-9) + 1e-12)
            assert np.all(peaks[k] <= seen + 0.02 * (1 + seen))


@few
@given(trajectories(), st.floats(0.1, 10))
def test_a_stretched_motion_is_the_same_path(motion, factor):
    slower = motion.stretched(motion.duration * factor)
    u = np.linspace(0, 1, 50)
    for order, (value, expected) in enumerate(
        zip(
            slower(motion.t0 + u * slower.duration),
            motion(motion.t0 + u * motion.duration),
        )
    ):
        inner = slice(1, -1)  # at a break in between, rounding chooses the side
        assert slower.duration == pytest.approx(motion.duration * factor)
        if order == 0 or len(motion.breaks) == 2:
            assert np.allclose(value[inner] * factor**order, expected[inner], rtol=1e-6, atol=1e-6)


def test_a_start_time_shifts_the_motion_and_nothing_else():
    motion = quintic(0, 1, duration=2).starting(5)
    q, qd, qdd = motion([5, 5.7, 7])
    assert (motion.t0, motion.duration, q[0], q[-1]) == (5, 2, 0, 1)
    assert np.allclose([q, qd, qdd], quintic(0, 1, 2)([0, 0.7, 2]))


def test_it_stands_still_before_and_after():
    motion = trapezoid(0.5, 2, 1, 1).starting(3)
    q, qd, qdd = motion([-10, 2.99, 3 + motion.duration + 0.01, 1e6])
    assert np.allclose(q, [0.5, 0.5, 2, 2]) and not qd.any() and not qdd.any()
    assert motion(3)[2] == 1 and motion(3 + motion.duration)[2] == -1


def test_within_limits_reaches_the_tightest_limit_exactly():
    path = spline([0, 1, 2.5], [[0, 1], [1, -1], [0.5, 2]])
    for v, a in ([1.0, 2.0], 50.0), (50.0, [3.0, 0.4]):
        motion = path.within_limits(v, a)
        parts = np.max(motion.peaks(1) / v), np.max(motion.peaks(2) / a)
        assert max(parts) == pytest.approx(1, rel=1e-12)
    assert path.within_limits(1, 1, margin=0.2).peaks(1).max() <= 0.8 * (1 + 1e-12)


# ------------------------------------------------ cubic and quintic


@few
@given(number, number, positive, st.tuples(number, number), st.tuples(number, number))
def test_polynomials_are_those_of_scipy_with_these_ends(q0, q1, T, v, a):
    t = np.linspace(0, T, 7)
    for motion, ends in (
        (cubic(q0, q1, T, v), [[q0, v[0]], [q1, v[1]]]),
        (quintic(q0, q1, T, v, a), [[q0, v[0], a[0]], [q1, v[1], a[1]]]),
    ):
        poly = BPoly.from_derivatives([0, T], ends)
        size = 1 + 3 + 3 * T + 3 * T**2
        for order, value in enumerate(motion(t)):
            assert np.allclose(value, poly(t, order), rtol=0, atol=1e-10 * size / min(1, T) ** 2)


def test_quintic_agrees_with_the_toolbox():
    import roboticstoolbox as rtb

    t = np.linspace(0, 3, 50)
    theirs = rtb.quintic(-0.4, 1.3, t, qd0=0.3, qdf=-0.2)
    ours = quintic(-0.4, 1.3, 3, v=(0.3, -0.2))(t)
    for mine, other in zip(ours, (theirs.q, theirs.qd, theirs.qdd)):
        assert np.allclose(mine, other, atol=1e-10)
    q0, q1 = np.array([0.1, -0.5, 1.0]), np.array([1.1, 0.3, -0.7])
    theirs = rtb.jtraj(q0, q1, t)
    for mine, other in zip(quintic(q0, q1, 3)(t), (theirs.q, theirs.qd, theirs.qdd)):
        assert np.allclose(mine, other, atol=1e-10)


def test_a_quintics_acceleration_peaks_where_the_sum_says():
    """10/sqrt(3) at 1/2 -+ sqrt(3)/6, and not at a quarter (SymPy's roots, by hand)."""
    motion = quintic(0, 1, 1)
    assert motion.peaks(1).item() == pytest.approx(15 / 8, rel=1e-14)
    assert motion.peaks(2).item() == pytest.approx(10 / np.sqrt(3), rel=1e-14)
    s = 0.5 + np.sqrt(3) / 6 * np.array([-1, 1])
    assert np.allclose(motion(s)[2], 10 / np.sqrt(3) * np.array([1, -1]))
    assert np.allclose(motion.jerk([0, 0.5, 1]), [60, -30, 60])


# ------------------------------------------------ trapezoid and S-curve


def ruckig_duration(distance, v, a, j, v0=0.0, v1=0.0):
    ruckig = needs("ruckig")
    task, answer = ruckig.InputParameter(1), ruckig.Trajectory(1)
    task.current_velocity, task.target_position, task.target_velocity = [v0], [distance], [v1]
    task.max_velocity, task.max_acceleration, task.max_jerk = [v], [a], [j]
    assert ruckig.Ruckig(1).calculate(task, answer) == ruckig.Result.Working
    return answer.duration


def assert_lands(motion, distance, v, a, j, ends):
    q, qd, qdd = motion([0, motion.duration])
    assert np.allclose(q, [0, distance], rtol=1e-10, atol=1e-12)
    assert np.allclose(qd, ends, rtol=1e-9, atol=1e-12 * max(1, v))
    if np.isfinite(j):
        assert np.allclose(qdd, 0, atol=1e-8 * a)
    for order, limit in ((1, v), (2, a), (3, j)):
        assert motion.peaks(order).max() <= limit * (1 + 1e-9)


@pytest.mark.parametrize("count, seed", [(300, 1), pytest.param(10_000, 2, marks=pytest.mark.full)])
def test_no_motion_is_faster_than_trapezoid_and_scurve(count, seed):
    """ruckig finds the time-optimal motion; ours takes as long, and lands within the limits."""
    rng = np.random.default_rng(seed)
    for k, (distance, v, a, j) in enumerate(random_moves(count, seed)):
        ends = rng.uniform(-v, v, 2) if k % 2 else (0.0, 0.0)
        for jerk in (np.inf, j):
            motion = scurve(0, distance, v, a, jerk, ends)
            theirs = ruckig_duration(distance, v, a, jerk, *ends)
            assert motion.duration == pytest.approx(theirs, rel=1e-6, abs=1e-6)
            assert_lands(motion, distance, v, a, jerk, ends)


CASES = {  # distance, v, a, j, speeds at the ends; phases that have a length
    "long": (3.0, 1, 2, 10, (0, 0), 7),
    "no cruise": (0.5, 1, 2, 20, (0, 0), 6),
    "never at full acceleration": (0.01, 1, 2, 10, (0, 0), 4),
    "cruise, never at full acceleration": (1.0, 0.3, 2, 10, (0, 0), 5),
    "from a speed to another": (3.0, 1, 2, 10, (0.9, 0.2), 6),
    "at full speed all the way": (3.0, 1, 2, 10, (1, 1), 1),
    "overshoots and comes back": (0.1, 1, 2, 10, (0.8, 0), 5),
    "starts backwards": (1.0, 1, 2, 10, (-0.5, 0.5), 7),
    "backwards": (-3.0, 1, 2, 10, (0, 0), 7),
    "only brakes": (0.5 * (0.6 / 2 + 2 / 10) * 0.6, 1, 2, 10, (0.6, 0), 3),
    "stays": (0.0, 1, 2, 10, (0, 0), 1),
}


@pytest.mark.parametrize("case", CASES)
def test_every_case_of_the_scurve(case):
    distance, v, a, j, ends, phases = CASES[case]
    motion = scurve(0, distance, v, a, j, ends)
    assert_lands(motion, distance, v, a, j, ends)
    assert np.sum(np.diff(motion.breaks) > 1e-9) == (phases if motion.duration else 0)
    assert motion.duration == pytest.approx(ruckig_duration(distance, v, a, j, *ends), abs=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_a_little_more_of_a_limit_never_makes_a_jump(case):
    """Neither at the case itself nor on a walk of 0.1 % a step through the cases beside it."""
    distance, v, a, j, ends, _ = CASES[case]
    if case == "only brakes":
        ends = (0.6, 0.0)  # where the way is too short it must come back: steep, like a root
    for which in range(3):
        factors = 1.001 ** np.arange(-500 if ends == (0, 0) else 0, 500)
        limits = np.tile([v, a, j], (len(factors), 1)) * np.ones((1, 3))
        limits[:, which] *= factors
        T = np.array([scurve(0, distance, *row, ends).duration for row in limits])
        change = np.abs(np.diff(T)) / np.maximum(T[1:], 1e-9)
        assert change.max() < (0.0011 if ends == (0, 0) else 0.02), (which, change.argmax())


def test_the_jump_at_a_moving_end_is_the_tasks_own():
    """Passing q1 at a speed: a way a hair too short for it needs a detour, by ruckig too."""
    way = (0.8**2 - 0.2**2) / (2 * 2)
    enough, short = (trapezoid(0, d, 1, 2, (0.8, 0.2)).duration for d in (way, way * 0.999))
    assert enough == pytest.approx(0.3) and short > 2 * enough
    assert short == pytest.approx(ruckig_duration(way * 0.999, 1, 2, np.inf, 0.8, 0.2))


def test_trapezoid_agrees_with_the_toolbox():
    import roboticstoolbox as rtb

    for distance, speed, T in ((1.0, 0.8, 2.0), (-2.0, 1.5, 2.0), (0.3, 0.2, 2.9)):
        ramp = (speed * T - abs(distance)) / speed
        motion = trapezoid(0.5, 0.5 + distance, speed, speed / ramp)
        t = np.linspace(0, T, 101)
        theirs = rtb.trapezoidal(0.5, 0.5 + distance, t, V=speed)
        assert motion.duration == pytest.approx(T)
        assert np.allclose(motion(t)[0], theirs.q) and np.allclose(motion(t)[1], theirs.qd)


def test_the_acceleration_of_an_scurve_has_no_steps():
    for distance, v, a, j in random_moves(30, 3):
        motion = scurve(0, distance, v, a, j)
        before, after = motion(motion.breaks - 1e-9)[2], motion(motion.breaks + 1e-9)[2]
        assert np.abs(after - before)[1:-1].max() <= 3e-9 * j + 1e-9 * a


# ------------------------------------------------ shortest durations


VALUES = {  # of another room of the project, cross-checked; v = 1.5, a = 3
    "cubic": (0.447213595, 3.141592654),
    "quintic": (0.438691338, 3.926990817),
    "trapezoid": (0.365148372, 2.594395102),
}


@pytest.mark.parametrize("profile", VALUES)
def test_durations_that_are_known(profile):
    assert np.allclose(shortest_duration(profile, [0.1, np.pi], 1.5, 3), VALUES[profile], atol=1e-9)


@pytest.mark.parametrize("count, seed", [(300, 4), pytest.param(10_000, 5, marks=pytest.mark.full)])
@pytest.mark.parametrize("profile", PROFILES)
def test_the_limit_is_reached_and_never_passed(profile, count, seed):
    for distance, v, a, j in random_moves(count, seed):
        motion = motion_of(profile, distance, v, a, j)
        limits = (v, a, j if profile == "scurve" else np.inf)
        T = shortest_duration(profile, distance, *limits)
        assert motion.duration == pytest.approx(T, rel=1e-12)
        used = uses(motion, *limits, count=801)
        assert 1 - 1e-5 < used < 1 + 1e-9


@pytest.mark.parametrize("profile", ("cubic", "quintic"))
def test_no_shorter_duration_of_this_shape_is_feasible(profile):
    """Bisection on a grid knows nothing of the closed form."""
    for distance, v, a, _ in random_moves(40, 6):
        low, high = 1e-6, 1e6
        while high / low > 1 + 1e-9:
            T = np.sqrt(low * high)
            fits = uses(getattr(module, profile)(0, distance, T), v, a, count=4001) <= 1 + 1e-12
            low, high = (low, T) if fits else (T, high)
        assert shortest_duration(profile, distance, v, a) == pytest.approx(high, rel=1e-6)


@few
@given(number, positive, positive, positive, st.sampled_from(PROFILES))
def test_a_little_more_of_a_limit_helps_a_little(distance, v, a, j, profile):
    """Scaling one limit by k can't win more than the factor k: so no jump, anywhere."""
    limits = [v, a, j if profile == "scurve" else np.inf]
    T = shortest_duration(profile, distance, *limits)
    for which in range(3):
        more = [limit * (1.001 if i == which else 1) for i, limit in enumerate(limits)]
        assert T / 1.001 * (1 - 1e-12) <= shortest_duration(profile, distance, *more)
        assert shortest_duration(profile, distance, *more) <= T * (1 + 1e-12)


def test_durations_come_in_stacks_and_ignore_the_sign():
    D = np.array([[0.1, -1.0, 0.0], [2.0, -0.1, 3.0]])
    v = np.array([1.0, 2.0, 3.0])
    for profile in PROFILES:
        j = 10.0 if profile == "scurve" else np.inf
        T = shortest_duration(profile, D, v, 2.0, j)
        assert T.shape == (2, 3) and T[0, 2] == 0
        each = [shortest_duration(getattr(module, profile), -D[i, k], v[k], 2.0, j)
                for i in range(2) for k in range(3)]  # fmt: skip
        assert np.allclose(T.ravel(), each)


def test_a_margin_is_a_smaller_limit():
    for profile in PROFILES:
        j = 10.0 if profile == "scurve" else np.inf
        less = shortest_duration(profile, 1.3, 0.8, 1.6, 0.8 * j)
        assert shortest_duration(profile, 1.3, 1, 2, j, margin=0.2) == pytest.approx(less)


def test_a_jerk_limit_binds_the_quintic():
    T = shortest_duration("quintic", 0.7, 100, 100, 5.0)
    assert quintic(0, 0.7, T).peaks(3).item() == pytest.approx(5, rel=1e-12)


# ------------------------------------------------ all joints together


@few
@given(st.integers(0, 2**32 - 1), st.sampled_from(PROFILES), st.sampled_from([0.0, 0.2]))
def test_synchronised_joints_stay_on_the_line_and_in_their_limits(seed, profile, margin):
    rng = np.random.default_rng(seed)
    q0, q1 = rng.uniform(-3, 3, (2, 6))
    q1[rng.integers(6)] = q0[0] if rng.random() < 0.2 else q1[0]
    v, a, j = rng.uniform(0.2, 3, 6), rng.uniform(0.2, 6, 6), rng.uniform(2, 60, 6)
    j = j if profile == "scurve" else np.inf
    motion = synchronise(q0, q1, v, a, j, profile=profile, margin=margin)
    t = grid(motion)
    q = motion(t)[0]
    assert np.allclose(q[[0, -1]], [q0, q1], atol=1e-12)
    s = (q - q0) @ (q1 - q0) / ((q1 - q0) @ (q1 - q0))
    assert np.allclose(q, q0 + s[:, None] * (q1 - q0), atol=1e-12)
    keep = 1 - margin
    assert 1 - 1e-5 < uses(motion, keep * v, keep * a, keep * j) < 1 + 1e-9
    slowest = max(
        shortest_duration(profile, q1 - q0, v, a, j, margin=margin)
    )  # on the line, the tightest limits may belong to different joints
    assert motion.duration >= slowest * (1 - 1e-12)
    if profile in ("cubic", "quintic"):
        assert motion.duration == pytest.approx(slowest, rel=1e-12)


def test_no_way_takes_no_time():
    motion = synchronise([1, 2], [1, 2], 1, 1)
    q, qd, qdd = motion([0, 5])
    assert motion.duration == 0 and np.array_equal(q, [[1, 2]] * 2) and not (qd.any() or qdd.any())
    assert not motion.peaks(1).any() and motion.within_limits(1, 1).duration == 0


def test_one_joint_may_be_a_number():
    motion = synchronise(0, 2.0, 1.0, 1.0, profile=trapezoid)
    assert motion.duration == pytest.approx(3) and motion([0, 1]).__len__() == 3
    assert motion(np.zeros((4, 5)))[0].shape == (4, 5)


# ------------------------------------------------ way-points


def test_splines_are_those_of_scipy():
    rng = np.random.default_rng(7)
    times, q = np.r_[0, np.cumsum(rng.uniform(0.3, 1, 5))] + 4, rng.normal(size=(6, 3))
    motion, theirs = spline(times, q), CubicSpline(times, q, bc_type="clamped")
    t = np.linspace(times[0], times[-1], 200)
    for order, value in enumerate(motion(t)):
        assert np.allclose(value, theirs(t, order), atol=1e-10)
    motion = spline(times, q, degree=5)
    rest = [(1, np.zeros(3)), (2, np.zeros(3))]
    theirs = make_interp_spline(times, q, k=5, bc_type=(rest, rest))
    for order, value in enumerate(motion(t)):
        assert np.allclose(value, theirs(t, order), atol=1e-8)
    assert np.allclose(motion(times)[0], q, atol=1e-12)
    ends = times[[0, -1]]
    assert np.allclose(motion(ends)[1:], 0, atol=1e-10)
    jerk = np.array([motion.jerk(times[1:-1] + side) for side in (-1e-9, 1e-9)])
    assert np.allclose(jerk[0], jerk[1], atol=1e-5)


@few
@given(st.integers(0, 2**32 - 1), st.floats(1e-3, 0.5))
def test_a_blend_rounds_corners_and_keeps_the_lines(seed, deviation):
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1, 1, (rng.integers(2, 7), rng.integers(1, 4)))
    path = blend(points, deviation)
    s = grid(path)
    q, slope, _ = path(s)
    assert np.allclose(q[[0, -1]], points[[0, -1]], atol=1e-12)
    miss = np.abs(q[:, None] - points).max(axis=-1).min(axis=0)  # of each way-point
    assert miss.max() <= deviation + 2 * path.duration / len(s)
    edges = path.breaks[1:-1]
    assert np.allclose(path(edges - 1e-12)[1], path(edges + 1e-12)[1], atol=1e-9)
    way, start = np.diff(points, axis=0), points[:-1]
    part = np.clip(np.sum((q[:, None] - start) * way, -1) / np.sum(way**2, -1), 0, 1)
    off = np.abs(q[:, None] - start - part[..., None] * way).max(axis=-1).min(axis=1)
    assert off.max() <= deviation * (1 + 1e-9) + 1e-12


def test_a_blended_path_is_run_within_its_limits():
    points = [[0, 0], [1, 0.2], [1, 1], [0.9, 1], [-0.5, 0]]
    v, a = np.array([1.0, 0.8]), np.array([2.0, 3.0])
    path = blend(points, deviation=0.02)
    motion = time_optimal(path, v, a)
    assert uses(motion, v, a) < 1 + 1e-9
    stops = sum(synchronise(p, r, v, a, profile="trapezoid").duration
                for p, r in zip(points, points[1:]))  # fmt: skip
    assert motion.duration < stops


@pytest.mark.parametrize("pieces", [10, 80, 320])
def test_dense_way_points_don_t_slow_a_blend_down(pieces):
    """Almost straight corners: on a half circle, as fast as along the circle itself."""
    turn = np.linspace(0, np.pi, pieces + 1)
    path = blend(np.column_stack([np.cos(turn), np.sin(turn)]), deviation=0.01)
    best = time_optimal(spline(turn, np.column_stack([np.cos(turn), np.sin(turn)])), 1.0, 2.0)
    assert time_optimal(path, 1.0, 2.0).duration < 1.3 * best.duration


# ------------------------------------------------ as fast as a path allows


def random_path(seed):
    """Path through way-points (a natural spline moves at its ends), and limits."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 7), rng.integers(3, 8)
    curve = CubicSpline(np.linspace(0, 1, m), rng.uniform(-2, 2, (m, n)), bc_type="natural")
    return Trajectory(curve.x, curve.c), rng.uniform(0.5, 3, n), rng.uniform(1, 6, n)


def toppra_duration(path, v, a, steps=1000):
    toppra = needs("toppra")
    logging.getLogger("toppra").setLevel(logging.ERROR)
    from toppra import algorithm, constraint

    curve = PPoly(path.coefs, path.breaks)

    class Path(toppra.interpolator.AbstractGeometricPath):
        dof, path_interval = path.coefs.shape[2], np.array([0, path.duration])
        __call__ = lambda self, s, order=0: curve(s, order)

    limits = [
        constraint.JointVelocityConstraint(np.c_[-v, v]),
        constraint.JointAccelerationConstraint(np.c_[-a, a]),
    ]
    grid = np.linspace(0, path.duration, steps + 1)
    solver = algorithm.TOPPRA(limits, Path(), gridpoints=grid, solver_wrapper="seidel")
    _, speed, _ = solver.compute_parameterization(0, 0)
    return np.sum(2 * np.diff(grid) / (speed[1:] + speed[:-1]))


@pytest.mark.parametrize("seed", range(8))
def test_time_optimal_takes_as_long_as_toppra_and_keeps_the_limits(seed):
    path, v, a = random_path(seed)
    motion = time_optimal(path, v, a)
    assert motion.duration == pytest.approx(toppra_duration(path, v, a), rel=0.01)
    assert uses(motion, v, a, count=20_001) < 1 + 1e-9
    assert motion.duration < path.within_limits(v, a).duration


@pytest.mark.parametrize("seed", range(4))
def test_time_optimal_stays_on_the_path(seed):
    path, v, a = random_path(seed)
    motion = time_optimal(path, v, a)
    q = motion(grid(motion, 500))[0]
    on_path = path(np.linspace(0, path.duration, 20_001))[0]
    distance, _ = cKDTree(on_path).query(q)
    spacing = np.linalg.norm(np.diff(on_path, axis=0), axis=1).max()
    assert distance.max() < spacing / 2 + 1e-5


@few
@given(st.integers(0, 2**32 - 1))
def test_on_a_straight_line_it_is_the_trapezoid(seed):
    rng = np.random.default_rng(seed)
    (q0, q1), v, a = rng.uniform(-2, 2, (2, 3)), rng.uniform(0.5, 3, 3), rng.uniform(1, 6, 3)
    path = Trajectory(np.array([0.0, 1.0]), np.array([q1 - q0, q0])[:, None])
    best = synchronise(q0, q1, v, a, profile="trapezoid").duration
    assert time_optimal(path, v, a).duration == pytest.approx(best, rel=2e-3)
    s, limit, speed = phase_plane(path, v, a)
    assert speed[0] == speed[-1] == 0 and np.all(speed <= limit * (1 + 1e-12))


def test_a_margin_holds_along_a_path():
    path, v, a = random_path(11)
    assert uses(time_optimal(path, v, a, margin=0.2), 0.8 * v, 0.8 * a) < 1 + 1e-9


# ------------------------------------------------ what is refused


REFUSED = {
    "duration: 0": lambda: quintic(0, 1, 0),
    "duration: -1": lambda: cubic(0, 1, -1),
    "v_max: -1": lambda: trapezoid(0, 1, -1, 1),
    "a_max: inf": lambda: trapezoid(0, 1, 1, np.inf),
    "j_max: 0": lambda: scurve(0, 1, 1, 1, 0),
    "v: .*at most v_max = 1": lambda: trapezoid(0, 1, 1, 1, v=(2, 0)),
    "several joints use synchronise": lambda: trapezoid([0, 0], [1, 1], 1, 1),
    "limits: .*synchronise": lambda: trapezoid(0, 1, [1, 1], 1),
    "q0, q1 or v.*nan": lambda: scurve(np.nan, 1, 1, 1, 1),
    "q0, q1, v or a.*inf": lambda: quintic([0, np.inf], 1, 1),
    "profile: 'quartic'": lambda: shortest_duration("quartic", 1, 1, 1),
    "j_max: inf for 'scurve'": lambda: shortest_duration("scurve", 1, 1, 1),
    "j_max: 5 for 'cubic'": lambda: synchronise(0, 1, 1, 1, 5, profile="cubic"),
    "margin: 1": lambda: synchronise(0, 1, 1, 1, margin=1),
    "margin: -0.1": lambda: shortest_duration("cubic", 1, 1, 1, margin=-0.1),
    "distance": lambda: shortest_duration("cubic", [1, np.nan], 1, 1),
    "times": lambda: spline([0, 0, 1], [1, 2, 3]),
    "times: .*each of 2 rows": lambda: spline([0, 1, 2], [1, 2]),
    "waypoints": lambda: blend([[0, 1]], 0.1),
    "(?s)waypoints.*no two equal": lambda: blend([[0, 1], [0, 1], [2, 2]], 0.1),
    "deviation: 0": lambda: blend([[0, 1], [2, 2]], 0),
    "path: stands still": lambda: time_optimal(synchronise([0, 1], [0, 1], 1, 1), 1, 1),
    r"t\[1\]: nan": lambda: quintic(0, 1, 1)([0, np.nan]),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_can_t_be_done_is_named(message):
    with pytest.raises(ValueError, match=message):
        REFUSED[message]()
