"""The smallest component of every kind that a run needs, to test another one without packages.

agent = rlk.make("stand-in", kernel=stand_in_kernel())
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.lazy_names import lazy_names

if TYPE_CHECKING:
    from rlk_testing.stand_ins.algorithm import RandomActor as RandomActor
    from rlk_testing.stand_ins.algorithm import StandIn as StandIn
    from rlk_testing.stand_ins.algorithm import ValueHead as ValueHead
    from rlk_testing.stand_ins.architecture import NoLayers as NoLayers
    from rlk_testing.stand_ins.collector import StandInCollector as StandInCollector
    from rlk_testing.stand_ins.config import OffPolicyStandInConfig as OffPolicyStandInConfig
    from rlk_testing.stand_ins.config import StandInConfig as StandInConfig
    from rlk_testing.stand_ins.idle import Idle as Idle
    from rlk_testing.stand_ins.idle import IdleNoise as IdleNoise
    from rlk_testing.stand_ins.kernel import COMPONENTS as COMPONENTS
    from rlk_testing.stand_ins.kernel import stand_in_kernel as stand_in_kernel
    from rlk_testing.stand_ins.optimiser import StandInOptimiser as StandInOptimiser
    from rlk_testing.stand_ins.parameters import StandInParameters as StandInParameters
    from rlk_testing.stand_ins.policy import StandInModule as StandInModule
    from rlk_testing.stand_ins.policy import StandInPolicy as StandInPolicy
    from rlk_testing.stand_ins.serializer import StandInSerializer as StandInSerializer
    from rlk_testing.stand_ins.storage import StandInStorage as StandInStorage
    from rlk_testing.stand_ins.vec_env import StandInVecEnv as StandInVecEnv
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "COMPONENTS": "kernel",
            "Idle": "idle",
            "IdleNoise": "idle",
            "NoLayers": "architecture",
            "OffPolicyStandInConfig": "config",
            "RandomActor": "algorithm",
            "StandIn": "algorithm",
            "StandInCollector": "collector",
            "StandInConfig": "config",
            "StandInModule": "policy",
            "StandInOptimiser": "optimiser",
            "StandInParameters": "parameters",
            "StandInPolicy": "policy",
            "StandInSerializer": "serializer",
            "StandInStorage": "storage",
            "StandInVecEnv": "vec_env",
            "ValueHead": "algorithm",
            "stand_in_kernel": "kernel",
        },
    )
