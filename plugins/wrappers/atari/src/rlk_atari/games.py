"""Registers the ids of Atari games with Gymnasium, by importing what does.

The emulator then says what goes wrong, and no longer its name for every game that is made.
"""

from __future__ import annotations

import ale_py

ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
