"""What every test shares: one thread, and property tests that are the same on every run."""

import torch
from hypothesis import settings

torch.set_num_threads(1)
settings.register_profile("forespeak", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("forespeak")
