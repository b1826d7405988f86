"""What does one Jacobian cost from Python, and what if two threads share one scratch pad?

    python data/measurements/pinocchio_threads.py        # writes pinocchio_threads.csv beside it

Lesson 05 shows the file. A Jacobian is made by one call (computeFrameJacobian) or by two
(computeJointJacobians, then getFrameJacobian). Threads run freely. Python gives way between calls
only, so one call is never torn in two; a pair of calls is. The rows take turns, so that a busy
moment of the machine hits all of them; times are medians.
"""

import csv
import time
from pathlib import Path
from statistics import median
from threading import Thread

import numpy as np
import pinocchio as pin

from course_lib.arm import load_arm
from course_lib.engines import pinocchio_model
from course_lib.kinematics import jacobian

COUNT, ROUNDS = 20_000, 25
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
    found = np.zeros_like(TRUTH)

    def work(k):
        for i in range(k, COUNT, len(pads)):
            found[i] = call(pads[k], POSTURES[i])

    threads = [Thread(target=work, args=(k,)) for k in range(len(pads))]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    taken = time.perf_counter() - start
    return 1e6 * taken / COUNT, int((np.abs(found - TRUTH).max(axis=(1, 2)) > 1e-9).sum())


def main():
    a, b = MODEL.createData(), MODEL.createData()
    pads = {("1", "own"): [a], ("2", "own"): [a, b], ("2", "shared"): [a, a]}
    kinds = [(call, key) for call in (one_call, two_calls) for key in pads]
    runs = {kind: [] for kind in kinds}
    for _ in range(ROUNDS):
        for call, key in kinds:
            runs[call, key].append(run(call, pads[key]))
    with open(Path(__file__).with_suffix(".csv"), "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["calls", "threads", "data", "us_each", f"wrong_of_{COUNT * ROUNDS}"])
        for (call, key), found in runs.items():
            times, wrong = zip(*found)
            table.writerow([call.__name__, *key, f"{median(times):.1f}", sum(wrong)])


if __name__ == "__main__":
    main()
