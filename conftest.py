"""What holds for every test: no window, repeatable random examples, no Pinocchio on Windows."""

import importlib.util
import os

# Both cores are busy with tests: threads of the linear algebra would only wait for one another.
# Before NumPy is imported; kernels and workers inherit it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import matplotlib
import pytest
from hypothesis import settings

pytest_plugins = ["support.one_run"]
matplotlib.use("Agg")

# The quick run draws the same examples every time; the full run looks for new ones.
settings.register_profile("quick", deadline=None, derandomize=True)
settings.register_profile("full", deadline=None, print_blob=True)


def pytest_configure(config):
    settings.load_profile("quick" if config.getoption("-m") == "not full" else "full")


LONGEST = ["test_browser.py", "test_browser_front_door.py"]  # each keeps one core for a minute


def pytest_collection_modifyitems(items):
    """Start what takes longest first, so that no core waits for it at the end.

    Without Pinocchio, skip the notebook cells tagged `needs-pin`.
    """
    items.sort(key=lambda item: item.path.name not in LONGEST)
    if importlib.util.find_spec("pinocchio"):
        return
    for item in items:
        if "needs-pin" in getattr(item, "cell", {}).get("metadata", {}).get("tags", []):
            item.add_marker(pytest.mark.skip(reason="needs pin, which has no Windows wheel"))
