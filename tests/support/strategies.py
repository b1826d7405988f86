"""Random arms and configurations for hypothesis."""

import numpy as np
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from course_lib.arm import Arm

angle = st.floats(-np.pi, np.pi, allow_subnormal=False)
length = st.floats(-1.0, 1.0, allow_subnormal=False)
right_angle = st.sampled_from([0.0, np.pi / 2, -np.pi / 2, np.pi])


@st.composite
def pose(draw):
    T = np.eye(4)
    T[:3, :3] = Rotation.from_rotvec([draw(angle) for _ in range(3)]).as_matrix()
    T[:3, 3] = [draw(length) for _ in range(3)]
    return T


@st.composite
def arm(draw, joints=st.integers(1, 8)):
    """Any serial arm: revolute and prismatic joints, either convention, any base and tool."""
    n = draw(joints)
    rows = lambda element: [draw(element) for _ in range(n)]
    return Arm(
        "random",
        draw(st.sampled_from(["standard", "modified"])),
        a=rows(length),
        alpha=rows(st.one_of(right_angle, angle)),
        d=rows(length),
        theta=rows(angle),
        joint_types=tuple(rows(st.sampled_from(["revolute", "prismatic"]))),
        base=draw(pose()),
        tool=draw(pose()),
    )


@st.composite
def arm_and_q(draw, count=3):
    the_arm = draw(arm())
    return the_arm, np.array([[draw(angle) for _ in range(the_arm.n)] for _ in range(count)])
