"""Recurrent policies for rlk."""
