"""The bench: is its arithmetic right, and does every group of rows run?  How fast things are is not tested here."""

import importlib.util
import io
import json
import statistics

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from course_lib.tools import bench
from course_lib.tools.bench import GROUPS, Row, Size, interleaved, measure, spread, summary, table

ROW = Row(
    "fk",
    "ms",
    [3.0, 1.0, 2.0, 2.0, 100.0],
    {"rtb": [8.0, 10.0, 9.0], "pin": [1.0]},
    at_most=2.5,
    faster_than={"pin": 2.0},
)


def test_summary():
    said = summary(ROW)
    assert said["ours"] == {"median": 2.0, "spread": 0.5, "count": 5}  # one outlier moves neither
    assert [(p["name"], p["median"], p["peer/ours"]) for p in said["peers"]] == [
        ("rtb", 9.0, 4.5),
        ("pin", 1.0, 0.5),
    ]
    assert [(p["what"], p["of"], p["kept"]) for p in said["promises"]] == [
        ("at most 2.5 ms", None, True),
        ("at least 2 times as fast", "pin", False),
    ]


def test_spread_is_half_the_interquartile_range():
    values = np.random.default_rng(0).normal(5, 2, 20_000)
    assert spread(values) == pytest.approx(
        2 * 0.6745, rel=0.05
    )  # the quartiles of a normal distribution
    assert spread([7.0]) == 0


def test_table():
    lines = table([summary(ROW), summary(Row("key", note="no browser"))]).splitlines()
    assert len(lines) == 4  # head, fk with two peers, key
    assert lines[0].split() == ["row", "ours", "unit", "peer", "theirs", "peer/ours", "promise"]
    assert lines[1].split() == [
        "fk",
        "2.00",
        "±",
        "0.50",
        "ms",
        "rtb",
        "9.00",
        "±",
        "0.50",
        "4.50",
        "at",
        "most",
        "2.5",
        "ms:",
        "ok",
    ]
    assert lines[2].split() == [
        "pin",
        "1.00",
        "±",
        "0.00",
        "0.50",
        "at",
        "least",
        "2",
        "times",
        "as",
        "fast:",
        "OVER",
    ]
    assert lines[3].split() == ["key", "–", "no", "browser"]


def test_contenders_take_turns():
    calls = []
    times = interleaved({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, 2)
    assert calls == ["a", "b", "a", "b", "a", "b"]  # the first turn is not counted
    assert {name: len(values) for name, values in times.items()} == {"a": 2, "b": 2}


def test_json_holds_the_same_numbers_and_status_says_what_is_not_kept(
    monkeypatch, tmp_path, capsys
):
    monkeypatch.setitem(GROUPS, "fk", lambda size: [ROW])
    assert bench.main(["--only", "fk", "--json", str(tmp_path / "bench.json")]) == 1
    said = json.loads((tmp_path / "bench.json").read_text(encoding="utf-8"))
    assert said["rows"] == [summary(ROW)]
    assert said["machine"]["numpy"] == np.__version__
    assert capsys.readouterr().out.startswith(table(said["rows"]))
    monkeypatch.setitem(GROUPS, "fk", lambda size: [Row("fk", "ms", [1.0], at_most=2)])
    assert bench.main(["--only", "fk"]) == 0


def test_a_busy_machine_is_said():
    place = bench.machine() | {"cores": 2, "load": 0.4}
    assert bench.machine_line(place).endswith("2 cores, load 0.4 at the start")
    assert "times are too long" in bench.machine_line(place | {"load": 3.0})
    assert bench.machine_line(place | {"load": None}).endswith("2 cores")


def test_a_group_that_fails_is_said_and_the_others_go_on(monkeypatch):
    def breaks_off(size):
        yield ROW
        raise OSError("no space")

    monkeypatch.setitem(GROUPS, "import", breaks_off)
    monkeypatch.setitem(GROUPS, "key", lambda size: iter([ROW]))
    first, failed, other = measure(["import", "key"], Size())
    assert first == other == summary(ROW)
    assert (
        failed["name"] == "import"
        and failed["note"] == "failed: OSError: no space"
        and failed["ours"] is None
    )


def test_a_lesson_that_fails_does_not_stop_the_next(tiny):
    nbformat.write(new_notebook(cells=[new_code_cell("1 / 0")]), tiny.notebooks / "03_broken.ipynb")
    broken, line = bench.bench_redraw(tiny)
    assert broken.name == "03 redraw" and broken.note.startswith("failed: ZeroDivisionError")
    assert line.name == "07 explorer 1 (2D), redraw"


# ---- each group on a tiny size --------------------------------------------------------------

EXPLORER = """from course_lib import plots
from course_lib.explore import choice, explore, slider

def build():
    fig, ax = plots.figure(size=(3, 2))
    return fig, {"line": ax.plot([0, 1], [0, 1])[0]}

def draw(artists, slope, colour):
    artists["line"].set_ydata([0, slope])
    artists["line"].set_color(colour)

explore(build, draw, "A line with a slope.", slope=slider(-1, 1, 0.5), colour=choice(["red", "blue"]))"""


@pytest.fixture
def tiny(tmp_path):
    """One repetition of everything, on a folder with one short lesson."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = new_notebook(cells=[new_code_cell(EXPLORER)], metadata={"kernelspec": kernel})
    nbformat.write(notebook, tmp_path / "07_line.ipynb")
    return Size(
        repeats=1,
        long_repeats=1,
        configurations=20,
        redraws=2,
        presses=2,
        files=2,
        notebooks=tmp_path,
        modules=("dh",),
    )


def test_fk(tiny):
    batch, one = bench.bench_fk(tiny)
    assert set(batch.faster_than) <= set(batch.peers)
    assert {"stacked 4x4 products", "Robotics Toolbox fkine"} <= set(batch.peers)
    assert all(len(times) == 20 for times in [one.ours, *one.peers.values()])


def test_peers_give_the_same_poses():
    from course_lib.arm import load_arm
    from course_lib.kinematics import fk

    arm = load_arm("cobot6")
    q = np.random.default_rng(1).uniform(-2, 2, (5, 6))
    answers = [
        bench.stacked_products(arm, q),
        *(np.array(call(q)) for call in bench.toolbox_calls(arm)),
    ]
    if importlib.util.find_spec("pinocchio"):
        answers.append(bench.pinocchio_loop(arm, q)())
    for poses in answers:
        np.testing.assert_allclose(poses, fk(arm, q), atol=1e-12)


def test_jacobian(tiny):
    batch, one = bench.bench_jacobian(tiny)
    assert (
        set(batch.faster_than)
        == set(batch.peers)
        >= {"Robotics Toolbox jacob0", "Robotics Toolbox ets().jacob0"}
    )
    assert all(len(times) == 20 for times in [one.ours, *one.peers.values()])


def test_peers_give_the_same_jacobians():
    from course_lib.arm import load_arm
    from course_lib.kinematics import jacobian

    arm = load_arm("cobot6")
    q = np.random.default_rng(1).uniform(-2, 2, (5, 6))
    answers = [[J(q_k) for q_k in q] for J in bench.toolbox_jacobians(arm).values()]
    if importlib.util.find_spec("pinocchio"):
        answers.append(bench.pinocchio_jacobians(arm, q)())
    for answer in answers:
        np.testing.assert_allclose(answer, jacobian(arm, q), atol=1e-12)


def test_redraw(tiny):
    (row,) = bench.bench_redraw(tiny)
    assert row.name == "07 explorer 1 (2D), redraw" and row.at_most == 25
    assert [len(times) for times in [row.ours, *row.peers.values()]] == [2, 2, 2]


def test_both_ways_of_drawing_give_the_explorers_picture(tiny):
    ((build, draw, explorer),) = bench.explorers_of(tiny.notebooks / "07_line.ipynb")
    values = {"slope": -0.25, "colour": "blue"}
    explorer.set(**values)
    ours = pixels(explorer.png())
    for png in (
        bench.new_figure(build, draw, values),
        bench.full_redraw(build, draw, iter([values]))(),
    ):
        assert (
            np.abs(pixels(png) - ours).max(axis=2) > 8
        ).mean() < 0.002  # moving artists lie above the axes' frame


def pixels(png):
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(png)), dtype=int)


def test_import(tiny):
    (row,) = bench.bench_import(tiny)
    assert row.name == "import course_lib.dh" and min(row.ours) > 0


def test_lesson(tiny):
    (row,) = bench.bench_lesson(tiny)
    assert row.name == "07_line, run" and statistics.median(row.ours) > 0


def test_every_group_is_a_function_of_size():
    assert all(callable(group) and group.__doc__ for group in GROUPS.values())


def test_urdf_rows_name_the_file_and_have_times_of_ours(tiny):
    pytest.importorskip("rtbdata")
    rows = list(bench.bench_urdf(tiny))
    assert len(rows) == 2 and all(row.ours and row.name.startswith("check_urdf ") for row in rows)
