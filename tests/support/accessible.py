"""Can everybody read it?  What axe finds wrong with a page, and how a notebook is exported.

Public names: `faults`, `export`.
"""

import warnings
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
    from nbconvert import HTMLExporter

    with warnings.catch_warnings(action="ignore"):  # it says that it can't show the widgets
        page, _ = HTMLExporter().from_filename(str(notebook))
    exported = folder / f"{notebook.stem}.html"
    exported.write_text(page, encoding="utf-8")
    return exported
