"""Reads models that other libraries have saved; no code in their files runs."""
