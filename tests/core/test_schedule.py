"""When frames become sound."""

from hypothesis import given
from hypothesis import strategies as st

from core.schedule import CHUNK_FRAMES, STEADY_FRAMES, chunk_bounds


@given(
    total=st.integers(1, 60), steps=st.lists(st.integers(0, 20), max_size=30), often=st.booleans()
)
def test_chunks_cover_every_frame_once_however_frames_arrive(
    total: int, steps: list[int], often: bool
):
    """Frames lost, doubled, or sent unverified; sound that depends on how rounds happened to go."""
    at_once = list(chunk_bounds(0, total, total))
    ready = sent = 0
    bounds = []
    for step in [1] * total if often else [*steps, total]:
        ready = min(total, ready + step)
        for first, last in chunk_bounds(sent, ready, total):
            assert first == sent < last <= ready
            bounds.append((first, last))
            sent = last
    assert sent == total
    assert bounds == at_once
    sizes = [last - first for first, last in bounds]
    wanted = [*CHUNK_FRAMES, *[STEADY_FRAMES] * total]
    assert sizes[:-1] == wanted[: len(sizes) - 1]
    assert sizes[-1] <= wanted[len(sizes) - 1]


def test_nothing_is_due_before_it_is_whole_or_after_the_end():
    assert list(chunk_bounds(0, 0, 10)) == []
    first, last = sum(CHUNK_FRAMES), sum(CHUNK_FRAMES) + STEADY_FRAMES
    assert list(chunk_bounds(first, last - 1, 99)) == []
    assert list(chunk_bounds(first, last, 99)) == [(first, last)]
    assert list(chunk_bounds(last, last + 2, last + 2)) == [(last, last + 2)]
    assert list(chunk_bounds(10, 10, 10)) == []
