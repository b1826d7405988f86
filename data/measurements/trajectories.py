"""How long do ruckig and toppra take for the moves of lesson 07?

    python data/measurements/trajectories.py        # writes trajectories.csv beside it

ruckig: the shortest move of one joint from rest to rest, task: way, limits of speed, acceleration
and jerk [rad, s]. toppra: the fastest motion of cobot6 along the lesson's spline from the shelf to
the table, task: number of steps. Durations [s]. Both are installed with `.[test]` only;
tests/lessons/test_lesson07.py measures again.
"""

import csv
import logging
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from course_lib import ik
from course_lib.arm import load_arm
from course_lib.poses import pose
from course_lib.trajectory import spline

MOVES = (
    (0.02, 1.5, 3.0, 30.0),
    (0.3, 1.5, 3.0, 30.0),
    (0.8, 1.5, 3.0, 30.0),
    (3.0, 1.5, 3.0, 30.0),
)
STEPS = (100, 1000, 4000)
ARM = load_arm("cobot6")
DOWN = Rotation.from_euler("xyz", [np.pi, 0, 0])
IN_SHELF = pose([0.35, -0.15, 0.40], Rotation.from_euler("ZYX", [0.6, -np.pi / 3, np.pi]))


def way_points() -> np.ndarray:
    """The lesson's four postures (4, 6) [rad]: in the shelf, lifted, above the table, on it."""
    lifted = IN_SHELF @ pose([0, 0, -0.10])
    above, on_table = (pose([0.30, 0.25, z], DOWN) for z in (0.20, 0.05))
    starts, ends = allowed(IN_SHELF), allowed(on_table)
    q0, q1 = min(
        ((a, b) for a in starts for b in ends), key=lambda pair: np.abs(pair[1] - pair[0]).max()
    )
    return np.array([q0, nearest(lifted, q0), nearest(above, q1), q1])


def allowed(T):
    rows = ik.closed_form(ARM, T)
    return rows[ik.in_limits(ARM, rows)]


def nearest(T, q):
    return min(allowed(T), key=lambda row: np.abs(row - q).max())


def by_ruckig(distance: float, v: float, a: float, j: float) -> float:
    """Duration [s] of ruckig's move from rest to rest."""
    import ruckig

    task, answer = ruckig.InputParameter(1), ruckig.Trajectory(1)
    task.target_position = [distance]
    task.max_velocity, task.max_acceleration, task.max_jerk = [v], [a], [j]
    if ruckig.Ruckig(1).calculate(task, answer) != ruckig.Result.Working:
        raise RuntimeError("ruckig found no motion")
    return answer.duration


def by_toppra(steps: int) -> float:
    """Duration [s] of toppra's motion along the spline, within cobot6's limits."""
    import toppra
    from toppra import algorithm, constraint

    logging.getLogger("toppra").setLevel(logging.ERROR)
    path = spline(np.arange(4.0), way_points())
    grid = np.linspace(0, 3, steps + 1)
    q = path(np.linspace(0, 3, 4))[0]
    curve = toppra.SplineInterpolator(np.arange(4.0), q, bc_type="clamped")
    v, a = ARM.qd_max, ARM.qdd_max
    limits = [
        constraint.JointVelocityConstraint(np.c_[-v, v]),
        constraint.JointAccelerationConstraint(np.c_[-a, a]),
    ]
    solver = algorithm.TOPPRA(limits, curve, gridpoints=grid, solver_wrapper="seidel")
    _, speed, _ = solver.compute_parameterization(0, 0)
    return float(np.sum(2 * np.diff(grid) / (speed[1:] + speed[:-1])))


def rows() -> list[tuple[str, str, float]]:
    """(engine, task, duration [s]) of every task."""
    found = [("ruckig", " ".join(f"{x:g}" for x in move), by_ruckig(*move)) for move in MOVES]
    return found + [("toppra", f"{steps}", by_toppra(steps)) for steps in STEPS]


if __name__ == "__main__":
    with Path(__file__).with_suffix(".csv").open("w", encoding="utf-8", newline="\n") as file:
        write = csv.writer(file, lineterminator="\n")
        write.writerow(["engine", "task", "duration"])
        write.writerows((*row, f"{duration:.6f}") for *row, duration in rows())
