"""Checkpoints of lesson 06: room on a line, a lost wish, the nearest tip, a delay, honest steps."""

import numpy as np
from scipy.linalg import null_space
from scipy.optimize import linprog

from course_lib.arm import load_arm
from course_lib.check import Exercise, Mistake, as_numbers, in_mm, parts
from course_lib.kinematics import jacobian

COBOT6, PANDA = load_arm("cobot6"), load_arm("panda")

# ---------------------------------------------------------------- room


def room_cases(rng):
    """Panda along its spare direction; a joint without a part; a joint at its limit; two joints."""
    low, high = PANDA.q_min, PANDA.q_max
    q = np.array([0.3, 0.2, -0.3, -1.9, 0.2, 2.0, 0.5])
    v = np.linalg.svd(jacobian(PANDA, q))[2][-1]
    lopsided = np.array([-1.0, -0.5]), np.array([0.2, 2.0])
    at_limit = q.copy()
    at_limit[3] = high[3]
    cases = [
        (np.array([0.0, 0.0]), np.array([1.0, -0.5]), *lopsided),
        (np.array([0.1, 0.3]), np.array([0.0, -0.8]), *lopsided),
        (np.array([0.0, 0.0]), np.array([0.6, 0.8]), *lopsided),
        (np.array([-0.2, 1.5]), np.array([-0.9, 0.1]), *lopsided),
        (q, v, low, high),
        (at_limit, v, low, high),
    ]
    drawn = rng.uniform(low, high, (3, 7))
    return cases + [(x, np.linalg.svd(jacobian(PANDA, x))[2][-1], low, high) for x in drawn]


def room(q, v, q_min, q_max):
    moves = v != 0
    ends = np.sort([(limit[moves] - q[moves]) / v[moves] for limit in (q_min, q_max)], axis=0)
    return ends[0].max(), ends[1].min()


def same_room(answer, expected, args):
    back, forth = parts(answer, ("back", ()), ("forth", ()))
    if abs(back - expected[0]) < 1e-5 and abs(forth - expected[1]) < 1e-5:
        return None
    q, v, q_min, q_max = args
    if back > forth:
        return "The first number should be the least, the second the largest."
    for name, s in (("back", back), ("forth", forth)):
        beyond = np.maximum(q_min - (q + s * v), q + s * v - q_max)
        if beyond.max() > 1e-6:
            worst = int(beyond.argmax())
            return (
                f"At s = {s:.4g} ({name}) joint {worst + 1} is {beyond[worst]:.2g} beyond a limit."
            )
    return "It could go further: at your ends no joint has met its limit yet."


def room_any_sign(q, v, q_min, q_max):
    """As if every part of v were positive."""
    moves = v != 0
    size = np.abs(v[moves])
    return ((q_min - q)[moves] / size).max(), ((q_max - q)[moves] / size).min()


def room_unsorted(q, v, q_min, q_max):
    moves = v != 0
    low, high = ((limit - q)[moves] / v[moves] for limit in (q_min, q_max))
    return low.max(), high.min()


def room_of_any(q, v, q_min, q_max):
    moves = v != 0
    ends = np.sort([(limit[moves] - q[moves]) / v[moves] for limit in (q_min, q_max)], axis=0)
    return ends[0].min(), ends[1].max()


def room_of_largest(q, v, q_min, q_max):
    i = int(np.abs(v).argmax())
    return tuple(sorted([(q_min[i] - q[i]) / v[i], (q_max[i] - q[i]) / v[i]]))


def room_by_halving(q, v, q_min, q_max):
    """Each side by bisection."""

    def end(way):
        low, high = 0.0, 1e3
        for _ in range(80):
            s = (low + high) / 2
            x = q + way * s * v
            fits = ((q_min - 1e-12 <= x) & (x <= q_max + 1e-12)).all()
            low, high = (s, high) if fits else (low, s)
        return way * low

    return np.array([end(-1), end(1)])


def room_by_programme(q, v, q_min, q_max):
    """Least and largest s under 2n inequalities, by linear programming."""
    A, b = np.r_[v, -v][:, None], np.r_[q_max - q, q - q_min]
    return [linprog([way], A, b, bounds=(None, None)).x[0] for way in (1, -1)]


ROOM = Exercise(
    "room",
    cases=room_cases,
    truth=room,
    compare=same_room,
    mistakes=[
        Mistake(
            room_any_sign,
            "You divide by the size of each part of v. A joint with a negative part moves down when"
            " s grows: it meets its lower limit first.",
        ),
        Mistake(
            room_unsorted,
            "You take the lower limit for the way back of every joint. Where v is negative the two"
            " limits change places: sort the two ends of each joint.",
        ),
        Mistake(
            room_of_any,
            "You go on until the last joint meets its limit. The first one stops the arm.",
        ),
        Mistake(
            room_of_largest,
            "You look at the joint with the largest part of v alone. A slow joint that stands close"
            " to its limit may stop first.",
        ),
        Mistake(
            lambda q, v, a, b: (-room(q, v, a, b)[1], -room(q, v, a, b)[0]),
            "You walked along -v: back and forth have changed places.",
        ),
        Mistake(
            lambda q, v, a, b: room(q, np.sign(v), a, b),
            "You move all joints equally fast. Joint i moves by s times its part v[i].",
        ),
        Mistake(
            lambda q, v, a, b: (0.0, room(q, v, a, b)[1]),
            "The way back counts, too: s may be negative.",
        ),
        Mistake(
            lambda q, v, a, b: (-min(np.abs(room(q, v, a, b))), min(np.abs(room(q, v, a, b)))),
            "You give the same room on both sides, the smaller of the two.",
        ),
    ],
    alternatives=[
        room_by_halving,
        room_by_programme,
        lambda q, v, a, b: list(room(q, v, a, b)),
    ],
)

# ---------------------------------------------------------------- lost


def lost_cases(rng):
    """Point and turn of both arms, singular too; a task twice; rows that depend; tasks apart."""
    regular = jacobian(COBOT6, [0.3, 0.9, -0.4, 0.7, 1.1, 0.2])
    wrist = jacobian(COBOT6, [0.3, 0.9, -0.4, 0.3, 0.0, 0.1])
    seven = jacobian(PANDA, rng.uniform(PANDA.q_min, PANDA.q_max))
    x, y, z = np.eye(3)
    return [
        (np.array([x, y]), np.array([y, z])),
        (np.array([x]), np.array([y, z])),
        (np.array([x, x]), np.array([x])),
        (np.array([x, y]), np.array([x + y, 2 * (x + y)])),
        (regular[:3], regular[3:]),
        (wrist[:3], wrist[3:]),
        (seven, np.eye(7)),
        (seven[:3], seven[:5]),
        (np.zeros((1, 3)), np.array([x, y])),
    ]


def rank(A):
    return int(np.linalg.matrix_rank(A, tol=1e-9))


def lost(J1, J2):
    return rank(J1) + rank(J2) - rank(np.vstack([J1, J2]))


def same_number(answer, expected, args):
    count = float(as_numbers(answer, ()))
    if count == expected:
        return None
    if count != round(count) or count < 0:
        return "It is a count of directions: a whole number, 0 or more."
    J1, J2 = args
    return (
        f"Task 2 alone moves {rank(J2)} directions; with task 1 kept it can move"
        f" {rank(J2) - expected}, so {expected} are lost."
    )


def lost_by_projector(J1, J2):
    N = np.eye(J1.shape[1]) - np.linalg.pinv(J1, rcond=1e-9) @ J1
    return np.array(rank(J2) - rank(J2 @ N))


def lost_by_null_space(J1, J2):
    free = null_space(J1, rcond=1e-9) if J1.any() else np.eye(J1.shape[1])
    return rank(J2) - (rank(J2 @ free) if free.size else 0)


LOST = Exercise(
    "lost",
    cases=lost_cases,
    truth=lost,
    compare=same_number,
    mistakes=[
        Mistake(
            lambda J1, J2: max(0, len(J1) + len(J2) - J1.shape[1]),
            "You count rows against joints. Rows may depend on one another, and two tasks may want"
            " the same direction although joints are plenty: ask for ranks.",
        ),
        Mistake(
            lambda J1, J2: len(J1) + len(J2) - rank(np.vstack([J1, J2])),
            "You count rows in place of ranks: a row that says what another says asks for nothing"
            " new.",
        ),
        Mistake(
            lambda J1, J2: rank(J2) - lost(J1, J2),
            "That is how many directions task 2 still has. The question is how many are lost.",
        ),
        Mistake(
            lambda J1, J2: len(J2) - (rank(J2) - lost(J1, J2)),
            "You count from the rows of J2. A direction that task 2 could not move even alone is"
            " not lost by task 1.",
        ),
        Mistake(
            lambda J1, J2: rank(np.vstack([J1, J2])) - rank(J2),
            "That is what task 1 adds to task 2. Turn it round: what is missing when both stand"
            " together, of what each has alone?",
        ),
        Mistake(
            lambda J1, J2: int(bool(lost(J1, J2))),
            "Whether something is lost, and not how much.",
        ),
        Mistake(
            lambda J1, J2: rank(J1),
            "Task 1 takes as many directions of the joints as its rank. Not each of them is one"
            " that task 2 needs.",
        ),
        Mistake(
            lambda J1, J2: rank(J1 @ J2.T),
            "J1 J2^T says whether the two overlap, not whether one lies within the other: two"
            " tasks at 45 degrees overlap, and both can be had.",
        ),
    ],
    alternatives=[
        lost_by_projector,
        lost_by_null_space,
        lambda J1, J2: float(lost(J1, J2)),
    ],
)

# ---------------------------------------------------------------- nearest_tip


def tip_cases(rng):
    """Out of reach, in the hole, in between, the base itself, one link, the rims."""
    fixed = [
        ([2.0, 2.0, 2.0], [6.0, 8.0]),
        ([3.0, 1.0, 1.0], [0.3, -0.4]),
        ([3.0, 1.0, 1.0], [0.0, 0.0]),
        ([1.0, 1.0, 3.0], [-0.1, 0.2]),
        ([1.0, 1.0], [0.0, 0.0]),
        ([2.0, 1.5, 1.0], [-1.0, 2.0]),
        ([0.7], [0.1, 0.0]),
        ([0.5, 2.0], [-0.9, -1.2]),
    ]
    drawn = [(rng.uniform(0.2, 2, 3), rng.uniform(-4, 4, 2)) for _ in range(4)]
    return [(np.array(a, float), np.array(b, float)) for a, b in fixed + drawn]


def pulled_into(low, lengths, target):
    """The target's distance pulled into a ring from `low` to the sum of the lengths."""
    far = np.hypot(*target)
    toward = target / far if far > 0 else np.array([1.0, 0.0])
    return np.clip(far, low, lengths.sum()) * toward


def ring_of(lengths):
    return max(0.0, 2 * lengths.max() - lengths.sum()), lengths.sum()


def nearest_tip(lengths, target):
    return pulled_into(ring_of(lengths)[0], lengths, target)


def same_tip(answer, expected, args):
    lengths, target = args
    tip = as_numbers(answer, (2,))
    if np.linalg.norm(tip - expected) < 1e-6:
        return None
    low, high = ring_of(lengths)
    far = np.hypot(*tip)
    if far > high + 1e-6:
        return f"{in_mm(far)} from the base: stretched, the chain reaches {in_mm(high)}."
    if far < low - 1e-6:
        return (
            f"{in_mm(far)} from the base lies in the hole: the longest link is"
            f" {in_mm(low)} longer than all others together."
        )
    if not target.any() and abs(far - low) < 1e-6:
        return "It is as near as any. The task asks for the one on the x axis, x > 0."
    gaps = [np.linalg.norm(x - target) for x in (tip, expected)]
    return f"The tip can come nearer to the target, by {in_mm(gaps[0] - gaps[1])}."


def tip_by_complex(lengths, target):
    z = complex(*target)
    angle = np.angle(z) if z else 0.0
    low, high = ring_of(np.array(sorted(lengths)))
    end = min(max(abs(z), low), high) * np.exp(1j * angle)
    return [end.real, end.imag]


def tip_link_by_link(lengths, target):
    """The ring grows with each link: a ring of radii plus and minus the next one's length."""
    low = high = 0.0
    for length in lengths:
        low, high = max(0.0, low - length, length - high), high + length
    far = np.hypot(*target)
    return np.clip(far, low, high) * (target / far if far else np.array([1.0, 0.0]))


TIP = Exercise(
    "nearest_tip",
    cases=tip_cases,
    truth=nearest_tip,
    compare=same_tip,
    mistakes=[
        Mistake(
            lambda lengths, target: nearest_tip(np.array([lengths.sum() / 2] * 2), target),
            "You know the outer circle only. If one link is longer than all others together, the"
            " tip can't come near the base.",
        ),
        Mistake(
            lambda a, target: pulled_into(max(0.0, 2 * a[0] - a.sum()), a, target),
            "You take the first link for the longest. The hole depends on the longest, wherever it"
            " stands in the chain.",
        ),
        Mistake(
            lambda a, target: pulled_into(a.max() - a.min(), a, target),
            "The hole is not the longest less the shortest: all other links together reach back.",
        ),
        Mistake(
            lambda lengths, target: nearest_tip(lengths, 1e6 * target),
            "You always stretch the chain. A target within reach is its own nearest tip.",
        ),
        Mistake(
            lambda lengths, target: target,
            "You return the target itself. Ask first whether the chain reaches it.",
        ),
    ],
    alternatives=[
        tip_by_complex,
        tip_link_by_link,
        lambda lengths, target: nearest_tip(np.array(lengths)[::-1], np.array(target)).tolist(),
    ],
)

# ---------------------------------------------------------------- lateness

PERIODS = np.arange(80)


def log(command, late, offset, rng):
    """A log as it would be: the command late, from a stand, with offset and a little noise."""
    shifted = np.r_[np.full(late, command[0]), command[: len(command) - late]]
    return command, shifted + offset + rng.normal(0, 2e-4, len(command))


def lateness_cases(rng):
    ramp = 0.2 + 0.02 * np.maximum(PERIODS - 10, 0)
    s = np.clip((PERIODS - 20) / 30, 0, 1)
    move = 0.5 + 1.2 * (10 * s**3 - 15 * s**4 + 6 * s**5)
    wave = 0.4 * np.sin(PERIODS / 6)
    return [
        log(ramp, 2, 0.0, rng),
        log(ramp, 3, 0.05, rng),
        log(move, 0, -0.03, rng),
        log(move, 10, 0.2, rng),
        log(wave, 5, -0.1, rng),
        log(-move, 1, 0.01, rng),
        log(wave + move, int(rng.integers(0, 11)), 0.02, rng),
    ]


def mismatch(commanded, measured, d):
    shifted = np.r_[np.full(d, commanded[0]), commanded[: len(commanded) - d]]
    return measured - shifted


def lateness(commanded, measured):
    return min(range(11), key=lambda d: float(np.std(mismatch(commanded, measured, d))))


def same_lateness(answer, expected, args):
    d = float(as_numbers(answer, ()))
    if d == expected:
        return None
    if d != round(d) or not 0 <= d <= 10:
        return "It is a whole number of periods, from 0 to 10."
    rest = [np.std(mismatch(*args, int(k))) for k in (d, expected)]
    return (
        f"With the command {d:g} periods late the rest still varies by {rest[0]:.2g} rad;"
        f" with another number by {rest[1]:.2g} rad."
    )


def by_size(commanded, measured):
    return min(range(11), key=lambda d: float(np.abs(mismatch(commanded, measured, d)).mean()))


def other_way(commanded, measured):
    size = lambda d: float(np.std(measured[: len(measured) - d] - commanded[d:]))
    return min(range(11), key=size)


def by_rolling(commanded, measured):
    return min(range(11), key=lambda d: float(np.std(measured - np.roll(commanded, d))))


def by_differences(commanded, measured):
    """Steps instead of angles: an offset has no part in them."""
    a, b = np.diff(commanded), np.diff(measured)
    gaps = [np.sum((b - np.r_[np.zeros(d), a[: len(a) - d]]) ** 2) for d in range(11)]
    return np.argmin(gaps)


LATENESS = Exercise(
    "lateness",
    cases=lateness_cases,
    truth=lateness,
    compare=same_lateness,
    mistakes=[
        Mistake(
            by_size,
            "You compare the angles as they are. A constant offset hides the delay, or invents one:"
            " look at what is not constant in the difference.",
        ),
        Mistake(
            other_way,
            "You shift the measurement back from the future: it is late, so it shows an older"
            " command.",
        ),
        Mistake(
            by_rolling,
            "np.roll brings the end of the log round to its beginning. Before the log the joint"
            " stood at its first command: put that in front.",
        ),
        Mistake(
            lambda c, m: -lateness(c, m),
            "The sign: a measurement that is late is a positive number of periods old.",
        ),
        Mistake(
            lambda c, m: lateness(c, m) + 1,
            "One too many: a measurement that shows the command of this period is 0 periods late.",
        ),
        Mistake(
            lambda c, m: int(np.clip(np.argmax(m) - np.argmax(c), 0, 10)),
            "You compare where the two are largest. A joint that holds its last angle is largest"
            " for many periods, and noise decides which: use the whole log.",
        ),
    ],
    alternatives=[by_differences, lambda c, m: np.array([lateness(c, m)])],
)

# ---------------------------------------------------------------- needed


def needed_cases(rng):
    """Half and 95 %; failures with few steps; too many failures; shares that fall between."""
    ten = np.array([4, 7, 3, 9, 30, 5, 6, 2, 30, 8])
    eleven = np.r_[ten, 12]
    quick_failures = np.array([True, True, False, True, False, True, True, False, True, True])
    ok = ten < 30
    size = 40
    return [
        (ok, ten, 0.5),
        (ok, ten, 0.95),
        (quick_failures, ten, 0.5),
        (quick_failures, ten, 0.7),
        (quick_failures, ten, 0.8),
        (eleven < 30, eleven, 0.5),
        (np.ones(10, bool), ten, 1.0),
        (np.zeros(4, bool), np.array([1, 2, 3, 4]), 0.5),
        (rng.uniform(size=size) < 0.8, rng.integers(1, 60, size), 0.6),
        (np.ones(size, bool), rng.integers(1, 60, size), 0.95),
    ]


def needed(success, steps, share):
    counts = np.sort(np.where(success, steps, np.inf))
    last = int(np.ceil(share * len(counts) - 1e-9)) - 1
    return None if counts[last] == np.inf else float(counts[last])


def same_needed(answer, expected, args):
    success, steps, share = args
    if expected is None:
        if answer is None:
            return None
        return (
            f"Only {np.mean(success):.0%} of all were solved, and {share:.0%} are asked for: None."
        )
    if answer is None:
        return f"{np.mean(success):.0%} of all were solved: enough for {share:.0%}."
    count = float(as_numbers(answer, ()))
    if count == expected:
        return None
    inside = np.sum(success & (steps <= count))
    return (
        f"Within {count:g} steps {inside} of {len(steps)} targets were solved; a share of"
        f" {share:g} was asked for, in as few steps as that takes."
    )


def of_solved(success, steps, share):
    counts = np.sort(steps[success])
    if not len(counts):
        return None
    return counts[int(np.ceil(share * len(counts) - 1e-9)) - 1]


def all_alike(success, steps, share):
    return np.sort(steps)[int(np.ceil(share * len(steps) - 1e-9)) - 1]


def between(success, steps, share):
    counts = np.where(success, steps, 1e9)
    value = np.quantile(counts, share)
    return None if value > 1e6 else value


def failures_longest(success, steps, share):
    return all_alike(success, np.where(success, steps, steps.max()), share)


def by_trying(success, steps, share):
    for count in sorted(set(steps.tolist())):
        if np.sum(success & (steps <= count)) >= share * len(steps) - 1e-9:
            return count
    return None


def one_too_far(success, steps, share):
    counts = np.sort(np.where(success, steps, np.inf))
    value = counts[min(int(share * len(counts) + 1e-9), len(counts) - 1)]
    return None if value == np.inf else value


NEEDED = Exercise(
    "needed",
    cases=needed_cases,
    truth=needed,
    compare=same_needed,
    mistakes=[
        Mistake(
            of_solved,
            "You leave the failures out. Then a solver that solves one easy target in two steps"
            " looks best of all: count them, as never.",
        ),
        Mistake(
            all_alike,
            "You count the steps of a failure as if they had led to something. A failure is not"
            " solved within any number.",
        ),
        Mistake(
            between,
            "You take a quantile that lies between two targets. Steps are whole, and the number"
            " must be enough for the share.",
        ),
        Mistake(
            one_too_far,
            "One target too many: if five are enough, the fifth is entry 4, counted from 0.",
        ),
        Mistake(
            failures_longest,
            "You give failures the longest number of steps. Then a share that was never reached"
            " still gets a number.",
        ),
        Mistake(
            lambda success, steps, share: float(np.mean(steps[success])) if success.any() else None,
            "That is a mean of those that were solved. The share asked for plays no part in it.",
        ),
    ],
    alternatives=[
        by_trying,
        lambda success, steps, share: needed(list(success), list(steps), share),
    ],
)

EXERCISES = [ROOM, LOST, TIP, LATENESS, NEEDED]
