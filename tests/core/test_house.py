"""The house keeps its form: what imports what, how long files and lines are, names that others use.

The rooms, from the ground up: the floor, the topics, the URDF checker, presentation, and tools.
"""

import ast
import functools
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "course_lib"
FLOOR = ["arm", "arm_file", "poses", "kinematics", "dh", "urdf", "engines"]
TOPICS = ["ik", "fabrik", "trajectory", "cartesian", "collision", "planning", "dynamics"]
TOPICS += ["control", "sampled", "calibration", "servo"]
URDF_CHECK, PRESENTATION, TOOLS = ["urdf_check"], ["plots", "explore", "check"], ["tools"]
NUMERIC = [*FLOOR, *TOPICS, *URDF_CHECK]
ROOMS = {
    "floor": (FLOOR, 1500),
    "topics": (TOPICS, 3500),
    "urdf_check": (URDF_CHECK, 2200),
    "presentation": (PRESENTATION, 3200),
    "tools": (TOOLS, 4200),
}
# Rooms that stand above the design's size; they must not grow, and should come down.
OVER = {"topics": 4250, "tools": 4755}
MOST_OF_A_TOPIC, MOST_CHECKS, MOST_JUDGE, LONGEST_LINE = 450, 600, 900, 100
# What a room may import beside itself.
BELOW = {
    "floor": ["urdf_check"],  # urdf reads files with it; it imports nothing of the floor
    "topics": ["floor"],
    "urdf_check": ["floor", "topics"],
    "presentation": ["floor", "topics", "urdf_check"],
    "tools": ["floor", "topics", "urdf_check", "presentation"],
}
FOR_THE_EYE = {"matplotlib", "ipywidgets", "IPython", "PIL", "k3d", "anywidget"}


# --- reading the tree ------------------------------------------------------------------------


def modules(library=LIBRARY):
    """Name (`course_lib.plots.style`) -> file of every module of the library."""
    found = {}
    for path in sorted(library.rglob("*.py")):
        parts = path.relative_to(library.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def room_of(module):
    """The room of a module, by its first name below course_lib."""
    unit = unit_of(module)
    return next((room for room, (units, _) in ROOMS.items() if unit in units), None)


def unit_of(module):
    """`course_lib.plots.style` -> "plots"."""
    return [*module.split("."), ""][1]


@functools.cache
def import_lines(source):
    """The import statements of a module, those inside of functions included."""
    return [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Import | ast.ImportFrom)]


def imports(name, files):
    """(module, names) of each import in a module."""
    package = name if files[name].name == "__init__.py" else name.rpartition(".")[0]
    for node in import_lines(files[name].read_text(encoding="utf-8")):
        if isinstance(node, ast.Import):
            yield from ((alias.name, []) for alias in node.names)
        else:
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            start = [*above, *filter(None, [node.module])] if node.level else [node.module]
            yield ".".join(start), [alias.name for alias in node.names]


def needed(name, files):
    """The modules of the library that a module imports, the most precise name of each."""
    found = set()
    for module, names in imports(name, files):
        exact = [f"{module}.{one}" for one in names if f"{module}.{one}" in files]
        found |= set(exact) if exact and len(exact) == len(names) else {module, *exact}
    return {module for module in found if module in files} - {name}


def external(name, files):
    """The other packages that a module imports."""
    return {module.partition(".")[0] for module, _ in imports(name, files)} - {"course_lib"}


def lines_of(units, files):
    """How many lines the modules of some units have together."""
    texts = [path.read_text("utf-8") for name, path in files.items() if unit_of(name) in units]
    return sum(len(text.splitlines()) for text in texts)


# --- imports ---------------------------------------------------------------------------------


def upward(files):
    """Imports from a room that stands above, or that has no place."""
    return [
        f"{name} imports {other}"
        for name in files
        for other in needed(name, files)
        if room_of(name) and room_of(other) not in {None, room_of(name), *BELOW[room_of(name)]}
    ]


def eyes(files):
    """Numeric modules that know figures or widgets."""
    return [
        f"{name} imports {package}"
        for name in files
        if unit_of(name) in NUMERIC
        for package in external(name, files) & FOR_THE_EYE
    ]


def private(files):
    """Names with an underscore that one unit takes from another."""
    return [
        f"{name} imports {module}.{one}"
        for name in files
        for module, names in imports(name, files)
        for one in names
        if one.startswith("_") and module.startswith("course_lib.")
        if unit_of(module) != unit_of(name)
    ]


def circle(files):
    """Modules that import each other in a circle, [] if there is none."""
    graph = {name: needed(name, files) for name in files}
    done, path = set(), []

    def visit(name):
        if name in path:
            return path[path.index(name) :] + [name]
        if name in done:
            return []
        path.append(name)
        found = next(filter(None, map(visit, sorted(graph[name]))), [])
        path.pop()
        done.add(name)
        return found

    return next(filter(None, map(visit, graph)), [])


def outsiders(files):
    """Modules that import the tests, or stand in no room."""
    wrong = [name for name in files if name != "course_lib" and room_of(name) is None]
    return wrong + [name for name in files if {"tests", "support"} & external(name, files)]


@pytest.mark.parametrize("rule", [upward, eyes, private, circle, outsiders])
def test_imports_run_one_way(rule):
    assert rule(modules()) == []


FAULTY = [
    (upward, "arm", "from course_lib.ik import solve"),
    (upward, "arm", "def f():\n    from course_lib import plots"),
    (upward, "ik", "import course_lib.check"),
    (upward, "check/compare", "from ..tools.grading import mark"),
    (eyes, "ik", "def f():\n    import matplotlib.pyplot as plt"),
    (private, "ik", "from course_lib.arm import _secret"),
    (circle, "arm", "from course_lib.kinematics import fk"),
    (circle, "check/compare", "from . import exercise"),
    (outsiders, "solids", ""),
    (outsiders, "ik", "from support.strategies import postures"),
]


@pytest.mark.parametrize("rule, name, source", FAULTY)
def test_an_import_the_wrong_way_is_noticed(tmp_path, rule, name, source):
    library = {"arm": "", "kinematics": "from course_lib.arm import Arm", "ik": "", "plots": ""}
    library |= {"check/__init__": "from course_lib.check.compare import close"}
    library |= {"check/exercise": "from .compare import close", "check/compare": ""}
    library |= {"tools/grading": "from course_lib import check, ik", "__init__": ""}

    def write(text_of):
        for stem, text in text_of.items():
            path = tmp_path / "course_lib" / f"{stem}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return modules(tmp_path / "course_lib")

    assert [
        found for r in (upward, eyes, private, circle, outsiders) for found in r(write(library))
    ] == []
    assert rule(write({name: source})) != []


# --- what an import loads --------------------------------------------------------------------

# Each costs more than a tenth of a second: imported where it is used, never when a module is.
LATE = {"matplotlib", "ipywidgets", "IPython", "PIL", "scipy", "sympy", "nbformat", "yaml"}
LATE |= {"roboticstoolbox", "spatialmath", "pinocchio", "coal", "mujoco", "xacro", "jupyter_client"}
LOADED = """
import importlib, json, sys
print(json.dumps({{name: sorted(m for m in {late!r} if m in sys.modules)
                  for name in {names!r} if importlib.import_module(name)}}))
"""


def test_importing_the_library_loads_nothing_slow():
    """NumPy apart: so every `import course_lib.…` takes a few hundredths of a second."""
    names = [name for name in modules() if name.count(".") == 1 and room_of(name) != "tools"]
    code = LOADED.format(late=sorted(LATE), names=["course_lib", *names])
    told = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert told.returncode == 0, told.stderr
    loaded = json.loads(told.stdout)  # in this order: the first that names a package loaded it
    assert {name: slow for name, slow in loaded.items() if slow} == {}


# --- sizes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_keeps_its_size(room):
    units, most = ROOMS[room]
    lines = lines_of(units, modules())
    assert lines <= OVER.get(room, most)
    assert room not in OVER or lines > most, "keeps its size by now: take it out of OVER"


@pytest.mark.parametrize("topic", TOPICS)
def test_a_module_of_a_topic_keeps_its_size(topic):
    files = [path for module, path in modules().items() if unit_of(module) == topic]
    lines = {path.name: len(path.read_text("utf-8").splitlines()) for path in files}
    long = {name: n for name, n in lines.items() if n > MOST_OF_A_TOPIC}
    assert not long


FILES = [(path, MOST_CHECKS) for path in sorted(ROOT.glob("notebooks/checks/*.py"))]
FILES += [(path, MOST_JUDGE) for path in sorted(ROOT.glob("notebooks/homework/hw*/judge.py"))]


@pytest.mark.parametrize(
    "path, most",
    [pytest.param(*each, id=f"{each[0].parent.name}/{each[0].name}") for each in FILES],
)
def test_checks_and_judges_keep_their_size(path, most):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= most


# --- lines and form --------------------------------------------------------------------------


def sources():
    """The Python files and notebooks of the course."""
    found = [ROOT / "conftest.py", ROOT / "course.py"]
    for folder in ("course_lib", "tests", "notebooks"):
        found += (ROOT / folder).rglob("*.py")
    found += ROOT.glob("notebooks/[0-9][0-9]_*.ipynb")
    return sorted([*found, *ROOT.glob("notebooks/homework/hw[0-9][0-9]_*/hw*.ipynb")])


def code_of(path):
    """(place, text) of the code in a file: of a notebook each code cell, counted from 1."""
    name, text = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return [(name, text)]
    cells = enumerate(json.loads(text)["cells"], 1)
    return [
        (f"{name} cell {i}", "".join(c["source"])) for i, c in cells if c["cell_type"] == "code"
    ]


def too_long(places):
    """The lines of more than 100 columns in (place, text) pairs."""
    return [
        f"{place}, line {number}: {len(line)} columns"
        for place, text in places
        for number, line in enumerate(text.splitlines(), 1)
        if len(line) > LONGEST_LINE
    ]


def test_no_line_is_longer_than_100_columns():
    assert too_long([place for path in sources() for place in code_of(path)]) == []


def test_a_long_line_is_noticed():
    assert too_long([("a.py", "x\n" + "y" * 100)]) == []
    assert too_long([("a.py", "x\n" + "y" * 101)]) == ["a.py, line 2: 101 columns"]


@pytest.mark.parametrize(
    "command", ["format --check --quiet --diff", "check --quiet --output-format concise"]
)
def test_ruff_has_nothing_to_say(command):
    """Put right by `ruff format .` and, where it can, by `ruff check --fix .`."""
    files = [str(path) for path in sources()]
    words = [sys.executable, "-m", "ruff", *command.split(), *files]
    told = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert told.returncode == 0, told.stdout + told.stderr


# --- names that homework, lessons and others rely on -----------------------------------------

NAMES = """
arm: load_arm Arm
dh: dh_matrix mdh_matrix to_modified to_standard
kinematics: fk link_frames jacobian fk_and_jacobian
poses: pose inverse adjoint exp log error
engines: toolbox_robot pinocchio_model
urdf: to_urdf from_urdf
urdf_check: check_urdf Finding
ik: solve solve_batch closed_form in_limits nearest planar2 priority IKResult
fabrik: solve
trajectory: cubic quintic trapezoid scurve shortest_duration synchronise
cartesian: line arc to_joints
collision: Scene load_scene clearance edge_is_free
planning: rrt rrt_connect rrt_star informed_rrt_star shortcut PlanResult
dynamics: Planar2R from_pinocchio
sampled: simulate closed_loop critical_period
calibration: identify
servo: ArmServer stream
plots: figure space show
explore: explore slider choice player Explorer
check: check Exercise Mistake close CheckResult load_exercises find_exercise
"""


@pytest.mark.parametrize("line", NAMES.split("\n")[1:-1], ids=lambda line: line.partition(":")[0])
def test_names_that_others_rely_on_are_there(line):
    unit, _, names = line.partition(":")
    if f"course_lib.{unit}" not in modules():
        pytest.skip(f"{unit} is not built yet")
    module = importlib.import_module(f"course_lib.{unit}")
    assert [name for name in names.split() if not hasattr(module, name)] == []
