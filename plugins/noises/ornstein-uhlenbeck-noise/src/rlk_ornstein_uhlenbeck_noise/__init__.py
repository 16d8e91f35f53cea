"""Ornstein-Uhlenbeck action noise for rlk."""
