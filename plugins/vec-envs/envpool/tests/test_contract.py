"""The kernel's own checks, on a stand-in with EnvPool's interface."""

from __future__ import annotations

from rlk.planning.environment import EnvChoice, MakeEnv
from rlk_envpool.tasks import task_named
from rlk_testing import EnvironmentContract, VecEnvContract


class TestEnvPool(VecEnvContract):
    component = "envpool"
    takes_functions = False  # but the names of EnvPool's tasks
    takes_options = False
    counts_steps = "elapsed_step"
    kinds = (
        {"length": 3},
        {"continuous": True, "length": 4},
        {"observation": "dict"},
        {"observation": "image"},
    )

    def env(self, n_envs=None, info_keys=(), **keywords):
        kept = {} if info_keys == () else {"info_keys": info_keys}
        choice = EnvChoice("envpool/Walk-v0", keywords, task_named("envpool/Walk-v0"))
        return self.made_of([MakeEnv(choice)] * (n_envs or self.n_envs), **kept)


class TestTasks(EnvironmentContract):
    component = "envpool-tasks"
