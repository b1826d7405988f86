"""The judge of homework 13: a motor that rests, a sum of errors, and your arm's shortest clock.

The tests hold the truths against python-control, SciPy's integrator and a non-linear simulation.
Solutions stand here in the open: the marks hang on hidden cases, and the learning on you.
"""

import numpy as np
from scipy.linalg import expm
from scipy.optimize import brentq

from course_lib.check import Exercise, Mistake, as_numbers

CLOSE = 1e-4  # of periods, in proportion, and of a matrix, as the tasks say
LONGEST = 1.0  # [s]


def variants(function, says):
    """Mistakes of a function whose last argument names what is wrong in it."""
    return [
        Mistake(lambda *case, kind=kind: function(*case, kind), message)
        for kind, message in says.items()
    ]


def same_period(answer, expected, args):
    """Equal within CLOSE; otherwise what the answer would mean for the loop."""
    value, right = float(as_numbers(answer, (), "the period")), float(expected)
    if abs(value - right) <= CLOSE * right:
        return None
    if value < 0:
        return f"A period is not negative; you answer {value:.4g} s."
    if right == 0:
        return f"You answer {value:.4g} s, but here no period is short enough: 0."
    if value == 0:
        return f"You answer 0, but this loop is stable up to {right:.4g} s."
    way = "longer" if value > right else "shorter"
    return f"You answer {value:.5g} s, {way} than the limit by {abs(value / right - 1):.1%}."


# ---------------------------------------------------------------- 1. a motor that rests


def pulse_cases(rng):
    """J, kp, kd, share: the damping decides, the stiffness decides, both ends, drawn."""
    fixed = [(2.0, 30.0, 8.0, 1.0), (2.0, 30.0, 8.0, 0.5), (0.7, 60.0, 0.4, 0.25)]
    fixed += [(1.0, 4.0, 2.0, 0.1), (3.0, 200.0, 5.0, 0.8), (0.2, 1.5, 9.0, 0.6)]
    fixed += [(1.5, 90.0, 12.0, 0.3), (0.4, 25.0, 0.6, 1.0)]
    drawn = np.exp(rng.uniform(np.log([0.1, 2, 0.2]), np.log([5, 200, 20]), (6, 3)))
    return fixed + [(*map(float, row), float(rng.uniform(0.1, 0.95))) for row in drawn]


def pulse_limit(J, kp, kd, share, kind=""):
    """min(2 kd / (share kp), root of share (1 - share) kp h^2 + 2 share kd h = 4 J)."""
    J = {"no inertia": 1.0, "inverse inertia": 1 / J}.get(kind, J)
    share = 1.0 if kind == "all the time" else share
    s = 1.0 if kind == "mean torque" else share
    kp, kd = (kp * share, kd * share) if kind == "mean torque" else (kp, kd)
    swing = 2 * kd / (kp if kind == "share left out of one" else s * kp)
    a, b = s * (1 - s) * kp, s * kd
    a = {"drop": 0.0, "at the end": -a}.get(kind, a)
    if b * b + 4 * a * J < 0:
        return swing
    flip = 4 * J / (b + np.sqrt(b * b + 4 * a * J))
    if kind == "Euler":
        flip, swing = np.inf, kd / (kp * s)
    return {"flip": flip, "swing": swing, "larger": max(flip, swing)}.get(kind, min(flip, swing))


PULSE_SAYS = {
    "all the time": "You let the motor pull for the whole period: share = 1.",
    "mean torque": "You spread the torque evenly over the period. The same push that comes early"
    " carries the joint further until the next look.",
    "at the end": "You let the motor rest first and pull afterwards. It pulls first.",
    "no inertia": "Your joint has the inertia 1.",
    "inverse inertia": "A larger inertia answers more slowly, and may wait longer. Yours may not.",
    "flip": "A pole can leave the circle in two ways: at -1, or as a pair. You look at -1 only.",
    "swing": "A pole can leave the circle in two ways: at -1, or as a pair. You look at the pair"
    " only.",
    "larger": "Both conditions must hold, so the smaller period counts.",
    "drop": "In the condition at -1 you leave out the term with kp. It is 0 for a share of 1 only.",
    "share left out of one": "In the condition for the pair, the share is missing: a push that is"
    " shorter disturbs less.",
    "Euler": "You let the speed of the start carry the joint for the whole period. While the motor"
    " pulls, the speed changes: solve the equation of motion.",
}


def pulse_matrix(J, kp, kd, share, h):
    """From one look to the next: pulled for share * h, then coasting."""
    on, off = share * h, (1 - share) * h
    push = np.array([on**2 / 2 + off * on, on]) / J
    return np.array([[1, h], [0, 1]]) - np.outer(push, [kp, kd])


def first_reach(matrix, start, longest=1e3):
    """The smallest period at which a pole of matrix(h) reaches the unit circle, by a fine scan."""
    room = lambda h: np.abs(np.linalg.eigvals(matrix(h))).max() - 1
    h = start
    if room(h) >= 0:
        return 0.0
    while room(1.05 * h) < 0:
        h *= 1.05
        if h > longest:
            return np.inf
    return brentq(room, h, 1.05 * h, xtol=1e-14, rtol=1e-12)


def scanned_pulse(J, kp, kd, share):
    return first_reach(lambda h: pulse_matrix(J, kp, kd, share, h), 1e-3 * min(J / kd, kd / kp))


# ---------------------------------------------------------------- 2. a sum of errors


def some_mass(rng, n):
    A = rng.normal(size=(n, n))
    return A @ A.T + 0.3 * np.eye(n)


def sum_cases(rng):
    """M, G (n, n), Kp, Ki, Kd (n,), h: one joint, two, three; G hanging, upright, zero."""
    one = [[[2.0]], [[0.0]], [50.0], [80.0], [12.0], 0.05]
    hanging = [[[0.5]], [[9.0]], [20.0], [30.0], [3.0], 0.08]
    two = [[[3.0, 0.8], [0.8, 0.6]], [[12.0, 4.0], [4.0, 5.0]]]
    two += [[120.0, 60.0], [200.0, 90.0], [30.0, 9.0], 0.02]
    upright = [[[3.0, 0.8], [0.8, 0.6]], [[-12.0, -4.0], [-4.0, -5.0]]]
    upright += [[120.0, 60.0], [0.0, 90.0], [30.0, 9.0], 0.04]
    cases = [tuple(np.array(x) for x in case) for case in (one, hanging, two, upright)]
    for n in (1, 2, 3):
        B = rng.normal(size=(n, n))
        gains = rng.uniform([[20.0], [10.0], [2.0]], [[100.0], [200.0], [20.0]], (3, n))
        cases.append((some_mass(rng, n), 3 * (B + B.T), *gains, np.array(rng.uniform(0.01, 0.1))))
    return [(*case[:5], float(case[5])) for case in cases]


def sum_matrix(M, G, Kp, Ki, Kd, h, kind=""):
    """(3n, 3n): from (q, qd, s) at one look to the next; s grows by h q after the torque is set."""
    n, M = len(M), np.asarray(M, float)
    M = np.diag(np.diag(M)) if kind == "diagonal" else np.eye(n) if kind == "no mass" else M
    G = {"no weight": 0.0, "sign of G": -1.0}.get(kind, 1.0) * np.asarray(G, float)
    zero, one = np.zeros((n, n)), np.eye(n)
    A = np.block([[zero, one], [-np.linalg.solve(M, G), zero]])
    B = np.vstack([zero, np.linalg.inv(M)])
    F = np.hstack([np.diag(Kp), np.diag(Kd), np.diag(Ki)])
    if kind == "sum at once":  # the new error counts in the torque, too
        F = np.hstack([np.diag(Kp + h * Ki), np.diag(Kd), np.diag(Ki)])
    if kind == "no hold":
        E = np.block([[A - B @ F[:, : 2 * n], -B @ F[:, 2 * n :]], [one, zero, zero]])
        return expm(E * h)
    held = expm(np.block([[A, B], [np.zeros((n, 3 * n))]]) * h)
    P, Q = held[: 2 * n, : 2 * n], held[: 2 * n, 2 * n :]
    if kind == "Euler":
        P, Q = np.eye(2 * n) + A * h, B * h
    if kind == "weight held":
        free = expm(
            np.block([[zero, one, zero], [zero, zero, np.linalg.inv(M)], [np.zeros((n, 3 * n))]])
            * h
        )
        P, Q = free[: 2 * n, : 2 * n], free[: 2 * n, 2 * n :]
        F = F + np.hstack([G, zero, zero])
    gain = {"no h": one, "sign of s": -h * one}.get(kind, h * one)
    top = np.hstack([P, np.zeros((2 * n, n))]) - Q @ F
    if kind == "sum of the new":  # s grows by the error at the end of the period
        return np.vstack([top, gain @ top[:n] + np.hstack([zero, zero, one])])
    full = np.vstack([top, np.hstack([gain, zero, one])])
    if kind == "other order":
        turn = np.r_[2 * n : 3 * n, 0 : 2 * n]
        return full[np.ix_(turn, turn)]
    if kind == "torque of s left out":
        full[: 2 * n, 2 * n :] = 0
    return full


SUM_SAYS = {
    "Euler": "You take one step of Euler's. Between two looks torque and weight act all the time:"
    " solve the equation of motion.",
    "no hold": "You let the law see at every moment. It looks once a period, and holds its torque.",
    "diagonal": "You left out the coupling: M is not diagonal.",
    "no mass": "M is missing: a torque is not an acceleration.",
    "no weight": "G is missing: the weight changes as the arm moves.",
    "sign of G": "The weight acts the other way: M q̈ = −G q + τ.",
    "weight held": "You hold the weight for a period, as if the computer made it. It acts all the"
    " time.",
    "sum at once": "Your torque counts the newest error twice, in Kp and in the sum already. The"
    " task adds it to the sum after the torque is set.",
    "sum of the new": "You add the error at the end of the period. At a look it is this look's"
    " error that is added.",
    "no h": "Each error counts for the time that it lasts: h.",
    "sign of s": "Your sum falls where the error is positive.",
    "other order": "The order of the state is q, qd, s.",
    "torque of s left out": "The sum grows, but no torque comes from it.",
}


def same_matrix(answer, expected, args):
    right = np.asarray(expected, float)
    A = as_numbers(answer, right.shape, "the matrix")
    off = np.abs(A - right) > CLOSE * np.maximum(1, np.abs(right))
    if not off.any():
        return None
    n = len(right) // 3
    if np.allclose(A.T, right, atol=CLOSE):
        return "Your matrix is transposed: the new state is A times the old one."
    names = [f"{x}{i + 1}" for x in ("q", "qd", "s") for i in range(n)]
    i, j = np.argwhere(off)[0]
    return (
        f"{off.sum()} entries differ; first how the new {names[i]} depends on the old {names[j]}."
    )


def by_columns(M, G, Kp, Ki, Kd, h):
    """Each unit state, run through one period by SciPy's integrator."""
    from scipy.integrate import solve_ivp

    n, columns = len(M), []
    for x in np.eye(3 * n):
        tau = -Kp * x[:n] - Kd * x[n : 2 * n] - Ki * x[2 * n :]
        f = lambda t, y, tau=tau: np.r_[y[n:], np.linalg.solve(M, tau - G @ y[:n])]
        y = solve_ivp(f, (0, h), x[: 2 * n], rtol=1e-11, atol=1e-13).y[:, -1]
        columns.append(np.r_[y, x[2 * n :] + h * x[:n]])
    return np.array(columns).T


# ---------------------------------------------------------------- 3. your arm's clock


def arm_cases(rng):
    """a, m, c, I (2,), q (2,), Kp, Ki, Kd (2,), g: telling ones first, then drawn."""
    a, m, c, I = [0.55, 0.45], [4.0, 2.5], [0.25, 0.2], [0.11, 0.05]
    gains = [180.0, 90.0], [300.0, 150.0], [45.0, 20.0]
    cases = [(a, m, c, I, [0.4, -0.9], *gains, 9.81), (a, m, c, I, [1.5, 0.3], *gains, 9.81)]
    soft = [40.0, 25.0], [30.0, 20.0], [20.0, 6.0]
    cases += [(a, m, c, I, [1.4, 0.2], *soft, 9.81), (a, m, c, I, [-1.5, 0.1], *soft, 9.81)]
    cases += [(a, m, c, I, [0.2, 2.4], *soft, 0.0)]
    eager = [180.0, 90.0], [9000.0, 3000.0], [12.0, 5.0]
    cases += [(a, m, c, I, [0.4, -0.9], *eager, 9.81)]
    loose, weak = (
        ([200.0, 90.0], [100.0, 40.0], [4.0, 1.5]),
        ([200.0, 90.0], [300.0, 60.0], [5.0, 2.0]),
    )
    cases += [(a, m, c, I, [0.4, -0.9], *loose, 9.81), (a, m, c, I, [1.2, 0.6], *weak, 9.81)]
    for _ in range(4):
        a, m = rng.uniform(0.25, 0.7, 2), rng.uniform(1, 6, 2)
        c = a * rng.uniform(0.3, 0.7, 2)
        I, q = m * a**2 * rng.uniform(0.05, 0.12, 2), rng.uniform(-1.5, 1.5, 2)
        Kp = m * rng.uniform(20, 50, 2)
        Kd = Kp * np.exp(rng.uniform(-4, -1.2, 2))
        cases.append((a, m, c, I, q, Kp, Kd * rng.uniform(1, 8, 2), Kd, 9.81))
    return [(*(np.array(x, float) for x in case[:8]), float(case[8])) for case in cases]


def mass_and_weight(a, m, c, I, q, g):
    """M (2, 2) and how the weight's torque changes with q, G (2, 2), of the two links at q."""
    across, low = m[1] * a[0] * c[1] * np.cos(q[1]), I[1] + m[1] * c[1] ** 2
    high = I[0] + m[0] * c[0] ** 2 + m[1] * a[0] ** 2 + low + 2 * across
    M = np.array([[high, low + across], [low + across, low]])
    first = -(m[0] * c[0] + m[1] * a[0]) * g * np.sin(q[0])
    second = -m[1] * c[1] * g * np.sin(q.sum())
    return M, np.array([[first + second, second], [second, second]])


def weight(a, m, c, q, g):
    second = m[1] * c[1] * g * np.cos(q.sum())
    return np.array([(m[0] * c[0] + m[1] * a[0]) * g * np.cos(q[0]) + second, second])


def own_clock(a, m, c, I, q, Kp, Ki, Kd, g, kind=""):
    """The smallest period at which a pole of the loop reaches the unit circle; 0: none is short
    enough."""
    if kind == "sagged":  # where PD alone would stand
        q = q.copy()
        wanted = q.copy()
        for _ in range(100):
            lack = Kp * (wanted - q) - weight(a, m, c, q, g)
            q = q + np.linalg.solve(np.diag(Kp) + mass_and_weight(a, m, c, I, q, g)[1], lack)
    if kind == "q2 alone":
        q = np.array([0.0, q[1]])
    c = {"com at half": np.asarray(a) / 2, "com at the tip": np.asarray(a)}.get(kind, c)
    I = np.zeros(2) if kind == "points" else I
    g = -g if kind == "sign of G" else 0.0 if kind == "no weight" else g
    M, G = mass_and_weight(a, m, c, I, q, g)
    M = np.diag(np.diag(M)) if kind == "diagonal" else M
    Ki = 0 * Ki if kind == "no sum" else Ki
    if kind == "least of the joints":
        return min(min(2 * M[i, i] / Kd[i], 2 * Kd[i] / Kp[i]) for i in range(2))
    if kind == "no sum":
        two = lambda h: sum_matrix(M, G, Kp, Ki, Kd, h)[:4, :4]
        return first_reach(two, 5e-4)
    sort = kind if kind in ("Euler", "sum at once", "no h") else ""
    return first_reach(lambda h: sum_matrix(M, G, Kp, Ki, Kd, h, sort), 5e-4)


CLOCK_SAYS = {
    "no sum": "You leave the sum out. It takes from the limit, and with much of it no period is"
    " short enough.",
    "no weight": "You leave the weight out. It changes as the arm moves, like a spring: G.",
    "sign of G": "Your weight acts the wrong way round. A hanging link is pulled back.",
    "sagged": "You take the posture in which PD alone would stand. With a sum the arm stands where"
    " it should: the sum carries the weight.",
    "diagonal": "You take each joint for itself. One joint's torque moves the other one, too.",
    "least of the joints": "You take each joint for itself, and from a formula without sum and"
    " weight.",
    "points": "You leave out the links' own inertia I.",
    "com at half": "You put the centres of mass half-way. They are at c.",
    "com at the tip": "You put each link's mass at its end. It is at c.",
    "q2 alone": "Only M is the same for every q1. The weight is not.",
    "Euler": "You take one step of Euler's a period. Between two looks the arm moves by its own"
    " equation of motion.",
    "sum at once": "Your torque counts the newest error in the sum already.",
}


def by_energy(a, m, c, I, q, Kp, Ki, Kd, g):
    """M and G by differences of the links' energies, and the first unstable period by bisection."""

    def places(q):
        e = lambda angle: np.array([np.cos(angle), np.sin(angle)])
        return np.array([c[0] * e(q[0]), a[0] * e(q[0]) + c[1] * e(q.sum())])

    d = 1e-5
    J = [(places(q + d * e) - places(q - d * e)) / (2 * d) for e in np.eye(2)]
    spin = [[1.0, 1.0], [0.0, 1.0]]  # of link 1 and 2, by joint 1 and 2
    M = np.zeros((2, 2))
    for i in range(2):
        for j in range(2):
            for k in range(2):
                M[i, j] += m[k] * J[i][k] @ J[j][k] + I[k] * spin[i][k] * spin[j][k]
    height = lambda q: g * (m @ places(q)[:, 1])
    d, one = 1e-3, np.eye(2)
    corner = lambda u, v: (
        height(q + d * (u + v))
        - height(q + d * (u - v))
        - height(q - d * (u - v))
        + height(q - d * (u + v))
    )
    G = np.array([[corner(u, v) / (4 * d * d) for v in one] for u in one])
    radius = lambda h: np.abs(np.linalg.eigvals(sum_matrix(M, G, Kp, Ki, Kd, h))).max()
    grid = np.geomspace(1e-4, LONGEST, 1200)
    bad = [h for h in grid if radius(h) >= 1]
    if radius(grid[0]) >= 1:
        return 0.0
    high = bad[0]
    low = grid[list(grid).index(high) - 1]
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if radius(middle) < 1 else (low, middle)
    return np.array([low])[0]


EXERCISES = [
    Exercise(
        "pulse_limit",
        points=3,
        cases=pulse_cases,
        truth=pulse_limit,
        compare=same_period,
        mistakes=variants(pulse_limit, PULSE_SAYS),
        alternatives=[
            scanned_pulse,
            lambda *case: np.array([[pulse_limit(*case)]])[0, 0],
            lambda *case: np.float32(pulse_limit(*case)),
        ],
    ),
    Exercise(
        "sum_matrix",
        points=3,
        cases=sum_cases,
        truth=sum_matrix,
        compare=same_matrix,
        mistakes=variants(sum_matrix, SUM_SAYS),
        alternatives=[
            by_columns,
            lambda *case: np.round(sum_matrix(*case), 5).tolist(),
            lambda *case: sum_matrix(*case).astype(np.float32),
        ],
    ),
    Exercise(
        "own_clock",
        points=4,
        cases=arm_cases,
        truth=own_clock,
        compare=same_period,
        mistakes=variants(own_clock, CLOCK_SAYS),
        alternatives=[
            by_energy,
            lambda *case: round(own_clock(*case), 7),
            lambda *case: np.array(own_clock(*case)),
        ],
        seconds=10.0,
    ),
]
