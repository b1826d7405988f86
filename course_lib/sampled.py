"""How slow may the control loop be?  A law that runs once a period, on an arm that never waits.

Public names: `simulate`, `Run`; `closed_loop`, `ClosedLoop`, `critical_period`.

At the start of each period the law samples and computes a torque, which is held for one period
(zero-order hold), perhaps after a delay. `simulate` integrates the arm; `closed_loop` is the exact
matrix from one period to the next of the arm linearised where it stands: stable if its poles lie
inside the unit circle. Source: Astrom and Wittenmark, Computer-Controlled Systems, 1997, chapter 3.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor, log2, pi
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from course_lib.control import PD
from course_lib.dynamics import Dynamics
from course_lib.poses import finite

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

LONGEST_STEP = 5e-3  # [s] of the integration, when `substeps` is left out
TOO_FAST = 1e3  # [rad/s] an arm that moves so fast has left the simulation
STILL = 1e-3  # [rad] an arm that moves less in the last tenth of a run, and a period, has settled


class Run(NamedTuple):
    """What `simulate` found, at the m+1 instants at which periods begin or end."""

    t: np.ndarray  # (m+1,) [s]
    q: np.ndarray  # (m+1, n) true angles [rad]
    qd: np.ndarray  # (m+1, n) true speeds [rad/s]
    q_ref: np.ndarray  # (m+1, n) desired angles [rad]
    tau: np.ndarray  # (m, n) torques computed at the start of each period, within the limits [N m]
    tool_error: np.ndarray  # (m+1,) distance of the tool from the reference's tool [m]
    rmse: float  # root of its mean square [m]; each instant weighs as its period is long
    saturated: np.ndarray  # (n,) share of the periods that asked for more than the motor gives
    torque_step: np.ndarray  # (n,) mean step of the torque in the last tenth [N m]: shows chatter
    settled: bool  # in the last tenth angles stay within 1 mrad, and no period moves more
    success: bool  # False if the arm flew off; the run ends there
    reason: str  # how it ended; says so if the last period is cut


@np.errstate(over="ignore", invalid="ignore")
def simulate(
    model: Dynamics,
    law: PD,
    reference: Callable | ArrayLike,
    period: float,
    t_end: float,
    *,
    substeps: int | None = None,
    delay: float = 0.0,
    jitter: tuple[float, float] | Callable | None = None,
    velocity: str = "measured",
    noise: float = 0.0,
    encoder_bits: int | None = None,
    reference_every: int = 1,
    q0: ArrayLike | None = None,
    rng: np.random.Generator | None = None,
) -> Run:
    """The arm under a law that runs once every `period` [s], until t_end [s].

    reference        t (m,) -> q, qd, qdd (m, n), as a `Trajectory`; or a posture (n,) to hold
    substeps         Runge-Kutta steps a period; so many that none is longer than 5 ms if left out
    delay            from a sample to its torque, in periods: any number from 0 on. What was on its
                     way at the start is the torque of the first sample
    jitter           (shortest, longest) [s]: periods are drawn evenly between, instead of `period`;
                     or a function: rng -> the next period [s]
    velocity         "measured", or "difference" of the last two measured angles over their time
    noise            standard deviation of a measured angle [rad]
    encoder_bits     angles are measured in steps of 2 pi / 2**bits [rad]
    reference_every  the reference is read at every so many-th period and held: a second rate
    q0               (n,) where the arm starts, at rest; on the reference if left out
    rng              needed for jitter and noise

    A period that does not divide t_end leaves a shorter last one; `reason` says so.
    """
    n, whole, part = model.n, floor(delay), delay - floor(delay)
    _check(law, n, velocity, delay, reference_every, substeps)
    t = _instants(period, t_end, jitter, rng)
    wanted = _reference(reference, t, n)
    held = [x[np.arange(len(t)) // reference_every * reference_every] for x in wanted]
    flat = [iter(x.ravel().tolist()) for x in (held[0], held[1], law.ahead(*held))]
    wishes = (zip(*[numbers] * n) for numbers in flat)  # n numbers at a time
    measured, limit = _sensor(n, noise, encoder_bits, rng), np.broadcast_to(law.tau_max, n).tolist()
    x, v = (wanted[0][0] if q0 is None else finite("q0", q0, n)).tolist(), [0.0] * n
    y, gap, way, states, demands, reason = measured(x), 1.0, [], [*x, *v], [], "ran to the end"
    for k, (h, r, rd, ahead) in enumerate(zip(np.diff(t).tolist(), *wishes)):
        before, y = y, measured(x) if k else y
        speed = v if velocity == "measured" else [(a - b) / gap for a, b in zip(y, before)]
        tau = law.torque(y, speed, r, rd, ahead)
        demands += tau
        tau = [f if -most < f < most else max(-most, min(most, f)) for f, most in zip(tau, limit)]
        steps, gap = substeps or ceil(h / LONGEST_STEP), h
        try:
            if delay:
                way = [*way[1:], tau] if way else [tau] * (whole + 2)  # oldest first
                x, v = model.advance(x, v, way[0], part * h / steps, steps if part else 0)
                tau = way[1]
            x, v = model.advance(x, v, tau, (1 - part) * h / steps, steps)
        except ValueError:  # the cosine of infinity
            v = [np.inf]
        if not (max(v) < TOO_FAST and -TOO_FAST < min(v)):
            reason = f"flew off: faster than {TOO_FAST:g} rad/s after {t[k]:.4g} s"
            break
        states += x
        states += v
    if jitter is None and abs(gap - period) > 1e-6 * period and reason[:3] == "ran":
        reason += f"; the last period is {1e3 * gap:.4g} ms long, not {1e3 * period:.4g}"
    states, demands = np.reshape(states, (-1, 2, n)), np.reshape(demands, (-1, n))
    return _run(model, t, wanted[0], states, demands, limit, reason)


def _run(model, t, q_ref, states, demands, limit, reason):
    (q, qd), m, success = np.moveaxis(states, 1, 0), len(states) - 1, len(states) == len(t)
    t, q_ref, demands, late = t[: m + 1], q_ref[: m + 1], demands[: max(m, 1)], m // 10 + 1
    tau = np.clip(demands, np.negative(limit), limit)
    error = np.linalg.norm(model.tool(q) - model.tool(q_ref), axis=-1)
    h = np.append(np.diff(t), np.diff(t)[-1:]) if m else np.ones(1)
    rmse = float(np.sqrt(np.average(error**2, weights=h)))
    steps = np.abs(np.diff(tau, axis=0, prepend=tau[:1]))[-late:].mean(axis=0)
    moved = max(np.ptp(q[-late:], axis=0).max(), np.abs(qd[-late:]).max() * h[0])
    beyond, settled = (tau != demands).mean(axis=0), bool(success and moved < STILL)
    return Run(t, q, qd, q_ref, tau, error, rmse, beyond, steps, settled, success, reason)


def _need(good, name, value, expected):
    if not good:
        raise ValueError(f"{name}: {value!r}, expected {expected}")


def _check(law, n, velocity, delay, reference_every, substeps):
    _need(law.Kp.shape == (n,), "law", law.Kp.shape, f"gains of shape ({n},)")
    _check_late(delay, velocity)
    for name, value in (("reference_every", reference_every), ("substeps", substeps or 1)):
        _need(value == int(value) and value > 0, name, value, "a whole number from 1 on")


def _check_late(delay, velocity):
    _need(0 <= delay < np.inf, "delay", delay, "a number of periods from 0 on")
    _need(velocity in ("measured", "difference"), "velocity", velocity, "measured or difference")


def _instants(period, t_end, jitter, rng):
    """Times (m+1,) [s] at which periods begin or end."""
    for name, value in (("period", period), ("t_end", t_end)):
        _need(0 < value < np.inf, name, value, "a positive number of seconds")
    if jitter is None:
        return np.append(period * np.arange(ceil(t_end / period - 1e-9)), t_end)
    _need(rng is not None, "rng", rng, "a numpy.random.Generator for the jitter")
    t = [0.0]
    while t[-1] < t_end:
        h = jitter(rng) if callable(jitter) else rng.uniform(*jitter)
        _need(h > 0, "jitter", h, "positive periods")
        t.append(t[-1] + h)
    return np.append(t[:-1], t_end)


def _reference(reference, t, n):
    """q, qd, qdd (m, n) at times t; a posture (n,) is held."""
    if not callable(reference):
        q = np.tile(finite("reference", reference, n), (len(t), 1))
        return [q, 0 * q, 0 * q]
    found = [np.asarray(x, float) for x in reference(t)]
    shapes = [x.shape for x in found]
    _need(shapes == [(len(t), n)] * 3, "reference", shapes, f"q, qd, qdd, each ({len(t)}, {n})")
    return found


def _sensor(n, noise, bits, rng):
    """A function: true angles (n floats) -> measured ones."""
    _need(noise >= 0, "noise", noise, "a number from 0 on [rad]")
    _need(rng is not None or not noise, "rng", rng, "a numpy.random.Generator for the noise")
    step = 2 * pi / 2**bits if bits else 0.0
    blur = lambda q: [x + e for x, e in zip(q, rng.normal(0.0, noise, n).tolist())] if noise else q
    count = lambda q: [step * round(x / step) for x in blur(q)]
    return count if bits else blur


class ClosedLoop(NamedTuple):
    """The loop from one period to the next, for small motions about where the arm stands.

    The state: angles, speeds, the angles measured before if velocity is "difference", and the
    torques on their way, newest first.
    """

    A: np.ndarray  # (..., m, m)
    poles: np.ndarray  # (..., m), largest first
    radius: np.ndarray  # (...) size of the first
    q: np.ndarray  # (..., n) where the arm stands [rad]


def closed_loop(
    model: Dynamics, law: PD, posture: ArrayLike, period: ArrayLike, **late: float | str
) -> ClosedLoop:
    """The exact discrete loop of the linearised arm that is asked to hold a posture (..., n) [rad].

    It is linearised where the arm comes to rest: with PD that is where Kp e carries the weight, not
    the posture asked for. Period (...) [s], posture and gains (..., n) broadcast; late: `delay` and
    `velocity` of `simulate`. Torque limits don't count. Stable if and only if radius < 1.
    """
    *plant, q = _linearised(model, law, posture)
    A = _matrix(*plant, np.asarray(period, float), **late)
    poles = np.linalg.eigvals(A)
    poles = np.take_along_axis(poles, np.argsort(-np.abs(poles), axis=-1), axis=-1)
    return ClosedLoop(A, poles, np.abs(poles[..., 0]), q)


def critical_period(
    model: Dynamics, law: PD, posture: ArrayLike, longest: float = 1.0, **late: float | str
) -> np.ndarray:
    """The smallest period (...) [s] at which a pole of `closed_loop` reaches the unit circle.

    Posture (..., n), as a path, and gains (..., n), as a map, broadcast. 0 where no period is short
    enough, inf where all up to `longest` [s] are stable. Instability that ends again within a fifth
    of its period may be overlooked.
    """
    Ac, Bc, F, _ = _linearised(model, law, posture)
    radius = lambda h: np.abs(np.linalg.eigvals(_matrix(Ac, Bc, F, h, **late))).max(-1)
    stiff, damp = np.split(np.abs(Bc[..., model.n :, :] @ F), 2, axis=-1)
    rate = np.maximum(damp.sum((-1, -2)), np.sqrt(stiff.sum((-1, -2))))  # [1/s] the loop's own
    a, h = (x / np.maximum(rate, 1 / longest) for x in (1e-3, 2e-2))
    f_a, f_b, b = radius(a) - 1, np.zeros(a.shape), np.full(a.shape, np.inf)
    never = f_a >= 0
    while (np.isinf(b) & ~never & (h <= 1.2 * longest)).any():
        f, still = radius(h) - 1, np.isinf(b)
        a, f_a = np.where(still & (f < 0), (h, f), (a, f_a))
        b, f_b = np.where(still & (f >= 0), (h, f), (b, f_b))
        h = 1.2 * h
    open_end = np.isinf(b)
    b = np.where(open_end, a, b)
    for _ in range(60):  # false position, with Illinois' cure
        c = b - f_b * (b - a) / np.where(f_b == f_a, 1.0, f_b - f_a)
        f = radius(c) - 1
        a, f_a = np.where(f * f_b > 0, (a, f_a / 2), (b, f_b))
        b, f_b = c, f
        if np.all((np.abs(f) < 1e-13) | (np.abs(b - a) < 1e-13 * b)):
            break
    return np.where(never, 0.0, np.where(open_end | (b > longest), np.inf, b))[()]


def _linearised(model, law, posture):
    """x' = Ac x + Bc u (..., 2n, 2n), (..., 2n, n), u = -F x (..., n, 2n), and q (..., n).

    x: how far angles and speeds are from where the arm stands, at q.
    """
    n, q = model.n, finite("posture", posture, model.n)
    wanted, still = q, np.zeros(n)
    torque = lambda q, v: law(q, v, wanted, still, still)
    lack = lambda q: torque(q, still) - model.g(q)
    for _ in range(50):
        if np.abs(lack(q)).max() < 1e-10:
            break
        q = q - np.matvec(np.linalg.pinv(_slopes(lack, q)), lack(q))
    else:
        raise ValueError("law: Kp is too weak, no posture found in which it carries the arm")
    Ac = np.zeros((*q.shape[:-1], 2 * n, 2 * n))
    Ac[..., :n, n:] = np.eye(n)
    Ac[..., n:, :n] = _slopes(lambda x: model.forward(x, still, model.g(q)), q)
    Ac[..., n:, n:] = _slopes(lambda v: model.forward(q, v, model.g(q)), 0 * q)
    Bc = np.concatenate([np.zeros((*q.shape, n)), np.linalg.inv(model.M(q))], axis=-2)
    F = _slopes(lambda x: torque(x, still), q), _slopes(lambda v: torque(q, v), 0 * q)
    return Ac, Bc, -np.concatenate(F, axis=-1), q


def _slopes(f, x):
    """Derivative (..., m, n) of f (..., m) at x (..., n), by central differences."""
    steps = 1e-5 * np.eye(x.shape[-1])
    return np.stack([(f(x + e) - f(x - e)) / 2e-5 for e in steps], axis=-1)


def _matrix(Ac, Bc, F, h, delay=0.0, velocity="measured"):
    """The matrix A of `ClosedLoop` for periods h (...)."""
    _check_late(delay, velocity)
    _need((h > 0).all(), "period", h, "positive numbers of seconds")
    n, whole, part, h = Bc.shape[-1], floor(delay), delay - floor(delay), h[..., None, None]
    apart = n * (velocity == "difference")
    first = 2 * n + apart  # column of the newest torque on its way
    size = first + n * (whole + (part > 0))
    motion, now = _hold(Ac, Bc, (1 - part) * h)
    A = np.zeros((*np.broadcast_shapes(motion.shape[:-2], F.shape[:-2]), size, size))
    U = np.zeros((*A.shape[:-2], n, size))  # the torque computed now
    U[..., : 2 * n] = -F
    if apart:
        U[..., n : 2 * n], U[..., 2 * n : first] = 0.0, F[..., n:] / h
        U[..., :n] -= F[..., n:] / h
        A[..., 2 * n : first, :n] = np.eye(n)
    sent = lambda k: np.eye(n, size, first + n * (k - 1)) if k else U  # k periods ago
    A[..., : 2 * n, :] = now @ sent(whole)
    if part:
        before, old = _hold(Ac, Bc, part * h)
        A[..., : 2 * n, :] += motion @ old @ sent(whole + 1)
        motion = motion @ before
    A[..., : 2 * n, : 2 * n] += motion
    for k in range((size - first) // n):
        A[..., first + n * k : first + n * (k + 1), :] = sent(k)
    return A


def _hold(A, B, h):
    """exp(A h) and the integral of exp(A s) B ds over h (..., 1, 1): what a held torque does.

    The power series of [[A, B], [0, 0]] h, halved and squared; on stacks much faster than `expm`.
    """
    n, m = B.shape[-2:]
    X = np.zeros((*np.broadcast_shapes(A.shape[:-2], h.shape[:-2]), n + m, n + m))
    X[..., :n, :] = np.concatenate([A, B], axis=-1) * h
    halvings = max(0, ceil(log2(np.abs(X).sum(axis=-1).max())) + 1)
    E = one = np.eye(n + m)
    for k in range(13, 0, -1):
        E = one + X @ E / (k * 2**halvings)
    for _ in range(halvings):
        E = E @ E
    return E[..., :n, :n], E[..., :n, n:]
