"""course_lib.fabrik by its laws: lengths, limits, reach, and reasons that are true."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from course_lib import fabrik

few = settings(max_examples=40, deadline=None)
STANDING = np.array([[0.0, 0], [0, 2], [0, 4], [0, 6]])
REASONS = {"converged", "unreachable", "joint limit", "stalled", "iteration limit"}


def lengths_of(points):
    return np.linalg.norm(np.diff(points, axis=0), axis=1)


def laid_out(lengths, angles):
    """A chain in the plane from its joint angles, by complex numbers."""
    steps = np.cumprod(np.exp(1j * np.asarray(angles))) * lengths
    tips = np.r_[0, np.cumsum(steps)]
    return np.stack([tips.real, tips.imag], axis=1)


@st.composite
def chain(draw, dimension=st.sampled_from([2, 3])):
    """A chain of 1 to 6 links, and a target somewhere around."""
    d, k = draw(dimension), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    steps = rng.normal(size=(k, d))
    steps *= (rng.uniform(0.2, 2, k) / np.linalg.norm(steps, axis=1))[:, None]
    root = rng.normal(size=d)
    points = root + np.vstack([np.zeros(d), np.cumsum(steps, axis=0)])
    return points, root + rng.normal(size=d) * draw(st.floats(0.1, 5))


def test_three_links_of_two_metres():
    found = fabrik.solve(STANDING, [3, 4], tolerance=1e-3)
    assert (found.success, found.reason, found.bent) == (True, "converged", False)
    assert len(found.errors) == 5
    assert found.errors[-2:] == pytest.approx([0.00116497, 0.00028653], abs=1e-8)


@settings(max_examples=150, deadline=None)
@given(chain())
def test_links_keep_their_length_and_success_means_reached(case):
    points, target = case
    before = points.copy()
    found = fabrik.solve(points, target)
    assert found.reason in REASONS and found.success == (found.reason == "converged")
    assert np.allclose(lengths_of(found.points), lengths_of(points), atol=1e-12)
    assert np.array_equal(found.points[0], points[0]) and np.array_equal(points, before)
    error = np.linalg.norm(found.points[-1] - target)
    assert found.success == (error < 1e-3)
    assert found.errors == [] or found.errors[-1] == pytest.approx(error, abs=1e-12)


@settings(max_examples=150, deadline=None)
@given(chain())
def test_unreachable_is_said_exactly_where_it_is_true(case):
    """The tip can be as far as all links together, and as near as the longest less the others."""
    points, target = case
    links, distance = np.sort(lengths_of(points)), np.linalg.norm(target - points[0])
    inner, outer = max(0, links[-1] - links[:-1].sum()), links.sum()
    assert fabrik.reach(links) == pytest.approx((inner, outer))
    found = fabrik.solve(points, target)
    gap = max(distance - outer, inner - distance, 0)
    assert (found.reason == "unreachable") == (gap >= 1e-3)
    if gap >= 1e-3:  # and the tip is as near as it gets
        assert np.linalg.norm(found.points[-1] - target) == pytest.approx(gap, abs=1e-9)


def test_the_hole_of_3_1_1():
    chain = [[0, 0], [3, 0], [3, 1], [2, 1]]
    assert fabrik.reach([3, 1, 1]) == (1, 5)
    for target in ([0.9, 0], [0, -0.5], [0, 0]):
        found = fabrik.solve(chain, target)
        assert (found.success, found.reason) == (False, "unreachable")
        assert np.linalg.norm(found.points[-1]) == pytest.approx(1)
    assert fabrik.solve(chain, [0, 1.1]).success
    assert fabrik.solve(chain, [0, 1]).success


def test_at_full_reach_the_chain_is_straight():
    found = fabrik.solve(STANDING, [6, 0])
    assert found.success and np.allclose(found.points, [[0, 0], [2, 0], [4, 0], [6, 0]])
    near = [len(fabrik.solve(STANDING, [6 * part, 0]).errors) for part in (0.9, 0.99, 0.999)]
    assert near == sorted(near) and near[2] > 10 * near[0]  # it creeps


@pytest.mark.parametrize("target", [[0, 3], [0, 5.9], [0, -2], [0, 0]])
def test_a_straight_chain_is_bent_aside_and_it_is_said(target):
    found = fabrik.solve(STANDING, target)
    assert found.success and found.bent
    assert np.abs(found.points[:, 0]).max() > 0.1
    space = fabrik.solve(np.c_[STANDING, np.zeros(4)], [*target, 0])
    assert space.success and space.bent


def test_without_bending_a_straight_chain_never_leaves_its_line():
    """Why it is bent: the rounds alone keep every point on the line."""
    points = STANDING.tolist()
    for _ in range(50):
        fabrik._to_the_base(points, [0.0, 3.0], [2.0] * 3, None)
        fabrik._to_the_tip(points, [0.0, 0.0], [2.0] * 3, None, [1.0, 0.0])
    assert np.abs(np.array(points)[:, 0]).max() == 0


# ---------------------------------------------------------------- limits


@few
@given(st.lists(st.floats(-3, 3), min_size=2, max_size=5), st.integers(0, 10**6))
def test_bends_are_the_joint_angles(angles, seed):
    rng = np.random.default_rng(seed)
    lengths = rng.uniform(0.2, 2, len(angles))
    assert np.allclose(fabrik.bends(laid_out(lengths, angles)), angles, atol=1e-9)
    flat = laid_out(lengths, angles)
    assert np.allclose(fabrik.bends(np.c_[flat, np.zeros(len(flat))]), np.abs(angles), atol=1e-7)
    turned = fabrik.bends(flat, base=[0, 1])
    assert np.allclose(np.exp(1j * (turned[0] + np.pi / 2)), np.exp(1j * angles[0]))


@pytest.mark.parametrize("dimension", [2, 3])
def test_limits_hold_whatever_the_reason(dimension):
    rng = np.random.default_rng(1)
    lengths, reasons = np.array([1, 0.8, 0.6, 0.4]), []
    low, high = (-1.2, 0.9) if dimension == 2 else (0.1, 1.2)
    limits = np.array([[-np.pi, np.pi], *[[low, high]] * 3])
    for _ in range(60):
        start, goal = (
            laid_out(lengths, np.r_[rng.uniform(-3, 3), rng.uniform(low, high, 3)])
            for _ in range(2)
        )
        if dimension == 3:
            start, goal = np.c_[start, np.zeros(5)], np.c_[goal, np.zeros(5)]
        found = fabrik.solve(start, goal[-1], limits=limits)
        angles = fabrik.bends(found.points)[1:]
        assert (angles > low - 1e-9).all() and (angles < high + 1e-9).all()
        assert np.allclose(lengths_of(found.points), lengths, atol=1e-9)
        reasons.append(found.reason)
    assert set(reasons) <= {"converged", "joint limit", "iteration limit"}
    assert reasons.count("converged") > 50  # every target can be reached within the limits


def test_a_first_link_is_held_against_the_base():
    limits = [[-0.2, 0.2], [-3, 3], [-3, 3]]
    found = fabrik.solve(STANDING, [1, 3], limits=limits, base=[0, 1])
    assert found.success
    first = found.points[1] - found.points[0]
    assert abs(np.arctan2(first[0], first[1])) < 0.2 + 1e-9


def test_a_limit_in_the_way_is_named():
    """Two links that bend by 0.1 rad at most can't come near their base."""
    found = fabrik.solve([[0, 0], [1, 0], [1.9, 0.1]], [0.5, 0.5], limits=[[-3, 3], [-0.1, 0.1]])
    assert (found.success, found.reason) == (False, "joint limit")
    far = fabrik.solve([[0, 0], [1, 0], [1.9, 0.1]], [3, 0], limits=[[-3, 3], [-0.1, 0.1]])
    assert (far.success, far.reason) == (False, "unreachable")


def test_a_start_outside_its_limits_is_brought_inside():
    chain = laid_out([1, 1, 1], [0.3, 2.0, 0.3])
    limits = np.array([[-3, 3], [-1, 1], [-1, 1]])
    found = fabrik.solve(chain, chain[-1], limits=limits)
    assert fabrik.bends(found.points)[1] <= 1 + 1e-9 and len(found.errors) > 0


# ---------------------------------------------------------------- reasons and arguments


def test_iteration_limit_while_it_was_falling():
    found = fabrik.solve(STANDING, [5.99, 0], max_iterations=10)
    assert (found.success, found.reason) == (False, "iteration limit")
    assert len(found.errors) == 10 and (np.diff(found.errors) < 0).all()


def test_nothing_to_do():
    found = fabrik.solve(STANDING, [0, 6])
    assert found.success and np.allclose(found.points, STANDING)
    bow = laid_out([1, 1], [0.3, 0.5])
    assert fabrik.solve(bow, bow[-1]).errors == []


@few
@given(chain(st.just(2)))
def test_space_gives_the_same_as_the_plane(case):
    points, target = case
    flat = fabrik.solve(points, target)
    assume(not flat.bent)
    lift = lambda a: np.c_[np.atleast_2d(a), np.zeros(len(np.atleast_2d(a)))]
    space = fabrik.solve(lift(points), lift(target)[0])
    assert space.reason == flat.reason and np.allclose(space.points[:, :2], flat.points, atol=1e-6)


def test_bad_arguments_are_named():
    for words, change in {
        "points: shape": dict(points=[[0, 0]]),
        "points: link 2 has no length": dict(points=[[0, 0], [1, 0], [1, 0]]),
        "target": dict(target=[1, 2, 3]),
        "limits: shape": dict(limits=[[0, 1]]),
        "limits: .* above": dict(limits=[[1, 0]] * 3),
        "base: .* direction": dict(base=[0, 0]),
    }.items():
        with pytest.raises(ValueError, match=words):
            fabrik.solve(**(dict(points=STANDING, target=[1, 1]) | change))
