"""The categorical distribution for rlk."""
