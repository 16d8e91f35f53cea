"""What holds for all tests: the objects of collecting them are no business of the collector."""

import gc

#: In `tests/`, which `pyproject.toml` puts on the path; only here is it found by every process.
pytest_plugins = ["combinations"]


def pytest_collection_finish() -> None:
    """Thousands of collected tests are millions of objects, which every full collection would visit
    anew, and tests of processes that end ask for many."""
    gc.collect()
    gc.freeze()
