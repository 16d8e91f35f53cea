"""The contract of serializers."""
