"""Can the way be shorter, smoother, farther from what stands around?

Public names: `shortcut`, `optimise`.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np

from course_lib import collision
from course_lib.arm import Arm
from course_lib.collision import Scene
from course_lib.planning.space import metric
from course_lib.poses import finite

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def shortcut(
    arm: Arm,
    scene: Scene,
    path: ArrayLike,
    *,
    rng: np.random.Generator,
    rounds: int = 100,
    margin: float = 0.0,
) -> np.ndarray:
    """Again and again, join two random points of a path (k, n) by a straight edge where it is free.

    Never longer than before; start and goal stay. Returns the new path (m, n).
    Source: Geraerts and Overmars, Int. J. Robotics Research 26(8), 2007.
    """
    path, scale = finite("path", path, arm.n), metric(arm)
    for _ in range(rounds):
        s = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(path, axis=0) * scale, axis=1)))
        a, b = np.sort(rng.uniform(0, s[-1], 2))
        i, j = np.searchsorted(s, [a, b], side="right")
        if i == j or i >= len(path):
            continue  # both on one edge
        ends = np.array([[np.interp(t, s, x) for x in path.T] for t in (a, b)])
        if collision.check_edge(arm, scene, *ends, margin).free:
            path = np.concatenate([path[:i], ends, path[j:]])
    return path


def optimise(
    arm: Arm,
    scene: Scene,
    path: ArrayLike,
    *,
    wanted: float = 0.05,
    points: int = 40,
    rounds: int = 60,
    margin: float = 0.0,
) -> np.ndarray:
    """Bend a path (k, n) until it is smooth and keeps a clearance of `wanted` [m] where it can.

    Each round steps down the sum of squared second differences and of what clearances lack; steps
    are smoothed, so that neighbours move together. Returns the best path (points, n) on the way all
    of whose edges are free; the one given, if there is none.
    Source: Zucker et al., Int. J. Robotics Research 32(9-10), 2013.
    """
    path, scale = finite("path", path, arm.n), metric(arm)
    s = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(path, axis=0) * scale, axis=1)))
    x = np.transpose([np.interp(np.linspace(0, s[-1], points), s, y) for y in (path * scale).T])
    bend = np.diff(np.eye(points), 2, axis=0)
    smooth = np.linalg.inv((bend.T @ bend)[1:-1, 1:-1] + 1e-9 * np.eye(points - 2))
    best, least = path, inf
    for _ in range(rounds):
        q = x / scale
        near, slope = _clearances(arm, scene, q[1:-1], scale)
        lack = np.maximum(wanted - near, 0.0)
        cost = ((bend @ x) ** 2).sum() + (lack**2).sum()
        if cost < least and near.min() > margin:
            if collision.edge_is_free(arm, scene, q[:-1], q[1:], margin).all():
                best, least = q, cost
        down = (bend.T @ bend @ x)[1:-1] - lack[:, None] * slope
        move = smooth @ down
        x[1:-1] -= move * min(0.1, 0.02 / max(np.abs(move).max(), 1e-12))
    return best


def _clearances(arm, scene, q, scale, h=1e-4):
    """Clearances (k,) of postures (k, n), and their slopes (k, n) along the scaled joints."""
    sides = q[:, None] + h * np.concatenate([np.eye(arm.n), -np.eye(arm.n)]) / scale
    up, down = np.split(collision.clearance(arm, scene, sides), 2, axis=1)
    return collision.clearance(arm, scene, q), (up - down) / (2 * h)
