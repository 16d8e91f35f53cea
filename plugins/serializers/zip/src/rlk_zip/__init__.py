"""The zip serializer (`--serializer zip`): models and checkpoints without pickle."""
