"""How do marks get into nbgrader's grade book, which its export and its forms read?

What a person entered there stays. Public names: `open_gradebook`, `refuse_broken_gradebook`,
`storable`.
"""

import contextlib
import json
import os
import sqlite3
import sysconfig
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from course_lib.tools.grading import marking
from course_lib.tools.grading.marking import HomeworkError, check_id, grade_id


def refuse_broken_gradebook(classroom: Path) -> None:
    """Raise HomeworkError where the grade book is no database, before any marking."""
    path = classroom / "gradebook.db"
    if not path.exists():
        return
    try:
        with contextlib.closing(sqlite3.connect(path, timeout=1)) as book:
            book.execute("select count(*) from sqlite_master").fetchone()
    except sqlite3.Error as error:
        raise HomeworkError(_no_book(path, error)) from None


def _no_book(path, reason):
    """What is wrong with the grade book, and the cure."""
    if "locked" in str(reason):
        return f"the grade book {path} is in use (locked). Close what else has it open, then grade"
    return (
        f"the grade book {path} can't be used ({reason}). Move it aside and grade again: that makes"
        " a new one, without what was entered there by hand"
    )


@contextlib.contextmanager
def open_gradebook(classroom: Path, due: datetime | None = None) -> Iterator[Callable]:
    """Open nbgrader's grade book, or make one; gives `record(homework, submission, marks)`.

    It stores one student's marks at once, and returns them as they count: those that a person
    entered stay.
    """
    from nbgrader.api import Gradebook
    from sqlalchemy.exc import SQLAlchemyError

    scripts = sysconfig.get_path("scripts")  # nbgrader calls `alembic`
    os.environ["PATH"] = os.pathsep.join([scripts, os.environ.get("PATH", "")])
    path, known = classroom / "gradebook.db", set()

    def recorded(homework, submission, marks):
        with usable(), one_transaction(book):
            if homework.name not in known:
                register(book, homework, due)
            counting = record(book, homework, submission, marks)
        known.add(homework.name)
        return counting

    @contextlib.contextmanager
    def usable():
        try:
            yield
        except SQLAlchemyError as error:  # locked, or made by something else than nbgrader
            raise HomeworkError(_no_book(path, getattr(error, "orig", error))) from None

    with usable():
        book = Gradebook(f"sqlite:///{path.as_posix()}", "robot_arms")
    with book:
        yield recorded


@contextlib.contextmanager
def one_transaction(book):
    """Write all that follows at once or not at all; nbgrader would commit after every entry."""
    commit, book.db.commit = book.db.commit, book.db.flush
    try:
        yield
        commit()
    except BaseException:
        book.db.rollback()
        raise
    finally:
        book.db.commit = commit


def register(book, homework: marking.Homework, due: datetime | None) -> None:
    """Tell the grade book of a homework's cells."""
    name, kernel = homework.name, json.dumps(homework.notebook["metadata"].get("kernelspec", {}))
    book.update_or_create_assignment(name, **({"duedate": _utc(due)} if due else {}))
    book.update_or_create_notebook(name, name, kernelspec=kernel)
    for exercise in homework.exercises:
        worth = {"max_score": exercise.points, "cell_type": "code"}
        book.update_or_create_solution_cell(exercise.name, name, name)
        book.update_or_create_grade_cell(check_id(exercise.name), name, name, **worth)
    for cell in homework.notebook["cells"]:
        if grade_id(cell):
            kept = {"cell_type": cell["cell_type"], "source": cell["source"]}
            kept["locked"] = not cell["metadata"]["nbgrader"].get("solution", False)
            book.update_or_create_source_cell(grade_id(cell), name, name, **kept)


def record(
    book, homework: marking.Homework, submission: marking.Submission, marks: list[marking.Mark]
) -> list[marking.Mark]:
    """Write one student's marks and messages; return them, with what a person entered."""
    name, student = homework.name, storable(submission.student)
    book.update_or_create_student(student)
    when = _utc(datetime.fromtimestamp(submission.time)) if submission.time else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SQLAlchemy's, about how nbgrader adds a submission
        book.update_or_create_submission(name, student, timestamp=when)
    counting = []
    for mark in marks:
        grade, comment = _entries(book, name, student, mark.exercise)
        grade.auto_score, grade.needs_manual_grade = float(mark.points), False
        comment.auto_comment = defused(storable(mark.message))
        if grade.manual_score is not None:
            said = comment.manual_comment or mark.message
            outcome = f"marked by hand ({mark.outcome})"
            mark = replace(mark, points=grade.manual_score, message=said, outcome=outcome)
        counting.append(mark)
    return counting


def _utc(when):
    """A local time, or one with its zone, as nbgrader stores times."""
    return when.astimezone(UTC).replace(tzinfo=None)


def storable(text: str) -> str:
    """A text without lone surrogates, which no file and no database takes."""
    return text.encode(errors="backslashreplace").decode()


def _entries(book, name, student, exercise):
    """A grade and a comment of the grade book, made where the homework got new exercises since."""
    from nbgrader.api import Comment, Grade, MissingEntry

    check, whose = check_id(exercise), (name, name, student)
    try:
        return book.find_grade(check, *whose), book.find_comment(exercise, *whose)
    except MissingEntry:
        notebook = book.find_submission_notebook(*whose)
        graded = book.find_grade_cell(check, name, name)
        solved = book.find_solution_cell(exercise, name, name)
        return (
            Grade(cell_id=graded.id, notebook=notebook),
            Comment(cell_id=solved.id, notebook=notebook),
        )


def defused(text: str) -> str:
    """A text that nbgrader's feedback, which takes comments as Markdown with HTML, can't run."""
    return text.replace("<", "‹").replace(">", "›").replace("](", "] (")
