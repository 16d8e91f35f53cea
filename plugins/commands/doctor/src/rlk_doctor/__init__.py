"""`rlk doctor`: prints what a fault report needs, what is broken or missing, and what to type."""
