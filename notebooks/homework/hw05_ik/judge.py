"""The judge of homework 05: inverse kinematics, all postures, one step, a loop, a choice.

Answers are judged by where they bring the arm, by our own forward kinematics. Solutions stand here
in the open: the marks hang on hidden cases, and the learning on you.
"""

from itertools import product

import numpy as np
from scipy.spatial.transform import Rotation

from course_lib import ik, poses
from course_lib.arm import Arm, load_arm
from course_lib.check import (
    Exercise,
    Mistake,
    Unreadable,
    as_numbers,
    close,
    in_degrees,
    in_mm,
    numbers_in,
    parts,
)
from course_lib.kinematics import fk, fk_and_jacobian, jacobian

PI = np.pi
CLOSE = 1e-5  # [m] and [rad], as the tasks say: single precision passes
IN_DEGREES = "Your angles are in degrees. The course uses radians."


def told(make, says):
    """Mistakes from a table: the kind of fault, and what to tell who has it."""
    return [Mistake(make(kind), message) for kind, message in says.items()]


def around(angle):
    """The same angle between -pi and pi."""
    return np.arctan2(np.sin(angle), np.cos(angle))


# ---------------------------------------------------------------- 1. every posture of the lifter

EDGE = 1e-9  # [m] a wrist so near to the edge is on it, as the task says
GAPS = (7e-10, -7e-10, 2e-9, -2e-9, 5e-5, -4e-5)  # [m] beyond: on it twice; then off it
TWINS = 1e-4  # [rad] two rows closer than this are one posture


def lifter_cases(rng):
    """Links, and poses of the gripper: first a plain one, then each edge, then drawn ones."""
    cases = [((0.4, 0.5, 0.3, 0.2), (0.4, 0.3, -PI / 2))]
    wrists = [  # link lengths (h, u, f, t), distance of the wrist, its direction, pitch
        *(((0.4, 0.5, 0.3, 0.2), 0.8, angle, 0.5 - angle) for angle in (0.3, 0.7, 1.9, -2.2)),
        *(((0.3, 0.45, 0.25, 0.15), 0.2, angle, 2 * angle) for angle in (0.4, 1.3, 2.5, -0.6)),
        *(((0.4, 0.5, 0.3, 0.2), 0.8 + gap, 1.0, -0.4) for gap in GAPS),
        *(((0.3, 0.25, 0.45, 0.2), 0.2 - gap, -0.5, 0.3) for gap in GAPS),
        ((0.4, 0.4, 0.4000005, 0.2), 0.0, 0.0, 0.4),  # a hole of half a micrometre
        ((0.4, 0.4, 0.4, 0.2), 7e-10, 0.3, -0.4),
        ((0.4, 0.4, 0.4, 0.2), 1e-6, 0.3, -0.4),
        ((0.4, 0.4, 0.4, 0.2), 0.0, 0.0, 0.0),
        ((0.4, 0.5, 0.3, 0.2), 0.0, 0.0, 0.8),
        ((0.4, 0.5, 0.4, 0.3), 0.3, 2.5, 2.5 - PI),  # the gripper's tip is at the shoulder
        ((0.4, 0.5, 0.4, 0.3), 1.0, 0.6, 0.6 - PI),  # the tip within u + f, the wrist beyond
        ((0.4, 0.5, 0.4, 0.3), 0.8, 0.6, 0.6),  # the other way round
        ((0.4, 0.5, 0.4, 0.3), 0.6, 2.8, -2.0),  # behind the column
    ]
    for _ in range(4):
        u, f = rng.uniform(0.3, 0.6, 2)
        r = np.sqrt(u * u + f * f + 2 * u * f * rng.uniform(-0.9, 0.9))
        links = (rng.uniform(0.2, 0.6), u, f, rng.uniform(0.1, 0.3))
        wrists.append((links, r, rng.uniform(-PI, PI), rng.uniform(-PI, PI)))
    return cases + [(tuple(map(float, w[0])), gripper(*w)) for w in wrists]


def gripper(links, r, direction, pitch):
    """The pose (x, z, pitch) of the gripper whose wrist is r from the shoulder."""
    h, _, _, t = links
    x = r * np.cos(direction) + t * np.cos(pitch)
    return float(x), float(h + r * np.sin(direction) + t * np.sin(pitch)), float(pitch)


def lifter_fk(links, q):
    """Poses (..., 3) of the gripper at q (..., 3), link by link."""
    h, u, f, t = links
    first = PI / 2 + q[..., 0]
    second = first - PI / 2 + q[..., 1]
    third = second - PI / 2 + q[..., 2]
    x = u * np.cos(first) + f * np.cos(second) + t * np.cos(third)
    z = h + u * np.sin(first) + f * np.sin(second) + t * np.sin(third)
    return np.stack([x, z, third], axis=-1)


def wrist_of(links, pose):
    """The wrist (2,) seen from the shoulder."""
    (h, _, _, t), (x, z, pitch) = links, pose
    return np.array([x - t * np.cos(pitch), z - h - t * np.sin(pitch)])


def with_bends(bends_of, turned=lambda q: q):
    """A right answer by a way to find the angles of shoulder and elbow; the edge as in the task."""

    def answer(links, pose):
        w = wrist_of(links, pose)
        r, (u, f) = np.hypot(*w), links[1:3]
        room = min(u + f - r, r - abs(u - f))
        if room < -EDGE:
            return []
        found = list(bends_of(u, f, r, np.arctan2(w[1], w[0]), w))[: 1 if room < EDGE else 2]
        return turned([[a - PI / 2, b + PI / 2, pose[2] + PI / 2 - a - b] for a, b in found])

    return answer


def by_half_angle(u, f, r, direction, w):
    half = np.sqrt(max((u + f) ** 2 - r * r, 0)), np.sqrt(max(r * r - (u - f) ** 2, 0))
    for b in (2 * np.arctan2(*half), -2 * np.arctan2(*half)):
        yield direction - np.arctan2(f * np.sin(b), u + f * np.cos(b)), b


every_posture = with_bends(by_half_angle)


def rows_of(answer):
    """The answer as (k, 3), k = 0 too."""
    array = numbers_in(answer)
    if array is not None and array.size == 0:
        return np.empty((0, 3))
    if array is None or array.ndim != 2 or array.shape[1] != 3:
        raise Unreadable("Expected a list of postures, each with three joint angles.")
    return as_numbers(answer, array.shape)


def fault_of_postures(q, links, pose):
    """None if q (k, 3) are all postures, each once; else what is wrong, in words."""
    (_, u, f, _), r = links, np.linalg.norm(wrist_of(links, pose))
    count = len(every_posture(links, pose))
    where = f"The wrist is {r:.6g} m from the shoulder; links of {u:g} m and {f:g} m"
    off = max(r - u - f, abs(u - f) - r)
    if 0 < abs(off) < 1e-6:
        where = (
            f"The wrist is {in_mm(abs(off))} {'beyond' if off > 0 else 'within'} the edge. Links"
        )
    if count == 0 and len(q):
        edge = f"reach {u + f:.6g} m" if r > u else f"can't come nearer than {abs(u - f):.6g} m"
        return f"{where} {edge}. So there is no posture, and the list is empty."
    there = lifter_fk(links, q) - pose
    there[:, 2] = around(there[:, 2])
    for i, (metres, turn) in enumerate(zip(np.linalg.norm(there[:, :2], axis=1), there[:, 2])):
        if not (metres < CLOSE and abs(turn) < CLOSE):
            off = in_mm(metres) if not metres < CLOSE else in_degrees(abs(turn))
            return f"In posture {i}, counted from 0, the gripper is off by {off}."
    if len(q) < count:
        return f"{where} reach it in {count} posture{'s'[: count - 1]}; you give {len(q)}."
    if count == 1 and len(q) > 1:
        return f"{where}: the branches meet, or joint 1 is free. One posture stands for all of it."
    if count == 2 and (len(q) > 2 or np.abs(around(q[0] - q[1])).max() < TWINS):
        return "A posture comes twice."
    return None


def same_postures(answer, expected, args):
    """By work, if `expected` is right; else the same rows, in any order and any turn."""
    q, other = rows_of(answer), rows_of(expected)
    if fault_of_postures(other, *args) is None:
        return fault_of_postures(q, *args)
    gaps = np.abs(around(q[:, None] - other)).max(axis=-1, initial=0)
    same = len(q) == len(other) and (gaps < CLOSE).any(0).all() and (gaps < CLOSE).any(1).all()
    return None if same else "The postures differ."


def lifter_wrong(kind):
    """A wrong every_posture, by what is wrong in it."""
    zero = np.array([-PI / 2, PI / 2, PI / 2])
    zero = zero * {"straight": 0, "signs": -1, "hand": [1, 1, 0]}.get(kind, 1)
    back = {"tip": 0, "ahead": -1}.get(kind, 1)

    def answer(links, pose):
        (h, u, f, t), (x, z, pitch) = links, pose
        x, z = x - back * t * np.cos(pitch), z - back * t * np.sin(pitch) - h * (kind != "floor")
        r = np.hypot(x, z)
        room = min(u + f - r, r - (u - f if kind == "no abs" else abs(u - f)))
        beyond, within = BANDS.get(kind, (EDGE, EDGE))
        if room < -beyond or kind == "no fold" and r < EDGE:
            return []
        bend = np.arccos(np.clip((r * r - u * u - f * f) / (2 * u * f), -1, 1))
        at_edge = room < within and kind != "twins"
        bends = [bend, -bend][: 1 if at_edge or kind == "one branch" else 2]
        rows = []
        for b in bends:
            side = f * np.sin(bend if kind == "one shoulder" else b)
            to_wrist = np.arctan(z / x) if kind == "arctan" and x else np.arctan2(z, x)
            a = to_wrist - np.arctan2(side, u + f * np.cos(b))
            rows.append([a, b, pitch - (a + b) * (kind != "last")])
        q = np.array(rows) + zero
        return np.degrees(q) if kind == "degrees" else q

    return answer


BANDS = {  # [m] beyond the edge and within it: what still counts as the edge
    "strict": (0, EDGE),
    "clip": (np.inf, EDGE),
    "wide": (1e-5, 1e-5),
    "wide within": (EDGE, 1e-5),
    "wide beyond": (4.5e-5, EDGE),
}
LIFTER_SAYS = {
    "straight": "Your angles are right for an arm that lies straight along x at q = 0. This one is"
    " drawn at q = 0 with right angles in it: find the constant that belongs to each joint.",
    "signs": "The constants of your joints have the wrong sign. At q = 0 the first link stands at"
    " 90°, so q1 is its angle *minus* 90°.",
    "hand": "Joints 1 and 2 are right. At q = 0 the gripper hangs at a right angle to the forearm;"
    " your q3 has not got that right angle.",
    "one branch": "You give one branch. The elbow can lie on either side of the line to the wrist.",
    "one shoulder": "Your second posture has the other elbow and the first one's shoulder. When"
    " the elbow changes sides, the shoulder has to turn too.",
    "tip": "You bring the wrist to where the gripper's tip should be. First go back from the tip"
    " by t, against the gripper's direction.",
    "ahead": "You go the wrong way from the tip to the wrist: the wrist is *behind* the tip.",
    "floor": "You measure from the floor. The shoulder stands h above it.",
    "arctan": "arctan(z / x) does not know on which side of the column the wrist is: use arctan2.",
    "last": "Joints 1 and 2 turn the gripper too: take their angles away from q3.",
    "twins": "At the edge the two branches are one posture, and you give it twice. Where the wrist"
    " is at the shoulder, one row stands for the whole family.",
    "strict": "You miss postures at the edge. There rounding makes the cosine 1.0000000000000002:"
    " allow what the task allows, and clip.",
    "clip": "You clip the cosine for whatever pose. A wrist out of reach gets a posture that does"
    " not reach it; look at the distance before you clip.",
    "wide": "Your edge is too wide: what misses it by a few micrometres is not on it. The task"
    " allows a billionth of a metre.",
    "wide within": "You give one posture to wrists that are within reach, beside the edge. There"
    " the elbow is already bent to both sides.",
    "wide beyond": "You take some micrometres beyond the reach for rounding. That is more than what"
    " the task allows.",
    "no abs": "With the forearm longer than the upper arm u - f is negative, and you see no hole."
    " It has the radius |u - f|.",
    "no fold": "With the wrist at the shoulder you find nothing. Two links of one length do fold"
    " back onto the shoulder; then joint 1 may be anything.",
    "degrees": IN_DEGREES,
}


def by_triangle(u, f, r, direction, w):
    """Law of cosines at the shoulder and at the elbow."""
    safe = lambda c: np.arccos(np.clip(c, -1, 1))
    inner = safe((u * u + f * f - r * r) / (2 * u * f))
    lift = safe((u * u + r * r - f * f) / (2 * u * r)) if r > 1e-12 else 0.0
    return [(direction - lift, PI - inner), (direction + lift, inner - PI)]


LIFTER = Exercise(
    "every_posture",
    points=2,
    cases=lifter_cases,
    truth=every_posture,
    compare=same_postures,
    alternatives=[
        *map(with_bends, (by_triangle, by_half_angle)),
        with_bends(by_triangle, lambda rows: np.array(rows).reshape(-1, 3)[::-1] + 2 * PI),
        with_bends(by_half_angle, lambda rows: np.array(rows, np.float32)),
        with_bends(by_triangle, lambda rows: np.round(rows, 6).tolist()),
        with_bends(by_half_angle, lambda rows: tuple(map(tuple, around(np.array(rows))))),
    ],
    mistakes=told(lifter_wrong, LIFTER_SAYS),
)


# ---------------------------------------------------------------- 2. a damped step for a nozzle

NOZZLE = poses.pose([0.07, 0, 0.15], Rotation.from_euler("y", 0.6))
GLUER = Arm(
    "gluer",
    "standard",
    a=[0.04, 0.32, 0.05, 0.03, 0],
    alpha=[PI / 2, 0, PI / 2, -PI / 2, PI / 2],
    d=[0.28, 0, 0.02, 0.27, 0],
    theta=[0, PI / 2, 0, 0, 0],
    tool=NOZZLE,
)


def dot(R, v):
    return (R @ np.asarray(v)[..., None])[..., 0]


def turn_onto(z, axis, sine=False):
    """The rotation vector (..., 3) that turns z onto axis, both (..., 3) unit vectors."""
    c = np.cross(z, axis)
    s = np.linalg.norm(c, axis=-1, keepdims=True)
    cosine = (z * axis).sum(axis=-1, keepdims=True)
    return c if sine else c * np.where(s > 1e-12, np.arctan2(s, cosine) / np.maximum(s, 1e-12), 1)


def in_tool_axes(q, point, axis, sine=False, goal=1):
    """J (..., 5, 5) and e (..., 5): three of the tip, two turns across the nozzle."""
    T, J = fk_and_jacobian(GLUER, q, "tool")
    back = np.swapaxes(T[..., :3, :3], -1, -2)
    axis = goal * dot(back, axis)
    turn = turn_onto(np.broadcast_to([0.0, 0, 1], axis.shape), axis, sine)
    return J[..., :5, :], np.concatenate([dot(back, point - T[..., :3, 3]), turn[..., :2]], -1)


def in_world_axes(q, point, axis, direction=2):
    """J (..., 6, 5) and e (..., 6), the spin about the nozzle still in J."""
    T, J = fk_and_jacobian(GLUER, q)
    turn = turn_onto(T[..., :3, direction], np.asarray(axis))
    return J, np.concatenate([point - T[..., :3, 3], turn], axis=-1)


def mixed(q, point, axis):
    """The error in tool axes, J in world axes."""
    e = in_tool_axes(q, point, axis)[1]
    return in_world_axes(q, point, axis)[0], np.concatenate([e, 0 * e[..., :1]], axis=-1)


def backwards(q, point, axis):
    """The turn with the wrong sign."""
    J, e = in_tool_axes(q, point, axis)
    return J, e * [1, 1, 1, -1, -1]


def rows_from(task, rows):
    """A part of the rows of J and e."""
    return lambda *target: (task(*target)[0][..., rows, :], task(*target)[1][..., rows])


def damped(J, e, square):
    """The step that makes |J dq - e|² + square |dq|² least, for stacks."""
    Jt, square = np.swapaxes(J, -1, -2), np.asarray(square)[..., None, None]
    return dot(np.linalg.solve(Jt @ J + square * np.eye(J.shape[-1]), Jt), e)


def step_by(task, factor=1.0, power=2):
    return lambda q, point, axis, damping: factor * damped(*task(q, point, axis), damping**power)


damped_step = step_by(in_tool_axes)


def step_cases(rng):
    """Nozzle and target; first small moves, then a far turn, a singular posture, drawn ones."""
    bent = np.array([0.3, -0.7, 0.4, 0.8, -0.6])
    beside = np.array([0.6, 0.8, 0.6, 1.4, -0.7])  # a singular posture: a long step, and all of it
    cases = [
        (bent, np.array([0.03, -0.02, 0.01]), np.zeros(3), 0.1),
        (bent, np.zeros(3), np.array([0, 0.3, 0]), 0.1),
        (bent, np.array([0.1, 0, 0.05]), np.array([1.2, 1.6, 0.0]), 0.3),
        (np.array([0.2, -0.5, 0.3, 0, 0]), np.array([0, 0.05, 0]), np.array([0.2, -0.1, 0]), 0.05),
        (beside, np.array([0.05, 0, 0]), np.array([0.3, -0.2, 0]), 0.02),
    ]
    for _ in range(5):
        q, shift = rng.uniform(-2, 2, 5), rng.uniform(-0.1, 0.1, 3)
        cases.append((q, shift, [*rng.uniform(-0.7, 0.7, 2), 0], rng.uniform(0.02, 0.3)))
    return [(q, *moved(q, shift, turn), float(damping)) for q, shift, turn, damping in cases]


def moved(q, shift, turn):
    """The nozzle's tip and direction at q, shifted in the world and turned in its own axes."""
    T = fk(GLUER, q)
    return T[:3, 3] + shift, T[:3, :3] @ Rotation.from_rotvec(turn).as_matrix()[:, 2]


def without_spin(q, point, axis):
    """World axes; the angular rows without the part along the nozzle."""
    (J, e), z = in_world_axes(q, point, axis), fk(GLUER, q)[:3, 2]
    P = np.kron(np.diag([0, 1]), -np.outer(z, z)) + np.eye(6)
    return P @ J, P @ e


def wide_form(q, point, axis, damping):
    J, e = in_tool_axes(q, point, axis)
    return J.T @ np.linalg.inv(J @ J.T + damping**2 * np.eye(5)) @ e


WRONG_TASK = {  # J and e, by what is wrong in them
    "world's row 6": rows_from(in_world_axes, slice(5)),
    "mixed": rows_from(mixed, slice(5)),
    "backwards": backwards,
    "opposite": lambda *target: in_tool_axes(*target, goal=-1),
    "tip alone": rows_from(in_tool_axes, slice(3)),
    "direction alone": rows_from(in_tool_axes, slice(3, 5)),
    "spin counts": in_world_axes,
    "J turned": lambda *t: (in_tool_axes(*t)[0], in_world_axes(*t)[1][..., :5]),
    "sine": lambda *target: in_tool_axes(*target, sine=True),
    "x axis": lambda *t: (without_spin(*t)[0], in_world_axes(*t, direction=0)[1]),
}
TASK_SAYS = {
    "world's row 6": "You leave out row 6 in *world* axes. That frees a turn about the world's z,"
    " not about the nozzle. In tool axes row 6 is the nozzle's spin.",
    "mixed": "Your error is in tool axes and your Jacobian in world axes. Both in one frame: ask"
    " for the Jacobian in the frame 'tool', or turn the error by R.",
    "backwards": "The nozzle turns away: z × axis turns z onto axis, axis × z the other way.",
    "opposite": "You turn the nozzle onto the opposite of `axis`. It should point along it.",
    "tip alone": "You care for the tip alone. The direction is two more rows of J and of e.",
    "direction alone": "You care for the direction alone. The tip is three more rows of J and e.",
}
STEP_SAYS = TASK_SAYS | {
    "spin counts": "You keep all six rows, so a spin of the nozzle counts as an error. It is free:"
    " drop that one direction from J and from e.",
    "J turned": "Your Jacobian is in tool axes, your error in world axes: turn it by Rᵀ.",
    "sine": "|z × axis| is the *sine* of the angle: at 120° it asks for less than at 90°. Make the"
    " vector as long as the angle, arctan2(sine, cosine).",
    "x axis": "You turn the tool's x onto the axis. The nozzle is its z, the third column of R.",
    "away": "Your step goes away from the target: the error is target minus present.",
    "not squared": "You add the damping itself. With damping² |dq|², its square is added to JᵀJ.",
    "undamped": "Your step has no damping: it is Newton's. Near a singular posture it jumps.",
    "floor": "You never damp by less than 0.05. Take the damping that is given.",
    "capped": "You shorten the step to 1 rad. That is a good idea in a loop; here the step that"
    " makes the sum least is asked for, long or short.",
    "downhill": "That is Jᵀ e, downhill. A damped step solves (JᵀJ + damping² 1) dq = Jᵀ e.",
}


def step_wrong(kind):
    """A wrong damped_step, by what is wrong in it."""
    if kind in WRONG_TASK:
        return step_by(WRONG_TASK[kind])
    return {
        "away": step_by(in_tool_axes, factor=-1.0),
        "not squared": step_by(in_tool_axes, power=1),
        "undamped": step_by(in_tool_axes, power=8),
        "floor": lambda q, point, axis, damping: damped_step(q, point, axis, max(damping, 0.05)),
        "capped": lambda *case: damped_step(*case) / max(1, np.abs(damped_step(*case)).max()),
        "downhill": lambda *case: in_tool_axes(*case[:3])[0].T @ in_tool_axes(*case[:3])[1],
    }[kind]


STEP = Exercise(
    "damped_step",
    points=2,
    cases=step_cases,
    truth=damped_step,
    compare=close(CLOSE),
    alternatives=[
        wide_form,
        lambda *case: np.float32(wide_form(*case)),
        lambda *case: tuple(np.round(wide_form(*case), 6)),
        step_by(without_spin),
    ],
    mistakes=told(step_wrong, STEP_SAYS),
)


# ---------------------------------------------------------------- 3. the loop, on 200 targets

NEEDED = 0.95  # of the targets, as the task says


def aim_cases(rng):
    """Five targets near by; 100 from singular starts, always the same; then 200 that are drawn."""
    near = np.array([0.3, -0.7, 0.4, 0.8, -0.6]) + 0.2 * np.eye(5)
    fixed = np.random.default_rng(1)
    starts = fixed.uniform(-2, 2, (4000, 5))
    J = in_tool_axes(starts, np.zeros((4000, 3)), np.tile([0.0, 0, 1], (4000, 1)))[0]
    stiff = starts[np.linalg.svd(J, compute_uv=False)[:, -1].argsort()[:100]]
    far = rng.uniform(-2, 2, (200, 5))
    ends = near, stiff + fixed.uniform(-0.3, 0.3, stiff.shape), far
    starts = near - 0.1, stiff, far + rng.uniform(-0.5, 0.5, far.shape)
    return [(q0, *nozzle(q)) for q0, q in zip(starts, ends)]


def nozzle(q):
    """Tip and direction, both (N, 3), at q (N, 5)."""
    T = fk(GLUER, q)
    return T[:, :3, 3].copy(), T[:, :3, 2].copy()


def walk(task=in_tool_axes, steps=30, gain=0.1, fixed=0.0, cap=0.5, factor=1.0, frozen=False):
    """A loop over all targets at once; damping² = gain |e|² / 2 + fixed²."""

    def aim(q0, points, axes):
        q, J = q0.copy(), None
        for _ in range(steps):
            fresh, e = task(q, points, axes)
            J = fresh if J is None or not frozen else J
            square = gain * (e * e).sum(axis=-1) / 2 + fixed**2 + 1e-14
            dq = factor * damped(J, e, square)
            q += dq * np.minimum(1, cap / np.maximum(np.abs(dq).max(-1, keepdims=True), 1e-12))
        return q

    return aim


def with_restarts(q0, points, axes):
    """All 200 of 200: what did not arrive starts again near its start."""
    rng, q = np.random.default_rng(0), walk()(q0, points, axes)
    for _ in range(10):
        lost = ~arrived(q, points, axes)
        if not lost.any():
            break
        start = q0[lost] + rng.uniform(-0.4, 0.4, q0[lost].shape)
        q[lost] = walk()(start, points[lost], axes[lost])
    return q


def gaps_to(q, points, axes):
    """Distance [m] and angle [rad] of each nozzle to point and axis: (N,), (N,)."""
    tip, z = nozzle(q)
    angle = 2 * np.arcsin(np.minimum(np.linalg.norm(z - axes, axis=1) / 2, 1))
    return np.linalg.norm(tip - points, axis=1), angle


def arrived(q, points, axes):
    metres, angle = gaps_to(q, points, axes)
    return (metres < CLOSE) & (angle < CLOSE)


def same_aim(answer, expected, args):
    """Enough nozzles where those of `expected` are."""
    q = as_numbers(answer, args[0].shape)
    there = arrived(q, *nozzle(np.asarray(expected, float)))
    if there.sum() >= NEEDED * len(q):
        return None
    return f"{there.sum()} of {len(q)} nozzles arrive; {int(np.ceil(NEEDED * len(q)))} are needed."


def why_not_there(answer, expected, args):
    """What the nozzles that did not arrive have in common."""
    q0, points, axes = args
    q = as_numbers(answer, q0.shape)
    metres, angle = gaps_to(q, points, axes)
    said = same_aim(answer, expected, args)
    most = lambda test: test.mean() > 0.6
    if most(np.abs(q - q0).max(axis=1) < 1e-9):
        return f"{said} Most joints stand where they started."
    if most(angle > PI / 2):
        return (
            f"{said} Most nozzles turn away from the axis. Is a sign or a cross product the wrong"
            " way round, or are J and error not in one frame?"
        )
    if most((metres < CLOSE) ^ (angle < CLOSE)):
        return f"{said} Tip or direction arrives, the other does not. Are both in your error?"
    if most((metres < 0.01) & (angle < 0.02)):
        return f"{said} Most are nearly there. Take more steps; let the damping shrink with e."
    half = in_mm(np.median(metres))
    return f"{said} Half end {half} away or more. Are J and error in one frame, and is J fresh?"


def one_by_one(solver):
    """A loop over the targets, one at a time."""
    return lambda *targets: [solver(*target) for target in zip(*targets)]


AIM_SAYS = TASK_SAYS | {
    "start": "You return the starts. Take steps until tip and direction are there.",
    "one step": "You take one step. The arm moves on curves: go on until the error is small.",
    "away": "Your loop walks away from the target: the error is target minus present.",
    "slow": "Your damping stays large, so the end takes for ever. Let it shrink with the error.",
    "bare": "Your steps are Newton's, without damping or bound. Beside a singular posture they"
    " throw the arm about, and too many are not back when the steps end.",
    "frozen": "You keep the Jacobian of the start. Work it out anew in each step.",
    "degrees": IN_DEGREES,
}


def aim_wrong(kind):
    """A wrong aim_all, by what is wrong in it."""
    if kind in WRONG_TASK:
        return walk(WRONG_TASK[kind])
    return {
        "start": lambda q0, points, axes: q0,
        "one step": walk(steps=1),
        "away": walk(factor=-1.0),
        "slow": walk(gain=0.0, fixed=0.3),
        "bare": walk(gain=0.0, cap=np.inf, steps=60),
        "frozen": walk(frozen=True),
        "degrees": lambda *targets: np.degrees(walk()(*targets)),
    }[kind]


AIM = Exercise(
    "aim_all",
    points=2,
    seconds=20,
    cases=aim_cases,
    truth=with_restarts,
    compare=same_aim,
    diagnose=why_not_there,
    alternatives=[
        walk(),
        walk(gain=1.0),
        walk(lambda *t: in_tool_axes(*t, sine=True)),
        walk(gain=0, fixed=0.001, steps=80),
        walk(gain=0.01, cap=0.2, steps=60),
        lambda *t: around(walk()(*t)),
        lambda *t: np.float32(walk()(*t)),
        lambda *t: np.round(walk()(*t), 6).tolist(),
        lambda *t: walk()(*t) + 2 * PI,
    ],
    mistakes=told(aim_wrong, AIM_SAYS),
)


# ---------------------------------------------------------------- 4. the line that mixes frames

COBOT = load_arm("cobot6")


def mix_cases(rng):
    """The author's own test pose, where all axes are parallel; then postures that tell."""
    straight, c = np.zeros(6), np.array([0.1, 0, 0])
    cases = [(straight, c, np.array([0.02, 0, -0.01, 0, 0.1, 0]), 0.1)]
    cases.append((np.array([0.3, 0.5, -0.4, 0.7, -0.6, 0.2]), c, np.full(6, 0.1), 0.1))
    for _ in range(6):
        q, c = rng.uniform(-2, 2, 6), rng.uniform(0.08, 0.2, 3) * rng.choice([-1, 1], 3)
        off = np.r_[rng.uniform(-0.1, 0.1, 3), rng.uniform(-0.6, 0.6, 3)]
        cases.append((q, c, off, float(rng.uniform(0.05, 0.3))))
    return [(q, c, goal_beside(q, c, off), damping) for q, c, off, damping in cases]


def goal_beside(q, c, off):
    """A pose of the tip, away from the one at q by the error `off`."""
    T = fk(COBOT, q) @ poses.pose(c)
    turned = Rotation.from_rotvec(off[3:]).as_matrix() @ T[:3, :3]
    return poses.pose(T[:3, 3] + off[:3], turned)


def tip_step(kind):
    """The given code with one part of it exchanged; kind "": repaired."""
    levers = {
        "given": lambda R, p, c: c,
        "transposed": lambda R, p, c: R.T @ c,
        "origin": lambda R, p, c: p + R @ c,
        "sign": lambda R, p, c: -R @ c,
        "none": lambda R, p, c: 0 * c,
    }

    def step(q, c, T_goal, damping):
        T, J = fk(COBOT, q), jacobian(COBOT, q, frame="tool")
        R, p = T[:3, :3], T[:3, 3]
        lever = levers.get(kind, lambda R, p, c: R @ c)(R, p, c)
        Jw = J[3:] if kind == "angular half" else R @ J[3:]
        Jv = R @ J[:3] + np.cross(Jw, lever, axis=0)
        omega = Rotation.from_matrix(R.T @ T_goal[:3, :3]).as_rotvec()
        omega = omega if kind == "rotation vector" else R @ omega
        tip = p + (c if kind == "tip" else R @ c)
        return damped(np.vstack([Jv, Jw]), np.r_[T_goal[:3, 3] - tip, omega], damping**2)

    return step


REPAIRED = tip_step("")


def says(line, step):
    """An answer that names `line`."""
    return lambda *case: (line, step(*case))


def by_adjoint(q, c, T_goal, damping):
    """The twist carried from flange to tip."""
    J = poses.adjoint(poses.inverse(poses.pose(c))) @ jacobian(COBOT, q, "tool")
    T = fk(COBOT, q) @ poses.pose(c)
    return damped(J, np.kron(np.eye(2), T[:3, :3].T) @ poses.error(T, T_goal), damping**2)


def same_line_and_step(answer, expected, args):
    line, step = parts(answer, ("the number of the line", ()), ("the step dq", (6,)))
    right_line, right_step = float(expected[0]), np.asarray(expected[1], float)
    said = close(CLOSE)(step, right_step)
    if line != right_line:
        return "Your step is right; the line is another one." if said is None else "Another line."
    return None if said is None else f"The line is right, the step is not. {said}"


SOUND = {  # why each other line is no mixture
    1: "Line 1 only makes the pose of the flange.",
    2: "Line 2 takes the pose apart; nothing is added yet.",
    3: "Line 3 is sound: R takes c from flange axes to world axes before it is added to p.",
    4: "Line 4 is in flange axes as a whole. That is a frame, not a mixture.",
    5: "Line 5 is sound: it turns the angular half to world axes.",
    6: "Line 6 is sound: it turns the linear half to world axes.",
    8: "Line 8 is the turn from flange to goal, all of it in flange axes.",
    9: "Line 9 is sound: R takes the rotation vector from flange axes to world axes.",
    10: "Line 10 stacks two halves that are both in world axes by then.",
    11: "Line 11 stacks what the lines before it made. The mixture is in one of those.",
    12: "Line 12 is the damped step; it holds in every frame.",
}
MEND_SAYS = {
    "given": "You name the right line, but the step is still that of the given code. What brings"
    " its two parts into one frame?",
    "transposed": "The right line, and c has to be turned; but Rᵀ goes from world axes to flange"
    " axes, where c is already.",
    "origin": "The right line and frame. But the lever begins at the flange, not at the origin.",
    "sign": "The right line, and c is turned. The lever's sign is wrong: v_tip = v + ω × (R c).",
    "none": "You left the lever out. A flange that turns moves the tip: v_tip = v + ω × (R c).",
    "angular half": "You mended the lever and lost the turn of J[3:], which is in flange axes.",
    "tip": "The Jacobian is mended, but now the tip is p + c, of two frames. p + R c was right.",
    "rotation vector": "The lever is mended, but your rotation vector stays in flange axes while"
    " all the rest is in world axes. Line 9 was right.",
}

MIX = Exercise(
    "mended",
    points=2,
    cases=mix_cases,
    truth=says(7, REPAIRED),
    compare=same_line_and_step,
    alternatives=[
        says(7, by_adjoint),
        says(7.0, REPAIRED),
        lambda *case: [7, by_adjoint(*case).tolist()],
        lambda *case: (np.int64(7), np.float32(REPAIRED(*case))),
        lambda *case: (np.array([7]), tuple(np.round(by_adjoint(*case), 6))),
        lambda *case: np.array([7, by_adjoint(*case)], dtype=object).tolist(),
    ],
    mistakes=[
        *(Mistake(says(n, REPAIRED), f"Your step is right. {why}") for n, why in SOUND.items()),
        *(
            Mistake(says(n, tip_step("given")), f"Your step is still the given one. {why}")
            for n, why in SOUND.items()
        ),
        *told(lambda kind: says(7, tip_step(kind)), MEND_SAYS),
    ],
)


# ---------------------------------------------------------------- 5. which posture, which turn

IRB140 = Arm(
    "IRB 140",
    "standard",
    a=[0.07, 0.36, 0, 0, 0, 0],
    alpha=[-PI / 2, 0, -PI / 2, PI / 2, -PI / 2, 0],
    d=[0.352, 0, 0, 0.38, 0, 0.065],
    theta=np.zeros(6),
    q_min=np.radians([-180, -100, -220, -200, -120, -400]),
    q_max=np.radians([180, 100, 60, 200, 120, 400]),
    qd_max=np.radians([200, 200, 260, 360, 360, 450]),
)


def choice_cases(rng):
    """solutions, q, q_min, q_max, qd_max: telling ones of two joints, then eight of an IRB 140."""
    wide = [6.98, 3.1]
    small = [
        ([[0.5, 0.1], [0.1, 0.9]], [0, 0], [3, 3], [0.5, 3]),  # the far one is the quick one
        ([[-0.3, 0.2], [2.5, 0.2]], [5.0, 0], wide, [1, 1]),  # a full turn on is near
        ([[0, -3.0], [0, 0.5]], [0, 3.0], wide, [1, 1]),  # the short way is blocked
        ([[0.9, 0], [-1.0, 3.1]], [6.5, 0], [6.98, 3], [1, 1]),  # not the nearest turn, but allowed
        ([[0.2, 3.0], [1.5, 0.1]], [0, 0], [3, 2], [1, 1]),  # the near one breaks a limit
        ([[-1.0, 2.0], [0.5, 3.0]], [0, 2.5], [3, 2.0], [1, 1]),  # exactly at a limit
        ([[1.0, 1.0], [1.05, 0.1]], [0, 0], [3, 3], [1, 1]),  # neither the sum of the times
        ([[1.0, 0.5], [1.3, 0.1]], [0, 0], [3, 3], [1, 1]),  # nor the length of their vector
        ([[0.3, 2.9], [-2.8, 0.3]], [0, 0], [2, 2], [1, 1]),  # none is allowed
        ([[0.8, 0.1], [0.1, 1.0]], [0, 0], [3, 3], [2, 0.5]),  # the longer way is the quicker one
        ([[1.0003, 0], [-0.9, 2]], [0, 0], [1, 3], [1, 1]),  # a little beyond a limit
        ([[1.0, 0.9], [1.2, 0.1]], [0, 0], [3, 3], [2, 0.5]),  # the longest way is there first
        ([[1.04, 0], [1.01, 0]], [0, 0], [3, 3], [1, 1]),  # nearly as quick
        ([[0.1] * 5 + [1.0], [0.5] * 3 + [0.1] * 3], [0] * 6, [3] * 6, [1] * 6),  # the last decides
    ]
    cases = [
        tuple(np.array(v, float) for v in (rows, q, -np.array(top), top, speed))
        for rows, q, top, speed in small
    ]
    while len(cases) < len(small) + 6:
        goal, q = rng.uniform(IRB140.q_min, IRB140.q_max, (2, 6))
        rows = ik.closed_form(IRB140, fk(IRB140, goal))
        if len(rows) == 8:
            cases.append((rows, q, IRB140.q_min, IRB140.q_max, IRB140.qd_max))
    return cases


TURNS = 2 * PI * np.arange(-2, 3)


def soonest(solutions, q, q_min, q_max, qd_max):
    """Every row in every allowed turn of each joint; joint by joint the nearest."""
    best, least = [], np.inf
    for row in solutions:
        turned = row[:, None] + TURNS
        allowed = (turned >= q_min[:, None] - 1e-9) & (turned <= q_max[:, None] + 1e-9)
        way = np.where(allowed, np.abs(turned - q[:, None]), np.inf)
        time = (way.min(axis=1) / qd_max).max()
        if time < least:
            best, least = turned[np.arange(len(q)), way.argmin(axis=1)], time
    return best


def fault_of_choice(answer, solutions, q, q_min, q_max, qd_max):
    """None if the answer is one of the quickest allowed; else why not."""
    best = soonest(solutions, q, q_min, q_max, qd_max)
    if len(best) == 0:
        return "No posture is allowed in any turn: return an empty list." if len(answer) else None
    if len(answer) == 0:
        return "There is an allowed posture. Did you look at every turn of each joint?"
    if (answer < q_min - CLOSE).any() or (answer > q_max + CLOSE).any():
        return "A joint is outside its limits."
    if not (np.abs(around(answer - solutions)).max(axis=1) < CLOSE).any():
        return "That is none of the solutions, in no turn."
    times = [np.max(np.abs(goal - q) / qd_max) for goal in (answer, best)]
    if times[0] < times[1] + CLOSE / np.min(qd_max):
        return None
    return f"It takes {times[0]:.3f} s; there is an allowed one that takes {times[1]:.3f} s."


def same_choice(answer, expected, args):
    """By work, if `expected` is right; else the same angles."""
    read = lambda v: np.empty(0) if np.size(v) == 0 else as_numbers(v, args[1].shape, "the posture")
    q, other = read(answer), read(expected)
    if fault_of_choice(other, *args) is None:
        return fault_of_choice(q, *args)
    same = q.shape == other.shape and (np.abs(q - other) < CLOSE).all()
    return None if same else "Another posture."


def all_turns(row, q, q_min, q_max):
    """Every allowed combination of full turns, by brute force."""
    each = [[x for x in r + TURNS if a <= x <= b] for r, a, b in zip(row, q_min, q_max)]
    return map(np.array, product(*each))


def choice(cost=None, turns=all_turns, allowed=True, pick=min, inside=np.less_equal, wrap=None):
    """A choice by brute force among the turns of all rows, with one part exchanged."""
    cost = cost or (lambda way, qd_max: np.max(way / qd_max))

    def answer(solutions, q, q_min, q_max, qd_max):
        found = []
        for row in solutions:
            for goal in turns(row, q, q_min, q_max):
                if not allowed or (inside(q_min, goal) & inside(goal, q_max)).all():
                    way = np.abs((wrap or np.array)(goal - q))
                    found.append((cost(way, qd_max), goal))
        return pick(found, key=lambda pair: pair[0])[1] if found else []

    return answer


WIDER = lambda low, high: low <= high + 1e-3
as_given = lambda row, q, q_min, q_max: [row]
nearest_turn = lambda row, q, q_min, q_max: [q + around(row - q)]
WRONG_CHOICE = {
    "no limits": choice(turns=as_given, allowed=False),
    "as given": choice(turns=as_given),
    "nearest": choice(cost=lambda way, qd_max: np.linalg.norm(way)),
    "longest way": choice(cost=lambda way, qd_max: np.max(way)),
    "sum": choice(cost=lambda way, qd_max: np.sum(way / qd_max)),
    "norm": choice(cost=lambda way, qd_max: np.linalg.norm(way / qd_max)),
    "times speed": choice(cost=lambda way, qd_max: np.max(way * qd_max)),
    "first there": choice(cost=lambda way, qd_max: np.min(way / qd_max)),
    "through the stop": choice(turns=as_given, wrap=around),
    "gives up": choice(turns=nearest_turn),
    "open": choice(inside=np.less),
    "widened": choice(
        turns=lambda row, q, a, b: all_turns(row, q, a - 1e-3, b + 1e-3), inside=WIDER
    ),
    "its time": choice(cost=lambda way, qd_max: (way / qd_max)[np.argmax(way)]),
    "rounded": choice(cost=lambda way, qd_max: np.round(np.max(way / qd_max), 1)),
    "arm alone": choice(cost=lambda way, qd_max: np.max((way / qd_max)[:3])),
    "first": choice(pick=lambda found, key: found[0]),
    "clipped": choice(turns=lambda row, q, q_min, q_max: [np.clip(row, q_min, q_max)]),
    "degrees": lambda *case: np.degrees(soonest(*case)),
}
CHOICE_SAYS = {
    "no limits": "You don't look at the limits. Leave out what breaks one, then choose.",
    "as given": "You take the angles as they are given, within ±180°. A joint with wider limits"
    " reaches the same posture a full turn further on, and that may be near.",
    "nearest": "You measure in radians, by the length of q - now. Joints have different speeds;"
    " the one that takes longest decides.",
    "longest way": "You compare the longest ways in radians. A slow joint on a short way may take"
    " longer: divide by its speed.",
    "sum": "You add the times up. The joints move at the same time: the slowest decides.",
    "norm": "You take the length of the vector of times. The slowest joint alone decides.",
    "times speed": "You multiply by the speeds. A faster joint takes *less* time: divide.",
    "first there": "The joint that is there first decides for you. The last one should.",
    "through the stop": "You measure the short way round. A joint with a stop can't go through"
    " it: choose the turn first, then measure straight.",
    "gives up": "You take the turn nearest to q, and give the posture up if this breaks a limit."
    " Another turn of that joint may be allowed.",
    "open": "You leave out a joint that stands exactly at its limit. That is allowed.",
    "widened": "You let a joint go a little beyond its limit. A drive refuses that.",
    "its time": "You take the time of the joint with the longest way. A slower joint with a shorter"
    " way may need longer.",
    "rounded": "You round the times to a tenth before you compare. The quicker one gets lost.",
    "arm alone": "You look at joints 1 to 3. The wrist may be what takes longest.",
    "first": "You return the first that is allowed. Another may be quicker.",
    "clipped": "You clip angles into the limits. A clipped posture brings the tool elsewhere.",
    "degrees": IN_DEGREES,
}

CHOICE = Exercise(
    "soonest",
    points=2,
    cases=choice_cases,
    truth=soonest,
    compare=same_choice,
    alternatives=[
        choice(),
        choice(cost=lambda way, qd_max: np.linalg.norm(way / qd_max, np.inf)),
        lambda *case: tuple(choice()(*case)),
        lambda *case: np.float32(soonest(*case)),
        lambda *case: np.round(soonest(*case), 6),
        lambda rows, *rest: choice()(rows[::-1], *rest),
        lambda rows, *rest: choice()(rows + 2 * PI * (-1) ** np.arange(rows.shape[1]), *rest),
    ],
    mistakes=told(WRONG_CHOICE.get, CHOICE_SAYS),
)

EXERCISES = [LIFTER, STEP, AIM, MIX, CHOICE]
