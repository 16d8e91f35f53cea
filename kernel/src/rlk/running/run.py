"""A live run: all the parts that `build.py` puts together, and what the loop needs of them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from rlk.abilities import acting_by
from rlk.errors import RlkError
from rlk.optimise import Group, Optimiser
from rlk.records import Step, Update
from rlk.registry.answers import check_given
from rlk.running.clock import Clock, Scheduled
from rlk.running.failed_writes import FailedWrites
from rlk.running.folder_owner import OwnedFolder
from rlk.running.listeners import call_all
from rlk.running.metrics import Metrics
from rlk.running.rows import numbers_of, shortest
from rlk.running.schedules import Schedules

if TYPE_CHECKING:
    import gymnasium as gym
    import numpy as np

    from rlk import protocols
    from rlk.planning.plan import Plan
    from rlk.registry.hooks import Hooks, Listener
    from rlk.running.learning_call import LearningCall
    from rlk.running.modes import Modes
    from rlk.running.seeding import Streams


class Run:
    """One live run: it is passed to algorithms when they are built, and to hooks.

    The attributes are in the order in which `build.py` makes them: while it does, later ones do not
    exist yet.
    """

    plan: Plan  #: the plan that it was built from
    process: int  #: the number of the process that made it
    hooks: Hooks  #: its own plugin manager
    out: Path | None  #: its folder, or None if it writes nothing
    observation_space: gym.Space[Any]  #: of one environment
    action_space: gym.Space[Any]  #: of one environment
    n_envs: int  #: environments stepped together
    clock: Clock  #: timesteps, iterations, updates, episodes
    metrics: Metrics  #: the latest episodes, and what updates report
    metric_sources: list[Callable[[], Mapping[str, float]]]  #: of storages and others, to log
    env_metrics: Callable[[], Mapping[str, float]]  #: of the vector environment, to log
    schedules: Schedules  #: the numbers that follow the clock
    failed_writes: FailedWrites  #: what could not be written
    on_close: list[Callable[[], None]]  #: called when it is closed, the last first
    on_change_env: list[Callable[[], None]]  #: called when it moves to another environment
    communicator: protocols.Communicator  #: how ranks agree
    streams: Streams  #: its random streams
    device: str  #: where the policy is, by torch's name: `cpu`, `cuda`, `cuda:1`
    env: Any  #: the training vector environment: Gymnasium's, and what its backend adds
    distribution: Any  #: of the actions, or None
    optimise: Optimiser  #: the optimiser seam
    policy: Any  #: the policy module, of the class that the algorithm asked for
    modes: Modes  #: whether the policy acts or learns
    parameters: protocols.Parameters  #: the flat parameters of the policy
    algorithm: protocols.Algorithm  #: the algorithm
    actor: protocols.Actor  #: the collector's actor, noise included
    actors: list[protocols.Actor]  #: it and those inside it, the innermost first
    noises: dict[str, protocols.Stateful]  #: those whose state a model holds, by name
    storage: Any  #: the base storage, decorated, likewise
    add: Callable[[Step], None]  #: the storage's, in all wrappers, as the collector calls it
    collector: protocols.Collector  #: rollout collection
    collect: Callable[[], bool]  #: the collector's, in all wrappers, as the loop calls it
    update: Callable[[Any, protocols.Optimise], Update]  #: the algorithm's, in all wrappers
    #: By lifecycle hook, each after its plugin's name; called with the hook's keywords.
    listeners: dict[str, list[tuple[str, Listener]]]
    activity: str = ""  #: what it is doing: the lifecycle hook called last, or as a plugin says
    stop_asked: str | None = None  #: why training ends at the next border; other ranks may ask, too
    hurries: bool = False  #: whether a signal asks, so that plugins do no more than save
    learning: LearningCall | None = None  #: the call of `learn` or `learn_until` under way
    collecting: bool = False  #: whether a collection was begun and is not complete
    closed: bool = False  #: whether `close` was called

    def __init__(self, plan: Plan, hooks: Hooks) -> None:
        self.plan, self.hooks, self.process = plan, hooks, os.getpid()
        #: Absolute, because a program or an environment may change the working folder.
        self.out = Path(os.path.abspath(plan.out)) if plan.out else None
        self.observation_space, self.action_space = plan.observation_space, plan.action_space
        self.n_envs = plan.n_envs
        self.clock = Clock(plan.total_timesteps)
        self.metrics = Metrics(self.clock, plan.algorithm.title)
        self.metric_sources, self.env_metrics = [], dict
        self.schedules = Schedules(self.clock)
        self.failed_writes = FailedWrites()
        self.on_close, self.on_change_env = [], []
        self._folder: OwnedFolder | None = None

    def __repr__(self) -> str:
        folder = f", in {self.plan.out}" if self.plan.out else ""
        closed = ", closed" if self.closed else ""
        return f"<Run: {self.plan.title}, {self.timesteps:,} timesteps{folder}{closed}>"

    @property
    def timesteps(self) -> int:
        """Environment steps so far, over all environments."""
        return self.clock.timesteps

    # ---- what an algorithm declares --------------------------------------------------------------

    def group(
        self,
        name: str,
        prefixes: tuple[str, ...] | None = None,
        *,
        learning_rate: Scheduled,
        max_grad_norm: float | None = None,
        parameters: protocols.Parameters | None = None,
        **options: Any,
    ) -> None:
        """Declare the parameters that `optimise(name, …)` moves.

        Args:
            name: of the parameter group.
            prefixes: names of the policy's submodules, a contiguous range; None means all of it.
            learning_rate: a number, or a function of the fraction that remains, 1 to 0.
            max_grad_norm: clip the gradient's norm to this; None does not clip.
            parameters: of a module other than the policy (an entropy coefficient).
            options: for the optimiser (`eps=1e-5`, `betas=…`).

        Raises:
            RlkError: if there is a parameter group of that name already, or if no prefixes, a text
                in place of them, or a number that is out of range is given.
        """
        if prefixes is not None and (isinstance(prefixes, str) or not prefixes):
            raise RlkError(
                f"group {name!r}: prefixes must be a tuple of one or more names, ('pi',), or None "
                f"for all parameters; got {prefixes!r}."
            )
        owner = parameters or self.parameters
        views, memory = owner.select(prefixes)
        rate = self.schedules.add_rate(learning_rate, self.device, name)
        group = Group(name, views, memory, rate, max_grad_norm, options, owner)
        step = self.hooks.only("rlk_make_optimiser", run=self, group=group)
        step = step or self.plan.optimiser_of(name).make(group)
        self.optimise.add(group, step, self.hooks.all("rlk_wrap_loss", run=self, group=name))

    def schedule(self, name: str, value: Scheduled) -> Tensor:
        """A number as a 0-dim tensor, which is logged as `train/NAME`.

        A function of the fraction that remains, 1 to 0, is evaluated before every collection.

        Raises:
            RlkError: if a scheduled number of that name exists already, or it is not finite.
        """
        return self.schedules.add(value, self.device, name)

    # ---- what is logged, and what steers training ------------------------------------------------

    def reschedule(self, name: str, value: Scheduled) -> None:
        """Set a number made by `schedule` to this value or this schedule from now on.

        Files keep the setting that it was made with: a plugin does this again in its `rlk_load`.

        Raises:
            UnknownName: if there is no number of that name.
            RlkError: if the number is not finite; it then stays as it is.
        """
        self.schedules.change(name, value)

    def reschedule_rate(self, group: str, value: Scheduled) -> None:
        """Likewise the learning rate of a parameter group, which is at least 0."""
        self.schedules.change_rate(group, value)

    def refresh_schedules(self) -> None:
        """Set every scheduled tensor to its current value."""
        self.schedules.refresh()

    def scheduled(self) -> dict[str, float]:
        """The numbers that steer training now, by their logged tags.

        All scheduled ones are among them: learning rates, the numbers made by `schedule`, and those
        that the actor and the storages log (exploration, the exponent of importance weights).
        """
        own = self.optimise.learning_rates() | self.schedules.numbers()
        found = {f"train/{name}": shortest(number) for name, number in own.items()}
        for numbers in (self.actor.metrics, self.env_metrics, *self.metric_sources):
            found |= numbers_of(numbers)
        return found

    def log(self) -> None:
        """Make a row of metrics, and hand it to the loggers, now."""
        row = self.metrics.take_row()
        was_trained = "train/n_updates" in row  # since the last row; else no train/ numbers
        for tag, number in self.scheduled().items():
            if was_trained or not tag.startswith("train/"):
                row[tag] = number
        self.notify("rlk_log", row=row)
        self.notify("rlk_write_row", row=row)

    # ---- acting ----------------------------------------------------------------------------------

    def make_actor(
        self, rng: np.random.Generator | None = None, policy: torch.nn.Module | None = None
    ) -> protocols.Actor:
        """A new actor: the algorithm's own, or a plugin's replacement.

        Args:
            rng: its random generator; None is the run's stream `actor`, which is the collector's.
            policy: the policy to act with, for an algorithm with `Component.deterministic`
                (RlkError for others); None is the run's policy.
        """
        self.parameters.adopt()  # an actor may keep the memory that it finds
        stream = self.streams.numpy("actor") if rng is None else rng
        actor: protocols.Actor = self.plan.algorithm.called(self.algorithm.actor, stream)
        check_given(self.plan.algorithm.title, "actor", actor)
        if policy is not None:
            actor = acting_by(policy, actor, self.plan.algorithm.title)
        other: protocols.Actor | None = self.hooks.only("rlk_make_actor", run=self, actor=actor)
        return actor if other is None else other

    # ---- its life: who listens, and when it ends -------------------------------------------------

    def begin(self, total_timesteps: int) -> None:
        """Begin a call of `learn` that ends at this timestep."""
        self.clock.total_timesteps = total_timesteps
        self.stop_asked, self.hurries = None, False
        self.failed_writes.clear()
        self.metrics.start_row()

    def notify(self, hook: str, **arguments: Any) -> None:
        """Call all listeners of a lifecycle hook."""
        self.activity = hook
        for _, listen in self.listeners[hook]:
            listen(run=self, **arguments)

    def end(self, reason: str | None, failure: BaseException | None = None) -> None:
        """Call all listeners of `rlk_training_end`, even if one of them raises.

        Args:
            reason: why training ended early, or None.
            failure: the error that ended it; errors of listeners become notes on it.

        Raises:
            BaseException: the first error of a listener, if training itself did not fail.
        """
        self.activity = "rlk_training_end"
        call_all(self.listeners[self.activity], failure, run=self, reason=reason, failure=failure)

    def stop(self, reason: str, *, hurry: bool = False) -> None:
        """Ask the run to end at the next iteration border, in a hurry if a signal does."""
        self.stop_asked, self.hurries = self.stop_asked or reason, self.hurries or hurry

    def stop_by_listener(self, plugin: str) -> None:
        """Ask the run to end, as the listener of `rlk_step` of that plugin returned False."""
        self.stop(f"plugin {plugin!r} (rlk_step returned False)")

    def stop_reason(self) -> str | None:
        """Why the run must end now, or None; a reason on any rank ends all ranks."""
        self.activity = "rlk_should_stop"
        for _, listen in self.listeners["rlk_should_stop"]:
            reason = listen(run=self)
            self.stop_asked = self.stop_asked or reason
        if self.communicator.size == 1:
            return self.stop_asked
        for rank, reason in enumerate(self.communicator.gather(self.stop_asked)):
            if reason:
                return f"{reason} (rank {rank})"
        return None

    # ---- what is open ----------------------------------------------------------------------------

    def own_folder(self, taken: OwnedFolder | None) -> None:
        """Keep other processes from writing to the run's folder, until the run is closed.

        It may be taken already: PlanError if it is not, and another process owns it.
        """
        if self.out is not None:
            self._folder = taken or OwnedFolder(self.out)
            self.hooks.activate(self._folder, "the run folder", "rlk-kernel")

    def close(self) -> None:
        """Close environments and what plugins opened, the last first, all even if one raises."""
        if self.closed:
            return
        self.closed = True
        with contextlib.ExitStack() as stack:  # which closes in reverse
            if self._folder is not None:
                stack.callback(self._folder.release)
            if hasattr(self, "env"):
                stack.callback(self.env.close)
            for close in self.on_close:
                stack.callback(self.failed_writes.tolerating, close)
