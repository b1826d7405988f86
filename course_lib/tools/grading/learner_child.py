"""The learner's side of grading: runs the cells of one notebook and answers calls to its functions.

`learner_process` starts this file as a process of its own; nothing imports it. It gets inputs and
gives back plain data. It holds no judge, no hidden case before its turn, and no mark.
"""

import base64
import contextlib
import json
import linecache
import os
import pickle
import sys
import types

KEPT = {}  # answers as they were where the notebook checks them
DTYPES = {"b": "|b1", "i": "<i8", "u": "<u8", "f": "<f8", "c": "<c16"}


def main():
    memory, folders = int(sys.argv[1]), json.loads(sys.argv[2])
    requests, replies = private_pipes()
    limit_resources(memory)
    sys.path += [folder for folder in folders if folder not in sys.path]
    from course_lib import check

    serve(requests, replies, prepare(check), check)


def private_pipes():
    """Move the channel off stdin and stdout, which the learner's prints then can't reach."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    return requests, replies


def limit_resources(memory):
    """Cap memory and file sizes [bytes] where the system can; Windows can't."""
    with contextlib.suppress(ImportError):
        import resource

        for kind, value in (("AS", memory), ("FSIZE", 2**26), ("CORE", 0)):
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(getattr(resource, f"RLIMIT_{kind}"), (value, value))


def prepare(check):
    """An empty notebook: its name space, with `check` made harmless."""
    notebook = types.ModuleType("__main__")
    sys.modules["__main__"] = notebook
    silent = lambda *args, **kwargs: None
    notebook.__dict__.update(display=silent, get_ipython=silent)
    check.check = silent
    return notebook.__dict__


def serve(requests, replies, space, check):
    """Answer each request (a pickle) with a line of JSON, until there are no more."""
    while True:
        try:
            request = pickle.load(requests)
        except EOFError:
            return
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
    """Run a cell as IPython would, but without its magic commands."""
    name, source = f"<{request['name']}>", request["source"]
    try:
        code = compile(source, name, "exec")
    except SyntaxError:
        lines = source.split("\n")
        magic = [line.lstrip().startswith(("%", "!")) for line in lines]
        source = "\n".join("pass" if skip else line for skip, line in zip(magic, lines))
        code = compile(source, name, "exec")
    linecache.cache[name] = (len(source), None, [line + "\n" for line in source.split("\n")], name)
    exec(code, space)
    return {}


def keep_answer(request, space, check):
    """Remember the answer as it is now, where the notebook checks it."""
    name = request["name"]
    if name in space and not check.is_empty(space[name]):
        KEPT[name] = space[name]
    return {}


def answer_to(request, space):
    return KEPT.get(request["name"], space.get(request["name"]))


def kind_of_answer(request, space, check):
    if request["name"] not in space and request["name"] not in KEPT:
        return {"kind": "missing"}
    answer = answer_to(request, space)
    kind = "function" if callable(answer) else "value"
    return {"kind": "empty" if check.is_empty(answer) else kind}


def call_function(request, space, check):
    returned = answer_to(request, space)(*request["args"])
    return {"empty": True} if returned is ... else {"value": encode(check.plain(returned))}


def give_value(request, space, check):
    return {"value": encode(check.plain(answer_to(request, space)))}


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
    "keep": keep_answer,
    "kind": kind_of_answer,
    "call": call_function,
    "value": give_value,
}

if __name__ == "__main__":
    main()
