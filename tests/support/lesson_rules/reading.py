"""Reading a lesson: its cells, the statements in them, its explorers and its checkpoints.

Cells are counted from 1, markdown cells included, as `course.py refresh` does.
"""

import ast
import functools
import re
from dataclasses import dataclass

from course_lib.tools.clock import authors_text

START, CAPSTONE = 0, 15  # lessons with a form of their own
DETAILS = re.compile(r"<details\b.*?</details>", re.DOTALL)


def number(notebook) -> int | None:
    """The lesson's number as its title says it (`# 02 · Title`), or None."""
    found = re.match(r"# (\d\d) · \S", first_text(notebook))
    return int(found[1]) if found else None


def first_text(notebook) -> str:
    """What the author wrote in the first cell."""
    return authors_text(notebook.cells[0].source) if notebook.cells else ""


def code_cells(notebook):
    """(number, cell) of all code cells."""
    return [(i, cell) for i, cell in enumerate(notebook.cells, 1) if cell.cell_type == "code"]


def markdown_cells(notebook):
    """(number, cell) of all markdown cells."""
    return [(i, cell) for i, cell in enumerate(notebook.cells, 1) if cell.cell_type == "markdown"]


def markdown_of(cells) -> str:
    """The text of the markdown cells among `cells`."""
    return "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def unfolded(source: str) -> str:
    """Markdown without what is folded."""
    return DETAILS.sub(" ", source)


def prose(source: str) -> str:
    """Markdown without code, tags and addresses."""
    source = re.sub(r"```.*?```|~~~.*?~~~", " ", source, flags=re.DOTALL)
    source = re.sub(r"(?:^|\n)\n(?: {4}.*(?:\n|$))+", "\n\n", source)
    source = re.sub(r"`[^`\n]*`", " ", source)
    source = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", source)
    return re.sub(r"<[^>]+>|https?://\S+", " ", source)


def tags(cell) -> list[str]:
    return cell.metadata.get("tags", [])


def is_folded(cell) -> bool:
    """Whether the page hides the source of a code cell."""
    return bool(cell.metadata.get("jupyter", {}).get("source_hidden"))


# --- code ------------------------------------------------------------------------------------


def statements(cell) -> list[ast.stmt]:
    """The cell's top-level statements; IPython's magic lines and cells are left out."""
    return _parsed(cell.source)


@functools.cache
def _parsed(source):
    if source.startswith("%%"):
        return []
    lines = ["pass" if re.match(r"[%!]", line) else line for line in source.splitlines()]
    return ast.parse("\n".join(lines)).body


def called_name(node: ast.AST) -> str:
    """ "show" for `plots.show(...)` and `show(...)`, "" for what is no call by name."""
    function = node.func if isinstance(node, ast.Call) else None
    return getattr(function, "attr", getattr(function, "id", ""))


CLOSED = (ast.FunctionDef, ast.ClassDef, ast.Lambda, ast.If, ast.Try, ast.While, ast.comprehension)


def top_calls(cell) -> list[str]:
    """Names of the functions called when the cell runs, outside of `if`, `def` and the like."""
    names, todo = [], list(statements(cell))
    while todo:
        node = todo.pop()
        if not isinstance(node, CLOSED):
            names.append(called_name(node))
            todo.extend(ast.iter_child_nodes(node))
    return [name for name in names if name]


def last_call(cell) -> str:
    """The name of the function whose call is the cell's last line, "" if it is no call."""
    body = statements(cell)
    return called_name(body[-1].value) if body and isinstance(body[-1], ast.Expr) else ""


# --- outputs ---------------------------------------------------------------------------------


def pictures(cell):
    """The outputs of a cell that show a picture."""
    return [
        output
        for output in cell.get("outputs", [])
        if any(kind.startswith("image/") for kind in output.get("data", {}))
    ]


def output_text(output) -> str:
    """What an output says in words; of a picture only what stands beside it, as a readout."""
    if output.output_type == "stream":
        return output.text
    data = output.get("data", {})
    kinds = ["text/html"] if pictures({"outputs": [output]}) else list(data)
    texts = [data.get(kind, "") for kind in kinds if kind.startswith("text/")]
    html = re.sub(r"<style\b.*?</style>", " ", "\n".join(texts), flags=re.DOTALL)
    return re.sub(r"<[^>]+>", " ", html)


# --- explorers and checkpoints ---------------------------------------------------------------


def explorer_cells(notebook):
    """(number, cell) of the cells that make an explorer."""
    return [(i, cell) for i, cell in code_cells(notebook) if "explore" in top_calls(cell)]


@dataclass
class Checkpoint:
    """An exercise in a lesson: cell, key, expression of the answer, code of the folded solution."""

    cell: int
    key: str
    answer: str
    solution: str | None


def checkpoints(notebook) -> list[Checkpoint]:
    """All `check("NN.name", answer)`; the solution stands folded between it and the next one.

    A cell with the tag wrong-on-purpose shows what `check` says and is no exercise.
    """
    found = [
        Checkpoint(i, node.args[0].value, ast.unparse(node.args[1]), None)
        for i, cell in code_cells(notebook)
        if "wrong-on-purpose" not in tags(cell)
        for node in ast.walk(ast.Module(statements(cell), []))
        if _is_exercise(node)
    ]
    ends = [checkpoint.cell for checkpoint in found[1:]] + [len(notebook.cells) + 1]
    for checkpoint, end in zip(found, ends, strict=True):
        folded = DETAILS.findall(markdown_of(notebook.cells[checkpoint.cell : end]))
        code = [re.findall(r"```python\n(.*?)```", text, re.DOTALL) for text in folded]
        checkpoint.solution = next(("\n".join(blocks) for blocks in code if blocks), None)
    return found


def _is_exercise(node):
    called = called_name(node) == "check" and len(node.args) == 2
    return called and isinstance(node.args[0], ast.Constant)
