"""Homework 01: right answers pass however written, each wrong one is told why, and the truths hold elsewhere."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
import spatialmath
from scipy.linalg import logm
from scipy.spatial.transform import Rotation

from course_lib.check import find_exercise, load_exercises
from course_lib.tools.complaints import complaints

FOLDER = Path(__file__).resolve().parents[1] / "notebooks" / "homework" / "hw01_frames"
EXERCISES = load_exercises(FOLDER / "judge.py")
BY_NAME = {e.name: e for e in EXERCISES}


def judge_module():
    spec = importlib.util.spec_from_file_location("judge_of_hw01", FOLDER / "judge.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


JUDGE = judge_module()


def seeded(seed):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.name)
def test_wrong_answers_fail_with_their_own_message_and_alternatives_pass(exercise):
    assert len(exercise.mistakes) >= 5 and len(exercise.alternatives) >= 3
    assert len({mistake.message for mistake in exercise.mistakes}) == len(exercise.mistakes)
    for seed in (0, 1, 2):
        assert complaints(exercise, seeded(seed)) == []


@pytest.mark.full
@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.name)
def test_the_same_for_a_class_of_seeds(exercise):
    for seed in range(3, 23):
        assert complaints(exercise, seeded(seed)) == []


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.name)
@pytest.mark.parametrize("answer", [np.zeros((4, 4)), [], "text", {"a": 1}, [[1], [2, 3]], 7.5, np.full((4, 4), np.nan), True, 1j,
                                    ("xyz", 3), ("xxy", "rad"), [np.ones(3), np.ones(2)], (np.ones(3), np.ones(3), 1.0, "far")])
def test_answers_of_any_kind_get_a_message_not_a_traceback(exercise, answer):
    result = exercise.judge(lambda *args: answer, seeded(0))
    assert not result.passed and len(result.message) > 20


def solutions():
    """The functions of the notebook's solution cells."""
    names = {}
    for cell in json.loads((FOLDER / "hw01_frames.ipynb").read_text(encoding="utf-8"))["cells"]:
        graded = cell["metadata"].get("nbgrader", {})
        if cell["cell_type"] == "code" and not graded["grade"]:
            exec("".join(cell["source"]), names)
    return names


@pytest.mark.parametrize("name", BY_NAME)
def test_the_notebooks_solutions_pass(name):
    assert find_exercise(f"hw01.{name}").judge(solutions()[name], seeded(4)).passed


def test_points_of_notebook_and_judge_agree():
    cells = json.loads((FOLDER / "hw01_frames.ipynb").read_text(encoding="utf-8"))["cells"]
    points = {c["metadata"]["nbgrader"]["grade_id"]: c["metadata"]["nbgrader"]["points"]
              for c in cells if c["metadata"].get("nbgrader", {}).get("grade")}
    assert points == {f"check_{e.name}": e.points for e in EXERCISES}
    assert sum(points.values()) == 10


# ---------------------------------------------------------------- the truths, by other engines


def test_part_in_base_against_spatialmath():
    for T_bf, T_cf, p_c, n_c in BY_NAME["part_in_base"].cases(seeded(3)):
        p, n = JUDGE.part_in_base(T_bf, T_cf, p_c, n_c)
        T = spatialmath.SE3(T_bf) * spatialmath.SE3(T_cf).inv()
        np.testing.assert_allclose(p, (T * p_c).ravel(), atol=1e-12)
        np.testing.assert_allclose(n, T.R @ n_c, atol=1e-12)


def test_every_step_of_a_tracker_log_invites_the_long_way():
    for _, _, quats in BY_NAME["orientation_at"].cases(seeded(3))[2:]:
        assert (np.sum(quats[1:] * quats[:-1], axis=1) < 0).all()
        assert np.abs(np.linalg.norm(quats, axis=1) - 1).max() > 0.005


def test_orientation_at_against_spatialmath():
    for t, times, quats in BY_NAME["orientation_at"].cases(seeded(3)):
        for one, R in zip(t, JUDGE.orientation_at(t, times, quats)):
            i = int(np.clip(np.searchsorted(times, one) - 1, 0, len(times) - 2))
            s = float(np.clip((one - times[i]) / (times[i + 1] - times[i]), 0, 1))
            ends = [spatialmath.UnitQuaternion(q / np.linalg.norm(q)) for q in quats[i : i + 2]]       # scalar first, as ours
            np.testing.assert_allclose(ends[0].interp(ends[1], s, shortest=True).R, R, atol=1e-7)


def test_find_screw_against_the_matrix_logarithm():
    for T0, T1 in BY_NAME["find_screw"].cases(seeded(3)):
        direction, point, angle, advance = JUDGE.find_screw(T0, T1)
        X = np.real(logm(T1 @ np.linalg.inv(T0)))
        w = np.array([X[2, 1], X[0, 2], X[1, 0]])
        np.testing.assert_allclose(angle * direction, w, atol=1e-6)
        np.testing.assert_allclose(X[:3, 3], np.cross(point, w) + advance * direction, atol=1e-6)


def test_each_log_fits_one_convention_only():
    for angles, R in BY_NAME["name_convention"].cases(seeded(3)):
        fits = sorted(JUDGE.misfit(s, u, angles, R) for s in JUDGE.SEQUENCES for u in ("rad", "deg"))
        assert fits[1] > 3 * fits[0]


def test_false_views_pull_a_plain_mean_away():
    for (poses,) in BY_NAME["average_pose"].cases(seeded(3))[1:]:
        good, plain = JUDGE.average_pose(poses), JUDGE.mean_pose(poses)
        metres, turn = JUDGE.distances(good, plain[None])
        assert metres[0] > 0.005 and turn[0] > Rotation.from_rotvec([0.05, 0, 0]).magnitude()
