"""A run begins with the replay of another one (`--plugin replay-start:run=RUN`)."""
