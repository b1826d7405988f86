"""Every lesson keeps the form of the course; and every rule of that form can fail."""

import functools
import re
from pathlib import Path

import nbformat
import pytest
from support.lesson_rules import EXCEPTIONS, RULES, code, numbers, outputs, pace, page, tasks
from support.lesson_rules.reading import checkpoints, markdown_of, number
from support.small_lesson import (
    box,
    checkpoint,
    clinic_first,
    edited,
    lesson,
    picture,
    saved_by_an_editor,
    say,
    text,
    without_outputs,
)
from support.small_lesson import code as cell

from course_lib.check import find_exercise

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
LESSONS = sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))
HOMEWORK = sorted(NOTEBOOKS.glob("homework/hw[0-9][0-9]_*/hw*.ipynb"))


@functools.cache
def read(path):
    return nbformat.read(path, as_version=4)


# --- the lessons -----------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_lesson_keeps_the_form(path, rule):
    wrong = rule(read(path))
    if int(path.stem[:2]) in EXCEPTIONS.get(rule, ()):
        assert wrong, "keeps the rule by now: take the lesson out of EXCEPTIONS"
    else:
        assert wrong == []


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_title_and_file_name_have_the_same_number(path):
    assert number(read(path)) == int(path.stem[:2])


def test_only_the_first_five_lessons_may_be_exceptions():
    assert set(EXCEPTIONS) <= set(RULES)
    assert set().union(*EXCEPTIONS.values()) <= {0, 1, 2, 3, 4}


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_exercises_that_the_text_names_exist(path):
    for key in re.findall(r'check\("((?:hw)?\d\d\.\w+)"', markdown_of(read(path).cells)):
        find_exercise(key)  # ValueError if there is none


def solution_regions(notebook):
    """The code between nbgrader's marks, one text for each cell that has them."""
    for source in (c.source for c in notebook.cells if c.cell_type == "code"):
        if "### BEGIN SOLUTION" in source:
            yield source.replace("### BEGIN SOLUTION", "").replace("### END SOLUTION", "")


@pytest.mark.parametrize("path", HOMEWORK, ids=lambda path: path.stem)
def test_no_homework_is_a_copy_of_its_lesson(path):
    taught = list(NOTEBOOKS.glob(f"{path.stem[2:4]}_*.ipynb"))
    if not taught:
        pytest.skip("its lesson is not written yet")
    for solution in solution_regions(read(path)):
        assert tasks.copies(solution, read(taught[0])) == []


# --- rules can fail: a small lesson that keeps all, and one change for each -------------------


def test_the_small_lesson_keeps_every_rule():
    assert {rule.__name__: rule(lesson()) for rule in RULES if rule(lesson())} == {}


LINES_26 = "\n".join(f"y{i} = {i}" for i in range(26))
WORDS_400 = text("word " * 400)
DRAW = "def build_it():\n    return plots.figure()"
SHOW = "fig = plots.figure()\nplots.show(fig, 'A line that rises')"
LONG_PART = [text("# B · Long"), text("word " * 3600), *checkpoint("d"), text("# C · On")]
COPIED = "def f(a, b):\n    a = a / np.linalg.norm(a)\n    return a @ b"
COPY = "def answer(one, two):\n    one = one / np.linalg.norm(one)\n    return one @ two"
COPY_LOOP = "y = x + 1\nz = y @ x"
COPY_LINE = "def answer(p, q, r):\n    return np.linalg.norm(p - q) / r"
FAULTY = {
    page.title_cell: [
        edited("02 · A", "A"),
        edited("**Promise.**", "Promise:"),
        edited("26 minutes", "soon"),
        edited("- do another,\n- do a third.", ""),
        edited("- do a third.", "- 3\n- 4\n- 5\n- 6"),
    ],
    page.sections: [
        edited("## Clinic", "## Trouble"),
        edited("## Predict", "## Later"),
        clinic_first(),
        edited("**What next.**", ""),
        edited("**References.**", "Books:"),
        edited("**References.**", "## Postscript\n\n**References.**"),
    ],
    page.recaps: [
        lesson(text("- one\n- two"), text("# B · Two")),
        lesson(text("- one\n- two\n- three"), text("More."), text("# B · Two")),
    ],
    page.language: [
        lesson(text("You simply turn it.")),
        lesson(text("Obviously it turns.")),
        lesson(text("Well done!")),
        lesson(text("Well done \U0001f389")),
    ],
    page.mathematics: [
        lesson(text("The axis z₀ stays.")),
        lesson(text("Turn it by θ.")),
        lesson(text("Multiply by A⁻¹, and you are back.")),
        lesson(text("With a = 0 it is a wrist.")),
        lesson(text("It is `J = [1, −[r]×]`.")),
        lesson(text("The area is r² times that.")),
    ],
    page.boxes: [
        lesson(text("**Your turn.** Find it.")),
        lesson(text("**Before you stop for tonight:** which one?")),
        edited(box("How much?"), "How much?"),
        edited(box("**Checkpoint.** Find b."), "**Checkpoint.** Find b."),
        lesson(text('<div class="alert alert-info">**Your turn.**</div>')),
    ],
    page.links: [
        edited("(01_rotations_and_frames.ipynb)", ""),
        edited("(glossary.md)", ""),
        edited("(#cell-id=", "("),
        edited("(03_urdf_checks.ipynb)", ""),
        edited("(homework/hw02_dh/hw02_dh.ipynb)", ""),
        lesson(text("[elsewhere](no_such_page.md)")),
        lesson(text("[below](#cell-id=no-such-cell)")),
        edited("(glossary.md)", "(glossary.md#no-such-word) [Glossary](glossary.md)"),
        lesson(text('<a href="no_such_page.md">elsewhere</a>')),
    ],
    code.cell_length: [
        lesson(cell(LINES_26)),
        lesson(cell(LINES_26 + "\n" + LINES_26, tags=["key-algorithm"])),
    ],
    code.number_of_cells: [lesson(*(text("word") for _ in range(100)))],
    code.drawing_is_folded: [
        lesson(cell(DRAW)),
        lesson(cell("COLOUR = 'red'\n\n\ndef arc(ax, r):\n    ax.plot(r)")),
        lesson(cell(DRAW + "\n\n\nexplore(build_it, draw, 'A line', x=slider(0, 1))", picture())),
        lesson(cell(SHOW, picture()), cell("fig = 3\nprint(fig)", say("3\n"))),
    ],
    outputs.cells_were_run: [without_outputs(count=None)],
    outputs.outputs_are_stored: [
        without_outputs(),
        lesson(cell("1 + 1")),
        lesson(cell("for i in range(3):\n    print(i)")),
        lesson(cell("fig = draw()\nplots.show(fig, 'A line')")),
        lesson(cell("table = check('02.x', 1)")),
    ],
    outputs.no_errors: [
        lesson(cell("f()", say("DeprecationWarning: old\n", name="stderr"))),
        lesson(cell("f()", say("NotImplementedError: todo\n"))),
        lesson(cell("1/0", nbformat.v4.new_output("error", ename="ZeroDivisionError"))),
    ],
    outputs.alternative_text: [
        lesson(cell("plots.show(fig)", picture(alt=""))),
        lesson(cell("plots.show(fig)", picture(plain="<Figure size 640x480 with 1 Axes>"))),
        lesson(text("![](map.png)")),
        lesson(text('<img src="map.png">')),
    ],
    outputs.no_machine_paths: [
        lesson(cell("f()", say("read /" + "home/ann/arm.yaml\n"))),
        lesson(cell("f()", say("read C:\\Users\\ann\n"))),
        lesson(cell("open('/" + "tmp/arm.yaml')")),
        lesson(cell("f", say("<function f at 0x7f3a2b1c>\n"))),
    ],
    outputs.no_timings: [lesson(cell("t = perf_counter()\nprint(t)", say("3.2 ms\n")))],
    outputs.stored_by_refresh: [saved_by_an_editor(), edited("Lesson before", "Before")],
    outputs.file_size: [lesson(cell("f()", say("x" * 1_600_000)))],
    numbers.numbers_are_shown: [
        edited("It was 12.5.", "It was 12.6."),
        edited("It was 12.5.", "It was 12.499."),
        edited("It was 12.5.", "It was 0.125 m."),
    ],
    tasks.explorers: [
        edited("explore(", "draw(", "code"),
        edited("0.5))", "0.5));\nx = 1", "code"),
        edited("1. What", "What"),
        edited("<details><summary>Answers", "<div><summary>Answers"),
        without_outputs(),
    ],
    tasks.checkpoint_count: [
        edited("check('02.b'", "look('02.b'", "code"),
        edited("```python", "```text"),
    ],
    tasks.tasks_are_new: [
        lesson(cell(COPIED), *checkpoint("d", COPY, "answer")),
        lesson(cell("print(np.linalg.norm(a - b) / c)"), *checkpoint("d", COPY_LINE, "answer")),
        lesson(cell("for a in b:\n    c = a + 1\n    d = c @ a"), *checkpoint("d", COPY_LOOP)),
    ],
    pace.minutes: [
        lesson(text("word " * 75 * 150), *checkpoint("d")),
        lesson(*LONG_PART),
        lesson(text("## More (deeper)"), text("word " * 75 * 240)),
    ],
    pace.stated_minutes: [
        edited("26 minutes", "30 minutes"),
        edited("26 minutes", "22 minutes"),
        lesson(text("## More (deeper)\n\n" + "word " * 750)),
    ],
    pace.no_idle_stretch: [lesson(text("word " * 800))],
    pace.first_explorer: [edited("## Predict", "word " * 400 + "\n\n## Predict")],
}


@pytest.mark.parametrize(
    "rule, notebook",
    [
        pytest.param(rule, notebook, id=f"{rule.__name__}-{i}")
        for rule, spoiled in FAULTY.items()
        for i, notebook in enumerate(spoiled)
    ],
)
def test_the_rule_can_fail(rule, notebook):
    assert rule(notebook) != []


def test_every_rule_is_shown_to_fail():
    assert set(FAULTY) == set(RULES)


CODE_IN_PROSE = "`a != b`, ![arm](arm.png), $x/3!$ and\n\n```python\nprint('Hi!')\n```"
CLOCK_IS_READ = cell("t = perf_counter()\nprint(t)", say("3.2 ms\n"), tags=["nbval-ignore-output"])
GOOD = [
    (page.language, text(CODE_IN_PROSE)),
    (
        page.mathematics,
        text(
            "$z_0$ and `q = 0`, 5 kg m², 2 m/s², in m³, 3·10⁻¹², 4×4, 90°, 2 µm, −1, `T_ab @ T_bc`."
        ),
    ),
    (page.boxes, text("<details>\n\n**Your turn.** It was this.\n</details>")),
    (
        page.links,
        text("[the arm](../data/arms/cobot6.yaml), [up](#cell-id=cell-01), https://example.org"),
    ),
    (code.cell_length, cell(LINES_26, tags=["key-algorithm"])),
    (code.drawing_is_folded, cell(DRAW, folded=True)),
    (code.drawing_is_folded, cell("a = solve()\n" + SHOW + "\nprint(a)", picture())),
    (code.drawing_is_folded, cell("def walk(a):\n    return 2 * a")),
    (outputs.outputs_are_stored, cell("def f():\n    print(1)")),
    (outputs.outputs_are_stored, cell("np.set_printoptions(precision=3)")),
    (outputs.outputs_are_stored, cell("f(1);")),
    (outputs.no_machine_paths, text("Turn it by a/home/b, see data/arms, 1/2.")),
    (outputs.no_timings, CLOCK_IS_READ),
    (tasks.checkpoint_count, cell("check('02.wrong', 1)", say("no\n"), tags=["wrong-on-purpose"])),
    (tasks.tasks_are_new, cell("def f(a, b):\n    return a @ b")),
    (pace.no_idle_stretch, text("word " * 300 + box("**Your turn.**"))),
]


@pytest.mark.parametrize("rule, good", GOOD, ids=[rule.__name__ for rule, _ in GOOD])
def test_the_rule_lets_good_cells_pass(rule, good):
    assert rule(lesson(good)) == []


def test_a_picture_whose_data_is_used_later_need_not_be_folded():
    used = lesson(cell("best = 3\n" + SHOW, picture()), cell("print(best)", say("3\n")))
    assert code.drawing_is_folded(used) == []


def test_a_part_with_a_recap_is_good():
    two_parts = lesson(text("Then:\n\n- one,\n- two,\n- three."), text("# B · Two"))
    assert page.recaps(two_parts) == [] and any(c.id == "onward-a" for c in two_parts.cells)


def test_minutes_of_core_and_whole_are_stated():
    deeper = lesson(text("## More (deeper)\n\n" + "word " * 750))
    deeper.cells[0].source = deeper.cells[0].source.replace(
        "26 minutes", "26 minutes, and 36 minutes with what is deeper"
    )
    assert pace.stated_minutes(deeper) == []


def test_a_solution_with_other_code_is_no_copy():
    other = COPY.replace("one @ two", "two @ one")
    assert tasks.copies(other, lesson(cell(COPIED))) == []
    assert tasks.copies(COPY, lesson(cell(COPIED))) != []


# --- numbers in prose ------------------------------------------------------------------------

NOT_JUDGED = (
    "Puma 560, lesson 02, in 1955, 100 times, IRB 6640, 10⁵, `3.14159`, v2.4.6, 1000 poses, 90°"
)


@pytest.mark.parametrize(
    "shown, said",
    [
        ("54.5504", "54.55 mm"),
        ("-54.5504", "a drop of 54.55 mm, −54.6"),
        ("1234567", "1,234,567 or 1 234 567"),
        ("2.4e-12", "2.40·10⁻¹² or 2.40e-12"),
        ("2.41e-12", r"$x < 2.41\cdot 10^{-12}$ or $2.41 \times 10^{-12}$"),
        ("1234.5", r"$1\,234.5$ and $1{,}234.5$, $q_{123} = 1234.5$"),
        ("[0.25,0.125]", "(0.25, 0.125)"),
        ("0.3", "0.300"),
        ("x", NOT_JUDGED),
    ],
)
def test_numbers_that_are_shown(shown, said):
    page = lesson(cell("f()", say(shown + "\n")), text(said))
    assert numbers.numbers_are_shown(page) == []


@pytest.mark.parametrize(
    "shown, said",
    [
        ("54.5504", "54.56 mm"),
        ("0.1254", "12.54 %"),
        ("3.14", "3.1416"),
        ("1954", "1955 mm"),
        ("2.4e-12", r"$2.42\cdot10^{-12}$"),
    ],
)
def test_numbers_that_are_not_shown(shown, said):
    page = lesson(cell("f()", say(shown + "\n")), text(said))
    assert len(numbers.numbers_are_shown(page)) == 1


def test_inputs_in_the_code_count_as_shown():
    page = lesson(cell("a = [.4318, 1_500.25]"), text("0.4318 m and 1500.25"))
    assert numbers.numbers_are_shown(page) == []


def test_a_readout_beside_a_picture_shows_a_number_and_its_alternative_text_does_not():
    said = text("It is 27.45 mm.")
    assert numbers.numbers_are_shown(lesson(cell("f()", picture(beside="<p>27.45 mm")), said)) == []
    assert numbers.numbers_are_shown(lesson(cell("f()", picture(alt="at 27.45 mm")), said)) != []


# --- reading ---------------------------------------------------------------------------------


def test_checkpoints_are_read_with_answer_and_folded_solution():
    first = checkpoints(lesson(*checkpoint("first", "def x(k):\n    return k", "x")))[0]
    assert (first.key, first.answer) == ("02.first", "x")
    assert first.solution == "def x(k):\n    return k\n"
