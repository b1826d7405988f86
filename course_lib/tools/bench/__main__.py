"""`python3 course.py bench [GROUP …] [--json FILE]`: how fast is it, side by side with others?"""

import argparse
import json
import sys
from pathlib import Path

from course_lib.tools.bench import GROUPS
from course_lib.tools.bench.core import Size, guarded
from course_lib.tools.bench.table import machine, machine_line, promises, summary, table

RATIO = "ours/peer: below 1 means that ours is faster"


def measure(names: list[str], size: Size) -> list[dict]:
    """Run the named groups and return a summary of each row; progress goes to stderr."""
    rows = []
    for name in names:
        print(f"{name} ...", file=sys.stderr, flush=True)
        for row in guarded(name, GROUPS[name](size)):
            rows.append(summary(row))
            print(f"  {row.name}", file=sys.stderr, flush=True)
    return rows


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the table, and return 0; 1 if a group failed or a promise is not kept."""
    parser = argparse.ArgumentParser(prog="course.py bench", description=__doc__)
    known = ", ".join(GROUPS)
    about = f"of {known} (default: all)"
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=about)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the same numbers to FILE")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.groups if name not in GROUPS]
    if unknown:
        parser.error(f"no group {unknown[0]!r}; there are {known}")
    place = machine()
    summaries = measure(options.groups or list(GROUPS), Size())
    print(table(summaries), machine_line(place), sep="\n\n")
    if options.json:
        text = json.dumps({"machine": place, "ratio": RATIO, "rows": summaries}, indent=1)
        options.json.write_text(text + "\n", encoding="utf-8")
    failed = any(said["note"].startswith("failed") for said in summaries)
    over = any(not promise["kept"] for said in summaries for promise in promises(said))
    return int(failed or over)


if __name__ == "__main__":
    sys.exit(main())
