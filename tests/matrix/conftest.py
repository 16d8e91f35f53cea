"""Fixtures for all combinations."""

import pytest


def pytest_generate_tests(metafunc):
    """The thousands of cases of `matrix_full` are only made if they are selected."""
    left_out = "not matrix_full" in metafunc.config.option.markexpr
    for mark in metafunc.definition.iter_markers("combinations"):
        name, cases = mark.args
        metafunc.parametrize(name, [one for one in cases if not (left_out and one.marks)])


@pytest.fixture(autouse=True)
def one_thread(rlk_one_thread):
    """Agents set how many threads torch has in this process."""
