"""A trace as the cells of its token grid: what became of every token."""

from itertools import accumulate

from core.trace import Round, Trace

KINDS = ("accepted", "rejected", "corrected", "bonus", "plain")

Place = tuple[int, int]
"""(frame over the whole run, codebook)"""


def next_kind(round_: Round) -> str:
    """What a round's last token is: plain where nothing had been drafted."""
    if not round_.draft_tokens:
        return "plain"
    return "bonus" if round_.accepted == len(round_.draft_tokens) else "corrected"


def sentence_starts(trace: Trace) -> list[int]:
    """First frame of each sentence over the whole run, and the frame after the last."""
    return list(accumulate((s.frames for s in trace.sentences), initial=0))


def first_tokens(trace: Trace) -> list[int]:
    """Of each round, its first token's place in the whole run."""
    starts = sentence_starts(trace)
    return [starts[r.sentence] * trace.num_codebooks + r.position for r in trace.rounds]


def ends(trace: Trace) -> list[int]:
    """Frames over the whole run before which a sentence ended itself."""
    starts = sentence_starts(trace)
    return [starts[r.sentence + 1] for r in trace.rounds if r.next_token == trace.codebook_size]


def places_by_kind(trace: Trace) -> dict[str, list[Place]]:
    """Where each kind occurs. A corrected place is a rejected one, too: of the draft's token.
    The end of a sentence has no place."""
    places: dict[str, list[Place]] = {kind: [] for kind in KINDS}
    for first, round_ in zip(first_tokens(trace), trace.rounds, strict=True):
        cells = [divmod(first + n, trace.num_codebooks) for n in range(round_.accepted + 1)]
        places["accepted"] += cells[:-1]
        if round_.next_token == trace.codebook_size:
            continue
        kind = next_kind(round_)
        places[kind].append(cells[-1])
        if kind == "corrected":
            places["rejected"].append(cells[-1])
    return places
