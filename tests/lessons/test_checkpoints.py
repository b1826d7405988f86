"""Every checkpoint: right answers pass, each mistake gets its message, odd ones a sentence."""

import numpy as np
import pytest
from support.complaints import complaints, errors_of_nothing, odd_answers_taken

from course_lib.check import PROJECT, load_exercises

FILES = sorted((PROJECT / "notebooks" / "checks").glob("[0-9][0-9]_*.py"))
EXERCISES = [
    pytest.param(e, id=f"{path.stem[:2]}.{e.name}") for path in FILES for e in load_exercises(path)
]


@pytest.mark.parametrize("exercise", EXERCISES)
def test_a_checkpoint_keeps_its_promises(exercise):
    assert len(exercise.mistakes) >= 2 and len(exercise.alternatives) >= 1
    assert len({m.message for m in exercise.mistakes}) == len(exercise.mistakes)
    for seed in range(3):
        assert complaints(exercise, np.random.default_rng(seed)) == []
    assert odd_answers_taken(exercise, np.random.default_rng(0)) == []
    assert errors_of_nothing(exercise, np.random.default_rng(0)) == []
