"""Lesson 10: its measured files are measured again on a sample, its functions against witnesses.

Functions are taken from the lesson's cells without running the rest.
"""

import ast
import csv
import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.ndimage import label
from scipy.special import gammaln
from scipy.stats import binomtest

from course_lib.check import load_exercises
from course_lib.collision import check_edge, clearance

PROJECT = Path(__file__).resolve().parents[2]
LESSON = PROJECT / "notebooks" / "10_rrt.ipynb"
FOLDER = PROJECT / "data" / "measurements"


def is_constant(node):
    name = getattr(node.targets[0], "id", "") if isinstance(node, ast.Assign) else ""
    return name.isupper() and len(name) > 1


@pytest.fixture(scope="module")
def lesson():
    """The names of lesson 10 after its imports, functions and CONSTANTS alone."""
    names, kinds = {}, (ast.Import, ast.ImportFrom, ast.FunctionDef)
    for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code" and "needs-pin" not in cell["metadata"].get("tags", []):
            body = ast.parse("".join(cell["source"])).body
            body = [node for node in body if isinstance(node, kinds) or is_constant(node)]
            exec(ast.unparse(ast.Module(body, [])), names)
    return names


@pytest.fixture(scope="module")
def exercises():
    path = PROJECT / "notebooks" / "checks" / "10_rrt.py"
    return {exercise.name: exercise for exercise in load_exercises(path)}


def script(name):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows(name):
    with (FOLDER / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


# ---------------------------------------------------------------- the measured files


@pytest.mark.parametrize(
    "stage, seed",
    [
        ("no obstacle, as published", 0),
        ("no obstacle, goal bias", 3),
        ("pillars, links as lines", 1),
        ("step 0.8 m", 7),
        pytest.param("bodies of the links", 0, marks=pytest.mark.full),
        pytest.param("the last edge", 0, marks=pytest.mark.full),
    ],
)
def test_a_run_of_the_printed_loop_is_as_stored(stage, seed):
    pytest.importorskip("coal")
    again = [str(x) for x in script("rrt_loop").row(stage, seed)]
    assert again in [list(row.values()) for row in rows("rrt_loop")]


def test_all_runs_are_stored():
    loop, runs = script("rrt_loop"), script("rrt_runs")
    stored = [(row["stage"], int(row["seed"])) for row in rows("rrt_loop")]
    assert stored == [(stage, seed) for stage in loop.STAGES for seed in loop.SEEDS]
    stored = [list(row.values())[: len(runs.FIELDS)] for row in rows("rrt_runs")]
    assert stored == [[str(x) for x in task] for task in runs.tasks()]


@pytest.mark.parametrize("k", [0, 20, 40, 85, 300])
def test_a_run_of_the_library_is_as_stored(k):
    runs = script("rrt_runs")
    task = list(runs.tasks())[k]
    assert [str(x) for x in (*task, *runs.run(*task))] == list(rows("rrt_runs")[k].values())


def test_three_searches_find_the_same_node():
    times = script("rrt_times")
    x = times.postures(1000)
    finders = [make(x) for make in (times.by_array, times.by_tree, times.by_hash)]
    for q in times.postures(4):
        assert len({find(q) for find in finders}) == 1


# ---------------------------------------------------------------- what the lesson says


def test_the_lessons_loop_is_the_scripts(lesson):
    loop = script("rrt_loop")
    room, low = loop.SCENE, -2.618
    for options in ({"bias": 0.1}, {**loop.STAGES["step 0.8 m"], "low": low}):
        for seed in range(3):
            ends = room.start, room.goal
            found, path = lesson["loop"](*ends, np.random.default_rng(seed), **options)
            again, other = loop.loop(*ends, np.random.default_rng(seed), **options)
            assert found == again > 0 and np.array_equal(path, other)


def test_a_way_on_the_map_is_one_piece_of_it(lesson):
    """What the explorer's tree finds lies in the piece of start and goal, as SciPy colours it."""
    free = lesson["free_map"](lesson["ROOM"])
    piece, _ = label(free)
    home = piece[lesson["place"](lesson["START"])]
    assert home == piece[lesson["place"](lesson["GOAL"])] != 0
    for seed in range(3):
        q, parent, _ = lesson["map_tree"](free, 0.3, 0.1, seed)
        assert all(piece[lesson["place"](node)] == home for node in q)
        assert np.array_equal(q[0], lesson["START"]) and len(q) == len(parent)


def test_every_edge_of_the_lessons_tree_is_free_and_ends_at_the_goal(lesson):
    arm, room = lesson["PLANE"], lesson["ROOM"]
    q, parent, _ = lesson["my_rrt"](
        arm, room, lesson["START"], lesson["GOAL"], np.random.default_rng(11)
    )
    assert np.array_equal(q[-1], lesson["GOAL"])
    for k, p in enumerate(parent[1:], 1):
        fine = q[p] + np.linspace(0, 1, 200)[:, None] * (q[k] - q[p])
        assert clearance(arm, room, fine).min() > 0
    assert not check_edge(arm, room, lesson["START"], lesson["GOAL"]).free


def test_elbows_are_where_two_sines_put_them(lesson):
    q = np.random.default_rng(0).uniform(-3, 3, (50, 2))
    turns = np.cumsum(q, axis=1)
    links = np.stack([np.cos(turns), np.sin(turns)], -1) * np.array([0.55, 0.45])[:, None]
    assert np.allclose(lesson["elbows"](q)[:, 1:], np.cumsum(links, axis=1), atol=1e-12)


# ---------------------------------------------------------------- checkpoints


def test_checkpoint_goal_chance_is_what_sampling_finds(exercises):
    radius, low, high, scale = 0.5, -np.ones(3), np.array([1.0, 2.0, 1.0]), np.array([1, 0.5, 0.9])
    middle = (low + high) / 2
    q = np.random.default_rng(0).uniform(low, high, (400_000, 3))
    hits = (np.linalg.norm((q - middle) * scale, axis=1) < radius).sum()
    interval = binomtest(int(hits), len(q)).proportion_ci(0.9999)
    assert interval.low < exercises["goal_chance"].truth(radius, low, high, scale) < interval.high


def test_the_lucky_target_of_the_printed_loop_is_as_rare_as_the_lesson_says(exercises):
    box = -np.pi * np.ones(6), np.pi * np.ones(6), np.ones(6)
    chance = exercises["goal_chance"].truth(0.1, *box)
    logarithm = 3 * np.log(np.pi) - gammaln(4) + 6 * np.log(0.1 / (2 * np.pi))
    assert np.log(chance) == pytest.approx(logarithm)
    assert 1 / chance == pytest.approx(1e10, rel=0.3)


def test_checkpoint_surely_above_is_clopper_and_pearsons(exercises):
    for n in (1, 7, 30):
        low = binomtest(n, n).proportion_ci(0.90, method="exact").low
        assert exercises["surely_above"].truth(n, 0.95) == pytest.approx(low)


def test_checkpoint_looks_bounds_every_point(exercises):
    """No point of cobot6 moves more than the gap between two looks."""
    from course_lib.arm import load_arm
    from course_lib.kinematics import fk, link_frames
    from course_lib.planning import metric

    arm, rng = load_arm("cobot6"), np.random.default_rng(1)
    for _ in range(20):
        q0, q1 = rng.uniform(arm.q_min, arm.q_max, (2, 6))
        k = exercises["looks"].truth(q0, q1, metric(arm), 0.05)
        q = q0 + np.linspace(0, 1, k)[:, None] * (q1 - q0)
        points = np.concatenate([link_frames(arm, q)[..., :3, 3], fk(arm, q)[:, None, :3, 3]], 1)
        assert np.linalg.norm(np.diff(points, axis=0), axis=-1).max() <= 0.05
