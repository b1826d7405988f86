"""The form of a lesson as small rules: each takes a notebook and returns a list of complaints.

`RULES` is the table of all, `EXCEPTIONS` the lessons that need not keep one of them yet.
tests/lessons/test_lesson_form.py runs the rules over every lesson, and shows for each that it can
fail. The rules stand in `page`, `code`, `outputs`, `numbers`, `tasks` and `pace`; `reading` reads.
"""

from support.lesson_rules import code, numbers, outputs, pace, page, tasks

RULES = [
    page.title_cell,
    page.sections,
    page.recaps,
    page.language,
    page.mathematics,
    page.boxes,
    page.links,
    code.cell_length,
    code.number_of_cells,
    code.drawing_is_folded,
    outputs.cells_were_run,
    outputs.outputs_are_stored,
    outputs.no_errors,
    outputs.alternative_text,
    outputs.no_machine_paths,
    outputs.no_timings,
    outputs.stored_by_refresh,
    outputs.file_size,
    numbers.numbers_are_shown,
    tasks.explorers,
    tasks.checkpoint_count,
    tasks.tasks_are_new,
    pace.minutes,
    pace.stated_minutes,
    pace.no_idle_stretch,
    pace.first_explorer,
]

# Lessons that are older than a rule and don't keep it yet: rule -> numbers of the lessons.
# No lesson is added here. An exception that is no longer needed fails a test: take it out.
EXCEPTIONS = {
    page.recaps: {1, 2, 3, 4},
    page.mathematics: {0, 1, 2, 3, 4},
    page.boxes: {0, 1, 2, 3, 4},
    code.cell_length: {0, 1, 2, 3, 4},
    code.number_of_cells: {1},
    pace.minutes: {0, 1, 2, 3, 4},
    pace.stated_minutes: {0, 1, 2, 3, 4},
    pace.no_idle_stretch: {0, 1, 2, 3, 4},
    pace.first_explorer: {0, 1, 2, 3, 4},
}
