"""Expand one xacro file to URDF text on standard output: `python -P xacro.py FILE`.

Runs as a process of its own (see `reading.expand_xacro`), since a xacro file is a program: it may
loop for ever or fill the memory. It needs the standard library and the xacro package only, so that
it starts fast (-P: `import xacro` means that package, not this file). Packages named by
`$(find NAME)` are looked for above and beside the file, then on ROS's own paths; if that fails, the
folder that holds the file's own `urdf` or `robots` folder stands in for the package.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

OWN_FOLDERS = ("urdf", "robots", "xacro")


def main(path: str) -> int:
    """Exit status 0, or 1 with the reason as the last line of standard error."""
    try:
        import xacro
        from xacro import substitution_args
    except ImportError:
        return _fail(
            "the package xacro is not installed (pip install xacro), so xacro files are not"
            " supported here"
        )
    _limit_memory()
    substitution_args._eval_find = lambda name: str(_package(name, path))
    try:
        document = xacro.process_file(path)
        text = document.toprettyxml(indent="  ", encoding="utf-8")
    except BaseException as error:  # xacro ends some errors with SystemExit
        return _fail(" ".join(str(error).split()) or type(error).__name__)
    sys.stdout.buffer.write(text)
    return 0


def _package(name, path):
    own = [
        folder
        for folder in Path(path).resolve().parents
        if any((folder / sub).is_dir() for sub in OWN_FOLDERS)
    ]
    folder = package_folder(name, path) or (own[0] if own else None)
    if folder is None:
        raise LookupError(f"package {name!r} not found near the file or on ROS_PACKAGE_PATH")
    return folder


def package_folder(name: str, near: str | Path) -> Path | None:
    """Folder of a ROS package as seen from the file `near`, or None.

    It is looked for above that file and beside what is above it, then on ROS's own paths.
    """
    for above in Path(near).resolve().parents:
        for folder in (above, above / name):
            if folder.name == name and is_dir(folder) or _package_name(folder) == name:
                return folder
    for root in (
        os.environ.get("ROS_PACKAGE_PATH", "")
        + os.pathsep
        + os.environ.get("AMENT_PREFIX_PATH", "")
    ).split(os.pathsep):
        for folder in (Path(root) / name, Path(root) / "share" / name):
            if root and is_dir(folder):
                return folder
    return None


def _package_name(folder):
    manifest = folder / "package.xml"
    try:
        text = (
            manifest.read_text(encoding="utf-8", errors="replace")
            if manifest.stat().st_size <= 100_000
            else ""
        )
    except (OSError, ValueError):  # none there, one that may not be read, or no path at all
        return None
    return text.partition("<name>")[2].partition("</name>")[0].strip()


def is_file(path: Path) -> bool:
    """`path.is_file()`, and False for what can be no path at all."""
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name too long, or with a NUL
        return False


def is_dir(path: Path) -> bool:
    """`path.is_dir()`, and False for what can be no path at all or may not be looked at."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _limit_memory(size=2 << 30):
    try:
        import resource
    except ImportError:  # not on Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def _fail(reason):
    print(reason[:400], file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
