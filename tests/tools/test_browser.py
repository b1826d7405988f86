"""Does a slider really move?  Lessons, the controls and the released homework in a real browser.

A JupyterLab on a temporary copy of notebooks/ serves most tests; screenshots go to
tests/screenshots/. How long a key press takes is measured by `course.py bench key`.
"""

import json
import shutil

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from support.accessible import export, faults
from support.watched_lab import WatchedLab

from course_lib import dh
from course_lib.check import NOT_YET, check
from course_lib.explore.dress import ASLEEP
from course_lib.tools.browser import NOTEBOOKS, PROJECT, NoBrowser, start_lab

SHORT = ["00", "02", "04"]  # the others are opened with --full
LESSONS = [
    pytest.param(path.name, marks=[] if path.name[:2] in SHORT else pytest.mark.full)
    for path in sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))
]
NARROW = 1100, 700  # the window in which title, readout and controls must be seen together


@pytest.fixture(scope="module")
def lab():
    """A running JupyterLab; it shows a copy, so that no test can change a stored notebook."""
    try:
        with start_lab(kind=WatchedLab) as lab:
            assert not lab.home.is_relative_to(PROJECT)
            lab.save_widgets(False)
            yield lab
    except NoBrowser as reason:
        pytest.skip(str(reason))


# ---- lessons --------------------------------------------------------------------------------


def picture_outputs(path):
    """How many outputs of a stored notebook are pictures."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    return sum("image/png" in output.get("data", {}) for output in outputs)


@pytest.mark.parametrize("name", LESSONS)
def test_lesson(lab, name, tmp_path):
    with lab.open(name, *NARROW) as page:
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
            try_explorer(page, explorer)
            page.screenshot(f"explorer-{i + 1}", explorer.box)
        assert without_words(page.tab) == []
        assert faults(page.tab) == []
        page.require_clean()
        page.save()
        exported = export(page.path, tmp_path)
    assert_readable_on_a_phone(lab, exported, stored)


def try_explorer(page, explorer):
    """It fits the window, a key moves it, its slider says what it is and what it shows."""
    height, room = explorer.height()
    assert height <= room, f"{height} px are needed, the window has {room}"
    start, number, (name, value) = explorer.picture(), explorer.number(), explorer.says()
    explorer.press("ArrowRight")
    assert explorer.number() > number
    page.until(lambda: explorer.says()[1] != value, "the slider says the old value")
    assert name and explorer.says()[0] == name
    explorer.reset(start)
    assert explorer.number() == number and explorer.says() == (name, value)
    if explorer.has_player():
        play_and_stop(page, explorer)
        explorer.reset(start)


def without_words(tab):
    """Pictures in outputs that have no alternative text."""
    images = tab.locator(".jp-OutputArea-output img:not(.course-dress img)")
    return images.evaluate_all("all => all.filter(i => !i.alt).map(i => i.outerHTML.slice(0, 200))")


def assert_readable_on_a_phone(lab, exported, pictures):
    with lab.phone(exported) as tab:
        shown = tab.locator(".jp-OutputArea-output img:visible")
        assert shown.count() == pictures
        assert without_words(tab) == []
        boxes = shown.evaluate_all("all => all.map(i => i.getBoundingClientRect().toJSON())")
        assert all(box["left"] >= 0 and box["right"] <= 390 for box in boxes), boxes
        assert all(box["height"] > 100 for box in boxes), boxes
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        assert faults(tab) == []


# ---- controls -------------------------------------------------------------------------------

SCRATCH = [
    new_markdown_cell("# A wave"),
    new_code_cell("""import numpy as np
from course_lib import plots
from course_lib.explore import choice, explore, player, slider


def build():
    fig, ax = plots.figure(size=(6, 3))
    ax.set(xlim=(0, 1), ylim=(-1, 1), xlabel="x [m]", ylabel="height [m]", title="It runs")
    return fig, {"wave": ax.plot([], [])[0]}


def draw(artists, t, height, form, phase):
    if height == 0.5:
        raise ValueError("no wave is half a metre high")
    x = np.linspace(0, 1, 200)
    wave = np.sin(2 * np.pi * (2 * x - t) + phase)
    artists["wave"].set_data(x, height * (wave if form == "sine" else np.sign(wave)))
    return [f"{height:.1f} m high", f"phase {phase:.3f} rad"]


explore(build, draw, "A wave that runs to the right.", t=player(0, 20, 0.2, label="time"),
        height=slider(0, 1, 0.8, step=0.1, unit="m"), form=choice(["sine", "square"]),
        phase=slider(-np.pi, np.pi, 0.0, unit="rad"))"""),
    new_code_cell("""fig, ax = plots.figure()
ax.plot([0, 1])
plots.show(fig, "A line that rises to one.")"""),
]


def test_every_control(lab):
    """Keys, box, list, error message, reset; the player plays, pauses and stops."""
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


def test_what_a_screen_reader_gets(lab):
    """Names and values with units, π as such, the readout as a live region, no idle tab stop."""
    with lab.open(write_notebook(lab, "reader.ipynb", SCRATCH), *NARROW) as page:
        page.run_all()
        (wave,) = page.explorers()
        page.until(lambda: wave.says()[0], "the slider got no name")
        assert [wave.says(i) for i in range(3)] == [
            ("time [s]", "0.2 s"),
            ("height [m]", "0.8 m"),
            ("phase [rad]", "0 rad"),
        ]
        wave.type("pi/2", control=2)
        page.until(lambda: wave.says(2)[1] == "π/2 rad", "the slider does not say π/2")
        assert wave.text(2) == "π/2"
        page.until(lambda: "phase 1.571 rad" in wave.readout(), "the readout did not follow")
        assert wave.readout().splitlines() == ["0.8 m high", "phase 1.571 rad"]
        wave.press("ArrowLeft", control=2)
        page.until(lambda: wave.says(2)[1] == "0.49π rad", "the slider does not say 0.49π")

        roles = page.tab.get_by_role
        assert roles("img", name="A wave that runs to the right.", exact=True).count() == 1
        assert roles("img", name="A line that rises to one.", exact=True).count() == 1
        assert roles("textbox", name="height [m]", exact=True).count() == 1
        assert roles("combobox", name="form", exact=True).count() == 1
        assert roles("button", name="Play", exact=True).count() == 1
        assert wave.box.get_by_role("status").text_content() == wave.readout()
        assert tab_stops(page, wave) == ["Play", "Stop and go back to the start", "time [s]"] + [
            *("time [s]", "height [m]", "height [m]", "form"),
            *("phase [rad]", "phase [rad]", "Reset"),
        ]
        assert faults(page.tab) == []


def tab_stops(page, explorer):
    """The names of what the Tab key reaches in an explorer, in order."""
    explorer.box.locator(".widget-play button").first.focus()
    names = []
    for _ in range(20):
        name = page.tab.evaluate(NAME_OF_FOCUS)
        if name is None:
            return names
        names.append(name)
        page.tab.keyboard.press("Tab")
    return names


NAME_OF_FOCUS = """() => {
    const it = document.activeElement;
    if (!it.closest(".course-explorer")) return null;
    return it.ariaLabel || it.labels?.[0]?.textContent || it.innerText.trim();
}"""


def test_axe_notices_what_ipywidgets_leave_without_a_name(lab):
    bare = new_code_cell("import ipywidgets\nipywidgets.IntSlider()")
    with lab.open(write_notebook(lab, "bare.ipynb", [bare])) as page:
        page.run_all()
        found = faults(page.tab, ".widget-slider")
        assert any("noUi-handle" in fault for fault in found), found


def test_picture_and_controls_are_seen_together(lab):
    """Six joints and a readout: side by side where there is room, one below the other else."""
    with lab.open(write_notebook(lab, "six.ipynb", SIX), 900, 700) as page:
        page.run_all()
        (arm,) = page.explorers()
        for width in (900, 1100, 1366, 1800):
            page.tab.set_viewport_size({"width": width, "height": 700})
            page.until(lambda: fits(arm), f"{width} px: it does not fit, or is too small")
            page.screenshot(f"{width}", arm.box)


def fits(arm):
    """Whether picture and six sliders are seen together, undistorted, long and large enough."""
    height, room = arm.height()
    picture = arm.box.locator(".course-picture").bounding_box()
    tracks = arm.box.locator(".slider-container")
    assert tracks.count() == 6
    long = all(tracks.nth(i).bounding_box()["width"] >= 180 for i in range(6))
    whole = picture["width"] / picture["height"] == pytest.approx(6.4 / 4.4, rel=0.02)
    return height <= room and long and whole and picture["height"] >= 250


SIX = [
    new_code_cell("""from course_lib import plots
from course_lib.arm import load_arm
from course_lib.explore import explore, joint_sliders
from course_lib.kinematics import fk

arm = load_arm("cobot6")


def build():
    fig, ax = plots.space(0.6, (6.4, 4.4))
    fig.suptitle("Six angles in, one pose out")
    return fig, {"arm": plots.ArmArtist(ax, arm)}


def draw(artists, **q):
    artists["arm"].set(list(q.values()))
    return [f"{name} = {v:.3f} m" for name, v in zip("xyz", fk(arm, list(q.values()))[:3, 3])]


explore(build, draw, "The arm cobot6 on its floor.", **joint_sliders(arm))"""),
]


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


# ---- the second evening ---------------------------------------------------------------------


def run_and_save(lab, name):
    """Run a notebook, move a slider, save it and close it; returns its name."""
    with lab.open(write_notebook(lab, name, SCRATCH)) as page:
        page.run_all()
        page.explorers()[0].press("ArrowRight", control=1)
        page.save()
    return name


@pytest.fixture(scope="module")
def evening(lab):
    """The name of a notebook that was run, saved without its widgets, and closed."""
    return run_and_save(lab, "evening.ipynb")


def test_second_evening_shows_the_stored_picture(lab, evening):
    """Run, saved, closed and opened again: where widgets are not saved, the picture is there."""
    with lab.open(evening) as page:
        page.until(lambda: page.pictures() == 2, "the stored pictures were not shown")
        page.until(lambda: page.console and complaints(page), "JupyterLab missed no widget")
        page.tab.wait_for_timeout(500)  # for its words to be shown
        assert page.tab.get_by_text("Error displaying widget").filter(visible=True).count() == 0
        assert page.tab.get_by_text(ASLEEP).filter(visible=True).count() == 1
        assert page.tab.get_by_text("0.8 m high").filter(visible=True).count() == 1
        assert without_words(page.tab) == [] and faults(page.tab) == []
        page.screenshot("second")
        page.console.clear()
        page.run_all()
        (wave,) = page.explorers()
        assert not page.tab.locator(".course-still").is_visible()
        wave.press("ArrowRight", control=1)


def complaints(page):
    return [text for kind, text in page.console if kind == "error" and "widget model" in text]


@pytest.fixture
def saving(lab):
    lab.save_widgets(True)
    yield lab
    lab.save_widgets(False)


def test_second_evening_with_saved_widgets_shows_them_as_they_were(saving):
    with saving.open(run_and_save(saving, "awake.ipynb"), *NARROW) as page:
        page.until(page.explorers, "the panel was not shown")
        (wave,) = page.explorers()
        assert wave.number(1) == 0.9 and "0.9 m high" in wave.readout()
        assert not page.tab.locator(".course-still").is_visible()
        assert page.tab.get_by_text(ASLEEP).filter(visible=True).count() == 1
        dead = page.tab.locator(".course-explorer .jupyter-widgets-disconnected")
        marks = dead.evaluate_all("all => all.map(e => getComputedStyle(e, '::before').content)")
        assert len(marks) > 5 and set(marks) == {"none"}
        assert wave.box.get_by_role("button", name="Reset").count() == 0
        height, room = wave.height()
        assert height <= room
        page.screenshot("second-saved", wave.box)


def test_a_notebook_from_elsewhere_shows_its_pictures(lab, evening):
    """JupyterLab trusts only what it ran itself; other HTML it cleans. Pictures and words stay."""
    page = nbformat.read(lab.home / evening, as_version=4)
    page.cells[0].source = "# Another's wave"  # so that it is not the file that was run here
    nbformat.write(page, lab.home / "elsewhere.ipynb")
    with lab.open("elsewhere.ipynb") as page:
        page.until(lambda: page.pictures() == 2, "the stored pictures were not shown")
        assert without_words(page.tab) == [] and faults(page.tab) == []
        assert page.tab.get_by_text(ASLEEP).filter(visible=True).count() == 1
        assert page.explorers() == []


def test_an_exported_page_is_readable_on_a_phone(lab, evening, tmp_path):
    exported = export(lab.home / evening, tmp_path)
    assert_readable_on_a_phone(lab, exported, 2)
    with lab.phone(exported) as tab:
        assert tab.get_by_text("0.8 m high").is_visible() and tab.get_by_text(ASLEEP).is_visible()


# ---- the page itself, and homework ----------------------------------------------------------


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
    from course_lib.tools.grading import command

    assert command.main(["--classroom", str(tmp_path), "release", "hw02"]) == 0
    shutil.copy(tmp_path / "release" / "hw02_dh" / "hw02_dh.ipynb", lab.home / "released.ipynb")
    cells = json.loads((lab.home / "released.ipynb").read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    names = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in code]
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
        right = SWAPPED.replace("!=", "==")
        page.answer(task, right)
        page.run(test)
        page.until(
            lambda: homework_message(right) in page.output(test), "a right answer was not accepted"
        )
        page.screenshot("right-answer", page.code_cell(test))


SWAPPED = """def row_matrix(convention, a, alpha, d, theta):
    return (dh_matrix if convention != "standard" else mdh_matrix)(a, alpha, d, theta)"""


def homework_message(source):
    """The last line of what `check` says outside the browser about an answer to hw02.row_matrix."""
    names = {"dh_matrix": dh.dh_matrix, "mdh_matrix": dh.mdh_matrix}
    exec(source, names)
    return check("hw02.row_matrix", names["row_matrix"]).message.splitlines()[-1]
