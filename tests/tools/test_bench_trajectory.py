"""What the bench of motions compares is the same work: the contenders agree."""

import importlib.util

import numpy as np
import pytest

from course_lib.arm import load_arm
from course_lib.kinematics import fk
from course_lib.tools.bench import trajectory as bench
from course_lib.tools.bench.core import Size

ARM = load_arm("cobot6")


def test_quintics_agree():
    calls = bench.quintics()
    q, qd, qdd = calls["ours"]()
    for name in ("Toolbox jtraj", "Toolbox mtraj"):
        theirs = calls[name]()
        for mine, other in zip((q, qd, qdd), (theirs.q, theirs.qd, theirs.qdd)):
            assert np.allclose(mine, other, atol=1e-9)


def test_trapezoids_do_the_same_move():
    q, theirs = bench.trapezoids(ARM)["ours"]()[0], bench.trapezoids(ARM)["Toolbox mtraj"]().q
    assert q.shape == theirs.shape
    assert np.allclose(q[[0, -1]], theirs[[0, -1]]) and np.abs(q - theirs).max() < 0.1


def test_lines_are_lines_of_the_same_tool():
    T0, T1 = fk(ARM, bench.Q0)[:3, 3], fk(ARM, bench.Q1)[:3, 3]
    for call in bench.lines(ARM).values():
        q = call()
        p = fk(ARM, q)[:, :3, 3]
        s = (p - T0) @ (T1 - T0) / ((T1 - T0) @ (T1 - T0))
        assert q.shape == (bench.POSES, 6) and np.abs(np.diff(q, axis=0)).max() < 0.1
        assert np.allclose(p, T0 + s[:, None] * (T1 - T0), atol=1e-5)
        assert np.allclose(p[[0, -1]], [T0, T1], atol=1e-5)


@pytest.mark.skipif(not importlib.util.find_spec("toppra"), reason="toppra is not installed")
def test_least_times_agree():
    ours, theirs = (call() for call in bench.paths(ARM).values())
    assert ours == pytest.approx(theirs, rel=0.01)


def test_rows_have_their_peers():
    rows = list(bench.bench_trajectory(Size(repeats=1, calls=1)))
    assert [row.name.split(",")[0] for row in rows[:3]] == [
        "quintic",
        "trapezoid",
        "line of the tool",
    ]
    assert all(row.ours and set(row.of_peer) <= set(row.peers) for row in rows)
