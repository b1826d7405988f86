"""What stands in space?  Shapes of quadrilaterals, things with a pose, the stage that draws them.

Public names: `tube`, `ball`, `box`, `arrow` (shapes); `Solid`, `Line`, `Arrow`, `Label` (things);
`Stage`; `moved_apart`.

A shape is an array (N, 4, 3) of corners [m], counter-clockwise seen from outside. A thing has a
geometry in a frame of its own, a colour and a pose, and knows no renderer. `Stage` draws the things
of one 3D axes with Matplotlib; another renderer needs only the same list, `Stage.things`.

Matplotlib has no hidden surfaces: the stage leaves out the faces that look away and draws the rest
from far to near, then the lines, then the labels, moved apart where they would cover one another.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from mpl_toolkits.mplot3d import Axes3D

LIGHT = np.array([0.35, -0.55, 0.76])  # towards the lamp, in the world
SHADOW = "#D5D7DB"
DASHES = (4.0, 2.5)  # [line widths]
SEAM = 0.25  # [pt] by which faces overlap, so that nothing shines through between them
RING = [1, 2, 2, 2, 79]  # Matplotlib's codes: move, line, line, line, close


# ---- shapes ---------------------------------------------------------------------------------


def tube(
    p0: ArrayLike,
    p1: ArrayLike,
    radius: float,
    *,
    radius1: float | None = None,
    sides: int = 12,
    pieces: int | None = None,
    rings: int = 1,
) -> np.ndarray:
    """Closed tube from p0 to p1 (3,), radius [m] at p0 and radius1 at p1. Returns (N, 4, 3).

    It is cut into pieces along its length and its lids into rings: long faces are hard to order
    by depth.
    """
    p0, p1 = np.asarray(p0, float), np.asarray(p1, float)
    length = np.linalg.norm(p1 - p0)
    if length < 1e-9:
        return np.empty((0, 4, 3))
    radius1 = radius if radius1 is None else radius1
    if pieces is None:
        pieces = int(np.clip(np.ceil(length / (1.8 * max(radius, radius1))), 1, 8))
    u, v = _across((p1 - p0) / length)
    angle = np.linspace(0, 2 * np.pi, sides + 1)
    circle = np.cos(angle)[:, None] * u + np.sin(angle)[:, None] * v  # (sides+1, 3)
    s = np.linspace(0, 1, pieces + 1)[:, None, None]
    grid = p0 + s * (p1 - p0) + (radius + s * (radius1 - radius)) * circle  # (pieces+1, sides+1, 3)
    lids = *_lid(grid[0, ::-1], p0, rings), *_lid(grid[-1], p1, rings)
    return np.concatenate([_quads(grid), *lids])


def ball(centre: ArrayLike, radius: float, *, sides: int = 24) -> np.ndarray:
    """Sphere about centre (3,) with radius [m]. Returns (N, 4, 3)."""
    angle = np.linspace(0, 2 * np.pi, sides + 1)
    height = np.linspace(-np.pi / 2, np.pi / 2, sides // 2 + 1)[:, None]
    parts = np.cos(height) * np.cos(angle), np.cos(height) * np.sin(angle), np.sin(height)
    grid = np.stack(np.broadcast_arrays(*parts), axis=-1)
    return np.asarray(centre, float) + radius * _quads(grid)


def box(T: ArrayLike, size: ArrayLike, *, pieces: int = 3) -> np.ndarray:
    """Box of size (3,) [m] about pose T (4, 4); each face in pieces x pieces. Returns (N, 4, 3)."""
    s = np.linspace(-0.5, 0.5, pieces + 1)
    u, v = np.meshgrid(s, s)
    w = np.full_like(u, 0.5)
    faces = ((w, u, v), (-w, v, u), (v, w, u), (u, -w, v), (u, v, w), (v, u, -w))
    corners = np.concatenate([_quads(np.stack(f, -1)) for f in faces]) * np.asarray(size, float)
    T = np.asarray(T, float)
    return corners @ T[:3, :3].T + T[:3, 3]


def arrow(p0: ArrayLike, p1: ArrayLike, radius: float) -> np.ndarray:
    """Arrow from p0 to p1 (3,) whose shaft has radius [m]. Returns (N, 4, 3)."""
    p0, p1 = np.asarray(p0, float), np.asarray(p1, float)
    neck = p0 + 0.72 * (p1 - p0)
    shaft = tube(p0, neck, radius, sides=6)
    return np.concatenate([shaft, tube(neck, p1, 2.6 * radius, radius1=0, sides=8, pieces=1)])


# ---- things ---------------------------------------------------------------------------------


@dataclass(eq=False, kw_only=True)
class Thing:
    """What has a place in space: pose (4, 4) of its own frame in the world, colour as RGBA."""

    colour: np.ndarray
    pose: np.ndarray = field(default_factory=lambda: np.eye(4))


@dataclass(eq=False, kw_only=True)
class Solid(Thing):
    """A shape: quads (N, 4, 3) [m]; colour (4,), or (N, 4) of each face.

    shadow: whether it throws one; front: whether it is drawn before all that is not.
    """

    quads: np.ndarray
    shadow: bool = True
    front: bool = False


@dataclass(eq=False, kw_only=True)
class Line(Thing):
    """A line through points (k, 3) [m], width [pt] wide."""

    points: np.ndarray
    width: float = 2.0
    dashed: bool = False


class Arrow(Solid):
    """An arrow from tail to tip (3,), its shaft with radius [m]; none where both are one point."""

    def __init__(self, colour: np.ndarray, tail: ArrayLike, tip: ArrayLike, radius: float) -> None:
        super().__init__(colour=colour, quads=np.empty((0, 4, 3)), shadow=False, front=True)
        self.radius = radius
        self.point(tail, tip)

    def point(self, tail: ArrayLike, tip: ArrayLike) -> None:
        """Lead from tail to tip (3,) from now on."""
        self.tail, self.tip = np.asarray(tail, float), np.asarray(tip, float)
        self.quads = arrow(self.tail, self.tip, self.radius)


@dataclass(eq=False, kw_only=True)
class Label(Thing):
    """Words centred on a point (3,) [m], in letters of size [pt]."""

    words: str
    point: np.ndarray = field(default_factory=lambda: np.zeros(3))
    size: float = 10.0


# ---- the stage ------------------------------------------------------------------------------


class Stage:
    """All things of one 3D axes, drawn with Matplotlib by `artists`, a fixed list.

    floor: height [m] of the plane that takes the shadows, or None. `add` and `remove` things; to
    move one set its pose, to change one set its geometry to a new array.
    """

    def __init__(self, ax: Axes3D, floor: float | None = None) -> None:
        from matplotlib.collections import LineCollection, PathCollection, PolyCollection
        from matplotlib.patheffects import withStroke
        from matplotlib.transforms import IdentityTransform

        self.ax, self.floor, self.things = ax, floor, []
        halo = withStroke(linewidth=2.2, foreground="white")
        pixels = {"transform": IdentityTransform(), "edgecolor": "none"}
        self.shadow = PathCollection([], facecolor=SHADOW, zorder=0.2, **pixels)
        self.body = PolyCollection([], zorder=10, **pixels)
        self.lines = LineCollection([], zorder=10.5, capstyle="round", joinstyle="round")
        self.letters = PathCollection([], edgecolor="none", zorder=12, path_effects=[halo])
        self.artists: list[Artist] = []
        self._kept: tuple[list, Any] = [], None
        self._attach()

    def _attach(self) -> None:
        """Axes3D asks each collection for its `do_3d_projection` before it draws."""
        for collection, project in (
            (self.shadow, self._project_shadow),
            (self.body, self._project_body),
            (self.lines, self._project_lines),
            (self.letters, self._project_labels),
        ):
            collection.do_3d_projection = project
            collection.set_clip_on(False)
            self.ax.add_collection(collection, autolim=False)
            self.artists.append(collection)
        self.letters.set_offset_transform(self.ax.transData)

    def add(self, *things: Thing) -> None:
        """Draw these, too."""
        self.things.extend(things)

    def remove(self, *things: Thing) -> None:
        """Draw these no more."""
        self.things = [t for t in self.things if not any(t is other for other in things)]

    def flatten(self, points: np.ndarray) -> np.ndarray:
        """Points (..., 3) on the screen: (..., 3) with x, y and depth (larger is farther)."""
        M = self.ax.M if getattr(self.ax, "M", None) is not None else self.ax.get_proj()
        h = points @ M[:, :3].T + M[:, 3]
        return h[..., :3] / h[..., 3:]

    def faces(self, *solids: Solid) -> np.ndarray:
        """Where the faces of solids (default: all) stand in the world: (N, 4, 3)."""
        return _world([(s.quads, s) for s in solids or self._of(Solid)], (0, 4, 3))

    def _of(self, kind: type) -> list:
        return [thing for thing in self.things if isinstance(thing, kind)]

    def _join(self, solids: list[Solid]) -> tuple[np.ndarray, ...]:
        """Own normals, colours, shadow and front of all faces; kept as long as they stay."""
        parts = [part for s in solids for part in (s.quads, s.colour)]
        old, joined = self._kept
        if joined is None or len(old) != len(parts) or any(a is not b for a, b in zip(old, parts)):
            each = [len(s.quads) for s in solids]
            paint = [np.broadcast_to(s.colour, (k, 4)) for s, k in zip(solids, each)]
            joined = (
                _normals(np.concatenate([np.empty((0, 4, 3)), *(s.quads for s in solids)])),
                np.concatenate([np.empty((0, 4)), *paint]),
                np.repeat([s.shadow for s in solids], each).astype(bool),
                np.repeat([s.front for s in solids], each).astype(bool),
            )
            self._kept = parts, joined
        return joined

    def _turned(self, normals: np.ndarray, solids: list[Solid]) -> np.ndarray:
        """Normals (N, 3) in the world."""
        out, at = np.empty_like(normals), 0
        for s in solids:
            part = slice(at, at + len(s.quads))
            out[part], at = normals[part] @ s.pose[:3, :3].T, part.stop
        return out

    def _project_body(self) -> float:
        solids = self._of(Solid)
        normals, colours, _, front = self._join(solids)
        if not len(normals):
            self.body.set_verts([])
            return 0.0
        flat = self.flatten(self.faces(*solids))
        d1, d2 = flat[:, 2, :2] - flat[:, 0, :2], flat[:, 3, :2] - flat[:, 1, :2]
        seen = np.flatnonzero(d1[:, 0] * d2[:, 1] - d1[:, 1] * d2[:, 0] > 0)
        order = seen[np.lexsort((-flat[seen, :, 2].mean(axis=1), front[seen]))]
        rgba = _lit(colours[order], self._turned(normals, solids)[order])
        quads = self._on_screen(flat[order])
        opaque = (rgba[:, 3] > 0.99)[:, None, None]
        self.body.set_verts(quads + SEAM * self._dpi() / 72 * opaque * _outwards(quads))
        self.body.set_facecolor(rgba)
        return 0.0

    def _on_screen(self, flat: np.ndarray) -> np.ndarray:
        """Flattened points (..., 3) in pixels (..., 2)."""
        pixels = self.ax.transData.transform(flat[..., :2].reshape(-1, 2))
        return pixels.reshape(*flat.shape[:-1], 2)

    def _dpi(self) -> float:
        return self.ax.get_figure(root=True).dpi

    def _project_shadow(self) -> float:
        from matplotlib.path import Path

        solids = self._of(Solid)
        normals, _, shadow, _ = self._join(solids)
        if self.floor is None or not shadow.any():
            self.shadow.set_paths([])
            return 0.0
        up = shadow & (self._turned(normals, solids)[:, 2] > 1e-6)
        quads = self.faces(*solids)[up]
        quads[..., 2] = self.floor
        quads = self._on_screen(self.flatten(quads))
        around = np.concatenate([quads, quads[:, :1]], axis=1).reshape(-1, 2)
        self.shadow.set_paths([Path(around, np.tile(RING, len(quads)))])  # one: no seams in it
        return 0.0

    def _project_lines(self) -> float:
        lines = self._of(Line)
        ways = [self.flatten(_placed(line.points, line))[:, :2] for line in lines]
        self.lines.set_segments(ways)
        self.lines.set_color([line.colour for line in lines])
        self.lines.set_linewidth([line.width for line in lines])
        self.lines.set_linestyle([(0, DASHES) if line.dashed else "solid" for line in lines])
        return 0.0

    def _project_labels(self) -> float:
        from matplotlib.transforms import Affine2D

        labels = self._of(Label)
        scale = self._dpi() / 72
        paths = [_glyphs(label.words, label.size) for label in labels]
        spots = np.array([self.flatten(_placed(label.point, label))[:2] for label in labels])
        if len(labels) > 1:
            to_pixels = self.ax.transData
            sizes = np.array([np.ptp(path.vertices, axis=0) for path in paths]) + 2.0
            apart = moved_apart(to_pixels.transform(spots) / scale, sizes)
            spots = to_pixels.inverted().transform(scale * apart)
        self.letters.set_paths(paths)
        self.letters.set_offsets(spots.reshape(-1, 2))
        self.letters.set_transform(Affine2D().scale(scale))
        self.letters.set_facecolor([label.colour for label in labels])
        return 0.0


def moved_apart(spots: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Centres (k, 2) of labels with sizes (k, 2), moved until they no longer overlap.

    Each round pushes every pair that overlaps apart the short way, by half of what is needed; two
    on one spot go up and down. Ends after 60 rounds at the latest.

    >>> moved_apart(np.zeros((2, 2)), np.full((2, 2), 10.0)).round(1).tolist()
    [[0.0, -5.0], [0.0, 5.0]]
    """
    spots, half = np.array(spots, float), (sizes[:, None] + sizes) / 2
    order = np.sign(np.arange(len(spots))[:, None] - np.arange(len(spots)))
    for _ in range(60):
        gap = spots[:, None] - spots
        overlap = half - np.abs(gap)
        hit = (overlap > 1e-3).all(axis=-1)
        np.fill_diagonal(hit, False)
        if not hit.any():
            break
        sideways = (overlap[..., 0] < overlap[..., 1])[..., None] == [True, False]
        sign = np.where(np.abs(gap) > 1e-6, np.sign(gap), order[..., None])
        push = np.where(hit[..., None] & sideways, 0.5 * overlap * sign, 0.0)
        spots += push.sum(axis=1) / np.maximum(hit.sum(axis=1), 1)[:, None]
    return spots


def _placed(points: np.ndarray, thing: Thing) -> np.ndarray:
    return points @ thing.pose[:3, :3].T + thing.pose[:3, 3]


def _world(parts: list[tuple[np.ndarray, Thing]], empty: tuple[int, ...]) -> np.ndarray:
    return np.concatenate([np.empty(empty), *(_placed(x, thing) for x, thing in parts)])


def _normals(quads: np.ndarray) -> np.ndarray:
    """Unit normals (N, 3) of faces."""
    n = _cross(quads[:, 2] - quads[:, 0], quads[:, 3] - quads[:, 1])
    return n / np.maximum(np.linalg.norm(n, axis=1, keepdims=True), 1e-12)


def _outwards(quads: np.ndarray) -> np.ndarray:
    """How corners (N, 4, 2) move when each edge of a face, counter-clockwise, moves out by one."""
    along = np.roll(quads, -1, axis=1) - quads
    along /= np.maximum(np.hypot(along[..., 0], along[..., 1]), 1e-9)[..., None]
    normal = np.stack([along[..., 1], -along[..., 0]], axis=-1)
    before = np.roll(normal, 1, axis=1)
    return (normal + before) / np.maximum(1 + (normal * before).sum(-1, keepdims=True), 0.5)


def _lit(colours: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """Colours (N, 4) as the lamp shows them on faces with these normals."""
    light = 0.60 + 0.48 * (normals @ LIGHT)[:, None]
    rgb = colours[:, :3]
    rgb = rgb * np.minimum(light, 1) + 2.2 * np.maximum(light - 1, 0) + 0.1 * (1 - rgb)
    return np.clip(np.hstack([rgb, colours[:, 3:]]), 0, 1)


@lru_cache(maxsize=256)
def _glyphs(string: str, size: float) -> Any:
    """Outline of a string centred on the origin [pt]."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.path import Path
    from matplotlib.textpath import TextPath

    weight = "normal" if string in ("x", "y", "z") else "bold"
    font = FontProperties(family="DejaVu Sans", weight=weight)
    path = TextPath((0, 0), string, size=size, prop=font)
    extent = path.get_extents()
    return Path(path.vertices - [(extent.x0 + extent.x1) / 2, 0.36 * size], path.codes)


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cross products of rows (N, 3), without the overhead of np.cross."""
    (a0, a1, a2), (b0, b1, b2) = a.T, b.T
    return np.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], axis=1)


def _across(axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two unit vectors that make a right-handed frame u, v, axis."""
    u = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    u /= np.linalg.norm(u)
    return u, np.cross(axis, u)


def _quads(grid: np.ndarray) -> np.ndarray:
    """Grid (m, k, 3) of points as ((m-1)(k-1), 4, 3) quadrilaterals."""
    corners = [grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]]
    return np.stack(corners, axis=2).reshape(-1, 4, 3)


def _lid(circle: np.ndarray, centre: np.ndarray, rings: int) -> tuple[np.ndarray, np.ndarray]:
    """Disc inside a closed circle (k+1, 3), k even.

    Rings about a middle whose faces take two steps of the circle.
    """
    scale = np.linspace(1 / rings, 1, rings)[:, None, None]
    grid = centre + scale * (circle - centre)
    inner = grid[0]
    corners = [np.broadcast_to(centre, inner[:-1:2].shape), inner[:-1:2], inner[1::2], inner[2::2]]
    return np.stack(corners, axis=1), _quads(grid)[:, ::-1]
