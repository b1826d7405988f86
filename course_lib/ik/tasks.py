"""What if not everything can be had?  Tasks in a strict order, none of which disturbs one above.

Public names: `priority_step`, `priority`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from course_lib import kinematics
from course_lib.arm import Arm
from course_lib.ik.numeric import (
    LM_GAIN,
    IKResult,
    _goal,
    _turned_home,
    _walk,
    levenberg_marquardt,
    out_of_reach,
)
from course_lib.poses import as_poses, error, finite

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

SETTLED = 1e-8  # [rad or m] a shorter step: the hierarchy has come to rest
POSITION = np.array([1.0, 1, 1, 0, 0, 0])
OWN = 1e-10  # a singular value below this part of |J| is no direction of the task


def priority_step(
    tasks: Iterable[tuple[ArrayLike, ArrayLike]], gain: float = LM_GAIN
) -> np.ndarray:
    """One step (n,) for tasks (J, e), the most important first: none disturbs one above it.

    Each task gets what those above leave free: it moves in the null space of their Jacobians, and
    corrects what they do to it. Its own step is damped as in `levenberg_marquardt`; the null space
    is not, so that strictness holds at singularities too.
    Source: Siciliano and Slotine, Int. Conf. Advanced Robotics 1991.
    """
    dq, above = 0.0, None
    for J, e in tasks:
        J, e = np.asarray(J, dtype=float), np.asarray(e, dtype=float)
        if above is None:
            dq, above = np.zeros(J.shape[1]), np.empty((0, J.shape[1]))
        U, sigma, V = np.linalg.svd(J - J @ above.T @ above, full_matrices=False)
        own = sigma > OWN * np.linalg.norm(J)
        U, sigma, V = U[:, own], sigma[own], V[own]
        damping = gain * 0.5 * float(e @ e)
        dq = dq + V.T @ (sigma / (sigma**2 + damping) * (U.T @ (e - J @ dq)))
        above = np.linalg.qr(np.vstack([above, V]).T)[0].T  # at right angles, to the last digit
    return dq


def priority(
    arm: Arm,
    T: ArrayLike,
    q0: ArrayLike,
    *,
    posture: ArrayLike | None = None,
    tolerance: float = 1e-6,
    max_iterations: int = 100,
    max_step: float = 0.3,
) -> IKResult:
    """Position before orientation before posture (n,): the last two as far as the first allows.

    From q0 (n,) the tool's point goes to that of T (4, 4) and is held there; then a step is taken
    if it turns the tool closer to T, or as close and nearer to the posture. Where T can't be had as
    a whole, `success` is False, the position lies within the tolerance if it can, and the turn left
    over is the least that is found near q0. Arguments and reasons as in `solve`.
    """
    q0, goal = finite("q0", q0, arm.n), as_poses("T", T)
    posture = None if posture is None else finite("posture", posture, arm.n)

    def placed(q, rows):
        """q with the tool point (rows: POSITION) or pose (None) brought to the goal; J, e, key."""
        walk = levenberg_marquardt, rows, tolerance, 50, max_step
        q = _walk(arm, _goal(goal), q, q, *walk).trace[-1]
        T, J = kinematics.fk_and_jacobian(arm, q)
        e = error(T, goal)
        sizes = np.maximum(np.linalg.norm(e.reshape(2, 3), axis=1), tolerance).tolist()
        return q, J, e, (*sizes, 0.0 if posture is None else np.linalg.norm(posture - q))

    (q, J, e, bad), radius, barred = placed(q0, POSITION), max_step, []
    trace = [q0, q]
    while (
        radius > SETTLED and bad > (tolerance, tolerance, SETTLED) and len(trace) <= max_iterations
    ):
        tasks = [(J[:3], e[:3]), *((u[None], np.zeros(1)) for u in barred), (J[3:], e[3:])]
        dq = priority_step(tasks if posture is None else [*tasks, (np.eye(arm.n), posture - q)])
        radius = min(radius, np.abs(dq).max())
        there = q + dq * (radius / max(np.abs(dq).max(), SETTLED))
        other = placed(there, POSITION if bad[1] > tolerance else None)
        undone = np.linalg.norm(other[0] - there)
        if other[-1] < bad:
            (q, J, e, bad), radius, barred = other, min(2 * radius, max_step), []
            trace.append(q)
        elif undone > 0.5 * np.linalg.norm(there - q) and len(barred) < arm.n - 3:
            barred.append((other[0] - there) / undone)  # a way that the position takes back
        else:
            radius /= 4
    q, inside = _turned_home(arm, q, q0)
    position, rotation = np.linalg.norm(e.reshape(2, 3), axis=1).tolist()
    reached = position < tolerance and rotation < tolerance
    if reached:
        reason = "converged" if inside else "joint limit"
    elif out_of_reach(arm, goal):
        reason = "unreachable"
    else:
        reason = "stalled" if radius <= SETTLED else "iteration limit"
    return IKResult(q, reached and inside, reason, position, rotation, len(trace) - 1, trace)
