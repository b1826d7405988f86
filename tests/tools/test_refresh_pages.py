"""What `refresh` writes so that one page leads to the next; twice is the same as once."""

import copy
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course_lib.tools import pages, refresh

GLOSSARY = "# Glossary\n\n## J\n\n" + "".join(
    f"### {term}\n\n词 · It is.\n\n"
    for term in ("joint", "joint angle", "degree of freedom", "singularity", "reach", "URDF")
)
AROUND = pages.Surroundings(
    pages.Link("01 · Before [it]", "01_before.ipynb"),
    pages.Link("03 · After", "03_after.ipynb"),
    pages.Link("Homework 02", "homework/hw02_x/hw02_x.ipynb"),
    ("joint", "joint angle", "degree of freedom", "singularity", "reach", "URDF"),
)


def lesson(*texts, first="# 02 · Title\n\n**Promise.** You can."):
    """A notebook of markdown cells with ids c0, c1, …"""
    cells = [new_markdown_cell(text, id=f"c{i}") for i, text in enumerate([first, *texts])]
    return new_notebook(cells=cells)


def made(notebook, around=AROUND):
    """The sources of the cells after `make`; a second `make` changes nothing."""
    pages.make(notebook, around)
    again = copy.deepcopy(notebook)
    pages.make(again, around)
    assert again == notebook
    return [cell.source for cell in notebook.cells]


def linked(text):
    """What `make` makes of one prose cell."""
    return made(lesson(text, "End."))[1]


# --- from page to page -----------------------------------------------------------------------


def test_first_and_last_cell():
    first, *_, last = made(lesson("# A · One", "# B · Two (deeper)\n\n" + "word " * 300, "End."))
    assert first.startswith("# 02 · Title\n\n**Promise.** You can.\n\n<!-- made by refresh -->")
    assert "- [A · One](#cell-id=c1), 0 min\n" in first
    assert "- [B · Two (deeper)](#cell-id=c2), 4 min (4 min of it deeper)\n" in first
    assert (
        r"Lesson before: [01 · Before \[it\]](01_before.ipynb) · [Glossary](glossary.md)" in first
    )
    assert last.startswith("End.\n\n<!-- made by refresh -->")
    assert "Next lesson: [03 · After](03_after.ipynb) · [Homework 02](homework/hw02" in last


def test_each_part_ends_with_the_time_and_the_way_onward():
    notebook = lesson(
        "# A · One\n\n" + "word " * 75 * 65, "# B1 · Two\n\n" + "word " * 75 * 20, "# C · Three"
    )
    made(notebook)
    onward = [cell for cell in notebook.cells if cell.id.startswith("onward-")]
    assert [cell.id for cell in notebook.cells] == ["c0", "c1", "onward-a", "c2", "onward-b1", "c3"]
    assert "End of part A: 1 h 5 min so far, 20 min to come. On to [B1 · Two](#cell-id=c2)." in (
        onward[0].source
    )
    assert "End of part B1: 1 h 25 min so far, 0 min to come." in onward[1].source
    nbformat.validate(notebook)


def test_a_lesson_without_parts_lists_its_sections():
    first = made(lesson("## Predict\n\n### Not shown", "```\n## not shown\n```", "## Summary"))[0]
    assert "- [Predict](#cell-id=c1)\n- [Summary](#cell-id=c3)\n" in first and "shown" not in first


def test_the_first_and_the_last_of_all_lessons_and_no_glossary():
    first, last = made(lesson("End."), pages.Surroundings())
    assert (first, last) == ("# 02 · Title\n\n**Promise.** You can.", "End.")


def test_what_was_made_before_goes():
    notebook = lesson("# A · One", "# B · Two", "End.")
    made(notebook)
    notebook.cells = [cell for cell in notebook.cells if cell.id != "c2"]  # B is cut
    sources = made(notebook, pages.Surroundings())
    assert sources == [sources[0], "# A · One", "End."] and "B · Two" not in sources[0]


def test_a_part_in_the_middle_of_a_cell_is_refused():
    with pytest.raises(ValueError, match="cell 2: `# A · One` does not stand at the top"):
        pages.make(lesson("So much for that.\n\n# A · One"), AROUND)


def test_code_cells_stay_as_they_are():
    notebook = lesson("A joint.")
    cell = new_code_cell("# a joint\nx = 'URDF'", id="code")
    notebook.cells.insert(1, cell)
    made(notebook)
    assert notebook.cells[1].source == "# a joint\nx = 'URDF'"


# --- words of the glossary -------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("A joint, a joint.", "A [joint](glossary.md#joint), a joint."),
        ("Joints turn.", "[Joints](glossary.md#joint) turn."),
        ("**Singularities** are.", "**[Singularities](glossary.md#singularity)** are."),
        (
            "A joint angle and a joint.",
            "A [joint angle](glossary.md#joint-angle) and a [joint](glossary.md#joint).",
        ),
        (
            "Six degrees of\nfreedom",
            "Six [degrees of\nfreedom](glossary.md#degree-of-freedom)",
        ),
        ("| joint | x |\n|---|---|", "| [joint](glossary.md#joint) | x |\n|---|---|"),
    ],
)
def test_a_word_is_linked_where_it_first_appears(text, wanted):
    assert linked(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "`joint` and ``a `joint` b``",
        "```python\njoint = 1\n```",
        "x\n\n    joint = 1",
        "$q_{joint}$ and $$\njoint\n$$",
        "## The joint",
        "[the joint](a.md) ![a joint](a.png) https://joint.org",
        "<details><summary>Answer</summary>\n\nThe joint.\n\n</details>",
        "<div>\nThe joint\n</div>",
        "<!-- a joint -->",
        'The <span title="joint">x</span>',
        "disjoint, jointly, joint-like, pre-joint",
        "**References.** A. Author, *The joint*.",
        "What they reach",
    ],
)
def test_what_is_no_prose_is_left_alone(text):
    assert linked(text) == text


def test_prose_inside_a_box_is_prose():
    box = '<div class="alert alert-info">\n\nTurn the joint.\n\n</div>'
    assert "Turn the [joint](glossary.md#joint)." in linked(box)


def test_a_word_of_every_day_needs_an_article():
    assert linked("They reach far: the reach is 1 m.") == (
        "They reach far: the [reach](glossary.md#reach) is 1 m."
    )


def test_a_link_moves_when_the_word_comes_earlier():
    notebook = lesson("Nothing.", "A joint.", "End.")
    made(notebook)
    notebook.cells[1].source = "A joint here."
    assert made(notebook)[1:3] == ["A [joint](glossary.md#joint) here.", "A joint."]


# --- with refresh ----------------------------------------------------------------------------


def store(folder, name, notebook):
    nbformat.write(notebook, folder / name)
    return folder / name


def test_refresh_finds_the_neighbours_and_pages_runs_nothing(tmp_path, capsys):
    for name, title in (("01_a.ipynb", "# 01 · Ay"), ("03_c.ipynb", "# 03 · See")):
        store(tmp_path, name, lesson(first=title))
    homework = tmp_path / "homework" / "hw02_x"
    homework.mkdir(parents=True)
    store(homework, "hw02_x.ipynb", lesson(first="# Homework 02: x"))
    (tmp_path / "glossary.md").write_text(GLOSSARY, encoding="utf-8")
    notebook = lesson("# A · One", "A joint.")
    notebook.cells.insert(2, new_code_cell("1 / 0", id="code"))
    path = store(tmp_path, "02_b.ipynb", notebook)
    assert refresh.main(["--pages", str(path)]) == 0
    assert "stored" in capsys.readouterr().out
    first, _, code, last = nbformat.read(path, as_version=4).cells
    assert "[01 · Ay](01_a.ipynb)" in first.source and "[Glossary](glossary.md)" in first.source
    assert "[03 · See](03_c.ipynb) · [Homework 02: x](homework/hw02_x/hw02_x.ipynb)" in last.source
    assert "[joint](glossary.md#joint)" in last.source
    assert code.outputs == [] and code.execution_count is None
    assert refresh.main(["--pages", "--check", str(path)]) == 0


def test_links_hold_after_random_ids_got_names(tmp_path):
    notebook = lesson("# A · One", "End.")
    notebook.cells[1].id = "0a1b2c3d"
    path = store(tmp_path, "02_b.ipynb", notebook)
    refresh.refresh(path, seconds=None)
    first, part, _ = nbformat.read(path, as_version=4).cells
    assert part.id == "cell-02" and "[A · One](#cell-id=cell-02)" in first.source
    assert not refresh.refresh(path, seconds=None)


@pytest.mark.parametrize("path", refresh.find_lessons(), ids=lambda path: path.stem)
def test_the_pages_of_the_course_are_up_to_date(path: Path):
    notebook = nbformat.read(path, as_version=4)
    before = copy.deepcopy(notebook)
    pages.make(notebook, pages.surroundings(path))
    assert notebook == before, f"run: python3 course.py refresh --pages {path.stem[:2]}"
