"""Where is one frame seen from another, and how far is it from where it should be?

Public names: `pose`, `inverse`, `adjoint`, `exp`, `log`, `error`.

A pose `T_ab` is a 4x4 array, frame b seen in frame a. A twist is six numbers, linear before
angular: (v, omega), in [m/s, rad/s] or, as a displacement, in [m, rad]. (Lynch and Park, and
SciPy's `RigidTransform`, write the angular part first.) Every function takes stacks: (..., 4, 4),
(..., 6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.spatial.transform import Rotation

# SciPy's transforms are imported where they are used: that takes half a second.

ROTATION_TOLERANCE = 1e-6  # largest entry of R R^T - 1 that passes: single precision does


def pose(xyz: ArrayLike = (0, 0, 0), rotation: Rotation | ArrayLike | None = None) -> np.ndarray:
    """Pose (..., 4, 4) of origin xyz (..., 3) [m] and rotation: SciPy's, or matrices (..., 3, 3).

    Stacks broadcast: one rotation and many origins give many poses. No rotation is the identity.
    `ValueError` for another shape, entries that are not finite, or a matrix that is no rotation.

    >>> pose([0.1, 0.2, 0.3])[:3, 3]
    array([0.1, 0.2, 0.3])
    """
    p = finite("xyz", xyz, 3)
    if rotation is None:
        R = np.eye(3)
    elif hasattr(rotation, "as_matrix"):
        R = rotation.as_matrix()
    else:
        R = finite("rotation", rotation, 3, 3)
        _require_rotation("rotation", R)
    try:
        shape = np.broadcast_shapes(p.shape[:-1], R.shape[:-2])
    except ValueError:
        raise ValueError(
            f"xyz: shape {p.shape} with rotation: shape {R.shape},"
            " expected stacks of one size, or a single one of either"
        ) from None
    T = np.zeros((*shape, 4, 4))
    T[..., :3, :3], T[..., :3, 3], T[..., 3, 3] = R, p, 1.0
    return T


def inverse(T: ArrayLike) -> np.ndarray:
    """T_ba from T_ab (..., 4, 4): rotation R^T, origin -R^T p. `ValueError` for what is no pose.

    >>> inverse(pose([0.1, 0.2, 0.3]))[:3, 3]
    array([-0.1, -0.2, -0.3])
    """
    T = as_poses("T", T)
    back = np.swapaxes(T[..., :3, :3], -1, -2)
    return pose(-(back @ T[..., :3, 3, None])[..., 0], back)


def adjoint(T: ArrayLike) -> np.ndarray:
    """Ad(T_ab) (..., 6, 6) = [[R, [p]x R], [0, R]]: a twist seen in b -> the same twist seen in a.

    T: (..., 4, 4). `ValueError` for what is no pose.
    Source: Lynch and Park, Modern Robotics, 2017, definition 3.20 (angular part first).

    >>> adjoint(pose([1, 0, 0])) @ [0, 0, 0, 0, 0, 1]  # a turn about z, 1 m away
    array([ 0., -1.,  0.,  0.,  0.,  1.])
    """
    T = as_poses("T", T)
    R, p = T[..., :3, :3], T[..., :3, 3]
    ad = np.zeros((*T.shape[:-2], 6, 6))
    ad[..., :3, :3] = ad[..., 3:, 3:] = R
    ad[..., :3, 3:] = np.cross(p[..., None, :], R, axisb=-2, axisc=-2)  # [p]x R, column by column
    return ad


def exp(twist: ArrayLike) -> np.ndarray:
    """Pose (..., 4, 4) that a body reaches from the identity by a constant twist in unit time.

    twist: (..., 6), linear part first [m, rad]. `ValueError` for another shape, or not finite.

    >>> exp([0, -np.pi / 2, 0, 0, 0, np.pi / 2])[:3, 3].round(3)  # a quarter turn, 1 m away
    array([ 1., -1.,  0.])
    """
    from scipy.spatial.transform import RigidTransform

    twist = finite("twist", twist, 6)
    flat = twist.reshape(-1, 6)
    T = RigidTransform.from_exp_coords(flat[:, [3, 4, 5, 0, 1, 2]]).as_matrix()
    return T.reshape(*twist.shape[:-1], 4, 4)


def log(T: ArrayLike) -> np.ndarray:
    """Twist (..., 6) whose `exp` is T (..., 4, 4): linear part first [m, rad], angle at most pi.

    A half turn has two such twists, and one of them is returned. `ValueError` for what is no pose.
    """
    from scipy.spatial.transform import RigidTransform

    T = as_poses("T", T)
    coordinates = RigidTransform.from_matrix(T.reshape(-1, 4, 4)).as_exp_coords()
    return coordinates[:, [3, 4, 5, 0, 1, 2]].reshape(*T.shape[:-2], 6)


def error(T: ArrayLike, T_goal: ArrayLike) -> np.ndarray:
    """What separates a pose from its goal (..., 6): p_goal - p [m], then the turn R_goal R^T [rad].

    Both parts in world axes at the tool, so that it pairs with the "world" Jacobian:
    J dq = error is Newton's step. The turn is a rotation vector of at most pi, so a half turn
    counts in full, and the error is zero for equal poses only.
    T, T_goal: (..., 4, 4) that broadcast. `ValueError` for what is no pose.

    >>> error(pose([0.1, 0, 0]), pose([0.1, 0, 0.5]))
    array([0. , 0. , 0.5, 0. , 0. , 0. ])
    """
    from scipy.spatial.transform import Rotation

    T, T_goal = as_poses("T", T), as_poses("T_goal", T_goal)
    try:
        turn = T_goal[..., :3, :3] @ np.swapaxes(T[..., :3, :3], -1, -2)
    except ValueError:
        raise ValueError(
            f"T: shape {T.shape} with T_goal: shape {T_goal.shape},"
            " expected stacks of one size, or a single pose as either"
        ) from None
    angular = Rotation.from_matrix(turn.reshape(-1, 3, 3)).as_rotvec().reshape(turn.shape[:-1])
    return np.concatenate([T_goal[..., :3, 3] - T[..., :3, 3], angular], axis=-1)


# ---------------------------------------------------------------- what the floor asks of input


def numbers(name: str, value: ArrayLike) -> np.ndarray:
    """`value` as a float array; `ValueError` with its name if it is none.

    Complex numbers, truth values, words and masked entries are no numbers here: NumPy would turn
    them into floats and lose what they say.
    """
    try:
        array = np.asarray(value)
        missing = array.dtype.kind == "O" and any(entry is None for entry in array.flat)
        if array.dtype.kind not in "iufO" or missing or np.ma.is_masked(value):
            raise TypeError
        return array.astype(float, copy=False)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: {value!r}, expected real numbers") from None


def finite(name: str, value: ArrayLike, *tail: int) -> np.ndarray:
    """`value` as a finite float array (..., *tail); `ValueError` with its name if it is none."""
    array = numbers(name, value)
    if array.ndim < len(tail) or array.shape[array.ndim - len(tail) :] != tail:
        expected = ", ".join(("...", *map(str, tail)))
        raise ValueError(f"{name}: shape {array.shape}, expected ({expected})")
    refuse(name, array, ~np.isfinite(array), "finite numbers")
    return array


def refuse(name: str, array: np.ndarray, bad: np.ndarray, expected: str) -> None:
    """`ValueError` with name, place and value of the first entry that is bad, if there is one."""
    if bad.any():
        at = np.argwhere(bad)[0].tolist()
        raise ValueError(f"{name}{at or ''}: {array[*at]:g}, expected {expected}")


def as_poses(name: str, T: ArrayLike) -> np.ndarray:
    """T as a float array (..., 4, 4) of poses; `ValueError` with its name if it is none."""
    T = finite(name, T, 4, 4)
    _require_rotation(name, T[..., :3, :3])
    if np.any(T[..., 3, :] != (0, 0, 0, 1)):
        last = T[..., 3, :].reshape(-1, 4)
        wrong = last[(last != (0, 0, 0, 1)).any(axis=-1)][0]
        raise ValueError(f"{name}: last row {wrong.tolist()}, expected [0, 0, 0, 1]")
    return T


def _require_rotation(name, R):
    gram = R @ np.swapaxes(R, -1, -2)
    if np.any(np.abs(gram - np.eye(3)) > ROTATION_TOLERANCE) or np.any(np.linalg.det(R) < 0):
        raise ValueError(
            f"{name}: its 3x3 part is not a rotation (R R^T differs from 1, or det R is negative)"
        )
