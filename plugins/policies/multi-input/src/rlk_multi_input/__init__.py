"""Policies for Dict observations for rlk."""
