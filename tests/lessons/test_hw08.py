"""Homework 08: the truths hold against SciPy and Pinocchio, and more answers are tried."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation
from support.complaints import complaints, remembered, solved_once
from support.judges import judge_of

from course_lib.engines import pinocchio_model, toolbox_robot
from course_lib.kinematics import fk, jacobian

JUDGE, BY_NAME = judge_of("hw08_cartesian")
ARM = JUDGE.COBOT6
# How many cases come before those that are drawn; they alone tell every mistake from the truth.
FIXED = {"tangent_arc": 10, "round_line": 7, "first_fault": 29, "slow_down": 15}


def cases_of(name, seed=3):
    return BY_NAME[name].cases(np.random.default_rng(seed))


# ---------------------------------------------------------------- the truths


@pytest.mark.parametrize("seed", range(3))
def test_an_arc_leaves_along_the_tangent_bends_evenly_and_ends_where_it_should(seed):
    words = []
    for start, tangent, end, _ in cases_of("tangent_arc", seed):
        s = np.linspace(0, 1, 401)
        word, p = JUDGE.tangent_arc(start, tangent, end, s)
        words.append(word)
        if word == "none":
            continue
        np.testing.assert_allclose(p[[0, -1]], [start, end], atol=1e-12)
        steps = np.diff(p, axis=0)
        lengths = np.linalg.norm(steps, axis=1)
        np.testing.assert_allclose(lengths, lengths[0], rtol=1e-9)  # in proportion to the length
        bends = np.diff(steps / lengths[:, None], axis=0)
        np.testing.assert_allclose(
            np.linalg.norm(bends, axis=1), np.linalg.norm(bends[0]), atol=1e-9
        )
        ahead = 1.5 * steps[0] / lengths[0] - 0.5 * steps[1] / lengths[1]
        np.testing.assert_allclose(ahead, tangent / np.linalg.norm(tangent), atol=3e-4)
        assert (word == "line") == (np.linalg.norm(bends[0]) < 1e-9)
    assert set(words) == {"arc", "line", "none"}


@pytest.mark.parametrize("seed", range(3))
def test_a_round_tool_goes_straight_turns_evenly_and_never_spins(seed):
    for T0, p1, z1, _ in cases_of("round_line", seed):
        T = JUDGE.round_line(T0, p1, z1, np.linspace(0, 1, 401))
        np.testing.assert_allclose(T[0], T0, atol=1e-12)
        np.testing.assert_allclose(T[-1, :3, 3], p1, atol=1e-12)
        np.testing.assert_allclose(T[-1, :3, 2], z1 / np.linalg.norm(z1), atol=1e-12)
        np.testing.assert_allclose(np.diff(T[:, :3, 3], 2, axis=0), 0, atol=1e-12)
        R = Rotation.from_matrix(T[:, :3, :3])
        w = (R[1:] * R[:-1].inv()).as_rotvec()
        z = (T[1:, :3, 2] + T[:-1, :3, 2]) / 2
        assert np.abs((w * z).sum(axis=1)).max() < 1e-12  # no part of the turn is about the axis
        np.testing.assert_allclose(w, np.broadcast_to(w[0], w.shape), atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_faults_are_clear_and_of_every_kind(seed):
    cases, robot = cases_of("first_fault", seed), toolbox_robot(ARM)
    for t, q, *limits in cases if seed == 0 else cases[FIXED["first_fault"] :]:
        assert (np.diff(t) > 0).all()
        use = JUDGE.measures(t, q, *limits)
        assert not ((use > 0.95) & (use < 1.05)).any()  # "No number is near its limit."
        T = np.array(robot.fkine(q).A).reshape(-1, 4, 4)
        way = np.linalg.norm(np.diff(T[:, :3, 3], axis=0), axis=1)
        np.testing.assert_allclose(use[0] * limits[0], way, atol=1e-9)
    words = {JUDGE.first_fault(*case)[0] for case in cases[: FIXED["first_fault"]]}
    assert words == {"none", *JUDGE.KINDS}


def test_wrist_and_elbow_faults_keep_the_tool_where_it_is():
    t, q = JUDGE.program(JUDGE.smooth(), 0.5)
    for fault in ("wrist", "elbow", "wrap", "turn"):
        spoilt = JUDGE.spoilt(t, q, 4, fault)[1]
        np.testing.assert_allclose(fk(ARM, spoilt), fk(ARM, q), atol=1e-9)
        assert np.abs(spoilt - q)[5:].max() > 1


def twist_and_push(q, qd, qdd):
    """Velocity (6,) and acceleration (3,) of the tool point, by Pinocchio."""
    pin = pytest.importorskip("pinocchio")
    model, tool = pinocchio_model(ARM)
    data = model.createData()
    pin.forwardKinematics(model, data, q, qd, qdd)
    frame = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    v = pin.getFrameVelocity(model, data, tool, frame).vector
    return v, pin.getFrameClassicalAcceleration(model, data, tool, frame).linear


@pytest.mark.parametrize("seed", range(3))
def test_the_factor_just_keeps_all_limits_by_pinocchio(seed):
    binding = set()
    for q, qd, qdd, v_max, omega_max, a_max in cases_of("slow_down", seed):
        k = JUDGE.slow_down(q, qd, qdd, v_max, omega_max, a_max)
        seen = [twist_and_push(*row) for row in zip(q, k * qd, k * k * qdd)]
        use = [
            np.abs(k * qd / ARM.qd_max).max(),
            np.abs(k * k * qdd / ARM.qdd_max).max(),
            max(np.linalg.norm(v[:3]) for v, _ in seen) / v_max,
            max(np.linalg.norm(v[3:]) for v, _ in seen) / omega_max,
            max(np.linalg.norm(a) for _, a in seen) / a_max,
        ]
        assert max(use) < 1 + 1e-6 and (k == 1 or max(use) > 1 - 1e-6)
        binding.add(int(np.argmax(use)) if k < 1 else "none")
    assert binding == {0, 1, 2, 3, 4, "none"}


# ---------------------------------------------------------------- more right answers


def arc_by_centre(start, tangent, end, s):
    """The centre from a linear system; turned about it by SciPy."""
    t, c = tangent / np.linalg.norm(tangent), end - start
    normal = np.cross(t, c)
    if np.linalg.norm(normal) <= 1e-6 * np.linalg.norm(c):
        ahead = t @ c > 0
        return "line" if ahead else "none", np.outer(1 - s, start) + np.outer(s, end)
    normal = normal / np.linalg.norm(normal)
    centre = np.linalg.solve([t, normal, c], [t @ start, normal @ start, c @ (start + end) / 2])
    x = start - centre
    turn = np.arctan2(np.cross(x, end - centre) @ normal, x @ (end - centre)) % (2 * np.pi)
    return "arc", centre + Rotation.from_rotvec(np.outer(s * turn, normal)).apply(x)


def round_by_scipy(T0, p1, z1, s):
    """SciPy's shortest rotation that lays one vector onto another."""
    R0 = Rotation.from_matrix(T0[:3, :3])
    turn, _ = Rotation.align_vectors([z1 / np.linalg.norm(z1)], [T0[:3, 2]])
    out = []
    for x in s:
        T = np.eye(4)
        T[:3, :3] = (Rotation.from_rotvec(x * turn.as_rotvec()) * R0).as_matrix()
        T[:3, 3] = (1 - x) * T0[:3, 3] + x * p1
        out.append(T)
    return out


@remembered
def fault_step_by_step(t, q, gap, turn, off):
    """One step after the other, orientations by SciPy."""
    for k in range(len(q) - 1):
        A, B, M = (fk(ARM, x) for x in (q[k], q[k + 1], (q[k] + q[k + 1]) / 2))
        R = [Rotation.from_matrix(T[:3, :3]) for T in (A, B, M)]
        if np.linalg.norm(B[:3, 3] - A[:3, 3]) > gap:
            return "spacing", k
        if (R[0].inv() * R[1]).magnitude() > turn:
            return "flip", k
        beside = np.linalg.norm(2 * M[:3, 3] - A[:3, 3] - B[:3, 3]) / 2
        if beside > off or (R[0].inv() * R[2]).magnitude() > turn:
            return "jump", k
        if any(abs(q[k + 1] - q[k]) > ARM.qd_max * (t[k + 1] - t[k])):
            return "speed", k
    return "none", None


def arc_by_integration(start, tangent, end, s):
    """Follow a direction that turns at a constant rate; the rate from what is across."""
    t, c = tangent / np.linalg.norm(tangent), end - start
    L = np.linalg.norm(c)
    if L == 0:
        return "none", []
    u = c / L
    bend = 2 * (u - (u @ t) * t) / L  # of a circle: twice the distance from the tangent over L²
    kappa = np.linalg.norm(bend)
    if kappa * L < 2e-6:
        return ("line", start + np.outer(s, c)) if u @ t > 0 else ("none", [])
    length = 2 * np.arctan2(kappa * L / 2, u @ t) / kappa
    normal = bend / kappa

    def slope(x, p):
        return np.cos(kappa * x) * t + np.sin(kappa * x) * normal

    way = solve_ivp(slope, (0, length), start, t_eval=length * np.asarray(s), rtol=1e-9, atol=1e-10)
    return "arc", way.y.T


@remembered
def arc_by_search(start, tangent, end, s):
    """The centre is the point that is as far from both ends, at right angles to the tangent."""
    t, c = tangent / np.linalg.norm(tangent), end - start
    side = c - (c @ t) * t
    if np.linalg.norm(side) < 1e-6 * max(np.linalg.norm(c), 1e-12):
        return "line" if c @ t > 0 else "none", [start + x * c for x in s]
    n = side / np.linalg.norm(side)
    gap = lambda x: [(c @ c) / 2 - np.exp(x[0]) * (c @ n)]
    r = np.exp(least_squares(gap, [np.log(np.linalg.norm(c))], xtol=1e-15, ftol=1e-15).x[0])
    far = np.arctan2(c @ t, r - c @ n) % (2 * np.pi)
    return "arc", [start + r * (np.sin(x * far) * t + (1 - np.cos(x * far)) * n) for x in s]


def arc_by_complex(start, tangent, end, s):
    """In its plane: the power of a complex number."""
    t, c = tangent / np.linalg.norm(tangent), end - start
    n = np.cross(np.cross(t, c), t)
    if np.linalg.norm(n) <= 1e-6 * np.linalg.norm(c):
        return ("line", [(1 - x) * start + x * end for x in s]) if c @ t > 0 else ("none", None)
    n = n / np.linalg.norm(n)
    w = complex(c @ t, c @ n)
    phi = np.angle(w)
    z = w * (np.exp(2j * phi * np.asarray(s)) - 1) / (np.exp(2j * phi) - 1)
    return "arc", start + np.outer(z.real, t) + np.outer(z.imag, n)


@remembered
def round_by_reflections(T0, p1, z1, s):
    """A turn is two reflections: Rodrigues' formula without any sine."""
    z0, z1 = T0[:3, 2], z1 / np.linalg.norm(z1)
    poses = []
    angle = 2 * np.arctan2(np.linalg.norm(z1 - z0), np.linalg.norm(z1 + z0))
    for x in s:
        T = T0.copy()
        if angle > 1e-12:
            side = (z1 - np.cos(angle) * z0) / np.sin(angle)
            half = np.cos(x * angle / 2) * z0 + np.sin(x * angle / 2) * side
            flip = lambda v: np.eye(3) - 2 * np.outer(v, v)
            T[:3, :3] = flip(half) @ flip(z0) @ T0[:3, :3]
        T[:3, 3] += x * (p1 - T0[:3, 3])
        poses.append(T)
    return np.array(poses)


def round_by_small_steps(T0, p1, z1, s):
    """Half as far, and half of that: the pose between two is found again and again."""
    z1 = z1 / np.linalg.norm(z1)
    K = np.cross(T0[:3, 2], z1)
    K = np.array([[0, -K[2], K[1]], [K[2], 0, -K[0]], [-K[1], K[0], 0]])
    whole = np.eye(3) + K + K @ K / (1 + T0[:3, 2] @ z1)  # lays z0 onto z1
    turn = Rotation.from_matrix(whole)
    T = [
        np.block([[(turn**x).as_matrix() @ T0[:3, :3], np.zeros((3, 1))], [np.eye(4)[3:]]])
        for x in s
    ]
    for x, pose in zip(s, T):
        pose[:3, 3] = T0[:3, 3] + x * (p1 - T0[:3, 3])
    return T


def round_in_the_tool(T0, p1, z1, s):
    """The same turn, said in the tool's own frame."""
    there = T0[:3, :3].T @ z1
    angle = np.arccos(np.clip(there[2] / np.linalg.norm(there), -1, 1))
    flat = np.array([-there[1], there[0], 0])
    axis = flat / max(np.linalg.norm(flat), 1e-300)
    R = [T0[:3, :3] @ Rotation.from_rotvec(x * angle * axis).as_matrix() for x in s]
    p = [x * p1 + (1 - x) * T0[:3, 3] for x in s]
    return [np.vstack([np.column_stack(pair), [0, 0, 0, 1]]) for pair in zip(R, p)]


@remembered
def fault_by_quaternions(t, q, gap, turn, off):
    """All measures from quaternions and one stack of postures."""
    T = fk(ARM, np.concatenate([q, (q[:-1] + q[1:]) / 2]))
    a, b, m = slice(0, len(q) - 1), slice(1, len(q)), slice(len(q), None)
    Q = Rotation.from_matrix(T[:, :3, :3]).as_quat()
    angle = lambda x, y: 2 * np.arccos(np.minimum(np.abs((Q[x] * Q[y]).sum(axis=1)), 1))
    p = T[:, :3, 3]
    rows = [
        np.linalg.norm(p[b] - p[a], axis=1) / gap,
        angle(a, b) / turn,
        np.fmax(np.linalg.norm(p[m] - (p[a] + p[b]) / 2, axis=1) / off, angle(a, m) / turn),
        (np.abs(q[b] - q[a]) / ARM.qd_max).max(axis=1) / (t[b] - t[a]),
    ]
    for k, uses in enumerate(zip(*rows)):
        for word, use in zip(("spacing", "flip", "jump", "speed"), uses):
            if use > 1:
                return word, k
    return "none", -1


@remembered
def fault_by_toolbox(t, q, gap, turn, off):
    """Poses by another engine, angles from the trace."""
    robot = toolbox_robot(ARM)
    pose = lambda x: robot.fkine(x).A
    for k, (x, y) in enumerate(zip(q, q[1:])):
        A, B, M = map(pose, (x, y, x + (y - x) / 2))
        far = lambda C: np.arccos(np.clip((np.trace(A[:3, :3].T @ C[:3, :3]) - 1) / 2, -1, 1))
        beside = np.linalg.norm(M[:3, 3] - 0.5 * A[:3, 3] - 0.5 * B[:3, 3])
        tests = {
            "spacing": np.linalg.norm((B - A)[:3, 3]) > gap,
            "flip": far(B) > turn,
            "jump": beside > off or far(M) > turn,
            "speed": np.any(np.abs(y - x) > (t[k + 1] - t[k]) * ARM.qd_max),
        }
        if any(tests.values()):
            return [next(word for word, bad in tests.items() if bad), k]
    return ["none", -1]


def factor_by_pinocchio(q, qd, qdd, v_max, omega_max, a_max):
    k = 1.0
    for row in zip(q, qd, qdd):
        (v, a), (_, x, y) = twist_and_push(*row), row
        k = min([k, *(ARM.qd_max / np.maximum(np.abs(x), 1e-9))])
        k = min([k, *np.sqrt(ARM.qdd_max / np.maximum(np.abs(y), 1e-9))])
        k = min(k, v_max / max(np.linalg.norm(v[:3]), 1e-9))
        k = min(k, omega_max / max(np.linalg.norm(v[3:]), 1e-9))
        k = min(k, (a_max / max(np.linalg.norm(a), 1e-9)) ** 0.5)
    return k


def factor_by_toolbox(q, qd, qdd, v_max, omega_max, a_max):
    """Robotics Toolbox has J̇ in closed form."""
    robot, use = toolbox_robot(ARM), [1.0]
    for x, v, a in zip(q, qd, qdd):
        twist = robot.jacob0(x) @ v
        push = (robot.jacob0(x) @ a + robot.jacob0_dot(x, v) @ v)[:3]
        use += [*(np.abs(v) / ARM.qd_max), *np.sqrt(np.abs(a) / ARM.qdd_max)]
        use += [np.linalg.norm(twist[:3]) / v_max, np.linalg.norm(twist[3:]) / omega_max]
        use += [np.sqrt(np.linalg.norm(push) / a_max)]
    return np.array([1 / max(use)])


@remembered
def factor_squared(q, qd, qdd, v_max, omega_max, a_max):
    """All limits as limits of k²; the tool by differences of its place."""
    h = 1e-3
    at = lambda x: fk(ARM, q + x * qd + x * x / 2 * qdd)[:, :3, 3]
    push = (16 * (at(h) + at(-h)) - at(2 * h) - at(-2 * h) - 30 * at(0)) / (12 * h * h)
    twist = np.einsum("mij,mj->mi", jacobian(ARM, q), qd)
    with np.errstate(divide="ignore"):
        squares = [
            *((ARM.qd_max / qd) ** 2).ravel(),
            *(v_max**2 / (twist[:, :3] ** 2).sum(axis=1)),
            *(omega_max**2 / (twist[:, 3:] ** 2).sum(axis=1)),
            *(ARM.qdd_max / np.abs(qdd)).ravel(),
            *(a_max / np.linalg.norm(push, axis=1)),
        ]
    return np.sqrt(np.nanmin([1, *squares]))


def arc_in(change, answer):
    return lambda *case: [answer(*case)[0], change(answer(*case)[1])]


def listed(answer):
    return lambda *case: np.asarray(answer(*case)).tolist()


def single(answer):
    return lambda *case: np.float32(answer(*case))


def rounded(answer):
    return lambda *case: np.round(answer(*case), 5)


MORE = {
    "tangent_arc": [
        arc_by_centre,
        arc_by_integration,
        arc_by_search,
        arc_by_complex,
        arc_in(np.float32, arc_by_search),
        lambda *case: (arc_by_search(*case)[0], np.round(arc_by_search(*case)[1], 5)),
        arc_in(tuple, arc_by_search),
        lambda *case: (f" {arc_by_complex(*case)[0].title()} ", arc_by_complex(*case)[1]),
    ],
    "round_line": [
        round_by_scipy,
        round_by_reflections,
        round_by_small_steps,
        round_in_the_tool,
        single(round_by_reflections),
        listed(round_in_the_tool),
        rounded(round_by_small_steps),
        lambda *case: tuple(round_by_reflections(*case)),
    ],
    "first_fault": [
        fault_step_by_step,
        fault_by_quaternions,
        fault_by_toolbox,
        lambda *case: (fault_by_quaternions(*case)[0], float(fault_by_quaternions(*case)[1])),
        lambda *case: (
            fault_by_quaternions(*case)[0].upper(),
            np.int64(JUDGE.first_fault(*case)[1]),
        ),
        lambda *case: [np.str_(fault_by_quaternions(*case)[0]), fault_by_quaternions(*case)[1]],
        lambda *case: (fault_by_toolbox(*case)[0], [fault_by_toolbox(*case)[1]]),
        lambda *case: np.array(fault_by_quaternions(*case), dtype=object).tolist(),
    ],
    "slow_down": [
        factor_by_pinocchio,
        factor_by_toolbox,
        factor_squared,
        single(factor_squared),
        rounded(factor_squared),
        lambda *case: np.asarray(factor_squared(*case)),
        lambda *case: complex(factor_squared(*case)).real,
    ],
}


@pytest.mark.parametrize("name", MORE)
def test_ten_right_answers_pass_and_ten_wrong_ones_are_told(name):
    exercise = BY_NAME[name]
    assert len(exercise.alternatives) + len(MORE[name]) >= 10 and len(exercise.mistakes) >= 10
    if name == "slow_down":
        pytest.importorskip("pinocchio")
    for i, answer in enumerate(MORE[name]):
        for seed in (0, 1, 2) if i < 4 else (0,):
            result = exercise.judge(answer, np.random.default_rng(seed))
            assert result.passed, (i, result.message)


@pytest.mark.parametrize("name", FIXED)
def test_the_fixed_cases_alone_tell_every_mistake(name):
    exercise = BY_NAME[name]
    fixed = replace(exercise, cases=lambda rng: exercise.cases(rng)[: FIXED[name]])
    assert complaints(fixed, np.random.default_rng(0)) == []
    one, other = (exercise.cases(np.random.default_rng(seed)) for seed in (1, 2))
    np.testing.assert_equal(one[: FIXED[name]], other[: FIXED[name]])
    with pytest.raises(AssertionError):
        np.testing.assert_equal(one[FIXED[name]], other[FIXED[name]])


# ---------------------------------------------------------------- wrong in ways of their own


def changed(name, change):
    """The truth of an exercise, changed."""
    return lambda *case: change(BY_NAME[name].truth(*case))


def arc_with(kind):
    """An arc with a fault of a kind that a learner may invent."""

    def answer(start, tangent, end, s):
        word, p = JUDGE.tangent_arc(start, tangent, end, s)
        t, c = tangent / np.linalg.norm(tangent), end - start
        if word != "arc":
            return word, p
        if kind == "from above":
            flat = [1.0, 1, 0]
            p = np.array(JUDGE.tangent_arc(start * flat, tangent * flat, end * flat, s)[1])
            p[:, 2] = start[2] + np.asarray(s) * c[2]
        if kind == "ease":
            p = JUDGE.tangent_arc(start, tangent, end, 3 * s**2 - 2 * s**3)[1]
        if kind == "control point":
            corner = start + (c @ c) / (2 * max(abs(c @ t), 1e-9)) * t
            x = np.asarray(s)[:, None]
            p = (1 - x) ** 2 * start + 2 * x * (1 - x) * corner + x**2 * end
        if kind == "right angle":
            r, n = np.linalg.norm(c) / np.sqrt(2), p[-1] - p[0]
            n = n - (n @ t) * t
            n /= np.linalg.norm(n)
            x = np.asarray(s) * np.pi / 2
            p = start + r * (np.outer(np.sin(x), t) + np.outer(1 - np.cos(x), n))
        if kind == "on the chord":
            p = start + np.outer(s, c) + np.outer(np.sin(np.pi * np.asarray(s)), t) * 0.1
        return word, p

    return answer


def round_with(kind):
    """A round tool with a fault of a kind that a learner may invent."""

    def answer(T0, p1, z1, s):
        T = JUDGE.round_line(T0, p1, z1, s)
        unit = z1 / np.linalg.norm(z1)
        if kind == "unscaled":
            cosine = np.clip(T0[:3, 2] @ z1, -1, 1)
            axis = np.cross(T0[:3, 2], unit)
            axis /= max(np.linalg.norm(axis), 1e-12)
            turn = Rotation.from_rotvec(np.outer(s * np.arccos(cosine), axis))
            T[:, :3, :3] = turn.as_matrix() @ T0[:3, :3]
        if kind == "a spin":
            T[:, :3, :3] = T[:, :3, :3] @ Rotation.from_rotvec(np.outer(s, [0, 0, 0.3])).as_matrix()
        if kind == "spun at once":
            T[:, :3, :3] = T[:, :3, :3] @ Rotation.from_euler("z", 0.01).as_matrix()
        if kind == "by angles":
            ends = Rotation.from_matrix([T0[:3, :3], T[-1, :3, :3]]).as_euler("xyz")
            way = ends[0] + np.outer(s, ends[1] - ends[0])
            T[:, :3, :3] = Rotation.from_euler("xyz", way).as_matrix()
        if kind == "transposed":
            T[:, :3, :3] = np.swapaxes(T[:, :3, :3], 1, 2)
        if kind == "entries mixed":
            end = JUDGE.round_line(T0, p1, z1, np.array([1.0]))[0]
            T = (1 - s)[:, None, None] * T0 + s[:, None, None] * end
        if kind == "mirror":
            T[:, :3, 0] *= -1
        if kind == "row of zeros":
            T[:, 3] = 0
        return T

    return answer


def fault_with(kind):
    """A reader of programs with a fault that a learner may invent."""

    def answer(t, q, gap, turn, off):
        use = JUDGE.measures(t, q, gap, turn, off)
        if kind == "whole turn half-way":
            use[2] = JUDGE.measures(t, q, gap, turn, off, "place alone")[2]
        if kind == "a degree is a radian":
            use[1] = np.degrees(use[1])
        if kind == "wide":
            use[0] *= 3
        if kind == "half speed":
            use[3] *= 2.5
        if kind == "lazy":
            use[3] /= 3
        if kind == "all at once":
            use[3] = np.abs(q[-1] - q[0]).max() / (t[-1] - t[0]) / 1.5
        if kind == "clock from zero":
            use[3] = (np.abs(np.diff(q, axis=0)) / t[1:, None] / 1.5).max(axis=1)
        if kind == "not half-way":
            use[2] = 0 * use[2]
            use[2, np.abs(np.diff(q, axis=0)).max(axis=1) > np.pi] = 2
        bad = use > 1
        if not bad.any():
            return "none", -1
        if kind == "most":
            k = int(use.max(axis=0).argmax())
            return JUDGE.KINDS[int(use[:, k].argmax())], k
        k = int(bad.any(axis=0).argmax())
        if kind == "worst kind":
            return JUDGE.KINDS[int(use[:, k].argmax())], k
        return JUDGE.KINDS[int(bad[:, k].argmax())], k

    return answer


def factor_with(kind):
    """A factor with a fault of a kind that a learner may invent."""

    def answer(q, qd, qdd, v_max, omega_max, a_max):
        limits = v_max, omega_max, a_max
        if kind == "first sample":
            return JUDGE.slow_down(q[:1], qd[:1], qdd[:1], *limits)
        if kind == "means":
            return JUDGE.slow_down(*(x.mean(axis=0)[None] for x in (q, qd, qdd)), *limits)
        if kind == "at home":
            return JUDGE.slow_down(0 * q, qd, qdd, *limits)
        if kind == "omega for v":
            return JUDGE.slow_down(q, qd, qdd, omega_max, v_max, a_max)
        if kind == "own qdd":
            return JUDGE.slow_down(q, qd, np.gradient(qd, axis=0) if len(q) > 1 else 0 * q, *limits)
        if kind == "clipped":
            return max(JUDGE.slow_down(q, qd, qdd, *limits), 0.5)
        if kind == "margin":
            return 0.9 * JUDGE.slow_down(q, qd, qdd, *limits)
        if kind == "per sample":
            return [JUDGE.slow_down(*(x[None] for x in row), *limits) for row in zip(q, qd, qdd)]
        return 1.0

    return answer


WRONG = {
    "tangent_arc": [
        *map(arc_with, ("from above", "ease", "control point", "right angle", "on the chord")),
        changed("tangent_arc", lambda a: (a[0], np.asarray(a[1]) + 1e-3)),
        changed("tangent_arc", lambda a: (a[0], np.round(a[1], 3))),
        changed("tangent_arc", lambda a: a[1]),
        changed("tangent_arc", lambda a: a[::-1]),
        changed("tangent_arc", lambda a: ("arc", a[1])),
        changed("tangent_arc", lambda a: (a[0], np.asarray(a[1])[:, :2])),
        changed("tangent_arc", lambda a: (a[0], np.asarray(a[1]).T)),
        changed("tangent_arc", lambda a: (a[0], np.full((5, 3), np.nan))),
        changed("tangent_arc", lambda a: ("line" if a[0] == "none" else a[0], a[1])),
    ],
    "round_line": [
        *map(round_with, ("unscaled", "a spin", "spun at once", "by angles", "transposed")),
        *map(round_with, ("entries mixed", "mirror", "row of zeros")),
        changed("round_line", lambda T: T[:, :3]),
        changed("round_line", lambda T: T[::-1]),
        changed("round_line", lambda T: T[-1]),
        changed("round_line", lambda T: T * 1.001),
        changed("round_line", lambda T: np.round(T, 2)),
        changed("round_line", lambda T: T[:, :3, 3]),
    ],
    "first_fault": [
        *map(fault_with, ("whole turn half-way", "a degree is a radian", "wide", "half speed")),
        *map(fault_with, ("lazy", "all at once", "clock from zero", "not half-way", "most")),
        fault_with("worst kind"),
        changed("first_fault", lambda a: a[0]),
        changed("first_fault", lambda a: a[::-1]),
        changed("first_fault", lambda a: (a[0], np.nan)),
        changed("first_fault", lambda a: ("none", -1)),
        changed("first_fault", lambda a: ("jump", a[1])),
        changed("first_fault", lambda a: (a[0], a[1] + 0.5)),
        changed("first_fault", lambda a: (["spacing", "flip", "jump", "speed"], a[1])),
    ],
    "slow_down": [
        *map(factor_with, ("first sample", "means", "at home", "omega for v", "own qdd")),
        *map(factor_with, ("clipped", "margin", "per sample", "always one")),
        changed("slow_down", lambda k: k + 1e-3),
        changed("slow_down", lambda k: round(k, 1)),
        changed("slow_down", lambda k: -k),
        changed("slow_down", lambda k: k * np.ones(2)),
        changed("slow_down", lambda k: str(k)),
        changed("slow_down", lambda k: np.nan),
    ],
}


@pytest.mark.parametrize("name", WRONG)
def test_the_fixed_cases_alone_refuse_what_is_wrong_in_its_own_way(name):
    exercise = BY_NAME[name]
    fixed = replace(exercise, cases=lambda rng: exercise.cases(rng)[: FIXED[name]])
    fixed = solved_once(fixed, np.random.default_rng(0))
    for i, answer in enumerate(WRONG[name]):
        result = fixed.judge(answer, np.random.default_rng(0))
        assert not result.passed, i
        assert len(result.message.splitlines()[-1]) > 10, result.message
