"""A saved model acts where its environment is not there: the spaces in its file suffice."""

from __future__ import annotations

import json

import gymnasium as gym
import numpy as np
import pytest

import rlk
from rlk.errors import PlanError
from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk.restoring.saved_plan import as_json, spec_of
from rlk.restoring.saved_records import SavedPlan
from rlk.restoring.spaces_alone import spaces_alone
from rlk.running.vec_env import make_vec_env
from rlk.structure import structured
from rlk_testing.environments import BY_ACTION_SPACE

MATCH = BY_ACTION_SPACE["Discrete"]


def test_the_spaces_of_an_environment_that_is_not_there_suffice_to_act(
    make, tmp_path, rlk_stand_in_kernel
):
    agent = make()
    zeros = np.zeros_like(agent.plan.observation_space.sample())
    path = agent.save(tmp_path / "model")
    with pytest.raises(PlanError, match="no file may run by itself"):
        rlk.load(path, kernel=rlk_stand_in_kernel)
    with rlk.load(path, kernel=rlk_stand_in_kernel, to_act=True) as loaded:
        assert loaded.predict(zeros)[0] == agent.predict(zeros)[0]
        (said,) = [
            one for one in loaded.spec.learns_without if "not needed to act, only its spaces" in one
        ]
        assert said in loaded.differs
        assert as_json(loaded.plan)["env"] == as_json(agent.plan)["env"]
        with pytest.raises(PlanError, match=r"^this model's environment .* Pass it again"):
            make_vec_env(loaded.plan, loaded.run.hooks, 1, training=False)
        for call in (loaded.get_env().reset, lambda: loaded.learn(4)):
            with pytest.raises(PlanError, match=r"spaces of its environment alone: this model"):
                call()
        loaded.set_env(MATCH)
        with (
            pytest.warns(UserWarning, match="not needed to act, only its spaces"),
            pytest.warns(UserWarning, match="loaded to act"),
        ):
            assert loaded.learn(4).num_timesteps == 4


def test_a_file_without_bounds_or_a_keyword_of_the_environment_asks_for_the_environment_itself(
    make, tmp_path, rlk_stand_in_kernel
):
    path, own = make().save(tmp_path / "model"), {"kernel": rlk_stand_in_kernel, "to_act": True}
    with pytest.raises(PlanError, match="Pass it again"):
        rlk.load(path, **{"env.size": 3}, **own)
    plan = as_json(make().plan)
    assert spaces_alone(structured(SavedPlan, plan, "").env, "why").why_spaces_alone == "why"
    plan["env"]["spaces"] = dict.fromkeys(plan["env"]["spaces"])
    assert spaces_alone(structured(SavedPlan, plan, "").env, "why") is None


class Wider(gym.ObservationWrapper):
    """One number more, also of the observations of a vector."""

    def __init__(self, env):
        super().__init__(env)
        self.observation_space = wider(env.observation_space)

    @staticmethod
    def vector_spaces(observation_space, action_space):
        return wider(observation_space), action_space


def wider(space):
    return gym.spaces.Box(-1, 1, (space.shape[0] + 1,))


def test_spaces_alone_are_those_inside_the_wrappers_of_the_vector(planning_kernel):
    planning_kernel.registries.wrappers.register("env-wider", Wider)
    planning_kernel.registries.wrappers.register("vector-wider", Wider, wraps="vector")
    given = {"plugins": ["env-wider", "vector-wider", "chooses"], "env": MATCH}
    whole = resolve(planning_kernel, make_spec("algo", given))
    plan = json.loads(json.dumps(as_json(whole)))
    alone = spaces_alone(structured(SavedPlan, plan, "the plan").env, "it is gone")
    found = resolve(planning_kernel, spec_of(plan, planning_kernel, env=alone, to_act=True))
    assert found.observation_space == whole.observation_space
    assert found.spaces_inside == whole.spaces_inside
    assert [one.name for one in found.wrappers] == ["env-wider", "vector-wider"]
    assert [one.name for one in found.storages] == ["keeps"]  # a decorator may ask the environment
    said, _ = spec_of(plan, planning_kernel, to_act=True, env=alone).learns_without
    assert said.endswith("only its spaces: it is gone")
