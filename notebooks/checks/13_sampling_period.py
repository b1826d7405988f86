"""Checkpoints of lesson 13: friction, a factor for the damping, late torque, a log, a pendulum."""

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import brentq

from course_lib.check import Exercise, Mistake, as_numbers
from course_lib.control import PD
from course_lib.dynamics import Dynamics
from course_lib.sampled import critical_period

INF = np.inf


def as_period(answer):
    """One number; None is every period."""
    return INF if answer is None else float(as_numbers(answer, ()))


def same_period(answer, expected, args, tol=1e-5):
    """Equal within 0.001 %; otherwise what the answer would mean for the loop."""
    value, right = as_period(answer), as_period(expected)
    if value == right:
        return None
    if np.isinf(right):
        return f"You answer {value:.4g} s, but this loop has no limit: None."
    if np.isinf(value):
        return f"You answer None, but a pole reaches the circle at {right:.4g} s."
    if value <= 0 or np.isnan(value):
        return f"A period is a positive number of seconds; you answer {value:.4g}."
    if abs(value - right) <= tol * right:
        return None
    way = "longer" if value > right else "shorter"
    off = abs(value / right - 1)
    return f"You answer {value:.5g} s, which is {way} than the true limit by {off:.1%}."


# ---------------------------------------------------------------- speed_limit


def speed_cases(rng):
    fixed = [(20.0, 1.0), (20.0, 19.0), (3.0, 5.0), (2.0, 2.0), (50.0, 0.01)]
    return fixed + [
        (float(k), float(k * f)) for k, f in zip(rng.uniform(1, 60, 4), (0.1, 0.5, 0.9, 2))
    ]


def speed_limit(kd, b):
    return np.log((kd + b) / (kd - b)) / b if kd > b else None


def scanned_speed(kd, b):
    """By bisection on the pole itself."""
    pole = lambda h: np.exp(-b * h) * (1 + kd / b) - kd / b
    low, high = 0.0, 1e5 / b
    if kd <= b:
        return None
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if pole(middle) > -1 else (low, middle)
    return low


SPEED = Exercise(
    "speed_limit",
    cases=speed_cases,
    truth=speed_limit,
    compare=same_period,
    mistakes=[
        Mistake(
            lambda kd, b: 2 / kd,
            "2 / kd is the limit without friction. Between two looks friction slows the joint by"
            " itself: its speed runs to u / b, by the factor exp(-b h).",
        ),
        Mistake(
            lambda kd, b: 2 / (kd + b),
            "2 / (kd + b) is Euler's limit: it takes the friction at the start of the period for"
            " the whole period. Solve the equation of motion between two looks.",
        ),
        Mistake(
            lambda kd, b: np.log((kd + b) / abs(kd - b)) / b if kd != b else None,
            "Where friction is larger than kd there is no limit: the pole falls to -kd / b, and"
            " that lies inside the unit circle.",
        ),
        Mistake(
            lambda kd, b: 1 / kd,
            "At 1 / kd the pole is near 0, the quickest loop. It may go on to -1.",
        ),
        Mistake(
            lambda kd, b: np.log((kd + b) / kd) / b,
            "There the pole is 0: the joint stops within one period. The limit is where it is -1.",
        ),
        Mistake(
            lambda kd, b: 2 / (kd - b) if kd > b else None,
            "Friction and kd both brake, so they do not subtract. Write the pole down, and ask"
            " where it is -1.",
        ),
    ],
    alternatives=[
        scanned_speed,
        lambda kd, b: 2 * np.arctanh(b / kd) / b if b < kd else None,
        lambda kd, b: np.array(np.log1p(2 * b / (kd - b)) / b) if kd > b else None,
    ],
)

# ---------------------------------------------------------------- damping_factor


def factor_cases(rng):
    two = np.array([[7.97, 2.35], [2.35, 0.975]])
    cases = [
        (two, np.array([45.0, 33.75]), 0.01),
        (np.diag([2.0, 0.5]), np.array([4.0, 3.0]), 0.02),
        (np.array([[3.0]]), np.array([6.0]), 0.05),
    ]
    for n in (2, 3, 6):
        A = rng.normal(size=(n, n))
        cases.append(
            (A @ A.T + 0.3 * np.eye(n), rng.uniform(1, 30, n), float(rng.uniform(0.001, 0.05)))
        )
    return cases


def damping_factor(M, Kd, h):
    return 2 / h / eigh(np.diag(Kd), M, eigvals_only=True)[-1]


def same_factor(answer, expected, args):
    M, Kd, h = args
    value, right = float(as_numbers(answer, ())), float(expected)
    if abs(value - right) <= 1e-6 * right:
        return None
    rule = h * right / value if value else INF
    return f"With your factor 2 / λmax is {1e3 * rule:.4g} ms; the period is {1e3 * h:.4g} ms."


FACTOR = Exercise(
    "damping_factor",
    cases=factor_cases,
    truth=damping_factor,
    compare=same_factor,
    mistakes=[
        Mistake(
            lambda M, Kd, h: 2 / h / (Kd / np.diag(M)).max(),
            "You divide each damping by its own entry on the diagonal. M is not diagonal: a jump of"
            " one joint pushes the others, and the quickest direction is an eigenvector.",
        ),
        Mistake(
            lambda M, Kd, h: 2 / h / eigh(np.diag(Kd), M, eigvals_only=True)[0],
            "You took the smallest eigenvalue. The quickest direction binds first: the largest.",
        ),
        Mistake(
            lambda M, Kd, h: h / 2 * eigh(np.diag(Kd), M, eigvals_only=True)[-1],
            "That is the factor upside down: how much of the allowed damping Kd uses.",
        ),
        Mistake(
            lambda M, Kd, h: 2 / h / np.abs(np.linalg.eigvals(M @ np.diag(Kd))).max(),
            "The equation of motion is M dv/dt = -Kd v, so the rate is in M⁻¹ Kd, not in M Kd.",
        ),
        Mistake(
            lambda M, Kd, h: 1 / h / eigh(np.diag(Kd), M, eigvals_only=True)[-1],
            "A factor of two is missing: the pole 1 - λ h leaves at -1, where λ h is 2.",
        ),
        Mistake(
            lambda M, Kd, h: 2 / h / np.linalg.norm(np.linalg.solve(M, np.diag(Kd)), 2),
            "You took the norm of M⁻¹ Kd, its largest singular value. M⁻¹ Kd is not symmetric: its"
            " eigenvalues are smaller, and they are what counts.",
        ),
    ],
    alternatives=[
        lambda M, Kd, h: 2 / (h * np.linalg.eigvals(np.linalg.inv(M) @ np.diag(Kd)).real.max()),
        lambda M, Kd, h: 2 / h * np.linalg.eigvals(M / np.asarray(Kd)[:, None]).real.min(),
        lambda M, Kd, h: [
            2
            / h
            / (
                np.linalg.svd(
                    np.diag(np.sqrt(Kd)) @ np.linalg.inv(np.linalg.cholesky(M)).T, compute_uv=False
                )[0]
                ** 2
            )
        ][0],
    ],
)

# ---------------------------------------------------------------- late_limit


def late_cases(rng):
    return [(20.0, 0), (20.0, 1), (20.0, 2), (5.0, 3), (33.75, 5), (float(rng.uniform(1, 60)), 4)]


def late_limit(kd, d):
    return 2 / kd * np.sin(np.pi / (2 * (2 * d + 1)))


def by_roots(kd, d):
    """Bisection on the roots of z^(d+1) - z^d + kd h."""
    low, high = 0.0, 2.5 / kd
    for _ in range(60):
        middle = (low + high) / 2
        p = [1.0, -1.0, *[0.0] * d]
        p[-1] += kd * middle
        low, high = (middle, high) if np.abs(np.roots(p)).max() < 1 else (low, middle)
    return high


LATE = Exercise(
    "late_limit",
    cases=late_cases,
    truth=late_limit,
    compare=same_period,
    mistakes=[
        Mistake(
            lambda kd, d: 2 / kd,
            "That is the limit without delay. What was computed d periods ago acts now.",
        ),
        Mistake(
            lambda kd, d: 2 / kd / (d + 1),
            "One late period halves the limit, but two do not make a third of it. Write the"
            " polynomial for d = 2: z³ - z² + kd h.",
        ),
        Mistake(
            lambda kd, d: 2 / kd / 2**d,
            "The first late period halves the limit, the second costs less. Write the polynomial"
            " for d = 2: z³ - z² + kd h.",
        ),
        Mistake(
            lambda kd, d: np.pi / kd / (2 * d + 1),
            "That takes the hold for a delay of half a period: (d + 1/2) h in all. It is too kind.",
        ),
        Mistake(
            lambda kd, d: 2 / kd * np.sin(np.pi / (2 * (2 * (d + 1) + 1))),
            "One period of delay too many: the hold is not counted. d = 0 has the limit 2 / kd.",
        ),
        Mistake(
            lambda kd, d: 1 / kd if d else 2 / kd,
            "For d = 1 it is 1 / kd. Each further period costs more.",
        ),
        Mistake(
            lambda kd, d: np.pi / 2 / kd / max(d, 0.5),
            "That is the limit of a continuous loop, delayed by d periods; the hold is missing.",
        ),
    ],
    alternatives=[
        by_roots,
        lambda kd, d: np.array(late_limit(kd, d)),
        lambda kd, d: abs(1 - np.exp(1j * np.pi / (2 * d + 1))) / kd,
    ],
)

# ---------------------------------------------------------------- rattles


def log_cases(rng):
    """Logs (tau,): quiet, rattling in one joint, noise, slow swing, rattle that has died out, …"""
    k = np.arange(100)
    quiet = 60 * np.exp(-k / 9.0)
    flip = np.where(k % 2, 1.0, -1.0)
    two = lambda a, b: (np.column_stack([a, b]),)
    return [
        two(quiet, 20 + quiet / 9),
        two(quiet, 20 + 8 * flip),
        two(np.clip(400 * flip * 1.02 ** (k - 80), -150, 150), quiet),
        two(quiet, 20 + 0.2 * flip),
        two(quiet, 20 + 40 * flip * (k < 60)),
        two(40 * np.sin(k / 4), 10 * np.cos(k / 3)),
        two(20 + rng.normal(0, 6, 100), quiet),
        two(30 + 3.0 * k, 5.0 * (k // 2 % 2)),
        (np.where(np.arange(54) % 2, 7.0, -7.0)[:, None] * (np.arange(54) >= 44)[:, None],),
        two(flip * 3 + 0.4 * k, quiet),
    ]


def rattles(tau):
    step = np.diff(np.asarray(tau)[-(len(tau) // 5) :], axis=0)
    opposite = (step[1:] * step[:-1] < 0).mean(axis=0)
    return bool(((np.abs(step).mean(axis=0) > 1) & (opposite >= 0.9)).any())


def same_verdict(answer, expected, args):
    if not isinstance(answer, bool | np.bool_) and answer not in (0, 1):
        return "Expected True or False."
    if bool(answer) == expected:
        return None
    said = "rattles: in one joint at least, steps of more than 1 N m change their sign each time"
    quiet = "does not rattle in its last fifth: no joint has large steps that go to and fro"
    return f"This log {said if expected else quiet}."


def by_loop(tau):
    rows = [list(map(float, row)) for row in tau][len(tau) - len(tau) // 5 :]
    for column in zip(*rows):
        steps = [b - a for a, b in zip(column, column[1:])]
        turns = sum(a * b < 0 for a, b in zip(steps, steps[1:]))
        if sum(map(abs, steps)) > len(steps) and turns >= 0.9 * (len(steps) - 1):
            return True
    return False


def on(tau, which=lambda tau: tau[-(len(tau) // 5) :], size=1.0, share=0.9, every=False):
    """A judge with other numbers, for the mistakes."""
    step = np.diff(which(np.asarray(tau)), axis=0)
    shaken = (np.abs(step).mean(axis=0) > size) & ((step[1:] * step[:-1] < 0).mean(axis=0) >= share)
    return bool(shaken.all() if every else shaken.any())


RATTLES = Exercise(
    "rattles",
    cases=log_cases,
    truth=rattles,
    compare=same_verdict,
    mistakes=[
        Mistake(
            lambda tau: on(tau, which=lambda tau: tau),
            "You look at the whole log. A rattle that died out, or one that has just begun, shows"
            " only if you look at the end alone.",
        ),
        Mistake(
            lambda tau: on(tau, every=True),
            "One joint that rattles is enough. You ask for all of them.",
        ),
        Mistake(
            lambda tau: on(tau, share=0.0),
            "Large steps alone are no rattle: a ramp or a swing has them, too. They must change"
            " their sign from row to row.",
        ),
        Mistake(
            lambda tau: on(tau, size=0.0),
            "You forgot the size: a jump to and fro of 0.2 N m is the last digit of a sensor.",
        ),
        Mistake(
            lambda tau: bool((np.abs(tau[-(len(tau) // 5) :]).max(axis=0) > 100).any()),
            "You look at the size of the torque. A rattle is in its steps.",
        ),
        Mistake(
            lambda tau: bool((np.diff(tau[-(len(tau) // 5) :], axis=0).mean(axis=0) > 1).any()),
            "The mean of the steps with their signs is about zero when they go to and fro: take"
            " their sizes.",
        ),
    ],
    alternatives=[
        by_loop,
        lambda tau: int(rattles(tau)),
        lambda tau: np.bool_(on(np.asarray(tau).astype(np.float32))),
    ],
)

# ---------------------------------------------------------------- pendulum_limit


def pendulum_cases(rng):
    fixed = [
        (1.0, 0.0001, 100.0, 20.0),
        (2.0, 60.0, 40.0, 30.0),
        (0.5, 80.0, 10.0, 0.4),
        (5.0, 200.0, 100.0, 2.0),
        (1.0, 4.0, 0.2, 0.5),
        (1.5, 90.0, 30.0, 12.0),
    ]
    drawn = rng.uniform([0.5, 5, 20, 5], [5, 80, 200, 40], (2, 4))
    return fixed + [tuple(map(float, row)) for row in drawn]


def pendulum_matrix(I, s, kp, kd, h):
    """(..., 2, 2) for h (...): under u the pendulum swings about u / s with w = sqrt(s / I)."""
    w = np.sqrt(s / I)
    c, n = np.cos(w * h), np.sin(w * h)
    rows = [c - (1 - c) / s * kp, n / w - (1 - c) / s * kd]
    rows += [-w * n * (1 + kp / s), c - w * n / s * kd]
    return np.stack(rows, axis=-1).reshape(*np.shape(h), 2, 2)


def excess(*pendulum):
    """h (...) -> by how much the largest pole is larger than 1."""
    return lambda h: np.abs(np.linalg.eigvals(pendulum_matrix(*pendulum, h))).max(axis=-1) - 1


def first_limit(*pendulum, count=4000):
    """The first h up to 1 s at which the largest pole reaches size 1, or None."""
    too_large, grid = excess(*pendulum), np.linspace(1 / count, 1, count)
    bad = np.flatnonzero(too_large(grid) >= 0)
    if not bad.size:
        return None
    k = bad[0]
    return grid[0] if k == 0 else brentq(too_large, grid[k - 1], grid[k], xtol=1e-14)


def pendulum_limit(I, s, kp, kd):
    return first_limit(I, s, kp, kd)


class Hanging(Dynamics):
    """Inertia I with a spring s, for course_lib's own theory."""

    n = 1

    def __init__(self, I, s):
        self.I, self.s = I, s

    M = lambda self, q: self.I + 0 * np.asarray(q, float)[..., None]
    c = lambda self, q, qd: 0 * np.asarray(qd, float)
    g = lambda self, q: self.s * np.asarray(q, float)


def by_course_lib(I, s, kp, kd):
    found = critical_period(Hanging(I, s), PD([kp], [kd]), [0.0], longest=1.0)
    return found if np.isfinite(found) else None


def held_stiffness(I, s, kp, kd):
    """Gravity taken for a part of kp: held, too."""
    return min(2 * I / kd, 2 * kd / (kp + s))


def from_the_end(I, s, kp, kd):
    """The last crossing instead of the first."""
    grid = np.linspace(2.5e-4, 1, 4000)
    good = np.flatnonzero(excess(I, s, kp, kd)(grid) < 0)
    return None if good[-1] == len(grid) - 1 else grid[good[-1]]


PENDULUM = Exercise(
    "pendulum_limit",
    cases=pendulum_cases,
    truth=pendulum_limit,
    compare=lambda answer, expected, args: same_period(answer, expected, args, 1e-4),
    seconds=10.0,
    mistakes=[
        Mistake(
            lambda I, s, kp, kd: min(2 * I / kd, 2 * kd / kp),
            "You left gravity's spring out. It moves the joint between two looks.",
        ),
        Mistake(
            held_stiffness,
            "You added gravity's stiffness to kp. The law holds its torque for a period; gravity"
            " holds nothing, it acts all the time.",
        ),
        Mistake(
            lambda I, s, kp, kd: first_limit(1.0, s, kp, kd),
            "The inertia is missing: that is the answer for 1 kg m².",
        ),
        Mistake(
            lambda I, s, kp, kd: first_limit(I, s, kp + s, kd),
            "You compensate gravity the wrong way: the law has no term for it here.",
        ),
        Mistake(
            from_the_end,
            "You found the last crossing. The loop may become stable again at a longer period;"
            " asked is the smallest at which a pole reaches the circle.",
        ),
        Mistake(
            lambda I, s, kp, kd: 2 * I / kd,
            "That is the rule for jumps to and fro. Little damping fails as a swing, much earlier.",
        ),
    ],
    alternatives=[
        by_course_lib,
        lambda I, s, kp, kd: (x := pendulum_limit(I, s, kp, kd)) and np.array([x]),
        lambda I, s, kp, kd: first_limit(I, s, kp, kd, count=9000),
    ],
)

EXERCISES = [SPEED, FACTOR, LATE, RATTLES, PENDULUM]
