"""course_lib.arm: what an `Arm` takes and refuses, and the bodies along its links."""

import dataclasses
import itertools
import math
import re
import warnings

import numpy as np
import pytest
from support.engines import LIBRARY_ARMS, TOOLBOX_ARMS

from course_lib import arm_file
from course_lib.arm import Arm, from_toolbox, links_as_capsules, load_arm, solid_inertia
from course_lib.dh import to_modified
from course_lib.engines import toolbox_robot
from course_lib.kinematics import fk, link_frames

ROWS = dict(a=[1, 1], alpha=[0, 0], d=[0, 0], theta=[0, 0])
TWO = {"com": np.zeros((2, 3)), "inertia": [np.eye(3)] * 2}


def two(**changes):
    """An arm of two joints with other fields."""
    return Arm("x", "standard", **{**ROWS, **changes})


def test_every_library_arm_loads_under_its_own_name():
    for name in LIBRARY_ARMS:
        assert load_arm(name).name == name


def test_cobot6_is_the_arm_of_the_design():
    arm = load_arm("cobot6")
    table = np.column_stack([arm.a, arm.alpha / (np.pi / 2), arm.d])
    assert np.allclose(
        table, [[0, 1, 0.15], [0.25, 0, 0], [0.05, 1, 0], [0, -1, 0.28], [0, 1, 0], [0, 0, 0.08]]
    )
    assert np.allclose(arm.mass, [4, 3.5, 1.5, 1.2, 0.6, 0.3]) and np.allclose(
        arm.tau_max, [80, 80, 50, 25, 15, 10]
    )


def test_an_arm_cannot_be_changed_in_place():
    arm = load_arm("cobot6")
    with pytest.raises(ValueError):
        arm.a[0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        arm.name = "other"
    assert dataclasses.replace(arm, alpha=-arm.alpha).alpha[0] == -arm.alpha[0]


def test_an_arm_keeps_its_own_copy():
    a = np.array([1.0, 2.0])
    arm = two(a=a)
    a[:] = 7
    assert arm.a.tolist() == [1, 2] and arm.a.dtype == float


def test_every_array_of_an_arm_is_read_only():
    arm = load_arm("cobot6")
    for field in dataclasses.fields(Arm):
        value = getattr(arm, field.name)
        assert not isinstance(value, np.ndarray) or not value.flags.writeable, field.name


def test_arms_are_equal_to_themselves_only():
    assert two() != two() and len({two(), two()}) == 2


# ------------------------------------------------ the table of joint fields


def test_the_table_names_every_field_of_a_joint():
    others = {"name", "convention", "joint_types", "base", "tool", "flange"}
    fields = {field.name for field in dataclasses.fields(Arm)} - others
    assert {row.name for row in arm_file.JOINT_FIELDS} == fields


@pytest.mark.parametrize(
    "name, value",
    [
        ("q_min", -math.pi),
        ("q_max", math.pi),
        ("qd_max", math.inf),
        ("qdd_max", math.inf),
        ("radius", 0.03),
    ],
)
def test_what_is_left_out_has_a_default(name, value):
    """As the docstring of `Arm` says."""
    for arm in (two(), two(**{name: None})):
        assert np.array_equal(getattr(arm, name), [value, value])


@pytest.mark.parametrize("name", ["mass", "com", "inertia", "tau_max"])
def test_what_is_not_known_stays_unknown(name):
    assert getattr(two(), name) is None


def test_base_and_tool_are_the_identity_when_left_out():
    assert np.array_equal(two().base, np.eye(4)) and np.array_equal(two().tool, np.eye(4))
    assert two().joint_types == ("revolute", "revolute") and two().revolute.tolist() == [True, True]
    assert two(joint_types=["prismatic", "revolute"]).revolute.tolist() == [False, True]


@pytest.mark.parametrize("name", ["q_min", "q_max", "qd_max", "qdd_max"])
def test_limits_may_be_infinite(name):
    value = -math.inf if name == "q_min" else math.inf
    assert np.array_equal(getattr(two(**{name: [value, value]}), name), [value, value])


@pytest.mark.parametrize("name", ["a", "alpha", "d", "theta", "radius", "mass", "tau_max"])
def test_what_must_be_finite_is_told(name):
    with pytest.raises(ValueError, match=rf"^{name}\[1\]: inf, expected finite numbers"):
        two(**{name: [1, math.inf]})


@pytest.mark.parametrize("row", arm_file.JOINT_FIELDS[1:], ids=lambda row: row.name)
def test_every_field_tells_what_is_no_number_and_what_has_another_shape(row):
    shape = rf"\(2{''.join(f', {k}' for k in row.shape) or ','}\)"
    right = np.ones((2, *row.shape)) if row.name not in TWO else np.array(TWO[row.name])
    for value in (right[:1], np.ones((2, 7)), 1.0):
        told = re.escape(str(np.shape(value)))
        with pytest.raises(ValueError, match=rf"^{row.name}: shape {told}, expected {shape}"):
            two(**{row.name: value})
    for value in ("x", 1j):
        with pytest.raises(ValueError, match=rf"^{row.name}: .*expected real numbers"):
            two(**{row.name: [value, value]})
    wrong = right.copy()
    wrong[1] = np.nan
    place = "".join(f", {k}" for k in [0] * len(row.shape))
    with pytest.raises(ValueError, match=rf"^{row.name}\[1{place}\]: nan, expected finite numbers"):
        two(**{row.name: wrong})
    assert np.array_equal(getattr(two(**{row.name: right.tolist()}), row.name), right)


@pytest.mark.parametrize("name", ["qd_max", "qdd_max", "radius", "mass", "tau_max"])
@pytest.mark.parametrize("value", [0, -1])
def test_what_must_be_positive_is_told(name, value):
    with pytest.raises(ValueError, match=rf"^{name}\[1\]: {value}, expected a positive number"):
        two(**{name: [1e-9, value]})


@pytest.mark.parametrize("name", ["a", "alpha", "d", "theta", "q_min"])
def test_the_rest_may_be_negative(name):
    assert getattr(two(**{name: [-1, -2]}), name).tolist() == [-1, -2]


def test_limits_the_wrong_way_round_are_told():
    assert two(q_min=[0, 1], q_max=[0, 1]).q_max.tolist() == [0, 1]  # a joint that is locked
    with pytest.raises(ValueError, match=r"^q_min\[1\]: 1 lies above q_max\[1\] = 0.5"):
        two(q_min=[0, 1], q_max=[0, 0.5])


@pytest.mark.parametrize(
    "changes, message",
    [
        (
            dict(convention="craig"),
            r"convention: 'craig', expected one of \('standard', 'modified'",
        ),
        (dict(a=[]), "a: empty, expected one number a joint"),
        (dict(joint_types=("revolute",)), r"joint_types: \('revolute',\), expected 2 of"),
        (dict(joint_types=("revolute", "ball")), r"joint_types: .*'ball'\), expected 2 of"),
        (dict(theta=None), "theta: None, expected real numbers"),
        (dict(tool=2 * np.eye(4)), "tool: its 3x3 part is not a rotation"),
        (dict(tool=np.eye(4)[None]), r"tool: shape \(1, 4, 4\), expected \(4, 4\)"),
        (dict(base=np.eye(3)), r"base: shape \(3, 3\), expected"),
        (dict(base=np.diag([1, 1, -1, 1])), "base: .*det R is negative"),
        (dict(base=np.eye(4)[[0, 1, 2, 2]]), r"base: last row \[0.0, 0.0, 1.0, 0.0\], expected"),
        (
            dict(inertia=[np.eye(3), -np.eye(3)]),
            r"inertia\[1\]: -1, expected no negative principal moment",
        ),
    ],
)
def test_a_wrong_arm_is_told_by_field(changes, message):
    with pytest.raises(ValueError, match="^" + message):
        two(**changes) if "convention" not in changes else Arm("x", **changes, **ROWS)


def test_an_inertia_may_be_that_of_a_thin_rod():
    assert two(inertia=[np.diag([1, 1, 0])] * 2).inertia[0, 2, 2] == 0


# ------------------------------------------------ in print


def test_the_table_in_print_shows_each_row_and_where_q_enters():
    arm = Arm(
        "scara",
        "standard",
        a=[0.3, 0.2, 0],
        alpha=[0, np.pi, 0],
        d=[0.4, 0, 0.1],
        theta=[0, np.pi / 2, 0],
        joint_types=("revolute", "revolute", "prismatic"),
    )
    lines = str(arm).splitlines()
    assert lines[0] == "scara: 3 joints, standard DH" and len(lines) == 5
    assert lines[1].split() == ["joint", "a", "[m]", "alpha", "[°]", "d", "[m]", "theta", "[°]"]
    assert lines[2].split() == ["1", "0.30000", "0.00", "0.40000", "q", "+", "0.00"]
    assert len(set(map(len, lines[1:]))) == 1  # columns stand below each other
    assert "q + 90.00" in lines[3] and "180.00" in lines[3] and "q + 0.10000" in lines[4]


# ------------------------------------------------ bodies


def capsules_in_the_world(arm, q):
    frames = link_frames(arm, q)[1:]
    return [
        np.einsum("nij,nj->ni", frames[:, :3, :3], p) + frames[:, :3, 3]
        for p in links_as_capsules(arm)
    ]


@pytest.mark.parametrize("name", LIBRARY_ARMS)
def test_capsules_form_a_chain_and_do_not_depend_on_the_convention(name):
    """Drawn in the world, link i begins where link i-1 ends, whatever convention describes it."""
    arm = load_arm(name)
    q = np.random.default_rng(1).uniform(-2, 2, arm.n)
    for other in (arm, to_modified(arm)):
        start, end = capsules_in_the_world(other, q)
        assert np.allclose(start[1:], end[:-1], rtol=0, atol=1e-12)
        assert np.allclose(start[0], arm.base[:3, 3], rtol=0, atol=1e-12)
    if arm.convention == "standard":
        for ours, theirs in zip(
            capsules_in_the_world(arm, q), capsules_in_the_world(to_modified(arm), q)
        ):
            assert np.allclose(ours, theirs, rtol=0, atol=1e-12)


def test_solid_cylinders_have_the_inertia_that_pinocchio_gives_them():
    pin = pytest.importorskip("pinocchio")
    arm = load_arm("cobot6")
    start, end = links_as_capsules(arm)
    for i in range(arm.n):
        length = np.linalg.norm(end[i] - start[i])
        solid = (
            pin.Inertia.FromCylinder(arm.mass[i], arm.radius[i], length)
            if length > 1e-9
            else pin.Inertia.FromSphere(arm.mass[i], arm.radius[i])
        )
        assert np.allclose(
            np.linalg.eigvalsh(arm.inertia[i]),
            np.linalg.eigvalsh(solid.inertia),
            rtol=0,
            atol=1e-12,
        )
        axis = (end[i] - start[i]) / max(length, 1e-9)
        assert np.isclose(axis @ arm.inertia[i] @ axis, solid.inertia[2, 2] if length > 1e-9 else 0)
    assert np.allclose(arm.com, (start + end) / 2)


SLAB = """
name: slab
convention: modified
solid_cylinders: true
joints:
  - {a: 0, alpha: 0, d: 0.3, theta: 0, radius: 0.05, mass: 2}
  - {a: 0.4, alpha: 0, d: 0.1, theta: 0, radius: 0.05, mass: 1}
tool: {xyz: [0.2, 0, 0]}
"""


def test_solid_cylinders_have_their_centre_half_way_along_the_link(tmp_path):
    """Link 1 goes up .3 m to its frame and .4 m along x; link 2 up .1 m and .2 m along x."""
    path = tmp_path / "slab.yaml"
    path.write_text(SLAB, encoding="utf-8")
    arm = load_arm(path)
    assert np.allclose(arm.com, [[0.2, 0, -0.15], [0.1, 0, -0.05]], rtol=0, atol=1e-15)
    path.write_text(SLAB.replace(", mass: 2", "").replace(", mass: 1", ""), encoding="utf-8")
    with pytest.raises(ValueError, match="^slab.yaml: solid_cylinders: needs the mass of each"):
        load_arm(path)


@pytest.mark.parametrize("axis", [(0.3, 0, 0), (0.1, -0.2, 0.4), (0, 0, 1e-8), (0, 0, 0)])
def test_solid_inertia_is_that_of_many_small_pieces(axis):
    """By adding up m r^2 of points spread evenly over the cylinder, or the sphere."""
    mass, radius, axis = 2.0, 0.05, np.array(axis, dtype=float)
    cells = np.stack(np.meshgrid(*[(np.arange(60) + 0.5) / 30 - 1] * 3), axis=-1).reshape(-1, 3)
    length = np.linalg.norm(axis)
    if length == 0:
        points = radius * cells[np.linalg.norm(cells, axis=1) < 1]
    else:
        disc = cells[np.hypot(cells[:, 0], cells[:, 1]) < 1] * [radius, radius, length / 2]
        z = axis / length
        x = np.cross(z, [1, 0, 0] if abs(z[0]) < 0.9 else [0, 1, 0])
        x /= np.linalg.norm(x)
        points = disc @ np.stack([x, np.cross(z, x), z])
    squares = (points**2).sum(axis=1)
    inertia = mass * (squares.mean() * np.eye(3) - points.T @ points / len(points))
    assert np.allclose(
        solid_inertia(mass, radius, axis), inertia, rtol=0, atol=4e-3 * inertia.max()
    )


# ------------------------------------------------ from the toolbox


@pytest.mark.parametrize("name", TOOLBOX_ARMS)
def test_arms_from_the_toolbox_keep_base_tool_and_limits(name):
    rtb = pytest.importorskip("roboticstoolbox")
    robot = getattr(rtb.models.DH, name)()
    arm = from_toolbox(robot)
    assert arm.n == robot.n and arm.convention == ("modified" if robot.mdh else "standard")
    assert np.allclose(arm.base, robot.base.A) and np.allclose(arm.tool, robot.tool.A)
    for i, link in enumerate(robot.links):
        expected = (
            (0, 1)
            if link.qlim is None and not link.isrevolute
            else (-np.pi, np.pi)
            if link.qlim is None
            else link.qlim
        )
        assert np.allclose([arm.q_min[i], arm.q_max[i]], expected)


def test_an_arm_survives_the_way_through_the_toolbox():
    pytest.importorskip("roboticstoolbox")
    slide = Arm(
        "slide",
        "modified",
        a=[0.1, 0.2],
        alpha=[0.3, 0.4],
        d=[0.5, 0.6],
        theta=[0.7, 0.8],
        joint_types=("prismatic", "revolute"),
        q_min=[-0.1, -1],
        q_max=[0.2, 2],
    )
    for arm in (slide, *map(load_arm, LIBRARY_ARMS)):
        back = from_toolbox(toolbox_robot(arm))
        assert (back.name, back.convention) == (arm.name, arm.convention)
        assert back.joint_types == arm.joint_types
        for name in ("a", "alpha", "d", "theta", "q_min", "q_max", "base", "tool"):
            assert np.allclose(getattr(back, name), getattr(arm, name), rtol=0, atol=1e-15), name


def test_toolbox_joints_without_limits_get_the_usual_ones():
    rtb = pytest.importorskip("roboticstoolbox")
    arm = from_toolbox(rtb.DHRobot([rtb.PrismaticDH(), rtb.RevoluteDH(a=1)], name="two"))
    assert np.array_equal([arm.q_min, arm.q_max], [[0, -np.pi], [1, np.pi]])


@pytest.mark.parametrize("modified", [False, True])
def test_joints_that_the_toolbox_turns_backwards_are_read(modified):
    rtb = pytest.importorskip("roboticstoolbox")
    turn, slide = (
        (rtb.RevoluteMDH, rtb.PrismaticMDH) if modified else (rtb.RevoluteDH, rtb.PrismaticDH)
    )
    SE3 = pytest.importorskip("spatialmath").SE3
    rng = np.random.default_rng(12)
    for back in itertools.product([False, True], repeat=4):
        a, d, offset, alpha = rng.uniform(-3, 3, (4, 4))
        rows = [
            slide(a=a[i], alpha=alpha[i], theta=d[i], offset=offset[i], flip=flip)
            if i == 2
            else turn(a=a[i], alpha=alpha[i], d=d[i], offset=offset[i], flip=flip)
            for i, flip in enumerate(back)
        ]
        robot = rtb.DHRobot(rows, base=SE3(1, 2, 3), tool=SE3.Rx(0.3))
        for q in rng.uniform(-2, 2, (3, 4)):
            assert np.allclose(fk(from_toolbox(robot), q), robot.fkine(q).A, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["Jaco", "Mico"])
def test_real_arms_with_backward_joints_agree_with_the_toolbox(name):
    robot = getattr(pytest.importorskip("roboticstoolbox").models.DH, name)()
    for q in np.random.default_rng(13).uniform(-3, 3, (20, robot.n)):
        assert np.allclose(fk(from_toolbox(robot), q), robot.fkine(q).A, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "change, told",
    [
        ({"alpha": [0, 90]}, r"alpha\[1\]: 90.*degrees"),
        ({"theta": [-180, 0]}, r"theta\[0\]: -180.*degrees"),
        ({"d": [0, 425]}, r"d\[1\]: 425.*millimetres"),
        ({"a": [-612, 0.4]}, r"a\[0\]: -612.*millimetres"),
    ],
)
def test_what_is_probably_in_other_units_warns(change, told):
    table = {"a": [0.5, 0.4], "alpha": [0, 0], "d": [0, 0], "theta": [0, 0]}
    with warnings.catch_warnings(action="error"):
        Arm("sound", "standard", **table | {"d": [19, 0], "theta": [2 * np.pi, 0]})
    with pytest.warns(UserWarning, match=told):
        Arm("odd", "standard", **table | change)


def test_toolbox_robots_without_a_table_are_refused():
    rtb = pytest.importorskip("roboticstoolbox")
    with pytest.raises(ValueError, match="not a DHRobot"):
        from_toolbox(rtb.models.ETS.Planar_Y())
