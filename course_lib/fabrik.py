"""How does a chain of points reach a target by lengths alone?  FABRIK in two or three dimensions.

Public names: `solve`, `FabrikResult`, `reach`, `bends`.

The points of the chain are pulled along lines: from the tip, put on the target, back to the base,
then from the base, put back in its place, out to the tip. No angles, no Jacobian. That is what it
can't see, too: a chain that lies on one line with the target never leaves it, and it knows of joint
axes only what `limits` says about the angle between neighbouring links.
Source: Aristidou and Lasenby, Graphical Models 73(5), 2011.
"""

from __future__ import annotations

from math import atan2, cos, dist, inf, pi, sin
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from course_lib.poses import finite

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

STRAIGHT = 1e-9  # part of the chain's length: a chain that leaves its line by less is straight
ASIDE = 0.05  # part of the chain's length by which it is bent out of that line
PATIENCE, PROGRESS = 100, 0.99  # stalled: so many rounds left more than this part of the error


class FabrikResult(NamedTuple):
    """What the chain reached, and why it stopped. Ask `result.success`, not the result itself.

    points   (k+1, d) the chain, base first; link lengths and limits hold whatever the reason
    success  the tip lies within the tolerance of the target
    reason   "converged", or why not:
             "unreachable"      beyond the chain's reach or in its hole: points lie nearest to it
             "joint limit"      the error no longer falls, and a joint stands at its limit
             "stalled"          the error no longer falls (less than 1 % in 100 rounds)
             "iteration limit"  the rounds ran out while the error was falling
    errors   distance from tip to target after each round [m]; their number is that of the rounds
    bent     the chain lay on one line with the target and was bent aside first
    """

    points: np.ndarray
    success: bool
    reason: str
    errors: list[float]
    bent: bool


def reach(lengths: ArrayLike) -> tuple[float, float]:
    """(inner, outer): how near to its base and how far from it a chain's tip can be [m].

    The hole is what the longest link is longer than all others together.

    >>> reach([3, 1, 1])
    (1.0, 5.0)
    """
    lengths = finite("lengths", lengths)
    total = float(lengths.sum())
    return max(0.0, 2 * float(lengths.max()) - total), total


def bends(points: ArrayLike, base: ArrayLike | None = None) -> np.ndarray:
    """(k,) angle of each link against the one before [rad], of the first against `base` (d,).

    In the plane counted left, in (-pi, pi]; in space from 0 to pi. base: the x axis if left out.
    """
    links = np.diff(finite("points", points), axis=0)
    before = np.vstack([_base(base, links.shape[1]), links[:-1]])
    along = (before * links).sum(axis=1)
    if links.shape[1] == 2:
        return np.arctan2(before[:, 0] * links[:, 1] - before[:, 1] * links[:, 0], along)
    return np.arctan2(np.linalg.norm(np.cross(before, links), axis=1), along)


def solve(
    points: ArrayLike,
    target: ArrayLike,
    *,
    limits: ArrayLike | None = None,
    base: ArrayLike | None = None,
    tolerance: float = 1e-3,
    max_iterations: int = 1000,
) -> FabrikResult:
    """Pull a chain's tip to the target (d,), its base held. points (k+1, d) [m], d = 2 or 3.

    limits  (k, 2) least and greatest of the angles of `bends` [rad], in space a cone around the
            link before; the first link is held against the direction `base` (d,)
    The given points are not changed. `ValueError` for other shapes, a link without length, or
    limits the wrong way round.

    >>> chain = [[0, 0], [0, 2], [0, 4], [0, 6]]
    >>> result = solve(chain, [3, 4])
    >>> result.reason, len(result.errors), round(result.errors[-1], 8)
    ('converged', 5, 0.00028653)
    """
    points, target, lengths, limits = _checked(points, target, limits)
    base = _base(base, len(target)).tolist()
    away, (inner, outer) = np.subtract(target, points[0]), reach(lengths)
    distance = float(np.linalg.norm(away))
    direction = away / distance if distance > 0 else np.array(base)
    edge = outer if distance > outer * (1 - 1e-12) else inner  # 1e-12: the straight chain itself
    beyond = edge == outer or distance < inner * (1 + 1e-12)
    if beyond and limits is None:
        points = _in_line(points[0], direction, lengths, edge == outer)
        error = dist(points[-1], target)
        reason = "converged" if error < tolerance else "unreachable"
        return FabrikResult(np.array(points), error < tolerance, reason, [error], False)
    bent = not beyond and _on_one_line(points, target)
    if bent:
        points = _bent(points, lengths, limits)
    goal = (points[0] + edge * direction).tolist() if beyond else target
    errors, reason = _pulled(points, goal, target, lengths, limits, base, tolerance, max_iterations)
    if reason != "converged" and beyond:
        reason = "unreachable"
    elif reason == "stalled" and limits is not None:
        at_limit = np.abs(bends(points, base)[:, None] - limits) < STRAIGHT
        reason = "joint limit" if at_limit.any() else "stalled"
    return FabrikResult(np.array(points), reason == "converged", reason, errors, bent)


def _pulled(points, goal, target, lengths, limits, base, tolerance, max_iterations):
    """Rounds on `points`, the tip pulled to goal: its distance from the target, and the reason."""
    errors, least, since, root = [], inf, 0, points[0]
    lies_well = limits is None or _within(bends(points, base), limits).all()
    if lies_well and dist(points[-1], target) < tolerance:
        return errors, "converged"
    while len(errors) < max_iterations:
        _to_the_base(points, goal, lengths, limits)
        _to_the_tip(points, root, lengths, limits, base)
        errors.append(dist(points[-1], target))
        if errors[-1] < tolerance:
            return errors, "converged"
        least, since = (errors[-1], 0) if errors[-1] < PROGRESS * least else (least, since + 1)
        if since == PATIENCE:
            return errors, "stalled"
    return errors, "iteration limit"


def _to_the_base(points, goal, lengths, limits):
    """The tip on the goal; then each point on the line to where it was, a link's length away."""
    points[-1], after = goal, None
    for i in reversed(range(len(lengths))):
        u = _direction(points[i], points[i + 1], after)
        if limits is not None and after is not None:
            low, high = limits[i + 1]
            u = _held(u, after, -high, -low) if len(u) == 2 else _held(u, after, low, high)
        points[i] = [x - lengths[i] * v for x, v in zip(points[i + 1], u)]
        after = u


def _to_the_tip(points, root, lengths, limits, base):
    """The base back in its place; then the same outwards."""
    points[0], before = root, base
    for i, length in enumerate(lengths):
        u = _direction(points[i], points[i + 1], before)
        if limits is not None:
            u = _held(u, before, *limits[i])
        points[i + 1] = [x + length * v for x, v in zip(points[i], u)]
        before = u


def _direction(start, end, instead):
    """From start to end, with length 1; `instead` where the two are one point."""
    length = dist(start, end)
    if length == 0:
        return instead or [1.0] + [0.0] * (len(start) - 1)
    return [(b - a) / length for a, b in zip(start, end)]


def _held(u, v, low, high):
    """The direction nearest to u whose angle from v, as in `bends`, lies in [low, high]."""
    u, v = np.array(u), np.array(v)
    side = np.array([-v[1], v[0]]) if len(v) == 2 else u - (u @ v) * v
    if len(v) == 3:
        length = np.linalg.norm(side)
        side = side / length if length > STRAIGHT else _across(v)
    angle = atan2(u @ side, u @ v)
    if low <= angle <= high:
        return u.tolist()
    angle = min((low, high), key=lambda edge: abs((edge - angle + pi) % (2 * pi) - pi))
    return (cos(angle) * v + sin(angle) * side).tolist()


def _across(v):
    """A direction at right angles to v: in the plane to its left."""
    if len(v) == 2:
        return np.array([-v[1], v[0]])
    across = np.cross(v, np.eye(3)[np.abs(v).argmin()])
    return across / np.linalg.norm(across)


def _within(angles, limits):
    low, high = limits.T
    return (low - STRAIGHT <= angles) & (angles <= high + STRAIGHT)


def _on_one_line(points, target):
    """Do all points and the target lie on one line?"""
    gaps = np.array([*points[1:], target]) - points[0]
    sigma = np.linalg.svd(gaps, compute_uv=False)
    return sigma[1] <= STRAIGHT * sigma[0]


def _bent(points, lengths, limits):
    """The inner points of a straight chain moved aside, to the side where the limits leave room."""
    points = np.array(points)
    side = _across((points[1] - points[0]) / lengths[0])
    if limits is not None and limits[1:].sum() > 0:
        side = -side  # a bow to the right bends its inner joints left
    points[1:-1] += ASIDE * sum(lengths) * side
    return points.tolist()


def _in_line(root, direction, lengths, outwards):
    """Straight out; or the longest link in the direction and all others back."""
    sign = np.where(outwards | (np.arange(len(lengths)) == np.argmax(lengths)), 1.0, -1.0)
    steps = (sign * lengths)[:, None] * direction
    return (np.array(root) + np.vstack([np.zeros(len(root)), steps.cumsum(axis=0)])).tolist()


def _base(base, dimension):
    """The direction against which the first link's angle counts, with length 1."""
    base = np.eye(dimension)[0] if base is None else finite("base", base, dimension)
    length = np.linalg.norm(base)
    if length == 0:
        raise ValueError(f"base: {base.tolist()}, expected a direction")
    return base / length


def _checked(points, target, limits):
    """The four arguments as copies in plain floats, or `ValueError`."""
    points = finite("points", points)
    if points.ndim != 2 or points.shape[0] < 2 or points.shape[1] not in (2, 3):
        raise ValueError(f"points: shape {points.shape}, expected (k+1, 2) or (k+1, 3), k > 0")
    target = finite("target", target, points.shape[1])
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    if lengths.min() == 0:
        raise ValueError(f"points: link {int(lengths.argmin()) + 1} has no length")
    if limits is not None:
        limits = finite("limits", limits, len(lengths), 2)
        if (limits[:, 0] > limits[:, 1]).any():
            raise ValueError("limits: a least angle lies above the greatest")
    return points.tolist(), target.tolist(), lengths.tolist(), limits
