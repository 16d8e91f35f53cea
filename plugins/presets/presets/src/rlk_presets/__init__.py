"""Tuned hyperparameters by algorithm and environment: data, and the source that finds it."""
