"""Wrappers that are passed again stand where they stood among those that are installed."""

from __future__ import annotations

from functools import partial

from gymnasium.wrappers import ClipReward, TimeLimit

import rlk
from rlk.component import Component
from rlk.hookspecs import hookimpl


class Watches:
    @hookimpl
    def rlk_training_start(self):
        """Does nothing."""


SHORT = partial(TimeLimit, max_episode_steps=40)
OUTSIDE = Component(
    name="outside", kind="wrappers", factory=partial(TimeLimit, max_episode_steps=8)
)
LATER = Component(name="later", kind="wrappers", factory=partial(TimeLimit, max_episode_steps=99))
WATCHES = Watches()


def test_a_loaded_run_plays_in_the_same_environment(tmp_path):
    plugins = [SHORT, "action-repeat:repeat=4", WATCHES, OUTSIDE]
    given = {"env": "Pendulum-v1", "n_steps": 32, "preset": "none", "seed": 0, "n_threads": 1}
    with rlk.make("ppo2", plugins=plugins, out=tmp_path / "run", **given) as agent:
        agent.learn(64)
        nested = [choice.name for choice in agent.plan.wrappers]
        assert nested == ["monitor", "TimeLimit", "action-repeat", "outside"]
        whole = agent.learn(128, reset_num_timesteps=False).run.parameters.flat.clone()
    again = [LATER, OUTSIDE, WATCHES, SHORT]  # in another order, and with one more
    with rlk.load(tmp_path / "run" / "checkpoints" / "64.zip", plugins=again[1:]) as agent:
        assert [choice.name for choice in agent.plan.wrappers] == nested
        assert agent.learn(128, reset_num_timesteps=False).run.parameters.flat.equal(whole)
    with rlk.load(tmp_path / "run", plugins=again) as agent:
        assert [choice.name for choice in agent.plan.wrappers] == [*nested, "later"]


def test_the_environments_own_return_goes_on_in_the_middle_of_an_episode(tmp_path):
    plugins = [partial(ClipReward, min_reward=-1.0, max_reward=0.0)]
    given = {"env": "Pendulum-v1", "n_steps": 32, "preset": "none", "seed": 0, "n_threads": 1}
    with rlk.make("ppo2", plugins=plugins, out=tmp_path / "run", **given) as agent:
        agent.learn(64)
        whole = list(agent.learn(256, reset_num_timesteps=False).run.metrics.recent_episodes)
    with rlk.load(tmp_path / "run" / "checkpoints" / "64.zip", plugins=plugins) as agent:
        again = agent.learn(256, reset_num_timesteps=False).run.metrics.recent_episodes
        assert list(again) == whole
    ((return_, length),) = whole
    assert length == 200 and return_ < -length
