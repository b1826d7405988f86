"""Pytest plugin: nbval runs a notebook once, and all that needs its results is judged on that run.

A notebook then has these tests, its cells counted from 1, markdown included, as everywhere here:

    notebooks/02_dh_derivation.ipynb::cell 10                stored and new output agree (nbval)
    notebooks/02_dh_derivation.ipynb::checkpoint 02.dh_row   the folded solution passes its check
    notebooks/02_dh_derivation.ipynb::explorer cell 10       both ends of each control, and corners

A solution runs right after its checkpoint, in the lesson's names, which are then put back (see
`in_kernel`). Explorers are driven after the last cell, as a learner meets them after "Run All".
Nbval compares text only: here also in the HTML beside a picture, but not the picture's own bytes.
Select a whole notebook, not single tests of it: they need the cells above them.
"""

import ast
import json
from pathlib import Path
from queue import Empty

import pytest
from nbval.plugin import IPyNbCell, IPyNbFile
from support import lesson_cost
from support.lesson_rules import reading

IN_KERNEL = Path(__file__).with_name("in_kernel.py")
MODULE = "course_tests_in_kernel"  # its name in the kernel's sys.modules
LOAD = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location({module!r}, {path!r})
sys.modules[spec.name] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
module.listen(shell)
"""
PICTURE_BYTES = r"data:image/[a-z+]+;base64,[A-Za-z0-9+/=\s]+"


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path, parent):
    """Put our notebooks in the place of nbval's."""
    return [
        LessonFile.from_parent(parent, path=file_path) if type(found) is IPyNbFile else found
        for found in (yield)
    ]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Book what each test costs on its lesson's account."""
    kernel = lambda: getattr(item.parent, "kernel", None)
    with lesson_cost.booked(item.nodeid, lesson_cost.kind_of(item.name), kernel):
        return (yield)


def pytest_sessionfinish(session):
    """A worker of pytest-xdist hands its books to the process that prints them."""
    if hasattr(session.config, "workeroutput"):
        books = {lesson: dict(book) for lesson, book in lesson_cost.BOOKS.items()}
        session.config.workeroutput["lesson_cost"] = books


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Add a worker's books to ours."""
    for lesson, book in getattr(node, "workeroutput", {}).get("lesson_cost", {}).items():
        for kind, seconds in book.items():
            lesson_cost.BOOKS[lesson][kind] += seconds


def pytest_terminal_summary(terminalreporter):
    lines = lesson_cost.table()
    if lines:
        terminalreporter.section("what lessons cost")
        terminalreporter.write_line("\n".join(lines))


class LessonFile(IPyNbFile):
    """A notebook, its cells, its folded solutions and its explorers."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.skip_compare += ("image/webp",)

    def collect(self):
        with lesson_cost.booked(self.nodeid, "start"):
            return list(self._collect())

    def _collect(self):
        cells = list(super().collect())
        try:
            solutions = {c.cell: c for c in reading.checkpoints(self.nb) if c.solution}
            explorers = reading.explorer_cells(self.nb)
        except SyntaxError:  # the cell in question says so when it is run
            solutions, explorers = {}, []
        for (number, _), item in zip(reading.code_cells(self.nb), cells, strict=True):
            name, options = f"cell {number}", item.options
            yield IPyNbCell.from_parent(
                self, name=name, cell_num=number, cell=item.cell, options=options
            )
            if number in solutions:
                yield SolutionTest.of(self, solutions[number], item.cell)
        for number, cell in explorers:
            yield ExplorerTest.of(self, number, cell)

    def setup(self):
        with lesson_cost.booked(self.nodeid, "start", lambda: self.kernel):
            super().setup()
            self.sanitize_patterns[PICTURE_BYTES] = "data:image"
            code = LOAD.format(module=MODULE, path=str(IN_KERNEL))
            self.ask(f"exec({code!r}, {{'shell': get_ipython()}})")

    def ask(self, expression):
        """The value of `expression` in the kernel, plain data; no name of the lesson changes."""
        wanted = {"value": f"__import__('json').dumps({expression})"}
        client = self.kernel.kc
        sent = client.execute("pass", silent=True, user_expressions=wanted, allow_stdin=False)
        reply = self._reply_to(sent)
        self.kernel.await_idle(sent, timeout=10)
        value = reply["user_expressions"]["value"] if reply["status"] == "ok" else reply
        if value["status"] != "ok":
            raise RuntimeError("\n".join(value.get("traceback", [])) or str(value))
        return json.loads(ast.literal_eval(value["data"]["text/plain"]))

    def _reply_to(self, sent):
        """What the kernel answers to the message `sent`; interrupted when it takes too long."""
        try:
            while True:
                seconds = self.config.option.nbval_cell_timeout
                message = self.kernel.get_message("shell", timeout=seconds)
                if message["parent_header"].get("msg_id") == sent:
                    return message["content"]
        except Empty:
            self.kernel.interrupt()
            raise RuntimeError(f"no answer within {seconds:g} s") from None


class Finding(Exception):
    """What a test of this plugin complains about."""


class _KernelTest(pytest.Item):
    """A test beside the cells of a notebook. cell: the one that it belongs to."""

    def __init__(self, *, cell, **options):
        super().__init__(**options)
        self.cell = cell

    def ask(self, function, *arguments):
        """Call a function of `in_kernel` in the notebook's kernel."""
        if not self.parent.kernel.is_alive():
            raise Finding("the lesson's kernel has died")
        words = ", ".join(map(repr, arguments))
        return self.parent.ask(f"__import__('sys').modules[{MODULE!r}].{function}({words})")

    def repr_failure(self, excinfo):
        known = isinstance(excinfo.value, Finding)
        return str(excinfo.value) if known else super().repr_failure(excinfo)

    def reportinfo(self):
        return self.path, 0, f"{self.path.name}::{self.name}"


class SolutionTest(_KernelTest):
    """The folded solution of a checkpoint passes its check."""

    @classmethod
    def of(cls, parent, checkpoint, cell):
        test = cls.from_parent(parent, name=f"checkpoint {checkpoint.key}", cell=cell)
        test.checkpoint = checkpoint
        return test

    def runtest(self):
        c = self.checkpoint
        passed, message = self.ask("check_solution", c.key, c.solution, c.answer)
        if not passed:
            raise Finding(f"cell {c.cell}, the folded solution of {c.key}: {message}")


class ExplorerTest(_KernelTest):
    """An explorer stands all settings, and each control changes something."""

    @classmethod
    def of(cls, parent, number, cell):
        test = cls.from_parent(parent, name=f"explorer cell {number}", cell=cell)
        test.number = number
        return test

    def runtest(self):
        findings = self.ask("explorer_findings", self.cell.source)
        if findings:
            raise Finding("\n".join([f"cell {self.number}:", *findings]))
