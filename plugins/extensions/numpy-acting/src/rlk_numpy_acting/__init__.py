"""Acting in numpy for small networks on the CPU."""
