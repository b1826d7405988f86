"""What does a planner move in?  Distances, trees of postures, samples, and edges that are free.

Public names: `metric`, `length`; `Tree`; `Options`; `World`; the samplers `uniform`, `bridge`,
`beside_the_line`, `in_the_ellipsoid`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import contextmanager
from math import inf, pi, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from course_lib import collision
from course_lib.arm import Arm
from course_lib.collision import Scene
from course_lib.dh import to_standard
from course_lib.poses import finite

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

KD_TREE_PAYS = 1000  # nodes: below, one array is searched sooner than a KD-tree is built
ENOUGH_TRIES = 100  # to draw what lies within the limits, or in a narrow passage


def metric(arm: Arm) -> np.ndarray:
    """(n,) how far a joint moves any point of the arm at most [m/rad]; 1 for a slide.

    Of a joint that turns: the length of the skeleton beyond it, slides drawn out, and the radius.
    """
    table = to_standard(arm)
    slides = np.where(table.revolute, 0.0, np.maximum(np.abs(table.q_min), np.abs(table.q_max)))
    links = np.abs(table.a) + np.abs(table.d) + slides
    end = max(np.linalg.norm(table.tool[:3, 3]), np.linalg.norm(table.flange)) + arm.radius.max()
    return np.where(table.revolute, np.cumsum(links[::-1])[::-1] - np.abs(table.d) + end, 1.0)


def length(arm: Arm, path: ArrayLike) -> float:
    """Length [m] of a path (k, n) in the metric of the arm."""
    steps = np.diff(finite("path", path, arm.n), axis=0) * metric(arm)
    return float(np.linalg.norm(steps, axis=1).sum())


# ---------------------------------------------------------------- a tree of postures


class Tree:
    """Postures with parents. q (k, n); parent (k,), -1 at the root; cost (k,) from there [m].

    Distances are those between the scaled postures x = q * scale.
    """

    def __init__(self, root: np.ndarray, scale: np.ndarray) -> None:
        self._q, self._x = np.empty((2, 64, len(root)))
        self._cost, self._parent = np.zeros(64), np.full(64, -1)
        self.size, self.scale, self._kd, self._children = 0, scale, None, []
        self.add(root, -1, 0.0)

    q = property(lambda self: self._q[: self.size])
    x = property(lambda self: self._x[: self.size])
    parent = property(lambda self: self._parent[: self.size])
    cost = property(lambda self: self._cost[: self.size])

    def add(self, q: np.ndarray, parent: int, cost: float | None = None) -> int:
        """Hang q (n,) below a node; returns its number. cost: the parent's plus the edge."""
        k = self.size
        if k == len(self._q):
            grown = [np.concatenate([a, a]) for a in (self._q, self._x, self._cost, self._parent)]
            self._q, self._x, self._cost, self._parent = grown
        self._q[k], self._x[k], self._parent[k] = q, q * self.scale, parent
        self._children.append([])
        self.size += 1
        if parent >= 0:
            self._children[parent].append(k)
        self._cost[k] = self._cost[parent] + self.distance(parent, q) if cost is None else cost
        return k

    def distance(self, k: int, q: np.ndarray) -> float:
        """From node k to q (n,) [m]."""
        return float(np.linalg.norm(self._x[k] - q * self.scale))

    def nearest(self, q: np.ndarray) -> int:
        """The node nearest to q (n,): by KD-tree for the older nodes, by array for the rest."""
        x, old = q * self.scale, 0 if self._kd is None else self._kd.n
        if self.size - old > max(KD_TREE_PAYS, old):
            from scipy.spatial import cKDTree

            self._kd, old = cKDTree(self.x.copy()), self.size
        away = self._x[old : self.size] - x
        young = np.einsum("ij,ij->i", away, away)
        k = old + int(young.argmin()) if young.size else -1
        if not old:
            return k
        far, at = self._kd.query(x)
        return int(at) if k < 0 or far * far <= young[k - old] else k

    def near(self, q: np.ndarray, count: int) -> np.ndarray:
        """As many nodes as count, or all: those nearest to q (n,)."""
        away = self.x - q * self.scale
        square = np.einsum("ij,ij->i", away, away)
        return np.argpartition(square, count)[:count] if count < self.size else np.arange(self.size)

    def move(self, k: int, parent: int) -> None:
        """Hang node k below another one; the costs of all below it follow."""
        self._children[self._parent[k]].remove(k)
        self._children[parent].append(k)
        self._parent[k] = parent
        less = self._cost[k] - self._cost[parent] - self.distance(parent, self._q[k])
        below = [k]
        while below:
            k = below.pop()
            self._cost[k] -= less
            below += self._children[k]

    def branch(self, k: int) -> np.ndarray:
        """Postures (m, n) from the root to node k."""
        way = [k]
        while self._parent[way[-1]] >= 0:
            way.append(int(self._parent[way[-1]]))
        return self._q[way[::-1]].copy()


# ---------------------------------------------------------------- what a planner asks of the world


Sampler = Callable[["World"], np.ndarray]


class Options(NamedTuple):
    """What all planners take by keyword, beside rng.

    step            [m] how far an extension moves the arm
    goal_bias       share of targets that are the goal (not in `rrt_connect`)
    max_iterations  of a planner that has not found a way; of `rrt_star` in any case
    margin          [m] that is kept everywhere
    sample          one of the samplers; `uniform` when left out
    progress        is called with the number of each iteration, for a bar
    history         a list that gets the cost of the way so far after each iteration of `rrt_star`
    """

    step: float = 0.8
    goal_bias: float = 0.1
    max_iterations: int = 5000
    margin: float = 0.0
    sample: Sampler | None = None
    progress: Callable[[int], None] = lambda i: None
    history: list[float] | None = None


class World:
    """Samples and free edges for one plan, counted and timed; cost [m]: of the best way so far."""

    def __init__(self, arm: Arm, scene: Scene, rng: np.random.Generator, options: Options) -> None:
        self.arm, self.scene, self.rng, self.options, self.cost = arm, scene, rng, options, inf
        self.scale = metric(arm)
        self.low = np.where(np.isfinite(arm.q_min), arm.q_min, -pi)
        self.high = np.where(np.isfinite(arm.q_max), arm.q_max, pi)
        self.counts = dict.fromkeys(["samples", "extensions", "extended", "edges", "iterations"], 0)
        self.times = dict.fromkeys(["sampling", "nearest", "collision"], 0.0)

    @contextmanager
    def timed(self, what: str):
        """Book the time of the block."""
        start = time.perf_counter()
        yield
        self.times[what] += time.perf_counter() - start

    def is_free(self, q: np.ndarray) -> np.ndarray:
        """Whether postures (..., n) keep the margin."""
        with self.timed("collision"):
            return collision.clearance(self.arm, self.scene, q) > self.options.margin

    def joins(self, q0: np.ndarray, q1: np.ndarray) -> bool:
        """Whether the edge from q0 to q1 (n,) keeps the margin, proven."""
        self.counts["edges"] += 1
        with self.timed("collision"):
            return collision.check_edge(self.arm, self.scene, q0, q1, self.options.margin).free

    def steer(self, tree: Tree, target: np.ndarray) -> tuple[int, np.ndarray]:
        """The node nearest to target (n,), and the posture one step from it on the way there."""
        self.counts["extensions"] += 1
        with self.timed("nearest"):
            k = tree.nearest(target)
        share = self.options.step / max(tree.distance(k, target), 1e-300)
        return k, target if share >= 1 else tree.q[k] + share * (target - tree.q[k])

    def extend(self, tree: Tree, target: np.ndarray) -> int | None:
        """Grow the tree by one step towards target (n,): the new node, or None."""
        k, q = self.steer(tree, target)
        if not self.joins(tree.q[k], q):
            return None
        self.counts["extended"] += 1
        return tree.add(q, k)

    def fault(self, name: str, q: ArrayLike) -> str:
        """What is wrong with a posture (n,) to start or end at, or ""."""
        for i, (low, x, high) in enumerate(zip(self.arm.q_min, q, self.arm.q_max)):
            if not low <= x <= high:
                return f"{name}: joint {i + 1} = {x:g} is outside its limits {low:g} to {high:g}"
        if self.is_free(q):
            return ""
        hit = collision.closest(self.arm, self.scene, q)
        touch = f"link {hit.link} and {hit.other}"
        if hit.clearance <= 0:
            return f"{name}: {touch} are {-1e3 * hit.clearance:.1f} mm inside each other"
        return f"{name}: {touch} keep {1e3 * hit.clearance:.1f} mm, less than the margin"


def uniform(world: World, count: tuple[int, ...] = ()) -> np.ndarray:
    """Any posture (n,) within the limits, or (*count, n); a joint without limits turns once."""
    return world.low + (world.high - world.low) * world.rng.random((*count, world.arm.n))


def bridge(world: World, spread: float = 0.3, share: float = 0.5) -> np.ndarray:
    """A free posture between two that collide: the narrow passages. A share of all samples.

    spread: of the distance between the two [m], normal.
    Source: Hsu, Jiang, Reif and Sun, IEEE ICRA 2003.
    """
    if world.rng.random() < share:
        one = uniform(world, (ENOUGH_TRIES,))
        other = one + spread / world.scale * world.rng.normal(size=one.shape)
        other = np.clip(other, world.low, world.high)
        middle = (one + other) / 2
        good = world.is_free(middle) & ~world.is_free(one) & ~world.is_free(other)
        if good.any():
            return middle[good.argmax()]
    return uniform(world)


def beside_the_line(q_start: ArrayLike, q_goal: ArrayLike, width: float = 0.2) -> Sampler:
    """A sampler near the straight edge from start to goal: off it by width [m], normal."""
    start, goal = np.asarray(q_start, float), np.asarray(q_goal, float)

    def sample(world: World) -> np.ndarray:
        off = width / world.scale * world.rng.normal(size=world.arm.n)
        q = start + world.rng.random() * (goal - start) + off
        return np.clip(q, world.arm.q_min, world.arm.q_max)

    return sample


def in_the_ellipsoid(start: np.ndarray, goal: np.ndarray, before: Sampler) -> Sampler:
    """A sampler of what could lie on a way shorter than `world.cost`; before: used until then."""

    def sample(world: World) -> np.ndarray:
        if not np.isfinite(world.cost):
            return before(world)
        foci, n = np.array([start, goal]) * world.scale, world.arm.n
        least = float(np.linalg.norm(foci[1] - foci[0]))
        axis = (foci[1] - foci[0]) / max(least, 1e-300)
        Q = np.linalg.qr(np.column_stack([axis, np.eye(n)]))[0]  # its first column is ± the axis
        radii = np.full(n, sqrt(max(world.cost**2 - least**2, 0.0)) / 2)
        radii[0] = world.cost / 2
        for _ in range(ENOUGH_TRIES):
            ball = world.rng.normal(size=n)
            ball *= world.rng.random() ** (1 / n) / np.linalg.norm(ball)
            q = (foci.mean(axis=0) + Q @ (radii * ball)) / world.scale
            if ((world.arm.q_min <= q) & (q <= world.arm.q_max)).all():
                return q
        return before(world)

    return sample
