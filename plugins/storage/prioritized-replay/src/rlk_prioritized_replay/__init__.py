"""Prioritized experience replay (`--plugin prioritized-replay`)."""
