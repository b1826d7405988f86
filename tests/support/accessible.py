"""Can everybody read it?  What axe finds wrong with a page, and how a notebook is exported.

Public names: `faults`, `export`.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

OURS = ".course-explorer, .course-figure, .course-still"


def faults(tab: Any, where: str = OURS) -> list[str]:
    """What axe finds serious or critical in the parts of a page that match a selector."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(tab, context=where, options={"resultTypes": ["violations"]})
    return [
        f"{fault['id']}: {node['html'][:300]}"
        for fault in found.response["violations"]
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]


def export(notebook: Path, folder: Path) -> Path:
    """The notebook as the HTML page that `jupyter nbconvert --to html` makes of it."""
    command = ["nbconvert", "--to", "html", str(notebook), "--output-dir", str(folder)]
    done = subprocess.run(
        [sys.executable, "-m", *command], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr[-1000:]
    return folder / f"{notebook.stem}.html"
