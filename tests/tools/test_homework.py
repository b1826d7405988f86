"""Homework 02 and the commands: truths against outside engines, and release, list, check as an instructor meets them.

What every homework promises is in test_every_homework.py.
"""

import importlib.util
import re
import shlex

import numpy as np
import pytest
import roboticstoolbox as rtb
from support.classroom import HW02, hand_in, notebook_with

from course_lib.check import PROJECT, check
from course_lib.tools.grading import command as tool

BY_NAME = {e.name: e for e in HW02.exercises}


def judge_module():
    spec = importlib.util.spec_from_file_location("judge_of_hw02", HW02.folder / "judge.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


JUDGE = judge_module()


# ---------------------------------------------------------------- the truths


def toolbox_poses(table, q, modified=False):
    link = rtb.RevoluteMDH if modified else rtb.RevoluteDH
    robot = rtb.DHRobot([link(a=a, alpha=alpha, d=d, offset=theta) for a, alpha, d, theta in table])
    return robot.fkine(q).A


def test_truth_of_the_matrices_and_the_conversion_against_the_robotics_toolbox():
    rng = np.random.default_rng(3)
    for convention, a, alpha, d, theta in BY_NAME["row_matrix"].cases(rng):
        expected = toolbox_poses([[a, alpha, d, 0]], [theta], convention == "modified")
        np.testing.assert_allclose(
            JUDGE.row_matrix(convention, a, alpha, d, theta), expected, atol=1e-12
        )
    for (table,) in BY_NAME["to_modified"].cases(rng):
        modified, tool_pose = JUDGE.convert(table)
        q = rng.uniform(-2, 2, len(table))
        np.testing.assert_allclose(
            toolbox_poses(modified, q, True) @ tool_pose, toolbox_poses(table, q), atol=1e-12
        )
    for table_1, table_2, q, T in BY_NAME["which_is_modified"].cases(rng):
        which = JUDGE.which_is_modified(table_1, table_2, q, T)
        np.testing.assert_allclose(
            toolbox_poses((table_1, table_2)[which - 1], q, True), T, atol=1e-12
        )
        assert not np.allclose(toolbox_poses((table_1, table_2)[2 - which], q, True), T, atol=1e-3)


def test_truth_of_the_drawn_arm_against_the_drawing():
    rng = np.random.default_rng(4)
    for lengths in BY_NAME["arm_table"].cases(rng):
        for q in JUDGE.postures(3):
            tip = JUDGE.drawn_tip(*lengths, q)
            np.testing.assert_allclose(
                toolbox_poses(JUDGE.drawn_table(*lengths), q)[:3, 3], tip, atol=1e-12
            )


def test_the_wrong_row_is_the_one_that_was_made_wrong(monkeypatch):
    made = []
    original = JUDGE.wrong_row_case
    monkeypatch.setattr(
        JUDGE, "wrong_row_case", lambda rng, row: made.append(row) or original(rng, row)
    )
    cases = JUDGE.wrong_row_cases(np.random.default_rng(11))
    assert [JUDGE.wrong_row(*case) for case in cases] == made and set(made) == {1, 2, 3, 4}


@pytest.mark.parametrize("row", [2, 3, 4])
def test_a_wrong_d_or_theta_of_a_later_row_fits_its_neighbour_too_and_is_never_asked(row):
    rng = np.random.default_rng(row)
    right, q = JUDGE.random_table(rng, 4), rng.uniform(-2, 2, (10, 4))
    poses = np.array([toolbox_poses(right, angles) for angles in q])
    for column in range(4):
        table = right.copy()
        table[row - 1, column] += 0.1
        fits = JUDGE.spreads(table, q, poses) < 1e-9
        assert list(1 + np.flatnonzero(fits)) == ([row] if column < 2 else [row - 1, row])
    for seed in range(20):
        spread = JUDGE.spreads(*JUDGE.wrong_row_case(np.random.default_rng(seed), row))
        assert np.flatnonzero(spread < 10 * spread.min()).tolist() == [row - 1]


def test_messages_of_hw02_say_what_to_do_next():
    only_table = (
        BY_NAME["to_modified"]
        .judge(lambda table: JUDGE.convert(table)[0], np.random.default_rng(0))
        .message
    )
    assert (
        "Return two things: the table and the tool matrix" in only_table
        and "shape" not in only_table
    )
    row_3 = BY_NAME["wrong_row"].judge(lambda *args: 3, np.random.default_rng(0)).message
    assert "Row 3 is not the one. Did you take the joint's own turn" in row_3


# ---------------------------------------------------------------- the commands


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
    assert PROJECT.joinpath("notebooks", "homework", "hw02_dh", "judge.py").is_file()
