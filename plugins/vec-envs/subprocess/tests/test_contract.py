"""The kernel's own checks of a backend."""

from __future__ import annotations

from rlk_testing import VecEnvContract


class TestSubprocess(VecEnvContract):
    component = "subprocess"
    settings = {"start_method": "fork"}  # test_vec_env.py compares the others with dummy
