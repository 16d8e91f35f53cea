"""The contract of collectors."""
