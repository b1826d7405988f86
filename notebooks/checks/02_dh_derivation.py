"""Checkpoints of lesson 02: rows, the table of a drawn arm, conversion, where a fault sits."""

import numpy as np

from course_lib import dh
from course_lib.arm import Arm
from course_lib.check import Exercise, Mistake, as_numbers, in_mm, parts
from course_lib.kinematics import fk

# ---------------------------------------------------------------- dh_row


def matrices(rng):
    plain_row = dh.dh_matrix(0.3, 0.5, 0.2, 0.7)
    beyond_90 = dh.dh_matrix(0.3, 2.0, 0.2, -2.4)
    negative_a = dh.dh_matrix(-0.4, -0.6, 0.1, 0.4)
    random = [dh.dh_matrix(*rng.uniform((-1, -3, -1, -3), (1, 3, 1, 3))) for _ in range(6)]
    quarter_turn = dh.dh_matrix(0.3, 0.5, 0.2, np.pi / 2).round(
        12
    )  # as a file would store it: cos(theta) = 0
    return [
        (A,)
        for A in (
            plain_row,
            beyond_90,
            negative_a,
            dh.dh_matrix(0.0, 0.0, 0.2, 1.0),
            quarter_turn,
            *random,
        )
    ]


def row_of(A):
    theta, alpha = np.arctan2(A[1, 0], A[0, 0]), np.arctan2(A[2, 1], A[2, 2])
    return A[0, 3] * np.cos(theta) + A[1, 3] * np.sin(theta), alpha, A[2, 3], theta


def same_matrix(answer, expected, args):
    """Angles may differ by full turns: the row must make the same matrix."""
    flat = np.ravel(answer) if np.size(answer) == 4 else answer
    row = as_numbers(flat, (4,), "the row (a, alpha, d, theta)")
    off = np.abs(dh.dh_matrix(*row) - dh.dh_matrix(*np.ravel(expected))).max()
    if off < 1e-9:
        return None
    return f"The matrix that your row makes differs from A by up to {off:.3g}."


def divided_by_zero(answer, expected, args):
    """NaN or infinity can only come from a division by cos(theta) or sin(theta)."""
    if not np.isfinite(np.asarray(answer, dtype=float)).all():
        return (
            "You divide by cos(theta) or sin(theta), and one of them is 0 here. Project p on x₁"
            " instead of dividing."
        )
    return None


def signs_of_x(A):
    """(±1, theta) with x turned half round, as the projection on x leaves open."""
    a, alpha, d, theta = row_of(A)
    return -a, -alpha, d, theta + np.pi


DH_ROW = Exercise(
    "dh_row",
    cases=matrices,
    truth=row_of,
    compare=same_matrix,
    diagnose=divided_by_zero,
    mistakes=[
        Mistake(
            lambda A: (np.hypot(A[0, 3], A[1, 3]), *row_of(A)[1:]),
            "The root of a sum of squares is never negative, but a may be. Project p on the"
            " direction of x₁ instead.",
        ),
        Mistake(
            lambda A: (row_of(A)[0], np.arcsin(A[2, 1]), A[2, 3], row_of(A)[3]),
            "arcsin answers only between -90° and 90°. For an alpha beyond that you need a second"
            " entry, its cosine, and arctan2.",
        ),
        Mistake(
            lambda A: (row_of(A)[0], np.arccos(A[2, 2]), A[2, 3], row_of(A)[3]),
            "arccos is never negative, so every negative alpha comes out with the wrong sign. Use"
            " sine and cosine together: arctan2.",
        ),
        Mistake(
            lambda A: (row_of(A)[0], row_of(A)[1], A[2, 3], np.arctan(A[1, 0] / A[0, 0])),
            "arctan of a quotient can't tell (+, +) from (-, -): half of all angles come out half a"
            " turn wrong. arctan2 keeps both signs.",
        ),
        Mistake(
            lambda A: (row_of(A)[0], row_of(A)[1], A[2, 3], np.arccos(A[0, 0])),
            "arccos is never negative, so every negative theta comes out with the wrong sign. Use"
            " sine and cosine together: arctan2.",
        ),
        Mistake(
            lambda A: (row_of(A)[0], np.arccos(A[2, 2]), A[2, 3], np.arccos(A[0, 0])),
            "arccos is never negative, so negative angles come out with the wrong sign. Use sine"
            " and cosine together: arctan2.",
        ),
        Mistake(
            lambda A: (
                row_of(A)[0],
                np.arctan(A[2, 1] / A[2, 2]),
                A[2, 3],
                np.arctan(A[1, 0] / A[0, 0]),
            ),
            "arctan of a quotient mixes up opposite quadrants, and fails at 90°. arctan2 takes both"
            " parts and keeps their signs.",
        ),
        Mistake(
            lambda A: tuple(row_of(A)[i] for i in (3, 2, 0, 1)),
            "The order is (a, alpha, d, theta), as in the table. Yours looks like (theta, d, a,"
            " alpha), the order of the moves.",
        ),
        Mistake(
            lambda A: (A[0, 3], *row_of(A)[1:]),
            "A[0, 3] is a·cos(theta), not a. It is right only where theta = 0.",
        ),
        Mistake(
            lambda A: (*row_of(A)[::-1],),
            "The order is (a, alpha, d, theta), as in the table. Yours looks like (theta, d,"
            " alpha, a).",
        ),
        Mistake(
            lambda A: (row_of(A)[0], np.degrees(row_of(A)[1]), A[2, 3], np.degrees(row_of(A)[3])),
            "Your angles are degrees; the course, and numpy, use radians.",
        ),
        Mistake(
            signs_of_x,
            "You got x₁ turned half round: a and alpha have the other sign and theta is 180° off."
            " That row makes another matrix.",
        ),
    ],
    alternatives=[
        lambda A: np.array(
            [
                A[:3, 3] @ A[:3, 0],
                np.angle(A[2, 2] + 1j * A[2, 1]),
                A[2, 3],
                np.angle(A[0, 0] + 1j * A[1, 0]),
            ]
        ),
        lambda A: [
            np.linalg.lstsq(A[:2, :1], A[:2, 3], rcond=None)[0][0],
            np.arctan2(A[2, 1], A[2, 2]),
            A[2, 3],
            np.arctan2(A[1, 0], A[0, 0]) + 2 * np.pi,
        ],
        lambda A: (
            A[:3, 3] @ A[:3, 0],
            np.arctan2(-A[:2, 2] @ (-A[1, 0], A[0, 0]), A[2, 2]),
            A[2, 3],
            -np.arctan2(-A[1, 0], A[0, 0]),
        ),
    ],
)

# ---------------------------------------------------------------- crane_table

H = np.pi / 2
CRANE = [[0.10, H, 0.30, 0], [0.06, H, 0, H], [0, -H, 0.45, 0], [0.12, 0, 0, -H]]
POSTURES = np.vstack(
    [np.zeros((1, 4)), np.eye(4), np.random.default_rng(2).uniform(-1.5, 1.5, (30, 4))]
)


def tool_points(rows, convention="standard"):
    a, alpha, d, theta = np.asarray(rows, dtype=float).T
    return fk(Arm("crane", convention, a=a, alpha=alpha, d=d, theta=theta), POSTURES)[:, :3, 3]


def same_tool(answer, expected, args):
    """Every right table counts: the tool points are compared, not the numbers."""
    rows = as_numbers(answer, (4, 4), "the table")
    off = np.linalg.norm(tool_points(rows) - tool_points(expected), axis=1)
    wrong = ~(off < 1e-6)
    if not wrong.any():
        return None
    if wrong[0]:
        return (
            f"At q = 0 your tool is {in_mm(off[0])} away from the star in the drawing. Begin there:"
            " walk the rows one by one."
        )
    joint = int(np.argmax(wrong))
    where = f"turning joint {joint} alone by 1 rad" if joint <= 4 else "turning several joints"
    far = off[joint] if joint <= 4 else off.max()
    return (
        f"At q = 0 your tool is right, but {where} takes it {in_mm(far)} away: an axis lies"
        " elsewhere."
    )


COLUMN_ORDERS = {
    "theta, d, a, alpha": (2, 3, 1, 0),
    "a, d, alpha, theta": (0, 2, 1, 3),
    "d, theta, a, alpha": (2, 3, 0, 1),
    "alpha, a, theta, d": (1, 0, 3, 2),
    "alpha, a, d, theta": (1, 0, 2, 3),
}


def read_otherwise(answer, expected, args):
    """Would the table be right in another column order, or in the modified convention?"""
    rows = np.asarray(answer, dtype=float)
    if rows.shape != (4, 4):
        return None
    for name, order in COLUMN_ORDERS.items():
        if same_tool(rows[:, order], expected, args) is None:
            return (
                f"Your numbers are right, but your columns look like ({name}). Asked for is (a,"
                " alpha, d, theta)."
            )
    shifted = np.column_stack([np.r_[rows[1:, :2], [[0.12, 0]]], rows[:, 2:]])
    if same_tool(shifted, expected, args) is None:
        return (
            "This is the modified table. Here the standard one is asked for: a and alpha stand one"
            " row earlier."
        )
    return None


def changed(**cells):
    """CRANE with some cells changed: changed(r1c0=...) is row 1 (from 0), column 0."""
    rows = [list(row) for row in CRANE]
    for key, value in cells.items():
        rows[int(key[1])][int(key[3])] = value
    return rows


CRANE_TABLE = Exercise(
    "crane_table",
    truth=CRANE,
    compare=same_tool,
    diagnose=read_otherwise,
    mistakes=[
        Mistake(
            changed(r1c0=0, r3c3=-H),
            "Axes 2 and 3 don't meet: axis 3 passes 6 cm above axis 2. That bridge is an a in"
            " row 2.",
        ),
        Mistake(
            changed(r1c3=0, r3c3=0),
            "x₂ points along the bridge from axis 2 to axis 3, which is straight up at q = 0. So"
            " theta of row 2 is not 0.",
        ),
        Mistake(
            [[0.10, -H, 0.30, 0], [0.06, H, 0, -H], [0, H, 0.45, np.pi], [0.12, 0, 0, H]],
            "Joint 2 turns about the right line, but backwards. Look at the arrow of its axis: it"
            " points towards you.",
        ),
        Mistake(
            changed(r1c1=-H, r2c2=-0.45),
            "In row 2 alpha turns z₁ (towards you) into z₂ (along the boom) about x₂, which points"
            " up: by the right hand that is +90°.",
        ),
        Mistake(
            changed(r2c0=0.45, r2c2=0),
            "The 0.45 lies along axis 3, which is z₂: that is a climb, a d. It is no bridge.",
        ),
        Mistake(
            changed(r3c0=0, r3c2=0.12),
            "The tool is not along axis 4 but beside it: z₃ comes out of the page. The 0.12 is"
            " an a.",
        ),
        Mistake(
            [[1000 * a, alpha, 1000 * d, theta] for a, alpha, d, theta in CRANE],
            "Your lengths are millimetres; the table wants metres.",
        ),
        Mistake(
            changed(r0c0=0),
            "Axis 2 stands 10 cm in front of axis 1. That bridge is missing in row 1.",
        ),
        Mistake(
            changed(r1c0=0.45, r2c2=0.06),
            "You swapped two lengths: 0.06 is the bridge between axes 2 and 3 (an a), 0.45 lies"
            " along axis 3 (a d).",
        ),
        Mistake(
            changed(r2c2=0.32),
            "You measured to where the arrow of axis 3 is drawn. d₃ counts from the foot of the"
            " bridge at x = 0.10 to where axes 3 and 4 meet.",
        ),
        Mistake(
            changed(r2c2=0.13),
            "You measured from where the arrow of axis 3 is drawn. d₃ counts from the foot of the"
            " bridge at x = 0.10 to where axes 3 and 4 meet.",
        ),
        Mistake(
            changed(r0c1=-H),
            "In row 1 alpha turns z₀ (up) into z₁ (towards you) about x₁: by the right hand that is"
            " +90°.",
        ),
        Mistake(
            changed(r2c1=H),
            "In row 3 alpha turns z₂ (along the boom) into z₃ (towards you) about x₃, which points"
            " up: by the right hand that is -90°.",
        ),
        Mistake(
            changed(r3c3=0),
            "x₃ points up or down, but the tool lies along the boom: the last row needs a theta"
            " that turns x back.",
        ),
        Mistake(
            [[a, np.degrees(alpha), d, np.degrees(theta)] for a, alpha, d, theta in CRANE],
            "Your angles are in degrees; the table wants radians.",
        ),
        Mistake(
            [[0, 0, 0.30, 0], [0.10, H, 0, H], [0.06, H, 0.45, 0], [0, -H, 0, -H]],
            "This is the modified table. Here the standard one is asked for: a and alpha stand one"
            " row earlier.",
        ),
    ],
    alternatives=[
        [[0.10, H, 0.30, 0], [0.06, H, 0, H], [0, H, 0.45, np.pi], [0.12, 0, 0, H]],
        [[-0.10, -H, 0.30, np.pi], [0.06, H, 0, -H], [0, -H, 0.45, 0], [-0.12, 0, 0, H]],
        np.array(
            [
                [0.10, H, 0.30, 0],
                [-0.06, -H, 0, -H],
                [0, -H, 0.45, np.pi],
                [0.12, 0, 0, -H - 2 * np.pi],
            ]
        ),
    ],
)

# ---------------------------------------------------------------- to_modified


def tables(rng):
    H = np.pi / 2
    drawn = np.array([[0.0, H, 0.15, 0.0], [0.25, 0.0, 0.0, 0.3], [0.05, 0.4, 0.1, 0.0]])
    random = [rng.uniform((-1, -3, -1, -3), (1, 3, 1, 3), (n, 4)) for n in (1, 2, 4, 7)]
    return [(rows,) for rows in (drawn, *random)]


def converted(rows):
    rows = np.asarray(rows)
    shifted = np.column_stack(
        [np.r_[0, rows[:-1, 0]], np.r_[0, rows[:-1, 1]], rows[:, 2], rows[:, 3]]
    )
    return shifted, dh.dh_matrix(rows[-1, 0], rows[-1, 1], 0, 0)


def same_arm(answer, expected, args):
    """Table and tool must give the same poses as the expected ones; the numbers may differ."""
    wanted = ("the modified table", args[0].shape), ("the tool matrix", (4, 4))
    (table, tool), (right, right_tool) = parts(answer, *wanted), parts(expected, *wanted)
    off = max(
        np.abs(pose(table, q) @ tool - pose(right, q) @ right_tool).max() for q in (0.0, 0.5, -1.3)
    )
    if off < 1e-9:
        return None
    return f"The modified arm's tool pose differs from the standard arm's by up to {off:.3g}."


def pose(table, q):
    """Pose of the last frame of a modified table, joint i at q * i."""
    T = np.eye(4)
    for i, (a, alpha, d, theta) in enumerate(table, start=1):
        T = T @ dh.mdh_matrix(a, alpha, d, theta + q * i)
    return T


def part_by_part(answer, expected, args):
    """Which part is wrong: the a and alpha columns, the d and theta columns, or the tool?"""
    rows, table = args[0], np.asarray(answer[0], dtype=float)
    right = np.asarray(expected[0])
    if np.allclose(table[1:, :2], rows[0, :2]) and len(rows) > 2:
        return (
            "All a and alpha are those of the first row: you overwrote each pair before it was"
            " used. Work on a copy."
        )
    if not np.allclose(table[:, 2:], right[:, 2:]):
        return (
            "d and theta have changed. They belong to joint i in both conventions and stay in their"
            " row."
        )
    if np.allclose(table[:-1, :2], rows[1:, :2]):
        return (
            "a and alpha move one row down, not up: they describe the bridge *before* the joint of"
            " their new row."
        )
    if np.allclose(table, right):
        return (
            "The table is right, the tool is not. It gets the last row's a and alpha, and nothing"
            " else."
        )
    return None


def shifted_up(rows):
    return np.column_stack(
        [np.r_[rows[1:, 0], 0], np.r_[rows[1:, 1], 0], rows[:, 2], rows[:, 3]]
    ), np.eye(4)


TO_MODIFIED = Exercise(
    "to_modified",
    cases=tables,
    truth=converted,
    compare=same_arm,
    diagnose=part_by_part,
    mistakes=[
        Mistake(
            lambda rows: (converted(rows)[0], np.eye(4)),
            "The last row's a and alpha have no row left to go to. They must go into the tool, or"
            " the tool pose is wrong unless both are 0.",
        ),
        Mistake(
            lambda rows: (rows, np.eye(4)),
            "You returned the standard table as it is. a and alpha have to move one row down.",
        ),
        Mistake(
            shifted_up,
            "a and alpha move one row down, not up: frame i of the modified table begins where the"
            " standard frame i-1 ended.",
        ),
        Mistake(
            lambda rows: (np.vstack([np.zeros(4), rows[:-1]]), dh.dh_matrix(*rows[-1])),
            "Only a and alpha move. d and theta belong to joint i in both conventions and stay in"
            " their row.",
        ),
        Mistake(
            lambda rows: (converted(rows)[0], dh.dh_matrix(*rows[-1])),
            "The tool gets only the x screw of the last row, a and alpha. Its d and theta are still"
            " in the table, so they now act twice.",
        ),
        Mistake(
            lambda rows: (
                np.vstack(
                    [
                        np.r_[rows[-1, :2], rows[0, 2:]][None],
                        np.column_stack([rows[:-1, :2], rows[1:, 2:]]),
                    ]
                ),
                np.eye(4),
            ),
            "np.roll brings the last a and alpha round to the first row. The first row gets zeros;"
            " the last pair goes into the tool.",
        ),
    ],
    alternatives=[
        lambda rows: (
            np.c_[np.vstack([[0, 0], np.array(rows)[:-1, :2]]), np.array(rows)[:, 2:]],
            dh.mdh_matrix(rows[-1][0], rows[-1][1], 0, 0),
        ),
        lambda rows: [
            [[*(rows[i - 1][:2] if i else (0.0, 0.0)), *rows[i][2:]] for i in range(len(rows))],
            dh.dh_matrix(*(np.array(rows[-1]) * [1, 1, 0, 0])).tolist(),
        ],
        lambda rows: (
            np.vstack([np.r_[0, 0, rows[0][2:]], np.c_[rows[:-1, :2], rows[1:, 2:]]]),
            np.linalg.inv(dh.dh_matrix(0, 0, *rows[-1][2:])) @ dh.dh_matrix(*rows[-1]),
        ),
    ],
)

# ---------------------------------------------------------------- where_is_the_fault


def pairs(rng):
    def poses(n=20):
        a, alpha, d = rng.uniform(-0.5, 0.5, 4), rng.uniform(-2, 2, 4), rng.uniform(-0.5, 0.5, 4)
        q = rng.uniform(-2, 2, (n, 4))
        arm = lambda **changes: fk(
            Arm("x", "standard", **{**dict(a=a, alpha=alpha, d=d, theta=np.zeros(4)), **changes}), q
        )
        return arm, a

    extra = dh.dh_matrix(0.1, 0.4, 0.05, -0.3)
    arm, a = poses()
    found = [
        (arm(), arm(tool=extra)),
        (arm(), arm(base=extra)),
        (arm(), arm(a=a + [0, 0.005, 0, 0])),
        (arm(), arm()),
    ]
    arm, a = poses()
    lifted, longer = dh.dh_matrix(0, 0, 0.1, 0), dh.dh_matrix(0, 0, 0.1, 0)
    found += [
        (arm(), arm(base=lifted)),
        (arm(), arm(tool=longer)),
        (arm(), arm(alpha=[0.1, 0.2, 0.3, 0.4])),
        (arm(), arm()),
    ]
    lucky = arm(a=a + [0, 0.005, 0, 0])
    lucky[0] = arm()[0]  # wrong everywhere but in the first posture
    return [*(found[i] for i in (0, 1, 2, 3, *(4 + rng.permutation(4)))), (arm(), lucky)]


def fault(ours, theirs):
    same = lambda D: np.abs(D - D[0]).max() < 1e-9
    if np.abs(ours - theirs).max() < 1e-9:
        return "none"
    if same(np.linalg.inv(ours) @ theirs):
        return "tool"
    return "base" if same(theirs @ np.linalg.inv(ours)) else "rows"


def by_pairs(ours, theirs):
    """Compares all postures with one."""
    same = lambda A, B: np.allclose(A, B, atol=1e-9)
    if same(ours, theirs):
        return "none"
    if same(np.linalg.solve(ours, theirs), np.linalg.solve(ours[0], theirs[0])):
        return "tool"
    before = theirs @ np.linalg.inv(ours)
    return "base" if same(before, before[3]) else "rows"


def swapped(ours, theirs):
    return {"tool": "base", "base": "tool"}.get(fault(ours, theirs), fault(ours, theirs))


def by_positions(ours, theirs):
    """Is the distance between the tool points constant? A tool and a row can share that."""
    distance = np.linalg.norm(ours[:, :3, 3] - theirs[:, :3, 3], axis=-1)
    if distance.max() < 1e-9:
        return "none"
    return "tool" if np.ptp(distance) < 1e-9 else "rows"


def subtracting(ours, theirs):
    D = theirs - ours
    if np.abs(D).max() < 1e-9:
        return "none"
    return "base" if np.abs(D - D[0]).max() < 1e-9 else "rows"


def what_varies(answer, expected, args):
    """How far the two products are from constant, so that the learner sees what was missed."""
    ours, theirs = args
    behind, before = np.linalg.inv(ours) @ theirs, theirs @ np.linalg.inv(ours)
    spread = [np.abs(D - D[0]).max() for D in (behind, before)]
    constant = {"tool": "T⁻¹T′ is", "base": "T′T⁻¹ is"}.get(expected, "neither is")
    if expected == "none":
        return "Here both batches are the same."
    return (
        f"Over these postures T⁻¹T′ varies by {spread[0]:.2g} and T′T⁻¹ by {spread[1]:.2g}:"
        f" {constant} constant. Is your tolerance 1e-9, and do you compare whole matrices?"
    )


WHERE = Exercise(
    "where_is_the_fault",
    cases=pairs,
    truth=fault,
    diagnose=what_varies,
    mistakes=[
        Mistake(
            swapped,
            "You have tool and base the wrong way round. A missing tool stands behind: T′ = T · X,"
            " so it is T⁻¹T′ that stays the same.",
        ),
        Mistake(
            by_positions,
            "A constant distance is not enough: it misses everything that turns, and a base fault"
            " looks like a row. Compare whole matrices, T⁻¹T′ and T′T⁻¹.",
        ),
        Mistake(
            subtracting,
            "Poses combine by products, not by differences. T′ - T is the same in all postures only"
            " if the base was shifted and nothing turned.",
        ),
        Mistake(
            lambda ours, theirs: "rows" if fault(ours, theirs) == "none" else fault(ours, theirs),
            'Two equal batches have no fault: answer "none" there.',
        ),
        Mistake(
            lambda ours, theirs: "tool" if fault(ours, theirs) == "none" else fault(ours, theirs),
            "Two equal batches pass the tool test as well: T⁻¹T′ is the unit matrix in every"
            ' posture. Ask for "none" first.',
        ),
        Mistake(
            lambda ours, theirs: {"rows": "tool"}.get(fault(ours, theirs), fault(ours, theirs)),
            "If neither T⁻¹T′ nor T′T⁻¹ stays the same, the fault lies between: in the rows.",
        ),
    ],
    alternatives=[
        lambda ours, theirs: next(
            (
                name
                for name, D in [
                    ("none", np.linalg.inv(ours) @ theirs - np.eye(4)),
                    ("tool", np.linalg.inv(ours) @ theirs),
                    ("base", theirs @ np.linalg.inv(ours)),
                ]
                if (np.abs(D).max() if name == "none" else np.std(D, axis=0).max()) < 1e-9
            ),
            "rows",
        ),
        by_pairs,
        lambda ours, theirs: fault(ours, theirs).upper(),
    ],
)

EXERCISES = [DH_ROW, CRANE_TABLE, TO_MODIFIED, WHERE]
