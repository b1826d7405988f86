"""The judge of homework 04: Jacobians, their frames, what they lose and what they cost.

Twists and rows of J: linear first, then angular. Solutions stand here in the open: the marks hang
on hidden cases, and the learning on you.
"""

import numpy as np
from scipy.spatial.transform import Rotation

from course_lib.arm import Arm
from course_lib.check import Exercise, Mistake, as_direction, close, parts
from course_lib.kinematics import fk, jacobian

PI = np.pi


def unit(v):
    return np.asarray(v, float) / np.linalg.norm(v)


def random_arm(rng, n):
    """A standard arm of n turning joints with skew axes and a tool."""
    tool = np.eye(4)
    tool[:3, :3], tool[:3, 3] = (
        Rotation.from_rotvec(rng.uniform(-1, 1, 3)).as_matrix(),
        rng.uniform(-0.1, 0.1, 3),
    )
    return Arm(
        "random",
        "standard",
        a=rng.uniform(0.1, 0.4, n),
        alpha=rng.uniform(0.4, 1.4, n) * rng.choice([-1, 1], n),
        d=rng.uniform(-0.3, 0.3, n),
        theta=rng.uniform(-1, 1, n),
        tool=tool,
    )


# ---------------------------------------------------------------- 1. the Jacobian of a drawn arm


def boom_cases(rng):
    simple = [
        (0.5, 0.4, 0.2, np.zeros(4)),
        (0.5, 0.4, 0.2, np.array([0, 0, 0.3, 0])),
        (0.5, 0.4, 0.2, np.array([PI / 2, 0, 0, -PI / 2])),
    ]
    return simple + [
        (*map(float, rng.uniform(0.2, 0.6, 3)), rng.uniform([-2, -1, 0.05, -2], [2, 1, 0.4, 2]))
        for _ in range(5)
    ]


def boom(h, r, t, q):
    """(axis, point on it) of each joint, and the tool point, from the drawing."""
    out, up = np.array([np.cos(q[0]), np.sin(q[0]), 0]), np.array([0, 0, 1.0])
    e = lambda angle: np.cos(angle) * out + np.sin(angle) * up
    lift = np.cross(out, up)  # the axis of joints 2 and 4: -y when q1 = 0
    shoulder = h * up
    wrist = shoulder + (r + q[2]) * e(q[1])
    tool = wrist + t * e(q[1] + q[3])
    return [(up, 0 * up), (lift, shoulder), (e(q[1]), shoulder), (lift, wrist)], tool


def boom_jacobian(h, r, t, q):
    joints, tool = boom(h, r, t, q)
    columns = [
        np.r_[z, 0, 0, 0] if i == 2 else np.r_[np.cross(z, tool - p), z]
        for i, (z, p) in enumerate(joints)
    ]
    return np.column_stack(columns)


def by_differences(h, r, t, q):
    """Positions by differences, turns by the axes."""
    joints, _ = boom(h, r, t, q)
    steps = 1e-5 * np.eye(4)
    linear = np.column_stack(
        [(boom(h, r, t, q + e)[1] - boom(h, r, t, q - e)[1]) / 2e-5 for e in steps]
    )
    return np.vstack(
        [linear, np.column_stack([joints[0][0], joints[1][0], np.zeros(3), joints[3][0]])]
    )


def by_table(h, r, t, q):
    """The same arm as a DH table: joint 3 slides along the boom."""
    arm = Arm(
        "boom",
        "standard",
        a=[0, 0, 0, t],
        alpha=[PI / 2, PI / 2, -PI / 2, 0],
        d=[h, 0, r, 0],
        theta=[0, PI / 2, 0, -PI / 2],
        joint_types=("revolute", "revolute", "prismatic", "revolute"),
    )
    return jacobian(arm, q)


def by_formula(h, r, t, q):
    c1, s1, c2, s2, c4, s4 = (
        *(f(q[0]) for f in (np.cos, np.sin)),
        *(f(q[1]) for f in (np.cos, np.sin)),
        *(f(q[1] + q[3]) for f in (np.cos, np.sin)),
    )
    length = r + q[2]
    rho, height = length * c2 + t * c4, length * s2 + t * s4
    return [
        [-s1 * rho, -c1 * height, c1 * c2, -c1 * t * s4],
        [c1 * rho, -s1 * height, s1 * c2, -s1 * t * s4],
        [0, rho, s2, t * c4],
        [0, s1, 0, s1],
        [0, -c1, 0, -c1],
        [1, 0, 0, 0],
    ]


def boom_wrong(kind):
    """A wrong boom_jacobian, by what is wrong in it."""

    def answer(h, r, t, q):
        q = np.array(q, float)
        joints, tool = boom(h, r, t, q)
        if kind == "length":
            joints, tool = boom(h, r, t, q * [1, 1, 0, 1])
        if kind == "axis stays":
            joints = [
                joints[0],
                (np.array([0, -1.0, 0]), joints[1][1]),
                joints[2],
                (np.array([0, -1.0, 0]), joints[3][1]),
            ]
        J = np.column_stack(
            [np.r_[np.cross(z, tool - (0 if kind == "from base" else p)), z] for z, p in joints]
        )
        if kind == "one wrist":
            J[:3, 3] = np.cross(joints[3][0], tool - joints[1][1])
        if kind != "no slide":
            J[:, 2] = np.r_[joints[2][0], joints[2][0] if kind == "slide turns" else np.zeros(3)]
        if kind == "sign":
            J[:3, [0, 1, 3]] *= -1
        return J[[3, 4, 5, 0, 1, 2]] if kind == "order" else J.T if kind == "transposed" else J

    return answer


BOOM = Exercise(
    "boom_jacobian",
    points=3,
    seconds=2,
    cases=boom_cases,
    truth=boom_jacobian,
    compare=close(1e-6),
    alternatives=[by_differences, by_table, by_formula],
    mistakes=[
        Mistake(
            boom_wrong("no slide"),
            "You treat joint 3 as if it turned. It slides: the tool moves along the boom, as fast"
            " as the joint, and does not turn.",
        ),
        Mistake(
            boom_wrong("slide turns"),
            "The linear half of column 3 is right. But a sliding joint turns nothing: its angular"
            " half is zero.",
        ),
        Mistake(
            boom_wrong("from base"),
            "Your levers all begin at the base. The lever of a joint begins at a point of *its own*"
            " axis: the shoulder for joint 2, the end of the boom for joint 4.",
        ),
        Mistake(
            boom_wrong("one wrist"),
            "Joint 4 does not swing the boom. Its lever begins at the end of the boom and is only t"
            " long.",
        ),
        Mistake(
            boom_wrong("length"), "You forgot that q3 makes the boom longer: it is r + q3 long."
        ),
        Mistake(
            boom_wrong("axis stays"),
            "The axes of joints 2 and 4 point along -y only when q1 = 0. Joint 1 carries them"
            " along.",
        ),
        Mistake(
            boom_wrong("sign"),
            "Your linear half is the other way round: z × (p_tool - p), and not (p_tool - p) × z.",
        ),
        Mistake(
            boom_wrong("order"), "Your rows are angular first. Here the linear rows come first."
        ),
        Mistake(
            boom_wrong("transposed"), "Your matrix lies on its side: six rows, one column a joint."
        ),
    ],
)


# ---------------------------------------------------------------- 2. which frame is it in


FRAMES = ("world", "tool", "spatial")
DT = 1e-4


def frame_cases(rng):
    """Four of each frame, on arms with three to seven joints; the first can be done in the head."""
    turntable = Arm("turntable", "standard", a=[0.4], alpha=[PI / 2], d=[0.2], theta=[0])
    cases = [frame_case(rng, turntable, np.zeros(1), np.ones(1), "spatial")]
    for frame in rng.permutation(FRAMES * 4):
        n = int(rng.integers(3, 8))
        cases.append(
            frame_case(
                rng, random_arm(rng, n), rng.uniform(-2, 2, n), rng.uniform(-1, 1, n), str(frame)
            )
        )
    return cases


def frame_case(rng, arm, q, qd, frame):
    """J, qd, and the tool's pose before and after DT.

    Drawn again where two frames could be mixed up.
    """
    while True:
        twists = np.array([jacobian(arm, q, f) @ qd for f in FRAMES])
        gaps = [np.linalg.norm(twists[i] - twists[j]) for i in range(3) for j in range(i)]
        parts = [
            np.linalg.norm(twists[0, 3:] - twists[1, 3:]),
            np.linalg.norm(twists[0, :3] - twists[2, :3]),
        ]
        if min(gaps + parts) > 0.1:
            return jacobian(arm, q, frame), qd, fk(arm, q), fk(arm, q + DT * qd), DT
        q, qd = rng.uniform(-2, 2, arm.n), rng.uniform(-1, 1, arm.n)


def measured(T0, T1, dt):
    """The twist in each of the three frames, from two poses."""
    R, p = T0[:3, :3], T0[:3, 3]
    v, omega = (T1[:3, 3] - p) / dt, Rotation.from_matrix(T1[:3, :3] @ R.T).as_rotvec() / dt
    return {
        "world": np.r_[v, omega],
        "tool": np.r_[R.T @ v, R.T @ omega],
        "spatial": np.r_[v - np.cross(omega, p), omega],
    }


def nearest(twist, candidates, rows=np.s_[:]):
    """The name whose candidate lies nearest; of equally near ones the first."""
    gap = {name: np.linalg.norm((twist - value)[rows]) for name, value in candidates.items()}
    return min(gap, key=lambda name: round(gap[name], 3))


def which_frame(J, qd, T0, T1, dt):
    return nearest(J @ qd, measured(T0, T1, dt))


def by_matrix_log(J, qd, T0, T1, dt):
    from scipy.linalg import logm

    def twist(D):
        S = logm(D).real / dt
        return np.r_[S[:3, 3], S[2, 1], S[0, 2], S[1, 0]]

    R = np.eye(4)
    R[:3, :3] = T0[:3, :3]
    body = np.linalg.inv(T0) @ T1
    found = {
        "spatial": twist(T1 @ np.linalg.inv(T0)),
        "tool": twist(body),
        "world": twist(R @ body @ R.T),
    }
    return nearest(J @ qd, found)


def by_prediction(J, qd, T0, T1, dt):
    """Move the pose as each frame would, and see which one arrives."""
    twist, R, p = J @ qd * dt, T0[:3, :3], T0[:3, 3]
    v, w = twist[:3], twist[3:]
    skew = lambda u: np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    moved = {
        "world": (p + v, R + skew(w) @ R),
        "tool": (p + R @ v, R + R @ skew(w)),
        "spatial": (p + v + np.cross(w, p), R + skew(w) @ R),
    }
    gap = {
        name: np.linalg.norm(x - T1[:3, 3]) + np.linalg.norm(S - T1[:3, :3])
        for name, (x, S) in moved.items()
    }
    return min(gap, key=gap.get).upper()


def by_speeds(J, qd, T0, T1, dt):
    size = {
        name: np.array([np.linalg.norm(v[:3])] + [np.linalg.norm(v[3:])])
        for name, v in measured(T0, T1, dt).items()
    }
    twist = J @ qd
    return nearest(np.array([np.linalg.norm(twist[:3]), np.linalg.norm(twist[3:])]), size)


SWAP = {"world": "tool", "tool": "world", "spatial": "spatial"}
PINOCCHIO = {"world": "LOCAL_WORLD_ALIGNED", "tool": "LOCAL", "spatial": "WORLD"}

WHICH = Exercise(
    "which_frame",
    points=2,
    seconds=3,
    cases=frame_cases,
    truth=which_frame,
    alternatives=[
        by_matrix_log,
        by_prediction,
        lambda *case: next(
            name
            for name, value in measured(*case[2:]).items()
            if np.allclose(case[0] @ case[1], value, atol=0.02)
        ),
    ],
    diagnose=lambda answer, expected, args: (
        None
        if str(answer).lower() in FRAMES
        else "Expected one of the words 'world', 'tool', 'spatial'."
    ),
    mistakes=[
        Mistake(
            lambda *case: SWAP[which_frame(*case)],
            "You have 'world' and 'tool' the wrong way round. Tool axes turn with the tool: v_tool"
            " = Rᵀ v_world.",
        ),
        Mistake(
            lambda *case: PINOCCHIO[which_frame(*case)],
            "The frames are right, but you use Pinocchio's names. Here they are 'world'"
            " (LOCAL_WORLD_ALIGNED), 'tool' (LOCAL) and 'spatial' (WORLD).",
        ),
        Mistake(
            by_speeds,
            "You compare sizes only. Axes change no size, so 'world' and 'tool' look the same to"
            " you. Compare all six numbers.",
        ),
        Mistake(
            lambda *case: nearest(case[0] @ case[1], measured(*case[2:]), np.s_[3:]),
            "For 'spatial' you say 'world'. Their angular rows are the same; the linear rows"
            " differ. In 'spatial' they belong to the point of the tool's body at the world's"
            " origin: v - ω × p.",
        ),
        Mistake(
            lambda J, qd, T0, T1, dt: nearest(J @ qd, measured(T1, T0, dt)),
            "You have the two poses the wrong way round: the tool goes from T0 to T1.",
        ),
        Mistake(
            lambda *case: "world", "You always say 'world'. Does your code look at the motion?"
        ),
        Mistake(lambda *case: "tool", "You always say 'tool'. Does your code look at the motion?"),
        Mistake(
            lambda *case: "spatial", "You always say 'spatial'. Does your code look at the motion?"
        ),
    ],
)


# ---------------------------------------------------------------- 3. the elbow, stretched


def stretch_cases(rng):
    return [(0.3, 0.1, 0.3, 0.0, 0.0), (0.3, 0.1, 0.2, 0.0, 0.5)] + [
        (
            *map(float, rng.uniform(0.1, 0.5, 3)),
            float(rng.uniform(-2.5, 2.5)),
            float(rng.uniform(-1.2, 1.2)),
        )
        for _ in range(5)
    ]


def along(q1, angle):
    return np.array([np.cos(q1) * np.cos(angle), np.sin(q1) * np.cos(angle), np.sin(angle)])


def stretched(u, e, f, q1, q2):
    return np.arctan2(f, e), along(q1, q2)


def position_jacobian(u, e, f, q1, q2, q3):
    """How joints 1 to 3 move the tip (3, 3).

    At q = 0 the upper arm u and the offset e lie straight on, the forearm f points down.
    """
    arm = Arm(
        "elbow arm",
        "standard",
        a=[0, u, e, 0],
        alpha=[PI / 2, 0, PI / 2, 0],
        d=[0.3, 0, 0, f],
        theta=np.zeros(4),
    )
    return jacobian(arm, [q1, q2, q3, 0])[:3, :3]


def by_search(u, e, f, q1, q2):
    """Sweeps for the angle where the arm is longest, then the SVD."""
    reach = lambda q3: np.hypot(
        u + e * np.cos(q3) + f * np.sin(q3), e * np.sin(q3) - f * np.cos(q3)
    )
    q3, width = 0.0, PI
    for _ in range(12):
        grid = np.linspace(q3 - width, q3 + width, 81)
        q3, width = grid[np.argmax(reach(grid))], width / 20
    return q3, np.linalg.svd(position_jacobian(u, e, f, q1, q2, q3))[0][:, 2]


def same_stretch(answer, expected, args):
    """The angle up to full turns, the direction up to its sign."""
    q3, direction = parts(answer, ("the angle q3", ()), ("the direction", (3,)))
    right, lost = float(expected[0]), np.asarray(expected[1], dtype=float)
    if not abs(np.angle(np.exp(1j * (q3 - right)))) < 1e-6:
        return "At your q3 the arm is not stretched: shoulder, elbow and tip are not in one line."
    as_direction(direction / np.linalg.norm(lost))
    # compared as a line, and not too sharply: who searches for q3 has found it to 1e-7 or so
    if np.linalg.norm(np.cross(direction, lost)) < 1e-5:
        return None
    return "Joint speeds do move the tip along your direction."


def turned(direction):
    """A mistake with the right q3 and another direction."""
    return lambda u, e, f, q1, q2: (np.arctan2(f, e), direction(u, e, f, q1, q2))


STRETCH = Exercise(
    "stretched",
    points=2,
    seconds=3,
    cases=stretch_cases,
    truth=stretched,
    compare=same_stretch,
    alternatives=[
        by_search,
        lambda u, e, f, q1, q2: [PI / 2 - np.arctan(e / f) + 2 * PI, -along(q1, q2)],
        lambda u, e, f, q1, q2: (
            np.angle(complex(e, f)),
            np.linalg.svd(position_jacobian(u, e, f, q1, q2, np.arctan2(f, e)))[0][:, 2],
        ),
    ],
    mistakes=[
        Mistake(
            lambda u, e, f, q1, q2: (0.0, along(q1, q2)),
            "q3 = 0 is how the arm is drawn, and there it is bent. With an offset, the stretched"
            " elbow is not at zero.",
        ),
        Mistake(
            lambda u, e, f, q1, q2: (PI / 2, along(q1, q2)),
            "90° makes the forearm f parallel to the upper arm, but the tip still lies beside the"
            " line, by the offset e.",
        ),
        Mistake(
            lambda u, e, f, q1, q2: (np.arctan2(e, f), along(q1, q2)),
            "You have e and f the wrong way round in the arctangent. For e = 0 the answer must be"
            " 90°.",
        ),
        Mistake(
            lambda u, e, f, q1, q2: (-np.arctan2(f, e), along(q1, q2)),
            "The sign is wrong: a positive q3 lifts the forearm (axis 3 points along -y), and that"
            " stretches the arm.",
        ),
        Mistake(
            lambda u, e, f, q1, q2: (np.arctan2(f, e) - PI, along(q1, q2)),
            "That is the other singular posture, with the forearm folded back onto the upper arm."
            " Asked is the stretched one.",
        ),
        Mistake(
            lambda u, e, f, q1, q2: (np.degrees(np.arctan2(f, e)), along(q1, q2)),
            "Your q3 is in degrees. The course uses radians.",
        ),
        Mistake(
            turned(lambda u, e, f, q1, q2: along(q1, q2 + PI / 2)),
            "The angle is right. Your direction is where joints 2 and 3 move the tip: across the"
            " arm. Lost is the direction *along* it.",
        ),
        Mistake(
            turned(lambda u, e, f, q1, q2: np.array([np.sin(q1), -np.cos(q1), 0])),
            "The angle is right. Your direction is out of the arm's plane: joint 1 can do that. It"
            " is lost only in the shoulder singularity.",
        ),
        Mistake(
            turned(lambda u, e, f, q1, q2: along(0, q2)),
            "The angle is right. Your direction is right for q1 = 0: joint 1 turns the arm's"
            " plane.",
        ),
        Mistake(
            turned(lambda u, e, f, q1, q2: along(q1, q2 + np.arctan2(f, e))),
            "The angle is right. You added q3 to the direction: but at this q3 the tip lies on the"
            " line of the upper arm, whose angle is q2.",
        ),
        Mistake(
            turned(lambda u, e, f, q1, q2: (u + np.hypot(e, f)) * along(q1, q2)),
            "All right but for the length: the direction should be a unit vector.",
        ),
    ],
)


# ---------------------------------------------------------------- 4. torques that hold a push


def push_cases(rng):
    crane = Arm(
        "crane", "standard", a=[0, 0.4, 0.3], alpha=[PI / 2, 0, 0], d=[0.2, 0, 0], theta=np.zeros(3)
    )
    cases = []
    for arm, q, f, shift in [
        (crane, np.zeros(3), [0, 0, -10.0], [0, 0, 0]),
        (crane, np.array([PI / 2, 0, 0]), [0, 0, -10.0], [0, 0.1, 0]),
    ]:
        cases.append((jacobian(arm, q, "tool"), fk(arm, q), np.array(f), fk(arm, q)[:3, 3] + shift))
    for _ in range(5):
        arm = random_arm(rng, int(rng.integers(4, 8)))
        q = rng.uniform(-2, 2, arm.n)
        T = fk(arm, q)
        cases.append(
            (
                jacobian(arm, q, "tool"),
                T,
                rng.uniform(-30, 30, 3),
                T[:3, 3] + rng.uniform(-0.2, 0.2, 3),
            )
        )
    return cases


def holding_torques(J, T, push, at):
    R, p = T[:3, :3], T[:3, 3]
    return -J.T @ np.r_[R.T @ push, R.T @ np.cross(at - p, push)]


def held(sign=-1, turn=lambda R: R.T, moment=lambda at, p, push: np.cross(at - p, push)):
    """holding_torques with one part of it exchanged."""

    def answer(J, T, push, at):
        R, p = T[:3, :3], T[:3, 3]
        return sign * J.T @ np.r_[turn(R) @ push, turn(R) @ moment(at, p, push)]

    return answer


def by_power(J, T, push, at):
    """Joint by joint: the power of the push where it acts, when this joint alone moves."""
    R, p = T[:3, :3], T[:3, 3]
    v, w = R @ J[:3], R @ J[3:]
    return [-float(push @ (v[:, i] + np.cross(w[:, i], at - p))) for i in range(J.shape[1])]


def by_other_frame(J, T, push, at):
    """In the world's origin: the moment about it is at × push."""
    R, p = T[:3, :3], T[:3, 3]
    v, w = R @ J[:3], R @ J[3:]
    spatial = np.vstack([v - np.cross(w, p[:, None], axis=0), w])
    return -(np.r_[push, np.cross(at, push)] @ spatial)


def not_the_transpose(J, T, push, at):
    R, p = T[:3, :3], T[:3, 3]
    return -np.linalg.pinv(J) @ np.r_[R.T @ push, R.T @ np.cross(at - p, push)]


PUSH = Exercise(
    "holding_torques",
    points=2,
    seconds=2,
    cases=push_cases,
    truth=holding_torques,
    compare=close(1e-6),
    alternatives=[
        by_power,
        by_other_frame,
        lambda J, T, push, at: (
            -np.einsum(
                "ri,r->i",
                J,
                np.kron(np.eye(2), T[:3, :3].T)
                @ np.concatenate([push, np.cross(push, T[:3, 3] - at)]),
            )
        ),
    ],
    mistakes=[
        Mistake(
            held(sign=1),
            "The sign is wrong. These are the torques with which the push drives the joints; the"
            " motors have to hold *against* them.",
        ),
        Mistake(
            held(moment=lambda at, p, push: np.zeros(3)),
            "You forgot where the push acts. A force beside the tool point also turns the tool: its"
            " moment is (at - p) × push.",
        ),
        Mistake(
            held(moment=lambda at, p, push: np.cross(at, push)),
            "You took the moment about the world's origin. That belongs to the 'spatial' Jacobian;"
            " with 'tool' you need it about the tool point: (at - p) × push.",
        ),
        Mistake(
            held(moment=lambda at, p, push: np.cross(push, at - p)),
            "The moment has the wrong sign: lever × force, and not force × lever.",
        ),
        Mistake(
            held(turn=lambda R: np.eye(3)),
            "J is written in tool axes, the push in world axes. Bring them into one frame first: Rᵀ"
            " takes the push into tool axes.",
        ),
        Mistake(
            held(turn=lambda R: R),
            "You turned the push by R. That takes tool axes to world axes; the push has to go the"
            " other way, by Rᵀ.",
        ),
        Mistake(
            not_the_transpose,
            "You inverted J. Power says τᵀ q̇ = fᵀ J q̇ for every q̇, so forces go through the"
            " *transpose*: τ = Jᵀ f.",
        ),
    ],
)


# ---------------------------------------------------------------- 5. how fast along this line


def speed_cases(rng):
    """Arms with six joints in regular postures; first one whose J is the unit matrix."""
    cases = [
        (np.eye(6), np.array([1.0, 0, 0]), np.array([0.5, 1, 1, 1, 1, 1])),
        (np.eye(6), np.array([3.0, 4.0, 0]), np.array([0.6, 0.4, 1, 1, 1, 1])),
    ]
    while len(cases) < 8:
        arm, q = random_arm(rng, 6), rng.uniform(-2, 2, 6)
        J = jacobian(arm, q)
        if np.linalg.cond(J) < 200:
            cases.append((J, rng.uniform(0.2, 1.5) * rng.normal(size=3), rng.uniform(0.5, 3.0, 6)))
    return cases


def per_speed(J, direction):
    """Joint speeds for 1 m/s along the direction, without turning."""
    return np.linalg.solve(J, np.r_[unit(direction), 0, 0, 0])


def fastest(J, direction, qd_max):
    return 1 / np.max(np.abs(per_speed(J, direction)) / qd_max)


def by_linear_program(J, direction, qd_max):
    from scipy.optimize import linprog

    n = J.shape[1]
    equal = np.column_stack([J, -np.r_[unit(direction), 0, 0, 0]])  # J qd = s (direction, 0)
    return linprog(
        np.r_[np.zeros(n), -1],
        A_eq=equal,
        b_eq=np.zeros(6),
        bounds=[*zip(-qd_max, qd_max), (0, None)],
    ).x[-1]


def by_bisection(J, direction, qd_max):
    low, high, qd = 0.0, 1e4, per_speed(J, direction)
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if (np.abs(middle * qd) <= qd_max).all() else (low, middle)
    return low


def joint_by_joint(J, direction, qd_max):
    speeds = np.linalg.inv(J)[:, :3] @ direction / np.linalg.norm(direction)
    return min(float(limit / abs(speed)) for limit, speed in zip(qd_max, speeds) if speed != 0)


SPEED = Exercise(
    "fastest",
    points=1,
    seconds=3,
    cases=speed_cases,
    truth=fastest,
    compare=close(1e-6),
    alternatives=[by_linear_program, by_bisection, joint_by_joint],
    mistakes=[
        Mistake(
            lambda J, d, limits: fastest(J, d, limits) / np.linalg.norm(d),
            "The direction has a length, and your answer depends on it. Make it a unit vector"
            " first.",
        ),
        Mistake(
            lambda J, d, limits: 1 / np.min(np.abs(per_speed(J, d)) / limits + 1e-12),
            "You let the joint decide that has most room left. The one that reaches its limit"
            " *first* decides.",
        ),
        Mistake(
            lambda J, d, limits: 1 / np.linalg.norm(per_speed(J, d) / limits),
            "You treat the limits as one common budget (the length of q̇). Each joint has its own"
            " limit, so take the largest ratio.",
        ),
        Mistake(
            lambda J, d, limits: np.min(limits) / np.max(np.abs(per_speed(J, d))),
            "You compare the fastest joint with the smallest limit. They may be two different"
            " joints: take the ratio joint by joint.",
        ),
        Mistake(
            lambda J, d, limits: 1 / np.max(per_speed(J, d) / limits),
            "A joint that turns backwards has a limit too: take the absolute values.",
        ),
        Mistake(
            lambda J, d, limits: 1 / np.max(np.abs(np.linalg.pinv(J[:3]) @ unit(d)) / limits),
            "You used the linear rows alone, so the tool may turn while it moves. It must not: ask"
            " for an angular velocity of zero as well.",
        ),
        Mistake(
            lambda J, d, limits: np.linalg.norm((J @ limits)[:3]),
            "All joints at their limits do not move the tool along the direction asked for. Begin"
            " with the direction and go back to the joints: J⁻¹.",
        ),
        Mistake(
            lambda J, d, limits: 1 / np.max(np.abs(J.T @ np.r_[unit(d), 0, 0, 0]) / limits),
            "Jᵀ is for forces. Joint speeds for a tool velocity come from solving J q̇ = (v, 0).",
        ),
    ],
)

EXERCISES = [BOOM, WHICH, STRETCH, PUSH, SPEED]
