"""course_lib.dynamics against SymPy's Lagrangian, Robotics Toolbox, Pinocchio, MuJoCo, SciPy."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

from course_lib.arm import load_arm
from course_lib.dynamics import Dynamics, Planar2R, from_pinocchio, joints, together
from course_lib.engines import toolbox_robot
from course_lib.kinematics import fk
from course_lib.urdf import to_urdf

ARM = load_arm("planar2")
UPRIGHT = (0.0, -9.81, 0.0)
TIGHT = {"rtol": 0, "atol": 1e-10}


def states(n, count=20, seed=0):
    """q, qd, and a torque or an acceleration, (count, n) each."""
    rng = np.random.default_rng(seed)
    return (
        rng.uniform(-np.pi, np.pi, (count, n)),
        rng.normal(size=(count, n)),
        rng.normal(size=(count, n)) * 50,
    )


def random_two_links(seed):
    rng = np.random.default_rng(seed)
    a, inertia = rng.uniform(0.2, 1, 2), np.zeros((2, 3, 3))
    inertia[:, [0, 1, 2], [0, 1, 2]] = rng.uniform(0.1, 1, (2, 1))
    com = np.column_stack([-a * rng.uniform(0, 0.9, 2), [0, 0], [0, 0]])
    return replace(ARM, name="drawn", a=a, mass=rng.uniform(1, 15, 2), com=com, inertia=inertia)


ARMS = [
    pytest.param(ARM, id="planar2"),
    *(pytest.param(random_two_links(k), id=f"drawn{k}") for k in (1, 2)),
]


# ------------------------------------------------ two links


@cache
def lagrange():
    """M, c, g of two links by SymPy: d/dt dL/dqd - dL/dq, from speeds and heights alone."""
    t, grav = sp.symbols("t grav")
    a, m, r, inertia = (sp.symbols(f"{s}1:3") for s in ("a", "m", "r", "I"))
    q = [sp.Function(f"q{i}")(t) for i in (1, 2)]
    turn = [q[0], q[0] + q[1]]
    elbow = sp.Matrix([a[0] * sp.cos(q[0]), a[0] * sp.sin(q[0])])
    centres = [sp.zeros(2, 1), elbow]
    centres = [p + r_i * sp.Matrix([sp.cos(w), sp.sin(w)]) for p, r_i, w in zip(centres, r, turn)]
    L = sum(
        m_i * p.diff(t).dot(p.diff(t)) / 2 + I_i * w.diff(t) ** 2 / 2 - m_i * grav * p[1]
        for m_i, p, I_i, w in zip(m, centres, inertia, turn)
    )
    tau = [L.diff(x.diff(t)).diff(t) - L.diff(x) for x in q]
    flat = sp.symbols("x1:3 v1:3 b1:3")
    order = [*(x.diff(t, 2) for x in q), *(x.diff(t) for x in q), *q]
    to = dict(zip(order, [*flat[4:], *flat[2:4], *flat[:2]]))
    tau = [sp.expand(f.doit()).subs(to) for f in tau]
    return sp.lambdify([*flat, *a, *m, *r, *inertia, grav], tau)


@pytest.mark.parametrize("arm", ARMS)
def test_torques_are_those_of_the_lagrangian(arm):
    model, (q, qd, qdd) = Planar2R(arm), states(2)
    numbers = [*arm.a, *arm.mass, *(arm.a + arm.com[:, 0]), *arm.inertia[:, 2, 2], 9.81]
    tau = lagrange()(*q.T, *qd.T, *qdd.T, *numbers)
    assert np.allclose(model.inverse(q, qd, qdd).T, tau, **TIGHT)
    assert np.allclose(model.g(q).T, lagrange()(*q.T, *np.zeros((4, 20)), *numbers), **TIGHT)


def toolbox_with_masses(arm):
    robot = toolbox_robot(arm)
    for link, m, r, inertia in zip(robot.links, arm.mass, arm.com, arm.inertia):
        link.m, link.r, link.I, link.Jm, link.G = m, r, inertia, 0.0, 1.0
    return robot


@pytest.mark.parametrize("arm", ARMS)
def test_two_links_agree_with_robotics_toolbox(arm):
    pytest.importorskip("roboticstoolbox")
    robot, model = toolbox_with_masses(arm), Planar2R(arm)
    for q, qd, qdd in zip(*states(2, 8)):
        assert np.allclose(model.M(q), robot.inertia(q), **TIGHT)
        assert np.allclose(model.c(q, qd), robot.coriolis(q, qd) @ qd, **TIGHT)
        assert np.allclose(model.g(q), robot.gravload(q, gravity=UPRIGHT), **TIGHT)
        assert np.allclose(
            model.inverse(q, qd, qdd), robot.rne(q, qd, qdd, gravity=UPRIGHT), **TIGHT
        )


@pytest.mark.parametrize("arm", ARMS)
def test_two_links_agree_with_pinocchio(arm):
    pytest.importorskip("pinocchio")
    ours, theirs, (q, qd, tau) = Planar2R(arm), from_pinocchio(arm, UPRIGHT), states(2)
    assert np.allclose(ours.M(q), theirs.M(q), **TIGHT)
    assert np.allclose(ours.c(q, qd), theirs.c(q, qd), **TIGHT)
    assert np.allclose(ours.g(q), theirs.g(q), **TIGHT)
    assert np.allclose(ours.tool(q), theirs.tool(q)[..., :2], **TIGHT)
    pin, data = theirs._pin, theirs.model.createData()
    for x, v, f, a in zip(q, qd, tau, ours.forward(q, qd, tau)):
        assert np.allclose(pin.aba(theirs.model, data, x, v, f), a, **TIGHT)


@pytest.mark.parametrize("arm", ARMS)
def test_two_links_agree_with_mujoco(arm):
    mujoco = pytest.importorskip("mujoco")
    tail = '<mujoco><compiler fusestatic="false" balanceinertia="false"/></mujoco></robot>'
    there = mujoco.MjModel.from_xml_string(to_urdf(arm).replace("</robot>", tail))
    there.opt.gravity[:] = UPRIGHT
    data, model, column = mujoco.MjData(there), Planar2R(arm), np.zeros(2)
    for q, qd, tau in zip(*states(2, 8)):
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, qd, tau
        mujoco.mj_forward(there, data)
        for k, e in enumerate(np.eye(2)):
            mujoco.mj_mulM(there, data, column, e)
            assert np.allclose(model.M(q)[:, k], column, **TIGHT)
        assert np.allclose(model.c(q, qd) + model.g(q), data.qfrc_bias, **TIGHT)
        assert np.allclose(model.forward(q, qd, tau), data.qacc, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("arm", ARMS)
def test_mass_changes_as_the_coriolis_matrix_says(arm):
    """dM/dt - 2 C is skew, and M is positive definite."""
    model, (q, qd, _) = Planar2R(arm), states(2)
    e = 1e-6
    rate = (model.M(q + e * qd) - model.M(q - e * qd)) / (2 * e)
    N = rate - 2 * model.C(q, qd)
    assert np.allclose(N, -np.swapaxes(N, -1, -2), rtol=0, atol=1e-7)
    assert not np.allclose(N, 0, atol=0.1)
    assert (np.linalg.eigvalsh(model.M(q)) > 0).all()


@pytest.mark.parametrize("arm", ARMS)
def test_a_free_swing_keeps_its_energy(arm):
    model = Planar2R(arm)
    q, v = [0.3, -1.2], [0.5, 1.0]
    before = model.energy(q, v)
    for _ in range(20):
        q, v = model.advance(q, v, [0.0, 0.0], 1e-3, 100)
        assert model.energy(q, v) == pytest.approx(before, abs=1e-7)
    assert np.linalg.norm(v) > 0.1


def test_torque_brings_in_the_energy():
    model, (q, qd, tau) = Planar2R(ARM), states(2)
    qdd, e = model.forward(q, qd, tau), 1e-6
    later = model.energy(q + e * qd, qd + e * qdd) - model.energy(q - e * qd, qd - e * qdd)
    assert np.allclose(later / (2 * e), (qd * tau).sum(axis=-1), rtol=1e-6, atol=1e-5)


def test_the_values_of_planar2():
    """Worked out by hand from its masses: the largest gravity torque is with the arm held out."""
    model = Planar2R(ARM)
    assert np.allclose(model.M([0.3, 0.0]), [[7.9772, 2.35], [2.35, 0.975]], **TIGHT)
    assert np.allclose(model.g([0.0, 0.0]), [100.4544, 24.525], **TIGHT)
    assert np.allclose(Planar2R(ARM, gravity=0).g([0.3, 0.2]), 0, **TIGHT)


# ------------------------------------------------ any arm


@pytest.mark.parametrize("name", ["planar2", "cobot6"])
def test_any_arm_agrees_with_robotics_toolbox(name):
    pytest.importorskip("pinocchio")
    pytest.importorskip("roboticstoolbox")
    arm = load_arm(name)
    model, robot, (q, qd, qdd) = from_pinocchio(arm), toolbox_with_masses(arm), states(arm.n, 5)
    theirs = [robot.rne(*state) for state in zip(q, qd, qdd)]
    assert np.allclose(model.inverse(q, qd, qdd), theirs, rtol=1e-10, atol=1e-10)
    assert np.allclose(model.M(q), [robot.inertia(x) for x in q], **TIGHT)
    assert np.allclose(model.g(q), [robot.gravload(x) for x in q], **TIGHT)
    assert np.allclose(model.tool(q), fk(arm, q)[:, :3, 3], **TIGHT)


def test_friction_brakes():
    pytest.importorskip("pinocchio")
    friction = np.arange(1, 7)
    arm, (q, qd, tau) = load_arm("cobot6"), states(6, 5)
    free, rough = from_pinocchio(arm), from_pinocchio(arm, friction=friction)
    assert np.allclose(rough.c(q, qd) - free.c(q, qd), friction * qd, **TIGHT)
    assert np.allclose(rough.inverse(q, qd, rough.forward(q, qd, tau)), tau, rtol=0, atol=1e-8)


def test_a_model_of_pinocchio_is_taken_and_left_alone():
    pin = pytest.importorskip("pinocchio")
    theirs = pin.buildSampleModelManipulator()
    model = from_pinocchio(theirs, gravity=(0, 0, 0))
    q, qd, _ = states(theirs.nq, 4)
    assert np.allclose(model.g(q), 0) and theirs.gravity.linear[2] == -9.81
    assert model.inverse(q, qd, qd).shape == (4, theirs.nv)


# ------------------------------------------------ what follows from M, c, g


@pytest.fixture(params=["closed form", "pinocchio"])
def model(request):
    if request.param == "closed form":
        return Planar2R(ARM)
    pytest.importorskip("pinocchio")
    return from_pinocchio(ARM, UPRIGHT)


def test_forward_undoes_inverse(model):
    q, qd, qdd = states(2)
    assert np.allclose(model.forward(q, qd, model.inverse(q, qd, qdd)), qdd, rtol=0, atol=1e-9)


def test_stacks_are_rows(model):
    q, qd, tau = (x.reshape(4, 5, 2) for x in states(2))
    for call, args in (
        (model.M, (q,)),
        (model.c, (q, qd)),
        (model.g, (q,)),
        (model.tool, (q,)),
        (model.forward, (q, qd, tau)),
        (model.inverse, (q, qd, tau)),
    ):
        assert np.allclose(call(*args)[2, 3], call(*(x[2, 3] for x in args)), **TIGHT)


def test_joint_by_joint_is_the_same(model):
    q, qd, qdd = states(2)
    assert np.allclose(together(model.gravity(joints(q))), model.g(q), **TIGHT)
    parts = map(joints, (q, qd, qdd))
    assert np.allclose(together(model.torques(*parts)), model.inverse(q, qd, qdd), **TIGHT)
    floats = [x[0].tolist() for x in (q, qd, qdd)]
    assert np.allclose(model.torques(*floats), model.inverse(q, qd, qdd)[0], **TIGHT)


def test_the_arm_advances_as_scipy_says(model):
    q, v, tau = [0.4, -0.9], [1.0, -2.0], [30.0, -5.0]
    slope = lambda t, x: [*x[2:], *model.forward(x[:2], x[2:], tau)]
    there = solve_ivp(slope, (0, 0.3), [*q, *v], rtol=1e-11, atol=1e-11).y[:, -1]
    errors = []
    for steps in (30, 60):
        end = np.concatenate(model.advance(q, v, tau, 0.3 / steps, steps))
        errors.append(np.abs(end - there).max())
    assert errors[1] < 1e-7 and 12 < errors[0] / errors[1] < 20  # order 4: halved step, a 16th
    assert type(model.advance(q, v, tau, 0.01, 1)[0][0]) is float


# ------------------------------------------------ bad input


@pytest.mark.parametrize(
    "change, words",
    [
        ({"mass": None}, "no mass"),
        ({"inertia": None}, "no inertia"),
        ({"alpha": [0.1, 0]}, "only a"),
        ({"theta": [0, 0.1]}, "only a"),
        ({"convention": "modified"}, "standard DH"),
        ({"joint_types": ("revolute", "prismatic")}, "two turning joints"),
        ({"com": [[-0.27, 0.1, 0], [-0.2, 0, 0]]}, "points on the links"),
        ({"com": [[-0.6, 0, 0], [-0.2, 0, 0]]}, "points on the links"),
        ({"com": [[0.1, 0, 0], [-0.2, 0, 0]]}, "points on the links"),
        ({"inertia": np.zeros((2, 3, 3))}, "positive moments"),
    ],
)
def test_an_arm_that_is_not_two_links_in_a_plane_is_refused(change, words):
    with pytest.raises(ValueError, match=words):
        Planar2R(replace(ARM, **change))


def test_three_links_are_refused():
    with pytest.raises(ValueError, match="planar3"):
        Planar2R(load_arm("planar3"))


def test_pinocchio_needs_masses_and_as_many_speeds_as_angles():
    pin = pytest.importorskip("pinocchio")
    with pytest.raises(ValueError, match="no mass"):
        from_pinocchio(load_arm("panda"))
    flying = pin.buildSampleModelHumanoid()
    with pytest.raises(ValueError, match="nq"):
        from_pinocchio(flying)
    with pytest.raises(ValueError, match="q or qd"):
        from_pinocchio(ARM).M([0.1, np.nan])


def test_a_subclass_needs_three_functions():
    class Unit(Dynamics):
        n = 1
        M = lambda self, q: np.ones((*np.shape(q), 1))
        c = lambda self, q, qd: 0 * np.asarray(qd)
        g = lambda self, q: 0 * np.asarray(q)

    q, v = Unit().advance([1.0], [2.0], [3.0], 0.5, 1)  # 1 + 2 t + 3/2 t^2, 2 + 3 t
    assert q == pytest.approx([2.375]) and v == pytest.approx([3.5])
