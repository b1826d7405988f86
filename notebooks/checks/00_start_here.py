"""Checkpoints of lesson 00: units, poses, quaternions."""

import numpy as np
from scipy.spatial.transform import Rotation

from course_lib.check import Exercise, Mistake

# ---------------------------------------------------------------- half_turn

HALF_TURN = Exercise(
    "half_turn",
    truth=np.pi,
    mistakes=[
        Mistake(
            180,
            "180 is half a turn in degrees. The course, NumPy and SciPy want radians: a full turn"
            " is 2 pi.",
        ),
        Mistake(2 * np.pi, "That is a full turn."),
        Mistake(0.5, "0.5 counts turns. In radians a full turn is 2 pi."),
        Mistake(
            -np.pi,
            "It ends in the same place, but it turns the other way round. Take the positive one.",
        ),
    ],
    alternatives=[np.radians(180), Rotation.from_euler("x", 180, degrees=True).magnitude()],
)

# ---------------------------------------------------------------- pose_from_controller


def reports(rng):
    only_shift = ([300.0, 0.0, -210.0], [0.0, 0.0, 0.0])
    only_yaw = ([0.0, 0.0, 0.0], [0.0, 0.0, 90.0])
    random = [
        (rng.uniform(-800, 800, 3), rng.uniform((-170, -80, -170), (170, 80, 170)))
        for _ in range(5)
    ]
    return [only_shift, only_yaw, *random]


def matrix(xyz, R):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, xyz
    return T


def turned(order, rpy_deg, degrees=True):
    return Rotation.from_euler(order, rpy_deg, degrees=degrees).as_matrix()


def by_hand(xyz_mm, rpy_deg):
    """Rz(yaw) Ry(pitch) Rx(roll), written out."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(np.radians(rpy_deg)), np.sin(np.radians(rpy_deg))
    Rz, Ry, Rx = (
        [[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]],
        [[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]],
        [[1, 0, 0], [0, cr, -sr], [0, sr, cr]],
    )
    return matrix(1e-3 * np.asarray(xyz_mm), np.array(Rz) @ Ry @ Rx)


POSE = Exercise(
    "pose_from_controller",
    truth=lambda xyz_mm, rpy_deg: matrix(np.asarray(xyz_mm) / 1000, turned("xyz", rpy_deg)),
    cases=reports,
    mistakes=[
        Mistake(
            lambda xyz, rpy: matrix(xyz, turned("xyz", rpy)),
            "Your position is still in millimetres: the arm would look for a point some hundred"
            " metres away.",
        ),
        Mistake(
            lambda xyz, rpy: matrix(np.asarray(xyz) / 1000, turned("xyz", rpy, degrees=False)),
            "Your position is right, but the angles are degrees and you fed them as radians.",
        ),
        Mistake(
            lambda xyz, rpy: matrix(xyz, turned("xyz", rpy, degrees=False)),
            "Two units are wrong: the position is in millimetres and the angles are in degrees.",
        ),
        Mistake(
            lambda xyz, rpy: matrix(np.asarray(xyz) / 1000, turned("XYZ", rpy)),
            "Capital letters in SciPy turn about axes that move with the body. The controller turns"
            " about fixed axes: small letters.",
        ),
        Mistake(
            lambda xyz, rpy: matrix(np.asarray(xyz) / 1000, turned("zyx", rpy)),
            "You turned by roll about z and by yaw about x. With small letters, the order of the"
            " letters is the order of the angles: roll about x comes first.",
        ),
        Mistake(
            lambda xyz, rpy: matrix(np.asarray(xyz) / 1000, turned("ZYX", rpy)),
            'Your letters start with z, but your angles start with roll. Either "xyz" with (roll,'
            ' pitch, yaw), or "ZYX" with (yaw, pitch, roll).',
        ),
        Mistake(
            lambda xyz, rpy: matrix(np.asarray(xyz) / 1000, turned("xyz", rpy).T),
            "Your rotation is transposed: it describes the base seen from the tool.",
        ),
        Mistake(
            lambda xyz, rpy: matrix(np.asarray(xyz) / 1000, turned("xyz", rpy)).T,
            "The position belongs into the last column, not into the last row.",
        ),
        Mistake(
            lambda xyz, rpy: np.linalg.inv(matrix(np.asarray(xyz) / 1000, turned("xyz", rpy))),
            "You returned the inverse: the base seen from the tool. Asked for is the tool seen from"
            " the base.",
        ),
    ],
    alternatives=[
        by_hand,
        lambda xyz, rpy: matrix(np.array(xyz) * 1e-3, turned("ZYX", np.array(rpy)[::-1])),
        lambda xyz, rpy: matrix(
            np.array(xyz) * 1e-3, turned("z", rpy[2]) @ turned("y", rpy[1]) @ turned("x", rpy[0])
        ).tolist(),
    ],
)

# ---------------------------------------------------------------- camera_pose


def sightings(rng):
    """Pairs (T_wt, T_ct): a tool 0.5 m ahead and 0.9 m before a camera, first not turned."""
    shifted = (matrix([0.5, 0, 0.1], np.eye(3)), matrix([0.1, 0.2, 0.9], np.eye(3)))
    turned_one = (matrix([0.5, 0, 0.1], turned("z", 90)), matrix([0.1, 0.2, 0.9], turned("x", 180)))
    random = [
        tuple(
            matrix(
                rng.uniform(-1, 1, 3), Rotation.random(random_state=rng.integers(1000)).as_matrix()
            )
            for _ in range(2)
        )
        for _ in range(4)
    ]
    return [shifted, turned_one, *random]


def transposed_only(T):
    """The inverse of the rotation, with the position turned round but not rotated."""
    return matrix(-T[:3, 3], T[:3, :3].T)


inv = np.linalg.inv
CAMERA = Exercise(
    "camera_pose",
    truth=lambda T_wt, T_ct: T_wt @ inv(T_ct),
    cases=sightings,
    mistakes=[
        Mistake(
            lambda T_wt, T_ct: T_wt @ T_ct,
            "T_wt · T_ct: the inner letters t and c differ, so these two do not fit. Which one must"
            " be turned round?",
        ),
        Mistake(
            lambda T_wt, T_ct: T_ct @ T_wt,
            "T_ct · T_wt: the inner letters t and w differ, so these two do not fit. Which one must"
            " be turned round?",
        ),
        Mistake(
            lambda T_wt, T_ct: inv(T_ct) @ T_wt,
            "You inverted the right one, but the order is wrong: T_tc · T_wt does not fit. Start"
            " with w, end with c.",
        ),
        Mistake(
            lambda T_wt, T_ct: inv(T_wt) @ T_ct,
            "You inverted the other one: T_tw · T_ct does not fit. Start with w, end with c.",
        ),
        Mistake(
            lambda T_wt, T_ct: T_ct @ inv(T_wt),
            "That is T_cw: the world seen from the camera. Asked for is T_wc, its inverse.",
        ),
        Mistake(
            lambda T_wt, T_ct: T_wt @ T_ct.T,
            "The transpose is the inverse of a rotation matrix, not of a 4×4 pose: the position"
            " ends up in the last row.",
        ),
        Mistake(
            lambda T_wt, T_ct: T_wt @ transposed_only(T_ct),
            "The inverse of (R, p) is (R^T, -R^T p). You left the R^T before p out.",
        ),
        Mistake(
            lambda T_wt, T_ct: T_wt * inv(T_ct),
            "* multiplies entry by entry. The matrix product is @.",
        ),
        Mistake(
            lambda T_wt, T_ct: T_wt - T_ct, "Poses are combined by products, not by differences."
        ),
    ],
    alternatives=[
        lambda T_wt, T_ct: np.linalg.solve(T_ct.T, T_wt.T).T,
        lambda T_wt, T_ct: inv(T_ct @ inv(T_wt)),
        lambda T_wt, T_ct: matrix(
            T_wt[:3, 3] - T_wt[:3, :3] @ T_ct[:3, :3].T @ T_ct[:3, 3], T_wt[:3, :3] @ T_ct[:3, :3].T
        ).tolist(),
    ],
)

# ---------------------------------------------------------------- scalar_first


def stacks(rng):
    return [
        (Rotation.random(num, random_state=rng.integers(1000)).as_quat().reshape(*shape, 4),)
        for num, shape in ((1, ()), (4, (4,)), (2, (2,)), (6, (2, 3)), (5, (5,)))
    ]


SCALAR_FIRST = Exercise(
    "scalar_first",
    truth=lambda quat: np.roll(quat, 1, axis=-1),
    cases=stacks,
    mistakes=[
        Mistake(
            lambda quat: np.roll(quat, 1),
            "Right for one quaternion. For a stack, np.roll without an axis rolls through all of"
            " them: say axis=-1.",
        ),
        Mistake(
            lambda quat: np.roll(quat, 1, axis=0),
            "Axis 0 of a stack counts the quaternions. The four numbers of each are the last"
            " axis: -1.",
        ),
        Mistake(
            lambda quat: np.roll(quat, -1, axis=-1),
            "You rolled the other way: y came first, not w.",
        ),
        Mistake(
            lambda quat: quat[..., ::-1],
            "You reversed all four: (w, z, y, x). Only w moves; x, y, z keep their order.",
        ),
        Mistake(lambda quat: quat, "You returned it as it came, scalar last."),
        Mistake(
            lambda quat: quat[[3, 0, 1, 2]],
            "Right for one quaternion. For a stack, [3, 0, 1, 2] picks quaternions, not their"
            " numbers: write [..., [3, 0, 1, 2]].",
        ),
        Mistake(
            lambda quat: quat[..., [3, 1, 2, 0]],
            "You swapped w and x. Move w to the front; x, y, z keep their order behind it.",
        ),
        Mistake(
            lambda quat: np.roll(quat, 1, axis=-1) * [1, -1, -1, -1],
            "You also changed the sign of x, y, z: that is the inverse rotation.",
        ),
    ],
    alternatives=[
        lambda quat: np.asarray(quat)[..., [3, 0, 1, 2]],
        lambda quat: np.concatenate([quat[..., 3:], quat[..., :3]], axis=-1),
        lambda quat: np.moveaxis(
            np.array([quat[..., 3], quat[..., 0], quat[..., 1], quat[..., 2]]), 0, -1
        ).tolist(),
    ],
)

EXERCISES = [HALF_TURN, POSE, CAMERA, SCALAR_FIRST]
