"""The contract of callbacks, and what it shares with that of extensions (`extension.py`)."""

from __future__ import annotations

import contextlib
import copy
import io
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import pytest

from rlk.component import Component
from rlk.errors import RlkError
from rlk.registry.hooks import Hooks
from rlk.registry.kernel import Kernel
from rlk.running import checkpoint, plugin_states
from rlk_testing.applies import applies
from rlk_testing.contract import (
    Contract,
    global_draws,
    may_have,
    once_per_suite,
    one_thread,
    plain,
    same,
)
from rlk_testing.environments import BY_ACTION_SPACE
from rlk_testing.faults import full_disk
from rlk_testing.left_open import can_be_listed, nothing_left_open
from rlk_testing.stand_ins import stand_in_kernel

if TYPE_CHECKING:
    import torch

    from rlk.agent import Agent
    from rlk.records import Step


#: The hooks by which a component remembers something, each with where a checkpoint has it.
_SAVING = {
    "rlk_save": plugin_states.OF_CHECKPOINT,
    "rlk_save_with_model": plugin_states.WITH_MODEL,
}
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
    """Checks of a component in a run, of stand-ins (`stand_ins.py`) or an installed algorithm.

    Attributes:
        algo: the algorithm of that run. env: its environment. timesteps: its length.
        given: further settings of that run, as keywords of `rlk.make`.
        spoilt: keywords with which `env` raises an error with "told to fail" in its message.
    """

    algo: ClassVar[str] = "stand-in"
    env: ClassVar[str] = BY_ACTION_SPACE["Discrete"]
    timesteps: ClassVar[int] = 64
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
        given |= self.given
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
            around.enter_context(inside(Path(folder)))
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
        with inside(here), self.agent(out=str(out), verbose=0) as agent:
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


class ObserverChecks(RunContract):
    """What callbacks and extensions have in common. Their factory takes only the config."""

    def test_every_hook_that_it_marks_is_one_of_rlks(self) -> None:
        Hooks().activate(self.made(), self.entry().name)

    def test_it_answers_some_hook(self) -> None:
        made = self.made()
        marked = [name for name in dir(made) if hasattr(getattr(made, name, None), "rlk_impl")]
        assert marked, "no method is marked with @hookimpl: nothing would ever call it"

    def test_every_run_gets_an_object_of_its_own(self) -> None:
        assert self.made() is not self.made(), (
            "what one run leaves in it would be there in the next"
        )

    def test_making_it_does_nothing_yet(self, tmp_path: Path) -> None:
        with inside(tmp_path):
            self.made()
        assert list(tmp_path.rglob("*")) == [], (
            "it is made while a run is planned, which must write nothing"
        )

    @applies(lambda suite: any(may_have(suite, hook) for hook in _SAVING))
    def test_what_it_remembers_is_plain_and_goes_on_where_it_was(self) -> None:
        name = self.entry().name
        with self.agent() as agent, self.agent() as other:
            agent.learn(self.timesteps)
            state = copy.deepcopy(checkpoint.run_state(agent.run))
            hooks = [hook for hook, key in _SAVING.items() if name in state.get(key, ())]
            if not hooks:
                pytest.skip(f"it remembers nothing (no {' or '.join(_SAVING)})")
            plain([state[_SAVING[hook]][name] for hook in hooks])
            _copy_files(agent.run.out, other.run.out)  # a resumed run finds its own
            checkpoint.restore(other.run, state)
            for one in (agent, other):
                one.learn(self.timesteps, reset_num_timesteps=False)
            resumed, expected = (
                [one.run.hooks.by_plugin(hook, run=one.run, replay=True)[name] for hook in hooks]
                for one in (other, agent)
            )
            assert same(resumed, expected), (
                "after a resume its state differs from that of a run without interruption"
            )

    def test_a_resumed_run_trains_on_as_one_without_interruption(self) -> None:
        with self.agent() as agent, self.agent() as other:
            agent.learn(self.timesteps)
            differs = checkpoint.restore(other.run, copy.deepcopy(checkpoint.run_state(agent.run)))
            if differs:
                pytest.skip(f"no run in {self.env} can be resumed exactly: {differs[0]}")
            for one in (agent, other):
                one.learn(self.timesteps, reset_num_timesteps=False)
            ends = [(one.num_timesteps, one.run.parameters.flat) for one in (agent, other)]
            assert ends[0][0] == ends[1][0] and ends[0][1].equal(ends[1][1]), (
                f"after {ends[1][0]} timesteps a resumed run has other parameters than one without "
                f"interruption after {ends[0][0]}: save what it remembers (rlk_save, rlk_load)"
            )

    @applies(lambda suite: may_have(suite, "rlk_wrap_add"))
    def test_a_step_whose_storing_it_wraps_stays_as_the_environment_gave_it(self) -> None:
        with self.agent() as agent:
            add = agent.run.add

            def watched(step: Step) -> None:
                before = copy.deepcopy(step)
                add(step)
                assert same(step, before), (
                    "rlk_wrap_add: it writes into the arrays of the step, which logged returns and "
                    "listeners of rlk_step read. Store a changed copy: add(step._replace(reward=…))"
                )

            agent.run.add = watched
            agent.learn(self.timesteps)

    def test_a_run_with_it_learns_the_same_every_time(self) -> None:
        one, other = self.two_runs()
        assert one.parameters.equal(other.parameters)


class CallbackContract(ObserverChecks):
    """What every callback must do: watch a run without changing what it learns."""

    kind = "callbacks"

    def test_a_run_learns_with_it_what_it_learns_without(self) -> None:
        left, _ = self.two_runs()
        with self.agent(without=True) as agent:
            agent.learn(self.timesteps)
        if left.timesteps < agent.num_timesteps:
            pytest.skip("it stopped the run early, which a callback may")
        assert left.parameters.equal(agent.run.parameters.flat), (
            "a callback changed what was learnt: does it draw from a stream of the run?"
        )


@cache
def _with_stand_ins() -> Kernel:
    """A kernel with stand-ins and all installed components."""
    return stand_in_kernel(discover=True)


@contextlib.contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Make a folder the current directory inside."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _copy_files(source: Path | None, to: Path | None) -> None:
    """Copy the files of one run folder into another, except hidden ones."""
    if source is not None and to is not None:
        for file in source.iterdir():
            if file.is_file() and not file.name.startswith("."):
                shutil.copyfile(file, to / file.name)
