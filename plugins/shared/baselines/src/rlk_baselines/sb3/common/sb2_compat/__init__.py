"""What learns as Stable Baselines 2.10 does: see `rmsprop_tf_like`."""
