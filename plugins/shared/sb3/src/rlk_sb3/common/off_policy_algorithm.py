"""The base class of Stable-Baselines3's off-policy models."""

from __future__ import annotations

from typing import Any

import attrs
from gymnasium import spaces

from rlk_baselines.arguments import DICT, Argument
from rlk_baselines.environments.as_vec_env import as_vec_env
from rlk_baselines.environments.info_keys import keys_read
from rlk_baselines.environments.training_vector import training_vector
from rlk_baselines.models import OffPolicyRLModel
from rlk_baselines.refusals import Refused
from rlk_baselines.saved_models import model_files
from rlk_baselines.saved_models.places import Place
from rlk_sb3 import replay_files
from rlk_sb3.algorithm import BaseAlgorithm
from rlk_sb3.arguments_of_load import with_room
from rlk_sb3.common.buffers import DictReplayBuffer, ReplayBuffer
from rlk_sb3.common.type_aliases import TrainFreq, TrainFrequencyUnit
from rlk_sb3.elsewhere import OF_OFF_POLICY_MODELS
from rlk_sb3.her.her_replay_buffer import HerReplayBuffer, hindsight
from rlk_sb3.monitored import monitored
from rlk_sb3.replay_view import ModelsReplay
from rlk_sb3.saved.loading import FilesOfSB3
from rlk_sb3.saved.names import CONTINUOUS


def _as_setting(train_freq: Any) -> Any:
    """The value of rlk's setting for a `train_freq`."""
    if not isinstance(train_freq, tuple) or len(train_freq) != 2:
        return train_freq
    count, unit = train_freq
    return count if unit == "step" else f"{count} {unit}"


#: The arguments about the replay, and when the model learns from it.
REPLAY = (
    Argument("train_freq", convert=_as_setting),
    Argument("replay_buffer_class", rlk=None),
    Argument("replay_buffer_kwargs", type=DICT),
    # Without effect: each observation is kept once anyway.
    Argument("optimize_memory_usage", rlk=None, is_held=True),
    Argument("n_steps", rlk="n-step.n_steps", is_held=True),
)


class OffPolicyAlgorithm(BaseAlgorithm, OffPolicyRLModel):
    """The base class of off-policy models."""

    foreign_files = FilesOfSB3(CONTINUOUS)
    rows = 4
    replayed = ModelsReplay
    instead = OF_OFF_POLICY_MODELS
    learning_starts: int
    tau: float
    gradient_steps: int
    n_steps: int

    @property
    def critic(self) -> Any:
        """The critics of DDPG, SAC and TD3: see `policy.critic`."""
        return self.policy.critic

    @property
    def train_freq(self) -> TrainFreq:
        """The number of steps or episodes that are collected before each update."""
        given = self._given["train_freq"]
        if isinstance(given, str):  # a setting of rlk, as of a loaded model: `2 episode`
            given = given.removesuffix("s").split()
        count, unit = given if isinstance(given, (tuple, list)) else (given, "step")
        return TrainFreq(int(count), TrainFrequencyUnit(unit))

    @property
    def replay_buffer_class(self) -> type:
        """The class of the replay: that which was given, or the usual one for the observations."""
        is_dict = isinstance(self.observation_space, spaces.Dict)
        usual = DictReplayBuffer if is_dict else ReplayBuffer
        return self._given["replay_buffer_class"] or usual

    @property
    def replay_buffer_kwargs(self) -> dict[str, Any]:
        """The keywords of the replay that were given."""
        return dict(self._given["replay_buffer_kwargs"] or {})

    def translated(self, settings: dict[str, Any]) -> dict[str, Any]:
        """As in `BaseAlgorithm`; the buffer's arguments become settings of rlk's storages."""
        if settings.get("n_steps") == 1:  # without the decorator that has this setting
            del settings["n_steps"]
        keywords = settings.pop("replay_buffer_kwargs", None)
        chosen = self._given["replay_buffer_class"]
        storage = hindsight(chosen, keywords, self._keys_read)
        return {**super().translated(settings), **storage}

    def _keys_read(self) -> list[str]:
        """The keys of infos that the environments' `compute_reward` reads."""
        assert self._env is not None
        return keys_read(training_vector(self._env, is_seeded=False), self.observation_space)

    def _plugins(self) -> list[Any]:
        several = ["n-step" if self._given["n_steps"] != 1 else "no:n-step"]
        hindsight = ["hindsight-replay"] if self._by_hindsight() else []
        return [*super()._plugins(), *several, *hindsight]

    def _by_hindsight(self) -> bool:
        return self._given["replay_buffer_class"] is HerReplayBuffer

    def about(self) -> dict[str, Any]:
        return {**super().about(), "by_hindsight": self._by_hindsight()}

    def load_from(self, saved: model_files.Saved, env: Any) -> None:
        """As in `Constructed`; with hindsight replay, the environment must compute rewards."""
        if saved.about.get("by_hindsight"):
            saved.given["replay_buffer_class"] = HerReplayBuffer
            env = saved.about["env_id"] if env is None else env
            if env is None:
                raise Refused(
                    "this model learns by hindsight, which needs its environment's compute_reward. "
                    f"Pass the environment: {type(self).__name__}.load(path, env=env)."
                )
        vector = saved.awaited() if env is None else as_vec_env(monitored(env))
        given = with_room(saved.changes, saved.given["batch_size"], vector.num_envs)
        changed = attrs.evolve(saved, given={**saved.given, **given}, changes=given)
        super().load_from(changed, env if env is None else vector)

    def save_replay_buffer(self, path: Place) -> None:
        """Write the contents of the replay storage.

        Args:
            path: a path, to which `.pkl` is added if it has no suffix, or an open binary file.

        Raises:
            Refused: if the file holds a model, which would be lost.
        """
        replay_files.save(self.agent.run, path)

    def load_replay_buffer(self, path: Place, truncate_last_traj: bool = True) -> None:
        """Load a saved replay.

        Args:
            path: a path, with or without `.pkl` or `.zip`, or an open binary file.
            truncate_last_traj: ignored: the last episode always ends.

        Raises:
            BadFile: if the file is damaged, or is not one of `save_replay_buffer`.
        """
        replay_files.load(self.agent, path)
