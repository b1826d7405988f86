"""Lesson 11: its measured files are measured again on a part, its functions against witnesses.

Functions are taken from the lesson's cells without running the rest.
"""

import ast
import csv
import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import kstest

from course_lib.check import load_exercises
from course_lib.planning import metric
from course_lib.trajectory import blend

PROJECT = Path(__file__).resolve().parents[2]
LESSON = PROJECT / "notebooks" / "11_optimal_planning.ipynb"
FOLDER = PROJECT / "data" / "measurements"


CONSTANTS = {"R", "START", "BEST", "GANTRY", "POST", "TWO"}


def made(node):
    """The names that an assignment binds."""
    targets = getattr(node, "targets", []) if isinstance(node, ast.Assign) else []
    return {name.id for t in targets for name in ast.walk(t) if isinstance(name, ast.Name)}


@pytest.fixture(scope="module")
def lesson():
    """The names of lesson 11 after its imports, functions, classes and some CONSTANTS alone."""
    names, kinds = {}, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
    for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code" and "needs-pin" not in cell["metadata"].get("tags", []):
            body = ast.parse("".join(cell["source"])).body
            body = [node for node in body if isinstance(node, kinds) or CONSTANTS & made(node)]
            exec(ast.unparse(ast.Module(body, [])), names)
    return names


@pytest.fixture(scope="module")
def exercises():
    path = PROJECT / "notebooks" / "checks" / "11_optimal_planning.py"
    return {exercise.name: exercise for exercise in load_exercises(path)}


def script(name):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stored(name, **wanted):
    with (FOLDER / f"{name}.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [row for row in rows if all(row[key] == str(x) for key, x in wanted.items())]


# ---------------------------------------------------------------- the measured files


def test_every_run_is_stored():
    runs = script("optimal_runs")
    methods = ["RRT", "RRT-Connect", "shortcut", "optimised", "restarts", "RRT*", "Informed RRT*"]
    assert len(runs.SEEDS) >= 30 and len(runs.SCENES) >= 4
    for scene in runs.SCENES:
        for method in methods:
            rows = stored("optimal_runs", scene=scene, method=method)
            assert [int(row["seed"]) for row in rows] == list(runs.SEEDS)
        for width in runs.WIDTHS:
            rows = stored("optimal_line", scene=scene, width=width)
            assert [int(row["seed"]) for row in rows] == list(runs.SEEDS)
    curves = script("optimal_curves")
    for scene in curves.SCENES:
        for path in curves.NAMES:
            rows = stored("optimal_curves", scene=scene, path=path)
            assert [int(row["seed"]) for row in rows] == list(curves.SEEDS)


@pytest.mark.parametrize("scene, seed", [("gantry", 1), ("pillars", 2), ("shelf", 0), ("slot", 3)])
@pytest.mark.parametrize("informed", [False, True])
def test_the_beginning_of_a_star_is_as_stored(scene, seed, informed):
    runs, method = script("optimal_runs"), "Informed RRT*" if informed else "RRT*"
    _, trace = runs.star(scene, seed, informed, iterations=50)
    again = [(str(work), f"{cost:.4f}") for work, cost, _ in trace]
    rows = stored("optimal_traces", scene=scene, method=method, seed=seed)
    assert [(row["work"], row["length"]) for row in rows][: len(again)] == again
    assert len(again) > 5


@pytest.mark.parametrize("scene, seed", [("gantry", 4), ("pillars", 5), ("slot", 1)])
def test_first_ways_and_shortcuts_are_as_stored(scene, seed):
    runs = script("optimal_runs")
    *ends, trace = runs.shortened(scene, seed)
    for method, end in zip(("RRT-Connect", "shortcut", "optimised"), ends):
        (row,) = stored("optimal_runs", scene=scene, method=method, seed=seed)
        assert list(row.values())[3:-1] == [str(x) for x in end[:-1]]
    rows = stored("optimal_traces", scene=scene, method="shortcut", seed=seed)
    assert [row["length"] for row in rows] == [f"{cost:.4f}" for _, cost, _ in trace]


def test_restarts_are_as_stored():
    _, trace = script("optimal_runs").restarted("pillars", 3, restarts=4)
    rows = stored("optimal_traces", scene="pillars", method="restarts", seed=3)
    assert [row["length"] for row in rows[:4]] == [f"{cost:.4f}" for _, cost, _ in trace]


@pytest.mark.parametrize("scene, width, seed", [("shelf", 0.4, 2), ("slot", 0.2, 7)])
def test_a_run_beside_the_line_is_as_stored(scene, width, seed):
    again = script("optimal_runs").line(scene, width, seed)
    (row,) = stored("optimal_line", scene=scene, width=width, seed=seed)
    assert list(row.values())[3:] == [str(x) for x in again]


@pytest.mark.parametrize("scene, seed", [("pillars", 0), ("shelf", 4)])
def test_curves_are_as_stored(scene, seed):
    again = [[str(x) for x in row] for row in script("optimal_curves").rows(scene, seed)]
    assert again == [list(r.values()) for r in stored("optimal_curves", scene=scene, seed=seed)]


def test_what_the_lesson_says_of_the_table():
    """Its verdicts in words, on the numbers that are stored."""
    runs = script("optimal_runs")

    def lengths(scene, method):
        rows = stored("optimal_runs", scene=scene, method=method)
        return np.array([float(row["length"]) for row in rows])

    for scene in ("pillars", "shelf", "slot"):
        assert np.isfinite(lengths(scene, "RRT-Connect")).all()
        cut = np.median(lengths(scene, "shortcut"))
        assert cut < np.median(lengths(scene, "Informed RRT*"))
        assert cut < np.median(lengths(scene, "RRT*"))
        near = stored("optimal_runs", scene=scene, method="shortcut")
        bent = stored("optimal_runs", scene=scene, method="optimised")
        middle = [np.median([float(r["clearance"]) for r in rows]) for rows in (near, bent)]
        assert middle[0] < 0.003 and middle[1] > 3 * middle[0]
    for scene in runs.SCENES:
        assert not any(int(r["success"]) for r in stored("optimal_line", scene=scene, width=0.05))


# ---------------------------------------------------------------- the shortest way


def test_the_gantry_of_the_script_is_the_lessons(lesson):
    scene = script("optimal_runs").gantry()
    assert np.array_equal(scene.start, lesson["START"])
    assert np.array_equal(scene.goal, lesson["GOAL"])
    for field in ("a", "alpha", "d", "theta", "base", "tool", "radius", "q_min", "q_max"):
        assert np.array_equal(getattr(scene.arm, field), getattr(lesson["GANTRY"], field))
    (one,), (other,) = scene.obstacles, lesson["POST"].obstacles
    assert np.array_equal(one.start, other.start) and one.radius == other.radius


def by_descent(start, goal, centre, r, bulge):
    """Length of a chain of places that SciPy pulls tight outside of the post."""
    k, across = 24, np.array([[0, -1], [1, 0]]) @ (goal - start) / np.linalg.norm(goal - start)
    t = np.linspace(0, 1, k + 2)[1:-1, None]
    first = start + t * (goal - start) + bulge * np.sin(np.pi * t) * across
    whole = lambda x: np.vstack([start, x.reshape(k, 2), goal])
    far = lambda x: np.linalg.norm(np.diff(whole(x), axis=0), axis=1).sum()

    def room(x):
        a = whole(x)[:-1]
        d = np.diff(whole(x), axis=0)
        s = np.clip(((centre - a) * d).sum(1) / (d * d).sum(1), 0, 1)[:, None]
        return np.linalg.norm(a + s * d - centre, axis=1) - r

    limits = {"type": "ineq", "fun": room}
    found = minimize(
        far, first.ravel(), constraints=limits, method="SLSQP", options={"maxiter": 300}
    )
    assert room(found.x).min() > -1e-6
    return found.fun


def test_the_shortest_way_is_what_a_descent_finds(lesson, exercises):
    start, goal = lesson["START"], lesson["GOAL"]
    best = lesson["shortest_round"](start, goal, lesson["R"])
    found = by_descent(start, goal, np.zeros(2), lesson["R"], -0.6)
    assert best - 1e-6 < found < 1.002 * best
    truth = exercises["round_post"].truth
    centre, r = np.array([0.1, 0.15]), 0.2
    for bulge, left in ((0.9, False), (-0.9, True)):
        found = by_descent(start, goal, centre, r, bulge)
        assert truth(start, goal, centre, r, left) == pytest.approx(found, rel=2e-3)


# ---------------------------------------------------------------- trees


@pytest.mark.parametrize("star", [False, True])
def test_trees_of_the_explorers_have_true_costs_and_keep_off_the_post(lesson, star):
    for seed in (0, 3):
        q, costs, snaps = lesson["grow"](star, seed, 300)
        parent, end, cost = snaps[-1]
        way = np.vstack([lesson["branch"](q, parent, end), lesson["GOAL"]])
        assert np.linalg.norm(np.diff(way, axis=0), axis=1).sum() == pytest.approx(cost)
        k = np.flatnonzero(parent >= 0)
        share = np.linspace(0, 1, 50)[:, None, None]
        places = q[k] + share * (q[parent[k]] - q[k])
        assert np.linalg.norm(places, axis=-1).min() > lesson["R"] - 1e-3
        found = costs[costs < np.inf]
        assert (np.diff(found) <= 1e-12).all() and found[-1] == cost
        assert cost > lesson["BEST"]


def test_forgotten_subtrees_make_costs_too_high_and_never_too_low(lesson):
    arm, start, goal = lesson["GANTRY"], lesson["START"], lesson["GOAL"]
    flat = lambda a, b: lesson["clear"](a, b[None])[0]
    for name, right in (("lower_subtree", True), ("lower_one", False)):
        rng, lower = np.random.default_rng(1), lesson[name]
        q, parent, cost, end = lesson["my_rrt_star"](
            arm, start, goal, rng, flat, step=0.8, turns=200, lower=lower
        )
        way = lambda k: lesson["branch"](q, parent, k)
        true = [np.linalg.norm(np.diff(way(k), axis=0), axis=1).sum() for k in range(len(q))]
        off = cost - true
        assert off.min() > -1e-9 and (off.max() < 1e-9) == right


def test_near_is_what_optimality_asks_for(lesson):
    """The published bound e (1 + 1/n) log(size), and the count that `Tree.near` gets, agree."""
    for size, n in ((2, 2), (100, 2), (1000, 6)):
        count = lesson["log_rule"](size - 1, n)
        assert count - 1 < np.exp(1) * (1 + 1 / n) * np.log(size) <= count


# ---------------------------------------------------------------- ellipsoids, bands


def test_the_lessons_ellipsoid_is_even(lesson):
    """In the frame of the ellipsoid, radius**n is uniform, and all are inside."""
    start, goal, scale, cost = np.array([0.1, 0, 0]), np.array([0.5, 1, 0.2]), np.ones(3), 1.6
    q = lesson["my_ellipsoid"](np.random.default_rng(0), start, goal, scale, cost, 4000)
    assert lesson["thread"](q, start, goal, scale).max() < cost
    way = goal - start
    least = np.linalg.norm(way)
    along = (q - (start + goal) / 2) @ way / least
    across = np.linalg.norm(q - (start + goal) / 2 - along[:, None] * way / least, axis=1)
    radius = np.hypot(along / (cost / 2), across / (np.sqrt(cost**2 - least**2) / 2))
    assert kstest(radius**3, "uniform").pvalue > 0.01


def test_a_tree_in_a_closed_band_never_leaves_it(lesson):
    q, costs, snaps = lesson["grow"](False, 1, 300, lesson["in_the_band"](0.25))
    axis = lesson["GOAL"] - lesson["START"]
    side = np.array([-axis[1], axis[0]]) / np.linalg.norm(axis)
    n = len(snaps[-1][0])
    assert np.abs((q[:n] - lesson["START"]) @ side).max() <= 0.25 + 1e-9
    assert np.isinf(costs).all()


def test_checkpoint_ranges_hold_all_draws_and_are_reached(lesson, exercises):
    rng, n = np.random.default_rng(2), 3
    start, goal, scale = *rng.uniform(-1, 1, (2, n)), rng.uniform(0.3, 1, n)
    cost = 1.3 * np.linalg.norm((goal - start) * scale)
    ranges = exercises["joint_ranges"].truth(start, goal, scale, cost)
    q = lesson["my_ellipsoid"](rng, start, goal, scale, cost, 200_000)
    assert (q >= ranges[:, 0]).all() and (q <= ranges[:, 1]).all()
    assert np.ptp(q, axis=0) == pytest.approx(np.diff(ranges)[:, 0], rel=0.02)


# ---------------------------------------------------------------- curves


def test_a_proven_curve_is_free_and_a_cut_corner_is_seen(lesson):
    arm, post = lesson["GANTRY"], lesson["POST"]
    corner = np.array([lesson["START"], [0.0, 0.295], lesson["GOAL"]])
    for deviation in (0.005, 0.1):
        curve = blend(corner, deviation)
        proven, near = lesson["check_curve"](arm, post, curve)
        places = curve(np.linspace(0, curve.duration, 20_000))[0]
        room = np.linalg.norm(places, axis=1).min() - lesson["R"]
        assert proven == (room > 0) and near == pytest.approx(room, abs=1e-4)


def test_checkpoint_margin_is_how_far_a_blend_leaves_its_path(exercises):
    rng, reach = np.random.default_rng(4), np.array([0.7, 0.5, 0.2])
    path = np.cumsum(rng.uniform(-1, 1, (5, 3)), axis=0)
    curve = blend(path, 0.05)
    d = np.diff(curve.breaks)[1::2] / 2  # of each corner, half the length of its parabola
    misses = [np.abs(curve(s)[0] - p) @ reach for s, p in zip(middles(curve), path[1:-1])]
    margin = exercises["blend_margin"].truth(path, d, reach)
    assert len(d) == 3 and margin == pytest.approx(max(misses))


def middles(curve):
    """Where each corner of a blend has its middle."""
    return (curve.breaks[1:-1:2] + curve.breaks[2::2]) / 2


def test_checkpoint_best_is_what_drawing_gives(exercises):
    lengths = np.array([1.1, 1.3, 1.2, 2.5, 3.0])
    draws = np.random.default_rng(0).choice(lengths, (200_000, 3)).min(axis=1)
    exact = exercises["expected_best"].truth(lengths, 3)
    assert abs(draws.mean() - exact) < 4 * draws.std() / np.sqrt(len(draws))


def test_metric_of_the_gantry_is_one(lesson):
    assert metric(lesson["GANTRY"]) == pytest.approx([1, 1])
