"""Rules on what is stored in the notebook: outputs, pictures, paths, times, the file itself."""

import ast
import re
from pathlib import Path

import nbformat
from support.lesson_rules.reading import (
    called_name,
    code_cells,
    markdown_cells,
    number,
    output_text,
    pictures,
    statements,
    tags,
    top_calls,
)

from course_lib.tools import pages
from course_lib.tools.refresh import dumps, normalise

NOTEBOOKS = Path(__file__).resolve().parents[3] / "notebooks"
LARGEST_FILE = 1_500_000  # bytes


def cells_were_run(notebook):
    """Every code cell was run and stored, from top to bottom."""
    counts = [(i, cell.execution_count) for i, cell in code_cells(notebook)]
    return [
        f"cell {i}: execution count {count}, expected {n}"
        for n, (i, count) in enumerate(counts, 1)
        if count != n
    ]


# A last line like `np.set_printoptions(...)` shows nothing: these calls return None.
SILENT = {"set_printoptions", "init_printing", "seed", "simplefilter", "filterwarnings"}
SILENT |= {"shuffle", "sort", "append", "update", "extend"}
SHOWS = {"print", "show", "display", "check", "explore"}


def outputs_are_stored(notebook):
    """A cell that prints, shows or ends in a value has its output stored: else nbval is blind."""
    return [
        f"cell {i}: shows something, but no output is stored"
        for i, cell in code_cells(notebook)
        if not cell.outputs and (SHOWS & set(top_calls(cell)) or ends_in_value(cell))
    ]


def ends_in_value(cell):
    """Whether the last line of a cell is a value that the page would show."""
    body = statements(cell)
    last = body[-1].value if body and isinstance(body[-1], ast.Expr) else None
    hidden = cell.source.rstrip().endswith(";")
    return last is not None and called_name(last) not in SILENT and not hidden


def no_errors(notebook):
    """No error, no warning, and no NotImplementedError that was caught and printed."""
    wrong = []
    for i, cell in code_cells(notebook):
        for output in cell.outputs:
            if output.output_type == "error":
                wrong.append(f"cell {i}: stored with the error {output.ename}")
            elif output.get("name") == "stderr":
                wrong.append(f"cell {i}: output on stderr: {output.text.strip()[:60]}")
            elif "NotImplementedError" in output_text(output):
                wrong.append(f"cell {i}: prints a NotImplementedError")
    return wrong


def alternative_text(notebook):
    """Every picture says in words what there is to see: an `<img alt>`, for screen readers."""
    wrong = []
    for i, cell in code_cells(notebook):
        for output in pictures(cell):
            alt = alt_of(output.data.get("text/html", ""))
            plain = output.data.get("text/plain", "")
            if len(alt.split()) < 3:
                wrong.append(f"cell {i}: a picture without <img alt=…> in its text/html")
            if not plain or plain.startswith("<"):
                wrong.append(f"cell {i}: text/plain of a picture is {plain[:40]!r}, expected words")
    for i, cell in markdown_cells(notebook):
        images = re.findall(r"<img\b[^>]*>", cell.source)
        if re.search(r"!\[\s*\]\(", cell.source) or not all(map(alt_of, images)):
            wrong.append(f"cell {i}: a picture without alternative text")
    return wrong


def alt_of(html):
    """The alternative text of the first `<img>`, "" if there is none."""
    found = re.search(r"<img\b[^>]*\balt=([\"'])(.*?)\1", html, re.DOTALL)
    return found[2].strip() if found else ""


MACHINE_PATH = re.compile(
    r"(?<![\w.~/])/(?:work|root|home|tmp|usr|opt|var|mnt|Users|content)/"
    r"|\b[A-Z]:[\\/](?!/)|file:/{2}"
)


def no_machine_paths(notebook):
    """No absolute paths and no object addresses, in sources or outputs."""
    wrong = []
    for i, cell in enumerate(notebook.cells, 1):
        outputs = "\n".join(output_text(output) for output in cell.get("outputs", []))
        found = MACHINE_PATH.search(cell.source) or MACHINE_PATH.search(outputs)
        if found:
            wrong.append(f"cell {i}: the absolute path {found[0]}…")
        found = re.search(r"0x[0-9a-fA-F]{6,}", outputs)
        if found:
            wrong.append(f"cell {i}: the object address {found[0]}")
    return wrong


TIMER = re.compile(
    r"\b(perf_counter|process_time|monotonic|timeit)\b|\btime\.time\(|datetime\.now|^%%?time",
    re.MULTILINE,
)


def no_timings(notebook):
    """What differs from run to run, as times do, has the tag nbval-ignore-output."""
    return [
        f"cell {i}: reads a clock ({TIMER.search(cell.source)[0]}) and stores text without the tag"
        " nbval-ignore-output"
        for i, cell in code_cells(notebook)
        if TIMER.search(cell.source)
        and "nbval-ignore-output" not in tags(cell)
        and any(map(output_text, cell.outputs))
    ]


def stored_by_refresh(notebook):
    """The notebook is stored as `course.py refresh` leaves it, its machine-made lines included."""
    tidy = normalise(nbformat.from_dict(notebook))
    for path in sorted(NOTEBOOKS.glob(f"{number(notebook) or 0:02d}_*.ipynb")):
        pages.make(tidy, pages.surroundings(path))
    stored = dumps(tidy) == dumps(notebook)
    return [] if stored else ["not stored by `python3 course.py refresh`: run it"]


def file_size(notebook):
    """A lesson stays small enough to clone and to diff."""
    size = len(dumps(notebook).encode())
    said = f"{size / 1e6:.2f} MB, at most {LARGEST_FILE / 1e6} MB: fewer or smaller figures?"
    return [] if size <= LARGEST_FILE else [said]
