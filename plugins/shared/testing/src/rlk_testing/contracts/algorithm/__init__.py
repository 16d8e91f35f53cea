"""The contracts of algorithms, on-policy and off-policy."""
