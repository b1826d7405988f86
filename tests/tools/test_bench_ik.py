"""The rows of inverse kinematics in the bench: do ours and its peers solve the same targets?"""

import numpy as np
import pytest

from course_lib.arm import load_arm
from course_lib.kinematics import fk
from course_lib.tools.bench import ik
from course_lib.tools.bench.core import Size

pytest.importorskip("roboticstoolbox")
TINY = Size(repeats=1, long_repeats=1, configurations=500, calls=3)


def test_every_row_has_times_of_ours_and_of_its_peers():
    rows = list(ik.bench_ik(TINY))
    assert [row.name.split(",")[0] for row in rows] == [
        "ik of 5 targets of cobot6",
        "ik of cobot6",
        "all closed-form solutions of cobot6",
        "ik of 5 targets of panda",
        "ik of panda",
    ]
    for row in rows:
        assert len(row.ours) > 0 and min(row.ours) > 0
        assert set(row.of_peer) <= set(row.peers)
    assert all("each; solved 100.0 / 100.0" in rows[k].name for k in (0, 3))


def test_the_pinocchio_loop_solves_what_it_is_compared_on():
    pytest.importorskip("pinocchio")
    arm = load_arm("cobot6")
    q = np.random.default_rng(3).uniform(arm.q_min, arm.q_max, (5, 6))
    T = fk(arm, q)
    assert ik.solved(arm, ik.pinocchio_loop(arm, T), T) == 1
    assert ik.solved(arm, q, T) == 1 and ik.solved(arm, q + 1e-4, T) == 0
    assert ik.solved(arm, q + 2 * np.pi, T) == 0  # the same pose, but out of the limits
