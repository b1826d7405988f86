"""What is the arm?  One immutable description that every function of the course takes.

Public names: `Arm`, `load_arm`, `from_toolbox`, `links_as_capsules`, `solid_inertia`.

An `Arm` never holds a state: functions take `(arm, q)`. A changed arm is a new one:
`dataclasses.replace(arm, alpha=...)`.
"""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

ARMS = Path(__file__).resolve().parent.parent / "data" / "arms"
CONVENTIONS = ("standard", "modified")
JOINT_TYPES = ("revolute", "prismatic")


@dataclass(frozen=True, eq=False)
class Arm:
    """A serial arm in Denavit-Hartenberg form [m, rad, kg, s].

    name         what people call it
    convention   "standard" (Denavit and Hartenberg 1955; Paul 1981) or "modified" (Craig 2005, ch. 3)
    a, alpha, d, theta   (n,) one DH row a joint; the joint variable is added to theta (revolute) or d (prismatic)
    joint_types  n times "revolute" or "prismatic"; all revolute when left out
    q_min, q_max, qd_max, qdd_max   (n,) limits [rad or m, 1/s, 1/s^2]; +-pi, inf, inf when left out
    radius       (n,) radius of each link's capsule [m]
    base, tool   (4, 4) poses T_world_base and T_last_tool; identity when left out
    mass (n,), com (n, 3) in the link's frame, inertia (n, 3, 3) about the centre of mass, tau_max (n,): or None

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

    def __post_init__(self):
        if self.convention not in CONVENTIONS:
            raise ValueError(f"convention: {self.convention!r}, expected one of {CONVENTIONS}")
        n = np.size(self.a)
        if n == 0:
            raise ValueError("a: empty, expected one number a joint")
        types = tuple(self.joint_types) or ("revolute",) * n
        if len(types) != n or any(t not in JOINT_TYPES for t in types):
            raise ValueError(f"joint_types: {types}, expected {n} of {JOINT_TYPES}")
        object.__setattr__(self, "joint_types", types)
        defaults = {
            "q_min": -math.pi,
            "q_max": math.pi,
            "qd_max": math.inf,
            "qdd_max": math.inf,
            "radius": 0.03,
        }
        for name, value in defaults.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, np.full(n, value))
        for name in ("a", "alpha", "d", "theta", *defaults, "mass", "tau_max"):
            self._store(name, (n,))
        self._store("com", (n, 3))
        self._store("inertia", (n, 3, 3))
        self._store("base", (4, 4))
        self._store("tool", (4, 4))
        for name in ("base", "tool"):
            _require_pose(name, getattr(self, name))
        if np.any(self.q_min > self.q_max):
            i = int(np.argmax(self.q_min > self.q_max))
            raise ValueError(
                f"q_min[{i}]: {self.q_min[i]:g} lies above q_max[{i}] = {self.q_max[i]:g}"
            )
        if self.inertia is not None and np.linalg.eigvalsh(self.inertia).min() < 0:
            i = int(np.argmax(np.linalg.eigvalsh(self.inertia).min(axis=-1) < 0))
            raise ValueError(
                f"inertia[{i}]: a negative principal moment, expected a positive (semi)definite"
                " matrix"
            )
        for name in ("qd_max", "qdd_max", "radius", "mass", "tau_max"):
            values = getattr(self, name)
            if values is not None and np.any(values <= 0):
                i = int(np.argmax(values <= 0))
                raise ValueError(f"{name}[{i}]: {values[i]:g}, expected a positive number")

    def _store(self, name, shape):
        """Keep field `name` as a read-only float array of `shape`, or say what is wrong with it."""
        value = getattr(self, name)
        if value is None and name in ("mass", "com", "inertia", "tau_max"):
            return
        try:
            array = np.array(value, dtype=float)
        except (TypeError, ValueError):
            raise ValueError(f"{name}: {value!r}, expected numbers of shape {shape}") from None
        if array.shape != shape:
            raise ValueError(f"{name}: shape {array.shape}, expected {shape}")
        if np.isnan(array).any() or (
            name not in ("qd_max", "qdd_max", "q_min", "q_max") and np.isinf(array).any()
        ):
            raise ValueError(f"{name}: {value}, expected finite numbers")
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

    def __str__(self):
        """The DH table, as one writes it on paper."""
        lines = [
            f"{self.name}: {self.n} joints, {self.convention} DH",
            "joint        a [m]   alpha [°]       d [m]   theta [°]",
        ]
        for i, turns in enumerate(self.revolute):
            d = f"{self.d[i]:.5f}" if turns else f"q + {self.d[i]:.5f}"
            theta = f"{math.degrees(self.theta[i]):.2f}"
            theta = f"q + {theta}" if turns else theta
            lines.append(
                f"{i + 1:>5} {self.a[i]:>12.5f} {math.degrees(self.alpha[i]):>11.2f} {d:>11}"
                f" {theta:>11}"
            )
        return "\n".join(lines)


def _require_pose(name, T):
    R = T[:3, :3]
    if not (np.allclose(R @ R.T, np.eye(3), atol=1e-9) and np.linalg.det(R) > 0):
        raise ValueError(
            f"{name}: its 3x3 part is not a rotation (R R^T differs from 1, or det R is negative)"
        )
    if not np.array_equal(T[3], [0, 0, 0, 1]):
        raise ValueError(f"{name}: last row {T[3].tolist()}, expected [0, 0, 0, 1]")


def links_as_capsules(arm: Arm) -> tuple[np.ndarray, np.ndarray]:
    """Where the capsule of link i begins and ends, seen in its own frame: two arrays (n, 3) [m].

    It runs from the bridge of the row before to the end of its own bridge, along d and then a, so both
    conventions give the same bodies. Standard DH: from origin i-1 to origin i. Modified DH: from d_i
    behind origin i to the foot on axis i+1 (for the last link, to the tool). A sliding joint changes the
    length of its link; the length at q = 0 is given.
    """
    if arm.convention == "standard":
        back = np.stack([arm.a, arm.d * np.sin(arm.alpha), arm.d * np.cos(arm.alpha)], axis=-1)
        return -back, np.zeros_like(back)
    start, end = np.zeros((2, arm.n, 3))
    start[:, 2], end[:-1, 0], end[-1] = -arm.d, arm.a[1:], arm.tool[:3, 3]
    return start, end


# ---------------------------------------------------------------- reading an arm from its file

JOINT_FIELDS = (
    "type",
    "a",
    "alpha",
    "d",
    "theta",
    "q_min",
    "q_max",
    "qd_max",
    "qdd_max",
    "radius",
    "mass",
    "com",
    "inertia",
    "tau_max",
)
FILE_FIELDS = ("name", "convention", "about", "joints", "base", "tool", "solid_cylinders")
_EXPONENT = re.compile(r"^[+-]?\d+(\.\d*)?[eE][+-]?\d+$")
_PI = re.compile(
    r"^\s*(?P<sign>[+-]?)\s*(?:(?P<times>\d+(?:\.\d*)?)\s*\*\s*)?pi(?:\s*/\s*(?P<over>\d+(?:\.\d*)?))?\s*$"
)


def load_arm(name_or_path: str | Path) -> Arm:
    """Read `data/arms/<name>.yaml`, or the file at a path, as an `Arm`.

    Errors (`FileNotFoundError`, `ValueError`) name the file, the field, the value and what was expected.

    >>> load_arm("cobot6").n
    6
    """
    import yaml

    path = Path(name_or_path)
    if path.suffix not in (".yaml", ".yml"):
        path = ARMS / f"{name_or_path}.yaml"
    if not path.is_file():
        known = sorted(p.stem for p in ARMS.glob("*.yaml"))
        raise FileNotFoundError(
            f"no arm {str(name_or_path)!r}: expected a .yaml file or one of {known}"
        )
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise ValueError(f"{path.name}: not readable as YAML: {error}") from None
    try:
        return _arm_from(content)
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None


def _arm_from(content) -> Arm:
    _require_fields("file", content, FILE_FIELDS, needed=("name", "convention", "joints"))
    rows = content["joints"]
    if not isinstance(rows, list) or not rows:
        raise ValueError(f"joints: {rows!r}, expected a list with one entry a joint")
    for i, row in enumerate(rows):
        _require_fields(f"joints[{i}]", row, JOINT_FIELDS, needed=("a", "alpha", "d", "theta"))
    columns = {}
    for key in JOINT_FIELDS[1:]:
        given = [key in row for row in rows]
        if any(given) and not all(given):
            raise ValueError(
                f"joints[{given.index(False)}].{key}: missing, but other joints have it"
            )
        if all(given):
            columns[key] = [_numbers(f"joints[{i}].{key}", row[key]) for i, row in enumerate(rows)]
            if key not in ("com", "inertia") and not all(
                isinstance(v, float) for v in columns[key]
            ):
                i = [isinstance(v, float) for v in columns[key]].index(False)
                raise ValueError(f"joints[{i}].{key}: {rows[i][key]!r}, expected one number")
    poses = {key: _pose(key, content[key]) for key in ("base", "tool") if key in content}
    types = tuple(row.get("type", "revolute") for row in rows)
    arm = Arm(content["name"], content["convention"], joint_types=types, **columns, **poses)
    return _with_solid_cylinders(arm) if content.get("solid_cylinders") else arm


def _require_fields(where, mapping, known, needed):
    if not isinstance(mapping, dict):
        raise ValueError(f"{where}: {mapping!r}, expected fields {list(needed)}")
    for key in mapping:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1)
            raise ValueError(
                f"{where}: unknown field {key!r}"
                + (f", did you mean {near[0]!r}?" if near else f", expected {known}")
            )
    for key in needed:
        if key not in mapping:
            raise ValueError(f"{where}: field {key!r} is missing")


def _numbers(where, value):
    """A number, a multiple of pi such as -pi/2 or 3*pi/4, or a nested list of them."""
    if isinstance(value, list):
        return [_numbers(f"{where}[{i}]", v) for i, v in enumerate(value)]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, str) and _EXPONENT.match(value):  # YAML 1.1 reads 1e-3 as a word
        return float(value)
    match = _PI.match(value) if isinstance(value, str) else None
    if not match:
        raise ValueError(f"{where}: {value!r}, expected a number or a multiple of pi such as -pi/2")
    if match["over"] and float(match["over"]) == 0:
        raise ValueError(f"{where}: {value!r}, which divides by zero")
    size = float(match["times"] or 1) * math.pi / float(match["over"] or 1)
    return -size if match["sign"] == "-" else size


def _pose(where, value):
    """A pose from `{xyz: [..], rpy: [..]}` (fixed axes, R = Rz Ry Rx)."""
    from scipy.spatial.transform import Rotation

    _require_fields(where, value, ("xyz", "rpy"), needed=())
    T = np.eye(4)
    for key in ("xyz", "rpy"):
        three = _numbers(f"{where}.{key}", value.get(key, [0, 0, 0]))
        if not isinstance(three, list) or len(three) != 3:
            raise ValueError(f"{where}.{key}: {three!r}, expected three numbers")
        if key == "xyz":
            T[:3, 3] = three
        else:
            T[:3, :3] = Rotation.from_euler("xyz", three).as_matrix()
    return T


def _with_solid_cylinders(arm: Arm) -> Arm:
    """Centre of mass and inertia of solid cylinders along the links; a sphere where a link has no length."""
    if arm.mass is None:
        raise ValueError("solid_cylinders: needs the mass of each joint's link")
    start, end = links_as_capsules(arm)
    inertia = [solid_inertia(m, r, v) for m, r, v in zip(arm.mass, arm.radius, end - start)]
    return replace(arm, com=(start + end) / 2, inertia=inertia)


def solid_inertia(mass, radius, axis) -> np.ndarray:
    """Inertia (3, 3) [kg m^2] about the centre of a solid cylinder: mass [kg], radius [m], axis (3,) its length [m] and
    direction. A sphere where the axis has no length.
    """
    length = np.linalg.norm(axis)
    if length < 1e-9:
        return 0.4 * mass * radius**2 * np.eye(3)
    along = np.outer(axis, axis) / length**2
    i_along, i_across = mass * radius**2 / 2, mass * (3 * radius**2 + length**2) / 12
    return i_along * along + i_across * (np.eye(3) - along)


def from_toolbox(robot) -> Arm:
    """The `Arm` of a Robotics Toolbox `DHRobot` (its table, offsets, limits, base and tool).

    Links that the toolbox turns backwards (`flip`) and symbolic robots are refused with `ValueError`.
    Missing limits become +-pi for a revolute and 0 .. 1 m for a prismatic joint.
    """
    links = robot.links
    if not all(hasattr(link, "alpha") for link in links):
        raise ValueError(f"robot {robot.name!r}: not a DHRobot, it has no DH table")
    if any(link.isflip for link in links):
        raise ValueError(
            f"robot {robot.name!r}: joint turned backwards (flip), which a DH row cannot hold"
        )
    types = tuple("revolute" if link.isrevolute else "prismatic" for link in links)
    lower, upper = [], []
    for link, kind in zip(links, types):
        low, high = (
            link.qlim
            if link.qlim is not None
            else ((-math.pi, math.pi) if kind == "revolute" else (0.0, 1.0))
        )
        lower.append(low)
        upper.append(high)
    turns = [t == "revolute" for t in types]
    return Arm(
        robot.name,
        "modified" if robot.mdh else "standard",
        a=[link.a for link in links],
        alpha=[link.alpha for link in links],
        d=[link.d if t else link.offset for link, t in zip(links, turns)],
        theta=[link.offset if t else link.theta for link, t in zip(links, turns)],
        joint_types=types,
        q_min=lower,
        q_max=upper,
        base=robot.base.A,
        tool=robot.tool.A,
    )
