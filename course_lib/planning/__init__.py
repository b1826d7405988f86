"""Is there a way from here to there?  Trees of free edges, and what makes a way shorter.

    scene = load_scene("pillars")
    plan = rrt_connect(scene.arm, scene, scene.start, scene.goal, rng=np.random.default_rng(0))
    path = shortcut(scene.arm, scene, plan.path, rng=np.random.default_rng(1))

Distances are metres: each joint counts by how far it moves a point of the arm at most (`metric`).
So a step says how far the arm moves, in radians and metres alike. Every edge is proven free by
`collision.check_edge`, the last one, which ends at the goal, too.

space     `metric`, `length`; `Tree`; `Options`, `World`, and the samplers `uniform`, `bridge`,
          `beside_the_line`, `in_the_ellipsoid`
planners  `rrt`, `rrt_connect`, `rrt_star`, `informed_rrt_star`; `PlanResult`
better    `shortcut`, `optimise`
"""

# ruff: noqa: F401
from course_lib.planning.better import optimise, shortcut
from course_lib.planning.planners import (
    PlanResult,
    informed_rrt_star,
    rrt,
    rrt_connect,
    rrt_star,
)
from course_lib.planning.space import (
    Options,
    Tree,
    World,
    beside_the_line,
    bridge,
    in_the_ellipsoid,
    length,
    metric,
    uniform,
)
