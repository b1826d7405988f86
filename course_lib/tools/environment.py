"""What does the course need installed, is it there, and if not, how does it get there?

`ensure` makes and keeps the environment in .venv; `require_here` looks at the environment of the
Python that runs it; `requirements` reads what pyproject.toml asks for (the doctor reads it too).
course.py loads this file before anything is installed, so it needs nothing but Python itself.

Public names: `python_for`, `is_ready`, `run`, `end_group`, `requirements`, `Requirement`,
`only_one`, `explain`, `say`, `spoken`, `Trouble`, `Busy`.
"""

from __future__ import annotations  # the doctor must be able to tell an older Python what it lacks

import contextlib
import errno
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
STAMP = "course-stamp.json"  # in .venv: what a finished installation was made from
UNFINISHED = "course-unfinished"  # in .venv while pip is changing it
INSTALL_GB = 2.5  # 1.5 GB stay, the rest is needed while pip unpacks
TESTED_PYTHONS = "3.11 to 3.13"
TICK_SECONDS = 15  # between two words about progress


class Trouble(Exception):
    """Something the user can cure; the message is one sentence that says how."""


class Busy(Trouble):
    """Another process is doing the same thing."""


def say(text: str) -> None:
    """Print a line that is seen at once."""
    print(text, flush=True)


# --- what the course asks for ----------------------------------------------------------------


@dataclass(frozen=True)
class Requirement:
    """One line of pyproject.toml, such as "pin>=3.4; sys_platform != 'win32'"."""

    name: str
    text: str  # without the marker: "pin>=3.4"
    least: tuple[int, ...]  # (3, 4)
    not_on_windows: bool

    @classmethod
    def read(cls, line: str) -> Requirement:
        """Parse a line; the course writes only `name`, `name>=version` and the Windows marker."""
        text, _, marker = (part.strip() for part in line.partition(";"))
        name = re.match(r"[A-Za-z0-9._-]+", text)[0]
        return cls(name, text, numbers(text[len(name) :]), "win32" in marker)

    def is_wanted(self) -> bool:
        """Say whether it is needed on this system."""
        return not (self.not_on_windows and sys.platform == "win32")


def requirements(extras: Sequence[str]) -> list[Requirement]:
    """Return what pyproject.toml asks for, `extras` included. Raises FileNotFoundError."""
    project = read_project()
    further = [project["optional-dependencies"][extra] for extra in extras]
    return [Requirement.read(line) for line in sum(further, project["dependencies"])]


def read_project(folder: Path | None = None) -> dict:
    """Return the table `project` of the course's pyproject.toml. Raises FileNotFoundError."""
    import tomllib  # here, so that an older Python can import this file

    text = ((folder or ROOT) / "pyproject.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["project"]


def numbers(version: str) -> tuple[int, ...]:
    """Return the leading numbers of a version.

    >>> numbers(">=3.11"), numbers("2.4.6rc1"), numbers("")
    ((3, 11), (2, 4, 6), ())
    """
    found = re.match(r"[^0-9]*(\d+(?:\.\d+)*)", version)
    return tuple(map(int, found[1].split("."))) if found else ()


# --- the environment in .venv ----------------------------------------------------------------


def ensure(extras: Sequence[str]) -> Path:
    """Make .venv ready for `extras` unless it is, and return its Python. Raises Trouble."""
    busy = "Another course.py is installing packages: wait until it is done, then start again."
    try:
        if not is_ready(extras):
            with only_one(ROOT / ".venv.lock", busy):
                if not is_ready(extras):  # the other one may just have done it
                    install(extras)
    except PermissionError as error:
        raise Trouble(
            f"You may not write into {ROOT} ({error.strerror}): copy the course into a folder of "
            "your own, or use --here with an environment that has the packages."
        ) from error
    settle(VENV)
    return venv_python()


def is_ready(extras: Sequence[str]) -> bool:
    """Say whether .venv holds the pinned packages, those of `extras` included. Quick."""
    stamp = read_stamp()
    return (
        stamp["fingerprint"] == fingerprint()
        and set(extras) <= set(stamp["extras"])
        and venv_python().exists()
        and not (VENV / UNFINISHED).exists()
        and set(stamp["packages"]) <= packages()
    )


def venv_python() -> Path:
    """Return the path of the Python in .venv."""
    return VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def read_stamp() -> dict:
    """Return the stamp of the last finished installation; one of nothing if it can't be read."""
    nothing = {"fingerprint": "", "extras": [], "packages": []}
    with contextlib.suppress(OSError, ValueError, TypeError):
        stamp = nothing | json.loads((VENV / STAMP).read_text(encoding="utf-8"))
        if all(type(stamp[key]) is type(nothing[key]) for key in nothing):
            return stamp
    return nothing


def fingerprint() -> str:
    """Return a hash of all that an installation depends on: packages, Python and place."""
    digest = hashlib.sha256(f"{venv_version()} {ROOT}".encode())
    for name in ("pyproject.toml", "constraints.txt"):
        digest.update((ROOT / name).read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()


def venv_version() -> tuple[int, ...]:
    """Return the Python version of .venv as (major, minor); (0, 0) where there is none."""
    with contextlib.suppress(OSError):
        text = (VENV / "pyvenv.cfg").read_text(encoding="utf-8")
        if found := re.search(r"^version\w*\s*=\s*(\d+)\.(\d+)", text, re.MULTILINE):
            return tuple(map(int, found.groups()))
    return (0, 0)


def installed_names() -> set[str]:
    """Return the names in the site-packages folder of .venv; every change by pip shows here."""
    folders = [VENV / "Lib" / "site-packages", *VENV.glob("lib/python*/site-packages")]
    return {path.name for folder in folders if folder.is_dir() for path in folder.iterdir()}


def packages() -> set[str]:
    """Return what is installed in .venv, without versions: "numpy", but not "numpy.libs"."""
    names = {name.removesuffix(".dist-info").partition("-")[0] for name in installed_names()}
    return {name for name in names if "." not in name and not name.startswith("_")}


def install(extras: Sequence[str]) -> None:
    """Make, repair or extend .venv, and install the course with `extras` into it."""
    start = time.monotonic()
    extras = sorted({*extras, *read_stamp()["extras"]})
    remove_broken_venv()
    if not VENV.exists():
        check_disk()
        say("Making the environment in .venv (once; a few minutes and 1.5 GB).")
        say("Step 1 of 2: an empty environment ...")
        make_venv()
        say("Step 2 of 2: getting and unpacking the packages; pip says what it does ...")
    else:
        say("Adding to the environment in .venv what it lacks ...")
    before = installed_names()
    (VENV / UNFINISHED).touch()
    try:
        with progress(start):
            run_pip("install", "-c", "constraints.txt", "-e", with_extras(extras))
    except BaseException:
        if installed_names() == before:  # pip gave up before it changed anything
            (VENV / UNFINISHED).unlink()
        raise
    stamp = {"fingerprint": fingerprint(), "extras": extras, "packages": sorted(packages())}
    (VENV / STAMP).write_text(json.dumps(stamp), encoding="utf-8")
    (VENV / UNFINISHED).unlink()
    say(f"The environment is ready after {spoken(time.monotonic() - start, 'min', 's')}.")


def with_extras(extras: Sequence[str]) -> str:
    """Return what pip is to install: "." or ".[homework,test]"."""
    return f".[{','.join(extras)}]" if extras else "."


@contextlib.contextmanager
def progress(start: float) -> Iterator[None]:
    """Say from time to time how many packages are unpacked: pip is silent for minutes there."""
    ended = threading.Event()
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").count("==")

    def tick() -> None:
        told = -1
        while not ended.wait(TICK_SECONDS):
            count = sum(name.endswith(".dist-info") for name in installed_names())
            doing = f"{count} of about {pins} packages unpacked" if count != told else "still busy"
            say(f"  ... {spoken(time.monotonic() - start, 'min', 's')}: {doing}")
            told = count

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def spoken(time: float, sixty: str, unit: str) -> str:
    """Return a duration in words; `time` is in `unit`, sixty of which make one `sixty`.

    >>> spoken(190.4, "min", "s"), spoken(41.3, "h", "min")
    ('3 min 10 s', '41 min')
    """
    whole, rest = divmod(round(time), 60)
    return f"{whole} {sixty} {rest} {unit}" if whole else f"{rest} {unit}"


def remove_broken_venv() -> None:
    """Remove .venv if it can't be used, and say so. Raises Trouble if it isn't an environment."""
    if not os.path.lexists(VENV):
        return
    if VENV.is_symlink() or not (VENV / "pyvenv.cfg").is_file():
        raise Trouble(f"{VENV} is no environment made by Python: move it away, then start again.")
    why = what_is_broken()
    if not why:
        return
    if Path(sys.prefix).resolve() == VENV:
        raise Trouble(
            f"The environment in .venv must be made anew ({why}): start course.py with another "
            "Python than the one in it."
        )
    say(f"Removing the environment in .venv: {why}.")
    try:
        shutil.rmtree(VENV)
    except OSError as error:
        raise Trouble(
            f"Could not remove {VENV} ({error.strerror}): close JupyterLab and all that uses it, "
            "then start again."
        ) from error


def what_is_broken() -> str:
    """Return in words why .venv can't be used, or an empty text."""
    if (VENV / UNFINISHED).exists():
        return "its installation was interrupted"
    if venv_version() < (3, 11):
        return "it was made by a Python older than 3.11"
    with contextlib.suppress(OSError):
        probe = [str(venv_python()), "-m", "pip", "--version"]
        if subprocess.run(probe, capture_output=True, env=variables()).returncode == 0:
            return ""
    return "its Python or its pip does not start"


def check_disk() -> None:
    """Raise Trouble if there is too little room for the environment."""
    free = shutil.disk_usage(ROOT).free / 1e9
    if free < INSTALL_GB:
        raise Trouble(
            f"The disk is nearly full ({free:.1f} GB free in {ROOT}): free {INSTALL_GB} GB, "
            "then start again."
        )


def make_venv() -> None:
    """Make an empty environment in .venv. Raises Trouble."""
    if not (find_spec("venv") and find_spec("ensurepip")):
        name = "python%d.%d-venv" % sys.version_info[:2]
        raise Trouble(
            "This Python comes without venv and pip: install them (Debian and Ubuntu: "
            f"sudo apt install {name}), then start again."
        )
    command = [sys.executable, "-m", "venv", str(VENV)]
    made = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if made.returncode:
        raise Trouble(explain(made.stdout + made.stderr, "Python could not make .venv"))


def run_pip(*arguments: str) -> None:
    """Run pip of .venv in the course's folder, all that it says visible. Raises Trouble."""
    command = [str(venv_python()), "-m", "pip", *arguments]
    settings = {**variables(), "PIP_USER": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    said = []
    errors = {"stderr": subprocess.PIPE, "text": True, "errors": "replace"}
    with subprocess.Popen(command, cwd=ROOT, env=settings, **errors) as pip:
        for line in pip.stderr:
            sys.stderr.write(line)
            said.append(line)
    if pip.returncode:
        raise Trouble(explain("".join(said), "pip could not install the packages"))


def variables() -> dict[str, str]:
    """Return the variables for a process in .venv, as if it were activated."""
    found = dict(os.environ)
    # A sourced ROS puts its own packages, built for another NumPy, first in PYTHONPATH.
    for name in ("PYTHONPATH", "PYTHONHOME", "MPLBACKEND"):
        found.pop(name, None)
    found["VIRTUAL_ENV"] = str(VENV)
    found["PATH"] = os.pathsep.join([str(venv_python().parent), found.get("PATH", "")])
    return found


# --- JupyterLab's settings -------------------------------------------------------------------

# They make a page that was run, saved and closed show its pictures again, links meet their
# headings, the glossary open as text, and nobody be asked about news.
JUPYTER = Path(__file__).resolve().parent / "jupyter"  # one folder of JUPYTER_CONFIG_PATH
SETTINGS = JUPYTER / "labconfig" / "default_setting_overrides.json"


def settings_file(prefix: Path) -> Path:
    """Return where JupyterLab in the environment `prefix` looks for the course's settings."""
    folder = prefix / "share" / "jupyter" / "lab" / "settings" / "overrides.d"
    return folder / "robot-arm-course.json"


def settle(prefix: Path) -> bool:
    """Put JupyterLab's settings into the environment `prefix`; return whether they are there.

    A user's own settings come first, and those of other environments stay as they are.
    """
    wanted, file = SETTINGS.read_bytes(), settings_file(prefix)
    try:
        if not file.is_file() or file.read_bytes() != wanted:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(wanted)
    except OSError:
        return False
    return True


# --- the environment of this Python (--here) -------------------------------------------------


def require_here(extras: Sequence[str]) -> Path:
    """Return this Python if its environment has all packages; otherwise raise Trouble."""
    missing = missing_here(extras)
    if missing:
        raise Trouble(
            f"This environment lacks {', '.join(missing)}: go to the folder {ROOT}, run\n"
            f'    "{sys.executable}" -m pip install -c constraints.txt -e "{with_extras(extras)}"\n'
            "and start again."
        )
    return Path(sys.executable)


def missing_here(extras: Sequence[str]) -> list[str]:
    """Return what this environment lacks, as "nbval" or "numpy>=2.1 (has 1.26.4)"."""
    own = Requirement.read(read_project()["name"])
    # What an earlier installation left beside course.py does not count.
    places = [place for place in sys.path if Path(place).resolve() != ROOT]
    missing = []
    for wanted in filter(Requirement.is_wanted, [*requirements(extras), own]):
        found = next(iter(metadata.distributions(name=wanted.name, path=places)), None)
        if found is None:
            missing.append(wanted.name)
        elif numbers(found.version) < wanted.least:
            missing.append(f"{wanted.text} (has {found.version})")
    return missing


def python_for(extras: Sequence[str], here: bool) -> Path:
    """Return the Python that has the packages of `extras`: of .venv, or this one with --here."""
    return require_here(extras) if here else ensure(extras)


# --- only one at a time ----------------------------------------------------------------------


@contextlib.contextmanager
def only_one(path: Path, busy: str, seconds: float = 0) -> Iterator[None]:
    """Hold the lock file `path`, waiting for it at most `seconds`.

    Raises Busy, with the sentence `busy`, if another process holds it, OSError if the file can't
    be made. A file system without locks has to do without.
    """
    end = time.monotonic() + seconds
    with open(path, "a") as file:
        while not lock(file):
            if time.monotonic() >= end:
                raise Busy(busy)
            time.sleep(0.1)
        yield


def lock(file) -> bool:
    """Lock the open file until it is closed; return False if another process has it."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
    return True


# --- running ---------------------------------------------------------------------------------

# How to start a process so that `end_group` can end all that it starts.
OWN_GROUP = {"start_new_session": True}
if os.name == "nt":
    OWN_GROUP = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}


def run(command: Sequence[str | Path], here: bool, cwd: Path | None = None) -> int:
    """Run `command` to its end, pass signals on, and return its exit status."""
    settings = dict(os.environ) if here else variables()
    settings["PYTHONHASHSEED"] = "0"  # sets print in the same order as in the stored lessons
    child = subprocess.Popen([str(word) for word in command], cwd=cwd, env=settings)
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    while True:
        try:
            status = child.wait()
            return status if status >= 0 else 128 - status
        except KeyboardInterrupt:
            continue  # the child got it too and says what follows


def end_group(process: subprocess.Popen, patience: float = 0) -> None:
    """End a process that was started with OWN_GROUP, and all that it started.

    With some `patience` [s] it is asked first, and has that time to end by itself.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.name == "nt":
            tree = ["taskkill", "/F", "/T", "/PID", str(process.pid)]
            subprocess.run(tree, capture_output=True)
        else:
            if patience:
                os.killpg(process.pid, signal.SIGTERM)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(patience)
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


def explain(said: str, otherwise: str) -> str:
    """Turn the output of Python or pip into one sentence with the cure, one of cures.toml."""
    import tomllib  # here, so that an older Python can import this file

    file = Path(__file__).with_name("cures.toml")
    facts = {"gb": INSTALL_GB, "tested": TESTED_PYTHONS, "python": "%d.%d" % sys.version_info[:2]}
    for cure in tomllib.loads(file.read_text(encoding="utf-8"))["cure"]:
        if found := re.search(cure["said"], said):
            return cure["sentence"].format(**facts, **found.groupdict())
    last = ([line.strip() for line in said.splitlines() if line.strip()] or ["no reason given"])[-1]
    return f"{otherwise} ({last}); the course is tested with Python {TESTED_PYTHONS}."
