"""Homework 05: the truths hold against outside engines, and more right answers pass."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq, least_squares
from scipy.spatial.transform import Rotation
from support.complaints import complaints
from support.judges import judge_of

from course_lib import poses
from course_lib.engines import pinocchio_fk
from course_lib.kinematics import fk, fk_and_jacobian, jacobian
from course_lib.tools.grading import command
from course_lib.tools.grading.marking import grade_id, load_homework, source_of

pytest.importorskip("pinocchio")

JUDGE, BY_NAME = judge_of("hw05_ik")
PI = np.pi
# How many cases come before those that are drawn; they alone tell every mistake from the truth.
FIXED = {"every_posture": 30, "damped_step": 5, "mended": 2, "soonest": 14}


def given_cells():
    """What the notebook gives, by running its cells up to the given code."""
    space = {}
    for cell in load_homework(command.SOURCES / "hw05_ik").notebook["cells"]:
        if cell["cell_type"] == "code" and grade_id(cell) in ("imports", "gluer", "given_step"):
            exec(source_of(cell), space)
    return space


# ---------------------------------------------------------------- the truths


def drawn_lifter(links, q):
    """Pinocchio's pose of the gripper, its joints placed as the drawing shows them at q = 0."""
    import pinocchio as pin

    h, u, f, t = links
    model, parent = pin.Model(), 0
    for i, place in enumerate([(0, 0, h), (0, 0, u), (f, 0, 0)]):
        joint = pin.JointModelRevoluteUnaligned(0, -1, 0)
        parent = model.addJoint(parent, joint, pin.SE3(np.eye(3), np.array(place, float)), str(i))
    tip = pin.SE3(np.eye(3), np.array([0, 0, -t], float))
    frame = model.addFrame(pin.Frame("tip", parent, tip, pin.FrameType.OP_FRAME))
    data = model.createData()
    pin.framesForwardKinematics(model, data, np.array(q, float))
    return data.oMf[frame]


def count_by_sweep(links, pose):
    """How many shoulder angles bring the elbow to the forearm's length from the wrist."""
    (_, u, f, _), w = links, JUDGE.wrist_of(links, pose)
    gap = lambda a: np.hypot(*(w - u * np.array([np.cos(a), np.sin(a)]))) - f
    angles = np.linspace(-PI, PI, 2001) + 1e-3
    gaps = np.array([gap(a) for a in angles])
    return np.count_nonzero(gaps[:-1] * gaps[1:] < 0)


def by_the_task(links, pose):
    """How many postures: the wrist's distance against both edges, a billionth of a metre wide."""
    (h, u, f, t), (x, z, pitch) = links, pose
    r = abs(complex(x, z - h) - t * np.exp(1j * pitch))
    if r > u + f + 1e-9 or r < abs(u - f) - 1e-9:
        return 0
    return 1 if r > u + f - 1e-9 or r < abs(u - f) + 1e-9 else 2


@pytest.mark.parametrize("seed", [3, 4])
def test_every_posture_reaches_the_drawn_pose_and_none_is_missing(seed):
    counts = []
    for links, pose in BY_NAME["every_posture"].cases(np.random.default_rng(seed)):
        found = JUDGE.every_posture(links, pose)
        for q in found:
            there = drawn_lifter(links, q)
            pointing = there.rotation @ [0, 0, -1]
            np.testing.assert_allclose(there.translation, [pose[0], 0, pose[1]], atol=1e-9)
            np.testing.assert_allclose(pointing, [np.cos(pose[2]), 0, np.sin(pose[2])], atol=1e-9)
        counts.append(len(found))
        assert len(found) == by_the_task(links, pose)
        (_, u, f, _), r = links, np.hypot(*JUDGE.wrist_of(links, pose))
        if min(abs(r - u - f), abs(r - abs(u - f))) > 1e-4:  # the sweep is not finer
            assert len(found) == count_by_sweep(links, pose)
    assert counts.count(1) == 14 and counts.count(0) == 7


def test_the_damped_step_makes_the_weighted_sum_least():
    """Slopes of tip and direction by Pinocchio; the minimum by SciPy."""
    for q, point, axis, damping in BY_NAME["damped_step"].cases(np.random.default_rng(4)):
        steps = 1e-6 * np.eye(5)
        slopes = (
            pinocchio_fk(JUDGE.GLUER, q + steps) - pinocchio_fk(JUDGE.GLUER, q - steps)
        ) / 2e-6
        T = pinocchio_fk(JUDGE.GLUER, q[None])[0]
        z = T[:3, 2]
        turn = Rotation.align_vectors([axis], [z])[0].as_rotvec()
        turn -= z * (z @ turn)
        turning = np.cross(z, slopes[:, :3, 2])  # of the nozzle's direction, (5, 3)
        residual = lambda dq: np.r_[
            dq @ slopes[:, :3, 3] - (point - T[:3, 3]), dq @ turning - turn, damping * dq
        ]
        best = least_squares(residual, np.zeros(5), xtol=1e-14, ftol=1e-14, gtol=1e-14).x
        dq = JUDGE.damped_step(q, point, axis, damping)
        np.testing.assert_allclose(dq, best, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_all_targets_can_be_reached(seed):
    for q0, points, axes in BY_NAME["aim_all"].cases(np.random.default_rng(seed)):
        T = pinocchio_fk(JUDGE.GLUER, JUDGE.with_restarts(q0, points, axes))
        assert np.linalg.norm(T[:, :3, 3] - points, axis=1).max() < 1e-6
        assert np.linalg.norm(T[:, :3, 2] - axes, axis=1).max() < 1e-6


def test_the_notebook_gives_the_arm_and_the_code_that_are_judged():
    space = given_cells()
    q = np.random.default_rng(5).uniform(-2, 2, (20, 5))
    np.testing.assert_allclose(fk(space["gluer"], q), fk(JUDGE.GLUER, q), atol=1e-12)
    for i, case in enumerate(BY_NAME["mended"].cases(np.random.default_rng(5))):
        given = space["tip_step"](*case)
        np.testing.assert_allclose(given, JUDGE.tip_step("given")(*case), atol=1e-12)
        astray = np.abs(given - JUDGE.REPAIRED(*case)).max()
        assert astray < 1e-9 if i == 0 else astray > 1e-3  # the author's test sees nothing


def test_the_repaired_step_is_the_least_squares_step_of_the_tip():
    """Slopes of the tip's pose by Pinocchio."""
    for q, c, T_goal, damping in BY_NAME["mended"].cases(np.random.default_rng(6)):
        tip = lambda q: pinocchio_fk(JUDGE.COBOT, np.atleast_2d(q)) @ poses.pose(c)
        J = poses.error(tip(q - 1e-6 * np.eye(6)), tip(q + 1e-6 * np.eye(6))).T / 2e-6
        tall = np.vstack([J, damping * np.eye(6)])
        e = np.r_[poses.error(tip(q)[0], T_goal), np.zeros(6)]
        best = np.linalg.lstsq(tall, e, rcond=None)[0]
        np.testing.assert_allclose(JUDGE.REPAIRED(q, c, T_goal, damping), best, atol=1e-6)


def test_the_soonest_posture_by_asking_how_long_the_clock_must_run():
    for case in BY_NAME["soonest"].cases(np.random.default_rng(7)):
        q, speeds = case[1], case[4]
        found, other = JUDGE.soonest(*case), by_bisection(*case)
        assert len(found) == len(other)
        if len(found):
            seconds = [np.max(np.abs(goal - q) / speeds) for goal in (found, other)]
            assert seconds[0] == pytest.approx(seconds[1], abs=1e-7)


# ---------------------------------------------------------------- more right answers


def by_root(u, f, r, direction, w):
    """The bend by a search for the distance."""
    gap = lambda b: np.hypot(u + f * np.cos(b), f * np.sin(b)) - r
    inside = gap(0) > JUDGE.EDGE and gap(PI) < -JUDGE.EDGE
    b = brentq(gap, 0, PI) if inside else 0 if gap(0) < JUDGE.EDGE else PI
    for s in (1, -1):
        yield direction - np.arctan2(f * np.sin(s * b), u + f * np.cos(s * b)), s * b


def by_complex(u, f, r, direction, w):
    c = min(1, max(-1, (r * r - u * u - f * f) / (2 * u * f)))
    for s in (-1, 1):
        b = np.angle(complex(c, s * np.sqrt(1 - c * c)))
        yield np.angle(complex(*w)) - np.angle(u + f * np.exp(1j * b)), b


def by_circles(u, f, r, direction, w):
    """The elbow lies where two circles meet."""
    along = (u * u - f * f + r * r) / (2 * r) if r > 1e-12 else 0.0
    away = np.sqrt(max(u * u - along * along, 0))
    unit = np.array([np.cos(direction), np.sin(direction)])
    for side in (-away, away):
        elbow = along * unit + side * np.array([-unit[1], unit[0]])
        a = np.arctan2(elbow[1], elbow[0])
        yield a, np.arctan2(*(w - elbow)[::-1]) - a


def by_direction(q, point, axis):
    """The direction's own velocity, z' = omega × z, against the error turned the same way."""
    (J, e), z = JUDGE.in_world_axes(q, point, axis), fk(JUDGE.GLUER, q)[:3, 2]
    return np.vstack([J[:3], np.cross(J[3:].T, z).T]), np.r_[e[:3], np.cross(e[3:], z)]


def by_any_basis(q, point, axis):
    """Two world directions across the nozzle, whichever."""
    (J, e), z = JUDGE.in_world_axes(q, point, axis), fk(JUDGE.GLUER, q)[:3, 2]
    B = np.linalg.svd(z[None])[2][1:]
    return np.vstack([J[:3], B @ J[3:]]), np.r_[e[:3], B @ e[3:]]


def by_slopes(q, point, axis):
    """J by differences of tip and direction."""
    (_, e), T = JUDGE.in_tool_axes(q, point, axis), fk(JUDGE.GLUER, q)
    d = 1e-5 * np.eye(5)
    seen = T[:3, :3].T @ ((fk(JUDGE.GLUER, q + d) - fk(JUDGE.GLUER, q - d)) / 2e-5)[:, :3]
    return np.column_stack([np.r_[D[:, 3], -D[1, 2], D[0, 2]] for D in seen]), e


def by_minimising(q, point, axis, damping):
    J, e = JUDGE.in_tool_axes(q, point, axis)
    residual = lambda dq: np.r_[J @ dq - e, damping * dq]
    return least_squares(residual, np.zeros(5), xtol=1e-12, ftol=1e-12, gtol=1e-12).x


def with_scipy(q0, point, axis):
    return least_squares(lambda q: JUDGE.in_tool_axes(q, point, axis)[1], q0, xtol=1e-12).x


def with_long_tool(q, c, T_goal, damping):
    """The nozzle as the arm's tool; Jacobian and error in tool axes."""
    arm = replace(JUDGE.COBOT, tool=JUDGE.COBOT.tool @ poses.pose(c))
    T, J = fk_and_jacobian(arm, q, "tool")
    R = T[:3, :3]
    turn = Rotation.from_matrix(R.T @ T_goal[:3, :3]).as_rotvec()
    return JUDGE.damped(J, np.r_[R.T @ (T_goal[:3, 3] - T[:3, 3]), turn], damping**2)


def turned_first(q, c, T_goal, damping):
    """Line 7 mended in its other way: both parts in flange axes, then turned together."""
    T, J = fk(JUDGE.COBOT, q), jacobian(JUDGE.COBOT, q, "tool")
    moved = T[:3, :3] @ (J[:3] + np.cross(J[3:], c, axis=0))
    A, e = np.vstack([moved, T[:3, :3] @ J[3:]]), poses.error(T @ poses.pose(c), T_goal)
    return A.T @ np.linalg.solve(A @ A.T + damping**2 * np.eye(6), e)


def by_stack(q, point, axis, damping):
    J, e = JUDGE.in_tool_axes(q, point, axis)
    tall = np.vstack([J, damping * np.eye(5)])
    return np.linalg.lstsq(tall, np.r_[e, np.zeros(5)], rcond=None)[0].tolist()


def by_svd(q, point, axis, damping):
    J, e = JUDGE.in_tool_axes(q, point, axis)
    U, s, Vt = np.linalg.svd(J)
    return Vt.T @ (s / (s**2 + damping**2) * (U.T @ e))


def by_steps(q0, point, axis):
    q = list(q0)
    for _ in range(40):
        J, e = JUDGE.in_tool_axes(np.array(q), point, axis)
        if np.linalg.norm(e) < 1e-7:
            break
        q = [a + b for a, b in zip(q, JUDGE.damped(J, e, 0.04 * e @ e + 1e-12))]
    return tuple(q)


def by_lever(q, c, T_goal, damping):
    """World axes from the start; the lever's skew matrix by rows."""
    T, J = fk_and_jacobian(JUDGE.COBOT, q)
    x, y, z = T[:3, :3] @ c
    moved = J[:3] - np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]) @ J[3:]
    e = poses.error(T @ poses.pose(c), T_goal)
    return JUDGE.damped(np.vstack([moved, J[3:]]), e, damping**2)


def by_tip_slopes(q, c, T_goal, damping):
    """J by differences of the tip."""
    tip = lambda q: fk(JUDGE.COBOT, q) @ poses.pose(c)
    J = poses.error(tip(q - 1e-5 * np.eye(6)), tip(q + 1e-5 * np.eye(6))).T / 2e-5
    return JUDGE.damped(J, poses.error(tip(q), T_goal), damping**2)


def in_flange_axes(q, c, T_goal, damping):
    T, J = fk_and_jacobian(JUDGE.COBOT, q, "tool")
    A = np.vstack([J[:3] + np.cross(J[3:], c, axis=0), J[3:]])
    D = poses.inverse(T @ poses.pose(c)) @ T_goal
    e = np.r_[D[:3, 3], Rotation.from_matrix(D[:3, :3]).as_rotvec()]
    return np.linalg.inv(A.T @ A + damping**2 * np.eye(6)) @ A.T @ e


def by_bisection(solutions, q, q_min, q_max, qd_max):
    """How long must the clock run until a posture lies within reach?"""

    def within(seconds):
        low, high = np.maximum(q_min, q - seconds * qd_max), np.minimum(q_max, q + seconds * qd_max)
        for row in solutions:
            goal = row + 2 * PI * np.ceil((low - row - 1e-9) / (2 * PI))
            if (goal <= high + 1e-9).all():
                return goal
        return []

    low, high = 0.0, 1e3
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if len(within(middle)) else (middle, high)
    return within(high)


def masked(solutions, q, q_min, q_max, qd_max):
    """One array of all rows and turns, what is not allowed at infinity."""
    turned = solutions[..., None] + 2 * PI * np.arange(-2, 3)
    bad = (turned < q_min[:, None]) | (turned > q_max[:, None])
    time = np.where(bad, np.inf, np.abs(turned - q[:, None]) / qd_max[:, None])
    i = time.min(axis=2).max(axis=1).argmin()
    if np.isinf(time[i].min(axis=1)).any():
        return np.empty(0)
    return np.take_along_axis(turned[i], time[i].argmin(axis=1)[:, None], axis=1)[:, 0]


MORE = {
    "every_posture": [
        *map(JUDGE.with_bends, (by_root, by_complex, by_circles)),
        JUDGE.with_bends(by_root, lambda rows: rows[::-1]),
    ],
    "damped_step": [
        by_svd,
        by_stack,
        by_minimising,
        *map(JUDGE.step_by, (by_direction, by_any_basis, by_slopes)),
    ],
    "aim_all": [JUDGE.one_by_one(way) for way in (by_steps, with_scipy)],
    "mended": [
        JUDGE.says(7, step)
        for step in (by_lever, by_tip_slopes, in_flange_axes, with_long_tool, turned_first)
    ],
    "soonest": [by_bisection, masked, lambda *case: list(masked(*case))],
}


@pytest.mark.parametrize("name", MORE)
def test_ten_right_answers_pass_and_ten_wrong_ones_are_told(name):
    exercise = BY_NAME[name]
    assert len(exercise.alternatives) + len(MORE[name]) >= 10 and len(exercise.mistakes) >= 10
    for answer in MORE[name]:
        for seed in (0, 1):
            result = exercise.judge(answer, np.random.default_rng(seed))
            assert result.passed, result.message


@pytest.mark.parametrize("name", FIXED)
def test_the_fixed_cases_alone_tell_every_mistake(name):
    exercise = BY_NAME[name]
    fixed = replace(exercise, cases=lambda rng: exercise.cases(rng)[: FIXED[name]])
    assert complaints(fixed, np.random.default_rng(0)) == []
    one, other = (exercise.cases(np.random.default_rng(seed)) for seed in (1, 2))
    np.testing.assert_equal(one[: FIXED[name]], other[: FIXED[name]])
    with pytest.raises(AssertionError):
        np.testing.assert_equal(one[FIXED[name]], other[FIXED[name]])


# ---------------------------------------------------------------- words for what no mistake equals


@pytest.mark.parametrize(
    "loop, words",
    [
        (dict(gain=0, fixed=0.07, steps=60), "let the damping shrink"),
        (dict(steps=2), "Take more steps"),
        (dict(factor=-0.5, steps=30), "Is a sign"),
        (dict(task=JUDGE.WRONG_TASK["tip alone"], gain=1.0), "Are both in your error?"),
        (dict(task=JUDGE.WRONG_TASK["opposite"], gain=0.03), "Most nozzles turn away"),
        (dict(task=JUDGE.WRONG_TASK["mixed"], cap=0.2), "not in one frame"),
        (dict(task=JUDGE.WRONG_TASK["backwards"], cap=0.2), "Most nozzles turn away"),
    ],
)
def test_a_loop_that_fails_in_its_own_way_is_told_what_its_nozzles_have_in_common(loop, words):
    result = BY_NAME["aim_all"].judge(JUDGE.walk(**loop), np.random.default_rng(0))
    assert not result.passed and words in result.message, result.message


@pytest.mark.parametrize("damping, seeds", [(0.05, range(5))])
def test_a_damping_that_stays_does_not_pass_with_any_seed(damping, seeds):
    loop = JUDGE.walk(gain=0, fixed=damping, steps=100)
    for seed in seeds:
        assert not BY_NAME["aim_all"].judge(loop, np.random.default_rng(seed)).passed


power = lambda n: lambda way, qd_max: np.linalg.norm(way / qd_max, n)
loose = lambda by: lambda row, q, a, b: JUDGE.all_turns(row, q, a - by, b + by)
NEARLY = {
    "damped_step": [lambda *c: JUDGE.damped_step(*c[:3], max(c[3], 0.03))],
    "soonest": [
        JUDGE.choice(cost=power(4)),
        JUDGE.choice(cost=power(8)),
        JUDGE.choice(turns=loose(0.05), inside=lambda low, high: low <= high + 0.05),
        JUDGE.choice(turns=loose(4e-4), inside=lambda low, high: low <= high + 4e-4),
    ],
}


@pytest.mark.parametrize("name", NEARLY)
def test_what_is_nearly_right_fails_with_every_seed(name):
    for answer in NEARLY[name]:
        for seed in range(4):
            assert not BY_NAME[name].judge(answer, np.random.default_rng(seed)).passed
