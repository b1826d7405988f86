"""Which points lie around a shape?  Boxes, spheres, cylinders, and STL, OBJ and DAE files.

Public names: `hull`, `vertices`, `outermost`, `wrong_scale`.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from course_lib.urdf_check.reading import Node, values


def _directions(count):
    """(count + 6, 3) unit vectors spread evenly over the sphere, and the six along the axes."""
    k = np.arange(count)
    z, turn = 1 - (2 * k + 1) / count, k * np.pi * (3 - 5**0.5)
    spread = np.column_stack(
        [np.sqrt(1 - z**2) * np.cos(turn), np.sqrt(1 - z**2) * np.sin(turn), z]
    )
    return np.vstack([spread, np.eye(3), -np.eye(3)])


def hull(shape: Node) -> np.ndarray | None:
    """Corners of a box, or points on a sphere or around a cylinder; None if it is none of these."""
    turn = np.arange(200) * np.pi / 50
    ring = np.column_stack([np.cos(turn), np.sin(turn), np.repeat([-0.5, 0.5], 100)])
    corners = np.array(np.meshgrid(*3 * ([-0.5, 0.5],))).reshape(3, -1).T
    radius, length = values(shape, "radius", 1), values(shape, "length", 1)
    points = {
        "box": lambda: corners * values(shape, "size", 3),
        "sphere": lambda: _directions(200) * radius,
        "cylinder": lambda: ring * np.r_[radius, radius, length],
    }.get(shape.tag, lambda: np.array([np.nan]))()
    return points if np.isfinite(points).all() else None


def wrong_scale(points: np.ndarray) -> bool:
    """Is the largest extent of a mesh below 1 mm or above 20 m?"""
    return not 1e-3 < np.ptp(points, axis=0).max() < 20


def vertices(file: Path) -> np.ndarray | None:
    """The outermost corners (k, 3) of an STL, OBJ or DAE file; None for other kinds, or over 40 MB.

    `OSError` or `ValueError` if it can't be read.
    """
    kind = file.suffix.lower()
    if kind not in (".stl", ".obj", ".dae") or file.stat().st_size > 40_000_000:
        return None
    data = file.read_bytes()
    if kind == ".dae":
        return outermost(_collada(data))
    if (
        kind == ".stl"
        and len(data) >= 84
        and len(data) == 84 + 50 * int.from_bytes(data[80:84], "little")
    ):
        facets = np.frombuffer(data, np.dtype([("at", "<f4", (4, 3)), ("_", "<u2")]), offset=84)
        points = facets["at"][:, 1:].reshape(-1, 3).astype(float)
    else:
        points = np.array(
            re.findall(rb"^[ \t]*(?:vertex|v)[ \t]+(\S+)[ \t]+(\S+)[ \t]+(\S+)", data, re.M),
            dtype=float,
        ).reshape(-1, 3)
    return outermost(points)


def outermost(points: np.ndarray | None) -> np.ndarray | None:
    """Of points (k, 3) those that lie farthest out; None where there are none, or not finite."""
    if points is None or not len(points) or not np.isfinite(points).all():
        return None
    return points[np.unique(np.argmax(_directions(60) @ points.T, axis=1))]


def _collada(data):
    """Positions (k, 3) [m] in a COLLADA file; None where its scene moves or scales them."""
    from defusedxml import ElementTree

    root = ElementTree.fromstring(data)
    for node in root.iter():
        node.tag = node.tag.rpartition("}")[2]
        if node.tag in ("matrix", "rotate", "scale", "translate", "lookat", "skew"):
            return None
    unit = root.find("asset/unit")
    metres = 1.0 if unit is None else float(unit.get("meter", 1.0))
    wanted = {
        use.get("source", "#")[1:]
        for use in root.iter("input")
        if use.get("semantic") == "POSITION"
    }
    texts = [
        source.findtext("float_array", "")
        for source in root.iter("source")
        if source.get("id") in wanted
    ]
    return metres * np.array(" ".join(texts).split(), float).reshape(-1, 3)
