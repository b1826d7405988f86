"""`course.py refresh`: same input, same bytes; a bad cell is named; nothing is half-written."""

import base64
import io
import os
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from PIL import Image, PngImagePlugin

from course_lib.tools import refresh

PICTURE = """import matplotlib.pyplot as plt
_ = plt.figure(figsize=(1, 1)).add_subplot()
plt.show()"""


def store(folder, *sources, name="02_tiny.ipynb"):
    """Write a notebook that was never run and return its path."""
    cells = [new_markdown_cell("# 02 · Tiny"), *(new_code_cell(source) for source in sources)]
    path = folder / name
    nbformat.write(new_notebook(cells=cells), path)
    return path


def outputs(path):
    return [
        cell.outputs for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"
    ]


def test_twice_gives_the_same_bytes(tmp_path):
    words = "print({'frame', 'joint', 'link'})\nimport ipywidgets\nprint(1)"
    path = store(tmp_path, words, PICTURE, "ipywidgets.IntSlider()", "import os; os.listdir()")
    assert refresh.refresh(path)
    first = path.read_bytes()
    assert not refresh.refresh(path)
    assert path.read_bytes() == first
    assert b"\r" not in first and first.endswith(b"}\n")
    printed, picture, slider, listing = outputs(path)
    assert len(printed) == 1 and printed[0].text.endswith("\n1\n")
    assert "image/png" in picture[0].data
    assert list(slider[0].data) == ["text/plain"]
    assert (
        listing[0].data["text/plain"] == "['02_tiny.ipynb']"
    )  # runs in its own folder, leaves nothing there
    assert os.listdir(tmp_path) == ["02_tiny.ipynb"]


@pytest.mark.parametrize(
    "source, said",
    [
        ("\n1 / 0", "cell 3 (1 / 0): ZeroDivisionError: division by zero"),
        ("import time\ntime.sleep(60)", "cell 3 (import time): no answer within 2 s"),
        ("import os\nos._exit(1)", "cell 3 (import os): its kernel died"),
    ],
    ids=["fails", "stalls", "dies"],
)
def test_a_cell_that_goes_wrong_is_named_and_the_file_stays(tmp_path, capsys, source, said):
    path = store(tmp_path, "a = 1", source, "b = 2")
    before = path.read_bytes()
    assert refresh.main([str(path), "--seconds", "2"]) == 1
    assert f"02_tiny.ipynb: {said}" in capsys.readouterr().out
    assert path.read_bytes() == before and os.listdir(tmp_path) == [path.name]


def test_check_says_what_would_change_and_writes_nothing(tmp_path, capsys):
    path = store(tmp_path, "1 + 1")
    before = path.read_bytes()
    assert refresh.main(["--check", str(path)]) == 1
    assert "would change" in capsys.readouterr().out
    assert path.read_bytes() == before
    refresh.refresh(path)
    assert refresh.main(["--check", str(path)]) == 0


def test_a_file_that_is_no_notebook_is_named(tmp_path, capsys):
    path = tmp_path / "02_broken.ipynb"
    path.write_text('{"cells": ', encoding="utf-8")
    assert refresh.main([str(path)]) == 1
    assert "02_broken.ipynb: not a notebook" in capsys.readouterr().out


def test_lessons_are_found_by_number_name_and_path(tmp_path):
    first, second = store(tmp_path, name="00_start.ipynb"), store(tmp_path, name="12_period.ipynb")
    for folder in ("homework", "checks"):
        (tmp_path / folder).mkdir()
        store(tmp_path / folder, name="03_other.ipynb")
    assert refresh.find_lessons([], tmp_path) == [first, second]
    for name in ("12", "12_period", "12_period.ipynb", str(second)):
        assert refresh.find_lessons([name], tmp_path) == [second]
    assert refresh.find_lessons(["0"], tmp_path) == [first]
    with pytest.raises(ValueError, match="lesson '7': expected .* 00_start, 12_period"):
        refresh.find_lessons(["7"], tmp_path)


# --- normalising -----------------------------------------------------------------------------


def ids(*names):
    notebook = new_notebook(cells=[new_markdown_cell("") for _ in names])
    for cell, name in zip(notebook.cells, names):
        cell.id = name
    return [cell.id for cell in refresh.normalise(notebook).cells]


def test_ids_that_an_author_chose_stay_and_random_ones_go():
    random_ids = [
        "1f0e9d8c",
        "b7a1c2d3-1111-4222-8333-abcdefabcdef",
        "deadbeefdeadbeefdeadbeefdeadbeef",
    ]
    assert ids("title", *random_ids) == ["title", "cell-02", "cell-03", "cell-04"]
    assert ids("cell-02", "1f0e9d8c", "cell-02") == ["cell-02", "cell-02b", "cell-03"]
    chosen = ids("cell-03", "0a0a0a0a", "1b1b1b1b")
    assert len(set(chosen)) == 3 and ids(*chosen) == chosen


def test_volatile_metadata_goes_and_meaning_stays():
    cell = new_code_cell(
        "1",
        execution_count=7,
        metadata={"tags": ["key-algorithm"], "execution": {"t": "1"}, "scrolled": True},
    )
    notebook = new_notebook(
        cells=[cell],
        metadata={"widgets": {}, "language_info": {"name": "python", "version": "3.11.7"}},
    )
    tidy = refresh.normalise(notebook)
    assert (
        tidy.cells[0].metadata == {"tags": ["key-algorithm"]} and tidy.cells[0].execution_count == 1
    )
    assert "widgets" not in tidy.metadata and "version" not in tidy.metadata.language_info


def png_with_text(**texts):
    info = PngImagePlugin.PngInfo()
    for key, value in texts.items():
        info.add_text(key, value)
    file = io.BytesIO()
    Image.new("RGB", (3, 2), "red").save(file, "png", pnginfo=info, dpi=(100, 100))
    return base64.encodebytes(file.getvalue()).decode()


def test_a_picture_keeps_its_pixels_and_loses_its_notes():
    view = {refresh.WIDGET_VIEW: {"model_id": "1f0e"}, "text/plain": "A red box"}
    with_notes = new_output(
        "display_data", {"image/png": png_with_text(Software="x 1.2", Date="today"), **view}
    )
    bare = new_output("display_data", {"image/png": png_with_text(), **view})
    cells = [
        new_code_cell("f()", execution_count=1, outputs=[output]) for output in (with_notes, bare)
    ]
    one, other = (
        cell.outputs[0].data for cell in refresh.normalise(new_notebook(cells=cells)).cells
    )
    assert one == other and set(one) == {"image/png", "text/plain"}
    picture = Image.open(io.BytesIO(base64.b64decode(one["image/png"])))
    picture.load()
    assert picture.size == (3, 2) and picture.getpixel((0, 0)) == (255, 0, 0)
    assert picture.text == {} and round(picture.info["dpi"][0]) == 100


def test_pieces_of_one_stream_are_joined():
    pieces = [
        new_output("stream", name=name, text=text)
        for name, text in (("stdout", "a"), ("stdout", "b\n"), ("stderr", "c"))
    ]
    cell = new_code_cell("f()", execution_count=1, outputs=pieces)
    stored = refresh.normalise(new_notebook(cells=[cell])).cells[0].outputs
    assert [(output.name, output.text) for output in stored] == [
        ("stdout", "ab\n"),
        ("stderr", "c"),
    ]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = store(tmp_path, "1 + 1")
    before = path.read_bytes()

    def full_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(refresh.os, "replace", full_disk)
    with pytest.raises(OSError):
        refresh.refresh(path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == [path.name]


# --- what nbval makes of a stored notebook ---------------------------------------------------


def test_nbval_agrees_with_what_was_stored_and_notices_a_changed_number(tmp_path):
    path = store(tmp_path, "print(f'{2 ** 0.5:.4f} m')")
    refresh.refresh(path)
    text = path.read_text(encoding="utf-8")
    assert text.count("1.4142") == 1
    (tmp_path / "03_changed.ipynb").write_text(text.replace("1.4142", "1.4143"), encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--nbval",
        "--nbval-current-env",
        "--nbval-cell-timeout=120",
        "-rA",
    ]
    command += ["-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path)]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120).stdout
    assert "PASSED 02_tiny.ipynb::Cell 0" in said and "FAILED 03_changed.ipynb::Cell 0" in said
    assert "1 failed, 1 passed" in said
