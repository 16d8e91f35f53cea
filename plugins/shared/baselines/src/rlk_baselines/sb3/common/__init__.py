"""What all models share, by the module names of Stable-Baselines3."""
