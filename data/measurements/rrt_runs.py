"""Step, goal bias, sampler, planner: what does each do to the chance and to the work?

    python data/measurements/rrt_runs.py        # writes rrt_runs.csv beside it; some minutes

Every row is one run of course_lib.planning. No times, so that a test can run a sample again
(tests/lessons/test_lesson10.py). step [m].
"""

import csv
from pathlib import Path

import numpy as np

from course_lib import planning
from course_lib.collision import load_scene

STEPS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
BIASES = (0.0, 0.05, 0.1, 0.2, 0.5, 0.9, 1.0)
FIELDS = ["study", "scene", "planner", "sampler", "step", "goal_bias", "seed"]
COUNTS = ["success", "iterations", "extensions", "extended", "edges", "nodes"]


def tasks():
    """Every run as a tuple in the order of FIELDS."""
    for seed in range(20):
        for scene in ("pillars", "shelf"):
            yield from (("step", scene, "rrt", "uniform", step, 0.1, seed) for step in STEPS)
            yield from (("bias", scene, "rrt", "uniform", 0.8, bias, seed) for bias in BIASES)
        for scene in ("pillars", "shelf", "slot"):
            for sampler in ("uniform", "bridge"):
                yield "two trees", scene, "rrt_connect", sampler, 0.8, 0.1, seed
                if seed < 10 or scene == "pillars":
                    yield "two trees", scene, "rrt", sampler, 0.8, 0.1, seed


def run(study, scene, planner, sampler, step, goal_bias, seed):
    """Success, then the counts of one run, in the order of COUNTS."""
    room = load_scene(scene)
    plan = getattr(planning, planner)(
        room.arm,
        room,
        room.start,
        room.goal,
        rng=np.random.default_rng(seed),
        step=step,
        goal_bias=goal_bias,
        sample=getattr(planning, sampler),
        max_iterations=2000,
    )
    counted = [plan.counts[name] for name in COUNTS[1:-1]]
    return [int(plan.success), *counted, plan.tree.size]


if __name__ == "__main__":
    with Path(__file__).with_suffix(".csv").open("w", encoding="utf-8", newline="\n") as file:
        write = csv.writer(file, lineterminator="\n")
        write.writerow([*FIELDS, *COUNTS])
        for task in tasks():
            write.writerow([*task, *run(*task)])
            file.flush()
