"""Controls: where a slider can stand, how its value is said, and what a typed number means."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.arm import load_arm
from course_lib.explore import choice, joint_slider, joint_sliders, player, slider

ANGLE = slider(-math.pi, math.pi, 0.35, unit="rad")


# ---- ticks ----------------------------------------------------------------------------------


@given(
    st.floats(-50, 50),
    st.floats(0.01, 80),
    st.floats(0, 1),
    st.one_of(st.none(), st.floats(0.01, 0.3)),
    st.sampled_from(["", "rad"]),
)
def test_ticks_hold_start_and_both_ends_and_are_a_step_apart(lo, span, share, step, unit):
    control = slider(lo, lo + span, lo + share * span, step and step * span, unit)
    ticks = np.array(control.ticks())
    assert ticks[0] == control.lo and ticks[-1] == control.hi and control.value in ticks
    gaps = np.diff(ticks)
    assert gaps.min() > 0 and gaps.max() <= control.step * (1 + 1e-6)
    assert len(ticks) <= span / control.step + 4


def test_whole_numbers_step_by_one():
    assert slider(1, 9, 4).ticks() == list(range(1, 10))
    assert slider(1, 9, 4, step=2).ticks() == [1, 2, 4, 6, 8, 9]


def test_default_step_is_round():
    assert slider(-2.618, 2.618, 0.0).step == 0.05
    assert slider(0.0, 1, 0.5).step == 0.01
    assert slider(0, 1e-3, 0.0).step == 1e-5
    assert player(0, 4).step == 0.05  # real time: 50 ms a tick


# ---- π --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "share, said",
    [(0, "0"), (1, "π"), (-1, "-π"), (0.5, "π/2"), (-0.75, "-3π/4"), (2 / 3, "2π/3")]
    + [(0.35, "0.35π"), (-0.01, "-0.01π"), (1 / 12, "π/12"), (0.25, "π/4")],
)
def test_multiples_of_pi_are_said_and_read_as_such(share, said):
    assert ANGLE.text(share * math.pi) == said
    assert ANGLE.read(said) == pytest.approx(share * math.pi, abs=1e-12)


@pytest.mark.parametrize(
    "lo, hi, unit, in_pi",
    [
        (-math.pi, math.pi, "rad", True),
        (0, 2 * math.pi, "rad", True),
        (-math.pi / 2, math.pi / 2, "rad", True),
        (-3.14, 3.14, "rad", False),
        (-math.pi, math.pi, "m", False),
        (-2.618, 2.618, "rad", False),
    ],
)
def test_pi_is_shown_where_both_ends_are_multiples(lo, hi, unit, in_pi):
    control = slider(lo, hi, 0.0, unit=unit)
    assert control.in_pi is in_pi and ("π" in control.text(hi)) is in_pi


def test_ticks_of_an_angle_are_hundredths_of_pi():
    shares = np.array(ANGLE.ticks()) / math.pi * 100
    whole = np.abs(shares - shares.round()) < 1e-6
    assert whole.sum() == 201 and ANGLE.value in ANGLE.ticks()
    assert [ANGLE.text(t) for t in ANGLE.ticks()].count("π/2") == 1


# ---- typed numbers --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "typed, value",
    [
        ("1.5", 1.5),
        ("1,5", 1.5),
        (" - 0.25 ", -0.25),
        ("−0.25", -0.25),
        (".5", 0.5),
        ("2e-1", 0.2),
        ("1.5 rad", 1.5),
        ("pi/2", math.pi / 2),
        ("-PI / 3", -math.pi / 3),
        ("2*pi/3", 2 * math.pi / 3),
        ("0.5π", math.pi / 2),
        ("90°", math.pi / 2),
        ("-45 deg", -math.pi / 4),
        ("7", math.pi),
        ("-1e3", -math.pi),
        ("3.14", 3.14),
    ],
)
def test_typed_angles(typed, value):
    assert ANGLE.read(typed) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(
    "typed", ["", "pie", "1.5.2", "--1", "1/", "°", "nan", "inf", "1 + 1", "/2"]
)
def test_what_is_no_number_is_refused(typed):
    with pytest.raises(ValueError, match="expected a number from -3.14159 to 3.14159"):
        ANGLE.read(typed)


@pytest.mark.parametrize("unit", ["m", "°", "rad", "rad/s", ""])
@given(st.floats(-2.5, 2.5))
def test_what_a_box_shows_is_read_back_to_within_a_tenth_of_a_step(unit, value):
    control = slider(-2.618, 2.618, 0.0, step=0.05, unit=unit)
    assert abs(control.read(control.text(value)) - value) <= 0.1 * control.step
    assert abs(control.read(f"{control.text(value)} {unit}") - value) <= 0.1 * control.step
    assert "-0" != control.text(value)


@pytest.mark.parametrize("end", ["lo", "hi"])
@pytest.mark.parametrize("control", [ANGLE, slider(-1 / 3, 2 / 3, 0.0), slider(1, 9, 4)])
def test_ends_are_read_back_exactly(control, end):
    value = getattr(control, end)
    assert control.read(control.text(value)) == value
    assert type(control.read(control.text(value))) is type(value)


def test_degrees_stay_degrees_where_they_are_the_unit():
    assert slider(-90.0, 90, 0.0, unit="°").read("45°") == 45


# ---- joints ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cobot6", "panda", "planar3"])
def test_joint_sliders_have_the_limits_of_the_arm(name):
    arm = load_arm(name)
    controls = joint_sliders(arm)
    assert list(controls) == [f"q{i}" for i in range(1, arm.n + 1)]
    for i, control in enumerate(controls.values()):
        assert (control.lo, control.hi) == (arm.q_min[i], arm.q_max[i])
        assert control.value == np.clip(0, arm.q_min[i], arm.q_max[i])
        assert control.unit == "rad" and control.label == f"q{i + 1}"


def test_a_sliding_joint_goes_in_metres():
    arm = load_arm("cobot6")
    kinds = ("revolute", "prismatic", *["revolute"] * 4)
    sliding = replace(arm, joint_types=kinds)
    assert [c.unit for c in joint_sliders(sliding).values()] == ["rad", "m", *["rad"] * 4]


def test_a_joint_without_limits_goes_once_round():
    arm = load_arm("cobot6")
    free = replace(arm, q_min=[-np.inf] * 6, q_max=[np.inf] * 6)
    control = joint_slider(free, 3, label="elbow")
    assert (control.lo, control.hi, control.label) == (-np.pi, np.pi, "elbow") and control.in_pi


def test_joint_sliders_start_where_they_are_told():
    start = (0.4, 0.6, 0.3, 0.0, -0.3, 0.1)
    controls = joint_sliders(load_arm("cobot6"), start)
    assert tuple(c.value for c in controls.values()) == start


# ---- choices, places, what is refused -------------------------------------------------------


def test_places_are_what_is_worth_a_try():
    assert slider(0, 1, 0.5).places() == [0, 1]
    assert choice({"a": 3, "b": 4, "c": 5}).places() == [3, 4, 5]
    assert choice(["a", "b"]).options == {"a": "a", "b": "b"} and slider(0, 1, 0).options is None


def test_label_stands_with_its_unit():
    assert slider(0, 1, 0.5, unit="m").named("x") == "x [m]"
    assert slider(0, 1, 0.5, unit="m", label="shift").named("x") == "shift [m]"
    assert choice(["a"]).named("kind") == "kind"


@pytest.mark.parametrize(
    "make, match",
    [
        (lambda: slider(1, 1, 1), "lo, hi: 1, 1, expected"),
        (lambda: slider(2, 1, 1), "lo < hi"),
        (lambda: slider(0, np.nan, 0), "lo, hi"),
        (lambda: slider(0, 1, 2), "value: 2, expected a number from 0 to 1"),
        (lambda: slider(0, 1, 0.5, step=0), "step: 0, expected a positive number"),
        (lambda: choice([]), "options: empty"),
        (lambda: choice(["a", "b"], "c"), "value: 'c', expected one of"),
        (lambda: player(0, 1, step=2), "step: 2, expected"),
        (lambda: player(0, 1, interval=5), "interval: 5, expected at least 20 ms"),
        (lambda: player(0, 1, value=3), "value: 3"),
        (lambda: joint_slider(load_arm("cobot6"), 0), "joint: 0, expected 1 to 6"),
        (lambda: joint_slider(load_arm("cobot6"), 1, 3.0), "value: 3.0, expected a number from"),
        (lambda: joint_sliders(load_arm("cobot6"), [0, 0]), "q: 2 numbers, expected 6"),
    ],
)
def test_wrong_input_is_named(make, match):
    with pytest.raises(ValueError, match=match):
        make()
