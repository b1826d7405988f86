"""A small lesson, 02, that keeps every rule of the lesson form, and ways to spoil it."""

from pathlib import Path

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from course_lib.tools import pages
from course_lib.tools.refresh import normalise

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
TITLE = """# 02 · A title

**Promise.** You can do it.

**Time.** 26 minutes.

**Needs.** Lesson 00.

**You will be able to**

- do one thing,
- do another,
- do a third."""
SUMMARY = """## Summary

It was 12.5.

**What next.** More.

**References.** A. Author, *A book*, 1234 pages."""


def text(source):
    return new_markdown_cell(source)


def box(words):
    """Words that tell the reader to do something."""
    return f'<div class="alert alert-info">\n\n{words}\n\n</div>'


def picture(alt="A line that rises", plain="A line that rises", beside=""):
    """The output of a cell that shows a picture, with text beside it."""
    html = f'<img alt="{alt}" src="data:image/webp;base64,AAAA">{beside}'
    return new_output("display_data", {"image/png": PIXEL, "text/plain": plain, "text/html": html})


def say(words, name="stdout"):
    return new_output("stream", name=name, text=words)


def code(source, *outputs, tags=(), folded=False):
    metadata = {"tags": list(tags)} if tags else {}
    if folded:
        metadata["jupyter"] = {"source_hidden": True}
    return new_code_cell(source, outputs=list(outputs), execution_count=1, metadata=metadata)


def explorer():
    return [
        text("### Move it\n\n1. What happens?"),
        code("explore(build, draw, 'A line', x=slider(0, 1, 0.5))", picture()),
        text("<details><summary>Answers</summary>\n\n1. This.\n</details>"),
    ]


def checkpoint(name, solution="x = 1", answer="x"):
    folded = f"<details><summary>Solution</summary>\n\n```python\n{solution}\n```\n</details>"
    return [
        text(box(f"**Checkpoint.** Find {name}.")),
        code(f"{answer} = ...\ncheck('02.{name}', {answer})", say("open\n")),
        text(folded),
    ]


def lesson(*extra):
    """A lesson that keeps every rule, with `extra` cells before its claim check."""
    cells = [
        text(TITLE),
        text("## Predict\n\n" + box("How much?")),
        *explorer(),
        text("# A · One"),
        code("print(12.4996)", say("12.4996\n")),
        *explorer(),
        *extra,
        text("## Claim check\n\nSaid, not so."),
        text("## Clinic\n\nIt hurts."),
        text("## Checkpoints"),
        *checkpoint("a"),
        *checkpoint("b"),
        *checkpoint("c"),
        text(SUMMARY),
    ]
    return stored(new_notebook(cells=cells))


def stored(notebook):
    """The notebook as `course.py refresh` leaves it."""
    pages.make(normalise(notebook), pages.surroundings(next(NOTEBOOKS.glob("02_*.ipynb"))))
    return normalise(notebook)


def edited(old, new, cell_type="markdown"):
    """The small lesson with `old` replaced in its cells."""
    notebook = lesson()
    found = [c for c in notebook.cells if c.cell_type == cell_type and old in c.source]
    assert found, f"{old!r} is in no {cell_type} cell"
    for cell in found:
        cell.source = cell.source.replace(old, new)
    return notebook


def clinic_first():
    """The small lesson with its clinic before all other sections."""
    notebook = lesson()
    clinic = next(cell for cell in notebook.cells if cell.source.startswith("## Clinic"))
    notebook.cells.remove(clinic)
    notebook.cells.insert(1, clinic)
    return notebook


def without_outputs(count=1):
    """The small lesson with no output stored, each cell with this execution count."""
    notebook = lesson()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], count
    return notebook


def saved_by_an_editor():
    """The small lesson as an editor writes it: a version, the time of a run."""
    notebook = lesson()
    notebook.metadata.language_info["version"] = "3.12.0"
    notebook.cells[3].metadata["execution"] = {"iopub.execute_input": "2026-01-01T00:00:00Z"}
    return notebook
