"""Which posture brings the tool to a pose?  All of them by geometry, or one by walking there.

    closed    every solution of two links in a plane, and of most arms with six joints whose last
              three axes meet (`closed_form` says which)
    numeric   one solution for any arm: one loop, five methods, and a reason for every failure
    batch     thousands of targets at once
    tasks     strict priorities, where not everything can be had

Joint limits are of two minds: `closed` does not look at them, the others do.
"""

from course_lib.ik.batch import solve_batch
from course_lib.ik.closed import closed_form, in_limits, nearest, planar2
from course_lib.ik.numeric import (
    METHODS,
    IKResult,
    damped,
    levenberg_marquardt,
    nakamura,
    out_of_reach,
    pseudo_inverse,
    solve,
    transpose,
)
from course_lib.ik.tasks import priority, priority_step

__all__ = [
    "METHODS",
    "IKResult",
    "closed_form",
    "damped",
    "in_limits",
    "levenberg_marquardt",
    "nakamura",
    "nearest",
    "out_of_reach",
    "planar2",
    "priority",
    "priority_step",
    "pseudo_inverse",
    "solve",
    "solve_batch",
    "transpose",
]
