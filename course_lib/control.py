"""Which torque now?  Laws that a computer evaluates once a period, from what it has sampled.

Public names: `PD`, `PDGravity`, `PDGravityAtReference`, `FeedForward`, `ComputedTorque`, and
`straight_line`, a motion to follow.

`law(q, qd, q_ref, qd_ref, qdd_ref)` is the torque (..., n) [N m] that the law asks for; motors give
it within `law.tau_max`. `law.samples` says what it reads at the start of each period.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from course_lib.dynamics import Dynamics, Planar2R, joints, together
from course_lib.ik import planar2
from course_lib.poses import finite, refuse
from course_lib.trajectory import Trajectory, quintic, spline

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class PD:
    """tau = Kp (q_ref - q) + Kd (qd_ref - qd).  Under a weight it sags until Kp e carries it.

    Kp, Kd    (..., n) [N m/rad, N m s/rad], not negative; a stack of gains makes a map
    tau_max   (n,) [N m] limits of the motors; none when left out
    """

    samples = "q, qd; q_ref, qd_ref"

    def __init__(self, Kp: ArrayLike, Kd: ArrayLike, tau_max: ArrayLike = np.inf) -> None:
        self.Kp, self.Kd = np.broadcast_arrays(finite("Kp", Kp), finite("Kd", Kd))
        self.tau_max = np.asarray(tau_max, float)
        for name in ("Kp", "Kd"):
            refuse(name, getattr(self, name), getattr(self, name) < 0, "a number from 0 on")
        refuse("tau_max", self.tau_max, ~(self.tau_max > 0), "a positive number")
        gains = joints(np.stack([self.Kp, self.Kd]))
        self._gains = gains.tolist() if gains.ndim == 2 else gains

    def __call__(
        self, q: ArrayLike, qd: ArrayLike, q_ref: ArrayLike, qd_ref: ArrayLike, qdd_ref: ArrayLike
    ) -> np.ndarray:
        ahead = self.ahead(q_ref, qd_ref, qdd_ref)
        return together(self.torque(*map(joints, (q, qd, q_ref, qd_ref, ahead))))

    def ahead(self, q_ref: ArrayLike, qd_ref: ArrayLike, qdd_ref: ArrayLike) -> np.ndarray:
        """What the reference alone decides (..., n): computed for a whole motion at once."""
        return np.zeros_like(q_ref, float)

    def torque(self, q: Sequence, qd: Sequence, q_ref: Sequence, qd_ref: Sequence, ahead) -> list:
        """The torque joint by joint, n floats or n arrays; ahead: what `ahead` gave."""
        rows = zip(self._gains, q, qd, q_ref, qd_ref, ahead)
        return [f + kp * (r - x) + kd * (s - v) for (kp, kd), x, v, r, s, f in rows]


class PDGravity(PD):
    """PD + g(q), gravity at the measured posture."""

    samples = "q, qd, g(q); q_ref, qd_ref"

    def __init__(
        self, Kp: ArrayLike, Kd: ArrayLike, model: Dynamics, tau_max: ArrayLike = np.inf
    ) -> None:
        super().__init__(Kp, Kd, tau_max)
        self.model = model

    def torque(self, q: Sequence, qd: Sequence, q_ref: Sequence, qd_ref: Sequence, ahead) -> list:
        return PD.torque(self, q, qd, q_ref, qd_ref, self.model.gravity(q))


class PDGravityAtReference(PDGravity):
    """PD + g(q_ref), gravity at the desired posture: known before the motion starts."""

    samples, torque = "q, qd; q_ref, qd_ref, g(q_ref)", PD.torque

    def ahead(self, q_ref: ArrayLike, qd_ref: ArrayLike, qdd_ref: ArrayLike) -> np.ndarray:
        return self.model.g(q_ref)


class FeedForward(PDGravity):
    """PD + M(q_ref) qdd_ref + c(q_ref, qd_ref) + g(q_ref): the torque that the motion needs."""

    samples, torque = "q, qd; q_ref, qd_ref, qdd_ref, M, c, g at the reference", PD.torque

    def ahead(self, q_ref: ArrayLike, qd_ref: ArrayLike, qdd_ref: ArrayLike) -> np.ndarray:
        return self.model.inverse(q_ref, qd_ref, qdd_ref)


class ComputedTorque(PDGravity):
    """tau = M(q) (qdd_ref + Kp e + Kd ed) + c(q, qd) + g(q): gains [1/s^2, 1/s] per unit inertia.

    Source: Siciliano et al., Robotics, 2009, section 8.5.2 (inverse dynamics control).
    """

    samples = "q, qd, M, c, g at that state; q_ref, qd_ref, qdd_ref"

    def ahead(self, q_ref: ArrayLike, qd_ref: ArrayLike, qdd_ref: ArrayLike) -> np.ndarray:
        return np.asarray(qdd_ref, float)

    def torque(self, q: Sequence, qd: Sequence, q_ref: Sequence, qd_ref: Sequence, ahead) -> list:
        return self.model.torques(q, qd, PD.torque(self, q, qd, q_ref, qd_ref, ahead))


def straight_line(
    model: Planar2R, start: ArrayLike, end: ArrayLike, duration: float, bend: int = -1
) -> Trajectory:
    """The tool point from start to end (2,) [m] on a straight line, as a quintic in time.

    bend: the sign of q2; -1 holds the elbow up where x > 0. Splines of degree 5 through 201 exact
    postures: within 1e-9 rad. `ValueError` where the line leaves the reach.
    """
    t = np.linspace(0, duration, 201)
    q = []
    for p in quintic(finite("start", start, 2), finite("end", end, 2), duration)(t)[0]:
        found = planar2(model.a1, model.a2, p)
        if len(found.q) < 2:
            raise ValueError(f"start, end: at {p.round(4).tolist()} {found.reason}, or stretched")
        q.append(found.q[int(bend < 0)])
    return spline(t, np.unwrap(q, axis=0), degree=5)
