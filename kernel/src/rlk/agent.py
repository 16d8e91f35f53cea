"""The agent, the object that a user works with: it learns, predicts, saves and loads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex

from rlk.files import AnyPath
from rlk.planning.run_settings import checked_seed, checked_timesteps
from rlk.program_warnings import warn_program
from rlk.protocols import State
from rlk.records import Array
from rlk.running import access, made_agents
from rlk.running.acting import Acting
from rlk.running.build import build
from rlk.running.callbacks import listening
from rlk.running.change_env import change_env
from rlk.running.device import on_threads, threads_of
from rlk.running.lent_env import LentEnv, lent
from rlk.running.train import train
from rlk.saving import checkpoint, saved_files
from rlk.saving.named_parameters import parameters_in, parameters_of, put_parameters

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk.planning.spec import RunSpec
    from rlk.running.callbacks import Callback
    from rlk.running.folder_owner import OwnedFolder
    from rlk.saving.plugin_states import MissingPlugin


class Agent:
    """A policy with everything that trains it.

    Attributes:
        run: the live run.
        differs: after `load`, sentences on what differs from the saved run.
        missing: after `load`, the plugins of the file that are not here, which `differs` has, too.
    """

    def __init__(
        self, plan: Plan, spec: RunSpec, saved: State | None = None, out: OwnedFolder | None = None
    ) -> None:
        self.spec = spec
        self.run = build(plan, saved, out)
        self.differs: list[str] = []
        self.missing: list[MissingPlugin] = []
        self._acting = Acting(self.run)
        self._lent: LentEnv | None = None
        made_agents.remember(self)

    def __repr__(self) -> str:
        return repr(self.run).replace("Run", "Agent", 1)

    @property
    def plan(self) -> Plan:
        """The plan of the run, with the environment that `set_env` has put there since."""
        return self.run.plan

    @property
    def num_timesteps(self) -> int:
        """Environment steps trained so far, over all environments."""
        return self.run.timesteps

    # ---- learning and acting ---------------------------------------------------------------------

    def learn(
        self,
        total_timesteps: int | None = None,
        *,
        reset_num_timesteps: bool = True,
        callback: Callback = None,
    ) -> Agent:
        """Train, and return this agent, which a notebook keeps if it shows it: docs/notebooks.md.

        Args:
            total_timesteps: environment steps to train; None means the plan's number.
            reset_num_timesteps: whether timesteps, and with them schedules (docs/schedules.md),
                start again, and episodes in an environment that was passed; else all continue.
            callback: a listener for this call only: an object that implements lifecycle hooks
                (`rlk_step`, `rlk_update_end`, …), a function of the run that is called after
                every vector step and stops training by returning False, or a list of these.

        Raises:
            NotFinite: if a loss, a gradient or the environment gives a non-finite number.
            EnvironmentFailed: if an environment raises or its process dies.
            RlkError: if this agent is training already, is closed, or was made in a process that
                this one is a fork of; after the training, if a file could not be written.
            PlanError: for an invalid callback, timesteps, or mode of torch (`torch.no_grad()`).
        """
        steps = self.plan.total_timesteps if total_timesteps is None else total_timesteps
        steps = checked_timesteps(steps, "learn")
        with access.training(self.run, "learn"), listening(self.run, callback):
            if reset_num_timesteps:
                self.run.clock.restart()
                if self.plan.env.is_finished:  # its program may have stepped it
                    self.run.collector.forget()
            self._train_until(self.num_timesteps + steps)
        self.run.failed_writes.check()
        return self

    def learn_until(self, timesteps: int, *, callback: Callback = None) -> str | None:
        """Train on until this timestep, where every schedule ends; callbacks are those of `learn`.

        Returns:
            What asked to end it there, or None. It raises what `learn` does, but for failed writes.
        """
        timesteps = checked_timesteps(timesteps, "learn_until")
        with access.training(self.run, "learn_until"), listening(self.run, callback):
            return self._train_until(timesteps)

    def _train_until(self, timesteps: int) -> str | None:
        for one in self.spec.learns_without:
            warn_program(str(one))
        with on_threads(threads_of(self.run)), self.run.streams.globally_in_turn("modules"):
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
            state: the state that the last call returned (recurrent policies); None at the start.
            mask: bool [B], True where an episode has just begun; None means everywhere if `state`
                is None, else nowhere.
            deterministic: take the mode of the policy instead of a sample.

        Returns:
            The action as the environment takes it, batched if the observation was, and the state
            for the next call.

        Raises:
            ValueError: if the observation does not fit the agent's observation space or has NaN.
        """
        return self._acting.predict(observation, state, mask, deterministic)

    def action_probability(
        self,
        observation: Any,
        state: Any = None,
        mask: Array | None = None,
        actions: Any = None,
        logp: bool = False,
    ) -> Any:
        """How likely the policy's actions are, before any exploration noise.

        For one observation, depending on the action space: Discrete: the probability of
        every action, float [A]; MultiDiscrete: a list with such an array for each of its K choices;
        MultiBinary: the probability of every switch being on, [*shape]; Box: a list of the
        mean and the standard deviation, each [*shape], in the units of the environment. For a
        policy that acts by Q values, it is their softmax. For a batch, each has a leading axis [B].

        Args:
            observation: one, or a batch of them.
            state, mask: as in `predict`.
            actions: actions of the environment, one per observation: their probability is
                returned, or their density in a Box, float [1], for a batch [B, 1].
            logp: whether to return the logarithm of that.

        Raises:
            ValueError: if observations or actions do not fit the spaces.
            RlkError: if the policy is deterministic.
        """
        return self._acting.action_probability(observation, state, mask, actions, logp)

    # ---- parameters and files --------------------------------------------------------------------

    def get_parameters(self) -> dict[str, Array]:
        """A copy of every parameter, by name.

        The policy's are called `model/pi/out/weight` and so on; targets and other state of the
        algorithm `target/qf/out/weight`, `log_ent_coef`. RlkError if a program replaced one.
        """
        return {name: value.cpu().numpy() for name, value in parameters_of(self.run).items()}

    def load_parameters(
        self, values: Mapping[str, Any] | AnyPath, exact_match: bool = True
    ) -> None:
        """Set parameters, targets, learnt coefficients; optimisers and running statistics stay.

        Args:
            values: the result of `get_parameters`, or a saved model.
            exact_match: whether every parameter must be given.

        Raises:
            RlkError: if names or shapes do not fit, a program replaced a parameter of this agent,
                or another thread trains it.
        """
        if not isinstance(values, Mapping):
            values = parameters_in(saved_files.read(Path(values), self.plan.kernel))
        put_parameters(self.run, values, exact_match=exact_match)

    def save(self, path: AnyPath) -> Path:
        """Write the model; return its path with the suffix (`.zip`). RlkError if that fails."""
        return saved_files.save_as_asked(self.run, Path(path))

    def save_checkpoint(self, path: AnyPath, *, replay: bool = True) -> Path:
        """Write all that the run needs to continue bit for bit; return the path with its suffix.

        Args:
            path: the file.
            replay: whether to include the contents of the replay, which may be large.
        """
        return saved_files.save_as_asked(self.run, Path(path), checkpoint.run_state, replay=replay)

    def save_replay_buffer(self, path: AnyPath) -> Path:
        """Write the replay alone, never over a model; return the path with the suffix."""
        return saved_files.save_as_asked(self.run, Path(path), checkpoint.replay_state)

    def load_replay_buffer(self, path: AnyPath) -> None:
        """Replace the replay by that of another run, of this or another algorithm.

        If buffer_size, n_envs and the storages are the same, the replay is equal bit for bit,
        otherwise it is as if its newest transitions had just been collected. Its episodes end.

        Args:
            path: a file of `save_replay_buffer`, or a checkpoint.

        Raises:
            BadFile: if the file is damaged, holds no replay, or one of other spaces.
            RlkError: if the algorithm learns from no replay, or another thread trains this agent.
        """
        state = saved_files.read(Path(path), self.plan.kernel, content="storage")
        checkpoint.adopt_replay(self.run, state)

    # ---- the environment -------------------------------------------------------------------------

    def get_env(self) -> LentEnv:
        """The training environment, a gymnasium.vector.VectorEnv.

        You may step it: the next `learn` then begins with a reset.
        """
        self._lent = lent(self.run, self._lent)
        return self._lent

    def set_env(self, env: Any) -> None:
        """Continue, from a reset, in another environment; the old one is closed.

        Args:
            env: as for `make`, with the same spaces, and if it is a vector, as many environments.
                Keywords (`env.gravity`) are kept for an environment of the same name.

        Raises:
            PlanError: if it does not exist or does not fit; the agent keeps its old environment.
            RlkError: if the agent is closed, or another thread trains it.
            EnvironmentFailed: if the old one cannot be closed; the agent then has the new one.
        """
        access.check_free(self.run, "set_env")
        if env is not None and env is self._lent:
            self.run.collector.forget()
            return
        change_env(self.run, env)

    def set_random_seed(self, seed: int | None) -> None:
        """Restart all random streams from this seed.

        Environments are seeded from it too, by the reset at the start of the next collection.

        Args:
            seed: at least 0; None changes nothing.

        Raises:
            PlanError: for anything else; RlkError: if another thread trains this agent.
        """
        seed = checked_seed(seed, "set_random_seed")
        if seed is not None:
            access.check_not_learning_elsewhere(self.run, "set_random_seed")
            self.run.streams.reseed(seed)
            self.run.collector.forget()

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        """Neither pickled nor copied: environments and open files would be as well."""
        raise TypeError(
            "an agent can be neither pickled nor copied, because its environments cannot. Save it, "
            "agent.save(path), and load it where it is wanted: rlk.load(path)"
        )

    def close(self) -> None:
        """Close environments and loggers, after what another thread learns has ended early."""
        access.end_learning_elsewhere(self.run, "close() in another thread")
        self.run.close()

    def __enter__(self) -> Agent:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
