"""The judge of homework 03: URDF files to mend, weigh and check.

A case is the text of a URDF file, drawn from the seed; what comes back is judged by what it says,
not by how it is written. Solutions stand here in the open: the marks hang on hidden cases, and the
learning on you.
"""

from xml.etree import ElementTree

import numpy as np
from defusedxml.ElementTree import fromstring
from scipy.spatial.transform import Rotation

from course_lib.check import Exercise, Mistake, Unreadable, parts, same_items

FULL_TURN = 2 * np.pi + 1e-3
LARGEST = 200_000  # characters of an answer


def words(values):
    return " ".join(f"{value:.10g}" for value in np.ravel(values))


def three(element, tag, key, default="0 0 0"):
    """The three numbers <tag key="..."/> in an element."""
    found = element.find(tag)
    return np.array((default if found is None else found.get(key, default)).split(), float)


def turn_of(rpy):
    return Rotation.from_euler("xyz", rpy).as_matrix()


def origin(element):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = turn_of(three(element, "origin", "rpy")), three(element, "origin", "xyz")
    return T


# ---------------------------------------------------------------- 1. mend a file


def sound_arm(rng):
    """Joints and masses of a sound arm, with some numbers that only look wrong."""
    degrees = np.column_stack(
        [
            rng.choice([-90, -45, 30, 60, 90, 120], 4),
            rng.choice([0, 0, 30, 45], 4),
            rng.choice([-5, -3, 3, 5], 4),
        ]
    )
    degrees[3] = 0, 270, 0  # sound: 4.71 rad
    xyz = rng.choice([0.0, 0.08, 0.15, 0.25, 0.4], (4, 3))
    xyz[:, 2] += 0.05
    xyz[0, 0] = rng.choice([1.2, 2.5])  # sound: a long arm
    limits = np.column_stack([-rng.integers(30, 90, 4), rng.integers(95, 170, 4)])
    limits[1] = -350, 350  # sound: almost a full turn each way
    return {
        "rpy": np.radians(degrees),
        "xyz": xyz,
        "axis": np.eye(3)[rng.integers(0, 3, 4)] * rng.choice([-1, 1], (4, 1)),
        "limits": np.radians(limits),
        "mass": rng.uniform(0.5, 6, 4).round(2),
        "order": rng.permutation(4),
    }


def write(arm):
    """The arm's text: four links behind the base, the joints in any order."""
    lines = ['<?xml version="1.0"?>', '<robot name="found_on_a_disk">', '  <link name="base"/>']
    for i, mass in enumerate(arm["mass"]):
        lines += [
            f'  <link name="link_{i + 1}">',
            "    <inertial>",
            '      <origin xyz="0.1 0 0"/>',
            f'      <mass value="{mass:g}"/>',
            '      <inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/>',
            "    </inertial>",
            "  </link>",
        ]
    for i in arm["order"]:
        lines += [
            f'  <joint name="joint_{i + 1}" type="revolute">',
            f'    <parent link="{"base" if i == 0 else f"link_{i}"}"/>',
            f'    <child link="link_{i + 1}"/>',
            f'    <origin xyz="{words(arm["xyz"][i])}" rpy="{words(arm["rpy"][i])}"/>',
            f'    <axis xyz="{words(arm["axis"][i])}"/>',
            (
                f'    <limit lower="{arm["limits"][i][0]:.10g}" upper="{arm["limits"][i][1]:.10g}"'
                ' effort="40" velocity="2"/>'
            ),
            "  </joint>",
        ]
    return "\n".join([*lines, "</robot>"])


def in_degrees(arm, rng):
    i = rng.integers(3)
    arm["rpy"][i] = np.degrees(arm["rpy"][i]).round(6)


def limits_in_degrees(arm, rng):
    arm["limits"][rng.choice([0, 2, 3])] *= 180 / np.pi


def limits_swapped(arm, rng):
    i = rng.choice([0, 2, 3])
    arm["limits"][i] = arm["limits"][i][::-1].copy()


def in_millimetres(arm, rng):
    arm["xyz"][rng.integers(1, 4)] *= 1000


def negative_mass(arm, rng):
    arm["mass"][rng.integers(4)] *= -1


FAULTS = (in_degrees, limits_in_degrees, limits_swapped, in_millimetres, negative_mass)


def broken_files(rng):
    """Five files; each fault is in at least two of them, and each file has three."""
    texts = []
    for k in range(5):
        arm = sound_arm(rng)
        for j in (k, k + 1, k + 3):
            FAULTS[j % 5](arm, rng)
        texts.append((write(arm),))
    return texts


def change(element, tag, key, values):
    found = element.find(tag)
    if found is not None:
        found.set(key, words(values))


def mend_rpy(robot):
    for joint in robot.iter("joint"):
        if np.abs(three(joint, "origin", "rpy")).max() > FULL_TURN:
            change(joint, "origin", "rpy", np.radians(three(joint, "origin", "rpy")))


def mend_xyz(robot):
    for joint in robot.iter("joint"):
        if np.abs(three(joint, "origin", "xyz")).max() > 10:
            change(joint, "origin", "xyz", three(joint, "origin", "xyz") / 1000)


def mend_limits(robot, pair=lambda pair: sorted(pair), largest=FULL_TURN):
    for limit in robot.iter("limit"):
        values = np.array([float(limit.get("lower")), float(limit.get("upper"))])
        values = np.radians(values) if np.abs(values).max() > largest else values
        for key, value in zip(("lower", "upper"), pair(values)):
            limit.set(key, f"{value:.12g}")


def mend_mass(robot):
    for mass in robot.iter("mass"):
        mass.set("value", f"{abs(float(mass.get('value'))):.12g}")


def mender(*steps):
    """A function from text to text that takes these steps."""

    def mend(text):
        robot = ElementTree.fromstring(text)
        for step in steps:
            step(robot)
        return ElementTree.tostring(robot, encoding="unicode")

    return mend


mend = mender(mend_rpy, mend_xyz, mend_limits, mend_mass)


def large_angle_only(robot):
    for joint in robot.iter("joint"):
        rpy = three(joint, "origin", "rpy")
        change(joint, "origin", "rpy", np.where(np.abs(rpy) > FULL_TURN, np.radians(rpy), rpy))


def beyond_pi(robot):
    for joint in robot.iter("joint"):
        if np.abs(three(joint, "origin", "rpy")).max() > np.pi + 1e-3:
            change(joint, "origin", "rpy", np.radians(three(joint, "origin", "rpy")))


def beyond_a_metre(robot):
    for joint in robot.iter("joint"):
        if np.abs(three(joint, "origin", "xyz")).max() > 1:
            change(joint, "origin", "xyz", three(joint, "origin", "xyz") / 1000)


def negated(pair):
    return -np.asarray(pair) if pair[0] > pair[1] else pair


def by_words(text):
    """A right way without an XML library: line by line."""
    lines = []
    for line in text.splitlines():
        parts = line.split('"')
        if "<origin" in line and "rpy" in line:
            xyz, rpy = (np.array(part.split(), float) for part in (parts[1], parts[3]))
            parts[1] = words(xyz / 1000 if np.abs(xyz).max() > 10 else xyz)
            parts[3] = words(np.radians(rpy) if np.abs(rpy).max() > 6.3 else rpy)
        elif "<limit" in line:
            pair = np.array([parts[1], parts[3]], float)
            parts[1], parts[3] = (
                f"{value:.12g}"
                for value in sorted(np.radians(pair) if np.abs(pair).max() > 6.3 else pair)
            )
        elif "<mass" in line:
            parts[1] = parts[1].replace("-", "")
        lines.append('"'.join(parts))
    return "\n".join(lines)


def content(text):
    """What a file says of its joints and masses; Unreadable where it can't be read."""
    if not isinstance(text, str):
        raise Unreadable("Expected the mended file as one text.")
    if len(text) > LARGEST:
        raise Unreadable("The text is far longer than the file was.")
    try:
        robot = fromstring(text)
    except Exception as error:  # whatever a learner's text makes the parser say
        raise Unreadable(f"The text is no XML any more: {str(error)[:80]}.") from None
    try:
        joints = {joint.get("name"): joint_content(joint) for joint in robot.findall("joint")}
        masses = {link.get("name"): link_mass(link) for link in robot.findall("link")}
    except ValueError as error:
        raise Unreadable(f"A number can't be read: {str(error)[:60]}.") from None
    return joints, masses


def joint_content(joint):
    """(type, parent, child), and the numbers by their names."""
    ends = (joint.find(role) for role in ("parent", "child"))
    limit = joint.find("limit")
    pair = [0.0, 0.0] if limit is None else [float(limit.get(key, 0)) for key in ("lower", "upper")]
    return (joint.get("type"), *(None if end is None else end.get("link") for end in ends)), {
        "xyz": three(joint, "origin", "xyz"),
        "rpy": turn_of(three(joint, "origin", "rpy")),
        "axis": three(joint, "axis", "xyz", "1 0 0"),
        "limits": np.array(pair),
    }


def link_mass(link):
    mass = link.find("inertial/mass")
    return None if mass is None else float(mass.get("value"))


TOLD = {
    "xyz": "The xyz of {} is not right: {} m.",
    "rpy": "The rpy of {} is not right.",
    "axis": "The axis of {} has changed; it was right.",
    "limits": "The limits of {} are not right: {} rad.",
}


def same_file(answer, expected, args):
    """Compare what two files say, in the order in which one would look."""
    (joints, masses), (right, right_masses) = content(answer), content(expected)
    if set(joints) != set(right) or set(masses) != set(right_masses):
        return "Joints or links have got lost, or new names have come in."
    for name, (kind, numbers) in right.items():
        found_kind, found = joints[name]
        if found_kind != kind:
            return f"Type, parent or child of {name} has changed; it was right."
        for what, values in numbers.items():
            if not same(found[what], values):
                return TOLD[what].format(name, words(found[what].round(4)))
    wrong = [name for name, mass in right_masses.items() if not same(masses[name], mass)]
    return f"The mass of {wrong[0]} is not right." if wrong else None


def same(found, right):
    if found is None or right is None:
        return found is right
    return np.shape(found) == np.shape(right) and np.all(np.abs(np.subtract(found, right)) < 1e-6)


MEND = Exercise(
    "mend",
    points=3,
    seconds=3,
    cases=broken_files,
    truth=mend,
    compare=same_file,
    alternatives=[
        by_words,
        mender(mend_mass, mend_limits, mend_xyz, mend_rpy),
        lambda text: '<?xml version="1.0"?>\n<!-- mended -->\n' + mend(text),
    ],
    mistakes=[
        Mistake(lambda text: text, "You return the file as it came. Every file has three faults."),
        Mistake(
            mender(large_angle_only, mend_xyz, mend_limits, mend_mass),
            "You convert only the angles beyond a full turn. But whoever writes one angle of an"
            " origin in degrees writes all three so: in `120 0 5`, the 5 is five degrees.",
        ),
        Mistake(
            mender(beyond_pi, mend_xyz, mend_limits, mend_mass),
            "You convert an angle of 4.71 rad, which is 270° and sound. Only beyond a full turn,"
            " 2π, is it certain.",
        ),
        Mistake(
            mender(mend_rpy, beyond_a_metre, mend_limits, mend_mass),
            "You take lengths of 1.2 m or 2.5 m for millimetres. That is a long arm, but possible."
            " Millimetres are in the tens or more.",
        ),
        Mistake(
            mender(mend_rpy, mend_xyz, lambda robot: mend_limits(robot, negated), mend_mass),
            "Where lower lies above upper you change the signs. They were swapped: -30 … 100 came"
            " as 100 … -30, not as 30 … -100.",
        ),
        Mistake(
            mender(
                mend_rpy,
                mend_xyz,
                lambda robot: mend_limits(robot, largest=np.pi + 1e-3),
                mend_mass,
            ),
            "You convert a limit of 6.1 rad. A joint may turn almost a full turn each way; degrees"
            " are larger than 2π.",
        ),
        Mistake(
            mender(mend_rpy, mend_xyz, mend_mass),
            "You leave the limits alone. Some are in degrees, some have lower above upper.",
        ),
        Mistake(
            mender(
                mend_rpy, mend_xyz, lambda robot: mend_limits(robot, lambda pair: pair), mend_mass
            ),
            "Limits in degrees are mended, but some joints still have lower above upper.",
        ),
        Mistake(
            mender(mend_rpy, mend_xyz, mend_limits),
            "Everything is mended but the masses: a minus sign is left.",
        ),
        Mistake(
            mender(mend_rpy, mend_limits, mend_mass),
            "Everything is mended but the xyz: a joint is still hundreds of metres away.",
        ),
    ],
)


# ---------------------------------------------------------------- 2. the inertia of a drawn link


def link_text(mass, radius, length, xyz, rpy):
    return (
        f'<link name="forearm">\n  <visual>\n    <origin xyz="{words(xyz)}" rpy="{words(rpy)}"/>\n '
        f'   <geometry><cylinder radius="{radius:g}" length="{length:g}"/></geometry>\n '
        f' </visual>\n  <inertial>\n    <mass value="{mass:g}"/>\n  </inertial>\n</link>'
    )


def link_cases(rng):
    simple = [
        link_text(1.5, 0.04, 0.25, (0, 0, 0.125), (0, 0, 0)),
        link_text(2, 0.05, 0.3, (0.15, 0, 0), (0, np.pi / 2, 0)),
    ]
    random = [
        link_text(
            *rng.uniform((0.5, 0.02, 0.1), (5, 0.08, 0.4)).round(4),
            rng.uniform(-0.3, 0.3, 3).round(4),
            rng.uniform(-1.4, 1.4, 3).round(4),
        )
        for _ in range(5)
    ]
    return [(text,) for text in simple + random]


def read_link(text):
    """mass, radius, length, xyz, rpy of a link."""
    link = ElementTree.fromstring(text)
    cylinder, visual = link.find("visual/geometry/cylinder"), link.find("visual")
    return (
        float(link.find("inertial/mass").get("value")),
        float(cylinder.get("radius")),
        float(cylinder.get("length")),
        three(visual, "origin", "xyz"),
        three(visual, "origin", "rpy"),
    )


def own_moments(mass, radius, length):
    across = mass * (radius**2 / 4 + length**2 / 12)
    return np.diag([across, across, mass * radius**2 / 2])


def link_inertia(text):
    mass, radius, length, xyz, rpy = read_link(text)
    R = turn_of(rpy)
    return xyz, R @ own_moments(mass, radius, length) @ R.T


def variant(
    moments=own_moments, turn=turn_of, com=lambda xyz: xyz, after=lambda I, m, xyz: I, flip=False
):
    """`link_inertia` with one thing done otherwise."""

    def answer(text):
        mass, radius, length, xyz, rpy = read_link(text)
        R = turn(rpy).T if flip else turn(rpy)
        return com(xyz), after(R @ moments(mass, radius, length) @ R.T, mass, xyz)

    return answer


def steiner(inertia, mass, xyz):
    return inertia + mass * (xyz @ xyz * np.eye(3) - np.outer(xyz, xyz))


def same_inertia(answer, expected, args):
    wanted = ("the centre of mass", (3,)), ("the tensor", (3, 3))
    (com, tensor), (right_com, right) = parts(answer, *wanted), parts(expected, *wanted)
    if not np.abs(com - right_com).max() < 1e-8:
        return (
            "The centre of mass is not right: where is the middle of the cylinder, in the link's"
            " frame?"
        )
    if np.abs(tensor - right).max() < 1e-9:
        return None
    moments, right_moments = (np.linalg.eigvalsh((I + I.T) / 2) for I in (tensor, right))
    if np.abs(moments - right_moments).max() < 1e-9:
        return "The three principal moments are right, but the tensor is turned the wrong way."
    return "The principal moments, which no turn can change, are not those of this cylinder."


INERTIA = Exercise(
    "link_inertia",
    points=2,
    seconds=2,
    cases=link_cases,
    truth=link_inertia,
    compare=same_inertia,
    alternatives=[
        variant(
            moments=lambda m, r, l: m / 12 * np.diag([3 * r**2 + l**2, 3 * r**2 + l**2, 6 * r**2])
        ),
        lambda text: (
            lambda m, r, l, xyz, rpy, u: (
                xyz.tolist(),
                (
                    m * (r**2 / 4 + l**2 / 12) * (np.eye(3) - np.outer(u, u))
                    + m * r**2 / 2 * np.outer(u, u)
                ).tolist(),
            )
        )(*read_link(text), turn_of(read_link(text)[4])[:, 2]),
        variant(turn=lambda rpy: Rotation.from_euler("ZYX", rpy[::-1]).as_matrix()),
    ],
    mistakes=[
        Mistake(
            variant(turn=lambda rpy: np.eye(3)),
            "You did not turn the tensor: it is that of a cylinder along the link's z, whatever its"
            " rpy is.",
        ),
        Mistake(
            variant(flip=True),
            "You turned the tensor the wrong way round: R takes the cylinder's axes into the"
            " link's, so it is R I Rᵀ, not Rᵀ I R.",
        ),
        Mistake(
            variant(after=steiner),
            "You moved the tensor to the joint (Steiner). URDF's inertia is about the centre of"
            " mass, which is the cylinder's middle.",
        ),
        Mistake(
            variant(com=lambda xyz: 0 * xyz),
            "Your centre of mass lies on the joint. It is in the middle of the cylinder, where the"
            " visual's origin is.",
        ),
        Mistake(
            variant(turn=lambda rpy: Rotation.from_euler("XYZ", rpy).as_matrix()),
            'You read rpy as turns about moving axes. In a URDF they are fixed axes: "xyz" in small'
            " letters.",
        ),
        Mistake(
            variant(
                moments=lambda m, r, l: np.diag([m * l**2 / 12 + m * r**2 / 2] * 2 + [m * r**2 / 2])
            ),
            "Across the cylinder it is r²/4, not r²/2: only one of the two directions across"
            " counts.",
        ),
        Mistake(
            variant(
                moments=lambda m, r, l: np.diag([m * (r**2 / 4 + l**2 / 3)] * 2 + [m * r**2 / 2])
            ),
            "l²/3 is about the end of the cylinder. About its middle it is l²/12.",
        ),
        Mistake(
            variant(moments=lambda m, r, l: own_moments(m, r, l)[[2, 0, 1]][:, [2, 0, 1]]),
            "You put the small moment first, as for a cylinder along its own x. URDF's cylinder"
            " lies along its own z.",
        ),
    ],
)


# ---------------------------------------------------------------- 3. a checking rule


def tensor_text(I):
    return (
        f'<inertia ixx="{I[0, 0]:.9g}" ixy="{I[0, 1]:.9g}" ixz="{I[0, 2]:.9g}" iyy="{I[1, 1]:.9g}"'
        f' iyz="{I[1, 2]:.9g}" izz="{I[2, 2]:.9g}"/>'
    )


KINDS = {  # principal moments, turned or not
    "sound": (0.02, 0.03, 0.04),
    "slim": (0.0004, 0.05, 0.0502),
    "plate": (0.02, 0.03, 0.0499),
    "triangle": (0.01, 0.012, 0.04),
    "minus": (-0.01, 0.03, 0.035),
    "two_minus": (-0.01, -0.012, 0.03),
}


def rule_file(rng, kinds):
    """A file with one link of each kind, (name of the kind, turned?), and a link without inertia.

    The links' names tell nothing.
    """
    names = [f"part_{c}" for c in rng.permutation(list("abcdefgh"))]
    links = ['  <link name="base"/>']
    for name, (kind, turned) in zip(names, kinds):
        R = Rotation.random(rng=rng).as_matrix() if turned else np.eye(3)[rng.permutation(3)]
        I = rng.uniform(0.5, 2) * R @ np.diag(KINDS[kind]) @ R.T
        links.append(
            f'  <link name="{name}"><inertial><mass'
            f' value="{rng.uniform(1, 4):.2f}"/>{tensor_text(I)}</inertial></link>'
        )
    return '<robot name="parts">\n' + "\n".join(links) + "\n</robot>"


def slanted_file(rng):
    """Diagonals that look sound, with off-diagonals that make them impossible."""
    hidden = np.array([[0.03, 0.029, 0], [0.029, 0.03, 0], [0, 0, 0.03]])  # 0.001, 0.03, 0.059
    beyond = np.array([[0.03, 0.035, 0], [0.035, 0.03, 0], [0, 0, 0.03]])  # -0.005
    links = [
        f'<link name="part_{name}"><inertial><mass value="2"/>{tensor_text(I)}</inertial></link>'
        for name, I in zip(
            rng.permutation(list("abc")), (hidden, beyond, np.diag([0.03, 0.03, 0.03]))
        )
    ]
    return '<robot name="slanted">\n' + "\n".join(links) + "\n</robot>"


def rule_files(rng):
    plain = rule_file(
        rng, [("sound", False), ("triangle", False), ("slim", False), ("minus", False)]
    )
    turned = rule_file(
        rng,
        [("triangle", True), ("plate", True), ("minus", True), ("slim", True), ("two_minus", True)],
    )
    sound = rule_file(rng, [("sound", True), ("plate", False), ("slim", True)])
    kinds = list(KINDS)
    random = [
        rule_file(rng, [(kinds[k], bool(rng.integers(2))) for k in rng.integers(0, len(kinds), 6)])
        for _ in range(4)
    ]
    return [(text,) for text in (plain, turned, slanted_file(rng), sound, *random)]


def tensors(text):
    """(name, tensor) of the links that have one."""
    found = []
    for link in ElementTree.fromstring(text).iter("link"):
        node = link.find("inertial/inertia")
        if node is not None:
            xx, xy, xz, yy, yz, zz = (
                float(node.get(key)) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
            )
            found.append((link.get("name"), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])))
    return found


def named(test):
    """The rule: names of the links whose tensor fails `test`."""
    return lambda text: [name for name, I in tensors(text) if test(I)]


def breaks(moments):
    low, mid, high = sorted(moments)
    return low <= 0 or high > (low + mid) * (1 + 1e-6)


impossible = named(lambda I: breaks(np.linalg.eigvalsh(I)))


RULE = Exercise(
    "impossible_inertias",
    points=2,
    seconds=2,
    cases=rule_files,
    truth=impossible,
    compare=same_items("links' names", "Named although they are possible"),
    alternatives=[
        named(
            lambda I: (
                np.linalg.eigvalsh(np.trace(I) / 2 * np.eye(3) - I).min() < -1e-8
                or np.linalg.eigvalsh(I).min() <= 0
            )
        ),
        named(
            lambda I: breaks(
                np.linalg.svd(I)[1]
                * np.sign(np.diag(np.linalg.svd(I)[0].T @ np.linalg.svd(I)[2].T))
            )
        ),
        lambda text: sorted(impossible(text), reverse=True),
    ],
    mistakes=[
        Mistake(
            named(lambda I: breaks(np.diag(I))),
            "You look at ixx, iyy and izz only. With products of inertia (ixy …) the moments that"
            " count are the eigenvalues: np.linalg.eigvalsh.",
        ),
        Mistake(
            named(lambda I: np.linalg.eigvalsh(I).min() <= 0),
            "You test that all moments are positive, but not the triangle inequality.",
        ),
        Mistake(
            named(
                lambda I: (
                    2 * np.linalg.eigvalsh(I).max() > np.trace(I) * (1 + 1e-6)
                    and np.linalg.eigvalsh(I).min() > 0
                )
            ),
            "You test the triangle inequality, but let negative moments through.",
        ),
        Mistake(
            named(
                lambda I: (
                    np.linalg.det(I) <= 0
                    or 2 * np.linalg.eigvalsh(I).max() > np.trace(I) * (1 + 1e-6)
                    and np.linalg.det(I) <= 0
                )
            ),
            "A positive determinant is not enough: two negative moments make it positive, too. And"
            " the triangle inequality is missing.",
        ),
        Mistake(
            named(
                lambda I: (
                    np.diag(I).min() <= 0
                    or 2 * np.diag(I).max() > np.trace(I) * (1 + 1e-6)
                    or np.linalg.eigvalsh(I).min() <= 0
                )
            ),
            "You look for negative eigenvalues, but compare ixx, iyy and izz in the triangle"
            " inequality. It holds for the eigenvalues.",
        ),
        Mistake(
            named(
                lambda I: (
                    breaks(np.linalg.eigvalsh(I))
                    or 2 * np.linalg.eigvalsh(I).max() > 0.98 * np.trace(I)
                )
            ),
            "You are too strict: a thin plate comes close to the limit, and so does a slim rod."
            " Sound links are named.",
        ),
        Mistake(
            lambda text: ["base", *impossible(text)] if 'name="base"' in text else impossible(text),
            "You name links without inertia. That may be a fault, but it is another rule: a base"
            " needs none.",
        ),
        Mistake(
            lambda text: impossible(text)[:1], "You stop at the first. A checker names them all."
        ),
    ],
)


# ---------------------------------------------------------------- 4. the axis at fault

NAMES = ("shoulder", "elbow", "wrist")
SIX = np.vstack([np.eye(3), -np.eye(3)])


def three_joints(rpy, xyz, axes):
    links = ("base", "upper", "fore", "tcp")
    joints = [
        f'  <joint name="{name}" type="continuous">\n    <parent link="{links[i]}"/><child'
        f' link="{links[i + 1]}"/>\n    <origin xyz="{words(xyz[i])}" rpy="{words(rpy[i])}"/>\n   '
        f' <axis xyz="{words(axes[i])}"/>\n  </joint>'
        for i, name in enumerate(NAMES)
    ]
    return (
        '<robot name="three">\n'
        + "\n".join(f'  <link name="{link}"/>' for link in links)
        + "\n"
        + "\n".join(joints)
        + "\n</robot>"
    )


def chain(text):
    """[(origin, axis)] of the joints, in the file's order."""
    joints = ElementTree.fromstring(text).findall("joint")
    return [(origin(joint), three(joint, "axis", "xyz")) for joint in joints]


def tcp_poses(joints, q, axis_of=None):
    """Poses (N, 4, 4) of tcp at the end of a chain.

    axis_of replaces an axis: (index of the joint, axis).
    """
    T = np.eye(4)
    for i, (start, axis) in enumerate(joints):
        axis = axis_of[1] if axis_of is not None and axis_of[0] == i else axis
        T = T @ start @ turn_about(axis, np.asarray(q)[:, i])
    return T


def turn_about(axis, angles):
    """Turns about an axis by each of the angles (N,), as poses (N, 4, 4)."""
    turn = np.tile(np.eye(4), (len(angles), 1, 1))
    turn[:, :3, :3] = Rotation.from_rotvec(np.outer(angles, axis)).as_matrix()
    return turn


def axis_cases(rng):
    cases = []
    for i, backwards in (
        (1, True),
        (0, False),
        (2, True),
        *((rng.integers(3), rng.random() < 0.4) for _ in range(3)),
    ):
        rpy, xyz = rng.uniform(-1.4, 1.4, (3, 3)).round(3), rng.uniform(0.1, 0.4, (3, 3)).round(3)
        axes = SIX[rng.integers(0, 6, 3)]
        q = np.vstack([np.zeros(3), rng.uniform(-2, 2, (7, 3))]).round(4)
        poses = tcp_poses(chain(three_joints(rpy, xyz, axes)), q)
        poses[:, :3, 3] += rng.uniform(-2e-5, 2e-5, (8, 3))
        wrong = axes.copy()
        wrong[i] = -axes[i] if backwards else np.roll(axes[i], int(rng.integers(1, 3)))
        cases.append((three_joints(rpy, xyz, wrong), q, poses))
    return cases


def candidates(text, q, poses):
    """(misfit, index of the joint, axis) of all eighteen possible corrections, the best first."""
    joints = chain(text)
    fits = [
        (float(np.abs(tcp_poses(joints, q, (i, axis)) - poses).max()), i, axis)
        for i in range(3)
        for axis in SIX
    ]
    return sorted(fits, key=lambda fit: fit[0])


def mend_axis(text, q, poses):
    _, i, axis = candidates(text, q, poses)[0]
    return NAMES[i], axis


def axis_in_base(text, q, poses):
    name, axis = mend_axis(text, q, poses)
    T = np.eye(4)
    for joint in ElementTree.fromstring(text).findall("joint"):
        T = T @ origin(joint)
        if joint.get("name") == name:
            return name, T[:3, :3] @ axis


def file_axis(text, name):
    return three(ElementTree.fromstring(text).find(f"joint[@name='{name}']"), "axis", "xyz")


def position_at_first(text, q, poses):
    """The best fit for a single moved posture's position."""
    fits = [
        (float(np.linalg.norm(tcp_poses(chain(text), q[:1], (i, axis))[0] - poses[0])), i, axis)
        for i in range(3)
        for axis in SIX
    ]
    _, i, axis = min(fits, key=lambda fit: fit[0])
    return NAMES[i], axis


def by_undoing(text, q, poses):
    """A right way of another kind: undo what is before and behind a joint, and read its turn."""
    origins, axes = zip(*chain(text))
    turns = [turn_about(axis, angles) for axis, angles in zip(axes, q.T)]
    fits = []
    for i, angles in enumerate(q.T):
        before, behind = np.eye(4), np.eye(4)
        for k in range(i):
            before = before @ origins[k] @ turns[k]
        for k in range(i + 1, 3):
            behind = behind @ origins[k] @ turns[k]
        left = np.linalg.inv(before @ origins[i]) @ poses @ np.linalg.inv(behind)
        vectors = Rotation.from_matrix(left[:, :3, :3]).as_rotvec()
        axis = angles @ vectors / (angles @ angles)
        fits.append((np.abs(vectors - np.outer(angles, axis)).max(), i, axis.round(3)))
    _, i, axis = min(fits, key=lambda fit: fit[0])
    return NAMES[i], axis


def same_axis(answer, expected, args):
    name, axis = parts(answer, ("the joint's name", str), ("the axis", (3,)))
    if name != expected[0]:
        return f"It is not the {name[:20]}."
    if np.abs(axis - np.asarray(expected[1], float)).max() < 2e-3:
        return None
    return f"It is the {name}, but its axis is not {words(axis.round(3))}."


AXIS = Exercise(
    "mend_axis",
    points=3,
    seconds=10,
    cases=axis_cases,
    truth=mend_axis,
    compare=same_axis,
    alternatives=[
        by_undoing,
        lambda text, q, poses: min(
            ((NAMES[i], axis.tolist()) for i in range(3) for axis in SIX),
            key=lambda pair: np.linalg.norm(
                tcp_poses(chain(text), q, (NAMES.index(pair[0]), np.array(pair[1]))) - poses
            ),
        ),
        lambda text, q, poses: next([NAMES[i], axis] for _, i, axis in candidates(text, q, poses)),
    ],
    mistakes=[
        Mistake(
            lambda text, q, poses: (
                mend_axis(text, q, poses)[0],
                file_axis(text, mend_axis(text, q, poses)[0]),
            ),
            "You found the joint, but return the axis that the file has. Asked is the right one.",
        ),
        Mistake(
            lambda text, q, poses: (
                mend_axis(text, q, poses)[0],
                -file_axis(text, mend_axis(text, q, poses)[0]),
            ),
            "You always turn the sign around. In some files the axis points along another letter.",
        ),
        Mistake(
            axis_in_base,
            "Your axis is seen from the base. In the file it is written in the joint's own frame,"
            " after its origin.",
        ),
        Mistake(
            lambda text, q, poses: (
                mend_axis(text, q, poses)[0],
                -np.asarray(mend_axis(text, q, poses)[1]),
            ),
            "Right joint, right line, but it turns backwards: try both signs.",
        ),
        Mistake(
            position_at_first,
            "You judge by the first posture. There all joints are at zero, and every axis fits"
            " equally well.",
        ),
        Mistake(
            lambda text, q, poses: (
                NAMES[(NAMES.index(mend_axis(text, q, poses)[0]) + 1) % 3],
                mend_axis(text, q, poses)[1],
            ),
            "You are off by one joint: column i of q belongs to joint i of the chain, both counted"
            " from 0.",
        ),
        Mistake(
            lambda text, q, poses: (
                NAMES[candidates(text, q, poses)[-1][1]],
                candidates(text, q, poses)[-1][2],
            ),
            "You take the candidate that fits worst. The misfit should be as small as possible.",
        ),
    ],
)

EXERCISES = [MEND, INERTIA, RULE, AXIS]
