"""Rules on code cells: their length, their number, and which of them are folded."""

import ast

from support.lesson_rules.reading import (
    called_name,
    code_cells,
    is_folded,
    last_call,
    statements,
    tags,
    top_calls,
)

from course_lib.tools.pages import ONWARD

LONGEST_CELL, LONGEST_KEY_CELL = 25, 40
MOST_CELLS = 110


def cell_length(notebook):
    """A code cell holds one idea: at most 25 lines, or 40 with the tag key-algorithm.

    Lines are counted as `ruff format` leaves them; tests/core/test_house.py sees to that.
    """
    wrong = []
    for i, cell in code_cells(notebook):
        lines = len(cell.source.strip().splitlines())
        most = LONGEST_KEY_CELL if "key-algorithm" in tags(cell) else LONGEST_CELL
        if lines > most:
            wrong.append(f"cell {i}: {lines} lines, at most {most}")
    return wrong


def number_of_cells(notebook):
    """A lesson has at most 110 cells, those between parts that refresh makes not counted."""
    count = sum(not cell.get("id", "").startswith(ONWARD) for cell in notebook.cells)
    return [] if count <= MOST_CELLS else [f"{count} cells, at most {MOST_CELLS}"]


# --- drawing ---------------------------------------------------------------------------------

DRAWN_ON = {"ax", "axes", "fig", "art", "artists"}
TALKS = {"print", "display", "check"}


def drawing_is_folded(notebook):
    """A cell that only draws is folded, so that the page shows what the lesson is about.

    A cell only draws if it imports nothing, prints nothing, and either ends in `plots.show` and
    makes no name that a later cell uses, or holds nothing but functions that draw, constants, and
    perhaps the explorer they are for. A function draws if it is called build… or draw…, takes axes
    or artists, or uses `plots`. A cell with nothing but `explore(…)` may stand open.
    """
    cells = code_cells(notebook)
    return [
        f"cell {i}: only draws; fold it (View, Collapse Selected Code)"
        for n, (i, cell) in enumerate(cells)
        if not is_folded(cell) and only_draws(cell, [later for _, later in cells[n + 1 :]])
    ]


def only_draws(cell, later) -> bool:
    """Whether a cell does nothing but draw. later: the code cells below it."""
    body = statements(cell)
    functions = [node for node in body if isinstance(node, ast.FunctionDef)]
    if any(isinstance(node, ast.Import | ast.ImportFrom) for node in body):
        return False
    if TALKS & set(top_calls(cell)) or not all(map(is_draw_helper, functions)):
        return False
    if last_call(cell) == "show":
        return not any(made_in(cell) & needed_by(other) for other in later)
    return bool(functions) and all(map(is_plain, body))


def is_draw_helper(function: ast.FunctionDef) -> bool:
    """Whether a function draws."""
    arguments = {argument.arg for argument in ast.walk(function) if isinstance(argument, ast.arg)}
    names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    named = function.name.startswith(("build", "draw"))
    return named or bool(DRAWN_ON & arguments) or "plots" in names


def is_plain(node: ast.stmt) -> bool:
    """A function, a constant, words, or a call of `explore`."""
    if isinstance(node, ast.FunctionDef):
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) or called_name(node.value) == "explore"
    calls = [inner for inner in ast.walk(node) if isinstance(inner, ast.Call)]
    return isinstance(node, ast.Assign) and not calls


def made_in(cell) -> set[str]:
    """Names that the cell binds, those of its functions included."""
    nodes = [inner for node in statements(cell) for inner in _outside_functions(node)]
    stored = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return stored | {node.name for node in nodes if isinstance(node, ast.FunctionDef)}


def needed_by(cell) -> set[str]:
    """Names that the cell reads and does not bind itself."""
    nodes = ast.walk(ast.Module(statements(cell), []))
    read = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return read - made_in(cell)


def _outside_functions(node):
    """The node and what stands in it, but nothing of the inside of a function."""
    yield node
    if not isinstance(node, ast.FunctionDef | ast.Lambda):
        for child in ast.iter_child_nodes(node):
            yield from _outside_functions(child)
