"""Which postures reach a pose, all of them?  Inverse kinematics by geometry, without iterating.

Public names: `planar2`, `closed_form`, `in_limits`, `nearest`.

An arm whose last three axes meet in one point can be taken apart (Pieper 1968): the first three
joints bring that point, the wrist centre, to its place; the last three only turn about it. Each
step also has an answer where two answers become one (a stretched elbow) or where any angle will do
(an axis through the point).
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
ROUNDING = 1e-14  # of the lengths: what the digits of a float leave open
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
    reach (by more than 1e-10 of the reach) there is none, and the reason says how far it is.
    `ValueError` for lengths not positive.
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
    elbows = _bends(a1, a2, r)
    if not elbows:
        words = "the reach is" if r > reach else "the hole's radius"
        away, edge = _told_apart(r, reach if r > reach else abs(a1 - a2))
        return Branches(np.empty((0, 2)), False, f"unreachable: {away} m away, {words} {edge} m")
    q = [(_turn_between(a1 + a2 * cos(t), a2 * sin(t), x, y, free=0.0), t) for t in elbows]
    return Branches(wrap(np.array(q)), True, "converged")


def closed_form(arm: Arm, T: ArrayLike) -> np.ndarray:
    """Every q (k, 6) [rad] with which a 6R arm with spherical wrist holds its tool at T (4, 4).

    The arm: six joints that turn, axes 4, 5, 6 through one point, axes 2 and 3 parallel, and not
    to axis 1. `ValueError` for another names what is missing; it may have a closed form that is
    not this one (the UR arms have). Angles lie in (-pi, pi]; limits are not looked at (see
    `in_limits`). Up to 8 rows; (0, 6) for a pose out of reach. Where a joint is free (its axis
    passes through the wrist centre, or axes 4 and 6 lie in line) one row stands for the whole
    family, with that joint at 0.
    Sources: Pieper, The kinematics of manipulators under computer control, Stanford 1968; Craig,
    Introduction to Robotics, 2005, section 4.6.

    >>> from course_lib.arm import load_arm
    >>> from course_lib.kinematics import fk
    >>> arm = load_arm("cobot6")
    >>> closed_form(arm, fk(arm, [0.3, 0.5, -0.4, 0.7, -0.6, 0.2])).shape
    (8, 6)
    """
    table, front, before, after = _taken_apart(arm)
    G = before @ _one_pose(T) @ after  # A1 ... A5 Rz(theta6), with its origin in the wrist centre
    rows = []
    for first in _first_three(table, front, G[:3, 3].tolist()):
        R = G[:3, :3]
        for t, alpha in zip(first, table.alpha):
            R = _rotation(t, alpha).T @ R
        rows += [(*first, *last) for last in _last_three(table, R)]
    q = wrap(np.array(rows).reshape(-1, 6) - table.theta)
    twin = np.abs(wrap(q[:, None] - q)).max(axis=-1, initial=0.0) < SAME
    return q[~np.triu(twin, 1).any(axis=0)]


def wrist_out_of_reach(arm: Arm, T: ArrayLike, tolerance: float) -> bool:
    """Is it proven by the wrist centre that the tool comes to no pose within tolerance of T (4, 4)?

    tolerance: both [m] and [rad]. `ValueError` for an arm that `closed_form` refuses.
    """
    _, front, before, after = _taken_apart(arm)
    G = before @ _one_pose(T) @ after
    slack = tolerance * (1 + np.linalg.norm(after[:3, 3]))  # how far the wrist centre may be off
    return not any(_plane_reached(front, G[:3, 3].tolist(), slack))


def in_limits(arm: Arm, q: ArrayLike) -> np.ndarray:
    """Which q (..., n) lie within the arm's limits: (...) of bool. Exactly on a limit is within."""
    q = finite("q", q, arm.n)
    return ((arm.q_min <= q) & (q <= arm.q_max)).all(axis=-1)


def nearest(solutions: ArrayLike, q: ArrayLike) -> np.ndarray:
    """The row of solutions (k, n) from which the way to q (n,) is shortest, angles taken round.

    The way is the root of the summed squares of the angles between (-pi, pi]: for joints that turn
    without a stop. There is no arm here, so a slide would be taken round, too. Leave out first what
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


def _bends(a1, a2, r):
    """The bends [rad] with which two links reach as far as r: two, one at an edge, or none.

    By half the angle: its tangent squared is (reach^2 - r^2) / (r^2 - hole^2), and as products of
    sums and differences both keep their digits at the edges, where those of a cosine are lost.
    """
    reach, hole = a1 + a2, abs(a1 - a2)
    if r > reach * (1 + TOLERANCE) or r < hole - reach * TOLERANCE:
        return []
    if reach - r < reach * ROUNDING:
        return [0.0]
    if r - hole < reach * ROUNDING or r < TOLERANCE:
        return [pi]
    bend = 2 * atan2(sqrt((reach - r) * (reach + r)), sqrt((r - hole) * (r + hole)))
    return [bend, -bend]


def _told_apart(x, edge):
    """Both numbers with six digits, or as many as show that they differ."""
    for digits in range(6, 18):
        words = f"{x:.{digits}g}", f"{edge:.{digits}g}"
        if words[0] != words[1]:
            break
    return words


def _facing(x, y, off):
    """Angles t [rad] of axis 1 that leave (x, y) beside its plane by x sin t - y cos t = off.

    None if none does, one where the point is just so far from the axis, else two; `None` for any.
    """
    r = hypot(x, y)
    if abs(off) > r + TOLERANCE:
        return []
    if r < TOLERANCE:
        return None
    half, middle = atan2(sqrt(max(0.0, (r - off) * (r + off))), off), atan2(x, -y)
    if r - abs(off) < r * ROUNDING:
        return [middle if off > 0 else middle + pi]
    return [middle + half, middle - half]


def _turn_between(x, y, x_goal, y_goal, free):
    """The angle from (x, y) to (x_goal, y_goal), or `free` where both have no length."""
    if hypot(x, y) < TOLERANCE / 2:
        return free
    return atan2(y_goal, x_goal) - atan2(y, x)


def _rotation(t, alpha):
    """Rz(t) Rx(alpha)"""
    c, s, ca, sa = cos(t), sin(t), cos(alpha), sin(alpha)
    return np.array([[c, -s * ca, s * sa], [s, c * ca, -c * sa], [0.0, sa, ca]])


# ------------------------------------------------------------------- the arm, taken apart


class Front(NamedTuple):
    """The first three joints: links a1, a2 and the forearm, of which joint 3 counts beta more.

    cos1, sin1: of alpha1; side: cos(alpha2); beside, height: wrist centre off the plane of axis 1.
    """

    a1: float
    a2: float
    forearm: float
    beta: float
    cos1: float
    sin1: float
    side: int
    beside: float
    height: float

    def off(self, z):
        """How far beside axis 1 the plane of links 2 and 3 passes, for a wrist centre at z."""
        return (self.beside - self.cos1 * (z - self.height)) / self.sin1


@lru_cache(maxsize=32)
def _taken_apart(arm):
    """Standard table, `Front`, the constant poses before A1 and after Rz(theta6); `ValueError`."""
    table = to_standard(arm)
    fault = _fault(table)
    if fault:
        raise ValueError(f"arm: {arm.name!r} has no closed form here: {fault}")
    (a1, a2, a3), (d1, d2, d3, d4) = table.a[:3].tolist(), table.d[:4].tolist()
    al1, al2, al3 = table.alpha[:3].tolist()
    across, side = d4 * sin(al3), round(cos(al2))
    lengths = a1, a2, hypot(a3, across), atan2(-across, a3)
    front = Front(*lengths, cos(al1), sin(al1), side, d2 + side * (d3 + d4 * cos(al3)), d1)
    after = dh_matrix(table.a[5], table.alpha[5], table.d[5], 0.0) @ table.tool
    return table, front, inverse(table.base), inverse(after)


def _one_pose(T):
    T = as_poses("T", T)
    if T.shape != (4, 4):
        raise ValueError(f"T: shape {T.shape}, expected one pose (4, 4)")
    return T


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


def _first_three(table, front, p):
    """Triples of table angles that bring the wrist centre to p, seen from the base."""
    (x, y, z), zero = p, table.theta.tolist()
    a1, a2, forearm, beta, ca, sa, side, _, height = front
    # joint 1 turns the plane of links 2 and 3 onto p; then two links in that plane, as `planar2`
    for t1 in _or_zero(_facing(x, y, front.off(z)), zero[0]):
        c, s = cos(t1), sin(t1)
        u, v = c * x + s * y - a1, ca * (c * y - s * x) + sa * (z - height)
        for t in _bends(abs(a2), forearm, hypot(u, v)):
            t = pi - t if a2 < 0 else t
            if min(abs(a2), forearm) < TOLERANCE:
                t = zero[2] + beta
            elbow = a2 + forearm * cos(t), side * forearm * sin(t)
            yield t1, _turn_between(*elbow, u, v, free=zero[1]), t - beta


def _plane_reached(front, p, slack):
    """For both ways to face: may two links reach a point within slack of p?

    In the plane of the links it lies in a box (u, v), whose u goes with a root of the distance from
    axis 1. The box misses the ring between hole and reach, or it may not.
    """
    x, y, z = p
    a1, a2, forearm, _, ca, sa, *_, height = front
    r, off, lean = hypot(x, y), front.off(z), slack * abs(ca / sa)
    if r + slack < abs(off) - lean:
        return
    least = sqrt(max(0.0, max(0.0, r - slack) ** 2 - (abs(off) + lean) ** 2))
    most = sqrt(max(0.0, (r + slack) ** 2 - max(0.0, abs(off) - lean) ** 2))
    v, dv = abs(sa * (z - height) - ca * off), slack / abs(sa)
    for low, high in ((least - a1, most - a1), (-most - a1, -least - a1)):
        near = hypot(max(low, -high, 0.0), max(0.0, v - dv))
        far = hypot(max(abs(low), abs(high)), v + dv)
        yield near <= abs(a2) + forearm and far >= abs(abs(a2) - forearm)


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
