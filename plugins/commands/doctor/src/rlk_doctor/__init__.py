"""`rlk doctor`: what a report of a fault needs, what is broken or missing, and what to type."""
