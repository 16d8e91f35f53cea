"""What errors of models say, in the words of the program that made them."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from rlk_baselines.refusals import Refused
from rlk_sb3 import A2C, DDPG, DQN, PPO, SAC, TD3, HerReplayBuffer
from rlk_sb3_contrib import MaskablePPO, RecurrentPPO

VECTOR = spaces.Box(-1, 1, (2,))


class Still(gymnasium.Env[Any, Any]):
    """Has the spaces that it is given."""

    def __init__(self, observation_space: Any = VECTOR, action_space: Any = VECTOR) -> None:
        self.observation_space, self.action_space = observation_space, action_space


def refusal(kind: Any, policy: str, env: Any, **keywords: Any) -> str:
    with pytest.raises(Refused) as caught:
        kind(policy, env, **keywords)
    return str(caught.value)


@pytest.mark.parametrize(
    ("kind", "policy", "space", "instead"),
    [
        (PPO, "MlpPolicy", spaces.Dict(a=VECTOR), "MultiInputPolicy"),
        (PPO, "CnnPolicy", VECTOR, "MlpPolicy"),
        (SAC, "MultiInputPolicy", VECTOR, "MlpPolicy"),
        (PPO, "MultiInputPolicy", spaces.Box(0, 255, (36, 36, 3), np.uint8), "CnnPolicy"),
        (RecurrentPPO, "MlpLstmPolicy", spaces.Dict(a=VECTOR), "MultiInputLstmPolicy"),
        (RecurrentPPO, "CnnLstmPolicy", VECTOR, "MlpLstmPolicy"),
    ],
)
def test_the_policy_for_the_observations_is_named(
    kind: Any, policy: str, space: Any, instead: str
) -> None:
    assert refusal(kind, policy, Still(space)).endswith(f".\nWrite '{instead}'.")


@pytest.mark.parametrize("policy", ["MlpPolicy", "CnnPolicy", "MultiInputPolicy"])
def test_a_policy_without_lstm_is_refused_by_its_name(policy: str) -> None:
    text = refusal(RecurrentPPO, policy, Still())
    assert f"policy '{policy}' has no LSTM. Write 'MlpLstmPolicy'" in text


@pytest.mark.parametrize("kind", [A2C, PPO])
def test_a_policy_with_lstm_is_refused_naming_the_model_that_takes_it(kind: Any) -> None:
    text = refusal(kind, "MlpLstmPolicy", Still())
    assert "policy 'MlpLstmPolicy' has an LSTM" in text and "sb3_contrib.RecurrentPPO" in text
    assert text.endswith(f"rlk.make('{kind.algo}', policy='lstm').")


def test_a_wrapper_is_named_as_a_program_writes_it() -> None:
    space = spaces.Dict(image=spaces.Box(0, 255, (8, 8, 3), np.uint8))
    text = refusal(PPO, "MultiInputPolicy", Still(space))
    assert text.endswith("policy='mlp' with gymnasium.wrappers.FlattenObservation(env)")


def test_hindsight_and_masks_are_left_out_as_a_program_does_it() -> None:
    for env in (Still(), Still(spaces.Dict(a=VECTOR))):
        text = refusal(SAC, "MultiInputPolicy", env, replay_buffer_class=HerReplayBuffer)
        assert "--plugin" not in text and " no hindsight-replay." in text
    for action_space in (VECTOR, spaces.Discrete(2)):
        env = Still(action_space=action_space)
        text = refusal(MaskablePPO, "MlpPolicy", env)
        assert "action-masking" in text and text.endswith("without masks use PPO.")


def test_a_key_where_the_mask_belongs_is_renamed_by_a_wrapper() -> None:
    class Masked(Still):
        def action_masks(self) -> Any:
            return [True, False]

        def reset(self, **_: Any) -> Any:
            return self.observation_space.sample(), {}

        def step(self, action: Any) -> Any:
            return self.observation_space.sample(), 0.0, False, True, {}

    space = spaces.Dict(a=VECTOR, action_mask=spaces.MultiBinary(2))
    env = Masked(space, spaces.Discrete(2))
    text = refusal(MaskablePPO, "MultiInputPolicy", env)
    assert "--" not in text and "key another name" in text and "without masks use PPO" in text
    renamed = spaces.Dict(a=VECTOR, allowed=spaces.MultiBinary(2))
    wrapped = gymnasium.wrappers.TransformObservation(
        env, lambda seen: {"a": seen["a"], "allowed": seen["action_mask"]}, renamed
    )
    model = MaskablePPO("MultiInputPolicy", wrapped, n_steps=4, batch_size=4)
    assert model.learn(4).num_timesteps == 4


def test_a_setting_is_written_as_a_keyword_argument() -> None:
    text = refusal(PPO, "MlpPolicy", "CartPole-v1", n_steps=1, batch_size=1)
    assert text.endswith("Use a larger n_steps, or normalize_advantage=False.")


@pytest.mark.parametrize(
    ("kind", "keywords", "words"),
    [
        (PPO, {"n_steps": "many"}, "n_steps must be a whole number, got 'many'"),
        (PPO, {"batch_size": float("inf")}, "batch_size must be a whole number, got inf"),
        (DQN, {"train_freq": (1,)}, r"train_freq must be int or str or \[int, str\], got \(1,\)"),
        (A2C, {"policy_kwargs": {"activation_fn": [1]}}, r"act_fun must be .*, got \[1\]"),
    ],
)
def test_an_argument_of_another_type_is_refused_before_anything_is_computed_from_it(
    kind: Any, keywords: dict[str, Any], words: str
) -> None:
    with pytest.raises(Refused, match=words):
        kind("MlpPolicy", "CartPole-v1", **keywords)


@pytest.mark.parametrize("cls", [DDPG, TD3, DQN])
def test_an_argument_of_other_classes_is_refused_with_their_names(cls: Any) -> None:
    with pytest.raises(TypeError, match=r"use_sde.\. Of rlk_sb3, these take it: A2C, PPO, SAC"):
        cls("MlpPolicy", "Pendulum-v1", use_sde=True)
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'no_such_argument'$"):
        cls("MlpPolicy", "Pendulum-v1", no_such_argument=1)
