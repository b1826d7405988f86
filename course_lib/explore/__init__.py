"""How does a picture follow a slider at once?  The one mechanism for every explorer of the course.

Public names: `slider`, `choice`, `player`, `joint_slider`, `joint_sliders` (controls); `explore`
and the `Explorer` it returns.

`build()` makes the figure once and returns `(fig, artists)`; `artists` is a dict of the things that
move. `draw(artists, **values)` moves them and returns the readout: what to say in words, as a
string or a list of short lines. Words belong there, not into the picture: a readout can be read
aloud, copied, and found, and it stays sharp.

Everything else is background: it is drawn once and kept as pixels; each redraw puts them back and
draws only the artists that move above them, then sends one image. When `draw` changes something of
the background (limits, the view, a title, the figure's size), all is drawn again: right, but slow.
In a 3D axes all solids, lines and labels of `plots` move together, since they hide one another.

On the page an explorer is two outputs: the stored picture, and the live panel, which takes its
place while it is there.
"""

# ruff: noqa: F401, F403
from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from course_lib import plots
from course_lib.explore.controls import *
from course_lib.explore.controls import Control
from course_lib.explore.dress import caption
from course_lib.explore.panel import Panel
from course_lib.explore.picture import Picture, built

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def explore(
    build: Callable[[], Any], draw: Callable[..., Any], alt: str, **controls: Control
) -> Explorer:
    """A picture with sliders: the last expression of a cell.

    build()                  -> (fig, artists): artists maps names to what moves (an artist, one of
                             `plots`, or a list of them)
    draw(artists, **values)  moves them; values has the number of each control by name; returns the
                             readout: a string, a list of lines, or None
    alt                      a sentence that says what there is to see, for those who can't see it
    controls                 name=slider(...), choice(...) or player(...)

    `ValueError` when the controls and draw's arguments don't match, or build returns something
    else.

    >>> from course_lib import plots
    >>> def build():
    ...     fig, ax = plots.figure(size=(4, 3))
    ...     line, = ax.plot([0, 1], [0, 1])
    ...     return fig, {"line": line}
    >>> def draw(artists, slope):
    ...     artists["line"].set_ydata([0, slope])
    ...     return f"rises by {slope:.2f}"
    >>> line = explore(build, draw, "A line whose slope you set.", slope=slider(-1, 1, 0.5))
    >>> line.set(slope=1)
    >>> line.readout
    'rises by 1.00'
    """
    return Explorer(build, draw, alt, controls)


class Explorer:
    """A figure, its controls and its widget. Made by `explore`.

    controls   name -> Control (lo, hi, value, …); values   name -> number now
    readout    what it says in words now; error   None or the message shown
    set(**values)   moves controls and redraws once; redraw(), reset(), png() -> bytes of the
    picture now
    """

    def __init__(
        self,
        build: Callable[[], Any],
        draw: Callable[..., Any],
        alt: str,
        controls: dict[str, Control],
    ) -> None:
        self.controls, self.alt, self.error = dict(controls), alt, None
        _require_match(draw, self.controls)
        self._draw = draw
        self.values = {name: c.value for name, c in self.controls.items()}
        self._picture = Picture(*built(build))
        self._update()
        size = self._picture.fig.get_size_inches()
        still = self._picture.stored(), size, alt, caption(self.readout), "course-still"
        self._still = plots.bundle(*still)
        self._panel = Panel(
            self.controls, size, repr(self), self.readout, self._changed, self.reset
        )
        self._panel.show_picture(self._picture.live())

    def set(self, **values: Any) -> None:
        """Set controls by name and redraw once.

        `ValueError` for an unknown name or a value out of range; then nothing changes.
        """
        for name, value in values.items():
            if name not in self.controls:
                raise ValueError(f"{name}: no such control, expected one of {list(self.controls)}")
            self.controls[name].check(name, value)
        self.values.update(values)
        self._panel.show_values(self.values)
        self.redraw()

    def reset(self) -> None:
        """Set every control to where it started."""
        self.set(**{name: c.value for name, c in self.controls.items()})

    def redraw(self) -> None:
        """Draw the picture for the present values.

        An error of `draw` is shown beside the faded picture; the next good one clears it.
        """
        try:
            self._update()
        except Exception as error:
            self.error = f"{type(error).__name__}: {error}"
            self._panel.show_picture(self._picture.live(faded=True))
            self._panel.complain(self.error, _where(error, self._draw))
        else:
            self.error = None
            self._panel.show_picture(self._picture.live())
            self._panel.show_readout(self.readout)
            self._panel.complain(None)

    def _update(self) -> None:
        """Let draw move the artists, take its readout, bring the pixels up to date."""
        self.readout = _said(self._draw(self._picture.artists, **self.values))
        self._picture.refresh()

    def _changed(self, name: str, value: Any) -> None:
        self.values[name] = value
        self.redraw()

    def png(self) -> bytes:
        """The picture now, as PNG bytes."""
        return self._picture.png()

    @property
    def moving(self) -> list:
        """The Matplotlib artists that are drawn anew each time."""
        return self._picture.moving

    @property
    def widget(self) -> Any:
        """The ipywidgets box: picture, readout and controls."""
        return self._panel.box

    def __repr__(self) -> str:
        return self._still[0]["text/plain"]

    def still(self) -> tuple[dict, dict]:
        """What a page shows where no kernel runs: ({mime type: data}, metadata) of the start."""
        return self._still

    def _ipython_display_(self) -> None:
        from IPython.display import display

        data, metadata = self._still
        display(data, raw=True, metadata=metadata)
        view = {"version_major": 2, "version_minor": 0, "model_id": self.widget.model_id}
        display({WIDGET_VIEW: view}, raw=True)


def _said(readout: Any) -> str:
    """What draw returned, as text."""
    if readout is None:
        return ""
    lines = [readout] if isinstance(readout, str) else readout
    if not isinstance(lines, (list, tuple)) or not all(isinstance(x, str) for x in lines):
        raise ValueError(
            f"draw: returned {type(readout).__name__}, expected the readout: a string, a list of"
            " lines, or None"
        )
    return "\n".join(lines)


def _require_match(draw: Callable[..., Any], controls: dict[str, Control]) -> None:
    """Every control is an argument of draw, and the other way round."""
    kinds = "slider(...), choice(...) or player(...)"
    for name, control in controls.items():
        if not isinstance(control, Control):
            raise ValueError(f"{name}: {control!r}, expected {kinds}")
    if not controls:
        raise ValueError(f"controls: none given, expected at least one {kinds}")
    try:
        inspect.signature(draw).bind(None, **controls)
    except TypeError as error:
        name = getattr(draw, "__name__", "draw")
        raise ValueError(f"{name}: {error}; the controls are {', '.join(controls)}") from None


def _where(error: Exception, draw: Callable[..., Any]) -> list[str]:
    """The calls from draw to the error, one line of text each, without machine paths."""
    code = getattr(draw, "__code__", None)
    lines = []
    for frame in traceback.extract_tb(error.__traceback__)[2:]:
        inside = code is not None and frame.filename == code.co_filename
        if inside and frame.name == code.co_name:
            place = f"line {frame.lineno - code.co_firstlineno + 1}"
        else:
            place = f"line {frame.lineno}"
            place += "" if inside else f" of {Path(frame.filename).name}"
        lines.append(f"{frame.name}, {place}: {frame.line or ''}".rstrip(": "))
    return lines
