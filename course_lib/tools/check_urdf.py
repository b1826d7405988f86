"""`course.py check-urdf PATH… [--json]`: check URDF and xacro files on the command line and in CI.

A folder stands for all *.urdf and *.xacro below it, without the folders whose names begin with a
dot. Exit status: 0 nothing found, or notes only; 1 warnings; 2 errors, or a file that can't be
read.
"""

from __future__ import annotations

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
    if options.json:
        found = {file: _findings(file) for file in files}
        plain = {file: [asdict(finding) for finding in found[file]] for file in found}
        print(json.dumps(plain, indent=2))
    else:
        found = _told_as_text(files, folders)
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


def _told_as_text(files, folders):
    """{file: findings}, each printed as soon as it is found, and what they sum up to."""
    for folder, below in folders.items():
        if below:
            print(f"{folder}: {_count(len(below))} (*.urdf, *.xacro)")
    found = {}
    for file in files:
        found[file] = _findings(file)
        print(*found[file], f"{file}: {_summary(found[file])}", sep="\n")
    if len(found) > 1:
        print(_total(found.values()))
    return found


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
        found += [
            os.path.join(place, name)
            for name in sorted(files)
            if name.lower().endswith((".urdf", ".xacro"))
        ]
    return found


def _findings(file):
    """Findings that name the file as it was given, so that an editor can jump there."""
    if os.path.isdir(file):
        return [_nothing_at(file, "no *.urdf or *.xacro in this folder or below it")]
    if not os.path.lexists(file) and set("*?") & set(file):
        return [_nothing_at(file, "no file fits this pattern")]
    return [
        replace(finding, file=file + finding.file.removeprefix(Path(file).name))
        for finding in check_urdf(file)
    ]


def _nothing_at(path, message):
    entry = RULES["unreadable"]
    return Finding(entry.name, entry.severity, "file", None, message, entry.cure, path)


def _count(files):
    return f"{files} file{'s' * (files != 1)}"


def _total(found):
    counts = Counter(
        max((finding.severity for finding in findings), key=STATUS.get, default=None)
        for findings in found
    )
    return f"{_count(counts.total())}: " + ", ".join(
        f"{counts[kind]} {words}" for kind, words in WORST.items() if counts[kind]
    )


def _summary(findings):
    counts = Counter(finding.severity for finding in findings)
    return (
        ", ".join(
            f"{counts[kind]} {kind}{'s' * (counts[kind] > 1)}"
            for kind in ("error", "warning", "note")
            if counts[kind]
        )
        or "nothing found"
    )


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")  # Windows consoles
    sys.exit(main())
