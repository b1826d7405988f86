"""Rules on the page: first cell, sections, language, mathematics, boxes, links."""

import re
from pathlib import Path
from urllib.parse import unquote

from support.lesson_rules.reading import (
    CAPSTONE,
    START,
    checkpoints,
    first_text,
    markdown_cells,
    markdown_of,
    number,
    prose,
    unfolded,
)

from course_lib.tools.clock import authors_text, part_heading
from course_lib.tools.pages import ONWARD

NOTEBOOKS = Path(__file__).resolve().parents[3] / "notebooks"
SECTIONS = ["Predict", "Claim check", "Clinic", "Checkpoints", "Summary"]
SECTIONS_OF_START = ["Checkpoints", "Summary"]


def title_cell(notebook):
    """The first cell says number, title, promise, minutes, needs and three to five goals."""
    text = first_text(notebook)
    wrong = [] if number(notebook) is not None else ["cell 1: expected the title `# NN · Title`"]
    for part in ("**Promise.**", "**Time.**", "**Needs.**", "**You will be able to**"):
        if part not in text:
            wrong.append(f"cell 1: {part} is missing")
    if not re.search(r"\*\*Time\.\*\*.*\d.* minutes", text):
        wrong.append("cell 1: the time should be said in minutes")
    goals = re.findall(r"^[-*] ", text.partition("**You will be able to**")[2], re.MULTILINE)
    if not 3 <= len(goals) <= 5:
        wrong.append(f"cell 1: {len(goals)} goals, expected three to five")
    return wrong


def sections(notebook):
    """The sections that every lesson has are there, in order, and the summary closes the page."""
    lesson = number(notebook)
    if lesson == CAPSTONE:
        return []
    wanted = SECTIONS_OF_START if lesson == START else SECTIONS
    page = markdown_of(notebook.cells)
    headings = re.findall(r"^## (.+)$", page, re.MULTILINE)
    places = {
        name: [i for i, text in enumerate(headings) if text.startswith(name)] for name in wanted
    }
    wrong = [f"the section `## {name}` is missing" for name in wanted if not places[name]]
    present = [name for name in wanted if places[name]]
    if present != sorted(present, key=lambda name: places[name][-1]):
        wrong.append(f"sections are out of order, expected {', '.join(wanted)}")
    if headings and "Summary" in present and not headings[-1].startswith("Summary"):
        wrong.append(f"`## {headings[-1]}` comes after the summary")
    summary = page.rpartition("## Summary")[2]
    lacking = [part for part in ("What next", "References") if f"**{part}" not in summary]
    return wrong + [f"the summary lacks **{part}.**" for part in lacking]


def recaps(notebook):
    """Each part but the last ends with a recap: a list of three lines, the last of its cell.

    The cell that leads to the next part, made by refresh, comes below it.
    """
    return [
        f"cell {i - 1}: no recap in three lines ends the part"
        for i, cell in markdown_cells(notebook)
        if cell.get("id", "").startswith(ONWARD)
        if not re.search(r"(?:\A|\n\n)(?:- .+\n?){3}\Z", notebook.cells[i - 2].source.rstrip())
    ]


# --- language and mathematics ----------------------------------------------------------------

FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$\n]*\$", re.DOTALL)
TYPED = re.compile(
    r"\S*[₀-₉ᵢⱼₖₙ₊₋ᵀ√∂∑∫∈‖∇]\S*"  # what only formulas have
    r"|\S*[Α-Ωα-ωϑϕ]\S*"  # a Greek letter; U+00B5, the micro of units, is none
    r"|(?<![A-Za-z/])[A-Za-ln-rt-z](?:⁻¹|[²³])(?![\w/])"  # A⁻¹, r²; m² and s² are units
    r"|(?<![\w=<>])[A-Za-z]\w{0,2} = [-−\d.(\[A-Za-z]\S*"  # a = 0
)
NO_CODE = re.compile(r"[×·ᵀ²³√−₀-₉]")  # what Python does not know


def language(notebook):
    """No filler, no exclamation marks, no emoji."""
    wrong = []
    for i, cell in markdown_cells(notebook):
        text = FORMULA.sub(" ", prose(cell.source))  # 3! in a formula
        for word in re.findall(r"\b(?:simply|obviously)\b", text, re.IGNORECASE):
            wrong.append(f"cell {i}: the word {word!r}")
        if "!" in text:
            wrong.append(f"cell {i}: an exclamation mark")
        if re.search("[\U0001f000-\U0001faff\u2705\u274c\u2728\u26a0]", text):
            wrong.append(f"cell {i}: an emoji")
    return wrong


def mathematics(notebook):
    """Formulas are set between dollars, in a line too; not typed, and not written as code."""
    wrong = []
    for i, cell in markdown_cells(notebook):
        text = authors_text(cell.source)
        text = re.sub(r"```.*?```", " ", text, flags=re.DOTALL)
        text = re.split(r"\*\*References", FORMULA.sub(" ", text))[0]
        spans = re.findall(r"`([^`\n]+)`", text)
        found = [span for span in spans if NO_CODE.search(span)]
        found += [match[0] for match in TYPED.finditer(prose(text))]
        if found:
            wrong.append(f"cell {i}: set between dollars: {', '.join(dict.fromkeys(found))}")
    return wrong


# --- boxes -----------------------------------------------------------------------------------

BOX = re.compile(r'<div class="alert alert-info">\n\n.*?\n\n</div>', re.DOTALL)
ASKED = re.compile(r"\*\*(?:Your turn|Before you (?:read on|stop|go on|start))[^*]*\*\*", re.I)


def boxes(notebook):
    """What the reader must do stands in a box: the prediction, each checkpoint, "Your turn".

    A box is `<div class="alert alert-info">`, an empty line, text, an empty line, `</div>`.
    """
    wrong = []
    for i, cell in markdown_cells(notebook):
        outside = BOX.sub(" ", unfolded(cell.source))
        if "alert-info" in outside:
            wrong.append(f"cell {i}: a box without an empty line inside each of its tags")
        for asked in ASKED.findall(outside):
            wrong.append(f"cell {i}: {asked} stands outside of a box")
        predict = re.search(r"^## Predict\b(.*?)(?=^#|\Z)", cell.source, re.S | re.M)
        below = predict and predict[1] + markdown_of(notebook.cells[i : i + 1])
        if predict and not BOX.search(below):
            wrong.append(f"cell {i}: the question of Predict stands outside of a box")
    for checkpoint in checkpoints(notebook):
        above = [cell for cell in notebook.cells[: checkpoint.cell - 1]][-1:]
        if not BOX.search(markdown_of(above)):
            wrong.append(f"cell {checkpoint.cell}: no box above {checkpoint.key} says what to do")
    return wrong


# --- links -----------------------------------------------------------------------------------

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|<a\b[^>]*\bhref=[\"']([^\"']+)")


def links_of(source):
    """The addresses of all links in a piece of markdown."""
    return [unquote(one or other) for one, other in LINK.findall(re.sub(r"`[^`\n]*`", "", source))]


def links(notebook):
    """First cell: to the lesson before, the glossary and each part; last: the next and homework.

    `course.py refresh` writes them. Each link leads to something that exists.
    """
    lesson = number(notebook)
    if lesson is None:
        return ["cell 1: no number, so no neighbours"]
    first, last = (links_of(cell.source) for cell in (notebook.cells[0], notebook.cells[-1]))
    parts = [cell for _, cell in markdown_cells(notebook) if part_heading(cell)]
    in_first = [*beside(f"{lesson - 1:02d}_*.ipynb"), "glossary.md"]
    in_first += [f"#cell-id={cell.id}" for cell in parts]
    in_last = [
        *beside(f"{lesson + 1:02d}_*.ipynb"),
        *beside(f"homework/hw{lesson:02d}_*/hw*.ipynb"),
    ]
    wrong = [f"cell 1: no link to {target}" for target in in_first if target not in first]
    wrong += [f"last cell: no link to {target}" for target in in_last if target not in last]
    return wrong + dead_links(notebook)


def beside(pattern):
    """Addresses of the files that fit, seen from a lesson."""
    return [path.relative_to(NOTEBOOKS).as_posix() for path in sorted(NOTEBOOKS.glob(pattern))]


def dead_links(notebook):
    """Links that lead to no file, to no cell of this page, or to no word of the glossary."""
    cells = {f"cell-id={cell.id}" for cell in notebook.cells}
    glossary = (NOTEBOOKS / "glossary.md").read_text(encoding="utf-8")
    words = {w.replace(" ", "-") for w in re.findall(r"^### (.+?) *$", glossary, re.MULTILINE)}
    wrong = []
    for i, cell in markdown_cells(notebook):
        for target in links_of(cell.source):
            path, _, anchor = target.partition("#")
            known = {"": cells, "glossary.md": words}.get(path)
            if re.match(r"[a-z]+:", path):
                continue
            if not (NOTEBOOKS / path).exists() or (anchor and known and anchor not in known):
                wrong.append(f"cell {i}: the link to {target} leads nowhere")
    return wrong
