"""Collision: postures by the hundred thousand against Pinocchio with coal, and edges with a proof.

Public names: `bench_collision`, `coal_geometry`, `coal_clearance`.
"""

from collections.abc import Iterator

import numpy as np

from course_lib.arm import Arm, load_arm
from course_lib.collision import (
    Box,
    Capsule,
    HalfSpace,
    Scene,
    Sphere,
    capsules,
    check_edge,
    clearance,
    self_pairs,
)
from course_lib.engines import pinocchio_model
from course_lib.kinematics import link_frames
from course_lib.poses import pose
from course_lib.tools.bench.core import Row, Size, race
from course_lib.tools.bench.kinematics import has_pinocchio

Q0 = np.array([0.3, 0.5, -0.4, 0.7, -0.6, 0.2])
Q1 = Q0 + [0.55, 0.4, 0.55, -0.4, 0.55, 0.4]
NO_PAIRS = ()


def bench_collision(size: Size) -> Iterator[Row]:
    """Least clearances: with coal the distances alone are timed, not the reading of its results."""
    arm, rng = load_arm("cobot6"), np.random.default_rng(0)
    q = rng.uniform(arm.q_min, arm.q_max, (size.configurations, arm.n))
    spheres, boxes = ([solid(kind, rng) for _ in range(6)] for kind in (Sphere, Box))
    table = {"six spheres": (spheres, (), 0.7), "six boxes": (boxes, (), 1.0)}
    table["six spheres and itself"] = spheres, None, 1.0
    for words, (solids, pairs, most) in table.items():
        scene = Scene(solids, pairs=pairs)
        calls, promise = {"ours": lambda scene=scene: clearance(arm, scene, q)}, {}
        if has_pinocchio():
            calls["coal"] = lambda scene=scene: coal_distances(arm, scene, q)
            promise = {"coal": most}
        answers = dict.fromkeys(calls, len(q))
        name = f"clearance from {words}, {len(q)} postures, each"
        turns = size.long_repeats
        yield race(name, "µs", calls, turns, answers=answers, of_peer=promise)
    few, many = (Scene(around(arm, count, rng), pairs=()) for count in (6, 1000))
    edge = lambda scene: lambda: check_edge(arm, scene, Q0, Q1)
    name = f"edge of {edge(few)().samples} samples among six spheres, proven free"
    turns, calls = 3 * size.repeats, size.calls
    yield race(name, "ms", {"ours": edge(few)}, turns, calls=calls, at_most=0.45)
    calls_of = {"ours": edge(many), "among 6": edge(few)}
    most = {"among 6": 3.0}
    yield race("edge among 1000 spheres", "ms", calls_of, turns, calls=calls, of_peer=most)


def solid(kind: type, rng: np.random.Generator) -> Sphere | Box:
    """A sphere of 8 cm, or a box of 8 to 20 cm in any pose, within reach but beside the base."""
    from scipy.spatial.transform import Rotation

    angle, far, high = rng.uniform([0, 0.3, 0], [2 * np.pi, 0.5, 0.6])
    centre = [far * np.cos(angle), far * np.sin(angle), high]
    if kind is Sphere:
        return Sphere(centre, 0.08)
    turn = Rotation.from_quat(rng.normal(size=4))
    return Box(pose(centre, turn), rng.uniform(0.08, 0.2, 3))


def around(arm: Arm, count: int, rng: np.random.Generator) -> list[Sphere]:
    """Spheres of 2 cm everywhere within reach, but 2 cm off the way from Q0 to Q1."""
    way, spheres = Q0 + np.linspace(0, 1, 200)[:, None] * (Q1 - Q0), []
    while len(spheres) < count:
        one = Sphere(rng.uniform(-0.8, 0.8, 3), 0.02)
        if clearance(arm, Scene([one], pairs=NO_PAIRS), way).min() > 0.02:
            spheres.append(one)
    return spheres


# ---- the same bodies in coal ----------------------------------------------------------------


def coal_geometry(arm: Arm, scene: Scene) -> tuple:
    """(model, geometry) of Pinocchio with the arm's capsules, the obstacles, the same pairs."""
    import coal
    import pinocchio as pin

    model, _ = pinocchio_model(arm)
    data, body, geometry = model.createData(), capsules(arm), pin.GeometryModel()
    pin.forwardKinematics(model, data, np.zeros(arm.n))
    T = link_frames(arm, np.zeros(arm.n))[body.frame]
    points = (T[:, :3, :3] @ body.local[..., None])[..., 0] + T[:, :3, 3]

    def add(name, joint, pose_in_world, shape):
        place = data.oMi[joint].inverse() * pose_in_world
        return geometry.addGeometryObject(pin.GeometryObject(name, joint, place, shape))

    bodies = []
    for b, link in enumerate(body.link.tolist()):
        middle, length = between(points[body.first[b]], points[body.last[b]])
        shape = coal.Capsule(body.radius[b], length) if length else coal.Sphere(body.radius[b])
        bodies.append((link, add(f"body {b}", min(link, arm.n), middle, shape)))
    pairs = []
    for o, one in enumerate(scene.obstacles):
        here = add(f"obstacle {o}", 0, *coal_solid(one))
        pairs += [(k, here) for link, k in bodies if link not in one.may_touch]
    checked = self_pairs(arm) if scene.pairs is None else scene.pairs
    pairs += [(k, m) for i, k in bodies for j, m in bodies if (i, j) in checked]
    for pair in pairs:
        geometry.addCollisionPair(pin.CollisionPair(*pair))
    return model, geometry


def between(start: np.ndarray, end: np.ndarray) -> tuple:
    """Pinocchio's pose half-way, z towards the end, and the length [m]."""
    import pinocchio as pin

    length = np.linalg.norm(end - start)
    if length < 1e-9:
        return pin.SE3(np.eye(3), start), 0.0
    turn = pin.Quaternion.FromTwoVectors(np.array([0, 0, 1.0]), (end - start) / length)
    return pin.SE3(turn.matrix(), (start + end) / 2), length


def coal_solid(one: Sphere | Capsule | Box | HalfSpace) -> tuple:
    """Pose and shape of an obstacle."""
    import coal
    import pinocchio as pin

    if isinstance(one, Sphere):
        return pin.SE3(np.eye(3), one.centre), coal.Sphere(one.radius)
    if isinstance(one, Capsule):
        middle, length = between(one.start, one.end)
        return middle, coal.Capsule(one.radius, length)
    if isinstance(one, Box):
        return pin.SE3(one.pose), coal.Box(*one.size)
    return pin.SE3.Identity(), coal.Halfspace(one.normal, one.offset)


def coal_distances(arm: Arm, scene: Scene, q: np.ndarray, read: list | None = None) -> None:
    """All distances of each posture of q (N, n), one after the other; put into read, if given."""
    import pinocchio as pin

    model, geometry = coal_geometry(arm, scene)
    data, scratch = model.createData(), geometry.createData()
    for q_k in q:
        pin.computeDistances(model, data, geometry, scratch, q_k)
        if read is not None:
            read.append(min(result.min_distance for result in scratch.distanceResults))


def coal_clearance(arm: Arm, scene: Scene, q: np.ndarray) -> np.ndarray:
    """(N,) what `clearance` gives, by Pinocchio and coal."""
    found: list[float] = []
    coal_distances(arm, scene, q, found)
    return np.array(found)
