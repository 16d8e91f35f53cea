"""The contract of wrappers fails where one of a vector of environments is broken."""

from __future__ import annotations

from pathlib import Path

import attrs
import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import rlk_testing as testing
from rlk.component import Component


class Counts(gym.vector.VectorWrapper):
    """Good: counts steps, and writes the count when it is closed, while training."""

    def __init__(self, env, *, training, out=None, **_):
        super().__init__(env)
        self.out, self.count = (Path(out) if out and training else None), 0

    def get_state(self):
        return self.env.get_state()

    def set_state(self, states):
        self.env.set_state(states)

    def call(self, name, *arguments, **keywords):
        return self.env.call(name, *arguments, **keywords)

    def get_attr(self, name):
        return self.env.get_attr(name)

    def set_attr(self, name, values):
        self.env.set_attr(name, values)

    def step(self, actions):
        self.count += 1
        return self.env.step(actions)

    def close(self, **keywords):
        if self.out is not None and self.out.is_dir():
            (self.out / "count.txt").write_text(str(self.count))
        super().close(**keywords)


class WritesForEvaluations(Counts):
    def __init__(self, env, *, training, out=None, **_):
        super().__init__(env, training=True, out=out)
        if out:
            Path(out).mkdir(exist_ok=True)


class ScalesAllButFinals(Counts):
    def __init__(self, env, *, training, out=None, **_):
        super().__init__(env, training=training, out=out)
        box = gym.spaces.Box(-1.0, 1.0, (3,), np.float32)
        self._single_observation_space = box
        self._observation_space = gym.vector.utils.batch_space(box, env.num_envs)

    @property
    def single_observation_space(self):
        return self._single_observation_space

    @property
    def observation_space(self):
        return self._observation_space

    def reset(self, **keywords):
        observation, infos = self.env.reset(**keywords)
        return np.tanh(observation / 9), infos

    def step(self, actions):
        observation, *rest = super().step(actions)
        infos = dict(rest[-1])
        if "final_obs" in infos:
            moved = [None if final is None else final + 50 for final in infos["final_obs"]]
            infos["final_obs"] = np.array(moved, dtype=object)
        return (np.tanh(observation / 9), *rest[:-1], infos)


class LosesState(Counts):
    def set_state(self, states):
        pass


class TruncatesOnceRestored(Counts):
    restored = False

    def set_state(self, states):
        super().set_state(states)
        self.restored = True

    def step(self, actions):
        observation, reward, terminated, truncated, infos = super().step(actions)
        if self.restored:
            terminated, truncated = np.zeros_like(terminated), terminated | truncated
        return observation, reward, terminated, truncated, infos


class LosesFinalsOnceRestored(TruncatesOnceRestored):
    def step(self, actions):
        result = Counts.step(self, actions)
        return (*result[:4], {}) if self.restored else result


class ReusesObservations(Counts):
    def step(self, actions):
        observation, *rest = super().step(actions)
        self.kept = getattr(self, "kept", np.zeros_like(observation))
        self.kept[:] = observation
        return (self.kept, *rest)


class ReusesRewards(Counts):
    def step(self, actions):
        observation, reward, *rest = super().step(actions)
        self.kept = getattr(self, "kept", np.zeros_like(reward))
        self.kept[:] = 2.0 * reward
        return (observation, self.kept, *rest)


class ReusesFlags(Counts):
    def step(self, actions):
        observation, reward, terminated, *rest = super().step(actions)
        self.kept = getattr(self, "kept", np.zeros_like(terminated))
        self.kept[:] = terminated
        return (observation, reward, self.kept, *rest)


class RestartsInTheNextStep(Counts):
    def __init__(self, env, **keywords):
        super().__init__(env, **keywords)
        self.metadata = {**env.metadata, "autoreset_mode": AutoresetMode.NEXT_STEP}


class CallsTheFirst(Counts):
    def call(self, name, *arguments, **keywords):
        return super().call(name, *arguments, **keywords)[:1]


class SetsAttributesOfItsOwn(Counts):
    def set_attr(self, name, values):
        setattr(self, name, values)


class ClosesOnce(Counts):
    is_closed = False

    def close(self, **keywords):
        assert not self.is_closed
        self.is_closed = True
        super().close(**keywords)


class MakesUpState(Counts):
    def get_state(self):
        return [{"env": state} for state in self.env.get_state()]

    def set_state(self, states):
        self.env.set_state([state["env"] for state in states])


class DropsSeeds(Counts):
    def reset(self, *, seed=None, options=None):
        return self.env.reset(options=options)


class DropsTheMask(Counts):
    def reset(self, *, seed=None, options=None):
        own = {key: value for key, value in (options or {}).items() if key != "reset_mask"}
        return self.env.reset(seed=seed, options=own)


class TakesTruncationForTermination(Counts):
    def step(self, actions):
        observation, reward, terminated, truncated, infos = super().step(actions)
        return observation, reward, terminated | truncated, np.zeros_like(truncated), infos


class LosesInfos(Counts):
    def step(self, actions):
        *rest, infos = super().step(actions)
        return (*rest, {key: value for key, value in infos.items() if "final" in key})


class LosesFinalInfos(Counts):
    def step(self, actions):
        *rest, infos = super().step(actions)
        return (*rest, {**infos, "final_info": {}} if "final_info" in infos else infos)


class LosesInfosOfResets(Counts):
    def reset(self, **keywords):
        return self.env.reset(**keywords)[0], {}


class LeavesTheVectorOpen(Counts):
    def close(self, **keywords):
        pass


class WritesIntoRewards(Counts):
    def step(self, actions):
        result = super().step(actions)
        result[1][:] *= 2.0
        return result


class WritesIntoFinals(Counts):
    def step(self, actions):
        result = super().step(actions)
        for final in result[4].get("final_obs", ()):
            if final is not None:
                final[...] = 0.0
        return result


class FinalsOfTheNextEpisode(Counts):
    def step(self, actions):
        observation, *rest, infos = super().step(actions)
        if "final_obs" in infos:
            infos = {**infos, "final_obs": np.array([*observation, None], dtype=object)[:-1]}
        return (observation, *rest, infos)


class Centres(Counts):
    """Good: subtracts the mean of all observations of training."""

    def __init__(self, env, *, training, **_):
        super().__init__(env, training=training)
        self.learns, self.seen, self.mean = training, 0, np.zeros(3, np.float32)

    def reset(self, **keywords):
        observation, infos = self.env.reset(**keywords)
        return self.centred(observation), infos

    def step(self, actions):
        observation, *rest, infos = super().step(actions)
        observation = self.centred(observation)
        if "final_obs" in infos:
            finals = np.full(self.num_envs, None, object)
            for i in np.flatnonzero(infos["_final_obs"]):
                finals[i] = infos["final_obs"][i] - self.mean
            infos = {**infos, "final_obs": finals}
        return (observation, *rest, infos)

    def centred(self, observation):
        if self.learns:
            self.seen += 1
            self.mean = self.mean + (observation.mean(axis=0) - self.mean) / self.seen
        return observation - self.mean


class LeavesFinalsRaw(Centres):
    def step(self, actions):
        observation, *rest = Counts.step(self, actions)
        return (self.centred(observation), *rest)


class LearnsInEvaluations(Centres):
    def __init__(self, env, *, training, **_):
        super().__init__(env, training=True)


STAY = "test_arrays_of_a_vector_stay_valid_during_the_next_step"
FINAL = "test_a_final_observation_is_changed_as_if_the_episode_went_on"
VECTOR = Component(name="counts", factory=Counts, summary="counts steps", wraps="vector")


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (WritesForEvaluations, "test_a_vector_of_an_evaluation_writes_nothing_and_works"),
        (ScalesAllButFinals, "test_a_vector_gives_what_a_loop_takes"),
        (LosesState, "test_the_state_of_a_vector_is_had_through_it"),
        (TruncatesOnceRestored, "test_the_state_of_a_vector_is_had_through_it"),
        (LosesFinalsOnceRestored, "test_the_state_of_a_vector_is_had_through_it"),
        (ReusesObservations, STAY),
        (ReusesRewards, STAY),
        (ReusesFlags, STAY),
        (RestartsInTheNextStep, "test_a_vector_stays_a_vector_with_same_step_restarts"),
        (CallsTheFirst, "test_environments_of_a_vector_are_reached_through_it"),
        (SetsAttributesOfItsOwn, "test_environments_of_a_vector_are_reached_through_it"),
        (ClosesOnce, "test_a_vector_can_be_closed_twice"),
        (MakesUpState, "test_a_state_that_a_vector_cannot_give_is_not_made_up"),
        (DropsSeeds, "test_a_reset_of_a_vector_passes_on_its_seeds_and_options"),
        (DropsTheMask, "test_a_reset_of_a_vector_passes_on_its_seeds_and_options"),
        (TakesTruncationForTermination, "test_an_end_inside_a_vector_stays_an_end_of_its_kind"),
        (LosesInfos, "test_infos_of_a_vector_are_handed_on"),
        (LosesFinalInfos, "test_infos_of_a_vector_are_handed_on"),
        (LosesInfosOfResets, "test_infos_of_a_vector_are_handed_on"),
        (LeavesTheVectorOpen, "test_closing_a_vector_closes_the_environments_inside"),
        (WritesIntoRewards, "test_arrays_of_the_vector_inside_are_not_written_to"),
        (WritesIntoFinals, "test_arrays_of_the_vector_inside_are_not_written_to"),
        (FinalsOfTheNextEpisode, FINAL),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_vector_wrapper_fails(rlk_fails, factory, check):
    broken = attrs.evolve(VECTOR, factory=factory)
    rlk_fails(testing.WrapperContract, VECTOR, broken, check)


@pytest.mark.parametrize(
    ("factory", "check"),
    [
        (LeavesFinalsRaw, FINAL),
        (LearnsInEvaluations, "test_a_vector_of_an_evaluation_learns_nothing"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_vector_wrapper_with_broken_statistics_fails(rlk_fails, factory, check):
    good = attrs.evolve(VECTOR, factory=Centres)
    rlk_fails(testing.WrapperContract, good, attrs.evolve(good, factory=factory), check)
