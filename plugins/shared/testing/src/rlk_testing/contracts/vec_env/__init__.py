"""The contract of backends of vector environments."""
