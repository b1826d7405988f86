"""How do all pictures of the course look?  One palette, one style, and artists that can be moved.

    from course_lib import plots
    fig, ax = plots.space(0.6)                       # or plots.figure() in two dimensions
    arm = plots.ArmArtist(ax, load_arm("cobot6"))    # arm.set(q) moves it
    plots.show(fig, "What there is to see, in a sentence.")

style       colours, `neat`, `readable`; `figure`, `space`; `show`, `png`
artists     `arrow`, `line`, `axis_line`, `dot`, `label`, `note`, `limit_lines`; `FrameArtist`,
            `ChainArtist`, `SolidArtist`: each has `set(…)`
arm_body    `ArmArtist`
solids      shapes and things in space, and the stage that draws them
course_map  the map of the course

Matplotlib is imported when the first figure is made.
"""

# ruff: noqa: F401, F403
from course_lib.plots import solids
from course_lib.plots.arm_body import ArmArtist
from course_lib.plots.artists import *
from course_lib.plots.style import *
