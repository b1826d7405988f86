"""`to_urdf` and `from_urdf`: file and table are the same arm, by other engines; clear errors."""

import itertools
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import RigidTransform, Rotation
from support.engines import LIBRARY_ARMS
from support.strategies import arm_and_q

from course_lib.arm import Arm, load_arm
from course_lib.dh import dh_matrix, to_modified, to_standard
from course_lib.engines import pinocchio_model
from course_lib.kinematics import fk
from course_lib.urdf import from_urdf, to_urdf
from course_lib.urdf_check import check_urdf, expand_xacro, origin_of, read_xml

DATA = Path(__file__).resolve().parents[2] / "data" / "urdf"
few = settings(max_examples=30, deadline=None)
# Real arms of rtb-data: file, tip, name of the toolbox's own model of it, how well FK has to agree
# (see from_urdf).
REAL = [
    ("xacro/abb_irb140_description/urdf/irb140.urdf", "tool0", None, 1e-9),
    ("xacro/kuka_description/kuka_lbr_iiwa/urdf/lbr_iiwa_14_r820.xacro", "tool0", "LBR", 1e-9),
    ("xacro/kuka_description/kuka_kr5/urdf/kr5_arc.xacro", "tool0", None, 1e-9),
    ("xacro/kuka_description/kuka_kr210/urdf/kr210l150.urdf", "tool0", None, 1e-9),
    ("xacro/unimation_puma560_description/urdf/puma560_robot.urdf", "link7", None, 1e-9),
    ("xacro/unimation_puma560_description/urdf/puma560_robot.urdf.xacro", "link7", "Puma560", 1e-9),
    (
        "xacro/lynxmotion_al5d_description/urdf/al5d_robot.urdf",
        "link4",
        "AL5D",
        1e-8,
    ),  # axes 5.9e-10 rad off parallel
    ("xacro/qut_frankie_description/robots/panda_arm_hand.urdf.xacro", "panda_hand", "Panda", 1e-9),
    ("xacro/trossen_descriptions/urdf/wx250s.urdf.xacro", "/ee_gripper_link", "wx250s", 1e-9),
    ("xacro/trossen_descriptions/urdf/px100.urdf.xacro", "/ee_gripper_link", "px100", 1e-9),
    ("armer_xarm/data/xacro/robots/xarm6/xarm6.xacro", None, None, 1e-9),
]


def real(name):
    return Path(pytest.importorskip("rtbdata").__file__).parent / name


def text_of(path):
    return (
        expand_xacro(path).decode() if path.suffix == ".xacro" else path.read_text(encoding="utf-8")
    )


def written(tmp_path, text):
    path = tmp_path / "robot.urdf"
    path.write_text(text, encoding="utf-8")
    return path


def file_model(text, tip):
    """Pinocchio model of the chain to `tip`, other joints held at zero; id of the tip's frame."""
    import pinocchio as pin

    model = pin.buildModelFromXML(text)
    joint = model.frames[model.getFrameId(tip, pin.FrameType.BODY)].parentJoint
    chain = []
    while joint:
        chain.append(joint)
        joint = model.parents[joint]
    others = [j for j in range(1, model.njoints) if j not in chain]
    model = pin.buildReducedModel(model, others, pin.neutral(model))
    return model, model.getFrameId(tip, pin.FrameType.BODY)


def file_fk(text, tip, q):
    import pinocchio as pin

    model, frame = file_model(text, tip)
    data, poses = model.createData(), []
    for q_k in q:
        pin.framesForwardKinematics(model, data, full_q(model, q_k))
        poses.append(data.oMf[frame].homogeneous.copy())
    return np.array(poses)


def full_q(model, q):
    """Pinocchio keeps a continuous joint as (cos, sin)."""
    return np.concatenate(
        [
            [angle] if joint.nq == 1 else [np.cos(angle), np.sin(angle)]
            for joint, angle in zip(list(model.joints)[1:], q)
        ]
    )


def chain_text(*joints, links=None, head="", name="chain"):
    """A URDF of links a, b, c … joined in a row by joints of the given kind and inside."""
    names = "abcdefgh"[: len(joints) + 1]
    text = "".join(links or [f'<link name="{n}"/>\n' for n in names])
    for i, (kind, inside) in enumerate(joints):
        text += (
            f'<joint name="j{i + 1}" type="{kind}">\n<parent link="{names[i]}"/><child'
            f' link="{names[i + 1]}"/>\n{inside}\n</joint>\n'
        )
    return f'<robot name="{name}">\n{head}{text}</robot>\n'


LIMIT = '<limit lower="-1" upper="2" effort="3" velocity="4"/>'


# ---------------------------------------------------------------- writing


@few
@given(arm_and_q())
def test_what_is_written_moves_like_the_arm_in_pinocchio(case):
    pytest.importorskip("pinocchio")
    arm, q = case
    assert np.allclose(file_fk(to_urdf(arm), "tcp", q), fk(arm, q), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", LIBRARY_ARMS)
def test_library_arms_survive_the_round_trip(name, tmp_path):
    arm = load_arm(name)
    q = np.random.default_rng(2).uniform(-np.pi, np.pi, (500, arm.n))
    for one in (to_standard(arm), to_modified(arm)):
        back = from_urdf(written(tmp_path, to_urdf(one)))
        assert np.abs(fk(back, q) - fk(arm, q)).max() < 1e-12
        for field in ("q_min", "q_max", "qd_max"):
            assert np.allclose(getattr(back, field), getattr(arm, field), rtol=1e-14)
        assert back.name == name and back.joint_types == arm.joint_types


@few
@given(arm_and_q())
def test_random_arms_survive_the_round_trip(tmp_path_factory, case):
    arm, q = case
    assume(
        all(abs(np.sin(alpha)) > 1e-2 or abs(np.sin(alpha)) < 1e-15 for alpha in arm.alpha)
    )  # the others: next test
    back = from_urdf(written(tmp_path_factory.mktemp("round"), to_urdf(arm)))
    assert np.allclose(fk(back, q), fk(arm, q), rtol=0, atol=1e-11)
    assert np.array_equal(back.q_min, np.float64([float(f"{x:.15g}") for x in arm.q_min]))


@pytest.mark.parametrize("tilt", 10.0 ** np.arange(-15, -1))
def test_almost_parallel_axes_stay_within_the_stated_error(tilt, tmp_path):
    arm = replace(
        load_arm("planar3"),
        alpha=[tilt, -0.7 * tilt, 0.3],
        d=[0.1, 0.2, 0.1],
        theta=[0.5, 1.0, 0.2],
    )
    q = np.random.default_rng(3).uniform(-np.pi, np.pi, (300, 3))
    error = np.abs(fk(from_urdf(written(tmp_path, to_urdf(arm))), q) - fk(arm, q)).max()
    assert error < (1e-7 if 1e-10 < tilt < 2e-6 else 1e-9)


@pytest.mark.parametrize("span", [0.4, 3.0])
def test_nearly_parallel_axes_in_a_row_share_out_their_errors(span, tmp_path):
    """Two pairs of axes, each off parallel by its own angle: one may need to count as parallel
    while the other must not. No d is longer than a crossing at 1e-9 rad would make it."""
    tilts = [0, 1e-15, 1e-12, 1e-10, 3e-9, 3e-8, 1e-7, 1e-4]
    q = np.random.default_rng(9).uniform(-np.pi, np.pi, (20, 3))
    for tilt, other in itertools.product(tilts, tilts):
        joints = [
            ("revolute", f'<origin xyz=".1 .2 .3" rpy=".3 -.4 .5"/><axis xyz="0 0 1"/>{LIMIT}'),
            ("revolute", f'<origin xyz="{span} 0 0" rpy="{tilt} 0 0"/><axis xyz="0 0 5"/>{LIMIT}'),
            ("revolute", f'<origin xyz="0 {span} 0" rpy="0 {other} 0"/><axis xyz="0 0 1"/>{LIMIT}'),
        ]
        text = chain_text(*joints)
        arm = from_urdf(written(tmp_path, text))
        hard = any(1e-10 < angle < 2e-6 for angle in (tilt, other))
        error = np.abs(fk(arm, q) - by_hand(span, tilt, other, q)).max()
        assert error < (1e-7 if hard else 2e-9), (tilt, other)
        assert np.abs(arm.d).max() < 2e9 * span, (tilt, other)


@pytest.mark.parametrize("off", [0, 3e-10, -3e-10, 3e-8, -3e-8, 0.1, -0.1])
@pytest.mark.parametrize("phi", [0.4, 1.2, 2.5, -0.7, -2.9])
@pytest.mark.parametrize("alpha", [0.8, -0.8, 2.5])
def test_x_points_to_the_next_axis_or_forward_where_they_meet(off, phi, alpha, tmp_path):
    """The second axis: phi about z, off along x, up .3 m, alpha about x. So a is |off|."""
    p = [off * np.cos(phi), off * np.sin(phi), 0.3]
    turn = Rotation.from_euler("ZX", [phi, alpha])
    origin = '<origin xyz="{} {} {}" rpy="{} {} {}"/>'.format(*p, *turn.as_euler("xyz"))
    text = chain_text(
        ("revolute", f'<axis xyz="0 0 1"/>{LIMIT}'),
        ("revolute", f'{origin}<axis xyz="0 0 1"/>{LIMIT}'),
    )
    arm = from_urdf(written(tmp_path, text))
    assert arm.d[0] == pytest.approx(0.3, abs=1e-12)
    if abs(off) > 1e-9:
        assert arm.a[0] == pytest.approx(abs(off), abs=1e-12)
    else:
        assert abs(arm.a[0]) < 1e-9 and np.cos(arm.theta[0]) > 0
    q = np.random.default_rng(1).uniform(-3, 3, (5, 2))
    about_z = [Rotation.from_rotvec(np.outer(q_i, [0, 0, 1])) for q_i in q.T]
    truth = np.tile(np.eye(4), (5, 1, 1))
    truth[:, :3, :3] = (about_z[0] * turn * about_z[1]).as_matrix()
    truth[:, :3, 3] = about_z[0].apply(p)
    assert np.allclose(fk(arm, q), truth, rtol=0, atol=1e-9)


@pytest.mark.parametrize("span", [0, *10.0 ** np.arange(-11, 0)])
@pytest.mark.parametrize("back", [False, True])
def test_parallel_axes_may_lie_as_close_as_they_like(span, back, tmp_path):
    """The second axis points up, or down."""
    origin = f'<origin xyz="0 {span} .2" rpy="{np.pi * back} 0 0"/>'
    text = chain_text(
        ("revolute", f'<axis xyz="0 0 1"/>{LIMIT}'),
        ("revolute", f'{origin}<axis xyz="0 0 1"/>{LIMIT}'),
    )
    arm = from_urdf(written(tmp_path, text))
    turn = 1.3 - 0.4 if back else 1.3 + 0.4
    T = fk(arm, [1.3, 0.4])
    assert np.allclose(T[:3, 0], [np.cos(turn), np.sin(turn), 0], rtol=0, atol=1e-9)
    assert np.allclose(T[:3, 3], [-span * np.sin(1.3), span * np.cos(1.3), 0.2], rtol=0, atol=1e-9)


SKEW = Arm(
    "skew",
    "standard",
    a=[0.1, 0.2, 0.15],
    alpha=[0.5, -0.7, 0.4],
    d=[0.3, -0.1, 0.05],
    theta=[0.3, -0.4, 1.0],
)


@pytest.mark.parametrize(
    "arm", [SKEW, *map(load_arm, ("cobot6", "planar2", "planar3"))], ids=lambda arm: arm.name
)
def test_a_standard_table_comes_back_as_it_was(arm, tmp_path):
    back = from_urdf(written(tmp_path, to_urdf(arm)))
    for field in ("a", "alpha", "d", "theta", "base", "tool"):
        assert np.allclose(getattr(back, field), getattr(arm, field), rtol=0, atol=1e-12), field


def by_hand(span, tilt, other, q):
    """Tip poses (N, 4, 4) of that chain from SciPy's transforms."""
    xyz = np.array([[0.1, 0.2, 0.3], [span, 0, 0], [0, span, 0]])
    rpy = np.array([[0.3, -0.4, 0.5], [tilt, 0, 0], [0, other, 0]])
    T = RigidTransform.identity()
    for p, turn, q_i in zip(xyz, Rotation.from_euler("xyz", rpy), q.T):
        about_z = RigidTransform.from_rotation(Rotation.from_rotvec(np.outer(q_i, [0, 0, 1])))
        T = T * RigidTransform.from_components(p, turn) * about_z
    return T.as_matrix()


def test_a_modified_row_with_alpha_and_theta_is_not_rpy_alpha_0_theta(tmp_path):
    """alpha and theta turn about moved axes, rpy about fixed ones."""
    arm = Arm("row", "modified", a=[0.3], alpha=[0.7], d=[0.2], theta=[0.4])
    origin = read_xml(written(tmp_path, to_urdf(arm))).find("joint/origin")
    assert np.allclose(
        [float(x) for x in origin.get("xyz").split()], [0.3, -0.128844, 0.152968], atol=5e-7
    )
    assert np.allclose(
        [float(x) for x in origin.get("rpy").split()], [0.659809, -0.253579, 0.312757], atol=5e-7
    )


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9, -np.pi / 2 + 3e-13])
def test_a_pitch_of_90_degrees_is_written_without_loss(pitch, tmp_path):
    tool = np.eye(4)
    tool[:3, :3] = Rotation.from_euler("xyz", [0.3, pitch, -1.1]).as_matrix()
    arm = Arm("pitch", "standard", a=[0.1], alpha=[0.0], d=[0.0], theta=[0.0], tool=tool)
    assert np.allclose(
        fk(from_urdf(written(tmp_path, to_urdf(arm))), [0.0])[:3, :3],
        tool[:3, :3],
        rtol=0,
        atol=1e-14,
    )


def test_joints_without_limits(tmp_path):
    arm = Arm(
        "free",
        "standard",
        a=[0.1] * 3,
        alpha=[0.0] * 3,
        d=[0.0] * 3,
        theta=[0.0] * 3,
        tau_max=None,
        qd_max=[1, np.inf, 2],
        joint_types=("revolute", "prismatic", "revolute"),
        q_min=[-np.inf, -np.inf, 0],
        q_max=[np.inf, 0.5, np.inf],
    )
    text = to_urdf(arm)
    assert [j.get("type") for j in read_xml(written(tmp_path, text)).findall("joint")] == [
        "continuous",
        "prismatic",
        "revolute",
        "fixed",
    ]
    assert "inf" not in text
    back = from_urdf(tmp_path / "robot.urdf")
    assert np.array_equal(back.q_min, arm.q_min) and np.array_equal(back.q_max, arm.q_max)
    assert np.array_equal(back.qd_max, arm.qd_max) and back.tau_max is None


def test_a_base_that_is_not_the_identity_hangs_on_world(tmp_path):
    base = np.eye(4)
    base[:3, 3] = 1, 2, 3
    root = read_xml(written(tmp_path, to_urdf(replace(load_arm("planar2"), base=base))))
    assert [link.get("name") for link in root.findall("link")][:2] == ["world", "base_link"]
    assert np.allclose(origin_of(root.find("joint")), base)
    assert "world" not in to_urdf(load_arm("planar2"))


def test_a_name_with_angle_brackets_is_escaped(tmp_path):
    arm = replace(load_arm("planar2"), name='my "arm" <2 & 3>')
    assert from_urdf(written(tmp_path, to_urdf(arm))).name == arm.name


@pytest.mark.parametrize("name", LIBRARY_ARMS)
def test_mujoco_reads_what_is_written(name, tmp_path):
    """Another engine than Pinocchio: tool position, and gravity torque where the arm has masses."""
    mujoco = pytest.importorskip("mujoco")
    arm = load_arm(name)
    tail = '<mujoco><compiler fusestatic="false"/></mujoco></robot>'
    model = mujoco.MjModel.from_xml_string(to_urdf(arm).replace("</robot>", tail))
    data = mujoco.MjData(model)
    data.qpos[:] = q = np.linspace(-0.4, 0.9, arm.n)
    mujoco.mj_forward(model, data)
    assert np.allclose(data.body("tcp").xpos, fk(arm, q)[:3, 3], rtol=0, atol=1e-9)
    if arm.mass is not None:
        pin = pytest.importorskip("pinocchio")
        built, _ = arm_with_bodies(arm)
        assert np.allclose(
            data.qfrc_bias,
            pin.computeGeneralizedGravity(built, built.createData(), q),
            rtol=0,
            atol=1e-9,
        )


def arm_with_bodies(arm):
    """Pinocchio model of an `Arm` with its masses.

    Standard DH puts link i's frame one row after joint i.
    """
    import pinocchio as pin

    model, tool = pinocchio_model(arm)
    for i in range(arm.n):
        row = (
            dh_matrix(arm.a[i], arm.alpha[i], arm.d[i], arm.theta[i])
            if arm.convention == "standard"
            else np.eye(4)
        )
        model.appendBodyToJoint(
            i + 1, pin.Inertia(arm.mass[i], arm.com[i], arm.inertia[i]), pin.SE3(row)
        )
    return model, tool


# ---------------------------------------------------------------- reading


@pytest.mark.parametrize("name, tip, toolbox, tolerance", REAL)
def test_real_arms_move_as_in_pinocchio(name, tip, toolbox, tolerance):
    pytest.importorskip("pinocchio")
    path = real(name)
    arm = from_urdf(path, tip=tip)
    q = np.random.default_rng(4).uniform(-np.pi, np.pi, (200, arm.n))
    last = tip or read_xml(path).findall("link")[-1].get("name")
    assert np.abs(fk(arm, q) - file_fk(text_of(path), last, q)).max() < tolerance


@pytest.mark.parametrize("name, tip, toolbox, tolerance", [row for row in REAL if row[2]])
def test_real_arms_move_as_in_robotics_toolbox(name, tip, toolbox, tolerance):
    rtb = pytest.importorskip("roboticstoolbox")
    robot = getattr(rtb.models.URDF, toolbox)()
    ets = robot.ets(end=robot.link_dict[tip])
    arm = from_urdf(real(name), tip=tip)
    q = np.random.default_rng(5).uniform(-np.pi, np.pi, (50, arm.n))
    truth = np.array([ets.fkine(q_k).A for q_k in q])
    assert np.abs(fk(arm, q) - truth).max() < tolerance


@pytest.mark.parametrize(
    "name",
    [
        "xacro/kuka_description/kuka_kr5/urdf/kr5_arc.xacro",
        "armer_xarm/data/xacro/robots/xarm6/xarm6.xacro",
        "xacro/trossen_descriptions/urdf/wx250s.urdf.xacro",
    ],
)
def test_masses_of_real_arms_give_pinocchios_mass_matrix_and_gravity(name):
    """Welded links are merged, joints beside the chain held, as in Pinocchio's reduced model."""
    pin = pytest.importorskip("pinocchio")
    tip = next(row[1] for row in REAL if row[0] == name)
    arm = from_urdf(real(name), tip=tip)
    built, _ = arm_with_bodies(arm)
    truth, _ = file_model(
        text_of(real(name)), tip or read_xml(real(name)).findall("link")[-1].get("name")
    )
    q = np.random.default_rng(6).uniform(-1, 1, arm.n)
    for function in (pin.crba, pin.computeGeneralizedGravity):
        assert np.allclose(
            np.triu(np.atleast_2d(function(built, built.createData(), q))),
            np.triu(np.atleast_2d(function(truth, truth.createData(), q))),
            atol=1e-12,
        )


def test_a_given_centre_of_mass_is_kept_where_the_inertia_is_unknown(tmp_path):
    arm = load_arm("planar2")
    arm = replace(arm, com=arm.com + [[0.05, 0, 0.02], [0.03, 0.01, 0]], inertia=None)
    back = from_urdf(written(tmp_path, to_urdf(arm)))
    assert np.allclose(back.com, arm.com, rtol=0, atol=1e-14)
    assert np.allclose(back.mass, arm.mass, rtol=0, atol=1e-14)


def test_axes_close_to_parallel_give_long_rows_without_a_warning(tmp_path):
    text = to_urdf(load_arm("planar2")).replace('rpy="0 0 0"', 'rpy="0.002 0.001 0"')
    with warnings.catch_warnings(action="error"):
        arm = from_urdf(written(tmp_path, text))
    assert np.abs(arm.d).max() > 20


@pytest.mark.parametrize("name", ["cobot6", "planar2"])
def test_masses_survive_the_round_trip(name, tmp_path):
    arm = load_arm(name)
    back = from_urdf(written(tmp_path, to_urdf(arm)))
    for field in ("mass", "com", "inertia", "tau_max"):
        assert np.allclose(getattr(back, field), getattr(arm, field), rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    "name, arm",
    [("cobot6", "cobot6"), ("planar2", "planar2"), ("panda", "panda"), ("planar3", "planar3")],
)
def test_the_files_in_data_are_the_arms_of_the_library(name, arm):
    arm, read = load_arm(arm), from_urdf(DATA / "good" / f"{name}.urdf")
    q = np.random.default_rng(7).uniform(-np.pi, np.pi, (100, arm.n))
    assert np.abs(fk(read, q) - fk(arm, q)).max() < 1e-12
    if arm.mass is not None:
        assert np.allclose(read.mass, arm.mass) and np.allclose(
            read.inertia, arm.inertia, rtol=0, atol=1e-10
        )
        assert np.allclose(read.com, arm.com, rtol=0, atol=1e-12)


def test_panda_and_planar3_are_what_to_urdf_writes():
    for name in ("panda", "planar3"):
        assert (DATA / "good" / f"{name}.urdf").read_text(encoding="utf-8") == to_urdf(
            load_arm(name)
        )


@pytest.mark.parametrize(
    "rpy, rows",
    [
        ("1 2 3", [[0.411982, -0.833738, -0.367630]]),
        ("0 -1.5707963267948966 0", [[0, 0, -1], [0, 1, 0], [1, 0, 0]]),
        (".4 -.5 .6", [[0.724300143352, -0.674157922397, -0.144569699488]]),
    ],
)
def test_roll_pitch_and_yaw_turn_about_fixed_axes(rpy, rows, tmp_path):
    path = written(
        tmp_path, chain_text(("revolute", f'<origin rpy="{rpy}"/><axis xyz="0 0 1"/>{LIMIT}'))
    )
    assert np.allclose(fk(from_urdf(path), [0.0])[: len(rows), :3], rows, atol=5e-7)


def test_rpy_of_90_by_mistake_is_a_turn_of_116_degrees(tmp_path):
    path = written(
        tmp_path, chain_text(("revolute", f'<origin rpy="0 0 90"/><axis xyz="0 0 1"/>{LIMIT}'))
    )
    R = fk(from_urdf(path), [0.0])[:3, :3]
    assert np.degrees(np.arccos((np.trace(R) - 1) / 2)) == pytest.approx(116.620, abs=1e-3)


def test_what_may_be_left_out(tmp_path):
    """A continuous joint without limits, origins without xyz or rpy or left out, no axis (x)."""
    path = written(
        tmp_path,
        chain_text(
            ("continuous", '<origin xyz="0 0 1"/>'),
            ("prismatic", f'<origin rpy="0 0 0"/><axis xyz="0 0 2"/>{LIMIT}'),
        ),
    )
    arm = from_urdf(path)
    assert np.array_equal(arm.q_min, [-np.inf, -1]) and np.array_equal(arm.q_max, [np.inf, 2])
    assert (
        np.isinf(arm.qd_max[0]) and arm.qd_max[1] == 4 and arm.tau_max is None and arm.mass is None
    )
    assert np.allclose(
        fk(arm, [np.pi / 2, 0.5])[:3, 3], [0, -0.5, 1], rtol=0, atol=1e-15
    )  # z turned about x points along -y


@pytest.mark.parametrize(
    "inside, kind, message",
    [
        (
            '<axis xyz="0 0 1"/>',
            "revolute",
            r"robot.urdf:4: joint 'j1': a revolute joint without <limit>",
        ),
        (
            f'{LIMIT}<mimic joint="j1"/>',
            "revolute",
            r"robot.urdf:4: joint 'j1': follows another joint \(mimic\)",
        ),
        ("", "floating", r"robot.urdf:4: joint 'j1': a floating joint in the chain"),
        ("", "planar", "a planar joint in the chain"),
        (LIMIT, "hinge", r"robot.urdf:4: joint 'j1': type 'hinge' does not exist"),
        ('<axis xyz="0 0 0"/>' + LIMIT, "revolute", r"robot.urdf:6: joint 'j1' / axis: axis 0 0 0"),
        (
            '<axis xyz="0 0 x"/>' + LIMIT,
            "revolute",
            r"robot.urdf:6: joint 'j1' / axis: xyz='0 0 x', expected 3 finite numbers",
        ),
        (
            '<origin xyz="1 2"/>' + LIMIT,
            "revolute",
            r"joint 'j1' / origin: xyz='1 2', expected 3 finite",
        ),
        (
            '<limit lower="2" upper="1" effort="1" velocity="1"/>',
            "revolute",
            r"joint 'j1' / limit: lower 2 lies above upper 1",
        ),
        (
            '<limit lower="a" upper="1" effort="1" velocity="1"/>',
            "revolute",
            r"joint 'j1' / limit: lower='a', expected 1 finite number",
        ),
        ("", "fixed", "no moving joint"),
    ],
)
def test_a_joint_that_does_not_fit_is_told_by_file_line_and_element(
    inside, kind, message, tmp_path
):
    with pytest.raises(ValueError, match=message):
        from_urdf(written(tmp_path, chain_text((kind, inside))))


@pytest.mark.parametrize(
    "text, message",
    [
        ("<robot name='x'/>", "has no <link>"),
        ("<model/>", "the outermost tag is <model>"),
        (
            chain_text(("revolute", LIMIT)).replace('child link="b"', 'child link="x"'),
            r":5: joint 'j1' / child: no link is called 'x'",
        ),
        (
            chain_text(("revolute", LIMIT), ("revolute", LIMIT)).replace(
                'child link="c"', 'child link="b"'
            ),
            "joint 'j2': leads from link 'b' to itself",
        ),
        (
            chain_text(("revolute", LIMIT)).replace('parent link="a"', 'parent link="b"'),
            "joint 'j1': leads from link 'b' to itself",
        ),
        (chain_text(("revolute", LIMIT), head='<link name="z"/>'), "'z': two trees"),
        (
            chain_text(("revolute", LIMIT), head='<link name="a"/>'),
            "this name is taken by the link in line 2",
        ),
        (
            chain_text(("revolute", LIMIT))
            .replace("<parent", "<!-- <parent")
            .replace("<child", "--><child"),
            r"joint 'j1': has no <parent>",
        ),
        ("<robot", "unclosed token|no element found"),
    ],
)
def test_a_broken_tree_is_told(text, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        from_urdf(written(tmp_path, text))


def test_what_an_arm_refuses_is_told_with_the_file(tmp_path):
    links = ['<link name="a"/>', '<link name="b"><inertial><mass value="-2"/></inertial></link>']
    path = written(tmp_path, chain_text(("revolute", LIMIT), links=links))
    with pytest.raises(
        ValueError, match=r"^robot.urdf:1: robot: mass\[0\]: -2, expected a positive"
    ):
        from_urdf(path)


def test_point_masses_welded_together_are_a_dumbbell(tmp_path):
    """2 kg at x = 0, 1 kg at x = .3 m: the centre at .1, and 2 (.1)^2 + 1 (.2)^2 about y and z."""
    mass = '<inertial><mass value="{}"/></inertial>'
    links = ['<link name="a"/>']
    links += [f'<link name="{n}">{mass.format(m)}</link>' for n, m in (("b", 2), ("c", 1))]
    text = chain_text(
        ("revolute", f'<axis xyz="0 0 1"/>{LIMIT}'),
        ("fixed", '<origin xyz=".3 0 0"/>'),
        links=links,
    )
    arm = from_urdf(written(tmp_path, text), tip="b")
    assert arm.mass.tolist() == [3] and np.allclose(arm.com, [[0.1, 0, 0]], rtol=0, atol=1e-15)
    assert np.allclose(arm.inertia, [np.diag([0, 0.06, 0.06])], rtol=0, atol=1e-15)


def test_two_tips_are_named(tmp_path):
    text = chain_text(
        ("revolute", LIMIT),
        ("revolute", LIMIT),
        head=(
            '<link name="tool"/><joint name="t" type="fixed"><parent link="b"/><child'
            ' link="tool"/></joint>'
        ),
    )
    path = written(tmp_path, text)
    with pytest.raises(
        ValueError, match=r"the chain may end in any of \['tool', 'c'\]: name one as tip"
    ):
        from_urdf(path)
    assert from_urdf(path, tip="tool").n == 1 and from_urdf(path, tip="c").n == 2
    with pytest.raises(
        ValueError,
        match=r"tip 'gripper': expected one of 3 links that move, as \['tool', 'b', 'c'\]",
    ):
        from_urdf(path, tip="gripper")


def test_a_speed_or_effort_of_zero_means_unknown():
    arm = from_urdf(real("xacro/unimation_puma560_description/urdf/puma560_robot.urdf"))
    assert np.isinf(arm.qd_max).all() and np.array_equal(arm.tau_max, [1000.0] * 6)
    assert (
        from_urdf(real("xacro/abb_irb140_description/urdf/irb140.urdf"), tip="tool0").tau_max
        is None
    )


def test_zero_inertials_are_named_and_leave_the_arm_without_masses():
    """The file gives masses of zero."""
    path = real("xacro/abb_irb140_description/urdf/irb140.urdf")
    assert from_urdf(path, tip="tool0").mass is None
    finding = next(f for f in check_urdf(path) if f.rule == "inertial-missing")
    assert all(f"link_{i}" in finding.message for i in range(1, 7))


# ---------------------------------------------------------------- numbers known from outside


def test_solid_cylinder_of_values(tmp_path):
    arm = Arm(
        "rod", "standard", a=[0.25], alpha=[0.0], d=[0.0], theta=[0.0], radius=[0.04], mass=[1.5]
    )
    inertia = read_xml(written(tmp_path, to_urdf(arm))).find(
        "link[@name='link_1']/inertial/inertia"
    )
    assert [round(float(inertia.get(key)), 10) for key in ("ixx", "iyy", "izz")] == [
        0.0012,
        0.0084125,
        0.0084125,
    ]


@settings(max_examples=20, deadline=None)
@given(st.floats(0.1, 30), st.floats(0.01, 0.2), st.floats(0, 1))
def test_a_link_of_known_mass_and_shape_is_never_found_fault_with(
    tmp_path_factory, mass, radius, length
):
    assume(length == 0 or length > 1e-3)
    assume(mass < 20_000 * np.pi * radius**2 * (length or radius))  # lighter than osmium
    arm = Arm(
        "rod",
        "standard",
        a=[length, 0.1],
        alpha=[0.3, 0.0],
        d=[0.0, 0.0],
        theta=[0.0, 0.0],
        radius=[radius, 0.02],
        mass=[mass, 0.3],
        qd_max=[1, 1],
    )
    assert check_urdf(written(tmp_path_factory.mktemp("rod"), to_urdf(arm))) == []


# --- URDF 1.2, and what rounding does ---------------------------------------------------------


def test_limits_left_out_in_urdf_1_2_are_none_as_pinocchio_has_it(tmp_path):
    pin = pytest.importorskip("pinocchio")
    limit = '<limit lower="-1" upper="1" acceleration="5" jerk="50"/>'
    text = chain_text(("revolute", limit)).replace("<robot ", '<robot version="1.2" ')
    arm, model = from_urdf(written(tmp_path, text)), pin.buildModelFromXML(text)
    assert arm.q_max == model.upperPositionLimit and arm.qdd_max == [5]
    assert np.isinf(arm.qd_max).all() and np.isinf(model.velocityLimit).all()


def test_a_rod_without_thickness_survives(tmp_path):
    rod = chain_text(("revolute", LIMIT)).replace(
        '<link name="b"/>',
        '<link name="b"><inertial><origin rpy=".6398 1.377 .2617"/><mass value=".3"/><inertia'
        ' ixx=".001" ixy="0" ixz="0" iyy=".001" iyz="0" izz="0"/></inertial></link>',
    )
    arm = from_urdf(written(tmp_path, rod))
    again = from_urdf(written(tmp_path, to_urdf(arm)))
    moments = [np.linalg.eigvalsh(one.inertia[0]) for one in (arm, again)]
    assert np.allclose(moments, [0, 0.001, 0.001], atol=1e-12)
