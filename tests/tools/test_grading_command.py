"""The instructor's commands: release, list and check as an instructor meets them."""

import re
import shlex

import numpy as np
import pytest
from support.classroom import HW02, hand_in, notebook_with
from support.judges import judge_of

from course_lib.check import check
from course_lib.tools.grading import command as tool

JUDGE, BY_NAME = judge_of("hw02_dh")


def test_check_refuses_to_be_marked_by_nbgrader_itself(monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    with pytest.raises(RuntimeError, match="course.py homework grade"):
        check("hw02.row_matrix", JUDGE.row_matrix)


def test_release_writes_once_and_keeps_what_was_there(tmp_path, capsys):
    classroom = tmp_path / "class room"
    assert tool.main(["--classroom", str(classroom), "release", "hw02"]) == 0
    path = classroom / "release" / "hw02_dh" / "hw02_dh.ipynb"
    first = path.read_bytes()
    assert [p.name for p in path.parent.iterdir()] == ["hw02_dh.ipynb"]
    assert tool.main(["--classroom", str(classroom), "release", "hw02_dh"]) == 0
    assert path.read_bytes() == first and "up to date" in capsys.readouterr().out
    path.write_text("edited by the instructor")
    assert tool.main(["--classroom", str(classroom), "release"]) == 0
    kept = classroom / "earlier" / "1" / "release" / "hw02_dh" / "hw02_dh.ipynb"
    assert path.read_bytes() == first and kept.read_text() == "edited by the instructor"
    assert "earlier/1" in capsys.readouterr().out


def test_list_tells_where_the_class_stands(tmp_path, capsys):
    hand_in(tmp_path, "ada", notebook_with())
    assert tool.main(["--classroom", str(tmp_path), "list"]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("hw02_dh"))
    assert line.split()[:6] == ["hw02_dh", "10", "5", "no", "1", "0"] and line.endswith(HW02.title)


@pytest.mark.parametrize("name", ["hw02", "HW02", "hw02_dh", "02", "2"])
def test_a_homework_is_found_by_any_of_its_names(name):
    assert [h.name for h in tool.choose([name])] == ["hw02_dh"]


def test_paths_and_commands_that_release_prints_can_be_used(tmp_path, capsys):
    classroom = tmp_path / "class room"
    assert tool.main(["release", "hw02", "--classroom", str(classroom)]) == 0
    printed = capsys.readouterr().out
    wrote = next(line for line in printed.splitlines() if "wrote" in line).partition("wrote ")[2]
    assert tool.Path(wrote).is_file() and str(classroom / "submitted") in printed
    command = re.search(r"`python3 course.py homework (.*?)`", printed)[1]
    assert tool.main(shlex.split(command)) == 2 and "nothing to grade" in capsys.readouterr().err
    hand_in(classroom, "ada", notebook_with())
    assert tool.main(["list", "--classroom", str(classroom)]) == 0
    assert re.search(r"hw02_dh +10 +5 +yes +1 ", capsys.readouterr().out)


@pytest.mark.parametrize(
    "arguments, part",
    [
        (["release", "hw77"], "no homework 'hw77'; there are hw0"),
        (["grade", "hw02"], "nothing to grade: expected"),
    ],
)
def test_what_can_not_be_done_is_said_in_a_sentence(tmp_path, capsys, arguments, part):
    assert tool.main(["--classroom", str(tmp_path), *arguments]) == 2
    assert part in capsys.readouterr().err


def test_a_homework_whose_points_do_not_fit_is_refused(tmp_path):
    folder = tmp_path / "hw02_dh"
    folder.mkdir()
    (folder / "judge.py").write_bytes((HW02.folder / "judge.py").read_bytes())
    text = (HW02.folder / "hw02_dh.ipynb").read_text(encoding="utf-8")
    (folder / "hw02_dh.ipynb").write_text(
        text.replace('"points": 3', '"points": 4'), encoding="utf-8"
    )
    with pytest.raises(ValueError, match="'check_arm_table' with 3 points, got 4"):
        tool.load_homework(folder)


def test_open_cases_are_those_of_the_seed_zero():
    exercise = BY_NAME["row_matrix"]
    assert repr(check("hw02.row_matrix", lambda *a: np.eye(4))) == repr(
        exercise.judge(lambda *a: np.eye(4), np.random.default_rng(0))
    )
