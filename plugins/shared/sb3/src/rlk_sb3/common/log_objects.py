"""Values of a row that only TensorBoard shows: figures, images, videos and hyperparameters."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
from torch import Tensor

from rlk.errors import PlanError
from rlk.records import Array


class FormatUnsupportedError(PlanError, NotImplementedError):
    """A row has a value that one of its formats cannot hold; also a NotImplementedError.

    Args:
        unsupported_formats: the names of the formats.
        value_description: what they cannot hold.
    """

    def __init__(self, unsupported_formats: Sequence[str], value_description: str) -> None:
        others = ", ".join(repr(one) for one in unsupported_formats)
        super().__init__(
            f"{value_description} cannot be written to {others}. Leave it out there: "
            f"logger.record(key, value, exclude=({others},))."
        )


@attrs.frozen
class Figure:
    """A matplotlib figure.

    Args:
        figure: the figure.
        close: whether to close it after it is written.
    """

    figure: Any
    close: bool

    def summaries(self, tag: str) -> list[Any]:
        """Convert it to TensorBoard summaries."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        canvas: Any = FigureCanvasAgg(self.figure)
        canvas.draw()
        pixels: Array = np.asarray(canvas.buffer_rgba())[:, :, :3]
        if self.close:
            from matplotlib import pyplot

            pyplot.close(self.figure)
        return [_image(tag, pixels)]


@attrs.frozen
class Image:
    """An image.

    Args:
        image: an array or a tensor: floats from 0 to 1, or integers from 0 to 255.
        dataformats: its axes: `HWC`, `CHW`, `HW`, or another order of these.
    """

    image: Any
    dataformats: str

    def summaries(self, tag: str) -> list[Any]:
        """Convert it to TensorBoard summaries; PlanError if the axes do not fit the array."""
        values = np.asarray(self.image.cpu() if isinstance(self.image, Tensor) else self.image)
        axes = self.dataformats.upper()
        if sorted(axes) not in (["H", "W"], ["C", "H", "W"]) or values.ndim != len(axes):
            raise PlanError(
                f"an Image has the axes HWC, CHW or HW, got {self.dataformats!r} for an array of "
                f"the shape {values.shape}."
            )
        turned = np.transpose(values, [axes.index(one) for one in "HWC" if one in axes])
        is_whole = np.issubdtype(values.dtype, np.integer)
        return [_image(tag, turned if is_whole else turned * 255.0)]


@attrs.frozen
class Video:
    """A video.

    Args:
        frames: a tensor [N, T, C, H, W]: floats from 0 to 1, or integers from 0 to 255. Several
            videos are shown side by side.
        fps: frames per second.
    """

    frames: Tensor
    fps: float

    def summaries(self, tag: str) -> list[Any]:
        """Convert it to TensorBoard summaries; PlanError if the tensor has other axes."""
        values = np.asarray(self.frames.cpu())
        if values.ndim != 5 or values.shape[2] not in (1, 3):
            raise PlanError(
                "a Video has frames of the shape [N, T, C, H, W], with 1 or 3 channels C, got "
                f"{values.shape}."
            )
        side_by_side = np.concatenate(list(values.transpose(0, 1, 3, 4, 2)), axis=2)
        is_whole = np.issubdtype(values.dtype, np.integer)
        return [_film(tag, side_by_side if is_whole else side_by_side * 255.0, self.fps)]


@attrs.frozen
class HParam:
    """The hyperparameters of a run, and the metrics by which runs are compared.

    Args:
        hparam_dict: hyperparameters by name: numbers, strings or booleans.
        metric_dict: its keys are the tags of the metrics; the values are ignored, because
            TensorBoard reads them from the events.

    Raises:
        PlanError: if `metric_dict` is empty.
    """

    hparam_dict: Mapping[str, bool | str | float | None]
    metric_dict: Mapping[str, float] = attrs.field()

    @metric_dict.validator
    def _has_some(self, _: Any, value: Mapping[str, float]) -> None:
        if not value:
            raise PlanError("HParam needs a metric_dict, without which tensorboard shows nothing.")

    def summaries(self, tag: str) -> list[Any]:
        """Convert it to TensorBoard summaries."""
        from tensorboard.plugins.hparams import summary_v2 as hparams

        given = {name: "None" if one is None else one for name, one in self.hparam_dict.items()}
        names, metrics = map(hparams.HParam, given), map(hparams.Metric, self.metric_dict)
        table = hparams.hparams_config_pb(hparams=list(names), metrics=list(metrics))
        return [table, hparams.hparams_pb(given)]


def _image(tag: str, pixels: Array) -> Any:
    """A TensorBoard summary of an image with values from 0 to 255, [H, W] or [H, W, C]."""
    written = io.BytesIO()
    _picture(pixels).save(written, "PNG")
    return _summary(tag, pixels, written)


def _film(tag: str, pixels: Array, fps: float) -> Any:
    """A TensorBoard summary of frames with values from 0 to 255, [T, H, W, C]: an animated GIF."""
    first, *rest = map(_picture, pixels)
    written, each = io.BytesIO(), round(1000 / fps)  # milliseconds
    first.save(written, "GIF", save_all=True, append_images=rest, duration=each, loop=0)
    return _summary(tag, pixels[0], written)


def _picture(pixels: Array) -> Any:
    import PIL.Image

    squeezed = pixels[:, :, 0] if pixels.shape[2:] == (1,) else pixels
    return PIL.Image.fromarray(np.clip(squeezed, 0, 255).astype(np.uint8))


def _summary(tag: str, pixels: Array, written: io.BytesIO) -> Any:
    """A TensorBoard summary of an image file of this size, [H, W] or [H, W, C]."""
    from tensorboard.compat.proto.summary_pb2 import Summary

    height, width, *channels = pixels.shape
    found = Summary.Image(
        height=height,
        width=width,
        colorspace=channels[0] if channels else 1,
        encoded_image_string=written.getvalue(),
    )
    return Summary(value=[Summary.Value(tag=tag, image=found)])


OBJECTS = (Figure, HParam, Image, Video)
