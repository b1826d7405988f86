"""Which postures reach a pose, all of them?  Inverse kinematics by geometry, without iterating.

Public names: `planar2`, `closed_form`, `in_limits`, `nearest`.

An arm whose last three axes meet in one point can be taken apart (Pieper 1968): the first three
joints bring that point, the wrist centre, to its place; the last three only turn about it. Every
step asks one question, for which angles t is a cos t + b sin t = c, and `_angles` answers it, also
where two answers become one (a stretched elbow) or any angle will do (an axis through the point).
"""

from __future__ import annotations

from functools import lru_cache
from math import atan2, cos, hypot, pi, sin, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from course_lib.arm import Arm
from course_lib.dh import dh_matrix, to_standard
from course_lib.poses import as_poses, finite, inverse

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

TOLERANCE = 1e-10  # [m] lines closer than this meet; a pose out of reach by less is at the edge
ROUNDING = 1e-7  # [rad] rounding moves the two answers at an edge so far apart: they are one
SAME = 1e-6  # [rad] rows closer than this are one solution


class Branches(NamedTuple):
    """What `planar2` found: q (k, 2) [rad] with k = 0, 1 or 2, success, and the reason."""

    q: np.ndarray
    success: bool
    reason: str


def planar2(a1: float, a2: float, xy: ArrayLike) -> Branches:
    """Both postures of two links a1, a2 [m] in a plane that reach the point xy (2,) [m].

    The first row bends with q2 > 0, the second with q2 < 0. At the outer and the inner edge there
    is one row, with q2 exactly 0 or pi; folded onto the base, q1 is free and 0 is given. Out of
    reach there is none, and the reason says by how much. `ValueError` for lengths not positive.
    Source: law of cosines; Siciliano et al., Robotics, 2009, section 2.12.1.

    >>> planar2(0.3, 0.7, [1.0, 0.0])
    Branches(q=array([[0., 0.]]), success=True, reason='converged')
    >>> planar2(0.3, 0.7, [0.0, 1.2]).reason
    'unreachable: 1.2 m away, the reach is 1 m'
    """
    (a1, a2), (x, y) = finite("a1, a2", [a1, a2], 2).tolist(), finite("xy", xy, 2).tolist()
    if min(a1, a2) <= 0:
        raise ValueError(f"a1, a2: {a1:g}, {a2:g}, expected positive lengths")
    r, reach = hypot(x, y), a1 + a2
    bend, slack = r * r - a1 * a1 - a2 * a2, reach * TOLERANCE
    elbows = _or_zero(_angles(2 * a1 * a2, 0.0, bend, slack), 0.0)
    if not elbows:
        edge = f"the reach is {reach:g}" if r > reach else f"the hole's radius {abs(a1 - a2):g}"
        return Branches(np.empty((0, 2)), False, f"unreachable: {r:g} m away, {edge} m")
    q = [(_turn_between(a1 + a2 * cos(t), a2 * sin(t), x, y, free=0.0), t) for t in elbows]
    return Branches(wrap(np.array(q)), True, "converged")


def closed_form(arm: Arm, T: ArrayLike) -> np.ndarray:
    """Every q (k, 6) [rad] with which a 6R arm with spherical wrist holds its tool at T (4, 4).

    Angles lie in (-pi, pi]; limits are not looked at (see `in_limits`). Up to 8 rows where axes 2
    and 3 are parallel, as in most arms; (0, 6) for a pose out of reach. Where a joint is free (its
    axis passes through the wrist centre, or axes 4 and 6 lie in line) one row stands for the whole
    family, with that joint at 0. `ValueError` for another structure names the axes at fault.
    Sources: Pieper, The kinematics of manipulators under computer control, Stanford 1968; Craig,
    Introduction to Robotics, 2005, section 4.6.

    >>> from course_lib.arm import load_arm
    >>> from course_lib.kinematics import fk
    >>> arm = load_arm("cobot6")
    >>> closed_form(arm, fk(arm, [0.3, 0.5, -0.4, 0.7, -0.6, 0.2])).shape
    (8, 6)
    """
    table, before, after = _taken_apart(arm)
    T = as_poses("T", T)
    if T.shape != (4, 4):
        raise ValueError(f"T: shape {T.shape}, expected one pose (4, 4)")
    G = before @ T @ after  # A1 ... A5 Rz(theta6), with its origin in the wrist centre
    rows = []
    for first in _first_three(table, G[:3, 3].tolist()):
        R = G[:3, :3]
        for t, alpha in zip(first, table.alpha):
            R = _rotation(t, alpha).T @ R
        rows += [(*first, *last) for last in _last_three(table, R)]
    q = wrap(np.array(rows).reshape(-1, 6) - table.theta)
    twin = np.abs(wrap(q[:, None] - q)).max(axis=-1, initial=0.0) < SAME
    return q[~np.triu(twin, 1).any(axis=0)]


def in_limits(arm: Arm, q: ArrayLike) -> np.ndarray:
    """Which q (..., n) lie within the arm's limits: (...) of bool. Exactly on a limit is within."""
    q = finite("q", q, arm.n)
    return ((arm.q_min <= q) & (q <= arm.q_max)).all(axis=-1)


def nearest(solutions: ArrayLike, q: ArrayLike) -> np.ndarray:
    """The row of solutions (k, n) from which the way to q (n,) is shortest, angles taken round.

    The way is the root of the summed squares of the angles between (-pi, pi]. Leave out first what
    breaks a limit: `solutions[in_limits(arm, solutions)]`. `ValueError` if there is no row.

    >>> nearest([[0.0, 1.0], [0.0, -3.0]], [0.0, 3.0])
    array([ 0., -3.])
    """
    solutions = np.atleast_2d(finite("solutions", solutions))
    if not solutions.size:
        raise ValueError("solutions: empty, there is none to choose from")
    q = finite("q", q, solutions.shape[-1])
    return solutions[np.linalg.norm(wrap(solutions - q), axis=-1).argmin()]


def wrap(angle: np.ndarray) -> np.ndarray:
    """The same angles in (-pi, pi]."""
    turned = pi - np.mod(pi - angle, 2 * pi)
    return np.where(turned <= -pi, pi, turned)


# ------------------------------------------------------------------- the one question, and its like


def _angles(a, b, c, slack):
    """All t with a cos t + b sin t = c: none, one (a double root) or two. None: any t will do.

    Values of c beyond the largest by less than slack count as the largest.
    """
    r = hypot(a, b)
    if abs(c) > r + slack:
        return []
    if r < slack:
        return None
    x = min(1.0, max(-1.0, c / r))
    half, middle = atan2(sqrt((1 - x) * (1 + x)), x), atan2(b, a)
    if half < ROUNDING or pi - half < ROUNDING:
        return [middle if x > 0 else middle + pi]
    return [middle + half, middle - half]


def _turn_between(x, y, x_goal, y_goal, free):
    """The angle from (x, y) to (x_goal, y_goal), or `free` where both have no length."""
    if hypot(x, y) < TOLERANCE:
        return free
    return atan2(y_goal, x_goal) - atan2(y, x)


def _rotation(t, alpha):
    """Rz(t) Rx(alpha)"""
    c, s, ca, sa = cos(t), sin(t), cos(alpha), sin(alpha)
    return np.array([[c, -s * ca, s * sa], [s, c * ca, -c * sa], [0.0, sa, ca]])


# ------------------------------------------------------------------- the arm, taken apart


@lru_cache(maxsize=32)
def _taken_apart(arm):
    """Standard table and the constant poses before A1 and after Rz(theta6), or `ValueError`."""
    table = to_standard(arm)
    fault = _fault(table)
    if fault:
        raise ValueError(f"arm: {arm.name!r} has no closed form here: {fault}")
    after = dh_matrix(table.a[5], table.alpha[5], table.d[5], 0.0) @ table.tool
    return table, inverse(table.base), inverse(after)


def _fault(table):
    """What of the structure is missing, in words, or an empty string."""
    if table.n != 6 or not table.revolute.all():
        return f"joints {table.joint_types}, expected six that turn"
    sines = np.abs(np.sin(table.alpha))
    for i, j in ((4, 5), (5, 6)):
        if sines[i - 1] < TOLERANCE:
            return f"axes {i} and {j} are parallel, expected axes 4, 5, 6 to meet in one point"
        if abs(table.a[i - 1]) > TOLERANCE:
            return (
                f"axes {i} and {j} don't meet, they pass {1e3 * abs(table.a[i - 1]):.4g} mm apart"
            )
    if abs(table.d[4]) > TOLERANCE:
        gap = 1e3 * abs(table.d[4])
        return f"axes 4 and 6 don't meet, they cross axis 5 at points {gap:.4g} mm apart"
    if sines[1] > TOLERANCE or sines[0] < TOLERANCE:
        return "axes 2 and 3 must be parallel to each other, and not to axis 1"
    return ""


def _first_three(table, p):
    """Triples of table angles that bring the wrist centre to p, seen from the base."""
    (a1, a2, a3), (d1, d2, d3, d4) = table.a[:3].tolist(), table.d[:4].tolist()
    al1, al2, al3 = table.alpha[:3].tolist()
    ca, sa, sign = cos(al1), sin(al1), round(cos(al2))
    forearm, beta = hypot(a3, d4 * sin(al3)), atan2(-d4 * sin(al3), a3)
    (x, y, z), zero = (p[0], p[1], p[2] - d1), table.theta.tolist()
    # joint 1 turns the plane of links 2 and 3 onto p; then two links in that plane, as `planar2`
    off_plane = (d2 + sign * (d3 + d4 * cos(al3)) - ca * z) / sa
    for t1 in _or_zero(_angles(-y, x, off_plane, TOLERANCE), zero[0]):
        c, s = cos(t1), sin(t1)
        u, v = c * x + s * y - a1, ca * (c * y - s * x) + sa * z
        bend, slack = u * u + v * v - a2 * a2 - forearm**2, TOLERANCE * (abs(a2) + forearm)
        for t in _or_zero(_angles(2 * a2 * forearm, 0.0, bend, slack), zero[2] + beta):
            elbow = a2 + forearm * cos(t), sign * forearm * sin(t)
            yield t1, _turn_between(*elbow, u, v, free=zero[1]), t - beta


def _last_three(table, R):
    """Triples of table angles with Rz(t4) Rx(alpha4) Rz(t5) Rx(alpha5) Rz(t6) = R (3, 3)."""
    al4, al5 = table.alpha[3:5].tolist()
    c4, s4, c5, s5 = cos(al4), sin(al4), cos(al5), sin(al5)
    x, y, z = R[:, 2].tolist()  # axis 6 leans against axis 4 by t5 alone
    cosine = (c4 * c5 - z) / (s4 * s5)
    if abs(cosine) > 1 + TOLERANCE:
        return
    cosine, lean = min(1.0, max(-1.0, cosine)), hypot(x, y)
    sine = sqrt(max(0.0, lean**2 - (c4 * s5 * cosine + s4 * c5) ** 2)) / abs(s5)
    in_line = lean < TOLERANCE
    for t5 in (
        (0.0 if cosine > 0 else pi,) if in_line else (atan2(sine, cosine), atan2(-sine, cosine))
    ):
        side, up = s5 * sin(t5), -c4 * s5 * cos(t5) - s4 * c5
        t4 = float(table.theta[3]) if in_line else atan2(y, x) - atan2(up, side)
        turned = (_rotation(t4, al4) @ _rotation(t5, al5)).T @ R
        yield t4, t5, atan2(turned[1, 0], turned[0, 0])


def _or_zero(angles, zero):
    """Any angle will do: then the one at which the joint variable is 0."""
    return [zero] if angles is None else angles
