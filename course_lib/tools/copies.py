"""A learner's own copies of the lessons: made, renewed, never overwritten.

`course.py lab` calls `update` at each start. The copies lie in my_lessons/, which git ignores:

- a lesson that is not there yet is copied, and so are the glossary and the pictures beside it; a
  homework is copied as the learner's version, without solutions;
- when a lesson changed in the course, a copy whose cells nobody edited is renewed (what they
  printed is lost, a run brings it back);
- an edited copy stays as it is, and the changed lesson comes beside it as NAME.new.ipynb.

Other files in the folder are left alone. What was delivered is noted in .delivered.json there; if
that file is lost or damaged, every copy that differs from the course counts as edited.

Nothing here needs more than Python itself: course.py runs it before it starts JupyterLab.

Public names: `update`, `folder_for`, `learners_version`, `replace`, `FIRST`.
"""

import copy
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from course_lib.tools.clock import text_of

NAME = "my_lessons"
STATE = ".delivered.json"
FIRST = "00_start_here.ipynb"
PICTURES = {".png", ".svg", ".jpg", ".jpeg", ".gif"}
STUB = "# YOUR CODE HERE\n..."
BROKEN = (ValueError, LookupError, TypeError, AttributeError)  # what a damaged notebook raises
TEXT_STUB = "YOUR ANSWER HERE"
SOLUTION = re.compile(r"^([ \t]*)### BEGIN SOLUTION.*?### END SOLUTION[^\n]*$", re.DOTALL | re.M)


@dataclass
class Delivery:
    """What the folder got of one file.

    upstream: hash of the file in the course when it was last looked at;
    versions: hashes of the contents of all versions that were delivered.
    """

    upstream: str = ""
    versions: list[str] = field(default_factory=list)


def folder_for(course: Path) -> Path:
    """Return the folder of the copies: in the course's own, or at home where that is read-only."""
    place = course / NAME
    if place.is_dir() or os.access(course, os.W_OK):
        return place
    return Path.home() / NAME


def update(course: Path, folder: Path) -> list[str]:
    """Make the copies, or bring them up to date, and return what to tell in sentences.

    course: the course's folder; folder: that of the copies. Raises OSError if it can't be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    told: list[str] = []
    state = _read_state(folder / STATE, told)
    known = copy.deepcopy(state)
    new = 0
    for name, path in _upstream(course):
        try:
            content = path.read_bytes()
            if name.startswith("homework/") and path.suffix == ".ipynb":
                content = learners_version(content)
            new += _deliver(folder, name, content, state.setdefault(name, Delivery()), told)
        except OSError as error:
            told.append(f"{name} could not be copied ({error.strerror or error}).")
        except BROKEN:
            told.append(f"{path} can't be read as a notebook, so nobody gets a copy of it.")
    if state != known:
        rows = {name: vars(state[name]) for name in sorted(state)}
        replace(folder / STATE, json.dumps(rows).encode())
    if new:
        told.insert(0, f"Your own copies of the course's pages are in {folder}: {new} new.")
    return told


# --- what the course has ---------------------------------------------------------------------


def _upstream(course: Path) -> Iterator[tuple[str, Path]]:
    """(name in the folder, path in the course) of all that a learner gets a copy of."""
    notebooks = course / "notebooks"
    lessons = [*notebooks.glob("[0-9][0-9]_*.ipynb"), *notebooks.glob("*.md")]
    homework = notebooks.glob("homework/hw[0-9][0-9]_*/hw[0-9][0-9]_*.ipynb")
    pictures = (path for path in notebooks.rglob("*") if path.suffix.lower() in PICTURES)
    for path in sorted([*lessons, *homework, *pictures]):
        if ".ipynb_checkpoints" not in path.parts:
            yield path.relative_to(notebooks).as_posix(), path


def learners_version(source: bytes) -> bytes:
    """Return a homework notebook without solutions and outputs, as nbgrader makes it."""
    notebook = json.loads(source)
    for cell in notebook["cells"]:
        form = cell["metadata"].get("nbgrader", {})
        if form.get("solution"):
            cell["source"] = _without_solution(cell)
        if form.get("locked"):
            cell["metadata"].update(editable=bool(form.get("solution")), deletable=False)
        elif form:
            cell["metadata"]["deletable"] = False
        if cell["cell_type"] == "code":
            cell.update(outputs=[], execution_count=None)
    return (json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()


def _without_solution(cell: dict) -> str:
    """The source of a solution cell with a stub in place of each region, or of all."""
    source = text_of(cell)
    stub = STUB if cell["cell_type"] == "code" else TEXT_STUB

    def stub_for(found: re.Match) -> str:
        return "\n".join(found[1] + line for line in stub.splitlines())

    stripped, count = SOLUTION.subn(stub_for, source)
    return stripped if count else stub


# --- one file --------------------------------------------------------------------------------


def _deliver(folder: Path, name: str, content: bytes, delivery: Delivery, told: list[str]) -> bool:
    """Bring one file up to date and add what to tell. Return whether the copy is a first one."""
    path, upstream, version = folder / name, _hash(content), _version(name, content)
    is_new = not os.path.lexists(path)
    if is_new:
        path.parent.mkdir(parents=True, exist_ok=True)
        _create(path, content)
    else:
        mine = _version_at(path)
        if mine is None:
            told.append(
                f"{path} can't be read as a notebook. It stays; rename or delete it, and the next"
                " start brings a fresh copy."
            )
        if delivery.upstream == upstream:
            return False
        edited = mine not in (*delivery.versions, version)
        if not edited and path.read_bytes() != content:
            replace(path, content)
            told.append(f"{name} was renewed: it changed in the course, and you had not edited it.")
        elif edited and version not in delivery.versions:
            beside = _beside(path, content, delivery)
            told.append(
                f"{name} changed in the course. Your copy has changes of yours and stays; the new"
                f" version is beside it: {beside.name}."
            )
    delivery.upstream = upstream
    if version not in delivery.versions:
        delivery.versions.append(version)
    return is_new


def _beside(path: Path, content: bytes, delivery: Delivery) -> Path:
    """Write a fresh copy beside an edited one and return its path.

    An older fresh copy is replaced if nobody edited it, else the next free number is taken.
    """
    for n in range(1, 1000):
        number = "" if n == 1 else f"-{n}"
        beside = path.with_name(f"{path.stem}.new{number}{path.suffix}")
        if not os.path.lexists(beside):
            _create(beside, content)
            return beside
        if _version_at(beside) in delivery.versions:
            replace(beside, content)
            return beside
    raise OSError(0, "there are too many fresh copies")


def _version_at(path: Path) -> str | None:
    """The hash of what is in a copy, or None if it can't be read."""
    try:
        return _version(path.name, path.read_bytes())
    except (OSError, *BROKEN):
        return None


def _version(name: str, content: bytes) -> str:
    """A hash of what an author wrote: of a notebook its cells' types and sources, no outputs.

    Raises one of BROKEN for a notebook that is none.
    """
    if not name.endswith(".ipynb"):
        return _hash(content)
    cells = [(cell["cell_type"], text_of(cell)) for cell in json.loads(content)["cells"]]
    return _hash(json.dumps(cells).encode())


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


# --- files -----------------------------------------------------------------------------------


def _read_state(path: Path, told: list[str]) -> dict[str, Delivery]:
    """What was delivered; empty where nothing was yet, or where the file is damaged."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        return {name: Delivery(str(r["upstream"]), list(r["versions"])) for name, r in rows.items()}
    except FileNotFoundError:
        return {}
    except (OSError, *BROKEN):
        told.append(f"{path} was damaged and is written anew; your copies stay as they are.")
        return {}


def _create(path: Path, content: bytes) -> None:
    """Write a file that must not be there yet; never overwrites."""
    with open(path, "xb") as file:
        try:
            file.write(content)
        except BaseException:
            path.unlink()
            raise


def replace(path: Path, content: bytes) -> None:
    """Replace a file in one step: readers see the old or the new one, never half."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with open(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, path.stat().st_mode & 0o777 if path.exists() else 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
