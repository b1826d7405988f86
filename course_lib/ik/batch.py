"""Which postures bring the tool to thousands of poses?  All walks at once, and good starts.

Public name: `solve_batch`.

Most effort of a numeric solver goes into starts that are thrown away. So starts are not drawn
blindly: out of a table of random postures, whose tool poses cost one batch of forward kinematics,
those come first whose tool pose is nearest to the target.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from course_lib import kinematics
from course_lib.arm import Arm
from course_lib.ik import numeric
from course_lib.ik.numeric import LM_GAIN, UNIT, IKResult, solve
from course_lib.poses import as_poses, finite

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

FIRST_STEPS = 12  # of each start: who arrives has arrived by then


def solve_batch(
    arm: Arm,
    T: ArrayLike,
    q0: ArrayLike | None = None,
    *,
    weights: ArrayLike = UNIT,
    tolerance: float = 1e-6,
    restarts: int = 50,
    rng: np.random.Generator | None = None,
) -> IKResult:
    """`solve` by Levenberg-Marquardt for many targets T (N, 4, 4) at once: fields with N rows.

    Targets walk together, one step of all who are on their way at a time. Each round gives those
    still open fresh starts, 1, 2, 4, 8 ..., out of a table of random postures those whose tool pose
    is nearest: most starts that would be thrown away are never tried. q0 (N, n): the first starts.
    A target that no start reached is walked to once more by `solve`, which says why.
    """
    numeric._sound(tolerance=tolerance)
    numeric._sound(0, restarts=restarts)
    T, rng, rows = as_poses("T", T), rng or np.random.default_rng(0), numeric._rows(weights)
    if T.ndim != 3:
        raise ValueError(f"T: shape {T.shape}, expected (N, 4, 4)")
    near = np.broadcast_to(
        numeric._middle(arm) if q0 is None else finite("q0", q0, arm.n), (len(T), arm.n)
    )
    q, outside = np.full((2, len(T), arm.n), np.nan)
    lost = numeric._too_far(arm, T, rows, tolerance)
    steps, left, count = np.zeros(len(T), int), restarts + 1, 1
    while left > 0 and (open := np.flatnonzero(np.isnan(q[:, 0]) & ~lost)).size:
        count = min(count, left)
        first = q0 is not None and left > restarts
        starts = near[open, None] if first else numeric._starts_near(arm, T[open], count, rng, rows)
        target = np.repeat(open, starts.shape[1])
        _walk_all(
            arm, T, target, starts.reshape(-1, arm.n), near, rows, tolerance, (q, outside, steps)
        )
        left, count = left - count, 2 * count
    reason = np.full(len(T), "converged", dtype=object)
    for i in np.flatnonzero(np.isnan(q[:, 0])):
        start = near[i] if np.isnan(outside[i, 0]) else outside[i]
        last = solve(arm, T[i], start, weights=weights, tolerance=tolerance, restarts=0)
        q[i], reason[i], steps[i] = last.q, last.reason, steps[i] + last.iterations
    e = numeric._errors(kinematics.fk(arm, q), T, rows)
    position, rotation = np.linalg.norm(e.reshape(-1, 2, 3), axis=-1).T
    return IKResult(q, reason == "converged", reason, position, rotation, steps, [])


def _walk_all(arm, T, target, q, near, rows, tolerance, found):
    """One round: from each q (M, n) towards T[target], `FIRST_STEPS` steps at most.

    found: q (N, n) within the limits, and outside of them, NaN where there is none; steps (N,).
    """
    inside_q, outside_q, steps = found
    for k in range(FIRST_STEPS + 1):
        pose, J = kinematics.fk_and_jacobian(arm, q)
        e = numeric._errors(pose, T[target], rows)
        done = (np.linalg.norm(e.reshape(-1, 2, 3), axis=-1) < tolerance).all(axis=-1)
        home, inside = numeric._turned_home(arm, q[done], near[target[done]])
        inside_q[target[done][inside]] = home[inside]
        outside_q[target[done][~inside]] = home[~inside]
        going = ~done & np.isnan(inside_q[target, 0])
        if k == FIRST_STEPS or not going.any():
            return
        target, q, J, e = target[going], q[going], J[going], e[going]
        np.add.at(steps, target, 1)
        q = q + _step_of_all(J, e, rows)


def _step_of_all(J, e, rows):
    """`levenberg_marquardt` for stacks (M, 6, n), (M, 6), at most 1 rad a joint."""
    if rows is not None:
        J, e = J * rows[:, None], e * rows
    A = J @ np.swapaxes(J, -1, -2)
    square = LM_GAIN * 0.5 * (e * e).sum(axis=-1) + 1e-12
    A[:, range(6), range(6)] += square[:, None]
    dq = (np.linalg.solve(A, e[..., None])[:, None, :, 0] @ J)[:, 0]
    return dq / np.maximum(1.0, np.abs(dq).max(axis=-1, keepdims=True))
