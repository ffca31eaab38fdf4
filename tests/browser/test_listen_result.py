"""What listeners find: simulated ones through the real page get the verdicts of the binomial law;
and nothing tells which clip is which before the last vote."""

import random

import pytest
from scipy.stats import binomtest

from app.listen.store import Store
from tests.browser.listeners import (
    answer,
    begin,
    go_on,
    hear,
    nearest,
    pcm_of,
    prepared,
    rows_of,
    session_of,
    token,
    wait_for_trial,
)
from tests.browser.pages import wait_for_status

pytestmark = pytest.mark.browser
TRIALS = 16
TEXT = "hello there again"


@pytest.fixture(scope="module")
def test(tests_folder):
    return prepared(tests_folder, TEXT, TRIALS, pair=("baseline", "draft-alone")).test


def take(page, url, test, choose):
    """A session from its first to its last trial; choose: from the clips of a trial."""
    with page.expect_response("**/trial") as answered:
        begin(page, url, test)
    for number in range(1, TRIALS + 1):
        wait_for_trial(page, number)
        choice = choose(pcm_of(answered.value.json()))
        hear(page)
        if number == TRIALS:
            answer(page, choice)
            break
        with page.expect_response("**/trial") as answered:
            answer(page, choice)
    page.wait_for_selector(".outcome")


class TestLaw:
    def test_who_is_always_right(self, page, url, test, tests_folder):
        take(page, url, test, nearest)
        shown = page.inner_text(".outcome")
        assert "16 of 16" in shown
        assert "Significant" in shown
        assert "< 0.001" in shown
        assert all(row["correct"] == "1" for row in rows_of(tests_folder, page, test))
        low = binomtest(16, 16, 0.5).proportion_ci(0.95, "exact").low
        assert f"{low:.0%} to 100%" in shown

    @pytest.mark.parametrize("share", [0.5, 0.7])
    def test_who_guesses_and_who_is_right_more_often(self, page, url, test, tests_folder, share):
        coin = random.Random(2)
        answers = []

        def choose(clips):
            known = nearest(clips)
            answers.append(coin.random() < share)
            return known if answers[-1] else {"A": "B", "B": "A"}[known]

        take(page, url, test, choose)
        rows = rows_of(tests_folder, page, test)
        right = sum(answers)
        assert [row["correct"] == "1" for row in rows] == answers
        p = binomtest(right, TRIALS, 0.5, "greater").pvalue
        shown = page.inner_text(".outcome")
        assert f"{right} of 16" in shown
        assert ("Not significant" in shown) == (p > 0.05)
        assert (f"{p:.2f}" if p >= 0.1 else f"{p:.3f}") in shown
        cells = page.locator(".outcome tbody tr").all_inner_texts()
        marks = ["✓" in cell for cell in cells]
        assert marks == [row["correct"] == "1" for row in rows]


class TestPooled:
    def test_the_facilitator_sees_who_has_finished_and_all_together(self, page, url, tests_folder):
        design = prepared(tests_folder, "hello there", 5)
        page.goto(f"{url}?listen={design.test}&key={design.key}")
        wait_for_status(page, "0 complete, 0 under way", ".listen")
        store = Store(tests_folder)
        sessions = [session_of(store, design, name) for name in ("one", "two", "three")]
        for session in sessions:
            heard = dict.fromkeys("ABX", 9.0)
            for number in range(5 if session is not sessions[1] else 2):
                session.vote(number, "A", heard)
        wait_for_status(page, "2 complete, 1 under way", ".listen")
        right = sum(vote.correct for each in (0, 2) for vote in sessions[each].ballot().votes)
        assert f"{right} of 10" in page.inner_text(".outcome")
        rows = page.locator(".listen tbody tr").all_inner_texts()
        assert [row.split("\t")[0] for row in rows] == ["Session 1", "Session 2", "Session 3"]
        assert [row.split("\t")[1] for row in rows] == ["complete", "2 of 5", "complete"]
        with page.expect_download() as download:
            page.click("text=All answers (CSV)")
        assert len(download.value.path().read_text().splitlines()) == 1 + 12

    def test_what_is_as_before_stays_and_what_has_the_focus_keeps_it(self, page, url, tests_folder):
        design = prepared(tests_folder, "hello there", 5)
        session = session_of(Store(tests_folder), design, "one")
        page.goto(f"{url}?listen={design.test}&key={design.key}")
        wait_for_status(page, "0 complete, 1 under way", ".listen")
        page.focus("text=All answers (CSV)")
        page.evaluate("window.finding = document.querySelector('.outcome .finding')")
        with page.expect_response("**/results?*") as answered:
            pass
        assert answered.value.status == 304
        assert page.evaluate("finding.isConnected")
        for number in range(5):
            session.vote(number, "A", dict.fromkeys("ABX", 9.0))
        wait_for_status(page, "1 complete, 0 under way", ".listen")
        assert not page.evaluate("finding.isConnected")
        assert page.evaluate("document.activeElement.textContent") == "All answers (CSV)"

    def test_a_wrong_key_is_told(self, page, url, test):
        page.goto(f"{url}?listen={test}&key=guessed")
        wait_for_status(page, "That key does not open this test", ".listen")
        assert page.locator(".listen table").count() == 0

    def test_saved_answers_of_several_computers_become_one_result(self, page, tests_folder):
        design = prepared(tests_folder, "hello there", 5)
        store, files = Store(tests_folder), []
        for choice in "AB":
            session = session_of(store, design, choice)
            for number in range(5):
                session.vote(number, choice, dict.fromkeys("ABX", 9.0))
            files.append(tests_folder / design.test / f"votes-{session.token}.csv")
        page.get_by_role("tab", name="Listen").click()
        page.click(".pooling summary")
        page.set_input_files(".pooling input", files)
        page.wait_for_selector(".pooling .outcome")
        assert "of 10" in page.inner_text(".pooling .outcome")
        page.set_input_files(".pooling input", [files[0], files[0]])
        wait_for_status(page, "File 2 has session", ".pooling")
        page.set_input_files(
            ".pooling input", {"name": "x.csv", "mimeType": "text/csv", "buffer": b"a,b\n1,2\n"}
        )
        wait_for_status(page, "File 1: This is not a file of votes", ".pooling")
        assert page.locator(".pooling .outcome").count() == 0


class TestSecrets:
    """What a listener can look at before the last vote."""

    @pytest.fixture
    def seen(self, page):
        """Every answer that the page gets about the test, in order."""
        answers = []
        page.on("response", lambda r: "/forespeak/listen/" in r.url and answers.append(r))
        return answers

    def test_no_answer_tells_a_way_a_text_a_file_or_a_seed(
        self, page, url, test, tests_folder, seen
    ):
        begin(page, url, test)
        for number in range(1, 4):
            wait_for_trial(page, number)
            hear(page)
            answer(page, "A")
        wait_for_trial(page, 4)
        design = Store(tests_folder).design(test)
        seed = rows_of(tests_folder, page, test)[0]["seed"]
        secrets = [design.key, design.secret, seed, TEXT, "baseline", "draft"]
        secrets += [name for item in design.items for name in item.clips]
        told = "".join(f"{r.url} {r.headers} {r.text()}" for r in seen).lower()
        html, storage = (
            page.evaluate("document.querySelector('.listen').outerHTML"),
            page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }])"),
        )
        assert len(seen) > 8
        for secret in secrets:
            assert secret.lower() not in told
            assert secret.lower() not in html.lower()
            assert secret.lower() not in storage.lower()
        assert page.context.cookies() == []
        kept = page.evaluate("Object.keys(localStorage).sort()")
        assert kept == [f"forespeak-listen-{test}", "forespeak-listener"]
        assert list(page.evaluate(f"JSON.parse(localStorage['forespeak-listen-{test}'])")) == [
            "session"
        ]

    def test_clips_of_a_trial_come_together_are_as_long_and_never_the_same_bytes(
        self, page, url, test
    ):
        with page.expect_response("**/trial") as answered:
            begin(page, url, test)
        first = answered.value.json()
        with page.expect_response("**/trial") as answered:
            page.reload()
            go_on(page)
        again = answered.value.json()
        clips = [clip for given in (first, again) for clip in given["clips"].values()]
        assert len({len(clip) for clip in clips}) == 1
        assert len(set(clips)) == 6
        assert sorted(first) == ["clips", "sample_rate", "samples", "trial", "trials"]
        assert list(first["clips"]) == ["A", "B", "X"]

    def test_result_and_answers_come_after_the_last_vote(self, page, url, test):
        begin(page, url, test)
        status = """async (path) => (await fetch(`forespeak/listen/${path}`)).status"""
        session = token(page, test)
        asked = [f"sessions/{session}/result", f"sessions/{session}/votes.csv"]
        assert [page.evaluate(status, path) for path in asked] == [409, 409]
        asked = [f"{test}/results", f"{test}/votes.csv", f"{test}/figure.svg"]
        assert [page.evaluate(status, path) for path in asked] == [403, 403, 403]
