"""Callbacks, evaluation, policies and utilities for action masks."""
