"""The front page tells the truth, and so do the pages it links to."""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from PIL import Image

PROJECT = Path(__file__).resolve().parents[2]
NOTEBOOKS = PROJECT / "notebooks"
PAGES = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", NOTEBOOKS / "glossary.md"]
LAST_LESSON = 15
FLOOR = ["arm", "arm_file", "poses", "kinematics", "dh", "urdf", "engines"]
WORDS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6}


def read(path):
    return path.read_text(encoding="utf-8")


def lesson_rows(text):
    """{number: (title, link or None, minutes, status)} of the lesson table."""
    rows = {}
    for line in text.splitlines():
        found = re.match(
            r"\| (?:\[(?P<linked>\d\d · [^\]]+)\]\((?P<link>[^)]+)\)|(?P<plain>\d\d · [^|]+?))"
            r" \|[^|]+\|([^|]*)\|([^|]*)\|$",
            line,
        )
        if found:
            title = found["linked"] or found["plain"]
            assert int(title[:2]) not in rows, f"lesson {title[:2]} has two rows"
            rows[int(title[:2])] = (title, found["link"], found[4].strip(), found[5].strip())
    return rows


def title_and_minutes(path):
    """A lesson's title, and the numbers in what it says about time.

    "Four evenings of 20 to 30 minutes" -> [4, 20, 30].
    """
    first = nbformat.read(path, as_version=4).cells[0].source
    time = re.search(r"\*\*Time\.\*\*(.*?minutes)", first)[1].lower()
    for word, value in WORDS.items():
        time = re.sub(rf"\b{word}\b", str(value), time)
    return re.match(r"# (.+)", first)[1], numbers(time)


def numbers(text):
    return [int(n) for n in re.findall(r"\d+", text)]


ROWS = lesson_rows(read(PROJECT / "README.md"))
LESSONS = sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))


def test_every_lesson_has_one_row_in_order():
    assert list(ROWS) == list(range(LAST_LESSON + 1))


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_that_exists_is_linked_with_its_own_title_and_minutes(path):
    title, minutes = title_and_minutes(path)
    shown, link, shown_minutes, status = ROWS[int(path.stem[:2])]
    wanted = (
        f"README.md needs the row | [{title}](notebooks/{path.name}) | … |"
        f" {' '.join(map(str, minutes))} | ready |"
    )
    assert (shown, link) == (title, f"notebooks/{path.name}"), wanted
    assert numbers(shown_minutes) == minutes, wanted
    assert status.startswith("ready"), wanted


@pytest.mark.parametrize("number", ROWS)
def test_a_lesson_that_does_not_exist_is_planned(number):
    title, link, minutes, status = ROWS[number]
    if not list(NOTEBOOKS.glob(f"{number:02d}_*.ipynb")):
        assert (link, minutes) == (None, "") and status.startswith("planned")


@pytest.mark.parametrize("number", ROWS)
def test_a_homework_is_named_when_it_exists(number):
    exists = bool(list(NOTEBOOKS.glob(f"homework/hw{number:02d}_*/*.ipynb")))
    assert (f"hw{number:02d}" in ROWS[number][3]) == exists


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", read(page)):
        assert re.match(r"https://", target) or (page.parent / target.partition("#")[0]).exists(), (
            target
        )


def test_the_picture_is_there_small_and_described():
    pictures = re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", read(PROJECT / "README.md"))
    assert pictures
    for alt, target in pictures:
        assert len(alt.split()) >= 8
        assert (PROJECT / target).stat().st_size < 200_000
        with Image.open(PROJECT / target) as picture:
            assert picture.format == "PNG" and picture.width >= 800


def test_commands_exist():
    """Each subcommand that a page or lesson 00 names stands in `course.py --help`."""
    told = subprocess.run(
        [sys.executable, "course.py", "--help"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    known = set(re.findall(r"^  ([a-z-]+) {2,}\S", told.stdout, re.MULTILINE))
    text = "\n".join(map(read, PAGES)) + str(
        nbformat.read(NOTEBOOKS / "00_start_here.ipynb", as_version=4).cells
    )
    named = set(re.findall(r"course\.py ([a-z-]+)", text))
    assert {"lab", "test", "refresh", "homework"} <= named <= known


def test_files_that_the_pages_name_exist():
    for page in PAGES:
        for name in re.findall(r"`((?:\.ci|course_lib|data|notebooks|tests)/[\w./]+)`", read(page)):
            if "name" not in name and "topic" not in name:
                assert (PROJECT / name).exists(), f"{page.name} names {name}"


def test_every_room_and_tool_of_the_house_is_told_to_maintainers():
    told = read(PROJECT / "CONTRIBUTING.md")
    floor = set(re.findall(r"`(\w+)`", re.search(r"\| floor \|([^|]+)\|", told)[1]))
    assert floor == set(FLOOR)
    for room in ("urdf_check", "plots", "explore", "check", "tools"):
        assert f"course_lib/{room}/" in told and (PROJECT / "course_lib" / room).is_dir()
    for folder in ("core", "lessons", "tools", "support"):
        assert f"tests/{folder}/" in told


def test_what_to_touch_names_what_is_there():
    """The names in the recipes exist in the files beside which they stand."""
    told = read(PROJECT / "CONTRIBUTING.md")
    for name, file in re.findall(r"`([A-Z_]{4,})` (?:of|in) `([^`]+)`", told):
        assert re.search(rf"^{name}\b", read(PROJECT / file), re.MULTILINE), (name, file)
    assert len(re.findall(r"`[A-Z_]{4,}` (?:of|in) `", told)) >= 3


def test_readme_fits_one_screen():
    text = read(PROJECT / "README.md")
    assert len(text.split()) < 1000 and len(text.splitlines()) < 70


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_voice_and_no_machine_paths(page):
    text = re.sub(r"!\[", "[", read(page))
    assert "!" not in text
    assert not re.search(r"\b(simply|obviously)\b", text, re.IGNORECASE)
    assert not re.search(r"(?<![\w.])/(?:work|root|home|tmp|Users)/|file://", text)


def test_glossary_is_in_order_and_complete():
    text = read(NOTEBOOKS / "glossary.md")
    entries = re.findall(r"^### (.+)\n\n([^·\n]+) · (.+)$", text, re.MULTILINE)
    terms = [term.casefold() for term, _, _ in entries]
    assert len(terms) == text.count("\n### ") >= 60
    assert terms == sorted(set(terms))
    for term, chinese, sentence in entries:
        assert re.search("[\u4e00-\u9fff]{2}|^秩$", chinese), term
        assert sentence.endswith("."), term
    letters = re.findall(r"^#{2,3} (.)", text, re.MULTILINE)
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert headings == sorted({letter.upper() for letter in letters})
