"""course_lib.kinematics.jacobian against finite differences, Robotics Toolbox and Pinocchio."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from support.engines import LIBRARY_ARMS, TOOLBOX_ARMS
from support.strategies import arm_and_q, pose

from course_lib.arm import from_toolbox, load_arm
from course_lib.engines import pinocchio_model, toolbox_robot
from course_lib.kinematics import fk, jacobian, manipulability

few = settings(max_examples=40, deadline=None)
FRAMES = ("world", "tool", "spatial")


def differences(arm, q, step=1e-5):
    """World Jacobian (N, 6, n) by central differences of fk: the tool's displacement is a turn and a shift."""
    columns = []
    for i in range(arm.n):
        e = step * np.eye(arm.n)[i]
        after, before = fk(arm, q + e), fk(arm, q - e)
        turn = Rotation.from_matrix(
            after[:, :3, :3] @ np.swapaxes(before[:, :3, :3], -1, -2)
        ).as_rotvec()
        columns.append(np.hstack([after[:, :3, 3] - before[:, :3, 3], turn]) / (2 * step))
    return np.stack(columns, axis=-1)


def toolbox_jacobians(arm, q):
    """{"world", "tool": (N, 6, n)} from Robotics Toolbox."""
    robot = toolbox_robot(arm)
    functions = {"world": robot.jacob0, "tool": robot.jacobe}
    return {
        frame: np.array([J(q_k).reshape(6, arm.n) for q_k in q]) for frame, J in functions.items()
    }


def pinocchio_jacobians(arm, q):
    """{frame: (N, 6, n)} from Pinocchio, in its three reference frames."""
    import pinocchio as pin

    model, tool = pinocchio_model(arm)
    data = model.createData()
    names = {"world": pin.LOCAL_WORLD_ALIGNED, "tool": pin.LOCAL, "spatial": pin.WORLD}
    return {
        frame: np.array(
            [pin.computeFrameJacobian(model, data, q_k, tool, name).reshape(6, arm.n) for q_k in q]
        )
        for frame, name in names.items()
    }  # one joint: both engines return a vector (6,)


def assert_equal_to_all(arm, q):
    assert np.abs(jacobian(arm, q) - differences(arm, q)).max() < 1e-7
    for others in (toolbox_jacobians(arm, q), pinocchio_jacobians(arm, q)):
        for frame, J in others.items():
            assert np.abs(jacobian(arm, q, frame) - J).max() < 1e-12, frame


@pytest.mark.parametrize("name", LIBRARY_ARMS)
def test_each_library_arm_equals_differences_and_both_engines(name):
    pytest.importorskip("pinocchio")
    arm = load_arm(name)
    assert_equal_to_all(arm, np.random.default_rng(3).uniform(-np.pi, np.pi, (200, arm.n)))


@pytest.mark.parametrize("name", TOOLBOX_ARMS)
def test_real_arms_equal_differences_and_both_engines(name):
    rtb = pytest.importorskip("roboticstoolbox")
    pytest.importorskip("pinocchio")
    arm = from_toolbox(getattr(rtb.models.DH, name)())
    q = np.random.default_rng(4).uniform(-np.pi, np.pi, (100, arm.n))
    assert_equal_to_all(arm, q)
    robot = getattr(rtb.models.DH, name)()  # the toolbox's own model, not ours rebuilt
    assert max(np.abs(robot.jacob0(q_k) - jacobian(arm, q_k)).max() for q_k in q) < 1e-12


@few
@given(arm_and_q())
def test_random_arms_equal_finite_differences(case):
    arm, q = case
    assert np.allclose(jacobian(arm, q), differences(arm, q), rtol=0, atol=1e-7)


@few
@given(arm_and_q())
def test_random_arms_equal_both_engines(case):
    pytest.importorskip("pinocchio")
    pytest.importorskip("roboticstoolbox")
    arm, q = case
    for others in (toolbox_jacobians(arm, q), pinocchio_jacobians(arm, q)):
        for frame, J in others.items():
            assert np.allclose(jacobian(arm, q, frame), J, rtol=0, atol=1e-12), frame


# ------------------------------------------------ what ties the three frames together


def adjoint(T):
    """(..., 6, 6): twist in the axes and at the origin of a frame -> twist in the world's, linear first."""
    R, p = T[..., :3, :3], T[..., :3, 3]
    zero = np.zeros_like(p[..., 0])
    skew = np.stack(
        [
            np.stack([zero, -p[..., 2], p[..., 1]], -1),
            np.stack([p[..., 2], zero, -p[..., 0]], -1),
            np.stack([-p[..., 1], p[..., 0], zero], -1),
        ],
        -2,
    )
    return np.concatenate(
        [np.concatenate([R, skew @ R], -1), np.concatenate([np.zeros_like(R), R], -1)], -2
    )


@few
@given(arm_and_q())
def test_spatial_is_the_adjoint_of_the_tool_pose_times_tool(case):
    """VALUES: WORLD = Ad(T) LOCAL; its linear rows are v - omega x p."""
    arm, q = case
    T, world, tool, spatial = fk(arm, q), *(jacobian(arm, q, frame) for frame in FRAMES)
    assert np.allclose(spatial, adjoint(T) @ tool, rtol=0, atol=1e-12)
    v, omega = world[:, :3], world[:, 3:]
    assert np.allclose(
        spatial[:, :3], v - np.cross(omega, T[:, :3, 3, None], axis=1), rtol=0, atol=1e-12
    )
    assert np.array_equal(spatial[:, 3:], omega)


def singular_posture(name):
    """q (6,) of cobot6: the elbow by a right angle in the drawing, the shoulder by a search with Pinocchio."""
    arm, q = load_arm("cobot6"), np.array([0.3, 0.4, -0.2, 0.7, 0.8, 0.2])
    if name == "elbow":  # wrist centre, elbow and shoulder in one line
        q[2] = np.arctan2(arm.d[3], arm.a[2])
    elif name == "wrist":  # axes 4 and 6 in one line
        q[4] = 0
    else:  # wrist centre on the axis of joint 1
        pin = pytest.importorskip("pinocchio")
        model, _ = pinocchio_model(arm)
        data, ahead = model.createData(), np.array([np.cos(q[0]), np.sin(q[0]), 0])

        def in_front(q2):
            pin.forwardKinematics(model, data, np.r_[q[0], q2, q[2:]])
            return data.oMi[5].translation @ ahead

        q[1] = brentq(in_front, 0, np.pi, xtol=1e-15)
    return q


@pytest.mark.parametrize("name", ["elbow", "shoulder", "wrist"])
def test_the_three_frames_lose_the_same_one_rank_as_in_pinocchio(name):
    """Turning or shifting the frame is an invertible map: a posture is singular in all three, and in both engines."""
    pytest.importorskip("pinocchio")
    arm, q = load_arm("cobot6"), singular_posture(name)
    theirs = pinocchio_jacobians(arm, q[None])
    for frame in FRAMES:
        sigma = np.linalg.svd(theirs[frame][0], compute_uv=False)
        assert sigma[5] < 1e-12 and sigma[4] > 1e-3, frame
        J = jacobian(arm, q, frame)
        assert np.allclose(J, theirs[frame][0], rtol=0, atol=1e-12), frame
        assert np.allclose(np.linalg.svd(J, compute_uv=False), sigma, rtol=0, atol=1e-12), frame


@few
@given(arm_and_q(), pose())
def test_spatial_depends_on_neither_the_tool_nor_its_length(case, other_tool):
    arm, q = case
    assert np.allclose(
        jacobian(arm, q, "spatial"),
        jacobian(replace(arm, tool=other_tool), q, "spatial"),
        rtol=0,
        atol=1e-13,
    )


@pytest.mark.parametrize("name", LIBRARY_ARMS)
def test_a_batch_is_the_loop_over_it(name):
    arm = load_arm(name)
    q = np.random.default_rng(5).uniform(-2, 2, (2, 3, arm.n))
    for frame in FRAMES:
        batch = jacobian(arm, q, frame)
        assert batch.shape == (2, 3, 6, arm.n)
        for index in np.ndindex(2, 3):
            assert np.allclose(batch[index], jacobian(arm, q[index], frame), rtol=0, atol=1e-14)
    assert jacobian(arm, np.empty((0, arm.n))).shape == (0, 6, arm.n)


@pytest.mark.parametrize("frame", ["WORLD", "base", "", None, "local"])
def test_an_unknown_frame_is_told(frame):
    with pytest.raises(
        ValueError, match=r"frame: .*expected one of \('world', 'tool', 'spatial'\)"
    ):
        jacobian(load_arm("cobot6"), np.zeros(6), frame)


@given(st.sampled_from(LIBRARY_ARMS), st.integers(0, 9))
def test_wrong_length_of_q_is_told(name, size):
    arm = load_arm(name)
    assume(size != arm.n)
    with pytest.raises(
        ValueError, match=rf"q: shape \({size},\), expected \(\.\.\., {arm.n}\) for '{name}'"
    ):
        jacobian(arm, np.zeros(size))


def test_nan_is_told():
    with pytest.raises(ValueError, match="NaN or infinite"):
        jacobian(load_arm("planar2"), [0.0, np.inf])


# ------------------------------------------------ singularities and manipulability


@few
@given(arm_and_q())
def test_manipulability_is_the_root_of_the_determinant_and_the_toolboxs_own(case):
    arm, q = case
    J = jacobian(arm, q)
    rows = J[:, : min(3, arm.n)]
    gram = np.linalg.det(rows @ np.swapaxes(rows, -1, -2))
    assert np.allclose(manipulability(rows) ** 2, gram, rtol=1e-9, atol=1e-12)
    if arm.n >= 6:
        pytest.importorskip("roboticstoolbox")
        theirs = [toolbox_robot(arm).manipulability(q_k, axes="all") for q_k in q]
        assert np.allclose(manipulability(J) ** 2, np.square(theirs), rtol=1e-9, atol=1e-10)


def test_manipulability_wants_rows_of_the_task():
    with pytest.raises(
        ValueError, match=r"J: shape \(6, 2\), expected \(\.\.\., m, n\) with m <= n"
    ):
        manipulability(jacobian(load_arm("planar2"), [0.1, 0.2]))
    with pytest.raises(ValueError, match=r"J: shape \(3,\)"):
        manipulability(np.zeros(3))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_manipulability_tells_what_is_not_a_number(bad):
    J = np.zeros((4, 2, 3))
    J[2, 1, 0] = bad
    with pytest.raises(ValueError, match="J: has NaN or infinite entries"):
        manipulability(J)


def test_the_2r_arm_by_hand():
    """Area of the velocity ellipse over pi: l1 l2 |sin q2| (Yoshikawa 1985)."""
    q = np.random.default_rng(6).uniform(-3, 3, (50, 2))
    J = jacobian(load_arm("planar2"), q)[:, :2]
    assert np.allclose(manipulability(J), 0.55 * 0.45 * np.abs(np.sin(q[:, 1])), rtol=0, atol=1e-14)


def test_cobot6_at_zero_has_rank_five():
    sigma = np.linalg.svd(jacobian(load_arm("cobot6"), np.zeros(6)), compute_uv=False)
    assert sigma[5] < 1e-12 < 1e-3 < sigma[4]


@pytest.mark.parametrize("q3", [79.8753, -100.1247])
def test_cobot6_elbow(q3):
    """VALUES: elbow singular at q3 = 79.8753 and -100.1247 degrees, to the digits given."""
    q = np.tile([0.3, 0.5, 0, 0.7, -0.6, 0.2], (3, 1))
    q[:, 2] = np.radians([q3 - 1, q3, q3 + 1])
    before, at, after = np.linalg.det(jacobian(load_arm("cobot6"), q))
    assert before * after < 0 and abs(at) < 1e-4 * abs(after - before)


def test_a_tool_force_needs_the_torques_of_the_transposed_jacobian():
    """Duality, against Pinocchio's inverse dynamics: no gravity, at rest, a wrench on the last joint."""
    pin = pytest.importorskip("pinocchio")
    arm = load_arm("cobot6")
    model, tool = pinocchio_model(arm)
    model.gravity.setZero()
    data, rng = model.createData(), np.random.default_rng(8)
    for q in rng.uniform(-2, 2, (20, 6)):
        wrench = rng.normal(size=6)  # force, moment at the tool, world axes
        pin.framesForwardKinematics(model, data, q)
        at_tool = pin.SE3(data.oMf[tool].rotation, np.zeros(3)).actInv(pin.Force(wrench))
        push = [pin.Force.Zero() for _ in range(model.njoints)]
        push[6] = pin.Force(model.frames[tool].placement.act(at_tool))
        needed = pin.rnea(
            model, data, q, np.zeros(6), np.zeros(6), push
        )  # holds against what pushes
        assert np.allclose(needed, -jacobian(arm, q).T @ wrench, rtol=0, atol=1e-12)
