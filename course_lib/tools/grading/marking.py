"""What is this submission worth?  The judge asks, the learner's process answers, the judge decides.

An exercise is first judged on the open cases, which the learner has seen too, then on hidden ones
drawn from the class's secret and the name of the student's folder. A pass rests on returned data
alone, so it is fair in whatever process it happens. A failure may be no fault of the answer: a
later cell may reuse a name, another exercise may patch a library. So a failed exercise is judged
again in a fresh process, with the cells up to its check, as the learner saw it, but without the
others' solutions; where it misses something, with them. What one of them finds right is right.

Public names: `Homework`, `load_homework`, `Submission`, `read_submission`, `Mark`, `mark`,
`hidden_rng`, `HomeworkError`.
"""

import builtins
import hmac
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from course_lib.check import AnswerFailed, CheckResult, Exercise, load_exercises
from course_lib.tools.grading.learner_process import Cell, Learner, Limits, remote, value_of

NOT_GRADED = "not-graded"  # tag of a source cell that only draws or prints
LARGEST = 20_000_000  # of a submitted file [bytes]


class HomeworkError(Exception):
    """Something the instructor must put right; the text says what and how."""


@dataclass(frozen=True, eq=False)
class Homework:
    """A homework: its name ("hw02_dh"), folder, exercises, and source notebook as a dict."""

    name: str
    folder: Path
    exercises: list[Exercise]
    notebook: dict

    @property
    def points(self):
        """Marks for a perfect submission."""
        return sum(e.points for e in self.exercises)

    @property
    def title(self):
        """The first heading of the notebook."""
        lines = (line for cell in self.notebook["cells"] for line in source_of(cell).splitlines())
        return next((line[2:].strip() for line in lines if line.startswith("# ")), self.name)


def load_homework(folder: Path) -> Homework:
    """Read a homework's folder. Raises ValueError where judge and notebook do not fit together."""
    exercises = load_exercises(folder / "judge.py")
    notebook = json.loads((folder / f"{folder.name}.ipynb").read_text(encoding="utf-8"))
    for cell in notebook["cells"]:  # one form, whoever saved the file
        cell["source"] = source_of(cell)
    known = [cell for cell in notebook["cells"] if grade_id(cell)]
    cells = {grade_id(cell): cell["metadata"]["nbgrader"] for cell in known}
    for exercise in exercises:
        points = cells.get(check_id(exercise.name), {}).get("points")
        if not cells.get(exercise.name, {}).get("solution") or points != exercise.points:
            raise ValueError(
                f"{folder.name}: expected a solution cell {exercise.name!r} and a test cell "
                f"{check_id(exercise.name)!r} with {exercise.points} points, got {points}"
            )
    return Homework(folder.name, folder, exercises, notebook)


def check_id(exercise_name: str) -> str:
    """The nbgrader id of the cell that carries an exercise's points."""
    return f"check_{exercise_name}"


def grade_id(cell: dict) -> str:
    """A cell's nbgrader id, "" if it has none (or nonsense in its place)."""
    found = cell
    for key in ("metadata", "nbgrader", "grade_id"):
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, str) else ""


def source_of(cell: dict) -> str:
    """A cell's text, which notebooks store as a string or as a list of lines."""
    source = cell.get("source")
    if isinstance(source, list):
        return "".join(map(str, source))
    return source if isinstance(source, str) else ""


# ---------------------------------------------------------------- reading a submission


@dataclass(frozen=True)
class Submission:
    """What a student handed in: code cells, or the `problem` that keeps them from being read.

    time: of the file's last change [s since 1970].
    """

    student: str
    cells: Sequence[Cell] = ()
    problem: str = ""
    time: float = 0.0


def read_submission(folder: Path, student: str, homework: Homework) -> Submission:
    """Read a student's notebook; never raises for what is in it."""
    path = folder / f"{homework.name}.ipynb"
    try:
        if path.is_dir() or path.is_symlink() and not path.exists():
            said = "is a folder" if path.is_dir() else "is a link to nothing"
            return Submission(student, problem=f"{path.name} {said}, expected the notebook's file")
        if not path.is_file():
            return Submission(student, problem=f"there is no {path.name}; {_instead(folder)}")
        changed, size = path.stat().st_mtime, path.stat().st_size
        if size > LARGEST:
            return Submission(student, problem=f"{path.name} is larger than {LARGEST // 10**6} MB")
        cells = _code_cells(json.loads(path.read_bytes())["cells"], homework)
        return Submission(student, cells, "" if cells else f"{path.name} holds no code", changed)
    except (OSError, ValueError, RecursionError):
        problem = f"{path.name} can't be read: it is no notebook (not JSON)"
    except (KeyError, TypeError, AttributeError):
        problem = f"{path.name} is no notebook that we know: open it in JupyterLab and save it"
    return Submission(student, problem=problem)


def _instead(folder):
    """What a folder holds in place of the notebook that was expected."""
    others = sorted(path.name for path in folder.glob("*.ipynb"))
    if not others:
        return "the folder holds no notebook"
    return f"found {', '.join(others[:3])}: rename it and grade again"


def _code_cells(cells, homework):
    """The code cells in order, each with its role. Cells of ours that only draw are left out."""
    names = {e.name for e in homework.exercises}
    checks = {check_id(name): name for name in names}
    ours = homework.notebook["cells"]
    drawings = {grade_id(c) for c in ours if NOT_GRADED in c["metadata"].get("tags", ())}
    found = []
    for i, cell in enumerate((c for c in cells if c["cell_type"] == "code"), 1):
        known, source = grade_id(cell), source_of(cell)
        if not source.strip() or known in drawings:
            continue
        if known in names:
            found.append(Cell(f"cell {known}", source, solves=known))
        else:
            found.append(Cell(f"code cell {i}", source, answers=checks.get(known, "")))
    return found


# ---------------------------------------------------------------- marking it


@dataclass(frozen=True)
class Mark:
    """The marks of one exercise, the message for the learner, and in a few words what happened."""

    exercise: str
    points: float
    of: float
    message: str
    outcome: str


def hidden_rng(secret: bytes, student: str, homework: str, exercise: str) -> np.random.Generator:
    """The generator of a student's hidden cases."""
    name = "\n".join((student, homework, exercise)).encode(errors="surrogateescape")
    digest = hmac.digest(secret, name, "sha256")
    return np.random.default_rng(int.from_bytes(digest, "big"))


def mark(
    submission: Submission,
    exercises: Sequence[Exercise],
    rng_of: Callable[[str], np.random.Generator],
    limits: Limits = Limits(),
) -> list[Mark]:
    """Mark every exercise. `rng_of(name)` gives the generator of an exercise's hidden cases."""
    if submission.problem:
        message = f"Not graded: {submission.problem}."
        return [Mark(e.name, 0, e.points, message, "not readable") for e in exercises]
    with Learner(submission.cells, limits) as everything:
        return [_mark_one(everything, exercise, exercises, rng_of) for exercise in exercises]


def _mark_one(everything, exercise, exercises, rng_of):
    first, cells = _judge(everything, exercise, rng_of), everything.cells
    if first.outcome == "right":
        return first
    checks = [i for i, cell in enumerate(cells) if cell.answers == exercise.name]
    seen = cells[: checks[-1] + 1] if checks else cells
    if first.outcome == "not answered" and not _named(exercise.name, cells[len(seen) :]):
        return first
    others = {e.name for e in exercises} - {exercise.name}
    for view in ([cell for cell in seen if cell.solves not in others], seen):
        with Learner(view, everything.limits, everything.end) as again:
            second = _judge(again, exercise, rng_of)
        if second.outcome == "right":
            return second
        if second.outcome not in ("error", "missing", "cell failed"):
            break  # it was there and ran: no more to be had from the others' solutions
    return first


def _named(name, cells):
    return any(name in cell.source for cell in cells if not cell.answers)


def _judge(learner, exercise, rng_of) -> Mark:
    """Judge one exercise in one process: on the open cases, then on the hidden ones."""
    try:
        answer, problem = _answer(learner, exercise)
        if problem:
            return Mark(exercise.name, 0, exercise.points, *problem)
        result, hidden = exercise.judge(answer, np.random.default_rng(0)), False
        if result.passed and exercise.cases is not None:
            result, hidden = exercise.judge(answer, rng_of(exercise.name)), True
    except Exception as error:  # never stop a class: say it, and let the instructor look
        kind = type(error).__name__
        message = f"Not graded: the grader failed ({kind}). Your instructor has been told."
        outcome = f"grader failed: {kind}: {error}"[:200]
        return Mark(exercise.name, 0, exercise.points, message, outcome)
    if result.passed:
        return Mark(exercise.name, exercise.points, exercise.points, "Right.", "right")
    shown = result.message if result.answered else "Not answered."
    message = (_hidden_message(result) if hidden else shown) + _stopped(learner, exercise.name)
    return Mark(exercise.name, 0, exercise.points, message, _outcome(result))


def _answer(learner, exercise):
    """What `exercise.judge` takes: a function, a value or None; or (None, (message, outcome))."""
    name = exercise.name
    try:
        kind = learner.ask({"op": "kind", "name": name}, learner.limits.call).get("kind")
        if kind == "missing":
            return None, _missing(learner, name)
        if kind == "function":
            return remote(learner, name, exercise.seconds), None
        if kind == "value":
            return value_of(learner.ask({"op": "value", "name": name}, exercise.seconds)), None
    except AnswerFailed as failure:
        return None, (f"Your {name} {failure}", failure.kind if failure.lost else "error")
    return None, None


def _stopped(learner, name):
    """Which cell of the learner's own did not come to its end: what needs it can't be right."""
    for i, error in learner.errors.items():
        if learner.cells[i].solves in ("", name):
            return f"\nBefore that, {learner.cells[i].name} {error}"
    return ""


def _missing(learner, name):
    """Why a name is not there: its own cell failed, or is gone."""
    own = [i for i, cell in enumerate(learner.cells) if cell.solves == name]
    failed = [i for i in own if i in learner.errors] or sorted(learner.errors)
    if failed:
        cell, error = learner.cells[failed[0]], learner.errors[failed[0]]
        return f"There is no {name}: {cell.name} {error}", "cell failed"
    return f"There is no {name} in the notebook. Was its cell deleted or renamed?", "missing"


def _hidden_message(result: CheckResult) -> str:
    """What may be told about a hidden case: the mistake or the kind of failure, never the case."""
    known = f"{result.name} passes the open cases, but not those of the grading."
    failure = result.failure
    if failure is None:
        hint = f"\n{result.hint}" if result.hint else " For some of them its answer is wrong."
        return known + hint
    if failure.lost:
        return f"{known} For one of them it {failure}"
    known_kind = isinstance(getattr(builtins, failure.kind, None), type)
    kind = failure.kind if known_kind else "an error"
    return f"{known} For one of them it stopped with {kind}."


def _outcome(result: CheckResult) -> str:
    if not result.answered:
        return "not answered"
    if result.failure is None:
        return "wrong"
    return result.failure.kind if result.failure.lost else "error"
