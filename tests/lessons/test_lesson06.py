"""Lesson 06: its tables of measurements can be made again, and what counts as followed is right."""

import csv
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from course_lib import fabrik
from course_lib.kinematics import fk

MEASUREMENTS = Path(__file__).resolve().parents[2] / "data" / "measurements"
ARMS = ["cobot6", "panda", "UR5"]
not_windows = pytest.mark.skipif(sys.platform == "win32", reason="there is no Pinocchio")


def script(name):
    """A script of data/measurements as a module."""
    spec = importlib.util.spec_from_file_location(name, MEASUREMENTS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stored(name):
    with open(MEASUREMENTS / f"{name}.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def methods():
    return script("ik_methods")


# ---------------------------------------------------------------- the table of methods


@not_windows
@pytest.mark.parametrize("name", ARMS)
def test_the_first_forty_targets_come_out_as_stored(methods, name):
    """Each method again on a sample: how many it solves, or why it does not apply."""
    again = {method: (count, row) for _, method, count, *row in methods.rows_of(name, 40)}
    rows = [row for row in stored("ik_methods") if row["arm"] == name]
    assert list(again) == [row["method"] for row in rows]
    for row in rows:
        count, _ = again[row["method"]]
        if row["first_40"]:
            assert abs(count - int(row["first_40"])) <= 1, row["method"]  # rounding, on a border
        else:
            assert count == row["solved"], row["method"]


def test_the_table_holds_together():
    """Counts that can't be otherwise: by the order of demands, and by what steps say of them."""
    for row in (row for row in stored("ik_methods") if row["first_40"]):
        solved, first = int(row["solved"]), int(row["first_40"])
        assert first <= solved <= 1000 and solved - first <= 960, row
        assert (row["median_steps"] == "never") == (solved < 500), row
        assert (row["p95_steps"] == "never") == (solved < 950), row
    for name in ARMS:
        count = {r["method"]: int(r["solved"]) for r in stored("ik_methods") if r["arm"] == name
                 and r["first_40"]}  # fmt: skip
        followed = [count[f"FABRIK, {w}"] for w in ("points alone", "joints follow")]
        assert followed[0] >= followed[1] >= count["FABRIK, and within limits"]
        assert count["LM, 50 restarts"] >= count["LM, one start"]


@not_windows
def test_followed_is_what_the_plane_of_the_elbow_allows(methods):
    """cobot6 by hand: joints 1 to 3 keep shoulder, elbow and wrist centre in an upright plane."""
    arm = methods.ARMS["cobot6"]
    goals = methods.targets(arm, 30)
    free = methods.chains(arm, goals)[0]
    own = methods.places(arm, np.random.default_rng(1).uniform(-2, 2, (30, 6)))
    points = np.concatenate([free, own])
    elbow, wrist = points[:, 1, :2], points[:, 2, :2]
    flat = np.abs(elbow[:, 0] * wrist[:, 1] - elbow[:, 1] * wrist[:, 0]) < 1e-4
    assert flat.tolist() == [False] * 30 + [True] * 30
    assert np.isfinite(methods.follow(arm, points)[:, 0]).tolist() == flat.tolist()


@not_windows
def test_targets_and_starts_are_not_drawn_alike(methods):
    """No start is an answer: a solver that begins at it would need no step (lesson 05)."""
    for name in ARMS:
        arm = methods.ARMS[name]
        start = fk(arm, methods.middle(arm))
        assert np.abs(methods.targets(arm) - start).max(axis=(1, 2)).min() > 0.01


# ---------------------------------------------------------------- FABRIK against Marquardt


@pytest.mark.parametrize("row", [0, 1, 4, 8])
def test_rounds_and_steps_come_out_as_stored(row):
    speed, said = script("fabrik_speed"), stored("fabrik_speed")[row]
    again = dict(zip(said, speed.row_of(*speed.CASES[row])))
    for key in ("links", "targets", "tolerance_m", "fabrik_rounds", "lm_steps"):
        assert str(again[key]) == said[key], key
    for key in ("fabrik_of_200", "lm_of_200"):
        assert abs(again[key] - int(said[key])) <= 2, key  # rounding, on a border


def test_the_chains_of_the_race_reach_their_targets():
    speed = script("fabrik_speed")
    for links in (3, 10, 30):
        low, high = fabrik.reach(np.full(links, 1 / links))
        for near in ("anywhere", "at the edge"):
            r = np.linalg.norm(speed.targets(near), axis=1)
            assert low <= r.min() and r.max() <= high
