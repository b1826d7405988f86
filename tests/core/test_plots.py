"""Figures: colours that everyone can tell apart, pictures that come out the same, artists that stand where they should."""

import base64
import io
import itertools
import os
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import IPython.display
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from PIL import Image
from scipy.spatial import cKDTree

from course_lib import plots, solids
from course_lib.arm import load_arm
from course_lib.dh import to_modified
from course_lib.kinematics import fk, link_frames

ROOT = Path(__file__).resolve().parents[2]

# Machado, Oliveira, Fernandes 2009: how linear RGB looks without the red, or without the green cones
VISION = {
    "all cones": np.eye(3),
    "no red cones": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "no green cones": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
}


def environment(seed):
    return {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}


def linear(colour):
    srgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    ) @ np.clip(rgb, 0, 1)
    f = np.cbrt(xyz / [0.9505, 1.0, 1.089])
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast_to_white(colour):
    return 1.05 / (linear(colour) @ [0.2126, 0.7152, 0.0722] + 0.05)


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize(
    "group",
    [
        (*plots.JOINT, plots.START, plots.GOAL, plots.OBSTACLE),
        plots.AXIS,
        (plots.RIGHT, plots.WRONG),
    ],
)
def test_colours_are_told_apart(vision, group):
    seen = {c: lab(VISION[vision] @ linear(c)) for c in group}
    gaps = {
        pair: np.linalg.norm(seen[pair[0]] - seen[pair[1]])
        for pair in itertools.combinations(group, 2)
    }
    closest = min(gaps, key=gaps.get)
    assert gaps[closest] > 15, f"{closest} differ by {gaps[closest]:.1f} with {vision}"


def test_colour_test_can_fail():
    red, green = (
        VISION["no green cones"] @ linear("#B56B00"),
        VISION["no green cones"] @ linear("#8E8000"),
    )
    assert (
        np.linalg.norm(lab(red) - lab(green))
        < 15
        < np.linalg.norm(lab(linear("#B56B00")) - lab(linear("#8E8000")))
    )


def test_text_is_readable():
    assert contrast_to_white(plots.INK) > 7 and contrast_to_white(plots.MUTED) > 4.5


def a_figure():
    fig, ax = plots.figure(size=(4, 3))
    ax.plot([0, 1, 2], [0, 1, 0], label="speed")
    ax.set(xlabel="t [s]", ylabel="v [m/s]", title="Up and down")
    ax.legend()
    return fig


def chunks(png):
    at, found = 8, []
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        found.append(kind.decode())
        at += 12 + length
    return found


def test_png_is_the_same_each_time():
    first = plots.png(a_figure())
    assert first == plots.png(a_figure())
    assert set(chunks(first)) <= {"IHDR", "PLTE", "IDAT", "IEND"}
    assert first != plots.png(plots.figure(size=(4, 3))[0])


def test_stored_png_is_small_and_true_to_the_figure():
    fig, ax = plots.space()
    plots.ArmArtist(ax, load_arm("cobot6"), frames=True)
    stored = plots.png(fig, sharp=1)
    fig.canvas.draw()
    true = np.asarray(fig.canvas.buffer_rgba())[..., :3].astype(int)
    gap = np.abs(np.asarray(Image.open(io.BytesIO(stored)).convert("RGB")) - true)
    assert gap.mean() < 0.3 and (gap > 16).mean() < 0.005 and len(plots.png(fig)) < 100_000


def test_png_is_the_same_in_another_process():
    script = (
        "import sys; sys.path.insert(0, 'tests'); from test_plots import a_figure, plots;"
        " sys.stdout.buffer.write(plots.png(a_figure()))"
    )
    run = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        timeout=60,
        env=environment("7"),
        cwd=ROOT,
    )
    assert run.stdout == plots.png(a_figure()), run.stderr.decode()[-500:]


def test_png_leaves_the_figure_as_it_was():
    fig = a_figure()
    plots.png(fig)
    assert fig.dpi == plots.DPI


@pytest.fixture
def displayed(monkeypatch):
    shown = []
    monkeypatch.setattr(
        IPython.display, "display", lambda data, **options: shown.append((data, options))
    )
    return shown


def test_show_gives_picture_and_alternative_text(displayed):
    plots.show(a_figure(), "A speed that rises\n  and falls over two seconds.")
    ((data, options),) = displayed
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert data["text/plain"] == "A speed that rises and falls over two seconds."
    assert (
        options["metadata"]["image/png"] == {"alt": data["text/plain"], "width": 400, "height": 300}
        and options["raw"]
    )


@pytest.mark.parametrize("alt", ["", "   ", "figure", None, 3])
def test_show_refuses_a_picture_without_words(displayed, alt):
    with pytest.raises(ValueError, match="alt: .*expected a sentence"):
        plots.show(a_figure(), alt)
    assert not displayed


def test_importing_is_light_and_pyplot_is_never_used():
    script = (
        "import sys; from course_lib import plots, explore; heavy = [m for m in ('matplotlib',"
        " 'ipywidgets', 'PIL') if m in sys.modules]; fig, ax = plots.space(); plots.ArmArtist(ax,"
        " __import__('course_lib.arm').arm.load_arm('cobot6')); plots.png(fig); print(heavy,"
        " 'matplotlib.pyplot' in sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment("0"),
        cwd=ROOT,
    )
    assert run.stdout.strip() == "[] False", run.stderr[-500:]


# ---- space ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [0.6, ((-0.4, 0.7), (-0.5, 0.5), (0, 1.3))])
@pytest.mark.parametrize("view", [(22, -52), (60, 30), (5, 140)])
@pytest.mark.parametrize("beside", [0, 2])
def test_space_is_true_to_scale_and_inside_the_figure(limit, view, beside):
    fig, axes = plots.space(limit, (7, 4.5), view=view, beside=beside)
    ax = axes[0] if beside else axes
    fig.canvas.draw()
    limits = np.array([ax.get_xlim(), ax.get_ylim(), ax.get_zlim()])
    spans = np.ptp(limits, axis=1)
    assert np.allclose(ax._box_aspect / ax._box_aspect[0], spans / spans[0])
    corners = np.array(list(itertools.product(*limits)))
    flat = ax.solids._flatten(corners)[:, :2]
    pixels = ax.transData.transform(flat)
    width, height = fig.bbox.size
    assert (
        (pixels > 0).all()
        and (pixels[:, 0] < width * (0.62 if beside else 1)).all()
        and (pixels[:, 1] < height).all()
    )


@pytest.mark.parametrize("limit", [0, -1, (1, 2, 3), ((0, 1), (1, 0), (0, 1))])
def test_space_refuses_limits_that_make_no_box(limit):
    with pytest.raises(ValueError, match="limit: "):
        plots.space(limit)


# ---- solids ---------------------------------------------------------------------------------------------------


def volume(quads):
    """By the divergence theorem: positive when all faces look outwards, exact for a closed surface."""
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
    ax.set_axis_off()
    plots.SolidArtist(ax, solids.ball((0, 0.5, 0), 0.3), "#FF0000")
    plots.SolidArtist(ax, solids.ball((0, -0.5, 0), 0.3), "#0000FF")
    fig.canvas.draw()
    r, g, b, _ = np.asarray(fig.canvas.buffer_rgba())[115, 135]
    assert b > 2 * r
    ax.view_init(0, 90)
    fig.canvas.draw()
    r, g, b, _ = np.asarray(fig.canvas.buffer_rgba())[115, 135]
    assert r > 2 * b


# ---- movable artists ------------------------------------------------------------------------------------------


def postures(arm, count=6):
    rng = np.random.default_rng(4)
    return rng.uniform(np.maximum(arm.q_min, -3), np.minimum(arm.q_max, 3), (count, arm.n))


def body(ax, key):
    return ax.solids._parts[key][0]


@pytest.mark.parametrize("name", ["cobot6", "panda"])
def test_arm_stands_on_its_link_frames(name):
    arm = load_arm(name)
    fig, ax = plots.space()
    artist = plots.ArmArtist(ax, arm)
    for q in postures(arm):
        artist.set(q)
        corners = body(ax, artist).reshape(-1, 3)
        for origin in link_frames(arm, q)[:, :3, 3]:
            assert np.linalg.norm(corners - origin, axis=1).min() < 1.6 * arm.radius.max()
        tool = fk(arm, q)
        tips = body(ax, artist)[-12:].reshape(-1, 3)  # the two fingers were added last
        assert ((tips - tool[:3, 3]) @ tool[:3, 2]).max() == pytest.approx(
            0, abs=1e-12
        )  # they end at the tool point
        assert np.allclose(
            (tips.mean(axis=0) - tool[:3, 3]) @ tool[:3, :2], 0
        )  # and stand on both sides of it


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
        T = link_frames(arm, q)
        built = np.concatenate(
            [
                quads
                for quads, *_ in plots._arm_parts(arm, T, T[-1] @ arm.tool, ax.solids.floor, None)
            ]
        )
        gap, _ = cKDTree(built.reshape(-1, 3)).query(body(ax, moved).reshape(-1, 3))
        assert (
            gap.max() < 0.5 * arm.radius.max()
        )  # tubes and balls may be turned by a part of a facet


def test_another_arm_takes_its_place():
    fig, ax = plots.space()
    artist, short = (
        plots.ArmArtist(ax, load_arm("cobot6")),
        replace(load_arm("cobot6"), a=[0, 0.1, 0.05, 0, 0, 0]),
    )
    artist.arm = short
    q = np.array([0.5, 0.9, -0.4, 0.6, -1.0, 0.3])
    artist.set(q)
    assert (body(ax, artist) == body(ax, plots.ArmArtist(ax, short, q))).all()


def test_every_frame_of_the_arm_is_drawn_where_it_is():
    arm = load_arm("cobot6")
    fig, ax = plots.space()
    artist = plots.ArmArtist(ax, arm, frames=True, frame_length=0.1)
    for q in postures(arm, 3):
        artist.set(q)
        for frame, T in zip(artist._frames, link_frames(arm, q), strict=True):
            corners = body(ax, frame).reshape(-1, 3)
            for tip in T[:3, 3] + 0.1 * T[:3, :3].T:
                assert np.linalg.norm(corners - tip, axis=1).min() < 1e-12


def test_planar_arm_and_frame_in_two_dimensions():
    arm = load_arm("planar3")
    fig, ax = plots.figure(equal=True)
    artist = plots.ArmArtist(ax, arm, frames=True, frame_length=0.1)
    for q in postures(arm, 3):
        artist.set(q)
        T = link_frames(arm, q)
        assert np.allclose(artist.artists[0].get_xydata()[:-1], T[:-1, :2, 3])
        assert np.allclose(artist.artists[2].get_offsets()[-1], fk(arm, q)[:2, 3])
        x_arrow = artist._frames[2].artists[0].get_paths()[0].vertices
        assert np.linalg.norm(x_arrow - (T[2, :2, 3] + 0.1 * T[2, :2, 0]), axis=1).min() < 1e-12


def test_arm_of_one_colour_has_no_other():
    fig, ax = plots.space()
    ghost = plots.ArmArtist(ax, load_arm("cobot6"), colour="#000000", alpha=0.3)
    rgba = ax.solids._parts[ghost][1]
    assert np.allclose(rgba[:, 3], 0.3) and np.ptp(rgba[:, :3], axis=1).max() < 1e-12


@pytest.mark.parametrize(
    "make, match",
    [
        (lambda ax: plots.FrameArtist(ax, np.eye(3)), "T: shape"),
        (lambda ax: plots.ArmArtist(ax, load_arm("cobot6"), np.zeros(5)), "q: shape"),
        (lambda ax: plots.ArmArtist(ax, load_arm("cobot6"), np.zeros((2, 6))), "q: shape"),
    ],
)
def test_wrong_shapes_are_named(make, match):
    with pytest.raises(ValueError, match=match):
        make(plots.space()[1])


@pytest.mark.parametrize(
    "colour", [*plots.JOINT, *plots.AXIS, plots.START, plots.GOAL, "white", "black"]
)
def test_words_in_any_colour_can_be_read_on_white(colour):
    """WCAG 2.1: contrast (L1 + 0.05) / (L2 + 0.05) of at least 4.5, worked out here from its definition."""
    channels = [
        c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4
        for c in to_rgb(plots.readable(colour))
    ]
    contrast = 1.05 / (0.2126 * channels[0] + 0.7152 * channels[1] + 0.0722 * channels[2] + 0.05)
    assert contrast >= 4.5
