"""Loads models that Stable-Baselines3 saved."""
