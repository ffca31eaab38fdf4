"""A run in numbers: while it goes on, and of a trace."""

from dataclasses import dataclass

from core.trace import Chunk, Round, Trace


@dataclass(frozen=True)
class Metrics:
    """A run in numbers; a rate is None where nothing was drafted.

    acceptance_rate: accepted / drafted, corrected and bonus excluded.
    acceptance_length: tokens emitted per target pass, corrected and bonus included.
    per_codebook, per_position: acceptance rate by codebook of the drafted token, and by place
    in the window given that all before it were accepted.
    tokens_per_s: the decoder's speed: time in draft and verify, without the codec.
    underrun_s: how long playback would have waited after it began.
    """

    audio_s: float
    wall_s: float
    rtf: float
    ttfa_s: float
    underrun_s: float
    tokens: int
    tokens_per_s: float
    acceptance_length: float
    acceptance_rate: float | None
    per_codebook: tuple[float | None, ...]
    per_position: tuple[float | None, ...]


@dataclass
class Tally:
    """Verdicts of one kind: how many of those judged were accepted."""

    accepted: int = 0
    judged: int = 0

    @property
    def rate(self) -> float | None:
        return _ratio(self.accepted, self.judged)


class Meter:
    """Metrics of a run up to here; what comes next is added in the order in which it happened."""

    def __init__(self, header: Trace):
        """header: the run's trace, of which only what is known beforehand is read."""
        self._sample_rate = header.sample_rate
        self._rounds = self._tokens = self._drafted = self._accepted = self._samples = 0
        self._decode_s = self._underrun_s = 0.0
        self._ttfa_s: float | None = None
        self._played_at_s = 0.0  # when everything so far will have been played
        self._codebooks = [Tally() for _ in range(header.num_codebooks)]
        self._places = [Tally() for _ in range(header.gamma)]

    def add_round(self, round_: Round) -> None:
        """Rows after a rejection count as drafted, but their places were never reached."""
        self._rounds += 1
        self._tokens += len(round_.tokens)
        self._drafted += len(round_.draft_tokens)
        self._accepted += round_.accepted
        self._decode_s += round_.draft_s + round_.verify_s
        for row in range(round_.tested):
            codebook = self._codebooks[(round_.position + row) % len(self._codebooks)]
            for tally in (codebook, self._places[row]):
                tally.judged += 1
                tally.accepted += row < round_.accepted

    def add_chunk(self, chunk: Chunk) -> None:
        """It is played when the one before has ended, or when it arrives if that is later."""
        if self._ttfa_s is None:
            self._ttfa_s = self._played_at_s = chunk.at_s
        self._samples += chunk.samples
        self._underrun_s += max(0.0, chunk.at_s - self._played_at_s)
        begin = max(self._played_at_s, chunk.at_s)
        self._played_at_s = begin + chunk.samples / self._sample_rate

    def metrics(self, wall_s: float) -> Metrics:
        """Of everything added, `wall_s` seconds after the request."""
        audio_s = self._samples / self._sample_rate
        return Metrics(
            audio_s=audio_s,
            wall_s=wall_s,
            rtf=_ratio(wall_s, audio_s) or 0.0,
            ttfa_s=self._ttfa_s or 0.0,
            underrun_s=self._underrun_s,
            tokens=self._tokens,
            tokens_per_s=_ratio(self._tokens, self._decode_s) or 0.0,
            acceptance_length=_ratio(self._tokens, self._rounds) or 0.0,
            acceptance_rate=_ratio(self._accepted, self._drafted),
            per_codebook=tuple(tally.rate for tally in self._codebooks),
            per_position=tuple(tally.rate for tally in self._places),
        )


def measure(trace: Trace) -> Metrics:
    """Metrics of a whole trace."""
    meter = Meter(trace)
    for round_ in trace.rounds:
        meter.add_round(round_)
    for chunk in trace.chunks:
        meter.add_chunk(chunk)
    return meter.metrics(trace.total_s)


def _ratio(numerator: float, denominator: float) -> float | None:
    return numerator / denominator if denominator else None
