"""How does one page lead to the next?  The lines of a lesson that a machine writes.

`course.py refresh` calls `make`; nobody writes these lines by hand:

- the first cell ends with the list of parts, their minutes, and a link to the lesson before;
- each part ends with a cell of its own: the minutes so far and to come, and the link onward;
- the last cell ends with links to the next lesson and to the homework;
- a word of the glossary leads to its entry where the lesson first says it.

`make` twice gives the same cells as once. Minutes are those of `course_lib.tools.clock`.

Public names: `make`, `surroundings`, `Surroundings`, `Link`, `glossary_terms`.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from course_lib.tools import clock
from course_lib.tools.clock import BEGIN, END
from course_lib.tools.environment import spoken

GLOSSARY = "glossary.md"
ONWARD = "onward-"  # what the ids of the cells between two parts begin with

# Nothing in here is prose: folded answers, code, tags up to the next blank line, headings,
# formulas, pictures, links, addresses, titles of books.
NO_PROSE = (
    r"\*\*References\b.*|<details\b.*?</details>|^(?P<fence>```|~~~).*?^(?P=fence)\s*$"
    r"|(?<=\n\n) {4}[^\n]*"
    r"|^ {0,3}</?[a-zA-Z!](?:[^\n]|\n(?!\s*\n))*|^#{1,6} [^\n]*|(?P<ticks>`+).+?(?P=ticks)(?!`)"
    r"|\$\$.*?\$\$|\$[^$\n]+\$|!?\[[^\]]*\]\([^)]*\)|<[^>\n]+>|https?://\S+"
)
GLOSSARY_LINK = re.compile(r"\[([^\]]+)\]\(" + re.escape(GLOSSARY) + r"#[^)]*\)")
# Words of every day that the glossary uses in another sense: only after one of these are they ours.
EVERYDAY = {"reach", "link", "screw"}
DETERMINER = r"\b(?:an?|the|its|this|that|each|every|one|two|first|last|next|arm's|whose)\s+"


@dataclass(frozen=True)
class Link:
    """A page to go to: the title that is shown and the address, seen from the lesson."""

    title: str
    target: str

    def __str__(self) -> str:
        title = re.sub(r"([][])", r"\\\1", self.title)
        return f"[{title}]({self.target})"


@dataclass(frozen=True)
class Surroundings:
    """What a lesson is linked with; `terms` are the words of the glossary."""

    before: Link | None = None
    after: Link | None = None
    homework: Link | None = None
    terms: tuple[str, ...] = ()


# --- what is around a lesson -----------------------------------------------------------------


def surroundings(path: Path) -> Surroundings:
    """Return what the lesson at `path` is linked with, as its folder shows it."""
    folder, number = path.parent, int(path.stem[:2])
    before, after = f"{number - 1:02d}_*.ipynb", f"{number + 1:02d}_*.ipynb"
    homework = f"homework/hw{number:02d}_*/hw{number:02d}_*.ipynb"
    links = [_first_link(folder, pattern) for pattern in (before, after, homework)]
    return Surroundings(*links, glossary_terms(folder / GLOSSARY))


def _first_link(folder: Path, pattern: str) -> Link | None:
    """A link to the first notebook that fits, with its own title."""
    found = sorted(folder.glob(pattern))
    if not found:
        return None
    cells = json.loads(found[0].read_text(encoding="utf-8"))["cells"]
    titles = [text for cell in cells[:1] for level, text in clock.headings(cell) if level == 1]
    return Link((titles or [found[0].stem])[0], found[0].relative_to(folder).as_posix())


def glossary_terms(path: Path) -> tuple[str, ...]:
    """Return the words that the glossary explains, each a heading of the third level."""
    if not path.is_file():
        return ()
    return tuple(re.findall(r"^### (.+?) *$", path.read_text(encoding="utf-8"), re.MULTILINE))


def entry(term: str) -> str:
    """Return the address of a word in the glossary, seen from a lesson.

    >>> entry("joint angle")
    'glossary.md#joint-angle'
    """
    return f"{GLOSSARY}#{term.replace(' ', '-')}"


def _to(cell: clock.Cell, title: str) -> Link:
    """A link to a cell of the same page that works in JupyterLab and in an exported page.

    (JupyterLab 4 does not find a heading that has a letter beyond ASCII.)
    """
    return Link(title, f"#cell-id={cell['id']}")


def make(notebook, around: Surroundings) -> None:
    """Write, in place, the machine-made lines of a lesson anew.

    Raises ValueError if a part begins in the middle of a cell.
    """
    cells = [cell for cell in notebook.cells if not cell.get("id", "").startswith(ONWARD)]
    for cell in cells:
        if cell["cell_type"] == "markdown":
            cell["source"] = GLOSSARY_LINK.sub(r"\1", clock.authors_text(cell["source"]))
    for number, cell in enumerate(cells, 1):
        name = clock.part_heading(cell)
        if name and not cell["source"].startswith(f"# {name}"):
            raise ValueError(f"cell {number}: `# {name}` does not stand at the top of its cell")
    _link_terms(cells, around.terms)
    onward = _onward(cells)
    glossary = Link("Glossary", GLOSSARY) if around.terms else None
    _append(cells[0], _contents(cells), _links("Lesson before", around.before, glossary))
    _append(cells[-1], _links("Next lesson", around.after, around.homework))
    notebook.cells = [new for i, cell in enumerate(cells) for new in (*onward.get(i, ()), cell)]


def _append(cell: clock.Cell, *blocks: str) -> None:
    """Add what refresh makes to the end of a markdown cell."""
    made = "\n\n".join(block for block in blocks if block)
    if made:
        cell["source"] = "\n\n".join([cell["source"], BEGIN, made, END])


def _contents(cells: Sequence[clock.Cell]) -> str:
    """The list of parts with their minutes; of sections in a lesson that has no parts."""
    parts = clock.parts(cells)[1:]
    starts = [cell for cell in cells if clock.part_heading(cell)]
    rows = [f"- {_to(cell, part.name)}, {_time(part)}" for cell, part in zip(starts, parts)]
    if not rows:
        sections = [(cell, text) for cell in cells for n, text in clock.headings(cell) if n == 2]
        rows = [f"- {_to(cell, text)}" for cell, text in sections]
    return "\n".join(["**On this page**\n", *rows]) if rows else ""


def _time(part: clock.Part) -> str:
    deeper = f" ({spoken(part.deeper, 'h', 'min')} of it deeper)" if part.deeper >= 0.5 else ""
    return spoken(part.minutes, "h", "min") + deeper


def _links(word: str, lesson: Link | None, other: Link | None) -> str:
    """One line of links: the lesson before or after, and another page."""
    return " · ".join([f"{word}: {lesson}"] * bool(lesson) + [str(other)] * bool(other))


def _onward(cells: Sequence[clock.Cell]) -> dict[int, list[clock.Cell]]:
    """The cell that closes each part, by the index of the cell in which the next part begins."""
    from nbformat.v4 import new_markdown_cell

    starts = [i for i, cell in enumerate(cells) if clock.part_heading(cell)]
    parts = clock.parts(cells)
    whole = so_far = sum(part.minutes for part in parts)
    closing = {}
    for start, part, following in reversed(list(zip(starts[1:], parts[1:], parts[2:]))):
        so_far -= following.minutes
        name = part.name.partition(" · ")[0]  # "B1" of "B1 · From a drawing to a table"
        slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "part"
        past, rest = (spoken(time, "h", "min") for time in (so_far, whole - so_far))
        text = f"End of part {name}: {past} so far, {rest} to come."
        text += f" On to {_to(cells[start], following.name)}."
        closing[start] = [new_markdown_cell(f"{BEGIN}\n\n{text}\n\n{END}", id=ONWARD + slug)]
    return closing


# --- words of the glossary -------------------------------------------------------------------


def _link_terms(cells: Sequence[clock.Cell], terms: Sequence[str]) -> None:
    """Link each term to the glossary where the lesson's prose first says it."""
    if not terms:
        return
    names = {f"t{i}": term for i, term in enumerate(terms)}
    longest_first = sorted(names, key=lambda key: -len(names[key]))
    any_term = "|".join(f"(?P<{key}>{_pattern(names[key])})" for key in longest_first)
    skipped_or_term = rf"{NO_PROSE}|(?<![\w-])(?i:{any_term})(?![\w-])"
    seen: set[str] = set()

    def link(found: re.Match) -> str:
        term, before = names.get(found.lastgroup), found.string[: found.start()]
        ours = term not in EVERYDAY or re.search(DETERMINER + "$", before, re.IGNORECASE)
        if term is None or term in seen or not ours:
            return found[0]
        seen.add(term)
        return f"[{found[0]}]({entry(term)})"

    for cell in cells:
        if cell["cell_type"] == "markdown":
            flags = re.DOTALL | re.MULTILINE
            cell["source"] = re.sub(skipped_or_term, link, cell["source"], flags=flags)


def _pattern(term: str) -> str:
    """A term or its plural, as a regular expression without groups."""
    words = []
    for word in term.split(" "):
        stem, comma = re.escape(word.rstrip(",")), "," * word.endswith(",")
        plural = stem[:-1] + "(?:y|ies)" if stem.endswith("y") else stem + "(?:e?s)?"
        words.append(plural + comma)
    return r"\s+".join(words)
