"""Which planner finds a short way, and how soon?  Four scenes, thirty seeds.

    python data/measurements/optimal_runs.py          # writes the three files below; half an hour
    python data/measurements/optimal_runs.py shelf    # only these scenes anew

optimal_runs.csv    one row a run: what came out in the end, and the time it took
optimal_traces.csv  the same runs on the way: after so much work the best way so far [m] (inf: none)
optimal_line.csv    RRT-Connect with samples near the straight line only, by the width of that line

Work is counted: iterations of a planner, rounds of shortcuts, restarts. All but the seconds is the
same on each machine; tests/lessons/test_lesson11.py runs a part again. Seconds are those that the
processor of the machine that wrote the files spent: compare them within one scene only. Lengths in
the metric [m].
"""

import csv
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from course_lib.arm import Arm
from course_lib.collision import Capsule, Scene, clearance, load_scene
from course_lib.kinematics import fk
from course_lib.planning import (
    beside_the_line,
    informed_rrt_star,
    length,
    metric,
    optimise,
    rrt,
    rrt_connect,
    rrt_star,
    shortcut,
)
from course_lib.poses import pose

SCENES = ("gantry", "pillars", "shelf", "slot")
SEEDS = range(30)
ITERATIONS = {"gantry": 1000, "pillars": 500, "shelf": 500, "slot": 500}  # of RRT*
MARKS = [*range(2, 10, 2), *range(10, 100, 10), *range(100, 1001, 100)]
ROUNDS = (0, 5, 10, 20, 50, 100, 200)
RESTARTS = 10
STEP = {"gantry": 0.2}  # [m]; 0.8 elsewhere
OTHER_STEPS = (0.2, 0.4, 1.6)  # [m] of RRT* past the pillars, ten seeds
WIDTHS = (0.05, 0.1, 0.2, 0.4, 0.8, np.inf)  # [m] beside the line; inf: samples from everywhere
FIELDS = ["scene", "method", "seed", "success", "work", "edges", "length", "clearance", "seconds"]
TRACE = ["scene", "method", "seed", "work", "length", "seconds"]
LINE = ["scene", "width", "seed", "success", "edges", "length"]


def gantry():
    """A tool that hangs from two slides, and a post; start and goal beside it."""
    turned = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])  # the first slide along x
    slides = Arm(
        "gantry",
        "standard",
        a=[0, 0],
        alpha=[-np.pi / 2, 0],
        d=[0, 0],
        theta=[np.pi / 2, 0],
        joint_types=("prismatic", "prismatic"),
        q_min=[-1, -1],
        q_max=[1, 1],
        radius=[0.02, 0.02],
        base=pose([0, 0, 2.0], turned),
    )
    down = np.linalg.inv(fk(slides, [0, 0])[:3, :3]) @ [0, 0, -1.5]
    arm = replace(slides, tool=pose(down, np.eye(3)))
    post = Capsule([0, 0, 0], [0, 0, 0.6], 0.25, name="post")
    return Scene(
        [post], pairs=(), arm=arm, start=np.array([-0.8, 0.05]), goal=np.array([0.8, -0.05])
    )


def room(name):
    """A scene by name."""
    return gantry() if name == "gantry" else load_scene(name)


def fine(path, scale, gap=0.005):
    """Postures along a path (k, n), no farther apart than gap [m]."""
    parts = []
    for a, b in zip(path, path[1:]):
        k = int(np.ceil(np.linalg.norm((b - a) * scale) / gap)) + 1
        parts.append(a + np.linspace(0, 1, k)[:, None] * (b - a))
    return np.concatenate(parts)


def clock():
    """A function that tells the seconds spent since now."""
    since = time.process_time()
    return lambda: time.process_time() - since


def task(name, seed, step=None):
    """What all planners take: arm, scene, start, goal, and their options."""
    scene = room(name)
    step = step or STEP.get(name, 0.8)
    options = {"rng": np.random.default_rng(seed), "step": step}
    return (scene.arm, scene, scene.start, scene.goal), options


def star(name, seed, informed=False, iterations=None, step=None):
    """One run of RRT* or Informed RRT*: (the end, the way there)."""
    given, options = task(name, seed, step)
    history, times, now = [], [], clock()
    plan = (informed_rrt_star if informed else rrt_star)(
        *given,
        **options,
        max_iterations=iterations or ITERATIONS[name],
        history=history,
        progress=lambda i: times.append(now()),
    )
    times.append(now())
    trace = [(k, history[k - 1], times[k]) for k in MARKS if k <= len(history)]
    return ending(given[1], plan.path, len(history), plan.counts["edges"], times[-1]), trace


def single(planner, name, seed):
    """A planner until its first way: the end."""
    given, options = task(name, seed)
    now = clock()
    plan = planner(*given, **options, max_iterations=2000)
    counts = plan.counts["iterations"], plan.counts["edges"]
    return plan, ending(given[1], plan.path, *counts, now())


def shortened(name, seed):
    """RRT-Connect, shortcuts, and the optimiser after 100 of them: (three ends, the way there)."""
    plan, first = single(rrt_connect, name, seed)
    scene, path, seconds = room(name), plan.path, first[-1]
    draw, trace = np.random.default_rng([seed, 1]), []
    for done, upto in zip((0, *ROUNDS), ROUNDS):
        now = clock()
        path = shortcut(scene.arm, scene, path, rng=draw, rounds=upto - done)
        seconds += now()
        trace.append((upto, length(scene.arm, path), seconds))
        if upto == 100:
            kept, ended = path, ending(scene, path, upto, plan.counts["edges"] + upto, seconds)
    now = clock()
    bent = optimise(scene.arm, scene, kept)
    return first, ended, ending(scene, bent, 60, "", ended[-1] + now()), trace


def restarted(name, seed, restarts=RESTARTS, rounds=50):
    """RRT-Connect and shortcuts again and again, the best is kept: (the end, the way there)."""
    best, trace, now, edges = None, [], clock(), 0
    for k in range(restarts):
        (arm, scene, *ends), options = task(name, [seed, 2, k])
        plan = rrt_connect(arm, scene, *ends, **options)
        path = shortcut(arm, scene, plan.path, rng=options["rng"], rounds=rounds)
        edges += plan.counts["edges"] + rounds
        if best is None or length(arm, path) < length(arm, best):
            best = path
        trace.append((k + 1, length(arm, best), now()))
    return ending(scene, best, restarts, edges, trace[-1][-1]), trace


def line(name, width, seed):
    """RRT-Connect within 200 iterations, samples beside the line: success, edges, length."""
    given, options = task(name, seed)
    sample = None if width == np.inf else beside_the_line(*given[2:], width)
    plan = rrt_connect(*given, **options, max_iterations=200, sample=sample)
    return int(plan.success), plan.counts["edges"], f"{plan.cost:.4f}"


def ending(scene, path, work, edges, seconds):
    """What FIELDS ask of a run, from success on."""
    if not len(path):
        return 0, work, edges, "inf", "", seconds
    near = clearance(scene.arm, scene, fine(path, metric(scene.arm))).min()
    return 1, work, edges, f"{length(scene.arm, path):.4f}", f"{near:.5f}", seconds


def rows(name, seed):
    """All rows of one scene and seed: (of the runs, of the traces, of the line)."""
    ends, traces = {"RRT": single(rrt, name, seed)[1]}, {}
    *three, traces["shortcut"] = shortened(name, seed)
    ends |= zip(("RRT-Connect", "shortcut", "optimised"), three)
    ends["restarts"], traces["restarts"] = restarted(name, seed)
    for method, informed in (("RRT*", False), ("Informed RRT*", True)):
        ends[method], traces[method] = star(name, seed, informed)
    for step in OTHER_STEPS if name == "pillars" and seed < 10 else ():
        ends[f"RRT*, step {step}"] = star(name, seed, step=step)[0]
    told = lambda work, cost, seconds: (work, f"{cost:.4f}", f"{seconds:.3g}")
    return (
        [(name, method, seed, *end[:-1], f"{end[-1]:.3g}") for method, end in ends.items()],
        [(name, m, seed, *told(*mark)) for m, trace in traces.items() for mark in trace],
        [(name, width, seed, *line(name, width, seed)) for width in WIDTHS],
    )


def kept(path, scenes):
    """The rows of a file that belong to other scenes."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8") as file:
        return [row for row in csv.reader(file) if row[0] in SCENES and row[0] not in scenes]


if __name__ == "__main__":
    scenes = sys.argv[1:] or SCENES
    paths = [Path(__file__).with_name(f"optimal_{x}.csv") for x in ("runs", "traces", "line")]
    tables = [kept(path, scenes) for path in paths]
    for name in scenes:
        for seed in SEEDS:
            for table, some in zip(tables, rows(name, seed)):
                table += [[str(x) for x in row] for row in some]
    for path, fields, table in zip(paths, (FIELDS, TRACE, LINE), tables):
        table.sort(key=lambda row: SCENES.index(row[0]))
        with path.open("w", encoding="utf-8", newline="\n") as file:
            csv.writer(file, lineterminator="\n").writerows([fields, *table])
