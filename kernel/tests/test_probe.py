from __future__ import annotations

import attrs
import gymnasium as gym
import pytest

from rlk.component import Component
from rlk.errors import PlanError
from rlk.planning.choice import Choice
from rlk.planning.environment import EnvChoice
from rlk.planning.layers import CALLER
from rlk.planning.probe import probe
from rlk.registry.kernel import Kernel
from rlk_testing.environments import Walk


def choice(name="thing", kind="storages", factory=object, **fields):
    component = Component(name=name, factory=factory, **fields)
    return Choice(kind, name, "rlk-x", "1.0", alias=name, origin=CALLER, component=component)


BACKEND = choice("backend", "vec_envs")
NONE = Kernel(discover=False).registries


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

    wrapped = choice("doubled", "wrappers", Doubled)
    observation, action = probe(EnvChoice("Kept", maker=Kept), [wrapped], BACKEND, NONE)
    assert observation.shape == (6,) and action == Walk().action_space
    assert made[0].closed == 1


def test_wrappers_of_a_vector_are_not_put_around_one_environment():
    wrapper = choice("vector", "wrappers", wraps="vector")
    observation, _ = probe(EnvChoice("Walk", maker=Walk), [wrapper], BACKEND, NONE)
    assert observation.shape == (3,)


def test_an_environment_object_is_not_closed():
    env = Walk()
    probe(EnvChoice("Walk", passed=env), [], BACKEND, NONE)
    assert env.closed == 0


class Plain:
    """Has the methods of an environment and their values, and nothing else that it inherits."""

    observation_space = action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        return 0, {}

    def step(self, action):
        return 0, 0.0, False, False, {}


class Stuck(Walk):
    def close(self):
        raise AttributeError("viewer")


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: object(), "is not a Gymnasium environment: its observation_space is NoneType"),
        (Plain, r"has no metadata, .*close. Let it inherit them: class Plain\(gymnasium.Env\)"),
        (lambda: 1 / 0, "cannot be made: ZeroDivisionError"),
        (Stuck, r"cannot be closed: AttributeError: viewer. Let its close\(\) do nothing where"),
    ],
)
def test_what_is_no_environment_is_refused(made, message):
    with pytest.raises(PlanError, match=message):
        probe(EnvChoice("mine", maker=made), [], BACKEND, NONE)


class Sized(Walk):
    def __init__(self, size=1, *, render_mode=None):
        super().__init__()


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (Sized, r"'sise'\. Did you mean 'size'\? It takes size, render_mode\.$"),
        (lambda: Walk(), r"'sise'\. It takes no keywords\.$"),
        (lambda **given: Walk(**given), r"keyword argument 'sise'\.$"),
    ],
)
def test_a_keyword_that_is_not_taken_is_refused_with_those_that_are(made, said):
    with pytest.raises(PlanError, match=said):
        probe(EnvChoice("mine", {"sise": 2}, made), [], BACKEND, NONE)


def test_an_environment_that_a_wrapper_is_there_to_adapt_is_refused_by_the_name_of_that():
    class Other(Walk):
        """Stands for an environment of another interface."""

    registries = Kernel(discover=False).registries
    registries.wrappers.register("idle", gym.Wrapper, summary="adapts nothing")
    registries.wrappers.register(
        "adapting", gym.Wrapper, summary="adapts others", adapts=lambda env: isinstance(env, Other)
    )
    with pytest.raises(PlanError, match=r"'adapting'.*adapts others.*plugins=\['adapting'\]"):
        probe(EnvChoice("Other", maker=Other), [], BACKEND, registries)
    adapting = registries.wrappers.get("adapting").component()
    wrapped = attrs.evolve(choice("adapting", "wrappers"), component=adapting)
    probe(EnvChoice("Other", maker=Other), [wrapped], BACKEND, registries)
    probe(EnvChoice("Walk", maker=Walk), [], BACKEND, registries)
