"""Inverse kinematics: all solutions of a pose, a thousand targets at once, one step of a loop.

Public name: `bench_ik`.
"""

from collections.abc import Callable, Iterator

import numpy as np

from course_lib import ik
from course_lib.arm import Arm, load_arm
from course_lib.engines import toolbox_robot
from course_lib.kinematics import fk
from course_lib.poses import error
from course_lib.tools.bench.core import Row, Size, race
from course_lib.tools.bench.kinematics import has_pinocchio, pinocchio_calls

LOOP_STEP = 0.02  # [rad] how far joints move, at random, from one step of a 20 Hz loop to the next


def bench_ik(size: Size) -> Iterator[Row]:
    """Closed form and numeric, against Robotics Toolbox's compiled ik_LM and a Pinocchio loop."""
    for name in ("cobot6", "panda"):
        arm = load_arm(name)
        count = max(5, size.configurations // 100)
        q = np.random.default_rng(0).uniform(arm.q_min, arm.q_max, (count, arm.n))
        yield many(arm, fk(arm, q), size)
        yield one_step(arm, q, size)
        if name == "cobot6":
            yield all_solutions(arm, fk(arm, q), size)


def many(arm: Arm, T: np.ndarray, size: Size) -> Row:
    """Targets within the limits, from no given start: time of each, and the share solved."""
    ets = toolbox_robot(arm).ets()
    few = T[: max(5, len(T) // 20)]
    calls = {
        "ours": lambda: ik.solve_batch(arm, T).q,
        "Toolbox ik_LM": lambda: [ets.ik_LM(goal, tol=1e-12).q for goal in T],
    }
    goals = dict.fromkeys(calls, T)
    if has_pinocchio():
        calls["Pinocchio loop"] = lambda: pinocchio_loop(arm, few)
        goals["Pinocchio loop"] = few
    share = [f"{100 * solved(arm, call(), goals[who]):.1f}" for who, call in calls.items()]
    title = f"ik of {len(T)} targets of {arm.name}, each; solved {' / '.join(share)} %"
    answers = {who: len(some) for who, some in goals.items()}
    most = {"Toolbox ik_LM": 1.2}
    return race(title, "µs", calls, size.long_repeats, answers=answers, of_peer=most)


def solved(arm: Arm, q: np.ndarray, T: np.ndarray) -> float:
    """The share of q (N, n) within the limits that hold the tool at T to 1.5 µm and 1.5 µrad."""
    e = error(fk(arm, np.array(q)), T).reshape(-1, 2, 3)
    near = (np.linalg.norm(e, axis=-1) < 1.5e-6).all(axis=-1)  # ik_LM's is that of |e|^2/2
    return float((near & ik.in_limits(arm, q)).mean())


def one_step(arm: Arm, q: np.ndarray, size: Size) -> Row:
    """The next target of a loop from the posture before, at as many places as there are calls."""
    ets = toolbox_robot(arm).ets()
    q = q[: size.calls]
    moved = q + LOOP_STEP * np.random.default_rng(1).uniform(-1, 1, q.shape)
    pairs = [*zip(fk(arm, np.clip(moved, arm.q_min, arm.q_max)), q)]
    calls = {
        "ours": lambda: [ik.solve(arm, T, q0, restarts=0) for T, q0 in pairs],
        "Toolbox ik_LM": lambda: [ets.ik_LM(T, q0=q0, tol=1e-12) for T, q0 in pairs],
    }
    title, most = f"ik of {arm.name}, one step of a loop", {"Toolbox ik_LM": 2.0}
    answers = dict.fromkeys(calls, len(pairs))
    return race(title, "µs", calls, 3 * size.repeats, answers=answers, of_peer=most)


def all_solutions(arm: Arm, T: np.ndarray, size: Size) -> Row:
    """The closed form: eight solutions of each pose. No peer gives them all."""
    few = T[: size.calls]
    calls = {"ours": lambda: [ik.closed_form(arm, goal) for goal in few]}
    title = f"all closed-form solutions of {arm.name}, each pose"
    return race(title, "µs", calls, size.repeats, answers={"ours": len(few)})


def pinocchio_loop(arm: Arm, T: np.ndarray, starts: int = 51, steps: int = 30) -> list[np.ndarray]:
    """Levenberg-Marquardt as one writes it around Pinocchio: random starts, one by one."""
    pose, J = pinocchio_calls(arm)
    rng, found = np.random.default_rng(0), []
    for goal in T:
        for _ in range(starts):
            q = walk(pose, J, goal, rng.uniform(arm.q_min, arm.q_max), steps)
            q = q - 2 * np.pi * np.round((q - (arm.q_min + arm.q_max) / 2) / (2 * np.pi))
            if np.linalg.norm(to_goal(pose(q), goal)) < 1e-6 and ik.in_limits(arm, q):
                break
        found.append(q)
    return found


def walk(pose: Callable, J: Callable, goal: np.ndarray, q: np.ndarray, steps: int) -> np.ndarray:
    """From q (n,), damped by the error, until the goal (4, 4) is reached or the steps run out."""
    for _ in range(steps):
        e = to_goal(pose(q), goal)
        if np.linalg.norm(e) < 1e-6:
            break
        Jq = J(q)
        q = q + Jq.T @ np.linalg.solve(Jq @ Jq.T + 0.005 * (e @ e) * np.eye(6), e)
    return q


def to_goal(T: np.ndarray, goal: np.ndarray) -> np.ndarray:
    """`poses.error` by Pinocchio."""
    import pinocchio as pin

    return np.r_[goal[:3, 3] - T[:3, 3], pin.log3(goal[:3, :3] @ T[:3, :3].T)]
