"""`python -m rlk`: the installed command `rlk`, whichever distribution brings it."""

import sys
from importlib.metadata import entry_points

if __name__ == "__main__":
    commands = entry_points(group="console_scripts", name="rlk")
    if not commands:
        sys.exit("rlk has no command line here. Install one: pip install rlk-cli")
    next(iter(commands)).load()()
