"""Loads models that Stable Baselines 2.10 saved, with parameters of TensorFlow."""
