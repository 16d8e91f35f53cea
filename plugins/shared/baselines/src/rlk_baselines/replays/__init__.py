"""The replays of models, as programs see and fill them."""
