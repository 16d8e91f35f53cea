"""The component of the zip serializer."""

from __future__ import annotations

from rlk.component import Component

component = Component(
    name="zip",
    factory="rlk_zip.serializer:ZipSerializer",
    summary="one zip of JSON and safetensors; loading it runs no code",
)
