"""How does a picture follow a slider at once?  The one mechanism for every explorer of the course.

Public names: `slider`, `choice`, `player` (controls); `explore` and the `Explorer` it returns.

`build()` makes the figure once and returns `(fig, artists)`; `artists` is a dict of the things that move.
`draw(artists, **values)` moves them. Everything else is background: it is drawn once and kept as pixels,
each redraw puts them back and draws only the artists that move above them, then sends one image. When `draw`
changes something of the background (limits, the view, a title, the figure's size), all is drawn again: right,
but slow. In a 3D axes all solids and labels of `plots` move together, since they hide one another.
"""

from __future__ import annotations

import html
import inspect
import time
import traceback
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from course_lib import plots

SLOW = 0.2  # [s] after a redraw as slow as this, the next one shows a busy mark


@dataclass(frozen=True)
class Control:
    """What one slider, choice or player offers. lo and hi are its ends; a choice has options (label -> value)."""

    kind: str
    lo: Any
    hi: Any
    value: Any
    step: Any = None
    unit: str = ""
    label: str | None = None
    options: dict | None = None
    interval: int = 0
    loop: bool = False

    def ticks(self):
        """Where a slider can stand: its start and every step from there, and both ends."""
        down, up = (
            int((self.value - self.lo) / self.step + 1e-9),
            int((self.hi - self.value) / self.step + 1e-9),
        )
        inner = [round(self.value + k * self.step, 12) for k in range(-down, up + 1)]
        return sorted({self.lo, *(v for v in inner if self.lo < v < self.hi), self.value, self.hi})

    def check(self, name, value):
        """`ValueError` when value is not among the options, or outside lo … hi."""
        if self.options is not None:
            if not any(_same(value, v) for v in self.options.values()):
                raise ValueError(
                    f"{name}: {value!r}, expected one of {list(self.options.values())}"
                )
        elif not (np.isreal(value) and np.isfinite(value) and self.lo <= value <= self.hi):
            raise ValueError(
                f"{name}: {value!r}, expected a number from {self.lo:g} to {self.hi:g}"
            )


def slider(lo, hi, value, step=None, unit="", label=None) -> Control:
    """A slider from lo to hi that starts at value, with a number box; four whole numbers make an integer slider.

    step defaults to a round number near a hundredth of the range, counted from value; both ends can be reached.
    label (default: the argument's name) is plain text, unit as in "rad".
    """
    _require_range(lo, hi)
    whole = all(
        isinstance(v, (int, np.integer)) for v in (lo, hi, value, 1 if step is None else step)
    )
    step = step if step is not None else 1 if whole else _round_step(hi - lo)
    if not step > 0:
        raise ValueError(f"step: {step!r}, expected a positive number")
    cast = int if whole and isinstance(step, (int, np.integer)) else float
    control = Control("slider", cast(lo), cast(hi), value, cast(step), unit, label)
    control.check("value", value)
    return replace(control, value=cast(value))


def choice(options, value=None, label=None) -> Control:
    """A list to choose from: options is a list of values, or a dict label -> value. Starts at value (default: the first)."""
    options = dict(options) if isinstance(options, dict) else {str(v): v for v in options}
    if not options:
        raise ValueError("options: empty, expected at least one")
    values = list(options.values())
    control = Control(
        "choice",
        values[0],
        values[-1],
        values[0] if value is None else value,
        label=label,
        options=options,
    )
    control.check("value", control.value)
    return control


def player(lo, hi, value=None, step=None, interval=50, unit="s", label=None, loop=False) -> Control:
    """A slider with a play button, for what runs in time: every interval [ms] it goes on by step.

    step defaults to real time where unit is "s", else to about a hundredth of the range; loop=True starts over at the end.
    """
    _require_range(lo, hi)
    if not interval >= 20:
        raise ValueError(f"interval: {interval!r}, expected at least 20 ms")
    step = step if step is not None else interval / 1000 if unit == "s" else _round_step(hi - lo)
    if not 0 < step <= hi - lo:
        raise ValueError(f"step: {step!r}, expected a number above 0 and at most {hi - lo:g}")
    control = Control(
        "player",
        float(lo),
        float(hi),
        float(lo if value is None else value),
        float(step),
        unit,
        label,
        interval=int(interval),
        loop=loop,
    )
    control.check("value", control.value)
    return control


def explore(build, draw, alt, **controls) -> Explorer:
    """A picture with sliders: the last expression of a cell.

    build()               -> (fig, artists): artists maps names to what moves (an artist, one of `plots`, or a list of them)
    draw(artists, **values)  moves them; values has the number of each control by name
    alt                   a sentence that says what there is to see, for those who can't see the picture
    controls              name=slider(...), choice(...) or player(...)

    `ValueError` when the controls and draw's arguments don't match, or build returns something else.

    >>> from course_lib import plots
    >>> def build():
    ...     fig, ax = plots.figure(size=(4, 3))
    ...     line, = ax.plot([0, 1], [0, 1])
    ...     return fig, {"line": line}
    >>> def draw(artists, slope):
    ...     artists["line"].set_ydata([0, slope])
    >>> explore(build, draw, "A line whose slope you set.", slope=slider(-1, 1, 0.5))
    A line whose slope you set.
    """
    return Explorer(build, draw, alt, controls)


class Explorer:
    """A figure, its controls and its widget. Made by `explore`.

    controls   name -> Control (lo, hi, value, …); values   name -> number now; error   None or the message shown
    set(**values)   moves controls and redraws once; redraw(), reset(), png() -> bytes of the picture now
    """

    def __init__(self, build, draw, alt, controls):
        self.controls, self.alt, self.error = dict(controls), alt, None
        _require_match(draw, self.controls)
        self._draw = draw
        self.values = {name: c.value for name, c in self.controls.items()}
        self._picture = _Picture(*_built(build))
        self._seconds = 0.0
        draw(self._picture.artists, **self.values)
        self._picture.refresh()
        self._data, self._metadata = plots.bundle(
            self._picture.sharp(), self._picture.fig.get_size_inches(), alt
        )
        self._panel = _Panel(self)
        self._panel.image.value = self._picture.encode()

    def set(self, **values):
        """Set controls by name and redraw once. `ValueError` for an unknown name or a value out of range."""
        for name, value in values.items():
            if name not in self.controls:
                raise ValueError(f"{name}: no such control, expected one of {list(self.controls)}")
            self.controls[name].check(name, value)
        self.values.update(values)
        self._panel.show_values(self.values)
        self.redraw()

    def reset(self):
        """Set every control to where it started."""
        self.set(**{name: c.value for name, c in self.controls.items()})

    def redraw(self):
        """Draw the picture for the present values; an error of `draw` is shown below the picture, the next good one clears it."""
        busy = self._seconds > SLOW
        if busy:
            self._panel.busy(True)
        start = time.perf_counter()
        try:
            self._draw(self._picture.artists, **self.values)
            self._picture.refresh()
            self.error = None
        except Exception as error:
            self.error = f"{type(error).__name__}: {error}"
            self._panel.image.value = self._picture.encode(faded=True)
            self._panel.complain(self.error, _where(error, self._draw))
        else:
            self._panel.image.value = self._picture.encode()
            self._panel.complain(None, ())
        self._seconds = time.perf_counter() - start
        if busy:
            self._panel.busy(False)

    def png(self) -> bytes:
        """The picture now, as PNG bytes."""
        return self._picture.encode()

    @property
    def widget(self):
        """The ipywidgets box: picture and controls."""
        return self._panel.box

    def __repr__(self):
        return self._data["text/plain"]

    def _repr_mimebundle_(self, include=None, exclude=None):
        view = {"version_major": 2, "version_minor": 0, "model_id": self.widget.model_id}
        return {"application/vnd.jupyter.widget-view+json": view, **self._data}, self._metadata


class _Picture:
    """A figure whose moving artists are drawn over a saved background."""

    def __init__(self, fig, artists):
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        self.fig, self.artists = fig, artists
        self.canvas = (
            fig.canvas if isinstance(fig.canvas, FigureCanvasAgg) else FigureCanvasAgg(fig)
        )
        self.moving = sorted(_moving(artists, fig), key=lambda a: a.get_zorder())
        for artist in self.moving:
            artist.set_animated(True)
        self._background = self._seen = None

    def refresh(self):
        """Bring the pixels up to date: the moving artists only, or all when something of the background changed."""
        if self.fig.stale or self._seen != self._state():
            self.canvas.draw()  # leaves out animated artists
            self.fig.set_layout_engine("none")  # the axes keep their places from now on
            self._background = self.canvas.copy_from_bbox(self.fig.bbox)
            self._seen = self._state()
        self.canvas.restore_region(self._background)
        renderer = self.canvas.get_renderer()
        for artist in self.moving:
            if hasattr(artist, "do_3d_projection"):
                artist.do_3d_projection()
            artist.draw(renderer)

    def _state(self):
        """What moving artists depend on without owning it: limits, views, places, size."""
        state = [tuple(self.fig.get_size_inches()), self.fig.dpi]
        for ax in self.fig.axes:
            state += [
                ax.get_xlim(),
                ax.get_ylim(),
                ax.get_xscale(),
                ax.get_yscale(),
                tuple(ax.get_position(True).bounds),
            ]
            if hasattr(ax, "get_zlim"):
                state += [
                    ax.get_zlim(),
                    ax.elev,
                    ax.azim,
                    ax.roll,
                    ax._focal_length,
                    tuple(ax._box_aspect),
                ]
        return [tuple(map(float, s)) if isinstance(s, tuple) else s for s in state]

    def encode(self, faded=False):
        """The pixels as PNG bytes, packed in little time."""
        return plots.encode(self.canvas, faded)

    def sharp(self):
        """The picture to store: as PNG bytes with more pixels, packed well."""
        dpi = self.fig.dpi
        try:
            self.fig.dpi = plots.DPI * plots.SHARP
            self.refresh()
            return plots.encode(self.canvas, store=True)
        finally:
            self.fig.dpi = dpi
            self.refresh()


class _Panel:
    """The widgets: picture, one row a control, reset, busy mark, error. `rows` has a row by name, each with a `show(value)`."""

    def __init__(self, explorer):
        import ipywidgets as w

        texts = {
            name: (c.label or name) + (f" [{c.unit}]" if c.unit else "")
            for name, c in explorer.controls.items()
        }
        indent = int(np.clip(7.2 * max(map(len, texts.values())) + 12, 64, 240))
        width, height = (
            int(inches * plots.DPI) for inches in explorer._picture.fig.get_size_inches()
        )
        self.image = _image(w)(
            format="png",
            width=width,
            tooltip=repr(explorer),
            layout=w.Layout(max_width="100%", object_fit="contain"),
        )
        self._error = w.HTML(layout=w.Layout(display="none", max_width=f"{width}px"))
        self._busy = w.Label("", layout=w.Layout(margin="2px 0 0 12px"))
        self.reset = w.Button(
            description="Reset",
            icon="undo",
            tooltip="Set every control to where it started",
            layout=w.Layout(width="84px", margin=f"2px 2px 2px {indent + 10}px"),
        )
        self.reset.on_click(lambda _: self._on_reset(explorer))
        self.rows = {
            name: (_ChoiceRow if c.kind == "choice" else _SliderRow)(
                c, texts[name], indent, self._on_change(explorer, name)
            )
            for name, c in explorer.controls.items()
        }
        side = w.VBox(
            [*(row.box for row in self.rows.values()), w.HBox([self.reset, self._busy])],
            layout=w.Layout(
                min_width=f"{indent + 230}px",
                flex="1 1 280px",
                max_width=f"{indent + 420}px",
                padding="8px 0 0 0",
            ),
        )
        shrink = (
            height + 34 * len(self.rows) > 620
        )  # too tall for one screen: keep the sliders beside the picture
        picture = w.VBox(
            [self.image, self._error],
            layout=w.Layout(flex="4 1 420px" if shrink else "0 1 auto", max_width=f"{width}px"),
        )
        self.box = w.Box(
            [picture, side],
            layout=w.Layout(display="flex", flex_flow="row wrap", align_items="flex-start"),
        )

    def _on_change(self, explorer, name):
        def change(value):
            explorer.values[name] = value
            explorer.redraw()

        return change

    def _on_reset(self, explorer):
        for row in self.rows.values():
            row.stop()
        explorer.reset()

    def show_values(self, values):
        """Move the widgets to values, without a redraw."""
        for name, value in values.items():
            self.rows[name].show(value)

    def busy(self, on):
        self._busy.value = "working …" if on else ""

    def complain(self, message, lines):
        """Show message and where it arose below the picture; None clears it."""
        if message is None:
            if self._error.value:
                self._error.value, self._error.layout.display = "", "none"
            return
        where = f"<br><code>{html.escape(lines[-1])}</code>" if lines else ""
        trace = "<br>".join(html.escape(line) for line in lines)
        folded = (
            f"<details><summary>How it got there</summary><code>{trace}</code></details>"
            if len(lines) > 1
            else ""
        )
        self._error.value = (
            f'<div role="alert" style="border-left:4px solid {plots.WRONG};padding:4px'
            f' 10px;line-height:1.5"><b>{html.escape(message)}</b>{where}{folded}</div>'
        )
        self._error.layout.display = ""


class _ChoiceRow:
    """A drop-down list."""

    def __init__(self, control, text, indent, changed):
        import ipywidgets as w

        self._control, self._quiet, self._changed = control, False, changed
        self.main = w.Dropdown(
            options=list(control.options),
            index=self._index(control.value),
            description=text,
            style={"description_width": f"{indent}px"},
            layout=w.Layout(width="auto", flex="1 1 auto"),
        )
        self.main.observe(self._picked, "index")
        self.box = w.HBox([self.main], layout=w.Layout(width="100%"))

    def _index(self, value):
        return next(i for i, v in enumerate(self._control.options.values()) if _same(v, value))

    def _picked(self, change):
        if not self._quiet:
            self._changed(list(self._control.options.values())[change["new"]])

    def show(self, value):
        self._quiet = True
        self.main.index = self._index(value)
        self._quiet = False

    def stop(self):
        """Nothing runs here."""


class _SliderRow:
    """A slider with a number box, and a play button if it is a player.

    The slider widget counts ticks: a float slider's front end would push every number to its own grid, which
    starts at lo, and send it back (a start of 0 between -2.618 and 2.618 would become 0.002).
    """

    def __init__(self, control, text, indent, changed):
        import ipywidgets as w

        self._control, self._quiet, self._changed = control, False, changed
        self.ticks = control.ticks()
        number = w.BoundedIntText if isinstance(control.lo, int) else w.BoundedFloatText
        ends = f"from {control.lo:g} to {control.hi:g}"
        self.main = w.IntSlider(
            min=0,
            max=len(self.ticks) - 1,
            value=self._nearest(control.value),
            readout=False,
            description=text,
            tooltip=f"{text}: {ends}; the arrow keys move it",
            style={"description_width": f"{indent}px"},
            layout=w.Layout(width="auto", flex="1 1 auto"),
        )
        self.number = number(
            min=control.lo,
            max=control.hi,
            step=control.step,
            value=control.value,
            tooltip=f"{text}: type a number {ends}",
            layout=w.Layout(width="84px"),
        )
        self.main.observe(lambda change: self._moved(self.ticks[change["new"]]), "value")
        self.number.observe(lambda change: self._moved(change["new"]), "value")
        self.box = w.HBox(
            [self.main, self.number], layout=w.Layout(width="100%", align_items="center")
        )
        self.play = None
        if control.kind == "player":
            self.play = w.Play(
                min=0,
                max=len(self.ticks) - 1,
                value=self.main.value,
                interval=control.interval,
                repeat=control.loop,
                layout=w.Layout(margin=f"0 0 0 {indent + 8}px"),
            )
            w.link((self.play, "value"), (self.main, "value"))
            self.box = w.VBox([self.box, self.play])

    def _nearest(self, value):
        return int(np.argmin(np.abs(np.subtract(self.ticks, value))))

    def _moved(self, value):
        if not self._quiet:
            self.show(value)
            self._changed(value)

    def show(self, value):
        self._quiet = True
        self.main.value, self.number.value = self._nearest(value), value
        self._quiet = False

    def stop(self):
        """Halt the play button."""
        if self.play:
            self.play.playing = False


# ---- inside -------------------------------------------------------------------------------------------------


def _image(w):
    """An Image widget that can have a tooltip, our alternative text: the front end asks for a description first."""
    from traitlets import Unicode

    class Image(w.Image):
        description = Unicode("").tag(sync=True)

    return Image


def _same(a, b):
    return a is b or (type(a) is type(b) and bool(np.all(a == b)))


def _require_range(lo, hi):
    if not (np.isfinite(lo) and np.isfinite(hi) and lo < hi):
        raise ValueError(f"lo, hi: {lo!r}, {hi!r}, expected two finite numbers with lo < hi")


def _round_step(span):
    """A step of 1, 2 or 5 times a power of ten, about a hundredth of span."""
    power = 10.0 ** np.floor(np.log10(span / 100))
    return float(
        round(max(k for k in (1, 2, 5) if k * power <= span / 100 * (1 + 1e-9)) * power, 12)
    )


def _require_match(draw, controls):
    """Every control is an argument of draw, and the other way round."""
    for name, control in controls.items():
        if not isinstance(control, Control):
            raise ValueError(
                f"{name}: {control!r}, expected slider(...), choice(...) or player(...)"
            )
    if not controls:
        raise ValueError(
            "controls: none given, expected at least one slider(...), choice(...) or player(...)"
        )
    kinds = inspect.Parameter
    parameters = list(inspect.signature(draw).parameters.values())[1:]
    if any(p.kind is kinds.VAR_KEYWORD for p in parameters):
        accepted = set(controls)
    else:
        accepted = {p.name for p in parameters}
    needed = {
        p.name
        for p in parameters
        if p.default is p.empty and p.kind not in (kinds.VAR_KEYWORD, kinds.VAR_POSITIONAL)
    }
    name = getattr(draw, "__name__", "draw")
    if extra := [c for c in controls if c not in accepted]:
        raise ValueError(
            f"{', '.join(extra)}: {name} has no such argument, expected"
            f" {', '.join(sorted(accepted)) or 'none'}"
        )
    if missing := sorted(needed - set(controls)):
        raise ValueError(
            f"{', '.join(missing)}: {name} needs it, expected {missing[0]}=slider(...) or another"
            " control"
        )


def _built(build):
    """build()'s figure and artists, or what is wrong with them."""
    from matplotlib.figure import Figure

    made = build()
    if not (
        isinstance(made, tuple)
        and len(made) == 2
        and isinstance(made[0], Figure)
        and isinstance(made[1], dict)
    ):
        raise ValueError(
            f"build: returned {type(made).__name__}, expected (fig, artists) with artists a dict of"
            " what moves"
        )
    return made


def _moving(artists, fig):
    """All Matplotlib artists in the dict, once each."""
    from matplotlib.artist import Artist

    found = {}

    def collect(name, thing):
        if isinstance(thing, Artist):
            if thing.get_figure(root=True) is not fig:
                raise ValueError(
                    f"artists[{name!r}]: {type(thing).__name__} belongs to another figure, expected"
                    " one of fig"
                )
            found[id(thing)] = thing
        elif hasattr(thing, "artists"):
            collect(name, list(thing.artists))
        elif isinstance(thing, dict):
            collect(name, list(thing.values()))
        elif isinstance(thing, (list, tuple)):
            for part in thing:
                if part is not None:
                    collect(name, part)
        else:
            raise ValueError(
                f"artists[{name!r}]: {type(thing).__name__}, expected an artist, a movable artist"
                " of plots, or a list of them"
            )

    for name, thing in artists.items():
        collect(name, thing)
    if not found:
        raise ValueError("artists: nothing moves, expected at least one artist")
    return list(found.values())


def _where(error, draw):
    """The calls from draw to the error, one line of text each, without machine paths."""
    code = getattr(draw, "__code__", None)
    frames = traceback.extract_tb(error.__traceback__)[1:]
    lines = []
    for frame in frames:
        inside = code is not None and frame.filename == code.co_filename
        place = (
            f"line {frame.lineno - code.co_firstlineno + 1}"
            if inside and frame.name == code.co_name
            else f"line {frame.lineno}" + ("" if inside else f" of {Path(frame.filename).name}")
        )
        lines.append(f"{frame.name}, {place}: {frame.line or ''}".rstrip(": "))
    return lines
