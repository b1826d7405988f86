"""The URDF checker on the files of real arms.

Public names: `bench_urdf`.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from course_lib.tools.bench.core import Row, Size, race


def bench_urdf(size: Size) -> Iterator[Row]:
    """Checking each URDF file of a real arm that rtb-data ships, beside Pinocchio reading it."""
    from course_lib.urdf_check import check_urdf

    for path in real_files()[: size.files]:
        contenders = {"ours": lambda: check_urdf(path)}
        if loads := pinocchio_reader(path):
            contenders["Pinocchio reads it"] = loads
        name = f"check_urdf {path.name}"
        yield race(name, "ms", contenders, size.long_repeats, at_most=1000)


def real_files() -> list[Path]:
    """The plain URDF files of rtb-data, by name; none where the package is missing."""
    try:
        import rtbdata
    except ImportError:
        return []
    files = Path(rtbdata.__file__).parent.rglob("*.urdf")
    whole = [path for path in files if path.stat().st_size > 100]  # some hold only a file's name
    return sorted(whole, key=lambda path: path.name)


def pinocchio_reader(path: Path) -> Callable[[], object] | None:
    """A call that reads the file with Pinocchio; None without it, or where it refuses the file."""
    try:
        import pinocchio as pin

        pin.buildModelFromUrdf(str(path))
    except (ImportError, ValueError, RuntimeError):
        return None
    return lambda: pin.buildModelFromUrdf(str(path))
