"""course_lib.check.exercise: right answers pass, wrong ones get the most helpful true sentence."""

import sys
import time
import warnings
from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from support.complaints import complaints

from course_lib.arm import load_arm
from course_lib.check import (
    NOT_YET,
    AnswerFailed,
    Exercise,
    Mistake,
    Unreadable,
    describe_error,
    is_empty,
    message_html,
    plain,
    show,
)


def rng():
    return np.random.default_rng(7)


def sides(rng):
    return [(1.0, 0.0), (3.0, 4.0), *map(tuple, rng.uniform(1, 2, (3, 2)))]


REACH = Exercise(
    "reach",
    points=2,
    cases=sides,
    truth=lambda x, y: np.hypot(x, y),
    mistakes=[
        Mistake(lambda x, y: x + y, "You added the sides."),
        Mistake(lambda x, y: x**2 + y**2, "A square root is missing."),
    ],
    alternatives=[
        lambda x, y: abs(complex(x, y)),
        lambda x, y: sp.sqrt(sp.Float(x) ** 2 + sp.Float(y) ** 2),
    ],
)
TURN = Exercise(
    "turn", cases=lambda rng: [(np.eye(2),), (rng.normal(size=(2, 2)),)], truth=lambda m: m.T
)


def test_an_exercise_that_keeps_its_promises_has_no_complaints():
    assert complaints(REACH, rng()) == []


def test_where_none_may_be_meant_nobody_asks_for_a_return():
    """The root of a number, None of a negative one: None for 4 is an answer, and a wrong one."""
    root = lambda x: np.sqrt(x) if x >= 0 else None
    same = lambda answer, expected, args: None if answer == expected else f"It is {answer}."
    gives_up = Mistake(lambda x: None, "You give up at once.")
    cases = lambda rng: [(4.0,), (-1.0,)]
    exercise = Exercise("root", cases=cases, truth=root, compare=same, mistakes=[gives_up])
    assert exercise.judge(root, rng()).passed
    assert exercise.judge(lambda x: [None][0], rng()).message.endswith(gives_up.message)
    told = exercise.judge(lambda x: None if x > 0 else 1.0, rng()).message
    assert told.endswith("It is None.")


def test_complaints_name_each_broken_promise():
    broken = Exercise(
        "reach",
        cases=sides,
        truth=np.hypot,
        alternatives=[lambda x, y: x],
        mistakes=[
            Mistake(np.hypot, "passes"),
            Mistake(lambda x, y: x + y, "one"),
            Mistake(lambda x, y: y + x, "two"),
        ],
    )
    found = complaints(broken, rng())
    assert len(found) == 3
    assert "alternative 0 fails" in found[0]
    assert "mistake 0 passes" in found[1]
    assert "mistake 2 gets another message" in found[2]


def test_the_mistake_is_named_and_the_first_telling_case_shown():
    result = REACH.judge(lambda x, y: x + y, rng())
    assert not result.passed
    assert result.message == "For x = 3, y = 4, your reach returned 7\nYou added the sides."


def test_a_wrong_answer_that_only_sometimes_equals_a_mistake_is_not_called_one():
    result = REACH.judge(lambda x, y: 7.0, rng())
    assert "added" not in result.message and "off by 6" in result.message


def documented(x, y):
    """A stub with its docstring, as learners find it."""
    ...


def raises(x, y):
    """Doc."""
    raise NotImplementedError


def answers_late(x, y):
    return np.hypot(x, y) if y == 0 else ...


@pytest.mark.parametrize(
    "empty",
    [None, ..., lambda x, y: ..., lambda x, y: None, documented, raises, answers_late],
)
def test_an_open_question_is_not_a_failure_dump(empty):
    result = REACH.judge(empty, rng())
    assert not result.passed and not result.answered and result.message == NOT_YET
    assert "Not answered yet" in NOT_YET and repr(result).startswith("reach: open\n")


def loops(x, y):
    while True:
        pass


def talks(x, y):
    "Doc."
    return "Doc."


class Callable:
    def __call__(self, x, y):
        return np.hypot(x, y)


@pytest.mark.parametrize(
    "answer",
    [
        loops,
        talks,
        lambda x: x,
        lambda: 0,
        lambda: False,
        lambda x: [],
        np.hypot,
        3,
        "",
        Callable(),
    ],
)
def test_what_does_something_is_not_open(answer):
    assert is_empty(answer) == (answer is talks)  # a docstring alone can't be told from its text


def test_what_forgets_its_return_is_not_open():
    assert not is_empty(forgets_return) and REACH.judge(forgets_return, rng()).answered
    assert is_empty(None) and is_empty(...) and is_empty(lambda: None) and is_empty(documented)


def test_anything_that_can_be_called_may_answer():
    assert REACH.judge(Callable(), rng()).passed and REACH.judge(np.hypot, rng()).passed


def forgets_return(x, y):
    np.hypot(x, y)


def stops(x, y):
    return [x, y][5]


WRONG = [
    (
        forgets_return,
        "For x = 1, y = 0, your reach returned None\nIt is None. Is a `return` missing?",
    ),
    (
        stops,
        "For x = 1, y = 0, your reach stopped with IndexError: list index out of range\n"
        "at the line: return [x, y][5]",
    ),
    (lambda x, y: "five", "Expected a number, got the text 'five'."),
    (lambda x, y: [x, y], "Expected a number, got an array of 2 numbers."),
    (lambda x, y: object(), "your reach returned an object, which is no number, array, text, list"),
    (
        lambda x, y: sys.exit(),
        "your reach stopped with SystemExit",
    ),
    (lambda x, y: np.array([object()]), "array that holds something else than numbers."),
    (lambda x: x, "takes 1 positional argument but 2 were given"),
    (
        lambda x, y: float("nan"),
        "returned nan\nThere is a NaN in it: a 0/0, or a square root or arccos",
    ),
    (lambda x, y: np.inf, "There is an infinite number in it: a division by zero?"),
    (lambda x, y: {"a": [1, (2, -np.inf)]}, "There is an infinite number in it"),
    (lambda x, y: [np.zeros(2), [complex(0, np.nan)]], "There is a NaN in it"),
    (3.0, "reach should be a function; it is a number."),
    ("text", "reach should be a function; it is the text 'text'."),
]


@pytest.mark.parametrize("answer, part", WRONG)
def test_each_kind_of_wrong_answer_is_told_apart(answer, part):
    result = REACH.judge(answer, rng())
    assert not result.passed and result.answered and part in result.message


def test_a_failure_is_kept_for_the_grader():
    failure = REACH.judge(stops, rng()).failure
    assert failure.kind == "IndexError" and not failure.lost
    assert REACH.judge(lambda x, y: object(), rng()).failure.kind == ""
    assert REACH.judge(lambda x, y: 7.0, rng()).failure is None
    assert REACH.judge(np.hypot, rng()).failure is None
    assert not AnswerFailed("x").lost and AnswerFailed("x").kind == ""


def test_what_is_not_finite_never_passes_whatever_the_judge_says():
    """Not even where the truth is the same: a judge that forgets about NaN is not asked."""
    for bad in (np.nan, np.inf, -np.inf):
        easy = Exercise("easy", truth=bad, compare=lambda answer, expected, args: None)
        assert not easy.judge(bad, rng()).passed and not easy.judge([1, {"a": bad}], rng()).passed
        assert easy.judge(1.0, rng()).passed


def test_numbers_that_overflow_in_a_judge_are_wrong_and_give_no_warning():
    def compare(answer, expected, args):
        return None if np.abs(np.square(answer) - np.square(expected)) < 1 else "Too far."

    square = Exercise(
        "square",
        truth=3.0,
        compare=compare,
        diagnose=lambda answer, expected, args: "Far off." if np.square(answer) > 1e300 else None,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert square.judge(1.7e308, rng()).message.endswith("Far off.")
        assert square.judge(4.0, rng()).message.endswith("Too far.")
        assert Exercise("e", truth=lambda: np.array([1.0]) / 0 * 0 + 2).judge(1, rng()).answered


def test_what_can_not_be_read_is_told_and_so_is_what_a_judge_chokes_on():
    def choosy(answer, expected, args):
        if answer == 1:
            raise Unreadable("The number should not be 1.")
        if answer == 2:
            raise RuntimeError("the judge is broken")
        return None if answer.upper()[5] == "F" else "No."

    one = Exercise("one", truth="abcdef", compare=choosy)
    assert one.judge(1, rng()).message == "Your one is 1\nThe number should not be 1."
    assert one.judge("abcdef", rng()).passed
    assert "can't be compared" in one.judge("abc", rng()).message
    assert one.judge(3, rng()).message.endswith(
        "It can't be compared with the right answer: expected the text 'abcdef', got a number."
    )
    with pytest.raises(RuntimeError):
        one.judge(2, rng())


@pytest.mark.parametrize(
    "error", [TypeError, ValueError, KeyError, IndexError, AttributeError, ZeroDivisionError]
)
def test_a_judge_may_stumble_over_an_answer_of_another_kind(error):
    def stumbles(answer, expected, args):
        raise error("x")

    odd = Exercise("odd", truth=1, compare=stumbles)
    assert "can't be compared" in odd.judge(2, rng()).message
    told = Exercise("told", truth=1, diagnose=stumbles).judge(2, rng())
    assert told.message == "Your told is 2\nIt is off by 1."


def test_where_a_matrix_is_wrong():
    result = TURN.judge(lambda m: m, rng())
    assert (
        "2 of 4 numbers are wrong" in result.message and "rows 0, 1; columns 0, 1" in result.message
    )
    assert (
        "Expected a 2×2 array, got an array of 4 numbers"
        in TURN.judge(lambda m: m.ravel(), rng()).message
    )


def test_inputs_that_the_learner_changes_do_not_disturb():
    def right_but_rude(m):
        answer = m.T.copy()
        m[:] = 0
        return answer

    assert TURN.judge(right_but_rude, rng()).passed

    def wrong_and_rude(m):
        m[:] = 0
        return m

    assert not TURN.judge(wrong_and_rude, rng()).passed


def test_slow_answers_are_told_and_end_the_judgement():
    calls = []

    def sleeps(x):
        calls.append(x)
        time.sleep(0.06)
        return x

    slow = Exercise("slow", cases=lambda rng: [(1.0,), (2.0,)], truth=lambda x: x, seconds=0.05)
    result = slow.judge(sleeps, rng())
    assert result.message == (
        "For x = 1, your slow took longer than 0.05 s. Does a loop never end?"
    )
    assert calls == [1.0] and result.failure.lost
    assert Exercise("slow", cases=slow.cases, truth=slow.truth).judge(sleeps, rng()).passed


def test_an_interrupt_is_the_learners():
    def interrupted(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        TURN.judge(interrupted, rng())


def test_an_answer_that_failed_elsewhere_is_passed_on():
    """As a remote function does, whose process died."""

    def dies(m):
        raise AnswerFailed("ended the whole process", lost=True, kind="process died")

    result = TURN.judge(dies, rng())
    assert result.message.endswith("your turn ended the whole process")
    assert result.failure.kind == "process died" and result.failure.lost


def test_answers_that_are_values():
    axes = Exercise(
        "axes",
        truth=6,
        mistakes=[Mistake(7, "You counted the base.")],
        alternatives=[6.0, np.int64(6)],
    )
    word = Exercise(
        "word", truth="modified", alternatives=[" Modified "], mistakes=[Mistake("standard", "No.")]
    )
    table = Exercise(
        "table", truth=[["base", 1.0], ["tool", 2.0]], alternatives=[(("base", 1), ("tool", 2))]
    )
    for exercise in (axes, word, table):
        assert complaints(exercise, rng()) == []
    assert axes.judge(7, rng()).message == "Your axes is 7\nYou counted the base."
    assert "is a function" in axes.judge(lambda: 6, rng()).message
    assert (
        "Entry 2: Entry 2: It is off by 1."
        in table.judge([["base", 1.0], ["tool", 3.0]], rng()).message
    )


def test_the_work_is_judged_not_its_form():
    """Any unit vector orthogonal to the given one is right."""

    def orthogonal(answer, expected, args):
        if np.shape(answer) != (2,):
            return "Expected two numbers."
        return None if abs(np.dot(answer, args[0])) < 1e-9 else "It is not orthogonal."

    across = Exercise(
        "across",
        cases=lambda rng: [(np.array([1.0, 0.0]),), (rng.normal(size=2),)],
        compare=orthogonal,
        truth=lambda v: np.array([-v[1], v[0]]),
        alternatives=[lambda v: [v[1], -v[0]]],
        diagnose=lambda answer, expected, args: (
            "You gave it back." if np.allclose(answer, args[0]) else None
        ),
    )
    assert complaints(across, rng()) == []
    assert across.judge(lambda v: v, rng()).message.endswith("You gave it back.")
    assert across.judge(lambda v: v + 1, rng()).message.endswith("It is not orthogonal.")


def test_defaults_of_an_exercise():
    one = Exercise("one", truth=1)
    assert (one.points, one.seconds, one.cases, one.diagnose) == (1, 5.0, None, None)
    assert not one.mistakes and not one.alternatives
    assert one.compare(1 + 1.9e-9, 1, ()) is None and one.compare(1 + 2.1e-9, 1, ())


def test_the_count_of_cases_is_said():
    assert REACH.judge(np.hypot, rng()).message == "All 5 cases agree."
    assert Exercise("axes", truth=6).judge(6, rng()).message == "Your answer is right."


def test_the_first_mistake_that_explains_all_is_named_and_kept_as_hint():
    result = REACH.judge(lambda x, y: x + y, rng())
    assert result.hint == "You added the sides." and result.message.endswith(result.hint)
    unknown = REACH.judge(lambda x, y: 7.0, rng())
    assert unknown.hint == "" and unknown.message.endswith("It is off by 6.")


def test_a_mistake_explains_only_what_it_tells_apart():
    """A mistake that is right in each case that was wrong explains nothing."""
    cases = lambda rng: [(0.0,), (1.0,), (2.0,)]
    double = Exercise(
        "double",
        cases=cases,
        truth=lambda x: 2 * x,
        mistakes=[
            Mistake(lambda x: 2 * x, "You are right."),
            Mistake(lambda x: x**2 if x else 5.0, "You took the square."),
            Mistake(lambda x: x + 1, "You added one."),
        ],
    )
    assert double.judge(lambda x: x**2 if x else 5.0, rng()).hint == "You took the square."
    assert double.judge(lambda x: x + 1, rng()).hint == "You added one."
    assert double.judge(lambda x: x**2, rng()).hint == ""  # right at 0, where the mistake is wrong
    assert double.judge(lambda x: [2 * x, 7, 4][int(x)], rng()).hint == ""

    def partly_fails(x):
        if x == 0:
            raise OSError("no file")
        return x + 1

    failed = double.judge(partly_fails, rng())
    assert failed.hint == "You added one." and "OSError: no file" in failed.message


def test_a_case_that_fails_is_told_without_a_guess():
    def fails_late(x, y):
        return np.hypot(x, y) if y == 0 else 1 / 0

    result = REACH.judge(fails_late, rng())
    assert result.message == (
        "For x = 3, y = 4, your reach stopped with ZeroDivisionError: division by zero\n"
        "at the line: return np.hypot(x, y) if y == 0 else 1 / 0"
    )


def test_a_diagnosis_goes_before_the_reason_and_behind_a_known_mistake():
    told = Exercise(
        "told",
        cases=lambda rng: [(1.0,)],
        truth=lambda x: x,
        mistakes=[Mistake(lambda x: 3 * x, "Three times.")],
        diagnose=lambda answer, expected, args: f"{answer} for {args[0]}" if answer > 1 else None,
    )
    assert told.judge(lambda x: 2.0, rng()).message.endswith("\n2.0 for 1.0")
    assert told.judge(lambda x: 3.0, rng()).message.endswith("\nThree times.")
    assert told.judge(lambda x: 0.0, rng()).message.endswith("\nIt is off by 1.")
    assert told.judge(lambda x: np.inf, rng()).message.endswith("\ninf for 1.0")


def test_how_a_case_is_shown():
    """Short arguments in a line, long ones in blocks; those without a name are counted."""
    shown = Exercise("f", cases=lambda rng: [(1.0, np.eye(2))], truth=lambda x, M: 0)
    assert shown.judge(lambda x, M: 1, rng()).message == (
        "For x = 1\nM =\n[[1., 0.],\n [0., 1.]]\nyour f returned 1\nIt is off by 1."
    )
    big = Exercise("f", cases=lambda rng: [(np.eye(5),)], truth=lambda M: 0)
    assert big.judge(lambda M: np.eye(7), rng()).message == (
        f"For M =\n{show(np.eye(5), lines=4)}\nyour f returned\n{show(np.eye(7))}\n"
        "Expected a number, got a 7×7 array."
    )
    many = Exercise("f", cases=lambda rng: [(1, 2, 3)], truth=lambda a, *rest: 0)
    assert "For a = 1, rest = 2, argument 3 = 3, your f" in many.judge(lambda *v: 1, rng()).message
    none = Exercise("f", cases=lambda rng: [()], truth=lambda: 0)
    assert none.judge(lambda: 1, rng()).message == "Your f returned 1\nIt is off by 1."


def test_a_truth_without_a_signature_has_counted_arguments():
    lowest = Exercise("lowest", cases=lambda rng: [(3, 2)], truth=min)
    assert lowest.judge(lambda a, b: 3, rng()).message.startswith(
        "For argument 1 = 3, argument 2 = 2, your lowest returned 3"
    )


def test_errors_in_words():
    assert describe_error(ValueError("a\n  b")) == "stopped with ValueError: a b"
    assert describe_error(KeyError()) == "stopped with KeyError"
    assert describe_error(ValueError("x" * 200)) == f"stopped with ValueError: {'x' * 200}"
    assert describe_error(ValueError("x" * 201)) == f"stopped with ValueError: {'x' * 197}…"
    assert describe_error(ValueError("<A at 0x7fA0>")) == "stopped with ValueError: <A>"


def test_the_line_of_an_error_is_the_learners_not_the_librarys():
    def calls_numpy(m):
        return np.linalg.inv(np.ones((2, 3)))

    said = TURN.judge(calls_numpy, rng()).message
    assert "LinAlgError: " in said
    assert said.endswith("at the line: return np.linalg.inv(np.ones((2, 3)))")


def test_plain_gives_data_or_says_why_not():
    assert plain(np.float64(2)) == 2.0 and type(plain(np.float64(2))) is float
    assert plain((1, [np.int8(2)], {3: np.zeros(2)}))[1] == [2]
    assert list(plain({3: np.bool_(1)})) == ["3"] and plain({3: np.bool_(1)})["3"] is True
    assert plain(Fraction(1, 4)) == 0.25 and plain(sp.Rational(1, 4)) == 0.25
    assert plain(np.array(["a", "b"])) == ["a", "b"] and plain(np.str_("a")) == "a"
    for value in (None, True, 3, 2.5, 1j, "x"):
        assert plain(value) is value
    np.testing.assert_array_equal(plain(sp.Matrix([[1, 2]])), [[1, 2]])
    assert plain(np.array([1, 2], dtype=object)).dtype == float
    for kind in ("?", "u1", "i4", "f4", "c8"):
        assert plain(np.zeros(2, kind)).dtype == kind
    original = np.zeros(2)
    copied = plain(original)
    original[0] = 1
    assert copied[0] == 0
    with pytest.raises(
        AnswerFailed, match="^returned a set, which is no number, array, text, list"
    ):
        plain({1, 2})
    with pytest.raises(AnswerFailed, match="^returned an array that holds something else than num"):
        plain(np.array([{}]))
    with pytest.raises(AnswerFailed, match="something else than numbers"):
        plain(np.array(["x", 1], dtype=object))


def test_poses_of_spatialmath_get_the_way_to_their_array():
    spatialmath = pytest.importorskip("spatialmath")
    with pytest.raises(AnswerFailed, match="^returned a spatialmath SE3. Its `.A` is the array"):
        plain(spatialmath.SE3())


def test_results_show_themselves_safely():
    result = Exercise("word", truth="a").judge("<script>alert(1)</script>", rng())
    assert "<script" not in result._repr_html_() and "&lt;script" in result._repr_html_()
    assert repr(result).startswith("word: not yet right\n")
    page = TURN.judge(lambda m: np.ones((2, 2)), rng())._repr_html_()
    assert "<pre style='margin:0'>[[1., 1.],\n [1., 1.]]</pre>" in page
    assert "&lt;" in Exercise("<b>", truth="a").judge("b", rng())._repr_html_()


@pytest.mark.parametrize(
    "answer, mark, colour, word",
    [
        (6, "✓", "#009e73", "right"),
        (5, "✗", "#d55e00", "not yet right"),
        (..., "…", "#7f7f7f", "open"),
    ],
)
def test_each_outcome_has_its_mark(answer, mark, colour, word):
    result = Exercise("axes", truth=6).judge(answer, rng())
    page = result._repr_html_()
    assert f"<span style='color:{colour}'>{mark}</span> axes: {word}</b>" in page
    assert page.startswith(f"<div style='border-left:4px solid {colour};")
    assert result.message in page and repr(result) == f"axes: {word}\n{result.message}"


def test_matrices_in_a_message_are_blocks():
    turn = np.array([[6.12e-17, -1.0], [1.0, 6.12e-17]])
    said = TURN.judge(lambda m: (turn, turn), rng()).message
    assert f"\nyour turn returned\n{show(turn)}\nand\n{show(turn)}\n" in said
    long = show(np.arange(400.0).reshape(20, 20))
    page = message_html(f"You returned\n{show((turn, turn))}\nNo.\n{long}\nEnd <b>.")
    assert page.count("<pre") == 3 and "</pre>and<pre" in page and "</pre>No.<pre" in page
    assert "…</pre>End" in page and page.endswith("End &lt;b&gt;.")
    assert message_html("no matrix\nhere [1]") == "no matrix\nhere [1]"


def test_the_line_of_an_error_in_the_library_is_the_learners():
    def asks(m):
        return load_arm("no such arm")

    said = TURN.judge(asks, rng()).message
    assert said.endswith('at the line: return load_arm("no such arm")')


def test_exercises_are_told_apart_by_identity_and_do_not_change():
    one, other = (Exercise("one", truth=np.eye(2)) for _ in range(2))
    assert one != other and len({one, other, Mistake(1, "a"), Mistake(1, "a")}) == 4
    result = one.judge(np.eye(2), rng())
    for thing, field in ((one, "name"), (Mistake(1, "a"), "message"), (result, "passed")):
        with pytest.raises(FrozenInstanceError):
            setattr(thing, field, None)
