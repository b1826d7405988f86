"""Rules on what there is to do: explorers with questions, checkpoints, no task that is a copy."""

import ast
import re

from support.lesson_rules.reading import (
    CAPSTONE,
    DETAILS,
    START,
    checkpoints,
    code_cells,
    explorer_cells,
    last_call,
    markdown_of,
    number,
    pictures,
    statements,
)

SMALLEST_COPY = 12  # nodes of the syntax tree; what is smaller is alike by chance


def explorers(notebook):
    """Two explorers or more (one in lesson 00), with stored picture, questions, folded answers."""
    least = {START: 1, CAPSTONE: 0}.get(number(notebook), 2)
    found = explorer_cells(notebook)
    wrong = [] if len(found) >= least else [f"{len(found)} explorers, at least {least}"]
    for i, cell in found:
        if last_call(cell) != "explore":
            wrong.append(f"cell {i}: explore(…) is not its last line")
        if not pictures(cell):
            wrong.append(f"cell {i}: an explorer without a stored picture")
        above = [c for c in notebook.cells[: i - 1] if c.cell_type == "markdown"]
        before, below = above[-1:], notebook.cells[i : i + 2]
        if not re.search(r"^1\. ", DETAILS.sub("", markdown_of(before + below)), re.MULTILINE):
            wrong.append(f"cell {i}: an explorer without numbered questions beside it")
        if "<details>" not in markdown_of(below):
            wrong.append(f"cell {i}: an explorer without folded answers below it")
    return wrong


def checkpoint_count(notebook):
    """Three or more checkpoints (one in lesson 00), each with a folded solution that holds code."""
    least = {START: 1, CAPSTONE: 0}.get(number(notebook), 3)
    found = checkpoints(notebook)
    wrong = [] if len(found) >= least else [f"{len(found)} checkpoints, at least {least}"]
    return wrong + [
        f"cell {c.cell}: {c.key} has no folded solution" for c in found if not c.solution
    ]


def tasks_are_new(notebook):
    """No checkpoint is solved by code of the lesson with other names."""
    wrong = []
    for checkpoint in checkpoints(notebook):
        for i in copies(checkpoint.solution or "", notebook):
            wrong.append(f"cell {checkpoint.cell}: {checkpoint.key} is a copy of cell {i}")
    return wrong


def copies(solution: str, notebook) -> list[int]:
    """The cells of a lesson that hold a solution, but for its names; [] for another kind of task.

    Compared are the body of each function of the solution, and its other statements together,
    with as many statements of the lesson that follow each other, at the top of a cell or inside;
    a solution of one line also with each expression.
    """
    wanted = set(units(ast.parse(solution).body))
    lengths = {len(unit) for unit in wanted}
    return [
        i
        for i, cell in code_cells(notebook)
        if any(run in wanted for run in runs(statements(cell), lengths))
    ]


def units(body: list[ast.stmt]):
    """What a solution consists of, each in its normal form: a function's body, and the rest."""
    functions = [node for node in body if isinstance(node, ast.FunctionDef)]
    rest = [n for n in body if not isinstance(n, ast.FunctionDef | ast.Import | ast.ImportFrom)]
    for block in [*(without_docstring(function.body) for function in functions), rest]:
        if size(block) >= SMALLEST_COPY:
            yield normal(block)


def runs(body: list[ast.stmt], lengths):
    """All runs of `lengths` statements in a block and in the blocks within it, in normal form."""
    inside = list(ast.walk(ast.Module(body, [])))
    blocks = [node.body for node in inside if isinstance(getattr(node, "body", None), list)]
    for block in map(without_docstring, blocks):
        for length in lengths:
            for at in range(len(block) - length + 1):
                yield normal(block[at : at + length])
    for node in inside if 1 in lengths else ():
        if isinstance(node, ast.expr) and size([node]) >= SMALLEST_COPY:
            yield normal([node])


def size(block):
    """How many nodes the syntax tree of some statements has."""
    return sum(1 for statement in block for _ in ast.walk(statement))


def without_docstring(body):
    first = body[0] if body else None
    words = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return body[1:] if words else body


def normal(block: list[ast.stmt]) -> tuple[str, ...]:
    """Statements without what an author may choose: names, and whether a value is returned."""
    names = {}
    return tuple(shape(value_of(node), names) for node in block)


def value_of(node):
    """Of `return x`, `y = x` and `x` alone the same, x; other statements as they are."""
    ends = (ast.Return, ast.Assign, ast.AnnAssign, ast.Expr)
    return node.value if isinstance(node, ends) and node.value else node


def shape(node, names: dict) -> str:
    """A syntax tree in words, its names numbered by the order in which they appear."""
    if isinstance(node, ast.Name | ast.arg):
        name = node.id if isinstance(node, ast.Name) else node.arg
        return f"name{names.setdefault(name, len(names))}"
    if isinstance(node, ast.AST):
        parts = ",".join(shape(value, names) for _, value in ast.iter_fields(node))
        return f"{type(node).__name__}({parts})"
    return f"[{','.join(shape(n, names) for n in node)}]" if isinstance(node, list) else repr(node)
