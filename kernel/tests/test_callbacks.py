"""Callbacks of one call of `learn`."""

from __future__ import annotations

import numpy as np
import pytest

from rlk import hookimpl
from rlk.errors import BrokenPlugin, PlanError, RlkError


@pytest.fixture
def agent(make):
    return make()


class Borders:
    """Counts iterations, and stops after so many."""

    def __init__(self, most=1000):
        self.most, self.seen = most, 0

    @hookimpl
    def rlk_update_end(self):
        self.seen += 1

    @hookimpl
    def rlk_should_stop(self):
        return "enough" if self.seen >= self.most else None


class TooLate:
    @hookimpl
    def rlk_wrap_collector(self, run):
        """Would wrap it."""


def test_a_function_of_other_arguments_is_refused_before_the_first_step(agent):
    with pytest.raises(PlanError, match=r"callback <lambda>\(locals_, globals_\) .* def callback"):
        agent.learn(4, callback=lambda locals_, globals_: True)
    assert agent.num_timesteps == 0


def test_a_callback_listens_to_its_own_call_alone(agent):
    callback = Borders()
    agent.learn(96, callback=callback)
    heard = callback.seen
    assert heard == agent.run.clock.iterations > 0
    agent.learn(96)
    assert callback.seen == heard
    agent.learn(96, callback=[callback])
    assert callback.seen == 2 * heard


def test_a_callback_listens_to_a_call_of_learn_until_as_well(agent):
    callback = Borders(most=2)
    assert agent.learn_until(960, callback=[callback]) == "enough"
    heard, timesteps = callback.seen, agent.num_timesteps
    assert agent.learn_until(2 * timesteps) is None
    assert heard == callback.seen == 2 and agent.num_timesteps == 2 * timesteps
    with pytest.raises(PlanError, match="callback TooLate answers rlk_wrap_collector"):
        agent.learn_until(960, callback=TooLate())


def test_several_listen_and_any_of_them_stops_the_run(agent):
    first, second = Borders(), Borders(most=2)
    agent.learn(960, callback=[first, second])
    assert first.seen == second.seen == 2


def test_a_function_is_called_after_every_vector_step_and_stops_by_false(agent):
    seen = []

    def watch(run):
        seen.append(run.timesteps)
        return len(seen) < 5

    agent.learn(96, callback=watch)
    assert seen == [1, 2, 3, 4, 5]
    assert not agent.run.listeners["rlk_step"]


def test_a_comparison_of_numpys_stops_as_well(agent):
    agent.learn(96, callback=lambda run: np.float64(run.timesteps) < 3)
    assert agent.run.timesteps == 3


def test_one_callback_given_twice_is_refused(agent):
    one = Borders()
    with pytest.raises(
        PlanError, match=r"'callback 2 \(Borders\) of learn'.* is active already, as 'ca"
    ):
        agent.learn(4, callback=[one, one])


def test_after_an_error_nobody_listens_any_more(agent):
    def fails(run):
        raise RuntimeError("in the callback")

    with pytest.raises(RuntimeError, match="in the callback"):
        agent.learn(96, callback=[Borders(), fails])
    assert agent.learn(96).num_timesteps >= 96


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("evaluation", "Plugins are asked for by name where the agent is made"),
        (Borders, "must be an object"),
        (TooLate(), "rlk_wrap_collector, which is called before training"),
    ],
)
def test_what_is_no_callback_is_refused_before_anything_happens(agent, wrong, told):
    agent.learn(32)
    before = agent.num_timesteps
    with pytest.raises(PlanError, match=told):
        agent.learn(96, callback=[Borders(), wrong])
    assert agent.num_timesteps == before


class Particular:
    """Needs a component of its own kind in the plan."""

    @hookimpl
    def rlk_check_plan(self, plan):
        made = [choice.make_hooks() for choice in plan.callbacks]
        if any(isinstance(one, Borders) for one in made):
            return None
        return ["it needs Borders", "beside it"]


def test_a_callback_checks_the_plan_with_the_callbacks_of_its_call(agent):
    with pytest.raises(PlanError, match=r"^it needs Borders\nbeside it$"):
        agent.learn(96, callback=[Particular(), lambda run: None])
    assert agent.num_timesteps == 0 and not agent.run.learning
    agent.learn(96, callback=[Particular(), Borders()])
    assert agent.num_timesteps >= 96


def test_an_object_without_hooks_is_refused(agent):
    with pytest.raises(BrokenPlugin, match="implements no hook"):
        agent.learn(96, callback=object())


def test_learning_within_learning_is_refused_and_leaves_the_agent_usable(agent):
    with pytest.raises(RlkError, match=r"^learn: this agent is training already"):
        agent.learn(20, callback=lambda run: agent.learn(4))
    assert 0 < agent.num_timesteps < 20  # the count was not reset either
    agent.learn(20)
    assert agent.num_timesteps == 20


def test_learning_until_a_timestep_within_learning_is_refused_as_well(agent):
    with pytest.raises(RlkError, match=r"^learn_until: this agent is training already"):
        agent.learn(20, callback=lambda run: agent.learn_until(4))
    assert 0 < agent.num_timesteps < 20 and agent.run.clock.total_timesteps == 20
    assert not agent.run.learning
