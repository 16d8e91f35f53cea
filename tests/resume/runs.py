"""Runs that are killed and resumed: their commands, and how two results are compared."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import torch

from rlk.registry.kernel import default_kernel
from rlk.saving import saved_files
from rlk_testing.tools.forks import ForkServer
from rlk_testing.tools.small_settings import small_settings

#: Timesteps of the checkpoint; a run is twice as long.
N = 448
#: Seconds that a process may take, on a busy machine.
PATIENCE = 240
UNTIL = Path(__file__).with_name("until.py")
KERNEL = default_kernel()
INSTALLED = {entry.name for entries in KERNEL.registries for entry in entries}
ENVIRONMENTS = {"CartPole-v1": "Discrete", "Pendulum-v1": "Box"}


@attrs.frozen
class Case:
    """One kind of run.

    Attributes:
        needs: components that must be installed, the algorithm aside.
        more_arguments: further arguments of `rlk run`. again: of `rlk resume`, what no file may
            choose. In both, OUT stands for the run's folder.
    """

    algo: str
    env: str
    needs: tuple[str, ...] = ()
    more_arguments: tuple[str, ...] = ()
    again: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "-".join([self.algo, self.env.rpartition("/")[2], *self.needs])

    @property
    def is_installed(self) -> bool:
        return {self.algo, *self.needs} <= INSTALLED

    def arguments(self, out: Path) -> list[str]:
        """Arguments of `rlk` for a run of 2N timesteps with checkpoints at N and 2N."""
        config = KERNEL.registries.algorithms.get(self.algo).component().config
        small = [f"{key}={value}" for key, value in small_settings(config).items()]
        pairs = ["n_threads=1", "policy.layers=[16]", *small]
        return [
            *("run", "--algo", self.algo, "--env", self.env, "--preset", "none", "--seed", "4"),
            *("--n-envs", "2", "--timesteps", str(2 * N), "--log-interval", "2"),
            *("--plugin", f"checkpoint:every={N}", "--out", str(out)),
            *(word for pair in pairs for word in ("--set", pair)),
            *_in_folder(self.more_arguments, out),
        ]

    def resumed(self, out: Path) -> list[str]:
        """Arguments of `rlk` to resume that run."""
        return ["resume", str(out), "--timesteps", str(2 * N), *_in_folder(self.again, out)]


def _in_folder(arguments: tuple[str, ...], out: Path) -> list[str]:
    return [argument.replace("OUT", str(out)) for argument in arguments]


def stepping() -> list[Any]:
    """The entries of algorithms that step environments; others have tests of their own."""
    entries = list(KERNEL.registries.algorithms)
    return [entry for entry in entries if entry.component().collects != "offline"]


def plain_cases() -> Iterator[Case]:
    """Every installed algorithm that steps environments, on each one with suitable actions."""
    for entry in stepping():
        served = entry.component().action_spaces
        for env, actions in ENVIRONMENTS.items():
            if not served or actions in served:
                yield Case(entry.name, env)


def ended(forks: ForkServer, *arguments: object, cwd: Path) -> str:
    """The output of `rlk`, which must end without an error."""
    with forks.start("-m", "rlk", *arguments, cwd=cwd) as running:
        printed, _ = running.communicate(timeout=PATIENCE)
    assert running.returncode == 0, printed
    return printed


@contextlib.contextmanager
def to_be_killed(
    forks: ForkServer, case: Case, out: Path, timesteps: int
) -> Iterator[Callable[[], int]]:
    """Start a run; what is given kills it where its timesteps have passed this, and says where."""
    reached = out.with_name(f"{out.name}.reached")
    command = (UNTIL, timesteps, reached, *case.arguments(out))

    def killed() -> int:
        deadline = time.monotonic() + PATIENCE
        while not (reached.exists() and reached.read_text()):
            assert running.poll() is None, running.printed()
            assert time.monotonic() < deadline, f"not at {timesteps} timesteps after {PATIENCE} s"
            time.sleep(0.01)
        running.kill()
        assert running.wait(timeout=PATIENCE) == -signal.SIGKILL
        return int(reached.read_text())

    with forks.start(*command, cwd=out.parent) as running:
        try:
            yield killed
        finally:
            running.kill()


def killed(forks: ForkServer, case: Case, out: Path, timesteps: int) -> int:
    """Start a run, and kill it when it has passed so many timesteps; returns where that was."""
    with to_be_killed(forks, case, out, timesteps) as kill:
        return kill()


def state(folder: Path, timesteps: int) -> dict[str, Any]:
    """The content of the checkpoint of that timestep."""
    return saved_files.read(folder / "checkpoints" / f"{timesteps}.zip", KERNEL)


def differences(one: Any, other: Any, at: str = "") -> list[str]:
    """The paths at which two states are not equal bit for bit."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        keys = sorted({*one, *other}, key=str)
        missing = [f"{at}/{key}" for key in keys if key not in one or key not in other]
        both = [key for key in keys if key in one and key in other]
        return missing + [d for k in both for d in differences(one[k], other[k], f"{at}/{k}")]
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        if len(one) != len(other):
            return [f"{at}: {len(one)} and {len(other)} entries"]
        pairs = enumerate(zip(one, other, strict=True))
        return [d for i, (a, b) in pairs for d in differences(a, b, f"{at}/{i}")]
    if isinstance(one, (np.ndarray, torch.Tensor)):
        a, b = np.asarray(one), np.asarray(other)
        equal = a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    else:
        equal = type(one) is type(other) and (one == other or (one != one and other != other))
    return [] if equal else [at]
