"""Callbacks: `checkpoint` saves, `evaluation` evaluates on the way, `progress-bar` shows it."""
