"""`git diff` of a notebook shows sources and what cells printed, no pictures and no JSON."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.tools import notebook_text

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "course_lib" / "tools" / "notebook_text.py"


def notebook(number):
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": [f"{number} mm\n"]},
        {"output_type": "display_data", "data": {"image/png": "iVBOR", "text/plain": "A line"}},
        {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": ["\x1b[31m"]},
    ]
    code = {
        "cell_type": "code",
        "id": "cell-02",
        "metadata": {"tags": ["needs-pin"], "jupyter": {"source_hidden": True}},
        "source": ["a = 1\n", f"print({number}, 'mm')"],
        "outputs": outputs,
    }
    prose = {"cell_type": "markdown", "id": "cell-01", "metadata": {}, "source": "# 02 · Größe"}
    return json.dumps({"cells": [prose, code]})


def test_a_notebook_as_text():
    assert notebook_text.as_text(notebook(5)).splitlines() == [
        "--- markdown cell-01 ---",
        "# 02 · Größe",
        "",
        "--- code cell-02 needs-pin folded ---",
        "a = 1",
        "print(5, 'mm')",
        "> 5 mm",
        "> A line",
        "> (image/png)",
        "error> ValueError: no",
    ]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"cells": [{}]}', "null"])
def test_what_is_no_notebook_is_shown_as_it_is(content):
    assert notebook_text.as_text(content) == content


@pytest.mark.skipif(not shutil.which("git"), reason="there is no git")
def test_git_diff_shows_the_line_that_changed(tmp_path):
    def git(*words):
        name = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        done = subprocess.run(
            ["git", *name, *words], cwd=tmp_path, capture_output=True, encoding="utf-8", check=True
        )
        return done.stdout

    git("init", "-q")
    git("config", "diff.ipynb.textconv", f'"{sys.executable}" "{SCRIPT}"')
    shutil.copy(ROOT / ".gitattributes", tmp_path)
    path = tmp_path / "02 a.ipynb"
    path.write_text(notebook(5), encoding="utf-8")
    git("add", "-A")
    git("commit", "-qm", "first")
    path.write_text(notebook(6), encoding="utf-8")
    lines = git("diff").splitlines()
    changed = [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    assert changed == ["-print(5, 'mm')", "-> 5 mm", "+print(6, 'mm')", "+> 6 mm"]
