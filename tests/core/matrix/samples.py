"""Samples as they could have been measured."""

from core.matrix.cells import Cell
from core.matrix.results import Header, Opinion, Sample
from core.metrics import Metrics

BASELINE = Cell("none", "lossless", 0, 0.8)
EXACT = Cell("model", "lossless", 4, 0.8)
RELAXED = Cell("model", "ssd", 4, 0.8, 0.2)

HEADER = Header(
    version="0.1.0",
    voice="joe",
    weights="abc",
    device="cpu",
    machine="Linux x86_64, 2 processors",
    threads=2,
    torch="2.13.0",
    seed=0,
    rate=1.0,
    top_k=0,
    top_p=1.0,
    sentences=("one", "two", "three"),
    codebooks=2,
)


def metrics(tokens_per_s: float, rate: float | None = 0.5) -> Metrics:
    books = (rate, rate)
    return Metrics(2.0, 1.0, 0.5, 0.1, 0.0, 200, tokens_per_s, 3.0, rate, books, books)


def sample(
    cell: Cell,
    sentence: int = 0,
    speedup: float = 2.0,
    distance: float = 0.0,
    errors: int | None = None,
) -> Sample:
    """errors: wrong words of ten, where somebody listened; of the baseline it is one."""
    return Sample(
        cell=cell,
        sentence=sentence,
        baseline=metrics(100.0, None),
        measured=metrics(100.0 * speedup, None if cell.is_baseline else 0.5),
        alpha=None if cell.is_baseline else 0.7,
        c=None if cell.is_baseline else 0.1,
        predicted=None if cell.is_baseline else speedup / 0.9,
        distance=distance,
        divergence=None,
        opinion=None if errors is None else Opinion(errors, 10, 3.0),
        baseline_opinion=None if errors is None else Opinion(1, 10, 3.1),
    )
