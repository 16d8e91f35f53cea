"""The number of combinations that the matrix tried, over all processes, printed at the end."""

from __future__ import annotations

from collections import Counter

import pytest

COUNTS = pytest.StashKey[Counter]()
#: What a process of pytest-xdist sends at its end.
HANDED_OVER = "combinations"


def pytest_configure(config):
    config.stash[COUNTS] = Counter()


@pytest.fixture(scope="session")
def counted(pytestconfig):
    """A function that counts one more combination of a kind (`allowed`, `refused`)."""
    counts = pytestconfig.stash[COUNTS]

    def count(kind):
        counts[kind] += 1

    return count


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput[HANDED_OVER] = dict(session.config.stash[COUNTS])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    """Called by pytest-xdist when a process has ended."""
    node.config.stash[COUNTS].update(getattr(node, "workeroutput", {}).get(HANDED_OVER, {}))


def pytest_terminal_summary(terminalreporter, config):
    if counts := config.stash[COUNTS]:
        terminalreporter.section("combinations")
        for kind, count in counts.items():
            terminalreporter.write_line(f"{count:6,} {kind}")
