"""Homework 02: the truths hold against outside engines."""

import numpy as np
import pytest
import roboticstoolbox as rtb
from support.judges import judge_of

JUDGE, BY_NAME = judge_of("hw02_dh")

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
        "Expected two things: the table (a 2×4 array) and the tool matrix (a 4×4 array)."
        in only_table
    )
    row_3 = BY_NAME["wrong_row"].judge(lambda *args: 3, np.random.default_rng(0)).message
    assert "Row 3 is not the one. Did you take the joint's own turn" in row_3
