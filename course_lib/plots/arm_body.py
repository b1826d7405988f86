"""What does an arm look like?  Drums on the axes of its joints, tubes along its links, two fingers.

Public names: `ArmArtist`.

The body is built once, with all turning joints at zero; each part is fixed to one frame of the arm
and moves with it. It is built anew where a joint slides, since then links change their lengths.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from course_lib.arm import Arm
from course_lib.kinematics import link_frames
from course_lib.plots import solids
from course_lib.plots.artists import ChainArtist, FrameArtist
from course_lib.plots.style import JOINT, LINK, is_3d, rgba, stage

if TYPE_CHECKING:
    from matplotlib.artist import Artist

DARK, FOOT = "#4A515C", "#C4C8CF"
Follower = TypeVar("Follower")


class Part(NamedTuple):
    """A shape, its colour, and the number of the frame that it is fixed to."""

    quads: np.ndarray
    colour: str
    frame: int


class Drum(NamedTuple):
    """The cylinder of a joint: centre and axis (3,), half its height and its radius [m]."""

    centre: np.ndarray
    axis: np.ndarray
    half: float
    radius: float


class ArmArtist:
    """An arm that `set(q)` moves: base, links, joints in their colours, tool, and DH frames.

    In a 3D axes links are tubes of the arm's radii; a link with both a and d is drawn as its two DH
    moves. In 2D axes (planar arms) it is a `ChainArtist`.

    q             (n,) start posture [rad, m], zeros when left out
    frames        True: with the frames 0 to n, frame_length [m] long
    colour        paints the whole arm in one colour; alpha < 1 makes it a ghost
    `attach` lets a frame or a solid turn with a link. Another arm with as many joints can take its
    place: set the attribute `arm`, then call `set`.
    """

    def __init__(
        self,
        ax: Any,
        arm: Arm,
        q: ArrayLike | None = None,
        *,
        frames: bool = False,
        colour: str | None = None,
        alpha: float | None = None,
        frame_length: float | None = None,
    ) -> None:
        self.ax, self.arm, self._colour = ax, arm, colour
        self._alpha = alpha if alpha is not None else 0.45 if frames and is_3d(ax) else 1.0
        self._solids: list[solids.Solid] = []
        self._built_for: tuple = (None, None)
        self._followers: list[tuple[Any, int | None]] = []
        self._chain = None
        if not is_3d(ax):
            self._chain = ChainArtist(ax, arm.n + 1, colour=colour, alpha=self._alpha)
        self._q = np.zeros(arm.n) if q is None else q
        length = frame_length or 0.14 * float(np.abs(arm.a).sum() + np.abs(arm.d).sum())
        self.frames = [
            self.attach(FrameArtist(ax, length=length, label=str(i), letters=False), i)
            for i in range(arm.n + 1 if frames else 0)
        ]
        self.set(self._q)

    @property
    def artists(self) -> list[Artist]:
        """What Matplotlib draws."""
        own = self._chain.artists if self._chain else stage(self.ax).artists
        followers = [a for f, _ in self._followers for a in f.artists]
        return [*own, *(a for a in followers if a not in own)]

    def attach(self, artist: Follower, link: int | None = None) -> Follower:
        """Let a frame or a solid turn with a link from now on; returns it.

        link   number of the link's frame, 0 (the base) to n; None: the tool. A frame then shows
               that frame; the faces of a `SolidArtist` are in it.
        """
        if link is not None and not 0 <= link <= self.arm.n:
            raise ValueError(f"link: {link!r}, expected 0 to {self.arm.n}, or None for the tool")
        self._followers.append((artist, link))
        self._follow(link_frames(self.arm, self._q))
        return artist

    def set(self, q: ArrayLike) -> None:
        """Move the arm to joint values q (n,) [rad, m]."""
        T = link_frames(self.arm, q)
        if T.ndim != 3:
            raise ValueError(f"q: shape {np.shape(q)}, expected ({self.arm.n},)")
        self._q = q
        if self._chain:
            tool = T[-1] @ self.arm.tool
            self._chain.set(np.vstack([T[:-1, :2, 3], tool[None, :2, 3]]))
        else:
            self._build()
            for solid, pose in zip(self._solids, T):
                solid.pose = pose
        self._follow(T)

    def _follow(self, T: np.ndarray) -> None:
        for artist, link in self._followers:
            move = artist.place if hasattr(artist, "place") else artist.set
            move(T[-1] @ self.arm.tool if link is None else T[link])

    def _build(self) -> None:
        """One solid for each frame, with all that is fixed to it; kept as long as it serves."""
        rest = np.where(self.arm.revolute, 0.0, self._q)
        if self._built_for[0] is self.arm and np.array_equal(self._built_for[1], rest):
            return
        R = link_frames(self.arm, rest)
        on = stage(self.ax)
        parts = arm_parts(self.arm, R, on.floor, self._colour)
        on.remove(*self._solids)
        self._solids = [_fixed(parts, k, pose, self._alpha) for k, pose in enumerate(R)]
        on.add(*self._solids)
        self._built_for = self.arm, rest


def arm_parts(arm: Arm, T: np.ndarray, floor: float | None, colour: str | None) -> list[Part]:
    """The parts of an arm whose frames are T (n+1, 4, 4), where they stand."""
    link, dark = (colour or LINK), (colour or DARK)
    base, up, r = T[0, :3, 3], T[0, :3, 2], arm.radius[0]
    parts = [Part(solids.tube(base - 0.4 * r * up, base, 1.4 * r, sides=20, rings=3), dark, 0)]
    if floor is not None and up[2] > 0.99 and base[2] - floor > 0.4 * r:
        foot = solids.tube([*base[:2], floor], base - 0.4 * r * up, 0.9 * r, pieces=6)
        parts.append(Part(foot, colour or FOOT, 0))
    drums = _drums(arm, T)
    standard = arm.convention == "standard"
    for i in range(arm.n):
        turning, carrier = (i, i + 1) if standard else (i + 1, i)  # the bridge turns with carrier
        parts += [Part(piece, link, carrier) for piece in _link(arm, T, i, drums)]
        drum = _joint(T[turning], drums[i], arm.joint_types[i])
        parts.append(Part(drum, colour or JOINT[i % len(JOINT)], turning))
    parts += [Part(piece, dark, arm.n) for piece in _tool(T[-1], T[-1] @ arm.tool, arm.radius[-1])]
    return parts


def _fixed(parts: list[Part], frame: int, pose: np.ndarray, alpha: float) -> solids.Solid:
    """All parts of one frame, in that frame."""
    own = [p for p in parts if p.frame == frame]
    quads = np.concatenate([np.empty((0, 4, 3)), *(p.quads for p in own)])
    colours = [np.repeat(rgba([p.colour], alpha), len(p.quads), axis=0) for p in own]
    return solids.Solid(
        colour=np.concatenate([np.empty((0, 4)), *colours]),
        quads=(quads - pose[:3, 3]) @ pose[:3, :3],
        pose=pose,
    )


def _drums(arm: Arm, T: np.ndarray) -> list[Drum]:
    """The drum of each joint. One with room along its d moves out of the others' way."""
    standard = arm.convention == "standard"
    climbs = [_along(T, i, standard) for i in range(arm.n)]
    drums: dict[int, Drum] = {}
    for i in sorted(range(arm.n), key=lambda i: abs(climbs[i]) > 1e-9):  # those without d first
        pose, d, r = T[i if standard else i + 1], climbs[i], arm.radius[i]
        p, z = pose[:3, 3], pose[:3, 2]
        if abs(d) < 1e-9:
            drums[i] = Drum(p, z, 1.1 * r, r)
            continue
        p, u = (p if standard else p - d * z), np.sign(d) * z  # from the bridge before, along d
        near, far = (_radius_at(drums.values(), spot) for spot in (p, p + abs(d) * u))
        half = min(1.1 * r, max((abs(d) - 0.95 * (near + far)) / 2, 0.3 * r))
        drums[i] = Drum(p + (0.95 * near + half) * u, z, half, r)
    return [drums[i] for i in range(arm.n)]


def _radius_at(drums: Any, spot: np.ndarray) -> float:
    """The largest radius of the drums that stand on a spot, 0 where none does."""
    return max([0.0, *(d.radius for d in drums if np.linalg.norm(d.centre - spot) < 1e-6)])


def _along(T: np.ndarray, i: int, standard: bool) -> float:
    """How far link i goes along its joint's axis: its d [m]."""
    return (T[i, :3, 2] if standard else T[i + 1, :3, 2]) @ (T[i + 1, :3, 3] - T[i, :3, 3])


def _link(arm: Arm, T: np.ndarray, i: int, drums: list[Drum]) -> list[np.ndarray]:
    """Link i as one or two tubes: along d, then along a (standard), or a, then d (modified)."""
    standard = arm.convention == "standard"
    start, end, d = T[i, :3, 3], T[i + 1, :3, 3], _along(T, i, standard)
    corner = start + d * T[i, :3, 2] if standard else end - d * T[i + 1, :3, 2]
    width, pieces = 0.7 * arm.radius[i], []
    for a, b in ((start, corner), (corner, end)):
        length = np.linalg.norm(b - a)
        if length < 1e-9:
            continue
        u = (b - a) / length
        across = [drum for drum in drums if abs(u @ drum.axis) < 0.9]
        a_cut, b_cut = (0.75 * _radius_at(across, p) for p in (a, b))
        if a_cut + b_cut < length:
            pieces.append(solids.tube(a + a_cut * u, b - b_cut * u, width))
        if not b_cut and not (i == arm.n - 1 and np.allclose(b, end)):
            pieces.append(solids.ball(b, width, sides=12))
    return pieces


def _joint(pose: np.ndarray, drum: Drum, kind: str) -> np.ndarray:
    """A drum about the joint's axis; a block where the joint slides."""
    centre, z, half, r = drum
    if kind == "prismatic":
        return solids.box(pose, (1.9 * r, 1.9 * r, 2.4 * r), pieces=2)
    return solids.tube(centre - half * z, centre + half * z, r, sides=18, pieces=2)


def _tool(last: np.ndarray, tool: np.ndarray, r: float) -> list[np.ndarray]:
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
