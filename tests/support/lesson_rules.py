"""The form of a lesson as small rules: each takes a notebook and returns a list of complaints.

`RULES` is the table of all; tests/test_lesson_form.py runs them over every lesson, and shows for each
that it can fail. `checkpoints` finds a lesson's exercises with their folded solutions.

Cells are counted from 1, markdown cells included, as `course.py refresh` does.
"""

import ast
import io
import re
import tokenize
from dataclasses import dataclass

import nbformat

from course_lib.tools.refresh import dumps, normalise

START, CAPSTONE = 0, 14  # lessons with a form of their own
LONGEST_CELL, LONGEST_KEY_CELL = 25, 40
LARGEST_FILE = 1_500_000  # bytes
SECTIONS = ["Predict", "Claim check", "Clinic", "Checkpoints", "Summary"]
SECTIONS_OF_START = ["Checkpoints", "Summary"]


# --- reading a notebook ----------------------------------------------------------------------


def number(notebook):
    """The lesson's number as its title says it (`# 02 · Title`), or None."""
    found = re.match(r"# (\d\d) · \S", notebook.cells[0].source) if notebook.cells else None
    return int(found[1]) if found else None


def code_cells(notebook):
    """(number, cell) of all code cells."""
    return [(i, cell) for i, cell in enumerate(notebook.cells, 1) if cell.cell_type == "code"]


def markdown_cells(notebook):
    """(number, cell) of all markdown cells."""
    return [(i, cell) for i, cell in enumerate(notebook.cells, 1) if cell.cell_type == "markdown"]


def markdown_of(cells):
    """The text of the markdown cells among `cells`."""
    return "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def tags(cell):
    return cell.metadata.get("tags", [])


def statements(cell):
    """The cell's top-level statements; IPython's magic lines are left out."""
    lines = ["pass" if re.match(r"[%!]", line) else line for line in cell.source.splitlines()]
    return ast.parse("\n".join(lines)).body


def called_name(node):
    """ "show" for `plots.show(...)` and `show(...)`, "" for what is no call by name."""
    function = node.func if isinstance(node, ast.Call) else None
    return getattr(function, "attr", getattr(function, "id", ""))


def top_calls(cell):
    """Names of the functions that are called when the cell runs, outside of `if`, `def` and the like."""
    names, todo = [], list(statements(cell))
    closed = (
        ast.FunctionDef,
        ast.ClassDef,
        ast.Lambda,
        ast.If,
        ast.Try,
        ast.While,
        ast.comprehension,
    )
    while todo:
        node = todo.pop()
        if not isinstance(node, closed):
            names.append(called_name(node))
            todo.extend(ast.iter_child_nodes(node))
    return [name for name in names if name]


def output_text(output):
    """What an output says in words, pictures left out."""
    if output.output_type == "stream":
        return output.text
    data = output.get("data", {})
    if any(kind.startswith("image/") for kind in data):
        return ""
    texts = [text for kind, text in data.items() if kind.startswith("text/")]
    return re.sub(r"<[^>]+>", " ", "\n".join(texts))


def prose(source):
    """Markdown without code, tags and addresses."""
    source = re.sub(r"```.*?```|~~~.*?~~~", " ", source, flags=re.DOTALL)
    source = re.sub(r"(?:^|\n)\n(?: {4}.*(?:\n|$))+", "\n\n", source)
    source = re.sub(r"`[^`\n]*`", " ", source)
    source = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", source)
    return re.sub(r"<[^>]+>|https?://\S+", " ", source)


# --- the page --------------------------------------------------------------------------------


def title_cell(notebook):
    """The first cell says number, title, promise, minutes, needs and three to five goals."""
    text = notebook.cells[0].source if notebook.cells else ""
    complaints = (
        [] if number(notebook) is not None else ["cell 1: expected the title `# NN · Title`"]
    )
    for part in ("**Promise.**", "**Time.**", "**Needs.**", "**You will be able to**"):
        if part not in text:
            complaints.append(f"cell 1: {part} is missing")
    if not re.search(r"\*\*Time\.\*\*.*\d.* minutes", text):
        complaints.append("cell 1: the time should be said in minutes")
    goals = re.findall(r"^[-*] ", text.partition("**You will be able to**")[2], re.MULTILINE)
    if not 3 <= len(goals) <= 5:
        complaints.append(f"cell 1: {len(goals)} goals, expected three to five")
    return complaints


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
    complaints = [f"the section `## {name}` is missing" for name in wanted if not places[name]]
    present = [name for name in wanted if places[name]]
    if present != sorted(present, key=lambda name: places[name][-1]):
        complaints.append(f"sections are out of order, expected {', '.join(wanted)}")
    if headings and "Summary" in present and not headings[-1].startswith("Summary"):
        complaints.append(f"`## {headings[-1]}` comes after the summary")
    summary = page.rpartition("## Summary")[2]
    lacking = [part for part in ("What next", "References") if f"**{part}" not in summary]
    return complaints + [f"the summary lacks **{part}.**" for part in lacking]


def cell_length(notebook):
    """A code cell holds one idea: at most 25 lines, or 40 with the tag key-algorithm."""
    complaints = []
    for i, cell in code_cells(notebook):
        lines = len(cell.source.strip().splitlines())
        most = LONGEST_KEY_CELL if "key-algorithm" in tags(cell) else LONGEST_CELL
        if lines > most:
            complaints.append(f"cell {i}: {lines} lines, at most {most}")
    return complaints


def language(notebook):
    """No filler, no exclamation marks, no emoji."""
    complaints = []
    for i, cell in markdown_cells(notebook):
        text = re.sub(
            r"\$\$.*?\$\$|\$[^$\n]*\$", " ", prose(cell.source), flags=re.DOTALL
        )  # 3! in a formula
        for word in re.findall(r"\b(?:simply|obviously)\b", text, re.IGNORECASE):
            complaints.append(f"cell {i}: the word {word!r}")
        if "!" in text:
            complaints.append(f"cell {i}: an exclamation mark")
        if re.search("[\U0001f000-\U0001faff\u2705\u274c\u2728\u26a0]", text):
            complaints.append(f"cell {i}: an emoji")
    return complaints


# --- stored outputs --------------------------------------------------------------------------


def cells_were_run(notebook):
    """Every code cell was run and stored, from top to bottom."""
    counts = [(i, cell.execution_count) for i, cell in code_cells(notebook)]
    return [
        f"cell {i}: execution count {count}, expected {n}"
        for n, (i, count) in enumerate(counts, 1)
        if count != n
    ]


# A last line like `np.set_printoptions(...)` shows nothing: these calls return None.
SILENT = {
    "set_printoptions",
    "init_printing",
    "seed",
    "simplefilter",
    "filterwarnings",
    "shuffle",
    "sort",
    "append",
    "update",
    "extend",
}


def outputs_are_stored(notebook):
    """A cell that prints, shows or ends in a value has its output stored (nbval compares nothing otherwise)."""
    complaints = []
    for i, cell in code_cells(notebook):
        body = statements(cell)
        if not body or cell.outputs:
            continue
        last = body[-1].value if isinstance(body[-1], ast.Expr) else None
        ends_in_value = (
            last is not None
            and called_name(last) not in SILENT
            and not cell.source.rstrip().endswith(";")
        )
        if ends_in_value or {"print", "show", "display", "check", "explore"} & set(top_calls(cell)):
            complaints.append(f"cell {i}: shows something, but no output is stored")
    return complaints


def no_errors(notebook):
    """No error, no warning, and no NotImplementedError that was caught and printed."""
    complaints = []
    for i, cell in code_cells(notebook):
        for output in cell.outputs:
            if output.output_type == "error":
                complaints.append(f"cell {i}: stored with the error {output.ename}")
            elif output.get("name") == "stderr":
                complaints.append(f"cell {i}: output on stderr: {output.text.strip()[:60]}")
            elif "NotImplementedError" in output_text(output):
                complaints.append(f"cell {i}: prints a NotImplementedError")
    return complaints


def alternative_text(notebook):
    """Every picture says in words what there is to see."""
    complaints = []
    for i, cell in code_cells(notebook):
        for output in cell.outputs:
            for kind in output.get("data", {}):
                if kind.startswith("image/"):
                    alt = output.metadata.get(kind, {}).get("alt", "")
                    plain = output.data.get("text/plain", "")
                    if len(alt.split()) < 3:
                        complaints.append(f"cell {i}: a picture without alternative text")
                    if not plain or plain.startswith("<"):
                        complaints.append(
                            f"cell {i}: text/plain of a picture is {plain[:40]!r}, expected words"
                        )
    for i, cell in markdown_cells(notebook):
        if re.search(r"!\[\s*\]\(", cell.source) or re.search(
            r"<img(?![^>]*alt=.[^\"'])", cell.source
        ):
            complaints.append(f"cell {i}: a picture without alternative text")
    return complaints


MACHINE_PATH = re.compile(
    r"(?<![\w.~/])/(?:work|root|home|tmp|usr|opt|var|mnt|Users|content)/|\b[A-Z]:[\\/](?!/)|file:/{2}"
)


def no_machine_paths(notebook):
    """No absolute paths and no object addresses, in sources or outputs."""
    complaints = []
    for i, cell in enumerate(notebook.cells, 1):
        outputs = "\n".join(output_text(output) for output in cell.get("outputs", []))
        found = MACHINE_PATH.search(cell.source) or MACHINE_PATH.search(outputs)
        if found:
            complaints.append(f"cell {i}: the absolute path {found[0]}…")
        found = re.search(r"0x[0-9a-fA-F]{6,}", outputs)
        if found:
            complaints.append(f"cell {i}: the object address {found[0]}")
    return complaints


CLOCK = re.compile(
    r"\b(perf_counter|process_time|monotonic|timeit)\b|\btime\.time\(|datetime\.now|^%%?time",
    re.MULTILINE,
)


def no_timings(notebook):
    """What differs from run to run, as times do, is not compared: the cell has the tag nbval-ignore-output."""
    return [
        f"cell {i}: reads a clock ({CLOCK.search(cell.source)[0]}) and stores text without the tag"
        " nbval-ignore-output"
        for i, cell in code_cells(notebook)
        if CLOCK.search(cell.source)
        and "nbval-ignore-output" not in tags(cell)
        and any(map(output_text, cell.outputs))
    ]


def stored_by_refresh(notebook):
    """The notebook is stored in the form that `course.py refresh` gives it."""
    tidy = dumps(normalise(nbformat.from_dict(notebook)))
    return [] if tidy == dumps(notebook) else ["not stored by `python3 course.py refresh`: run it"]


def file_size(notebook):
    """A lesson stays small enough to clone and to diff."""
    size = len(dumps(notebook).encode())
    return (
        []
        if size <= LARGEST_FILE
        else [f"{size / 1e6:.2f} MB, at most {LARGEST_FILE / 1e6} MB: fewer or smaller figures?"]
    )


# --- explorers and checkpoints ---------------------------------------------------------------


def explorer_cells(notebook):
    """(number, cell) of the cells that end in an explorer."""
    return [(i, cell) for i, cell in code_cells(notebook) if "explore" in top_calls(cell)]


def explorers(notebook):
    """At least two explorers (one in lesson 00), each with a stored picture, questions and folded answers."""
    least = {START: 1, CAPSTONE: 0}.get(number(notebook), 2)
    found = explorer_cells(notebook)
    complaints = [] if len(found) >= least else [f"{len(found)} explorers, at least {least}"]
    for i, cell in found:
        if not any("image/png" in output.get("data", {}) for output in cell.outputs):
            complaints.append(f"cell {i}: an explorer without a stored picture")
        above = [c for c in notebook.cells[: i - 1] if c.cell_type == "markdown"]
        before, below = above[-1:], notebook.cells[i : i + 2]
        asked = re.sub(r"<details>.*?</details>", "", markdown_of(before + below), flags=re.DOTALL)
        if not re.search(r"^1\. ", asked, re.MULTILINE):
            complaints.append(f"cell {i}: an explorer without numbered questions beside it")
        if "<details>" not in markdown_of(below):
            complaints.append(f"cell {i}: an explorer without folded answers below it")
    return complaints


@dataclass
class Checkpoint:
    """An exercise in a lesson: its key, the answer's expression, the folded solution's code (or None)."""

    cell: int
    key: str
    answer: str
    solution: str | None


def checkpoints(notebook):
    """All `check("NN.name", answer)` of a lesson; the solution stands folded between it and the next one.

    A cell with the tag wrong-on-purpose shows what `check` says and is no exercise.
    """
    found = []
    for i, cell in code_cells(notebook):
        if "wrong-on-purpose" in tags(cell):
            continue
        for node in ast.walk(ast.Module(statements(cell), [])):
            if (
                called_name(node) == "check"
                and len(node.args) == 2
                and isinstance(node.args[0], ast.Constant)
            ):
                found.append(Checkpoint(i, node.args[0].value, ast.unparse(node.args[1]), None))
    ends = [checkpoint.cell for checkpoint in found[1:]] + [len(notebook.cells) + 1]
    for checkpoint, end in zip(found, ends):
        below = markdown_of(notebook.cells[checkpoint.cell : end])
        folded = re.findall(r"<details>.*?</details>", below, re.DOTALL)
        code = [re.findall(r"```python\n(.*?)```", text, re.DOTALL) for text in folded]
        checkpoint.solution = next(("\n".join(blocks) for blocks in code if blocks), None)
    return found


def checkpoint_count(notebook):
    """Three or more checkpoints (one in lesson 00), each with a folded solution that holds code."""
    least = {START: 1, CAPSTONE: 0}.get(number(notebook), 3)
    found = checkpoints(notebook)
    complaints = [] if len(found) >= least else [f"{len(found)} checkpoints, at least {least}"]
    return complaints + [
        f"cell {c.cell}: {c.key} has no folded solution" for c in found if not c.solution
    ]


# --- numbers in prose ------------------------------------------------------------------------

SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
NUMBER = re.compile(
    r"(?<![\w.])"  # not within a name, a version or a word
    r"(?P<digits>\d{1,3}(?:[,  ]\d{3})+(?!\d)|\d+)?"
    r"(?P<decimals>\.\d+)?"
    r"(?:e(?P<exponent>[-+]?\d+)|\s?[·×⋅]\s?10(?P<power>[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?"
    r"(?![\w])"
)


@dataclass(frozen=True)
class Number:
    """A number as it is written: its value, the unit of its last digit, its significant digits."""

    text: str
    value: float
    last: float
    significant: int
    at: int


def numbers_in(text):
    """All unsigned numbers in `text`: 1,000 and 1 000 are one number, 2.4·10⁻¹² and 2.4e-12 the same."""
    found = []
    for match in NUMBER.finditer(text):
        digits, decimals = match["digits"] or "", match["decimals"] or ""
        if digits or decimals:
            digits = re.sub(r"[^\d]", "", digits)
            power = int((match["exponent"] or match["power"] or "0").translate(SUPERSCRIPTS))
            last = 10.0 ** (power - max(len(decimals) - 1, 0))
            shown = (digits + decimals[1:]).lstrip("0") if decimals else digits.strip("0")
            value = float(f"{digits or '0'}{decimals}e{power}")
            found.append(Number(match[0], value, last, len(shown), match.start()))
    return found


def shown_values(notebook):
    """The values of all numbers in the outputs and in the code of a lesson."""
    texts = []
    for _, cell in code_cells(notebook):
        texts += [output_text(output) for output in cell.outputs] + code_numbers(cell.source)
    # "(120,150)" may be two numbers or one.
    both = [text for whole in texts for text in (whole, re.sub(r"[,_\[\]()^*]", " ; ", whole))]
    return sorted({n.value for text in both for n in numbers_in(text.replace("−", "-"))})


def code_numbers(source):
    """The number literals of a cell, as texts."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError):
        return [source]
    return [token.string.replace("_", "") for token in tokens if token.type == tokenize.NUMBER]


def prose_numbers(notebook):
    """(cell, Number) of the numbers with three or more significant digits that the prose states."""
    found = []
    for i, cell in markdown_cells(notebook):
        text = prose(re.split(r"\*\*References", cell.source)[0])
        for n in numbers_in(text):
            year = re.fullmatch(r"1[89]\d\d|20\d\d", n.text) and not re.match(
                r"\s*(?:°|%|[a-zA-Zµ]{1,3}\b)", text[n.at + 4 :]
            )
            model = re.search(r"\b[A-Z]{2,}[- ]$", text[: n.at])  # IRB 6640, ISO 9283
            if n.significant >= 3 and not year and not model:
                found.append((i, n))
    return found


def numbers_are_shown(notebook):
    """Each number of three or more digits in the prose is, rounded as it stands there, in an output or an input."""
    values = shown_values(notebook)
    return [
        f"cell {i}: {n.text} is said, but no output shows it"
        for i, n in prose_numbers(notebook)
        if not any(abs(value - n.value) <= 0.5 * n.last * (1 + 1e-9) for value in values)
    ]


RULES = [
    title_cell,
    sections,
    cell_length,
    language,
    cells_were_run,
    outputs_are_stored,
    no_errors,
    alternative_text,
    no_machine_paths,
    no_timings,
    stored_by_refresh,
    file_size,
    explorers,
    checkpoint_count,
    numbers_are_shown,
]
