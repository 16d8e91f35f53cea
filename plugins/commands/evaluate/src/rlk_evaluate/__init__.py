"""The commands `rlk evaluate` and `rlk enjoy`.

Nothing is imported here, because their components must be imported within a millisecond.
"""
