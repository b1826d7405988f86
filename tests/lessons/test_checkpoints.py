"""Every checkpoint of every lesson: the truth and its alternatives pass, each known mistake gets its own message."""

from pathlib import Path

import numpy as np
import pytest
from support.complaints import complaints

from course_lib.check import load_exercises

FILES = sorted(
    (Path(__file__).resolve().parents[2] / "notebooks" / "checks").glob("[0-9][0-9]_*.py")
)
EXERCISES = [
    pytest.param(e, id=f"{path.stem[:2]}.{e.name}") for path in FILES for e in load_exercises(path)
]


@pytest.mark.parametrize("exercise", EXERCISES)
def test_right_answers_pass_and_each_mistake_is_named(exercise):
    for seed in range(3):
        assert complaints(exercise, np.random.default_rng(seed)) == []


@pytest.mark.parametrize("exercise", EXERCISES)
def test_it_knows_several_mistakes_and_several_right_forms(exercise):
    assert len(exercise.mistakes) >= 2 and len(exercise.alternatives) >= 1
    assert len({m.message for m in exercise.mistakes}) == len(exercise.mistakes)


ODD = [
    [],
    "text",
    {"a": 1},
    [[1], [2, 3]],
    7.5,
    True,
    1j,
    [None, None],
    np.zeros((4, 4)),
    np.full((6, 4), np.inf),
    (np.nan, np.full(3, np.nan)),
    ("x", [1, 2]),
    (np.ones(3), np.ones(9)),
]


@pytest.mark.parametrize("exercise", EXERCISES)
@pytest.mark.parametrize("answer", ODD, ids=lambda answer: repr(answer)[:20])
def test_answers_of_any_kind_get_a_message_not_a_traceback(exercise, answer):
    result = exercise.judge(
        (lambda *args: answer) if exercise.cases else answer, np.random.default_rng(0)
    )
    assert not result.passed and len(result.message) > 20
