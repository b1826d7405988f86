"""`course.py new`: a lesson's stubs are there, well-formed, and none of them is called done."""

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import numpy as np
import pytest
from support import lesson_rules
from support.complaints import complaints

from course_lib.plots import course_map
from course_lib.tools import new, pages

ROOT = Path(__file__).resolve().parents[2]
NAMES = new.Names("07_trajectories", "hw07_moves")
LESSON = "notebooks/07_trajectories.ipynb"
HOMEWORK = "notebooks/homework/hw07_moves"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """The front pages and a neighbour of the course, with a new lesson 07."""
    root = tmp_path_factory.mktemp("course")
    (root / "notebooks").mkdir()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    planned = re.sub(
        r"^\|[^|]*\b07 · .*$", "| 07 · Trajectories | time a move | | planned |", readme, flags=re.M
    )
    (root / "README.md").write_text(planned, encoding="utf-8")
    shutil.copy(ROOT / "notebooks" / "glossary.md", root / "notebooks")
    source = next((ROOT / "notebooks").glob("04_*.ipynb"))
    shutil.copy(source, root / "notebooks" / "06_before.ipynb")
    changed = new.make(NAMES, root)
    return root, {path.relative_to(root).as_posix() for path in changed}


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_file_of_a_lesson_is_there(course):
    assert course[1] == {
        LESSON,
        "notebooks/checks/07_trajectories.py",
        f"{HOMEWORK}/hw07_moves.ipynb",
        f"{HOMEWORK}/judge.py",
        "tests/lessons/test_lesson07.py",
        "README.md",
        "notebooks/glossary.md",
        "notebooks/06_before.ipynb",
    }
    assert all((course[0] / name).is_file() for name in course[1])
    assert "07" in set(course_map.lessons())


def test_all_stubs_are_well_formed(course):
    root, names = course
    for name in names:
        if name.endswith(".ipynb"):
            nbformat.validate(nbformat.read(root / name, as_version=4))
    made = [root / name for name in names if "06_before" not in name and not name.endswith(".md")]
    options = ["--config", str(ROOT / "pyproject.toml"), "--no-cache"]
    for words in (["format", "--check"], ["check"]):
        command = [sys.executable, "-m", "ruff", *words, *options, *map(str, made)]
        told = subprocess.run(command, capture_output=True, text=True)
        assert told.returncode == 0, told.stdout


def test_pages_lead_to_it(course):
    root, _ = course
    before = nbformat.read(root / "notebooks/06_before.ipynb", as_version=4)
    assert "(07_trajectories.ipynb)" in before.cells[-1].source
    lesson = nbformat.read(root / LESSON, as_version=4)
    assert "(06_before.ipynb)" in lesson.cells[0].source
    assert f"({HOMEWORK.removeprefix('notebooks/')}/hw07_moves.ipynb)" in lesson.cells[-1].source
    readme = (root / "README.md").read_text(encoding="utf-8")
    (row,) = [line for line in readme.splitlines() if "07 · " in line]
    assert f"]({LESSON}) | " in row and row.endswith("| TODO | TODO |")
    words = pages.glossary_terms(root / "notebooks/glossary.md")
    assert words[-1] == "TODO: the words of lesson 07"


def test_all_sections_are_there_but_the_form_says_what_is_missing(course):
    lesson = nbformat.read(course[0] / LESSON, as_version=4)
    wrong = {rule.__name__ for rule in lesson_rules.RULES if rule(lesson)}
    assert {"title_cell", "cells_were_run", "outputs_are_stored", "explorers"} <= wrong
    assert not wrong & {"sections", "boxes", "recaps", "number_of_cells", "cell_length"}


def test_no_cell_with_missing_work_can_be_run(course):
    lesson = nbformat.read(course[0] / LESSON, as_version=4)
    stubs = [cell.source for cell in lesson.cells if cell.cell_type == "code"]
    stubs = [source for source in stubs if "TODO" in source]
    assert len(stubs) == 6
    for source in stubs:
        with pytest.raises(NotImplementedError, match="TODO"):
            exec(source, {})


@pytest.mark.parametrize("name", ["notebooks/checks/07_trajectories.py", f"{HOMEWORK}/judge.py"])
def test_no_exercise_counts_as_done(course, name):
    for exercise in load(course[0] / name).EXERCISES:
        assert exercise.mistakes == [] or exercise.mistakes == ()
        with pytest.raises(NotImplementedError, match="TODO"):
            complaints(exercise, np.random.default_rng(0))


def test_its_own_test_fails(course):
    with pytest.raises(NotImplementedError):
        load(course[0] / "tests/lessons/test_lesson07.py").test_lesson_07()


def test_nothing_is_overwritten(course):
    root, _ = course
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    for names in (NAMES, new.Names("07_other", "hw07_other"), new.Names("08_x", "hw07_moves")):
        with pytest.raises(ValueError, match="exists already; nothing was written"):
            new.make(names, root)
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    "lesson, homework, said",
    [
        ("5_ik", None, "'5_ik': expected a name such as 05_inverse_kinematics"),
        ("05-ik", None, "'05-ik'"),
        ("../05_ik", None, "expected a name"),
        ("05_ik", "hw06_ik", "'hw06_ik': expected a name such as hw05_ik"),
    ],
)
def test_names_are_checked(lesson, homework, said):
    with pytest.raises(ValueError, match=said):
        new.Names.read(lesson, homework)
    assert new.Names.read("05_ik", None) == new.Names("05_ik", "hw05_ik")
