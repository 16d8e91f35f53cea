"""Environments by Gymnasium id: `CartPole-v1`, `module:Id-v0`, and ids of other packages."""
