"""Adam for rlk."""
