"""Where is the tool, where is every link, and how do joint speeds move them?

Public names: `fk`, `link_frames`, `jacobian`, `fk_and_jacobian`, `manipulability`.

The four vectors of a pose (its axes x, y, z and its origin p) are kept as arrays (3, N), one column
a configuration, and each DH row moves them by two screws. No 4x4 product is formed on the way:
with 10^5 configurations that is three times faster than stacked matrix products.
"""

from __future__ import annotations

import numpy as np

from course_lib.arm import Arm

JACOBIAN_FRAMES = ("world", "tool", "spatial")


EYE = np.eye(4)
CHUNK = 10_000  # configurations at a time: their columns stay in the processor's cache


def fk(arm: Arm, q) -> np.ndarray:
    """Pose of the tool in the world: base · A_1(q_1) … A_n(q_n) · tool.

    q: (..., n) joint angles [rad] or, for prismatic joints, displacements [m]. Returns (..., 4, 4).
    `ValueError` for a wrong last axis, or for q with NaN or infinite entries.

    >>> from course_lib.arm import load_arm
    >>> fk(load_arm("cobot6"), [0, 0, 0, 0, 0, 0])[:3, 3].round(6) + 0.0
    array([ 0.3 ,  0.  , -0.21])
    """
    q, shape = _columns(arm, q)
    T = np.empty((q.shape[1], 4, 4))
    for k in range(0, q.shape[1], CHUNK):
        part = q[:, k : k + CHUNK]
        pose = _start(arm.base, part.shape[1])
        for i in range(arm.n):
            pose = _row(arm, i, pose, part[i])
        T[k : k + CHUNK] = _assemble(_times(pose, arm.tool))
    return T.reshape(shape + (4, 4))


def link_frames(arm: Arm, q) -> np.ndarray:
    """Poses of the base frame and of every link frame in the world, without the tool.

    q: (..., n) as in `fk`. Returns (..., n+1, 4, 4): [..., 0] is the base, [..., i] is frame i.
    """
    q, shape = _columns(arm, q)
    pose = _start(arm.base, q.shape[1])
    frames = np.empty((q.shape[1], arm.n + 1, 4, 4))
    frames[:, 0] = arm.base
    for i in range(arm.n):
        pose = _row(arm, i, pose, q[i])
        frames[:, i + 1] = _assemble(pose)
    return frames.reshape(shape + (arm.n + 1, 4, 4))


def jacobian(arm: Arm, q, frame: str = "world") -> np.ndarray:
    """Joint speeds -> twist of the tool: rows 0-2 linear [m/s], rows 3-5 angular [rad/s].

    frame   "world"    velocity of the tool point, in world axes (Pinocchio: LOCAL_WORLD_ALIGNED)
            "tool"     the same twist in the tool's own axes (LOCAL)
            "spatial"  velocity of the point of the tool body that passes through the world's origin,
                       in world axes (WORLD): its linear rows are v - omega x p
    q: (..., n) as in `fk`. Returns (..., 6, n). `ValueError` for an unknown frame.

    >>> from course_lib.arm import load_arm
    >>> jacobian(load_arm("planar2"), [0, np.pi / 2])[[0, 1, 5]].round(3)
    array([[-0.45, -0.45],
           [ 0.55,  0.  ],
           [ 1.  ,  1.  ]])
    """
    return fk_and_jacobian(arm, q, frame)[1]


def fk_and_jacobian(arm: Arm, q, frame: str = "world") -> tuple[np.ndarray, np.ndarray]:
    """`fk(arm, q)` and `jacobian(arm, q, frame)` in one pass: (..., 4, 4) and (..., 6, n)."""
    if frame not in JACOBIAN_FRAMES:
        raise ValueError(f"frame: {frame!r}, expected one of {JACOBIAN_FRAMES}")
    q, shape = _columns(arm, q)
    z, p, tool = _axes_and_tool(arm, q)
    if frame != "spatial":
        p = p - tool[3][:, None]
    turns = arm.revolute[:, None]
    linear = np.where(turns, _cross(p, z), z)  # z x (p_e - p_i) = (p_i - p_e) x z
    angular = np.where(turns, z, 0.0)
    if frame == "tool":
        linear, angular = _turned_back(tool, linear), _turned_back(tool, angular)
    J = np.ascontiguousarray(np.moveaxis(np.concatenate([linear, angular]), -1, 0))
    return _assemble(tool).reshape(shape + (4, 4)), J.reshape(shape + (6, arm.n))


def manipulability(J) -> np.ndarray:
    """Yoshikawa's measure sqrt(det(J J^T)): the product of the singular values of J. 0 at a singularity.

    J: (..., m, n), m <= n, with the rows of the task. Mixed rows [m/s] and [rad/s] make it depend on the
    unit of length. Returns (...). `ValueError` for fewer columns than rows, or NaN or infinite entries.
    Source: Yoshikawa, Int. J. Robotics Research 4(2), 1985.

    >>> float(manipulability([[3.0, 0, 0], [0, 0, 2]]))
    6.0
    """
    J = np.asarray(J, dtype=float)
    if J.ndim < 2 or J.shape[-2] > J.shape[-1]:
        raise ValueError(
            f"J: shape {J.shape}, expected (..., m, n) with m <= n: keep only the rows of the task"
        )
    if not np.isfinite(J).all():
        raise ValueError("J: has NaN or infinite entries, expected finite numbers")
    return np.linalg.svd(J, compute_uv=False).prod(axis=-1)


def _axes_and_tool(arm, q):
    """Every joint's axis and a point on it, (3, n, N) each, and the tool's pose."""
    pose, z, p = _start(arm.base, q.shape[1]), [], []
    for i in range(arm.n):
        before, pose = pose, _row(arm, i, pose, q[i])
        on_axis = before if arm.convention == "standard" else pose
        z.append(on_axis[2])
        p.append(on_axis[3])
    return np.stack(z, axis=1), np.stack(p, axis=1), _times(pose, arm.tool)


def _cross(u, v):
    (ux, uy, uz), (vx, vy, vz) = u, v
    return np.stack([uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx])


def _turned_back(pose, v):
    """v (3, n, N) from world axes to the axes of pose: R^T v."""
    return np.stack([(axis[:, None] * v).sum(axis=0) for axis in pose[:3]])


def _columns(arm, q):
    """q as (n, N), and the batch shape (...)."""
    try:
        q = np.asarray(q, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(
            f"q: {q!r}, expected an array of numbers (..., {arm.n}) for {arm.name!r}"
        ) from None
    if q.ndim == 0 or q.shape[-1] != arm.n:
        raise ValueError(f"q: shape {q.shape}, expected (..., {arm.n}) for {arm.name!r}")
    if not np.isfinite(q).all():
        raise ValueError("q: has NaN or infinite entries, expected finite numbers")
    return np.ascontiguousarray(q.reshape(-1, arm.n).T), q.shape[:-1]


def _start(T, count):
    return tuple(np.repeat(T[:3, j, None], count, axis=1) for j in range(4))


def _row(arm, i, pose, q_i):
    """Apply row i: z screw then x screw (standard), or x screw then z screw (modified)."""
    turns = arm.joint_types[i] == "revolute"
    theta = arm.theta[i] + q_i if turns else arm.theta[i]
    d = arm.d[i] if turns else arm.d[i] + q_i
    if arm.convention == "standard":
        return _screw_x(_screw_z(pose, theta, d), arm.a[i], arm.alpha[i])
    return _screw_z(_screw_x(pose, arm.a[i], arm.alpha[i]), theta, d)


def _screw_z(pose, theta, d):
    """Turn by theta about z and move by d along it: x and y mix, z stays."""
    x, y, z, p = pose
    c, s = np.cos(theta), np.sin(theta)
    return c * x + s * y, c * y - s * x, z, p + d * z


def _screw_x(pose, a, alpha):
    """Turn by alpha about x and move by a along it: y and z mix, x stays."""
    x, y, z, p = pose
    if a:
        p = p + a * x
    if alpha:
        c, s = np.cos(alpha), np.sin(alpha)
        y, z = c * y + s * z, c * z - s * y
    return x, y, z, p


def _times(pose, T):
    """pose · T for a constant T."""
    if (T == EYE).all():
        return pose
    x, y, z, p = pose
    columns = [x * T[0, j] + y * T[1, j] + z * T[2, j] for j in range(4)]
    return *columns[:3], columns[3] + p


def _assemble(pose):
    T = np.zeros((pose[0].shape[1], 4, 4))
    for j, column in enumerate(pose):
        T[:, :3, j] = column.T
    T[:, 3, 3] = 1.0
    return T
