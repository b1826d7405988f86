"""What can be drawn and then moved?  Arrows, lines, axes, dots, words, frames, chains, solids.

Public names: `arrow`, `line`, `axis_line`, `dot`, `label`, `note`, `limit_lines`; `FrameArtist`,
`SolidArtist` (3D), `ChainArtist` (2D).

Each has `set(…)`, which moves it, and `artists`, which `explore` draws. In a 3D axes they put
things on its stage (`solids.Stage`), which draws all of them together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from course_lib.plots import solids
from course_lib.plots.style import (
    AXIS,
    INK,
    JOINT,
    LIMIT,
    OBSTACLE,
    is_3d,
    mix,
    readable,
    rgba,
    stage,
)
from course_lib.poses import pose

if TYPE_CHECKING:
    from matplotlib.text import Text

__all__ = ["arrow", "line", "axis_line", "dot", "label", "note", "limit_lines"]
__all__ += ["FrameArtist", "SolidArtist", "ChainArtist"]

DASHED = (0, (5, 3))


class Movable:
    """Something drawn: `set(…)` moves it, `artists` are what Matplotlib draws of it."""

    def __init__(self, ax: Any, move: Callable[..., None], *drawn: Any) -> None:
        self.ax, self.set = ax, move
        if is_3d(ax):
            stage(ax).add(*drawn)
        self.artists = stage(ax).artists if is_3d(ax) else list(drawn)


def arrow(
    ax: Any,
    p0: ArrayLike | None = None,
    p1: ArrayLike | None = None,
    colour: str = INK,
    *,
    width: float | None = None,
    words: str = "",
) -> Movable:
    """An arrow from p0 to p1, 2D or 3D; `set(p0, p1)` moves it. Without a length it is hidden.

    width   of the shaft: its radius [m] in 3D (default: a 150th of the room), [pt] in 2D (2)
    words   stand beyond the tip, in the arrow's colour
    """
    make = _space_arrow if is_3d(ax) else _flat_arrow
    made = make(ax, colour, width, words)
    if p0 is not None and p1 is not None:
        made.set(p0, p1)
    return made


def line(
    ax: Any, points: ArrayLike = (), colour: str = INK, *, width: float = 2, dashed: bool = False
) -> Movable:
    """A line through points (k, 2) or (k, 3); `set(points)` moves it. width [pt]."""
    if is_3d(ax):
        none = np.empty((0, 3))
        drawn = solids.Line(colour=rgba(colour), points=none, width=width, dashed=dashed)
    else:
        (drawn,) = ax.plot([], [], color=colour, lw=width, ls=DASHED if dashed else "-")

    def move(points: ArrayLike) -> None:
        if is_3d(ax):
            drawn.points = _points(points, 3).reshape(-1, 3)
        else:
            drawn.set_data(*_points(points, 2).reshape(-1, 2).T)

    move(points)
    return Movable(ax, move, drawn)


def axis_line(
    ax: Any,
    point: ArrayLike | None = None,
    direction: ArrayLike | None = None,
    colour: str = LIMIT,
    *,
    reach: float | tuple[float, float] | None = None,
) -> Movable:
    """The dashed line of a joint's axis through a point, 2D or 3D; `set(point, direction)`.

    direction   of any length but 0
    reach       how far it goes either way [m], or (backwards, forwards) such as (-0.1, 0.3);
                default: a fifth of the room
    """
    reach = _room(ax) / 5 if reach is None else reach
    ends = (-reach, reach) if np.ndim(reach) == 0 else reach
    made = line(ax, colour=colour, width=1.3, dashed=True)
    lead = made.set

    def move(point: ArrayLike, direction: ArrayLike) -> None:
        direction = np.asarray(direction, float)
        lead(np.asarray(point, float) + np.outer(ends, direction / np.linalg.norm(direction)))

    made.set = move
    if point is not None and direction is not None:
        move(point, direction)
    return made


def dot(ax: Any, point: ArrayLike | None = None, colour: str = INK, *, size: float = 9) -> Movable:
    """A dot at a point (2,), or a small ball at (3,), size [pt] across; `set(point)` moves it."""
    if is_3d(ax):
        quads = solids.ball(np.zeros(3), size * _room(ax) / 720, sides=12)
        drawn = solids.Solid(colour=rgba(colour), quads=quads[:0], shadow=False, front=True)
    else:
        (drawn,) = ax.plot([], [], "o", color=colour, ms=size, mec="white", mew=1, zorder=14)

    def move(point: ArrayLike) -> None:
        if is_3d(ax):
            drawn.quads, drawn.pose = quads, pose(_points(point, 3))
        else:
            drawn.set_data(*_points(point, 2)[:, None])

    if point is not None:
        move(point)
    return Movable(ax, move, drawn)


def label(ax: Any, point: ArrayLike, words: str, colour: str = INK, *, size: float = 10) -> Movable:
    """Words at a point (2,) or (3,), dark enough to be read; `set(point, words=None)`.

    In 3D labels move apart where they would cover one another.
    """
    ink = readable(colour)
    if is_3d(ax):
        drawn = solids.Label(colour=rgba(ink), words=words, size=size)
    else:
        style = {"ha": "center", "va": "center", "weight": "bold", "zorder": 13}
        drawn = ax.text(0, 0, words, color=ink, fontsize=size, **style)

    def move(point: ArrayLike, words: str | None = None) -> None:
        if is_3d(ax):
            drawn.point = _points(point, 3)
            drawn.words = drawn.words if words is None else words
        else:
            drawn.set_position(_points(point, 2))
            drawn.set_text(drawn.get_text() if words is None else words)

    move(point)
    return Movable(ax, move, drawn)


def note(ax: Any, words: str = "", corner: str = "upper left", colour: str = INK) -> Text:
    """Words in a corner of the axes, 2D or 3D: "upper left", "lower right", …; `set_text` them.

    For words of a drawing. What changes with a slider belongs into the readout of `explore`.
    """
    places = {"upper": (0.97, "top"), "lower": (0.03, "bottom")}, {"left": 0.02, "right": 0.98}
    up, _, side = corner.partition(" ")
    if up not in places[0] or side not in places[1]:
        raise ValueError(f'corner: {corner!r}, expected "upper" or "lower", then "left" or "right"')
    y, va = places[0][up]
    text = ax.text2D if is_3d(ax) else ax.text
    style = {"color": colour, "va": va, "ha": side, "linespacing": 1.4, "zorder": 20}
    return text(places[1][side], y, words, transform=ax.transAxes, **style)


def limit_lines(ax: Any, *values: float, axis: str = "y", label: str | None = None) -> list:
    """Dashed lines at values of the y (or x) axis. Returns the list of lines."""
    draw = ax.axhline if axis == "y" else ax.axvline
    style = {"color": LIMIT, "linestyle": DASHED, "linewidth": 1.2, "zorder": 1.5}
    return [draw(v, label=label if i == 0 else None, **style) for i, v in enumerate(values)]


# ---- solids, frames, chains -----------------------------------------------------------------


class SolidArtist:
    """An obstacle, a part or another solid: faces (N, 4, 3) [m], as `plots.solids` makes them.

    `set(quads)` replaces its faces, `place(T)` moves them to pose T (4, 4).

    >>> from course_lib import plots
    >>> fig, ax = plots.space(0.5)
    >>> stone = plots.SolidArtist(ax, plots.solids.ball((0.2, 0, 0.1), 0.08))
    """

    def __init__(
        self, ax: Any, quads: ArrayLike, colour: str = OBSTACLE, *, alpha: float = 1.0
    ) -> None:
        self.ax = ax
        self.solid = solids.Solid(colour=rgba(colour, alpha), quads=np.asarray(quads, float))
        stage(ax).add(self.solid)
        self.artists = stage(ax).artists

    def set(self, quads: ArrayLike) -> None:
        """Replace its faces by quads (N, 4, 3)."""
        self.solid.quads = np.asarray(quads, float)

    def place(self, T: ArrayLike) -> None:
        """Move it to pose T (4, 4): its faces are in that frame."""
        self.solid.pose = _pose(T)


class FrameArtist:
    """A frame as three labelled arrows x, y, z (in 2D axes: x and y).

    `set(T)` moves it, T (4, 4) T_world_frame. length [m] of the arrows; label stands beside the
    origin; letters=False leaves out the names of the axes.
    """

    def __init__(
        self,
        ax: Any,
        T: ArrayLike | None = None,
        length: float = 0.1,
        label: str = "",
        *,
        letters: bool = True,
        colours: Any = AXIS,
        alpha: float = 1.0,
    ) -> None:
        self.ax = ax
        inks = rgba(colours) if letters else []
        words = [*zip("xyz" if letters else "", inks, 1.17 * length * np.eye(3))]
        words += [(label, rgba(INK), np.full(3, -0.17 * length))] if label else []
        make = _space_frame if is_3d(ax) else _flat_frame
        self._body = make(ax, length, rgba(colours, alpha), words)
        self.artists = self._body.artists
        self.set(np.eye(4) if T is None else T)

    def set(self, T: ArrayLike) -> None:
        """Move the frame to pose T (4, 4)."""
        self._body.set(_pose(T))


class ChainArtist:
    """A planar chain: thick links, joints in their colours, tool.

    `set(points)` with points (k, 2) [m], base first; points may be their number alone.
    """

    def __init__(
        self,
        ax: Any,
        points: ArrayLike | int,
        *,
        colour: str | None = None,
        alpha: float = 1.0,
        width: float = 9,
    ) -> None:
        self.ax, k = ax, points if np.ndim(points) == 0 else len(points)
        body = colour or "#B9BEC7"
        style = {"solid_capstyle": "round", "solid_joinstyle": "round", "alpha": alpha}
        looks = ("#000000", 0.35, width + 2, 9), ("#FFFFFF", 0.25, width, 9.1)
        (self._edge,), (self._link,) = (
            ax.plot([], [], color=mix(body, other, share), linewidth=w, zorder=z, **style)
            for other, share, w, z in looks
        )
        colours = [colour or JOINT[i % len(JOINT)] for i in range(k - 1)]
        size = [(1.15 * width) ** 2] * (k - 1) + [(0.62 * width) ** 2]
        look = {"edgecolor": "white", "linewidth": 1.2, "alpha": alpha, "zorder": 9.2}
        self._joints = ax.scatter(np.zeros(k), np.zeros(k), s=size, color=[*colours, INK], **look)
        self.artists = [self._edge, self._link, self._joints]
        self.set(np.zeros((k, 2)) if np.ndim(points) == 0 else points)

    def set(self, points: ArrayLike) -> None:
        """Move the joints, and the tool as the last, to points (k, 2)."""
        points = np.asarray(points, float)[:, :2]
        self._edge.set_data(*points.T)
        self._link.set_data(*points.T)
        self._joints.set_offsets(points)


def _space_arrow(ax: Any, colour: str, width: float | None, words: str) -> Movable:
    radius = width if width is not None else _room(ax) / 150
    body = solids.Arrow(rgba(colour), np.zeros(3), np.zeros(3), radius)
    name = solids.Label(colour=rgba(readable(colour)), words="")

    def move(p0: ArrayLike, p1: ArrayLike) -> None:
        p0, p1 = _points(p0, 3), _points(p1, 3)
        length = float(np.linalg.norm(p1 - p0))
        body.point(p0, p1)
        name.words = words if length > 1e-9 else ""
        name.point = p1 + 5 * radius * (p1 - p0) / max(length, 1e-9)

    return Movable(ax, move, body, *([name] if words else []))


def _flat_arrow(ax: Any, colour: str, width: float | None, words: str) -> Movable:
    from matplotlib.patches import FancyArrowPatch

    width = 2 if width is None else width
    look = {"color": colour, "linewidth": width, "mutation_scale": 7 + 3.5 * width, "zorder": 12}
    body = FancyArrowPatch((0, 0), (1, 1), arrowstyle="-|>", shrinkA=0, shrinkB=0, **look)
    ax.add_patch(body)
    middle = {"ha": "center", "va": "center", "textcoords": "offset points", "zorder": 13}
    name = ax.annotate(words, (0, 0), (0, 0), color=readable(colour), **middle)
    body.set_visible(False)
    name.set_visible(False)

    def move(p0: ArrayLike, p1: ArrayLike) -> None:
        p0, p1 = _points(p0, 2), _points(p1, 2)
        length = float(np.linalg.norm(p1 - p0))
        body.set_visible(length > 1e-12)
        name.set_visible(length > 1e-12)
        body.set_positions(p0, p1)
        name.xy = p1
        name.set_position(12 * (p1 - p0) / max(length, 1e-12))

    return Movable(ax, move, body, name)


def _space_frame(ax: Any, length: float, colours: np.ndarray, words: list) -> Movable:
    """A frame on the stage; words: (word, colour, place) each."""
    arrows = [solids.arrow(np.zeros(3), tip, 0.03 * length) for tip in length * np.eye(3)]
    paint = np.repeat(colours, len(arrows[0]), axis=0)
    body = solids.Solid(colour=paint, quads=np.concatenate(arrows), shadow=False, front=True)
    things = [body, *(solids.Label(words=w, colour=c, point=p) for w, c, p in words)]

    def move(T: np.ndarray) -> None:
        for thing in things:
            thing.pose = T

    return Movable(ax, move, *things)


def _flat_frame(ax: Any, length: float, colours: np.ndarray, words: list) -> Movable:
    """A frame in 2D axes: arrows x and y; words: (word, colour, place) each."""
    from matplotlib.collections import PolyCollection

    body = PolyCollection([], facecolor=colours[:2], edgecolor="none", zorder=12)
    ax.add_collection(body, autolim=False)
    words = [w for w in words if w[0] != "z"]
    look = {"fontsize": 10, "ha": "center", "va": "center", "zorder": 13}
    texts = [
        ax.text(0, 0, w, color=ink, weight="normal" if w in ("x", "y") else "bold", **look)
        for w, ink, _ in words
    ]

    def move(T: np.ndarray) -> None:
        p, R = T[:2, 3], T[:2, :3]
        body.set_verts([_outline(p, p + length * R[:, k]) for k in (0, 1)])
        for text, (*_, place) in zip(texts, words):
            text.set_position(p + R @ place)

    return Movable(ax, move, body, *texts)


def _outline(p0: np.ndarray, p1: np.ndarray) -> np.ndarray:
    """Arrow as a polygon (7, 2) from p0 to p1."""
    along = p1 - p0
    across, neck = 0.022 * np.array([-along[1], along[0]]), p0 + 0.72 * along
    right = [p0 - across, neck - across, neck - 3 * across]
    return np.array([*right, p1, neck + 3 * across, neck + across, p0 + across])


def _pose(T: ArrayLike) -> np.ndarray:
    T = np.asarray(T, float)
    if T.shape != (4, 4):
        raise ValueError(f"T: shape {T.shape}, expected (4, 4)")
    return T


def _points(points: ArrayLike, size: int) -> np.ndarray:
    """Finite points (..., size), or `ValueError`."""
    found = np.asarray(points, float)
    if found.size and (found.shape[-1] != size or not np.isfinite(found).all()):
        raise ValueError(f"points: {points!r}, expected finite points of {size} coordinates each")
    return found


def _room(ax: Any) -> float:
    """The longest side of the axes [their unit]."""
    limits = [ax.get_xlim(), ax.get_ylim()] + ([ax.get_zlim()] if is_3d(ax) else [])
    return float(np.ptp(limits, axis=1).max())
