"""Generalised state-dependent exploration (gSDE) for rlk."""
