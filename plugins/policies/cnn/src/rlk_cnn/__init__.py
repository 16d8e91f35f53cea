"""Policies for images for rlk."""
