"""Films: whole ones under their name, or none."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from rlk.errors import RlkError
from rlk_films import film, remove_unfinished_films
from rlk_films.writer import mp4_is_there

mp4 = pytest.mark.skipif(not mp4_is_there(), reason="imageio-ffmpeg is not installed")


def frames(n: int, height: int = 33, width: int = 47) -> list[np.ndarray]:
    return [np.full((height, width, 3), 20 * i, np.uint8) for i in range(n)]


def test_a_gif_has_every_frame(tmp_path: Path) -> None:
    path = tmp_path / "a.gif"
    with film(path, fps=10) as writer:
        for frame in frames(5):
            writer.add(frame)
    with Image.open(path) as image:
        assert (image.n_frames, image.size, image.info["duration"]) == (5, (47, 33), 100)
        assert image.info["loop"] == 0, "for ever"


def test_a_gif_shows_no_frame_for_less_time_than_browsers_accept(tmp_path: Path) -> None:
    with film(tmp_path / "a.gif", fps=100) as writer:
        for frame in frames(2):
            writer.add(frame)
    with Image.open(tmp_path / "a.gif") as image:
        assert image.info["duration"] == 20


@pytest.mark.parametrize(("fps", "seconds"), [(30, 0.4), (24, 0.5), (45, 0.27), (7.5, 1.6)])
def test_a_gif_takes_as_long_as_its_frames_per_second_say(
    tmp_path: Path, fps: float, seconds: float
) -> None:
    """A frame is shown for whole hundredths of a second, which are not all equal."""
    with film(tmp_path / "a.gif", fps=fps) as writer:
        for frame in frames(12):
            writer.add(frame)
    with Image.open(tmp_path / "a.gif") as image:
        shown = [image.seek(number) or image.info["duration"] for number in range(image.n_frames)]
    assert len(shown) == 12 and sum(shown) == pytest.approx(1000 * seconds)
    assert max(shown) - min(shown) <= 10


@pytest.mark.parametrize("n", [1, 2])
def test_a_gif_of_one_image_is_shown_too(tmp_path: Path, n: int) -> None:
    with film(tmp_path / "a.gif", fps=30) as writer:
        for _ in range(n):
            writer.add(frames(1)[0])
    with Image.open(tmp_path / "a.gif") as image:
        assert (image.n_frames, image.size) == (1, (47, 33))


@mp4
def test_an_mp4_has_every_frame_and_even_sizes(tmp_path: Path) -> None:
    from imageio_ffmpeg import read_frames

    path = tmp_path / "a.mp4"
    with film(path, fps=10) as writer:
        for frame in frames(6):
            writer.add(frame)
        assert not path.exists()  # not yet whole
    read = read_frames(str(path))
    facts = next(read)
    shown = [np.frombuffer(data, np.uint8).reshape(34, 48, 3) for data in read]
    assert (facts["size"], facts["fps"], len(shown)) == ((48, 34), 10.0, 6)
    # The last frame is 100 where the first is 0; black is what was added to its edges.
    assert abs(int(shown[5][16, 20, 0]) - 100) < 8 and shown[0].max() < 8
    top, bottom, left, right = (shown[5][at][0] for at in ((0, 20), (33, 20), (16, 0), (16, 47)))
    assert bottom < 50 < top and right < 50 < left
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["a.gif", "a.mp4"])
def test_a_frame_of_another_size_is_refused(tmp_path: Path, name: str) -> None:
    if name.endswith("mp4") and not mp4_is_there():
        pytest.skip("imageio-ffmpeg is not installed")
    told = r"one is 47 x 34 and the first was 47 x 33"
    with pytest.raises(RlkError, match=told), film(tmp_path / name) as writer:
        writer.add(frames(1)[0])
        writer.add(np.zeros((34, 47, 3), np.uint8))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a.gif", pytest.param("a.mp4", marks=mp4)])
def test_without_a_frame_there_is_no_film(tmp_path: Path, name: str) -> None:
    with film(tmp_path / name):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".gif", pytest.param(".mp4", marks=mp4)])
def test_a_name_too_long_is_refused_before_anything_is_played(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(RlkError, match="cannot be written: File name too long"):
        film(tmp_path / f"{'x' * 252}{suffix}")


@pytest.mark.parametrize("suffix", [".gif", pytest.param(".mp4", marks=mp4)])
def test_the_longest_names_are_written(tmp_path: Path, suffix: str) -> None:
    name = f"{'x' * 251}{suffix}"
    with film(tmp_path / name) as writer:
        writer.add(frames(1)[0])
    assert [path.name for path in tmp_path.iterdir()] == [name]


@mp4
def test_a_film_may_stand_where_a_link_leads(tmp_path: Path) -> None:
    (tmp_path / "films").mkdir()
    (tmp_path / "a.mp4").symlink_to(tmp_path / "films" / "b.mp4")
    with film(tmp_path / "a.mp4") as writer:
        writer.add(frames(1)[0])
    assert (tmp_path / "a.mp4").is_symlink() and (tmp_path / "films" / "b.mp4").is_file()


@mp4
def test_what_fails_leaves_no_film(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), film(tmp_path / "a.mp4") as writer:
        writer.add(frames(1)[0])
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


@mp4
def test_an_unfinished_film_is_removed_by_the_beginning_of_its_name(tmp_path: Path) -> None:
    for name in ("one.mp4", "other.mp4"):
        film(tmp_path / name).add(frames(1)[0])  # and then the process is killed
    (tmp_path / "one.mp4").touch()
    assert len(list(tmp_path.iterdir())) == 3
    remove_unfinished_films(tmp_path, "one")
    other, one = sorted(path.name for path in tmp_path.iterdir())
    assert other.startswith(f".other.mp4.{os.getpid()}-") and one == "one.mp4"


@mp4
def test_two_films_under_one_name_are_written_apart(tmp_path: Path) -> None:
    first, second = film(tmp_path / "a.mp4"), film(tmp_path / "a.mp4")
    for one, n in ((first, 3), (second, 5)):
        for frame in frames(n):
            one.add(frame)
    first.end()
    second.end()
    assert [path.name for path in tmp_path.iterdir()] == ["a.mp4"]


@mp4
def test_an_mp4_that_ffmpeg_could_not_write_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    writer = film(folder / "a.mp4")
    folder.rmdir()
    with pytest.raises(OSError, match=r"a\.mp4"):
        for frame in frames(3):
            writer.add(frame)
        writer.end()


@mp4
def test_an_ffmpeg_that_ends_early_is_told_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a full disk; frames then go into a pipe that nobody reads."""
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", sys.executable)  # which knows none of its options
    ends = pytest.raises(OSError, match=r"ffmpeg ended before")
    with ends as raised, film(tmp_path / "a.mp4") as writer:
        for frame in frames(1) * 1000:
            writer.add(frame)
    told = str(raised.value)
    assert str(tmp_path / "a.mp4") in told and "\n" not in told and "unfinished" not in told
    assert list(tmp_path.iterdir()) == []


@mp4
def test_an_mp4_that_lacks_frames_is_an_error_and_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a full disk."""
    with pytest.raises(OSError, match=r"a\.mp4"), film(tmp_path / "a.mp4") as writer:
        writer.add(frames(1)[0])
        monkeypatch.setattr(writer, "_found", lambda: 0)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_no_place_for_a_film(tmp_path: Path) -> None:
    (tmp_path / "a.gif").mkdir()
    with pytest.raises(RlkError, match="not a regular file"):
        film(tmp_path / "a.gif")


@pytest.mark.parametrize("name", ["a.avi", "a", "nowhere/a.gif"])
def test_a_film_that_cannot_be_written_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(RlkError, match=r"nowhere|gif"):
        film(tmp_path / name)


def test_mp4_says_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rlk_films.writer.mp4_is_there", lambda: False)
    with pytest.raises(RlkError, match=r'pip install "rlk-films\[mp4\]"'):
        film(tmp_path / "a.mp4")
