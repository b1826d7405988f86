"""Which method solves how much, in how many steps?  The same 1000 targets for each, on three arms.

    python data/measurements/ik_methods.py        # writes ik_methods.csv beside it, some minutes

Lesson 06 shows the file. Targets are tool poses of random postures within the limits. A target
counts as solved if the joints lie within their limits and Pinocchio's own forward kinematics puts
the tool there, to 1e-6 m and 1e-6 rad; for FABRIK and its peer the tool's point is enough.

steps are counted over all targets, those that are not solved among them: they need "never" fewer.
first_40 is how many of the first forty are solved: a test runs those again.
us_each is the median processor time of a target [us], one by one, but for the batch. (Run it with
OMP_NUM_THREADS=1: a second thread's time would count.)
"""

import csv
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pinocchio as pin
import roboticstoolbox as rtb

from course_lib import fabrik, ik
from course_lib.arm import Arm, from_toolbox, load_arm
from course_lib.engines import pinocchio_fk, pinocchio_model, toolbox_robot
from course_lib.kinematics import fk, link_frames
from course_lib.poses import error

COUNT, SAMPLE, SEED, TOLERANCE = 1000, 40, 606, 1e-6
POINT = (1, 1, 1, 0, 0, 0)
ARMS = {
    "cobot6": load_arm("cobot6"),
    "panda": load_arm("panda"),
    "UR5": from_toolbox(rtb.models.DH.UR5()),
}
PLACES = {"cobot6": (1, 2, 4, -1), "panda": (2, 4, 6, -1), "UR5": (1, 2, 3, 4, 5, -1)}


class Run(NamedTuple):
    """What a method made of N targets: q (N, n), NaN where it gave none; steps (N,), times [s]."""

    q: np.ndarray
    steps: np.ndarray
    seconds: np.ndarray


def targets(arm: Arm, count: int = COUNT) -> np.ndarray:
    """Tool poses (count, 4, 4) of random postures within the limits; a longer list begins alike."""
    rng = np.random.default_rng(SEED)
    return fk(arm, rng.uniform(arm.q_min, arm.q_max, (COUNT, arm.n))[:count])


def middle(arm: Arm) -> np.ndarray:
    """The one start: the middle of the limits, and 0.1 rad aside, since zeros may be singular."""
    return (arm.q_min + arm.q_max) / 2 + 0.1


def one_by_one(solver: Callable, T: np.ndarray) -> Run:
    """solver(T) -> (q or None, steps) for each target, with its time."""
    found, steps, seconds = [], [], []
    for goal in T:
        start = time.process_time()
        q, count = solver(goal)
        seconds.append(time.process_time() - start)
        found.append(q)
        steps.append(count)
    n = next(len(q) for q in found if q is not None)
    rows = [np.full(n, np.nan) if q is None else q for q in found]
    return Run(np.array(rows), np.array(steps), np.array(seconds))


# ---------------------------------------------------------------- methods: (arm, T) -> Run


def closed_form(arm, T):
    """All postures by geometry; of those within the limits the first."""
    if arm.n != 6:
        raise ValueError(f"{arm.n} joints: endlessly many answers")

    def solver(goal):
        rows = ik.closed_form(arm, goal)
        rows = rows[ik.in_limits(arm, rows)]
        return (rows[0] if len(rows) else None), 0

    return one_by_one(solver, T)


def ours(method, restarts=0, weights=(1, 1, 1, 1, 1, 1)):
    def run(arm, T):
        def solver(goal):
            more = {"restarts": restarts, "weights": weights, "tolerance": TOLERANCE / 2}
            found = ik.solve(arm, goal, middle(arm), method, **more)
            return found.q, found.iterations

        return one_by_one(solver, T)

    return run


def batch(arm, T):
    start = time.process_time()
    found = ik.solve_batch(arm, T, tolerance=TOLERANCE / 2)
    each = (time.process_time() - start) / len(T)
    return Run(found.q, found.iterations, np.full(len(T), each))


def toolbox(name, chain=True, **more):
    """A solver of Robotics Toolbox, up to 50 searches; its tolerance is that of e^T e / 2.

    chain: asked of the robot's `ets()`; else of the `DHRobot` itself.
    """

    def run(arm, T):
        robot = toolbox_robot(arm)
        solve = getattr(robot.ets() if chain else robot, name)
        settings = {"tol": 1e-13, "slimit": 50, "q0": middle(arm), **more}

        def solver(goal):
            found = solve(goal, **settings)
            return found.q, found.iterations

        return one_by_one(solver, T)

    return run


def toolbox_compiled(arm, T):
    """`ik_LM` draws its further starts without a seed; so it gets them, one search each."""
    chain, rng = toolbox_robot(arm).ets(), np.random.default_rng(7)
    starts = np.vstack([middle(arm), rng.uniform(arm.q_min, arm.q_max, (49, arm.n))])

    def solver(goal):
        count = 0
        for start in starts:
            found = chain.ik_LM(goal, q0=start, slimit=1, tol=1e-13)
            count += found.iterations
            if found.success:
                break
        return found.q, count

    return one_by_one(solver, T)


def toolbox_analytic(arm, T):
    """`ikine_a` belongs to a model of the toolbox, not to a table."""
    models = {name: getattr(rtb.models.DH, name) for name in dir(rtb.models.DH)}
    able = [n for n, m in models.items() if isinstance(m, type) and hasattr(m, "ikine_a")]
    if hasattr(toolbox_robot(arm), "ikine_a") or arm.name in able:
        raise NotImplementedError(f"{arm.name}: it has one now; write its row")
    raise ValueError(f"only {', '.join(able)} has one")


def pinocchio(arm, T):
    """The loop of lesson 05: damped by 1e-3, error and Jacobian in the tool frame, 100 steps."""
    model, tool = pinocchio_model(arm)
    data = model.createData()

    def solver(goal):
        q, goal = middle(arm), pin.SE3(goal)
        for k in range(101):
            pin.computeJointJacobians(model, data, q)
            pin.updateFramePlacements(model, data)
            e = pin.log6(data.oMf[tool].actInv(goal)).vector
            if np.linalg.norm(e) < TOLERANCE / 2:
                break
            J = pin.getFrameJacobian(model, data, tool, pin.LOCAL)
            dq = J.T @ np.linalg.solve(J @ J.T + 1e-6 * np.eye(6), e)
            q = q + dq / max(1.0, np.abs(dq).max())
        inner = (arm.q_min + arm.q_max) / 2
        return q - 2 * np.pi * np.round((q - inner) / (2 * np.pi)), k

    return one_by_one(solver, T)


# ---------------------------------------------------------------- FABRIK


def places(arm: Arm, q: np.ndarray) -> np.ndarray:
    """(..., k, 3) the points between which the arm is rigid: shoulder to tool."""
    T = np.concatenate([link_frames(arm, q), fk(arm, q)[..., None, :, :]], axis=-3)
    return T[..., :3, 3][..., list(PLACES[arm.name]), :]


def chains(arm, T):
    """FABRIK from one start on the tool's points: points (N, k, 3), rounds (N,), times [s]."""
    start, rows, rounds, seconds = places(arm, middle(arm) + 0.2), [], [], []
    for goal in T:
        before = time.process_time()
        found = fabrik.solve(start, goal[:3, 3], tolerance=TOLERANCE / 2)
        seconds.append(time.process_time() - before)
        rows.append(found.points)
        rounds.append(len(found.errors))
    return np.array(rows), np.array(rounds), np.array(seconds)


def follow(arm, points, starts=10, steps=25, h=1e-6):
    """Of joints that put the arm's places at points (N, k, 3): q (N, n), NaN where none are found.

    Marquardt on differences of Pinocchio-checked `link_frames`, from several starts; within a
    tenth of a millimetre is followed. Those within the limits come first.
    """
    rng, wanted = np.random.default_rng(1), points.reshape(len(points), -1)
    best, inside = np.full((len(points), arm.n), np.nan), np.zeros(len(points), bool)
    for _ in range(starts):
        q = rng.uniform(arm.q_min, arm.q_max, best.shape)
        for _ in range(steps):
            at = places(arm, q).reshape(len(q), -1)
            nudged = places(arm, q[:, None] + h * np.eye(arm.n)).reshape(len(q), arm.n, -1)
            J, e = np.swapaxes(nudged - at[:, None], 1, 2) / h, wanted - at
            square = (0.01 * (e**2).sum(axis=1) + 1e-10)[:, None, None] * np.eye(arm.n)
            A, b = np.swapaxes(J, 1, 2) @ J + square, np.einsum("nki,nk->ni", J, e)
            dq = np.linalg.solve(A, b[..., None])[..., 0]
            q = q + dq / np.maximum(1, np.abs(dq).max(axis=1, keepdims=True))
        gap = np.linalg.norm(places(arm, q) - points, axis=-1).max(axis=1)
        q = q - 2 * np.pi * np.round((q - (arm.q_min + arm.q_max) / 2) / (2 * np.pi))
        there = within(arm, q)
        better = (gap < 1e-4) & (there | np.isnan(best[:, 0])) & ~inside
        best[better], inside[better] = q[better], there[better]
    return best


# ---------------------------------------------------------------- the table

METHODS = {
    "closed form": closed_form,
    "toolbox ikine_a": toolbox_analytic,
    "Newton, one start": ours("pinv"),
    "damped, one start": ours("dls"),
    "LM, one start": ours("lm"),
    "Pinocchio loop, one start": pinocchio,
    "LM, 50 restarts": ours("lm", 50),
    "LM, batch": batch,
    "toolbox ikine_GN of DHRobot": toolbox("ikine_GN", False, pinv=True, seed=7),
    "toolbox ikine_GN": toolbox("ikine_GN", pinv=True, seed=7),
    "toolbox ikine_LM": toolbox("ikine_LM", seed=7),
    "toolbox ik_LM (C++)": toolbox_compiled,
    "LM, point only": ours("lm", 0, POINT),
}
COLUMNS = [
    "arm",
    "method",
    "solved",
    "first_40",
    "median_steps",
    "p95_steps",
    "residual",
    "us_each",
]


def solved(arm: Arm, T: np.ndarray, q: np.ndarray, rows=slice(None)) -> tuple:
    """Who is solved (N,), and what is left of each error, the larger of [m] and [rad] (N,)."""
    known = np.isfinite(q).all(axis=1)
    e = error(pinocchio_fk(arm, np.where(known[:, None], q, 0.0)), T)[:, rows]
    left = np.abs(e).max(axis=1)
    return known & within(arm, q) & (left < TOLERANCE), left


def within(arm: Arm, q: np.ndarray) -> np.ndarray:
    """(N,) whether all joints of q (N, n) lie within their limits; a row of NaN does not."""
    return ((arm.q_min - 1e-9 <= q) & (q <= arm.q_max + 1e-9)).all(axis=1)


def steps_for(share: float, steps: np.ndarray, ok: np.ndarray) -> float:
    """The least number of steps within which this share of ALL targets is solved; inf if never."""
    return float(np.sort(np.where(ok, steps, np.inf))[int(np.ceil(share * len(ok))) - 1])


def row_of(name, method, ok, left, run):
    counts = [steps_for(share, run.steps, ok) for share in (0.5, 0.95)]
    words = ["never" if c == np.inf else f"{c:.0f}" for c in counts]
    rest = f"{np.median(left[ok]):.0e}" if ok.any() else ""
    each = f"{1e6 * np.median(run.seconds):.0f}"
    return [name, method, ok.sum(), ok[:SAMPLE].sum(), *words, rest, each]


def rows_of(name: str, count: int = COUNT) -> list[list]:
    """The rows of one arm, on its first `count` targets."""
    arm = ARMS[name]
    T, table = targets(arm, count), []
    for method, call in METHODS.items():
        try:
            run = call(arm, T)
        except ValueError as why:
            reason = str(why).split(" here: ")[-1]
            table.append([name, method, reason, *[""] * 5])
            continue
        ok, left = solved(arm, T, run.q, slice(3) if "point" in method else slice(None))
        table.append(row_of(name, method, ok, left, run))
    points, rounds, seconds = chains(arm, T)
    run = Run(points, rounds, seconds)
    left = np.linalg.norm(points[:, -1] - T[:, :3, 3], axis=1)
    table.append(row_of(name, "FABRIK, points alone", left < TOLERANCE, left, run))
    q = follow(arm, points)
    for words, ok in (
        ("joints follow", np.isfinite(q[:, 0])),
        ("and within limits", within(arm, q)),
    ):
        ok = ok & (left < TOLERANCE)
        table.append(row_of(name, f"FABRIK, {words}", ok, left, run))
    return table


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else COUNT
    table = [row for name in ARMS for row in rows_of(name, count)]
    target = Path(__file__).with_suffix(".csv")
    with open(target if count == COUNT else "/dev/stdout", "w", newline="", encoding="utf-8") as f:
        csv.writer(f, lineterminator="\n").writerows([COLUMNS, *table])


if __name__ == "__main__":
    main()
