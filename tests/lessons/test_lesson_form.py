"""Every lesson keeps the form of the course; and every rule of that form can fail."""

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from support import lesson_rules as rules

from course_lib.tools.refresh import normalise

LESSONS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("[0-9][0-9]_*.ipynb"))
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def read(path):
    return nbformat.read(path, as_version=4)


# --- the lessons -----------------------------------------------------------------------------


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_lesson_keeps_the_form(path, rule):
    assert rule(read(path)) == []


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_title_and_file_name_have_the_same_number(path):
    assert rules.number(read(path)) == int(path.stem[:2])


# --- a small lesson that keeps every rule ----------------------------------------------------

TITLE = """# 02 · A title

**Promise.** You can do it.

**Time.** 20 minutes.

**Needs.** Lesson 00.

**You will be able to**

- do one thing,
- do another,
- do a third."""

SUMMARY = (
    "## Summary\n\nIt was 12.5.\n\n**What next.** More.\n\n**References.** A. Author, *A book*,"
    " 1234 pages."
)


def show(alt="A line that rises", plain="A line that rises", **metadata):
    """The output of a cell that shows a picture."""
    data = {"image/png": PIXEL, "text/plain": plain}
    return new_output("display_data", data, metadata={"image/png": {"alt": alt, **metadata}})


def say(text, name="stdout"):
    return new_output("stream", name=name, text=text)


def code(source, *outputs, tags=()):
    return new_code_cell(
        source,
        outputs=list(outputs),
        execution_count=1,
        metadata={"tags": list(tags)} if tags else {},
    )


def explorer():
    return [
        new_markdown_cell("### Move it\n\n1. What happens?"),
        code("explore(build, draw, 'A line', x=slider(0, 1, 0.5))", show()),
        new_markdown_cell("<details><summary>Answers</summary>\n\n1. This.\n</details>"),
    ]


def checkpoint(name, solution="x = 1", answer="x"):
    folded = f"<details><summary>Solution</summary>\n\n```python\n{solution}\n```\n</details>"
    return [
        code(f"{answer} = ...\ncheck('02.{name}', {answer})", say("open\n")),
        new_markdown_cell(folded),
    ]


def lesson(*extra):
    """A lesson that keeps every rule, with `extra` cells before its claim check."""
    cells = [
        new_markdown_cell(TITLE),
        new_markdown_cell("## Predict\n\nHow much?"),
        code("print(12.4996)", say("12.4996\n")),
    ]
    cells += explorer() + explorer() + list(extra)
    cells += [
        new_markdown_cell("## Claim check\n\nSaid, not so."),
        new_markdown_cell("## Clinic\n\nIt hurts."),
    ]
    cells += [
        new_markdown_cell("## Checkpoints"),
        *checkpoint("a"),
        *checkpoint("b"),
        *checkpoint("c"),
    ]
    return normalise(new_notebook(cells=[*cells, new_markdown_cell(SUMMARY)]))


def edited(old, new, cell_type="markdown"):
    """The small lesson with `old` replaced in its cells."""
    notebook = lesson()
    changed = False
    for cell in notebook.cells:
        if cell.cell_type == cell_type and old in cell.source:
            cell.source, changed = cell.source.replace(old, new), True
    assert changed, f"{old!r} is in no {cell_type} cell"
    return notebook


def clinic_before_claim_check():
    notebook = lesson()
    clinic = next(cell for cell in notebook.cells if cell.source.startswith("## Clinic"))
    notebook.cells.remove(clinic)
    notebook.cells.insert(1, clinic)
    return notebook


def without_outputs():
    notebook = lesson()
    for _, cell in rules.code_cells(notebook):
        cell.outputs = []
    return notebook


def never_run():
    notebook = lesson()
    for _, cell in rules.code_cells(notebook):
        cell.outputs, cell.execution_count = [], None
    return notebook


def saved_by_an_editor():
    notebook = lesson()
    notebook.metadata.language_info["version"] = "3.12.0"
    notebook.cells[2].metadata["execution"] = {"iopub.execute_input": "2026-01-01T00:00:00Z"}
    return notebook


def test_the_small_lesson_keeps_every_rule():
    assert {rule.__name__: rule(lesson()) for rule in rules.RULES if rule(lesson())} == {}


LINES_26 = "\n".join(f"y{i} = {i}" for i in range(26))
BAD = [
    (rules.title_cell, edited("02 · A", "A")),
    (rules.title_cell, edited("**Promise.**", "Promise:")),
    (rules.title_cell, edited("20 minutes", "soon")),
    (rules.title_cell, edited("- do another,\n- do a third.", "")),
    (rules.title_cell, edited("- do a third.", "- 3\n- 4\n- 5\n- 6")),
    (rules.sections, edited("## Clinic", "## Trouble")),
    (rules.sections, edited("## Predict", "## Later")),
    (rules.sections, clinic_before_claim_check()),
    (rules.sections, edited("**What next.** More.", "")),
    (rules.sections, edited("**References.**", "Books:")),
    (rules.sections, edited("**References.**", "## Postscript\n\n**References.**")),
    (rules.cell_length, lesson(code(LINES_26))),
    (rules.cell_length, lesson(code(LINES_26 + "\n" + LINES_26, tags=["key-algorithm"]))),
    (rules.language, lesson(new_markdown_cell("You simply turn it."))),
    (rules.language, lesson(new_markdown_cell("Obviously it turns."))),
    (rules.language, lesson(new_markdown_cell("Well done!"))),
    (rules.language, lesson(new_markdown_cell("Well done \U0001f389"))),
    (rules.cells_were_run, never_run()),
    (rules.outputs_are_stored, without_outputs()),
    (rules.outputs_are_stored, lesson(code("1 + 1"))),
    (rules.outputs_are_stored, lesson(code("for i in range(3):\n    print(i)"))),
    (rules.outputs_are_stored, lesson(code("fig = draw()\nplots.show(fig, 'A line')"))),
    (rules.outputs_are_stored, lesson(code("table = check('02.x', 1)"))),
    (
        rules.no_errors,
        lesson(
            code("1/0", new_output("error", ename="ZeroDivisionError", evalue="", traceback=[]))
        ),
    ),
    (rules.no_errors, lesson(code("f()", say("DeprecationWarning: old\n", name="stderr")))),
    (rules.no_errors, lesson(code("f()", say("NotImplementedError: todo\n")))),
    (rules.alternative_text, lesson(code("plots.show(fig)", show(alt="")))),
    (
        rules.alternative_text,
        lesson(code("plots.show(fig)", show(plain="<Figure size 640x480 with 1 Axes>"))),
    ),
    (rules.alternative_text, lesson(new_markdown_cell("![](map.png)"))),
    (rules.alternative_text, lesson(new_markdown_cell('<img src="map.png">'))),
    (rules.no_machine_paths, lesson(code("f()", say("read /" + "home/ann/arm.yaml\n")))),
    (rules.no_machine_paths, lesson(code("f()", say("read C:\\Users\\ann\n")))),
    (rules.no_machine_paths, lesson(code("open('/" + "tmp/arm.yaml')"))),
    (rules.no_machine_paths, lesson(code("f", say("<function f at 0x7f3a2b1c>\n")))),
    (rules.no_timings, lesson(code("t = perf_counter()\nprint(t)", say("3.2 ms\n")))),
    (rules.stored_by_refresh, saved_by_an_editor()),
    (rules.file_size, lesson(code("f()", say("x" * 1_600_000)))),
    (rules.explorers, edited("explore(", "draw(", "code")),
    (rules.explorers, edited("1. What", "What")),
    (rules.explorers, edited("<details><summary>Answers", "<div><summary>Answers")),
    (rules.explorers, without_outputs()),
    (rules.checkpoint_count, edited("check('02.b'", "look('02.b'", "code")),
    (rules.checkpoint_count, edited("```python", "```text")),
    (rules.numbers_are_shown, edited("It was 12.5.", "It was 12.6.")),
    (rules.numbers_are_shown, edited("It was 12.5.", "It was 12.499.")),
    (rules.numbers_are_shown, edited("It was 12.5.", "It was 0.125 m.")),
]


@pytest.mark.parametrize(
    "rule, notebook", BAD, ids=[f"{rule.__name__}-{i}" for i, (rule, _) in enumerate(BAD)]
)
def test_the_rule_can_fail(rule, notebook):
    assert rule(notebook) != []


def test_every_rule_is_shown_to_fail():
    assert {rule for rule, _ in BAD} == set(rules.RULES)


GOOD = [
    (rules.cell_length, lesson(code(LINES_26, tags=["key-algorithm"]))),
    (
        rules.language,
        lesson(
            new_markdown_cell(
                "`a != b`, ![arm](arm.png), $x/3!$ and\n\n```python\nprint('Hi!')\n```"
            )
        ),
    ),
    (
        rules.outputs_are_stored,
        lesson(
            code("def f():\n    print(1)"), code("np.set_printoptions(precision=3)"), code("f(1);")
        ),
    ),
    (rules.no_machine_paths, lesson(new_markdown_cell("Turn it by a/home/b, see data/arms, 1/2."))),
    (
        rules.no_timings,
        lesson(code("t = perf_counter()\nprint(t)", say("3.2 ms\n"), tags=["nbval-ignore-output"])),
    ),
    (
        rules.checkpoint_count,
        lesson(code("check('02.wrong', 1)", say("no\n"), tags=["wrong-on-purpose"])),
    ),
]


@pytest.mark.parametrize("rule, notebook", GOOD, ids=[rule.__name__ for rule, _ in GOOD])
def test_the_rule_lets_good_cells_pass(rule, notebook):
    assert rule(notebook) == []


# --- numbers in prose ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shown, said",
    [
        ("54.5504", "54.55 mm"),
        ("-54.5504", "a drop of 54.55 mm, −54.6"),
        ("1234567", "1,234,567 or 1 234 567"),
        ("2.4e-12", "2.40·10⁻¹² or 2.40e-12"),
        ("[0.25,0.125]", "(0.25, 0.125)"),
        ("0.3", "0.300"),
        (
            "x",
            (
                "Puma 560, lesson 02, in 1955, 100 times, IRB 6640, 10⁵, `3.14159`, v2.4.6, 1000"
                " poses, 90°"
            ),
        ),
    ],
)
def test_numbers_that_are_shown(shown, said):
    assert (
        rules.numbers_are_shown(lesson(code("f()", say(shown + "\n")), new_markdown_cell(said)))
        == []
    )


@pytest.mark.parametrize(
    "shown, said",
    [("54.5504", "54.56 mm"), ("0.1254", "12.54 %"), ("3.14", "3.1416"), ("1954", "1955 mm")],
)
def test_numbers_that_are_not_shown(shown, said):
    assert (
        len(
            rules.numbers_are_shown(lesson(code("f()", say(shown + "\n")), new_markdown_cell(said)))
        )
        == 1
    )


def test_inputs_in_the_code_count_as_shown():
    assert (
        rules.numbers_are_shown(
            lesson(code("a = [.4318, 1_500.25]"), new_markdown_cell("0.4318 m and 1500.25"))
        )
        == []
    )
