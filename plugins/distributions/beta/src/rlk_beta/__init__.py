"""The beta distribution for rlk."""
