"""Lesson 09: its own functions against witnesses, its measured file, odd answers to its tasks.

Functions are taken from the lesson's cells without running the rest. The witnesses are SciPy, coal
and properties.
"""

import ast
import csv
import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import lsq_linear, minimize

from course_lib.arm import Arm, load_arm
from course_lib.check import load_exercises
from course_lib.collision import Scene, Sphere, check_edge, clearance, load_scene
from course_lib.kinematics import fk

PROJECT = Path(__file__).resolve().parents[2]
LESSON = PROJECT / "notebooks" / "09_collision_checking.ipynb"
MEASURED = PROJECT / "data" / "measurements" / "collision_shapes.csv"
ARM, PILLARS = load_arm("cobot6"), load_scene("pillars")


@pytest.fixture(scope="module")
def lesson():
    """The names of lesson 09 after its imports and functions alone, without cells for pin."""
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef)
    names = {"arm": ARM, "pillars": PILLARS}
    for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code" and "needs-pin" not in cell["metadata"].get("tags", []):
            body = [n for n in ast.parse("".join(cell["source"])).body if isinstance(n, kinds)]
            exec(ast.unparse(ast.Module(body, [])), names)
    return names


@pytest.fixture(scope="module")
def exercises():
    path = PROJECT / "notebooks" / "checks" / "09_collision_checking.py"
    return {exercise.name: exercise for exercise in load_exercises(path)}


# ---------------------------------------------------------------- the lesson's own functions


def nearest_of(A, B, C, D):
    """SciPy's least squares with bounds."""
    found = lsq_linear(np.column_stack([B - A, C - D]), C - A, (0, 1), tol=1e-14)
    return np.sqrt(2 * found.cost)


def test_segments_and_points(lesson):
    ends = np.random.default_rng(1).uniform(-1, 1, (4, 60, 3))
    truth = [nearest_of(*four) for four in ends.transpose(1, 0, 2)]
    assert lesson["to_segment"](*ends) == pytest.approx(truth, abs=1e-6)
    to_itself = [nearest_of(a, b, c, c) for a, b, c in zip(*ends[:3])]
    assert lesson["to_point"](*ends[:3]) == pytest.approx(to_itself, abs=1e-6)


def test_the_wrong_way_is_wrong_and_says_too_far(lesson):
    ends = np.random.default_rng(2).uniform(-1, 1, (4, 500, 3))
    error = lesson["clip_both"](*ends) - lesson["to_segment"](*ends)
    assert error.min() > -1e-12 and (error > 1e-3).mean() > 0.1


def test_segments_and_boxes(lesson):
    """SciPy looks for the best point on the segment and in the box together."""
    half, rng = np.array([0.3, 0.2, 0.1]), np.random.default_rng(3)
    for A, B in rng.uniform(-1, 1, (40, 2, 3)):
        square = lambda x: np.sum((A + x[0] * (B - A) - x[1:]) ** 2)
        bounds = [(0, 1), *zip(-half, half)]
        best = minimize(square, [0.5, 0, 0, 0], bounds=bounds, tol=1e-14).fun
        assert lesson["to_box"](A, B, half) == pytest.approx(np.sqrt(best), abs=1e-4)


def test_the_lessons_arm_is_the_librarys(lesson):
    q = np.random.default_rng(4).uniform(ARM.q_min, ARM.q_max, (50, 6))
    alone = Scene(PILLARS.obstacles, pairs=())
    mine = [lesson["my_clearance"](ARM, one) for one in q]
    assert mine == pytest.approx(clearance(ARM, alone, q), abs=1e-9)


@pytest.mark.parametrize("name", ["cobot6", "panda", "planar3"])
def test_no_motion_is_longer_than_the_bound(lesson, name):
    """In both conventions; and no joint's bound is twice what it can do."""
    arm, rng = load_arm(name), np.random.default_rng(5)
    q = rng.uniform(arm.q_min, arm.q_max, (3000, arm.n))
    for dq in (rng.normal(size=q.shape) * 0.1, *(1e-4 * np.eye(arm.n))):
        moved = np.linalg.norm(fk(arm, q + dq)[:, :3, 3] - fk(arm, q)[:, :3, 3], axis=-1)
        bound = lesson["most_motion"](arm, dq)[0]
        assert (moved <= bound + 1e-12).all()
        if dq.ndim == 1 and moved.max() > 1e-9:
            assert moved.max() > bound / 2


def test_the_explorers_halving_is_the_lessons_and_never_says_too_much(lesson):
    two = Arm("two links", "standard", [0.55, 0.45], [0, 0], [0, 0], [0, 0], radius=[0.05, 0.05])
    sweep = np.array([[-0.9, 0.35], [0.9, -0.35]])
    lesson |= {"two": two, "sweep": sweep}
    t, said = np.linspace(0, 1, 4001)[:, None], set()
    for far in (0.9, 1.0, 1.079, 1.08, 1.0805, 1.082, 1.1, 1.2):
        scene = Scene([Sphere([far, 0.02, 0], 0.03)])
        least = clearance(two, scene, sweep[0] + t * (sweep[1] - sweep[0])).min()
        proof, samples = lesson["halvings"](scene)
        free, mine = lesson["my_edge"](two, scene, *sweep)
        assert (proof == "free") == free and (samples == mine or not free)
        assert {"free": least > 0, "it touches": least <= 0}.get(proof, 0 < least < 5e-4)
        said.add(proof)
    assert len(said) == 3


def test_halving_is_neither_falsely_free_nor_falsely_blocked(lesson):
    rng, said, t = np.random.default_rng(6), [], np.linspace(0, 1, 800)[:, None]
    q = rng.uniform(ARM.q_min, ARM.q_max, (400, 6))
    for q0 in q[clearance(ARM, PILLARS, q) > 0][:80]:
        q1 = q0 + 0.4 * rng.normal(size=6)
        free, samples = lesson["my_edge"](ARM, PILLARS, q0, q1)
        least = clearance(ARM, PILLARS, q0 + t * (q1 - q0)).min()
        assert least > 0 if free else least <= 1e-3
        said.append(free)
    assert 0.2 < np.mean(said) < 0.95


# ---------------------------------------------------------------- the measured file


def test_the_file_holds_what_its_script_writes():
    rows = [*csv.DictReader(MEASURED.open(encoding="utf-8"))]
    assert [row["triangles a link"] for row in rows] == ["–", "–", "624", "624", "2400"]
    assert float(rows[0]["distances [µs]"]) < float(rows[1]["distances [µs]"])
    assert len({row["touching of 60"] for row in rows}) == 1


def test_all_shapes_of_the_script_agree_about_distances():
    """Meshes and hulls are a little thinner than the capsules: by 24 sides, less than 1 mm."""
    pin = pytest.importorskip("pinocchio")
    spec = importlib.util.spec_from_file_location("shapes", MEASURED.with_suffix(".py"))
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    found = []
    for way in (None, script.hull):
        model, data, geometry, scratch, _ = script.setting(way, None)
        row = []
        for q in script.POSTURES[:20]:
            pin.computeDistances(model, data, geometry, scratch, q)
            row.append(min(result.min_distance for result in scratch.distanceResults))
        found.append(row)
    exact = clearance(script.ARM, script.SCENE, script.POSTURES[:20])
    free = exact > 0
    assert np.array(found[0])[free] == pytest.approx(exact[free], abs=1e-5)
    thinner = np.array(found[1])[free] - exact[free]
    assert thinner.min() > -1e-5 and thinner.max() < 1.5e-3


# ---------------------------------------------------------------- tempting and unusual answers

WRONG = {
    "nearest": [
        lambda p, v, q, w, T: (0.0, np.linalg.norm(np.subtract(q, p))),
        lambda p, v, q, w, T: (T / 2, np.linalg.norm(q - p + T / 2 * (w - v))),
        lambda p, v, q, w, T: np.linalg.norm(np.subtract(q, p)),
        lambda p, v, q, w, T: (T, 0.0),
    ],
    "largest_margin": [
        lambda width, radii, passing, beside: width / 2,
        lambda width, radii, passing, beside: (width - 2 * np.mean(radii)) / 2,
        lambda width, radii, passing, beside: 0.01,
        lambda width, radii, passing, beside: max(
            width / 2 - sum(radii[k - 1] for k in passing), 0
        ),
        lambda width, radii, passing, beside: max(width / 2 - max(radii) - max(beside), 0.0),
    ],
    "safe_parts": [
        lambda lengths, turns, dq, clearance: 1,
        lambda lengths, turns, dq, clearance: int(sum(map(abs, dq)) / clearance) + 1,
        lambda lengths, turns, dq, clearance: int(np.ceil(np.abs(dq).max() / 0.1)),
        lambda lengths, turns, dq, clearance: 1000,
    ],
    "audit": [
        lambda arm, scene, start, goal, path, margin: "ok",
        lambda arm, scene, start, goal, path, margin: len(path),
        lambda arm, scene, start, goal, path, margin: (clearance(arm, scene, path) > margin).all(),
    ],
}
RIGHT = {
    "nearest": [
        lambda p, v, q, w, T: tuple(map(float, closest_pass(p, v, q, w, T))),
        lambda p, v, q, w, T: np.array(closest_pass(p, v, q, w, T), dtype=np.float64),
    ],
    "largest_margin": [
        lambda *case: sorted([0.0, min(gaps(*case))])[1],
        lambda *case: np.float32(max(0, min(gaps(*case)))),
    ],
    "safe_parts": [
        lambda lengths, turns, dq, clearance: np.int64(
            1 + bound(lengths, turns, dq) // (2 * clearance)
        ),
        lambda lengths, turns, dq, clearance: next(
            n for n in range(1, 10**6) if bound(lengths, turns, dq) < 2 * clearance * n
        ),
    ],
    "audit": [
        lambda *case: audit_with(by_halving)(*case),
        lambda *case: (
            np.str_(said) if isinstance(said := audit_with()(*case), str) else float(said)
        ),
    ],
}


def closest_pass(p, v, q, w, T):
    """Through the roots of the derivative and both ends."""
    far = lambda s: np.linalg.norm(np.asarray(q) - p + s * (np.asarray(w) - v))
    rise = np.polynomial.Polynomial([(q - p) @ (w - v), (w - v) @ (w - v)])
    inside = [s.real for s in rise.trim().roots() if 0 < s.real < T] if (w - v).any() else []
    times = [0.0, *inside, T]
    best = min(times, key=far)
    return best, far(best)


def gaps(width, radii, passing, beside):
    """Room to the left and to the right wall, link by link."""
    links = [(y, radii[k - 1]) for k, y in zip(passing, beside)]
    return [width / 2 - side * y - r for y, r in links for side in (-1, 1)]


def bound(lengths, turns, dq):
    return sum(
        abs(x) * (sum(lengths[k:]) if turn else 1.0) for k, (x, turn) in enumerate(zip(dq, turns))
    )


def by_library(arm, scene, a, b, margin):
    return check_edge(arm, scene, a, b, margin).free


def by_halving(arm, scene, a, b, margin):
    """Own halving, with the bound of the longest arm that these joints can make."""
    length = np.hypot(arm.a, arm.d)
    L = np.abs(b - a) @ [length[k:].sum() for k in range(arm.n)]
    todo = [(0.0, 1.0)]
    while todo:
        s, t = todo.pop()
        room = clearance(arm, scene, a + np.array([[s], [t]]) * (b - a)) - margin
        if room.min() <= 0 or room.sum() <= L * (t - s) < 1e-3:
            return False
        if room.sum() <= L * (t - s):
            todo += [(s, (s + t) / 2), ((s + t) / 2, t)]
    return True


def by_samples(count=None, step=None):
    """So many samples an edge; or one each step [rad] of the joint that moves most."""

    def edge(arm, scene, a, b, margin):
        n = count or int(np.ceil(np.abs(b - a).max() / step)) + 1
        return (clearance(arm, scene, a + np.linspace(0, 1, n)[:, None] * (b - a)) > margin).all()

    return edge


def audit_with(edge=by_library, order="sglx", near=lambda a, b: np.linalg.norm(a - b) <= 1e-6):
    """An audit that looks at start, goal, limits and edges in an order, with its own tests."""

    def answer(arm, scene, start, goal, path, margin):
        pairs = [*zip(path, path[1:])] or [(path[0], path[0])]
        blocked = lambda: [k for k, p in enumerate(pairs) if not edge(arm, scene, *p, margin)]
        tests = {
            "s": lambda: [] if near(path[0], start) else ["start"],
            "g": lambda: [] if near(path[-1], goal) else ["goal"],
            "l": lambda: ["limits"] if (np.clip(path, arm.q_min, arm.q_max) != path).any() else [],
            "x": blocked,
        }
        return next((found[0] for key in order if (found := tests[key]())), "ok")

    return answer


TEMPTING_AUDITS = {
    **{f"{n} samples": audit_with(by_samples(n)) for n in (2, 3, 4, 5, 6, 8, 10, 15, 20, 50, 101)},
    **{f"each {s} rad": audit_with(by_samples(step=s)) for s in (0.3, 0.1, 0.05, 0.02)},
    **{
        f"in the order {order}": audit_with(order=order) for order in ("lsgx", "gslx", "sglx"[::-1])
    },
    **{f"in the order {order}": audit_with(order=order) for order in ("slgx", "sgxl", "sxgl")},
    "equal": audit_with(near=np.array_equal),
    "allclose": audit_with(near=np.allclose),
    "wide": audit_with(near=lambda a, b: np.abs(a - b).max() <= 1e-3),
    "no order": audit_with(order="x"),
}


@pytest.mark.parametrize("kind", TEMPTING_AUDITS)
def test_an_audit_with_a_fault_is_refused_with_a_reason(exercises, kind):
    result = exercises["audit"].judge(TEMPTING_AUDITS[kind], np.random.default_rng(0))
    assert not result.passed
    assert len(result.message.splitlines()) <= 12 and "Scene(" not in result.message
    if "samples" in kind or "rad" in kind:
        last = result.message.splitlines()[-1]
        assert "edge_is_free" in last and "between" in last.casefold()


@pytest.mark.parametrize("name", WRONG)
def test_a_tempting_answer_is_refused(exercises, name):
    for answer in WRONG[name]:
        for seed in range(3):
            assert not exercises[name].judge(answer, np.random.default_rng(seed)).passed


def test_a_wrong_answer_in_numbers_gets_its_reason(exercises):
    belts = lambda p, v, q, w, T: (0.0, nearest_of(p, p + T * v, q, q + T * w))
    way = lambda lengths, turns, dq: (
        q * (sum(lengths[k:]) if turn else 1) for k, (q, turn) in enumerate(zip(dq, turns))
    )
    signs = lambda lengths, turns, dq, c: max(1 + int(sum(way(lengths, turns, dq)) // (2 * c)), 1)
    for name, answer, word in (("nearest", belts, "*same* time"), ("safe_parts", signs, "|dq|")):
        assert word in exercises[name].judge(answer, np.random.default_rng(0)).message


@pytest.mark.parametrize("name", RIGHT)
def test_an_unusual_right_answer_passes(exercises, name):
    for answer in RIGHT[name]:
        for seed in range(3):
            result = exercises[name].judge(answer, np.random.default_rng(seed))
            assert result.passed, result.message


def test_a_posture_that_fools_must_be_near_enough_to_the_task(exercises):
    fool = exercises["fool"]
    rng = np.random.default_rng(0)
    right = {name: np.array(q) for name, q in fool.truth.items()}
    for name in right:
        for other in right:
            if other != name:
                swapped = right | {name: right[other]}
                said = fool.judge(swapped, rng)
                assert said.passed or name in said.message
        for bad in (np.full(6, 9.0), PILLARS.goal, np.full(6, np.nan), "up", np.zeros(5)):
            assert not fool.judge(right | {name: bad}, rng).passed
    assert not fool.judge([*right.values()], rng).passed
