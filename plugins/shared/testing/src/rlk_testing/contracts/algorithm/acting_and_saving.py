"""The part of an algorithm's contract that is about acting, seeds and files."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np

from rlk.abilities import load_state, state_of
from rlk_testing.contracts.algorithm.suite import AlgorithmSuite
from rlk_testing.contracts.shared.applies import applies
from rlk_testing.contracts.shared.contract import has_usual_settings
from rlk_testing.tools.global_generators import global_generators_untouched
from rlk_testing.tools.states import plain, same
from rlk_testing.tools.torch_threads import one_thread


class AlgorithmStateChecks(AlgorithmSuite):
    """Checks that `AlgorithmContract` inherits."""

    # ---- seeds -----------------------------------------------------------------------------------

    def test_the_same_seed_gives_parameters_that_are_equal_bit_for_bit(self) -> None:
        assert self.training_again()[0].equal(self.training().parameters[0]), (
            "two runs with one seed differ: draw from run.streams, and from nothing else"
        )

    @applies(has_usual_settings)
    def test_another_seed_gives_other_parameters(self) -> None:
        assert not self.trained(seed=4).equal(self.training().parameters[0])

    def test_building_an_agent_draws_from_no_global_generator(self) -> None:
        with self.agent():
            pass  # whatever is imported now is not the agent's doing
        with global_generators_untouched(), self.agent():
            pass

    # ---- acting ----------------------------------------------------------------------------------

    def test_it_predicts_for_one_observation(self) -> None:
        with self.agent() as agent:
            for observation in self.observations(agent):
                for deterministic in (False, True):
                    action, _ = agent.predict(observation, deterministic=deterministic)
                    assert agent.plan.action_space.contains(action), f"{action!r} is not an action"

    def test_it_predicts_for_a_batch_what_it_predicts_for_each(self) -> None:
        from gymnasium.vector.utils import concatenate, create_empty_array

        training = self.training()
        with self.loaded(training.model, training.agent) as agent:
            space, each = agent.plan.observation_space, self.observations(agent)
            empty: Any = create_empty_array(space, len(each))
            batch = concatenate(space, each, empty)
            actions, _ = agent.predict(batch, deterministic=True)
            assert len(actions) == len(each)
            for observation, action in zip(each, actions, strict=True):
                one, _ = agent.predict(observation, deterministic=True)
                assert np.allclose(one, action, atol=1e-5), (
                    "the prediction for a batch differs from those for its rows"
                )

    def test_its_deterministic_action_is_the_same_at_every_call(self) -> None:
        with self.agent() as agent:
            for observation in self.observations(agent, 4):
                first, _ = agent.predict(observation, deterministic=True)
                second, _ = agent.predict(observation, deterministic=True)
                assert np.array_equal(first, second)

    def test_an_actor_draws_from_the_stream_it_is_given_and_from_nothing_else(self) -> None:
        with self.agent() as agent, one_thread():
            algorithm, seen = agent.run.algorithm, np.stack(self.observations(agent, 32))
            start = np.ones(len(seen), bool)

            def act(seed: int) -> tuple[Any, bool]:
                """The actions of two calls, and whether the stream was drawn from."""
                stream = np.random.default_rng(seed)
                actor, before = algorithm.actor(stream), np.random.default_rng(seed)
                calls = [actor.act(seen, actor.start(len(seen)), start).action for _ in range(2)]
                return np.stack(calls), stream.bit_generator.state != before.bit_generator.state

            with global_generators_untouched():
                first, has_drawn = act(0)
            before = agent.run.streams.state_dict()
            assert np.array_equal(first, act(0)[0]), "the same stream gives other actions"
            assert same(before, agent.run.streams.state_dict()), (
                "an actor with a stream of its own uses the run's"
            )
            if has_drawn:
                assert not np.array_equal(first, act(1)[0]), "another stream gives the same actions"
            else:
                assert np.array_equal(*first), (
                    "its actions differ from call to call, but it draws nothing from its stream"
                )

    def test_an_actor_leaves_what_it_is_given_as_it_was(self) -> None:
        """The observation may be the environment's own, and the carry a user's of `predict`."""
        with self.agent() as agent, one_thread():
            actor: Any = agent.run.algorithm.actor(np.random.default_rng(0))
            seen, start = (
                np.stack(self.observations(agent, 5)),
                np.array([True, False] * 2 + [True]),
            )
            for deterministic in (True, False):
                given = {"observation": seen, "carry": actor.start(5), "episode_start": start}
                kept = copy.deepcopy(given)
                actor.act(*given.values(), deterministic)
                written = [name for name in kept if not same(given[name], kept[name])]
                assert not written, (
                    f"act writes into its {' and '.join(written)}: copy what you change"
                )

    def test_what_an_actor_returns_for_an_observation_does_not_depend_on_the_others(self) -> None:
        with self.agent() as agent, one_thread():
            actor = agent.run.algorithm.actor(np.random.default_rng(0))
            seen = np.stack(self.observations(agent, 5))

            def act(rows: slice) -> dict[str, Any]:
                given, start = seen[rows], np.ones(len(seen[rows]), bool)
                found = actor.act(given, actor.start(len(given)), start, True)
                return {"action": found.action, **found.extras}

            together = act(slice(None))
            for row in range(len(seen)):
                for name, alone in act(slice(row, row + 1)).items():
                    assert np.allclose(together[name][row], alone[0], rtol=1e-4, atol=1e-5), (
                        f"{name} is {together[name][row]!r} for row {row} of several observations, "
                        f"and {alone[0]!r} for that one by itself"
                    )

    def test_predicting_between_two_trainings_does_not_change_the_second(self) -> None:
        assert self.training_again()[1].equal(self.training().parameters[1]), (
            "predict, or writing a checkpoint, draws from a stream that training uses"
        )

    # ---- files -----------------------------------------------------------------------------------

    def test_a_loaded_model_acts_as_the_saved_one_all_along_an_episode(self) -> None:
        training = self.training()
        with self.loaded(training.model, training.agent) as loaded:
            assert loaded.run.parameters.flat.equal(training.parameters[1])
            state = None
            for observation, expected, expected_state in training.acted:
                action, state = loaded.predict(observation, state, deterministic=True)
                assert np.array_equal(action, expected) and same(state, expected_state)

    def test_a_restored_checkpoint_learns_on_bit_for_bit(self) -> None:
        training = self.training()
        with self.loaded(training.checkpoint, training.agent) as restored:
            assert restored.differs == [], restored.differs
            restored.learn(self.n_steps_trained, reset_num_timesteps=False)
            assert restored.num_timesteps == training.timesteps[1]
            assert restored.run.parameters.flat.equal(training.parameters[1]), (
                "training continues differently after a checkpoint is loaded: does state_dict() "
                "hold everything that lives from update to update?"
            )

    def test_its_state_is_plain_and_comes_back_as_it_was(self) -> None:
        state = self.training().state
        plain(state)
        with self.agent(seed=9) as other:
            given = copy.deepcopy(dict(state))
            load_state(other.run.algorithm, given)
            assert same(state_of(other.run.algorithm), state)
            other.learn(self.n_steps_trained)
            assert same(given, state), (
                "training after load_state_dict has changed the state that it was given, which "
                "another agent may load too: copy_() its tensors into your own"
            )

    def test_parameters_can_be_taken_out_and_put_into_another_agent(self) -> None:
        training = self.training()
        with self.agent(seed=9) as other:
            other.load_parameters(training.named)
            assert other.run.parameters.flat.equal(training.parameters[1])
            other.run.parameters.check()
            theirs = dict(learnt(state_of(other.run.algorithm)))
            for path, value in learnt(training.state):
                assert same(value, theirs.get(path)), (
                    f"load_parameters(get_parameters()) does not restore {path} of state_dict(): a "
                    f"target or a coefficient must be a floating-point tensor there, and "
                    f"load_state_dict must load it. An array that is neither (of unfinished "
                    f"episodes, a memory) is for hooks: rlk_save and rlk_load"
                )
            assert same(training.named, other.get_parameters())


def learnt(state: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """(path, value) of every floating-point tensor and array in a state."""
    import torch

    if isinstance(state, dict):
        for key, part in state.items():
            yield from learnt(part, f"{path}/{key}" if path else key)
    elif isinstance(state, (torch.Tensor, np.ndarray)) and np.asarray(state).dtype.kind == "f":
        yield path, state
