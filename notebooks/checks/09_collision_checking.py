"""Checkpoints of lesson 09: two belts, three fooled checkers, a slot, a crane, an audit."""

from dataclasses import replace
from math import ceil, floor

import numpy as np

from course_lib import collision
from course_lib.arm import Arm, load_arm
from course_lib.check import Exercise, Mistake, Unreadable, as_numbers, in_mm, kind_of, parts
from course_lib.collision import Scene, check_edge, clearance, edge_is_free, load_scene
from course_lib.kinematics import link_frames

COBOT6, PILLARS = load_arm("cobot6"), load_scene("pillars")


def told(says, answers):
    """Mistakes, from what is said of each kind of them, and the wrong answers of these kinds."""
    return [Mistake(answers[kind], message) for kind, message in says.items()]


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
    there = passing(s, p, v, q, w)[1]
    if not abs(d - right) < 1e-6 and abs(d - of_the_belts(*args)[1]) < 1e-6:
        return BELTS_APART
    if abs(there - right) < 1e-6 and not abs(d - right) < 1e-6:
        return f"The time is right; the distance is off by {in_mm(abs(d - right))}."
    if not abs(there - d) < 1e-6:
        rest = BELTS_APART.partition(". ")[2]
        return f"At your time they are {in_mm(there)} apart, which is not your distance. {rest}"
    if not abs(there - right) < 1e-6:
        return f"At your time they are {in_mm(there - right)} farther apart than at the best one."
    return "They are as near at an earlier time: 0, if nothing changes."


def passing(s, p, v, q, w):
    return s, np.linalg.norm(np.subtract(q, p) + s * np.subtract(w, v))


def unclipped(p, v, q, w, T):
    gap, speed = np.subtract(q, p), np.subtract(w, v)
    return passing(-(gap @ speed) / (speed @ speed) if np.any(speed) else 0.0, p, v, q, w)


def of_the_belts(p, v, q, w, T):
    """The distance of the two paths, as if the parts chose their times."""
    column = lambda x: np.reshape(np.asarray(x, float), (3, 1))
    ends = column(q), column(q) + T * column(w)
    gap, t, _ = collision.Capsule.measure(column(p), T * column(v), *ends, 0.0)
    return float(t[0]) * T, float(gap[0])


BELTS_APART = (
    "That is the distance of the two belts, of a segment from a segment. The parts are somewhere on"
    " them at the *same* time, so there is one parameter, not two."
)
NEAREST_SAYS = {
    "unclipped": "You look for the best time of all, before the start and after T, too. Clip it to"
    " 0 … T, as t was clipped to the segment.",
    "ends": "You look at the start and at the end only. They may pass in between.",
    "added": "Seen from one part, the other moves with w - v. You added the velocities.",
    "one": "You let one of them stand still. Seen from one, the other moves with w - v.",
    "belts": BELTS_APART,
    "to one": "You clip to 1, as t on a segment. Here the parameter is a time: it ends at T.",
    "turned": "Time first, then distance: you have them the other way round.",
    "squared": "Your distance is squared: a square root is missing.",
}
NEAREST_DOES = {
    "unclipped": unclipped,
    "ends": lambda *a: min((passing(s, *a[:4]) for s in (0.0, a[4])), key=lambda found: found[1]),
    "added": lambda p, v, q, w, T: nearest(p, v, q, -np.asarray(w), T),
    "one": lambda p, v, q, w, T: nearest(p, v, q, np.zeros(3), T),
    "belts": of_the_belts,
    "to one": lambda p, v, q, w, T: nearest(p, v, q, w, min(T, 1.0)),
    "turned": lambda *args: nearest(*args)[::-1],
    "squared": lambda *args: (nearest(*args)[0], nearest(*args)[1] ** 2),
}

NEAREST = Exercise(
    "nearest",
    cases=nearest_cases,
    truth=nearest,
    compare=same_pass,
    mistakes=told(NEAREST_SAYS, NEAREST_DOES),
    alternatives=[
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


HALF_WAY = (PILLARS.start + PILLARS.goal) / 2

FOOL = Exercise(
    "fool",
    truth=fooling(0),
    compare=fooled,
    mistakes=told(
        {
            "zeros": "All zeros: there the hand is under the table, and two of the three notice"
            " that. Each checker needs a posture that slips through its own fault.",
            "start": "That is the start of the scene: the arm is free, and they are right.",
            "middle": "That is half-way: there even the joints are inside.",
        },
        {
            kind: dict.fromkeys(FAULTY, q)
            for kind, q in {
                "zeros": np.zeros(6),
                "start": PILLARS.start,
                "middle": HALF_WAY,
            }.items()
        },
    ),
    alternatives=[
        fooling(1),
        {name: fooling(2)[name].tolist() for name in FAULTY},
        {"alone": fooling(3)["alone"], **{name: fooling(4)[name] for name in FAULTY[:2]}},
    ],
)

# ---------------------------------------------------------------- largest_margin

RADII = COBOT6.radius.tolist()
HAND = RADII, [4, 5, 6]  # what reaches through the slot


def slot_cases(rng):
    """width, radii, passing, beside: in the middle, one link off, both ways, too thick."""
    fixed = [
        (0.11, *HAND, [0.0, 0.0, 0.004]),
        (0.11, *HAND, [0.0, 0.0, 0.017]),
        (0.11, *HAND, [0.002, -0.003, -0.019]),
        (0.2, *HAND, [-0.01, 0.03, 0.02]),
        (0.3, RADII, [1, 2, 3, 4, 5, 6], [0.0, 0.01, -0.02, 0.03, -0.04, 0.05]),
        (0.11, *HAND, [0.011, 0.0, 0.0]),
        (0.2, [0.02, 0.05, 0.09], [1, 2], [-0.07, 0.01]),
        (0.2, [0.02, 0.05, 0.09], [2, 1], [0.0, 0.04]),
    ]
    for _ in range(4):
        links = [int(k) for k in sorted(rng.choice(5, 3, replace=False) + 1)]
        radii, beside = rng.uniform(0.02, 0.06, 5), rng.uniform(-0.05, 0.05, 3)
        fixed.append((rng.uniform(0.2, 0.4), radii.tolist(), links, beside.tolist()))
    return fixed


def slot_rooms(width, radii, passing, beside):
    """(links,) of each link the room to the wall that is nearer; below 0: it does not fit."""
    return width / 2 - np.abs(beside) - np.array(radii)[np.array(passing) - 1]


def largest_margin(width, radii, passing, beside):
    return max(slot_rooms(width, radii, passing, beside).min(), 0.0)


def same_margin(answer, expected, args):
    margin, right = float(as_numbers(answer, ())), float(expected)
    if abs(margin - right) < 1e-7:
        return None
    if margin < right:
        return "There is room for a larger margin." if margin >= 0 else "A margin is not negative."
    room, k = slot_rooms(*args).min(), args[2][slot_rooms(*args).argmin()]
    if right == 0:
        return f"Link {k} does not fit: a wall is {in_mm(max(-room, 1e-9))} inside of it."
    return f"Between link {k} and the wall that is nearer to it {in_mm(room)} remain."


def slot_with(rooms):
    """A wrong margin: rooms(half of the width, radii of who passes (k,), beside (k,))."""

    def answer(width, radii, passing, beside):
        r, off = np.array(radii)[np.array(passing) - 1], np.array(beside)
        return max(float(np.min(rooms(width / 2, r, off))), 0.0)

    return answer


SLOT_SAYS = {
    "middle": "That is for links in the middle. A link beside it is nearer to one of the walls.",
    "both worst": "You put the thickest link where the outermost is. Each has its own place.",
    "thickest": "You look at the thickest link alone. A thin one far off the middle may decide.",
    "outermost": "You look at the outermost link alone. A thick one nearer the middle may decide.",
    "one side": "Left or right, a link beside the middle is nearer to a wall: take |beside|.",
    "far wall": "That is the wall that is farther away. The nearer one counts.",
    "twice": "That is twice the room at the nearer wall. The margin is needed once at each.",
    "together": "That is room on both sides together. The margin is needed on each of them.",
    "from one": "Links are counted from 1, Python's lists from 0: link k has the entry k - 1.",
    "negative": "A link that does not fit leaves no margin, and no negative one: 0.",
}
SLOT_ROOMS = {  # of half the width, the radii of who passes (k,), and how far beside (k,)
    "middle": lambda half, r, off: half - r,
    "both worst": lambda half, r, off: half - r.max() - np.abs(off).max(),
    "thickest": lambda half, r, off: (half - r - np.abs(off))[r.argmax()],
    "outermost": lambda half, r, off: (half - r - np.abs(off))[np.abs(off).argmax()],
    "one side": lambda half, r, off: half - r - off,
    "far wall": lambda half, r, off: half - r + np.abs(off),
    "twice": lambda half, r, off: 2 * (half - r - np.abs(off)),
    "together": lambda half, r, off: 2 * half - 2 * r - np.abs(off),
}
SLOT_DOES = {kind: slot_with(rooms) for kind, rooms in SLOT_ROOMS.items()} | {
    "from one": lambda width, radii, *rest: largest_margin(width, [*radii[1:], 0.0], *rest),
    "negative": lambda *case: slot_rooms(*case).min(),
}

MARGIN = Exercise(
    "largest_margin",
    cases=slot_cases,
    truth=largest_margin,
    compare=same_margin,
    mistakes=told(SLOT_SAYS, SLOT_DOES),
    alternatives=[
        lambda width, radii, passing, beside: max(
            min(width / 2 - abs(y) - radii[k - 1] for k, y in zip(passing, beside)), 0
        ),
        lambda *case: np.clip(slot_rooms(*case), 0, None).min(),
    ],
)

# ---------------------------------------------------------------- safe_parts


def crane_cases(rng):
    """lengths, turns, dq, clearance: arms, a crane whose trolley slides, backwards, standing."""
    fixed = [
        ([0.5, 0.4], [True, True], [0.3, -0.2], 0.05),
        ([0.5, 0.4, 0.3], [True, True, True], [-0.1, 0.5, 0.7], 0.021),
        ([2.0, 1.5, 0.5], [True, False, True], [0.2, 0.4, -0.6], 0.1),
        ([1.0, 1.0], [False, False], [0.3, -0.5], 0.04),
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


CRANE_SAYS = {
    "own link": "A joint moves not only its own link but all that comes after it: take the length"
    " of the skeleton from the axis to the end.",
    "no slide": "A slide is no turn: it moves every point beyond it by the same, however far away.",
    "backwards": "A joint that moves backwards moves the arm as far as forwards: |dq|.",
    "cancel": "Motions of opposite sign need not cancel: in another posture they add. Take each"
    " absolute value for itself.",
    "not its own": "When joint k turns, the far end of link k itself moves, too: it counts.",
    "largest": "You took the joint that moves the arm most. All move at once: add them.",
    "length": "That is a bound, but not the least that these lengths allow: the last joints move"
    " short pieces only, and each joint has its own reach.",
    "one end": "You compare with one clearance. Both ends have one: c0 + c1 = 2c.",
    "before": "You took the skeleton from the base to the joint. It moves what lies beyond it.",
    "equal": "Exactly as far as both clearances is not enough: then the arm may just touch. L must"
    " be less.",
}
CRANE_BOUNDS = {  # of lengths, turns, dq (n,)
    "own link": lambda l, turns, dq: np.abs(dq) @ np.where(turns, l, 1.0),
    "no slide": lambda l, turns, dq: np.abs(dq) @ rest(l),
    "backwards": lambda l, turns, dq: dq @ np.where(turns, rest(l), 1.0),
    "cancel": lambda l, turns, dq: abs(dq @ np.where(turns, rest(l), 1.0)),
    "not its own": lambda l, turns, dq: np.abs(dq) @ np.where(turns, rest(l) - l, 1.0),
    "largest": lambda l, turns, dq: np.max(np.abs(dq) * np.where(turns, rest(l), 1.0)),
    "length": lambda l, turns, dq: np.linalg.norm(dq) * l.sum(),
    "one end": lambda l, turns, dq: 2 * np.abs(dq) @ np.where(turns, rest(l), 1.0),
    "before": lambda l, turns, dq: np.abs(dq) @ np.where(turns, l.sum() - rest(l) + l, 1.0),
}
CRANE_DOES = {kind: counted(bound) for kind, bound in CRANE_BOUNDS.items()}
CRANE_DOES["equal"] = counted(
    lambda l, turns, dq: np.abs(dq) @ np.where(turns, rest(l), 1.0) - 1e-9, ceil
)

PARTS = Exercise(
    "safe_parts",
    cases=crane_cases,
    truth=safe_parts,
    compare=same_parts,
    mistakes=told(CRANE_SAYS, CRANE_DOES),
    alternatives=[lambda l, t, q, c: float(safe_parts(tuple(l), tuple(t), list(q), c))],
)

# ---------------------------------------------------------------- audit

VIA = np.array([0.13, 1.19, 0.76, -0.26, 0.66, -0.69])
START, GOAL = PILLARS.start, PILLARS.goal
BELOW, ABOVE = np.array([VIA, VIA]) + [[0, 0, 0, 0, 0, -2.01], [0, 0, 0, 0, 2.01, 0]]
BOOM = Arm("boom", "standard", [0.6, 0.5], [0, 0], [0, 0], [0, 0], radius=[0.01, 0.01])
SWING = np.array([[-1.0, 0.0], [1.0, 0.0]])  # of the boom, stretched
WORDS = ("start", "goal", "limits")


def boom_case(share, far, margin=0.0):
    """The boom swings past a thin post, which stands at a share of the way, so far [m] away."""
    angle = SWING[0, 0] + share * np.ptp(SWING[:, 0])
    post = collision.Sphere([far * np.cos(angle), far * np.sin(angle), 0], 0.004, name="thin post")
    return BOOM, Scene([post], name="a thin post", pairs=()), *SWING, SWING, margin


def audit_cases(rng):
    """arm, scene, start, goal, path, margin: thin posts, each word, their order, one place."""
    posts = [boom_case(share, 0.9) for share in (0.387, 0.1713)]  # it goes through
    reach = 1.1 + 0.014 + 0.005  # of the boom, with both radii and the margin
    shares = 0.2247, 0.613, 0.8391, 0.4482, 0.7113
    posts += [boom_case(share, reach - 1e-4, 0.005) for share in shares]
    posts.append(boom_case(0.5, reach + 2e-3, 0.005))
    off, side = 5e-6 * np.eye(6)[1], START + rng.uniform(-0.02, 0.02, 6)
    at = {"S": START, "V": VIA, "G": GOAL, "H": HALF_WAY, "b": BELOW, "a": ABOVE, "s": side}
    at |= {"n": GOAL + [0.02, 0, 0, 0, 0, 0], "l": np.where(np.arange(6) == 5, COBOT6.q_max, VIA)}
    at |= {"+": START + 1e-7, "-": GOAL - 1e-7, "1": START + off, "2": GOAL - off}
    ask = lambda way, start="S", goal="G", margin=0.0: (
        *(COBOT6, PILLARS, at[start], at[goal], np.array([at[k] for k in way]), margin),
    )
    ways = "SVG SG SVVSG SsGS SVn nVG SVbG SVaVG SVlVG GVS nGbn SGbn SGbG +V- 1VG SV2".split()
    places = [ask("S", "S", "S"), ask("S", "S", "S", 0.09), ask("H", "H", "H")]
    return [
        *posts,
        *map(ask, ways),
        *(ask("SVG", margin=margin) for margin in (0.04, 0.058, 0.09)),
        *(*places, ask("HVG", "H"), ask("bVG", "b")),
    ]


def outside(arm, path):
    return (path < arm.q_min) | (path > arm.q_max)


def pairs_of(path):
    return [*zip(path, path[1:])] if len(path) > 1 else [(path[0], path[0])]


def variant(
    edges=edge_is_free, order=WORDS, tol=1e-6, drop=0, margins=True, one=True, beyond=outside
):
    """An audit; with a fault where other edges, words, … are given, `drop` edges left out."""

    def audit(arm, scene, start, goal, path, margin):
        path = np.atleast_2d(path)
        wrong = {
            "start": np.abs(path[0] - start).max() > tol,
            "goal": np.abs(path[-1] - goal).max() > tol,
            "limits": beyond(arm, path).any(),
        }
        pairs = pairs_of(path) if one or len(path) > 1 else []
        for word in order:
            if wrong[word]:
                return word
        for k, (a, b) in enumerate(pairs[: len(pairs) - drop]):
            if not edges(arm, scene, a, b, margin if margins else 0.0):
                return k
        return "ok"

    return audit


audit = variant()


def sampled(count):
    """An edge by so many samples; by the ends alone for 2."""
    t = np.linspace(0, 1, count)[:, None]
    return lambda arm, scene, a, b, m: (clearance(arm, scene, a + t * (b - a)) > m).all()


def same_audit(answer, expected, args):
    if isinstance(answer, str):
        if answer not in (*WORDS, "ok"):
            raise Unreadable(f"The words are {', '.join(WORDS)}, ok; it is {answer!r}.")
    else:
        answer = float(as_numbers(answer, ()))
    if answer == expected:
        return None
    if expected in WORDS or answer in WORDS:
        return f"Here the answer is {expected!r}: {of_the_words(*args)}."
    if expected == "ok":
        return 'Here the answer is "ok": every edge keeps the margin, by more than 1 mm.'
    a, b = pairs_of(args[4])[expected]
    said = check_edge(args[0], args[1], a, b, args[5])
    between = answer == "ok" or answer > expected
    between = between and sampled(2)(args[0], args[1], a, b, args[5])
    why = " Both its ends keep it. Between samples, however many, a thin post may stand: only a"
    why += " bound on the motion proves, as in `edge_is_free`."
    return (
        f"Edge {expected} is the first that does not keep the margin of {1e3 * args[5]:g} mm:"
        f" {said.reason}.{why if between else ''}"
    )


def of_the_words(arm, scene, start, goal, path, margin):
    """What is to be said of start, goal and limits, in their order."""
    for word, here, there in (("begins", path[0], start), ("ends", path[-1], goal)):
        off = np.abs(here - there).max()
        if off > 1e-6:
            return f"the path {word} {off:.1g} rad away from there, and this is asked first"
        if off > 0:
            return f"the path {word} {off:.0e} rad away, and 1e-6 rad are allowed"
    bad = np.argwhere(outside(arm, path))
    if len(bad):
        return f"joint {bad[0, 1] + 1} of path[{bad[0, 0]}] is out of its limits"
    return "it begins and ends where it should, and at a limit is not outside"


def edges_first(*case):
    said = variant(order=())(*case)
    return audit(*case) if said == "ok" else said


def last_found(arm, scene, start, goal, path, margin):
    first = audit(arm, scene, start, goal, path, margin)
    if isinstance(first, str):
        return first
    return [k for k, p in enumerate(pairs_of(path)) if not edge_is_free(arm, scene, *p, margin)][-1]


def by_stack(arm, scene, start, goal, path, margin):
    """All edges at once."""
    path = np.asarray(path)
    word = variant(edges=lambda *_: True)(arm, scene, start, goal, path, margin)
    free = np.atleast_1d(edge_is_free(arm, scene, *map(np.array, zip(*pairs_of(path))), margin))
    return word if word != "ok" or free.all() else np.argmin(free)


AUDIT_SAYS = {
    "ends": "You test the postures of the path, not what lies between them: ask `edge_is_free`.",
    "samples": "You test some samples of each edge, and a thin post stands between two of them. Ask"
    " `edge_is_free`, which has a bound on the motion between samples.",
    "last": "The last edge, the one to the goal, is not tested. It is an edge like all others.",
    "margin": "You test for touching, and a margin is asked for: pass it on.",
    "anywhere": "A free path from somewhere to somewhere is no answer: compare its first and last"
    " posture with start and goal.",
    "no limits": "You never look at the limits: the drive will refuse the path.",
    "backwards": "You look at the limits, then at goal and start: the order is the other one.",
    "limits first": "You look at the limits first. The order is start, goal, limits, edges.",
    "edges first": "You test the edges first: they come after start, goal and limits.",
    "equal": "Numbers that went through a file differ in their last digits. Within 1e-6 is asked.",
    "wide": "That counts as near enough what is more than 1e-6 rad away.",
    "upper": "You look at the upper limits only.",
    "at": "A posture at a limit is not outside.",
    "place": "A path of one posture has no edge, so you test nothing. Test that posture.",
    "last bad": "That is the last bad edge. The first one is asked for.",
    "from one": "The first edge has the number 0.",
    "which": "Say which edge it is, or which of the other conditions fails.",
}
AUDIT_DOES = {
    "ends": variant(sampled(2)),
    "samples": variant(sampled(11)),
    "last": variant(drop=1),
    "margin": variant(margins=False),
    "anywhere": variant(order=("limits",)),
    "no limits": variant(order=WORDS[:2]),
    "backwards": variant(order=WORDS[::-1]),
    "limits first": variant(order=("limits", "start", "goal")),
    "edges first": edges_first,
    "equal": variant(tol=0.0),
    "wide": variant(tol=0.05),
    "upper": variant(beyond=lambda arm, path: path > arm.q_max),
    "at": variant(beyond=lambda arm, path: (path <= arm.q_min) | (path >= arm.q_max)),
    "place": variant(one=False),
    "last bad": last_found,
    "from one": lambda *case: k if isinstance(k := audit(*case), str) else k + 1,
    "which": lambda *args: "ok" if audit(*args) == "ok" else 0,
}

AUDIT = Exercise(
    "audit",
    cases=audit_cases,
    truth=audit,
    compare=same_audit,
    seconds=20.0,
    mistakes=told(AUDIT_SAYS, AUDIT_DOES),
    alternatives=[by_stack, lambda a, s, q0, q1, path, m: audit(a, s, q0, q1, path.tolist(), m)],
)

EXERCISES = [NEAREST, FOOL, MARGIN, PARTS, AUDIT]
