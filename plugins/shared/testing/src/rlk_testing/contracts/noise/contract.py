"""The contract of exploration noise: an actor around another one."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np

from rlk.abilities import beginning
from rlk.one_process import OneProcess
from rlk.records import Act, Field
from rlk.running.clock import Clock
from rlk.running.seeding import Streams
from rlk_testing.contracts.noise.inner_actor import TOLD, Inner, observed
from rlk_testing.contracts.shared.applies import applies
from rlk_testing.contracts.shared.contract import Contract
from rlk_testing.tools.global_generators import global_generators_untouched
from rlk_testing.tools.states import plain, same

ACTION_SPACES: dict[str, tuple[gym.Space[Any], ...]] = {
    "Discrete": (gym.spaces.Discrete(4, start=2),),
    "Box": (
        gym.spaces.Box(np.array([-1.0, 0.0], np.float32), np.array([2.0, 0.5], np.float32)),
        gym.spaces.Box(-2.0, 1.0, (2, 3), np.float32),
        gym.spaces.Box(np.array([[-9.0], [0.5]]), np.array([[2.0], [0.75]]), dtype=np.float64),
    ),
    "MultiDiscrete": (gym.spaces.MultiDiscrete([2, 3]),),
    "MultiBinary": (gym.spaces.MultiBinary(3),),
}
#: Timesteps of the run.
_TOTAL = 1000
#: Streams of a run from which others draw.
_OF_OTHERS = ("environments", "later resets", "actor", "storage", "update", "evaluation")


class NoiseContract(Contract):
    """What every noise must do. Its factory takes the run; it wraps an actor.

    Attributes:
        n_envs: environments that act together.
        action_spaces: for the checks; empty means those in `ACTION_SPACES` that it declares.
        explores: whether it changes at least one of 200 actions at the start of a run.
        adapts: whether its metrics depend on earlier steps, not on the run's clock alone.
    """

    kind = "noises"
    n_envs: ClassVar[int] = 5
    action_spaces: ClassVar[tuple[gym.Space[Any], ...]] = ()
    explores: ClassVar[bool] = True
    adapts: ClassVar[bool] = False

    def tried(self) -> list[gym.Space[Any]]:
        declared = self.record().action_spaces or tuple(ACTION_SPACES)
        return list(self.action_spaces) or [
            space for name in declared for space in ACTION_SPACES.get(name, ())
        ]

    def run(self, inner: Inner, seed: int = 0, progress: float = 0.0) -> SimpleNamespace:
        """What a noise may read of a run, whose policy is the inner actor's."""
        clock = Clock(_TOTAL)
        clock.timesteps = round(progress * _TOTAL)
        return SimpleNamespace(
            action_space=inner.space,
            n_envs=self.n_envs,
            streams=Streams(seed),
            clock=clock,
            communicator=OneProcess(),
            parameters=inner.parameters,
            algorithm=SimpleNamespace(
                actor=lambda rng=None: inner, extras=lambda: {TOLD: Field((3,))}
            ),
            make_actor=lambda rng=None, policy=None: inner.with_policy(policy),
        )

    def actor(
        self, space: gym.Space[Any], seed: int = 0, progress: float = 0.0
    ) -> tuple[Any, Inner]:
        """The noise around an actor with a policy, and this inner actor."""
        inner = Inner(space)
        return self.made(self.run(inner, seed, progress)).wrap(inner, inner.policy), inner

    def acts(self, actor: Any, count: int = 40, deterministic: bool = False) -> list[Act]:
        """The results of `count` calls of `act`; episodes start at the first."""
        return self.acts_on(actor, actor.start(self.n_envs), range(count), deterministic)

    def acts_on(
        self, actor: Any, carry: Any, times: Iterable[int], deterministic: bool = False
    ) -> list[Act]:
        """The results of `act` at these times, beginning with a carry."""
        found = []
        for t in times:
            start = np.full(self.n_envs, t == 0)
            act = actor.act(observed(self.n_envs, t), carry, start, deterministic)
            found.append(
                act._replace(action=np.copy(act.action), env_action=np.copy(act.env_action))
            )
            carry = act.carry
        return found

    def test_its_actions_have_the_shape_and_type_of_the_inner_actors(self) -> None:
        for space in self.tried():
            actor, inner = self.actor(space)
            expected = inner.act(observed(self.n_envs, 0), None, np.ones(self.n_envs, bool))
            for act in self.acts(actor):
                assert act.action.shape == expected.action.shape, f"in {space}"
                assert act.action.dtype == expected.action.dtype, f"{act.action.dtype} in {space}"

    def test_what_the_environment_gets_is_in_its_action_space(self) -> None:
        for space in self.tried():
            actor, _ = self.actor(space)
            for act in self.acts(actor):
                for one in act.env_action:
                    assert space.contains(np.asarray(one)), f"{one!r} is not in {space}"

    @applies(lambda suite: "Box" in suite.record().action_spaces)
    @applies(lambda suite: not suite.record().perturbs_policy)
    def test_actions_stored_from_minus_1_to_1_are_scaled_to_their_bounds(self) -> None:
        for space in (space for space in self.tried() if isinstance(space, gym.spaces.Box)):
            low, high = space.low.reshape(-1), space.high.reshape(-1)
            for act in self.acts(self.actor(space)[0]):
                assert np.abs(act.action).max() <= 1.0, f"in {space}"
                for stored, done in zip(act.action, act.env_action, strict=True):
                    numbers = [float(number) for number in done.reshape(-1)]
                    for i, number in enumerate(numbers):
                        part = (float(stored[i]) + 1.0) / 2.0
                        expected = float(low[i]) + part * float(high[i] - low[i])
                        assert abs(number - expected) < 1e-5, f"{number} for {stored[i]} in {space}"

    @applies(lambda suite: suite.explores)
    def test_it_explores_at_the_start_of_a_run(self) -> None:
        for space in self.tried():
            actor, inner = self.actor(space)
            noisy = np.stack([act.env_action for act in self.acts(actor)])
            still = np.stack([act.env_action for act in self.acts(inner)])
            assert not np.array_equal(noisy, still), (
                f"it changed none of {noisy.size} actions in {space}"
            )

    @applies(lambda suite: suite.explores and suite.n_envs > 1)
    @applies(lambda suite: not suite.record().perturbs_policy)
    def test_environments_with_the_same_observation_explore_differently(self) -> None:
        for space in self.tried():
            actor, _ = self.actor(space)
            carry, rows = actor.start(self.n_envs), []
            for t in range(40):
                shown = np.repeat(observed(1, t), self.n_envs, axis=0)
                act = actor.act(shown, carry, np.full(self.n_envs, t == 0))
                rows.append(np.array(act.action, np.float64))
                carry = act.carry
            alike = np.allclose(rows, np.stack(rows)[:, :1], atol=1e-5)
            assert not alike, f"all environments have the same noise in {space}: draw one for each"

    def test_a_deterministic_action_is_the_inner_actors(self) -> None:
        for space in self.tried():
            actor, inner = self.actor(space)
            self.acts(actor, 3)
            found, expected = (
                self.acts(actor, deterministic=True),
                self.acts(inner, deterministic=True),
            )
            for one, two in zip(found, expected, strict=True):
                assert np.array_equal(one.env_action, two.env_action), f"in {space}"

    def test_the_policy_itself_is_as_before_after_a_step(self) -> None:
        for space in self.tried():
            actor, inner = self.actor(space)
            before = inner.parameters.flat.clone()
            self.acts(actor)
            assert inner.parameters.flat.equal(before), (
                "it leaves noise in the policy's own parameters"
            )
            inner.parameters.check()

    def test_it_draws_from_the_stream_it_is_given_and_from_nothing_else(self) -> None:
        for space in self.tried():
            with global_generators_untouched():
                one, two, other = (self.acts(self.actor(space, seed)[0]) for seed in (1, 1, 2))
            first, second = np.stack([a.action for a in one]), np.stack([a.action for a in two])
            assert np.array_equal(first, second), f"one stream gives two series in {space}"
            if self.explores:
                assert not np.array_equal(first, np.stack([a.action for a in other])), f"in {space}"

    def test_the_streams_of_others_are_left_to_them(self) -> None:
        for space in self.tried():
            inner = Inner(space)
            run = self.run(inner)
            streams = {name: run.streams.numpy(name).bit_generator for name in _OF_OTHERS}
            before = {name: stream.state for name, stream in streams.items()}
            self.acts(self.made(run).wrap(inner, inner.policy))
            drawn = [name for name, stream in streams.items() if stream.state != before[name]]
            assert not drawn, (
                f"in {space}, it draws from the run's streams {drawn}, so that what others draw "
                f"there depends on the noise: draw from run.streams.numpy('noise')"
            )

    def test_what_the_inner_actor_adds_to_a_step_gets_through_it(self) -> None:
        for space in self.tried():
            actor, _ = self.actor(space)
            for t, act in enumerate(self.acts(actor)):
                assert TOLD in act.extras, (
                    f"in step {t} in {space}, its act has the extras {sorted(act.extras)}, but the "
                    f"algorithm's actor adds {TOLD!r} to every step, without which a storage "
                    f"refuses it: return the inner act's extras, "
                    f"found._replace(action=…, env_action=…), or call the inner actor in every "
                    f"step if run.algorithm.extras() has any"
                )
                expected = observed(self.n_envs, t)
                assert np.array_equal(act.extras[TOLD], expected), (
                    f"in step {t} in {space}, its act has the extra {act.extras[TOLD]}, must be "
                    f"that of the inner actor's act in the same step: {expected}"
                )

    def test_it_writes_into_nothing_that_it_is_given(self) -> None:
        for space in self.tried():
            actor, inner = self.actor(space)
            carry = actor.start(self.n_envs)
            for t in range(40):
                given = observed(self.n_envs, t), np.arange(self.n_envs) <= t
                kept = copy.deepcopy(given)
                carry = actor.act(given[0], carry, given[1]).carry
                assert same(given, kept), (
                    f"in step {t} in {space}, it writes into the observation or `episode_start`, "
                    f"which are the collector's and are stored after it: change a copy"
                )
                for now, before in inner.acted:
                    assert same(now, before), (
                        f"in step {t} in {space}, it writes into what the inner actor returned, "
                        f"which may be that one's memory: it is {now} and was {before}. Make new "
                        f"arrays, found._replace(action=found.action + noise)"
                    )
                inner.acted.clear()

    def test_what_it_carries_from_step_to_step_can_be_saved(self) -> None:
        for space in self.tried():
            for act in self.acts(self.actor(space)[0], 3):
                plain(act.carry, "carry")

    def test_another_actor_goes_on_from_its_carry_as_after_a_resume(self) -> None:
        for space in self.tried():
            inners = Inner(space), Inner(space)
            runs = [self.run(inner, seed) for seed, inner in enumerate(inners)]
            noises = [self.made(run) for run in runs]
            one, other = (
                noise.wrap(inner, inner.policy) for noise, inner in zip(noises, inners, strict=True)
            )
            carry = self.acts(one, 10)[-1].carry
            runs[1].streams.load_state_dict(copy.deepcopy(runs[0].streams.state_dict()))
            if hasattr(noises[0], "state_dict"):
                noises[1].load_state_dict(copy.deepcopy(noises[0].state_dict()))
            copied = copy.deepcopy(carry)
            expected = self.acts_on(one, carry, range(10, 40))
            for act, again in zip(
                expected, self.acts_on(other, copied, range(10, 40)), strict=True
            ):
                assert np.array_equal(act.env_action, again.env_action), (
                    f"in {space}, it depends on more than what it carries, the run's streams and "
                    f"its state_dict"
                )

    @applies(lambda suite: not suite.record().perturbs_policy)
    def test_what_the_inner_actor_carries_gets_through_to_it(self) -> None:
        for space in self.tried():
            actor, inner = self.actor(space)
            inner.carries = True
            carry = actor.start(self.n_envs)
            for t in range(4):
                carry = actor.act(
                    observed(self.n_envs, t), carry, np.zeros(self.n_envs, bool)
                ).carry
            assert inner.counted == [0, 1, 2, 3], (
                f"the inner actor was handed the carries {inner.counted}"
            )

    @applies(lambda suite: not suite.record().perturbs_policy)
    def test_the_inner_actor_is_asked_where_a_collection_begins(self) -> None:
        for space in self.tried():
            actor, inner = self.actor(space)
            inner.carries = True
            carry = beginning(actor)(actor.start(self.n_envs))
            actor.act(observed(self.n_envs, 0), carry, np.zeros(self.n_envs, bool))
            assert inner.counted == [100], (
                "its actor hands on no `begin`: self.begin = rlk.abilities.beginning(actor)"
            )

    def test_it_logs_numbers(self) -> None:
        for space in self.tried():
            for name, value in self.actor(space)[0].metrics().items():
                assert isinstance(name, str) and np.isfinite(float(value))

    def test_it_logs_what_the_inner_actor_logs_as_well(self) -> None:
        for space in self.tried():
            actor, inner = self.actor(space)
            found, expected = actor.metrics(), inner.metrics()
            assert expected.items() <= dict(found).items(), (
                f"the inner actor, which may be another noise's, logs {expected}, and its own "
                f"metrics() lacks that: {found}. Return {{**self.actor.metrics(), …}}"
            )

    @applies(lambda suite: not suite.adapts)
    def test_what_is_scheduled_follows_the_runs_clock_and_not_its_own_steps(self) -> None:
        for space in self.tried():
            for progress in (0.0, 0.5, 1.0):
                actor, fresh = (self.actor(space, progress=progress)[0] for _ in range(2))
                self.acts(actor, 50)
                assert same(dict(actor.metrics()), dict(fresh.metrics())), (
                    f"after 50 steps it logs {actor.metrics()}, at the same timestep of the run as "
                    f"another that logs {fresh.metrics()}: use run.clock, which goes on when a run "
                    f"is resumed (or set `adapts`)"
                )

    def test_it_works_at_every_point_of_a_run(self) -> None:
        for space in self.tried():
            for progress in (0.0, 0.5, 1.0):
                for act in self.acts(self.actor(space, progress=progress)[0], 5):
                    assert all(space.contains(np.asarray(one)) for one in act.env_action)

    def test_its_first_carry_is_the_same_at_every_call_for_one_stream(self) -> None:
        for space in self.tried():
            one, two = (self.actor(space, seed=4)[0].start(self.n_envs) for _ in range(2))
            assert same(one, two)
