"""Which torque moves the arm how?  M(q) qdd + c(q, qd) + g(q) = tau, for two links and for any arm.

Public names: `Dynamics`, `Planar2R`, `from_pinocchio`; `joints`, `together`.

q, qd, qdd, tau are stacks (..., n) [rad, rad/s, rad/s^2, N m]. `gravity`, `torques` and `advance`
take them joint by joint: n floats (a long simulation must not build small arrays) or n arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import cos, sin
from typing import TYPE_CHECKING

import numpy as np

from course_lib.arm import Arm
from course_lib.engines import pinocchio_model
from course_lib.kinematics import link_frames
from course_lib.poses import finite, inverse

if TYPE_CHECKING:
    import pinocchio
    from numpy.typing import ArrayLike

joints = lambda array: np.moveaxis(np.asarray(array, float), -1, 0)  # (..., n) -> n arrays (...)
together = lambda parts: np.stack(np.broadcast_arrays(*parts), -1)  # and back


class Dynamics:
    """What M(q) (..., n, n), c(q, qd) and g(q) (..., n) of a subclass with n joints give."""

    n: int

    def inverse(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> np.ndarray:
        """Torque (..., n) that gives the acceleration qdd (..., n)."""
        return np.matvec(self.M(q), qdd) + self.c(q, qd) + self.g(q)

    def forward(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike) -> np.ndarray:
        """Acceleration (..., n) under the torque tau (..., n)."""
        rest = np.asarray(tau, float) - self.c(q, qd) - self.g(q)
        return np.linalg.solve(self.M(q), rest[..., None])[..., 0]

    def gravity(self, q: Sequence) -> Sequence:
        return joints(self.g(together(q)))

    def torques(self, q: Sequence, qd: Sequence, qdd: Sequence) -> Sequence:
        return joints(self.inverse(together(q), together(qd), together(qdd)))

    def advance(self, q: Sequence, qd: Sequence, tau: Sequence, h: float, steps: int) -> tuple:
        """(q, qd) after so many steps of h [s] with tau held: Runge and Kutta, order 4."""
        q, v = np.array(q), np.array(qd)
        for _ in range(steps):
            v2 = v + h / 2 * (a1 := self.forward(q, v, tau))
            v3 = v + h / 2 * (a2 := self.forward(q + h / 2 * v, v2, tau))
            v4 = v + h * (a3 := self.forward(q + h / 2 * v2, v3, tau))
            a4 = self.forward(q + h * v3, v4, tau)
            q, v = q + h / 6 * (v + 2 * (v2 + v3) + v4), v + h / 6 * (a1 + 2 * (a2 + a3) + a4)
        return q.tolist(), v.tolist()


class Planar2R(Dynamics):
    """Two links in a vertical plane, gravity [m/s^2] along -y: Lagrange's equations, closed form.

    arm: standard DH, nothing but `a` in its table, with mass, com and inertia; else `ValueError`.

        M = [[A + 2 B cos q2, D + B cos q2], [D + B cos q2, D]]        A, B, D [kg m^2]
        C = [[-h qd2, -h (qd1 + qd2)], [h qd1, 0]], c = C qd           h = B sin q2
        g = [G1 cos q1 + G2 cos(q1 + q2), G2 cos(q1 + q2)]             G1, G2 [N m]

    Source: Spong, Hutchinson and Vidyasagar, Robot Modeling and Control, 2006, section 7.4.
    """

    n = 2

    def __init__(self, arm: Arm, gravity: float = 9.81) -> None:
        (self.a1, self.a2), (m1, m2), (r1, r2), (I1, I2) = _two_links(arm)
        self.A = I1 + I2 + m1 * r1**2 + m2 * (self.a1**2 + r2**2)
        self.B, self.D = m2 * self.a1 * r2, I2 + m2 * r2**2
        self.G1, self.G2 = gravity * (m1 * r1 + m2 * self.a1), gravity * m2 * r2

    def M(self, q: ArrayLike) -> np.ndarray:
        """Mass matrix (..., 2, 2) [kg m^2]."""
        b = self.B * np.cos(joints(q)[1])
        four = together([self.A + 2 * b, self.D + b, self.D + b, self.D])
        return four.reshape(*b.shape, 2, 2)

    def C(self, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
        """C(q, qd) (..., 2, 2) of Christoffel's symbols: dM/dt - 2 C is skew."""
        (v1, v2), h = joints(qd), self.B * np.sin(joints(q)[1])
        four = together([-h * v2, -h * (v1 + v2), h * v1, 0.0])
        return four.reshape(*four.shape[:-1], 2, 2)

    def c(self, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
        """Centrifugal and Coriolis torque (..., 2) [N m]."""
        return np.matvec(self.C(q, qd), qd)

    def g(self, q: ArrayLike) -> np.ndarray:
        """Torque (..., 2) [N m] that holds the arm against gravity."""
        return together(self.gravity(joints(q)))

    def energy(self, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
        """Kinetic and potential energy (...) [J]; the latter counts from the height of the base."""
        heights = self.G1 * np.sin(joints(q)[0]) + self.G2 * np.sin(np.sum(q, axis=-1))
        return np.vecdot(qd, np.matvec(self.M(q), qd)) / 2 + heights

    def tool(self, q: ArrayLike) -> np.ndarray:
        """Where the tool point is: (..., 2) [m]."""
        p = self.a1 * np.exp(1j * joints(q)[0]) + self.a2 * np.exp(1j * np.sum(q, axis=-1))
        return together([p.real, p.imag])

    def gravity(self, q: Sequence) -> list:
        cosine = cos if isinstance(q[0], float) else np.cos
        second = self.G2 * cosine(q[0] + q[1])
        return [self.G1 * cosine(q[0]) + second, second]

    def torques(self, q: Sequence, qd: Sequence, qdd: Sequence) -> list:
        (v1, v2), (a1, a2), (g1, g2) = qd, qdd, self.gravity(q)
        cosine, sine = (cos, sin) if isinstance(q[0], float) else (np.cos, np.sin)
        b, h, D = self.B * cosine(q[1]), self.B * sine(q[1]), self.D
        first = (self.A + 2 * b) * a1 + (D + b) * a2 - h * v2 * (2 * v1 + v2) + g1
        return [first, (D + b) * a1 + D * a2 + h * v1 * v1 + g2]

    def advance(self, q: Sequence, qd: Sequence, tau: Sequence, h: float, steps: int) -> tuple:
        B, D, G1, G2, AD, A_D = self.B, self.D, self.G1, self.G2, self.A * self.D, self.A - self.D
        (q1, q2), (v1, v2), (t1, t2), spare = q, qd, tau, AD - D * D
        stages = (h / 2, h / 6), (h / 2, h / 3), (h, h / 3), (0.0, h / 6)  # way on, weight
        for _ in range(steps):  # as above, number by number
            p1, p2, u1, u2 = q1, q2, v1, v2
            end1, end2, fast1, fast2 = q1, q2, v1, v2
            for way, weight in stages:
                b, s, g2 = B * cos(p2), B * sin(p2), G2 * cos(p1 + p2)
                m12, det = D + b, spare - b * b
                r1 = t1 + s * u2 * (u1 + u1 + u2) - G1 * cos(p1) - g2
                r2 = t2 - s * u1 * u1 - g2
                a1, a2 = (D * r1 - m12 * r2) / det, ((m12 + b + A_D) * r2 - m12 * r1) / det
                end1, end2 = end1 + weight * u1, end2 + weight * u2
                fast1, fast2 = fast1 + weight * a1, fast2 + weight * a2
                p1, p2, u1, u2 = q1 + way * u1, q2 + way * u2, v1 + way * a1, v2 + way * a2
            q1, q2, v1, v2 = end1, end2, fast1, fast2
        return [q1, q2], [v1, v2]


def _two_links(arm):
    """Lengths, masses, places of the centres of mass after the joint, moments of inertia; lists."""
    _need_masses(arm)
    plain = arm.n == 2 and arm.convention == "standard" and arm.revolute.all()
    if (
        not plain
        or np.any([arm.alpha, arm.d, arm.theta])
        or np.any([arm.base, arm.tool] - np.eye(4))
    ):
        raise ValueError(f"arm: {arm.name!r}, expected standard DH, two turning joints, only a set")
    r, Izz = arm.com[:, 0] + arm.a, arm.inertia[:, 2, 2]
    if np.any(arm.com[:, 1]) or not ((0 < r) & (r <= arm.a) & (Izz > 0)).all():
        raise ValueError(
            f"com, inertia: {r.tolist()} m along the links, {Izz.tolist()} kg m^2 about z, expected"
            f" points on the links of {arm.a.tolist()} m, and positive moments"
        )
    return arm.a.tolist(), arm.mass.tolist(), r.tolist(), Izz.tolist()


def _need_masses(arm):
    for name in ("mass", "com", "inertia"):
        if getattr(arm, name) is None:
            raise ValueError(f"arm: {arm.name!r} has no {name}, which its motion depends on")


class from_pinocchio(Dynamics):
    """The dynamics of an `Arm` with masses, or of a `pinocchio.Model`, one posture after another.

    gravity   (3,) [m/s^2], the model's own when left out; planar2 stands upright with (0, -9.81, 0)
    friction  viscous, a number or (n,) [N m s/rad]; it counts as part of c
    The origin of the model's last frame is the tool point: `tool(q)` (..., 3) [m].
    """

    def __init__(
        self, arm: Arm | pinocchio.Model, gravity: ArrayLike | None = None, friction: ArrayLike = 0
    ) -> None:
        import pinocchio as pin

        self._pin, self.model = pin, _with_masses(arm) if isinstance(arm, Arm) else arm.copy()
        self.n, self._data = self.model.nv, self.model.createData()
        if self.model.nq != self.n:
            raise ValueError(f"model: nq {self.model.nq}, nv {self.n}, expected as many of both")
        if gravity is not None:
            self.model.gravity.linear = finite("gravity", gravity, 3)
        self.friction = finite("friction", friction)

    def M(self, q: ArrayLike) -> np.ndarray:
        upper = self._each(self._pin.crba, q)
        return np.triu(upper) + np.swapaxes(np.triu(upper, 1), -1, -2)

    def c(self, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
        bias = self._each(self._pin.nonLinearEffects, q, qd) - self.g(q)
        return bias + self.friction * np.asarray(qd, float)

    def g(self, q: ArrayLike) -> np.ndarray:
        return self._each(self._pin.computeGeneralizedGravity, q)

    def tool(self, q: ArrayLike) -> np.ndarray:
        def place(model, data, q):
            self._pin.framesForwardKinematics(model, data, q)
            return data.oMf[model.nframes - 1].translation

        return self._each(place, q)

    def _each(self, call: Callable, *arrays: ArrayLike) -> np.ndarray:
        """call(model, data, …) for each row of arrays (..., n)."""
        arrays = np.broadcast_arrays(*(finite("q or qd", a, self.n) for a in arrays))
        rows = zip(*(a.reshape(-1, self.n) for a in arrays))
        found = np.array([np.array(call(self.model, self._data, *row)) for row in rows])
        return found.reshape(*arrays[0].shape[:-1], *found.shape[1:])


def _with_masses(arm):
    """The model of `engines.pinocchio_model`, with the inertia of each link on its joint."""
    import pinocchio as pin

    _need_masses(arm)
    model, data = (found := pinocchio_model(arm)[0]), found.createData()
    pin.forwardKinematics(model, data, np.zeros(arm.n))
    for i, link in enumerate(link_frames(arm, np.zeros(arm.n))[1:]):
        place = pin.SE3(inverse(data.oMi[i + 1].homogeneous) @ link)
        model.appendBodyToJoint(i + 1, pin.Inertia(arm.mass[i], arm.com[i], arm.inertia[i]), place)
    return model
