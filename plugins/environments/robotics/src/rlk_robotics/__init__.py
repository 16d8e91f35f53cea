"""Environments of gymnasium-robotics by their ids: `component.py` says what registers them."""
