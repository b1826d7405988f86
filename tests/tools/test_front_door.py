"""course.py: the right command is run, a ready environment is left alone, each failure gets its cure."""

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
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = (ROOT / "course.py").read_text(encoding="utf-8")


def load():
    spec = importlib.util.spec_from_file_location("course", ROOT / "course.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def course(tmp_path, monkeypatch):
    """course.py as if it lay in an empty project in a folder with a blank."""
    course = load()
    root = tmp_path / "a folder"
    (root / "notebooks").mkdir(parents=True)
    (root / "tests").mkdir()
    for name in ("pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, root)
    monkeypatch.setattr(course, "ROOT", root)
    monkeypatch.setattr(course, "VENV", root / ".venv")
    return course


class FakePip:
    """Stands for venv and pip: makes the files that they make, counts the calls."""

    def __init__(self, course, monkeypatch):
        self.course, self.calls, self.made, self.installs = course, [], 0, ["numpy"]
        self.error = None
        monkeypatch.setattr(course, "make_venv", self.make_venv)
        monkeypatch.setattr(course, "run_pip", self.run_pip)
        monkeypatch.setattr(
            course.subprocess, "run", lambda *a, **k: subprocess.CompletedProcess(a, 0)
        )

    def packages(self):
        folder = "Lib/site-packages" if os.name == "nt" else "lib/python3.12/site-packages"
        return self.course.VENV / folder

    def make_venv(self):
        self.made += 1
        python = self.course.venv_python()
        python.parent.mkdir(parents=True)
        python.touch()
        self.packages().mkdir(parents=True)
        (self.course.VENV / "pyvenv.cfg").write_text("home = /somewhere\nversion = 3.12.1\n")

    def run_pip(self, *arguments):
        self.calls.append(arguments)
        for name in self.installs:
            (self.packages() / name).mkdir(exist_ok=True)
        if self.error:
            raise self.error


@pytest.fixture
def pip(course, monkeypatch):
    return FakePip(course, monkeypatch)


# --- the file itself -------------------------------------------------------------------------


def test_it_needs_the_standard_library_only():
    names = set()
    for node in ast.walk(ast.parse(SOURCE)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module.split(".")[0])
    assert names - set(sys.stdlib_module_names) - {"fcntl", "msvcrt"} == set()


def test_an_old_python_can_read_it_and_is_told_what_to_do(monkeypatch):
    ast.parse(SOURCE, feature_version=(3, 6))
    monkeypatch.setattr(sys, "version_info", (3, 10, 2))
    with pytest.raises(
        SystemExit,
        match=r"needs Python 3\.11 or newer; this is Python 3\.10\. Install .*python3\.12",
    ):
        runpy.run_path(str(ROOT / "course.py"))


def test_help_and_unknown_subcommands(course, capsys):
    assert course.main([]) == 0
    said = capsys.readouterr().out
    for name in ("lab", "test", "refresh", "homework", "bench"):
        assert f"\n  {name} " in said
    assert course.main(["lab", "--help"]) == 0 and "--port N" in capsys.readouterr().out
    assert course.main(["labs"]) == 2
    assert "knows no 'labs'; it knows: lab, test, refresh" in capsys.readouterr().err


def test_extras_of_all_subcommands_exist(course):
    import tomllib

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    assert {extra for wanted, _ in course.TOOLS.values() for extra in wanted} <= set(extras)


# --- making and keeping the environment ------------------------------------------------------


def test_first_call_installs_and_the_next_does_nothing(course, pip, capsys):
    python = course.ensure_environment([])
    assert python == course.venv_python()
    assert pip.calls == [("install", "-c", "constraints.txt", "-e", ".")]
    assert "Making the environment" in capsys.readouterr().out
    course.ensure_environment([])
    assert len(pip.calls) == 1 and pip.made == 1
    assert capsys.readouterr().out == ""


def test_extras_are_added_and_kept(course, pip):
    course.ensure_environment([])
    course.ensure_environment(["homework", "test"])
    assert pip.calls[1][-1] == ".[homework,test]" and pip.made == 1
    course.ensure_environment([])
    course.ensure_environment(["test"])
    assert len(pip.calls) == 2
    (course.ROOT / "constraints.txt").write_text("numpy==2.1\n")
    course.ensure_environment([])
    assert pip.calls[2][-1] == ".[homework,test]"


def test_new_pins_a_new_place_or_another_python_install_again(course, pip, monkeypatch, tmp_path):
    course.ensure_environment([])
    (course.ROOT / "pyproject.toml").write_text("[project]\n")
    course.ensure_environment([])
    (course.VENV / "pyvenv.cfg").write_text("version = 3.13.0\n")
    course.ensure_environment([])
    course.ROOT.rename(tmp_path / "elsewhere")
    monkeypatch.setattr(course, "ROOT", tmp_path / "elsewhere")
    monkeypatch.setattr(course, "VENV", tmp_path / "elsewhere" / ".venv")
    course.ensure_environment([])
    assert len(pip.calls) == 4 and pip.made == 1


def test_line_ends_of_a_windows_clone_change_nothing(course, pip):
    course.ensure_environment([])
    file = course.ROOT / "constraints.txt"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    course.ensure_environment([])
    assert len(pip.calls) == 1


def test_an_environment_made_by_hand_is_used_as_it_is(course, pip):
    pip.make_venv()
    course.ensure_environment([])
    assert pip.made == 1 and len(pip.calls) == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("killed")])
def test_an_interrupted_installation_is_made_anew(course, pip, capsys, error):
    pip.error = error
    with pytest.raises(type(error)):
        course.ensure_environment([])
    assert not course.is_ready([])
    pip.error = None
    course.ensure_environment([])
    assert pip.made == 2 and course.is_ready([])
    assert (
        "Removing the environment in .venv: its installation was interrupted."
        in capsys.readouterr().out
    )


def test_pip_that_gives_up_before_it_changes_anything_costs_nothing(course, pip):
    course.ensure_environment([])
    file = course.ROOT / "constraints.txt"
    pins = file.read_text()
    file.write_text("numpy==2.1\n")
    pip.error = course.Trouble("no network")
    with pytest.raises(course.Trouble):
        course.ensure_environment([])
    file.write_text(pins)
    course.ensure_environment([])  # ready as before, pip is not asked
    assert pip.made == 1 and len(pip.calls) == 2


@pytest.mark.parametrize(
    "config, works, why",
    [
        ("version = 3.10.4", True, "made by a Python older than 3.11"),
        ("version = 3.12.1", False, "its Python or its pip does not start"),
        ("", True, "made by a Python older than 3.11"),
    ],
)
def test_a_broken_environment_is_made_anew(course, pip, monkeypatch, capsys, config, works, why):
    pip.make_venv()
    (course.VENV / "pyvenv.cfg").write_text(config)
    result = subprocess.CompletedProcess([], 0 if works else 1)
    monkeypatch.setattr(course.subprocess, "run", lambda *a, **k: result)
    course.ensure_environment([])
    assert pip.made == 2 and why in capsys.readouterr().out


def test_an_environment_whose_python_is_gone_is_made_anew(course, pip, monkeypatch, capsys):
    course.ensure_environment([])
    course.venv_python().unlink()

    def not_there(*_, **__):
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(course.subprocess, "run", not_there)
    assert not course.is_ready([])
    course.ensure_environment([])
    assert pip.made == 2 and "its Python or its pip does not start" in capsys.readouterr().out


def test_what_is_no_environment_is_never_removed(course, pip):
    course.VENV.mkdir()
    (course.VENV / "thesis.txt").write_text("three years of work")
    with pytest.raises(course.Trouble, match="is no environment made by Python: move it away"):
        course.ensure_environment([])
    assert (course.VENV / "thesis.txt").exists() and pip.calls == []


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_a_link_is_never_followed_and_removed(course, pip, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "pyvenv.cfg").write_text("version = 3.9.0")
    course.VENV.symlink_to(tmp_path / "other")
    with pytest.raises(course.Trouble, match="move it away"):
        course.ensure_environment([])
    assert (tmp_path / "other" / "pyvenv.cfg").exists()


def test_it_does_not_saw_off_the_branch_it_sits_on(course, pip, monkeypatch):
    pip.make_venv()
    course.unfinished_file().touch()
    monkeypatch.setattr(course.sys, "prefix", str(course.VENV))
    with pytest.raises(course.Trouble, match="with another Python than the one in it"):
        course.ensure_environment([])
    assert course.VENV.exists()


def test_two_installers_do_not_meet(course, pip):
    with course.only_one_installer():
        with pytest.raises(course.Trouble, match="Another course.py is installing packages: wait"):
            course.ensure_environment([])
    course.ensure_environment([])


def test_news_is_switched_off_in_the_environment(course, pip):
    course.ensure_environment([])
    text = (course.VENV / "share/jupyter/lab/settings/overrides.json").read_text()
    assert json.loads(text)["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"


# --- failures and their cures ----------------------------------------------------------------


def test_a_python_without_venv(course, monkeypatch):
    monkeypatch.setattr(course, "find_spec", lambda name: None if name == "ensurepip" else True)
    with pytest.raises(
        course.Trouble, match=r"without venv and pip: .*sudo apt install python3\.\d+-venv"
    ):
        course.ensure_environment([])


@pytest.mark.skipif(os.name == "nt", reason="a colon is no part of a file's name on Windows")
def test_python_says_why_it_can_make_no_environment(course, monkeypatch, tmp_path):
    monkeypatch.setattr(course, "VENV", tmp_path / "with:colon" / ".venv")
    with pytest.raises(course.Trouble, match="Python could not make .venv .*PATH separator"):
        course.make_venv()


def test_a_nearly_full_disk(course, monkeypatch):
    usage = shutil.disk_usage(course.ROOT)._replace(free=int(0.4e9))
    monkeypatch.setattr(course.shutil, "disk_usage", lambda path: usage)
    with pytest.raises(course.Trouble, match=r"nearly full \(0\.4 GB free in .*\): free 2\.5 GB"):
        course.ensure_environment([])


def test_a_folder_that_can_not_be_written(course, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(
        course.Trouble, match="may not write into .*: copy the course into a folder of your own"
    ):
        course.ensure_environment([])


PIP_SAID = [
    (
        (
            "WARNING: Retrying (Retry(total=0)) after connection broken by"
            " 'NewConnectionError('<pip._vendor.urllib3.connection.HTTPSConnection object>: Failed"
            " to establish a new connection: [Errno 101] Network is unreachable')':"
            " /simple/numpy/\nERROR: Could not find a version that satisfies the requirement"
            " numpy>=2.1 (from versions: none)\nERROR: No matching distribution found for"
            " numpy>=2.1\n"
        ),
        "can't reach its server, and the packages are not all here: connect to the network",
    ),
    (
        "ERROR: No matching distribution found for pin>=3.4\n",
        "finds no package pin>=3.4 for this Python",
    ),
    (
        "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n",
        "The disk is full: free 2.5 GB",
    ),
    (
        "ERROR: ... SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]'))\n",
        "set PIP_CERT",
    ),
    (
        "ERROR: Could not install packages due to an OSError: [Errno 13] Permission denied: 'x'\n",
        "a folder of your own",
    ),
    (
        "ERROR: something new\n\n",
        (
            "pip could not install the packages (ERROR: something new); the course is tested with"
            " Python 3.11"
        ),
    ),
    ("", "no reason given"),
]


@pytest.mark.parametrize(
    "said, sentence", PIP_SAID, ids=[sentence[:20] for _, sentence in PIP_SAID]
)
def test_what_pip_says_becomes_a_sentence_with_the_cure(course, said, sentence):
    assert sentence in course.explain(said, "pip could not install the packages")


def test_pip_is_heard_while_it_talks(course, monkeypatch, capfd):
    """run_pip with a stand-in for pip that prints and fails like pip without a network."""
    script = course.ROOT / "pip.py"
    script.write_text(
        "import sys\nprint('Collecting', *sys.argv[1:])\nsys.exit('ERROR: NewConnectionError')"
    )
    monkeypatch.setattr(course, "venv_python", lambda: Path(sys.executable))
    with pytest.raises(course.Trouble, match="connect to the network"):
        course.run_pip("install", "-e", ".")
    heard = capfd.readouterr()
    assert "Collecting install -e ." in heard.out and "NewConnectionError" in heard.err


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


# --- --here ----------------------------------------------------------------------------------


def project_file(course, *dependencies):
    text = f'[project]\nname = "numpy"\ndependencies = {json.dumps(dependencies)}\n'
    text += '[project.optional-dependencies]\ntest = ["pytest>=8", "no-such-tool>=1"]\n'
    (course.ROOT / "pyproject.toml").write_text(text)


def test_here_names_what_is_missing_and_how_to_get_it(course, monkeypatch):
    project_file(
        course,
        "numpy>=1.0",
        "no-such-library>=2.0",
        "pyyaml>=999.1",
        "no-wheel>=1; sys_platform != 'win32'",
    )
    missing = course.missing_here(["test"])
    assert missing[0] == "no-such-library" and missing[1].startswith("pyyaml>=999.1 (has ")
    assert missing[2:] == ["no-wheel", "no-such-tool"]
    with pytest.raises(course.Trouble) as trouble:
        course.require_here(["test"])
    assert f'"{sys.executable}" -m pip install -c constraints.txt -e ".[test]"' in str(
        trouble.value
    )
    monkeypatch.setattr(course.sys, "platform", "win32")
    assert "no-wheel" not in course.missing_here([])


def test_here_uses_this_python_and_installs_nothing(course, pip):
    project_file(course, "numpy>=1.0")
    assert course.python_for([], here=True) == Path(sys.executable)
    assert pip.calls == [] and not course.VENV.exists()


# --- the commands ----------------------------------------------------------------------------


@pytest.fixture
def commands(course, monkeypatch):
    """The commands that course.py would run: (words, extras, working directory)."""
    seen, extras = [], []
    monkeypatch.setattr(
        course, "python_for", lambda wanted, here: extras.append(wanted) or "PYTHON"
    )
    monkeypatch.setattr(
        course,
        "run",
        lambda words, here, cwd=None: seen.append((list(map(str, words)), extras[-1], cwd)) or 7,
    )
    return seen


def test_lab(course, commands):
    (course.ROOT / "notebooks" / "00_start_here.ipynb").touch()
    assert course.main(["lab", "--no-browser", "--ServerApp.password="]) == 7
    words, extras, _ = commands[0]
    assert words[:3] == ["PYTHON", "-m", "jupyterlab"] and extras == []
    assert f"--ServerApp.root_dir={course.ROOT}" in words
    assert "--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb" in words
    assert "--no-browser" in words and "--ServerApp.password=" in words
    assert "--ServerApp.port_retries=0" not in words


def test_lab_checks_the_port_before_it_installs(course, pip, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert course.main(["lab", "--port", port]) == 1
        assert f"Port {port} is taken or not allowed" in capsys.readouterr().err
    for bad in ("--port=99999", "--port=lab", "--port"):
        assert course.main(["lab", bad]) == 1
        assert "expected a number from 1 to 65535" in capsys.readouterr().err
    assert pip.calls == []


def test_lab_passes_a_free_port_on(course, commands):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    assert course.main(["lab", f"--port={port}"]) == 7
    assert f"--port={port}" in commands[0][0] and "--ServerApp.port_retries=0" in commands[0][0]


def arguments_of_pytest(commands):
    words, extras, cwd = commands[-1]
    assert words[:6] == [
        "PYTHON",
        "-m",
        "pytest",
        "--nbval",
        "--nbval-current-env",
        "--nbval-cell-timeout=120",
    ]
    assert extras == ["homework", "test"]
    return words[6:], cwd


def test_test_runs_everything_but_homework_and_checks(course, commands):
    notebooks = course.ROOT / "notebooks"
    for name in ("02_dh.ipynb", "00_start_here.ipynb", "my_02_dh.ipynb"):
        (notebooks / name).touch()
    for folder in ("homework", "checks"):
        (notebooks / folder).mkdir()
        (notebooks / folder / "03_other.ipynb").touch()
    assert course.main(["test", "-q"]) == 7
    lessons = [str(Path("notebooks") / name) for name in ("00_start_here.ipynb", "02_dh.ipynb")]
    assert arguments_of_pytest(commands) == (["-q", "tests", "course_lib", *lessons], course.ROOT)


def test_test_with_paths_runs_just_these(course, commands, monkeypatch, tmp_path):
    (course.ROOT / "tests" / "test_a.py").touch()
    course.main(["test", "tests/test_a.py::test_b", "-x"])
    assert arguments_of_pytest(commands)[0] == ["tests/test_a.py::test_b", "-x"]
    monkeypatch.chdir(course.ROOT / "tests")
    course.main(["test", "test_a.py::test_b"])
    assert arguments_of_pytest(commands)[0] == [
        str(course.ROOT / "tests" / "test_a.py") + "::test_b"
    ]
    monkeypatch.chdir(tmp_path)
    course.main(["test", "-k", "tests"])
    assert arguments_of_pytest(commands)[0] == ["-k", "tests", "tests", "course_lib"]
    course.main(["test", "--ignore", str(course.ROOT / "tests" / "test_a.py")])
    assert arguments_of_pytest(commands)[0][-2:] == ["tests", "course_lib"]


def test_test_full_takes_the_long_tests_too(course, commands):
    course.main(["test", "--full", "-q"])
    assert arguments_of_pytest(commands)[0] == ["-m", "", "-q", "tests", "course_lib"]


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
    assert commands[0] == (["PYTHON", "-m", "course_lib.tools.refresh", "02", "--check"], [], None)
    assert course.main(["homework", "list"]) == 7
    assert commands[1] == (
        ["PYTHON", "-m", "course_lib.tools.homework", "list"],
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
    assert course.run([sys.executable, "-c", script], here=False) == 5
    assert capfd.readouterr().out.split() == ["None", "None", "0"]
    assert course.run([sys.executable, "-c", script], here=True) == 5
    assert capfd.readouterr().out.split() == ["/opt/ros/somewhere", "TkAgg", "0"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM to pass on")
def test_a_stopped_front_door_leaves_no_child():
    child = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    script = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import course;"
        f" sys.exit(course.run([sys.executable, '-c', {child!r}], True))"
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
    test = [sys.executable, str(root / "course.py"), "test", "tests/test_packaging.py"]
    run = subprocess.run(test, cwd=tmp_path, capture_output=True, text=True, timeout=900)
    assert run.returncode == 0, run.stdout + run.stderr
    assert " passed" in run.stdout.splitlines()[-1]
