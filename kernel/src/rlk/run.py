"""A live run: everything that `build.py` put together, and what the loop asks of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlk.clock import Clock, Scheduled
from rlk.errors import NotFinite
from rlk.metrics import Episodes, Metrics
from rlk.records import Batch, Update

if TYPE_CHECKING:
    from torch import Tensor

    from rlk.optimise import Optimiser
    from rlk.parameters import FlatParameters
    from rlk.plan import Plan
    from rlk.plugins import Hooks
    from rlk.protocols import Actor, Algorithm, Collector, Communicator, Logger, State
    from rlk.seeding import Streams

#: Lifecycle hooks, asked once who listens.
LIFECYCLE = (
    *("rlk_training_start", "rlk_rollout_start", "rlk_step", "rlk_rollout_end", "rlk_update_end"),
    *("rlk_evaluation_end", "rlk_log", "rlk_should_stop", "rlk_training_end"),
)


class Run:
    """One run, alive. `build.build` makes it; plugins are handed it by hooks."""

    plan: Plan  #: what it was made of
    hooks: Hooks  #: its own plugin manager
    out: Path | None  #: its folder, or None if it writes nothing
    clock: Clock  #: timesteps, iterations, updates
    streams: Streams  #: its random streams
    communicator: Communicator  #: what ranks agree through
    device: Any  #: of the policy
    env: Any  #: the training vector environment
    storage: Any  #: the base storage, decorated
    distribution: Any  #: of the actions, or None
    algorithm: Algorithm
    policy: Any  #: the module
    parameters: FlatParameters  #: of the policy
    optimise: Optimiser  #: the optimiser seam
    actor: Actor  #: what the collector acts with, noise included
    collector: Collector
    collect: Callable[[], bool]  #: with all wrappers, as the loop calls it
    update: Callable[[Batch, Any], Update]  #: likewise
    metrics: Metrics
    episodes: Episodes
    loggers: list[Logger]
    evaluation_return: float | None = None  #: mean return of the latest evaluation
    closed = False

    def __init__(self, plan: Plan, hooks: Hooks) -> None:
        self.plan, self.hooks, self.loggers = plan, hooks, []
        self.out = Path(plan.out) if plan.out else None
        self.clock = Clock(plan.total_timesteps)
        self.episodes = Episodes(plan.n_envs)
        self.metrics = Metrics(self.clock, self.episodes)
        self.on_close: list[Callable[[], None]] = []
        self._schedules: list[tuple[Callable[[float], float], Tensor]] = []
        self._listeners: dict[str, list[Callable[..., Any]]] = {}
        self._stop: str | None = None
        self._logged = 0

    # ---- what plugins use -----------------------------------------------------------------------

    @property
    def timesteps(self) -> int:
        """Environment steps so far, over all environments."""
        return self.clock.timesteps

    def stop(self, reason: str) -> None:
        """Ask the run to end at the next iteration border."""
        self._stop = self._stop or reason

    def stop_reason(self) -> str | None:
        """Why the run must end now, or None; any rank's reason ends all."""
        for listener in self._listeners["rlk_should_stop"]:
            self._stop = self._stop or listener(run=self)
        if self.communicator.size > 1:
            said = enumerate(self.communicator.gather(self._stop))
            return next((f"{reason} (rank {rank})" for rank, reason in said if reason), None)
        return self._stop

    def notify(self, hook: str, **arguments: Any) -> None:
        """Calls everyone who listens to a lifecycle hook."""
        for listener in self._listeners[hook]:
            listener(run=self, **arguments)

    def listeners(self, hook: str) -> list[Callable[..., Any]]:
        """Who listens to a lifecycle hook, as functions to be called with its keyword arguments."""
        return self._listeners[hook]

    def listen(self) -> None:
        """Ask pluggy, once, who listens."""
        self._listeners = {hook: self.hooks.listeners(hook) for hook in LIFECYCLE}

    def schedule(self, value: Scheduled) -> Tensor:
        """A number as a 0-dim tensor; that of a function is filled before every collection."""
        import torch

        now = value(self.clock.remaining()) if callable(value) else value
        tensor = torch.tensor(float(now), device=self.device)
        if callable(value):
            self._schedules.append((value, tensor))
        return tensor

    def refresh_schedules(self) -> None:
        """Fill every scheduled tensor with its value now."""
        for schedule, tensor in self._schedules:
            tensor.fill_(schedule(self.clock.remaining()))

    # ---- the life of a call of `learn` ----------------------------------------------------------

    def begin(self, total_timesteps: int) -> None:
        """A new call of `learn` that ends at this timestep."""
        self.clock.total_timesteps = total_timesteps
        self._stop = None
        self.metrics.mark()

    def iteration_ended(self) -> None:
        """Lifecycle, the check for NaN, and a row of metrics when one is due."""
        self._check_finite()
        self.clock.iterations += 1
        self.notify("rlk_update_end")
        on_policy = self.plan.algorithm.component.collects == "on-policy"
        done = self.clock.iterations if on_policy else self.episodes.count
        if done - self._logged >= self.plan.log_interval:
            self._logged = done
            self.log()

    def log(self) -> None:
        """Write a row of metrics now."""
        row = self.metrics.row()
        for name, group in self.optimise.groups.items():
            tag = "learning_rate" if len(self.optimise.groups) == 1 else f"learning_rate_{name}"
            if "train/n_updates" in row:
                row[f"train/{tag}"] = float(group.learning_rate)
        row |= self.actor.metrics()
        self.notify("rlk_log", row=row)
        for logger in self.loggers:
            logger.write(self.clock.timesteps, row)

    def _check_finite(self) -> None:
        """Optimisers skip every step with a bad gradient; here the run stops and says which."""
        bad = self.metrics.first_bad()
        if bad is not None:
            back, name, value = bad
            what = "the gradient's norm" if name == "grad_norm" else repr(name)
            raise NotFinite(
                f"{self.plan.algorithm.title}: {what} is {value} in update "
                f"{self.clock.updates - back} at timestep {self.timesteps}. That step was not "
                "taken: the parameters are the last good ones.\nTry a lower learning rate "
                "(--set learning_rate=…) or look at the scale of the rewards."
            )

    def close(self) -> None:
        """Close environments, loggers and whatever plugins opened. Safe to call twice."""
        if not self.closed:
            self.closed = True
            for close in (*reversed(self.on_close), *[logger.close for logger in self.loggers]):
                close()
            if hasattr(self, "env"):
                self.env.close()

    # ---- its own part of a checkpoint -----------------------------------------------------------

    def state_dict(self) -> State:
        return {
            "clock": self.clock.state_dict(),
            "episodes": self.episodes.state_dict(),
            "metrics": self.metrics.state_dict(),
            "logged": self._logged,
        }

    def load_state_dict(self, state: State) -> None:
        self.clock.load_state_dict(state["clock"])
        self.episodes.load_state_dict(state["episodes"])
        self.metrics.load_state_dict(state["metrics"])
        self._logged = int(state["logged"])
