"""How long does a lesson take?  An estimate for each part, from what there is to read and to do.

75 words of prose a minute (technical text, thought about, in a second language), 7 visible lines
of code a minute, one minute a figure, a minute and a half a numbered question, six minutes a
checkpoint, eight minutes where the text says "on paper". Folded code and folded answers cost
nothing. A part begins at a heading of the first level (`# A · …`). The weights were fitted to
timed readings of lessons 02, 03 and 04: the sums came within a tenth to a fifth.

A heading that ends in "(deeper)" makes its section deeper: it can be left out. Standard library
only; cells are those of a notebook file, as dicts or as nbformat's objects. What the rules on time
ask besides is in tests/support/clock.py, which also prints the table of a lesson.

Public names: `Part`, `parts`, `count`, `minutes`, `headings`, `part_heading`, `authors_text`,
`text_of`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

Cell = Mapping

READING = {"words": 1 / 75, "code": 1 / 7, "figures": 1}  # minutes each; code: visible lines
DOING = {"questions": 1.5, "checks": 6, "paper": 8}

START = "start"  # the name of what comes before the first part
BEGIN, END = "<!-- made by refresh -->", "<!-- end of what refresh made -->"
MADE = re.compile(rf"\n*{BEGIN}.*?{END}\n*", re.DOTALL)
FOLDED = re.compile(r"<details\b.*?</details>", re.DOTALL)
FENCE = re.compile(r"^(```|~~~).*?^\1\s*$", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^(#{1,6}) +(.+?) *$", re.MULTILINE)


@dataclass
class Part:
    """A part of a lesson: its heading ("A · One row"), and how much of it is deeper [min].

    count: what there is to read and to do, a number for each name in READING and DOING.
    """

    name: str = START
    count: Counter = field(default_factory=Counter)
    deeper: float = 0

    @property
    def minutes(self) -> float:
        """Minutes of reading and doing."""
        return minutes(self.count)


def minutes(count: Counter, kinds: Mapping[str, float] = READING | DOING) -> float:
    """How long it takes to read and do what was counted; of some `kinds` only, READING say."""
    return sum(count[kind] * each for kind, each in kinds.items())


def text_of(cell: Cell) -> str:
    """The source of a cell, which a notebook file holds as one text or as a list of lines."""
    return "".join(cell["source"])


def authors_text(source: str) -> str:
    """Markdown without the lines that `course.py refresh` made."""
    return MADE.sub("\n\n", source).strip("\n")


def count(cell: Cell) -> Counter:
    """What there is to read and to do in one cell."""
    source = text_of(cell)
    if cell["cell_type"] != "code":
        prose = FOLDED.sub("", authors_text(source))
        questions = len(re.findall(r"^\d+\. ", prose, re.MULTILINE))
        paper = len(re.findall(r"\bon paper\b", prose, re.IGNORECASE))
        return Counter(words=len(prose.split()), questions=questions, paper=paper)
    metadata = cell.get("metadata", {})
    folded = metadata.get("jupyter", {}).get("source_hidden")
    lines = [] if folded or "hide-input" in metadata.get("tags", []) else source.splitlines()
    pictures = ["image/png" in output.get("data", {}) for output in cell.get("outputs", [])]
    checks = len(re.findall(r"^check\(", source, re.MULTILINE))
    visible = sum(1 for line in lines if line.strip())
    return Counter(code=visible, figures=int(any(pictures)), checks=checks)


def headings(cell: Cell) -> list[tuple[int, str]]:
    """(level, text) of the headings of a markdown cell; what is folded or code has none."""
    if cell["cell_type"] == "code":
        return []
    prose = FENCE.sub("", FOLDED.sub("", authors_text(text_of(cell))))
    return [(len(marks), text) for marks, text in HEADING.findall(prose)]


def part_heading(cell: Cell) -> str | None:
    """The heading with which a part begins in this cell, or None. A lesson's title is none."""
    found = [text for level, text in headings(cell) if level == 1 and not text[:2].isdigit()]
    return found[0] if found else None


def _with_depth(cells: Iterable[Cell]) -> Iterator[tuple[Cell, bool]]:
    """(cell, deeper) for each cell: whether it stands below a heading that ends in "(deeper)".

    Such a section ends at the next heading of its level or above it.
    """
    depth = 0  # the level of the heading that made this section deeper, or 0
    for cell in cells:
        for level, text in headings(cell):
            if depth and level > depth:
                continue
            depth = level if text.endswith("(deeper)") else 0
        yield cell, bool(depth)


def parts(cells: Iterable[Cell]) -> list[Part]:
    """The parts of a lesson in order; the first is what comes before the first part's heading."""
    found = [Part()]
    for cell, deeper in _with_depth(cells):
        name = part_heading(cell)
        if name:
            found.append(Part(name=name))
        counted = count(cell)
        found[-1].count.update(counted)
        found[-1].deeper += minutes(counted) if deeper else 0
    return found
