"""What is the arm?  One immutable description that every function of the course takes.

Public names: `Arm`, `load_arm`, `from_toolbox`, `links_as_capsules`, `solid_inertia`.

An `Arm` never holds a state: functions take `(arm, q)`. A changed arm is a new one:
`dataclasses.replace(arm, alpha=...)`. What each field of a joint may hold stands in one table,
`arm_file.JOINT_FIELDS`.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from course_lib import arm_file
from course_lib.poses import as_poses, finite, numbers, refuse

if TYPE_CHECKING:
    import roboticstoolbox
    from numpy.typing import ArrayLike

CONVENTIONS = ("standard", "modified")
JOINT_TYPES = ("revolute", "prismatic")


@dataclass(frozen=True, eq=False)
class Arm:
    """A serial arm in Denavit-Hartenberg form [m, rad, kg, s].

    name         what people call it
    convention   "standard" (Denavit and Hartenberg 1955; Paul 1981), "modified" (Craig 2005, ch. 3)
    a, alpha, d, theta   (n,) one DH row a joint; the joint variable is added to theta (revolute)
                 or to d (prismatic)
    joint_types  n times "revolute" or "prismatic"; all revolute when left out
    q_min, q_max, qd_max, qdd_max   (n,) limits [rad or m, 1/s, 1/s^2]; +-pi, inf, inf if left out
    radius       (n,) radius of each link's capsule [m]; .03 when left out
    base, tool   (4, 4) poses T_world_base and T_last_tool; identity when left out
    mass (n,), com (n, 3) in the link's frame, inertia (n, 3, 3) about the centre of mass,
    tau_max (n,) [N m or N]   None where unknown
    flange       (3,) where the last link ends, in its frame; a new tool leaves it where it is

    >>> arm = Arm("two links", "standard", a=[0.5, 0.4], alpha=[0, 0], d=[0, 0], theta=[0, 0])
    >>> arm.n, arm.joint_types
    (2, ('revolute', 'revolute'))
    """

    name: str
    convention: str
    a: np.ndarray
    alpha: np.ndarray
    d: np.ndarray
    theta: np.ndarray
    joint_types: tuple[str, ...] = ()
    q_min: np.ndarray | None = None
    q_max: np.ndarray | None = None
    qd_max: np.ndarray | None = None
    qdd_max: np.ndarray | None = None
    radius: np.ndarray | None = None
    base: np.ndarray = field(default_factory=lambda: np.eye(4))
    tool: np.ndarray = field(default_factory=lambda: np.eye(4))
    mass: np.ndarray | None = None
    com: np.ndarray | None = None
    inertia: np.ndarray | None = None
    tau_max: np.ndarray | None = None
    flange: np.ndarray | None = None

    def __post_init__(self) -> None:
        if self.convention not in CONVENTIONS:
            raise ValueError(f"convention: {self.convention!r}, expected one of {CONVENTIONS}")
        n = np.size(self.a)
        if n == 0:
            raise ValueError("a: empty, expected one number a joint")
        types = tuple(self.joint_types) or ("revolute",) * n
        if len(types) != n or any(t not in JOINT_TYPES for t in types):
            raise ValueError(f"joint_types: {types}, expected {n} of {JOINT_TYPES}")
        object.__setattr__(self, "joint_types", types)
        for row in arm_file.JOINT_FIELDS:
            self._store(row, n)
        for name in ("base", "tool"):
            self._keep(name, as_poses(name, getattr(self, name)), (4, 4))
        if self.flange is None:  # the last origin, or in a modified table the tool point
            object.__setattr__(self, "flange", self.tool[:3, 3] * (self.convention == "modified"))
        self._keep("flange", finite("flange", self.flange), (3,))
        for i in np.flatnonzero(self.q_min > self.q_max):
            low, high = self.q_min[i], self.q_max[i]
            raise ValueError(f"q_min[{i}]: {low:g} lies above q_max[{i}] = {high:g}")
        if self.inertia is not None:
            moments, turned = np.linalg.eigvalsh(self.inertia), np.swapaxes(self.inertia, 1, 2)
            slack = 1e-9 * moments[:, 2]  # rounding
            refuse("inertia", moments[:, 0], moments[:, 0] < -slack, "no negative principal moment")
            skew = np.abs(self.inertia - turned) > slack[:, None, None]
            refuse("inertia", self.inertia, skew, "symmetric matrices")

    def _store(self, row: arm_file.Field, n: int) -> None:
        """Keep a field as the table of joint fields wants it, or say what is wrong with it."""
        value = getattr(self, row.name)
        if value is None and not row.needed:
            if row.default is None:
                return
            value = np.full((n, *row.shape), row.default)
        array = numbers(row.name, value)
        bad = np.isnan(array) if row.may_be_infinite else ~np.isfinite(array)
        refuse(row.name, array, bad, "finite numbers")
        self._keep(row.name, array, (n, *row.shape))
        if row.positive:
            refuse(row.name, array, array <= 0, "a positive number")
        for i in np.flatnonzero(np.abs(array) > row.usual):
            wanted = "metres or radians: is it in millimetres or degrees?"
            warnings.warn(f"{row.name}[{i}]: {array[i]:g}, expected {wanted}", stacklevel=5)

    def _keep(self, name, array, shape):
        if array.shape != shape:
            raise ValueError(f"{name}: shape {array.shape}, expected {shape}")
        array = array.copy()
        array.flags.writeable = False
        object.__setattr__(self, name, array)

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.a.size

    @property
    def revolute(self) -> np.ndarray:
        """(n,) True where the joint turns, False where it slides."""
        return np.array([t == "revolute" for t in self.joint_types])

    def __str__(self) -> str:
        """The DH table, as one writes it on paper."""
        lines = [f"{self.name}: {self.n} joints, {self.convention} DH"]
        lines += ["joint        a [m]   alpha [°]       d [m]   theta [°]"]
        for i, turns in enumerate(self.revolute):
            d, theta = f"{self.d[i]:.5f}", f"{math.degrees(self.theta[i]):.2f}"
            d, theta = (d, f"q + {theta}") if turns else (f"q + {d}", theta)
            row = f"{i + 1:>5} {self.a[i]:>12.5f} {math.degrees(self.alpha[i]):>11.2f}"
            lines.append(f"{row} {d:>11} {theta:>11}")
        return "\n".join(lines)


def load_arm(name_or_path: str | Path) -> Arm:
    """Read `data/arms/<name>.yaml`, or the file at a path, as an `Arm`.

    Errors (`FileNotFoundError`, `ValueError`) name the file, the field, the value and what was
    expected.

    >>> load_arm("cobot6").n
    6
    """
    path = arm_file.find(name_or_path)
    try:
        fields = arm_file.read(path)
        solid = fields.pop("solid_cylinders", False)
        arm = Arm(**fields)
        return _with_solid_cylinders(arm) if solid else arm
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None


def links_as_capsules(arm: Arm) -> tuple[np.ndarray, np.ndarray]:
    """Where the capsule of link i begins and ends, seen in its own frame: two arrays (n, 3) [m].

    It runs from the bridge of the row before to the end of its own bridge, along d and then a, so
    both conventions give the same bodies. Standard DH: from origin i-1 to origin i. Modified DH:
    from d_i behind origin i to the foot on axis i+1. The last link ends at the flange. A sliding
    joint changes the length of its link; the length at q = 0 is given.
    """
    start, end = np.zeros((2, arm.n, 3))
    if arm.convention == "standard":
        start -= np.stack([arm.a, arm.d * np.sin(arm.alpha), arm.d * np.cos(arm.alpha)], axis=-1)
    else:
        start[:, 2], end[:-1, 0] = -arm.d, arm.a[1:]
    end[-1] = arm.flange
    return start, end


def _with_solid_cylinders(arm: Arm) -> Arm:
    """com and inertia of solid cylinders along the links; of a sphere where one has no length."""
    if arm.mass is None:
        raise ValueError("solid_cylinders: needs the mass of each joint's link")
    start, end = links_as_capsules(arm)
    inertia = [solid_inertia(m, r, v) for m, r, v in zip(arm.mass, arm.radius, end - start)]
    return replace(arm, com=(start + end) / 2, inertia=inertia)


def solid_inertia(mass: float, radius: float, axis: ArrayLike) -> np.ndarray:
    """Inertia (3, 3) [kg m^2] of a solid cylinder about its centre; of a sphere without length.

    mass [kg], radius [m], axis (3,): the cylinder's direction, as long as the cylinder [m].
    """
    length = np.linalg.norm(axis)
    if length < 1e-9:
        return 0.4 * mass * radius**2 * np.eye(3)
    along = np.outer(axis, axis) / length**2
    i_along, i_across = mass * radius**2 / 2, mass * (3 * radius**2 + length**2) / 12
    return i_along * along + i_across * (np.eye(3) - along)


def from_toolbox(robot: roboticstoolbox.DHRobot) -> Arm:
    """The `Arm` of a Robotics Toolbox `DHRobot` (its table, offsets, limits, base and tool).

    Symbolic robots are refused with `ValueError`. Missing limits become +-pi for a revolute and
    0 .. 1 m for a prismatic joint. Where the toolbox turns a joint backwards (`flip`), z is turned
    round, Rz(-q) = Rx(pi) Rz(q) Rx(pi): each half turn joins the alpha beside it, or base or tool.
    """
    links = robot.links
    if not all(hasattr(link, "alpha") for link in links):
        raise ValueError(f"robot {robot.name!r}: not a DHRobot, it has no DH table")
    turns, back = np.array([[link.isrevolute, bool(link.isflip)] for link in links]).T
    usual = [(-math.pi, math.pi) if t else (0.0, 1.0) for t in turns]
    limits = [either if link.qlim is None else link.qlim for link, either in zip(links, usual)]
    a, alpha, d, theta, offset = np.array([[v.a, v.alpha, v.d, v.theta, v.offset] for v in links]).T
    sign, beside = np.where(back, -1, 1), np.array([False, *back, False])
    alpha = alpha + np.pi * (back != beside[:-2] if robot.mdh else back != beside[2:])
    half = np.diag([1.0, -1.0, -1.0, 1.0])
    return Arm(
        robot.name,
        "modified" if robot.mdh else "standard",
        a=a,
        alpha=np.where(alpha > math.pi, alpha - math.tau, alpha),
        d=sign * np.where(turns, d, offset),
        theta=sign * np.where(turns, offset, theta),
        joint_types=tuple("revolute" if t else "prismatic" for t in turns),
        q_min=[low for low, _ in limits],
        q_max=[high for _, high in limits],
        base=robot.base.A @ half if back[0] and not robot.mdh else robot.base.A,
        tool=half @ robot.tool.A if back[-1] and robot.mdh else robot.tool.A,
    )
