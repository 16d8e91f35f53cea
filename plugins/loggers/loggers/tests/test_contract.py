"""The kernel's contract for loggers."""

from __future__ import annotations

from rlk_testing import LoggerContract


class TestTable(LoggerContract):
    component = "table"


class TestCsv(LoggerContract):
    component = "csv"


class TestTensorboard(LoggerContract):
    component = "tensorboard"
