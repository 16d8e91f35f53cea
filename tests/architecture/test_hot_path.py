"""What may happen per step and what may not, counted instead of timed."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pluggy
import pytest

import rlk
from rlk.hookspecs import hookimpl
from rlk.registry.hooks import Hooks

#: Commands that must start fast.
STARTS = (["--help"], ["plugins", "list"], ["run", "--help"], ["plugins", "show", "dqn"])


class Idle:
    """A plugin that listens to nothing that happens per step."""

    @hookimpl
    def rlk_training_start(self, run: Any) -> None:
        """Does nothing."""


def python_calls(function: Callable[[], Any]) -> int:
    """Python functions entered while `function` runs; finalizers of what is collected are none."""
    count = 0
    gc.collect()
    gc.disable()

    def profile(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(None)
        gc.enable()
    return count


def agent(algo: str, plugins: list[Any]) -> rlk.Agent:
    settings = {"dqn": {"learning_starts": 100, "train_freq": 8}, "ppo2": {"n_steps": 100}}[algo]
    return rlk.make(algo, seed=3, plugins=plugins, **settings)


@pytest.mark.parametrize("algo", ["dqn", "ppo2"])
def test_ten_idle_plugins_add_no_python_call_per_step(algo: str) -> None:
    counts = []
    for plugins in ([], [Idle() for _ in range(10)]):
        with agent(algo, plugins) as made:
            made.learn(200)
            counts.append(
                python_calls(lambda made=made: made.learn(600, reset_num_timesteps=False))
            )
    # The ten are called once each when training starts: a function and its wrapper.
    assert 0 <= counts[1] - counts[0] <= 10 * 3


def hooks_asked(function: Callable[[], Any]) -> list[str]:
    """The hooks that are called or whose implementations are looked up while `function` runs."""
    asked: list[str] = []
    call, look_up = pluggy.HookCaller.__call__, Hooks._implementations

    def called(self: Any, **arguments: Any) -> Any:
        asked.append(self.name)
        return call(self, **arguments)

    def looked_up(self: Hooks, hook: str) -> Any:
        asked.append(hook)
        return look_up(self, hook)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pluggy.HookCaller, "__call__", called)
        patch.setattr(Hooks, "_implementations", looked_up)
        function()
    return asked


@pytest.mark.parametrize("algo", ["dqn", "ppo2"])
def test_a_training_of_four_times_the_steps_asks_no_more_hooks(algo: str) -> None:
    asked = {}
    for timesteps in (500, 2000):
        with agent(algo, [Idle()]) as made:
            asked[timesteps] = hooks_asked(lambda made=made, n=timesteps: made.learn(n))
            iterations = made.run.clock.iterations
    assert iterations >= 20
    assert asked[500] == asked[2000]


def test_a_hook_that_is_asked_in_every_step_is_noticed() -> None:
    class Asks:
        @hookimpl
        def rlk_step(self, run: Any) -> None:
            run.hooks.all("rlk_check_plan", plan=run.plan)

    with agent("dqn", [Asks()]) as made:
        assert hooks_asked(lambda: made.learn(8)).count("rlk_check_plan") == 8


def test_a_step_listener_is_called_once_per_vector_step_and_others_pay_nothing() -> None:
    seen = []

    class Listens:
        @hookimpl
        def rlk_step(self, run: Any, step: Any) -> None:
            seen.append(run.timesteps)

    with rlk.make("ppo2", seed=0, n_envs=2, n_steps=16, plugins=[Listens()]) as made:
        made.learn(64)
    assert seen == list(range(2, 65, 2))


def test_the_command_line_starts_and_describes_every_component_without_torch() -> None:
    script = (
        "import sys\n"
        "from rlk.registry.kernel import Kernel\n"
        "from rlk_cli.main import main\n"
        "heavy = lambda: {'torch', 'mpi4py', 'matplotlib', 'gymnasium'} & set(sys.modules)\n"
        f"for arguments in {STARTS!r}:\n"
        "    try:\n"
        "        main(arguments)\n"
        "    except SystemExit as end:\n"
        "        assert not end.code, end.code\n"
        "    assert not heavy(), (arguments, heavy())\n"
        "seen = [e.component().name for registry in Kernel().registries for e in registry]\n"
        "assert len(seen) > 15, seen\n"
        "assert not heavy(), heavy()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
