"""Poses and Jacobians: one posture, and a hundred thousand.

Public names: `bench_kinematics`, `Peer`, `pose_peers`, `jacobian_peers`, `both_peers`.
"""

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from course_lib.arm import Arm, load_arm
from course_lib.dh import dh_matrix
from course_lib.engines import pinocchio_model, toolbox_robot
from course_lib.kinematics import fk, fk_and_jacobian, jacobian
from course_lib.tools.bench.core import Row, Size, race


@dataclass(frozen=True)
class Peer:
    """Another way to the same answer: one, for a posture (n,); many, for a stack (N, n)."""

    one: Callable | None
    many: Callable | None = None


Peers, Most = dict[str, Peer], dict[str, float]  # by name; most: the promised ours/peer


def bench_kinematics(size: Size) -> Iterator[Row]:
    """Tool poses and world Jacobians, of a batch and of one posture."""
    arm = load_arm("cobot6")
    q = np.random.default_rng(0).uniform(arm.q_min, arm.q_max, (size.configurations, arm.n))
    poses, jacobians, both = pose_peers(arm), jacobian_peers(arm), both_peers(arm)

    most = {"Pinocchio": 0.35, "Toolbox fkine": 0.5}
    yield of_a_batch("fk", lambda q: fk(arm, q), q, poses, most, size)
    most = {"Pinocchio": 0.8, "Toolbox jacob0": 0.5, "Toolbox ETS jacob0": 0.5}
    yield of_a_batch("jacobian", lambda q: jacobian(arm, q), q, jacobians, most, size)

    most = {"Toolbox ETS eval": 1.3}
    yield of_one("fk", lambda q: fk(arm, q), q[0], poses, most, size)
    yield of_one("jacobian", lambda q: jacobian(arm, q), q[0], jacobians, {}, size)
    most = {"Toolbox ETS eval + jacob0": 0.8}
    yield of_one("fk_and_jacobian", lambda q: fk_and_jacobian(arm, q), q[0], both, most, size)


def of_a_batch(
    name: str, ours: Callable, q: np.ndarray, peers: Peers, most: Most, size: Size
) -> Row:
    """Microseconds for each posture of q (N, n); the toolbox's slow loops get a tenth of them."""
    few = q[: max(1, len(q) // 10)]
    stacks = {peer: few if "Toolbox" in peer else q for peer in peers}
    calls = {"ours": lambda: ours(q)}
    calls |= {peer: lambda peer=peer: peers[peer].many(stacks[peer]) for peer in peers}
    answers = {"ours": len(q), **{peer: len(stack) for peer, stack in stacks.items()}}
    name = f"{name}, batch of {len(q)}, each"
    return race(name, "µs", calls, size.repeats, answers=answers, of_peer=most)


def of_one(name: str, ours: Callable, q: np.ndarray, peers: Peers, most: Most, size: Size) -> Row:
    """Microseconds for one posture q (n,), checks of the input included."""
    calls = {"ours": lambda: ours(q)}
    calls |= {peer: lambda one=way.one: one(q) for peer, way in peers.items() if way.one}
    turns, name = 20 * size.repeats, f"{name} of one posture"
    return race(name, "µs", calls, turns, calls=size.calls, of_peer=most)


def pose_peers(arm: Arm) -> dict[str, Peer]:
    """Other ways to tool poses (..., 4, 4)."""
    robot = toolbox_robot(arm)
    ets = robot.ets()
    peers = {
        "stacked 4x4 products": Peer(None, lambda q: stacked_products(arm, q)),
        "Toolbox ETS eval": Peer(ets.eval, ets.eval),
        "Toolbox fkine": Peer(lambda q: robot.fkine(q).A, lambda q: robot.fkine(q).A),
    }
    if has_pinocchio():
        pose, _ = pinocchio_calls(arm)
        peers["Pinocchio"] = Peer(pose, lambda q: filled(pose, q, (4, 4)))
    return peers


def jacobian_peers(arm: Arm) -> dict[str, Peer]:
    """Other ways to world Jacobians (..., 6, n), all of them loops."""
    robot = toolbox_robot(arm)
    calls = {"Toolbox ETS jacob0": robot.ets().jacob0, "Toolbox jacob0": robot.jacob0}
    if has_pinocchio():
        calls["Pinocchio"] = pinocchio_calls(arm)[1]
    loop = lambda call: lambda q: filled(call, q, (6, arm.n))
    return {name: Peer(call, loop(call)) for name, call in calls.items()}


def both_peers(arm: Arm) -> dict[str, Peer]:
    """Other ways to the tool pose and the world Jacobian of one posture."""
    ets = toolbox_robot(arm).ets()
    calls = {"Toolbox ETS eval + jacob0": lambda q: (ets.eval(q), ets.jacob0(q))}
    if has_pinocchio():
        pose, J = pinocchio_calls(arm)
        calls["Pinocchio"] = lambda q: (pose(q), J(q))
    return {name: Peer(call) for name, call in calls.items()}


def stacked_products(arm: Arm, q: np.ndarray) -> np.ndarray:
    """Tool poses (N, 4, 4) by NumPy's matrix products of whole stacks."""
    A = dh_matrix(arm.a, arm.alpha, arm.d, arm.theta + q)
    T = arm.base @ A[:, 0]
    for i in range(1, arm.n):
        T = T @ A[:, i]
    return T @ arm.tool


def has_pinocchio() -> bool:
    """Whether Pinocchio is installed."""
    return importlib.util.find_spec("pinocchio") is not None


def pinocchio_calls(arm: Arm) -> tuple[Callable, Callable]:
    """Pinocchio's tool pose (4, 4) and world Jacobian (6, n) of one posture."""
    import pinocchio as pin

    model, tool = pinocchio_model(arm)
    data = model.createData()
    placed, update, compute = data.oMf[tool], pin.framesForwardKinematics, pin.computeFrameJacobian
    world = pin.LOCAL_WORLD_ALIGNED

    def pose(q):
        update(model, data, q)
        return placed.homogeneous

    return pose, lambda q: compute(model, data, q, tool, world)


def filled(call: Callable, q: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """call(q_k) of each posture, in one array: the quickest loop that we found."""
    out = np.empty((len(q), *shape))
    for out_k, q_k in zip(out, q):
        out_k[:] = call(q_k)
    return out
