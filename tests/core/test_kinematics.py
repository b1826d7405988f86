"""course_lib.kinematics against Robotics Toolbox, Pinocchio, finite differences and by its laws."""

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from support.engines import LIBRARY_ARMS, TOOLBOX_ARMS
from support.strategies import arm_and_q, pose

from course_lib import kinematics
from course_lib.arm import Arm, from_toolbox, load_arm
from course_lib.engines import pinocchio_fk, pinocchio_model, toolbox_robot
from course_lib.kinematics import fk, fk_and_jacobian, jacobian, link_frames, manipulability
from course_lib.poses import adjoint

few = settings(max_examples=30, deadline=None)
fewer = settings(max_examples=15, deadline=None)  # with Robotics Toolbox, which is slow
FRAMES = ("world", "tool", "spatial")


# ------------------------------------------------ poses


@fewer
@given(arm_and_q())
def test_fk_equals_robotics_toolbox_on_random_arms(case):
    pytest.importorskip("roboticstoolbox")
    arm, q = case
    assert np.allclose(fk(arm, q), toolbox_robot(arm).fkine(q).A, rtol=0, atol=1e-12)


@few
@given(arm_and_q())
def test_fk_equals_pinocchio_on_random_arms(case):
    pytest.importorskip("pinocchio")
    arm, q = case
    assert np.allclose(fk(arm, q), pinocchio_fk(arm, q), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", LIBRARY_ARMS)
def test_fk_of_each_library_arm_equals_both_engines(name):
    pytest.importorskip("pinocchio")
    arm = load_arm(name)
    q = np.random.default_rng(3).uniform(-np.pi, np.pi, (200, arm.n))
    assert np.abs(fk(arm, q) - toolbox_robot(arm).fkine(q).A).max() < 1e-12
    assert np.abs(fk(arm, q) - pinocchio_fk(arm, q)).max() < 1e-12


@pytest.mark.parametrize("name", TOOLBOX_ARMS)
def test_fk_of_real_arms_equals_both_engines(name):
    rtb = pytest.importorskip("roboticstoolbox")
    pytest.importorskip("pinocchio")
    robot = getattr(rtb.models.DH, name)()
    arm = from_toolbox(robot)
    q = np.random.default_rng(4).uniform(-np.pi, np.pi, (50, arm.n))
    assert np.abs(fk(arm, q) - robot.fkine(q).A).max() < 1e-12
    assert np.abs(fk(arm, q) - pinocchio_fk(arm, q)).max() < 1e-12


@few
@given(arm_and_q())
def test_link_frames_begin_at_the_base_and_end_before_the_tool(case):
    arm, q = case
    frames = link_frames(arm, q)
    assert frames.shape == (len(q), arm.n + 1, 4, 4)
    assert np.array_equal(frames[:, 0], np.broadcast_to(arm.base, (len(q), 4, 4)))
    assert np.allclose(frames[:, -1] @ arm.tool, fk(arm, q), rtol=0, atol=1e-12)
    R = frames[..., :3, :3]
    assert np.allclose(R @ np.swapaxes(R, -1, -2), np.eye(3), rtol=0, atol=1e-12)


# ------------------------------------------------ Jacobians


def differences(arm, q, step=1e-5):
    """World Jacobian (N, 6, n) by central differences of fk: the tool's turn and shift."""
    columns = []
    for i in range(arm.n):
        e = step * np.eye(arm.n)[i]
        after, before = fk(arm, q + e), fk(arm, q - e)
        turn = Rotation.from_matrix(
            after[:, :3, :3] @ np.swapaxes(before[:, :3, :3], -1, -2)
        ).as_rotvec()
        columns.append(np.hstack([after[:, :3, 3] - before[:, :3, 3], turn]) / (2 * step))
    return np.stack(columns, axis=-1)


def toolbox_jacobians(arm, q):
    """{"world", "tool": (N, 6, n)} from Robotics Toolbox."""
    robot = toolbox_robot(arm)
    functions = {"world": robot.jacob0, "tool": robot.jacobe}
    return {
        frame: np.array([J(q_k).reshape(6, arm.n) for q_k in q]) for frame, J in functions.items()
    }


def pinocchio_jacobians(arm, q):
    """{frame: (N, 6, n)} from Pinocchio, in its three reference frames."""
    import pinocchio as pin

    model, tool = pinocchio_model(arm)
    data = model.createData()
    names = {"world": pin.LOCAL_WORLD_ALIGNED, "tool": pin.LOCAL, "spatial": pin.WORLD}
    return {
        frame: np.array(
            [pin.computeFrameJacobian(model, data, q_k, tool, name).reshape(6, arm.n) for q_k in q]
        )
        for frame, name in names.items()
    }  # one joint: both engines return a vector (6,)


def assert_equal_to_all(arm, q):
    assert np.abs(jacobian(arm, q) - differences(arm, q)).max() < 1e-7
    for others in (toolbox_jacobians(arm, q), pinocchio_jacobians(arm, q)):
        for frame, J in others.items():
            assert np.abs(jacobian(arm, q, frame) - J).max() < 1e-12, frame


@pytest.mark.parametrize("name", LIBRARY_ARMS)
def test_each_library_arm_equals_differences_and_both_engines(name):
    pytest.importorskip("pinocchio")
    arm = load_arm(name)
    assert_equal_to_all(arm, np.random.default_rng(3).uniform(-np.pi, np.pi, (60, arm.n)))


@pytest.mark.parametrize("name", TOOLBOX_ARMS)
def test_real_arms_equal_differences_and_both_engines(name):
    rtb = pytest.importorskip("roboticstoolbox")
    pytest.importorskip("pinocchio")
    arm = from_toolbox(getattr(rtb.models.DH, name)())
    q = np.random.default_rng(4).uniform(-np.pi, np.pi, (30, arm.n))
    assert_equal_to_all(arm, q)
    robot = getattr(rtb.models.DH, name)()  # the toolbox's own model, not ours rebuilt
    assert max(np.abs(robot.jacob0(q_k) - jacobian(arm, q_k)).max() for q_k in q) < 1e-12


@few
@given(arm_and_q())
def test_random_arms_equal_finite_differences(case):
    arm, q = case
    assert np.allclose(jacobian(arm, q), differences(arm, q), rtol=0, atol=1e-7)


@fewer
@given(arm_and_q())
def test_random_arms_equal_both_engines(case):
    pytest.importorskip("pinocchio")
    pytest.importorskip("roboticstoolbox")
    arm, q = case
    for others in (toolbox_jacobians(arm, q), pinocchio_jacobians(arm, q)):
        for frame, J in others.items():
            assert np.allclose(jacobian(arm, q, frame), J, rtol=0, atol=1e-12), frame


@few
@given(arm_and_q())
def test_spatial_is_the_adjoint_of_the_tool_pose_times_tool(case):
    """VALUES: WORLD = Ad(T) LOCAL; its linear rows are v - omega x p."""
    arm, q = case
    T, world, tool, spatial = fk(arm, q), *(jacobian(arm, q, frame) for frame in FRAMES)
    assert np.allclose(spatial, adjoint(T) @ tool, rtol=0, atol=1e-12)
    v, omega = world[:, :3], world[:, 3:]
    assert np.allclose(
        spatial[:, :3], v - np.cross(omega, T[:, :3, 3, None], axis=1), rtol=0, atol=1e-12
    )
    assert np.array_equal(spatial[:, 3:], omega)


def singular_posture(name):
    """q (6,) of cobot6: the elbow by the drawing, the shoulder by a search with Pinocchio."""
    arm, q = load_arm("cobot6"), np.array([0.3, 0.4, -0.2, 0.7, 0.8, 0.2])
    if name == "elbow":  # wrist centre, elbow and shoulder in one line
        q[2] = np.arctan2(arm.d[3], arm.a[2])
    elif name == "wrist":  # axes 4 and 6 in one line
        q[4] = 0
    else:  # wrist centre on the axis of joint 1
        pin = pytest.importorskip("pinocchio")
        model, _ = pinocchio_model(arm)
        data, ahead = model.createData(), np.array([np.cos(q[0]), np.sin(q[0]), 0])

        def in_front(q2):
            pin.forwardKinematics(model, data, np.r_[q[0], q2, q[2:]])
            return data.oMi[5].translation @ ahead

        q[1] = brentq(in_front, 0, np.pi, xtol=1e-15)
    return q


@pytest.mark.parametrize("name", ["elbow", "shoulder", "wrist"])
def test_the_three_frames_lose_the_same_one_rank_as_in_pinocchio(name):
    """Turning or shifting the frame is an invertible map: singular in one, singular in all."""
    pytest.importorskip("pinocchio")
    arm, q = load_arm("cobot6"), singular_posture(name)
    theirs = pinocchio_jacobians(arm, q[None])
    for frame in FRAMES:
        sigma = np.linalg.svd(theirs[frame][0], compute_uv=False)
        assert sigma[5] < 1e-12 and sigma[4] > 1e-3, frame
        J = jacobian(arm, q, frame)
        assert np.allclose(J, theirs[frame][0], rtol=0, atol=1e-12), frame
        assert np.allclose(np.linalg.svd(J, compute_uv=False), sigma, rtol=0, atol=1e-12), frame


@few
@given(arm_and_q(), pose())
def test_spatial_depends_on_neither_the_tool_nor_its_length(case, other_tool):
    arm, q = case
    assert np.allclose(
        jacobian(arm, q, "spatial"),
        jacobian(replace(arm, tool=other_tool), q, "spatial"),
        rtol=0,
        atol=1e-13,
    )


# ------------------------------------------------ one, many, in chunks, in one pass


def all_results(arm, q):
    """{name: array} of every function and frame at q."""
    results = {"fk": fk(arm, q), "link_frames": link_frames(arm, q)}
    for frame in FRAMES:
        results[f"jacobian {frame}"] = jacobian(arm, q, frame)
        pair = fk_and_jacobian(arm, q, frame)
        results |= dict(zip((f"pair's fk, {frame}", f"pair's jacobian, {frame}"), pair))
    return results


def assert_loops_equal_batch(arm, q):
    """Every function: q (..., n) as a stack and posture by posture, lists included."""
    batch = all_results(arm, q)
    for name, array in batch.items():
        tail = (arm.n + 1, 4, 4) if "link" in name else (6, arm.n) if "jac" in name else (4, 4)
        assert array.shape == q.shape[:-1] + tail and array.dtype == float, name
    for index in np.ndindex(q.shape[:-1]):
        one, listed = all_results(arm, q[index]), all_results(arm, q[index].tolist())
        for name, array in batch.items():
            assert np.allclose(array[index], one[name], rtol=0, atol=1e-13), name
            assert np.array_equal(one[name], listed[name]), name


@few
@given(arm_and_q())
def test_one_posture_goes_another_way_to_the_same_result(case):
    assert_loops_equal_batch(*case)


@few
@given(arm_and_q(count=1))
def test_one_posture_equals_pinocchio(case):
    pytest.importorskip("pinocchio")
    arm, q = case
    assert np.allclose(fk(arm, q[0]), pinocchio_fk(arm, q)[0], rtol=0, atol=1e-12)
    for frame, J in pinocchio_jacobians(arm, q).items():
        assert np.allclose(jacobian(arm, q[0], frame), J[0], rtol=0, atol=1e-12), frame


@few
@given(arm_and_q())
def test_one_pass_gives_what_two_give(case):
    arm, q = case
    for some in (q, q[0]):
        for frame in FRAMES:
            T, J = fk_and_jacobian(arm, some, frame)
            assert np.array_equal(T, fk(arm, some))
            assert np.array_equal(J, jacobian(arm, some, frame))
        assert np.array_equal(fk_and_jacobian(arm, some)[1], jacobian(arm, some, "world"))
        assert np.array_equal(jacobian(arm, some), jacobian(arm, some, "world"))


@pytest.mark.parametrize("name", LIBRARY_ARMS)
@pytest.mark.parametrize("shape", [(1,), (2, 3), (2, 1, 2)])
def test_a_batch_is_the_loop_over_it(name, shape):
    arm = load_arm(name)
    assert_loops_equal_batch(arm, np.random.default_rng(5).uniform(-2, 2, (*shape, arm.n)))


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3)])
def test_no_configuration_gives_no_result(shape):
    assert_loops_equal_batch(load_arm("panda"), np.empty((*shape, 7)))


@pytest.mark.parametrize("count", [1, 3, 4, 5, 8, 9])
def test_a_stack_longer_than_a_chunk_is_the_loop_over_it(monkeypatch, count):
    monkeypatch.setattr(kinematics, "CHUNK", 4)
    assert_loops_equal_batch(load_arm("panda"), np.random.default_rng(7).uniform(-2, 2, (count, 7)))


def test_a_stack_longer_than_the_chunk_itself():
    arm, q = load_arm("cobot6"), np.random.default_rng(8).uniform(-2, 2, (20_007, 6))
    some = [0, 9_999, 10_000, 10_001, 19_999, 20_000, 20_006]
    few, many = all_results(arm, q[some]), all_results(arm, q)
    for name, array in many.items():
        assert np.allclose(array[some], few[name], rtol=0, atol=1e-15), name


@pytest.mark.parametrize("form", [np.float32, int, "columns", "reversed", tuple])
def test_configurations_may_come_in_any_form(form):
    """Other numbers, other orders in memory: the values count."""
    arm, q = load_arm("panda"), np.random.default_rng(9).integers(-2, 3, (5, 7)).astype(float)
    forms = {
        "columns": np.asfortranarray(q),
        "reversed": q[::-1][::-1],
        tuple: tuple(map(tuple, q)),
    }
    given = forms[form] if form in forms else q.astype(form)
    for name, array in all_results(arm, q).items():
        assert np.array_equal(array, all_results(arm, given)[name]), name
        one = all_results(arm, given[2])[name]
        assert np.allclose(array[2], one, rtol=0, atol=1e-14), name


def test_results_belong_to_the_caller():
    """Neither q nor the arm changes when a result is written to."""
    arm = load_arm("panda")
    for q in (np.zeros(7), np.zeros((2, 7))):
        before = all_results(arm, q)
        for result in (fk(arm, q), link_frames(arm, q), *fk_and_jacobian(arm, q)):
            result[:] = 7
        assert not q.any()
        for name, array in all_results(arm, q).items():
            assert np.array_equal(array, before[name]), name


def test_arms_are_not_kept_for_ever():
    """The plain numbers of an arm are kept for the next posture, but not of a thousand arms."""
    arm = load_arm("planar2")
    made = [replace(arm, a=[0.1 * k, 1.0]) for k in range(200)]
    for k, other in enumerate(made):
        assert fk(other, [0.0, 0.0])[0, 3] == pytest.approx(0.1 * k + 1, abs=1e-12)
    alive = [weakref.ref(other) for other in made]
    del made, other
    gc.collect()
    assert sum(ref() is not None for ref in alive) < 100


# ------------------------------------------------ what is told


EVERY = (fk, link_frames, jacobian, fk_and_jacobian)


@pytest.mark.parametrize("function", [jacobian, fk_and_jacobian])
@pytest.mark.parametrize("frame", ["WORLD", "base", "", None, "local"])
def test_an_unknown_frame_is_told(function, frame):
    message = r"frame: .*expected one of \('world', 'tool', 'spatial'\)"
    for q in (np.zeros(6), np.zeros((2, 6))):
        with pytest.raises(ValueError, match=message):
            function(load_arm("cobot6"), q, frame)


@pytest.mark.parametrize("function", EVERY)
@given(st.sampled_from(LIBRARY_ARMS), st.integers(0, 9))
def test_wrong_length_of_q_is_told(function, name, size):
    arm = load_arm(name)
    assume(size != arm.n)
    for shape in ((size,), (arm.n, size)):
        told = "".join(rf"\{c}" if c in "()" else c for c in str(shape))
        message = rf"q: shape {told}, expected \(\.\.\., {arm.n}\) for '{name}'"
        with pytest.raises(ValueError, match=message):
            function(arm, np.zeros(shape))


@pytest.mark.parametrize("function", EVERY)
@pytest.mark.parametrize(
    "q, message",
    [
        (0.5, r"q: shape \(\), expected"),
        ([0.0, "x"], "q: .*expected real numbers"),
        ([0.0, np.nan], r"q\[1\]: nan, expected finite numbers"),
        (np.array([np.inf, 0.0]), r"q\[0\]: inf, expected finite numbers"),
        (np.array([[0.0, 0.0], [0.0, -np.inf]]), r"q\[1, 1\]: -inf, expected finite numbers"),
        (np.array([0.1j, 0.0]), "q: .*expected real numbers"),
        (np.ma.array([0.0, 1.0], mask=[0, 1]), r"q: [\s\S]*expected real numbers"),
        (np.array([True, False]), "q: .*expected real numbers"),
    ],
)
def test_a_wrong_q_is_told(function, q, message):
    with pytest.raises(ValueError, match="^" + message):
        function(load_arm("planar2"), q)


@pytest.mark.parametrize("function", EVERY)
def test_what_is_no_arm_is_told(function):
    with pytest.raises(ValueError, match="^arm: 'cobot6', expected an Arm, as load_arm gives it"):
        function("cobot6", np.zeros(6))


# ------------------------------------------------ singularities and manipulability


@fewer
@given(arm_and_q())
def test_manipulability_is_the_root_of_the_determinant_and_the_toolboxs_own(case):
    arm, q = case
    J = jacobian(arm, q)
    rows = J[:, : min(3, arm.n)]
    gram = np.linalg.det(rows @ np.swapaxes(rows, -1, -2))
    assert np.allclose(manipulability(rows) ** 2, gram, rtol=1e-9, atol=1e-12)
    if arm.n >= 6:
        pytest.importorskip("roboticstoolbox")
        theirs = [toolbox_robot(arm).manipulability(q_k, axes="all") for q_k in q]
        assert np.allclose(manipulability(J) ** 2, np.square(theirs), rtol=1e-9, atol=1e-10)


def test_manipulability_wants_rows_of_the_task():
    with pytest.raises(
        ValueError, match=r"J: shape \(6, 2\), expected \(\.\.\., m, n\) with m <= n"
    ):
        manipulability(jacobian(load_arm("planar2"), [0.1, 0.2]))
    with pytest.raises(ValueError, match=r"J: shape \(3,\)"):
        manipulability(np.zeros(3))
    assert manipulability(np.eye(3)) == manipulability([[0.6, 0.8]]) == 1


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_manipulability_tells_what_is_not_a_number(bad):
    J = np.zeros((4, 2, 3))
    J[2, 1, 0] = bad
    with pytest.raises(ValueError, match=rf"J\[2, 1, 0\]: {bad}, expected finite numbers"):
        manipulability(J)


def test_the_2r_arm_by_hand():
    """Area of the velocity ellipse over pi: l1 l2 |sin q2| (Yoshikawa 1985)."""
    q = np.random.default_rng(6).uniform(-3, 3, (50, 2))
    J = jacobian(load_arm("planar2"), q)[:, :2]
    assert np.allclose(manipulability(J), 0.55 * 0.45 * np.abs(np.sin(q[:, 1])), rtol=0, atol=1e-14)


def test_cobot6_at_zero_has_rank_five():
    sigma = np.linalg.svd(jacobian(load_arm("cobot6"), np.zeros(6)), compute_uv=False)
    assert sigma[5] < 1e-12 < 1e-3 < sigma[4]


@pytest.mark.parametrize("q3", [79.8753, -100.1247])
def test_cobot6_elbow(q3):
    """VALUES: elbow singular at q3 = 79.8753 and -100.1247 degrees, to the digits given."""
    q = np.tile([0.3, 0.5, 0, 0.7, -0.6, 0.2], (3, 1))
    q[:, 2] = np.radians([q3 - 1, q3, q3 + 1])
    before, at, after = np.linalg.det(jacobian(load_arm("cobot6"), q))
    assert before * after < 0 and abs(at) < 1e-4 * abs(after - before)


def test_a_tool_force_needs_the_torques_of_the_transposed_jacobian():
    """Duality, against Pinocchio's inverse dynamics: no gravity, at rest, a wrench on the tool."""
    pin = pytest.importorskip("pinocchio")
    arm = load_arm("cobot6")
    model, tool = pinocchio_model(arm)
    model.gravity.setZero()
    data, rng = model.createData(), np.random.default_rng(8)
    for q in rng.uniform(-2, 2, (20, 6)):
        wrench = rng.normal(size=6)  # force, moment at the tool, world axes
        pin.framesForwardKinematics(model, data, q)
        at_tool = pin.SE3(data.oMf[tool].rotation, np.zeros(3)).actInv(pin.Force(wrench))
        push = [pin.Force.Zero() for _ in range(model.njoints)]
        push[6] = pin.Force(model.frames[tool].placement.act(at_tool))
        needed = pin.rnea(
            model, data, q, np.zeros(6), np.zeros(6), push
        )  # holds against what pushes
        assert np.allclose(needed, -jacobian(arm, q).T @ wrench, rtol=0, atol=1e-12)


# ------------------------------------------------ values known from outside


def test_cobot6_at_zero_points_down_below_the_base_plane():
    T = fk(load_arm("cobot6"), np.zeros(6))
    assert np.allclose(T[:3, :3], np.diag([1, -1, -1]), rtol=0, atol=1e-15)
    assert np.allclose(T[:3, 3], [0.3, 0, -0.21], rtol=0, atol=1e-15)


def test_cobot6_at_a_general_posture():
    p = fk(load_arm("cobot6"), [0.3, 0.5, -0.4, 0.7, -0.6, 0.2])[:3, 3]
    assert np.allclose(p, [0.248686269370, 0.107388372947, -0.072899244550], rtol=0, atol=1e-12)


def test_panda_table_read_in_the_wrong_convention():
    """The flange as an eighth row, standard instead of modified."""
    arm = load_arm("panda")
    eight = replace(
        arm,
        a=np.r_[arm.a, 0],
        alpha=np.r_[arm.alpha, 0],
        d=np.r_[arm.d, 0.107],
        theta=np.zeros(8),
        tool=np.eye(4),
        joint_types=("revolute",) * 8,
        q_min=None,
        q_max=None,
        qd_max=None,
        qdd_max=None,
        radius=None,
        tau_max=None,
    )
    right = fk(eight, np.zeros(8))
    assert np.allclose(right[:3, 3], [0.088, 0, 0.926], rtol=0, atol=1e-12)
    assert np.allclose(right[:3, :3], np.diag([1, -1, -1]), rtol=0, atol=1e-12)
    assert np.allclose(fk(arm, np.zeros(7)), right, rtol=0, atol=1e-12)
    assert np.allclose(
        fk(replace(eight, convention="standard"), np.zeros(8))[:3, 3],
        [0.088, -0.068, 0.226],
        rtol=0,
        atol=1e-12,
    )


def test_elbow_offset_of_the_open_manipulator():
    """q3 = 90 degrees puts the end at (.024, 0, .455); without the offset at (0, 0, .455)."""
    beta = np.arctan2(0.024, 0.128)

    def manipulator(a2, offset2, offset3):
        return Arm(
            "OpenManipulator-X",
            "standard",
            a=[0, a2, 0.124, 0.126],
            alpha=[np.pi / 2, 0, 0, 0],
            d=[0.077, 0, 0, 0],
            theta=[0, offset2, offset3, 0],
        )

    with_offset = manipulator(np.hypot(0.128, 0.024), np.pi / 2 - beta, -(np.pi / 2 - beta))
    assert np.allclose(
        fk(with_offset, [0, 0, np.pi / 2, 0])[:3, 3], [0.024, 0, 0.455], rtol=0, atol=1e-12
    )
    without = manipulator(0.128, np.pi / 2, -np.pi / 2)
    assert np.allclose(fk(without, [0, 0, np.pi / 2, 0])[:3, 3], [0, 0, 0.455], rtol=0, atol=1e-12)
