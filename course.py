#!/usr/bin/env python3
"""The front door of the robot arm course.

    python3 course.py lab                  open the lessons in JupyterLab
    python3 course.py test                 prove that everything in them is true
    python3 course.py refresh 02           run lesson 02 again and store its outputs
    python3 course.py --help               all subcommands

The first call makes an environment in the folder .venv and installs the tested versions of all
packages into it; later calls start at once and need no network (`homework` and `test` add a few
packages of their own the first time). With --here a subcommand uses
the environment of the Python that runs it (conda, JupyterHub) and installs nothing.
"""

# Standard library only. Older Pythons must be able to parse this file up to the next lines.
import sys

if sys.version_info < (3, 11):
    sys.exit(
        "The course needs Python 3.11 or newer; this is Python %d.%d. Install a newer one "
        "and start it by its name, for example: python3.12 course.py lab" % sys.version_info[:2]
    )

import contextlib
import errno
import hashlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tomllib
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
FIRST_LESSON = "notebooks/00_start_here.ipynb"
INSTALL_GB = 2.5  # 1.5 GB stay, the rest is needed while pip unpacks
TESTED_PYTHONS = "3.11 to 3.13"

# Subcommand -> (extras it needs, what it is for). Each of these runs course_lib.tools.<name>;
# `lab` and `test` have functions of their own below.
TOOLS = {
    "refresh": ([], "run lessons again and store their outputs"),
    "homework": (["homework"], "list, release and grade the homework"),
    "check-urdf": ([], "find the faults in URDF files"),
    "bench": (["homework", "test"], "measure speed side by side with other libraries"),
}


class Trouble(Exception):
    """Something the user can cure; the message is one sentence that says how."""


# --- the environment in .venv ----------------------------------------------------------------


def venv_python():
    """Return the path of the Python in .venv."""
    return VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def stamp_file():
    """Return the path of the file that says what a finished installation was made from."""
    return VENV / "course-stamp.json"


def unfinished_file():
    """Return the path of the file that lies in .venv while pip is changing it."""
    return VENV / "course-unfinished"


def venv_version():
    """Return the Python version of .venv as (major, minor), or None where there is none."""
    try:
        text = (VENV / "pyvenv.cfg").read_text(encoding="utf-8")
    except OSError:
        return None
    found = re.search(r"^version\w*\s*=\s*(\d+)\.(\d+)", text, re.MULTILINE)
    return tuple(map(int, found.groups())) if found else None


def fingerprint():
    """Return a hash of all that an installation depends on: packages, Python and place."""
    digest = hashlib.sha256(f"{venv_version()} {ROOT}".encode())
    for name in ("pyproject.toml", "constraints.txt"):
        digest.update((ROOT / name).read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()


def read_stamp():
    """Return the stamp of the last finished installation as a dict, or None."""
    try:
        return json.loads(stamp_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def is_ready(extras):
    """Say whether .venv holds the pinned packages, those of `extras` included. Quick."""
    stamp = read_stamp()
    return (
        stamp is not None
        and stamp["fingerprint"] == fingerprint()
        and set(extras) <= set(stamp["extras"])
        and venv_python().exists()
        and not unfinished_file().exists()
    )


def ensure_environment(extras):
    """Make .venv ready for `extras` unless it is, and return its Python."""
    if not is_ready(extras):
        with only_one_installer():
            if not is_ready(extras):  # the other one may just have done it
                install(extras)
    return venv_python()


def install(extras):
    """Make, repair or extend .venv, and install the course with `extras` into it."""
    stamp = read_stamp() or {"extras": []}
    extras = sorted({*extras, *stamp["extras"]})
    remove_broken_venv()
    if not VENV.exists():
        check_disk()
        say("Making the environment in .venv (once; a few minutes and 1.5 GB) ...")
        make_venv()
    else:
        say("Adding to the environment in .venv what it lacks ...")
    before = installed_names()
    unfinished_file().touch()
    try:
        run_pip("install", "-c", "constraints.txt", "-e", with_extras(extras))
    except BaseException:
        if installed_names() == before:  # pip gave up before it changed anything
            unfinished_file().unlink()
        raise
    switch_news_off()
    stamp = {"fingerprint": fingerprint(), "extras": extras}
    stamp_file().write_text(json.dumps(stamp), encoding="utf-8")
    unfinished_file().unlink()


def with_extras(extras):
    """Return what pip is to install: "." or ".[homework,test]"."""
    return f".[{','.join(extras)}]" if extras else "."


def installed_names():
    """Return the names in the site-packages folder of .venv; every change by pip shows here."""
    folders = [VENV / "Lib" / "site-packages", *VENV.glob("lib/python*/site-packages")]
    return {path.name for folder in folders if folder.is_dir() for path in folder.iterdir()}


def remove_broken_venv():
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


def what_is_broken():
    """Return in words why .venv can't be used, or an empty text."""
    if unfinished_file().exists():
        return "its installation was interrupted"
    if (venv_version() or (0, 0)) < (3, 11):
        return "it was made by a Python older than 3.11"
    try:
        probe = [str(venv_python()), "-m", "pip", "--version"]
        works = subprocess.run(probe, capture_output=True, env=venv_variables()).returncode == 0
    except OSError:
        works = False
    return "" if works else "its Python or its pip does not start"


def check_disk():
    """Raise Trouble if there is too little room for the environment."""
    free = shutil.disk_usage(ROOT).free / 1e9
    if free < INSTALL_GB:
        raise Trouble(
            f"The disk is nearly full ({free:.1f} GB free in {ROOT}): free {INSTALL_GB} GB, "
            "then start again."
        )


def make_venv():
    """Make an empty environment in .venv."""
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


def run_pip(*arguments):
    """Run pip of .venv in the course's folder, all that it says visible. Raises Trouble."""
    command = [str(venv_python()), "-m", "pip", *arguments]
    variables = {**venv_variables(), "PIP_USER": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    said = []
    errors = {"stderr": subprocess.PIPE, "text": True, "errors": "replace"}
    with subprocess.Popen(command, cwd=ROOT, env=variables, **errors) as pip:
        for line in pip.stderr:
            sys.stderr.write(line)
            said.append(line)
    if pip.returncode:
        raise Trouble(explain("".join(said), "pip could not install the packages"))


# What Python or pip say -> what it means and what cures it; the first that fits is taken.
CURES = [
    (
        r"No space left on device|Errno 28|not enough space",
        (
            "The disk is full: free {gb} GB in the course's folder and in the folder for temporary "
            "files, then start again."
        ),
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED|SSLError",
        (
            "pip does not trust the certificate of its server: ask those who run your network for "
            "the right one, set PIP_CERT to its file, then start again."
        ),
    ),
    (
        r"NewConnectionError|NameResolutionError|ConnectTimeout|ReadTimeout|ConnectionResetError"
        r"|Network is unreachable|getaddrinfo failed|ProxyError|Connection refused|Max retries",
        (
            "pip can't reach its server, and the packages are not all here: connect to the network "
            "(behind a proxy set HTTPS_PROXY), then start again."
        ),
    ),
    (
        r"No matching distribution found for (?P<name>\S+)",
        (
            "pip finds no package {name} for this Python {python}: check the network and where pip "
            "looks (pip config list); the course is tested with Python {tested}."
        ),
    ),
    (
        r"Permission denied|Read-only file system|Access is denied",
        (
            "Python may not write into the course's folder: copy the course into a folder of your "
            "own, then start again."
        ),
    ),
]


def explain(said, otherwise):
    """Turn the output of Python or pip into one sentence with the cure."""
    for pattern, cure in CURES:
        found = re.search(pattern, said)
        if found:
            facts = {"gb": INSTALL_GB, "tested": TESTED_PYTHONS, **found.groupdict()}
            return cure.format(python="%d.%d" % sys.version_info[:2], **facts)
    last = ([line.strip() for line in said.splitlines() if line.strip()] or ["no reason given"])[-1]
    return f"{otherwise} ({last}); the course is tested with Python {TESTED_PYTHONS}."


def switch_news_off():
    """Answer JupyterLab's question about news in .venv, not in the user's own settings."""
    folder = VENV / "share" / "jupyter" / "lab" / "settings"
    folder.mkdir(parents=True, exist_ok=True)
    settings = {
        "@jupyterlab/apputils-extension:notification": {
            "fetchNews": "false",
            "checkForUpdates": False,
        }
    }
    (folder / "overrides.json").write_text(json.dumps(settings, indent=2), encoding="utf-8")


@contextlib.contextmanager
def only_one_installer():
    """Hold a lock while .venv is being changed. Raises Trouble if another process holds it."""
    try:
        file = open(ROOT / ".venv.lock", "a")
    except OSError as error:
        raise Trouble(
            f"You may not write into {ROOT} ({error.strerror}): copy the course into a folder of "
            "your own, or use --here with an environment that has the packages."
        ) from error
    with file:
        try:
            lock(file)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
                raise Trouble(
                    "Another course.py is installing packages: wait until it is done, "
                    "then start again."
                ) from error
        yield  # a file system without locks has to do without


def lock(file):
    """Lock the open file until it is closed; raise OSError if another process has it."""
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


# --- the environment of this Python (--here) -------------------------------------------------


def require_here(extras):
    """Return this Python if its environment has all packages; otherwise raise Trouble."""
    missing = missing_here(extras)
    if missing:
        raise Trouble(
            f"This environment lacks {', '.join(missing)}: go to the folder {ROOT}, run\n"
            f'    "{sys.executable}" -m pip install -c constraints.txt -e "{with_extras(extras)}"\n'
            "and start again."
        )
    return Path(sys.executable)


def missing_here(extras):
    """Return what this environment lacks, as texts such as "nbval" or "numpy>=2.1 (has 1.26.4)"."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], project["name"]]
    for extra in extras:
        wanted += project["optional-dependencies"][extra]
    # What an earlier installation left beside this file does not count.
    places = [place for place in sys.path if Path(place).resolve() != ROOT]
    missing = []
    for requirement in wanted:
        requirement, _, marker = requirement.partition(";")
        if "win32" in marker and sys.platform == "win32":
            continue
        name, _, least = requirement.strip().partition(">=")
        found = next(iter(metadata.distributions(name=name, path=places)), None)
        if found is None:
            missing.append(name)
        elif least and numbers(found.version) < numbers(least):
            missing.append(f"{name}>={least} (has {found.version})")
    return missing


def numbers(version):
    """Return the leading numbers of a version: "2.4.6rc1" -> [2, 4, 6]."""
    return [int(part) for part in re.match(r"\d+(\.\d+)*", version)[0].split(".")]


# --- subcommands -----------------------------------------------------------------------------


def python_for(extras, here):
    """Return the Python that has the packages of `extras`: of .venv, or this one with --here."""
    return require_here(extras) if here else ensure_environment(extras)


def lab(arguments, here):
    """python3 course.py lab [--no-browser] [--port N] [--here] [JupyterLab's own arguments]

    Opens the lessons in JupyterLab. Stop it with Ctrl-C twice.
    """
    ours = [
        f"--ServerApp.root_dir={ROOT}",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    port = value_of("--port", arguments)
    if port is not None:
        check_port(port)
        ours.append("--ServerApp.port_retries=0")
    if hasattr(os, "geteuid") and os.geteuid() == 0 and "--allow-root" not in arguments:
        ours.append("--allow-root")  # in containers; the server listens to this machine only
    if (ROOT / FIRST_LESSON).exists():
        ours.append(f"--LabApp.default_url=/lab/tree/{FIRST_LESSON}")
    python = python_for([], here)
    return run([python, "-m", "jupyterlab", *arguments, *ours], here)


def check_port(text):
    """Raise Trouble unless `text` is the number of a port that is free."""
    if not (text.isdecimal() and 0 < int(text) < 65536):
        raise Trouble(
            f"--port {text}: expected a number from 1 to 65535.".replace(
                "--port :", "--port needs a value:"
            )
        )
    with socket.socket() as probe:
        if os.name != "nt":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", int(text)))
        except OSError as error:
            raise Trouble(
                f"Port {text} is taken or not allowed ({error.strerror}): choose another number, "
                "or leave --port out and JupyterLab finds a free one."
            ) from error


def test(arguments, here):
    """python3 course.py test [--full] [--here] [pytest's own arguments]

    Runs all tests, notebooks included; with paths only these, with --full also the long ones.
    """
    if "--full" in arguments:
        arguments = ["-m", "", *(word for word in arguments if word != "--full")]
    arguments = [from_root(word, before) for before, word in zip(["", *arguments], arguments)]
    if not any(is_path(word, before) for before, word in zip(["", *arguments], arguments)):
        lessons = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
        arguments += ["tests", "course_lib", *(str(path.relative_to(ROOT)) for path in lessons)]
    python = python_for(["homework", "test"], here)
    nbval = ["--nbval", "--nbval-current-env", "--nbval-cell-timeout=120"]
    return run([python, "-m", "pytest", *nbval, *arguments], here, cwd=ROOT)


def is_path(word, before):
    """Say whether pytest's argument `word`, which follows `before`, names a file or folder."""
    takes_value = before in (
        "-k",
        "-m",
        "-p",
        "-c",
        "-o",
        "-n",
        "-r",
        "-W",
        "--ignore",
        "--deselect",
        "--rootdir",
        "--basetemp",
        "--confcutdir",
        "--junitxml",
        "--junit-xml",
    )
    return not takes_value and not word.startswith("-") and (ROOT / word.split("::")[0]).exists()


def from_root(word, before):
    """Return a path given from the user's folder as one that holds from the course's folder."""
    path, colons, test = word.partition("::")
    if is_path(str(Path.cwd() / path), before) and not word.startswith("-"):
        return os.path.abspath(path) + colons + test
    return word


def tool(name):
    """Return the function of the subcommand `name` of TOOLS."""
    extras, _ = TOOLS[name]
    module = f"course_lib.tools.{name.replace('-', '_')}"

    def run_tool(arguments, here):
        return run([python_for(extras, here), "-m", module, *arguments], here)

    return run_tool


def value_of(option, arguments):
    """Return the value of `option` ("--port N" or "--port=N") in `arguments`, or None."""
    for word, following in zip(arguments, [*arguments[1:], ""]):
        if word == option:
            return following
        if word.startswith(option + "="):
            return word.partition("=")[2]
    return None


# --- running ---------------------------------------------------------------------------------


def run(command, here, cwd=None):
    """Run `command` to its end, pass signals on, and return its exit status."""
    variables = dict(os.environ) if here else venv_variables()
    variables["PYTHONHASHSEED"] = "0"  # sets print in the same order as in the stored lessons
    child = subprocess.Popen([str(word) for word in command], cwd=cwd, env=variables)
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    while True:
        try:
            status = child.wait()
            return status if status >= 0 else 128 - status
        except KeyboardInterrupt:
            continue  # the child got it too and says what follows


def venv_variables():
    """Return the variables for a process in .venv, as if it were activated."""
    variables = dict(os.environ)
    # A sourced ROS puts its own packages, built for another NumPy, first in PYTHONPATH.
    for name in ("PYTHONPATH", "PYTHONHOME", "MPLBACKEND"):
        variables.pop(name, None)
    variables["VIRTUAL_ENV"] = str(VENV)
    variables["PATH"] = os.pathsep.join([str(venv_python().parent), variables.get("PATH", "")])
    return variables


def say(text):
    print(text, flush=True)


COMMANDS = {"lab": lab, "test": test, **{name: tool(name) for name in TOOLS}}


def usage():
    lines = ["lab         open the lessons in JupyterLab", "test        run all tests"]
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
    command = COMMANDS[name]
    if command.__doc__ and {"-h", "--help"} & set(rest):
        say(command.__doc__)
        return 0
    here = "--here" in rest
    if name in TOOLS and {"-h", "--help"} & set(rest) and not here and not is_ready(TOOLS[name][0]):
        say(
            f"{name}: {TOOLS[name][1]}. Its options are shown once its packages are installed,"
            f" which the first `python3 course.py {name}` does."
        )
        return 0
    try:
        return command([word for word in rest if word != "--here"], here)
    except Trouble as trouble:
        print(f"course.py: {trouble}", file=sys.stderr)
    except KeyboardInterrupt:
        print("course.py: stopped; start it again at any time.", file=sys.stderr)
        return 130
    except OSError as error:
        print(f"course.py: {explain(str(error), 'The operating system refused')}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
