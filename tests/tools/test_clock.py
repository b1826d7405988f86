"""The clock: each weight counts, folded things cost nothing, "(deeper)" and idle are found."""

import pytest
from support import clock

from course_lib.tools.clock import BEGIN, END, count, minutes, parts
from course_lib.tools.environment import spoken


def text(source):
    return {"cell_type": "markdown", "source": source, "metadata": {}}


def code(source, picture=False, **metadata):
    outputs = [{"output_type": "display_data", "data": {"image/png": "…"}}] if picture else []
    return {"cell_type": "code", "source": source, "metadata": metadata, "outputs": outputs}


@pytest.mark.parametrize(
    "cell, taken",
    [
        (text("word " * 75), 1),
        (text(["word " * 70, "\n", "word " * 5]), 1),  # as a file holds it: a list of lines
        (text("word " * 75 + "\n<details><summary>Answer</summary>\n\nmany words\n</details>"), 1),
        (text(f"{'word ' * 73}\n\n1. What?"), 1 + 1.5),
        (text(f"{'word ' * 73}on paper"), 1 + 8),
        (text("word " * 75 + f"\n\n{BEGIN}\n\n1. many words on paper\n\n{END}"), 1),
        (code("a = 1\n\n" * 7), 1),
        (code("a = 1\n" * 7, jupyter={"source_hidden": True}), 0),
        (code("a = 1\n" * 7, tags=["hide-input"]), 0),
        (code("a = 1\n" * 7, picture=True), 2),
        (code("a = 1\n" * 6 + "check('02.a', a)"), 1 + 6),
    ],
)
def test_minutes_of_a_cell(cell, taken):
    assert minutes(count(cell)) == pytest.approx(taken)


def test_parts_begin_at_headings_of_the_first_level():
    cells = [
        text("# 02 · Title"),
        text("word " * 75),
        text("# A · One\n\n" + "word " * 72),
        code("# no heading\n" * 7),
        text("```\n# no heading\n```\n\n<details>\n\n# nor this\n</details>"),
        text("# B · Two"),
    ]
    found = parts(cells)
    assert [part.name for part in found] == ["start", "A · One", "B · Two"]
    assert found[0].minutes == pytest.approx(1 + 4 / 75)
    assert sum(part.minutes for part in found) == pytest.approx(
        sum(minutes(count(cell)) for cell in cells)
    )


def test_deeper_ends_at_a_heading_of_its_level_or_above():
    minute = "\n" + "word " * 75
    cells = [
        text("# A · One" + minute),
        text("## Why? (deeper)" + minute),
        text("### How" + minute),  # below it: deeper too
        code("a = 1\n" * 7),
        text("## What?" + minute),
        text("### Where? (deeper)" + minute),
        text("# B · Two" + minute),
        text("# C · Three (deeper)" + minute),
        text("## Which?" + minute),
    ]
    core, deeper = clock.core_and_deeper(cells)
    assert (round(core), round(deeper)) == (3, 6)
    assert [round(part.deeper) for part in parts(cells)] == [0, 4, 0, 2]


@pytest.mark.parametrize(
    "task",
    [
        text("1. What happens?"),
        text("Do it on paper."),
        text("## Predict\n\nHow far?"),
        text('<div class="alert alert-info">\n\nBefore you stop: turn it.\n\n</div>'),
        code("check('02.a', a)"),
    ],
)
def test_the_longest_idle_stretch_ends_with_something_to_do(task):
    read = text("word " * 300)
    idle = clock.longest_idle([read, task, read, read, read, task, read])
    assert (idle.first_cell, idle.last_cell) == (3, 6) and 12 <= idle.minutes < 12.5
    assert clock.longest_idle([read, read]) == clock.Idle(8, 1, 2)


@pytest.mark.parametrize("time, said", [(0.4, "0 min"), (41.3, "41 min"), (165, "2 h 45 min")])
def test_minutes_are_spoken_without_long_numbers(time, said):
    assert spoken(time, "h", "min") == said


def test_the_table_of_a_lesson(tmp_path, capsys):
    path = tmp_path / "02.ipynb"
    path.write_text('{"cells": [{"cell_type": "markdown", "source": "# A · One", "metadata": {}}]}')
    assert clock.main([str(path)]) == 0
    said = capsys.readouterr().out
    assert "A · One" in said and "core 0 min, deeper 0 min" in said
    assert clock.main([]) == 2
