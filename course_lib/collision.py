"""Does the arm touch anything, and does it on the way from here to there?

Public names: `Sphere`, `Capsule`, `Box`, `HalfSpace` (obstacles); `Scene`, `load_scene`;
`capsules`, `self_pairs` (the arm); `clearance`, `closest`, `Closest` (postures); `check_edge`,
`edge_is_free`, `Edge` (straight motions in joint space).

The bodies of the arm are capsules around its skeleton: of each link the stretch along d, then the
one along a (as `plots.ArmArtist` draws them), and what leads from the flange to the tool. Distances
are those between the cores (segments) and the obstacle, minus radii; they are exact, and below zero
they say how far one body must move until it no longer touches (spheres, capsules, boxes,
half-spaces alike).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from course_lib import arm_file
from course_lib.arm import Arm, load_arm
from course_lib.kinematics import link_frames
from course_lib.poses import as_poses, finite

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

CHUNK = 500  # configurations at a time: the arrays of all pairs stay in the processor's cache
STEP = 0.08  # [m] how far a body may move, by its bound, between two samples of the first pass
RESOLUTION = 1e-3  # [m] an interval whose motion is bounded by this is no longer halved


@dataclass(frozen=True, eq=False)
class Sphere:
    """A ball: centre (3,) and radius [m]. may_touch: numbers of links that are not checked."""

    centre: ArrayLike
    radius: float
    name: str = "sphere"
    may_touch: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        _keep(self, centre=finite("centre", self.centre, 3), radius=_size("radius", self.radius))


@dataclass(frozen=True, eq=False)
class Capsule:
    """All points within radius [m] of the segment from start to end (3,)."""

    start: ArrayLike
    end: ArrayLike
    radius: float
    name: str = "capsule"
    may_touch: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        start, end = (finite(key, getattr(self, key), 3) for key in ("start", "end"))
        _keep(self, start=start, end=end, radius=_size("radius", self.radius))


@dataclass(frozen=True, eq=False)
class Box:
    """A box of size (3,) [m] whose centre and axes are those of pose (4, 4)."""

    pose: ArrayLike
    size: ArrayLike
    name: str = "box"
    may_touch: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        pose, size = as_poses("pose", self.pose), _size("size", self.size, 3)
        if pose.shape != (4, 4):
            raise ValueError(f"pose: shape {pose.shape}, expected (4, 4)")
        _keep(self, pose=pose, size=size)


@dataclass(frozen=True, eq=False)
class HalfSpace:
    """All that lies below a plane: normal · p <= offset [m] (a table, a wall)."""

    normal: ArrayLike
    offset: float = 0.0
    name: str = "half-space"
    may_touch: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        normal, offset = finite("normal", self.normal, 3), finite("offset", self.offset)
        length = np.linalg.norm(normal)
        if length == 0:
            raise ValueError("normal: [0, 0, 0], expected a direction")
        _keep(self, normal=normal / length, offset=offset / length)


Obstacle = Sphere | Capsule | Box | HalfSpace


@dataclass(frozen=True, eq=False)
class Scene:
    """What stands around an arm, and a motion to find there.

    obstacles     any of the four shapes
    pairs         pairs of links that are checked against each other; those of `self_pairs` when
                  left out, () for none
    start, goal   (n,) configurations, None where the scene poses no task; feasible: whether a path
                  exists between them; arm: the arm that they are meant for
    """

    obstacles: tuple[Obstacle, ...] = ()
    name: str = "scene"
    about: str = ""
    arm: Arm | None = None
    start: np.ndarray | None = None
    goal: np.ndarray | None = None
    feasible: bool = True
    pairs: tuple[tuple[int, int], ...] | None = None

    def __post_init__(self) -> None:
        obstacles = tuple(self.obstacles)
        for i, one in enumerate(obstacles):
            if not isinstance(one, Obstacle):
                raise ValueError(f"obstacles[{i}]: {one!r}, expected one of {Obstacle}")
        _keep(self, obstacles=obstacles)


def _keep(thing, **values):
    for name, value in values.items():
        object.__setattr__(thing, name, value)


def _size(name, value, *tail):
    """A positive number, or an array of them."""
    value = finite(name, value, *tail)
    if np.any(value <= 0) or value.shape != tail:
        raise ValueError(f"{name}: {value.tolist()}, expected {tail or 'a number'}, positive")
    return value if tail else float(value)


# ---------------------------------------------------------------- the arm as capsules


class Capsules(NamedTuple):
    """The bodies of an arm: capsule b runs from point first[b] to point last[b] of its skeleton.

    frame (K,), local (K, 3)   each point: the frame that it is fixed to, and where in it
    first, last, radius, link  (B,) of each capsule; link n + 1 is the tool
    corner (K,)                its place in the chain foot 1, corner 1, foot 2, … flange, tool
    """

    frame: np.ndarray
    local: np.ndarray
    first: np.ndarray
    last: np.ndarray
    radius: np.ndarray
    link: np.ndarray
    corner: np.ndarray


@lru_cache(maxsize=64)
def capsules(arm: Arm) -> Capsules:
    """The capsules of an arm: the same ones in both conventions."""
    n, x = arm.n, np.eye(3)[0]
    if arm.convention == "standard":
        chain = [(0, 0 * x)]
        for i in range(n):
            chain += [(i + 1, -arm.a[i] * x), (i + 1, 0 * x)]
    else:
        chain = []
        for i in range(n):
            chain += [(i, arm.a[i] * x), (i + 1, 0 * x)]
        chain += [(n, 0 * x)]
    chain = [*chain[:-1], (n, arm.flange), (n, arm.tool[:3, 3])]
    length = _lengths(arm)
    kept = [k for k in range(2 * n) if length[k] > 1e-9 or arm.joint_types[k // 2] == "prismatic"]
    kept += [2 * i for i in range(n) if not {2 * i, 2 * i + 1} & set(kept)]
    kept = sorted([*kept, 2 * n] if length[2 * n] > 1e-9 else kept)
    corner = sorted({k for stretch in kept for k in (stretch, stretch + 1)})
    place = {k: i for i, k in enumerate(corner)}
    link = np.array([k // 2 + 1 for k in kept])
    return Capsules(
        np.array([chain[k][0] for k in corner]),
        np.array([chain[k][1] for k in corner]),
        np.array([place[k] for k in kept]),
        np.array([place[k + 1] for k in kept]),
        arm.radius[np.minimum(link, n) - 1],
        link,
        np.array(corner),
    )


def _lengths(arm, slid=0.0):
    """(2n+1,) of the stretches of the skeleton; slid (n,): how far sliding joints are out."""
    a = np.abs(arm.a if arm.convention == "standard" else np.r_[arm.a[1:], 0.0])
    corner = np.array([-arm.a[-1] if arm.convention == "standard" else 0.0, 0, 0])
    a[-1] = np.linalg.norm(arm.flange - corner)
    d = np.abs(arm.d) + np.where(arm.revolute, 0.0, slid)
    return np.r_[np.stack([d, a], axis=1).ravel(), np.linalg.norm(arm.tool[:3, 3] - arm.flange)]


@lru_cache(maxsize=64)
def self_pairs(arm: Arm) -> tuple[tuple[int, int], ...]:
    """The pairs of links that are checked against each other: those that do not always touch.

    Neighbours meet in their joint, and two links with only a short one between them can't part:
    wherever the length of skeleton between two links is at most the sum of their radii.
    """
    body = capsules(arm)
    between = np.concatenate([[0.0], np.cumsum(_lengths(arm))])
    pairs = {
        (int(body.link[i]), int(body.link[j]))
        for i in range(len(body.link))
        for j in range(i)
        if body.link[i] != body.link[j]
    }
    radius = np.r_[arm.radius, arm.radius[-1]]
    apart = lambda i, j: between[2 * (j - 1)] - between[2 * i]  # end of i to start of j
    pairs = sorted((j, i) for i, j in pairs)
    return tuple((i, j) for i, j in pairs if apart(i, j) > radius[i - 1] + radius[j - 1])


# ---------------------------------------------------------------- distances, arrays (3, pairs, N)


def _to_sphere(A, D, s):
    """Segments A + t D, t in [0, 1], to centres: the foot of the perpendicular, kept inside."""
    w = s["centre"] - A
    t = _ratio(_dot(w, D), _dot(D, D))
    return _norm(w - t * D) - s["radius"]


def _to_capsule(A, D, s):
    """Segment to segment: the nearest points of the lines, then each kept inside its segment.

    Ericson, Real-Time Collision Detection 2005, 5.1.9; parallel and zero-length ones included.
    """
    B, E = s["start"], s["along"]
    w = A - B
    a, e, b, c, f = _dot(D, D), _dot(E, E), _dot(D, E), _dot(D, w), _dot(E, w)
    t = _ratio(b * f - c * e, a * e - b * b)
    u = _ratio(b * t + f, e)
    t = _ratio(b * u - c, a)
    return _norm(w + t * D - u * E) - s["radius"]


def _to_half_space(A, D, s):
    height = _dot(s["normal"], A)
    return np.minimum(height, height + _dot(s["normal"], D)) - s["offset"]


def _to_box(A, D, s):
    """Segment to box, in the box's axes. Outside, the squared distance along the segment is convex;

    its slope is piecewise linear with kinks where the line crosses a face's plane. Inside, the
    depth is the least overlap along the normals of box minus segment.
    """
    R, h = s["axes"], s["half"]
    A = np.stack([_dot(axis, A - s["centre"]) for axis in R])
    D = np.stack([_dot(axis, D) for axis in R])
    beyond = lambda t: _beyond(A + t * D, h)
    slope = lambda t: _dot(beyond(t), D)
    low, high = np.zeros(A.shape[1:]), np.ones(A.shape[1:])
    at_low, at_high = slope(0.0), slope(1.0)
    for k in range(3):
        for side in (-1, 1):
            t = np.clip(_divided(side * h[k] - A[k], D[k]), low, high)
            g = slope(t)
            up = g > 0
            low, at_low = np.where(up, low, t), np.where(up, at_low, g)
            high, at_high = np.where(up, t, high), np.where(up, g, at_high)
    t = low - (high - low) * _divided(at_low, at_high - at_low)
    t = np.where(at_low >= 0, low, np.where(at_high <= 0, high, t))
    distance = _norm(beyond(t))
    inside = np.nonzero(distance == 0)
    if inside[0].size:
        half = np.broadcast_to(h, A.shape)
        distance[inside] = -_depth(*(v[(slice(None), *inside)] for v in (A, D, half)))
    return distance


def _depth(A, D, h):
    """How far a segment (3, k) must move until it leaves a box of half sizes h (3, k)."""
    middle, reach = A + D / 2, np.abs(D) / 2
    overlap = [h[k] + reach[k] - np.abs(middle[k]) for k in range(3)]
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        length = np.hypot(D[i], D[j])  # the normal axis k x D
        shadow = h[i] * np.abs(D[j]) + h[j] * np.abs(D[i])
        gap = shadow - np.abs(middle[j] * D[i] - middle[i] * D[j])
        overlap.append(np.where(length > 1e-12, gap / np.maximum(length, 1e-12), np.inf))
    return np.min(overlap, axis=0)


def _beyond(p, h):
    return np.maximum(p - h, 0) + np.minimum(p + h, 0)


def _dot(u, v):
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


def _norm(v):
    return np.sqrt(_dot(v, v))


def _divided(a, b):
    """a / b, and 0 where b is 0."""
    return a / np.where(b == 0, np.inf, b)


def _ratio(a, b):
    """a / b kept between 0 and 1; 0 where b is 0."""
    return np.clip(_divided(a, b), 0, 1)


# ---------------------------------------------------------------- all pairs of an arm in a scene


class Group(NamedTuple):
    """Pairs of one kind: the measure, body and obstacle of each, and the obstacles' arrays.

    between: for pairs of two bodies the second one, else None.
    """

    measure: Any
    body: np.ndarray
    other: np.ndarray
    shape: dict


def _columns(rows):
    """(3, k, 1) of k vectors."""
    return np.array(rows, float).T[:, :, None]


SHAPES = {
    Sphere: (
        _to_sphere,
        lambda o: {
            "centre": _columns([x.centre for x in o]),
            "radius": np.array([[x.radius] for x in o]),
        },
    ),
    Capsule: (
        _to_capsule,
        lambda o: {
            "start": _columns([x.start for x in o]),
            "along": _columns([x.end - x.start for x in o]),
            "radius": np.array([[x.radius] for x in o]),
        },
    ),
    Box: (
        _to_box,
        lambda o: {
            "centre": _columns([x.pose[:3, 3] for x in o]),
            "half": _columns([x.size / 2 for x in o]),
            "axes": np.stack([_columns([x.pose[:3, k] for x in o]) for k in range(3)]),
        },
    ),
    HalfSpace: (
        _to_half_space,
        lambda o: {
            "normal": _columns([x.normal for x in o]),
            "offset": np.array([[x.offset] for x in o]),
        },
    ),
}


@lru_cache(maxsize=64)
def _groups(arm, scene):
    """Every pair that is checked, by the shape of the obstacle; last the arm with itself."""
    body, groups = capsules(arm), []
    for shape, (measure, arrays) in SHAPES.items():
        ids = [
            (b, o)
            for o, one in enumerate(scene.obstacles)
            if type(one) is shape
            for b, link in enumerate(body.link)
            if link not in one.may_touch
        ]
        if ids:
            b, o = np.array(ids).T
            groups.append(Group(measure, b, o, arrays([scene.obstacles[k] for k in o])))
    pairs = self_pairs(arm) if scene.pairs is None else scene.pairs
    link = body.link.tolist()
    ids = [
        (i, j) for i in range(len(link)) for j in range(len(link)) if (link[i], link[j]) in pairs
    ]
    if ids:
        i, j = np.array(ids).T
        groups.append(Group(None, i, j, {"radius": body.radius[j, None]}))
    return tuple(groups)


def _points(arm, q):
    """(3, K, N): the points of the skeleton, for q (N, n)."""
    body = capsules(arm)
    T = link_frames(arm, q)[:, body.frame]
    p = T[..., :3, 3] + (T[..., :3, :3] @ body.local[..., None])[..., 0]
    return np.ascontiguousarray(p.T)


def _measured(arm, groups, P):
    """One array (pairs, N) of signed clearances [m] for each group, from points P (3, K, N)."""
    body = capsules(arm)
    A = P[:, body.first]
    D = P[:, body.last] - A
    found = []
    for group in groups:
        b, shape, measure = group.body, group.shape, group.measure
        if measure is None:
            shape = {"start": A[:, group.other], "along": D[:, group.other], **shape}
            measure = _to_capsule
        found.append(measure(A[:, b], D[:, b], shape) - body.radius[b, None])
    return found


def clearance(arm: Arm, scene: Scene, q: ArrayLike) -> np.ndarray:
    """Least signed distance [m] of the arm to the scene and to itself; (...) for q (..., n).

    Below zero where bodies overlap: by so much one must move at least. inf without any pair.
    `ValueError` for q of another shape, or not finite.
    """
    q = finite("q", q, arm.n)
    rows, groups = q.reshape(-1, arm.n), _groups(arm, scene)
    least = np.full(len(rows), np.inf)
    for k in range(0, len(rows), CHUNK):
        part = slice(k, k + CHUNK)
        for found in _measured(arm, groups, _points(arm, rows[part])):
            least[part] = np.minimum(least[part], found.min(axis=0))
    return least.reshape(q.shape[:-1])[()]


# ---------------------------------------------------------------- between two postures


def edge_is_free(
    arm: Arm, scene: Scene, q0: ArrayLike, q1: ArrayLike, margin: float = 0.0
) -> bool | np.ndarray:
    """Whether the straight motion from q0 to q1 (..., n) keeps more than margin [m], everywhere."""
    q0, q1 = np.broadcast_arrays(finite("q0", q0, arm.n), finite("q1", q1, arm.n))
    if q0.ndim == 1:
        return check_edge(arm, scene, q0, q1, margin).free
    ends = zip(q0.reshape(-1, arm.n), q1.reshape(-1, arm.n))
    free = [check_edge(arm, scene, *pair, margin).free for pair in ends]
    return np.array(free, bool).reshape(q0.shape[:-1])


class Edge(NamedTuple):
    """Whether an edge is free; where it is not: the share t of the way, clearance there; counts."""

    free: bool
    t: float
    clearance: float
    samples: int


def check_edge(arm, scene, q0, q1, margin=0.0) -> Edge:
    """Adaptive halving: an interval is free if both its ends are farther away than it can move."""
    groups, move = _groups(arm, scene), q1 - q0
    speed, bend = _bounds(arm, np.abs(move), np.maximum(np.abs(q0), np.abs(q1)))
    count = max(2, int(np.ceil(speed.max() / STEP)) + 1)
    t = np.linspace(0, 1, count)
    P, c = _sampled(arm, groups, q0, move, t)
    samples = count
    body = capsules(arm)
    while True:
        least = np.min([x.min(axis=0) for x in c], axis=0) if c else np.full(len(t), np.inf)
        worst = int(np.argmin(least))
        if least[worst] <= margin:
            return Edge(False, float(t[worst]), float(least[worst]), samples)
        step = np.diff(t)
        moved = _norm(np.diff(P, axis=2))
        moved = np.maximum(moved[body.first], moved[body.last]) + bend[:, None] * step**2 / 4
        open_ = np.zeros(len(step), bool)
        for group, x in zip(groups, c):
            far = moved[group.body]
            if group.measure is None:
                far = far + moved[group.other]
            open_ |= (x[:, 1:] + x[:, :-1] - 2 * margin <= far).any(axis=0)
        if not open_.any():
            return Edge(True, float(t[worst]), float(least[worst]), samples)
        if moved[:, open_].max(axis=0).min() <= RESOLUTION / 2:
            k = np.flatnonzero(open_)[0]
            return Edge(False, float(t[k]), float(least[k]), samples)
        k = np.flatnonzero(open_)
        new = (t[k] + t[k + 1]) / 2
        P_new, c_new = _sampled(arm, groups, q0, move, new)
        samples += len(new)
        t = np.insert(t, k + 1, new)
        P = np.insert(P, k + 1, P_new, axis=2)
        c = [np.insert(old, k + 1, one, axis=1) for old, one in zip(c, c_new)]


def _sampled(arm, groups, q0, move, t):
    P = _points(arm, q0 + t[:, None] * move)
    return P, _measured(arm, groups, P)


def _reach(arm, slid):
    """(n, B): how far a point of each body can be from the axis of each joint [m], 0 before it."""
    body = capsules(arm)
    length = _lengths(arm, slid)
    place = np.concatenate([[0.0], np.cumsum(length)])
    ends = np.maximum(body.corner[body.first], body.corner[body.last])
    return np.array([np.maximum(place[ends] - place[2 * k + 1], 0.0) for k in range(arm.n)])


def _bounds(arm, u, slid):
    """(B,) twice: at most how fast a body moves and how much its path bends, per whole edge [m]."""
    reach = np.where(arm.revolute[:, None], _reach(arm, slid), 1.0)
    moves = 2 * np.arange(arm.n)[:, None] < capsules(arm).corner[capsules(arm).last]
    reach = reach * moves
    k = np.arange(arm.n)
    outer, inner = np.maximum.outer(k, k), np.minimum.outer(k, k)
    W = np.where(arm.revolute[inner][..., None], reach[outer], 0.0)
    return u @ reach, np.einsum("k,l,klb->b", u, u, W)


# ---------------------------------------------------------------- scenes in files

SCENES = Path(__file__).resolve().parent.parent / "data" / "scenes"


def load_scene(name_or_path: str | Path) -> Scene:
    """Read `data/scenes/<name>.yaml`, or the file at a path. Errors name file, field and value."""
    path = arm_file.find(name_or_path, SCENES)
    try:
        return _scene(arm_file.content(path))
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None


FILE_FIELDS = ("name", "about", "arm", "start", "goal", "feasible", "obstacles")
SHAPE_FIELDS = {
    "sphere": (Sphere, ("centre", "radius")),
    "capsule": (Capsule, ("start", "end", "radius")),
    "box": (Box, ("pose", "size")),
    "half_space": (HalfSpace, ("normal", "offset")),
}


def _scene(said):
    arm_file.require_fields("file", said, FILE_FIELDS, needed=("name", "arm", "obstacles"))
    arm, fields = load_arm(said["arm"]), {}
    for key in ("start", "goal"):
        if key in said:
            fields[key] = finite(key, arm_file.numbers(key, said[key]), arm.n)
    if not isinstance(said["obstacles"], list):
        raise ValueError(f"obstacles: {said['obstacles']!r}, expected a list")
    obstacles = [_obstacle(f"obstacles[{i}]", one) for i, one in enumerate(said["obstacles"])]
    words = {key: said[key] for key in ("name", "about", "feasible") if key in said}
    return Scene(tuple(obstacles), arm=arm, **words, **fields)


def _obstacle(where, said):
    if not isinstance(said, dict) or said.get("shape") not in SHAPE_FIELDS:
        raise ValueError(f"{where}.shape: {said!r}, expected one of {list(SHAPE_FIELDS)}")
    shape, needed = SHAPE_FIELDS[said["shape"]]
    arm_file.require_fields(where, said, ("shape", "name", "may_touch", *needed), needed)
    read = lambda key: arm_file.pose_of if key == "pose" else arm_file.numbers
    fields = {key: read(key)(f"{where}.{key}", said[key]) for key in needed}
    fields |= {"name": said.get("name", said["shape"]), "may_touch": said.get("may_touch", ())}
    try:
        return shape(**fields)
    except ValueError as error:
        raise ValueError(f"{where}.{error}") from None
