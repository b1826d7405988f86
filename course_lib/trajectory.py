"""When is the arm where?  Motions in time that keep every limit of speed, acceleration and jerk.

Public names: `Trajectory`; `cubic`, `quintic`, `trapezoid`, `scurve`, `shortest_duration`,
`synchronise`; `spline`, `blend`; `phase_plane`, `time_optimal`.

Every motion is a `Trajectory`: polynomials of time, piece after piece, so that its peaks are known
exactly and not only at samples. Limits are used fully; `margin=0.2` keeps 20 % of each in reserve.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from math import factorial, inf, sqrt
from typing import TYPE_CHECKING

import numpy as np

from course_lib.poses import finite, numbers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

ROUNDING = 1e-12  # distances and times that differ by less are equal


@dataclass(frozen=True, eq=False)
class Trajectory:
    """q(t) as polynomials. Called with t (...) [s], it gives q, qd, qdd, each (..., n).

    breaks  (m+1,) where the pieces begin and end [s], counted from the start
    coefs   (k+1, m, n) of each piece, highest power first, of the time since the piece began: those
            of SciPy's `PPoly(coefs, breaks)`; (k+1, m) for a single joint, whose q is (...)
    t0      the time of the start [s]

    Before the start and after the end the arm stands still. Where the acceleration steps, the value
    after the step counts; at the very end, the one before it.
    """

    breaks: np.ndarray
    coefs: np.ndarray
    t0: float = 0.0

    @property
    def duration(self) -> float:
        """[s]"""
        return float(self.breaks[-1])

    def __call__(self, t: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Position [rad or m], velocity and acceleration at t (...) [s]."""
        return tuple(self._at(t, 0, 1, 2))

    def jerk(self, t: ArrayLike) -> np.ndarray:
        """Third derivative at t (...) [s]; a step of the acceleration doesn't show in it."""
        return self._at(t, 3)[0]

    def peaks(self, order: int) -> np.ndarray:
        """Largest |speed| (1), |acceleration| (2) or |jerk| (3) in each piece, (m, n). Exact."""
        from scipy.interpolate import PPoly

        c, slope = self._derivative(order), self._derivative(order + 1)
        length = np.diff(self.breaks).reshape(-1, *[1] * (c.ndim - 2))
        peaks = np.maximum(np.abs(c[-1]), np.abs(np.polyval(c, length)))
        for joint in np.ndindex(c.shape[2:]) if len(c) > 2 and self.duration else ():
            turns = PPoly(slope[:, :, *joint], self.breaks).roots(extrapolate=False)
            turns = turns[np.isfinite(turns)]
            piece = np.searchsorted(self.breaks[1:-1], turns, side="right")
            values = np.polyval(c[:, piece, *joint], turns - self.breaks[piece])
            np.maximum.at(peaks[:, *joint], piece, np.abs(values))
        return peaks

    def starting(self, t0: float) -> Trajectory:
        """The same motion from time t0 [s] on."""
        return replace(self, t0=float(t0))

    def stretched(self, duration: float) -> Trajectory:
        """The same path, slower or faster: one factor for the whole time axis."""
        factor = _positive("duration", duration) / (self.duration or 1.0)
        slower = factor ** _powers(len(self.coefs), self.coefs.ndim)
        return replace(self, breaks=self.breaks * factor, coefs=self.coefs / slower)

    def within_limits(self, v_max: ArrayLike, a_max: ArrayLike, margin: float = 0.0) -> Trajectory:
        """Stretched, or shortened, by one factor until the tightest limit is just reached."""
        limits = _limits(margin, v_max=v_max, a_max=a_max)
        use = max(np.max(self.peaks(k) / limit) ** (1 / k) for k, limit in enumerate(limits, 1))
        return self.stretched(self.duration * use) if use else self

    def _derivative(self, order):
        c = self.coefs
        for _ in range(order):
            c = c[:-1] * _powers(len(c), c.ndim)[:-1] if len(c) > 1 else 0 * c
        return c

    def _at(self, t, *orders):
        t = numbers("t", t)
        local, outside, end = t.reshape(-1) - self.t0, None, self.duration
        slack = ROUNDING * max(1.0, abs(self.t0), end)
        if local.size and not (local.min() >= -slack and local.max() <= end + slack):
            finite("t", t)
            outside = (local < -slack) | (local > end + slack)
            local = local.clip(0.0, end)
        coefs = [self._derivative(order) for order in orders]
        if len(self.breaks) == 2:  # one polynomial: products of matrices, four times as quick
            powers = np.ones((len(self.coefs), len(local)))
            for k in range(len(powers) - 1, 0, -1):
                np.multiply(powers[k], local, powers[k - 1])
            values = [powers[-len(c) :].T @ c.reshape(len(c), -1) for c in coefs]
        else:
            piece = np.searchsorted(self.breaks[1:-1], local, side="right")
            since = (local - self.breaks[piece]).reshape(-1, *[1] * (self.coefs.ndim - 2))
            values = [np.polyval(c[:, piece], since) for c in coefs]
        for order, value in zip(orders, values):
            if order and outside is not None:
                value[outside] = 0.0
        return [value.reshape(t.shape + self.coefs.shape[2:]) for value in values]


# Values at both ends -> coefficients, in normalised time, highest power first. The columns are for
# q0, v0, (a0,) q1, v1, (a1): cubic and quintic.
CUBIC = np.array([[2, 1, -2, 1], [-3, -2, 3, -1], [0, 1, 0, 0], [1, 0, 0, 0]], dtype=float)
QUINTIC = np.array(
    [
        [-6, -3, -0.5, 6, -3, 0.5],
        [15, 8, 1.5, -15, 7, -1],
        [-10, -6, -1.5, 10, -4, 0.5],
        [0, 0, 0.5, 0, 0, 0],
        [0, 1, 0, 0, 0, 0],
        [1, 0, 0, 0, 0, 0],
    ]
)


def cubic(q0: ArrayLike, q1: ArrayLike, duration: float, v: ArrayLike = (0, 0)) -> Trajectory:
    """From q0 to q1 (n,), with speeds v (2, n) at start and end; its acceleration steps there."""
    return _between(CUBIC, duration, (q0, v[0]), (q1, v[1]))


def quintic(
    q0: ArrayLike, q1: ArrayLike, duration: float, v: ArrayLike = (0, 0), a: ArrayLike = (0, 0)
) -> Trajectory:
    """As `cubic`, with accelerations a (2, n) at start and end too.

    >>> q, qd, qdd = quintic(0, 1, duration=2).starting(5)([5, 6, 7])
    >>> q, qd
    (array([0. , 0.5, 1. ]), array([0.    , 0.9375, 0.    ]))
    """
    return _between(QUINTIC, duration, (q0, v[0], a[0]), (q1, v[1], a[1]))


def _between(matrix, duration, start, end):
    T, order = _positive("duration", duration), len(matrix)
    rows = np.empty((order, *np.broadcast(*start, *end).shape))
    for i, value in enumerate((*start, *end)):
        rows[i] = value
    finite("q0, q1, v or a", rows)
    scale = T ** (np.arange(order) % len(start) - _powers(order, 2))  # of speeds; of powers of t
    coefs = matrix * scale @ rows.reshape(order, -1)
    return Trajectory(np.array([0.0, T]), coefs.reshape(order, 1, *rows.shape[1:]))


#   speed   v_p      ______________          trapezoid: the ramps are straight
#                   /              \         S-curve: the acceleration has ramps itself,
#         v[0] ____/                \____ v[1]        so that both ends of a ramp are round
#                  ramp   cruise   ramp
def trapezoid(q0: float, q1: float, v_max: float, a_max: float, v: tuple = (0, 0)) -> Trajectory:
    """The fastest motion of one joint from q0 to q1 within speed v_max and acceleration a_max.

    v: speeds at start and end. Where it can't brake in time, it overshoots and comes back.
    """
    return scurve(q0, q1, v_max, a_max, inf, v)


def scurve(
    q0: float, q1: float, v_max: float, a_max: float, j_max: float, v: tuple = (0, 0)
) -> Trajectory:
    """As `trapezoid`, with jerk within j_max as well; no acceleration at start and end.

    Source: Biagiotti and Melchiorri, Trajectory Planning for Automatic Machines and Robots, 2008.
    """
    limits = _limits(0.0, v_max=v_max, a_max=a_max, j_max=j_max)
    if any(np.ndim(value) for value in (q0, q1, *v, *limits)):
        raise ValueError("q0, q1, v, limits: expected numbers; for several joints use synchronise")
    q0, q1, v0, v1 = finite("q0, q1 or v", [q0, q1, *v]).tolist()
    v_max, a_max, j_max = map(float, limits)
    if max(abs(v0), abs(v1)) > v_max:
        raise ValueError(f"v: {v!r}, expected speeds of at most v_max = {v_max:g} in size")
    sign = -1.0 if q1 - q0 < _ramp_distance(v0, v1, a_max, j_max) else 1.0
    phases = _phases(sign * (q1 - q0), sign * v0, sign * v1, v_max, a_max, j_max)
    return _accelerated(q0, v0, phases[0], sign * phases[1])


def _phases(distance, v0, v1, v_max, a_max, j_max):
    """Durations (7,) and accelerations (7, 2), at begin and end, of ramp up, cruise, ramp down."""
    reach = lambda v: _ramp_distance(v0, v, a_max, j_max) + _ramp_distance(v, v1, a_max, j_max)
    spare = lambda v: distance - reach(v)
    v_p = sqrt(max(0.0, a_max * distance + (v0**2 + v1**2) / 2))  # without limits of v and jerk
    lowest, v_p = max(v0, v1), min(v_max, max(abs(v0), abs(v1), v_p))
    if spare(v_p) < 0:
        from scipy.optimize import brentq

        rounding = ROUNDING * (abs(distance) + abs(reach(lowest)))
        v_p = brentq(spare, lowest, v_p, xtol=1e-15) if spare(lowest) > rounding else lowest
    cruise = spare(v_p) / v_p if v_p == v_max else 0.0
    (r, flat_up, a), (s, flat_down, b) = (_ramp(v_p - v, a_max, j_max) for v in (v0, v1))
    accelerations = [[0, a], [a, a], [a, 0], [0, 0], [0, -b], [-b, -b], [-b, 0]]
    return [r, flat_up, r, cruise, s, flat_down, s], np.array(accelerations)


def _ramp(dv, a_max, j_max):
    """Quickest change of speed by dv >= 0: (time of rising jerk, flat time, peak acceleration)."""
    if dv <= 0:
        return 0.0, 0.0, 0.0
    peak = min(a_max, sqrt(j_max * dv))
    return peak / j_max, max(0.0, dv / peak - peak / j_max), peak


def _ramp_distance(v0, v1, a_max, j_max):
    """Way covered while the speed changes from v0 to v1: its mean, times the duration."""
    rising, flat, _ = _ramp(abs(v1 - v0), a_max, j_max)
    return (v0 + v1) / 2 * (2 * rising + flat)


def _accelerated(q, v, durations, accelerations):
    """The motion from position q and speed v whose acceleration is linear in each phase.

    q, v: (n,) or numbers; durations (m,); accelerations (m, 2, n): at begin and end of each phase.
    """
    breaks, coefs = [0.0], []
    for h, (a, a_next) in zip(durations, accelerations):
        if breaks[-1] + h > breaks[-1]:
            coefs.append([(a_next - a) / (6 * h), a / 2, v, q])
            breaks.append(breaks[-1] + h)
            q, v = q + h * (v + h * (2 * a + a_next) / 6), v + h * (a + a_next) / 2
    if not coefs:
        breaks, coefs = [0.0, 0.0], [[v, q]]
    return Trajectory(np.array(breaks), np.moveaxis(np.array(coefs, dtype=float), 1, 0))


# Peaks of speed, acceleration and jerk of the move 0 -> 1 in unit time.
PEAKS = {"cubic": (3 / 2, 6, 12), "quintic": (15 / 8, 10 / sqrt(3), 60)}


def shortest_duration(
    profile: str | Callable,
    distance: ArrayLike,
    v_max: ArrayLike,
    a_max: ArrayLike,
    j_max: ArrayLike = inf,
    margin: float = 0.0,
) -> np.ndarray:
    """Shortest duration (...) [s] of a move from rest to rest within the limits, in closed form.

    profile: "cubic", "quintic", "trapezoid" or "scurve", or the function itself. Distance and
    limits broadcast to (...). Only "quintic" and "scurve" take a jerk limit; "scurve" needs one.
    Each joint counts for itself: for a whole arm on a straight line see `synchronise`.

    >>> shortest_duration("quintic", [0.1, np.pi], v_max=1.5, a_max=3).round(6)
    array([0.438691, 3.926991])
    """
    name = _profile(profile, j_max)
    D = np.abs(finite("distance", distance))
    v, a, j = _limits(margin, v_max=v_max, a_max=a_max, j_max=j_max)
    if name in PEAKS:
        speed, acceleration, jerk = PEAKS[name]
        T = np.maximum(speed * D / v, np.sqrt(acceleration * D / a))
        return np.maximum(T, np.cbrt(jerk * D / j))
    v_flat = a**2 / j  # a ramp to less than this speed ends before its acceleration reaches a
    with np.errstate(divide="ignore", invalid="ignore"):
        v_p = (np.sqrt(v_flat**2 + 4 * a * D) - v_flat) / 2
        v_p = np.where(D > 2 * v_flat**2 / a, v_p, np.cbrt(D**2 * j / 4))
        v_p = np.minimum(v_p, v)  # reached half-way, or held for a while
        ramp = np.where(v_p > v_flat, v_p / a + a / j, 2 * np.sqrt(v_p / j))
        return np.where(D > 0, D / v_p + ramp, 0.0)[()]  # a number for a number


def synchronise(
    q0: ArrayLike,
    q1: ArrayLike,
    v_max: ArrayLike,
    a_max: ArrayLike,
    j_max: ArrayLike = inf,
    profile: str | Callable = "quintic",
    margin: float = 0.0,
) -> Trajectory:
    """All joints from q0 to q1 (n,) on the straight line between, from rest to rest, in least time.

    One scaling s(t) for all joints, q = q0 + s (q1 - q0), so that they start and stop together; the
    limits (n,) bind where they are tightest on that line. profile: as in `shortest_duration`.

    >>> move = synchronise([0, 0], [1.2, -0.3], v_max=1.5, a_max=3, profile="trapezoid")
    >>> move(move.duration / 2)[0]
    array([ 0.6 , -0.15])
    """
    name = _profile(profile, j_max)
    q0, q1 = np.broadcast_arrays(finite("q0", q0), finite("q1", q1))
    limits = _limits(margin, v_max=v_max, a_max=a_max, j_max=j_max)
    D = q1 - q0
    if not D.any():
        return Trajectory(np.zeros(2), q0[None, None])
    with np.errstate(divide="ignore"):
        v, a, j = (float(np.min(limit / np.abs(D))) for limit in limits)  # those of s(t)
    polynomial = {"cubic": cubic, "quintic": quintic}.get(name)
    T = shortest_duration(name, 1, v, a, j)
    s = polynomial(0, 1, T) if polynomial else scurve(0, 1, v, a, j)
    coefs = np.multiply.outer(s.coefs, D)
    coefs[-1] += q0
    return Trajectory(s.breaks, coefs)


def _profile(profile, j_max):
    """The name of a profile; `ValueError` also where a jerk limit is missing or can't hold."""
    name = getattr(profile, "__name__", profile)
    if name not in ("cubic", "quintic", "trapezoid", "scurve"):
        raise ValueError(f"profile: {profile!r}, expected cubic, quintic, trapezoid or scurve")
    limited = np.isfinite(np.asarray(j_max, dtype=float)).any()
    if name != "quintic" and limited != (name == "scurve"):
        wanted = "a finite limit" if name == "scurve" else "inf: its acceleration steps"
        raise ValueError(f"j_max: {j_max!r} for {name!r}, expected {wanted}")
    return name


def spline(times: ArrayLike, q: ArrayLike, degree: int = 3) -> Trajectory:
    """Through q (m, n) at times (m,) [s], at rest at both ends, by a B-spline of odd degree.

    Degree 3 is the clamped cubic spline, with continuous acceleration. With degree 5 the jerk is
    continuous too, and the acceleration is zero at both ends.
    """
    from scipy.interpolate import make_interp_spline

    times, q = finite("times", times), finite("q", q)
    if times.size < 2 or np.any(np.diff(times) <= 0) or q.shape[:1] != times.shape:
        raise ValueError(f"times: {times}, expected growing numbers, one for each of {len(q)} rows")
    rest = [(order, np.zeros(q.shape[1:])) for order in range(1, (degree + 1) // 2)]
    curve = make_interp_spline(times - times[0], q, k=degree, bc_type=(rest, rest))
    breaks = np.unique(curve.t)
    coefs = [curve(breaks[:-1], power) / factorial(power) for power in range(degree, -1, -1)]
    return Trajectory(breaks, np.array(coefs), float(times[0]))


def blend(waypoints: ArrayLike, deviation: float) -> Trajectory:
    """A path along straight lines from way-point to way-point (m, n), its corners rounded.

    The corners are parabolas. No joint misses a way-point by more than `deviation` [rad or m]. The
    "time" of this path is about its length s [rad or m]: `time_optimal` makes a motion of it.
    """
    points = finite("waypoints", waypoints)
    if points.ndim != 2 or len(points) < 2 or not np.diff(points, axis=0).any(axis=1).all():
        raise ValueError(f"waypoints: {points}, expected (m, n) with m >= 2, no two equal in a row")
    way = np.diff(points, axis=0)
    length = np.linalg.norm(way, axis=1)
    along = way / length[:, None]
    turn = np.diff(along, axis=0)  # a corner begins at distance d before its way-point
    d = 4 * _positive("deviation", deviation) / np.maximum(np.abs(turn).max(axis=1), ROUNDING)
    d = np.minimum(d, 0.45 * np.minimum(length[:-1], length[1:]))  # no piece of length 1e-16
    line = length - np.append(d, 0.0) - np.append(0.0, d)
    durations = np.append(np.column_stack([line[:-1], 2 * d]).ravel(), line[-1])
    bends = np.zeros((len(durations), 2, points.shape[1]))
    bends[1::2] = (turn / (2 * d[:, None]))[:, None]
    return _accelerated(points[0], along[0], durations, bends)


def phase_plane(
    path: Trajectory, v_max: ArrayLike, a_max: ArrayLike, margin: float = 0.0, steps: int = 1000
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How fast a path q(s), a `Trajectory` whose time is s, can be run from rest to rest.

    Returns places s, the most that the limits allow there for ds/dt, and the best ds/dt, (m+1,).

    With x = (ds/dt)^2 and u = d2s/dt2, constant in a step, the acceleration is q' u + q'' x, and x
    grows by 2 u in a step of length 1. Backward from the end: the largest x from which the rest can
    still be done. Then forward below it, as fast as the joints allow.
    Source: Pham and Pham, A New Approach to Time-Optimal Path Parameterization, 2018 (TOPP-RA).
    """
    v_max, a_max = _limits(margin, v_max=v_max, a_max=a_max)
    if not path.peaks(1).reshape(len(path.breaks) - 1, -1).any(axis=1).all():
        raise ValueError("path: stands still in a piece, expected one that moves with s")
    share = np.ceil(steps * np.diff(path.breaks) / path.duration).astype(int)
    ends = zip(path.breaks, path.breaks[1:], share)
    pieces = [np.linspace(start, end, k + 1)[1:] for start, end, k in ends]
    s = path.t0 + np.concatenate([[0.0], *pieces])
    _, slope, bend = (value.reshape(len(s), -1) for value in path(s))
    step = 2 * np.diff(s)[:, None]
    top, tilt = _lines(step, slope, bend, a_max)
    with np.errstate(divide="ignore"):
        x_max = np.min((v_max / np.abs(slope)) ** 2, axis=1)
        x_max[:-1] = np.minimum(x_max[:-1], _crossings(step, top, tilt))
        gain = 1 / np.maximum(1 - step * tilt, 0.0)
    x = np.append(x_max[:-1], 0.0)
    for i in range(len(s) - 2, -1, -1):
        x[i] = min(x[i], ((x[i + 1] + step[i] * top[i]) * gain[i]).min())
    x[0] = 0.0
    for i in range(len(s) - 1):
        x[i + 1] = min(x[i + 1], max(0.0, x[i] + (step[i] * (top[i] - tilt[i] * x[i])).min()))
    return s, np.sqrt(x_max), np.sqrt(x)


def _lines(step, slope, bend, a_max):
    """top, tilt (m, 2n): -top - tilt x <= u <= top - tilt x keeps both ends of a step in limits."""
    A = np.concatenate([slope[:-1], slope[1:] + step * bend[1:]], axis=1)
    B = np.concatenate([bend[:-1], bend[1:]], axis=1) * np.where(A < 0, -1, 1)
    A = np.maximum(np.abs(A), 1e-12 * np.abs(A).max())
    return np.tile(np.broadcast_to(a_max, slope.shape[1:]), 2) / A, B / A


def _crossings(step, top, tilt):
    """Largest x (m,) for which some u lies between all lines, and the next x is not negative."""
    lower = np.column_stack([top, 0.0 * step])[:, :, None]
    lower_tilt = np.column_stack([tilt, 1 / step])[:, :, None]
    x = (lower + top[:, None]) / np.maximum(tilt[:, None] - lower_tilt, 0.0)
    return x.min(axis=(1, 2))


def time_optimal(
    path: Trajectory, v_max: ArrayLike, a_max: ArrayLike, margin: float = 0.0, steps: int = 1000
) -> Trajectory:
    """The fastest motion along a path q(s), a `Trajectory` whose time is s, from rest to rest.

    At each moment some joint uses its full speed or acceleration: see `phase_plane`.
    """
    from scipy.interpolate import CubicHermiteSpline

    s, _, speed = phase_plane(path, v_max, a_max, margin, steps)
    t = np.append(0.0, np.cumsum(2 * np.diff(s) / (speed[1:] + speed[:-1])))
    q, slope, _ = path(s)
    curve = CubicHermiteSpline(t, q, slope * speed.reshape(-1, *[1] * (q.ndim - 1)))
    return Trajectory(t, curve.c).within_limits(v_max, a_max, margin)


@lru_cache
def _powers(count, ndim):
    """The powers count - 1 ... 0 that belong to coefficients (count, ...) of ndim dimensions."""
    return np.arange(count - 1.0, -1.0, -1.0).reshape(-1, *[1] * (ndim - 1))


def _positive(name, value):
    if np.ndim(value) or not value > 0:
        raise ValueError(f"{name}: {value!r}, expected one positive number")
    return float(value)


def _limits(margin, **limits):
    """The limits as arrays, less the margin; `ValueError` names one that is not positive."""
    if not 0 <= margin < 1:
        raise ValueError(f"margin: {margin!r}, expected a fraction from 0 to below 1")
    arrays = {name: np.asarray(value, dtype=float) for name, value in limits.items()}
    for name, array in arrays.items():
        if not (array > 0).all() or (name == "a_max" and np.isinf(array).any()):
            raise ValueError(f"{name}: {limits[name]!r}, expected positive numbers, a_max finite")
    return [array * (1 - margin) for array in arrays.values()]
