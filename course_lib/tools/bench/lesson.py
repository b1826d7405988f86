"""How long does a lesson run?  (What the tests add to it, each test run says at its end.)

Public names: `bench_lesson`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from course_lib.tools.bench.core import Row, Size, guarded, lessons, seconds_of

MOST = 30  # [s]


def bench_lesson(size: Size) -> Iterator[Row]:
    """A lesson from top to bottom in a fresh kernel."""
    for lesson in lessons(size):
        yield from guarded(f"{lesson.stem[:2]} run", lesson_rows(lesson, size))


def lesson_rows(lesson: Path, size: Size) -> Iterator[Row]:
    """The row of one lesson."""
    times = [seconds_of(lambda: run_notebook(lesson)) for _ in range(size.long_repeats)]
    yield Row(f"{lesson.stem}, run", "s", times, at_most=MOST)


def run_notebook(path: Path) -> None:
    """Run a notebook in a fresh kernel, in its own folder; the file stays as it is."""
    import nbformat

    from course_lib.tools.refresh import execute

    execute(nbformat.read(path, as_version=4), path.parent)
