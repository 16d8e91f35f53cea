"""Where rows of metrics go: `table` on the terminal, `csv` into progress.csv, `tensorboard` into events."""
