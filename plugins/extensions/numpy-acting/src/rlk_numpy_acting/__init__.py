"""Acting in numpy for small networks."""
