"""How long does a reader wait: for an import, for a lesson that runs?

(What the tests add to a lesson, each test run says at its end.)

Public names: `bench_import`, `bench_lesson`.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from course_lib.tools.bench.core import PROJECT, Row, Size, guarded, lessons, seconds_of

IMPORT = """import time
start = time.perf_counter()
import numpy
middle = time.perf_counter()
import {}
print(time.perf_counter() - middle, middle - start)"""
MOST_IMPORT, MOST_LESSON = 300, 30  # [ms], [s]


def bench_import(size: Size) -> Iterator[Row]:
    """A module of course_lib beyond NumPy, in a fresh process."""
    times = {module: ([], []) for module in size.modules}
    for turn in range(size.long_repeats + 1):
        for module, (ours, theirs) in times.items():
            beyond, numpy = import_times(module)
            if turn:  # the first may have to compile it
                ours.append(beyond)
                theirs.append(numpy)
    for module, (ours, theirs) in times.items():
        yield Row(f"import {module}", "ms", ours, {"import numpy": theirs}, at_most=MOST_IMPORT)


def import_times(module: str) -> tuple[float, float]:
    """Milliseconds of importing a module after NumPy, and of NumPy itself."""
    command = [sys.executable, "-c", IMPORT.format(module)]
    how = {"capture_output": True, "text": True, "check": True, "timeout": 60}
    said = subprocess.run(command, cwd=PROJECT, **how).stdout
    beyond, numpy = (1e3 * float(seconds) for seconds in said.split())
    return beyond, numpy


def bench_lesson(size: Size) -> Iterator[Row]:
    """A lesson from top to bottom in a fresh kernel."""
    for lesson in lessons(size):
        yield from guarded(f"{lesson.stem[:2]} run", lesson_rows(lesson, size))


def lesson_rows(lesson: Path, size: Size) -> Iterator[Row]:
    """The row of one lesson; its file stays as it is."""
    import nbformat

    from course_lib.tools.refresh import execute

    run = lambda: execute(nbformat.read(lesson, as_version=4), lesson.parent)
    times = [seconds_of(run) for _ in range(size.long_repeats)]
    yield Row(f"{lesson.stem}, run", "s", times, at_most=MOST_LESSON)
