"""A learner's own copies: made, renewed, kept; nothing that anybody wrote is overwritten."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from course_lib.tools import copies, pages

ROOT = Path(__file__).resolve().parents[2]
HOMEWORK = sorted(ROOT.glob("notebooks/homework/hw*/hw*.ipynb"))


def notebook(*sources, output=None, **metadata):
    """The bytes of a small notebook; `output` is what its cells printed."""
    outputs = (
        [] if output is None else [{"output_type": "stream", "name": "stdout", "text": output}]
    )
    cells = [
        {"cell_type": "code", "source": text, "metadata": metadata, "outputs": outputs}
        for text in sources
    ]
    return json.dumps({"cells": cells}).encode()


class Course:
    """A small course, and a learner in front of it."""

    def __init__(self, root):
        self.root, self.mine = root, root / copies.NAME
        (root / "notebooks").mkdir(parents=True)
        self.write("02_dh.ipynb", notebook("a = 1"))

    def write(self, name, content):
        """The course's author stores a file."""
        path = self.root / "notebooks" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def edit(self, name, content):
        """The learner saves a file."""
        (self.mine / name).write_bytes(content)

    def start(self):
        """What the learner is told at the next start."""
        return copies.update(self.root, copies.folder_for(self.root))

    def files(self):
        """{name: content} of the learner's folder."""
        paths = [path for path in self.mine.rglob("*") if path.is_file() and path.name[0] != "."]
        return {path.relative_to(self.mine).as_posix(): path.read_bytes() for path in paths}


@pytest.fixture
def course(tmp_path):
    return Course(tmp_path / "a course")


# --- the rules -------------------------------------------------------------------------------


def test_the_first_start_copies_all_pages_and_the_second_does_nothing(course):
    course.write("glossary.md", b"# Glossary")
    course.write("pictures/arm.png", b"\x89PNG")
    course.write("checks/02_dh.py", b"secret = 1")
    course.write("my_own.ipynb", notebook("x"))
    told = course.start()
    assert len(told) == 1 and "3 new" in told[0] and str(course.mine) in told[0]
    assert set(course.files()) == {"02_dh.ipynb", "glossary.md", "pictures/arm.png"}
    assert course.files()["02_dh.ipynb"] == notebook("a = 1")
    assert course.start() == []


def test_an_unedited_copy_is_renewed_even_after_a_run(course):
    course.start()
    course.edit("02_dh.ipynb", notebook("a = 1", output="1\n", execution="now"))
    assert course.start() == []
    course.write("02_dh.ipynb", notebook("a = 2"))
    assert ["02_dh.ipynb was renewed" in sentence for sentence in course.start()] == [True]
    assert course.files() == {"02_dh.ipynb": notebook("a = 2")}


def test_an_edited_copy_stays_and_the_new_lesson_comes_beside_it_once(course):
    course.start()
    mine = notebook("a = 1", "my_thoughts = True")
    course.edit("02_dh.ipynb", mine)
    course.write("02_dh.ipynb", notebook("a = 2"))
    (told,) = course.start()
    assert "02_dh.ipynb changed" in told and "02_dh.new.ipynb" in told
    assert course.files() == {"02_dh.ipynb": mine, "02_dh.new.ipynb": notebook("a = 2")}
    assert course.start() == []
    (course.mine / "02_dh.new.ipynb").unlink()
    assert course.start() == [] and list(course.files()) == ["02_dh.ipynb"]


def test_a_fresh_copy_is_replaced_by_a_fresher_one_unless_it_was_edited(course):
    course.start()
    course.edit("02_dh.ipynb", notebook("mine"))
    for text in ("a = 2", "a = 3"):
        course.write("02_dh.ipynb", notebook(text))
        course.start()
    assert course.files()["02_dh.new.ipynb"] == notebook("a = 3")
    course.edit("02_dh.new.ipynb", notebook("a = 3", "mine too"))
    course.write("02_dh.ipynb", notebook("a = 4"))
    (told,) = course.start()
    assert "02_dh.new-2.ipynb" in told
    assert course.files() == {
        "02_dh.ipynb": notebook("mine"),
        "02_dh.new.ipynb": notebook("a = 3", "mine too"),
        "02_dh.new-2.ipynb": notebook("a = 4"),
    }


def test_new_outputs_alone_bring_no_second_copy(course):
    course.start()
    course.edit("02_dh.ipynb", notebook("mine"))
    course.write("02_dh.ipynb", notebook("a = 1", output="1\n"))
    assert course.start() == [] and course.files() == {"02_dh.ipynb": notebook("mine")}


def test_a_fresh_copy_that_takes_the_old_ones_place_is_unedited(course):
    course.start()
    course.edit("02_dh.ipynb", notebook("mine"))
    course.write("02_dh.ipynb", notebook("a = 2"))
    course.start()
    os.replace(course.mine / "02_dh.new.ipynb", course.mine / "02_dh.ipynb")
    course.write("02_dh.ipynb", notebook("a = 3"))
    course.start()
    assert course.files() == {"02_dh.ipynb": notebook("a = 3")}


def test_a_deleted_copy_comes_back_and_own_files_stay(course):
    course.start()
    course.edit("02_dh-Copy1.ipynb", notebook("x"))
    course.edit("notes.txt", b"\xff\x00")
    (course.mine / "02_dh.ipynb").unlink()
    course.start()
    assert course.files()["02_dh.ipynb"] == notebook("a = 1")
    assert course.files()["notes.txt"] == b"\xff\x00" and len(course.files()) == 3


def test_an_edited_glossary_is_kept_too(course):
    course.write("glossary.md", b"# Glossary")
    course.start()
    course.edit("glossary.md", b"# My glossary")
    course.write("glossary.md", b"# Better glossary")
    course.start()
    assert course.files()["glossary.md"] == b"# My glossary"
    assert course.files()["glossary.new.md"] == b"# Better glossary"


# --- damage ----------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["", "[]", "{", '{"02_dh.ipynb": 3}', '{"02_dh.ipynb": {}}'])
def test_a_damaged_state_file_costs_nothing_that_was_written(course, state):
    course.start()
    course.edit("02_dh.ipynb", notebook("mine"))
    (course.mine / copies.STATE).write_text(state)
    course.write("02_dh.ipynb", notebook("a = 2"))
    damaged, beside = course.start()
    assert "was damaged" in damaged and "02_dh.new.ipynb" in beside
    assert course.files()["02_dh.ipynb"] == notebook("mine")
    assert course.start() == []


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[]", b'{"cells": [{}]}', b"null"])
def test_a_copy_that_cannot_be_read_stays_and_is_named(course, content):
    course.start()
    course.edit("02_dh.ipynb", content)
    (told,) = course.start()
    assert "02_dh.ipynb can't be read as a notebook. It stays" in told
    course.write("02_dh.ipynb", notebook("a = 2"))
    assert "02_dh.new.ipynb" in course.start()[-1]
    assert course.files()["02_dh.ipynb"] == content


def test_a_lesson_of_the_course_that_cannot_be_read_stops_no_other(course):
    course.write("01_broken.ipynb", b"{")
    course.write("homework/hw01_x/hw01_x.ipynb", b"{")
    told = course.start()
    assert sum("nobody gets a copy" in sentence for sentence in told) == 2
    assert list(course.files()) == ["02_dh.ipynb"]


def test_what_lies_in_the_way_is_left_alone(course):
    course.write("homework/hw01_x/hw01_x.ipynb", notebook("x"))
    course.mine.mkdir()
    (course.mine / "homework").write_text("my list")
    (course.mine / "02_dh.ipynb").mkdir()
    told = "\n".join(course.start())
    assert "hw01_x.ipynb could not be copied" in told and "02_dh.ipynb can't be read" in told
    assert (course.mine / "homework").read_text() == "my list"
    assert (course.mine / "02_dh.ipynb").is_dir()


def test_a_full_disk_leaves_no_half_copy(course, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    course.start()
    course.write("02_dh.ipynb", notebook("a = 2"))
    with monkeypatch.context() as patch:
        patch.setattr(copies.os, "replace", full)
        assert course.start() == ["02_dh.ipynb could not be copied (No space left on device)."]
    assert course.files() == {"02_dh.ipynb": notebook("a = 1")}
    assert [path.name for path in course.mine.glob(".*")] == [copies.STATE]
    course.start()
    assert course.files() == {"02_dh.ipynb": notebook("a = 2")}


def test_a_read_only_course_has_its_copies_at_home(course, monkeypatch, tmp_path):
    monkeypatch.setattr(copies.os, "access", lambda *_: False)
    monkeypatch.setattr(copies.Path, "home", lambda: tmp_path / "home")
    course.start()
    assert (tmp_path / "home" / copies.NAME / "02_dh.ipynb").is_file()


# --- the real course -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """The learner's folder of the real course, beside a copy of what it links to."""
    folder = tmp_path_factory.mktemp("course") / copies.NAME
    assert "new" in copies.update(ROOT, folder)[0]
    return folder


def test_all_links_of_the_copies_lead_somewhere(real):
    count, entries = 0, set(map(pages.entry, pages.glossary_terms(real / "glossary.md")))
    for path in [*real.rglob("*.ipynb"), *real.glob("*.md")]:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".ipynb":
            cells = nbformat.reads(text, as_version=4).cells
            ids = {f"cell-id={cell.id}" for cell in cells}
            text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            page, _, place = target.partition("#")
            count += 1
            if re.match(r"https?:|attachment:", target):
                continue
            assert not page or (path.parent / page).is_file(), f"{path.name}: {target}"
            assert page or place in ids, f"{path.name}: {target}"
            assert not place or page != "glossary.md" or target in entries, target
    assert count > 100


@pytest.mark.parametrize("path", HOMEWORK, ids=lambda path: path.stem)
def test_homework_comes_without_solutions_as_nbgrader_makes_it(path):
    from nbgrader.preprocessors import ClearOutput, ClearSolutions, LockCells

    wanted = nbformat.read(path, as_version=4)
    steps = LockCells(), ClearSolutions(code_stub={"python": copies.STUB}), ClearOutput()
    for step in steps:
        wanted, _ = step.preprocess(wanted, {})
    wanted.metadata.pop("celltoolbar", None)
    ours = nbformat.reads(copies.learners_version(path.read_bytes()).decode(), as_version=4)
    nbformat.validate(ours)
    assert ours == wanted
    assert "SOLUTION" not in str(ours)


def test_solution_cells_without_marks_are_emptied():
    form = {"nbgrader": {"solution": True, "locked": False}}
    cells = [
        {"cell_type": kind, "source": "the answer", "metadata": dict(form)}
        for kind in ("code", "markdown")
    ]
    made = json.loads(copies.learners_version(json.dumps({"cells": cells}).encode()))
    assert [cell["source"] for cell in made["cells"]] == [copies.STUB, copies.TEXT_STUB]


def test_checkpoints_are_found_from_a_copy(real):
    code = "from course_lib.check import check; print(check('02.crane_table', ...).passed)"
    told = subprocess.run([sys.executable, "-c", code], cwd=real, capture_output=True, text=True)
    assert told.stdout.strip().endswith("False"), told.stderr


def test_git_does_not_see_the_copies():
    command = ["git", "check-ignore", f"{copies.NAME}/02_dh_derivation.ipynb"]
    try:
        told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("there is no git")
    if told.returncode == 128:
        pytest.skip("this is no clone")
    assert told.returncode == 0
