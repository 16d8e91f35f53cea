"""The collector that steps one vector environment into the storage."""
