"""What runs inside a lesson's kernel beside its cells: folded solutions and explorers.

`one_run` loads this file into the kernel of a notebook under test and calls its functions there.
Each answers with plain data and leaves the lesson's names as they were.

Public names: `listen`, `check_solution`, `explorer_findings`, `Solver`, `drive`.
"""

import contextlib
import io

import numpy as np

MADE = []  # (source of the cell, explorer) of each cell whose last line gave an explorer
MISSING = object()


def listen(shell) -> None:
    """From now on keep every explorer that a cell ends in, and know the lesson's names.

    shell: IPython's.
    """
    global solver
    solver = Solver(shell.user_ns)

    def keep(result):
        if type(result.result).__name__ == "Explorer":
            MADE.append((result.info.raw_cell, result.result))

    shell.events.register("post_run_cell", keep)


# --- folded solutions ------------------------------------------------------------------------


class Solver:
    """Runs folded solutions in the names of a lesson, then puts every name back.

    names: the lesson's global names, a dict. A solution that ran stays known to the later ones, as
    it would for a learner who wrote it, until a cell of the lesson binds its name anew. (Objects of
    the lesson that a solution changes in place stay changed.)
    """

    def __init__(self, names: dict):
        self.names = names
        self.solved = {}  # name -> (what the lesson had there, what the solution put there)

    def solve(self, solution: str, answer: str, judge) -> tuple[bool, str]:
        """Run `solution` and judge the value of the expression `answer`: (passed, message)."""
        before = dict(self.names)
        for name, (lesson, ours) in self.solved.items():
            if before.get(name, MISSING) is lesson:
                self.names[name] = ours
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(solution, "<folded solution>", "exec"), self.names)
                result = judge(eval(answer, self.names))
            return bool(result.passed), str(result.message)
        except Exception as error:
            return False, f"{type(error).__name__}: {error}"
        finally:
            self._put_back(before)

    def _put_back(self, before):
        for name, value in self.names.items():
            lesson = before.get(name, MISSING)
            if value is not lesson:
                self.solved[name] = lesson, value
        self.names.clear()
        self.names.update(before)


def check_solution(key: str, solution: str, answer: str) -> tuple[bool, str]:
    """Does the folded `solution` of the checkpoint `key` pass? answer: the expression it checks."""
    from course_lib.check import check

    return solver.solve(solution, answer, lambda value: check(key, value))


# --- explorers -------------------------------------------------------------------------------


def explorer_findings(source: str) -> list[str]:
    """What is wrong with the explorer of the cell with this source; see `drive`."""
    made = [explorer for cell, explorer in MADE if cell == source]
    return drive(made[-1]) if made else ["the cell did not end in an explorer"]


def drive(explorer) -> list[str]:
    """Set an explorer to the ends of each control and into its corners; a line for each fault."""
    start, default, wrong = dict(explorer.values), seen(explorer), []

    def try_out(**values):
        explorer.set(**{**start, **values})
        if explorer.error:
            wrong.append(f"{values}: {explorer.error}")
        elif bad := not_finite(explorer):
            wrong.append(f"{values}: {bad}")
        return seen(explorer)

    controls = explorer.controls
    for name, control in controls.items():
        places = list(control.options.values()) if control.options else [control.lo, control.hi]
        if all(try_out(**{name: place}) == default for place in places):
            wrong.append(f"{name}: nothing to see changes between {places} and the start")
    try_out(**{name: control.lo for name, control in controls.items()})
    try_out(**{name: control.hi for name, control in controls.items()})
    explorer.reset()
    if seen(explorer) != default:
        wrong.append("back at the start it shows something else")
    return wrong


def seen(explorer):
    """What a learner sees of an explorer besides its controls: picture and readout."""
    return explorer.png(), explorer.readout


def not_finite(explorer) -> str | None:
    """A moving line or set of points with an infinite number, or with nothing but NaN."""
    for artist in explorer.moving:
        for get in ("get_data_3d", "get_xydata", "get_offsets"):
            if hasattr(artist, get):
                data = np.ma.filled(np.ma.asarray(getattr(artist, get)(), dtype=float), np.nan)
                if np.isinf(data).any() or (data.size and np.isnan(data).all()):
                    return f"{type(artist).__name__} is not finite"
                break
    return None
