from __future__ import annotations

import attrs
import numpy as np
import pytest
import torch

from rlk import hookimpl, spaces
from rlk.errors import NotFinite
from rlk_testing.environments import DiscreteMatch, Walk
from rlk_testing.stand_ins import COMPONENTS, StandIn, StandInStorage

MATCH = "rlk_testing.environments:DiscreteMatch"


class Records:
    """Keeps copies of every step, as the storage receives it."""

    def __init__(self):
        self.steps = []

    @hookimpl
    def rlk_step(self, run, step):
        copy = {
            name: np.copy(getattr(step, name))
            for name in ("action", "reward", "terminated", "truncated")
        }
        copy["observation"] = spaces.map_observation(np.copy, step.observation)
        copy["next_observation"] = spaces.map_observation(np.copy, step.next_observation)
        copy["final"] = dict(step.final_observation)
        copy["timesteps"] = run.timesteps
        self.steps.append(copy)


def test_every_step_begins_with_what_the_last_one_led_to(make):
    records = Records()
    make(plugins=[records], n_envs=2, env="rlk_testing.environments:Walk").learn(80)
    for before, after in zip(records.steps, records.steps[1:], strict=False):
        assert np.array_equal(before["next_observation"], after["observation"])


def test_timesteps_count_every_environment(make):
    records = Records()
    agent = make(plugins=[records], n_envs=3)
    agent.learn(36)
    assert agent.num_timesteps == 36
    assert [step["timesteps"] for step in records.steps] == [3 * (t + 1) for t in range(12)]


def test_a_collection_is_as_many_vector_steps_as_the_algorithm_says(make):
    agent = make(n_steps=5, n_envs=2)
    agent.learn(1)
    assert agent.num_timesteps == 10 and agent.run.clock.iterations == 1


def test_where_an_episode_ended_its_final_observation_is_there(make):
    records = Records()
    make(
        plugins=[records], n_envs=2, env={"id": "rlk_testing.environments:Walk", "length": 4}
    ).learn(60)
    ended = 0
    for step in records.steps:
        over = np.flatnonzero(step["terminated"] | step["truncated"]).tolist()
        assert list(step["final"]) == over
        for env, final in step["final"].items():
            ended += 1
            assert not np.array_equal(final, step["next_observation"][env])
    assert ended > 4


@attrs.frozen(kw_only=True)
class AsksForInfos:
    info_keys: list[str] = attrs.field(factory=list)


class KeepsInfos(StandInStorage):
    def __init__(self, config):
        super().__init__()


class SaysItsPlace(Walk):
    """Its info contains a number of the next observation."""

    def step(self, action):
        *result, _ = super().step(action)
        return *result, {"place": float(result[0][0])}


@pytest.fixture
def keeps_infos(rlk_stand_in_kernel):
    rlk_stand_in_kernel.registries.storages.register(
        "keeps-infos", KeepsInfos, config=AsksForInfos, collects="both"
    )


def test_infos_that_a_storage_asks_for_are_those_of_the_step_also_at_an_end(make, keeps_infos):
    settings = {"storage": "keeps-infos", "keeps-infos.info_keys": ["place"]}
    agent = make(env=lambda: SaysItsPlace(length=4), n_envs=2, n_steps=20, **settings)
    assert agent.run.storage.schema.extras["info.place"].shape == ()
    agent.learn(40)
    kept = agent.run.storage._steps
    assert len(kept) == 20 and sum((step["discount"] == 0).sum() for step in kept) > 0
    for step in kept:
        assert step["extras.info.place"].dtype == np.float32
        assert step["extras.info.place"].tolist() == step["next_observation"][:, 0].tolist()


def test_an_info_that_is_not_there_is_stored_as_nan(make, keeps_infos):
    settings = {"storage": "keeps-infos", "keeps-infos.info_keys": ["height"]}
    agent = make(env=SaysItsPlace, n_envs=2, **settings)
    agent.learn(4)
    assert all(np.isnan(step["extras.info.height"]).all() for step in agent.run.storage._steps)


def test_truncated_and_terminated_stay_apart(make):
    for truncates in (False, True):
        records = Records()
        make(plugins=[records], env={"id": MATCH, "truncates": truncates}).learn(20)
        over = np.array(
            [step["truncated" if truncates else "terminated"][0] for step in records.steps]
        )
        other = np.array(
            [step["terminated" if truncates else "truncated"][0] for step in records.steps]
        )
        assert np.flatnonzero(over).tolist() == [7, 15] and not other.any()


def test_episodes_are_counted_with_returns_and_lengths(make):
    agent = make(n_envs=2)
    agent.learn(64)
    assert agent.run.clock.episodes == 8
    assert all(length == 8 for _, length in agent.run.metrics.recent_episodes)


def test_the_figures_of_a_monitor_inside_win(make):
    import gymnasium as gym

    def monitored():
        return gym.wrappers.TransformReward(
            gym.wrappers.RecordEpisodeStatistics(DiscreteMatch()), lambda reward: 100.0 * reward
        )

    agent = make(env=monitored)
    agent.learn(32)
    assert all(return_ <= 8.0 for return_, _ in agent.run.metrics.recent_episodes)


class TellsSuccess(DiscreteMatch):
    """Every second episode is half a success; the third does not report success."""

    episode = 0

    def reset(self, **kwargs):
        self.episode += 1
        return super().reset(**kwargs)

    def step(self, action):
        *found, info = super().step(action)
        told = {} if self.episode == 3 else {"is_success": 0.5 * (self.episode % 2 == 0)}
        return *found, {**info, **told}


def test_the_success_of_each_episode_is_kept_and_saved(make):
    agent = make(env=TellsSuccess, n_envs=2)
    agent.learn(200)
    found = [*agent.run.metrics.recent_successes]
    assert found[:8] == [0.0, 0.0, 0.5, 0.5, None, None, 0.5, 0.5]
    assert len(found) == len(agent.run.metrics.recent_episodes)
    state = agent.run.metrics.state_dict()
    agent.run.metrics.load_state_dict({**state, "successes": found[:3]})
    assert [*agent.run.metrics.recent_successes] == found[:3]


@pytest.mark.parametrize(("told", "kept"), [(None, None), (np.array([True]), 1.0)])
def test_a_success_may_be_none_or_an_array_of_one_element(make, told, kept):
    class Tells(DiscreteMatch):
        def step(self, action):
            *found, info = super().step(action)
            return *found, {**info, "is_success": told}

    agent = make(env=Tells, n_envs=2)
    agent.learn(64)
    found = [*agent.run.metrics.recent_successes]
    assert len(found) > 2 and set(found) == {kept}


def test_returns_and_lengths_are_of_each_environment(make):
    records = Records()
    agent = make(plugins=[records], n_envs=3, env="rlk_testing.environments:Walk")
    agent.learn(60)
    expected, running = [], [[] for _ in range(3)]
    for step in records.steps:
        for env, reward in enumerate(step["reward"]):
            running[env].append(reward)
        for env in step["final"]:
            expected.append((pytest.approx(sum(running[env])), len(running[env])))
            running[env] = []
    assert list(agent.run.metrics.recent_episodes) == expected and len(expected) > 5


def test_only_the_last_hundred_episodes_are_kept(make):
    agent = make(env={"id": MATCH, "length": 1})
    agent.learn(108)
    assert agent.run.clock.episodes == 108 and len(agent.run.metrics.recent_episodes) == 100


def test_an_episode_that_was_given_up_is_forgotten(make):
    agent = make(n_steps=5)
    agent.learn(5)
    agent.run.collector.forget()
    agent.learn(10, reset_num_timesteps=False)
    assert [length for _, length in agent.run.metrics.recent_episodes] == [8]


@pytest.mark.parametrize(
    ("kind", "of", "slot"),
    [("storages", StandInStorage, "storage"), ("algorithms", StandIn, "algo")],
)
def test_who_asks_for_it_is_told_where_an_episode_was_given_up(
    make, rlk_stand_in_kernel, kind, of, slot
):
    told = []

    class Told(of):
        def interrupt(self):
            told.append(agent.num_timesteps)

    component = attrs.evolve(COMPONENTS[kind], name="told", factory=Told)
    rlk_stand_in_kernel.registries[kind].register("told", component)
    agent = make(n_steps=5, **{slot: "told"})
    train_with_a_reset_at_10(agent)
    assert told == [0, 10]


def train_with_a_reset_at_10(agent):
    agent.learn(10)
    agent.get_env().reset()
    agent.learn(5, reset_num_timesteps=False)
    agent.learn(5, reset_num_timesteps=False)


def test_a_plugin_that_keeps_something_of_an_episode_is_told_where_it_was_given_up(make):
    class Episodic:
        def __init__(self):
            self.length, self.cut = 0, []

        @hookimpl
        def rlk_step(self, step):
            self.length = 0 if step.terminated[0] or step.truncated[0] else self.length + 1

        def interrupt(self):
            self.cut.append(self.length)
            self.length = 0

    plugin = Episodic()
    train_with_a_reset_at_10(make(n_steps=5, plugins=[plugin]))
    assert plugin.cut == [0, 2], "episodes have 8 steps"


def test_environments_are_reset_once_at_the_start_and_with_seeds_of_their_own(make):
    seeds = []

    class Counts(Walk):
        def reset(self, *, seed=None, options=None):
            seeds.append(seed)
            return super().reset(seed=seed, options=options)

    agent = make(env=Counts, n_envs=3)
    agent.learn(12)
    agent.learn(12, reset_num_timesteps=False)
    given = [seed for seed in seeds if seed is not None]
    assert given == agent.run.streams.integers("environments", 3) and len(set(given)) == 3


# ---- stopping ------------------------------------------------------------------------------------


class StopsAt:
    def __init__(self, timesteps, answer=False):
        self.timesteps, self.answer, self.ends = timesteps, answer, []

    @hookimpl
    def rlk_step(self, run):
        return self.answer if run.timesteps == self.timesteps else None

    @hookimpl
    def rlk_training_end(self, reason):
        self.ends.append(reason)


def test_a_listener_stops_at_once_and_no_update_follows(make):
    stops = StopsAt(10)
    agent = make(plugins=[stops], n_steps=4)
    agent.learn(100)
    assert agent.num_timesteps == 10
    assert agent.run.clock.updates == 2 and agent.run.clock.iterations == 2
    assert stops.ends == ["plugin 'StopsAt-0' (rlk_step returned False)"]


@pytest.mark.parametrize(
    ("answer", "timesteps"),
    [(np.float32(1) > 2, 10), (torch.tensor(False), 10), (True, 16), (0, 16)],
)
def test_a_comparison_of_numpy_or_torch_stops_as_well(make, answer, timesteps):
    agent = make(plugins=[StopsAt(10, answer)], n_steps=4)
    agent.learn(16)
    assert agent.num_timesteps == timesteps


def test_training_goes_on_after_a_listener_stopped_it(make):
    stops = StopsAt(10)
    agent = make(plugins=[stops], n_steps=4)
    agent.learn(100)
    agent.learn(40, reset_num_timesteps=False)
    assert agent.num_timesteps == 50


# ---- what is not finite --------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["reward", "observation"])
def test_a_non_finite_number_is_named_with_environment_and_timestep(make, field):
    agent = make(env={"id": MATCH, "spoil": field, "spoil_at": 6}, n_envs=2)
    with pytest.raises(NotFinite) as caught:
        agent.learn(40)
    message = str(caught.value)
    assert f"environment 0 ({MATCH}) gave nan in {field}" in message
    assert "at timestep 10" in message and "after action" in message


def test_nothing_of_a_bad_step_was_stored(make):
    agent = make(env={"id": MATCH, "spoil": "reward", "spoil_at": 6})
    with pytest.raises(NotFinite):
        agent.learn(40)
    assert len(agent.run.storage) == 5


def test_the_environment_that_is_bad_is_the_one_that_is_named(make):
    made = []

    class OneIsBad(DiscreteMatch):
        def __init__(self):
            super().__init__(spoil="observation" if len(made) == 3 else "", spoil_at=5)
            made.append(self)

    agent = make(env=OneIsBad, n_envs=3)  # the first one was made to read its spaces
    with pytest.raises(NotFinite, match=r"environment 2 .* in observation\[0\]"):
        agent.learn(40)


def test_a_bad_first_observation_is_named_too(make):
    class BadStart(DiscreteMatch):
        def reset(self, *, seed=None, options=None):
            observation, info = super().reset(seed=seed, options=options)
            return observation * np.nan, info

    with pytest.raises(NotFinite, match="at timestep 0"):
        make(env=BadStart).learn(8)


def test_a_bad_final_observation_is_named(make):
    class BadEnd(DiscreteMatch):
        def step(self, action):
            observation, reward, over, cut, info = super().step(action)
            return (observation * np.nan if over else observation), reward, over, cut, info

    with pytest.raises(NotFinite, match="observation"):
        make(env=BadEnd).learn(20)


def test_a_key_of_a_dict_observation_is_named(make):
    class BadKey(Walk):
        def __init__(self):
            super().__init__(observation="dict")

        def step(self, action):
            observation, *rest = super().step(action)
            if self.steps == 3:
                observation["place"][1] = np.inf
            return (observation, *rest)

    with pytest.raises(NotFinite, match=r"inf \(or a number too large .*\) in place\[1\]"):
        make(env=BadKey).learn(40)
