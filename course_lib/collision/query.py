"""Does an arm touch anything: in postures, and between them?

Public names: `capsules`, `self_pairs`; `clearance`, `closest`, `Closest`; `edge_is_free`,
`check_edge`, `Edge`.

Arrays inside are (3, pairs, N), one column each configuration.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from course_lib.arm import Arm
from course_lib.collision.scene import Box, Capsule, Scene, Sphere, norm, shape_of
from course_lib.dh import dh_matrix, mdh_matrix
from course_lib.kinematics import frames_of_columns
from course_lib.poses import finite

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

AT_ONCE = 18_000  # pairs times configurations: their arrays stay in the processor's cache
FEW = 64  # configurations, or pairs, are too few for what pays with many
SPLIT = 16  # obstacles that are looked at first; postures that are not halved
STEP = 0.05  # [m] that a body moves, by its bound, between two samples of the first pass at most
RESOLUTION = 1e-3  # [m] an interval in which no body moves farther is not halved again


# ---------------------------------------------------------------- the arm as capsules


class Capsules(NamedTuple):
    """The bodies of an arm: capsule b runs from point first[b] to point last[b] of its skeleton.

    frame, local   (K,), (K, 3)   of each point the frame that it is fixed to, and where in it
    place          (K,) its number in the chain foot 1, corner 1, foot 2, … flange, tool
    first, last, radius, link     (B,) of each capsule; link n + 1 is the tool
    """

    frame: np.ndarray
    local: np.ndarray
    place: np.ndarray
    first: np.ndarray
    last: np.ndarray
    radius: np.ndarray
    link: np.ndarray


@lru_cache(maxsize=64)
def capsules(arm: Arm) -> Capsules:
    """The capsules of an arm: the same ones in both conventions; a tool adds one at the end."""
    n, along_x = arm.n, np.diag([1.0, 0, 0])[0]
    standard = arm.convention == "standard"
    chain = [(0, 0 * along_x)] if standard else []
    for i in range(n):
        step = (i + 1, -arm.a[i] * along_x) if standard else (i, arm.a[i] * along_x)
        chain += [step, (i + 1, 0 * along_x)]
    chain = chain[: 2 * n] + [(n, arm.flange), (n, arm.tool[:3, 3])]
    is_long = _stretches(arm, np.inf) > 1e-9
    same = [0]  # a stretch without length ends where it begins
    for k, long in enumerate(is_long):
        same.append(k + 1 if long else same[-1])
    links = [[k for k in (2 * i, 2 * i + 1) if is_long[k]] or [2 * i] for i in range(n)]
    stretches = np.array([*sum(links, []), *([2 * n] if is_long[2 * n] else [])])
    place, ends = np.unique(np.array(same)[[stretches, stretches + 1]], return_inverse=True)
    frame, local = zip(*(chain[k] for k in place))
    link = stretches // 2 + 1
    radius = arm.radius[np.minimum(link, n) - 1]
    return Capsules(np.array(frame), np.array(local), place, *ends.reshape(2, -1), radius, link)


def _stretches(arm, slid):
    """(2n + 1,) lengths along the skeleton: d, a, d, a … tool; slid: how far sliding joints are."""
    standard = arm.convention == "standard"
    corner = np.array([-arm.a[-1] * standard, 0, 0])
    a = np.abs(arm.a if standard else np.roll(arm.a, -1))
    a[-1] = np.linalg.norm(arm.flange - corner)
    d = np.abs(arm.d) + np.where(arm.revolute, 0.0, slid)
    tool = np.linalg.norm(arm.tool[:3, 3] - arm.flange)
    return np.append(np.stack([d, a], axis=1), tool)


@lru_cache(maxsize=64)
def self_pairs(arm: Arm) -> tuple[tuple[int, int], ...]:
    """The pairs of links that are checked against each other: all but those that always touch.

    Neighbours meet in their joint; so do links between which there is no more skeleton than the
    sum of their radii.
    """
    slid = np.maximum(np.abs(arm.q_min), np.abs(arm.q_max))
    ends = np.append(0.0, np.cumsum(_stretches(arm, slid)))
    body = capsules(arm)
    radius = dict(zip(body.link.tolist(), body.radius))
    between = lambda i, j: ends[2 * j - 2] - ends[2 * i]
    return tuple(
        (i, j) for i in radius for j in radius if i < j and between(i, j) > radius[i] + radius[j]
    )


@lru_cache(maxsize=64)
def _rows(arm):
    """Matrices U, V, W (n, 4, 4), base in the first: row i is cos q U + sin q V + W; q U + W."""
    row = dh_matrix if arm.convention == "standard" else mdh_matrix
    turned = lambda q: row(arm.a, arm.alpha, arm.d, arm.theta + q)
    turns = arm.revolute[:, None, None]
    slid = row(arm.a, arm.alpha, arm.d + 1.0, arm.theta) - turned(0)
    W = np.where(turns, (turned(0) + turned(np.pi)) / 2, turned(0))
    U = np.where(turns, (turned(0) - turned(np.pi)) / 2, slid)
    V = np.where(turns, turned(np.pi / 2) - W, 0.0)
    for M in (U, V, W):
        M[0] = arm.base @ M[0]
    return U, V, W, arm.revolute


def _points(arm, q):
    """The points (3, K, N) of the skeleton for q (N, n)."""
    body = capsules(arm)
    if len(q) > FEW:
        frames = list(frames_of_columns(arm, np.ascontiguousarray(q.T)))
        moved = lambda f, local: sum((x * f[k] for k, x in enumerate(local) if x), start=f[3])
        return np.stack([moved(frames[f], x) for f, x in zip(body.frame, body.local)], axis=1)
    U, V, W, turns = _rows(arm)
    c, s = (np.cos(q), np.sin(q)) if turns.all() else np.where(turns, [np.cos(q), np.sin(q)], q)
    A = c[..., None, None] * U + s[..., None, None] * V + W
    T = np.empty((len(q), arm.n + 1, 4, 4))
    T[:, 0], T[:, 1] = arm.base, A[:, 0]
    for i in range(1, arm.n):
        np.matmul(T[:, i], A[:, i], out=T[:, i + 1])
    T = T[:, body.frame]
    p = T[..., :3, 3]
    if body.local.any():
        p = p + (T[..., :3, :3] @ body.local[..., None])[..., 0]
    return np.ascontiguousarray(p.transpose(2, 1, 0))


# ---------------------------------------------------------------- all pairs of an arm in a scene


class Group(NamedTuple):
    """Pairs of one kind: S obstacles against bodies (1, B); or bodies (P,) against other bodies.

    shape, box   fields (…, S, 1, 1), lowest and highest corners (3, S, 1) of the obstacles, or None
    other        (S, 1) numbers of the obstacles, or (P,) of the other bodies
    """

    kind: type
    bodies: np.ndarray
    other: np.ndarray
    shape: list | None = None
    box: list | None = None

    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Two arrays (pairs,): the number of the body, and that of the obstacle or other body."""
        return tuple(x.ravel() for x in np.broadcast_arrays(self.bodies, self.other))

    def some(self, mask: np.ndarray) -> Group:
        """The obstacles for which mask (S,) says so; bodies against bodies stay as they are."""
        if self.shape is None:
            return self
        shape = [x[..., mask, :, :] for x in self.shape]
        return self._replace(
            other=self.other[mask], shape=shape, box=[x[:, mask] for x in self.box]
        )


@lru_cache(maxsize=64)
def _groups(arm, scene):
    """Every pair that is checked: obstacles of one kind that the same links may touch; itself."""
    body, groups, alike = capsules(arm), [], {}
    for o, one in enumerate(scene.obstacles):
        alike.setdefault((type(one), tuple(one.may_touch)), []).append(o)
    for (kind, may_touch), numbers in alike.items():
        solids = [scene.obstacles[o] for o in numbers]
        stack = lambda values: np.moveaxis(np.array(values, float), 0, -1)[..., None]
        shape = [stack([getattr(x, key) for x in solids])[..., None] for key in shape_of(kind)]
        bodies = np.flatnonzero(~np.isin(body.link, may_touch))
        box = [stack(corners) for corners in zip(*(x.bounds() for x in solids))]
        groups.append(Group(kind, bodies[None], np.array(numbers)[:, None], shape, box))
    checked, link = self_pairs(arm) if scene.pairs is None else scene.pairs, body.link.tolist()
    own = [(i, j) for i, k in enumerate(link) for j, m in enumerate(link) if (k, m) in checked]
    return (*groups, Group(Capsule, *np.array(own).T)) if own else tuple(groups)


def _measured(arm, groups, P):
    """Of each group signed clearances (pairs, N) [m], t (pairs, N), ways (3, pairs, N)."""
    body = capsules(arm)
    A, B = P[:, body.first], P[:, body.last]
    D = B - A
    for kind, bodies, other, shape, _ in groups:
        if shape is None:
            shape = A[:, other], B[:, other], body.radius[other, None]
        gap, t, way = kind.measure(A[:, bodies], D[:, bodies], *shape)
        gap -= body.radius[bodies][..., None]
        yield (x.reshape(*x.shape[:k], -1, x.shape[-1]) for x, k in ((gap, 0), (t, 0), (way, 1)))


def _gaps(arm, groups, P):
    """(pairs, N): the clearances of all groups."""
    rows = [gap for gap, _, _ in _measured(arm, groups, P)]
    return np.concatenate([np.empty((0, P.shape[2])), *rows])


def _boxes(arm, P):
    """Lowest and highest corners (3, B) of the boxes that hold the bodies in all N postures."""
    body, low, high = capsules(arm), P.min(axis=2), P.max(axis=2)
    low = np.minimum(low[:, body.first], low[:, body.last]) - body.radius
    return low, np.maximum(high[:, body.first], high[:, body.last]) + body.radius


def _apart(groups, low, high):
    """Of each group (S,): how far its obstacles' boxes are at least from all boxes (3, B) [m]."""
    for g in groups:
        if g.box is None:
            yield np.zeros(1)
        else:
            gap = np.maximum(g.box[0] - high[:, None], low[:, None] - g.box[1])
            yield norm(np.maximum(gap, 0, out=gap)).min(axis=1)


def _within(groups, reach, low, high):
    """The groups without the obstacles that are farther than reach [m] from all boxes (3, B)."""
    whole = low.min(axis=1, keepdims=True), high.max(axis=1, keepdims=True)
    for boxes in (whole, (low, high)):
        groups = [g.some(x <= reach) for g, x in zip(groups, _apart(groups, *boxes))]
    return groups


# ---------------------------------------------------------------- postures


def clearance(arm: Arm, scene: Scene, q: ArrayLike) -> np.ndarray:
    """Least signed distance [m] of the arm from the scene and from itself: (...) for q (..., n).

    Exact for all solids; inf where nothing is checked. `ValueError` for another q.
    """
    q = finite("q", q, arm.n)
    rows, groups = q.reshape(-1, arm.n), _groups(arm, scene)
    least, few = [np.empty(0)], AT_ONCE // min(max(1, _size(groups)), FEW)
    for k in range(0, len(rows), AT_ONCE):
        P = _points(arm, rows[k : k + AT_ONCE])
        parts = (P[..., i : i + few] for i in range(0, P.shape[2], few))
        least += [_least(arm, groups, part) for part in parts]
    return np.concatenate(least).reshape(q.shape[:-1])[()]


def _least(arm, groups, P):
    """(N,) clearances; obstacles whose boxes are farther away than what was found are left out.

    Half of the postures have smaller boxes, which leave out more.
    """
    if _size(groups) <= FEW:
        return _nearest(arm, groups, P)
    apart = [*_apart(groups, *_boxes(arm, P))]
    near = np.sort(np.concatenate(apart))[:SPLIT][-1]
    found = _nearest(arm, [g.some(x <= near) for g, x in zip(groups, apart)], P)
    rest = [g.some((x > near) & (x < found.max())) for g, x in zip(groups, apart) if g.shape]
    if P.shape[2] <= SPLIT:
        return np.minimum(found, _nearest(arm, rest, P))
    halves = [_least(arm, rest, half) for half in np.array_split(P, 2, axis=2)]
    return np.minimum(found, np.concatenate(halves))


def _size(groups):
    return sum(np.broadcast(g.bodies, g.other).size for g in groups)


def _nearest(arm, groups, P):
    """(N,) clearances; boxes, which take long, only where they can be nearest."""
    found = np.full(P.shape[2], np.inf)
    for gap, _, _ in _measured(arm, [g for g in groups if g.kind is not Box], P):
        np.minimum(found, gap.min(axis=0, initial=np.inf), out=found)
    for g in groups:
        if g.kind is Box:
            _nearest_box(arm, g, P, found)
    return found


def _nearest_box(arm, g, P, found):
    """Put into found (N,) what is less. A box lies between two balls, whose distances are quick."""
    body, (pose, size) = capsules(arm), g.shape
    A = P[:, body.first[g.bodies]]
    D = P[:, body.last[g.bodies]] - A
    radius = body.radius[g.bodies][..., None]
    middle = Sphere.measure(A, D, pose[:3, 3], radius)[0]
    most = np.minimum(
        found, (middle - size.min(axis=0) / 2).reshape(-1, len(found)).min(axis=0, initial=np.inf)
    )
    at = np.nonzero(middle - norm(size) / 2 <= most)
    pick = lambda x: np.broadcast_to(x, (*x.shape[: x.ndim - middle.ndim], *middle.shape))[..., *at]
    np.minimum.at(found, at[-1], Box.measure(*map(pick, (A, D, pose, size)))[0] - pick(radius))


class Closest(NamedTuple):
    """Which pair is nearest, where, and how far apart or how deep in each other they are.

    clearance (...) [m]; link (...): number of the arm's link (n + 1: the tool); other (...): the
    obstacle's name, or "link 4"; point (..., 3): on the skin of the link, nearest to the other
    """

    clearance: np.ndarray
    link: np.ndarray
    other: np.ndarray
    point: np.ndarray
    way: np.ndarray


def closest(arm: Arm, scene: Scene, q: ArrayLike) -> Closest:
    """The pair with the least clearance in each of the configurations q (..., n)."""
    q, body, groups = finite("q", q, arm.n), capsules(arm), _groups(arm, scene)
    if not groups:
        raise ValueError(f"scene: {scene.name!r} holds no pair, expected something to check")
    P = _points(arm, q.reshape(-1, arm.n))
    gap, t, way = (np.concatenate(x, axis=-2) for x in zip(*_measured(arm, groups, P)))
    least, each = gap.argmin(axis=0), np.arange(P.shape[2])
    own = [f"link {k}" for k in body.link]
    pairs = [(b, o, g.shape) for g in groups for b, o in zip(*g.pairs())]
    other = [scene.obstacles[o].name if shape else own[o] for _, o, shape in pairs]
    b = np.array([b for b, _, _ in pairs])[least]
    A, B, way = P[:, body.first[b], each], P[:, body.last[b], each], way[:, least, each]
    unit = way / np.maximum(norm(way), 1e-300)
    point = A + t[least, each] * (B - A) + body.radius[b] * unit
    gap = gap[least, each]
    stack = (gap, body.link[b], np.array(other)[least], point.T, (gap * unit).T)
    return Closest(*(x.reshape(q.shape[:-1] + x.shape[1:])[()] for x in stack))


# ---------------------------------------------------------------- between two postures


class Edge(NamedTuple):
    """Whether an edge is free, and if not why; t and clearance [m] of its nearest sample seen."""

    free: bool
    reason: str
    t: float
    clearance: float
    samples: int


def edge_is_free(
    arm: Arm, scene: Scene, q0: ArrayLike, q1: ArrayLike, margin: float = 0.0
) -> bool | np.ndarray:
    """Whether the straight motion from q0 to q1 (..., n) keeps more than margin [m], everywhere.

    True is proven; False means that it comes within margin + .5 mm somewhere. As `check_edge`.
    """
    q0, q1 = np.broadcast_arrays(finite("q0", q0, arm.n), finite("q1", q1, arm.n))
    pairs = zip(q0.reshape(-1, arm.n), q1.reshape(-1, arm.n))
    free = [check_edge(arm, scene, *pair, margin).free for pair in pairs]
    return free[0] if q0.ndim == 1 else np.array(free, bool).reshape(q0.shape[:-1])


def check_edge(arm: Arm, scene: Scene, q0: ArrayLike, q1: ArrayLike, margin: float = 0.0) -> Edge:
    """Halve the edge until each interval is proven free, or a sample is too near.

    Between two samples a point leaves the straight line from place to place by at most 1/8 of the
    largest second derivative. So a pair with clearances c0, c1 keeps more than
    (c0 + c1 - chord) / 2 - bend / 8. What turns with both bodies of a pair does not count.
    """
    q0, q1 = finite("q0", q0, arm.n), finite("q1", q1, arm.n)
    for name, q in (("q0", q0), ("q1", q1)):
        if q.ndim != 1:
            raise ValueError(f"{name}: shape {q.shape}, expected ({arm.n},)")
    speed, bend, between = _motion(arm, q0, q1)
    t = np.linspace(0, 1, max(2, int(speed.max() / STEP) + 2))
    P, groups, move = _points(arm, q0 + t[:, None] * (q1 - q0)), _groups(arm, scene), q1 - q0
    if _size(groups) > FEW:
        groups = _within(groups, margin + bend.max() * t[1] ** 2 / 8, *_boxes(arm, P))
    now = t, P, _gaps(arm, groups, P)
    left, right = [x[..., :-1] for x in now], [x[..., 1:] for x in now]
    samples, step = len(t), t[1]
    while True:
        least = now[2].min(axis=0, initial=np.inf)
        k = least.argmin()
        if least[k] <= margin:
            return _blocked(now[0][k], least[k], samples)
        room = left[2] + right[2] - 2 * margin
        moved = _moved(arm, groups, right[1] - left[1], bend * step**2 / 4, between * step)
        narrow = room <= moved
        is_open = narrow.any(axis=0)
        if not is_open.any():
            return Edge(True, "free", float(now[0][k]), float(least[k]), samples)
        stuck = (narrow & (moved <= RESOLUTION)).any(axis=0)
        if stuck.any():
            k = stuck.argmax()
            return _blocked(left[0][k], left[2][:, k].min(), samples)
        left, right = ([x[..., is_open] for x in side] for side in (left, right))
        t, step = (left[0] + right[0]) / 2, step / 2
        P = _points(arm, q0 + t[:, None] * move)
        now = t, P, _gaps(arm, groups, P)
        left, right = _joined(left, now), _joined(now, right)
        samples += len(t)


def _joined(one, other):
    return [np.concatenate(pair, axis=-1) for pair in zip(one, other)]


def _blocked(t, clearance, samples):
    reason = f"clearance {1e3 * clearance:.1f} mm at {t:.3f} of the way"
    return Edge(False, reason, float(t), float(clearance), samples)


def _moved(arm, groups, chord, bend, between):
    """(pairs, I): how much less the clearance of a pair can be inside than the ends say, twice."""
    body, chord = capsules(arm), norm(chord)
    far = np.maximum(chord[body.first], chord[body.last]) + bend[:, None]
    rows = [far[:0]]
    for g in groups:
        b, other = g.pairs()
        rows.append(far[b] if g.shape else np.broadcast_to(between[b, other, None], far[b].shape))
    return np.concatenate(rows)


def _motion(arm, q0, q1):
    """Bounds of a motion [m]: (B,) speed and second derivative of a body, (B, B) between bodies."""
    turning = all(kind == "revolute" for kind in arm.joint_types)
    slid = () if turning else tuple(np.maximum(np.abs(q0), np.abs(q1)))
    reach, bends, between = _reach(arm, slid)
    u = np.abs(q1 - q0)
    return u @ reach, u @ np.tensordot(u, bends, 1), np.tensordot(u, between, 1)


@lru_cache(maxsize=64)
def _reach(arm, slid):
    """By how much a joint moves a body at most, per unit: (n, B), (n, n, B) second, (n, B, B).

    A point is no farther from an axis than the skeleton between them is long. The joint nearer to
    the tool decides the second derivative: |z_k x (z_l x r)| <= r.
    """
    body, k, turns = capsules(arm), np.arange(arm.n), arm.revolute
    ends = np.append(0.0, np.cumsum(_stretches(arm, np.array(slid) if slid else 0.0)))
    place = body.place[body.last]
    moves = place >= 2 * k[:, None] + 1
    reach = np.where(turns[:, None], ends[place] - ends[2 * k + 1, None], 1.0) * moves
    inner, outer = np.minimum.outer(k, k), np.maximum.outer(k, k)
    bends = np.where(turns[inner][..., None], reach[outer], 0.0)
    after = (k + ~turns)[:, None, None] >= body.link[:, None]
    return reach, bends, np.where(after, reach[:, None], 0.0)
