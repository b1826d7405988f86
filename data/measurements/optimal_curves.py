"""Is a free path still free when its corners are rounded, and how long does the motion take?

    python data/measurements/optimal_curves.py     # writes optimal_curves.csv beside it; minutes

One row a path: its way-points and length [m]; the least clearance [m] of its straight edges, of the
same path with corners rounded by 0.1 rad (`trajectory.blend`), and of a cubic spline through its
way-points, timed by distance; the duration [s] of the motion with a stop at each way-point, and of
the fastest one along the rounded path. These are durations of the arm's motion, not of computing:
the same on each machine. tests/lessons/test_lesson11.py runs a part again.
"""

import csv
from pathlib import Path

import numpy as np

from course_lib.collision import clearance, load_scene
from course_lib.planning import length, optimise, rrt_connect, shortcut
from course_lib.trajectory import blend, spline, synchronise, time_optimal

SCENES = ("pillars", "shelf", "slot")
SEEDS = range(30)
DEVIATION = 0.1  # [rad]
MARGIN = 0.005  # [m]; the slot leaves 10 mm on each side
NAMES = ("first way", "20 shortcuts", "100 shortcuts", "margin 5 mm", "optimised")
FIELDS = ["scene", "path", "seed", "points", "length", "lines", "rounded", "spline"]
FIELDS += ["stopping", "fastest"]


def tidy(way, least=1e-6):
    """A path without way-points that follow each other at once."""
    return way[np.r_[True, np.linalg.norm(np.diff(way, axis=0), axis=1) > least]]


def paths(scene, seed):
    """The five paths of NAMES for one seed."""
    task = scene.arm, scene, scene.start, scene.goal
    first = rrt_connect(*task, rng=np.random.default_rng(seed)).path
    draw = np.random.default_rng([seed, 1])
    some = shortcut(*task[:2], first, rng=draw, rounds=20)
    more = shortcut(*task[:2], some, rng=draw, rounds=80)
    wide = rrt_connect(*task, rng=np.random.default_rng(seed), margin=MARGIN).path
    wide = shortcut(*task[:2], wide, rng=np.random.default_rng([seed, 1]), margin=MARGIN)
    bent = optimise(*task[:2], more)
    return [tidy(path) for path in (first, some, more, wide, bent)]


def through(way):
    """A cubic spline through the way-points of a path, its times in proportion to distance."""
    far = np.linalg.norm(np.diff(way, axis=0), axis=1)
    return spline(np.r_[0.0, np.cumsum(far)], way)


def stopping(arm, way):
    """Duration [s] with a stop at each way-point."""
    limits = arm.qd_max, arm.qdd_max
    moves = (synchronise(a, b, *limits, profile="trapezoid") for a, b in zip(way, way[1:]))
    return sum(move.duration for move in moves)


def least(scene, q):
    """Least clearance [m] over postures q (k, n)."""
    return clearance(scene.arm, scene, q).min()


def row(scene, way):
    """What FIELDS ask of one path, from points on."""
    arm, share = scene.arm, np.linspace(0, 1, 200)[:, None]
    lines = np.concatenate([a + share * (b - a) for a, b in zip(way, way[1:])])
    curves = blend(way, DEVIATION), through(way)
    dense = [curve(np.linspace(0, curve.duration, 2000))[0] for curve in curves]
    near = [least(scene, q) for q in (lines, *dense)]
    fastest = time_optimal(curves[0], arm.qd_max, arm.qdd_max, steps=400).duration
    told = [length(arm, way), *near, stopping(arm, way), fastest]
    return [len(way), *(f"{x:.5f}" for x in told)]


def rows(name, seed):
    """All rows of a scene and a seed."""
    scene = load_scene(name)
    return [(name, n, seed, *row(scene, way)) for n, way in zip(NAMES, paths(scene, seed))]


if __name__ == "__main__":
    with Path(__file__).with_suffix(".csv").open("w", encoding="utf-8", newline="\n") as file:
        write = csv.writer(file, lineterminator="\n")
        write.writerow(FIELDS)
        for name in SCENES:
            for seed in SEEDS:
                write.writerows(rows(name, seed))
                file.flush()
