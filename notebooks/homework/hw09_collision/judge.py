"""The judge of homework 09: a pillar with flat ends, an arm that carries a bar, what samples prove,
and the pairs that need no check.

Its own distances stand below; the tests hold them against coal and SciPy. Solutions stand here in
the open: the marks hang on hidden cases, and the learning on you.
"""

from functools import lru_cache
from itertools import combinations

import numpy as np

from course_lib.arm import load_arm
from course_lib.check import Exercise, Mistake, Unreadable, as_numbers, in_mm, numbers_in, parts
from course_lib.kinematics import link_frames

CLOSE = 1e-4  # [m] of distances, as the tasks say: five typed digits pass
COBOT6 = load_arm("cobot6")


def variants(function, says):
    """Mistakes of a function whose last argument names what is wrong in it."""
    return [
        Mistake(lambda *case, kind=kind: function(*case, kind), message)
        for kind, message in says.items()
    ]


def norm(v):
    return np.linalg.norm(v, axis=-1)


def dot(u, v):
    return (u * v).sum(axis=-1)


def to_segment(P, A, B):
    """Distance of points P (..., 3) from segments A to B (..., 3)."""
    D = B - A
    share = np.clip(dot(P - A, D) / np.maximum(dot(D, D), 1e-300), 0, 1)
    return norm(P - A - share[..., None] * D)


def apart(A, B, F, G):
    """Distance of segments A to B and F to G (..., 3): at an end of one, or inside of both."""
    A, B, F, G = np.broadcast_arrays(A, B, F, G)
    ends = [to_segment(A, F, G), to_segment(B, F, G), to_segment(F, A, B), to_segment(G, A, B)]
    D, E, w = B - A, G - F, F - A
    n = np.cross(D, E)
    size = np.maximum(dot(n, n), 1e-300)
    s, u = dot(np.cross(w, E), n) / size, dot(np.cross(w, D), n) / size
    cross = (dot(n, n) > 1e-20) & (s >= 0) & (s <= 1) & (u >= 0) & (u <= 1)
    return np.where(cross, np.abs(dot(w, n)) / np.sqrt(size), np.min(ends, axis=0))


# ---------------------------------------------------------------- 1. a pillar with flat ends


def pillar_cases(rng):
    """p, foot, axis, radius, height: beside, above, past the rim, inside, on the axis, drawn."""
    o, z, tilt = np.zeros(3), np.array([0, 0, 1.0]), np.array([2.0, -1, 2])
    foot, side = np.array([0.3, -0.1, -0.05]), np.array([1.0, 2, 0]) / np.sqrt(5)
    at = lambda r, h: foot + r * side + h * tilt / 3
    upright = [((0.3, 0.1, 0.2), 0.1), ((0.02, 0.03, 0.7), 0.1), ((0.2, 0.15, 0.66), 0.12)]
    upright += [((0.3, 0, -0.2), 0.1), ((0.02, 0.05, 0.3), 0.12), ((0.02, 0.01, 0.47), 0.1)]
    upright += [((0, 0, 0.3), 0.1), ((0, 0, 0.45), 0.1), ((0, 0, 0.8), 0.1), ((0.01, 0, 0.02), 0.1)]
    cases = [(np.array(p, float), o, z, radius, 0.5) for p, radius in upright]
    pairs = [(0.25, 0.2), (0.05, 0.7), (0.2, -0.1), (0.08, 0.2), (0.02, 0.03), (0, 0.2), (0, -0.1)]
    cases += [(at(*pair), foot, tilt, 0.1, 0.4) for pair in pairs]
    cases += [(at(0.3, 0.02), foot, tilt, 0.2, 0.04), (at(0.01, 0.02), foot, tilt, 0.2, 0.04)]
    for _ in range(6):
        axis, radius, height = rng.normal(size=3), rng.uniform(0.04, 0.2), rng.uniform(0.1, 0.6)
        p = rng.uniform(-0.5, 0.5, 3)
        cases.append((p, rng.uniform(-0.5, 0.5, 3), axis, float(radius), float(height)))
    return cases


def to_pillar(p, foot, axis, radius, height, kind=""):
    """(signed distance, nearest point (3,) of the surface)."""
    axis = axis if kind == "long axis" else axis / norm(axis)
    foot = foot - height / 2 * axis if kind == "middle" else foot
    h = (p - foot) @ axis
    across = p - foot - h * axis
    r = norm(across)
    out = across / r if r > 1e-12 else np.linalg.svd(axis[None])[2][1]
    beside, beyond = r - radius, max(-h, h - height)
    end = 0.0 if h < height / 2 or kind == "foot alone" else height
    if kind == "top alone":
        beyond, end = h - height, height
    beyond = {"endless": -np.inf, "foot alone": -h}.get(kind, beyond)
    if kind == "capsule":
        on_axis = foot + np.clip(h, 0, height) * axis
        d = norm(p - on_axis) - radius
        return d, on_axis + radius * (p - on_axis) / max(norm(p - on_axis), 1e-12)
    if beside > 0 and beyond > 0:
        d = {"larger": max(beside, beyond), "sum": beside + beyond}.get(
            kind, np.hypot(beside, beyond)
        )
        near = foot + end * axis + radius * out
    elif beside > beyond or kind == "side inside" and beside <= 0 and beyond <= 0:
        d, near = beside, foot + h * axis + radius * out
    else:
        d, near = beyond, foot + end * axis + across
    if max(beside, beyond) <= 0:
        d = {"unsigned": abs(d), "nothing inside": 0.0, "farther inside": min(beside, beyond)}.get(
            kind, d
        )
    near = {"on the axis": foot + h * axis, "the way": near - p}.get(kind, near)
    if kind == "point inside" and max(beside, beyond) < 0:
        near = p
    return (d + radius if kind == "no radius" else d), near


PILLAR_SAYS = {
    "endless": "Your pillar has no ends.",
    "capsule": "Your pillar has round ends: that is a capsule. Here they are flat.",
    "top alone": "Your pillar has no foot: below it, it goes on.",
    "foot alone": "Your pillar has no top: above it, it goes on.",
    "middle": "You take the foot for the middle.",
    "long axis": "The axis may have any length. Divide by it first.",
    "no radius": "That is the distance from the axis or from its end, not from the surface.",
    "larger": "Past the rim, beside *and* beyond the end, the nearest point is on the rim: both"
    " ways form the sides of a right angle.",
    "sum": "Past the rim both ways form the sides of a right angle: √(a² + b²), not a + b.",
    "side inside": "Inside you always go out through the side. An end may be nearer.",
    "unsigned": "Inside, the distance is negative.",
    "nothing inside": "Inside you say 0. How deep is it? The nearest way out, with a minus.",
    "farther inside": "Inside you take the way out that is longest. The shortest one counts.",
    "on the axis": "The distance is right. Your point lies on the axis, not on the surface.",
    "point inside": "Inside, a point of the *surface* is asked for, not the point itself.",
    "the way": "Your second thing is the way to the point. The place itself is asked for.",
}


def same_witness(answer, expected, args):
    d, near = parts(answer, ("the distance", ()), ("the nearest point", (3,)))
    p, right = args[0], float(expected[0])
    if not abs(d - right) < CLOSE:
        return f"Your distance is off by {in_mm(abs(d - right))}."
    if norm(near - np.asarray(expected[1], float)) < CLOSE:
        return None
    off = abs(to_pillar(near, *args[1:])[0])
    if not off < CLOSE:
        return f"The distance is right; your point lies {in_mm(off)} from the surface."
    longer = norm(near - p) - abs(right)
    return None if longer < CLOSE else f"Another point of the surface is {in_mm(longer)} nearer."


def by_profile(p, foot, axis, radius, height):
    """In the half plane of the axis the pillar is a rectangle; each of its three sides in turn."""
    u = axis / norm(axis)
    h = float((p - foot) @ u)
    flat = (p - foot) - h * u
    r = float(norm(flat))
    if r < 1e-9:
        flat = np.cross(u, np.eye(3)[int(np.abs(u).argmin())])
    flat = flat / norm(flat)
    spots = [(min(r, radius), 0.0), (min(r, radius), height), (radius, min(max(h, 0), height))]
    spot = min(spots, key=lambda x: np.hypot(x[0] - r, x[1] - h))
    sign = -1 if r < radius and 0 < h < height else 1
    return sign * np.hypot(spot[0] - r, spot[1] - h), foot + spot[0] * flat + spot[1] * u


PILLAR = Exercise(
    "to_pillar",
    points=2,
    cases=pillar_cases,
    truth=to_pillar,
    compare=same_witness,
    alternatives=[
        by_profile,
        lambda *case: [np.float32(x) for x in by_profile(*case)],
        lambda *case: (round(float(by_profile(*case)[0]), 5), np.round(by_profile(*case)[1], 5)),
        lambda *case: [np.array([by_profile(*case)[0]]), by_profile(*case)[1].tolist()],
    ],
    mistakes=variants(to_pillar, PILLAR_SAYS),
)


# ---------------------------------------------------------------- 2. an arm that carries a bar

RADII = COBOT6.radius
PAIRS = np.array([(1, 3), (1, 4), (1, 5), (1, 6), (2, 5), (2, 6), (3, 5), (3, 6)])
TELLING = (28, 13, 0, 2)  # seeds of the fixed cases


def skeleton(q):
    """Both ends of the six links (..., 6, 3): along d of its row, or along a."""
    frames = link_frames(COBOT6, q)
    P = frames[..., :3, 3]
    return P[..., :-1, :], P[..., 1:, :]


def carried_gaps(q, bar, pillars, kind=""):
    """Clearances (N, …) at postures q (N, 6), by what is against what."""
    A, B = skeleton(q)
    if kind == "joints":
        A = B
    T = link_frames(COBOT6, q)[:, -1]
    T = np.broadcast_to(np.eye(4), T.shape) if kind == "bar in the world" else T
    a, b = (T[:, :3, 3] + T[:, :3, :3] @ end for end in bar[:2])
    a = b if kind == "bar's end" else (a + b) / 2 if kind == "bar's middle" else a
    b = a if kind == "bar's middle" else b
    F, G, R = pillars[:, :3], pillars[:, 3:6], pillars[:, 6]
    F, G = {"pillar feet": (F, F), "endless": (F - 9 * (G - F), G + 9 * (G - F))}.get(kind, (F, G))
    links, r, R = RADII, bar[2], R
    links = 0 * links if kind == "no link radii" else links
    r, R = 0 if kind == "no bar radius" else r, 0 * R if kind == "no pillar radii" else R
    i, j = (np.array(list(combinations(range(1, 7), 2))) if kind == "all pairs" else PAIRS).T - 1
    own = np.arange(6 if kind == "bar and its wrist" else 4)
    add = lambda M: M[:, :, None]
    return {
        "arm": (apart(add(A), add(B), F, G) - links[:, None] - R).reshape(len(q), -1),
        "bar": apart(a[:, None], b[:, None], F, G) - r - R,
        "self": apart(A[:, i], B[:, i], A[:, j], B[:, j]) - links[i] - links[j],
        "bar and arm": apart(a[:, None], b[:, None], A[:, own], B[:, own]) - r - links[own],
    }


def least_clearance(q0, q1, bar, pillars, kind=""):
    """The least clearance [m] on the straight way of the joints from q0 to q1."""
    few = {"ends": [0.0, 1.0], "middle": [0.5], "coarse": np.linspace(0, 1, 5)}
    few = (few | {"twenty": np.linspace(0, 1, 20), "hundred": np.linspace(0, 1, 100)}).get(kind)
    t = np.linspace(0, 1, 101) if few is None else np.array(few)
    left = along(t, q0, q1, bar, pillars, kind)
    if few is None and kind != "mean":
        closer = np.clip(t[left.argmin()] + np.linspace(-0.01, 0.01, 41), 0, 1)
        left = along(closer, q0, q1, bar, pillars, kind)
    return float({"mean": left.mean(), "cut off": max(left.min(), 0)}.get(kind, left.min()))


def along(t, q0, q1, bar, pillars, kind=""):
    """The least clearance (k,) at shares t (k,) of the way."""
    gaps = carried_gaps(q0 + t[:, None] * (q1 - q0), bar, pillars, kind)
    left = [gap.min(axis=1) for name, gap in gaps.items() if name != kind.removeprefix("no ")]
    return np.min(left, axis=0)


CARRIED_SAYS = {
    "joints": "You test the joints only. A link is there between its joints, too: whole segments.",
    "ends": "You test the end points of the move only. What is in between may be nearer.",
    "middle": "You test the posture half-way only.",
    "coarse": "A few postures are too few: between two of them a link goes on by centimetres.",
    "twenty": "Twenty postures are too few: in one of these moves the end of the bar goes 1.8 m, so"
    " 9 cm from one posture to the next.",
    "hundred": "A hundred postures look like many. Where the arm is outstretched and quick, its bar"
    " still goes on by 2 cm from one to the next: look closer where it is close.",
    "no link radii": "You forget the radii of the links: the arm is no wire.",
    "no bar radius": "You forget the radius of the bar.",
    "no pillar radii": "You forget the radii of the pillars.",
    "no self": "You forget self-collision: link against link.",
    "no bar": "You forget the bar against the pillars. What the arm carries is a part of it.",
    "no arm": "You forget the arm against the pillars.",
    "no bar and arm": "You forget the bar against the arm's own links, 1 to 4.",
    "all pairs": "You test neighbours, too. They meet in their joint: take `PAIRS`.",
    "bar and its wrist": "You test the bar against the links that hold it. Links 1 to 4 count.",
    "bar in the world": "The bar's ends are given in the frame of the tool. It moves along.",
    "bar's end": "The bar is more than one of its ends.",
    "bar's middle": "The bar is more than its middle.",
    "pillar feet": "A pillar is more than its foot.",
    "endless": "A pillar ends: keep the share along it between 0 and 1.",
    "mean": "A mean says nothing: the least is asked for.",
    "cut off": "You cut a negative clearance off at 0. How deep is it?",
}


def drawn_move(rng):
    """A move, a bar, and three pillars (or balls) not far from what moves. None is pierced."""
    while True:
        q0 = rng.uniform(-1, 1, 6) * [2.4, 1.3, 2.4, 2, 2.2, 2]
        q1 = np.clip(q0 + rng.uniform(-1, 1, 6), -2.6, 2.6)
        x, y, z = rng.uniform([0.03, 0.05, 0.03], [0.2, 0.2, 0.06])
        bar = [np.array([-x, 0, z]), np.array([y, 0.02, z]), float(rng.uniform(0.01, 0.02))]
        A, B = skeleton(q0 + rng.uniform() * (q1 - q0))
        k = rng.integers(1, 6, 3)
        foot = A[k] + rng.uniform(0, 1, (3, 1)) * (B - A)[k] + 0.3 * rng.uniform(-1, 1, (3, 3))
        way = rng.choice([0, 0.3], (3, 1)) * rng.uniform(-1, 1, (3, 3))
        pillars = np.column_stack([foot, foot + way, rng.uniform(0.02, 0.05, 3)])
        gaps = carried_gaps(q0 + np.linspace(0, 1, 41)[:, None] * (q1 - q0), bar, pillars)
        least = [gap.min() for gap in gaps.values()]
        if min(least) > -0.01 and min(least) < rng.choice([0.0, 0.05]):
            return q0, q1, bar, pillars


def swing(share, way):
    """The outstretched arm sweeps a long bar past a ball, 15 mm from axis to axis, and is by."""
    q0, q1 = np.array([[-1.1, 0.2, 1.371, 0, 0, 0], [1.1, 0.2, 1.371, 0, 0, 0]])[::way]
    bar = [np.array([0, 0, 0.02]), np.array([0, 0, 0.2]), 0.01]
    T = link_frames(COBOT6, q0 + share * (q1 - q0))[-1]
    end, outward = T[:3, 3] + T[:3, :3] @ bar[1], T[:3, :3] @ [0, 0, 1]
    ball = end + 0.015 * outward
    far = ball + [0, 0, 0.5]
    return q0, q1, bar, np.array([[*ball, *ball, 0.02], [*far, *far, 0.03]])


def carried_cases(rng):
    """q0, q1, bar, pillars: moves that tell, swings past a ball, then drawn ones."""
    swings = [swing(k / 400, way) for k, way in ((57, 1), (123, -1), (211, 1), (333, -1))]
    return [*_telling(), *swings, *(drawn_move(rng) for _ in range(3))]


@lru_cache
def _telling():
    return tuple(drawn_move(np.random.default_rng(seed)) for seed in TELLING)


AGAINST = {
    "arm": "a link and a pillar are",
    "bar": "the bar and a pillar are",
    "self": "two links of the arm are",
    "bar and arm": "the bar and a link of the arm are",
}


def same_clearance(answer, expected, args):
    c, right = float(as_numbers(answer, ())), float(expected)
    if abs(c - right) < 2 * CLOSE:
        return None
    if c > right:
        t = np.linspace(0, 1, 401)
        gaps = carried_gaps(args[0] + t[:, None] * (args[1] - args[0]), *args[2:])
        name = min(gaps, key=lambda name: gaps[name].min())
        where = f"{t[gaps[name].min(axis=1).argmin()]:.3f} of the way {AGAINST[name]}"
        return f"At {where} {in_mm(c - right)} nearer to each other."
    return f"Nothing comes as near: the least clearance is {in_mm(right - c)} larger."


def by_scan(q0, q1, bar, pillars):
    """Many samples, and no more."""
    return along(np.linspace(0, 1, 401), q0, q1, bar, pillars).min()


CARRIED = Exercise(
    "least_clearance",
    points=3,
    cases=carried_cases,
    truth=least_clearance,
    compare=same_clearance,
    seconds=20.0,
    alternatives=[
        by_scan,
        lambda *case: np.float32(by_scan(*case)),
        lambda *case: [round(by_scan(*case), 5)],
        lambda q0, q1, *rest: least_clearance(q1, q0, *rest),
    ],
    mistakes=variants(least_clearance, CARRIED_SAYS),
)


# ---------------------------------------------------------------- 3. what do samples prove?


def proof_cases(rng):
    """t, c, dq, reach, margin: even and uneven samples, two, a standing arm, then drawn ones."""
    dq, reach = np.array([0.4, -0.5, 0.2]), np.array([0.9, 0.6, 0.25])  # they move it by 0.71 m
    t = np.array([0, 0.1, 0.2, 0.5, 0.6, 0.75, 0.8, 1])
    c = np.array([0.2, 0.17, 0.12, 0.16, 0.11, 0.05, 0.03, 0.1])
    cases = [
        (t, c, dq, reach, 0.0),
        (t, c, dq, reach, 0.02),
        (t, c + 0.1, dq, reach, 0.0),
        (np.linspace(0, 1, 6), np.array([0.3, 0.2, 0.1, 0.06, 0.16, 0.12]), -dq, reach, 0.01),
        (np.array([0.0, 1]), np.array([0.3, 0.5]), dq, reach, 0.0),
        (np.array([0.0, 1]), np.array([0.5, 0.8]), dq, reach, 0.3),
        (np.array([0.0, 0.5, 1]), np.full(3, 0.05), 0 * dq, reach, 0.0),
        (np.array([0.0, 0.5, 1]), np.full(3, 0.05), 0 * dq, reach, 0.06),
        (np.array([0.0, 0.5, 1]), np.full(3, 0.05), 0 * dq, reach, 0.05),
    ]
    while len(cases) < 14:
        n, m = int(rng.integers(2, 7)), int(rng.integers(4, 9))
        dq, reach = rng.uniform(-0.5, 0.5, n), np.sort(rng.uniform(0.1, 1, n))[::-1].copy()
        t = np.r_[0, np.sort(rng.uniform(0, 1, m)), 1]
        L = float(np.abs(dq) @ reach)
        c = np.cumsum(np.r_[rng.uniform(0.05, 0.2), rng.uniform(-0.7, 0.7, m + 1) * L * np.diff(t)])
        case = t, c + max(0.02 - c.min(), 0), dq, reach, float(rng.choice([0, 0.02]))
        if np.abs(bounds(*case[:4]) - case[4]).min() > 1e-3:
            cases.append(case)
    return cases


def bounds(t, c, dq, reach, kind=""):
    """How near the body may come inside of each interval (m - 1,)."""
    sizes = dq if kind == "cancel" else np.abs(dq)
    L = {"one joint": (sizes * reach).max(), "last": sizes @ reach[::-1]}.get(kind, sizes @ reach)
    L = {"long arm": sizes.sum() * reach.max(), "no reach": sizes.sum()}.get(kind, L)
    L = np.linalg.norm(sizes * reach) if kind == "length" else L
    step = np.diff(t)
    step = {"even": 0 * step + 1 / len(step), "widest": 0 * step + step.max()}.get(kind, step)
    step = 0 * step + 1 if kind == "whole" else step
    both, lower = c[:-1] + c[1:], np.minimum(c[:-1], c[1:])
    return {
        "one way": both / 2 - L * step,
        "lower one": lower - L * step / 2,
        "lower all": lower - L * step,
        "samples": lower,
        "both": both - L * step,
    }.get(kind, (both - L * step) / 2)


def proven(t, c, dq, reach, margin, kind=""):
    """(least clearance that is certain [m], numbers of the intervals not proven)."""
    least = bounds(t, c, dq, reach, kind)
    open_ones = np.flatnonzero(least <= (0 if kind == "no margin" else margin))
    open_ones = np.flatnonzero(least < margin) if kind == "equal" else open_ones
    open_ones = np.setdiff1d(np.arange(len(least)), open_ones) if kind == "proven" else open_ones
    open_ones = np.flatnonzero(c <= margin) if kind == "bad samples" else open_ones
    open_ones = open_ones[:1] if kind == "first" else open_ones + (kind == "from one")
    certain = float(least.min()) - (margin if kind == "less the margin" else 0)
    certain = max(certain, 0.0) if kind == "cut off" else certain
    certain = float(c.min()) if kind == "least sample" else certain
    return certain, open_ones.tolist()


PROOF_SAYS = {
    "one way": "Nobody can go there with the full L·Δt *and* come back: down from one end and up to"
    " the other is L·Δt together.",
    "lower one": "That is safe, but not the most that is certain: the other end has more room, and"
    " both count.",
    "lower all": "From the lower end you go down for the whole interval. It must be at the other"
    " end at its end.",
    "samples": "You look at the samples alone. What about in between?",
    "both": "The sum of both ends, less L·Δt, is *twice* the least clearance.",
    "cancel": "Joints that turn against each other may still add up in some posture: |dq|.",
    "one joint": "All joints move at once: add up what each of them does.",
    "last": "reach[i] belongs to dq[i].",
    "long arm": "Each joint has a reach of its own. The largest for all proves too little.",
    "no reach": "A joint's turn in rad is no way yet: times its reach.",
    "length": "A root of squares is no bound: in the worst posture the ways just add up.",
    "even": "The samples are not evenly spaced. Look at t.",
    "widest": "Each interval has its own width.",
    "whole": "L is for the whole edge. An interval has its share of it: L·Δt.",
    "no margin": "An interval counts as proven if it keeps the *margin*.",
    "equal": "Exactly the margin is not above it: such an interval is open, too.",
    "proven": "You list the intervals that are proven. The others are asked for.",
    "bad samples": "You list samples that are too near. Intervals are asked for: an interval may"
    " be open though both its ends are fine.",
    "first": "All open intervals are asked for, not the first one.",
    "from one": "The first interval, from t[0] to t[1], has the number 0.",
    "less the margin": "The certain clearance is one, whatever margin is wanted.",
    "cut off": "A certain clearance below 0 says how deep it might be. Don't cut it off.",
    "least sample": "The intervals are right. The certain clearance is less than the least sample.",
}


def same_proof(answer, expected, args):
    certain, found = parts(answer, ("the certain clearance", ()), ("the open intervals", None))
    numbers = numbers_in(found)
    if numbers is None or numbers.ndim != 1 or (numbers != np.round(numbers.real)).any():
        raise Unreadable("The open intervals should be a list of whole numbers.")
    right, open_ones = float(expected[0]), {int(k) for k in expected[1]}
    if not abs(certain - right) < CLOSE:
        return f"The certain clearance is off by {in_mm(abs(certain - right))}."
    found = {int(k) for k in numbers.real}
    for text, odd in (("open", open_ones - found), ("proven", found - open_ones)):
        if odd:
            return f"Interval {min(odd)} is {text}."
    return None


def by_cone(t, c, dq, reach, margin):
    """Two slopes that meet, interval by interval."""
    slope, certain, found = sum(abs(a) * b for a, b in zip(dq, reach)), [], []
    for k in range(len(t) - 1):
        width = t[k + 1] - t[k]
        deepest = width / 2 + (c[k] - c[k + 1]) / (2 * slope) if slope else 0.0
        certain.append(c[k] - slope * deepest)
        if not certain[-1] > margin:
            found.insert(0, k)
    return [min(certain), found]


PROOF = Exercise(
    "proven",
    points=2,
    cases=proof_cases,
    truth=proven,
    compare=same_proof,
    alternatives=[
        by_cone,
        lambda *case: (np.float32(by_cone(*case)[0]), np.array(by_cone(*case)[1], float)),
        lambda *case: (round(by_cone(*case)[0], 5), tuple(by_cone(*case)[1])),
    ],
    mistakes=variants(proven, PROOF_SAYS),
)


# ---------------------------------------------------------------- 4. which pairs need no check?

GRID = {1: 3, 2: 41, 3: 21}  # postures for each bend, by the number of bends
CHAINS = (12, 89, 10, 104, 5, 41)  # seeds of the fixed cases
CLEAR = 0.01  # [m] by which a pair is clearly apart, or clearly touches


@lru_cache(maxsize=4096)
def distances(lengths, low, high, i, j, count):
    """Distances of links i and j (from 0) over a grid of the bends between them, and their ends."""
    axes = [np.linspace(low[k], high[k], count) for k in range(i + 1, j + 1)]
    bends = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, j - i)
    angle = np.cumsum(np.column_stack([0 * bends[:, 0], bends]), axis=1)
    step = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=-1)
    step *= np.array(lengths[i : j + 1])[:, None]
    P = np.concatenate([0 * step[:, :1], np.cumsum(step, axis=1)], axis=1)
    near = np.linalg.norm(P[:, :2, None] - P[:, None, -2:], axis=-1).min(axis=(1, 2))
    return apart(P[:, 0], P[:, 1], P[:, -2], P[:, -1]), near


def sort_pairs(lengths, radii, q_min, q_max, kind=""):
    """(always, never): pairs of links, from 1, that touch in every posture, or in none."""
    always, never, n = [], [], len(lengths)
    low, high = (np.full(n, -np.pi), np.full(n, np.pi)) if kind == "no limits" else (q_min, q_max)
    low, high = (0 * low, 0 * high) if kind == "straight" else (low, high)
    low, high = ((low + high) / 2,) * 2 if kind == "middle" else (low, high)
    if kind == "random":
        return pairs_seen(lengths, radii, q_min, q_max)
    for i, j in combinations(range(n), 2):
        count = 2 if kind == "corners" else GRID[j - i]
        d, joints = distances(*map(tuple, (lengths, low, high)), i, j, count)
        d = joints if kind == "joints" else d
        reach = {"no radii": 1e-9, "one radius": radii[i]}.get(kind, radii[i] + radii[j])
        reach = 2 * max(radii) if kind == "largest" else reach
        if kind == "neighbours" and j == i + 1 or kind != "neighbours" and d.max() <= reach:
            always.append((i + 1, j + 1))
        apart_always = 9.0 * (j > i + 2) if kind == "far along" else d.min()
        if apart_always > reach and kind != "prove nothing":
            never.append((i + 1, j + 1))
    if kind == "next but one":
        always = [(i, j) for i, j in combinations(range(1, n + 1), 2) if j <= i + 2]
        never = [pair for pair in never if pair not in always]
    if kind == "from zero":
        always, never = ([(i - 1, j - 1) for i, j in pairs] for pairs in (always, never))
    if kind == "to check":
        never = [p for p in combinations(range(1, n + 1), 2) if p not in always + never]
    return (never, always) if kind == "turned round" else (always, never)


def pairs_seen(lengths, radii, q_min, q_max, count=200):
    """(always, never) as far as random postures show: wrong where few postures decide."""
    q = np.random.default_rng(0).uniform(q_min, q_max, (count, len(lengths)))
    angle = np.cumsum(q, axis=1)
    step = lengths[:, None] * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=-1)
    P = np.concatenate([0 * step[:, :1], np.cumsum(step, axis=1)], axis=1)
    found = [], []
    for i, j in combinations(range(len(lengths)), 2):
        touch = apart(P[:, i], P[:, i + 1], P[:, j], P[:, j + 1]) <= radii[i] + radii[j]
        if touch.all() or not touch.any():
            found[int(not touch.any())].append((i + 1, j + 1))
    return found


PAIR_SAYS = {
    "random": "Random postures hardly ever have several joints at their limits, and a few of those"
    " decide here. Not seen to touch is not *never*.",
    "neighbours": "Neighbours always touch, and not they alone: a short link between two thick ones"
    " leaves them no room.",
    "next but one": "Links with one other between them need not touch in every posture.",
    "straight": "You look at the stretched arm alone. Bent, it comes nearer to itself.",
    "middle": "You look at the middle posture alone. Limits are meant to be used.",
    "corners": "You look at the limits alone. Between them links may cross, and at the limits be"
    " past each other.",
    "no limits": "You let the joints turn as far as they like. Their limits keep some pairs apart.",
    "joints": "You test the joints. Links touch between their joints as well.",
    "no radii": "You forget the radii.",
    "one radius": "Both links have a radius.",
    "largest": "Each link has its own radius.",
    "far along": "That a link is far along the chain does not keep it away: the arm bends.",
    "prove nothing": "Some pairs can't touch in any posture. You list none.",
    "turned round": "First those that always touch, then those that never do.",
    "from zero": "Links are counted from 1.",
    "to check": "Your second list has the pairs that must be checked. Those that never touch are"
    " asked for.",
}


def clearly_sorted(lengths, radii, low, high):
    """No pair is doubtful: proven apart by the width of the grid, or clearly touching once."""
    for i, j in combinations(range(len(lengths)), 2):
        d, _ = distances(*map(tuple, (lengths, low, high)), i, j, GRID[j - i])
        reach = radii[i] + radii[j]
        rest = np.cumsum(lengths[::-1])[::-1][i + 1 : j + 1] - sum(lengths[j + 1 :])
        blur = (rest * (high - low)[i + 1 : j + 1]).sum() / (GRID[j - i] - 1) / 2
        always = sum(lengths[i + 1 : j]) <= reach - CLEAR
        if not (always or d.max() > reach + CLEAR):
            return False
        if not (d.min() < reach - CLEAR or d.min() - blur > reach):
            return False
    return True


def drawn_chain(rng):
    """lengths, radii, q_min, q_max (n,) of a flat arm of three or four links; no pair in doubt."""
    while True:
        n = int(rng.choice([3, 4]))
        lengths, radii = rng.uniform(0.05, 0.5, n).round(2), rng.uniform(0.02, 0.08, n).round(3)
        ends = rng.choice([0.5, 1.0, 1.8, 2.8]) * rng.uniform(0.3, 1, (2, n)).round(2)
        case = lengths, radii, -ends[0], ends[1]
        if clearly_sorted(*case):
            return case


def pair_cases(rng):
    """lengths, radii, q_min, q_max: arms that tell, then drawn ones."""
    return [*_chains(), *(drawn_chain(rng) for _ in range(3))]


@lru_cache
def _chains():
    cases = [drawn_chain(np.random.default_rng(seed)) for seed in CHAINS]
    for low, high in (([-3, 1.6, 1.2], [3, 2.8, 2.0]), ([-3, -2.8, -2.0], [3, 0.3, 0.2])):
        sizes = np.array([0.4, 0.15, 0.4]), np.array([0.05, 0.04, 0.04])
        cases.append((*sizes, np.array(low, float), np.array(high, float)))
    for lengths, high in (  # they touch with all joints at one end, and hardly elsewhere
        ([0.4, 0.3, 0.3, 0.3], [2.0, 1.51, 1.51, 1.51]),
        ([0.45, 0.3, 0.34, 0.28], [2.0, 1.57, 1.51, 1.56]),
        ([0.4, 0.3, 0.3], [2.0, 2.01, 2.01]),
    ):
        ends = -0.7 * np.array(high), np.array(high)
        ends = ends if len(cases) % 2 else (-ends[1], -ends[0])
        cases.append((np.array(lengths), np.full(len(high), 0.03), *ends))
    return tuple(cases)


def same_pairs(answer, expected, args):
    lists = parts(answer, ("those that always touch", None), ("those that never do", None))
    for words, mine, right in zip(("always touch", "never touch"), lists, expected):
        array = numbers_in(mine)
        if array is None or array.size and (array.ndim != 2 or array.shape[1] != 2):
            raise Unreadable(f"Those that {words} should be a list of pairs.")
        mine = {tuple(sorted(int(k) for k in pair)) for pair in array.real.reshape(-1, 2)}
        right = {tuple(int(k) for k in pair) for pair in right}
        for word, odd in (("", right - mine), ("not ", mine - right)):
            if odd:
                i, j = min(odd)
                return f"It is {word or ''}true of links {i} and {j} that they {words}."
    return None


SORT = Exercise(
    "sort_pairs",
    points=3,
    cases=pair_cases,
    truth=sort_pairs,
    compare=same_pairs,
    seconds=20.0,
    alternatives=[
        lambda *case: [[(j, i) for i, j in pairs] for pairs in sort_pairs(*case)],
        lambda *case: tuple(np.array(pairs, float) for pairs in sort_pairs(*case)),
        lambda *case: [[tuple(p) for p in pairs[::-1]] for pairs in sort_pairs(*case)],
    ],
    mistakes=variants(sort_pairs, PAIR_SAYS),
)

EXERCISES = [PILLAR, CARRIED, PROOF, SORT]
