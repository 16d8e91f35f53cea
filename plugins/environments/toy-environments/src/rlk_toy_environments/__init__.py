"""Small environments to test and to learn with; `--env rlk/BitFlipping-v0` needs no import."""
