"""The numbers of the rows, as text and as JSON, and on which machine they were taken.

Public names: `summary`, `promises`, `table`, `spread`, `machine`, `machine_line`.
"""

import os
import platform
import statistics

import numpy as np

from course_lib.tools.bench.core import Row

HEAD = ("row", "ours", "", "unit", "peer", "theirs", "", "ours/peer", "promise")
RIGHT = {1, 2, 5, 6, 7}  # columns of numbers


def spread(values: list[float]) -> float:
    """Half of the interquartile range: half of the values lie about this near to the median."""
    low, high = np.percentile(values, [25, 75])
    return float(high - low) / 2


def summary(row: Row) -> dict:
    """What the table and the JSON file say about a row."""
    said = {"name": row.name, "unit": row.unit, "note": row.note}
    said |= {"ours": None, "promises": [], "peers": []}
    if not row.ours:
        return said
    said["ours"], ours = _numbers(row.ours), statistics.median(row.ours)
    if row.at_most is not None:
        said["promises"].append(_promise(f"{row.at_most:g} {row.unit}", ours <= row.at_most))
    for name, times in row.peers.items():
        ratio = ours / statistics.median(times)
        peer = {"name": name, **_numbers(times), "ours/peer": ratio, "promises": []}
        if name in row.of_peer:
            most = row.of_peer[name]
            peer["promises"].append(_promise(f"{most:g} of it", ratio <= most))
        said["peers"].append(peer)
    return said


def _numbers(values):
    return {"median": statistics.median(values), "spread": spread(values), "count": len(values)}


def _promise(most, kept):
    return {"what": f"at most {most}", "kept": kept}


def promises(said: dict) -> list[dict]:
    """All promises of a summary."""
    return [*said["promises"], *(p for peer in said["peers"] for p in peer["promises"])]


def table(summaries: list[dict]) -> str:
    """The summaries as text: a line for each row, and one more for each further peer."""
    lines = [HEAD, *(line for said in summaries for line in _lines(said))]
    whole = [line for line in lines if line[1] != "–"]  # a note may run on
    widths = [max(map(len, column)) for column in zip(*whole)]
    widths[0] = max(len(line[0]) for line in lines)
    pads = [str.rjust if column in RIGHT else str.ljust for column in range(len(HEAD))]
    padded = [[pad(*cell) for pad, *cell in zip(pads, line, widths)] for line in lines]
    return "\n".join("  ".join(line).rstrip() for line in padded)


def _lines(said):
    """The lines of one row."""
    if not said["ours"]:
        return [(said["name"], "–", "", "", said["note"], *4 * [""])]
    own = (said["name"], *_show(said["ours"]), said["unit"])
    lines = []
    for i, peer in enumerate(said["peers"] or [None]):
        theirs, kept = 4 * [""], said["promises"] if i == 0 else []
        if peer:
            theirs = (peer["name"], *_show(peer), f"{peer['ours/peer']:.2f}")
            kept = kept + peer["promises"]
        words = "; ".join(f"{p['what']}: {'ok' if p['kept'] else 'OVER'}" for p in kept)
        lines.append((*(4 * [""] if i else own), *theirs, words))
    return lines


def _show(numbers):
    median, half = numbers["median"], numbers["spread"]
    digits = max(0, 2 - int(np.floor(np.log10(median)))) if median > 0 else 2
    return f"{median:.{digits}f}", f"± {half:.{digits}f}"


def machine() -> dict:
    """Where this is measured; load: busy processes over the last minute, None if not known."""
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }


def machine_line(place: dict) -> str:
    """The machine in one line, with a warning where others keep it busy."""
    versions = f"Python {place['python']}, NumPy {place['numpy']}, {place['system']}"
    line = f"{versions}, {place['cores']} cores"
    if place["load"] is not None:
        line += f", load {place['load']:.1f} at the start"
        if place["load"] > place["cores"] / 2:
            line += ": others are busy here, so times are too long; compare only within a row"
    return line
