"""The contract of an off-policy algorithm: when it updates, how it explores, how targets move."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rlk.abilities import FollowsPolicy, offers
from rlk.hookspecs import hookimpl
from rlk_testing.contracts.algorithm.contract import AlgorithmContract
from rlk_testing.contracts.algorithm.off_policy_suite import SOON
from rlk_testing.contracts.algorithm.off_policy_transitions import TransitionChecks
from rlk_testing.contracts.algorithm.updates import MovesNothing
from rlk_testing.contracts.shared.applies import applies
from rlk_testing.tools.states import same

if TYPE_CHECKING:
    from rlk.records import Step


class OffPolicyContract(TransitionChecks, AlgorithmContract):
    """What every algorithm with a replay must do, in addition to what every algorithm must.

    Its config has `train_freq`, `gradient_steps`, `learning_starts`, `batch_size` and
    `buffer_size`; `rlk_off_policy.update_schedule` implements them.

    Attributes:
        warms_up: whether all actions are uniformly random before `learning_starts`.
        target: the key of `state_dict()` that holds the target networks' parameters, as a tensor or
            as tensors by name; None for an algorithm without target networks.
        target_stays: settings with which the target never changes.
        critic: the parameter group that learns Q; importance weights scale its loss.
        transitions: False if it learns from sequences, or from anything but the fields `reward`,
            `discount` and `next_observation` of a batch, which no check then changes.
        bounds_returns: whether returns beyond some range count as the ends of it, as in C51: then a
            greater reward must change the reported error of a transition, and need not enlarge it.
        own_names: name of a setting here -> its name in the algorithm's config.
    """

    def updates_after(self, timesteps: int, **settings: Any) -> int:
        """Number of updates in a training of so many timesteps; `settings` override `SOON`."""
        with self.agent(**{**SOON, **settings}) as agent:
            agent.learn(timesteps)
            return int(agent.run.clock.updates)

    # ---- when it updates -------------------------------------------------------------------------

    def test_it_updates_from_the_timestep_on_that_learning_starts(self) -> None:
        assert self.updates_after(19, learning_starts=20) == 0
        assert self.updates_after(20, learning_starts=20) == 1
        assert self.updates_after(23, learning_starts=20) == 4

    def test_it_updates_only_once_a_whole_batch_of_transitions_is_stored(self) -> None:
        assert self.updates_after(7, batch_size=8) == 0
        assert self.updates_after(8, batch_size=8) == 1

    def test_a_loaded_model_waits_for_a_whole_batch_too(self, tmp_path: Path) -> None:
        """It passed `learning_starts` long ago, but its replay is empty."""
        with self.agent(**SOON) as agent:
            agent.learn(16)
            with self.loaded(agent.save(tmp_path / "model"), agent) as loaded:
                before = loaded.run.clock.updates
                loaded.learn(7, reset_num_timesteps=False)
                assert loaded.run.clock.updates == before, "it updates from less than a batch"
                loaded.learn(1, reset_num_timesteps=False)
                assert loaded.run.clock.updates == before + 1

    def test_it_updates_every_train_freq_vector_steps(self) -> None:
        # 20 timesteps are 5 collections of 4; the first of them stores less than a batch.
        assert self.updates_after(20, train_freq=4) == 4
        assert self.updates_after(20, train_freq=4, gradient_steps=3) == 12

    def test_a_train_freq_in_episodes_waits_for_their_end(self) -> None:
        # An episode has 8 steps.
        assert self.updates_after(15, train_freq="1 episode") == 1
        assert self.updates_after(16, train_freq="1 episode") == 2
        assert self.updates_after(32, train_freq="2 episodes", gradient_steps=3) == 6

    def test_gradient_steps_of_minus_one_is_an_update_for_every_timestep(self) -> None:
        settings = {"gradient_steps": -1, "n_envs": 2}
        assert self.updates_after(40, train_freq=4, **settings) == 40
        assert self.updates_after(32, train_freq="2 episodes", **settings) == 32

    def test_several_environments_count_their_timesteps_together(self) -> None:
        # One vector step is three timesteps: after the third, 9 transitions are stored.
        assert self.updates_after(30, n_envs=3) == 8
        assert self.updates_after(30, n_envs=3, learning_starts=27) == 2

    def test_a_checkpoint_between_the_episodes_of_a_collection_counts_on(
        self, tmp_path: Path
    ) -> None:
        """After 36 steps, one and a half of three episodes are collected for the next updates."""
        settings = {**SOON, "train_freq": "3 episodes", "gradient_steps": -1}
        with self.agent(**settings) as agent:
            agent.learn(36)
            checkpoint = agent.save_checkpoint(tmp_path / "checkpoint")
            agent.learn(20, reset_num_timesteps=False)
            with self.loaded(checkpoint, agent) as restored:
                restored.learn(20, reset_num_timesteps=False)
                found, expected = restored.run.clock.updates, agent.run.clock.updates
                assert found == expected, (
                    f"{found} updates after a checkpoint is loaded and {expected} without: does "
                    "state_dict() hold the state of its UpdateSchedule?"
                )
                assert restored.run.parameters.flat.equal(agent.run.parameters.flat), (
                    "training continues differently after a checkpoint is loaded"
                )

    # ---- how it explores -------------------------------------------------------------------------

    def actions_taken(self, policy_seed: int | None) -> tuple[list[Any], list[Any]]:
        """The actions of 23 steps before `learning_starts`, and of 40 from then on.

        Args:
            policy_seed: of the numbers that replace the policy's parameters before the first step;
                None leaves the parameters as they are.
        """
        import torch

        kept = KeepsActions()
        settings = {"learning_starts": 24, "total_timesteps": 200}
        with self.agent(**{**SOON, **settings}, plugins=[kept]) as agent:
            if policy_seed is not None:
                numbers = torch.Generator().manual_seed(policy_seed)
                agent.run.parameters.flat.normal_(generator=numbers)
            agent.learn(23)
            before = list(kept.actions)
            agent.learn(40, reset_num_timesteps=False)
        return before, kept.actions[len(before) :]

    def test_before_learning_starts_all_actions_are_random_if_it_says_so(self) -> None:
        """Random actions are those that no policy changes; a noise may call the actor anyway."""
        before, after = self.actions_taken(None)
        others = [self.actions_taken(seed) for seed in (0, 1)]
        are_random = all(same(before, other[0]) for other in others)
        if self.warms_up:
            assert are_random, (
                "an action before learning_starts depends on the policy: explore() must replace "
                "it (rlk_off_policy.exploration.with_random_actions), or set warms_up = False"
            )
        else:
            assert not are_random, (
                "no action before learning_starts depends on the policy: set warms_up = True"
            )
        assert not all(same(after, other[1]) for other in others), (
            "no action depends on the policy, not even after learning_starts"
        )

    def test_its_actor_takes_another_policy_if_it_is_deterministic(self) -> None:
        import torch

        with self.agent(**SOON) as agent:
            run = agent.run
            actor: Any = run.algorithm.actor(np.random.default_rng(0))
            assert offers(actor, FollowsPolicy) == self.record().deterministic
            if not self.record().deterministic:
                return
            observation = np.stack(self.observations(agent, 8))
            copy, start = run.parameters.clone(), np.ones(8, np.bool_)
            other = actor.with_policy(copy.module)
            # Not by adding a number: the greatest of linear Q values would stay the greatest.
            copy.flat.normal_(generator=torch.Generator().manual_seed(0))
            found = other.act(observation, other.start(8), start).action
            run.parameters.flat.copy_(copy.flat)
            expected = actor.act(observation, actor.start(8), start).action
            assert np.array_equal(found, expected), "it does not act by the policy that it is given"

    def test_exploration_changes_no_deterministic_prediction(self) -> None:
        with self.agent(**{**SOON, "learning_starts": 10_000}) as agent:
            agent.learn(4)
            before = agent.run.streams.state_dict()["numpy"]
            for observation in self.observations(agent, 8):
                found, _ = agent.predict(observation, deterministic=True)
                actor, begins = agent.run.make_actor(np.random.default_rng(0)), np.ones(1, np.bool_)
                one = actor.act(np.stack([observation]), actor.start(1), begins, deterministic=True)
                assert np.array_equal(found, one.env_action[0]), (
                    f"predict(deterministic=True) gives {found!r}, and the actor without "
                    f"exploration {one.env_action[0]!r}"
                )
            after = agent.run.streams.state_dict()["numpy"]
            assert same(before, {name: after[name] for name in before}), (
                "a deterministic prediction draws from a stream that training uses"
            )

    # ---- what it learns from ---------------------------------------------------------------------

    @applies(lambda suite: suite.target is not None)
    def test_the_target_moves_only_as_it_is_told(self) -> None:
        with self.agent(**SOON, **self.target_stays) as agent:
            before = self.target_parameters(agent)
            agent.learn(40)
            assert agent.run.clock.updates > 0
            assert before.equal(self.target_parameters(agent))
        with self.agent(**SOON) as agent:
            agent.learn(self.n_steps_trained)
            assert not before.equal(self.target_parameters(agent))

    @applies(lambda suite: suite.target is not None)
    def test_the_target_begins_as_a_copy_with_memory_of_its_own(self) -> None:
        with self.agent() as agent:
            before = self.target_parameters(agent)
            agent.run.parameters.flat.add_(1.0)
            assert before.equal(self.target_parameters(agent))

    def test_importance_weights_scale_the_loss_of_the_critic(self) -> None:
        with self.agent_and_batch() as (agent, batch):
            flat = agent.run.optimise.groups[self.critic].flat
            before = flat.clone()
            nothing = dataclasses.replace(batch, weight=batch.weight * 0.0)
            agent.run.algorithm.update(nothing, agent.run.optimise)
            assert before.equal(flat), "transitions of weight 0 move the critic"
            agent.run.algorithm.update(batch, agent.run.optimise)
            assert not before.equal(flat), "transitions of weight 1 do not move the critic"

    def critic_gradient(self, weight_of: Callable[[Any], Any]) -> Any:
        """The gradient [P] of the critic's loss in the first update.

        Args:
            weight_of: from the weights of the batch, float [B], to others.
        """
        with self.agent_and_batch() as (agent, batch):
            kept = MovesNothing()
            agent.run.optimise.steps[self.critic] = kept
            other = dataclasses.replace(batch, weight=weight_of(batch.weight))
            agent.run.algorithm.update(other, agent.run.optimise)
            assert kept.gradient is not None, f"an update takes no step of group {self.critic!r}"
            return kept.gradient

    def test_the_loss_of_the_critic_is_linear_in_importance_weights(self) -> None:
        """The gradients for two sets of weights add to the gradient for their sum."""

        def falling(weight: Any) -> Any:
            return weight * (1.0 - weight.cumsum(0) / (2.0 * weight.sum()))

        one, other = self.critic_gradient(falling), self.critic_gradient(lambda w: w - falling(w))
        told = self.critic_gradient(lambda weight: weight)
        assert (one + other).allclose(told, rtol=1e-3, atol=1e-3 * float(told.abs().max())), (
            "the gradients for two sets of weights do not add to that for their sum: multiply the "
            "loss of every transition by its weight, once, and take the mean"
        )


class KeepsActions:
    """A plugin that keeps the actions of all steps of training."""

    def __init__(self) -> None:
        self.actions: list[Any] = []

    @hookimpl
    def rlk_step(self, step: Step) -> None:
        self.actions.append(np.copy(step.action))
