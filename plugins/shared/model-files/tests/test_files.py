"""A serializer that builds on an open file, and what happens when writing or reading fails."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import IO, Any

import pytest

from rlk.errors import BadFile, RlkError
from rlk_model_files.serializer import FileSerializer


class Json(FileSerializer):
    suffix = ".json"

    def write_to(self, file: IO[bytes], state: dict[str, Any]) -> None:
        file.write(json.dumps(state).encode())

    def read_from(self, file: IO[bytes]) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.load(file)
        except ValueError:
            raise BadFile("this is not JSON.") from None
        return found


class NamesTheFile(Json):
    def read_from(self, file: IO[bytes]) -> dict[str, Any]:
        raise BadFile(f"{file.name} is not JSON.")


class BreaksHalfway(Json):
    def write_to(self, file: IO[bytes], state: dict[str, Any]) -> None:
        file.write(b"half of it")
        file.flush()
        raise OSError(28, "no space left on device")


STATE = {"manifest": {"x": 1}, "numbers": [1, 2]}


def test_the_serializer_of_the_readme_refuses_what_is_damaged(tmp_path: Path) -> None:
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    exec(readme.partition("```python\n")[2].partition("```")[0], names)
    serializer, path = names["JsonSerializer"](), tmp_path / "model.json"
    serializer.write(path, STATE)
    assert serializer.read(path) == STATE
    path.write_text("hello")
    with pytest.raises(BadFile, match=r"model\.json: it is not JSON: Expecting value"):
        serializer.read(path)


def test_what_was_written_is_read_and_found(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    Json().write(path, STATE)
    assert Json().read(path) == STATE
    assert Json().manifest(path) == {"x": 1}
    assert Json().find(tmp_path / "model") == Json().find(tmp_path) == path


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    Json().write(path, STATE)
    with pytest.raises(OSError, match="no space"):
        BreaksHalfway().write(path, {})
    assert Json().read(path) == STATE
    assert os.listdir(tmp_path) == ["model.json"]


def test_a_first_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no space"):
        BreaksHalfway().write(tmp_path / "model.json", STATE)
    assert os.listdir(tmp_path) == []


def test_until_all_is_written_the_old_file_is_there(tmp_path: Path) -> None:
    path, seen = tmp_path / "model.json", []

    class Looks(Json):
        def write_to(self, file: IO[bytes], state: dict[str, Any]) -> None:
            super().write_to(file, state)
            seen.append(Json().read(path))

    Json().write(path, STATE)
    Looks().write(path, {"manifest": {}})
    assert seen == [STATE] and Json().read(path) == {"manifest": {}}


def test_the_folder_is_made_and_the_file_can_be_read_by_others(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "model.json"
    Json().write(path, STATE)
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_folder_is_no_place_for_a_file(tmp_path: Path) -> None:
    with pytest.raises(RlkError, match="it is a folder"):
        Json().write(tmp_path, STATE)
    assert os.listdir(tmp_path) == []


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"cannot read .*none\.json: No such file"):
        Json().read(tmp_path / "none.json")


def test_a_folder_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"cannot read .*: Is a directory"):
        Json().read(tmp_path)


@pytest.mark.parametrize("read", [Json().read, Json().manifest])
def test_a_bad_file_is_refused_by_its_name(tmp_path: Path, read: Any) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(b"hello")
    with pytest.raises(BadFile, match=r"model\.json: this is not JSON"):
        read(path)


def test_a_message_names_the_file_once(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text("not json")
    with pytest.raises(BadFile) as told:
        NamesTheFile().read(path)
    assert str(told.value) == f"{path} is not JSON."


def test_a_file_without_a_manifest_has_an_empty_one(tmp_path: Path) -> None:
    Json().write(tmp_path / "a.json", {"numbers": [1, 2]})
    assert Json().manifest(tmp_path / "a.json") == {}
