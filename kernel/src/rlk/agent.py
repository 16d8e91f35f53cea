"""The agent: what a user holds. It learns, predicts, saves and loads."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from rlk import spaces
from rlk.errors import PlanError
from rlk.planning.resolve import resolve
from rlk.planning.saved_plan import spec_of
from rlk.planning.spec import RunSpec, make_spec
from rlk.protocols import State
from rlk.records import Array
from rlk.registry.kernel import Kernel, default_kernel
from rlk.running import checkpoint
from rlk.running.build import build
from rlk.running.named_parameters import named_parameters, parameters_of, put_parameters
from rlk.running.train import train
from rlk.running.vec_env import make_vec_env

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
        """
        steps = self.plan.total_timesteps if total_timesteps is None else total_timesteps
        if reset_num_timesteps:
            self.run.clock.timesteps = 0
        self.learn_until(self.num_timesteps + steps)
        return self

    def learn_until(self, timesteps: int) -> str | None:
        """Train until the clock reads this, which is where every schedule ends; counting goes on.

        Returns:
            Why it ended early, or None.
        """
        for sentence in self.spec.lost:
            warnings.warn(sentence, stacklevel=3)
        with self.run.streams.globally("modules"):
            return train(self.run, timesteps)

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
        except BaseException:
            self.close()
            raise
        return self

    # ---- the environment -------------------------------------------------------------------------

    def get_env(self) -> Any:
        """The training environment, a gymnasium.vector.VectorEnv."""
        return self.run.env

    def set_env(self, env: Any) -> None:
        """Go on, from a reset, in another environment.

        Raises:
            PlanError: if it does not exist, or its spaces are others.
        """
        spec = make_spec("", {"env": env}).over(self.spec)
        plan = resolve(self.kernel, spec)
        for key in ("observation_space", "action_space"):
            new, old = getattr(plan, key), getattr(self.plan, key)
            if new != old:
                raise PlanError(f"the new environment's {key} is {new}, not {old}.")
        made = make_vec_env(plan, self.run.hooks, plan.n_envs, training=True)
        self.run.env.close()
        self.run.env, self.spec = made, spec
        self.run.plan = self.plan = attrs.evolve(self.plan, env=plan.env)
        self.run.collector.forget()
        self.run.parameters.check()

    def set_random_seed(self, seed: int) -> None:
        """New random streams from this seed, for everything that draws from now on."""
        self.run.streams.reseed(seed)

    def close(self) -> None:
        """Close environments and loggers."""
        self.run.close()

    def __enter__(self) -> Agent:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def make(algo: str, *, config: Any = None, kernel: Kernel | None = None, **given: Any) -> Agent:
    """An agent from keywords.

    Args:
        algo: the algorithm's name.
        config: an instance of its config class, instead of keywords for it (`DQNConfig(…)`).
        kernel: where components come from; None is everything that is installed.
        given: a `RunSpec`'s keys (env, n_envs, policy, plugins, seed, …) and hyperparameters of
            the algorithm; `policy={"layers": [64]}` sets `policy.layers`.

    Raises:
        PlanError: for what does not exist or does not fit.
    """
    kernel = kernel or default_kernel()
    settings = {} if config is None else attrs.asdict(config, recurse=False)
    spec = make_spec(algo, {**settings, **given})
    return Agent(resolve(kernel, spec), kernel, spec)


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
            names those that were not passed again, and `learn` warns of them.

    Raises:
        BadFile: if the file is damaged or not one of rlk's.
        PlanError: if it names what is not there.
    """
    kernel = kernel or default_kernel()
    state = checkpoint.read(Path(path), kernel, best=best)
    saved = state["manifest"]["plan"]
    spec = spec_of(saved, kernel, env=env, plugins=plugins, changes=changes)
    plan = resolve(kernel, spec)
    with checkpoint.bad_if_it_fails(f"{path}: the run that it describes cannot be built"):
        agent = Agent(plan, kernel, spec, state)
    return agent.restore(state)
