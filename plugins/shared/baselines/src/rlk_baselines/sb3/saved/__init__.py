"""Models that Stable-Baselines3 has saved itself."""
