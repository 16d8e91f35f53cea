"""Contract suites for plugin authors: what rlk expects of every kind of component.

    from rlk_testing import AlgorithmContract

    class TestDQN(AlgorithmContract):
        component = "dqn"

Each suite finds its component through the registry, as a run does. A suite's module is imported
only when it is used, because this package is loaded whenever pytest starts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.lazy_names import lazy_names

if TYPE_CHECKING:
    from rlk_testing.acting import mean_return as mean_return
    from rlk_testing.algorithm import AlgorithmContract as AlgorithmContract
    from rlk_testing.algorithm_off_policy import OffPolicyContract as OffPolicyContract
    from rlk_testing.collector import CollectorContract as CollectorContract
    from rlk_testing.command import CommandContract as CommandContract
    from rlk_testing.contract import Contract as Contract
    from rlk_testing.decorator import DecoratorContract as DecoratorContract
    from rlk_testing.distribution import DistributionContract as DistributionContract
    from rlk_testing.environment import EnvironmentContract as EnvironmentContract
    from rlk_testing.extension import ExtensionContract as ExtensionContract
    from rlk_testing.finder import FinderContract as FinderContract
    from rlk_testing.logger import LoggerContract as LoggerContract
    from rlk_testing.no_layers import NoLayers as NoLayers
    from rlk_testing.noise import NoiseContract as NoiseContract
    from rlk_testing.observer import CallbackContract as CallbackContract
    from rlk_testing.optimiser import OptimiserContract as OptimiserContract
    from rlk_testing.policy import PolicyContract as PolicyContract
    from rlk_testing.preset import PresetContract as PresetContract
    from rlk_testing.recipe import RecipeContract as RecipeContract
    from rlk_testing.samples import BY_NAME as BY_NAME
    from rlk_testing.samples import observations as observations
    from rlk_testing.schedule import ScheduleContract as ScheduleContract
    from rlk_testing.serializer import SerializerContract as SerializerContract
    from rlk_testing.stand_ins import stand_in_kernel as stand_in_kernel
    from rlk_testing.storage import StorageContract as StorageContract
    from rlk_testing.vec_env import VecEnvContract as VecEnvContract
    from rlk_testing.wrapper import WrapperContract as WrapperContract
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "AlgorithmContract": "algorithm",
            "BY_NAME": "samples",
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
        },
    )
