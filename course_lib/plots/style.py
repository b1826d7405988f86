"""How do all pictures of the course look, and how do they get onto the page?

Public names: the colours; `readable`; `neat` (numbers to print); `figure`, `space`; `show`,
`bundle`, `png`.

Figures are made without pyplot, so nothing is shown unless you say `show(fig, alt)`. The same thing
has the same colour everywhere: joint i is JOINT[i], x, y, z axes are AXIS, limits are dashed.
Matplotlib is imported when the first figure is made.
"""

from __future__ import annotations

import base64
import html
import io
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from course_lib.plots import solids

if TYPE_CHECKING:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

__all__ = ["JOINT", "AXIS", "START", "GOAL", "OBSTACLE", "LIMIT", "RIGHT", "WRONG", "INK", "MUTED"]
__all__ += ["LINK", "GHOST", "DPI", "SHARP", "neat", "readable", "figure", "space"]
__all__ += ["show", "bundle", "png"]

# After Okabe and Ito; told apart in normal, red-blind and green-blind vision (a test measures it).
JOINT = ("#0072B2", "#E69F00", "#56B4E9", "#D55E00", "#332288", "#8E2F00", "#222222")
AXIS = ("#D55E00", "#009E73", "#0072B2")  # x, y, z of a frame
START, GOAL, OBSTACLE, LIMIT = "#009E73", "#99337F", "#BBBBBB", "#666666"
RIGHT, WRONG = JOINT[0], JOINT[3]
INK, MUTED, LINK, GHOST = "#2B2F36", "#6B7280", "#DDE0E5", "#8A929E"
FLOOR, FAINT = "#F3F4F6", "#DADDE2"
DPI, SHARP = 100, 1.5  # pixels an inch on the page; pictures have SHARP times more


# ---- numbers and colours --------------------------------------------------------------------


def neat(numbers: ArrayLike, digits: int = 3) -> Any:
    """Numbers rounded to digits and without a minus before zero: an array, or a float for one.

    >>> neat(-1e-9), neat([0.12345, -0.0004, -2])
    (0.0, array([ 0.123,  0.   , -2.   ]))
    """
    rounded = np.round(np.asarray(numbers, float), digits) + 0.0
    return rounded if rounded.ndim else float(rounded)


def rgba(colours: Any, alpha: float = 1.0) -> np.ndarray:
    """A list of colours as (k, 4) numbers, one colour as (4,)."""
    from matplotlib.colors import to_rgba, to_rgba_array

    if isinstance(colours, str):
        return np.array(to_rgba(colours, alpha))
    return to_rgba_array(list(colours), alpha)


def mix(colour: str, other: str, share: float) -> tuple[float, ...]:
    """A colour with a share of another in it."""
    a, b = rgba([colour, other])
    return tuple((1 - share) * a[:3] + share * b[:3])


def readable(colour: Any) -> str:
    """The colour, darkened until words in it stand out from white by 4.5 to 1 (WCAG 2, AA)."""
    from matplotlib.colors import to_hex, to_rgb

    def luminance(rgb: np.ndarray) -> float:
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722]

    rgb = np.array(to_rgb(colour))
    while 1.05 / (luminance(rgb) + 0.05) < 4.5:
        rgb = 0.95 * rgb
    return to_hex(rgb)


# ---- figures --------------------------------------------------------------------------------


def figure(
    nrows: int = 1,
    ncols: int = 1,
    size: tuple[float, float] = (7, 3.6),
    *,
    equal: bool = False,
    **subplots: Any,
) -> tuple[Figure, Any]:
    """New figure of size [inch] with 2D axes in the house style.

    Returns (fig, ax), or (fig, array of axes) when there is more than one. equal=True: one metre is
    as long in y as in x (for space). Further arguments go to `Figure.subplots` (sharex, …).
    """
    fig = _new(size, layout="constrained")
    axes = fig.subplots(nrows, ncols, **subplots)
    for ax in np.atleast_1d(axes).flat:
        ax.set_prop_cycle(color=JOINT)
        if equal:
            ax.set_aspect("equal", adjustable="box")
    return fig, axes


def space(
    limit: Any = 1.0,
    size: tuple[float, float] = (6.4, 4.6),
    *,
    view: tuple[float, float] = (22, -52),
    ground: bool | float = True,
    beside: int = 0,
    share: float = 0.6,
) -> tuple[Figure, Any]:
    """New figure with a 3D axes: a round floor with a scale in metres, and nothing else.

    limit    half width [m] of the cube about the origin, or ((x0, x1), (y0, y1), (z0, z1)); the
             upright cylinder in this box just fills the picture
    view     (elevation, azimuth) of the eye [degrees]
    ground   True: the floor is the bottom of the box; a number: its height [m]; False: no floor,
             and no shadows
    beside   number of 2D axes in a column on the right; the 3D axes takes `share` of the width
    Returns (fig, ax), or (fig, [ax, ax_1, …]) with axes beside.
    """
    limits = np.array(limit, float) if np.ndim(limit) else np.array([[-limit, limit]] * 3, float)
    if limits.shape != (3, 2) or not (limits[:, 0] < limits[:, 1]).all():
        expected = "a positive half width [m] or three pairs (low, high)"
        raise ValueError(f"limit: {limit!r}, expected {expected}")
    fig = _new(size)
    width = share if beside else 1.0
    ax = fig.add_axes((0, 0, width, 1), projection="3d", computed_zorder=False)
    _aim(ax, limits, view)
    _fit(ax, limits, (0.15, 0.12, width * size[0] - 0.55, size[1] - 0.34))
    floor = limits[2, 0] if isinstance(ground, bool) else float(ground)
    _room(ax, limits, floor, filled=ground is not False)
    ax.stage = solids.Stage(ax, None if ground is False else floor)
    return fig, [ax, *_column(fig, beside, width, size)] if beside else ax


def is_3d(ax: Any) -> bool:
    """Whether an axes is one in space."""
    return hasattr(ax, "get_zlim")


def stage(ax: Any) -> solids.Stage:
    """The stage of a 3D axes (made by `space`, or now)."""
    if not hasattr(ax, "stage"):
        ax.computed_zorder = False
        ax.stage = solids.Stage(ax)
    return ax.stage


# ---- onto the page --------------------------------------------------------------------------


def show(fig: Figure, alt: str) -> None:
    """Display fig with the alternative text alt: a sentence that says what there is to see."""
    from IPython.display import display

    data, metadata = bundle(png(fig), fig.get_size_inches(), alt)
    display(data, raw=True, metadata=metadata)


def bundle(
    picture: bytes, size: Any, alt: str, caption: str = "", kind: str = "course-figure"
) -> tuple[dict, dict]:
    """A PNG of size [inch] as Jupyter takes it: ({mime type: data}, metadata).

    JupyterLab and exported pages show the HTML, whose alternative text a screen reader gets; they
    drop that of a bare PNG. The PNG is for tools that read notebooks. caption is HTML, kind the
    class of the figure. `ValueError` when alt is not a sentence.
    """
    if not isinstance(alt, str) or len(alt.split()) < 3:
        expected = "a sentence that says what there is to see in the picture"
        raise ValueError(f"alt: {alt!r}, expected {expected}")
    alt = " ".join(alt.split())
    width, height = (round(inches * DPI) for inches in size)
    page = (
        f'<figure class="{kind}" style="margin:0">\n'
        f'<img alt="{html.escape(alt)}" width="{width}" height="{height}"'
        f' style="max-width:100%;height:auto" src="data:image/webp;base64,{_webp(picture)}">\n'
        f"{caption}</figure>"
    )
    png = base64.b64encode(picture).decode("ascii")
    data = {"text/html": page, "image/png": png, "text/plain": alt}
    return data, {"image/png": {"alt": alt, "width": width, "height": height}}


def png(fig: Figure, sharp: float = SHARP) -> bytes:
    """fig as PNG bytes of 256 colours, sharp times DPI pixels an inch.

    The same for the same picture: no date, no program's name in it.
    """
    canvas = canvas_of(fig)
    old, fig.dpi = fig.dpi, DPI * sharp
    try:
        canvas.draw()
        return stored(canvas)
    finally:
        fig.dpi = old


def canvas_of(fig: Figure) -> FigureCanvasAgg:
    """The canvas of fig, one that keeps its pixels in memory."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    return fig.canvas if isinstance(fig.canvas, FigureCanvasAgg) else FigureCanvasAgg(fig)


def pixels(canvas: FigureCanvasAgg) -> Any:
    """What canvas shows now, as a Pillow image."""
    from PIL import Image

    buffer = canvas.buffer_rgba()
    return Image.frombuffer("RGBA", buffer.shape[1::-1], buffer, "raw", "RGBA", 0, 1).convert("RGB")


def stored(canvas: FigureCanvasAgg) -> bytes:
    """What canvas shows now, as PNG bytes that take little room: 256 colours."""
    from PIL import Image

    few = pixels(canvas).quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    out = io.BytesIO()
    few.save(out, format="PNG", optimize=True)
    return out.getvalue()


def _webp(picture: bytes) -> str:
    """A PNG as lossless WebP, in base64."""
    from PIL import Image

    out = io.BytesIO()
    Image.open(io.BytesIO(picture)).convert("RGB").save(out, "WEBP", lossless=True, method=4)
    return base64.b64encode(out.getvalue()).decode("ascii")


def _new(size: tuple[float, float], **options: Any) -> Figure:
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams.update(_house())
    fig = Figure(figsize=size, dpi=DPI, **options)
    canvas_of(fig)
    return fig


@cache
def _house() -> dict:
    """What house.mplstyle sets."""
    from matplotlib import rc_params_from_file

    sheet = Path(__file__).with_name("house.mplstyle")
    return dict(rc_params_from_file(sheet, use_default_template=False))


def _column(fig: Figure, count: int, left: float, size: tuple[float, float]) -> list:
    """2D axes in a column right of `left` (a share of the width)."""
    across = {"left": left + 0.63 / size[0], "right": 0.975}
    grid = fig.add_gridspec(
        count, 1, **across, bottom=0.62 / size[1], top=1 - 0.4 / size[1], hspace=0.5
    )
    axes = [fig.add_subplot(grid[i]) for i in range(count)]
    for ax in axes:
        ax.set_prop_cycle(color=JOINT)
    return axes


def _aim(ax: Any, limits: np.ndarray, view: tuple[float, float]) -> None:
    """True to scale, in perspective, seen from view; none of Matplotlib's own box."""
    ax.set(xlim=limits[0], ylim=limits[1], zlim=limits[2])
    ax.set_box_aspect(np.ptp(limits, axis=1))
    ax.set_proj_type("persp", focal_length=1.3)
    ax.view_init(*view)
    ax.set_axis_off()


def _rim(limits: np.ndarray, count: int = 73) -> np.ndarray:
    """The ellipse inside the x and y limits: (count, 2), closed."""
    angle = np.linspace(0, 2 * np.pi, count)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return limits[:2].mean(axis=1) + 0.5 * np.ptp(limits[:2], axis=1) * circle


def _fit(ax: Any, limits: np.ndarray, area: tuple[float, float, float, float]) -> None:
    """Let the cylinder in limits fill area (left, bottom, right, top) [inch] of the figure."""
    points = np.array([(*xy, z, 1.0) for xy, z in product(_rim(limits), limits[2])])
    seen = points @ ax.get_proj().T
    ax.apply_aspect()
    on_screen = ax.transData.transform(seen[:, :2] / seen[:, 3:])
    spot = ax.transAxes.inverted().transform(on_screen)
    low, high = spot.min(axis=0), spot.max(axis=0)
    corners, size = np.reshape(area, (2, 2)), ax.figure.get_size_inches()
    side = np.min((corners[1] - corners[0]) / (high - low))
    corner = corners.mean(axis=0) - side * (low + high) / 2
    ax.set_position((*(corner / size), *(side / size)))


def _room(ax: Any, limits: np.ndarray, floor: float, filled: bool) -> None:
    """A round floor with scales along x and y through the origin, and one of z at its right end."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    rim = _rim(limits)
    disc = np.column_stack([rim, np.full(len(rim), floor)])
    face = FLOOR if filled else "none"
    patch = Poly3DCollection([disc], facecolor=face, edgecolor=FAINT, linewidth=0.8, zorder=0.1)
    ax.add_collection3d(patch, autolim=False)
    middle, half = limits.mean(axis=1), np.ptp(limits, axis=1) / 2
    through = np.where((limits[:, 0] < 0) & (limits[:, 1] > 0), 0.0, middle)
    azimuth = np.radians(ax.azim)
    right = np.array([-np.sin(azimuth), np.cos(azimuth)])  # on the floor, as the eye sees it
    for k in (0, 1):
        along = np.eye(3)[k]
        reach = half[k] * np.sqrt(max(1 - ((through[1 - k] - middle[1 - k]) / half[1 - k]) ** 2, 0))
        start = np.where(along > 0, middle, through) * [1, 1, 0] + [0, 0, floor]
        _scale(ax, start, along, (-reach, reach), np.array([0, 0, -0.045 * half.max()]), "xy"[k])
    edge = middle[:2] + half[:2] * right
    foot = np.array([*edge, 0.0])
    _scale(ax, foot, np.eye(3)[2], tuple(limits[2]), 0.06 * half.max() * np.array([*right, 0]), "z")


def _scale(
    ax: Any,
    start: np.ndarray,
    along: np.ndarray,
    reach: tuple[float, float],
    aside: np.ndarray,
    name: str,
) -> None:
    """A faint line from start along one axis, with a number at each round coordinate and a name."""
    from matplotlib.ticker import MaxNLocator

    ends = start + np.outer(reach, along)
    ax.plot(*ends.T, color=FAINT, lw=0.9, zorder=0.3)
    low, high = ends @ along
    style = {"color": MUTED, "fontsize": 7.5, "ha": "center", "va": "center", "zorder": 0.4}
    ticks = MaxNLocator(nbins=7, steps=[1, 2, 5, 10]).tick_values(low, high)
    inside = [t for t in ticks if low + 0.02 * (high - low) < t < high - 0.1 * (high - low)]
    for value in inside:
        if abs(value) < 1e-9 and name != "z":
            continue  # the axes cross there
        point = start + (value - start @ along) * along
        ax.plot(*np.transpose([point, point + 0.35 * aside]), color=FAINT, lw=0.9, zorder=0.3)
        ax.text(*(point + aside), f"{value:.10g}", **style)
    ax.text(*(ends[1] + aside), f"{name} [m]", **style)
