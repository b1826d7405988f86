"""Lesson 01: the functions shown there are right, and TROUBLES 4, 5 and 13 have their values.

The lesson's own functions are tested, taken from its cells without running the rest; the lesson
itself runs once, in its notebook's own tests. Witnesses are SciPy and properties; none of the
numbers below was printed by our code.
"""

import ast
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.spatial.transform import RigidTransform, Rotation, Slerp

PROJECT = Path(__file__).resolve().parents[2]
LESSON = PROJECT / "notebooks" / "01_rotations_and_frames.ipynb"

few = settings(max_examples=60, deadline=None)
angle = st.floats(-np.pi, np.pi)
triple = st.tuples(angle, st.floats(-1.5, 1.5), angle)
vector = st.tuples(*[st.floats(-2, 2)] * 3).map(np.array)


def code_cells():
    cells = json.loads(LESSON.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def definitions(source):
    """The imports, functions and CONSTANTS of a cell, without what it runs."""
    kept = [
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef) or is_constant(node)
    ]
    return ast.unparse(ast.Module(kept, []))


def is_constant(node):
    name = node.targets[0] if isinstance(node, ast.Assign) else None
    return isinstance(name, ast.Name) and name.id.isupper() and len(name.id) > 1


@pytest.fixture(scope="module")
def lesson():
    """The names of lesson 01, as after running its definitions."""
    names = {}
    for source in code_cells():
        if "pinocchio" not in source:
            exec(definitions(source), names)
    return names


# ---------------------------------------------------------------- TROUBLES


def test_trouble_4_rpy_is_multiplied_in_the_right_order(lesson):
    assert lesson["rpy_matrix"]((1, 2, 3))[0] == pytest.approx(
        [0.411982, -0.833738, -0.367630], abs=5e-7
    )
    assert lesson["rpy_matrix"]((0.4, -0.5, 0.6))[0] == pytest.approx(
        [0.724300143352, -0.674157922397, -0.144569699488], abs=1e-12
    )


def test_trouble_5_pitch_of_minus_90_degrees(lesson):
    expected = np.array([[0, 0, -1], [0, 1, 0], [1, 0, 0]])
    assert lesson["rpy_matrix"]((0, -np.pi / 2, 0)) == pytest.approx(expected, abs=1e-15)
    roll, pitch, yaw = lesson["rpy_from_matrix"](expected.astype(float))
    assert lesson["rpy_matrix"]((roll, pitch, yaw)) == pytest.approx(expected, abs=1e-12)


def test_trouble_13_slerp_takes_the_short_way_from_dirty_input(lesson):
    first = Rotation.from_euler("xyz", [0.3, -0.2, 0.5])
    second = first * Rotation.from_rotvec(np.radians(1.487) * np.array([1, 2, 2]) / 3)
    q0, q1 = first.as_quat(), second.as_quat()
    for k0, k1 in [(1, -1), (0.99, 1.02), (1.001, 1.001), (-3, 0.2)]:
        middle = Rotation.from_quat(lesson["slerp"](k0 * q0, k1 * q1, 0.5))
        distances = np.degrees([(middle.inv() * end).magnitude() for end in (first, second)])
        assert distances == pytest.approx([0.7435, 0.7435], abs=1e-6)
    with np.errstate(invalid="ignore"):
        wrong = Rotation.from_quat(lesson["slerp_of_the_textbook"](q0, -q1, 0.5))
    assert np.degrees((wrong.inv() * first).magnitude()) == pytest.approx(179.2565, abs=1e-4)


# ---------------------------------------------------------------- the lesson's functions


@few
@given(rpy=triple)
def test_rpy_matrix_is_fixed_xyz_and_moving_zyx(lesson, rpy):
    R = lesson["rpy_matrix"](rpy)
    assert np.abs(R - Rotation.from_euler("xyz", rpy).as_matrix()).max() < 1e-14
    assert np.abs(R - Rotation.from_euler("ZYX", rpy[::-1]).as_matrix()).max() < 1e-14


@few
@given(
    roll=angle,
    yaw=angle,
    beside=st.sampled_from([0.0, 1e-12, 2e-4, 0.3, 1.5]),
    side=st.sampled_from([-1, 1]),
)
def test_angles_are_read_back_at_gimbal_lock_and_beside_it(lesson, roll, yaw, beside, side):
    R = Rotation.from_euler("xyz", [roll, side * (np.pi / 2 - beside), yaw])
    back = Rotation.from_euler("xyz", lesson["rpy_from_matrix"](R.as_matrix().round(6)))
    assert (R.inv() * back).magnitude() < 3e-6


@few
@given(k0=st.sampled_from([-2, -1, 0.3, 1]), w0=vector, w1=vector, s=st.floats(0, 1))
def test_slerp_agrees_with_scipy(lesson, k0, w0, w1, s):
    first, second = Rotation.from_rotvec(w0), Rotation.from_rotvec(w1)
    if (first.inv() * second).magnitude() > 3.14:  # at a half turn both ways are the short one
        return
    expected = Slerp([0, 1], Rotation.concatenate([first, second]))(s)
    ours = Rotation.from_quat(lesson["slerp"](k0 * first.as_quat(), second.as_quat(), s))
    assert (expected.inv() * ours).magnitude() < 1e-7


@few
@given(w=vector)
def test_exp_and_log_of_a_turn(lesson, w):
    R = lesson["exp_so3"](w)
    assert np.abs(R - expm(lesson["hat"](w))).max() < 1e-12
    assert np.abs(lesson["exp_so3"](lesson["log_so3"](R)) - R).max() < 1e-7


@few
@given(
    exponent=st.floats(-12, -1),
    axis=vector.filter(lambda v: np.linalg.norm(v) > 0.1),
    near_pi=st.booleans(),
)
def test_log_is_good_near_0_and_near_180_degrees(lesson, exponent, axis, near_pi):
    theta = np.pi - 10**exponent if near_pi else 10**exponent
    w = theta * axis / np.linalg.norm(axis)
    found = lesson["log_so3"](Rotation.from_rotvec(w).as_matrix())
    if near_pi and found @ w < 0:  # at π itself w and -w are the same turn
        assert exponent < -7
        found = -found * (2 * np.pi - theta) / theta
    assert np.linalg.norm(found - w) < 1e-6 * (1 if near_pi else theta)


@few
@given(v=vector, w=vector)
def test_exp_and_log_of_a_pose(lesson, v, w):
    T = lesson["exp_se3"](np.r_[v, w])
    assert (
        np.abs(T - RigidTransform.from_exp_coords(np.r_[w, v]).as_matrix()).max() < 1e-8
    )  # SciPy: angular first
    back = lesson["log_se3"](T)
    assert np.abs(lesson["exp_se3"](back) - T).max() < 1e-6
    if np.linalg.norm(w) < 3:
        assert np.abs(back - np.r_[v, w]).max() < 1e-6


@few
@given(w=vector, t=vector)
def test_inverse_of_a_pose(lesson, w, t):
    T = lesson["pose"](Rotation.from_rotvec(w).as_matrix(), t)
    assert np.abs(lesson["inverse"](T) @ T - np.eye(4)).max() < 1e-13


@few
@given(w0=vector, w1=vector, p=vector, s=st.floats(0, 1))
def test_straight_motion_keeps_its_point_on_the_line(lesson, w0, w1, p, s):
    T0, T1 = (lesson["pose"](Rotation.from_rotvec(w).as_matrix(), w) for w in (w0, w1))
    T = lesson["straight"](T0, T1, s, p)
    ends = [(X @ np.r_[p, 1])[:3] for X in (T0, T1)]
    assert (T @ np.r_[p, 1])[:3] == pytest.approx(ends[0] + s * (ends[1] - ends[0]), abs=1e-9)
    for end, X in ((0, T0), (1, T1)):
        assert np.abs(lesson["straight"](T0, T1, end, p) - X).max() < 1e-6
        assert np.abs(lesson["screw"](T0, T1, end) - X).max() < 1e-6


def test_screw_does_not_depend_on_the_point_of_the_body(lesson):
    rng = np.random.default_rng(1)
    T0, T1, X = (
        RigidTransform.from_exp_coords(rng.uniform(-1, 1, 6)).as_matrix() for _ in range(3)
    )
    assert (
        np.abs(lesson["screw"](T0 @ X, T1 @ X, 0.3) - lesson["screw"](T0, T1, 0.3) @ X).max()
        < 1e-12
    )


def test_the_lever_of_one_millimetre(lesson):
    """Two independent ways to 1.78°: SciPy's rotations, and the formula √3 α² by hand."""
    by_hand = np.degrees(np.sqrt(1 / (600 * np.sqrt(3))))
    assert by_hand == pytest.approx(1.78, abs=0.01)
    assert lesson["miss"](np.radians(1.7775)) == pytest.approx(1.0, abs=1e-3)


def test_who_did_this_names_each_mistake_alone(lesson):
    rpy = (0.4, -0.5, 0.6)
    for read, a in lesson["READ"].items():
        for store, keep in lesson["STORE"].items():
            R = keep(Rotation.from_euler("xyz", a(np.array(rpy))).as_matrix())
            named = " + ".join(m for m in (read, store) if m) or "as it should be"
            assert named in lesson["who_did_this"](R.round(3), rpy)


@pytest.mark.parametrize(
    "name, expected",
    [
        ("Ada", "list read as yaw, pitch, roll + moving axes for fixed"),
        ("Bob", "degrees taken for radians"),
        ("Cleo", "scalar-first quaternion taken for scalar-last"),
    ],
)
def test_the_strangers_are_diagnosed_as_the_answer_says(lesson, name, expected):
    assert (
        lesson["who_did_this"](np.array(lesson["STRANGERS"][name]), (0.4, -0.5, 0.6))[0] == expected
    )


def test_who_did_this_says_what_it_cannot_name(lesson):
    rpy = (0.4, -0.5, 0.6)
    assert lesson["who_did_this"](np.diag([1.0, 1.0, -1.0]), rpy) == [
        "a mirror: no rotation at all"
    ]
    assert lesson["who_did_this"](Rotation.from_rotvec([0, 0, 2.0]).as_matrix(), rpy) == [
        "none of the usual mistakes"
    ]
