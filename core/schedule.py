"""Which frames become sound together, and when."""

from collections.abc import Iterator

# Frames per chunk of sound. The first is as long as the embedded codec looks ahead, so that it
# sounds at once; short ones follow while nothing is buffered, then longer ones, which cost less
# each. The schedule depends on nothing else, so equal tokens give equal samples.
CHUNK_FRAMES = (5, 1, 2)
STEADY_FRAMES = 4


def chunk_bounds(
    sent: int, ready: int, total: int, ended: bool = False
) -> Iterator[tuple[int, int]]:
    """Frame ranges that are due once `ready` of `total` frames are verified and `sent` are sent.

    ended: the total has only now become known, and all may have been sent: then an empty range is
    due, behind which nothing comes.
    """
    if ended and sent == total:
        yield sent, total
    edges = [sum(CHUNK_FRAMES[: i + 1]) for i in range(len(CHUNK_FRAMES))]
    while sent < total:
        edge = next((e for e in edges if e > sent), sent + STEADY_FRAMES)
        edge = min(edge, total)
        if edge > ready:
            return
        yield sent, edge
        sent = edge
