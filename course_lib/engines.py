"""What do others say?  The same arm in engines that somebody else wrote.

Public names: `toolbox_robot`, `pinocchio_model`, `pinocchio_fk`, `elementary`.

They are built from the table alone, without a formula of course_lib: what agrees with them agrees
with a second witness. Robotics Toolbox and Pinocchio are imported where they are used (seconds);
Pinocchio has no Windows wheel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from course_lib.arm import Arm

if TYPE_CHECKING:
    import pinocchio
    import roboticstoolbox
    from numpy.typing import ArrayLike


def toolbox_robot(arm: Arm) -> roboticstoolbox.DHRobot:
    """The arm as a `DHRobot` of Robotics Toolbox, with its limits, base and tool.

    One posture is quickest with its compiled form: `e = robot.ets(); e.eval(q); e.jacob0(q)`.
    """
    import roboticstoolbox as rtb
    from spatialmath import SE3

    ending = {"standard": "DH", "modified": "MDH"}[arm.convention]
    links = []
    for i, kind in enumerate(arm.joint_types):
        row = dict(a=arm.a[i], alpha=arm.alpha[i], qlim=[arm.q_min[i], arm.q_max[i]])
        fixed, moved = ("d", "theta") if kind == "revolute" else ("theta", "d")
        row |= {fixed: getattr(arm, fixed)[i], "offset": getattr(arm, moved)[i]}
        links.append(getattr(rtb, kind.capitalize() + ending)(**row))  # RevoluteDH, …
    base, tool = (SE3(T, check=False) for T in (arm.base, arm.tool))
    return rtb.DHRobot(links, name=arm.name, base=base, tool=tool)


def elementary(axis: str, angle: float = 0.0, length: float = 0.0) -> np.ndarray:
    """Pose (4, 4): a turn [rad] about and a move [m] along one axis ("x", "y", "z"), by SciPy."""
    from scipy.spatial.transform import Rotation

    T = np.eye(4)
    T[:3, :3] = Rotation.from_euler(axis, angle).as_matrix()
    T["xyz".index(axis), 3] = length
    return T


def pinocchio_model(arm: Arm) -> tuple[pinocchio.Model, int]:
    """(model, id of its frame "tool"): one joint about or along z a row, the rest fixed between.

    Geometry only: links have no mass. `model` is the blueprint; `model.createData()` is the scratch
    pad that its functions write into.
    """
    import pinocchio as pin

    model, parent = pin.Model(), 0
    before = np.array(arm.base)
    for i, kind in enumerate(arm.joint_types):
        x_screw = elementary("x", arm.alpha[i], arm.a[i])
        z_screw = elementary("z", arm.theta[i], arm.d[i])
        if arm.convention == "modified":
            before = before @ x_screw
        joint = pin.JointModelRZ() if kind == "revolute" else pin.JointModelPZ()
        parent = model.addJoint(parent, joint, pin.SE3(before), f"joint{i + 1}")
        before = z_screw @ x_screw if arm.convention == "standard" else z_screw
    frame = pin.Frame("tool", parent, pin.SE3(before @ arm.tool), pin.FrameType.OP_FRAME)
    return model, model.addFrame(frame)


def pinocchio_fk(arm: Arm, q: ArrayLike) -> np.ndarray:
    """Tool poses (N, 4, 4) for q (N, n), by Pinocchio, one configuration after another."""
    import pinocchio as pin

    model, tool = pinocchio_model(arm)
    data = model.createData()
    poses = np.empty((len(q), 4, 4))
    for k, q_k in enumerate(q):
        pin.framesForwardKinematics(model, data, q_k)
        poses[k] = data.oMf[tool].homogeneous
    return poses
