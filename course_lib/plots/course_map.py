"""What leads to what?  The map of the course: one card a lesson, along one path.

Public names: `draw`, `lessons`.

Lesson 00 shows it. What stands on a lesson's card is in course_map.yaml.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from course_lib.plots import style
from course_lib.plots.artists import ChainArtist, FrameArtist
from course_lib.poses import pose

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, PURPLE, RED, GREEN = style.JOINT[0], "#B97700", style.GOAL, style.JOINT[3], "#00795A"
PARTS = {"begin": style.MUTED, "describe the arm": BLUE, "move it": ORANGE}
PARTS |= {"find a way": PURPLE, "drive it": RED, "prove it": GREEN}
COLOURS = {"blue": BLUE, "orange": ORANGE, "purple": PURPLE, "red": RED, "green": GREEN}
COLOURS |= {"yellow": style.JOINT[1], "violet": style.JOINT[4], "pale": "#C9A3C0", "ink": style.INK}
COLOURS |= {"rail": "#CCD1D8", "link": "#B9BEC7", "grey": style.OBSTACLE, "dark": style.LIMIT}
COLOURS |= {"muted": style.MUTED}
MARKS = {"dot": {"marker": "o"}, "ring": {"marker": "o", "mfc": "white", "mew": 2}}
MARKS |= {"start": {"marker": "o", "color": style.START, "ms": 7}}
MARKS |= {"goal": {"marker": "*", "color": style.GOAL, "ms": 11}}
WORDS = {"text": {"fontsize": 11, "weight": "bold", "ha": "center"}}
WORDS |= {"code": {"fontsize": 8.6, "family": "monospace"}}


def draw() -> Figure:
    """The map as a figure."""
    fig, ax = style.figure(size=(9.4, 7.3))
    ax.set(xlim=(0, 9.4), ylim=(0.02, 7.0))
    ax.set_axis_off()
    places = [_place(i) for i in range(len(lessons()))]
    _trail(ax, places)
    for place, (number, card) in zip(places, lessons().items()):
        _card(ax, place, number, **card)
    for i, (part, colour) in enumerate(PARTS.items()):
        ax.plot(0.3 + 1.5 * i, 0.17, "o", color=colour, ms=8)
        ax.text(0.45 + 1.5 * i, 0.16, part, color=style.INK, fontsize=9, va="center")
    fig.suptitle("From a drawing of an arm to a motion that holds on the real one")
    return fig


def _place(i: int) -> tuple[float, float]:
    """Centre of card i: four a row, every second row from right to left."""
    row, column = divmod(i, 4)
    column = 3 - column if row % 2 else column
    return 1.2 + 2.33 * column, 6.15 - 1.69 * row


def _card(
    ax: Axes,
    place: tuple[float, float],
    number: str,
    name: str,
    question: str,
    part: str,
    strokes: list,
) -> None:
    """One lesson: number, name, small drawing and question, framed in the colour of its part."""
    from matplotlib.patches import FancyBboxPatch

    (x, y), colour = place, PARTS[part]
    round_box = "round,pad=0,rounding_size=0.12"
    frame = {"facecolor": "white", "edgecolor": colour, "linewidth": 1.4, "zorder": 4}
    ax.add_patch(FancyBboxPatch((x - 1.05, y - 0.75), 2.1, 1.5, boxstyle=round_box, **frame))
    disc = {"boxstyle": "circle,pad=0.28", "facecolor": colour, "edgecolor": "none"}
    text = {"va": "center", "zorder": 6}
    bold = {"weight": "bold", **text}
    ax.text(x - 0.83, y + 0.53, number, color="white", fontsize=9.5, ha="center", bbox=disc, **bold)
    ax.text(x - 0.6, y + 0.53, name, fontsize=9, **bold)
    ax.text(x, y - 0.6, question, color=style.MUTED, fontsize=8.2, ha="center", **text)
    small = ax.inset_axes((x - 0.72, y - 0.44, 1.44, 0.81), transform=ax.transData, zorder=5)
    small.set(xlim=(0, 16), ylim=(0, 9), aspect="equal")
    small.set_axis_off()
    for stroke in strokes:
        _stroke(small, *stroke)


def _trail(ax: Axes, places: list[tuple[float, float]]) -> None:
    """The path behind the cards, with an arrow head in each gap."""
    band = {"lw": 15, "solid_capstyle": "round", "solid_joinstyle": "round"}
    ax.plot(*np.transpose(places), color="#E3E6EB", zorder=1, **band)
    heads = {(1, 0): ">", (-1, 0): "<", (0, -1): "v"}
    for here, there in zip(np.array(places), np.array(places[1:])):
        middle, way = (here + there) / 2, tuple(np.sign(there - here).round().astype(int))
        ax.plot(*middle, marker=heads[way], color=style.MUTED, ms=6, zorder=3)


# ---- the small drawings ---------------------------------------------------------------------


@cache
def lessons() -> dict[str, dict]:
    """What stands on each lesson's card, by its number: name, question, part and strokes."""
    import yaml

    return yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))


def _stroke(ax: Axes, kind: str, colour: str, size: Any, numbers: list[float]) -> None:
    """One stroke of a drawing; course_map.yaml says what there is."""
    points, ink = np.reshape(numbers, (-1, 2)), COLOURS.get(colour)
    if kind in ("line", "dashes"):
        dashes = (0, (3, 2)) if kind == "dashes" else "-"
        round_ends = {"solid_capstyle": "round", "solid_joinstyle": "round"}
        ax.plot(*points.T, color=ink, lw=size, ls=dashes, **round_ends)
    elif kind == "branches":
        for branch in points.reshape(-1, 2, 2):
            ax.plot(*branch.T, color=ink, lw=size, zorder=3)
    elif kind in MARKS:
        ax.plot(*points.T, **{"color": ink, "ms": size, "ls": "", "zorder": 13, **MARKS[kind]})
    elif kind in ("disc", "fill"):
        _filled(ax, points, ink, size, kind == "disc")
    elif kind in ("arrow", "bow"):
        look = {"arrowstyle": "-|>", "color": ink, "lw": 1.4, "shrinkA": 0, "shrinkB": 0}
        look |= {"connectionstyle": f"arc3,rad={size}", "ls": (0, (3, 2)) if kind == "bow" else "-"}
        ax.annotate("", points[1], points[0], arrowprops=look, zorder=12)
    elif kind == "chain":
        ChainArtist(ax, points, width=4, colour=ink)
    elif kind == "frame":
        c, s = np.cos(size), np.sin(size)
        T = pose([*numbers, 0], [[c, -s, 0], [s, c, 0], [0, 0, 1]])
        FrameArtist(ax, T, length=3.4, letters=False)
    else:
        ax.text(*numbers, size, color=ink, va="center", **WORDS[kind])


def _filled(ax: Axes, points: np.ndarray, colour: str, size: float, disc: bool) -> None:
    from matplotlib.patches import Circle, Polygon

    shape = Circle(points[0], size) if disc else Polygon(points, alpha=size)
    shape.set(facecolor=colour, edgecolor="none", zorder=2)
    ax.add_patch(shape)
