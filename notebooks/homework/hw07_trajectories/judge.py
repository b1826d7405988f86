"""The judge of homework 07: a profile with a soft landing, one wrong line, joints in step, corners,
and a plan on another clock.

Truths in closed form; the tests hold them against SciPy and against motions that are run. Solutions
stand here in the open: the marks hang on hidden cases, and the learning on you.
"""

import numpy as np
from scipy.interpolate import CubicHermiteSpline, CubicSpline

from course_lib.check import Exercise, Mistake, Unreadable, as_numbers, close, parts

CLOSE = 1e-4  # of durations, speeds and angles, as the tasks say: five typed digits pass


def told(make, says):
    """Mistakes from a table: the kind of fault, and what to tell who has it."""
    return [Mistake(make(kind), message) for kind, message in says.items()]


def variants(function, says):
    """Mistakes of a function whose last argument names what is wrong in it."""
    return told(lambda kind: lambda *case: function(*case, kind), says)


# ---------------------------------------------------------------- 1. a profile that lands softly

SOFT = np.poly1d([-10, 36, -45, 20, 0, 0, 0])  # s' = 60 x² (1 - x)³


def largest(order, places=None):
    """The largest size of a derivative of the profile, at `places` or anywhere from 0 to 1."""
    curve = SOFT.deriv(order)
    turns = np.real(curve.deriv().roots) if places is None else places
    ends = [0.0, 1.0] if places is None else []
    return float(np.abs(curve(np.r_[turns[(turns > 0) & (turns < 1)], ends])).max())


PEAKS = largest(1), largest(2), largest(3)


def soft_cases(rng):
    """distance, v_max, a_max, j_max, each (n,): all of one kind, then mixed ones."""
    unlimited = np.full(3, np.inf)
    ways = np.array([2.5, 0.0, -3.0]), np.array([0.2, -0.1, 0.0]), np.array([-0.05, 0.02, 0.1])
    cases = [
        (ways[0], np.array([1.5, 2.0, 1.0]), np.array([4.0, 5.0, 6.0]), unlimited),
        (ways[1], np.array([1.5, 2.0, 1.0]), np.array([3.0, 2.0, 4.0]), unlimited),
        (ways[2], np.array([2.0, 2.0, 2.0]), np.array([9.0, 8.0, 7.0]), np.array([30, 20, 40.0])),
        (np.zeros(2), np.ones(2), np.ones(2), np.ones(2)),
    ]
    for _ in range(5):
        limits = (rng.uniform(*ends, 4) for ends in ((0.8, 2.5), (2.0, 8.0), (10, 80)))
        cases.append((rng.choice([0.03, 0.3, 3], 4) * rng.uniform(-1, 1, 4), *limits))
    return cases


def soft_duration(distance, v_max, a_max, j_max, kind=""):
    """Each limit asks for a duration; the longest counts."""
    v, a, j = {
        "quintic": (15 / 8, 10 / np.sqrt(3), 60.0),
        "septic": (35 / 16, 84 * np.sqrt(5) / 25, 52.5),
        "middle": (SOFT.deriv()(0.5), *PEAKS[1:]),
        "quarter": (PEAKS[0], largest(2, np.array([0.25, 0.75])), PEAKS[2]),
        "braking": (PEAKS[0], largest(2, np.array([(4 + np.sqrt(6)) / 10])), PEAKS[2]),
        "inside": (*PEAKS[:2], largest(3, np.real(SOFT.deriv(4).roots))),
        "no peaks": (1.0, 1.0, 1.0),
    }.get(kind, PEAKS)
    D = distance if kind == "signed" else np.abs(distance)
    T = [v * D / v_max, np.sqrt(np.maximum(a * D / a_max, 0)), np.cbrt(j * D / j_max)]
    T[1] = a * D / a_max if kind == "no root" else T[1]
    T[2] = np.sqrt(np.maximum(j * D / j_max, 0)) if kind == "square root" else T[2]
    picked = {"speed": T[:1], "acceleration": T[1:2], "no jerk": T[:2], "no speed": T[1:]}
    T = np.sum(T, axis=0) if kind == "sum" else np.max(picked.get(kind, T), axis=0)
    return np.full_like(T, T.max()) if kind == "together" else T


SOFT_SAYS = {
    "quintic": "These are the peaks of the quintic. This profile ends with one condition more.",
    "septic": "These are the peaks of the septic, at rest to the jerk at *both* ends. Count: this"
    " profile has seven conditions.",
    "middle": "You take the speed half-way for the largest. This profile is not symmetric: where"
    " is s'' zero?",
    "quarter": "You take the acceleration at a quarter and three quarters. It is largest where s'''"
    " is zero.",
    "braking": "You take the peak of braking. Speeding up, this profile pushes harder: both count.",
    "inside": "You look for the largest jerk where its slope is zero. It is larger at an end.",
    "no peaks": "D/v and √(D/a) belong to a move without ramps. Each profile has peaks above them.",
    "signed": "A way back takes time too: use |D|.",
    "no root": "Acceleration goes with 1/T², so T goes with a root.",
    "square root": "Jerk goes with 1/T³, so T goes with the *third* root.",
    "speed": "You look at the speed alone.",
    "acceleration": "You look at the acceleration alone.",
    "no jerk": "You leave the jerk out.",
    "no speed": "You leave the speed out.",
    "sum": "You add the three durations up. All limits hold at once: the longest one is enough.",
    "together": "You give all joints the duration of the slowest. Here each counts for itself.",
}


def why_not_soft(answer, expected, args):
    """What the joint that is timed worst does to its limits."""
    T, right = as_numbers(answer, expected.shape, "the durations"), np.asarray(expected)
    i = int(np.abs(T - right).argmax())
    if not T[i] > 0:
        return f"Joint {i}, counted from 0, moves: it needs some time."
    use = [p * abs(args[0][i]) / T[i] ** k / args[k][i] for k, p in enumerate(PEAKS, 1)]
    name = ("speed", "acceleration", "jerk")[int(np.argmax(use))]
    if max(use) > 1:
        return f"In your time joint {i}, counted from 0, has {max(use):.2%} of its largest {name}."
    return (
        f"Joint {i}, counted from 0, could be quicker: it uses {max(use):.2%} of its {name} limit."
    )


def soft_by_grid(distance, v_max, a_max, j_max):
    """Peaks from samples, joint by joint."""
    x = np.linspace(0, 1, 20001)
    powers = [(np.abs(SOFT.deriv(k)(x)).max(), k) for k in (1, 2, 3)]
    rows = zip(distance, v_max, a_max, j_max)
    return [
        max((p * abs(D) / limit) ** (1 / k) for (p, k), limit in zip(powers, limits))
        for D, *limits in rows
    ]


SOFT_DURATION = Exercise(
    "soft_duration",
    points=2,
    cases=soft_cases,
    truth=soft_duration,
    compare=close(CLOSE),
    diagnose=why_not_soft,
    alternatives=[
        soft_by_grid,
        lambda *case: np.float32(soft_duration(*case)),
        lambda *case: tuple(np.round(soft_by_grid(*case), 5)),
        lambda D, v, a, j: np.maximum(
            np.maximum(2.0736 * abs(D) / v, (8.1339 * abs(D) / a) ** 0.5),
            (120 * abs(D) / j) ** (1 / 3),
        ),
    ],
    mistakes=variants(soft_duration, SOFT_SAYS),
)


# ---------------------------------------------------------------- 2. one wrong line


def timing_cases(rng):
    """distance, v_max, a_max: a long and a short way, then those between, then drawn ones."""
    cases = [(way, 1.5, 3.0) for way in (3.0, 0.1, 0.6, 0.745, 0.755)]  # the border is at 0.75
    cases += [(-0.45, 1.2, 2.4), (-2.0, 1.2, 2.4)]
    for _ in range(5):
        v, a = rng.uniform(0.8, 2), rng.uniform(2, 5)
        cases.append(tuple(map(float, (rng.uniform(0.3, 1.6) * v * v / a, v, a))))
    return cases


def timing(distance, v_max, a_max, kind="", border=1.0):
    """The given code, its wrong line mended (border 1), with one other thing exchanged."""
    way, v = distance if kind == "signed" else abs(distance), v_max
    ramp = v / a_max
    if way < border * v * ramp:
        v = np.sqrt((2 if kind == "root" else 1) * abs(way) * a_max)
        ramp = v / a_max if kind != "old ramp" else ramp
    cruise = (way - v * ramp) / v
    cruise = max(cruise, 0.0) if kind == "cut off" else cruise
    return [ramp, cruise, (1 if kind == "one ramp" else 2) * ramp + cruise]


def says(line, answer):
    """An answer that names `line`."""
    return lambda *case: (line, answer(*case))


def same_timing(answer, expected, args):
    line, times = parts(answer, ("the number of the line", ()), ("the three times", (3,)))
    said = close(CLOSE)(times, np.asarray(expected[1], float))
    if line != float(expected[0]):
        return "The times are right; the line is another one." if said is None else "Another line."
    return None if said is None else f"The line is right, the times are not. {said}"


LINES = {  # why each other line is sound
    1: "Line 1 is sound: a way back takes as long.",
    2: "Line 2 is sound: a long move reaches v_max, and the lines below lower it for a short one.",
    3: "Line 3 is sound: from 0 to v at a_max takes v / a_max.",
    5: "Line 5 is sound: two ramps of v²/(2 a) each make up the whole way, so v = √(way a).",
    6: "Line 6 is sound: with a lower peak the ramp is shorter.",
    7: "Line 7 is sound: both ramps together cover v · ramp, and the rest is done at v. That it"
    " can come out negative is the work of another line.",
    8: "Line 8 is sound: up, along, down.",
}


def given(distance, v_max, a_max):
    return timing(distance, v_max, a_max, border=0.5)


TIMING_SAYS = {
    "": "You name the right line, but the times are still those of the given code.",
    "cut off": "The right line. But you cut a negative cruise off at 0; then the ramps of v_max"
    " alone carry the joint too far.",
    "wide": "The right line. Now it takes moves for short that have a cruise: how far do *both*"
    " ramps go together?",
    "always": "The right line. But you never ask: each move is now timed as if it were short.",
    "root": "The right line. But you changed the peak speed, too: v = √(way a) was right.",
    "old ramp": "The right line. But the ramp must be worked out anew for the lower peak.",
    "one ramp": "The right line. But the duration has two ramps.",
    "signed": "The right line. But a way back now has a negative duration.",
}


def timing_wrong(kind):
    borders = {"": 0.5, "cut off": 0.5, "wide": 2.0, "always": np.inf}
    return says(4, lambda *case: timing(*case, kind, borders.get(kind, 1.0)))


def by_least_peak(distance, v_max, a_max):
    """No case at all: the peak is whichever is lower."""
    v = min(v_max, (abs(distance) * a_max) ** 0.5)
    return v / a_max, abs(distance) / v - v / a_max, abs(distance) / v + v / a_max


TIMING = Exercise(
    "mended",
    points=1,
    cases=timing_cases,
    truth=says(4, timing),
    compare=same_timing,
    alternatives=[
        says(4, by_least_peak),
        lambda *case: [4.0, *[list(by_least_peak(*case))]],
        says(np.int64(4), lambda *case: np.float32(timing(*case))),
        says(np.array([4]), lambda *case: tuple(np.round(by_least_peak(*case), 5))),
    ],
    mistakes=[
        *(Mistake(says(n, timing), f"Your times are right. {why}") for n, why in LINES.items()),
        *(
            Mistake(says(n, given), f"The times are still the given ones. {why}")
            for n, why in LINES.items()
        ),
        Mistake(
            says(7, lambda *case: timing(*case, "cut off", 0.5)),
            "You cut the negative cruise off in line 7. Then the ramps alone carry the joint too"
            " far: it should not have reached v_max. Which line decides that?",
        ),
        *told(timing_wrong, TIMING_SAYS),
    ],
)


# ---------------------------------------------------------------- 3. joints in step


def step_cases(rng):
    """q0, q1, v_max, a_max, b_max, each (n,): telling ones, then drawn ones."""
    zero, ones = np.zeros(3), np.ones(3)
    v, a, b = np.array([1.5, 1.0, 2.0]), np.array([3.0, 4.0, 2.0]), np.array([6.0, 3.0, 5.0])
    cases = [
        (zero, np.array([2.0, 0.0, 0.0]), v, a, b),  # one moves, and cruises
        (zero, np.array([0.0, 0.0, -0.2]), v, a, b),  # one moves, and never cruises
        (ones, ones + [1.2, -1.0, 1.1], v, a, b),  # v, a and b of three different joints
        (ones, ones + [0.3, 0.0, -0.25], v, a, b),  # one at rest, one limited by acceleration
        (ones, ones, v, a, b),  # all at rest
        (zero, np.array([-2.5, 0.4, 0.0]), v, a, np.array([2.0, 3.0, 0.2])),  # a lazy one rests
        (zero, np.array([3.0, -0.5, 0.1]), 2 * v, np.array([6.0, 0.5, 4.0]), b),
        (zero, np.array([1.0, 1.0, 1.0]), np.array([0.5, 3, 3]), np.array([9, 1.0, 9]), 9 * ones),
    ]
    for _ in range(6):
        limits = (rng.uniform(*ends, 4) for ends in ((0.5, 2.5), (1.0, 6.0), (1.0, 9.0)))
        q0, way = rng.uniform(-2, 2, 4), rng.choice([0, 0.3, 2], 4) * rng.uniform(-1, 1, 4)
        cases.append((q0, q0 + way, *limits))
    return cases


def together(q0, q1, v_max, a_max, b_max, kind=""):
    """Duration and peak speeds: one s(t) for all joints, its limits the tightest on the line."""
    D = np.asarray(q1) - q0
    size, moves = np.abs(D), D != 0
    if not moves.any():
        return 0.0, 0 * D
    if kind == "lengths":
        size = np.full(len(D), np.linalg.norm(D))
    if kind == "largest way":
        size = np.full(len(D), size.max())
    a, b = {"a for both": (a_max, a_max), "b for both": (b_max, b_max)}.get(kind, (a_max, b_max))
    a, b = ((a + b) / 2, (a + b) / 2) if kind == "mean" else (a, b)
    if kind == "swapped back":
        a, b = np.where(D < 0, b, a), np.where(D < 0, a, b)
    limits = [each[moves] / size[moves] for each in (v_max, a, b)]
    if kind == "tightest":
        limits = [each.min() / size.max() for each in (v_max, a, b)]
    if kind in ("own", "slowest"):
        seconds = [ramps(*each)[0] for each in zip(*limits)]
        if kind == "own":
            own = np.array([ramps(*each)[1] for each in zip(*limits)])
            speeds = np.zeros(len(D))
            speeds[moves] = own * D[moves]
            return max(seconds), speeds
        limits = [[each[int(np.argmax(seconds))]] for each in limits]
    T, v = ramps(*(np.min(each) for each in limits), kind)
    return T, {"mean speeds": D / T, "signless": np.abs(D) * v}.get(kind, D * v)


def ramps(v, a, b, kind=""):
    """Duration and peak of a unit move that speeds up with a and brakes with b."""
    peak = np.sqrt(2 * a * b / (a + b))
    v = {"no triangle": v, "triangle": peak, "half": min(v, np.sqrt(a * b / (a + b)))}.get(
        kind, min(v, peak)
    )
    return 1 / v + v / 2 * (1 / a + 1 / b) * (2 if kind == "ramps twice" else 1), v


STEP_SAYS = {
    "own": "You time each joint for itself and take the longest. Then each has a shape of its own,"
    " and the motion leaves the straight line: one s(t) for all.",
    "slowest": "You take the limits of the joint that would need longest. On the line another one"
    " may have the tightest acceleration or braking: look for each limit by itself.",
    "a for both": "You brake with a_max. Braking has a limit of its own.",
    "b for both": "You speed up with b_max. That is the limit of braking.",
    "mean": "You take the mean of a_max and b_max. The ramps have different lengths: v/a and v/b.",
    "swapped back": "You exchange a_max and b_max for a joint that goes back. Speeding up is"
    " speeding up, whichever way it goes.",
    "lengths": "You divide by the length of the whole move. Each joint goes only its own share.",
    "largest way": "You let each joint go the largest way. On the line each goes only its own.",
    "tightest": "You put the smallest limit of any joint beside the largest way of any joint."
    " They may belong to different joints, even to one that rests.",
    "no triangle": "You always cruise at the speed limit. A short move never gets there.",
    "triangle": "You never cruise. A long move meets the speed limit.",
    "half": "Where there is no cruise, your peak is too low by √2: up and down, v²/2 (1/a + 1/b)"
    " is the whole way.",
    "ramps twice": "You count the ramps in full. While it ramps, the arm covers half of what it"
    " would at full speed.",
    "mean speeds": "Your duration is right. D/T are the mean speeds; the peaks are asked for.",
    "signless": "Sizes are right. A joint that goes back has a negative speed.",
}


def same_step(answer, expected, args):
    wanted = ("the duration", ()), ("the peak speeds", args[0].shape)
    T, speeds = parts(answer, *wanted)
    right, others = float(expected[0]), np.asarray(expected[1], float)
    said = close(CLOSE)(T, right)
    if said:
        return f"Your duration is {T:.5g} s, {right:.5g} s is right here."
    said = close(CLOSE)(speeds, others)
    return said and f"The duration is right, the peak speeds are not. {said}"


def by_bisection(q0, q1, v_max, a_max, b_max):
    """The highest peak of s that all limits and the way allow."""
    D = np.abs(q1 - q0)
    if D.max() == 0:
        return [0, list(D)]
    up, down = np.max(D / a_max), np.max(D / b_max)  # seconds of ramp for each 1/s of peak
    low, high = 0.0, 1 / np.max(D / v_max)
    for _ in range(80):
        v = (low + high) / 2
        low, high = (v, high) if v * v * (up + down) / 2 <= 1 else (low, v)
    return [(1 + high * high * (up + down) / 2) / high, ((q1 - q0) * high).tolist()]


STEP = Exercise(
    "together",
    points=3,
    cases=step_cases,
    truth=together,
    compare=same_step,
    alternatives=[
        by_bisection,
        lambda *case: (np.float32(together(*case)[0]), np.float32(by_bisection(*case)[1])),
        lambda *case: tuple(np.round(x, 5) for x in together(*case)),
        lambda *case: [np.array([together(*case)[0]]), tuple(by_bisection(*case)[1])],
    ],
    mistakes=variants(together, STEP_SAYS),
)


# ---------------------------------------------------------------- 4. how fast around a corner


def corner_cases(rng):
    """points, miss, v_max, a_max: one corner of each kind, then drawn ways."""
    right = np.array([[0.0, 0, 0], [0.3, 0, 0], [0.3, 0.4, 0]])
    sharp = np.array([[0.0, 0, 0.2], [0.4, 0, 0.2], [0.1, 0.1, 0.3]])
    blunt = np.array([[0.0, 0, 0], [0.3, 0.0, 0], [0.6, 0.02, 0.01]])
    back = np.array([[0.0, 0, 0], [0.3, 0, 0], [0.1, 0, 0], [0.1, 0.2, 0.1]])
    ahead = np.array([[0.1, 0, 0], [0.2, 0.1, 0], [0.4, 0.3, 0], [0.4, 0.3, 0.2]])
    short = np.array([[0.0, 0, 0], [0.3, 0, 0], [0.3, 0.008, 0], [0.6, 0.008, 0], [0.7, 0.3, 0]])
    cases = [
        (right, 0.004, 2.0, 2.0),
        (sharp, 0.004, 2.0, 2.0),
        (blunt, 0.0005, 0.3, 2.0),
        (blunt, 0.0005, 9.0, 2.0),
        (back, 0.002, 0.5, 3.0),
        (ahead, 0.002, 0.5, 3.0),
        (short, 0.003, 0.5, 3.0),
        (short[::-1].copy(), 0.003, 0.5, 3.0),
        (short, 0.006, 0.5, 3.0),
        (right[:, :2].copy(), 0.001, 0.3, 1.5),
        (right[:2], 0.001, 0.3, 1.5),  # no corner at all
    ]
    for _ in range(5):
        points = np.cumsum(rng.uniform(-0.2, 0.2, (6, 3)), axis=0)
        numbers = rng.uniform(0.0005, 0.01), rng.uniform(0.2, 0.8), rng.uniform(1, 4)
        cases.append((points, *map(float, numbers)))
    return cases


def corner_speeds(points, miss, v_max, a_max, kind=""):
    """Speeds (m-2,) around the corners, on arcs that touch both lines."""
    way = np.diff(points, axis=0)
    length = np.linalg.norm(way, axis=1)
    u = way / length[:, None]
    cosine = np.clip((u[1:] * u[:-1]).sum(axis=1), -1, 1)
    turn = np.arccos(-cosine if kind == "inner" else cosine)
    turn = np.degrees(turn) if kind == "degrees" else turn
    quarter = {"chord": turn / 2, "no quarter": turn}.get(kind, turn / 4)
    with np.errstate(divide="ignore", invalid="ignore"):
        d = miss / np.abs(np.tan(quarter))
        d = 4 * miss / np.linalg.norm(np.diff(u, axis=0), axis=1) if kind == "parabola" else d
        d = 0 * d + miss if kind == "d is miss" else d
        room = np.minimum(length[1:], length[:-1]) / (1 if kind == "whole lines" else 2)
        room = {"line before": length[:-1] / 2, "line after": length[1:] / 2}.get(kind, room)
        d = d if kind == "no room" else np.minimum(d, room)
        tangent = np.abs(np.tan(turn if kind == "whole angle" else turn / 2))
        r = d * tangent if kind == "upside down" else d / tangent
        r = {"r is miss": 0 * r + miss, "r is d": d}.get(kind, r)
        speed = a_max * r if kind == "no root" else np.sqrt(a_max * r)
    speed = {"half": speed / 2, "stops": 0 * speed}.get(kind, speed)
    return speed if kind == "no limit" else np.minimum(speed, v_max)


CORNER_SAYS = {
    "inner": "You take the angle between the lines. The tool *turns* by π minus that: straight on"
    " is a turn of 0.",
    "degrees": "tan wants radians.",
    "chord": "The arc misses the corner by d tan(turn/4), not d tan(turn/2).",
    "no quarter": "The arc misses the corner by d tan(turn/4), not d tan(turn).",
    "parabola": "That is the reach of a parabola. An arc of a circle misses the corner by more.",
    "d is miss": "You let the arc begin `miss` before the corner. It may begin earlier: it is the"
    " *corner* that it may miss by that much.",
    "no room": "An arc begins before its line does. Half a line is all that it may take.",
    "whole lines": "Two arcs share a line. Each may take half of it.",
    "line before": "You look at the line before the corner. The one after must have room as well.",
    "line after": "You look at the line after the corner. The one before must have room as well.",
    "whole angle": "From the corner to the arc it is r tan(turn/2): half the turn on either side.",
    "upside down": "r = d / tan(turn/2). Yours grows where the corner gets sharper.",
    "r is miss": "The radius is not what the arc misses the corner by. Draw the middle of the arc.",
    "r is d": "The radius equals d only where the turn is a right angle.",
    "no root": "Around an arc the acceleration is v²/r, so v is a root.",
    "half": "Twice that speed is allowed.",
    "stops": "You stop in each corner. Only a way straight back needs that.",
    "no limit": "On a flat arc you are faster than v_max.",
}


def same_speeds(answer, expected, args):
    right = np.asarray(expected, float)
    if np.shape(answer) == (len(args[0]),):
        raise Unreadable("One number for each corner: the first and the last point are none.")
    speeds = as_numbers(answer, right.shape, "the speeds")
    off = np.abs(speeds - right)
    if (off < CLOSE).all():
        return None
    i = int(off.argmax())
    best, said = (f"{np.round(value[i], 5):g} m/s" for value in (right, speeds))
    return f"At corner {i}, counted from 0, the largest speed is {best}; you say {said}."


def by_deviation(points, miss, v_max, a_max):
    """Half the inner angle, as controllers of machine tools do it, corner by corner."""
    speeds = []
    for a, p, b in zip(points, points[1:], points[2:]):
        u, w = (a - p) / np.linalg.norm(a - p), (b - p) / np.linalg.norm(b - p)
        sine, cosine = np.sqrt(max((1 - u @ w) / 2, 0)), np.sqrt(max((1 + u @ w) / 2, 0))
        r = np.inf if sine > 1 - 1e-15 else miss * sine / (1 - sine)
        room = min(np.linalg.norm(a - p), np.linalg.norm(b - p)) / 2
        r = min(r, room * sine / cosine) if cosine > 0 else r
        speeds.append(min(v_max, float(np.sqrt(a_max * r))))
    return speeds


CORNER = Exercise(
    "corner_speeds",
    points=2,
    cases=corner_cases,
    truth=corner_speeds,
    compare=same_speeds,
    alternatives=[
        by_deviation,
        lambda *case: np.float32(by_deviation(*case)),
        lambda *case: tuple(np.round(corner_speeds(*case), 5)),
        lambda points, *rest: corner_speeds(points[::-1], *rest)[::-1],
    ],
    mistakes=variants(corner_speeds, CORNER_SAYS),
)


# ---------------------------------------------------------------- 5. a plan on another clock


def clock_cases(rng):
    """t, q, qd, ticks, t_slow, factor: a plan by itself, then slowed down, then drawn ones."""
    t = np.array([5.0, 5.4, 6.1, 6.5, 7.5])
    q = np.array([[0, 0.5], [0.3, 0.4], [0.9, -0.2], [1.0, -0.3], [0.7, 0.1]])
    qd = np.array([[0, 0], [1.0, -0.6], [0.5, -0.7], [-0.2, 0.3], [0, 0]])
    every = 0.01 + np.arange(4.6, 9.4, 0.15)
    cases = [
        (t, q, qd, every, 20.0, 0.5),  # slowed down long after
        (t, q, qd, every, 6.3, 0.5),
        (t, q, qd, every, 5.9, 0.25),  # not done at the last tick
        (t, q, qd, every, 4.7, 0.5),  # slowed down before it began
        (t - 5, q, qd, every - 5, 1.0, 0.8),
        (t - 8, q, qd, every - 8, -1.9, 1.5),
    ]
    for _ in range(4):
        m, start = int(rng.integers(4, 8)), rng.uniform(-4, 9)
        t = start + np.r_[0, np.cumsum(rng.uniform(0.2, 1.0, m - 1))]
        q, qd = rng.uniform(-1, 1, (2, m, 3))
        qd[0] = qd[-1] = 0
        ticks = start + np.sort(rng.uniform(-0.5, 1.6 * (t[-1] - start), 25))
        slow = rng.uniform(start, t[-1])
        cases.append((t, q, qd, ticks, float(slow), float(rng.uniform(0.3, 0.9))))
    return cases


def on_clock(t, q, qd, ticks, t_slow, factor, kind=""):
    """Positions and speeds (k, n) at the ticks, by the plan's own clock."""
    late = ticks > t_slow
    clock = np.where(late, t_slow + factor * (ticks - t_slow), ticks)
    clock = {
        "not slowed": ticks,
        "from the start": t[0] + factor * (ticks - t[0]),
        "from zero": np.where(late, factor * ticks, ticks),
        "upside down": np.where(late, t_slow + (ticks - t_slow) / factor, ticks),
        "begins at zero": clock + t[0],
        "by the end": clock - t[-1] + t[0],
        "share of the end": t[0] + clock / t[-1] * (t[-1] - t[0]),
    }.get(kind, clock)
    inside = (clock > t[0]) & (clock < t[-1])
    if kind == "old end":
        clock = np.where(ticks > t[-1], t[-1], clock)
        inside &= ticks < t[-1]
    curve = plan_of(t, q, qd, kind)
    where = clock if kind == "runs on" else np.clip(clock, t[0], t[-1])
    speeds = curve(where, 1) * np.where(late, factor, 1.0)[:, None]
    speeds = curve(where, 1) if kind == "speeds of the plan" else speeds
    speeds = curve(where, 1) / np.where(late, factor, 1.0)[:, None] if kind == "divided" else speeds
    speeds = speeds if kind == "runs on" else speeds * inside[:, None]
    if kind == "differences":
        speeds = np.gradient(curve(where), ticks, axis=0)
    return curve(where), speeds


def plan_of(t, q, qd, kind):
    """The plan as a function of its clock and the order of the derivative."""
    if kind == "spline":
        return CubicSpline(t, q, bc_type="clamped")
    if kind == "lines":
        slope = np.diff(q, axis=0) / np.diff(t)[:, None]
        piece = lambda x: np.clip(np.searchsorted(t, x, side="right") - 1, 0, len(t) - 2)
        lines = lambda x: q[piece(x)] + (x - t[piece(x)])[:, None] * slope[piece(x)]
        return lambda x, order=0: slope[piece(x)] if order else lines(x)
    if kind == "held":
        piece = lambda x: np.clip(np.searchsorted(t, x, side="right") - 1, 0, len(t) - 1)
        return lambda x, order=0: (qd if order else q)[piece(x)]
    if kind == "even":
        t = np.linspace(t[0], t[-1], len(t))
    if kind == "unit slopes":
        own = [CubicHermiteSpline([0, 1], q[i : i + 2], qd[i : i + 2]) for i in range(len(t) - 1)]
        piece = lambda x: np.clip(np.searchsorted(t, x, side="right") - 1, 0, len(t) - 2)
        share = lambda x, i: (x - t[i]) / (t[i + 1] - t[i])
        return lambda x, order=0: np.array(
            [own[i](share(y, i), order) / (t[i + 1] - t[i]) ** order for y, i in zip(x, piece(x))]
        )
    return CubicHermiteSpline(t, q, qd)


CLOCK_SAYS = {
    "not slowed": "You leave the override out: from t_slow on, the plan's clock runs slower.",
    "from the start": "You slow the whole plan down. Up to t_slow it runs at its own speed.",
    "from zero": "At t_slow your plan jumps back: factor · t begins to count at 0. Count from"
    " t_slow: t_slow + factor (t - t_slow).",
    "upside down": "A factor of 0.5 makes your plan faster. Its clock runs at `factor`.",
    "begins at zero": "You read the plan as if it began at 0. Its times are times of the same"
    " clock as the ticks.",
    "by the end": "You read the plan as if it ended at 0. Its times are times of the same clock.",
    "share of the end": "t / t_end is the share of the way only for a plan that begins at 0.",
    "old end": "You stop at the old end. The plan is slower now, so it ends later.",
    "runs on": "Before its start and after its end the polynomials run away. The arm stands there.",
    "speeds of the plan": "Positions are right. Your speeds are those of the unslowed plan: when"
    " its clock runs at `factor`, they are `factor` times as large.",
    "divided": "Positions are right. A slower clock makes speeds smaller: multiply by factor.",
    "differences": "Positions are right. Speeds from differences of the ticks are rough; the plan"
    " has a derivative.",
    "spline": "You leave the planned speeds out: your spline chooses its own at the samples.",
    "lines": "You draw straight lines between the samples. The speeds then jump at each of them.",
    "held": "You hold each sample until the next. That is a staircase.",
    "even": "You take the samples as evenly spaced. Look at t.",
    "unit slopes": "Your pieces take the speeds as if each piece lasted one second: in the time of"
    " a piece, from 0 to 1, a slope is qd times its length.",
}


def same_motion(answer, expected, args):
    shape = len(args[3]), args[1].shape[1]
    q, qd = parts(answer, ("positions", shape), ("speeds", shape))
    for name, mine, right in (("positions", q, expected[0]), ("speeds", qd, expected[1])):
        off = np.abs(mine - np.asarray(right, float)).max(axis=1)
        if not (off < CLOSE).all():
            i = int(off.argmax())
            early = "Positions are right. " if name == "speeds" else ""
            return f"{early}At t = {args[3][i]:.4g} s the {name} are off by {off[i]:.4g}."
    return None


def by_pieces(t, q, qd, ticks, t_slow, factor):
    """Each tick in plain Python, by the four polynomials of Hermite."""
    rows, speeds = [], []
    for tick in ticks:
        x, pace = (tick, 1.0) if tick <= t_slow else (t_slow + factor * (tick - t_slow), factor)
        i = next((i for i in range(len(t) - 1) if t[i] <= x < t[i + 1]), None)
        if i is None:
            rows.append(q[0] if x < t[0] else q[-1])
            speeds.append([0.0] * q.shape[1])
            continue
        h = t[i + 1] - t[i]
        s = (x - t[i]) / h
        d, a, b = q[i + 1] - q[i], h * qd[i], h * qd[i + 1]
        rows.append(q[i] + a * s + (3 * d - 2 * a - b) * s**2 + (a + b - 2 * d) * s**3)
        slope = a + 2 * (3 * d - 2 * a - b) * s + 3 * (a + b - 2 * d) * s**2
        speeds.append(pace * slope / h)
    return np.array(rows), np.array(speeds)


CLOCK = Exercise(
    "on_clock",
    points=2,
    cases=clock_cases,
    truth=on_clock,
    compare=same_motion,
    alternatives=[
        by_pieces,
        lambda *case: np.stack(by_pieces(*case)),
        lambda *case: [part.tolist() for part in by_pieces(*case)],
        lambda *case: tuple(np.float32(on_clock(*case))),
        lambda *case: tuple(np.round(by_pieces(*case), 5)),
    ],
    mistakes=variants(on_clock, CLOCK_SAYS),
)

EXERCISES = [SOFT_DURATION, TIMING, STEP, CORNER, CLOCK]
