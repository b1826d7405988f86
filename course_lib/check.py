"""Checkpoints: is this answer right, and if not, why not?

    check("02.dh_matrix", dh_matrix)        # a checkpoint of lesson 02
    check("hw02.dh_matrix", dh_matrix)      # an exercise of homework 02

How to write an exercise. Lessons keep theirs in notebooks/checks/NN_topic.py, homework in
notebooks/homework/hwNN_topic/judge.py; both are Python files with one list:

    def cases(rng):                         # argument tuples, the smallest telling case first
        return [(1.0, 0.0), (0.0, 2.0), tuple(rng.uniform(-1, 1, 2))]

    EXERCISES = [
        Exercise(
            "reach", points=2, cases=cases, truth=np.hypot,
            mistakes=[Mistake(lambda x, y: x + y, "You added the sides; they meet at a right angle.")],
            alternatives=[lambda x, y: abs(complex(x, y))],
        ),
        Exercise("axes", truth=6),          # no cases: the answer is a value, not a function
    ]

`truth` gives the right answer (a function, or the value itself). `compare(answer, expected, args)`
returns None, or in words what is wrong; `close(tol)` is the usual one. Where several answers are
right, write a `compare` that judges the work, and compares it with `expected`, not its form.
A `Mistake` is a real misconception: a wrong answer and what to tell who gives it. It is shown when
the learner's answers equal it in every case. `diagnose(answer, expected, args)` returns a sentence
(or None) for what no single wrong answer can stand for. `alternatives` are right answers written in
other ways. Tests run all of these through `course_lib.tools.complaints`.

Public names: check, CheckResult, Exercise, Mistake, close, load_exercises, find_exercise,
plain, show, message_html, AnswerFailed.
"""

import copy
import difflib
import html
import importlib.util
import inspect
import os
import re
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any

import numpy as np

PROJECT = Path(__file__).resolve().parent.parent


class AnswerFailed(Exception):
    """The learner's function gave no usable value; the text continues "your function …".

    `lost` is true when asking again makes no sense (too slow, process died); `kind` is the name of the
    learner's exception, if there was one.
    """

    def __init__(self, message: str, *, lost: bool = False, kind: str = ""):
        super().__init__(message)
        self.lost, self.kind = lost, kind


class NotAnswered(Exception):
    """The place for the answer is still empty."""


# ---------------------------------------------------------------- comparing


def close(tol: float = 1e-9) -> Callable[[Any, Any, tuple], str | None]:
    """A `compare` for numbers, arrays, words and nests of them; `tol` is absolute and relative."""

    def compare(answer, expected, args=()):
        return _difference(answer, expected, tol)

    return compare


def _difference(answer, expected, tol):
    """None if `answer` equals `expected`, else the difference in words."""
    if isinstance(expected, str):
        if not isinstance(answer, str):
            return f"Expected a word, got {_kind(answer)}."
        return (
            None
            if answer.strip().casefold() == expected.strip().casefold()
            else f"It is not {show(answer)}."
        )
    if isinstance(expected, bool | np.bool_):
        if not isinstance(answer, bool | np.bool_):
            return f"Expected True or False, got {_kind(answer)}."
        return None if bool(answer) == bool(expected) else f"It is not {bool(answer)}."
    if isinstance(expected, dict):
        return _dict_difference(answer, expected, tol)
    numbers = _numbers(expected)
    return (
        _sequence_difference(answer, expected, tol)
        if numbers is None
        else _array_difference(answer, numbers, tol)
    )


def _dict_difference(answer, expected, tol):
    if not isinstance(answer, dict):
        return f"Expected a dict, got {_kind(answer)}."
    if set(answer) != set(expected):
        return f"Expected the keys {sorted(expected)}, got {sorted(map(str, answer))}."
    return _first_difference(
        ((f"Under {key!r}", answer[key], expected[key]) for key in expected), tol
    )


def _sequence_difference(answer, expected, tol):
    if not isinstance(answer, list | tuple | np.ndarray):
        return f"Expected a list of {len(expected)}, got {_kind(answer)}."
    if len(answer) != len(expected):
        return f"Expected {len(expected)} entries, got {len(answer)}."
    return _first_difference(
        ((f"Entry {i}", a, e) for i, (a, e) in enumerate(zip(answer, expected), 1)), tol
    )


def _first_difference(triples, tol):
    for where, answer, expected in triples:
        reason = _difference(answer, expected, tol)
        if reason:
            return f"{where}: {reason}"
    return None


def _array_difference(answer, expected, tol):
    numbers = _numbers(answer)
    if numbers is None:
        return f"Expected {_kind(expected)}, got {_kind(answer)}."
    if numbers.shape != expected.shape:
        return f"Expected {_kind(expected)}, got {_kind(numbers)}."
    if numbers.dtype.kind != "c" and expected.dtype.kind != "c":
        numbers, expected = numbers.astype(float), expected.astype(float)
    with np.errstate(invalid="ignore"):
        off = ~np.isclose(numbers, expected, rtol=tol, atol=tol, equal_nan=True)
        largest = np.max(np.abs(numbers - expected), initial=0.0, where=off)
    if not off.any():
        return None
    if numbers.ndim == 0:
        return f"It is off by {largest:.4g}."
    return f"{off.sum()} of {off.size} numbers are wrong, the worst by {largest:.4g}{_where(off)}."


def _where(off):
    """Where the wrong numbers sit, for vectors and matrices."""
    if off.ndim == 1:
        return f" (entries {_list(np.flatnonzero(off))}, counted from 0)"
    if off.ndim == 2:
        rows, columns = (
            _list(np.flatnonzero(off.any(axis=1))),
            _list(np.flatnonzero(off.any(axis=0))),
        )
        return f" (rows {rows}; columns {columns}; counted from 0)"
    return ""


def _list(indices):
    return ", ".join([*map(str, indices[:6]), *["…"] * (len(indices) > 6)])


def _numbers(value):
    """`value` as a numeric array, or None if it is not one (words, ragged rows, objects)."""
    if isinstance(value, str | bytes | dict) or value is None:
        return None
    try:
        array = np.asarray(value)
    except (ValueError, TypeError):
        return None
    return array if array.dtype.kind in "iufcb" else None


def _kind(value) -> str:
    """What a value is, in words: "a 4×4 array", "a number", "a word"."""
    if value is None:
        return "None"
    if isinstance(value, str):
        return f"the text {show(value)}"
    if isinstance(value, dict):
        return "a dict"
    array = _numbers(value)
    if array is None:
        return f"{'an' if type(value).__name__[0] in 'aeiou' else 'a'} {type(value).__name__}"
    if array.ndim == 0:
        return "True or False" if array.dtype.kind == "b" else "a number"
    if array.ndim == 1:
        return f"an array of {array.size} numbers"
    return f"a {'×'.join(map(str, array.shape))} array"


# ---------------------------------------------------------------- plain data


def plain(value):
    """A copy of `value` as plain data: numbers, words, lists, dicts and numeric arrays.

    Objects that know their numbers (SymPy matrices, anything with `__array__`) become arrays.
    Raises AnswerFailed for everything else: a mark is given for data, not for objects.
    """
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | complex | str):
        return value
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if type(value).__module__.startswith("spatialmath"):
        raise AnswerFailed(
            f"returned a spatialmath {type(value).__name__}. Its `.A` is the array that is asked"
            " for."
        )
    if hasattr(value, "__array__"):
        return _plain_array(value)
    if hasattr(value, "__float__"):
        return float(value)
    raise AnswerFailed(f"returned {_kind(value)}, which is no number, array, text, list or dict.")


def _plain_array(value):
    array = np.array(value)
    if array.dtype.kind == "U":
        return array.tolist()
    if array.dtype.kind not in "iufcb":
        try:
            array = array.astype(float)
        except (TypeError, ValueError):
            raise AnswerFailed(
                "returned an array that holds something else than numbers."
            ) from None
    return array


def show(value, lines: int = 6) -> str:
    """`value` in a few short lines, numbers rounded, the same on every machine."""
    if isinstance(value, str):
        return repr(value if len(value) <= 60 else value[:57] + "…")
    if isinstance(value, list | tuple) and any(isinstance(v, np.ndarray) for v in value):
        return "\nand\n".join(show(v, lines) for v in value[:3]) + "\n…" * (len(value) > 3)
    array = _numbers(value)
    if array is None:
        text = repr(value)
    elif array.ndim == 0:
        text = (
            str(array.item()) if array.dtype.kind == "b" else f"{array.item() + 0:.5g}"
        )  # + 0 turns -0.0 into 0.0
    else:
        array = array if array.dtype.kind in "bi" else np.round(array, 4) + 0.0
        text = np.array2string(
            array, precision=4, suppress_small=True, threshold=60, separator=", ", max_line_width=88
        )
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", text)
    rows = text.splitlines() or [""]
    rows = rows if len(rows) <= lines else rows[:lines] + ["…"]
    return "\n".join(row if len(row) <= 100 else row[:97] + "…" for row in rows)


# ---------------------------------------------------------------- exercises


@dataclass(frozen=True, eq=False)
class Mistake:
    """A misconception: a wrong answer (function or value, as in `truth`) and what to tell who has it."""

    answer: Any
    message: str


@dataclass(frozen=True, eq=False)
class Exercise:
    """One question. See the head of this module for how to write one.

    name: the name the learner gives the answer; cases: rng -> argument tuples (None: a value);
    seconds: time limit of one call [s].
    """

    name: str
    _: KW_ONLY
    truth: Any
    cases: Callable[[np.random.Generator], Sequence[tuple]] | None = None
    points: int = 1
    compare: Callable[[Any, Any, tuple], str | None] = close(1e-9)
    mistakes: Sequence[Mistake] = ()
    diagnose: Callable[[Any, Any, tuple], str | None] | None = None
    alternatives: Sequence[Any] = ()
    seconds: float = 5.0

    def judge(self, answer, rng: np.random.Generator) -> "CheckResult":
        """Judge `answer` (a function, or a value where there are no cases) on the cases drawn from `rng`."""
        if is_empty(answer):
            return CheckResult(self.name, False, NOT_YET, answered=False)
        if self.cases is not None and not callable(answer):
            return CheckResult(
                self.name, False, f"{self.name} should be a function; it is {_kind(answer)}."
            )
        if self.cases is None and inspect.isroutine(answer):
            return CheckResult(
                self.name, False, f"{self.name} should be a value; it is a function. Call it?"
            )
        return _verdict(self, answer, [()] if self.cases is None else list(self.cases(rng)))


@dataclass(frozen=True)
class CheckResult:
    """What became of an answer: `passed`, and `message` in words. Shows itself in a notebook.

    `hint` is the part of the message that shows no case; `failure` is set where a call gave no value.
    """

    name: str
    passed: bool
    message: str
    answered: bool = True
    hint: str = ""
    failure: AnswerFailed | None = None

    def __repr__(self):
        return f"{self.name}: {self._word()}\n{self.message}"

    def _word(self):
        return "right" if self.passed else "not yet right" if self.answered else "open"

    def _repr_html_(self):
        mark, colour = (
            ("✓", "#009e73")
            if self.passed
            else ("✗", "#d55e00")
            if self.answered
            else ("…", "#7f7f7f")
        )
        head = (
            f"<b><span style='color:{colour}'>{mark}</span> {html.escape(self.name)}:"
            f" {self._word()}</b>"
        )
        body = f"<div style='white-space:pre-wrap'>{message_html(self.message)}</div>"
        return f"<div style='border-left:4px solid {colour};padding:.3em .8em'>{head}{body}</div>"


def message_html(message: str) -> str:
    """A message as HTML, with its matrices in even columns; everything in it is escaped."""
    block = (  # the newlines around it are those of the element
        r"(?m)\n?(^ *\[.*(?:\n(?:[ \[]|…$).*)*)\n?"
    )
    return re.sub(block, r"<pre style='margin:0'>\1</pre>", html.escape(message))


NOT_YET = "Not answered yet. Fill it in, run the cell, and come back here."


def is_empty(answer) -> bool:
    """True for None, `...`, and a function that does nothing but return one of them."""
    import dis

    if answer is None or answer is ...:
        return True
    code = getattr(answer, "__code__", None)
    if not inspect.iscode(code) or not set(map(repr, code.co_consts)) <= {
        "None",
        "Ellipsis",
        repr(answer.__doc__),
    }:
        return False
    return {step.opname for step in dis.get_instructions(code)} <= {
        "RESUME",
        "NOP",
        "LOAD_CONST",
        "RETURN_VALUE",
        "RETURN_CONST",
    }


def _verdict(exercise, answer, cases):
    """Run all cases, then say the most helpful true thing about the failures."""
    rows = []  # (args, expected, returned, reason)
    for args in cases:
        expected = _truth(exercise.truth, args)
        try:
            returned = _call(exercise, answer, args)
        except NotAnswered:
            return CheckResult(exercise.name, False, NOT_YET, answered=False)
        except AnswerFailed as failure:
            rows.append((args, expected, failure, str(failure)))
            if failure.lost:
                break
            continue
        rows.append((args, expected, returned, _reason(exercise, returned, expected, args)))
    wrong = [row for row in rows if row[3] is not None]
    if not wrong:
        return CheckResult(exercise.name, True, _praise(len(rows), exercise))
    args, expected, returned, reason = wrong[0]
    failure = returned if isinstance(returned, AnswerFailed) else None
    hint = next((m.message for m in exercise.mistakes if _explains(exercise, m, rows)), "")
    why = hint or ("" if failure else _diagnosis(exercise, returned, expected, args) or reason)
    return CheckResult(
        exercise.name,
        False,
        f"{_happened(exercise, wrong[0])}\n{why}".strip(),
        hint=hint,
        failure=failure,
    )


def _reason(exercise, returned, expected, args):
    """What `compare` says; None and NaN never reach it, since every comparison with NaN is false."""
    if returned is None and expected is not None:
        return "It is None. Is a `return` missing?"
    if _has_nan(returned) and not _has_nan(expected):
        return (
            "There is a NaN in it: a 0/0, or a square root or arccos of a number outside its range?"
        )
    return _compare(exercise, returned, expected, args)


def _compare(exercise, returned, expected, args):
    """`exercise.compare`, for answers of whatever kind: one that it can't read is wrong."""
    try:
        return exercise.compare(returned, expected, args)
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError):
        return (
            f"It can't be compared with the right answer: expected {_kind(expected)}, got"
            f" {_kind(returned)}."
        )


def _has_nan(value):
    if isinstance(value, dict):
        return any(map(_has_nan, value.values()))
    numbers = _numbers(value)
    if numbers is None:
        return isinstance(value, list | tuple) and any(map(_has_nan, value))
    return bool(np.isnan(numbers).any())


def _truth(truth, args):
    with np.errstate(all="ignore"):  # a mistake may well divide by zero
        return plain(truth(*copy.deepcopy(args))) if callable(truth) else plain(truth)


def _call(exercise, answer, args):
    """The learner's answer to one case as plain data; AnswerFailed says why there is none."""
    if exercise.cases is None:
        return plain(answer() if callable(answer) else answer)
    start = time.monotonic()
    try:
        returned = answer(*copy.deepcopy(args))
    except AnswerFailed:
        raise
    except NotImplementedError:
        raise NotAnswered from None
    except (Exception, SystemExit) as error:
        raise AnswerFailed(describe_error(error), kind=type(error).__name__) from None
    if time.monotonic() - start > exercise.seconds:
        raise AnswerFailed(
            f"took longer than {exercise.seconds:g} s. Does a loop never end?", lost=True
        )
    if returned is ...:
        raise NotAnswered
    return plain(returned)


def describe_error(error: BaseException) -> str:
    """What stopped the learner's code: the error's type, its text and, where known, the line."""
    text = " ".join(str(error).split())
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", text if len(text) <= 200 else text[:197] + "…")
    said = f"stopped with {type(error).__name__}" + (f": {text}" if text else "")
    line = _learner_line(error)
    return said + (f"\nat the line: {line}" if line else "")


def _learner_line(error):
    """The last line of the traceback that is neither ours nor a library's."""
    ours = (str(PROJECT / "course_lib"), sys.prefix, sys.base_prefix, "<frozen")
    frames = [
        f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(ours)
    ]
    return frames[-1].line if frames else None


def _happened(exercise, row):
    """What was asked and what came back, on the first case that went wrong."""
    args, _, returned, _ = row
    if exercise.cases is None:
        subject = f"Your {exercise.name}"
    else:
        subject = (
            f"For {_arguments(exercise.truth, args)}your " if args else "Your "
        ) + exercise.name
    if isinstance(returned, AnswerFailed):
        return f"{subject} {returned}"
    return f"{subject} {'is' if exercise.cases is None else 'returned'}{_indent(show(returned))}"


def _arguments(function, args):
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        names = []
    names += [f"argument {i + 1}" for i in range(len(names), len(args))]
    parts = [f"{name} ={_indent(show(value, lines=4))}" for name, value in zip(names, args)]
    end = "\n" if any("\n" in part for part in parts) else ", "
    return end.join([*parts, ""])


def _indent(text):
    return ("\n" if "\n" in text else " ") + text


def _diagnosis(exercise, returned, expected, args):
    try:
        return exercise.diagnose(returned, expected, args) if exercise.diagnose else None
    except (
        TypeError,
        ValueError,
        LookupError,
        AttributeError,
        ArithmeticError,
    ):  # an answer of another kind
        return None


def _explains(exercise, mistake, rows):
    """True if the answers equal the mistake's in every case, and the mistake is wrong in one of them."""
    telling = False
    for args, expected, returned, reason in rows:
        if isinstance(returned, AnswerFailed):
            continue
        wrong = _truth(mistake.answer, args)
        if reason is None and _compare(exercise, wrong, expected, args) is None:
            continue
        if reason is None or _compare(exercise, returned, wrong, args) is not None:
            return False
        telling = True
    return telling


def _praise(count, exercise):
    return "Your answer is right." if exercise.cases is None else f"All {count} cases agree."


# ---------------------------------------------------------------- finding them


def check(key: str, answer) -> CheckResult:
    """Check `answer` to the exercise `key` ("02.name" in a lesson, "hw02.name" in homework) on its open cases.

    Raises ValueError for a key that does not exist. Gives no marks: `course.py homework grade` does.
    """
    if (
        os.environ.get("NBGRADER_EXECUTION") == "autograde"
    ):  # else nbgrader would take "no error" for full marks
        raise RuntimeError(
            "nbgrader can't mark this homework: run `python3 course.py homework grade`"
        )
    return find_exercise(key).judge(answer, np.random.default_rng(0))


def find_exercise(key: str) -> Exercise:
    """The exercise called `key`; ValueError names the nearest ones if there is none."""
    unit, _, name = key.partition(".")
    exercises = {e.name: e for e in load_exercises(_exercise_file(unit, key))}
    if name not in exercises:
        near = difflib.get_close_matches(name, exercises, n=3, cutoff=0.3) or sorted(exercises)
        raise ValueError(f"key = {key!r}: no such exercise; did you mean {_keys(unit, near)}?")
    return exercises[name]


def _keys(unit, names):
    return " or ".join(repr(f"{unit}.{name}") for name in names)


def _exercise_file(unit, key):
    notebooks = PROJECT / "notebooks"
    pattern, beside = (
        (f"homework/{unit}_*", "judge.py") if unit.startswith("hw") else (f"checks/{unit}_*.py", "")
    )
    found = sorted(notebooks.glob(pattern)) if re.fullmatch(r"(hw)?\d\d", unit) else []
    found = [path / beside if beside else path for path in found]
    if not found:
        known = sorted(p.name[:2] for p in notebooks.glob("checks/[0-9][0-9]_*.py"))
        known += sorted(
            p.parent.name[:4] for p in notebooks.glob("homework/hw[0-9][0-9]_*/judge.py")
        )
        raise ValueError(
            f"key = {key!r}: expected 'NN.name' or 'hwNN.name' with one of"
            f" {', '.join(known) or 'no file yet'}"
        )
    return found[0]


def load_exercises(path: Path) -> list[Exercise]:
    """The EXERCISES of an exercise file, read afresh. Raises ValueError if names repeat or none are there."""
    spec = importlib.util.spec_from_file_location(f"exercises_{path.parent.name}_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    exercises = list(getattr(module, "EXERCISES", ()))
    names = [e.name for e in exercises]
    if not names or len(set(names)) < len(names):
        raise ValueError(
            f"{path.name}: EXERCISES should list exercises with different names, got {names}"
        )
    return exercises
