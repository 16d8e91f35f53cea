"""The pytest plugin: it has fixtures, and it deselects checks that do not apply.

It is loaded whenever pytest starts, so it imports nothing heavy.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rlk_testing.contracts.shared.applies import is_applicable, questions

if TYPE_CHECKING:
    from rlk.agent import Agent
    from rlk.registry.kernel import Kernel
    from rlk_testing.tools.command_line import Terminal
    from rlk_testing.tools.forks import ForkServer

# So that a failing assertion in the suites shows the values that it compared.
pytest.register_assert_rewrite("rlk_testing")

#: Modules that the fork server imports, so that no program in a fork has to.
_FORKED = ("torch", "gymnasium", "rlk.making", "rlk_cli.main", "rlk_testing.tools.preload")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects the checks of contract suites that do not apply to the suite's component."""
    kept, left_out = list[pytest.Item](), list[pytest.Item]()
    for item in items:
        (kept if _applies(item) else left_out).append(item)
    if left_out:
        items[:] = kept
        config.hook.pytest_deselected(items=left_out)


def _applies(item: pytest.Item) -> bool:
    suite, check = getattr(item, "cls", None), getattr(item, "function", None)
    if suite is None or not questions(check):
        return True
    return is_applicable(suite(), check)


@pytest.fixture
def rlk_kernel() -> Kernel:
    """A kernel of the test's own, with everything that is installed."""
    from rlk.registry.kernel import Kernel

    return Kernel()


@pytest.fixture
def rlk_empty_kernel() -> Kernel:
    """A kernel with nothing in it."""
    from rlk.registry.kernel import Kernel

    return Kernel(discover=False)


@pytest.fixture
def rlk_stand_in_kernel() -> Kernel:
    """A kernel with the smallest component of every kind that a run needs (`stand_ins`)."""
    from rlk_testing.stand_ins import stand_in_kernel

    return stand_in_kernel()


@pytest.fixture
def rlk_make() -> Iterator[Callable[..., Agent]]:
    """`rlk.make` on one thread; every agent it made is closed when the test ends."""
    with making_agents() as made:
        yield made


@contextlib.contextmanager
def making_agents() -> Iterator[Callable[..., Agent]]:
    """`rlk.make` on one thread; every agent it made is closed at the end."""
    from rlk.making import make

    with contextlib.ExitStack() as agents:

        def made(algo: str, **settings: Any) -> Agent:
            return agents.enter_context(make(algo, **{"n_threads": 1, **settings}))

        yield made


@pytest.fixture
def rlk_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Terminal:
    """Runs a command line in a folder of the test's own, and returns how it ended."""
    from rlk_testing.tools.command_line import Ended, ended

    monkeypatch.chdir(tmp_path)

    def typed(*arguments: object) -> Ended:
        code = ended(*arguments)
        printed = capsys.readouterr()
        return Ended(code, printed.out, printed.err)

    return typed


@pytest.fixture
def rlk_one_thread() -> Iterator[None]:
    """Torch computes on one thread; afterwards, on as many as before, whatever the test has set."""
    from rlk_testing.tools.torch_threads import one_thread

    with one_thread():
        yield


@pytest.fixture(scope="session")
def rlk_forks() -> Iterator[ForkServer]:
    """Starts programs in forks of a Python process that has imported torch (`tools/forks.py`)."""
    from rlk_testing.tools.forks import ForkServer

    if not hasattr(os, "fork"):
        pytest.skip("this system cannot fork a process")
    with contextlib.closing(ForkServer(_FORKED)) as server:
        yield server


@pytest.fixture(scope="session")
def rlk_gpu() -> None:
    """Skips a test, which is marked `gpu`, where torch finds no GPU."""
    import torch

    if not torch.cuda.is_available():
        pytest.skip("torch finds no GPU here")


@pytest.fixture(scope="session")
def rlk_expert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of expert data: three steps in `environments.DiscreteMatch` with the right actions."""
    import numpy as np

    path = tmp_path_factory.mktemp("expert") / "expert.npz"
    np.savez(
        path,
        obs=np.eye(3, dtype=np.float32),
        actions=np.array([[1], [2], [3]]),
        episode_starts=np.array([True, False, False]),
        episode_returns=np.array([3.0]),
    )
    return path


@pytest.fixture
def rlk_verdict(tmp_path_factory: Any) -> Callable[..., str]:
    """rlk_verdict(suite, check): the result of one check of a contract suite.

    That is "passed", "skipped", "does not apply", or "failed: " and the message of an assertion or
    of `BrokenPlugin`, which is what rlk says of a broken component. Any other error is "error: "
    with its class and message.
    """
    from rlk.errors import BrokenPlugin

    def judge(suite: type, check: str) -> str:
        method = getattr(suite(), check)
        if not is_applicable(suite(), method):
            return "does not apply"
        marks = [mark for mark in getattr(method, "pytestmark", []) if mark.name == "parametrize"]
        columns = [[{mark.args[0]: value} for value in mark.args[1]] for mark in marks]
        for chosen in itertools.product(*columns):
            arguments = {key: value for part in chosen for key, value in part.items()}
            if "tmp_path" in inspect.signature(method).parameters:
                arguments["tmp_path"] = tmp_path_factory.mktemp("check")
            try:
                method(**arguments)
            except pytest.skip.Exception:
                return "skipped"
            except (AssertionError, pytest.fail.Exception, BrokenPlugin) as failure:
                return f"failed: {failure}"
            except Exception as error:
                return f"error: {type(error).__name__}: {error}"
        return "passed"

    return judge


@pytest.fixture
def rlk_fails(rlk_verdict: Callable[..., str]) -> Callable[..., None]:
    """rlk_fails(contract, good, broken, check): asserts that only `good` passes the check.

    The broken one has to fail the check's own assertion, or be refused as a `BrokenPlugin`. If it
    raises another error before that, give its class and the beginning of its message as `error`, as
    in "IndexError: list index"; without that, the broken one may be broken in another way than it
    was meant to be.
    """

    def judge(
        contract: type, good: Any, broken: Any, check: str, error: str = "", **fields: Any
    ) -> None:
        suites = [type("Suite", (contract,), {"component": c, **fields}) for c in (good, broken)]
        assert rlk_verdict(suites[0], check) == "passed"
        found = rlk_verdict(suites[1], check)
        wanted = f"error: {error}" if error else "failed: "
        assert found.startswith(wanted), f"the broken one: {found}"

    return judge
