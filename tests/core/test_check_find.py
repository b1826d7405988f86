"""course_lib.check.find: a key leads to its exercise, or to a sentence that names the near ones."""

import numpy as np
import pytest

import course_lib.check
from course_lib.check import PROJECT, check, compare, exercise, find, find_exercise, load_exercises

ONE = "from course_lib.check import Exercise\nEXERCISES = [Exercise('axes', truth=6)]\n"
TWO = """
from course_lib.check import Exercise
EXERCISES = [
    Exercise("axes", truth=6),
    Exercise("poses", cases=lambda rng: [(rng.uniform(),)], truth=lambda x: x),
]
"""


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course with checkpoints of lesson 02 and homework 02."""
    for name, text in (("checks/02_topic.py", ONE), ("homework/hw02_topic/judge.py", TWO)):
        path = tmp_path / "notebooks" / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    monkeypatch.setattr(find, "PROJECT", tmp_path)
    return tmp_path / "notebooks"


def test_check_finds_exercises_of_lessons_and_homework(course):
    assert check("02.axes", 6).passed and not check("02.axes", 5).passed
    assert check("hw02.axes", 6).passed and check("hw02.poses", lambda x: x).passed
    assert find_exercise("hw02.poses").name == "poses"


def test_a_wrong_name_gets_the_nearest_ones(course):
    with pytest.raises(ValueError) as raised:
        check("02.axis", 6)
    assert str(raised.value) == "key = '02.axis': no such exercise; did you mean '02.axes'?"
    with pytest.raises(ValueError, match="did you mean 'hw02.poses'[?]$"):
        find_exercise("hw02.pose")
    with pytest.raises(ValueError, match="did you mean 'hw02.axes' or 'hw02.poses'[?]$"):
        find_exercise("hw02.qqq")


@pytest.mark.parametrize(
    "key",
    ["2.axes", "hw99.axes", "03.axes", "axes", "../x.axes", "hw2.axes", "", "hw*.axes", "02x.a"],
)
def test_a_wrong_unit_gets_those_that_are_there(course, key):
    with pytest.raises(ValueError) as raised:
        check(key, 6)
    assert str(raised.value) == (
        f"key = {key!r}: expected 'NN.name' or 'hwNN.name' with one of 02, hw02"
    )


def test_a_course_without_exercises_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(find, "PROJECT", tmp_path)
    with pytest.raises(ValueError, match="with one of no file yet$"):
        check("02.axes", 6)


def test_a_folder_of_homework_without_a_judge_is_not_there(course):
    (course / "homework" / "hw03_other").mkdir()
    with pytest.raises(ValueError, match="with one of 02, hw02$"):
        check("hw03.axes", 6)


def test_open_cases_are_those_of_the_seed_zero(course):
    seen = []
    check("hw02.poses", lambda x: seen.append(x) or x)
    assert seen == [np.random.default_rng(0).uniform()]


def test_a_file_is_read_afresh(course):
    assert check("02.axes", 6).passed
    (course / "checks" / "02_topic.py").write_text(ONE.replace("6", "77"))
    assert not check("02.axes", 6).passed and check("02.axes", 77).passed


@pytest.mark.parametrize(
    "text",
    [
        "",
        "EXERCISES = []\n",
        ONE.replace("[Exercise('axes', truth=6)]", "2 * [Exercise('a', truth=6)]"),
    ],
)
def test_exercises_must_be_there_and_differ_in_name(tmp_path, text):
    path = tmp_path / "02_x.py"
    path.write_text(text)
    with pytest.raises(
        ValueError, match="^02_x.py: EXERCISES should list exercises with different n"
    ):
        load_exercises(path)


def test_nbgrader_itself_may_not_mark(course, monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    with pytest.raises(
        RuntimeError, match="^nbgrader can't mark this homework: run .*homework grade"
    ):
        check("02.axes", 6)
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    assert check("02.axes", 6).passed


def test_the_project_is_the_folder_of_the_course():
    assert (PROJECT / "course.py").is_file()


def test_the_package_hands_out_its_names():
    """What judges and lessons need, as the modules list it."""
    for module in (compare, exercise, find):
        assert module.__all__
        for name in module.__all__:
            assert getattr(course_lib.check, name) is getattr(module, name)
