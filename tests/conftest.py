"""What every test shares: workers, one thread each, and property tests alike on every run."""

import os
from pathlib import Path

import torch
from hypothesis import settings

torch.set_num_threads(1)
settings.register_profile("forespeak", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("forespeak")
MOST_WORKERS = 4


def pytest_xdist_auto_num_workers(config):
    """A worker for each core where whole folders are tested; none for a file or a test, which are
    there sooner without."""
    folders = [argument for argument in config.args if Path(argument).is_dir()]
    return min(MOST_WORKERS, os.cpu_count() or 1) if folders else 0


def pytest_collection_modifyitems(items):
    """What drives a browser comes last: Playwright keeps the event loop of its thread, which
    other tests would want."""
    items.sort(key=lambda item: "browser" in item.keywords)
