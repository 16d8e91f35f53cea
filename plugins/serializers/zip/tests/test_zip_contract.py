"""The kernel's contract of a serializer."""

from rlk_testing import SerializerContract


class TestZip(SerializerContract):
    component = "zip"
