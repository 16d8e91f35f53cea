"""Callbacks: `checkpoint` saves, `evaluation` evaluates while training goes on, `progress-bar` shows how far it is."""
