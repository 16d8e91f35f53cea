"""Models that Stable Baselines 2.10 has saved itself, whose parameters are TensorFlow's."""
