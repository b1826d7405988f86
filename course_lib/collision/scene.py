"""What stands around an arm: solids, the distance of a segment from each, and scenes in files.

Public names: `Sphere`, `Capsule`, `Box`, `HalfSpace`; `Scene`, `load_scene`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from course_lib import arm_file
from course_lib.arm import Arm, load_arm
from course_lib.poses import as_poses, finite, refuse

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

SCENES = Path(__file__).resolve().parents[2] / "data" / "scenes"
FILE_FIELDS = ("name", "about", "arm", "start", "goal", "feasible", "passes", "obstacles")
SHAPES = dict.fromkeys(("centre", "start", "end", "normal", "size"), (3,))
SHAPES |= {"radius": (), "offset": (), "pose": (4, 4)}


@dataclass(frozen=True, eq=False)
class Obstacle:
    """A solid with a name. may_touch: numbers of the links that are not checked against it.

    `measure(A, D, …)` gives of segments A + t D, 0 <= t <= 1, the signed distance from the solid,
    t of the nearest point, and the way from there to the solid (zero where that is inside).
    `bounds()`: the corners (3,) of its box along the world's axes.
    """

    name: str = field(default="obstacle", kw_only=True)
    may_touch: tuple[int, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        touch = self.may_touch
        if not isinstance(touch, list | tuple | set) or any(type(k) is not int for k in touch):
            raise ValueError(f"may_touch: {touch!r}, expected numbers of links")
        object.__setattr__(self, "may_touch", tuple(sorted(touch)))
        for key in shape_of(type(self)):
            value = finite(key, getattr(self, key))
            if value.shape != SHAPES[key]:
                raise ValueError(f"{key}: shape {value.shape}, expected {SHAPES[key]}")
            if key in ("radius", "size"):
                refuse(key, value, value <= 0, "a positive number")
            if key == "pose":
                as_poses(key, value)
            object.__setattr__(self, key, value if value.ndim else float(value))


def shape_of(kind: type[Obstacle]) -> list[str]:
    """The names of the fields that make a shape, in order."""
    return [key for key in kind.__dataclass_fields__ if key in SHAPES]


@dataclass(frozen=True, eq=False)
class Sphere(Obstacle):
    """A ball: centre (3,) and radius [m]."""

    centre: ArrayLike
    radius: float

    def bounds(self):
        return self.centre - self.radius, self.centre + self.radius

    @staticmethod
    def measure(A, D, centre, radius):
        """The foot of the perpendicular from the centre, kept inside the segment."""
        w = centre - A
        t = _share(dot(w, D), dot(D, D))
        w -= t * D
        return norm(w) - radius, t, w


@dataclass(frozen=True, eq=False)
class Capsule(Obstacle):
    """All points within radius [m] of the segment from start to end (3,)."""

    start: ArrayLike
    end: ArrayLike
    radius: float

    def bounds(self):
        ends = np.stack([self.start, self.end])
        return ends.min(axis=0) - self.radius, ends.max(axis=0) + self.radius

    @staticmethod
    def measure(A, D, start, end, radius):
        """The nearest points of two lines, then each kept inside its segment.

        Parallel ones and points included. Source: Ericson, Real-Time Collision Detection, 5.1.9.
        """
        E, w = end - start, start - A
        a, b, e, c, f = dot(D, D), dot(D, E), dot(E, E), dot(D, w), dot(E, w)
        t = _share(c * e - b * f, a * e - b * b)
        u = _share(b * t - f, e)
        t = _share(b * u + c, a)
        w = w + u * E - t * D
        return norm(w) - radius, t, w


@dataclass(frozen=True, eq=False)
class HalfSpace(Obstacle):
    """All points p with normal · p <= offset [m]: a table, a wall."""

    normal: ArrayLike
    offset: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        length = np.linalg.norm(self.normal)
        refuse("normal", length, length == 0, "a direction")
        object.__setattr__(self, "normal", self.normal / length)
        object.__setattr__(self, "offset", self.offset / length)

    def bounds(self):
        return np.full(3, -np.inf), np.full(3, np.inf)

    @staticmethod
    def measure(A, D, normal, offset):
        """The lower end of the segment."""
        height, rise = dot(normal, A) - offset, dot(normal, D)
        gap = height + np.minimum(rise, 0)
        return gap, (rise < 0) * 1.0, -normal * np.maximum(gap, 0)


@dataclass(frozen=True, eq=False)
class Box(Obstacle):
    """A box of size (3,) [m] along the axes of pose (4, 4), around its origin."""

    pose: ArrayLike
    size: ArrayLike

    def bounds(self):
        reach = np.abs(self.pose[:3, :3]) @ self.size / 2
        return self.pose[:3, 3] - reach, self.pose[:3, 3] + reach

    @staticmethod
    def measure(A, D, pose, size):
        """Outside, half the squared distance is convex in t; its slope is found where it is zero.

        It is linear between the t at which the line crosses the planes of the faces.
        """
        h, A = size / 2, A - pose[:3, 3]
        A, D = (np.einsum("ik...,i...->k...", pose[:3, :3], v) for v in (A, D))
        out = lambda t: (p := A + t * D) - np.minimum(np.maximum(p, -h), h)
        slope = lambda t: dot(out(t), D)
        low, high = np.zeros(A.shape[1:]), np.ones(A.shape[1:])
        at_low, at_high = slope(low), slope(high)
        for plane in (h, -h):
            for t in (plane - A) / np.where(D == 0, np.inf, D):
                t = np.minimum(np.maximum(t, low), high)
                g = slope(t)
                up = g > 0
                low, high = np.where(up, low, t), np.where(up, t, high)
                at_low, at_high = np.where(up, at_low, g), np.where(up, g, at_high)
        t = low + (high - low) * _share(-at_low, at_high - at_low)
        w = out(t)
        gap = norm(w)
        inside = np.nonzero(gap < 1e-9)
        if inside[0].size:
            at = lambda v: np.broadcast_to(v, A.shape)[:, *inside]
            gap[inside] = -_depth(at(A), at(D), at(h))
        return gap, t, -np.einsum("ik...,k...->i...", pose[:3, :3], w)


def _depth(A, D, h):
    """How far a segment (3, k) must be moved to leave a box of half sizes h (3, k) that it meets.

    Box minus segment has the faces of the box, and those that an edge of it sweeps along D.
    """
    middle, half = A + D / 2, np.abs(D) / 2
    overlap = [*(h + half - np.abs(middle))]
    for i, j in ((1, 2), (2, 0), (0, 1)):
        reach = h[i] * np.abs(D[j]) + h[j] * np.abs(D[i])
        length = np.hypot(D[i], D[j])
        gap = reach - np.abs(middle[i] * D[j] - middle[j] * D[i])
        overlap.append(np.where(length > 1e-12, gap / np.maximum(length, 1e-12), np.inf))
    return np.min(overlap, axis=0)


def dot(u, v):
    return np.einsum("i...,i...->...", u, v)


def norm(v):
    return np.sqrt(dot(v, v))


def _share(a, b):
    """a / b kept between 0 and 1; 0 where both are 0."""
    share = a / np.maximum(b, 1e-300)
    return np.clip(share, 0, 1, out=share)


# ---------------------------------------------------------------- scenes


@dataclass(frozen=True, eq=False)
class Scene:
    """What stands around an arm, and the task that it poses.

    obstacles     any of the four solids
    pairs         of links that are checked against each other; `self_pairs(arm)` when left out
    arm, start, goal (n,), feasible   the task, if there is one, and whether it can be done
    passes        the thickest link that must get through, where there is a slot
    """

    obstacles: tuple[Obstacle, ...] = ()
    name: str = "scene"
    about: str = ""
    arm: Arm | None = None
    start: np.ndarray | None = None
    goal: np.ndarray | None = None
    feasible: bool = True
    passes: int | None = None
    pairs: tuple[tuple[int, int], ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "obstacles", tuple(self.obstacles))
        for i, one in enumerate(self.obstacles):
            if not isinstance(one, Obstacle):
                raise ValueError(f"obstacles[{i}]: {one!r}, expected one of {list(KINDS)}")


KINDS = {"sphere": Sphere, "capsule": Capsule, "box": Box, "half_space": HalfSpace}


def load_scene(name_or_path: str | Path) -> Scene:
    """Read `data/scenes/<name>.yaml`, or the file at a path. Errors name file, field and value.

    >>> load_scene("pillars").obstacles[0].name
    'table'
    """
    path = arm_file.find(name_or_path, SCENES)
    try:
        said = arm_file.content(path)
        arm_file.require_fields("file", said, FILE_FIELDS, needed=("name", "arm", "obstacles"))
        if not isinstance(said["obstacles"], list):
            raise ValueError(f"obstacles: {said['obstacles']!r}, expected a list")
        arm = load_arm(said["arm"])
        for key in {"start", "goal"} & set(said):
            said[key] = _posture(key, said[key], arm)
        if said.get("passes") not in (None, *range(1, arm.n + 1)):
            raise ValueError(
                f"passes: {said['passes']!r}, expected a link of {arm.name}, 1 to {arm.n}"
            )
        if not isinstance(said.get("feasible", True), bool):
            raise ValueError(f"feasible: {said['feasible']!r}, expected true or false")
        solids = [_solid(f"obstacles[{i}]", one) for i, one in enumerate(said["obstacles"])]
        return Scene(**said | {"arm": arm, "obstacles": solids})
    except (ValueError, FileNotFoundError) as error:
        raise ValueError(f"{path.name}: {error}") from None


def _posture(key, said, arm):
    q = finite(key, arm_file.numbers(key, said))
    if q.shape != (arm.n,):
        raise ValueError(f"{key}: {said!r}, expected {arm.n} numbers")
    refuse(key, q, (q < arm.q_min) | (q > arm.q_max), f"within the limits of {arm.name}")
    return q


def _solid(where, said):
    arm_file.require_fields(where, said, said or (), needed=("shape",))
    if said["shape"] not in KINDS:
        raise ValueError(f"{where}.shape: {said['shape']!r}, expected one of {list(KINDS)}")
    kind = KINDS[said["shape"]]
    known = shape_of(kind)
    arm_file.require_fields(where, said, ("shape", "name", "may_touch", *known), needed=known)
    read = {key: arm_file.pose_of if key == "pose" else arm_file.numbers for key in known}
    values = {key: read[key](f"{where}.{key}", said[key]) for key in known}
    try:
        words = {key: said[key] for key in ("name", "may_touch") if key in said}
        return kind(**values, **words)
    except ValueError as error:
        raise ValueError(f"{where}.{error}") from None
