"""Rows of metrics: what is in them, and the forms in which they are written."""
