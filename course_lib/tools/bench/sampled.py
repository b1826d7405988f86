"""A sampled loop: the article's experiment of four periods, and a map of critical periods.

Public name: `bench_sampled`.
"""

import importlib.util
from collections.abc import Callable, Iterator

import numpy as np

from course_lib.arm import Arm, load_arm
from course_lib.control import PD, straight_line
from course_lib.dynamics import Planar2R
from course_lib.sampled import critical_period, simulate
from course_lib.tools.bench.core import Row, Size, race
from course_lib.urdf import to_urdf

KP, KD = np.array([300.0, 225.0]), np.array([45.0, 33.75])
LINE = (0.75, 0.55), (0.30, 0.55), 5.0
PERIODS, T_END, UPRIGHT = (0.001, 0.002, 0.005, 0.010), 6.0, (0.0, -9.81, 0.0)
STEP = 0.001  # [s] of the plain loops' integration: it divides every period


def bench_sampled(size: Size) -> Iterator[Row]:
    """Against the same loop written plainly around small arrays, and around MuJoCo's steps."""
    arm = load_arm("planar2")
    contenders = {"ours": lambda: ours(arm), "plain loop": lambda: plain(arm)}
    if importlib.util.find_spec("mujoco"):
        contenders["MuJoCo's steps"] = lambda: by_mujoco(arm)
    title = f"PD on two links, {len(PERIODS)} periods, {T_END:g} s each"
    yield race(title, "ms", contenders, size.long_repeats, of_peer={"plain loop": 1 / 20})
    model, side = Planar2R(arm), 50 if size.repeats > 1 else 3
    posture = straight_line(model, *LINE)(0.0)[0]
    factor = np.linspace(0.5, 4, side)[:, None]
    law = PD(factor[:, None] * KP, factor * KD)
    title = f"critical periods, {side} x {side} gains"
    yield race(title, "ms", {"ours": lambda: critical_period(model, law, posture)}, size.repeats)


def ours(arm: Arm) -> list[float]:
    """The root mean square tool error [m] at each period."""
    model, law = Planar2R(arm), PD(KP, KD, arm.tau_max)
    line = straight_line(model, *LINE)
    return [simulate(model, law, line, period, T_END).rmse for period in PERIODS]


def plain(arm: Arm) -> list[float]:
    """The same numbers, written as one writes it first: small arrays, one function a matrix."""
    (a1, _), (m1, m2), (r1, r2) = arm.a, arm.mass, arm.a + arm.com[:, 0]
    I1, I2 = arm.inertia[:, 2, 2]

    def M(q):
        m22, b = I2 + m2 * r2**2, m2 * a1 * r2 * np.cos(q[1])
        m11 = I1 + I2 + m1 * r1**2 + m2 * (a1**2 + r2**2) + 2 * b
        return np.array([[m11, m22 + b], [m22 + b, m22]])

    def C(q, qd):
        h = m2 * a1 * r2 * np.sin(q[1])
        return np.array([[-h * qd[1], -h * (qd[0] + qd[1])], [h * qd[0], 0.0]])

    def g(q):
        g2 = m2 * r2 * 9.81 * np.cos(q[0] + q[1])
        return np.array([(m1 * r1 + m2 * a1) * 9.81 * np.cos(q[0]) + g2, g2])

    def slope(x, tau):
        q, qd = x[:2], x[2:]
        return np.concatenate([qd, np.linalg.solve(M(q), tau - C(q, qd) @ qd - g(q))])

    def step(x, tau):
        k1 = slope(x, tau)
        k2 = slope(x + STEP / 2 * k1, tau)
        k3 = slope(x + STEP / 2 * k2, tau)
        return x + STEP / 6 * (k1 + 2 * k2 + 2 * k3 + slope(x + STEP * k3, tau))

    return [loop(arm, period, step) for period in PERIODS]


def by_mujoco(arm: Arm) -> list[float]:
    """The same loop around MuJoCo's own Runge-Kutta steps."""
    import mujoco

    tail = '<mujoco><compiler fusestatic="false"/></mujoco></robot>'
    model = mujoco.MjModel.from_xml_string(to_urdf(arm).replace("</robot>", tail))
    model.opt.gravity[:], model.opt.integrator = UPRIGHT, mujoco.mjtIntegrator.mjINT_RK4
    model.opt.timestep, data = STEP, mujoco.MjData(model)

    def step(x, tau):
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = x[:2], x[2:], tau
        mujoco.mj_step(model, data)
        return np.concatenate([data.qpos, data.qvel])

    return [loop(arm, period, step) for period in PERIODS]


def loop(arm: Arm, period: float, step: Callable) -> float:
    """A spline in joints, PD, and the tool error at each period: its root mean square [m]."""
    from scipy.interpolate import CubicSpline

    (a1, a2), (p0, p1, duration) = arm.a, map(np.asarray, LINE)
    s = np.linspace(0, 1, 2001)
    x, y = (p0 + np.outer(10 * s**3 - 15 * s**4 + 6 * s**5, p1 - p0)).T
    q2 = -np.arccos((x**2 + y**2 - a1**2 - a2**2) / (2 * a1 * a2))
    q1 = np.arctan2(y, x) - np.arctan2(a2 * np.sin(q2), a1 + a2 * np.cos(q2))
    spline = CubicSpline(duration * s, np.column_stack([q1, q2]), bc_type="natural")
    tool = lambda q: np.array(
        [
            a1 * np.cos(q[0]) + a2 * np.cos(q[0] + q[1]),
            a1 * np.sin(q[0]) + a2 * np.sin(q[0] + q[1]),
        ]
    )
    state, errors = np.array([q1[0], q2[0], 0.0, 0.0]), []
    for k in range(round(T_END / period) + 1):
        t = min(k * period, duration)
        q_ref, qd_ref = spline(t), spline(t, 1)
        errors.append(np.linalg.norm(tool(state[:2]) - tool(q_ref)))
        tau = KP * (q_ref - state[:2]) + KD * (qd_ref - state[2:])
        tau = np.clip(tau, -arm.tau_max, arm.tau_max)
        for _ in range(round(period / STEP)):
            state = step(state, tau)
    return float(np.sqrt(np.mean(np.square(errors))))
