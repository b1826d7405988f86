"""Write the stubs of a new lesson: pages, checkpoints, homework, tests and rows.

    python3 course.py new 05_inverse_kinematics
    python3 course.py new 05_inverse_kinematics --homework hw05_ik

Nothing that exists is overwritten. Each place where work is missing says TODO and fails a test:
`course.py test` is green again when the lesson is done. The texts lie in stubs/.

Public names: `make`, `Names`.
"""

import argparse
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course_lib.tools import refresh

ROOT = Path(__file__).resolve().parents[2]
STUBS = Path(__file__).resolve().parent / "stubs"
CELL = re.compile(r"^=== (markdown|code) ?(.*)\n((?:(?!^===).*\n?)*)", re.MULTILINE)
DESCRIPTION = __doc__.split("\n")[0]


@dataclass(frozen=True)
class Names:
    """What a new lesson is called: "05_inverse_kinematics" and "hw05_ik"."""

    lesson: str
    homework: str

    @classmethod
    def read(cls, lesson: str, homework: str | None) -> "Names":
        """Check the names that the author typed. Raises ValueError."""
        if not re.fullmatch(r"\d\d_[a-z][a-z0-9_]*", lesson):
            raise ValueError(f"{lesson!r}: expected a name such as 05_inverse_kinematics")
        homework = homework or f"hw{lesson}"
        if not re.fullmatch(rf"hw{lesson[:2]}_[a-z][a-z0-9_]*", homework):
            raise ValueError(f"{homework!r}: expected a name such as hw{lesson[:2]}_{lesson[3:]}")
        return cls(lesson, homework)

    @property
    def number(self) -> str:
        """The lesson's two digits."""
        return self.lesson[:2]


def make(names: Names, root: Path = ROOT) -> list[Path]:
    """Write all stubs below `root` and return the paths of the files that were written or changed.

    Raises ValueError if the lesson or a file of it exists.
    """
    notebooks = root / "notebooks"
    folder = notebooks / "homework" / names.homework
    texts = {
        notebooks / f"{names.lesson}.ipynb": notebook(stub("lesson.txt", names)),
        notebooks / "checks" / f"{names.lesson}.py": stub("checks.txt", names),
        folder / f"{names.homework}.ipynb": notebook(stub("homework.txt", names)),
        folder / "judge.py": stub("judge.txt", names),
        root / "tests" / "lessons" / f"test_lesson{names.number}.py": stub("test.txt", names),
    }
    there = [*notebooks.glob(f"{names.number}_*.ipynb"), *(path for path in texts if path.exists())]
    if there:
        raise ValueError(f"{there[0].relative_to(root)} exists already; nothing was written")
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    readme, glossary = root / "README.md", notebooks / "glossary.md"
    add_row(readme, names)
    add_word(glossary, names)
    return [*texts, readme, glossary, *lead_there(notebooks, names)]


def stub(name: str, names: Names) -> str:
    """Return the text of a file in stubs/ for this lesson."""
    return (STUBS / name).read_text(encoding="utf-8").replace("{n}", names.number)


def notebook(text: str) -> str:
    """Return a notebook as it is stored, from a text of cells: `=== code {metadata}`, source."""
    cells = []
    for kind, metadata, source in CELL.findall(text):
        make_cell = new_code_cell if kind == "code" else new_markdown_cell
        cells.append(make_cell(source.strip("\n"), metadata=json.loads(metadata or "{}")))
    return refresh.dumps(refresh.normalise(new_notebook(cells=cells)))


def lead_there(notebooks: Path, names: Names) -> list[Path]:
    """Link the lesson with its neighbours; return those that changed."""
    number = int(names.number)
    beside = [notebooks.glob(f"{n:02d}_*.ipynb") for n in (number, number - 1, number + 1)]
    found = [path for paths in beside for path in paths]
    return [path for path in found if refresh.refresh(path, seconds=None) and path != found[0]]


def add_row(path: Path, names: Names) -> None:
    """Turn the lesson's planned row of README into one that has work to do, or add a row."""
    text = path.read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[?\d\d · .*$", text, re.MULTILINE)
    planned = [row for row in rows if row.startswith(f"| {names.number} · ")]
    can = planned[0].split(" | ")[1] if planned else "TODO"
    title = f"{names.number} · TODO: its question?"
    row = f"| [{title}](notebooks/{names.lesson}.ipynb) | {can} | TODO | TODO |"
    old, new = (planned[0], row) if planned else (rows[-1], f"{rows[-1]}\n{row}")
    path.write_text(text.replace(old, new), encoding="utf-8", newline="\n")


def add_word(path: Path, names: Names) -> None:
    """Add a word to the glossary that is still to be found."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"(The words of lessons 00 to )\d\d", rf"\g<1>{names.number}", text)
    entry = f"\n### TODO: the words of lesson {names.number}\n\nTODO · TODO\n"
    path.write_text(text + entry, encoding="utf-8", newline="\n")


def main(arguments: list[str] | None = None) -> int:
    """Write the stubs that the command line names and say what to do next."""
    parser = argparse.ArgumentParser(prog="course.py new", description=DESCRIPTION)
    parser.add_argument("lesson", help="number and topic, as in 05_inverse_kinematics")
    parser.add_argument("--homework", help="default: hw and the lesson's name")
    options = parser.parse_args(arguments)
    try:
        names = Names.read(options.lesson, options.homework)
        changed = make(names)
    except ValueError as error:
        parser.error(str(error))
    print("Written or changed, each with TODO where work is missing:")
    print(*(f"  {path.relative_to(ROOT).as_posix()}" for path in changed), sep="\n")
    print(f"Its card {names.number} is in course_lib/plots/course_map.yaml; look whether it fits.")
    print(f"Then write, run `python3 course.py refresh {names.number}`, and test.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
