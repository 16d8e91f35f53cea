"""What holds for all tests, for their processes, and for those that they start."""

import gc
import os
import sys
from collections.abc import Generator, Iterator

import pytest

# Every interpreter that a test starts would compile all of rlk anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# There are more processes than cores: threads of torch would fight for them.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Tests that have a cache folder of their own would wait for the C++ compiler each.
_CACHE = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
os.environ.setdefault("TORCH_EXTENSIONS_DIR", os.path.join(_CACHE, "torch_extensions"))

# No test can pull the plug, so none would notice, and each call waits 4 ms for the disk.
os.fsync = lambda fd: None

#: In `tests/`, which `pyproject.toml` puts on the path; only here is it found by every process.
pytest_plugins = ["combinations"]


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """One process more than there are cores: many tests wait for programs that they start."""
    return (yield) + 1


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collecting thousands of tests makes millions of objects that stay: the garbage collector
    looks at none of them, neither meanwhile nor in the tests. There it comes less often than by
    default: most of what a test leaves is garbage by then, and is looked at only once."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000, 10, 30)
        gc.enable()
