"""The judges of the homework, as the tests of their truths need them."""

import importlib.util
from types import ModuleType

from course_lib.check import PROJECT, Exercise


def judge_of(name: str) -> tuple[ModuleType, dict[str, Exercise]]:
    """The judge of a homework ("hw02_dh") as a module, and its exercises by their names."""
    path = PROJECT / "notebooks" / "homework" / name / "judge.py"
    spec = importlib.util.spec_from_file_location(f"judge_of_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, {exercise.name: exercise for exercise in module.EXERCISES}
