"""Homework for a class: `python3 course.py homework list | release | grade`.

Everything of a class lies in classroom/, in nbgrader's folders, ignored by git:

    release/hw02_dh/                     the learners' version, made by `release`
    submitted/<student>/hw02_dh/         put the submissions here (only read)
    autograded/, feedback/               made by `grade`, as is gradebook.db, nbgrader's grade book
    secret                               what the hidden cases are drawn from; made once, keep it
    earlier/                             files that a later run replaced

Each student's results are stored as soon as they are there: what stops a run, or one student's
oddity, costs no other mark.
Nothing in classroom/ is ever deleted. Marks come from the judge beside each source notebook, asked
by `marking`; nbgrader's own tools (export, formgrader) read them from the grade book.
"""

import argparse
import contextlib
import json
import os
import secrets
import shlex
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from course_lib.check import PROJECT
from course_lib.tools import copies
from course_lib.tools.environment import Busy, only_one
from course_lib.tools.grading import marking
from course_lib.tools.grading.feedback import feedback_page, graded_notebook, number
from course_lib.tools.grading.gradebook import open_gradebook, refuse_broken_gradebook
from course_lib.tools.grading.learner_process import Limits
from course_lib.tools.grading.marking import Homework, HomeworkError, Submission, load_homework

# Without this module jsonschema, and so nbformat and nbgrader, start more than a second sooner.
sys.modules.setdefault("rfc3987_syntax", None)

SOURCES = PROJECT / "notebooks" / "homework"
CLASSROOM = PROJECT / "classroom"
CONFIG = Path(__file__).with_name("nbgrader_config.txt")


def main(arguments: list[str] | None = None, limits: Limits = Limits()) -> int:
    """Run one command; returns its exit status: 0 done, 1 something needs a look, 2 no start."""
    options = read_arguments(arguments)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # names of folders are any bytes
    try:
        if options.command == "list":
            return list_homework(options.classroom)
        chosen = choose(options.homework)
        if options.command == "release":
            return release(chosen, options.classroom)
        options.classroom.mkdir(parents=True, exist_ok=True)
        with only_one(options.classroom / ".grading", "another grading of this class is running"):
            return grade(chosen, options.classroom, limits, options.due)
    except (HomeworkError, Busy, ValueError, OSError) as error:
        print(f"homework: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:  # outside of marking, see `grade`
        said = "interrupted before all was written; start the same command again"
        print(f"homework: {said}", file=sys.stderr)
        return 2


def read_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """The command, the homework it is for, and the class's folder."""
    place = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    about = "folder of the class (default: classroom/)"
    place.add_argument("--classroom", type=Path, help=about)  # before or after the command
    about = "Release and grade homework."
    parser = argparse.ArgumentParser(prog="course.py homework", description=about, parents=[place])
    commands = parser.add_subparsers(dest="command", required=True)
    about = "show all homework and where the class stands"
    commands.add_parser("list", help=about, parents=[place])
    steps = {"release": "make the learners' version", "grade": "grade what lies in submitted/"}
    for name, about in steps.items():
        command = commands.add_parser(name, help=about, parents=[place])
        command.add_argument("homework", nargs="*", help="as in hw02 (default: all)")
    about = 'what came later is called late, as "2026-12-01 18:00" (by the date of the file)'
    command.add_argument("--due", type=datetime.fromisoformat, help=about)
    options = parser.parse_args(arguments, argparse.Namespace(classroom=CLASSROOM))
    options.classroom = options.classroom.resolve()
    return options


def choose(names: list[str]) -> list[Homework]:
    """The homework called `names` ("hw02_dh", "hw02", "02" or "2"); all where none is named."""
    folders = sorted(path.parent for path in SOURCES.glob("hw[0-9][0-9]_*/judge.py"))
    names = [f"hw{int(name):02d}" if name.isdecimal() else name.lower() for name in names]
    known = {name for folder in folders for name in (folder.name, folder.name[:4])}
    unknown = [name for name in names if name not in known]
    if unknown:
        there = ", ".join(folder.name for folder in folders)
        raise HomeworkError(f"no homework {unknown[0]!r}; there are {there}")
    return [load_homework(f) for f in folders if not names or {f.name, f.name[:4]} & set(names)]


# ---------------------------------------------------------------- list


def list_homework(classroom: Path) -> int:
    """Print every homework with its points, and how many submissions there are."""
    rows = [("homework", "points", "exercises", "released", "submitted", "graded", "title")]
    for homework in choose([]):
        name = homework.name
        released = (classroom / "release" / name / f"{name}.ipynb").is_file()
        handed_in, graded = (
            str(len(list(classroom.glob(f"{step}/*/{name}")))) for step in ("submitted", "feedback")
        )
        numbers = (number(homework.points), str(len(homework.exercises)))
        stands = ("yes" if released else "no", handed_in, graded)
        rows.append((name, *numbers, *stands, homework.title))
    print_table(rows)
    return 0


def print_table(rows: list[tuple[str, ...]]) -> None:
    """Print rows of texts in columns."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip())


# ---------------------------------------------------------------- release


def release(chosen: list[Homework], classroom: Path) -> int:
    """Write the learners' version of each homework to classroom/release/."""
    for homework in chosen:
        path = classroom / "release" / homework.name / f"{homework.name}.ipynb"
        print(f"{homework.name}: {store(path, learners_version(homework), classroom)}")
    write_config(classroom)
    (classroom / "submitted").mkdir(exist_ok=True)
    where = "" if classroom == CLASSROOM else f" --classroom {shlex.quote(str(classroom))}"
    print(
        "Give that file to your learners. Put what they hand in at"
        f" {classroom / 'submitted' / '<student>' / '<homework>'}, file name unchanged, then run"
        f" `python3 course.py homework grade{where}`."
    )
    return 0


def learners_version(homework: Homework) -> str:
    """The notebook without solutions and outputs, with nbgrader's checksums, as JSON."""
    import nbformat
    from nbgrader.preprocessors import CheckCellMetadata, ComputeChecksums

    text = copies.learners_version(json.dumps(homework.notebook).encode()).decode()
    notebook = nbformat.reads(text, as_version=4)
    for step in (CheckCellMetadata(), ComputeChecksums()):
        notebook, _ = step.preprocess(notebook, {})
    nbformat.validate(notebook)
    return nbformat.writes(notebook) + "\n"


def store(path: Path, text: str, classroom: Path) -> str:
    """Write a file below `classroom` and say what was done; another one is kept in earlier/."""
    done = f"wrote {path}"
    if path.exists():
        if path.read_bytes() == text.encode(errors="backslashreplace"):
            return f"{path} is up to date"
        done += f" (the one before is {earlier(path, classroom)})"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode(errors="backslashreplace"))
    return done


def earlier(path: Path, classroom: Path) -> Path:
    """Move a file aside, to the first free number in earlier/, and return its new place."""
    n = 1
    while (target := classroom / "earlier" / str(n) / path.relative_to(classroom)).exists():
        n += 1
    target.parent.mkdir(parents=True, exist_ok=True)
    return Path(shutil.move(path, target))


def write_config(classroom: Path) -> None:
    """nbgrader's configuration, unless there is one."""
    classroom.mkdir(parents=True, exist_ok=True)
    path = classroom / "nbgrader_config.py"
    if not path.exists():
        try:
            source = Path(os.path.relpath(SOURCES, classroom)).as_posix()
        except ValueError:  # on another drive
            source = SOURCES.as_posix()
        path.write_text(CONFIG.read_text("utf-8").format(source=source), encoding="utf-8")


# ---------------------------------------------------------------- grade


def grade(
    chosen: list[Homework],
    classroom: Path,
    limits: Limits = Limits(),
    due: datetime | None = None,
) -> int:
    """Mark all submissions, one after the other, and store marks and feedback of each at once."""
    lost = misplaced(classroom)
    for line in lost:
        print(line, flush=True)
    work = [(homework, one) for homework in chosen for one in read_class(homework, classroom)]
    if not work:
        place = classroom / "submitted" / "<student>" / chosen[0].name / chosen[0].name
        raise HomeworkError(f"nothing to grade: expected {place}.ipynb")
    refuse_broken_gradebook(classroom)
    warn_of_lost_secret(classroom)
    secret, results = class_secret(classroom), []
    write_config(classroom)
    try:
        with open_gradebook(classroom, due) as record:
            for homework, submission in work:
                marks = _marks(homework, submission, secret, limits)
                marks = keep(homework, submission, marks, classroom, record)
                results.append((homework, submission, marks))
    except KeyboardInterrupt:
        raise HomeworkError(
            f"interrupted; {len(results)} of {len(work)} submissions are marked and written."
            " Start the same command again to mark them all"
        ) from None
    for homework in dict.fromkeys(homework for homework, _ in work):
        report(homework, [(s, marks) for h, s, marks in results if h is homework], classroom, due)
    print(f"\nFeedback pages: {classroom / 'feedback'}\nGrade book: {classroom / 'gradebook.db'}")
    for line in lost:  # once more, where it is seen
        print(line)
    unread = any(submission.problem for _, submission, _ in results)
    looks = ("grader failed", "not stored")
    failed = any(m.outcome.startswith(looks) for *_, marks in results for m in marks)
    return int(bool(lost) or unread or failed)


def misplaced(classroom: Path) -> list[str]:
    """A line for every notebook in submitted/ that lies where no homework is looked for."""
    known = [homework.name for homework in choose([])]
    lines = []
    for path in sorted((classroom / "submitted").rglob("*.ipynb")):
        parts = path.relative_to(classroom).parts
        right = len(parts) == 4 and parts[2] in known and path.stem == parts[2]
        if not right and ".ipynb_checkpoints" not in parts:
            place = _right_place(parts, known)
            there = (classroom / place).exists()
            said = f"{place}, which is there, too: keep the one that counts" if there else place
            lines.append(f"not graded, wrong place: {'/'.join(parts)}; expected {said}")
    return lines


def _right_place(parts, known):
    """Where the notebook at `parts` of the class's folder belongs, as far as names tell."""
    student = parts[1] if len(parts) > 2 and parts[1] not in known else "<student>"
    named = [k for part in reversed(parts) for k in known if part.casefold().startswith(k[:4])]
    name = (named or ["<homework>"])[0]
    return f"submitted/{student}/{name}/{name}.ipynb"


def warn_of_lost_secret(classroom: Path) -> None:
    """Say that marks may change, where there is a grade book but no secret any more."""
    if (classroom / "gradebook.db").exists() and not (classroom / "secret").exists():
        print(
            f"warning: {classroom / 'secret'} is gone, so a new one is made: the hidden cases"
            " differ from those of the earlier marks. Put the old file back if you have it.",
            file=sys.stderr,
        )


def read_class(homework: Homework, classroom: Path) -> list[Submission]:
    """All submissions of a homework, in the order of the students' names."""
    folders = filter(Path.is_dir, sorted(classroom.glob(f"submitted/*/{homework.name}")))
    return [marking.read_submission(folder, folder.parent.name, homework) for folder in folders]


def class_secret(classroom: Path) -> bytes:
    """The secret that hidden cases are drawn from: made once, then only read."""
    classroom.mkdir(parents=True, exist_ok=True)
    path = classroom / "secret"
    for_us_only = lambda name, flags: os.open(name, flags, 0o600)
    with contextlib.suppress(FileExistsError), open(path, "x", opener=for_us_only) as file:
        file.write(secrets.token_hex(32))
    secret = path.read_bytes().strip()
    if len(secret) < 32:
        where = f"{classroom.name}/secret should hold at least 32 characters"
        raise HomeworkError(f"{where}; it holds {len(secret)}")
    return secret


def _marks(homework, submission, secret, limits):
    start = time.monotonic()
    rng_of = lambda exercise: marking.hidden_rng(
        secret, submission.student, homework.name, exercise
    )
    marks = marking.mark(submission, homework.exercises, rng_of, limits)
    total = f"{number(sum(m.points for m in marks))} of {number(homework.points)}"
    took = f"{time.monotonic() - start:.1f} s"
    print(f"{homework.name}  {submission.student}: {total} ({took})", flush=True)
    return marks


def report(
    homework: Homework,
    graded: list[tuple[Submission, list[marking.Mark]]],
    classroom: Path,
    due: datetime | None = None,
) -> None:
    """Print the class's table: marks, date of the file, in words what is not right or not there."""
    rows = [("student", *(e.name for e in homework.exercises), "total", "file of", "what happened")]
    for submission, marks in graded:
        wrong = [f"{m.exercise} {m.outcome}" for m in marks if m.outcome != "right"]
        words = submission.problem or "; ".join(wrong) or "all right"
        points = [m.points for m in marks]
        when, late = handed_in(submission, due)
        numbers = map(number, [*points, sum(points)])
        rows.append((submission.student, *numbers, when, late + words))
    there = {submission.student for submission, _ in graded}
    for folder in filter(Path.is_dir, sorted((classroom / "submitted").iterdir())):
        if folder.name not in there:
            rows.append((folder.name, *["–"] * (len(rows[0]) - 2), "not handed in"))
    count = f"{len(graded)} submissions, {number(homework.points)} points"
    print(f"\n{homework.name}: {homework.title}, {count}")
    print_table(rows)


def handed_in(submission: Submission, due: datetime | None) -> tuple[str, str]:
    """When the file was changed last, and "late by …, " where that was after `due`."""
    if not submission.time:
        return "–", ""
    when = datetime.fromtimestamp(submission.time, due.tzinfo if due else None)
    late = due is not None and when > due
    by = timedelta(minutes=(when - due) // timedelta(minutes=1)) if late else ""
    return f"{when:%Y-%m-%d %H:%M}", f"late by {str(by)[:-3]} h; " if late else ""


# ---------------------------------------------------------------- storing marks


def keep(
    homework: Homework,
    submission: Submission,
    marks: list[marking.Mark],
    classroom: Path,
    record: Callable,
) -> list[marking.Mark]:
    """Store one student's marks, page and notebook; the marks as they count, with those by hand.

    What can't be stored is said, and stops no other student.
    """
    place = Path(submission.student) / homework.name / homework.name
    try:
        marks = record(homework, submission, marks)
        for step, suffix, text in (
            ("autograded", ".ipynb", graded_notebook(homework, submission, marks)),
            ("feedback", ".html", feedback_page(homework, submission, marks)),
        ):
            done = store(classroom / step / place.with_suffix(suffix), text, classroom)
            if "the one before" in done:
                print(done)
    except HomeworkError:
        raise  # about the whole class
    except Exception as error:
        said = f"not stored: {type(error).__name__}: {error}"
        print(f"{homework.name}  {submission.student}: {said}", flush=True)
        return [replace(mark, outcome=said) for mark in marks]
    return marks


if __name__ == "__main__":
    sys.exit(main())
