"""course_lib.poses by its laws, against SciPy's matrix exponential and Pinocchio's groups."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.linalg import expm
from scipy.spatial.transform import Rotation
from support.strategies import arm_and_q
from support.strategies import pose as poses

from course_lib import poses as module
from course_lib.kinematics import fk, jacobian
from course_lib.poses import adjoint, error, exp, inverse, log, pose

few = settings(max_examples=40, deadline=None)
POSE_FUNCTIONS = (inverse, adjoint, log, lambda T: error(T, np.eye(4)))


def three(size):
    return arrays(float, 3, elements=st.floats(-size, size, allow_subnormal=False))


@st.composite
def twists(draw, largest=np.pi):
    """(6,): any linear part, and a turn of at most `largest` about any axis."""
    axis = draw(three(1).filter(lambda a: np.linalg.norm(a) > 0.1))
    angle = draw(st.floats(0, largest, allow_subnormal=False))
    return np.r_[draw(three(2)), angle * axis / np.linalg.norm(axis)]


def hat(twist):
    """The 4x4 matrix of a twist (6,), by the definition of the cross product."""
    matrix = np.zeros((4, 4))
    matrix[:3, :3] = np.cross(twist[3:], np.eye(3), axisb=0, axisc=0)
    matrix[:3, 3] = twist[:3]
    return matrix


def close(a, b, atol=1e-12):
    return a.shape == b.shape and np.allclose(a, b, rtol=0, atol=atol)


# ------------------------------------------------ pose


def test_nothing_given_is_the_identity():
    assert np.array_equal(pose(), np.eye(4))


@few
@given(three(2), three(3))
def test_a_pose_takes_a_point_to_the_turned_and_moved_point(p, rotvec):
    R = Rotation.from_rotvec(rotvec)
    T = pose(p, R)
    assert np.array_equal(T, pose(p, R.as_matrix())) and np.array_equal(T[3], [0, 0, 0, 1])
    assert close((T @ [0.3, -0.2, 0.1, 1])[:3], R.apply([0.3, -0.2, 0.1]) + p)


def test_a_pose_from_one_part_leaves_the_other_alone():
    R = Rotation.from_euler("z", 1.0)
    assert np.array_equal(pose(rotation=R)[:3], np.column_stack([R.as_matrix(), np.zeros(3)]))
    assert np.array_equal(pose(xyz=[1, 2, 3])[:3], np.column_stack([np.eye(3), [1, 2, 3]]))


def test_a_pose_is_a_copy():
    R = np.eye(3)
    pose((0, 0, 0), R)[0, 0] = 5
    assert R[0, 0] == 1


@pytest.mark.parametrize(
    "points, turns, shape",
    [
        ((), (5,), (5,)),
        ((5,), (), (5,)),
        ((2, 5), (5,), (2, 5)),
        ((2, 1), (3,), (2, 3)),
        ((0,), (), (0,)),
    ],
)
def test_stacks_broadcast(points, turns, shape):
    rng = np.random.default_rng(1)
    p, R = rng.normal(size=(*points, 3)), np.empty((*turns, 3, 3))
    R[:] = Rotation.from_euler("z", 0.3).as_matrix()
    T = pose(p, R)
    assert T.shape == (*shape, 4, 4)
    assert np.array_equal(T[..., :3, 3], np.broadcast_to(p, (*shape, 3)))
    assert np.array_equal(T[..., :3, :3], np.broadcast_to(R, (*shape, 3, 3)))
    if turns == (5,):
        assert np.allclose(T, pose(p, Rotation.from_matrix(R)), rtol=0, atol=1e-15)


def test_stacks_of_two_sizes_are_told():
    with pytest.raises(ValueError, match=r"xyz: shape \(2, 3\) with rotation: shape \(3, 3, 3\)"):
        pose(np.zeros((2, 3)), Rotation.identity(3))
    two, three = np.tile(np.eye(4), (2, 1, 1)), np.tile(np.eye(4), (3, 1, 1))
    with pytest.raises(ValueError, match=r"T: shape \(2, 4, 4\) with T_goal: shape \(3, 4, 4\)"):
        error(two, three)


# ------------------------------------------------ inverse and adjoint


@few
@given(poses())
def test_the_inverse_undoes_from_both_sides(T):
    assert close(T @ inverse(T), np.eye(4)) and close(inverse(T) @ T, np.eye(4))
    assert close(inverse(T), np.linalg.inv(T))
    assert np.array_equal(inverse(T)[3], [0, 0, 0, 1])


@few
@given(poses(), poses())
def test_the_adjoint_of_a_product_is_the_product_and_of_the_inverse_the_inverse(T, S):
    assert close(adjoint(T @ S), adjoint(T) @ adjoint(S))
    assert close(adjoint(inverse(T)), np.linalg.inv(adjoint(T)))


@few
@given(poses(), twists())
def test_the_adjoint_moves_a_twist_as_conjugation_moves_its_matrix(T, twist):
    assert close(hat(adjoint(T) @ twist), T @ hat(twist) @ np.linalg.inv(T))


@few
@given(poses())
def test_the_adjoint_is_pinocchios_action(T):
    pin = pytest.importorskip("pinocchio")
    assert close(adjoint(T), pin.SE3(T).action, atol=1e-14)


# ------------------------------------------------ exp and log


@few
@given(twists(largest=6))
def test_exp_is_the_matrix_exponential(twist):
    assert close(exp(twist), expm(hat(twist)), atol=1e-11)


@few
@given(twists())
def test_exp_and_log_are_pinocchios(twist):
    pin = pytest.importorskip("pinocchio")
    T = pin.exp6(pin.Motion(twist)).homogeneous
    assert close(exp(twist), T)
    if np.linalg.norm(twist[3:]) < 3:
        assert close(log(T), pin.log6(pin.SE3(T)).vector)


@few
@given(twists(largest=np.pi - 1e-3))
def test_log_undoes_exp_below_half_a_turn(twist):
    assert close(log(exp(twist)), twist)


@few
@given(poses())
def test_exp_undoes_log(T):
    assert close(exp(log(T)), T)
    assert np.linalg.norm(log(T)[3:]) <= np.pi + 1e-12


@pytest.mark.parametrize("short_of", [0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-4])
def test_exp_and_log_up_to_half_a_turn(short_of):
    """At pi the twist is one of two; either way it leads back, with the full angle."""
    rng = np.random.default_rng(3)
    axis = rng.normal(size=(200, 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    axis[:3] = np.eye(3)
    axis[3:6] = -np.eye(3)
    twist = np.hstack([rng.normal(size=(200, 3)), (np.pi - short_of) * axis])
    T = exp(twist)
    assert close(exp(log(T)), T)
    assert np.allclose(np.linalg.norm(log(T)[:, 3:], axis=1), np.pi - short_of, rtol=0, atol=1e-12)
    if short_of > 1e-12:
        assert close(log(T), twist, atol=1e-11)


@pytest.mark.parametrize("angle", 10.0 ** np.arange(-15, 0))
def test_small_angles_keep_their_digits(angle):
    """To first order T = 1 + hat(twist): the twist is read back to nine digits, however small."""
    twist = angle * np.array([0.3, -0.5, 0.2, 0.6, 0.0, 0.8])
    assert np.allclose(log(exp(twist)), twist, rtol=1e-9, atol=0)
    turn = (exp(twist) - np.eye(4))[[2, 1, 0], [1, 0, 3]]
    assert np.allclose(turn, twist[[3, 5, 0]], rtol=1e-9 + 2 * angle + 1e-16 / angle, atol=0)
    far = np.r_[5.0, -4.0, 3.0, twist[3:]]
    assert close(exp(far), expm(hat(far)))
    assert np.allclose(log(exp(far)), far, rtol=1e-9, atol=0)


def test_a_screw_by_hand():
    """A quarter turn about the vertical line through (1, 0), rising by .2 m."""
    twist = np.array([0, -np.pi / 2, 0.2, 0, 0, np.pi / 2])
    expected = [[0, -1, 0, 1], [1, 0, 0, -1], [0, 0, 1, 0.2], [0, 0, 0, 1]]
    assert close(exp(twist), np.array(expected, dtype=float))
    assert close(exp([1, 2, 3, 0, 0, 0]), pose([1, 2, 3]))


# ------------------------------------------------ error


@few
@given(poses(), poses())
def test_the_error_is_the_move_and_the_turn_that_are_missing(T, goal):
    e = error(T, goal)
    assert close(T[:3, 3] + e[:3], goal[:3, 3])
    assert close(Rotation.from_rotvec(e[3:]).as_matrix() @ T[:3, :3], goal[:3, :3])
    assert np.linalg.norm(e[3:]) <= np.pi + 1e-12
    assert close(error(T, T), np.zeros(6), atol=1e-14)


@pytest.mark.parametrize(
    "axis", [*np.eye(3), np.array([0.6, 0, 0.8]), np.array([0.36, 0.48, -0.8])]
)
def test_a_half_turn_is_not_no_error(axis):
    """The sum of cross products of axes, often used instead, is zero there."""
    T = pose([1, 2, 3], Rotation.from_rotvec([0.3, 0.5, -0.2]))
    goal = pose(rotation=Rotation.from_rotvec(np.pi * axis)) @ T
    goal[:3, 3] = T[:3, 3]
    assert np.isclose(np.linalg.norm(error(T, goal)), np.pi, rtol=0, atol=1e-12)


@few
@given(poses(), twists())
def test_the_error_vanishes_for_equal_poses_only(T, twist):
    """It is at least as long as the distance of the matrices: |R1 - R2| <= sqrt(2) angle."""
    goal = T @ exp(twist)
    distance = np.linalg.norm(goal - T)
    assert np.linalg.norm(error(T, goal)) >= distance / np.sqrt(2) - 1e-14


@few
@given(arm_and_q(count=1), st.floats(1e-7, 1e-6))
def test_the_error_pairs_with_the_world_jacobian(case, step):
    arm, (q,) = case
    dq = step * np.linspace(1, 2, arm.n)
    assert close(error(fk(arm, q), fk(arm, q + dq)), jacobian(arm, q) @ dq, atol=2000 * step**2)


# ------------------------------------------------ stacks and bad input


@pytest.mark.parametrize("shape", [(), (1,), (4,), (2, 3), (0,), (2, 0)])
def test_a_stack_is_the_loop_over_it(shape):
    twist = np.random.default_rng(2).uniform(-1, 1, (*shape, 6))
    T = exp(twist)
    assert T.shape == (*shape, 4, 4) and log(T).shape == (*shape, 6)
    assert inverse(T).shape == T.shape and adjoint(T).shape == (*shape, 6, 6)
    assert error(np.eye(4), T).shape == error(T, np.eye(4)).shape == (*shape, 6)
    for index in np.ndindex(*shape):
        assert close(T[index], exp(twist[index]), atol=1e-15)
        for function in POSE_FUNCTIONS:
            assert close(function(T)[index], function(T[index]), atol=1e-15)


@pytest.mark.parametrize("function", POSE_FUNCTIONS)
@pytest.mark.parametrize(
    "T, message",
    [
        (np.eye(3), r"T: shape \(3, 3\), expected \(\.\.\., 4, 4\)"),
        (np.zeros((4, 4, 3)), r"T: shape \(4, 4, 3\), expected"),
        (1.0, r"T: shape \(\), expected"),
        (np.diag([1, 1, -1, 1]), "T: its 3x3 part is not a rotation"),
        (np.diag([1, 1, 1 + 1e-6, 1]), "T: its 3x3 part is not a rotation"),
        (np.eye(4) + 2e-6 * np.eye(4, k=1), "T: its 3x3 part is not a rotation"),
        (np.eye(4)[[0, 1, 2, 2]], r"T: last row \[0.0, 0.0, 1.0, 0.0\], expected \[0, 0, 0, 1\]"),
        ([np.eye(4), np.diag([1, 1, 1, 2])], r"T: last row \[0.0, 0.0, 0.0, 2.0\]"),
        ([np.eye(4), np.diag([1, -1, 1, 1])], "T: its 3x3 part"),
        (np.full((4, 4), np.nan), r"T\[0, 0\]: nan, expected finite numbers"),
    ],
)
def test_what_is_no_pose_is_told(function, T, message):
    with pytest.raises(ValueError, match="^" + message):
        function(T)


def test_the_goal_is_checked_by_its_name():
    with pytest.raises(ValueError, match=r"T_goal: shape \(3,\), expected \(\.\.\., 4, 4\)"):
        error(np.eye(4), np.zeros(3))


def test_single_precision_is_good_enough():
    R = Rotation.random(200, rng=np.random.default_rng(4)).as_matrix()
    T = pose(np.zeros(3), R.astype(np.float32))
    assert T.dtype == float and np.allclose(
        inverse(T)[..., :3, :3], np.swapaxes(R, -1, -2), atol=1e-6
    )


@pytest.mark.parametrize(
    "arguments, message",
    [
        (dict(xyz=[1, 2]), r"xyz: shape \(2,\), expected \(\.\.\., 3\)"),
        (dict(rotation=np.eye(4)), r"rotation: shape \(4, 4\), expected \(\.\.\., 3, 3\)"),
        (dict(rotation=2 * np.eye(3)), "rotation: its 3x3 part is not a rotation"),
        (dict(xyz=[0, np.inf, 0]), r"xyz\[1\]: inf, expected finite numbers"),
    ],
)
def test_a_wrong_part_of_a_pose_is_told(arguments, message):
    with pytest.raises(ValueError, match="^" + message):
        pose(**arguments)


def test_a_wrong_twist_is_told():
    with pytest.raises(ValueError, match=r"^twist: shape \(5,\), expected \(\.\.\., 6\)"):
        exp(np.zeros(5))


@pytest.mark.parametrize(
    "value",
    [
        None,
        [None, 1.0],
        "1",
        ["1", "2", "3"],
        True,
        [1j, 2, 3],
        np.ma.array([1, 2, 3], mask=[0, 1, 0]),
        [[1], [2, 3]],
        {},
    ],
)
def test_what_is_no_real_number_is_told(value):
    with pytest.raises(ValueError, match="(?s)^x: .*, expected real numbers"):
        module.finite("x", value)


def test_what_is_finite_comes_back_as_floats():
    from fractions import Fraction

    for value in (1, [1, 2], np.float32(1.5), np.ma.array([1, 2]), [Fraction(1, 4)], []):
        array = module.finite("x", value)
        assert array.dtype == float and np.array_equal(array, np.asarray(value, dtype=float))
    with pytest.raises(ValueError, match="^x: nan, expected finite numbers"):
        module.finite("x", np.nan)
