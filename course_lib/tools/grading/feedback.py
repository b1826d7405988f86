"""What does a student get back?  One HTML page, and for nbgrader's forms a copy of the notebook.

Everything that comes from a submission is escaped text on both: no script, no stored output, no
markup of the learner's is passed on.

Public names: `feedback_page`, `graded_notebook`, `number`.
"""

import copy
import html
import json
from pathlib import Path
from string import Template

from course_lib.check import message_html
from course_lib.tools.grading.marking import Homework, Mark, Submission, check_id, grade_id

PAGE = Template(Path(__file__).with_suffix(".html").read_text(encoding="utf-8"))
ROW = "<tr><td>{exercise}</td><td>{points} of {of}</td><td>{outcome}</td></tr>"
SECTION = """<h2>{exercise}: {points} of {of}</h2>
<div class="message{right}">{message}</div>
{code}"""


def feedback_page(homework: Homework, submission: Submission, marks: list[Mark]) -> str:
    """The page for one student: marks, messages, and the code that was marked."""
    told = [_fields(mark, submission) for mark in marks]
    return PAGE.substitute(
        title=html.escape(homework.title),
        student=html.escape(submission.student),
        rows="\n".join(ROW.format(**fields) for fields in told),
        points=number(sum(m.points for m in marks)),
        of=number(homework.points),
        sections="\n".join(SECTION.format(**fields) for fields in told),
    )


def number(points: float) -> str:
    """Points as one writes them: 2, 2.5."""
    return f"{points:g}"


def _fields(mark, submission):
    sources = [cell.source for cell in submission.cells if cell.solves == mark.exercise]
    return {
        "exercise": html.escape(mark.exercise),
        "points": number(mark.points),
        "of": number(mark.of),
        # without what only the instructor needs
        "outcome": html.escape(mark.outcome.partition(":")[0]),
        "message": message_html(mark.message),
        "right": " right" if mark.outcome == "right" else "",
        "code": "".join(f"<pre>{html.escape(source)}</pre>" for source in sources),
    }


def graded_notebook(homework: Homework, submission: Submission, marks: list[Mark]) -> str:
    """Our notebook with the learner's code in its places and our messages as outputs, as JSON.

    Built from the source, so that nothing of the submission gets into it but code.
    """
    said = {
        check_id(m.exercise): f"{number(m.points)} of {number(m.of)}: {m.message}\n" for m in marks
    }
    solutions = dict.fromkeys(
        (m.exercise for m in marks), "# this cell is missing in the submission"
    )
    solutions |= {cell.solves: cell.source for cell in submission.cells if cell.solves}
    notebook = copy.deepcopy(homework.notebook)
    for cell in notebook["cells"]:
        known = grade_id(cell)
        if cell["cell_type"] == "code":
            cell.update(outputs=[], execution_count=None)
        cell["source"] = solutions.get(known, cell["source"])
        if known in said:
            text = {"output_type": "stream", "name": "stdout", "text": said[known]}
            cell["outputs"] = [text]
    notebook["cells"] += _own_cells(homework, submission)
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _own_cells(homework, submission):
    """The learner's further code cells, at the end."""
    ours = {cell["source"].strip() for cell in homework.notebook["cells"]}
    further = [cell.source for cell in submission.cells if not (cell.solves or cell.answers)]
    own = [source for source in further if source.strip() not in ours]
    form = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    return [form | {"id": f"own-{i}", "source": source} for i, source in enumerate(own)]
