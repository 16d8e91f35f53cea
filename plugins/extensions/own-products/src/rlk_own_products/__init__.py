"""Kernels of rlk's own, in the place of those of torch's libraries."""
