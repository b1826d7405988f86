"""The same arm in engines that somebody else wrote, built without any formula of course_lib."""

import numpy as np
from scipy.spatial.transform import Rotation

LIBRARY_ARMS = ("cobot6", "planar2", "planar3", "panda")
TOOLBOX_ARMS = ("Puma560", "UR5", "Panda", "IRB140", "Stanford", "KR5", "Cobra600", "LWR4")


def toolbox_robot(arm):
    """`Arm` -> Robotics Toolbox DHRobot."""
    import roboticstoolbox as rtb
    from spatialmath import SE3

    classes = {
        ("standard", "revolute"): rtb.RevoluteDH,
        ("standard", "prismatic"): rtb.PrismaticDH,
        ("modified", "revolute"): rtb.RevoluteMDH,
        ("modified", "prismatic"): rtb.PrismaticMDH,
    }
    links = []
    for i, kind in enumerate(arm.joint_types):
        row = dict(a=arm.a[i], alpha=arm.alpha[i])
        row |= (
            dict(d=arm.d[i], offset=arm.theta[i])
            if kind == "revolute"
            else dict(theta=arm.theta[i], offset=arm.d[i])
        )
        links.append(classes[arm.convention, kind](**row))
    return rtb.DHRobot(
        links, name=arm.name, base=SE3(arm.base, check=False), tool=SE3(arm.tool, check=False)
    )


def elementary(axis, angle=0.0, length=0.0):
    """A turn about, and a move along, one coordinate axis, from SciPy."""
    T = np.eye(4)
    T[:3, :3] = Rotation.from_euler(axis, angle).as_matrix()
    T["xyz".index(axis), 3] = length
    return T


def pinocchio_model(arm):
    """`Arm` -> (Pinocchio model, id of a frame "tool"): one joint about or along z for each row."""
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


def pinocchio_fk(arm, q):
    """Tool poses (N, 4, 4) for q (N, n), one configuration after the other."""
    import pinocchio as pin

    model, tool = pinocchio_model(arm)
    data = model.createData()
    poses = np.empty((len(q), 4, 4))
    for k, q_k in enumerate(q):
        pin.framesForwardKinematics(model, data, q_k)
        poses[k] = data.oMf[tool].homogeneous
    return poses
