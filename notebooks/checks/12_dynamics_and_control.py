"""Checkpoints of lesson 12: a slide's mass matrix, c from M, stiffness, a load, the least time."""

import numpy as np

from course_lib.arm import load_arm
from course_lib.check import Exercise, Mistake, Unreadable, as_numbers, close
from course_lib.dynamics import Planar2R

GRAVITY = 9.81  # [m/s^2]
PLANAR2 = Planar2R(load_arm("planar2"))

# ---------------------------------------------------------------- slide_mass


def slide_cases(rng):
    """Masses, lever, moment of inertia, angle: level, upright, downwards, drawn."""
    fixed = [(2.0, 3.0, 0.5, 0.4, 0.0), (2.0, 3.0, 0.5, 0.4, np.pi / 2), (1.0, 4.0, 0.3, 0.1, -0.7)]
    return fixed + [(*rng.uniform(0.2, 4, 4), rng.uniform(-3, 3)) for _ in range(5)]


def slide_mass(mc, m, r, I, th, mixed=-1.0, share=1.0):
    corner = share * mixed * m * r * np.sin(th)
    return np.array([[mc + m, corner], [corner, I + m * r**2]])


def slide_by_jacobians(mc, m, r, I, th):
    """The sum of J^T m J over both bodies."""
    J = np.array([[1, -r * np.sin(th)], [0, r * np.cos(th)]])
    return np.diag([mc, I]) + m * J.T @ J


def other_entry(answer, expected, args):
    """Which entry is wrong, and what it stands for."""
    answer, expected = as_numbers(answer, (2, 2)), np.asarray(expected)
    if close(1e-5)(answer, expected) is None:
        return None
    if not np.allclose(answer, answer.T, rtol=0, atol=1e-6):
        return "A mass matrix is symmetric: the mixed term of 2K is shared by two places."
    right = np.abs(answer - expected) < 1e-5 * (1 + np.abs(expected))
    if not right[0, 0]:
        return "The first entry is what is moved when the slide alone moves: which masses are that?"
    if not right[1, 1]:
        return "The last entry is the inertia of the link about its joint, not about its centre."
    return "The mixed entry is wrong: write the speed of the centre of mass, and square it."


SLIDE = Exercise(
    "slide_mass",
    cases=slide_cases,
    truth=slide_mass,
    compare=other_entry,
    mistakes=[
        Mistake(
            lambda mc, m, r, I, th: slide_mass(mc, m, r, 0 * I, th),
            "The moment of inertia is missing: the link turns, too, and has energy of that.",
        ),
        Mistake(
            lambda mc, m, r, I, th: slide_mass(mc, m, r, I - m * r**2, th),
            "The centre of mass moves on a circle when the link turns: m r^2 must be added to I.",
        ),
        Mistake(
            lambda mc, m, r, I, th: slide_mass(mc - m, m, r, I, th),
            "The slide carries the link with it: both masses move along the rail.",
        ),
        Mistake(
            lambda mc, m, r, I, th: slide_mass(mc, m, r, I, th, mixed=1.0),
            "The sign of the mixed entry: the derivative of r cos(th) is -r sin(th).",
        ),
        Mistake(
            lambda mc, m, r, I, th: slide_mass(mc, m, r, I, th + np.pi / 2),
            "You have a cosine in the mixed entry. Along the rail, a turning link moves by the sine"
            " of its angle; the cosine belongs to its motion up and down.",
        ),
        Mistake(
            lambda mc, m, r, I, th: slide_mass(mc, m, r, I, th, share=2.0),
            "The mixed term of 2K stands in two places of the matrix, so half of it in each.",
        ),
        Mistake(
            lambda mc, m, r, I, th: slide_mass(mc, m, r, I, th, share=0.5),
            "Your matrix is made from K; M stands in K with a factor of one half, so use 2K.",
        ),
        Mistake(
            lambda mc, m, r, I, th: slide_mass(mc, m, r, I, th) / 2,
            "All is half of what it should be: K = v M v / 2, so M comes from 2K.",
        ),
        Mistake(
            lambda mc, m, r, I, th: slide_mass(mc, m, r, I, th, share=0.0),
            "You left the mixed entry out: a link that turns pushes its slide along.",
        ),
        Mistake(
            lambda mc, m, r, I, th: slide_mass(mc, m, r, I, np.radians(th)),
            "You turn the angle from degrees into radians; it is in radians already.",
        ),
    ],
    alternatives=[
        slide_by_jacobians,
        lambda *a: slide_by_jacobians(*a).tolist(),
    ],
)

# ---------------------------------------------------------------- speed_torque


def speed_cases(rng):
    """Derivatives of a mass matrix and speeds: one joint, planar2, three and four joints."""
    one = np.full((1, 1, 1), 2.0), np.array([3.0])
    two = np.zeros((2, 2, 2))
    two[:, :, 1] = [[-2.0, -1.0], [-1.0, 0.0]]
    cases = [one, (two, np.array([1.0, 0.0])), (two, np.array([0.5, -1.5]))]
    for n in (3, 4):
        drawn = rng.normal(size=(n, n, n))
        cases.append((drawn + drawn.transpose(1, 0, 2), rng.normal(size=n)))
    return cases


def speed_torque(dM, qd, first=1.0, second=0.5):
    rate = np.einsum("ijk,j,k->i", dM, qd, qd)
    return first * rate - second * np.einsum("jki,j,k->i", dM, qd, qd)


def by_christoffel(dM, qd):
    """C of Christoffel's symbols, times qd."""
    n, C = len(qd), np.zeros((len(qd), len(qd)))
    for i in range(n):
        for j in range(n):
            for k in range(n):
                C[i, j] += (dM[i, j, k] + dM[i, k, j] - dM[j, k, i]) / 2 * qd[k]
    return C @ qd


def same_torque(answer, expected, args):
    answer, (_, qd) = as_numbers(answer, (len(args[1]),)), args
    if close(1e-5)(answer, expected) is None:
        return None
    invented = answer @ qd - np.asarray(expected) @ qd
    said = f"Entries are off by up to {np.abs(answer - expected).max():.3g} N m."
    return said + f" The power qd c is off by {invented:.3g} W." * (abs(invented) > 1e-6)


SPEED = Exercise(
    "speed_torque",
    cases=speed_cases,
    truth=speed_torque,
    compare=same_torque,
    mistakes=[
        Mistake(
            lambda dM, qd: speed_torque(dM, qd, second=0.0),
            "That is the rate of change of M times qd, the first term alone. K itself depends on q,"
            " and its derivative by q comes off.",
        ),
        Mistake(
            lambda dM, qd: speed_torque(dM, qd, second=1.0),
            "The second term comes from K, which has a half before it.",
        ),
        Mistake(
            lambda dM, qd: speed_torque(dM, qd, second=-0.5),
            "The derivative of K by q is taken off, not added: Lagrange's equation has a minus.",
        ),
        Mistake(
            lambda dM, qd: -speed_torque(dM, qd),
            "Both signs are turned, as in the published arm: yours would make energy.",
        ),
        Mistake(
            lambda dM, qd: speed_torque(dM, qd, first=0.0, second=-0.5),
            "Only the derivative of K by q is there; the rate of M is missing.",
        ),
        Mistake(
            lambda dM, qd: speed_torque(dM, qd, first=0.5, second=0.0),
            "Half the rate of M keeps the energy, but it is not the torque of each joint: that is a"
            " sum of two terms, and only their power is equal to this.",
        ),
        Mistake(
            lambda dM, qd: speed_torque(dM, qd, first=0.5, second=0.5),
            "You put one half before both terms. The momentum M qd has none.",
        ),
        Mistake(
            lambda dM, qd: speed_torque(dM, qd) / 2,
            "All is half of what it should be.",
        ),
        Mistake(
            lambda dM, qd: np.einsum("ijk,j->i", dM, qd) - np.einsum("jki,j->i", dM, qd) / 2,
            "The speeds come twice in each term: torque from speed goes with the square.",
        ),
        Mistake(
            lambda dM, qd: np.einsum("iji,j,i->i", dM, qd, qd) / 2,
            "Each sum runs over all pairs of joints, not only over the joint itself.",
        ),
    ],
    alternatives=[
        by_christoffel,
        lambda dM, qd: [
            sum(
                (dM[i][j][k] - 0.5 * dM[j][k][i]) * qd[j] * qd[k]
                for j in range(len(qd))
                for k in range(len(qd))
            )
            for i in range(len(qd))
        ],
    ],
)

# ---------------------------------------------------------------- stiffer


def stiffer_cases(rng):
    """J, g, Kp, limit [m]: too soft, stiff enough, sags that help each other and that don't."""
    J = np.array([[-0.5, -0.2], [0.7, 0.4]])
    g = np.array([60.0, 20.0])
    cases = [
        (J, g, np.array([300.0, 225.0]), 0.01),
        (J, g, np.array([3e5, 2e5]), 0.01),
        (J, g * [1, -4], np.array([300.0, 225.0]), 0.02),
        (J, -g, np.array([300.0, 500.0]), 0.005),
        (np.eye(3, 4) + 0.1, np.array([1.0, 0.0, -2.0, 5.0]), np.full(4, 50.0), 0.002),
    ]
    for _ in range(4):
        J, g = rng.normal(size=(2, 2)), 50 * rng.normal(size=2)
        cases.append((J, g, rng.uniform(100, 400, 2), 0.01))
    return cases


def sag(J, g, Kp):
    return np.linalg.norm(J @ (g / Kp))


def stiffer(J, g, Kp, limit, sag=sag):
    return max(1.0, sag(J, g, Kp) / limit)


def same_factor(answer, expected, args):
    value, right = float(as_numbers(answer, ())), float(expected)
    if abs(value - right) < 1e-4 * right:
        return None
    J, g, Kp, limit = args
    if value <= 0:
        return "The factor is positive."
    here = f"With it the tool sags by {1e3 * sag(J, g, Kp) / value:.3g} mm"
    return f"{here}; allowed are {1e3 * limit:.3g} mm, and s is at least 1 and no more than needed."


STIFFER = Exercise(
    "stiffer",
    cases=stiffer_cases,
    truth=stiffer,
    compare=same_factor,
    mistakes=[
        Mistake(
            lambda J, g, Kp, limit: sag(J, g, Kp) / limit,
            "You make the springs softer where they are good already. At least 1 was asked for.",
        ),
        Mistake(
            lambda J, g, Kp, limit: max(1.0, limit / sag(J, g, Kp)),
            "Upside down: too much sag needs a stiffer spring.",
        ),
        Mistake(
            lambda J, g, Kp, limit: stiffer(
                J, g, Kp, limit, lambda J, g, Kp: abs(J @ (g / Kp)).sum()
            ),
            "You added up the components of the tool's sag. Its length is their root of squares.",
        ),
        Mistake(
            lambda J, g, Kp, limit: stiffer(
                J, g, Kp, limit, lambda J, g, Kp: abs(J @ (g / Kp)).max()
            ),
            "You took the largest component of the tool's sag; it is a vector with a length.",
        ),
        Mistake(
            lambda J, g, Kp, limit: stiffer(
                J, g, Kp, limit, lambda J, g, Kp: np.linalg.norm(J * (g / Kp), axis=0).sum()
            ),
            "You added the lengths of what each joint does. They are vectors: two joints may help"
            " each other or take away from each other.",
        ),
        Mistake(
            lambda J, g, Kp, limit: stiffer(
                J, g, Kp, limit, lambda J, g, Kp: np.linalg.norm(J * (g / Kp), axis=0).max()
            ),
            "You looked at the worst joint alone; the others move the tool as well.",
        ),
        Mistake(
            lambda J, g, Kp, limit: stiffer(
                J, g, Kp, limit, lambda J, g, Kp: np.linalg.norm(J @ (g / Kp.mean()))
            ),
            "You took the mean stiffness for all joints; each has its own spring.",
        ),
        Mistake(
            lambda J, g, Kp, limit: stiffer(
                J, g, Kp, limit, lambda J, g, Kp: np.linalg.norm(g / Kp)
            ),
            "That is the sag of the joints in radians. The limit is for the tool, in metres: J.",
        ),
        Mistake(
            lambda J, g, Kp, limit: np.sqrt(stiffer(J, g, Kp, limit)),
            "Sag goes with 1/s, not with its square.",
        ),
        Mistake(
            lambda J, g, Kp, limit: stiffer(J, g, Kp, limit) ** 2,
            "Sag goes with 1/s: twice the stiffness, half the sag.",
        ),
        Mistake(
            lambda J, g, Kp, limit: 1e3 * stiffer(J, g, Kp, limit),
            "A thousand times too much: both lengths are in metres.",
        ),
    ],
    alternatives=[
        lambda J, g, Kp, limit: np.maximum(1, sag(J, g, Kp) / limit),
        lambda J, g, Kp, limit: [max(1, sum((np.array(J) @ (g / Kp)) ** 2) ** 0.5 / limit)][0],
    ],
)

# ---------------------------------------------------------------- load_mass


def load_case(q, Kp, mass):
    """An arm with planar2's links at rest; e is what its springs need for both weights."""
    a, q = np.array([PLANAR2.a1, PLANAR2.a2]), np.asarray(q, float)
    g = PLANAR2.g(q)
    levers = a[0] * np.cos(q[0]) + a[1] * np.cos(q.sum()), a[1] * np.cos(q.sum())
    return a, q, Kp, np.round((g + mass * GRAVITY * np.array(levers)) / Kp, 7), g


def load_cases(rng):
    """Rest under PD: one link upright, left and right, no load, drawn ones."""
    Kp = np.array([300.0, 225.0])
    fixed = [
        load_case([0.4, -0.3], Kp, 2.0),
        load_case([0.3, np.pi / 2 - 0.3], Kp, 1.5),
        load_case([2.0, 0.9], np.array([500.0, 100.0]), 0.7),
        load_case([0.9, -0.2], Kp, 0.0),
    ]
    drawn = [
        load_case(rng.uniform([-0.6, -1], [0.6, 1]), rng.uniform(150, 400, 2), rng.uniform(0.5, 4))
        for _ in range(4)
    ]
    return fixed + drawn


def load_mass(a, q, Kp, e, g, turn=None, rest=None):
    """turn: the angle of link 2 against the wall; rest: what the springs have left for the load."""
    turn = q[0] + q[1] if turn is None else turn
    levers = np.array([a[0] * np.cos(q[0]) + a[1] * np.cos(turn), a[1] * np.cos(turn)])
    rest = Kp * e - g if rest is None else rest
    return levers @ rest / (GRAVITY * levers @ levers)


def same_mass(answer, expected, args):
    value, right = float(as_numbers(answer, ())), float(expected)
    if abs(value - right) < 2e-3 * (0.05 + abs(right)):
        return None
    a, q, Kp, e, g = args
    said = f"The springs carry {np.round(Kp * e, 2).tolist()} N m, the empty arm weighs"
    return f"{said} {np.round(g, 2).tolist()} N m; your load does not make up the difference."


LOAD = Exercise(
    "load_mass",
    cases=load_cases,
    truth=load_mass,
    compare=same_mass,
    mistakes=[
        Mistake(
            lambda a, q, Kp, e, g: load_mass(a, q, Kp, e, g, rest=Kp * e),
            "The springs carry the arm as well: take its own weight, g, off first.",
        ),
        Mistake(
            lambda a, q, Kp, e, g: load_mass(a, q, Kp, e, g, turn=q[1]),
            "Link 2 stands at q1 + q2 against the wall, not at q2.",
        ),
        Mistake(
            lambda a, q, Kp, e, g: -load_mass(a, q, Kp, e, g),
            "The sign: a load pulls down, so the springs carry more than g.",
        ),
        Mistake(
            lambda a, q, Kp, e, g: GRAVITY * load_mass(a, q, Kp, e, g),
            "That is a weight in newton. The mass is asked for: divide by 9.81.",
        ),
        Mistake(
            lambda a, q, Kp, e, g: (Kp * e - g)[1] / (GRAVITY * a[1] * np.cos(q[0] + q[1])),
            "You use joint 2 alone. Where link 2 stands upright its lever is zero, and this is a"
            " division by nothing.",
        ),
        Mistake(
            lambda a, q, Kp, e, g: (Kp * e - g)[0] / (GRAVITY * a.sum()),
            "You take the arm as if it were stretched out level. The lever is the level distance.",
        ),
        Mistake(
            lambda a, q, Kp, e, g: (
                (Kp * e - g)[0]
                / (GRAVITY * np.hypot(a[0] + a[1] * np.cos(q[1]), a[1] * np.sin(q[1])))
            ),
            "You took the distance from base to tool as lever. Only its level part counts.",
        ),
        Mistake(
            lambda a, q, Kp, e, g: load_mass(a, q, Kp, e, g, rest=(Kp * e - g)[::-1]),
            "The joints are in the wrong order.",
        ),
        Mistake(
            lambda a, q, Kp, e, g: load_mass(a, q, Kp, e, g, rest=e - g / Kp),
            "Those are angles. Torque is stiffness times angle.",
        ),
        Mistake(
            lambda a, q, Kp, e, g: load_mass(a, q, Kp, e, g, rest=Kp * e + g),
            "You add g to what the springs carry; it is a part of it.",
        ),
    ],
    alternatives=[
        lambda a, q, Kp, e, g: np.linalg.lstsq(
            GRAVITY
            * np.array([[a[0] * np.cos(q[0]) + a[1] * np.cos(sum(q))], [a[1] * np.cos(sum(q))]]),
            Kp * e - g,
            None,
        )[0],
        lambda a, q, Kp, e, g: (
            (Kp * e - g)[0] / (9.81 * (a[0] * np.cos(q[0]) + a[1] * np.cos(q[0] + q[1])))
        ),
    ],
)

# ---------------------------------------------------------------- shortest


def path_case(weight, dynamic, T, tau_max):
    return tuple(np.array(x, float) for x in (weight, dynamic)) + (T, np.array(tau_max, float))


def shortest_cases(rng):
    """Weight, rest, T, limits: with the weight, against it, mixed signs, gravity alone too much."""
    fixed = [
        path_case([[50, 10], [50, 10]], [[25, 2], [-25, -2]], 1.0, [150, 120]),
        path_case([[50, 10], [-50, 10]], [[-40, 5], [40, 0]], 2.0, [150, 120]),
        path_case([[80, 10]], [[1, 70]], 0.5, [100, 65]),
        path_case([[20, 10], [160, 10]], [[10, 1], [10, 1]], 1.0, [150, 120]),
        path_case([[140.0, 0.0]], [[60.0, 1.0]], 1.5, [150, 120]),
        path_case([[100.0, 0.0], [20.0, 0]], [[-30.0, 1.0], [28.0, 1.0]], 1.5, [150, 120]),
    ]
    for _ in range(4):
        weight, dynamic = rng.uniform(-60, 60, (20, 2)), rng.normal(size=(20, 2)) * 30
        fixed.append((weight, dynamic, rng.uniform(0.5, 3), np.array([150.0, 120.0])))
    return fixed


def shortest(weight, dynamic, T, tau_max, root=2.0):
    if (np.abs(weight) > tau_max).any():
        return None
    left = np.where(dynamic > 0, tau_max - weight, tau_max + weight)
    moving = np.abs(dynamic) > 1e-12
    return T / (left[moving] / np.abs(dynamic[moving])).min() ** (1 / root)


def by_search(weight, dynamic, T, tau_max):
    """Halve the gap between too fast and slow enough."""
    fits = lambda D: bool((np.abs(weight + dynamic * (T / D) ** 2) <= tau_max).all())
    if not fits(1e9):
        return None
    fast, slow = 1e-6, 1e9
    for _ in range(200):
        middle = np.sqrt(fast * slow)
        fast, slow = (fast, middle) if fits(middle) else (middle, slow)
    return slow


def same_duration(answer, expected, args):
    weight, dynamic, T, tau_max = args
    if expected is None:
        said = "Gravity alone breaks a limit here; no duration helps: None."
        return None if answer is None else said
    if answer is None:
        return "It is None, but slow enough the motion is within the limits."
    value = float(as_numbers(answer, ()))
    if not value > 0:
        raise Unreadable("A duration is a positive number.")
    if abs(value - expected) < 1e-4 * expected:
        return None
    asked = np.abs(weight + dynamic * (T / value) ** 2) / tau_max
    return (
        f"In {value:.4g} s the path asks for up to {asked.max():.1%} of a limit; 100 % is wanted."
    )


def magnitudes(weight, dynamic, T, tau_max):
    if (np.abs(weight) > tau_max).any():
        return None
    return shortest(np.abs(weight), np.abs(dynamic), T, tau_max)


def peak_only(weight, dynamic, T, tau_max):
    """Largest weight and largest rest of each joint, wherever on the path they are."""
    if (np.abs(weight) > tau_max).any():
        return None
    left = tau_max - np.abs(weight).max(axis=0)
    return T * np.sqrt((np.abs(dynamic).max(axis=0) / left).max())


def first_joint(weight, dynamic, T, tau_max):
    return shortest(weight[:, :1], dynamic[:, :1], T, tau_max[:1])


SHORTEST = Exercise(
    "shortest",
    cases=shortest_cases,
    truth=shortest,
    compare=same_duration,
    mistakes=[
        Mistake(
            lambda w, d, T, most: shortest(w, d, T, most, root=1.0),
            "Torque of acceleration goes with the square of the factor in time.",
        ),
        Mistake(
            lambda w, d, T, most: T * np.sqrt((np.abs(w + d) / most).max()),
            "You scale gravity with the rest. The weight doesn't know how fast you are.",
        ),
        Mistake(
            lambda w, d, T, most: T * np.sqrt((np.abs(d) / most).max()),
            "You leave gravity out: the motors hold the arm as well.",
        ),
        Mistake(
            magnitudes,
            "You take absolute values first. Where the motion goes with the weight, gravity leaves"
            " more for it, not less.",
        ),
        Mistake(
            peak_only,
            "You add the largest weight to the largest acceleration. They need not come at the same"
            " instant, so you wait longer than needed.",
        ),
        Mistake(
            first_joint,
            "You look at joint 1 alone. Any joint may be the one that binds.",
        ),
        Mistake(
            lambda w, d, T, most: (
                None if shortest(w, d, T, most) is None else max(T, shortest(w, d, T, most))
            ),
            "You never go faster than the given motion. It may be slower than it has to be.",
        ),
        Mistake(
            lambda w, d, T, most: (
                None if shortest(w, d, T, most) is None else T**2 / shortest(w, d, T, most)
            ),
            "Upside down: more torque than there is needs more time.",
        ),
        Mistake(
            lambda w, d, T, most: (
                None if shortest(w, d, T, most) is None else shortest(w, d, T, most) / T
            ),
            "That is the factor. The duration is asked for.",
        ),
        Mistake(
            lambda w, d, T, most: shortest(np.clip(w, -0.999 * most, 0.999 * most), d, T, most),
            "Where gravity alone breaks a limit, no duration helps: return None.",
        ),
    ],
    alternatives=[
        by_search,
        lambda w, d, T, most: shortest(np.array(w), np.array(d), float(T), list(most)),
    ],
)

EXERCISES = [SLIDE, SPEED, STIFFER, LOAD, SHORTEST]
