"""Is everything that the course needs installed, and if not, how do you get it?

    python -m course_lib.tools.doctor

Public names: `report`, `requirements`.

Lesson 00 runs it as its first cell, so this module needs nothing but Python itself. What is right
is said without a version or a path: the lines are the same on every machine where all is well.
"""

import contextlib
import importlib
import importlib.metadata
import sys
import warnings
from pathlib import Path

from course_lib.tools.environment import Requirement, numbers, read_project

COURSE = "robot-arm-course"
PROJECT = Path(__file__).resolve().parents[2]
IMPORT_NAMES = {
    "pillow": "PIL",
    "pyyaml": "yaml",
    "roboticstoolbox-python": "roboticstoolbox",
    "pin": "pinocchio",
}
NO_WINDOWS = "left out on Windows, where it does not exist; cells that need it are marked"


def report() -> list[str]:
    """One line for Python, for each package and for the sliders; then one that sums up."""
    if sys.version_info < (3, 11):  # before anything that an older Python can't run
        return [_python(">=3.11")]
    try:
        python, packages = requirements()
    except FileNotFoundError as error:
        return [str(error)]
    lines = [_python(python), *(_package(text) for text in packages), _sliders()]
    bad = sum(not line.endswith((": ok", NO_WINDOWS)) for line in lines)
    mend = f"{bad} to mend, see above. Then restart the kernel and run this cell again."
    return [*lines, mend if bad else "Everything is there."]


def requirements() -> tuple[str, list[str]]:
    """(Python version, packages) that the course needs: (">=3.11", ["numpy>=2.1", …]).

    They are read from pyproject.toml where course_lib lies in its project, else from the
    installed package. Raises FileNotFoundError where there is neither.
    """
    with contextlib.suppress(FileNotFoundError):
        project = read_project(PROJECT)
        return project["requires-python"], project["dependencies"]
    try:
        installed = importlib.metadata.metadata(COURSE)
    except importlib.metadata.PackageNotFoundError:
        raise FileNotFoundError(
            "the course's own files are incomplete: get them again with `git clone`"
        ) from None
    texts = importlib.metadata.requires(COURSE) or []
    return installed["Requires-Python"], [text for text in texts if "extra ==" not in text]


def _python(needed):
    at_least = numbers(needed)
    if sys.version_info[: len(at_least)] >= at_least:
        return "Python: ok"
    found = ".".join(map(str, sys.version_info[:3]))
    cure = "Get it from python.org, then run `python3 course.py lab` with it"
    return f"Python: {found}, needed {needed}. {cure}"


def _package(text):
    """The line for one requirement such as "pin>=3.4; sys_platform != 'win32'"."""
    wanted = Requirement.read(text)
    name = wanted.name
    if not wanted.is_wanted():
        return f"{name}: {NO_WINDOWS}"
    cure = f'run `%pip install "{wanted.text}"` in a cell'
    try:
        found = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return f"{name}: missing; {cure}"
    if numbers(found) < wanted.least:
        return f"{name}: {found} is too old; {cure}"
    try:
        with warnings.catch_warnings(action="ignore"):
            importlib.import_module(IMPORT_NAMES.get(name.lower(), name))
    except Exception as error:
        cure = cure.replace("install", "install --force-reinstall")
        return f"{name}: does not start ({type(error).__name__}: {error}); {cure}"
    return f"{name}: ok"


def _sliders():
    """JupyterLab draws sliders with an extension that comes with ipywidgets."""
    from importlib.util import find_spec

    if find_spec("jupyterlab_widgets") is None:
        cure = "run `%pip install jupyterlab_widgets` in a cell, then reload the page"
        return f"sliders: their JupyterLab part is missing; {cure}"
    return "sliders: ok"


if __name__ == "__main__":
    print(*report(), sep="\n")
