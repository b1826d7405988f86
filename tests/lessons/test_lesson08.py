"""Lesson 08: its functions are right, and what it says about singular lifts and points holds.

The lesson's own functions are taken from its cells without running the rest. Witnesses are Robotics
Toolbox, SciPy and closed formulas; none of the numbers below was printed by our code.
"""

import ast
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation, Slerp

from course_lib.arm import load_arm
from course_lib.cartesian import arc, line, slowed, to_joints
from course_lib.engines import toolbox_robot
from course_lib.ik import closed_form
from course_lib.kinematics import fk
from course_lib.poses import pose

PROJECT = Path(__file__).resolve().parents[2]
LESSON = PROJECT / "notebooks" / "08_cartesian_paths.ipynb"
WANTED = {
    "down", "within", "nearest", "off_line", "my_line", "my_circle", "my_arc", "by_angles",
    "by_slerp", "turned", "extra_turn", "follow", "shelf", "lift", "lift_joints", "follow_damped",
    "wrist_by_joints",
}  # fmt: skip
ARM = load_arm("cobot6")
few = settings(max_examples=40, deadline=None)
seeds = st.integers(0, 2**32 - 1)


@pytest.fixture(scope="module")
def lesson():
    """The imports and functions of lesson 08, and the arms that they use."""
    cells = json.loads(LESSON.read_text(encoding="utf-8"))["cells"]
    names = {"arm": ARM}
    for cell in cells:
        if cell["cell_type"] == "code" and cell["id"] != "engines-pin":
            nodes = ast.parse("".join(cell["source"])).body
            kept = [n for n in nodes if isinstance(n, ast.Import | ast.ImportFrom)]
            kept += [n for n in nodes if isinstance(n, ast.FunctionDef) and n.name in WANTED]
            exec(ast.unparse(ast.Module(kept, [])), names)
    assert names.keys() >= WANTED
    low, high = ARM.q_min.copy(), ARM.q_max.copy()
    low[[3, 5]], high[[3, 5]] = -7.0, 7.0
    names["wide"] = replace(ARM, q_min=low, q_max=high)
    names["free"] = replace(names["wide"], qd_max=np.full(6, 1e3), qdd_max=np.full(6, 1e7))
    return names


def random_pose(rng):
    return pose(rng.uniform(-0.4, 0.4, 3), Rotation.from_rotvec(rng.uniform(-1, 1, 3)))


# ---------------------------------------------------------------- lines, arcs, turns


@few
@given(seeds)
def test_my_line_is_straight_and_turns_by_slerp(lesson, seed):
    rng = np.random.default_rng(seed)
    T0, T1, s = random_pose(rng), random_pose(rng), np.linspace(0, 1, 7)
    T = lesson["my_line"](T0, T1, s)
    ends = Rotation.from_matrix([T0[:3, :3], T1[:3, :3]])
    assert np.abs(T[:, :3, :3] - Slerp([0, 1], ends)(s).as_matrix()).max() < 1e-9
    assert np.abs(T[:, :3, 3] - (T0[:3, 3] + np.outer(s, T1[:3, 3] - T0[:3, 3]))).max() < 1e-12
    assert lesson["off_line"](T[:, :3, 3]).max() < 1e-12


@few
@given(seeds)
def test_my_arc_passes_its_points_on_a_circle(lesson, seed):
    start, via, end = np.random.default_rng(seed).uniform(-0.3, 0.3, (3, 3))
    centre, normal = lesson["my_circle"](start, via, end)
    p, angle = lesson["my_arc"](start, via, end, np.linspace(0, 1, 4001))
    radii = np.linalg.norm(p - centre, axis=1)
    assert np.ptp(radii) < 1e-9 * max(1, radii[0]) and abs((end - start) @ normal) < 1e-9
    assert np.abs(p[[0, -1]] - [start, end]).max() < 1e-8
    assert np.linalg.norm(p - via, axis=1).min() <= radii[0] * angle / 4000
    theirs = arc(pose(start), via, pose(end)).at(np.linspace(0, 1, 4001))[:, :3, 3]
    assert np.abs(p - theirs).max() < 1e-6


@few
@given(seeds)
def test_off_line_is_the_height_of_a_triangle(lesson, seed):
    a, b, c = np.random.default_rng(seed).uniform(-1, 1, (3, 3))
    area = np.linalg.norm(np.cross(b - a, c - a)) / 2
    assert lesson["off_line"](np.array([a, b, c]))[1] == pytest.approx(
        2 * area / np.linalg.norm(c - a)
    )


@pytest.mark.parametrize("rolls, extra", [((179, -179), 356), ((10, 30), 0)])
def test_angles_roll_a_tool_over_at_the_seam(lesson, rolls, extra):
    R0, R1 = (Rotation.from_euler("x", angle, degrees=True) for angle in rolls)
    assert lesson["extra_turn"](R0, R1, False) == pytest.approx(extra, abs=1e-6)
    assert lesson["extra_turn"](R0, R1, True) == pytest.approx(0, abs=1e-6)


# ---------------------------------------------------------------- joint moves and way-points


def test_half_a_joint_move_is_a_quarter_off(lesson):
    """By the toolbox's forward kinematics: the bow goes with the square of the length."""
    robot = toolbox_robot(ARM).ets()
    rows = lesson["within"](ARM, lesson["down"](0.35, 0.02, 0.15))
    start, way = rows[0], np.array([0.1, 0.05, -0.1, 0.05, 0.1, 0.1])
    bows = []
    for length in (1, 0.5, 0.25, 0.125):
        q = start + length * np.linspace(0, 1, 101)[:, None] * way
        bows.append(lesson["off_line"](np.array([robot.eval(x) for x in q])[:, :3, 3]).max())
    ratios = np.divide(bows[:-1], bows[1:])
    assert np.abs(ratios - 4).max() < 0.4 and abs(ratios[-1] - 4) < abs(ratios[0] - 4) + 1e-3


def test_a_spline_s_error_falls_with_the_fourth_power(lesson):
    ends = line(lesson["down"](0.35, -0.15, 0.1), lesson["down"](0.35, 0.15, 0.1))
    q0 = lesson["within"](ARM, ends.at(0.0))[0]
    x, off = np.linspace(0, 1, 1921), {}
    for n in (8, 16):
        at = np.linspace(0, 1, n + 1)
        q = lesson["follow"](ARM, ends.at(at), q0)
        off[n] = lesson["off_line"](fk(ARM, CubicSpline(at, q)(x))[:, :3, 3]).max()
        pieces = np.column_stack([np.interp(x, at, joint) for joint in q.T])
        off[-n] = lesson["off_line"](fk(ARM, pieces)[:, :3, 3]).max()
    assert off[8] / off[16] > 14
    assert off[-8] / off[-16] == pytest.approx(4, rel=0.05)


# ---------------------------------------------------------------- past a singularity


def test_down_and_shelf_are_poses_the_arm_reaches(lesson):
    for T in (lesson["down"](0.35, 0.1, 0.1, lean=10, turn=30), lesson["shelf"](0.2, 30, 5)):
        assert np.allclose(T[:3, :3] @ T[:3, :3].T, np.eye(3)) and len(closed_form(ARM, T)) == 8


@pytest.mark.parametrize("nose, aside", [(30, 10), (30, 3), (25, -2), (35, 1)])
def test_joint_4_goes_like_the_angle_of_a_point_that_passes_by(lesson, nose, aside):
    """q4 = atan2(miss, way): the peak of its speed is omega / miss, by the toolbox's frames."""
    motion, q0 = lesson["lift"](nose, aside)
    run = to_joints(lesson["free"], motion, q0).trajectory
    q, qd, _ = run(np.linspace(0, run.duration, 20001))
    robot = toolbox_robot(ARM)
    k = np.abs(qd[:, 3]).argmax()
    seen = []
    for row in q[k - 1 : k + 2]:  # the tool's axis in the frame of the forearm
        seen.append(robot.A([0, 2], row).R.T @ robot.fkine(row).R[:, 2])
    (u, v), step = np.array(seen)[:, :2].T, run.duration / 20000
    omega, miss = abs(u[2] - u[0]) / (2 * step), abs(v[1])
    assert np.ptp(v) < 1e-6 * abs(u[2] - u[0]) + 1e-7  # straight past
    assert abs(qd[k, 3]) == pytest.approx(omega / miss, rel=0.03)


def test_straight_through_the_singularity_nothing_happens(lesson):
    motion, q0 = lesson["lift"](30, 0)
    run = to_joints(ARM, motion, q0)
    q, qd, _ = run.trajectory(np.linspace(0, motion.duration, 2001))
    assert run.success and q[0, 4] > 0.2 and q[-1, 4] < -0.2
    assert np.abs(qd[:, [3, 5]]).max() < 1e-6


@pytest.mark.parametrize("aside", [0.02, 0.1, 1])
def test_slowing_down_costs_less_than_a_stop_and_half_a_turn(lesson, aside):
    motion, q0 = lesson["lift"](30, aside)
    result = slowed(lesson["wide"], motion, q0)
    turn = np.pi / ARM.qd_max[3] + ARM.qd_max[3] / ARM.qdd_max[3]  # from rest to rest
    halves = 2 * (0.1 / 0.1 + 0.1 / 0.5)  # 100 mm at 0.1 m/s and 0.5 m/s², from rest to rest
    assert result.success and result.trajectory.duration < halves + turn


@pytest.mark.parametrize("nose, aside", [(30, 5), (25, -3), (38, 12)])
def test_lift_joints_are_those_of_the_closed_form(lesson, nose, aside):
    z = np.linspace(0.1, 0.3, 11)
    first, axis = lesson["lift_joints"](nose, aside, z)
    for height, q, seen in zip(z, first, axis):
        T = lesson["shelf"](height, nose, aside)
        rows = closed_form(ARM, T)
        best = rows[np.abs(rows[:, :3] - q).max(axis=1).argmin()]
        assert np.abs(best[:3] - q).max() < 1e-9
        assert np.abs(np.sin(best[4]) * np.cos(best[3]) - seen[0]) < 1e-9


def test_the_point_stays_on_the_line_when_the_wrist_goes_by_joints(lesson):
    motion, q0 = lesson["lift"](30, 2)
    poses = motion.at(np.linspace(0, 1, 101))
    tops = lesson["within"](lesson["wide"], poses[-1])
    q1 = lesson["nearest"](q0, tops[tops[:, 1] > 0.3])
    q = lesson["wrist_by_joints"](ARM, poses, q0, q1)
    robot = toolbox_robot(ARM).ets()
    p = np.array([robot.eval(x)[:3, 3] for x in q])
    assert np.abs(p - poses[:, :3, 3]).max() < 1e-9
    assert np.abs(np.diff(q[:, 3:], 2, axis=0)).max() < 1e-9


def test_one_damped_step_is_least_squares(lesson):
    motion, q0 = lesson["lift"](30, 2)
    poses = motion.at(np.array([0.0, 0.003]))
    q = lesson["follow_damped"](ARM, poses, q0, 0.05)
    J = toolbox_robot(ARM).jacob0(q0)
    turn = Rotation.from_matrix(poses[1, :3, :3] @ fk(ARM, q0)[:3, :3].T).as_rotvec()
    e = np.r_[poses[1, :3, 3] - fk(ARM, q0)[:3, 3], turn]
    best = np.linalg.lstsq(np.r_[J, 0.05 * np.eye(6)], np.r_[e, np.zeros(6)])[0]
    assert np.abs(q[1] - q0 - best).max() < 1e-7
