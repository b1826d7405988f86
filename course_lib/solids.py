"""How is a solid arm drawn?  Tubes, balls, boxes and arrows as shaded quadrilaterals.

Public names: `tube`, `ball`, `box`, `arrow`, `Solids`.

Matplotlib has no hidden surfaces. `Solids` holds everything solid in one 3D axes, leaves out the faces
that look away, and draws the rest from far to near. Each shape is an array (N, 4, 3) of corners [m],
counter-clockwise seen from outside.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

LIGHT = np.array([0.35, -0.55, 0.76])  # towards the lamp, in the world


def tube(p0, p1, radius, *, radius1=None, sides=12, pieces=None, rings=1) -> np.ndarray:
    """Closed tube from p0 to p1 (3,), radius [m] at p0 and radius1 at p1. Returns (N, 4, 3).

    It is cut into pieces along its length and its lids into rings, since long faces are hard to order by depth.
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
    return np.concatenate(
        [_quads(grid), *_lid(grid[0, ::-1], p0, rings), *_lid(grid[-1], p1, rings)]
    )


def ball(centre, radius, *, sides=24) -> np.ndarray:
    """Sphere about centre (3,) with radius [m]. Returns (N, 4, 3)."""
    angle, height = (
        np.linspace(0, 2 * np.pi, sides + 1),
        np.linspace(-np.pi / 2, np.pi / 2, sides // 2 + 1),
    )
    grid = np.stack(
        np.broadcast_arrays(
            np.cos(height)[:, None] * np.cos(angle),
            np.cos(height)[:, None] * np.sin(angle),
            np.sin(height)[:, None],
        ),
        axis=-1,
    )
    return np.asarray(centre, float) + radius * _quads(grid)


def box(T, size, *, pieces=3) -> np.ndarray:
    """Box of size (3,) [m] about pose T (4, 4); each face in pieces x pieces. Returns (N, 4, 3)."""
    s = np.linspace(-0.5, 0.5, pieces + 1)
    u, v = np.meshgrid(s, s)
    w = np.full_like(u, 0.5)
    faces = [
        np.stack(f, -1)
        for f in ((w, u, v), (-w, v, u), (v, w, u), (u, -w, v), (u, v, w), (v, u, -w))
    ]
    corners = np.concatenate([_quads(f) for f in faces]) * np.asarray(size, float)
    T = np.asarray(T, float)
    return corners @ T[:3, :3].T + T[:3, 3]


def arrow(p0, p1, radius) -> np.ndarray:
    """Arrow from p0 to p1 (3,) whose shaft has radius [m]. Returns (N, 4, 3)."""
    p0, p1 = np.asarray(p0, float), np.asarray(p1, float)
    neck = p0 + 0.72 * (p1 - p0)
    return np.concatenate(
        [
            tube(p0, neck, radius, sides=6),
            tube(neck, p1, 2.6 * radius, radius1=0, sides=8, pieces=1),
        ]
    )


class Solids:
    """All solids and labels of one 3D axes. `floor`: height [m] of the plane that takes the shadows, or None.

    `put(key, …)` and `label(key, …)` add or replace a part, `remove(key)` takes it away; `artists` draw it all.
    """

    def __init__(self, ax, floor=None):
        from matplotlib.collections import PathCollection, PolyCollection

        self.ax, self.floor, self._parts, self._labels = ax, floor, {}, {}
        self.shadow = PolyCollection(
            [], facecolor="#D5D7DB", edgecolor="#D5D7DB", linewidth=0.4, zorder=0.2
        )
        self.body = PolyCollection([], linewidth=0.5, zorder=10)
        self.halo = PathCollection(
            [], edgecolor="white", facecolor="white", linewidth=2.2, zorder=11
        )
        self.letters = PathCollection([], edgecolor="none", zorder=12)
        projections = (
            self._project_shadow,
            self._project_body,
            self._project_labels,
            self._project_labels,
        )
        for collection, project in zip(self.artists, projections):
            collection.do_3d_projection = (
                project  # Axes3D asks each collection for this before it draws
            )
            collection.set_clip_on(False)
            ax.add_collection(collection, autolim=False)
        for collection in (self.halo, self.letters):
            collection.set_offset_transform(ax.transData)

    @property
    def artists(self):
        return [self.shadow, self.body, self.halo, self.letters]

    def put(self, key, quads, colours, *, shadow=True, front=False):
        """Part `key`: quads (N, 4, 3) [m], colours (4,) or (N, 4) rgba. front=True: drawn before all that is not."""
        normal = _cross(quads[:, 2] - quads[:, 0], quads[:, 3] - quads[:, 1])
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
        light = 0.60 + 0.48 * (normal @ LIGHT)
        rgba = np.array(np.broadcast_to(colours, (len(quads), 4)), float)
        rgba[:, :3] = (
            rgba[:, :3] * np.minimum(light, 1)[:, None]
            + 2.2 * np.maximum(light - 1, 0)[:, None]
            + 0.1 * (1 - rgba[:, :3])
        )
        below = quads[normal[:, 2] > 1e-6] if shadow and self.floor is not None else quads[:0]
        self._parts[key] = (quads, np.clip(rgba, 0, 1), np.full(len(quads), front), below)
        self._joined = None

    def label(self, key, strings, points, colours, size=10):
        """Labels of part `key`: strings centred on points (k, 3) in colours (k, 4), size [pt]."""
        self._labels[key] = ([_glyphs(s, size) for s in strings], points, colours)

    def remove(self, key):
        """Take part `key` away, with its labels."""
        self._parts.pop(key, None)
        self._labels.pop(key, None)
        self._joined = None

    def _flatten(self, points):
        """Points (..., 3) on the screen: (..., 3) with x, y and depth (larger is farther)."""
        M = self.ax.M if getattr(self.ax, "M", None) is not None else self.ax.get_proj()
        h = points @ M[:, :3].T + M[:, 3]
        return h[..., :3] / h[..., 3:]

    def _join(self):
        if self._joined is None:
            self._joined = [np.concatenate(p) for p in zip(*self._parts.values())]
        return self._joined

    def _project_body(self):
        if not self._parts:
            self.body.set_verts([])
            return 0.0
        quads, rgba, front, _ = self._join()
        flat = self._flatten(quads)
        d1, d2 = flat[:, 2, :2] - flat[:, 0, :2], flat[:, 3, :2] - flat[:, 1, :2]
        seen = np.flatnonzero(d1[:, 0] * d2[:, 1] - d1[:, 1] * d2[:, 0] > 0)
        order = seen[np.lexsort((-flat[seen, :, 2].mean(axis=1), front[seen]))]
        self.body.set_verts(flat[order, :, :2])
        self.body.set_facecolor(rgba[order])
        self.body.set_edgecolor(
            np.where(rgba[order, 3:] > 0.99, rgba[order], 0)
        )  # closes the seams between faces
        return 0.0

    def _project_shadow(self):
        quads = self._join()[3].copy() if self._parts else np.empty((0, 4, 3))
        quads[..., 2] = self.floor or 0.0
        self.shadow.set_verts(self._flatten(quads)[..., :2])
        return 0.0

    def _project_labels(self):
        from matplotlib.transforms import Affine2D

        if self._labels:
            paths, points, colours = zip(*self._labels.values())
            spots = self._flatten(np.concatenate(points))[:, :2]
            paths = sum(paths, [])
        else:
            paths, spots, colours = [], np.empty((0, 2)), [np.empty((0, 4))]
        for collection in (self.halo, self.letters):
            collection.set_paths(paths)
            collection.set_offsets(spots)
            collection.set_transform(Affine2D().scale(self.ax.get_figure(root=True).dpi / 72))
        self.letters.set_facecolor(np.concatenate(colours))
        return 0.0


@lru_cache(maxsize=256)
def _glyphs(string, size):
    """Outline of a string centred on the origin [pt]."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.path import Path
    from matplotlib.textpath import TextPath

    weight = "normal" if string in ("x", "y", "z") else "bold"
    path = TextPath(
        (0, 0), string, size=size, prop=FontProperties(family="DejaVu Sans", weight=weight)
    )
    box = path.get_extents()
    return Path(path.vertices - [(box.x0 + box.x1) / 2, 0.36 * size], path.codes)


def _cross(a, b):
    """Cross products of rows (N, 3), without the overhead of np.cross."""
    return np.stack(
        [
            a[:, 1] * b[:, 2] - a[:, 2] * b[:, 1],
            a[:, 2] * b[:, 0] - a[:, 0] * b[:, 2],
            a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0],
        ],
        axis=1,
    )


def _across(axis):
    """Two unit vectors that make a right-handed frame u, v, axis."""
    u = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    u /= np.linalg.norm(u)
    return u, np.cross(axis, u)


def _quads(grid):
    """Grid (m, k, 3) of points as ((m-1)(k-1), 4, 3) quadrilaterals."""
    return np.stack([grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]], axis=2).reshape(
        -1, 4, 3
    )


def _lid(circle, centre, rings):
    """Disc inside a closed circle (k+1, 3), k even: rings about a middle whose faces take two steps of the circle."""
    scale = np.linspace(1 / rings, 1, rings)[:, None, None]
    grid = centre + scale * (circle - centre)
    inner = grid[0]
    middle = np.stack(
        [np.broadcast_to(centre, inner[:-1:2].shape), inner[:-1:2], inner[1::2], inner[2::2]],
        axis=1,
    )
    return middle, _quads(grid)[:, ::-1]
