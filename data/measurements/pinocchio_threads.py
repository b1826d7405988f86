"""What does one Jacobian cost from Python, and what if two threads share one scratch pad?

    python data/measurements/pinocchio_threads.py        # writes pinocchio_threads.csv beside it

Lesson 05 shows the file. Two calls make a Jacobian (computeJointJacobians, getFrameJacobian); the
threads run freely, 100 000 Jacobians in all. Python gives way between calls only, so one call alone
is never torn in two; a pair of calls is.
"""

import csv
import time
from pathlib import Path
from threading import Thread

import numpy as np
import pinocchio as pin

from course_lib.arm import load_arm
from course_lib.engines import pinocchio_model
from course_lib.kinematics import jacobian

COUNT = 100_000
ARM = load_arm("cobot6")
MODEL, TOOL = pinocchio_model(ARM)
POSTURES = np.random.default_rng(5).uniform(-2, 2, (COUNT, 6))
TRUTH = jacobian(ARM, POSTURES)
WORLD = pin.LOCAL_WORLD_ALIGNED


def two_calls(data, q):
    pin.computeJointJacobians(MODEL, data, q)
    pin.updateFramePlacement(MODEL, data, TOOL)
    return pin.getFrameJacobian(MODEL, data, TOOL, WORLD)


def one_call(data, q):
    return pin.computeFrameJacobian(MODEL, data, q, TOOL, WORLD)


def run(call, pads):
    """A thread for each pad: (microseconds a Jacobian, wrong Jacobians)."""
    wrong, count = [0] * len(pads), len(pads)
    found = np.zeros_like(TRUTH)

    def work(k):
        for i in range(k, COUNT, count):
            found[i] = call(pads[k], POSTURES[i])

    threads = [Thread(target=work, args=(k,)) for k in range(count)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    taken = time.perf_counter() - start
    wrong = int((np.abs(found - TRUTH).max(axis=(1, 2)) > 1e-9).sum())
    return 1e6 * taken / COUNT, wrong


def main():
    rows = [("calls", "threads", "data", "us_each", "wrong_of_100000")]
    for call in (one_call, two_calls):
        for threads in (1, 2):
            for kind in ("shared", "own")[:threads]:
                shared = MODEL.createData()
                pads = [shared if kind == "shared" else MODEL.createData() for _ in range(threads)]
                us, wrong = run(call, pads)
                rows.append((call.__name__, threads, kind, f"{us:.1f}", wrong))
    with open(Path(__file__).with_suffix(".csv"), "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
