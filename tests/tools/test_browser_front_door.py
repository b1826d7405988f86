"""`course.py lab` in a real browser: two evenings with one's own copies, an update in between.

The course is a small one in a temporary folder: a lesson of two parts, the next one.
"""

import contextlib
import json
import os
import secrets
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from support.watched_lab import WatchedLab

from course_lib.tools import copies, refresh
from course_lib.tools.browser import NoBrowser, free_port, start_browser, wait_for

ROOT = Path(__file__).resolve().parents[2]
EXPLORER = """from course_lib import plots
from course_lib.explore import explore, slider


def build():
    fig, ax = plots.figure()
    return fig, {"line": ax.plot([0, 1], [-1, 1])[0]}


def draw(artists, x):
    artists["line"].set_ydata([0, x])


explore(build, draw, "A line that rises", x=slider(-1, 1, 0.5))"""
FIRST = "# {n} · Lesson {n}\n\n**Promise.** You move a joint."
GLOSSARY = "# Glossary\n\n" + "".join(
    f"### {word}\n\n词 · {'It is. ' * 400}\n\n" for word in ("arm", "joint", "link")
)


def lesson(number, *cells):
    """A lesson as refresh stores it, but for the lines that lead to other pages."""
    cells = [new_markdown_cell(FIRST.format(n=number)), *cells, new_markdown_cell("## Summary")]
    return refresh.dumps(refresh.normalise(new_notebook(cells=cells)))


class Course:
    """A small course in a git repository, and its front door."""

    def __init__(self, root):
        self.root, self.mine = root, root / "my_lessons"
        shutil.copytree(ROOT / "course_lib" / "tools", root / "course_lib" / "tools")
        for name in ("course.py", "pyproject.toml", "course_lib/__init__.py", ".gitignore"):
            shutil.copy(ROOT / name, root / name)
        notebooks = root / "notebooks"
        notebooks.mkdir()
        (notebooks / "glossary.md").write_text(GLOSSARY, encoding="utf-8")
        long = new_markdown_cell("# A · One\n\n" + "It is so.\n\n" * 60)
        cells = [new_code_cell(EXPLORER), long, new_markdown_cell("# B · Two\n\nThere.")]
        self.lesson = notebooks / "02_small.ipynb"
        self.lesson.write_text(lesson("02", *cells), encoding="utf-8")
        (notebooks / "03_next.ipynb").write_text(lesson("03"), encoding="utf-8")
        for path in (self.lesson, notebooks / "03_next.ipynb"):
            refresh.refresh(path, seconds=None)
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-qm", "the course")

    def git(self, *words):
        name = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        done = subprocess.run(
            ["git", *name, *words], cwd=self.root, capture_output=True, text=True, check=True
        )
        return done.stdout

    @contextlib.contextmanager
    def evening(self, chromium):
        """`course.py lab --here` as a learner starts it: a `WatchedLab`, and what it said."""
        port, token, log = free_port(), secrets.token_hex(16), self.root.parent / "lab.log"
        places = ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR")
        env = {f"JUPYTER_{place}": str(self.root.parent / place) for place in places}
        command = [sys.executable, str(self.root / "course.py"), "lab", "--here", "--no-browser"]
        command += [f"--port={port}", f"--IdentityProvider.token={token}"]
        with open(log, "wb") as file:
            door = subprocess.Popen(
                command,
                cwd=self.root.parent,
                env={**os.environ, **env},
                stdout=file,
                stderr=subprocess.STDOUT,
            )
        url = f"http://127.0.0.1:{port}"
        try:
            wait_for(url, token, log)
            lab = WatchedLab(url, token, self.mine, chromium)
            lab.said = log.read_text()
            yield lab
        finally:
            door.terminate()
            door.wait(30)


@pytest.fixture(scope="module")
def chromium():
    try:
        with start_browser() as chromium:
            yield chromium
    except NoBrowser as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    if not shutil.which("git"):
        pytest.skip("there is no git")
    return Course(tmp_path_factory.mktemp("home") / "a course")


def sees(page, heading):
    """Wait until a heading stands in the upper half of the window."""
    place = "headings => headings.map(h => [h.textContent, h.getBoundingClientRect()]).some("
    place += f"([text, box]) => text.startsWith({json.dumps(heading)})"
    place += " && box.height > 0 && box.top >= 0 && box.top < innerHeight / 2)"
    headings = page.tab.locator("h1, h2, h3")
    page.until(lambda: headings.evaluate_all(place), f"{heading!r} was not scrolled to")


def click(page, words):
    """Click on the first link in the shown page that says `words`."""
    page.tab.locator(f'.jp-NotebookPanel:not(.lm-mod-hidden) a:text-is("{words}")').first.click()


def test_two_evenings_and_an_update(course, chromium):
    with course.evening(chromium) as lab, lab.open("02_small.ipynb") as page:
        assert "Your own copies" in lab.said
        page.run_all()
        assert page.errors() == [] and len(page.explorers()) == 1
        page.explorers()[0].press("ArrowRight")
        page.save()
        links_lead_there(page)
    assert course.git("status", "--porcelain") == ""

    with course.evening(chromium) as lab, lab.open("02_small.ipynb") as page:
        assert "Your own copies" not in lab.said
        page.until(page.pictures, "the picture of the first evening is gone")
        page.until(page.explorers, "the sliders of the first evening are gone")
        assert page.errors() == []
        assert page.tab.get_by_text("Error displaying widget").count() == 0
        page.type(0, "mine = 'my own words'")
        page.save()

    source = course.lesson.read_text(encoding="utf-8")
    course.lesson.write_text(source.replace("It is so.", "It is not so.", 1), encoding="utf-8")
    course.git("commit", "-qam", "an update")
    (told,) = copies.update(course.root, course.mine)
    assert "02_small.ipynb changed in the course" in told
    assert "my own words" in (course.mine / "02_small.ipynb").read_text(encoding="utf-8")
    assert "It is not so." in (course.mine / "02_small.new.ipynb").read_text(encoding="utf-8")
    assert course.git("status", "--porcelain") == ""


def links_lead_there(page):
    """From the contents to a part, from a word to the glossary, from the end to the next lesson."""
    page.tab.wait_for_timeout(1000)  # a reader looks at the page before a click
    click(page, "B · Two")
    sees(page, "B · Two")
    click(page, "joint")
    page.tab.locator(".jp-MarkdownViewer").wait_for()
    sees(page, "joint")
    page.tab.locator('.lm-TabBar-tabLabel:text-is("02_small.ipynb")').click()
    click(page, "03 · Lesson 03")
    sees(page, "03 · Lesson 03")
