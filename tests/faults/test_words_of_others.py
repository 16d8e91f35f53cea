"""Names and settings of Stable Baselines and its zoos for which rlk has its own."""

from __future__ import annotations

import pytest

import rlk
from rlk.registry.kernel import default_kernel


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("--plugin EvalCallback", "Did you mean 'evaluation'?"),
        ("--plugin CheckpointCallback", "Did you mean 'checkpoint'?"),
        ("--plugin StopTrainingOnRewardThreshold", "Did you mean 'stop-on-reward'?"),
        ("--plugin StopTrainingOnNoModelImprovement", "'stop-on-no-improvement'?"),
        ("--plugin StopTrainingOnMaxEpisodes", "Did you mean 'max-episodes'?"),
        ("--plugin EveryNTimesteps", "Did you mean 'every-n'?"),
        ("--plugin VecNormalize", "Did you mean 'normalize'?"),
        ("--plugin Monitor", "Did you mean 'monitor'?"),
        ("--plugin VecFrameStack", "Did you mean 'frame-stack'?"),
        ("--plugin HerReplayBuffer", "Did you mean 'hindsight-replay'?"),
        ("--plugin HindsightExperienceReplayWrapper", "Did you mean 'hindsight-replay'?"),
        ("--vec-env SubprocVecEnv", "Did you mean 'subprocess'?"),
        ("--noise AdaptiveParamNoiseSpec", "Did you mean 'adaptive-parameter-noise'"),
        ("--algo GAIL", "Did you mean 'gail'?"),
        ("--algo HER", "Did you mean 'her'?"),
        ("--set n_timesteps=1000", "total_timesteps=… (--timesteps …)"),
        ("--set eval_freq=1000", "rlk plugins list --kind callbacks"),
        ("--set normalize=true", "plugins=['normalize'] (--plugin normalize)"),
        ("--set frame_stack=4", "plugins=['frame-stack'] (--plugin frame-stack)"),
        ("--set env_wrapper=mine.Wrapper", "rlk plugins list --kind wrappers"),
        ("--set noise_type=normal", "rlk plugins list --kind noises"),
    ],
)
def test_a_word_of_stable_baselines_is_answered_with_rlks_own(rlk_typed, typed, said):
    algo = () if "--algo" in typed else ("--algo", "ppo2")
    ended = rlk_typed("run", *algo, *typed.split())
    assert ended.code == 2 and said in ended.err


def test_settings_of_a_wrapper_that_is_there_are_no_word_of_others():
    given = {"plugins": ["normalize"], "normalize.norm_reward": False, "normalize": {"gamma": 0.9}}
    with rlk.make("ppo2", env="CartPole-v1", **given) as agent:
        (normalize,) = agent.plan.wrappers
        assert (normalize.config.gamma, normalize.config.norm_reward) == (0.9, False)


def test_what_others_call_a_component_is_nobodys_name():
    registries = default_kernel().registries
    names = {name for registry in registries for name in registry.names()}
    for entry in registries.every_entry():
        assert not names.intersection(entry.component().known_as)
