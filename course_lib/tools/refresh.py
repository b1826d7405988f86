"""Re-execute lessons and store them so that the same input gives the same bytes.

    python3 course.py refresh                 every lesson
    python3 course.py refresh 02 04           some of them: number, name or path
    python3 course.py refresh --check         say what would change, write nothing
    python3 course.py refresh --pages         run nothing: only links, contents and minutes

A lesson runs in a fresh kernel in its own folder, with a time limit per cell. If a cell fails
or stalls, it is named and the stored notebook stays as it was. What leads from page to page
(`course_lib.tools.pages`) is written anew each time.

Public names: `refresh`, `execute`, `normalise`, `dumps`, `find_lessons`, `CellProblem`.
"""

# ruff: noqa: E402 -- the line below must come before nbformat is imported
import argparse
import base64
import os
import re
import struct
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from queue import Empty

# jsonschema, when it finds this module, builds a grammar of web addresses that no notebook needs:
# 1 to 3 s. None in sys.modules means "not installed".
sys.modules.setdefault("rfc3987_syntax", None)

import nbformat
from jupyter_client import AsyncKernelClient, AsyncKernelManager
from jupyter_client.channels import AsyncZMQSocketChannel
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from traitlets import Type

from course_lib.tools import copies, pages

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
CELL_SECONDS = 120

KEPT_CELL_METADATA = {"tags", "jupyter", "nbgrader", "deletable", "editable"}
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
LANGUAGE = {"file_extension": ".py", "mimetype": "text/x-python", "name": "python"}
LANGUAGE |= {"pygments_lexer": "ipython3"}
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
RANDOM_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{6,32}")
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
PNG_VOLATILE = {b"tEXt", b"zTXt", b"iTXt", b"tIME"}


class CellProblem(RuntimeError):
    """A cell failed, stalled or killed its kernel; the message names it."""


def find_lessons(names: Sequence[str] = (), folder: str | Path = NOTEBOOKS) -> list[Path]:
    """Return the paths of the lessons in `names`: a number ("02"), a name or a path.

    Without names: all lessons `NN_topic.ipynb` of `folder`, in order.
    Raises ValueError for a name that fits no lesson.
    """
    lessons = sorted(Path(folder).glob("[0-9][0-9]_*.ipynb"))
    return [_find_one(name, lessons) for name in names] or lessons


def _find_one(name, lessons):
    path = Path(name)
    if path.suffix == ".ipynb" and path.is_file():
        return path
    for lesson in lessons:
        if path.name in (lesson.name, lesson.stem) or name.zfill(2) == lesson.name[:2]:
            return lesson
    known = ", ".join(lesson.stem for lesson in lessons) or "none yet"
    raise ValueError(f"lesson {name!r}: expected a number, a name or a path; lessons are: {known}")


# --- run -------------------------------------------------------------------------------------


class _PollingChannel(AsyncZMQSocketChannel):
    """A channel that looks at its socket again every quarter second.

    A single long poll can miss a message and stall for ever (nbclient issue 312).
    """

    async def get_msg(self, timeout=None):
        deadline = None if timeout is None else time.monotonic() + timeout
        while not await self.socket.poll(250):
            if deadline is not None and time.monotonic() > deadline:
                raise Empty
        return await self._recv()


class _PollingClient(AsyncKernelClient):
    shell_channel_class = Type(_PollingChannel)
    iopub_channel_class = Type(_PollingChannel)
    stdin_channel_class = Type(_PollingChannel)
    control_channel_class = Type(_PollingChannel)


class _KernelManager(AsyncKernelManager):
    """Starts this environment's own Python, whatever kernels the user has installed."""

    client_factory = Type(_PollingClient)

    def _kernel_spec_manager_default(self):
        return KernelSpecManager(kernel_dirs=[])


def execute(notebook: NotebookNode, folder: str | Path, seconds: float = CELL_SECONDS) -> None:
    """Run all cells of `notebook` in place, in a fresh kernel with working directory `folder`.

    seconds: time limit per cell [s]. Raises CellProblem.
    """
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    client = NotebookClient(
        notebook,
        timeout=seconds,
        kernel_name="python3",
        kernel_manager_class=_KernelManager,
        shutdown_kernel="immediate",
        extra_arguments=["--log-level=ERROR"],  # no line about TCP for every kernel
        resources={"metadata": {"path": str(folder)}},
    )
    running = []
    client.on_cell_start = lambda cell, cell_index: running.append(cell_index)
    try:
        # Sets and dicts of strings print in the same order in every run.
        client.execute(env={**os.environ, "PYTHONHASHSEED": "0"})
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        index = running[-1] if running else 0
        first = (notebook.cells[index].source.strip().splitlines() or [""])[0].strip()
        # counted from 1, markdown cells included
        raise CellProblem(f"cell {index + 1} ({first}): {_reason(error, seconds)}") from error


def _reason(error, seconds):
    if isinstance(error, CellExecutionError):
        return f"{error.ename}: {error.evalue}".strip().splitlines()[0]
    if isinstance(error, DeadKernelError):
        return "its kernel died"
    return f"no answer within {seconds} s (time limit per cell)"


# --- store -----------------------------------------------------------------------------------


def normalise(notebook: NotebookNode) -> NotebookNode:
    """Remove from `notebook`, in place, what differs between two runs of the same cells."""
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": LANGUAGE})
    _fix_ids(notebook.cells)
    count = 0
    for cell in notebook.cells:
        kept = KEPT_CELL_METADATA & set(cell.metadata)
        cell.metadata = nbformat.from_dict({key: cell.metadata[key] for key in kept})
        if cell.cell_type == "code":
            ran = cell.execution_count is not None
            count += ran
            cell.execution_count = count if ran else None
            cell.outputs = _normal_outputs(cell.outputs, cell.execution_count)
    return notebook


def _fix_ids(cells):
    """Keep the ids that an author chose; name the others by position (`cell-07`)."""
    chosen = set()
    for cell in cells:
        name = cell.get("id", "")
        keep = name and name not in chosen and not RANDOM_ID.fullmatch(name)
        cell["id"] = name if keep else ""
        chosen.add(cell["id"])
    for number, cell in enumerate(cells, 1):
        if not cell["id"]:
            names = (f"cell-{number:02d}{suffix}" for suffix in ("", *"bcdefghijklmnopqrstuvwxyz"))
            cell["id"] = next(name for name in names if name not in chosen)
            chosen.add(cell["id"])


def _normal_outputs(outputs, count):
    normal = []
    for output in outputs:
        data = output.get("data", {})
        data.pop(WIDGET_VIEW, None)  # its model id is random
        if "data" in output and not data:
            continue
        if "image/png" in data:
            data["image/png"] = _plain_png(data["image/png"])
        if "execution_count" in output:
            output.execution_count = count
        if normal and normal[-1].get("name", "") == output.get("name"):  # pieces of one stream
            normal[-1].text += output.text
        else:
            normal.append(output)
    return normal


def _plain_png(text):
    """Return the base64 PNG `text` without its text and time chunks, in one line."""
    data = base64.b64decode(text)
    if not data.startswith(PNG_SIGNATURE):
        return text
    chunks, at = [PNG_SIGNATURE], len(PNG_SIGNATURE)
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        end = at + 12 + length
        if data[at + 4 : at + 8] not in PNG_VOLATILE:
            chunks.append(data[at:end])
        at = end
    return base64.b64encode(b"".join(chunks)).decode("ascii")


def dumps(notebook: NotebookNode) -> str:
    """Return the text of the stored file: nbformat's own layout, one newline at the end."""
    return nbformat.writes(notebook, version=nbformat.NO_CONVERT).rstrip("\n") + "\n"


def refresh(path: str | Path, seconds: float | None = CELL_SECONDS, write: bool = True) -> bool:
    """Re-execute the notebook at `path` and store it. Return whether its bytes changed.

    seconds: time limit per cell [s], None runs nothing; write=False leaves the file alone.
    Raises CellProblem when a cell fails or stalls, ValueError when the file is no notebook or a
    part of it does not begin at the top of a cell.
    """
    path = Path(path)
    before = path.read_bytes()
    try:
        notebook = nbformat.reads(before.decode("utf-8"), as_version=4)
    except Exception as error:
        raise ValueError(f"{path.name}: not a notebook that can be read ({error})") from error
    if seconds is not None:
        execute(notebook, path.parent, seconds)
    normalise(notebook)
    if re.match(r"\d\d_", path.name) and notebook.cells:
        pages.make(notebook, pages.surroundings(path))
    after = dumps(notebook).encode("utf-8")
    changed = after != before
    if changed and write:
        copies.replace(path, after)
    return changed


def main(arguments: list[str] | None = None) -> int:
    """Refresh the lessons that the command line names; return the exit status."""
    parser = argparse.ArgumentParser(prog="course.py refresh", description=__doc__.split("\n")[0])
    parser.add_argument("lesson", nargs="*", help="number, name or path; default: all lessons")
    parser.add_argument("--check", action="store_true", help="say what would change, write nothing")
    parser.add_argument("--pages", action="store_true", help="run nothing: only links and contents")
    limit = "time limit per cell (default: %(default)s)"
    parser.add_argument("--seconds", type=int, default=CELL_SECONDS, help=limit)
    options = parser.parse_args(arguments)
    try:
        paths = find_lessons(options.lesson)
    except ValueError as error:
        parser.error(str(error))
    failed = stale = 0
    for path in paths:
        print(f"{path.name} ... ", end="", flush=True)
        start = time.monotonic()
        try:
            seconds = None if options.pages else options.seconds
            changed = refresh(path, seconds, write=not options.check)
        except (CellProblem, ValueError) as problem:
            failed += 1
            print(f"FAILED, left as it was\n  {path.name}: {problem}")
            continue
        stale += changed
        word = ("would change" if options.check else "stored") if changed else "unchanged"
        print(f"{word} ({time.monotonic() - start:.0f} s)")
    if failed:
        print(f"{failed} of {len(paths)} lessons failed")
    return int(bool(failed or (options.check and stale)))


if __name__ == "__main__":
    sys.exit(main())
