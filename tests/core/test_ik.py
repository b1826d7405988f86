"""course_lib.ik against Pinocchio, Robotics Toolbox, SciPy, finite differences and by its laws."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, least_squares
from support.strategies import angle, arm_and_q, length, pose

from course_lib import ik, poses
from course_lib.arm import Arm, from_toolbox, load_arm
from course_lib.dh import to_modified
from course_lib.engines import pinocchio_fk, toolbox_robot
from course_lib.ik import numeric
from course_lib.kinematics import fk, fk_and_jacobian, jacobian, link_frames

pytest.importorskip("pinocchio")

few = settings(max_examples=40, deadline=None)
REASONS = {"converged", "unreachable", "joint limit", "singular", "stalled", "iteration limit"}
XY = (1, 1, 0, 0, 0, 0)
STRETCHED = np.arctan2(0.28, 0.05)  # q3 of cobot6: the wrist centre on the line of link 2


def arm_of(name):
    if name in ("cobot6", "panda", "planar2", "planar3"):
        return load_arm(name)
    return from_toolbox(getattr(pytest.importorskip("roboticstoolbox").models.DH, name)())


def within_limits(arm, rng, count):
    """q (count, n), and their tool poses by Pinocchio."""
    q = rng.uniform(arm.q_min, arm.q_max, (count, arm.n))
    return q, pinocchio_fk(arm, q)


def apart(q, other):
    """The largest angle between rows of q (k, n) and other (n,), all the way round: (k,)."""
    return np.abs((q - other + np.pi) % (2 * np.pi) - np.pi).max(axis=-1)


def gaps(arm, q, T):
    """Distance [m] and turn [rad] between T (N, 4, 4) and the tool at q (N, n), by Pinocchio."""
    e = poses.error(pinocchio_fk(arm, np.atleast_2d(q)), T)
    return np.linalg.norm(e[:, :3], axis=1), np.linalg.norm(e[:, 3:], axis=1)


# ---------------------------------------------------------------- two links


@few
@given(st.floats(0.05, 2), st.floats(0.05, 2), angle, angle)
def test_two_links_come_back_in_both_branches(a1, a2, q1, q2):
    assume(0.01 < abs(q2) < np.pi - 0.01 and (abs(a1 - a2) > 0.01 or abs(q2) < 3))
    xy = [a1 * np.cos(q1) + a2 * np.cos(q1 + q2), a1 * np.sin(q1) + a2 * np.sin(q1 + q2)]
    found = ik.planar2(a1, a2, xy)
    assert found.success and found.q.shape == (2, 2)
    assert found.q[0, 1] > 0 > found.q[1, 1]
    assert apart(found.q, [q1, q2]).min() < 1e-7
    for t1, t2 in found.q:
        tip = a1 * np.exp(1j * t1) + a2 * np.exp(1j * (t1 + t2))
        assert abs(tip - complex(*xy)) < 1e-9


@pytest.mark.parametrize(
    "a1, a2, xy, q",
    [
        (0.3, 0.7, [1, 0], [0, 0]),
        (0.3, 0.7, [0, -1], [-np.pi / 2, 0]),
        (0.1, 0.2, [0.1 + 0.2, 0], [0, 0]),  # 0.1 + 0.2 is a little more than 0.3
        (0.7, 0.3, [0.4, 0], [0, np.pi]),
        (0.3, 0.7, [0.4, 0], [np.pi, np.pi]),
        (0.5, 0.5, [0, 0], [0, np.pi]),
    ],
)
def test_two_links_at_the_edge_are_exact(a1, a2, xy, q):
    found = ik.planar2(a1, a2, xy)
    assert found.success and found.q.shape == (1, 2)
    assert found.q[0, 1] == q[1] and found.q[0, 0] == pytest.approx(q[0], abs=1e-15)


def test_two_links_that_touch_the_edge_within_rounding():
    for direction in np.linspace(-3, 3, 101):  # arccos would see 1 + 2e-16 in some of these
        found = ik.planar2(0.3, 0.7, [np.cos(direction), np.sin(direction)])
        assert found.q[:, 1] == [0.0]


def test_two_links_say_how_far_out_of_reach():
    assert ik.planar2(0.3, 0.7, [1.25, 0]).reason == "unreachable: 1.25 m away, the reach is 1 m"
    told = ik.planar2(0.3, 0.7, [0.25, 0])
    assert told.reason == "unreachable: 0.25 m away, the hole's radius 0.4 m"
    assert not told.success and told.q.shape == (0, 2)
    with pytest.raises(ValueError, match="a1, a2: 0, 1"):
        ik.planar2(0, 1, [1, 0])


@few
@given(st.floats(0.05, 2), st.sampled_from([0, 1e-14, 1e-12, 1e-9, 9e-6, 1e-3, 0.2]), angle,
       st.sampled_from([-1e-6, -2e-9, -1e-12, 0, 1e-16, 1e-14, 1e-12, 1e-10, 1e-8, 1e-5]),
       st.booleans())  # fmt: skip
def test_two_links_bring_the_hand_there_also_beside_an_edge(a1, more, direction, inside, outer):
    """Two lengths, also nearly the same, and a target so far inside one of the edges."""
    a2 = a1 + more
    reach, hole = a1 + a2, a2 - a1
    r = reach - inside if outer else hole + inside
    assume(r >= 0)
    found = ik.planar2(a1, a2, [r * np.cos(direction), r * np.sin(direction)])
    beyond = -inside if r > reach or r < hole else 0.0
    assume(abs(beyond - 1e-10 * reach) > 1e-13)
    assert found.success == (beyond < 1e-10 * reach)
    for t1, t2 in found.q:
        tip = a1 * np.exp(1j * t1) + a2 * np.exp(1j * (t1 + t2))
        assert abs(tip - r * np.exp(1j * direction)) < 1.1e-10 * max(1, reach)


def test_two_links_of_nearly_one_length_have_a_hole():
    told = ik.planar2(0.5, 0.500009, [0, 0])
    assert told.reason == "unreachable: 0 m away, the hole's radius 9e-06 m"
    near = ik.planar2(0.1, 0.9, [0.8 - 1e-9, 0]).reason.split()
    assert near[1] != near[-2] and float(near[1]) < float(near[-2])


# ---------------------------------------------------------------- closed form


@pytest.mark.parametrize("convention", ["standard", "modified"])
@pytest.mark.parametrize("name", ["cobot6", "Puma560", "IRB140", "KR5"])
def test_closed_form_gives_every_q_back(name, convention):
    arm = arm_of(name) if convention == "standard" else to_modified(arm_of(name))
    _comes_back(arm, np.random.default_rng(1).uniform(-np.pi, np.pi, (150, 6)))


@pytest.mark.full
def test_closed_form_gives_5000_of_5000_back():
    found = _comes_back(arm_of("cobot6"), np.random.default_rng(2).uniform(-3.1, 3.1, (5000, 6)))
    assert found == {8}  # every reachable, non-singular pose of cobot6 has eight


def _comes_back(arm, q):
    counts = set()
    for q_true, T in zip(q, pinocchio_fk(arm, q)):
        found = ik.closed_form(arm, T)
        assert np.isfinite(found).all() and (found > -np.pi).all() and (found <= np.pi).all()
        assert np.abs(pinocchio_fk(arm, found) - T).max() < 1e-9
        assert apart(found, q_true).min() < 1e-6
        counts.add(len(found))
    return counts


@st.composite
def wrist_arm(draw):
    """Axes 4, 5, 6 meet, axes 2 and 3 are parallel; everything else is drawn."""
    six = lambda element: [draw(element) for _ in range(6)]
    a, d, alpha = six(length), six(length), six(st.floats(0.4, 2.7))
    a[1] = draw(st.floats(0.2, 1)) * draw(st.sampled_from([1, -1]))
    a[3] = a[4] = d[4] = 0
    alpha[1] = draw(st.sampled_from([0, np.pi, -np.pi]))
    alpha[4] *= draw(st.sampled_from([1, -1]))
    tools = dict(base=draw(pose()), tool=draw(pose()))
    arm = Arm("drawn", "standard", a, alpha, d, theta=six(angle), **tools)
    return draw(st.sampled_from([arm, to_modified(arm)]))


@few
@given(wrist_arm(), st.lists(angle, min_size=6, max_size=6))
def test_closed_form_of_any_arm_with_such_a_wrist(arm, q):
    q = np.array(q)
    assume(np.linalg.svd(jacobian(arm, q), compute_uv=False)[-1] > 1e-3)
    _comes_back(arm, q[None])


def test_closed_form_leaves_none_out():
    """Robotics Toolbox from 200 starts finds no posture that is not among the rows."""
    arm = arm_of("cobot6")
    rng = np.random.default_rng(5)
    ets = toolbox_robot(replace(arm, q_min=np.full(6, -np.pi), q_max=np.full(6, np.pi))).ets()
    T = fk(arm, [0.3, 0.5, -0.4, 0.7, -0.6, 0.2])
    rows, seen = ik.closed_form(arm, T), set()
    for start in rng.uniform(-np.pi, np.pi, (200, 6)):
        found = ets.ik_LM(T, q0=start, slimit=1, tol=1e-13)
        if found.success:
            assert apart(rows, found.q).min() < 1e-4
            seen.add(int(apart(rows, found.q).argmin()))
    assert seen == set(range(8))


def shoulder_singular():
    """q of cobot6 with the wrist centre (frame 4) on axis 1."""
    arm = arm_of("cobot6")
    away = lambda q2: link_frames(arm, [0.0, q2, 0.4, 0, 0, 0])[4, 0, 3]
    return [0.3, brentq(away, 0, 3, xtol=1e-15), 0.4, 0.7, -0.6, 0.2]


SINGULAR = {
    "shoulder": (shoulder_singular(), 0),
    "elbow stretched": ([0.3, 0.5, STRETCHED, 0.7, -0.6, 0.2], None),
    "elbow folded": ([0.3, 0.5, STRETCHED - np.pi, 0.7, -0.6, 0.2], None),
    "wrist": ([0.3, 0.5, -0.4, 0.7, 0.0, 0.2], 3),
    "wrist, half a turn": ([0.3, 0.5, -0.4, 0.7, np.pi, 0.2], 3),
    "elbow and wrist": ([0.3, 0.5, STRETCHED, 0.7, 0.0, 0.2], 3),
    "shoulder and wrist": ([*shoulder_singular()[:4], 0.0, 0.2], 0),
    "zero": ([0.0] * 6, None),
}


@pytest.mark.parametrize("case", SINGULAR)
def test_closed_form_at_singular_poses(case):
    arm, (q, free) = arm_of("cobot6"), SINGULAR[case]
    T = pinocchio_fk(arm, np.array([q]))[0]
    rows = ik.closed_form(arm, T)
    assert 0 < len(rows) < 8 and np.isfinite(rows).all()
    assert np.abs(pinocchio_fk(arm, rows) - T).max() < 1e-9
    if free is None:
        assert apart(rows, q).min() < 1e-6
    else:  # one row stands for the family: its free joint at 0, the inner joints as they are
        bent = [j for j in (1, 2, 4) if free == 3 or j < 3]
        family = apart(rows[:, bent], np.array(q)[bent]) < 1e-6
        assert (rows[family, free] == 0).all()
        assert family.sum() == (1 if free == 3 else 2)
    others = [apart(np.delete(rows, i, 0), row).min() for i, row in enumerate(rows)]
    assert min(others) > 1e-3  # no row twice


def test_closed_form_out_of_reach_is_empty():
    arm = arm_of("cobot6")
    q = np.array([0.4, 0.3, STRETCHED, 0.0, -0.177, 0.2])
    T = fk(arm, q)
    away = T[:3, 3] - [0, 0, 0.15]
    T[:3, 3] += 0.1 * away
    assert ik.closed_form(arm, T).shape == (0, 6)


@few
@given(wrist_arm(), st.lists(angle, min_size=6, max_size=6), st.integers(0, 10**6), st.booleans())
def test_a_pose_within_the_tolerance_of_a_reached_one_is_not_out_of_reach(arm, q, seed, straight):
    """At the edge of reach, too: with the forearm in line, a step outwards."""
    rng, q = np.random.default_rng(seed), np.array(q)
    if straight:
        elbow = lambda t: np.linalg.norm(
            np.diff(link_frames(arm, [*q[:2], t, *q[3:]])[[1, 4], :3, 3], axis=0)
        )
        q[2] = max(np.linspace(-np.pi, np.pi, 400), key=elbow)
    T = fk(arm, q)
    shift = rng.normal(size=6)
    size = np.linalg.norm(shift.reshape(2, 3), axis=1).max()
    near = T.copy()
    near[:3, 3] += 1e-3 * shift[:3] / size
    near[:3, :3] = poses.exp([0, 0, 0, *(1e-3 * shift[3:] / size)])[:3, :3] @ T[:3, :3]
    assert not ik.out_of_reach(arm, near, tolerance=1.01e-3)
    away = arm.base[:3, 3] - T[:3, 3]
    near[:3, 3] = T[:3, 3] - 1e-3 * away / np.linalg.norm(away)
    assert not ik.out_of_reach(arm, near, tolerance=1.42e-3)


@pytest.mark.parametrize("beyond, proven", [(1e-9, False), (5e-7, False), (3e-6, True)])
def test_out_of_reach_knows_the_tolerance(beyond, proven):
    """The stretched arm, its wrist a little further out: what `solve` calls reached is in reach."""
    arm = arm_of("cobot6")
    q = np.array([0.2, 0.4, STRETCHED, 0.3, 1, 0.1])
    T, frames = fk(arm, q), link_frames(arm, q)
    out = frames[4, :3, 3] - frames[1, :3, 3]
    T[:3, 3] += beyond * out / np.linalg.norm(out)
    assert len(ik.closed_form(arm, T)) == 0
    assert ik.out_of_reach(arm, T) == proven
    assert ik.solve(arm, T, q + 0.01).success == (not proven)


@pytest.mark.parametrize("name", ["cobot6", "IRB140", "Puma560"])
def test_where_the_closed_form_is_empty_it_is_proven(name):
    """Random poses: no rows, and no place for the wrist centre, are the same."""
    arm, rng = arm_of(name), np.random.default_rng(23)
    T = np.array([poses.exp(v) for v in rng.normal(size=(200, 6))])
    empty = [len(ik.closed_form(arm, goal)) == 0 for goal in T]
    assert 20 < sum(empty) < 199
    assert [ik.out_of_reach(arm, goal, tolerance=1e-9) for goal in T] == empty


@pytest.mark.parametrize(
    "change",
    [dict(a=[0, 0, 0.05, 0, 0, 0]), dict(a=[0, 0.25, 0, 0, 0, 0], d=[0.15, 0, 0, 0, 0, 0.08])],
)
def test_closed_form_of_an_arm_with_a_link_of_no_length(change):
    """Then joint 3 is free: one row stands for its family, with q3 = 0."""
    arm = replace(arm_of("cobot6"), **change)
    for q in np.random.default_rng(24).uniform(-3, 3, (20, 6)):
        T = pinocchio_fk(arm, q[None])[0]
        rows = ik.closed_form(arm, T)
        assert len(rows) and (rows[:, 2] == 0).all()
        assert np.abs(pinocchio_fk(arm, rows) - T).max() < 1e-9


@pytest.mark.parametrize(
    "change, words",
    [
        (dict(a=[0, 0.25, 0.05, 0.01, 0, 0]), "axes 4 and 5 don't meet, they pass 10 mm apart"),
        (dict(a=[0, 0.25, 0.05, 0, -0.02, 0]), "axes 5 and 6 don't meet, they pass 20 mm apart"),
        (dict(d=[0.15, 0, 0, 0.28, 0.03, 0.08]), "axes 4 and 6 don't meet.* 30 mm apart"),
        (dict(alpha=[1.57, 0, 1.57, 0, 1.57, 0]), "axes 4 and 5 are parallel"),
        (dict(alpha=[1.57, 0.1, 1.57, -1.57, 1.57, 0]), "axes 2 and 3 must be parallel"),
        (dict(alpha=[0, 0, 1.57, -1.57, 1.57, 0]), "not to axis 1"),
        (dict(joint_types=["revolute"] * 2 + ["prismatic"] + ["revolute"] * 3), "six that turn"),
    ],
)
def test_closed_form_names_what_is_missing(change, words):
    with pytest.raises(ValueError, match=words):
        ik.closed_form(replace(arm_of("cobot6"), **change), np.eye(4))


def test_closed_form_refuses_ur5_and_panda():
    with pytest.raises(ValueError, match="axes 4 and 6 don't meet.* 94.65 mm"):
        ik.closed_form(arm_of("UR5"), np.eye(4))
    with pytest.raises(ValueError, match="expected six that turn"):
        ik.closed_form(arm_of("panda"), np.eye(4))


def test_limits_and_nearest():
    arm, rng = arm_of("cobot6"), np.random.default_rng(6)
    assert ik.in_limits(arm, arm.q_max) and not ik.in_limits(arm, arm.q_max + 1e-9)
    for q in rng.uniform(arm.q_min, arm.q_max, (20, 6)):
        rows = ik.closed_form(arm, fk(arm, q))
        inside = ik.in_limits(arm, rows)
        assert inside.tolist() == [bool((abs(row) <= 2.618).all()) for row in rows]
        best = ik.nearest(rows[inside], q + rng.normal(size=6) * 1e-3)
        assert np.abs(best - q).max() < 1e-6
    with pytest.raises(ValueError, match="solutions: empty"):
        ik.nearest(np.empty((0, 6)), np.zeros(6))


# ---------------------------------------------------------------- steps


@pytest.fixture
def J_and_e():
    rng = np.random.default_rng(7)
    return rng.normal(size=(6, 7)), rng.normal(size=6)


@pytest.mark.parametrize("shape", [(6, 6), (6, 7), (3, 7), (6, 4)])
def test_damped_step_is_the_least_squares_answer(shape):
    rng = np.random.default_rng(8)
    J, e = rng.normal(size=shape), rng.normal(size=shape[0])
    for damping in (0.01, 0.3):
        stacked = np.vstack([J, damping * np.eye(shape[1])])
        answer = np.linalg.lstsq(stacked, np.r_[e, np.zeros(shape[1])], rcond=None)[0]
        assert np.allclose(ik.damped(J, e, damping), answer, atol=1e-8)


@few
@given(st.integers(0, 10**6), st.floats(0.01, 1))
def test_damped_step_is_never_longer_than_promised(seed, damping):
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(6, 6)) * rng.choice([1e-3, 0.1, 1], size=6)
    e = rng.normal(size=6)
    assert np.linalg.norm(ik.damped(J, e, damping)) <= np.linalg.norm(e) / (2 * damping) + 1e-9


def test_pseudo_inverse_is_the_shortest_exact_step(J_and_e):
    J, e = J_and_e
    assert np.allclose(ik.pseudo_inverse(J, e), np.linalg.lstsq(J, e, rcond=None)[0])


def test_transpose_goes_downhill_as_far_as_is_best(J_and_e):
    J, e = J_and_e
    dq = ik.transpose(J, e)
    left = lambda scale: np.linalg.norm(e - J @ (scale * dq))
    assert left(1) < left(0) and left(1) < min(left(0.99), left(1.01))


def test_nakamura_damps_below_its_threshold_only(J_and_e):
    J, e = J_and_e
    w = np.sqrt(np.linalg.det(J @ J.T))
    assert np.allclose(ik.nakamura(J, e, threshold=0.99 * w), ik.pseudo_inverse(J, e))
    assert np.allclose(ik.nakamura(J, e, threshold=2 * w), ik.damped(J, e, 0.1 / 2), atol=1e-9)


def test_levenberg_marquardt_is_damped_by_the_error(J_and_e):
    rng = np.random.default_rng(9)
    short = 0
    for J in rng.normal(size=(60, 6, 6)):
        e = 0.1 * rng.normal(size=6)
        newton, dq = np.linalg.solve(J, e), ik.levenberg_marquardt(J, e)
        same = newton if np.abs(newton).max() < 0.1 else ik.damped(J, e, np.sqrt(0.01 * e @ e / 2))
        assert np.allclose(dq, same, rtol=1e-9, atol=0)
        short += np.abs(newton).max() < 0.1
    assert 5 < short < 55
    J, e = J_and_e
    assert np.allclose(ik.levenberg_marquardt(J, e, gain=4), ik.damped(J, e, np.sqrt(2 * e @ e)))


def test_errors_equal_those_of_poses():
    rng = np.random.default_rng(10)
    turns = [poses.exp([0.1, -0.2, 0.3, *(s * v)]) for s in (0, 1e-9, 1e-4, 1, np.pi - 1e-9, np.pi)
             for v in [np.array([0.6, 0, 0.8])]]  # fmt: skip
    T = np.array([poses.exp(rng.normal(size=6)) for _ in turns])
    goal = np.array(turns) @ T
    wanted = poses.error(T, goal)
    assert np.allclose(numeric._errors(T, goal, None), wanted, atol=1e-12)
    for k in range(len(T)):
        frame = T[k, :3].T.tolist()
        e, position, rotation = numeric._error_of_one(frame, numeric._goal(goal[k]), None)
        assert np.allclose(e, wanted[k], atol=1e-12)
        assert position == pytest.approx(np.linalg.norm(wanted[k, :3]), abs=1e-12)
        assert rotation == pytest.approx(np.linalg.norm(wanted[k, 3:]), abs=1e-12)


# ---------------------------------------------------------------- one target


@pytest.mark.parametrize("name", ["cobot6", "panda", "UR5"])
@pytest.mark.parametrize("method", ik.METHODS)
def test_every_method_arrives_from_near_by(name, method):
    arm, rng = arm_of(name), np.random.default_rng(11)
    q, T = within_limits(arm, rng, 15)
    most = 20_000 if method == "transpose" else 100
    for q_true, goal in zip(q, T):
        if np.linalg.svd(jacobian(arm, q_true), compute_uv=False)[-1] < 0.05:
            continue
        start = q_true + 0.05 * rng.uniform(-1, 1, arm.n)
        found = ik.solve(arm, goal, start, method, restarts=0, max_iterations=most)
        assert found.reason in ("converged", "joint limit")
        assert max(*gaps(arm, found.q, goal[None])) < 1e-6
        assert np.abs(found.q - q_true).max() < 0.5


def test_newton_converges_quadratically():
    """Error and Jacobian in one frame: with another frame the digits would grow by addition."""
    arm = arm_of("cobot6")
    T = pinocchio_fk(arm, np.array([[0.3, 0.5, -0.4, 0.7, -0.6, 0.2]]))[0]
    trace = ik.solve(arm, T, np.full(6, 0.3), "pinv", tolerance=1e-13, restarts=0).trace
    e = np.linalg.norm(poses.error(fk(arm, np.array(trace)), T), axis=1)
    small = (e < 0.1) & (e > 1e-7)
    assert small.sum() >= 2
    assert (e[1:][small[:-1]] < 20 * e[:-1][small[:-1]] ** 2 + 1e-13).all()


def test_the_trace_leads_from_start_to_answer():
    arm = arm_of("cobot6")
    q0 = np.full(6, 0.3)
    found = ik.solve(arm, fk(arm, np.full(6, 0.5)), q0, restarts=0)
    assert len(found.trace) == found.iterations + 1
    assert np.array_equal(found.trace[0], q0) and np.array_equal(found.trace[-1], found.q)
    assert np.array_equal(q0, np.full(6, 0.3)) and found.trace[0] is not q0
    assert max(np.abs(np.diff(found.trace, axis=0)).max(axis=1)) <= 1.0


@few
@given(arm_and_q(count=2), st.integers(0, 5))
def test_success_means_what_it_says_on_any_arm(case, restarts):
    arm, (q, q0) = case
    T = pinocchio_fk(arm, q[None])[0]
    found = ik.solve(arm, T, q0, restarts=restarts)
    assert found.reason in REASONS - {"unreachable"} or not ik.in_limits(arm, q)
    assert found.success == (found.reason == "converged")
    position, rotation = (gap[0] for gap in gaps(arm, found.q, T[None]))
    assert position == pytest.approx(found.residual_position, abs=1e-7)
    assert rotation == pytest.approx(found.residual_rotation, abs=1e-7)
    if found.success:
        assert position < 1e-6 + 1e-9 and rotation < 1e-6 + 1e-9
        assert ik.in_limits(arm, found.q)
    if found.reason == "joint limit":
        assert max(position, rotation) < 1e-6 + 1e-9 and not ik.in_limits(arm, found.q)


def test_limits_do_not_trap():
    arm = arm_of("cobot6")
    _, T = within_limits(arm, np.random.default_rng(12), 100)
    found = [ik.solve(arm, goal, np.zeros(6)) for goal in T]
    assert all(one.success for one in found)
    q = np.array([one.q for one in found])
    assert ik.in_limits(arm, q).all() and max(map(np.max, gaps(arm, q, T))) < 1e-6


def test_robotics_toolbox_finds_the_same():
    arm = arm_of("cobot6")
    robot = toolbox_robot(arm)
    q, T = within_limits(arm, np.random.default_rng(13), 8)
    for q_true, goal in zip(q, T):
        start = q_true + 0.05
        theirs = robot.ikine_LM(goal, q0=start, tol=1e-14, seed=0, joint_limits=False)
        ours = ik.solve(arm, goal, start, restarts=0, tolerance=1e-9)
        assert theirs.success
        assert np.abs(pinocchio_fk(arm, np.array([ours.q])) - robot.fkine(theirs.q).A).max() < 1e-6


def test_the_answer_stays_in_the_turn_of_the_start():
    arm = replace(arm_of("UR5"), q_min=np.full(6, -2 * np.pi), q_max=np.full(6, 2 * np.pi))
    q = np.array([4.0, -1.0, 1.2, -4.5, 1.0, 6.0])
    found = ik.solve(arm, fk(arm, q), q + 0.02)
    assert found.success and np.abs(found.q - q).max() < 1e-5
    narrow = replace(arm, q_max=np.array([2 * np.pi] * 5 + [5.0]))
    found = ik.solve(narrow, fk(arm, q), q + 0.02)
    assert found.success and found.q[5] == pytest.approx(6.0 - 2 * np.pi, abs=1e-5)


def test_a_loop_that_starts_from_the_last_answer_does_not_jump():
    arm = arm_of("cobot6")
    T = np.repeat(fk(arm, [0.3, 0.5, -0.4, 0.7, -0.6, 0.2])[None], 60, axis=0)
    T[:, 1, 3] += np.linspace(0, 0.15, 60)
    q = [np.array([0.3, 0.5, -0.4, 0.7, -0.6, 0.2])]
    for goal in T:
        found = ik.solve(arm, goal, q[-1], restarts=0)
        assert found.success
        q.append(found.q)
    assert np.abs(np.diff(q, axis=0)).max() < 0.05


def test_weights_leave_rows_out():
    arm = load_arm("planar3")
    q = np.array([0.3, 0.4, -0.6])
    T = fk(arm, q)
    T[:3, :3] = poses.exp([0, 0, 0, 0.5, 0.4, 0.3])[:3, :3]  # no posture turns the tool like this
    found = ik.solve(arm, T, [0.1, 0.2, 0.3], weights=XY)
    assert found.success and found.residual_rotation == 0
    assert np.linalg.norm(fk(arm, found.q)[:2, 3] - T[:2, 3]) < 1e-6


def test_bad_arguments_are_named():
    arm = arm_of("cobot6")
    for words, change in {
        "method: 'magic'": dict(method="magic"),
        "weights: .* negative": dict(weights=(1, 1, 1, 1, 1, -1)),
        "weights: .* all zero": dict(weights=np.zeros(6)),
        "q0": dict(q0=np.zeros(5)),
        "T: shape": dict(T=np.eye(3)),
        "T: its 3x3 part": dict(T=np.diag([1.0, 1, -1, 1])),
        "T.*finite": dict(T=np.full((4, 4), np.nan)),
    }.items():
        with pytest.raises(ValueError, match=words):
            ik.solve(arm, **(dict(T=np.eye(4), q0=np.zeros(6)) | change))
    for bound in ("tolerance", "max_step"):
        for value in (0, -1, np.nan):
            with pytest.raises(ValueError, match=f"{bound}: .* expected a positive number"):
                ik.solve(arm, np.eye(4), np.zeros(6), **{bound: value})
    for bound in ("max_iterations", "restarts"):
        with pytest.raises(ValueError, match=f"{bound}: -1, expected 0 or more"):
            ik.solve(arm, np.eye(4), np.zeros(6), **{bound: -1})
    with pytest.raises(ValueError, match="tolerance: 0, expected a positive number"):
        ik.solve_batch(arm, np.eye(4)[None], tolerance=0)
    with pytest.raises(ValueError, match="restarts: -1, expected 0 or more"):
        ik.solve_batch(arm, np.eye(4)[None], restarts=-1)
    for entry in ((2, 2), (0, 3), (1, 2)):
        T = np.eye(4)
        T[entry] = np.nan
        with pytest.raises(ValueError, match="finite"):
            ik.solve(arm, T, np.zeros(6))


# ---------------------------------------------------------------- reasons, each one true


def test_reason_joint_limit_of_a_slide():
    """A slide of 0.21 m, and a target at 0.25 m: no success with a joint out of its limits."""
    arm = Arm("slide", "standard", [0, 0.3], [0, 0], [0, 0], [0, 0], ("prismatic", "revolute"),
              q_min=[0, -2], q_max=[0.21, 2])  # fmt: skip
    found = ik.solve(arm, fk(arm, [0.25, 0.4]), [0.1, 0.1])
    assert (found.success, found.reason) == (False, "joint limit")
    assert found.q == pytest.approx([0.25, 0.4], abs=1e-6)
    assert ik.solve(arm, fk(arm, [0.21, 0.4]), [0.1, 0.1]).success  # at the limit is within


def test_reason_joint_limit_where_every_row_breaks_one():
    arm = replace(arm_of("cobot6"), q_min=np.full(6, -0.5), q_max=np.full(6, 0.5))
    T = fk(arm, [0.9, 0.2, 0.3, 0.4, 0.3, 0.2])
    assert not ik.in_limits(arm, ik.closed_form(arm, T)).any()
    found = ik.solve(arm, T, np.zeros(6))
    assert found.reason == "joint limit" and max(*gaps(arm, found.q, T[None])) < 1e-6


def test_reason_unreachable_too_far():
    """cobot6 reaches 0.614429253067 m from its shoulder and not further."""
    for name in ("cobot6", "UR5", "panda"):
        arm = arm_of(name)
        T = np.eye(4)
        T[0, 3] = 2.0
        found = ik.solve(arm, T, np.full(arm.n, 0.3))
        assert (found.success, found.reason) == (False, "unreachable")
    arm, out = arm_of("cobot6"), np.array([np.cos(0.3), 0, np.sin(0.3)])
    for distance, proven in ((0.6144292, False), (0.614431, True)):
        T = poses.pose([0, 0, 0.15] + distance * out)
        assert ik.out_of_reach(arm, T, weights=(1, 1, 1, 0, 0, 0)) == proven


def test_reason_unreachable_in_the_hole():
    arm = Arm("hole", "standard", [3, 1, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0])
    point = (1, 1, 1, 0, 0, 0)
    found = ik.solve(arm, poses.pose([0.9, 0, 0]), [0.1, 0.2, 0.3], weights=point)
    assert (found.success, found.reason) == (False, "unreachable")
    assert 0.1 <= found.residual_position < 0.2  # the hole's radius is 1
    assert ik.solve(arm, poses.pose([1.1, 0, 0]), [0.1, 0.2, 0.3], weights=point).success


def test_reason_unreachable_by_the_closed_form():
    """Within reach as a point, but not with the tool turned like this: eight rows become none."""
    arm = arm_of("cobot6")
    T = fk(arm, [0.3, 0.5, STRETCHED + 0.1, 0.7, -0.3, 0.2])
    T[:3, :3] = T[:3, :3] @ poses.exp([0, 0, 0, 0, np.pi / 2, 0])[:3, :3]
    assert len(ik.closed_form(arm, T)) == 0
    assert ik.solve(arm, T, np.full(6, 0.3)).reason == "unreachable"
    other = replace(arm, d=arm.d + [0, 0, 0, 0, 1e-3, 0])  # the same without a closed form
    assert ik.solve(other, T, np.full(6, 0.3), restarts=3).reason in ("stalled", "iteration limit")


@few
@given(arm_and_q(count=1))
def test_what_an_arm_reaches_is_never_out_of_reach(case):
    arm, q = case
    assume(ik.in_limits(arm, q[0]))
    T = pinocchio_fk(arm, q)[0]
    assert not ik.out_of_reach(arm, T)
    assert not ik.out_of_reach(arm, T, weights=(1, 1, 1, 0, 0, 0))
    assert not ik.out_of_reach(arm, T, weights=XY)


def test_reason_singular():
    """Stretched straight out, and asked to come straight in: no joint moves the tool that way."""
    arm = load_arm("planar2")
    target = poses.pose([0.6, 0, 0])
    found = ik.solve(arm, target, [0.0, 0.0], weights=XY, restarts=0)
    assert (found.success, found.reason, found.iterations) == (False, "singular", 0)
    assert np.linalg.matrix_rank(jacobian(arm, [0.0, 0.0])[:2]) == 1
    assert ik.solve(arm, target, [0.0, 1e-3], weights=XY, restarts=0).success
    assert ik.solve(arm, target, [0.0, 0.0], weights=XY).success  # other starts get out


def test_reason_stalled():
    """Two joints, three wishes (x, y and the turn about z): a least error that is not zero."""
    arm, weights = load_arm("planar2"), (1, 1, 0, 0, 0, 1)
    T = poses.pose([0.6, 0.3, 0], poses.exp([0, 0, 0, 0, 0, 2.0])[:3, :3])
    found = ik.solve(arm, T, [0.1, 0.5], weights=weights, restarts=0)
    assert (found.success, found.reason) == (False, "stalled")
    cost = lambda q: poses.error(fk(arm, q), T)[[0, 1, 5]]
    least = least_squares(cost, found.q, xtol=1e-12)
    assert np.linalg.norm(cost(found.q)) == pytest.approx(np.linalg.norm(least.fun), rel=0.01)
    assert np.linalg.svd(jacobian(arm, found.q)[[0, 1, 5]], compute_uv=False)[-1] > 0.1


def test_reason_iteration_limit():
    arm = arm_of("cobot6")
    T = fk(arm, [0.3, 0.5, -0.4, 0.7, -0.6, 0.2])
    few_steps = dict(restarts=0, max_step=0.05)
    found = ik.solve(arm, T, np.full(6, -0.5), max_iterations=5, **few_steps)
    assert (found.success, found.reason, found.iterations) == (False, "iteration limit", 5)
    e = np.linalg.norm(poses.error(fk(arm, np.array(found.trace)), T), axis=1)
    assert (np.diff(e) < 0).all()  # the error was falling
    assert ik.solve(arm, T, np.full(6, -0.5), max_iterations=200, **few_steps).success


# ---------------------------------------------------------------- many targets


def _solved(name, count, seed):
    arm = arm_of(name)
    _, T = within_limits(arm, np.random.default_rng(seed), count)
    found = ik.solve_batch(arm, T)
    reached = (np.max(gaps(arm, found.q, T), axis=0) < 1e-6) & ik.in_limits(arm, found.q)
    assert reached[found.success].all()
    assert found.q.shape == (count, arm.n) and (found.reason[~found.success] != "converged").all()
    return found.success.mean()


@pytest.mark.parametrize("name, share", [("cobot6", 0.999), ("panda", 0.995), ("UR5", 0.995)])
def test_a_batch_solves_random_targets(name, share):
    assert _solved(name, 500, seed=14) >= share


@pytest.mark.full
@pytest.mark.parametrize("name, share", [("cobot6", 0.999), ("panda", 0.995), ("UR5", 0.995)])
def test_a_batch_solves_ten_thousand_random_targets(name, share):
    assert _solved(name, 10_000, seed=15) >= share


def test_a_batch_says_why_and_repeats_itself():
    arm, rng = arm_of("cobot6"), np.random.default_rng(16)
    _, T = within_limits(arm, rng, 5)
    T[1, :3, 3] = [3, 0, 0]
    narrow = replace(arm, q_min=np.full(6, -0.5), q_max=np.full(6, 0.5))
    T[3] = fk(arm, [0.9, 0.2, 0.3, 0.4, 0.3, 0.2])
    found = ik.solve_batch(arm, T)
    assert found.reason.tolist() == ["converged", "unreachable", *["converged"] * 3]
    assert ik.solve_batch(narrow, T[[3]]).reason.tolist() == ["joint limit"]
    assert np.array_equal(found.q, ik.solve_batch(arm, T).q)
    other = ik.solve_batch(arm, T, rng=np.random.default_rng(1))
    assert not np.array_equal(found.q, other.q)
    assert ik.solve_batch(arm, np.empty((0, 4, 4))).q.shape == (0, 6)
    with pytest.raises(ValueError, match="T: shape"):
        ik.solve_batch(arm, T[0])


def test_a_batch_from_given_starts_stays_near_them():
    arm, rng = arm_of("cobot6"), np.random.default_rng(17)
    q = rng.uniform(-2, 2, (50, 6))
    good = np.linalg.svd(jacobian(arm, q), compute_uv=False)[:, -1] > 0.03
    q0 = q + 0.01 * rng.normal(size=q.shape)
    found = ik.solve_batch(arm, fk(arm, q), q0)
    assert found.success.all() and np.abs(found.q - q)[good].max() < 1e-4
    one = ik.solve(arm, fk(arm, q[0]), q0[0])
    assert np.abs(one.q - found.q[0]).max() < 1e-5 and one.iterations == found.iterations[0]


def test_a_batch_leaves_rows_out_too():
    arm, rng = load_arm("planar3"), np.random.default_rng(18)
    T = fk(arm, rng.uniform(-2, 2, (30, 3)))
    T[:, :3, :3] = np.eye(3)
    found = ik.solve_batch(arm, T, weights=XY)
    assert found.success.all() and (found.residual_rotation == 0).all()
    assert np.linalg.norm((fk(arm, found.q) - T)[:, :2, 3], axis=1).max() < 1e-6


# ---------------------------------------------------------------- priorities


@pytest.mark.parametrize("name", ["cobot6", "panda"])
def test_a_lower_task_never_disturbs_a_higher_one(name):
    """By central differences of Pinocchio's tool position, also at and near singular postures."""
    arm, rng, h = arm_of(name), np.random.default_rng(19), 1e-4
    for k in range(60):
        q = rng.uniform(-2, 2, arm.n)
        if name == "cobot6" and k % 2:  # stretched: elbow and wrist in one line with the shoulder
            q[[2, 3, 4]] = STRETCHED, 0.0, np.arctan2(0.05, 0.28)
            q += [0, 0, rng.choice([0, 1e-9, 1e-6, 1e-3]), 0, 0, 0]
        J, e = jacobian(arm, q), 0.1 * rng.normal(size=6)
        alone = ik.priority_step([(J[:3], e[:3])])
        tasks = [(J[:3], e[:3]), (J[3:], e[3:]), (np.eye(arm.n), -q)]
        lower = ik.priority_step(tasks) - alone
        assert np.linalg.norm(lower) > 1e-6
        lower /= np.linalg.norm(lower)
        p = pinocchio_fk(arm, np.array([q + h * lower, q - h * lower]))[:, :3, 3]
        assert np.linalg.norm(p[0] - p[1]) / (2 * h) < 1e-7


def test_a_lower_task_gets_what_is_left():
    """Two tasks in conflict: the second ends at its least error under the first (by SciPy)."""
    rng = np.random.default_rng(20)
    J1, J2, e1, e2 = rng.normal(size=(3, 7)), rng.normal(size=(6, 7)), np.ones(3), np.ones(6)
    dq = ik.priority_step([(J1, e1), (J2, e2)], gain=0)
    null = np.linalg.svd(J1)[2][3:]
    first = np.linalg.pinv(J1) @ e1
    best = np.linalg.lstsq(J2 @ null.T, e2 - J2 @ first, rcond=None)[0]
    assert np.allclose(J1 @ dq, e1, atol=1e-8)
    assert np.linalg.norm(J2 @ dq - e2) == pytest.approx(
        np.linalg.norm(J2 @ (first + null.T @ best) - e2), abs=1e-6
    )


def test_priority_keeps_the_position_of_a_stretched_arm():
    """At full reach the tool can only spin about the line to the shoulder.

    So the least turn that is left is the angle from that line to the axis that the target asks for.
    """
    arm, rng = arm_of("cobot6"), np.random.default_rng(21)
    for _ in range(6):
        T = fk(arm, rng.uniform(-2.6, 2.6, 6))
        line = T[:3, 3] - [0, 0, 0.15]
        line /= np.linalg.norm(line)
        T[:3, 3] = [0, 0, 0.15] + line * 0.614429253
        found = ik.priority(arm, T, rng.uniform(-2.6, 2.6, 6))
        position, rotation = (gap[0] for gap in gaps(arm, found.q, T[None]))
        assert position < 1e-4 and not found.success and found.reason == "unreachable"
        assert rotation < np.arccos(np.clip(line @ T[:3, 2], -1, 1)) + 0.01


def test_priority_is_a_solver_where_all_can_be_had():
    arm, rng = arm_of("cobot6"), np.random.default_rng(22)
    q = rng.uniform(-2.4, 2.4, (60, 6))
    found = [ik.priority(arm, fk(arm, x), x + 0.1 * rng.uniform(-1, 1, 6)) for x in q]
    assert all(one.success for one in found)
    assert max(map(np.max, gaps(arm, [one.q for one in found], fk(arm, q)))) < 1e-6
    assert np.median([one.iterations for one in found]) <= 4


def test_priority_brings_the_posture_as_near_as_it_can():
    """Panda: on the way of its spare joint no posture that keeps the pose is nearer (by SciPy)."""
    arm = load_arm("panda")
    wish = (arm.q_min + arm.q_max) / 2
    q0 = wish + [0.3, -0.2, 0.4, 0.3, -0.4, 0.2, 0.3]
    T = fk(arm, q0)
    found = ik.priority(arm, T, q0, posture=wish)
    assert found.success and max(*gaps(arm, found.q, T[None])) < 1e-6
    assert np.linalg.norm(found.q - wish) < np.linalg.norm(q0 - wish) - 1e-3
    spare = np.linalg.svd(fk_and_jacobian(arm, found.q)[1])[2][6]
    assert abs(spare @ (found.q - wish)) < 1e-3  # nothing left to gain along it
