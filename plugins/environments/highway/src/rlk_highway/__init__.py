"""Environments of highway-env by their ids: `component.py` says which module registers them."""
