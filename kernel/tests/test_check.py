from __future__ import annotations

import gymnasium as gym
import pytest

from rlk import check
from rlk.component import Component
from rlk.environment import EnvChoice, choose_environment
from rlk.errors import PlanError
from rlk.plan import Choice
from rlk.testing.environments import DiscreteMatch, Walk


def choice(name="thing", kind="storages", **fields):
    component = Component(name=name, factory=object, **fields)
    return Choice(kind=kind, name=name, dist="rlk-x", version="1.0", by="test", component=component)


# ---- settings of a run ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "value", "kept"),
    [
        ("n_envs", 3, 3),
        ("n_envs", 3.0, 3),
        ("total_timesteps", 1e5, 100_000),
        ("total_timesteps", 0, 0),
        ("seed", None, None),
        ("seed", 0, 0),
        ("n_threads", None, None),
        ("device", "cuda:1", "cuda:1"),
        ("verbose", 0, 0),
    ],
)
def test_a_setting_of_a_run_is_taken_in_its_type(key, value, kept):
    found = check.run_setting(key, value)
    assert found == kept and type(found) is type(kept)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("n_envs", 0),
        ("n_envs", "two"),
        ("n_envs", None),
        ("total_timesteps", -1),
        ("log_interval", 0),
        ("n_threads", 0),
        ("seed", -3),
        ("device", 3),
        ("verbose", 0.5),
    ],
)
def test_a_wrong_one_is_refused_by_its_name(key, value):
    with pytest.raises(PlanError, match=key):
        check.run_setting(key, value)


# ---- the environment -----------------------------------------------------------------------------


def test_spaces_are_those_of_the_wrapped_environment_which_is_closed_again():
    made = []

    class Kept(Walk):
        def __init__(self):
            super().__init__()
            made.append(self)

    class Doubled(gym.ObservationWrapper):
        def __init__(self, env):
            super().__init__(env)
            self.observation_space = gym.spaces.Box(-1.0, 1.0, (6,))

    wrapper = Component(name="doubled", factory=Doubled)
    wrapped = Choice(kind="wrappers", name="doubled", dist="", version="", by="", component=wrapper)
    observation, action = check.probe(choose_environment(Kept, {}), [wrapped])
    assert observation.shape == (6,) and action == Walk().action_space
    assert made[0].closed == 1


def test_wrappers_of_a_vector_are_not_put_around_one_environment():
    wrapper = choice("vector", "wrappers", scope="vector")
    observation, _ = check.probe(choose_environment(Walk, {}), [wrapper])
    assert observation.shape == (3,)


def test_an_environment_object_is_not_closed():
    env = Walk()
    check.probe(choose_environment(env, {}), [])
    assert env.closed == 0


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: object(), "is no Gymnasium environment: its observation_space is NoneType"),
        (lambda: 1 / 0, "cannot be made: ZeroDivisionError"),
    ],
)
def test_what_is_no_environment_is_refused(made, message):
    with pytest.raises(PlanError, match=message):
        check.probe(EnvChoice("mine", made=made), [])


def test_a_vector_that_was_passed_has_its_own_number():
    vector = gym.vector.SyncVectorEnv([DiscreteMatch] * 3)
    passed = choose_environment(vector, {})
    assert check.vector_size(passed, 1, "default") == (3, "the vector environment")
    assert check.vector_size(passed, 3, "command line")[0] == 3
    with pytest.raises(PlanError, match=r"n_envs=4 \(command line\).* has 3"):
        check.vector_size(passed, 4, "command line")
    assert check.vector_size(EnvChoice("CartPole-v1"), 4, "command line") == (4, "command line")


# ---- stages --------------------------------------------------------------------------------------


def test_decorators_are_sorted_by_the_first_stage_that_they_take():
    folds, chooses = (
        choice("folds", stages=("window", "fold")),
        choice("chooses", stages=("choose",)),
    )
    relabels = choice("relabels", stages=("relabel",))
    found = check.stacked([relabels, folds, chooses])
    assert [c.name for c in found] == ["chooses", "folds", "relabels"]


def test_two_for_one_stage_are_refused_with_both_names():
    with pytest.raises(PlanError) as caught:
        check.stacked([choice("one", stages=("choose",)), choice("two", stages=("choose", "fold"))])
    message = str(caught.value)
    assert "storage 'one' (rlk-x 1.0)" in message and "storage 'two' (rlk-x 1.0)" in message
    assert "'choose'" in message
