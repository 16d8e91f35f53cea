"""The returns that presets reached, and their tables in READMEs.

`python tests/presets/figures.py [--check]` writes what stands between `<!-- presets: ALGO -->` and
`<!-- /presets -->` in every README.md of an algorithm, from `figures.jsonl` beside this file.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from textwrap import fill

import attrs

from rlk_presets.promises import Promise, promises
from rlk_presets.zoo import Zoo
from rlk_scaffold.markers import filled

ROOT = Path(__file__).resolve().parents[2]
KEPT = Path(__file__).with_name("figures.jsonl")
SEEDS = (1, 2, 3)
HEAD = ("environment", "timesteps", *(f"seed {seed}" for seed in SEEDS), "mean", "source")


@attrs.frozen(kw_only=True)
class Figure:
    """The result of one training: that of its last model, in deterministic episodes.

    Attributes:
        mean_return, success_rate: what the preset promises, one of them.
        settings: those of the preset, as `digest` returns them.
    """

    algo: str
    env: str
    seed: int
    settings: str
    mean_return: float | None = None
    success_rate: float | None = None


def digest(algo: str, env: str) -> str:
    """Eight letters that change with the settings of a preset, but not with its promise."""
    text = json.dumps(Zoo().entries(algo)[env], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def keep(figure: Figure, path: Path = KEPT) -> None:
    """Append a line: several processes may write at the same time."""
    with path.open("a", encoding="utf-8") as lines:
        said = attrs.asdict(figure, filter=lambda _, value: value is not None)
        lines.write(json.dumps(said) + "\n")


def reached(algo: str, path: Path = KEPT) -> dict[str, dict[int, float]]:
    """Environment -> random seed -> the result, for the settings that presets have today."""
    promised = promises(algo)
    found: dict[str, dict[int, float]] = defaultdict(dict)
    for line in path.read_text(encoding="utf-8").splitlines():
        figure = Figure(**json.loads(line))
        if figure.algo != algo or figure.env not in promised:
            continue
        value = getattr(figure, promised[figure.env].measure)
        if value is not None and figure.settings == digest(algo, figure.env):
            found[figure.env][figure.seed] = value
    return found


# ---- tables --------------------------------------------------------------------------------------


def table(algo: str, path: Path = KEPT) -> str:
    """A row for every preset with figures; the others are named below it."""
    rows, waiting, figures = [HEAD, ("---",) * len(HEAD)], [], reached(algo, path)
    for env, promise in promises(algo).items():
        if env in figures:
            rows.append(row(env, promise, figures[env]))
        else:
            waiting.append(f"`{env}` ({in_short(promise.timesteps)} timesteps)")
    lines = [f"| {' | '.join(cells)} |" for cells in rows] if len(rows) > 2 else []
    if waiting:
        lines += ["", fill(f"Not run: {', '.join(waiting)}.", 120, break_on_hyphens=False)]
    return "\n".join(lines).strip()


def row(env: str, promise: Promise, figures: dict[int, float]) -> tuple[str, ...]:
    """Cells in the order of `HEAD`; the mean is bold where all seeds ran and keep a promise."""
    cells = [cell(promise, figures[seed]) if seed in figures else "" for seed in SEEDS]
    average = ""
    if figures.keys() >= set(SEEDS):
        value = mean(figures[seed] for seed in SEEDS)
        kept = promise.least is not None and value >= promise.least
        average = f"**{cell(promise, value)}**" if kept else cell(promise, value)
    return (env, in_short(promise.timesteps), *cells, average, source(promise))


def cell(promise: Promise, value: float) -> str:
    """A mean return, or a success rate in per cent."""
    return f"{value:.1%}" if promise.measure == "success_rate" else in_tenths(value)


def in_tenths(mean_return: float) -> str:
    """-121.3, 0.94: hundredths only where the return is below ten."""
    return f"{mean_return:.1f}" if abs(mean_return) >= 10 else f"{mean_return:.2f}"


def source(promise: Promise) -> str:
    """The result of the source, how it differs, and what is promised instead."""
    about, found = promise.source, promise.source.mean_return
    remarks = [about.zoo, about.env, in_short(about.timesteps) if about.timesteps else None]
    text = ", ".join(filter(None, remarks))
    if promise.stated is not None:
        text += f"; promised is {cell(promise, promise.stated)}"
    return text if found is None else f"{in_tenths(found)} ({text})"


def in_short(timesteps: int) -> str:
    """20k, 1M, 1.2M."""
    return f"{timesteps / 1e6:g}M" if timesteps >= 1_000_000 else f"{timesteps / 1e3:g}k"


def drift() -> dict[Path, str]:
    """README.md -> the text that it must have, of those that have another."""
    paths = sorted(ROOT.glob("plugins/*/*/README.md"))
    texts = {path: path.read_text(encoding="utf-8") for path in paths}
    expected = {path: filled(text, "presets", table) for path, text in texts.items()}
    return {path: text for path, text in expected.items() if text != texts[path]}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 1 if a table is out of date (with `--check`)."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; say what differs")
    check, differing = parser.parse_args(arguments).check, drift()
    for path, text in differing.items():
        if not check:
            path.write_text(text, encoding="utf-8")
        print(f"{'out of date:' if check else 'wrote'} {path.relative_to(ROOT).as_posix()}")
    return int(check and bool(differing))


if __name__ == "__main__":
    raise SystemExit(main())
