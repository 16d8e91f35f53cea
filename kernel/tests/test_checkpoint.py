"""The state of a run, and a run that is restored from it."""

from __future__ import annotations

import copy
from functools import partial
from types import SimpleNamespace

import pytest
import torch

import rlk
from rlk import hookimpl
from rlk.component import Component
from rlk.errors import BadFile, BrokenPlugin, RlkError
from rlk.saving import checkpoint
from rlk.saving.named_parameters import named_parameters
from rlk.saving.untrained import restore_untrained, untrained
from rlk_testing.environments import BY_ACTION_SPACE
from rlk_testing.stand_ins import Idle
from rlk_testing.tools.states import plain, same


class Counts:
    count = 0

    @hookimpl
    def rlk_update_end(self):
        self.count += 1

    @hookimpl
    def rlk_save(self):
        return {"count": self.count}

    @hookimpl
    def rlk_load(self, state):
        self.count = state["count"]


@pytest.fixture
def make(make):
    return partial(make, n_envs=2)


def running(policy, *trained):
    """What `untrained` reads of a run with this policy, which trains these parameters."""
    return SimpleNamespace(policy=policy, parameters=SimpleNamespace(names=list(trained)))


# ---- what is in it -------------------------------------------------------------------------------


def test_a_model_holds_neither_replay_nor_environments(make):
    state = checkpoint.model_state(make().learn(16).run)
    assert state["manifest"]["contents"] == ["model"]
    assert not {"storage", "environments", "collector", "plugins"} & set(state)
    plain(state)


def test_a_model_is_a_copy_that_training_does_not_change(make):
    run = make().run
    run.policy.register_buffer("seen", torch.zeros(1))
    before = checkpoint.model_state(run)
    run.policy.seen.fill_(7.0)
    run.parameters.flat.fill_(7.0)
    held = [*before["buffers"].values(), *before["parameters"].values()]
    assert not any((one == 7.0).any() for one in held)


def test_buffers_and_frozen_parameters_are_kept_apart_from_what_is_trained():
    policy = torch.nn.BatchNorm1d(2)
    policy.bias.requires_grad_(False)
    kept = {"running_mean", "running_var", "num_batches_tracked", "bias"}
    assert untrained(running(policy, "weight")).keys() == kept


def test_of_an_algorithms_state_tensors_of_floats_are_parameters_and_counters_are_not():
    own = {"target": {"qf.weight": torch.ones(1)}, "count": torch.tensor(3), "steps": 5}
    named = named_parameters({"pi.weight": torch.zeros(1)}, own)
    assert list(named) == ["model/pi/weight", "target/qf/weight"]


def test_a_checkpoint_holds_everything(make):
    state = checkpoint.run_state(make(plugins=[Counts()]).learn(16).run)
    assert state["manifest"]["contents"] == ["model", "run", "storage", "environments"]
    assert state["manifest"]["timesteps"] == 16
    assert [value["count"] for value in state["plugins"].values()] == [2]
    plain(state)


def test_the_replay_can_be_left_out(make):
    state = checkpoint.run_state(make().learn(16).run, replay=False)
    assert "storage" not in state and "storage" not in state["manifest"]["contents"]


def test_the_seed_that_was_drawn_is_in_the_plan(make):
    run = make(seed=None).run
    assert checkpoint.model_state(run)["manifest"]["plan"]["run"]["seed"] == run.streams.seed


def test_a_state_is_not_changed_by_what_the_run_does_next(make):
    agent = make()
    agent.learn(16)
    state = checkpoint.model_state(agent.run)
    kept = copy.deepcopy(state)
    agent.learn(40)
    for part in checkpoint.PARTS:
        assert same(state[part], kept[part]), part


def forgets_its_return(self):
    {"a": "state"}  # noqa: B018


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (lambda run: run.algorithm, r"algorithm 'stand-in' \("),
        (lambda run: run.optimise.steps["value"], "the optimiser StandIn.* of group 'value'"),
        (lambda run: run.storage, "storage 'stand-in-storage'"),
        (lambda run: run.collector, "collector 'stand-in-collector'"),
    ],
)
def test_a_state_that_is_none_is_refused_while_it_is_saved(make, tmp_path, monkeypatch, part, said):
    agent = make()
    owner = type(part(agent.run))
    monkeypatch.setattr(owner, "state_dict", forgets_its_return, raising=False)
    monkeypatch.setattr(owner, "load_state_dict", lambda self, state: None, raising=False)
    with pytest.raises(BrokenPlugin, match=rf"^{said}.*: state_dict\(\) returned None"):
        agent.save_checkpoint(tmp_path / "checkpoint.zip")
    assert not list(tmp_path.iterdir())


# ---- coming back ---------------------------------------------------------------------------------


def test_a_run_continues_bit_for_bit_in_the_middle_of_episodes(make):
    agent, other = make(plugins=[Counts()]), make(plugins=[Counts()], seed=9)
    agent.learn(24)  # 12 steps of each environment: in the middle of the second episode
    state = copy.deepcopy(checkpoint.run_state(agent.run))
    assert checkpoint.restore(other.run, state) == []
    for one in (agent, other):
        one.learn_until(200)
    assert torch.equal(other.run.parameters.flat, agent.run.parameters.flat)
    assert other.num_timesteps == agent.num_timesteps
    assert list(other.run.metrics.recent_episodes) == list(agent.run.metrics.recent_episodes)
    end, other_end = (checkpoint.run_state(one.run) for one in (agent, other))
    for part in (*checkpoint.PARTS, "storage", "environments", "collector"):
        assert same(end[part], other_end[part]), part


def test_what_will_differ_is_said(make):
    agent, other = make(), make()
    agent.learn(16)
    differs = checkpoint.restore(other.run, checkpoint.run_state(agent.run, replay=False))
    assert len(differs) == 1 and "replay was left out" in differs[0]
    differs = checkpoint.restore(other.run, checkpoint.model_state(agent.run))
    assert "as a model, not as a checkpoint" in differs[0]


def test_episodes_start_anew_where_an_environment_has_no_state(make):
    agent, other = make(), make()
    agent.learn(16)
    state = checkpoint.run_state(agent.run)
    state["manifest"]["contents"].remove("environments")
    other.learn(4)  # the episodes that it is in end as well
    differs = checkpoint.restore(other.run, state)
    assert "episodes start anew" in differs[0]
    resets, reset = [], other.run.env.reset
    other.run.env.reset = lambda **given: resets.append(given) or reset(**given)
    other.learn(16)
    assert len(resets) == 1


def test_nothing_starts_anew_where_nothing_had_begun(make):
    state = checkpoint.run_state(make().run)
    state["manifest"]["contents"].remove("environments")
    assert checkpoint.restore(make().run, state) == []


def test_environments_are_reset_by_the_runs_seeds_before_they_get_their_states(make):
    state, run, calls = checkpoint.run_state(make().learn(16).run), make(seed=5).run, []
    reset, set_state = run.env.reset, run.env.set_state
    run.env.reset = lambda *, seed: calls.append(("reset", seed)) or reset(seed=seed)
    run.env.set_state = lambda saved: calls.append(("set_state", len(saved))) or set_state(saved)
    checkpoint.restore(run, state)
    assert calls == [("reset", run.streams.integers("environments", 2)), ("set_state", 2)]


@pytest.mark.parametrize("n_envs", [1, 3])
@pytest.mark.parametrize("replay", [True, False])
def test_environments_of_another_number_are_refused_with_theirs(make, n_envs, replay):
    state = checkpoint.run_state(make().learn(16).run, replay=replay)
    told = rf"state of 2 environments, and this run has {n_envs}\. Resume it with n_envs=2"
    with pytest.raises(BadFile, match=told):
        checkpoint.restore(make(n_envs=n_envs).run, state)


def give_state(algorithm, load):
    """Let an algorithm have a state, which this function loads."""
    algorithm.state_dict, algorithm.load_state_dict = dict, load


def test_a_state_of_another_component_is_refused_by_what_it_lacks(make):
    state = checkpoint.run_state(make().learn(16).run)
    run = make().run
    give_state(run.algorithm, lambda saved: saved["velocity"])
    with pytest.raises(
        BadFile, match=r"it holds no 'velocity'\. It was saved by another component"
    ):
        checkpoint.restore(run, state)


def test_a_component_that_says_itself_what_a_state_lacks_is_not_said_over(make):
    def load(saved):
        try:
            saved["velocity"]
        except KeyError as error:
            raise BadFile("its state has no velocity") from error

    state = checkpoint.run_state(make().learn(16).run)
    run = make().run
    give_state(run.algorithm, load)
    with pytest.raises(BadFile, match=r"^its state has no velocity$"):
        checkpoint.restore(run, state)


def test_plugins_are_given_what_they_saved_and_others_nothing(make):
    class Silent:
        @hookimpl
        def rlk_load(self, state):
            raise AssertionError("nothing was saved for it")

    agent, other = make(plugins=[Counts()]), make(plugins=[Counts(), Silent()])
    agent.learn(16)
    checkpoint.restore(other.run, checkpoint.run_state(agent.run))
    assert other.run.hooks.get("Counts-0").count == 2


def test_a_plugin_that_saves_two_states_is_refused_and_not_half_saved(make):
    class Two:
        @hookimpl
        def rlk_save(self):
            return [{"a": 1}, {"b": 2}]

    with pytest.raises(BrokenPlugin, match="'Two-0' answered rlk_save with a list of several"):
        checkpoint.run_state(make(plugins=[Two()]).run)


def test_a_collector_that_does_not_fit_says_that_the_noise_must_be_the_saved_one(make, monkeypatch):
    def refuses(state):
        raise RlkError("other")

    agent, other = make(), make()
    state = checkpoint.run_state(agent.learn(16).run)
    monkeypatch.setattr(other.run.collector, "load_state_dict", refuses)
    with pytest.raises(BadFile, match=r"'stand-in-coll.*: other The .* resume it with the noise"):
        checkpoint.restore(other.run, state)


@pytest.mark.parametrize("others", [(), (Idle(),)])
def test_an_objects_state_is_found_whatever_other_objects_are_passed(make, others):
    agent, first, second = make(plugins=[Idle(), Counts()]), Counts(), Counts()
    agent.learn(16)
    other = make(plugins=[*others, first, Idle(), second])
    assert checkpoint.restore(other.run, checkpoint.run_state(agent.run)) == []
    assert (first.count, second.count) == (2, 0)


def test_what_a_program_named_with_a_number_keeps_its_state(make):
    def two():
        made = [Counts(), Counts()]
        return made, [
            Component(name=f"mine-{number}", kind="extensions", factory=lambda one=one: one)
            for number, one in enumerate(made, 1)
        ]

    (first, second), plugins = two()
    run = make(plugins=plugins).learn(16).run
    second.count = 7
    state = checkpoint.run_state(run)
    again, plugins = two()
    differs = checkpoint.restore(make(plugins=plugins).run, state)
    assert [one.count for one in again] == [first.count, 7]
    assert not [sentence for sentence in differs if "plugin" in sentence]


def test_the_state_of_a_callback_of_one_call_is_missed_because_nothing_takes_it(make):
    agent = make()
    kept = []
    agent.learn(16, callback=[Counts(), lambda run: kept.append(checkpoint.run_state(run))])
    differs = checkpoint.restore(make().run, kept[0])
    assert [sentence for sentence in differs if "plugin" in sentence] == [
        "plugin 'callback 1 (Counts) of learn', whose state is in the checkpoint, is not in this "
        "run"
    ]


def test_a_plugin_that_is_missing_is_said_if_it_had_a_state(make):
    agent = make(plugins=[Counts()]).learn(16)
    (said,) = checkpoint.restore(make().run, checkpoint.run_state(agent.run))
    assert said == "plugin 'Counts-0', whose state is in the checkpoint, is not in this run"


def test_an_object_that_a_model_was_trained_with_is_missed_too(make):
    state = checkpoint.model_state(make(plugins=[Counts(), Counts()]).learn(16).run)
    assert len(checkpoint.restore(make(plugins=[Counts(), Counts()]).run, state)) == 1
    _, missed = checkpoint.restore(make(plugins=[Counts()]).run, state)
    assert missed == (
        "plugin 'Counts-1', an object that the model was trained with, is not in this run"
    )


def test_parameters_that_do_not_fit_leave_the_run_as_it_was(make):
    agent, other = make(), make(env=BY_ACTION_SPACE["Box"])
    agent.learn(16)
    before = other.run.parameters.flat.clone()
    with pytest.raises(RlkError, match="shape"):
        checkpoint.restore(other.run, checkpoint.run_state(agent.run))
    assert torch.equal(other.run.parameters.flat, before) and other.num_timesteps == 0


def test_schedules_are_where_they_were(make):
    agent, other = (make(learning_rate=lambda remaining: 0.4 * remaining) for _ in range(2))
    agent.learn(80)
    agent.run.clock.total_timesteps = 160
    checkpoint.restore(other.run, checkpoint.run_state(agent.run))
    assert other.run.optimise.groups["value"].learning_rate.item() == pytest.approx(0.2)


def test_a_model_of_other_spaces_is_not_loaded(make, tmp_path, rlk_stand_in_kernel):
    path = make().save(tmp_path / "model")
    with pytest.raises(RlkError, match="whose observation_space is"):
        rlk.load(path, env=BY_ACTION_SPACE["Box"], kernel=rlk_stand_in_kernel)


@pytest.mark.parametrize(
    ("saved", "said"),
    [
        ({}, r"only this run's policy has \['mean'\]\."),
        ({"mean": 0, "std": 1}, "only the file has"),
    ],
)
def test_buffers_that_only_the_file_or_only_the_policy_has_are_named(saved, said):
    policy = torch.nn.Module()
    policy.register_buffer("mean", torch.zeros(2))
    with pytest.raises(BadFile, match=rf"{said}.* cannot change when a model is loaded"):
        restore_untrained(running(policy), saved)


@pytest.mark.parametrize("stops", [False, True])
def test_a_checkpoint_from_within_a_collection_says_so(make, stops):
    states = []

    def watch(run):
        states.append(copy.deepcopy(checkpoint.run_state(run)))
        return not stops

    agent, other = make(n_steps=4), make(n_steps=4)
    agent.learn(8, callback=watch)
    for state in states[:1] if stops else states[:-1]:
        (differs,) = checkpoint.restore(other.run, state)
        assert "within a collection" in differs
    differs = checkpoint.restore(other.run, checkpoint.run_state(agent.run))
    assert bool(differs) is stops, "the collection that a listener ended is not learnt from either"
