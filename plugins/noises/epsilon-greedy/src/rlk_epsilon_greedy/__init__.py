"""Epsilon-greedy exploration for rlk."""
