#!/usr/bin/env python3
"""The front door of the robot arm course.

    python3 course.py lab                  open your own copies of the lessons in JupyterLab
    python3 course.py test                 prove that everything in them is true
    python3 course.py refresh 02           run lesson 02 again and store its outputs
    python3 course.py --help               all subcommands

The first call makes an environment in the folder .venv and installs the tested versions of all
packages into it; later calls start at once and need no network (`homework` and `test` add a few
packages of their own the first time). With --here a subcommand uses
the environment of the Python that runs it (conda, JupyterHub) and installs nothing.
"""

# Standard library only. Older Pythons must be able to parse this file up to the next lines.
import os
import sys

if sys.version_info < (3, 11):
    sys.exit(
        "The course needs Python 3.11 or newer; this is Python %d.%d. Install a newer one "
        "and start it by its name, for example: python3.12 course.py lab" % sys.version_info[:2]
    )
if __name__ == "__main__":  # a random.py beside this file must not stand for Python's own
    FOLDER = os.path.dirname(os.path.realpath(__file__))
    sys.path[:] = [place for place in sys.path if os.path.realpath(place) != FOLDER]
    from importlib import util

    # The tools of this very folder, whatever else is installed.
    here = util.spec_from_file_location(
        "course_lib", os.path.join(FOLDER, "course_lib/__init__.py")
    )
    sys.modules["course_lib"] = util.module_from_spec(here)

from pathlib import Path

from course_lib.tools import environment
from course_lib.tools import lab as front
from course_lib.tools.environment import Trouble, python_for, run, say

# Subcommand -> (extras it needs, what it is for). Each of these runs course_lib.tools.<name> or
# what MODULES says; `lab` and `test` have functions of their own below.
TOOLS = {
    "refresh": ([], "run lessons again and store their outputs"),
    "new": ([], "write the stubs of a new lesson"),
    "homework": (["homework"], "list, release and grade the homework"),
    "check-urdf": ([], "find the faults in URDF files"),
    "bench": (["homework", "test"], "measure speed side by side with other libraries"),
}
MODULES = {"homework": "grading.command"}
# What follows one of these is its value, no path.
PYTEST_VALUES = "-k -m -p -c -o -n -r -W --ignore --deselect --rootdir --basetemp --confcutdir"
PYTEST_VALUES = {*PYTEST_VALUES.split(), "--junitxml", "--junit-xml"}


# --- lab -------------------------------------------------------------------------------------


def lab(arguments, here):
    """python3 course.py lab [--no-browser] [--port N] [--source] [--here] [JupyterLab's arguments]

    Opens your own copies of the lessons (in my_lessons/) in JupyterLab; an update of the course
    never overwrites what you wrote there. With --source it opens the lessons themselves, for
    authors. Stop it with Ctrl-C twice.
    """
    source = "--source" in arguments
    arguments = [word for word in arguments if word != "--source"]
    front.check_port(arguments)
    python = python_for([], here)
    folder = environment.ROOT / "notebooks" if source else front.own_copies()
    if here:
        front.settle_here()
        if not arguments and front.runs_already(folder):
            return 0
    ours = front.jupyterlab_arguments(arguments, folder)
    return run([python, "-P", "-m", "jupyterlab", *ours], here)


# --- test ------------------------------------------------------------------------------------


MUTANTS = "tests/support/mutants/__main__.py"
# A file, and so a lesson, stays in one process; conftest.py says which files come first.
BOTH_CORES = ["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]


def test(arguments, here):
    """python3 course.py test [--full] [--here] [paths] [pytest's own arguments]
    python3 course.py test --mutants PACKAGE [--seed N] [--count N] [--only FILE:LINE]

    Looks at the form of the code (ruff), then runs all tests, notebooks included; with paths only
    these, with --full also the long ones. --mutants changes one thing at a time in a package and
    lists the changes that no test notices.
    """
    python = python_for(["homework", "test"], here)
    if "--mutants" in arguments:
        words = [word for word in arguments if word != "--mutants"]
        return run([python, MUTANTS, *words], here, environment.ROOT)
    if "--full" in arguments:
        arguments = ["-m", "", *(word for word in arguments if word != "--full")]
    arguments = [from_root(word, before) for before, word in zip(["", *arguments], arguments)]
    paths = [word for before, word in zip(["", *arguments], arguments) if is_path(word, before)]
    status = check_form(python, here, [path.partition("::")[0] for path in paths])
    if status:
        return status
    if not paths:
        lessons = sorted((environment.ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
        lessons = [str(path.relative_to(environment.ROOT)) for path in lessons]
        arguments += [*BOTH_CORES, "tests", "course_lib", *lessons]
    nbval = ["--nbval", "--nbval-current-env", "--nbval-cell-timeout=120"]
    return run([python, "-P", "-m", "pytest", *nbval, *arguments], here, environment.ROOT)


def check_form(python, here, paths):
    """Run ruff over `paths` (default: everything); say what to do where it finds something."""
    ruff = [python, "-P", "-m", "ruff"]
    for words in (["format", "--check", "--quiet"], ["check", "--quiet"]):
        if run([*ruff, *words, *paths], here, environment.ROOT):
            cure = " ".join(map(str, [python, "-m", "ruff"]))
            say(f"The form is not right. Run `{cure} format` and `{cure} check --fix` in the")
            say("course's folder, mend by hand what is left, then test again.")
            return 1
    return 0


def is_path(word, before):
    """Say whether pytest's argument `word`, which follows `before`, names a file or folder."""
    named = not word.startswith("-") and before not in PYTEST_VALUES
    return named and (environment.ROOT / word.split("::")[0]).exists()


def from_root(word, before):
    """Return a path given from the user's folder as one that holds from the course's folder."""
    path, colons, test = word.partition("::")
    if is_path(str(Path.cwd() / path), before) and not word.startswith("-"):
        return os.path.abspath(path) + colons + test
    return word


# --- all together ----------------------------------------------------------------------------


def tool(name):
    """Return the function of the subcommand `name` of TOOLS."""
    module = "course_lib.tools." + MODULES.get(name, name.replace("-", "_"))

    def run_tool(arguments, here):
        return run([python_for(TOOLS[name][0], here), "-P", "-m", module, *arguments], here)

    return run_tool


COMMANDS = {"lab": lab, "test": test, **{name: tool(name) for name in TOOLS}}


def usage():
    """Return what `course.py --help` says."""
    lines = ["lab         open your copies of the lessons", "test        run all tests"]
    lines += [f"{name:<12}{about}" for name, (_, about) in TOOLS.items()]
    return __doc__.strip() + "\n\nSubcommands:\n  " + "\n  ".join(lines)


def main(arguments):
    """Run the subcommand that `arguments` name and return the exit status."""
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        say(usage())
        return 0
    name, *rest = arguments
    if name not in COMMANDS:
        print(f"course.py knows no {name!r}; it knows: {', '.join(COMMANDS)}.", file=sys.stderr)
        return 2
    command, here, asked = COMMANDS[name], "--here" in rest, {"-h", "--help"} & set(rest)
    if asked and command.__doc__:
        say(command.__doc__)
        return 0
    if asked and not here and not environment.is_ready(TOOLS[name][0]):
        say(f"{name}: {TOOLS[name][1]}. Its options are shown once its packages are installed,")
        say(f"which the first `python3 course.py {name}` does.")
        return 0
    try:
        return command([word for word in rest if word != "--here"], here)
    except Trouble as trouble:
        print(f"course.py: {trouble}", file=sys.stderr)
    except KeyboardInterrupt:
        print("course.py: stopped; start it again at any time.", file=sys.stderr)
        return 130
    except OSError as error:
        said = environment.explain(str(error), "The operating system refused")
        print(f"course.py: {said}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
