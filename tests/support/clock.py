"""The clock of the rules on time: minutes of core and deeper sections, the longest idle stretch.

    .venv/bin/python tests/support/clock.py notebooks/02_dh_derivation.ipynb

The weights and the parts are those of course_lib.tools.clock, by which `refresh` writes minutes.
"""

import json
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass

from course_lib.tools.clock import DOING, READING, Cell, count, minutes, parts, text_of

TASK = re.compile(r"alert alert-info|^##+ Predict\b", re.MULTILINE)


@dataclass(frozen=True)
class Idle:
    """The longest stretch without a question or a task; cells are counted from 1."""

    minutes: float
    first_cell: int
    last_cell: int


def core_and_deeper(cells: Iterable[Cell]) -> tuple[float, float]:
    """(minutes of the core, minutes of the "(deeper)" sections)."""
    found = parts(cells)
    deeper = sum(part.deeper for part in found)
    return sum(part.minutes for part in found) - deeper, deeper


def longest_idle(cells: Iterable[Cell]) -> Idle:
    """The longest stretch of reading without a question, a checkpoint or another task.

    A stretch ends with a cell that has something to do: a numbered question, a checkpoint, "on
    paper", a section Predict, or a box of the kind `alert alert-info`.
    """
    longest, passed, first = Idle(0, 1, 1), 0.0, 1
    for number, cell in enumerate(cells, 1):
        counted = count(cell)
        passed += minutes(counted, READING)
        if passed > longest.minutes:
            longest = Idle(passed, first, number)
        markdown = cell["cell_type"] != "code"
        if minutes(counted, DOING) or (markdown and TASK.search(text_of(cell))):
            passed, first = 0.0, number + 1
    return longest


def main(paths: list[str]) -> int:
    """Print a table for each notebook."""
    if not paths:
        print(__doc__)
        return 2
    for path in paths:
        with open(path, encoding="utf-8") as file:
            cells = json.load(file)["cells"]
        print(path, "   words  code  figs quest check paper   min", sep="\n")
        for part in parts(cells):
            row = [*(part.count[kind] for kind in READING | DOING), round(part.minutes)]
            print("  ", *(f"{n:5}" for n in row), f" {part.name}")
        core, deeper = core_and_deeper(cells)
        idle = longest_idle(cells)
        print(f"   core {core:.0f} min, deeper {deeper:.0f} min; longest without a task", end=" ")
        print(f"{idle.minutes:.0f} min (cells {idle.first_cell} to {idle.last_cell})")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
