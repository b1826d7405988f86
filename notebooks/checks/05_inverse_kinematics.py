"""Checkpoints of lesson 05: a rail, the other wrist, the least damping, restarts, an audit."""

from dataclasses import replace

import numpy as np
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

from course_lib import ik
from course_lib.arm import load_arm
from course_lib.check import Exercise, Mistake, Unreadable, as_numbers, in_mm, numbers_in
from course_lib.kinematics import fk, jacobian
from course_lib.poses import inverse, pose

PI = np.pi
COBOT6, PANDA = load_arm("cobot6"), load_arm("panda")


def around(angle):
    """The same angle between -pi and pi."""
    return np.arctan2(np.sin(angle), np.cos(angle))


# ---------------------------------------------------------------- rail

EDGE = 1e-9  # [m] as the task says
NEAR_THE_EDGE = (7e-10, -7e-10, 2e-9, -2e-9)  # [m] on it twice; beyond; within reach


def rail_cases(rng):
    """Link, target: two postures, the edges with and without rounding, none, drawn ones."""
    fixed = [
        (0.5, 0.8, 0.3),
        (0.5, -0.4, -0.2),
        (0.5, 0.7, 0.5),
        (0.3, 0.2, 0.1 + 0.2),
        (0.3, 0.2, -0.1 - 0.2),
        (0.4, 0.1, 0.9),
        (0.4, 0.1, -0.401),
        (0.6, 0.0, 0.0),
        *((0.2, 0.1, side * (0.2 + gap)) for gap in NEAR_THE_EDGE for side in (1, -1)),
    ]
    drawn = [(a, rng.uniform(-1, 1), a * rng.uniform(-0.9, 0.9)) for a in rng.uniform(0.2, 0.8, 5)]
    return fixed + [tuple(map(float, case)) for case in drawn]


def rail(a, x, y):
    if abs(y) > a + EDGE:
        return []
    if abs(y) > a - EDGE:
        return [(x, PI / 2 if y > 0 else -PI / 2)]
    turn = np.arcsin(y / a)
    return [(x - a * np.cos(t), t) for t in (turn, PI - turn)]


def rail_rows(answer):
    """The answer as (k, 2), k = 0 too."""
    array = numbers_in(answer)
    if array is not None and array.size == 0:
        return np.empty((0, 2))
    if array is None or array.ndim != 2 or array.shape[1] != 2:
        raise Unreadable("Expected a list of postures, each with two numbers: slide and turn.")
    return as_numbers(answer, array.shape)


def same_rail(answer, expected, args):
    """The same postures in any order and any turn; what is wrong is said by what they do."""
    (a, x, y), rows, right = args, rail_rows(answer), rail_rows(expected)
    off = abs(y) - a
    where = f"the target is {in_mm(abs(off))} {'beyond' if off > 0 else 'within'} the link's length"
    gaps = np.abs(rows[:, None] - right)
    gaps[..., 1] = np.abs(around(rows[:, None, 1] - right[..., 1]))
    near = gaps.max(axis=-1, initial=0.0) < (1e-4 if len(right) == 1 else 1e-5)
    if len(rows) == len(right) and near.any(axis=0).all() and near.any(axis=1).all():
        return None
    if not len(right):
        return f"Here {where}: no posture."
    for i, (s, t) in enumerate(rows):
        off = np.hypot(s + a * np.cos(t) - x, a * np.sin(t) - y)
        if not off < 1e-6:
            return f"In posture {i}, counted from 0, the hand is off by {in_mm(off)}."
    if len(right) == 1 and len(rows) > 1:
        return f"Here {where if off else 'it is as far as the link is long'}: one posture."
    return f"Different postures: {len(right)} ({where}); you give {len(rows)}."


def rail_without(a, x, y):
    """No cure for the edge: NumPy's NaN becomes no posture there."""
    with np.errstate(invalid="ignore"):
        turn = np.arcsin(y / a)
    both = [(x - a * np.cos(t), t) for t in (turn, PI - turn)]
    return both if np.isfinite(turn) else []


def rail_clipped(a, x, y):
    turn = np.arcsin(np.clip(y / a, -1, 1))
    rows = [(x - a * np.cos(t), t) for t in (turn, PI - turn)]
    return rows[:1] if abs(y) > a - EDGE else rows


RAIL = Exercise(
    "rail",
    cases=rail_cases,
    truth=rail,
    compare=same_rail,
    mistakes=[
        Mistake(
            lambda a, x, y: rail(a, x, y)[:1],
            "One posture is missing: arcsin gives one angle, and another one has the same sine.",
        ),
        Mistake(
            lambda a, x, y: [(s, way * t) for s, t in rail(a, x, y)[:1] for way in (1, -1)],
            "The second angle is not -t: that changes the sign of the sine, and the hand goes to"
            " -y. The same sine has pi - t.",
        ),
        Mistake(
            rail_without,
            "Rounding can make y / a a little larger than 1, and then there is an answer all the"
            " same: the link stands across the rail.",
        ),
        Mistake(
            rail_clipped,
            "You clip the sine to 1 and give a posture for a target that is out of reach.",
        ),
        Mistake(
            lambda a, x, y: [(s, np.degrees(t)) for s, t in rail(a, x, y)],
            "Your angles are in degrees. The course uses radians.",
        ),
        Mistake(
            lambda a, x, y: [(t, s) for s, t in rail(a, x, y)],
            "Slide first, then turn: you have them the other way round.",
        ),
        Mistake(
            lambda a, x, y: [(x + a * np.cos(t), t) for _, t in rail(a, x, y)],
            "The slide stands *before* the hand: the link goes from it to the target by a cos t, so"
            " take that off x.",
        ),
    ],
    alternatives=[
        lambda a, x, y: rail_clipped(a, x, y) if rail(a, x, y) else [],
        lambda a, x, y: [(s, t + 2 * PI) for s, t in rail(a, x, y)][::-1],
        lambda a, x, y: np.array(rail(a, x, y)).reshape(-1, 2),
    ],
)

# ---------------------------------------------------------------- flip_wrist

WIDE = np.full(6, 2 * PI)
FIRST, LAST = slice(None, 3), slice(3, None)


def flip_cases(rng):
    """Posture and limits: cobot6's, wide ones, lopsided ones, and some in which no turn fits."""
    low, high = COBOT6.q_min, COBOT6.q_max
    lopsided = np.array([-3, -3, -3, 0.0, -2.0, -6.0]), np.array([3, 3, 3, 6.5, 2.0, 0.5])
    cases = [
        (np.array([0.3, 0.5, -0.4, 0.7, -0.6, 0.9]), low, high),
        (np.array([0.3, 0.5, -0.4, 0.5, -0.6, 0.9]), low, high),
        (np.array([0.3, 0.5, -0.4, -0.9, 1.2, -1.5]), low, high),
        (np.array([0.3, 0.5, -0.4, 0.1, 0.6, -0.1]), -WIDE, WIDE),
        (np.array([-2.9, 0.5, -0.4, 4.0, 0.6, -3.5]), -WIDE, WIDE),
        (np.array([0.3, 0.5, -0.4, 1.0, 0.6, -0.5]), *lopsided),
        (np.array([0.3, 0.5, -0.4, 5.5, -1.5, 0.2]), *lopsided),
        (np.array([0.3, 0.5, -0.4, 1.0, 2.5, -0.5]), np.array([-3, -3, -3, -3, -2.0, -3]), WIDE),
    ]
    drawn = [(rng.uniform(low, high), low, high) for _ in range(4)]
    return cases + [(rng.uniform(-3, 3, 6), -WIDE, WIDE) for _ in range(2)] + drawn


def flipped(q, q_min, q_max, other=None):
    """The other wrist in the turns nearest to zero that lie within the limits, or None."""
    other = np.array([q[3] + PI, -q[4], q[5] + PI]) if other is None else other
    turns = other + 2 * PI * np.arange(-4, 5)[:, None]
    allowed = (q_min[LAST] <= turns) & (turns <= q_max[LAST])
    if not allowed.any(axis=0).all():
        return None
    best = np.where(allowed, np.abs(turns), np.inf).argmin(axis=0)
    return np.r_[q[FIRST], turns[best, range(3)]]


def same_flip(answer, expected, args):
    q, q_min, q_max = args
    if expected is None:
        return None if answer is None else "No turn of some joint lies within its limits: None."
    if answer is None:
        return "It is None, but each joint has a turn within its limits."
    answer = as_numbers(answer, (6,))
    if np.abs(answer - expected).max() < 1e-5:
        return None
    there, here = fk(COBOT6, answer), fk(COBOT6, q)
    if np.abs(answer[FIRST] - q[FIRST]).max() > 1e-6:
        return "Joints 1 to 3 must stay where they are."
    if not np.abs(there - here).max() < 1e-5:
        off = np.abs(there - here).max()
        return f"The tool does not stay: entries of cobot6's pose are off by up to {off:.2g}."
    if np.abs(around(answer[4] - q[4])) < 1e-5 < np.abs(around(q[4])):
        return "That is the same wrist, in other turns."
    bad = [str(i + 1) for i in range(6) if not q_min[i] - 1e-6 <= answer[i] <= q_max[i] + 1e-6]
    if bad:
        return f"Out of the limits: joint {', '.join(bad)}. Another turn of it lies within."
    return "A turn nearer to zero lies within the limits, too."


def none_fits(q, q_min, q_max):
    """Always an answer: the turn nearest to zero, whatever the limits."""
    return flipped(q, np.full(6, -PI), np.full(6, PI))


def only_plus(q, q_min, q_max):
    row = np.r_[q[FIRST], q[3] + PI, -q[4], q[5] + PI]
    return row if ((q_min <= row) & (row <= q_max)).all() else None


def wrapped_then_none(q, q_min, q_max):
    row = flipped(q, np.full(6, -PI), np.full(6, PI))
    return row if ((q_min <= row) & (row <= q_max)).all() else None


FLIP = Exercise(
    "flip_wrist",
    cases=flip_cases,
    truth=flipped,
    compare=same_flip,
    mistakes=[
        Mistake(
            none_fits,
            "You wrap to ±180° and never look at the limits. A joint may have a range that is not"
            " symmetric, or smaller; then take another turn, or return None.",
        ),
        Mistake(
            wrapped_then_none,
            "You wrap to ±180° and give up where a limit is broken then. A joint that may turn"
            " further can hold the same posture a full turn on: try its other turns first.",
        ),
        Mistake(
            only_plus,
            "You add pi to q4 and q6. Half a turn back is the same posture, and may lie within the"
            " limits where half a turn on does not.",
        ),
        Mistake(
            lambda q, a, b: flipped(q, a, b, np.array([q[3] + PI, q[4] + PI, q[5] + PI])),
            "Joint 5 changes its sign, not its direction: cos q5 must stay, and cos(q5 + pi) is"
            " -cos q5.",
        ),
        Mistake(
            lambda q, a, b: flipped(q, a, b, np.array([q[3], -q[4], q[5]])),
            "With q5 alone changed the tool points elsewhere: q4 and q6 must go half a turn each.",
        ),
        Mistake(
            lambda q, a, b: flipped(q, a, b, np.array([q[3] + PI, -q[4], q[5]])),
            "The tool points the right way now, but it is turned about its axis by half a turn: q6"
            " has to take that back.",
        ),
        Mistake(
            lambda q, a, b: flipped(q, a, b, q[LAST]),
            "You return the wrist that the arm has already.",
        ),
        Mistake(
            lambda q, a, b: np.r_[q[FIRST], q[3] + PI, -q[4], q[5] + PI],
            "You leave the turns as they come. A drive takes angles within its limits only, and"
            " there may be none.",
        ),
    ],
    alternatives=[
        lambda q, a, b: flipped(q, a, b, np.array([q[3] - PI, -q[4], q[5] + 3 * PI])),
        lambda q, a, b: None if flipped(q, a, b) is None else flipped(q, a, b).tolist(),
    ],
)

# ---------------------------------------------------------------- least_damping


def damping_cases(rng):
    """J, e and the longest step: short steps, long ones, singular J, seven joints."""
    stretched = jacobian(COBOT6, [0.2, 0.4, np.arctan2(0.28, 0.05), 0.3, 1.0, 0.1])
    lost = np.linalg.svd(stretched)[0][:, 5]
    regular = jacobian(COBOT6, [0.3, 0.9, -0.1, 0.7, 1.1, 0.2])
    seven = jacobian(PANDA, rng.uniform(PANDA.q_min, PANDA.q_max))
    e = np.array([0.05, -0.02, 0.03, 0.1, -0.2, 0.1])
    almost = jacobian(COBOT6, [0.3, 0.9, -0.1, 0.7, 0.01, 0.2])
    return [
        (regular, e, 5.0),
        (regular, e, 0.1),
        (stretched, e + 0.1 * lost, 0.5),
        (almost, e, 0.2),
        (seven, 2 * e, 0.05),
        (regular, 0 * e, 0.3),
        *((jacobian(COBOT6, rng.uniform(-2, 2, 6)), rng.normal(size=6), 0.3) for _ in range(3)),
    ]


def length(J, e, damping):
    """Of the damped step, by its singular values; without damping that of the pseudo-inverse."""
    U, s, _ = np.linalg.svd(J, full_matrices=False)
    keep = s > 1e-10
    return np.linalg.norm((s[keep] * (U.T @ e)[keep]) / (s[keep] ** 2 + damping**2))


def least_damping(J, e, longest, size=length):
    if size(J, e, 0.0) <= longest:
        return 0.0
    high = np.linalg.norm(e) / longest
    return brentq(lambda x: size(J, e, x) - longest, 0.0, high, xtol=1e-13)


def same_damping(answer, expected, args):
    J, e, longest = args
    value, right = float(as_numbers(answer, ())), float(expected)
    if not value >= 0:
        return "A damping is not negative."
    if abs(value - right) < 1e-6 + 6e-4 * right:  # four digits, rounded
        return None
    step, more = length(J, e, value), "more" if value < right else "less"
    said = f"With your damping the step is {step:.5g} long, {longest:g} is allowed: {more} damping."
    near = " Four digits are asked for: a grid of dampings is too coarse; search between two."
    return said + near * (abs(value - right) < 0.2 * right)


def largest_entry(J, e, damping):
    n = J.shape[1]
    A = J.T @ J + (damping**2 + 1e-14) * np.eye(n)
    return np.abs(np.linalg.solve(A, J.T @ e)).max()


def lost_part(J, e, damping):
    """Of the step, the part in the direction that J has nearly lost."""
    U, s, _ = np.linalg.svd(J, full_matrices=False)
    return abs(s[-1] * (U.T @ e)[-1]) / (s[-1] ** 2 + damping**2 + 1e-30)


DAMPING = Exercise(
    "least_damping",
    cases=damping_cases,
    truth=least_damping,
    compare=same_damping,
    mistakes=[
        Mistake(
            lambda J, e, longest: np.linalg.norm(e) / (2 * longest),
            "|e| / (2 longest) is safe: no step is longer. It is the worst case, an error that lies"
            " all in a direction with sigma = damping. You are asked for the least that will do.",
        ),
        Mistake(
            lambda J, e, longest: least_damping(J, e, longest) ** 2,
            "That is damping squared, as it stands in the equation. Take the root.",
        ),
        Mistake(
            lambda J, e, longest: least_damping(J, e, longest, largest_entry),
            "You held the largest joint to `longest`. The task is about the length of the whole"
            " step, the root of the sum of squares.",
        ),
        Mistake(
            lambda J, e, longest: least_damping(J, e, longest) or 1e-3,
            "Where Newton's own step is short enough no damping is needed: 0.",
        ),
        Mistake(
            lambda J, e, longest: 0.0,
            "You never damp. Compare the length of the pseudo-inverse's step with `longest`.",
        ),
        Mistake(
            lambda J, e, longest: float(np.linalg.svd(J)[1][-1]),
            "The smallest singular value says how near the singularity is. How long the step gets"
            " depends on the error, too: on its part in that direction.",
        ),
        Mistake(
            lambda J, e, longest: least_damping(J, e, longest, lost_part),
            "You look at the smallest singular value's direction alone. The step has a part in each"
            " of the six; the root of the sum of their squares counts.",
        ),
    ],
    alternatives=[
        lambda J, e, longest: np.array([least_damping(J, e, longest) * (1 + 1e-6)]),
        lambda J, e, longest: float(f"{least_damping(J, e, longest):.4g}"),
    ],
)

# ---------------------------------------------------------------- restarts_for


def chance_cases(rng):
    """Chances of one start per target, and the share wanted."""
    mixed = np.r_[np.full(90, 0.9), np.full(10, 0.05)]
    return [
        (np.full(5, 0.5), 0.9),
        (mixed, 0.99),
        (np.array([1.0, 1.0, 1.0]), 0.99),
        (np.array([0.9, 0.9, 0.0, 0.9]), 0.9),
        (np.array([0.9, 0.9, 0.0, 0.9]), 0.7),
        (mixed, 0.5),
        (np.r_[np.full(70, 0.6), np.full(30, 0.01)], 0.95),
        (np.array([0.5, 0.0]), 0.5),
        (np.array([1.0, 0.0]), 0.5),
        (np.full(4, 0.5), 0.75),
        (np.r_[np.full(9, 0.8), 0.002], 0.99),
        (rng.uniform(0.05, 1, 40), 0.999),
    ]


def restarts_for(p, share):
    """The least number of restarts after which the expected share is solved, or None."""
    p = np.asarray(p, dtype=float)
    if np.mean(p > 0) <= share + 1e-12 and np.mean(p == 1) < share - 1e-12:
        return None  # what has a chance comes near the share, and is never there
    for restarts in range(100_000):
        if 1 - np.mean((1 - p) ** (restarts + 1)) >= share - 1e-12:
            return restarts
    return None


def same_count(answer, expected, args):
    p, share = args
    if expected is None:
        return None if answer is None else "Some targets are never solved, and they are too many."
    if answer is None:
        return f"It is None, but {expected} restarts are enough. Did you stop counting too soon?"
    count = float(as_numbers(answer, ()))
    if count != round(count):
        return "Restarts are counted in whole numbers."
    if count == expected:
        return None
    solved = 1 - np.mean((1 - np.asarray(p)) ** (count + 1)) if 0 <= count < 1e6 else np.nan
    return (
        f"With {count:g} restarts the expected share is {solved:.4f}, and {share:g} is asked for."
    )


def by_mean(p, share):
    p = np.mean(p)
    return 0 if p >= share else int(np.ceil(np.log(1 - share) / np.log(1 - p))) - 1


RESTARTS = Exercise(
    "restarts_for",
    cases=chance_cases,
    truth=restarts_for,
    compare=same_count,
    mistakes=[
        Mistake(
            by_mean,
            "You used the mean chance for all targets. The easy ones are soon done, and what stays"
            " open are the hard ones: average the shares still open, not the chances.",
        ),
        Mistake(
            lambda p, share: None if restarts_for(p, share) is None else restarts_for(p, share) + 1,
            "You counted starts. The first start is no restart.",
        ),
        Mistake(
            lambda p, share: restarts_for(np.array([np.min(p)]), share),
            "You asked the share of the hardest target. It is the share of all that counts.",
        ),
        Mistake(
            lambda p, share: restarts_for(np.array([np.median(p)]), share),
            "You took the median chance for all. What stays open after many starts are the hard"
            " ones, and the median doesn't know them.",
        ),
        Mistake(
            lambda p, share: None if np.min(p) == 0 else restarts_for(p, share),
            "One target without a chance does not forbid it: only the share counts.",
        ),
        Mistake(
            lambda p, share: restarts_for(p, share) or 0,
            "If too many targets have no chance at all, no number of restarts is enough: None.",
        ),
    ],
    alternatives=[lambda p, share: restarts_for(list(p), share)],
)

# ---------------------------------------------------------------- audit

GRIPPER = replace(
    COBOT6, tool=pose([0.05, 0.02, 0.1], Rotation.from_euler("xyz", [0.4, 0.1, -0.2]))
)


def audit_cases(rng):
    q = np.array([0.3, 0.5, -0.4, 0.7, -0.6, 0.2])
    T = fk(GRIPPER, q)
    rows = ik.closed_form(GRIPPER, T)
    outside = rows[~ik.in_limits(GRIPPER, rows)][0]
    on_flange = ik.closed_form(COBOT6, T)[3]
    other_side = ik.closed_form(GRIPPER, T @ inverse(GRIPPER.tool))[0]
    slip, last = q + np.array([0, 0, 0, 0, 0, 1e-3]), np.eye(6)[5]
    lopsided = replace(GRIPPER, q_min=q - [0.1, 3, 1, 3, 1, 1], q_max=q + [3, 1, 2, 0.1, 1, 0.02])
    drawn = rng.uniform(COBOT6.q_min, COBOT6.q_max)
    return [
        (GRIPPER, q, T),
        (GRIPPER, on_flange, T),
        (GRIPPER, outside, T),
        (GRIPPER, slip, T),
        (GRIPPER, other_side, T),
        (GRIPPER, q + [2 * PI, 0, 0, 0, 0, 0], T),
        (GRIPPER, outside + [0, 0.2, 0, 0, 0, 0], T),
        (lopsided, q, T),
        (lopsided, q, fk(lopsided, q - 5e-7 * last)),
        (lopsided, q, fk(lopsided, q - 5e-6 * last)),
        (lopsided, q + 0.03 * last, fk(lopsided, q + 0.03 * last)),
        (lopsided, q - [0.15, 0, 0, 0, 0, 0], fk(lopsided, q - [0.15, 0, 0, 0, 0, 0])),
        (GRIPPER, on_flange + 5e-6 * last, T),
        (COBOT6, q, fk(COBOT6, q)),
        (COBOT6, q + [0, 0, 0, 0, 0, 0.3], fk(COBOT6, q)),
        (COBOT6, 5e-7 * last, fk(COBOT6, np.zeros(6))),
        (COBOT6, -drawn, fk(COBOT6, drawn)),
    ]


def audit(arm, q, T):
    there = fk(arm, q)
    if np.abs(there - T).max() < 1e-6:
        return "ok" if ik.in_limits(arm, q) else "limit"
    return "tool" if np.abs(there - T @ arm.tool).max() < 1e-6 else "wrong"


def word(answer, expected, args):
    if not isinstance(answer, str):
        raise Unreadable('Return one of the words "ok", "limit", "tool", "wrong".')
    if answer not in ("ok", "limit", "tool", "wrong"):
        return 'The words are "ok", "limit", "tool" and "wrong".'
    if answer == expected:
        return None
    arm, q, T = args
    tool, flange = (np.abs(fk(a, q) - T).max() for a in (arm, replace(arm, tool=np.eye(4))))
    inside = "within" if ik.in_limits(arm, q) else "out of"
    said = f"Here the tool's pose is off by up to {tool:.2g} in an entry, the flange's by"
    return f"{said} {flange:.2g}, and q is {inside} the limits."


def by_position(arm, q, T):
    there = fk(arm, q)
    if np.abs(there - T)[:3, 3].max() < 1e-6:
        return "ok" if ik.in_limits(arm, q) else "limit"
    return "tool" if np.abs(there - T @ arm.tool)[:3, 3].max() < 1e-6 else "wrong"


def limits_first(arm, q, T):
    return audit(arm, q, T) if ik.in_limits(arm, q) else "limit"


def no_limits(arm, q, T):
    return "ok" if audit(arm, q, T) == "limit" else audit(arm, q, T)


def tool_twice(arm, q, T):
    if audit(arm, q, T) in ("ok", "limit"):
        return audit(arm, q, T)
    return "tool" if np.abs(fk(arm, q) @ arm.tool - T).max() < 1e-6 else "wrong"


def wrapped(arm, q, T):
    return audit(arm, around(q), T)


def by_flange(arm, q, T):
    """The flange's pose, from the arm without its tool."""
    flange, tool = fk(replace(arm, tool=np.eye(4)), q), arm.tool
    if np.abs(flange @ tool - T).max() < 1e-6:
        return {True: "ok", False: "limit"}[bool(((arm.q_min <= q) & (q <= arm.q_max)).all())]
    return ("wrong", "tool")[int(np.allclose(flange, T, atol=1e-6, rtol=0))]


AUDIT = Exercise(
    "audit",
    cases=audit_cases,
    truth=audit,
    compare=word,
    mistakes=[
        Mistake(
            by_position,
            "You compare the points alone. A tool that stands in the right place and is turned is"
            " not at the pose.",
        ),
        Mistake(
            limits_first,
            "You look at the limits first. A posture that does not reach the pose is wrong, within"
            " the limits or not.",
        ),
        Mistake(no_limits, "You never look at the limits: the drive will refuse some of these."),
        Mistake(
            tool_twice,
            "The flange is at T, so the tool is one tool further on: fk(arm, q) is T times the"
            " tool. You asked where a second tool would be.",
        ),
        Mistake(
            wrapped,
            "You wrap q before you judge it. The drive gets q as it is, and a full turn is a full"
            " turn.",
        ),
        Mistake(
            lambda arm, q, T: "ok",
            'You always say "ok", as the solver did. Put q into `fk` and compare with T.',
        ),
    ],
    alternatives=[
        by_flange,
        lambda arm, q, T: audit(arm, list(q), T.tolist()),
    ],
)

EXERCISES = [RAIL, FLIP, DAMPING, RESTARTS, AUDIT]
