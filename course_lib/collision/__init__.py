"""Does the arm touch anything, and does it on the way from here to there?

    scene = load_scene("pillars")
    clearance(arm, scene, q)              # (...) for q (..., n); below zero: how deep
    edge_is_free(arm, scene, q0, q1)      # proven for everything in between

The bodies of the arm are capsules around its skeleton: of each link the stretch along d, then that
along a (as `plots.ArmArtist` draws them), and what leads from the flange to the tool. A clearance
is a distance between surfaces; below zero it says how far one body must at least be moved until the
two no longer overlap.

scene   `Sphere`, `Capsule`, `Box`, `HalfSpace`; `Scene`, `load_scene`
query   `capsules`, `self_pairs`; `clearance`, `closest`, `Closest`; `edge_is_free`, `check_edge`,
        `Edge`
"""

# ruff: noqa: F401
from course_lib.collision.query import (
    Capsules,
    Closest,
    Edge,
    capsules,
    check_edge,
    clearance,
    closest,
    edge_is_free,
    self_pairs,
)
from course_lib.collision.scene import (
    Box,
    Capsule,
    HalfSpace,
    Obstacle,
    Scene,
    Sphere,
    load_scene,
)
