"""Loggers of Stable-Baselines3: what callbacks find in them, and their output formats."""

from __future__ import annotations

import io
from collections import deque
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import PIL.Image
import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from rlk.errors import PlanError
from rlk_sb3 import PPO
from rlk_sb3.common.callbacks import BaseCallback
from rlk_sb3.common.logger import (
    FormatUnsupportedError,
    HumanOutputFormat,
    KVWriter,
    Logger,
    TensorBoardOutputFormat,
    Video,
    filter_excluded_keys,
)


class Rows(KVWriter):
    """Keeps rows."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    def write(self, key_values: dict[str, Any], key_excluded: Any, step: int = 0) -> None:
        self.rows.append({**key_values, "step": step})


def small(counting: Any, **settings: Any) -> PPO:
    settings = {"n_steps": 8, "batch_size": 8, "n_epochs": 1, **settings}
    return PPO("MlpPolicy", counting(), policy_kwargs={"net_arch": [4]}, **settings)


def test_callbacks_find_the_numbers_of_the_latest_update(counting: Any) -> None:
    class Seeing(BaseCallback):
        def __init__(self) -> None:
            super().__init__()
            self.seen: list[Any] = []

        def _on_step(self) -> bool:
            return True

        def _on_rollout_end(self) -> None:
            self.seen.append(self.logger.name_to_value.get("train/loss"))

    model, seeing, kept = small(counting), Seeing(), Rows()
    model.set_logger(Logger(None, [kept]))
    model.learn(24, callback=seeing)
    losses = [row["train/loss"] for row in kept.rows]
    assert seeing.seen == [None, *losses[:2]]
    assert model.logger.name_to_value["train/loss"] == losses[2]


def test_numbers_that_were_written_are_not_written_again(counting: Any) -> None:
    class Writing(BaseCallback):
        def _on_step(self) -> bool:
            if self.num_timesteps == 12:
                self.logger.record("mine", 1.0)
                self.logger.dump(self.num_timesteps)
            return True

    model, kept = small(counting), Rows()
    model.set_logger(Logger(None, [kept]))
    model.learn(16, callback=Writing())
    assert [row["step"] for row in kept.rows] == [8, 12, 16]
    assert kept.rows[1] == {"mine": 1.0, "step": 12}
    logger = Logger(None, [kept])
    logger.keep({"a": 5.0})
    logger.record_mean("a", 1.0)
    logger.dump(3)
    assert kept.rows[-1] == {"a": 1.0, "step": 3}


def test_a_mean_has_the_values_since_the_last_row_and_leaves_the_formats_named() -> None:
    excluded: list[dict[str, Any]] = []

    class Noted(Rows):
        def write(self, key_values: dict[str, Any], key_excluded: Any, step: int = 0) -> None:
            excluded.append(key_excluded)
            super().write(key_values, key_excluded, step)

    rows = Noted()
    logger = Logger(None, [rows])
    for value in (1.0, 2.0, None, 6.0):
        logger.record_mean("m", value, exclude="csv")
    logger.record("n", 7, exclude=("csv", "log"))
    logger.dump(3)
    logger.record_mean("m", 5.0)
    logger.dump(4)
    assert rows.rows == [{"m": 3.0, "n": 7, "step": 3}, {"m": 5.0, "step": 4}]
    assert excluded == [{"m": ("csv",), "n": ("csv", "log")}, {"m": ()}]


def test_text_goes_to_tensorboard(tmp_path: Path) -> None:
    logger = Logger(None, [TensorBoardOutputFormat(tmp_path)])
    logger.record("recorded", "a text")
    logger.dump(1)
    logger.output_formats[0].writer.add_text("direct", "another", 2)
    logger.output_formats[0].writer.flush()
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    found = {tag: events.Tensors(tag)[0] for tag in events.Tags()["tensors"]}
    assert {tag: (one.step, one.tensor_proto.string_val[0]) for tag, one in found.items()} == {
        "recorded": (1, b"a text"),
        "direct": (2, b"another"),
    }


def test_long_keys_and_values_of_tables_are_cut_off() -> None:
    text = io.StringIO()
    HumanOutputFormat(text, max_length=8).write({"abcdefghi": "123456789", "short": "12345678"}, {})
    assert text.getvalue().splitlines()[1:3] == [
        "| abcde... | 12345... |",
        "| short    | 12345678 |",
    ]
    text = io.StringIO()
    HumanOutputFormat(text).write({"a" * 40: 1}, {})
    assert f"| {'a' * 33}... | 1 |" in text.getvalue()


def test_a_video_goes_to_tensorboard(tmp_path: Path) -> None:
    logger = Logger(None, [TensorBoardOutputFormat(tmp_path)])
    frames = torch.zeros(2, 3, 1, 4, 6, dtype=torch.uint8)  # two videos of three frames
    frames[0, 1], frames[1, 2] = 200, 100
    logger.record("whole", Video(frames, fps=20))
    logger.record("parts", Video(torch.rand(1, 2, 3, 4, 6), fps=20))
    logger.dump(1)
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    (found,), (coloured,) = events.Images("whole"), events.Images("parts")
    assert (found.height, found.width, found.step, coloured.width) == (4, 12, 1, 6)
    film = PIL.Image.open(io.BytesIO(found.encoded_image_string))
    seen = []
    for index in range(3):
        film.seek(index)
        pixels = np.asarray(film.convert("L"))
        seen.append((int(pixels[0, 0]), int(pixels[0, 6])))
    assert seen == [(0, 0), (200, 0), (0, 100)] and film.info["duration"] == 50
    with pytest.raises(PlanError, match=r"\[N, T, C, H, W\].*got \(3, 1, 4, 6\)"):
        TensorBoardOutputFormat(tmp_path).write({"a": Video(frames[0], 20)}, {})
    with pytest.raises(FormatUnsupportedError, match="Video, which only tensorboard shows"):
        HumanOutputFormat(io.StringIO()).write({"a": Video(frames, 20)}, {})


def test_a_format_of_a_programs_own_says_what_it_cannot_write() -> None:
    kept = filter_excluded_keys({"a": 1, "b": 2}, {"a": ("own",), "b": ()}, "own")
    assert kept == {"b": 2}
    with pytest.raises(NotImplementedError, match=r"image cannot be .* exclude=\('own', 'csv',\)"):
        raise FormatUnsupportedError(["own", "csv"], "image")


def test_means_over_episodes_start_anew_with_timesteps(counting: Any) -> None:
    model, kept = small(counting), Rows()  # its episodes have three steps
    model.set_logger(Logger(None, [kept]))
    model.learn(8)
    assert len(model.ep_info_buffer) == 2
    model.learn(8)
    assert len(model.ep_info_buffer) == 2
    model.learn(8, reset_num_timesteps=False)  # continues the episode
    assert len(model.ep_info_buffer) == 5


def test_a_program_may_empty_and_replace_the_buffer_of_episodes(counting: Any) -> None:
    class Consuming(BaseCallback):
        lengths: ClassVar[list[int]] = []

        def _on_step(self) -> bool:
            self.lengths += [one["l"] for one in self.model.ep_info_buffer]
            self.model.ep_info_buffer.clear()
            return True

    model = small(counting, stats_window_size=7).learn(16, Consuming())
    assert Consuming.lengths == [3] * 5 and model.ep_info_buffer.maxlen == 7
    own = model.ep_info_buffer = deque([{"r": 9.0, "l": 9}], maxlen=2)
    model.set_env(counting())
    model.learn(8, reset_num_timesteps=False)
    assert model.ep_info_buffer is own and [one["l"] for one in own] == [3, 3]


def test_rows_average_over_what_the_buffers_of_episodes_hold(counting: Any) -> None:
    class Own(BaseCallback):
        def _on_step(self) -> bool:
            return True

        def _on_rollout_end(self) -> None:  # after two episodes, with returns and lengths of 3
            self.model.ep_info_buffer.append({"r": 9.0, "l": 6})
            self.model.ep_success_buffer.extend([1.0, 0.0])

    model, kept = small(counting), Rows()
    model.set_logger(Logger(None, [kept]))
    model.learn(8, Own())
    names = ("rollout/ep_rew_mean", "rollout/ep_len_mean", "rollout/success_rate")
    assert [kept.rows[-1][name] for name in names] == [5.0, 4.0, 0.5]
    model.ep_info_buffer.clear()
    model.dump_logs()
    assert not {*names[:2]} & kept.rows[-1].keys() and "rollout/success_rate" in kept.rows[-1]


def test_episodes_in_rows_continue_with_timesteps(counting: Any) -> None:
    model, kept = small(counting), Rows()  # its episodes have three steps
    model.set_logger(Logger(None, [kept]))
    model.learn(16).learn(16, reset_num_timesteps=False).learn(16)
    assert [row["time/episodes"] for row in kept.rows] == [2, 5, 8, 10, 2, 5]
