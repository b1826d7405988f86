"""Lesson 05: its statements that no output shows, its own functions, and more answers to check.

The lesson's functions are taken from its cells without running the rest. Witnesses are
Pinocchio, SciPy and properties; no number below was printed by our code.
"""

import json

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from course_lib import ik, poses
from course_lib.arm import from_toolbox, load_arm
from course_lib.check import PROJECT, load_exercises
from course_lib.engines import pinocchio_fk
from course_lib.kinematics import fk, fk_and_jacobian, link_frames

pytest.importorskip("pinocchio")

LESSON = PROJECT / "notebooks" / "05_inverse_kinematics.ipynb"
CHECKS = PROJECT / "notebooks" / "checks" / "05_inverse_kinematics.py"
BY_NAME = {exercise.name: exercise for exercise in load_exercises(CHECKS)}
ARM = load_arm("cobot6")
PI = np.pi


@pytest.fixture(scope="module")
def lesson():
    """The names of the cells that define, run in their order; the targets are fifty."""
    cells = json.loads(LESSON.read_text(encoding="utf-8"))["cells"]
    sources = {cell["id"]: "".join(cell["source"]) for cell in cells}
    space = {}
    for name in ("imports", "two-links", "arm-angles", "all-postures", "missing"):
        source = sources[name].split("\n\n\non_rim")[0].split("\n\n\napart")[0]
        exec(source, space)
    for name in ("build-switches", "draw-switches", "walk", "steps", "clamp"):
        exec(sources[name], space)
    return space


# ---------------------------------------------------------------- statements


@pytest.mark.parametrize("q5", [0.0, 1e-12, 1e-6, 1e-3, PI, PI - 1e-7])
def test_the_lesson_solver_holds_the_pose_at_a_straight_wrist(lesson, q5):
    q = np.random.default_rng(1).uniform(-2.6, 2.6, (60, 6))
    q[:, 4] = q5
    for T in pinocchio_fk(ARM, q):
        rows = lesson["all_postures"](ARM, T)
        assert len(rows) == (7 if min(q5, PI - q5) < 1e-9 else 8)  # the other arms bend
        assert np.abs(pinocchio_fk(ARM, rows) - T).max() < 1e-9


def test_the_lesson_solver_refuses_another_build(lesson):
    for name in ("IRB140", "Puma560"):
        arm = from_toolbox(getattr(pytest.importorskip("roboticstoolbox").models.DH, name)())
        with pytest.raises(ValueError, match="not built as cobot6"):
            lesson["all_postures"](arm, fk(arm, [0.3, 0.5, -0.4, 0.7, -0.6, 0.2]))


@pytest.mark.parametrize("lean", [-40, 0, 15, 40])
def test_the_switches_do_what_they_say(lesson, lean):
    """Front: joint 1 faces the part. Up: the elbow lies above the line from shoulder to wrist."""

    class Arm:
        def set(self, q):
            self.q = q

    for shoulder in ("front", "back"):
        for elbow in ("up", "down"):
            for wrist in ("plain", "flipped"):
                art = {"arm": Arm(), "part": Arm()}
                lesson["draw_switches"](art, shoulder, elbow, wrist, 0.3, 0.2, lean)
                frames, T = link_frames(ARM, art["arm"].q), art["part"].q
                start, bend, end = frames[[1, 2, 4], :3, 3]
                facing = np.array([np.cos(art["arm"].q[0]), np.sin(art["arm"].q[0]), 0])
                along = (end - start) / np.linalg.norm(end - start)
                side = (bend - start) - along * (along @ (bend - start))
                assert (facing @ end > 0) == (shoulder == "front")
                assert (side[2] > 0) == (elbow == "up")
                assert np.abs(frames[6] - T).max() < 1e-9


def test_error_in_the_wrong_frame_still_has_the_right_turn():
    """world with spatial: the angular parts are the same, and without a turn so is all of it."""
    rng = np.random.default_rng(2)
    T, turn = poses.exp(rng.normal(size=6)), rng.normal(size=3)
    goal = poses.pose(rng.normal(size=3), Rotation.from_rotvec(turn).as_matrix() @ T[:3, :3])
    spatial = poses.log(goal @ poses.inverse(T))
    assert np.allclose(spatial[3:], poses.error(T, goal)[3:])
    assert not np.allclose(spatial[:3], poses.error(T, goal)[:3], atol=0.01)
    goal[:3, :3] = T[:3, :3]
    assert np.allclose(poses.log(goal @ poses.inverse(T)), poses.error(T, goal))


def test_a_turn_within_the_limits_is_found_where_there_is_one(lesson):
    """`home`: for limits less than a turn apart, symmetric or not."""
    for arm in (ARM, load_arm("panda")):
        q = np.random.default_rng(3).uniform(arm.q_min, arm.q_max, (200, arm.n))
        turns = 2 * PI * np.random.default_rng(4).integers(-3, 4, q.shape)
        assert np.allclose(lesson["home"](arm, q + turns), q)


def drawn_targets(count, low, high):
    q = np.random.default_rng(6).uniform(low, high, (count, ARM.n))
    return q, pinocchio_fk(ARM, q)


@pytest.mark.parametrize("gain", [0.005, 0.5])
def test_the_gain_of_the_damping_is_not_critical(lesson, gain):
    """From 0.1 rad, as the race of the lesson starts."""
    _, T = drawn_targets(200, ARM.q_min, ARM.q_max)
    step = lambda J, e: lesson["damped"](J, e, np.sqrt(gain * (e**2).sum(-1) + 1e-12))
    assert lesson["walk"](ARM, T, np.full((200, 6), 0.1), step)[1].mean() > 0.97


def test_the_wrong_pair_of_tool_and_world_is_kinder_where_the_axes_nearly_agree(lesson):
    """Error in tool axes, Jacobian in world axes: near R = 1 it arrives, elsewhere it does not."""
    rng, shares = np.random.default_rng(7), []
    for largest in (0.3, np.pi):
        turn = Rotation.random(random_state=1, num=60).as_rotvec()
        turn *= np.minimum(1, largest / np.linalg.norm(turn, axis=1))[:, None]
        points = rng.uniform([-0.25, -0.25, 0.1], [0.25, 0.25, 0.35], (60, 3))
        T = poses.pose(points, Rotation.from_rotvec(turn).as_matrix())
        rows = [ik.closed_form(ARM, goal) for goal in T]
        T, q = T[[len(r) > 0 for r in rows]], np.array([r[0] for r in rows if len(r)])
        q = q + rng.uniform(-0.3, 0.3, q.shape)
        for _ in range(30):
            there, J = fk_and_jacobian(ARM, q)
            dq = lesson["marquardt"](J, poses.log(poses.inverse(there) @ T))
            q = q + dq / np.maximum(1, np.abs(dq).max(axis=1, keepdims=True))
        shares.append(np.mean(np.abs(poses.error(fk(ARM, q), T)).max(axis=1) < 1e-6))
    assert shares[0] > 0.8 and shares[1] < 0.2, shares


def test_the_rotation_that_is_left_for_the_wrist():
    """R36 = Rz(q4) Ry(q5) Rz(q6), and the second row of Rz(q4)^T R36 is (sin q6, cos q6, 0)."""
    for q in np.random.default_rng(8).uniform(-3, 3, (20, 6)):
        frames = link_frames(ARM, q)[:, :3, :3]
        R36 = frames[3].T @ frames[6]
        assert np.allclose(R36, Rotation.from_euler("ZYZ", q[3:]).as_matrix())
        left = Rotation.from_euler("z", -q[3]).as_matrix() @ R36
        assert np.allclose(left[1], [np.sin(q[5]), np.cos(q[5]), 0])


# ---------------------------------------------------------------- more answers to the checkpoints


def rail_by_circle(edge=1e-9):
    """The circle about the target meets the rail where the slide can stand."""

    def rail(a, x, y):
        rest = a * a - y * y
        if rest < -2 * a * edge:
            return np.empty((0, 2))
        half = np.sqrt(max(rest, 0.0)) if rest > 2 * a * edge else 0.0
        return np.array([(x - side, np.arctan2(y, side)) for side in {half, -half}])

    return rail


def rail_with_edges(beyond, within):
    def rail(a, x, y):
        if abs(y) > a + beyond:
            return []
        t = np.arcsin(np.clip(y / a, -1, 1))
        rows = [(x - a * np.cos(t), t), (x + a * np.cos(t), PI - t)]
        return rows[:1] if abs(y) > a - within else rows

    return rail


def flip_by_matrix(q, q_min, q_max):
    """By the angles of the matrix Rz Ry Rz itself, then all turns."""
    R = Rotation.from_euler("ZYZ", q[3:]).as_matrix()
    sign = -np.sign(np.sin(q[4]))
    q5 = np.arctan2(sign * np.hypot(R[0, 2], R[1, 2]), R[2, 2])
    q4, q6 = np.arctan2(sign * R[1, 2], sign * R[0, 2]), np.arctan2(sign * R[2, 1], -sign * R[2, 0])
    found = []
    for angle, low, high in zip((q4, q5, q6), q_min[3:], q_max[3:]):
        turns = [angle + 2 * PI * k for k in range(-4, 5) if low <= angle + 2 * PI * k <= high]
        if not turns:
            return None
        found.append(min(turns, key=abs))
    return [*q[:3], *found]


def damping_by_bisection(J, e, longest):
    n = J.shape[1]
    size = lambda x: np.linalg.norm(
        np.linalg.lstsq(np.r_[J, x * np.eye(n)], np.r_[e, np.zeros(n)], 1e-12)[0]
    )
    if np.linalg.norm(np.linalg.pinv(J, rcond=1e-9) @ e) <= longest:
        return 0
    low, high = 0.0, 1e3
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if size(middle) > longest else (low, middle)
    return [high]


def damping_on_a_grid(step):
    return lambda J, e, longest: next(
        x for x in np.arange(0, 50, step) if np.linalg.norm(ik.damped(J, e, x)) <= longest
    )


def restarts_up_to(most, exact=False):
    def restarts(p, share):
        for n in range(most):
            if 1 - np.mean((1 - np.asarray(p)) ** (n + 1)) >= share - (0 if exact else 1e-12):
                return n
        return None

    return restarts


def restarts_by_doubling(p, share):
    """Double until it is enough, then halve the gap."""
    p = np.asarray(p)
    if np.mean(p > 0) < share or np.mean(p > 0) == share and (p[p > 0] < 1).any():
        return None
    enough = lambda n: np.sum((1 - p) ** (n + 1)) <= (1 - share + 1e-12) * len(p)
    low, high = -1, 1
    while not enough(high):
        high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return float(high)


def audit_with(reached, inside):
    def audit(arm, q, T):
        there = fk(arm, q)
        if reached(there, T):
            return "ok" if inside(arm, q) else "limit"
        return "tool" if reached(there, T @ arm.tool) else "wrong"

    return audit


within = lambda tolerance: lambda there, T: np.abs(there - T).max() < tolerance
wider = lambda by: lambda arm, q: bool(((q >= arm.q_min - by) & (q <= arm.q_max + by)).all())
symmetric = lambda arm, q: bool((np.abs(q) <= arm.q_max).all())

RIGHT = {
    "rail": [rail_by_circle(), rail_with_edges(1e-9, 1e-9)],
    "flip_wrist": [flip_by_matrix],
    "least_damping": [damping_by_bisection],
    "restarts_for": [restarts_by_doubling],
    "audit": [audit_with(lambda a, b: np.allclose(a, b, rtol=0, atol=1e-6), ik.in_limits)],
}
WRONG = {
    "rail": [
        *(rail_with_edges(*edges) for edges in ((9e-4, 1e-9), (1e-9, 1e-3))),
        *(rail_with_edges(edge, edge) for edge in (0, 1e-12, 1e-10, 1e-8, 1e-6)),
        lambda a, x, y: rail_by_circle(1e-9 / (2 * a))(a, x, y),  # the band on the squares
    ],
    "flip_wrist": [lambda q, a, b: flip_by_matrix(q, a - 0.1, b + 0.1)],
    "least_damping": [damping_on_a_grid(step) for step in (1e-2, 1e-3)],
    "restarts_for": [restarts_up_to(most) for most in (50, 100, 200, 1000)]
    + [restarts_up_to(100_000, exact=True)],
    "audit": [
        *(audit_with(within(tolerance), ik.in_limits) for tolerance in (2e-4, 1e-4, 1e-5, 1e-8)),
        audit_with(np.allclose, ik.in_limits),
        *(audit_with(within(1e-6), inside) for inside in (wider(0.1), wider(0.02), symmetric)),
    ],
}


@pytest.mark.parametrize("name", RIGHT)
def test_more_right_answers_pass_and_more_wrong_ones_do_not(name):
    for seed in (0, 1):
        judge = lambda answer: BY_NAME[name].judge(answer, np.random.default_rng(seed))
        assert [judge(answer).message for answer in RIGHT[name] if not judge(answer).passed] == []
        told = [judge(answer) for answer in WRONG[name]]
        assert [i for i, result in enumerate(told) if result.passed] == []
        assert not any("`return`" in result.message for result in told)


@pytest.mark.parametrize(
    "name, answer, words",
    [
        ("least_damping", damping_on_a_grid(1e-3), "Four digits are asked for"),
        ("rail", rail_with_edges(1e-12, 1e-12), "beyond the link's length"),
        ("restarts_for", restarts_up_to(100), "Did you stop counting too soon?"),
        ("audit", audit_with(within(1e-6), symmetric), "the flange's by"),
    ],
)
def test_what_no_mistake_equals_is_told_what_is_off(name, answer, words):
    message = BY_NAME[name].judge(answer, np.random.default_rng(0)).message
    assert words in message, message
