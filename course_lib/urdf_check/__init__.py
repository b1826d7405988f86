"""What is wrong with this URDF file?  One table of small rules: what each finds, why, and the cure.

Public names: `check_urdf`, `Finding`, `RULES`, `rule`; for whoever reads a file: `Robot`, `Node`,
`UrdfError`, `read_xml`, `expand_xacro`, `numbers`, `origin_of`, `inertia_of`.

    xacro    a macro file becomes a URDF, in a process of its own
    reading  elements that know their line, from a file that may be broken or hostile
    shapes   points around boxes, spheres, cylinders and meshes
    robot    links, joints, tree, bodies and shapes, as the rules see them
    rules    the table and `check_urdf`
"""

from course_lib.urdf_check.reading import (
    Node,
    UrdfError,
    end,
    expand_xacro,
    inertia_of,
    numbers,
    origin_of,
    read_xml,
)
from course_lib.urdf_check.robot import Robot
from course_lib.urdf_check.rules import RULES, Finding, check_urdf, rule

__all__ = [
    "RULES",
    "Finding",
    "Node",
    "Robot",
    "UrdfError",
    "check_urdf",
    "end",
    "expand_xacro",
    "inertia_of",
    "numbers",
    "origin_of",
    "read_xml",
    "rule",
]
