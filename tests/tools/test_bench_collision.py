"""The rows of collision checking in the bench: do ours and coal measure the same pairs?"""

import numpy as np
import pytest

from course_lib.arm import load_arm
from course_lib.collision import Box, Scene, Sphere, clearance
from course_lib.tools.bench import collision
from course_lib.tools.bench.core import Size

TINY = Size(repeats=1, long_repeats=1, configurations=50, calls=2)


def test_every_row_has_times_of_ours_and_of_its_peers():
    pytest.importorskip("coal")
    rows = list(collision.bench_collision(TINY))
    names = [row.name.split(",")[0] for row in rows]
    assert names[:3] == [
        f"clearance from {what}" for what in ("six spheres", "six boxes", "six spheres and itself")
    ]
    assert names[3:] == ["edge of 20 samples among six spheres", "edge among 1000 spheres"]
    for row in rows:
        assert len(row.ours) > 0 and min(row.ours) > 0
        assert set(row.of_peer) <= set(row.peers)


def test_coal_measures_the_same_pairs():
    pytest.importorskip("coal")
    arm, rng = load_arm("cobot6"), np.random.default_rng(1)
    q = rng.uniform(arm.q_min, arm.q_max, (40, 6))
    for kind in (Sphere, Box):
        scene = Scene([collision.solid(kind, rng) for _ in range(6)])
        there = collision.coal_clearance(arm, scene, q)
        assert np.abs(clearance(arm, scene, q) - there)[there > 0].max() < 1e-5
        assert (there > 0).any()
