"""Hindsight experience replay (`--plugin hindsight-replay`)."""
