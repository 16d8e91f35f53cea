"""Loggers of metrics: `table` to the terminal, `csv` to a file, `tensorboard` to event files."""
