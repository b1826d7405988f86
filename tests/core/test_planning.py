"""course_lib.planning: ways that coal finds free, costs that add up, an optimum that is known."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import chi2

from course_lib.arm import Arm, load_arm
from course_lib.collision import Capsule, Scene, Sphere, clearance, load_scene
from course_lib.kinematics import fk, link_frames
from course_lib.planning import (
    Options,
    Tree,
    World,
    beside_the_line,
    bridge,
    in_the_ellipsoid,
    informed_rrt_star,
    length,
    metric,
    optimise,
    rrt,
    rrt_connect,
    rrt_star,
    shortcut,
    uniform,
)
from course_lib.poses import pose
from course_lib.tools.bench.collision import coal_clearance

FEASIBLE = ["pillars", "slot", "shelf"]
PLANNERS = [rrt, rrt_connect, rrt_star, informed_rrt_star]
FINE = 0.01  # [m] between the postures that coal looks at: a twentieth of a small step, or less


def rng(seed=0):
    return np.random.default_rng(seed)


def planned(planner, name, seed=0, **options):
    scene = load_scene(name)
    if planner in (rrt_star, informed_rrt_star):
        options = {"max_iterations": 300, **options}
    return scene, planner(scene.arm, scene, scene.start, scene.goal, rng=rng(seed), **options)


def dense(arm, path):
    """Postures along a path, no farther apart than FINE."""
    parts = []
    for a, b in zip(path, path[1:]):
        k = int(np.ceil(length(arm, [a, b]) / FINE)) + 1
        parts.append(a + np.linspace(0, 1, k)[:, None] * (b - a))
    return np.concatenate(parts)


def assert_free(scene, path):
    """Start and goal exact, no limit passed, and nothing touched by coal's reckoning."""
    pytest.importorskip("coal")
    arm = scene.arm
    assert np.array_equal(path[0], scene.start) and np.array_equal(path[-1], scene.goal)
    assert (arm.q_min <= path).all() and (path <= arm.q_max).all()
    assert coal_clearance(arm, scene, dense(arm, path)).min() > 0


# --- the way ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FEASIBLE)
@pytest.mark.parametrize("planner", PLANNERS, ids=lambda f: f.__name__)
def test_a_way_is_free_by_coals_reckoning(planner, name):
    if name != "pillars" and planner in (rrt_star, informed_rrt_star):
        pytest.skip("looks for hundreds of iterations on where the others have long arrived")
    scene, plan = planned(planner, name)
    assert plan.success and plan.reason == "found"
    assert plan.cost == pytest.approx(length(scene.arm, plan.path))
    assert_free(scene, plan.path)


@pytest.mark.full
@pytest.mark.parametrize("name", FEASIBLE)
def test_a_hundred_seeds_find_a_free_way(name):
    for seed in range(100):
        scene, plan = planned(rrt_connect, name, seed)
        assert plan.success, (seed, plan.reason)
        assert_free(scene, plan.path)


@pytest.mark.full
@pytest.mark.parametrize("name", FEASIBLE)
@pytest.mark.parametrize("first", [0, 100, 200])
def test_a_thousand_ways_are_free(name, first):
    for seed in range(first, first + 112):
        scene, plan = planned(rrt_connect, name, 1000 + seed)
        assert_free(scene, shortcut(scene.arm, scene, plan.path, rng=rng(seed), rounds=20))


@pytest.mark.parametrize("name", FEASIBLE)
def test_twenty_ways_are_free(name):
    for seed in range(20 if name == "pillars" else 6):
        scene, plan = planned(rrt_connect, name, seed)
        assert_free(scene, shortcut(scene.arm, scene, plan.path, rng=rng(seed), rounds=20))


def test_a_margin_is_kept_all_the_way():
    scene, plan = planned(rrt_connect, "pillars", margin=0.02)
    assert coal_clearance(scene.arm, scene, dense(scene.arm, plan.path)).min() > 0.02


def test_the_same_seed_gives_the_same_way_and_another_another():
    ways = [planned(rrt_connect, "pillars", seed)[1].path for seed in (1, 1, 2)]
    assert np.array_equal(ways[0], ways[1])
    assert ways[0].shape != ways[2].shape or not np.allclose(ways[0], ways[2])


def test_a_free_straight_edge_is_the_whole_way():
    scene = load_scene("pillars")
    plan = rrt_connect(scene.arm, Scene(), scene.start, scene.goal, rng=rng(), step=0.2)
    assert plan.success and plan.counts["samples"] == 0
    assert plan.cost == pytest.approx(length(scene.arm, [scene.start, scene.goal]))


def test_start_and_goal_in_one_place():
    scene = load_scene("pillars")
    for planner in PLANNERS:
        options = {"rng": rng(), "max_iterations": 50}
        plan = planner(scene.arm, scene, scene.start, scene.start, **options)
        assert plan.success and plan.cost == 0


# --- the metric and the tree -----------------------------------------------------------------


@pytest.mark.parametrize("name", ["cobot6", "panda", "planar3"])
def test_no_point_of_the_arm_moves_farther_than_the_metric_says(name):
    arm, h = load_arm(name), 1e-6
    q = rng().uniform(arm.q_min, arm.q_max, (300, 1, arm.n))
    step = h * np.eye(arm.n)
    ends = [
        np.concatenate([link_frames(arm, x)[..., :3, 3], fk(arm, x)[..., None, :3, 3]], axis=-2)
        for x in (q, q + step)
    ]
    speed = np.linalg.norm(ends[1] - ends[0], axis=-1).max(axis=(0, 2)) / h
    assert (speed <= metric(arm) + 1e-6).all()
    assert (speed > 0.6 * metric(arm))[:3].all()  # nor is it far too careful


@pytest.mark.parametrize("planner", PLANNERS, ids=lambda f: f.__name__)
def test_costs_are_sums_of_edges_to_the_root(planner):
    scene, plan = planned(planner, "pillars")
    tree = plan.tree
    for k in range(tree.size):
        branch = tree.branch(k)
        assert np.array_equal(branch[-1], tree.q[k])
        assert tree.cost[k] == pytest.approx(length(scene.arm, branch), abs=1e-9)
    roots = tree.q[tree.parent < 0]
    assert np.array_equal(roots, [scene.start, scene.goal][: len(roots)])


def test_the_nearest_node_is_that_of_a_search_one_by_one():
    scale, draw = np.array([1.0, 0.2, 3.0]), rng(3)
    tree = Tree(np.zeros(3), scale)
    for q in draw.normal(size=(2500, 3)):
        tree.add(q, 0)
        if tree.size % 50 == 0:
            other = draw.normal(size=3)
            away = np.linalg.norm((tree.q - other) * scale, axis=1)
            assert tree.nearest(other) == away.argmin()
            assert set(tree.near(other, 7)) == set(np.argsort(away)[:7])


def test_a_node_that_moves_takes_the_costs_below_it_along():
    tree = Tree(np.zeros(2), np.ones(2))
    far = tree.add(np.array([0.0, 3.0]), 0)
    low = tree.add(np.array([4.0, 3.0]), far)
    last = tree.add(np.array([4.0, 4.0]), low)
    tree.move(low, 0)
    assert tree.cost[[low, last]] == pytest.approx([5.0, 6.0])
    assert np.array_equal(tree.branch(last), [[0, 0], [4, 3], [4, 4]])


# --- why there is none -----------------------------------------------------------------------


def test_what_is_wrong_with_start_or_goal_is_named():
    scene = load_scene("pillars")
    arm, far = scene.arm, scene.goal.copy()
    far[1] = 3.0
    inside = replace(scene, obstacles=[Sphere(fk(arm, scene.start)[:3, 3], 0.05, name="ball")])
    for planner in PLANNERS:
        plan = planner(arm, inside, scene.start, scene.goal, rng=rng())
        assert not plan.success and plan.reason.startswith("start: link")
        assert "ball" in plan.reason and plan.path.shape == (0, 6) and plan.cost == np.inf
        plan = planner(arm, scene, scene.start, far, rng=rng())
        assert plan.reason == "goal: joint 2 = 3 is outside its limits -2.618 to 2.618"
        assert plan.counts["iterations"] == 0


def test_where_there_is_no_way_the_turns_end_and_nothing_is_proven():
    for planner in PLANNERS:
        _, plan = planned(planner, "divided", max_iterations=60)
        assert not plan.success and plan.counts["iterations"] == 60
        assert plan.reason == "iteration limit: no way in 60 iterations, which proves nothing"
        assert plan.tree.size > 1


def test_a_task_with_a_goal_inside_a_board_is_told():
    scene, plan = planned(rrt_connect, "board")
    assert plan.reason.startswith("goal: link") and "board" in plan.reason
    assert not scene.feasible


@pytest.mark.parametrize(
    "change, message",
    [
        ({"step": 0.0}, "step: 0.0, expected a positive length"),
        ({"step": np.nan}, "step: nan"),
        ({"goal_bias": 1.5}, "goal_bias: 1.5, expected a share"),
        ({"bias": 0.1}, r"options: \['bias'\], expected some of"),
        ({"rng": 3}, "rng: 3, expected a numpy Generator"),
        ({"q_start": np.zeros(5)}, "q_start"),
        ({"q_goal": np.zeros((2, 6))}, "q_goal"),
        ({"q_goal": np.full(6, np.nan)}, "q_goal"),
    ],
)
@pytest.mark.parametrize("planner", PLANNERS, ids=lambda f: f.__name__)
def test_arguments_that_cant_be_used_are_refused(planner, change, message):
    scene = load_scene("pillars")
    given = {"q_start": scene.start, "q_goal": scene.goal, "rng": rng(), **change}
    with pytest.raises(ValueError, match=message):
        planner(scene.arm, scene, **given)


# --- what a planner counts -------------------------------------------------------------------


def test_counts_and_times_tell_what_was_done():
    _, plan = planned(rrt, "pillars")
    c, t = plan.counts, plan.times
    assert c["extended"] <= c["extensions"] <= c["edges"] and c["samples"] <= c["iterations"]
    assert plan.tree.size in (c["extended"] + 1, c["extended"] + 2)
    assert t["collision"] > t["nearest"] > 0 and t["sampling"] > 0
    seen = []
    planned(rrt, "divided", max_iterations=5, progress=seen.append)
    assert seen == [0, 1, 2, 3, 4]


def test_a_tree_grows_by_steps_at_most():
    scene, plan = planned(rrt, "pillars", step=0.2)
    k = np.flatnonzero(plan.tree.parent >= 0)
    edges = plan.tree.x[k] - plan.tree.x[plan.tree.parent[k]]
    assert np.linalg.norm(edges, axis=1).max() < 0.2 + 1e-9


# --- the best way ----------------------------------------------------------------------------

RADIUS, REST = 0.25, 0.02  # of the post, and of the tool that goes round it


def gantry():
    """A tool that hangs from two slides along x and y, and a post between start and goal."""
    turned = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])  # the first slide along x
    arm = Arm(
        "gantry",
        "standard",
        a=[0, 0],
        alpha=[-np.pi / 2, 0],
        d=[0, 0],
        theta=[np.pi / 2, 0],
        joint_types=("prismatic", "prismatic"),
        q_min=[-1, -1],
        q_max=[1, 1],
        radius=[REST, REST],
        base=pose([0, 0, 2.0], turned),
    )
    down = np.linalg.inv(fk(arm, [0, 0])[:3, :3]) @ [0, 0, -1.5]
    arm = replace(arm, tool=pose(down, np.eye(3)))
    post = Capsule([0, 0, 0], [0, 0, 0.6], RADIUS, name="post")
    return arm, Scene([post], pairs=()), np.array([-0.8, 0.05]), np.array([0.8, -0.05])


def shortest_way_round(start, goal, r):
    """Two tangents and an arc about the origin."""
    a, b = np.linalg.norm(start), np.linalg.norm(goal)
    turn = np.arccos(start @ goal / (a * b)) - np.arccos(r / a) - np.arccos(r / b)
    return np.sqrt(a * a - r * r) + np.sqrt(b * b - r * r) + r * turn


def test_the_gantry_is_what_it_should_be():
    arm, scene, start, goal = gantry()
    q = rng().uniform(-1, 1, (50, 2))
    p = fk(arm, q)[:, :3, 3]
    assert np.allclose(np.abs(p[:, :2]), np.abs(q), atol=1e-12) and np.allclose(p[:, 2], 0.5)
    assert metric(arm) == pytest.approx([1, 1])
    ring = np.hypot(*q.T) - RADIUS - REST
    assert np.allclose(clearance(arm, scene, q), ring, atol=1e-9)
    edge = brentq(lambda s: clearance(arm, scene, start + s * (goal - start)), 0, 0.5)
    assert np.hypot(*(start + edge * (goal - start))) == pytest.approx(RADIUS + REST, abs=1e-9)


@pytest.mark.parametrize(
    "iterations, above", [(600, 0.05), pytest.param(5000, 0.02, marks=pytest.mark.full)]
)
def test_costs_fall_to_the_shortest_way_round_a_post_and_never_rise(iterations, above):
    arm, scene, start, goal = gantry()
    best = shortest_way_round(start, goal, RADIUS + REST)
    soon = {}
    for planner in (rrt_star, informed_rrt_star):
        seen = []
        options = {"step": 0.2, "max_iterations": iterations, "history": seen}
        plan = planner(arm, scene, start, goal, rng=rng(), **options)
        assert len(seen) == iterations and seen[-1] == pytest.approx(plan.cost)
        assert (np.diff([cost for cost in seen if cost < np.inf]) <= 1e-12).all()
        assert best < plan.cost < (1 + above) * best
        soon[planner] = np.argmax(np.array(seen) < 1.03 * best)
    assert 0 < soon[informed_rrt_star] < soon[rrt_star] or soon[rrt_star] == 0


def test_shortcuts_never_lengthen_and_stay_free():
    scene, plan = planned(rrt, "pillars", step=0.2)
    path, before = plan.path, plan.cost
    for seed in range(4):
        path = shortcut(scene.arm, scene, path, rng=rng(seed), rounds=10)
        assert length(scene.arm, path) <= before + 1e-9
        before = length(scene.arm, path)
    assert before < plan.cost
    assert_free(scene, path)


def test_an_optimised_way_is_smoother_keeps_more_clearance_and_is_free():
    scene, plan = planned(rrt_connect, "pillars")
    rough = shortcut(scene.arm, scene, plan.path, rng=rng(), rounds=50)
    path = optimise(scene.arm, scene, rough, wanted=0.04)
    assert_free(scene, path)
    turns = [np.abs(np.diff(dense(scene.arm, p), 2, axis=0)).max() for p in (rough, path)]
    assert turns[1] < turns[0]
    least = [coal_clearance(scene.arm, scene, dense(scene.arm, p)).min() for p in (rough, path)]
    assert least[1] > min(0.035, least[0])


def test_what_cant_be_bent_free_is_given_back():
    scene = load_scene("pillars")
    straight = np.array([scene.start, scene.goal])
    assert optimise(scene.arm, scene, straight, rounds=0) is not None
    assert np.array_equal(optimise(scene.arm, scene, straight, rounds=0), straight)


# --- samplers --------------------------------------------------------------------------------


def drawn(sample, count=60):
    """Postures of a sampler in the slot, and their clearances."""
    scene = load_scene("slot")
    world = World(scene.arm, scene, rng(), Options())
    q = np.array([sample(world) for _ in range(count)])
    assert (scene.arm.q_min <= q).all() and (q <= scene.arm.q_max).all()
    return scene, q, clearance(scene.arm, scene, q)


def test_samples_of_bridges_are_often_in_narrow_places():
    (*_, plain), (*_, near) = drawn(uniform), drawn(lambda world: bridge(world, share=1.0))
    narrow = [((c > 0) & (c < 0.03)).mean() for c in (plain, near)]
    assert narrow[1] > 4 * narrow[0] > 0


def test_samples_beside_the_line_are_there():
    scene = load_scene("slot")
    _, q, _ = drawn(beside_the_line(scene.start, scene.goal, width=0.05), count=300)
    scale = metric(scene.arm)
    a, along = scene.start * scale, (scene.goal - scene.start) * scale
    t = np.clip((q * scale - a) @ along / (along @ along), 0, 1)
    off = np.linalg.norm(q * scale - a - t[:, None] * along, axis=1)
    assert np.median(off) == pytest.approx(0.05 * np.sqrt(chi2.median(5)), rel=0.15)


def test_what_the_ellipsoid_gives_could_lie_on_a_shorter_way():
    scene = load_scene("pillars")
    world = World(scene.arm, scene, rng(), Options())
    ends = np.array([scene.start, scene.goal])
    world.cost = 1.1 * length(scene.arm, ends)
    sample = in_the_ellipsoid(*ends, uniform)
    ways = [length(scene.arm, [ends[0], sample(world), ends[1]]) for _ in range(500)]
    assert max(ways) <= world.cost + 1e-9 and max(ways) > 0.97 * world.cost
