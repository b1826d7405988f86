"""Movable artists: what is drawn stands where `set` says, in the plane and in space."""

import numpy as np
import pytest
from scipy.spatial.transform import RigidTransform, Rotation

from course_lib import plots
from course_lib.plots import solids
from course_lib.plots.solids import Label, Solid

POSE = RigidTransform.from_components([0.1, 0.2, 0.3], Rotation.from_rotvec([1.0, -0.4, 0.7]))


def room():
    return plots.space(1.0, (3, 3))[1]


def plane():
    ax = plots.figure(size=(3, 3), equal=True)[1]
    ax.set(xlim=(-1, 1), ylim=(-1, 1))
    return ax


def corners(ax):
    """All corners of all solids, in the world."""
    return ax.stage.faces().reshape(-1, 3)


def ends(ax, direction):
    """How far the solids reach along a direction."""
    along = corners(ax) @ direction
    return along.min(), along.max()


# ---- arrows, lines, dots, words -------------------------------------------------------------


def test_arrow_in_space_leads_from_tail_to_tip():
    ax, rng = room(), np.random.default_rng(1)
    arrow = plots.arrow(ax, colour=plots.GOAL, words="v")
    assert len(corners(ax)) == 0
    for p0, p1 in rng.uniform(-1, 1, (5, 2, 3)):
        arrow.set(p0, p1)
        u = (p1 - p0) / np.linalg.norm(p1 - p0)
        assert np.allclose(ends(ax, u), (p0 @ u, p1 @ u))
        away = np.linalg.norm(np.cross(corners(ax) - p0, u), axis=1)
        assert away.max() < 0.1
        (name,) = (t for t in ax.stage.things if isinstance(t, Label))
        assert name.words == "v" and (name.point - p1) @ u > 0
        assert np.linalg.norm(np.cross(name.point - p1, u)) < 1e-9
    arrow.set(p0, p0)
    assert len(corners(ax)) == 0 and name.words == ""


def test_arrow_in_the_plane_leads_from_tail_to_tip():
    ax = plane()
    arrow = plots.arrow(ax, colour=plots.GOAL, words="v")
    body, name = arrow.artists
    assert not body.get_visible() and not name.get_visible()
    for p0, p1 in np.random.default_rng(2).uniform(-0.8, 0.8, (5, 2, 2)):
        arrow.set(p0, p1)
        ax.figure.canvas.draw()
        at = ax.transData.inverted().transform(body.get_tightbbox().get_points())
        low, high = np.minimum(p0, p1), np.maximum(p0, p1)
        assert np.abs(at - [low, high]).max() < 0.12  # the head is wider than the line
        assert body.get_visible() and name.get_text() == "v"
    arrow.set(p0, p0)
    assert not body.get_visible() and not name.get_visible()


@pytest.mark.parametrize("make, size", [(room, 3), (plane, 2)], ids=["space", "plane"])
def test_axis_line_goes_through_its_point_as_far_as_it_should(make, size):
    ax, rng = make(), np.random.default_rng(3)
    axis = plots.axis_line(ax, reach=(-0.1, 0.4))
    for point, direction in rng.uniform(-0.5, 0.5, (5, 2, size)):
        axis.set(point, direction)
        if size == 3:
            start, end = ax.stage.things[-1].points
        else:
            start, end = axis.artists[0].get_xydata()
        u = direction / np.linalg.norm(direction)
        assert np.allclose(start, point - 0.1 * u) and np.allclose(end, point + 0.4 * u)


def test_line_dot_and_label_in_the_plane():
    ax = plane()
    line = plots.line(ax, [[0, 0], [1, 1]])
    dot = plots.dot(ax)
    label = plots.label(ax, (0, 0), "a", "#E69F00")
    assert len(dot.artists[0].get_xydata()) == 0
    line.set([[0, 0], [1, 0], [0.5, 0.5]])
    dot.set([0.2, -0.3])
    label.set([0.5, 0.6], "b")
    assert np.array_equal(line.artists[0].get_xydata(), [[0, 0], [1, 0], [0.5, 0.5]])
    assert np.array_equal(dot.artists[0].get_xydata(), [[0.2, -0.3]])
    assert label.artists[0].get_position() == (0.5, 0.6)
    assert label.artists[0].get_text() == "b"
    assert label.artists[0].get_color() == plots.readable("#E69F00")
    label.set([0.1, 0.1])
    assert label.artists[0].get_text() == "b"


def test_line_dot_and_label_in_space():
    ax = room()
    line = plots.line(ax, np.eye(3))
    dot = plots.dot(ax, size=9)
    label = plots.label(ax, (0, 0, 0), "a")
    way, _, words = ax.stage.things
    assert len(corners(ax)) == 0  # a dot without a place
    dot.set([0.2, -0.3, 0.4])
    label.set([0.1, 0.2, 0.3], "b")
    line.set(2 * np.eye(3))
    away = np.linalg.norm(corners(ax) - [0.2, -0.3, 0.4], axis=1)
    assert np.ptp(away) < 1e-12 and 0 < away[0] < 0.05
    assert np.array_equal(words.point, [0.1, 0.2, 0.3]) and words.words == "b"
    assert np.array_equal(way.points, 2 * np.eye(3))


@pytest.mark.parametrize("make", [room, plane], ids=["space", "plane"])
@pytest.mark.parametrize("corner", ["upper left", "upper right", "lower left", "lower right"])
def test_note_stands_in_its_corner(make, corner):
    ax = make()
    text = plots.note(ax, "two\nlines", corner)
    ax.figure.canvas.draw()
    box = ax.transAxes.inverted().transform(text.get_window_extent().get_points())
    up, side = corner.split()
    assert np.abs(box[1 if side == "right" else 0, 0] - (0.98 if side == "right" else 0.02)) < 0.01
    assert np.abs(box[1 if up == "upper" else 0, 1] - (0.97 if up == "upper" else 0.03)) < 0.03


def test_limit_lines_stand_at_their_values():
    ax = plane()
    lines = plots.limit_lines(ax, -0.5, 0.5, axis="x", label="limits")
    assert [tuple(line.get_xdata()) for line in lines] == [(-0.5, -0.5), (0.5, 0.5)]
    assert [line.get_label() == "limits" for line in lines] == [True, False]
    assert all(line.get_linestyle() == "--" for line in lines)


# ---- solids and frames ----------------------------------------------------------------------


def test_a_solid_is_placed_and_replaced():
    ax = room()
    quads = solids.box(np.eye(4), (0.1, 0.2, 0.3))
    part = plots.SolidArtist(ax, quads)
    part.place(POSE.as_matrix())
    assert np.allclose(corners(ax), POSE.apply(quads.reshape(-1, 3)))
    part.set(2 * quads)
    assert np.allclose(corners(ax), POSE.apply(2 * quads.reshape(-1, 3)))


def test_frame_in_space_has_tips_and_names_at_its_axes():
    ax = room()
    frame = plots.FrameArtist(ax, length=0.2, label="b")
    frame.set(POSE.as_matrix())
    origin, R = POSE.translation, POSE.rotation.as_matrix()
    for tip in origin + 0.2 * R.T:
        assert np.linalg.norm(corners(ax) - tip, axis=1).min() < 1e-12
    names = {t.words: t.pose[:3, :3] @ t.point + t.pose[:3, 3] for t in ax.stage.things[1:]}
    assert set(names) == set("xyzb")
    for k, name in enumerate("xyz"):
        assert np.allclose((names[name] - origin) @ R, 0.2 * 1.17 * np.eye(3)[k])
    assert np.linalg.norm(names["b"] - origin) < 0.1
    (body,) = (t for t in ax.stage.things if isinstance(t, Solid))
    assert len(np.unique(body.colour, axis=0)) == 3


def test_frame_in_the_plane_has_tips_at_its_axes():
    ax = plane()
    frame = plots.FrameArtist(ax, length=0.3, label="b")
    turned = np.eye(4)
    turned[:2, :2], turned[:2, 3] = [[0.6, -0.8], [0.8, 0.6]], [0.2, 0.1]
    frame.set(turned)
    body, *texts = frame.artists
    for k, path in enumerate(body.get_paths()):
        gap = path.vertices - (turned[:2, 3] + 0.3 * turned[:2, k])
        assert np.linalg.norm(gap, axis=1).min() < 1e-12
    assert [t.get_text() for t in texts] == ["x", "y", "b"]
    assert np.allclose(texts[1].get_position(), [0.2 - 0.8 * 0.351, 0.1 + 0.6 * 0.351])


def test_chain_stands_on_its_points():
    ax = plane()
    chain = plots.ChainArtist(ax, 3)
    points = np.array([[0, 0], [0.5, 0.2], [0.7, -0.3]])
    chain.set(points)
    edge, link, joints = chain.artists
    for drawn in (edge.get_xydata(), link.get_xydata(), joints.get_offsets()):
        assert np.array_equal(drawn, points)


# ---- what can be wrong ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "make, match",
    [
        (lambda: plots.FrameArtist(room(), np.eye(3)), "T: shape"),
        (lambda: plots.SolidArtist(room(), np.zeros((1, 4, 3))).place(np.eye(3)), "T: shape"),
        (lambda: plots.line(room(), [[0, 0, np.inf]]), "points: .*expected finite points of 3"),
        (lambda: plots.line(plane(), [[0, 0, 0]]), "points: .*of 2 coordinates"),
        (lambda: plots.arrow(room(), [0, 0, 0], [0, np.nan, 0]), "points: "),
        (lambda: plots.dot(room(), [0, 0]), "points: "),
        (lambda: plots.note(plane(), "", "top"), "corner: 'top'"),
        (lambda: plots.note(plane(), "", "upper middle"), "corner: 'upper middle'"),
    ],
)
def test_wrong_input_is_named(make, match):
    with pytest.raises(ValueError, match=match):
        make()
