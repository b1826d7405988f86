"""Which faults are looked for?  The table of rules, and `check_urdf` that asks them all.

Public names: `check_urdf`, `Finding`, `RULES`, `rule`.

A rule is a function that is called for each thing of one kind (each joint, each limit, …) and
returns a sentence if something is wrong with it. Bounds are physical wherever possible (mass times
the square of the farthest distance; osmium), so that a finding on a real file is a fact.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.urdf_check.reading import (
    ATTRIBUTES,
    CHILDREN,
    COUNTS,
    EXTENSIONS,
    INSIDE,
    MOVING,
    REQUIRED,
    STILL,
    TEXTS,
    Node,
    UrdfError,
    end,
    has_quaternions,
    pose,
    read_xml,
    values,
)
from course_lib.urdf_check.robot import Robot
from course_lib.urdf_check.shapes import wrong_scale
from course_lib.urdf_check.xacro import is_file

Test = Callable[..., Any]  # of a robot and a thing, see `Rule`
RATES = ("effort", "velocity", "acceleration", "deceleration", "jerk")
OSMIUM = 22_600.0  # [kg/m^3] the densest metal
MOST_ALIKE = 20  # findings of one rule that are listed
NO_FILE = re.compile(r"|package://(/.*)?|file://")
NO_MOMENT = 1e-12  # [m^2] moments below this part of the mass are rounding: a radius of 1 µm
FORMATS = {"sdf": "SDF (Gazebo)", "mujoco": "MJCF (MuJoCo)", "mujocoinclude": "MJCF (MuJoCo)"}
FORMATS |= {"COLLADA": "a COLLADA mesh", "robot_description": "no URDF"}


@dataclass(frozen=True)
class Finding:
    """One fault: which rule, how bad, where, what, and the cure in words.

    `line` is None where the whole file is meant.
    """

    rule: str
    severity: str
    where: str
    line: int | None
    message: str
    fix: str
    file: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return (
            f"{place}: {self.severity} [{self.rule}] {self.where}: {self.message}\n    fix:"
            f" {self.fix}"
        )


def check_urdf(path: str | Path) -> list[Finding]:
    """All findings in a URDF or xacro file, by line. An empty list means that no rule failed.

    Nothing is ever raised. Severity "error": no loader can be trusted with it; "warning": it loads,
    and the arm moves or weighs wrong; "note": may be on purpose. Lines of a xacro file are those of
    its expansion (`xacro FILE > FILE.urdf`).
    """
    try:
        robot = Robot(read_xml(path), Path(path))
    except UrdfError as error:
        entry = RULES[error.rule]
        return [
            Finding(
                entry.name,
                entry.severity,
                error.where,
                error.line,
                error.message,
                entry.cure,
                error.file,
            )
        ]
    macros = robot.path.suffix == ".xacro" and not robot.links
    rules = [RULES["macros-only"]] if macros else RULES.values()
    with np.errstate(all="ignore"):  # numbers may be enormous
        findings = [finding for entry in rules for finding in _grouped(entry, robot)]
    return sorted(findings, key=lambda finding: finding.line or 0)


def _grouped(entry, robot):
    """The findings of one rule; of a habit the first ones, and how many more there are."""
    faults = [*entry.faults(robot)]
    if len(faults) > MOST_ALIKE:
        (node, message), (last, _) = faults[MOST_ALIKE - 1], faults[-1]
        more = f"; and {len(faults) - MOST_ALIKE} more like it, the last in line {last.line}"
        faults = [*faults[: MOST_ALIKE - 1], (node, message + more)]
    return [
        Finding(entry.name, entry.severity, node.where, node.line, message, entry.cure, node.file)
        for node, message in faults
    ]


# ---------------------------------------------------------------- the table


@dataclass(frozen=True)
class Rule:
    """A row of the table: `test(robot, *thing)` is called for each of `getattr(robot, each)`."""

    name: str
    severity: str
    what: str
    why: str
    cure: str
    each: str
    test: Test

    def faults(self, robot: Robot) -> Iterator[tuple[Node, str]]:
        """(element, message) for each fault.

        A test returns a sentence about its thing, or yields such pairs.
        """
        for thing in getattr(robot, self.each):
            result = self.test(robot, *thing)
            yield from ((thing[0], result),) if isinstance(result, str) else result or ()


RULES: dict[str, Rule] = {}


def rule(name: str, severity: str, each: str, why: str, cure: str) -> Callable[[Test], Test]:
    """Enter a test into the table and name it after its rule; its docstring is the `what`."""

    def enter(test):
        test.__name__ = name
        what = " ".join(test.__doc__.split())
        RULES[name] = Rule(name, severity, what, why, cure, each, test)
        return test

    return enter


def _maybe(word, names):
    word = str(word)[:80]
    known = sorted((n for n in names if n and len(n) < 80), key=lambda n: abs(len(n) - len(word)))
    near = difflib.get_close_matches(word, known[:30], n=1)  # so few that a huge file takes no time
    return f"; {near[0]!r}?" if near else ""


def _listed(names, most=12):
    names = [str(name) for name in names]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _three(moments):
    return "principal moments " + " ".join(f"{moment:.3g}" for moment in moments) + " kg m²"


for _name, _severity, _what, _why, _cure in (  # what `read_xml` refuses
    (
        "unreadable",
        "error",
        "file missing, not readable or no XML",
        "there is nothing to check",
        "check the path",
    ),
    (
        "too-large",
        "error",
        "over 10 MB, 100 000 elements, 100 levels or attributes",
        "no arm needs that; it may be made to stall readers",
        "put meshes into their own files",
    ),
    (
        "malformed-xml",
        "error",
        "not well-formed XML",
        "every loader stops here",
        "mend the tag at or before this line",
    ),
    (
        "entity",
        "error",
        "XML entities",
        "they can fill the memory or read other files (entity bomb, external entity)",
        "write the text out, without <!ENTITY …>",
    ),
    (
        "xacro",
        "warning",
        "xacro file that could not be expanded",
        "nothing behind it was checked",
        "expand it yourself (xacro FILE > FILE.urdf) and check the result",
    ),
):
    RULES[_name] = Rule(_name, _severity, _what, _why, _cure, "files", lambda robot, root: None)


# ---- can it be read at all?


@rule(
    "not-a-robot",
    "error",
    "files",
    "no loader takes it",
    'wrap the description in <robot name="…">',
)
def _(robot, root):
    """the outermost tag is not <robot>"""
    if root.tag != "robot":
        inside = "; there is a <robot> inside it" if root.find(".//robot") is not None else ""
        kind = f": this is {FORMATS[root.tag]}, no URDF" if root.tag in FORMATS else ""
        return f"the outermost tag is <{root.tag}>{kind}{inside}"


@rule("version", "error", "files", "Pinocchio refuses the file", 'version="1.0", "1.1" or "1.2"')
def _(robot, root):
    """a version of URDF that does not exist"""
    version = root.get("version", "1.0")
    if root.tag == "robot" and version not in ("1.0", "1.1", "1.2"):
        return f"version {version[:20]!r} does not exist"


@rule(
    "no-links",
    "error",
    "files",
    "there is no arm in it",
    "add links, or expand the xacro file that uses this one",
)
def _(robot, root):
    """no link in the file"""
    return "has no <link>" if root.tag == "robot" and not robot.links else None


@rule(
    "macros-only",
    "note",
    "files",
    "a file of macros is checked where it is used",
    "check the file that includes it",
)
def _(robot, root):
    """a xacro file that expands to no link"""
    return (
        "expands to no <link>: it holds macros only"
        if robot.path.suffix == ".xacro" and not robot.links
        else None
    )


@rule(
    "xacro-left",
    "error",
    "files",
    "URDF loaders skip xacro tags and cannot compute ${…}",
    "expand it first: xacro FILE > FILE.urdf",
)
def _(robot, root):
    """xacro tags or ${…} that are not expanded"""
    for node in root.iter():
        if node.tag.startswith("xacro:") or any(
            re.search(r"\$[{(]", text) for text in node.attrib.values()
        ):
            return [(node, f"<{node.tag}> needs xacro")]


@rule(
    "unknown-tag",
    "warning",
    "nodes",
    "it is ignored without a word, with all that is in it",
    "use the tag's right name and place",
)
def _(robot, node):
    """a tag that URDF does not know, or not in this place"""
    known = CHILDREN.get(node.tag, [])
    strange = [
        child
        for child in node
        if child.tag not in known and child.tag not in EXTENSIONS and ":" not in child.tag
    ]
    return [
        (child, f"<{child.tag}> means nothing inside <{node.tag}>{_maybe(child.tag, known)}")
        for child in strange
    ]


@rule(
    "unknown-attribute",
    "warning",
    "nodes",
    "it is ignored, and the default of the right one is taken",
    "use the attribute's right name",
)
def _(robot, node):
    """an attribute misspelt"""
    for name in sorted(set(node.attrib) - set(ATTRIBUTES[node.tag])):
        near = _maybe(name, set(ATTRIBUTES[node.tag]) - set(node.attrib))
        if near and ":" not in name:
            yield node, f"attribute {name!r} means nothing here{near}"


@rule("repeated-tag", "warning", "nodes", "only the first one is read", "keep one")
def _(robot, node):
    """a tag twice where one is read"""
    once = set(CHILDREN.get(node.tag, ())) - (
        {"link", "joint", "material", "visual", "collision"}
        if node.tag in ("robot", "link")
        else set()
    )
    tags = [child.tag for child in node]
    return [
        (child, f"a second <{child.tag}>")
        for i, child in enumerate(node)
        if child.tag in once and child.tag in tags[:i]
    ]


@rule(
    "incomplete", "error", "nodes", "loaders refuse it, or skip the element", "add what is missing"
)
def _(robot, node):
    """an <inertial> without mass or inertia, a shape that is not there"""
    missing = [f"<{tag}>" for tag in INSIDE.get(node.tag, ()) if node.find(tag) is None]
    if node.tag == "geometry" and len(node) == 0:
        missing = ["shape: <box>, <cylinder>, <sphere> or <mesh>"]
    return "has no " + ", no ".join(missing) if missing else None


@rule("attribute-missing", "error", "nodes", "there is no default for it", "add the attribute")
def _(robot, node):
    """an attribute that must be there and is not"""
    missing = [repr(name) for name in REQUIRED.get(node.tag, ()) if name not in node.attrib]
    return "has no " + ", no ".join(missing) if missing else None


@rule(
    "bad-number",
    "error",
    "nodes",
    "it is read as zero, cut short or refused, depending on the loader",
    "write plain numbers with a decimal point, separated by spaces",
)
def _(robot, node):
    """an attribute that should be numbers and is not"""
    for name in sorted(set(node.attrib) & set(ATTRIBUTES[node.tag]) - TEXTS):
        if "$" not in node.get(name) and np.isnan(values(node, name, COUNTS.get(name, 1))).any():
            yield (
                node,
                (
                    f"{name}={node.get(name)[:60]!r}, expected {COUNTS.get(name, 1)} finite"
                    f" number{'s' * (name in COUNTS)}"
                ),
            )


@rule(
    "number-form",
    "error",
    "nodes",
    "loaders read zero, or refuse the file",
    "write digits 0-9 and single blanks, without a blank at the ends of a single number",
)
def _(robot, node):
    """blanks around a single number, or digits and blanks that are not plain ones"""
    for name in sorted(set(node.attrib) & set(ATTRIBUTES[node.tag]) - TEXTS):
        value = node.get(name)
        if "$" not in value and not np.isnan(values(node, name, COUNTS.get(name, 1))).any():
            if not value.isascii():
                yield node, f"{name}={value[:60]!r} holds characters that only look like its own"
            elif name not in COUNTS and value != value.strip():
                yield node, f"{name}={value[:60]!r}: a blank beside the number"


@rule(
    "number-separator",
    "error",
    "odd_values",
    "Pinocchio and ROS split at blanks only and refuse the file",
    "separate the numbers by single blanks",
)
def _(robot, node, name, value):
    """tabs or new lines between numbers"""
    if name in ATTRIBUTES[node.tag] and name not in TEXTS:
        return f"{name} has a tab or a new line among its numbers"


@rule(
    "name-empty",
    "error",
    "nodes",
    "loaders refuse it, or find nothing",
    "give it a name of its own",
)
def _(robot, node):
    """an empty name of a link, joint, file or package"""
    if node.tag in ("robot", "link", "joint") and node.get("name") == "":
        yield node, "name is empty"
    if node.tag == "mesh" and NO_FILE.fullmatch(node.get("filename", "x")):
        yield node, f"filename={node.get('filename')!r} names no file"


@rule(
    "quaternion",
    "error",
    "nodes",
    "a loader takes one of the two, or none",
    'write rpy, or version="1.1" at <robot> and quat_xyzw alone',
)
def _(robot, node):
    """quat_xyzw where it has no effect, beside rpy, or not of length 1"""
    if node.tag == "origin" and "quat_xyzw" in node.attrib:
        length = np.linalg.norm(values(node, "quat_xyzw", 4))
        if not has_quaternions(node):
            yield node, f"quat_xyzw has no effect in URDF {node.version}"
        elif "rpy" in node.attrib:
            yield node, "has rpy and quat_xyzw"
        elif abs(length - 1) > 1e-3:
            yield node, f"quat_xyzw has length {length:.4g}"


# ---- the tree


@rule("joint-type", "error", "nodes", "loaders refuse it", "one of " + ", ".join(MOVING + STILL))
def _(robot, node):
    """a joint type that does not exist"""
    if node.tag == "joint" and node.get("type") not in (None, *MOVING, *STILL):
        return f"type {node.get('type')!r} does not exist{_maybe(node.get('type'), MOVING + STILL)}"


@rule(
    "unknown-link",
    "error",
    "nodes",
    "the tree falls apart",
    "name a link of this file as parent and one as child",
)
def _(robot, node):
    """a joint's parent or child is missing, or not a link of the file"""
    for role in ("parent", "child") if node.tag == "joint" else ():
        name = end(node, role)
        if node.find(role) is None:
            yield node, f"has no <{role}>"
        elif name is not None and name not in robot.link:
            yield node.find(role), f"no link is called {name!r}{_maybe(name, robot.link)}"


@rule(
    "duplicate-name",
    "error",
    "files",
    "one of the two is lost",
    "give each link and each joint its own name",
)
def _(robot, root):
    """two links or two joints of one name"""
    for nodes, first in ((robot.links, robot.link), (robot.joints, robot.joint)):
        for node in nodes:
            if node.get("name") is not None and first[node.get("name")] is not node:
                yield (
                    node,
                    f"this name is taken by the {node.tag} in line {first[node.get('name')].line}",
                )


@rule(
    "two-parents",
    "error",
    "files",
    "URDF is a tree: a link hangs on one joint; some loaders read on and mix the joints up",
    "remove one of the joints, or make a second link",
)
def _(robot, root):
    """a link that is the child of two joints"""
    for joint in robot.joints:
        child = end(joint, "child")
        itself = child == end(joint, "parent")
        if child is not None and robot.above[child] is not joint and not itself:
            yield (
                joint,
                (
                    f"link {child!r} is already the child of joint"
                    f" {robot.above[child].get('name')!r} (line {robot.above[child].line})"
                ),
            )


@rule(
    "self-loop",
    "error",
    "files",
    "Pinocchio dies of it, and other tools never end",
    "name two different links",
)
def _(robot, root):
    """a joint from a link to itself"""
    for joint in robot.joints:
        child = end(joint, "child")
        if child is not None and child == end(joint, "parent"):
            yield joint, f"leads from link {child!r} to itself"


@rule(
    "loop",
    "error",
    "files",
    "a link cannot be above itself; URDF has no closed chains",
    "turn the joint around or remove it",
)
def _(robot, root):
    """joints that close a loop"""
    for ring in (ring for ring in robot.rings if len(ring) > 1):
        links = [end(joint, "parent") for joint in reversed(ring)] + [end(ring[0], "child")]
        yield (
            max(ring, key=lambda joint: joint.line),
            "closes a loop: " + " → ".join(map(str, links)),
        )


@rule(
    "two-roots",
    "error",
    "files",
    "loaders refuse it, or drop one part",
    "join the second tree to the first with a joint",
)
def _(robot, root):
    """more than one link without a parent"""
    roots = [link for link in robot.links if link.get("name") not in robot.above]
    return [
        (link, f"has no parent, and neither has {roots[0].get('name')!r}: two trees")
        for link in roots[1:]
    ]


# ---- joints


@rule(
    "axis-zero",
    "error",
    "axes",
    "it has no direction; loaders divide by zero or take some other axis",
    "give the axis a direction, such as 0 0 1",
)
def _(robot, node, joint, axis):
    """an axis without length"""
    return "axis 0 0 0" if np.linalg.norm(axis) < 1e-9 else None


@rule(
    "axis-not-unit",
    "warning",
    "axes",
    "URDF asks for length 1: a loader that does not divide by the length moves the joint wrong",
    "divide by its length",
)
def _(robot, node, joint, axis):
    """an axis that is not of length 1"""
    length = np.linalg.norm(axis)
    return (
        f"the axis has length {length:.4g}" if length >= 1e-9 and abs(length - 1) > 2e-3 else None
    )


@rule(
    "axis-left-out",
    "warning",
    "axes",
    "the axis is then x (1 0 0), which is seldom meant",
    "write the axis",
)
def _(robot, node, joint, axis):
    """a moving joint without an axis"""
    return (
        f"a {joint.get('type')} joint without <axis> moves about or along x"
        if node is joint
        else None
    )


@rule(
    "same-line",
    "warning",
    "axes",
    "the two do the same: the arm has one degree of freedom less than joints",
    "check the axis, and the rpy of the origin",
)
def _(robot, node, joint, axis):
    """two joints in a row that turn about the same line"""
    first, T = robot.body.get(end(joint, "parent"), (None, None))
    before = [pair for pair in (robot.axis_of.get(robot.above.get(first)),) if pair]
    turning = all(
        one.get("type") != "prismatic" and one.find("mimic") is None
        for one in (joint, *(other for other, _ in before))
    )
    if before and robot.carries[first] == 1 and turning and not robot.rings:
        T, (other, v) = T @ pose(joint), before[0]
        u, lengths = T[:3, :3] @ axis, np.linalg.norm(v) * np.linalg.norm(axis)
        if (
            0 < lengths
            and np.linalg.norm(np.cross(u, v)) < 1e-3 * lengths
            and np.linalg.norm(np.cross(v, T[:3, 3])) < 1e-4 * np.linalg.norm(v)
        ):
            return f"turns about the same line as joint {other.get('name')!r} before it"


@rule(
    "limit-missing",
    "error",
    "axes",
    "a revolute or prismatic joint must say how far and how fast it goes; what is left out is 0",
    "add <limit lower=… upper=… effort=… velocity=…/>, or make a revolute joint continuous",
)
def _(robot, node, joint, axis):
    """a revolute or prismatic joint without limits (in URDF 1.2 those of effort and velocity may
    be left out, and both others must be there)"""
    limit, new = joint.find("limit"), joint.version == "1.2"
    if limit is None:
        return (
            [(joint, f"a {joint.get('type')} joint without <limit>")]
            if joint.get("type") != "continuous"
            else None
        )
    missing = [name for name in ("effort", "velocity") if name not in limit.attrib and not new]
    given = {"lower", "upper"} & set(limit.attrib)
    if joint.get("type") != "continuous" and len(given) < 1 + new:
        missing = ["lower and upper: it cannot move", *missing]
    return [(limit, "has no " + ", no ".join(missing))] if missing else None


@rule("limit-order", "error", "limits", "no position is allowed", "swap lower and upper")
def _(robot, limit, joint, low, high, effort, velocity):
    """lower above upper"""
    return (
        f"lower {low:g} lies above upper {high:g}"
        if low > high and joint.get("type") != "continuous"
        else None
    )


@rule(
    "limit-rate",
    "warning",
    "limits",
    "a controller or simulator that keeps to it never moves the joint",
    "give the motor's values",
)
def _(robot, limit, joint, low, high, effort, velocity):
    """effort or speed of zero"""
    return [
        (limit, f"{name} {value:g}")
        for name, value in (("effort", effort), ("velocity", velocity))
        if value == 0 and name in limit.attrib
    ]


@rule(
    "negative-rate",
    "error",
    "carried",
    "Pinocchio refuses the file",
    "write a positive value; for no limit leave it to the type of the joint",
)
def _(robot, node):
    """effort, speed, acceleration, jerk, damping or friction below zero"""
    keys = {"limit": RATES, "dynamics": ("damping", "friction")}.get(node.tag, ())
    below = [key for key in keys if (values(node, key, 1, 0.0) < 0).any()]
    return ", ".join(f"{key} {node.get(key)}" for key in below) or None


@rule(
    "cannot-move",
    "warning",
    "limits",
    "it is a fixed joint that looks like a moving one",
    'give it a range, or write type="fixed"',
)
def _(robot, limit, joint, low, high, effort, velocity):
    """limits, soft limits or safety gains that hold a joint in one place"""
    if joint.get("type") != "continuous" and low == high and {"lower", "upper"} & set(limit.attrib):
        yield limit, f"lower and upper are both {low:g}"
    for safety in joint.findall("safety_controller")[:1]:
        soft = [values(safety, f"soft_{side}_limit", 1, 0.0)[0] for side in ("lower", "upper")]
        given = {"soft_lower_limit", "soft_upper_limit"} & set(safety.attrib)
        if given and soft[0] >= soft[1] and joint.get("type") != "continuous":
            yield safety, f"soft limits {soft[0]:g} to {soft[1]:g} leave no range"
        elif (values(safety, "k_velocity", 1, 1.0) == 0).any():
            yield safety, "k_velocity 0: the speed it allows is zero everywhere"


@rule(
    "limit-odd",
    "note",
    "limits",
    "metres or degrees for radians, or rounds per minute for rad/s",
    "check the units: rad and rad/s",
)
def _(robot, limit, joint, low, high, effort, velocity):
    """a range under 0.1 rad, a speed over 100 rad/s"""
    turns = joint.get("type") in ("revolute", "continuous")
    if joint.get("type") == "revolute" and 0 < high - low < 0.1:
        yield limit, f"{low:g} to {high:g} rad is a range of {np.degrees(high - low):.2g}°"
    if turns and 100 < velocity < 1e6:
        yield limit, f"velocity {velocity:g} rad/s is {velocity * 30 / np.pi:.0f} rounds a minute"


@rule(
    "limit-degrees",
    "warning",
    "limits",
    "URDF angles are radians",
    'multiply by pi/180; for an endless joint write type="continuous"',
)
def _(robot, limit, joint, low, high, effort, velocity):
    """limits of a turning joint between two turns and 720 rad (what is beyond says "endless" in
    its own way)"""
    if joint.get("type") == "revolute" and 4.02 * np.pi < max(abs(low), abs(high)) <= 720:
        return (
            f"{low:g} to {high:g} rad is {(high - low) / 2 / np.pi:.1f} turns: degrees, or an"
            " endless joint?"
        )


@rule(
    "mimic-target",
    "error",
    "mimics",
    "there is nothing to follow",
    "name another joint of this file",
)
def _(robot, mimic, joint, target):
    """a mimic of a joint that does not exist, or of itself"""
    if mimic.get("joint") is not None and target in (None, joint):
        return f"follows {mimic.get('joint')!r}, which is " + (
            "itself" if target is joint else f"no joint{_maybe(mimic.get('joint'), robot.joint)}"
        )


@rule(
    "mimic-type",
    "error",
    "mimics",
    "only a joint with one degree of freedom can follow or be followed",
    "follow a revolute, continuous or prismatic joint",
)
def _(robot, mimic, joint, target):
    """a mimic between joints that cannot follow each other"""
    if target not in (None, joint) and joint.get("type") != "fixed":
        wrong = [
            f"joint {one.get('name')!r} is {one.get('type')}"
            for one in (joint, target)
            if one.get("type") in STILL
        ]
        return " and ".join(wrong) or None


@rule(
    "mimic-circle",
    "error",
    "mimics",
    "none of them has a joint that leads",
    "let one joint of the circle be free",
)
def _(robot, mimic, joint, target):
    """joints that follow each other in a circle"""
    leads, seen = {follower: leader for _, follower, leader in robot.mimics}, []
    while target in leads and target not in seen and target is not joint:
        seen.append(target)
        target = leads[target]
    if target is joint and seen and all(joint.line <= one.line for one in seen):  # once a circle
        return f"follows itself by way of {_listed(one.get('name') for one in seen)}"


@rule(
    "mimic-range",
    "note",
    "mimics",
    "where the other joint goes, this one can't follow",
    "widen the limits, or check multiplier and offset",
)
def _(robot, mimic, joint, target):
    """a joint that leaves its limits as it follows another one over its range"""
    limits = {one: (low, high) for _, one, low, high, *_ in robot.limits}
    turning = [
        one for one in (joint, target) if one not in limits or one.get("type") == "continuous"
    ]
    factor, offset = (values(mimic, key, 1, x)[0] for key, x in (("multiplier", 1), ("offset", 0)))
    if not turning and joint is not target and np.isfinite([factor, offset]).all():
        low, high = sorted(factor * end + offset for end in limits[target])
        own, slack = limits[joint], 0.01 * (high - low) + 1e-6
        if low < own[0] - slack or high > own[1] + slack:
            return f"goes from {low:.4g} to {high:.4g}, its limits are {own[0]:g} to {own[1]:g}"


@rule(
    "mimic",
    "note",
    "files",
    "Pinocchio leaves such a joint free unless asked (mimic=True), and others drop the coupling",
    "make sure that your tools honour it",
)
def _(robot, root):
    """joints that follow others"""
    followers = [
        (mimic, joint)
        for mimic, joint, target in robot.mimics
        if joint in robot.moving and target in robot.moving and target is not joint
    ]
    return (
        [
            (
                followers[0][0],
                f"follow another joint: {_listed(joint.get('name') for _, joint in followers)}",
            )
        ]
        if followers
        else None
    )


# ---- masses


@rule(
    "inertial-missing",
    "warning",
    "files",
    "it weighs nothing: gravity torques are too low, the mass matrix may be singular, Gazebo drops"
    " the link",
    "add <inertial> with mass, centre of mass (origin) and inertia",
)
def _(robot, root):
    """a link that moves and has no mass"""
    heavy = {link.get("name") for _, link, mass in robot.masses if mass != 0}
    weightless, above_mass = [], set()
    for name in heavy:
        while name in robot.above and robot.above[name] not in above_mass:
            above_mass.add(robot.above[name])
            name = end(robot.above[name], "parent")
    for joint in robot.moving:
        name = end(joint, "child")
        if (
            name in robot.link
            and robot.body[name][0] == name
            and heavy.isdisjoint(robot.welded(name))
        ):
            seen = any(
                robot.link[other].find(tag) is not None
                for other in robot.welded(name)
                for tag in ("visual", "collision")
            )
            weightless += (
                [robot.link[name]] if seen or joint not in above_mass else []
            )  # a frame between two joints needs no mass
    if weightless and not heavy:
        return (
            "no link has a mass, though these move:"
            f" {_listed(link.get('name') for link in weightless)}"
        )
    return [
        (link, "moves, and neither it nor what is fixed to it has a mass") for link in weightless
    ]


@rule(
    "mass-negative",
    "error",
    "masses",
    "its weight pulls upwards, and the mass matrix may no longer be positive definite",
    "give the mass in kilograms",
)
def _(robot, inertial, link, mass):
    """a mass below zero"""
    return [(inertial.find("mass"), f"mass {mass:g} kg")] if mass < 0 else None


@rule(
    "mass-implausible",
    "warning",
    "masses",
    "grams for kilograms, or the wrong shape",
    "check the unit: kilograms",
)
def _(robot, inertial, link, mass):
    """heavier than the box around it would be in osmium"""
    volume = robot.volume(link)
    if mass > OSMIUM * volume and robot.shape(link) is not None:
        yield (
            inertial.find("mass"),
            (
                f"{mass:g} kg in a box of {volume * 1e3:.3g} litres: {mass / volume:.3g} kg/m³,"
                " more than osmium"
            ),
        )


@rule(
    "inertia-not-positive",
    "error",
    "tensors",
    "a body with mass resists every turn; the mass matrix becomes singular, or simulators blow up",
    "take the inertia from CAD, about the centre of mass",
)
def _(robot, tensor, link, mass, moments, axes):
    """moments of inertia that are zero or negative"""
    zero = max(1e-9 * moments[2], NO_MOMENT * mass)
    if moments[0] < -zero or moments[0] <= zero and not robot.may_be_a_point(link):
        return f"{_three(moments)}, expected all above zero"


@rule(
    "inertia-triangle",
    "error",
    "tensors",
    "no body has it: the largest principal moment is at most the sum of the two others",
    "take the inertia from CAD; check signs and the order ixx ixy ixz iyy iyz izz",
)
def _(robot, tensor, link, mass, moments, axes):
    """moments of inertia that break the triangle inequality"""
    zero = max(1e-9 * moments[2], NO_MOMENT * mass)
    broken = moments[0] > zero and moments[0] + moments[1] < moments[2] * (1 - 1e-4)
    return (
        f"{_three(moments)}: {moments[0]:.3g} + {moments[1]:.3g} < {moments[2]:.3g}"
        if broken
        else None
    )


@rule(
    "inertia-too-large",
    "warning",
    "tensors",
    "no mass inside the link's shape can be so far from the axis",
    "compute it for the shape and mass (solid cylinder about its axis: m r²/2), in kg m²",
)
def _(robot, tensor, link, mass, moments, axes):
    """a moment of inertia larger than the link's own shape allows, by more than half; where no
    shape can be read, larger than mass twice as far away as all of the robot reaches"""
    points, inertial = robot.moved_shape(link), pose(link.find("inertial"))
    far = 2 * robot.span
    if points is None and robot.is_moved(link.get("name")) and far > 0.05:
        if moments[2] > mass * far**2:
            yield tensor, f"{_three(moments)}, but {mass:g} kg within {far:.3g} m has less"
    elif points is not None:
        arms = (points - inertial[:3, 3])[:, None]
        if robot.shape(link) is not None:  # else what it looks like is unknown: as far as all that
            arms = np.cross(arms, (inertial[:3, :3] @ axes).T)
        most = mass * np.max(np.sum(arms**2, axis=2), axis=0) * np.ones(3)
        i = int(np.argmax(moments - 1.5 * most))
        if moments[i] > 1.5 * most[i] + 1e-12:
            inside = f"{mass:g} kg inside its shape has at most {most[i]:.3g}"
            yield tensor, f"principal moment {moments[i]:.3g} kg m², but {inside}"


@rule(
    "inertia-too-small",
    "warning",
    "tensors",
    "even a ball of osmium of this mass has more",
    "check the unit: kg m², and 1 g mm² = 1e-9 kg m²",
)
def _(robot, tensor, link, mass, moments, axes):
    """moments of inertia smaller than any matter of this mass has"""
    least = 0.4 * mass * (3 * mass / (4 * np.pi * OSMIUM)) ** (2 / 3)
    if (
        max(1e-9 * moments[2], NO_MOMENT * mass) < moments[0]
        and moments.mean() < least
        and mass <= OSMIUM * robot.volume(link)
        and not robot.may_be_a_point(link)
    ):
        return f"{_three(moments)}, but {mass:g} kg has at least {least:.2g} in the mean"


@rule(
    "inertial-origin",
    "warning",
    "masses",
    "the centre of mass then lies on the joint: gravity torque is missing",
    "add <origin xyz=…/> of the centre of mass to <inertial>",
)
def _(robot, inertial, link, mass):
    """<inertial> without origin, though the link lies elsewhere"""
    origin, points = inertial.find("origin"), robot.shape(link)
    if (
        points is not None
        and mass > 0
        and robot.is_weighty(mass)
        and robot.is_moved(link.get("name"))
        and (origin is None or origin.get("xyz") is None)
    ):
        middle = (points.max(axis=0) + points.min(axis=0)) / 2
        if np.any(np.abs(middle) > np.ptp(points, axis=0) / 4 + 1e-4):
            return (
                "no origin: the centre of mass lies on the joint, the middle of the link"
                f" {np.linalg.norm(middle):.3g} m away"
            )


@rule(
    "com-outside",
    "warning",
    "masses",
    "gravity acts at a point where there is nothing",
    "check sign, unit and frame (the link's) of the inertial origin",
)
def _(robot, inertial, link, mass):
    """a centre of mass far outside the box around the link"""
    points, com = robot.moved_shape(link), pose(inertial)[:3, 3]
    weighs = mass > 0 and robot.is_weighty(mass)
    if points is not None and weighs and inertial.find("origin") is not None:
        beyond = np.maximum(points.min(axis=0) - com, com - points.max(axis=0)).max()
        if beyond > 0.4 * np.ptp(points, axis=0).max() + 1e-3:
            yield (
                inertial.find("origin"),
                f"the centre of mass lies {beyond:.3g} m outside the box around the link",
            )


# ---- shapes and units


@rule(
    "shape-size",
    "error",
    "nodes",
    "a shape without volume cannot collide and crashes some loaders",
    "give positive sizes in metres",
)
def _(robot, node):
    """a box, cylinder or sphere of size zero or below"""
    keys = ATTRIBUTES[node.tag] if node.tag in ("box", "cylinder", "sphere") else ()
    return [
        (node, f"{key} {node.get(key)}")
        for key in keys
        if np.any(values(node, key, COUNTS.get(key, 1)) <= 0)
    ]


@rule(
    "collision-apart",
    "note",
    "files",
    "the arm collides where it is not seen; may be on purpose",
    "check the collision's origin against the visual's",
)
def _(robot, root):
    """collision and visual shapes whose boxes do not touch"""
    for link in robot.links:
        seen, felt = robot.shape(link, ("visual",)), robot.shape(link, ("collision",))
        if seen is not None and felt is not None:
            gap = np.maximum(
                seen.min(axis=0) - felt.max(axis=0), felt.min(axis=0) - seen.max(axis=0)
            ).max()
            if gap > 1e-3:
                yield link.find("collision"), f"its box begins {gap:.3g} m away from the visual's"


@rule(
    "mesh-missing",
    "warning",
    "nodes",
    "the link is invisible, and nothing collides with it",
    "check the file's name (capital letters count) and place",
)
def _(robot, node):
    """a mesh file that is not there"""
    file = robot.mesh_file(node) if node.tag == "mesh" and node.get("filename") else None
    if file is not None and not is_file(file) and not NO_FILE.fullmatch(node.get("filename")):
        return f"no file {node.get('filename')!r}"


@rule(
    "mesh-unreadable",
    "warning",
    "nodes",
    "the link is invisible, and nothing collides with it",
    "export the mesh again",
)
def _(robot, node):
    """an STL, OBJ or DAE file in which there is no mesh"""
    file = robot.mesh_file(node) if node.tag == "mesh" and node.get("filename") else None
    if file is not None and file.suffix.lower() in (".stl", ".obj") and robot.is_hollow(file):
        return f"no corners found in {node.get('filename')!r}"


@rule(
    "material",
    "note",
    "files",
    "loaders show a colour of their own, or none",
    "define the material with <color> or <texture> in this file",
)
def _(robot, root):
    """a material that is named and nowhere defined, or whose texture file is not there"""
    for node in (node for (node,) in robot.nodes if node.tag == "material"):
        name = node.get("name")
        if not len(node) and name and name not in robot.materials:
            yield node, f"material {name!r} is defined nowhere{_maybe(name, robot.materials)}"
    for node in (node for (node,) in robot.nodes if node.tag == "texture"):
        file = robot.mesh_file(node) if node.get("filename") else None
        if file is not None and not is_file(file):
            yield node, f"no file {node.get('filename')!r}"


@rule(
    "material-twice", "error", "files", "Pinocchio and ROS refuse the file", "keep one of the two"
)
def _(robot, root):
    """two materials of one name beside the links"""
    first = {}
    for node in root.findall("material") if root.tag == "robot" else ():
        if first.setdefault(node.get("name"), node) is not node:
            line = first[node.get("name")].line
            yield node, f"material {node.get('name')!r} stands in line {line} already"


@rule(
    "mesh-unknown",
    "note",
    "files",
    "its meshes were not looked at",
    "check on a machine where the package is, or set ROS_PACKAGE_PATH",
)
def _(robot, root):
    """meshes in a package that is not found from here"""
    lost = [
        node
        for (node,) in robot.nodes
        if node.tag == "mesh" and node.get("filename") and robot.mesh_file(node) is None
    ]
    packages = {node.get("filename").partition("://")[2].partition("/")[0] for node in lost}
    return (
        [(lost[0], f"{len(lost)} meshes in {_listed(sorted(packages))}, not found from here")]
        if lost
        else None
    )


@rule(
    "mesh-scale",
    "warning",
    "carried",
    'meshes drawn in millimetres need scale="0.001 0.001 0.001", once',
    "check the scale",
)
def _(robot, node):
    """a mesh more than 20 m or less than 1 mm large"""
    points = robot.mesh(node) if node.tag == "mesh" else None
    if points is not None and wrong_scale(points):
        return f"{node.get('filename')!r} is {np.ptp(points, axis=0).max():.3g} m large"
    if (
        node.tag == "mesh"
        and points is None
        and np.any(np.abs(values(node, "scale", 3, 1.0)) >= 1000)
    ):
        return f"scale {node.get('scale')}: metres to millimetres is the wrong way round"


@rule("millimetres", "warning", "carried", "URDF lengths are metres", "divide by 1000")
def _(robot, node):
    """an origin or a size of more than 10 m"""
    keys = {
        "origin": ["xyz"],
        **{tag: ATTRIBUTES[tag] for tag in ("box", "cylinder", "sphere")},
    }.get(node.tag, ())
    return [
        (node, f"{key} {node.get(key)}, in metres")
        for key in keys
        if np.any(np.abs(values(node, key, COUNTS.get(key, 1), 0.0)) > 10)
    ]


@rule(
    "degrees",
    "warning",
    "nodes",
    "URDF angles are radians; 90 rad is a turn of 116.6 degrees",
    "multiply by pi/180: 90 degrees are 1.5707963267948966",
)
def _(robot, node):
    """rpy beyond one turn"""
    if node.tag == "origin" and np.any(np.abs(values(node, "rpy", 3, 0.0)) > 2 * np.pi + 0.01):
        return f"rpy {node.get('rpy')}: more than one turn"
