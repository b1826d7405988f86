"""Checkpoints: is this answer right, and if not, why not?

    check("02.dh_matrix", dh_matrix)        # a checkpoint of lesson 02
    check("hw02.dh_matrix", dh_matrix)      # an exercise of homework 02

How to write an exercise. Lessons keep theirs in notebooks/checks/NN_topic.py, homework in
notebooks/homework/hwNN_topic/judge.py; both are Python files with one list:

    def cases(rng):                         # argument tuples, the smallest telling case first
        return [(1.0, 0.0), (0.0, 2.0), tuple(rng.uniform(-1, 1, 2))]

    EXERCISES = [
        Exercise(
            "reach", points=2, cases=cases, truth=np.hypot,
            mistakes=[Mistake(lambda x, y: x + y, "You added the sides; they meet at 90°.")],
            alternatives=[lambda x, y: abs(complex(x, y))],
        ),
        Exercise("axes", truth=6),          # no cases: the answer is a value, not a function
    ]

`truth` gives the right answer (a function, or the value itself). `compare(answer, expected, args)`
returns None, or in words what is wrong; `close(tol)` is the usual one, `compare` lists the others.
Where several answers are right, write a `compare` that judges the work, and compares it with
`expected`, not its form: read the answer by `as_numbers` or `parts`, then ask `if not error < tol`.
A `Mistake` is a real misconception: a wrong answer and what to tell who gives it. It is shown when
the learner's answers equal it in every case. `diagnose(answer, expected, args)` returns a sentence
(or None) for what no single wrong answer can stand for. `alternatives` are right answers written in
other ways. Tests run all of these.

Three modules: `compare` (is it the same?), `exercise` (what came back, and why is it wrong?),
`find` (which exercise is meant?).
"""

# ruff: noqa: F401, F403
from course_lib.check.compare import *
from course_lib.check.exercise import *
from course_lib.check.find import *
