"""course_lib.check: right answers pass however written, wrong ones get their reason."""

import subprocess
import sys
import time

import numpy as np
import pytest
import sympy as sp
from support.complaints import complaints

from course_lib.check import (
    PROJECT,
    AnswerFailed,
    Exercise,
    Mistake,
    check,
    close,
    find,
    is_empty,
    load_exercises,
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


@pytest.mark.parametrize("empty", [None, ..., lambda x, y: ..., lambda x, y: None])
def test_an_open_question_is_not_a_failure_dump(empty):
    result = REACH.judge(empty, rng())
    assert (
        not result.passed and not result.answered and result.message.startswith("Not answered yet")
    )


def test_a_stub_that_raises_is_open_too():
    def stub(x, y):
        """Doc."""
        raise NotImplementedError

    assert not REACH.judge(stub, rng()).answered


def loops(x, y):
    while True:
        pass


def test_what_does_something_is_not_open():
    assert (
        not is_empty(loops)
        and not is_empty(forgets_return)
        and not is_empty(lambda x: x)
        and not is_empty(lambda: 0)
    )
    assert not is_empty(np.hypot) and not is_empty(3) and not is_empty(lambda x: [])


def forgets_return(x, y):
    np.hypot(x, y)


def stops(x, y):
    return [x, y][5]


WRONG = [
    (forgets_return, "Is a `return` missing?"),
    (stops, "IndexError: list index out of range\nat the line: return [x, y][5]"),
    (lambda x: x, "takes 1 positional argument but 2 were given"),
    (lambda x, y: float("nan"), "There is a NaN"),
    (lambda x, y: "five", "Expected a number, got the text 'five'"),
    (lambda x, y: [x, y], "Expected a number, got an array of 2 numbers"),
    (lambda x, y: object(), "returned an object, which is no number"),
    (lambda x, y: sys.exit(), "stopped with SystemExit"),
    (lambda x, y: np.array([object()]), "something else than numbers"),
    (3.0, "should be a function; it is a number"),
]


@pytest.mark.parametrize("answer, part", WRONG)
def test_each_kind_of_wrong_answer_is_told_apart(answer, part):
    result = REACH.judge(answer, rng())
    assert not result.passed and part in result.message


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


def test_slow_answers_are_told_and_interrupts_pass():
    slow = Exercise("slow", cases=lambda rng: [(1.0,), (2.0,)], truth=lambda x: x, seconds=0.05)

    def sleeps(x):
        time.sleep(0.1)
        return x

    assert "took longer than 0.05 s" in slow.judge(sleeps, rng()).message

    def interrupted(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        slow.judge(interrupted, rng())


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


@pytest.mark.parametrize(
    "answer, expected",
    [
        (True, 1.0),
        ({"a": [1, 2]}, {"a": (1.0, 2.0)}),
        (np.array([1, 2]), [1, 2]),
        ([], []),
    ],
)
def test_close_accepts_equal_data_in_other_clothes(answer, expected):
    assert close()(answer, expected) is None


@pytest.mark.parametrize(
    "answer, expected",
    [
        (1, True),
        ("1", 1),
        ({"a": 1}, {"b": 1}),
        ([1, 2], ["x", 2]),
        (None, 0.0),
        (1 + 1e-6, 1.0),
        ([1, [2]], [1, 2]),
        (np.inf, 1.0),
        (-np.inf, np.inf),
        ("tool", "base"),
        (False, True),
        (3, [1, "a"]),
        (np.nan, 1.0),
    ],
)
def test_close_refuses_with_a_reason(answer, expected):
    assert len(close()(answer, expected)) > 10


def test_plain_gives_data_or_says_why_not():
    assert plain(np.float64(2)) == 2.0 and type(plain(np.float64(2))) is float
    assert plain((1, [np.int8(2)], {"k": np.zeros(2)}))[1] == [2]
    np.testing.assert_array_equal(plain(sp.Matrix([[1, 2]])), [[1, 2]])
    original = np.zeros(2)
    copied = plain(original)
    original[0] = 1
    assert copied[0] == 0
    with pytest.raises(AnswerFailed, match="no number"):
        plain({1, 2})


def test_show_is_short_and_the_same_everywhere():
    assert show(-0.0) == "0" and show(np.array([-1e-17, 0.3])) == "[0. , 0.3]"
    assert "0x" not in show([object()])
    assert len(show(np.zeros((100, 100))).splitlines()) <= 7
    assert len(show("x" * 1000)) < 70


def test_results_show_themselves_safely():
    result = Exercise("word", truth="a").judge("<script>alert(1)</script>", rng())
    assert "<script" not in result._repr_html_() and "&lt;script" in result._repr_html_()
    assert repr(result).startswith("word: not yet right\n")
    page = TURN.judge(lambda m: np.ones((2, 2)), rng())._repr_html_()
    assert "<pre style='margin:0'>[[1., 1.],\n [1., 1.]]</pre>" in page


def test_several_arrays_are_shown_as_rounded_blocks():
    turned = np.array([[6.12e-17, -1.0], [1.0, 6.12e-17]])
    for pair in ((np.zeros((1, 2)), turned), [turned, turned], ("elbow", turned)):
        text = show(pair)
        assert (
            "array(" not in text
            and "e-17" not in text
            and text.split("\nand\n") == [show(part) for part in pair]
        )
    said = TURN.judge(lambda m: (turned, turned), rng())
    block, at = f"{show(turned)}\nand\n{show(turned)}", said.message.index("your turn")
    assert said.message[at - 1] == "\n" and said.message[at:].startswith(
        f"your turn returned\n{block}\n"
    )
    assert show([turned] * 9).endswith("\n…") and len(show([turned] * 9).splitlines()) < 12
    page = message_html(
        f"You returned\n{show((turned, turned))}\nNo.\n{show(np.arange(400.0).reshape(20, 20))}\nEnd"
        " <b>."
    )
    assert (
        page.count("<pre") == 3
        and "</pre>and<pre" in page
        and "</pre>No.<pre" in page
        and page.endswith("</pre>End &lt;b&gt;.")
    )


def test_check_finds_exercises_of_lessons_and_homework(tmp_path, monkeypatch):
    text = "from course_lib.check import Exercise\nEXERCISES = [Exercise('axes', truth=6)]\n"
    for name in ("checks/02_topic.py", "homework/hw02_topic/judge.py"):
        path = tmp_path / "notebooks" / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    monkeypatch.setattr(find, "PROJECT", tmp_path)
    assert (
        check("02.axes", 6).passed
        and check("hw02.axes", 6).passed
        and not check("02.axes", 5).passed
    )
    with pytest.raises(ValueError, match="did you mean '02.axes'"):
        check("02.axis", 6)
    for bad in ("2.axes", "hw99.axes", "axes", "../x.axes"):
        with pytest.raises(
            ValueError, match="expected 'NN.name' or 'hwNN.name' with one of 02, hw02"
        ):
            check(bad, 6)


def test_names_must_differ(tmp_path):
    path = tmp_path / "02_x.py"
    path.write_text(
        "from course_lib.check import Exercise\nEXERCISES = [Exercise('a', truth=6), Exercise('a',"
        " truth=6)]\n"
    )
    with pytest.raises(ValueError, match="different names"):
        load_exercises(path)


@pytest.mark.parametrize(
    "module", sorted(p.stem for p in (PROJECT / "course_lib").glob("[!_]*.py"))
)
def test_import_is_quick_beyond_numpy(module):
    code = (
        f"import numpy, time; t = time.process_time(); import course_lib.{module};"
        " print(time.process_time() - t)"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            cwd=PROJECT,
            check=True,
            timeout=60,
        )
        for _ in range(3)
    ]
    assert min(float(run.stdout) for run in runs) < 0.3
