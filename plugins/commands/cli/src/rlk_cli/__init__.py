"""The command line of rlk: `rlk run`, `rlk plugins …`, and the commands of other distributions.

The kernel imports nothing from here; it is found by its entry points, like every plugin.
"""
