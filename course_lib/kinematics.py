"""Where is the tool, where is every link, and how do joint speeds move them?

Public names: `fk`, `link_frames`, `jacobian`, `fk_and_jacobian`, `manipulability`.

Frames are followed along the arm. The four vectors of a frame (its axes x, y, z and its origin p)
are kept apart, and each DH row moves them by two screws; no 4x4 product is formed on the way. This
is written twice, since what is quick for many is slow for one: in a stack of configurations the
vectors are arrays (3, N), one column each, three times faster than stacked matrix products for
10^5; in one posture they are plain floats, ten times faster than arrays of length 3.
"""

from __future__ import annotations

from functools import lru_cache
from math import cos, isfinite, sin
from typing import TYPE_CHECKING

import numpy as np

from course_lib.arm import Arm
from course_lib.dh import to_modified
from course_lib.poses import finite

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

JACOBIAN_FRAMES = ("world", "tool", "spatial")
EYE = np.eye(4)
CHUNK = 10_000  # configurations at a time: their columns stay in the processor's cache


def fk(arm: Arm, q: ArrayLike) -> np.ndarray:
    """Pose of the tool in the world: base · A_1(q_1) … A_n(q_n) · tool.

    q: (..., n) joint angles [rad] or, for prismatic joints, displacements [m]. Returns (..., 4, 4).
    `ValueError` for a wrong last axis, or for entries of q that are not finite numbers.

    >>> from course_lib.arm import load_arm
    >>> fk(load_arm("cobot6"), [0, 0, 0, 0, 0, 0])[:3, 3].round(6) + 0.0
    array([ 0.3 ,  0.  , -0.21])
    """
    q = _configurations(arm, q)
    if q.ndim == 1:
        return _matrix(_axes_and_tool(arm, q)[1])
    T = np.empty((*q.shape[:-1], 4, 4))
    for columns, T_part in _chunks(q, T):
        for last in frames_of_columns(arm, columns):
            pass
        _write(_times(last, arm.tool), T_part)
    return T


def link_frames(arm: Arm, q: ArrayLike) -> np.ndarray:
    """Poses of the base frame and of every link frame in the world, without the tool.

    q: (..., n) as in `fk`. Returns (..., n+1, 4, 4): [..., 0] is the base, [..., i] is frame i.
    """
    q = _configurations(arm, q)
    T = np.empty((*q.shape[:-1], arm.n + 1, 4, 4))
    for columns, T_part in _chunks(q, T):
        for i, frame in enumerate(frames_of_columns(arm, columns)):
            _write(frame, T_part[:, i])
    return T


def jacobian(arm: Arm, q: ArrayLike, frame: str = "world") -> np.ndarray:
    """Joint speeds -> twist of the tool: rows 0-2 linear [m/s], rows 3-5 angular [rad/s].

    frame   "world"    velocity of the tool point, in world axes (Pinocchio: LOCAL_WORLD_ALIGNED)
            "tool"     the same twist in the tool's own axes (LOCAL)
            "spatial"  velocity of the point of the tool body that passes through the world's
                       origin, in world axes (WORLD): its linear rows are v - omega x p
    q: (..., n) as in `fk`. Returns (..., 6, n). `ValueError` for an unknown frame.

    >>> from course_lib.arm import load_arm
    >>> jacobian(load_arm("planar2"), [0, np.pi / 2])[[0, 1, 5]].round(3)
    array([[-0.45, -0.45],
           [ 0.55,  0.  ],
           [ 1.  ,  1.  ]])
    """
    q = _configurations(arm, q, frame)
    if q.ndim == 1:
        return _jacobian_of_one(arm, *_axes_and_tool(arm, q), frame)
    J = np.empty((*q.shape[:-1], 6, arm.n))
    for columns, J_part in _chunks(q, J):
        _write_jacobian(arm, columns, frame, J_part)
    return J


def fk_and_jacobian(arm: Arm, q: ArrayLike, frame: str = "world") -> tuple[np.ndarray, np.ndarray]:
    """`fk(arm, q)` and `jacobian(arm, q, frame)` in one pass: (..., 4, 4) and (..., 6, n).

    >>> from course_lib.arm import load_arm
    >>> T, J = fk_and_jacobian(load_arm("cobot6"), np.zeros((10, 6)))
    >>> T.shape, J.shape
    ((10, 4, 4), (10, 6, 6))
    """
    q = _configurations(arm, q, frame)
    if q.ndim == 1:
        axes, tool = _axes_and_tool(arm, q)
        return _matrix(tool), _jacobian_of_one(arm, axes, tool, frame)
    T, J = np.empty((*q.shape[:-1], 4, 4)), np.empty((*q.shape[:-1], 6, arm.n))
    for columns, T_part, J_part in _chunks(q, T, J):
        _write(_write_jacobian(arm, columns, frame, J_part), T_part)
    return T, J


def manipulability(J: ArrayLike) -> np.ndarray:
    """Yoshikawa's measure sqrt(det(J J^T)): the product of the singular values. 0 at a singularity.

    J: (..., m, n), m <= n, with the rows of the task. Mixed rows [m/s] and [rad/s] make it depend
    on the unit of length. Returns (...). `ValueError` for fewer columns than rows, or entries that
    are not finite. Source: Yoshikawa, Int. J. Robotics Research 4(2), 1985.

    >>> float(manipulability([[3.0, 0, 0], [0, 0, 2]]))
    6.0
    """
    J = finite("J", J)
    if J.ndim < 2 or J.shape[-2] > J.shape[-1]:
        wanted = "(..., m, n) with m <= n: keep only the rows of the task"
        raise ValueError(f"J: shape {J.shape}, expected {wanted}")
    return np.linalg.svd(J, compute_uv=False).prod(axis=-1)


def _configurations(arm, q, frame="world"):
    """q as a float array (..., n), or `ValueError`. What is sound goes the short way."""
    if frame not in JACOBIAN_FRAMES:
        raise ValueError(f"frame: {frame!r}, expected one of {JACOBIAN_FRAMES}")
    try:
        n = arm.n
    except AttributeError:
        raise ValueError(f"arm: {arm!r}, expected an Arm, as load_arm gives it") from None
    if type(q) is np.ndarray and q.dtype == float and q.shape[-1:] == (n,):
        if all(map(isfinite, q.tolist())) if q.ndim == 1 else np.isfinite(q).all():
            return q
    q = finite("q", q)
    if q.ndim == 0 or q.shape[-1] != n:
        raise ValueError(f"q: shape {q.shape}, expected (..., {n}) for {arm.name!r}")
    return q


# ---------------------------------------------------------------- many: vectors are arrays (3, N)


def _chunks(q, *results):
    """CHUNK configurations at a time: q (..., n) as columns (n, N), and the rows of each result."""
    flat = [array.reshape(-1, *array.shape[q.ndim - 1 :]) for array in (q, *results)]
    for k in range(0, len(flat[0]), CHUNK):
        rows, *parts = (array[k : k + CHUNK] for array in flat)
        yield np.ascontiguousarray(rows.T), *parts


def frames_of_columns(arm, q):
    """Frames 0 … n, one after the other, each as (x, y, z, p), for columns q (n, N)."""
    frame = tuple(np.repeat(arm.base[:3, j, None], q.shape[1], axis=1) for j in range(4))
    yield frame
    for i in range(arm.n):
        frame = _row(arm, i, frame, q[i])
        yield frame


def _row(arm, i, frame, q_i):
    """Apply row i: z screw then x screw (standard), or x screw then z screw (modified)."""
    turns = arm.joint_types[i] == "revolute"
    theta = arm.theta[i] + q_i if turns else arm.theta[i]
    d = arm.d[i] if turns else arm.d[i] + q_i
    if arm.convention == "standard":
        return _screw_x(_screw_z(frame, theta, d), arm.a[i], arm.alpha[i])
    return _screw_z(_screw_x(frame, arm.a[i], arm.alpha[i]), theta, d)


def _screw_z(frame, theta, d):
    """Turn by theta about z and move by d along it: x and y mix, z stays."""
    x, y, z, p = frame
    c, s = np.cos(theta), np.sin(theta)
    return c * x + s * y, c * y - s * x, z, p + d * z


def _screw_x(frame, a, alpha):
    """Turn by alpha about x and move by a along it: y and z mix, x stays."""
    x, y, z, p = frame
    if a:
        p = p + a * x
    if alpha:
        c, s = np.cos(alpha), np.sin(alpha)
        y, z = c * y + s * z, c * z - s * y
    return x, y, z, p


def _times(frame, T):
    """frame · T for a constant T."""
    if (T == EYE).all():
        return frame
    x, y, z, p = frame
    columns = [x * T[0, j] + y * T[1, j] + z * T[2, j] for j in range(4)]
    return *columns[:3], columns[3] + p


def _write(frame, T):
    """Put the four vectors into T (N, 4, 4)."""
    for j, column in enumerate(frame):
        T[:, :3, j] = column.T
    T[:, 3] = EYE[3]


def _write_jacobian(arm, q, frame, J):
    """Put columns (z_i x (p_e - p_i), z_i), or (z_i, 0) for a slide, into J (N, 6, n).

    Returns the tool's frame, which was found on the way.
    """
    frames = list(frames_of_columns(arm, q))
    on_axis = frames[:-1] if arm.convention == "standard" else frames[1:]
    z, p = (np.stack([vectors[k] for vectors in on_axis], axis=1) for k in (2, 3))
    tool = _times(frames[-1], arm.tool)
    if frame != "spatial":
        p = p - tool[3][:, None]
    turns = arm.revolute[:, None]
    linear = np.where(turns, _cross(p, z), z)  # z x (p_e - p_i) = (p_i - p_e) x z
    angular = np.where(turns, z, 0.0)
    if frame == "tool":
        linear, angular = _turned_back(tool, linear), _turned_back(tool, angular)
    J[:, :3], J[:, 3:] = np.moveaxis(linear, -1, 0), np.moveaxis(angular, -1, 0)
    return tool


def _cross(u, v):
    (ux, uy, uz), (vx, vy, vz) = u, v
    return np.stack([uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx])


def _turned_back(frame, v):
    """v (3, n, N) from world axes to the axes of frame: R^T v."""
    return np.stack([(axis[:, None] * v).sum(axis=0) for axis in frame[:3]])


# ---------------------------------------------------------------- one: vectors are three floats


@lru_cache(maxsize=32)
def _constants(arm):
    """What a posture needs of the modified table, in plain numbers: rows, base, tool (or None)."""
    arm = to_modified(arm)  # one order of screws is enough
    table = (arm.a, np.cos(arm.alpha), np.sin(arm.alpha), arm.revolute, arm.theta, arm.d)
    rows = tuple(zip(*(column.tolist() for column in table)))
    base, tool = (tuple(map(tuple, T[:3].T.tolist())) for T in (arm.base, arm.tool))
    return rows, base, None if (arm.tool == EYE).all() else tool


def _axes_and_tool(arm, q):
    """Of one posture q (n,): each joint's axis as (z, p), and the tool's frame (x, y, z, p)."""
    rows, base, tool = _constants(arm)
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz), (px, py, pz) = base
    axes = []
    for (a, c, s, turns, theta, d), q_i in zip(rows, q.tolist()):
        if a:  # x screw: y and z mix, x stays
            px, py, pz = px + a * xx, py + a * xy, pz + a * xz
        if s:
            yx, zx = c * yx + s * zx, c * zx - s * yx
            yy, zy = c * yy + s * zy, c * zy - s * yy
            yz, zz = c * yz + s * zz, c * zz - s * yz
        axes.append((zx, zy, zz, px, py, pz))
        if turns:
            theta += q_i
        else:
            d += q_i
        if d:  # z screw: x and y mix, z stays
            px, py, pz = px + d * zx, py + d * zy, pz + d * zz
        c, s = cos(theta), sin(theta)
        xx, yx = c * xx + s * yx, c * yx - s * xx
        xy, yy = c * xy + s * yy, c * yy - s * xy
        xz, yz = c * xz + s * yz, c * yz - s * xz
    last = ((xx, xy, xz), (yx, yy, yz), (zx, zy, zz), (px, py, pz))
    return axes, last if tool is None else _times_of_one(last, tool)


def _times_of_one(frame, T):
    """frame · T for the columns of a constant T."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz), (px, py, pz) = frame
    x, y, z, (tx, ty, tz) = (
        (xx * u + yx * v + zx * w, xy * u + yy * v + zy * w, xz * u + yz * v + zz * w)
        for u, v, w in T
    )
    return x, y, z, (tx + px, ty + py, tz + pz)


def _matrix(frame):
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz), (px, py, pz) = frame
    rows = [xx, yx, zx, px, xy, yy, zy, py, xz, yz, zz, pz, 0.0, 0.0, 0.0, 1.0]
    return np.array(rows).reshape(4, 4)  # quicker than from four lists


def _jacobian_of_one(arm, axes, tool, frame):
    """(6, n): columns as in `_write_jacobian`."""
    ex, ey, ez = (0.0, 0.0, 0.0) if frame == "spatial" else tool[3]
    columns = []
    for (_, _, _, turns, _, _), (zx, zy, zz, px, py, pz) in zip(_constants(arm)[0], axes):
        if turns:
            rx, ry, rz = px - ex, py - ey, pz - ez
            columns += (ry * zz - rz * zy, rz * zx - rx * zz, rx * zy - ry * zx, zx, zy, zz)
        else:
            columns += (zx, zy, zz, 0.0, 0.0, 0.0)
    J = np.array(columns).reshape(-1, 6).T
    if frame == "tool":
        J = (np.array(tool[:3]) @ J.reshape(2, 3, -1)).reshape(6, -1)  # R^T of both halves
    return J
