"""Checkpoints of lesson 04: a joint's axis, a longer gripper, what is lost, what still works."""

from dataclasses import replace

import numpy as np

from course_lib.arm import Arm, load_arm
from course_lib.check import Exercise, Mistake, as_direction, as_numbers, in_mm, parts
from course_lib.dh import dh_matrix
from course_lib.kinematics import jacobian

COBOT6, PANDA = load_arm("cobot6"), load_arm("panda")
SCARA = Arm(
    "SCARA",
    "standard",
    a=[0.3, 0.25, 0, 0],
    alpha=[0, np.pi, 0, 0],
    d=[0.4, 0, 0, 0.05],
    theta=np.zeros(4),
    joint_types=("revolute", "revolute", "prismatic", "revolute"),
)
ELBOW, SHOULDER_UP = np.arctan2(0.28, 0.05), np.arctan2(0.30, -0.28)


def skew(p):
    return np.array([[0, -p[2], p[1]], [p[2], 0, -p[0]], [-p[1], p[0], 0]])


# ---------------------------------------------------------------- axis_of


def columns(rng):
    """(column, tool): a joint's axis through p along z, geared, and the tool point."""

    def one(z, p, tool, gear):
        omega = gear * np.asarray(z, float) / np.linalg.norm(z)
        return np.r_[np.cross(omega, np.subtract(tool, p)), omega], np.array(tool, float)

    simple = [
        one((0, 0, 1), (0, 0, 0), (0.3, 0, 0), 1.0),
        one((0, 0, 1), (0.1, 0.2, 0), (0.4, 0.2, 0.5), 0.5),
        one((0, 0, 1), (0.2, 0, 0), (0.2, 0, 0.4), 0.1),
    ]
    return simple + [
        one(
            rng.normal(size=3), rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3), rng.uniform(0.01, 0.5)
        )
        for _ in range(5)
    ]


def axis(column, tool):
    v, omega = column[:3], column[3:]
    return omega / np.linalg.norm(omega), tool + np.cross(omega, v) / (omega @ omega)


def same_axis(answer, expected, args):
    """Any point of the axis counts."""
    wanted = ("the direction", (3,)), ("a point", (3,))
    (direction, point), (right, on_axis) = parts(answer, *wanted), parts(expected, *wanted)
    if not (np.abs(direction - right) < 1e-9 + 1e-5 * np.abs(right)).all():
        as_direction(direction)
        return "The direction is not along ω."
    off = np.linalg.norm(np.cross(point - on_axis, right)) / max(np.linalg.norm(right), 1e-12)
    return None if off < 1e-9 else f"Your point lies {in_mm(off)} away from the axis."


AXIS_OF = Exercise(
    "axis_of",
    cases=columns,
    truth=axis,
    compare=same_axis,
    mistakes=[
        Mistake(
            lambda c, p: (c[3:], axis(c, p)[1]),
            "The direction should have length 1. With a gear in between, ω per motor radian is"
            " shorter than that.",
        ),
        Mistake(
            lambda c, p: (axis(c, p)[0], p - np.cross(c[3:], c[:3]) / (c[3:] @ c[3:])),
            "Your point lies on the other side of the tool. ω × v = ω × (ω × r) = -|ω|² r points"
            " from the tool back to the axis: add it.",
        ),
        Mistake(
            lambda c, p: (axis(c, p)[0], p + np.cross(c[3:], c[:3])),
            "That point is right only for |ω| = 1. ω × (ω × r) has two factors ω in it, so divide"
            " by |ω|².",
        ),
        Mistake(
            lambda c, p: (axis(c, p)[0], p + np.cross(c[3:], c[:3]) / np.linalg.norm(c[3:])),
            "You divided by |ω| once, but ω stands twice in ω × (ω × r). Divide by |ω|².",
        ),
        Mistake(
            lambda c, p: (axis(c, p)[0], np.cross(c[3:], c[:3]) / (c[3:] @ c[3:])),
            "You found the arrow from the tool to the axis, not a point. Add it to the tool.",
        ),
        Mistake(
            lambda c, p: (axis(c, p)[0], p),
            "The tool is not on the axis: a point of the axis would not move, and the tool has the"
            " velocity v.",
        ),
        Mistake(
            lambda c, p: (-axis(c, p)[0], axis(c, p)[1]),
            "Your axis points against ω. By the right hand, the joint turns about +ω.",
        ),
        Mistake(
            lambda c, p: axis(np.r_[c[3:], c[:3]], p) if c[:3].any() else (np.zeros(3), p),
            "You took the first three numbers for ω. Here the linear rows come first, then the"
            " angular ones.",
        ),
    ],
    alternatives=[
        lambda c, p: [
            c[3:] / np.sqrt(c[3:] @ c[3:]),
            p - np.linalg.lstsq(skew(c[3:]), c[:3], rcond=None)[0],
        ],
        lambda c, p: (axis(c, p)[0], axis(c, p)[1] + 0.7 * c[3:]),
        lambda c, p: (
            axis(c, p)[0].tolist(),
            (p - np.cross(c[:3], c[3:]) / np.linalg.norm(c[3:]) ** 2).tolist(),
        ),
    ],
)

# ---------------------------------------------------------------- tip_jacobian


def grippers(rng):
    straight, turned = dh_matrix(0, 0, 0.1, 0), dh_matrix(0, 0, 0, np.pi / 2)
    random = [dh_matrix(*rng.uniform(-1, 1, 4)) for _ in range(4)]
    arms = [COBOT6, COBOT6, COBOT6, PANDA, SCARA, COBOT6]
    return [
        (jacobian(arm, rng.uniform(-1.5, 1.5, arm.n), "tool"), X)
        for arm, X in zip(arms, [straight, turned, *random])
    ]


def at_tip(J, X):
    R, r = X[:3, :3], X[:3, 3]
    return np.vstack([R.T @ (J[:3] + np.cross(J[3:], r[:, None], axis=0)), R.T @ J[3:]])


def halves(J, X):
    R, r = X[:3, :3], X[:3, 3]
    return R, r, J[:3], J[3:], np.cross(J[3:], r[:, None], axis=0)


def adjoint(T):
    R, p = T[:3, :3], T[:3, 3]
    return np.block([[R, skew(p) @ R], [np.zeros((3, 3)), R]])


def shift_only(J, X):
    R, r, v, w, lever = halves(J, X)
    return np.vstack([v + lever, w])


def turn_only(J, X):
    R, r, v, w, lever = halves(J, X)
    return np.vstack([R.T @ v, R.T @ w])


def wrong_sign(J, X):
    R, r, v, w, lever = halves(J, X)
    return np.vstack([R.T @ (v - lever), R.T @ w])


def turned_first(J, X):
    R, r, v, w, lever = halves(J, X)
    return np.vstack([R.T @ v + np.cross(R.T @ w, r[:, None], axis=0), R.T @ w])


def other_turn(J, X):
    R, r, v, w, lever = halves(J, X)
    return np.vstack([R @ (v + lever), R @ w])


def angular_left(J, X):
    R, r, v, w, lever = halves(J, X)
    return np.vstack([R.T @ (v + lever), w])


def by_columns(J, X):
    return np.column_stack(
        [np.r_[X[:3, :3].T @ (c[:3] + np.cross(c[3:], X[:3, 3])), X[:3, :3].T @ c[3:]] for c in J.T]
    )


TIP = Exercise(
    "tip_jacobian",
    cases=grippers,
    truth=at_tip,
    mistakes=[
        Mistake(
            shift_only,
            "The point is right, the axes are not: your rows are still written in flange axes."
            " Multiply both halves by Rᵀ.",
        ),
        Mistake(
            turn_only,
            "The axes are right, but v still belongs to the flange point. The tip is r further on"
            " and gets ω × r in addition.",
        ),
        Mistake(
            wrong_sign,
            "The lever has the wrong sign: the tip moves at v + ω × r, and ω × r = -r × ω.",
        ),
        Mistake(
            turned_first,
            "You turned into tip axes first and then used r, which is written in flange axes. Shift"
            " first, or turn r as well.",
        ),
        Mistake(other_turn, "R takes tip axes to flange axes. You need the way back: Rᵀ."),
        Mistake(
            angular_left,
            "The linear half is right. ω is an arrow as well, and its three numbers must be written"
            " in tip axes too.",
        ),
        Mistake(
            lambda J, X: adjoint(X) @ J,
            "Ad(X) takes a twist from the tip to the flange. You go the other way: its inverse,"
            " which is Ad(X⁻¹).",
        ),
        Mistake(
            lambda J, X: at_tip(np.vstack([J[3:], J[:3]]), X),
            "You took the first three rows for ω. Here the linear rows come first.",
        ),
    ],
    alternatives=[
        lambda J, X: adjoint(np.linalg.inv(X)) @ J,
        lambda J, X: np.linalg.solve(adjoint(X), J),
        by_columns,
    ],
)

# ---------------------------------------------------------------- lost


def postures(rng):
    generic = regular(rng)
    elbow_and_wrist = np.array([0.2, 0.4, ELBOW, 0.3, 0.0, 0.1])
    return [
        (jacobian(COBOT6, np.zeros(6)), 1e-6),
        (jacobian(COBOT6, generic), 1e-6),
        (jacobian(SCARA, [0.3, 0.8, 0.1, 0.2]), 1e-6),
        (jacobian(PANDA, rng.uniform(PANDA.q_min, PANDA.q_max)), 1e-6),
        (jacobian(COBOT6, elbow_and_wrist), 1e-6),
        (jacobian(COBOT6, generic * [1, 1, 1, 1, 0, 1] + [0, 0, 0, 0, 1e-4, 0]), 1e-3),
        (jacobian(SCARA, [rng.uniform(-1, 1), 0.0, 0.1, 0.2]), 1e-6),
        (jacobian(PANDA, np.zeros(7)), 1e-6),
    ]


def regular(rng):
    """A posture of cobot6 far from all three singularities."""
    return rng.uniform([-1, 0.5, -0.6, -1, 0.7, -1], [1, 0.9, -0.2, 1, 1.2, 1])


def lost(J, tol):
    U, sigma, _ = np.linalg.svd(J)
    rank = int((sigma > tol).sum())
    return rank, U[:, rank:]


def same_loss(answer, expected, args):
    """The rank, and the space that the columns span: any orthonormal basis of it counts."""
    rank, twists = parts(answer, ("the rank", None), ("the array of lost twists", None))
    right_rank, lost_twists = int(expected[0]), np.asarray(expected[1], dtype=float)
    if np.shape(rank) != ():
        return "Return (rank, directions), in this order."
    if rank == 6 - right_rank != right_rank:
        return "That is k, the number of lost directions; first comes the rank."
    if rank != right_rank:
        return f"The rank is not {rank}."
    twists = as_numbers(twists, lost_twists.shape, "the array of lost twists")
    one = np.eye(twists.shape[1])
    if not (np.abs(twists.T @ twists - one) < 1e-8 + 1e-5 * one).all():
        return "The columns are not orthonormal."
    off = np.abs(twists @ twists.T - lost_twists @ lost_twists.T).max(initial=0.0)
    return None if off < 1e-7 else "Some joint speeds do produce a twist along your columns."


def joint_side(J, tol):
    rank = lost(J, tol)[0]
    return rank, np.linalg.svd(J)[2][rank:].T


def by_null_space(J, tol):
    from scipy.linalg import null_space

    twists = null_space(J.T, rcond=tol / np.linalg.norm(J, 2))
    return 6 - twists.shape[1], twists


def by_projection(J, tol):
    """The part of the identity that J can't reach, orthonormalised."""
    U, sigma, _ = np.linalg.svd(J, full_matrices=False)
    U = U[:, sigma > tol]
    rest = np.linalg.svd(np.eye(6) - U @ U.T)
    return np.int64(U.shape[1]), rest[0][:, : 6 - U.shape[1]]


LOST = Exercise(
    "lost",
    cases=postures,
    truth=lost,
    compare=same_loss,
    mistakes=[
        Mistake(
            joint_side,
            "Those are joint motions that move nothing: rows of Vᵀ. Lost twists live on the tool's"
            " side: columns of U.",
        ),
        Mistake(
            lambda J, tol: (lost(J, tol)[0], np.linalg.svd(J)[0][:, : lost(J, tol)[0]]),
            "You returned the twists that the arm can produce: the first columns of U. What is lost"
            " are the others.",
        ),
        Mistake(
            lambda J, tol: (lost(J, tol)[0], np.linalg.svd(J)[0][lost(J, tol)[0] :].T),
            "You took rows of U. The directions are its columns.",
        ),
        Mistake(
            lambda J, tol: (
                int(np.linalg.matrix_rank(J)),
                np.linalg.svd(J)[0][:, np.linalg.matrix_rank(J) :],
            ),
            "matrix_rank without a tolerance calls everything above 1e-15 or so nonzero. Use `tol`:"
            " a singular value below it counts as zero.",
        ),
        Mistake(
            lambda J, tol: (
                lost(J, tol)[0],
                np.linalg.svd(J)[0][:, lost(J, tol)[0] : min(J.shape)],
            ),
            "An arm with four joints has only four singular values, but two more directions of U"
            " that nothing reaches. Take all columns after the rank.",
        ),
        Mistake(
            lambda J, tol: (lost(J, tol)[0], np.linalg.svd(J)[0][:, 5:]),
            "You always return one lost twist. There may be none, or several: as many as 6 minus"
            " the rank.",
        ),
        Mistake(
            lambda J, tol: (int((np.linalg.svd(J)[1] < tol).sum()), lost(J, tol)[1]),
            "You counted the singular values that are zero. The rank counts those that are not.",
        ),
    ],
    alternatives=[
        by_null_space,
        by_projection,
        lambda J, tol: (
            (float(lost(J, tol)[0]), (-lost(J, tol)[1][:, ::-1]).tolist())
            if lost(J, tol)[0] < 6
            else lost(J, tol)
        ),
    ],
)

# ---------------------------------------------------------------- can_do


def twists(rng):
    """Singular and regular postures, with twists that work and twists that don't."""
    singular = [
        np.array([0.2, 0.4, ELBOW, 0.3, 1.0, 0.1]),
        np.array([0.2, SHOULDER_UP, 0.0, 0.3, 1.0, 0.1]),
        np.array([0.2, 0.9, -0.4, 0.3, 0.0, 0.1]),
    ]
    with_gripper = replace(COBOT6, tool=dh_matrix(0.05, 0.3, 0.1, 0.2))
    cases = []
    for arm, q in [
        (with_gripper, singular[2]),
        (with_gripper, singular[0]),
        (SCARA, [0.3, 0.8, 0.1, 0.2]),
        (with_gripper, singular[1]),
        (SCARA, [0.3, 0.0, 0.1, 0.2]),
        (PANDA, rng.uniform(PANDA.q_min, PANDA.q_max)),
        (with_gripper, regular(rng)),
    ]:
        J = jacobian(arm, q)
        _, missing = lost(J, 1e-9)
        inside = J @ rng.uniform(-1, 1, arm.n)
        cases.append((J, inside))
        for sign in (-1, 1):
            if missing.shape[1]:
                cases.append((J, inside + sign * rng.uniform(0.2, 1.0) * missing[:, 0]))
        if missing.shape[1] > 1:
            cases.append((J, inside + 0.3 * missing[:, 1] - 0.2 * missing[:, 0]))
    return cases


def can_do(J, twist):
    qd = np.linalg.lstsq(J, twist, rcond=1e-9)[0]
    return bool(np.linalg.norm(twist - J @ qd) < 1e-9)


def not_in_the_last(J, twist):
    return bool(abs(np.linalg.svd(J)[0][:, 5] @ twist) < 1e-9) if lost(J, 1e-9)[0] < 6 else True


def signed(J, twist):
    return bool((lost(J, 1e-9)[1].T @ twist < 1e-9).all())


def linear_part(J, twist):
    qd = np.linalg.lstsq(J[:3], twist[:3], rcond=1e-9)[0]
    return bool(np.linalg.norm(twist[:3] - J[:3] @ qd) < 1e-9)


def least_squares_is_enough(J, twist):
    qd = np.linalg.lstsq(J, twist, rcond=1e-9)[0]
    return bool(np.isfinite(qd).all())


def solve_says_so(J, twist):
    try:
        np.linalg.solve(J, twist)
    except np.linalg.LinAlgError:
        return False
    return True


def residual_sum(J, twist):
    return bool(np.linalg.lstsq(J, twist, rcond=1e-9)[1].sum() < 1e-9)


def residual_there(J, twist):
    residuals = np.linalg.lstsq(J, twist, rcond=1e-9)[1]
    return bool(residuals.size and residuals[0] < 1e-9)


CAN_DO = Exercise(
    "can_do",
    cases=twists,
    truth=can_do,
    mistakes=[
        Mistake(
            lambda J, twist: bool(np.linalg.matrix_rank(J, tol=1e-9) == 6),
            "The rank tells whether *every* twist works. In a singular posture many still do: all"
            " that do not need the lost direction.",
        ),
        Mistake(
            lambda J, twist: J.shape[1] >= 6,
            "Six joints are no promise: in a singular posture they do not reach every twist. Look"
            " at this J.",
        ),
        Mistake(
            least_squares_is_enough,
            "You always say True. Least squares always returns something: the joint speeds that"
            " come *closest*. Compare J q̇ with the twist.",
        ),
        Mistake(
            solve_says_so,
            "`solve` that does not raise proves nothing: rounding makes a singular J invertible."
            " Look at J q̇ − twist. And it refuses every J that is not square.",
        ),
        Mistake(
            residual_sum,
            "lstsq returns no residuals when J loses rank (nor with six columns or more), and the"
            " sum of nothing is 0. Compute twist − J q̇ yourself.",
        ),
        Mistake(
            residual_there,
            "lstsq returns no residuals when J loses rank (nor with six columns or more), so an"
            " empty array is no No. Compute twist − J q̇ yourself.",
        ),
        Mistake(lambda J, twist: False, "You always say False. Does your code look at the twist?"),
        Mistake(
            linear_part,
            "You looked at the linear half alone. The same joint speeds have to give the angular"
            " half as well.",
        ),
        Mistake(
            signed,
            "A lost direction is lost both ways. A negative component along it is as bad as a"
            " positive one: take the absolute value.",
        ),
        Mistake(
            not_in_the_last,
            "You tested the last column of U only. An arm with four joints has two lost directions"
            " in any posture, and more where it is singular.",
        ),
        Mistake(
            lambda J, twist: not can_do(J, twist),
            "You have it the wrong way round: True means that the arm can do it.",
        ),
    ],
    alternatives=[
        lambda J, twist: bool(
            np.linalg.matrix_rank(np.c_[J, twist], tol=1e-9) == np.linalg.matrix_rank(J, tol=1e-9)
        ),
        lambda J, twist: bool(np.abs(lost(J, 1e-9)[1].T @ twist).max(initial=0) < 1e-9),
        lambda J, twist: np.allclose(J @ (np.linalg.pinv(J, rcond=1e-9) @ twist), twist, atol=1e-9),
    ],
)

EXERCISES = [AXIS_OF, TIP, LOST, CAN_DO]
