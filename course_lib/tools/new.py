"""Write the stubs of a new lesson: pages, checkpoints, homework, tests and rows.

    python3 course.py new 05_inverse_kinematics
    python3 course.py new 05_inverse_kinematics --homework hw05_ik

Nothing that exists is overwritten. Each place where work is missing says TODO and fails a test:
`course.py test` is green again when the lesson is done.

Public names: `make`, `Names`.
"""

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course_lib.tools import refresh

ROOT = Path(__file__).resolve().parents[2]
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
        notebooks / f"{names.lesson}.ipynb": refresh.dumps(lesson(names)),
        notebooks / "checks" / f"{names.lesson}.py": exercises(names, "checkpoint", ""),
        folder / f"{names.homework}.ipynb": refresh.dumps(homework(names)),
        folder / "judge.py": exercises(names, "exercise", "points=1, "),
        root / "tests" / "lessons" / f"test_lesson{names.number}.py": TEST.format(n=names.number),
    }
    there = [*notebooks.glob(f"{names.number}_*.ipynb"), *(path for path in texts if path.exists())]
    if there:
        raise ValueError(f"{there[0].relative_to(root)} exists already; nothing was written")
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    changed = [
        *texts,
        add_row(root / "README.md", names),
        add_word(notebooks / "glossary.md", names),
    ]
    return changed + lead_there(notebooks, names)


def lead_there(notebooks: Path, names: Names) -> list[Path]:
    """Link the lesson with its neighbours; return those that changed."""
    number = int(names.number)
    beside = [notebooks.glob(f"{n:02d}_*.ipynb") for n in (number, number - 1, number + 1)]
    found = [path for paths in beside for path in paths]
    return [path for path in found if refresh.refresh(path, seconds=None) and path != found[0]]


# --- rows ------------------------------------------------------------------------------------


def add_row(path: Path, names: Names) -> Path:
    """Turn the lesson's planned row of README into one that has work to do, or add a row."""
    text = path.read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[?\d\d · .*$", text, re.MULTILINE)
    planned = [row for row in rows if row.startswith(f"| {names.number} · ")]
    can = planned[0].split(" | ")[1] if planned else "TODO"
    row = f"| [{title(names)}](notebooks/{names.lesson}.ipynb) | {can} | TODO | TODO |"
    text = (
        text.replace(planned[0], row) if planned else text.replace(rows[-1], f"{rows[-1]}\n{row}")
    )
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def add_word(path: Path, names: Names) -> Path:
    """Add a word to the glossary that is still to be found."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"(The words of lessons 00 to )\d\d", rf"\g<1>{names.number}", text)
    entry = f"\n### TODO: the words of lesson {names.number}\n\nTODO · TODO\n"
    path.write_text(text + entry, encoding="utf-8", newline="\n")
    return path


def title(names: Names) -> str:
    """The title of the stub."""
    return f"{names.number} · TODO: its question?"


# --- pages -----------------------------------------------------------------------------------

FIRST = """# {title}

**Promise.** TODO: one sentence.

**Time.** TODO minutes.

**Needs.** TODO: which lessons.

**You will be able to**

- TODO: a goal that can be tested"""
PREDICT = """## Predict

<div class="alert alert-info">

TODO: a question about an arm that the reader can already move. Which step of the one job is it?

</div>"""
QUESTIONS = "### Move it yourself: TODO\n\n1. TODO: a question"
ANSWERS = "<details><summary>Answers</summary>\n\n1. TODO\n</details>"
EXPLORER = """raise NotImplementedError("TODO: explore(build, draw, title, …)")"""
CHECKPOINT = """<div class="alert alert-info">

**Checkpoint {letter}.** TODO: a task that no cell of the lesson solves.

</div>"""
ANSWER = """def todo_{lower}(x): ...


check("{number}.todo_{lower}", todo_{lower})"""
SOLUTION = """<details><summary>Solution</summary>

```python
def todo_{lower}(x):
    return TODO
```
</details>"""
PART = """# {letter} · TODO: name of the part

## TODO: a question?

TODO: derive."""
KEY = """raise NotImplementedError("TODO: run and verify against an outside engine")"""
RECAP = "TODO: what the part was about, in three lines.\n\n- TODO\n- TODO\n- TODO"
SUMMARY = """## Summary

| formula | frame | unit | in course_lib | elsewhere |
|---|---|---|---|---|
| TODO | | | | |

**What next.** TODO.

**References.** TODO."""


def lesson(names: Names) -> nbformat.NotebookNode:
    """The stub of a lesson: all sections of the form, in order."""
    cells = [
        text(FIRST.format(title=title(names))),
        code("from course_lib.check import check"),
        text(PREDICT),
        *explorer(),
        *part("A", names),
        text(RECAP),
        *part("B", names),
        *explorer(),
        text(RECAP),
        text("# C · Put to the test\n\n## Claim check\n\nTODO: what is often said, measured."),
        code(KEY),
        text("## Clinic\n\nTODO: symptom, likely cause, how to check, cure."),
        code(KEY),
        text("## Checkpoints"),
        *checkpoint("C", names),
        text(SUMMARY),
    ]
    return refresh.normalise(new_notebook(cells=cells))


def explorer() -> list:
    """The cells of one explorer: questions, picture, folded answers."""
    return [text(QUESTIONS), code(EXPLORER), text(ANSWERS)]


def part(letter: str, names: Names) -> list:
    """The cells of one part, its checkpoint included."""
    return [text(PART.format(letter=letter)), code(KEY), *checkpoint(letter, names)]


def checkpoint(letter: str, names: Names) -> list:
    """The cells of one checkpoint: what to do, the empty answer, the folded solution."""
    words = {"letter": letter, "lower": letter.lower(), "number": names.number}
    return [
        text(CHECKPOINT.format(**words)),
        code(ANSWER.format(**words)),
        text(SOLUTION.format(**words)),
    ]


def homework(names: Names) -> nbformat.NotebookNode:
    """The stub of a homework in nbgrader's form, with one function."""
    key = f"hw{names.number}.todo_a"
    solution = (
        'def todo_a(x):\n    ### BEGIN SOLUTION\n    raise NotImplementedError("TODO")\n'
        "    ### END SOLUTION"
    )
    cells = [
        text(f"# Homework {names.number}: TODO\n\nTODO: what is built, and from which lesson."),
        graded("from course_lib.check import check", "imports", locked=True),
        text("## 1. TODO\n\nTODO: the task."),
        graded(solution, "todo_a", solution=True),
        graded(f'check("{key}", todo_a)', "check_todo_a", locked=True, grade=True, points=1),
        text("## What you can do now\n\n- TODO"),
    ]
    return refresh.normalise(new_notebook(cells=cells))


def text(source: str) -> nbformat.NotebookNode:
    """A cell of prose."""
    return new_markdown_cell(source)


def code(source: str) -> nbformat.NotebookNode:
    """A code cell that was never run."""
    return new_code_cell(source)


def graded(source: str, grade_id: str, **form) -> nbformat.NotebookNode:
    """A code cell with nbgrader's metadata."""
    plain = {"grade": False, "locked": False, "solution": False, "task": False}
    metadata = {**plain, "schema_version": 3, "grade_id": grade_id, **form}
    return new_code_cell(source, metadata={"nbgrader": metadata})


# --- Python files ----------------------------------------------------------------------------

EXERCISES = '''"""{what}s of {where}: TODO."""

from course_lib.check import Exercise


def todo_cases(rng):
    raise NotImplementedError("TODO: argument tuples, the smallest telling case first")


def todo(x):
    raise NotImplementedError("TODO: the truth, from an outside engine where there is one")


EXERCISES = [
{rows}
]
'''
TEST = '''"""Lesson {n}: what the common tests of lessons don't see."""


def test_lesson_{n}():
    raise NotImplementedError("TODO: what is special in lesson {n}; or delete this file")
'''


def exercises(names: Names, what: str, points: str) -> str:
    """The file of the checkpoints A to C, or of the one exercise of the homework."""
    letters, where = ("abc", f"lesson {names.number}")
    if points:
        letters, where = ("a", f"homework {names.number}")
    rows = [
        f'    Exercise("todo_{letter}", {points}cases=todo_cases, truth=todo),'
        for letter in letters
    ]
    return EXERCISES.format(what=what.capitalize(), where=where, rows="\n".join(rows))


# --- command line ----------------------------------------------------------------------------


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
    print(f"Its card {names.number} is in course_lib/plots/course_map.py; look whether it fits.")
    print(f"Then write, run `python3 course.py refresh {names.number}`, and test.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
