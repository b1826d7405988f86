"""How does a URDF file become elements that know their place?  Even one that is broken or hostile.

Public names: `read_xml`, `expand_xacro`, `Node`, `UrdfError`, `numbers`, `origin_of`, `inertia_of`;
for rules: `values`, `pose`, `end`, and the tables of what URDF itself knows.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler

import numpy as np

MOVING, STILL = ("revolute", "continuous", "prismatic"), ("fixed", "floating", "planar")
MAX_BYTES, MAX_ELEMENTS, MAX_DEPTH = 10_000_000, 100_000, 100


def _words(table):
    return {tag: names.split() for tag, names in table.items()}


CHILDREN = _words(
    {
        "robot": "link joint material",
        "link": "inertial visual collision",
        "inertial": "origin mass inertia",
        "visual": "origin geometry material",
        "collision": "origin geometry material",
        "material": "color texture",
        "geometry": "box cylinder sphere mesh capsule",
        "joint": "origin parent child axis limit mimic dynamics calibration safety_controller",
    }
)
ATTRIBUTES = _words(
    {
        "robot": "name version xmlns",
        "link": "name type",
        "joint": "name type",
        "visual": "name",
        "collision": "name",
        "material": "name",
        "geometry": "name",
        "inertial": "",
        "origin": "xyz rpy quat_xyzw",
        "axis": "xyz",
        "parent": "link",
        "child": "link",
        "limit": "lower upper effort velocity acceleration deceleration jerk",
        "mimic": "joint multiplier offset",
        "dynamics": "damping friction",
        "mass": "value",
        "inertia": "ixx ixy ixz iyy iyz izz",
        "box": "size",
        "sphere": "radius",
        "cylinder": "radius length",
        "capsule": "radius length name",
        "mesh": "filename scale",
        "color": "rgba",
        "texture": "filename",
        "calibration": "rising falling reference_position",
        "safety_controller": "soft_lower_limit soft_upper_limit k_position k_velocity",
    }
)
REQUIRED = _words(
    {
        "robot": "name",
        "link": "name",
        "joint": "name type",
        "parent": "link",
        "child": "link",
        "mass": "value",
        "inertia": "ixx ixy ixz iyy iyz izz",
        "axis": "xyz",
        "mimic": "joint",
        "box": "size",
        "sphere": "radius",
        "cylinder": "radius length",
        "mesh": "filename",
    }
)
INSIDE = _words({"inertial": "mass inertia", "visual": "geometry", "collision": "geometry"})
COUNTS = {"xyz": 3, "rpy": 3, "size": 3, "scale": 3, "rgba": 4, "quat_xyzw": 4}
TEXTS = {"name", "type", "link", "joint", "filename", "version", "xmlns"}
# Tags of Gazebo, ROS, Bullet, Drake and MuJoCo: left to those tools, whatever is inside.
EXTENSIONS = frozenset(
    """gazebo transmission sensor ros2_control plugin mujoco surface contact verbose kinematic
    gravity collision_checking self_collision_checking self_filter joint_properties param
    deformable plane cdf compiler specular command_interface state_interface actuator loop_joint
    force_element frame group""".split()
)


class UrdfError(ValueError):
    """A file that can't be read as asked, and the rule that says so.

    `rule`, `message`, `where` (the element), `line` (None: the whole file), `file`.
    """

    def __init__(
        self,
        rule: str,
        message: str,
        where: str = "file",
        line: int | None = None,
        file: str = "",
    ) -> None:
        super().__init__(f"{file}{f':{line}' if line else ''}: {where}: {message}")
        self.rule, self.message, self.where, self.line, self.file = rule, message, where, line, file


class Node(ElementTree.Element):
    """An XML element that knows its `file`, its `line` and its place.

    `where` is the place in words, as in "joint 'elbow' / limit".
    """

    line, where, file, version = None, "file", "", "1.0"

    def error(self, rule: str, message: str) -> UrdfError:
        return UrdfError(rule, message, self.where, self.line, self.file)


class _Builder(ContentHandler):
    def __init__(self, file):
        self.file, self.count, self.stack, self.version = file, 0, [Node("")], "1.0"

    def startElement(self, name, attrs):
        above, node = self.stack[-1], Node(name, dict(attrs))
        node.line, node.file = self._locator.getLineNumber(), self.file
        if len(self.stack) == 1:
            self.version = attrs.get("version", "1.0")
        node.version = self.version
        named = len(self.stack) == 2 and "name" in attrs
        inside = f"{above.where} / {name}" if len(self.stack) > 2 else name
        node.where = f"{name} {attrs['name']!r}" if named else inside
        self.count += 1
        if self.count > MAX_ELEMENTS or len(self.stack) > MAX_DEPTH or len(attrs) > MAX_DEPTH:
            most = f"{MAX_ELEMENTS} elements, or {MAX_DEPTH} levels or attributes"
            raise node.error("too-large", f"more than {most}")
        above.append(node)
        self.stack.append(node)

    def endElement(self, name):
        self.stack.pop()


def read_xml(path: str | Path) -> Node:
    """Root element of a URDF or xacro file; a xacro file is expanded first.

    Entities, files over 10 MB and what is not XML are refused with `UrdfError`; nothing is fetched.
    """
    path = Path(path)
    try:
        if not path.is_file():
            other = "a device, not a file" if path.exists() else "there is no such file"
            raise OSError("a folder, not a file" if path.is_dir() else other)
        text = path.read_bytes() if (size := path.stat().st_size) <= MAX_BYTES else b""
    except (OSError, ValueError) as error:
        raise UrdfError("unreadable", str(error), file=path.name) from None
    if size > MAX_BYTES:
        said = f"{size / 1e6:.0f} MB, expected at most {MAX_BYTES / 1e6:.0f}"
        raise UrdfError("too-large", said, file=path.name)
    if not text.lstrip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n").startswith(
        b"<"
    ) and b"<robot" not in text.replace(b"\0", b""):
        raise UrdfError("unreadable", "this is no XML file; is it the right one?", file=path.name)
    root = _parse(text, path.name)
    return (
        _parse(expand_xacro(path), f"{path.name} (expanded)") if path.suffix == ".xacro" else root
    )


def _parse(text, file):
    from defusedxml import DefusedXmlException, sax

    builder = _Builder(file)
    try:
        sax.parseString(text, builder, forbid_dtd=False)
    except SAXParseException as error:
        line = error.getLineNumber()
        said = _why_malformed(text, line) or error.getMessage()
        raise UrdfError("malformed-xml", said, "file", line, file) from None
    except DefusedXmlException:
        said, line = "declares or uses an XML entity, or an external DTD", builder._locator
        raise UrdfError("entity", said, "file", line.getLineNumber(), file) from None
    except UrdfError:
        raise
    except (LookupError, ValueError) as error:  # an encoding that is unknown, or not the one used
        raise UrdfError("malformed-xml", str(error), file=file) from None
    root = builder.stack[0][0]
    root.odd = list(_odd_separators(text))
    return root


def _why_malformed(text, line):
    """What XML forbids and some loaders take all the same, in words, or None."""
    here = b"".join(text.splitlines(keepends=True)[line - 1 : line])
    if re.search(rb"<!--(?:(?!-->).)*--[^>]", here, re.DOTALL):
        return 'a comment with "--" in it, which XML forbids; some loaders read on'
    declared = re.match(rb"\s*<\?xml[^>]*encoding", text)
    try:
        text.decode("utf-8") if not declared else None
    except UnicodeDecodeError as error:
        byte = f"byte 0x{text[error.start]:02x} is not UTF-8, and the first line names no encoding"
        return f"{byte} (Latin-1?); some loaders read on"
    return None


def _odd_separators(text):
    """(line, attribute, value) where tabs or new lines stand in a value; the parser hides them."""
    bare = re.sub(
        rb"<!--.*?-->", lambda found: b"\n" * found[0].count(b"\n"), text, flags=re.DOTALL
    )
    line, at = 1, 0
    for found in re.finditer(rb"""([\w:]+)\s*=\s*("[^"<]*"|'[^'<]*')""", bare):
        if re.search(rb"[\t\r\n]", found[2]):
            line, at = line + bare.count(b"\n", at, found.start()), found.start()
            yield line, found[1].decode("ascii", "replace"), found[2].decode("utf-8", "replace")


def expand_xacro(path: Path) -> bytes:
    """Text of the expanded file, from a process of its own with limits on time and memory."""
    program = Path(__file__).with_name("xacro.py")  # by its path: nothing else has to be imported
    command = [sys.executable, "-P", str(program), str(path.resolve())]
    try:
        run = subprocess.run(command, capture_output=True, timeout=20)
    except subprocess.TimeoutExpired:
        raise UrdfError("xacro", "not expanded within 20 s", file=path.name) from None
    if run.returncode or len(run.stdout) > MAX_BYTES:
        reason = ["too much text comes out", *run.stderr.decode("utf-8", "replace").splitlines()]
        raise UrdfError("xacro", f"not expanded: {reason[-1].strip()}", file=path.name)
    return run.stdout


def numbers(node: Node, attribute: str, count: int, default: float | None = None) -> np.ndarray:
    """(count,) finite numbers of an attribute; `default` where it is left out.

    `UrdfError` says what is wrong with them.
    """
    text = node.get(attribute)
    if text is None:
        if default is None:
            raise node.error("attribute-missing", f"has no {attribute!r}")
        return np.full(count, float(default))
    try:
        found = np.array([float(word) for word in text.split()])
    except ValueError:
        found = np.array([])
    if (
        found.size != count or not np.isfinite(found).all() or "_" in text
    ):  # Python reads 1_0 as ten
        raise node.error(
            "bad-number",
            f"{attribute}={text[:60]!r}, expected {count} finite number{'s' * (count > 1)}",
        )
    return found


def origin_of(node: Node) -> np.ndarray:
    """(4, 4) pose of an element's `<origin>`: Trans(xyz) Rz(yaw) Ry(pitch) Rx(roll).

    From URDF 1.1 on, quat_xyzw takes the place of rpy. What is left out is zero.
    """
    from scipy.spatial.transform import Rotation  # here: it takes a quarter of a second

    T, origin = np.eye(4), node.find("origin")
    if origin is not None:
        turn = Rotation.from_euler("xyz", numbers(origin, "rpy", 3, 0.0))
        if has_quaternions(origin) and "quat_xyzw" in origin.attrib:
            quaternion = numbers(origin, "quat_xyzw", 4)
            if not quaternion.any():
                raise origin.error("bad-number", "quat_xyzw of length 0")
            turn = Rotation.from_quat(quaternion)
        T[:3, :3] = turn.as_matrix()
        T[:3, 3] = numbers(origin, "xyz", 3, 0.0)
    return T


def has_quaternions(node: Node) -> bool:
    """Is the file of URDF 1.1 or later, where an origin may have quat_xyzw?"""
    return node.version not in ("1", "1.0")


def inertia_of(tensor: Node) -> np.ndarray:
    """(3, 3) matrix of an `<inertia>` element [kg m^2]."""
    xx, xy, xz, yy, yz, zz = (numbers(tensor, key, 1)[0] for key in REQUIRED["inertia"])
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def values(node: Node, attribute: str, count: int, default: float | None = None) -> np.ndarray:
    """`numbers`; NaN where they can't be read, so that nothing follows from them."""
    try:
        return numbers(node, attribute, count, default)
    except UrdfError:
        return np.full(count, np.nan)


def pose(node: Node) -> np.ndarray:
    """`origin_of`; NaN where it can't be read."""
    try:
        return origin_of(node)
    except UrdfError:
        return np.full((4, 4), np.nan)


def end(joint: Node, role: str) -> str | None:
    """Name of a joint's "parent" or "child" link, or None."""
    node = joint.find(role)
    return None if node is None else node.get("link")
