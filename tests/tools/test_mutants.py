"""The mutation run on a tiny package: which changes it makes, what it lists, and what it leaves."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.mutants import Place, changes_of, drawn

ROOT = Path(__file__).resolve().parents[2]


def after(source):
    return [change.after for change in changes_of(source.encode(), "x.py")]


@pytest.mark.parametrize(
    "line, changed",
    [
        ("y = a + b", {"y = a - b"}),
        ("y = a ** b", {"y = a * b"}),
        ("y = (a) * (  # by +\n b)", {"y = (a) / ( # by +"}),
        ("y += x", {"y -= x", "pass"}),
        ("y = -x", {"y = (x)"}),
        ("y = a and b or c", {"y = a or b or c", "y = a and b and c"}),
        ("y = a is not b", {"y = a is b"}),
        ("y = a  not  in b", {"y = a in b"}),
        ("y = a < b", {"y = a <= b", "y = a >= b"}),
        ("y = a < b == c", {"y = a <= b == c", "y = a >= b == c", "y = a < b != c"}),
        ("y = x[0]", {"y = x[1]", "y = x[-1]"}),
        ("y = x[a:b]", {"y = x[:b]", "y = x[a:]"}),
        ("y = True", {"y = False"}),
        ("y = 0.5", {"y = 1.0", "y = 0.25"}),
        ("y = 1e-6", {"y = 0.0001", "y = 1e-08"}),
        ("y = not x", {"y = (x)"}),
        ("y = a if b else c", {"y = a if not (b) else c"}),
        ("y = [x for x in z if ok(x)]", {"y = [x for x in z if not (ok(x))]"}),
        ("y.append(x)", {"pass"}),
        ("y[i] = x", {"pass"}),
        ("raise ValueError(f'{x + 1}')", {"pass"}),
        ("def f(a, b=2): ...", {"def f(a, b=3): ...", "def f(a, b=1): ..."}),
        ("def f(*, b='world'): ...", {'def f(*, b="mutant"): ...'}),
        ("é = 'ö' if a < b else c + d", {
            "é = 'ö' if a <= b else c + d",
            "é = 'ö' if a >= b else c + d",
            "é = 'ö' if not (a < b) else c + d",
            "é = 'ö' if a < b else c - d",
        }),
    ],
)  # fmt: skip
def test_changes_of_a_line(line, changed):
    assert set(after(line)) == changed and len(after(line)) == len(changed)


def test_changes_inside_functions_and_loops():
    source = "for x in y:\n    break\nclass A:\n    def f(self):\n        return self.x\n"
    first, second = changes_of(source.encode(), "x.py")
    assert (first.where, first.line, first.after) == ("", 2, "continue")
    assert (second.where, second.line, second.after) == ("A.f", 5, "return None")


def test_what_is_left_alone():
    source = '''"""Says 1 + 1."""  # 2 < 3
__all__ = ["a"] + ["b"]
def f(x: Literal[1] = None, *, y: int | None = None) -> tuple[int, 3]:
    """Some 5."""
    a: Array[3, 4] = x
    b = f"{x + 1}"
    c = "a" + x
    d = x.reshape(-1, 3)
if TYPE_CHECKING:
    z = 1
if __name__ == "__main__":
    f(1)
'''
    assert after(source) == []


def test_every_change_is_python_and_another_program():
    for path in Place(ROOT).sources("floor"):
        source = path.read_bytes()
        tree = ast.dump(ast.parse(source))
        for change in changes_of(source, path.name)[::7]:
            assert ast.dump(ast.parse(change.made_in(source))) != tree, change


def test_the_same_seed_draws_the_same_changes_from_all_of_the_code():
    changes = changes_of("".join(f"x{i} = a + b\n" for i in range(100)).encode(), "x.py")
    some = drawn(changes, 10, seed=3)
    assert some == drawn(changes, 10, seed=3) != drawn(changes, 10, seed=4)
    assert [change.line // 10.01 for change in some] == list(range(10))
    assert drawn(changes, 100, seed=0) == drawn(changes, 1000, seed=1) == changes


def test_own_tests_by_name(tmp_path):
    for name in ("urdf.py", "urdf_check/rules.py", "urdf_check/__init__.py", "tools/grading/a.py"):
        (tmp_path / "lib" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "lib" / name).touch()
    for name in ("core/test_urdf.py", "core/test_urdf_more.py", "core/test_urdf_check_rules.py"):
        (tmp_path / "tests" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tests" / name).touch()
    place = Place(tmp_path, "lib")
    (urdf,) = place.sources("urdf")
    assert place.tests_of(urdf) == ("tests/core/test_urdf.py", "tests/core/test_urdf_more.py")
    package = place.sources("urdf_check")
    assert [place.module(str(path.relative_to(tmp_path))) for path in package] == [
        "lib.urdf_check",
        "lib.urdf_check.rules",
    ]
    for path in package:
        assert place.tests_of(path) == ("tests/core/test_urdf_check_rules.py",)
    assert [path.name for path in place.sources("grading")] == ["a.py"]
    assert place.sources("nothing") == []


# ---- the run ---------------------------------------------------------------------------------

SUMS = """
def total(values, start=10):
    for value in values:
        start += value
    return start


def either(a, b):
    return a or b
"""
LOOPS = """
def steps(n):
    count = 0
    while n > 0:
        n -= 1
        count += 1
    return count
"""
GOOD = """
from hypothesis import given, strategies as st
from tiny.sums import either, total

def test_total():
    assert total([]) == 10
    assert total([1, 2], 0) == 3

@given(st.booleans(), st.booleans())
def test_either(a, b):
    assert either(a, b) == (a + b > 0)
"""
POOR = """
from tiny.sums import either, total

def test_total():
    assert total([1, 2], 0) == 3
    assert either(True, True)
"""
GOOD_LOOPS = """
from tiny.loops import steps

def test_steps():
    assert [steps(n) for n in range(9)] == list(range(9))
"""
COMMAND = """
import sys
from pathlib import Path
from support.mutants.__main__ import main
from support.mutants.running import Place
place = Place(Path.cwd(), "tiny", heavy=("pytest", "hypothesis"))
sys.exit(main(sys.argv[1:], place))
"""
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")


@pytest.fixture
def tiny(tmp_path):
    """A package with one module and its tests, and the command that runs on it."""
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "__init__.py").touch()
    (tmp_path / "tiny" / "sums.py").write_text(SUMS)
    (tmp_path / "tiny" / "loops.py").write_text(LOOPS)
    (tmp_path / "tests" / "core").mkdir(parents=True)
    (tmp_path / "tests" / "support").mkdir()

    def run(tests, *arguments, notes="", module="sums"):
        (tmp_path / "tests" / "core" / f"test_{module}.py").write_text(tests)
        (tmp_path / "tests" / "support" / "mutants.toml").write_text(notes)
        command = [sys.executable, "-c", COMMAND, module, *arguments]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT / "tests")},
            capture_output=True,
            text=True,
            timeout=120,
        )
        return done.returncode, done.stdout, done.stderr

    run.folder = tmp_path
    return run


def note(kind, before, after, where="", **more):
    fields = {"file": "tiny/sums.py", "where": where, "before": before, "after": after, **more}
    return f"[[{kind}]]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in fields.items())


def files(folder):
    return {p: p.read_bytes() for p in folder.rglob("*") if p.is_file() and p.suffix != ".pyc"}


@needs_fork
@pytest.mark.parametrize("line, count", [(2, 2), (9, 2)])
def test_good_tests_notice_everything(tiny, line, count):
    """Line 2 holds nothing but a default."""
    status, said, errors = tiny(GOOD, "--only", f"sums.py:{line}")
    assert status == 0, said + errors
    assert said.startswith(f"{count} of {count} changes noticed (100.0 %), 0 not; 0 more")


@needs_fork
def test_a_hang_is_noticed(tiny):
    """`n += 1`, `n -= 0` and `pass` never end; `n -= 2` counts wrong."""
    status, said, errors = tiny(GOOD_LOOPS, "--only", "loops.py:5", module="loops")
    assert status == 0, said + errors
    assert said.startswith("4 of 4 changes noticed")


@needs_fork
def test_poor_tests_are_told_what_they_miss_and_nothing_is_written(tiny):
    tiny(POOR, "--only", "sums.py:5")
    before = files(tiny.folder)
    status, said, _ = tiny(POOR, "--count", "1000")
    assert status == 1
    assert "tiny/sums.py:2 in total" in said
    assert "    - def total(values, start=10):\n    + def total(values, start=11):\n" in said
    assert "    - start += value\n" not in said  # noticed
    assert "    - return a or b\n    + return a and b\n" in said
    assert files(tiny.folder) == before
    fresh = "from tiny.sums import total; print(total([1]))"  # compiled files are right, too
    done = subprocess.run([sys.executable, "-c", fresh], cwd=tiny.folder, capture_output=True)
    assert done.stdout.strip() == b"11"


@needs_fork
def test_a_reason_excuses_a_survivor_until_its_line_is_gone(tiny):
    line = ("def total(values, start=10):", "def total(values, start=11):")
    notes = note("same", *line, where="total", reason="no caller relies on it")
    status, said, _ = tiny(POOR, "--only", "sums.py:2", notes=notes)
    assert status == 1 and "0 of 1 changes noticed (0.0 %), 1 not; 1 more" in said
    assert f"+ {line[1]}" not in said

    notes = note("same", "start -= 7", "start += 7", reason="none")
    _, said, _ = tiny(POOR, "--only", "sums.py:2", notes=notes)
    assert "has a change that is not there any more: start -= 7" in said

    notes = note("same", *line, where="total", reason="wrong: the good tests notice it")
    status, said, _ = tiny(GOOD, "--only", "sums.py:2", notes=notes)
    assert status == 0 and "but a test notices it" in said


@needs_fork
def test_a_change_that_must_be_noticed_is_tried_in_every_run(tiny):
    notes = note("always", "a or b", "a + b > 1")
    status, said, _ = tiny(GOOD, "--count", "1", notes=notes)
    assert status == 0 and "2 of 2 changes noticed" in said
    status, said, _ = tiny(POOR, "--count", "1", notes=notes)
    assert status == 1 and "+ return a + b > 1" in said
    assert "1 of those that must be noticed" in said
    gone = note("always", "a or c", "a")
    status, _, errors = tiny(GOOD, "--count", "1", notes=gone)
    assert status == 1
    assert "mutants.toml: tiny/sums.py has 0 times, not once: a or c" in errors


@needs_fork
def test_a_wrong_name_and_failing_tests_are_said(tiny):
    status, said, errors = tiny(GOOD + "\ndef test_more():\n    assert total([]) == 9\n")
    assert status == 2 and "its tests fail without a change" in errors
    assert "assert 10 == 9" in errors
    command = [sys.executable, "tests/support/mutants/__main__.py", "kinematic"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "No module, package or room 'kinematic' in course_lib\n"
