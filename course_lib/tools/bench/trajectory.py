"""Motions: six joints sampled a thousand times, a line of the tool in joints, a path in least time.

Public name: `bench_trajectory`.
"""

import importlib.util
import logging
from collections.abc import Callable, Iterator

import numpy as np

from course_lib.arm import Arm, load_arm
from course_lib.cartesian import line, to_joints
from course_lib.engines import toolbox_robot
from course_lib.kinematics import fk
from course_lib.tools.bench.core import Row, Size, race
from course_lib.trajectory import Trajectory, quintic, synchronise, time_optimal

Q0 = np.array([0.3, 0.5, -0.4, 0.7, -0.6, 0.2])
Q1 = np.array([0.8, 0.9, -0.9, 0.3, -0.9, -0.5])
SAMPLES, POSES, DURATION = 1000, 200, 2.0


def bench_trajectory(size: Size) -> Iterator[Row]:
    """Against Robotics Toolbox's jtraj, mtraj, and ctraj with ik_LM, and against toppra."""
    arm, joints = load_arm("cobot6"), f"{len(Q0)} joints, {SAMPLES} samples"
    mtraj, ctraj = {"Toolbox mtraj": 0.5}, {"Toolbox ctraj + ik_LM": 0.5}
    turns, calls = size.repeats, size.calls
    yield race(f"quintic, {joints}", "ms", quintics(), turns, calls=calls, of_peer=mtraj)
    yield race(f"trapezoid, {joints}", "ms", trapezoids(arm), turns, of_peer=mtraj)
    yield race(f"line of the tool, {POSES} poses", "ms", lines(arm), turns, of_peer=ctraj)
    if importlib.util.find_spec("toppra"):
        yield race("path in least time, 6 joints, 1000 steps", "ms", paths(arm), turns)


def quintics() -> dict[str, Callable]:
    """q, qd, qdd (SAMPLES, 6) from rest to rest in a given time."""
    import roboticstoolbox as rtb

    t = np.linspace(0, DURATION, SAMPLES)
    return {
        "ours": lambda: quintic(Q0, Q1, DURATION)(t),
        "Toolbox jtraj": lambda: rtb.jtraj(Q0, Q1, t),
        "Toolbox mtraj": lambda: rtb.mtraj(rtb.quintic, Q0, Q1, t),
    }


def trapezoids(arm: Arm) -> dict[str, Callable]:
    """The same with trapezoids of speed; only ours looks after the limits of the joints."""
    import roboticstoolbox as rtb

    move = lambda: synchronise(Q0, Q1, arm.qd_max, arm.qdd_max, profile="trapezoid")
    t = np.linspace(0, move().duration, SAMPLES)
    return {
        "ours": lambda: move()(t),
        "Toolbox mtraj": lambda: rtb.mtraj(rtb.trapezoidal, Q0, Q1, t),
    }


def lines(arm: Arm) -> dict[str, Callable]:
    """q (POSES, 6) along a line; only ours checks the limits and what lies between the poses."""
    import roboticstoolbox as rtb
    from spatialmath import SE3

    T0, T1 = fk(arm, Q0), fk(arm, Q1)
    ets = toolbox_robot(arm).ets()

    def ours():
        motion = line(T0, T1)
        joints = to_joints(arm, motion, Q0, points=POSES).trajectory
        return joints(np.linspace(0, joints.duration, POSES))[0]

    def toolbox():
        q = [Q0]
        for T in rtb.ctraj(SE3(T0), SE3(T1), POSES).A:
            q.append(ets.ik_LM(T, q0=q[-1], tol=1e-12)[0])
        return np.array(q[1:])

    return {"ours": ours, "Toolbox ctraj + ik_LM": toolbox}


def paths(arm: Arm) -> dict[str, Callable]:
    """The shortest duration [s] of a bent path within the limits of the joints."""
    import toppra
    from scipy.interpolate import CubicSpline
    from toppra import algorithm, constraint

    logging.getLogger("toppra").setLevel(logging.ERROR)
    points = np.array([Q0, Q1, Q0 + 0.5, Q1 - 0.3])
    curve = CubicSpline([0, 1, 2, 3], points, bc_type="natural")
    grid = np.linspace(0, 3, 1001)
    limits = [
        constraint.JointVelocityConstraint(np.c_[-arm.qd_max, arm.qd_max]),
        constraint.JointAccelerationConstraint(np.c_[-arm.qdd_max, arm.qdd_max]),
    ]
    path = toppra.SplineInterpolator([0, 1, 2, 3], points, bc_type="natural")

    def theirs():
        solver = algorithm.TOPPRA(limits, path, gridpoints=grid, solver_wrapper="seidel")
        return solver.compute_trajectory().duration

    ours = Trajectory(curve.x, curve.c)
    return {
        "ours": lambda: time_optimal(ours, arm.qd_max, arm.qdd_max).duration,
        "toppra": theirs,
    }
