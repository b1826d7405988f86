"""The learner's side of grading: runs the cells of one notebook and answers calls to its functions.

`learner_process` starts this file as a process of its own; nothing imports it. It gets inputs and
gives back plain data. It holds no judge, no hidden case before its turn, and no mark.
"""

import ast
import asyncio
import base64
import contextlib
import inspect
import json
import linecache
import os
import pickle
import queue
import shutil
import signal
import sys
import threading
import types

RUNS = ("time", "capture", "prun")  # of IPython's own commands, those whose code counts
DTYPES = {"b": "|b1", "i": "<i8", "u": "<u8", "f": "<f8", "c": "<c16"}


def main():
    memory, seconds, folders = int(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3])
    requests, replies = private_pipes()
    limit_resources(memory, seconds)
    inbox = queue.SimpleQueue()
    threading.Thread(target=receive, args=(requests, inbox), daemon=True).start()
    sys.path += [folder for folder in folders if folder not in sys.path]
    from course_lib import check

    serve(inbox, replies, prepare(check), check)


def private_pipes():
    """Move the channel off stdin and stdout, which the learner's prints then can't reach."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    return requests, replies


def receive(requests, inbox):
    """Put requests (pickles) into a queue. When there are no more, the grader is gone: end all."""
    with contextlib.suppress(Exception):
        while True:
            inbox.put(pickle.load(requests))
    shutil.rmtree(os.getcwd(), ignore_errors=True)
    if os.name == "posix":
        os.killpg(0, signal.SIGKILL)  # and what was started here
    os._exit(0)


def limit_resources(memory, seconds):
    """Cap memory, file size [bytes] and time [s], and die with the grader, where it can be had."""
    with contextlib.suppress(Exception):
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # Linux: PR_SET_PDEATHSIG
    with contextlib.suppress(ImportError):
        import resource

        for kind, value in (("AS", memory), ("FSIZE", 2**26), ("CORE", 0), ("CPU", seconds)):
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(getattr(resource, f"RLIMIT_{kind}"), (value, value))


def prepare(check):
    """An empty notebook: its name space, with `check` made harmless."""
    notebook = types.ModuleType("__main__")
    sys.modules["__main__"] = notebook
    silent, shell = lambda *args, **kwargs: None, Shell(notebook.__dict__)
    notebook.__dict__.update(display=silent, get_ipython=lambda: shell)
    check.check = silent
    return notebook.__dict__


class Shell:
    """IPython's own commands: those that only time or catch what they run, run it."""

    def __init__(self, space):
        self._space = space

    def run_line_magic(self, name, line, *_):
        if name in RUNS:
            exec(line, self._space)

    def run_cell_magic(self, name, _, body):
        self.run_line_magic(name, body)

    def getoutput(self, *_, **__):
        return []

    def __getattr__(self, _):
        return lambda *args, **kwargs: None


def serve(inbox, replies, space, check):
    """Answer each request with a line of JSON."""
    while True:
        request = inbox.get()
        try:
            reply = OPERATIONS[request["op"]](request, space, check)
        except BaseException as error:  # SystemExit too: the process belongs to the grader
            reply = failure(error, check)
        replies.write(json.dumps({"nonce": request["nonce"], **reply}).encode() + b"\n")
        replies.flush()


def failure(error, check):
    if isinstance(error, check.AnswerFailed):
        return {"failed": str(error), "error": ""}
    if isinstance(error, NotImplementedError):
        return {"empty": True}
    return {"failed": check.describe_error(error), "error": type(error).__name__}


def run_cell(request, space, check):
    """Run a cell as IPython would."""
    name, source = f"<{request['name']}>", request["source"]
    try:
        code = compile(source, name, "exec")
    except SyntaxError:
        from IPython.core.inputtransformer2 import TransformerManager

        source = TransformerManager().transform_cell(source)
        code = compile(source, name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    linecache.cache[name] = (len(source), None, [line + "\n" for line in source.split("\n")], name)
    if code.co_flags & inspect.CO_COROUTINE:
        asyncio.run(eval(code, space))
    else:
        exec(code, space)
    return {}


def kind_of_answer(request, space, check):
    if request["name"] not in space:
        return {"kind": "missing"}
    answer = space[request["name"]]
    kind = "function" if callable(answer) else "value"
    return {"kind": "empty" if check.is_empty(answer) else kind}


def call_function(request, space, check):
    returned = space[request["name"]](*request["args"])
    return {"empty": True} if returned is ... else {"value": encode(check.plain(returned))}


def give_value(request, space, check):
    return {"value": encode(check.plain(space[request["name"]]))}


def encode(value):
    """Plain data as JSON: arrays as dtype, shape and bytes."""
    if isinstance(value, list):
        return [encode(v) for v in value]
    if isinstance(value, dict):
        return {"dict": {key: encode(v) for key, v in value.items()}}
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if hasattr(value, "dtype"):
        kind = DTYPES[value.dtype.kind]
        content = base64.b64encode(value.astype(kind).tobytes()).decode()
        return {"array": [kind, list(value.shape), content]}
    return value


OPERATIONS = {
    "run": run_cell,
    "kind": kind_of_answer,
    "call": call_function,
    "value": give_value,
}

if __name__ == "__main__":
    main()
