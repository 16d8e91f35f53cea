"""The agent: what a user holds. It learns, predicts, saves and loads."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from rlk import spaces
from rlk.planning.resolve import resolve
from rlk.planning.saved_plan import spec_of
from rlk.planning.spec import RunSpec, make_spec
from rlk.protocols import State
from rlk.records import Array
from rlk.registry.kernel import Kernel, default_kernel
from rlk.running import checkpoint
from rlk.running.build import build
from rlk.running.change_env import change_env
from rlk.running.named_parameters import named_parameters, parameters_of, put_parameters
from rlk.running.other_hands import LentEnv, OwnerWatch
from rlk.running.run_folder import check_out
from rlk.running.train import train

if TYPE_CHECKING:
    from rlk.planning.plan import Plan

Place = str | os.PathLike[str]


class Agent:
    """A policy with everything that trains it.

    Attributes:
        run: the live run.
        plan: what the run was made of.
        differs: after `load`, what will not be as before, as sentences.
    """

    def __init__(
        self, plan: Plan, kernel: Kernel, spec: RunSpec, saved: State | None = None
    ) -> None:
        self.plan, self.kernel, self.spec = plan, kernel, spec
        self.run = build(plan, saved and checkpoint.part_of(saved, "parameters"))
        self.differs: list[str] = []
        self._actor: Any = None
        self._lent: LentEnv | None = None
        self._owner = OwnerWatch(self.run)

    def __repr__(self) -> str:
        return f"<Agent: {self.plan.title}, {self.num_timesteps:,} timesteps>"

    @property
    def num_timesteps(self) -> int:
        """Environment steps trained so far, over all environments."""
        return self.run.timesteps

    # ---- learning and acting ---------------------------------------------------------------------

    def learn(
        self, total_timesteps: int | None = None, *, reset_num_timesteps: bool = True
    ) -> Agent:
        """Train, and return this agent.

        Args:
            total_timesteps: environment steps to train; None is what the plan says.
            reset_num_timesteps: whether timesteps are counted from 0 again, and schedules with
                them; else both go on. docs/schedules.md has a table.

        Raises:
            NotFinite: if a loss, a gradient or the environment gives a non-finite number.
            EnvironmentFailed: if an environment raises or its process dies.
            RlkError: after the training, if a file of the run's folder could not be written.
        """
        steps = self.plan.total_timesteps if total_timesteps is None else total_timesteps
        if reset_num_timesteps:
            self.run.clock.timesteps = 0
        self.learn_until(self.num_timesteps + steps)
        self.run.failed_writes.check()
        return self

    def learn_until(self, timesteps: int) -> str | None:
        """Train until the clock reads this, which is where every schedule ends; counting goes on.

        Returns:
            Why it ended early, or None.
        """
        for sentence in self.spec.lost:
            warnings.warn(sentence, stacklevel=3)
        self._owner.check()
        with self.run.streams.globally("modules"):
            reason = train(self.run, timesteps)
        self._owner.remember()
        return reason

    def predict(
        self,
        observation: Any,
        state: Any = None,
        mask: Array | None = None,
        deterministic: bool = False,
    ) -> tuple[Any, Any]:
        """Choose an action for one observation, or for a batch of any number of them.

        Args:
            observation: one, or a batch of them.
            state: what the last call returned; None at the start (recurrent policies).
            mask: bool [B], where an episode has just begun; None: everywhere if `state` is None,
                else nowhere.
            deterministic: take the mode of the policy instead of a sample.

        Returns:
            The action as the environment takes it, batched if the observation was, and the state
            for the next call.

        Raises:
            ValueError: if the observation does not fit the agent's observation space.
        """
        batch, was_batched = spaces.batched(self.plan.observation_space, observation)
        size = len(next(iter(batch.values())) if isinstance(batch, Mapping) else batch)
        if self._actor is None:
            # A stream of its own: acting must not change what training draws.
            self._actor = self.run.make_actor(self.run.streams.numpy("predict"))
        start = np.full(size, state is None) if mask is None else np.asarray(mask, dtype=bool)
        if state is None:
            state = self._actor.start(size)
        act = self._actor.act(batch, state, start.reshape(size), deterministic)
        return (act.env_action if was_batched else act.env_action[0]), act.carry

    # ---- parameters and files --------------------------------------------------------------------

    def get_parameters(self) -> dict[str, Array]:
        """A copy of every parameter, by name.

        Those of the policy are called `model/pi/out/weight` or the like; targets and what else the
        algorithm keeps `target/qf/out/weight`, `log_ent_coef`.
        """
        return {name: value.cpu().numpy() for name, value in parameters_of(self.run).items()}

    def load_parameters(self, values: Mapping[str, Any] | Place, exact_match: bool = True) -> None:
        """Set parameters, targets and learnt coefficients included; optimisers stay as they are.

        Args:
            values: what `get_parameters` returned, or a saved model.
            exact_match: whether none may be missing.

        Raises:
            RlkError: if names or shapes do not fit.
        """
        if not isinstance(values, Mapping):
            state = checkpoint.read(Path(values), self.kernel)
            saved = [checkpoint.part_of(state, part) for part in ("parameters", "algorithm")]
            values = named_parameters(*saved)
        put_parameters(self.run, values, exact_match=exact_match)

    def save(self, path: Place) -> Path:
        """Write the model; the path, with the suffix of the serializer (`.zip`) added."""
        return checkpoint.save(self.run, Path(path))

    def save_checkpoint(self, path: Place, *, replay: bool = True) -> Path:
        """Write everything that the run goes on from, bit for bit; the path with its suffix.

        Args:
            path: the file.
            replay: whether the contents of the replay go with it, which may be large.
        """
        return checkpoint.save(self.run, Path(path), checkpoint.run_state, replay=replay)

    def restore(self, state: State) -> Agent:
        """Become what was saved, and return this agent; it is closed if that fails.

        Afterwards `differs` says what will not be as before.
        """
        try:
            self.differs = [*self.spec.notes, *self.spec.lost, *checkpoint.restore(self.run, state)]
            self._owner.remember()
        except BaseException:
            self.close()
            raise
        return self

    # ---- the environment -------------------------------------------------------------------------

    def get_env(self) -> Any:
        """The training environment, a gymnasium.vector.VectorEnv.

        It may be stepped: `learn` then begins with a reset.
        """
        if self._lent is None or self._lent.env is not self.run.env:
            self._lent = LentEnv(self.run)
        return self._lent

    def set_env(self, env: Any) -> None:
        """Go on, from a reset, in another environment; the one before is closed.

        Args:
            env: as for `make`; of the same spaces, and if it is a vector, of as many environments.

        Raises:
            PlanError: if it does not exist or does not fit; the agent keeps the one it has.
        """
        if env is self._lent:
            self.run.collector.forget()
            return
        spec = make_spec("", {"env": env}).over(self.spec)
        # How many it is to be stays as it is: a vector that was passed says its own number.
        change_env(self.run, resolve(self.kernel, spec.without("n_envs")))
        self.spec, self.plan = spec, self.run.plan

    def set_random_seed(self, seed: int | None) -> None:
        """New random streams from this seed, for everything that draws from now on.

        Environments are seeded from it too, by the reset that the next collection begins with.

        Args:
            seed: None changes nothing.
        """
        if seed is not None:
            self.run.streams.reseed(seed)
            self.run.collector.forget()

    def close(self) -> None:
        """Close environments and loggers."""
        self.run.close()

    def __enter__(self) -> Agent:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def make(algo: str, *, config: Any = None, kernel: Kernel | None = None, **given: Any) -> Agent:
    """An agent from keywords.

    It has the documented defaults of its algorithm. `rlk run` applies tuned settings where it has
    some for the environment; here they are asked for: `preset='zoo'`. With `verbose=1` it prints
    what `rlk run` prints; without `out` it writes nothing.

    Args:
        algo: the algorithm's name.
        config: an instance of its config class, instead of keywords for it (`DQNConfig(…)`).
        kernel: where components come from; None is everything that is installed.
        given: a `RunSpec`'s keys (env, n_envs, policy, plugins, seed, …) and hyperparameters of
            the algorithm; `policy={"layers": [64]}` sets `policy.layers`.

    Raises:
        PlanError: for what does not exist or does not fit, or an `out` that is not empty.
    """
    kernel = kernel or default_kernel()
    settings = {} if config is None else attrs.asdict(config, recurse=False)
    spec = make_spec(algo, {**settings, **given})
    return Agent(_plan(kernel, spec), kernel, spec)


def load(
    path: Place,
    *,
    env: Any = None,
    plugins: tuple[Any, ...] = (),
    kernel: Kernel | None = None,
    best: bool = False,
    **changes: Any,
) -> Agent:
    """An agent from a model, a checkpoint, or a run folder.

    Args:
        path: the file or the folder.
        env: another environment than the saved one; needed where that was an object or a file.
        plugins: those that were passed as objects or files, again; `no:NAME` leaves one out.
        kernel: where components come from; None is everything that is installed.
        best: of a run folder, the best model of its evaluations.
        changes: settings that are to be others now, and functions that no file holds: `differs`
            names those that were not passed again, and `learn` warns of them. `out` is the folder
            of a run of its own or, to go on in it, the folder that `path` is in.

    Raises:
        BadFile: if the file is damaged or not one of rlk's.
        PlanError: if it names what is not there, or `out` holds another run.
    """
    kernel = kernel or default_kernel()
    state = checkpoint.read(Path(path), kernel, best=best)
    saved = state["manifest"]["plan"]
    spec = spec_of(saved, kernel, env=env, plugins=plugins, changes=changes)
    plan = _plan(kernel, spec, Path(path))
    with checkpoint.bad_if_it_fails(f"{path}: the run that it describes cannot be built"):
        agent = Agent(plan, kernel, spec, state)
    return agent.restore(state)


def _plan(kernel: Kernel, spec: RunSpec, loaded: Path | None = None) -> Plan:
    """The plan of a program's run; one that prints on a terminal shows how far it is."""
    plan = resolve(kernel, spec, terminal=sys.stderr.isatty())
    check_out(plan.out, loaded)
    return plan
