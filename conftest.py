"""What holds for all tests, for their processes, and for those that they start."""

import gc
import os
import sys

# Every interpreter that a test starts would compile all of rlk anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# There are as many processes as cores: threads of torch would fight for them.
os.environ.setdefault("OMP_NUM_THREADS", "1")

#: In `tests/`, which `pyproject.toml` puts on the path; only here is it found by every process.
pytest_plugins = ["combinations"]


def pytest_collection_finish() -> None:
    """Thousands of collected tests are millions of objects, which every full collection would visit
    anew, and tests of processes that end ask for many."""
    gc.collect()
    gc.freeze()
