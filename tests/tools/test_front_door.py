"""course.py: the right command is run, from anywhere, and each trouble is one sentence."""

import ast
import importlib.util
import json
import os
import runpy
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from course_lib.tools import environment, lab

ROOT = Path(__file__).resolve().parents[2]
SOURCE = (ROOT / "course.py").read_text(encoding="utf-8")


def load():
    spec = importlib.util.spec_from_file_location("course", ROOT / "course.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def root(tmp_path, monkeypatch):
    """An empty project in a folder with a blank, in which course.py believes it lies."""
    root = tmp_path / "a folder"
    (root / "notebooks").mkdir(parents=True)
    (root / "tests").mkdir()
    monkeypatch.setattr(environment, "ROOT", root)
    monkeypatch.setattr(environment, "VENV", root / ".venv")
    return root


@pytest.fixture
def course(root):
    return load()


# --- the file itself -------------------------------------------------------------------------


def modules_of(path):
    """Full names of all that a Python file imports."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module)
    return names


@pytest.mark.parametrize("name", ["course.py", "environment", "lab", "copies", "clock"])
def test_it_needs_the_standard_library_only(name):
    path = ROOT / (name if name == "course.py" else f"course_lib/tools/{name}.py")
    ours = {"course_lib.tools", "course_lib.tools.environment", "course_lib.tools.clock"}
    ours |= {"fcntl", "msvcrt"}
    names = {module.split(".")[0] for module in modules_of(path) - ours}
    assert names - set(sys.stdlib_module_names) == set()


def test_an_old_python_can_read_it_and_is_told_what_to_do(monkeypatch):
    ast.parse(SOURCE, feature_version=(3, 6))
    monkeypatch.setattr(sys, "version_info", (3, 10, 2))
    with pytest.raises(
        SystemExit,
        match=r"needs Python 3\.11 or newer; this is Python 3\.10\. Install .*python3\.12",
    ):
        runpy.run_path(str(ROOT / "course.py"))


@pytest.mark.parametrize("start", ["course", "elsewhere"])
def test_files_in_the_way_and_other_installations_do_no_harm(tmp_path, start):
    """A random.py beside course.py or where it is started, and another course_lib on the path."""
    root, elsewhere, other = (tmp_path / name for name in ("course", "elsewhere", "other"))
    shutil.copytree(ROOT / "course_lib" / "tools", root / "course_lib" / "tools")
    shutil.copy(ROOT / "course_lib" / "__init__.py", root / "course_lib")
    shutil.copy(ROOT / "course.py", root)
    (other / "course_lib").mkdir(parents=True)
    elsewhere.mkdir()
    for file in (root / "random.py", elsewhere / "random.py", other / "course_lib/__init__.py"):
        file.write_text("raise SystemExit('the wrong file was imported')")
    told = subprocess.run(
        [sys.executable, str(root / "course.py"), "lab", "--port", "x"],
        cwd=tmp_path / start,
        env={**os.environ, "PYTHONPATH": str(other)},
        capture_output=True,
        text=True,
    )
    assert told.stderr == "course.py: --port x: expected a number from 1 to 65535.\n"


def test_help_and_unknown_subcommands(course, capsys):
    assert course.main([]) == 0
    said = capsys.readouterr().out
    for name in ("lab", "test", "refresh", "new", "homework", "check-urdf", "bench"):
        assert f"\n  {name} " in said
    assert course.main(["lab", "--help"]) == 0 and "--port N" in capsys.readouterr().out
    assert course.main(["labs"]) == 2
    assert "knows no 'labs'; it knows: lab, test, refresh" in capsys.readouterr().err


def test_extras_and_modules_of_all_subcommands_exist(course):
    extras = environment.read_project(ROOT)["optional-dependencies"]
    for name, (wanted, _) in course.TOOLS.items():
        assert set(wanted) <= set(extras)
        module = course.MODULES.get(name, name.replace("-", "_"))
        assert importlib.util.find_spec(f"course_lib.tools.{module}"), name


def test_troubles_end_with_one_sentence_and_status_1(course, monkeypatch, capsys):
    for error, said in [
        (course.Trouble("Turn it off and on."), "course.py: Turn it off and on.\n"),
        (OSError(28, "No space left on device"), "course.py: The disk is full: free 2.5 GB"),
        (OSError(5, "Input/output error"), "course.py: The operating system refused ([Errno 5]"),
    ]:

        def fail(arguments, here, error=error):
            raise error

        monkeypatch.setitem(course.COMMANDS, "lab", fail)
        assert course.main(["lab"]) == 1
        assert capsys.readouterr().err.startswith(said)


def test_ctrl_c_while_installing(course, monkeypatch, capsys):
    def interrupted(arguments, here):
        raise KeyboardInterrupt

    monkeypatch.setitem(course.COMMANDS, "lab", interrupted)
    assert course.main(["lab"]) == 130
    assert "stopped; start it again at any time" in capsys.readouterr().err


# --- the commands ----------------------------------------------------------------------------


class Commands(list):
    """What course.py would run; `status` says how each would end."""

    def status(self, words):
        return 0 if "ruff" in words else 7

    def run(self, words, extras, cwd):
        self.append((words, extras, cwd))
        return self.status(words)


@pytest.fixture
def commands(course, monkeypatch):
    """The commands that course.py would run: (words, extras, working directory)."""
    seen, extras = Commands(), []
    monkeypatch.setattr(
        course, "python_for", lambda wanted, here: extras.append(wanted) or "PYTHON"
    )
    monkeypatch.setattr(
        course,
        "run",
        lambda words, here, cwd=None: seen.run(list(map(str, words)), extras[-1], cwd),
    )
    return seen


def test_lab_opens_the_learners_own_copies(course, root, commands, capsys):
    (root / "notebooks" / "00_start_here.ipynb").write_text('{"cells": []}')
    assert course.main(["lab", "--no-browser", "--ServerApp.password="]) == 7
    words, extras, _ = commands[0]
    assert words[:4] == ["PYTHON", "-P", "-m", "jupyterlab"] and extras == []
    assert f"--ServerApp.root_dir={root / 'my_lessons'}" in words
    assert "--LabApp.default_url=/lab/tree/00_start_here.ipynb" in words
    assert "--no-browser" in words and "--ServerApp.password=" in words
    assert "--ServerApp.port_retries=0" not in words
    assert (root / "my_lessons" / "00_start_here.ipynb").read_text() == '{"cells": []}'
    assert "Your own copies" in capsys.readouterr().out
    course.main(["lab", "--source"])
    assert f"--ServerApp.root_dir={root / 'notebooks'}" in commands[-1][0]


def test_lab_checks_the_port_before_it_installs(course, monkeypatch, capsys):
    monkeypatch.setattr(course, "python_for", lambda *_: pytest.fail("installs"))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert course.main(["lab", "--port", port]) == 1
        assert f"Port {port} is taken or not allowed" in capsys.readouterr().err
    for bad in ("--port=99999", "--port=lab", "--port"):
        assert course.main(["lab", bad]) == 1
        assert "expected a number from 1 to 65535" in capsys.readouterr().err


def test_lab_passes_a_free_port_on(course, commands):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    assert course.main(["lab", f"--port={port}"]) == 7
    assert f"--port={port}" in commands[0][0] and "--ServerApp.port_retries=0" in commands[0][0]


def test_two_starts_at_once_make_one_set_of_copies(root, capsys):
    (root / "notebooks" / "00_start_here.ipynb").write_text('{"cells": []}')
    with ThreadPoolExecutor(4) as pool:
        folders = list(pool.map(lambda _: lab.own_copies(), range(4)))
    assert set(folders) == {root / "my_lessons"}
    assert capsys.readouterr().out.count("1 new") == 1


def test_a_start_that_waits_too_long_opens_the_copies_as_they_are(root, monkeypatch, capsys):
    monkeypatch.setattr(lab, "COPY_SECONDS", 0)
    (root / "my_lessons").mkdir()
    with environment.only_one(root / "my_lessons" / ".lock", "busy"):
        assert lab.own_copies() == root / "my_lessons"
    assert "opened as they are" in capsys.readouterr().out


def test_here_brings_jupyterlabs_settings_and_in_a_hub_says_what_to_open(
    course, root, commands, monkeypatch, capsys, tmp_path
):
    monkeypatch.setattr(lab.sys, "prefix", str(tmp_path / "prefix"))
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "/mine")
    assert course.main(["lab", "--here"]) == 7
    assert environment.settings_file(tmp_path / "prefix").is_file()
    assert os.environ["JUPYTER_CONFIG_PATH"] == "/mine"
    monkeypatch.setattr(lab.sys, "prefix", str(root / "notebooks/locked"))
    (root / "notebooks" / "locked").touch()  # stands for an environment that is read-only
    assert course.main(["lab", "--here"]) == 7
    assert os.environ["JUPYTER_CONFIG_PATH"] == f"/mine{os.pathsep}{environment.JUPYTER}"
    monkeypatch.setenv("JUPYTERHUB_SERVICE_PREFIX", "/user/ann/")
    assert course.main(["lab", "--here"]) == 0 and len(commands) == 2
    said = capsys.readouterr().out
    assert f"open {root / 'my_lessons' / '00_start_here.ipynb'}" in said
    assert "those who run the\nhub copy" in said


def arguments_of_pytest(commands):
    """(pytest's arguments but ours, working directory); ruff ran before it, twice."""
    *_, form, check, (words, extras, cwd) = commands
    assert form[0][:5] == ["PYTHON", "-P", "-m", "ruff", "format"] and check[0][4] == "check"
    assert words[:4] == ["PYTHON", "-P", "-m", "pytest"] and extras == ["homework", "test"]
    assert words[4:7] == ["--nbval", "--nbval-current-env", "--nbval-cell-timeout=120"]
    return words[7:], cwd


def test_test_runs_everything_but_homework_and_checks(course, root, commands):
    notebooks = root / "notebooks"
    for name in ("02_dh.ipynb", "00_start_here.ipynb", "my_02_dh.ipynb"):
        (notebooks / name).touch()
    for folder in ("homework", "checks"):
        (notebooks / folder).mkdir()
        (notebooks / folder / "03_other.ipynb").touch()
    assert course.main(["test", "-q"]) == 7
    lessons = [str(Path("notebooks") / name) for name in ("00_start_here.ipynb", "02_dh.ipynb")]
    assert arguments_of_pytest(commands) == (
        ["-q", *course.BOTH_CORES, "tests", "course_lib", *lessons],
        root,
    )


def test_test_with_paths_runs_just_these(course, root, commands, monkeypatch, tmp_path):
    (root / "tests" / "test_a.py").touch()
    course.main(["test", "tests/test_a.py::test_b", "-x"])
    assert arguments_of_pytest(commands)[0] == ["tests/test_a.py::test_b", "-x"]
    monkeypatch.chdir(root / "tests")
    course.main(["test", "test_a.py::test_b"])
    assert arguments_of_pytest(commands)[0] == [str(root / "tests" / "test_a.py") + "::test_b"]
    monkeypatch.chdir(tmp_path)
    course.main(["test", "-k", "tests"])
    assert arguments_of_pytest(commands)[0] == [
        "-k",
        "tests",
        *course.BOTH_CORES,
        "tests",
        "course_lib",
    ]
    course.main(["test", "--ignore", str(root / "tests" / "test_a.py")])
    assert arguments_of_pytest(commands)[0][-2:] == ["tests", "course_lib"]


def test_test_full_takes_the_long_tests_too(course, commands):
    course.main(["test", "--full", "-q"])
    assert arguments_of_pytest(commands)[0] == [
        *("-m", "", "-q"),
        *course.BOTH_CORES,
        *("tests", "course_lib"),
    ]


@pytest.mark.parametrize("bad, said", [("format", "format`"), ("check", "check --fix`")])
def test_a_wrong_form_ends_the_test_and_says_what_to_run(course, commands, capsys, bad, said):
    commands.status = lambda words: int("ruff" in words and bad in words)
    assert course.main(["test"]) == 1
    assert "pytest" not in commands[-1][0] and said in capsys.readouterr().out


def test_the_form_of_what_is_named_is_looked_at(course, root, commands):
    (root / "tests" / "test_a.py").touch()
    course.main(["test", "tests/test_a.py::test_b"])
    assert commands[0][0][-1] == commands[1][0][-1] == "tests/test_a.py"


def test_mutants(course, root, commands):
    course.main(["test", "--mutants", "poses", "--count", "20"])
    words = ["PYTHON", course.MUTANTS, "poses", "--count", "20"]
    assert commands == [(words, ["homework", "test"], root)]


def test_long_tests_are_left_out_unless_asked_for(tmp_path):
    file = tmp_path / "test_long.py"
    file.write_text(
        "import pytest\n@pytest.mark.full\ndef test_long(): pass\ndef test_short(): pass\n"
    )
    options = ["-q", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path)]
    options += ["-p", "no:cacheprovider", "-p", "no:nbval", "-p", "no:hypothesispytest"]
    for more, said in ([], "1 passed, 1 deselected"), (["-m", ""], "2 passed"):
        command = [sys.executable, "-m", "pytest", *options, *more, str(file)]
        assert said in subprocess.run(command, capture_output=True, text=True, cwd=tmp_path).stdout


def test_tools_run_in_the_users_folder(course, commands):
    assert course.main(["refresh", "02", "--check"]) == 7
    assert commands[0] == (
        ["PYTHON", "-P", "-m", "course_lib.tools.refresh", "02", "--check"],
        [],
        None,
    )
    assert course.main(["homework", "list"]) == 7
    assert commands[1] == (
        ["PYTHON", "-P", "-m", "course_lib.tools.grading.command", "list"],
        ["homework"],
        None,
    )


def test_here_is_taken_off_and_passed_on(course, monkeypatch):
    seen = []
    monkeypatch.setattr(course, "python_for", lambda extras, here: seen.append(here) or "PYTHON")
    monkeypatch.setattr(
        course, "run", lambda words, here, cwd=None: seen.append((words[-1], here)) or 0
    )
    course.main(["refresh", "--here", "02"])
    assert seen == [True, ("02", True)]


# --- running ---------------------------------------------------------------------------------


def test_run_returns_the_status_and_sets_the_variables(course, monkeypatch, capfd):
    monkeypatch.setenv("PYTHONPATH", "/opt/ros/somewhere")
    monkeypatch.setenv("MPLBACKEND", "TkAgg")
    script = (
        "import os, sys; print(*(os.environ.get(n) for n in ('PYTHONPATH', 'MPLBACKEND',"
        " 'PYTHONHASHSEED'))); sys.exit(5)"
    )
    assert environment.run([sys.executable, "-c", script], here=False) == 5
    assert capfd.readouterr().out.split() == ["None", "None", "0"]
    assert environment.run([sys.executable, "-c", script], here=True) == 5
    assert capfd.readouterr().out.split() == ["/opt/ros/somewhere", "TkAgg", "0"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM to pass on")
def test_a_stopped_front_door_leaves_no_child():
    child = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    script = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); from course_lib.tools import environment;"
        f" sys.exit(environment.run([sys.executable, '-c', {child!r}], True))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True
    ) as door:
        pid = int(door.stdout.readline())
        door.terminate()
        assert door.wait(20) == 128 + signal.SIGTERM
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


# --- the whole, with a network (course.py test --full) ---------------------------------------


def start_lab(root, log, **variables):
    """Start `course.py lab` from another folder; return the process and its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable,
        str(root / "course.py"),
        "lab",
        "--no-browser",
        f"--port={port}",
        "--IdentityProvider.token=",
    ]
    door = subprocess.Popen(
        command,
        cwd=root.parent,
        env={**os.environ, **variables},
        stdout=log,
        stderr=subprocess.STDOUT,
    )
    return door, f"http://127.0.0.1:{port}"


def answer(door, address, seconds):
    """What the server says of itself, waiting for it at most `seconds`."""
    end = time.monotonic() + seconds
    while door.poll() is None and time.monotonic() < end:
        try:
            with urllib.request.urlopen(address + "/api/status", timeout=5) as page:
                return json.load(page)
        except OSError:
            time.sleep(0.2)
    raise AssertionError("JupyterLab did not start")


@pytest.mark.full
def test_a_fresh_copy_in_a_folder_with_a_blank(tmp_path):
    root = tmp_path / "my folder" / "robot course"
    left = shutil.ignore_patterns(
        ".venv*",
        ".git",
        "__pycache__",
        "*.egg-info",
        "build",
        "classroom",
        "my_lessons",
        ".pytest_cache",
        ".hypothesis",
    )
    shutil.copytree(ROOT, root, ignore=left)
    offline = {
        "PIP_NO_INDEX": "1",
        "PIP_INDEX_URL": "http://127.0.0.1:1",
        "PIP_CONFIG_FILE": os.devnull,
    }
    with open(tmp_path / "log.txt", "w") as log:
        for seconds, variables in ((900, {}), (20, offline)):
            door, address = start_lab(root, log, **variables)
            try:
                assert "started" in answer(door, address, seconds)
            finally:
                door.terminate()
                door.wait(30)
    said = (tmp_path / "log.txt").read_text()
    assert said.count("Making the environment") == 1
    test = [sys.executable, str(root / "course.py"), "test", "tests/tools/test_packaging.py"]
    run = subprocess.run(test, cwd=tmp_path, capture_output=True, text=True, timeout=900)
    assert run.returncode == 0, run.stdout + run.stderr
    assert " passed" in run.stdout.splitlines()[-1]
