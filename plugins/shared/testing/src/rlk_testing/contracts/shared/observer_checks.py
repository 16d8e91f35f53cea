"""What the contracts of callbacks, loggers and extensions share."""

from __future__ import annotations

import contextlib
import copy
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rlk.registry.hooks import Hooks
from rlk.saving import checkpoint, plugin_states
from rlk_testing.contracts.shared.applies import applies
from rlk_testing.contracts.shared.contract import may_have
from rlk_testing.contracts.shared.handed_steps import hand_copies
from rlk_testing.contracts.shared.run_contract import RunContract
from rlk_testing.tools.states import plain, same
from rlk_testing.tools.watched_updates import tensors_of

if TYPE_CHECKING:
    from rlk.records import Step
    from rlk.running.run import Run


#: The hooks by which a component remembers something, each with where a checkpoint has it.
_SAVING = {
    "rlk_save": plugin_states.OF_CHECKPOINT,
    "rlk_save_with_model": plugin_states.WITH_MODEL,
}

#: The hooks of what is called with a step, and of what is called with a batch.
_TOLD_OF_STEPS = ("rlk_step", "rlk_wrap_add")
_AROUND_UPDATES = ("rlk_wrap_update", "rlk_wrap_loss")


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
        with contextlib.chdir(tmp_path):
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
                pytest.skip(f"it remembers nothing (no state from {' or '.join(_SAVING)})")
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

    @applies(lambda suite: may_have(suite, "rlk_step"))
    def test_a_step_that_it_is_told_of_stays_as_the_environment_gave_it(self) -> None:
        name = self.entry().name

        def watched(listen: Any) -> Any:
            def told(run: Run, step: Step) -> Any:
                before = copy.deepcopy(step)
                answer = listen(run=run, step=step)
                assert same(step, before), (
                    "rlk_step: it writes into the arrays of the step, which others are told of as "
                    "well: change a copy (step.reward * 2 instead of step.reward *= 2)"
                )
                return answer

            return told

        with self.agent() as agent:
            listeners = agent.run.listeners["rlk_step"]
            listeners[:] = [
                (one, watched(call) if one == name else call) for one, call in listeners
            ]
            agent.learn(self.timesteps)

    @applies(lambda suite: any(may_have(suite, hook) for hook in _TOLD_OF_STEPS))
    def test_it_copies_what_it_keeps_of_a_step(self) -> None:
        with_own, with_overwritten = (
            self.run_with_copies(overwritten=one) for one in (False, True)
        )
        for what, expected in with_own.items():
            assert same(with_overwritten[what], expected), (
                f"with a vector environment that writes its steps to the same arrays, {what} "
                f"differ from those with arrays of its own for every step: they are valid during "
                f"the next step. Copy what you keep longer (np.copy(step.reward))"
            )

    def run_with_copies(self, *, overwritten: bool) -> dict[str, Any]:
        """What comes of a run in which it is handed copies of steps (`handed_steps.py`)."""
        rows: list[dict[str, float]] = []

        def keep(row: dict[str, float], **_: Any) -> None:
            rows.append({key: row[key] for key in row if not key.startswith("time/")})

        with self.agent(verbose=0) as agent:
            name, run = self.entry().name, agent.run
            hand_copies(run, name, overwritten=overwritten)
            run.listeners["rlk_write_row"].append(("rlk_testing", keep))
            agent.learn(self.timesteps)
            state = checkpoint.run_state(run)
            saved = [state.get(key, {}).get(name) for key in _SAVING.values()]
            parameters = run.parameters.flat.clone()
            return {
                "the logged rows": rows,
                f"the states that {' and '.join(_SAVING)} return": copy.deepcopy(saved),
                "the learnt parameters": parameters,
            }

    @applies(lambda suite: any(may_have(suite, hook) for hook in _AROUND_UPDATES))
    def test_the_batch_of_an_update_stays_as_it_was(self) -> None:
        with self.agent() as agent:
            update = agent.run.update

            def watched(batch: Any, optimise: Any) -> Any:
                before = tensors_of(batch)
                made = update(batch, optimise)
                after = tensors_of(batch)
                written = [key for key in before if not same(before[key], after[key])]
                assert not written, (
                    f"an update with it writes into {written} of its batch, which may be the "
                    f"storage's memory and come again: hand on a changed one, "
                    f"dataclasses.replace(batch, reward=batch.reward * 2)"
                )
                return made

            agent.run.update = watched
            agent.learn(self.timesteps)

    def test_a_run_with_it_learns_the_same_every_time(self) -> None:
        one, other = self.two_runs()
        assert one.parameters.equal(other.parameters)


def _copy_files(source: Path | None, to: Path | None) -> None:
    """Copy the files of one run folder into another, except hidden ones."""
    if source is not None and to is not None:
        for file in source.iterdir():
            if file.is_file() and not file.name.startswith("."):
                shutil.copyfile(file, to / file.name)
