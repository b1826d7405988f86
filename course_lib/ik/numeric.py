"""Which posture brings the tool to a pose?  Walk there step by step, and say why if it fails.

Public names: `solve`, `IKResult`, `out_of_reach`, `METHODS` and its functions `transpose`,
`pseudo_inverse`, `damped`, `nakamura`, `levenberg_marquardt`.

A method is a function of the Jacobian and the error that returns the next step, step(J, e) -> dq;
one loop, `_walk`, serves them all. Both are taken at the tool point in world axes, so they pair.
Joints walk freely, since a joint that is held at its limit on the way traps the others. At the end
each angle is taken in the turn that lies within its limits, and judged.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from math import atan2, hypot, inf, isfinite, pi, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from course_lib import kinematics
from course_lib.arm import Arm
from course_lib.dh import dh_matrix, to_standard
from course_lib.ik.closed import wrist_out_of_reach
from course_lib.poses import as_poses, error, finite, inverse, pose

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Step = Callable[[np.ndarray, np.ndarray], np.ndarray]

PATIENCE, PROGRESS = 20, 0.99  # stalled: so many steps left more than this part of the least error
STILL = 1e-10  # [rad or m] a step shorter than this is none
LOST = 1e-6  # a singular value below this part of the largest is lost
EDGE = 1e-8  # [rad or m] what rounding may put outside a limit
HALF_TURN = 1e-6  # 2 sin(angle) below this, near pi: the axis must come from elsewhere
LM_GAIN, SHORT = 0.01, 0.1
UNIT = (1, 1, 1, 1, 1, 1)


class IKResult(NamedTuple):
    """What a solver reached, and why it stopped. Ask `result.success`, not the result itself.

    q        (n,) the answer, or on failure the best posture found [rad or m]
    success  the pose is reached within the tolerance, and every joint lies within its limits
    reason   "converged", or why not:
             "unreachable"      proven: too far, in the arm's hole, no place for the wrist centre
             "joint limit"      q reaches the pose, but a joint lies outside its limits
             "singular"         no step: the Jacobian has lost the direction of the error
             "stalled"          the error no longer falls (by less than 1 % in 20 steps)
             "iteration limit"  the steps ran out while the error was falling
    residual_position, residual_rotation   what is left at q [m], [rad]
    iterations   steps taken, those of all starts together
    trace        the q before each step and after the last, of the walk that came by the answer

    From `solve_batch` each field has one row a target more, and trace is empty.
    """

    q: np.ndarray
    success: bool
    reason: str
    residual_position: float
    residual_rotation: float
    iterations: int
    trace: list[np.ndarray]


# ---------------------------------------------------------------- methods: (J, e) -> dq


def transpose(J: np.ndarray, e: np.ndarray) -> np.ndarray:
    """J^T e, downhill, as far as is best if the arm were linear: steady, and slow.

    Source: Wolovich and Elliott, IEEE CDC 1984.
    """
    downhill = J.T @ e
    moved = J @ downhill
    return downhill * (e @ moved / max(moved @ moved, 1e-300))


def pseudo_inverse(J: np.ndarray, e: np.ndarray) -> np.ndarray:
    """Newton: the shortest dq with J dq = e. Grows without bound towards a singularity.

    Source: Whitney, IEEE Trans. Man-Machine Systems 10(2), 1969.
    """
    return np.linalg.pinv(J, rcond=1e-12) @ e


def damped(J: np.ndarray, e: np.ndarray, damping: float = 0.05) -> np.ndarray:
    """The dq that makes |J dq - e|^2 + damping^2 |dq|^2 least: at most |e| / (2 damping) long.

    Source: Wampler, IEEE Trans. Systems, Man, and Cybernetics 16(1), 1986.
    """
    return _least_squares(J, e, damping**2)


def nakamura(
    J: np.ndarray, e: np.ndarray, threshold: float = 0.01, damping: float = 0.1
) -> np.ndarray:
    """`damped` where the manipulability w lies below the threshold: by damping (1 - w / threshold).

    w depends on the arm's size and on the unit of length, and so must the threshold.
    Source: Nakamura and Hanafusa, J. Dynamic Systems, Measurement, and Control 108(3), 1986.
    """
    w = kinematics.manipulability(J if J.shape[0] <= J.shape[1] else J.T)
    return _least_squares(J, e, (damping * max(0.0, 1 - w / threshold)) ** 2)


def levenberg_marquardt(J: np.ndarray, e: np.ndarray, gain: float = LM_GAIN) -> np.ndarray:
    """`damped` by damping^2 = gain |e|^2 / 2: careful far away, Newton's step at the end.

    A square J whose Newton step turns no joint by 0.1 rad gets this step undamped: it is quicker.

    Source: Sugihara, IEEE Trans. Robotics 27(5), 2011.
    """
    if J.shape[0] == J.shape[1]:
        _, _, dq, failed = _lapack().dgesv(J, e)
        if not failed and max(map(abs, dq.tolist())) < SHORT:
            return dq
    return _least_squares(J, e, gain * 0.5 * float(e.dot(e)))


METHODS: dict[str, Step] = {
    "transpose": transpose,
    "pinv": pseudo_inverse,
    "dls": damped,
    "nakamura": nakamura,
    "lm": levenberg_marquardt,
}


def _least_squares(J, e, square):
    """(J^T J + square)^-1 J^T e, in the smaller of its two forms."""
    wide = J.shape[0] <= J.shape[1]
    A = J.dot(J.T) if wide else J.T.dot(J)
    A.flat[:: len(A) + 1] += square + 1e-12  # so that a singular J without damping has a step too
    _, x, failed = _lapack().dposv(A, e if wide else e.dot(J))
    if failed:
        return pseudo_inverse(J, e)
    return x.dot(J) if wide else x


@cache
def _lapack():
    """LAPACK's own solvers: for one 6x6 system a quarter of the time of np.linalg.solve."""
    from scipy.linalg import lapack

    return lapack


# ---------------------------------------------------------------- one target


def solve(
    arm: Arm,
    T: ArrayLike,
    q0: ArrayLike,
    method: str | Step = "lm",
    *,
    weights: ArrayLike = UNIT,
    tolerance: float = 1e-6,
    max_iterations: int = 100,
    max_step: float = 1.0,
    restarts: int = 50,
    rng: np.random.Generator | None = None,
) -> IKResult:
    """Walk from q0 (n,) until the tool stands at T (4, 4); if that fails, from other starts too.

    method          a name in `METHODS`, or any function step(J, e) -> dq
    weights         (6,) of the error's rows, position before rotation, in world axes; a row of
                    weight 0 is left out, in the residuals too
    tolerance       success is below this, in position [m] and in rotation [rad]
    max_iterations  of each start; max_step: of the joint that moves most [rad or m]
    restarts        starts within the limits whose tool pose lies near T, drawn from rng (without
                    one, the same every time). 0: stay near q0, as a control loop must
    Of the turns of a joint within its limits the one nearest to q0 is taken. `ValueError` for
    another shape, what is no pose, an unknown method, weights that are negative or all zero, and
    bounds that leave nothing to do (a tolerance of 0, a negative number of steps or restarts).

    >>> from course_lib.arm import load_arm
    >>> arm = load_arm("cobot6")
    >>> goal = kinematics.fk(arm, [0.3, 0.5, -0.4, 0.7, -0.6, 0.2])
    >>> result = solve(arm, goal, q0=[0.2, 0.4, -0.3, 0.6, -0.5, 0.1])
    >>> result.reason, result.q.round(6)
    ('converged', array([ 0.3,  0.5, -0.4,  0.7, -0.6,  0.2]))
    """
    step = method if callable(method) else METHODS.get(method)
    if step is None:
        raise ValueError(f"method: {method!r}, expected one of {list(METHODS)} or a function")
    _sound(tolerance=tolerance, max_step=max_step)
    _sound(0, max_iterations=max_iterations, restarts=restarts)
    q0, goal, rows = _start(arm, q0), _goal(T), _rows(weights)
    bounds = tolerance, max_iterations, max_step
    found = _walk(arm, goal, q0, q0, step, rows, *bounds)
    if found.success:
        return found
    if found.reason != "joint limit" and out_of_reach(arm, T, weights, tolerance):
        return found._replace(reason="unreachable")
    count, T = found.iterations, as_poses("T", T)[None]
    for start in _starts_near(arm, T, restarts, rng or np.random.default_rng(0), rows)[0]:
        other = _walk(arm, goal, start, q0, step, rows, *bounds)
        count += other.iterations
        found = min(found, other, key=_how_bad)
        if found.success:
            break
    return found._replace(iterations=count)


def _walk(arm, goal, q, q0, step, rows, tolerance, max_iterations, max_step):
    """The loop: from q until the error is below the tolerance, or no further step is worth it."""
    trace, best, before = [q], (inf,), inf
    while True:
        axes, tool = kinematics._axes_and_tool(arm, q)
        e, position, rotation = _error_of_one(tool, goal, rows)
        best = min(best, (hypot(*e), position, rotation, len(trace) - 1))
        if position < tolerance and rotation < tolerance:
            reason = "converged"
            break
        if len(trace) > max_iterations:
            reason = "iteration limit"
            break
        if len(trace) % PATIENCE == 0:
            if best[0] > PROGRESS * before:
                reason = "stalled"
                break
            before = best[0]
        J = kinematics._jacobian_of_one(arm, axes, tool, "world")
        if rows is not None:
            J = rows[rows > 0, None] * J[rows > 0]
        dq = step(J, np.array(e))
        largest = max(map(abs, dq.tolist()))
        if not STILL < largest < inf:
            sigma = np.linalg.svd(J, compute_uv=False)
            reason = "singular" if sigma[-1] < LOST * sigma[0] else "stalled"
            break
        q = q + dq if largest < max_step else q + dq * (max_step / largest)
        trace.append(q)
    if reason != "converged":
        _, position, rotation, at = best
        q = trace[at]
    q, inside = (q, True) if _at_home(arm, q, q0) else _turned_home(arm, q, q0)
    if reason == "converged" and not inside:
        reason = "joint limit"
    return IKResult(q, reason == "converged", reason, position, rotation, len(trace) - 1, trace)


def _how_bad(result):
    return not result.success, result.reason != "joint limit", hypot(*result[3:5])


# ---------------------------------------------------------------- what can't be reached


def out_of_reach(
    arm: Arm, T: ArrayLike, weights: ArrayLike = UNIT, tolerance: float = 1e-6
) -> bool:
    """Is it proven that no angles, and no slides within their limits, bring the tool to T (4, 4)?

    Links are rigid, so the way from axis 1 to axis n (the tool point, where not the whole rotation
    is asked for) is at most their lengths together, and at least the longest less all others. Where
    `closed_form` takes the arm, its wrist centre must have a place, too. A pose that is reached
    within the tolerance [m], [rad] is not out of reach.
    """
    T, rows = as_poses("T", T), _rows(weights)
    if _too_far(arm, T, rows, tolerance):
        return True
    try:
        return rows is None and wrist_out_of_reach(arm, T, tolerance)
    except ValueError:
        return False


def _too_far(arm, T, rows, tolerance):
    """The part of `out_of_reach` that holds for any arm: for T (..., 4, 4)."""
    start, last, low, high = _segments(arm)
    lever = np.linalg.norm(last[:3, 3])
    if rows is None or (rows[3:] > 0).all():
        point = (T @ inverse(last))[..., :3, 3]
    else:
        point, low, high = T[..., :3, 3], np.r_[low, lever], np.r_[high, lever]
    known = np.ones(3, bool) if rows is None else rows[:3] > 0
    distance = np.linalg.norm((point - start)[..., known], axis=-1)
    slack = tolerance * (1 + lever)
    hole = (low + high).max() - high.sum() if known.all() else 0.0
    return (distance > high.sum() + slack) | (distance < hole - slack)


@lru_cache(maxsize=32)
def _segments(arm):
    """Start on axis 1, pose from the end on axis n to the tool, least and largest length between.

    Segment i is rigid: along x_(i-1) and then along axis i of the standard table.
    """
    table = to_standard(arm)
    slides = ~table.revolute
    ends = np.abs([table.d + slides * table.q_min, table.d + slides * table.q_max])
    crosses = slides & (table.d + table.q_min < 0) & (table.d + table.q_max > 0)
    along = np.r_[0.0, table.a[:-1]]
    low, high = np.hypot(along, np.where(crosses, 0.0, ends.min(0))), np.hypot(along, ends.max(0))
    start = table.base[:3, 3]
    if table.revolute[0]:
        start, low[0], high[0] = start + table.d[0] * table.base[:3, 2], 0.0, 0.0
    return start, dh_matrix(table.a[-1], table.alpha[-1], 0.0, 0.0) @ table.tool, low, high


def _starts_near(arm, T, count, rng, rows):
    """Of random postures those that hold the tool nearest to T (N, 4, 4): (N, count, n)."""
    from scipy.spatial import cKDTree

    if not count:
        return np.empty((len(T), 0, arm.n))
    low, high = (
        np.where(np.isfinite(q), q, side) for q, side in ((arm.q_min, -pi), (arm.q_max, pi))
    )
    q = rng.uniform(low, high, (min(20_000, max(1000, 4 * len(T))), arm.n))
    reach = min(1e3, _segments(arm)[3].sum()) + 1e-9

    def features(T):
        columns = np.swapaxes(T[:, :3], -1, -2) * [[0.2], [0.2], [0.2], [1 / reach]]
        if rows is not None:
            columns = columns[:, 3:] * (rows[:3] > 0)
        return columns.reshape(len(T), -1)

    _, at = cKDTree(features(kinematics.fk(arm, q))).query(features(T), k=[*range(1, count + 1)])
    return q[at]


# ---------------------------------------------------------------- errors, weights, turns


def _turn(R, R_goal):
    """2 sin(angle) axis (three of them) and 2 cos(angle), from the columns x, y, z of both."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = R
    (ax, ay, az), (bx, by, bz), (cx, cy, cz) = R_goal
    return (
        xy * az - xz * ay + yy * bz - yz * by + zy * cz - zz * cy,
        xz * ax - xx * az + yz * bx - yx * bz + zz * cx - zx * cz,
        xx * ay - xy * ax + yx * by - yy * bx + zx * cy - zy * cx,
        xx * ax + xy * ay + xz * az + yx * bx + yy * by + yz * bz + zx * cx + zy * cy + zz * cz - 1,
    )


def _error_of_one(tool, goal, rows):
    """`poses.error` of two frames (x, y, z, p) of plain floats, weighted; and its two sizes."""
    u, v, w, cosine = _turn(tool[:3], goal[:3])
    sine = sqrt(u * u + v * v + w * w)
    angle = atan2(sine, cosine)
    if sine < HALF_TURN and cosine < 0:
        as_pose = lambda frame: pose(frame[3], np.array(frame[:3]).T)
        u, v, w = error(as_pose(tool), as_pose(goal))[3:].tolist()
    elif sine > 0:
        scale = angle / sine
        u, v, w = scale * u, scale * v, scale * w
    (px, py, pz), (gx, gy, gz) = tool[3], goal[3]
    e = (gx - px, gy - py, gz - pz, u, v, w)
    if rows is None:
        return e, hypot(*e[:3]), angle
    on = [x if row else 0.0 for x, row in zip(e, rows)]
    return [x * row for x, row in zip(e, rows) if row], hypot(*on[:3]), hypot(*on[3:])


def _errors(T, goal, rows):
    """`poses.error` of stacks (M, 4, 4), unchecked, (M, 6); rows of weight 0 are 0."""
    columns = [np.moveaxis(part[:, :3], 0, -1).swapaxes(0, 1) for part in (T, goal)]
    *axis, cosine = _turn(columns[0][:3], columns[1][:3])
    axis = np.array(axis)
    sine = np.sqrt((axis * axis).sum(axis=0))
    angular = axis * (np.arctan2(sine, cosine) / np.maximum(sine, 1e-300))
    e = np.concatenate([columns[1][3] - columns[0][3], angular]).T
    half = (sine < HALF_TURN) & (cosine < 0)
    if half.any():
        e[half] = error(T[half], goal[half])
    return e if rows is None else e * (rows > 0)


def _goal(T):
    """The columns x, y, z, p of the pose T in plain floats. A sound one is quick."""
    if type(T) is np.ndarray and T.shape == (4, 4) and T.dtype == float:
        (a, b, c), (d, e, f), (g, h, i), p = goal = T[:3].T.tolist()
        off = (a * a + b * b + c * c - 1, d * d + e * e + f * f - 1, a * d + b * e + c * f)
        off += (
            b * f - c * e - g,
            c * d - a * f - h,
            a * e - b * d - i,
        )  # x, y of length 1, z = x × y
        if sum(map(abs, off)) < 1e-9 and isfinite(sum(p)) and T[3].tolist() == [0.0, 0.0, 0.0, 1.0]:
            return goal
    T = as_poses("T", T)
    if T.shape != (4, 4):
        raise ValueError(f"T: shape {T.shape}, expected one pose (4, 4)")
    return T[:3].T.tolist()


def _start(arm, q0):
    """A copy of q0, checked. A sound one is quick."""
    if type(q0) is np.ndarray and q0.shape == (arm.n,) and q0.dtype == float:
        if isfinite(sum(q0.tolist())):
            return q0.copy()
    return np.array(finite("q0", q0, arm.n))


def _sound(least=None, **bounds):
    """`ValueError` for a bound that is no number, not positive, or below the least."""
    for name, value in bounds.items():
        if not (value > 0 if least is None else value >= least):
            expected = "a positive number" if least is None else f"{least} or more"
            raise ValueError(f"{name}: {value}, expected {expected}")


def _rows(weights):
    """The weights (6,), or None if all are 1."""
    if weights is UNIT:
        return None
    rows = finite("weights", weights, 6)
    if rows.min() < 0 or rows.max() == 0:
        raise ValueError(f"weights: {rows.tolist()}, expected none negative and not all zero")
    return None if (rows == 1).all() else rows


def _turned_home(arm, q, q0):
    """q (..., n) in the turns nearest to q0, else in the limits; and (...) whether within these."""
    turn = 2 * pi * arm.revolute
    near = q - turn * np.round((q - q0) / (2 * pi))
    inner = q - turn * np.round((q - _middle(arm)) / (2 * pi))
    home = np.where((arm.q_min <= near) & (near <= arm.q_max), near, inner)
    edge = np.clip(home, arm.q_min, arm.q_max)
    home = np.where(np.abs(edge - home) < EDGE, edge, home)
    return home, (home == edge).all(axis=-1)


def _at_home(arm, q, q0):
    """Does one q lie within the limits, and less than half a turn from q0? A quick look."""
    for x, x0, (low, high) in zip(q.tolist(), q0.tolist(), _limits(arm)):
        if not (low <= x <= high and x0 - pi < x < x0 + pi):
            return False
    return True


@lru_cache(maxsize=32)
def _limits(arm):
    return tuple(zip(arm.q_min.tolist(), arm.q_max.tolist()))


def _middle(arm):
    """(n,) between the limits; 0 for a joint without."""
    middle = (arm.q_min + arm.q_max) / 2
    return np.where(np.isfinite(middle), middle, 0.0)
