"""Shapes, things with a pose, and the stage: what is near hides what is far, labels move apart."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import RigidTransform, Rotation

from course_lib import plots
from course_lib.plots import solids
from course_lib.plots.solids import Arrow, Label, Line, Solid

RED, BLUE = np.array([1.0, 0, 0, 1]), np.array([0, 0, 1.0, 1])
POSE = RigidTransform.from_components([0.2, -0.1, 0.3], Rotation.from_rotvec([0.4, -1.0, 2.0]))


# ---- shapes ---------------------------------------------------------------------------------


def volume(quads):
    """By the divergence theorem: positive when all faces look outwards; exact if closed."""
    a, b, c, d = np.moveaxis(quads, 1, 0)
    return sum((p * np.cross(q, r)).sum() for p, q, r in ((a, b, c), (a, c, d))) / 6


def polygon(n):
    return n / 2 * np.sin(2 * np.pi / n)  # area of a regular n-gon in the unit circle


@pytest.mark.parametrize(
    "quads, true",
    [
        (
            solids.tube((0.1, 0.2, -0.3), (0.4, -0.1, 0.9), 0.2, sides=12),
            polygon(12) * 0.04 * np.sqrt(0.09 + 0.09 + 1.44),
        ),
        (solids.tube((0, 0, 0), (0, 0, 1), 0.2, sides=20, rings=3), polygon(20) * 0.04),
        (solids.tube((0, 0, 0), (1, 0, 0), 0.3, radius1=0, sides=8), polygon(8) * 0.09 / 3),
        (solids.box(np.eye(4), (1, 2, 3)), 6.0),
    ],
)
def test_solids_are_closed_and_look_outwards(quads, true):
    assert volume(quads + [1.0, -2.0, 0.5]) == pytest.approx(true)


def test_ball_is_closed_and_nearly_round():
    quads = solids.ball((1, 2, 3), 0.5, sides=24)
    assert volume(quads) == pytest.approx(4 / 3 * np.pi * 0.125, rel=0.04)
    assert np.allclose(np.linalg.norm(quads - [1, 2, 3], axis=-1), 0.5)


def test_near_faces_hide_far_ones():
    fig, ax = plots.space(1.0, (3, 3), view=(0, -90), ground=False)  # the eye looks along +y
    plots.SolidArtist(ax, solids.ball((0, 0.5, 0), 0.3), "#FF0000")
    plots.SolidArtist(ax, solids.ball((0, -0.5, 0), 0.3), "#0000FF")
    for view, seen, hidden in (((0, -90), 2, 0), ((0, 90), 0, 2)):
        ax.view_init(*view)
        channels = np.moveaxis(drawn(ax), -1, 0)
        ball = channels[seen] > 2 * channels[hidden]
        assert ball.mean() > 0.01
        y, x = np.argwhere(ball).mean(axis=0).round().astype(int)
        assert channels[seen, y, x] > 2 * channels[hidden, y, x]


# ---- the stage ------------------------------------------------------------------------------


def empty_room():
    """A stage without floor, and the picture of a drawing."""
    fig, ax = plots.space(1.0, (3, 3), ground=False)
    return ax, ax.stage


def drawn(ax):
    ax.figure.canvas.draw()
    return np.asarray(ax.figure.canvas.buffer_rgba())[..., :3].astype(int)


def test_a_thing_in_a_pose_looks_like_its_moved_geometry():
    """Solids, arrows, lines and labels: pose T and geometry x draw the picture of T x."""
    pictures = []
    for moved in (False, True):
        ax, stage = empty_room()
        place = POSE.apply if moved else lambda x: x
        quads = solids.box(np.eye(4), (0.3, 0.2, 0.1))
        quads = place(quads.reshape(-1, 3)).reshape(-1, 4, 3)
        things = [
            Solid(colour=RED, quads=quads),
            Arrow(BLUE, place(np.zeros(3)), place(np.array([0, 0, 0.5])), 0.02),
            Line(colour=BLUE, points=place(np.eye(3))),
            Label(colour=RED, words="here", point=place(np.array([0.3, 0.2, 0.4]))),
        ]
        stage.add(*things)
        for thing in things if not moved else []:
            thing.pose = POSE.as_matrix()
        pictures.append(drawn(ax))
    # the arrow's facets may start at another angle about its shaft
    assert (np.abs(pictures[0] - pictures[1]).max(axis=-1) > 60).mean() < 0.004
    assert (pictures[0].min(axis=-1) < 200).mean() > 0.02


def test_what_is_removed_is_gone_and_what_changes_is_seen():
    ax, stage = empty_room()
    empty = drawn(ax)
    box = Solid(colour=RED, quads=solids.box(np.eye(4), (0.3, 0.3, 0.3)))
    stage.add(box)
    with_box = drawn(ax)
    box.quads = solids.box(np.eye(4), (0.6, 0.3, 0.3))
    longer = drawn(ax)
    assert ((with_box != empty).any(axis=-1).sum()) < ((longer != empty).any(axis=-1).sum())
    stage.remove(box)
    assert (drawn(ax) == empty).all()


def test_a_shadow_lies_below_what_throws_it():
    fig, ax = plots.space(1.0, (3, 3), view=(89.9, -90))  # seen from above
    before = drawn(ax)
    box = Solid(colour=np.array([1.0, 0, 0, 0]), quads=solids.box(np.eye(4), (0.4, 0.4, 0.2)))
    ax.stage.add(box)
    dark = (drawn(ax) != before).any(axis=-1)
    box.shadow = False
    box.quads = box.quads.copy()
    assert dark.mean() > 0.01 and (drawn(ax) == before).all()


def test_front_is_drawn_before_what_is_nearer():
    ax, stage = empty_room()
    far = Solid(colour=RED, quads=solids.ball((0, 0, 0), 0.2), front=True)
    near = Solid(colour=BLUE, quads=solids.ball((0, 0, 0), 0.6))
    stage.add(far, near)
    r, _, b = np.moveaxis(drawn(ax), -1, 0)
    assert 0.005 < (r > 2 * b).mean() < (b > 2 * r).mean()


# ---- labels ---------------------------------------------------------------------------------

spot = st.tuples(st.floats(0, 60), st.floats(0, 60))
size = st.tuples(st.floats(5, 30), st.floats(8, 12))


@given(st.lists(st.tuples(spot, size), min_size=2, max_size=7))
@settings(max_examples=60, deadline=None)
def test_labels_that_overlap_move_apart_and_others_stay(labels):
    spots, sizes = (np.array(part) for part in zip(*labels))
    moved = solids.moved_apart(spots, sizes)
    for i, j in itertools.combinations(range(len(spots)), 2):
        gap = np.abs(moved[i] - moved[j]) - (sizes[i] + sizes[j]) / 2
        assert gap.max() > -0.5  # half a point, at most
    alone = [
        all((np.abs(spots[i] - s) > 100).any() for j, s in enumerate(spots) if j != i)
        for i in range(len(spots))
    ]
    assert np.allclose(moved[alone], spots[alone])


def test_labels_far_apart_stay_where_they_are():
    spots = np.array([[0.0, 0], [50, 0], [0, 50], [200, 300]])
    assert (solids.moved_apart(spots, np.full((4, 2), 20.0)) == spots).all()


def test_labels_on_one_point_are_both_read():
    """Two words on one point cover twice the ink of one: neither hides the other."""
    ink = []
    for words in (["4"], ["4", "4"]):
        ax, stage = empty_room()
        before = drawn(ax)
        stage.add(*(Label(colour=np.array([0, 0, 0, 1.0]), words=w, size=20) for w in words))
        ink.append(((before - drawn(ax)).max(axis=-1) > 120).sum())
    assert ink[1] > 1.9 * ink[0] > 0
