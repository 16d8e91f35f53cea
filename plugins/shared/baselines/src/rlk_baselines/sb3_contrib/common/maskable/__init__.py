"""What belongs to masks of actions."""
