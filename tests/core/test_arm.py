import dataclasses

import numpy as np
import pytest
import yaml
from support.engines import LIBRARY_ARMS, TOOLBOX_ARMS

from course_lib.arm import ARMS, Arm, from_toolbox, links_as_capsules, load_arm
from course_lib.dh import to_modified, to_standard
from course_lib.engines import pinocchio_model
from course_lib.kinematics import link_frames


def test_every_arm_file_loads_under_its_own_name():
    assert sorted(p.stem for p in ARMS.glob("*.yaml")) == sorted(LIBRARY_ARMS)
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


def test_changing_the_convention_moves_the_bodies_along():
    """Centres of mass and inertias in the world do not know about frames."""
    arm = load_arm("cobot6")
    q = np.random.default_rng(2).uniform(-2, 2, (20, arm.n))

    def centre_and_inertia(arm):
        frames = link_frames(arm, q)[:, 1:]
        R = frames[..., :3, :3]
        com = np.einsum("...ij,...j->...i", R, arm.com) + frames[..., :3, 3]
        return com, R @ arm.inertia @ np.swapaxes(R, -1, -2)

    for other in (to_modified(arm), to_standard(to_modified(arm))):
        for ours, theirs in zip(centre_and_inertia(arm), centre_and_inertia(other)):
            assert np.allclose(ours, theirs, rtol=0, atol=1e-12)


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


def test_toolbox_robots_that_no_dh_row_can_hold_are_refused():
    rtb = pytest.importorskip("roboticstoolbox")
    flipped = rtb.DHRobot([rtb.RevoluteDH(a=1, flip=True)], name="flipped")
    with pytest.raises(ValueError, match="'flipped'.*backwards"):
        from_toolbox(flipped)
    with pytest.raises(ValueError, match="not a DHRobot"):
        from_toolbox(rtb.models.ETS.Planar_Y())


GOOD = {
    "name": "x",
    "convention": "standard",
    "joints": [dict(a=1, alpha="pi/2", d=0, theta=0)] * 2,
}


def edited(**changes):
    return {**GOOD, **changes}


@pytest.mark.parametrize(
    "content, message",
    [
        (edited(convention="craig"), r"convention: 'craig', expected one of"),
        (edited(joints=[]), r"joints: \[\], expected a list"),
        (edited(joints=[dict(a=1, alpha=0, d=0)]), r"joints\[0\]: field 'theta' is missing"),
        (
            edited(joints=[dict(a=1, alpha="pi/x", d=0, theta=0)]),
            r"joints\[0\].alpha: 'pi/x', expected a number or a multiple of pi",
        ),
        (
            edited(joints=[dict(a="1", alpha=0, d=0, theta=0)]),
            r"joints\[0\].a: '1', expected a number",
        ),
        (edited(joints=[dict(a=True, alpha=0, d=0, theta=0)]), r"joints\[0\].a: True"),
        (
            edited(joints=[dict(a=1, alpha=0, d=0, theta=0, q_mim=1)]),
            r"unknown field 'q_mim', did you mean 'q_min'",
        ),
        (
            edited(joints=[dict(a=1, alpha=0, d=0, theta=0, q_min=1, q_max=-1)]),
            r"q_min\[0\]: 1 lies above q_max\[0\] = -1",
        ),
        (
            edited(joints=[dict(a=1, alpha=0, d=0, theta=0, radius=0)]),
            r"radius\[0\]: 0, expected a positive",
        ),
        (
            edited(joints=[dict(a=1, alpha=0, d=0, theta=0, type="ball")]),
            r"joint_types: \('ball',\)",
        ),
        (
            edited(
                joints=[dict(a=1, alpha=0, d=0, theta=0, mass=1), dict(a=1, alpha=0, d=0, theta=0)]
            ),
            r"joints\[1\].mass: missing",
        ),
        (edited(tool={"xyz": [0, 0]}), r"tool.xyz: .*expected three numbers"),
        (edited(solid_cylinders=True), r"solid_cylinders: needs the mass"),
        (
            edited(joints=[dict(a=[1, 2], alpha=0, d=0, theta=0)]),
            r"joints\[0\].a: \[1, 2\], expected one number",
        ),
        (
            edited(joints=[dict(a=1, alpha="pi/0", d=0, theta=0)]),
            r"joints\[0\].alpha: 'pi/0', which divides by zero",
        ),
        (edited(joints=[dict(a=1, alpha=0, d=0, theta=0, type=["revolute"])]), r"joint_types: "),
        (edited(jionts=1), r"file: unknown field 'jionts', did you mean 'joints'"),
        ("text", r"file: 'text', expected fields"),
        (
            edited(joints=[dict(a=float("nan"), alpha=0, d=0, theta=0)]),
            r"a: .*expected finite numbers",
        ),
    ],
)
def test_a_wrong_file_is_told_by_file_field_and_value(tmp_path, content, message):
    path = tmp_path / "wrong.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    with pytest.raises(ValueError, match=r"wrong\.yaml: .*" + message):
        load_arm(path)


def test_unreadable_and_unknown_files(tmp_path):
    path = tmp_path / "broken.yaml"
    path.write_text("joints: [", encoding="utf-8")
    with pytest.raises(ValueError, match="broken.yaml: not readable as YAML"):
        load_arm(path)
    with pytest.raises(FileNotFoundError, match="no arm 'cobot7': .*cobot6"):
        load_arm("cobot7")


@pytest.mark.parametrize(
    "value, radians",
    [
        ("pi", np.pi),
        ("-pi/2", -np.pi / 2),
        ("3*pi/4", 3 * np.pi / 4),
        ("2 * pi", 2 * np.pi),
        (0.5, 0.5),
        ("1e-3", 0.001),
        ("-2.5E1", -25),
    ],
)
def test_angles_in_a_file_may_be_multiples_of_pi(tmp_path, value, radians):
    path = tmp_path / "arm.yaml"
    path.write_text(
        yaml.safe_dump(edited(joints=[dict(a=0, alpha=value, d=0, theta=0)])), encoding="utf-8"
    )
    assert load_arm(path).alpha[0] == pytest.approx(radians, abs=1e-15)


@pytest.mark.parametrize(
    "changes, message",
    [
        (dict(a=[]), "a: empty"),
        (dict(d=[0]), r"d: shape \(1,\), expected \(2,\)"),
        (dict(theta=["x", 0]), "theta: .*expected numbers"),
        (dict(tool=2 * np.eye(4)), "tool: its 3x3 part is not a rotation"),
        (dict(base=np.diag([1, 1, -1, 1])), "base: .*det R is negative"),
        (
            dict(
                base=np.eye(4) + np.eye(4)[[3, 0, 1, 2]] * 0 + np.outer([0, 0, 0, 1], [1, 0, 0, 0])
            ),
            "base: last row",
        ),
        (dict(theta=None), r"theta: shape \(\), expected \(2,\)"),
        (dict(inertia=[-np.eye(3), np.eye(3)]), r"inertia\[0\]: a negative principal moment"),
        (dict(com=np.zeros((3, 2))), r"com: shape \(3, 2\), expected \(2, 3\)"),
    ],
)
def test_a_wrong_arm_is_told_by_field(changes, message):
    good = dict(a=[1, 1], alpha=[0, 0], d=[0, 0], theta=[0, 0])
    with pytest.raises(ValueError, match=message):
        Arm("x", "standard", **{**good, **changes})


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
    assert lines[0] == "scara: 3 joints, standard DH"
    assert "q + 90.00" in lines[3] and "180.00" in lines[3] and "q + 0.10000" in lines[4]


def test_pinocchio_model_has_one_joint_a_row():
    pytest.importorskip("pinocchio")
    assert pinocchio_model(load_arm("panda"))[0].nq == 7
