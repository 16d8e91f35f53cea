"""Acme's plugins for rlk."""
