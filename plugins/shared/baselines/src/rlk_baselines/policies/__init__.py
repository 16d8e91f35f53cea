"""Policies: the documented names, classes to derive from, and what becomes of either in rlk."""
