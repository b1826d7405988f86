"""Figures: colours that all can tell apart, pictures that come out the same, rooms that fit."""

import base64
import io
import itertools
import os
import re
import struct
import subprocess
import sys
from pathlib import Path

import IPython.display
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from PIL import Image

from course_lib import plots
from course_lib.arm import load_arm

ROOT = Path(__file__).resolve().parents[2]

# Machado, Oliveira, Fernandes 2009: how linear RGB looks without the red, or the green cones
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


@pytest.mark.parametrize(
    "colour", [*plots.JOINT, *plots.AXIS, plots.START, plots.GOAL, "white", "black"]
)
def test_words_in_any_colour_can_be_read_on_white(colour):
    """WCAG 2.1: contrast (L1 + 0.05) / (L2 + 0.05) of at least 4.5, from its definition."""
    channels = [
        c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4
        for c in to_rgb(plots.readable(colour))
    ]
    contrast = 1.05 / (0.2126 * channels[0] + 0.7152 * channels[1] + 0.0722 * channels[2] + 0.05)
    assert contrast >= 4.5


@pytest.mark.parametrize("x", [0.0, -0.0, -1e-9, 0.0004, -0.0004, 2.34567, -2.34567, 1e6])
def test_neat_is_near_and_never_minus_zero(x):
    assert type(plots.neat(x)) is float and abs(plots.neat(x) - x) <= 0.0005
    assert plots.neat(x, 1) == plots.neat([x, x], 1)[1]
    assert "-0." not in str(plots.neat([x])) or x < -0.0005
    assert np.array_equal(plots.neat(np.full((2, 3), x)), np.full((2, 3), plots.neat(x)))


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
        "import sys; sys.path.insert(0, 'tests/core');"
        " from test_plots_style import a_figure, plots;"
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
    plots.show(a_figure(), "A speed that rises\n  and <falls> over two seconds.")
    ((data, options),) = displayed
    said = "A speed that rises and <falls> over two seconds."
    assert set(data) == {"text/html", "image/png", "text/plain"} and options["raw"]
    assert data["text/plain"] == said
    assert options["metadata"]["image/png"] == {"alt": said, "width": 400, "height": 300}
    stored = Image.open(io.BytesIO(base64.b64decode(data["image/png"])))
    assert stored.format == "PNG" and stored.size == (600, 450)
    (image,) = re.findall("<img .*?>", data["text/html"])  # on one line
    attributes = dict(re.findall(r'([\w-]+)="(.*?)"', image))
    assert attributes["alt"] == said.replace("<", "&lt;").replace(">", "&gt;")
    assert (attributes["width"], attributes["height"]) == ("400", "300")
    kind, _, code = attributes["src"].partition(",")
    assert kind == "data:image/webp;base64" and re.fullmatch("[A-Za-z0-9+/=]+", code)
    shown = Image.open(io.BytesIO(base64.b64decode(code))).convert("RGB")
    assert (np.asarray(shown) == np.asarray(stored.convert("RGB"))).all()  # nothing is lost


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


# ---- space ----------------------------------------------------------------------------------


def projected(ax, points):
    """Where points (k, 3) stand in the figure [pixels], by Matplotlib's own projection."""
    from mpl_toolkits.mplot3d.proj3d import proj_transform

    ax.figure.canvas.draw()
    x, y, _ = proj_transform(*np.transpose(points), ax.get_proj())
    return ax.transData.transform(np.column_stack([x, y]))


def cylinder(limits, count=60):
    """Points on both rims of the upright cylinder in a box (3, 2)."""
    angle = np.linspace(0, 2 * np.pi, count)
    middle, half = limits.mean(axis=1), np.ptp(limits, axis=1) / 2
    x, y = middle[0] + half[0] * np.cos(angle), middle[1] + half[1] * np.sin(angle)
    return np.concatenate([np.column_stack([x, y, np.full(count, z)]) for z in limits[2]])


@pytest.mark.parametrize("limit", [0.6, ((-0.4, 0.7), (-0.5, 0.5), (0, 1.3))])
@pytest.mark.parametrize("view", [(22, -52), (60, 30), (5, 140)])
@pytest.mark.parametrize("beside", [0, 2])
def test_space_is_true_to_scale_and_filled(limit, view, beside):
    fig, axes = plots.space(limit, (7, 4.5), view=view, beside=beside)
    ax = axes[0] if beside else axes
    limits = np.array([ax.get_xlim(), ax.get_ylim(), ax.get_zlim()])
    spans = np.ptp(limits, axis=1)
    assert np.allclose(ax._box_aspect / ax._box_aspect[0], spans / spans[0])
    seen = projected(ax, cylinder(limits))
    width, height = fig.bbox.size * [0.6 if beside else 1, 1]
    assert (seen > 0).all() and (seen < [width, height]).all()
    filled = np.ptp(seen, axis=0) / [width, height]
    assert filled.max() > 0.8


@pytest.mark.parametrize("limit", [0, -1, (1, 2, 3), ((0, 1), (1, 0), (0, 1))])
def test_space_refuses_limits_that_make_no_box(limit):
    with pytest.raises(ValueError, match="limit: "):
        plots.space(limit)


def test_the_scales_say_where_their_numbers_stand():
    """Each number stands at its coordinate, beside its axis; x and y go through the origin."""
    fig, ax = plots.space(((-0.5, 0.7), (-0.6, 0.6), (0, 0.9)))
    found = {"x": [], "y": [], "z": []}
    for text in ax.texts:
        x, y, z = text._x, text._y, text._z
        said = text.get_text()
        for k, name in enumerate("xyz"):
            if said == f"{name} [m]":
                found[name].append("name")
            elif re.fullmatch(r"-?[\d.]+", said) and np.isclose(float(said), (x, y, z)[k]):
                found[name].append(float(said))
    assert all("name" in numbers and len(numbers) > 4 for numbers in found.values()), found


def test_the_arm_fills_more_of_the_picture_than_the_floor_and_scales():
    """The ink of the room is pale: much lighter than the arm's."""
    fig, ax = plots.space(0.6)
    fig.canvas.draw()
    room = np.asarray(fig.canvas.buffer_rgba())[..., :3].mean(axis=-1)
    assert (room < 200).mean() < 0.005  # numbers only
    plots.ArmArtist(ax, load_arm("cobot6"))
    fig.canvas.draw()
    assert (np.asarray(fig.canvas.buffer_rgba())[..., :3].mean(axis=-1) < 200).mean() > 0.01
