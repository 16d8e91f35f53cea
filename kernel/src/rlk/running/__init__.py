"""From a plan to a run: its parts, its loop, its clock and its checkpoints."""
