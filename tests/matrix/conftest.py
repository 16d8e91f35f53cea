"""What holds for all combinations."""

import pytest
import torch


@pytest.fixture(autouse=True)
def one_thread():
    """Agents set how many threads torch has in this process."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)
