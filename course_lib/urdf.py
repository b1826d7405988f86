"""How does an arm get into a URDF file, and back?  Writing, reading and the frames in between.

Public names: `to_urdf`, `from_urdf`.

A DH frame and a URDF joint frame are not the same thing. URDF puts the frame of joint i, and with
it the frame of the link that it moves, *on the axis of joint i*:

    T_parent_child(q) = Trans(xyz) Rz(yaw) Ry(pitch) Rx(roll) · Rot(axis, q)

Standard DH puts frame i at the *far* end of link i, on the axis of joint i + 1. So of each row
A_i = Rz(theta) Tz(d) Tx(a) Rx(alpha) everything that comes after the turn by q goes into the *next*
joint's origin, and the last row goes into the tool. A modified row Rx(alpha) Tx(a) Rz(theta) Tz(d)
comes before the turn and is the origin of its own joint. There alpha and theta turn about the
*moved* axes, while rpy turns about fixed ones: rpy = (alpha, 0, theta) is wrong as soon as both
differ from zero. Build the matrix, then read rpy off it.

In the other direction a URDF axis is any line in space, and DH rows are found from the common
normals of each axis with the next; what is left at both ends goes into base and tool.
"""

from __future__ import annotations

import difflib
import warnings
from dataclasses import replace
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from course_lib.arm import Arm, links_as_capsules, solid_inertia
from course_lib.dh import dh_matrix, mdh_matrix
from course_lib.kinematics import fk, link_frames
from course_lib.poses import inverse, pose
from course_lib.urdf_check import RULES, Robot, end, inertia_of, numbers, origin_of, read_xml

NO_LIMIT = 1e9  # written where an arm has no limit, since URDF demands a number; read back as none
PARALLEL = 10.0 ** np.arange(-14, -5)  # [rad] angles below which axes may count as parallel
DENSITY = 1000.0  # [kg/m^3] of solid links, where an arm has no masses (the default of MuJoCo, too)
TREE_RULES = "not-a-robot no-links unknown-link duplicate-name self-loop two-parents loop two-roots"


# ---------------------------------------------------------------- writing


def to_urdf(arm: Arm) -> str:
    """The arm as URDF text: links `base_link`, `link_1` … `tcp`; joints `joint_1` … `tool`.

    A base pose that is not the identity becomes a fixed joint from a link `world`. Each link is
    drawn and collides as its capsule's cylinder (a sphere where it has no length). Inertia comes
    from the arm; without it a link is solid, without masses of 1000 kg/m^3, and the file says so. A
    revolute joint without limits becomes `continuous`; any other missing limit is written as 1e9.
    Poses survive `from_urdf(to_urdf(arm))` to 1e-12; URDF has no place for convention and qdd_max.
    """
    bodies = _bodies(arm)
    guess = f" The arm has no masses: links are solid, {DENSITY:g} kg/m^3."
    lines = [
        '<?xml version="1.0"?>',
        f"<!-- {arm.n} joints; metres, radians, kilograms.{guess if arm.mass is None else ''} -->",
        f"<robot name={quoteattr(arm.name)}>",
    ]
    if not np.array_equal(arm.base, np.eye(4)):
        base = _joint("base", "fixed", "world", "base_link", arm.base)
        lines += ['  <link name="world"/>', *base]
    lines += ['  <link name="base_link"/>']
    before, after = _around_each_joint(arm)
    rest, parent = np.eye(4), "base_link"
    for i in range(arm.n):
        lines += _link(f"link_{i + 1}", *bodies[i])
        kind, limit = _type_and_limit(arm, i)
        lines += _joint(f"joint_{i + 1}", kind, parent, f"link_{i + 1}", rest @ before[i], limit)
        rest, parent = after[i], f"link_{i + 1}"
    tool = _joint("tool", "fixed", parent, "tcp", rest @ arm.tool)
    return "\n".join([*lines, '  <link name="tcp"/>', *tool, "</robot>", ""])


def _around_each_joint(arm):
    """(n, 4, 4) twice: of each row what comes before, and what after, the motion in its joint."""
    row = (arm.a, arm.alpha, arm.d, arm.theta)
    still = np.tile(np.eye(4), (arm.n, 1, 1))
    return (still, dh_matrix(*row)) if arm.convention == "standard" else (mdh_matrix(*row), still)


def _bodies(arm):
    """Of each link, in its URDF frame: start and end of its capsule, radius, mass, com, inertia."""
    start, end = links_as_capsules(arm)
    length = np.linalg.norm(end - start, axis=1)
    volume = np.where(length > 1e-9, np.pi * arm.radius**2 * length, 4 / 3 * np.pi * arm.radius**3)
    mass = DENSITY * volume if arm.mass is None else arm.mass
    com = (start + end) / 2 if arm.com is None else arm.com
    inertia = arm.inertia
    if arm.mass is None or inertia is None:
        inertia = [solid_inertia(*link) for link in zip(mass, arm.radius, end - start)]
    after = _around_each_joint(arm)[1]
    R, p = after[:, :3, :3], after[:, :3, 3]
    start, end, com = ((R @ v[..., None])[..., 0] + p for v in (start, end, com))
    return list(zip(start, end, arm.radius, mass, com, R @ inertia @ np.swapaxes(R, -1, -2)))


def _type_and_limit(arm, i):
    kind, low, high = arm.joint_types[i], arm.q_min[i], arm.q_max[i]
    effort = _number(NO_LIMIT if arm.tau_max is None else arm.tau_max[i])
    limit = f'effort="{effort}" velocity="{_number(min(arm.qd_max[i], NO_LIMIT))}"'
    if kind == "revolute" and np.isinf(low) and np.isinf(high):
        return "continuous", f"<limit {limit}/>"
    low, high = np.clip([low, high], -NO_LIMIT, NO_LIMIT)
    return kind, f'<limit lower="{_number(low)}" upper="{_number(high)}" {limit}/>'


def _joint(name, kind, parent, child, T, limit=None):
    lines = [f'  <joint name="{name}" type="{kind}">', f"    {_origin(T)}"]
    lines += [f'    <parent link="{parent}"/>', f'    <child link="{child}"/>']
    if limit:
        lines += ['    <axis xyz="0 0 1"/>', f"    {limit}"]
    return [*lines, "  </joint>"]


def _link(name, start, end, radius, mass, com, inertia):
    from scipy.spatial.transform import Rotation  # here: it takes a quarter of a second

    length = np.linalg.norm(end - start)
    shape, turn = f'<sphere radius="{_number(radius)}"/>', None
    if length > 1e-9:
        shape = f'<cylinder radius="{_number(radius)}" length="{_number(length)}"/>'
        turn = Rotation.align_vectors([(end - start) / length], [[0, 0, 1]])[0]
    body = f"      {_origin(pose((start + end) / 2, turn))}", f"      <geometry>{shape}</geometry>"
    both = ("visual", "collision")
    drawn = [line for tag in both for line in (f"    <{tag}>", *body, f"    </{tag}>")]
    six = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
    small = 1e-15 * np.trace(inertia)
    values = " ".join(f'{key}="{_number(inertia[at], small)}"' for key, at in six.items())
    return [
        f'  <link name="{name}">',
        *drawn,
        "    <inertial>",
        f"      {_origin(pose(com))}",
        f'      <mass value="{_number(mass)}"/>',
        f"      <inertia {values}/>",
        "    </inertial>",
        "  </link>",
    ]


def _origin(T):
    xyz, rpy = (" ".join(map(_number, three)) for three in (T[:3, 3], _rpy(T[:3, :3])))
    return f'<origin xyz="{xyz}" rpy="{rpy}"/>'


def _number(x, small=1e-15):
    return "0" if abs(x) < small else f"{x:.15g}"


def _rpy(R):
    """Roll, pitch, yaw with R = Rz(yaw) Ry(pitch) Rx(roll), exact at pitch = +-90 degrees, too.

    There roll and yaw are not unique: any yaw will do if roll is read off what yaw has left over.
    """
    from scipy.spatial.transform import Rotation  # here: it takes a quarter of a second

    yaw = np.arctan2(R[1, 0], R[0, 0])
    left = Rotation.from_euler("z", -yaw).as_matrix() @ R
    return np.arctan2(-left[1, 2], left[1, 1]), np.arctan2(-left[2, 0], left[0, 0]), yaw


# ---------------------------------------------------------------- reading


def from_urdf(path: str | Path, tip: str | None = None) -> Arm:
    """Read the serial chain from the root link to link `tip` as an `Arm`.

    The table is standard DH; the world is the root link and the tool is the tip. `tip` may be left
    out where the moving joints lead to one last link only. Fixed joints are folded in. Joints
    beside the chain are held at zero, and their links ride along. Shapes are not read: `radius` is
    the default. `mass`, `com`, `inertia` are None unless every moving link has a mass; a speed or
    effort of 0 or 1e9 means that none is known. FK agrees with the file to 1e-9; to 1e-7 where
    consecutive axes are 1e-10 to 1e-6 rad off parallel (as with rpy 3.14159265), since no DH table
    in double precision holds that better.
    `ValueError` names file, line and element: a broken tree, an unknown or open tip, and in the
    chain whatever has no place in an `Arm` (mimic, floating and planar joints, missing limits).

    >>> from course_lib.arm_file import ARMS
    >>> from_urdf(ARMS.parent / "urdf" / "good" / "scara.urdf").joint_types
    ('revolute', 'revolute', 'prismatic', 'revolute')
    """
    robot = Robot(read_xml(path), Path(path))
    chain = _chain(robot, tip)
    moving = [joint for joint in chain if joint.get("type") != "fixed"]
    axis = {joint: axis / np.linalg.norm(axis) for _, joint, axis in robot.axes if joint in moving}
    poses, T = [], np.eye(4)
    for joint in chain:
        T = T @ origin_of(joint)
        poses += [T] if joint in moving else []
    types = tuple("prismatic" if j.get("type") == "prismatic" else "revolute" for j in moving)
    with warnings.catch_warnings(action="ignore"):  # a d of 400 m is right near parallel axes
        rows = _best_rows(poses, [axis[joint] for joint in moving], T, types)
        table = Arm("", "standard", joint_types=types, **rows)
        bodies = _carried_bodies(robot, moving, link_frames(table, np.zeros(table.n))[1:])
        try:
            return replace(table, name=robot.root.get("name", ""), **_limits(moving), **bodies)
        except ValueError as error:
            raise robot.root.error("value", str(error)) from None


def _chain(robot, tip):
    """Joints from the root to link `tip`, in order, or the reason why there is no such chain."""
    _refuse(robot, TREE_RULES)
    if tip is None:
        parents = {joint.find("parent").get("link") for joint in robot.joints}
        ends = [name for name in robot.link if name not in parents and robot.is_moved(name)]
        if len(ends) != 1:
            reason = f"the chain may end in any of {ends}: name one as tip"
            raise robot.root.error("tip", reason if ends else "no moving joint")
        tip = ends[0]
    if not robot.is_moved(tip):
        known = [name for name in robot.link if robot.is_moved(name)]
        near = difflib.get_close_matches(str(tip), known, n=3) or known[-3:]
        reason = f"tip {tip!r}: expected one of {len(known)} links that move, as {near}"
        raise robot.root.error("tip", reason)
    chain = robot.path_up(tip)[::-1]
    rules = "joint-type axis-zero limit-missing limit-order"
    _refuse(robot, rules, {joint.where for joint in chain})
    for joint in chain:
        kind = joint.get("type")
        if kind in (None, "floating", "planar"):
            why = f"a {kind or 'typeless'} joint in the chain, which an Arm cannot hold"
            raise joint.error("joint-type", why)
        if joint.find("mimic") is not None:
            raise joint.error("mimic", "follows another joint (mimic), which an Arm cannot hold")
        for node in joint.findall("axis"):
            numbers(node, "xyz", 3)
    return chain


def _refuse(robot, names, places=None):
    """Raise the first fault that one of these rules finds; only in these elements, if any."""
    for name in names.split():
        for node, message in RULES[name].faults(robot):
            if places is None or node.where.partition(" / ")[0] in places:
                raise node.error(name, message)


def _limits(moving):
    columns = {"q_min": [], "q_max": [], "qd_max": [], "tau_max": [], "qdd_max": []}
    for joint in moving:
        limit = joint.find("limit")
        keys = ("lower", "upper", "velocity", "effort", "acceleration")
        read = [0.0 if limit is None else numbers(limit, key, 1, 0.0)[0] for key in keys]
        if joint.get("type") == "continuous":
            read[:2] = -NO_LIMIT, NO_LIMIT
        read[2:] = (rate if rate > 0 else NO_LIMIT for rate in read[2:])
        for column, value in zip(columns.values(), read):
            column.append(value if abs(value) < NO_LIMIT else np.copysign(np.inf, value))
    if np.isinf(columns["tau_max"]).any():
        columns["tau_max"] = None
    return columns


def _best_rows(poses, axes, T_tip, joint_types):
    """DH table, base and tool: of the tables that keep the file's poses to 1e-9, the shortest d.

    The common normal of two almost parallel axes lies far away (.4 m apart, 1e-6 rad: 400 km), so
    that d is huge. They count as parallel if that changes poses by less than 1e-9, or by no more
    than rounding with a huge d does.
    """
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (20, len(axes)))
    truth = _product(poses, axes, T_tip, joint_types, q)
    tables = [_rows(poses, axes, T_tip, parallel) for parallel in PARALLEL]
    arms = [Arm("", "standard", joint_types=joint_types, **rows) for rows in tables]
    errors = [np.abs(fk(arm, q) - truth).max() for arm in arms]
    good = [rows for rows, error in zip(tables, errors) if error <= max(1e-9, 3 * min(errors))]
    return min(good, key=lambda rows: np.abs(rows["d"]).max())


def _product(poses, axes, T_tip, joint_types, q):
    """Tip poses (N, 4, 4) straight from the file's own transforms."""
    from scipy.spatial.transform import Rotation  # here: it takes a quarter of a second

    result, before = np.eye(4), np.eye(4)
    for here, axis, kind, q_i in zip(poses, axes, joint_types, q.T):
        motion = q_i[:, None] * axis
        turns = kind == "revolute"
        motion = pose(rotation=Rotation.from_rotvec(motion)) if turns else pose(motion)
        result, before = result @ (inverse(before) @ here) @ motion, here
    return result @ (inverse(before) @ T_tip)


def _rows(poses, axes, T_tip, parallel):
    """a, alpha, d, theta, base, tool of standard DH, from the axes' lines at q = 0."""
    frame = base = _first_frame(poses[0], axes[0])
    rows = []
    for here, axis in zip(poses[1:], axes[1:]):
        rows.append(_row_to(inverse(frame) @ here, axis, parallel))
        frame = frame @ dh_matrix(*rows[-1])
    last = inverse(frame) @ T_tip
    theta = np.arctan2(last[1, 0], last[0, 0])
    a = last[0, 3] * np.cos(theta) + last[1, 3] * np.sin(theta)
    rows.append((a, np.arctan2(last[2, 1], last[2, 2]), last[2, 3], theta))
    tool = inverse(dh_matrix(*rows[-1])) @ last
    table = np.array(rows).T
    table[np.abs(table) < 1e-15] = 0.0
    table[table == -np.pi] = np.pi
    tidy = [np.eye(4) if np.abs(T - np.eye(4)).max() < 1e-14 else T for T in (base, tool)]
    return dict(zip(("a", "alpha", "d", "theta", "base", "tool"), [*table, *tidy]))


def _first_frame(T, axis):
    """z on the first axis, origin where it passes closest to the root's, x close to its x."""
    z, p = T[:3, :3] @ axis, T[:3, 3]
    near = np.eye(3)[int(abs(z[0]) > 0.9)]
    x = near - (near @ z) * z
    x /= np.linalg.norm(x)
    return pose(p - (p @ z) * z, np.column_stack([x, np.cross(z, x), z]))


def _row_to(T, axis, parallel):
    """(a, alpha, d, theta) along the common normal of this frame's z and the line of `axis` in T.

    Seen from this frame: z is (0, 0, 1) and the other line passes through p with direction u.
    """
    p, u = T[:3, 3], T[:3, :3] @ axis
    across = np.hypot(u[0], u[1])
    if across < parallel:
        a, alpha = np.hypot(p[0], p[1]), 0.0 if u[2] > 0 else np.pi
        return (a, alpha, 0.0, np.arctan2(p[1], p[0])) if a > 1e-10 else (0.0, alpha, 0.0, 0.0)
    x = np.array([-u[1], u[0], 0.0]) / across
    a = p @ x
    if a < -1e-9 or abs(a) <= 1e-9 and x[0] < -1e-9:
        x, a = -x, -a
    d = p[2] - u[2] * (p[0] * u[0] + p[1] * u[1]) / across**2
    return a, np.arctan2(x[1] * u[0] - x[0] * u[1], u[2]), d, np.arctan2(x[1], x[0])


def _carried_bodies(robot, moving, frames):
    """mass, com, inertia of all that moves with each joint at q = 0, in `frames` (n, 4, 4).

    {} if what one of them moves has no mass.
    """
    groups, places = [[] for _ in moving], _places(robot, moving)
    for name, link in robot.link.items():
        (carrier, T), inertial = places[name], link.find("inertial")
        if carrier is not None and inertial is not None:
            groups[carrier].append((*_mass_and_inertia(inertial), T @ origin_of(inertial)))
    if not all(sum(mass for mass, _, _ in group) for group in groups):
        return {}
    merged = [_merged(group, inverse(frame)) for group, frame in zip(groups, frames)]
    return dict(zip(("mass", "com", "inertia"), map(list, zip(*merged))))


def _places(robot, moving):
    """{link's name: (number of the last of these joints above it or None, pose at q = 0)}."""
    number, places = {joint: i for i, joint in enumerate(moving)}, {}
    for name in robot.link:
        walk = []
        while name not in places and name in robot.above:
            walk.append(robot.above[name])
            name = end(walk[-1], "parent")
        here = places.setdefault(name, (None, np.eye(4)))
        for joint in reversed(walk):
            here = number.get(joint, here[0]), here[1] @ origin_of(joint)
            places[end(joint, "child")] = here
    return places


def _mass_and_inertia(inertial):
    mass, tensor = inertial.find("mass"), inertial.find("inertia")
    m = 0.0 if mass is None else numbers(mass, "value", 1)[0]
    return m, np.zeros((3, 3)) if tensor is None else inertia_of(tensor)


def _merged(parts, T_view):
    """Mass, com and inertia of welded bodies (mass, inertia, pose) as one, seen from another frame.

    Masses add, and each inertia is moved to the common centre (Steiner): I + m (r·r 1 - r rᵀ).
    """
    total = sum(mass for mass, _, _ in parts)
    poses = [T_view @ T for _, _, T in parts]
    com = sum(mass * T[:3, 3] for (mass, _, _), T in zip(parts, poses)) / total
    inertia = np.zeros((3, 3))
    for (mass, I, _), T in zip(parts, poses):
        R, r = T[:3, :3], T[:3, 3] - com
        inertia += R @ I @ R.T + mass * (r @ r * np.eye(3) - np.outer(r, r))
    return total, com, inertia
