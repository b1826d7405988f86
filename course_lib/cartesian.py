"""How does the tool go straight, and can the arm follow?  Lines and arcs, and their joint motions.

Public names: `ToolMotion`, `line`, `arc`; `JointMotion`, `to_joints`, `slowed`.

A `ToolMotion` is a way of the tool, place and orientation given for s from 0 to 1, with a timing
s(t) that keeps the limits of the tool. The orientation turns about one fixed axis, in proportion to
s (slerp). Whether the joints can follow is another question: `to_joints` answers it, and says where
and why if they can't.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf, nan, radians, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from course_lib import ik
from course_lib.arm import Arm
from course_lib.kinematics import fk, jacobian
from course_lib.poses import as_poses, error, finite, pose
from course_lib.trajectory import Trajectory, scurve, time_optimal

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

ON_A_LINE = 1e-6  # sine of the angle below which three points give no circle
TOLERANCE = (1e-4, radians(0.1))  # how far the tool may stray between samples [m], [rad]
EXACT = 1e-9  # the same at the samples
STRIDE = 0.2  # [rad or m] a joint that moves further from sample to sample gets samples between
HALVINGS = 12  # so often, and then it is stuck
MOST_POINTS = 5000  # the number of samples is doubled for the tolerance until it is beyond
SINGULAR = 0.03  # smallest singular value of J below which a singularity is to blame


@dataclass(frozen=True, eq=False)
class ToolMotion:
    """A way of the tool and its timing. Called with t (...) [s], it gives T, twist, acceleration.

    place    s (...) -> position, its first and second derivative by s, each (..., 3) [m]
    R        (3, 3) orientation at s = 0
    turn     (3,) the rotation vector from s = 0 to s = 1 in world axes [rad]
    timing   s(t), a `Trajectory`
    v_max, a_max   what the limits of the tool allow for ds/dt and d2s/dt2
    """

    place: Callable
    R: np.ndarray
    turn: np.ndarray
    timing: Trajectory
    v_max: float
    a_max: float

    @property
    def duration(self) -> float:
        """[s]"""
        return self.timing.duration

    def at(self, s: ArrayLike) -> np.ndarray:
        """Pose (..., 4, 4) at s (...), from 0 to 1."""
        from scipy.spatial.transform import Rotation

        s = finite("s", s)
        turned = Rotation.from_rotvec(np.multiply.outer(s, self.turn).reshape(-1, 3)).as_matrix()
        return pose(self.place(s)[0], (turned @ self.R).reshape(*s.shape, 3, 3))

    def __call__(self, t: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pose (..., 4, 4), twist (..., 6) and acceleration (..., 6), linear part first."""
        s, sd, sdd = self.timing(t)
        _, slope, bend = self.place(s)
        turn = np.broadcast_to(self.turn, slope.shape)
        twist = sd[..., None] * np.concatenate([slope, turn], axis=-1)
        bend = np.concatenate([bend, 0 * turn], axis=-1) * sd[..., None] ** 2
        return self.at(s), twist, sdd[..., None] * np.concatenate([slope, turn], axis=-1) + bend


def line(
    T0: ArrayLike,
    T1: ArrayLike,
    v_max: float = 0.5,
    omega_max: float = 1.0,
    a_max: float = 0.5,
    alpha_max: float = 1.0,
    rise: float = 0.1,
) -> ToolMotion:
    """The tool straight from pose T0 to T1 (4, 4), turning the short way about one axis.

    v_max, a_max          limits of the tool point [m/s], [m/s^2]
    omega_max, alpha_max  limits of its turning [rad/s], [rad/s^2]
    rise                  time in which the full acceleration builds up [s]: it limits the jerk
    At a half turn both ways are equally short, and either may be taken.

    >>> motion = line(pose([0.3, -0.2, 0.2]), pose([0.3, 0.2, 0.2]), v_max=0.25)
    >>> T, twist, _ = motion(motion.duration / 2)
    >>> T[:3, 3].round(3) + 0.0, twist[:3].round(3)
    (array([0.3, 0. , 0.2]), array([0.  , 0.25, 0.  ]))
    """
    T0, T1 = _poses(T0, T1)
    start, way = T0[:3, 3], T1[:3, 3] - T0[:3, 3]
    place = lambda s: (
        start + s[..., None] * way,
        np.broadcast_to(way, (*s.shape, 3)),
        np.zeros((*s.shape, 3)),
    )
    limits = v_max, omega_max, a_max, alpha_max
    return _timed(place, T0, T1, np.linalg.norm(way), limits, rise)


def arc(
    T0: ArrayLike,
    via: ArrayLike,
    T1: ArrayLike,
    v_max: float = 0.5,
    omega_max: float = 1.0,
    a_max: float = 0.5,
    alpha_max: float = 1.0,
    rise: float = 0.1,
) -> ToolMotion:
    """The tool along the circle from pose T0 through the point via (3,) [m] to T1 (4, 4).

    Limits and turning as in `line`; the acceleration towards the centre counts. `ValueError` names
    the points that give no circle: two that coincide, or three on a line.
    """
    T0, T1 = _poses(T0, T1)
    start, end, via = T0[:3, 3], T1[:3, 3], finite("via", via, 3)
    centre, normal = _circle(start, via, end)
    x = start - centre
    y = np.cross(normal, x)
    angle = np.arctan2((end - centre) @ y, (end - centre) @ x) % (2 * np.pi)

    def place(s):
        c, n = np.cos(angle * s)[..., None], np.sin(angle * s)[..., None]
        outward = c * x + n * y
        return centre + outward, angle * (c * y - n * x), -(angle**2) * outward

    radius = np.linalg.norm(x)
    a_max = a_max / sqrt(2)  # as much for the way along the circle, as much towards its centre
    limits = min(v_max, sqrt(a_max * radius)), omega_max, a_max, alpha_max
    return _timed(place, T0, T1, radius * angle, limits, rise)


def _circle(p0, p1, p2):
    """Centre (3,) and unit normal (3,) of the circle through three points, passed in this order."""
    names = ("start", "via", "end")
    points = (p0, p1, p2)
    for i, j in ((0, 1), (1, 2), (0, 2)):
        if np.linalg.norm(points[i] - points[j]) < EXACT:
            raise ValueError(f"{names[i]} and {names[j]} coincide, expected three different points")
    a, b = p1 - p0, p2 - p0
    normal = np.cross(a, b)
    size = np.linalg.norm(normal)
    if size < ON_A_LINE * np.linalg.norm(a) * np.linalg.norm(b):
        raise ValueError("start, via and end lie on a line, expected a circle: use line")
    centre = p0 + np.cross((a @ a) * b - (b @ b) * a, normal) / (2 * size**2)
    return centre, normal / size


def _timed(place, T0, T1, length, limits, rise):
    """The motion whose s(t) runs from 0 to 1 by an S-curve within the limits of the tool."""
    for name, value in zip(("v_max", "omega_max", "a_max", "alpha_max"), limits):
        if not 0 < value < inf:
            raise ValueError(f"{name}: {value!r}, expected a positive number")
    if not 0 < rise < inf:
        raise ValueError(f"rise: {rise!r}, expected a positive time")
    turn = error(T0, T1)[3:]
    size = np.array([length, np.linalg.norm(turn)])
    if not size.max() > EXACT:
        still = Trajectory(np.zeros(2), np.zeros((1, 1)))
        return ToolMotion(place, T0[:3, :3], turn, still, inf, inf)
    with np.errstate(divide="ignore"):
        v, a = (np.array(limits).reshape(2, 2) / size).min(axis=1).tolist()
    return ToolMotion(place, T0[:3, :3], turn, scurve(0, 1, v, a, a / rise), v, a)


def _poses(T0, T1):
    T0, T1 = as_poses("T0", T0), as_poses("T1", T1)
    for name, T in (("T0", T0), ("T1", T1)):
        if T.shape != (4, 4):
            raise ValueError(f"{name}: shape {T.shape}, expected one pose (4, 4)")
    return T0, T1


class JointMotion(NamedTuple):
    """What the joints do, and where and why they can't follow. Ask `result.success`.

    trajectory   q(t), as far as the arm can follow; None if it can't take the first step
    success      the whole way, within the tolerance and every limit
    reason       "followed", or why not, at the first place where it fails:
                 "out of reach"  no posture holds the tool there
                 "joint limit"   every posture that does lies outside a joint's limits
                 "branch flip"   only another branch goes on: one joint would have to jump
                 "singular"      joints would have to turn too fast: sigma, the smallest singular
                                 value of the Jacobian, is near 0
                 "speed", "acceleration"   a joint's limit is passed elsewhere
    detail       the same with numbers, and what else is wrong further on
    t_failed     when it fails first [s]; nan on success
    T_failed     (4, 4) where the tool should be then; None on success
    position_error, rotation_error   largest distance from the ideal, between samples too [m], [rad]
    """

    trajectory: Trajectory | None
    success: bool
    reason: str
    detail: str
    t_failed: float
    T_failed: np.ndarray | None
    position_error: float
    rotation_error: float


class _Stuck(Exception):
    """The arm stands at q and can't follow to the pose T: `found` is what the solver says."""

    def __init__(self, T: np.ndarray, q: np.ndarray, found: ik.IKResult):
        super().__init__(found.reason)
        self.T, self.q, self.found, self.T_next = T, q, found, T


def to_joints(
    arm: Arm,
    motion: ToolMotion,
    q0: ArrayLike,
    points: int = 200,
    tolerance: tuple[float, float] = TOLERANCE,
    margin: float = 0.0,
) -> JointMotion:
    """The joint motion that moves the tool like `motion`, from the posture next to q0 (n,) on.

    Inverse kinematics at `points` times, each started from the postures before, so that the arm
    stays on its branch; a cubic spline between. The points are doubled until the tool strays by no
    more than the tolerance [m], [rad] in between. A margin of 0.2 keeps 20 % of each joint's speed
    and acceleration in reserve.

    >>> from course_lib.arm import load_arm
    >>> arm, q0 = load_arm("cobot6"), [0.3, 0.5, -0.4, 0.7, -0.6, 0.2]
    >>> T0 = fk(arm, q0)
    >>> T1 = T0 + pose([0, 0.1, 0.1]) - pose()
    >>> to_joints(arm, line(T0, T1), q0).reason
    'followed'
    """

    def attempt(count):
        t = motion.timing.t0 + np.unique(np.linspace(0.0, motion.duration, count))
        t, q, stuck = _follow(arm, lambda x: motion.at(motion.timing(x)[0]), t, q0)
        return motion, _through(t, q, stuck), stuck

    return _refined(arm, attempt, points, tolerance, margin)


def slowed(
    arm: Arm,
    motion: ToolMotion,
    q0: ArrayLike,
    points: int = 200,
    tolerance: tuple[float, float] = TOLERANCE,
    margin: float = 0.0,
) -> JointMotion:
    """The same way of the tool, as fast as its limits and the joints' allow, by `time_optimal`.

    As `to_joints`, but `motion` gives the way and its limits only, not the timing: the tool slows
    down where a joint can't keep up, and nowhere else.
    """

    def attempt(count):
        s = np.linspace(0.0, 1.0, count)
        s, q, stuck = _follow(arm, motion.at, s, q0)
        if len(q) < 2 or not motion.duration:
            return motion, _through(s[:1], q[:1], stuck), stuck
        timing, joints = _fastest(arm, motion, s, q, margin)
        return replace(motion, timing=timing), joints, stuck

    return _refined(arm, attempt, points, tolerance, margin)


def _through(t, q, stuck):
    """The cubic spline through q (k, n) at t (k,), at rest at the start, and at an end in time."""
    from scipy.interpolate import CubicSpline

    if len(q) < 2:
        return Trajectory(np.zeros(2), q[None], float(t[0])) if len(q) else None
    rest = (1, np.zeros(q.shape[1]))
    curve = CubicSpline(t - t[0], q, bc_type=(rest, "not-a-knot" if stuck else rest))
    return Trajectory(curve.x, curve.c, float(t[0]))


def _fastest(arm, motion, s, q, margin):
    """s(t) and q(t) along q(s): s is one joint more, with the limits of the tool."""
    from scipy.interpolate import CubicSpline

    way = np.abs(np.diff(q, axis=0)).max(axis=1) + np.diff(s)  # finer where the joints do most
    curve = CubicSpline(np.append(0.0, np.cumsum(way)), np.column_stack([q, s]))
    v = np.append((1 - margin) * arm.qd_max, motion.v_max)
    a = np.append((1 - margin) * arm.qdd_max, motion.a_max)
    best = time_optimal(Trajectory(curve.x, curve.c), v, a)
    parts = best.coefs[..., -1], best.coefs[..., :-1]
    return (Trajectory(best.breaks, part, motion.timing.t0) for part in parts)


def _refined(arm, attempt, points, tolerance, margin):
    """The first attempt whose samples are dense enough, or the densest."""
    if points < 2:
        raise ValueError(f"points: {points!r}, expected two at least")
    while True:
        result = _judged(arm, *attempt(points), tolerance, margin)
        if result.reason != "strays":
            return result
        if points > MOST_POINTS:
            return result._replace(reason="singular")
        points = 2 * points - 1


def _follow(arm, pose_at, x, q0):
    """Places (k,) and the postures (k, n) there, as far as possible; and a `_Stuck`, or None.

    The places are those of x (m,), and more between where a joint moves far. Where all goes well, a
    few are enough to know the branch, and the others are solved at once, from a spline's guess. (An
    arm with more than six joints would drift: its posture depends on the way.)
    """
    from scipy.interpolate import CubicSpline

    if arm.n <= 6:
        places, q, stuck = _walk(arm, pose_at, np.append(x[:-1:20], x[-1]), q0)
        if stuck is None and len(places) > 3:
            guess = CubicSpline(places, q)(x)
            found = ik.solve_batch(arm, pose_at(x), guess, restarts=0, tolerance=EXACT)
            jump = max(np.abs(found.q - guess).max(), np.abs(np.diff(found.q, axis=0)).max())
            if found.success.all() and jump < STRIDE / 2:
                return x, found.q, None
    return _walk(arm, pose_at, x, q0)


def _walk(arm, pose_at, x, q0):
    """The same, one place after the other."""
    T = pose_at(x)
    first = ik.solve(arm, T[0], q0, tolerance=EXACT)
    if not first.success:
        return x[:0], np.empty((0, arm.n)), _Stuck(T[0], first.q, first)
    reached, stuck = [(x[0], first.q)], None
    try:
        for x1, T1 in zip(x[1:], T[1:]):
            q = [q for _, q in reached[-3:]]
            guess = 3 * (q[2] - q[1]) + q[0] if len(reached) > 2 else q[-1]
            _step(arm, pose_at, reached, x1, T1, guess)
    except _Stuck as at:
        at.T_next, stuck = T1, at
    places, q = zip(*reached)
    return np.array(places), np.array(q), stuck


def _step(arm, pose_at, reached, x1, T1, guess, depth=0):
    """Append the posture at x1, reached without a jump: in halves where that is too far."""
    x0, q0 = reached[-1]
    found = ik.solve(arm, T1, guess, restarts=0, tolerance=EXACT)
    if found.success and np.abs(found.q - q0).max() < STRIDE:
        reached.append((x1, found.q))
    elif depth == HALVINGS:
        raise _Stuck(T1, q0, found)
    else:
        half = (x0 + x1) / 2
        _step(arm, pose_at, reached, half, pose_at(half), q0, depth + 1)
        _step(arm, pose_at, reached, x1, T1, reached[-1][1], depth + 1)


def _judged(arm, motion, joints, stuck, tolerance, margin):
    """The verdict on q(t): of everything that is wrong, what comes first."""
    faults, off = [], np.zeros((2, 1))
    t_end = motion.timing.t0 if joints is None else joints.t0 + joints.duration
    if joints is not None and joints.duration:
        t = joints.t0 + (joints.breaks[:-1] + joints.breaks[1:]) / 2
        q = joints(t)[0]
        off = np.linalg.norm(error(_ideal(motion, t), fk(arm, q)).reshape(-1, 2, 3), axis=-1).T
        faults = [
            *_strays(t, off, tolerance),
            *_leaves(arm, t, q),
            *_hurries(arm, joints, (1 - margin) * arm.qd_max, 1),
            *_hurries(arm, joints, (1 - margin) * arm.qdd_max, 2),
        ]
    if stuck is not None:
        faults.append((t_end, *_why(arm, stuck)))
    if not faults:
        detail = f"{t_end - motion.timing.t0:.3f} s, every limit kept"
        return JointMotion(joints, True, "followed", detail, nan, None, *off.max(axis=1).tolist())
    faults.sort(key=lambda fault: fault[0])
    t, reason, _ = faults[0]
    T = stuck.T if stuck is not None and t == t_end else _ideal(motion, t)
    where = lambda t: f"at {t:.3f} s, {100 * motion.timing(t)[0]:.1f} % of the way"
    detail = "; ".join(f"{where(t)} {reason}: {words}" for t, reason, words in faults)
    return JointMotion(joints, False, reason, detail, t, T, *off.max(axis=1).tolist())


def _ideal(motion, t):
    return motion.at(motion.timing(t)[0])


def _strays(t, off, tolerance):
    k = np.argmax((off > np.reshape(tolerance, (2, 1))).any(axis=0))
    if np.all(off[:, k] <= tolerance):
        return []
    detail = f"{1e3 * off[0, k]:.2f} mm and {np.degrees(off[1, k]):.2f}° off between dense samples"
    return [(t[k], "strays", detail)]


def _leaves(arm, t, q):
    outside = np.maximum(arm.q_min - q, q - arm.q_max)
    k = np.argmax(outside.max(axis=1) > EXACT)
    if outside[k].max() <= EXACT:
        return []
    return [(t[k], "joint limit", _beyond(arm, q[k]))]


def _beyond(arm, q):
    """The joint that is furthest outside of its limits, in words."""
    j = int(np.argmax(np.maximum(arm.q_min - q, q - arm.q_max)))
    return f"joint {j + 1} would go to {q[j]:.3f}, limits {arm.q_min[j]:.3f} and {arm.q_max[j]:.3f}"


def _hurries(arm, joints, limit, order):
    """The first piece in which a joint passes its limit of speed (order 1) or acceleration (2)."""
    use = joints.peaks(order) / limit
    k = np.argmax((use > 1 + EXACT).any(axis=1))
    if use[k].max() <= 1 + EXACT:
        return []
    j, t = int(use[k].argmax()), joints.t0 + joints.breaks[k]
    sigma = _smallest_singular_value(arm, joints(t)[0])
    name = ("speed", "acceleration")[order - 1]
    detail = f"joint {j + 1} needs {use[k, j]:.2f} of its {name}, smallest sigma {sigma:.3f}"
    return [(t, "singular" if sigma < SINGULAR else name, detail)]


def _why(arm, stuck):
    """Why no step leads on: is there a posture at all, one within the limits, or a singularity?"""
    other = ik.solve(arm, stuck.T_next, stuck.q)
    if not other.success and other.reason != "joint limit":
        x, y, z = stuck.T_next[:3, 3]
        return "out of reach", f"no posture holds the tool at {x:.3f}, {y:.3f}, {z:.3f} m"
    at_limit = stuck.found.reason == "joint limit"
    sigma = _smallest_singular_value(arm, stuck.q)
    if not at_limit and sigma < SINGULAR:
        return "singular", f"smallest sigma {sigma:.4f}"
    if not other.success:
        return "joint limit", _beyond(arm, stuck.found.q if at_limit else other.q)
    j = int(np.argmax(np.abs(other.q - stuck.q)))
    jump = f"joint {j + 1} would have to jump from {stuck.q[j]:.3f} to {other.q[j]:.3f}"
    return "branch flip", f"{_beyond(arm, stuck.found.q)}; else {jump}" if at_limit else jump


def _smallest_singular_value(arm, q):
    return float(np.linalg.svd(jacobian(arm, q), compute_uv=False)[-1])
