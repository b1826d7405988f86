"""Does an exercise keep its promises?  For tests of checkpoints and homework."""

import copy
import functools
import pickle
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from course_lib.check import Exercise, Mistake

# What a learner might return by accident; right for no exercise.
ODD_ANSWERS = [
    [],
    [[1], [2, 3]],
    [None, None],
    {"a": 1},
    7.5,
    True,
    1j,
    "text",
    np.zeros((4, 4)),
    np.full((4, 4), np.nan),
    np.full((6, 4), np.inf),
    np.full((3, 4), 1.79e308),
    ("x", [1, 2]),
    ("xyz", 3),
    ("xxy", "rad"),
    ("elbow", "x"),
    ("elbow", [1, 2]),
    (1, [1, 2]),
    (1.0, "x"),
    (np.nan, np.full(3, np.nan)),
    (np.ones(3), np.ones(9)),
    [np.ones(3), np.ones(2)],
    (np.ones(3), np.ones(3), 1.0, "far"),
    [np.zeros((3, 4)), np.full((4, 4), np.nan)],
    "<robot/>",
    '<robot name="x"><joint name="j"><origin rpy="a b c"/></joint></robot>',
    '<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><robot>&b;</robot>',
    "<" * 300_000,
]
# What ruins an answer that holds numbers: `norm > tol` is false for NaN.
RUIN = [
    lambda x, n=n: np.full(np.shape(x), n) for n in (np.nan, np.inf, -np.inf, 1.79e308, -1.79e308)
]
# What makes it a little wrong, or leaves it right.
NEARLY = [np.float32, *(lambda x, e=e: np.asarray(x) + e for e in (1e-9, 1e-8, 1e-7, 1e-6, 1e-5))]
NO_ERROR = re.compile(r"(?<![\d.])0(\.0*)?( mm| m\b|°| rad)")


@np.errstate(all="ignore")  # a mistake may well divide by zero
def complaints(exercise: Exercise, rng: np.random.Generator) -> list[str]:
    """What is wrong with an exercise: the truth or an alternative that fails, a mistake that does
    not fail with its own message. Empty if all is well."""
    found = []
    exercise = solved_once(exercise, rng)
    right = [("the truth", exercise.truth)]
    right += [(f"alternative {i}", answer) for i, answer in enumerate(exercise.alternatives)]
    for label, answer in right:
        result = exercise.judge(answer, rng)
        if not result.passed:
            found.append(f"{exercise.name}: {label} fails: {result.message}")
    for i, mistake in enumerate(exercise.mistakes):
        result = exercise.judge(mistake.answer, rng)
        if result.passed:
            found.append(f"{exercise.name}: mistake {i} passes ({mistake.message})")
        elif not result.message.endswith(mistake.message):
            found.append(f"{exercise.name}: mistake {i} gets another message: {result.message}")
    return found


def odd_answers_taken(exercise: Exercise, rng: np.random.Generator) -> list[str]:
    """Odd answers, and right ones with ruined numbers, that pass or get no sentence."""
    exercise = solved_once(exercise, rng)
    odd = [always(exercise, answer) for answer in ODD_ANSWERS]
    odd += [changed(exercise, change) for change in RUIN] if has_numbers(exercise) else []
    results = [exercise.judge(answer, rng) for answer in odd]
    return [repr(result)[:300] for result in results if result.passed or len(result.message) <= 20]


def errors_of_nothing(exercise: Exercise, rng: np.random.Generator) -> list[str]:
    """Messages that call a nearly right answer wrong by 0.0 mm, or by 0 of another unit."""
    exercise = solved_once(exercise, rng)
    results = [exercise.judge(changed(exercise, change), rng) for change in NEARLY]
    told = [result.message for result in results if not result.passed]
    return [message for message in told if NO_ERROR.search(message.splitlines()[-1])]


def always(exercise: Exercise, answer: Any) -> Any:
    """What gives `answer` in every case: a function, or the value itself."""
    return answer if exercise.cases is None else lambda *args: answer


def solved_once(exercise: Exercise, rng: np.random.Generator) -> Exercise:
    """The exercise with the cases of `rng`, its answers to them found once and remembered."""
    if exercise.cases is None:
        return exercise
    cases = exercise.cases(copy.deepcopy(rng))
    return replace(
        exercise,
        cases=lambda rng: cases,
        truth=remembered(exercise.truth),
        alternatives=[remembered(answer) for answer in exercise.alternatives],
        mistakes=[Mistake(remembered(m.answer), m.message) for m in exercise.mistakes],
    )


def remembered(function: Callable) -> Callable:
    """The function, which works out each answer once."""
    found = {}

    @functools.wraps(function)
    def answer(*args):
        key = pickle.dumps(args)
        if key not in found:
            found[key] = function(*args)
        return copy.deepcopy(found[key])

    return answer


def has_numbers(exercise: Exercise) -> bool:
    """Does the truth of the first case hold a float?"""
    truth = exercise.truth
    return _count(truth(*exercise.cases(None)[0]) if exercise.cases else truth) > 0


def _count(value):
    if isinstance(value, list | tuple):
        return sum(map(_count, value))
    return int(np.asarray(value).dtype.kind == "f")


def changed(exercise: Exercise, change: Callable) -> Any:
    """The truth with all its floats changed."""

    def made(value):
        if isinstance(value, list | tuple):
            return [made(part) for part in value]
        return change(value) if _count(value) else value

    truth = exercise.truth
    return (lambda *args: made(truth(*args))) if callable(truth) else made(truth)
