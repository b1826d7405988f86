"""Is FABRIK quicker than a numeric solver?  Chains in a plane, the same targets, tip alone.

    python data/measurements/fabrik_speed.py        # writes fabrik_speed.csv beside it

Lesson 06 shows the file. Chains are 1 m long together; 200 targets lie anywhere within 95 % of that
(or at 99 to 100 %). Both start from the same bent chain: `fabrik.solve`, and one walk of `ik.solve`
by Levenberg-Marquardt with the weights of a point, both in Python. Counts and times are medians of
those that arrive, times of the processor [us]; the two take turns.
"""

import csv
import time
from pathlib import Path
from statistics import median

import numpy as np

from course_lib import fabrik, ik
from course_lib.arm import Arm
from course_lib.kinematics import link_frames
from course_lib.poses import pose

COUNT, POINT = 200, (1, 1, 0, 0, 0, 0)
COLUMNS = ["links", "targets", "tolerance_m", "fabrik_rounds", "lm_steps", "fabrik_us", "lm_us"]
CASES = [
    (links, near, tolerance)
    for links in (3, 10, 30)
    for near in ("anywhere", "at the edge")
    for tolerance in (1e-3, 1e-6)
]


def chain_of(links: int) -> tuple[Arm, np.ndarray]:
    """Equal links, 1 m together, and a bent posture of them (links,) [rad]."""
    zeros = np.zeros(links)
    arm = Arm(f"{links} links", "standard", a=np.full(links, 1 / links), alpha=zeros, d=zeros,
              theta=zeros)  # fmt: skip
    return arm, np.r_[0.3, np.full(links - 1, 1.2 / links)]


def targets(near: str, count: int = COUNT) -> np.ndarray:
    """(count, 2) points in a ring."""
    rng = np.random.default_rng(66)
    low, high = (0.0, 0.95) if near == "anywhere" else (0.99, 1.0)
    r = np.sqrt(rng.uniform(low**2, high**2, count))
    angle = rng.uniform(-np.pi, np.pi, count)
    return np.column_stack([r * np.cos(angle), r * np.sin(angle)])


def row_of(links: int, near: str, tolerance: float, count: int = COUNT) -> list:
    """One row of the table."""
    arm, q = chain_of(links)
    points, found = link_frames(arm, q)[:, :2, 3], {"fabrik": [], "lm": []}
    for target in targets(near, count):
        goal, start = pose([*target, 0.0]), time.process_time()
        chain = fabrik.solve(points, target, tolerance=tolerance)
        between = time.process_time()
        walk = ik.solve(arm, goal, q, weights=POINT, tolerance=tolerance, restarts=0)
        end = time.process_time()
        if chain.success:
            found["fabrik"].append((len(chain.errors), between - start))
        if walk.success or walk.reason == "joint limit":
            found["lm"].append((walk.iterations, end - between))
    counts, times = zip(*([median(column) for column in zip(*rows)] for rows in found.values()))
    arrived = [len(rows) for rows in found.values()]
    each = [f"{1e6 * t:.0f}" for t in times]
    return [links, near, f"{tolerance:g}", *(f"{c:.0f}" for c in counts), *each, *arrived]


def main() -> None:
    rows = [row_of(*case) for case in CASES]
    with open(Path(__file__).with_suffix(".csv"), "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerows([[*COLUMNS, "fabrik_of_200", "lm_of_200"], *rows])


if __name__ == "__main__":
    main()
