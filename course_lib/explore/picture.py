"""How is a picture redrawn in little time?  A kept background, and above it only what moves.

Public names: `Picture`; `built` and `moving`, which check what `build()` returns.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from course_lib.plots import style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure


class Picture:
    """A figure whose moving artists are drawn over a background that is kept as pixels."""

    def __init__(self, fig: Figure, artists: dict) -> None:
        self.fig, self.artists = fig, artists
        self.canvas = style.canvas_of(fig)
        fig.dpi = style.DPI * style.SHARP
        self.moving = sorted(moving(artists, fig), key=lambda a: a.get_zorder())
        for artist in self.moving:
            artist.set_animated(True)
        self._background = self._seen = None

    def refresh(self) -> None:
        """Bring the pixels up to date: what moves, or all when the background changed, too."""
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

    def _state(self) -> list:
        """What moving artists depend on without owning it: limits, views, places, size."""
        state = [tuple(self.fig.get_size_inches()), self.fig.dpi]
        for ax in self.fig.axes:
            state += [ax.get_xlim(), ax.get_ylim(), ax.get_xscale(), ax.get_yscale()]
            state += [tuple(ax.get_position(True).bounds)]
            if style.is_3d(ax):
                state += [ax.get_zlim(), (ax.elev, ax.azim, ax.roll, ax._focal_length)]
                state += [tuple(ax._box_aspect)]
        return [tuple(map(float, s)) if isinstance(s, tuple) else s for s in state]

    def live(self, faded: bool = False) -> bytes:
        """The pixels as JPEG bytes, packed in little time; faded: grey and pale."""
        from PIL import Image

        image = style.pixels(self.canvas)
        if faded:
            grey = image.convert("L").convert("RGB")
            image = Image.blend(grey, Image.new("RGB", image.size, "white"), 0.6)
        out = io.BytesIO()
        image.save(out, format="JPEG", quality=90, subsampling=0)
        return out.getvalue()

    def png(self) -> bytes:
        """The pixels as PNG bytes, every one as it is."""
        out = io.BytesIO()
        style.pixels(self.canvas).save(out, format="PNG", compress_level=1)
        return out.getvalue()

    def stored(self) -> bytes:
        """The pixels as PNG bytes that take little room."""
        return style.stored(self.canvas)


def built(build: Callable[[], Any]) -> tuple[Figure, dict]:
    """build()'s figure and artists, or `ValueError` with what is wrong about them."""
    from matplotlib.figure import Figure

    made = build()
    right = isinstance(made, tuple) and len(made) == 2
    if not (right and isinstance(made[0], Figure) and isinstance(made[1], dict)):
        expected = "(fig, artists) with artists a dict of what moves"
        raise ValueError(f"build: returned {type(made).__name__}, expected {expected}")
    return made


def moving(artists: dict, fig: Figure) -> list[Artist]:
    """All Matplotlib artists in the dict, once each; `ValueError` for what can't move in fig."""
    from matplotlib.artist import Artist

    found: dict[int, Artist] = {}

    def collect(name: str, thing: Any) -> None:
        kind = f"artists[{name!r}]: {type(thing).__name__}"
        if isinstance(thing, Artist):
            if thing.get_figure(root=True) is not fig:
                raise ValueError(f"{kind} belongs to another figure, expected one of fig")
            found[id(thing)] = thing
        elif hasattr(thing, "artists"):
            collect(name, list(thing.artists))
        elif isinstance(thing, (dict, list, tuple)):
            for part in thing.values() if isinstance(thing, dict) else thing:
                if part is not None:
                    collect(name, part)
        else:
            expected = "an artist, a movable artist of plots, or a list of them"
            raise ValueError(f"{kind}, expected {expected}")

    for name, thing in artists.items():
        collect(name, thing)
    if not found:
        raise ValueError("artists: nothing moves, expected at least one artist")
    return list(found.values())
