"""The rows of sampled loops in the bench: do ours and its peers find the same numbers?"""

import numpy as np
import pytest

from course_lib.arm import load_arm
from course_lib.tools.bench import sampled
from course_lib.tools.bench.core import Size

ARM = load_arm("planar2")


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(sampled, "PERIODS", (0.005, 0.010))
    monkeypatch.setattr(sampled, "T_END", 1.0)


def test_the_plain_loop_finds_the_same_numbers(short):
    assert np.allclose(sampled.ours(ARM), sampled.plain(ARM), rtol=0, atol=1e-9)


def test_so_does_the_loop_around_mujoco(short):
    pytest.importorskip("mujoco")
    assert np.allclose(sampled.ours(ARM), sampled.by_mujoco(ARM), rtol=0, atol=1e-9)


def test_rows_have_their_peers(short):
    experiment, field = sampled.bench_sampled(Size(repeats=1, long_repeats=1, calls=1))
    assert {"plain loop"} == set(experiment.of_peer) <= set(experiment.peers)
    assert min(experiment.ours) > 0 and min(field.ours) > 0
