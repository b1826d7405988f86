"""What is measured: rows of times, taken in turn.

Public names: `Size`, `Row`, `race`, `interleaved`, `repeated`, `seconds_of`, `guarded`, `lessons`.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[3]
UNITS = {"s": 1.0, "ms": 1e3, "µs": 1e6}  # so many in a second


def modules_of_the_library() -> tuple[str, ...]:
    """Dotted names of what a lesson may import: modules and packages, no tools."""
    home = PROJECT / "course_lib"
    files = [*home.glob("[a-z]*.py"), *(path.parent for path in home.glob("*/__init__.py"))]
    return tuple(sorted(f"course_lib.{path.stem}" for path in files if path.stem != "tools"))


@dataclass(frozen=True)
class Size:
    """How much to measure. A test makes it tiny."""

    repeats: int = 7  # of anything short
    long_repeats: int = 3  # of anything that takes seconds
    configurations: int = 100_000  # for batches
    calls: int = 20  # of what takes microseconds, in a turn that a busy machine seldom breaks
    redraws: int = 25  # per explorer
    presses: int = 20  # of a key, per explorer
    files: int = 100  # real URDF files at most
    notebooks: Path = PROJECT / "notebooks"
    modules: tuple[str, ...] = field(default_factory=modules_of_the_library)


@dataclass(frozen=True)
class Row:
    """One thing measured: our times and those of its peers, all in `unit`.

    at_most: promised median of ours [unit]; of_peer: peers by name, with the promised ours/peer.
    Without times of ours, `note` says why.
    """

    name: str
    unit: str = "ms"
    ours: list[float] = field(default_factory=list)
    peers: dict[str, list[float]] = field(default_factory=dict)
    at_most: float | None = None
    of_peer: dict[str, float] = field(default_factory=dict)
    note: str = ""


def race(
    name: str,
    unit: str,
    contenders: dict[str, Callable[[], object]],
    repeats: int,
    *,
    clock: Callable[[Callable], float] | None = None,
    calls: int = 1,
    answers: dict[str, int] | None = None,
    at_most: float | None = None,
    of_peer: dict[str, float] | None = None,
) -> Row:
    """The row of contenders that take turns, "ours" and its peers: the time of one answer.

    clock: gives the seconds of a call (seconds_of); calls: how many of each make a turn;
    answers: how many one call gives, 1 for who is not named. A promise whose peer is not there is
    left out: Pinocchio has no Windows wheel.
    """
    if calls > 1:
        contenders = {who: repeated(call, calls) for who, call in contenders.items()}
    turns = interleaved(contenders, repeats, clock or seconds_of)
    times = {}
    for who, seconds in turns.items():
        each = UNITS[unit] / (calls * (answers or {}).get(who, 1))
        times[who] = [each * t for t in seconds]
    promised = {peer: ratio for peer, ratio in (of_peer or {}).items() if peer in times}
    return Row(name, unit, times.pop("ours"), times, at_most=at_most, of_peer=promised)


def seconds_of(call: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def interleaved(
    contenders: dict[str, Callable], repeats: int, clock: Callable[[Callable], float] = seconds_of
) -> dict[str, list[float]]:
    """What the clock says of each, `repeats` times in turn; one turn before is not counted."""
    turns = [{who: clock(call) for who, call in contenders.items()} for _ in range(repeats + 1)]
    return {who: [turn[who] for turn in turns[1:]] for who in contenders}


def repeated(call: Callable[[], object], times: int) -> Callable[[], None]:
    """A function that makes a short call so many times: a clock's own cost is then no matter."""

    def calls() -> None:
        for _ in range(times):
            call()

    return calls


def guarded(name: str, rows: Iterator[Row]) -> Iterator[Row]:
    """The rows, and where they break off one that says why: the others are still wanted."""
    try:
        yield from rows
    except Exception as error:
        yield Row(name, note=f"failed: {type(error).__name__}: {error}".splitlines()[0])


def lessons(size: Size) -> list[Path]:
    """Paths of all lessons, in order."""
    return sorted(size.notebooks.glob("[0-9][0-9]_*.ipynb"))
