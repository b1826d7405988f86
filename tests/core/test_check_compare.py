"""course_lib.check.compare: what is the same passes however written, what is not is told apart."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from course_lib.check import (
    Unreadable,
    as_direction,
    as_numbers,
    as_pose,
    as_rotation,
    close,
    in_degrees,
    in_mm,
    parts,
    same_items,
    same_pose,
    same_rotation,
    show,
    turn_between,
)
from course_lib.check.compare import kind_of, numbers_in

HUGE = 1.7e308  # twice as much is infinite
POSE = np.eye(4)


def says(answer, expected, tol=1e-9):
    """What `close` says, without a warning about numbers that overflow."""
    with np.errstate(all="ignore"):
        return close(tol)(answer, expected)


def turned(*rotvec, at=(0, 0, 0)):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = Rotation.from_rotvec(rotvec).as_matrix(), at
    return T


# ---------------------------------------------------------------- close


@pytest.mark.parametrize("size", [0.0, 1.0, -1.0, 1e-3, 1e6, -1e12])
@pytest.mark.parametrize("tol", [1e-9, 1e-6, 1e-2])
def test_close_passes_below_its_bound_and_not_beyond(size, tol):
    """The bound is absolute for small numbers, relative for large ones: tol (1 + |expected|)."""
    bound = tol * (1 + abs(size))
    for sign in (-1, 1):
        assert says(size + sign * 0.9 * bound, size, tol) is None
        assert "off by" in says(size + sign * 1.1 * bound, size, tol)
        assert says([3.0, size + sign * 0.9 * bound], [3.0, size], tol) is None
        assert "1 of 2" in says([3.0, size + sign * 1.1 * bound], [3.0, size], tol)


def test_an_error_as_large_as_the_tolerance_does_not_pass():
    assert says(0.5, 0.0, 0.5) is not None and says(np.nextafter(0.5, 0), 0.0, 0.5) is None
    assert says([-0.5], [0.0], 0.5) is not None and says([2.0], [1.0], 0.5) is not None


def test_the_tolerance_is_1e_9_where_none_is_given():
    assert close()(1 + 1.9e-9, 1.0) is None and close()(1 + 2.1e-9, 1.0) is not None


@given(st.floats(-1e300, 1e300))
def test_every_finite_number_equals_itself(value):
    assert close()(value, value) is None and close()([value, [value]], [value, [value]]) is None


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, complex(np.nan, 0), complex(0, np.inf)])
def test_what_is_not_finite_never_passes_not_even_where_the_truth_is_the_same(bad):
    for expected in (1.0, bad, HUGE):
        assert says(bad, expected) == "There is a NaN or an infinite number in it."
        assert says([1.0, bad], [1.0, expected]) is not None
        assert says({"a": [bad, "x"]}, {"a": [expected, "x"]}) is not None
    assert says(1.0, bad) is not None and says([bad, 1.0], [0.0, 1.0], 1e300) is not None


def test_numbers_whose_difference_overflows_do_not_pass():
    assert says(HUGE, -HUGE) is not None and says([-HUGE], [HUGE]) is not None
    assert says(np.full((3, 4), HUGE), np.zeros((3, 4))) is not None
    assert says(HUGE, HUGE) is None


@pytest.mark.parametrize(
    "answer, expected",
    [
        (True, 1.0),
        ({"a": [1, 2]}, {"a": (1.0, 2.0)}),
        (np.array([1, 2]), [1, 2]),
        ((1, 2), np.array([1.0, 2.0])),
        ([[1, 2], (3, 4)], np.array([[1, 2], [3, 4]])),
        ([np.array([1, 2]), [3, 4]], [[1, 2], [3, 4]]),
        (np.float32(0.5), 0.5),
        (np.float64(2), 2),
        (np.array(2.0), 2),
        (np.uint8(3), 3),
        (3 + 0j, 3),
        (1j, 1j),
        ([], []),
        (np.zeros((0, 3)), np.zeros((0, 3))),
        (" Tool ", "tool"),
        ("TOOL", " tool"),
        (np.True_, True),
        (False, np.False_),
        (["a", 1], ("A", 1.0)),
        ({"a": "x", "b": [1, "y"]}, {"b": (1.0, "Y"), "a": "X"}),
    ],
)
def test_close_accepts_equal_data_in_other_clothes(answer, expected):
    assert close()(answer, expected) is None


def test_small_whole_numbers_and_float32_are_compared_as_floats():
    assert says(np.uint8(3), 5) == "It is off by 2." and says(np.array([3], "u1"), [5])
    assert says(np.float32(0.1), 0.1, 1e-6) is None and says(np.float32(0.1), 0.1, 1e-9)
    assert says(np.full(3, 0.1, "f4"), [0.1] * 3, 1e-6) is None
    assert says(True, 2.0) == "It is off by 1."


@pytest.mark.parametrize(
    "answer, expected, said",
    [
        (1, True, "Expected True or False, got a number."),
        (False, True, "It is not False."),
        (np.True_, False, "It is not True."),
        (3, "tool", "Expected a word, got a number."),
        ("tool", "base", "It is not 'tool'."),
        ("1", 1, "Expected a number, got the text '1'."),
        (None, 0.0, "Expected a number, got None."),
        (1j, 0, "It is off by 1."),
        ({}, 0.0, "Expected a number, got a dict."),
        ([1, 2], 0.0, "Expected a number, got an array of 2 numbers."),
        ([1], [1, 2], "Expected an array of 2 numbers, got an array of one number."),
        (np.zeros((3, 2)), np.zeros((2, 3)), "Expected a 2×3 array, got a 3×2 array."),
        ([1, [2]], [1, 2], "Expected an array of 2 numbers, got a list."),
        ([1, 2], {"a": 1}, "Expected a dict, got an array of 2 numbers."),
        ({"a": 1, 2: 1}, {"b": 1, "c": 2}, "Expected the keys ['b', 'c'], got ['2', 'a']."),
        ({"a": 1}, {"a": 2}, "Under 'a': It is off by 1."),
        (5, [1, "a"], "Expected a list of 2, got a number."),
        ([1, "a", 2], [1, "a"], "Expected 2 entries, got 3."),
        ([1, 2], ["x", 2], "Entry 1: Expected a word, got a number."),
        (["x", 4], ["x", 2], "Entry 2: It is off by 2."),
        ([["x", 4]], [["x", 2]], "Entry 1: Entry 2: It is off by 2."),
    ],
)
def test_close_says_what_is_different(answer, expected, said):
    assert close()(answer, expected) == said


def test_where_the_wrong_numbers_are():
    assert says([0, 1, 0, 3], [0, 0, 0, 0]) == (
        "2 of 4 numbers are wrong, the worst by 3 (entries 1, 3, counted from 0)."
    )
    assert "(entries 0, 1, 2, 3, 4, 5, …, counted from 0)" in says(np.ones(7), np.zeros(7))
    assert "(entries 0, 1, 2, 3, 4, 5, counted from 0)" in says(np.ones(6), np.zeros(6))
    wrong = np.zeros((3, 4))
    wrong[1, 0] = wrong[2, 3] = -0.25
    assert says(wrong, np.zeros((3, 4))) == (
        "2 of 12 numbers are wrong, the worst by 0.25 (rows 1, 2; columns 0, 3; counted from 0)."
    )
    assert says(np.ones((2, 2, 2)), np.zeros((2, 2, 2))) == (
        "8 of 8 numbers are wrong, the worst by 1."
    )
    assert says([1.0, 5.0], [1.0 + 1e-12, 2.0]).startswith("1 of 2 numbers are wrong, the worst by")


# ---------------------------------------------------------------- lists of names


def test_lists_of_names_in_any_order():
    compare = same_items("names of joints", "Named although sound")
    assert compare(["a", "b"], ["b", "a"]) is None and compare(("a",), ["a"]) is None
    assert compare([], []) is None
    assert compare(["a"], ["c", "b", "a"]) == "Not found: b, c."
    assert compare(["a", "d"], ["b", "a"]) == "Not found: b."
    assert compare(["a", "d", "c"], ["a"]) == "Named although sound: c, d."
    assert compare(["a", "a"], ["a"]) == "A name comes twice."
    for odd in ("a", None, 3, ["a", 1], {"a": 1}, np.zeros(2)):
        assert compare(odd, ["a"]) == "Expected a list of names of joints."


# ---------------------------------------------------------------- rotations and poses


@given(st.floats(0, np.pi), st.tuples(*[st.floats(-1, 1)] * 3), st.tuples(*[st.floats(-3, 3)] * 3))
def test_turn_between_is_scipys_angle(angle, axis, start):
    if np.linalg.norm(axis) < 1e-3:
        axis = (0, 0, 1)
    first = Rotation.from_rotvec(start)
    second = Rotation.from_rotvec(angle * np.array(axis) / np.linalg.norm(axis)) * first
    assert turn_between(first.as_matrix(), second.as_matrix()) == pytest.approx(angle, abs=1e-7)


def test_turn_between_takes_stacks_and_poses_and_keeps_tiny_angles():
    many = Rotation.from_rotvec([[0, 0, 1e-9], [0, 1e-5, 0], [3.0, 0, 0]]).as_matrix()
    np.testing.assert_allclose(turn_between(many, np.eye(3)), [1e-9, 1e-5, 3.0], rtol=1e-6)
    assert turn_between(many.reshape(3, 1, 3, 3), np.eye(3)).shape == (3, 1)
    assert turn_between(turned(0.4, 0, 0, at=(5, 6, 7)), POSE) == pytest.approx(0.4)
    half = np.diag([1.0, -1, -1])
    assert turn_between(half * (1 + 1e-9), np.eye(3)) == np.pi  # never beyond


def test_same_rotation_at_its_bound():
    compare = same_rotation(1e-3)
    assert compare(turned(0, 0.9e-3, 0)[:3, :3], np.eye(3)) is None
    assert compare(turned(0, 1.1e-3, 0)[:3, :3].tolist(), np.eye(3)) == (
        "It is 0.063° away from the right one."
    )
    stack = np.array([np.eye(3), turned(0.2, 0, 0)[:3, :3], turned(0, 0, 0.1)[:3, :3]])
    assert compare(stack, stack) is None
    assert compare(stack, np.tile(np.eye(3), (3, 1, 1))) == "It is 11.5° away from the right one."
    with pytest.raises(Unreadable, match="The rotation should be a 3×3 array"):
        compare(np.eye(4), np.eye(3))


def test_same_pose_at_both_its_bounds():
    compare = same_pose(1e-3, 1e-2)
    assert compare(turned(0.9e-2, 0, 0, at=(0, 0.9e-3, 0)), POSE) is None
    assert compare(turned(0.9e-2, 0, 0, at=(0, 1.1e-3, 0)), POSE) == (
        "It is 1.1 mm away from the right pose."
    )
    assert compare(turned(1.1e-2, 0, 0, at=(0, 0.9e-3, 0)), POSE) == (
        "It is 0.63° away from the right pose."
    )
    said = same_pose(1e-3, 1e-2, "the truth")(turned(0.2, 0, 0, at=(3, 4, 0)), POSE)
    assert said == "It is 5000.0 mm and 11.5° away from the truth."
    with pytest.raises(Unreadable):
        compare(np.eye(3), POSE)
    with pytest.raises(Unreadable):
        compare(POSE, np.eye(3))


@pytest.mark.parametrize(
    "said, value",
    [
        ("1234.5 mm", 1.2345),
        ("12.3 mm", 0.012345),
        ("1.0 mm", 1e-3),
        ("0.99 mm", 0.99e-3),
        ("0.012 mm", 0.0000123),
        ("1.2e-07 mm", 1.2e-10),
        ("999999.0 mm", 999.999),
        ("1e+06 mm", 1000.0),
        ("1e+300 mm", 1e297),
    ],
)
def test_a_length_is_never_said_to_be_0(said, value):
    assert in_mm(value) == said


def test_an_angle_is_never_said_to_be_0():
    assert in_degrees(np.pi) == "180.0°" and in_degrees(np.radians(0.25)) == "0.25°"
    assert in_degrees(1e-9) == "5.7e-08°" and in_degrees(np.radians(1.04)) == "1.0°"


# ---------------------------------------------------------------- reading an answer


@pytest.mark.parametrize(
    "answer, shape",
    [
        (3, ()),
        (np.float32(3), ()),
        (np.array([3]), ()),
        ([[3]], ()),
        ([1, 2, 3], (3,)),
        ((1, 2, 3), (3,)),
        (np.array([1, 2, 3], "i1"), (3,)),
        ([np.array([1.0]), 2, np.array(3)], (3,)),
        ([[1], [2], [3]], (3,)),
        (np.eye(2).tolist(), (2, 2)),
        ([np.array([1.0, 0.0]), (0, 1)], (2, 2)),
        (np.zeros((0, 4)), (0, 4)),
        (np.eye(2) + 0j, (2, 2)),
        ([1 + 0j, 2], (2,)),
        (True, ()),
    ],
)
def test_numbers_are_read_in_whatever_they_come(answer, shape):
    array = as_numbers(answer, shape)
    assert array.shape == shape and array.dtype == float


def test_what_is_read_is_a_copy_with_the_same_numbers():
    given_ = np.array([1.0, 2.0, 4.0])
    read = as_numbers(given_, (3,))
    read[0] = 9
    np.testing.assert_array_equal(given_, [1, 2, 4])
    np.testing.assert_array_equal(as_numbers([[5], 6], (2,)), [5, 6])


@pytest.mark.parametrize(
    "answer, shape, said",
    [
        ([1, 2], (3,), "The point should be an array of 3 numbers; it is an array of 2 numbers."),
        (np.ones((3, 1)), (3,), "The point should be an array of 3 numbers; it is a 3×1 array."),
        ([1, 2], (), "The point should be a number; it is an array of 2 numbers."),
        (7, (1,), "The point should be an array of one number; it is a number."),
        ([[1], [2, 3]], (2,), "The point should be an array of 2 numbers; it is a list."),
        ("abc", (3,), "The point should be an array of 3 numbers; it is the text 'abc'."),
        (["1", "2"], (2,), "The point should be an array of 2 numbers; it is a list."),
        ([None, 1.0], (2,), "The point should be an array of 2 numbers; it is a list."),
        (None, (4, 4), "The point should be a 4×4 array; it is None."),
        ({"a": 1}, (), "The point should be a number; it is a dict."),
        ([1, np.nan], (2,), "There is a NaN or an infinite number in the point."),
        (-np.inf, (), "There is a NaN or an infinite number in the point."),
        (complex(1, np.inf), (), "There is a NaN or an infinite number in the point."),
        ([1, 1e-12j], (2,), "There is a complex number in the point."),
    ],
)
def test_what_can_not_be_read_is_told(answer, shape, said):
    with pytest.raises(Unreadable) as raised:
        as_numbers(answer, shape, "the point")
    assert str(raised.value) == said


def test_the_answer_is_called_the_answer_where_it_has_no_name():
    with pytest.raises(Unreadable, match="^The answer should be a number; it is None"):
        as_numbers(None, ())


def test_unreadable_is_an_error_of_value():
    assert issubclass(Unreadable, ValueError)


PAIR = ("the point", (3,)), ("the normal", (3,))


@pytest.mark.parametrize(
    "answer",
    [([1, 2, 3], [4, 5, 6]), [(1, 2, 3), np.array([4, 5, 6])], np.arange(1, 7.0).reshape(2, 3)],
)
def test_several_things_come_in_a_list_a_tuple_or_an_array(answer):
    point, normal = parts(answer, *PAIR)
    np.testing.assert_array_equal(point, [1, 2, 3])
    np.testing.assert_array_equal(normal, [4, 5, 6])


def test_parts_that_are_words_or_anything():
    name, axis, rest = parts(
        ("elbow", [0, 0, 1], {"x": 1}), ("the name", str), ("the axis", (3,)), ("the rest", None)
    )
    assert name == "elbow" and axis.shape == (3,) and rest == {"x": 1}
    with pytest.raises(Unreadable, match="^The name should be a word; it is a number.$"):
        parts((3, 4), ("the name", str), ("the rest", None))
    with pytest.raises(Unreadable, match="^The normal should be an array of 3 numbers; it is a n"):
        parts(([1, 2, 3], 4), *PAIR)


@pytest.mark.parametrize(
    "odd", [None, 3, "ab", {"a": 1, "b": 2}, np.array(3.0), [1], (1, 2, 3), []]
)
def test_what_is_not_several_things_gets_the_list_of_them(odd):
    with pytest.raises(Unreadable) as raised:
        parts(odd, *PAIR)
    assert (
        str(raised.value)
        == "Expected two things: the point (3 numbers) and the normal (3 numbers)."
    )


def test_the_list_of_parts_says_what_each_should_be():
    wanted = (
        ("the name", str),
        ("the angle", ()),
        ("the tensor", (3, 3)),
        ("one", (1,)),
        ("any", None),
    )
    for count, words in ((2, "two things: the name and the angle."), (5, "five things: ")):
        with pytest.raises(Unreadable, match=words):
            parts(None, *wanted[:count])
    with pytest.raises(Unreadable) as raised:
        parts(None, *wanted[1:])
    assert str(raised.value) == (
        "Expected four things: the angle, the tensor (a 3×3 array), one (one number) and any."
    )


def test_one_array_in_the_place_of_several_things_is_not_taken_for_them():
    """A table of two rows is no table and tool, and two numbers are no angle and direction."""
    table, tool = np.ones((2, 4)), np.eye(4)
    wanted = ("the table", (2, 4)), ("the tool", (4, 4))
    with pytest.raises(Unreadable, match="Expected two things"):
        parts(table, *wanted)
    with pytest.raises(Unreadable, match="Expected two things"):
        parts(table.tolist(), *wanted)
    assert len(parts([table, tool], *wanted)) == 2
    with pytest.raises(Unreadable, match="Expected two things"):
        parts([1.0, 2.0], ("the angle", ()), ("the direction", (3,)))
    assert parts([1.0, 2.0], ("the angle", ()), ("the length", ())) == [1.0, 2.0]
    assert parts(np.array([1.0, 2.0]), ("x", None), ("y", None)) == [1.0, 2.0]
    assert parts(np.ones((2, 4, 4)), ("one", (4, 4)), ("two", (4, 4)))[1].shape == (4, 4)


def test_directions_at_their_bound():
    for length in (1 - 0.9e-6, 1, 1 + 0.9e-6):
        assert as_direction([0, 0, length]).shape == (3,)
    for length, said in (
        (1 + 1.1e-6, "1.1e-06 too long"),
        (1 - 1.1e-6, "1.1e-06 too short"),
        (0, "1 too short"),
        (3, "2 too long"),
    ):
        with pytest.raises(Unreadable) as raised:
            as_direction([0, 0, length], "the axis")
        assert str(raised.value) == f"The axis should have the length 1; yours is {said}."
    assert as_direction([0, 0, 1.05], tol=0.1)[2] == 1.05
    with pytest.raises(Unreadable, match="^The direction should have"):
        as_direction([0, 0, 1.05], tol=0.01)
    with pytest.raises(Unreadable, match="an array of 3 numbers"):
        as_direction([0, 1])


def test_rotations_at_their_bound():
    bent = np.eye(3)
    bent[0, 1] = 0.9e-6  # so is the largest entry of RᵀR - 1
    assert as_rotation(bent).shape == (3, 3)
    bent[0, 1] = 1.1e-6
    with pytest.raises(Unreadable, match="no rotation: its columns are not unit vectors"):
        as_rotation(bent)
    with pytest.raises(Unreadable, match="mirror, no rotation: its determinant is -1"):
        as_rotation(np.diag([1.0, 1, -1]))
    stack = np.array([np.eye(3), np.eye(3), np.diag([1.0, -1, 1])])
    with pytest.raises(Unreadable, match="mirror"):
        as_rotation(stack, (3, 3, 3))
    stack[2] = 2 * np.eye(3)
    with pytest.raises(Unreadable, match="unit vectors"):
        as_rotation(stack, (3, 3, 3))
    assert as_rotation(np.zeros((0, 3, 3)), (0, 3, 3)).shape == (0, 3, 3)
    with np.errstate(all="ignore"), pytest.raises(Unreadable, match="unit vectors"):
        as_rotation(np.full((3, 3), HUGE))
    with pytest.raises(Unreadable, match="^The rotation should be a 3×3 array; it is a 4×4 array"):
        as_rotation(np.eye(4))
    with pytest.raises(Unreadable, match="^The turn should be"):
        as_rotation(None, name="the turn")


def test_poses_at_their_bound():
    T = turned(0.3, 0.2, 0.1, at=(1, 2, 3))
    np.testing.assert_array_equal(as_pose(T.tolist()), T)
    for column in range(4):
        T[3] = [0, 0, 0, 1]
        T[3, column] += 0.9e-9
        as_pose(T)
        T[3, column] += 0.2e-9
        with pytest.raises(Unreadable, match=r"^The bottom row of a pose is \(0, 0, 0, 1\); yours"):
            as_pose(T)
    T[3] = [1e-9, 0, 0, 1]  # as large as the tolerance is not below it
    with pytest.raises(Unreadable, match="bottom row"):
        as_pose(T)
    T[3] = [0, 0, 0, 1]
    T[:3, :3] *= 2
    with pytest.raises(Unreadable, match="unit vectors"):
        as_pose(T)
    with pytest.raises(Unreadable, match="^The pose should be a 4×4 array"):
        as_pose(np.eye(3))
    with pytest.raises(Unreadable, match="^The target should be a 4×4 array"):
        as_pose(np.eye(3), "the target")


# ---------------------------------------------------------------- in words


@pytest.mark.parametrize("value", [1, 2.5, True, 1j, [1, 2], (1, 2.5), np.eye(2), [[1, 2], [3, 4]]])
def test_what_is_made_of_numbers(value):
    np.testing.assert_array_equal(numbers_in(value), np.array(value))


@pytest.mark.parametrize(
    "value", [None, "1", b"1", {"a": 1}, [1, "a"], [[1], [2, 3]], object(), [None], np.array(["a"])]
)
def test_what_is_not_made_of_numbers(value):
    assert numbers_in(value) is None


@pytest.mark.parametrize(
    "value, words",
    [
        (None, "None"),
        ("x", "the text 'x'"),
        ({}, "a dict"),
        (1.5, "a number"),
        (True, "True or False"),
        (np.bool_(0), "True or False"),
        ([1, 2], "an array of 2 numbers"),
        ([True, False], "an array of 2 numbers"),
        ([1], "an array of one number"),
        (np.zeros((2, 3, 4)), "a 2×3×4 array"),
        (["a"], "a list"),
        (object(), "an object"),
        ({1, 2}, "a set"),
    ],
)
def test_kinds_in_words(value, words):
    assert kind_of(value) == words


def test_show_is_short_and_the_same_everywhere():
    assert show(-0.0) == "0" and show(np.array([-1e-17, 0.3])) == "[0. , 0.3]"
    assert (
        show(1234567.0) == "1.2346e+06" and show(0.123456) == "0.12346" and show(2 + 1j) == "2+1j"
    )
    assert show(True) == "True" and show(np.array([True, False])) == "[ True, False]"
    assert show([1e-4, 2000.0]) == "[   0.0001, 2000.    ]"
    assert show([1, -2]) == "[ 1, -2]" and show([0.12345678]) == "[0.1235]"
    assert show({"a": 1}) == "{'a': 1}" and show("tool") == "'tool'"
    assert "0x" not in show([object()]) and show([object()]) == "[<object object>]"


def test_show_cuts_what_is_long():
    assert show("x" * 60) == repr("x" * 60) and show("x" * 61) == repr("x" * 57 + "…")
    rows = show(np.eye(7)).splitlines()
    assert len(rows) == 7 and rows[6] == "…" and show(np.eye(6)).count("\n") == 5
    assert show(np.eye(7), lines=7).count("\n") == 6 and "…" not in show(np.eye(7), lines=7)
    assert show(["y" * 96]) == "['" + "y" * 96 + "']" and len(show(["y" * 97])) == 98
    assert show(["y" * 97]).endswith("y…")
    assert "..." in show(np.arange(61.0)) and "..." not in show(np.arange(60.0))
    assert len(show(np.zeros((100, 100))).splitlines()) <= 7


def test_show_of_numbers_that_rounding_would_overflow():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert show(np.full(2, HUGE)) == "[1.7e+308, 1.7e+308]"
        assert show(np.array([np.inf, np.nan, 0.25])) == "[ inf,  nan, 0.25]"


def test_several_arrays_are_shown_as_rounded_blocks():
    turn = np.array([[6.12e-17, -1.0], [1.0, 6.12e-17]])
    for pair in ((np.zeros((1, 2)), turn), [turn, turn], ("elbow", turn)):
        text = show(pair)
        assert "array(" not in text and "e-17" not in text
        assert text.split("\nand\n") == [show(part) for part in pair]
    assert show([turn] * 3) == "\nand\n".join([show(turn)] * 3)
    assert show([turn] * 4) == "\nand\n".join([show(turn)] * 3) + "\n…"
    assert show([np.eye(9), 3], lines=2).splitlines()[2] == "…"
