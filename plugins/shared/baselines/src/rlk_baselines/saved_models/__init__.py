"""Saves models of this package, and loads them."""
