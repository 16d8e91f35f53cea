"""Several categorical distributions beside each other, for rlk."""
