"""What is in the file?  Links, joints, tree, rigid bodies and shapes, as the rules see them.

Public name: `Robot`.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property, wraps
from pathlib import Path

import numpy as np

from course_lib.urdf_check.reading import (
    CHILDREN,
    MOVING,
    Node,
    UrdfError,
    end,
    inertia_of,
    pose,
    values,
)
from course_lib.urdf_check.shapes import hull, outermost, vertices, wrong_scale
from course_lib.urdf_check.xacro import is_file, package_folder


def _once(method):
    """Remember what a method of `Robot` gave for these arguments, as long as that robot lives."""

    @wraps(method)
    def remembered(self, *key):
        if (method, key) not in self.memory:
            self.memory[method, key] = method(self, *key)
        return self.memory[method, key]

    return remembered


class Robot:
    """Links, joints and shapes of a file that may be wrong in any way.

    What can't be read is None or NaN.
    """

    def __init__(self, root: Node, path: Path) -> None:
        self.root, self.path, self.folder, self.memory = root, path, path.resolve().parent, {}
        self.files = [(root,)]
        self.links, self.joints = root.findall("link"), root.findall("joint")
        # by name, by name, by the child's name; the first one counts
        self.link, self.joint, self.above = {}, {}, {}
        for link in self.links:
            self.link.setdefault(link.get("name"), link)
        for joint in self.joints:
            self.joint.setdefault(joint.get("name"), joint)
            self.above.setdefault(end(joint, "child"), joint)
        self.moving = [joint for joint in self.joints if joint.get("type") in MOVING]

    # ---- things that rules are called for: tuples that begin with an element

    @cached_property
    def nodes(self):
        """(element,) for all that URDF itself defines, not the insides of extensions."""
        found, stack = [], [self.root] if self.root.tag == "robot" else []
        while stack:
            found.append((stack.pop(),))
            stack += [
                child
                for child in reversed(found[-1][0])
                if child.tag in CHILDREN.get(found[-1][0].tag, ())
            ]
        return found

    @cached_property
    def carried(self):
        """(element,) for all in links and joints that a moving joint carries, not the scenery."""
        inside = [link for link in self.links if self.is_moved(link.get("name"))]
        inside += [joint for joint in self.joints if self.is_moved(end(joint, "child"))]
        return [(node,) for element in inside for node in element.iter()]

    @cached_property
    def axes(self):
        """(<axis>, or <joint> where there is none; joint; axis (3,)) of each moving joint."""
        pairs = [(joint.find("axis"), joint) for joint in self.moving]
        along = lambda axis: np.eye(3)[0] if axis is None else values(axis, "xyz", 3)
        return [(joint if axis is None else axis, joint, along(axis)) for axis, joint in pairs]

    @cached_property
    def axis_of(self):
        """{joint: (joint, axis)}"""
        return {joint: (joint, axis) for _, joint, axis in self.axes}

    @cached_property
    def limits(self):
        """(<limit>, joint, lower, upper, effort, velocity) of each moving joint that has one."""
        pairs = [(limit, joint) for joint in self.moving for limit in joint.findall("limit")[:1]]
        keys = ("lower", "upper", "effort", "velocity")
        return [(*pair, *(values(pair[0], key, 1, 0.0)[0] for key in keys)) for pair in pairs]

    @cached_property
    def odd_values(self):
        """(element, attribute, value) of numbers with tabs or new lines between them."""
        nodes, found = [node for (node,) in self.nodes], []
        for line, name, value in getattr(self.root, "odd", ())[:50]:
            here = [n for n in nodes if (n.line or 0) <= line and name in n.attrib]
            found += [(max(here, key=lambda node: node.line), name, value)] if here else []
        return found

    @cached_property
    def materials(self):
        """Names of the materials that have a colour or a texture somewhere in the file."""
        return {m.get("name") for m in self.root.iter("material") if len(m)}

    @cached_property
    def mimics(self):
        """(<mimic>, the joint it is in, the joint that it names or None)."""
        return [
            (mimic, joint, self.joint.get(mimic.get("joint")))
            for joint in self.joints
            for mimic in joint.findall("mimic")[:1]
        ]

    @cached_property
    def masses(self):
        """(<inertial>, link, mass) of each link; NaN where the mass can't be read."""
        links = self.link.values()
        pairs = [(inertial, link) for link in links for inertial in link.findall("inertial")[:1]]
        mass = lambda node: np.nan if node is None else values(node, "value", 1)[0]
        return [(*pair, mass(pair[0].find("mass"))) for pair in pairs]

    @cached_property
    def tensors(self):
        """(<inertia>, link, mass, principal moments (3,), axes (3, 3)) where mass is above 0."""
        found = []
        for inertial, link, mass in self.masses:
            tensor = inertial.find("inertia")
            try:
                if mass > 0 and tensor is not None:
                    found.append((tensor, link, mass, *np.linalg.eigh(inertia_of(tensor))))
            except (UrdfError, np.linalg.LinAlgError):
                continue
        return found

    # ---- the tree (each of these passes once over the joints, so that a huge file does no harm)

    def path_up(self, name):
        """Joints from link `name` up to a root, to an unknown link, or to where a loop closes."""
        path, seen = [], set()
        while name in self.above and name not in seen:
            seen.add(name)
            path.append(self.above[name])
            name = end(path[-1], "parent")
        return path

    @cached_property
    def rings(self):
        """Lists of joints, from below upwards, that close a loop."""
        rings, walk_of = [], {}
        for start in self.link:
            name, walk = start, []
            while name in self.above and name not in walk_of:
                walk_of[name] = start
                walk.append(name)
                name = end(self.above[name], "parent")
            if walk and walk_of.get(name) == start:
                rings.append([self.above[link] for link in walk[walk.index(name) :]])
        return rings

    @cached_property
    def body(self):
        """{link's name: (name of the first link of its rigid body, pose in that link)}.

        A rigid body is what fixed joints join.
        """
        bodies = {}
        for name in self.link:
            walk = {}
            while name not in bodies:
                joint = self.above.get(name)
                fixed = joint is not None and joint.get("type") == "fixed"
                parent = end(joint, "parent") if fixed else None
                if not fixed or parent not in self.link or parent in walk:
                    bodies[name] = name, np.eye(4)
                else:
                    walk[name], name = joint, parent
            for child, joint in reversed(walk.items()):
                first, T = bodies[end(joint, "parent")]
                bodies[child] = first, T @ pose(joint)
        return bodies

    @cached_property
    def _members(self):
        members = {}
        for name, (first, _) in self.body.items():
            members.setdefault(first, []).append(name)
        return members

    @cached_property
    def carries(self):
        """{first link of a body: number of moving joints that hang on it}"""
        return Counter(
            self.body[end(joint, "parent")][0]
            for joint in self.moving
            if end(joint, "parent") in self.body
        )

    def welded(self, name):
        """Names of the links that are one rigid body with link `name`."""
        return self._members[self.body[name][0]]

    def is_moved(self, name):
        """Does a moving joint carry link `name`, or is it one with the root?"""
        return name in self.body and self.body[name][0] in self.above

    @cached_property
    def _solid(self):
        return {
            link.get("name")
            for _, link, _, moments, _ in self.tensors
            if moments[0] > 1e-9 * moments[2]
        }

    def may_be_a_point(self, link):
        """Does the link's own inertia not matter?

        That is so if it is fixed to another one that has inertia, or one with the root.
        """
        name = link.get("name")
        return not self.is_moved(name) or any(
            other in self._solid for other in self.welded(name) if other != name
        )

    # ---- shapes

    def shape(self, link, tags=("visual", "collision")):
        """(k, 3) points around all that is drawn in a link, in its frame.

        None where there is nothing, or where something can't be read.
        """
        clouds = [self._cloud(part) for part in link if part.tag in tags]
        return None if not clouds or any(cloud is None for cloud in clouds) else np.vstack(clouds)

    def body_shape(self, link):
        """The same for the whole rigid body of a link, in the frame of that link."""
        first, here = self.body[link.get("name")]
        points = self._body_points(first)
        if points is None or not np.isfinite(here).all():
            return None
        return (points - here[:3, 3]) @ here[:3, :3]

    @_once
    def _body_points(self, first):
        """(k, 3) points around all that is welded to link `first`, and the origins of its links."""
        clouds, origins = [], []
        for other in self._members[first]:
            link, T = self.link[other], self.body[other][1]
            cloud = self.shape(link)
            if cloud is not None and np.isfinite(T).all():
                clouds.append(cloud @ T[:3, :3].T + T[:3, 3])
            elif link.find("visual") is not None or link.find("collision") is not None:
                return None
            origins += [T[:3, 3]] if np.isfinite(T).all() else []
        points = np.vstack([*clouds, origins]) if clouds else None
        return points if points is None or len(points) < 2000 else outermost(points)

    def moved_shape(self, link):
        """`body_shape` of a link that moves; None for one that never does."""
        return self.body_shape(link) if self.is_moved(link.get("name")) else None

    @cached_property
    def span(self):
        """Length [m] of all joints' and centres' origins together: no part reaches farther."""
        nodes = [*self.joints, *(inertial for inertial, _, _ in self.masses)]
        origins = [node.find("origin") for node in nodes]
        places = [values(node, "xyz", 3, 0.0) for node in origins if node is not None]
        return float(np.nansum(np.linalg.norm(np.reshape(places, (-1, 3)), axis=1)))

    @cached_property
    def heaviest(self):
        """The largest mass of a link [kg], 0 without any."""
        return np.nanmax([0.0, *(mass for *_, mass in self.masses)])

    def volume(self, link):
        """Volume of the box around a link's rigid body [m^3]; infinite where it is not known."""
        points = self.body_shape(link)
        volume = 0.0 if points is None else float(np.prod(np.ptp(points, axis=0)))
        return volume if volume > 1e-12 else np.inf

    def is_weighty(self, mass):
        """Is it at least a hundredth of the largest mass, so that its place matters?"""
        return mass >= 0.01 * self.heaviest

    @_once
    def _cloud(self, part):
        shape, T = part.find("geometry/*"), pose(part)
        points = None if shape is None else self.mesh(shape) if shape.tag == "mesh" else hull(shape)
        if (
            points is None
            or not np.isfinite(T).all()
            or shape.tag == "mesh"
            and wrong_scale(points)
        ):
            return None
        return points @ T[:3, :3].T + T[:3, 3]

    def mesh(self, node):
        """(k, 3) scaled vertices of a mesh (STL or OBJ), or None."""
        file, scale = self.mesh_file(node), values(node, "scale", 3, 1.0)
        points = (
            self._vertices(file)
            if file is not None and is_file(file) and np.isfinite(scale).all()
            else None
        )
        return None if points is None else points * scale

    def is_hollow(self, file):
        """Is it a mesh file of a size that is read, with no corners in it?"""
        try:
            return file.is_file() and file.stat().st_size < 4e7 and vertices(file) is None
        except OSError:
            return False
        except ValueError:
            return True

    @_once
    def _vertices(self, file):
        try:
            return vertices(file)
        except (OSError, ValueError):
            return None

    @_once
    def mesh_file(self, node):
        """Where the file of a mesh should be; None if its package or kind of address is unknown."""
        scheme, _, rest = node.get("filename", "").partition("://")
        around = [self.folder, *self.folder.parents]
        if scheme == "package" and rest:
            package, _, inside = rest.partition("/")
            folder = self._package(package)
            found = [f / inside for f in ([folder] if folder else []) + around]
            if not folder and not any(map(is_file, found)):
                return None
        else:
            found = (
                [Path(rest)]
                if scheme == "file"
                else []
                if rest
                else [folder / scheme for folder in around]
            )
        return next(filter(is_file, found), found[0] if found else None)

    @_once
    def _package(self, name):
        return package_folder(name, self.path)
