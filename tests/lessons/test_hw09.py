"""Homework 09: the truths hold against coal and SciPy, and more answers are tried."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import lsq_linear, minimize, minimize_scalar
from support.complaints import complaints, remembered, solved_once
from support.judges import judge_of

from course_lib.collision import Capsule, capsules, self_pairs
from course_lib.engines import pinocchio_model
from course_lib.kinematics import fk, link_frames

JUDGE, BY_NAME = judge_of("hw09_collision")
ARM = JUDGE.COBOT6
# How many cases come before those that are drawn; they alone tell every mistake from the truth.
FIXED = {"to_pillar": 19, "least_clearance": 8, "proven": 9, "sort_pairs": 11}


def cases_of(name, seed=3):
    return BY_NAME[name].cases(np.random.default_rng(seed))


# ---------------------------------------------------------------- the truths


def coal_distance(one, R1, p1, other, R2=np.eye(3), p2=np.zeros(3)):
    coal = pytest.importorskip("coal")
    places = [coal.Transform3s(R, p) for R, p in ((R1, p1), (R2, p2))]
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    return coal.distance(one, places[0], other, places[1], request, result)


def upright(axis):
    """A rotation whose z is the axis."""
    z = axis / np.linalg.norm(axis)
    x = np.cross(z, np.eye(3)[np.abs(z).argmin()])
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


@pytest.mark.parametrize("seed", range(3))
def test_a_pillar_is_as_far_as_coal_says_and_the_nearest_point_lies_on_it(seed):
    coal = pytest.importorskip("coal")
    for p, foot, axis, radius, height in cases_of("to_pillar", seed):
        d, near = JUDGE.to_pillar(p, foot, axis, radius, height)
        R, ball = upright(axis), coal.Sphere(1e-4)
        middle = foot + height / 2 * R[:, 2]
        theirs = coal_distance(ball, np.eye(3), p, coal.Cylinder(radius, height), R, middle)
        if d > 0:  # coal's depth is not always the least
            assert d == pytest.approx(theirs + 1e-4, abs=1e-5)
        assert (theirs + 1e-4 > 0) == (d > 0)
        assert d == pytest.approx(pillar_by_search(p, foot, axis, radius, height)[0], abs=1e-7)
        assert np.linalg.norm(near - p) == pytest.approx(abs(d), abs=1e-12)
        assert abs(JUDGE.to_pillar(near, foot, axis, radius, height)[0]) < 1e-12


def test_segments_are_as_far_apart_as_the_least_squares_say():
    rng = np.random.default_rng(2)
    segments = rng.uniform(-1, 1, (60, 4, 3))
    segments[:10, 3] = segments[:10, 2] + segments[:10, 1] - segments[:10, 0]  # parallel
    segments[10:20, 1] = segments[10:20, 0]  # a point
    segments[15:25, 3] = segments[15:25, 2]  # and both
    for A, B, F, G in segments:
        best = lsq_linear(np.column_stack([B - A, F - G]), F - A, (0, 1), tol=1e-14)
        assert JUDGE.apart(A, B, F, G) == pytest.approx(np.sqrt(2 * best.cost), abs=1e-7)


def test_the_bodies_and_pairs_are_those_of_the_library():
    q = np.random.default_rng(1).uniform(-2, 2, (20, 6))
    body, frames = capsules(ARM), link_frames(ARM, q)
    place = lambda k: np.einsum(
        "nbij,bj->nbi", frames[:, body.frame[k]][..., :3, :3], body.local[k]
    )
    for mine, k in zip(JUDGE.skeleton(q), (body.first, body.last)):
        np.testing.assert_allclose(
            mine, place(k) + frames[:, body.frame[k]][..., :3, 3], atol=1e-12
        )
    np.testing.assert_allclose(JUDGE.RADII, body.radius)
    assert tuple(map(tuple, JUDGE.PAIRS)) == self_pairs(ARM)


def by_coal(q, bar, pillars):
    """The clearance at one posture q (6,), all bodies as coal's capsules on Pinocchio's frames."""
    coal, pin = pytest.importorskip("coal"), pytest.importorskip("pinocchio")
    model, tool = pinocchio_model(ARM)
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    T = data.oMf[tool].homogeneous
    starts, ends = JUDGE.skeleton(q)
    solids = [*zip(starts, ends, JUDGE.RADII)]
    solids += [(*(T[:3, 3] + T[:3, :3] @ end for end in bar[:2]), bar[2])]
    stands = [(row[:3], row[3:6], row[6]) for row in pillars]

    def gap(one, other):
        placed = []
        for A, B, r in (one, other):
            length = np.linalg.norm(B - A)
            R = upright(B - A) if length > 1e-9 else np.eye(3)
            placed += [coal.Capsule(r, length) if length > 1e-9 else coal.Sphere(r), R, (A + B) / 2]
        return coal_distance(*placed)

    pairs = [(i - 1, j - 1) for i, j in self_pairs(ARM)] + [(6, k) for k in range(4)]
    gaps = [gap(solids[i], solids[j]) for i, j in pairs]
    return min(gaps + [gap(one, other) for one in solids for other in stands])


@pytest.mark.parametrize("seed", range(2))
def test_the_least_clearance_is_that_of_a_scan_and_each_posture_that_of_coal(seed):
    for q0, q1, bar, pillars in cases_of("least_clearance", seed):
        least = JUDGE.least_clearance(q0, q1, bar, pillars)
        t = np.linspace(0, 1, 2001)
        c = JUDGE.along(t, q0, q1, bar, pillars)
        assert least == pytest.approx(c.min(), abs=1e-6)
        for k in (0, 700, 2000, int(c.argmin())):
            theirs = by_coal(q0 + t[k] * (q1 - q0), bar, pillars)
            assert c[k] == pytest.approx(theirs, abs=1e-6)


def test_no_axes_come_nearer_than_the_text_says():
    for seed in range(10):
        for q0, q1, bar, pillars in cases_of("least_clearance", seed):
            thin, wires = [*bar[:2], 0.0], pillars * [1, 1, 1, 1, 1, 1, 0]
            q = q0 + np.linspace(0, 1, 101)[:, None] * (q1 - q0)
            gaps = JUDGE.carried_gaps(q, thin, wires, "no link radii")
            pairs = JUDGE.PAIRS.T - 1
            A, B = JUDGE.skeleton(q)
            own = JUDGE.apart(*(X[:, pairs[k]] for k in (0, 1) for X in (A, B)))
            assert min(own.min(), *(gaps[k].min() for k in ("arm", "bar", "bar and arm"))) > 0.01


@pytest.mark.parametrize("seed", range(3))
def test_the_certain_clearance_is_reached_by_a_motion_and_passed_by_none(seed):
    rng = np.random.default_rng(seed)
    for t, c, dq, reach, margin in cases_of("proven", seed):
        L = np.abs(dq) @ reach
        certain, open_ones = JUDGE.proven(t, c, dq, reach, margin)
        x = np.linspace(0, 1, 20001)
        lowest = np.max(c - L * np.abs(x[:, None] - t), axis=1)  # the deepest with this slope
        assert certain == pytest.approx(lowest.min(), abs=L / 2e4 + 1e-12)
        assert (np.abs(np.diff(c)) <= L * np.diff(t) + 1e-12).all()  # the samples keep the bound
        for k in range(len(t) - 1):
            inside = lowest[(x >= t[k]) & (x <= t[k + 1])].min()
            assert (inside <= margin + L / 2e4) == (k in open_ones)
        some = np.maximum.reduce([v - L * rng.uniform(0, 1) * np.abs(x - y) for v, y in zip(c, t)])
        assert some.min() >= certain - 1e-12


@pytest.mark.parametrize("seed", range(3))
def test_sorted_pairs_stay_so_in_the_nearest_posture_that_a_search_finds(seed):
    cases = cases_of("sort_pairs", seed)
    for lengths, radii, low, high in cases if seed == 0 else cases[FIXED["sort_pairs"] :]:
        always, never = JUDGE.sort_pairs(lengths, radii, low, high)
        for i, j in combinations(range(len(lengths)), 2):

            def gap(bends, i=i, j=j):
                angle = np.cumsum(np.r_[0, bends])
                step = lengths[i : j + 1, None] * np.column_stack(
                    [np.cos(angle), np.sin(angle), 0 * angle]
                )
                P = np.vstack([np.zeros(3), np.cumsum(step, axis=0)])
                A, D, F, G = (v[:, None] for v in (P[0], P[1] - P[0], P[-2], P[-1]))
                return Capsule.measure(A, D, F, G, radii[i] + radii[j])[0][0]

            bounds = [*zip(low[i + 1 : j + 1], high[i + 1 : j + 1])]
            rng = np.random.default_rng(seed)
            starts = [rng.uniform(*np.transpose(bounds)) for _ in range(2)]
            near = min(minimize(gap, x, bounds=bounds, method="Powell").fun for x in starts)
            far = max(-minimize(lambda x: -gap(x), x, bounds=bounds).fun for x in starts)
            pair = i + 1, j + 1
            assert near > 0 if pair in never else far <= 1e-9 if pair in always else far > 0
            if j == i + 1:
                assert pair in always


# ---------------------------------------------------------------- more right answers


def pillar_by_projection(p, foot, axis, radius, height):
    """Into the pillar's own frame, and each of its faces in turn."""
    R = upright(axis)
    x, y, h = R.T @ (p - foot)
    r = np.hypot(x, y)
    c, s = (x / r, y / r) if r > 1e-9 else (0.0, 1.0)
    low, wide = min(r, radius), np.clip(h, 0, height)
    faces = [(low * c, low * s, 0), (low * c, low * s, height), (radius * c, radius * s, wide)]
    far, k = min((np.linalg.norm(np.subtract(face, (x, y, h))), k) for k, face in enumerate(faces))
    inside = r < radius and 0 < h < height
    return (-far if inside else far), foot + R @ np.array(faces[k])


def pillar_by_search(p, foot, axis, radius, height):
    """SciPy looks along the outline of the section: foot, side and top are one line."""
    u = axis / np.linalg.norm(axis)
    h, flat = (p - foot) @ u, p - foot - ((p - foot) @ u) * u
    r = np.linalg.norm(flat)
    out = flat / r if r > 1e-9 else upright(axis)[:, 0]
    corners = np.array([[0, 0], [radius, 0], [radius, height], [0, height]])

    def far(x, k):
        return np.linalg.norm(corners[k] + x * (corners[k + 1] - corners[k]) - [r, h])

    found = []
    for k in range(3):
        x = minimize_scalar(far, (0, 1), (0, 1), (k,), "bounded", options={"xatol": 1e-10}).x
        found += [(far(y, k), *(corners[k] + y * (corners[k + 1] - corners[k]))) for y in (0, x, 1)]
    d, a, b = min(found)
    return [-d if r < radius and 0 < h < height else d, foot + a * out + b * u]


def pillar_signed(p, foot, axis, radius, height):
    """The two signed distances of a slab and of an endless cylinder."""
    u = axis / np.linalg.norm(axis)
    h = (p - foot) @ u - height / 2
    flat = p - foot - ((p - foot) @ u) * u
    r = np.linalg.norm(flat)
    out = flat / r if r > 1e-9 else upright(axis)[:, 1]
    a, b = r - radius, abs(h) - height / 2
    d = np.hypot(max(a, 0), max(b, 0)) + min(max(a, b), 0)
    middle = foot + height / 2 * u
    up = np.sign(h) if h else 1.0
    if d > 0:
        return d, middle + min(r, radius) * out + np.clip(h, -height / 2, height / 2) * u
    return d, (middle + h * u + radius * out) if a > b else middle + height / 2 * up * u + r * out


def clearance_by_library(q0, q1, bar, pillars):
    """Segments by the library's formula, everything in one long list of pairs."""
    q = q0 + np.linspace(0, 1, 601)[:, None] * (q1 - q0)
    A, B = JUDGE.skeleton(q)
    T = fk(ARM, q)
    ends = [T[:, :3, 3] + T[:, :3, :3] @ end for end in bar[:2]]
    solids = [(A[:, k], B[:, k], ARM.radius[k]) for k in range(6)] + [(*ends, bar[2])]
    pairs = [(solids[i - 1], solids[j - 1]) for i, j in self_pairs(ARM)]
    pairs += [(solids[6], one) for one in solids[:4]]
    stands = [tuple(row[k] + 0 * A[:, 0] for k in (slice(3), slice(3, 6))) for row in pillars]
    pairs += [(one, (*two, row[6])) for one in solids for two, row in zip(stands, pillars)]
    least = []
    for (A, B, r), (F, G, s) in pairs:
        least.append(Capsule.measure(A.T, (B - A).T, F.T, G.T, r + s)[0].min())
    return min(least)


def clearance_by_search(q0, q1, bar, pillars):
    """A scan, then SciPy around each of its valleys."""
    t = np.linspace(0, 1, 201)
    c = JUDGE.along(t, q0, q1, bar, pillars)
    far = lambda x: JUDGE.along(np.array([x]), q0, q1, bar, pillars)[0]
    valleys = [k for k in range(1, 200) if c[k] <= min(c[k - 1], c[k + 1])]
    valleys = sorted(valleys, key=lambda k: c[k])[:2]
    found = [minimize_scalar(far, bounds=(t[k - 1], t[k + 1]), method="bounded") for k in valleys]
    return min([c[0], c[-1], *(one.fun for one in found)])


@remembered
def clearance_by_halves(q0, q1, bar, pillars):
    """The way in two, and each half in many."""
    half = (q0 + q1) / 2
    scan = lambda a, b: JUDGE.along(np.linspace(0, 1, 251), a, b, bar, pillars).min()
    return min(scan(q0, half), scan(half, q1))


def proven_by_cones(t, c, dq, reach, margin):
    """On a fine grid: the highest of all cones that hang from the samples."""
    L = float(np.abs(dq) @ reach)
    certain, found = np.inf, []
    for k in range(len(t) - 1):
        x = np.linspace(t[k], t[k + 1], 20001)
        low = np.maximum(c[k] - L * (x - t[k]), c[k + 1] - L * (t[k + 1] - x)).min()
        certain = min(certain, low)
        found += [k] if low <= margin else []
    return certain, found


def proven_by_ellipse(t, c, dq, reach, margin):
    """What is left of both clearances when the way is taken off, halved."""
    way = sum(abs(x * y) for x, y in zip(dq, reach))
    room = [(c[k] + c[k + 1] - way * (t[k + 1] - t[k])) * 0.5 for k in range(len(t) - 1)]
    return np.array(min(room)), [k for k, x in enumerate(room) if not x > margin][::-1]


@remembered
def pairs_by_postures(lengths, radii, q_min, q_max):
    """Many random postures of the whole arm, and those at the limits."""
    rng, n = np.random.default_rng(1), len(lengths)
    q = rng.uniform(q_min, q_max, (6000, n))
    at = rng.uniform(size=q.shape) < 0.3
    q = np.where(at, np.where(rng.uniform(size=q.shape) < 0.5, q_min, q_max), q)
    angle = np.cumsum(q, axis=1)
    step = lengths[:, None] * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=-1)
    P = np.concatenate([0 * step[:, :1], np.cumsum(step, axis=1)], axis=1)
    found = [[], []]
    for i, j in combinations(range(n), 2):
        touch = (
            JUDGE.apart(P[:, i], P[:, i + 1], P[:, j], P[:, j + 1]) <= radii[i] + radii[j] + 1e-9
        )
        if touch.all() or not touch.any():
            found[int(not touch.any())].append([j + 1, i + 1])
    return found


def pairs_by_grid(lengths, radii, q_min, q_max):
    """Complex numbers, a grid of the whole arm."""
    n = len(lengths)
    grid = np.meshgrid(*(np.linspace(a, b, 23) for a, b in zip(q_min[1:], q_max[1:])))
    turn = np.exp(1j * np.cumsum([0 * grid[0].ravel(), *(x.ravel() for x in grid)], axis=0))
    P = np.cumsum([0 * turn[0], *(lengths[:, None] * turn)], axis=0)
    P = np.stack([P.real, P.imag, 0 * P.real], axis=-1)
    always, never = [], []
    for i, j in combinations(range(n), 2):
        gap = Capsule.measure(P[i].T, (P[i + 1] - P[i]).T, P[j].T, P[j + 1].T, radii[i] + radii[j])
        always += [(i + 1, j + 1)] if (gap[0] <= 1e-12).all() else []
        never += [(i + 1, j + 1)] if (gap[0] > 0).all() else []
    return always, never


def pairs_by_proof(lengths, radii, q_min, q_max):
    """Always: the skeleton between is short. Never: by SciPy from some postures."""
    always, never, rng = [], [], np.random.default_rng(0)
    grid_always, grid_never = pairs_by_grid(lengths, radii, q_min, q_max)
    for i, j in combinations(range(len(lengths)), 2):
        if lengths[i + 1 : j].sum() <= radii[i] + radii[j]:
            always.append((j + 1, i + 1))
        elif (i + 1, j + 1) in grid_never:
            never.append((j + 1, i + 1))
    rng.shuffle(never)
    return always, never


def as_lists(answer):
    return lambda *case: [np.asarray(part).tolist() for part in answer(*case)]


def pair_arrays(answer, kind=float):
    return lambda *case: [np.array(part, kind) for part in answer(*case)]


MORE = {
    "to_pillar": [
        pillar_by_projection,
        pillar_by_search,
        pillar_signed,
        as_lists(pillar_signed),
        lambda *case: tuple(map(np.float32, pillar_signed(*case))),
        lambda *case: [np.round(part, 5) for part in pillar_by_projection(*case)],
        lambda *case: (pillar_signed(*case)[0], tuple(pillar_by_search(*case)[1])),
    ],
    "least_clearance": [
        clearance_by_library,
        clearance_by_search,
        clearance_by_halves,
        lambda *case: np.float32(clearance_by_halves(*case)),
        lambda *case: np.array([clearance_by_halves(*case)]),
        lambda *case: round(float(clearance_by_halves(*case)), 4),
        lambda *case: np.round(clearance_by_halves(*case), 5),
    ],
    "proven": [
        proven_by_cones,
        proven_by_ellipse,
        as_lists(proven_by_ellipse),
        lambda *case: [np.float32(part) for part in proven_by_ellipse(*case)],
        lambda *case: (round(proven_by_cones(*case)[0], 5), proven_by_cones(*case)[1]),
        lambda *case: (proven_by_ellipse(*case)[0], tuple(proven_by_ellipse(*case)[1])),
        lambda *case: (proven_by_cones(*case)[0], np.array(proven_by_cones(*case)[1])),
    ],
    "sort_pairs": [
        pairs_by_postures,
        pairs_by_grid,
        pairs_by_proof,
        as_lists(pairs_by_grid),
        pair_arrays(pairs_by_grid),
        pair_arrays(pairs_by_proof, int),
        lambda *case: [tuple(map(tuple, part)) for part in pairs_by_proof(*case)],
        lambda *case: tuple(part[::-1] for part in pairs_by_grid(*case)),
    ],
}


@pytest.mark.parametrize("name", MORE)
def test_ten_right_answers_pass_and_ten_wrong_ones_are_told(name):
    exercise = BY_NAME[name]
    assert len(exercise.alternatives) + len(MORE[name]) >= 10 and len(exercise.mistakes) >= 10
    for i, answer in enumerate(MORE[name]):
        for seed in (0, 1, 2) if i < 4 else (0,):
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


def test_the_checkers_that_published_planners_use_get_their_own_message():
    exercise, told = BY_NAME["least_clearance"], []
    for kind in ("joints", "ends", "no link radii", "no self"):
        answer = lambda *case, kind=kind: JUDGE.least_clearance(*case, kind)
        told.append(exercise.judge(answer, np.random.default_rng(5)).hint)
    words = ("joints only", "end points of the move only", "the radii of the links", "self-coll")
    assert all(word in message for word, message in zip(words, told, strict=True))


# ---------------------------------------------------------------- wrong in ways of their own


def changed(name, change):
    """The truth of an exercise, changed."""
    return lambda *case: change(BY_NAME[name].truth(*case))


def pillar_with(kind):
    """A pillar with a fault of a kind that a learner may invent."""

    def answer(p, foot, axis, radius, height):
        pillar = foot, axis, radius, height
        d, near = JUDGE.to_pillar(p, *pillar)
        if kind == "upright":
            return JUDGE.to_pillar(p, foot, np.array([0, 0, 1.0]), radius, height)
        if kind == "axis turned":
            return JUDGE.to_pillar(p, foot, -axis, radius, height)
        if kind == "as a box":
            h = np.array([radius, radius, height / 2])
            R, middle = upright(axis), foot + height / 2 * upright(axis)[:, 2]
            local = R.T @ (p - middle)
            spot = np.clip(local, -h, h)
            return np.linalg.norm(local - spot), middle + R @ spot
        if kind == "scaled height":
            return JUDGE.to_pillar(p, foot, axis, radius, height * np.linalg.norm(axis))
        if kind == "diameter":
            return JUDGE.to_pillar(p, foot, axis, radius / 2, height)
        if kind == "always the foot":
            return np.linalg.norm(p - foot), foot
        if kind == "rim inside":
            u, R = axis / np.linalg.norm(axis), upright(axis)
            return (d, foot + radius * R[:, 0] + (p - foot) @ u * u) if d < 0 else (d, near)
        if kind == "sign turned":
            return -d, near
        return d, p + (p - near)

    return answer


def clearance_with(kind):
    """A checker with a fault of a kind that a learner may invent."""

    def answer(q0, q1, bar, pillars):
        a, b, r = bar
        if kind == "back again":
            return JUDGE.least_clearance(q0, 2 * q0 - q1, bar, pillars)
        if kind == "first pillar":
            return JUDGE.least_clearance(q0, q1, bar, pillars[:1])
        if kind == "wrapped":
            way = (q1 - q0 + 0.5) % 1.0 - 0.5
            return JUDGE.least_clearance(q0, q0 + way, bar, pillars)
        if kind == "bar turned":
            return JUDGE.least_clearance(q0, q1, [a[[1, 0, 2]], b[[1, 0, 2]], r], pillars)
        if kind == "bar from the flange":
            return JUDGE.least_clearance(q0, q1, [0 * a, b, r], pillars)
        if kind == "diameters":
            return JUDGE.least_clearance(q0, q1, [a, b, 2 * r], pillars * [1, 1, 1, 1, 1, 1, 2])
        if kind == "all but links 1, 2":
            gaps = JUDGE.carried_gaps(
                q0 + np.linspace(0, 1, 201)[:, None] * (q1 - q0), bar, pillars
            )
            return min(gaps["arm"][:, 6:].min(), *(gaps[k].min() for k in ("bar", "self")))
        if isinstance(kind, int):
            return JUDGE.along(np.linspace(0, 1, kind), q0, q1, bar, pillars).min()
        if kind == "at the nearest middle":
            t = np.linspace(0.25, 0.75, 101)
            return JUDGE.along(t, q0, q1, bar, pillars).min()
        return JUDGE.least_clearance(q0, q1, bar, pillars) - 0.02

    return answer


def proof_with(kind):
    """A proof with a fault of a kind that a learner may invent."""

    def answer(t, c, dq, reach, margin):
        L, step = np.abs(dq) @ reach, np.diff(t)
        mean, lower = (c[:-1] + c[1:]) / 2, np.minimum(c[:-1], c[1:])
        least = {
            "a quarter": mean - L * step / 4,
            "mean": mean,
            "higher": np.maximum(c[:-1], c[1:]) - L * step,
            "left": c[:-1] - L * step,
            "right": c[1:] - L * step,
            "half of the lower": lower / 2,
            "unsummed": mean - (np.abs(dq) * reach).mean() * step / 2,
        }.get(kind, mean - L * step / 2)
        found = np.flatnonzero(least <= margin)
        if kind == "equal":
            found = np.flatnonzero(least < margin)
        if kind == "margin twice":
            found = np.flatnonzero(least <= 2 * margin + 0.01)
        if kind == "count":
            return least.min(), len(found)
        if kind == "mask":
            return least.min(), least <= margin
        if kind == "places":
            return least.min(), t[found]
        if kind == "ends too":
            return least.min(), np.union1d(found, found + 1)
        if kind == "none":
            return least.min(), []
        return (least.mean() if kind == "mean of all" else least.min()), found

    return answer


def pairs_with(kind):
    """A list of pairs with a fault of a kind that a learner may invent."""

    def answer(lengths, radii, low, high):
        always, never = JUDGE.sort_pairs(lengths, radii, low, high)
        every = list(combinations(range(1, len(lengths) + 1), 2))
        if kind == "all never":
            return always, [pair for pair in every if pair not in always]
        if kind == "a pair less":
            return always[1:], never
        if kind == "neighbours forgotten":
            return [(i, j) for i, j in always if j > i + 1], never
        if kind == "one list":
            return always + never
        if kind == "together":
            return always + never, always + never
        if kind == "numbers":
            return len(always), len(never)
        if kind == "flat":
            return [k for pair in always for k in pair], [k for pair in never for k in pair]
        if kind == "wide limits":
            return JUDGE.sort_pairs(lengths, radii, 1.5 * low, 1.5 * high)
        if kind == "upper limits":
            return JUDGE.sort_pairs(lengths, radii, high, high)
        if kind == "half of the range":
            return JUDGE.sort_pairs(lengths, radii, 0 * low, high)
        if isinstance(kind, int):
            return JUDGE.pairs_seen(lengths, radii, low, high, count=kind)
        if kind == "fat":
            return JUDGE.sort_pairs(lengths, 2 * radii, low, high)
        return JUDGE.sort_pairs(lengths[::-1], radii[::-1], low[::-1], high[::-1])

    return answer


WRONG = {
    "to_pillar": [
        *map(pillar_with, ("upright", "axis turned", "as a box", "scaled height", "diameter")),
        *map(pillar_with, ("always the foot", "rim inside", "sign turned", "other side")),
        changed("to_pillar", lambda a: a[0]),
        changed("to_pillar", lambda a: a[::-1]),
        changed("to_pillar", lambda a: (a[0] + 1e-3, a[1])),
        changed("to_pillar", lambda a: (a[0], a[1] + 1e-3)),
        changed("to_pillar", lambda a: (a[0], np.round(a[1], 2))),
        changed("to_pillar", lambda a: (a[0], np.full(3, np.nan))),
        changed("to_pillar", lambda a: (a[0] ** 2, a[1])),
    ],
    "least_clearance": [
        *map(clearance_with, ("back again", "first pillar", "wrapped", "bar turned")),
        *map(clearance_with, ("bar from the flange", "diameters", "all but links 1, 2")),
        *map(clearance_with, ("at the nearest middle", "to be safe")),
        *map(clearance_with, (11, 15, 21, 25, 30, 40, 50, 51, 80, 101, 151, 201)),
        changed("least_clearance", lambda c: c + 1e-3),
        changed("least_clearance", lambda c: round(c, 2)),
        changed("least_clearance", lambda c: 1e3 * c),
        changed("least_clearance", lambda c: c * np.ones(2)),
        changed("least_clearance", lambda c: c > 0),
        changed("least_clearance", lambda c: abs(c) + 1e-3),
    ],
    "proven": [
        *map(proof_with, ("a quarter", "mean", "higher", "left", "right", "half of the lower")),
        *map(
            proof_with, ("equal", "unsummed", "margin twice", "count", "mask", "places", "ends too")
        ),
        *map(proof_with, ("none", "mean of all")),
        changed("proven", lambda a: a[0]),
        changed("proven", lambda a: a[::-1]),
        changed("proven", lambda a: (a[0] + 1e-3, a[1])),
        changed("proven", lambda a: (a[0], [k + 0.5 for k in a[1]] or [0.5])),
        changed("proven", lambda a: (a[0], [-1 - k for k in a[1]] or [-1])),
    ],
    "sort_pairs": [
        *map(pairs_with, ("all never", "a pair less", "neighbours forgotten", "one list")),
        *map(pairs_with, ("together", "numbers", "flat", "wide limits", "upper limits")),
        *map(pairs_with, ("half of the range", "fat", "from the tip")),
        *map(pairs_with, (50, 100, 500, 1000, 5000)),
        changed("sort_pairs", lambda a: a[0]),
        changed("sort_pairs", lambda a: ([], [])),
        changed("sort_pairs", lambda a: (str(a[0]), str(a[1]))),
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
