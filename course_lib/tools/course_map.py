"""Moved to `course_lib.plots.course_map`; this name goes with the lessons that still use it."""

from course_lib.plots.course_map import LESSONS, draw  # noqa: F401
