"""The contract of an algorithm, tested through `rlk.make`: training, ranks, hooks, NaN."""

from __future__ import annotations

import contextlib
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from rlk.errors import NotFinite
from rlk_testing.contracts.algorithm.acting_and_saving import AlgorithmStateChecks
from rlk_testing.contracts.algorithm.probabilities import AlgorithmProbabilityChecks
from rlk_testing.contracts.algorithm.recurrent import RecurrentAgentChecks
from rlk_testing.contracts.algorithm.schedules import AlgorithmScheduleChecks
from rlk_testing.contracts.algorithm.suite import AlgorithmSuite
from rlk_testing.contracts.algorithm.updates import AlgorithmUpdateChecks
from rlk_testing.contracts.shared.applies import applies
from rlk_testing.contracts.shared.contract import has_usual_settings
from rlk_testing.environments import BY_SPACE_OF_SEVERAL_AXES
from rlk_testing.tools.episodes import mean_return

if TYPE_CHECKING:
    from rlk.agent import Agent
    from rlk_testing.contracts.shared.two_ranks import OnRank


def steps_environments(suite: AlgorithmSuite) -> bool:
    """Whether it learns from environment steps, not offline."""
    return suite.record().collects != "offline"


def trains_on_a_match(suite: AlgorithmSuite) -> bool:
    """Whether it steps an `environments.Match`, which can be told to truncate or to misbehave."""
    name = suite.environments()[0]
    is_match = name.startswith("rlk_testing.environments:") and "Match" in name
    return is_match and steps_environments(suite)


class AlgorithmContract(
    AlgorithmUpdateChecks,
    AlgorithmStateChecks,
    AlgorithmScheduleChecks,
    AlgorithmProbabilityChecks,
    RecurrentAgentChecks,
):
    """What every algorithm must do; `OffPolicyContract` has more for those with a replay.

    Attributes:
        component: its name, or the component itself.
        settings: hyperparameters for every run of the suite; they override those of
            `tools.small_settings`.
        env: the environment of most checks; "" is a small one with the first action space that
            the algorithm declares.
        envs: further environments that it must train on.
        n_steps_trained: timesteps of one training, enough for several updates. The checkpoint that
            is resumed is taken after them: choose them, or `settings`, such that what the algorithm
            does only every few collections is not due then, so that its state is not empty.
        n_steps_scheduled: timesteps of one call of `learn`, enough for two collections.
        learns: keywords for a training that must come close to the best policy of `env`
            (`total_timesteps` and hyperparameters); empty if this is tested elsewhere.
        best_return: the return of the best policy there; by default that of a small environment,
            8 steps with a reward of 1.
        learns_to: the fraction of the best return that this training must reach.
        bootstraps: False if it estimates no value of the state that an episode is cut off in, so
            that a time limit is an end like any other.
        has_dropout: True if its networks draw from torch's global generator, as dropout does.
    """

    # ---- training --------------------------------------------------------------------------------

    def test_it_trains_on_every_action_space_that_it_declares(self) -> None:
        for env in self.environments():
            with self.agent(env=env) as agent:
                before = agent.run.parameters.flat.clone()
                agent.learn(self.n_steps_trained)
                assert agent.num_timesteps >= self.n_steps_trained, f"on {env}"
                assert agent.run.clock.updates > 0, (
                    f"no update on {env} in {self.n_steps_trained} steps"
                )
                assert not before.equal(agent.run.parameters.flat), (
                    f"training on {env} changed nothing"
                )

    def several_axes(self) -> list[str]:
        """Environments whose actions have two axes, for the action spaces that it declares."""
        declared = self.record().action_spaces or tuple(BY_SPACE_OF_SEVERAL_AXES)
        return [env for space, env in BY_SPACE_OF_SEVERAL_AXES.items() if space in declared]

    @applies(has_usual_settings, lambda suite: bool(suite.several_axes()))
    def test_actions_of_several_axes_reach_the_environment_in_their_shape(self) -> None:
        """Storages keep actions flat; the environment raises for an action outside its space."""
        for env in self.several_axes():
            with self.agent(env=env, n_envs=2) as agent:
                agent.learn(self.n_steps_trained)
                assert agent.run.clock.updates > 0, f"no update on {env}"
                space = agent.plan.action_space
                action, _ = agent.predict(np.zeros(agent.plan.observation_space.shape, np.float32))
                assert space.contains(action), f"{action!r} is not in {space}"

    def test_it_trains_on_several_environments_at_once(self) -> None:
        with self.agent(n_envs=3) as agent:
            before = agent.run.parameters.flat.clone()
            agent.learn(3 * self.n_steps_trained)
            assert agent.run.clock.updates > 0
            assert not before.equal(agent.run.parameters.flat)

    @applies(has_usual_settings, lambda suite: suite.record().recurrent)
    def test_it_trains_a_recurrent_policy(self) -> None:
        """A suite whose `settings` choose a recurrent policy has more checks (`recurrent.py`)."""
        policies = self.kernel().registries.policies
        recurrent = [entry.name for entry in policies if entry.component().recurrent]
        assert recurrent, "it declares recurrent=True; to try it: pip install rlk-lstm"
        policy = "lstm" if "lstm" in recurrent else recurrent[0]
        with self.agent(policy=policy, n_envs=4) as agent:
            before = agent.run.parameters.flat.clone()
            agent.learn(4 * self.n_steps_trained)
            assert agent.run.clock.updates > 0, f"no update with policy {policy!r}"
            assert not before.equal(agent.run.parameters.flat), f"{policy!r} learnt nothing"

    def with_dict(self) -> dict[str, Any]:
        """Settings of a run on Dict observations; empty if it declares no action space of those."""
        record, walk = self.record(), "rlk_testing.environments:Walk"
        actions = record.action_spaces or ("Discrete",)
        takes_dict = "Dict" in (record.observation_spaces or ("Dict",))
        if not takes_dict or not {"Discrete", "Box"} & {*actions}:
            return {}
        env = {"id": walk, "observation": "dict", "continuous": "Discrete" not in actions}
        return {"env": env, "n_envs": 2}

    @applies(has_usual_settings, steps_environments, lambda suite: bool(suite.with_dict()))
    def test_it_trains_on_observations_of_several_parts(self) -> None:
        """They are dicts of tensors in batches, and of arrays where it acts."""
        policies = [
            entry.name
            for entry in self.kernel().registries.policies
            if "Dict" in (entry.component().observation_spaces or ("Dict",))
            and not entry.component().recurrent
        ]
        if not policies:
            pytest.skip("no policy here takes Dict observations: pip install rlk-multi-input")
        policy = "multi-input" if "multi-input" in policies else policies[0]
        with self.agent(**self.with_dict(), policy=policy) as agent:
            before = agent.run.parameters.flat.clone()
            try:
                agent.learn(2 * self.n_steps_trained)
            except Exception as error:
                error.add_note(
                    "Observations are a dict here: use rlk.spaces.map_observation on them, or "
                    'declare what it takes, Component(observation_spaces=("Box", …)).'
                )
                raise
            assert agent.run.clock.updates > 0, "no update with Dict observations"
            assert not before.equal(agent.run.parameters.flat)

    @applies(trains_on_a_match)
    def test_it_trains_where_episodes_are_cut_off(self) -> None:
        with self.agent(env={"id": self.environments()[0], "truncates": True}) as agent:
            agent.learn(self.n_steps_trained)
            assert agent.run.clock.updates > 0, "no update where every episode is truncated"
            agent.run.parameters.check()

    @applies(has_usual_settings, trains_on_a_match, lambda suite: suite.bootstraps)
    def test_an_episode_that_is_cut_off_does_not_count_as_one_that_ended(self) -> None:
        """Two trainings differ only in whether episodes are truncated or terminated."""
        name = self.environments()[0]
        truncated = self.trained(env={"id": name, "truncates": True})
        terminated = self.trained(env={"id": name, "truncates": False})
        assert not truncated.equal(terminated), (
            "it learns the same whether episodes are truncated or terminated: where one is "
            "truncated, bootstrap from the value of its final observation; set bootstraps = False "
            "if it has no such value"
        )

    @applies(lambda suite: bool(suite.learns))
    def test_it_learns_what_can_be_learnt(self) -> None:
        settings = dict(self.learns)
        total = settings.pop("total_timesteps")
        env = settings.setdefault("env", self.environments()[0])
        with self.agent(**settings) as agent:
            agent.learn(total)
            reached, best = mean_return(agent, env), self.best_return
            assert reached >= self.learns_to * best, f"mean return {reached:.2f} of at most {best}"

    # ---- several ranks ---------------------------------------------------------------------------

    def on_rank(self, rank: OnRank) -> AbstractContextManager[Agent]:
        """An agent of this rank; where it can be told so, its episodes have a length of their own.

        What is collected, and when an episode ends, then differs from rank to rank.
        """
        settings: dict[str, Any] = {"plugins": [rank]}
        if trains_on_a_match(self):
            length = 8 - 3 * rank.communicator.rank
            settings["env"] = {"id": self.environments()[0], "length": length}
        return self.agent(**settings)

    def test_two_ranks_update_equally_often_and_train_the_same_parameters(self) -> None:
        """The ranks are threads; without a plugin for ranks, each counts its own timesteps."""
        from rlk_testing.contracts.shared.two_ranks import (
            train_on_two_ranks,  # not at the top: it imports torch
        )

        self.kernel()  # made once, and not by both at the same time
        updates = train_on_two_ranks(
            self.on_rank,
            self.n_steps_trained,
            "yield equally many batches on every rank, and communicate as often: gather or agree "
            "what decides how many (run.communicator), as UpdateSchedule of rlk-off-policy does",
            look=lambda agent: agent.run.clock.updates,
        )
        assert updates[0] > 0, f"no update in {self.n_steps_trained} steps of two ranks"

    # ---- hooks -----------------------------------------------------------------------------------

    def test_hooks_are_called_once_an_iteration_and_never_by_step_or_update(self) -> None:
        training = self.training()
        calls, iterations = training.hook_calls, training.iterations
        assert len(calls) <= iterations[0], (
            f"{len(calls)} pluggy calls in {iterations[0]} iterations: {set(calls)}"
        )
        counts = training.watch.calls
        assert counts["training_start"] == counts["training_end"] == len(iterations)
        for hook in ("rollout_start", "rollout_end", "update_end"):
            assert counts[hook] == iterations[1], f"{hook} was called {counts[hook]} times"
        steps = training.timesteps[1] // self.plan().n_envs if steps_environments(self) else 0
        assert counts.get("step", 0) == steps

    # ---- non-finite numbers ----------------------------------------------------------------------

    def spoilt(self, how: str) -> dict[str, Any]:
        """Settings with which every environment spoils a number in the middle of a training."""
        spoil_at = self.n_steps_trained // 2 // self.plan().n_envs
        return {"env": {"id": self.environments()[0], "spoil": how, "spoil_at": spoil_at}}

    @applies(has_usual_settings, trains_on_a_match)
    @pytest.mark.parametrize("field", ["reward", "observation"])
    def test_a_non_finite_number_stops_the_run_and_leaves_parameters_finite(
        self, field: str
    ) -> None:
        with self.agent(**self.spoilt(field)) as agent:
            with pytest.raises(NotFinite, match=field):
                agent.learn(self.n_steps_trained)
            assert np.isfinite(agent.run.parameters.flat.cpu().numpy()).all()
            agent.run.parameters.check()

    @applies(trains_on_a_match)
    def test_rewards_beyond_all_measure_never_reach_the_parameters_as_nan(self) -> None:
        with self.agent(**self.spoilt("huge")) as agent:
            with contextlib.suppress(NotFinite):
                agent.learn(2 * self.n_steps_trained)
            assert np.isfinite(agent.run.parameters.flat.cpu().numpy()).all(), (
                "a loss that is not finite must be skipped by the optimiser: use `optimise`, or "
                "Loss(accept=…)"
            )

    def test_nothing_draws_from_a_global_generator(self) -> None:
        training = self.training()
        assert not training.drawn, "; ".join(training.drawn)
        assert self.has_dropout or not training.drawn_by_modules, (
            "training uses torch's global generator (torch.randn, torch.randperm, …): draw from "
            "run.streams; if its networks have dropout, set has_dropout = True"
        )
