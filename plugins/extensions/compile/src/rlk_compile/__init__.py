"""`--plugin compile` for rlk: the whole update as one compiled graph."""
