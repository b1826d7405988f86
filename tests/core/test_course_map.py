"""The map of the course: a card for each lesson, and words that stay on their cards."""

from pathlib import Path

from course_lib import plots
from course_lib.plots import course_map

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
NUMBERS = [card[0] for card in course_map.LESSONS]


def test_the_map_has_a_card_for_every_lesson():
    assert NUMBERS == [f"{i:02d}" for i in range(16)]
    assert {path.stem[:2] for path in NOTEBOOKS.glob("[0-9][0-9]_*.ipynb")} <= set(NUMBERS)


def test_the_words_on_the_map_stay_on_their_cards():
    fig = course_map.draw()
    plots.png(fig)  # lays it out
    renderer, ax = fig.canvas.get_renderer(), fig.axes[0]
    cards = [patch.get_window_extent(renderer) for patch in ax.patches]
    assert len(cards) == len(NUMBERS)
    for _, name, question, *_ in course_map.LESSONS:
        for text in [t for t in ax.texts if t.get_text() in (name, question)]:
            box = text.get_window_extent(renderer)
            assert any(
                c.x0 < box.x0 and box.x1 < c.x1 and c.y0 < box.y0 and box.y1 < c.y1 for c in cards
            ), text.get_text()
