"""Which file a place means."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlk_model_files.locate import checkpoints, find


def touch(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"")


def test_a_run_folder_means_its_last_model_and_else_its_newest_checkpoint(tmp_path: Path) -> None:
    touch(tmp_path, "checkpoints/900.zip", "checkpoints/1000.zip", "checkpoints/notes.zip")
    assert find(tmp_path, ".zip") == tmp_path / "checkpoints" / "1000.zip"
    touch(tmp_path, "model.zip", "best_model.zip")
    assert find(tmp_path, ".zip") == tmp_path / "model.zip"
    assert find(tmp_path, ".zip", best=True) == tmp_path / "best_model.zip"
    assert find(tmp_path, ".other") is None


def test_the_folder_of_checkpoints_means_the_newest_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "checkpoints"  # a run may be called so, too
    touch(run, "model.zip", "checkpoints/900.zip", "checkpoints/1000.zip", "checkpoints/x.zip")
    inside = run / "checkpoints"
    assert find(inside, ".zip") == find(inside, ".zip", best=True) == inside / "1000.zip"
    assert checkpoints(inside, ".zip") == checkpoints(run, ".zip")
    assert find(run, ".zip") == run / "model.zip"
    monkeypatch.chdir(inside)
    assert find(Path(), ".zip") == Path("1000.zip")


def test_without_a_best_model_the_last_is_meant(tmp_path: Path) -> None:
    touch(tmp_path, "model.zip")
    assert find(tmp_path, ".zip", best=True) == tmp_path / "model.zip"


def test_the_folder_one_is_in_is_a_place_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    touch(tmp_path, "model.zip")
    monkeypatch.chdir(tmp_path)
    assert find(Path(), ".zip") == Path("model.zip")


def test_a_file_means_itself_and_its_suffix_may_be_left_out(tmp_path: Path) -> None:
    touch(tmp_path, "cartpole.zip", "v1.2.json.gz")
    assert find(tmp_path / "cartpole.zip", ".zip") == tmp_path / "cartpole.zip"
    assert find(tmp_path / "cartpole", ".zip") == tmp_path / "cartpole.zip"
    assert find(tmp_path / "v1.2", ".json.gz") == tmp_path / "v1.2.json.gz"


def test_a_folder_without_a_model_hides_no_model_of_its_name(tmp_path: Path) -> None:
    touch(tmp_path, "cartpole.zip", "cartpole/events.log")
    assert find(tmp_path / "cartpole", ".zip") == tmp_path / "cartpole.zip"
    touch(tmp_path, "cartpole/model.zip")
    assert find(tmp_path / "cartpole", ".zip") == tmp_path / "cartpole" / "model.zip"


def test_a_file_that_is_there_means_no_other(tmp_path: Path) -> None:
    touch(tmp_path, "plan.json", "plan.json.zip")
    assert find(tmp_path / "plan.json", ".zip") is None


def test_where_there_is_nothing_nothing_is_meant(tmp_path: Path) -> None:
    (tmp_path / "empty.zip").mkdir()
    assert [find(tmp_path / name, ".zip") for name in ("empty.zip", "empty", "none")] == [None] * 3


def test_checkpoints_are_in_the_order_of_their_timesteps(tmp_path: Path) -> None:
    touch(tmp_path, "checkpoints/1000.zip", "checkpoints/900.zip", "checkpoints/.1.zip")
    touch(
        tmp_path, "checkpoints/950.json.gz", "checkpoints/.900.zip.77", "checkpoints/2000.zip.old"
    )
    assert [path.stem for path in checkpoints(tmp_path, ".zip")] == ["900", "1000"]
    both = checkpoints(tmp_path, ".zip", ".json.gz")
    assert [path.name for path in both] == ["900.zip", "950.json.gz", "1000.zip"]
    assert checkpoints(tmp_path, ".zip", ".json.gz", ".gz") == both
    assert checkpoints(tmp_path / "none", ".zip") == []
