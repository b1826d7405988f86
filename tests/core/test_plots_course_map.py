"""The map of the course: one card a lesson, all words on their cards, one path through all."""

import re
from pathlib import Path

import numpy as np
import pytest

from course_lib import plots
from course_lib.plots import course_map

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def drawn():
    fig = course_map.draw()
    plots.png(fig)  # lays it out
    return fig.axes[0], fig.canvas.get_renderer()


def test_there_is_a_card_for_every_lesson():
    numbers = list(course_map.lessons())
    assert numbers == [f"{i:02d}" for i in range(16)]
    there = {path.stem[:2] for path in (ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb")}
    assert there and there <= set(numbers)


def test_the_words_stay_on_their_cards(drawn):
    ax, renderer = drawn
    cards = [patch.get_window_extent(renderer) for patch in ax.patches]
    assert len(cards) == 16
    for card, words in zip(cards, course_map.lessons().values()):
        shown = [t for t in ax.texts if t.get_text() in (words["name"], words["question"])]
        assert len(shown) == 2
        for text in shown:
            box = text.get_window_extent(renderer)
            assert card.x0 < box.x0 and box.x1 < card.x1, text.get_text()
            assert card.y0 < box.y0 and box.y1 < card.y1, text.get_text()


def test_the_path_leads_from_card_to_neighbour_in_order(drawn):
    ax, renderer = drawn
    way = ax.lines[0].get_xydata()
    assert len(way) == 16
    steps = np.abs(np.diff(way, axis=0))
    assert (np.minimum(*steps.T) < 1e-9).all() and np.ptp(steps.max(axis=1)) < 1.0
    for patch, place in zip(ax.patches, way):
        assert np.allclose(patch.get_bbox().get_points().mean(axis=0), place)


def test_every_lesson_has_a_drawing_of_its_own_inside_its_card():
    drawings = {number: card["strokes"] for number, card in course_map.lessons().items()}
    assert len({str(strokes) for strokes in drawings.values()}) == 16
    for number, strokes in drawings.items():
        points = np.concatenate([np.reshape(stroke[-1], (-1, 2)) for stroke in strokes])
        assert (points >= 0).all() and (points <= [16, 9]).all(), number


def test_every_card_asks_a_question(drawn):
    assert all(re.fullmatch(r".+\?", card["question"]) for card in course_map.lessons().values())
