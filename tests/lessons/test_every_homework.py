"""What every homework promises: judges that explain, cases from the seed, no solution told."""

import json
import re

import numpy as np
import pytest
from support.complaints import complaints, errors_of_nothing, odd_answers_taken

from course_lib.tools.grading import command as tool
from course_lib.tools.grading.marking import NOT_GRADED, grade_id, load_homework, source_of

GIVEN = {"robot = ElementTree.fromstring(text)"}  # of solutions, but the task shows it too
FOLDERS = sorted(path.parent for path in tool.SOURCES.glob("hw*/hw*.ipynb"))
HOMEWORK = [load_homework(folder) for folder in FOLDERS]
each_homework = pytest.mark.parametrize("homework", HOMEWORK, ids=lambda h: h.folder.name)
each_exercise = pytest.mark.parametrize(
    "exercise",
    [pytest.param(e, id=f"{h.folder.name}-{e.name}") for h in HOMEWORK for e in h.exercises],
)


def test_the_homework_is_found():
    assert len(HOMEWORK) >= 4 and "hw02_dh" in [h.name for h in HOMEWORK]
    assert [path.name for path in sorted(tool.SOURCES.glob("hw*"))] == [h.name for h in HOMEWORK]


# ---------------------------------------------------------------- the judges


@each_exercise
def test_wrong_answers_fail_with_their_own_message_and_alternatives_pass(exercise):
    assert len(exercise.mistakes) >= 5 and len(exercise.alternatives) >= 3
    assert len({mistake.message for mistake in exercise.mistakes}) == len(exercise.mistakes)
    for seed in (0, 1, 2):
        assert complaints(exercise, np.random.default_rng(seed)) == []


@pytest.mark.full
@each_exercise
def test_the_same_for_a_class_of_seeds(exercise):
    for seed in range(3, 33):
        assert complaints(exercise, np.random.default_rng(seed)) == []


@each_exercise
def test_answers_of_any_kind_get_a_message_not_a_traceback(exercise):
    assert odd_answers_taken(exercise, np.random.default_rng(0)) == []
    assert errors_of_nothing(exercise, np.random.default_rng(0)) == []


@each_exercise
def test_cases_depend_on_the_seed_alone(exercise):
    one, same, other = (exercise.cases(np.random.default_rng(seed)) for seed in (5, 5, 6))
    np.testing.assert_equal(same, one)
    with pytest.raises(AssertionError):
        np.testing.assert_equal(other, one)


# ---------------------------------------------------------------- the notebooks


def run(notebook):
    """Run all cells as a kernel would, and return the results of the checking cells."""
    space, results = {}, {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code" and grade_id(cell).startswith("check_"):
            results[grade_id(cell).removeprefix("check_")] = eval(source_of(cell), space)
        elif cell["cell_type"] == "code":
            exec(compile(source_of(cell), f"<{grade_id(cell)}>", "exec"), space)
    return results


@each_homework
def test_the_source_solves_itself_and_the_learners_version_is_all_open(homework):
    solved, released = run(homework.notebook), run(json.loads(tool.learners_version(homework)))
    assert list(solved) == list(released) == [e.name for e in homework.exercises]
    assert all(r.passed for r in solved.values())
    assert all(
        not r.answered and r.message.startswith("Not answered yet") for r in released.values()
    )


@each_homework
def test_the_learners_version_holds_no_solution(homework):
    released = json.loads(tool.learners_version(homework))
    text, names = json.dumps(released, ensure_ascii=False), {e.name for e in homework.exercises}
    solved = [
        line.strip()
        for cell in homework.notebook["cells"]
        if grade_id(cell) in names
        for line in re.search(r"### BEGIN SOLUTION\n(.*)### END SOLUTION", source_of(cell), re.S)[
            1
        ].splitlines()
    ]
    telling = [line for line in solved if len(line) > 14 and line not in GIVEN]
    assert len(telling) > 20
    assert [line for line in telling if json.dumps(line, ensure_ascii=False)[1:-1] in text] == []
    assert "SOLUTION" not in text and "judge" not in text and "Mistake" not in text
    assert all(not cell.get("outputs") for cell in released["cells"])


def floats(part):
    """All numbers with a fraction in an argument: an array, a number, or lists of them."""
    if isinstance(part, (list, tuple)):
        return [number for inner in part for number in floats(inner)]
    array = np.asarray(part)
    return array.ravel().tolist() if array.dtype.kind == "f" else []


def told(text, case):
    """The numbers of a case that stand in a text, compared by six digits."""
    shown = {f"{float(word):.6g}" for word in re.findall(r"\d+\.\d{3,}", text)}
    return [n for n in (f"{abs(number):.6g}" for number in floats(case)) if n in shown]


@each_homework
def test_the_learners_version_holds_no_case(homework):
    cells = json.loads(tool.learners_version(homework))["cells"]
    text = " ".join(map(source_of, cells))
    for exercise in homework.exercises:
        for seed in range(10):
            for case in exercise.cases(np.random.default_rng(seed)):
                assert told(text, case) == []


def test_a_told_case_is_noticed():
    text = "0.34256 and -0.1234567, 2.5, 17.0625"
    case = (2.5, [np.array([0.3, -0.123456749])], 0.34256, 0.0625)
    assert told(text, case) == ["0.123457", "0.34256"] and told(text, (0.342561,)) == []


@each_homework
def test_the_source_stores_no_output_and_no_path_and_draws_in_cells_that_are_not_graded(homework):
    assert all(not cell.get("outputs") for cell in homework.notebook["cells"])
    drawing = [cell for cell in homework.notebook["cells"] if "plots." in source_of(cell)]
    assert all(NOT_GRADED in cell["metadata"]["tags"] for cell in drawing)
    assert not re.search(r"/(work|home|root|tmp)/|file://", json.dumps(homework.notebook))


@each_homework
def test_points_of_notebook_and_judge_agree_and_make_ten(homework):
    graded = [
        cell["metadata"]["nbgrader"]
        for cell in homework.notebook["cells"]
        if "nbgrader" in cell["metadata"]
    ]
    points = {g["grade_id"]: g["points"] for g in graded if g["grade"]}
    assert points == {f"check_{e.name}": e.points for e in homework.exercises}
    assert sum(points.values()) == 10
