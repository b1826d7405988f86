"""Which small changes could be made to a module?  Found by `ast`, made in the text.

Not changed: docstrings, comments, annotations, messages of errors, f-strings, `__all__`.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

# What stands in the place of an operator: the one below it, and for an order also its opposite.
SWAPS = dict(
    zip(
        "+  -  *  /  //  %  **  @  |  &  ^  <<  >>  and  or   <   <=  >   >=  ==  !=".split(),
        "-  +  /  *  *   *  *   *  &  |  &  >>  <<  or   and  <=  <   >=  >   !=  ==".split(),
    ),
    **{"is": "is not", "is not": "is", "in": "not in", "not in": "in"},
)
OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
OPERATOR = re.compile(
    rb"#[^\n]*|(is\s+not\b|not\s+in\b|\b(?:is|in|and|or)\b|//|\*\*|<<|>>|[<>=!]=|[-+*/%@|&^<>])"
)
SMALL = 1e-3  # a float below it is taken for a tolerance


@dataclass(frozen=True)
class Change:
    """One change: the bytes from start to end of the module's source become `new`.

    where: the function it is in, dotted, "" outside of all; before, after: the lines it touches,
    each as one line of text, so that a change is known again when its line number has moved.
    """

    file: str
    where: str
    line: int
    start: int
    end: int
    new: str
    before: str
    after: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What it is known by."""
        return self.file, self.where, self.before, self.after

    def made_in(self, source: bytes) -> bytes:
        """The changed source."""
        return source[: self.start] + self.new.encode() + source[self.end :]

    def __str__(self) -> str:
        where = f" in {self.where}" if self.where else ""
        return f"{self.file}:{self.line}{where}\n    - {self.before}\n    + {self.after}"


def changes_of(source: bytes, file: str) -> list[Change]:
    """All changes of a module, from top to bottom."""
    text = _Text(source)
    tree = ast.parse(source)
    made = {
        edit: change(source, file, where, *edit)
        for node, where in _nodes(tree, "")
        for edit in _edits(node, text)
    }
    return [made[edit] for edit in sorted(made)]


def change(source: bytes, file: str, where: str, start: int, end: int, new: str) -> Change:
    """The change that puts `new` in the place of source[start:end]."""
    first = source.rfind(b"\n", 0, start) + 1
    last = source.find(b"\n", end)
    last = len(source) if last < 0 else last
    before = source[first:last].decode()
    after = (source[first:start] + new.encode() + source[end:last]).decode()
    line = source.count(b"\n", 0, start) + 1
    return Change(file, where, line, start, end, new, _one_line(before), _one_line(after))


def drawn(changes: list[Change], count: int, seed: int) -> list[Change]:
    """`count` of the changes: one out of each of as many equal stretches of the code."""
    if count >= len(changes):
        return changes
    rng = random.Random(seed)
    bounds = [i * len(changes) // count for i in range(count + 1)]
    return [changes[rng.randrange(a, b)] for a, b in zip(bounds, bounds[1:])]


def _one_line(text: str) -> str:
    return " ".join(text.split())


class _Text:
    """Where the nodes of a tree stand in the bytes of the source."""

    def __init__(self, source: bytes):
        self.source = source
        self.starts = [0, *(found.end() for found in re.finditer(b"\n", source))]

    def start(self, node: ast.AST) -> int:
        return self.starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.AST) -> int:
        return self.starts[node.end_lineno - 1] + node.end_col_offset

    def of(self, node: ast.AST) -> str:
        return self.source[self.start(node) : self.end(node)].decode()

    def instead(self, node: ast.AST, new: str) -> tuple[int, int, str]:
        return self.start(node), self.end(node), new

    def between(self, left: ast.AST, right: ast.AST) -> Iterator[tuple[int, int, str]]:
        """Other operators in the place of the one that stands between two nodes."""
        for found in OPERATOR.finditer(self.source, self.end(left), self.start(right)):
            if found[1]:  # not a comment
                old = _one_line(found[1].decode())
                for new in filter(None, (SWAPS[old], OPPOSITE.get(old))):
                    yield found.start(), found.end(), new


def _nodes(node: ast.AST, where: str) -> Iterator[tuple[ast.AST, str]]:
    """Every node that may be changed, with the dotted name of its function."""
    if _is_left_alone(node):
        return
    yield node, where
    if isinstance(node, ast.Raise):
        return
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        where = f"{where}.{node.name}".lstrip(".")
    skipped = {getattr(node, name, None) for name in ("annotation", "returns", "msg")}
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".reshape"):
        skipped.update(node.args)  # most are -1, where every negative number means the same
    for child in ast.iter_child_nodes(node):
        if child not in skipped:
            yield from _nodes(child, where)


def _is_left_alone(node):
    match node:
        case ast.JoinedStr() | ast.arg() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            return True
    return False


def _edits(node: ast.AST, text: _Text) -> Iterator[tuple[int, int, str]]:
    """The changes of this node alone: (start, end, new)."""
    match node:
        case ast.BinOp(left, _, right) if not (_is_text(left) or _is_text(right)):
            yield from text.between(left, right)
        case ast.BoolOp(_, values):
            for left, right in zip(values, values[1:]):
                yield from text.between(left, right)
        case ast.Compare(left, _, comparators):
            for a, b in zip([left, *comparators], comparators):
                yield from text.between(a, b)
        case ast.UnaryOp(ast.USub() | ast.Not(), operand):
            yield text.instead(node, f"({text.of(operand)})")
        case ast.Constant(value) if isinstance(value, bool | int | float):
            yield from (text.instead(node, new) for new in _other_numbers(value))
        case ast.Slice(lower, upper):
            yield from (text.instead(bound, "") for bound in (lower, upper) if bound)
        case ast.If(test) | ast.While(test) | ast.IfExp(test):
            yield from _negated(test, text)
        case ast.comprehension():
            for test in node.ifs:
                yield from _negated(test, text)
        case ast.arguments():
            for value in [*node.defaults, *node.kw_defaults]:
                if _is_text(value):
                    yield text.instead(value, '"mutant"')
        case ast.stmt():
            yield from _other_statements(node, text)


def _other_statements(node, text):
    match node:
        case ast.Return(value) if value and not isinstance(value, ast.Constant):
            yield text.instead(value, "None")
        case ast.AugAssign(target, _, value):
            yield from text.between(target, value)
            yield text.instead(node, "pass")
        case ast.Break():
            yield text.instead(node, "continue")
        case ast.Continue():
            yield text.instead(node, "break")
        case ast.Raise() | ast.Assert() | ast.Delete() | ast.Expr():
            yield text.instead(node, "pass")
        case ast.Assign(targets) if not any(isinstance(t, ast.Name | ast.Tuple) for t in targets):
            yield text.instead(node, "pass")  # x[i] = …, x.a = …


def _negated(test, text):
    """The condition turned round, where no change of its own operator already does it."""
    match test:
        case ast.Constant() | ast.UnaryOp(ast.Not()):
            return
        case ast.Compare(ops=[ast.Eq() | ast.NotEq() | ast.Is() | ast.IsNot()]):
            return
        case ast.Compare(ops=[ast.In() | ast.NotIn()]):
            return
    yield text.instead(test, f"not ({text.of(test)})")


def _other_numbers(value):
    if isinstance(value, bool):
        return [repr(not value)]
    if isinstance(value, int):
        return [repr(value + 1), repr(value - 1)]
    if value == 0:
        return ["1.0"]
    factor = 100 if abs(value) < SMALL else 2
    return [repr(float(f"{new:.12g}")) for new in (value * factor, value / factor)]


def _is_text(node):
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
