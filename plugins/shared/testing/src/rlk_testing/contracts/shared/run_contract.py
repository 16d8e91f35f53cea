"""What the suites share whose component is tried in a run."""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import pytest

from rlk.component import Component
from rlk.errors import RlkError
from rlk.registry.kernel import Kernel
from rlk_testing.contracts.shared.applies import applies
from rlk_testing.contracts.shared.contract import Contract, once_per_suite
from rlk_testing.environments import BY_ACTION_SPACE
from rlk_testing.stand_ins import stand_in_kernel
from rlk_testing.tools.faults import full_disk
from rlk_testing.tools.global_generators import global_draws
from rlk_testing.tools.left_open import can_be_listed, nothing_left_open
from rlk_testing.tools.states import same
from rlk_testing.tools.torch_threads import one_thread

if TYPE_CHECKING:
    import torch

    from rlk.agent import Agent


#: What to do where the environment of a suite takes no keywords that make it fail.
_SPOILT = (
    "The environment of this check is `env` with the keywords {}, the suite's `spoilt`. Set "
    "`spoilt`, too: keywords with which your `env` raises an error with 'told to fail' in its "
    "message."
)


class Left(NamedTuple):
    """What a run has left: files in its working directory, what it printed, and generators used."""

    timesteps: int
    parameters: torch.Tensor
    files: list[str]
    printed: str
    draws: list[str]


class RunContract(Contract):
    """Checks of a component in a run, of stand-ins (`stand_ins`) or an installed algorithm.

    Attributes:
        algo: the algorithm of that run. env: its environment. timesteps: its length, which by
            default ends within episodes.
        given: further settings of that run, as keywords of `rlk.make`. It has two environments,
            unless these say otherwise (`n_envs`).
        spoilt: keywords with which `env` raises an error with "told to fail" in its message.
    """

    algo: ClassVar[str] = "stand-in"
    env: ClassVar[str] = BY_ACTION_SPACE["Discrete"]
    timesteps: ClassVar[int] = 72
    given: ClassVar[Mapping[str, Any]] = {}
    spoilt: ClassVar[Mapping[str, Any]] = {"spoil": "error", "spoil_at": 10}

    @once_per_suite
    def kernel(self) -> Kernel:
        """A kernel with stand-ins, all installed components, and the suite's if it is an object."""
        if not isinstance(self.component, Component):
            return _with_stand_ins()
        kernel = stand_in_kernel(discover=True)
        kernel.registries[self.kind].register(self.component.name, self.component)
        return kernel

    @contextlib.contextmanager
    def agent(self, *, without: bool = False, **settings: Any) -> Iterator[Agent]:
        """An agent with the component, closed afterwards."""
        from rlk.making import make

        name = self.entry().name
        given: dict[str, Any] = {"env": self.env, "seed": 1, "n_threads": 1, "plugins": (name,)}
        given |= {"n_envs": 2, **self.given}
        if self.settings:
            given[name] = dict(self.settings)
        if without:
            given = {key: value for key, value in given.items() if key not in ("plugins", name)}
        with one_thread(), make(self.algo, kernel=self.kernel(), **{**given, **settings}) as agent:
            yield agent

    @applies(lambda suite: suite.record().only_trains)
    def test_a_model_that_was_trained_with_it_acts_alike_without_it(self, tmp_path: Path) -> None:
        from rlk.making import load

        without: dict[str, Any] = {"env": self.env, "kernel": self.kernel(), "to_act": True}
        with self.agent() as agent:
            agent.learn(self.timesteps)
            path = agent.save(tmp_path / "model")
            space = agent.plan.observation_space
            space.seed(1)
            seen = [space.sample() for _ in range(8)]
            expected = [agent.predict(one, deterministic=True)[0] for one in seen]
        with load(path, plugins=(f"no:{self.entry().name}",), **without) as other:
            acted = [other.predict(one, deterministic=True)[0] for one in seen]
        assert same(acted, expected), (
            "its component says only_trains, but without it a model acts in another way"
        )

    @once_per_suite
    def two_runs(self) -> tuple[Left, Left]:
        """What two quiet runs without a folder have left; the first imports what they need."""
        return self._left(), self._left()

    def _left(self) -> Left:
        printed = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as around:
            around.enter_context(contextlib.chdir(Path(folder)))
            around.enter_context(contextlib.redirect_stdout(printed))
            around.enter_context(contextlib.redirect_stderr(printed))
            with global_draws() as draws, self.agent(verbose=0) as agent:
                agent.learn(self.timesteps)
                agent.run.parameters.check()
                steps, parameters = agent.num_timesteps, agent.run.parameters.flat.clone()
            files = [path.name for path in Path(folder).rglob("*")]
        return Left(steps, parameters, files, printed.getvalue(), draws)

    def test_a_run_with_it_trains(self) -> None:
        left, _ = self.two_runs()
        assert left.timesteps > 0
        assert bool(left.parameters.isfinite().all())

    def test_a_run_without_a_folder_writes_nothing(self) -> None:
        left, _ = self.two_runs()
        assert left.files == [], "the run has out=None"

    def test_a_run_with_a_folder_writes_there_alone(self, tmp_path: Path) -> None:
        here, out = tmp_path / "here", tmp_path / "run"
        here.mkdir()
        out.mkdir()
        with contextlib.chdir(here), self.agent(out=str(out), verbose=0) as agent:
            agent.learn(self.timesteps)
        assert list(here.rglob("*")) == []

    def test_a_run_that_says_nothing_says_nothing_with_it(self) -> None:
        left, _ = self.two_runs()
        assert left.printed == "", "it prints although the run has verbose=0"

    def test_a_full_disk_does_not_end_a_run(self, tmp_path: Path) -> None:
        out = tmp_path / "run"
        with self.agent(out=str(out), verbose=0) as agent, contextlib.ExitStack() as disk:
            fills = iter([full_disk()])

            def fill(**_: Any) -> None:
                for full in fills:
                    disk.enter_context(full)

            agent.learn_until(self.timesteps)
            agent.run.listeners["rlk_rollout_start"].append(("fill", fill))
            agent.learn_until(2 * self.timesteps)
            disk.close()
            agent.learn_until(3 * self.timesteps)  # there is room again

    def test_an_error_of_the_environment_gets_through_it(self) -> None:
        with contextlib.ExitStack() as opened:
            try:
                agent = opened.enter_context(self.agent(env={"id": self.env, **self.spoilt}))
            except RlkError as error:
                pytest.fail(f"{error}\n{_SPOILT.format(dict(self.spoilt))}")
            with pytest.raises(Exception, match="told to fail") as raised:
                agent.learn(self.timesteps)
        notes = getattr(raised.value, "__notes__", [])  # the kernel's, on what it raised itself
        assert not [note for note in notes if note.startswith("After that, ")]

    def test_a_second_training_of_the_same_agent_works(self) -> None:
        with self.agent() as agent:
            agent.learn(self.timesteps)
            agent.learn(self.timesteps, reset_num_timesteps=False)
            agent.run.parameters.check()

    def test_a_run_with_it_can_be_closed_before_it_began(self) -> None:
        with self.agent() as agent:
            agent.close()

    def test_a_run_with_it_draws_from_no_global_generator(self) -> None:
        _, left = self.two_runs()  # what the first one imports is not the component's doing
        assert not left.draws, "; ".join(left.draws)

    @applies(can_be_listed)
    def test_a_closed_run_leaves_no_file_and_no_socket_open(self, tmp_path: Path) -> None:
        with self.agent(out=str(tmp_path / "first"), verbose=0) as agent:
            agent.learn(self.timesteps)  # what is opened now may stay open for the whole process
        out, advice = str(tmp_path / "second"), "close it when the run is closed (run.on_close)"
        with nothing_left_open(advice), self.agent(out=out, verbose=0) as closed:
            closed.learn(self.timesteps)


@cache
def _with_stand_ins() -> Kernel:
    """A kernel with stand-ins and all installed components."""
    return stand_in_kernel(discover=True)
