"""Does an exercise keep its promises?  For tests of checkpoints and homework."""

import copy

import numpy as np

from course_lib.check import Exercise


def complaints(exercise: Exercise, rng: np.random.Generator) -> list[str]:
    """What is wrong with an exercise: the truth or an alternative that fails, a mistake that does not
    fail with its own message. Empty if all is well."""
    found = []
    state = copy.deepcopy(rng)
    for label, answer in [
        ("the truth", exercise.truth),
        *((f"alternative {i}", a) for i, a in enumerate(exercise.alternatives)),
    ]:
        result = exercise.judge(answer, copy.deepcopy(state))
        if not result.passed:
            found.append(f"{exercise.name}: {label} fails: {result.message}")
    for i, mistake in enumerate(exercise.mistakes):
        result = exercise.judge(mistake.answer, copy.deepcopy(state))
        if result.passed:
            found.append(f"{exercise.name}: mistake {i} passes ({mistake.message})")
        elif not result.message.endswith(mistake.message):
            found.append(f"{exercise.name}: mistake {i} gets another message: {result.message}")
    return found
