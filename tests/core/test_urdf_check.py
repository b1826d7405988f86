"""`check_urdf`: it finds each fault, nothing in sound files, and survives any file; the command."""

import difflib
import itertools
import json
import os
import subprocess
import sys
import time
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from course_lib.arm import Arm, load_arm
from course_lib.kinematics import fk
from course_lib.tools import check_urdf as command
from course_lib.urdf import from_urdf, to_urdf
from course_lib.urdf_check import RULES, Finding, check_urdf

DATA = Path(__file__).resolve().parents[2] / "data" / "urdf"
FAULTY = yaml.safe_load((DATA / "faulty" / "index.yaml").read_text(encoding="utf-8"))
GOOD = sorted(path.stem for path in (DATA / "good").glob("*.urdf"))


def written(folder, text, name="robot.urdf"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def rules_of(path):
    return sorted({finding.rule for finding in check_urdf(path)})


# ---------------------------------------------------------------- the course's own files


@pytest.mark.parametrize("name", GOOD)
def test_good_files_have_no_findings(name):
    assert check_urdf(DATA / "good" / f"{name}.urdf") == []


@pytest.mark.parametrize("name", FAULTY)
def test_each_faulty_file_is_found_by_its_own_rule_in_its_line_and_by_nothing_else(name):
    row = FAULTY[name]
    assert [(f.rule, f.line) for f in check_urdf(DATA / "faulty" / f"{name}.urdf")] == [
        (row["rule"], row["line"])
    ]


def test_every_faulty_file_is_listed():
    assert sorted(path.stem for path in (DATA / "faulty").glob("*.urdf")) == sorted(FAULTY)


@pytest.mark.parametrize("name", FAULTY)
def test_each_faulty_file_is_a_good_one_with_one_small_edit(name):
    good = (
        (DATA / "good" / f"{FAULTY[name]['made_from']}.urdf")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    faulty = (DATA / "faulty" / f"{name}.urdf").read_text(encoding="utf-8").splitlines()
    changed = [line for line in difflib.ndiff(good, faulty) if line[0] in "+-"]
    assert 1 <= len(changed) <= 6


def test_pinocchio_reads_most_faulty_files_without_a_word():
    """What the lesson claims: a parser that reads a file has not checked it."""
    pin = pytest.importorskip("pinocchio")
    refused = set()
    for name in FAULTY:
        try:
            pin.buildModelFromUrdf(str(DATA / "faulty" / f"{name}.urdf"))
        except ValueError:
            refused.add(name)
    assert {"parent_misspelt", "two_roots", "loop", "tag_not_closed", "limit_left_out"} <= refused
    assert refused.isdisjoint(
        {
            "mass_negative",
            "inertia_copied",
            "axis_left_out",
            "rpy_in_degrees",
            "joint_in_millimetres",
            "inertial_left_out",
            "inertial_origin_left_out",
            "limit_swapped",
            "attribute_misspelt",
        }
    )
    assert len(refused) < len(FAULTY) / 2


@pytest.mark.parametrize(
    "name, mm, degrees, torque",
    [  # masses and lengths from cobot6's file, turned to the worst posture
        (
            "joint_in_millimetres",
            250_000 - 250,
            0,
            (1.5 + 1.2 + 0.6 + 0.3) * 9.81 * 249.75,
        ),  # all behind joint 3, far out
        ("inertial_origin_left_out", 0, 0, 3.5 * 9.81 * 0.125),
        ("rpy_in_degrees", 0, np.degrees(180 % (2 * np.pi)) - 180, 0),
        ("mass_in_grams", 0, 0, (3500 - 3.5) * 9.81 * 0.125),
        ("com_sign", 0, 0, 1.2 * 9.81 * (0.14 + 0.14)),
        ("attribute_misspelt", 50, 0, (1.2 + 0.6 + 0.3) * 9.81 * 0.05),
    ],
)
def test_the_effect_of_a_fault(name, mm, degrees, torque):
    pytest.importorskip("pinocchio")
    from course_lib.urdf_check.effect import effect

    measured = effect(DATA / "good" / "cobot6.urdf", DATA / "faulty" / f"{name}.urdf", samples=300)
    assert measured[:2] == pytest.approx(
        (mm, degrees), rel=1e-9, abs=1e-6
    )  # the same in every posture
    assert measured[2] == pytest.approx(
        torque, rel=2e-3, abs=1e-9
    )  # 300 postures come this near to the worst


def test_the_effect_of_an_axis_that_is_left_out():
    """Joint 1 then turns about x instead of z: the rest of the arm, as a stiff body, by SciPy."""
    pytest.importorskip("pinocchio")
    from course_lib.urdf_check.effect import effect

    postures = np.random.default_rng(1).uniform(-2, 2, (300, 6))  # the ones that `effect` takes
    p = fk(load_arm("cobot6"), postures * [0, 1, 1, 1, 1, 1])[:, :3, 3]
    about_z, about_x = (Rotation.from_euler(axis, postures[:, :1]) for axis in "zx")
    mm, degrees, torque = effect(
        DATA / "good" / "cobot6.urdf", DATA / "faulty" / "axis_left_out.urdf", samples=300
    )
    assert mm == pytest.approx(
        1000 * np.linalg.norm(about_z.apply(p) - about_x.apply(p), axis=1).max(), abs=1e-6
    )
    assert degrees == pytest.approx(
        np.degrees((about_z.inv() * about_x).magnitude().max()), abs=1e-6
    )
    assert 10 < torque


def test_the_effect_at_a_link_that_is_not_there(tmp_path):
    pytest.importorskip("pinocchio")
    from course_lib.urdf_check.effect import effect

    good = DATA / "good" / "cobot6.urdf"
    with pytest.raises(ValueError, match=r"tip: 'flange', expected a link of cobot6\.urdf"):
        effect(good, good, tip="flange", samples=1)
    with pytest.raises(ValueError, match=r"tip: 'tcp', expected a link of robot\.urdf"):
        effect(
            good,
            written(tmp_path, good.read_text(encoding="utf-8").replace('"tcp"', '"tool"')),
            samples=1,
        )


def test_a_file_has_no_effect_against_itself():
    pytest.importorskip("pinocchio")
    from course_lib.urdf_check.effect import effect

    assert np.allclose(
        effect(DATA / "good" / "scara.urdf", DATA / "good" / "scara.urdf", samples=3), 0, atol=1e-9
    )


# ---------------------------------------------------------------- the table

SNIPPETS = {  # a few lines for each rule that no faulty file of the course shows: (text, file name)
    "unreadable": (None, "robot.urdf"),
    "too-large": ("<robot name='x'>" + "<link/>" * 100_001 + "</robot>", "robot.urdf"),
    "not-a-robot": ("<sdf/>", "robot.urdf"),
    "no-links": ("<robot name='x'/>", "robot.urdf"),
    "attribute-missing": (
        (
            "<robot name='x'><link"
            " name='a'><visual><geometry><sphere/></geometry></visual></link></robot>"
        ),
        "robot.urdf",
    ),
    "mimic": (
        "<robot name='x'><link name='a'/><link name='b'/><link name='c'/>"
        + "".join(
            f'<joint name="{n}" type="prismatic"><parent link="a"/><child link="{n}"/><axis xyz="0'
            f' 1 0"/><limit lower="0" upper=".1" effort="1" velocity="1"/>{m}</joint>'
            for n, m in (("b", ""), ("c", '<mimic joint="b"/>'))
        )
        + "</robot>",
        "robot.urdf",
    ),
    "mesh-unknown": (
        (
            '<robot name="x"><link name="a"><visual><geometry><mesh'
            ' filename="package://nowhere/a.stl"/></geometry></visual></link></robot>'
        ),
        "robot.urdf",
    ),
    "incomplete": ("<robot name='x'><link name='a'><visual/></link></robot>", "robot.urdf"),
    "macros-only": (
        (
            '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:property name="a"'
            ' value="1"/></robot>'
        ),
        "robot.xacro",
    ),
    "xacro": (
        (
            '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="x"><link'
            ' name="${unknown}"/></robot>'
        ),
        "robot.xacro",
    ),
}


@pytest.mark.parametrize("name", SNIPPETS)
def test_rules_without_a_faulty_file(name, tmp_path):
    text, file = SNIPPETS[name]
    path = tmp_path / file if text is None else written(tmp_path, text, file)
    assert name in rules_of(path)


def test_every_rule_of_the_table_is_shown_by_a_file_or_a_snippet():
    kinds = {rule for _, rules in KINDS.values() for rule in rules}
    assert set(RULES) == {row["rule"] for row in FAULTY.values()} | set(SNIPPETS) | kinds | MESHES


def test_the_table_tells_what_why_and_cure():
    for name, row in RULES.items():
        assert row.name == name and row.severity in ("error", "warning", "note")
        assert len(row.what) > 10 and len(row.why) > 10 and len(row.cure) > 5


def test_a_finding_in_print():
    text = str(check_urdf(DATA / "faulty" / "limit_swapped.urdf")[0])
    assert text.startswith(
        "limit_swapped.urdf:118: error [limit-order] joint 'joint_2' / limit: lower 2.618 lies"
        " above upper -2.618\n    fix: swap"
    )


def one_joint(
    joint='<axis xyz="0 0 1"/>',
    link="",
    kind="revolute",
    limit='<limit lower="-1" upper="1" effort="1" velocity="1"/>',
    inertial=True,
):
    """A small right file; parts of it are replaced by what a test wants to see."""
    mass = (
        '<inertial><origin xyz="0 0 .1"/><mass value="1"/><inertia ixx=".004" ixy="0" ixz="0"'
        ' iyy=".004" iyz="0" izz=".001"/></inertial>'
    )
    return (
        '<robot name="x"><link name="a"/><link'
        f' name="b">{mass if inertial else ""}{link}</link><joint name="j" type="{kind}"><parent'
        f' link="a"/><child link="b"/>{joint}{limit}</joint></robot>'
    )


@pytest.mark.parametrize(
    "text",
    [
        one_joint(),
        one_joint('<axis xyz="0.7071 0 -0.7071"/>'),
        one_joint('<axis xyz="0.577 0.577 0.577"/>'),  # rounded, not wrong
        one_joint(
            '<axis xyz="0 0 1"/><origin rpy="4.71238898 0 6.2831853"/>'
        ),  # three quarters, a full turn
        one_joint(
            limit='<limit lower="-6.9813" upper="6.9813" effort="1" velocity="1"/>'
        ),  # 400 degrees, a real wrist
        one_joint(
            limit='<limit lower="-999999" upper="999999" effort="1" velocity="1"/>'
        ),  # "endless", in its own way
        one_joint(kind="continuous", limit=""),
        one_joint(kind="continuous", limit='<limit effort="1" velocity="1"/>'),
        one_joint(
            '<axis xyz="0 0 1"/><dynamics damping="0.1" friction="0"/><safety_controller'
            ' k_velocity="1"/>'
        ),
        one_joint(
            link='<visual><geometry><sphere radius=".1"/></geometry><material name="m"/></visual>'
        ).replace("</robot>", '<material name="m"><color rgba="1 0 0 1"/></material></robot>'),
        one_joint(link='<gazebo><anything at="all"/></gazebo>').replace(
            "</robot>", "<transmission><joint name='j'/></transmission><drake:x/></robot>"
        ),
        "<?xml version='1.0'?><!DOCTYPE robot>" + one_joint(),
        one_joint(inertial=False).replace(
            "</robot>",
            '<link name="c"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1"'
            ' iyz="0" izz="1"/></inertial></link><joint name="f" type="fixed"><parent'
            ' link="b"/><child link="c"/></joint></robot>',
        ),  # mass welded on
        one_joint().replace(
            "</robot>",
            '<link name="c"><inertial><mass value="1"/><inertia ixx="0" ixy="0" ixz="0" iyy="0"'
            ' iyz="0" izz="0"/></inertial></link><joint name="f" type="fixed"><parent'
            ' link="b"/><child link="c"/></joint></robot>',
        ),  # a point mass welded on
        one_joint().replace(
            '<link name="a"/>',
            '<link name="a"><visual><geometry><box size="30 30 .1"/></geometry></visual></link>',
        ),  # a floor
    ],
)
def test_what_is_right_is_not_found_fault_with(text, tmp_path):
    assert check_urdf(written(tmp_path, text)) == []


@pytest.mark.parametrize(
    "text, rule, severity, where",
    [
        (
            one_joint('<axis xyz="0 0 1"/><origin rpy="0 0 90"/>'),
            "degrees",
            "warning",
            "joint 'j' / origin",
        ),
        (
            one_joint(limit='<limit lower="-90" upper="90" effort="1" velocity="1"/>'),
            "limit-degrees",
            "warning",
            "joint 'j' / limit",
        ),
        (
            one_joint(limit='<limit lower="-1" upper="1"/>'),
            "limit-missing",
            "error",
            "joint 'j' / limit",
        ),
        (one_joint(kind="prismatic", limit=""), "limit-missing", "error", "joint 'j'"),
        (one_joint(inertial=False), "inertial-missing", "warning", "robot"),
        (
            one_joint(
                link=(
                    '<visual><origin xyz="0 0 400"/><geometry><box size=".1 .1'
                    ' .1"/></geometry></visual>'
                )
            ),
            "millimetres",
            "warning",
            "link 'b' / visual / origin",
        ),
        (
            one_joint(
                link='<visual><geometry><cylinder radius="20" length="250"/></geometry></visual>'
            ),
            "millimetres",
            "warning",
            "link 'b' / visual / geometry / cylinder",
        ),
        (one_joint(link='<weight value="3"/>'), "unknown-tag", "warning", "link 'b' / weight"),
        (one_joint(link='<origin xyz="0 0 1"/>'), "unknown-tag", "warning", "link 'b' / origin"),
        (
            one_joint(link="<visual><geometry/></visual>"),
            "incomplete",
            "error",
            "link 'b' / visual / geometry",
        ),
        (one_joint("<axis/>"), "attribute-missing", "error", "joint 'j' / axis"),
        (one_joint('<axis xyz="0 0 nan"/>'), "bad-number", "error", "joint 'j' / axis"),
        (
            one_joint('<axis xyz="0 0 1"/><mimic joint="j"/>'),
            "mimic-target",
            "error",
            "joint 'j' / mimic",
        ),
        (
            one_joint()
            .replace("<robot ", "<robot xmlns:xacro='x' ")
            .replace("</robot>", "<xacro:arm/></robot>"),
            "xacro-left",
            "error",
            "xacro:arm",
        ),
    ],
)
def test_each_fault_is_told_by_rule_severity_and_element(text, rule, severity, where, tmp_path):
    assert (rule, severity, where) in {
        (f.rule, f.severity, f.where) for f in check_urdf(written(tmp_path, text))
    }


def test_a_copied_inertia_that_fits_no_cylinder(tmp_path):
    """It keeps the triangle inequality, and is impossible for 1.5 kg inside r = .04, l = .25."""
    text = to_urdf(
        Arm(
            "rod",
            "standard",
            a=[0],
            alpha=[0],
            d=[0.25],
            theta=[0],
            radius=[0.04],
            mass=[1.5],
            qd_max=[1],
        )
    )
    right = 'ixx="0.0084125" ixy="0" ixz="0" iyy="0.0084125" iyz="0" izz="0.0012"'
    assert right in text and rules_of(written(tmp_path, text)) == []
    copied = text.replace(right, 'ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.005"')
    (finding,) = check_urdf(written(tmp_path, copied))
    assert (
        finding.rule == "inertia-too-large"
        and "0.005" in finding.message
        and "0.0024" in finding.message
    )


def test_the_gravity_torque_that_a_missing_inertial_origin_loses(tmp_path):
    """VALUES: 1.839375 N m."""
    pin = pytest.importorskip("pinocchio")
    base = np.eye(4)[[0, 2, 1, 3]] * [[1], [-1], [1], [1]]  # z of the joint lies level
    text = to_urdf(
        Arm(
            "rod",
            "standard",
            a=[0.25],
            alpha=[0],
            d=[0],
            theta=[0],
            radius=[0.04],
            mass=[1.5],
            qd_max=[1],
            base=base,
        )
    )
    mass = text.index("<mass")
    origin = text.rindex("<origin", 0, mass)
    lost = text[:origin] + text[text.index("<mass", origin) :]
    assert rules_of(written(tmp_path, lost)) == ["inertial-origin"]
    torque = [
        pin.computeGeneralizedGravity(model, model.createData(), np.zeros(1))[0]
        for model in map(pin.buildModelFromXML, (text, lost))
    ]
    assert abs(torque[0] - torque[1]) == pytest.approx(1.839375, abs=1e-9)


MESHES = {"mesh-unreadable"}  # rules that need a file beside the robot's


def test_wrong_meshes(tmp_path):
    def mesh(name, scale=""):
        return one_joint(
            link=f'<visual><geometry><mesh filename="{name}" {scale}/></geometry></visual>'
        )

    (tmp_path / "pkg" / "urdf").mkdir(parents=True)
    triangle = (
        "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 300 0 0\nvertex 0 0"
        " 100\nendloop\nendfacet\nendsolid\n"
    )
    (tmp_path / "pkg" / "part.stl").write_text(triangle)
    (tmp_path / "pkg" / "part.obj").write_text("v 0 0 0\nv 300 0 0\nv 0 0 100\nf 1 2 3\n")
    (tmp_path / "pkg" / "bad.stl").write_text("vertex a b c\n")
    (tmp_path / "pkg" / "package.xml").write_text("<package><name>arm_pkg</name></package>")

    def found(text):
        return rules_of(written(tmp_path / "pkg" / "urdf", text))

    right = 'scale="0.001 0.001 0.001"'
    assert (
        found(mesh("package://arm_pkg/part.stl", right))
        == []
        == found(mesh("package://pkg/part.obj", right))
        == found(mesh("../part.stl", right))
    )
    assert (
        found(mesh("package://arm_pkg/part.stl"))
        == ["mesh-scale"]
        == found(mesh("../part.obj"))
        == found(mesh("../part.stl", 'scale="1e-6 1e-6 1e-6"'))
    )
    assert (
        found(mesh("package://arm_pkg/Part.dae"))
        == ["mesh-missing"]
        == found(mesh("file:" + "//nowhere/part.stl"))
        == found(mesh("part" * 200))
    )
    assert (
        found(mesh("package://elsewhere/part.dae"))
        == ["mesh-unknown"]
        == found(mesh("model://elsewhere/part.dae"))
    )
    assert (
        found(mesh("package://elsewhere/part.stl", right)) == []
    )  # not the package's name, but the file is there
    assert found(mesh("../bad.stl")) == ["mesh-unreadable"]
    (tmp_path / "pkg" / "page.stl").write_text("<html>404: not found</html>")
    assert found(mesh("../page.stl")) == ["mesh-unreadable"]


@pytest.mark.parametrize("method", ["read_bytes", "stat", "is_dir", "read_text"])
def test_files_around_that_may_not_be_read_are_no_crash(method, tmp_path, monkeypatch):
    """A mesh, or the package.xml of its package: nothing is then said about its size."""
    right = getattr(Path, method)

    def refuse(path, *args, **keywords):
        if path.suffix in (".stl", ".xml") or path.name == "pkg":
            raise PermissionError(13, "Permission denied", str(path))
        return right(path, *args, **keywords)

    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "package.xml").write_text("<package><name>pkg</name></package>")
    (tmp_path / "pkg" / "part.stl").write_text("vertex 0 0 0\nvertex 300 0 0\nvertex 0 0 100\n")
    file = written(
        tmp_path / "pkg",
        one_joint(
            link='<visual><geometry><mesh filename="package://pkg/part.stl"/></geometry></visual>'
        ),
    )
    assert rules_of(file) == ["mesh-scale"]
    monkeypatch.setattr(Path, method, refuse)
    if (
        method == "stat"
    ):  # Path.is_file asks stat, too: let it say yes, as where only the size is refused
        monkeypatch.setattr(Path, "is_file", lambda path: path.suffix in (".stl", ".urdf"))
    assert rules_of(file) in ([], ["mesh-scale"], ["mesh-unknown"])


def test_the_functions_of_the_table_are_named_after_their_rules():
    """All but the five that are found while the file is read, without a function of their own."""
    other = {name for name, row in RULES.items() if row.test.__name__ != name}
    assert other == {"unreadable", "malformed-xml", "entity", "too-large", "xacro"}


# ---------------------------------------------------------------- hostile and enormous files

BOMB = (
    '<!DOCTYPE r [<!ENTITY e0 "x">'
    + "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 7))
    + ']>\n<robot name="&e6;"/>'
)


@pytest.mark.parametrize(
    "text, rule, line",
    [
        (BOMB, "entity", 1),  # 10^6 of them
        (
            "<!DOCTYPE r [\n"
            + "\n".join(f'<!ENTITY e{i} "x">' for i in range(200_000))
            + "]>\n<robot/>",
            "entity",
            2,
        ),
        ('<!DOCTYPE r [<!ENTITY x SYSTEM "secret.txt">]>\n<robot name="&x;"/>', "entity", 1),
        (
            '\n<!DOCTYPE r [<!ENTITY % x SYSTEM "http://localhost/x.dtd"> %x;]>\n<robot/>',
            "entity",
            2,
        ),
        ('<!DOCTYPE robot SYSTEM "http://localhost/x.dtd">\n<robot/>', "entity", 1),
        ("<robot>" + "<a>" * 300_000, "too-large", 1),
        ("<robot " + " ".join(f'a{i}="1"' for i in range(50_000)) + "/>", "too-large", 1),
        ("<robot>\n<link></robot>", "malformed-xml", 2),
        ("", "unreadable", None),
        (b"\0" * 1000, "unreadable", None),
        (b"<robot name='\xe9'/>", "malformed-xml", 1),
        ("<?xml version='1.0' encoding='klingon'?><robot/>", "malformed-xml", None),
        (b"\x89PNG\r\n\x1a\n", "unreadable", None),
        ("# An arm\n\nIts a < b\n", "unreadable", None),
        ("x<robot name='a'/>", "malformed-xml", 1),
        ("x<robot name='a'/>".encode("utf-16"), "malformed-xml", 1),  # a slip in the right file
    ],
)
def test_hostile_files_end_in_one_clear_finding_in_seconds(text, rule, line, tmp_path):
    start = time.process_time()
    findings = check_urdf(written(tmp_path, text))
    assert [(f.rule, f.line) for f in findings] == [
        (rule, line)
    ] and time.process_time() - start < 8
    with pytest.raises(ValueError, match="robot.urdf"):
        from_urdf(tmp_path / "robot.urdf")


def test_a_file_of_50_megabytes(tmp_path):
    (finding,) = check_urdf(
        written(tmp_path, b"<robot>" + b"<link name='a'/>" * 3_200_000 + b"</robot>")
    )
    assert finding.rule == "too-large" and "51 MB" in finding.message


def test_a_chain_of_ten_thousand_joints_takes_seconds(tmp_path):
    joints = "".join(
        f'<joint name="j{i}" type="{kind}"><parent link="l{i}"/><child link="l{i + 1}"/></joint>'
        for i, kind in zip(range(9999), ("fixed", "revolute") * 5000)
    )
    path = written(
        tmp_path,
        "<robot name='x'>"
        + "".join(f'<link name="l{i}"/>' for i in range(10_000))
        + joints
        + "</robot>",
    )
    start = time.process_time()
    alike = [f for f in check_urdf(path) if f.rule == "limit-missing"]
    assert len(alike) == 20 and "; and 4979 more like it, the last in line" in alike[-1].message
    assert time.process_time() - start < 20


def test_folders_and_odd_paths(tmp_path):
    for path in (tmp_path, tmp_path / "no\0thing.urdf", "x" * 5000):
        assert [f.rule for f in check_urdf(path)] == ["unreadable"]


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n", b"# An arm\n", b""])
def test_a_file_that_is_no_xml_is_not_told_to_mend_a_tag(data, tmp_path):
    (finding,) = check_urdf(written(tmp_path, data, "README.md"))
    assert (
        finding.message == "this is no XML file; is it the right one?"
        and finding.fix == "check the path"
    )


def test_what_is_no_file_is_called_what_it_is(tmp_path):
    messages = [check_urdf(path)[0].message for path in (tmp_path, tmp_path / "gone.urdf")]
    assert messages == ["a folder, not a file", "there is no such file"]
    if Path("/dev/null").exists():
        assert check_urdf("/dev/null")[0].message == "a device, not a file"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16-be", "utf-16-le"])
def test_a_byte_order_mark_or_none_is_still_xml(encoding, tmp_path):
    mark = "" if encoding == "utf-8-sig" else "\ufeff"
    assert check_urdf(written(tmp_path, (mark + "\n" + one_joint()).encode(encoding))) == []


def test_utf_16_is_read(tmp_path):
    assert (
        check_urdf(
            written(
                tmp_path, ('<?xml version="1.0" encoding="utf-16"?>' + one_joint()).encode("utf-16")
            )
        )
        == []
    )


# ---------------------------------------------------------------- xacro

XACRO = '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="x">\n{}\n</robot>'


@pytest.mark.parametrize(
    "text, message",
    [
        ('<xacro:include filename="$(find nowhere_pkg)/a.xacro"/><link name="a"/>', "nowhere_pkg"),
        ('<link name="$(arg prefix)a"/>', "prefix"),
        ("<xacro:macro name='m'><xacro:m/></xacro:macro><xacro:m/>", "recursion"),
        ('<xacro:include filename="gone.xacro"/>', "gone.xacro"),
    ],
)
def test_a_xacro_file_that_cannot_be_expanded_says_why(text, message, tmp_path):
    pytest.importorskip("xacro")
    (finding,) = check_urdf(written(tmp_path, XACRO.format(text), "robot.xacro"))
    assert finding.rule == "xacro" and message in finding.message


def test_xacro_is_expanded_and_then_checked(tmp_path):
    pytest.importorskip("xacro")
    (tmp_path / "pkg" / "urdf").mkdir(parents=True)
    written(
        tmp_path / "pkg" / "urdf",
        XACRO.format('<xacro:property name="turn" value="90"/>'),
        "units.xacro",
    )
    path = written(
        tmp_path / "pkg" / "urdf",
        XACRO.format(
            '<xacro:include filename="$(find pkg)/urdf/units.xacro"/>'
            + one_joint('<axis xyz="0 0 1"/><origin rpy="0 0 ${turn}"/>')[16:-8]
        ),
        "robot.urdf.xacro",
    )
    (finding,) = check_urdf(path)
    assert (finding.rule, finding.where, finding.file) == (
        "degrees",
        "joint 'j' / origin",
        "robot.urdf.xacro (expanded)",
    )


def test_without_the_xacro_package_the_file_is_said_to_be_unsupported(monkeypatch, capsys):
    import sys

    from course_lib.urdf_check import xacro

    monkeypatch.setitem(sys.modules, "xacro", None)
    assert xacro.main("robot.xacro") == 1
    assert "xacro files are not supported here" in capsys.readouterr().err


def test_an_entity_bomb_in_a_xacro_file_is_not_even_expanded(tmp_path):
    assert rules_of(written(tmp_path, BOMB, "robot.xacro")) == ["entity"]


@pytest.mark.full
def test_a_xacro_file_that_never_ends_is_stopped(tmp_path):
    pytest.importorskip("xacro")
    (finding,) = check_urdf(
        written(tmp_path, XACRO.format('<link name="${9**9**9}"/>'), "robot.xacro")
    )
    assert finding.rule == "xacro" and "not expanded within" in finding.message


# ---------------------------------------------------------------- kinds, with their neighbours

RATES = 'effort="1" velocity="1"'
SPHERE = '<visual><geometry><sphere radius=".1"/></geometry>{}</visual>'
HALF = 0.5**0.5


def limited(text):
    return one_joint(limit=f"<limit {text}/>")


def versioned(version, text):
    return text.replace("<robot ", f'<robot version="{version}" ')


def with_origin(text):
    return one_joint(f'<axis xyz="0 0 1"/><origin {text}/>')


def welded(link, first=""):
    """b carries another link by a fixed joint, .2 m along z."""
    more = f'<link name="c">{link}</link><joint name="w" type="fixed"><origin xyz="0 0 .2"/>'
    more += '<parent link="b"/><child link="c"/></joint></robot>'
    return one_joint(link=first).replace("</robot>", more)


def followers(*pairs, ranges=("-1", "1")):
    """Joints in a row, (name, whom it follows or None)."""
    links, joints, parent = '<link name="a"/>', "", "a"
    for i, (name, leader) in enumerate(pairs):
        low, high = ranges if i else ("-1", "1")
        mimic = f'<mimic joint="{leader}"/>' if leader else ""
        links += f'<link name="{name}_link">{MASS}</link>'
        joints += f"""
<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{name}_link"/>
<origin xyz="0 .1 {i}"/><axis xyz="0 1 0"/><limit lower="{low}" upper="{high}" {RATES}/>
{mimic}</joint>"""
        parent = f"{name}_link"
    return f'<robot name="x">{links}{joints}</robot>'


MASS = (
    '<inertial><origin xyz="0 0 .1"/><mass value="1"/><inertia ixx=".004" ixy="0" ixz="0"'
    ' iyy=".004" iyz="0" izz=".001"/></inertial>'
)
TINY = MASS.replace(".004", "{}").replace(".001", "{}")
GRAM = (
    '<inertial><mass value="0.001"/><inertia ixx="5e-7" ixy="0" ixz="0" iyy="5e-7" iyz="0"'
    ' izz="5e-7"/></inertial><collision><origin xyz="0 0 .023"/><geometry><sphere'
    ' radius=".03"/></geometry></collision>'
)
KINDS = {  # what it is: (text, {rule: severity} of all findings)
    "a blank in a mass": (one_joint().replace('"1"/><inertia', '" 1 "/><inertia'), {"number-form"}),
    "a blank in a radius": (
        one_joint(link=SPHERE.format("").replace(".1", " 0.1 ")),
        {"number-form"},
    ),
    "blanks around three": (with_origin('xyz=" 0  0 .2 "'), ()),
    "a tab": (with_origin('xyz="0\t0 .2"'), {"number-separator"}),
    "a new line": (with_origin('xyz="0 0\n.2"'), {"number-separator"}),
    "a tab in a comment": (one_joint().replace("</robot>", '<!-- xyz="0\t0" --></robot>'), ()),
    "a tab in a name": (one_joint().replace('name="x"', 'name="x\ty"'), ()),
    "a blank that does not break": (with_origin('xyz="0\u00a0 0 .2"'), {"number-form"}),
    "digits of another script": (with_origin('xyz="٠ 0 .2"'), {"number-form"}),
    "a full-width minus": (with_origin('xyz="−1 0 0"'), {"bad-number"}),
    "no range": (limited(f'lower="0" upper="0" {RATES}'), {"cannot-move"}),
    "no range elsewhere": (limited(f'lower=".5" upper=".5" {RATES}'), {"cannot-move"}),
    "soft limits that meet": (
        one_joint(
            '<axis xyz="0 0 1"/><safety_controller k_velocity="1" soft_lower_limit=".1"'
            ' soft_upper_limit=".1"/>'
        ),
        {"cannot-move"},
    ),
    "no gain": (
        one_joint('<axis xyz="0 0 1"/><safety_controller k_velocity="0"/>'),
        {"cannot-move"},
    ),
    "soft limits inside": (
        one_joint(
            '<axis xyz="0 0 1"/><safety_controller k_velocity="1" soft_lower_limit="-.9"'
            ' soft_upper_limit=".9"/>'
        ),
        (),
    ),
    "an effort below zero": (
        limited('lower="-1" upper="1" effort="-11" velocity="1"'),
        {"negative-rate"},
    ),
    "a speed below zero": (
        limited('lower="-1" upper="1" effort="1" velocity="-1"'),
        {"negative-rate"},
    ),
    "damping below zero": (
        one_joint('<axis xyz="0 0 1"/><dynamics damping="-1" friction="0"/>'),
        {"negative-rate"},
    ),
    "degrees a second": (limited('lower="-1" upper="1" effort="1" velocity="180"'), {"limit-odd"}),
    "a range of half a degree": (limited(f'lower="0" upper=".01" {RATES}'), {"limit-odd"}),
    "an honest fast motor": (limited('lower="-1" upper="1" effort="1" velocity="60"'), ()),
    "no such version": (versioned("1", one_joint()), {"version"}),
    "version 1.1": (versioned("1.1", one_joint()), ()),
    "limits left out in 1.2": (
        versioned("1.2", limited('lower="-1" upper="1" acceleration="5" jerk="50"')),
        (),
    ),
    "half a range in 1.2": (versioned("1.2", limited('upper="1"')), {"limit-missing"}),
    "half a range in 1.0": (limited(f'upper="1" {RATES}'), ()),
    "limits left out in 1.0": (limited('lower="-1" upper="1"'), {"limit-missing"}),
    "a quaternion in 1.1": (versioned("1.1", with_origin(f'quat_xyzw="0 {HALF} 0 {HALF}"')), ()),
    "a quaternion in 1.0": (with_origin(f'quat_xyzw="0 {HALF} 0 {HALF}"'), {"quaternion"}),
    "a quaternion and rpy": (
        versioned("1.1", with_origin('rpy="0 0 0" quat_xyzw="0 0 0 1"')),
        {"quaternion"},
    ),
    "a quaternion of length 2": (
        versioned("1.1", with_origin('quat_xyzw="0 0 0 2"')),
        {"quaternion"},
    ),
    "an empty name": (
        one_joint().replace('name="a"', 'name=""').replace('"a"', '""'),
        {"name-empty"},
    ),
    "an empty package": (
        one_joint(link='<visual><geometry><mesh filename="package:///a.stl"/></geometry></visual>'),
        {"name-empty"},
    ),
    "a joint from a link to itself": (
        welded("")
        .replace('<parent link="b"/><child link="c"/>', '<parent link="b"/><child link="b"/>')
        .replace('<link name="c"></link>', ""),
        {"self-loop"},
    ),
    "a circle of two": (followers(("j", "k"), ("k", "j")), {"mimic-circle", "mimic"}),
    "a circle of three": (
        followers(("j", "k"), ("k", "l"), ("l", "j")),
        {"mimic-circle", "mimic"},
    ),
    "a chain of followers": (followers(("j", None), ("k", "j"), ("l", "k")), {"mimic"}),
    "a follower that can't": (
        followers(("j", None), ("k", "j"), ranges=("-.5", ".5")),
        {"mimic-range", "mimic"},
    ),
    "a material that is nowhere": (
        one_joint(link=SPHERE.format('<material name="Flat"/>')),
        {"material"},
    ),
    "a texture that is not there": (
        one_joint(link=SPHERE.format('<material name="o"><texture filename="a.png"/></material>')),
        {"material"},
    ),
    "two materials of one name": (
        one_joint().replace(
            "</robot>", 2 * '<material name="m"><color rgba="1 0 0 1"/></material>' + "</robot>"
        ),
        {"material-twice"},
    ),
    "moments that are rounding": (
        one_joint(inertial=False, link=TINY.format("5e-21", "3.5e-20", "5.4e-20")),
        {"inertia-not-positive"},
    ),
    "a mass of a gram at the foot": (welded(GRAM), ()),
    "a drawn marker on a link that is not": (
        welded('<visual><geometry><sphere radius=".005"/></geometry></visual>'),
        (),
    ),
    "a base that never moves": (
        one_joint().replace(
            '<link name="a"/>',
            f'<link name="a">{MASS.replace(".1", "9")}<visual><geometry><box size=".1 .1 .1"/>'
            "</geometry></visual></link>",
        ),
        (),
    ),
    "an inertia as of a house, and no shape": (
        one_joint(inertial=False, link=TINY.format("1", "1", "1").replace('"1"/><', '".1"/><')),
        {"inertia-too-large"},
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_told_and_its_neighbours_are_not(kind, tmp_path):
    text, rules = KINDS[kind]
    assert {f.rule for f in check_urdf(written(tmp_path, text))} == set(rules)


@pytest.mark.parametrize(
    "text, said",
    [
        ("<sdf version='1.7'><model/></sdf>", "SDF"),
        ("<mujoco model='m'><worldbody/></mujoco>", "MJCF"),
        ("<urdf>" + one_joint() + "</urdf>", "there is a <robot> inside it"),
        (one_joint().replace("</robot>", "<!-- a --b -->\n</robot>"), 'a comment with "--"'),
    ],
)
def test_what_else_it_is_is_said(text, said, tmp_path):
    (finding,) = check_urdf(written(tmp_path, text))
    assert said in finding.message


def test_another_encoding_is_named(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_bytes(one_joint().replace("</robot>", "<!-- Länge --></robot>").encode("latin-1"))
    (finding,) = check_urdf(path)
    assert "byte 0xe4 is not UTF-8" in finding.message


@pytest.mark.parametrize("kind", ["a tab", "a blank that does not break", "no such version"])
def test_what_pinocchio_refuses_is_an_error(kind, tmp_path):
    pin = pytest.importorskip("pinocchio")
    text, _ = KINDS[kind]
    with pytest.raises(Exception, match="valid URDF"):
        pin.buildModelFromXML(text)
    assert "error" in {f.severity for f in check_urdf(written(tmp_path, text))}


def test_a_quaternion_is_read_as_pinocchio_reads_it(tmp_path):
    pin = pytest.importorskip("pinocchio")
    text = versioned("1.1", with_origin('xyz="0 0 .2" quat_xyzw=".1 .2 .3 .9"'))
    q = [0.3]
    model = pin.buildModelFromXML(text)
    data = model.createData()
    pin.framesForwardKinematics(model, data, np.array(q))
    theirs = data.oMf[model.getFrameId("b", pin.FrameType.BODY)].homogeneous
    assert np.abs(fk(from_urdf(written(tmp_path, text)), q) - theirs).max() < 1e-10


@pytest.mark.parametrize("count", [2000])
def test_many_links_welded_to_one_body_take_seconds(count, tmp_path):
    part = '<visual><geometry><box size=".1 .1 .1"/></geometry></visual>'
    links = "".join(f'<link name="l{i}">{MASS}{part}</link>' for i in range(count))
    joints = "".join(
        f'<joint name="f{i}" type="fixed"><parent link="b"/><child link="l{i}"/></joint>'
        for i in range(count)
    )
    start = time.process_time()
    check_urdf(written(tmp_path, one_joint().replace("</robot>", links + joints + "</robot>")))
    assert time.process_time() - start < 10


@pytest.mark.parametrize("data", [b"solid\n" + b"\n" * 300_000, b"v" + b" " * 300_000])
def test_a_mesh_of_blanks_takes_no_time(data, tmp_path):
    (tmp_path / "a.stl").write_bytes(data)
    link = '<visual><geometry><mesh filename="a.stl"/></geometry></visual>'
    start = time.process_time()
    assert rules_of(written(tmp_path, one_joint(link=link))) == ["mesh-unreadable"]
    assert time.process_time() - start < 5


def test_thousands_of_misspelt_names_take_seconds(tmp_path):
    bad = "".join(f'<lnik name="a{i}" naem="b"/>' for i in range(9000))
    start = time.process_time()
    check_urdf(written(tmp_path, one_joint().replace("</robot>", bad + "</robot>")))
    assert time.process_time() - start < 10


def test_a_link_with_a_collada_mesh_is_judged(tmp_path):
    places = "0 0 0 100 0 0 0 100 0 0 0 100"
    (tmp_path / "mm.dae").write_text(
        f"""<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema"><asset>
<unit meter="0.001"/></asset><library_geometries><geometry><mesh><source id="p">
<float_array>{places}</float_array>
</source><vertices id="v"><input semantic="POSITION" source="#p"/></vertices></mesh></geometry>
</library_geometries></COLLADA>"""
    )
    mesh = '<visual><geometry><mesh filename="mm.dae"/></geometry></visual>'
    right = one_joint(link=mesh)
    assert check_urdf(written(tmp_path, right)) == []
    heavy = right.replace('"1"/><inertia ixx=".004"', '"1"/><inertia ixx=".9"')
    heavy = heavy.replace('iyy=".004"', 'iyy=".9"')
    assert rules_of(written(tmp_path, heavy)) == ["inertia-too-large"]


# ---------------------------------------------------------------- real arms, each finding seen

LOOKED_AT = [  # files, rule, number of findings, why each of them is right
    ("mujoco/testdata/model.urdf", None, 0, "one link, nothing wrong with it"),
    ("*/ridgeback.urdf.xacro", None, 0, "a wheeled base, nothing wrong with it"),
    ("rtbdata/data/test.urdf", "unreadable", 1, "holds the word hello and nothing else"),
    ("*_macro.xacro", "macros-only", 1, "defines a macro that another file calls"),
    (
        "*/kuka_resources/urdf/common_*.xacro",
        "macros-only",
        1,
        "constants and materials for other files",
    ),
    ("*/accessories/hokuyo*.xacro", "macros-only", 1, "a macro"),
    ("*/accessories/microstrain*.xacro", "macros-only", 1, "a macro"),
    (
        "*/accessories/sick_*.xacro",
        "xacro",
        1,
        "includes sick_lms1xx.urdf.xacro, which is not shipped",
    ),
    ("*/qut_frankie_description/robots/*arm.xacro", "macros-only", 1, "a macro"),
    ("*/qut_frankie_description/robots/hand.xacro", "macros-only", 1, "a macro"),
    (
        "*/qut_frankie_description/robots/*.urdf.xacro",
        "inertial-missing",
        1,
        "not one <inertial> in the file",
    ),
    (
        "*/qut_frankie_description/robots/*hand*.urdf.xacro",
        "mimic",
        1,
        "the second finger follows the first",
    ),
    (
        "*/dual_panda_example.urdf.xacro",
        "mimic",
        1,
        "the second finger follows the first, on both arms",
    ),
    ("*/irb140.*", "inertial-missing", 1, "not one <inertial> in the file"),
    ("*/irb140QT.urdf", "inertial-missing", 1, "not one <inertial> in the file"),
    ("*/irb140.*", "limit-rate", 6, "effort is 0 at all six joints"),
    ("*/irb140QT.urdf", "limit-rate", 6, "effort is 0 at all six joints"),
    (
        "*/kuka_kr210/urdf/kr210l150.xacro",
        "xacro",
        1,
        "its macro file says <property>, not <xacro:property>, so that deg is not defined",
    ),
    ("*/kuka_kr*/urdf/kr*0.urdf", "limit-rate", 6, "effort is 0 at all six joints"),
    ("*/kuka_kr*/urdf/kr*pro.*", "limit-rate", 6, "effort is 0 at all six joints"),
    ("*/kuka_kr*/urdf/kr*_2.*", "limit-rate", 6, "effort is 0 at all six joints"),
    ("*/kuka_kr*/urdf/kr*sixx.xacro", "limit-rate", 6, "effort is 0 at all six joints"),
    ("*/kuka_kr3/urdf/kr3r540.xacro", "limit-rate", 6, "effort is 0 at all six joints"),
    ("*/kuka_kr5/urdf/kr5_arc.xacro", "limit-rate", 6, "effort is 0 at all six joints"),
    ("*/kuka_kr150/urdf/kr150_2.xacro", "inertial-missing", 1, "not one <inertial> in the file"),
    ("*/kuka_kr*/urdf/kr*sixx.xacro", "inertial-missing", 1, "not one <inertial> in the file"),
    ("*/kuka_kr3/urdf/kr3r540.xacro", "inertial-missing", 1, "not one <inertial> in the file"),
    ("*/lbr_iiwa_14_r820.*", "inertial-missing", 1, "not one <inertial> in the file"),
    ("*/lbr_iiwa_14_r820.*", "limit-rate", 7, "effort is 0 at all seven joints"),
    ("*/puma560_robot.*", "inertial-missing", 1, "not one <inertial> in the file"),
    ("*/puma560_robot.*", "limit-rate", 6, "velocity is 0 at all six joints"),
    (
        "*/al5d_robot.urdf",
        "inertia-not-positive",
        4,
        "six zeros as the inertia of link1 … link4, with masses of 44 to 207 g",
    ),
    (
        "*/al5d_robot.urdf",
        "inertial-origin",
        3,
        (
            "link2, link3, link4 reach 70 to 150 mm out from the joint, where the centre of mass"
            " is put"
        ),
    ),
    ("*/al5d_robot.urdf", "limit-rate", 4, "velocity is 0 at all four joints"),
    (
        "*/trossen_descriptions/urdf/[prvw]x[0-9]*.xacro",
        "inertia-too-large",
        3,
        "ee_arm, fingers, ee_gripper: 1 g with 1e-4 or 1e-3 kg m2, as at .3 or 1 m from the axis",
    ),
    (
        "*/trossen_descriptions/urdf/[prvw]x[0-9]*.xacro",
        "mimic",
        1,
        "the right finger follows the left one",
    ),
    (
        "*/trossen_descriptions/urdf/[pvw]xx*.xacro",
        "inertial-missing",
        1,
        "pan and tilt: not one <inertial> in the file",
    ),
    ("*/vx300.urdf.xacro", "material", 1, "trossen_black.png is not shipped"),
    (
        "*/xarm6.xacro",
        "inertia-triangle",
        2,
        "link2: .00306 + .0236 < .0269; link3: .00202 + .0043 < .00731 kg m2",
    ),
]


def shipped_files():
    """URDF and xacro files in installed packages: {path from site-packages: file}."""
    try:
        import rtbdata
    except ImportError:
        return {}
    packages = Path(rtbdata.__file__).parent.parent
    known = [packages / "rtbdata", packages / "mujoco"]
    files = [
        file for folder in known for end in ("*.urdf", "*.xacro") for file in folder.rglob(end)
    ]
    return {file.relative_to(packages).as_posix(): file for file in sorted(files)}


def expected(name):
    """{rule: count} by the table; lines on *_macro.xacro and the like name their files alone."""
    rows = [
        (pattern, rule, count) for pattern, rule, count, _ in LOOKED_AT if fnmatch(name, pattern)
    ]
    macros = [row for row in rows if row[1] == "macros-only"]
    return {rule: count for _, rule, count in macros or rows if rule}


@pytest.mark.parametrize("name", shipped_files())
def test_real_files_have_no_false_alarm(name):
    pytest.importorskip("xacro")
    assert any(fnmatch(name, row[0]) for row in LOOKED_AT), "a new file: look at its findings first"
    start = time.process_time()
    findings = check_urdf(shipped_files()[name])
    assert Counter(f.rule for f in findings) == expected(name)
    assert time.process_time() - start < 1.0


def test_there_are_dozens_of_real_files():
    pytest.importorskip("rtbdata")
    assert len(shipped_files()) > 60


# ---------------------------------------------------------------- fuzzing: mutated files

TOKENS = [
    "",
    "0",
    "-1",
    "1e308",
    "nan",
    "0 0 0",
    "1 2",
    "x",
    "'",
    '"',
    "<",
    ">",
    "/>",
    "&",
    "&#0;",
    "]]>",
    "fixed",
    "continuous",
    "floating",
    "base_link",
    "link_1",
    "é",
    "\0",
    "<link name='z'/>",
    "<joint/>",
    "<axis/>",
    "<inertial/>",
    "<mimic joint='a'/>",
    "<geometry/>",
    "package://",
    "${x}",
    "../" * 30,
]


def seeds():
    texts = [path.read_text(encoding="utf-8") for path in sorted(DATA.glob("*/*.urdf"))]
    return texts + [
        file.read_text(encoding="utf-8")
        for name, file in shipped_files().items()
        if name.endswith(".urdf")
    ]


@st.composite
def mutated(draw):
    """A file with a few cuts, doublings, swaps and replacements at tag and attribute borders."""
    import re

    text = draw(st.sampled_from(seeds()))
    for _ in range(draw(st.integers(1, 6))):
        borders = [match.start() for match in re.finditer(r"[<>\"= ]", text)] or [0]
        a, b = sorted((draw(st.sampled_from(borders)), draw(st.sampled_from(borders))))
        b = min(b, a + draw(st.integers(0, 300)))
        kind = draw(st.integers(0, 3))
        if kind == 0:
            text = text[:a] + text[b:]
        elif kind == 1:
            text = text[:b] + text[a:b] + text[b:]
        else:
            text = text[:a] + draw(st.sampled_from(TOKENS)) + text[a if kind == 2 else b :]
    return text


def survives(folder, text):
    path = written(
        folder, text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    )
    findings = check_urdf(path)
    assert all(
        isinstance(f, Finding) and f.rule in RULES and f.message and f.where for f in findings
    )
    try:
        assert from_urdf(path).n > 0
    except ValueError as error:
        assert "robot.urdf" in str(error)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(mutated())
def test_no_mutation_makes_it_crash(tmp_path_factory, text):
    survives(tmp_path_factory.mktemp("fuzz"), text)


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=400))
def test_no_bytes_make_it_crash(tmp_path_factory, data):
    survives(tmp_path_factory.mktemp("fuzz"), data)


@pytest.mark.parametrize(
    "text",
    [
        one_joint().replace('type="revolute"', 'type-1="revolute"'),
        "<robot name='x'><link/><link name='a'/></robot>",
        one_joint().replace("</robot>", "<link/></robot>"),
    ],
)
def test_joints_without_a_type_and_links_without_a_name_survive(tmp_path, text):
    survives(tmp_path, text)


@pytest.mark.full
def test_twenty_thousand_mutated_files_survive_where_warnings_are_errors():
    script = Path(__file__).resolve().parents[1] / "support" / "mutated_urdf.py"
    words = [sys.executable, "-W", "error", str(script)]
    ends = (0, 10_000, 20_000)
    runs = [
        subprocess.Popen(
            [*words, str(first), str(last)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(script.parents[1])},
        )
        for first, last in itertools.pairwise(ends)
    ]
    for run in runs:
        out, err = run.communicate()
        assert (out, err, run.returncode) == ("10000 files survive\n", "", 0)


# ---------------------------------------------------------------- the command


def test_the_command_prints_and_its_exit_status_tells_the_worst(capsys):
    good, note, warning, error = (
        str(DATA / name)
        for name in (
            "good/cobot6.urdf",
            "faulty/collision_elsewhere.urdf",
            "faulty/com_sign.urdf",
            "faulty/loop.urdf",
        )
    )
    assert command.main([good]) == 0 and f"{good}: nothing found" in capsys.readouterr().out
    assert command.main([note]) == 0 and "1 note" in capsys.readouterr().out
    assert (
        command.main([good, warning]) == 1
        and f"{warning}:70: warning [com-outside]" in capsys.readouterr().out
    )
    assert command.main([warning, error, good]) == 2 and command.main(["nothing.urdf"]) == 2


def test_the_command_prints_json(capsys):
    file = str(DATA / "faulty" / "loop.urdf")
    assert command.main(["--json", file]) == 2
    (finding,) = json.loads(capsys.readouterr().out)[file]
    assert (
        finding["rule"] == "loop"
        and finding["line"] == 153
        and set(finding) == {"rule", "severity", "where", "line", "message", "fix", "file"}
    )
    assert finding["file"] == file


def test_the_command_prints_the_path_as_it_was_given(tmp_path, monkeypatch, capsys):
    """Editors jump to it; the lesson's findings have the name alone."""
    (tmp_path / "arms").mkdir()
    file = written(tmp_path / "arms", "<robot>")
    monkeypatch.chdir(tmp_path)
    for name in ("arms/robot.urdf", "./arms/../arms/robot.urdf", str(file)):
        assert command.main([name]) == 2 and capsys.readouterr().out.startswith(
            f"{name}:1: error [malformed-xml]"
        )
    assert str(check_urdf(file)[0]).startswith("robot.urdf:1: ")


def test_the_command_says_that_a_line_is_of_the_expanded_file(tmp_path, capsys):
    pytest.importorskip("xacro")
    file = str(written(tmp_path, XACRO.format('<link name="a"/><link name="a"/>'), "robot.xacro"))
    assert command.main([file]) == 2 and f"{file} (expanded):" in capsys.readouterr().out


def test_the_command_takes_a_folder_and_counts_its_files(tmp_path, capsys):
    for name, text in (
        ("good.urdf", one_joint()),
        ("a/b/loop.urdf", "<robot>"),
        (".venv/other.urdf", "<robot>"),
        ("notes.txt", "x"),
        ("macros.xacro", XACRO.format('<xacro:property name="a" value="1"/>')),
        ("a/light.urdf", one_joint(inertial=False)),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        written(tmp_path, text, name)
    (tmp_path / "empty").mkdir()
    assert command.main([str(tmp_path)]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{tmp_path}: 4 files (*.urdf, *.xacro)"
    assert (
        lines[-1]
        == "4 files: 1 with errors, 1 with warnings but no error, 1 with notes only, 1 with no"
        " finding"
    )
    assert f"{tmp_path / 'good.urdf'}: nothing found" in lines and not any(
        ".venv" in line for line in lines
    )
    assert (
        command.main([str(tmp_path / "a")]) == 2
        and command.main([str(tmp_path / "good.urdf")]) == 0
    )
    assert "1 files" not in capsys.readouterr().out
    assert (
        command.main([str(tmp_path), "--json"]) == 2
        and len(json.loads(capsys.readouterr().out)) == 4
    )


def test_the_total_of_the_courses_own_files(capsys):
    assert command.main([str(DATA / "good"), str(DATA / "faulty" / "loop.urdf")]) == 2
    assert capsys.readouterr().out.endswith(
        f"\n{len(GOOD) + 1} files: 1 with errors, {len(GOOD)} with no finding\n"
    )


def test_the_command_expands_patterns_that_no_shell_expanded(tmp_path, capsys):
    for name in (
        ("arm1.urdf", "arm2.urdf", "base.urdf", "odd*.urdf")
        if Path("/dev/null").exists()
        else ("arm1.urdf", "arm2.urdf", "base.urdf")
    ):
        written(tmp_path, one_joint(), name)
    for pattern, count in (("arm*.urdf", 2), ("arm?.urdf", 2)):
        assert command.main([str(tmp_path / pattern)]) == 0
        assert capsys.readouterr().out.splitlines()[-1] == f"{count} files: {count} with no finding"
    if (tmp_path / "odd*.urdf").exists():  # a file that is really called so
        assert (
            command.main([str(tmp_path / "odd*.urdf")]) == 0
            and "odd*.urdf: nothing found" in capsys.readouterr().out
        )


def test_the_command_tells_the_truth_where_there_is_nothing_to_check(tmp_path, capsys):
    for name, sentence in (
        (tmp_path, "no *.urdf or *.xacro in this folder or below it"),
        (tmp_path / "gone.urdf", "there is no such file"),
        (tmp_path / "*.urdf", "no file fits this pattern"),
    ):
        assert command.main([str(name)]) == 2
        assert capsys.readouterr().out.startswith(
            f"{name}: error [unreadable] file: {sentence}\n    fix: check the path\n"
        )


def test_the_command_without_files_is_an_error():
    with pytest.raises(SystemExit) as stop:
        command.main([])
    assert stop.value.code == 2
