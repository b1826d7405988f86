"""course_lib.collision: distances as coal has them, edges with a proof, scenes that pose tasks."""

from dataclasses import replace

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from scipy.spatial.transform import Rotation
from support import strategies
from support.engines import LIBRARY_ARMS

from course_lib.arm import Arm, links_as_capsules, load_arm
from course_lib.collision import (
    Box,
    Capsule,
    HalfSpace,
    Scene,
    Sphere,
    capsules,
    check_edge,
    clearance,
    closest,
    edge_is_free,
    load_scene,
    self_pairs,
)
from course_lib.collision.scene import SCENES
from course_lib.dh import to_modified, to_standard
from course_lib.kinematics import fk, link_frames
from course_lib.poses import pose
from course_lib.tools.bench.collision import coal_clearance

COBOT = load_arm("cobot6")
EVERY_SCENE = sorted(path.stem for path in SCENES.glob("*.yaml"))


def postures(arm, count, rng):
    return rng.uniform(arm.q_min, arm.q_max, (count, arm.n))


def place(rng):
    """A point within reach, but beside the base."""
    angle, far, high = rng.uniform([0, 0.25, -0.1], [2 * np.pi, 0.6, 0.7])
    return np.array([far * np.cos(angle), far * np.sin(angle), high])


def solid(kind, rng):
    if kind is Sphere:
        return Sphere(place(rng), rng.uniform(0.01, 0.1))
    if kind is Capsule:
        start = place(rng)
        return Capsule(start, start + rng.normal(0, 0.15, 3), rng.uniform(0.01, 0.06))
    if kind is Box:
        turn = Rotation.from_quat(rng.normal(size=4))
        return Box(pose(place(rng), turn), rng.uniform(0.02, 0.25, 3))
    return HalfSpace(rng.normal(size=3) + [0, 0, 2], rng.uniform(-0.3, 0.0), may_touch=(1,))


def drawn(arm, kinds, rng, **options):
    """A scene that leaves the arm room: at least a tenth of 50 postures are free."""
    while True:
        scene = Scene([solid(kind, rng) for kind in kinds], **options)
        if (clearance(arm, scene, postures(arm, 50, rng)) > 0).mean() > 0.1:
            return scene


# --- against coal ----------------------------------------------------------------------------

FAR = {Sphere: 1e-9, Capsule: 1e-9, Box: 1e-5, HalfSpace: 1e-9}


@pytest.mark.parametrize("count", [300, pytest.param(100_000, marks=pytest.mark.full)])
@pytest.mark.parametrize("kind", [*FAR, None], ids=lambda kind: kind.__name__ if kind else "self")
@pytest.mark.parametrize("name", ["cobot6", "panda"])
def test_clearance_is_that_of_coal(name, kind, count):
    pytest.importorskip("coal")
    arm, rng = load_arm(name), np.random.default_rng(1)
    kinds = [kind] * {None: 0, HalfSpace: 1}.get(kind, 6)
    scene = drawn(arm, kinds, rng, pairs=() if kind else None)
    q = postures(arm, count, rng)
    ours, theirs = clearance(arm, scene, q), coal_clearance(arm, scene, q)
    assert np.array_equal(ours > 0, theirs > 0)
    assert 0.02 < (ours > 0).mean() < 0.998
    apart = theirs > 0
    assert np.abs(ours - theirs)[apart].max() < FAR.get(kind, 1e-9)
    assert np.abs(ours - theirs)[~apart].max(initial=0) < (1e-4 if kind is Box else 1e-9)


def test_a_scene_of_everything_is_that_of_coal():
    pytest.importorskip("coal")
    rng = np.random.default_rng(2)
    scene = Scene(
        [solid(kind, rng) for kind in FAR for _ in range(3 if kind is not HalfSpace else 1)]
    )
    q = postures(COBOT, 300, rng)
    assert np.abs(clearance(COBOT, scene, q) - coal_clearance(COBOT, scene, q)).max() < 1e-5


def test_many_obstacles_leave_no_pair_out():
    pytest.importorskip("coal")
    rng = np.random.default_rng(3)
    scene = Scene([solid((Sphere, Capsule, Box)[k % 3], rng) for k in range(60)])
    for q in (postures(COBOT, 200, rng), np.linspace(*postures(COBOT, 2, rng), 200)):
        assert np.abs(clearance(COBOT, scene, q) - coal_clearance(COBOT, scene, q)).max() < 1e-5


# --- segments that make formulas fail --------------------------------------------------------

CUBE = Box(np.eye(4), [2.0, 2.0, 2.0])
ODD = {
    "parallel, side by side": ([0, 0, 0], [1, 0, 0], Capsule([0.5, 3, 0], [2, 3, 0], 1.0), 2.0),
    "parallel, one after the other": ([0, 0, 0], [1, 0, 0], Capsule([3, 0, 0], [5, 0, 0], 1), 1.0),
    "the same one": ([0, 0, 0], [1, 0, 0], Capsule([0, 0, 0], [1, 0, 0], 0.5), -0.5),
    "two points": ([0, 0, 0], [0, 0, 0], Capsule([0, 3, 4], [0, 3, 4], 1.0), 4.0),
    "a point": ([0, 0, 2], [0, 0, 2], Capsule([-1, 0, 0], [1, 0, 0], 0.5), 1.5),
    "crossing": ([-1, 0, 0], [1, 0, 0], Capsule([0, -1, 0], [0, 1, 0], 0.25), -0.25),
    "nearly parallel": ([0, 0, 0], [1, 0, 0], Capsule([0, 1, 0], [1, 1 + 1e-9, 0], 0.5), 0.5),
    "centre on the segment": ([0, 0, 0], [1, 0, 0], Sphere([0.5, 0, 0], 0.5), -0.5),
    "beyond the end": ([0, 0, 0], [1, 0, 0], Sphere([3, 0, 0], 0.5), 1.5),
    "through a box": ([-3, 0, 0], [3, 0, 0], CUBE, -1.0),
    "into a box": ([0.5, 0, 0], [3, 0, 0], CUBE, -0.5),
    "inside a box": ([0, 0, 0.9], [0, 0, 0.7], CUBE, -0.3),
    "a point in a box": ([0, 0, 0.9], [0, 0, 0.9], CUBE, -0.1),
    "along a face": ([-3, 0, 1.5], [3, 0, 1.5], CUBE, 0.5),
    "past an edge": ([3, 0, 0], [0, 3, 0], CUBE, np.sqrt(0.5)),
    "across an edge": ([1.5, 0, 0], [0, 1.5, 0], CUBE, -np.sqrt(0.125)),
    "above a table": ([0, 0, 2], [5, 0, 1], HalfSpace([0, 0, 2], 1.0), 0.5),
    "through a table": ([0, 0, 2], [0, 0, -3], HalfSpace([0, 0, 1]), -3.0),
}


@pytest.mark.parametrize("start, end, solid, distance", ODD.values(), ids=ODD)
def test_segments_that_make_formulas_fail(start, end, solid, distance):
    """An arm of one sliding joint whose only capsule is the segment; its radius is .001."""
    start, end = np.array(start, float), np.array(end, float)
    way = end - start
    length = np.linalg.norm(way)
    turn = Rotation.align_vectors([way / length], [[0, 0, 1]])[0] if length else None
    base = pose(start, turn)
    arm = Arm("rod", "standard", [0], [0], [0], [0], ("prismatic",), base=base, radius=[0.001])
    found = clearance(arm, Scene([solid]), [length])
    assert found == pytest.approx(distance - 0.001, abs=1e-9)


@settings(max_examples=40)
@given(strategies.pose(), strategies.pose())
def test_no_push_shorter_than_the_depth_takes_a_body_out_of_a_box(T_box, T_arm):
    """A rod on three sliding joints, pushed in 5000 directions."""
    zero, right = np.zeros(4), np.pi / 2
    slides, limits = ("prismatic",) * 3 + ("revolute",), np.full(4, 1.0)
    arm = Arm(
        "rod on a gantry",
        "standard",
        [0, 0, 0, 0.3],
        [-right, right, right, 0],
        zero,
        [0, right, 0, 0],
        slides,
        q_min=-limits,
        q_max=limits,
        base=T_arm,
        radius=[0.02] * 4,
    )
    middle = fk(arm, zero)[:3, 3] + 0.2 * T_box[:3, 3]
    box = Box(pose(middle, T_box[:3, :3]), [0.3, 0.4, 0.5], may_touch=(1, 2, 3))
    scene = Scene([box], pairs=())
    depth = -clearance(arm, scene, zero)
    ways = np.random.default_rng(4).normal(size=(5000, 3))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    pushed = lambda length: clearance(arm, scene, np.c_[length * ways, np.zeros(5000)])
    if depth > 0:
        assert pushed(0.999 * depth).max() < 0
        assert pushed(1.002 * depth).max() > -0.005 * depth


# --- the bodies of an arm --------------------------------------------------------------------


def bodies_in_the_world(arm, q):
    """Sorted (link, start, end, radius) of each capsule."""
    body, T = capsules(arm), link_frames(arm, q)[capsules(arm).frame]
    points = (T[:, :3, :3] @ body.local[..., None])[..., 0] + T[:, :3, 3]
    return np.c_[body.link, points[body.first], points[body.last], body.radius]


@settings(max_examples=200)
@given(strategies.arm_and_q(count=1), strategies.pose())
def test_bodies_stay_the_same_in_both_conventions_and_with_a_tool(arm_and_q, tool):
    arm, (q,) = arm_and_q
    arm = replace(arm, tool=np.eye(4), flange=None)
    own = bodies_in_the_world(arm, q)
    other = to_modified(arm) if arm.convention == "standard" else to_standard(arm)
    assert np.allclose(bodies_in_the_world(other, q), own, atol=1e-9)
    for one in (replace(arm, tool=tool), replace(other, tool=tool)):
        assert np.allclose(bodies_in_the_world(one, q)[: len(own)], own, atol=1e-9)
        back = to_standard(one) if one.convention == "modified" else to_modified(one)
        assert np.allclose(bodies_in_the_world(back, q), bodies_in_the_world(one, q), atol=1e-9)


@pytest.mark.parametrize("name", ["cobot6", "planar2", "planar3"])
def test_links_with_one_stretch_are_the_capsules_of_the_arm(name):
    arm = load_arm(name)
    q = postures(arm, 1, np.random.default_rng(5))[0]
    T = link_frames(arm, q)[1:]
    ends = [np.einsum("nij,nj->ni", T[:, :3, :3], p) + T[:, :3, 3] for p in links_as_capsules(arm)]
    assert np.allclose(bodies_in_the_world(arm, q)[:, 1:7], np.hstack(ends), atol=1e-12)


def test_a_tool_is_checked():
    scene = Scene([Sphere([0.3, 0, -0.41], 0.05)], pairs=())
    long = replace(COBOT, tool=pose([0, 0, 0.2]))
    assert clearance(COBOT, scene, np.zeros(6)) == pytest.approx(0.2 - 0.05 - 0.035)
    for arm in (long, to_modified(long), to_standard(to_modified(long))):
        assert clearance(arm, scene, np.zeros(6)) == pytest.approx(-0.085)
        assert closest(arm, scene, np.zeros(6)).link == 7


@pytest.mark.parametrize("name", LIBRARY_ARMS)
def test_pairs_of_links_that_are_not_checked_always_touch(name):
    arm, rng = load_arm(name), np.random.default_rng(6)
    q = postures(arm, 300, rng)
    links = sorted(set(capsules(arm).link.tolist()))
    for i in links:
        for j in links:
            if i < j and (i, j) not in self_pairs(arm):
                assert clearance(arm, Scene(pairs=((i, j),)), q).max() <= 1e-12
    assert clearance(arm, Scene(), q).max() > 0 or not self_pairs(arm)


def test_an_arm_folded_onto_itself_is_found():
    q = [0, 1.0, -1.75, 0, 0, 0]  # the elbow closed as far as it goes
    assert clearance(COBOT, Scene(), q) < 0
    assert closest(COBOT, Scene(), q).other.startswith("link")
    assert clearance(COBOT, Scene(pairs=()), q) == np.inf


# --- which pair, and where -------------------------------------------------------------------


def test_closest_names_the_pair_the_point_and_the_way():
    rng = np.random.default_rng(7)
    scene = Scene([Sphere(place(rng), 0.05, name=f"ball {k}") for k in range(5)], pairs=())
    q = postures(COBOT, 50, rng).reshape(5, 10, 6)
    found = closest(COBOT, scene, q)
    assert np.allclose(found.clearance, clearance(COBOT, scene, q))
    assert np.allclose(np.linalg.norm(found.way, axis=-1), np.abs(found.clearance))
    balls = {one.name: one for one in scene.obstacles}
    for at in np.ndindex(5, 10):
        ball, link = balls[found.other[at]], int(found.link[at])
        to_centre = np.linalg.norm(ball.centre - found.point[at])
        assert to_centre == pytest.approx(found.clearance[at] + ball.radius)
        alone = Scene([replace(ball, may_touch={*range(1, 7)} - {link})], pairs=())
        assert clearance(COBOT, alone, q[at]) == pytest.approx(found.clearance[at])


def test_one_posture_gives_plain_answers():
    scene = load_scene("pillars")
    found = closest(COBOT, scene, scene.start)
    assert clearance(COBOT, scene, scene.start).shape == () == found.clearance.shape
    assert (found.link, found.other) == (6, "table")
    assert found.point[2] == pytest.approx(found.clearance) and found.way[2] < 0


def test_few_and_many_postures_agree():
    rng = np.random.default_rng(8)
    for arm in (COBOT, load_arm("panda"), to_modified(COBOT)):
        scene = Scene([solid(kind, rng) for kind in FAR])
        q = postures(arm, 100, rng)
        one_by_one = [clearance(arm, scene, x) for x in q]
        assert np.allclose(clearance(arm, scene, q), one_by_one, atol=1e-12)


def test_links_that_may_touch_are_left_out():
    table = HalfSpace([0, 0, 1])
    q = [0, np.pi / 2, 0.3, 0, 0, 0]
    assert clearance(COBOT, Scene([table]), q) == pytest.approx(-0.06)
    assert clearance(COBOT, Scene([replace(table, may_touch=(1,))]), q) > 0


# --- edges -----------------------------------------------------------------------------------


def among(arm, rng):
    kinds = [(Sphere, Capsule, Box)[rng.integers(3)] for _ in range(4)]
    return drawn(arm, [*kinds, HalfSpace], rng)


def free_posture(arm, scene, rng):
    q = postures(arm, 1, rng)[0]
    return q if clearance(arm, scene, q) > 0 else free_posture(arm, scene, rng)


def judged(arm, count, rng):
    """Shares of free edges, of false "free", of false "blocked", against a scan 100 times finer."""
    free = false_free = false_blocked = 0
    for k in range(count):
        if k % 20 == 0:
            scene = among(arm, rng)
        q0 = free_posture(arm, scene, rng)
        way = rng.normal(size=arm.n)
        q1 = q0 + rng.uniform(0.2, 3.0) * way / np.linalg.norm(way)
        margin = (0.0, 0.01)[k % 2]
        edge = check_edge(arm, scene, q0, q1, margin)
        t = np.linspace(0, 1, min(100 * edge.samples, 4000))[:, None]
        least = clearance(arm, scene, q0 + t * (q1 - q0)).min()
        free += edge.free
        false_free += edge.free and least <= margin
        false_blocked += not edge.free and least > margin + 1e-3
    return free / count, false_free, false_blocked


@pytest.mark.parametrize("count", [150, pytest.param(10_000, marks=pytest.mark.full)])
def test_an_edge_is_neither_falsely_free_nor_falsely_blocked(count):
    free, false_free, false_blocked = judged(COBOT, count, np.random.default_rng(9))
    assert (false_free, false_blocked) == (0, 0)
    assert 0.3 < free < 0.7


def test_edges_of_other_arms_too():
    rng = np.random.default_rng(10)
    sliding = Arm(
        "gantry and arm",
        "standard",
        [0, 0, 0.3, 0.2],
        [-np.pi / 2, np.pi / 2, 0.4, 0],
        [0.2, 0.1, 0.1, 0],
        [0, 0.3, 0, 0],
        ("prismatic", "prismatic", "revolute", "revolute"),
        q_min=[0, 0, -3, -3],
        q_max=[0.4, 0.4, 3, 3],
        tool=pose([0.1, 0.05, 0]),
    )
    for arm in (sliding, to_modified(sliding), load_arm("panda")):
        free, false_free, false_blocked = judged(arm, 60, rng)
        assert (false_free, false_blocked) == (0, 0) and 0.1 < free < 0.9


PLOTTER = Arm(
    "plotter",
    "standard",
    [0, 0],
    [np.pi / 2, 0],
    [0, 0],
    [np.pi / 2, 0],
    ("prismatic", "prismatic"),
    base=pose(rotation=Rotation.from_euler("y", 90, degrees=True)),
    q_max=[9, 9],
    radius=[1e-3, 1e-3],
)


def test_an_edge_does_not_jump_an_obstacle():
    """(0, 0) to (3, 0), a ball at (.25, 0) with radius .2: samples every .5 m see nothing."""
    scene = Scene([Sphere([0.25, 0, -1.0], 0.2)])
    q = np.array([[0.0, 1.0], [3.0, 1.0]])
    assert not edge_is_free(PLOTTER, scene, *q)
    assert edge_is_free(COBOT, Scene(), np.zeros(6), np.full(6, 0.1))


def test_links_are_tested_not_joints():
    arm = Arm("2R", "standard", [1, 1], [0, 0], [0, 0], [0, 0])
    scene = Scene([Sphere([0.5, 0, 0], 0.2)])
    assert clearance(arm, scene, [0, 0]) == pytest.approx(-0.23)
    assert not edge_is_free(arm, scene, [0.5, 0], [-0.5, 0])


def test_a_margin_is_kept():
    arm = Arm("1R", "standard", [1], [0], [0], [0], radius=[0.05])
    scene = Scene([Sphere([1.25, 0, 0], 0.1)])  # .1 m from the arm at q = 0
    for margin, free in ((0.0, True), (0.0989, True), (0.1, False), (0.2, False)):
        assert edge_is_free(arm, scene, [-1], [1], margin) is free
    edge = check_edge(arm, scene, [-1], [1], 0.2)
    assert "clearance" in edge.reason and edge.clearance <= 0.2
    assert check_edge(arm, scene, [-1], [1]).reason == "free"


def test_edges_come_in_stacks():
    scene = load_scene("pillars")
    ends = np.array([scene.goal, scene.start])
    assert edge_is_free(COBOT, scene, scene.start, ends).tolist() == [False, True]
    assert edge_is_free(COBOT, scene, scene.start, scene.start) is True


# --- scenes ----------------------------------------------------------------------------------

# Ways through the feasible ones; each edge below is checked.
WAYS = {
    "pillars": [[0.13, 1.19, 0.76, -0.26, 0.66, -0.69]],
    "slot": [[-0.43, 1.6, -0.97, -0.65, 0.76, 0.52], [0, 1.8, -0.75, 0, 0.75, 0]],
    "shelf": [[0.61, 1.37, 0.35, -0.46, -0.82, 1.49]],
}


@pytest.mark.parametrize("name", EVERY_SCENE)
def test_a_scene_poses_a_task(name):
    scene = load_scene(name)
    assert scene.name == name and scene.about and scene.feasible == (name in WAYS)
    assert clearance(scene.arm, scene, scene.start) > 0
    assert not edge_is_free(scene.arm, scene, scene.start, scene.goal)
    if scene.feasible:
        way = [scene.start, *WAYS[name], scene.goal]
        assert edge_is_free(scene.arm, scene, way[:-1], way[1:]).all()


def test_in_two_scenes_there_is_no_way():
    board, divided = load_scene("board"), load_scene("divided")
    assert clearance(COBOT, board, board.goal) < -0.01
    assert clearance(COBOT, divided, divided.goal) > 0
    angle = np.linspace(0, 2 * np.pi, 20_000)  # where the elbow would have to cross
    shoulder, elbow = link_frames(COBOT, np.zeros(6))[1:3, :3, 3]
    reach = np.linalg.norm(elbow - shoulder)
    x, z = reach * np.cos(angle), shoulder[2] + reach * np.sin(angle)
    elbows = [Sphere([a, 0, b], 1e-6) for a, b in zip(x[::40], z[::40])]
    walls = [one for one in divided.obstacles if isinstance(one, Box)]
    for elbow in elbows:
        inside = [(np.abs(elbow.centre - one.pose[:3, 3]) <= one.size / 2).all() for one in walls]
        assert any(inside) or elbow.centre[2] < COBOT.radius[1]


def test_the_slot_is_20_mm_wider_than_the_link_that_its_scene_names():
    scene = load_scene("slot")
    right, left = sorted(
        (one for one in scene.obstacles if isinstance(one, Box)), key=lambda one: one.pose[1, 3]
    )
    width = left.pose[1, 3] - left.size[1] / 2 - right.pose[1, 3] - right.size[1] / 2
    assert width - 2 * COBOT.radius[scene.passes - 1] == pytest.approx(0.02)
    passing = closest(COBOT, scene, scene.goal)
    assert passing.link == scene.passes and passing.clearance == pytest.approx(0.01)


GOOD = {"name": "x", "arm": "cobot6", "obstacles": []}
BALL = {"shape": "sphere", "centre": [0, 0, 1], "radius": 0.1}


def with_one(**changes):
    return {**GOOD, "obstacles": [{**BALL, **changes}]}


WRONG = [
    ("text", "file: 'text', expected fields"),
    ({"name": "x", "arm": "cobot6"}, "file: field 'obstacles' is missing"),
    ({**GOOD, "gaol": 1}, "file: unknown field 'gaol', did you mean 'goal'?"),
    ({**GOOD, "arm": "cobot7"}, "no arm 'cobot7'"),
    ({**GOOD, "obstacles": 3}, "obstacles: 3, expected a list"),
    ({**GOOD, "obstacles": [3]}, "obstacles[0]: 3, expected fields ['shape']"),
    ({**GOOD, "start": [0, 0]}, "start: [0, 0], expected 6 numbers"),
    ({**GOOD, "goal": [0, 0, 0, 0, 0, 3]}, "goal[5]: 3, expected within the limits of cobot6"),
    ({**GOOD, "goal": ["x"] * 6}, "goal[0]: 'x', expected a number"),
    ({**GOOD, "passes": 9}, "passes: 9, expected a link of cobot6, 1 to 6"),
    ({**GOOD, "feasible": "perhaps"}, "feasible: 'perhaps', expected true or false"),
    (with_one(shape="ball"), "obstacles[0].shape: 'ball', expected one of ['sphere', 'capsule'"),
    (with_one(size=[1, 1, 1]), "obstacles[0]: unknown field 'size', expected ('shape'"),
    (with_one(centre=[0, 0]), "obstacles[0].centre: shape (2,), expected (3,)"),
    (with_one(radius=-1), "obstacles[0].radius: -1, expected a positive number"),
    (with_one(radius="thick"), "obstacles[0].radius: 'thick', expected a number"),
    (with_one(may_touch=["hand"]), "obstacles[0].may_touch: ['hand'], expected numbers of links"),
    (with_one(may_touch=1), "obstacles[0].may_touch: 1, expected numbers of links"),
]


@pytest.mark.parametrize("content, message", WRONG, ids=[m for _, m in WRONG])
def test_a_wrong_file_is_told_by_file_field_and_value(tmp_path, content, message):
    path = tmp_path / "wrong.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    with pytest.raises(ValueError) as raised:
        load_scene(path)
    assert str(raised.value).startswith("wrong.yaml: ") and message in str(raised.value)


def test_a_scene_that_is_not_there_is_told():
    with pytest.raises(FileNotFoundError, match=r"no scene 'pilars'.*'pillars'"):
        load_scene("pilars")


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Sphere([0, 0, 0], 0), "radius: 0, expected a positive number"),
        (lambda: Sphere([0, 0, np.nan], 1), r"centre\[2\]: nan, expected finite"),
        (lambda: Box(np.eye(4), [1, 1]), r"size: shape \(2,\), expected \(3,\)"),
        (lambda: Box(2 * np.eye(4), [1, 1, 1]), "pose: its 3x3 part is not a rotation"),
        (lambda: HalfSpace([0, 0, 0]), "normal: 0, expected a direction"),
        (lambda: Scene([3]), r"obstacles\[0\]: 3, expected one of"),
        (lambda: clearance(COBOT, Scene(), np.zeros(5)), r"q: shape \(5,\), expected \(..., 6\)"),
        (lambda: closest(COBOT, Scene(pairs=()), np.zeros(6)), "holds no pair"),
        (lambda: check_edge(COBOT, Scene(), np.zeros(6), np.zeros((2, 6))), "q1: shape"),
    ],
)
def test_what_makes_no_sense_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_no_postures_have_no_clearances():
    assert clearance(COBOT, load_scene("pillars"), np.empty((0, 6))).shape == (0,)
