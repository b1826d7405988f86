"""Do the module's own tests notice a change?  One forked child runs them on the changed code.

The parent has loaded the big libraries once; the child puts the changed source in place by an
import hook, so that no file is written.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import importlib.machinery
import importlib.util
import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from support.mutants.changes import Change

ROOMS = {"floor": ("arm", "arm_file", "poses", "kinematics", "dh", "urdf", "engines")}
HEAVY = (
    "numpy",
    "scipy.optimize",
    "scipy.spatial.transform",
    "matplotlib.pyplot",
    "hypothesis.extra.numpy",
    "_hypothesis_pytestplugin",
    "pytest",
    "roboticstoolbox",
    "pinocchio",
    "defusedxml.ElementTree",
    "IPython",
    "ipywidgets",
    "nbformat",
)
WORKERS = 2
NO_PYTHON = 70  # exit status of a child whose change can't be compiled
MEMORY = 8 * 2**30  # bytes of address space: a mutant must not fill the machine


@dataclass(frozen=True)
class Place:
    """A folder with the sources and tests of a package; heavy: libraries worth importing once."""

    root: Path
    package: str = "course_lib"
    heavy: tuple[str, ...] = HEAVY

    def sources(self, name: str) -> list[Path]:
        """The files of a module, of a package, or of all modules of a room."""
        home = self.root / self.package
        found = []
        for part in ROOMS.get(name, (name,)):
            for stem in (home / part, home / "tools" / part):
                found += [p for p in (stem.with_suffix(".py"), *sorted(stem.rglob("*.py")))]
        return [path for path in found if path.is_file()]

    def tests_of(self, source: Path) -> tuple[str, ...]:
        """The tests of the module or package that a file belongs to, from the root."""
        parts = source.relative_to(self.root / self.package).with_suffix("").parts
        room, (name, *_) = ("tools", parts[1:]) if parts[0] == "tools" else ("core", parts)
        folder = self.root / "tests" / room
        longer = [n for n in self._modules() if n.startswith(name + "_")]
        files = [
            path
            for path in [folder / f"test_{name}.py", *sorted(folder.glob(f"test_{name}_*.py"))]
            if path.is_file() and not any(path.stem.startswith(f"test_{n}") for n in longer)
        ]
        files.sort(key=lambda path: not path.stem.endswith(source.stem))  # most likely to notice
        return tuple(path.relative_to(self.root).as_posix() for path in files)

    def module(self, file: str) -> str:
        """The dotted name of a file."""
        parts = Path(file).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def _modules(self):
        home = self.root / self.package
        return {path.stem for path in [*home.glob("*"), *home.glob("tools/*")]}


@dataclass(frozen=True)
class _Job:
    change: Change | None
    tests: tuple[str, ...]
    limit: float  # CPU seconds; four times as many on the wall clock
    slow: dict[str, float]  # tests that take longer than .1 s


def outcomes(place: Place, changes: Iterable[Change]) -> Iterator[tuple[Change, bool]]:
    """Each change and whether it was noticed, as they come in.

    A crash or a hang is noticed, too. `ValueError` if tests are missing or fail without a change.
    """
    _load(place.heavy)
    plain: dict[tuple[str, ...], dict] = {}
    jobs = []
    for change in changes:
        tests = place.tests_of(place.root / change.file)
        if tests not in plain:
            plain[tests] = _without_a_change(place, change.file, tests)
        jobs.append(_Job(change, tests, **plain[tests]))
    for job, status, _, _ in _run(place, jobs):
        if status == NO_PYTHON:
            raise ValueError(f"{job.change}\n    is no Python: a fault of the mutation run")
        yield job.change, status != 0


def _without_a_change(place, file, tests):
    """What a job must know: three times the CPU seconds that its tests take, and the slow ones."""
    if not tests:
        raise ValueError(f"{file}: no tests of its own in tests/, by name")
    ((_, status, cpu, words),) = _run(place, [_Job(None, tests, 600, {})])
    if status:
        raise ValueError(f"{file}: its tests fail without a change\n{words[-3000:]}")
    slow = re.findall(r"^([\d.]+)s call +(.+?) *$", words, re.MULTILINE)
    return {"limit": 2 + 3 * cpu, "slow": {name: float(seconds) for seconds, name in slow}}


def _load(names):
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads do not survive a fork
    os.environ["MPLBACKEND"] = "Agg"
    for name in names:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.freeze()  # a child need not look through what the parent holds


def _run(place, jobs):
    """(job, exit status, CPU seconds, what it printed) of each job, WORKERS at a time."""
    waiting, running = list(reversed(jobs)), {}
    quick: list[str] = []  # tests that noticed something, the latest first: the next to be tried
    try:
        while waiting or running:
            while waiting and len(running) < WORKERS:
                job, words = waiting.pop(), tempfile.TemporaryFile()
                pid = _fork(place, job, words, quick)
                running[pid] = job, words, time.monotonic() + 4 * job.limit
            time.sleep(0.02)
            for pid, (job, words, deadline) in list(running.items()):
                if time.monotonic() > deadline:
                    _end(pid)
                done, status, used = os.wait4(pid, os.WNOHANG)
                if done:
                    _end(pid)  # what it may have started
                    del running[pid]
                    with words:
                        words.seek(0)
                        text = words.read().decode(errors="replace")
                    for name in re.findall(r"^FAILED (.+?)(?: - |$)", text, re.MULTILINE):
                        quick = [name, *(other for other in quick if other != name)]
                    status = os.waitstatus_to_exitcode(status)
                    yield job, status, used.ru_utime + used.ru_stime, text
    finally:
        for pid in running:
            _end(pid)


def _end(pid):
    """End the child's process group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _fork(place, job, words, quick):
    pid = os.fork()
    if pid:
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)
        return pid
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setpgid(0, 0)
        os.dup2(words.fileno(), 1)
        os.dup2(words.fileno(), 2)
        status = _tests_on(place, job, _Quick(quick, job.slow))
    except BaseException:
        status = 1
    os._exit(status)


def _tests_on(place, job, plugin):
    """The child: pytest's exit status with the change in place."""
    import resource

    import pytest

    cpu = int(job.limit) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.chdir(place.root)
    sys.path.insert(0, str(place.root))
    if job.change:
        sys.dont_write_bytecode = True
        try:
            sys.meta_path.insert(0, _Changed(place, job.change))
        except SyntaxError:
            return NO_PYTHON
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    plugins = ["-p", "_hypothesis_pytestplugin", "-p", "no:cacheprovider"]
    report = ["-x", "-q", "--no-header"]
    report += ["--tb=no"] if job.change else ["--tb=short", "--durations=0", "--durations-min=0.1"]
    where = [f"--rootdir={place.root}", *job.tests]
    return int(pytest.main([*plugins, *report, *where], plugins=[plugin]))


class _Quick:
    """Tests that noticed the changes before come first, slow ones last; examples stay as found."""

    def __init__(self, first: list[str], slow: dict[str, float]):
        self.rank, self.slow = {name: i for i, name in enumerate(first)}, slow

    def pytest_collection(self):
        from hypothesis import Phase, settings

        settings.register_profile("mutants", settings(), phases=(Phase.explicit, Phase.generate))
        settings.load_profile("mutants")

    def pytest_collection_modifyitems(self, items):
        items.sort(key=self._order)

    def _order(self, item):
        name = item.nodeid
        return self.slow.get(name, 0), self.rank.get(name, len(self.rank))


class _Changed(importlib.machinery.SourceFileLoader):
    """Finds and loads one module from its changed source."""

    def __init__(self, place: Place, change: Change):
        path = place.root / change.file
        super().__init__(place.module(change.file), str(path))
        self.code = compile(change.made_in(path.read_bytes()), str(path), "exec")

    def find_spec(self, name, path=None, target=None):
        if name == self.name:
            return importlib.util.spec_from_file_location(name, self.path, loader=self)
        return None

    def get_code(self, fullname):
        return self.code
