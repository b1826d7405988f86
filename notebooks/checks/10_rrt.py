"""Checkpoints of lesson 10: a grid, a joint that goes round, a chance, looks, bridges, luck."""

from math import ceil, gamma, pi

import numpy as np

from course_lib.arm import load_arm
from course_lib.check import Exercise, Mistake, as_numbers
from course_lib.collision import Scene, Sphere, clearance, closest, load_scene

# ---------------------------------------------------------------- grid_size


def grid_cases(rng):
    """low, high, reach, gap: cobot6-like, a slide, a gap that does not fit, drawn ones."""
    six = np.array([0.77, 0.82, 0.57, 0.45, 0.17, 0.12])
    fixed = [
        (np.array([-1.0]), np.array([1.0]), np.array([1.0]), 0.5),
        (np.array([-1.0, 0.0]), np.array([1.0, 0.3]), np.array([0.8, 1.0]), 0.25),
        (-2.618 * np.ones(6), 2.618 * np.ones(6), six, 0.05),
        (-np.pi * np.ones(2), np.pi * np.ones(2), np.array([1.05, 0.5]), 0.02),
    ]
    for _ in range(4):
        n = int(rng.integers(2, 6))
        low, span = rng.uniform(-3, 0, n), rng.uniform(0.5, 4, n)
        fixed.append((low, low + span, rng.uniform(0.2, 1.2, n), float(rng.uniform(0.03, 0.3))))
    return fixed


def grid_size(low, high, reach, gap, ends=1, radians=False, join=np.prod):
    span = (np.asarray(high) - low) * (1.0 if radians else np.asarray(reach))
    return float(join([ceil(x - 1e-9) + ends for x in span / gap]))


def by_counting(low, high, reach, gap):
    """One axis after the other, with whole numbers."""
    total = 1
    for a, b, r in zip(low, high, reach):
        k = 2
        while (b - a) * r / (k - 1) > gap * (1 + 1e-9):
            k += 1
        total *= k
    return total


def same_count(answer, expected, args):
    value = float(as_numbers(answer, ()))
    if abs(value - expected) < 1e-9 * expected:
        return None
    more = "more" if value > expected else "fewer"
    return f"{value:.6g} postures, {more} than the {expected:.6g} that are needed."


GRID = Exercise(
    "grid_size",
    cases=grid_cases,
    truth=grid_size,
    compare=same_count,
    mistakes=[
        Mistake(
            lambda *args: grid_size(*args, ends=0),
            "You counted the gaps of each joint. A row with k gaps has k + 1 posts.",
        ),
        Mistake(
            lambda *args: grid_size(*args, radians=True),
            "You divided radians by metres. Multiply the range of each joint by its reach first.",
        ),
        Mistake(
            lambda *args: grid_size(*args, join=np.sum),
            "You added the joints. Each value of one joint meets each value of the others:"
            " multiply.",
        ),
        Mistake(
            lambda low, high, reach, gap: grid_size(low, high, 0 * low + max(reach), gap),
            "You gave every joint the reach of the first. A wrist joint moves little, so it needs"
            " few values.",
        ),
    ],
    alternatives=[by_counting, lambda *args: [grid_size(*args)]],
)

# ---------------------------------------------------------------- nearest_round

TURN = 2 * np.pi


def round_cases(rng):
    """nodes, q, scale, endless: near over the seam, a limited joint beside it, drawn ones."""
    nodes = np.array([[3.0, 0.0], [0.5, 0.0], [-2.0, 0.4]])
    fixed = [
        (nodes, np.array([-3.1, 0.0]), np.ones(2), np.array([True, False])),
        (nodes, np.array([-3.1, 0.0]), np.ones(2), np.array([False, False])),
        (
            np.array([[0.0, 3.0], [1.0, -2.9], [0.2, -1.0]]),
            np.array([0.0, -3.1]),
            np.array([1.0, 0.4]),
            np.array([False, True]),
        ),
        (
            np.array([[9.5, 0.0], [0.9, 0.0]]),
            np.array([0.0, 0.0]),
            np.array([1.0, 0.5]),
            np.array([True, True]),
        ),
    ]
    for _ in range(8):
        n = int(rng.integers(2, 7))
        endless = rng.random(n) < 0.6
        nodes, q = rng.uniform(-3.1, 3.1, (40, n)), rng.uniform(-3.1, 3.1, n)
        fixed.append((nodes, q, rng.uniform(0.1, 1.1, n), endless))
    return fixed


def gap_round(nodes, q, endless):
    d = np.asarray(nodes, float) - q
    return np.where(endless, (d + np.pi) % TURN - np.pi, d)


def nearest_round(nodes, q, scale, endless):
    return int(np.linalg.norm(gap_round(nodes, q, endless) * scale, axis=1).argmin())


def by_three_turns(nodes, q, scale, endless):
    """Each endless joint tried with whole turns added."""
    best = []
    for node in nodes:
        parts = []
        for x, y, s, free in zip(node, q, scale, endless):
            turns = range(-3, 4) if free else [0]
            parts.append(min((s * (x - y + k * TURN)) ** 2 for k in turns))
        best.append(sum(parts))
    return best.index(min(best))


def same_node(answer, expected, args):
    value = as_numbers(answer, ())
    if float(value) == expected:
        return None
    nodes, q, scale, endless = args
    if not 0 <= value < len(nodes) or value != int(value):
        return f"{value:g} is not the number of a node: 0 to {len(nodes) - 1}."
    away = np.linalg.norm(gap_round(nodes, q, endless) * scale, axis=1)
    there = away[int(value)]
    return f"Node {int(value)} is {there:.3f} m away, node {expected} only {away.min():.3f} m."


NEAREST = Exercise(
    "nearest_round",
    cases=round_cases,
    truth=nearest_round,
    compare=same_node,
    mistakes=[
        Mistake(
            lambda nodes, q, scale, endless: int(
                np.linalg.norm((nodes - q) * scale, axis=1).argmin()
            ),
            "You did not go round: 3.1 and -3.1 rad are 0.08 rad apart on a joint without limits.",
        ),
        Mistake(
            lambda nodes, q, scale, endless: nearest_round(nodes, q, scale, endless | True),
            "You went round on every joint. One with limits can't cross its seam.",
        ),
        Mistake(
            lambda nodes, q, scale, endless: nearest_round(nodes, q, 1 + 0 * scale, endless),
            "You left out the scale: a radian of the wrist then counts like one of the shoulder.",
        ),
        Mistake(
            lambda nodes, q, scale, endless: int(
                np.linalg.norm(gap_round(nodes * scale, q * scale, endless), axis=1).argmin()
            ),
            "You went round after scaling. A turn is 2π rad, not 2π m: go round first.",
        ),
    ],
    alternatives=[by_three_turns, lambda *args: np.array([nearest_round(*args)])],
)

# ---------------------------------------------------------------- goal_chance


def chance_cases(rng):
    """radius, low, high, scale: two joints by hand, six of cobot6, a slide, drawn ones."""
    six = np.array([0.845, 0.695, 0.765, 0.395, 0.115, 0.115])
    fixed = [
        (0.1, np.zeros(2), np.ones(2), np.ones(2)),
        (0.5, -np.pi * np.ones(2), np.pi * np.ones(2), np.array([1.05, 0.5])),
        (0.1, -2.618 * np.ones(6), 2.618 * np.ones(6), np.ones(6)),
        (0.8, -2.618 * np.ones(6), 2.618 * np.ones(6), six),
        (0.05, np.array([-1.0, 0.0, -2.0]), np.array([1.0, 0.3, 2.0]), np.array([0.9, 1, 0.4])),
    ]
    for n in (1, 4, 7):
        low, span = rng.uniform(-3, 0, n), rng.uniform(1, 4, n)
        fixed.append((float(rng.uniform(0.05, 0.2)), low, low + span, rng.uniform(0.3, 1.2, n)))
    return fixed


def goal_chance(radius, low, high, scale, unit=None):
    n = len(low)
    unit = pi ** (n / 2) / gamma(n / 2 + 1) if unit is None else unit(n)
    return float(unit * radius**n / np.prod((np.asarray(high) - low) * scale))


def by_discs(radius, low, high, scale):
    """The volume of the unit ball from the one two dimensions lower."""
    n, volume = len(low), [1.0, 2.0]
    for k in range(2, n + 1):
        volume.append(volume[k - 2] * 2 * pi / k)
    chance = volume[n]
    for a, b, s in zip(low, high, scale):
        chance *= radius / ((b - a) * s)
    return chance


def same_chance(answer, expected, args):
    value = float(as_numbers(answer, ()))
    if abs(value - expected) < 1e-5 * expected:
        return None
    return f"With {len(args[1])} joints you say {value:.4g}; the chance is {expected:.4g}."


CHANCE = Exercise(
    "goal_chance",
    cases=chance_cases,
    truth=goal_chance,
    compare=same_chance,
    mistakes=[
        Mistake(
            lambda *args: goal_chance(*args, unit=lambda n: 2.0**n),
            "That is a cube of the width 2 r. The places within r of the goal are a ball, and in"
            " six dimensions a ball fills only a twelfth of its cube.",
        ),
        Mistake(
            lambda *args: goal_chance(*args, unit=lambda n: 1.0),
            "You took r to the power n as the ball's volume. Its factor is missing.",
        ),
        Mistake(
            lambda *args: goal_chance(*args, unit=lambda n: pi),
            "The factor π belongs to the disc. Each number of joints has a factor of its own.",
        ),
        Mistake(
            lambda r, low, high, scale: goal_chance(r, low, high, 1 + 0 * scale),
            "The box is in radians and the ball in metres. Scale the box first.",
        ),
        Mistake(
            lambda r, low, high, scale: goal_chance(r, low, high, 1 / scale),
            "You divided by the scale. x = scale * q: the box becomes wider by the scale.",
        ),
    ],
    alternatives=[by_discs, lambda *args: [goal_chance(*args)]],
)

# ---------------------------------------------------------------- looks


def look_cases(rng):
    """q0, q1, reach, gap: one joint, two that add up, no motion, drawn ones."""
    fixed = [
        (np.zeros(2), np.array([0.5, 0.0]), np.array([1.0, 0.5]), 0.1),
        (np.zeros(2), np.array([0.5, -0.7]), np.array([1.0, 0.5]), 0.07),
        (np.ones(3), np.ones(3), np.ones(3), 0.1),
        (np.zeros(6), 0.8 * np.ones(6), np.array([0.77, 0.82, 0.57, 0.45, 0.17, 0.12]), 0.02),
    ]
    for _ in range(5):
        n = int(rng.integers(2, 7))
        q0, q1 = rng.uniform(-2, 2, (2, n))
        fixed.append((q0, q1, rng.uniform(0.1, 1.1, n), float(rng.uniform(0.01, 0.1))))
    return fixed


def looks(q0, q1, reach, gap, way=np.sum, more=1, rounding=ceil):
    moved = float(way(np.abs(np.asarray(q1) - q0) * reach))
    return max(rounding(moved / gap - 1e-9), 1) + more


def by_trying(q0, q1, reach, gap):
    """More and more postures, until two neighbours are near enough."""
    k, move = 2, np.abs(np.asarray(q1) - q0)
    while move @ reach / (k - 1) > gap * (1 + 1e-9):
        k += 1
    return k


LOOKS = Exercise(
    "looks",
    cases=look_cases,
    truth=looks,
    compare=same_count,
    mistakes=[
        Mistake(
            lambda *args: looks(*args, way=np.linalg.norm),
            "You took the root of the sum of squares. A point of the arm is moved by all joints"
            " at once, and in the worst case their ways add up.",
        ),
        Mistake(
            lambda *args: looks(*args, way=np.max),
            "You took the joint that moves most. The others move the same point, too: add.",
        ),
        Mistake(
            lambda *args: looks(*args, more=0),
            "That is the number of gaps. Both ends are looked at: one more.",
        ),
        Mistake(
            lambda q0, q1, reach, gap: looks(q0, q1, 1 + 0 * reach, gap),
            "You compared radians with metres. Each joint counts by its reach.",
        ),
        Mistake(
            lambda q0, q1, reach, gap: max(ceil(abs((q1 - q0) @ reach) / gap - 1e-9), 1) + 1,
            "You let a joint that turns back undo another. The bound needs absolute values.",
        ),
    ],
    alternatives=[by_trying, lambda *args: np.array([looks(*args)])],
)

# ---------------------------------------------------------------- bridges


PLANAR = load_arm("planar2")
BALLS = Scene([Sphere([0.65, 0.55, 0], 0.1), Sphere([0.36, 0.77, 0], 0.1)], pairs=())


def bridge_cases(rng):
    """arm, scene, one, other: pairs of all kinds in the plane, one lonely pair, six joints."""
    one = rng.uniform([0.4, -0.4], [1.3, 0.4], (300, 2))
    near = one + rng.normal(size=one.shape) * [0.5, 0.2]
    pillars = load_scene("pillars")
    six = rng.uniform(pillars.arm.q_min, pillars.arm.q_max, (30, 6))
    return [
        (PLANAR, BALLS, one, near),
        (PLANAR, BALLS, np.zeros((1, 2)), np.full((1, 2), 0.1)),
        (pillars.arm, pillars, six, six + rng.normal(size=six.shape)),
    ]


def bridges(arm, scene, one, other, rule=lambda a, m, b: ~a & m & ~b, at=0.5):
    middle = (one + other) / 2
    free = [clearance(arm, scene, q) > 0 for q in (one, middle, other)]
    return (one + at * (other - one))[rule(*free)]


def by_loop(arm, scene, one, other):
    free = lambda q: closest(arm, scene, q).clearance > 0
    kept = [0.5 * (a + b) for a, b in zip(one, other) if not free(a) and not free(b)]
    return np.array([m for m in kept if free(m)]).reshape(-1, one.shape[1])


def same_rows(answer, expected, args):
    rows = answer if np.size(answer) else np.empty((0, arm_n(args)))
    shape = np.shape(rows)
    if len(shape) != 2 or shape[1] != arm_n(args):
        return f"The answer has the shape {shape}; expected rows (m, {arm_n(args)})."
    if len(rows) != len(expected):
        return f"You keep {len(rows)} of {len(args[2])} midpoints; {len(expected)} are bridges."
    off = np.abs(as_numbers(rows, shape) - np.reshape(expected, shape)).max(initial=0.0)
    return None if off < 1e-6 else f"A midpoint is off by {off:.3g} rad."


def arm_n(args):
    return args[0].n


BRIDGES = Exercise(
    "bridges",
    cases=bridge_cases,
    truth=bridges,
    compare=same_rows,
    mistakes=[
        Mistake(
            lambda *args: bridges(*args, lambda a, m, b: m),
            "You keep every free midpoint. Most of them lie in the open: both ends must collide.",
        ),
        Mistake(
            lambda *args: bridges(*args, lambda a, m, b: m & ~(a & b)),
            "You ask that one end collides. That finds all surfaces, not only narrow places.",
        ),
        Mistake(
            lambda *args: bridges(*args, lambda a, m, b: ~a & ~b),
            "You never test the midpoint. Inside a thick wall all three collide.",
        ),
        Mistake(
            lambda *args: bridges(*args, at=0.0),
            "You return an end of the bridge, which collides. The sample is the midpoint.",
        ),
        Mistake(
            lambda *args: bridges(*args, lambda a, m, b: a & ~m & b),
            "You turned it round: free ends over a collision. A narrow passage is a free place"
            " between two collisions.",
        ),
    ],
    alternatives=[by_loop, lambda *args: bridges(*args).tolist()],
)

# ---------------------------------------------------------------- surely_above


def luck_cases(rng):
    """runs, sure: one run, ten, a hundred, and drawn ones."""
    drawn = [(int(rng.integers(2, 400)), float(rng.uniform(0.6, 0.999))) for _ in range(4)]
    return [(1, 0.95), (10, 0.95), (30, 0.95), (100, 0.99), *drawn]


def surely_above(runs, sure):
    return (1 - sure) ** (1 / runs)


def by_halving(runs, sure):
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if middle**runs < 1 - sure else (low, middle)
    return low


def same_rate(answer, expected, args):
    value = float(as_numbers(answer, ()))
    if abs(value - expected) < 1e-5:
        return None
    if not 0 <= value <= 1:
        return f"{value:.4g} is no share between 0 and 1."
    chance = value ** args[0]
    return (
        f"A planner with a rate of {value:.4f} succeeds in all {args[0]} runs with the chance"
        f" {chance:.3g}; you want {1 - args[1]:.3g}."
    )


LUCK = Exercise(
    "surely_above",
    cases=luck_cases,
    truth=surely_above,
    compare=same_rate,
    mistakes=[
        Mistake(
            lambda runs, sure: sure ** (1 / runs),
            "You set the chance of such luck to `sure`. Luck must be rare: 1 - sure.",
        ),
        Mistake(
            lambda runs, sure: 1 - (1 - sure) ** (1 / runs),
            "That bounds the rate of *failure* for a planner that never succeeded.",
        ),
        Mistake(
            lambda runs, sure: 1.0,
            "All runs went well; the next one need not. What rate would make that a lucky day?",
        ),
        Mistake(
            lambda runs, sure: runs / (runs + 1),
            "That does not ask how sure you want to be.",
        ),
        Mistake(
            lambda runs, sure: max(0.0, 1 - 3 / runs),
            "1 - 3/n is the rule of thumb for 95 % and many runs. Solve p**runs = 1 - sure.",
        ),
    ],
    alternatives=[by_halving, lambda n, s: np.exp(np.log1p(-s) / n)],
)

EXERCISES = [GRID, NEAREST, CHANCE, LOOKS, BRIDGES, LUCK]
