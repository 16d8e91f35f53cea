"""How many combinations there were, at the end of the test run."""

from __future__ import annotations

from collections import Counter

import pytest

COUNTS = pytest.StashKey[Counter]()


@pytest.fixture(scope="session")
def counted(pytestconfig):
    """A function that counts one more combination of a kind (`allowed`, `refused`)."""
    counts = pytestconfig.stash.setdefault(COUNTS, Counter())

    def count(kind):
        counts[kind] += 1

    return count


def pytest_terminal_summary(terminalreporter, config):
    counts = config.stash.get(COUNTS, None)
    if counts:
        terminalreporter.section("combinations")
        for kind, count in counts.items():
            terminalreporter.write_line(f"{count:6,} {kind}")
