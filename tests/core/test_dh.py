"""course_lib.dh: both matrices by elementary moves, both conventions by the poses they give."""

import numpy as np
import pytest
from hypothesis import given, settings
from support.strategies import angle, arm, arm_and_q, length

from course_lib.arm import load_arm
from course_lib.dh import dh_matrix, mdh_matrix, to_modified, to_standard
from course_lib.engines import elementary
from course_lib.kinematics import fk, link_frames

few = settings(max_examples=40, deadline=None)


@given(length, angle, length, angle)
def test_both_matrices_are_products_of_elementary_moves(a, alpha, d, theta):
    z, x = elementary("z", theta, d), elementary("x", alpha, a)
    assert np.allclose(dh_matrix(a, alpha, d, theta), z @ x, rtol=0, atol=1e-14)
    assert np.allclose(mdh_matrix(a, alpha, d, theta), x @ z, rtol=0, atol=1e-14)


ARGUMENTS = ("a", "alpha", "d", "theta")


@pytest.mark.parametrize("matrix", [dh_matrix, mdh_matrix])
@pytest.mark.parametrize("k", range(4))
@pytest.mark.parametrize(
    "bad, reason", [("x", "'x', expected real"), (np.nan, "nan, expected fin")]
)
def test_what_is_no_number_is_told_by_name(matrix, k, bad, reason):
    values = [0.1, 0.2, 0.3, 0.4]
    values[k] = bad
    with pytest.raises(ValueError, match=f"^{ARGUMENTS[k]}: {reason}"):
        matrix(*values)


@pytest.mark.parametrize("matrix", [dh_matrix, mdh_matrix])
def test_matrices_take_lists_and_tell_what_does_not_fit(matrix):
    assert np.array_equal(matrix([0.1, 0.2], 0, 0, 0), matrix(np.array([0.1, 0.2]), 0.0, 0.0, 0.0))
    with pytest.raises(
        ValueError, match=r"a \(2,\), alpha \(\), d \(3,\), theta \(\), expected sh"
    ):
        matrix([0, 0], 0, [0, 0, 0], 0)


def test_matrices_broadcast_like_numpy():
    theta = np.linspace(-3, 3, 12).reshape(3, 4)
    for matrix in (dh_matrix, mdh_matrix):
        T = matrix(0.3, np.full(4, 0.2), 0.1, theta)
        assert T.shape == (3, 4, 4, 4)
        assert np.array_equal(T[1, 2], matrix(0.3, 0.2, 0.1, theta[1, 2]))


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
def test_the_two_conventions_share_the_line_of_every_joint(case):
    """z of frame i - 1 (standard) and of frame i (modified) lie on the axis of joint i."""
    arm, q = case
    before = link_frames(to_standard(arm), q)[:, :-1]
    after = link_frames(to_modified(arm), q)[:, 1:]
    z = before[..., :3, 2]
    assert np.allclose(z, after[..., :3, 2], rtol=0, atol=1e-12)
    moment = np.cross(after[..., :3, 3] - before[..., :3, 3], z)
    assert np.allclose(moment, 0, rtol=0, atol=1e-12)


def test_changing_the_convention_keeps_everything_else():
    arm = load_arm("cobot6")
    there = to_modified(arm)
    for field in ("name", "joint_types", "q_min", "q_max", "qd_max", "radius", "mass", "tau_max"):
        assert np.array_equal(getattr(there, field), getattr(arm, field)), field
    assert to_modified(load_arm("planar3")).com is None


@pytest.mark.parametrize("name", ["cobot6", "planar2"])
def test_changing_the_convention_moves_the_bodies_along(name):
    """Centres of mass and inertias in the world do not know about frames."""
    arm = load_arm(name)
    q = np.random.default_rng(2).uniform(-2, 2, (20, arm.n))

    def centre_and_inertia(arm):
        frames = link_frames(arm, q)[:, 1:]
        R = frames[..., :3, :3]
        com = np.einsum("...ij,...j->...i", R, arm.com) + frames[..., :3, 3]
        return com, R @ arm.inertia @ np.swapaxes(R, -1, -2)

    for other in (to_modified(arm), to_standard(to_modified(arm))):
        for ours, theirs in zip(centre_and_inertia(arm), centre_and_inertia(other)):
            assert np.allclose(ours, theirs, rtol=0, atol=1e-12)
