"""Contract suites for plugin authors: what rlk expects of every kind of component.

    from rlk.testing import AlgorithmContract

    class TestDQN(AlgorithmContract):
        component = "dqn"

Each suite resolves the component through the registry, as a run does. That of policies is where
networks are: `rlk_networks.testing`. Nothing is imported until it
is used, for this package is loaded whenever pytest starts.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlk.testing.acting import mean_return
    from rlk.testing.algorithm import AlgorithmContract
    from rlk.testing.collector import CollectorContract
    from rlk.testing.contract import Contract
    from rlk.testing.decorator import DecoratorContract
    from rlk.testing.distribution import DistributionContract
    from rlk.testing.environment import EnvironmentContract
    from rlk.testing.finder import FinderContract
    from rlk.testing.logger import LoggerContract
    from rlk.testing.noise import NoiseContract
    from rlk.testing.observer import CallbackContract, ExtensionContract
    from rlk.testing.optimiser import OptimiserContract
    from rlk.testing.preset import PresetContract
    from rlk.testing.serializer import SerializerContract
    from rlk.testing.stand_ins import stand_in_kernel
    from rlk.testing.storage import StorageContract
    from rlk.testing.vec_env import VecEnvContract
    from rlk.testing.wrapper import WrapperContract

_HOMES = {
    "AlgorithmContract": "algorithm",
    "CallbackContract": "observer",
    "CollectorContract": "collector",
    "Contract": "contract",
    "DecoratorContract": "decorator",
    "DistributionContract": "distribution",
    "EnvironmentContract": "environment",
    "ExtensionContract": "observer",
    "FinderContract": "finder",
    "LoggerContract": "logger",
    "NoiseContract": "noise",
    "OptimiserContract": "optimiser",
    "PresetContract": "preset",
    "SerializerContract": "serializer",
    "StorageContract": "storage",
    "VecEnvContract": "vec_env",
    "WrapperContract": "wrapper",
    "mean_return": "acting",
    "stand_in_kernel": "stand_ins",
}

__all__ = [
    "AlgorithmContract",
    "CallbackContract",
    "CollectorContract",
    "Contract",
    "DecoratorContract",
    "DistributionContract",
    "EnvironmentContract",
    "ExtensionContract",
    "FinderContract",
    "LoggerContract",
    "NoiseContract",
    "OptimiserContract",
    "PresetContract",
    "SerializerContract",
    "StorageContract",
    "VecEnvContract",
    "WrapperContract",
    "mean_return",
    "stand_in_kernel",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'rlk.testing' has no attribute {name!r}")
    return getattr(importlib.import_module(f"rlk.testing.{_HOMES[name]}"), name)
