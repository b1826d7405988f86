"""The judge of homework 06: a spare joint, two tasks within limits, a chain's report, a loop.

Answers are judged by what they do to tool and joints, by matrices of our own. Solutions stand here
in the open: the marks hang on hidden cases, and the learning on you.
"""

import numpy as np

from course_lib.arm import load_arm
from course_lib.check import (
    Exercise,
    Mistake,
    Unreadable,
    as_numbers,
    close,
    in_mm,
    same_items,
)
from course_lib.kinematics import jacobian

PI = np.pi
CLOSE = 1e-5  # [rad] and [m], as the tasks say: single precision passes
COBOT, PANDA, PLANAR = (load_arm(name) for name in ("cobot6", "panda", "planar3"))


def told(make, says):
    """Mistakes from a table: the kind of fault, and what to tell who has it."""
    return [Mistake(make(kind), message) for kind, message in says.items()]


# ---------------------------------------------------------------- 1. what the spare joint does

FREE = 1e-6  # a joint whose part in the null space is smaller has no freedom


def spare_cases(rng):
    """J, dx, k, wish, weights: telling ones first, then postures of a Panda."""
    ones, flat = np.ones(3), jacobian(PLANAR, np.array([0.4, 0.9, -0.5]))[:2]
    column = np.array([[0.3, -0.1, 0.45, 0.0], [0.5, 0.35, 0.1, 0.0], [0.0, 0.0, 0.0, 1.0]])
    tilt = np.array([[0.6, 0.0, 0.8], [0.0, 1.0, 0.0], [-0.8, 0.0, 0.6]])
    bent = jacobian(PANDA, np.array([0.3, -0.5, 0.4, -2.0, 0.6, 1.5, -0.3]))[:3]
    heavy = np.array([8.0, 6.0, 4.0, 3.0, 2.0, 1.0, 0.5])
    cases = [
        (flat, np.zeros(2), 0, 0.2, ones),
        (flat, np.array([0.03, -0.02]), 2, -0.3, np.array([4.0, 2.0, 1.0])),
        (bent, np.zeros(3), 2, 0.25, heavy),
        (bent, np.array([0.04, 0.01, -0.03]), 3, 0.2, heavy[::-1].copy()),
        (tilt @ column, tilt @ [0.02, -0.01, 0.03], 3, 0.2, np.array([1.0, 2.0, 3.0, 4.0])),
        (bent, np.array([0.02, 0.05, 0.0]), 1, 0.0, heavy),  # joint 1 is blocked
    ]
    for _ in range(5):
        J = jacobian(PANDA, rng.uniform(PANDA.q_min, PANDA.q_max))[:3]
        dx, wish, weights = rng.uniform(-0.05, 0.05, 3), rng.uniform(-0.3, 0.3), heavy
        k = int(rng.choice(np.flatnonzero(np.linalg.norm(J, axis=0) > 0.05)))
        cases.append((J, dx, k, float(wish), rng.permutation(weights)))
    return cases


def spare_step(J, dx, k, wish, weights, push=True):
    """In the coordinates sqrt(weight) dq, where the cost is a length."""
    root = np.sqrt(weights)
    inverse = np.linalg.pinv(J / root, rcond=1e-9)
    y, N = inverse @ dx, np.eye(len(root)) - inverse @ (J / root)
    if push and N[k, k] > FREE:
        y = y + N[k] * (root[k] * wish - y[k]) / N[k, k]
    return y / root


def spare_wrong(kind):
    """A wrong spare_step, by what is wrong in it."""

    def pushed(J, dx, k, wish, weights):
        """A step with a push in the null space, one part of it exchanged."""
        n, P = J.shape[1], np.linalg.pinv(J)
        if kind == "damped":
            P = J.T @ np.linalg.inv(J @ J.T + 0.05**2 * np.eye(len(J)))
        N = np.eye(n) - (J.T if kind == "transpose" else P) @ J
        dq = spare_step(J, dx, k, wish, weights, push=False)
        dq = P @ dx if kind in ("textbook", "damped", "transpose") else dq
        if kind == "textbook weighted":
            P = (J / weights).T @ np.linalg.inv((J / weights) @ J.T)
            N = np.eye(n) - P @ J
        if kind == "two measures":
            return dq + (N[k] * (wish - dq[k]) / N[k, k] if N[k, k] > FREE else 0)
        return dq + N @ (wish * np.eye(n)[k])

    def set_by_hand(J, dx, k, wish, weights):
        """The joint has its wish; the others do what they can."""
        dq = spare_step(J, dx, k, wish, weights, push=False)
        if kind == "others make it good":
            rest = np.delete(np.arange(len(dq)), k)
            root = np.sqrt(weights[rest])
            dq[rest] = np.linalg.pinv(J[:, rest] / root, 1e-9) @ (dx - J[:, k] * wish) / root
        dq[k] = wish
        return dq

    def one_stack(J, dx, k, wish, weights):
        """The wish as one more row of the task, all rows alike."""
        root = np.sqrt(weights)
        A = np.vstack([J, np.eye(len(root))[k]]) / root
        return np.linalg.pinv(A, 1e-9) @ np.append(dx, wish) / root

    on_top = lambda J, dx, k, wish, w: (
        spare_step(J, dx, k, wish, w, False) + spare_step(J, 0 * dx, k, wish, w)
    )
    table = {
        "no weights": lambda J, dx, k, wish, w: spare_step(J, dx, k, wish, np.ones_like(w)),
        "inverse weights": lambda J, dx, k, wish, w: spare_step(J, dx, k, wish, 1 / w),
        "squared": lambda J, dx, k, wish, w: spare_step(J, dx, k, wish, w**2),
        "no dx": lambda J, dx, k, wish, w: spare_step(J, 0 * dx, k, wish, w),
        "no wish": lambda J, dx, k, wish, w: spare_step(J, dx, k, wish, w, push=False),
        "sign": lambda J, dx, k, wish, w: spare_step(J, dx, k, -wish, w),
        "k from 1": lambda J, dx, k, wish, w: spare_step(J, dx, k - 1, wish, w),
        "degrees": lambda *case: np.degrees(spare_step(*case)),
        "on top": on_top,
        "one stack": one_stack,
        "by hand": set_by_hand,
        "others make it good": set_by_hand,
    }
    return table.get(kind, pushed)


SPARE_SAYS = {
    "textbook": "That is the formula of the textbook, J⁺dx + (1 - J⁺J) z with the wish in z. The"
    " projection keeps only a part of z, so the joint gets only a part of its wish, and the"
    " weights are not in it.",
    "textbook weighted": "Your weights are right, your tool is right. But the projection keeps"
    " only a part of the wish: how far must you push so that the joint gets all of it?",
    "no weights": "Tool and joint are right. You spread the rest as if all joints cost the same.",
    "inverse weights": "Tool and joint are right. Your weights work the wrong way round: a joint"
    " with a large weight should move *less*.",
    "squared": "Tool and joint are right. You count each weight twice: in Σ w dq² the new"
    " coordinate is √w dq, not w dq.",
    "no dx": "The joint has its wish, but the tool stands still. It should move by dx.",
    "no wish": "You leave the wish out: that is the cheapest step for the tool alone.",
    "sign": "The joint goes the other way. `wish` is where it should go, sign and all.",
    "k from 1": "Another joint gets the wish. k counts from 0.",
    "degrees": "Your step is in degrees. The course uses radians.",
    "on top": "You add the wish to what the joint does for the tool anyway. Together it should"
    " be `wish`, so push by what is missing.",
    "one stack": "You add the wish as one more row and solve all rows at once. Where the joint has"
    " no freedom, rows then share the error, and the tool pays. The tool comes first.",
    "by hand": "You set the joint and leave the others as they are. Then the tool moves with it.",
    "others make it good": "You fix the joint and let the others make it good. They can't where"
    " the tool needs this very joint; the tool comes first.",
    "damped": "Damping in the projector opens it a little: what you push leaks into the tool. A"
    " projector has to be exact.",
    "transpose": "1 - JᵀJ is no projector: JᵀJ stretches by squares of singular values. Use J⁺J.",
    "two measures": "Tool and joint are right. The step for the tool knows the weights, your push"
    " does not: project in the coordinates √w dq, too.",
}


def why_not_spare(answer, expected, args):
    """What the step does to tool, joint and cost, in this order."""
    J, dx, k, wish, weights = args
    dq, best = as_numbers(answer, expected.shape, "the step"), np.asarray(expected, float)
    stray = np.linalg.norm(J @ dq - dx)
    if not stray < CLOSE:
        lost = " Has this joint any freedom here?" if np.abs(dq).max() > 10 else ""
        return f"The tool should move by dx; it ends {in_mm(stray)} away from there.{lost}"
    if not abs(dq[k] - best[k]) < CLOSE:
        can = f"it could go {best[k]:.5f} rad without moving the tool"
        return f"The tool is right. Joint {k} goes {dq[k]:.5f} rad, wished is {wish:.5f}; {can}."
    costs = (f"{weights @ v**2:.6g}" for v in (dq, best))
    return "Tool and joint are right. Your Σ w dq² is {}; the least is {}.".format(*costs)


def by_null_space(J, dx, k, wish, weights):
    """A basis Z of the null space: dq = dq0 + Z a, dq[k] fixed, the cost least."""
    dq, Z = np.linalg.lstsq(J, dx, rcond=None)[0], np.linalg.svd(J)[2][len(J) :].T
    if np.abs(Z[k]).max() > 1e-9:
        push = Z[k] / (Z[k] @ Z[k])
        dq, Z = dq + Z @ push * (wish - dq[k]), Z @ np.linalg.svd(push[None])[2][1:].T
    root = np.sqrt(weights)[:, None]
    return dq + Z @ np.linalg.lstsq(root * Z, -root[:, 0] * dq, rcond=None)[0]


def by_multipliers(J, dx, k, wish, weights):
    """Lagrange: one linear system, with the wish as a row where it is independent."""
    row = np.eye(J.shape[1])[k]
    rows, right = np.vstack([J, row]), np.append(dx, wish)
    if np.linalg.matrix_rank(rows, 1e-9) == len(J):
        rows, right = J, dx
    m, n = rows.shape
    K = np.block([[np.diag(weights), rows.T], [rows, np.zeros((m, m))]])
    return np.linalg.solve(K, np.append(np.zeros(n), right))[:n]


SPARE = Exercise(
    "spare_step",
    points=2,
    cases=spare_cases,
    truth=spare_step,
    compare=close(CLOSE),
    diagnose=why_not_spare,
    alternatives=[
        by_null_space,
        by_multipliers,
        lambda *case: np.float32(by_multipliers(*case)),
        lambda *case: tuple(np.round(by_null_space(*case), 5)),
        lambda *case: by_multipliers(*case).tolist(),
        lambda J, dx, k, wish, w: spare_step(J, dx, k, wish, 7 * w),
    ],
    mistakes=told(spare_wrong, SPARE_SAYS),
)


# ---------------------------------------------------------------- 2. two tasks, and joints' limits

LOST = 1e-9  # a singular value below this is none, as the task says


def task_cases(rng):
    """J1, e1, J2, e2, most: telling ones from three arms, then drawn ones."""
    q6 = np.array([0.3, 0.5, -0.4, 0.7, -0.6, 0.2])
    J6, zero = jacobian(COBOT, q6), jacobian(COBOT, np.zeros(6))
    J7 = jacobian(PANDA, np.array([0.3, -0.5, 0.4, -2.0, 0.6, 1.5, -0.3]))
    flat = lambda *q: jacobian(PLANAR, np.array(q))[[0, 1, 5]]
    straight, nearly, slight = flat(0.4, 0, 0), flat(0.4, 1e-12, 0), flat(0.4, 0.03, -0.02)
    move, turn = np.array([0.03, -0.02, 0.04]), np.array([0.2, -0.1, 0.15])
    room_at_wrist = np.array([0.15, 0.15, 0.15, 0.15, 2.0, 2.0])
    wide, pair = np.full(7, 9.0), np.array([0.05, 0.02])
    cases = [
        (J6[:3], move, J6[3:], turn, wide[:6]),  # room for both
        (straight[:2], pair, straight[2:], turn[:1], wide[:3]),  # stretched
        (nearly[:2], pair, nearly[2:], turn[:1], wide[:3]),  # stretched but for rounding
        (slight[:2], pair / 20, slight[2:], turn[:1], wide[:3]),  # not lost, only small
        (zero, np.r_[move, turn], np.eye(6)[3:4], turn[:1], wide[:6]),
        (J7[:3], move, J7[:1] + 0.5 * J7[1:2], turn[:1], wide),  # nothing left for the second
        (J7, np.r_[move, turn], np.eye(7)[[1, 3]], turn[:2], wide),  # not enough left
        (J7[:3], move, J7[[3, 3, 4]], turn, wide),  # the second contradicts itself
        (J6[:3], move, J6[3:], turn, np.full(6, 0.15)),  # the second in part
        (J6[:3], 4 * move, J6[3:], turn, np.full(6, 0.1)),  # the first in part
        (J6[:3], 0.8 * move, J6[3:], -3 * turn, room_at_wrist),  # joint 1 is nearly at its limit
        (
            J6[:3],
            2 * move,
            J6[3:],
            np.array([0, -0.3, 0]),
            room_at_wrist,
        ),  # joint 1 is at its limit
        (J7[:3], move, J7[3:], turn, np.array([0.05, 0.04, 0.06, 0.05, 0.1, 0.2, 0.08])),
    ]
    while len(cases) < 19:
        arm = (COBOT, PANDA)[len(cases) % 2]
        J = jacobian(arm, rng.uniform(arm.q_min, arm.q_max))
        e = np.r_[rng.uniform(-0.05, 0.05, 3), rng.uniform(-0.2, 0.2, 3)]
        most = rng.uniform(0.05, 0.3, arm.n) if len(cases) % 3 else np.full(arm.n, 9.0)
        least = min(np.linalg.svd(rows, compute_uv=False)[-1] for rows in (J[:3], J))
        if least > 0.02:
            cases.append((J[:3], e[:3], J[3:], e[3:], most))
    return cases


def inverse(A, least=LOST):
    """Pseudo-inverse without the singular values below `least`."""
    U, sigma, V = np.linalg.svd(A, full_matrices=False)
    kept = sigma > least
    return (V[kept].T / sigma[kept]) @ U[:, kept].T


def room(dq, more, most):
    """The largest share of `more`, from 0 to 1, that fits on top of dq."""
    moving = np.abs(more) > 1e-12
    left = most[moving] - np.sign(more[moving]) * dq[moving]
    return float(np.clip(np.min(left / np.abs(more[moving]), initial=1.0), 0, 1))


def two_tasks(J1, e1, J2, e2, most, kind=""):
    """The step of both tasks; `kind` names what is exchanged in it, "" nothing."""
    n, least = J1.shape[1], 0.05 if kind == "gives small ones up" else LOST
    P = inverse(J1, least)
    if kind == "damped":
        P = J1.T @ np.linalg.inv(J1 @ J1.T + 0.02**2 * np.eye(len(J1)))
    N = np.eye(n) - P @ J1
    if kind == "by rank of rows":
        Z = np.linalg.svd(J1)[2][len(J1) :]
        N = Z.T @ Z
    first = P @ e1
    share = room(0 * first, first, most)
    first = first if kind in ("no limits", "sum scaled", "clipped") else share * first
    missing = e2 - J2 @ (first / share if kind == "of the whole first" and share else first)
    missing = e2 if kind in ("no correction", "projected") else missing
    if kind == "projected":
        second = N @ (inverse(J2) @ missing)
    elif kind == "damped":
        A = J2 @ N
        second = N @ A.T @ np.linalg.solve(A @ A.T + 0.02**2 * np.eye(len(A)), missing)
    elif kind == "transposed":
        second = N @ (J2.T @ missing)
    elif kind == "default":
        second = np.linalg.pinv(J2 @ N) @ missing
    else:
        second = inverse(J2 @ N, least) @ missing
    if kind == "no limits":
        return first + second
    if kind == "sum scaled":
        return room(0 * first, first + second, most) * (first + second)
    if kind == "clipped":
        return np.clip(first + second, -most, most)
    if kind == "all or nothing" and room(first, second, most) < 1:
        return first
    return first + room(first, second, most) * second


def task_wrong(kind):
    """A wrong two_tasks, by what is wrong in it."""

    def stack(weight):
        def answer(J1, e1, J2, e2, most):
            A, e = np.vstack([weight * J1, J2]), np.r_[weight * e1, e2]
            return two_tasks(A, e, J2[:0], e2[:0], most)

        return answer

    def in_two_parts(J1, e1, J2, e2, most):
        """Both steps, each as if alone, and added."""
        dq = inverse(J1) @ e1 + inverse(J2) @ e2
        return room(0 * dq, dq, most) * dq

    table = {
        "compromise": stack(1.0),
        "weighted": stack(10.0),
        "turned round": lambda J1, e1, J2, e2, most: two_tasks(J2, e2, J1, e1, most),
        "first alone": lambda J1, e1, J2, e2, most: two_tasks(J1, e1, J2[:0], e2[:0], most),
        "second alone": lambda J1, e1, J2, e2, most: two_tasks(J2, e2, J1[:0], e1[:0], most),
        "added": in_two_parts,
        "away": lambda *case: -two_tasks(*case),
        "gives up": lambda *case: (
            two_tasks(*case) * (np.linalg.matrix_rank(case[0], 1e-9) == len(case[0]))
        ),
    }
    return table.get(kind, lambda *case: two_tasks(*case, kind))


TASK_SAYS = {
    "compromise": "You solve both tasks at once, by least squares over all rows. That shares the"
    " error out; the first task should lose nothing to the second.",
    "weighted": "You solve all rows at once, the first with a large weight. A weight makes the"
    " disturbance small; in a strict order it is zero.",
    "turned round": "Your second task comes first.",
    "first alone": "The first task is right. The second gets nothing, although something is left.",
    "second alone": "The second task has its way; the first is left out.",
    "added": "You add the steps of two tasks that don't know of each other. The second disturbs"
    " the first: let it move in the null space of J1 only.",
    "away": "Your step goes the wrong way: both tasks want J dq = +e.",
    "gives up": "You stand still where the first task is singular. It has lost one direction; in"
    " all others it can still be served, and the second too.",
    "damped": "You damp. Then both tasks are a little wrong everywhere, and a small singular value"
    " is hardly served. Cut off what is below the announced 1e-9, and leave the rest exact.",
    "gives small ones up": "You cut small singular values off as if they were lost. Only what is"
    " below 1e-9 is; the joints' limits take care of large steps.",
    "by rank of rows": "You take the rows of V from the number of rows of J1 on as its null"
    " space. At a singular posture the null space is larger: count singular values, not rows.",
    "no correction": "Your second task forgets what the first one does to it: what is left to do"
    " is e2 - J2 dq1.",
    "projected": "You work the second step out as if all joints were free, and project it then."
    " What is left of it does not do the task: invert J2 N, not J2.",
    "transposed": "You go downhill with J2ᵀ in the null space. Harmless to the first task, but the"
    " second gets there only by chance: invert J2 N.",
    "default": "Your pseudo-inverse of J2 N inverts rounding. Where the first task takes all, J2 N"
    " is some 1e-17, and pinv's own limit is *relative* to the largest of these. Cut at 1e-9.",
    "no limits": "Without limits that would be right. But a joint moves further than `most`.",
    "sum scaled": "You scale the whole step. So the first task pays for the second: fit the first"
    " alone, then add as much of the second as there is room for.",
    "clipped": "You clip joint by joint. That changes the *direction* of the step, and disturbs"
    " the first task: one factor for all joints of a task.",
    "all or nothing": "You drop the second task as soon as it does not fit as a whole. A part of"
    " it may.",
    "of the whole first": "You take J2 dq1 off for the first step in full. It was shortened: what"
    " the second has to make good is what the arm really does.",
}


def why_not_tasks(answer, expected, args):
    """Limits, first task, second task, length of the step: what breaks first?"""
    J1, e1, J2, e2, most = args
    dq, best = as_numbers(answer, most.shape, "the step"), np.asarray(expected, float)
    over = np.abs(dq) - most
    if not over.max() < CLOSE:
        i = int(over.argmax())
        return f"Joint {i} moves by {abs(dq[i]):.4g} rad; {most[i]:.4g} are allowed."
    for J, e, name in ((J1, e1, "first"), (J2, e2, "second")):
        left, least = (np.linalg.norm(J @ v - e) for v in (dq, best))
        if name == "first" and left < least - CLOSE:
            return "Your first task gets more than dq1, shortened to fit, gives it: see line 1."
        if not abs(left - least) < CLOSE:
            return (
                f"The {name} task is left with an error of {left:.6g}; {least:.6g} is right here."
                f" (It began with {np.linalg.norm(e):.6g}.)"
            )
    return "The errors left over are right, but another step does it: the shortest is asked for."


def by_library(J1, e1, J2, e2, most):
    """The library's hierarchy without damping, taken apart."""
    from course_lib.ik import priority_step

    first = priority_step([(J1, e1)], gain=0)
    first = first * min(1, 1 / np.max(np.abs(first) / most, initial=1e-300))
    both = priority_step([(J1, J1 @ first), (J2, e2)], gain=0)
    return first + room(first, both - first, most) * (both - first)


TASKS = Exercise(
    "two_tasks",
    points=3,
    cases=task_cases,
    truth=two_tasks,
    compare=close(CLOSE),
    diagnose=why_not_tasks,
    alternatives=[
        by_library,
        lambda *case: np.float32(by_library(*case)),
        lambda *case: np.round(by_library(*case), 6).tolist(),
        lambda *case: tuple(by_library(*case)),
        lambda J1, e1, J2, e2, most: two_tasks(J1[::-1], e1[::-1], -J2, -e2, most),
    ],
    mistakes=told(task_wrong, TASK_SAYS),
)


# ---------------------------------------------------------------- 3. what a chain's report hides

SLACK = 1e-6  # [m] and [rad] less is rounding, as the task says


def chain(lengths, q, zeros, root=(0.0, 0.0)):
    """Points (k+1, 2) of a chain whose joints stand at q (k,)."""
    along = np.cumsum(np.add(q, zeros))
    steps = np.array(lengths)[:, None] * np.column_stack([np.cos(along), np.sin(along)])
    return np.vstack([root, np.add(root, steps.cumsum(axis=0))])


def run(lengths, q, zeros, limits, *, say="converged", stray=(0.0, 0.0), root=(0.0, 0.0), **made):
    """One case: the chain before, after, target, limits, zeros, tolerance and report.

    stray: from the tip to the target; made: `shift` of the base, `stretch` (k,) of each link.
    """
    before = chain(lengths, np.mean(limits, axis=1), zeros, root)
    stretched = np.add(lengths, made.get("stretch", np.zeros(len(lengths))))
    after = chain(stretched, q, zeros, np.add(root, made.get("shift", (0.0, 0.0))))
    target = after[-1] + stray
    return before, after, target, np.array(limits, float), np.array(zeros, float), 1e-3, say


def chain_cases(rng):
    """Runs that tell one fault from another, then drawn ones."""
    three, none, wide = (0.4, 0.3, 0.2), (0.0, 0.0, 0.0), [(-2.0, 2.0)] * 3
    cases = [
        run(three, (0.5, 0.4, -0.3), none, wide),  # sound
        run(three, (0.5, -0.4, 0.3), none, [(-2, 2), (0, 2), (-2, 2)]),  # bent to the other side
        run(three, (0.8, 0.7, 0.6), none, [(-1, 1)] * 3),  # sound; the sum is large
        run(three, (1.2, -0.9, -0.2), none, [(-1, 1), (-0.8, 1), (-1, 1)]),  # joint 1 too
        run(three, (0.5, 0.4, -0.3), none, wide, stretch=(0.01, -0.01, 0)),  # the sum is kept
        run(three, (0.5, 0.4, -0.3), none, wide, stretch=(0, 0, 0.0015)),
        run(three, (0.5, 0.4, -0.3), none, wide, shift=(0.004, -0.003)),
        run(three, (0.2, 0.4, -0.3), (0.3, 2.9, -3.0), [(-1, 1), (-0.5, 0.5), (-0.5, 0.5)]),
        run(three, (0.2, 0.4, -0.3), (0.3, -0.9, 1.1), [(-1, 1), (-0.5, 0.5), (-0.5, 0.5)]),
        run(three, (0.2, 0.7, -0.4), (0.3, 2.9, -3.0), [(-1, 1), (-0.5, 0.5), (-0.3, 0.9)]),
        run(three, (0.5, 1.0 + 4e-8, -0.5), none, [(-2, 2), (0, 1), (-0.5, 2)]),  # at its limits
        run(three, (0.5, 1.002, -0.3), none, [(-2, 2), (0, 1), (-0.5, 2)]),
        run(three, (0.5, 2.6, -0.3), none, wide),
        run(three, (0.5, 1.00002, -0.3), none, [(-2, 2), (0, 1), (-0.5, 2)], stretch=(2e-5, 0, 0)),
        run(three, (0.5, 0.4, -0.3), none, wide, shift=(0, 2e-5), stray=(0, 0.00102)),
        run(three, (0.5, 0.4, -0.3), none, wide, stray=(0, 0.0025)),
        run(three, (0.5, 0.4, -0.3), none, wide, stray=(0.002, 0)),
        run(three, (0.5, 0.4, -0.3), none, wide, stray=(0.0006, -0.0006)),
        run(three, (0.5, 0.4, -0.3), none, wide, say="stalled", stray=(0.05, 0.02)),
        run(three, (1.3, -1.2, 0.3), none, [(-1, 1)] * 3, root=(0.2, 0.1), stretch=(0, 0.02, 0)),
        run(three, (-0.6, 0.2, 0.4), none, [(-0.4, 0.9), (-0.1, 0.9), (-0.9, 0.3)]),
    ]
    return cases + [drawn_run(rng) for _ in range(6)]


def drawn_run(rng):
    """A run with whatever faults fall to it, none of them within a factor of two of the slack."""
    k = int(rng.integers(3, 6))
    limits = np.column_stack([rng.uniform(-1.2, -0.3, k), rng.uniform(0.3, 1.2, k)])
    q = rng.uniform(*(0.95 * limits).T)
    out = rng.random(k) < 0.3
    q = np.where(out, limits[:, 1] + rng.uniform(0.01, 0.4, k), q)
    stretch = np.where(rng.random(k) < 0.2, rng.uniform(0.002, 0.02, k), 0)
    return run(
        rng.uniform(0.15, 0.5, k),
        q,
        rng.uniform(-3, 3, k),
        limits,
        say=str(rng.choice(["converged", "converged", "iteration limit"])),
        stray=rng.choice([0.0003, 0.01]) * np.array([0.8, -0.6]),
        root=rng.uniform(-0.2, 0.2, 2),
        stretch=stretch,
        shift=(0.006, 0.0) if rng.random() < 0.2 else (0.0, 0.0),
    )


def around(angle):
    """The same angle between -pi and pi."""
    return np.arctan2(np.sin(angle), np.cos(angle))


def broken(before, after, target, limits, zeros, tolerance, says, kind=""):
    """The names of all faults; `kind` names what is wrong in this search, "" nothing."""
    found, (old, new) = [], (np.diff(points, axis=0) for points in (before, after))
    if np.linalg.norm(after[0] - before[0]) > SLACK and kind != "base moves":
        found.append("base")
    had, has = np.linalg.norm(old, axis=1), np.linalg.norm(new, axis=1)
    had = {"all alike": had * 0 + had[0], "in its own length": has}.get(kind, had)
    longer = np.abs(has - had) > (0.02 * had if kind == "two per cent" else SLACK)
    longer &= kind != "in total" or abs(has.sum() - had.sum()) > SLACK
    seen = angles_seen(old if kind == "before" else new, kind)
    q = seen - {"no zero": 0, "zero added": -1}.get(kind, 1) * zeros
    q = q if kind == "not wrapped" else around(q)
    q = {"mirrored": -q}.get(kind, q)
    slack = {"no slack": 0.0, "loose": 0.05}.get(kind, SLACK)
    low, high = (-limits[:, 1] if kind == "one limit" else limits[:, 0]), limits[:, 1]
    out = (q < low - slack) | (q > high + slack)
    out[0] &= kind != "joint 1 free"
    first = 0 if kind == "from 0" else 1
    found += [f"link {i}" for i in np.flatnonzero(longer) + first]
    found += [f"joint {i}" for i in np.flatnonzero(out) + first]
    gap = np.linalg.norm(after[-1] - target)
    gap = abs(after[-1, 0] - target[0]) if kind == "along x" else gap
    claimed = says == "converged" or kind == "whatever it says"
    if claimed and gap > (SLACK if kind == "exactly" else tolerance) and kind != "believes":
        found.append("tip")
    return found[:1] if kind == "the first" else found


def angles_seen(links, kind):
    """Angle of each link against the one before, of the first against x."""
    along = np.arctan2(links[:, 1], links[:, 0])
    if kind == "against x":
        return along
    bends = around(np.diff(along, prepend=0.0))
    return np.abs(bends) if kind == "unsigned" else bends


CHAIN_SAYS = {
    "base moves": "You don't look at the base. The way back to it may have been left out.",
    "all alike": "You compare all links with the first one. Each has a length of its own, before.",
    "in its own length": "You don't compare the links with what they were before the run.",
    "two per cent": "Your links may grow by some per cent. A real link doesn't.",
    "in total": "You look at the length of the whole chain. One link may have grown by what"
    " another one lost.",
    "before": "You read the joints off the chain *before* the run.",
    "against x": "You measure each link against the x axis. A joint turns a link against the link"
    " before it; only the first turns against x.",
    "unsigned": "You lose the sign of the bend (arccos does). A joint allowed to bend left only is"
    " broken by the same bend to the right.",
    "no zero": "You forget `zeros`. A joint reads 0 where its link is bent by zeros[i].",
    "zero added": "You add `zeros`. The joint's angle is the bend *minus* zeros[i].",
    "not wrapped": "You subtract and stop there. A bend of -3 less a zero of 2.9 is -5.9, which is"
    " the same as 0.38: bring angles between -π and π before you judge them.",
    "mirrored": "Your bends have the wrong sign: to the left (counter-clockwise) is positive.",
    "no slack": "You name a joint that stands exactly at its limit. What is over by less than"
    " 1e-6 is rounding, and a chain held at a limit is full of it.",
    "loose": "A joint that is out by a tenth of a degree escapes you. Only 1e-6 is rounding.",
    "one limit": "You take limits as equal to both sides. Each joint has a least and a greatest.",
    "joint 1 free": "You leave joint 1 out. It turns the first link against the x axis.",
    "from 0": "You count links and joints from 0. Their names begin with 1.",
    "along x": "You measure the tip's error along x alone.",
    "whatever it says": "You name the tip where the run says itself that it has not arrived. That"
    " is no fault: it tells the truth.",
    "exactly": "You want the tip on the target to the micrometre. `tolerance` was asked for.",
    "believes": "You believe the report. Measure from tip to target yourself.",
    "the first": "You stop at the first fault. Name all.",
}


def same_faults(answer, expected, args):
    """The same names in any order, whatever the case of their letters."""
    if not isinstance(answer, list | tuple) or not all(isinstance(a, str) for a in answer):
        raise Unreadable("Expected a list of names such as 'link 2'. A sound run has an empty one.")
    names = [" ".join(name.casefold().split()) for name in answer]
    return same_items("faults", "Named although it is sound")(names, expected, args)


def fact(name, before, after, target, limits, zeros, tolerance, says):
    """What can be measured about one name, in words."""
    i = int(name.split()[-1]) - 1 if " " in name else 0
    if name == "base":
        return f"the base has moved by {np.linalg.norm(after[0] - before[0]):.3g} m"
    if name == "tip":
        gap = np.linalg.norm(after[-1] - target)
        return (
            f"the tip is {gap:.4g} m from the target, {tolerance:g} m are allowed, it says {says!r}"
        )
    if name.startswith("link"):
        had, has = (np.linalg.norm(points[i + 1] - points[i]) for points in (before, after))
        return f"{name} was {had:.6g} m long and is {has:.6g} m"
    bend = angles_seen(np.diff(after, axis=0), "")[i]
    reads, (low, high) = around(bend - zeros[i]), limits[i]
    return f"{name} is bent by {bend:.6g}, reads {reads:.6g}; allowed is {low:g} to {high:g} rad"


def why_not_broken(answer, expected, args):
    """The first name that is missing or too much, and what a ruler says about it."""
    said, names = same_faults(answer, expected, args), [n.casefold() for n in answer]
    missed = sorted(set(expected) - set(names)) or sorted(set(names) - set(expected))
    try:
        return f"{said} Measured: {fact(missed[0], *args)}."
    except (ValueError, IndexError):  # no such link or joint
        return f"{said} Names are like 'base', 'link 2', 'joint 3', 'tip'; they count from 1."


def by_numbers(before, after, target, limits, zeros, tolerance, says):
    """Complex numbers: a bend is the angle of a quotient."""
    z, old = (np.diff([complex(*p) for p in points]) for points in (after, before))
    turned = z / np.append(1.0, z[:-1]) * np.exp(-1j * zeros)
    out = [not a - 1e-6 <= x <= b + 1e-6 for x, (a, b) in zip(np.angle(turned), limits)]
    names = [f"Joint {i}" for i, bad in enumerate(out, 1) if bad]
    names += [
        f"link  {i}" for i in range(1, len(z) + 1) if abs(abs(z[i - 1]) - abs(old[i - 1])) > 1e-6
    ]
    names += ["base"] * bool(np.abs(after[0] - before[0]).max() > 1e-6)
    return names + ["TIP"] * bool(
        says == "converged" and np.hypot(*(after[-1] - target)) > tolerance
    )


def by_bends(before, after, target, limits, zeros, tolerance, says):
    """The library's bends, and every full turn tried."""
    from course_lib import fabrik

    names = []
    for i, bend in enumerate(fabrik.bends(after)):
        turns = bend - zeros[i] + 2 * PI * np.arange(-3, 4)
        if not ((limits[i, 0] - 1e-6 < turns) & (turns < limits[i, 1] + 1e-6)).any():
            names.append(f"joint {i + 1}")
        if not np.isclose(*(np.linalg.norm(p[i + 1] - p[i]) for p in (before, after)), 0, 1e-6):
            names.append(f"link {i + 1}")
    names += [] if np.allclose(before[0], after[0], 0, 1e-6) else ["base"]
    lies = says == "converged" and np.linalg.norm(after[-1] - target) > tolerance
    return tuple(names + ["tip"] * int(lies))


CHAIN = Exercise(
    "broken",
    points=2,
    cases=chain_cases,
    truth=broken,
    compare=same_faults,
    diagnose=why_not_broken,
    alternatives=[
        by_numbers,
        by_bends,
        lambda *case: np.array(by_bends(*case)) if by_bends(*case) else [],
        lambda *case: by_numbers(*case)[::-1],
        lambda *case: [name.upper() + " " for name in broken(*case)],
    ],
    mistakes=told(lambda kind: lambda *case: broken(*case, kind), CHAIN_SAYS),
)


# ---------------------------------------------------------------- 4. a loop that misses reports


def drive_cases(rng):
    """now, goal, sent, reports, period, gain, qd_max, oldest: telling ones, then drawn ones."""
    cases = [log({0: 0}, 0), log({i: i for i in range(6)}, 5)]
    cases += [
        log({0: 0, 1: 1, 2: 2, 3: 3, 4: 4}, 5),  # the last one is missing
        log({0: 0, 1: 1, 2: 2, 3: 3}, 6),  # the last three are
        log({0: 0, 1: 1, 5: 5, 6: 3}, 6),  # an old one comes after a new one
        log({0: 0, 1: 1, 3: 2, 6: 4}, 6),  # all are late, the newest too
        log({1: 0, 2: 1, 5: 3}, 7),
        log({0: 0, 3: 2}, 6),  # just not too old
        log({0: 0, 3: 2}, 7),  # too old
        log({0: 0, 7: 2}, 7),  # it has just come, and is too old
        log({0: 0, 2: 1}, 8),  # too old, and came long ago
        log({}, 3),  # nothing has ever come
        log({0: 0, 1: 1, 2: 2, 3: 3}, 4, goal=(3.0, -0.2)),  # too fast for one joint
        log({0: 0, 1: 1, 2: 2}, 4, goal=(-0.1, -4.0)),
    ]
    for _ in range(6):
        now = int(rng.integers(5, 20))
        came = {}
        for taken in range(now + 1):
            arrives = taken + int(rng.choice([0, 0, 1, 2, 3]))
            if rng.random() < 0.7 and arrives <= now:
                came[arrives] = taken
        cases.append(log(came, now, rng.uniform(-0.5, 0.9, 2), rng))
    return cases


def log(came, now, goal=(0.45, 0.1), rng=None):
    """A log of `now` ticks; came: tick of arrival -> tick at which it was measured."""
    rng, period = rng or np.random.default_rng(6), 0.05
    sent = rng.uniform(-0.8, 0.8, (now, 2))
    follows = np.vstack([np.zeros(2), np.cumsum(0.85 * sent * period, axis=0)])  # the arm lags
    measured = np.array([0.3, 0.2]) + follows
    reports = [(came[i], measured[came[i]]) if i in came else None for i in range(now + 1)]
    return now, np.array(goal), sent, reports, period, 4.0, np.array([1.5, 1.0]), 4


def newest(reports):
    """The report that was measured last, or None."""
    return max(filter(None, reports), key=lambda report: report[0], default=None)


def drive(now, goal, sent, reports, period, gain, qd_max, oldest, kind=""):
    """Speeds for the next period; `kind` names what is exchanged, "" nothing."""
    there = list(filter(None, reports))
    if not there and kind != "from zero":
        return np.zeros(len(goal))
    report = (there or [(now, 0 * goal)])[-1] if kind in ("last to come", "from zero") else None
    taken, q = report or newest(reports)
    arrived = next((i for i, r in enumerate(reports) if r and r[0] == taken), now)
    age = now - (arrived if kind in ("age of arrival", "as if taken now") else taken)
    if age > oldest - (kind == "one too early") and kind != "never stops":
        return np.zeros(len(goal))
    since = {"as if taken now": arrived, "one short": taken + 1, "one more": max(taken - 1, 0)}
    way = period * np.sum(sent[since.get(kind, taken) :], axis=0)
    way = {"no period": way / period, "undone": -way, "stale": 0 * way}.get(kind, way)
    if kind == "last speed held" and now:
        way = period * age * sent[-1]
    speed = gain * (goal - q - way)
    return fitted(speed, qd_max, kind)


def fitted(speed, qd_max, kind=""):
    """One factor for all joints, so that none is too fast."""
    if kind == "too fast":
        return speed
    if kind == "clipped":
        return np.clip(speed, -qd_max, qd_max)
    return speed / max(1.0, np.max((speed if kind == "forwards" else np.abs(speed)) / qd_max))


def drive_wrong(kind):
    """A wrong drive, by what is wrong in it."""

    def dead_reckoning(now, goal, sent, reports, period, gain, qd_max, oldest):
        """All that was ever sent, added to the first report."""
        return drive(now, goal, sent, reports[: first_of(reports) + 1], period, gain, qd_max, 99)

    def otherwise(substitute):
        """What is done at a tick without a report, or with a late one."""

        def answer(now, goal, sent, reports, *rest):
            if reports[-1] is None:
                return sent[-1] * (substitute == "hold") if now else np.zeros(len(goal))
            return drive(now, goal, sent, reports, *rest)

        return answer

    def on_time_only(now, goal, sent, reports, *rest):
        on_time = [r if r and r[0] == i else None for i, r in enumerate(reports)]
        return drive(now, goal, sent, on_time, *rest)

    table = {
        "all commands": dead_reckoning,
        "stands still": otherwise("stop"),
        "holds": otherwise("hold"),
        "late ones dropped": on_time_only,
        "away": lambda *case: -drive(*case),
        "step": lambda *case: case[4] * drive(*case),
        "goal": lambda *case: case[1],
    }
    return table.get(kind, lambda *case: drive(*case, kind))


def first_of(reports):
    return next((i for i, report in enumerate(reports) if report), 0)


DRIVE_SAYS = {
    "all commands": "You add all commands to the first report, and never look again. The arm"
    " doesn't do exactly what it is told; start from the newest measurement.",
    "stands still": "You stand still at each tick without a report. The arm would jerk at every"
    " lost packet: go on from the newest report, as long as it is not too old.",
    "holds": "You send the last speeds again when a report is missing. Near the goal that runs"
    " past it: work out where the arm is by now, and the speeds from that.",
    "late ones dropped": "You drop what comes late. A late report still says where the arm *was*;"
    " what was sent since brings it up to date.",
    "last to come": "You take the report that came last. Packets overtake each other: the one that"
    " was *measured* last counts.",
    "from zero": "Nothing has been reported yet, and you drive from q = 0. Who does not know where"
    " the arm is should not move it.",
    "stale": "You take the newest report as if the arm had stood still since. Add what was sent.",
    "as if taken now": "You take a late report as if it had been measured when it came. It says"
    " where the arm was at tick `taken`; the commands since then are missing.",
    "age of arrival": "You count a report's age from when it came. Its measurement is older.",
    "one too early": "You stop a tick too early: a report of exactly `oldest` ticks still counts.",
    "never stops": "You drive on with a report of any age. After `oldest` ticks you don't know"
    " where the arm is: send zeros.",
    "one short": "You leave the command of tick `taken` out. The measurement is made at the"
    " beginning of its tick, before that command acts.",
    "one more": "You add the command before `taken` too. Its effect is in the measurement already.",
    "no period": "You add speeds to an angle. Each was held for one period: multiply by it.",
    "undone": "You take the commands since the measurement off. The arm has moved *on*: add them.",
    "last speed held": "You reckon as if the last command had held all the time. Each tick had its"
    " own: add those that were sent.",
    "too fast": "A joint is faster than it may be.",
    "clipped": "You clip each joint alone. The arm then leaves the straight line to its goal: slow"
    " all joints by one factor.",
    "forwards": "Backwards your joints are too fast: compare sizes, |speed| with qd_max.",
    "away": "Your arm runs away from its goal: the error is goal minus q.",
    "step": "You return a step in radians. The drives want speeds.",
    "goal": "You return the goal. The drives want speeds, from where the arm is now.",
}


def why_not_drive(answer, expected, args):
    """Which report counts, and where the speeds say that the arm is."""
    now, goal, sent, reports, period, gain, qd_max, oldest = args
    speeds, report = as_numbers(answer, goal.shape, "the speeds"), newest(reports)
    over = np.abs(speeds) / qd_max
    if over.max() > 1 + CLOSE:
        return f"Joint {int(over.argmax())}, counted from 0, is faster than it may be."
    if report is None:
        return "Send zeros here: no measurement has come yet."
    if now - report[0] > oldest:
        age = now - report[0]
        return f"Send zeros here: the newest measurement is {age} ticks old, {oldest} are allowed."
    here = report[1] + period * sent[report[0] :].sum(axis=0)
    if np.abs(gain * (goal - here) / qd_max).max() > 1:
        return "Here a joint would be too fast. All speeds shrink by one factor, just enough."
    where = [np.array2string(q, precision=6) for q in (goal - speeds / gain, here)]
    return (
        f"Your speeds belong to an arm at {where[0]}. The measurement of tick {report[0]}, and what"
        f" was sent since, say {where[1]}."
    )


def by_events(now, goal, sent, reports, period, gain, qd_max, oldest):
    """Tick by tick, as the controller would: an estimate that is mended when a report comes."""
    known, path = -1, [None] * (now + 1)  # path: where the arm is believed to be at each tick
    for tick in range(now + 1):
        if tick and path[tick - 1] is not None:
            path[tick] = path[tick - 1] + period * np.asarray(sent)[tick - 1]
        if reports[tick] is not None and reports[tick][0] > known:
            known, path[reports[tick][0]] = reports[tick][0], np.array(reports[tick][1])
            for i in range(known, tick):
                path[i + 1] = path[i] + period * sent[i]
    if known < 0 or now - known > oldest:
        return [0.0] * len(goal)
    speed = gain * (goal - path[now])
    return list(speed * min([1.0, *(m / abs(s) for m, s in zip(qd_max, speed) if s)]))


DRIVE = Exercise(
    "drive",
    points=3,
    cases=drive_cases,
    truth=drive,
    compare=close(CLOSE),
    diagnose=why_not_drive,
    alternatives=[
        by_events,
        lambda *case: np.float32(by_events(*case)),
        lambda *case: tuple(np.round(drive(*case), 6)),
        lambda *case: drive(*case).tolist(),
        lambda *case: np.array(by_events(*case)) + 0,
    ],
    mistakes=told(drive_wrong, DRIVE_SAYS),
)

EXERCISES = [SPARE, TASKS, CHAIN, DRIVE]
