"""The judge of homework 08: an arc from a tangent, a round tool on a line, the first fault of a
program, and one factor that keeps all limits.

The truths are held against SciPy and Pinocchio in the tests. Solutions stand here in the open: the
marks hang on hidden cases, and the learning on you.
"""

import numpy as np
from scipy.spatial.transform import Rotation

from course_lib.arm import load_arm
from course_lib.check import Exercise, Mistake, Unreadable, as_numbers, parts
from course_lib.check.compare import in_degrees, in_mm, turn_between
from course_lib.ik import closed_form
from course_lib.kinematics import fk, jacobian

CLOSE = 1e-4  # of metres, radians and factors, as the tasks say: five typed digits pass
COBOT6 = load_arm("cobot6")
HOME = np.array([0.3, 0.5, -0.4, 0.7, -0.6, 0.2])


def variants(function, says):
    """Mistakes of a function whose last argument names what is wrong in it."""
    return [
        Mistake(lambda *case, kind=kind: function(*case, kind), message)
        for kind, message in says.items()
    ]


def norm(v):
    return np.linalg.norm(v, axis=-1)


# ---------------------------------------------------------------- 1. an arc from its tangent

STRAIGHT = 1e-6  # [rad] between tangent and chord, as the task says


def arc_cases(rng):
    """start, tangent, end, s: each kind of way, then drawn ones."""
    s, o = np.array([0, 0.2, 0.5, 0.7, 1]), np.zeros(3)
    p, lean = np.array([0.3, -0.1, 0.2]), np.array([0.6, 0.0, 0.8])
    slight = np.array([np.cos(0.02), np.sin(0.02), 0])
    cases = [
        (o, np.array([1.0, 0, 0]), np.array([0.2, 0.2, 0]), s),  # a quarter
        (p, np.array([-1.0, 0.2, 0.3]), np.array([0.5, 0.1, 0.25]), s),  # more than a half
        (p, np.array([0.5, 2.0, 1.0]), np.array([0.45, 0.1, 0.1]), s),  # a long tangent
        (p, lean, p + 0.3 * np.array([0.8, 0, -0.6]), s),  # half a circle
        (p, np.array([1.0, 0, 0]), p + 0.4 * slight, s),  # hardly bent
        (p, lean, p + 0.3 * (lean + [0, 1e-4, 0]), s),  # hardly bent at all
        (p, 2 * lean, p + 0.25 * lean, s),  # a line
        (p, lean, p - 0.25 * lean, s),  # straight back
        (o, np.array([0.0, -0.4, 0]), np.array([0, -0.2, 0.0]), s),
        (p, lean, p, s),  # there already
    ]
    for _ in range(5):
        start, tangent, way = rng.uniform(-1, 1, (3, 3))
        way *= rng.uniform(0.05, 0.4) / norm(way)
        cases.append((0.4 * start, tangent, 0.4 * start + way, np.sort(rng.uniform(0, 1, 5))))
    return cases


def tangent_arc(start, tangent, end, s, kind=""):
    """("arc", "line" or "none", places (k, 3)) of the way that leaves `start` along `tangent`."""
    s = np.asarray(s)[:, None]
    if kind in ("from the end", "tangent of the end", "backwards"):
        start, end, s = (start, end, s) if kind == "backwards" else (end, start, 1 - s)
        tangent = tangent if kind == "from the end" else -tangent
    chord, along = end - start, tangent / norm(tangent)
    length = norm(chord)
    across = chord - (chord @ along) * along
    angle = np.arctan2(norm(across), chord @ along) if length else 0.0
    straight = {"bends lost": 0.01, "all straight": 9.0}.get(kind, STRAIGHT)
    if angle < straight or np.pi - angle < STRAIGHT and kind == "behind is a line":
        if not length:
            return "line" if kind == "point is a line" else "none", start + 0 * s
        return "none" if kind == "line is none" else "line", start + s * chord
    if np.pi - angle < STRAIGHT:
        return "none", start + 0 * s
    inward = across / norm(across)
    turn = {"half": angle, "short way": 2 * np.arcsin(np.sin(angle))}.get(kind, 2 * angle)
    radius = length / (2 * (np.tan(angle) if kind == "by tan" else np.sin(angle)))
    along = tangent if kind == "long tangent" else along
    places = start + radius * (np.sin(turn * s) * along + (1 - np.cos(turn * s)) * inward)
    if kind == "cubic":
        places = start + s * chord + s * (1 - s) ** 2 * (length * along - chord)
    return "arc", places


ARC_SAYS = {
    "half": "Your arc ends too early. Between tangent and chord lies *half* of the angle that the"
    " tool goes round.",
    "short way": "You go by the chord alone, and two arcs have it. Where the tangent points away"
    " from the end, the arc is more than half a circle.",
    "tangent of the end": "You use the tangent as that of the end. It belongs to the start.",
    "from the end": "You drive from end to start.",
    "backwards": "You leave against the tangent. It says where the tool is going.",
    "all straight": "You always go straight. The tool leaves the start along the tangent.",
    "bends lost": "You take a slight bend for a line. The limit is an angle of 1e-6 rad.",
    "behind is a line": "An end straight behind can't be reached by an arc that leaves forwards,"
    " nor by a line: none.",
    "line is none": "Where the end lies straight ahead, there is a way: the line.",
    "point is a line": "The end is the start: endlessly many circles, and no line. None.",
    "by tan": "From the centre: half the chord is r times the *sine* of the angle between tangent"
    " and chord.",
    "long tangent": "The tangent may have any length. Divide by it first.",
    "cubic": "That is a cubic with this tangent. An arc has one centre: the same bend everywhere.",
}


def same_way(answer, expected, args):
    word, places = parts(answer, ("the word", str), ("the places", None))
    if word.strip().casefold() not in ("arc", "line", "none"):
        raise Unreadable(f"The words are arc, line, none; it is {word!r}.")
    if word.strip().casefold() != expected[0]:
        return f"Here the word is {expected[0]!r}."
    if expected[0] == "none":
        return None
    right = np.asarray(expected[1], float)
    off = norm(as_numbers(places, right.shape, "the places") - right)
    if (off < CLOSE).all():
        return None
    i = int(off.argmax())
    return f"The word is right. At s = {args[3][i]:.3g} the place is {in_mm(off[i])} away."


def arc_as(change):
    """The truth with its places in another form."""

    def answer(*case):
        word, places = tangent_arc(*case)
        return word, change(places)

    return answer


ARC = Exercise(
    "tangent_arc",
    points=2,
    cases=arc_cases,
    truth=tangent_arc,
    compare=same_way,
    alternatives=[
        arc_as(tuple),
        arc_as(np.float32),
        arc_as(lambda p: np.round(p, 5).tolist()),
        lambda *case: [tangent_arc(*case)[0].upper(), [tuple(p) for p in tangent_arc(*case)[1]]],
    ],
    mistakes=variants(tangent_arc, ARC_SAYS),
)


# ---------------------------------------------------------------- 2. a round tool on a line


def round_cases(rng):
    """T0, p1, z1, s: a lean, nearly a half turn, a long z1, no turn, hardly one, on the spot."""
    s, down = np.array([0, 0.27, 0.5, 0.83, 1]), np.eye(4)
    down[:3, :3], down[:3, 3] = np.diag([1, -1, -1]), [0.3, -0.1, 0.2]
    skew = down.copy()
    skew[:3, :3] = Rotation.from_euler("xyz", [2.5, -0.4, 0.9]).as_matrix()
    p, z = np.array([0.4, 0.2, 0.1]), skew[:3, 2]
    cases = [
        (down, p, np.array([0.6, 0.3, -0.8]), s),
        (skew, p, np.array([0.5, -0.2, 2.0]), s),
        (skew, p, np.array([0.02, 0.05, -0.1]), s),
        (skew, p, 3 * z, s),
        (down, p, np.array([0, 0.003, -1.0]), s),
        (skew, skew[:3, 3].copy(), np.array([-0.3, 0.8, 0.4]), s),
        (skew, p, -z + 0.2 * skew[:3, 1], s),
    ]
    for _ in range(5):
        T0 = np.eye(4)
        T0[:3, :3], T0[:3, 3] = Rotation.random(rng=rng).as_matrix(), rng.uniform(-0.4, 0.4, 3)
        turned = Rotation.from_rotvec(rng.uniform(0.3, 2.8) * T0[:3, 0]).apply(T0[:3, 2])
        z1 = Rotation.from_rotvec(rng.uniform(0, 6) * T0[:3, 2]).apply(turned)
        s = np.sort(rng.uniform(0, 1, 5))
        cases.append((T0, rng.uniform(-0.4, 0.4, 3), z1 * rng.uniform(0.5, 2), s))
    return cases


def round_line(T0, p1, z1, s, kind=""):
    """Poses (k, 4, 4): straight to p1, the tool's axis on the shortest way to z1, no spin."""
    s, R0, p0 = np.asarray(s), T0[:3, :3], T0[:3, 3]
    z0, z1 = R0[:, 0 if kind == "x is the axis" else 2], z1 / norm(z1)
    cross = np.cross(z0, z1)
    angle = np.arctan2(norm(cross), z0 @ z1)
    axis = cross / norm(cross) if norm(cross) > 1e-12 else np.zeros(3)
    angle = np.arcsin(min(norm(cross), 1)) if kind == "arcsin" else angle
    angle = -angle if kind == "other way" else angle
    share = {"still": 0 * s, "at once": 0 * s + 1}.get(kind, s)
    if kind == "chord":  # where the straight line from z0 to z1 is seen
        way = np.outer(1 - s, z0) + np.outer(s, z1)
        share = np.arctan2(norm(np.cross(z0, way)), way @ z0) / (angle or 1)
    turn = Rotation.from_rotvec(np.outer(share * angle, axis))
    R = R0 @ turn.as_matrix() if kind == "tool frame" else turn.as_matrix() @ R0
    if kind in ("pressed", "some frame"):
        R = framed(R, R0, z1, s, kind)
    T = np.tile(np.eye(4), (len(s), 1, 1))
    T[:, :3, :3] = R
    T[:, :3, 3] = p0 + np.outer(s, p1 - p0)
    if kind == "screw":
        T[:, :3, 3] = p1 + turn.apply((turn[-1].inv().apply(p0 - p1))) + 0 * p0
        T[:, :3, 3] += np.outer(1 - s, p0 - T[0, :3, 3])
    if kind == "relative":
        T[:, :3, 3] = p0 + np.outer(s, p1)
    return T


def framed(R, R0, z1, s, kind):
    """Rotations whose turn about the axis follows a rule of its own."""
    if kind == "pressed":
        z = R[:, :, 2]
        x = R0[:, 0] - (z @ R0[:, 0])[:, None] * z
        x /= norm(x)[:, None]
        return np.stack([x, np.cross(z, x), z], axis=2)
    x = np.cross([0.1, 1, 0], z1)
    x = x / norm(x)
    R1 = Rotation.from_matrix(np.stack([x, np.cross(z1, x), z1], axis=1))
    start = Rotation.from_matrix(R0)
    return (Rotation.from_rotvec(np.outer(s, (R1 * start.inv()).as_rotvec())) * start).as_matrix()


ROUND_SAYS = {
    "x is the axis": "You turn the tool's x. Its axis is z, the third column.",
    "arcsin": "arcsin never gives more than 90°, and the axis may turn further. Take arctan2 of"
    " sine and cosine.",
    "other way": "You turn the wrong way round: z0 × z1 turns z0 to z1, z1 × z0 back.",
    "still": "You keep the orientation. The tool's axis must arrive at z1.",
    "at once": "You turn at once. The turn belongs to the way, in proportion to s.",
    "chord": "You mix z0 and z1 and make the length 1. Then the axis is slow at both ends and quick"
    " between: its *angle* should grow in proportion to s.",
    "tool frame": "The axis z0 × z1 is one of the world, so its turn stands on the left of R0.",
    "pressed": "The tool's axis is right. But you press the old x into the new plane, and that"
    " turns the tool about its axis: one turn about z0 × z1 does not.",
    "some frame": "You make up x and y for the end and turn to them. The tool is round: nobody asks"
    " for that turn about its axis.",
    "screw": "The point moves on a bow, as about a screw. It should go straight.",
    "relative": "p1 is a place in the world, not the way from the start.",
}


def same_round(answer, expected, args):
    right = np.asarray(expected, float)
    T = as_numbers(answer, right.shape, "the poses")
    R, W = T[:, :3, :3], right[:, :3, :3]
    if not np.abs(np.swapaxes(R, 1, 2) @ R - np.eye(3)).max() < CLOSE:
        raise Unreadable("One of them is no rotation: RᵀR is not 1.")
    if not np.abs(T[:, 3] - [0, 0, 0, 1]).max() < CLOSE or np.linalg.det(R).min() < 0:
        raise Unreadable("A pose has the bottom row (0, 0, 0, 1), and no mirror in it.")
    axes = 2 * np.arcsin(np.minimum(norm(R[:, :, 2] - W[:, :, 2]) / 2, 1))
    checks = (
        ("the place is {} off", norm(T[:, :3, 3] - right[:, :3, 3]), in_mm),
        ("the tool's axis is {} off", axes, in_degrees),
        ("axis and place are right; the tool has spun about its axis by {}", None, in_degrees),
    )
    for words, off, said in checks:
        off = turn_between(R, W) if off is None else off
        if not (off < CLOSE).all():
            i = int(off.argmax())
            return f"At s = {args[3][i]:.3g} {words.format(said(off[i]))}."
    return None


ROUND = Exercise(
    "round_line",
    points=2,
    cases=round_cases,
    truth=round_line,
    compare=same_round,
    alternatives=[
        lambda *case: list(round_line(*case)),
        lambda *case: np.float32(round_line(*case)),
        lambda *case: np.round(round_line(*case), 5),
        lambda *case: tuple(T.tolist() for T in round_line(*case)),
    ],
    mistakes=variants(round_line, ROUND_SAYS),
)


# ---------------------------------------------------------------- 3. the first fault of a program

GAP, TURN, OFF = 0.08, 0.35, 0.003  # the limits of most cases [m], [rad], [m]
KINDS = ("spacing", "flip", "jump", "speed")
FAULTS = ("spacing", "flip", "nod", "roll", "wrist", "elbow", "wrap", "turn", "speed")
AT_ONCE = {"flip": (5, np.pi), "nod": (4, -0.75), "roll": (5, 0.5)}  # joint, counted from 0
AT_ONCE |= {"wrap": (5, -2 * np.pi), "turn": (0, 2 * np.pi)}
STEPS = np.array([0.5, -0.4, 0.5, -0.5, 0.5, 0.45])


def program(q, use):
    """t (m,), q (m, 6): each step takes so long that its fastest joint has `use` of its limit."""
    step = np.abs(np.diff(q, axis=0)).max(axis=1)
    return 3 + np.append(0, np.cumsum(step / (1.5 * use))), q


def smooth(m=10, way=STEPS, start=HOME, u=None):
    u = (np.linspace(0, 1, m) if u is None else u)[:, None]
    return start + u * way + 0.1 * np.sin(np.pi * u)


def spoilt(t, q, k, fault):
    """The program with a fault in step k: "fault", or "fault now", which takes no time."""
    t, q, after = t.copy(), q.copy(), slice(k + 1, None)
    name, _, hurry = fault.partition(" ")
    if name == "spacing":
        return np.delete(t, slice(k + 1, k + 5)), np.delete(q, slice(k + 1, k + 5), axis=0)
    if name == "speed":
        t[after] += np.abs(q[k + 1] - q[k]).max() / (1.5 * 1.6) - (t[k + 1] - t[k])
        return t, q
    if name == "elbow":
        for i in range(k + 1, len(q)):
            rows = closed_form(COBOT6, fk(COBOT6, q[i]))
            other = rows[np.abs(rows[:, 2] - q[i, 2]) > 0.5]
            before = q[i - 1] if i > k + 1 else q[i]
            q[i] = other[np.abs(other - before)[:, :3].sum(axis=1).argmin()]
    elif name == "wrist":
        q[after] = q[after] * [1, 1, 1, 1, -1, 1] + np.pi * np.array([0, 0, 0, 1, 0, -1])
    else:
        joint, angle = AT_ONCE[name]
        q[after, joint] += angle
    t[after] += 0 if hurry else 8
    return t, q


def fault_cases(rng):
    """t, q, gap, turn, off: sound ones, each fault alone, several in one, then drawn ones."""
    uneven = np.array([0.7, 0.3, 0.55, 0.25, 0.65, 0.4, 0.7, 0.3, 0.5])
    plain = program(smooth(), uneven)
    wrist, u = np.array([0.03, -0.03, 0.03, 1.8, 0, -1.8]), np.array([0, 1, 2, 3, 7, 8, 9, 10]) / 10
    near = program(smooth(4, wrist, HOME * [1, 1, 1, -1, 0, 1] - 0.05), 0.6)
    uneven_places = program(smooth(0, STEPS / 2, HOME, u), 0.7)
    lists = [[], *([(4, fault)] for fault in FAULTS)]
    lists += [[(1, "speed"), (5, "spacing")], [(2, "wrist"), (6, "flip"), (0, "speed")]]
    lists += [[(3, "flip now")], [(3, "wrist now")], [(3, "flip"), (3, "spacing")]]
    lists += [[(2, "speed"), (7, "speed")], [(3, "speed")], [(0, "wrap now")], [(8, "speed")]]
    back = program(smooth(9)[::-1], 0.5)
    sound = (near, uneven_places, back, spoilt(*back, 2, "speed"))
    cases = [(*made, GAP, TURN, OFF) for made in sound]
    for faults in lists:
        made = plain
        for k, fault in faults:
            made = spoilt(*made, k, fault)
        cases.append((*made, GAP, TURN, OFF))
    others = (0.018, TURN, OFF), (GAP, 0.03, OFF), (GAP, TURN, 6.9e-4), (0.2, 1.0, 0.02)
    cases += [(*plain, *limits) for limits in others[:3]]
    cases += [(*spoilt(*plain, 4, fault), *others[3]) for fault in ("spacing", "roll", "elbow")]
    while len(cases) < 33:
        way = rng.uniform(0.35, 0.55, 6) * rng.choice([-1, 1], 6)
        made = program(smooth(14, way, HOME + rng.uniform(-0.1, 0.1, 6)), rng.uniform(0.3, 0.7, 13))
        for _ in range(2):
            made = spoilt(*made, int(rng.integers(0, 6)), rng.choice(FAULTS))
        made = *made, *np.array([GAP, TURN, OFF]) * rng.uniform(0.9, 1.3, 3)
        if clear_cut(*made):
            cases.append((*made[:2], *map(float, made[2:])))
    return cases


def measures(t, q, gap, turn, off, kind=""):
    """Use of each limit (4, m - 1) by the steps: above 1 it is a fault, in the order of KINDS."""
    gap, turn, off = (GAP, TURN, OFF) if kind == "own limits" else (gap, turn, off)
    T = fk(COBOT6, q)
    step, dt = np.diff(q, axis=0), np.diff(t)
    step = (step + np.pi) % (2 * np.pi) - np.pi if kind == "wrapped" else step
    middle = fk(COBOT6, q[:-1] + step / 2)
    first = (lambda x: np.broadcast_to(x[0], x[1:].shape)) if kind == "first" else lambda x: x[:-1]
    p, R = T[:, :3, 3], T[:, :3, :3]
    turned = turn_between(first(R), R[1:])
    if kind == "axis alone":
        turned = np.arccos(np.clip((R[1:, :, 2] * R[:-1, :, 2]).sum(axis=1), -1, 1))
    leaves = norm(middle[:, :3, 3] - (p[:-1] + p[1:]) / 2) / off
    leaves = 0 * leaves if kind == "turn alone" else leaves
    if kind != "place alone":
        leaves = np.maximum(leaves, turn_between(R[:-1], middle) / turn)
    if kind == "far joint":
        leaves = np.abs(step).max(axis=1) / 0.4
    dt = np.full(len(dt), dt.mean()) if kind == "even clock" else dt
    rate = step / dt[:, None] / COBOT6.qd_max
    fast = {"signed": rate.max(axis=1), "norm": norm(rate)}.get(kind, np.abs(rate).max(axis=1))
    way = norm(np.diff(p, axis=0) if kind != "first" else p[1:] - p[0])
    return np.array([way / gap, turned / turn, leaves, fast])


def clear_cut(*case):
    """No step is near a limit."""
    return not (np.abs(np.log(measures(*case) + 1e-9)) < 0.15).any()


def first_fault(t, q, gap, turn, off, kind=""):
    """(word, step) of the first step with a fault, and of its faults the first of KINDS."""
    bad = measures(t, q, gap, turn, off, kind) > 1
    names = list(KINDS)
    if kind in names:
        bad[names.index(kind)] = False
    if kind == "speed first":
        bad, names = np.roll(bad, 1, axis=0), ["speed", *names[:3]]
    if kind == "jump before flip":
        bad, names = bad[[0, 2, 1, 3]], [names[i] for i in (0, 2, 1, 3)]
    if not bad.any():
        return "none", -1
    if kind == "kind by kind":
        i = int(bad.any(axis=1).argmax())
        return names[i], int(bad[i].argmax())
    steps = np.flatnonzero(bad.any(axis=0))
    k = steps[-1] if kind == "last" else steps[0]
    return names[int(bad[:, k].argmax())], int(k) + (kind == "one on")


FAULT_SAYS = {
    "wrapped": "You take full turns off the joint steps. A drive does not: from 3 to -3 rad it"
    " turns 6 rad back, and the tool goes with it.",
    "axis alone": "You watch the tool's axis. Turned about that axis, it has flipped as well.",
    "place alone": "Half-way you look at the place of the tool. It may stay, while the tool turns"
    " round and back.",
    "turn alone": "Half-way you look at the orientation. The place may be off by itself.",
    "own limits": "The limits gap, turn and off are arguments: they differ from case to case.",
    "far joint": "A large step of a joint is no jump by itself: near a singularity joints 4 and 6"
    " may turn against each other. Ask where the tool is half-way.",
    "even clock": "You divide all steps by the same time. Look at t.",
    "signed": "Speeds have a size: a joint that goes back may be too fast as well.",
    "norm": "You add up the speeds of the joints. Each has a limit for itself.",
    "first": "You compare with the first posture. A step goes from one posture to the next.",
    "last": "That is the last fault. The first one is asked for.",
    "one on": "The step from posture k to posture k + 1 has the number k.",
    "kind by kind": "You look for one kind of fault after the other. The first *step* with a fault"
    " is asked for; only within it the order of the kinds decides.",
    "speed first": "Within one step, speed is asked for last: who leaps is always too fast, and"
    " more time would not help.",
    "jump before flip": "Within one step, a flip comes before a jump.",
    "spacing": "You never find too wide a spacing.",
    "flip": "You never find a flip.",
    "jump": "You never find a jump.",
    "speed": "You never find a joint that is too fast.",
}


def same_fault(answer, expected, args):
    word, k = parts(answer, ("the word", str), ("the step", None))
    word = word.strip().casefold()
    if word not in (*KINDS, "none"):
        raise Unreadable(f"The words are {', '.join(KINDS)}, none; it is {word!r}.")
    if word == "none" == expected[0]:
        return None
    if word == "none":
        return f"There is a fault, in step {expected[1]}: {expected[0]}."
    k = float(as_numbers(k, (), "the step"))
    if expected[0] == "none":
        return "This program has no fault."
    if (word, k) == (expected[0], float(expected[1])):
        return None
    return f"The first fault is in step {expected[1]}: {expected[0]}."


FAULT = Exercise(
    "first_fault",
    points=3,
    cases=fault_cases,
    truth=first_fault,
    compare=same_fault,
    alternatives=[
        lambda *case: [f" {first_fault(*case)[0]}", float(first_fault(*case)[1])],
        lambda *case: [first_fault(*case)[0].title(), np.float32(first_fault(*case)[1])],
        lambda *case: (first_fault(*case)[0], np.array([first_fault(*case)[1]])),
    ],
    mistakes=variants(first_fault, FAULT_SAYS),
)


# ---------------------------------------------------------------- 4. one factor for all limits


def factor_cases(rng):
    """q, qd, qdd, v_max, omega_max, a_max: each limit binds once, then drawn plans."""
    e, o = np.eye(6), np.zeros((1, 6))
    one, free = HOME[None], (np.inf, np.inf, np.inf)
    walk, rates = HOME + 0.1 * np.arange(4)[:, None], np.outer([0.4, 1.2, -0.9, 0.2], np.ones(6))
    cases = [
        (one, -3 * e[5:], o, *free),
        (one, o, -12 * e[3:4], *free),
        (one, -1.2 * e[:1], o, 0.2, 9.0, 99.0),
        (one, 1.2 * e[5:] - 0.8 * e[3:4], o, 2.0, 0.5, 99.0),
        (one, 1.4 * e[:1] + 1.2 * e[2:3], o, 2.0, 9.0, 0.3),
        (one, 1.4 * e[:1] - e[1:2], 2.5 * e[:1] + 2 * e[2:3], 2.0, 9.0, 0.4),
        (one, 0.9 * e[:1], 2.0 * e[:1], 2.0, 9.0, 9.0),
        (one, o, o, 0.2, 0.5, 0.5),
        (walk, 0 * walk, 0 * walk, 0.2, 0.5, 0.5),
        (walk, 2 * rates, 3 * rates[::-1], *free),
        (walk, rates, 6 * rates[::-1], 0.5, 4.0, 99.0),
        (walk, 0.8 * rates, -rates, 0.3, 4.0, 1.5),
        (one, o, 2.5 * e[1:2], 2.0, 9.0, 0.2),
        (walk, rates, np.outer([0.42, -0.37, 0.28, -2.26], [1, -1, 1, 1, -1, 1]), 2.0, 9.0, 0.37),
        (walk, 0.7 * rates, -2.33 * e[:4] + 1.27 * e[1:5], 2.0, 9.0, 0.56),
    ]
    for _ in range(6):
        q, qd, qdd = rng.uniform(-1, 1, (3, 7, 6))
        limits = rng.uniform(0.2, 0.9), rng.uniform(0.8, 3), rng.uniform(0.5, 4)
        cases.append((2 * q, rng.uniform(0.5, 2) * qd, rng.uniform(0.5, 5) * qdd, *limits))
    return cases


def tool_of(q, qd, qdd, kind=""):
    """Speed [m/s], turning [rad/s] and acceleration [m/s^2] of the tool point, as vectors."""
    J, h = jacobian(COBOT6, q), 1e-4
    twist = np.einsum("mij,mj->mi", J, qd)
    there = lambda x: fk(COBOT6, q + x * qd + x * x / 2 * qdd)[:, :3, 3]
    a = (there(h) - 2 * there(0) + there(-h)) / h**2
    pushed = np.einsum("mij,mj->mi", J[:, :3], qdd)
    a = {"no bend": pushed, "bend alone": a - pushed}.get(kind, a)
    return twist[:, :3], twist[:, 3:], pushed - (a - pushed) if kind == "bend taken off" else a


def slow_down(q, qd, qdd, v_max, omega_max, a_max, kind=""):
    """The largest factor, at most 1, by which the clock may run."""
    v, w, a = tool_of(q, qd, qdd, kind)
    size = (lambda x: np.abs(x).max(axis=-1)) if kind == "components" else norm
    v, w, a = size(v), size(w), size(a)
    v = np.hypot(v, w) if kind == "twist" else v
    joints = (lambda x, top: norm(x / top)) if kind == "norm" else lambda x, top: np.abs(x / top)
    joints = (lambda x, top: x / top) if kind == "signed" else joints
    rates = [np.max(joints(qd, COBOT6.qd_max)), np.max(v) / v_max, np.max(w) / omega_max]
    pushes = [np.max(joints(qdd, COBOT6.qdd_max)), np.max(a) / a_max]
    dropped = {"no joints": (0, 3), "no tool": (1, 2, 4), "no omega": (2,), "no a": (4,)}
    dropped |= {"no v": (1,), "no qdd": (3,), "no qd": (0,)}
    uses = np.array([*rates, *pushes])
    uses[list(dropped.get(kind, ()))] = 0
    power = {"no root": [1, 1], "square": [1, 2]}.get(kind, [1, 0.5])
    uses = np.maximum(uses, 1e-12) ** np.repeat(power, [3, 2])
    factors = 1 / uses if kind == "quicker" else np.minimum(1 / uses, 1)
    if kind == "product":
        return float(factors.prod())
    best = float(min(factors.min(), 1e6))
    return 1 / best if kind == "upside down" else best


FACTOR_SAYS = {
    "no bend": "You take J q̈ for the tool's acceleration. The Jacobian changes on the way, too: a"
    " joint that turns evenly still pulls the tool towards its axis.",
    "bend alone": "Of the tool's acceleration you take what turning brings, and leave J q̈ out.",
    "bend taken off": "The part J̇ q̇ is added to J q̈, not taken off.",
    "components": "The limits of the tool are for the length of the vector, not for its parts.",
    "twist": "You put metres and radians into one length. The point has v, the turning has ω.",
    "norm": "You put the joints into one length. Each joint has a limit for itself.",
    "signed": "A joint that goes back may be too fast, too: sizes.",
    "no joints": "The limits of the joints are not kept.",
    "no tool": "The limits of the tool are not kept.",
    "no omega": "The tool turns too fast: omega_max.",
    "no a": "The tool accelerates too much: a_max.",
    "no v": "The tool is too fast: v_max.",
    "no qdd": "A joint accelerates too much.",
    "no qd": "A joint is too fast.",
    "no root": "With k times the speed an acceleration is k² times as large: take the root.",
    "square": "You turned it round: an acceleration goes with k², so k goes with its root.",
    "quicker": "Where all limits leave room, the plan keeps its clock: at most 1.",
    "product": "You multiply the factors. The smallest one keeps all limits.",
    "upside down": "That is by how much the plan takes longer. The factor of its clock is 1 over"
    " that.",
}


def same_factor(answer, expected, args):
    """What the limits say to the answer."""
    k, right = float(as_numbers(answer, ())), float(expected)
    if abs(k - right) < CLOSE:
        return None
    if not k > 0:
        return "A clock runs forwards: the factor is above 0."
    if k > right:
        return f"With a factor of {k:.5g} a limit is passed; the largest that keeps all is lower."
    return f"With a factor of {k:.5g} no limit is reached: the clock may run faster."


def by_differences(q, qd, qdd, v_max, omega_max, a_max):
    """Limit by limit; the tool by differences of the Jacobian."""
    h, J = 1e-6, jacobian(COBOT6, q)
    bend = (jacobian(COBOT6, q + h * qd) - jacobian(COBOT6, q - h * qd)) / (2 * h)
    V = (J @ qd[..., None])[..., 0]
    A = (J @ qdd[..., None] + bend @ qd[..., None])[..., 0]
    rates = (abs(qd) / COBOT6.qd_max).max(), norm(V[:, :3]).max() / v_max
    pushes = (abs(qdd) / COBOT6.qdd_max).max(), norm(A[:, :3]).max() / a_max
    return 1 / max(1, *rates, norm(V[:, 3:]).max() / omega_max, *(x**0.5 for x in pushes))


FACTOR = Exercise(
    "slow_down",
    points=3,
    cases=factor_cases,
    truth=slow_down,
    compare=same_factor,
    alternatives=[
        by_differences,
        lambda *case: np.float32(by_differences(*case)),
        lambda *case: round(by_differences(*case), 5),
        lambda *case: [by_differences(*case)],
    ],
    mistakes=variants(slow_down, FACTOR_SAYS),
)

EXERCISES = [ARC, ROUND, FAULT, FACTOR]
