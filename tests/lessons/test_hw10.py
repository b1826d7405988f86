"""Homework 10: the truths hold against coal, SciPy and the library; more answers; planners with
faults; three whole hand-ins through the grader."""

import contextlib
import copy
import io
import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.interpolate import interp1d
from scipy.optimize import linprog
from scipy.sparse import lil_matrix
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist
from scipy.stats import binomtest
from support.complaints import complaints, remembered, solved_once
from support.judges import judge_of

from course_lib.arm import load_arm
from course_lib.collision import Scene, Sphere, clearance
from course_lib.planning import rrt_connect, shortcut
from course_lib.tools.grading import command as tool
from course_lib.tools.grading.marking import grade_id, load_homework, source_of

JUDGE, BY_NAME = judge_of("hw10_rrt")
SOURCE = load_homework(tool.SOURCES / "hw10_rrt")
# How many cases come before those that are drawn; they alone tell every mistake from the truth.
FIXED = {"steer": 14, "find_way": 9, "audit": 17, "passage": 8}


def cases_of(name, seed=3):
    return BY_NAME[name].cases(np.random.default_rng(seed))


# ---------------------------------------------------------------- the truths


def step_by_linear_program(q, target, reach, step, limits):
    """The largest share of the motion that step and limits allow, by SciPy."""
    low, high = limits
    turns = np.where(np.isinf(low), np.round((target - q) / (2 * np.pi)), 0)
    move = target - q - 2 * np.pi * turns
    rows, bounds = [[np.abs(move) @ reach]], [step]
    for d, a, b, x in zip(move, low, high, q):
        ends = [(d, b - x), (-d, x - a)]
        rows += [[slope] for slope, room in ends if np.isfinite(room)]
        bounds += [room for _, room in ends if np.isfinite(room)]
    share = linprog([-1], A_ub=rows, b_ub=bounds, bounds=(0, 1)).x[0]
    word = "reached" if share > 1 - 1e-9 or not move.any() else "advanced"
    return "trapped" if share < 1e-9 and move.any() else word, q + share * move


@pytest.mark.parametrize("seed", range(3))
def test_a_step_is_the_longest_that_a_linear_program_finds(seed):
    words = []
    for case in cases_of("steer", seed):
        word, new = JUDGE.steer(*case)
        other, there = step_by_linear_program(*case)
        assert word == other
        np.testing.assert_allclose(new, there, atol=1e-7)
        words.append(word)
    assert set(words) == set(JUDGE.WORDS)


def test_no_point_of_an_arm_moves_more_than_the_step():
    """The reach of a joint times its turn bounds the way of every corner, whatever the posture."""
    rng = np.random.default_rng(0)
    links = np.array([[0.3, 0.01], [0.25, 0.01], [0.2, 0.01]])
    limits = np.array([[-3.0] * 3, [3.0] * 3])
    for _ in range(50):
        q, target = rng.uniform(-3, 3, (2, 3))
        _, new = JUDGE.steer(q, target, links[:, 0], 0.1, limits)
        moved = np.diff(JUDGE.corners(np.array([q, new]), links), axis=0)[0]
        assert np.linalg.norm(moved, axis=-1).max() <= 0.1 + 1e-12


def least_by_coal(q, links, pillars):
    """The clearance at one posture, links as coal's capsules and pillars as its cylinders."""
    coal = pytest.importorskip("coal")
    angle, ends, least = np.asarray(q), np.zeros(3), np.inf
    for (length, radius), turn in zip(links, angle):
        along = np.array([np.cos(turn), np.sin(turn), 0])
        R = np.column_stack([[0.0, 0, 1], np.cross(along, [0.0, 0, 1]), along])
        link = coal.Capsule(radius, length), coal.Transform3s(R, ends + length / 2 * along)
        ends = ends + length * along
        for x, y, r in pillars:
            pillar = coal.Cylinder(r, 2.0), coal.Transform3s(np.eye(3), np.array([x, y, 0]))
            asked = coal.DistanceRequest(), coal.DistanceResult()
            least = min(least, coal.distance(*link, *pillar, *asked))
    return least


def test_the_engine_of_the_judge_measures_what_coal_does():
    for links, _, pillars, start, goal, _ in cases_of("find_way"):
        for s in np.linspace(0, 1, 21):
            q = start + s * (goal - start)
            theirs = least_by_coal(q, links, pillars)
            mine = JUDGE.gaps(q[None], links, pillars)[0]
            assert (mine == pytest.approx(theirs, abs=1e-6)) if theirs > 0 else mine < 1e-6


def test_an_edge_is_blocked_where_coal_finds_it_so_on_a_fine_grid():
    rng, seen = np.random.default_rng(4), []
    for links, limits, pillars, *_ in cases_of("find_way"):
        for _ in range(4):
            a, b = np.cumsum(rng.uniform(*limits, (2, 3)), axis=1)
            b = a + rng.choice([0.1, 0.5, 1]) * (b - a)
            fine = a + np.linspace(0, 1, 300)[:, None] * (b - a)
            theirs = min(least_by_coal(q, links, pillars) for q in fine)
            blur = (np.abs(b - a) @ links[:, 0]) / 300
            if theirs < -1e-3 or theirs > blur:
                seen.append(theirs < 0)
                assert JUDGE.blocked(np.array([a, b]), links, pillars)[0] == seen[-1]
    assert 5 < sum(seen) < len(seen) - 5


def as_arm(links, limits, pillars):
    """The arm with relative joints, and its room, for the library."""
    changes = {"a": links[:, 0], "radius": links[:, 1], "q_min": limits[0], "q_max": limits[1]}
    arm = replace(load_arm("planar3"), **changes)
    return arm, Scene([Sphere([x, y, 0.0], r) for x, y, r in pillars], pairs=())


@remembered
def way_by_library(links, limits, pillars, start, goal, seed):
    """RRT-Connect of the library, on bends; a straight edge stays straight."""
    arm, scene = as_arm(links, limits, pillars)
    rng, ends = np.random.default_rng(seed), JUDGE.bends(np.array([start, goal]))
    plan = rrt_connect(arm, scene, *ends, rng=rng, max_iterations=9000)
    return np.cumsum(plan.path, axis=1)


@pytest.mark.parametrize("seed", range(2))
def test_each_room_has_a_way_for_the_library_and_none_that_is_straight(seed):
    for links, limits, pillars, start, goal, k in cases_of("find_way", seed):
        assert JUDGE.blocked(np.array([start, goal]), links, pillars).all()
        q = way_by_library(links, limits, pillars, start, goal, k)
        assert JUDGE.same_way(q, None, (links, limits, pillars, start, goal, k)) is None
        arm, scene = as_arm(links, limits, pillars)
        fine = np.vstack([a + np.linspace(0, 1, 400)[:, None] * (b - a) for a, b in zip(q, q[1:])])
        assert clearance(arm, scene, JUDGE.bends(fine)).min() > -1e-4


@pytest.mark.parametrize("seed", range(3))
def test_the_word_is_that_of_the_planner_that_wrote_the_log(seed):
    word_of = dict.fromkeys(JUDGE.PLANNERS, "nearest") | {"": "none", "wide": "target"}
    word_of |= dict.fromkeys(("bent", "no stop", "rad", "long", "aside"), "new")
    word_of |= dict.fromkeys(("ends", "endless", "throws away", "keeps all"), "kept")
    found = []
    for kind in JUDGE.PLANNERS:
        rng = np.random.default_rng(seed)
        turn, word = JUDGE.audit(*JUDGE.planner_log(rng, kind, 4))
        assert word in (word_of[kind], "none") and (turn >= 4 or word == "none")
        found.append(word)
    assert set(found) == set(JUDGE.FAULTS)


@pytest.mark.parametrize("seed", range(2))
def test_the_shares_are_those_of_targets_that_are_drawn(seed):
    """Many looks along each edge, and the exact binomial interval."""
    for node, limits, wall, gap, radius, step in cases_of("passage", seed):
        kept, through, nodes = JUDGE.passage(node, limits, wall, gap, radius, step)
        move = np.random.default_rng(seed).uniform(*limits, (4000, 2)) - node
        move *= np.minimum(1, step / np.linalg.norm(move, axis=1))[:, None]
        p = node + np.linspace(0, 1, 200)[:, None, None] * move
        x, y = np.abs(p[..., 0] - wall), p[..., 1]
        rim = np.minimum(np.hypot(x, y - gap[0]), np.hypot(x, y - gap[1]))
        inside = (y > gap[0]) & (y < gap[1])
        free = (np.where(inside, rim, x) > radius).all(axis=0)
        # a long edge may step over the wall between two looks
        at = node[1] + (wall - node[0]) * move[:, 1] / move[:, 0]
        beyond = p[-1, :, 0] > wall
        free &= ~beyond | (at > gap[0]) & (at < gap[1])
        for share, hits in ((kept, free), (through, free & beyond)):
            interval = binomtest(int(hits.sum()), len(hits)).proportion_ci(1 - 1e-6)
            assert interval.low - 2e-3 < share < interval.high + 2e-3
        rows = np.rint(nodes**0.5)
        assert rows > 1 and isinstance(nodes, int)


@pytest.mark.parametrize("seed", range(3))
def test_the_grid_has_a_row_in_the_gap_and_a_coarser_one_need_not(seed):
    for _, limits, _, gap, radius, _ in cases_of("passage", seed):
        room, span = gap[1] - gap[0] - 2 * radius, limits[1] - limits[0]
        spaces = np.array([next(k for k in range(1, 999) if x / k <= room) for x in span])
        assert JUDGE.grid_nodes(limits, gap, radius) == (spaces + 1).prod()
        assert (span / (spaces - 0.9999999) > room).all()


# ---------------------------------------------------------------- more right answers


def step_by_halving(q, target, reach, step, limits):
    """Halves of the motion, as long as they are allowed."""
    low, high = limits
    move = (target - q).astype(float)
    for k in np.flatnonzero(low == -np.inf):
        move[k] = np.angle(np.exp(1j * move[k]))

    def allowed(s):
        new = q + s * move
        inside = (new >= low - 1e-12).all() and (new <= high + 1e-12).all()
        return inside and s * np.abs(move) @ reach <= step

    if allowed(1):
        return "reached", q + move
    a, b = 0.0, 1.0
    for _ in range(60):
        a, b = ((a + b) / 2, b) if allowed((a + b) / 2) else (a, (a + b) / 2)
    return "advanced" if a > 1e-9 else "trapped", q + a * move


def wrapped(answer):
    """Endless joints between -π and π."""

    def wrap(*case):
        word, new = answer(*case)
        return word, np.where(np.isinf(case[4][0]), np.angle(np.exp(1j * new)), new)

    return wrap


def way_on_a_road_map(links, limits, pillars, start, goal, seed):
    """Postures drawn before, each joined to its neighbours; SciPy finds the shortest way."""
    rng = np.random.default_rng(seed)
    reach, fat = links[:, 0], pillars + [0, 0, 0.003]
    for count in (400, 1200, 3000):
        q = np.vstack([start, goal, np.cumsum(rng.uniform(*limits, (count, 3)), axis=1)])
        q = q[JUDGE.gaps(q, links, fat) > 0]
        gap = cdist(q * reach, q * reach)
        near = np.argsort(gap, axis=1)[:, 1:12]
        pairs = np.array([(i, j) for i, row in enumerate(near) for j in row])
        t = np.linspace(0, 1, 60)[:, None, None]
        fine = q[pairs[:, 0]] + t * (q[pairs[:, 1]] - q[pairs[:, 0]])
        least = np.min([JUDGE.gaps(x, links, fat) for x in fine], axis=0)
        graph = lil_matrix((len(q), len(q)))
        for (i, j), left in zip(pairs, least):
            if left > np.abs(q[i] - q[j]) @ reach / 118:
                graph[i, j] = gap[i, j]
        _, back = shortest_path(graph.tocsr(), directed=False, indices=0, return_predecessors=True)
        way = [1]
        while way[-1] > 0 and back[way[-1]] >= 0:
            way.append(back[way[-1]])
        if way[-1] == 0:
            return q[way[::-1]]
    return []


def two_trees(links, limits, pillars, start, goal, seed, fault="", step=0.4):
    """RRT-Connect, written once more, with a fault on request."""
    rng, reach = np.random.default_rng(seed), links[:, 0]
    links = links * [1, 0 if fault == "lines" else 1]
    body = fault if fault in JUDGE.BODIES else "links"

    def free(a, b):
        looks = 2 + int(np.abs(b - a) @ reach / 0.008)
        x = b[None] if fault == "ends" else a + np.linspace(0, 1, looks)[:, None] * (b - a)
        return JUDGE.gaps(x, links, pillars, body).min() > (0 if fault == "ends" else 0.004)

    def towards(tree, target):
        k = min(range(len(tree)), key=lambda i: np.linalg.norm((tree[i][0] - target) * reach))
        gap = np.linalg.norm((tree[k][0] - target) * reach)
        new = target if gap <= step else tree[k][0] + step / gap * (target - tree[k][0])
        if fault == "last" and gap <= step or free(tree[k][0], new):
            tree.append((new, k))
            return new
        return None

    def branch(tree, k):
        return [] if k < 0 else [*branch(tree, tree[k][1]), tree[k][0]]

    trees = [[(start, -1)], [(goal, -1)]]
    for turn in range(4000):
        one, other = trees if turn % 2 == 0 else trees[::-1]
        # a tree that trusts the edge that joins must not trust those to drawn targets
        drawn = np.cumsum(rng.uniform(*limits))
        new = towards(one, drawn) if fault != "last" else carefully(towards, free, one, drawn)
        while new is not None and len(other) < 6000:
            there = towards(other, new)
            if there is None or np.array_equal(there, new):
                break
        if new is not None and there is not None:
            halves = [branch(trees[0], len(trees[0]) - 1), branch(trees[1], len(trees[1]) - 1)]
            return np.array(halves[0][:-1] + halves[1][::-1])
    return np.empty((0, 3))


def carefully(towards, free, tree, target):
    """One step to a drawn target, tested although the planner trusts short edges."""
    count = len(tree)
    new = towards(tree, target)
    if new is not None and not free(tree[tree[-1][1]][0], new):
        del tree[count:]
        return None
    return new


def resampled(answer):
    """Many rows, evenly spaced along the way, corners included; by SciPy."""

    def many(*case):
        q = np.asarray(answer(*case))
        k = np.arange(len(q))
        return interp1d(k, q, axis=0)(np.linspace(0, len(q) - 1, 40 * (len(q) - 1) + 1))

    return many


def shorter(links, limits, pillars, start, goal, seed):
    """The library's way, cut short by the library, with a margin."""
    arm, scene = as_arm(links, limits, pillars)
    bends = JUDGE.bends(way_by_library(links, limits, pillars, start, goal, seed))
    path = shortcut(arm, scene, bends, rng=np.random.default_rng(0))
    return np.cumsum(getattr(path, "path", path), axis=1)


def backwards_grown(links, limits, pillars, start, goal, seed):
    return JUDGE.grow(links, limits, pillars, goal, start, seed)[::-1]


def audit_by_replay(start, limits, reach, step, discs, log):
    """The right planner plays each turn again, in metres, with complex numbers."""
    x = lambda q: complex(q[0] * reach[0], q[1] * reach[1])
    nodes = [x(start)]
    for turn, (*target, k, a, b, kept) in enumerate(log.tolist()):
        if not np.all((limits[0] <= target) & (target <= limits[1])):
            return [turn, "Target"]
        goal, new = x(target), x((a, b))
        if min(range(len(nodes)), key=lambda i: abs(nodes[i] - goal)) != k:
            return [turn, "nearest"]
        way = goal - nodes[int(k)]
        if abs(new - nodes[int(k)] - way * min(1, step / abs(way))) > 1e-6:
            return [turn, " new "]
        z = nodes[int(k)] + np.linspace(0, 1, 4001) * (new - nodes[int(k)])
        p = np.column_stack([z.real, z.imag]) / reach
        free = (np.linalg.norm(p[:, None] - discs[:, :2], axis=-1) > discs[:, 2]).all()
        if free != bool(kept):
            return [float(turn), "KEPT"]
        nodes += [new] * bool(kept)
    return -1, "none"


def audit_by_arrays(start, limits, reach, step, discs, log):
    """All turns at once, and the first of all faults at the end."""
    target, near, new, kept = log[:, :2], log[:, 2].astype(int), log[:, 3:5], log[:, 5] > 0
    nodes = np.vstack([start, new[kept]])
    there = 1 + np.r_[0, np.cumsum(kept)[:-1]]
    away = cdist(target * reach, nodes * reach)
    away[np.arange(len(nodes)) >= there[:, None]] = np.inf
    node = nodes[np.minimum(near, len(nodes) - 1)]
    far = np.linalg.norm((target - node) * reach, axis=1, keepdims=True)
    right = node + np.minimum(1, step / far) * (target - node)
    d, w = new - node, discs[:, :2] - node[:, None]
    foot = np.clip((w * d[:, None]).sum(-1) / (d * d).sum(-1)[:, None], 0, 1)
    left = np.linalg.norm(w - foot[..., None] * d[:, None], axis=-1) - discs[:, 2]
    faults = {
        "target": (target < limits[0]).any(axis=1) | (target > limits[1]).any(axis=1),
        "nearest": away.argmin(axis=1) != near,
        "new": np.abs(right - new).max(axis=1) > 1e-6,
        "kept": (left.min(axis=1) > 0) != kept,
    }
    first = {word: int(x.argmax()) for word, x in faults.items() if x.any()}
    return (first[min(first, key=first.get)], min(first, key=first.get)) if first else (-1, "none")


def shares_by_luck(node, limits, wall, gap, radius, step, count=100_000):
    """Drawn targets, and the distance of each edge from both halves of the wall."""
    targets = np.random.default_rng(3).uniform(*limits, (count, 2))
    move = targets - node
    end = node + move * np.minimum(1, step / np.linalg.norm(move, axis=1))[:, None]
    kept = np.ones(len(end), bool)
    y = node[1] + (wall - node[0]) * (end - node)[:, 1] / (end - node)[:, 0]
    for tip, foot in ((gap[0], limits[0, 1] - 9), (gap[1], limits[1, 1] + 9)):
        A, B = np.array([wall, tip]), np.array([wall, foot])
        left = np.minimum(JUDGE.to_segment(A, node, end), JUDGE.to_segment(end, A, B))
        kept &= (left > radius) & ~((end[:, 0] > wall) & (np.abs(y - foot) < abs(tip - foot)))
    room = gap[1] - gap[0] - 2 * radius
    columns, rows = (int(-(-x // room)) + 1 for x in limits[1] - limits[0])
    return kept.mean(), (kept & (end[:, 0] > wall)).mean(), columns * rows


def shares_by_rays(node, limits, wall, gap, radius, step):
    """Along each of many directions, step by step until something is met."""
    kept = through = 0.0
    angle = (np.arange(720) + 0.5) * 2 * np.pi / 720
    d = np.linspace(0, 4, 1001)[:, None]
    p = node + d[..., None] * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    x, y = np.abs(p[..., 0] - wall), p[..., 1]
    rim = np.hypot(x, np.minimum(np.abs(y - gap[0]), np.abs(y - gap[1])))
    good = np.where((y > gap[0]) & (y < gap[1]), rim, x) > radius
    good = np.logical_and.accumulate(good, axis=0)
    last = np.minimum(d, step)
    k = np.minimum(np.rint(last / 4 * 1000).astype(int), 1000)[:, 0]
    inside = ((p >= limits[0]) & (p <= limits[1])).all(axis=-1)
    area = d * inside  # of a sector, in proportion
    kept, all_of = (good[k] * area).sum(), area.sum()
    through = (good[k] & (p[k][..., 0] > wall)) * area
    return kept / all_of, through.sum() / all_of, JUDGE.grid_nodes(limits, gap, radius)


def as_lists(answer):
    return lambda *case: np.asarray(answer(*case)).tolist()


MORE = {
    "steer": [
        step_by_linear_program,
        step_by_halving,
        wrapped(step_by_halving),
        lambda *case: [step_by_halving(*case)[0].title(), step_by_halving(*case)[1].tolist()],
        lambda *case: (np.str_(step_by_halving(*case)[0]), tuple(step_by_halving(*case)[1])),
        lambda *case: (f" {JUDGE.steer(*case)[0]} ", np.round(JUDGE.steer(*case)[1], 5)),
        wrapped(lambda *case: (JUDGE.steer(*case)[0], np.float32(JUDGE.steer(*case)[1]))),
    ],
    "find_way": [
        way_by_library,
        way_on_a_road_map,
        two_trees,
        shorter,
        backwards_grown,
        lambda *case: np.float32(two_trees(*case)),
        as_lists(two_trees),
        resampled(two_trees),
        resampled(lambda *case: np.round(way_by_library(*case), 5)),
        lambda *case: np.repeat(way_by_library(*case), 2, axis=0),
        lambda *case: tuple(map(tuple, way_by_library(*case))),
        lambda *case: JUDGE.grow(*case, step=0.2, turns=20_000),
    ],
    "audit": [
        audit_by_replay,
        audit_by_arrays,
        lambda *case: (np.float32(audit_by_arrays(*case)[0]), audit_by_arrays(*case)[1].upper()),
        lambda *case: [np.array([audit_by_arrays(*case)[0]]), audit_by_arrays(*case)[1]],
        lambda *case: np.array(audit_by_arrays(*case), object).tolist(),
        lambda *case: (complex(JUDGE.audit(*case)[0]), np.str_(JUDGE.audit(*case)[1])),
        lambda *case: (float(JUDGE.audit(*case)[0]), " " + JUDGE.audit(*case)[1] + "\n"),
    ],
    "passage": [
        shares_by_luck,
        shares_by_rays,
        lambda *case: shares_by_luck(*case, count=40_000),
        as_lists(shares_by_luck),
        lambda *case: np.float32(shares_by_luck(*case)),
        lambda *case: tuple(np.round(shares_by_luck(*case), 3)),
        lambda *case: [np.array([x]) for x in shares_by_rays(*case)],
    ],
}


@pytest.mark.parametrize("name", MORE)
def test_ten_right_answers_pass_and_ten_wrong_ones_are_told(name):
    exercise = BY_NAME[name]
    assert len(exercise.alternatives) + len(MORE[name]) >= 10 and len(exercise.mistakes) >= 10
    for i, answer in enumerate(MORE[name]):
        for seed in (0, 1) if i < 5 else (0,):
            result = exercise.judge(answer, np.random.default_rng(seed))
            assert result.passed, (i, result.message)


@pytest.mark.parametrize("name", FIXED)
def test_the_fixed_cases_alone_tell_every_mistake(name):
    exercise = BY_NAME[name]
    fixed = replace(exercise, cases=lambda rng: exercise.cases(rng)[: FIXED[name]])
    assert complaints(fixed, np.random.default_rng(0)) == []
    one, other = (exercise.cases(np.random.default_rng(seed)) for seed in (1, 2))
    np.testing.assert_equal(one[: FIXED[name]], other[: FIXED[name]])
    with pytest.raises(AssertionError):
        np.testing.assert_equal(one[FIXED[name]], other[FIXED[name]])


# ---------------------------------------------------------------- planners with faults

FAULTY = {
    "ends": ("ends", "thin", "last"),  # it may be that only the last edge is hit
    "lines": ("lines", "thin", "ends"),
    "last": ("last",),
    "joints": ("joints", "ends", "thin", "last"),
}


@pytest.mark.parametrize("fault", FAULTY)
@pytest.mark.parametrize("shift", range(3))
def test_a_planner_with_a_fault_fails_and_is_told_which(fault, shift):
    """Trees with other steps and other draws than those of the judge; none passes."""
    fixed = replace(BY_NAME["find_way"], cases=lambda rng: cases_of("find_way", shift))
    for grow in (JUDGE.grow, two_trees):
        for step in (0.35, 0.7):
            answer = lambda *case: grow(*case[:-1], case[-1] + 10 * shift + 3, fault, step=step)
            result = fixed.judge(answer, np.random.default_rng(0))
            assert not result.passed, (grow, step)
            says = JUDGE.WAY_SAYS | JUDGE.HINTS
            joined = ("ends", "thin") if grow is two_trees else ()  # not by the last edge
            told = [says[kind] for kind in (*FAULTY[fault], *joined)]
            assert result.message.endswith(tuple(told)), result.message


@pytest.mark.parametrize("kind", ["straight", "fine straight", "short"])
def test_the_straight_line_and_a_step_too_few_are_told(kind):
    answer = lambda *case: JUDGE.find_way(*case, kind)
    result = BY_NAME["find_way"].judge(answer, np.random.default_rng(7))
    assert result.message.endswith(JUDGE.WAY_SAYS["short" if kind == "short" else "straight"])


def test_somebodys_planner_has_the_three_faults_that_the_text_promises():
    cells = {grade_id(cell): source_of(cell) for cell in SOURCE.notebook["cells"]}
    said = cells["somebodys_planner"]
    mended = {
        "nearest": ("np.array(tree) - target, axis", "(np.array(tree) - target) * reach, axis"),
        "edges": ("np.linalg.norm(new - discs[:, :2], axis=1)", "to_segment(discs, tree[k], new)"),
        "radii": (".min() > discs[:, 2].max()", ".min() > 0"),
    }
    space = {"np": np, "to_segment": lambda discs, a, b: JUDGE.to_segment(discs[:, :2], a, b)}
    words = []
    for kind in ("", *mended):
        for old, new in [mended[kind]] if kind else []:
            assert old in said
        said = said.replace(*mended[kind]) if kind else said
        if kind == "radii":
            said = said.replace("new).min()", "new) - discs[:, 2]).min()").replace(
                "kept = to_segment", "kept = (to_segment"
            )
        exec(said, space)
        logs = [space["somebodys_planner"](seed) for seed in range(20)]
        words.append({JUDGE.audit(*log)[1] for log in logs})
    assert "nearest" in words[0] and words[1] == {"kept"} == words[2] and words[3] == {"none"}


def test_rooms_from_names_have_ways():
    cells = {grade_id(cell): source_of(cell) for cell in SOURCE.notebook["cells"]}
    space = {}
    exec(cells["imports"] + "\n" + cells["given_arm"] + "\n" + cells["find_way"], space)
    for name in ("Ada", "李伟", "Bo Li", "x" * 40):
        room = space["my_room"](name)
        again = space["my_room"](name)
        np.testing.assert_equal(room, again)
        q = space["find_way"](*room, 0)
        assert JUDGE.same_way(q, None, (*room, 0)) is None


# ---------------------------------------------------------------- wrong in ways of their own


def changed(name, change):
    """The truth of an exercise, changed."""
    return lambda *case: change(BY_NAME[name].truth(*case))


def step_with(kind):
    """A step with a fault of a kind that a learner may invent."""

    def answer(q, target, reach, step, limits):
        word, new = JUDGE.steer(q, target, reach, step, limits)
        if kind == "mean":
            return JUDGE.steer(q, target, reach / len(q), step, limits)
        if kind == "double":
            return JUDGE.steer(q, target, reach, 2 * step, limits)
        if kind == "back":
            return word, q - (new - q)
        if kind == "target":
            return "reached", target
        if kind == "here":
            return "trapped", q
        if kind == "one joint first":
            d = np.zeros(len(q))
            k = int(np.abs(new - q).argmax())
            d[k] = (new - q)[k]
            return word, q + d
        if kind == "degrees":
            return word, np.degrees(new)
        if kind == "step in radians":
            return JUDGE.steer(q, target, reach / reach.max(), step, limits)
        if kind == "upper limits":
            return JUDGE.steer(q, target, reach, step, np.array([limits[0] - 9, limits[1]]))
        if kind == "always advanced":
            return "advanced", new
        return "reached" if word == "advanced" else word, new

    return answer


def way_with(kind):
    """A way with a fault of a kind that a learner may invent."""

    def answer(links, limits, pillars, start, goal, seed):
        case = links, limits, pillars, start, goal, seed
        q = JUDGE.find_way(*case)
        if kind == "thinned":
            return np.vstack([q[0], q[-1]] if len(q) < 4 else [q[0], *q[3:-1:3], q[-1]])
        if kind == "bends":
            return JUDGE.bends(q)
        if kind == "metric of bends":
            return np.cumsum(q, axis=1)
        if kind == "mirrored":
            return -q
        if kind == "wrapped":
            return np.angle(np.exp(1j * q))
        if kind == "blurred":
            smooth = (q[:-2] + q[1:-1] + q[2:]) / 3
            return np.vstack([q[0], np.vstack([smooth] * 1), q[-1]])
        if kind == "over zero":
            return np.array([start, np.zeros(3), goal])
        if kind == "joint by joint":
            rows = [start.copy()]
            for k in range(3):
                rows.append(rows[-1].copy())
                rows[-1][k] = goal[k]
            return np.array(rows)
        if kind == "corners":
            return JUDGE.corners(q, links)
        if kind == "tip":
            return JUDGE.corners(q, links)[:, -1]
        if kind == "a millimetre short":
            return np.vstack([q[:-1], q[-1] + 2e-3])
        return np.vstack([q, q[-1] + [0, 0, 9]])

    return answer


def audit_with(kind):
    """An audit with a fault of a kind that a learner may invent."""

    def answer(start, limits, reach, step, discs, log):
        turn, word = JUDGE.audit(start, limits, reach, step, discs, log)
        if kind == "never":
            return -1, "none"
        if kind == "kept only":
            log = log[log[:, 5] > 0]
            return JUDGE.audit(start, limits, reach, step, discs, log)
        if kind == "shifted nodes":
            return JUDGE.audit(start, limits, reach, step, discs, log + [0, 0, 1, 0, 0, 0])
        if kind == "small discs":
            return JUDGE.audit(start, limits, reach, step, discs * [1, 1, 0.7], log)
        if kind == "large discs":
            return JUDGE.audit(start, limits, reach, step, discs * [1, 1, 1.3], log)
        if kind == "one limit":
            return JUDGE.audit(start, np.array([limits[0] - 9, limits[1]]), reach, step, discs, log)
        if kind == "reach turned":
            return JUDGE.audit(start, limits, reach[::-1], step, discs, log)
        if kind == "half a step":
            return JUDGE.audit(start, limits, reach, step / 2, discs, log)
        if kind == "row":
            return turn, log[turn].tolist()
        if kind == "node":
            return int(log[turn, 2]), word
        if kind == "word for all":
            return turn, "kept"
        return (turn, "nothing") if turn < 0 else (turn, word)

    return answer


def shares_with(kind):
    """Shares with a fault of a kind that a learner may invent."""

    def answer(*case):
        kept, through, nodes = JUDGE.passage(*case)
        node, limits, wall, gap, radius, step = case
        if kind == "few targets":
            return shares_by_luck(*case, count=60)
        if kind == "diameter":
            return JUDGE.passage(node, limits, wall, gap, 2 * radius, step)[:2] + (nodes,)
        if kind == "by width":
            share = (gap[1] - gap[0] - 2 * radius) / (limits[1] - limits[0])[1]
            return kept, share, nodes
        if kind == "wall without gap":
            return JUDGE.passage(node, limits, wall, gap * 0 - 5, radius, step)[:2] + (nodes,)
        if kind == "from the middle":
            at = np.array([node[0], gap.mean()])
            return JUDGE.passage(at, limits, wall, gap, radius, step)
        return {
            "blocked": (1 - kept, through, nodes),
            "percent": (100 * kept, 100 * through, nodes),
            "not through": (kept - through, through, nodes),
            "one in so many": (kept, 1 / max(through, 1e-9), nodes),
            "a node more": (kept, through, nodes + 1),
            "edges of the grid": (kept, through, 4 * nodes),
            "two things": (kept, through),
            "turned": (through, kept, nodes),
            "zero": (kept, 0.0, nodes),
            "nearly": (kept + 0.012, through, nodes),
        }[kind]

    return answer


NOT_FINITE = (np.nan, np.inf, -1.79e308, 1e6)
WRONG = {
    "steer": [
        *map(step_with, ("mean", "double", "back", "target", "here", "one joint first")),
        *map(step_with, ("degrees", "step in radians", "upper limits", "always advanced")),
        step_with("always reached"),
        changed("steer", lambda a: a[0]),
        changed("steer", lambda a: a[1]),
        changed("steer", lambda a: a[::-1]),
        changed("steer", lambda a: (a[0], a[1] + 1e-3)),
        changed("steer", lambda a: (a[0], np.round(a[1], 2))),
        *(changed("steer", lambda a, x=x: (a[0], a[1] + x)) for x in NOT_FINITE),
        changed("steer", lambda a: (True, a[1])),
    ],
    "find_way": [
        *map(way_with, ("thinned", "bends", "metric of bends", "mirrored", "wrapped", "blurred")),
        *map(way_with, ("over zero", "joint by joint", "corners", "tip", "a millimetre short")),
        way_with("past the goal"),
        *(
            changed("find_way", lambda q, x=x: np.vstack([q[:1], q[:1] * 0 + x, q[1:]]))
            for x in NOT_FINITE
        ),
        changed("find_way", lambda q: np.tile(q, (9000, 1))),
        changed("find_way", lambda q: q.T),
        changed("find_way", lambda q: q.ravel()),
        changed("find_way", lambda q: (q, len(q))),
        changed("find_way", lambda q: True),
    ],
    "audit": [
        *map(audit_with, ("never", "kept only", "shifted nodes", "small discs", "large discs")),
        *map(audit_with, ("one limit", "reach turned", "half a step", "row", "node")),
        *map(audit_with, ("word for all", "nothing")),
        changed("audit", lambda a: a[0]),
        changed("audit", lambda a: a[::-1]),
        changed("audit", lambda a: (a[0] + 0.3, a[1])),
        changed("audit", lambda a: (np.nan, a[1])),
        changed("audit", lambda a: (1.79e308, a[1])),
    ],
    "passage": [
        *map(shares_with, ("few targets", "diameter", "by width", "wall without gap")),
        *map(shares_with, ("from the middle", "blocked", "percent", "not through")),
        *map(shares_with, ("one in so many", "a node more", "edges of the grid", "two things")),
        *map(shares_with, ("turned", "zero", "nearly")),
        *(changed("passage", lambda a, x=x: (a[0] + x, *a[1:])) for x in NOT_FINITE),
        *(changed("passage", lambda a, x=x: (*a[:2], a[2] + x)) for x in NOT_FINITE),
    ],
}


@pytest.mark.parametrize("name", WRONG)
def test_the_fixed_cases_alone_refuse_what_is_wrong_in_its_own_way(name):
    exercise = BY_NAME[name]
    fixed = replace(exercise, cases=lambda rng: exercise.cases(rng)[: FIXED[name]])
    fixed = solved_once(fixed, np.random.default_rng(0))
    for i, answer in enumerate(WRONG[name]):
        result = fixed.judge(answer, np.random.default_rng(0))
        assert not result.passed, i
        assert len(result.message.splitlines()[-1]) > 10, result.message


# ---------------------------------------------------------------- three whole hand-ins


def handed_in(replaced):
    notebook = copy.deepcopy(SOURCE.notebook)
    for cell in notebook["cells"]:
        if grade_id(cell) in replaced:
            cell["source"] = replaced[grade_id(cell)]
    return json.dumps(notebook)


MIXED = {
    "find_way": """
def find_way(links, limits, pillars, start, goal, seed):
    return start + np.linspace(0, 1, 30)[:, None] * (goal - start)
""",
    "audit": """
def audit(start, limits, reach, step, discs, log):
    nodes = [start]
    for turn, row in enumerate(log):
        away = np.linalg.norm((np.array(nodes) - row[:2]) * reach, axis=1)
        if away.argmin() != row[2]:
            return turn, "nearest"
        nodes += [row[3:5]] * bool(row[5])
    return -1, None
""",
    "passage": "def passage(node, limits, wall, gap, radius, step):\n    return gap / 0, 0, 1",
}


def test_three_whole_hand_ins_get_their_marks(tmp_path):
    from nbgrader.api import Gradebook  # takes seconds to import

    texts = {
        "perfect": handed_in({}),
        "nothing": tool.learners_version(SOURCE),
        "mixed": handed_in(MIXED),
    }
    for student, text in texts.items():
        folder = tmp_path / "submitted" / student / "hw10_rrt"
        folder.mkdir(parents=True)
        (folder / "hw10_rrt.ipynb").write_text(text)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        status = tool.main(["--classroom", str(tmp_path), "grade", "hw10"])
    assert status == 0, out.getvalue()
    address = f"sqlite:///{(tmp_path / 'gradebook.db').as_posix()}"
    with Gradebook(address, "robot_arms") as book:
        scores, said = {}, {}
        for student in texts:
            submission = book.find_submission("hw10_rrt", student)
            scores[student] = submission.score
            for name in BY_NAME:
                comment = book.find_comment(name, "hw10_rrt", "hw10_rrt", student)
                said[student, name] = comment.comment
    assert scores == {"perfect": 10, "nothing": 0, "mixed": 2}
    assert said["mixed", "steer"].startswith("Right")
    assert JUDGE.WAY_SAYS["straight"] in said["mixed", "find_way"]
    assert "should be a word" in said["mixed", "audit"]
    assert "There is an infinite number in it" in said["mixed", "passage"]
