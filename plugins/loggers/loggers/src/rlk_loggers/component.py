"""The components of these loggers."""

from __future__ import annotations

from rlk.component import Component
from rlk_loggers.config import TableConfig

table = Component(
    name="table",
    factory="rlk_loggers.table:TableLogger",
    summary="prints returns, losses and speed: a table on a terminal, plain lines on a pipe",
    config=TableConfig,
    autostart="verbose",
)

csv = Component(
    name="csv",
    factory="rlk_loggers.csv_file:CsvLogger",
    summary="writes every row of metrics to progress.csv in the run's folder",
    autostart="run",
)

tensorboard = Component(
    name="tensorboard",
    factory="rlk_loggers.tensorboard:TensorboardLogger",
    instead_of={"tensorboard_log": ""},
    summary="writes tensorboard events into the run's folder, with Stable-Baselines3's tag names",
)
