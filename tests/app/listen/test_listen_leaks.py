"""What a listener could learn before the last vote, from whatever the server sends: nothing."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import chisquare

from app.listen import sessions
from app.listen.design import AB, ABX
from app.listen.sessions import draw, seed_of
from app.listen.ways import all_ways
from tests.app.listen.helpers import ROOT, Listener, decoded, make_test

MANY = 400


@pytest.fixture
def design(store):
    return make_test(store)


def exchange(client, design):
    """All that a listener gets up to the last vote, as responses."""
    listener = Listener(client, design.test)
    got = [client.get(f"{ROOT}/{design.test}")]
    got.append(client.post(f"{ROOT}/{design.test}/sessions"))
    listener.session = got[-1].json()["session"]
    for number in range(design.trials):
        got += [listener.get(), listener.get("/trial")]
        got += [listener.get("/result"), listener.get("/votes.csv")]
        if number < design.trials - 1:
            got.append(listener.vote(number, "A"))
    for path in ("results", "votes.csv", "figure.svg"):
        got.append(client.get(f"{ROOT}/{design.test}/{path}"))
    return got


def test_no_name_text_file_or_secret(client, design):
    words = [design.key, design.secret, ".flac", ".wav", "Secret text"]
    words += [name for way in all_ways().values() for name in (way.name, way.title)]
    words += [clip for item in design.items for clip in item.clips]
    for response in exchange(client, design):
        told = f"{response.text} {response.headers}"
        assert [word for word in words if word in told] == []


def test_the_result_and_the_votes_come_after_the_last_vote(client, design):
    listener = Listener(client, design.test).begin()
    for number in range(design.trials):
        assert listener.get("/result").status_code == 409
        assert listener.get("/votes.csv").status_code == 409
        listener.vote(number, "A")
    assert listener.get("/result").status_code == 200
    assert "Secret text" in listener.get("/votes.csv").text


@pytest.mark.parametrize("kind", [ABX, AB])
def test_sizes_are_equal_whatever_is_a_and_x(client, store, kind):
    design = make_test(store, kind)
    found = set()
    for _ in range(8):
        response = Listener(client, design.test).begin().get("/trial")
        clips = response.json()["clips"]
        assert list(clips) == list(design.labels)
        found.add((len(response.content), *map(len, clips.values())))
    assert len(found) == 1


def test_no_two_clips_have_equal_bytes(client, design):
    listener = Listener(client, design.test).begin()
    clips = [decoded(text) for _ in range(3) for text in listener.trial()["clips"].values()]
    for n, clip in enumerate(clips):
        for other in clips[:n]:
            assert (clip != other).mean() > 0.3


def test_noise_tells_the_clips_apart_no_more_than_one_step(client, design):
    clips = Listener(client, design.test).begin().trial()["clips"]
    a, b, x = (decoded(clips[label]).astype(int) for label in "ABX")
    like = min((a, b), key=lambda clip: np.abs(clip - x).max())
    difference = like - x
    assert np.abs(difference).max() <= 3
    # White: no place of the sound is marked, and neither of the two is noisier.
    assert abs(np.corrcoef(difference[1:], difference[:-1])[0, 1]) < 0.1


def test_clips_are_read_in_one_order_whatever_is_a(client, design, monkeypatch):
    read, order = sessions.soundfile.read, []
    monkeypatch.setattr(
        sessions.soundfile, "read", lambda path: order.append(path.name) or read(path)
    )
    for _ in range(8):
        Listener(client, design.test).begin().get("/trial")
    pairs = {item.clips for item in design.items}
    assert {tuple(order[n : n + 2]) for n in range(0, len(order), 2)} <= pairs


@pytest.fixture
def many(store):
    """The trials of many sessions; always the same ones."""
    design = make_test(store, trials=6)
    return [draw(design, seed_of(design, f"session {n}")) for n in range(MANY)]


def fair(counts, cells):
    """Whether every cell comes equally often; one such test in 10,000 fails by chance."""
    assert len(counts) == cells
    return chisquare(list(counts.values())).pvalue > 1e-4


class TestNoPattern:
    def test_which_way_is_a_and_which_is_x(self, many):
        for number in range(6):
            assert fair(Counter((s[number].a, s[number].x) for s in many), 4)

    def test_order_of_the_items(self, many):
        for number in range(6):
            assert fair(Counter(s[number].item for s in many), 6)

    def test_from_one_trial_to_the_next(self, many):
        def told(trial):
            return trial.a, trial.a == trial.x

        assert fair(Counter((told(t), told(u)) for s in many for t, u in pairwise(s)), 16)

    def test_the_item_tells_nothing_of_its_assignment(self, many):
        assert fair(Counter((t.item, t.a, t.x) for s in many for t in s), 24)

    def test_counting_does_not_help(self, many):
        """Balanced assignments would make the last one follow from the ones before."""
        right = Counter(sum(t.a == t.x for t in s) for s in many)
        assert set(right) == set(range(7))

    def test_without_the_secret_a_token_tells_nothing(self, store):
        one, other = make_test(store), make_test(store, secret="another")
        same = [
            draw(one, seed_of(one, f"{n}"))[0].a == draw(other, seed_of(other, f"{n}"))[0].a
            for n in range(MANY)
        ]
        assert 0.4 < np.mean(same) < 0.6
