"""Checkpoints of lesson 03: the origin of a modified row, an inertia, a rule, a faulty joint."""

import warnings
from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

from course_lib.check import Exercise, Mistake, in_degrees, in_mm, parts, same_items, turn_between
from course_lib.dh import dh_matrix, mdh_matrix

# ---------------------------------------------------------------- modified_origin


def rows(rng):
    H = np.pi / 2
    simple = [
        (0.3, 0.7, 0.2, 0.4),
        (0.1, -H, 0.3, 0.0),
        (0.0, 0.0, 0.2, 1.0),
        (0.2, H, 0.0, -2.0),
        (0.1, -H, 0.25, H),
    ]
    return simple + [
        tuple(map(float, rng.uniform((-1, -3, -1, -3), (1, 3, 1, 3)))) for _ in range(6)
    ]


def angles_of(R, sequence="xyz"):
    """Euler angles of a Rotation; at gimbal lock one of many, without SciPy's warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return R.as_euler(sequence)


def split(T, sequence="xyz"):
    return T[:3, 3], angles_of(Rotation.from_matrix(T[:3, :3]), sequence)


def modified_origin(a, alpha, d, theta):
    R = Rotation.from_euler("x", alpha) * Rotation.from_euler("z", theta)
    return [a, -d * np.sin(alpha), d * np.cos(alpha)], angles_of(R)


def same_origin(answer, expected, args):
    """Both as poses: many rpy say the same orientation."""
    wanted = ("xyz", (3,)), ("rpy", (3,))
    (xyz, rpy), (right_xyz, right_rpy) = parts(answer, *wanted), parts(expected, *wanted)
    matrix = lambda angles: Rotation.from_euler("xyz", angles).as_matrix()
    apart, off = turn_between(matrix(rpy), matrix(right_rpy)), np.linalg.norm(xyz - right_xyz)
    if not apart < 1e-6:
        return f"The orientation is {in_degrees(apart)} off."
    return None if off < 1e-9 else f"The orientation is right, xyz is off by {in_mm(off)}."


MODIFIED_ORIGIN = Exercise(
    "modified_origin",
    cases=rows,
    truth=modified_origin,
    compare=same_origin,
    mistakes=[
        Mistake(
            lambda a, alpha, d, theta: ([a, 0, d], [alpha, 0, theta]),
            "You copied the row: xyz = (a, 0, d), rpy = (alpha, 0, theta). Rpy turns about fixed"
            " axes, Rz(theta) Rx(alpha); the row turns in the other order, and its d goes along the"
            " tilted z.",
        ),
        Mistake(
            lambda a, alpha, d, theta: (modified_origin(a, alpha, d, theta)[0], [alpha, 0, theta]),
            "Your xyz is right, but rpy = (alpha, 0, theta) is Rz(theta) Rx(alpha). You need the"
            " angles of Rx(alpha) Rz(theta): build the matrix and read rpy off it, with SciPy's"
            ' small letters "xyz" (capitals turn about moving axes).',
        ),
        Mistake(
            lambda a, alpha, d, theta: ([a, 0, d], modified_origin(a, alpha, d, theta)[1]),
            "Your rpy is right, but the d goes along z after the tilt by alpha, so it also moves"
            " along y.",
        ),
        Mistake(
            lambda a, alpha, d, theta: split(dh_matrix(a, alpha, d, theta)),
            "This is the origin of a *standard* row. In a modified row the x screw (alpha, a) comes"
            " first.",
        ),
        Mistake(
            lambda a, alpha, d, theta: (
                split(mdh_matrix(a, alpha, d, theta))[0],
                split(mdh_matrix(a, alpha, d, theta), "ZYX")[1],
            ),
            "Your three angles come as yaw, pitch, roll. The file wants roll, pitch, yaw.",
        ),
        Mistake(
            lambda a, alpha, d, theta: (
                split(mdh_matrix(a, alpha, d, theta))[0],
                split(mdh_matrix(a, alpha, d, theta), "zyx")[1],
            ),
            'You asked SciPy for "zyx": first about z. A URDF turns about x first, then y, then z,'
            ' about fixed axes: "xyz".',
        ),
        Mistake(
            lambda a, alpha, d, theta: (
                modified_origin(a, alpha, d, theta)[0],
                np.degrees(modified_origin(a, alpha, d, theta)[1]),
            ),
            "Your angles are degrees; a URDF holds radians.",
        ),
        Mistake(
            lambda a, alpha, d, theta: (
                [a, d * np.sin(alpha), d * np.cos(alpha)],
                modified_origin(a, alpha, d, theta)[1],
            ),
            "The y of your xyz has the wrong sign: a positive alpha tips z towards -y.",
        ),
        Mistake(
            lambda a, alpha, d, theta: split(np.linalg.inv(mdh_matrix(a, alpha, d, theta))),
            "This is the inverse: the parent seen from the joint. An origin is the joint seen from"
            " the parent link.",
        ),
    ],
    alternatives=[
        lambda a, alpha, d, theta: split(mdh_matrix(a, alpha, d, theta)),
        lambda a, alpha, d, theta: (
            mdh_matrix(a, alpha, d, theta)[:3, 3].tolist(),
            angles_of(Rotation.from_euler("XZ", [alpha, theta])).tolist(),
        ),
        lambda a, alpha, d, theta: np.array(
            [
                mdh_matrix(a, alpha, d, theta)[:3, 3],
                split(mdh_matrix(a, alpha, d, theta), "ZYX")[1][::-1],
            ]
        ),
    ],
)

# ---------------------------------------------------------------- cylinder_along_x


def cylinders(rng):
    return [(1.5, 0.04, 0.25), (3.5, 0.05, 0.25), (2.0, 0.1, 0.02)] + [
        tuple(map(float, rng.uniform((0.2, 0.02, 0.05), (5, 0.2, 0.5)))) for _ in range(4)
    ]


def cylinder_along_x(mass, radius, length):
    around, across = mass * radius**2 / 2, mass * (radius**2 / 4 + length**2 / 12)
    return around, across, across


def about_z(mass, radius, length):
    return cylinder_along_x(mass, radius, length)[::-1]


CYLINDER_ALONG_X = Exercise(
    "cylinder_along_x",
    cases=cylinders,
    truth=cylinder_along_x,
    mistakes=[
        Mistake(
            about_z,
            "This is the cylinder that stands along z. Along x, the small moment of a slim cylinder"
            " is ixx.",
        ),
        Mistake(
            lambda m, r, l: (m * r**2 / 2, m * (r**2 / 4 + l**2 / 3), m * (r**2 / 4 + l**2 / 3)),
            "l²/3 is about the *end* of the link, where the joint is. `inertia` is about the centre"
            " of mass: l²/12.",
        ),
        Mistake(
            lambda m, r, l: (m * r**2, m * (r**2 / 2 + l**2 / 12), m * (r**2 / 2 + l**2 / 12)),
            "That is a thin tube: all its mass is in the wall. In a solid cylinder the mean of the"
            " squared distance is r²/2.",
        ),
        Mistake(
            lambda m, r, l: (m * r**2, *cylinder_along_x(m, r, l)[1:]),
            "iyy and izz are right. m r² is a tube with all its mass in the wall; in a solid"
            " cylinder the mean of ρ² is r²/2.",
        ),
        Mistake(
            lambda m, r, l: (
                m * r**2 / 8,
                m * (r**2 / 16 + l**2 / 12),
                m * (r**2 / 16 + l**2 / 12),
            ),
            "You took half the radius: as if the argument were a diameter.",
        ),
        Mistake(
            lambda m, r, l: (m * r**2 / 2, m * l**2 / 12, m * l**2 / 12),
            "For a thin rod, r is left out of iyy and izz. A link is not that thin: add r²/4.",
        ),
        Mistake(
            lambda m, r, l: (m * r**2 / 2, m * (r**2 / 2 + l**2 / 12), m * (r**2 / 2 + l**2 / 12)),
            "In iyy only z² of the disc counts, not all of ρ²: r²/4, not r²/2.",
        ),
        Mistake(
            lambda m, r, l: (m * r**2 / 2, m * (r**2 / 4 + l**2 / 12), m * r**2 / 2),
            "Two of the three must be equal, and those are the two across the axis: iyy and izz.",
        ),
        Mistake(
            lambda m, r, l: tuple(v / m for v in cylinder_along_x(m, r, l)),
            "The mass is missing: your numbers are in m², not in kg m².",
        ),
    ],
    alternatives=[
        lambda m, r, l: [m * r**2 / 2] + [m * (3 * r**2 + l**2) / 12] * 2,
        lambda m, r, l: (
            m * np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]]) @ [l**2 / 12, r**2 / 4, r**2 / 4]
        ),
    ],
)

# ---------------------------------------------------------------- suspicious_rpy


def file_with(origins, shape=""):
    """A chain of joints with these origins (text, "" for none)."""
    links = "".join(f'<link name="link_{i}">{shape}</link>' for i in range(len(origins) + 1))
    joints = "".join(
        f'<joint name="joint_{i + 1}" type="fixed"><parent link="link_{i}"/><child'
        f' link="link_{i + 1}"/>{text}</joint>'
        for i, text in enumerate(origins)
    )
    return f'<robot name="arm">{links}{joints}</robot>'


def rpy_files(rng):
    origin = lambda *rpy: f'<origin xyz="0.1 0 0.2" rpy="{rpy[0]} {rpy[1]} {rpy[2]}"/>'
    turned_shape = (
        '<visual><origin rpy="0 90 0"/><geometry><sphere radius="0.1"/></geometry></visual>'
    )
    simple = [
        file_with([origin(0, 0, 90), origin(0, 0, 1.57)]),
        file_with([origin(-90, 0, 0), origin(0, 180, 0), origin(3.14159, 0, 6.2831853)]),
        file_with(['<origin xyz="0 0 90"/>', "", origin(0, 0, -3.5), origin(0, -45, 0)]),
        file_with([origin(0, 0, 0), origin(1.5, -1.5, 0.3)]),
        file_with([origin(0, 0, 0), origin(0, 0, 4.7)], turned_shape),
    ]
    random = []
    for _ in range(4):
        angles = rng.uniform(-3.1, 3.1, (4, 3))
        angles[rng.integers(4), rng.integers(3)] = rng.choice([-1, 1]) * rng.choice(
            [30, 45, 60, 90, 120, 180]
        )
        random.append(file_with([origin(*row.round(4)) for row in angles]))
    return [(text,) for text in simple + random]


def rpy_of(joint):
    origin = joint.find("origin")
    return np.array((origin.get("rpy", "0 0 0") if origin is not None else "0 0 0").split(), float)


def by_test(test):
    """The rule with another test of the three angles."""
    return lambda text: [
        joint.get("name")
        for joint in ElementTree.fromstring(text).iter("joint")
        if test(rpy_of(joint))
    ]


def also_xyz(text):
    found = []
    for joint in ElementTree.fromstring(text).iter("joint"):
        origin = joint.find("origin")
        words = (
            []
            if origin is None
            else [*origin.get("xyz", "").split(), *origin.get("rpy", "").split()]
        )
        if any(abs(float(word)) > 6.3 for word in words):
            found.append(joint.get("name"))
    return found


def all_origins(text):
    robot, found = ElementTree.fromstring(text), []
    for element in (*robot.iter("joint"), *robot.iter("link")):
        if any(
            abs(float(word)) > 6.3
            for origin in element.iter("origin")
            for word in origin.get("rpy", "0").split()
        ):
            found.append(element.get("name"))
    return found


suspicious_rpy = by_test(lambda rpy: np.abs(rpy).max() > 2 * np.pi + 0.01)


def looked_into_links(answer, expected, args):
    if None in answer:
        return (
            "A name is None: you looked inside the links, too. The origin of a visual belongs to no"
            " joint."
        )
    return None


SUSPICIOUS_RPY = Exercise(
    "suspicious_rpy",
    cases=rpy_files,
    truth=suspicious_rpy,
    compare=same_items("names", "Named although it is sound"),
    diagnose=looked_into_links,
    mistakes=[
        Mistake(
            by_test(lambda rpy: rpy.max() > 6.3),
            "You only find positive angles. -90 is as suspicious as 90: use the absolute value.",
        ),
        Mistake(
            by_test(lambda rpy: abs(rpy[2]) > 6.3),
            "You look at yaw only. Roll and pitch can be in degrees as well.",
        ),
        Mistake(
            by_test(lambda rpy: np.abs(rpy).max() > np.pi + 1e-3),
            "An angle between π and 2π is no mistake: 4.7 rad is 270°. False alarms are what makes"
            " people switch a checker off.",
        ),
        Mistake(
            by_test(lambda rpy: np.abs(rpy).max() >= 90),
            "Degrees can be smaller than 90: 45° or 30° are as common.",
        ),
        Mistake(
            by_test(lambda rpy: np.abs(rpy).sum() > 6.3),
            "You add the three angles up. Each may be up to 2π by itself: take the largest.",
        ),
        Mistake(
            also_xyz,
            "You also look at xyz. A long distance is another fault, in metres, and another rule.",
        ),
        Mistake(
            all_origins,
            "You also name links. Asked are joints only; a visual has an origin, too, but it does"
            " not move the arm.",
        ),
        Mistake(
            lambda text: suspicious_rpy(text)[:1],
            "You stop at the first fault. A checker should name all of them.",
        ),
    ],
    alternatives=[
        lambda text: [
            joint.attrib["name"]
            for joint in ElementTree.fromstring(text)
            if joint.tag == "joint"
            and any(
                abs(float(word)) > 6.3
                for o in joint.findall("origin")
                for word in o.get("rpy", "0").split()
            )
        ],
        lambda text: sorted(suspicious_rpy(text), reverse=True),
        by_test(lambda rpy: (rpy**2).max() > 50),
    ],
)

# ---------------------------------------------------------------- faulty_joint

ALONE = np.vstack([np.zeros(3), 0.5 * np.eye(3)])
NAMES = ("shoulder", "elbow", "wrist")


def chain_text(origins, axes, order, tool):
    """Three moving joints in a row, a fixed one after the first, and a tool.

    order: that of the joints in the file.
    """
    links, parents = ["base", "upper", "mount", "fore", "hand", "tcp"], ("base", "mount", "fore")
    text = [
        f'<joint name="{name}" type="continuous"><parent link="{parent}"/><child'
        f' link="{child}"/><origin xyz="{words(origins[i][:3])}"'
        f' rpy="{words(origins[i][3:])}"/><axis xyz="{words(axes[i])}"/></joint>'
        for i, (name, parent, child) in enumerate(zip(NAMES, parents, ("upper", "fore", "hand")))
    ]
    text.append(
        '<joint name="tool" type="fixed"><parent link="hand"/><child link="tcp"/><origin'
        f' xyz="{words(tool)}"/></joint>'
    )
    text.append(
        '<joint name="plate" type="fixed"><parent link="upper"/><child link="mount"/><origin'
        ' xyz="0.1 0 0.03" rpy="0.3 0 0"/></joint>'
    )
    named = "".join(f'<link name="{link}"/>' for link in links)
    body = "\n".join(text[i] for i in order)
    return f'<robot name="three">{named}\n{body}\n</robot>'


def words(values):
    return " ".join(f"{value:g}" for value in values)


def tool_poses(text):
    """Poses of tcp (4, 4, 4) in the postures ALONE, from the file."""
    robot = ElementTree.fromstring(text)
    above = {joint.find("child").get("link"): joint for joint in robot.findall("joint")}
    poses, read = (
        np.tile(np.eye(4), (4, 1, 1)),
        lambda tag, key: np.array(tag.get(key, "0 0 0").split(), float),
    )
    order, link = [], "tcp"
    while link in above:
        order.insert(0, above[link])
        link = order[0].find("parent").get("link")
    angles = iter(ALONE.T)
    for joint in order:
        T, origin = np.eye(4), joint.find("origin")
        T[:3, :3], T[:3, 3] = (
            Rotation.from_euler("xyz", read(origin, "rpy")).as_matrix(),
            read(origin, "xyz"),
        )
        poses = poses @ T
        if joint.find("axis") is not None:
            axis = read(joint.find("axis"), "xyz")
            turn = np.tile(np.eye(4), (4, 1, 1))
            turn[:, :3, :3] = Rotation.from_rotvec(
                np.outer(next(angles), axis / np.linalg.norm(axis))
            ).as_matrix()
            poses = poses @ turn
    return poses


def measured_files(rng):
    cases = []
    for number, faulty in enumerate((1, None, 0, 2, 2, *rng.integers(0, 3, 3))):
        origins = np.column_stack(
            [rng.uniform(0.1, 0.4, (3, 3)), rng.choice([-1.5, 0, 0.5, 1.2], (3, 3))]
        ).round(3)
        axes = np.eye(3)[rng.integers(0, 3, 3)] * rng.choice([-1, 1], (3, 1))
        order = rng.permutation(5)
        on_axis = number == 4  # the tool on the last axis: only its orientation tells
        tool = 0.1 * axes[2] if on_axis else np.array([0.05, 0.02, 0.1])
        measured = tool_poses(chain_text(origins, axes, order, tool))
        wrong = axes.copy()
        if faulty is not None:
            wrong[faulty] = (
                -axes[faulty] if on_axis or rng.random() < 0.5 else np.roll(axes[faulty], 1)
            )
        cases.append((chain_text(origins, wrong, order, tool), measured))
    return cases


def faulty_joint(text, measured):
    gap = np.abs(tool_poses(text) - measured).max(axis=(1, 2))
    return NAMES[int(gap[1:].argmax())] if gap.max() > 1e-6 else "none"


def in_file_order(text, measured):
    names = [
        joint.get("name")
        for joint in ElementTree.fromstring(text).findall("joint")
        if joint.get("type") != "fixed"
    ]
    found = faulty_joint(text, measured)
    return found if found == "none" else names[NAMES.index(found)]


def by_position(text, measured):
    gap = np.linalg.norm(tool_poses(text)[:, :3, 3] - measured[:, :3, 3], axis=1)
    return NAMES[int(gap[1:].argmax())] if gap.max() > 1e-6 else "none"


def fixed_ones_counted(text, measured):
    found = faulty_joint(text, measured)
    return found if found == "none" else ("shoulder", "plate", "elbow")[NAMES.index(found)]


FAULTY_JOINT = Exercise(
    "faulty_joint",
    cases=measured_files,
    truth=faulty_joint,
    mistakes=[
        Mistake(
            in_file_order,
            "You count the joints in the order of the file. The order of the chain is made by"
            " parents and children alone.",
        ),
        Mistake(
            by_position,
            "You compared positions only. A tool on the axis of the last joint turns without"
            " moving.",
        ),
        Mistake(
            fixed_ones_counted,
            "You count a fixed joint as well. The postures are those of the three joints that"
            " move.",
        ),
        Mistake(
            lambda text, measured: "none",
            "The zero posture agrees, always: a wrong axis does not show there. Compare the other"
            " three postures.",
        ),
        Mistake(
            lambda text, measured: (
                faulty_joint(text, measured) if faulty_joint(text, measured) != "none" else NAMES[0]
            ),
            'One of the files is sound. If nothing differs, the answer is "none".',
        ),
        Mistake(
            lambda text, measured: {
                "none": "none",
                "shoulder": "elbow",
                "elbow": "wrist",
                "wrist": "tool",
            }[faulty_joint(text, measured)],
            "You name the joint *after* the one at fault. The first posture is all zero, so posture"
            " k turns joint k, counted from 1.",
        ),
    ],
    alternatives=[
        lambda text, measured: next(
            (
                name
                for name, a, b in zip(NAMES, tool_poses(text)[1:], measured[1:])
                if not np.allclose(a, b)
            ),
            "none",
        ),
        lambda text, measured: ("none", *NAMES)[
            int((np.linalg.norm(tool_poses(text) - measured, axis=(1, 2)) > 1e-8) @ np.arange(4))
        ],
    ],
)

EXERCISES = [MODIFIED_ORIGIN, CYLINDER_ALONG_X, SUSPICIOUS_RPY, FAULTY_JOINT]
