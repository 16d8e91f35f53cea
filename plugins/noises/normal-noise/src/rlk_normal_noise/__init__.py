"""Gaussian action noise for rlk."""
