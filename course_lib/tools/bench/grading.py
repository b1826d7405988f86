"""What does a submission cost the instructor?

Public names: `bench_grading`.
"""

import contextlib
import importlib.util
import io
import logging
import os
import shutil
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

from course_lib.tools.bench.core import Row, Size, guarded, race

MOST = 3  # [s]


def bench_grading(size: Size) -> Iterator[Row]:
    """A right submission of each homework, from its file to the grade book, beside nbgrader."""
    if not importlib.util.find_spec("nbgrader"):
        yield Row("grading", note="nbgrader is not installed")
        return
    for judge in sorted(size.notebooks.glob("homework/hw[0-9][0-9]_*/judge.py")):
        yield from guarded(f"{judge.parent.name} grading", grading_rows(judge.parent, size))


def grading_rows(folder: Path, size: Size) -> Iterator[Row]:
    """The row of one homework."""
    from course_lib.tools.grading.marking import load_homework

    homework = load_homework(folder)
    with tempfile.TemporaryDirectory(prefix="course-bench-", ignore_cleanup_errors=True) as room:
        make_class(homework, Path(room))
        contenders = {  # the first turn, which does not count, makes the grade books
            "ours": lambda: grade_one(homework, Path(room)),
            "nbgrader autograde": lambda: nbgrader_one(homework, Path(room)),
        }
        name = f"{homework.name}, grade a submission"
        yield race(name, "s", contenders, size.long_repeats, at_most=MOST)


def make_class(homework, folder: Path) -> None:
    """A class of one, who hands in the source with its solutions; known to nbgrader too."""
    scripts = sysconfig.get_path("scripts")  # nbgrader calls `alembic`
    os.environ["PATH"] = os.pathsep.join([scripts, os.environ.get("PATH", "")])
    notebook = Path(homework.name) / f"{homework.name}.ipynb"
    for place in (folder / "source", folder / "submitted" / "ada"):
        (place / homework.name).mkdir(parents=True)
        shutil.copy(homework.folder / notebook.name, place / notebook)
    with quiet():
        made = nbgrader_in(folder).generate_assignment(homework.name)
    if not made["success"]:
        last = made["error"].strip().splitlines()[-1]
        raise RuntimeError(f"nbgrader could not release {homework.name}: {last}")


def nbgrader_in(folder: Path):
    """nbgrader's commands for a class in a folder, with a grade book of its own."""
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import Config

    database = f"sqlite:///{folder / 'nbgrader.db'}"
    course = {"root": str(folder), "course_id": "bench", "db_url": database}
    return NbGraderAPI(config=Config({"CourseDirectory": course}))


def grade_one(homework, folder: Path) -> None:
    """What `course.py homework grade` does with a class of one."""
    from course_lib.tools.grading.command import grade

    with quiet():
        if grade([homework], folder) != 0:
            raise RuntimeError(f"{homework.name}: the solutions could not be graded")


def nbgrader_one(homework, folder: Path) -> None:
    """What `nbgrader autograde` does with it, without the start of a new process."""
    with quiet():
        nbgrader_in(folder).autograde(homework.name, "ada", force=True)
    if not list(folder.glob("autograded/ada/*/*.ipynb")):
        raise RuntimeError(f"nbgrader could not grade {homework.name}")


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Nothing is printed and nothing logged in this block."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        logging.disable(logging.CRITICAL)
        try:
            yield
        finally:
            logging.disable(logging.NOTSET)
