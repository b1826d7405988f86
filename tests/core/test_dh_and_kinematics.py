import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.engines import LIBRARY_ARMS, TOOLBOX_ARMS
from support.strategies import angle, arm, arm_and_q, length

from course_lib.arm import from_toolbox, load_arm
from course_lib.dh import dh_matrix, mdh_matrix, to_modified, to_standard
from course_lib.engines import elementary, pinocchio_fk, toolbox_robot
from course_lib.kinematics import fk, link_frames

few = settings(max_examples=40, deadline=None)


@given(length, angle, length, angle)
def test_both_matrices_are_products_of_elementary_moves(a, alpha, d, theta):
    z, x = elementary("z", theta, d), elementary("x", alpha, a)
    assert np.allclose(dh_matrix(a, alpha, d, theta), z @ x, rtol=0, atol=1e-14)
    assert np.allclose(mdh_matrix(a, alpha, d, theta), x @ z, rtol=0, atol=1e-14)


@pytest.mark.parametrize("matrix", [dh_matrix, mdh_matrix])
def test_matrices_take_lists_and_tell_what_is_no_number(matrix):
    assert np.array_equal(matrix([0.1, 0.2], 0, 0, 0), matrix(np.array([0.1, 0.2]), 0.0, 0.0, 0.0))
    with pytest.raises(ValueError, match="alpha: 'x', expected a number"):
        matrix(0, "x", 0, 0)
    with pytest.raises(ValueError, match="d: nan, expected finite"):
        matrix(0, 0, np.nan, 0)


def test_matrices_broadcast_like_numpy():
    theta = np.linspace(-3, 3, 12).reshape(3, 4)
    for matrix in (dh_matrix, mdh_matrix):
        T = matrix(0.3, np.full(4, 0.2), 0.1, theta)
        assert T.shape == (3, 4, 4, 4)
        assert np.array_equal(T[1, 2], matrix(0.3, 0.2, 0.1, theta[1, 2]))


@few
@given(arm_and_q())
def test_fk_equals_robotics_toolbox_on_random_arms(case):
    pytest.importorskip("roboticstoolbox")
    arm, q = case
    assert np.allclose(fk(arm, q), toolbox_robot(arm).fkine(q).A, rtol=0, atol=1e-12)


@few
@given(arm_and_q())
def test_fk_equals_pinocchio_on_random_arms(case):
    pytest.importorskip("pinocchio")
    arm, q = case
    assert np.allclose(fk(arm, q), pinocchio_fk(arm, q), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", LIBRARY_ARMS)
def test_fk_of_each_library_arm_equals_both_engines(name):
    pytest.importorskip("pinocchio")
    arm = load_arm(name)
    q = np.random.default_rng(3).uniform(-np.pi, np.pi, (500, arm.n))
    assert np.abs(fk(arm, q) - toolbox_robot(arm).fkine(q).A).max() < 1e-12
    assert np.abs(fk(arm, q) - pinocchio_fk(arm, q)).max() < 1e-12


@pytest.mark.parametrize("name", TOOLBOX_ARMS)
def test_fk_of_real_arms_equals_both_engines(name):
    rtb = pytest.importorskip("roboticstoolbox")
    pytest.importorskip("pinocchio")
    robot = getattr(rtb.models.DH, name)()
    arm = from_toolbox(robot)
    q = np.random.default_rng(4).uniform(-np.pi, np.pi, (200, arm.n))
    assert np.abs(fk(arm, q) - robot.fkine(q).A).max() < 1e-12
    assert np.abs(fk(arm, q) - pinocchio_fk(arm, q)).max() < 1e-12


@few
@given(arm_and_q())
def test_changing_the_convention_changes_no_pose(case):
    arm, q = case
    for other in (
        to_modified(arm),
        to_standard(arm),
        to_standard(to_modified(arm)),
        to_modified(to_standard(arm)),
    ):
        assert np.allclose(fk(arm, q), fk(other, q), rtol=0, atol=1e-12)
    assert to_modified(arm).convention == "modified" and to_standard(arm).convention == "standard"


@few
@given(arm())
def test_an_arm_already_in_a_convention_comes_back_as_it_is(arm):
    same = to_standard(arm) if arm.convention == "standard" else to_modified(arm)
    assert same is arm


@few
@given(arm_and_q())
def test_link_frames_begin_at_the_base_and_end_before_the_tool(case):
    arm, q = case
    frames = link_frames(arm, q)
    assert frames.shape == (len(q), arm.n + 1, 4, 4)
    assert np.array_equal(frames[:, 0], np.broadcast_to(arm.base, (len(q), 4, 4)))
    assert np.allclose(frames[:, -1] @ arm.tool, fk(arm, q), rtol=0, atol=1e-12)
    R = frames[..., :3, :3]
    assert np.allclose(R @ np.swapaxes(R, -1, -2), np.eye(3), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", LIBRARY_ARMS)
def test_a_batch_is_the_loop_over_it(name):
    arm = load_arm(name)
    q = np.random.default_rng(5).uniform(-2, 2, (2, 3, arm.n))
    for function in (fk, link_frames):
        batch = function(arm, q)
        assert batch.shape[:2] == (2, 3)
        for index in np.ndindex(2, 3):
            assert np.allclose(batch[index], function(arm, q[index]), rtol=0, atol=1e-15)
    assert fk(arm, np.empty((0, arm.n))).shape == (0, 4, 4)


@given(st.sampled_from(LIBRARY_ARMS), st.integers(0, 9))
def test_wrong_length_of_q_is_told(name, size):
    arm = load_arm(name)
    if size != arm.n:
        with pytest.raises(
            ValueError, match=rf"q: shape \({size},\), expected \(\.\.\., {arm.n}\) for '{name}'"
        ):
            fk(arm, np.zeros(size))


def test_a_scalar_or_nan_is_told():
    arm = load_arm("planar2")
    with pytest.raises(ValueError, match=r"q: shape \(\)"):
        fk(arm, 0.5)
    with pytest.raises(ValueError, match="q: .*expected an array of numbers"):
        fk(arm, [0.0, "x"])
    with pytest.raises(ValueError, match="NaN or infinite"):
        link_frames(arm, [0.0, np.nan])


# ------------------------------------------------ values known from outside (VALUES of the project)


def test_cobot6_at_zero_points_down_below_the_base_plane():
    T = fk(load_arm("cobot6"), np.zeros(6))
    assert np.allclose(T[:3, :3], np.diag([1, -1, -1]), rtol=0, atol=1e-15)
    assert np.allclose(T[:3, 3], [0.3, 0, -0.21], rtol=0, atol=1e-15)


def test_cobot6_at_a_general_posture():
    p = fk(load_arm("cobot6"), [0.3, 0.5, -0.4, 0.7, -0.6, 0.2])[:3, 3]
    assert np.allclose(p, [0.248686269370, 0.107388372947, -0.072899244550], rtol=0, atol=1e-12)


def test_panda_table_read_in_the_wrong_convention():
    """TROUBLES 1: the flange as an eighth row, standard instead of modified."""
    from dataclasses import replace

    arm = load_arm("panda")
    eight = replace(
        arm,
        a=np.r_[arm.a, 0],
        alpha=np.r_[arm.alpha, 0],
        d=np.r_[arm.d, 0.107],
        theta=np.zeros(8),
        tool=np.eye(4),
        joint_types=("revolute",) * 8,
        q_min=None,
        q_max=None,
        qd_max=None,
        qdd_max=None,
        radius=None,
        tau_max=None,
    )
    right = fk(eight, np.zeros(8))
    assert np.allclose(right[:3, 3], [0.088, 0, 0.926], rtol=0, atol=1e-12)
    assert np.allclose(right[:3, :3], np.diag([1, -1, -1]), rtol=0, atol=1e-12)
    assert np.allclose(fk(arm, np.zeros(7)), right, rtol=0, atol=1e-12)
    assert np.allclose(
        fk(replace(eight, convention="standard"), np.zeros(8))[:3, 3],
        [0.088, -0.068, 0.226],
        rtol=0,
        atol=1e-12,
    )


def test_elbow_offset_of_the_open_manipulator():
    """TROUBLES 2: q3 = 90 degrees puts the end at (.024, 0, .455); without the offset at (0, 0, .455)."""
    from course_lib.arm import Arm

    beta = np.arctan2(0.024, 0.128)

    def manipulator(a2, offset2, offset3):
        return Arm(
            "OpenManipulator-X",
            "standard",
            a=[0, a2, 0.124, 0.126],
            alpha=[np.pi / 2, 0, 0, 0],
            d=[0.077, 0, 0, 0],
            theta=[0, offset2, offset3, 0],
        )

    with_offset = manipulator(np.hypot(0.128, 0.024), np.pi / 2 - beta, -(np.pi / 2 - beta))
    assert np.allclose(
        fk(with_offset, [0, 0, np.pi / 2, 0])[:3, 3], [0.024, 0, 0.455], rtol=0, atol=1e-12
    )
    without = manipulator(0.128, np.pi / 2, -np.pi / 2)
    assert np.allclose(fk(without, [0, 0, np.pi / 2, 0])[:3, 3], [0, 0, 0.455], rtol=0, atol=1e-12)
