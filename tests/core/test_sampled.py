"""course_lib.sampled: theory against simulation, python-control, SciPy, and limits on paper."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.signal import cont2discrete

from course_lib.arm import load_arm
from course_lib.control import PD, ComputedTorque, FeedForward, PDGravity, straight_line
from course_lib.dynamics import Dynamics, Planar2R, from_pinocchio
from course_lib.sampled import closed_loop, critical_period, simulate

ARM = load_arm("planar2")
MODEL = Planar2R(ARM)
KP, KD = np.array([300.0, 225.0]), np.array([45.0, 33.75])
LIMITED = PD(KP, KD, ARM.tau_max)
LINE = straight_line(MODEL, (0.75, 0.55), (0.30, 0.55), 5.0)
START, END = LINE([0.0, 5.0])[0]
LATE = [{}, {"delay": 1.0}, {"velocity": "difference"}, {"velocity": "difference", "delay": 1.0}]
LATE += [{"delay": 0.3}, {"delay": 2.6, "velocity": "difference"}]


class Pendulum(Dynamics):
    """One turning inertia [kg m^2] under the torque weight · cos q."""

    n = 1

    def __init__(self, inertia=1.0, weight=0.0):
        self.inertia, self.weight = inertia, weight

    M = lambda self, q: self.inertia + 0 * np.asarray(q, float)[..., None]
    c = lambda self, q, qd: 0 * np.asarray(qd, float)
    g = lambda self, q: self.weight * np.cos(q)
    tool = lambda self, q: np.concatenate([np.cos(q), np.sin(q)], axis=-1)


# ------------------------------------------------ the article's experiment as measured


def test_pd_sags_by_the_same_at_every_period():
    for period, rmse in ((0.001, 170.7509), (0.01, 170.8239)):
        run = simulate(MODEL, LIMITED, LINE, period, 6.0)
        assert 1e3 * run.rmse == pytest.approx(rmse, abs=1e-4)
        assert 1e3 * run.tool_error[-1] == pytest.approx(54.55, abs=5e-3)
        assert run.settled and run.success and not run.saturated.any()
    fine = simulate(MODEL, LIMITED, LINE, 0.001, 6.0).tool_error
    assert 1e3 * fine.max() == pytest.approx(339.85, abs=5e-3)
    assert 1e3 * fine[200] == pytest.approx(123, abs=0.5)


@pytest.mark.parametrize(
    "law, rmse, digits", [(PDGravity, 1.475, 5e-4), (ComputedTorque, 0.0034, 5e-5)]
)
def test_what_knows_the_weight_does_not_sag(law, rmse, digits):
    run = simulate(MODEL, law(KP, KD, MODEL, ARM.tau_max), LINE, 0.001, 6.0)
    assert 1e3 * run.rmse == pytest.approx(rmse, abs=digits)


@pytest.mark.parametrize(
    "law, late, ms",
    [
        (PD(KP, KD), {}, 25.6555),
        (PDGravity(KP, KD, MODEL), {}, 23.3133),
        (PD(KP, KD), {"delay": 1.0}, 12.2401),
        (ComputedTorque(KP, KD, MODEL), {}, 44.575),
    ],
)
def test_critical_periods_at_the_start(law, late, ms):
    assert 1e3 * critical_period(MODEL, law, START, **late) == pytest.approx(ms, abs=5e-4)


def test_only_differences_and_a_late_torque_fail_below_10_ms():
    below = [critical_period(MODEL, PD(KP, KD), START, **late) < 0.01 for late in LATE[:4]]
    assert below == [False, False, False, True]
    assert 1e3 * critical_period(MODEL, PD(KP, KD), END) == pytest.approx(52.68, abs=5e-3)


def test_jitter_of_a_loaded_computer_does_not_shake_the_arm():
    rng = np.random.default_rng(0)
    shaken = simulate(MODEL, LIMITED, LINE, 0.002, 6.0, jitter=(0.0008, 0.0032), rng=rng)
    assert shaken.rmse == pytest.approx(simulate(MODEL, LIMITED, LINE, 0.002, 6.0).rmse, rel=1e-4)
    h = np.diff(shaken.t)[:-1]
    assert h.min() > 0.0008 and h.max() < 0.0032 and h.std() > 0.0005


def test_saturation_hides_instability_from_the_error():
    """Beyond the limit of 25.7 ms the torque chatters; the error on the path hardly shows it."""
    assert 1e3 * simulate(MODEL, LIMITED, LINE, 0.03, 6.0).rmse == pytest.approx(174.6, abs=0.05)
    rest = closed_loop(MODEL, LIMITED, START, 0.01).q + 1e-6
    below, beyond = (simulate(MODEL, LIMITED, START, h, 6.0, q0=rest) for h in (0.02, 0.03))
    assert below.settled and below.torque_step.max() < 1e-3
    assert beyond.success and not beyond.settled
    assert beyond.torque_step.max() > 100 and beyond.saturated.max() > 0.2


def test_a_jump_to_and_fro_that_stands_still_when_looked_at_is_not_settled():
    """With period two the speed changes its sign, and each look finds the same angle."""
    law = PDGravity(KP, KD, MODEL)
    run = simulate(MODEL, law, START, 0.025, 12.0, q0=START + 1e-4)
    assert np.ptp(run.q[-40:], axis=0).max() < 1e-4 and np.abs(run.qd[-40:]).max() > 1
    assert run.success and not run.settled


# ------------------------------------------------ limits on paper


@pytest.mark.parametrize("kp, kd", [(100, 4), (100, 20), (100, 0.1), (1, 30), (4000, 3)])
def test_a_unit_inertia_has_its_exact_limit(kp, kd):
    found = critical_period(Pendulum(), PD([kp], [kd]), [0.2], longest=3.0)
    assert found == pytest.approx(min(2 / kd, 2 * kd / kp), rel=1e-9)


def test_no_damping_is_never_stable_and_a_loose_loop_always():
    gains = np.array([[100.0], [100.0], [1.0]]), np.array([[0.0], [20.0], [0.9]])
    found = critical_period(Pendulum(), PD(*gains), [0.0])
    assert found[0] == 0 and found[1] == pytest.approx(0.1) and np.isinf(found[2])


def test_a_short_period_is_continuous_control():
    """Poles exp(s h), s those of M s^2 + Kd s + Kp + dg/dq = 0 about the posture."""
    h, law = 1e-5, PDGravity(KP, KD, MODEL)
    loop = closed_loop(MODEL, law, START, h)
    A = np.zeros((4, 4))
    A[:2, 2:], inverse = np.eye(2), np.linalg.inv(MODEL.M(START))
    A[2:] = -inverse @ np.c_[np.diag(KP), np.diag(KD)]  # g is compensated
    ours, theirs = np.sort_complex(np.log(loop.poles) / h), np.sort_complex(np.linalg.eigvals(A))
    assert np.allclose(ours, theirs, rtol=2e-3)


def test_the_arm_is_linearised_where_it_stands():
    law = PD(KP, KD)
    q = closed_loop(MODEL, law, START, 0.01).q
    assert np.allclose(KP * (START - q), MODEL.g(q), rtol=0, atol=1e-9)
    assert np.allclose(closed_loop(MODEL, FeedForward(KP, KD, MODEL), START, 0.01).q, START)
    rest = simulate(MODEL, law, START, 0.01, 0.1, q0=q)
    assert np.abs(rest.q - q).max() < 1e-10


# ------------------------------------------------ theory against others


def plant(model, q):
    """x' = A x + B u about q by hand: gravity's stiffness by a difference, no friction."""
    n, e = model.n, 1e-6
    slopes = np.stack([(model.g(q + d) - model.g(q - d)) / (2 * e) for d in e * np.eye(n)], -1)
    inverse = np.linalg.inv(model.M(q))
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-inverse @ slopes, np.zeros((n, n))]])
    return A, np.vstack([np.zeros((n, n)), inverse])


@pytest.mark.parametrize("period", [0.002, 0.02, 0.2])
def test_poles_agree_with_python_control(period):
    """c2d of the same linearisation, with the feedback of PD, at once and one period late."""
    control = pytest.importorskip("control")
    law = PD(KP, KD)
    now, late = (closed_loop(MODEL, law, START, period, delay=d) for d in (0, 1))
    A, B = plant(MODEL, now.q)
    there = control.c2d(control.ss(A, B, np.eye(4), np.zeros((4, 2))), period)
    feedback = np.c_[np.diag(KP), np.diag(KD)]
    same = lambda ours, matrix: np.allclose(
        np.poly(ours), np.poly(matrix), rtol=1e-7, atol=1e-7 * np.abs(np.poly(matrix)).max()
    )
    assert same(now.poles, there.A - there.B @ feedback)
    assert same(late.poles, np.block([[there.A, there.B], [-feedback, np.zeros((2, 2))]]))


@pytest.mark.parametrize("period", [1e-4, 0.02, 0.3])
def test_a_stiff_swing_is_held_as_scipy_holds_it(period):
    """223 rad/s, so up to ten swings in a period."""
    swing, q = Pendulum(inertia=0.01, weight=500.0), np.array([-np.pi / 2])
    law = PD([2.0], [0.3])
    plant = np.array([[0, 1], [-5e4, 0]]), np.array([[0], [100.0]]), np.eye(2), np.zeros((2, 1))
    Phi, Gamma, *_ = cont2discrete(plant, period, "zoh")
    A = closed_loop(swing, law, q, period).A
    assert np.allclose(A, Phi - Gamma @ [[2.0, 0.3]], rtol=1e-6, atol=1e-6 * np.abs(Phi).max())


@pytest.mark.parametrize("late", LATE, ids=str)
def test_the_matrix_is_the_loop_played_event_by_event(late):
    """The linear arm under each torque that is in force, one stretch after another, by expm."""
    h, delay, difference = 0.013, late.get("delay", 0.0), "velocity" in late
    loop = closed_loop(MODEL, PDGravity(KP, KD, MODEL), START, h, **late)
    A, B = plant(MODEL, START)
    whole = np.zeros((6, 6))
    whole[:4] = np.c_[A, B]
    G = -np.linalg.solve(MODEL.M(START), A[2:, :2])  # only to see that it matters
    assert np.abs(G).max() > 0.1
    gravity = -MODEL.M(START) @ A[2:, :2]
    x, z = np.array([1e-3, -2e-3, 0.0, 0.0]), np.zeros(len(loop.A))
    u0 = -KP * x[:2] + gravity @ x[:2]
    z[:2], z[4:] = x[:2], np.r_[x[:2], np.zeros(len(z) - 6)] if difference else 0.0
    torques = len(z) - 4 - 2 * difference
    z[len(z) - torques :] = np.tile(u0, torques // 2)
    before, sent = x[:2], [(-np.inf, u0)]
    for k in range(40):
        speed = (x[:2] - before) / h if difference else x[2:]
        before = x[:2].copy()
        sent.append(((k + delay) * h, -KP * x[:2] - KD * speed + gravity @ x[:2]))
        ends = [
            k * h,
            *(t for t, _ in sent if k * h + 1e-12 < t < (k + 1) * h - 1e-12),
            (k + 1) * h,
        ]
        for a, b in zip(ends, ends[1:]):
            u = [u for t, u in sent if t <= a + 1e-12][-1]
            x = (expm(whole * (b - a)) @ np.r_[x, u])[:4]
        z = loop.A @ z
        assert np.allclose(z[:4], x, rtol=0, atol=1e-7 * np.abs(x).max() + 1e-12)


def drawn_case(seed):
    """A posture and gains, half to four times the usual ones, that hold the arm."""
    rng = np.random.default_rng(seed)
    kp, kd = KP * rng.uniform(0.5, 4, 2), KD * rng.uniform(0.5, 4, 2)
    law = PD(kp, kd) if seed % 2 else PDGravity(kp, kd, MODEL)
    return law, rng.uniform([-np.pi, -2.8], [np.pi, 2.8]), LATE[seed // 2 % 4]


def growth(model, law, posture, period, periods=600, **late):
    """By how much a push of 1e-8 rad grows each period in the simulation.

    Second differences of the angles count: what creeps back slowly hardly shows in them.
    """
    rest = closed_loop(model, law, posture, period).q
    start = rest + 1e-8 * np.linspace(1, -0.5, model.n)
    run = simulate(model, law, posture, period, periods * period, q0=start, **late)
    size = np.abs(np.diff(run.q, 2, axis=0)).max(axis=-1)
    fine = (size > 1e-14) & (size < 1e-4)
    end = len(size) if fine.all() else int(np.argmin(fine))
    early, late = size[end // 4 : end // 2].max(), size[end // 2 + end // 4 : end].max()
    return (late / early) ** (1 / (end // 2))


def theory_meets_simulation(seed):
    """A tiny push dies out a thousandth below the critical period, and grows a thousandth above."""
    law, posture, late = drawn_case(seed)
    h = critical_period(MODEL, law, posture, **late)
    below, above = (
        growth(MODEL, law, posture, f * h, periods=1200, **late) for f in (0.999, 1.001)
    )
    assert below < 1 < above
    assert above == pytest.approx(
        closed_loop(MODEL, law, posture, 1.001 * h, **late).radius, abs=2e-4
    )


@pytest.mark.parametrize("seed", range(8))
def test_theory_is_simulation(seed):
    theory_meets_simulation(seed)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(8, 100))
def test_theory_is_simulation_at_many_postures_and_gains(seed):
    theory_meets_simulation(seed)


def test_maps_and_paths_are_their_points():
    kp, kd = np.array([1.0, 2.0])[:, None, None] * KP, np.array([0.5, 1.0, 2.0])[:, None] * KD
    path = LINE(np.linspace(0, 5, 4))[0]
    field = critical_period(MODEL, PD(kp, kd), START)
    along = critical_period(MODEL, PD(KP, KD), path, delay=0.5)
    assert field.shape == (2, 3) and along.shape == (4,)
    one = critical_period(MODEL, PD(kp[1, 0], kd[2]), START)
    assert field[1, 2] == pytest.approx(one, rel=1e-9)
    assert along[3] == pytest.approx(
        critical_period(MODEL, PD(KP, KD), path[3], delay=0.5), rel=1e-9
    )
    assert closed_loop(MODEL, PD(kp, kd), START, 0.01).poles.shape == (2, 3, 4)


def test_six_joints_by_pinocchio():
    pytest.importorskip("pinocchio")
    model = from_pinocchio(load_arm("cobot6"), friction=0.1)
    q = np.array([0.3, 0.5, -0.4, 0.7, -0.6, 0.2])
    law = PDGravity([200] * 3 + [40] * 3, [20] * 3 + [1] * 3, model)
    h = critical_period(model, law, q)
    assert growth(model, law, q, 0.99 * h, periods=200) < 1
    assert growth(model, law, q, 1.01 * h, periods=200) > 1


# ------------------------------------------------ the simulation itself


def test_pinocchio_moves_as_the_closed_form_does():
    pytest.importorskip("pinocchio")
    late = {"delay": 0.4, "velocity": "difference"}
    ours, theirs = (
        simulate(m, LIMITED, LINE, 0.02, 0.3, **late)
        for m in (MODEL, from_pinocchio(ARM, (0, -9.81, 0)))
    )
    assert np.allclose(ours.q, theirs.q, rtol=0, atol=1e-10)
    assert np.allclose(ours.tool_error, theirs.tool_error, rtol=0, atol=1e-10)


def held_by_scipy(law, period, periods, delay):
    """The loop as one would write it around SciPy: an event at each change of torque."""
    x, sent = np.r_[START, 0.0, 0.0], []
    states = [x]
    for k in range(periods):
        r, rd, rdd = LINE(np.array([k * period]))
        tau = law(x[:2], x[2:], r[0], rd[0], rdd[0])
        sent.append(np.clip(tau, -law.tau_max, law.tau_max))
        for part, torque in ((delay, sent[max(k - 1, 0)]), (1 - delay, sent[k])):
            if part:
                slope = lambda t, x, u=torque: np.r_[x[2:], MODEL.forward(x[:2], x[2:], u)]
                x = solve_ivp(slope, (0, part * period), x, rtol=1e-11, atol=1e-12).y[:, -1]
        states.append(x)
    return np.array(states), np.array(sent)


@pytest.mark.parametrize("delay", [0.0, 0.25])
def test_a_run_is_what_scipy_integrates(delay):
    for law in (LIMITED, ComputedTorque(KP, KD, MODEL, ARM.tau_max)):
        run = simulate(MODEL, law, LINE, 0.02, 0.4, delay=delay, substeps=20)
        states, sent = held_by_scipy(law, 0.02, 20, delay)
        assert np.allclose(np.c_[run.q, run.qd], states, rtol=0, atol=1e-8)
        assert np.allclose(run.tau, sent, rtol=0, atol=1e-6)


def test_steps_of_the_integration_are_not_the_period():
    coarse, fine = (simulate(MODEL, LIMITED, LINE, 0.01, 2.0, substeps=n).q for n in (1, 8))
    assert 0 < np.abs(coarse - fine).max() < 1e-6


def test_a_late_torque_is_the_one_of_periods_before():
    """An inertia under gravity-free PD: the torque acts two periods after its sample."""
    run = simulate(Pendulum(), PD([0.0], [1.0]), [0.0], 0.1, 1.0, delay=2.0, q0=[0.5])
    assert np.allclose(run.q, 0.5) and np.allclose(run.tau, 0)
    push = lambda t: (np.minimum(t, 0.05)[:, None], np.ones((len(t), 1)), np.zeros((len(t), 1)))
    run = simulate(Pendulum(), PD([1.0], [0.0]), push, 0.1, 1.0, delay=2.0, q0=[0.0])
    assert np.allclose(run.q[:4], 0, atol=1e-12) and run.q[4, 0] == pytest.approx(0.05 * 0.1**2 / 2)


def test_a_slow_reference_is_held():
    steps = lambda t: (np.floor(t / 0.05 + 1e-9)[:, None], 0 * t[:, None], 0 * t[:, None])
    ramp = lambda t: (t[:, None] / 0.05, 0 * t[:, None], 0 * t[:, None])
    law = PD([5.0], [2.0])
    a = simulate(Pendulum(), law, steps, 0.01, 0.5)
    b = simulate(Pendulum(), law, ramp, 0.01, 0.5, reference_every=5)
    assert np.allclose(a.q, b.q, rtol=0, atol=1e-9)
    assert b.q_ref[3, 0] == pytest.approx(0.6)  # the error is taken from the true reference


def test_an_encoder_counts_in_steps():
    law, step = PD([2.0], [0.0]), 2 * np.pi / 2**8
    run = simulate(Pendulum(), law, [0.0], 0.01, 2.0, encoder_bits=8, q0=[0.4])
    counts = run.tau / (2.0 * step)
    assert np.allclose(counts, counts.round(), atol=1e-9) and np.unique(counts.round()).size > 5
    assert np.abs(run.tau[:, 0] + 2.0 * run.q[:-1, 0]).max() <= 2.0 * step / 2 + 1e-12
    rest = simulate(
        Pendulum(),
        PD([0.0], [3.0]),
        [0.0],
        0.01,
        1.0,
        encoder_bits=8,
        velocity="difference",
        q0=[0.4],
    )
    assert np.allclose(rest.tau, 0)


def test_differences_make_noise_of_the_torque():
    """Standard deviation Kd sqrt(2) noise / period, on an inertia that hardly moves."""
    heavy, law = Pendulum(inertia=1e6), PD([0.0], [3.0])
    args = {"velocity": "difference", "noise": 1e-3, "rng": np.random.default_rng(1)}
    run = simulate(heavy, law, [0.0], 0.01, 40.0, **args)
    assert run.tau.std() == pytest.approx(3 * np.sqrt(2) * 1e-3 / 0.01, rel=0.05)


def test_chance_is_repeatable_and_asked_for():
    run = lambda seed: simulate(
        MODEL,
        LIMITED,
        LINE,
        0.01,
        0.3,
        jitter=(0.005, 0.015),
        noise=1e-4,
        rng=np.random.default_rng(seed),
    )
    assert np.array_equal(run(1).q, run(1).q) and not np.array_equal(run(1).t, run(2).t)
    for options in ({"jitter": (0.005, 0.015)}, {"noise": 1e-4}):
        with pytest.raises(ValueError, match="rng"):
            simulate(MODEL, LIMITED, LINE, 0.01, 0.3, **options)


def test_jitter_without_spread_is_a_fixed_period():
    fixed = simulate(MODEL, LIMITED, LINE, 0.01, 0.5, velocity="difference")
    drawn = simulate(
        MODEL,
        LIMITED,
        LINE,
        0.02,
        0.5,
        velocity="difference",
        jitter=lambda rng: 0.01,
        rng=np.random.default_rng(0),
    )
    assert np.allclose(fixed.t, drawn.t) and np.allclose(fixed.q, drawn.q, rtol=0, atol=1e-9)


def test_the_mean_error_weighs_time():
    periods = iter([0.4, 0.1, 0.1, 0.4] * 3)
    run = simulate(
        Pendulum(),
        PD([1.0], [1.0]),
        [0.0],
        0.2,
        1.0,
        jitter=lambda rng: next(periods),
        rng=np.random.default_rng(0),
        q0=[1.0],
    )
    h = np.array([0.4, 0.1, 0.1, 0.4, 0.4])
    assert run.rmse == pytest.approx(np.sqrt((h * run.tool_error**2).sum() / h.sum()))


@pytest.mark.parametrize("period", [0.007, 0.01, 1 / 3, 0.9, 2.0])
def test_a_period_that_does_not_divide_the_time_is_told(period):
    run = simulate(Pendulum(), PD([1.0], [1.0]), [0.0], period, 1.0)
    assert run.t[0] == 0 and run.t[-1] == 1.0 and len(run.t) == len(run.tau) + 1
    last = {0.007: "6 ms", 0.9: "100 ms", 2.0: "1000 ms"}.get(period)
    assert run.success and run.reason.startswith("ran to the end")
    assert f"last period is {last}" in run.reason if last else "last period" not in run.reason


@pytest.mark.parametrize("law", [PD(KP, 10 * KD), ComputedTorque(100 * KP, 10 * KD, MODEL)])
def test_an_arm_that_flies_off_ends_the_run(law, recwarn):
    run = simulate(MODEL, law, LINE, 0.05, 6.0)
    assert not recwarn
    assert not run.success and "flew off" in run.reason and run.t[-1] < 6.0
    assert len(run.q) == len(run.t) == len(run.tool_error) == len(run.tau) + 1
    assert np.isfinite(run.q).all()
    assert not run.settled
    at_once = simulate(
        Pendulum(), PD([0.0], [1e6]), [0.0], 1.0, 5.0, velocity="difference", q0=[1.0]
    )
    assert at_once.success  # at rest: nothing to brake
    at_once = simulate(Pendulum(), PD([1e9], [0.0]), [0.0], 1.0, 5.0, q0=[1.0])
    assert not at_once.success and len(at_once.t) == 1 and np.isfinite(at_once.rmse)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"period": 0.0}, "period"),
        ({"period": np.nan}, "period"),
        ({"t_end": -1.0}, "t_end"),
        ({"delay": -0.1}, "delay"),
        ({"velocity": "guessed"}, "velocity"),
        ({"noise": -1.0}, "noise"),
        ({"substeps": 1.5}, "substeps"),
        ({"reference_every": 0}, "reference_every"),
        ({"jitter": lambda rng: 0.0, "rng": np.random.default_rng(0)}, "jitter"),
        ({"law": PD([1.0, 2, 3], [1.0, 2, 3])}, "law"),
        ({"reference": lambda t: (t, t, t)}, "reference"),
        ({"reference": [0.0, 0.0, 0.0]}, "reference"),
        ({"q0": [0.0]}, "q0"),
    ],
)
def test_bad_input_is_named(change, words):
    args = {"model": MODEL, "law": LIMITED, "reference": LINE, "period": 0.01, "t_end": 0.1}
    with pytest.raises(ValueError, match=f"^{words}"):
        simulate(**args | change)


def test_bad_input_of_the_theory_is_named():
    with pytest.raises(ValueError, match="velocity"):
        closed_loop(MODEL, LIMITED, START, 0.01, velocity="guessed")
    with pytest.raises(ValueError, match="period"):
        closed_loop(MODEL, LIMITED, START, [0.01, 0.0])
    with pytest.raises(ValueError, match="delay"):
        critical_period(MODEL, LIMITED, START, delay=-1)
    with pytest.raises(ValueError, match="Kp is too weak"):
        critical_period(Pendulum(weight=100.0), PD([0.0], [1.0]), [0.0])
