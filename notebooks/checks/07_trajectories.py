"""Checkpoints of lesson 07: a quiet stop, a moving part, the way back, a motor, a dip, a place."""

import numpy as np
from scipy.interpolate import BPoly, CubicSpline
from scipy.optimize import linprog

from course_lib import trajectory
from course_lib.check import Exercise, Mistake, as_numbers, in_mm, parts

# ---------------------------------------------------------------- quiet


def quiet_cases(rng):
    """Distance, v_max, a_max, period: either way wins, short and long, and drawn ones."""
    fixed = [
        (1.0, 1.5, 3.0, 0.2),
        (1.0, 1.5, 3.0, 0.45),
        (-0.3, 1.5, 3.0, 0.25),
        (0.05, 1.5, 3.0, 0.3),
        (2.0, 1.5, 3.0, 0.9),
        (0.6, 0.5, 8.0, 0.7),
        (1.2, 2.0, 4.0, 0.6),
        (0.4, 1.5, 3.0, 0.05),
    ]
    drawn = [(rng.uniform(0.1, 3), 1.5, 3.0, rng.uniform(0.05, 1)) for _ in range(6)]
    return fixed + [tuple(map(float, case)) for case in drawn]


def ramps(distance, v_max, a_max, period):
    """The shortest duration when each ramp takes 1, 2, 3 … periods; ramps must not overlap."""
    D, ramp = abs(distance), period * np.arange(1, 200)
    gap = np.maximum(D / v_max, D / (a_max * ramp))
    return float(np.min(ramp + np.maximum(gap, ramp)))


def gaps(distance, v_max, a_max, period):
    """The duration when braking begins 1, 2, 3 … periods after the start."""
    D = abs(distance)
    gap = period * np.ceil(max(D / v_max, np.sqrt(D / a_max)) / period - 1e-9)
    return gap + D / (a_max * gap)


def quiet(distance, v_max, a_max, period):
    return min(ramps(distance, v_max, a_max, period), gaps(distance, v_max, a_max, period))


def fastest(distance, v_max, a_max):
    D = abs(distance)
    return max(D / v_max, np.sqrt(D / a_max)) + min(v_max / a_max, np.sqrt(D / a_max))


def same_duration(answer, expected, args):
    value, right = float(as_numbers(answer, ())), float(expected)
    if abs(value - right) < 1e-5 * right:
        return None
    if value > right:
        return f"It can be done in less: {value:.4g} s, where {right:.4g} s are enough."
    return f"{value:.4g} s is too short: a limit breaks, or the link goes on swinging."


def quiet_by_search(distance, v_max, a_max, period):
    """Every ramp and every gap on the list of whole periods."""
    D, times = abs(distance), period * np.arange(1, 400)
    by_ramp = [(r, max(D / v_max, D / a_max / r, r)) for r in times]
    by_gap = [(D / a_max / g, g) for g in times if g * v_max >= D and g * g * a_max >= D]
    return min(r + g for r, g in by_ramp + by_gap)


QUIET = Exercise(
    "quiet",
    cases=quiet_cases,
    truth=quiet,
    compare=same_duration,
    mistakes=[
        Mistake(
            lambda D, v, a, P: fastest(D, v, a),
            "That is the fastest trapezoid. It leaves the link at rest only by luck: its ramp or"
            " its gap must be a whole number of periods.",
        ),
        Mistake(
            ramps,
            "You only let the *ramp* be a whole number of periods. There is a second sine: braking"
            " may also begin a whole number of periods after the start.",
        ),
        Mistake(
            gaps,
            "You only let the *gap* between both ramps be a whole number of periods. A ramp of a"
            " whole number of periods is quiet by itself.",
        ),
        Mistake(
            lambda D, v, a, P: quiet(D, v, a, P / 2),
            "sin(w r / 2) is zero where w r / 2 is a multiple of pi, so r is a whole number of"
            " periods. Half a period is where it swings most.",
        ),
        Mistake(
            lambda D, v, a, P: P * np.ceil(fastest(D, v, a) / P),
            "You made the whole *duration* a multiple of the period. The two sines hold the ramp"
            " and the gap between the beginnings of both ramps, not their sum.",
        ),
    ],
    alternatives=[
        quiet_by_search,
        lambda D, v, a, P: [quiet(-D, v, a, P)],
    ],
)

# ---------------------------------------------------------------- catch


def catch_cases(rng):
    """t, q0, t0, T, x0, w: a table that turns either way, stands, or goes at a drawn speed."""
    fixed = [(0.2, 5.0, 2.0, 1.0, 0.4), (-0.5, 0.0, 1.5, 0.3, -0.6), (0.1, 3.0, 0.8, 0.4, 0.0)]
    drawn = [tuple(map(float, rng.uniform([-1, -9, 0.5, -1, 0.1], [1, 9, 3, 1, 1])))]
    return [(t0 + T * np.linspace(-0.5, 1.5, 9), q0, t0, T, *x) for q0, t0, T, *x in fixed + drawn]


def catch(t, q0, t0, T, x0, w, degree=5, end=None, speed=None, start=None):
    """The truth, and with other ends what goes wrong."""
    t = np.asarray(t, dtype=float)
    end = x0 + w * T if end is None else end
    ends = [[q0, 0.0, 0.0], [end, w if speed is None else speed, 0.0]]
    ends = ends if degree == 5 else [pair[:2] for pair in ends]
    tau = t - (t0 if start is None else start)
    inside = BPoly.from_derivatives([0, T], ends)(np.clip(tau, 0, T))
    return np.where(tau <= 0, q0, np.where(tau >= T, end + w * (tau - T), inside))


def by_difference(t, q0, t0, T, x0, w):
    """The part's motion, and a gap to it that closes."""
    tau = np.asarray(t) - t0
    s = np.clip(tau / T, 0, 1)
    closer = (x0 + w * T - q0) * (10 * s**3 - 15 * s**4 + 6 * s**5)
    ride = w * T * (-4 * s**3 + 7 * s**4 - 3 * s**5)
    return q0 + closer + ride + w * np.maximum(tau - T, 0)


def by_library(t, q0, t0, T, x0, w):
    move = trajectory.quintic(q0, x0 + w * T, T, v=(0, w)).starting(t0)
    return [float(move(x)[0] + w * max(0.0, x - t0 - T)) for x in t]


def stays(t, q0, t0, T, x0, w):
    """Stops where it met the part."""
    return catch(np.minimum(t, t0 + T), q0, t0, T, x0, w)


def same_catch(answer, expected, args):
    t, _, t0, T, *_ = args
    off = np.abs(as_numbers(answer, np.shape(expected)) - expected)
    if off.max() < 1e-5:
        return None
    worst = t[off.argmax()]
    when = "before the start" if worst < t0 else "after the grip" if worst > t0 + T else "between"
    return f"At t = {worst:.4g} s, {when}, the joint is off by {off.max():.3g} rad."


CATCH = Exercise(
    "catch",
    cases=catch_cases,
    truth=catch,
    compare=same_catch,
    mistakes=[
        Mistake(
            lambda t, q0, t0, T, x0, w: catch(t, q0, t0, T, x0, w, start=0.0),
            "You measured time from 0. The move begins at t0: use (t - t0) / T.",
        ),
        Mistake(
            lambda t, q0, t0, T, x0, w: catch(t, q0, t0, T, x0, w, end=x0),
            "You go to where the part was at t0. When you arrive it has moved on by w T.",
        ),
        Mistake(
            lambda t, q0, t0, T, x0, w: catch(t, q0, t0, T, x0, w, speed=0.0),
            "You arrive at rest, and the part moves: the speed jumps at the grip. The last speed"
            " is w.",
        ),
        Mistake(
            lambda t, q0, t0, T, x0, w: catch(t, q0, t0, T, x0, w, speed=w / T),
            "Your last speed is w / T. In s = (t - t0) / T the slope dq/ds is w T.",
        ),
        Mistake(
            stays,
            "You stop where you met the part. After t0 + T the joint rides with it.",
        ),
        Mistake(
            lambda t, q0, t0, T, x0, w: catch(t, q0, t0, T, x0, w, degree=3),
            "That is a cubic: its acceleration steps at the start and at the grip. Ask for zero"
            " acceleration there, too.",
        ),
    ],
    alternatives=[by_difference, by_library],
)


# ---------------------------------------------------------------- reach_in

QUINTIC_PEAK = 10 / np.sqrt(3)


def reach_cases(rng):
    """T, v_max, a_max, margin: short times and long ones, with and without a margin."""
    fixed = [(0.4, 1.5, 3.0, 0.0), (3.0, 1.5, 3.0, 0.0), (0.6, 1.5, 3.0, 0.2), (4.0, 2.0, 8.0, 0.1)]
    fixed += [(1.2, 1.5, 3.0, 0.2)]
    drawn = [tuple(map(float, rng.uniform([0.2, 0.5, 1, 0], [4, 3, 9, 0.5]))) for _ in range(4)]
    return fixed + drawn


def reach_in(T, v_max, a_max, margin, peak=QUINTIC_PEAK):
    v, a = (1 - margin) * v_max, (1 - margin) * a_max
    ramp = min(v / a, T / 2)
    return [min(v * T / 1.875, a * T * T / peak), a * ramp * (T - ramp)]


def no_triangle(T, v_max, a_max, margin):
    v, a = (1 - margin) * v_max, (1 - margin) * a_max
    return [reach_in(T, v_max, a_max, margin)[0], v * (T - v / a)]


def either_way(T, v_max, a_max, margin):
    v, a = (1 - margin) * v_max, (1 - margin) * a_max
    return [max(v * T / 1.875, a * T * T / QUINTIC_PEAK), reach_in(T, v_max, a_max, margin)[1]]


def reach_by_bisection(T, v_max, a_max, margin):
    """The distance at which the library's duration is T."""
    found = []
    for profile in ("quintic", "trapezoid"):
        low, high = 0.0, 100.0
        for _ in range(80):
            middle = (low + high) / 2
            took = trajectory.shortest_duration(profile, middle, v_max, a_max, margin=margin)
            low, high = (middle, high) if took <= T else (low, middle)
        found.append(low)
    return tuple(found)


def same_reach(answer, expected, args):
    answer = parts(answer, ("the quintic's distance", ()), ("the trapezoid's", ()))
    for name, value, right in zip(("quintic", "trapezoid"), answer, expected):
        if not abs(value - right) < 1e-5 * abs(right):
            more = "further than the limits allow" if value > right else "less far than it can"
            return f"The {name} goes {float(value):.4g} rad: {more}."
    return None


REACH = Exercise(
    "reach_in",
    cases=reach_cases,
    truth=reach_in,
    compare=same_reach,
    mistakes=[
        Mistake(
            lambda T, v, a, m: reach_in(T, v, a, 0.0),
            "You left out the margin: use (1 - margin) of each limit.",
        ),
        Mistake(
            lambda T, v, a, m: reach_in((1 - m) * T, v, a, 0.0),
            "You took the margin off the time. It belongs to the limits of speed and acceleration.",
        ),
        Mistake(
            no_triangle,
            "In a short time the trapezoid never reaches v: two ramps of T / 2, and the peak speed"
            " is a T / 2.",
        ),
        Mistake(
            either_way,
            "Both limits bind, so the *smaller* of the two distances counts. For a duration it was"
            " the larger one.",
        ),
        Mistake(
            lambda T, v, a, m: reach_in(T, v, a, m, 5.625),
            "Your quintic pushes 2.6 % too hard in short times: 5.625 is its acceleration at a"
            " quarter, and the peak is 10 / sqrt(3).",
        ),
        Mistake(
            lambda T, v, a, m: reach_in(T, v, a, m, 6.0),
            "6 is the peak of the cubic. The quintic's is 10 / sqrt(3).",
        ),
        Mistake(
            lambda T, v, a, m: reach_in(T, v, a, m)[::-1],
            "The quintic's distance first, then the trapezoid's.",
        ),
    ],
    alternatives=[
        reach_by_bisection,
        lambda T, v, a, m: (1 - m) * np.array(reach_in(T, v, a, 0.0)),
    ],
)

# ---------------------------------------------------------------- upgrade

COBOT6 = [1.5] * 6, [3.0] * 6
PANDA = [2.175] * 4 + [2.61] * 3, [15, 7.5, 10, 12.5, 15, 20, 20]


def upgrade_cases(rng):
    """q0, q1 and limits: short and long moves, joints alike and not, one that doesn't move."""
    arms = [tuple(map(np.array, arm)) for arm in (COBOT6, PANDA)]
    mixed = np.array([1.0, 3.0, 0.5]), np.array([9.0, 1.0, 4.0])
    moves = [
        ([0.1, 0.2, -0.3, 0.0, 0.1, 0.05], arms[0]),
        ([0.4, -2.0, 0.3, 1.0, 0.1, 1.9], arms[0]),
        ([0.3, 0.25, 0.2, 0.1, 0, 0.3, -0.4], arms[1]),
        ([1.0, -1.2, 0.9, 0.5, 1.35, 0, 0.2], arms[1]),
        ([0.5, -0.9, 0.1], mixed),
        ([0.05, -0.3, 0.3], mixed),
        ([0.0, 0.0, 0.0], mixed),
    ]
    moves += [(rng.uniform(-1.5, 1.5, 7), arms[1])]
    starts = [rng.uniform(-1, 1, len(D)) for D, _ in moves]
    return [(q0, q0 + D, *limits) for q0, (D, limits) in zip(starts, moves)]


def needed(D, v_max, a_max, speed=1.875, peak=QUINTIC_PEAK):
    """Seconds that each limit of each joint asks for, (2, n)."""
    return np.array([speed * D / v_max, np.sqrt(peak * np.abs(D) / a_max)])


def named(seconds):
    if not np.any(np.abs(seconds) > 1e-12):
        return None
    limit, joint = np.unravel_index(np.argmax(seconds), np.shape(seconds))
    return [int(joint) + 1, ("speed", "acceleration")[limit]]


def upgrade(q0, q1, v_max, a_max):
    return named(needed(np.abs(np.subtract(q1, q0)), v_max, a_max))


def of_furthest(q0, q1, v_max, a_max):
    D = np.abs(q1 - q0)
    here = needed(D, v_max, a_max) * (np.arange(len(D)) == D.argmax())
    return named(here)


def no_root(q0, q1, v_max, a_max):
    seconds = needed(np.abs(q1 - q0), v_max, a_max)
    return named(np.array([seconds[0], seconds[1] ** 2]))


def by_doubling(q0, q1, v_max, a_max):
    """Make each limit a thousandth better, and look which one helps."""
    limits = [np.array(v_max, float), np.array(a_max, float)]
    plain = trajectory.synchronise(q0, q1, *limits).duration
    for which, word in enumerate(("Speed", "Acceleration")):
        for joint in range(len(q0)):
            better = [limit.copy() for limit in limits]
            better[which][joint] *= 1.001
            if trajectory.synchronise(q0, q1, *better).duration < plain - 1e-9:
                return (float(joint + 1), word)
    return None


def same_upgrade(answer, expected, args):
    if expected is None:
        return None if answer is None else "Nothing moves here, so nothing helps: None."
    joint, limit = parts(answer, ("the joint", ()), ("its limit", str))
    if limit.strip().lower() not in ("speed", "acceleration"):
        return 'The limit is "speed" or "acceleration".'
    if joint == expected[0] and limit.strip().lower() == expected[1]:
        return None
    if not (joint == int(joint) and 1 <= joint <= len(args[0])):
        return f"There is no joint {float(joint):g}: they are counted from 1."
    q0, q1, v_max, a_max = args
    seconds = needed(np.abs(q1 - q0), v_max, a_max)[:, int(joint) - 1]
    asked = seconds["sa".index(limit.strip().lower()[0])]
    most = needed(np.abs(q1 - q0), v_max, a_max).max()
    return f"That limit asks for {asked:.4g} s, another one for {most:.4g} s."


UPGRADE = Exercise(
    "upgrade",
    cases=upgrade_cases,
    truth=upgrade,
    compare=same_upgrade,
    mistakes=[
        Mistake(
            of_furthest,
            "You looked at the joint with the longest way. A joint with a shorter way and smaller"
            " limits may take longer.",
        ),
        Mistake(
            no_root,
            "You compared seconds with seconds squared. Acceleration goes with 1 / T²: take the"
            " root before you compare.",
        ),
        Mistake(
            lambda q0, q1, v, a: named(needed(np.abs(q1 - q0), v, a) * [[1], [0]]),
            "You looked at speeds alone. A short move never gets near the speed limit.",
        ),
        Mistake(
            lambda q0, q1, v, a: named(np.nan_to_num(needed(np.maximum(q1 - q0, 0), v, a))),
            "Joints that go backwards count, too: take the absolute value of the way.",
        ),
        Mistake(
            lambda *args: upgrade(*args) and [upgrade(*args)[0] - 1, upgrade(*args)[1]],
            "You count the joints from 0. Arms count them from 1.",
        ),
        Mistake(
            lambda q0, q1, v, a: named(needed(np.abs(q1 - q0), v, a)) or [1, "speed"],
            "If nothing moves, no limit helps: return None.",
        ),
    ],
    alternatives=[by_doubling, lambda q0, q1, v, a: upgrade(q1, q0, v, a)],
)

# ---------------------------------------------------------------- lowest


def lowest_cases(rng):
    """Times and heights: over an obstacle, along a table, up stairs, and drawn ones."""
    fixed = [
        ([0, 1, 2, 3], [0.3, 0.1, 0.1, 0.3]),
        ([2, 2.5, 4, 4.5], [0.05, 0.05, 0.25, 0.25]),
        ([0, 1, 2], [0.2, 0.1, 0.4]),
        ([0, 0.4, 2, 2.4, 4], [0.5, 0.12, 0.1, 0.12, 0.5]),
        ([5, 6, 8], [0.1, 0.2, 0.3]),
    ]
    drawn = [(np.cumsum(rng.uniform(0.3, 1.5, 5)), rng.uniform(0.1, 0.6, 5)) for _ in range(3)]
    return [(np.array(t, float), np.array(z, float)) for t, z in fixed + drawn]


def bottom(curve, times):
    """The least value of a piecewise polynomial: at its ends, or where its slope is zero."""
    turns = curve.derivative().roots(extrapolate=False)
    places = np.r_[times, turns[np.isfinite(turns)]]
    return float(np.min(curve(places)))


def lowest(times, heights, ends="clamped"):
    return bottom(CubicSpline(times, heights, bc_type=ends), times)


def sampled(times, heights):
    """The least of forty samples."""
    places = np.linspace(times[0], times[-1], 40)
    return float(CubicSpline(times, heights, bc_type="clamped")(places).min())


def lowest_by_pieces(times, z):
    """Speeds at the way-points from continuous acceleration, then one cubic after the other."""
    h = np.diff(times)
    A, b = np.eye(len(z)), np.zeros(len(z))
    for i in range(1, len(z) - 1):
        A[i, i - 1 : i + 2] = 1 / h[i - 1], 2 / h[i - 1] + 2 / h[i], 1 / h[i]
        b[i] = 3 * ((z[i] - z[i - 1]) / h[i - 1] ** 2 + (z[i + 1] - z[i]) / h[i] ** 2)
    speed, s = np.linalg.solve(A, b), np.linspace(0, 1, 20_001)
    pieces = [
        trajectory.cubic(z[i], z[i + 1], h[i], (speed[i], speed[i + 1]))(s * h[i])[0].min()
        for i in range(len(h))
    ]
    return np.array(min(pieces))


def same_height(answer, expected, args):
    value, right = float(as_numbers(answer, ())), float(expected)
    if abs(value - right) < 2e-6:
        return None
    way = "deeper" if right < value else "not so deep"
    return f"It goes {way}: you are off by {in_mm(abs(value - right))}."


LOWEST = Exercise(
    "lowest",
    cases=lowest_cases,
    truth=lowest,
    compare=same_height,
    mistakes=[
        Mistake(
            lambda t, z: float(np.min(z)),
            "You looked at the way-points alone. Between them a spline may go lower.",
        ),
        Mistake(
            lambda t, z: lowest(t, z, "natural"),
            "Your ends are natural: the acceleration is zero there, and the arm starts with a"
            " speed. At rest means speed zero, `clamped`.",
        ),
        Mistake(
            lambda t, z: lowest(t, z, "not-a-knot"),
            "SciPy's default ends are `not-a-knot`: the arm is not at rest at the ends. Ask for"
            " `clamped`.",
        ),
        Mistake(
            sampled,
            "Forty samples miss the lowest place. Where is the slope zero?",
        ),
        Mistake(
            lambda t, z: lowest(np.arange(len(z)), z),
            "You left out the times: a spline through the same points at even times is another"
            " curve.",
        ),
    ],
    alternatives=[
        lowest_by_pieces,
        lambda t, z: np.array([lowest(t - t[0], z)]),
    ],
)

# ---------------------------------------------------------------- top_speed


def top_cases(rng):
    """q', q'' and limits at one place of a path: straight, bent, a joint that turns back."""
    fixed = [
        ([1.0, 0.5], [0.0, 0.0], [1.5, 1.5], [3, 3]),
        ([1.0, 0.0], [0.0, 20.0], [1.5, 1.5], [3, 3]),
        ([1.0, 1.0], [8.0, 8.0], [1.5, 1.5], [3, 3]),
        ([1.0, -1.0], [8.0, 8.0], [1.5, 1.5], [3, 3]),
        ([0.8, 0.6], [-9.0, 12.0], [1.5, 1.5], [3, 3]),
        ([0.2, -0.9, 0.4], [5.0, 5.0, -30.0], [1, 2, 3], [2, 4, 9]),
    ]
    cases = [tuple(map(np.array, case)) for case in fixed]
    for _ in range(4):
        slope, bend = rng.uniform(-1, 1, 3), 30 * rng.uniform(-1, 1, 3)
        cases.append((slope, bend, np.ones(3), 2 * np.ones(3)))
    return cases


def squared(slope, bend, v_max, a_max):
    """The largest (ds/dt)² by speed, by a joint that turns back, and by each pair of joints."""
    moves = np.abs(slope) > 1e-12
    by_speed = np.min((v_max[moves] / slope[moves]) ** 2)
    still = ~moves & (np.abs(bend) > 1e-12)
    by_turn = np.min(a_max[still] / np.abs(bend[still]), initial=np.inf)
    room, tilt = a_max[moves] / np.abs(slope[moves]), bend[moves] / slope[moves]
    apart = np.abs(tilt[:, None] - tilt)
    pairs = (room[:, None] + room)[apart > 1e-12] / apart[apart > 1e-12]
    return by_speed, by_turn, np.min(pairs, initial=np.inf)


def top_speed(slope, bend, v_max, a_max):
    return float(np.sqrt(min(squared(slope, bend, v_max, a_max))))


def steady(slope, bend, v_max, a_max):
    """With d²s/dt² = 0."""
    curve = np.min(a_max / np.maximum(np.abs(bend), 1e-12))
    return float(np.sqrt(min(squared(slope, bend, v_max, a_max)[0], curve)))


def without_turning(slope, bend, v_max, a_max):
    by_speed, _, by_pairs = squared(slope, bend, v_max, a_max)
    return float(np.sqrt(min(by_speed, by_pairs)))


def top_by_programme(slope, bend, v_max, a_max):
    """SciPy's linear programme: the largest x for which some u exists."""
    A = np.array([slope, bend]).T
    slow = np.column_stack([np.zeros(len(slope)), slope**2])
    rows, most = np.vstack([A, -A, slow]), np.concatenate([a_max, a_max, v_max**2])
    return np.sqrt(linprog([0, -1], rows, most, bounds=[(None, None), (0, None)]).x[1])


def same_top(answer, expected, args):
    slope, bend, v_max, a_max = args
    value, right = float(as_numbers(answer, ())), float(expected)
    if abs(value - right) < 1e-5 * right:
        return None
    if value < right:
        return f"It may run at {right:.4g} 1/s there; you stop at {value:.4g}."
    fast = np.abs(slope) * value > v_max * (1 + 1e-9)
    if fast.any():
        return f"At {value:.4g} 1/s joint {int(fast.argmax()) + 1} is faster than its limit."
    return f"At {value:.4g} 1/s no d²s/dt² keeps every joint within its acceleration."


TOP = Exercise(
    "top_speed",
    cases=top_cases,
    truth=top_speed,
    compare=same_top,
    mistakes=[
        Mistake(
            steady,
            "You hold ds/dt constant. While it changes, q' d²s/dt² can take away what the bend asks"
            " for: ask whether *some* d²s/dt² will do.",
        ),
        Mistake(
            lambda *args: float(np.sqrt(squared(*args)[0])),
            "You looked at the speed limits alone. In a bend the joints need acceleration even at"
            " constant speed.",
        ),
        Mistake(
            lambda *args: min(squared(*args)),
            "That is x, the square of ds/dt. Take the root.",
        ),
        Mistake(
            without_turning,
            "A joint with q' = 0 is turning back. Its acceleration is q'' (ds/dt)², whatever"
            " d²s/dt² is: it limits ds/dt by itself.",
        ),
        Mistake(
            lambda s, b, v, a: float(np.sqrt(min(1e6, *squared(s, b, v, a)[1:]))),
            "You looked at the accelerations alone. A joint may also pass its speed limit.",
        ),
    ],
    alternatives=[top_by_programme, lambda *args: np.array([top_speed(*args)])],
)


EXERCISES = [QUIET, CATCH, REACH, UPGRADE, LOWEST, TOP]
