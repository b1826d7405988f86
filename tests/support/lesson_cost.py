"""What a lesson costs the test run: the work of its cells, and all that tests add to it.

CPU seconds of pytest and of the lesson's kernel, by lesson. The cells' own work in the kernel is
the lesson's run; reading it, starting its kernel, comparing outputs, folded solutions, explorers
and the form of the lesson are what tests add.

Public names: `booked`, `kind_of`, `table`, `MOST`.
"""

import contextlib
import re
import time
from collections import defaultdict

import psutil

MOST = 12  # [s] of one core that tests may add to a lesson
KINDS = ["start", "compare", "solutions", "explorers", "form"]
BOOKS = defaultdict(lambda: defaultdict(float))  # lesson -> kind -> [s]


def lesson_of(nodeid: str) -> str | None:
    """The lesson that a test is about: "…::test_form[02_dh_derivation-language]"."""
    found = re.search(r"(?<![^/\[-])\d\d_\w+", nodeid)
    return found[0] if found else None


def kind_of(name: str) -> str:
    """On which account the test `name` goes: "cell 3" is compared by nbval."""
    kinds = {"cell": "compare", "checkpoint": "solutions", "explorer": "explorers"}
    return kinds.get(name.split()[0], "form")


@contextlib.contextmanager
def booked(nodeid: str, kind: str, kernel=lambda: None):
    """Book the CPU time spent inside on the account of the lesson, if `nodeid` is of one.

    kernel: gives nbval's running kernel, or None before it has started.
    """
    ours, theirs = time.process_time(), kernel_seconds(kernel())
    try:
        yield
    finally:
        ours, theirs = time.process_time() - ours, kernel_seconds(kernel()) - theirs
        if lesson := lesson_of(nodeid):
            BOOKS[lesson]["run" if kind == "compare" else kind] += theirs
            BOOKS[lesson][kind] += ours


def kernel_seconds(kernel) -> float:
    """CPU time that a kernel has used so far [s]; 0 when there is none."""
    try:
        times = psutil.Process(kernel.km.provisioner.pid).cpu_times()
    except (AttributeError, psutil.Error):
        return 0.0
    return times.user + times.system


def table() -> list[str]:
    """A line for each lesson that was run: its own run, and what tests add, in CPU seconds."""
    rows = {lesson: book for lesson, book in sorted(BOOKS.items()) if "run" in book}
    head = f"{'CPU seconds':32}{'own run':>8}{'added':>8}   of it {'  '.join(KINDS)}"
    lines = [head] if rows else []
    for lesson, book in rows.items():
        added = sum(book[kind] for kind in KINDS)
        parts = "  ".join(f"{book[kind]:{len(kind)}.1f}" for kind in KINDS)
        over = f"   more than {MOST} s" if added > MOST else ""
        lines.append(f"{lesson:32}{book['run']:8.1f}{added:8.1f}         {parts}{over}")
    return lines
