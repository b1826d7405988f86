"""Checkpoints of lesson 08: finger tip, run-in, mended angles, nozzle, pan, points, remedies."""

from functools import cache, partial

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from course_lib import ik
from course_lib.arm import load_arm
from course_lib.cartesian import line, to_joints
from course_lib.check import (
    Exercise,
    Mistake,
    Unreadable,
    as_numbers,
    in_degrees,
    in_mm,
    numbers_in,
)
from course_lib.poses import pose

PI = np.pi
COBOT6 = load_arm("cobot6")


def rotation(*rpy):
    return Rotation.from_euler("xyz", rpy, degrees=True)


# ---------------------------------------------------------------- stray


def stray_cases(rng):
    """Poses and a point: no turn, turns about the point's axis and across, a turn on the spot."""
    down = rotation(180, 0, 0)
    near, far = pose([0.3, -0.1, 0.2], down), pose([0.3, 0.1, 0.2], down)
    turned = pose([0.3, 0.1, 0.2], rotation(180, 0, 90))
    cases = [
        (near, turned, np.array([0.05, 0.0, 0.0])),
        (near, far, np.array([0.05, 0.02, 0.1])),
        (near, turned, np.array([0.0, 0.0, 0.1])),
        (near, pose([0.3, -0.1, 0.2], rotation(180, 0, 120)), np.array([0.0, 0.08, 0.0])),
        (near, pose([0.35, 0.1, 0.25], rotation(150, 20, 60)), np.array([0.03, 0.0, 0.12])),
        (near, pose([0.3, -0.1, 0.2], rotation(180, 0, 60)), np.zeros(3)),
    ]
    for _ in range(4):
        T0, T1 = (pose(rng.uniform(-0.3, 0.3, 3), rotation(*rng.uniform(-40, 40, 3))) for _ in "01")
        cases.append((T0, T1, rng.uniform(-0.1, 0.1, 3)))
    return cases


def tip_way(T0, T1, c, count=1001):
    """Places (count, 3) of the point c (3,) of the tool, whose own point goes straight."""
    T0, T1, c = np.asarray(T0), np.asarray(T1), np.asarray(c)
    s = np.linspace(0, 1, count)
    turn = Slerp([0, 1], Rotation.from_matrix([T0[:3, :3], T1[:3, :3]]))(s)
    return T0[:3, 3] + np.outer(s, T1[:3, 3] - T0[:3, 3]) + turn.apply(c)


def off_chord(p):
    """Distances (k,) of points p (k, 3) from the line through the first and the last."""
    way, rest = p[-1] - p[0], p - p[0]
    if np.linalg.norm(way) > 1e-9:
        rest = rest - np.outer(rest @ way, way) / (way @ way)
    return np.linalg.norm(rest, axis=1)


def stray(T0, T1, c):
    return off_chord(tip_way(T0, T1, c)).max()


def late(T0, T1, c):
    """Distance from where the tip would be at the same s, not from the line."""
    p = tip_way(T0, T1, c)
    even = p[0] + np.linspace(0, 1, len(p))[:, None] * (p[-1] - p[0])
    return np.linalg.norm(p - even, axis=1).max()


def in_world(T0, T1, c):
    """c taken along the world's axes."""
    turn = Rotation.from_matrix(T0[:3, :3]).inv().apply(c)
    return stray(T0, T1, turn)


def halfway(T0, T1, c):
    return off_chord(tip_way(T0, T1, c, 3)).max()


def same_length(answer, expected, args):
    value = float(as_numbers(answer, ()))
    if not value >= 0:
        return "A distance is not negative."
    if abs(value - expected) < 3e-5 + 0.01 * expected:
        return None
    return f"You say {in_mm(value)}; the tip strays by {in_mm(float(expected))}."


def stray_by_cross(T0, T1, c):
    p = tip_way(T0, T1, c, 400)
    way = np.linalg.norm(p[-1] - p[0])
    off = np.cross(p - p[0], (p[-1] - p[0]) / way) if way > 1e-9 else p - p[0]
    return np.float32(np.linalg.norm(off, axis=1).max())


STRAY = Exercise(
    "stray",
    cases=stray_cases,
    truth=stray,
    compare=same_length,
    mistakes=[
        Mistake(lambda T0, T1, c: 0.0, "A finger tip beside the tool point goes round it."),
        Mistake(late, "Being early or late on the line is no stray: measure across the line."),
        Mistake(in_world, "`c` is given in the frame of the tool: turn it by the tool's rotation."),
        Mistake(halfway, "You looked half-way only. The largest distance may lie elsewhere."),
    ],
    alternatives=[stray_by_cross, lambda T0, T1, c: 1.004 * stray(T0, T1, c)],
)

# ---------------------------------------------------------------- run_in


def run_in_cases(rng):
    """Three points, speed and acceleration: level arcs both ways round, upright, long, drawn."""
    points = [
        ([0.3, -0.1, 0.1], [0.35, 0.0, 0.1], [0.3, 0.1, 0.1]),
        ([0.3, -0.1, 0.1], [0.25, 0.0, 0.1], [0.3, 0.1, 0.1]),
        ([0.3, 0.0, 0.1], [0.3, 0.05, 0.15], [0.3, 0.0, 0.2]),
        ([1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]),
    ]
    cases = [(*map(np.array, three), 0.2, 0.5) for three in points]
    drawn = [(*rng.uniform(-0.3, 0.3, (3, 3)), rng.uniform(0.05, 0.4), 0.8) for _ in range(4)]
    return cases + drawn


def tangent(start, via, end):
    """Unit tangent (3,) of the arc at its start."""
    start, via, end = map(np.asarray, (start, via, end))
    a, b = via - start, end - start
    along = a / (a @ a) - b / (b @ b)  # an inversion about start makes a line of the circle
    return along / np.linalg.norm(along)


def run_in(start, via, end, v, a):
    return start - v**2 / (2 * a) * tangent(start, via, end)


def same_start(answer, expected, args):
    answer = as_numbers(answer, (3,))
    start, _, _, v, a = args
    off = np.linalg.norm(answer - expected)
    if off < 1e-6:
        return None
    way = np.linalg.norm(answer - start)
    if abs(way - v**2 / (2 * a)) > 1e-6:
        return f"Your run-in is {in_mm(way)} long; from rest to v it takes {in_mm(v**2 / (2 * a))}."
    return f"The length is right, the direction is not: off by {in_mm(off)}."


def run_in_by_centre(start, via, end, v, a):
    """Centre as the least-squares point at equal distances, in the plane."""
    p = np.array([start, via, end])
    normal = np.cross(p[1] - p[0], p[2] - p[0])
    rows = np.vstack([2 * (p[1:] - p[0]), normal])
    right = np.r_[(p[1:] ** 2).sum(1) - (p[0] ** 2).sum(), normal @ p[0]]
    along = np.cross(normal, p[0] - np.linalg.solve(rows, right))
    return (start - v * v / a / 2 * along / np.linalg.norm(along)).tolist()


def ahead_of_it(p, *rest):
    return 2 * p - run_in(p, *rest)


def twice(p, *rest):
    return 2 * run_in(p, *rest) - p


def along(direction):
    """A run-in along another direction."""

    def wrong(p, via, end, v, a):
        way = direction(p, via, end)
        return p - v**2 / (2 * a) * way / np.linalg.norm(way)

    return wrong


def inwards(start, via, end):
    return np.cross(tangent(start, via, end), np.cross(via - start, end - start))


RUN_IN = Exercise(
    "run_in",
    cases=run_in_cases,
    truth=run_in,
    compare=same_start,
    mistakes=[
        Mistake(ahead_of_it, "The nozzle must start *behind* the start of the arc: take it off."),
        Mistake(twice, "v²/a is the way at full speed. While it speeds up the mean speed is v/2."),
        Mistake(along(lambda p, via, end: via - p), "An arc starts on its tangent, not its chord."),
        Mistake(along(lambda p, via, end: end - p), "You come in along the chord to the end."),
        Mistake(along(inwards), "That is the radius. The tangent is at a right angle to it."),
    ],
    alternatives=[run_in_by_centre, lambda *args: np.reshape(run_in(*args), (3, 1))[:, 0] + 1e-9],
)

# ---------------------------------------------------------------- mend


def mend_cases(rng):
    """Angles and those before: seams, the other triple, both, full turns, nothing to do."""
    cases = [
        ((PI - 0.01, 0.0, 0.3), (-PI + 0.01, 0.0, 0.3)),
        ((0.1, 0.2, -3.1), (0.1, 0.2, 3.1)),
        ((0.1, 0.2, 0.3), (0.12, 0.19, 0.28)),
        ((-3.0, 1.5, -2.9), (0.2, 1.6, 0.3)),
        ((0.3, 0.4, 0.5), (6.6, 0.41, -5.7)),
        ((2.9, -1.4, 0.1), (-0.3, -1.75, 3.3)),
        ((2.5, 1.2, -1.2), (1.8, -2.0, -1.9)),
        ((-1.1, -1.0, -0.2), (-2.9, -2.2, 0.7)),
    ]
    drawn = rng.uniform(-3, 3, (4, 2, 3))
    return [tuple(map(np.array, case)) for case in [*cases, *drawn]]


def triples(rpy):
    r, p, y = rpy
    return np.array([[r, p, y], [r + PI, PI - p, y + PI]])


def near_turns(rows, before):
    return rows + 2 * PI * np.round((np.asarray(before) - rows) / (2 * PI))


def mend(rpy, before):
    rows = near_turns(triples(rpy), before)
    return rows[np.sum((rows - before) ** 2, axis=1).argmin()]


def same_mend(answer, expected, args):
    answer, (rpy, before) = as_numbers(answer, (3,)), args
    if np.abs(answer - expected).max() < 3e-5:
        return None
    same = Rotation.from_euler("xyz", answer) * Rotation.from_euler("xyz", rpy).inv()
    if same.magnitude() > 1e-4:
        return f"These are another orientation, {in_degrees(same.magnitude())} away."
    way, best = (np.linalg.norm(np.asarray(row) - before) for row in (answer, expected))
    if way < best + 1e-4:
        return None
    return (
        f"The same orientation, {way:.2f} rad from `before`; there are angles {best:.2f} rad off."
    )


def mend_by_search(rpy, before):
    """All turns tried, for SciPy's own triple and the other one."""
    R = Rotation.from_euler("xyz", rpy)
    k = 2 * PI * np.arange(-4, 5)
    rows = triples(R.as_euler("xyz"))
    options = [row + np.array([a, b, c]) for row in rows for a in k for b in k for c in k]
    return min(options, key=lambda row: np.linalg.norm(row - before)).tolist()


def turns_only(rpy, before):
    return near_turns(np.array(rpy), before)


def no_turns(rpy, before):
    return min(triples(rpy), key=lambda row: np.linalg.norm(row - before))


def wrong_mirror(rpy, before):
    return near_turns(np.array([rpy[0] + PI, -rpy[1], rpy[2] + PI]), before)


MEND = Exercise(
    "mend",
    cases=mend_cases,
    truth=mend,
    compare=same_mend,
    mistakes=[
        Mistake(turns_only, "You add full turns. A second triple has the pitch mirrored at 90°."),
        Mistake(no_turns, "You choose a triple, but no turns: 179° and -179° are 2° apart."),
        Mistake(lambda rpy, before: rpy, "You return the angles as they are."),
        Mistake(lambda rpy, before: before, "That is the entry before. The tool has moved on."),
        Mistake(
            wrong_mirror, "Mirror the pitch at 90°: pi - p. With -p the nose points elsewhere."
        ),
    ],
    alternatives=[mend_by_search, lambda rpy, before: tuple(mend(list(rpy), list(before)))],
)

# ---------------------------------------------------------------- lasting

TURNS = range(-180, 180, 30)


def lasting_cases(rng):
    """Start and end: through the middle and up, and inwards across."""
    return [((0.3, 0.2, 0.05), (0.3, -0.2, 0.3)), ((0.4, -0.2, 0.2), (0.25, 0.25, 0.05))]


postures = partial(ik.closed_form, COBOT6)


@cache
def reports(turn, *ends):
    """What `to_joints` says for each start posture, and the number of postures at the end."""
    T0, T1 = (pose(p, rotation(0, 0, turn) * rotation(180, 0, 0)) for p in ends)
    starts, stops = (q[ik.in_limits(COBOT6, q)] for q in map(postures, (T0, T1)))
    motion = line(T0, T1, v_max=0.1, a_max=0.1)
    return [to_joints(COBOT6, motion, q).reason for q in starts], len(stops)


def lasting(start, end):
    return [turn for turn in TURNS if "followed" in reports(turn, tuple(start), tuple(end))[0]]


def both_ends(*ends):
    return [turn for turn in TURNS if all(reports(turn, *ends))]


def first_only(*ends):
    return [turn for turn in TURNS if reports(turn, *ends)[0][:1] == ["followed"]]


def same_turns(answer, expected, args):
    numbers = numbers_in(answer)
    if numbers is None or not set(numbers.ravel().tolist()) <= set(TURNS):
        raise Unreadable("Expected a list of angles in degrees, from -180, -150, ... to 150.")
    given = set(numbers.ravel().tolist())
    extra, missing = given - set(expected), set(expected) - given
    if not extra | missing:
        return None
    word, some = ("does not last", min(extra)) if extra else ("lasts", min(missing))
    return f"{some:g}° {word}, by `to_joints`."


LASTING = Exercise(
    "lasting",
    cases=lasting_cases,
    truth=lasting,
    compare=same_turns,
    mistakes=[
        Mistake(both_ends, "At these angles both ends have a posture. It is the way that counts."),
        Mistake(first_only, "You tried one start posture for each angle. Another one may last."),
        Mistake(lambda *ends: [0], "The nozzle is round: all its angles are as good, so try each."),
    ],
    alternatives=[lambda *ends: lasting(*ends)[::-1], lambda *e: np.array(lasting(*e), float)],
)

# ---------------------------------------------------------------- fastest_pan


def pan_cases(rng):
    """Place and velocity: abeam, passed, overhead, high, climbing, at rest, drawn ones."""
    cases = [
        ((-3.0, 2.0, 4.0), (1.0, 0.0, 0.0)),
        ((3.0, 2.0, 4.0), (1.0, 0.0, 0.0)),
        ((-3.0, 0.0, 4.0), (1.0, 0.0, 0.0)),
        ((-3.0, -4.0, 10.0), (0.6, 0.8, 0.0)),
        ((-3.0, 0.1, 20.0), (1.0, 0.0, -0.5)),
        ((1.0, 2.0, 3.0), (0.0, 0.0, 2.0)),
        ((0.0, -2.0, 1.0), (-1.5, 0.5, 0.3)),
    ]
    drawn = [(rng.uniform(-5, 5, 3), rng.uniform(-2, 2, 3)) for _ in range(5)]
    return [tuple(map(np.array, case)) for case in [*cases, *drawn]]


def fastest_pan(p, v):
    p, v = np.array(p[:2], float), np.array(v[:2], float)
    speed, swept = np.linalg.norm(v), abs(p[0] * v[1] - p[1] * v[0])
    if speed == 0 or swept / speed < 1e-9:
        return 0.0
    ahead = max(0.0, -(p @ v) / speed**2)
    return swept / np.sum((p + ahead * v) ** 2)


def same_rate(answer, expected, args):
    value = float(as_numbers(answer, ()))
    if abs(value - expected) < 1e-6 + 1e-4 * expected:
        return None
    if value < -1e-6:
        return "Give the speed without its sign."
    return f"You say {value:.4g} rad/s; it is {expected:.4g}."


def pan_now(p, v):
    r2 = p[0] ** 2 + p[1] ** 2
    return abs(p[0] * v[1] - p[1] * v[0]) / r2


def pan_whenever(p, v):
    """The nearest place of the whole line, past or future."""
    swept, speed = abs(p[0] * v[1] - p[1] * v[0]), np.hypot(v[0], v[1])
    return speed**2 / (swept / speed) if swept > 1e-9 else 0.0


def pan_in_space(p, v):
    """Distance and speed with the height."""
    p, v = np.asarray(p, float), np.asarray(v, float)
    ahead = max(0.0, -(p @ v) / (v @ v))
    near = p + ahead * v
    return np.linalg.norm(np.cross(near, v)) / (near @ near)


def pan_by_search(p, v):
    """The largest rate on a fine grid about the nearest place ahead."""
    p, v = np.array(p), np.array(v)
    if np.hypot(v[0], v[1]) < 1e-12 or abs(p[0] * v[1] - p[1] * v[0]) < 1e-9:
        return 0
    middle = max(0.0, -(p[:2] @ v[:2]) / (v[:2] @ v[:2]))
    t = np.clip(middle + np.linspace(-1, 1, 2001), 0, None)
    x, y = p[0] + t * v[0], p[1] + t * v[1]
    return np.max(np.abs(x * v[1] - y * v[0]) / (x * x + y * y))


PAN = Exercise(
    "fastest_pan",
    cases=pan_cases,
    truth=fastest_pan,
    compare=same_rate,
    mistakes=[
        Mistake(pan_now, "That is the speed now. It grows while the drone comes nearer."),
        Mistake(pan_whenever, "The nearest place may lie behind the drone. From now on counts."),
        Mistake(pan_in_space, "Pan turns about the upright axis: leave the height out."),
    ],
    alternatives=[pan_by_search, lambda p, v: np.array([fastest_pan(p, v)])],
)

# ---------------------------------------------------------------- thin


def thin_cases(rng):
    """Points and tolerance: a line, an arc, a corner, there and back, a spiral, a wave, a hook."""
    x = np.linspace(0, 1, 41)
    zero = 0 * x
    turn = 2 * x
    spiral = np.column_stack([(1 + x) * np.cos(6 * x), (1 + x) * np.sin(6 * x), 0.3 * x])
    bend = np.r_[np.column_stack([x, zero, zero]), np.column_stack([1 + zero, x, zero])[1:]]
    back = np.r_[np.column_stack([x, zero, zero]), np.column_stack([0.6 * x[::-1], zero, zero])]
    back[41:, 0] += 0.4
    wave = np.column_stack([x, 0.1 * np.sin(2 * PI * x), zero])
    hook = np.r_[
        bend[:41], np.column_stack([1 + 0.05 * np.sin(3 * x), 0.05 - 0.05 * np.cos(3 * x), zero])
    ]
    return [
        (np.column_stack([x, 2 * x, zero]), 1e-3),
        (np.column_stack([np.cos(turn), np.sin(turn), zero]), 1e-3),
        (bend, 1e-3),
        (back, 1e-3),
        (spiral, 2e-3),
        (wave, 2e-3),
        (hook, 1e-3),
        (np.array([[0.0, 0, 0], [1, 1, 1]]), 1e-3),
    ]


def segment_off(points, i, j, beyond=False):
    """Largest distance of points i to j from the segment between them, or from its line."""
    way, rest = points[j] - points[i], points[i : j + 1] - points[i]
    share = rest @ way / max(way @ way, 1e-30)
    share = share if beyond else np.clip(share, 0, 1)
    return np.linalg.norm(rest - np.outer(share, way), axis=1).max()


def greedy_thin(points, tolerance, beyond=False):
    points, kept = np.asarray(points, float), [0]
    while kept[-1] < len(points) - 1:
        ahead = range(len(points) - 1, kept[-1], -1)
        kept.append(next(j for j in ahead if segment_off(points, kept[-1], j, beyond) <= tolerance))
    return kept


def thin(points, tolerance):
    """The least number of points: the shortest chain of segments that cover all between."""
    points = np.asarray(points, float)
    best, count = [[0]], len(points)
    for j in range(1, count):
        options = [best[i] for i in range(j) if segment_off(points, i, j) <= tolerance]
        best.append([*min(options, key=len), j])
    return best[-1]


def good_thin(answer, expected, args):
    points, tolerance = args
    kept = numbers_in(answer)
    if kept is None or kept.ndim != 1 or np.any(kept != np.round(kept)):
        raise Unreadable("Expected a list of indices, whole numbers.")
    kept, last = kept.astype(int), len(points) - 1
    if kept.tolist() == list(expected):
        return None
    if not len(kept) or kept[0] != 0 or kept[-1] != last:
        return f"The first and the last point must stay: indices 0 and {last}."
    if np.any(np.diff(kept) <= 0):
        return "The indices must grow."
    for i, j in zip(kept, kept[1:]):
        off = segment_off(points, i, j)
        if off > tolerance * (1 + 1e-6):
            words = f"Between {i} and {j} a dropped point is {in_mm(float(off))} off the segment"
            return f"{words}, the tolerance is {in_mm(tolerance)}."
    most = int(1.5 * len(expected))
    if len(kept) > most:
        return f"You keep {len(kept)} points; {len(expected)} are enough, {most} would pass."
    return None


def every_other(points, tolerance):
    """The largest even spacing that keeps the tolerance."""
    points = np.asarray(points, float)
    for step in range(len(points) - 1, 0, -1):
        kept = [*range(0, len(points) - 1, step), len(points) - 1]
        if all(segment_off(points, i, j) <= tolerance for i, j in zip(kept, kept[1:])):
            return kept
    return None


def middles_only(points, tolerance):
    """Only the middle point between is looked at."""
    points, kept = np.asarray(points, float), [0]
    off = lambda i, j: np.linalg.norm(points[(i + j) // 2] - (points[i] + points[j]) / 2)
    while kept[-1] < len(points) - 1:
        ahead = range(len(points) - 1, kept[-1], -1)
        kept.append(next((j for j in ahead if off(kept[-1], j) <= tolerance), kept[-1] + 1))
    return kept


def endless(points, tolerance):
    return greedy_thin(points, tolerance, beyond=True)


THIN = Exercise(
    "thin",
    cases=thin_cases,
    truth=thin,
    compare=good_thin,
    mistakes=[
        Mistake(endless, "A segment ends: where the path turns back, a point lies beyond its end."),
        Mistake(every_other, "Even spacing: straight stretches need fewer points than bends."),
        Mistake(middles_only, "You look at one point between. Every dropped one must be near."),
        Mistake(lambda points, tolerance: list(range(len(points))), "You keep them all."),
        Mistake(lambda points, tolerance: [0, len(points) - 1], "You keep the two ends only."),
    ],
    alternatives=[greedy_thin, lambda p, tol: np.array(greedy_thin(p.tolist(), tol))],
)

# ---------------------------------------------------------------- remedy

BEST = {"seam": "slowed down", "bin": "wrist by joints", "free": "joint move"}
WHY = {
    ("seam", "plain inverse"): "The plain inverse asks several times its limit of joint 4.",
    ("seam", "wrist by joints"): "The wrist turns off by more than 0.1° if it goes by joints.",
    ("bin", "slowed down"): "Slowed down the lift takes more than 2.5 s.",
    ("bin", "plain inverse"): "The plain inverse asks several times its limit of joint 4.",
    ("free", "wrist by joints"): "In free air something else is twice as quick.",
}


def same_remedy(answer, expected, args):
    if not isinstance(answer, dict) or set(answer) != set(BEST):
        raise Unreadable(f"Expected a dict with the keys {sorted(BEST)}.")
    for job, right in expected.items():
        name = answer[job]
        if not isinstance(name, str):
            raise Unreadable(f"Under {job!r} expected the name of a row of the table.")
        if name.strip().lower() == right:
            continue
        if name.startswith("damped"):
            return (
                f"{job}: damping throws the point off, and this one stays fast or strays by 2 cm."
            )
        return f"{job}: " + WHY.get((job, name), "look at this row's errors, limit and time again.")
    return None


REMEDY = Exercise(
    "remedy",
    truth=BEST,
    compare=same_remedy,
    mistakes=[
        Mistake(
            dict.fromkeys(BEST, "slowed down"),
            "Slowing down is right for the seam. The other two ask for time, and allow errors.",
        ),
        Mistake(
            BEST | {"bin": "joint move"},
            "A joint move leaves the line by 13 mm: it knocks the wall of the bin.",
        ),
        Mistake(
            BEST | {"seam": "damped by 0.2"},
            "The damping that keeps the limit throws the nozzle off the seam by 2 cm.",
        ),
        Mistake(
            BEST | {"seam": "wrist by joints"},
            "Its point is right and its turn is off by 2°, more than this seam allows.",
        ),
    ],
    alternatives=[{key: name.capitalize() for key, name in reversed(BEST.items())}],
)

EXERCISES = [STRAY, RUN_IN, MEND, LASTING, PAN, THIN, REMEDY]
