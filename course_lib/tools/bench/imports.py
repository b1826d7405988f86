"""What does a module cost the reader who imports it?

Public names: `bench_import`.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from course_lib.tools.bench.core import PROJECT, Row, Size

IMPORT = """import time
start = time.perf_counter()
import numpy
middle = time.perf_counter()
import {}
print(time.perf_counter() - middle, middle - start)"""
MOST = 300  # [ms]


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
        yield Row(f"import {module}", "ms", ours, {"import numpy": theirs}, at_most=MOST)


def import_times(module: str) -> tuple[float, float]:
    """Milliseconds of importing a module after NumPy, and of NumPy itself."""
    command = [sys.executable, "-c", IMPORT.format(module)]
    done = subprocess.run(
        command, cwd=PROJECT, capture_output=True, text=True, check=True, timeout=60
    )
    beyond, numpy = (1e3 * float(seconds) for seconds in done.stdout.split())
    return beyond, numpy
