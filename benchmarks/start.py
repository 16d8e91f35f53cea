"""Time the start of the command line with many distributions installed.

`python benchmarks/start.py [--distributions 100] [--repetitions 20]` makes so many distributions in
a temporary folder (metadata and a module that has a component and its factory; nothing is
installed, and the user's caches are left alone) and runs `rlk --help` and `rlk plugins list` with
them in turn with a bare interpreter. It prints the median of the wall clock and of the processor
time, which says more on a machine that others use.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from arguments import positive

RLK = str(Path(sys.executable).with_name("rlk"))
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "rlk --help": [RLK, "--help"],
    "rlk plugins list": [RLK, "plugins", "list"],
}
METADATA = "Metadata-Version: 2.4\nName: {dist}\nVersion: 0.1.0\nSummary: Made to be listed.\n"
MODULE = '''"""A callback that does nothing."""

import attrs

from rlk.component import Component
from rlk.settings import setting


@attrs.frozen(kw_only=True)
class Config:
    every: int = attrs.field(default=1, **setting("timesteps between two of them"))


class Fake:
    """Listens to nothing."""

    def __init__(self, config):
        self.config = config


component = Component(
    name="{name}", factory="{module}:Fake", config=Config, summary="Made to be listed."
)
'''


def make_distributions(folder: Path, count: int) -> None:
    """Write so many distributions, each with one callback."""
    for number in range(count):
        name, dist, module = f"fake-{number}", f"rlk-fake-{number}", f"rlk_fake_{number}"
        (folder / f"{module}.py").write_text(MODULE.format(name=name, module=module))
        info = folder / f"{module}-0.1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(METADATA.format(dist=dist))
        (info / "RECORD").write_text(f"{module}.py,,\n")
        points = f"[rlk.callbacks]\n{name} = {module}:component\n"
        (info / "entry_points.txt").write_text(points)


def measure(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Seconds by the clock and seconds of processor time that one process took."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--distributions", type=positive, default=100, help="how many are made")
    parser.add_argument("--repetitions", type=positive, default=20)
    arguments = parser.parse_args()
    rows: dict[str, list[tuple[float, float]]] = {name: [] for name in COMMANDS}
    with tempfile.TemporaryDirectory() as folder:
        make_distributions(Path(folder), arguments.distributions)
        cache = {"PYTHONPYCACHEPREFIX": f"{folder}/modules", "XDG_CACHE_HOME": f"{folder}/rows"}
        environment = {**os.environ, "PYTHONPATH": folder, **cache}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # users have compiled modules
        for command in COMMANDS.values():
            measure(command, environment)  # modules are compiled, files are in memory
        for _ in range(arguments.repetitions):
            for name, command in COMMANDS.items():
                rows[name].append(measure(command, environment))
    for name, times in rows.items():
        wall, processor = (1000 * statistics.median(column) for column in zip(*times, strict=True))
        print(f"{name:<18}{wall:7.0f} ms, {processor:.0f} ms of processor time")


if __name__ == "__main__":
    main()
