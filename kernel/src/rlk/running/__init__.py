"""From a plan to a run: its parts, its loop and its clock."""
