"""The judge of homework 12: your own arm's torques, an audit of somebody's simulator, where an
arm with weak motors rests, and a fast move with a load that is known to a fifth.

The tests hold the truths against Pinocchio, SciPy's integrator and `simulate`. Solutions stand here
in the open: the marks hang on hidden cases, and the learning on you.
"""

from functools import lru_cache
from math import cos, sin

import numpy as np
from scipy.optimize import root

from course_lib.arm import Arm
from course_lib.check import Exercise, Mistake, as_numbers, in_mm, numbers_in, parts
from course_lib.control import PD
from course_lib.dynamics import Planar2R
from course_lib.sampled import simulate

CLOSE = 1e-4  # [rad] of angles; of torques, inertias and gains in proportion, as the tasks say
GRAVITY = 9.81  # [m/s^2]


def variants(function, says):
    """Mistakes of a function whose last argument names what is wrong in it."""
    return [
        Mistake(lambda *case, kind=kind: function(*case, kind), message)
        for kind, message in says.items()
    ]


def far_off(answer, right):
    """Which numbers are wrong by more than CLOSE of the largest one, or of 1."""
    return ~(np.abs(answer - right) <= CLOSE * max(1.0, np.abs(right).max()))


def short(numbers):
    """Numbers in a few words: "12.3 and -4.56"."""
    return " and ".join(f"{x:.4g}" for x in np.ravel(numbers) + 0.0)


def in_a_row(answer):
    """A column of numbers, as SymPy makes them, as a row; all else as it is."""
    array = numbers_in(answer)
    return answer if array is None or array.ndim < 2 or 1 not in array.shape else array.ravel()


def spread(rng, low, high, size=None):
    """Numbers between, with six digits, so that a page shows what was meant."""
    return np.round(rng.uniform(low, high, size), 6)


# ---------------------------------------------------------------- 1. your own arm's torques


def own_cases(rng):
    """a, m, com (2, 2), I, load, grip (2,), down (2,), q, qd: plain, leaning, folded, drawn."""
    m, com, I = [4.0, 2.5], [[0.25, 0.06], [0.2, -0.05]], [0.11, 0.05]
    upright, leaning = [0.0, -GRAVITY], [3.0, -9.3]
    cases = [(0.55, m, com, I, 1.5, [0.45, 0.1], upright, [0.4, -0.9], [1.0, 0.5])]
    cases += [(0.55, m, com, I, 1.5, [0.45, 0.1], leaning, [0.4, -0.9], [0.0, 0.0])]
    cases += [(0.4, m, com, I, 0.0, [0.3, 0.0], upright, [-2.0, 2.8], [-2.0, 3.0])]
    cases += [(0.7, m, com, [0.3, 0.1], 2.0, [0.5, -0.2], leaning, [1.7, 1.3], [3.0, -1.0])]
    for _ in range(5):
        a, m, I = spread(rng, 0.3, 0.7), spread(rng, 1, 6, 2), spread(rng, 0.03, 0.3, 2)
        com, grip = spread(rng, [0.1, -0.1], [0.3, 0.1], (2, 2)), spread(rng, [0.3, -0.2], 0.6, 2)
        lean, q = rng.uniform(-0.8, 0.8), spread(rng, -3, 3, 2)
        down = GRAVITY * np.round([np.sin(lean), -np.cos(lean)], 6)
        cases.append((a, m, com, I, spread(rng, 0.5, 3), grip, down, q, spread(rng, -3, 3, 2)))
    arrays = lambda case: [np.array(x, float) if np.ndim(x) else float(x) for x in case]
    return [tuple(arrays(case)) for case in cases]


def own_dynamics(a, m, com, I, load, grip, down, q, qd, kind=""):
    """(M (2, 2), c (2,), g (2,)). Points of the plane are complex numbers, i is a quarter turn."""
    at, held, fall = com @ [1, 1j], grip @ [1, 1j], down @ [1, 1j]
    if kind == "on the line":
        at, held = at.real, held.real
    at, held = (at.conj(), held.conj()) if kind == "other side" else (at, held)
    load, held = 0.0 if kind == "no load" else load, at[1] if kind == "load at com" else held
    fall = np.complex128({"upright": -1j * abs(fall), "down y": 1j * fall.imag}.get(kind, fall))
    both, first = m[1] + load, m[1] * at[1] + load * held  # of link 2 with its load
    swing = I[1] + m[1] * abs(at[1]) ** 2 + load * abs(held) ** 2
    swing = {"points": swing - I[1], "about the joint": I[1] + load * abs(held) ** 2}.get(
        kind, swing
    )
    upper = I[0] * (kind != "points") + m[0] * abs(at[0]) ** 2 * (kind != "about the joint")
    carried = {"not carried": 0.0, "load not carried": m[1]}.get(kind, both) * a**2
    b, slope = a * (first * np.exp(1j * q[1])).real, -a * (first * np.exp(1j * q[1])).imag
    if kind == "load only weighs":
        bare = m[1] * at[1] * np.exp(1j * q[1])
        swing, carried = I[1] + m[1] * abs(at[1]) ** 2, m[1] * a**2
        b, slope = a * bare.real, -a * bare.imag
    twice = 1 if kind == "mixed once" else 2
    M = np.array([[upper + carried + swing + twice * b, swing + b], [swing + b, swing]])
    mixed = 1 if kind == "half Coriolis" else 2
    c = slope * np.array([mixed * qd[0] * qd[1] + qd[1] ** 2, -(qd[0] ** 2)])
    rate = slope * qd[1] * np.array([2 * qd[0] + qd[1], qd[0]])
    c = {"signs of c": -c, "no c": 0 * c, "c of slow": c * [1, 0], "rate": rate}.get(kind, c)
    turn = q[1] if kind == "q2 alone" else q.sum()
    second = -(fall.conj() * 1j * first * np.exp(1j * turn)).real
    whole = m[0] * at[0] + both * a
    g = np.array([second - (fall.conj() * 1j * whole * np.exp(1j * q[0])).real, second])
    g = {"g falls": -g, "g not shared": g - [second, 0]}.get(kind, g)
    return M, c, g


OWN_SAYS = {
    "on the line": "You put all masses on the lines of the links. The second number of `com` and"
    " `grip` is the place beside it.",
    "other side": "Your masses lie on the other side: a positive place beside the link is to its"
    " left, where a positive turn of the joint would take it.",
    "no load": "The load is missing.",
    "load at com": "You hang the load on the centre of mass of link 2. It is held at `grip`.",
    "load only weighs": "Your load has a weight but no inertia: it must be moved, too.",
    "points": "You leave out I: a link has an extent.",
    "about the joint": "You take I as if it were about the joint. It is about the centre of mass:"
    " mass times distance squared comes on top.",
    "not carried": "Joint 1 carries the whole of link 2 and the load: their mass times a²"
    " belongs to M11.",
    "load not carried": "Joint 1 carries the load, too: its mass times a² belongs to M11.",
    "mixed once": "In M11 the term with q2 stands twice: it is the double product of a square.",
    "half Coriolis": "The term qd1 qd2 of c stands there twice: once for M12 and once for M21.",
    "signs of c": "Both signs of c are turned, as in the article. Let your arm swing freely and"
    " look at its energy.",
    "no c": "c is missing: joints that move push each other.",
    "c of slow": "The second line of c is not zero: a turning joint 1 throws link 2 outwards.",
    "rate": "Your c is the rate of M times qd. Lagrange has a second term: what the kinetic energy"
    " does with q comes off.",
    "q2 alone": "Link 2 stands at q1 + q2 against the wall, not at q2.",
    "down y": "You use the y of `down` alone. The floor may slope.",
    "upright": "The arm may lean: `down` says where the weight points. You let it point along -y.",
    "g falls": "g is the torque that *holds* the arm. Yours is what the weight does.",
    "g not shared": "Joint 1 holds the weight of link 2 and of the load, about its own axis.",
}


def same_terms(answer, expected, args):
    M, c, g = parts(answer, ("the mass matrix M", (2, 2)), ("c", None), ("g", None))
    found = M, as_numbers(in_a_row(c), (2,), "c"), as_numbers(in_a_row(g), (2,), "g")
    off = [far_off(x, np.asarray(right, float)) for x, right in zip(found, expected)]
    if not np.concatenate([x.ravel() for x in off]).any():
        return None
    good = [name for name, x in zip("Mcg", off) if not x.any()]
    bad = [name for name, x in zip("Mcg", off) if x.any()]
    first = bad[0]
    k = "Mcg".index(first)
    i = np.argwhere(off[k])[0]
    said = f"{' and '.join(good)} {'are' if len(good) > 1 else 'is'} right. " if good else ""
    place = "".join(str(x + 1) for x in i)
    by = np.abs(found[k] - np.asarray(expected[k]))[tuple(i)]
    return f"{said}{first}{place} is off by {by:.3g}."


def by_jacobians(a, m, com, I, load, grip, down, q, qd):
    """Each mass with its Jacobian; c from differences of M, by Lagrange."""

    def masses(q):
        turn = lambda x: np.array([[cos(x), -sin(x)], [sin(x), cos(x)]])
        first, second, side = turn(q[0]), turn(q[0] + q[1]), np.array([[0, -1], [1, 0]])
        elbow = first @ [a, 0]
        for mass, arm1, arm2 in (
            (m[0], first @ com[0], np.zeros(2)),
            (m[1], elbow, second @ com[1]),
            (load, elbow, second @ grip),
        ):
            yield mass, np.column_stack([side @ (arm1 + arm2), side @ arm2])

    def M(q):
        still = np.array([[I[0] + I[1], I[1]], [I[1], I[1]]])
        return still + sum(mass * J.T @ J for mass, J in masses(q))

    d = 1e-6
    dM = np.stack([(M(q + d * e) - M(q - d * e)) / (2 * d) for e in np.eye(2)], axis=-1)
    c = np.einsum("ijk,j,k", dM, qd, qd) - np.einsum("jki,j,k", dM, qd, qd) / 2
    return [M(q), c, -sum(mass * J.T @ down for mass, J in masses(q))]


OWN = Exercise(
    "own_dynamics",
    points=2,
    cases=own_cases,
    truth=own_dynamics,
    compare=same_terms,
    mistakes=variants(own_dynamics, OWN_SAYS),
    alternatives=[
        by_jacobians,
        lambda *case: [np.float32(x) for x in own_dynamics(*case)],
        lambda *case: tuple(np.round(x, 5).tolist() for x in own_dynamics(*case)),
    ],
    seconds=20.0,  # SymPy, for those who derive at every call
)


# ---------------------------------------------------------------- 2. an audit of a simulator

ARMS = ((5.2272, 1.375, 0.975, 75.93, 24.525), (1.1, 0.3, 0.25, 20.0, 6.0))
NOISE = 1e-3  # [J] below which nothing shows, as the task says


def logged(arm, start, until, pieces, fault, push, rng):
    """t, q, qd, tau of a program with a fault: (kind, strength), torques held from row to row."""
    A, B, D, G1, G2 = arm
    kind, size = fault
    first, second = (G1, G2) if kind != "weight" else (G1 * (1 + size), G2 * (1 + 2 * size))
    p, r = {"speed": (2 - 2 * size, 1 - size), "hidden": (2 - size, 1 - size)}.get(kind, (2, 1))
    all_c = 1 - size if kind == "speed" else 1
    brake = size if kind == "brakes" else 0.0

    def slope(x, tau):
        q1, q2, v, w = x
        h, m12 = B * sin(q2), D + B * cos(q2)
        low = second * cos(q1 + q2)
        f1 = tau[0] + h * w * (p * v + all_c * w) - first * cos(q1) - low - brake * v
        f2 = tau[1] - r * h * v * v - low - brake * w
        M11 = A + 2 * B * cos(q2)
        det = M11 * D - m12 * m12
        return np.array([v, w, (D * f1 - m12 * f2) / det, (M11 * f2 - m12 * f1) / det])

    t = np.r_[0, np.sort(rng.uniform(0.1, 0.9, pieces - 1)), 1] * until
    t = np.round((t + 3 * np.linspace(0, until, pieces + 1)) / 4, 4)  # nearly even
    tau, rows = np.round(push * rng.normal(size=(pieces, 2)) * [G1, G2], 3), [np.array(start)]
    for held, span in zip(tau, np.diff(t)):
        x, steps = rows[-1], max(1, round(span / 2e-3))
        for _ in range(steps):
            h = span / steps
            k1 = slope(x, held)
            k2 = slope(x + h / 2 * k1, held)
            k3 = slope(x + h / 2 * k2, held)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + slope(x + h * k3, held))
        rows.append(x)
    q, qd = np.array(rows)[:, :2], np.array(rows)[:, 2:]
    return t, (q + np.pi) % (2 * np.pi) - np.pi, qd, tau


@lru_cache
def told_logs():
    rng, level, low = np.random.default_rng(12), [0.0, 0.0, 0.0, 0.0], [-1.2, 0.8, 1.0, -2.0]
    faults = [("speed", 2.0), ("none", 0.0), ("weight", 0.15), ("brakes", 0.6), ("hidden", 1.0)]
    faults += [("weight", -0.2), ("speed", 0.3), ("none", 0.0), ("brakes", 0.2), ("hidden", 2.0)]
    logs = []
    for k, fault in enumerate(faults):
        arm = ARMS[k % 2]
        start = (level, low, [2.8, -1.0, 3.0, 1.0])[k % 3]
        log = logged(arm, start, 1.5, 24, fault, (0.0, 0.4)[k % 3 > 0], rng)
        logs.append((*log, np.array(arm)))
    return logs


def audit_cases(rng):
    """t (m,), q, qd (m, 2), tau (m-1, 2), arm (5,): one of each kind and more, then drawn."""
    cases = list(told_logs())
    kinds = {"none": 0.0, "speed": 1.0, "weight": 0.2, "brakes": 0.4, "hidden": 1.0}
    while len(cases) < len(told_logs()) + 4:
        A, B, D = spread(rng, [3, 0.3, 0.5], [5, 0.9, 1])
        arm = np.array([A, B, D, *spread(rng, [20, 5], [60, 15])])
        kind = list(kinds)[rng.integers(5)]
        fault = kind, kinds[kind] * rng.choice([-1, 1] if kind == "weight" else [1])
        start = [*rng.uniform(-3, 3, 2), *rng.uniform(-3, 3, 2)]
        case = (*logged(tuple(arm), start, 1.5, 24, fault, 0.4, rng), arm)
        if clear_word(case, kind):
            cases.append(case)
    return cases


def clear_word(case, kind):
    """Is the word right, and would it be with a limit ten times as wide or as narrow?"""
    word = {"none": "keeps", "hidden": "keeps"}.get(kind, kind)
    invented = audit(*case)[0]
    return all(word_of(case[1], invented, NOISE * s) == word for s in (0.1, 1, 10))


def word_of(q, invented, noise=NOISE):
    """What the program does with energy."""
    if np.abs(invented).max() <= noise:
        return "keeps"
    heights = np.sin(np.column_stack([q[:, 0], q.sum(axis=1)]))
    heights = heights - heights[0]
    rest = invented - heights @ np.linalg.lstsq(heights, invented, None)[0]
    if np.abs(rest).max() <= noise:
        return "weight"
    return "brakes" if np.diff(invented).max() <= noise else "speed"


def audit(t, q, qd, tau, arm, kind=""):
    """(invented energy (m,) [J] since the start, the word)."""
    A, B, D, G1, G2 = arm
    v, w = qd.T
    mixed = (D + B * np.cos(q[:, 1])) * (0 if kind == "no mixed" else 1)
    kinetic = (A + 2 * B * np.cos(q[:, 1])) * v**2 / 2 + D * w**2 / 2 + mixed * v * w
    kinetic = {"no half": 2 * kinetic, "no motion": 0 * kinetic}.get(kind, kinetic)
    turn = q[:, 1] if kind == "q2 alone" else q.sum(axis=1)
    high = G1 * np.sin(q[:, 0]) + G2 * np.sin(turn)
    high = {"no height": 0 * high, "height turned": -high}.get(kind, high)
    way = np.diff(q if kind == "wrapped" else np.unwrap(q, axis=0), axis=0)
    dt = np.diff(t)[:, None]
    way = {"left": dt * qd[:-1], "right": dt * qd[1:], "mean": dt * (qd[:-1] + qd[1:]) / 2}.get(
        kind, way
    )
    if kind == "joint 1 alone":
        way = way * [1, 0]
    work = np.r_[0, np.cumsum((tau * way).sum(axis=1))]
    work = {"no work": 0 * work, "work added": -work, "size": np.abs(work)}.get(kind, work)
    invented = kinetic + high - work
    invented = invented - (0 if kind == "from nothing" else invented[0])
    word = word_of(q, invented)
    if kind == "end alone":
        last = invented[-1]
        word = "keeps" if abs(last) <= NOISE else "brakes" if last < 0 else "speed"
    word = "speed" if kind == "no weight" and word == "weight" else word
    if kind == "falls at first" and word != "keeps":
        word = "brakes" if invented[1] < 0 else word
    invented = np.r_[0, np.diff(invented)] if kind == "not summed" else invented
    return (-invented if kind == "lost" else invented), word


AUDIT_SAYS = {
    "no mixed": "In the kinetic energy the product of both speeds is missing: M is not diagonal.",
    "no half": "The kinetic energy has one half.",
    "no motion": "The kinetic energy is missing.",
    "no height": "The potential energy is missing: an arm that falls gets fast, and that is fair.",
    "height turned": "Up is where energy is stored. Your potential energy falls with height.",
    "q2 alone": "Link 2 stands at q1 + q2 against the wall, not at q2.",
    "wrapped": "The log jumps from pi to -pi, the arm does not. Undo the jumps before you ask how"
    " far a joint went.",
    "left": "Torque times speed at the start of an interval is not the work: the speed changes"
    " in between. The torque does not: torque times angle is exact.",
    "right": "Torque times speed at the end of an interval is not the work: the speed changes"
    " in between. The torque does not: torque times angle is exact.",
    "mean": "The mean of two speeds is not the mean speed. The torque is constant in between:"
    " torque times angle is exact.",
    "joint 1 alone": "Both motors work.",
    "no work": "What the motors put in is not invented. Take their work off.",
    "work added": "You add the work of the motors. What they put in is not invented: take it off.",
    "size": "A motor that brakes takes energy out: its work is negative. Keep the sign.",
    "from nothing": "At the start nothing is invented yet. Count from there.",
    "end alone": "Your energies are right. For the word look at all instants, not at the last.",
    "no weight": "Your energies are right. One of these programs carries another weight: what it"
    " invents comes back whenever the arm comes back to a posture.",
    "falls at first": "Your energies are right. A program that brakes never gives anything: look"
    " at each step, not at the first.",
    "not summed": "Those are the energies of single intervals. Since the start was asked for.",
    "lost": "The sign: invented counts positive.",
}


def same_audit(answer, expected, args):
    right = np.asarray(expected[0], float)
    invented, word = parts(answer, ("the energies", right.shape), ("the word", str))
    off = ~(np.abs(invented - right) <= CLOSE * (10 + np.abs(right)))
    if off.any():
        k = int(off.argmax())
        by = abs(invented - right)[k]
        return f"At instant {k}, counted from 0, your energy is off by {by:.3g} J."
    word = word.strip().lower()
    if word not in ("keeps", "weight", "brakes", "speed"):
        return 'The word is one of "keeps", "weight", "brakes" and "speed".'
    return None if word == expected[1] else f'Your energies are right. The word is not "{word}".'


def step_by_step(t, q, qd, tau, arm):
    """Row by row, with a mass matrix, and the shorter way round for each joint."""
    A, B, D, G1, G2 = arm
    energy = []
    for (q1, q2), v in zip(q, qd):
        M = np.array([[A + 2 * B * cos(q2), D + B * cos(q2)], [D + B * cos(q2), D]])
        energy.append(v @ M @ v / 2 + G1 * sin(q1) + G2 * sin(q1 + q2))
    found = [0.0]
    for k in range(len(t) - 1):
        way = np.angle(np.exp(1j * (q[k + 1] - q[k])))
        found.append(found[-1] + energy[k + 1] - energy[k] - tau[k] @ way)
    return found, word_of(q, np.array(found))


AUDIT = Exercise(
    "audit",
    points=2,
    cases=audit_cases,
    truth=audit,
    compare=same_audit,
    mistakes=variants(audit, AUDIT_SAYS),
    alternatives=[
        step_by_step,
        lambda *case: [np.float32(step_by_step(*case)[0]), step_by_step(*case)[1].upper()],
        lambda *case: (np.round(step_by_step(*case)[0], 4), np.str_(step_by_step(*case)[1])),
    ],
)


# ---------------------------------------------------------------- 3. where a weak motor rests


def weight(G, q, turn=None):
    """Torque (..., 2) that holds two links with G (2,) [N m] at q (..., 2)."""
    second = G[1] * np.cos(q[..., 0] + q[..., 1] if turn is None else turn)
    return np.stack([G[0] * np.cos(q[..., 0]) + second, second + 0 * q[..., 0]], axis=-1)


def rest_cases(rng):
    """G, model (2,), Kp, tau_max, q_ref: stiff, too soft to iterate, at a limit, left, drawn."""
    fixed = [([76, 25], [0, 0], [300, 225], [150, 120], [0.97, -0.76])]
    fixed += [([76, 25], [60, 15], [200, 60], [150, 120], [-1.0, 0.3])]
    fixed += [([76, 25], [0, 0], [45, 12], [150, 120], [-1.1, 0.2])]
    fixed += [([76, 25], [60, 18], [400, 300], [55, 60], [0.5, 0.3])]
    fixed += [([76, 25], [76, 25], [300, 200], [120, 14], [0.2, 0.4])]
    fixed += [([76, 25], [20, 6], [400, 300], [60, 60], [0.2, 0.1])]
    fixed += [([40, 30], [30, 40], [150, 90], [45, 20], [2.6, -0.4])]
    fixed += [([60, 20], [80, 30], [250, 90], [150, 120], [0.6, -1.3])]
    cases = [tuple(np.array(x, float) for x in case) for case in fixed]
    while len(cases) < len(fixed) + 4:
        G = spread(rng, [20, 5], [80, 30])
        model, Kp = np.round(G * rng.uniform(0, 1.3, 2), 3), np.round(G * rng.uniform(0.6, 6, 2), 3)
        case = G, model, Kp, np.round(G * rng.uniform(0.5, 2, 2) + [9, 3], 3), spread(rng, -3, 3, 2)
        if rests_clearly(*case):
            cases.append(case)
    return cases


def motor(G, model, Kp, tau_max, q_ref, q, kind=""):
    """The torques (..., 2) that the motors give at rest at q (..., 2)."""
    known = weight(model, q if kind == "model at q" else q_ref)
    known = 0 * known if kind == "no model" else known
    most = np.inf if kind == "no limit" else tau_max
    if kind == "springs limited":
        return np.clip(Kp * (q_ref - q), -most, most) + known
    return np.clip(Kp * (q_ref - q) + known, -most, most)


STARTS = np.stack(np.meshgrid(*[np.linspace(-2.5, 2.5, 41)] * 2), axis=-1).reshape(-1, 2)


@np.errstate(all="ignore")
def rests(G, model, Kp, tau_max, q_ref):
    """All postures (k, 2) within 2.5 rad of q_ref in which the arm stays when pushed a little.

    Newton from everywhere. A motor below its limit is a spring, one at its limit is none.
    """
    q = q_ref + STARTS
    for _ in range(60):
        lack = motor(G, model, Kp, tau_max, q_ref, q) - weight(G, q)
        free = np.abs(Kp * (q_ref - q) + weight(model, q_ref)) < tau_max
        far = -G[1] * np.sin(q.sum(axis=1))
        one, two = far - G[0] * np.sin(q[:, 0]) + Kp[0] * free[:, 0], far + Kp[1] * free[:, 1]
        det = one * two - far**2
        step = np.column_stack([two * lack[:, 0] - far * lack[:, 1], one * lack[:, 1]])
        step[:, 1] -= far * lack[:, 0]
        q = q + np.clip(step / det[:, None], -0.3, 0.3)
    stays = (np.abs(lack).max(axis=1) < 1e-9) & (one > 0) & (det > 0)
    q = q[stays & (np.abs(q - q_ref).max(axis=1) < 2.5)]
    return q[np.unique(np.round(q, 5), axis=0, return_index=True)[1]]


def resting(G, model, Kp, tau_max, q_ref, kind=""):
    """(2,) where the torque of the motors is the weight's."""
    case = G, model, Kp, tau_max, q_ref
    if kind == "no sag":
        return q_ref
    if kind == "weight at the reference":
        return q_ref - (weight(G, q_ref) - weight(model, q_ref)) / Kp
    if kind == "iterated":
        q = q_ref
        for _ in range(200):
            q = q_ref - (np.clip(weight(G, q), -tau_max, tau_max) - weight(model, q_ref)) / Kp
        return q
    if kind == "stays at the limit":
        q = resting(*case, "no limit")
        asked = Kp * (q_ref - q) + weight(model, q_ref)
        return q_ref - (np.clip(asked, -tau_max, tau_max) - weight(model, q_ref)) / Kp
    if kind == "rises":
        return 2 * q_ref - resting(*case)
    if kind == "q2 alone":
        lack = lambda q: motor(*case, q) - weight(G, q, q[1])
        return root(lack, q_ref, tol=1e-12).x
    if kind == "each alone":
        lack = lambda q: (
            motor(*case, q)
            - [
                weight(G, np.array([q[0], q_ref[1]]))[0],
                weight(G, np.array([q_ref[0], q[1]]))[1],
            ]
        )
        return root(lack, q_ref, tol=1e-12).x
    lack = lambda q: motor(*case, q, kind) - weight(G, q)
    if kind == "":
        return rests(*case)[0]
    start = resting(*case) if kind == "springs limited" else q_ref
    return root(lack, start, tol=1e-12).x


def rests_clearly(*case):
    """One posture of rest and no other, reached from q_ref; no motor just at its limit."""
    G, model, Kp, tau_max, q_ref = case
    found = rests(*case)
    if len(found) != 1 or np.abs(found[0] - q_ref).max() > 2:
        return False
    asked = np.abs(Kp * (q_ref - found[0]) + weight(model, q_ref))
    there = np.abs(by_sinking(*case) - found[0]).max() < 1e-5  # if it creeps, it is too flat
    return there and np.abs(asked / tau_max - 1).min() > 0.05


REST_SAYS = {
    "no sag": "A spring without a stretch gives no torque. It must rest somewhere else, unless the"
    " model is perfect and the motors are strong.",
    "weight at the reference": "You take the weight of the posture asked for. It rests in another"
    " one, and its weight there counts.",
    "iterated": "Your steps don't settle: with a spring softer than the weight, putting the result"
    " back in leads away. Solve the equation in another way.",
    "no limit": "You leave out the motors' limits.",
    "stays at the limit": "A motor at its limit holds no posture: the arm sinks on until the weight"
    " asks for no more than the limit.",
    "springs limited": "The limit is one for the whole torque, the model's part included.",
    "no model": "The law adds the weight that the model believes in. You leave it out.",
    "model at q": "This law knows its weight beforehand: at q_ref, not where the arm is.",
    "rises": "The sign: it sinks where you let it rise.",
    "q2 alone": "Link 2 stands at q1 + q2 against the wall, not at q2.",
    "each alone": "You find each joint with the other one where it should be. It is not there:"
    " solve both equations together.",
}


def same_rest(answer, expected, args):
    q, right = as_numbers(in_a_row(answer), (2,), "the posture"), np.asarray(expected, float)
    if (np.abs(q - right) <= CLOSE).all():
        return None
    given, asked = motor(*args, q), weight(args[0], q)
    if (np.abs(q - args[4]) > 2.5).any():
        return "That is more than 2.5 rad away from q_ref."
    if (np.abs(given - asked) <= 1e-6 * np.abs(args[0]).max()).all():
        return "There the torques agree, but it does not stay there: a small push, and it falls."
    return f"There the motors give {short(given)} N m, and the weight asks for {short(asked)} N m."


def by_sinking(G, model, Kp, tau_max, q_ref):
    """An arm in honey: it goes the way of what is missing, until nothing is."""
    q, known = q_ref, weight(model, q_ref)
    for _ in range(4000):
        lack = np.clip(Kp * (q_ref - q) + known, -tau_max, tau_max) - weight(G, q)
        q = q + lack / (Kp.max() + G[0] + 3 * G[1])
        if np.abs(lack).max() < 1e-7:
            break
    return q


REST = Exercise(
    "resting",
    points=3,
    cases=rest_cases,
    truth=resting,
    compare=same_rest,
    mistakes=variants(resting, REST_SAYS),
    alternatives=[
        by_sinking,
        lambda *case: np.float32(resting(*case)),
        lambda *case: np.round(resting(*case), 5).tolist(),
    ],
    seconds=20.0,
)


# ---------------------------------------------------------------- 4. a load known to a fifth


class Table(PD):
    """PD + a torque that was worked out beforehand, period by period."""

    def __init__(self, table, Kp, Kd, tau_max):
        super().__init__(Kp, Kd, tau_max)
        self.table = table

    def ahead(self, q_ref, qd_ref, qdd_ref):
        return self.table


def with_load(a, m, r, I, load):
    """The arm with a point of mass `load` at its tool."""
    total = m[1] + load
    centre = (m[1] * r[1] + load * a[1]) / total
    moment = I[1] + m[1] * (r[1] - centre) ** 2 + load * (a[1] - centre) ** 2
    com = np.array([[r[0] - a[0], 0, 0], [centre - a[1], 0, 0]])
    inertia = [np.diag([0.6 * i, 0.6 * i, i]) for i in (I[0], moment)]
    zero = np.zeros(2)
    arm = Arm("own", "standard", a, zero, zero, zero, mass=[m[0], total], com=com, inertia=inertia)
    return Planar2R(arm)


def move(q0, q1, T, h):
    """Quintic from q0 to q1 in T, then held for 1 s: q, qd, qdd (m, 2) every h."""
    s = np.minimum(np.arange(round((T + 1) / h) + 1) * h / T, 1)[:, None]
    D = np.asarray(q1) - q0
    speed, push = 30 * s**2 * (1 - s) ** 2 / T, 60 * s * (1 - s) * (1 - 2 * s) / T**2
    return q0 + D * (10 * s**3 - 15 * s**4 + 6 * s**5), D * speed, D * push


def drive_case(a, m, r, I, load, q0, q1, T, h):
    """a, m, r, I, load, q, qd, qdd, h, tau_max, off, bound. Some room is left around `drive`."""
    a, m, r, I = (np.array(x, float) for x in (a, m, r, I))
    path, model = move(np.array(q0), np.array(q1), T, h), with_load(a, m, r, I, load)
    tau_max = np.round(1.5 * np.abs(model.inverse(*path)).max(axis=0) + 12, 1)
    case = a, m, r, I, float(load), *path, h, tau_max
    answer = drive(*case, None, None)
    off = np.round((tau_max - np.abs(answer[0][0])) / (2.5 * answer[1]), 5)
    return *case, off, round(1.35 * max(run.rmse for run in runs(answer, *case)), 5)


@lru_cache
def told_moves():
    one = [0.55, 0.45], [4.0, 2.5], [0.25, 0.2], [0.11, 0.05]
    two = [0.4, 0.5], [3.0, 2.0], [0.2, 0.22], [0.06, 0.06]
    return (
        drive_case(*one, 2.0, [0.3, 1.6], [1.7, -0.6], 0.6, 0.004),
        drive_case(*two, 3.0, [-0.5, 0.4], [0.9, 2.0], 0.6, 0.004),
        drive_case(*one, 1.5, [2.8, -0.3], [1.2, -2.2], 0.5, 0.003),
    )


def drive_cases(rng):
    """Moves that tell, then drawn ones."""
    cases = list(told_moves())
    while len(cases) < 5:
        a, m = spread(rng, 0.4, 0.6, 2), spread(rng, [3, 2], [6, 3])
        r, I = np.round(a * rng.uniform(0.4, 0.6, 2), 6), np.round(m * a**2 / 12, 6)
        q0, load = spread(rng, [-1, 0.3], [1, 1.5]), spread(rng, 1.5, 3)
        q1 = np.round(q0 + rng.choice([-1, 1], 2) * rng.uniform(0.9, 1.6, 2), 6)
        case = drive_case(a, m, r, I, load, q0, q1, 0.6, 0.004)
        cases += [case] if measured(drive(*case), case) is None else []
    return cases


def drive(a, m, r, I, load, q, qd, qdd, h, tau_max, off, bound, kind=""):
    """(table (k, 2), Kp, Kd): the torque of the motion with the load believed in, and gains."""
    believed = {"no load": 0.0, "light end": 0.8, "heavy end": 1.2}.get(kind, 1.0) * load
    model = with_load(a, m, r, I, believed)
    M, c, g = model.M(q), model.c(q, qd), model.g(q)
    alone = np.diagonal(M, axis1=1, axis2=2)
    table = {
        "gravity alone": g,
        "signs of c": np.matvec(M, qdd) - c + g,
        "no c": np.matvec(M, qdd) + g,
        "no weight": np.matvec(M, qdd) + c,
        "nothing": 0 * g,
        "diagonal": alone * qdd + c + g,
    }.get(kind, np.matvec(M, qdd) + c + g)
    least = (alone - M[:, :1, 1] ** 2 / alone[:, ::-1]).min(axis=0)  # the other joint moves freely
    pace = 0.25 / h
    Kp, Kd = pace**2 * least, 2 * pace * least
    gains = {
        "soft": (Kp / 20, Kd / 4),
        "stiff": (4 * Kp, 2 * Kd),
        "shakes": (Kp, 10 * Kd),
        "no damping": (Kp, 0 * Kd),
        "per inertia": (Kp / least, Kd / least),
        "swapped": (Kp[::-1], Kd[::-1]),
        "Kp and Kd": (Kd, Kp),
    }
    return table, *gains.get(kind, (Kp, Kd))


TABLE_SAYS = {
    "nothing": "Your table is empty: the springs alone must make all the torque.",
    "gravity alone": "Your table holds the weight alone. So fast a move takes torque for its"
    " acceleration and for its speed, too.",
    "no weight": "Your table has no weight in it.",
    "no c": "Your table has no torque of speed in it (c). In so fast a move it counts.",
    "signs of c": "Your table has both signs of c turned, as in the article. In so fast a move it"
    " counts.",
    "diagonal": "In your table each joint accelerates for itself: M is not diagonal.",
    "no load": "Your table knows nothing of the load.",
    "light end": "Your table is made for the lightest load. The heaviest is two fifths away.",
    "heavy end": "Your table is made for the heaviest load. The lightest is two fifths away.",
}
DRIVE_SAYS = TABLE_SAYS | {
    "soft": "Your table is right. Your springs are too soft for what it does not know.",
    "stiff": "Your table is right. Your springs are so stiff that a small error at the start asks"
    " for more than the motors have.",
    "shakes": "Your table is right. With so much damping the loop shakes: it looks once a period,"
    " and acts too much before it looks again.",
    "no damping": "Your table is right. Without damping the arm swings on.",
    "per inertia": "Your table is right. Your gains are per unit of inertia; here they are N m/rad"
    " and N m s/rad.",
    "swapped": "Your table is right. The gains of both joints are swapped.",
    "Kp and Kd": "Your table is right. You return Kd before Kp.",
}
LOADS = 0.8, 1.0, 1.2  # times the load believed in


def runs(answer, a, m, r, I, load, q, qd, qdd, h, tau_max, *_):
    """The arm under table and gains, with each of the loads."""
    law, until = Table(*answer, tau_max), h * (len(q) - 1)
    arms = (with_load(a, m, r, I, share * load) for share in LOADS)
    return (simulate(arm, law, lambda t: (q, qd, qdd), h, until) for arm in arms)


def unrest(run, tau_max):
    """What the end of a run shows, in words."""
    steps = np.diff(run.tau[-len(run.tau) // 10 :], axis=0)
    to_and_fro = (steps[1:] * steps[:-1] < 0).mean(axis=0) > 0.5
    if (to_and_fro & (run.torque_step > 0.05 * tau_max)).any():
        return ", and the torque jumps to and fro from period to period: the loop shakes"
    return "" if run.settled else ", and it swings on at the end"


def measured(answer, case):
    """What is not kept, in words, or None."""
    table, Kp, _ = answer
    *_, tau_max, off, bound = case
    asked = np.abs(table[0]) + Kp * off
    if (asked > tau_max).any():
        k = int((asked / tau_max).argmax())
        said = f"Switched on {off[k]:.3g} rad beside the start, joint {k + 1} asks for"
        return f"{said} {asked[k]:.4g} N m; its motor has {tau_max[k]:.4g}."
    for share, run in zip(LOADS, runs(answer, *case)):
        said = f"With {share:.0%} of the load"
        if not run.rmse <= bound:
            times = run.rmse / bound
            more = f"{times:.3g} times what is allowed"
            more = more if times > 1.1 else f"{100 * (times - 1):.2g} % more than allowed"
            return f"{said} the tool's RMSE is {in_mm(run.rmse)}, {more}{unrest(run, tau_max)}."
        if run.saturated.any():
            k = int(run.saturated.argmax())
            return f"{said} joint {k + 1} asks for more than its motor has{unrest(run, tau_max)}."
        if not (run.settled and run.success):
            return f"{said} the arm does not come to rest in the end."
    return None


def read_drive(answer, m):
    return parts(answer, ("the table", (m, 2)), ("Kp", (2,)), ("Kd", (2,)))


def good_drive(answer, expected, args):
    answer = read_drive(answer, len(args[5]))
    if all(np.allclose(x, y, 1e-6, 1e-6) for x, y in zip(answer, expected)):
        return None
    if not min(answer[1].min(), answer[2].min()) >= 0:
        return "A gain is not negative."
    return measured(answer, args)


def why_not_drive(answer, expected, args):
    """The fault that the table has, whatever the gains are."""
    table = read_drive(answer, len(args[5]))[0]
    for kind, says in TABLE_SAYS.items():
        if np.abs(table - drive(*args, kind)[0]).max() < 1e-3:
            return says
    return None


DRIVE = Exercise(
    "drive",
    points=3,
    cases=drive_cases,
    truth=drive,
    compare=good_drive,
    diagnose=why_not_drive,
    mistakes=variants(drive, DRIVE_SAYS),
    alternatives=[
        lambda *case: [np.float32(x) for x in drive(*case)],
        lambda *case: tuple(np.round(x, 3).tolist() for x in drive(*case)),
        lambda *case: (drive(*case)[0], 1.5 * drive(*case)[1], 1.2 * drive(*case)[2]),
    ],
    seconds=20.0,
)

EXERCISES = [OWN, AUDIT, REST, DRIVE]
