"""The collector that steps no environment."""
