"""Registers the ids of Atari games with Gymnasium, by importing the package that does.

Afterwards the emulator prints warnings, but no longer its banner for every game that is made.
"""

from __future__ import annotations

import atexit
import gc

import ale_py

ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
# Commands end without a last garbage collection, and what it would have collected of the emulator
# is printed as a leak.
atexit.unregister(gc.freeze)
