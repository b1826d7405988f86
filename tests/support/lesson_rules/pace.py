"""Rules on time: how long a lesson takes by the clock, and what it says about that."""

import re

from support import clock
from support.lesson_rules.reading import explorer_cells, first_text, markdown_of, unfolded

from course_lib.tools.clock import authors_text, parts

MOST_CORE, MOST_WHOLE, MOST_PART, MOST_IDLE = 150, 240, 45, 10  # minutes
MOST_WORDS_BEFORE_EXPLORER = 400
TRUE_WITHIN = 0.1


def minutes(notebook):
    """By the clock the core takes at most 150 minutes, all at most 240, a part at most 45."""
    core, deeper = clock.core_and_deeper(notebook.cells)
    limits = [("the core", core, MOST_CORE), ("the whole", core + deeper, MOST_WHOLE)]
    limits += [(f"part {p.name}", p.minutes, MOST_PART) for p in parts(notebook.cells)]
    return [
        f"{what} takes {taken:.0f} minutes by the clock, at most {most}"
        for what, taken, most in limits
        if taken > most
    ]


def stated_minutes(notebook):
    """The minutes of the first cell are the clock's within a tenth.

    "**Time.** 120 minutes" is the core; where there are deeper sections, a second number says
    what the whole takes: "**Time.** 120 minutes, and 160 minutes with what is deeper."
    """
    core, deeper = clock.core_and_deeper(notebook.cells)
    line = re.search(r"\*\*Time\.\*\*.*", first_text(notebook))
    stated = [int(n) for n in re.findall(r"(\d+) minutes", line[0])] if line else []
    wanted = [("the core", core)] + [("the whole", core + deeper)] * (deeper > 0)
    if len(stated) < len(wanted):
        return [f"cell 1: **Time.** says {len(stated)} numbers of minutes, expected {len(wanted)}"]
    return [
        f"cell 1: {said} minutes for {what}, but the clock says {taken:.0f}"
        for (what, taken), said in zip(wanted, stated, strict=False)
        if abs(said - taken) > TRUE_WITHIN * taken
    ]


def no_idle_stretch(notebook):
    """No stretch of ten minutes is without a question or a task."""
    idle = clock.longest_idle(notebook.cells)
    where = f"cells {idle.first_cell} to {idle.last_cell}"
    said = f"{where}: {idle.minutes:.0f} minutes without something to do, at most {MOST_IDLE}"
    return [said] if idle.minutes > MOST_IDLE else []


def first_explorer(notebook):
    """Something moves first: the first explorer comes within 400 words of the title."""
    found = explorer_cells(notebook)
    if not found:
        return []
    i = found[0][0]
    words = len(unfolded(authors_text(markdown_of(notebook.cells[: i - 1]))).split())
    said = f"cell {i}: {words} words before the first explorer"
    return [] if words <= MOST_WORDS_BEFORE_EXPLORER else [said]
