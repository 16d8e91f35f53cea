"""`rlk resume`: go on with a run where its last checkpoint is."""
