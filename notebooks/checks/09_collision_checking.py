"""Checkpoints of lesson 09: two belts, three fooled checkers, a slot, a crane, an audit."""

from dataclasses import replace
from math import ceil, floor

import numpy as np
from scipy.optimize import minimize_scalar

from course_lib.arm import load_arm
from course_lib.check import Exercise, Mistake, Unreadable, as_numbers, in_mm, kind_of, parts
from course_lib.collision import Scene, check_edge, clearance, edge_is_free, load_scene
from course_lib.kinematics import link_frames

COBOT6, PILLARS = load_arm("cobot6"), load_scene("pillars")

# ---------------------------------------------------------------- nearest


def nearest_cases(rng):
    """p, v, q, w, T: meeting, passing, too late, before the start, side by side, standing."""
    x, y, o = np.eye(3)[0], np.eye(3)[1], np.zeros(3)
    fixed = [
        (o, x, 2 * x, -x, 3.0),
        (o, x, x + y, -x, 3.0),
        (o, x, 9 * x + y, o, 2.0),
        (o, x, -2 * x + y, -x, 5.0),
        (o, x + y, 3 * y, x + y, 4.0),
        (o, o, 3 * x - 4 * y, o, 1.0),
        (o, 0.5 * x, x, 0.2 * y, 0.0),
    ]
    drawn = [(*rng.uniform(-1, 1, (4, 3)), rng.uniform(0.2, 2)) for _ in range(6)]
    return (
        fixed + [(*(0.7 * v for v in rng.uniform(-1, 1, (4, 3))), 10.0) for _ in range(2)] + drawn
    )


def nearest(p, v, q, w, T):
    gap, speed = np.subtract(q, p), np.subtract(w, v)
    square = speed @ speed
    s = min(max(-(gap @ speed) / square, 0.0), T) if square > 0 else 0.0
    return s, np.linalg.norm(gap + s * speed)


def same_pass(answer, expected, args):
    p, v, q, w, T = args
    s, d = (float(x) for x in parts(answer, ("the time", ()), ("the distance", ())))
    right = float(expected[1])
    if abs(s - expected[0]) < 1e-5 and abs(d - right) < 1e-6:
        return None
    if not -1e-9 <= s <= T + 1e-9:
        return f"The time {s:.4g} s lies outside of 0 to {T:.4g} s."
    there = np.linalg.norm(np.subtract(q, p) + s * np.subtract(w, v))
    if not abs(there - right) < 1e-6:
        return f"At your time they are {in_mm(there - right)} farther apart than at the best one."
    if not abs(d - right) < 1e-6:
        return f"The time is right; the distance is off by {in_mm(abs(d - right))}."
    return "They are as near at an earlier time: 0, if nothing changes."


def by_search(p, v, q, w, T):
    """SciPy looks for the time."""
    far = lambda s: np.sum((np.subtract(q, p) + s * np.subtract(w, v)) ** 2)
    if np.allclose(v, w) or T == 0:
        return 0.0, np.sqrt(far(0.0))
    s = minimize_scalar(far, bounds=(0, T), method="bounded", options={"xatol": 1e-12}).x
    s = min((0.0, s, T), key=far)
    return [s, np.sqrt(far(s))]


def unclipped(p, v, q, w, T):
    gap, speed = np.subtract(q, p), np.subtract(w, v)
    s = -(gap @ speed) / (speed @ speed) if np.any(speed) else 0.0
    return s, np.linalg.norm(gap + s * speed)


def at_ends(p, v, q, w, T):
    far = lambda s: np.linalg.norm(np.subtract(q, p) + s * np.subtract(w, v))
    s = min((0.0, T), key=far)
    return s, far(s)


def of_the_belts(p, v, q, w, T):
    """The distance of the two paths, as if the parts chose their times."""
    s = np.linspace(0, T, 201)
    P, Q = (np.add(a, s[:, None] * np.asarray(b)) for a, b in ((p, v), (q, w)))
    d = np.linalg.norm(P[:, None] - Q, axis=-1)
    return s[np.unravel_index(d.argmin(), d.shape)[0]], d.min()


NEAREST = Exercise(
    "nearest",
    cases=nearest_cases,
    truth=nearest,
    compare=same_pass,
    mistakes=[
        Mistake(
            unclipped,
            "You look for the best time of all, before the start and after T, too. Clip it to 0 …"
            " T, as t was clipped to the segment.",
        ),
        Mistake(at_ends, "You look at the start and at the end only. They may pass in between."),
        Mistake(
            lambda p, v, q, w, T: nearest(p, v, q, -np.asarray(w), T),
            "Seen from one part, the other moves with w - v. You added the velocities.",
        ),
        Mistake(
            lambda p, v, q, w, T: nearest(p, v, q, np.zeros(3), T),
            "You let one of them stand still. Seen from one, the other moves with w - v.",
        ),
        Mistake(
            of_the_belts,
            "That is the distance of the two belts. The parts are somewhere on them at the *same*"
            " time, so there is one parameter, not two.",
        ),
        Mistake(
            lambda p, v, q, w, T: nearest(p, v, q, w, T)[::-1],
            "Time first, then distance: you have them the other way round.",
        ),
        Mistake(
            lambda p, v, q, w, T: (nearest(p, v, q, w, T)[0], nearest(p, v, q, w, T)[1] ** 2),
            "Your distance is squared: a square root is missing.",
        ),
    ],
    alternatives=[
        by_search,
        lambda p, v, q, w, T: np.array(nearest(q, w, p, v, T)),
        lambda p, v, q, w, T: nearest(list(p), list(v), list(q), list(w), float(T)),
    ],
)

# ---------------------------------------------------------------- fool

ALONE = Scene(PILLARS.obstacles, pairs=())
THIN = replace(COBOT6, radius=[1e-9] * 6)
FAULTY = ("joints", "thin", "alone")


def calls_free(name, q):
    """What one of the faulty checkers says of a posture q (6,)."""
    if name == "thin":
        return clearance(THIN, ALONE, q) > 0
    if name == "alone":
        return clearance(COBOT6, ALONE, q) > 0
    table, *rods = PILLARS.obstacles
    points = link_frames(COBOT6, q)[1:, :3, 3]
    foot = np.clip(points @ [0, 0, 1], 0, rods[0].end[2])[:, None] * [0, 0, 1]
    gaps = [np.linalg.norm(points - rod.start - foot, axis=1) - rod.radius for rod in rods]
    return min(points[:, 2].min() - table.offset, np.min(gaps)) > 0


def fooled(answer, expected, args):
    if not isinstance(answer, dict) or set(answer) != set(FAULTY):
        raise Unreadable(f"Expected a dict with the names {FAULTY}; it is {kind_of(answer)}.")
    if any(answer[name] in (..., None) for name in FAULTY if not hasattr(answer[name], "__len__")):
        raise Unreadable("A posture is still missing.")
    q = {name: as_numbers(answer[name], (6,), f'fool["{name}"]') for name in FAULTY}
    if isinstance(expected, dict) and all(np.array_equal(q[k], expected[k]) for k in FAULTY):
        return None
    for name in FAULTY:
        bad = (q[name] < COBOT6.q_min) | (q[name] > COBOT6.q_max)
        if bad.any():
            return f'fool["{name}"]: joint {bad.argmax() + 1} is out of its limits.'
        gap = clearance(COBOT6, PILLARS, q[name])
        if gap > -0.005 + 1e-9:
            state = "is free" if gap > 0 else f"touches by {in_mm(-gap)} only, less than 5 mm"
            return f'fool["{name}"]: in truth the arm {state} there.'
        if not calls_free(name, q[name]):
            return f'fool["{name}"]: this checker notices it.'
    return None


def fooling(seed, start=0):
    """Postures that fool the three, drawn at random."""
    found = {}
    for q in np.random.default_rng(seed).uniform(COBOT6.q_min, COBOT6.q_max, (20_000, 6))[start:]:
        if clearance(COBOT6, PILLARS, q) < -0.005:
            for name in FAULTY:
                if name not in found and calls_free(name, q):
                    found[name] = q
        if len(found) == 3:
            return found
    raise ValueError(f"seed: {seed}, no posture found")


FOLDED = np.array([0.0, 1.0, -1.75, 0, 0, 0])  # link 6 in link 2, all far from table and pillars
HALF_WAY = (PILLARS.start + PILLARS.goal) / 2

FOOL = Exercise(
    "fool",
    truth=fooling(0),
    compare=fooled,
    mistakes=[
        Mistake(
            dict.fromkeys(FAULTY, np.zeros(6)),
            "All zeros: there the hand is under the table, and two of the three notice that. Each"
            " checker needs a posture that slips through its own fault.",
        ),
        Mistake(
            dict.fromkeys(FAULTY, PILLARS.start),
            "That is the start of the scene, where the arm is free. They are right there.",
        ),
        Mistake(
            dict.fromkeys(FAULTY, FOLDED),
            "Here the arm is folded onto itself. That fools the third; the others are asked about"
            " the scene or about lines, and you must look at each for itself.",
        )
        if fooled(dict.fromkeys(FAULTY, FOLDED), None, ())
        else Mistake(
            dict.fromkeys(FAULTY, HALF_WAY), "That is half-way: there even the joints are inside."
        ),
    ],
    alternatives=[
        fooling(1),
        {name: fooling(2)[name].tolist() for name in FAULTY},
        {"alone": fooling(3)["alone"], **{name: fooling(4)[name] for name in FAULTY[:2]}},
    ],
)

# ---------------------------------------------------------------- largest_margin

RADII = COBOT6.radius.tolist()


def slot_cases(rng):
    """Width, radii, who passes: cobot6's slot, the hand alone, too narrow, exactly as wide."""
    fixed = [
        (0.11, RADII, [4, 5, 6]),
        (0.11, RADII, [6]),
        (0.11, RADII, [6, 5]),
        (0.3, RADII, [1, 2, 3, 4, 5, 6]),
        (0.08, RADII, [4, 5, 6]),
        (0.09, RADII, [4, 6]),
        (0.2, [0.02, 0.05, 0.09], [1, 2]),
        (0.2, [0.02, 0.05, 0.09], [3]),
    ]
    drawn = [
        (rng.uniform(0.1, 0.3), rng.uniform(0.02, 0.08, 5).tolist(), sorted(rng.choice(5, 3) + 1))
        for _ in range(4)
    ]
    return fixed + [(width, radii, [int(k) for k in links]) for width, radii, links in drawn]


def largest_margin(width, radii, passing):
    thickest = max(radii[k - 1] for k in passing)
    return max(width / 2 - thickest, 0.0)


def same_margin(answer, expected, args):
    width, radii, passing = args
    margin, right = float(as_numbers(answer, ())), float(expected)
    if abs(margin - right) < 1e-7:
        return None
    thickest = 2 * max(radii[k - 1] for k in passing)
    if margin > right:
        taken = f"{1e3 * thickest:.1f} mm and twice {1e3 * margin:.1f} mm"
        return f"The thickest link that passes takes {taken}: more than {1e3 * width:.1f} mm."
    return "There is room for a larger margin." if margin >= 0 else "A margin is not negative."


MARGIN = Exercise(
    "largest_margin",
    cases=slot_cases,
    truth=largest_margin,
    compare=same_margin,
    mistakes=[
        Mistake(
            lambda width, radii, passing: max(width - 2 * max(radii[k - 1] for k in passing), 0.0),
            "That is all the room that is left. The margin is needed on both sides: half of it.",
        ),
        Mistake(
            lambda width, radii, passing: max(
                (width - max(radii[k - 1] for k in passing)) / 2, 0.0
            ),
            "A radius is half of a link's thickness: a link takes two of them.",
        ),
        Mistake(
            lambda width, radii, passing: max(width / 2 - max(radii), 0.0),
            "You took the thickest link of the whole arm. Only those that pass must fit.",
        ),
        Mistake(
            lambda width, radii, passing: max(width / 2 - min(radii[k - 1] for k in passing), 0.0),
            "You took the thinnest link that passes; the thickest one decides.",
        ),
        Mistake(
            lambda width, radii, passing: max(width / 2 - radii[max(passing) - 1], 0.0),
            "You took the last link. Those before it must pass as well.",
        ),
        Mistake(
            lambda width, radii, passing: max(
                width / 2 - max([*radii, 0.0][k % len(radii)] for k in passing), 0.0
            ),
            "Links are counted from 1, Python's lists from 0: link k has the entry k - 1.",
        ),
        Mistake(
            lambda width, radii, passing: width / 2 - max(radii[k - 1] for k in passing),
            "A link that is thicker than the slot leaves no margin, and no negative one: 0.",
        ),
        Mistake(
            lambda width, radii, passing: max(
                width / 2 - 1.2 * max(radii[k - 1] for k in passing), 0.0
            ),
            "Where does the 1.2 come from? The radius is known.",
        ),
    ],
    alternatives=[
        lambda width, radii, passing: min(max(width / 2 - radii[k - 1], 0) for k in passing),
        lambda width, radii, passing: np.clip(
            (width - 2 * np.array(radii)[np.array(passing) - 1]).min() / 2, 0, None
        ),
    ],
)

# ---------------------------------------------------------------- safe_parts


def crane_cases(rng):
    """lengths, turns, dq, clearance: arms, a crane whose trolley slides, backwards, standing."""
    fixed = [
        ([0.5, 0.4], [True, True], [0.3, -0.2], 0.05),
        ([0.5, 0.4, 0.3], [True, True, True], [-0.1, 0.5, 0.7], 0.021),
        ([2.0, 1.5, 0.5], [True, False, True], [0.2, 0.4, -0.6], 0.1),
        ([1.0, 1.0], [False, False], [0.5, -0.5], 0.04),
        ([0.5, 0.4], [True, True], [0.0, 0.0], 0.05),
        ([0.5], [True], [0.25], 0.0625),
        ([0.5], [True], [0.1], 1.0),
        ([3.0, 0.2], [False, True], [0.0, 1.0], 0.003),
    ]
    drawn = []
    for _ in range(5):
        n = int(rng.integers(2, 6))
        turns = [bool(k) for k in rng.integers(0, 2, n)]
        row = rng.uniform(0.1, 1, n).round(2).tolist(), turns, rng.uniform(-1, 1, n).round(2)
        drawn.append((*row, float(rng.uniform(0.01, 0.1))))
    return fixed + drawn


def safe_parts(lengths, turns, dq, clearance):
    beyond = np.cumsum(np.asarray(lengths, float)[::-1])[::-1]
    L = np.abs(dq) @ np.where(turns, beyond, 1.0)
    return int(np.floor(L / (2 * clearance) + 1e-12)) + 1


def counted(beyond, parts_of=floor):
    """A wrong way to count: beyond(lengths, turns, dq) is the bound."""

    def answer(lengths, turns, dq, clearance):
        L = float(beyond(np.asarray(lengths, float), np.asarray(turns), np.asarray(dq, float)))
        return max(parts_of(L / (2 * clearance) + 1e-12) + (parts_of is floor), 1)

    return answer


def rest(lengths):
    return np.cumsum(lengths[::-1])[::-1]


def same_parts(answer, expected, args):
    value, right = float(as_numbers(answer, ())), int(expected)
    if value != int(value):
        return f"The number of parts is a whole number, not {value:g}."
    if value == right:
        return None
    lengths, turns, dq, c = args
    L = float(np.abs(dq) @ np.where(turns, rest(np.asarray(lengths, float)), 1.0))
    if value < 1:
        return "There is at least one part: the edge itself."
    if value < right:
        return (
            f"Each of your parts moves the arm by up to {in_mm(L / value)}, not less than"
            f" {in_mm(2 * c)}: twice the clearance."
        )
    return f"{right} parts are enough: each moves the arm by up to {in_mm(max(L, 1e-9) / right)}."


def one_by_one(lengths, turns, dq, clearance):
    L = sum(
        abs(q) * (sum(lengths[k:]) if turn else 1) for k, (q, turn) in enumerate(zip(dq, turns))
    )
    n = 1
    while not 2 * clearance > L / n:
        n += 1
    return n


PARTS = Exercise(
    "safe_parts",
    cases=crane_cases,
    truth=safe_parts,
    compare=same_parts,
    mistakes=[
        Mistake(
            counted(lambda l, turns, dq: np.abs(dq) @ np.where(turns, l, 1.0)),
            "A joint moves not only its own link but all that comes after it: take the length of"
            " the skeleton from the axis to the end.",
        ),
        Mistake(
            counted(lambda l, turns, dq: np.abs(dq) @ rest(l)),
            "A slide is no turn: it moves every point beyond it by the same, however far away.",
        ),
        Mistake(
            counted(lambda l, turns, dq: abs(dq @ np.where(turns, rest(l), 1.0))),
            "Motions of opposite sign need not cancel: in another posture they add. Take each"
            " absolute value for itself.",
        ),
        Mistake(
            counted(lambda l, turns, dq: np.max(np.abs(dq) * np.where(turns, rest(l), 1.0))),
            "You took the joint that moves the arm most. All move at once: add them.",
        ),
        Mistake(
            counted(lambda l, turns, dq: np.linalg.norm(dq) * l.sum()),
            "That is a bound, but not the least that these lengths allow: the last joints move"
            " short pieces only, and each joint has its own reach.",
        ),
        Mistake(
            counted(lambda l, turns, dq: 2 * np.abs(dq) @ np.where(turns, rest(l), 1.0)),
            "You compare with one clearance. Both ends have one: c0 + c1 = 2c.",
        ),
        Mistake(
            counted(lambda l, turns, dq: np.abs(dq) @ np.where(turns, l.sum() - rest(l) + l, 1.0)),
            "You took the skeleton from the base to the joint. It moves what lies beyond it.",
        ),
        Mistake(
            counted(lambda l, turns, dq: np.abs(dq) @ np.where(turns, rest(l), 1.0) - 1e-9, ceil),
            "Exactly as far as both clearances is not enough: then the arm may just touch. L must"
            " be less.",
        ),
    ],
    alternatives=[one_by_one, lambda l, t, q, c: float(safe_parts(tuple(l), tuple(t), list(q), c))],
)

# ---------------------------------------------------------------- audit

VIA = np.array([0.13, 1.19, 0.76, -0.26, 0.66, -0.69])
START, GOAL = PILLARS.start, PILLARS.goal
JUST_OUT = np.array([0.13, 1.19, 0.76, -0.26, 0.66, -2.7])


def audit_cases(rng):
    """arm, scene, start, goal, path, margin: each word, each edge, margins, a path of one place."""
    near = GOAL + [0.02, 0, 0, 0, 0, 0]
    side = START + rng.uniform(-0.02, 0.02, 6)
    paths = [
        ([START, VIA, GOAL], 0.0),
        ([START, GOAL], 0.0),
        ([START, VIA, VIA, START, GOAL], 0.0),
        ([START, side, GOAL], 0.0),
        ([START, VIA, near], 0.0),
        ([near, VIA, GOAL], 0.0),
        ([START, VIA, JUST_OUT, GOAL], 0.0),
        ([START, VIA, GOAL], 0.04),
        ([START, VIA, GOAL], 0.09),
        ([GOAL, VIA, START], 0.0),
    ]
    cases = [(COBOT6, PILLARS, START, GOAL, np.array(p), m) for p, m in paths]
    inside = HALF_WAY
    return cases + [
        (COBOT6, PILLARS, START, START, np.array([START]), 0.0),
        (COBOT6, PILLARS, inside, inside, np.array([inside]), 0.0),
        (COBOT6, PILLARS, inside, GOAL, np.array([inside, VIA, GOAL]), 0.0),
    ]


def audit(arm, scene, start, goal, path, margin):
    path = np.atleast_2d(path)
    if np.abs(path[0] - start).max() > 1e-6:
        return "start"
    if np.abs(path[-1] - goal).max() > 1e-6:
        return "goal"
    if ((path < arm.q_min) | (path > arm.q_max)).any():
        return "limits"
    ends = path[1:] if len(path) > 1 else path
    for k, (a, b) in enumerate(zip(path, ends)):
        if not edge_is_free(arm, scene, a, b, margin):
            return k
    return "ok"


def same_audit(answer, expected, args):
    words = ("start", "goal", "limits", "ok")
    if isinstance(answer, str):
        if answer not in words:
            raise Unreadable(f"The words are {', '.join(words)}; it is {answer!r}.")
    else:
        answer = float(as_numbers(answer, ()))
    if answer == expected:
        return None
    if isinstance(expected, str):
        return f'Here the answer is "{expected}".'
    a, b = (args[4][k] for k in (expected, min(expected + 1, len(args[4]) - 1)))
    reason = check_edge(args[0], args[1], a, b, args[5]).reason
    return f"Edge {expected} is the first that does not keep the margin: {reason}."


def variant(edges=edge_is_free, drop=0, ends=True, limits=True, margin=True, one=True):
    """Audits with a fault: `drop` last edges unchecked, ends or limits or margin ignored."""

    def answer(arm, scene, start, goal, path, wanted):
        path = np.atleast_2d(path)
        if ends:
            for word, here, there in (("start", path[0], start), ("goal", path[-1], goal)):
                if np.abs(here - there).max() > 1e-6:
                    return word
        if limits and ((path < arm.q_min) | (path > arm.q_max)).any():
            return "limits"
        pairs = [*zip(path, path[1:])] if len(path) > 1 or not one else [(path[0], path[0])]
        for k, (a, b) in enumerate(pairs[: len(pairs) - drop]):
            if not edges(arm, scene, a, b, wanted if margin else 0.0):
                return k
        return "ok"

    return answer


def ends_only(arm, scene, a, b, margin):
    return (clearance(arm, scene, np.array([a, b])) > margin).all()


def last_found(arm, scene, start, goal, path, margin):
    first = audit(arm, scene, start, goal, path, margin)
    if isinstance(first, str):
        return first
    pairs = [*zip(path, path[1:])] or [(path[0], path[0])]
    return [k for k, p in enumerate(pairs) if not edge_is_free(arm, scene, *p, margin)][-1]


def one_more(arm, scene, start, goal, path, margin):
    first = audit(arm, scene, start, goal, path, margin)
    return first if isinstance(first, str) else first + 1


def by_stack(arm, scene, start, goal, path, margin):
    """All edges at once."""
    path = np.asarray(path)
    word = variant(edges=lambda *_: True)(arm, scene, start, goal, path, margin)
    nodes = np.vstack([path, path]) if len(path) == 1 else path
    free = np.atleast_1d(edge_is_free(arm, scene, nodes[:-1], nodes[1:], margin))
    return word if word != "ok" or free.all() else np.argmin(free)


AUDIT = Exercise(
    "audit",
    cases=audit_cases,
    truth=audit,
    compare=same_audit,
    seconds=20.0,
    mistakes=[
        Mistake(
            variant(edges=ends_only),
            "You test the postures of the path, not what lies between them: ask `edge_is_free`.",
        ),
        Mistake(
            variant(drop=1),
            "The last edge, the one to the goal, is not tested. It is an edge like all others.",
        ),
        Mistake(
            variant(margin=False), "You test for touching, and a margin is asked for: pass it on."
        ),
        Mistake(
            variant(ends=False),
            "A free path from somewhere to somewhere is no answer: compare its first and last"
            " posture with start and goal.",
        ),
        Mistake(
            variant(limits=False), "You never look at the limits: the drive will refuse the path."
        ),
        Mistake(
            variant(one=False),
            "A path of one posture has no edge, so you test nothing. Test that posture.",
        ),
        Mistake(last_found, "That is the last bad edge. The first one is asked for."),
        Mistake(one_more, "The first edge has the number 0."),
        Mistake(
            lambda *args: "ok" if audit(*args) == "ok" else 0,
            "Say which edge it is, or which of the other conditions fails.",
        ),
    ],
    alternatives=[by_stack, lambda a, s, q0, q1, path, m: audit(a, s, q0, q1, path.tolist(), m)],
)

EXERCISES = [NEAREST, FOOL, MARGIN, PARTS, AUDIT]
