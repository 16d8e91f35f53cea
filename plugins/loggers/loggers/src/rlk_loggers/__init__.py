"""Where rows of metrics go: `table` to the terminal, `csv` to a file, `tensorboard` to events."""
