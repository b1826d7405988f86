"""Homework 03: the truths hold against outside engines and the checker."""

import json
import re

import numpy as np
import pytest
from support.judges import judge_of

from course_lib.tools.grading.command import SOURCES
from course_lib.tools.grading.marking import load_homework, mark, read_submission
from course_lib.urdf_check import check_urdf

JUDGE, BY_NAME = judge_of("hw03_urdf")
RULES = {"degrees", "limit-degrees", "limit-order", "millimetres", "mass-negative"}


def findings(tmp_path, text):
    path = tmp_path / "arm.urdf"
    path.write_text(text, encoding="utf-8")
    return {f.rule for f in check_urdf(path)}


def test_every_broken_file_has_faults_and_a_mended_one_has_none_by_the_checker(tmp_path):
    seen = set()
    for seed in range(4):
        for (text,) in BY_NAME["mend"].cases(np.random.default_rng(seed)):
            found = findings(tmp_path, text)
            seen |= found
            assert found & RULES
            assert not findings(tmp_path, JUDGE.mend(text)) & RULES
    assert {"limit-degrees", "limit-order", "mass-negative"} <= seen


def test_mending_undoes_the_faults():
    """Mending a sound file changes nothing, and mending a broken one leads back to it."""
    rng = np.random.default_rng(7)
    for fault in JUDGE.FAULTS:
        for _ in range(5):
            arm = JUDGE.sound_arm(rng)
            sound = JUDGE.write(arm)
            assert JUDGE.same_file(JUDGE.mend(sound), sound, ()) is None
            fault(arm, rng)
            assert JUDGE.same_file(JUDGE.write(arm), sound, ()) is not None
            assert JUDGE.same_file(JUDGE.mend(JUDGE.write(arm)), sound, ()) is None


def test_truth_of_the_inertia_by_pinocchio():
    pin = pytest.importorskip("pinocchio")
    for (text,) in BY_NAME["link_inertia"].cases(np.random.default_rng(3)):
        mass, radius, length, xyz, rpy = JUDGE.read_link(text)
        body = pin.Inertia.FromCylinder(mass, radius, length).se3Action(
            pin.SE3(pin.rpy.rpyToMatrix(*rpy), xyz)
        )
        com, tensor = JUDGE.link_inertia(text)
        np.testing.assert_allclose(com, body.lever, atol=1e-12)
        np.testing.assert_allclose(tensor, body.inertia, atol=1e-12)


def test_truth_of_the_rule_by_masses_that_fill_it():
    """A tensor is possible if point masses make it: three pairs on its axes.

    Their weights are (sum of the other two moments minus its own) / 4.
    """
    for (text,) in BY_NAME["impossible_inertias"].cases(np.random.default_rng(4)):
        for name, tensor in JUDGE.tensors(text):
            second = np.trace(tensor) / 2 * np.eye(3) - tensor  # Σ m r rᵀ of the body
            possible = (
                np.linalg.eigvalsh(second).min() > -1e-8 and np.linalg.eigvalsh(tensor).min() > 0
            )
            assert possible == (name not in JUDGE.impossible(text))


def test_truth_of_the_axis_by_pinocchio_and_it_is_the_only_one():
    pin = pytest.importorskip("pinocchio")
    for seed in range(6):
        for text, q, poses in BY_NAME["mend_axis"].cases(np.random.default_rng(seed)):
            fits = JUDGE.candidates(text, q, poses)
            assert fits[0][0] < 1e-4 < 100 * fits[0][0] < fits[1][0]
            i, axis = fits[0][1:]
            placed = [JUDGE.words(axis) if k == i else None for k in range(3)]
            axes = iter(placed)  # None: as in the file
            mended = re.sub(
                r'<axis xyz="([^"]*)"/>', lambda old: f'<axis xyz="{next(axes) or old[1]}"/>', text
            )
            model = pin.buildModelFromXML(mended)
            data = model.createData()
            for angles, T in zip(q, poses):
                pin.framesForwardKinematics(
                    model, data, np.ravel([(np.cos(a), np.sin(a)) for a in angles])
                )
                assert np.abs(data.oMf[model.getFrameId("tcp")].homogeneous - T).max() < 1e-4


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1.79e308", "-1.79e308"])
def test_a_file_whose_numbers_are_ruined_is_not_mended(number):
    """All of them, or those of one element: `abs(error) > tol` is false for NaN."""
    mend, rng = BY_NAME["mend"], np.random.default_rng(0)
    for attribute in ("xyz", "rpy", "lower", "upper", "value", "[a-z]+"):

        def ruin(text, attribute=attribute):
            ruined = lambda found: re.sub(r"-?\d[^\s\"]*", number, found[0])
            return re.sub(rf'\b({attribute})="[-\d][^"]*"', ruined, JUDGE.mend(text))

        result = mend.judge(lambda text: ruin(text), rng)
        assert not result.passed and result.answered, attribute


# ---------------------------------------------------------------- the notebook


def test_the_source_gets_full_marks_from_the_grader(tmp_path):
    homework = load_homework(SOURCES / "hw03_urdf")
    (tmp_path / "hw03_urdf.ipynb").write_text(json.dumps(homework.notebook), encoding="utf-8")
    marks = mark(
        read_submission(tmp_path, "ana", homework),
        homework.exercises,
        lambda name: np.random.default_rng(31),
    )
    assert [m.points for m in marks] == [e.points for e in homework.exercises], marks
