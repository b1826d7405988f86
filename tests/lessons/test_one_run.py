"""What is judged on the one run of a lesson (support/one_run.py) can fail, and leaves no trace.

The runs of the real lessons are not here: they are tests of the notebooks themselves, as in
`python3 course.py test notebooks/02_dh_derivation.ipynb`.
"""

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from support import lesson_cost
from support.in_kernel import Solver, drive

from course_lib import plots
from course_lib.explore import choice, explore, slider

PROJECT = Path(__file__).resolve().parents[2]


# --- folded solutions ------------------------------------------------------------------------


class Judged:
    def __init__(self, passed):
        self.passed, self.message = passed, "so it is"


def run(cells, solutions):
    """Run cells one after the other; after the n-th, its solution (code, answer, expected value).

    Returns what the solver said of each solution, and the lesson's names at the end.
    """
    names, said = {"__name__": "__main__"}, []
    solver = Solver(names)
    for n, cell in enumerate(cells):
        exec(cell, names)
        if n in solutions:
            code, answer, expected = solutions[n]
            said.append(solver.solve(code, answer, lambda value: Judged(value == expected)))
    return said, names


FIRST = "def first(k): ..."
FIRST_SOLVED = "def first(k):\n    return k + 1"


def test_a_solution_sees_the_lesson_and_leaves_it_as_it_was():
    said, names = run(["base = 2\nx = None"], {0: ("x = base + 1\nnew = 1", "x", 3)})
    assert said == [(True, "so it is")]
    assert names["x"] is None and "new" not in names and names["base"] == 2


def test_a_wrong_solution_is_noticed():
    assert run(["x = None"], {0: ("x = 2", "x", 3)})[0] == [(False, "so it is")]


def test_a_solution_that_stops_is_said_with_its_error_and_put_back():
    said, names = run(["x = None"], {0: ("x = 1\n1 / 0", "x", 1)})
    assert said == [(False, "ZeroDivisionError: division by zero")] and names["x"] is None


def test_later_solutions_and_the_lessons_functions_find_the_earlier_answer():
    cells = [FIRST, "def twice(k):\n    return 2 * first(k)", "y = None"]
    solutions = {0: (FIRST_SOLVED, "first(1)", 2), 2: ("y = twice(first(0))", "y", 4)}
    said, names = run(cells, solutions)
    assert [passed for passed, _ in said] == [True, True]
    assert names["first"](1) is None


def test_what_the_lesson_binds_anew_counts_and_not_the_earlier_answer():
    cells = [FIRST, "def first(k):\n    return 7", "y = None"]
    solutions = {0: (FIRST_SOLVED, "first(1)", 2), 2: ("y = first(0)", "y", 7)}
    assert [passed for passed, _ in run(cells, solutions)[0]] == [True, True]


# --- explorers -------------------------------------------------------------------------------


def made_up(lines):
    """An explorer of one line, whose `draw` consists of `lines`."""

    def build():
        fig, ax = plots.figure(size=(3, 2))
        return fig, {"line": ax.plot([0, 1], [0, 1])[0]}

    names = {}
    exec("def draw(artists, a, kind):\n" + "".join(f"    {line}\n" for line in lines), names)
    kind = choice(["up", "down", "flat"])
    return explore(build, names["draw"], "A line to tilt.", a=slider(0.0, 1, 0.5), kind=kind)


MOVES = [
    "k = {'up': 1, 'down': -1, 'flat': 0}[kind]",
    "artists['line'].set_ydata([0.2 * a, k * (a + 1) / 2])",
]


def test_an_explorer_that_stands_all_settings_has_no_findings():
    assert drive(made_up(MOVES)) == []


def test_a_control_may_change_the_readout_alone():
    assert drive(made_up(["artists['line'].set_ydata([0, a])", "return kind"])) == []


@pytest.mark.parametrize(
    "lines, finding",
    [
        ([*MOVES, "1 / a"], "ZeroDivisionError"),
        ([*MOVES, "if a == 1 and kind == 'flat': raise RuntimeError('corner')"], "corner"),
        (["artists['line'].set_ydata([0, a])"], "kind: nothing to see changes"),
        (
            ["artists['line'].set_ydata([0, a / 2 if kind == 'up' else float('inf')])"],
            "Line2D is not finite",
        ),
        (
            [
                *MOVES,
                "draw.count = getattr(draw, 'count', 0) + 1",
                "artists['line'].set_xdata([draw.count / 50, 1])",
            ],
            "back at the start",
        ),
    ],
)
def test_a_faulty_explorer_is_noticed(lines, finding):
    wrong = drive(made_up(lines))
    assert any(finding in line for line in wrong), wrong


# --- a notebook, run by pytest with nbval ----------------------------------------------------

EXPLORER = """
def draw{n}(artists, a):
    artists["line"].set_ydata([0, {shown}])

explore(build, draw{n}, "A line to tilt.", a=slider(0.0, 1, 0.5))
"""
SETUP = """
from course_lib import plots
from course_lib.check import check
from course_lib.explore import explore, slider

factor = 1

def build():
    fig, ax = plots.figure(size=(3, 2))
    return fig, {"line": ax.plot([0, 1], [0, 1])[0]}
"""
PICTURE = (
    'from IPython.display import HTML\n\nHTML(\'<img alt="{alt}" src="data:image/webp;{src}">\')'
)


def printed(code, text):
    return new_code_cell(code, execution_count=1, outputs=[new_output("stream", text=text)])


def shown(code, html):
    data = {"text/html": html, "text/plain": "<IPython.core.display.HTML object>"}
    output = new_output("execute_result", data, execution_count=1)
    return new_code_cell(code, execution_count=1, outputs=[output])


def silent(code):
    """A cell whose outputs are not compared: it was not run when it was stored."""
    return new_code_cell(code)


def folded(code):
    return new_markdown_cell(
        f"<details><summary>Solution</summary>\n\n```python\n{code}\n```\n</details>"
    )


def picture(alt, stored):
    src = "base64," + "AAAA"
    stored = f'<img alt="{stored}" src="data:image/webp;base64,BBBB">'
    return shown(PICTURE.format(alt=alt, src=src), stored)


NOTEBOOK = new_notebook(
    cells=[
        silent(SETUP),
        silent("scalar_first = None\ncheck('00.scalar_first', scalar_first)"),
        folded("def scalar_first(quat):\n    return quat[..., [3, 0, 1, 2]]"),
        printed("print(scalar_first)", "None\n"),
        silent("camera_pose = None\ncheck('00.camera_pose', camera_pose)"),
        folded("def camera_pose(T_wt, T_ct):\n    return T_wt @ T_ct"),
        silent(EXPLORER.format(n=1, shown="a")),
        silent(EXPLORER.format(n=2, shown="factor * a")),
        silent(EXPLORER.format(n=3, shown="1 / a")),
        picture("A line", stored="A line"),
        picture("A line", stored="A circle"),
        printed("print(1 + 1)", "3\n"),
        silent("factor = 'half'"),
    ]
)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """Name of each test -> its complaint ("" if it passed); and all that pytest printed."""
    folder = tmp_path_factory.mktemp("course")
    nbformat.write(NOTEBOOK, folder / "99_made_up.ipynb")
    (folder / "pytest.ini").touch()
    command = [sys.executable, "-m", "pytest", "-p", "support.one_run", "--nbval", "-q"]
    command += ["--nbval-current-env", "--junitxml=told.xml", "99_made_up.ipynb"]
    paths = os.pathsep.join([str(PROJECT / "tests"), str(PROJECT)])
    told = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=120,
    )
    cases = ElementTree.parse(folder / "told.xml").iter("testcase")
    found = {case.get("name"): "".join(case.itertext()) for case in cases}
    return found, told.stdout


def test_everything_else_passes(outcomes):
    wrong = [
        "checkpoint 00.camera_pose",
        "explorer cell 8",
        "explorer cell 9",
        "cell 11",
        "cell 12",
    ]
    assert sorted(name for name, said in outcomes[0].items() if said) == sorted(wrong)
    assert {"checkpoint 00.scalar_first", "explorer cell 7", "cell 4", "cell 10"} < set(outcomes[0])


def test_a_wrong_folded_solution_is_told_with_its_cell_and_message(outcomes):
    said = outcomes[0]["checkpoint 00.camera_pose"]
    assert "cell 5, the folded solution of 00.camera_pose" in said


def test_an_explorer_that_a_later_cell_breaks_is_noticed(outcomes):
    assert "cell 8:" in outcomes[0]["explorer cell 8"]
    assert "ZeroDivisionError" in outcomes[0]["explorer cell 9"]


def test_a_picture_may_differ_in_its_bytes_but_not_in_its_words(outcomes):
    assert outcomes[0]["cell 10"] == ""
    assert "A circle" in outcomes[0]["cell 11"]


def test_what_the_lesson_costs_is_printed(outcomes):
    (line,) = [line for line in outcomes[1].splitlines() if line.startswith("99_made_up")]
    run, added = map(float, line.split()[1:3])
    assert run > 0 and added > 0


# --- what it costs ---------------------------------------------------------------------------


def test_costs_go_on_the_account_of_their_lesson():
    assert lesson_cost.lesson_of("notebooks/02_dh_derivation.ipynb::cell 3") == "02_dh_derivation"
    form = (
        "tests/lessons/test_lesson_form.py::test_lesson_keeps_the_form[02_dh_derivation-language]"
    )
    assert lesson_cost.lesson_of(form) == "02_dh_derivation"
    assert lesson_cost.lesson_of("tests/lessons/test_hw01_frames.py::test_it[seed-3]") is None
