"""`python3 course.py test --mutants PACKAGE`: what would nobody notice?"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests"))  # started by its path

from support.mutants.changes import Change, change, changes_of, drawn
from support.mutants.running import ROOMS, Place, outcomes

NOTES = "tests/support/mutants.toml"
ENOUGH = 0.9  # of the changes that have no reason must be noticed


def main(arguments: list[str] | None = None, place: Place = Place(ROOT)) -> int:
    """Run, list the survivors, and return 0 if enough changes were noticed, else 1; 2 for usage."""
    options = _options(arguments)
    if not hasattr(os, "fork"):
        print("The mutation run needs Linux or macOS: Windows has no fork.", file=sys.stderr)
        return 2
    found = [c for path in place.sources(options.package) for c in _changes(place, path)]
    if not found:
        print(f"No module, package or room {options.package!r} in {place.package}", file=sys.stderr)
        return 2
    always, reasons, stale = _notes(place, found)
    if options.only:
        chosen = [c for c in found if _is_at(c, options.only)]
    else:
        chosen = list(dict.fromkeys([*always, *drawn(found, options.count, options.seed)]))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # an end that ends the children, too
    try:
        survivors = _survivors(place, chosen)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    _print_lists(chosen, survivors, reasons, stale)
    return _verdict(chosen, survivors, reasons, always)


def _options(arguments):
    parser = argparse.ArgumentParser(prog="course.py test --mutants", description=__doc__)
    parser.add_argument("package", help=f"a module, a package, or a room: {', '.join(ROOMS)}")
    parser.add_argument("--seed", type=int, default=0, help="draws other changes (default 0)")
    parser.add_argument("--count", type=int, default=300, help="changes to try (default 300)")
    parser.add_argument("--only", metavar="FILE:LINE", help="all changes of this line instead")
    return parser.parse_args(arguments)


def _changes(place, path):
    return changes_of(path.read_bytes(), path.relative_to(place.root).as_posix())


def _is_at(change, only):
    file, _, line = only.rpartition(":")
    return change.file.endswith(file) and change.line == int(line)


def _notes(place, found):
    """NOTES on the files of these changes: what is always tried, reasons by key, stale keys."""
    path, files = place.root / NOTES, {c.file for c in found}
    notes = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    of = lambda kind: [note for note in notes.get(kind, []) if note["file"] in files]
    always = [_by_hand(place, note) for note in of("always")]
    reasons = {_key(note): note["reason"] for note in of("same")}
    return always, reasons, sorted(reasons.keys() - {c.key for c in found})


def _key(note):
    return note["file"], note.get("where", ""), note["before"], note["after"]


def _by_hand(place, note) -> Change:
    """A change that NOTES describes. `SystemExit` if its text is not there exactly once."""
    source, old = (place.root / note["file"]).read_bytes(), note["before"].encode()
    if source.count(old) != 1:
        sys.exit(f"{NOTES}: {note['file']} has {source.count(old)} times, not once: {old.decode()}")
    start = source.index(old)
    return change(source, note["file"], "", start, start + len(old), note["after"])


def _survivors(place, chosen: list[Change]) -> list[Change]:
    """The changes that no test noticed, with a line of progress."""
    start, survivors = time.monotonic(), []
    for done, (one, noticed) in enumerate(outcomes(place, chosen), 1):
        if not noticed:
            survivors.append(one)
        left = (time.monotonic() - start) / done * (len(chosen) - done) / 60
        line = f"{done} of {len(chosen)} tried, {len(survivors)} not noticed, {left:.0f} min to go"
        if sys.stderr.isatty():
            print(f"\r{line} ", end="\n" * (done == len(chosen)), file=sys.stderr, flush=True)
        elif done % 25 == 0:
            print(line, file=sys.stderr, flush=True)
    return sorted(survivors, key=chosen.index)


def _print_lists(chosen, survivors, reasons, stale):
    """What nobody noticed, and where the reasons are wrong."""
    for one in survivors:
        if one.key not in reasons:
            print(one)
    for one in chosen:
        if one.key in reasons and one not in survivors:
            print(f"{one}\n    has a reason in {NOTES}, but a test notices it")
    for file, where, before, _ in stale:
        print(f"{file} {where}: {NOTES} has a change that is not there any more: {before}")


def _verdict(chosen, survivors, reasons, always) -> int:
    """Print the share of changes that were noticed; 0 if it is enough."""
    silent = sum(one.key not in reasons for one in survivors)
    excused = len(survivors) - silent
    counted = len(chosen) - excused
    share = (counted - silent) / max(1, counted)
    print(
        f"{counted - silent} of {counted} changes noticed ({100 * share:.1f} %), {silent} not; "
        f"{excused} more change nothing, each with a reason."
    )
    missed = sum(one in survivors for one in always)
    if missed:
        print(f"{missed} of those that must be noticed (always in {NOTES}) are not.")
    return int(share < ENOUGH or missed > 0)


if __name__ == "__main__":
    sys.exit(main())
