"""How do four numbers place the next frame?  The Denavit-Hartenberg matrices, in two conventions.

Public names: `dh_matrix`, `mdh_matrix`, `to_modified`, `to_standard`.

Both conventions are made of two screws, one about an x axis and one about a z axis:

    standard   A_i = Rz(theta_i) Tz(d_i) · Tx(a_i) Rx(alpha_i)             z first, then x
    modified   A_i = Rx(alpha_i) Tx(a_i) · Rz(theta_i) Tz(d_i)             x first, then z
                     (Craig writes these two with the index i - 1)
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from course_lib.arm import Arm
from course_lib.poses import finite

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def dh_matrix(a: ArrayLike, alpha: ArrayLike, d: ArrayLike, theta: ArrayLike) -> np.ndarray:
    """Standard DH: pose of frame i in frame i-1, `Rz(theta) Tz(d) Tx(a) Rx(alpha)`.

    a, d [m], alpha, theta [rad]: numbers or arrays that broadcast to (...). Returns (..., 4, 4).
    `ValueError` for what is no finite number, or for shapes that do not broadcast.
    Source: Denavit and Hartenberg, ASME J. Appl. Mech. 1955; Siciliano et al. 2009, eq. 2.52.

    >>> dh_matrix(0.25, 0.0, 0.1, 0.0)[:3, 3]
    array([0.25, 0.  , 0.1 ])
    """
    a, alpha, d, theta = _entries(a=a, alpha=alpha, d=d, theta=theta)
    ca, sa, ct, st = np.cos(alpha), np.sin(alpha), np.cos(theta), np.sin(theta)
    return _stack(
        [
            [ct, -st * ca, st * sa, a * ct],
            [st, ct * ca, -ct * sa, a * st],
            [0.0, sa, ca, d],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )


def mdh_matrix(a: ArrayLike, alpha: ArrayLike, d: ArrayLike, theta: ArrayLike) -> np.ndarray:
    """Modified DH: pose of frame i in frame i-1, `Rx(alpha) Tx(a) Rz(theta) Tz(d)`.

    a and alpha are those that Craig writes a_(i-1), alpha_(i-1): they stand in the same row of the
    table as d_i and theta_i. Shapes and units as in `dh_matrix`.
    Source: Craig, Introduction to Robotics, 3rd ed. 2005, eq. 3.6.

    >>> mdh_matrix(0.25, 0.0, 0.1, 0.0)[:3, 3] + 0.0
    array([0.25, 0.  , 0.1 ])
    """
    a, alpha, d, theta = _entries(a=a, alpha=alpha, d=d, theta=theta)
    ca, sa, ct, st = np.cos(alpha), np.sin(alpha), np.cos(theta), np.sin(theta)
    return _stack(
        [
            [ct, -st, 0.0, a],
            [st * ca, ct * ca, -sa, -d * sa],
            [st * sa, ct * sa, ca, d * ca],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )


def _entries(**values):
    """The values as float arrays, or `ValueError` with the name of the one that is none."""
    arrays = {name: finite(name, value) for name, value in values.items()}
    try:
        np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise ValueError(f"shapes {shapes}, expected shapes that broadcast") from None
    return arrays.values()


def _stack(rows):
    """Four rows of four entries of any broadcastable shapes, as one array (..., 4, 4)."""
    shape = np.broadcast_shapes(*(np.shape(entry) for row in rows for entry in row))
    T = np.empty(shape + (4, 4))
    for i, row in enumerate(rows):
        for j, entry in enumerate(row):
            T[..., i, j] = entry
    return T


def to_modified(arm: Arm) -> Arm:
    """The same arm with a modified table: equal `fk` for every q. A modified one comes back as is.

    The x screw of each row moves into the next row; the last one moves into the tool.
    """
    if arm.convention == "modified":
        return arm
    x_screw = dh_matrix(arm.a, arm.alpha, 0.0, 0.0)
    return replace(
        arm,
        convention="modified",
        a=np.r_[0.0, arm.a[:-1]],
        alpha=np.r_[0.0, arm.alpha[:-1]],
        tool=x_screw[-1] @ arm.tool,
        **_moved_bodies(arm, x_screw),
    )


def to_standard(arm: Arm) -> Arm:
    """The same arm with a standard table: equal `fk` for every q. A standard one comes back as is.

    The x screw of each row moves into the row before; the first one moves into the base.
    """
    if arm.convention == "standard":
        return arm
    x_screw = dh_matrix(np.r_[arm.a[1:], 0.0], np.r_[arm.alpha[1:], 0.0], 0.0, 0.0)
    return replace(
        arm,
        convention="standard",
        a=np.r_[arm.a[1:], 0.0],
        alpha=np.r_[arm.alpha[1:], 0.0],
        base=arm.base @ dh_matrix(arm.a[0], arm.alpha[0], 0.0, 0.0),
        **_moved_bodies(arm, np.linalg.inv(x_screw)),
    )


def _moved_bodies(arm, x_screw):
    """flange, and com and inertia where known, seen in the link frames of the other convention."""
    moved = {"flange": x_screw[-1, :3, :3] @ arm.flange + x_screw[-1, :3, 3]}
    if arm.com is not None:
        moved["com"] = np.einsum("nij,nj->ni", x_screw[:, :3, :3], arm.com) + x_screw[:, :3, 3]
    if arm.inertia is not None:
        R = x_screw[:, :3, :3]
        moved["inertia"] = R @ arm.inertia @ np.swapaxes(R, -1, -2)
    return moved
