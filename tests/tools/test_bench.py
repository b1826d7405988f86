"""The bench: is its arithmetic right, do peers compute the same, is what it times what it says?"""

import importlib.util
import io
import json
from types import SimpleNamespace

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from course_lib.arm import load_arm
from course_lib.kinematics import fk, jacobian
from course_lib.tools import bench
from course_lib.tools.bench import core, explorers, kinematics, reading, table, urdf
from course_lib.tools.bench.__main__ import main, measure
from course_lib.tools.bench.core import Row, Size

ROW = Row(
    "fk",
    "ms",
    [3.0, 1.0, 2.0, 2.0, 100.0],
    {"rtb": [8.0, 10.0, 9.0], "pin": [1.0]},
    at_most=2.5,
    of_peer={"pin": 0.5},
)


def test_summary():
    said = table.summary(ROW)
    assert said["ours"] == {"median": 2.0, "spread": 0.5, "count": 5}  # one outlier moves neither
    assert [(p["name"], p["median"], p["ours/peer"]) for p in said["peers"]] == [
        ("rtb", 9.0, pytest.approx(2 / 9)),
        ("pin", 1.0, 2.0),
    ]
    assert said["promises"] == [{"what": "at most 2.5 ms", "kept": True}]
    assert table.promises(said)[1:] == [{"what": "at most 0.5 of it", "kept": False}]


def test_promises_are_kept_at_the_very_bound():
    row = Row("fk", "ms", [2.0], {"pin": [1.0]}, at_most=2, of_peer={"pin": 2.0})
    assert [p["kept"] for p in table.promises(table.summary(row))] == [True, True]


def test_spread_is_half_the_interquartile_range():
    values = np.random.default_rng(0).normal(5, 2, 20_000)
    quartile = 0.6745  # of a normal distribution, in standard deviations
    assert table.spread(values) == pytest.approx(2 * quartile, rel=0.05)
    assert table.spread([7.0]) == 0


def test_table():
    summaries = [table.summary(ROW), table.summary(Row("key", note="no browser"))]
    lines = table.table(summaries).splitlines()
    assert len(lines) == 4  # head, fk with two peers, key
    assert lines[0].split() == ["row", "ours", "unit", "peer", "theirs", "ours/peer", "promise"]
    assert lines[1].split() == "fk 2.00 ± 0.50 ms rtb 9.00 ± 0.50 0.22 at most 2.5 ms: ok".split()
    assert lines[2].split() == "pin 1.00 ± 0.00 2.00 at most 0.5 of it: OVER".split()
    assert lines[3].split() == ["key", "–", "no", "browser"]
    assert [line.index("pin") for line in lines[2:3]] == [lines[0].index("peer")]


def test_contenders_take_turns():
    calls = []
    contenders = {"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}
    times = core.interleaved(contenders, 2)
    assert calls == ["a", "b", "a", "b", "a", "b"]  # the first turn is not counted
    assert {name: len(values) for name, values in times.items()} == {"a": 2, "b": 2}


def test_a_short_call_is_repeated():
    calls = []
    core.repeated(lambda: calls.append(1), 5)()
    assert len(calls) == 5


def test_json_holds_the_same_numbers_and_status_says_what_is_not_kept(
    monkeypatch, tmp_path, capsys
):
    monkeypatch.setitem(bench.GROUPS, "urdf", lambda size: [ROW])
    assert main(["urdf", "--json", str(tmp_path / "bench.json")]) == 1
    said = json.loads((tmp_path / "bench.json").read_text(encoding="utf-8"))
    assert said["rows"] == [table.summary(ROW)]
    assert said["machine"]["numpy"] == np.__version__
    assert capsys.readouterr().out.startswith(table.table(said["rows"]))
    monkeypatch.setitem(bench.GROUPS, "urdf", lambda size: [Row("fk", "ms", [1.0], at_most=2)])
    assert main(["urdf"]) == 0


def test_named_groups_are_run_and_no_others(monkeypatch, capsys):
    run = []
    for name in bench.GROUPS:
        monkeypatch.setitem(bench.GROUPS, name, lambda size, name=name: run.append(name) or [])
    assert main(["key", "import"]) == 0 and run == ["key", "import"]
    run.clear()
    assert main([]) == 0 and run == list(bench.GROUPS)
    with pytest.raises(SystemExit):
        main(["fast"])
    assert "no group 'fast'; there are kinematics, urdf" in capsys.readouterr().err


def test_a_busy_machine_is_said():
    place = table.machine() | {"cores": 2, "load": 0.4}
    assert table.machine_line(place).endswith("2 cores, load 0.4 at the start")
    assert "times are too long" in table.machine_line(place | {"load": 3.0})
    assert table.machine_line(place | {"load": None}).endswith("2 cores")


def test_a_group_that_fails_is_said_and_the_others_go_on(monkeypatch, capsys):
    def breaks_off(size):
        yield ROW
        raise OSError("no space")

    monkeypatch.setitem(bench.GROUPS, "import", breaks_off)
    monkeypatch.setitem(bench.GROUPS, "key", lambda size: iter([ROW]))
    first, failed, other = measure(["import", "key"], Size())
    assert first == other == table.summary(ROW)
    assert (failed["name"], failed["ours"]) == ("import", None)
    assert failed["note"] == "failed: OSError: no space"
    assert capsys.readouterr().err == "import ...\n  fk\n  import\nkey ...\n  fk\n"
    assert main(["import"]) == 1


def test_a_lesson_that_fails_does_not_stop_the_next(tiny):
    nbformat.write(new_notebook(cells=[new_code_cell("1 / 0")]), tiny.notebooks / "03_broken.ipynb")
    broken, line = explorers.bench_redraw(tiny)
    assert broken.name == "03 redraw" and broken.note.startswith("failed: ZeroDivisionError")
    assert line.name == "07 explorer 1 (2D), redraw"


# ---- each group on a tiny size --------------------------------------------------------------

EXPLORER = """from course_lib import plots
from course_lib.explore import choice, explore, slider

def build():
    fig, ax = plots.figure(size=(3, 2))
    return fig, {"line": ax.plot([0, 1], [0, 1], lw=6)[0]}

def draw(artists, slope, colour):
    artists["line"].set_ydata([0, slope])
    artists["line"].set_color(colour)

colours = choice(["red", "blue"])
explore(build, draw, "A line with a slope.", slope=slider(-1, 1, 0.5), colour=colours)"""


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
        calls=2,
        redraws=2,
        presses=2,
        files=2,
        notebooks=tmp_path,
        modules=("course_lib.dh",),
    )


@pytest.fixture(scope="module")
def arm():
    return load_arm("cobot6")


@pytest.fixture(scope="module")
def q():
    return np.random.default_rng(1).uniform(-2, 2, (5, 6))


def test_the_promises_of_kinematics_name_peers_that_are_measured(tiny):
    rows = {row.name: row for row in kinematics.bench_kinematics(tiny)}
    promised = {name: row.of_peer for name, row in rows.items()}
    assert promised["fk of one posture"] == {"Toolbox ETS eval": 1.3}
    assert promised["fk_and_jacobian of one posture"] == {"Toolbox ETS eval + jacob0": 0.8}
    for row in rows.values():
        assert set(row.of_peer) <= set(row.peers)
    if importlib.util.find_spec("pinocchio"):
        assert promised["fk, batch of 20, each"]["Pinocchio"] == 0.35
        assert promised["jacobian, batch of 20, each"]["Pinocchio"] == 0.8


@pytest.fixture
def works(monkeypatch):
    """A call that takes 1 ms a posture by the bench's clock, which only this call moves."""
    now, seen = [0.0], []

    def call(q):
        seen.append(q.shape)
        now[0] += 1e-3 * (1 if q.ndim == 1 else len(q))

    call.seen = seen
    monkeypatch.setattr(core, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    return call


@pytest.mark.parametrize("peer, count", [("Pinocchio", 20), ("Toolbox loop", 2)])
def test_times_of_a_batch_are_of_one_posture(tiny, works, peer, count):
    peers = {peer: kinematics.Peer(None, works)}
    row = kinematics.of_a_batch("fk", works, np.zeros((20, 6)), peers, {}, tiny)
    assert works.seen == 2 * [(20, 6), (count, 6)]
    assert [*row.ours, *row.peers[peer]] == pytest.approx([1000, 1000])  # [µs]


def test_times_of_one_posture(tiny, works):
    peers = {"other": kinematics.Peer(works, None), "stacks": kinematics.Peer(None, works)}
    row = kinematics.of_one("fk", works, np.zeros(6), peers, {"other": 1.0, "gone": 1.0}, tiny)
    assert list(row.peers) == ["other"] and row.of_peer == {"other": 1.0}
    assert set(works.seen) == {(6,)} and len(row.ours) == len(row.peers["other"]) > 10
    assert [*row.ours, *row.peers["other"]] == pytest.approx([1000] * 2 * len(row.ours))


def test_peers_give_the_same_poses(arm, q):
    peers = kinematics.pose_peers(arm)
    assert len(peers) == 3 + kinematics.has_pinocchio()
    for peer in peers.values():
        np.testing.assert_allclose(peer.many(q), fk(arm, q), atol=1e-12)
        if peer.one:
            one = np.reshape(peer.one(q[0]), (4, 4))
            np.testing.assert_allclose(one, fk(arm, q[0]), atol=1e-12)


def test_peers_give_the_same_jacobians(arm, q):
    peers = kinematics.jacobian_peers(arm)
    assert len(peers) == 2 + kinematics.has_pinocchio()
    for peer in peers.values():
        np.testing.assert_allclose(peer.many(q), jacobian(arm, q), atol=1e-12)
        np.testing.assert_allclose(peer.one(q[0]), jacobian(arm, q[0]), atol=1e-12)


def test_peers_give_the_same_pair(arm, q):
    for peer in kinematics.both_peers(arm).values():
        pose, J = peer.one(q[0])
        np.testing.assert_allclose(np.reshape(pose, (4, 4)), fk(arm, q[0]), atol=1e-12)
        np.testing.assert_allclose(J, jacobian(arm, q[0]), atol=1e-12)


def test_redraw(tiny):
    (row,) = explorers.bench_redraw(tiny)
    assert row.name == "07 explorer 1 (2D), redraw" and row.at_most == 25
    assert [len(times) for times in [row.ours, *row.peers.values()]] == [2, 2, 2]


def test_both_ways_of_drawing_give_the_explorers_picture(tiny):
    ((build, draw, explorer),) = explorers.explorers_of(tiny.notebooks / "07_line.ipynb")
    values = {"slope": 0.25, "colour": "blue"}
    explorer.set(**values)
    ours = pixels(explorer.png())
    other, same = {"slope": 0.75, "colour": "blue"}, build()
    moved_away = explorers.full_redraw(*same, draw, other)
    for figure in (build(), same):
        jpeg = explorers.full_redraw(*figure, draw, values)
        differs = np.abs(pixels(jpeg) - ours).max(axis=2) > 60  # less is the work of JPEG
        assert differs.mean() < 0.002  # moving artists lie above the axes' frame
    assert (np.abs(pixels(moved_away) - ours).max(axis=2) > 60).mean() > 0.02


def pixels(data):
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(data)), dtype=int)


def test_a_slow_import_and_a_quick_one(tmp_path, monkeypatch):
    """What the module imports is counted, NumPy is not."""
    (tmp_path / "slow.py").write_text("import time, numpy\ntime.sleep(0.5)\n")
    (tmp_path / "quick.py").write_text("import numpy\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    slow, quick = reading.bench_import(Size(long_repeats=1, modules=("slow", "quick")))
    assert (slow.name, quick.name) == ("import slow", "import quick")
    assert slow.ours[0] >= 500 > 400 > quick.ours[0]
    assert quick.peers["import numpy"][0] > quick.ours[0]


def test_every_module_that_a_lesson_imports_is_measured():
    assert {"course_lib.dh", "course_lib.check", "course_lib.plots"} <= set(Size().modules)
    assert not any("tools" in name for name in Size().modules)


def test_a_slow_lesson_takes_longer_than_it_sleeps(tiny):
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cells = [new_code_cell("import time\ntime.sleep(2)")]
    slow = new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(slow, tiny.notebooks / "07_line.ipynb")
    (row,) = reading.bench_lesson(tiny)
    assert (row.name, row.at_most) == ("07_line, run", 30)
    assert 2 <= row.ours[0] < 30


def test_urdf_rows_name_the_file(tiny):
    pytest.importorskip("rtbdata")
    files = urdf.real_files()
    rows = list(urdf.bench_urdf(tiny))
    assert [row.name for row in rows] == [f"check_urdf {path.name}" for path in files[:2]]
    assert all(len(row.ours) == 1 and row.at_most == 1000 for row in rows)


def test_a_file_that_pinocchio_refuses_has_no_peer(tmp_path):
    pytest.importorskip("pinocchio")
    broken, right = tmp_path / "broken.urdf", tmp_path / "right.urdf"
    broken.write_text("<robot name='a'>")
    right.write_text("<robot name='a'><link name='base'/></robot>")
    assert urdf.pinocchio_reader(broken) is None
    assert urdf.pinocchio_reader(right)().name == "a"
