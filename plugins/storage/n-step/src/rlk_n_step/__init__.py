"""N-step returns on any replay storage (`--plugin n-step`)."""
