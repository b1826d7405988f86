"""The judge of homework 10: one step of a tree, a way through a room, a planner's log, a gap.

Ways are judged by the collision engine of this file, on a grid that grows finer until each edge is
proven; the tests hold it against coal. Solutions stand here in the open: the marks hang on hidden
cases, and the learning on you.
"""

import pickle
from functools import lru_cache

import numpy as np

from course_lib.check import Exercise, Mistake, Unreadable, as_numbers, in_mm, numbers_in, parts

CLOSE = 1e-4  # [rad] or [m], as the tasks say: five typed digits pass


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
    """Distance of points P (..., 2) from segments A to B (..., 2)."""
    D = B - A
    share = np.clip(dot(P - A, D) / np.maximum(dot(D, D), 1e-300), 0, 1)
    return norm(P - A - share[..., None] * D)


# ---------------------------------------------------------------- 1. one step

WORDS = ("reached", "advanced", "trapped")
TURN = 2 * np.pi


def step_cases(rng):
    """q, target, reach, step, limits: near, far, at a limit, beyond one, endless, drawn."""
    inf = np.inf
    box = lambda *pairs: np.transpose(pairs).astype(float)
    v = lambda *x: np.array(x, float)
    two, three = box((-2, 2), (-2, 2)), box((-2, 2), (-inf, inf), (-2, 2))
    cases = [
        (v(0.1, 0.2), v(1.2, -1.6), v(1.0, 0.25), 0.2, two),  # far, joints against each other
        (v(0.1, 0.2), v(0.2, 0.5), v(1.0, 0.25), 0.2, two),  # nearer than a step
        (v(1.9, 0), v(2.9, -1), v(1.0, 0.25), 0.4, two),  # a limit comes first
        (v(1.9, 0), v(2.05, 0.3), v(1.0, 0.25), 0.4, two),  # nearer than a step, but outside
        (v(2, 0.5), v(2.5, -0.5), v(1.0, 0.25), 0.3, two),  # at a limit, and out
        (v(2, 0.5), v(0.5, -1.5), v(1.0, 0.25), 0.3, two),  # at a limit, and back
        (v(-2, 0.5), v(-2, -1.5), v(1.0, 0.25), 0.3, two),  # along a limit
        (v(-1.9, 0.4), v(-3.1, 0.2), v(1.0, 0.25), 0.3, two),  # the lower limit comes first
        (v(0.4, 0.7), v(0.4, 0.7), v(1.0, 0.25), 0.3, two),  # nowhere
        (v(0, 2.9, 0.5), v(0.4, -2.8, 0.1), v(0.9, 0.5, 0.2), 0.3, three),  # over the seam
        (v(0, 2.9, 0.5), v(0.1, -3.2, 0.4), v(0.9, 0.5, 0.2), 0.6, three),  # and to the target
        (v(0, -1, 0.5), v(0.3, 20.0, -1.5), v(0.9, 0.5, 0.2), 0.25, three),  # turns away
        (v(-3, 0.1), v(3.5, 0.4), v(0.5, 1), 0.5, box((-4, 4), (0, 0.6))),  # long way, and a slide
        (v(1.95, 1.5, 0), v(2.4, 1.8, 0.2), v(0.5, 0.4, 0.3), 0.2, box(*[(-2, 2)] * 3)),
    ]
    while len(cases) < 20:
        n = int(rng.integers(3, 7))
        limits = np.array([[-1], [1]]) * rng.uniform(1, 3, n)
        q, target = rng.uniform(*limits), rng.uniform(*(1.5 * limits))
        limits[:, rng.random(n) < 0.3] = [[-inf], [inf]]
        reach = np.sort(rng.uniform(0.1, 1, n))[::-1].copy()
        case = q, target, reach, float(rng.choice([0.1, 0.3, 1, 4])), limits
        if clear_step(*case):
            cases.append(case)
    return cases


def clear_step(q, target, reach, step, limits):
    """No joint half a turn away; target, step and limit not at the same place."""
    endless = np.isinf(limits[0])
    away = (np.abs(target - q) % TURN)[endless]
    ends = shares(q, way(q, target, endless), reach, step, limits)
    return (np.abs(away - np.pi) > 0.01).all() and np.diff(np.sort([1, *ends]))[0] > 0.01


def way(q, target, endless):
    """The motion (n,) to the target, on endless joints the shorter way round."""
    move = target - q
    return np.where(endless, (move + np.pi) % TURN - np.pi, move)


def shares(q, move, reach, step, limits, kind=""):
    """Which shares of the motion the step and the limits allow."""
    size = np.abs(move)
    if kind in ("norm", "radians"):
        size = np.r_[norm(move * reach)] if kind == "norm" else size
        reach = 1 + 0 * size
    length = (size * reach).max() if kind == "one joint" else size @ reach
    length = abs(move @ reach) if kind == "cancel" else length
    end = np.where(move > 0, limits[1], limits[0])
    stop = np.min(((end - q) / np.where(move, move, 1))[move != 0], initial=np.inf)
    return step / max(length, 1e-300), stop


def steer(q, target, reach, step, limits, kind=""):
    """(word, new posture): as far as step, limits and target allow."""
    low, high = limits
    endless = np.isinf(low)
    endless = {"straight on": endless & False, "round": endless | True}.get(kind, endless)
    target = np.clip(target, low, high) if kind == "target in limits" else target
    move = way(q, target, endless)
    far, stop = shares(q, move, reach, step, limits, kind)
    if kind in ("no limits", "each to its limit", "refuse"):
        stop = np.inf
    share = far if kind == "whole step" else min(1, far)
    share = min(share, stop)
    new = q + share * move
    if kind == "each its step":
        new = q + np.clip(move, -step / reach, step / reach)
        share = 1.0 if np.allclose(new, q + move) else 0.5
    if kind == "each to its limit":
        new = np.clip(new, low, high)
    word = WORDS[0 if share >= 1 else 1 if share * norm(move) > 1e-12 else 2]
    if kind == "refuse" and (np.clip(new, low, high) != new).any():
        word, new = "trapped", q
    if kind == "near is there" and far >= 1:
        word = "reached"
    if kind == "limits trap" and share == stop < 1:
        word = "trapped"
    return ("advanced" if kind == "never trapped" and word == "trapped" else word), new


STEP_SAYS = {
    "norm": "The root of the sum of squares is no bound: in the worst case all joints move the same"
    " point the same way, and the ways add up.",
    "radians": "You measure in radians. The step is in metres: each joint counts by its reach.",
    "one joint": "You take the joint that moves the arm most. The others move it, too: add.",
    "cancel": "You let a joint that turns back undo another. A bound needs absolute values.",
    "each its step": "You give each joint a step of its own. Then the edge leaves the straight way"
    " to the target, and all joints together move the arm too far.",
    "whole step": "You always take the whole step. Where the target is nearer, stop there.",
    "each to its limit": "You stop each joint at its limit and let the others go on: that posture"
    " is not on the straight way to the target. Stop them all.",
    "target in limits": "You moved the target into the limits. That is another direction.",
    "no limits": "You pass the limits.",
    "refuse": "You refuse a step that would end outside the limits. Part of it is still good: up to"
    " the limit.",
    "straight on": "A joint without limits goes the shorter way round.",
    "round": "You go round on joints with limits, too. They can't cross their ends.",
    "near is there": 'It is "reached" only if the arm *is* there. A limit may stop it before.',
    "never trapped": 'Where it can\'t move at all, the word is "trapped".',
    "limits trap": 'A limit stopped it, but it moved: "advanced".',
}


def same_step(answer, expected, args):
    n = len(args[0])
    word, new = parts(answer, ("the word", str), ("the new posture", (n,)))
    q, target, reach, _, limits = args
    right, move = np.asarray(expected[1], float), way(q, target, np.isinf(limits[0]))
    if not np.abs(new).max() < 1e6:
        return "Your posture is enormous."
    off = way(right, new, np.isinf(limits[0]))
    if not np.abs(off).max() < CLOSE:
        along = dot(off, move) / max(dot(move, move), 1e-12)
        if not np.abs(off - along * move).max() < CLOSE:
            return "Your posture is not on the straight way from q to the target."
        much = in_mm(abs(along) * (np.abs(move) @ reach))
        return f"Your step is {much} too {'long' if along > 0 else 'short'}."
    if word.strip().casefold() != expected[0]:
        return f'The posture is right; the word is not "{word[:20]}".'
    return None


def by_three_ends(q, target, reach, step, limits):
    """Joint after joint: where would each end stop the motion?"""
    best, length, moves = 1.0, 0.0, []
    for a, b, r, low, high in zip(q, target, reach, *limits):
        d = float(b - a - (TURN * round((b - a) / TURN) if low == -np.inf else 0))
        if d:
            best = min(best, ((high if d > 0 else low) - a) / d)
        length += r * abs(d)
        moves.append(d)
    best = best if length * best <= step else step / length
    word = "reached" if best == 1 else "advanced" if best > 0 else "trapped"
    return word, [a + best * d for a, d in zip(q, moves)]


STEER = Exercise(
    "steer",
    points=2,
    cases=step_cases,
    truth=steer,
    compare=same_step,
    alternatives=[
        by_three_ends,
        lambda *case: [by_three_ends(*case)[0].upper(), np.round(by_three_ends(*case)[1], 5)],
        lambda *case: (steer(*case)[0], np.float32(steer(*case)[1])),
        lambda *case: (steer(*case)[0], steer(*case)[1] + TURN * np.isinf(case[4][0])),
    ],
    mistakes=variants(steer, STEP_SAYS),
)


# ---------------------------------------------------------------- 2. a way through a room

TOUCH, FINE = 1e-4, 2e-4  # [m] that may overlap; how far apart the last looks are
ROOM = 0.02  # [m] left on each side of some way through each room
ROWS, FAR = 20_000, 2000.0  # rows and metres of a way that can be judged
ROAMS = 25.0  # [m]: longer than any branch that was ever seen
FAULTY = ("ends", "lines", "needles", "joints", "tip", "last", "short", "limits", "all")
BODIES = ("lines", "needles", "joints", "tip")  # what a careless planner moves
# links, limits, pillars, start, goal: three rooms where bodies tell, two where the last edge does
ROOMS = [
    (
        [[0.218, 0.043], [0.258, 0.044], [0.347, 0.048]],
        [3.0, 2.23, 2.46],
        [[0.721, 0.012, 0.027], [0.723, -0.118, 0.011], [0.314, 0.247, 0.021]]
        + [[-0.014, 0.3, 0.013]],
        [-0.58, 1.63, 3.21],
        [-0.4, -1.33, -2.15],
    ),
    (
        [[0.292, 0.045], [0.205, 0.044], [0.324, 0.05]],
        [3.0, 2.1, 2.25],
        [[0.652, -0.005, 0.015], [0.148, -0.555, 0.025], [0.163, -0.681, 0.023]]
        + [[0.048, -0.651, 0.011]],
        [2.97, 3.02, 1.47],
        [-1.33, -3.16, -2.1],
    ),
    (
        [[0.313, 0.012], [0.206, 0.015], [0.34, 0.011]],
        [3.0, 2.15, 2.17],
        [[0.427, 0.604, 0.007], [0.413, 0.585, 0.009], [0.374, 0.567, 0.009]]
        + [[0.442, 0.616, 0.006]],
        [1.45, 1.88, 1.77],
        [1.36, 0.58, 0.59],
    ),
    (
        [[0.387, 0.014], [0.309, 0.011], [0.222, 0.015]],
        [3.0, 2.11, 2.26],
        [[0.679, 0.048, 0.008], [0.648, 0.057, 0.007], [0.716, 0.038, 0.008]]
        + [[0.644, 0.035, 0.01]],
        [2.52, 0.44, 2.58],
        [-0.72, 0.73, 0.2],
    ),
    (
        [[0.265, 0.011], [0.348, 0.01], [0.329, 0.009]],
        [3.0, 2.29, 2.13],
        [[-0.486, -0.698, 0.082], [-0.07, -0.718, 0.077], [0.475, -0.621, 0.061]]
        + [[0.664, -0.179, 0.073]],
        [1.77, 1.49, 3.1],
        [-2.82, -4.19, -4.92],
    ),
]
# room and seed of the fixed cases
TOLD = ((0, 100), (1, 8), (4, 0), (2, 0), (3, 0), (4, 1), (2, 1), (0, 7), (1, 4))


def corners(q, links):
    """Base, joints and tip (..., n + 1, 2) of the flat arm whose links point to q (..., n)."""
    steps = links[:, :1] * np.stack([np.cos(q), np.sin(q)], axis=-1)
    return np.concatenate([0 * steps[..., :1, :], np.cumsum(steps, axis=-2)], axis=-2)


def bends(q):
    """The bends (..., n) from link to link at q (..., n); the first is against the x-axis."""
    return np.diff(q, axis=-1, prepend=0)


def gaps(q, links, pillars, body="links"):
    """The least clearance (N,) at postures q (N, n), of the links or of what stands for them."""
    P = corners(q, links)
    A, B, r, R = P[:, :-1, None], P[:, 1:, None], links[:, 1:], pillars[:, 2]
    A, B, r = (A, B, r) if body != "tip" else (A[:, -1:], B[:, -1:], r[-1:])
    A = B if body in ("joints", "tip") else A
    r, R = 0 * r if body == "lines" else r, 0 * R if body == "needles" else R
    return (to_segment(pillars[:, :2], A, B) - r - R).min(axis=(1, 2))


def blocked(q, links, pillars, body="links"):
    """Which edges (k - 1,) of a way touch: cut in halves until proven free, or 0.2 mm apart."""
    hit = np.zeros(len(q) - 1, bool)
    here = gaps(q, links, pillars, body)
    a, b, one, other, edge = q[:-1], q[1:], here[:-1], here[1:], np.arange(len(q) - 1)
    while len(a):
        hit[edge[np.minimum(one, other) < -TOUCH]] = True
        moved = np.abs(b - a) @ links[:, 0]
        doubt = (one + other <= moved) & (moved > FINE) & ~hit[edge]
        a, b, one, other, edge = (x[doubt] for x in (a, b, one, other, edge))
        middle = (a + b) / 2
        here = gaps(middle, links, pillars, body)
        a, one = np.concatenate([a, middle]), np.concatenate([one, here])
        b, other = np.concatenate([middle, b]), np.concatenate([here, other])
        edge = np.tile(edge, 2)
    return hit


def grow(links, limits, pillars, start, goal, seed, kind="", step=0.6, turns=4000):
    """One tree with a goal bias: its way (k, n), or what is left of it where kind is at fault."""
    rng, reach = np.random.default_rng(seed), links[:, 0]
    q, parent = np.empty((2 * turns + 2, len(start))), [-1]
    q[0] = start
    box = limits * (1.3 if kind == "limits" else 1)
    body = kind if kind in BODIES else "links"

    def free(a, b):
        looks = 2 + int(np.abs(b - a) @ reach / 0.02)  # no point moves more than 20 mm
        x = b[None] if kind == "ends" else a + np.linspace(0, 1, looks)[:, None] * (b - a)
        return gaps(x, links, pillars, body).min() > (0 if kind == "ends" else 0.01)

    for _ in range(turns):
        target = goal if rng.random() < 0.1 else np.cumsum(rng.uniform(*box))
        away = norm((q[: len(parent)] - target) * reach)
        k = int(away.argmin())
        new = q[k] + min(1, step / max(away[k], 1e-9)) * (target - q[k])
        if away[k] < 1e-9 or not free(q[k], new):
            continue
        q[len(parent)] = new
        parent.append(k)
        rest = norm((goal - new) * reach)
        if rest <= step and (kind in ("last", "short") or free(new, goal)):
            if rest > 1e-9 and kind != "short":
                q[len(parent)] = goal
                parent.append(len(parent) - 1)
            back = [len(parent) - 1]
            while back[-1]:
                back.append(parent[back[-1]])
            return q[: len(parent)] if kind == "all" else q[back[::-1]]
    return np.empty((0, len(start)))


@lru_cache(maxsize=4096)
def _grown(case, kind):
    return grow(*pickle.loads(case), kind if kind in FAULTY else "")


def find_way(links, limits, pillars, start, goal, seed, kind=""):
    """A free way (k, n) from start to goal, or what a planner with a fault gives."""
    if kind in ("straight", "fine straight"):
        return start + np.linspace(0, 1, 2 if kind == "straight" else 50)[:, None] * (goal - start)
    q = _grown(pickle.dumps((links, limits, pillars, start, goal, seed)), kind)
    k = len(q) // 2
    return {
        "backwards": q[::-1],
        "halves": np.vstack([q[:k], q[k:][::-1]]),
        "degrees": np.degrees(q),
        "no start": q[1:],
        "nothing": q[:0],
        "corner": q[:1],
    }.get(kind, q)


WAY_SAYS = {
    "straight": "That is the straight way from start to goal. In each room something stands in it:"
    " the tree has to find a detour.",
    "ends": "All your way-points are free. Do you test the whole edge, with the bodies of the"
    " links, also where the way is joined?",
    "lines": "With no radius of the links, or none of the pillars, it would be free. Do you take"
    " off both?",
    "joints": "The joints and the tip pass. A link is there between its joints, too.",
    "tip": "The tip passes, the arm behind it does not. All links must be tested.",
    "last": "All your edges are free but the last. The edge that joins the goal is an edge like all"
    " others: test it.",
    "short": "A node near the goal is not the goal: join it by an edge of its own, tested like all"
    " the others.",
    "limits": "The limits are those of the bends, from link to link. Between two postures that keep"
    " them an edge keeps them, too: draw no others.",
    "backwards": "Your way leads from the goal to the start. Turn it round.",
    "halves": "The goal is in it, but not at the end. The part from the goal's tree must be turned"
    " round.",
    "degrees": "These are degrees. The joints are in radians, as start and goal are.",
    "no start": "The root of the tree belongs to the way: its first row is the start.",
    "nothing": "There is a way in each room, with 2 cm left on each side. More turns?",
    "corner": "One posture is no way.",
    "all": "The way is enormous. Are these all nodes of the tree? Return the branch alone: from the"
    " goal back from parent to parent.",
}

HINTS = {
    "thin": "All your way-points are free; with thinner links or pillars the edges would be. Do"
    " you test the whole edge, also where the way is joined, and take off all radii?",
    "nothing": "Some way-points are not free either. Test all that moves against all that stands.",
}


def same_way(answer, expected, args):
    """None if the answer is a free way within the limits from start to goal, whatever its form."""
    links, limits, pillars, start, goal, _ = args
    rows = numbers_in(answer)
    if rows is not None and rows.size == 0:
        return WAY_SAYS["nothing"]
    if rows is None or rows.ndim != 2 or rows.shape[1] != len(start) or len(rows) > ROWS:
        raise Unreadable(f"Expected a way as rows (k, {len(start)}), at most {ROWS} of them.")
    q = as_numbers(answer, rows.shape, "the way")
    if len(q) == 1:
        return WAY_SAYS["corner"]
    return (
        wrong_ends(q, links, start, goal)
        or wrong_limits(q, limits)
        or wrong_edges(q, links, pillars, start, goal)
    )


def apart(a, b):
    return np.abs(a - b).max(axis=-1)


def wrong_ends(q, links, start, goal):
    """What is wrong with the first and the last row, or None."""
    if not apart(q[0], start) < CLOSE:
        if apart(q[0], goal) < CLOSE and apart(q[-1], start) < CLOSE:
            return WAY_SAYS["backwards"]
        if apart(q[0], np.degrees(start)) < 0.01:
            return WAY_SAYS["degrees"]
        return f"It begins {apart(q[0], start):.2g} rad from the start.\n{WAY_SAYS['no start']}"
    if not apart(q[-1], goal) < CLOSE:
        if (apart(q, goal) < CLOSE).any():
            return WAY_SAYS["halves"]
        rest = np.abs(goal - q[-1]) @ links[:, 0]
        return f"It ends {in_mm(rest)} of motion before the goal.\n{WAY_SAYS['short']}"
    return None


def wrong_limits(q, limits):
    """The first row outside of the limits, or None."""
    beyond = np.maximum(limits[0] - bends(q), bends(q) - limits[1])
    if beyond.max() < CLOSE:
        return None
    k, j = np.argwhere(beyond >= CLOSE)[0]
    return f"In row {k} bend {j + 1} is {beyond[k, j]:.2g} rad outside.\n{WAY_SAYS['limits']}"


def wrong_edges(q, links, pillars, start, goal):
    """Where the way touches, and what it looks as if had been tested instead; or None."""
    length = (np.abs(np.diff(q, axis=0)) @ links[:, 0]).sum()
    if length > FAR:
        return WAY_SAYS["all"]
    hit = blocked(q, links, pillars)
    if not hit.any():
        return None
    k = int(hit.argmax())
    said = f"Between row {k} and row {k + 1} a link touches a pillar."
    kind = tested_instead(q, links, pillars, hit)
    straight = to_segment(q, start, goal).max() < CLOSE
    if straight and (len(q) == 2 or kind not in ("lines", "thin", "last")):
        return WAY_SAYS["straight"]
    if kind == "ends" and length > ROAMS:
        return WAY_SAYS["all"]
    return f"{said}\n{HINTS.get(kind) or WAY_SAYS[kind]}"


def tested_instead(q, links, pillars, hit):
    """What a planner may have tested that returns this way, whose edges `hit` touch."""
    if hit.sum() == 1 and hit[-1]:
        return "last"
    passes = [body for body in BODIES if not blocked(q, links, pillars, body).any()]
    thin = "lines" in passes or "needles" in passes
    if gaps(q, links, pillars).min() > -TOUCH:
        return "thin" if thin else "ends"
    return "lines" if thin else passes[0] if passes else "nothing"


def drawn_room(rng, near_goal=False):
    """links, limits, pillars, start, goal: free by 2 cm over a drawn posture, but not straight.

    near_goal: thin links, and thin posts that stand close to the arm at the goal.
    """
    thick, posts = ((0.008, 0.015), (0.005, 0.01)) if near_goal else ((0.035, 0.05), (0.01, 0.03))
    since, t = 90 if near_goal else 10, np.linspace(0, 1, 100)[:, None]
    while True:
        links = np.column_stack([rng.uniform(0.2, 0.4, 3), rng.uniform(*thick, 3)]).round(3)
        most = np.r_[3, rng.uniform(1.8, 2.6, 2)].round(2)
        start, over, goal = np.cumsum((rng.uniform(-1, 1, (3, 3)) * most).round(2), axis=1)
        lead = np.vstack([start + t * (over - start), over + t * (goal - over)])
        straight = start + t * (goal - start)
        P = corners(straight[rng.integers(since, 99, 80)], links)
        k, i = rng.integers(0, 3, 80), np.arange(80)
        at = P[i, k] + rng.uniform(0.2, 1, (80, 1)) * (P[i, k + 1] - P[i, k])
        at = at + rng.normal(size=(80, 2)) * (0 if near_goal else 0.03)
        pillars = np.column_stack([at, rng.uniform(*posts, 80)]).round(3)
        pillars = [p for p in pillars if norm(p[:2]) > 0.15]
        free = [p for p in pillars if gaps(lead, links, p[None]).min() > ROOM]
        if len(free) < 4 or gaps(straight, links, np.array(free[:4])).min() > -0.005:
            continue
        case = links, np.array([-most, most]), np.array(free[:4]), start, goal
        if all(len(grow(*case, seed, step=0.3, turns=800)) for seed in range(2)):
            return case


def way_cases(rng):
    """links, limits, pillars, start, goal, seed: rooms that tell, each twice, then drawn ones."""
    drawn = [(*drawn_room(rng, near), int(rng.integers(1000))) for near in (False, True)]
    return [*_telling(), *drawn]


@lru_cache
def _telling():
    rooms = [tuple(map(np.array, room)) for room in ROOMS]
    rooms = [(links, np.array([-most, most]), *rest) for links, most, *rest in rooms]
    return tuple((*rooms[k], seed) for k, seed in TOLD)


def by_short_steps(*case):
    """The same tree with a shorter step, another draw, and many rows a metre."""
    q = grow(*case[:-1], case[-1] + 7, step=0.3)
    return np.vstack([a + s * (b - a) for a, b in zip(q, q[1:]) for s in (0, 0.3, 0.7)] + [q[-1]])


WAY = Exercise(
    "find_way",
    points=4,
    cases=way_cases,
    truth=find_way,
    compare=same_way,
    seconds=30.0,
    alternatives=[
        by_short_steps,
        lambda *case: np.float32(find_way(*case)),
        lambda *case: [list(row) for row in np.round(find_way(*case), 5)],
    ],
    mistakes=variants(find_way, WAY_SAYS),
)


# ---------------------------------------------------------------- 3. a planner's log

SURE = 2e-3  # [m] by which a turn is clearly right or wrong
FAULTS = ("target", "nearest", "new", "kept", "none")


def touches(a, b, discs, kind=""):
    """Does the edge from a to b (2,) touch a disc (k, 3)?  And the least clearance."""
    if kind == "ends":
        left = norm(b - discs[:, :2]) - discs[:, 2]
    else:
        far = 50 * (b - a) if kind == "endless" else 0
        left = to_segment(discs[:, :2], a - far, b + far)
        left = left - (0 if kind == "points" else discs[:, 2])
    return left.min() <= (0.01 if kind == "points" else 0), left.min()


def one_turn(nodes, target, reach, step, kind=""):
    """(nearest node, how much nearer than any other, where a step from it ends)."""
    away = norm((nodes - target) * (1 if kind == "radians" else reach))
    k = int(away.argmin())
    return k, np.sort(np.append(away, np.inf))[1] - away[k], end_of(nodes[k], target, reach, step)


def end_of(node, target, reach, step, kind=""):
    """Where one step from a node towards the target ends."""
    move = target - node
    far = norm(move * (1 if kind == "step in radians" else reach))
    if kind == "each joint":
        return node + np.clip(move, -step / reach, step / reach)
    return node + (step / far if kind == "no stop" else min(1, step / far)) * move


def audit(start, limits, reach, step, discs, log, kind=""):
    """(turn, word) of the first fault in a planner's log; (-1, "none") where there is none."""
    nodes, found, low, high = [start], [], *limits
    later = np.vstack([start, log[log[:, 5] > 0, 3:5]])
    for turn, row in enumerate(log):
        target, k, new, kept = row[:2], int(row[2]), row[3:5], bool(row[5])
        q = later if kind == "whole tree" else np.array(nodes)
        best, _, _ = one_turn(q, target, reach, step, kind)
        inside = new if kind == "new in limits" else target
        node = q[k] if k < len(q) else start
        should = end_of(node, target, reach, step, kind)
        off = np.abs(new - should).max()
        if kind == "length alone":
            off = max(norm((new - node) * reach) - step, 0)
        hit, _ = touches(node, new, discs, kind)
        wrong = kept and hit if kind == "kept alone" else kept == hit
        tests = {
            "target": (inside < low).any() or (inside > high).any(),
            "nearest": best != k,
            "new": off > 1e-6,
            "kept": wrong,
        }
        found += [(turn, word) for word in FAULTS[:-1] if tests[word] and kind != f"no {word}"][:1]
        if kept or kind == "count all":
            nodes.append(new)
    if kind == "last" and found:
        return found[-1]
    turn, word = found[0] if found else (-1, "none")
    if kind == "the tree's end" and not found:
        return len(log), "none"
    return turn + (kind == "from one" and bool(found)), word


AUDIT_SAYS = {
    "radians": "You measure distances in radians. The nearest node is nearest in metres: each joint"
    " counts by its reach.",
    "step in radians": "To you the first step of a right planner looks wrong. Steps are measured in"
    " metres, and go straight to the target.",
    "no stop": "Where the target is nearer than a step, the right planner stops there.",
    "length alone": "You test how long the edge is, not where it leads: towards the target.",
    "ends": "You test the new posture only. The whole edge must be free.",
    "endless": "You test the endless line through both postures. An edge ends.",
    "points": "You test whether an edge meets the middle of a disc. A disc has a radius.",
    "kept alone": "A free edge that is thrown away is a fault, too.",
    "no target": "You don't test the targets: they must lie within the limits.",
    "new in limits": "You test whether the *new* posture is within the limits. A target outside can"
    " still give a new posture inside.",
    "no nearest": "You don't test which node grows.",
    "no kept": "You don't test the edges.",
    "whole tree": "You compare with nodes that were not there yet at that turn.",
    "count all": "You count edges that were thrown away among the nodes.",
    "last": "The *first* fault is asked for.",
    "from one": "The first turn has the number 0.",
    "the tree's end": "Without a fault the turn is -1.",
}


def planner_log(rng, fault="", since=0, turns=30):
    """start, limits, reach, step, discs, log of a planner that has a fault from some turn on."""
    limits = np.array([[-1.0], [1.0]]) * rng.uniform(1.5, 3, 2).round(2)
    reach, step = np.array([rng.uniform(0.7, 1.1), rng.uniform(0.2, 0.4)]).round(2), 0.3
    discs = np.column_stack([rng.uniform(*limits, (7, 2)), rng.uniform(0.15, 0.5, 7)]).round(3)
    start = np.zeros(2)
    discs = discs[norm(discs[:, :2]) > discs[:, 2] + 0.1]
    nodes, log = [start], []
    while len(log) < turns:
        bad = fault if len(log) >= since and rng.random() < 0.7 else ""
        target = rng.uniform(*(1.6 * limits if bad == "wide" else limits))
        q = np.array(nodes)
        k, clear, new = one_turn(q, target, reach, step)
        k = {
            "radians": one_turn(q, target, reach, step, "radians")[0],
            "newest": len(q) - 1,
            "any": int(rng.integers(len(q))),
            "joint": int(np.abs(q - target)[:, 0].argmin()),
        }.get(bad, k)
        bent = {"bent": "each joint", "no stop": "no stop", "rad": "step in radians"}.get(bad, "")
        new = end_of(q[k], target, reach, step, bent)
        if bad == "long":
            new = q[k] + 0.5 * (target - q[k])
        if bad == "aside":
            way = (new - q[k]) * reach
            new = q[k] + np.array([way[1], -way[0]]) / reach
        hit, left = touches(q[k], new, discs)
        kept = not hit
        if bad == "throws away":
            kept = False
        elif bad in ("ends", "endless"):
            kept = not touches(q[k], new, discs, bad)[0]
        elif bad == "keeps all":
            kept = True
        far = norm((target - q[k]) * reach)
        doubts = min(clear, abs(left), abs(far - step), np.abs(np.abs(target) - limits[1]).min())
        if doubts > SURE:
            log.append([*target, k, *new, kept])
            nodes += [new] if kept else []
    return start, limits, reach, step, discs, np.array(log, float)


PLANNERS = ("", "wide", "radians", "newest", "any", "joint", "bent", "no stop", "rad", "long")
PLANNERS += ("aside", "ends", "endless", "throws away", "keeps all")


def audit_cases(rng):
    """start, limits, reach, step, discs, log: each kind of planner, then drawn ones."""
    fault = rng.choice(PLANNERS[1:], 4, replace=False)
    drawn = [planner_log(rng, kind, int(rng.integers(25))) for kind in (*fault, "")]
    return [*_audited(), *drawn]


@lru_cache
def _audited():
    rng = np.random.default_rng(10)
    return tuple(planner_log(rng, kind, 5) for kind in (*PLANNERS, "wide", "wide"))


def same_fault(answer, expected, args):
    turn, word = parts(answer, ("the turn", ()), ("the word", str))
    right, said = int(expected[0]), expected[1]
    if abs(float(turn) - right) > 1e-9:
        if right < 0:
            return f"In turn {float(turn):g} nothing is wrong, nor in any other."
        return (
            f"The first fault is in turn {right}."
            if turn > right or turn < 0
            else (f"Up to turn {right - 1} nothing is wrong.")
        )
    same = word.strip().casefold() == said
    return None if same else f'The turn is right; the word is not "{word[:20]}".'


AUDIT = Exercise(
    "audit",
    points=2,
    cases=audit_cases,
    truth=audit,
    compare=same_fault,
    alternatives=[
        audit,
        lambda *case: (np.int64(audit(*case)[0]), np.str_(audit(*case)[1])),
        lambda *case: [np.array([audit(*case)[0]]), audit(*case)[1].title()],
    ],
    mistakes=variants(audit, AUDIT_SAYS),
)


# ---------------------------------------------------------------- 4. a gap in a wall

ENOUGH = 0.01  # of the two shares, as the task says


def gap_cases(rng):
    """node, limits, wall, gap, radius, step: a gap that narrows, steps, places, drawn ones."""
    box = np.array([[0.0, 0.0], [2.0, 1.0]])
    v = lambda *x: np.array(x, float)
    cases = [(v(0.7, 0.5), box, 1.0, v(0.5 - w, 0.5 + w), 0.045, 0.8) for w in (0.35, 0.2, 0.1)]
    cases += [(v(0.8, 0.2), box, 1.0, v(0.3, 0.8), 0.1, step) for step in (0.25, 0.6, 3.0)]
    cases += [(v(0.9, 0.85), box, 1.05, v(0.15, 0.75), 0.08, 0.5)]
    cases += [(v(-0.6, -0.4), box - [1, 0.7], 0.2, v(-0.5, 0.1), 0.06, 1.2)]
    while len(cases) < 11:
        high = rng.uniform(1, 3, 2).round(2)
        wall, radius = float(rng.uniform(0.4, 0.7) * high[0]), float(rng.uniform(0.02, 0.08))
        wide = 2 * radius + rng.uniform(0.3, 0.6)
        low = rng.uniform(0.1, high[1] - wide - 0.1)
        node = v(wall - rng.uniform(0.15, 0.3), low + rng.uniform(-0.1, 0.3))
        step = float(rng.uniform(0.4, 1.5))
        case = node, np.array([0 * high, high]), wall, v(low, low + wide), radius, step
        rows = high / (wide - 2 * radius)
        if (np.abs(rows - np.rint(rows)) > 0.02).all() and node[1] > 0.02:
            cases.append(case)
    return cases


def free_run(angle, node, wall, gap, radius):
    """How far (k,) the centre gets from the node in the directions angle (k,): inf if it passes."""
    c, s = np.cos(angle), np.sin(angle)
    with np.errstate(divide="ignore", invalid="ignore"):
        flat = np.where(c > 1e-12, (wall - radius - node[0]) / c, np.inf)
        y = node[1] + flat * s
        run = np.where((c > 1e-12) & ((y <= gap[0]) | (y >= gap[1])), flat, np.inf)
        for edge in gap:  # the rim of each half is round for the middle of the robot
            w = np.array([wall, edge]) - node
            along = w[0] * c + w[1] * s
            inner = radius**2 - (w @ w - along**2)
            meets = np.where((inner >= 0) & (along > 0), along - np.sqrt(np.abs(inner)), np.inf)
            run = np.minimum(run, meets)
    return run


def passage(node, limits, wall, gap, radius, step):
    """(share of edges kept, share that gets through, nodes of a grid): by a sum over directions.

    A target at distance d in some direction gives an edge of min(d, step). So in each direction
    the good targets are a piece of the ray, and the area of a piece is that of a sector.
    """
    angle = (np.arange(40_000) + 0.5) * TURN / 40_000
    c, s = np.cos(angle), np.sin(angle)
    low, high = limits - node
    end = np.minimum(np.where(c > 0, high[0], low[0]) / c, np.where(s > 0, high[1], low[1]) / s)
    run = free_run(angle, node, wall, gap, radius)
    good = np.where(run >= step, end, np.minimum(run, end))
    behind = np.where(c > 0, (wall - node[0]) / np.where(c > 0, c, 1), np.inf)
    through = np.where(step > behind, np.maximum(good**2 - np.minimum(behind, 1e9) ** 2, 0), 0)
    area = np.prod(high - low)
    slice_ = TURN / 40_000 / 2
    return (
        float((good**2).sum() * slice_ / area),
        float(through.sum() * slice_ / area),
        grid_nodes(limits, gap, radius),
    )


def grid_nodes(limits, gap, radius, kind=""):
    """Nodes of the coarsest grid that surely has a row in the gap."""
    room = gap[1] - gap[0] - {"no radius": 0, "one radius": 1}.get(kind, 2) * radius
    count = np.ceil((limits[1] - limits[0]) / room - 1e-9) + (kind != "gaps")
    return int(count.prod())


def sampled(node, limits, wall, gap, radius, step, kind="", side=200):
    """`passage` by a grid of targets; kind names what is wrong with it."""
    at = (np.arange(side) + 0.5) / side
    share = np.stack(np.meshgrid(at, at), axis=-1).reshape(-1, 2)
    targets = limits[0] + share * (limits[1] - limits[0])
    if kind == "directions":
        turn = (np.arange(side**2) + 0.5) * TURN / side**2
        targets = node + 99 * np.column_stack([np.cos(turn), np.sin(turn)])
    move = targets - node
    far = norm(move)
    edge = np.where(far < step, far, step) if kind not in ("to target", "whole step") else far
    edge = 0 * far + step if kind == "whole step" else edge
    end = node + move * (edge / far)[:, None]
    r = 0.0 if kind == "no radius" else radius
    if kind in ("ends", "gap less"):
        y = node[1] + (wall - node[0]) * move[:, 1] / move[:, 0]
        crosses = (end[:, 0] > wall) & ((y < gap[0] + r) | (y > gap[1] - r))
        inside = (np.abs(end[:, 0] - wall) < r) & (
            (end[:, 1] < gap[0] + r) | (end[:, 1] > gap[1] - r)
        )
        kept = ~inside if kind == "ends" else ~(crosses | inside)
    else:
        kept = edge < free_run(np.arctan2(move[:, 1], move[:, 0]), node, wall, gap, max(r, 1e-9))
    beyond = (targets if kind == "target beyond" else end)[:, 0] > wall
    through, all_kept = (kept & beyond).mean(), kept.mean()
    through = through / all_kept if kind == "of the kept" else through
    nodes = grid_nodes(limits, gap, radius, kind.removeprefix("grid: "))
    return float(1.0 if kind == "cut short" else all_kept), float(through), nodes


GAP_SAYS = {
    "to target": "You test the way to the target. An edge is one step long at most.",
    "whole step": "Where the target is nearer than a step, the edge ends there.",
    "ends": "You test the end of the edge only, and let the robot jump over the wall.",
    "no radius": "The robot is no point: its middle stays a radius away from the wall.",
    "gap less": "You took the radius off the gap, above and below. On a slanted way the rim of the"
    " wall is nearer than that: measure the distance of the edge from it.",
    "directions": "You drew directions. Targets are drawn evenly over the *area*.",
    "target beyond": "It got through if the *edge* ends beyond the wall, not if the target does.",
    "of the kept": "Of all targets, not of those whose edges were kept.",
    "cut short": "An edge that meets the wall is thrown away. It is not cut off there.",
    "grid: no radius": "The shares are right. For the grid, too, the gap is narrower by two radii.",
    "grid: one radius": "The shares are right. The robot has a radius above and one below.",
    "grid: gaps": "The shares are right. A row with k spaces has k + 1 nodes.",
}


def same_shares(answer, expected, args):
    kept, through, nodes = parts(
        answer, ("the share kept", ()), ("the share that gets through", ()), ("the nodes", ())
    )
    for name, mine, right in zip(("kept", "that gets through"), (kept, through), expected):
        off = abs(float(mine) - right)
        if not off < ENOUGH:
            said = f"The share {name} is off by {off:.2g}."
            few = " With 10 000 targets that may be luck: take more." if off < 0.03 else ""
            return said + few
    if not abs(float(nodes) - expected[2]) < 0.5:
        return f"The shares are right. The grid has {expected[2]} nodes, not {float(nodes):.6g}."
    return None


PASSAGE = Exercise(
    "passage",
    points=2,
    cases=gap_cases,
    truth=passage,
    compare=same_shares,
    seconds=20.0,
    alternatives=[
        sampled,
        lambda *case: [np.float32(x) for x in passage(*case)],
        lambda *case: np.array([round(x, 3) for x in passage(*case)]),
    ],
    mistakes=variants(sampled, GAP_SAYS),
)

EXERCISES = [STEER, WAY, AUDIT, PASSAGE]
