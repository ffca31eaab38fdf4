"""A folder of listening tests, and its routes."""

import pytest

from app.listen.store import Store
from tests.app.listen.helpers import client_of


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "tests")


@pytest.fixture
def client(store):
    return client_of(store)
