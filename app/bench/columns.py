"""What is told of a cell: one list for the terminal, the page, the CSV file and the figure."""

from collections.abc import Callable
from dataclasses import dataclass

from core.bench import Spread
from core.drafters import DRAFTS
from core.matrix.cells import ADAPTIVE, Cell
from core.matrix.summary import NOISE, Row, Share
from core.verify import RULES

NOT_MEASURED = "not measured"
NONE = "–"
LETTERS = {"model": "M", "feature": "F", "heads": "H", "ngram": "R"}


@dataclass(frozen=True)
class Column:
    """key: in files; shown: in tables (all are in files); scale: what a number is shown times."""

    key: str
    title: str
    hint: str
    digits: int
    get: Callable[[Row], Spread | Share | None]
    shown: bool = True
    scale: float = 1.0
    unit: str = ""
    empty: str = NONE

    def numbers(self, row: Row) -> tuple[float, float, float] | None:
        """The middle, and from where to where it spreads."""
        found = self.get(row)
        if found is None:
            return None
        if isinstance(found, Share):
            return found.value, found.low, found.high
        return found.median, found.q1, found.q3

    def text(self, row: Row) -> tuple[str, str]:
        """The middle and the spread in words; the second is empty where there is none."""
        numbers = self.numbers(row)
        if numbers is None:
            return self.empty, ""
        if self.key == "distance" and numbers[2] <= NOISE:
            return "0", ""
        middle, low, high = (f"{self.scale * n:.{self.digits}f}" for n in numbers)
        return middle + self.unit, f"{low} to {high}"


COLUMNS = (
    Column("speedup", "Speed-up", "tokens per second against the baseline beside it", 2,
           lambda r: r.speedup),
    Column("predicted", "Predicted", "speed-up that α, c and v predict", 2, lambda r: r.predicted),
    Column("measured_over_predicted", "Measured / predicted", "", 2,
           lambda r: r.measured_over_predicted, shown=False),
    Column("tokens_per_s", "Tokens/s", "the decoder alone", 0, lambda r: r.tokens_per_s),
    Column("baseline_tokens_per_s", "Baseline tokens/s", "", 0,
           lambda r: r.baseline_tokens_per_s, shown=False),
    Column("distance", "Distance", "from the target's distribution: mean total variation over "
           "all tokens", 4, lambda r: r.distance),
    Column("acceptance_length", "Acceptance length", "tokens per target pass", 2,
           lambda r: r.acceptance_length),
    Column("acceptance_rate", "Acceptance rate", "accepted / drafted", 1,
           lambda r: r.acceptance_rate, scale=100, unit="%"),
    Column("alpha", "α", "chance that one drafted token is accepted", 3, lambda r: r.alpha),
    Column("c", "c", "cost of a draft step, in target passes", 3, lambda r: r.c, shown=False),
    Column("ttfa_ms", "TTFA, ms", "from the request to the first playable sample", 0,
           lambda r: r.ttfa_ms),
    Column("baseline_ttfa_ms", "Baseline TTFA, ms", "", 0, lambda r: r.baseline_ttfa_ms,
           shown=False),
    Column("rtf", "RTF", "seconds of work per second of sound", 3, lambda r: r.rtf),
    Column("baseline_rtf", "Baseline RTF", "", 3, lambda r: r.baseline_rtf, shown=False),
    Column("wer", "WER", "wrong words, with a 95% interval", 1, lambda r: r.wer, scale=100,
           unit="%", empty=NOT_MEASURED),
    Column("wer_change", "WER change", "against the baseline, in points, with a 95% interval", 1,
           lambda r: r.wer_change, shown=False, scale=100, empty=NOT_MEASURED),
    Column("dnsmos", "DNSMOS", "opinion score of a model, 1 to 5", 2, lambda r: r.dnsmos,
           empty=NOT_MEASURED),
    Column("dnsmos_change", "DNSMOS change", "against the baseline", 2,
           lambda r: r.dnsmos_change, shown=False, empty=NOT_MEASURED),
)  # fmt: skip

SHOWN = tuple(column for column in COLUMNS if column.shown)


def draft_title(cell: Cell) -> str:
    return "Baseline" if cell.is_baseline else DRAFTS.get(cell.draft, cell.draft)


def rule_title(cell: Cell) -> str:
    """How far the rule goes is in it."""
    if cell.is_baseline:
        return "no draft"
    rule = RULES[cell.rule]
    if rule.tolerance is None:
        return rule.title
    title = rule.title.removesuffix(f" {rule.tolerance.letter}")
    return f"{title}, {rule.tolerance.letter} {cell.tolerance:g}"


def gamma_title(cell: Cell) -> str:
    return ADAPTIVE if cell.gamma is None else NONE if cell.is_baseline else str(cell.gamma)


def claim(cell: Cell) -> str:
    return "lossless" if cell.lossless else "not lossless"


def letter(cell: Cell) -> str:
    """One for the cell's mark in a plot."""
    return "B" if cell.is_baseline else LETTERS.get(cell.draft, cell.draft[:1].upper())


def counted(number: int, thing: str) -> str:
    """1 thread, 2 threads."""
    return f"{number} {thing}" + ("" if number == 1 else "s")
