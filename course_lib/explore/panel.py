"""What stands beside the picture?  The widgets: readout, one row a control, reset, errors.

Public names: `Panel`.
"""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

from course_lib.explore.controls import Choice, Control, Player, Slider
from course_lib.explore.dress import ASLEEP, dress
from course_lib.plots import style

CHROME = 140  # [px] of JupyterLab's window above and below the notebook


class Panel:
    """The widgets of an explorer.

    `rows` has a row by name with `show(value)`; `show_picture`, `show_readout`, `show_values` and
    `complain` change what is seen. changed(name, value) and reset() are called back.
    """

    def __init__(
        self,
        controls: dict[str, Control],
        size: Any,
        alt: str,
        readout: str,
        changed: Callable[[str, Any], None],
        reset: Callable[[], None],
    ) -> None:
        import ipywidgets as w

        self.rows = {name: _row(name, c, changed) for name, c in controls.items()}
        self.picture = w.Image(format="jpeg", layout=self._picture_layout(w, size, readout))
        self.readout = w.HTML()
        self._error = w.HTML(layout=w.Layout(display="none"))
        tip = "Set every control to where it started"
        self.reset = w.Button(description="Reset", icon="undo", tooltip=tip)
        self.reset.layout.width = "84px"
        self.reset.on_click(lambda _: self._on_reset(reset))
        rows = _classed(w.Box([row.box for row in self.rows.values()]), "course-controls")
        foot = _classed(w.HBox([self.reset]), "course-foot")
        asleep = _classed(w.HTML(ASLEEP), "course-asleep")
        _classed(self.readout, "course-readout")
        side = [self.readout, self._error, rows, foot, asleep]
        board = [_classed(self.picture, "course-picture"), _classed(w.Box(side), "course-side")]
        says = [row.says() for row in self.rows.values()]
        worn = _classed(w.HTML(dress(alt, says)), "course-dress")
        self.box = _classed(
            w.Box([worn, _classed(w.Box(board), "course-board")]), "course-explorer"
        )
        self.show_readout(readout)

    def _picture_layout(self, w: Any, size: Any, readout: str) -> Any:
        """As large as the figure, and not so tall that the controls leave the window."""
        lines = readout.count("\n") + 1 if readout else 0
        below = 46 * ((len(self.rows) + 1) // 2) + 19 * lines + 42
        return w.Layout(
            max_width=f"min(100%, {round(size[0] * style.DPI)}px)",
            max_height=f"max(200px, calc(100vh - {CHROME + below}px))",
        )

    def _on_reset(self, reset: Callable[[], None]) -> None:
        for row in self.rows.values():
            row.stop()
        reset()

    def show_picture(self, data: bytes) -> None:
        """Show another picture (JPEG)."""
        self.picture.value = data

    def show_readout(self, text: str) -> None:
        """Say this beside the picture."""
        self.readout.value = html.escape(text)
        self.readout.layout.display = "" if text else "none"

    def show_values(self, values: dict[str, Any]) -> None:
        """Move the widgets to values, without a redraw."""
        for name, value in values.items():
            self.rows[name].show(value)

    def complain(self, message: str | None, lines: list[str] | tuple = ()) -> None:
        """Show message and where it arose below the readout; None clears it."""
        if message is None:
            if self._error.value:
                self._error.value, self._error.layout.display = "", "none"
            return
        where = f"<br><code>{html.escape(lines[-1])}</code>" if lines else ""
        trace = "<br>".join(html.escape(line) for line in lines)
        folded = f"<details><summary>How it got there</summary><code>{trace}</code></details>"
        look = f"border-left:4px solid {style.WRONG};padding:4px 10px;line-height:1.5"
        self._error.value = (
            f'<div role="alert" style="{look}"><b>{html.escape(message)}</b>{where}'
            f"{folded if len(lines) > 1 else ''}</div>"
        )
        self._error.layout.display = ""


class _ChoiceRow:
    """A drop-down list."""

    def __init__(self, control: Choice, text: str, changed: Callable[[Any], None]) -> None:
        import ipywidgets as w

        self._control, self._quiet, self._changed = control, False, changed
        self.main = w.Dropdown(
            options=list(control.options), index=control.index(control.value), description=text
        )
        self.main.observe(self._picked, "index")
        self.box = _classed(w.Box([self.main]), "course-row")

    def says(self) -> None:
        """A list says its own options."""

    def _picked(self, change: dict) -> None:
        if not self._quiet:
            self._changed(self._control.places()[change["new"]])

    def show(self, value: Any) -> None:
        self._quiet = True
        self.main.index = self._control.index(value)
        self._quiet = False

    def stop(self) -> None:
        """Nothing runs here."""


class _SliderRow:
    """A slider with a box to type in, and a play button if it is a player.

    The slider widget counts ticks: a float slider's front end would push every number to its own
    grid, which starts at lo, and send it back (0 between -2.618 and 2.618 would become 0.002).
    """

    def __init__(self, control: Slider, text: str, changed: Callable[[Any], None]) -> None:
        import ipywidgets as w

        self._control, self._quiet, self._changed = control, False, changed
        self.ticks = control.ticks()
        self._value = control.value
        ends = {"min": 0, "max": len(self.ticks) - 1, "value": self._nearest(control.value)}
        self.main = w.IntSlider(**ends, readout=False, description=text)
        self.typed = w.Text(control.text(control.value), description=text, continuous_update=False)
        self.main.observe(lambda change: self._moved(self.ticks[change["new"]]), "value")
        self.typed.observe(self._read, "value")
        children, self.play = [self.main, _classed(self.typed, "course-box")], None
        if isinstance(control, Player):
            self.play = w.Play(**ends, interval=control.interval, show_repeat=False)
            w.link((self.play, "value"), (self.main, "value"))
            children.insert(0, self.play)
        self.box = _classed(w.Box(children), "course-row", *(["course-plays"] if self.play else []))

    def says(self) -> list[str]:
        """What the slider says at each tick."""
        unit = f" {self._control.unit}" if self._control.unit else ""
        return [self._control.text(v) + unit for v in self.ticks]

    def _nearest(self, value: float) -> int:
        return min(range(len(self.ticks)), key=lambda i: abs(self.ticks[i] - value))

    def _read(self, change: dict) -> None:
        """Someone typed: take it, or put back what stood there."""
        if self._quiet:
            return
        try:
            value = self._control.read(change["new"])
        except ValueError:
            value = self._value
        if value == self._value:
            self.show(value)
        else:
            self._moved(value)

    def _moved(self, value: float) -> None:
        if not self._quiet:
            self.show(value)
            self._changed(value)

    def show(self, value: float) -> None:
        """Stand at value, without a call."""
        self._quiet, self._value = True, value
        self.main.value, self.typed.value = self._nearest(value), self._control.text(value)
        self._quiet = False

    def stop(self) -> None:
        """Halt the play button."""
        if self.play:
            self.play.playing = False


def _row(name: str, control: Control, changed: Callable[[str, Any], None]) -> Any:
    kind = _ChoiceRow if isinstance(control, Choice) else _SliderRow
    return kind(control, control.named(name), lambda value: changed(name, value))


def _classed(widget: Any, *names: str) -> Any:
    for name in names:
        widget.add_class(name)
    return widget
