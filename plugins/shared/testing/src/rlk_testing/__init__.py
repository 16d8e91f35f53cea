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
    from rlk_testing.contracts.algorithm.contract import AlgorithmContract as AlgorithmContract
    from rlk_testing.contracts.algorithm.off_policy import OffPolicyContract as OffPolicyContract
    from rlk_testing.contracts.callback import CallbackContract as CallbackContract
    from rlk_testing.contracts.collector.contract import CollectorContract as CollectorContract
    from rlk_testing.contracts.command import CommandContract as CommandContract
    from rlk_testing.contracts.distribution.contract import (
        DistributionContract as DistributionContract,
    )
    from rlk_testing.contracts.environment import EnvironmentContract as EnvironmentContract
    from rlk_testing.contracts.extension import ExtensionContract as ExtensionContract
    from rlk_testing.contracts.finder import FinderContract as FinderContract
    from rlk_testing.contracts.logger import LoggerContract as LoggerContract
    from rlk_testing.contracts.noise.contract import NoiseContract as NoiseContract
    from rlk_testing.contracts.optimiser import OptimiserContract as OptimiserContract
    from rlk_testing.contracts.policy.contract import PolicyContract as PolicyContract
    from rlk_testing.contracts.preset import PresetContract as PresetContract
    from rlk_testing.contracts.recipe import RecipeContract as RecipeContract
    from rlk_testing.contracts.schedule import ScheduleContract as ScheduleContract
    from rlk_testing.contracts.serializer.contract import SerializerContract as SerializerContract
    from rlk_testing.contracts.shared.applies import applies as applies
    from rlk_testing.contracts.shared.contract import Contract as Contract
    from rlk_testing.contracts.shared.contract import once_per_suite as once_per_suite
    from rlk_testing.contracts.storage.contract import StorageContract as StorageContract
    from rlk_testing.contracts.storage.decorator import DecoratorContract as DecoratorContract
    from rlk_testing.contracts.vec_env.contract import VecEnvContract as VecEnvContract
    from rlk_testing.contracts.wrapper.contract import WrapperContract as WrapperContract
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "AlgorithmContract": "contracts.algorithm.contract",
            "CallbackContract": "contracts.callback",
            "CollectorContract": "contracts.collector.contract",
            "CommandContract": "contracts.command",
            "Contract": "contracts.shared.contract",
            "DecoratorContract": "contracts.storage.decorator",
            "DistributionContract": "contracts.distribution.contract",
            "EnvironmentContract": "contracts.environment",
            "ExtensionContract": "contracts.extension",
            "FinderContract": "contracts.finder",
            "LoggerContract": "contracts.logger",
            "NoiseContract": "contracts.noise.contract",
            "OffPolicyContract": "contracts.algorithm.off_policy",
            "OptimiserContract": "contracts.optimiser",
            "PolicyContract": "contracts.policy.contract",
            "PresetContract": "contracts.preset",
            "RecipeContract": "contracts.recipe",
            "ScheduleContract": "contracts.schedule",
            "SerializerContract": "contracts.serializer.contract",
            "StorageContract": "contracts.storage.contract",
            "VecEnvContract": "contracts.vec_env.contract",
            "WrapperContract": "contracts.wrapper.contract",
            "applies": "contracts.shared.applies",
            "once_per_suite": "contracts.shared.contract",
        },
    )
