"""The tables of results in READMEs, and how they are made."""

from __future__ import annotations

import json
from collections import Counter

import attrs
import pytest
from presets import figures
from presets.figures import Figure, digest, keep, reached, row, table

from rlk.registry.kernel import default_kernel
from rlk_presets.promises import Promise, Source, promises
from rlk_presets.zoo import Zoo

SOURCE = Source(zoo="Z2", env="Lander-v2", mean_return=150.0, timesteps=200_000)


def figure(seed, mean_return, settings=None):
    settings = settings or digest("ppo2", "CartPole-v1")
    return Figure(
        algo="ppo2", env="CartPole-v1", seed=seed, mean_return=mean_return, settings=settings
    )


def test_every_table_of_figures_is_up_to_date():
    differing = [path.parent.name for path in figures.drift()]
    assert not differing, "run: python tests/presets/figures.py"


def test_a_seed_of_a_preset_has_one_row_of_figures():
    rows = [json.loads(line) for line in figures.KEPT.read_text(encoding="utf-8").splitlines()]
    counted = Counter((row["algo"], row["env"], row["seed"]) for row in rows)
    repeated = [which for which, count in counted.items() if count > 1]
    assert not repeated, "delete all but the last row of each in figures.jsonl"


INSTALLED = default_kernel().registries.algorithms
PROMISING = [algo for algo in Zoo().algorithms() if promises(algo) and algo in INSTALLED]


@pytest.mark.parametrize("algo", PROMISING)
def test_every_algorithm_whose_presets_are_promises_has_a_table(algo):
    readme = figures.ROOT / "plugins" / "algorithms" / algo / "README.md"
    assert f"<!-- presets: {algo} -->" in readme.read_text(encoding="utf-8")


def test_the_last_figure_of_a_seed_counts(tmp_path):
    path = tmp_path / "figures.jsonl"
    for one in (figure(1, 400.0), figure(2, 499.0), figure(1, 500.0)):
        keep(one, path)
    assert reached("ppo2", path) == {"CartPole-v1": {1: 500.0, 2: 499.0}}
    assert reached("trpo", path) == {}


def test_figures_of_other_settings_do_not_count(tmp_path, monkeypatch):
    path = tmp_path / "figures.jsonl"
    keep(figure(1, 500.0), path)
    assert "| CartPole-v1 | 100k | 500.0 |  |  |  | 500.0 (Z2) |" in table("ppo2", path)
    assert "CartPole-v1" not in table("ppo2", path).split("Not run: ")[1]
    changed = {"CartPole-v1": {**Zoo().tables("ppo2")["CartPole-v1"], "gamma": 0.5}}
    monkeypatch.setattr(Zoo, "tables", lambda self, algo: changed)
    assert reached("ppo2", path) == {}


def test_presets_without_figures_are_named(tmp_path):
    path = tmp_path / "figures.jsonl"
    path.touch()
    assert table("ppo1", path) == "Not run: `CartPole-v1` (100k timesteps)."
    assert "`ALE/*-v5` (10M timesteps)" in table("acer", path)  # which promises nothing


def test_what_is_promised_changes_no_settings(monkeypatch):
    before, promised = digest("ppo2", "CartPole-v1"), dict(Zoo().tables("ppo2")["CartPole-v1"])
    promised["least"] = 17.0
    monkeypatch.setattr(Zoo, "tables", lambda self, algo: {"CartPole-v1": promised})
    assert digest("ppo2", "CartPole-v1") == before


def test_a_row_has_all_seeds_their_mean_and_the_source():
    promise = Promise(source=SOURCE, timesteps=1_200_000)
    assert row("Lander-v3", promise, {1: 120.0, 2: 135.0, 3: 150.0}) == (
        *("Lander-v3", "1.2M", "120.0", "135.0", "150.0", "**135.0**"),
        "150.0 (Z2, Lander-v2, 200k)",
    )
    assert row("Lander-v3", promise, {1: 120.0, 2: 134.0, 3: 150.0})[5] == "134.7"
    assert row("Lander-v3", promise, {1: 120.0, 2: 135.0})[4:6] == ("", "")


def test_a_row_says_what_is_promised_in_place_of_nine_tenths():
    promise = Promise(source=SOURCE, timesteps=20_000, stated=100.0)
    cells = row("Lander-v3", promise, {1: 100.0, 2: 100.0, 3: 100.0})
    assert cells[1] == "20k" and cells[5] == "**100.0**"
    assert cells[6] == "150.0 (Z2, Lander-v2, 200k; promised is 100.0)"


def test_no_mean_is_bold_where_nothing_is_promised():
    promise = Promise(source=Source(zoo="Z2"), timesteps=20_000)
    cells = row("Lander-v3", promise, {1: 100.0, 2: 110.0, 3: 120.0})
    assert cells[5:] == ("110.0", "Z2")


def test_success_rates_are_told_in_per_cent():
    source = Source(zoo="HER")
    promise = Promise(source=source, timesteps=20_000, stated=0.95, measure="success_rate")
    assert row("Flipping-v0", promise, {1: 0.99, 2: 1.0, 3: 0.875})[2:] == (
        *("99.0%", "100.0%", "87.5%", "**95.5%**", "HER; promised is 95.0%"),
    )


def test_a_figure_is_what_its_preset_promises(tmp_path, monkeypatch):
    path = tmp_path / "figures.jsonl"
    of_returns = figure(1, 400.0)
    of_successes = Figure(**{**attrs.asdict(of_returns), "mean_return": None, "success_rate": 0.5})
    keep(of_returns, path)
    assert "success_rate" not in path.read_text()
    assert reached("ppo2", path) == {"CartPole-v1": {1: 400.0}}
    changed = {"CartPole-v1": {**Zoo().tables("ppo2")["CartPole-v1"], "measure": "success_rate"}}
    monkeypatch.setattr(Zoo, "tables", lambda self, algo: changed)
    assert reached("ppo2", path) == {}
    keep(of_successes, path)
    assert reached("ppo2", path) == {"CartPole-v1": {1: 0.5}}
