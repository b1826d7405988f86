"""What does a posture cost with capsules and boxes, and what with meshes?  Pinocchio with coal.

    python data/measurements/collision_shapes.py        # writes collision_shapes.csv beside it

Lesson 09 shows the file: cobot6 among six boxes, 36 pairs. Its links are capsules, convex hulls, or
meshes of so many triangles, and the boxes are boxes, or meshes of twelve triangles. "distances":
all 36 distances; "touches": whether any pair does, up to the first one. Postures are drawn. Rows
take turns, so that a busy moment hits all of them; times are the least of nine.
"""

import csv
import time
from pathlib import Path

import coal
import numpy as np
import pinocchio as pin

from course_lib.arm import load_arm
from course_lib.collision import Box, Scene
from course_lib.plots import solids
from course_lib.tools.bench.collision import coal_geometry, solid

COUNT, ROUNDS = 60, 9
ARM = load_arm("cobot6")
RNG = np.random.default_rng(0)
SCENE = Scene([solid(Box, RNG) for _ in range(6)], pairs=())
POSTURES = RNG.uniform(ARM.q_min, ARM.q_max, (COUNT, 6))


def mesh(shape, sides):
    """A mesh of a capsule, a sphere or a box, in its own frame: half as many rings as sides."""
    if isinstance(shape, coal.Box):
        quads = solids.box(np.eye(4), 2 * shape.halfSide, pieces=1)
    else:
        quads = solids.ball((0, 0, 0), shape.radius, sides=sides)
        half = getattr(shape, "halfLength", 0.0)
        quads[..., 2] += half * np.where(quads[..., 2].mean(axis=1) > 0, 1, -1)[:, None]
        wall = solids.tube((0, 0, -half), (0, 0, half), shape.radius, sides=sides, pieces=1)
        quads = np.concatenate([quads, wall[:sides]])
    model = coal.BVHModelOBBRSS()
    model.beginModel(2 * len(quads), 4 * len(quads))
    model.addVertices(quads.reshape(-1, 3))
    corners = 4 * np.arange(len(quads))[:, None] + [[0, 1, 2, 0, 2, 3]]
    model.addTriangles(corners.reshape(-1, 3))
    model.endModel()
    return model


def hull(shape, sides):
    """The convex hull of the mesh."""
    model = mesh(shape, sides)
    model.buildConvexHull(True, "Qt")
    return model.convex


def setting(of_links, of_boxes, sides=24):
    """(model, its data, geometry, its data), with the shapes replaced; and triangles of a link."""
    model, geometry = coal_geometry(ARM, SCENE)
    made = 0
    for one in geometry.geometryObjects:
        remake = of_boxes if isinstance(one.geometry, coal.Box) else of_links
        if remake:
            one.geometry = remake(one.geometry, sides)
            if "body" in one.name and isinstance(one.geometry, coal.BVHModelOBBRSS):
                made = one.geometry.num_tris
    return model, model.createData(), geometry, geometry.createData(), made


def seconds(call):
    start = time.perf_counter()
    for q in POSTURES:
        call(q)
    return time.perf_counter() - start


def touching(model, data, geometry, scratch):
    """In how many postures something touches."""
    ask = lambda q: pin.computeCollisions(model, data, geometry, scratch, q, True)
    return sum(map(ask, POSTURES))


def main():
    settings = {
        "capsules, boxes": setting(None, None),
        "convex hulls, boxes": setting(hull, None),
        "meshes, boxes": setting(mesh, None, 24),
        "meshes, meshes": setting(mesh, mesh, 24),
        "finer meshes, meshes": setting(mesh, mesh, 48),
    }
    times = {name: ([], []) for name in settings}
    for _ in range(ROUNDS):
        for name, (model, data, geometry, scratch, _) in settings.items():
            distances = lambda q: pin.computeDistances(model, data, geometry, scratch, q)
            touches = lambda q: pin.computeCollisions(model, data, geometry, scratch, q, True)
            for taken, call in zip(times[name], (distances, touches)):
                taken.append(1e6 * seconds(call) / COUNT)
    first = [min(taken) for taken in times["capsules, boxes"]]
    rows = [["shapes", "triangles a link", "distances [µs]", "times", "touches [µs]", "times"]]
    rows[0].append(f"touching of {COUNT}")
    for name, both in times.items():
        row = [name.replace(", ", " – "), settings[name][4] or "–"]
        for taken, least in zip(both, first):
            row += [f"{float(f'{x:.2g}'):g}" for x in (min(taken), min(taken) / least)]
        rows.append([*row, touching(*settings[name][:4])])
    path = Path(__file__).with_suffix(".csv")
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    print(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
