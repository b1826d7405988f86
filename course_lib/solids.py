"""Moved to `course_lib.plots.solids`; this name goes with the lessons that still use it."""

from course_lib.plots.solids import arrow, ball, box, tube  # noqa: F401
