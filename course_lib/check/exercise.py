"""What came back from the learner, is it right, and if not, what is the most helpful thing to say?

`Exercise.judge` calls the answer on every case, turns what it returns into `plain` data, compares,
and says why the first wrong one is wrong. The head of the package shows how to write an exercise.

Public names: those of __all__.
"""

import copy
import dis
import html
import inspect
import re
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.check.compare import Compare, Unreadable, close, kind_of, numbers_in, show

__all__ = ["Exercise", "Mistake", "CheckResult", "AnswerFailed", "plain", "is_empty"]
__all__ += ["describe_error", "message_html", "NOT_YET"]

COURSE_LIB = Path(__file__).resolve().parents[1]


class AnswerFailed(Exception):
    """The learner's function gave no usable value; the text continues "your function …".

    lost: asking again makes no sense (too slow, process died); kind: the name of the learner's
    exception, if there was one.
    """

    def __init__(self, message: str, *, lost: bool = False, kind: str = ""):
        super().__init__(message)
        self.lost, self.kind = lost, kind


class NotAnswered(Exception):
    """The place for the answer is still empty."""


# what `compare` and `diagnose` raise for an answer of another kind
UNFIT = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError)


# ---------------------------------------------------------------- plain data


def plain(value: Any) -> Any:
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
        asked = "Its `.A` is the array that is asked for."
        raise AnswerFailed(f"returned a spatialmath {type(value).__name__}. {asked}")
    if hasattr(value, "as_matrix"):
        asked = "Its `.as_matrix()` is an array."
        raise AnswerFailed(f"returned a SciPy {type(value).__name__}. {asked}")
    if hasattr(value, "__array__"):
        return _plain_array(value)
    if hasattr(value, "__float__"):
        return float(value)
    raise AnswerFailed(f"returned {kind_of(value)}, which is no number, array, text, list or dict.")


def _plain_array(value):
    array = np.array(value)
    if array.dtype.kind == "U":
        return array.tolist()
    if array.dtype.kind not in "iufcb":
        try:
            array = array.astype(float)
        except (TypeError, ValueError):
            said = "returned an array that holds something else than numbers."
            raise AnswerFailed(said) from None
    return array


# ---------------------------------------------------------------- exercises


@dataclass(frozen=True, eq=False)
class Mistake:
    """A misconception: a wrong answer (as in `truth`) and what to tell who has it."""

    answer: Any
    message: str


@dataclass(frozen=True, eq=False)
class Exercise:
    """One question. See the head of the package for how to write one.

    name: the name the learner gives the answer; cases: rng -> argument tuples (None: a value);
    seconds: time limit of one call [s].
    """

    name: str
    _: KW_ONLY
    truth: Any
    cases: Callable[[np.random.Generator], Sequence[tuple]] | None = None
    points: int = 1
    compare: Compare = close(1e-9)
    mistakes: Sequence[Mistake] = ()
    diagnose: Compare | None = None
    alternatives: Sequence[Any] = ()
    seconds: float = 5.0

    def judge(self, answer: Any, rng: np.random.Generator) -> "CheckResult":
        """Judge `answer` (a function; a value where there are no cases) on cases from `rng`."""
        if is_empty(answer):
            return CheckResult(self.name, False, NOT_YET, answered=False)
        if self.cases is not None and not callable(answer):
            said = f"{self.name} should be a function; it is {kind_of(answer)}."
            return CheckResult(self.name, False, said)
        if self.cases is None and inspect.isroutine(answer):
            said = f"{self.name} should be a value; it is a function. Call it?"
            return CheckResult(self.name, False, said)
        return _verdict(self, answer, [()] if self.cases is None else list(self.cases(rng)))


@dataclass(frozen=True)
class CheckResult:
    """What became of an answer: `passed`, and `message` in words. Shows itself in a notebook.

    hint: the part of the message that shows no case; failure: set where a call gave no value.
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
        mark, colour = MARKS[self._word()]
        name = f"<span style='color:{colour}'>{mark}</span> {html.escape(self.name)}"
        body = f"<div style='white-space:pre-wrap'>{message_html(self.message)}</div>"
        return (
            f"<div style='border-left:4px solid {colour};padding:.3em .8em'>"
            f"<b>{name}: {self._word()}</b>{body}</div>"
        )


MARKS = {"right": ("✓", "#009e73"), "not yet right": ("✗", "#d55e00"), "open": ("…", "#7f7f7f")}
DOES_NOTHING = {"RESUME", "NOP", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST"}
FORGOTTEN = "It is None. Is a `return` missing?"
NOT_YET = "Not answered yet. Fill it in, run the cell, and come back here."


def message_html(message: str) -> str:
    """A message as HTML, with its matrices in even columns; everything in it is escaped."""
    # the newlines around a block are those of its element
    block = r"(?m)\n?(^ *\[.*(?:\n(?:[ \[]|…$).*)*)\n?"
    return re.sub(block, r"<pre style='margin:0'>\1</pre>", html.escape(message))


def is_empty(answer: Any) -> bool:
    """True for None, `...`, and a function that does nothing but return one of them."""
    if answer is None or answer is ...:
        return True
    code = getattr(answer, "__code__", None)
    nothing = {"None", "Ellipsis", repr(getattr(answer, "__doc__", None))}
    if not inspect.iscode(code) or not set(map(repr, code.co_consts)) <= nothing:
        return False
    return {step.opname for step in dis.get_instructions(code)} <= DOES_NOTHING


def _verdict(exercise, answer, cases):
    """Run all cases, then say the most helpful true thing about the failures."""
    rows = []  # (args, expected, returned, reason)
    truths = [_truth(exercise.truth, args) for args in cases]
    none_counts = any(truth is None for truth in truths)  # then None may be meant
    for args, expected in zip(cases, truths):
        try:
            returned = _call(exercise, answer, args)
        except NotAnswered:
            return CheckResult(exercise.name, False, NOT_YET, answered=False)
        except AnswerFailed as failure:
            rows.append((args, expected, failure, str(failure)))
            if failure.lost:
                break
            continue
        forgotten = returned is None and not none_counts
        reason = FORGOTTEN if forgotten else _reason(exercise, returned, expected, args)
        rows.append((args, expected, returned, reason))
    wrong = [row for row in rows if row[3] is not None]
    if not wrong:
        praise = f"All {len(rows)} cases agree." if exercise.cases else "Your answer is right."
        return CheckResult(exercise.name, True, praise)
    return _told(exercise, rows, wrong[0])


def _told(exercise, rows, row):
    """The result of a wrong answer: what happened in `row`, and why."""
    args, expected, returned, reason = row
    failure = returned if isinstance(returned, AnswerFailed) else None
    hint = next((m.message for m in exercise.mistakes if _explains(exercise, m, rows)), "")
    why = hint or ("" if failure else _diagnosis(exercise, returned, expected, args) or reason)
    said = f"{_happened(exercise, row)}\n{why}".strip()
    return CheckResult(exercise.name, False, said, hint=hint, failure=failure)


def _reason(exercise, returned, expected, args):
    """What `compare` says; what is not finite never reaches it."""
    if _holds(np.isnan, returned):
        where = "a 0/0, or a square root or arccos of a number outside its range"
        return f"There is a NaN in it: {where}?"
    if _holds(np.isinf, returned):
        return "There is an infinite number in it: a division by zero?"
    return _compare(exercise, returned, expected, args)


def _compare(exercise, returned, expected, args):
    """`exercise.compare`, for answers of whatever kind: one that it can't read is wrong."""
    try:
        with np.errstate(all="ignore"):  # an answer may be enormous
            return exercise.compare(returned, expected, args)
    except Unreadable as why:
        return str(why)
    except UNFIT:
        kinds = f"expected {kind_of(expected)}, got {kind_of(returned)}"
        return f"It can't be compared with the right answer: {kinds}."


def _holds(test, value):
    """True if a number anywhere in `value` fulfils `test`."""
    if isinstance(value, dict):
        value = list(value.values())
    numbers = numbers_in(value)
    if numbers is None:
        return isinstance(value, list | tuple) and any(_holds(test, v) for v in value)
    return bool(test(numbers).any())


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
        said = f"took longer than {exercise.seconds:g} s. Does a loop never end?"
        raise AnswerFailed(said, lost=True)
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
    ours = (str(COURSE_LIB), sys.prefix, sys.base_prefix, "<frozen")
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not frame.filename.startswith(ours)]
    return theirs[-1].line if theirs else None


def _happened(exercise, row):
    """What was asked and what came back, on the first case that went wrong."""
    args, _, returned, _ = row
    asked = f"For {_arguments(exercise.truth, args)}your" if args else "Your"
    verb = "is" if exercise.cases is None else "returned"
    said = returned if isinstance(returned, AnswerFailed) else f"{verb}{_indent(show(returned))}"
    return f"{asked} {exercise.name} {said}"


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
        with np.errstate(all="ignore"):
            return exercise.diagnose(returned, expected, args) if exercise.diagnose else None
    except UNFIT:  # an answer of another kind
        return None


def _explains(exercise, mistake, rows):
    """True if the answers equal the mistake's in every case, and it is wrong in one of them."""
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
