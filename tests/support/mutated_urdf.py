"""Mutated URDF files, checked and read in a process of their own, where each warning is an error.

    python -W error tests/support/mutated_urdf.py FIRST LAST

A file that crashes checker or reader, takes longer than 10 s or puts a word on stderr ends the run
with the number it was drawn from, its seed.
"""

import re
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

SLOWEST = 10.0  # [s]


def mutated(text: str, tokens: Sequence[str], rng: np.random.Generator) -> str:
    """A text with a few cuts, doublings and replacements at the borders of tags and attributes."""
    for _ in range(rng.integers(1, 7)):
        borders = [match.start() for match in re.finditer(r"[<>\"= ]", text)] or [0]
        a = borders[rng.integers(len(borders))]
        b = a + int(rng.integers(0, 300))
        kind, token = rng.integers(4), tokens[rng.integers(len(tokens))]
        parts = [text[:a], text[:b] + text[a:b], text[:a] + token, text[:a] + token]
        text = parts[kind] + text[a if kind == 2 else b :]
    return text


def survives(path: Path) -> None:
    """Check and read one file; AssertionError for findings or errors of another kind."""
    from course_lib.urdf import from_urdf
    from course_lib.urdf_check import RULES, Finding, check_urdf

    for found in check_urdf(path):
        assert isinstance(found, Finding) and found.rule in RULES and found.message and found.where
    try:
        assert from_urdf(path).n > 0
    except ValueError as error:
        assert path.name in str(error), error


def main(first: int, last: int) -> None:
    """Run the files drawn from the seeds first … last - 1."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from core.test_urdf_check import TOKENS, seeds

    texts = sorted(seeds(), key=len)
    path = Path(tempfile.mkdtemp()) / "robot.urdf"
    for seed in range(first, last):
        rng = np.random.default_rng(seed)
        text = mutated(texts[rng.integers(len(texts))], TOKENS, rng)
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        start = time.monotonic()
        try:
            survives(path)
        except BaseException:
            print(f"seed {seed}", file=sys.stderr)
            raise
        assert time.monotonic() - start < SLOWEST, f"seed {seed} takes too long"
    print(f"{last - first} files survive")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
