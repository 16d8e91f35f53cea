"""Environments of both interfaces: gym's, whose `step` returns four values, and Gymnasium's."""
