"""A page's comparison without a model, and what reads its run."""

import pytest

from app.bench.handlers import BenchHandlers, Boards
from app.runs import Runs


class Visitor:
    """Stands in for Gradio's request."""

    session_hash = "visitor"


@pytest.fixture
def boards():
    return Boards()


@pytest.fixture
def handlers(studio, boards, tmp_path, monkeypatch):
    """Whose results are kept in a folder of the test."""
    monkeypatch.setattr("app.bench.plan.default_folder", lambda: tmp_path / "bench")
    made = BenchHandlers(studio, Runs(), boards)
    made.visitor = Visitor()
    return made
