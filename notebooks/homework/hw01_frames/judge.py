"""The judge of homework 01: orientations and poses from other people's files.

Quaternions are scalar-last unless said otherwise, angles in radians, lengths in metres. Solutions
stand here in the open: the marks hang on hidden cases, and the learning on you.
"""

from itertools import permutations

import numpy as np
from scipy.spatial.transform import RigidTransform, Rotation, Slerp

from course_lib.check import (
    Exercise,
    Mistake,
    as_direction,
    as_rotation,
    in_degrees,
    in_mm,
    parts,
    same_pose,
    turn_between,
)

PI = np.pi


def unit(v):
    return v / np.linalg.norm(v)


# ---------------------------------------------------------------- 1. name the convention

NOISE = 1e-4  # of the matrices' entries
ORDERS = ["".join(p) for p in permutations("xyz")] + [
    a + b + a for a in "xyz" for b in "xyz" if a != b
]
SEQUENCES = ORDERS + [order.upper() for order in ORDERS]


def logs(rng):
    """Angles (N, 3) as somebody logged them, with the matrices (N, 3, 3) that belong to them."""
    chosen = ["xyz", "XYZ", "zyz", "XZY", *rng.permutation(SEQUENCES)[:6]]
    units = ["rad", "deg", "rad", "deg", *rng.permutation(["rad", "deg"] * 3)]
    small = [False, False, False, True, *rng.permutation([True, False] * 3)]
    return [a_log(rng, sequence, unit, tiny) for sequence, unit, tiny in zip(chosen, units, small)]


def a_log(rng, sequence, unit, tiny):
    """One tidy row in which many conventions agree, then eleven that tell."""
    angles = rng.uniform(-1, 1, (12, 3)) * np.radians(5 if tiny else 60)
    if sequence[0] == sequence[2]:
        angles[:, 1] += np.radians(70)  # away from 0, where z-y-z locks
    angles[0, 1:] = 0
    R = Rotation.from_euler(sequence, angles).as_matrix() + NOISE * rng.standard_normal((12, 3, 3))
    return (np.degrees(angles) if unit == "deg" else angles), R


def misfit(sequence, unit, angles, R):
    return np.abs(
        Rotation.from_euler(sequence, angles, degrees=unit == "deg").as_matrix() - R
    ).mean()


def best(angles, R, sequences=SEQUENCES, units=("rad", "deg")):
    """The sequence and the unit that fit best."""
    return min(
        ((s, u) for s in sequences for u in units), key=lambda pair: misfit(*pair, angles, R)
    )


def name_convention(angles, R):
    return best(angles, R)


def compare_names(answer, expected, args):
    sequence, unit = parts(
        answer, ('the sequence (as in "xyz")', str), ('the unit ("rad" or "deg")', str)
    )
    sequence, unit = sequence.strip(), unit.strip()
    if sequence in ("rad", "deg"):
        return "The sequence comes first, then the unit."
    if sequence not in SEQUENCES:
        return (
            f"{sequence!r} is no sequence: three of x, y, z, all small or all capital, no letter"
            " twice in a row."
        )
    if unit not in ("rad", "deg"):
        return f'The unit is "rad" or "deg"; yours is {unit!r}.'
    wrong = [repr(word) for word, right in zip((sequence, unit), expected) if word != right]
    return f"{' and '.join(wrong)} does not fit all twelve rows." if wrong else None


def reversed_name(angles, R):
    sequence, unit = best(angles, R)
    return sequence[::-1].swapcase(), unit


def by_first_row(angles, R):
    return best(angles[:1], R[:1])


def unit_by_size(angles, R):
    unit = "deg" if np.abs(angles).max() > 2 * PI else "rad"
    return best(angles, R, units=(unit,))


def by_distance(angles, R):
    """As the truth, but by the turn between the two, and in another order."""
    scores = {}
    for unit in ("deg", "rad"):
        for sequence in reversed(SEQUENCES):
            found = Rotation.from_euler(sequence, angles, degrees=unit == "deg")
            scores[sequence, unit] = (found.inv() * Rotation.from_matrix(R)).magnitude().max()
    return list(min(scores, key=scores.get))


def by_products(angles, R):
    """By hand: fixed axes multiply from the left, moving ones from the right."""
    scores = []
    for sequence in SEQUENCES:
        for unit, factor in (("rad", 1.0), ("deg", PI / 180)):
            M = np.broadcast_to(np.eye(3), R.shape)
            for name, angle in zip(sequence, factor * angles.T):
                turn = Rotation.from_rotvec(
                    angle[:, None] * np.eye(3)["xyz".index(name.lower())]
                ).as_matrix()
                M = turn @ M if name.islower() else M @ turn
            scores.append((np.linalg.norm(M - R), sequence, unit))
    return min(scores)[1:]


def by_ranking(angles, R):
    """The pair whose worst row is best."""
    pairs = [(s, u) for u in ("deg", "rad") for s in SEQUENCES]
    made = [Rotation.from_euler(s, angles, degrees=u == "deg").as_matrix() for s, u in pairs]
    return pairs[int(np.argmin([np.linalg.norm(M - R, axis=(1, 2)).max() for M in made]))]


CONVENTION = Exercise(
    "name_convention",
    points=2,
    seconds=3,
    cases=logs,
    truth=name_convention,
    compare=compare_names,
    alternatives=[by_distance, by_products, by_ranking],
    mistakes=[
        Mistake(
            lambda angles, R: (best(angles, R)[0].swapcase(), best(angles, R)[1]),
            "You have fixed and moving axes the wrong way round. SciPy writes fixed axes with small"
            " letters, moving ones with capitals.",
        ),
        Mistake(
            reversed_name,
            "Your name describes the same product only if the three angles are reversed too. The"
            " columns of the log stay as they are: the first letter belongs to the first column.",
        ),
        Mistake(
            by_first_row,
            "You look at the first row only. It has a single angle that is not zero, and one turn"
            " alone has no order: a third of all conventions fit it. Use all rows.",
        ),
        Mistake(
            unit_by_size,
            "You guess the unit from the size of the numbers. A log of small motions in degrees has"
            " small numbers too. Try both units, and let the matrices decide.",
        ),
        Mistake(
            lambda angles, R: best(angles, R, sequences=[s for s in SEQUENCES if s.islower()]),
            "You try fixed axes only. Half of the logs turn about moving axes.",
        ),
        Mistake(
            lambda angles, R: best(angles, R, sequences=[s for s in SEQUENCES if s.isupper()]),
            "You try moving axes only. Half of the logs turn about fixed axes.",
        ),
        Mistake(
            lambda angles, R: best(angles, R, sequences=[s for s in SEQUENCES if len(set(s)) == 3]),
            "You try three different axes only. Some makers turn about the same axis twice, as in"
            " ZYZ.",
        ),
        Mistake(
            lambda angles, R: ("xyz", best(angles, R)[1]),
            "You always say \"xyz\". That is the course's convention, not everybody's.",
        ),
        Mistake(
            lambda angles, R: best(angles, np.swapaxes(R, -1, -2)),
            "You compare with the transposed matrices. Columns, not rows, are the new axes.",
        ),
    ],
)


# ---------------------------------------------------------------- 2. the part in the base frame


def random_pose(rng, reach=0.5):
    return RigidTransform.from_components(
        rng.uniform(-reach, reach, 3), Rotation.random(rng=rng)
    ).as_matrix()


def sightings(rng):
    """T_bf, T_cf, p_c, n_c: tidy ones first, on which several mistakes do not show."""
    shift = RigidTransform.from_translation([0, 0, 0.1]).as_matrix()
    upright = RigidTransform.from_translation([0.4, 0, 0.3]).as_matrix()
    down = RigidTransform.from_components([0.4, 0.1, 0.5], Rotation.from_euler("x", PI)).as_matrix()
    quarter = RigidTransform.from_components(
        [0.05, 0, 0.1], Rotation.from_euler("z", PI / 2)
    ).as_matrix()
    tidy = [
        (upright, shift, np.array([0.0, 0, 0.3]), np.array([0.0, 0, -1])),
        (down, quarter, np.array([0.1, 0, 0.3]), np.array([1.0, 0, 0])),
    ]
    return tidy + [
        (
            random_pose(rng),
            random_pose(rng, 0.2),
            rng.uniform(-0.3, 0.3, 3),
            unit(rng.normal(size=3)),
        )
        for _ in range(5)
    ]


def seen_from(T, p, n):
    """A point and a direction through T."""
    return T[:3, :3] @ p + T[:3, 3], T[:3, :3] @ n


def part_in_base(T_bf, T_cf, p_c, n_c):
    return seen_from(T_bf @ np.linalg.inv(T_cf), p_c, n_c)


def compare_sighting(answer, expected, args):
    p, n = parts(answer, ("the point", (3,)), ("the normal", (3,)))
    off, bent = np.linalg.norm(p - expected[0]), np.linalg.norm(n - expected[1])
    if off < 1e-9 and bent < 1e-9:
        return None
    as_direction(n, "the normal", 1e-9)
    point = "The point is right" if off < 1e-9 else f"The point is off by {in_mm(off)}"
    return f"{point}; the normal {'is right' if bent < 1e-9 else 'points elsewhere'}."


def wrong_inverse(T):
    """R transposed, t negated."""
    W = np.eye(4)
    W[:3, :3], W[:3, 3] = T[:3, :3].T, -T[:3, 3]
    return W


def step_by_step(T_bf, T_cf, p_c, n_c):
    """Solve for the flange's coordinates, then go to the base."""
    p_f = np.linalg.solve(T_cf[:3, :3], p_c - T_cf[:3, 3])
    return T_bf[:3, :3] @ p_f + T_bf[:3, 3], T_bf[:3, :3] @ T_cf[:3, :3].T @ n_c


def by_rigid_transform(T_bf, T_cf, p_c, n_c):
    T = RigidTransform.from_matrix(T_bf) * RigidTransform.from_matrix(T_cf).inv()
    return [T.apply(p_c).tolist(), T.rotation.apply(n_c).tolist()]


def homogeneous(T_bf, T_cf, p_c, n_c):
    return np.array([T_bf @ np.linalg.solve(T_cf, np.r_[v, w]) for v, w in ((p_c, 1), (n_c, 0))])[
        :, :3
    ]


PART = Exercise(
    "part_in_base",
    points=2,
    seconds=2,
    cases=sightings,
    truth=part_in_base,
    compare=compare_sighting,
    alternatives=[step_by_step, by_rigid_transform, homogeneous],
    mistakes=[
        Mistake(
            lambda T_bf, T_cf, p, n: seen_from(T_bf @ T_cf, p, n),
            "Inner subscripts must meet: bf · cf does not. The calibration gave you the flange seen"
            " from the camera; turn it round first.",
        ),
        Mistake(
            lambda T_bf, T_cf, p, n: seen_from(np.linalg.inv(T_bf) @ T_cf, p, n),
            "You turned the wrong link round: T_bf is fine as it is, T_cf is the one given"
            " backwards.",
        ),
        Mistake(
            lambda T_bf, T_cf, p, n: seen_from(np.linalg.inv(T_cf) @ T_bf, p, n),
            "The links are in the wrong order. Read from left to right: base to flange, flange to"
            " camera.",
        ),
        Mistake(
            lambda T_bf, T_cf, p, n: seen_from(T_bf @ wrong_inverse(T_cf), p, n),
            "Your inverse has R transposed and t negated. But the shift has to be turned as well:"
            " it is -Rᵀ t.",
        ),
        Mistake(
            lambda T_bf, T_cf, p, n: seen_from(T_bf @ T_cf.T, p, n),
            "A 4×4 pose is not inverted by transposing: look at its bottom row.",
        ),
        Mistake(
            lambda T_bf, T_cf, p, n: (
                part_in_base(T_bf, T_cf, p, n)[0],
                seen_from(T_bf @ np.linalg.inv(T_cf), n, n)[0],
            ),
            "Your normal has been shifted like a point. A direction only turns: its fourth"
            " coordinate is 0.",
        ),
        Mistake(
            lambda T_bf, T_cf, p, n: (
                seen_from(T_bf @ np.linalg.inv(T_cf), p, p)[1],
                part_in_base(T_bf, T_cf, p, n)[1],
            ),
            "Your point has been turned, but not shifted. A point's fourth coordinate is 1.",
        ),
        Mistake(
            lambda T_bf, T_cf, p, n: seen_from(np.linalg.inv(T_bf @ np.linalg.inv(T_cf)), p, n),
            "You go from the base to the camera. The point is given in the camera and wanted in the"
            " base: T_bc.",
        ),
        Mistake(
            lambda T_bf, T_cf, p, n: part_in_base(T_bf, T_cf, p, n)[::-1],
            "The point comes first, then the normal.",
        ),
    ],
)


# ---------------------------------------------------------------- 3. a tracker's log


def tracker_logs(rng):
    """t (m,), times (n,), quats (n, 4) scalar first, of any sign and length."""
    return [plain_log(rng, 0.0), plain_log(rng, 12.5), *(dirty_log(rng, n) for n in (2, 4, 6, 6))]


def plain_log(rng, start):
    """Two tidy measurements, 90° apart; asked between and at them."""
    first = Rotation.random(rng=rng)
    second = first * Rotation.from_rotvec([0, 0, PI / 2])
    quats = np.array([r.as_quat(canonical=True, scalar_first=True) for r in (first, second)])
    quats[1] *= np.sign(quats[0] @ quats[1])
    return start + np.array([0, 0.5, 1.5, 2.0]), start + np.array([0.0, 2.0]), quats


def dirty_log(rng, n):
    times = rng.uniform(-5, 5) + np.cumsum(rng.uniform(0.2, 1.5, n))
    turns = rng.normal(size=(n, 3))
    turns *= (rng.uniform(0.3, 2.6, n) / np.linalg.norm(turns, axis=1))[:, None]
    rotations = [Rotation.random(rng=rng)]
    for turn in turns[1:]:
        rotations.append(rotations[-1] * Rotation.from_rotvec(turn))
    quats = np.array([r.as_quat(scalar_first=True) for r in rotations])
    for k in range(1, n):  # every step the long way round, if nobody looks at the sign
        quats[k] *= -np.sign(quats[k] @ quats[k - 1])
    quats *= rng.uniform(0.9, 1.1, n)[:, None]
    inside = times[0] + rng.uniform(0.05, 0.95, 6) * (times[-1] - times[0])
    return np.r_[inside, times[0] - 0.7, times[-1] + 0.7, times[n // 2]], times, quats


def look_up(t, times):
    """Index of the piece of the log (m,) and how far along it each t is, from 0 to 1 (m,)."""
    t = np.clip(t, times[0], times[-1])
    i = np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 2)
    return i, (t - times[i]) / (times[i + 1] - times[i])


def orientation_at(t, times, quats):
    rotations = Rotation.from_quat(quats, scalar_first=True)
    return Slerp(times, rotations)(np.clip(t, times[0], times[-1])).as_matrix()


def compare_matrices(answer, expected, args):
    R = as_rotation(answer, np.shape(expected), "the answer")
    off = turn_between(R, expected)
    k, (t, times, _) = int(np.argmax(off)), args
    if off[k] < np.radians(1e-4):
        return None
    return (
        f"At t = {t[k]:.3f} s the orientation is wrong by {in_degrees(off[k])} (log from"
        f" {times[0]:.3f} to {times[-1]:.3f} s)."
    )


def with_weights(t, times, quats, weights, *, first=True, align=True, normalise=True):
    """Mix neighbours of the log; the options leave out a care each."""
    q = np.roll(quats, -1, axis=1) if first else np.array(quats)
    q = q / np.linalg.norm(q, axis=1, keepdims=True) if normalise else q
    i, s = look_up(t, times)
    q0, q1 = q[i], q[i + 1]
    dot = np.sum(q0 * q1, axis=1, keepdims=True)
    if align:
        q1, dot = np.where(dot < 0, -q1, q1), np.abs(dot)
    a, b = weights(np.arccos(np.clip(dot, -1, 1)), s[:, None])
    return Rotation.from_quat(a * q0 + b * q1).as_matrix()


def circle(Omega, s):
    safe = np.where(np.sin(Omega) < 1e-9, 1.0, np.sin(Omega))
    flat = np.sin(Omega) < 1e-9
    return np.where(flat, 1 - s, np.sin((1 - s) * Omega) / safe), np.where(
        flat, s, np.sin(s * Omega) / safe
    )


def chord(Omega, s):
    return 1 - s, s


def part_way(quats, i, s):
    """The share s of the turn from measurement i to the next, as matrices."""
    rotations = Rotation.from_quat(quats, scalar_first=True)
    turns = (rotations[i].inv() * rotations[i + 1]).as_rotvec()
    return (rotations[i] * Rotation.from_rotvec(s[:, None] * turns)).as_matrix()


def by_turning_vector(t, times, quats):
    return part_way(quats, *look_up(t, times))


def by_angles(t, times, quats):
    rpy = Rotation.from_quat(quats, scalar_first=True).as_euler("xyz", suppress_warnings=True)
    return Rotation.from_euler(
        "xyz", np.column_stack([np.interp(t, times, column) for column in rpy.T])
    ).as_matrix()


def whole_log(t, times, quats):
    """From the first to the last measurement, whatever lies between."""
    ends = Rotation.from_quat(quats[[0, -1]], scalar_first=True)
    return Slerp(times[[0, -1]], ends)(np.clip(t, *times[[0, -1]])).as_matrix()


def going_on(t, times, quats):
    """Beyond the ends the last speed goes on."""
    i, _ = look_up(t, times)
    return part_way(quats, i, (t - times[i]) / (times[i + 1] - times[i]))


def seconds_for_share(t, times, quats):
    """The seconds since the last measurement, taken for the share of the piece."""
    i, s = look_up(t, times)
    return part_way(quats, i, s * (times[i + 1] - times[i]))


def nearest_measurement(t, times, quats):
    return Rotation.from_quat(quats, scalar_first=True)[
        np.argmin(np.abs(t[:, None] - times), axis=1)
    ].as_matrix()


TRACKER = Exercise(
    "orientation_at",
    points=3,
    seconds=3,
    cases=tracker_logs,
    truth=orientation_at,
    compare=compare_matrices,
    alternatives=[
        by_turning_vector,
        lambda t, times, quats: with_weights(t, times, quats, circle),
        lambda t, times, quats: [orientation_at(one, times, -quats) for one in t],
    ],
    mistakes=[
        Mistake(
            lambda t, times, quats: Slerp(times, Rotation.from_quat(quats))(
                np.clip(t, times[0], times[-1])
            ).as_matrix(),
            "You read the quaternions as scalar-last. The tracker writes the scalar first.",
        ),
        Mistake(
            lambda t, times, quats: with_weights(t, times, quats, circle, align=False),
            "Some pieces go the long way round: q and -q are the same orientation, so turn the sign"
            " where the dot product is negative.",
        ),
        Mistake(
            lambda t, times, quats: with_weights(t, times, quats, chord),
            "You mix the numbers of the quaternions. That takes the right way, but not at an even"
            " speed: too slow at the ends, too fast in the middle.",
        ),
        Mistake(
            lambda t, times, quats: with_weights(t, times, quats, circle, normalise=False),
            "You use the quaternions as they come. Their lengths are not 1, so the arccos of their"
            " dot product is not the angle between them.",
        ),
        Mistake(
            by_angles,
            "You let roll, pitch and yaw run. That is another way, and near ±180° a very long one.",
        ),
        Mistake(
            whole_log,
            "You go from the first measurement straight to the last. Find the two neighbours of"
            " each t.",
        ),
        Mistake(
            going_on,
            "Before the first and after the last measurement the orientation should be held, not go"
            " on turning.",
        ),
        Mistake(
            seconds_for_share,
            "The seconds since the last measurement are not the share of the way: divide by the"
            " time between the two neighbours.",
        ),
        Mistake(
            nearest_measurement,
            "You take the nearest measurement as it is. Between two of them the orientation should"
            " move evenly.",
        ),
        Mistake(
            lambda t, times, quats: np.swapaxes(orientation_at(t, times, quats), -1, -2),
            "Your matrices are transposed: the inverse rotations.",
        ),
    ],
)


# ---------------------------------------------------------------- 4. find the screw


def motions(rng):
    """T0, T1: two poses of a body that makes one screw motion."""
    lid = screw_motion([0, 1, 0], [0.3, 0, 0.2], PI / 3, 0.0)
    bolt = screw_motion([0, 0, 1], [0.2, 0.1, 0], PI / 2, 0.05)
    crooked = [
        screw_motion(
            unit(rng.normal(size=3)),
            rng.uniform(-0.5, 0.5, 3),
            angle,
            rng.uniform(0.05, 0.2) * rng.choice([-1, 1]),
        )
        for angle in (0.4, 1.5, 2.8, 3.13)
    ]
    return [
        (T0, D @ T0)
        for T0, D in zip(
            [np.eye(4), *(random_pose(rng) for _ in range(6))], [lid, lid, bolt, *crooked]
        )
    ]


def screw_motion(direction, point, angle, advance):
    """The displacement (4, 4), in world axes, of a turn about a line and a slide along it."""
    R = Rotation.from_rotvec(angle * np.asarray(direction, float)).as_matrix()
    D = np.eye(4)
    D[:3, :3], D[:3, 3] = (
        R,
        np.asarray(point) - R @ np.asarray(point) + advance * np.asarray(direction, float),
    )
    return D


def screw_of(D):
    """(direction, a point of the axis, angle, advance) of a displacement."""
    w = Rotation.from_matrix(D[:3, :3]).as_rotvec()
    angle = np.linalg.norm(w)
    direction = w / angle
    advance = direction @ D[:3, 3]
    point = np.linalg.lstsq(np.eye(3) - D[:3, :3], D[:3, 3] - advance * direction, rcond=1e-9)[0]
    return direction, point, angle, advance


def find_screw(T0, T1):
    return screw_of(T1 @ np.linalg.inv(T0))


def as_displacement(answer):
    """The displacement that the four parts make."""
    direction, point, angle, advance = parts(
        answer, ("the direction", (3,)), ("the point", (3,)), ("the angle", ()), ("the advance", ())
    )
    return screw_motion(as_direction(direction), point, angle, advance)


def compare_screws(answer, expected, args):
    """Every right description counts: the motion that it makes is compared."""
    D, target = as_displacement(answer), as_displacement(expected)
    if np.abs(D - target).max() < 1e-6:
        return None
    turn = turn_between(D, target)
    if not turn < np.radians(1e-4):
        return f"The turn that your direction and angle make is wrong by {in_degrees(turn)}."
    along = abs(np.asarray(expected[0]) @ (D - target)[:3, 3])
    if not along < 1e-6:
        return (
            f"The turn is right, but the body slides {in_mm(along)} too far or too little along the"
            " axis."
        )
    return "The turn and the slide are right, but your point is not on the axis."


def by_midpoint(T0, T1):
    """Axis through the middle of the two origins."""
    direction, _, angle, advance = find_screw(T0, T1)
    return direction, (T0[:3, 3] + T1[:3, 3]) / 2, angle, advance


def by_formula(T0, T1):
    """The point by the closed form: c = (t⊥ + n × t⊥ / tan(θ/2)) / 2."""
    D = T1 @ np.linalg.inv(T0)
    w = Rotation.from_matrix(D[:3, :3]).as_rotvec()
    angle = np.linalg.norm(w)
    n = w / angle
    across = D[:3, 3] - n * (n @ D[:3, 3])
    return (
        -n,
        (across + np.cross(n, across) / np.tan(angle / 2)) / 2 + 0.7 * n,
        -angle,
        -(n @ D[:3, 3]),
    )


def by_log(T0, T1):
    """From the twist: the point is w × v / |w|²."""
    xi = (RigidTransform.from_matrix(T1) * RigidTransform.from_matrix(T0).inv()).as_exp_coords()
    w, v = xi[:3], xi[3:]
    angle = np.linalg.norm(w)
    return [
        (w / angle).tolist(),
        (np.cross(w, v) / angle**2).tolist(),
        float(angle),
        float(w @ v / angle),
    ]


def by_eigenvector(T0, T1):
    """Direction as the eigenvector of R with eigenvalue 1, sign by the turn itself."""
    D = T1 @ np.linalg.inv(T0)
    R, t = D[:3, :3], D[:3, 3]
    values, vectors = np.linalg.eig(R)
    n = unit(np.real(vectors[:, np.argmin(np.abs(values - 1))]))
    angle = np.arctan2(
        n @ np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2,
        (np.trace(R) - 1) / 2,
    )
    return n, np.linalg.pinv(np.eye(3) - R, rcond=1e-9) @ (t - (n @ t) * n), angle + 2 * PI, n @ t


SCREW = Exercise(
    "find_screw",
    points=2,
    seconds=2,
    cases=motions,
    truth=find_screw,
    compare=compare_screws,
    alternatives=[by_formula, by_log, by_eigenvector],
    mistakes=[
        Mistake(
            lambda T0, T1: screw_of(np.linalg.inv(T0) @ T1),
            "That is the motion in the body's own axes, T0⁻¹ T1. In the world the same motion is T1"
            " T0⁻¹.",
        ),
        Mistake(
            lambda T0, T1: screw_of(T0 @ np.linalg.inv(T1)), "That is the way back, from T1 to T0."
        ),
        Mistake(
            by_midpoint,
            "The middle between the two origins is on the axis only for a half turn. Ask which"
            " point stays on the axis: (1 - R) c = t, without the slide.",
        ),
        Mistake(
            lambda T0, T1: (find_screw(T0, T1)[0], T0[:3, 3], *find_screw(T0, T1)[2:]),
            "The origin of the body is carried around the axis; it does not lie on it.",
        ),
        Mistake(
            lambda T0, T1: (*find_screw(T0, T1)[:3], np.linalg.norm(T1[:3, 3] - T0[:3, 3])),
            "The distance between the two origins is not the advance: most of it is the swing about"
            " the axis. Take the part along the axis.",
        ),
        Mistake(
            lambda T0, T1: (*find_screw(T0, T1)[:3], 0.0),
            "You leave the slide out. A screw also moves along its axis.",
        ),
        Mistake(
            lambda T0, T1: (
                *find_screw(T0, T1)[:2],
                np.degrees(find_screw(T0, T1)[2]),
                find_screw(T0, T1)[3],
            ),
            "Your angle is in degrees.",
        ),
        Mistake(
            lambda T0, T1: (
                find_screw(T0, T1)[0],
                (T1 @ np.linalg.inv(T0))[:3, 3],
                *find_screw(T0, T1)[2:],
            ),
            "The shift of the displacement is where the world's origin goes, not a point of the"
            " axis.",
        ),
        Mistake(
            lambda T0, T1: (*find_screw(T0, T1)[:3], -find_screw(T0, T1)[3]),
            "The advance has the wrong sign: it counts along your direction.",
        ),
    ],
)


# ---------------------------------------------------------------- 5. average what a camera saw

SPREAD_M, SPREAD_RAD = 0.001, np.radians(0.2)
NEAR_M, NEAR_RAD = 0.0015, np.radians(0.35)


def views(rng):
    """Measured poses (n, 4, 4) of one marker: most within a millimetre or two, some false."""
    down = RigidTransform.from_components(
        [0.4, 0.1, 0.02], Rotation.from_euler("xyz", [180, 2, 30], degrees=True)
    )
    true = [RigidTransform.from_matrix(random_pose(rng)) for _ in range(4)]
    return [
        (face_down(rng, down),),
        *((measured(rng, T, false),) for T, false in zip(true, (4, 5, 6, 5))),
    ]


def noise(rng, count):
    return RigidTransform.from_components(
        SPREAD_M * rng.standard_normal((count, 3)),
        Rotation.from_rotvec(SPREAD_RAD * rng.standard_normal((count, 3))),
    )


def face_down(rng, T, count=10):
    """No false view, but roll stands at ±180°, as often on one side as on the other."""
    some = noise(rng, count)
    return np.concatenate([(T * some).as_matrix(), (T * some.inv()).as_matrix()])[
        rng.permutation(2 * count)
    ]


def measured(rng, T, false, count=20):
    """Views of a marker, the first and some others false."""
    poses = (T * noise(rng, count)).as_matrix()
    flip = Rotation.from_euler(
        "x", 150, degrees=True
    )  # the marker's ambiguity: the false views are false in one kind
    for k in [0, *1 + rng.permutation(count - 1)[: false - 1]]:
        poses[k, :3, :3] = (
            T.rotation * flip * Rotation.from_rotvec(0.3 * rng.standard_normal(3))
        ).as_matrix()
        poses[k, :3, 3] += 0.05 * unit(rng.standard_normal(3)) + [0.06, 0.03, 0]
    return poses


def mean_pose(poses):
    T = np.eye(4)
    T[:3, :3] = Rotation.from_matrix(poses[:, :3, :3]).mean().as_matrix()
    T[:3, 3] = poses[:, :3, 3].mean(axis=0)
    return T


def distances(T, poses):
    """Metres and radians from T to each of the poses."""
    turn = Rotation.from_matrix(T[:3, :3].T @ poses[:, :3, :3]).magnitude()
    return np.linalg.norm(poses[:, :3, 3] - T[:3, 3], axis=1), turn


def companions(poses):
    """For each pose, which others are near: (n, n) of bool."""
    return np.array(
        [(m < 0.008) & (r < np.radians(2)) for m, r in (distances(T, poses) for T in poses)]
    )


def average_pose(poses):
    near = companions(poses)
    return mean_pose(poses[near[np.argmax(near.sum(axis=1))]])


def mean_of_matrices(answer, expected, args):
    if np.allclose(answer, args[0].mean(axis=0)):
        return "The mean of rotation matrices is no rotation. Average rotations as rotations."
    return None


def by_medians(poses):
    """The pose with the least median distance to the others, then the mean of its companions."""
    scores = [
        np.median(m / 0.001 + r / np.radians(0.2)) for m, r in (distances(T, poses) for T in poses)
    ]
    m, r = distances(poses[np.argmin(scores)], poses)
    return mean_pose(poses[(m < 0.01) & (r < np.radians(3))])


def by_ransac(poses):
    """Random pairs as a model, keep the one with most companions, average these."""
    rng = np.random.default_rng(0)
    best_count, best_set = 0, None
    for _ in range(60):
        model = mean_pose(poses[rng.choice(len(poses), 2, replace=False)])
        m, r = distances(model, poses)
        near = (m < 0.008) & (r < np.radians(2))
        if near.sum() > best_count:
            best_count, best_set = near.sum(), near
    return mean_pose(poses[best_set]).tolist()


def by_trimming(poses):
    """Medians of positions; rotations by dropping the farthest again and again."""
    kept = poses
    while len(kept) > 0.6 * len(poses):
        q = Rotation.from_matrix(kept[:, :3, :3])
        spread = [np.median((one.inv() * q).magnitude()) for one in q]
        kept = np.delete(kept, np.argmax(spread), axis=0)
    return mean_pose(kept)


def mean_of_angles(poses):
    T = mean_pose(poses)
    T[:3, :3] = Rotation.from_euler(
        "xyz", Rotation.from_matrix(poses[:, :3, :3]).as_euler("xyz").mean(axis=0)
    ).as_matrix()
    return T


def median_of_angles(poses):
    T = np.eye(4)
    T[:3, :3] = Rotation.from_euler(
        "xyz", np.median(Rotation.from_matrix(poses[:, :3, :3]).as_euler("xyz"), axis=0)
    ).as_matrix()
    T[:3, 3] = np.median(poses[:, :3, 3], axis=0)
    return T


def median_position_only(poses):
    T = mean_pose(poses)
    T[:3, 3] = np.median(poses[:, :3, 3], axis=0)
    return T


AVERAGE = Exercise(
    "average_pose",
    points=1,
    seconds=3,
    cases=views,
    truth=average_pose,
    compare=same_pose(NEAR_M, NEAR_RAD, "the pose that most views agree on"),
    diagnose=mean_of_matrices,
    alternatives=[by_medians, by_ransac, by_trimming],
    mistakes=[
        Mistake(
            mean_pose,
            "You average all views. Some are false, and a mean follows each of them. Find out first"
            " which views agree with each other.",
        ),
        Mistake(
            mean_of_angles,
            "You average roll, pitch and yaw. 179° and -179° are neighbours, but their mean is 0;"
            " and the false views pull too.",
        ),
        Mistake(
            median_of_angles,
            "The median of each angle alone is robust, but not across ±180°, where a marker that"
            " lies face down lives.",
        ),
        Mistake(
            median_position_only,
            "The position is robust now, but the orientation is still the mean of all views, the"
            " false ones included.",
        ),
        Mistake(lambda poses: poses[0], "You return the first view. It may be a false one."),
        Mistake(
            lambda poses: np.linalg.inv(average_pose(poses)),
            "That is the inverse: the camera seen from the marker.",
        ),
    ],
)


EXERCISES = [CONVENTION, PART, TRACKER, SCREW, AVERAGE]
