"""Which points lie around a shape?  Boxes, spheres, cylinders, and meshes in STL and OBJ files.

Public names: `hull`, `vertices`, `wrong_scale`.
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
    """The outermost corners (k, 3) of an STL or OBJ file; None for other kinds, or over 40 MB.

    `OSError` or `ValueError` if it can't be read.
    """
    kind = file.suffix.lower()
    if kind not in (".stl", ".obj") or file.stat().st_size > 40_000_000:
        return None
    data = file.read_bytes()
    if (
        kind == ".stl"
        and len(data) >= 84
        and len(data) == 84 + 50 * int.from_bytes(data[80:84], "little")
    ):
        facets = np.frombuffer(data, np.dtype([("at", "<f4", (4, 3)), ("_", "<u2")]), offset=84)
        points = facets["at"][:, 1:].reshape(-1, 3).astype(float)
    else:
        points = np.array(
            re.findall(rb"^\s*(?:vertex|v)\s+(\S+)\s+(\S+)\s+(\S+)", data, re.MULTILINE),
            dtype=float,
        ).reshape(-1, 3)
    if not len(points) or not np.isfinite(points).all():
        return None
    return points[np.unique(np.argmax(_directions(60) @ points.T, axis=1))]
