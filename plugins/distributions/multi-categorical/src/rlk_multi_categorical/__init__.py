"""Several independent categorical distributions, for rlk."""
