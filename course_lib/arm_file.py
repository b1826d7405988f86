"""How does an arm stand in a file?  The fields of a joint, and reading `data/arms/*.yaml`.

Public names: `JOINT_FIELDS`, `find`, `read` (`arm.load_arm` makes an `Arm` of what is read); for
other files `content`, `require_fields`, `numbers`, `pose_of`.

    name: two links
    convention: standard
    joints:
      - {a: 0.5, alpha: pi/2, d: 0, theta: 0, q_min: -3*pi/4, q_max: 3*pi/4}
      - {a: 0.4, alpha: 0, d: 0, theta: 0, q_min: -pi, q_max: pi}
    tool: {xyz: [0, 0, 0.1], rpy: [0, 0, pi]}
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from course_lib.poses import pose

ARMS = Path(__file__).resolve().parent.parent / "data" / "arms"


class Field(NamedTuple):
    """What an `Arm` holds for each joint, and a file in each of its `joints`."""

    name: str
    needed: bool = False
    default: float | None = None  # where it is left out; None: then it is unknown
    shape: tuple[int, ...] = ()  # of one joint's entry
    may_be_infinite: bool = False
    positive: bool = False
    usual: float = math.inf  # more is hardly meant in metres or radians


JOINT_FIELDS = (
    Field("a", needed=True, usual=20.0),
    Field("alpha", needed=True, usual=7.0),
    Field("d", needed=True, usual=20.0),
    Field("theta", needed=True, usual=7.0),
    Field("q_min", default=-math.pi, may_be_infinite=True),
    Field("q_max", default=math.pi, may_be_infinite=True),
    Field("qd_max", default=math.inf, may_be_infinite=True, positive=True),
    Field("qdd_max", default=math.inf, may_be_infinite=True, positive=True),
    Field("radius", default=0.03, positive=True),
    Field("mass", positive=True),
    Field("com", shape=(3,)),
    Field("inertia", shape=(3, 3)),
    Field("tau_max", positive=True),
)
FILE_FIELDS = ("name", "convention", "about", "joints", "base", "tool", "solid_cylinders")
_EXPONENT = re.compile(r"[+-]?\d+(\.\d*)?[eE][+-]?\d+")
_PI = re.compile(
    r"""\s* (?P<sign>[+-]?) \s* (?: (?P<times>\d+(?:\.\d*)?) \s*\*\s* )?
        pi (?: \s*/\s* (?P<over>\d+(?:\.\d*)?) )? \s*""",
    re.VERBOSE,
)


def find(name_or_path: str | Path, folder: Path = ARMS) -> Path:
    """The file of that name in a folder, or at a path. `FileNotFoundError` names those known."""
    path = Path(name_or_path)
    if path.suffix not in (".yaml", ".yml"):
        path = folder / f"{name_or_path}.yaml"
    if not path.is_file():
        what, known = folder.name[:-1], sorted(p.stem for p in folder.glob("*.yaml"))
        wanted = f"expected a .yaml file or one of {known}"
        raise FileNotFoundError(f"no {what} {str(name_or_path)!r}: {wanted}")
    return path


def read(path: Path) -> dict[str, Any]:
    """The fields of an `Arm` from a file, and `solid_cylinders` (True: bodies from the capsules).

    `ValueError` names the field, the value and what was expected.
    """
    said = content(path)
    require_fields("file", said, FILE_FIELDS, needed=("name", "convention", "joints"))
    fields = {key: said[key] for key in ("name", "convention")} | _joints(said["joints"])
    fields["solid_cylinders"] = bool(said.get("solid_cylinders"))
    return fields | {key: pose_of(key, said[key]) for key in ("base", "tool") if key in said}


def content(path: Path) -> Any:
    """What stands in a YAML file; `ValueError` where it can't be read."""
    import yaml

    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise ValueError(f"not readable as YAML: {error}") from None


def _joints(rows):
    """{field: one entry a joint} from the list of joints."""
    if not isinstance(rows, list) or not rows:
        raise ValueError(f"joints: {rows!r}, expected a list with one entry a joint")
    known = ("type", *(field.name for field in JOINT_FIELDS))
    needed = [field.name for field in JOINT_FIELDS if field.needed]
    for i, row in enumerate(rows):
        require_fields(f"joints[{i}]", row, known, needed)
    columns = {"joint_types": tuple(row.get("type", "revolute") for row in rows)}
    for field in JOINT_FIELDS:
        given = [field.name in row for row in rows]
        if all(given):
            columns[field.name] = [_entry(f"joints[{i}]", row, field) for i, row in enumerate(rows)]
        elif any(given):
            where = f"joints[{given.index(False)}].{field.name}"
            raise ValueError(f"{where}: missing, but other joints have it")
    return columns


def _entry(where, row, field):
    value = numbers(f"{where}.{field.name}", row[field.name])
    try:
        shape = np.shape(value)
    except ValueError:  # lists of different lengths
        shape = None
    if shape != field.shape:
        expected = f"numbers of shape {field.shape}" if field.shape else "one number"
        raise ValueError(f"{where}.{field.name}: {row[field.name]!r}, expected {expected}")
    return value


def require_fields(where: str, mapping: Any, known: Sequence[str], needed: Sequence[str]) -> None:
    """`ValueError` unless mapping is one whose keys are known and that has all the needed ones."""
    if not isinstance(mapping, dict):
        raise ValueError(f"{where}: {mapping!r}, expected fields {list(needed)}")
    for key in mapping:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"expected {known}"
            raise ValueError(f"{where}: unknown field {key!r}, {hint}")
    for key in needed:
        if key not in mapping:
            raise ValueError(f"{where}: field {key!r} is missing")


def numbers(where: str, value: Any) -> Any:
    """A number, a multiple of pi such as -pi/2 or 3*pi/4, or a nested list of them."""
    if isinstance(value, list):
        return [numbers(f"{where}[{i}]", v) for i, v in enumerate(value)]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, str) and _EXPONENT.fullmatch(value):  # YAML 1.1 reads 1e-3 as a word
        return float(value)
    match = _PI.fullmatch(value) if isinstance(value, str) else None
    if not match:
        raise ValueError(f"{where}: {value!r}, expected a number or a multiple of pi such as -pi/2")
    if match["over"] and float(match["over"]) == 0:
        raise ValueError(f"{where}: {value!r}, which divides by zero")
    size = float(match["times"] or 1) * math.pi / float(match["over"] or 1)
    return -size if match["sign"] == "-" else size


def pose_of(where: str, value: Any) -> np.ndarray:
    """A pose from `{xyz: [..], rpy: [..]}` (fixed axes, R = Rz Ry Rx)."""
    from scipy.spatial.transform import Rotation

    require_fields(where, value, ("xyz", "rpy"), needed=())
    parts = {}
    for key in ("xyz", "rpy"):
        parts[key] = numbers(f"{where}.{key}", value.get(key, [0, 0, 0]))
        if not isinstance(parts[key], list) or len(parts[key]) != 3:
            raise ValueError(f"{where}.{key}: {parts[key]!r}, expected three numbers")
    return pose(parts["xyz"], Rotation.from_euler("xyz", parts["rpy"]))
