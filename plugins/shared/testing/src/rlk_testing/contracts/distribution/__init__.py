"""The contract of distributions of actions."""
