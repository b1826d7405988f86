"""Grading: nothing that a learner's process prints, patches, writes or does decides a mark."""

import contextlib
import html
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest
from support.classroom import HW02, POINTS, code_cell, hand_in, notebook_with

from course_lib.check import PROJECT, Exercise, Mistake, show
from course_lib.tools import environment
from course_lib.tools.grading import command as tool
from course_lib.tools.grading.feedback import feedback_page
from course_lib.tools.grading.learner_process import Cell, Learner, Limits, Lost, remote
from course_lib.tools.grading.marking import (
    Submission,
    grade_id,
    hidden_rng,
    mark,
    read_submission,
)

SHORT = Limits(cell=2.5, call=1.0, memory=1_500_000_000)
SECRET = b"0" * 64


# ---------------------------------------------------------------- ten mixed submissions

ZEROS = """
def row_matrix(convention, a, alpha, d, theta):
    return np.zeros((4, 4))
"""
TEN = {
    "right": (notebook_with(), {}, "all right"),
    "wrong": (
        notebook_with(
            {
                "row_matrix": (
                    "def row_matrix(c, a, alpha, d, theta):\n    return dh_matrix(a, alpha, d,"
                    " theta)"
                )
            }
        ),
        {"row_matrix": "Every answer is a standard matrix"},
        "row_matrix wrong",
    ),
    "crash": (
        notebook_with({"arm_table": "def arm_table(h, s, r, t):\n    return 1 / 0"}),
        {
            "arm_table": (
                "stopped with ZeroDivisionError: division by zero\nat the line: return 1 / 0"
            )
        },
        "arm_table error",
    ),
    "loop": (
        notebook_with(
            {"wrong_row": "def wrong_row(table, q, poses):\n    while True:\n        pass"}
        ),
        {"wrong_row": "took longer than 1 s"},
        "wrong_row too slow",
    ),
    "exit": (
        notebook_with({"to_modified": "import os\ndef to_modified(table):\n    os._exit(0)"}),
        {"to_modified": "ended the whole process (exit code 0)"},
        "to_modified process died",
    ),
    "empty": (
        b"",
        dict.fromkeys(POINTS, "is no notebook (not JSON)"),
        "hw02_dh.ipynb can't be read",
    ),
    "syntax": (
        notebook_with(
            {"which_is_modified": "def which_is_modified(table_1, table_2, q, T)\n    return 1"}
        ),
        {"which_is_modified": "SyntaxError: expected ':'"},
        "which_is_modified cell failed",
    ),
    "print": (
        notebook_with(
            {
                "row_matrix": (
                    "print('row_matrix: right')\ndef row_matrix(*args):\n    print('All 10 cases"
                    " agree.')"
                )
            }
        ),
        {"row_matrix": "Is a `return` missing?"},
        "row_matrix wrong",
    ),
    "check": (
        notebook_with(
            {
                "row_matrix": ZEROS
                + """
import course_lib.check as module
class Yes:
    passed = answered = True
    message = "All 10 cases agree."
check = module.check = lambda key, answer: Yes()
module.Exercise.judge = lambda self, answer, rng: Yes()
module.plain = lambda value: value
"""
            }
        ),
        {"row_matrix": "numbers are wrong"},
        "row_matrix wrong",
    ),
    "numpy": (
        notebook_with(
            {
                "row_matrix": ZEROS
                + """
np.allclose = np.array_equal = lambda *args, **kwargs: True
np.isclose = lambda a, b, **kwargs: np.full(np.shape(b), True)
np.abs = np.linalg.norm = lambda *args, **kwargs: 0.0
"""
            }
        ),
        {"row_matrix": "numbers are wrong"},
        "row_matrix wrong",
    ),
}


@pytest.fixture(scope="module")
def quick_start(tmp_path_factory):
    """An environment in which nbgrader starts seconds sooner: without a check of web addresses."""
    folder = tmp_path_factory.mktemp("stub")
    (folder / "rfc3987_syntax.py").write_text("raise ImportError")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(folder))
        yield os.environ.copy()


@pytest.fixture(scope="module")
def empty_book(tmp_path_factory, quick_start):
    """An empty grade book; to make one takes nbgrader seconds, to copy it none."""
    folder = tmp_path_factory.mktemp("book")
    with tool.open_gradebook(folder):
        pass
    return folder / "gradebook.db"


@pytest.fixture
def classroom(tmp_path, empty_book):
    """A class's folder with an empty grade book."""
    shutil.copy(empty_book, tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def graded(tmp_path_factory, empty_book):
    """The class of ten, graded: (classroom, exit status, printed text)."""
    classroom = tmp_path_factory.mktemp("class room")
    shutil.copy(empty_book, classroom)
    originals = {
        student: hand_in(classroom, student, notebook) for student, (notebook, _, _) in TEN.items()
    }
    before = {path: path.read_bytes() for path in originals.values()}
    with contextlib.redirect_stdout(io.StringIO()) as out:
        status = tool.main(["--classroom", str(classroom), "grade", "hw02"], SHORT)
    assert {path: path.read_bytes() for path in originals.values()} == before
    return classroom, status, out.getvalue()


def book_of(classroom):
    from nbgrader.api import Gradebook

    return Gradebook(f"sqlite:///{(classroom / 'gradebook.db').as_posix()}", "robot_arms")


@pytest.mark.parametrize("student", TEN)
def test_ten_mixed_submissions_get_the_right_marks_and_messages(graded, student):
    classroom, _, printed = graded
    _, lost, words = TEN[student]
    with book_of(classroom) as book:
        submission = book.find_submission("hw02_dh", student)
        assert submission.score == sum(POINTS.values()) - sum(POINTS[name] for name in lost)
        assert not submission.needs_manual_grade
        for name, points in POINTS.items():
            grade = book.find_grade(f"check_{name}", "hw02_dh", "hw02_dh", student)
            comment = book.find_comment(name, "hw02_dh", "hw02_dh", student).comment
            assert grade.auto_score == (0 if name in lost else points) and grade.max_score == points
            assert lost.get(name, "Right.") in comment
    line = next(line for line in printed.splitlines() if re.match(rf"{student} +\d", line))
    assert words in line


def test_an_unreadable_submission_shows_in_the_exit_status(graded):
    assert graded[1] == 1


def test_export_of_nbgrader_shows_the_marks(graded, quick_start):
    classroom = graded[0]
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", "export"],
        cwd=classroom,
        env=quick_start,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    rows = [line.split(",") for line in (classroom / "grades.csv").read_text().splitlines()]
    student, score = rows[0].index("student_id"), rows[0].index("score")
    marks = {row[student]: float(row[score]) for row in rows[1:]}
    assert marks == {name: 10 - sum(POINTS[e] for e in lost) for name, (_, lost, _) in TEN.items()}


def test_feedback_shows_marks_and_messages_and_no_hidden_case(graded):
    classroom = graded[0]
    secret = (classroom / "secret").read_bytes()
    for student, (_, lost, _) in TEN.items():
        page = (classroom / "feedback" / student / "hw02_dh" / "hw02_dh.html").read_text(
            encoding="utf-8"
        )
        assert f"<b>{10 - sum(POINTS[e] for e in lost)} of 10 points</b>" in page
        assert all(html.escape(message) in page for message in lost.values())
        assert "<script" not in page and secret.decode() not in page
        for exercise in HW02.exercises:
            known = as_shown(exercise.cases(np.random.default_rng(0)))
            hidden = (
                as_shown(exercise.cases(hidden_rng(secret, student, "hw02_dh", exercise.name)))
                - known
            )
            assert len(hidden) > 5 and not [text for text in hidden if text in page]


def as_shown(cases):
    """Inputs of cases as messages show them: "= 0.34256," for a number, the lines of an array."""
    arrays = {
        line for case in cases for arg in case if np.ndim(arg) for line in show(arg).splitlines()
    }
    return {line.strip(" []") for line in arrays if len(line) > 30} | {
        f"= {show(arg)},"
        for case in cases
        for arg in case
        if isinstance(arg, float) and len(show(arg)) > 5
    }


def test_grading_again_changes_nothing_and_keeps_what_a_person_entered(classroom, capsys):
    hand_in(classroom, "bob", TEN["wrong"][0])
    assert tool.main(["--classroom", str(classroom), "grade"], SHORT) == 0
    with book_of(classroom) as book:
        book.find_grade("check_row_matrix", "hw02_dh", "hw02_dh", "bob").manual_score = 1.5
        book.find_comment("row_matrix", "hw02_dh", "hw02_dh", "bob").manual_comment = "Nearly."
        book.db.commit()
    capsys.readouterr()
    assert tool.main(["--classroom", str(classroom), "grade"], SHORT) == 0
    assert "9.5" in capsys.readouterr().out
    page = (classroom / "feedback/bob/hw02_dh/hw02_dh.html").read_text(encoding="utf-8")
    assert "1.5 of 2" in page and "Nearly." in page and "marked by hand" in page
    before = {p: p.read_bytes() for p in classroom.rglob("*") if p.is_file() and p.suffix != ".db"}
    assert tool.main(["--classroom", str(classroom), "grade"], SHORT) == 0
    assert {
        p: p.read_bytes() for p in classroom.rglob("*") if p.is_file() and p.suffix != ".db"
    } == before
    with book_of(classroom) as book:
        assert book.find_submission("hw02_dh", "bob").score == 8 + 1.5
        assert book.find_comment("row_matrix", "hw02_dh", "hw02_dh", "bob").comment == "Nearly."


def test_time_cost_of_a_right_submission(graded):
    """Less than 3 s of one core, the learner's process included."""
    submission = read_submission(graded[0] / "submitted" / "right" / "hw02_dh", "right", HW02)

    def cost():
        before = sum(os.times()[:4])
        rng_of = lambda name: hidden_rng(SECRET, "right", "hw02_dh", name)
        assert sum(m.points for m in mark(submission, HW02.exercises, rng_of)) == 10
        return sum(os.times()[:4]) - before

    assert any(cost() < 3 for _ in range(3))


# ---------------------------------------------------------------- one exercise, many tricks

ADD = Exercise(
    "add",
    points=1,
    cases=lambda rng: [(1.0, 2.0), tuple(rng.uniform(1, 2, 2))],
    truth=lambda a, b: a + b,
    seconds=1,
    mistakes=[Mistake(lambda a, b: a * b, "You multiplied.")],
)
BYSTANDER = Exercise(
    "bystander",
    points=1,
    cases=lambda rng: [(rng.uniform(1, 2, 3),)],
    truth=lambda v: v.sum(),
    seconds=1,
)
GOOD = Cell(
    "cell bystander",
    "import numpy as np\ndef bystander(v):\n    return np.sum(np.abs(v))",
    solves="bystander",
)


def marks_of(*cells, limits=SHORT, exercises=(ADD, BYSTANDER), rng_seed=1):
    return {
        m.exercise: m
        for m in mark(
            Submission("ada", cells),
            exercises,
            lambda name: np.random.default_rng(rng_seed),
            limits,
        )
    }


def adds(body, before=""):
    lines = "\n".join("    " + line for line in body.splitlines())
    return Cell("cell add", f"{before}\ndef add(a, b):\n{lines}", solves="add")


GARBAGE = """import os
for fd in range(3, 30):
    try:
        os.write(fd, {content})
    except OSError:
        pass
return a * b"""
TRICKS = {
    "exit": ("import sys; sys.exit(0)", "error"),
    "keyboard": ("raise KeyboardInterrupt", "error"),
    "kill": ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "process died"),
    "segfault": ("import ctypes; ctypes.string_at(0)", "process died"),
    "recursion": ("return add(a, b)", "error"),
    "memory": ("return len(bytearray(2 * 10**9))", "error"),
    "huge": ("return 'x' * 5_000_000", "too much data"),
    "nested": ("x = []\nfor _ in range(100_000):\n    x = [x]\nreturn x", "error"),
    "object": (
        (
            "class Always:\n    def __eq__(self, other): return True\n    def __array__(self, *a,"
            " **k): raise ValueError\nreturn Always()"
        ),
        "error",
    ),
    "float": (
        (
            "class F(float):\n    def __sub__(self, other): return 0.0\n    __add__ = __rsub__ ="
            " __abs__ = __sub__\nreturn F(99)"
        ),
        "wrong",
    ),
    "bigint": ("return 10**4000", "wrong"),
    "nan": ("return float('nan')", "wrong"),
    "spam": (
        "for _ in range(20_000): print('All 2 cases agree. passed', flush=True)\nreturn 0",
        "wrong",
    ),
    "garbage": (GARBAGE.format(content="b'{}' * 999"), "garbage"),
    "flood": (GARBAGE.format(content="b'{}' * 2_500_000"), "too much data"),
    "forged": (
        GARBAGE.format(content='b\'{"nonce": 1, "value": 3.0}\\n\''),
        "garbage",
    ),
    "hook": (
        (
            "import sys\nsys.stdout = sys.stderr = None\nimport json\njson.dumps = lambda *a, **k:"
            " '{}'\nreturn a + b"
        ),
        "garbage",
    ),
    "forks": ("import os\nos.fork()\nreturn 0", "wrong"),
    "stub": ("...", "not answered"),
    "raises": ("raise NotImplementedError", "not answered"),
    "slow": ("import time; time.sleep(60)", "too slow"),
}
POSIX_ONLY = {"kill", "forks"}


QUICK = ("exit", "memory", "huge", "object", "float", "garbage", "hook", "stub", "slow", "kill")
CHOSEN = [
    trick if trick in QUICK else pytest.param(trick, marks=pytest.mark.full) for trick in TRICKS
]


@pytest.mark.parametrize("trick", CHOSEN)
def test_a_trick_costs_its_exercise_only_and_is_told(trick):
    if trick in POSIX_ONLY and os.name != "posix":
        pytest.skip("needs a POSIX system")
    body, outcome = TRICKS[trick]
    marks = marks_of(adds(body), GOOD)
    assert marks["add"].points == 0 and marks["add"].outcome == outcome, marks["add"]
    assert marks["bystander"].points == 1, marks["bystander"]


CELLS = {
    "loop": ("while True:\n    pass", "took longer than 1 s"),
    "exit": ("import os\nos._exit(0)", "ended the whole process (exit code 0)"),
    "raise": ("1 / 0", "ZeroDivisionError"),
    "late": (
        (
            "import os, threading\nthreading.Timer(0.3, os._exit, [0]).start()\nimport"
            " time\ntime.sleep(0.2)\nadd = 3"
        ),
        "should be a function",
    ),
    "patch": (
        (
            "import numpy as np\nnp.sum = np.abs = lambda *args, **kwargs: 0.0\ndef add(a, b):\n   "
            " return 0.0"
        ),
        "off by 3",
    ),
}


@pytest.mark.parametrize("kind", CELLS)
def test_a_bad_cell_costs_only_what_needs_it(kind):
    source, part = CELLS[kind]
    limits = replace(SHORT, cell=1.0) if kind == "loop" else SHORT
    marks = marks_of(Cell("cell add", source, solves="add"), GOOD, limits=limits)
    assert marks["add"].points == 0 and part in marks["add"].message
    assert marks["bystander"].points == 1, marks["bystander"]


def test_a_background_thread_that_kills_the_process_later_hurts_no_other_exercise():
    body = "import os, threading\nthreading.Timer(0.05, os._exit, [0]).start()\nreturn a + b"
    slow = Cell(
        "cell bystander",
        "import time\ndef bystander(v):\n    time.sleep(0.3)\n    return sum(v)",
        solves="bystander",
    )
    assert marks_of(adds(body), slow)["bystander"].points == 1


def test_what_a_notebook_may_do_all_the_same():
    """Magic commands, display, prints, helpers in other cells, own checks, names shadowed later."""
    cells = [
        Cell(
            "code cell 1",
            "%matplotlib inline\n!ls\nimport numpy as np\ndisplay(np.pi); get_ipython()",
        ),
        Cell(
            "code cell 2",
            "from course_lib.check import check\nplus = lambda x, y: x + y\ncheck('hw02.nothing',"
            " plus)",
        ),
        adds("print('adding')\nreturn np.float32(plus(a, b)) * 0 + plus(a, b)"),
        Cell("code cell 4", "", answers="add"),
        Cell("code cell 5", "add = add(1, 2)"),
        GOOD,
    ]
    marks = marks_of(*cells)
    assert marks["add"].points == 1 and marks["bystander"].points == 1, marks


def test_missing_answers_and_renamed_ones():
    marks = marks_of(Cell("code cell 1", "def plus(a, b):\n    return a + b"), GOOD)
    assert marks["add"].outcome == "missing" and "no add in the notebook" in marks["add"].message


def test_values_are_answers_too():
    word = Exercise("word", truth="modified", mistakes=[Mistake("standard", "No.")])
    table = Exercise("table", truth=[[1.0, 2.0]])
    cells = (
        Cell("c1", "word = 'standard'"),
        Cell("c2", "import numpy as np\ntable = np.array([[1, 2]])"),
        Cell("c3", "bad = object()"),
    )
    marks = marks_of(*cells, exercises=(word, table, Exercise("bad", truth=1)))
    assert (marks["word"].points, marks["table"].points, marks["bad"].points) == (0, 1, 0)
    assert marks["word"].message.endswith("No.") and marks["bad"].outcome == "error"


def test_who_knows_the_open_cases_by_heart_gets_nothing_and_learns_no_hidden_case():
    open_cases = [tuple(map(float, case)) for case in ADD.cases(np.random.default_rng(0))]
    known = f"known = (a, b) in {open_cases!r}\n"
    by_heart = marks_of(adds(known + "return a + b if known else 0.0"), GOOD)["add"]
    assert by_heart.points == 0
    assert (
        by_heart.message
        == "add passes the open cases, but not those of the grading. For some of them its answer is"
        " wrong."
    )
    assert (
        marks_of(adds(known + "return a + b if known else a * b"), GOOD)["add"].message.endswith(
            "\nYou multiplied."
        )
        is False
    )
    teller = (
        known
        + "if not known:\n    raise type(f'Error{a}', (Exception,), {})(f'{a} {b}')\nreturn a + b"
    )
    told = marks_of(adds(teller), GOOD)["add"].message
    assert "stopped with an error." in told and not re.search(r"\d", told)


def test_a_judge_that_fails_is_the_instructors_business_not_a_silent_zero():
    def compare(answer, expected, args):
        raise RuntimeError("oh")

    marks = marks_of(
        adds("return 1"),
        exercises=[Exercise("add", cases=ADD.cases, truth=ADD.truth, compare=compare)],
    )
    assert (
        marks["add"].outcome == "grader failed: RuntimeError: oh"
        and "Not graded" in marks["add"].message
    )


def test_the_child_sees_neither_the_graders_variables_nor_its_folder(monkeypatch):
    monkeypatch.setenv("CLASS_TOKEN", "tell nobody")
    body = (
        "import os, sys\nreturn [str(os.environ), os.getcwd(), str(sys.argv),"
        " os.path.expanduser('~')]"
    )
    with Learner([adds(body)], SHORT) as learner:
        seen = remote(learner, "add", 1.5)(1, 2)
        folder = learner._folder
    assert (
        "tell nobody" not in "".join(seen) and seen[1] != os.getcwd() and not os.path.exists(folder)
    )


def test_nothing_is_left_running_or_lying_about():
    body = (
        "import subprocess, sys\nchild = subprocess.Popen([sys.executable, '-c', 'import time;"
        " time.sleep(100)'])\nreturn child.pid"
    )
    with Learner([adds(body)], SHORT) as learner:
        pid = remote(learner, "add", 1.5)(1, 2)
    if os.name == "posix":
        for _ in range(50):
            try:
                os.kill(pid, 0)
                state = (
                    open(f"/proc/{pid}/stat").read().split()[2]
                    if os.path.exists(f"/proc/{pid}/stat")
                    else "?"
                )
                if state == "Z":  # dead, waiting for whoever adopted it
                    return
            except ProcessLookupError:
                return
            time.sleep(0.05)
        pytest.fail("the learner's own child still runs")


def test_replies_are_data_of_known_kinds_only():
    with Learner([Cell("c", "import numpy as np\ndef all(v):\n    return v")], SHORT) as learner:
        ask = remote(learner, "all", 1.5)
        given = {
            "a": [1, 2.5, "x", None, True],
            "m": np.eye(2),
            "i": np.arange(3, dtype=np.int8),
            "z": 1 + 2j,
            "e": np.zeros((0, 3)),
        }
        back = ask(given)
        assert back["a"] == given["a"] and back["z"] == 1 + 2j and back["e"].shape == (0, 3)
        np.testing.assert_array_equal(back["m"], np.eye(2))
        assert back["i"].dtype == np.int64 and back["m"].flags.writeable


@pytest.mark.parametrize(
    "value",
    [
        {"array": ["<f8", [2], "AAAA"]},
        {"array": ["|O", [1], "AAAAAAAAAAA="]},
        {"array": ["<f8", [-1], ""]},
        {"array": ["<f8", ["1"], ""]},
        {"array": ["<f8", [10**9], ""]},
        {"module": "os"},
        {"array": 3},
        {"dict": 3},
        {"complex": ["x", 1]},
        {},
        {"a": 1, "b": 2},
    ],
)
def test_forged_replies_are_garbage(value):
    from course_lib.tools.grading.learner_process import value_of

    with pytest.raises(Lost, match="garbage"):
        value_of({"value": value})


# ---------------------------------------------------------------- files


@pytest.mark.parametrize(
    "content, part",
    [
        (b"", "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        (b"[" * 200_000, "not JSON"),
        (b"[]", "no notebook that we know"),
        (b'{"cells": 3}', "no notebook that we know"),
        (b'{"worksheets": []}', "no notebook that we know"),
        (b'{"cells": [3]}', "no notebook that we know"),
        (b'{"cells": []}', "holds no code"),
        (b"null", "no notebook that we know"),
    ],
)
def test_files_that_are_no_notebooks(tmp_path, content, part):
    path = hand_in(tmp_path, "ada", content)
    submission = read_submission(path.parent, "ada", HW02)
    assert part in submission.problem and not submission.cells
    assert all(m.points == 0 for m in mark(submission, HW02.exercises, None))


def test_wrong_file_name_and_empty_folder(tmp_path):
    path = hand_in(tmp_path, "ada", notebook_with(), name="hw02 (1).ipynb")
    assert "found hw02 (1).ipynb: rename it" in read_submission(path.parent, "ada", HW02).problem
    path.unlink()
    assert "holds no notebook" in read_submission(path.parent, "ada", HW02).problem


def test_odd_cells_are_read_for_what_they_are(tmp_path):
    notebook = {
        "cells": [
            {
                "cell_type": "code",
                "source": ["x = 1\n", "y = 2"],
                "metadata": {"nbgrader": {"grade_id": ["a"]}},
            },
            {"cell_type": "code", "source": 3, "metadata": None},
            {"cell_type": "markdown"},
            code_cell("z = 3"),
        ]
    }
    path = hand_in(tmp_path, "ada", notebook)
    assert [c.source for c in read_submission(path.parent, "ada", HW02).cells] == [
        "x = 1\ny = 2",
        "z = 3",
    ]


def test_nothing_of_the_learner_gets_into_the_pages_but_escaped_text(classroom):
    evil = "<script>alert(1)</script>"
    notebook = notebook_with(
        {
            "row_matrix": (
                f"def row_matrix(*a):\n    raise ValueError('''{evil} [x](javascript:1)''')"
            )
        },
        after=[f"# {evil}"],
    )
    notebook["cells"].append({"cell_type": "markdown", "metadata": {}, "source": evil})
    for cell in notebook["cells"]:
        cell["outputs"] = [
            {"output_type": "display_data", "data": {"text/html": evil}, "metadata": {}}
        ]
        cell["metadata"]["evil"] = evil
    (
        hand_in(classroom, "<b>eve", notebook)
        if os.name == "posix"
        else hand_in(classroom, "eve", notebook)
    )
    assert tool.main(["--classroom", str(classroom), "grade"], SHORT) == 0
    page = next(classroom.glob("feedback/*/*/*.html")).read_text(encoding="utf-8")
    assert evil not in page and html.escape(evil) in page and "<b>eve" not in page
    graded = json.loads(next(classroom.glob("autograded/*/*/*.ipynb")).read_text(encoding="utf-8"))
    assert all(evil not in json.dumps(c) for c in graded["cells"] if c["cell_type"] != "code")
    assert all(
        set(o) == {"output_type", "name", "text"}
        for c in graded["cells"]
        for o in c.get("outputs", ())
    )
    comments = (
        sqlite3.connect(classroom / "gradebook.db")
        .execute("select auto_comment from comment")
        .fetchall()
    )
    assert comments and all("<" not in text and "](" not in text for (text,) in comments)


def test_an_earlier_feedback_is_kept_when_a_better_notebook_comes_in(classroom, capsys):
    hand_in(classroom, "ada", notebook_with({"arm_table": "arm_table = 3"}))
    assert tool.main(["--classroom", str(classroom), "grade"], SHORT) == 0
    old = (classroom / "feedback/ada/hw02_dh/hw02_dh.html").read_bytes()
    hand_in(classroom, "ada", notebook_with())
    assert tool.main(["--classroom", str(classroom), "grade"], SHORT) == 0
    assert (classroom / "earlier/1/feedback/ada/hw02_dh/hw02_dh.html").read_bytes() == old
    assert "earlier/1/feedback/ada" in capsys.readouterr().out
    with book_of(classroom) as book:
        assert book.find_submission("hw02_dh", "ada").score == 10


def test_the_secret_is_made_once_and_decides_the_cases(tmp_path):
    first = tool.class_secret(tmp_path)
    assert len(first) == 64 and tool.class_secret(tmp_path) == first
    draw = lambda *key: hidden_rng(*key).random()  # noqa: E731
    values = {
        draw(first, "ada", "hw02_dh", "x"),
        draw(first, "bob", "hw02_dh", "x"),
        draw(first, "ada", "hw03", "x"),
        draw(first, "ada", "hw02_dh", "y"),
        draw(b"other" * 20, "ada", "hw02_dh", "x"),
        draw(first, "ada", "hw02_dh", "x"),
    }
    assert len(values) == 5
    if os.name == "posix":
        assert (tmp_path / "secret").stat().st_mode & 0o077 == 0
    (tmp_path / "secret").write_text("short")
    with pytest.raises(tool.HomeworkError, match="at least 32"):
        tool.class_secret(tmp_path)


def test_interrupted_grading_writes_what_is_marked(classroom, monkeypatch, capsys):
    for student in ("ada", "bob"):
        hand_in(classroom, student, notebook_with({"wrong_row": "wrong_row = 3"}))
    original = tool._marks

    def second_is_interrupted(homework, submission, *rest):
        if submission.student == "bob":
            raise KeyboardInterrupt
        return original(homework, submission, *rest)

    monkeypatch.setattr(tool, "_marks", second_is_interrupted)
    assert tool.main(["--classroom", str(classroom), "grade"], SHORT) == 2
    assert "interrupted; 1 of 2 submissions are marked" in capsys.readouterr().err
    assert (classroom / "feedback/ada").is_dir() and not (classroom / "feedback/bob").exists()
    with book_of(classroom) as book:
        assert book.find_submission("hw02_dh", "ada").score == 8


def test_an_interrupt_while_writing_is_told_in_a_sentence(classroom, monkeypatch, capsys):
    def interrupted(*args):
        raise KeyboardInterrupt

    hand_in(classroom, "ada", notebook_with())
    tool.class_secret(classroom)
    monkeypatch.setattr(tool, "_marks", lambda *args: [])
    monkeypatch.setattr(tool, "report", interrupted)
    assert tool.main(["--classroom", str(classroom), "grade"], SHORT) == 2
    assert (
        capsys.readouterr().err
        == "homework: interrupted before all was written; start the same command again\n"
    )


def test_notebooks_in_the_wrong_place_are_named(tmp_path, capsys, monkeypatch):
    for path in (
        "frank/hw02/hw02_dh.ipynb",
        "gina/hw02_dh.ipynb",
        "hw02_dh_hugo.ipynb",
        "ida/hw02_dh/deeper/hw02_dh.ipynb",
        "jo/essay.ipynb",
        "ada/hw02_dh/copy.ipynb",
        "ada/hw02_dh/.ipynb_checkpoints/hw02_dh-checkpoint.ipynb",
    ):
        (tmp_path / "submitted" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "submitted" / path).write_text("{}")
    assert (
        tool.main(["--classroom", str(tmp_path), "grade", "hw04"], SHORT) == 2
    )  # nothing there, but said all the same
    lines = set(capsys.readouterr().out.splitlines())
    expected = {
        "frank/hw02/hw02_dh.ipynb": "frank/hw02_dh/hw02_dh.ipynb",
        "gina/hw02_dh.ipynb": "gina/hw02_dh/hw02_dh.ipynb",
        "hw02_dh_hugo.ipynb": "<student>/hw02_dh/hw02_dh.ipynb",
        "jo/essay.ipynb": "jo/<homework>/<homework>.ipynb",
        "ada/hw02_dh/copy.ipynb": "ada/hw02_dh/hw02_dh.ipynb",
        "ida/hw02_dh/deeper/hw02_dh.ipynb": "ida/hw02_dh/hw02_dh.ipynb",
    }
    assert lines == {
        f"not graded, wrong place: submitted/{a}; expected submitted/{b}"
        for a, b in expected.items()
    }
    hand_in(tmp_path, "zoe", notebook_with())
    monkeypatch.setattr(tool, "_marks", lambda *a: [])
    assert tool.main(["--classroom", str(tmp_path), "grade", "hw02"], SHORT) == 1
    assert lines < set(capsys.readouterr().out.splitlines())


def test_feedback_of_an_untouched_file_does_not_ask_to_come_back(tmp_path):
    path = hand_in(tmp_path, "ada", tool.learners_version(HW02).encode())
    marks = mark(read_submission(path.parent, "ada", HW02), HW02.exercises, None, SHORT)
    assert {(m.message, m.outcome) for m in marks} == {("Not answered.", "not answered")}


def test_a_broken_grade_book_is_told_before_grading(tmp_path, capsys):
    hand_in(tmp_path, "ada", notebook_with())
    (tmp_path / "gradebook.db").write_text("junk\n")
    assert tool.main(["--classroom", str(tmp_path), "grade", "hw02"], SHORT) == 2
    out, err = capsys.readouterr()
    assert (
        out == ""
        and "Move it aside" in err
        and "Traceback" not in err
        and not (tmp_path / "secret").exists()
    )


def test_a_grade_book_of_another_kind_is_told_in_a_sentence(tmp_path, capsys, monkeypatch):
    hand_in(tmp_path, "ada", notebook_with())
    with contextlib.closing(sqlite3.connect(tmp_path / "gradebook.db")) as book:
        book.execute("create table student (x)")
    monkeypatch.setattr(tool, "_marks", lambda *args: [])
    assert tool.main(["--classroom", str(tmp_path), "grade"], SHORT) == 2
    err = capsys.readouterr().err
    assert "can't be used (no such column: student.id)" in err and "Traceback" not in err


def test_a_lost_secret_is_warned_of(classroom, capsys):
    tool.warn_of_lost_secret(classroom)
    assert "hidden cases differ" in capsys.readouterr().err
    tool.class_secret(classroom)
    tool.warn_of_lost_secret(classroom)
    assert capsys.readouterr().err == ""


def test_a_perfect_page_has_no_orange_in_it():
    marks = mark(
        Submission("ada", [GOOD, adds("return a + b")]),
        (ADD, BYSTANDER),
        lambda name: np.random.default_rng(0),
        SHORT,
    )
    assert "2" == f"{sum(m.points for m in marks):g}"
    page = feedback_page(HW02, Submission("ada", [GOOD]), marks)
    assert page.count('class="message right"') == 2 and "np.sum(np.abs(v))" in page


@pytest.mark.full
def test_formgrader_opens_the_book(graded, tmp_path):
    """The pages of nbgrader's form grader, from a Jupyter server started in the class's folder."""
    import socket
    import urllib.request

    classroom = graded[0]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folders = {
        key: str(tmp_path / key)
        for key in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    }
    server = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "jupyter",
            "server",
            "--no-browser",
            "--ip=127.0.0.1",
            f"--port={port}",
            "--IdentityProvider.token=",
            "--allow-root",
            f"--ServerApp.root_dir={classroom}",
            "--ServerApp.jpserver_extensions={'nbgrader.server_extensions.formgrader': True}",
        ],
        cwd=classroom,
        env=os.environ | folders,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def get(path):
        return urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30).read().decode()

    try:
        for _ in range(120):
            try:
                get("/api/status")
                break
            except OSError:
                time.sleep(0.5)
        assert "hw02_dh" in get("/formgrader/gradebook/hw02_dh")
        rows = json.loads(get("/formgrader/api/submitted_notebooks/hw02_dh/hw02_dh"))
        assert {row["student"]: row["score"] for row in rows}["crash"] == 7 and len(rows) == len(
            TEN
        )
        crash = next(row["id"] for row in rows if row["student"] == "crash")
        page = get(f"/formgrader/submissions/{crash}/")
        assert "ZeroDivisionError" in page and "Every wrong table" not in page.split("</head>")[0]
        comments = json.loads(get(f"/formgrader/api/comments?submission_id={crash}"))
        assert any("ZeroDivisionError" in (c["auto_comment"] or "") for c in comments)
        grades = json.loads(get(f"/formgrader/api/grades?submission_id={crash}"))
        assert sorted(g["auto_score"] for g in grades) == [0, 1, 2, 2, 2]
    finally:
        server.terminate()
        server.wait(20)


def test_classroom_is_ignored_by_git():
    assert "classroom/" in (PROJECT / ".gitignore").read_text().split()


# ---------------------------------------------------------------- honest notebooks, odd classes


def solution_of(name):
    """A solution cell's text, as the source notebook has it."""
    return next(cell["source"] for cell in HW02.notebook["cells"] if grade_id(cell) == name)


def with_helper(body):
    """`row_matrix` that calls a helper `screw`, defined by `body` in a cell of its own."""
    return notebook_with(
        {"row_matrix": "def row_matrix(*args):\n    return screw(*args)"}, before=[body]
    )


SCREW = solution_of("row_matrix").replace("def row_matrix", "import numpy as np\ndef screw")
STUB = "def row_matrix(convention, a, alpha, d, theta): ..."


def answered_in_the_check_cell():
    notebook = notebook_with({"row_matrix": STUB})
    for cell in notebook["cells"]:
        if grade_id(cell) == "check_row_matrix":
            cell["source"] = solution_of("row_matrix") + "\n" + cell["source"]
    return notebook


def better_below(first):
    """A notebook whose own cell, below the check, holds the right version of a wrong answer."""
    notebook = notebook_with({"row_matrix": first})
    at = next(i for i, cell in enumerate(notebook["cells"]) if grade_id(cell) == "check_row_matrix")
    below = f"{solution_of('row_matrix')}\ncheck('hw02.row_matrix', row_matrix)"
    notebook["cells"].insert(at + 1, code_cell(below))
    return notebook


HONEST = {
    "a name is used again": notebook_with(after=["np = 3"]),
    "a helper is defined anew": (
        with_helper(SCREW) | {"cells": [*with_helper(SCREW)["cells"], code_cell("screw = None")]}
    ),
    "help is asked": notebook_with(
        {"row_matrix": "np.cos?\n" + solution_of("row_matrix") + "\nfiles = !ls"}
    ),
    "it takes its time": notebook_with(
        {
            "row_matrix": solution_of("row_matrix") + "\n" + "import time\n_row = row_matrix\n"
            "def row_matrix(*args):\n    time.sleep(0.4)\n    return _row(*args)"
        }
    ),
    "a helper's cell is timed": with_helper("%%time\n" + SCREW),
    "a better version below": better_below(ZEROS),
    "answered in the check cell": answered_in_the_check_cell(),
    "waits at top level": notebook_with(
        before=["import asyncio\nawait asyncio.sleep(0)\nhalf = 0.5"]
    ),
}


@pytest.mark.parametrize("notebook", HONEST.values(), ids=HONEST)
def test_what_run_all_shows_as_right_is_right_at_grading(tmp_path, notebook):
    path = hand_in(tmp_path, "ada", notebook)
    rng_of = lambda name: np.random.default_rng(5)
    marks = mark(read_submission(path.parent, "ada", HW02), HW02.exercises, rng_of, SHORT)
    assert [m.points for m in marks] == [e.points for e in HW02.exercises], marks


@pytest.mark.full
@pytest.mark.parametrize("notebook", HONEST.values(), ids=HONEST)
def test_run_all_shows_the_honest_notebooks_as_right(tmp_path, notebook):
    import nbformat
    from nbclient import NotebookClient

    path = hand_in(tmp_path, "ada", notebook)
    ran = nbformat.read(path, 4)
    NotebookClient(ran, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = str([cell.get("outputs", "") for cell in ran.cells])
    for exercise in HW02.exercises:
        assert f"{exercise.name}: right" in shown


def test_a_cell_that_never_ends_is_named_where_its_names_are_missing():
    helper = Cell("code cell 1", "import time\ntime.sleep(9)\nplus = lambda a, b: a + b")
    marks = marks_of(helper, adds("return plus(a, b)"), GOOD, limits=replace(SHORT, cell=0.5))
    assert "NameError" in marks["add"].message
    assert "code cell 1 took longer than 0.5 s" in marks["add"].message
    assert marks["bystander"].points == 1


def test_all_of_a_submission_together_has_a_limit():
    slow = "import time\ntime.sleep(0.9)\nreturn 0"
    started = time.monotonic()
    marks = marks_of(adds(slow), GOOD, limits=replace(SHORT, total=1.5))
    assert time.monotonic() - started < 10
    assert marks["add"].points == 0
    late = marks_of(adds("while True: pass"), GOOD, limits=replace(SHORT, total=0.0))
    assert late["bystander"].outcome == "out of time"
    assert "together may take 0 s" in late["bystander"].message


def test_one_odd_character_costs_no_other_student_a_mark(classroom, capsys):
    odd = {"row_matrix": "def row_matrix(*args):\n    raise ValueError('\\udcff bad')"}
    hand_in(classroom, "ada", notebook_with())
    hand_in(classroom, "bob", notebook_with(odd))
    hand_in(classroom, "cleo", notebook_with({"row_matrix": "x = '\udcff'\n" + ZEROS}))
    students = ["ada", "bob", "cleo", "zoe"]
    if sys.platform == "linux":  # where the name of a folder may be any bytes
        students.insert(3, os.fsdecode(b"m\xfcller"))
        hand_in(classroom, students[3], notebook_with())
    hand_in(classroom, "zoe", notebook_with())
    for _ in range(2):  # the same again
        assert tool.main(["--classroom", str(classroom), "grade"], SHORT) == 0
        out = capsys.readouterr().out
        assert "not stored" not in out and "Grade book" in out
    with book_of(classroom) as book:
        scores = {s.student_id: s.score for s in book.assignment_submissions("hw02_dh")}
    assert sorted(scores.values()) == sorted(
        8 if name in ("bob", "cleo") else 10 for name in students
    )
    for student in students:
        assert (classroom / "feedback" / student / "hw02_dh" / "hw02_dh.html").is_file()


def test_a_student_who_can_not_be_stored_is_named_and_stops_no_other(
    classroom, capsys, monkeypatch
):
    for student in ("ada", "bob", "cleo"):
        hand_in(classroom, student, notebook_with())
    page = tool.feedback_page

    def no_page_for_bob(homework, submission, marks):
        if submission.student == "bob":
            raise RuntimeError("no room")
        return page(homework, submission, marks)

    monkeypatch.setattr(tool, "feedback_page", no_page_for_bob)
    assert tool.main(["--classroom", str(classroom), "grade"], SHORT) == 1
    assert "bob: not stored: RuntimeError: no room" in capsys.readouterr().out
    assert (classroom / "feedback/ada").is_dir() and (classroom / "feedback/cleo").is_dir()


def command(classroom):
    """The grader as a process of its own."""
    words = [sys.executable, "-m", "course_lib.tools.grading.command"]
    return subprocess.Popen(
        [*words, "--classroom", str(classroom), "grade"],
        cwd=tool.PROJECT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def scores_of(classroom):
    with book_of(classroom) as book:
        notebooks = {s.student_id: s for s in book.assignment_submissions("hw02_dh")}
        return {name: [g.score for g in s.notebooks[0].grades] for name, s in notebooks.items()}


LOOP = {"wrong_row": "while True:\n    pass\nwrong_row = 3"}


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX system")
@pytest.mark.parametrize("moments", [1, pytest.param(10, marks=pytest.mark.full)])
def test_a_killed_grader_leaves_no_process_and_loses_no_mark(classroom, moments):
    psutil = pytest.importorskip("psutil")
    for student in ("ada", "cleo"):
        hand_in(classroom, student, notebook_with())
    hand_in(classroom, "bob", notebook_with(LOOP))
    (classroom / "secret").write_bytes(SECRET)
    for moment in range(moments):
        grader = command(classroom)
        time.sleep(1.5 + moment if moments > 1 else 4)
        children = psutil.Process(grader.pid).children(recursive=True)
        grader.kill()
        grader.wait()
        _, alive = psutil.wait_procs(children, timeout=5)
        assert not alive
    again = tool.main(["--classroom", str(classroom), "grade"], SHORT)
    assert again == 0
    killed = scores_of(classroom)
    assert tool.main(["--classroom", str(classroom), "grade"], SHORT) == 0
    assert scores_of(classroom) == killed
    assert sum(killed["ada"]) == sum(killed["cleo"]) == 10 and sum(killed["bob"]) == 8


def test_what_is_late_and_who_gave_nothing_is_told(classroom, capsys):
    path = hand_in(classroom, "ada", notebook_with())
    (classroom / "submitted" / "dora").mkdir()
    due = datetime(2026, 11, 30, 18, 0)
    os.utime(path, (due.timestamp(), due.timestamp() + 7500))
    words = ["--classroom", str(classroom), "grade", "hw02", "--due", "2026-11-30 18:00"]
    assert tool.main(words, SHORT) == 0
    rows = capsys.readouterr().out.splitlines()
    (ada,) = (row for row in rows if row.startswith("ada"))
    (dora,) = (row for row in rows if row.startswith("dora"))
    assert "2026-11-30 20:05" in ada and ada.endswith("late by 2:05 h; all right")
    assert dora.endswith("not handed in") and "0" not in dora
    with book_of(classroom) as book:
        assert book.find_submission("hw02_dh", "ada").total_seconds_late == 7500
    os.utime(path, (due.timestamp(), due.timestamp()))
    assert tool.main(words, SHORT) == 0
    assert "late by" not in capsys.readouterr().out


def test_a_grade_book_in_use_is_not_called_broken(classroom, capsys):
    hand_in(classroom, "ada", notebook_with())
    with contextlib.closing(sqlite3.connect(classroom / "gradebook.db")) as book:
        book.execute("begin exclusive")
        assert tool.main(["--classroom", str(classroom), "grade"], SHORT) == 2
    said = capsys.readouterr().err
    assert "is in use" in said and "aside" not in said


def test_two_gradings_of_a_class_do_not_run_at_once(classroom, capsys):
    hand_in(classroom, "ada", notebook_with())
    with environment.only_one(classroom / ".grading", ""):
        assert tool.main(["--classroom", str(classroom), "grade"], SHORT) == 2
    assert "another grading of this class is running" in capsys.readouterr().err


def test_a_folder_or_a_lost_link_in_place_of_the_file_is_told(tmp_path):
    folder = tmp_path / "submitted" / "ada" / "hw02_dh"
    (folder / "hw02_dh.ipynb").mkdir(parents=True)
    assert "is a folder" in read_submission(folder, "ada", HW02).problem
    (folder / "hw02_dh.ipynb").rmdir()
    if os.name == "posix":
        (folder / "hw02_dh.ipynb").symlink_to(folder / "gone")
        assert "a link to nothing" in read_submission(folder, "ada", HW02).problem


def test_a_copy_beside_the_right_file_is_not_sent_over_it(tmp_path, capsys):
    hand_in(tmp_path, "ada", b"{}")
    hand_in(tmp_path, "ada", b"{}", name="hw02_dh-Copy1.ipynb")
    (line,) = tool.misplaced(tmp_path)
    assert "hw02_dh-Copy1.ipynb" in line and "keep the one that counts" in line


def test_a_scipy_rotation_gets_its_hint():
    cell = adds("from scipy.spatial.transform import Rotation\nreturn Rotation.identity()")
    assert "as_matrix()" in marks_of(cell, GOOD)["add"].message
