"""course_lib.engines: two witnesses, built apart from each other, say the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.spatial.transform import Rotation
from support.engines import LIBRARY_ARMS
from support.strategies import angle, arm_and_q, length

from course_lib.arm import Arm, load_arm
from course_lib.engines import elementary, pinocchio_fk, pinocchio_model, toolbox_robot

few = settings(max_examples=25, deadline=None)


@pytest.fixture(autouse=True)
def both_are_there():
    pytest.importorskip("pinocchio")
    pytest.importorskip("roboticstoolbox")


@few
@given(arm_and_q())
def test_both_engines_find_the_same_tool(case):
    arm, q = case
    assert np.allclose(toolbox_robot(arm).fkine(q).A, pinocchio_fk(arm, q), rtol=0, atol=1e-12)


def screws(a, alpha, d, theta, convention):
    """A row as a product of four plain moves, the elementary matrices written by hand."""
    c, s = np.cos, np.sin
    x = np.array(
        [[1, 0, 0, a], [0, c(alpha), -s(alpha), 0], [0, s(alpha), c(alpha), 0], [0, 0, 0, 1]]
    )
    z = np.array(
        [[c(theta), -s(theta), 0, 0], [s(theta), c(theta), 0, 0], [0, 0, 1, d], [0, 0, 0, 1]]
    )
    return z @ x if convention == "standard" else x @ z


@few
@given(arm_and_q())
def test_both_engines_are_the_product_of_the_rows(case):
    """base · A_1 … A_n · tool, with q added to theta of a turn and to d of a slide."""
    arm, q = case
    products = []
    for q_k in q:
        T = arm.base
        for i, kind in enumerate(arm.joint_types):
            turn, slide = (q_k[i], 0) if kind == "revolute" else (0, q_k[i])
            row = (arm.a[i], arm.alpha[i], arm.d[i] + slide, arm.theta[i] + turn)
            T = T @ screws(*row, arm.convention)
        products.append(T @ arm.tool)
    assert np.allclose(pinocchio_fk(arm, q), products, rtol=0, atol=1e-12)
    assert np.allclose(toolbox_robot(arm).fkine(q).A, products, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", LIBRARY_ARMS)
def test_the_toolbox_gets_name_and_limits(name):
    arm = load_arm(name)
    robot = toolbox_robot(arm)
    assert robot.name == name and robot.n == arm.n
    assert np.array_equal(robot.qlim, [arm.q_min, arm.q_max])
    assert robot.mdh == (arm.convention == "modified")
    assert np.array_equal(robot.base.A, arm.base) and np.array_equal(robot.tool.A, arm.tool)


def test_the_compiled_form_is_the_same_robot():
    arm, q = load_arm("cobot6"), np.linspace(-1, 1, 6)
    robot = toolbox_robot(arm)
    assert np.allclose(robot.ets().eval(q), robot.fkine(q).A, rtol=0, atol=1e-12)
    assert np.allclose(robot.ets().jacob0(q), robot.jacob0(q), rtol=0, atol=1e-12)


def test_the_pinocchio_model_has_a_joint_a_row_and_a_frame_for_the_tool():
    arm = Arm(
        "two",
        "modified",
        a=[0.1, 0.2],
        alpha=[0, 0],
        d=[0, 0],
        theta=[0, 0],
        joint_types=("revolute", "prismatic"),
    )
    model, tool = pinocchio_model(arm)
    assert list(model.names) == ["universe", "joint1", "joint2"] and list(model.parents) == [
        0,
        0,
        1,
    ]
    assert [joint.shortname() for joint in model.joints][1:] == ["JointModelRZ", "JointModelPZ"]
    assert model.nq == model.nv == 2 and model.getFrameId("tool") == tool
    assert model.frames[tool].parentJoint == 2


@given(angle, length)
@pytest.mark.parametrize("k, axis", [(0, "x"), (1, "y"), (2, "z")])
def test_an_elementary_move_turns_about_and_goes_along_its_axis(k, axis, angle, length):
    T = elementary(axis, angle, length)
    e = np.eye(3)[k]
    assert np.allclose(T[:3, :3], Rotation.from_rotvec(angle * e).as_matrix(), rtol=0, atol=1e-15)
    assert np.array_equal(T[:3, 3], length * e) and np.array_equal(T[3], [0, 0, 0, 1])
    assert np.array_equal(elementary(axis), np.eye(4))
