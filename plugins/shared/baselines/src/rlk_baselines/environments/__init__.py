"""Environments of either interface: gym's, whose `step` gives four values, and Gymnasium's."""
