"""Checkpoints of lesson 11: a post, an audit, ranges, a chain, a margin, restarts."""

from itertools import combinations
from math import comb

import numpy as np

from course_lib.check import Exercise, Mistake, as_numbers

# ---------------------------------------------------------------- round_post

TURN = 2 * np.pi


def post_cases(rng):
    """start, goal, centre, r, left: both sides, a post elsewhere, one that is not in the way."""
    start, goal, home = np.array([-0.8, 0.05]), np.array([0.8, -0.05]), np.zeros(2)
    fixed = [
        (start, goal, home, 0.27, True),
        (start, goal, home, 0.27, False),
        (np.array([0.1, 0.9]), np.array([0.6, -0.2]), np.array([0.4, 0.3]), 0.2, True),
        (np.array([0.1, 0.9]), np.array([0.6, -0.2]), np.array([0.4, 0.3]), 0.2, False),
        (np.array([-1.0, 0.0]), np.array([1.0, 0.0]), np.array([0.0, 0.6]), 0.3, True),
        (np.array([-1.0, 0.0]), np.array([1.0, 0.0]), np.array([0.0, 0.6]), 0.3, False),
        (np.array([1.0, 0.0]), np.array([-1.0, 0.0]), np.array([0.0, 0.6]), 0.3, False),
        (np.array([0.0, 0.5]), np.array([0.1, 0.5]), home, 0.3, False),
    ]
    for _ in range(6):
        centre, r = rng.uniform(-0.3, 0.3, 2), float(rng.uniform(0.1, 0.3))
        turns, far = rng.uniform(0, TURN, 2), rng.uniform(0.4, 1.0, 2)
        ends = centre + far[:, None] * np.column_stack([np.cos(turns), np.sin(turns)])
        fixed.append((*ends, centre, r, bool(rng.random() < 0.5)))
    return fixed


def round_post(start, goal, centre, r, left, slack=True, whole=True, arc_is=lambda r, w: r * w):
    p, g = start - np.asarray(centre), goal - np.asarray(centre)
    a, b = np.hypot(*p), np.hypot(*g)
    turn = np.arctan2(g[1], g[0]) - np.arctan2(p[1], p[0])
    turn = (turn if left else -turn) % TURN
    turn = turn if whole else min(turn, TURN - turn)
    arc = turn - np.arccos(r / a) - np.arccos(r / b)
    if slack and arc <= 0:
        return float(np.hypot(*(g - p)))
    return float(np.sqrt(a * a - r * r) + np.sqrt(b * b - r * r) + arc_is(r, arc))


def by_band(start, goal, centre, r, left):
    """The taut band found from its tangent points, which are set out as places."""
    side = 1 if left else -1
    p, g = (complex(*(np.asarray(x) - centre)) for x in (start, goal))
    from_start = p / abs(p) * np.exp(side * 1j * np.arccos(r / abs(p))) * r
    to_goal = g / abs(g) * np.exp(-side * 1j * np.arccos(r / abs(g))) * r
    over = np.angle(g / p) % TURN if left else np.angle(p / g) % TURN
    used = np.angle(from_start / p) * side + np.angle(g / to_goal) * side
    if over < used:
        return abs(g - p)
    return abs(p - from_start) + abs(g - to_goal) + r * (over - used)


def same_length(answer, expected, args):
    value = float(as_numbers(answer, ()))
    if abs(value - expected) < 1e-6:
        return None
    side = "left" if args[-1] else "right"
    than = "longer" if value > expected else "shorter"
    return f"With the post at the {side} hand you say {value:.4f} m, {than} than {expected:.4f} m."


ROUND = Exercise(
    "round_post",
    cases=post_cases,
    truth=round_post,
    compare=same_length,
    mistakes=[
        Mistake(
            lambda *args: round_post(*args, whole=False),
            "You always take the smaller angle. With the post at the other hand the way goes round"
            " the far side.",
        ),
        Mistake(
            lambda *args: round_post(*args, slack=False),
            "Where the post is not in the way, your arc becomes negative. The band hangs free then:"
            " the straight way.",
        ),
        Mistake(
            lambda start, goal, centre, r, left: round_post(start, goal, centre, r, not left),
            "You went round on the other side. With the post at your left hand you walk"
            " counter-clockwise.",
        ),
        Mistake(
            lambda *args: round_post(*args, arc_is=lambda r, w: 2 * r * np.sin(w / 2)),
            "You took the chord for the arc: it cuts through the post.",
        ),
    ],
    alternatives=[by_band, lambda *args: [round_post(*args)]],
)

# ---------------------------------------------------------------- wrong_costs


def a_tree(rng, size, n):
    """Postures, parents (some of a higher number), scale and true costs of a random tree."""
    order, q = np.r_[0, 1 + rng.permutation(size - 1)], rng.uniform(-2, 2, (size, n))
    parent, scale = np.full(size, -1), rng.uniform(0.1, 1.1, n)
    for i in range(1, size):
        parent[order[i]] = order[rng.integers(max(0, i - 4), i)]
    return q, parent, scale, branch_costs(q, parent, scale)


def branch_costs(q, parent, scale):
    def cost(k):
        p = int(parent[k])
        return 0.0 if p < 0 else cost(p) + np.linalg.norm((np.asarray(q[k]) - q[p]) * scale)

    return np.array([cost(k) for k in range(len(q))])


def hanging(parent, k):
    """Node k and all below it."""
    found = [k]
    for node in found:
        found += np.flatnonzero(np.asarray(parent) == node).tolist()
    return found


def audit_cases(rng):
    """q, parent, cost, scale: all right; a subtree that was forgotten; one node; drawn ones."""
    line = np.array([[0.0], [1], [2], [3], [3.5]])
    chain, ones = np.array([-1, 0, 1, 2, 3]), np.ones(1)
    true = branch_costs(line, chain, ones)
    stale = true + np.array([0, 0, 0, 0.4, 0.4])
    late = np.array([[0.0, 0], [3, 0], [2, 0], [1, 0]]), np.array([-1, 2, 3, 0])
    fixed = [
        (line, chain, true, ones),
        (line, chain, stale, ones),
        (*late, np.array([0.0, 3.5, 2, 1]), np.ones(2)),
        (line, chain, true * 0.5, 0.5 * ones),
        (line, chain, true + np.array([0, 0, 0, 0, -0.02]), ones),
    ]
    for k in range(5):
        q, parent, scale, cost = a_tree(rng, 12 + 3 * k, 2 + k % 3)
        for node in rng.choice(np.arange(1, len(q)), k, replace=False):
            low = hanging(parent, int(node))
            cost = cost.copy()
            cost[low[1:] if k % 2 else low] += rng.uniform(0.01, 0.5)
        fixed.append((q, parent, cost, scale))
    return fixed


def wrong_costs(q, parent, cost, scale, tol=1e-6):
    off = np.abs(branch_costs(q, parent, np.asarray(scale)) - cost)
    return np.flatnonzero(off > tol).tolist()


def by_local(q, parent, cost, scale, tol=1e-6):
    """Only edges: where a cost is not its parent's and the edge."""
    q, parent, cost = np.asarray(q), np.asarray(parent), np.asarray(cost)
    steps = np.linalg.norm((q - q[parent]) * scale, axis=1)
    expected = np.where(parent < 0, 0.0, cost[parent] + steps)
    return np.flatnonzero(np.abs(cost - expected) > tol).tolist()


def in_one_pass(q, parent, cost, scale):
    """In the order of the numbers, as if each parent were older than its child."""
    true = np.zeros(len(q))
    for k in range(len(q)):
        p = int(parent[k])
        if p >= 0:
            true[k] = true[p] + np.linalg.norm((np.asarray(q[k]) - q[p]) * scale)
    return np.flatnonzero(np.abs(true - cost) > 1e-6).tolist()


def by_waves(q, parent, cost, scale):
    """From the root outwards, one generation after the other."""
    true, done = {int(np.flatnonzero(np.asarray(parent) < 0)[0]): 0.0}, set()
    while len(done) < len(true):
        for k in [k for k in true if k not in done]:
            done.add(k)
            for child in np.flatnonzero(np.asarray(parent) == k).tolist():
                gap = (np.asarray(q[child]) - q[k]) * scale
                true[child] = true[k] + float(np.sqrt(gap @ gap))
    return [k for k in range(len(q)) if abs(true[k] - cost[k]) > 1e-6]


def same_nodes(answer, expected, args):
    if np.ndim(answer) != 1 and np.size(answer):
        return "Expected a list of node numbers."
    given = as_numbers(answer, (len(answer),)).tolist() if np.size(answer) else []
    if given == expected:
        return None
    if sorted(given) == expected:
        return "These are the right nodes, in another order than asked for."
    missed, extra = sorted({*expected} - {*given}), sorted({*given} - {*expected})
    if missed:
        return f"Node {missed[0]} is missing: its cost is not the length of its branch."
    if extra:
        return f"Node {extra[0]:g} is named, but its cost is the length of its branch."
    return "A node comes twice."


AUDIT = Exercise(
    "wrong_costs",
    cases=audit_cases,
    truth=wrong_costs,
    compare=same_nodes,
    mistakes=[
        Mistake(
            by_local,
            "You compared each node with its parent only. Below a wrong cost all edges look right,"
            " and the costs are wrong all the same: walk to the root.",
        ),
        Mistake(
            in_one_pass,
            "You went through the nodes in the order of their numbers. After rewiring a parent may"
            " come later than its child.",
        ),
        Mistake(
            lambda q, parent, cost, scale: wrong_costs(q, parent, cost, np.ones(len(scale))),
            "You left out the scale: lengths are those of the scaled postures.",
        ),
        Mistake(
            lambda q, parent, cost, scale: np.flatnonzero(
                np.abs(np.linalg.norm((np.asarray(q) - q[0]) * scale, axis=1) - cost) > 1e-6
            ).tolist(),
            "You took the straight distance from the root. A cost is the length of the branch.",
        ),
        Mistake(
            lambda q, parent, cost, scale: np.flatnonzero(
                np.abs(cost - branch_costs(q, parent, np.asarray(scale))) > 0.1
            ).tolist(),
            "You let errors of a few centimetres pass. A micrometre is asked for.",
        ),
    ],
    alternatives=[by_waves, lambda *args: np.array(wrong_costs(*args))],
)

# ---------------------------------------------------------------- joint_ranges


def range_cases(rng):
    """start, goal, scale, cost: along one joint, oblique, six joints, the straight way, drawn."""
    fixed = [
        (np.array([-0.8, 0.0]), np.array([0.8, 0.0]), np.ones(2), 2.0),
        (np.array([0.0, 0.0]), np.array([0.6, 0.8]), np.ones(2), 1.5),
        (np.array([0.0, 0.0]), np.array([1.0, 1.0]), np.array([1.0, 0.25]), 1.5),
        (np.array([0.2, -0.1, 0.3]), np.array([0.2, 0.9, 0.3]), np.array([0.7, 0.5, 0.1]), 1.2),
    ]
    for n in (3, 6, 7):
        start, goal, scale = *rng.uniform(-1, 1, (2, n)), rng.uniform(0.1, 1.0, n)
        fixed.append((start, goal, scale, np.linalg.norm(goal - start) * rng.uniform(1.05, 2)))
    return fixed


def joint_ranges(start, goal, scale, cost):
    start, goal, scale = (np.asarray(x, float) for x in (start, goal, scale))
    least = np.linalg.norm((goal - start) * scale)
    along = ((goal - start) * scale / least) ** 2
    return middle_and(start, goal, np.sqrt(cost**2 - (1 - along) * least**2) / 2 / scale)


def middle_and(start, goal, far):
    middle = (np.asarray(start) + goal) / 2
    return np.column_stack([middle - far, middle + far])


def by_turning(start, goal, scale, cost):
    """The ellipsoid turned to where it is, its reach read off row by row."""
    way = (goal - start) * scale
    least, n = np.linalg.norm(way), len(way)
    radii = np.r_[cost, np.full(n - 1, np.sqrt(cost**2 - least**2))] / 2
    Q = np.linalg.qr(np.column_stack([way, np.eye(n)]))[0]
    return middle_and(start, goal, np.linalg.norm(Q * radii, axis=1) / scale)


def radii_only(start, goal, scale, cost):
    """All joints with the short half-axis."""
    least = np.linalg.norm((np.asarray(goal) - start) * scale)
    return middle_and(start, goal, np.sqrt(cost**2 - least**2) / 2 / np.asarray(scale))


def unscaled(start, goal, scale, cost):
    """Right in metres of the metric, and left there."""
    a, b = np.asarray(start) * scale, np.asarray(goal) * scale
    return joint_ranges(a, b, np.ones(len(a)), cost)


def same_ranges(answer, expected, args):
    low, high = np.transpose(as_numbers(answer, expected.shape))
    off = np.abs(np.column_stack([low, high]) - expected)
    if off.max() < 1e-6:
        return None
    k, side = np.unravel_index(off.argmax(), off.shape)
    end, given = ("lowest", low) if side == 0 else ("highest", high)
    return f"Joint {k + 1}: its {end} value is {expected[k, side]:.4f}, not {given[k]:.4f}."


RANGES = Exercise(
    "joint_ranges",
    cases=range_cases,
    truth=joint_ranges,
    compare=same_ranges,
    mistakes=[
        Mistake(
            radii_only,
            "You gave every joint the short half-axis. What lies along the way from start to goal"
            " reaches farther.",
        ),
        Mistake(
            lambda s, g, scale, cost: middle_and(s, g, cost / 2 / np.asarray(scale)),
            "You gave every joint half of the cost: the box round a ball. The ellipsoid is thinner"
            " across the way.",
        ),
        Mistake(
            unscaled,
            "These are metres of the metric. Divide by the scale to get joint values.",
        ),
        Mistake(
            lambda s, g, scale, cost: joint_ranges(s, g, np.ones(len(s)), cost),
            "You left out the scale: cost and postures must be in the same unit.",
        ),
    ],
    alternatives=[by_turning, lambda *args: joint_ranges(*args).tolist()],
)

# ---------------------------------------------------------------- shortest_chain


def chain_cases(rng):
    """x, joined: all free; neighbours only; where the longest jump is not the shortest; drawn."""
    bump = np.array([[0.0, 0], [0.5, 0.4], [1.0, 0.0], [1.2, 0.9], [2.0, 0]])
    wide = np.array([[0.0, 0], [0.1, 0.0], [1.9, 0.0], [1.0, 2.0], [2.0, 0]])
    lots, few = np.ones((5, 5), bool), np.abs(np.subtract.outer(range(5), range(5))) < 2
    jump = few.copy()
    jump[0, 3] = jump[1, 2] = jump[2, 4] = jump[3, 0] = jump[2, 1] = jump[4, 2] = True
    fixed = [(bump, lots), (bump, few), (wide, jump), (bump, blocked(lots, (0, 4), (0, 2)))]
    for n in (6, 9, 12, 15):
        x = np.cumsum(rng.normal(size=(n, 3)) + [0.4, 0, 0], axis=0)
        joined = rng.random((n, n)) < 0.35
        joined |= joined.T | (np.abs(np.subtract.outer(range(n), range(n))) < 2)
        fixed.append((x, joined))
    return fixed


def blocked(joined, *pairs):
    out = joined.copy()
    for i, j in pairs:
        out[i, j] = out[j, i] = False
    return out


def shortest_chain(x, joined, weight=None):
    x, best, parent = np.asarray(x), [0.0], [-1]
    weight = weight or (lambda a, b: np.linalg.norm(a - b))
    for j in range(1, len(x)):
        over = [best[i] + weight(x[i], x[j]) if joined[i][j] else np.inf for i in range(j)]
        parent.append(int(np.argmin(over)))
        best.append(min(over))
    way = [len(x) - 1]
    while way[-1] > 0:
        way.append(parent[way[-1]])
    return way[::-1]


def farthest(x, joined):
    """From each way-point to the last one that can be joined."""
    way = [0]
    while way[-1] < len(x) - 1:
        way.append(max(j for j in range(way[-1] + 1, len(x)) if joined[way[-1]][j]))
    return way


def until_blocked(x, joined):
    """On and on until the first edge that is blocked."""
    way = [0]
    while way[-1] < len(x) - 1:
        j = way[-1] + 1
        while j + 1 < len(x) and joined[way[-1]][j + 1]:
            j += 1
        way.append(j)
    return way


def by_all_subsets(x, joined):
    """Every rising chain that is free, up to twelve way-points; longer ones by graph."""
    n = len(x)
    if n > 12:
        from scipy.sparse.csgraph import dijkstra

        away = np.linalg.norm(np.asarray(x)[:, None] - x, axis=2)
        graph = np.triu(np.where(joined, away, 0.0), 1)
        _, back = dijkstra(graph, indices=0, return_predecessors=True)
        way = [n - 1]
        while way[-1] != 0:
            way.append(int(back[way[-1]]))
        return way[::-1]
    chains = [(0, *c, n - 1) for k in range(n - 1) for c in combinations(range(1, n - 1), k)]
    free = [c for c in chains if all(joined[a][b] for a, b in zip(c, c[1:]))]
    return list(min(free, key=lambda c: chain_length(x, c)))


def chain_length(x, way):
    return float(np.linalg.norm(np.diff(np.asarray(x)[list(way)], axis=0), axis=1).sum())


def as_short(answer, expected, args):
    x, joined = args
    if np.ndim(answer) != 1:
        return "Expected a list of the numbers of way-points."
    way = as_numbers(answer, (len(answer),))
    if (way != np.rint(way)).any() or not ((0 <= way) & (way < len(x))).all():
        return f"Expected whole numbers from 0 to {len(x) - 1}."
    way = way.astype(int).tolist()
    if way == list(expected):
        return None
    if way[:1] != [0] or way[-1:] != [len(x) - 1] or any(a >= b for a, b in zip(way, way[1:])):
        return f"A chain rises from 0 to {len(x) - 1}; yours is {way}."
    for a, b in zip(way, way[1:]):
        if not joined[a][b]:
            return f"The edge from way-point {a} to {b} is not free."
    mine, best = chain_length(x, way), chain_length(x, expected)
    if mine - best < 1e-6:
        return None
    return f"Your chain {way} is {mine:.3f} m long; one of {best:.3f} m is free."


CHAIN = Exercise(
    "shortest_chain",
    cases=chain_cases,
    truth=shortest_chain,
    compare=as_short,
    mistakes=[
        Mistake(
            farthest,
            "You always jump as far as you can. A far way-point may lie off the way: compare"
            " lengths.",
        ),
        Mistake(
            until_blocked,
            "You stop at the first edge that is blocked. Behind it may be a way-point that can be"
            " joined.",
        ),
        Mistake(
            lambda x, joined: list(range(len(x))),
            "You kept all way-points. By the triangle inequality a free edge past one is shorter.",
        ),
        Mistake(
            lambda x, joined: shortest_chain(x, joined, weight=lambda a, b: 1.0),
            "You looked for the fewest way-points, not for the shortest way.",
        ),
    ],
    alternatives=[by_all_subsets, lambda *args: np.array(shortest_chain(*args))],
)

# ---------------------------------------------------------------- blend_margin


def margin_cases(rng):
    """path, d, reach: a right angle, no corner, a straight row, six joints, drawn ones."""
    square = np.array([[0.0, 0], [1, 0], [1, 1]])
    six = np.array([0.72, 0.72, 0.47, 0.14, 0.14, 0.06])
    fixed = [
        (square, np.array([0.2]), np.array([1.0, 0.5])),
        (square[:2], np.array([]), np.array([1.0, 0.5])),
        (np.array([[0.0, 0], [1, 1], [3, 3]]), np.array([0.3]), np.array([1.0, 0.5])),
        (np.array([[0.0, 0], [1, 0], [1, 1], [0.2, 0.4]]), np.array([0.4, 0.1]), np.ones(2)),
    ]
    for m in (4, 6, 9):
        path = np.cumsum(rng.uniform(-1, 1, (m, 6)), axis=0)
        fixed.append((path, rng.uniform(0.05, 0.2, m - 2), six))
    return fixed


def blend_margin(path, d, reach, share=4.0, most=np.max, unit=True, size=np.abs):
    steps = np.diff(np.asarray(path, float), axis=0)
    far = np.linalg.norm(steps, axis=1, keepdims=True) if unit else 1.0
    turn = size(np.diff(steps / far, axis=0))
    moved = np.abs(turn * np.asarray(d)[:, None] / share @ np.asarray(reach))
    return float(most(moved)) if len(moved) else 0.0


def by_parabola(path, d, reach):
    """Each corner's parabola by de Casteljau: its middle is half-way between two mid-points."""
    worst = 0.0
    for k in range(1, len(path) - 1):
        before, here, behind = (np.asarray(path[k + i], float) for i in (-1, 0, 1))
        first = here + (before - here) * d[k - 1] / np.linalg.norm(before - here)
        last = here + (behind - here) * d[k - 1] / np.linalg.norm(behind - here)
        middle = ((first + here) / 2 + (here + last) / 2) / 2
        worst = max(worst, sum(abs(x) * r for x, r in zip(middle - here, reach)))
    return worst


def same_margin(answer, expected, args):
    value = float(as_numbers(answer, ()))
    if abs(value - expected) < 1e-6:
        return None
    if value < expected:
        return f"You ask for {1e3 * value:.1f} mm; up to {1e3 * expected:.1f} mm can be needed."
    return f"You ask for {1e3 * value:.1f} mm; {1e3 * expected:.1f} mm are enough."


MARGIN = Exercise(
    "blend_margin",
    cases=margin_cases,
    truth=blend_margin,
    compare=same_margin,
    mistakes=[
        Mistake(
            lambda *args: blend_margin(*args, share=1.0),
            "You took the whole distance of the cut. The parabola misses the way-point by a quarter"
            " of it.",
        ),
        Mistake(
            lambda *args: blend_margin(*args, share=2.0),
            "You took half: that is the chord from the beginning of the cut to its end. The"
            " parabola lies half-way between it and the way-point.",
        ),
        Mistake(
            lambda *args: blend_margin(*args, unit=False),
            "The directions before and behind the corner must be unit vectors.",
        ),
        Mistake(
            lambda *args: blend_margin(*args, most=np.sum),
            "You added the corners up. The arm is in one of them at a time: the worst one counts.",
        ),
        Mistake(
            lambda *args: blend_margin(*args, size=lambda x: x),
            "You let joints undo each other. In the worst case all move a point the same way:"
            " absolute values.",
        ),
    ],
    alternatives=[by_parabola, lambda *args: [blend_margin(*args)]],
)

# ---------------------------------------------------------------- expected_best


def best_cases(rng):
    """lengths, k: one draw, two of a coin, many, drawn ones."""
    fixed = [
        (np.array([1.0, 2.0]), 1),
        (np.array([2.0, 1.0]), 2),
        (np.array([1.5, 1.5, 1.5]), 4),
        (np.array([1.2, 3.0, 2.0, 1.9]), 3),
    ]
    for k in (1, 2, 5, 12):
        fixed.append((rng.uniform(1, 4, int(rng.integers(5, 31))), k))
    return fixed


def expected_best(lengths, k):
    x, n = np.sort(np.asarray(lengths, float)), len(lengths)
    beyond = (np.arange(n, -1, -1) / n) ** k
    return float(x @ (beyond[:-1] - beyond[1:]))


def by_steps(lengths, k):
    """The shortest of all, and from there the chance to be longer, gap by gap."""
    x, n = sorted(float(v) for v in lengths), len(lengths)
    return x[0] + sum((x[i] - x[i - 1]) * ((n - i) / n) ** k for i in range(1, n))


def without_replacement(lengths, k):
    x, n = sorted(lengths), len(lengths)
    k = min(k, n)
    return sum(v * comb(n - 1 - i, k - 1) for i, v in enumerate(x)) / comb(n, k)


def same_mean(answer, expected, args):
    value = float(as_numbers(answer, ()))
    if abs(value - expected) < 1e-6:
        return None
    return f"Best of {args[1]} among {len(args[0])} lengths: {expected:.4f} m, not {value:.4f} m."


RESTARTS = Exercise(
    "expected_best",
    cases=best_cases,
    truth=expected_best,
    compare=same_mean,
    mistakes=[
        Mistake(
            lambda x, k: float(np.min(x)),
            "That is the shortest of all that you measured. With few runs you rarely meet it.",
        ),
        Mistake(
            lambda x, k: float(np.mean(x)),
            "That is the mean of one run. The best of several is shorter.",
        ),
        Mistake(
            without_replacement,
            "You drew without replacement: each run of the day is a new throw, which may come out"
            " as an earlier one did.",
        ),
    ],
    alternatives=[by_steps, lambda *args: np.array(expected_best(*args))],
)

EXERCISES = [ROUND, AUDIT, RANGES, CHAIN, MARGIN, RESTARTS]
