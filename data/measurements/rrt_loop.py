"""How often does the loop that most articles print reach its goal, and after each repair?

    python data/measurements/rrt_loop.py        # writes rrt_loop.csv beside it; some minutes

cobot6 in the scene "pillars", 30 seeds a stage, 5000 iterations at most. found: the iteration at
which the loop said so, 0 for never; what it returned is judged by Pinocchio's coal at postures no
more than 10 mm apart. The loop is that of lesson 10; tests/lessons/test_lesson10.py runs a sample
again.
"""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np

from course_lib.collision import Scene, check_edge, clearance, load_scene
from course_lib.planning import length, metric

SCENE = load_scene("pillars")
ARM, EMPTY = SCENE.arm, Scene(pairs=())
THIN = replace(ARM, radius=np.full(6, 1e-6)), Scene(SCENE.obstacles, pairs=())
SEEDS = range(30)


def loop(start, goal, rng, *, bias=0.0, fits=None, low=-np.pi, exact=False, scale=1.0, step=0.1):
    """The loop with its repairs: (iteration or 0, path (k, n))."""
    q, parent = np.empty((5001, len(start))), [-1]
    q[0] = start
    for i in range(1, 5001):
        target = goal if rng.random() < bias else rng.uniform(low, -low, len(start))
        away = np.linalg.norm((q[: len(parent)] - target) * scale, axis=1)
        k = int(away.argmin())
        share = step / away[k]
        new = target if exact and share >= 1 else q[k] + share * (target - q[k])
        if fits and not fits(q[k], new):
            continue
        q[len(parent)] = new
        parent.append(k)
        end = np.linalg.norm((new - goal) * scale) < step
        if end and (not exact or fits(new, goal)):
            way, k = [], len(parent) - 1
            while k >= 0:
                way, k = [q[k], *way], parent[k]
            return i, np.array([*way, goal] if exact else way)
    return 0, np.empty((0, len(start)))


def lines(q0, q1):
    """The published check: links without thickness, at the new posture alone."""
    return clearance(*THIN, q1) > 0


def posture(q0, q1):
    """All bodies, themselves too, at the new posture alone."""
    return clearance(ARM, SCENE, q1) > 0


def edge(q0, q1):
    """All bodies, all the way."""
    return check_edge(ARM, SCENE, q0, q1).free


STAGES = {
    "no obstacle, as published": {},
    "no obstacle, goal bias": {"bias": 0.1},
    "pillars, links as lines": {"bias": 0.1, "fits": lines},
    "bodies of the links": {"bias": 0.1, "fits": posture},
    "edges": {"bias": 0.1, "fits": edge},
    "limits": {"bias": 0.1, "fits": edge, "low": -2.618},
    "the last edge": {"bias": 0.1, "fits": edge, "low": -2.618, "exact": True},
    "step 0.8 m": {
        **{"bias": 0.1, "fits": edge, "low": -2.618, "exact": True},
        **{"scale": metric(ARM), "step": 0.8},
    },
}


def dense(path):
    """Postures along a path, no farther apart than 10 mm in the metric of the arm."""
    parts = [path[:1]]
    for a, b in zip(path, path[1:]):
        share = np.linspace(0, 1, int(np.ceil(length(ARM, [a, b]) / 0.01)) + 1)[1:, None]
        parts.append(a + share * (b - a))
    return np.concatenate(parts)


def row(stage, seed):
    """(stage, seed, found, at the goal, within limits, free by coal)."""
    from course_lib.tools.bench.collision import coal_clearance

    rng = np.random.default_rng(seed)
    found, path = loop(SCENE.start, SCENE.goal, rng, **STAGES[stage])
    if not found:
        return stage, seed, 0, 0, 0, 0
    scene = EMPTY if stage.startswith("no obstacle") else SCENE
    at_goal = np.array_equal(path[-1], SCENE.goal)
    inside = ((ARM.q_min <= path) & (path <= ARM.q_max)).all()
    free = scene is EMPTY or coal_clearance(ARM, scene, dense(path)).min() > 0
    return stage, seed, found, int(at_goal), int(inside), int(free)


if __name__ == "__main__":
    with Path(__file__).with_suffix(".csv").open("w", encoding="utf-8", newline="\n") as file:
        write = csv.writer(file, lineterminator="\n")
        write.writerow(["stage", "seed", "found", "at_goal", "in_limits", "free"])
        for stage in STAGES:
            write.writerows(row(stage, seed) for seed in SEEDS)
            file.flush()
