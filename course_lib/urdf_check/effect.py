"""What does a fault in a URDF file do to the arm?  Measured in Pinocchio, against the good file.

Public name: `effect`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np


def effect(
    good: str | Path, faulty: str | Path, tip: str = "tcp", samples: int = 500
) -> tuple[float, float, float]:
    """Largest difference of the tool's position [mm], its direction [degrees], a torque [N m].

    The torque is a joint's gravity torque; for a prismatic joint it is a force [N]. Over random
    postures within +-2 rad (m). Joints are matched by name; one that the faulty model no longer
    has counts as not moving. `ValueError` with Pinocchio's own words when it refuses the faulty
    file, or if one of the two has no link `tip`.
    """
    import pinocchio as pin

    rng = np.random.default_rng(1)
    models = [pin.buildModelFromUrdf(str(file)) for file in (good, faulty)]
    for model, file in zip(models, (good, faulty)):
        if not model.existFrame(tip, pin.FrameType.BODY):
            raise ValueError(f"tip: {tip!r}, expected a link of {Path(file).name}")
    names = list(models[0].names)[1:]
    worst = np.zeros(3)
    for _ in range(samples):
        angles = dict(zip(names, rng.uniform(-2, 2, len(names))))
        (T, tau), (T_faulty, tau_faulty) = (
            _tool_and_gravity(pin, model, angles, tip) for model in models
        )
        worst = np.maximum(
            worst,
            [
                1000 * np.linalg.norm(T.translation - T_faulty.translation),
                np.degrees(np.linalg.norm(pin.log3(T.rotation.T @ T_faulty.rotation))),
                max(abs(tau[name] - tau_faulty.get(name, 0.0)) for name in names),
            ],
        )
    return tuple(float(value) for value in worst)


def _tool_and_gravity(pin, model, angles, tip):
    """Pose of link `tip`, and {joint's name: gravity torque}."""
    data, q, names = model.createData(), pin.neutral(model), list(model.names)[1:]
    for joint, name in zip(list(model.joints)[1:], names):
        angle = angles.get(name, 0.0)
        q[joint.idx_q : joint.idx_q + joint.nq] = (
            angle if joint.nq == 1 else (np.cos(angle), np.sin(angle))
        )
    pin.framesForwardKinematics(model, data, q)
    tau = pin.computeGeneralizedGravity(model, data, q)
    torques = {name: tau[joint.idx_v] for joint, name in zip(list(model.joints)[1:], names)}
    return data.oMf[model.getFrameId(tip, pin.FrameType.BODY)].copy(), torques
