"""What does a student get back?  One HTML page, and for nbgrader's forms a copy of the notebook.

Everything that comes from a submission is escaped text on both: no script, no stored output, no
markup of the learner's is passed on.

Public names: `feedback_page`, `graded_notebook`.
"""

import copy
import html
import json

from course_lib.check import message_html
from course_lib.tools.grading.marking import Homework, Mark, Submission, check_id, grade_id

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}: {student}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; color: #222; }}
body {{ max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }}
table {{ border-collapse: collapse; margin: 1rem 0; }}
td, th {{ padding: .3rem 1rem .3rem 0; border-bottom: 1px solid #ddd; text-align: left; }}
pre {{ background: #f6f6f6; padding: .8rem; overflow: auto; font-size: 14px; }}
.message {{ white-space: pre-wrap; border-left: 4px solid #d55e00; padding: .3rem .8rem; }}
.right {{ border-color: #009e73; }}
</style>
</head>
<body>
<h1>{title}</h1>
<p>{student}: <b>{points} of {of} points</b></p>
<table><tr><th>exercise</th><th>points</th><th>result</th></tr>
{rows}
</table>
{sections}
</body>
</html>
"""
ROW = "<tr><td>{exercise}</td><td>{points} of {of}</td><td>{outcome}</td></tr>"
SECTION = """<h2>{exercise}: {points} of {of}</h2>
<div class="message{right}">{message}</div>
{code}"""


def feedback_page(homework: Homework, submission: Submission, marks: list[Mark]) -> str:
    """The page for one student: marks, messages, and the code that was marked."""
    rows = [ROW.format(**_fields(mark)) for mark in marks]
    sections = [
        SECTION.format(**_fields(mark), code=_code(submission, mark.exercise)) for mark in marks
    ]
    return PAGE.format(
        title=html.escape(homework.title),
        student=html.escape(submission.student),
        rows="\n".join(rows),
        points=number(sum(m.points for m in marks)),
        of=number(homework.points),
        sections="\n".join(sections),
    )


def number(points: float) -> str:
    """Points as one writes them: 2, 2.5."""
    return f"{points:g}"


def _fields(mark):
    return {
        "exercise": html.escape(mark.exercise),
        "points": number(mark.points),
        "of": number(mark.of),
        "outcome": html.escape(plain_outcome(mark)),
        "message": message_html(mark.message),
        "right": " right" if mark.outcome == "right" else "",
    }


def plain_outcome(mark: Mark) -> str:
    """The outcome without what only the instructor needs."""
    return mark.outcome.partition(":")[0]


def _code(submission, exercise):
    sources = [cell.source for cell in submission.cells if cell.solves == exercise]
    return "".join(f"<pre>{html.escape(source)}</pre>" for source in sources)


def graded_notebook(homework: Homework, submission: Submission, marks: list[Mark]) -> str:
    """Our notebook with the learner's code in its places and our messages as outputs, as JSON.

    Built from the source, so that nothing of the submission gets into it but code.
    """
    messages = {check_id(mark.exercise): mark for mark in marks}
    solutions = {cell.solves: cell.source for cell in submission.cells if cell.solves}
    exercises = {mark.exercise for mark in marks}
    notebook = copy.deepcopy(homework.notebook)
    for cell in notebook["cells"]:
        known = grade_id(cell)
        if cell["cell_type"] == "code":
            cell.update(outputs=[], execution_count=None)
        if known in exercises:
            cell["source"] = solutions.get(known, "# this cell is missing in the submission")
        if known in messages:
            cell["outputs"] = [
                _stream(
                    f"{number(messages[known].points)} of {number(messages[known].of)}: "
                    f"{messages[known].message}\n"
                )
            ]
    notebook["cells"] += _own_cells(homework, submission)
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _stream(text):
    return {"output_type": "stream", "name": "stdout", "text": text}


def _own_cells(homework, submission):
    """The learner's further code cells, at the end."""
    ours = {"".join(cell["source"]).strip() for cell in homework.notebook["cells"]}
    own = [
        c.source
        for c in submission.cells
        if not c.solves and not c.answers and c.source.strip() not in ours
    ]
    return [
        {
            "cell_type": "code",
            "id": f"own-{i}",
            "metadata": {},
            "source": source,
            "outputs": [],
            "execution_count": None,
        }
        for i, source in enumerate(own)
    ]
