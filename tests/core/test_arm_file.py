"""course_lib.arm_file: reading an arm, and errors that name file, field and value."""

import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation
from support.engines import LIBRARY_ARMS

from course_lib.arm import load_arm
from course_lib.arm_file import ARMS, FILE_FIELDS, JOINT_FIELDS, find, read

GOOD = {
    "name": "x",
    "convention": "standard",
    "joints": [dict(a=1, alpha="pi/2", d=0, theta=0)] * 2,
}


def edited(**changes):
    return {**GOOD, **changes}


def one(**changes):
    """A file with one joint."""
    return edited(joints=[{**dict(a=1, alpha=0, d=0, theta=0), **changes}])


ROW = dict(a=1, alpha=0, d=0, theta=0)


@pytest.mark.parametrize(
    "content, message",
    [
        ("text", r"file: 'text', expected fields \['name', 'convention', 'joints'\]"),
        ({"name": "x", "joints": []}, "file: field 'convention' is missing"),
        ({"convention": "standard", "joints": []}, "file: field 'name' is missing"),
        ({"name": "x", "convention": "standard"}, "file: field 'joints' is missing"),
        (edited(jionts=1), r"file: unknown field 'jionts', did you mean 'joints'\?"),
        (edited(qqq=1), r"file: unknown field 'qqq', expected \('name', 'convention', 'about'"),
        (edited(convention="craig"), r"convention: 'craig', expected one of"),
        (edited(joints=[]), r"joints: \[\], expected a list"),
        (edited(joints={"a": 1}), r"joints: \{'a': 1\}, expected a list"),
        (edited(joints=[1]), r"joints\[0\]: 1, expected fields \['a', 'alpha', 'd', 'theta'\]"),
        (edited(joints=[ROW, {**ROW, "b": 1}]), r"joints\[1\]: unknown field 'b'"),
        (edited(joints=[dict(a=1, alpha=0, d=0)]), r"joints\[0\]: field 'theta' is missing"),
        (edited(joints=[{**ROW, "mass": 1}, ROW]), r"joints\[1\].mass: missing, but other joints"),
        (edited(joints=[ROW, {**ROW, "mass": 1}]), r"joints\[0\].mass: missing, but other joints"),
        (one(q_mim=1), r"joints\[0\]: unknown field 'q_mim', did you mean 'q_min'\?"),
        (one(alpha="pi/x"), r"joints\[0\].alpha: 'pi/x', expected a number or a multiple of pi"),
        (one(alpha="pi2"), r"joints\[0\].alpha: 'pi2', expected a number or a multiple of pi"),
        (one(alpha="xpi"), r"joints\[0\].alpha: 'xpi', expected a number or a multiple of pi"),
        (one(alpha="pi/0"), r"joints\[0\].alpha: 'pi/0', which divides by zero"),
        (one(a="1"), r"joints\[0\].a: '1', expected a number"),
        (one(a="x1e3"), r"joints\[0\].a: 'x1e3', expected a number"),
        (one(a="1e3x"), r"joints\[0\].a: '1e3x', expected a number"),
        (one(a=True), r"joints\[0\].a: True, expected a number"),
        (one(a=None), r"joints\[0\].a: None, expected a number"),
        (one(a=[1, 2]), r"joints\[0\].a: \[1, 2\], expected one number"),
        (one(a=float("nan")), r"a\[0\]: nan, expected finite numbers"),
        (one(com=[1, 2]), r"joints\[0\].com: \[1, 2\], expected numbers of shape \(3,\)"),
        (one(com=[1, "x", 2]), r"joints\[0\].com\[1\]: 'x', expected a number"),
        (
            one(inertia=[[1], [2, 3]]),
            r"joints\[0\].inertia: .*, expected numbers of shape \(3, 3\)",
        ),
        (one(q_min=1, q_max=-1), r"q_min\[0\]: 1 lies above q_max\[0\] = -1"),
        (one(radius=0), r"radius\[0\]: 0, expected a positive number"),
        (one(type="ball"), r"joint_types: \('ball',\), expected 1 of"),
        (one(type=["revolute"]), r"joint_types: "),
        (edited(tool={"xyz": [0, 0]}), r"tool.xyz: \[0.0, 0.0\], expected three numbers"),
        (edited(tool={"rpy": 1}), r"tool.rpy: 1.0, expected three numbers"),
        (edited(base={"xyz": [0, 0, "x"]}), r"base.xyz\[2\]: 'x', expected a number"),
        (edited(base={"rpz": [0, 0, 0]}), r"base: unknown field 'rpz', did you mean 'rpy'\?"),
        (edited(tool=[0, 0, 0]), r"tool: \[0, 0, 0\], expected fields"),
        (edited(solid_cylinders=True), r"solid_cylinders: needs the mass"),
    ],
)
def test_a_wrong_file_is_told_by_file_field_and_value(tmp_path, content, message):
    path = tmp_path / "wrong.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    with pytest.raises(ValueError, match=r"^wrong\.yaml: " + message):
        load_arm(path)


def test_unreadable_and_unknown_files(tmp_path):
    path = tmp_path / "broken.yaml"
    path.write_text("joints: [", encoding="utf-8")
    with pytest.raises(ValueError, match="broken.yaml: not readable as YAML"):
        load_arm(path)
    with pytest.raises(FileNotFoundError, match="no arm 'cobot7': .*cobot6"):
        load_arm("cobot7")


@pytest.mark.parametrize(
    "value, radians",
    [
        ("pi", np.pi),
        ("-pi/2", -np.pi / 2),
        ("3*pi/4", 3 * np.pi / 4),
        ("2 * pi", 2 * np.pi),
        (" +1.5*pi / 0.5 ", 3 * np.pi),
        (0.5, 0.5),
        ("1e-3", 0.001),
        ("-2.5E1", -25),
        ("+2.e+1", 20),
    ],
)
def test_angles_in_a_file_may_be_multiples_of_pi(tmp_path, value, radians):
    path = tmp_path / "arm.yaml"
    path.write_text(
        yaml.safe_dump(edited(joints=[dict(a=0, alpha=value, d=0, theta=0)])), encoding="utf-8"
    )
    assert load_arm(path).alpha[0] == pytest.approx(radians, abs=1e-15)


# ------------------------------------------------ what a file may hold


def written(tmp_path, **changes):
    path = tmp_path / "arm.yml"
    path.write_text(yaml.safe_dump(edited(**changes)), encoding="utf-8")
    return path


def test_every_file_is_a_library_arm():
    assert sorted(p.stem for p in ARMS.glob("*.yaml")) == sorted(LIBRARY_ARMS)
    assert ARMS.parts[-2:] == ("data", "arms")


@pytest.mark.parametrize("form", [str, lambda path: path])
def test_a_file_is_found_by_name_and_by_path(tmp_path, form):
    assert find("cobot6") == ARMS / "cobot6.yaml"
    path = written(tmp_path)
    assert find(form(path)) == path and load_arm(form(path)).n == 2


def test_every_field_of_a_joint_is_read(tmp_path):
    """Numbers that differ from field to field and from joint to joint arrive where they belong."""
    values, joints = {}, [{"type": "prismatic"}, {"type": "revolute"}]
    for k, row in enumerate(JOINT_FIELDS, start=1):
        both = 0.1 * k + np.arange(2 * np.prod(row.shape, dtype=int)).reshape(2, *row.shape)
        if row.name == "inertia":
            both = both + np.swapaxes(both, -1, -2) + 50 * np.eye(3)
        values[row.name] = both
        for joint, value in zip(joints, both):
            joint[row.name] = value.tolist()
    fields = read(written(tmp_path, joints=joints))
    assert fields.pop("joint_types") == ("prismatic", "revolute")
    assert (fields.pop("name"), fields.pop("convention")) == ("x", "standard")
    assert fields.pop("solid_cylinders") is False
    assert set(fields) == set(values)
    for name, value in values.items():
        assert np.array_equal(fields[name], value), name


def test_only_the_four_numbers_of_a_row_are_needed(tmp_path):
    fields = read(written(tmp_path))
    assert set(fields) == {
        *("name", "convention", "solid_cylinders", "joint_types"),
        *("a", "alpha", "d", "theta"),
    }
    assert fields["joint_types"] == ("revolute", "revolute")


@pytest.mark.parametrize("name", ["base", "tool"])
def test_a_pose_is_an_origin_and_turns_about_fixed_axes(tmp_path, name):
    fields = read(written(tmp_path, **{name: {"xyz": [1, 2, 3], "rpy": ["pi/2", 0.3, -0.4]}}))
    T = fields[name]
    turns = [Rotation.from_rotvec(v) for v in np.diag([np.pi / 2, 0.3, -0.4])]
    assert np.allclose(T[:3, :3], (turns[2] * turns[1] * turns[0]).as_matrix(), rtol=0, atol=1e-15)
    assert T[:, 3].tolist() == [1, 2, 3, 1] and T[3].tolist() == [0, 0, 0, 1]
    moved = read(written(tmp_path, **{name: {"xyz": [1, 2, 3]}}))[name]
    assert np.array_equal(moved[:3, :3], np.eye(3))
    turned = read(written(tmp_path, **{name: {"rpy": [0, 0, 1]}}))[name]
    assert not turned[:3, 3].any() and turned[1, 0] == pytest.approx(np.sin(1), abs=1e-15)


def test_about_is_for_readers_and_solid_cylinders_for_bodies(tmp_path):
    assert "about" in FILE_FIELDS and "about" not in read(written(tmp_path, about="who made it"))
    joints = [dict(a=0.5, alpha=0, d=0, theta=0, mass=2, radius=0.05)]
    arm = load_arm(written(tmp_path, joints=joints, solid_cylinders=True))
    assert arm.com.tolist() == [[-0.25, 0, 0]]
    assert arm.inertia[0, 0, 0] == pytest.approx(2 * 0.05**2 / 2, rel=1e-12)
    for no in (False, None):
        assert load_arm(written(tmp_path, joints=joints, solid_cylinders=no)).com is None


# ------------------------------------------------ the table, as a file meets it


@pytest.mark.parametrize(
    "name, value",
    [
        ("q_min", -np.pi),
        ("q_max", np.pi),
        ("qd_max", np.inf),
        ("qdd_max", np.inf),
        ("radius", 0.03),
        *[(unknown, None) for unknown in ("mass", "com", "inertia", "tau_max")],
    ],
)
def test_what_a_file_leaves_out_has_a_default_or_is_unknown(tmp_path, name, value):
    found = getattr(load_arm(written(tmp_path)), name)
    assert found is None if value is None else found.tolist() == [value, value]


@pytest.mark.parametrize("field", JOINT_FIELDS, ids=lambda field: field.name)
def test_only_limits_may_be_infinite(tmp_path, field):
    """ ".inf" in YAML."""
    value = np.broadcast_to(-np.inf if field.name == "q_min" else np.inf, field.shape).tolist()
    path = written(tmp_path, **one(**{field.name: value}))
    if field.name in ("q_min", "q_max", "qd_max", "qdd_max"):
        assert getattr(load_arm(path), field.name).tolist() == [value]
    else:
        with pytest.raises(
            ValueError, match=rf"^arm\.yml: {field.name}\[.*\]: inf, expected finite"
        ):
            load_arm(path)


SCALARS = [field for field in JOINT_FIELDS if not field.shape]


@pytest.mark.parametrize("field", SCALARS, ids=lambda field: field.name)
def test_only_limits_of_rate_sizes_and_masses_must_be_positive(tmp_path, field):
    path = written(tmp_path, **one(**{field.name: -0.5}))
    if field.name in ("qd_max", "qdd_max", "radius", "mass", "tau_max"):
        with pytest.raises(
            ValueError, match=rf"^arm\.yml: {field.name}\[0\]: -0.5, expected a pos"
        ):
            load_arm(path)
    else:
        assert getattr(load_arm(path), field.name).tolist() == [-0.5]
