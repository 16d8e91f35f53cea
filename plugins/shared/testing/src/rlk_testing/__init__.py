"""Contract suites for plugin authors: what rlk expects of every kind of component.

    from rlk_testing import AlgorithmContract

    class TestDQN(AlgorithmContract):
        component = "dqn"

Each suite finds its component through the registry, as a run does. A suite's module is imported
only when it is used, because this package is loaded whenever pytest starts.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlk_testing.acting import mean_return
    from rlk_testing.algorithm import AlgorithmContract
    from rlk_testing.algorithm_off_policy import OffPolicyContract
    from rlk_testing.collector import CollectorContract
    from rlk_testing.command import CommandContract
    from rlk_testing.contract import Contract
    from rlk_testing.decorator import DecoratorContract
    from rlk_testing.distribution import DistributionContract
    from rlk_testing.environment import EnvironmentContract
    from rlk_testing.extension import ExtensionContract
    from rlk_testing.finder import FinderContract
    from rlk_testing.logger import LoggerContract
    from rlk_testing.no_layers import NoLayers
    from rlk_testing.noise import NoiseContract
    from rlk_testing.observer import CallbackContract
    from rlk_testing.optimiser import OptimiserContract
    from rlk_testing.policy import PolicyContract
    from rlk_testing.preset import PresetContract
    from rlk_testing.recipe import RecipeContract
    from rlk_testing.samples import BY_NAME, observations
    from rlk_testing.schedule import ScheduleContract
    from rlk_testing.serializer import SerializerContract
    from rlk_testing.stand_ins import stand_in_kernel
    from rlk_testing.storage import StorageContract
    from rlk_testing.vec_env import VecEnvContract
    from rlk_testing.wrapper import WrapperContract

_HOMES = {
    "BY_NAME": "samples",
    "AlgorithmContract": "algorithm",
    "CallbackContract": "observer",
    "CollectorContract": "collector",
    "CommandContract": "command",
    "Contract": "contract",
    "DecoratorContract": "decorator",
    "DistributionContract": "distribution",
    "EnvironmentContract": "environment",
    "ExtensionContract": "extension",
    "FinderContract": "finder",
    "LoggerContract": "logger",
    "NoLayers": "no_layers",
    "NoiseContract": "noise",
    "OffPolicyContract": "algorithm_off_policy",
    "OptimiserContract": "optimiser",
    "PolicyContract": "policy",
    "PresetContract": "preset",
    "RecipeContract": "recipe",
    "ScheduleContract": "schedule",
    "SerializerContract": "serializer",
    "StorageContract": "storage",
    "VecEnvContract": "vec_env",
    "WrapperContract": "wrapper",
    "mean_return": "acting",
    "observations": "samples",
    "stand_in_kernel": "stand_ins",
}

__all__ = [
    "BY_NAME",
    "AlgorithmContract",
    "CallbackContract",
    "CollectorContract",
    "CommandContract",
    "Contract",
    "DecoratorContract",
    "DistributionContract",
    "EnvironmentContract",
    "ExtensionContract",
    "FinderContract",
    "LoggerContract",
    "NoLayers",
    "NoiseContract",
    "OffPolicyContract",
    "OptimiserContract",
    "PolicyContract",
    "PresetContract",
    "RecipeContract",
    "ScheduleContract",
    "SerializerContract",
    "StorageContract",
    "VecEnvContract",
    "WrapperContract",
    "mean_return",
    "observations",
    "stand_in_kernel",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'rlk_testing' has no attribute {name!r}")
    return getattr(importlib.import_module(f"rlk_testing.{_HOMES[name]}"), name)
