"""Where does a planner's time go; what do a spatial hash and a second process gain?

    python data/measurements/rrt_times.py        # writes rrt_times.csv beside it; two minutes

nearest [µs]: one query among so many random postures of cobot6, by array, by KD-tree (building it
not counted), by a hash of cells that is searched ring by ring, the best of the widths CELLS.
share [1]: of the booked time of `rrt_connect`, 20 seeds. slot [s]: the median over 30 pairs of
seeds, the first of two processes that run already, and one alone. Times of the machine that wrote
the file; tests/lessons/test_lesson10.py compares what the searches find.
"""

import csv
import itertools
import time
from collections import defaultdict
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from course_lib.collision import load_scene
from course_lib.planning import metric, rrt_connect

SIZES = (100, 1000, 10_000, 100_000)
CELLS = (0.25, 0.5, 1.0, 2.0)  # [m]


def by_array(x):
    """A function that finds the nearest of x (k, n)."""

    def nearest(q):
        away = x - q
        return int(np.einsum("ij,ij->i", away, away).argmin())

    return nearest


def by_tree(x):
    """The same by SciPy's KD-tree."""
    tree = cKDTree(x)
    return lambda q: int(tree.query(q)[1])


def by_hash(x, width=0.5):
    """The same by a dict of cells: ring after ring, until no ring can hold a nearer one."""
    cells, n = defaultdict(list), x.shape[1]
    for k, key in enumerate(np.floor(x / width).astype(int).tolist()):
        cells[tuple(key)].append(k)

    def nearest(q):
        home, best, least, looked = np.floor(q / width).astype(int).tolist(), -1, np.inf, 0
        for ring in itertools.count():
            if looked == len(x) or (ring - 1) * width > least:
                return best
            for off in itertools.product(range(-ring, ring + 1), repeat=n):
                if ring and max(map(abs, off)) < ring:
                    continue
                found = cells.get(tuple(h + o for h, o in zip(home, off)), ())
                looked += len(found)
                for k in found:
                    away = float(np.linalg.norm(x[k] - q))
                    if away < least:
                        best, least = k, away

    return nearest


def postures(size):
    """Scaled random postures (size, 6) of cobot6."""
    arm = load_scene("pillars").arm
    return np.random.default_rng(size).uniform(arm.q_min, arm.q_max, (size, 6)) * metric(arm)


def nearest_rows():
    """(what, size, value, unit) of each search."""
    for size in SIZES:
        x, q = postures(size), postures(20)
        for name, make in (("array", by_array), ("KD-tree", by_tree)):
            yield f"nearest by {name}", size, spent(make(x), q), "µs"
        yield "nearest by hash", size, min(spent(by_hash(x, w), q[:3]) for w in CELLS), "µs"


def spent(find, postures):
    """Mean time of one search [µs]."""
    begun = time.perf_counter()
    for q in postures:
        find(q)
    return 1e6 * (time.perf_counter() - begun) / len(postures)


def seconds(seed):
    """How long `rrt_connect` takes in the slot [s]."""
    scene, begun = load_scene("slot"), time.perf_counter()
    rrt_connect(scene.arm, scene, scene.start, scene.goal, rng=np.random.default_rng(seed))
    return time.perf_counter() - begun


def share_rows():
    """Where the booked time of `rrt_connect` goes."""
    for name in ("pillars", "shelf", "slot"):
        scene, spent = load_scene(name), defaultdict(float)
        for seed in range(20):
            rng = np.random.default_rng(seed)
            plan = rrt_connect(scene.arm, scene, scene.start, scene.goal, rng=rng)
            for what, value in plan.times.items():
                spent[what] += value
        for what, value in spent.items():
            yield f"share of {what} in {name}", 20, value / sum(spent.values()), "1"


def parallel_rows(pairs=30):
    """One process, and the first of two."""
    alone = [seconds(seed) for seed in range(pairs)]
    yield "slot, one process", pairs, float(np.median(alone)), "s"
    with ProcessPoolExecutor(2) as pool:
        list(pool.map(seconds, [0, 0]))  # both run now
        first = []
        for seed in range(pairs):
            begun = time.perf_counter()
            both = [pool.submit(seconds, s) for s in (seed, 1000 + seed)]
            wait(both, return_when=FIRST_COMPLETED)
            first.append(time.perf_counter() - begun)
            wait(both)
    yield "slot, first of two", pairs, float(np.median(first)), "s"


if __name__ == "__main__":
    with Path(__file__).with_suffix(".csv").open("w", encoding="utf-8", newline="\n") as file:
        write = csv.writer(file, lineterminator="\n")
        write.writerow(["what", "size", "value", "unit"])
        for found in (nearest_rows(), share_rows(), parallel_rows()):
            write.writerows((*row, f"{value:.3g}", unit) for *row, value, unit in found)
            file.flush()
