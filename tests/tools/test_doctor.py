"""What lesson 00 asks first: is this installation complete, and if not, what is the cure?"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from course_lib.tools import doctor

PROJECT = Path(__file__).resolve().parents[2]


def needing(monkeypatch, *packages, python=">=3.11"):
    """The report for a course that needs these packages."""
    monkeypatch.setattr(doctor, "requirements", lambda: (python, list(packages)))
    return doctor.report()


def test_what_is_right_is_said_without_version_or_path():
    for line in doctor.report()[:-1]:
        if line.endswith(": ok"):
            assert not re.search(r"\d|/|\\", line.replace("roboticstoolbox-python", ""))


def test_it_asks_for_what_pyproject_asks_for():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {line.partition(":")[0] for line in doctor.report()}
    assert {re.match(r"[\w.-]+", text)[0] for text in project["dependencies"]} < named


def test_without_pyproject_the_installed_package_is_asked(monkeypatch, tmp_path):
    here = doctor.requirements()
    monkeypatch.setattr(doctor, "PROJECT", tmp_path)
    name = lambda text: re.match(r"[\w.-]+", text)[0].lower()
    try:
        python, packages = doctor.requirements()
    except FileNotFoundError as error:
        assert "git clone" in str(error)
        assert doctor.report() == [str(error)]
        pytest.skip("the course is not installed in this environment")
    assert python == here[0]
    assert sorted(map(name, packages)) == sorted(map(name, here[1]))


def test_a_missing_package_is_named_with_its_cure(monkeypatch):
    lines = needing(monkeypatch, "numpy>=2.1", "no-such-package>=1.5")
    assert lines[1] == "numpy: ok"
    assert (
        lines[2] == 'no-such-package: missing; run `%pip install "no-such-package>=1.5"` in a cell'
    )
    assert lines[-1].startswith("1 to mend")


def test_an_old_package_is_named_with_its_cure(monkeypatch):
    line = needing(monkeypatch, "numpy>=9999")[1]
    assert re.fullmatch(
        r'numpy: [\d.]+\w* is too old; run `%pip install "numpy>=9999"` in a cell', line
    )


def test_a_package_that_does_not_start_is_named_with_its_error(monkeypatch):
    monkeypatch.setitem(doctor.IMPORT_NAMES, "numpy", "numpy_that_is_broken")
    line = needing(monkeypatch, "numpy>=2.1")[1]
    assert "does not start (ModuleNotFoundError" in line and "--force-reinstall" in line


def test_an_old_python_is_named(monkeypatch):
    assert re.match(
        r"Python: 3\.\d+\.\d+, needed >=3\.99", needing(monkeypatch, python=">=3.99")[0]
    )


def test_on_windows_pin_is_left_out_and_nothing_is_to_mend(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    lines = needing(monkeypatch, "numpy>=2.1", "pin>=3.4; sys_platform != 'win32'")
    assert "Windows" in lines[2] and lines[-1] == "Everything is there."


def test_elsewhere_a_missing_pin_is_to_mend(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    assert "missing" in needing(monkeypatch, "no-pin-here>=3.4; sys_platform != 'win32'")[1]


def test_missing_sliders_are_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "jupyterlab_widgets" in needing(monkeypatch, "numpy>=2.1")[-2]


def test_it_runs_in_a_python_with_nothing_installed():
    code = (
        f"import sys; sys.path.insert(0, {str(PROJECT)!r}); from course_lib.tools import doctor;"
        " print(*doctor.report(), sep='\\n')"
    )
    told = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        timeout=60,
    )
    assert 'numpy: missing; run `%pip install "numpy' in told.stdout
    assert "Everything is there." not in told.stdout
