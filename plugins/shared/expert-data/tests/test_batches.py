"""Order and seeds of batches, and which part of an expert's data is used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlk_expert_data import DataLoader, ExpertDataset, Trajectories, read

ROWS = np.arange(12)


def trajectories(**other: Any) -> dict[str, Any]:
    """Four episodes of three transitions, numbered from 0 on."""
    return {
        "obs": ROWS[:, None].astype(np.float32),
        "actions": ROWS[:, None],
        "rewards": ROWS.astype(float),
        "episode_starts": ROWS % 3 == 0,
        "episode_returns": np.array([3.0, 12.0, 21.0, 30.0]),
        **other,
    }


def dataset(**settings: Any) -> ExpertDataset:
    return ExpertDataset(traj_data=trajectories(), verbose=0, batch_size=2, **settings)


def numbers(loader: Any) -> list[int]:
    """The transitions of a pass, in their order."""
    return [int(number) for _, actions in loader for number in actions.reshape(-1)]


def test_a_shuffled_pass_has_every_transition_once_and_each_pass_another_order() -> None:
    given = np.arange(12)
    loader = DataLoader(given, ROWS, ROWS, 5, shuffle=True, rng=np.random.default_rng(0))
    first, second = numbers(loader), numbers(loader)
    assert sorted(first) == sorted(second) == list(range(12)) and first != second
    assert given.tolist() == list(range(12)), "the caller's own array"


def test_the_returns_of_a_dataset_are_summed_up(capsys: pytest.CaptureFixture[str]) -> None:
    made = ExpertDataset(traj_data=trajectories(), traj_limitation=2)
    assert (made.avg_ret, made.std_ret) == (7.5, 4.5)  # of 3 and 12
    assert "Average returns: 7.5\nStd for returns: 4.5\n" in capsys.readouterr().out


def test_a_loop_that_was_left_begins_anew() -> None:
    loader = DataLoader(ROWS, ROWS, ROWS, 5)
    for _ in loader:
        break
    assert numbers(loader) == list(range(12))


def test_batches_are_in_the_order_of_the_data_unless_they_are_randomized() -> None:
    ordered = dataset(randomize=False, seed=0)
    ordered.init_dataloader(5)
    assert [numbers(ordered.dataloader) for _ in range(2)] == [list(range(12))] * 2
    randomized = dataset(seed=0)
    randomized.init_dataloader(5)
    assert numbers(randomized.dataloader) != list(range(12))


def test_a_seed_determines_the_parts_and_the_order() -> None:
    def drawn(seed: int) -> list[list[int]]:
        made = dataset(seed=seed)
        made.init_dataloader(5)
        loaders = made.train_loader, made.val_loader, made.dataloader
        return [numbers(loader) for loader in loaders]

    first, again, other = drawn(0), drawn(0), drawn(1)
    assert first == again
    # Sorted, they are the parts; of all transitions, only the order depends on the seed.
    assert sorted(first[0]) != sorted(other[0]) and first[2] != other[2]


@pytest.mark.parametrize("episodes", [1, 3, 4])
def test_the_first_trajectories_are_used_with_all_that_belongs_to_them(episodes: int) -> None:
    found = Trajectories.of(trajectories()).limited(episodes)
    assert found.reward is not None
    for array in (found.action, found.observation, found.reward):
        assert array.reshape(-1).tolist() == list(range(3 * episodes))
    assert found.returns.tolist() == [3.0, 12.0, 21.0, 30.0][:episodes]
    assert found.episode_start.tolist() == [True, False, False] * episodes


def test_the_first_trajectories_of_images_in_files_are_used(tmp_path: Path) -> None:
    names = np.array([f"{number}.png" for number in ROWS])
    np.savez(tmp_path / "expert", **trajectories(obs=names))
    assert read(tmp_path / "expert", 1).observation.tolist() == ["0.png", "1.png", "2.png"]


@pytest.mark.parametrize("folder", ["images", "data/images"])
def test_images_are_found_beside_the_file_or_from_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    monkeypatch.chdir(tmp_path)
    images = Path("data", "images")
    images.mkdir(parents=True)
    (images / "0.png").touch()
    np.savez("data/expert", **trajectories(obs=np.array([f"{folder}/0.png"] * 12)))
    assert set(read("data/expert").observation.tolist()) == {str(images / "0.png")}
