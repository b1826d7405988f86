"""The body of an arm: it stands on its link frames, moves as it was built, and carries things."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.spatial.transform import RigidTransform

from course_lib import plots
from course_lib.arm import load_arm
from course_lib.dh import to_modified
from course_lib.kinematics import fk, link_frames
from course_lib.plots import solids
from course_lib.plots.arm_body import arm_parts
from course_lib.plots.solids import Solid


def postures(arm, count=6):
    rng = np.random.default_rng(4)
    return rng.uniform(np.maximum(arm.q_min, -3), np.minimum(arm.q_max, 3), (count, arm.n))


def faces(ax):
    return ax.stage.faces()


@pytest.mark.parametrize("name", ["cobot6", "panda"])
def test_arm_stands_on_its_link_frames(name):
    arm = load_arm(name)
    fig, ax = plots.space()
    artist = plots.ArmArtist(ax, arm)
    for q in postures(arm):
        artist.set(q)
        corners = faces(ax).reshape(-1, 3)
        for origin in link_frames(arm, q)[:, :3, 3]:
            assert np.linalg.norm(corners - origin, axis=1).min() < 1.6 * arm.radius.max()
        tool = fk(arm, q)
        tips = faces(ax)[-12:].reshape(-1, 3)  # the two fingers were added last
        beyond = ((tips - tool[:3, 3]) @ tool[:3, 2]).max()
        assert beyond == pytest.approx(0, abs=1e-12)  # they end at the tool point
        aside = (tips.mean(axis=0) - tool[:3, 3]) @ tool[:3, :2]
        assert np.allclose(aside, 0)  # and stand on both sides of it


@pytest.mark.parametrize(
    "arm",
    [
        load_arm("cobot6"),
        load_arm("panda"),
        to_modified(load_arm("cobot6")),
        replace(load_arm("cobot6"), joint_types=("revolute", "prismatic") * 3),
    ],
    ids=["standard", "modified", "converted", "with sliding joints"],
)
def test_moved_arm_equals_one_built_in_that_posture(arm):
    fig, ax = plots.space()
    moved = plots.ArmArtist(ax, arm)
    for q in postures(arm):
        moved.set(q)
        parts = arm_parts(arm, link_frames(arm, q), ax.stage.floor, None)
        built = np.concatenate([part.quads for part in parts])
        gap, _ = cKDTree(built.reshape(-1, 3)).query(faces(ax).reshape(-1, 3))
        # tubes and balls may be turned by a part of a facet
        assert gap.max() < 0.5 * arm.radius.max()


def test_another_arm_takes_its_place():
    (_, ax), (_, other) = plots.space(), plots.space()
    artist = plots.ArmArtist(ax, load_arm("cobot6"))
    short = replace(load_arm("cobot6"), a=[0, 0.1, 0.05, 0, 0, 0])
    q = np.array([0.5, 0.9, -0.4, 0.6, -1.0, 0.3])
    artist.arm = short
    artist.set(q)
    plots.ArmArtist(other, short, q)
    assert np.array_equal(faces(ax), faces(other))


def test_every_frame_of_the_arm_is_drawn_where_it_is():
    arm = load_arm("cobot6")
    fig, ax = plots.space()
    artist = plots.ArmArtist(ax, arm, frames=True, frame_length=0.1)
    for q in postures(arm, 3):
        artist.set(q)
        corners = faces(ax).reshape(-1, 3)
        for T in link_frames(arm, q):
            for tip in T[:3, 3] + 0.1 * T[:3, :3].T:
                assert np.linalg.norm(corners - tip, axis=1).min() < 1e-12
    assert len(artist.frames) == arm.n + 1


def test_planar_arm_and_frame_in_two_dimensions():
    arm = load_arm("planar3")
    fig, ax = plots.figure(equal=True)
    artist = plots.ArmArtist(ax, arm, frames=True, frame_length=0.1)
    for q in postures(arm, 3):
        artist.set(q)
        T = link_frames(arm, q)
        assert np.allclose(artist.artists[0].get_xydata()[:-1], T[:-1, :2, 3])
        assert np.allclose(artist.artists[2].get_offsets()[-1], fk(arm, q)[:2, 3])
        x_arrow = artist.frames[2].artists[0].get_paths()[0].vertices
        assert np.linalg.norm(x_arrow - (T[2, :2, 3] + 0.1 * T[2, :2, 0]), axis=1).min() < 1e-12


def test_arm_of_one_colour_has_no_other():
    fig, ax = plots.space()
    plots.ArmArtist(ax, load_arm("cobot6"), colour="#000000", alpha=0.3)
    rgba = np.concatenate([thing.colour for thing in ax.stage.things])
    assert np.allclose(rgba[:, 3], 0.3) and np.ptp(rgba[:, :3], axis=1).max() < 1e-12


# ---- what turns with a link -----------------------------------------------------------------


@pytest.mark.parametrize("link", [None, 0, 3, 6])
def test_what_is_attached_turns_with_its_link(link):
    arm = load_arm("cobot6")
    fig, ax = plots.space()
    artist = plots.ArmArtist(ax, arm)
    quads = solids.box(np.eye(4), (0.1, 0.2, 0.3))
    artist.attach(plots.SolidArtist(ax, quads), link)
    part = ax.stage.things[-1]
    artist.attach(plots.FrameArtist(ax, length=0.2, letters=False), link)
    frame = ax.stage.things[-1]
    for q in postures(arm, 3):
        artist.set(q)
        T = fk(arm, q) if link is None else link_frames(arm, q)[link]
        move = RigidTransform.from_matrix(T)
        here = ax.stage.faces(part).reshape(-1, 3)
        assert np.allclose(here, move.apply(quads.reshape(-1, 3)))
        tips = ax.stage.faces(frame).reshape(-1, 3)
        for tip in move.apply(0.2 * np.eye(3)):
            assert np.linalg.norm(tips - tip, axis=1).min() < 1e-12
    assert isinstance(part, Solid)


def test_what_is_attached_later_stands_right_at_once():
    arm, q = load_arm("cobot6"), np.array([0.5, 0.9, -0.4, 0.6, -1.0, 0.3])
    fig, ax = plots.space()
    artist = plots.ArmArtist(ax, arm, q)
    artist.attach(plots.SolidArtist(ax, solids.ball((0, 0, 0), 0.02)))
    ball = ax.stage.faces(ax.stage.things[-1])
    assert np.allclose(np.linalg.norm(ball - fk(arm, q)[:3, 3], axis=-1), 0.02)


@pytest.mark.parametrize(
    "make, match",
    [
        (lambda ax: plots.ArmArtist(ax, load_arm("cobot6"), np.zeros(5)), "q: shape"),
        (lambda ax: plots.ArmArtist(ax, load_arm("cobot6"), np.zeros((2, 6))), "q: shape"),
        (lambda ax: plots.ArmArtist(ax, load_arm("cobot6")).attach(None, 7), "link: 7, expected"),
    ],
)
def test_wrong_input_is_named(make, match):
    with pytest.raises(ValueError, match=match):
        make(plots.space()[1])
