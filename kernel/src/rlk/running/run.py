"""A live run: everything that `build.py` put together, and what the loop asks of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from rlk.errors import NotFinite
from rlk.optimise import Group, Optimiser
from rlk.records import Batch, Update
from rlk.running.clock import Clock, Scheduled
from rlk.running.metrics import Metrics

if TYPE_CHECKING:
    import numpy as np

    from rlk.planning.plan import Plan
    from rlk.protocols import Actor, Algorithm, Collector, Communicator, Parameters
    from rlk.registry.hooks import Hooks, Listener
    from rlk.running.seeding import Streams


class Run:
    """One run, alive: algorithms are built with it, and hooks are handed it. While `build.py` makes
    it, the parts that come later, in the order below, are not there yet."""

    plan: Plan  #: what it was made of
    hooks: Hooks  #: its own plugin manager
    out: Path | None  #: its folder, or None if it writes nothing
    observation_space: Any  #: of one environment
    action_space: Any  #: of one environment
    n_envs: int  #: stepped together
    clock: Clock  #: timesteps, iterations, updates, episodes
    metrics: Metrics  #: the latest episodes, and what updates report
    communicator: Communicator  #: what ranks agree through
    streams: Streams  #: its random streams
    device: Any  #: of the policy
    env: Any  #: the training vector environment
    distribution: Any  #: of the actions, or None
    optimise: Optimiser  #: the optimiser seam
    policy: Any  #: the module
    parameters: Parameters  #: of the policy
    algorithm: Algorithm
    actor: Actor  #: what the collector acts with, noise included
    storage: Any  #: the base storage, decorated
    collector: Collector
    collect: Callable[[], bool]  #: with all wrappers, as the loop calls it
    update: Callable[[Batch, Any], Update]  #: likewise
    listeners: dict[str, list[Listener]]  #: by lifecycle hook, called with its keywords
    evaluation_return: float | None = None  #: mean return of the latest evaluation
    closed = False

    def __init__(self, plan: Plan, hooks: Hooks) -> None:
        self.plan, self.hooks = plan, hooks
        self.out = Path(plan.out) if plan.out else None
        self.observation_space, self.action_space = plan.observation_space, plan.action_space
        self.n_envs = plan.n_envs
        self.clock = Clock(plan.total_timesteps)
        self.metrics = Metrics(self.clock)
        self.on_close: list[Callable[[], None]] = []
        self._schedules: list[tuple[Callable[[float], float], Tensor]] = []
        self._stop: str | None = None

    def schedule(self, value: Scheduled) -> Tensor:
        """A number as a 0-dim tensor; that of a function is filled before every collection."""
        now = value(self.clock.remaining()) if callable(value) else value
        tensor = torch.tensor(float(now), device=self.device)
        if callable(value):
            self._schedules.append((value, tensor))
        return tensor

    def group(
        self,
        name: str,
        prefixes: tuple[str, ...] | None = None,
        *,
        learning_rate: Scheduled,
        max_grad_norm: float | None = None,
        parameters: Parameters | None = None,
        **options: Any,
    ) -> None:
        """Declare what `optimise(name, …)` moves.

        Args:
            prefixes: names of the policy's submodules, a contiguous range; None is all of it.
            learning_rate: a number, or a function of what remains of the run, 1 to 0.
            max_grad_norm: clip the gradient's norm; None does not.
            parameters: of another module than the policy (an entropy coefficient).
            options: for the optimiser (`eps=1e-5`, `betas=…`)."""
        views, memory = (parameters or self.parameters).select(prefixes)
        group = Group(name, views, memory, self.schedule(learning_rate), max_grad_norm, options)
        step = self.hooks.first("rlk_make_optimiser", run=self, group=group)
        if step is None:
            step = self.plan.optimisers.get(f"{name}_optimiser", self.plan.optimiser).make(group)
        self.optimise.add(group, step, self.hooks.all("rlk_wrap_loss", run=self, group=name))

    def make_actor(self, rng: np.random.Generator | None = None) -> Actor:
        """The algorithm's actor, or what a plugin puts in its place; it draws from `rng`, or from
        the run's stream `actor`, which is the collector's."""
        actor = self.algorithm.actor(rng)
        made: Actor | None = self.hooks.first("rlk_make_actor", run=self, actor=actor)
        return made or actor

    @property
    def timesteps(self) -> int:
        """Environment steps so far, over all environments."""
        return self.clock.timesteps

    def stop(self, reason: str) -> None:
        """Ask the run to end at the next iteration border."""
        self._stop = self._stop or reason

    def stop_reason(self) -> str | None:
        """Why the run must end now, or None; any rank's reason ends all."""
        for listener in self.listeners["rlk_should_stop"]:
            self._stop = self._stop or listener(run=self)
        if self.communicator.size > 1:
            said = enumerate(self.communicator.gather(self._stop))
            return next((f"{reason} (rank {rank})" for rank, reason in said if reason), None)
        return self._stop

    def notify(self, hook: str, **arguments: Any) -> None:
        """Calls everyone who listens to a lifecycle hook."""
        for listener in self.listeners[hook]:
            listener(run=self, **arguments)

    def close(self) -> None:
        """Close environments and whatever plugins opened, the last first. Safe to call twice."""
        if not self.closed:
            self.closed = True
            for close in reversed(self.on_close):
                close()
            if hasattr(self, "env"):
                self.env.close()

    def begin(self, total_timesteps: int) -> None:
        """A new call of `learn` that ends at this timestep."""
        self.clock.total_timesteps = total_timesteps
        self._stop = None
        self.metrics.mark()

    def refresh_schedules(self) -> None:
        """Fill every scheduled tensor with its value now."""
        for schedule, tensor in self._schedules:
            tensor.fill_(schedule(self.clock.remaining()))

    def iteration_ended(self) -> None:
        """The check for NaN (optimisers skip the steps of gradients that are not finite; NotFinite
        says which figure was not), lifecycle, and a row of metrics when one is due."""
        if bad := self.metrics.read():
            raise NotFinite(
                f"{self.plan.algorithm.title}: {bad}. That step was not taken: the parameters are "
                "the last good ones.\nTry a lower learning rate (--set learning_rate=…) or look at "
                "the scale of the rewards."
            )
        self.clock.iterations += 1
        self.notify("rlk_update_end")
        on_policy = self.plan.algorithm.component.collects == "on-policy"
        done = self.clock.iterations if on_policy else self.clock.episodes
        if done - self.clock.logged >= self.plan.log_interval:
            self.clock.logged = done
            self.log()

    def log(self) -> None:
        """Make a row of metrics and hand it to the loggers now."""
        row = self.metrics.row()
        groups = self.optimise.groups
        if "train/n_updates" in row:
            for name, group in groups.items():
                suffix = f"_{name}" if len(groups) > 1 else ""
                row[f"train/learning_rate{suffix}"] = float(group.learning_rate)
        row |= self.actor.metrics()
        self.notify("rlk_log", row=row)
        self.notify("rlk_write_row", row=row)
