"""The command line of rlk: `rlk run`, a look at plugins, and whatever commands are installed.

Nothing here is imported by the kernel; it is found by its entry points, like every plugin.
"""
