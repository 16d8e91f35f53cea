"""A run begins with the replay of another run (`--plugin replay-start:run=RUN`)."""
