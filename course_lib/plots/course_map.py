"""What leads to what?  The map of the course: one card a lesson, along one path.

Public names: `draw`, `LESSONS`.

Lesson 00 shows it. To add a lesson, add a line to LESSONS and a small drawing for it: a function
that draws into axes of 16 by 9 units.
"""

from __future__ import annotations

from collections.abc import Callable
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
RAIL, DASHES, S = "#CCD1D8", (0, (3, 2)), np.linspace(0, 1, 61)
STONES = np.array([(5.2, 6.4, 1.9), (9.8, 2.8, 2.1)])


def draw() -> Figure:
    """The map as a figure."""
    fig, ax = style.figure(size=(9.4, 7.3))
    ax.set(xlim=(0, 9.4), ylim=(0.02, 7.0))
    ax.set_axis_off()
    places = [_place(i) for i in range(len(LESSONS))]
    _trail(ax, places)
    for place, lesson in zip(places, LESSONS):
        _card(ax, place, *lesson)
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
    sketch: Callable[[Axes], None],
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
    sketch(small)


def _trail(ax: Axes, places: list[tuple[float, float]]) -> None:
    """The path behind the cards, with an arrow head in each gap."""
    band = {"lw": 15, "solid_capstyle": "round", "solid_joinstyle": "round"}
    ax.plot(*np.transpose(places), color="#E3E6EB", zorder=1, **band)
    heads = {(1, 0): ">", (-1, 0): "<", (0, -1): "v"}
    for here, there in zip(np.array(places), np.array(places[1:])):
        middle, way = (here + there) / 2, tuple(np.sign(there - here).round().astype(int))
        ax.plot(*middle, marker=heads[way], color=style.MUTED, ms=6, zorder=3)


# ---- the small drawings ---------------------------------------------------------------------


def _line(ax: Axes, colour: str, x: Any, y: Any, lw: float = 2, **look: Any) -> None:
    ax.plot(x, y, color=colour, lw=lw, solid_capstyle="round", solid_joinstyle="round", **look)


def _start(ax: Axes, x: float, y: float) -> None:
    ax.plot(x, y, "o", color=style.START, ms=7, zorder=5)


def _goal(ax: Axes, x: float, y: float) -> None:
    ax.plot(x, y, "*", color=style.GOAL, ms=11, zorder=13)


def _chain(ax: Axes, start: Any, lengths: Any, angles: Any, **look: Any) -> np.ndarray:
    """A small arm from start, with absolute angles [degrees]. Returns its points."""
    t = np.radians(angles)
    steps = np.array(lengths)[:, None] * np.column_stack([np.cos(t), np.sin(t)])
    points = np.vstack([start, start + np.cumsum(steps, axis=0)])
    ChainArtist(ax, points, width=4, **look)
    return points


def _frame(ax: Axes, x: float, y: float, angle: float) -> None:
    c, s = np.cos(angle), np.sin(angle)
    T = pose((x, y, 0), [[c, -s, 0], [s, c, 0], [0, 0, 1]])
    FrameArtist(ax, T, length=3.4, letters=False)


def _arrow(ax: Axes, start: Any, end: Any, colour: str, rad: float = 0, **more: Any) -> None:
    look = {"arrowstyle": "-|>", "color": colour, "lw": 1.4, "shrinkA": 0, "shrinkB": 0, **more}
    ax.annotate("", end, start, arrowprops=look | {"connectionstyle": f"arc3,rad={rad}"}, zorder=12)


def _discs(ax: Axes, *discs: Any) -> None:
    from matplotlib.patches import Circle

    for x, y, r in discs:
        ax.add_patch(Circle((x, y), r, facecolor=style.OBSTACLE, edgecolor="none", zorder=2))


def start_here(ax: Axes) -> None:
    for y, x, k in ((7.2, 10.5, 0), (4.5, 5, 1), (1.8, 8, 3)):
        _line(ax, RAIL, [1.5, 14.5], [y, y], 3)
        _line(ax, style.JOINT[k], [1.5, x], [y, y], 3)
        ax.plot(x, y, "o", ms=8, mfc="white", mec=style.JOINT[k], mew=2)


def frames(ax: Axes) -> None:
    _frame(ax, 2.5, 1.4, 0)
    _frame(ax, 10.8, 4.2, 0.6)
    _arrow(ax, (2.9, 1.9), (10.4, 3.9), style.MUTED, 0.25, linestyle=DASHES)


def dh_tables(ax: Axes) -> None:
    for x, y in (([3, 3], [0.3, 8.7]), ([9.4, 15], [8.4, 1.6])):
        ax.plot(x, y, color=style.LIMIT, lw=1.2, ls=DASHES)
    _line(ax, style.JOINT[1], [3, 3], [1.4, 5], 3.5)
    _line(ax, style.JOINT[4], [3, 12.2], [5, 5], 3.5)
    ax.text(1.5, 2.8, "d", color=ORANGE, weight="bold", ha="center")
    ax.text(7.4, 5.6, "a", color=style.JOINT[4], weight="bold", ha="center")


def urdf_checks(ax: Axes) -> None:
    rows = (("<link>", "✓", GREEN), ("<joint>", "✓", GREEN), ("<inertia>", "✗", RED))
    for k, (word, mark, colour) in enumerate(rows):
        place = {"y": 7.2 - 2.8 * k, "va": "center"}
        ax.text(x=1.4 + 1.3 * k, s=word, family="monospace", fontsize=8.6, **place)
        ax.text(x=14.3, s=mark, color=colour, fontsize=11, weight="bold", ha="center", **place)


def jacobians(ax: Axes) -> None:
    from matplotlib.patches import Ellipse

    tip = _chain(ax, (2, 1.2), (6, 5.2), (62, -8))[-1]
    ax.add_patch(Ellipse(tip, 6.4, 2.2, angle=62, facecolor=BLUE, alpha=0.18, edgecolor="none"))
    _arrow(ax, tip, tip + [1.5, 2.7], BLUE)


def inverse_kinematics(ax: Axes) -> None:
    _chain(ax, (2.2, 1.4), (6.2, 6.2), (4, 54), colour=style.OBSTACLE)
    _goal(ax, *_chain(ax, (2.2, 1.4), (6.2, 6.2), (54, 4))[-1])


def redundancy(ax: Axes) -> None:
    for lift, colour in ((0.2, style.OBSTACLE), (1.9, style.OBSTACLE), (3.4, None)):
        elbows = [(2.0, 1.4), (4.2, 2.6 + lift), (9.6, 4.0 + lift), (13.4, 4.6)]
        ChainArtist(ax, elbows, width=4, colour=colour, alpha=0.6 if colour else 1.0)
    _goal(ax, 13.4, 4.6)


def trajectories(ax: Axes) -> None:
    _line(ax, RAIL, [1, 15], [1, 1], 1)
    _line(ax, style.JOINT[0], 1 + 14 * S, 1 + 7 * (10 * S**3 - 15 * S**4 + 6 * S**5))
    _line(ax, style.JOINT[1], 1 + 14 * S, 1 + 3.4 * 16 * S**2 * (1 - S) ** 2)


def cartesian_paths(ax: Axes) -> None:
    ax.plot(2 + 12 * S, 2.6 + 16 * S - 13.8 * S**2, color=style.OBSTACLE, lw=2, ls=DASHES)
    _line(ax, ORANGE, [2, 14], [2.6, 4.8], 2.2)
    _start(ax, 2, 2.6)
    _goal(ax, 14, 4.8)


def collisions(ax: Axes) -> None:
    _discs(ax, (11.6, 6.2, 2.3))
    _line(ax, "#B9BEC7", [1.8, 8.2], [3.6, 1.6], 10)
    _line(ax, PURPLE, [8.73, 10.23], [2.32, 4.35], marker="o", ms=4)


def trees(ax: Axes) -> None:
    """A real RRT, grown for 90 steps."""
    rng, nodes = np.random.default_rng(4), np.array([[1.2, 1.5]])
    _discs(ax, *STONES)
    for target in rng.uniform((0.6, 0.6), (15.4, 8.6), (90, 2)):
        near = nodes[np.argmin(np.hypot(*(nodes - target).T))]
        step = near + (target - near) * min(1, 1.3 / np.hypot(*(target - near)))
        spots = np.array([step, (near + step) / 2])[:, None]
        if (np.hypot(*np.moveaxis(STONES[:, :2] - spots, -1, 0)) > STONES[:, 2]).all():
            ax.plot(*np.transpose([near, step]), color=PURPLE, lw=0.9, zorder=3)
            nodes = np.vstack([nodes, step])
    _start(ax, 1.2, 1.5)


def better_paths(ax: Axes) -> None:
    _discs(ax, *STONES)
    x = [1.2, 2.2, 4.6, 5.6, 8.2, 9.2, 11.6, 12.6, 14.6]
    _line(ax, "#C9A3C0", x, [1.5, 3.4, 3.0, 4.0, 6.6, 7.6, 7.0, 8.2, 7.4], 1.3)
    _line(ax, PURPLE, [1.2, 6.1, 9.3, 14.6], [1.5, 4.1, 5.2, 7.4], 2.2)
    _start(ax, 1.2, 1.5)
    _goal(ax, 14.6, 7.4)


def dynamics(ax: Axes) -> None:
    tip = _chain(ax, (3.5, 4.5), (8.5,), (14,))[-1]
    _arrow(ax, tip - [0, 0.8], tip - [0, 4.8], style.MUTED)
    _arrow(ax, (6.6, 3.1), (5.4, 7.6), RED, 0.5)
    ax.text(7.3, 7.3, "τ", color=RED, fontsize=12, ha="center", va="center")


def sampling(ax: Axes) -> None:
    k = np.linspace(0, 1, 9)
    wave = lambda t: 4.5 + 3.3 * np.sin(2 * np.pi * t - 0.4)
    _line(ax, style.OBSTACLE, 1 + 14 * S, wave(S))
    ax.step(1 + 14 * k, wave(k), where="post", color=RED, lw=1.8)
    ax.plot(1 + 14 * k[:-1], wave(k[:-1]), "o", color=RED, ms=3.5)


def real_arm(ax: Axes) -> None:
    wanted = _chain(ax, (2.2, 1), (6.4, 6.4), (48, 16), colour=style.OBSTACLE)[-1]
    found = _chain(ax, (2.2, 1), (6.4, 6.4), (57, -8))[-1]
    _line(ax, GREEN, *np.transpose([wanted, found]), 1.6, zorder=13)
    ax.plot(*found, "o", color=GREEN, ms=6, zorder=14)


def capstone(ax: Axes) -> None:
    _discs(ax, (8, 2.2, 1.8))
    _line(ax, GREEN, 2 + 12 * S, 1.4 + 4.2 * np.sin(np.pi * S) + 0.6 * S)
    _start(ax, 2, 1.4)
    _line(ax, style.INK, [14, 14], [2, 8.4], 1.6)
    ax.fill([14, 14, 10.6], [8.4, 5.6, 7], color=style.GOAL)


LESSONS = [  # number, short name, its question, its part, its drawing
    ("00", "Start here", "How does this course work?", "begin", start_here),
    ("01", "Frames", "Where is it, how is it turned?", "describe the arm", frames),
    ("02", "DH tables", "Where does this link's frame go?", "describe the arm", dh_tables),
    ("03", "URDF", "Is the robot's file right?", "describe the arm", urdf_checks),
    ("04", "Jacobians", "How fast does the tool move?", "describe the arm", jacobians),
    ("05", "Inverse kinematics", "Which angles reach this pose?", "move it", inverse_kinematics),
    ("06", "Redundancy", "What are spare joints good for?", "move it", redundancy),
    ("07", "Trajectories", "When should each joint be where?", "move it", trajectories),
    ("08", "Tool paths", "How do you draw a straight line?", "move it", cartesian_paths),
    ("09", "Collisions", "How close is the next thing?", "find a way", collisions),
    ("10", "RRT", "Is there a way around?", "find a way", trees),
    ("11", "Better paths", "Is there a shorter way?", "find a way", better_paths),
    ("12", "Dynamics", "How much torque does it take?", "drive it", dynamics),
    ("13", "Sampling", "How often must you look?", "drive it", sampling),
    ("14", "The real arm", "Does it do what the model says?", "prove it", real_arm),
    ("15", "Capstone", "Can you do it all at once?", "prove it", capstone),
]
