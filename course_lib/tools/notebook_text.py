"""A notebook as plain text, so that `git diff` shows what a person would read.

    git config diff.ipynb.textconv "python3 course_lib/tools/notebook_text.py"

Type that once in the course's folder (`.gitattributes` does the rest). Shown are the cells' kinds,
ids, tags and sources, and what they printed; pictures are left out. Needs only Python itself.

Public names: `as_text`.
"""

import json
import sys
from collections.abc import Iterator


def as_text(content: str) -> str:
    """Return a notebook file's content as text; what is no notebook comes back as it is."""
    try:
        return "\n".join(line for cell in json.loads(content)["cells"] for line in _cell(cell))
    except (ValueError, LookupError, TypeError, AttributeError):
        return content


def _cell(cell: dict) -> Iterator[str]:
    """The lines that show one cell."""
    metadata = cell["metadata"]
    folded = "folded" if metadata.get("jupyter", {}).get("source_hidden") else ""
    head = [cell["cell_type"], cell.get("id", ""), *metadata.get("tags", []), folded]
    yield f"--- {' '.join(filter(None, head))} ---"
    yield "".join(cell["source"])
    for output in cell.get("outputs", []):
        yield from _output(output)
    yield ""


def _output(output: dict) -> Iterator[str]:
    """The lines that show one output: its text, or the names of what it holds."""
    if output["output_type"] == "error":
        yield f"error> {output['ename']}: {output['evalue']}"
        return
    data = output.get("data", {})
    text = "".join(output.get("text", data.get("text/plain", "")))
    yield from (f"> {line}" for line in text.rstrip("\n").split("\n"))
    pictures = [kind for kind in data if kind.startswith("image/")]
    if pictures:
        yield f"> ({', '.join(pictures)})"


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    with open(sys.argv[1], encoding="utf-8", errors="replace") as file:
        print(as_text(file.read()))
