"""Records for tests, and a trace whose metrics are known."""

from dataclasses import replace

from core.trace import Chunk, Round, Sentence, Trace


def make_round(
    position: int,
    drafted: int,
    accepted: int,
    draft_s: float = 0.0,
    verify_s: float = 0.0,
    sentence: int = 0,
) -> Round:
    return Round(
        position=position,
        draft_tokens=tuple(range(10, 10 + drafted)),
        draft_probs=(0.5,) * drafted,
        target_probs=(0.25,) * drafted,
        accepted=accepted,
        next_token=99,
        next_prob=0.125,
        draws=(0.75,) * min(accepted + 1, drafted),
        draft_s=draft_s,
        verify_s=verify_s,
        sentence=sentence,
        at_s=0.1,
    )


def make_trace(
    rounds: tuple[Round, ...] = (), chunks: tuple[Chunk, ...] = (), **values: object
) -> Trace:
    trace = Trace(
        voice="joe",
        rule="lossless",
        lossless=True,
        gamma=3,
        temperature=0.8,
        top_k=0,
        top_p=1.0,
        seed=-5,
        rate=1.1,
        device="CPU “two cores”",
        num_codebooks=2,
        codebook_size=512,
        frame_rate=12.5,
        sample_rate=10_000,
        sentences=(
            Sentence("Hé, 世.", ("Hé", "世"), ("h", "e", "."), (0, 0, -1), (1.5, 0.25, 2.0), 20),
        ),
        chunks=chunks,
        total_s=3.0,
    )
    return replace(trace, rounds=rounds, **values)


# Codebooks are position % 2.           drafted places (codebook):   outcome
ROUNDS = (
    make_round(0, 3, 3, 0.03, 0.07),  # 0 (0) 1 (1) 2 (0)             yes yes yes, then bonus 3
    make_round(4, 3, 1, 0.03, 0.07),  # 4 (0) 5 (1) 6 (0)             yes no  -
    make_round(6, 3, 0, 0.03, 0.07),  # 6 (0) 7 (1) 8 (0)             no  -   -
    make_round(7, 2, 2, 0.02, 0.08),  # 7 (1) 8 (0)                   yes yes, then bonus 9
    make_round(10, 0, 0, 0.0, 0.1),  # nothing drafted
)
CHUNKS = (Chunk(0, 0, 5000, 0.5), Chunk(0, 5000, 7000, 1.25), Chunk(0, 12000, 3000, 1.5))
EXAMPLE = make_trace(ROUNDS, CHUNKS)
