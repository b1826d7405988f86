"""How does a tree find the goal?  RRT, RRT-Connect, RRT* and Informed RRT*, on one tree.

Public names: `rrt`, `rrt_connect`, `rrt_star`, `informed_rrt_star`; `PlanResult`.
"""

from __future__ import annotations

from math import ceil, e, inf, log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from course_lib.arm import Arm
from course_lib.collision import Scene
from course_lib.planning.space import Options, Tree, World, in_the_ellipsoid, length, uniform
from course_lib.poses import finite

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class PlanResult(NamedTuple):
    """A way from start to goal, or why there is none.

    path     (k, n) from start to goal, both exact; (0, n) without success
    reason   "found"; "start: …" or "goal: …", what is wrong with it; "iteration limit: …", which
             proves nothing about the scene
    cost     length of the path [m] in the metric of the arm; inf without success
    tree     all nodes; after `rrt_connect` those of both trees, one after the other
    counts   samples, extensions tried and extended, edges checked, iterations
    times    [s] spent on sampling, nearest, collision
    """

    success: bool
    reason: str
    path: np.ndarray
    cost: float
    tree: Tree
    counts: dict[str, int]
    times: dict[str, float]


def rrt(
    arm: Arm, scene: Scene, q_start: ArrayLike, q_goal: ArrayLike, *, rng, **options
) -> PlanResult:
    """A tree from q_start (n,) grows towards samples, and now and then towards q_goal (n,).

    rng: a numpy Generator; options: those of `Options`. `ValueError` for arguments that can't be
    used; what is wrong with start, goal or scene is told in the result.
    Source: LaValle, TR 98-11, Iowa State University, 1998; LaValle, Planning Algorithms, 5.5.
    """
    world, start, goal, fault = _begin(arm, scene, q_start, q_goal, rng, options)
    tree = Tree(start, world.scale)
    end = None if fault else _last_edge(world, tree, 0, goal)
    turns = _turns(world, fault)
    while end is None and next(turns, None) is not None:
        k = world.extend(tree, _target(world, goal, world.options.goal_bias))
        end = None if k is None else _last_edge(world, tree, k, goal)
    return _lost(world, tree, fault) if end is None else _found(world, tree, tree.branch(end))


def rrt_connect(
    arm: Arm, scene: Scene, q_start: ArrayLike, q_goal: ArrayLike, *, rng, **options
) -> PlanResult:
    """Two trees take turns: one grows to a sample, the other walks to the new node if it can.

    The first sample is the goal itself, so that a free straight edge is found at once. Arguments as
    in `rrt`. Source: Kuffner and LaValle, IEEE ICRA 2000.
    """
    world, start, goal, fault = _begin(arm, scene, q_start, q_goal, rng, options)
    ours, theirs = trees = [Tree(start, world.scale), Tree(goal, world.scale)]
    for i in _turns(world, fault):
        k = world.extend(ours, _target(world, goal, float(i == 0)))
        if k is not None:
            q = ours.q[k]
            j = world.extend(theirs, q)
            while j is not None and (theirs.q[j] != q).any():
                j = world.extend(theirs, q)
            if j is not None:
                ends = [(ours, k), (theirs, j)][:: 1 if ours is trees[0] else -1]
                there, back = (tree.branch(node) for tree, node in ends)
                return _found(world, _forest(*trees), np.concatenate([there, back[-2::-1]]))
        ours, theirs = theirs, ours
    return _lost(world, _forest(*trees), fault)


def rrt_star(
    arm: Arm, scene: Scene, q_start: ArrayLike, q_goal: ArrayLike, *, rng, **options
) -> PlanResult:
    """`rrt` whose nodes look for the cheapest parent near them, and offer themselves as one.

    Runs all its iterations. Arguments as in `rrt`.
    Source: Karaman and Frazzoli, Int. J. Robotics Research 30(7), 2011.
    """
    world, start, goal, fault = _begin(arm, scene, q_start, q_goal, rng, options)
    tree = Tree(start, world.scale)
    end = None if fault else _last_edge(world, tree, 0, goal)
    for _ in _turns(world, fault):
        k = _grow(world, tree, _target(world, goal, world.options.goal_bias * (end is None)))
        if end is None and k is not None:
            end = _last_edge(world, tree, k, goal)
        world.cost = inf if end is None else float(tree.cost[end])
        if world.options.history is not None:
            world.options.history.append(world.cost)
    return _lost(world, tree, fault) if end is None else _found(world, tree, tree.branch(end))


def informed_rrt_star(
    arm: Arm, scene: Scene, q_start: ArrayLike, q_goal: ArrayLike, *, rng, **options
) -> PlanResult:
    """`rrt_star` that draws, once it has a way, only what could lie on a shorter one.

    That is an ellipsoid with start and goal as foci, as long as the way; before the first way it is
    `rrt_star` itself. Source: Gammell, Srinivasa and Barfoot, IEEE/RSJ IROS 2014.
    """
    start, goal = finite("q_start", q_start, arm.n), finite("q_goal", q_goal, arm.n)
    options["sample"] = in_the_ellipsoid(start, goal, options.get("sample") or uniform)
    return rrt_star(arm, scene, start, goal, rng=rng, **options)


def _grow(world, tree, target):
    """One extension of `rrt_star` towards target: the new node, or None."""
    nearest, q = world.steer(tree, target)
    k = _attach(world, tree, q, nearest)
    world.counts["extended"] += k is not None
    return k


def _last_edge(world, tree, k, goal):
    """The node of the goal, if node k is near enough and a free edge leads there."""
    if (tree.q[k] == goal).all():
        return k
    if tree.distance(k, goal) > world.options.step or not world.joins(tree.q[k], goal):
        return None
    return tree.add(goal, k)


def _attach(world, tree, q, nearest):
    """Hang q (n,) where it costs least, then let nodes near it use it; None if nothing joins.

    As many are near as optimality asks for: e (1 + 1/n) log(size).
    """
    with world.timed("nearest"):
        near = tree.near(q, ceil(e * (1 + 1 / len(q)) * log(tree.size + 1)))
        near = near if nearest in near else np.append(near, nearest)
        away = np.linalg.norm(tree.x[near] - q * world.scale, axis=1)
        order = np.argsort(tree.cost[near] + away)
    parent = next((near[i] for i in order if world.joins(tree.q[near[i]], q)), None)
    if parent is None:
        return None
    new = tree.add(q, int(parent))
    for k, there in zip(near.tolist(), away):
        if tree.cost[new] + there < tree.cost[k] - 1e-12 and world.joins(q, tree.q[k]):
            tree.move(k, new)
    return new


# ---------------------------------------------------------------- begin and end of a plan


def _begin(arm, scene, q_start, q_goal, rng, options):
    """The world of a plan, start and goal (n,), and what is wrong with one of them."""
    unknown = set(options) - set(Options._fields)
    if unknown:
        raise ValueError(f"options: {sorted(unknown)}, expected some of {list(Options._fields)}")
    options = Options(**options)
    if not 0 < options.step < inf:
        raise ValueError(f"step: {options.step!r}, expected a positive length [m]")
    if not 0 <= options.goal_bias <= 1:
        raise ValueError(f"goal_bias: {options.goal_bias!r}, expected a share from 0 to 1")
    if not isinstance(rng, np.random.Generator):
        raise ValueError(f"rng: {rng!r}, expected a numpy Generator, as np.random.default_rng(0)")
    world, ends = World(arm, scene, rng, options), []
    for name, q in (("q_start", q_start), ("q_goal", q_goal)):
        ends.append(finite(name, q, arm.n))
        if ends[-1].ndim != 1:
            raise ValueError(f"{name}: shape {ends[-1].shape}, expected ({arm.n},)")
    return world, *ends, world.fault("start", ends[0]) or world.fault("goal", ends[1])


def _turns(world, fault):
    for i in range(0 if fault else world.options.max_iterations):
        world.counts["iterations"] += 1
        world.options.progress(i)
        yield i


def _target(world, goal, bias):
    """The goal, with this probability, else a sample."""
    with world.timed("sampling"):
        if bias and world.rng.random() < bias:
            return goal
        world.counts["samples"] += 1
        return (world.options.sample or uniform)(world)


def _found(world, tree, path):
    cost = length(world.arm, path)
    return PlanResult(True, "found", path, cost, tree, world.counts, world.times)


def _lost(world, tree, fault):
    turns = world.counts["iterations"]
    reason = fault or f"iteration limit: no way in {turns} iterations, which proves nothing"
    nothing = np.empty((0, world.arm.n))
    return PlanResult(False, reason, nothing, inf, tree, world.counts, world.times)


def _forest(one, other):
    """Both trees in the first one, the other behind its own nodes."""
    first = one.size
    for q, parent, cost in zip(other.q, other.parent.tolist(), other.cost.tolist()):
        one.add(q, parent + first if parent >= 0 else -1, cost)
    return one
