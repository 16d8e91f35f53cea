"""Small environments for tests and learning; `--env rlk/BitFlipping-v0` needs no import."""
