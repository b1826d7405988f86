"""Checkpoints of lesson 01: angles, quaternions, a turn about a point, angular velocity, makers."""

import numpy as np
from scipy.spatial.transform import RigidTransform, Rotation

from course_lib.check import (
    Exercise,
    Mistake,
    as_numbers,
    in_degrees,
    in_mm,
    same_rotation,
    turn_between,
)

H = np.pi / 2
length = np.linalg.norm


def matrix(rpy):
    return Rotation.from_euler("xyz", rpy).as_matrix()


# ---------------------------------------------------------------- zyz_from_matrix

ALMOST = np.pi - 2e-4


def wrist(zyz):
    return Rotation.from_euler("ZYZ", zyz).as_matrix()


def wrists(rng):
    tidy = [wrist(zyz) for zyz in [(0.4, 0.5, 0.6), (-2.5, 2.0, 2.8)]]
    locked = [
        wrist(zyz) for zyz in [(0.3, 0, 0.4), (0, 0, 0), (0.7, np.pi, -0.5), (2.5, np.pi, 1.9)]
    ]
    beside = [
        wrist(zyz) for zyz in [(0.3, 2e-4, 0.4), (0.3, ALMOST, 0.4), (1.1, 1.6e-3, -0.3)]
    ]  # a hundredth of a degree from lock
    random = [wrist(rng.uniform((-3, 0.1, -3), (3, 3, 3))) for _ in range(5)]
    return [(R.round(6) + 0.0,) for R in (*tidy, *locked, *beside, *random)]


def first_two(R):
    return np.arctan2(R[1, 2], R[0, 2]), np.arctan2(np.hypot(R[0, 2], R[1, 2]), R[2, 2])


def textbook(R):
    return *first_two(R), np.arctan2(R[2, 1], -R[2, 0])


def left_over(R, middle=lambda R: first_two(R)[1]):
    """O and A first, T from what they leave."""
    first, A = first_two(R)[0], middle(R)
    left = wrist((first, A, 0)).T @ R
    return first, A, np.arctan2(left[1, 0], left[0, 0])


def from_the_last(R):
    """T and A first, O from what they leave."""
    _, A, last = textbook(R)
    left = R @ wrist((0, A, last)).T
    return np.arctan2(left[1, 0], left[0, 0]), A, last


def with_an_if(R, near=1e-6, column=1):
    """O = 0 at gimbal lock, T from a column that still holds it."""
    if np.hypot(R[0, 2], R[1, 2]) > near:
        return textbook(R)
    return 0.0, np.arctan2(0.0, R[2, 2]), np.arctan2(R[1, 0], R[column, column])


def angles_of(sequence):
    """A reader of three angles from a matrix."""
    return lambda R: Rotation.from_matrix(R).as_euler(sequence, suppress_warnings=True)


roll_pitch_yaw = angles_of("xyz")


def rebuild_the_same(answer, expected, args):
    """The angles need not be ours: the rotation they rebuild must be."""
    off = turn_between(wrist(expected), wrist(as_numbers(answer, (3,), "the three angles")))
    if off < np.radians(1e-3):
        return None
    return f"The rotation rebuilt from your angles is {in_degrees(off)} away from R."


def at_the_lock(answer, expected, args):
    """A word on cases at gimbal lock; the cases away from it come first, so they are right."""
    if np.hypot(args[0][0, 2], args[0][1, 2]) > 1e-2:
        return None
    return (
        "Right elsewhere, but this one is at gimbal lock or just beside it. Undo O and A as you"
        " found them, then read T from what is left."
    )


UNDO = "Undo O and A, then read T from what is left."

ZYZ_FROM_MATRIX = Exercise(
    "zyz_from_matrix",
    cases=wrists,
    truth=left_over,
    compare=rebuild_the_same,
    diagnose=at_the_lock,
    mistakes=[
        Mistake(
            textbook,
            "Right until A reaches 0° or 180°. There all four entries that you give to arctan2 are"
            f" zero, and the sum of O and T is lost. {UNDO}",
        ),
        Mistake(
            with_an_if,
            "Your branch cures exactly 0° and 180°. A hundredth of a degree beside it, the"
            " textbook's lines still divide rounding by rounding. " + UNDO,
        ),
        Mistake(
            lambda R: with_an_if(R, near=1e-2),
            "Your branch is entered beside 0° and 180° too, and what is left of A is thrown away"
            " there. No branch is needed. " + UNDO,
        ),
        Mistake(
            lambda R: with_an_if(R, column=0),
            "Your branch is right at A = 0° and wrong at 180°: there R[0, 0] is -cos(T) when O is"
            " 0. No branch is needed. " + UNDO,
        ),
        Mistake(
            lambda R: left_over(R, lambda R: np.arccos(np.clip(R[2, 2], -1, 1))),
            "Near A = 0° and 180° the cosine is flat, and arccos can't bring back what six decimals"
            " have eaten. The sine of A is in the third column: use arctan2 of both.",
        ),
        Mistake(
            lambda R: left_over(R)[::-1],
            "You have O and T the wrong way round: moving axes multiply from the right, R = Rz(O)"
            " Ry(A) Rz(T).",
        ),
        Mistake(
            lambda R: np.degrees(left_over(R)),
            "You turn the angles into degrees at the end; keep them in radians.",
        ),
        Mistake(
            lambda R: left_over(R.T),
            "You read the angles of the transposed matrix, the inverse rotation. Entry R[0, 2] is"
            " row 0, column 2.",
        ),
        Mistake(
            roll_pitch_yaw,
            "These are roll, pitch and yaw. Here the axes are z, y and z again, and they move with"
            " the tool.",
        ),
        Mistake(angles_of("ZXZ"), "Your middle turn is about x. A turns about y."),
        Mistake(angles_of("ZYX"), "Your third turn is about x. T turns about z again."),
        Mistake(
            lambda R: (*first_two(R), np.arctan2(R[2, 1], R[2, 0])),
            "R[2, 0] is *minus* sin(A) cos(T): the sign matters for T.",
        ),
    ],
    alternatives=[
        angles_of("ZYZ"),
        lambda R: angles_of("zyz")(R)[::-1],
        from_the_last,
        lambda R: list(np.array(left_over(R)) * [1, -1, 1] + [np.pi, 0, np.pi]),
        lambda R: [
            *first_two(R),
            np.arctan2(
                R[1, 0] * np.cos(first_two(R)[0]) - R[0, 0] * np.sin(first_two(R)[0]),
                R[1, 1] * np.cos(first_two(R)[0]) - R[0, 1] * np.sin(first_two(R)[0]),
            ),
        ],
    ],
)

# ---------------------------------------------------------------- angle_between


def tracker_pairs(rng):
    def pair(angle, sign=1.0, lengths=(1.0, 1.0)):
        first = Rotation.random(rng=rng)
        axis = rng.normal(size=3)
        second = first * Rotation.from_rotvec(angle * axis / np.linalg.norm(axis))
        q0, q1 = (r.as_quat(canonical=True) for r in (first, second))
        return lengths[0] * q0, np.copysign(1.0, sign) * np.copysign(lengths[1], q0 @ q1) * q1

    quarter = np.array([0, 0, np.sin(H / 2), np.cos(H / 2)])
    return [
        (np.array([0, 0, 0, 1.0]), quarter),
        (np.array([0, 0, 0, 1.0]), -quarter),
        pair(2.9),
        pair(1.1, -1.0),
        pair(0.8, 1.0, (0.9, 1.05)),
        pair(2.0, -1.0, (3.0, 0.2)),
        pair(1e-6),
        pair(1e-6, -1.0, (1.001, 1.001)),
        pair(3.1, -1.0, (0.5, 0.5)),
    ]


def unit(q):
    return np.asarray(q) / np.linalg.norm(q)


def chord(q0, q1):
    """The straight distance to the nearer of q1 and -q1."""
    return min(length(unit(q0) - unit(q1)), length(unit(q0) + unit(q1)))


def vector_part(q0, q1):
    return q0[3] * q1[:3] - q1[3] * q0[:3] - np.cross(q0[:3], q1[:3])


def between(q0, q1):
    return float((Rotation.from_quat(q0).inv() * Rotation.from_quat(q1)).magnitude())


def six_digits(answer, expected, args):
    value = as_numbers(answer, (), "the angle")
    if abs(value - expected) < 1e-15 + 2e-6 * expected:
        return None
    return f"It should be {expected:.7g}; yours is {value:.7g}."


def small_angle_lost(answer, expected, args):
    if expected < 1e-3:
        return (
            "Right for large angles, but this one is tiny. Near 1 the cosine is flat, and arccos"
            " can't bring back the digits that rounding has eaten. Use the distance |q1 - q0|, or"
            " the vector part of the quaternion between them, with arctan2."
        )
    return None


ANGLE_BETWEEN = Exercise(
    "angle_between",
    cases=tracker_pairs,
    truth=between,
    compare=six_digits,
    diagnose=small_angle_lost,
    mistakes=[
        Mistake(
            lambda q0, q1: 2 * np.arccos(np.clip(unit(q0) @ unit(q1), -1, 1)),
            "q and -q are the same orientation. Where the dot product is negative you measure the"
            " long way round: up to 360°.",
        ),
        Mistake(
            lambda q0, q1: 4 * np.arctan2(*(length(unit(q1) + s * unit(q0)) for s in (-1, 1))),
            "The formula is good to the last digit, but it measures to the wrong one of two points:"
            " -q1 is the same orientation as q1. Take the nearer one first.",
        ),
        Mistake(
            lambda q0, q1: between(q0, q1) / 2,
            "That is the angle between the two points on the sphere. A quaternion holds half"
            " angles: the turn is twice as large.",
        ),
        Mistake(
            lambda q0, q1: np.arccos(np.clip(abs(unit(q0) @ unit(q1)), -1, 1)),
            "The dot product is the cosine of *half* the turn: your angles are half of the right"
            " ones, and tiny ones get lost in the arccos.",
        ),
        Mistake(
            lambda q0, q1: 2 * np.arccos(np.clip(abs(q0 @ q1), -1, 1)),
            "You use the quaternions as they come. Divide each by its length first: only unit"
            " quaternions are orientations.",
        ),
        Mistake(
            lambda q0, q1: np.degrees(between(q0, q1)),
            "Your angle is in degrees; the course, and numpy, use radians.",
        ),
        Mistake(
            lambda q0, q1: 2 * chord(q0, q1),
            "The straight distance between two points of the sphere cuts through the ball. It fits"
            " small angles only: half of it is the sine of half of the angle on the sphere.",
        ),
        Mistake(
            chord,
            "That is the way straight through the ball, from point to point. You need the arc on"
            " the sphere, and the turn is twice that.",
        ),
        Mistake(
            lambda q0, q1: length(np.subtract(*Rotation.from_quat([q1, q0]).as_rotvec())),
            "Turning vectors don't subtract, unless both turn about one line. Multiply: the turn"
            " between is q0* q1, then ask how far it goes.",
        ),
    ],
    alternatives=[
        lambda q0, q1: 4 * np.arcsin(chord(q0, q1) / 2),
        lambda q0, q1: length((Rotation.from_quat(q1) * Rotation.from_quat(q0).inv()).as_rotvec()),
        lambda q0, q1: 2 * np.arctan2(length(vector_part(q0, q1)), abs(q0 @ q1)),
    ],
)

# ---------------------------------------------------------------- turn_about


def turns(rng):
    quarter = matrix((0, 0, H))
    return [
        (quarter, np.array([1.0, 0, 0])),
        (matrix((0.3, -0.8, 1.2)), np.array([0.2, -0.5, 0.4])),
        (matrix((0.3, -0.8, 1.2)), np.zeros(3)),
        *((matrix(rng.uniform(-3, 3, 3)), rng.uniform(-1, 1, 3)) for _ in range(4)),
    ]


def pose(R, p):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


def about(R, c):
    return pose(R, c - R @ c)


def same_motion(answer, expected, args):
    c, T = args[1], as_numbers(answer, (4, 4), "the matrix")
    if np.abs(T - expected).max() < 1e-9:
        return None
    if not np.abs(T[3] - [0, 0, 0, 1]).max() < 1e-9:
        return f"The bottom row of a pose is (0, 0, 0, 1); yours is {T[3].tolist()}."
    moved = np.linalg.norm(T[:3, :3] @ c + T[:3, 3] - c)
    if not moved < 1e-9:
        return f"The point c should stay where it is. Your matrix moves it by {in_mm(moved)}."
    return "c stays, but the rotation part is not R."


TURN_ABOUT = Exercise(
    "turn_about",
    cases=turns,
    truth=about,
    compare=same_motion,
    mistakes=[
        Mistake(
            lambda R, c: pose(R, (0, 0, 0)),
            "That turns about the world's origin. c has no say in it.",
        ),
        Mistake(
            lambda R, c: pose(R, c),
            "That is shift · turn: it turns about the origin, then carries everything by c. The"
            " point c ends at R c + c.",
        ),
        Mistake(
            lambda R, c: pose(R, -c),
            "The shift by -c comes last here. It has to come first: bring c to the origin, turn,"
            " bring it back.",
        ),
        Mistake(
            lambda R, c: pose(R, R @ c),
            "That is turn · shift, without the way back. The point c ends at 2 R c.",
        ),
        Mistake(
            lambda R, c: pose(R, R @ c - c),
            "The two shifts are the wrong way round: first by -c, to bring c to the origin, and by"
            " +c at the end. The rightmost matrix acts first.",
        ),
        Mistake(
            lambda R, c: pose(R, -R @ c),
            "You bring c to the origin and turn, but you don't bring it back.",
        ),
        Mistake(
            lambda R, c: pose(R.T, c - R.T @ c),
            "Your matrix turns the other way: its rotation part is the transposed R.",
        ),
        Mistake(
            lambda R, c: pose(R, c - R.T @ c),
            "The shift is c - R c. You have R transposed there, as if the point were seen from"
            " turned axes.",
        ),
        Mistake(
            lambda R, c: pose(R, c - R @ c).T,
            "You built the transposed matrix. Coordinates are columns here, so the shift stands in"
            " the last column.",
        ),
    ],
    alternatives=[
        lambda R, c: pose(np.eye(3), c) @ pose(R, (0, 0, 0)) @ pose(np.eye(3), -c),
        lambda R, c: np.vstack([np.column_stack([R, (np.eye(3) - R) @ c]), [0, 0, 0, 1]]).tolist(),
        lambda R, c: (
            RigidTransform.from_translation(c)
            * RigidTransform.from_rotation(Rotation.from_matrix(R))
            * RigidTransform.from_translation(-c)
        ).as_matrix(),
    ],
)

# ---------------------------------------------------------------- angular_velocity


def orientations(rng):
    def pair(angle, dt):
        first, axis = Rotation.random(rng=rng), rng.normal(size=3)
        second = Rotation.from_rotvec(angle * axis / np.linalg.norm(axis)) * first
        return first.as_matrix(), second.as_matrix(), dt

    return [
        (matrix((H, 0, 0)), matrix((0, 0, 0.2)) @ matrix((H, 0, 0)), 0.1),
        pair(0.4, 0.5),
        pair(1e-4, 0.01),
        pair(2.0, 2.0),
        pair(3.0, 1.0),
        pair(0.0, 0.1),
    ]


def rotvec(R):
    return Rotation.from_matrix(R).as_rotvec()


def velocity(R0, R1, dt):
    return rotvec(R1 @ R0.T) / dt


def vee(M):
    return np.array([M[2, 1] - M[1, 2], M[0, 2] - M[2, 0], M[1, 0] - M[0, 1]]) / 2


def same_vector(answer, expected, args):
    off = np.linalg.norm(as_numbers(answer, (3,), "ω") - expected)
    speed = np.linalg.norm(expected)
    if off < 1e-6 * (1e-3 + speed):
        return None
    return f"Off by {off:.3g} rad/s; the body turns at {speed:.3g} rad/s."


ANGULAR_VELOCITY = Exercise(
    "angular_velocity",
    cases=orientations,
    truth=velocity,
    compare=same_vector,
    diagnose=lambda answer, expected, args: (
        "That is how fast, without about which axis. ω has three entries."
        if np.ndim(answer) == 0
        else None
    ),
    mistakes=[
        Mistake(
            lambda R0, R1, dt: rotvec(R0.T @ R1) / dt,
            "The size is right, the axes are the tool's: R0ᵀ R1 is the turn seen in the tool. In"
            " world axes it stands on the left, R1 = D R0.",
        ),
        Mistake(
            lambda R0, R1, dt: rotvec(R0 @ R1.T) / dt,
            "You have the way back: D R0 = R1 gives D = R1 R0ᵀ. Your ω has the wrong sign.",
        ),
        Mistake(
            lambda R0, R1, dt: (rotvec(R1) - rotvec(R0)) / dt,
            "Turning vectors don't subtract, unless both turn about one line. Form the turn between"
            " the two first, then take its vector.",
        ),
        Mistake(
            lambda R0, R1, dt: (roll_pitch_yaw(R1) - roll_pitch_yaw(R0)) / dt,
            "Rates of roll, pitch and yaw are no angular velocity: each acts about an axis of its"
            " own (the matrix E of part A).",
        ),
        Mistake(
            lambda R0, R1, dt: vee((R1 - R0) @ R0.T) / dt,
            "That is the small-step formula Ṙ Rᵀ. It gives sin θ for θ: too small by 2.6 % at 0.4"
            " rad, and useless at 2 rad. Use the log.",
        ),
        Mistake(
            lambda R0, R1, dt: rotvec(R1 @ R0.T),
            "That is the turn [rad], not the speed [rad/s]: divide by dt.",
        ),
        Mistake(
            lambda R0, R1, dt: rotvec(R1 @ R0.T) * dt,
            "You multiplied by dt. A speed is the turn divided by the time.",
        ),
        Mistake(
            lambda R0, R1, dt: np.degrees(velocity(R0, R1, dt)),
            "Your ω is in degrees a second; the course uses rad/s.",
        ),
    ],
    alternatives=[
        lambda R0, R1, dt: R0 @ rotvec(R0.T @ R1) / dt,
        lambda R0, R1, dt: -R1 @ rotvec(R1.T @ R0) / dt,
        lambda R0, R1, dt: (
            (Rotation.from_matrix(R1) * Rotation.from_matrix(R0).inv()).as_rotvec() / dt
        ).tolist(),
    ],
)

# ---------------------------------------------------------------- orientation


def euler(sequence, degrees=True):
    """A reader of three angles."""
    return lambda numbers: Rotation.from_euler(sequence, numbers, degrees=degrees).as_matrix()


SEQUENCES = {"kuka": "ZYX", "fanuc": "xyz", "kawasaki": "ZYZ"}
READ = {
    **{maker: euler(sequence) for maker, sequence in SEQUENCES.items()},
    "abb": lambda numbers: Rotation.from_quat(numbers, scalar_first=True).as_matrix(),
    "ur": lambda numbers: Rotation.from_rotvec(numbers).as_matrix(),
}


MISREAD = {  # maker: {another reading: what it mixes up}
    "kuka": {
        euler("zyx"): "KUKA's A, B, C turn about moving axes z, y, x. You took fixed ones: SciPy"
        " writes moving axes with capitals.",
        euler("xyz"): "KUKA's A turns about z, not about x. You read A, B, C as roll, pitch, yaw.",
        euler("XYZ"): "KUKA's A turns about z, B about y, C about x. You read A, B, C about x, y,"
        " z.",
    },
    "fanuc": {
        euler("XYZ"): "FANUC's W, P, R turn about fixed axes. You took moving ones: SciPy writes"
        " fixed axes with small letters.",
        euler("ZYX"): "FANUC's W turns about x. You read W, P, R as if W were the turn about z.",
    },
    "kawasaki": {
        euler("ZYX"): "Kawasaki turns about z, y and z again. The third axis is not x.",
        euler("zyz"): "Kawasaki's axes move with the tool. You took fixed ones.",
    },
    "abb": {
        lambda numbers: Rotation.from_quat(numbers).as_matrix(): "ABB sends the scalar first; SciPy"
        " wants it last. The identity would come out as a half turn.",
        lambda numbers: Rotation.from_quat(np.roll(numbers, 1)).as_matrix(): "You rolled ABB's four"
        " numbers the wrong way: the scalar comes first and has to go to the end.",
    },
    "ur": {
        euler("xyz", degrees=False): "Universal Robots' rx, ry, rz are one turning vector: its"
        " direction is the axis, its length the angle. They are no roll, pitch, yaw.",
        lambda numbers: Rotation.from_rotvec(numbers, degrees=True).as_matrix(): "Universal Robots'"
        " rx, ry, rz are radians. You read them as degrees.",
    },
}
AS_RADIANS = {maker: euler(sequence, degrees=False) for maker, sequence in SEQUENCES.items()}
for name, reader in AS_RADIANS.items():
    MISREAD[name][reader] = f"The angles of {name!r} are degrees; they went in as radians."


def displays(rng):
    angles = [
        ("kuka", [20.0, 10, 0]),
        ("fanuc", [20.0, 10, 0]),
        ("kawasaki", [30.0, 45, -60]),
        ("abb", [0.6, 0, 0, 0.8]),
        ("ur", [0.0, 1.2, 0]),
    ]
    random = [(maker, rng.uniform(-80, 80, 3).round(1).tolist()) for maker in SEQUENCES]
    quat = Rotation.random(rng=rng).as_quat(canonical=True, scalar_first=True).tolist()
    return [*angles, *random, ("abb", quat), ("ur", rng.uniform(-1.5, 1.5, 3).tolist())]


def right_reading(maker, numbers):
    return READ[maker](numbers)


def with_others(**readers):
    """A reading with some makers' readers changed."""
    return lambda maker, numbers: (READ | readers)[maker](numbers)


def why_this_maker(answer, expected, args):
    """What went wrong with the maker at hand, whatever the others' answers are."""
    maker, numbers = args
    for reader, message in MISREAD[maker].items():
        if np.abs(reader(numbers) - np.asarray(answer)).max() < 1e-9:
            return message
    return None


SWAPPED = {"kuka": euler("zyx"), "fanuc": euler("XYZ")}

ORIENTATION = Exercise(
    "orientation",
    cases=displays,
    truth=right_reading,
    compare=same_rotation(1e-9),
    diagnose=why_this_maker,
    mistakes=[
        *(
            Mistake(with_others(**{maker: reader}), message)
            for maker, readers in MISREAD.items()
            for reader, message in readers.items()
        ),
        Mistake(
            with_others(**SWAPPED),
            "You have SciPy's small and capital letters the wrong way round: capitals are moving"
            " axes.",
        ),
        Mistake(
            with_others(**SWAPPED, kawasaki=euler("zyz")),
            "You have SciPy's small and capital letters the wrong way round, for all three makers:"
            " capitals are moving axes.",
        ),
        Mistake(with_others(**AS_RADIANS), "Angles in degrees went in as radians."),
        Mistake(lambda maker, numbers: READ[maker](numbers).T, "All your matrices are transposed."),
    ],
    alternatives=[
        with_others(kuka=lambda numbers: euler("xyz")(numbers[::-1])),
        lambda maker, numbers: READ[maker](numbers).tolist(),
        with_others(kawasaki=lambda numbers: euler("zyz")(numbers[::-1])),
    ],
)

EXERCISES = [ZYZ_FROM_MATRIX, ANGLE_BETWEEN, TURN_ABOUT, ANGULAR_VELOCITY, ORIENTATION]
