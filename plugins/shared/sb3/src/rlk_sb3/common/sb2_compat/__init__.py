"""Compatibility with Stable Baselines 2.10: see `rmsprop_tf_like`."""
