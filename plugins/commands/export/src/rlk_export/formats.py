"""The two formats of an exported program: writing them, and reading them back.

ONNX uses PyTorch's exporter of traced programs, which needs the packages onnx and onnxscript. The
format of torch.export itself needs only torch.
"""

from __future__ import annotations

import importlib.util
import io
import json
import logging
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

import torch
from torch.export import ExportedProgram

from rlk.spaces import map_observation
from rlk_export.comparison import Runs
from rlk_export.signature import BATCH, Signature

#: The extra file in a .pt2 that describes its content.
METADATA = "rlk.json"


class Onnx:
    """`.onnx`: for ONNX Runtime and other engines, in C++, C#, Java, JavaScript, ..."""

    def write(
        self,
        file: IO[bytes],
        program: ExportedProgram,
        signature: Signature,
        metadata: Mapping[str, str],
    ) -> None:
        with _quiet():
            made = torch.onnx.export(
                program,
                input_names=[port.name for port in signature.inputs],
                output_names=[port.name for port in signature.outputs],
                dynamo=True,
                verbose=False,
            )
        assert made is not None
        made.model.metadata_props.update(metadata)
        proto: Any = made.model_proto
        _name_batch(proto.graph)
        file.write(proto.SerializeToString())

    def read(self, data: bytes, signature: Signature) -> tuple[Runs, str]:
        """The function that runs the program of a file, and the name of the library for it."""
        names = [port.name for port in signature.outputs]
        if importlib.util.find_spec("onnxruntime") is None:
            import onnx
            from onnx.reference import ReferenceEvaluator

            session = ReferenceEvaluator(onnx.load_from_string(data))
            by = "onnx's reference evaluator"
        else:
            import onnxruntime

            session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
            by = "onnxruntime"

        def runs(arguments: tuple[Any, ...]) -> Mapping[str, Any]:
            found = session.run(names, signature.feeds(arguments))
            return dict(zip(names, found, strict=True))

        return runs, by


class Pt2:
    """`.pt2`: for torch.export.load, or for AOTInductor, which compiles it for C++."""

    def write(
        self,
        file: IO[bytes],
        program: ExportedProgram,
        signature: Signature,
        metadata: Mapping[str, str],
    ) -> None:
        # torch's writer ends the process if a write to the file itself fails.
        made = io.BytesIO()
        with _quiet():
            torch.export.save(program, made, extra_files={METADATA: json.dumps(dict(metadata))})
        file.write(made.getbuffer())

    def read(self, data: bytes, signature: Signature) -> tuple[Runs, str]:
        """As that of `Onnx`."""
        with _quiet():
            module = torch.export.load(io.BytesIO(data)).module()

        def runs(arguments: tuple[Any, ...]) -> Mapping[str, Any]:
            found = module(*[map_observation(torch.from_numpy, each) for each in arguments])
            return {name: value.detach().numpy() for name, value in found.items()}

        return runs, "torch"


def _name_batch(graph: Any) -> None:
    """Rename the axis of variable length to `batch`; the exporter only numbers it."""
    numbered = graph.input[0].type.tensor_type.shape.dim[0].dim_param
    for value in (*graph.input, *graph.output, *graph.value_info):
        for axis in value.type.tensor_type.shape.dim:
            if axis.dim_param == numbered:
                axis.dim_param = BATCH


@contextmanager
def _quiet() -> Iterator[None]:
    """A context without torch's messages about packages that it could use, and its own code."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logger.setLevel(logging.ERROR)
        try:
            yield
        finally:
            logger.setLevel(level)


Format = Onnx | Pt2
#: By suffix, all of `out_file.PACKAGES`.
FORMATS: dict[str, Format] = {".onnx": Onnx(), ".pt2": Pt2()}
