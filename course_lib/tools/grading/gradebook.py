"""How do marks get into nbgrader's grade book, which its export and its forms read?

What a person entered there stays. Public names: `write_gradebook`, `refuse_broken_gradebook`.
"""

import contextlib
import json
import os
import sqlite3
import sysconfig
import warnings
from pathlib import Path

from course_lib.tools.grading import marking
from course_lib.tools.grading.marking import HomeworkError, check_id, grade_id


def refuse_broken_gradebook(classroom: Path) -> None:
    """Raise HomeworkError where the grade book is no database, before any marking."""
    path = classroom / "gradebook.db"
    if not path.exists():
        return
    try:
        with contextlib.closing(sqlite3.connect(path)) as book:
            book.execute("select count(*) from sqlite_master").fetchone()
    except sqlite3.Error as error:
        raise HomeworkError(
            f"the grade book {path} can't be read ({error}). Move it aside and grade again: that"
            " makes a new one, without what was entered there by hand"
        ) from None


def write_gradebook(results, classroom):
    """Put marks and messages into nbgrader's grade book; what a person entered there stays."""
    from nbgrader.api import Gradebook
    from sqlalchemy.exc import SQLAlchemyError

    scripts = sysconfig.get_path("scripts")  # nbgrader calls `alembic`
    os.environ["PATH"] = os.pathsep.join([scripts, os.environ.get("PATH", "")])
    path = classroom / "gradebook.db"
    try:
        with Gradebook(f"sqlite:///{path.as_posix()}", "robot_arms") as book, one_transaction(book):
            for homework in {id(h): h for h, _, _ in results}.values():
                register(book, homework)
            for homework, submission, marks in results:
                record(book, homework, submission, marks)
    except SQLAlchemyError as error:  # locked, or made by something else than nbgrader
        reason = str(getattr(error, "orig", error))
        raise HomeworkError(
            f"the grade book {path} took no marks ({reason}). Close what else uses it, or move it"
            " aside, and grade again"
        ) from None


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


def register(book, homework: marking.Homework) -> None:
    """Tell the grade book of a homework's cells."""
    name, kernel = homework.name, json.dumps(homework.notebook["metadata"].get("kernelspec", {}))
    book.update_or_create_assignment(name)
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
) -> None:
    """Write one student's marks and messages."""
    name, student = homework.name, submission.student
    book.update_or_create_student(student)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SQLAlchemy's, about how nbgrader adds a submission
        book.update_or_create_submission(name, student)
    for mark_ in marks:
        grade_, comment = _entries(book, name, student, mark_.exercise)
        grade_.auto_score, grade_.needs_manual_grade = float(mark_.points), False
        comment.auto_comment = defused(mark_.message)


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
