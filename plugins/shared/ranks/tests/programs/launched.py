"""What started these ranks: the plugin's name, and the module that its world is in."""

from __future__ import annotations

import importlib
import os

PLUGIN = os.environ.get("RANKS_PLUGIN", "mpi")
of_plugin = importlib.import_module(f"rlk_{PLUGIN.replace('-', '_')}.world")
guard = of_plugin.guard
