"""`course.py check-urdf FILE… [--json]`: check URDF and xacro files on the command line and in CI.

Exit status: 0 nothing found, or notes only; 1 warnings; 2 errors, or a file that cannot be read.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from dataclasses import asdict

from course_lib.urdf_check import check_urdf

STATUS = {"note": 0, "warning": 1, "error": 2}


def main(arguments: list[str] | None = None) -> int:
    """Print the findings of each file and return the exit status."""
    parser = argparse.ArgumentParser(prog="course.py check-urdf", description="Find faults in URDF and xacro files.",
                                     epilog="exit status: 0 nothing found or notes only, 1 warnings, 2 errors")
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--json", action="store_true", help="print one JSON object: {file: [findings]}")
    options = parser.parse_args(arguments)
    found = {file: check_urdf(file) for file in options.files}
    if options.json:
        print(json.dumps({file: [asdict(finding) for finding in findings] for file, findings in found.items()}, indent=2))
    else:
        for file, findings in found.items():
            for finding in findings:
                print(finding)
            print(f"{file}: {_summary(findings)}")
    return max((STATUS[finding.severity] for findings in found.values() for finding in findings), default=0)


def _summary(findings):
    counts = Counter(finding.severity for finding in findings)
    return ", ".join(f"{counts[kind]} {kind}{'s' * (counts[kind] > 1)}" for kind in ("error", "warning", "note") if counts[kind]) or "nothing found"


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")      # Windows consoles
    sys.exit(main())
