"""Homework 01: the truths hold against outside engines."""

import numpy as np
import spatialmath
from scipy.linalg import logm
from scipy.spatial.transform import Rotation
from support.judges import judge_of

JUDGE, BY_NAME = judge_of("hw01_frames")


def seeded(seed):
    return np.random.default_rng(seed)


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
            ends = [
                spatialmath.UnitQuaternion(q / np.linalg.norm(q)) for q in quats[i : i + 2]
            ]  # scalar first, as ours
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
        fits = sorted(
            JUDGE.misfit(s, u, angles, R) for s in JUDGE.SEQUENCES for u in ("rad", "deg")
        )
        assert fits[1] > 3 * fits[0]


def test_false_views_pull_a_plain_mean_away():
    for (poses,) in BY_NAME["average_pose"].cases(seeded(3))[1:]:
        good, plain = JUDGE.average_pose(poses), JUDGE.mean_pose(poses)
        metres, turn = JUDGE.distances(good, plain[None])
        assert metres[0] > 0.005 and turn[0] > Rotation.from_rotvec([0.05, 0, 0]).magnitude()


def test_who_takes_the_mean_of_the_matrices_is_told_so():
    said = BY_NAME["average_pose"].judge(lambda poses: poses.mean(axis=0), seeded(3)).message
    assert said.endswith("rotation matrices is no rotation. Average rotations as rotations.")
