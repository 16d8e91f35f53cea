"""The collector of rlk that steps one vector environment into the storage."""
