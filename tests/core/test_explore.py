"""Explorers: what the sliders do, without a browser (tests/tools/test_browser.py has one)."""

import base64
import html
import io
import json
import re
import time

import IPython.display
import ipywidgets
import numpy as np
import pytest
from IPython.core.formatters import DisplayFormatter
from PIL import Image

from course_lib import plots
from course_lib.arm import load_arm
from course_lib.explore import choice, explore, joint_sliders, player, slider

ALT = "A curve and a dot that you move."


def build_curve():
    fig, (ax, side) = plots.figure(1, 2, size=(6, 3))
    ax.set(xlim=(0, 2), ylim=(-1.2, 1.2), xlabel="t [s]", ylabel="q [rad]", title="A curve")
    side.set(xlim=(0, 2), ylim=(-1.2, 1.2), xlabel="t [s]", ylabel="q [rad]")
    side.axhline(0)
    return fig, {
        "curve": ax.plot([], [])[0],
        "rest": [side.plot([0], [0], "o")[0], ax.text(0.1, 1, "")],
    }


def draw_curve(artists, w, a):
    t = np.linspace(0, 2, 200)
    artists["curve"].set_data(t, a * np.sin(w * t))
    artists["rest"][0].set_data([1], [a * np.sin(w)])
    artists["rest"][1].set_text(f"{a:.2f}")
    return [f"w = {w:.2f} rad/s", f"a = {a:.2f}"]


def curve(draw=draw_curve, build=build_curve, **controls):
    return explore(
        build,
        draw,
        ALT,
        **(controls or {"w": slider(1, 10, 4.0, unit="rad/s"), "a": slider(0, 1, 0.8, step=0.05)}),
    )


def arm_in_space():
    arm = load_arm("cobot6")

    def build():
        fig, (ax, side) = plots.space(0.7, (6, 4), beside=1)
        side.set(xlim=(-3, 3), ylim=(-3, 3), xlabel="q1 [rad]", ylabel="q2 [rad]")
        return fig, {
            "arm": plots.ArmArtist(ax, arm, frames=True),
            "path": ax.plot([], [], [])[0],
            "dot": side.plot([0], [0], "o")[0],
        }

    def draw(artists, **q):
        artists["arm"].set(list(q.values()))
        artists["path"].set_data_3d([0, 0.3], [0, q["q1"] / 10], [0, 0.5])
        artists["dot"].set_data([q["q1"]], [q["q2"]])

    return explore(
        build,
        draw,
        "The arm with all its frames.",
        **joint_sliders(arm),
    )


def pixels(png):
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)


def drawn_anew(explorer):
    """All drawn by Matplotlib itself, nothing kept; what moves lies above what does not."""
    picture = explorer._picture
    for artist in picture.moving:
        artist.set(animated=False, zorder=artist.get_zorder() + 100)
    picture.canvas.draw()
    image = np.asarray(picture.canvas.buffer_rgba())[..., :3].astype(int)
    for artist in picture.moving:
        artist.set(animated=True, zorder=artist.get_zorder() - 100)
    return image


# ---- the picture ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make, moves",
    [
        (curve, [dict(w=1), dict(w=10.0, a=1.0), dict(a=0), dict(w=2.5, a=0.5)]),
        (
            arm_in_space,
            [dict(q1=-2.618), dict(q1=1.0, q2=2.618), dict(q3=1.5, q4=-1, q5=1, q6=0.3)],
        ),
    ],
    ids=["two axes", "arm in space"],
)
def test_kept_background_gives_the_picture_of_a_full_drawing(make, moves):
    explorer = make()
    full_drawings = count_full_drawings(explorer)
    seen = [pixels(explorer.png())]
    for values in moves:
        explorer.set(**values)
        seen.append(pixels(explorer.png()))
        assert not full_drawings, "the background was drawn again"
        assert (seen[-1] == drawn_anew(explorer)).all()
        full_drawings.clear()
        explorer._picture._background, explorer._picture._seen = (
            None,
            None,
        )  # drawn_anew painted over it
        explorer.redraw()
        assert (pixels(explorer.png()) == seen[-1]).all()
        full_drawings.clear()
    for i, one in enumerate(seen):
        assert not any((one == other).all() for other in seen[:i]), (
            "two different values gave the same picture"
        )


def count_full_drawings(explorer):
    calls, draw = [], explorer._picture.canvas.draw
    explorer._picture.canvas.draw = lambda: (calls.append(1), draw())[1]
    return calls


@pytest.mark.parametrize(
    "change",
    [
        lambda artists, a: artists["curve"].axes.set_xlim(0, 1 + a),
        lambda artists, a: artists["curve"].axes.set_title(f"a = {a}"),
        lambda artists, a: artists["curve"].get_figure().axes[1].lines[0].set_ydata([a, a]),
        lambda artists, a: artists["curve"].axes.set_yscale("symlog" if a > 0.9 else "linear"),
    ],
    ids=["limits", "title", "static line", "scale"],
)
def test_a_changed_background_is_drawn_again(change):
    def draw(artists, a):
        artists["curve"].set_data([0, 1], [0, 1])
        change(artists, a)

    explorer = curve(draw, a=slider(0, 1, 0.8))
    before = pixels(explorer.png())
    explorer.set(a=1)
    after = pixels(explorer.png())
    assert (after != before).any()
    assert (after == drawn_anew(explorer)).all()


def test_a_changed_view_is_drawn_again():
    def build():
        fig, ax = plots.space(0.5, (4, 4))
        return fig, {"frame": plots.FrameArtist(ax, length=0.3), "ax": []}

    def draw(artists, azimuth):
        artists["frame"].ax.view_init(20, azimuth)

    explorer = explore(build, draw, "A frame seen from another side.", azimuth=slider(-90, 90, 0))
    before = pixels(explorer.png())
    explorer.set(azimuth=60)
    assert (pixels(explorer.png()) != before).mean() > 0.02
    assert (pixels(explorer.png()) == drawn_anew(explorer)).all()


def test_moving_artists_are_not_in_the_background():
    explorer = curve()
    explorer.set(a=0.4)
    explorer._picture.canvas.restore_region(explorer._picture._background)
    background = pixels(explorer.png())
    explorer.redraw()
    changed = (pixels(explorer.png()) != background).any(axis=-1).mean()
    assert 0.001 < changed < 0.1


@pytest.mark.parametrize(
    "make, values, limit",
    [(curve, dict(w=5.0), 0.025), (arm_in_space, dict(q1=1.0), 0.05)],
    ids=["2D", "3D"],
)
def test_redraw_is_quick(make, values, limit):
    explorer, (name, value), times = make(), *values.items(), []
    for k in range(25):
        start = time.process_time()
        explorer.set(**{name: value - 0.01 * k})
        times.append(time.process_time() - start)
    assert np.median(times) < limit


# ---- what a page shows ----------------------------------------------------------------------

VIEW = "application/vnd.jupyter.widget-view+json"


def test_shown_are_the_stored_picture_and_the_live_panel(monkeypatch):
    shown = []
    keep = lambda data, metadata=None, **options: shown.append((data, metadata, options))
    monkeypatch.setattr(IPython.display, "display", keep)
    explorer = curve()
    assert DisplayFormatter().format(explorer) == ({}, {})  # IPython shows nothing of its own
    (still, metadata, _), (live, _, _) = shown
    assert set(still) == {"text/html", "image/png", "text/plain"} and set(live) == {VIEW}
    assert still["text/plain"] == repr(explorer) == metadata["image/png"]["alt"] == ALT
    assert live[VIEW]["model_id"] == explorer.widget.model_id
    stored = Image.open(io.BytesIO(base64.b64decode(still["image/png"])))
    assert stored.size == (900, 450) and metadata["image/png"]["width"] == 600


def test_the_stored_page_has_the_readout_and_says_how_sliders_wake():
    page = curve().still()[0]["text/html"]
    (said,) = re.findall("<figcaption>(.*?)</figcaption>", page, re.DOTALL)
    words = html.unescape(re.sub("<.*?>", "", said))
    assert words.startswith("w = 4.00 rad/s\na = 0.80\n")
    assert "Run All Cells" in words
    assert f'alt="{ALT}"' in page


def test_the_stored_page_is_the_start_whatever_was_moved():
    explorer = curve()
    before = explorer.still()[0]
    explorer.set(a=0.1)
    assert explorer.still()[0] == before == curve().still()[0]


def test_stored_picture_is_the_live_one():
    explorer = arm_in_space()
    code = explorer.still()[0]["image/png"]
    stored = Image.open(io.BytesIO(base64.b64decode(code))).convert("RGB")
    gap = np.abs(np.asarray(stored).astype(int) - pixels(explorer.png()))
    assert gap.mean() < 1 and (gap > 24).mean() < 0.005


def test_the_live_picture_is_sharp_and_close_to_the_true_pixels():
    explorer = curve()
    live = Image.open(io.BytesIO(explorer._panel.picture.value))
    assert live.format == "JPEG" and live.size == (900, 450)  # 1.5 times what is shown
    gap = np.abs(np.asarray(live).astype(int) - pixels(explorer.png()))
    assert gap.mean() < 1.5


# ---- the readout ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "returned, said",
    [(None, ""), ("one", "one"), (["one", "two"], "one\ntwo"), (("a  b",), "a  b"), ("", "")],
)
def test_readout_is_what_draw_returns(returned, said):
    explorer = curve(lambda artists, a: returned, a=slider(0, 1, 0.8))
    assert explorer.readout == said == explorer._panel.readout.value
    assert (explorer._panel.readout.layout.display == "none") == (not said)


def test_readout_follows_and_is_text_not_markup():
    draw = lambda artists, a: f"<b>a</b> = {a:.1f}"
    explorer = curve(draw, a=slider(0, 1, 0.8))
    explorer.set(a=0.3)
    assert explorer.readout == "<b>a</b> = 0.3"
    assert explorer._panel.readout.value == "&lt;b&gt;a&lt;/b&gt; = 0.3"


@pytest.mark.parametrize("returned", [3, ["a", 1], {"a": "b"}, [["a"]]])
def test_readout_of_another_kind_is_refused(returned):
    with pytest.raises(ValueError, match="draw: returned .*, expected the readout"):
        curve(lambda artists, a: returned, a=slider(0, 1, 0.8))


# ---- the panel ------------------------------------------------------------------------------


def all_widgets(widget):
    yield widget
    for child in getattr(widget, "children", ()):
        yield from all_widgets(child)


def test_no_output_widget():
    widgets = list(all_widgets(curve(w=player(1, 10, 4), a=choice([0.5, 1.0])).widget))
    assert len(widgets) > 8 and not any(isinstance(w, ipywidgets.Output) for w in widgets)


def test_every_row_says_its_label_with_unit_and_what_each_tick_means():
    controls = {"w": slider(1, 10, 4.0, unit="rad/s", label="frequency"), "a": choice([0.5, 1.0])}
    explorer = curve(**controls)
    frequency, a = explorer._panel.rows.values()
    assert frequency.main.description == frequency.typed.description == "frequency [rad/s]"
    assert a.main.description == "a"
    (dress,) = (w for w in all_widgets(explorer.widget) if "course-dress" in w._dom_classes)
    attributes = dict(re.findall(r'([\w-]+)="(.*?)"', dress.value))
    assert html.unescape(attributes["data-alt"]) == ALT
    says = json.loads(html.unescape(attributes["data-says"]))
    assert says[1] is None and len(says[0]) == len(frequency.ticks)
    for said, tick in zip(says[0], frequency.ticks):
        number, unit = said.split()
        assert unit == "rad/s" and float(number) == pytest.approx(tick, abs=0.005)


def test_slider_moves_box_picture_and_value():
    explorer = curve()
    row, before = explorer._panel.rows["a"], explorer._panel.picture.value
    row.main.value += 1
    assert explorer.values["a"] == pytest.approx(0.85) and row.typed.value == "0.85"
    assert explorer._panel.picture.value != before


def test_box_takes_numbers_between_the_ticks():
    explorer = curve()
    row = explorer._panel.rows["a"]
    row.typed.value = "0.123"
    assert explorer.values["a"] == 0.123 and row.typed.value == "0.123"
    assert row.ticks[row.main.value] == pytest.approx(0.1)
    row.main.send_state()  # the front end sends back what it got: nothing may move
    assert explorer.values["a"] == 0.123


@pytest.mark.parametrize("typed, value", [("7", 1), ("-3", 0), ("nonsense", 0.8), ("", 0.8)])
def test_box_brings_inside_or_puts_back(typed, value):
    explorer = curve()
    row = explorer._panel.rows["a"]
    row.typed.value = typed
    assert explorer.values["a"] == value and row.typed.value == f"{value:g}"


def test_typing_the_same_number_otherwise_redraws_nothing():
    calls = []
    explorer = curve(lambda artists, a: calls.append(a), a=slider(0, 1, 0.8))
    explorer._panel.rows["a"].typed.value = "0.80"
    assert calls == [0.8] and explorer._panel.rows["a"].typed.value == "0.8"


def test_whole_numbers_stay_whole():
    seen = []
    explorer = curve(lambda artists, n: seen.append(n), n=slider(1, 9, 4))
    explorer._panel.rows["n"].main.value = 0
    explorer._panel.rows["n"].typed.value = "7"
    assert seen == [4, 1, 7] and all(type(n) is int for n in seen)


def test_choice_gives_the_option_itself():
    seen = []
    shape = choice({"sine": np.sin, "cosine": np.cos})
    explorer = curve(lambda artists, shape: seen.append(shape), shape=shape)
    explorer._panel.rows["shape"].main.index = 1
    explorer.set(shape=np.sin)
    assert seen == [np.sin, np.cos, np.sin] and explorer._panel.rows["shape"].main.index == 0


def test_set_redraws_once_and_moves_the_widgets():
    calls = []
    explorer = curve(lambda artists, w, a: calls.append((w, a)))
    explorer.set(w=2.0, a=0.3)
    assert calls == [(4.0, 0.8), (2.0, 0.3)]
    assert [row.typed.value for row in explorer._panel.rows.values()] == ["2", "0.3"]


def test_reset_button_goes_back_to_the_start():
    explorer = curve(w=player(1, 10, 4, step=0.5), a=slider(0, 1, 0.8))
    before = explorer.png()
    explorer.set(w=9.0, a=0.1)
    explorer._panel.rows["w"].play.playing = True
    assert explorer.png() != before
    explorer._panel.reset.click()
    assert explorer.values == {"w": 4.0, "a": 0.8} and explorer.png() == before
    assert explorer._panel.rows["w"].play.playing is False


def test_player_runs_to_the_end_and_follows_the_slider():
    draw = lambda artists, t: artists["curve"].set_data([0, t], [0, 1])
    explorer = curve(draw, t=player(0, 2, 0.5, step=0.04, interval=40))
    row = explorer._panel.rows["t"]
    row.play.value += 1
    assert explorer.values["t"] == pytest.approx(0.54) and row.typed.value == "0.54"
    row.play.value = row.play.max
    assert explorer.values["t"] == 2.0
    row.main.value = 0
    assert explorer.values["t"] == 0.0 and row.play.value == 0
    assert row.play.interval == 40 and not row.play.repeat


# ---- errors and slowness --------------------------------------------------------------------


def draw_or_fail(artists, a):
    if a > 0.9:
        raise ZeroDivisionError("a <b> is too large")
    artists["curve"].set_data([0, 1], [0, a])


def test_an_error_is_shown_in_place_and_the_next_good_value_clears_it():
    explorer = curve(draw_or_fail, a=slider(0, 1, 0.8))
    good = explorer._panel.picture.value
    explorer.set(a=1)
    shown = explorer._panel._error
    assert explorer.error == "ZeroDivisionError: a <b> is too large"
    assert (
        "ZeroDivisionError: a &lt;b&gt; is too large" in shown.value
        and "draw_or_fail, line 3" in shown.value
    )
    assert shown.layout.display != "none" and explorer._panel.picture.value != good
    faded = pixels(explorer._panel.picture.value)
    assert np.ptp(faded, axis=-1).max() == 0 and faded.min() > 140  # grey and pale
    explorer.set(a=0.8)
    assert explorer.error is None and shown.value == "" and shown.layout.display == "none"
    assert explorer._panel.picture.value == good


def test_an_error_deep_inside_names_no_folder_of_this_machine():
    def draw(artists, a):
        if a > 0.9:
            np.linalg.inv(np.zeros((2, 2)))

    explorer = curve(draw, a=slider(0, 1, 0.8))
    explorer.set(a=1)
    assert "LinAlgError: Singular matrix" in explorer._panel._error.value
    assert (
        "<details>" in explorer._panel._error.value
        and "/" not in explorer._panel._error.value.replace("</", "").replace("(0, 0)", "")
    )


def test_an_error_while_drawing_the_artists_is_shown_too():
    explorer = curve(
        lambda artists, a: artists["curve"].set_data([0, 1], [0, 1, 2] if a > 0.9 else [0, 1]),
        a=slider(0, 1, 0.8),
    )
    explorer.set(a=1)
    assert explorer.error.startswith("ValueError")
    explorer.set(a=0.5)
    assert explorer.error is None


def test_an_error_at_the_start_is_raised():
    with pytest.raises(ZeroDivisionError):
        curve(draw_or_fail, a=slider(0, 1, 1.0))


# ---- what can be wrong with the input -------------------------------------------------------


@pytest.mark.parametrize(
    "make, match",
    [
        (
            lambda: curve(w=slider(0, 1, 0.5)),
            "draw_curve: missing a required argument: 'a'; the controls are w",
        ),
        (
            lambda: curve(w=slider(0, 1, 0.5), a=slider(0, 1, 0.5), b=slider(0, 1, 0.5)),
            "draw_curve: got an unexpected keyword argument 'b'; the controls are w, a, b",
        ),
        (lambda: curve(w=slider(0, 1, 0.5), a=0.5), r"a: 0.5, expected slider\(...\)"),
        (lambda: explore(build_curve, lambda artists: None, ALT), "controls: none given"),
        (lambda: curve(build=lambda: None), r"build: returned NoneType, expected \(fig, artists\)"),
        (lambda: curve(build=lambda: (build_curve()[0], [1])), "build: returned"),
        (lambda: curve(build=lambda: (build_curve()[0], {})), "artists: nothing moves"),
        (
            lambda: curve(build=lambda: (build_curve()[0], {"x": 3})),
            r"artists\['x'\]: int, expected an artist",
        ),
        (
            lambda: curve(build=lambda: (build_curve()[0], build_curve()[1])),
            r"artists\['curve'\]: Line2D belongs to another figure",
        ),
        (
            lambda: explore(build_curve, draw_curve, "", w=slider(1, 2, 1), a=slider(0, 1, 0.5)),
            "alt: ''",
        ),
        (lambda: curve().set(b=1), "b: no such control, expected one of"),
        (lambda: curve().set(a=1.01), "a: 1.01, expected a number from 0 to 1"),
        (lambda: curve().set(a=np.nan), "a: nan, expected"),
        (lambda: curve().set(a="x"), "a: 'x', expected a number"),
    ],
)
def test_wrong_input_is_named(make, match):
    with pytest.raises(ValueError, match=match):
        make()


def test_a_refused_value_changes_nothing():
    explorer = curve()
    before = explorer.png()
    with pytest.raises(ValueError):
        explorer.set(w=2, a=7)
    assert explorer.values == {"w": 4.0, "a": 0.8} and explorer.png() == before
