"""The kernel's contract of a serializer."""

from rlk.testing import SerializerContract


class TestZip(SerializerContract):
    component = "zip"
