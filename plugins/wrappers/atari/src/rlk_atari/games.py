"""Registers the ids of Atari games with Gymnasium, by importing the package that does.

Afterwards the emulator prints warnings, but no longer its banner for every game that is made.
"""

from __future__ import annotations

import ale_py

ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
