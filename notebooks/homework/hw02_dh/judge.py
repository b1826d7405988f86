"""The judge of homework 02: DH tables.

A table is an array (n, 4) with the columns a [m], alpha [rad], d [m], theta [rad], one row a joint,
all joints revolute. Solutions stand here in the open: the marks hang on hidden cases, and the
learning on you.
"""

import numpy as np

from course_lib.check import Exercise, Mistake, as_numbers, close, parts
from course_lib.dh import dh_matrix, mdh_matrix

MATRIX = {"standard": dh_matrix, "modified": mdh_matrix}
PI = np.pi


def rows(table, q, convention="standard"):
    """The matrix of each row (..., n, 4, 4). table (n, 4), q (..., n) [rad]."""
    a, alpha, d, theta = np.asarray(table, float).T
    return MATRIX[convention](a, alpha, d, theta + q)


def product(steps):
    """steps[0] · steps[1] · …, of (..., n, 4, 4); n = 0 gives the unit matrix."""
    T = np.eye(4)
    for i in range(steps.shape[-3]):
        T = T @ steps[..., i, :, :]
    return T


def last_frame(table, q, convention="standard"):
    """Pose of frame n in the base frame, for q (..., n): (..., 4, 4)."""
    return product(rows(table, q, convention))


def postures(n, count=8):
    """The same postures (count, n) [rad] every time: zero, each joint alone, then all together."""
    alone = 0.7 * np.eye(n)
    mixed = np.random.default_rng(2).uniform(-2, 2, (count, n))
    return np.vstack([np.zeros(n), alone, mixed])


def as_table(answer, n):
    """`answer` as a table (n, 4) of finite numbers."""
    return as_numbers(answer, (n, 4), "the table (a, alpha, d, theta in each row)")


def outside(answer, largest):
    """A sentence if `answer` is not one of the whole numbers 1 … largest."""
    valid = isinstance(answer, int | float) and answer in range(1, largest + 1)
    return None if valid else f"Expected a whole number from 1 to {largest}."


# ---------------------------------------------------------------- 1. one row, one matrix


def row_cases(rng):
    simple = [
        ("standard", 0.3, 0.0, 0.0, 0.0),
        ("modified", 0.0, 0.0, 0.2, 0.0),
        ("standard", 0.3, 0.0, 0.0, PI / 2),
        ("modified", 0.0, PI / 2, 0.2, 0.0),
    ]
    mixed = [
        (
            ("standard", "modified")[i % 2],
            *map(float, rng.uniform(0.1, 1.5, 4) * rng.choice([-1, 1], 4)),
        )
        for i in range(6)
    ]
    return simple + mixed


def row_matrix(convention, a, alpha, d, theta):
    return MATRIX[convention](a, alpha, d, theta)


def other(convention):
    return {"standard": "modified", "modified": "standard"}[convention]


def straight_position(convention, a, alpha, d, theta):
    T = row_matrix(convention, a, alpha, d, theta)
    T[:3, 3] = a, 0, d
    return T


def screws(a, alpha, d, theta):
    """The screw along x and the screw along z as 4x4 matrices."""
    ca, sa, ct, st = np.cos(alpha), np.sin(alpha), np.cos(theta), np.sin(theta)
    x = np.array([[1, 0, 0, a], [0, ca, -sa, 0], [0, sa, ca, 0], [0, 0, 0, 1]])
    z = np.array([[ct, -st, 0, 0], [st, ct, 0, 0], [0, 0, 1, d], [0, 0, 0, 1]])
    return x, z


def by_screws(convention, a, alpha, d, theta):
    x, z = screws(a, alpha, d, theta)
    return z @ x if convention == "standard" else x @ z


def by_scipy(convention, a, alpha, d, theta):
    from scipy.spatial.transform import RigidTransform, Rotation

    x = RigidTransform.from_components([a, 0, 0], Rotation.from_rotvec([alpha, 0, 0]))
    z = RigidTransform.from_components([0, 0, d], Rotation.from_rotvec([0, 0, theta]))
    return (z * x if convention == "standard" else x * z).as_matrix()


def by_inverse(convention, a, alpha, d, theta):
    """A modified matrix is the inverse of a standard one with all four numbers negated."""
    return (
        dh_matrix(a, alpha, d, theta)
        if convention == "standard"
        else np.linalg.inv(dh_matrix(-a, -alpha, -d, -theta))
    )


def by_entries(convention, a, alpha, d, theta):
    ca, sa, ct, st = np.cos(alpha), np.sin(alpha), np.cos(theta), np.sin(theta)
    if convention == "standard":
        return [
            [ct, -st * ca, st * sa, a * ct],
            [st, ct * ca, -ct * sa, a * st],
            [0, sa, ca, d],
            [0, 0, 0, 1],
        ]
    return [
        [ct, -st, 0, a],
        [st * ca, ct * ca, -sa, -d * sa],
        [st * sa, ct * sa, ca, d * ca],
        [0, 0, 0, 1],
    ]


ROW = Exercise(
    "row_matrix",
    points=2,
    seconds=2,
    cases=row_cases,
    truth=row_matrix,
    compare=close(1e-6),
    alternatives=[by_screws, by_scipy, by_inverse, by_entries],
    mistakes=[
        Mistake(
            lambda c, a, alpha, d, theta: row_matrix(other(c), a, alpha, d, theta),
            "You have the two conventions the wrong way round. Standard: first turn and move along"
            " z, then along x. Modified: first along x, then along z.",
        ),
        Mistake(
            lambda c, a, alpha, d, theta: dh_matrix(a, alpha, d, theta),
            "Every answer is a standard matrix. With modified DH the x screw (a, alpha) comes"
            " before the z screw (d, theta).",
        ),
        Mistake(
            lambda c, a, alpha, d, theta: mdh_matrix(a, alpha, d, theta),
            "Every answer is a modified matrix. With standard DH the z screw (d, theta) comes"
            " before the x screw (a, alpha).",
        ),
        Mistake(
            lambda c, a, alpha, d, theta: row_matrix(c, a, -alpha, d, theta),
            "The sign of alpha is turned around. A positive alpha turns y towards z: sin(alpha)"
            " stands below the diagonal.",
        ),
        Mistake(
            lambda c, a, alpha, d, theta: row_matrix(c, a, alpha, d, -theta),
            "The sign of theta is turned around. A positive theta turns x towards y: sin(theta)"
            " stands below the diagonal.",
        ),
        Mistake(
            lambda c, a, alpha, d, theta: row_matrix(c, a, np.radians(alpha), d, np.radians(theta)),
            "The angles come in radians already; you convert them from degrees once more.",
        ),
        Mistake(
            lambda c, a, alpha, d, theta: np.linalg.inv(row_matrix(c, a, alpha, d, theta)),
            "This is the inverse: the pose of frame i-1 seen from frame i. Asked is frame i seen"
            " from frame i-1.",
        ),
        Mistake(
            straight_position,
            "Your position is always (a, 0, d). But the second screw moves along an axis that the"
            " first one has turned: with standard DH a points along the new x, with modified DH d"
            " points along the new z.",
        ),
    ],
)


# ---------------------------------------------------------------- 2. the table of a drawn arm


def drawn_cases(rng):
    return [(0.4, 0.1, 0.3, 0.2), (0.5, 0.2, 0.3, 0.3)] + [
        tuple(map(float, rng.uniform(0.1, 0.6, 4))) for _ in range(3)
    ]


def drawn_table(h, s, r, t):
    return np.array([[0, PI / 2, h, 0], [r, 0, s, 0], [t, 0, 0, PI / 2]])


def drawn_tip(h, s, r, t, q):
    """The tip (3,) from the drawing alone: joint 1 turns about z, joints 2 and 3 about -y."""

    def about_minus_y(angle, v):
        c, k = np.cos(angle), np.sin(angle)
        return np.array([c * v[0] - k * v[2], v[1], k * v[0] + c * v[2]])

    x, y, z = about_minus_y(
        q[1], np.array([r, 0, 0]) + about_minus_y(q[2], np.array([0, 0, t]))
    ) + [0, -s, h]
    c, k = np.cos(q[0]), np.sin(q[0])
    return np.array([c * x - k * y, k * x + c * y, z])


def tips(table):
    return last_frame(table, postures(3))[:, :3, 3]


def compare_tips(answer, expected, args):
    """Where does the table put the tip, at zero, with each joint alone, and in mixed postures?"""
    table, target = as_table(answer, 3), as_table(expected, 3)
    off = ~(np.linalg.norm(tips(table) - tips(target), axis=1) < 1e-6)
    if not off.any():
        return None
    if off[0]:
        return (
            "In the drawn posture (all joints at 0) your table does not put the tip where the"
            " drawing has it."
        )
    if off[1:4].any():
        return (
            f"In the drawn posture your tip is right, but not when joint {np.argmax(off[1:4]) + 1}"
            " alone turns by 0.7 rad."
        )
    return (
        "The drawn posture and each joint alone are right, but not several joints together: look at"
        " the first two rows."
    )


DRAWN = Exercise(
    "arm_table",
    points=3,
    seconds=2,
    cases=drawn_cases,
    truth=drawn_table,
    compare=compare_tips,
    alternatives=[
        lambda h, s, r, t: [[0, PI / 2, h, 0], [r, 0, 0, 0], [t, 0, s, PI / 2]],
        lambda h, s, r, t: [[0, -PI / 2, h, PI], [r, 0, s, PI], [t, PI / 2, 0, PI / 2]],
        lambda h, s, r, t: [[0, PI / 2, h, 2 * PI], [-r, 0, s / 2, PI], [t, -1.0, s / 2, -PI / 2]],
        lambda h, s, r, t: [[0, PI / 2, h, 0], [r, 0, s, 0], [-t, 0, 0, -PI / 2]],
    ],
    mistakes=[
        Mistake(
            lambda h, s, r, t: [[0, PI / 2, h, 0], [r, 0, 0, 0], [t, 0, 0, PI / 2]],
            "The sideways offset s is nowhere in your table. Which of the four numbers moves along"
            " the axis of joint 2?",
        ),
        Mistake(
            lambda h, s, r, t: [[0, PI / 2, h, 0], [r, 0, s, 0], [t, 0, 0, 0]],
            "Your arm is straight when all joints are at 0; the drawn one is bent at the elbow. The"
            " angle that is there already at q = 0 belongs into theta.",
        ),
        Mistake(
            lambda h, s, r, t: [[0, -PI / 2, h, 0], [r, 0, s, 0], [t, 0, 0, PI / 2]],
            "Your z axis of joint 2 points to the wrong side, so joints 2 and 3 turn backwards and"
            " s goes the wrong way. Turn z0 about x0 until it points along the arrow of joint 2:"
            " what is the sign of that alpha?",
        ),
        Mistake(
            lambda h, s, r, t: [[s, PI / 2, h, 0], [r, 0, 0, 0], [t, 0, 0, PI / 2]],
            "You put s into a. But a moves along x, forwards; s goes sideways, along the axis of"
            " joint 2.",
        ),
        Mistake(
            lambda h, s, r, t: [[0, PI / 2, h, 0], [r, 0, -s, 0], [t, 0, 0, PI / 2]],
            "The offset s goes to the wrong side. In which direction does the axis of joint 2"
            " point, and in which the offset?",
        ),
        Mistake(
            lambda h, s, r, t: [[0, PI / 2, h, 0], [r, 0, s, 0], [t, 0, 0, -PI / 2]],
            "Your forearm points down in the drawn posture. A positive turn about the axis of joint"
            " 3 lifts it.",
        ),
        Mistake(
            lambda h, s, r, t: [[0, 90, h, 0], [r, 0, s, 0], [t, 0, 0, 90]],
            "The angles are in degrees. Tables of this course are in radians: 90° is np.pi / 2.",
        ),
        Mistake(
            lambda h, s, r, t: [[0, h, PI / 2, 0], [r, s, 0, 0], [t, 0, 0, PI / 2]],
            "The columns are in another order: expected is a, alpha, d, theta. You seem to have a,"
            " d, alpha, theta.",
        ),
        Mistake(
            lambda h, s, r, t: [[0, h, 0, PI / 2], [0, s, r, 0], [PI / 2, 0, t, 0]],
            "The columns are in another order: expected is a, alpha, d, theta. You seem to have"
            " theta, d, a, alpha.",
        ),
        Mistake(
            lambda h, s, r, t: [[0, 0, h, 0], [0, PI / 2, s, 0], [r, 0, 0, PI / 2]],
            "This is a modified table: its a and alpha stand one row lower. Asked is the standard"
            " one, and so the forearm t has its place in the last row.",
        ),
    ],
)


# ---------------------------------------------------------------- 3. from standard to modified


def random_table(rng, n):
    """A table with skew axes: no number is zero."""
    signs = rng.choice([-1, 1], (n, 4))
    return signs * np.column_stack(
        [
            rng.uniform(0.1, 0.5, n),
            rng.uniform(0.4, 1.4, n),
            rng.uniform(0.1, 0.4, n),
            rng.uniform(0.3, 1.2, n),
        ]
    )


def convert_cases(rng):
    return [
        (np.array([[0.3, 0, 0, 0], [0.2, 0, 0, 0]]),),
        (np.array([[0, PI / 2, 0.4, 0], [0.3, 0, 0.1, 0], [0.2, 0.5, 0, PI / 2]]),),
        *((random_table(rng, n),) for n in (3, 6)),
    ]


def convert(table):
    modified = np.array(table)
    modified[0, :2] = 0
    modified[1:, :2] = table[:-1, :2]
    a, alpha = table[-1, :2]
    return modified, dh_matrix(a, alpha, 0, 0)


def shift(table, first, columns=2):
    """The table with its first `columns` columns one row lower, and `first` on top."""
    moved = np.array(table)
    moved[1:, :columns], moved[0, :columns] = table[:-1, :columns], first
    return moved


def shift_up(table):
    moved = np.array(table)
    moved[:-1, :2], moved[-1, :2] = table[1:, :2], 0
    return moved, np.eye(4)


def screws_into_tool(table, columns):
    """A right answer too: the last joint's d, or theta, moved into the tool."""
    modified, tool = convert(table)
    d, theta = (modified[-1, k] if k in columns else 0.0 for k in (2, 3))
    modified[-1, columns] = 0
    return modified, dh_matrix(0, 0, d, theta) @ tool


def modified_poses(answer, n):
    """The poses (k, 4, 4) that a modified table and its tool give."""
    table, tool = parts(answer, ("the table", (n, 4)), ("the tool matrix", (4, 4)))
    return last_frame(table, postures(n), "modified") @ tool


def compare_modified(answer, expected, args):
    n = len(args[0])
    error = np.abs(modified_poses(answer, n) - modified_poses(expected, n))
    off = ~(error < 1e-6).all(axis=(1, 2))
    if not off.any():
        return None
    if not off[1 : n + 1].any() or not off[0]:
        return (
            "Some postures agree with the standard table, but not all: the last row or the tool"
            " hides a joint's own screw."
        )
    return (
        "Your table, read as modified, and with your tool, does not put the tool where the standard"
        " table has it (at q = 0)."
    )


CONVERT = Exercise(
    "to_modified",
    points=2,
    seconds=2,
    cases=convert_cases,
    truth=convert,
    compare=compare_modified,
    alternatives=[
        lambda table: (
            np.column_stack([np.vstack([[0, 0], table[:-1, :2]]), table[:, 2:]]).tolist(),
            by_screws("standard", *table[-1, :2], 0, 0),
        ),
        lambda table: screws_into_tool(table, [2]),
        lambda table: screws_into_tool(table, [2, 3]),
        lambda table: [shift(table, [0, 0]), screws(*table[-1, :2], 0, 0)[0]],
    ],
    mistakes=[
        Mistake(
            lambda table: (np.array(table), np.eye(4)),
            "You gave the standard table back. Reading the same numbers in the other order is"
            " another arm: a and alpha have to move down by one row.",
        ),
        Mistake(
            lambda table: (shift(table, [0, 0]), np.eye(4)),
            "The table is right, but the last row's a and alpha are lost: after the last joint they"
            " still move the tool. They belong into the tool matrix.",
        ),
        Mistake(
            lambda table: (shift(table, table[-1, :2]), np.eye(4)),
            "You rolled the columns around, so the last link's a and alpha now stand before the"
            " first joint. The first row gets zeros; the last a and alpha go into the tool.",
        ),
        Mistake(
            shift_up,
            "You moved a and alpha up. In a modified row they describe the link *before* the joint,"
            " so they move down.",
        ),
        Mistake(
            lambda table: (shift(table, [0, 0, 0, 0], 4), dh_matrix(*table[-1])),
            "You moved the whole rows down. Only a and alpha change rows; d and theta stay with"
            " their joint.",
        ),
        Mistake(
            lambda table: (shift(table, [0, 0]), dh_matrix(*table[-1])),
            "Your tool holds d and theta of the last row, which the table has already: they count"
            " twice. Only the last a and alpha are left for the tool.",
        ),
        Mistake(
            lambda table: (shift(table, [0, 0]), np.linalg.inv(dh_matrix(*table[-1, :2], 0, 0))),
            "Your tool is the inverse of the right one: it takes the last a and alpha back instead"
            " of adding them.",
        ),
    ],
)


# ---------------------------------------------------------------- 4. the wrong row


NOISE = 2e-5  # of the measured poses [m, and in the rotation's entries]


def wrong_row_cases(rng):
    """Tables with one wrong number, ten postures, ten measured poses."""
    rows = [2, 1, *map(int, 1 + rng.permutation(4)), *map(int, rng.integers(1, 5, 2))]
    return [wrong_row_case(rng, row) for row in rows]


def wrong_row_case(rng, row, n=4):
    """A case whose wrong row is `row` (from 1), told from the others in spite of the noise.

    Only row 1 may have a wrong d or theta: the z screw of a later row commutes with its joint's
    turn, so the row before, with that screw at its end, fits all postures as well.
    """
    while True:
        right = random_table(rng, n)
        table, column = right.copy(), int(rng.integers(4 if row == 1 else 2))
        table[row - 1, column] += rng.choice([-1, 1]) * (
            rng.uniform(0.02, 0.05) if column in (0, 2) else rng.uniform(0.1, 0.3)
        )
        q = rng.uniform(-2.5, 2.5, (10, n))
        poses = last_frame(right, q)
        poses[:, :3] += NOISE * rng.standard_normal((10, 3, 4))
        spread = np.sort(spreads(table, q, poses))
        if spread[1] > 20 * spread[0]:
            return table, q, poses


def needed(table, q, poses, i):
    """What row i would have to be, without its joint's turn, if the others are right.

    In each posture: (k, 4, 4).
    """
    steps = rows(table, q)
    turn = dh_matrix(0, 0, 0, q[:, i])
    before, after = product(steps[:, :i]) @ turn, product(steps[:, i + 1 :])
    return np.linalg.inv(before) @ poses @ np.linalg.inv(after)


def spreads(table, q, poses):
    """How much the needed row changes from posture to posture, for each row (n,)."""
    return np.array([np.ptp(needed(table, q, poses, i), axis=0).max() for i in range(len(table))])


def wrong_row(table, q, poses):
    return 1 + int(np.argmin(spreads(table, q, poses)))


def by_first_pose(table, q, poses):
    """Repair a row with the first pose, and see how well it predicts the other nine."""
    errors = []
    for i in range(len(table)):
        constant, error = needed(table, q, poses, i)[0], 0.0
        for angles, pose in zip(q, poses):
            A = list(dh_matrix(*table.T[:3], table[:, 3] + angles))
            A[i] = dh_matrix(0, 0, 0, angles[i]) @ constant
            error += np.abs(np.linalg.multi_dot(A) - pose).sum()
        errors.append(error)
    return np.int64(np.argmin(errors) + 1)


def by_fitting(table, q, poses):
    """Fit the four numbers of each row by least squares; the wrong row is the one that fits."""
    from scipy.optimize import least_squares

    def residual(numbers, i):
        trial = table.copy()
        trial[i] = numbers
        A = dh_matrix(*(trial.T[:3, :, None]), trial[:, 3, None] + q.T)  # (n, k, 4, 4)
        T = A[0]
        for B in A[1:]:
            T = T @ B
        return (T - poses)[:, :3].ravel()

    costs = [least_squares(residual, table[i], args=(i,)).cost for i in range(len(table))]
    return float(1 + np.argmin(costs))


def by_deviation(table, q, poses):
    """As the truth, but by the variance, and with linear solves."""
    costs = [np.var(needed(table, q, poses, i), axis=0).sum() for i in range(len(table))]
    return min(range(1, len(table) + 1), key=lambda row: costs[row - 1])


def worst_pose_joint(table, q, poses):
    errors = [
        np.linalg.norm(last_frame(table, angles)[:3, 3] - pose[:3, 3])
        for angles, pose in zip(q, poses)
    ]
    return 1 + int(np.argmax(np.abs(q[int(np.argmax(errors))])))


WRONG_ROW = Exercise(
    "wrong_row",
    points=2,
    seconds=3,
    cases=wrong_row_cases,
    truth=wrong_row,
    alternatives=[by_first_pose, by_fitting, by_deviation],
    diagnose=lambda answer, expected, args: (
        outside(answer, len(args[0]))
        or (f"Row {answer:g} is not the one. Did you take the joint's own turn Rz(q) out?")
    ),
    mistakes=[
        Mistake(
            lambda table, q, poses: wrong_row(table, q, poses) - 1,
            "You count rows from 0, as Python does. Joints and rows are counted from 1: add one at"
            " the end.",
        ),
        Mistake(
            lambda table, q, poses: wrong_row(table, q, poses) + 1,
            "You are one row too far each time. Row i holds the step from frame i-1 to frame i, so"
            " it turns with joint i.",
        ),
        Mistake(
            lambda table, q, poses: 1,
            "You always say row 1. With a single pose every row can be repaired so that it fits,"
            " and the first one wins. Here only one row can be repaired by the *same* matrix in all"
            " ten postures.",
        ),
        Mistake(
            lambda table, q, poses: len(table),
            "You always blame the last row, because the tool is where the error shows. But an error"
            " in any row shows there.",
        ),
        Mistake(
            lambda table, q, poses: len(table) + 1 - wrong_row(table, q, poses),
            "You count from the tool. Row 1 is the one at the base.",
        ),
        Mistake(
            worst_pose_joint,
            "You blame the joint that is turned furthest where the tool is worst. How far a joint"
            " is turned says nothing about its row: a wrong alpha, a or d is there at q = 0 too.",
        ),
        Mistake(
            lambda table, q, poses: 1 + int(np.argmax(spreads(table, q, poses))),
            "You take the row whose repair changes most from posture to posture. It is the other"
            " way round: a row that is really wrong is wrong by the same constant matrix in every"
            " posture.",
        ),
    ],
)


# ---------------------------------------------------------------- 5. which one is modified


def pair_cases(rng):
    """Two tables of one arm, in either order, and one measured pose.

    The arm's last link ends on its joint's axis.
    """
    plain = np.array([[0.1, PI / 2, 0.3, 0], [0.4, 0, 0, 0.2], [0, 0, 0.1, 0]])
    turntable = np.array(
        [[0, 0, 0.2, 0.5], [0.3, PI / 2, 0.1, 0], [0.25, 0.0, 0, 0.4], [0, 0, 0.1, 0]]
    )
    roll = np.array(
        [[0.2, PI / 2, 0.3, 0.1], [0.3, -PI / 2, 0, 0.3], [0, 0, 0.1, 0.2], [0, 0, 0.1, 0]]
    )
    pairs = [(plain, True), (turntable, False), (roll, False), (turntable, True), (roll, True)]
    return [pair_case(rng, *pair) for pair in pairs] + [
        trap_case(rng, k, bool(first)) for k, first in enumerate(rng.permutation([True, False] * 6))
    ]


def pair_case(rng, standard, modified_first):
    modified = shift(standard, [0, 0])
    q = rng.uniform(-2, 2, len(standard))
    tables = (modified, standard) if modified_first else (standard, modified)
    return *tables, q, last_frame(standard, q)


def trap_case(rng, k, modified_first):
    """A random pair on which a wrong use of q gives the wrong answer too."""
    trap = (without_q, q_for_theta)[k % 2]
    while True:
        table = random_table(rng, 4)
        table[-1, :2] = 0
        table[k // 2 % 4, :2] = (
            0  # in turn: the first two axes coincide, others do, the last two do, no more
        )
        case = pair_case(rng, table, modified_first)
        if trap(*case) != which_is_modified(*case):
            return case


def misfits(convention, table_1, table_2, q, T):
    """How far each table, read in `convention`, puts the last frame from T."""
    return [np.abs(last_frame(table, q, convention) - T).max() for table in (table_1, table_2)]


def which_is_modified(table_1, table_2, q, T):
    return 1 + int(np.argmin(misfits("modified", table_1, table_2, q, T)))


def starts_with_zeros(table_1, table_2, q, T):
    """The usual glance: whose first row has neither a nor alpha? The first such table wins."""
    return 1 if not np.any(table_1[0, :2]) else 2


def ends_with_zeros(table_1, table_2, q, T):
    """Another glance: standard tables end with zeros, so the one that does not is modified."""
    return 1 if np.any(table_1[-1, :2]) else 2


def without_q(table_1, table_2, q, T):
    return which_is_modified(table_1, table_2, 0 * q, T)


def q_for_theta(table_1, table_2, q, T):
    """q in the place of the column theta."""
    return which_is_modified(table_1 * [1, 1, 1, 0], table_2 * [1, 1, 1, 0], q, T)


PAIR = Exercise(
    "which_is_modified",
    points=1,
    seconds=2,
    cases=pair_cases,
    truth=which_is_modified,
    alternatives=[
        lambda table_1, table_2, q, T: (
            1 + int(np.argmax(misfits("standard", table_1, table_2, q, T)))
        ),
        lambda table_1, table_2, q, T: (
            2.0 if np.allclose(table_1[:-1, :2], table_2[1:, :2]) else 1.0
        ),
        lambda table_1, table_2, q, T: (
            1 if np.allclose(np.linalg.multi_dot(rows(table_1, q, "modified")), T) else 2
        ),
    ],
    diagnose=lambda answer, expected, args: outside(answer, 2),
    mistakes=[
        Mistake(
            lambda table_1, table_2, q, T: 3 - which_is_modified(table_1, table_2, q, T),
            "You have the two names the wrong way round: you found the standard one. Standard rows"
            " turn about z first, modified rows about x first.",
        ),
        Mistake(
            lambda table_1, table_2, q, T: which_is_modified(table_1, table_2, q, T) - 1,
            "You count the tables from 0. Expected 1 or 2.",
        ),
        Mistake(
            starts_with_zeros,
            "You look for zeros in the first row. A modified table of an arm often starts so, but a"
            " standard one may too, when the first two axes coincide. Only the pose tells.",
        ),
        Mistake(
            without_q,
            "You compare with the arm at q = 0, but the pose was measured at the given q. Add q to"
            " the column theta.",
        ),
        Mistake(
            ends_with_zeros,
            "You look for zeros in the last row. Standard tables often end so, but a modified one"
            " may too, when the last two axes coincide. Only the pose tells.",
        ),
        Mistake(
            q_for_theta,
            "You put q in the place of theta. The column theta is the joint's offset: the angle is"
            " theta + q.",
        ),
        Mistake(
            lambda table_1, table_2, q, T: 1, "You always say 1. Does your code look at the tables?"
        ),
        Mistake(
            lambda table_1, table_2, q, T: 2, "You always say 2. Does your code look at the tables?"
        ),
    ],
)

EXERCISES = [ROW, DRAWN, CONVERT, WRONG_ROW, PAIR]
