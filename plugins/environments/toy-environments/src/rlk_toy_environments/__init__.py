"""Small environments for tests and examples, such as `--env rlk/BitFlipping-v0`."""
