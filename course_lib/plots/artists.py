"""What can be drawn and then moved?  Arrows, lines, axes, dots, words, frames, chains, solids.

Public names: `arrow`, `line`, `axis_line`, `dot`, `label` (2D and 3D), `note`, `limit_lines`;
`FrameArtist` (2D and 3D), `ChainArtist` (2D), `SolidArtist` (3D).

Each has `set(…)`, which moves it, and `artists`, which `explore` draws. In a 3D axes they put
things on its stage (`solids.Stage`), which draws all of them together.
"""

from __future__ import annotations

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

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.text import Text

DASHED = (0, (5, 3))


# ---- functions: 2D and 3D alike -------------------------------------------------------------


def arrow(
    ax: Any,
    p0: ArrayLike | None = None,
    p1: ArrayLike | None = None,
    colour: str = INK,
    *,
    width: float | None = None,
    words: str = "",
) -> SpaceArrow | FlatArrow:
    """An arrow from p0 to p1 [units of the axes]; `set(p0, p1)` moves it, no length hides it.

    width   of the shaft: its radius [m] in 3D (default: a 150th of the room), [pt] in 2D (2)
    words   stand beyond the tip, in the arrow's colour
    """
    kind = SpaceArrow if is_3d(ax) else FlatArrow
    made = kind(ax, colour, width, words)
    if p0 is not None and p1 is not None:
        made.set(p0, p1)
    return made


def line(
    ax: Any, points: ArrayLike = (), colour: str = INK, *, width: float = 2, dashed: bool = False
) -> SpaceLine | FlatLine:
    """A line through points (k, 2) or (k, 3); `set(points)` moves it. width [pt]."""
    made = (SpaceLine if is_3d(ax) else FlatLine)(ax, colour, width, dashed)
    made.set(points)
    return made


def axis_line(
    ax: Any,
    point: ArrayLike | None = None,
    direction: ArrayLike | None = None,
    colour: str = LIMIT,
    *,
    reach: float | tuple[float, float] | None = None,
) -> AxisLine:
    """The dashed line of a joint's axis, through a point in a direction; `set(point, direction)`.

    reach   how far it goes either way [m], or (backwards, forwards) such as (-0.1, 0.3);
            default: a fifth of the room
    """
    made = AxisLine(ax, colour, reach)
    if point is not None and direction is not None:
        made.set(point, direction)
    return made


def dot(
    ax: Any, point: ArrayLike | None = None, colour: str = INK, *, size: float = 9
) -> SpaceDot | FlatDot:
    """A dot at a point (2,) or (3,), size [pt] across; `set(point)` moves it."""
    made = (SpaceDot if is_3d(ax) else FlatDot)(ax, colour, size)
    if point is not None:
        made.set(point)
    return made


def label(
    ax: Any, point: ArrayLike, words: str, colour: str = INK, *, size: float = 10
) -> SpaceLabel | FlatLabel:
    """Words at a point (2,) or (3,), dark enough to be read; `set(point, words=None)`.

    In 3D labels move apart where they would cover one another.
    """
    made = (SpaceLabel if is_3d(ax) else FlatLabel)(ax, words, colour, size)
    made.set(point)
    return made


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


# ---- in space -------------------------------------------------------------------------------


class _OnStage:
    """Things on the stage of a 3D axes."""

    def __init__(self, ax: Any, *things: solids.Thing) -> None:
        self.ax, self.things = ax, list(things)
        stage(ax).add(*things)

    @property
    def artists(self) -> list[Artist]:
        """What Matplotlib draws: all that stands on the stage."""
        return stage(self.ax).artists


class SolidArtist(_OnStage):
    """An obstacle, a part or another solid: faces (N, 4, 3) [m], as `plots.solids` makes them.

    `set(quads)` replaces its faces, `place(T)` moves them to pose T (4, 4).

    >>> from course_lib import plots
    >>> fig, ax = plots.space(0.5)
    >>> stone = plots.SolidArtist(ax, plots.solids.ball((0.2, 0, 0.1), 0.08))
    """

    def __init__(
        self, ax: Any, quads: ArrayLike, colour: str = OBSTACLE, *, alpha: float = 1.0
    ) -> None:
        self._solid = solids.Solid(colour=rgba(colour, alpha), quads=np.asarray(quads, float))
        super().__init__(ax, self._solid)

    def set(self, quads: ArrayLike) -> None:
        """Replace its faces by quads (N, 4, 3)."""
        self._solid.quads = np.asarray(quads, float)

    def place(self, T: ArrayLike) -> None:
        """Move it to pose T (4, 4): its faces are in that frame."""
        self._solid.pose = pose_of(T)


class SpaceArrow(_OnStage):
    """A solid arrow. Made by `arrow`."""

    def __init__(self, ax: Any, colour: str, width: float | None, words: str) -> None:
        radius = width if width is not None else _room(ax) / 150
        self._arrow = solids.Arrow(rgba(colour), np.zeros(3), np.zeros(3), radius)
        self._label = solids.Label(colour=rgba(readable(colour)), words=words)
        super().__init__(ax, self._arrow, *([self._label] if words else []))

    def set(self, p0: ArrayLike, p1: ArrayLike) -> None:
        """Lead from p0 to p1 (3,) [m]."""
        p0, p1 = _points(p0, 3), _points(p1, 3)
        self._arrow.point(p0, p1)
        along = (p1 - p0) / max(float(np.linalg.norm(p1 - p0)), 1e-9)
        self._label.point = p1 + 5 * self._arrow.radius * along


class SpaceLine(_OnStage):
    """A line in space. Made by `line`."""

    def __init__(self, ax: Any, colour: str, width: float, dashed: bool) -> None:
        none = np.empty((0, 3))
        self._line = solids.Line(colour=rgba(colour), points=none, width=width, dashed=dashed)
        super().__init__(ax, self._line)

    def set(self, points: ArrayLike) -> None:
        """Lead through points (k, 3) [m]."""
        self._line.points = _points(points, 3).reshape(-1, 3)


class SpaceLabel(_OnStage):
    """Words in space. Made by `label`."""

    def __init__(self, ax: Any, words: str, colour: str, size: float) -> None:
        self._label = solids.Label(colour=rgba(readable(colour)), words=words, size=size)
        super().__init__(ax, self._label)

    def set(self, point: ArrayLike, words: str | None = None) -> None:
        """Stand at point (3,) [m]; say words from now on."""
        self._label.point = _points(point, 3)
        self._label.words = self._label.words if words is None else words


class SpaceDot(_OnStage):
    """A small ball. Made by `dot`."""

    def __init__(self, ax: Any, colour: str, size: float) -> None:
        quads = solids.ball(np.zeros(3), size * _room(ax) / 720, sides=12)
        self._ball = solids.Solid(colour=rgba(colour), quads=quads, shadow=False, front=True)
        super().__init__(ax, self._ball)

    def set(self, point: ArrayLike) -> None:
        """Stand at point (3,) [m]."""
        self._ball.pose = np.eye(4)
        self._ball.pose[:3, 3] = _points(point, 3)


# ---- in the plane ---------------------------------------------------------------------------


class FlatArrow:
    """An arrow in 2D axes. Made by `arrow`."""

    def __init__(self, ax: Any, colour: str, width: float | None, words: str) -> None:
        from matplotlib.patches import FancyArrowPatch

        width = 2 if width is None else width
        style = {"arrowstyle": "-|>", "mutation_scale": 7 + 3.5 * width, "shrinkA": 0, "shrinkB": 0}
        self._patch = FancyArrowPatch(
            (0, 0), (1, 1), color=colour, linewidth=width, zorder=12, visible=False, **style
        )
        ax.add_patch(self._patch)
        self._label = ax.annotate(
            words,
            (0, 0),
            (0, 0),
            textcoords="offset points",
            color=readable(colour),
            ha="center",
            va="center",
            zorder=13,
            visible=False,
        )
        self.artists = [self._patch, self._label]

    def set(self, p0: ArrayLike, p1: ArrayLike) -> None:
        """Lead from p0 to p1 (2,)."""
        p0, p1 = _points(p0, 2), _points(p1, 2)
        length = float(np.linalg.norm(p1 - p0))
        for artist in self.artists:
            artist.set_visible(length > 1e-12)
        if length > 1e-12:
            self._patch.set_positions(p0, p1)
            self._label.xy = p1
            self._label.set_position(12 * (p1 - p0) / length)


class FlatLine:
    """A line in 2D axes. Made by `line`."""

    def __init__(self, ax: Any, colour: str, width: float, dashed: bool) -> None:
        style = {"linestyle": DASHED} if dashed else {"solid_capstyle": "round"}
        (self._line,) = ax.plot([], [], color=colour, linewidth=width, **style)
        self.artists = [self._line]

    def set(self, points: ArrayLike) -> None:
        """Lead through points (k, 2)."""
        self._line.set_data(*_points(points, 2).reshape(-1, 2).T)


class FlatDot:
    """A dot in 2D axes. Made by `dot`."""

    def __init__(self, ax: Any, colour: str, size: float) -> None:
        style = {"color": colour, "ms": size, "mec": "white", "mew": 1, "zorder": 14}
        (self._marker,) = ax.plot([], [], "o", **style)
        self.artists = [self._marker]

    def set(self, point: ArrayLike) -> None:
        """Stand at point (2,)."""
        self._marker.set_data(*_points(point, 2)[:, None])


class FlatLabel:
    """Words in 2D axes. Made by `label`."""

    def __init__(self, ax: Any, words: str, colour: str, size: float) -> None:
        style = {"ha": "center", "va": "center", "weight": "bold", "zorder": 13}
        self._text = ax.text(0, 0, words, color=readable(colour), fontsize=size, **style)
        self.artists = [self._text]

    def set(self, point: ArrayLike, words: str | None = None) -> None:
        """Stand at point (2,); say words from now on."""
        self._text.set_position(_points(point, 2))
        if words is not None:
            self._text.set_text(words)


# ---- in both --------------------------------------------------------------------------------


class AxisLine:
    """A dashed line through a point. Made by `axis_line`."""

    def __init__(self, ax: Any, colour: str, reach: float | tuple[float, float] | None) -> None:
        reach = _room(ax) / 5 if reach is None else reach
        self._reach = (-reach, reach) if np.ndim(reach) == 0 else reach
        self._line = line(ax, colour=colour, width=1.3, dashed=True)

    @property
    def artists(self) -> list[Artist]:
        """What Matplotlib draws."""
        return self._line.artists

    def set(self, point: ArrayLike, direction: ArrayLike) -> None:
        """Go through point, along direction (any length but 0)."""
        direction = np.asarray(direction, float)
        along = direction / np.linalg.norm(direction)
        self._line.set(np.asarray(point, float) + np.outer(self._reach, along))


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
        self.ax, self.length = ax, length
        letter_inks = rgba(colours) if letters else []
        words = [*zip("xyz" if letters else "", letter_inks, 1.17 * np.eye(3))]
        words += [(label, rgba(INK), np.full(3, -0.17))] if label else []
        kind = _SpaceFrame if is_3d(ax) else _FlatFrame
        self._body = kind(ax, length, rgba(colours, alpha), words)
        self.set(np.eye(4) if T is None else T)

    @property
    def artists(self) -> list[Artist]:
        """What Matplotlib draws."""
        return self._body.artists

    def set(self, T: ArrayLike) -> None:
        """Move the frame to pose T (4, 4)."""
        self._body.set(pose_of(T))


class _SpaceFrame(_OnStage):
    """A frame on the stage; words: (word, colour, place in lengths) each."""

    def __init__(self, ax: Any, length: float, colours: np.ndarray, words: list) -> None:
        arrows = [solids.arrow(np.zeros(3), tip, 0.03 * length) for tip in length * np.eye(3)]
        paint = np.repeat(colours, len(arrows[0]), axis=0)
        body = solids.Solid(colour=paint, quads=np.concatenate(arrows), shadow=False, front=True)
        named = [solids.Label(words=w, colour=c, point=length * at) for w, c, at in words]
        super().__init__(ax, body, *named)

    def set(self, T: np.ndarray) -> None:
        for thing in self.things:
            thing.pose = T


class _FlatFrame:
    """A frame in 2D axes: arrows x and y; words: (word, colour, place in lengths) each."""

    def __init__(self, ax: Any, length: float, colours: np.ndarray, words: list) -> None:
        from matplotlib.collections import PolyCollection

        self._length, words = length, [w for w in words if w[0] != "z"]
        body = PolyCollection([], facecolor=colours[:2], edgecolor="none", zorder=12)
        self._body = ax.add_collection(body, autolim=False)
        style = {"fontsize": 10, "ha": "center", "va": "center", "zorder": 13}
        weight = {"x": "normal", "y": "normal"}
        self._texts = [
            ax.text(0, 0, w, color=ink, weight=weight.get(w, "bold"), **style)
            for w, ink, _ in words
        ]
        self._spots = np.array([spot for *_, spot in words]).reshape(-1, 3)
        self.artists = [self._body, *self._texts]

    def set(self, T: np.ndarray) -> None:
        p, R = T[:2, 3], self._length * T[:2, :3]
        self._body.set_verts([_flat_arrow(p, p + R[:, k]) for k in (0, 1)])
        for text, spot in zip(self._texts, p + self._spots @ R.T):
            text.set_position(spot)


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
        k = points if np.ndim(points) == 0 else len(points)
        body = colour or "#B9BEC7"
        style = {"solid_capstyle": "round", "solid_joinstyle": "round", "alpha": alpha}
        (self._edge,) = ax.plot(
            [], [], color=mix(body, "#000000", 0.35), linewidth=width + 2, zorder=9, **style
        )
        (self._link,) = ax.plot(
            [], [], color=mix(body, "#FFFFFF", 0.25), linewidth=width, zorder=9.1, **style
        )
        colours = [colour or JOINT[i % len(JOINT)] for i in range(k - 1)]
        self._joints = ax.scatter(
            np.zeros(k),
            np.zeros(k),
            s=[(1.15 * width) ** 2] * (k - 1) + [(0.62 * width) ** 2],
            color=[*colours, INK],
            edgecolor="white",
            linewidth=1.2,
            alpha=alpha,
            zorder=9.2,
        )
        self.artists = [self._edge, self._link, self._joints]
        self.set(np.zeros((k, 2)) if np.ndim(points) == 0 else points)

    def set(self, points: ArrayLike) -> None:
        """Move the joints, and the tool as the last, to points (k, 2)."""
        points = np.asarray(points, float)[:, :2]
        self._edge.set_data(*points.T)
        self._link.set_data(*points.T)
        self._joints.set_offsets(points)


# ---- inside ---------------------------------------------------------------------------------


def pose_of(T: ArrayLike) -> np.ndarray:
    """T as an array (4, 4), or `ValueError`."""
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


def _flat_arrow(p0: np.ndarray, p1: np.ndarray) -> np.ndarray:
    """Arrow as a polygon (7, 2) from p0 to p1."""
    along = p1 - p0
    across, neck = 0.022 * np.array([-along[1], along[0]]), p0 + 0.72 * along
    right = [p0 - across, neck - across, neck - 3 * across]
    return np.array([*right, p1, neck + 3 * across, neck + across, p0 + across])
