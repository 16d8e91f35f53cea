"""Filters of observations in the policy: normalisation by running statistics, and clipping."""
