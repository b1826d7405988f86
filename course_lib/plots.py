"""How do all pictures of the course look?  One palette, one style, and artists that can be moved.

Public names: the colours `JOINT`, `AXIS`, `START`, `GOAL`, `OBSTACLE`, `LIMIT`, `WRONG`, `RIGHT`, `INK`, `MUTED`,
`LINK`; `figure`, `space`, `show`, `png`, `limit_lines`; `FrameArtist`, `ArmArtist`, `ChainArtist`, `SolidArtist`.

Figures are made without pyplot, so nothing is shown unless you say `show(fig, alt)`. The same thing has the
same colour everywhere: joint i is JOINT[i], x, y, z axes are AXIS, limits are dashed.
Matplotlib is imported when the first figure is made.
"""

from __future__ import annotations

import base64
import io

import numpy as np

from course_lib import solids
from course_lib.kinematics import link_frames

# After Okabe and Ito; told apart in normal, red-blind and green-blind vision (tests/test_plots.py measures it).
JOINT = ("#0072B2", "#E69F00", "#56B4E9", "#D55E00", "#332288", "#8E2F00", "#222222")
AXIS = ("#D55E00", "#009E73", "#0072B2")  # x, y, z of a frame
START, GOAL, OBSTACLE, LIMIT = "#009E73", "#99337F", "#BBBBBB", "#666666"
RIGHT, WRONG = JOINT[0], JOINT[3]
INK, MUTED, LINK = "#2B2F36", "#6B7280", "#DDE0E5"
DPI, SHARP = 100, 1.5  # pixels an inch on the page; stored pictures have SHARP times more

STYLE = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 10,
    "mathtext.fontset": "dejavusans",
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": "#9AA1AB",
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "figure.titlesize": 11,
    "figure.titleweight": "bold",
    "axes.titlepad": 8,
    "axes.labelsize": 10,
    "axes.linewidth": 0.8,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#E6E8EC",
    "grid.linewidth": 0.8,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "lines.linewidth": 1.8,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "figure.facecolor": "white",
    "image.cmap": "cividis",
}


def figure(nrows=1, ncols=1, size=(7, 3.6), *, equal=False, **subplots):
    """New figure of size [inch] with 2D axes in the house style.

    Returns (fig, ax), or (fig, array of axes) when there is more than one. equal=True: one metre is as long in y
    as in x (for space). Further arguments go to `Figure.subplots` (sharex, width_ratios, …).
    """
    fig = _new(size, layout="constrained")
    axes = fig.subplots(nrows, ncols, **subplots)
    for ax in np.atleast_1d(axes).flat:
        ax.set_prop_cycle(color=JOINT)
        if equal:
            ax.set_aspect("equal", adjustable="box")
    return fig, axes


def space(limit=1.0, size=(6.4, 5.4), *, view=(22, -52), ground=True, beside=0, share=0.6):
    """New figure with a calm 3D axes: equal aspect, metres on all axes, a floor that takes shadows.

    limit    half width [m] of the cube about the origin, or three pairs ((x0, x1), (y0, y1), (z0, z1))
    view     (elevation, azimuth) of the eye [degrees]
    ground   True: the floor is the bottom of the box; a number: its height [m]; False: no floor
    beside   number of 2D axes in a column on the right; the 3D axes then take `share` of the width
    Returns (fig, ax), or (fig, [ax, ax_1, …]) with axes beside.
    """
    limits = np.array(limit, float) if np.ndim(limit) else np.array([[-limit, limit]] * 3, float)
    if limits.shape != (3, 2) or not (limits[:, 0] < limits[:, 1]).all():
        raise ValueError(
            f"limit: {limit!r}, expected a positive half width [m] or three pairs (low, high)"
        )
    fig = _new(size)
    width = share if beside else 1.0
    ax = fig.add_axes((0, 0, width, 1), projection="3d", computed_zorder=False)
    _calm(ax, limits, view)
    _fit(ax, limits, (0.42, 0.5, width * size[0] - 0.72, size[1] - 0.16))
    floor = None if ground is False else limits[2, 0] if ground is True else float(ground)
    if floor is not None:
        _floor(ax, limits, floor)
    ax.solids = solids.Solids(ax, floor)
    if not beside:
        return fig, ax
    grid = fig.add_gridspec(
        beside,
        1,
        left=width + 0.09 * 7 / size[0],
        right=0.975,
        bottom=0.62 / size[1],
        top=1 - 0.4 / size[1],
        hspace=0.5,
    )
    flat = [fig.add_subplot(grid[i]) for i in range(beside)]
    for a in flat:
        a.set_prop_cycle(color=JOINT)
    return fig, [ax, *flat]


def show(fig, alt):
    """Display fig as a PNG with the alternative text alt: a sentence that says what there is to see."""
    from IPython.display import display

    data, metadata = bundle(png(fig), fig.get_size_inches(), alt)
    display(data, raw=True, metadata=metadata)


def bundle(picture, size, alt):
    """A PNG (bytes) of size [inch] and its alternative text as Jupyter takes them: ({mime type: data}, metadata).

    `ValueError` when alt is not a sentence.
    """
    if not isinstance(alt, str) or len(alt.split()) < 3:
        raise ValueError(
            f"alt: {alt!r}, expected a sentence that says what there is to see in the picture"
        )
    alt = " ".join(alt.split())
    width, height = (round(inches * DPI) for inches in size)
    data = {"image/png": base64.b64encode(picture).decode("ascii"), "text/plain": alt}
    return data, {"image/png": {"alt": alt, "width": width, "height": height}}


def readable(colour):
    """The colour, darkened until words in it stand out from white by 4.5 to 1 (WCAG 2, AA)."""
    from matplotlib.colors import to_hex, to_rgb

    luminance = lambda rgb: (
        np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        @ [0.2126, 0.7152, 0.0722]
    )
    rgb = np.array(to_rgb(colour))
    while 1.05 / (luminance(rgb) + 0.05) < 4.5:
        rgb = 0.95 * rgb
    return to_hex(rgb)


def png(fig, sharp=SHARP) -> bytes:
    """fig as PNG bytes, sharp times DPI pixels an inch; the same for the same picture: no date, no program name in it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = fig.canvas if isinstance(fig.canvas, FigureCanvasAgg) else FigureCanvasAgg(fig)
    old, fig.dpi = fig.dpi, DPI * sharp
    try:
        canvas.draw()
        return encode(canvas, store=True)
    finally:
        fig.dpi = old


def encode(canvas, faded=False, store=False) -> bytes:
    """What canvas shows now as PNG bytes: quickly, or, to store, small (256 colours); faded: grey and pale."""
    from PIL import Image

    buffer = canvas.buffer_rgba()
    pixels = Image.frombuffer("RGBA", buffer.shape[1::-1], buffer, "raw", "RGBA", 0, 1).convert(
        "RGB"
    )
    if faded:
        pixels = Image.blend(
            pixels.convert("L").convert("RGB"), Image.new("RGB", pixels.size, "white"), 0.6
        )
    if store:
        pixels = pixels.quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    out = io.BytesIO()
    pixels.save(out, format="PNG", **({"optimize": True} if store else {"compress_level": 1}))
    return out.getvalue()


def limit_lines(ax, *values, axis="y", label=None):
    """Dashed lines at values of the y (or x) axis. Returns the list of lines."""
    draw = ax.axhline if axis == "y" else ax.axvline
    style = {"color": LIMIT, "linestyle": (0, (5, 3)), "linewidth": 1.2, "zorder": 1.5}
    return [draw(v, label=label if i == 0 else None, **style) for i, v in enumerate(values)]


class FrameArtist:
    """A frame as three labelled arrows x, y, z (in 2D axes: x and y). `set(T)` moves it, T (4, 4) T_world_frame.

    length [m] of the arrows; label stands beside the origin; letters=False leaves out the names of the axes.
    """

    def __init__(self, ax, T=None, length=0.1, label="", *, letters=True, colours=AXIS, alpha=1.0):
        self.ax, self.length = ax, length
        self._colours = _rgba(colours, alpha)
        self._names = [*("xyz" if letters else ""), *([label] if label else [])]
        self._inks = _rgba([*(colours if letters else ()), *([INK] if label else [])], 1.0)
        self._spots = np.array(
            [*(1.17 * np.eye(3) if letters else ()), *([np.full(3, -0.17)] if label else [])]
        ).reshape(-1, 3)
        self._flat = None if _is_3d(ax) else _FlatFrame(ax, self._names, self._inks, self._colours)
        arrows = [solids.arrow(np.zeros(3), tip, 0.03 * length) for tip in length * np.eye(3)]
        self._arrows, self._paint = (
            np.concatenate(arrows),
            np.repeat(self._colours, len(arrows[0]), axis=0),
        )
        self.set(np.eye(4) if T is None else T)

    @property
    def artists(self):
        return self._flat.artists if self._flat else _solids(self.ax).artists

    def set(self, T):
        """Move the frame to pose T (4, 4)."""
        T = np.asarray(T, float)
        if T.shape != (4, 4):
            raise ValueError(f"T: shape {T.shape}, expected (4, 4)")
        spots = T[:3, 3] + self.length * self._spots @ T[:3, :3].T
        if self._flat:
            self._flat.set(T[:3, 3], T[:3, 3] + self.length * T[:3, :3].T, spots)
            return
        _solids(self.ax).put(
            self, self._arrows @ T[:3, :3].T + T[:3, 3], self._paint, shadow=False, front=True
        )
        _solids(self.ax).label(self, self._names, spots, self._inks)


class _FlatFrame:
    """A frame in 2D axes: arrows x and y."""

    def __init__(self, ax, names, inks, colours):
        from matplotlib.collections import PolyCollection

        self._body = ax.add_collection(
            PolyCollection([], facecolor=colours[:2], edgecolor="none", zorder=12), autolim=False
        )
        self._texts = [
            ax.text(
                0,
                0,
                "" if name == "z" else name,
                color=ink,
                fontsize=10,
                ha="center",
                va="center",
                zorder=13,
                fontweight="bold" if name not in "xy" else "normal",
            )
            for name, ink in zip(names, inks)
        ]
        self.artists = [self._body, *self._texts]

    def set(self, p, tips, spots):
        self._body.set_verts([_flat_arrow(p[:2], tip[:2]) for tip in tips[:2]])
        for text, spot in zip(self._texts, spots):
            text.set_position(spot[:2])


class ArmArtist:
    """An arm that `set(q)` moves: base, links, joints in their colours, tool; with frames=True every DH frame.

    In a 3D axes links are tubes of the arm's radii; a link with both a and d is drawn as its two DH moves.
    In 2D axes (planar arms) it is a `ChainArtist`. colour paints the whole arm in one colour, alpha < 1 makes
    it a ghost. q (n,) start posture, zeros when left out; frame_length [m]. Another arm with as many joints
    can take its place: set the attribute `arm`, then call `set`.
    """

    def __init__(
        self, ax, arm, q=None, *, frames=False, colour=None, alpha=None, frame_length=None
    ):
        self.ax, self.arm, self.colour = ax, arm, colour
        self.alpha = alpha if alpha is not None else 0.45 if frames and _is_3d(ax) else 1.0
        length = frame_length or 0.14 * float(np.abs(arm.a).sum() + np.abs(arm.d).sum())
        self._chain = (
            None if _is_3d(ax) else ChainArtist(ax, arm.n + 1, colour=colour, alpha=self.alpha)
        )
        self._frames = (
            [FrameArtist(ax, length=length, label=str(i), letters=False) for i in range(arm.n + 1)]
            if frames
            else []
        )
        self._built = None, None
        self.set(np.zeros(arm.n) if q is None else q)

    @property
    def artists(self):
        own = self._chain.artists if self._chain else _solids(self.ax).artists
        return [*own, *(a for f in self._frames for a in f.artists if a not in own)]

    def set(self, q):
        """Move the arm to joint values q (n,) [rad, m]."""
        T = link_frames(self.arm, q)
        if T.ndim != 3:
            raise ValueError(f"q: shape {np.shape(q)}, expected ({self.arm.n},)")
        if self._chain:
            tool = T[-1] @ self.arm.tool
            self._chain.set(np.vstack([T[:-1, :2, 3], tool[None, :2, 3]]))
        else:
            self._set_solid(q, T)
        for frame, pose in zip(self._frames, T):
            frame.set(pose)

    def _set_solid(self, q, T):
        """Build the parts once, with all turning joints at zero, then only move them (anew where a joint slides)."""
        rest = np.where(self.arm.revolute, 0.0, q)
        if self._built[0] is not self.arm or not np.array_equal(self._built[1], rest):
            R = link_frames(self.arm, rest)
            parts = _arm_parts(
                self.arm, R, R[-1] @ self.arm.tool, _solids(self.ax).floor, self.colour
            )
            self._built = self.arm, rest
            self._local = [
                np.concatenate([(x - R[k, :3, 3]) @ R[k, :3, :3] for x, _, k in parts]),
                np.concatenate(
                    [np.repeat(_rgba([c], self.alpha), len(x), axis=0) for x, c, _ in parts]
                ),
                np.concatenate([np.full(len(x), k) for x, _, k in parts]),
            ]
        quads, colours, k = self._local
        _solids(self.ax).put(
            self, quads @ T[k, :3, :3].transpose(0, 2, 1) + T[k, None, :3, 3], colours
        )


class ChainArtist:
    """A planar chain: thick links, joints in their colours, tool. `set(points)` with points (k, 2) [m], base first."""

    def __init__(self, ax, points, *, colour=None, alpha=1.0, width=9):
        k = points if np.ndim(points) == 0 else len(points)
        body = colour or "#B9BEC7"
        line = {"solid_capstyle": "round", "solid_joinstyle": "round", "alpha": alpha}
        (self._edge,) = ax.plot(
            [], [], color=_mix(body, "#000000", 0.35), linewidth=width + 2, zorder=9, **line
        )
        (self._link,) = ax.plot(
            [], [], color=_mix(body, "#FFFFFF", 0.25), linewidth=width, zorder=9.1, **line
        )
        colours = [colour] * (k - 1) if colour else [JOINT[i % len(JOINT)] for i in range(k - 1)]
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
        self.set(np.zeros((k, 2)) if np.ndim(points) == 0 else points)

    @property
    def artists(self):
        return [self._edge, self._link, self._joints]

    def set(self, points):
        """Move the joints, and the tool as the last, to points (k, 2)."""
        points = np.asarray(points, float)[:, :2]
        self._edge.set_data(*points.T)
        self._link.set_data(*points.T)
        self._joints.set_offsets(points)


class SolidArtist:
    """An obstacle or another solid in a 3D axes, made by `course_lib.solids`; `set(quads)` moves it.

    >>> from course_lib import plots, solids
    >>> fig, ax = plots.space(0.5)
    >>> stone = plots.SolidArtist(ax, solids.ball((0.2, 0, 0.1), 0.08))
    """

    def __init__(self, ax, quads, colour=OBSTACLE, *, alpha=1.0):
        self.ax, self._colour = ax, _rgba([colour], alpha)
        self.set(quads)

    @property
    def artists(self):
        return _solids(self.ax).artists

    def set(self, quads):
        """Replace its faces by quads (N, 4, 3)."""
        _solids(self.ax).put(self, np.asarray(quads, float), self._colour)


# ---- inside -------------------------------------------------------------------------------------------------


def _new(size, **options):
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    matplotlib.rcParams.update(STYLE)
    fig = Figure(figsize=size, dpi=DPI, **options)
    FigureCanvasAgg(fig)
    return fig


def _calm(ax, limits, view):
    """Quiet panes, few ticks, units, equal aspect."""
    ax.set(
        xlim=limits[0],
        ylim=limits[1],
        zlim=limits[2],
        xlabel="x [m]",
        ylabel="y [m]",
        zlabel="z [m]",
    )
    ax.set_box_aspect(np.ptp(limits, axis=1))
    ax.set_proj_type("persp", focal_length=1.3)
    ax.view_init(*view)
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_pane_color("#FFFFFF")
        axis.pane.set_edgecolor("#D9DCE1")
        axis.pane.set_closed(True)
        axis.line.set_color("#C4C9D1")
        axis.set_major_locator(_locator())
        axis.labelpad = 0
    ax.tick_params(labelsize=8, pad=0)


def _fit(ax, limits, area):
    """Place the axes so that its box just fills area (left, bottom, right, top) [inch]; ticks and labels stand outside."""
    from itertools import product

    corners = np.array([(*c, 1) for c in product(*limits)]) @ ax.get_proj().T
    ax.apply_aspect()
    spot = ax.transAxes.inverted().transform(
        ax.transData.transform(corners[:, :2] / corners[:, 3:])
    )
    low, high = spot.min(axis=0), spot.max(axis=0)
    area = np.reshape(area, (2, 2))
    side = np.min((area[1] - area[0]) / (high - low))
    corner = area.mean(axis=0) - side * (low + high) / 2
    ax.set_position(
        (*(corner / ax.figure.get_size_inches()), *(side / ax.figure.get_size_inches()))
    )


def _locator():
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(nbins=6, steps=[1, 2, 5, 10], prune="both")


def _floor(ax, limits, height):
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    (x0, x1), (y0, y1) = limits[:2]
    corners = [[(x0, y0, height), (x1, y0, height), (x1, y1, height), (x0, y1, height)]]
    ax.add_collection3d(
        Poly3DCollection(
            corners, facecolor="#F1F2F4", edgecolor="#D9DCE1", linewidth=0.8, zorder=0.1
        ),
        autolim=False,
    )


def _is_3d(ax):
    return hasattr(ax, "get_zlim")


def _solids(ax):
    """The solids of a 3D axes (made by `space`, or now)."""
    if not hasattr(ax, "solids"):
        ax.computed_zorder = False
        ax.solids = solids.Solids(ax)
    return ax.solids


def _rgba(colours, alpha):
    from matplotlib.colors import to_rgba_array

    return to_rgba_array(list(colours), alpha)


def _mix(colour, other, share):
    a, b = _rgba([colour, other], 1.0)
    return tuple((1 - share) * a[:3] + share * b[:3])


def _flat_arrow(p0, p1):
    """Arrow as a polygon (7, 2) from p0 to p1."""
    along = p1 - p0
    across, neck = 0.022 * np.array([-along[1], along[0]]), p0 + 0.72 * along
    return np.array(
        [
            p0 - across,
            neck - across,
            neck - 3 * across,
            p1,
            neck + 3 * across,
            neck + across,
            p0 + across,
        ]
    )


def _arm_parts(arm, T, tool, floor, colour):
    """Each part of an arm whose frames are T (n+1, 4, 4): its quads, colour, and the frame it is fixed to."""
    link, dark = (colour or LINK), (colour or "#4A515C")
    base, up, r = T[0, :3, 3], T[0, :3, 2], arm.radius[0]
    parts = [(solids.tube(base - 0.4 * r * up, base, 1.4 * r, sides=20, rings=3), dark, 0)]
    if floor is not None and up[2] > 0.99 and base[2] - floor > 0.4 * r:
        parts.append(
            (
                solids.tube([*base[:2], floor], base - 0.4 * r * up, 0.9 * r, pieces=6),
                colour or "#C4C8CF",
                0,
            )
        )
    drums = _drums(arm, T)
    for i in range(arm.n):
        k = i if arm.convention == "standard" else i + 1
        carrier = (
            i + 1 if arm.convention == "standard" else i
        )  # the frame that the bridge of the row turns with
        parts += [(piece, link, carrier) for piece in _link(arm, T, i, drums)]
        parts.append(
            (_joint(T[k], drums[i], arm.joint_types[i]), colour or JOINT[i % len(JOINT)], k)
        )
    parts += [(piece, dark, arm.n) for piece in _tool(T[-1], tool, arm.radius[-1])]
    return [part for part in parts if len(part[0])]


def _drums(arm, T):
    """Centre, axis, half height and radius of each joint's drum. A drum with room along its d moves out of others' way."""
    standard = arm.convention == "standard"
    drums = [None] * arm.n
    for i in sorted(
        range(arm.n), key=lambda i: abs(_along(T, i, standard)) > 1e-9
    ):  # those without d first
        pose, d, r = T[i if standard else i + 1], _along(T, i, standard), arm.radius[i]
        p, z = pose[:3, 3], pose[:3, 2]
        if abs(d) < 1e-9:
            drums[i] = (p, z, 1.1 * r, r)
            continue
        p, u = (p if standard else p - d * z), np.sign(d) * z  # from the bridge before, along d
        near, far = (
            max([0.0, *(o[3] for o in drums if o and np.linalg.norm(o[0] - spot) < 1e-6)])
            for spot in (p, p + abs(d) * u)
        )
        half = min(1.1 * r, max((abs(d) - 0.95 * (near + far)) / 2, 0.3 * r))
        drums[i] = (p + (0.95 * near + half) * u, z, half, r)
    return drums


def _along(T, i, standard):
    """How far link i goes along its joint's axis: its d [m]."""
    return (T[i, :3, 2] if standard else T[i + 1, :3, 2]) @ (T[i + 1, :3, 3] - T[i, :3, 3])


def _link(arm, T, i, drums):
    """Link i as one or two tubes: along d, then along a (standard), or a, then d (modified)."""
    standard = arm.convention == "standard"
    start, end, d = T[i, :3, 3], T[i + 1, :3, 3], _along(T, i, standard)
    corner = start + d * T[i, :3, 2] if standard else end - d * T[i + 1, :3, 2]
    width = 0.7 * arm.radius[i]
    pieces = []
    for a, b in ((start, corner), (corner, end)):
        length = np.linalg.norm(b - a)
        if length < 1e-9:
            continue
        u = (b - a) / length
        a_cut, b_cut = (
            max(
                [
                    0.0,
                    *(
                        0.75 * r
                        for c, z, _, r in drums
                        if np.linalg.norm(c - p) < 1e-6 and abs(u @ z) < 0.9
                    ),
                ]
            )
            for p in (a, b)
        )
        if a_cut + b_cut < length:
            pieces.append(solids.tube(a + a_cut * u, b - b_cut * u, width))
        if not b_cut and not (i == arm.n - 1 and np.allclose(b, end)):
            pieces.append(solids.ball(b, width, sides=12))
    return pieces


def _joint(pose, drum, kind):
    """A drum about the joint's axis; a block where the joint slides."""
    centre, z, half, r = drum
    if kind == "prismatic":
        return solids.box(pose, (1.9 * r, 1.9 * r, 2.4 * r), pieces=2)
    return solids.tube(centre - half * z, centre + half * z, r, sides=18, pieces=2)


def _tool(last, tool, r):
    """Two fingers whose tips stand at the tool point."""
    p, y, z = tool[:3, 3], tool[:3, 1], tool[:3, 2]
    pieces = []
    if np.linalg.norm(p - last[:3, 3]) > 2 * r:
        pieces.append(solids.tube(last[:3, 3], p - 1.4 * r * z, 0.6 * r))
    pose = np.array(tool)
    pose[:3, 3] = p - 1.15 * r * z
    pieces.append(solids.box(pose, (0.9 * r, 2.3 * r, 0.5 * r), pieces=2))
    for side in (-0.95, 0.95):
        pose[:3, 3] = p - 0.45 * r * z + side * r * y
        pieces.append(solids.box(pose, (0.6 * r, 0.35 * r, 0.9 * r), pieces=1))
    return pieces
