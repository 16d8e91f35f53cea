"""`rlk resume`: continues a run from its last checkpoint."""
