"""From what was asked for to a plan: which component fills each slot, with which settings."""
