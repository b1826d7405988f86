"""Homework 04: right answers pass, each wrong one is told why, and the truths hold against outside engines."""

import importlib.util
import json
import re

import numpy as np
import pytest
from scipy.optimize import linprog

from course_lib.tools.complaints import complaints
from course_lib.tools import homework as tool
from course_lib.tools.grading import NOT_GRADED, grade_id, load_homework, source_of

HW04 = load_homework(tool.SOURCES / "hw04_jacobians")
BY_NAME = {e.name: e for e in HW04.exercises}
each = pytest.mark.parametrize("exercise", HW04.exercises, ids=lambda e: e.name)


def judge_module():
    spec = importlib.util.spec_from_file_location("judge_of_hw04", HW04.folder / "judge.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


JUDGE = judge_module()


@each
def test_wrong_answers_fail_with_their_own_message_and_alternatives_pass(exercise):
    assert len(exercise.mistakes) >= 5 and len(exercise.alternatives) >= 3
    assert len({mistake.message for mistake in exercise.mistakes}) == len(exercise.mistakes)
    for seed in (0, 1, 2):
        assert complaints(exercise, np.random.default_rng(seed)) == []


@pytest.mark.full
@each
def test_the_same_for_a_class_of_seeds(exercise):
    for seed in range(3, 60):
        assert complaints(exercise, np.random.default_rng(seed)) == []


@each
@pytest.mark.parametrize("answer", [np.zeros((4, 4)), [], "text", {"a": 1}, [[1], [2, 3]], 7.5, np.full((6, 4), np.inf),
                                    (np.nan, np.full(3, np.nan)), (1.0, "x"), (1, [1, 2]), True, 1j])
def test_answers_of_any_kind_get_a_message_not_a_traceback(exercise, answer):
    result = exercise.judge(lambda *args: answer, np.random.default_rng(0))
    assert not result.passed and len(result.message) > 20


@each
def test_cases_depend_on_the_seed_alone(exercise):
    numbers = lambda seed: [[np.asarray(part).tolist() for part in case] for case in exercise.cases(np.random.default_rng(seed))]
    assert numbers(5) == numbers(5) != numbers(6)


# ---------------------------------------------------------------- the truths


def test_truth_of_the_boom_against_pinocchio():
    """Four joints placed as the drawing says, without a DH table."""
    pin = pytest.importorskip("pinocchio")
    for h, r, t, q in BY_NAME["boom_jacobian"].cases(np.random.default_rng(3)):
        model = pin.Model()
        here = lambda *p: pin.SE3(np.eye(3), np.array(p, float))
        parent = model.addJoint(0, pin.JointModelRZ(), here(0, 0, 0), "1")
        parent = model.addJoint(parent, pin.JointModelRevoluteUnaligned(0, -1, 0), here(0, 0, h), "2")
        parent = model.addJoint(parent, pin.JointModelPX(), here(r, 0, 0), "3")
        parent = model.addJoint(parent, pin.JointModelRevoluteUnaligned(0, -1, 0), here(0, 0, 0), "4")
        tool_frame = model.addFrame(pin.Frame("tool", parent, here(t, 0, 0), pin.FrameType.OP_FRAME))
        J = pin.computeFrameJacobian(model, model.createData(), q, tool_frame, pin.LOCAL_WORLD_ALIGNED)
        np.testing.assert_allclose(JUDGE.boom_jacobian(h, r, t, q), J, atol=1e-12)


def test_the_frame_is_the_one_that_the_jacobian_was_made_in(monkeypatch):
    made = []
    original = JUDGE.frame_case
    monkeypatch.setattr(JUDGE, "frame_case", lambda rng, arm, q, qd, frame: made.append(frame) or original(rng, arm, q, qd, frame))
    cases = JUDGE.frame_cases(np.random.default_rng(11))
    assert [JUDGE.which_frame(*case) for case in cases] == made and set(made) == set(JUDGE.FRAMES)


def test_truth_of_the_stretched_elbow_by_differences_of_the_drawing():
    """The tip from the drawing alone: no joint moves it along the lost direction, and the arm is as long as it gets."""
    def tip(u, e, f, q1, q2, q3):
        rho = u * np.cos(q2) + e * np.cos(q2 + q3) + f * np.sin(q2 + q3)
        z = u * np.sin(q2) + e * np.sin(q2 + q3) - f * np.cos(q2 + q3)
        return np.array([rho * np.cos(q1), rho * np.sin(q1), z])

    for u, e, f, q1, q2 in BY_NAME["stretched"].cases(np.random.default_rng(4)):
        q3, lost = JUDGE.stretched(u, e, f, q1, q2)
        q = np.array([q1, q2, q3])
        J = np.column_stack([(tip(u, e, f, *(q + d)) - tip(u, e, f, *(q - d))) / 2e-5 for d in 1e-5 * np.eye(3)])
        assert np.abs(lost @ J).max() < 1e-9
        assert np.linalg.norm(tip(u, e, f, *q)) == pytest.approx(u + np.hypot(e, f))


def test_truth_of_the_torques_by_virtual_work():
    """Power of the push on the point where it acts, for random joint speeds, seen by moving the arm a little."""
    from course_lib.kinematics import fk, jacobian

    rng = np.random.default_rng(5)
    for n in (4, 6, 7):
        arm, q = JUDGE.random_arm(rng, n), rng.uniform(-2, 2, n)
        T, push = fk(arm, q), rng.uniform(-30, 30, 3)
        at = T[:3, 3] + rng.uniform(-0.2, 0.2, 3)
        tau = JUDGE.holding_torques(jacobian(arm, q, "tool"), T, push, at)
        on_tool = np.linalg.inv(T) @ np.r_[at, 1]
        for qd in rng.uniform(-1, 1, (5, n)):
            moved = ((fk(arm, q + 1e-6 * qd) - fk(arm, q - 1e-6 * qd)) @ on_tool)[:3] / 2e-6
            assert tau @ qd + push @ moved == pytest.approx(0, abs=1e-6)


def test_truth_of_the_speed_by_linear_programming():
    for J, direction, qd_max in BY_NAME["fastest"].cases(np.random.default_rng(6)):
        twist = np.r_[direction / np.linalg.norm(direction), 0, 0, 0]
        best = linprog([0] * 6 + [-1], A_eq=np.column_stack([J, -twist]), b_eq=np.zeros(6), bounds=[*zip(-qd_max, qd_max), (0, None)])
        assert JUDGE.fastest(J, direction, qd_max) == pytest.approx(best.x[-1], rel=1e-6)


# ---------------------------------------------------------------- the notebook, ours and the learners'


def run(notebook):
    """Run all cells as a kernel would, and return the results of the checking cells."""
    space, results = {}, {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code" and grade_id(cell).startswith("check_"):
            results[grade_id(cell).removeprefix("check_")] = eval(source_of(cell), space)
        elif cell["cell_type"] == "code":
            exec(compile(source_of(cell), f"<{grade_id(cell)}>", "exec"), space)
    return results


def test_the_source_solves_itself_and_the_learners_version_is_all_open():
    solved, released = run(HW04.notebook), run(json.loads(tool.learners_version(HW04)))
    assert list(solved) == list(released) == list(BY_NAME)
    assert all(r.passed for r in solved.values()) and not any(r.answered for r in released.values())


def test_the_learners_version_holds_no_solution_and_no_case():
    text = tool.learners_version(HW04)
    text = text if isinstance(text, str) else text.decode()
    assert "SOLUTION" not in text and "judge" not in text and "Mistake" not in text
    solved = [line.strip() for cell in HW04.notebook["cells"] if grade_id(cell) in BY_NAME
              for line in re.search(r"### BEGIN SOLUTION\n(.*)### END SOLUTION", source_of(cell), re.S)[1].splitlines()]
    telling = [line for line in solved if len(line) > 14]
    assert len(telling) > 20
    assert [line for line in telling if json.dumps(line, ensure_ascii=False)[1:-1] in text] == []


def test_the_source_stores_no_output_and_draws_in_cells_that_are_not_graded():
    assert all(not cell.get("outputs") for cell in HW04.notebook["cells"])
    drawing = [cell for cell in HW04.notebook["cells"] if "plots." in source_of(cell)]
    assert len(drawing) == 2 and all(NOT_GRADED in cell["metadata"]["tags"] for cell in drawing)
    assert not re.search(r"/(work|home|root|tmp)/|file://", json.dumps(HW04.notebook))
    assert sum(e.points for e in HW04.exercises) == 10
