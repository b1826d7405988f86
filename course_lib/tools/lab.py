"""How does JupyterLab open the lessons?  `course.py lab` asks this file; standard library only.

Public names: `jupyterlab_arguments`, `check_port`, `own_copies`, `settle_here`,
`runs_already`.
"""

import argparse
import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from course_lib.tools import copies, environment
from course_lib.tools.environment import Busy, Trouble, say

COPY_SECONDS = 20  # to wait for another start that is making the copies


def jupyterlab_arguments(arguments: Sequence[str], folder: Path) -> list[str]:
    """Return the user's own arguments of JupyterLab and ours; it opens `folder`."""
    ours = [
        f"--ServerApp.root_dir={folder}",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    if port_of(arguments) is not None:
        ours.append("--ServerApp.port_retries=0")
    if hasattr(os, "geteuid") and os.geteuid() == 0 and "--allow-root" not in arguments:
        ours.append("--allow-root")  # in containers; the server listens to this machine only
    if (folder / copies.FIRST).exists():
        ours.append(f"--LabApp.default_url=/lab/tree/{copies.FIRST}")
    return [*arguments, *ours]


def settle_here() -> None:
    """Give the JupyterLab of this Python the course's settings, for --here.

    Where its environment is read-only, the JupyterLab that this process starts gets them.
    """
    if not environment.settle(Path(sys.prefix)):
        places = [os.environ.get("JUPYTER_CONFIG_PATH"), str(environment.JUPYTER)]
        os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, places))


def runs_already(folder: Path) -> bool:
    """Say whether this is a session of a JupyterHub, and if so, what to open in it."""
    if "JUPYTERHUB_SERVICE_PREFIX" not in os.environ:
        return False
    say(f"JupyterLab is running already: open {folder / copies.FIRST} in its file browser.")
    file = environment.settings_file(Path(sys.prefix))
    if not file.is_file():
        say("So that a page which you close and open again shows its pictures, those who run the")
        say(f"hub copy {environment.SETTINGS} to {file}.")
    return True


def own_copies() -> Path:
    """Bring the learner's own copies up to date, say what was done, and return their folder."""
    folder = copies.folder_for(environment.ROOT)
    folder.mkdir(parents=True, exist_ok=True)
    busy = "Another start of the course is updating your copies; they are opened as they are."
    try:
        with environment.only_one(folder / ".lock", busy, COPY_SECONDS):
            told = copies.update(environment.ROOT, folder)
    except Busy as error:
        told = [str(error)]
    for sentence in told:
        say(sentence)
    return folder


def check_port(arguments: Sequence[str]) -> None:
    """Raise Trouble unless --port, where it is given, has the number of a port that is free."""
    text = port_of(arguments)
    if text is None:
        return
    if not text:
        raise Trouble("--port needs a value: expected a number from 1 to 65535.")
    if not (text.isdecimal() and 0 < int(text) < 65536):
        raise Trouble(f"--port {text}: expected a number from 1 to 65535.")
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


def port_of(arguments: Sequence[str]) -> str | None:
    """Return the value of --port in JupyterLab's arguments, "" without one, None without --port."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--port", nargs="?", const="")
    return parser.parse_known_args(arguments)[0].port
