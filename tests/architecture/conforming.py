"""Every component with the protocol of its kind: mypy checks here that they agree.

A component that is missing is named by `test_conforming.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rlk.protocols import (
    Algorithm,
    Collector,
    Decorator,
    NameSource,
    Noise,
    OptimiserStep,
    PolicyBuilder,
    PresetSource,
    Serializer,
    Storage,
)
from rlk_a2c.algorithm import A2C
from rlk_acer.algorithm import ACER
from rlk_acktr.algorithm import ACKTR
from rlk_adam.step import Adam
from rlk_adaptive_parameter_noise.noise import AdaptiveParameterNoise
from rlk_bc.algorithm import BC
from rlk_bc.storage import ExpertTransitions
from rlk_cnn.network import Cnn
from rlk_code.components import component_at
from rlk_code.environments import environment_at
from rlk_ddpg.algorithm import DDPG
from rlk_dqn.algorithm import DQN
from rlk_envpool.tasks import task_named
from rlk_epsilon_greedy.noise import EpsilonGreedy
from rlk_gymnasium.ids import Ids
from rlk_gymnasium.known import KnownIds
from rlk_hindsight_replay.storage import HindsightReplay
from rlk_kfac.step import Kfac
from rlk_lstm.network import Lstm
from rlk_mlp.network import Mlp
from rlk_multi_input.network import MultiInput
from rlk_n_step.storage import NStep
from rlk_natural_gradient.step import NaturalGradient
from rlk_no_steps.collector import NoSteps
from rlk_normal_noise.noise import NormalNoise
from rlk_ornstein_uhlenbeck_noise.noise import OrnsteinUhlenbeckNoise
from rlk_ppo.algorithm import PPO
from rlk_ppo1.algorithm import PPO1
from rlk_ppo2.algorithm import PPO2
from rlk_presets.zoo import Zoo
from rlk_prioritized_replay.storage import PrioritizedReplay
from rlk_replay.protocol import ReplayBase
from rlk_replay.storage import Replay
from rlk_rmsprop.step import RMSProp
from rlk_rollout.storage import RolloutStorage
from rlk_sac.algorithm import SAC
from rlk_step_collector.collector import StepCollector
from rlk_td3.algorithm import TD3
from rlk_torch_optim.step import TorchOptim
from rlk_trajectory_replay.storage import TrajectoryReplay
from rlk_trpo.algorithm import TRPO
from rlk_zip.serializer import ZipSerializer

ALGORITHMS: Sequence[Callable[..., Algorithm]] = (
    *(A2C, ACER, ACKTR, BC, DDPG, DQN),
    *(PPO, PPO1, PPO2, SAC, TD3, TRPO),
)
POLICIES: Sequence[Callable[..., PolicyBuilder]] = (Cnn, Lstm, Mlp, MultiInput)
NOISES: Sequence[Callable[..., Noise]] = (
    *(AdaptiveParameterNoise, EpsilonGreedy, NormalNoise, OrnsteinUhlenbeckNoise),
)
STORAGES: Sequence[Callable[..., Storage]] = (
    *(ExpertTransitions, Replay, RolloutStorage, TrajectoryReplay),
)
DECORATORS: Sequence[Callable[..., Decorator]] = (HindsightReplay, NStep, PrioritizedReplay)
DECORATED: Sequence[Callable[..., ReplayBase]] = (Replay,)
COLLECTORS: Sequence[Callable[..., Collector]] = (NoSteps, StepCollector)
OPTIMISERS: Sequence[Callable[..., OptimiserStep]] = (
    Adam,
    Kfac,
    NaturalGradient,
    RMSProp,
    TorchOptim,
)
SERIALIZERS: Sequence[Callable[..., Serializer]] = (ZipSerializer,)
PRESETS: Sequence[Callable[..., PresetSource]] = (Zoo,)
#: Instances of these classes are the components.
NAME_SOURCES: Sequence[Callable[..., NameSource]] = (Ids, KnownIds)
NAME_FUNCTIONS: Sequence[NameSource] = (component_at, environment_at, task_named)

CHECKED: Mapping[str, Sequence[object]] = {
    "algorithms": ALGORITHMS,
    "policies": POLICIES,
    "noises": NOISES,
    "storages": (*STORAGES, *DECORATORS),
    "collectors": COLLECTORS,
    "optimisers": OPTIMISERS,
    "serializers": SERIALIZERS,
    "presets": PRESETS,
    "environments": (Ids, KnownIds, environment_at, task_named),
    "finders": (component_at,),
}
