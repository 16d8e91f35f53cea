"""What started these ranks: the plugin's name, and how a rank enters."""

from __future__ import annotations

import importlib
import os

PLUGIN = os.environ.get("RANKS_PLUGIN", "mpi")
of_plugin = importlib.import_module(f"rlk_{PLUGIN.replace('-', '_')}.extension")
guard = of_plugin.LAUNCH.enter
