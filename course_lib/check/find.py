"""Which exercise is meant by "02.name" or "hw02.name"?

Public names: those of __all__.
"""

import difflib
import importlib.util
import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.check.exercise import CheckResult, Exercise

__all__ = ["check", "find_exercise", "load_exercises", "PROJECT"]

PROJECT = Path(__file__).resolve().parents[2]


def check(key: str, answer: Any) -> CheckResult:
    """Check `answer` to the exercise `key` on its open cases.

    key: "02.name" in a lesson, "hw02.name" in homework; ValueError if there is no such exercise.
    Gives no marks: `course.py homework grade` does.
    """
    if os.environ.get("NBGRADER_EXECUTION") == "autograde":
        # else nbgrader would take "no error" for full marks
        cure = "run `python3 course.py homework grade`"
        raise RuntimeError(f"nbgrader can't mark this homework: {cure}")
    return find_exercise(key).judge(answer, np.random.default_rng(0))


def find_exercise(key: str) -> Exercise:
    """The exercise called `key`; ValueError names the nearest ones if there is none."""
    unit, _, name = key.partition(".")
    exercises = {e.name: e for e in load_exercises(_exercise_file(unit, key))}
    if name not in exercises:
        near = difflib.get_close_matches(name, exercises, n=3, cutoff=0.3) or sorted(exercises)
        keys = " or ".join(repr(f"{unit}.{name}") for name in near)
        raise ValueError(f"key = {key!r}: no such exercise; did you mean {keys}?")
    return exercises[name]


def _exercise_file(unit, key):
    notebooks = PROJECT / "notebooks"
    if re.fullmatch(r"(hw)?\d\d", unit):
        homework = unit.startswith("hw")
        pattern = f"homework/{unit}_*/judge.py" if homework else f"checks/{unit}_*.py"
        found = sorted(notebooks.glob(pattern))
        if found:
            return found[0]
    known = sorted(path.name[:2] for path in notebooks.glob("checks/[0-9][0-9]_*.py"))
    known += sorted(p.parent.name[:4] for p in notebooks.glob("homework/hw[0-9][0-9]_*/judge.py"))
    units = ", ".join(known) or "no file yet"
    raise ValueError(f"key = {key!r}: expected 'NN.name' or 'hwNN.name' with one of {units}")


def load_exercises(path: Path) -> list[Exercise]:
    """The EXERCISES of a file, read afresh. ValueError if names repeat or there are none."""
    spec = importlib.util.spec_from_file_location(f"exercises_{path.parent.name}_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    exercises = list(getattr(module, "EXERCISES", ()))
    names = [e.name for e in exercises]
    if not names or len(set(names)) < len(names):
        expected = "EXERCISES should list exercises with different names"
        raise ValueError(f"{path.name}: {expected}, got {names}")
    return exercises
