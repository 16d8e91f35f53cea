"""Observations inside the policy: normalised by running statistics, and bounded."""
