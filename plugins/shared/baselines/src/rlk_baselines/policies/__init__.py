"""Policies: the documented names, base classes for custom ones, and their conversion to rlk's."""
