"""`course.py check-urdf PATH… [--json]`: check URDF and xacro files on the command line and in CI.

A folder stands for all *.urdf and *.xacro below it, without the folders whose names begin with a
dot. Exit status: 0 nothing found, or notes only; 1 warnings; 2 errors, or a file that can't be
read.
"""

import argparse
import glob
import json
import os
import sys
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path

from course_lib.urdf_check import RULES, Finding, check_urdf

STATUS = {"note": 0, "warning": 1, "error": 2}
WORST = {
    "error": "with errors",
    "warning": "with warnings but no error",
    "note": "with notes only",
    None: "with no finding",
}


def main(arguments: list[str] | None = None) -> int:
    """Print the findings of each file and return the exit status."""
    options = _options(arguments)
    given = [path for word in options.paths for path in _matches(word)]
    folders = {path: _files_below(path) for path in given if os.path.isdir(path)}
    files = dict.fromkeys(file for path in given for file in folders.get(path) or [path])
    say = (lambda *words: None) if options.json else lambda *words: print(*words, sep="\n")
    for folder, below in folders.items():
        if below:
            say(f"{folder}: {_count(len(below), 'file')} (*.urdf, *.xacro)")
    found = {}
    for file in files:
        found[file] = _findings(file)
        say(*found[file], f"{file}: {_summary(found[file])}")
    if len(found) > 1:
        say(_total(found.values()))
    if options.json:
        plain = {file: [asdict(finding) for finding in found[file]] for file in found}
        print(json.dumps(plain, indent=2))
    every = [finding for findings in found.values() for finding in findings]
    return max((STATUS[finding.severity] for finding in every), default=0)


def _options(arguments):
    """What the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="course.py check-urdf",
        description="Find faults in URDF and xacro files.",
        epilog="exit status: 0 nothing found or notes only, 1 warnings, 2 errors",
    )
    path = "a file, or a folder: all *.urdf and *.xacro below it"
    parser.add_argument("paths", nargs="+", metavar="PATH", help=path)
    as_json = "print one JSON object: {file: [findings]}"
    parser.add_argument("--json", action="store_true", help=as_json)
    return parser.parse_args(arguments)


def _matches(word):
    """The paths that a word of the command line stands for.

    Shells on Windows leave * and ? to the program.
    """
    if os.path.lexists(word) or not set("*?") & set(word):
        return [word]
    return sorted(glob.glob(word, recursive=True)) or [word]


def _files_below(folder):
    found = []
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        named = [name for name in sorted(files) if name.lower().endswith((".urdf", ".xacro"))]
        found += [os.path.join(place, name) for name in named]
    return found


def _findings(file):
    """Findings that name the file as it was given, so that an editor can jump there."""
    nothing = ""
    if os.path.isdir(file):
        nothing = "no *.urdf or *.xacro in this folder or below it"
    elif not os.path.lexists(file) and set("*?") & set(file):
        nothing = "no file fits this pattern"
    if nothing:
        entry = RULES["unreadable"]
        return [Finding(entry.name, entry.severity, "file", None, nothing, entry.cure, file)]
    name = Path(file).name
    return [replace(one, file=file + one.file.removeprefix(name)) for one in check_urdf(file)]


def _count(number, word):
    return f"{number} {word}{'s' * (number != 1)}"


def _total(found):
    worst = [max((one.severity for one in each), key=STATUS.get, default=None) for each in found]
    counts = Counter(worst)
    kinds = [f"{counts[kind]} {words}" for kind, words in WORST.items() if counts[kind]]
    return f"{_count(len(worst), 'file')}: {', '.join(kinds)}"


def _summary(findings):
    counts = Counter(finding.severity for finding in findings)
    kinds = [_count(counts[kind], kind) for kind in WORST if counts[kind]]
    return ", ".join(kinds) or "nothing found"


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")  # Windows consoles
    sys.exit(main())
