"""The error for an actor that returns no Act."""

from __future__ import annotations

import numpy as np
import pytest

from rlk import hookimpl
from rlk.errors import BrokenPlugin, RlkError


class Answers:
    """An actor that returns something other than an Act."""

    def __init__(self, found):
        self.found = found

    def start(self, n_envs):
        return None

    def metrics(self):
        return {}

    def act(self, observation, carry, episode_start, deterministic=False):
        return self.found


class PutsIn:
    """Replaces the algorithm's actor by another one."""

    def __init__(self, actor):
        self.actor = actor

    @hookimpl(tryfirst=True)
    def rlk_make_actor(self):
        return self.actor


class Noisy(Answers):
    """An actor around another one, whose action it looks at."""

    def act(self, *arguments, **keywords):
        act = self.found.act(*arguments, **keywords)
        return act._replace(action=act.action)


class Noise:
    def __init__(self, run):
        pass

    def wrap(self, actor, policy):
        return Noisy(actor)


FOUND = [None, np.zeros(4, np.int64), (np.zeros(4), np.zeros(4))]


@pytest.mark.parametrize("found", FOUND, ids=["none", "array of as many as an Act", "pair"])
@pytest.mark.parametrize("plugins", [[], ["noisy"]], ids=["alone", "inside a noise"])
def test_the_actor_that_returns_no_act_is_named(make, rlk_stand_in_kernel, found, plugins):
    rlk_stand_in_kernel.registries.noises.register("noisy", Noise)
    agent = make(n_envs=4, plugins=[PutsIn(Answers(found)), *plugins])
    with pytest.raises(BrokenPlugin) as caught:
        agent.learn(40)
    assert str(caught.value).startswith(f"actor {__name__}.Answers: act() returned ")
    assert str(caught.value).endswith(
        "It must return an Act (rlk.records), of action, env_action, carry and extras."
    )


def test_the_actor_is_named_also_where_its_first_action_is_refused_on_purpose(make, monkeypatch):
    agent = make(n_envs=4, plugins=[PutsIn(Answers(np.zeros(4)))])

    def refuses(action):
        raise RlkError("there is no such action")

    monkeypatch.setattr(agent.run.env, "step", refuses)
    with pytest.raises(BrokenPlugin, match="It must return an Act"):
        agent.learn(40)


def test_actors_are_not_asked_where_something_else_was_refused(make):
    class Counts(Answers):
        asked = 0

        def act(self, *arguments, **keywords):
            self.asked += 1
            return self.found.act(*arguments, **keywords)

    class Wraps:
        @hookimpl(tryfirst=True)
        def rlk_make_actor(self, actor):
            self.actor = Counts(actor)
            return self.actor

    wraps = Wraps()
    with pytest.raises(RlkError, match="stumbles"):
        make(plugins=[wraps, Stumbles()]).learn(40)
    assert wraps.actor.asked == 5


class Stumbles:
    @hookimpl
    def rlk_step(self, run):
        if run.timesteps > 4:
            raise RlkError("it stumbles")
