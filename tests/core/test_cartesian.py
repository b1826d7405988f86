"""course_lib.cartesian by its promises, against SciPy's slerp, differences and the toolbox's FK."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation, Slerp
from support.strategies import pose as poses

from course_lib.arm import load_arm
from course_lib.cartesian import arc, line, slowed, to_joints
from course_lib.engines import toolbox_robot
from course_lib.ik import closed_form
from course_lib.kinematics import fk
from course_lib.poses import error, pose
from course_lib.trajectory import Trajectory, shortest_duration, synchronise

few = settings(max_examples=30, deadline=None)
COBOT6 = load_arm("cobot6")
Q0 = np.array([0.3, 0.5, -0.4, 0.7, -0.6, 0.2])
NEAR_WRIST = np.array([0.2, 0.6, -1.0, 0.0, 0.5, 0.0])  # axes 4 and 6 would line up at q5 = 0


def moved(T, xyz, rotvec=(0, 0, 0)):
    """T, moved and turned about its own point, both in world axes."""
    return pose(T[:3, 3] + xyz, Rotation.from_rotvec(rotvec).as_matrix() @ T[:3, :3])


def times(motion, count=400):
    return np.linspace(0, motion.duration, count)


# ------------------------------------------------ lines and arcs


@few
@given(poses(), poses())
def test_a_line_is_straight_and_turns_like_slerp(T0, T1):
    motion = line(T0, T1)
    t = times(motion, 50)
    s, (T, _, _) = motion.timing(t)[0].clip(0, 1), motion(t)
    way = T1[:3, 3] - T0[:3, 3]
    assert np.allclose(T[:, :3, 3], T0[:3, 3] + s[:, None] * way, atol=1e-12)
    assert np.allclose(T[[0, -1]], [T0, T1], atol=1e-9)
    ends = Rotation.from_matrix([T0[:3, :3], T1[:3, :3]])
    if (ends[1] * ends[0].inv()).magnitude() < 3.1:  # at a half turn either way is right
        assert np.allclose(T[:, :3, :3], Slerp([0, 1], ends)(s).as_matrix(), atol=1e-9)


def motions(T0, T1, seed):
    """The line, and an arc through some third point, with random limits."""
    rng = np.random.default_rng(seed)
    limits = rng.uniform(0.1, 1, 5)
    via = (T0[:3, 3] + T1[:3, 3]) / 2 + rng.normal(size=3)
    return [(line(T0, T1, *limits), limits), (arc(T0, via, T1, *limits), limits)]


@few
@given(poses(), poses(), st.integers(0, 999))
def test_twist_and_acceleration_are_differences_of_the_poses(T0, T1, seed):
    T1 = moved(T1, [0.01, 0.02, 0.03])  # two different points
    for motion, _ in motions(T0, T1, seed):
        h = 1e-4 * motion.duration
        t = np.linspace(2 * h, motion.duration - 2 * h, 20)
        (before, one, _), (after, two, _), (_, twist, acceleration) = map(motion, (t - h, t + h, t))
        assert np.allclose(
            error(before, after) / (2 * h), twist, atol=1e-5 + 1e-3 * abs(twist).max()
        )
        slope = (two - one) / (2 * h)
        assert np.allclose(slope, acceleration, atol=1e-2 * abs(acceleration).max() + 1e-9)


@few
@given(poses(), poses(), st.integers(0, 999))
def test_the_tool_keeps_its_limits_and_uses_one(T0, T1, seed):
    T1 = moved(T1, [0.01, 0.02, 0.03])
    for motion, (v, omega, a, alpha, rise) in motions(T0, T1, seed):
        t = times(motion, 2000)
        _, twist, acceleration = motion(t)
        parts = twist[:, :3] / v, twist[:, 3:] / omega, acceleration[:, :3] / a
        uses = [np.linalg.norm(x, axis=1).max() for x in (*parts, acceleration[:, 3:] / alpha)]
        assert max(uses) <= 1 + 1e-9
        jerk = np.abs(motion.timing.jerk(t)).max() * rise / motion.a_max
        assert jerk <= 1 + 1e-6
        assert max(*uses, jerk) > 0.7  # an arc keeps room for the acceleration to its centre


@few
@given(poses(), poses(), st.integers(0, 999))
def test_an_arc_passes_its_three_points_on_a_circle(T0, T1, seed):
    T1 = moved(T1, [0.01, 0.02, 0.03])
    via = (T0[:3, 3] + T1[:3, 3]) / 2 + np.random.default_rng(seed).normal(size=3)
    motion = arc(T0, via, T1)
    p = motion.at(np.linspace(0, 1, 2001))[:, :3, 3]
    assert np.allclose(p[[0, -1]], [T0[:3, 3], T1[:3, 3]], atol=1e-9)
    step = np.linalg.norm(np.diff(p, axis=0), axis=1)
    assert np.linalg.norm(p - via, axis=1).min() < step.max()
    assert np.allclose(step, step[0])  # s is the way along the circle
    sphere = np.c_[2 * p, np.ones(len(p))]  # |p|^2 = 2 c p + const, in a plane: a circle
    fit = np.linalg.lstsq(sphere, np.sum(p**2, axis=1), rcond=1e-9)[0]
    assert np.allclose(sphere @ fit, np.sum(p**2, axis=1), atol=1e-9)
    assert np.linalg.svd(p - p.mean(axis=0), compute_uv=False)[2] < 1e-9 * len(p)  # in a plane


def test_an_arc_may_be_more_than_half_a_circle():
    motion = arc(pose([1, 0, 0]), [-1, 0, 0], pose([0, -1, 0]))
    assert np.allclose(motion.at([1 / 3, 2 / 3])[:, :3, 3], [[0, 1, 0], [-1, 0, 0]])


POINTS = {
    "start and via coincide": ([0, 0, 0], [0, 0, 0], [1, 0, 0]),
    "via and end coincide": ([0, 0, 0], [1, 0, 0], [1, 0, 0]),
    "start and end coincide": ([0, 0, 0], [1, 0, 0], [0, 0, 0]),
    "lie on a line": ([0, 0, 0], [0.3, 0, 0], [1, 0, 0]),
}


@pytest.mark.parametrize("message", POINTS)
def test_points_that_give_no_circle_are_named(message):
    start, via, end = POINTS[message]
    with pytest.raises(ValueError, match=message):
        arc(pose(start), via, pose(end))


REFUSED = {
    "T0: shape": lambda: line(np.tile(np.eye(4), (2, 1, 1)), np.eye(4)),
    "T1: its 3x3 part": lambda: line(np.eye(4), 2 * np.eye(4)),
    "v_max: 0": lambda: line(np.eye(4), np.eye(4), v_max=0),
    "alpha_max: inf": lambda: line(np.eye(4), np.eye(4), alpha_max=np.inf),
    "rise: -1": lambda: line(np.eye(4), np.eye(4), rise=-1),
    "via: shape": lambda: arc(np.eye(4), [1, 2], np.eye(4)),
    "points: 1": lambda: to_joints(COBOT6, line(np.eye(4), np.eye(4)), Q0, points=1),
    "q0": lambda: to_joints(COBOT6, line(np.eye(4), np.eye(4)), [0, 0]),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_can_t_be_done_is_named(message):
    with pytest.raises(ValueError, match=message):
        REFUSED[message]()


# ------------------------------------------------ joints that follow


def strays(arm, motion, joints, count=3001):
    """Largest distance [m] and angle [rad] of the tool from its way, by Robotics Toolbox."""
    t = np.linspace(0, joints.duration, count)
    robot = toolbox_robot(arm).ets()
    T = np.array([robot.eval(q) for q in joints(t)[0]])
    off = np.abs(error(motion(t)[0], T)).reshape(-1, 2, 3)
    return np.linalg.norm(off, axis=-1).max(axis=0)


def distance_from_line(arm, T0, T1, joints, count=3001):
    """Largest distance [m] from the line, and largest angle between tool and slerp [rad]."""
    T = fk(arm, joints(np.linspace(0, joints.duration, count))[0])
    way = T1[:3, 3] - T0[:3, 3]
    s = (T[:, :3, 3] - T0[:3, 3]) @ way / (way @ way)
    off = T[:, :3, 3] - T0[:3, 3] - s[:, None] * way
    ends = Rotation.from_matrix([T0[:3, :3], T1[:3, :3]])
    turn = Rotation.from_matrix(T[:, :3, :3]) * Slerp([0, 1], ends)(np.clip(s, 0, 1)).inv()
    return np.linalg.norm(off, axis=1).max(), turn.magnitude().max()


def assert_within_limits(arm, joints, keep=1.0):
    q, qd, qdd = joints(np.linspace(joints.t0, joints.t0 + joints.duration, 5001))
    assert np.all((q >= arm.q_min - 1e-9) & (q <= arm.q_max + 1e-9))
    assert np.all(np.abs(qd) <= keep * arm.qd_max * (1 + 1e-9))
    assert np.all(np.abs(qdd) <= keep * arm.qdd_max * (1 + 1e-9))


LINES = [
    ((0, 0.1, 0.1), (0, 0, 0)),
    ((-0.05, 0.1, 0.0), (0.1, 0.2, -0.1)),
    ((0.03, -0.06, 0.05), (0, 0, 0.5)),
]


@pytest.mark.parametrize("xyz, rotvec", LINES)
@pytest.mark.parametrize("follow", [to_joints, slowed])
def test_cobot6_stays_on_the_line_between_samples_and_keeps_every_limit(follow, xyz, rotvec):
    T0 = fk(COBOT6, Q0)
    T1 = moved(T0, xyz, rotvec)
    slow = dict(v_max=0.2, a_max=0.2, alpha_max=0.5) if follow is to_joints else {}
    motion = line(T0, T1, **slow)
    result = follow(COBOT6, motion, Q0)
    assert result.success and result.reason == "followed" and result.T_failed is None
    position, rotation = distance_from_line(COBOT6, T0, T1, result.trajectory)
    assert position < 1e-4 and rotation < np.radians(0.1)
    if follow is to_joints:
        assert result.trajectory.duration == motion.duration
        assert np.all(strays(COBOT6, motion, result.trajectory) < [1e-4, np.radians(0.1)])
    assert_within_limits(COBOT6, result.trajectory)
    q, qd, _ = result.trajectory([0, result.trajectory.duration])
    assert np.allclose(q[0], Q0, atol=1e-6) and not np.abs(qd).max() > 1e-9
    assert np.allclose(fk(COBOT6, q[1]), T1, atol=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_slowed_motions_keep_all_limits_wherever_they_get_to(seed):
    rng = np.random.default_rng(seed)
    q0 = rng.uniform(-1.5, 1.5, 6)
    T0 = fk(COBOT6, q0)
    T1 = moved(T0, rng.uniform(-0.15, 0.15, 3), rng.uniform(-0.5, 0.5, 3))
    motion = line(T0, T1)
    result = slowed(COBOT6, motion, q0, margin=0.2)
    if result.success:
        assert_within_limits(COBOT6, result.trajectory, keep=0.8)
        position, rotation = distance_from_line(COBOT6, T0, T1, result.trajectory)
        assert position < 1e-4 and rotation < np.radians(0.1)
        assert result.trajectory.duration >= motion.duration * 0.85  # no jerk limit here
        plain = to_joints(COBOT6, motion, q0, margin=0.2)
        if plain.success:
            assert result.trajectory.duration <= plain.trajectory.duration * 1.001
    else:
        assert result.reason in ("branch flip", "joint limit", "out of reach", "singular")


@pytest.mark.parametrize("follow", [to_joints, slowed])
def test_an_arc_is_followed_too(follow):
    T0 = fk(COBOT6, Q0)
    motion = arc(T0, T0[:3, 3] + [0, 0.05, 0.05], moved(T0, [0, 0, 0.1]), v_max=0.1, a_max=0.2)
    result = follow(COBOT6, motion, Q0)
    assert result.success
    T = fk(COBOT6, result.trajectory(np.linspace(0, result.trajectory.duration, 999))[0])
    radius = np.linalg.norm(T[:, :3, 3] - T0[:3, 3] - [0, 0, 0.05], axis=1)
    assert np.allclose(radius, 0.05, atol=1e-4)


@pytest.mark.parametrize("name, q0", [
    ("panda", [0.1, -0.5, 0.2, -2.0, 0.1, 1.6, 0.7]),
    ("cobot6", Q0),
])  # fmt: skip
def test_any_arm_with_enough_joints_can_follow(name, q0):
    arm = replace(load_arm(name), qd_max=np.full(len(q0), 5.0), qdd_max=np.full(len(q0), 20.0))
    T0 = fk(arm, q0)
    motion = line(T0, moved(T0, [0.05, 0.1, -0.05], [0, 0, 0.2]))
    result = to_joints(arm, motion, q0)
    assert result.success and np.all(strays(arm, motion, result.trajectory) < 1e-4)


def test_too_few_points_are_doubled_until_the_tool_stays_on_its_way():
    T0 = fk(COBOT6, Q0)
    motion = line(T0, moved(T0, [0, 0.1, 0.1]), v_max=0.1, a_max=0.2)
    few_points = to_joints(COBOT6, motion, Q0, points=3)
    assert few_points.success and len(few_points.trajectory.breaks) > 3
    assert np.all(strays(COBOT6, motion, few_points.trajectory) < [1e-4, np.radians(0.1)])
    tight = to_joints(COBOT6, motion, Q0, points=3, tolerance=(1e-7, 1e-7))
    assert len(tight.trajectory.breaks) > len(few_points.trajectory.breaks)
    assert np.all(strays(COBOT6, motion, tight.trajectory) < 2e-7)


def test_a_start_time_is_kept():
    T0 = fk(COBOT6, Q0)
    motion = line(T0, moved(T0, [0, 0.05, 0.05]))
    later = replace(motion, timing=motion.timing.starting(7))
    for follow in (to_joints, slowed):
        now, then = (follow(COBOT6, m, Q0).trajectory for m in (motion, later))
        assert then.t0 == 7 and np.allclose(then(7.3)[0], now(0.3)[0], atol=1e-9)


@pytest.mark.parametrize("follow", [to_joints, slowed])
def test_no_way_is_no_motion(follow):
    T0 = fk(COBOT6, Q0)
    result = follow(COBOT6, line(T0, T0), Q0)
    assert result.success and result.trajectory.duration == 0
    assert np.allclose(result.trajectory(0)[0], Q0, atol=1e-6)


def test_the_arm_stays_on_its_branch():
    """From each of the eight postures of a pose its own way, without a jump."""
    T0 = fk(COBOT6, Q0)
    motion = line(T0, moved(T0, [0, 0.05, 0.05]), v_max=0.1, a_max=0.1)
    fast = replace(COBOT6, qd_max=np.full(6, 99.0), qdd_max=np.full(6, 999.0))
    wide = replace(fast, q_min=np.full(6, -6.0), q_max=np.full(6, 6.0))
    ends = []
    for q0 in closed_form(COBOT6, T0):
        result = to_joints(wide, motion, q0)
        q = result.trajectory(times(motion))[0]
        assert result.success and np.abs(np.diff(q, axis=0)).max() < 0.05
        assert np.allclose(q[0], q0, atol=1e-6)
        ends.append(q[-1])
    gaps = np.abs(np.array(ends)[:, None] - ends).max(axis=-1)
    assert np.all(gaps[~np.eye(8, dtype=bool)] > 0.1)


# ------------------------------------------------ joints that can't


FREE = replace(COBOT6, qd_max=np.full(6, np.inf), qdd_max=np.full(6, 1e9))  # only the way counts


@pytest.mark.parametrize("follow", [to_joints, slowed])
def test_out_of_reach_is_named_where_it_begins(follow):
    T0 = fk(COBOT6, Q0)
    motion = line(T0, moved(T0, [0.6, 0, 0]))
    reachable = lambda s: len(closed_form(COBOT6, motion.at(s))) > 0
    low, high = 0.0, 1.0  # bisection by the closed form
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if reachable(middle) else (low, middle)
    result = follow(FREE, motion, Q0)
    assert not result.success and result.reason == "out of reach"
    failed = (result.T_failed[:3, 3] - T0[:3, 3])[0] / 0.6
    assert failed == pytest.approx(low, abs=1e-5)
    reached = fk(COBOT6, result.trajectory(result.t_failed)[0])
    assert np.linalg.norm(reached[:3, 3] - result.T_failed[:3, 3]) < 0.6 / 100


def test_a_start_out_of_reach_has_no_trajectory():
    result = to_joints(COBOT6, line(pose([2, 0, 0]), pose([1, 0, 0])), Q0)
    assert result.reason == "out of reach" and result.trajectory is None and result.t_failed == 0
    assert np.allclose(result.T_failed, pose([2, 0, 0]))


def line_of_joint(joint, end):
    """A line between two postures that differ in one joint's angle, on one branch."""
    q1 = Q0.copy()
    q1[joint] = end
    return line(fk(COBOT6, Q0), fk(COBOT6, q1))


def limit_case(lowest, highest):
    """An arm whose joint 1 may turn to Q0[0] + 0.1 only, and a line that needs more."""
    q_min, q_max = COBOT6.q_min.copy(), COBOT6.q_max.copy()
    q_min[0], q_max[0] = lowest, highest
    return replace(FREE, q_min=q_min, q_max=q_max), line_of_joint(0, Q0[0] + 0.3)


@pytest.mark.parametrize("follow", [to_joints, slowed])
def test_a_joint_limit_is_named_where_it_is_met(follow):
    arm, motion = limit_case(Q0[0] - 0.5, Q0[0] + 0.1)  # the other shoulder is half a turn away
    result = follow(arm, motion, Q0)
    assert result.reason == "joint limit" and "joint 1" in result.detail
    assert result.trajectory(result.t_failed)[0][0] == pytest.approx(arm.q_max[0], abs=0.01)
    best = closed_form(COBOT6, result.T_failed)
    assert not np.any((best >= arm.q_min - 1e-4).all(1) & (best <= arm.q_max - 1e-4).all(1))


def test_a_branch_flip_is_named_where_only_another_branch_goes_on():
    arm, motion = limit_case(-np.pi, Q0[0] + 0.1)  # turned half round, it would reach over
    arm = replace(arm, q_min=np.full(6, -np.pi), q_max=np.r_[arm.q_max[0], np.full(5, np.pi)])
    result = slowed(arm, motion, Q0)
    assert result.reason == "branch flip" and "joint 1" in result.detail
    others = closed_form(arm, result.T_failed)
    assert np.any((others >= arm.q_min).all(1) & (others <= arm.q_max).all(1))


def wrist_line(miss):
    """A line past the wrist singularity, off by an angle; 0 goes right through it."""
    ends = NEAR_WRIST * [1, 1, 1, 1, 1, 1], NEAR_WRIST * [1, 1, 1, 1, -1, 1]
    q0, q1 = (q + [0, 0, 0, turn, 0, 0] for q, turn in zip(ends, (miss, -miss)))
    return line(fk(COBOT6, q0), fk(COBOT6, q1)), q0


def test_through_the_singularity_is_easy_and_past_it_is_not():
    motion, q0 = wrist_line(0.0)
    assert to_joints(COBOT6, motion, q0).success
    motion, q0 = wrist_line(2e-4)
    result = to_joints(COBOT6, motion, q0)
    assert result.reason == "singular" and 0.3 < motion.timing(result.t_failed)[0] < 0.5
    wide = replace(COBOT6, q_min=np.full(6, -4.0), q_max=np.full(6, 4.0))
    slow = slowed(wide, motion, q0)  # joint 4 turns half round
    assert slow.success and slow.trajectory.duration > motion.duration
    assert_within_limits(wide, slow.trajectory)


@pytest.mark.parametrize("miss", [1e-2, 1e-3, 2e-4])
def test_slowed_past_a_singularity_takes_no_longer_than_a_stop_and_half_a_turn(miss):
    motion, q0 = wrist_line(miss)
    wide = replace(COBOT6, q_min=np.full(6, -4.0), q_max=np.full(6, 4.0))
    slow = slowed(wide, motion, q0)
    half_way = line(motion.at(0.0), motion.at(0.5)).duration, line(motion.at(0.5), motion.at(1.0))
    turn = shortest_duration("trapezoid", np.pi, COBOT6.qd_max[3], COBOT6.qdd_max[3])
    assert slow.success and slow.trajectory.duration < half_way[0] + half_way[1].duration + turn
    assert_within_limits(wide, slow.trajectory)


def test_a_joint_that_is_too_slow_or_too_weak_is_named_with_the_time():
    T0 = fk(COBOT6, Q0)
    motion = line(T0, moved(T0, [0, 0.1, 0.1]), v_max=0.2, a_max=0.2)
    _, qd, qdd = to_joints(FREE, motion, Q0).trajectory(t := times(motion, 4001))
    for name, field, used in (("speed", "qd_max", qd), ("acceleration", "qdd_max", qdd)):
        peak = np.abs(used[:, 2]).max()
        limit = np.full(6, 1e3)
        limit[2] = 0.9 * peak
        result = to_joints(replace(FREE, **{field: limit}), motion, Q0)
        first = t[np.argmax(np.abs(used[:, 2]) > 0.9 * peak)]
        assert result.reason == name and "joint 3" in result.detail
        assert result.t_failed == pytest.approx(first, abs=motion.duration / 150)
        assert np.allclose(result.T_failed, motion(result.t_failed)[0])


def test_a_margin_is_asked_of_the_joints():
    T0 = fk(COBOT6, Q0)
    motion = line(T0, moved(T0, [0, 0.1, 0.1]), v_max=0.2, a_max=0.2)
    peaks = to_joints(FREE, motion, Q0).trajectory.peaks(1).max(axis=0)
    arm = replace(FREE, qd_max=peaks * 1.1)
    assert to_joints(arm, motion, Q0).success
    assert to_joints(arm, motion, Q0, margin=0.2).reason == "speed"


def test_a_joint_move_is_no_line():
    """What lesson 08 shows: the same two poses, joint by joint, bow out by centimetres."""
    T0 = fk(COBOT6, Q0)
    T1 = moved(T0, [0, 0.1, 0.1])
    q1 = to_joints(FREE, line(T0, T1), Q0).trajectory
    q1 = q1(q1.duration)[0]
    move = synchronise(Q0, q1, COBOT6.qd_max, COBOT6.qdd_max)
    assert isinstance(move, Trajectory)
    assert distance_from_line(COBOT6, T0, T1, move)[0] > 1e-3
