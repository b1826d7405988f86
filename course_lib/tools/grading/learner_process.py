"""How can we ask a learner's function without trusting it?  In a process of its own.

The process gets the notebook's cells and the inputs, and returns plain data over a private pipe.
Each request carries a fresh random number that its reply, a line of JSON, must repeat. Nothing else
the process does (prints, patches, exit codes) is looked at. What takes too long, dies, or answers
garbage is `Lost`.

Public names: `Cell`, `Limits`, `Learner`, `remote`, `value_of`, `Lost`.
"""

import base64
import contextlib
import json
import os
import pickle
import queue
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np

from course_lib.check import PROJECT, AnswerFailed
from course_lib.tools.environment import OWN_GROUP, end_group

CHILD = Path(__file__).with_name("learner_child.py")
DTYPES = {"|b1": 1, "<i8": 8, "<u8": 8, "<f8": 8, "<c16": 16}
GARBAGE = "answered garbage on the grader's channel"
DIED = "ended the whole process"
# Of the instructor's variables the process gets only what programs need to start.
KEPT = ("PATH", "SYSTEMROOT", "WINDIR", "COMSPEC", "LANG", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
PLACES = ("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP", "MPLCONFIGDIR")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Lost(AnswerFailed):
    """The process gave no answer; the text continues "your function …".

    `kind` is "too slow", "process died", "garbage" or "too much data".
    """

    def __init__(self, message, kind):
        super().__init__(message, lost=True, kind=kind)


@dataclass(frozen=True)
class Cell:
    """A code cell of a submission.

    solves: the exercise whose solution it holds; answers: the exercise that it checks.
    """

    name: str
    source: str
    solves: str = ""
    answers: str = ""


@dataclass(frozen=True)
class Limits:
    """What one learner may use.

    Time for start, cell, call and all of a submission together [s]; memory and size of a reply
    [bytes]; cells that may be fatal. A call has the time that its exercise gives, at most `call`.
    """

    start: float = 60.0
    cell: float = 60.0
    call: float = 30.0
    total: float = 600.0
    memory: int = 3_000_000_000
    reply: int = 4_000_000
    fatal_cells: int = 10


class Learner(contextlib.AbstractContextManager):
    """A process that has run `cells`; a context manager that ends the process and all it started.

    `errors` maps the number of a cell to what went wrong in it. A cell that kills or stalls the
    process is left out when it is started again, so it costs only the exercises that need it.
    """

    def __init__(self, cells: Sequence[Cell], limits: Limits = Limits(), end: float | None = None):
        """end: on the clock `time.monotonic`, when all must be over; limits.total from now on."""
        self.cells, self.limits = list(cells), limits
        self.end = time.monotonic() + limits.total if end is None else end
        self.errors: dict[int, str] = {}
        self._fatal: set[int] = set()
        self._process = self._folder = self._exchange = None

    def __exit__(self, *exception):
        self.close()

    def start(self):
        """Start the process and run all cells, unless it runs already."""
        while self._process is None:
            self._refuse_late()
            self._spawn()
            for i, cell in enumerate(self.cells):
                try:
                    self._run(i, cell)
                except Lost as lost:
                    self._refuse_late()
                    self.errors[i] = str(lost)
                    self._fatal.add(i)
                    break

    def _run(self, i, cell):
        if i in self._fatal:
            return
        if len(self._fatal) >= self.limits.fatal_cells:
            self.errors[i] = "was not run: too many cells before it stop the process"
        else:
            request = {"op": "run", "name": cell.name, "source": cell.source}
            reply = self._ask(request, self.limits.cell)
            if ("failed" in reply or "empty" in reply) and not cell.answers:
                self.errors[i] = str(reply.get("failed", "stopped with NotImplementedError"))

    def ask(self, request: dict, seconds: float) -> dict:
        """Send one request and return its reply. Raises Lost if there is none within `seconds`."""
        self.start()
        return self._ask(request, seconds)

    def _ask(self, request, seconds):
        nonce, answer = secrets.token_hex(8), queue.Queue()
        content = pickle.dumps({"nonce": nonce, **request})
        words = self._process, content, self.limits.reply, answer
        self._exchange = threading.Thread(target=_exchange, args=words, daemon=True)
        self._exchange.start()
        try:
            reply = answer.get(timeout=max(0.0, min(seconds, self.end - time.monotonic())))
        except queue.Empty:
            reply = Lost(f"took longer than {seconds:.3g} s. Does a loop never end?", "too slow")
        if isinstance(reply, dict) and reply.get("nonce") == nonce:
            return reply
        self.close()
        raise reply if isinstance(reply, Lost) else Lost(GARBAGE, "garbage")

    def _refuse_late(self):
        if time.monotonic() >= self.end:
            self.close()
            said = f"was not asked: all cells and calls together may take {self.limits.total:g} s"
            raise Lost(said, "out of time")

    def _spawn(self):
        self._folder = tempfile.mkdtemp(prefix="learner-")
        _copy_font_list(self._folder)
        limits = self.limits.memory, 60 + round(self.limits.total)
        folders = json.dumps([str(PROJECT), *(path for path in sys.path if os.path.isabs(path))])
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-B", str(CHILD), *map(str, limits), folders],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self._folder,
            env=_environment(self._folder),
            **OWN_GROUP,
        )
        try:
            self._ask({"op": "kind", "name": ""}, self.limits.start)
        except Lost as lost:
            raise RuntimeError(f"the grader's own process does not start: it {lost}") from None

    def close(self):
        """End the process, and what it started, and remove its folder."""
        process, self._process = self._process, None
        if process is not None:
            end_group(process)
            self._exchange.join(1)
            # A process that fled may still hold the pipes: then they are left to the thread.
            if not self._exchange.is_alive():
                with contextlib.suppress(OSError):  # it never read its last request
                    process.stdin.close()
                process.stdout.close()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


def _exchange(process, content, limit, answer):
    """Send a request; put its reply into the queue `answer`, or Lost where there is none."""
    try:
        process.stdin.write(content)
        process.stdin.flush()
        line = process.stdout.readline(limit)
        if line.endswith(b"\n"):
            answer.put(json.loads(line))
        elif len(line) < limit:
            answer.put(_death(process))
        else:
            said = f"returned more than {limit / 1e6:g} MB, or garbage"
            answer.put(Lost(said, "too much data"))
    except OSError:
        answer.put(_death(process))
    except (ValueError, RecursionError):
        answer.put(Lost(GARBAGE, "garbage"))


def _death(process):
    """What a process that closed its pipes died of."""
    try:
        code = process.wait(1)
    except subprocess.TimeoutExpired:
        return Lost(DIED, "process died")
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    return Lost(f"{DIED} ({how})", "process died")


def _copy_font_list(folder):
    """Give matplotlib its list of fonts, which it would else take seconds to make."""
    import matplotlib

    for path in Path(matplotlib.get_cachedir()).glob("fontlist-*.json"):
        shutil.copy(path, folder)


def _environment(folder):
    own = dict.fromkeys(PLACES, folder) | dict.fromkeys(THREADS, "1") | {"MPLBACKEND": "agg"}
    return {key: os.environ[key] for key in KEPT if key in os.environ} | own


def remote(learner: Learner, name: str, seconds: float) -> Callable:
    """The learner's function `name`, to be called; AnswerFailed where it gives no value."""
    request = {"op": "call", "name": name}
    seconds = min(seconds, learner.limits.call)
    return lambda *args: value_of(learner.ask(request | {"args": args}, seconds))


def value_of(reply: dict):
    """The plain data in a reply; AnswerFailed, NotImplementedError (a stub) or Lost (garbage)."""
    if reply.get("empty"):
        raise NotImplementedError
    if "failed" in reply:
        raise AnswerFailed(str(reply["failed"])[:1000], kind=str(reply.get("error", "")))
    try:
        return _decode(reply["value"])
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        raise Lost(GARBAGE, "garbage") from None


def _decode(value):
    """Back from JSON to plain data; what `learner_child.encode` would not write is an error."""
    if isinstance(value, list):
        return [_decode(v) for v in value]
    if not isinstance(value, dict):
        return value
    ((tag, content),) = value.items()
    if tag == "dict":
        return {str(key): _decode(v) for key, v in content.items()}
    if tag == "complex":
        return complex(*map(float, content))
    if tag != "array":
        raise ValueError(tag)
    dtype, shape, text = content
    data = base64.b64decode(text, validate=True)
    sizes = len(shape) <= 8 and all(type(n) is int and n >= 0 for n in shape)
    if not sizes or prod(shape) * DTYPES[dtype] != len(data):
        raise ValueError("shape")
    return np.frombuffer(data, dtype).reshape(shape).copy()
