"""The stand-ins as components, and kernels that have them.

A run of them learns to predict the reward of an observation by least squares and calls all hooks.
They are written to be short, not fast.
"""

from __future__ import annotations

import functools
from typing import Any

import gymnasium as gym

from rlk.component import Component
from rlk.registry.kernel import Kernel
from rlk_testing.environments import environment_named
from rlk_testing.stand_ins.algorithm import StandIn
from rlk_testing.stand_ins.collector import StandInCollector
from rlk_testing.stand_ins.config import StandInConfig
from rlk_testing.stand_ins.optimiser import StandInOptimiser
from rlk_testing.stand_ins.policy import StandInPolicy
from rlk_testing.stand_ins.serializer import StandInSerializer
from rlk_testing.stand_ins.storage import StandInStorage
from rlk_testing.stand_ins.vec_env import StandInVecEnv
from rlk_testing.tools.kernels import own_kernel


class StandInEnvironments:
    """Finds environments by Gymnasium's ids, and the classes of `rlk_testing.environments`."""

    def __call__(self, asked: str) -> Any:
        known = asked in gym.registry
        made = functools.partial(gym.make, asked, disable_env_checker=True) if known else None
        return environment_named(asked) or made

    def known(self) -> list[str]:
        return list(gym.registry)


COMPONENTS = {
    "algorithms": Component(
        name="stand-in",
        factory=StandIn,
        summary="learns to predict rewards",
        config=StandInConfig,
        reports=("td_error",),
        defaults={
            "env": "CartPole-v1",
            "policy": "stand-in-policy",
            "vec_env": "stand-in-vec-env",
            "storage": "stand-in-storage",
            "collector": "stand-in-collector",
            "optimiser": "stand-in-optimiser",
            "serializer": "stand-in-serializer",
        },
    ),
    "policies": Component(
        name="stand-in-policy", factory=StandInPolicy, summary="no hidden layers"
    ),
    "vec_envs": Component(
        name="stand-in-vec-env", factory=StandInVecEnv, summary="Gymnasium's loop"
    ),
    "storages": Component(name="stand-in-storage", factory=StandInStorage, summary="lists"),
    "collectors": Component(
        name="stand-in-collector", factory=StandInCollector, summary="one step at a time"
    ),
    "optimisers": Component(
        name="stand-in-optimiser", factory=StandInOptimiser, summary="gradient descent"
    ),
    "serializers": Component(name="stand-in-serializer", factory=StandInSerializer, summary="JSON"),
    "environments": Component(
        name="stand-in-environments", factory=StandInEnvironments(), summary="ids of Gymnasium"
    ),
}


def stand_in_kernel(discover: bool = False) -> Kernel:
    """A kernel for `rlk.make("stand-in", kernel=…)`; `discover` adds all installed components."""
    kernel = own_kernel() if discover else Kernel(discover=False)
    for kind, component in COMPONENTS.items():
        kernel.registries[kind].register(component.name, component)
    return kernel
