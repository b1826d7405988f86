"""Homework 04: the truths hold against outside engines."""

import numpy as np
import pytest
from scipy.optimize import linprog
from support.judges import judge_of

from course_lib.engines import pinocchio_fk, pinocchio_model

JUDGE, BY_NAME = judge_of("hw04_jacobians")

# ---------------------------------------------------------------- the truths


def test_truth_of_the_boom_against_pinocchio():
    """Four joints placed as the drawing says, without a DH table."""
    pin = pytest.importorskip("pinocchio")
    for h, r, t, q in BY_NAME["boom_jacobian"].cases(np.random.default_rng(3)):
        model = pin.Model()
        here = lambda *p: pin.SE3(np.eye(3), np.array(p, float))
        parent = model.addJoint(0, pin.JointModelRZ(), here(0, 0, 0), "1")
        parent = model.addJoint(
            parent, pin.JointModelRevoluteUnaligned(0, -1, 0), here(0, 0, h), "2"
        )
        parent = model.addJoint(parent, pin.JointModelPX(), here(r, 0, 0), "3")
        parent = model.addJoint(
            parent, pin.JointModelRevoluteUnaligned(0, -1, 0), here(0, 0, 0), "4"
        )
        tool_frame = model.addFrame(
            pin.Frame("tool", parent, here(t, 0, 0), pin.FrameType.OP_FRAME)
        )
        J = pin.computeFrameJacobian(
            model, model.createData(), q, tool_frame, pin.LOCAL_WORLD_ALIGNED
        )
        np.testing.assert_allclose(JUDGE.boom_jacobian(h, r, t, q), J, atol=1e-12)


def test_the_frame_is_the_one_that_the_jacobian_was_made_in(monkeypatch):
    made = []
    original = JUDGE.frame_case
    monkeypatch.setattr(
        JUDGE,
        "frame_case",
        lambda rng, arm, q, qd, frame: made.append(frame) or original(rng, arm, q, qd, frame),
    )
    cases = JUDGE.frame_cases(np.random.default_rng(11))
    assert [JUDGE.which_frame(*case) for case in cases] == made and set(made) == set(JUDGE.FRAMES)


def test_truth_of_the_frame_against_pinocchios_three():
    pin = pytest.importorskip("pinocchio")
    names = {"world": pin.LOCAL_WORLD_ALIGNED, "tool": pin.LOCAL, "spatial": pin.WORLD}
    rng = np.random.default_rng(12)
    for n in (3, 4, 5, 6, 7):
        arm, q, qd = JUDGE.random_arm(rng, n), rng.uniform(-2, 2, n), rng.uniform(-1, 1, n)
        model, tool_frame = pinocchio_model(arm)
        before, after = pinocchio_fk(arm, [q, q + JUDGE.DT * qd])
        for name, reference in names.items():
            J = pin.computeFrameJacobian(model, model.createData(), q, tool_frame, reference)
            assert JUDGE.which_frame(J, qd, before, after, JUDGE.DT) == name


def test_truth_of_the_stretched_elbow_by_differences_of_the_drawing():
    """No joint moves the drawn tip along the lost direction, and the arm is as long as it gets."""

    def tip(u, e, f, q1, q2, q3):
        rho = u * np.cos(q2) + e * np.cos(q2 + q3) + f * np.sin(q2 + q3)
        z = u * np.sin(q2) + e * np.sin(q2 + q3) - f * np.cos(q2 + q3)
        return np.array([rho * np.cos(q1), rho * np.sin(q1), z])

    for u, e, f, q1, q2 in BY_NAME["stretched"].cases(np.random.default_rng(4)):
        q3, lost = JUDGE.stretched(u, e, f, q1, q2)
        q = np.array([q1, q2, q3])
        J = np.column_stack(
            [(tip(u, e, f, *(q + d)) - tip(u, e, f, *(q - d))) / 2e-5 for d in 1e-5 * np.eye(3)]
        )
        assert np.abs(lost @ J).max() < 1e-9
        assert np.linalg.norm(tip(u, e, f, *q)) == pytest.approx(u + np.hypot(e, f))


def test_truth_of_the_torques_by_virtual_work():
    """The power of the push on the point where it acts, seen by moving the arm a little."""
    from course_lib.kinematics import fk, jacobian

    rng = np.random.default_rng(5)
    for n in (4, 6, 7):
        arm, q = JUDGE.random_arm(rng, n), rng.uniform(-2, 2, n)
        T, push = fk(arm, q), rng.uniform(-30, 30, 3)
        at = T[:3, 3] + rng.uniform(-0.2, 0.2, 3)
        tau = JUDGE.holding_torques(jacobian(arm, q, "tool"), T, push, at)
        on_tool = np.linalg.inv(T) @ np.r_[at, 1]
        for qd in rng.uniform(-1, 1, (5, n)):
            moved = ((fk(arm, q + 1e-6 * qd) - fk(arm, q - 1e-6 * qd)) @ on_tool)[:3] / 2e-6
            assert tau @ qd + push @ moved == pytest.approx(0, abs=1e-6)


def test_truth_of_the_speed_by_linear_programming():
    for J, direction, qd_max in BY_NAME["fastest"].cases(np.random.default_rng(6)):
        twist = np.r_[direction / np.linalg.norm(direction), 0, 0, 0]
        best = linprog(
            [0] * 6 + [-1],
            A_eq=np.column_stack([J, -twist]),
            b_eq=np.zeros(6),
            bounds=[*zip(-qd_max, qd_max), (0, None)],
        )
        assert JUDGE.fastest(J, direction, qd_max) == pytest.approx(best.x[-1], rel=1e-6)
