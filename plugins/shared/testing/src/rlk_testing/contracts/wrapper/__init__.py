"""The contract of wrappers, of one environment or of a vector."""
