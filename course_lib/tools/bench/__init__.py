"""How fast is it, side by side with others?  `python3 course.py bench [GROUP …] [--json FILE]`

One table, measured in one run: ours and its peers take turns, so that a busy moment of the machine
hits all of them. Times are medians, "±" is half of the interquartile range. "ours/peer" below 1
means that ours is faster. A promise that the course makes is shown beside the row with "ok" or
"OVER".

core        Row, Size, taking turns
table       a row's numbers, and all of them as text
kinematics, ik, trajectory, sampled, urdf, explorers, reading, grading: one file a topic
__main__    the command line

To add a row, write a function that takes a `Size` and yields `Row`s, made by `core.race`, and put
it into GROUPS.
"""

from course_lib.tools.bench.collision import bench_collision
from course_lib.tools.bench.explorers import bench_key, bench_redraw
from course_lib.tools.bench.grading import bench_grading
from course_lib.tools.bench.ik import bench_ik
from course_lib.tools.bench.kinematics import bench_kinematics
from course_lib.tools.bench.reading import bench_import, bench_lesson
from course_lib.tools.bench.sampled import bench_sampled
from course_lib.tools.bench.trajectory import bench_trajectory
from course_lib.tools.bench.urdf import bench_urdf

GROUPS = {
    "kinematics": bench_kinematics,
    "urdf": bench_urdf,
    "ik": bench_ik,
    "trajectory": bench_trajectory,
    "collision": bench_collision,
    "sampled": bench_sampled,
    "redraw": bench_redraw,
    "key": bench_key,
    "import": bench_import,
    "lesson": bench_lesson,
    "grading": bench_grading,
}
