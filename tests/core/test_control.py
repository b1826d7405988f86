"""course_lib.control: each law is its formula, with M, c and g of another engine."""

import numpy as np
import pytest

from course_lib.arm import load_arm
from course_lib.control import (
    PD,
    ComputedTorque,
    FeedForward,
    PDGravity,
    PDGravityAtReference,
    straight_line,
)
from course_lib.dynamics import Planar2R, from_pinocchio
from course_lib.kinematics import fk

ARM = load_arm("planar2")
MODEL = Planar2R(ARM)
KP, KD = np.array([300.0, 225.0]), np.array([45.0, 33.75])
LAWS = [PD(KP, KD)]
LAWS += [
    law(KP, KD, MODEL) for law in (PDGravity, PDGravityAtReference, FeedForward, ComputedTorque)
]
named = pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)


def samples(seed=0, shape=(6,)):
    """q, qd, q_ref, qd_ref, qdd_ref, each (..., 2)."""
    return np.random.default_rng(seed).normal(size=(5, *shape, 2))


def by_pinocchio(law, q, qd, r, rd, rdd):
    pytest.importorskip("pinocchio")
    there = from_pinocchio(ARM, (0, -9.81, 0))
    pd = KP * (r - q) + KD * (rd - qd)
    return {
        PD: lambda: pd,
        PDGravity: lambda: pd + there.g(q),
        PDGravityAtReference: lambda: pd + there.g(r),
        FeedForward: lambda: pd + there.inverse(r, rd, rdd),
        ComputedTorque: lambda: there.inverse(q, qd, rdd + pd),
    }[type(law)]()


@named
def test_a_law_is_its_formula(law):
    state = samples()
    assert np.allclose(law(*state), by_pinocchio(law, *state), rtol=0, atol=1e-10)


@named
def test_a_stack_is_its_rows(law):
    state = samples(shape=(2, 3))
    assert np.allclose(law(*state)[1, 2], law(*state[:, 1, 2]), rtol=0, atol=1e-12)


@named
def test_joint_by_joint_is_the_same(law):
    q, qd, r, rd, rdd = samples(1, ())
    ahead = law.ahead(r, rd, rdd).tolist()
    floats = law.torque(q.tolist(), qd.tolist(), r.tolist(), rd.tolist(), ahead)
    assert np.allclose(floats, law(q, qd, r, rd, rdd), rtol=0, atol=1e-12)


@named
def test_a_law_says_what_it_samples(law):
    """What is not named has no influence, and what is named has."""
    state = samples(2)
    now, _, ref = law.samples.partition("; ")
    for k, name in enumerate(("q", "qd", "q_ref", "qd_ref", "qdd_ref")):
        changed = state.copy()
        changed[k] += 0.1
        said = name in (now if k < 2 else ref).replace(",", " ").split()
        assert said == (not np.allclose(law(*changed), law(*state)))


def test_gains_may_be_a_stack():
    q, qd, r, rd, rdd = samples(3, ())
    gains = np.array([1.0, 2.0, 3.0])[:, None]
    torque = PDGravity(gains * KP, gains * KD, MODEL)(q, qd, r, rd, rdd)
    for k, row in zip(gains, torque):
        assert np.allclose(row, PDGravity(k * KP, k * KD, MODEL)(q, qd, r, rd, rdd), atol=1e-12)


@pytest.mark.parametrize(
    "gains, words",
    [
        (([-1, 2], KD), r"Kp\[0\]: -1"),
        ((KP, [1, -3]), r"Kd\[1\]: -3"),
        ((KP, [1, np.nan]), "Kd"),
        ((KP, KD, 0), "tau_max"),
        ((KP, KD, [150, np.nan]), "tau_max"),
    ],
)
def test_gains_and_limits_that_make_no_sense_are_refused(gains, words):
    with pytest.raises(ValueError, match=words):
        PD(*gains)


# ------------------------------------------------ the motion


LINE = (0.75, 0.55), (0.30, 0.55), 5.0


@pytest.mark.parametrize("bend", [-1, 1])
def test_the_tool_goes_straight_as_a_quintic(bend):
    move = straight_line(MODEL, *LINE, bend=bend)
    t = np.linspace(0, 6, 1001)
    s = np.minimum(t / 5, 1)
    s = s**3 * (10 - 15 * s + 6 * s**2)
    there = np.outer(1 - s, LINE[0]) + np.outer(s, LINE[1])
    q, qd, qdd = move(t)
    assert np.allclose([fk(ARM, x)[:2, 3] for x in q], there, rtol=0, atol=1e-9)
    assert (np.sign(q[:, 1]) == bend).all()
    assert np.abs([qd[0], qd[-1], qdd[0], qdd[-1]]).max() < 1e-6


@pytest.mark.parametrize("side", [-1, 1])
def test_no_joint_leaps_where_its_angle_passes_half_a_turn(side):
    t, end = np.linspace(0, 2, 400), (-0.6, -0.3 * side)
    q = straight_line(MODEL, (-0.2, -0.6 * side), end, 2.0, bend=side)(t)[0]
    wrapped = np.arctan2(np.sin(q), np.cos(q))
    assert np.abs(np.diff(q, axis=0)).max() < 0.02 < np.abs(np.diff(wrapped, axis=0)).max()


@pytest.mark.parametrize("end", [(1.2, 0.0), (0.05, 0.0), (-0.75, -0.55)])
def test_a_line_out_of_reach_is_refused(end):
    with pytest.raises(ValueError, match="start, end"):
        straight_line(MODEL, LINE[0], end, 5.0)
