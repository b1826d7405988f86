"""Does a slider really move?  Lessons, the controls and the released homework in a real browser.

One JupyterLab on a temporary copy of notebooks/ serves all tests; screenshots go to tests/screenshots/.
How long a key press takes is measured by `course.py bench --only key`.
"""

import json
import shutil

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from support.lab_browser import PROJECT, NoBrowser, start_lab

from course_lib import dh
from course_lib.check import NOT_YET, check

LESSONS = ["00_start_here.ipynb", "02_dh_derivation.ipynb"]


@pytest.fixture(scope="module")
def lab():
    """A running JupyterLab; it shows a copy, so that no test can change a stored notebook."""
    try:
        with start_lab() as lab:
            assert not lab.home.is_relative_to(PROJECT)
            yield lab
    except NoBrowser as reason:
        pytest.skip(str(reason))


def picture_outputs(path):
    """How many outputs of a stored notebook are pictures."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return sum(
        "image/png" in output.get("data", {})
        for cell in cells
        for output in cell.get("outputs", [])
    )


@pytest.mark.parametrize("name", LESSONS)
def test_lesson(lab, name):
    if not (lab.home / name).exists():
        pytest.skip(f"{name} is not written yet")
    with lab.open(name) as page:
        # the stored page, before anything runs
        stored = picture_outputs(page.path)
        assert stored > 0
        page.until(
            lambda: page.pictures() == stored, f"not all {stored} stored pictures were shown"
        )
        assert page.explorers() == []
        page.screenshot("stored", page.tab.locator(".jp-OutputArea-output img").nth(1))

        page.run_all()
        assert page.errors() == []
        assert len(page.explorers()) > 0
        for i, explorer in enumerate(page.explorers()):
            start, number = explorer.picture(), explorer.number()
            explorer.press("ArrowRight")
            assert explorer.number() > number
            page.screenshot(f"explorer-{i + 1}", explorer.box)
            explorer.reset(start)
            assert explorer.number() == number
            if explorer.has_player():
                play_and_stop(page, explorer)
                explorer.reset(start)
        page.require_clean()


SCRATCH = [
    new_markdown_cell("# A wave"),
    new_code_cell("""import numpy as np
from course_lib import plots
from course_lib.explore import choice, explore, player, slider


def build():
    fig, ax = plots.figure(size=(6, 3))
    ax.set(xlim=(0, 1), ylim=(-1, 1), xlabel="x [m]", ylabel="height [m]", title="A wave runs to the right")
    return fig, {"wave": ax.plot([], [])[0]}


def draw(artists, t, height, form):
    if height == 0.5:
        raise ValueError("no wave is half a metre high")
    x = np.linspace(0, 1, 200)
    wave = np.sin(2 * np.pi * (2 * x - t))
    artists["wave"].set_data(x, height * (wave if form == "sine" else np.sign(wave)))


explore(build, draw, "A wave that runs to the right.", t=player(0, 20, 0.2, label="time"),
        height=slider(0, 1, 0.8, step=0.1, unit="m"), form=choice(["sine", "square"]))"""),
]


def test_every_control(lab):
    """Keys, number box, list, error message, reset; the player plays, pauses and stops."""
    with lab.open(write_notebook(lab, "controls.ipynb", SCRATCH)) as page:
        page.run_all()
        (wave,) = page.explorers()
        start = wave.picture()

        up = wave.press("ArrowRight", control=1)
        assert wave.number(1) == 0.9
        assert wave.press("ArrowLeft", control=1) == start
        assert wave.press("End", control=1) not in (start, up)
        assert wave.number(1) == 1
        assert wave.type(0.9, control=1) == up
        assert wave.choose("square") != up
        wave.reset(start)

        wave.type(0.5, control=1)
        assert "no wave is half a metre high" in wave.box.text_content()
        page.screenshot("error")
        wave.reset(start)
        assert "half a metre" not in wave.box.text_content()

        at_zero = wave.type(0, control=0)
        wave.reset(start)
        wave.player_button("play").click()
        wave.other_picture(start, "Play")
        wave.player_button("play").click()
        assert_rests(page, wave)
        assert wave.number(0) > 0.2
        play_and_stop(page, wave)
        assert wave.picture() == at_zero
        assert wave.number(0) == 0


def play_and_stop(page, explorer):
    """Five pictures follow one another, then none."""
    pictures = {explorer.picture()}
    explorer.player_button("play").click()
    page.until(
        lambda: pictures.add(explorer.picture()) or len(pictures) > 4, "the player did not play"
    )
    page.screenshot("playing", explorer.box)
    explorer.player_button("stop").click()
    assert_rests(page, explorer)


def write_notebook(lab, name, cells):
    """Put a notebook of the test's own beside the lessons; returns its name."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernel}), lab.home / name)
    return name


def assert_rests(page, explorer):
    """Pictures on their way arrive, then the same one stays for several intervals of the player."""
    seen = []

    def still():
        seen.append(explorer.picture())
        page.tab.wait_for_timeout(100)
        return len(seen) > 4 and len(set(seen[-5:])) == 1

    page.until(still, "the picture did not come to rest", seconds=10)


def test_a_picture_from_another_machine_is_noticed(lab):
    url = "http://elsewhere.invalid/arm.png"
    name = write_notebook(lab, "outside.ipynb", [new_markdown_cell(f"![An arm]({url})")])
    with lab.open(name) as page:
        page.until(lambda: page.outside == [url], "the request was not noticed")
        page.until(
            lambda: any(kind == "error" for kind, _ in page.console),
            "the console's error was not noticed",
        )
        with pytest.raises(AssertionError, match="the console says"):
            page.require_clean()
        page.console.clear()
        with pytest.raises(AssertionError, match="asked another machine"):
            page.require_clean()
        page.outside.clear()


def test_released_homework(lab, tmp_path):
    pytest.importorskip("nbgrader")
    from course_lib.tools import homework

    assert homework.main(["--classroom", str(tmp_path), "release", "hw02"]) == 0
    shutil.copy(tmp_path / "release" / "hw02_dh" / "hw02_dh.ipynb", lab.home / "released.ipynb")
    cells = json.loads((lab.home / "released.ipynb").read_text(encoding="utf-8"))["cells"]
    names = [
        cell["metadata"].get("nbgrader", {}).get("grade_id")
        for cell in cells
        if cell["cell_type"] == "code"
    ]
    task, test = names.index("row_matrix"), names.index("check_row_matrix")
    with lab.open("released.ipynb") as page:
        page.run_all()
        assert page.errors() == []
        assert NOT_YET in page.output(test)
        page.answer(task, SWAPPED)
        page.run(test)
        reason = homework_message(SWAPPED)
        page.until(lambda: reason in page.output(test), f"check did not say: {reason}")
        page.screenshot("wrong-answer", page.code_cell(test))
        page.answer(task, SWAPPED.replace("!=", "=="))
        page.run(test)
        page.until(
            lambda: homework_message(SWAPPED.replace("!=", "==")) in page.output(test),
            "a right answer was not accepted",
        )
        page.screenshot("right-answer", page.code_cell(test))


SWAPPED = """def row_matrix(convention, a, alpha, d, theta):
    return (dh_matrix if convention != "standard" else mdh_matrix)(a, alpha, d, theta)"""


def homework_message(source):
    """The last line of what `check` says outside the browser about an answer to hw02.row_matrix."""
    names = {"dh_matrix": dh.dh_matrix, "mdh_matrix": dh.mdh_matrix}
    exec(source, names)
    return check("hw02.row_matrix", names["row_matrix"]).message.splitlines()[-1]
