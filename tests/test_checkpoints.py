"""Every checkpoint of every lesson: the truth and its alternatives pass, each known mistake gets its own message."""

from pathlib import Path

import numpy as np
import pytest

from course_lib.check import load_exercises
from course_lib.tools.complaints import complaints

FILES = sorted((Path(__file__).parent.parent / "notebooks" / "checks").glob("[0-9][0-9]_*.py"))
EXERCISES = [pytest.param(e, id=f"{path.stem[:2]}.{e.name}") for path in FILES for e in load_exercises(path)]


@pytest.mark.parametrize("exercise", EXERCISES)
def test_right_answers_pass_and_each_mistake_is_named(exercise):
    for seed in range(3):
        assert complaints(exercise, np.random.default_rng(seed)) == []


@pytest.mark.parametrize("exercise", EXERCISES)
def test_it_knows_several_mistakes_and_several_right_forms(exercise):
    assert len(exercise.mistakes) >= 2 and len(exercise.alternatives) >= 1
    assert len({m.message for m in exercise.mistakes}) == len(exercise.mistakes)
