"""The environment in .venv and that of --here: made, kept, repaired; each failure has its cure."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from course_lib.tools import environment as the_module

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """The module as if it lay in an empty project in a folder with a blank."""
    root = tmp_path / "a folder"
    root.mkdir()
    for name in ("pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, root)
    monkeypatch.setattr(the_module, "ROOT", root)
    monkeypatch.setattr(the_module, "VENV", root / ".venv")
    return the_module


class FakePip:
    """Stands for venv and pip: makes the files that they make, counts the calls."""

    def __init__(self, environment, monkeypatch):
        self.environment, self.calls, self.made, self.installs = environment, [], 0, ["numpy"]
        self.error, self.seconds = None, 0
        monkeypatch.setattr(environment, "make_venv", self.make_venv)
        monkeypatch.setattr(environment, "run_pip", self.run_pip)
        monkeypatch.setattr(
            environment.subprocess, "run", lambda *a, **k: subprocess.CompletedProcess(a, 0)
        )

    def packages(self):
        folder = "Lib/site-packages" if os.name == "nt" else "lib/python3.12/site-packages"
        return self.environment.VENV / folder

    def make_venv(self):
        self.made += 1
        python = self.environment.venv_python()
        python.parent.mkdir(parents=True)
        python.touch()
        self.packages().mkdir(parents=True)
        (self.environment.VENV / "pyvenv.cfg").write_text("home = /somewhere\nversion = 3.12.1\n")

    def run_pip(self, *arguments):
        self.calls.append(arguments)
        for name in self.installs:
            (self.packages() / name).mkdir(exist_ok=True)
        time.sleep(self.seconds)
        if self.error:
            raise self.error


@pytest.fixture
def pip(environment, monkeypatch):
    return FakePip(environment, monkeypatch)


# --- making and keeping the environment ------------------------------------------------------


def test_first_call_installs_and_the_next_does_nothing(environment, pip, capsys):
    python = environment.ensure([])
    assert python == environment.venv_python()
    assert pip.calls == [("install", "-c", "constraints.txt", "-e", ".")]
    assert "Making the environment" in capsys.readouterr().out
    environment.ensure([])
    assert len(pip.calls) == 1 and pip.made == 1
    assert capsys.readouterr().out == ""


def test_extras_are_added_and_kept(environment, pip):
    environment.ensure([])
    environment.ensure(["homework", "test"])
    assert pip.calls[1][-1] == ".[homework,test]" and pip.made == 1
    environment.ensure([])
    environment.ensure(["test"])
    assert len(pip.calls) == 2
    (environment.ROOT / "constraints.txt").write_text("numpy==2.1\n")
    environment.ensure([])
    assert pip.calls[2][-1] == ".[homework,test]"


def test_new_pins_a_new_place_or_another_python_install_again(
    environment, pip, monkeypatch, tmp_path
):
    environment.ensure([])
    (environment.ROOT / "pyproject.toml").write_text("[project]\n")
    environment.ensure([])
    (environment.VENV / "pyvenv.cfg").write_text("version = 3.13.0\n")
    environment.ensure([])
    environment.ROOT.rename(tmp_path / "elsewhere")
    monkeypatch.setattr(environment, "ROOT", tmp_path / "elsewhere")
    monkeypatch.setattr(environment, "VENV", tmp_path / "elsewhere" / ".venv")
    environment.ensure([])
    assert len(pip.calls) == 4 and pip.made == 1


def test_line_ends_of_a_windows_clone_change_nothing(environment, pip):
    environment.ensure([])
    file = environment.ROOT / "constraints.txt"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    environment.ensure([])
    assert len(pip.calls) == 1


def test_an_environment_made_by_hand_is_used_as_it_is(environment, pip):
    pip.make_venv()
    environment.ensure([])
    assert pip.made == 1 and len(pip.calls) == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("killed")])
def test_an_interrupted_installation_is_made_anew(environment, pip, capsys, error):
    pip.error = error
    with pytest.raises(type(error)):
        environment.ensure([])
    assert not environment.is_ready([])
    pip.error = None
    environment.ensure([])
    assert pip.made == 2 and environment.is_ready([])
    assert (
        "Removing the environment in .venv: its installation was interrupted."
        in capsys.readouterr().out
    )


def test_pip_that_gives_up_before_it_changes_anything_costs_nothing(environment, pip):
    environment.ensure([])
    file = environment.ROOT / "constraints.txt"
    pins = file.read_text()
    file.write_text("numpy==2.1\n")
    pip.error = environment.Trouble("no network")
    with pytest.raises(environment.Trouble):
        environment.ensure([])
    file.write_text(pins)
    environment.ensure([])  # ready as before, pip is not asked
    assert pip.made == 1 and len(pip.calls) == 2


@pytest.mark.parametrize(
    "config, works, why",
    [
        ("version = 3.10.4", True, "made by a Python older than 3.11"),
        ("version = 3.12.1", False, "its Python or its pip does not start"),
        ("", True, "made by a Python older than 3.11"),
    ],
)
def test_a_broken_environment_is_made_anew(
    environment, pip, monkeypatch, capsys, config, works, why
):
    pip.make_venv()
    (environment.VENV / "pyvenv.cfg").write_text(config)
    result = subprocess.CompletedProcess([], 0 if works else 1)
    monkeypatch.setattr(environment.subprocess, "run", lambda *a, **k: result)
    environment.ensure([])
    assert pip.made == 2 and why in capsys.readouterr().out


def test_an_environment_whose_python_is_gone_is_made_anew(environment, pip, monkeypatch, capsys):
    environment.ensure([])
    environment.venv_python().unlink()

    def not_there(*_, **__):
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(environment.subprocess, "run", not_there)
    assert not environment.is_ready([])
    environment.ensure([])
    assert pip.made == 2 and "its Python or its pip does not start" in capsys.readouterr().out


def test_what_is_no_environment_is_never_removed(environment, pip):
    environment.VENV.mkdir()
    (environment.VENV / "thesis.txt").write_text("three years of work")
    with pytest.raises(environment.Trouble, match="is no environment made by Python: move it away"):
        environment.ensure([])
    assert (environment.VENV / "thesis.txt").exists() and pip.calls == []


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_a_link_is_never_followed_and_removed(environment, pip, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "pyvenv.cfg").write_text("version = 3.9.0")
    environment.VENV.symlink_to(tmp_path / "other")
    with pytest.raises(environment.Trouble, match="move it away"):
        environment.ensure([])
    assert (tmp_path / "other" / "pyvenv.cfg").exists()


def test_it_does_not_saw_off_the_branch_it_sits_on(environment, pip, monkeypatch):
    pip.make_venv()
    (environment.VENV / environment.UNFINISHED).touch()
    monkeypatch.setattr(environment.sys, "prefix", str(environment.VENV))
    with pytest.raises(environment.Trouble, match="with another Python than the one in it"):
        environment.ensure([])
    assert environment.VENV.exists()


def test_two_installers_do_not_meet(environment, pip):
    with environment.only_one(environment.ROOT / ".venv.lock", "busy"):
        with pytest.raises(
            environment.Trouble, match="Another course.py is installing packages: wait"
        ):
            environment.ensure([])
    environment.ensure([])


def test_the_second_waits_for_the_first_as_long_as_it_is_told(environment):
    path, started = environment.ROOT / ".lock", time.monotonic()
    with environment.only_one(path, "busy"):
        with pytest.raises(environment.Busy, match="busy"):
            with environment.only_one(path, "busy", seconds=0.3):
                pass
    assert time.monotonic() - started >= 0.3
    with environment.only_one(path, "busy", seconds=5):
        pass


@pytest.mark.parametrize("text", ["[]", "", '{"fingerprint": 1, "extras": []}', '{"extras": []}'])
def test_a_damaged_stamp_installs_again(environment, pip, text):
    environment.ensure([])
    (environment.VENV / environment.STAMP).write_text(text)
    environment.ensure([])
    assert len(pip.calls) == 2 and pip.made == 1 and environment.is_ready([])


def test_a_package_that_was_removed_comes_back(environment, pip):
    pip.installs = ["numpy", "numpy-2.4.6.dist-info", "numpy.libs", "scipy"]
    environment.ensure([])
    (pip.packages() / "numpy.libs").rmdir()  # an upgrade may do without
    (pip.packages() / "numpy-2.4.6.dist-info").rename(pip.packages() / "numpy-2.5.0.dist-info")
    assert environment.is_ready([])
    (pip.packages() / "scipy").rmdir()
    assert not environment.is_ready([])
    environment.ensure([])
    assert (pip.packages() / "scipy").is_dir() and pip.made == 1


def test_each_stage_is_told_and_the_silent_minutes_are_not_silent(
    environment, pip, monkeypatch, capsys
):
    monkeypatch.setattr(environment, "TICK_SECONDS", 0.02)
    pip.seconds = 0.2
    pip.installs = ["numpy", "numpy-2.4.6.dist-info"]
    environment.ensure([])
    said = capsys.readouterr().out
    stages = ["Step 1 of 2", "Step 2 of 2", "1 of about ", "still busy", "is ready after"]
    places = [said.find(stage) for stage in stages]
    assert -1 not in places and places == sorted(places), said


def test_jupyterlab_gets_the_courses_settings(environment, pip):
    environment.ensure([])
    file = environment.VENV / "share/jupyter/lab/settings/overrides.d/robot-arm-course.json"
    settings = json.loads(file.read_text())
    assert settings["@jupyter-widgets/jupyterlab-manager:plugin"] == {"saveState": True}
    assert settings["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"
    file.write_text("{}")  # of an older course
    environment.ensure([])
    assert json.loads(file.read_text()) == settings
    assert len(pip.calls) == 1


def test_jupyterlab_finds_the_settings_and_knows_their_names(environment, tmp_path):
    """JupyterLab's own schemas have each setting, and its own function reads our file."""
    from jupyterlab.commands import get_app_dir
    from jupyterlab_server.settings_utils import _get_overrides

    assert environment.settle(tmp_path)
    found, error = _get_overrides(str(tmp_path / "share/jupyter/lab/settings"))
    assert not error
    folders = [
        Path(get_app_dir()) / "schemas",
        *Path(sys.prefix).glob("share/jupyter/labextensions/*/*/schemas"),
    ]
    for plugin, settings in json.loads(environment.SETTINGS.read_text()).items():
        extension, _, name = plugin.partition(":")
        schemas = [folder / extension / f"{name}.json" for folder in folders]
        schema = json.loads(next(path for path in schemas if path.is_file()).read_text())
        assert set(settings) <= set(schema["properties"])
        assert settings.items() <= found[plugin].items()


def test_a_read_only_environment_has_no_settings(environment, tmp_path):
    (tmp_path / "share").write_text("in the way")
    assert not environment.settle(tmp_path)


# --- failures and their cures ----------------------------------------------------------------


def test_a_python_without_venv(environment, monkeypatch):
    monkeypatch.setattr(
        environment, "find_spec", lambda name: None if name == "ensurepip" else True
    )
    with pytest.raises(
        environment.Trouble, match=r"without venv and pip: .*sudo apt install python3\.\d+-venv"
    ):
        environment.ensure([])


@pytest.mark.skipif(os.name == "nt", reason="a colon is no part of a file's name on Windows")
def test_python_says_why_it_can_make_no_environment(environment, monkeypatch, tmp_path):
    monkeypatch.setattr(environment, "VENV", tmp_path / "with:colon" / ".venv")
    with pytest.raises(environment.Trouble, match="Python could not make .venv .*PATH separator"):
        environment.make_venv()


def test_a_nearly_full_disk(environment, monkeypatch):
    usage = shutil.disk_usage(environment.ROOT)._replace(free=int(0.4e9))
    monkeypatch.setattr(environment.shutil, "disk_usage", lambda path: usage)
    with pytest.raises(
        environment.Trouble, match=r"nearly full \(0\.4 GB free in .*\): free 2\.5 GB"
    ):
        environment.ensure([])


def test_a_folder_that_can_not_be_written(environment, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(
        environment.Trouble,
        match="may not write into .*: copy the course into a folder of your own",
    ):
        environment.ensure([])


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
    ("[Errno 2] No usable temporary directory found in ['/x']", "set TMPDIR"),
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
def test_what_pip_says_becomes_a_sentence_with_the_cure(environment, said, sentence):
    assert sentence in environment.explain(said, "pip could not install the packages")


def test_pip_is_heard_while_it_talks(environment, monkeypatch, capfd):
    """run_pip with a stand-in for pip that prints and fails like pip without a network."""
    script = environment.ROOT / "pip.py"
    script.write_text(
        "import sys\nprint('Collecting', *sys.argv[1:])\nsys.exit('ERROR: NewConnectionError')"
    )
    monkeypatch.setattr(environment, "venv_python", lambda: Path(sys.executable))
    with pytest.raises(environment.Trouble, match="connect to the network"):
        environment.run_pip("install", "-e", ".")
    heard = capfd.readouterr()
    assert "Collecting install -e ." in heard.out and "NewConnectionError" in heard.err


# --- --here ----------------------------------------------------------------------------------


def project_file(environment, *dependencies):
    text = f'[project]\nname = "numpy"\ndependencies = {json.dumps(dependencies)}\n'
    text += '[project.optional-dependencies]\ntest = ["pytest>=8", "no-such-tool>=1"]\n'
    (environment.ROOT / "pyproject.toml").write_text(text)


def test_here_names_what_is_missing_and_how_to_get_it(environment, monkeypatch):
    project_file(
        environment,
        "numpy>=1.0",
        "no-such-library>=2.0",
        "pyyaml>=999.1",
        "no-wheel>=1; sys_platform != 'win32'",
    )
    missing = environment.missing_here(["test"])
    assert missing[0] == "no-such-library" and missing[1].startswith("pyyaml>=999.1 (has ")
    assert missing[2:] == ["no-wheel", "no-such-tool"]
    with pytest.raises(environment.Trouble) as trouble:
        environment.require_here(["test"])
    assert f'"{sys.executable}" -m pip install -c constraints.txt -e ".[test]"' in str(
        trouble.value
    )
    monkeypatch.setattr(environment.sys, "platform", "win32")
    assert "no-wheel" not in environment.missing_here([])


def test_here_uses_this_python_and_installs_nothing(environment, pip):
    project_file(environment, "numpy>=1.0")
    assert environment.python_for([], here=True) == Path(sys.executable)
    assert pip.calls == [] and not environment.VENV.exists()


# --- what the course asks for ----------------------------------------------------------------


@pytest.mark.parametrize("line", ["numpy>=2.1", "pin>=3.4; sys_platform != 'win32'", "nbval"])
def test_requirements_are_read_as_packaging_reads_them(line):
    ours, theirs = the_module.Requirement.read(line), Requirement(line)
    assert (ours.name, ours.text) == (theirs.name, theirs.name + str(theirs.specifier))
    least = [specifier.version for specifier in theirs.specifier]
    assert ".".join(map(str, ours.least)) == "".join(least)
    wanted = theirs.marker is None or theirs.marker.evaluate({"sys_platform": "win32"})
    assert ours.not_on_windows != wanted
