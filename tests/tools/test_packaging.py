"""pyproject.toml, constraints.txt and environment.yml agree; importing the library is cheap."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version
from setuptools import find_packages

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
ENVIRONMENT = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
TESTED_PYTHONS = ["3.11.0", "3.12.0", "3.13.0"]


def requirements():
    texts = [
        *PROJECT["project"]["dependencies"],
        *(text for extra in EXTRAS.values() for text in extra),
    ]
    return [Requirement(text) for text in texts]


def pins(text):
    """name -> version of a constraints file; ValueError names a line that is not name==version."""
    found = {}
    for line in text.splitlines():
        line = line.partition("#")[0].strip()
        match = re.fullmatch(r"([A-Za-z0-9._-]+)==([A-Za-z0-9.+!]+)", line)
        if line and not match:
            raise ValueError(f"{line!r}: expected name==version")
        if line:
            name = canonicalize_name(match[1])
            if name in found:
                raise ValueError(f"{name} is pinned twice")
            found[name] = Version(match[2])
    return found


def disagreements(wanted, pinned):
    """What the pins do not fulfil of the requirements."""
    complaints = []
    for requirement in wanted:
        name = canonicalize_name(requirement.name)
        if name not in pinned:
            complaints.append(f"{name} is not pinned")
        elif pinned[name] not in requirement.specifier:
            complaints.append(f"{requirement}, but {pinned[name]} is pinned")
    return complaints


def the_pins():
    return pins((ROOT / "constraints.txt").read_text(encoding="utf-8"))


def test_every_requirement_is_pinned_within_its_range():
    assert disagreements(requirements(), the_pins()) == []


def test_every_requirement_has_a_lower_bound_that_the_front_door_can_read():
    for requirement in requirements():
        assert re.fullmatch(r">=\d+(\.\d+)*", str(requirement.specifier)), requirement


def test_disagreements_are_found():
    pinned = pins("numpy==2.0  # old\n\nscipy==1.16\n")
    assert (
        len(
            disagreements(
                [Requirement("numpy>=2.1"), Requirement("scipy"), Requirement("sympy")], pinned
            )
        )
        == 2
    )
    for bad in ("-e .", "numpy>=2", "numpy @ https://example.org/numpy.whl", "numpy==2\nNumPy==3"):
        try:
            pins(bad)
        except ValueError:
            continue
        raise AssertionError(f"{bad!r} was taken for a pin")


def test_pins_are_sorted():
    names = list(the_pins())
    assert names == sorted(names)


def test_the_environment_file_installs_this_project_with_these_pins():
    *conda, pip = ENVIRONMENT["dependencies"]
    assert ENVIRONMENT["name"] == PROJECT["project"]["name"]
    assert [line for line in conda if re.match("[a-z]+", line)[0] not in ("python", "pip")] == []
    constraints, target = pip["pip"]
    assert constraints == "-c constraints.txt"
    extras = re.fullmatch(r"-e \.\[(.+)\]", target)[1].split(",")
    assert sorted(extras) == sorted(EXTRAS)


def test_all_files_allow_the_same_pythons():
    project = SpecifierSet(PROJECT["project"]["requires-python"])
    python = next(line for line in ENVIRONMENT["dependencies"] if str(line).startswith("python"))
    conda = SpecifierSet(python.removeprefix("python"))
    for version in TESTED_PYTHONS:
        assert version in project and version in conda
    assert "3.10.9" not in project and "3.10.9" not in conda


def test_pinocchio_is_asked_for_where_it_has_a_wheel():
    pin = next(requirement for requirement in requirements() if requirement.name == "pin")
    assert not pin.marker.evaluate({"sys_platform": "win32"})
    assert pin.marker.evaluate({"sys_platform": "linux"}) and pin.marker.evaluate(
        {"sys_platform": "darwin"}
    )


def test_all_packages_of_the_library_are_installed():
    folders = {path.parent for path in (ROOT / "course_lib").rglob("*.py")}
    names = {".".join(folder.relative_to(ROOT).parts) for folder in folders}
    include = PROJECT["tool"]["setuptools"]["packages"]["find"]["include"]
    assert names == set(find_packages(ROOT, include=include))


def test_importing_course_lib_loads_nothing_else():
    code = (
        "import sys, course_lib; print([m for m in ('numpy', 'matplotlib', 'scipy') if m in"
        " sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def imported_modules(path):
    """Top-level names of all modules that a Python file or a notebook imports."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
        lines = "\n".join("".join(cell["source"]) for cell in cells).splitlines()
        text = "\n".join("" if line.startswith(("%", "!")) else line for line in lines)
    names = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.add(node.module.split(".")[0])
    return names


def test_everything_imported_is_installed_by_the_pins():
    files = [
        *ROOT.glob("course_lib/**/*.py"),
        *ROOT.glob("tests/**/*.py"),
        *ROOT.glob("notebooks/**/*.py"),
    ]
    files += ROOT.glob("notebooks/[0-9][0-9]_*.ipynb")
    own = {path.stem for path in files} | {"course_lib", "course", "support"}
    distributions, pinned = metadata.packages_distributions(), set(the_pins())
    distributions |= {"pinocchio": ["pin"], "coal": ["coal"]}  # cmeel hides them from importlib
    missing = [
        f"{path.relative_to(ROOT).as_posix()}: {name}"
        for path in files
        for name in imported_modules(path) - set(sys.stdlib_module_names) - own
        if not pinned & {canonicalize_name(dist) for dist in distributions.get(name, [])}
    ]
    assert missing == []
