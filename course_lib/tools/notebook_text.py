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
    tags = cell["metadata"].get("tags", [])
    folded = ["folded"] * bool(cell["metadata"].get("jupyter", {}).get("source_hidden"))
    head = [cell["cell_type"], cell.get("id", ""), *tags, *folded]
    yield f"--- {' '.join(word for word in head if word)} ---"
    yield _joined(cell["source"])
    for output in cell.get("outputs", []):
        yield from _output(output)
    yield ""


def _output(output: dict) -> Iterator[str]:
    """The lines that show one output: its text, or the names of what it holds."""
    if output["output_type"] == "error":
        yield f"error> {output['ename']}: {output['evalue']}"
        return
    data = output.get("data", {})
    text = output.get("text", data.get("text/plain", ""))
    for line in _joined(text).rstrip("\n").split("\n"):
        yield f"> {line}"
    pictures = [kind for kind in data if kind.startswith("image/")]
    if pictures:
        yield f"> ({', '.join(pictures)})"


def _joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    with open(sys.argv[1], encoding="utf-8", errors="replace") as file:
        print(as_text(file.read()))
