from __future__ import annotations

from rlk.testing import AlgorithmContract


class TestSAC(AlgorithmContract):
    component = "sac"
