"""The Listen tab when the connection, the server or the browser goes away: no vote is lost."""

import pytest

from app.page import build_page
from app.serve import pick_port, start
from app.studio import Studio
from tests.browser.conftest import in_a_thread
from tests.browser.listeners import (
    TRIAL,
    answer,
    begin,
    hear,
    prepared,
    rows_of,
    token,
    wait_for_trial,
)
from tests.browser.pages import SlowVoice, wait_for_status

pytestmark = pytest.mark.browser
VOTES = "**/votes"


@pytest.fixture(scope="module")
def test(tests_folder):
    return prepared(tests_folder).test


@pytest.fixture
def begun(page, url, test):
    """A page at the second trial of a session."""
    begin(page, url, test)
    vote(page, "A")
    wait_for_trial(page, 2)
    return page


def vote(page, choice):
    hear(page)
    answer(page, choice)


def choices(folder, page, test):
    return [row["choice"] for row in rows_of(folder, page, test)]


def test_a_reload_goes_on_where_the_session_stood(begun, test, tests_folder):
    session = token(begun, test)
    begun.reload()
    wait_for_trial(begun, 2)
    assert token(begun, test) == session
    vote(begun, "B")
    wait_for_trial(begun, 3)
    assert choices(tests_folder, begun, test) == ["A", "B"]


def test_another_tab_goes_on_with_the_same_session(browser, begun, url, test, tests_folder):
    other = browser.new_page(storage_state=begun.context.storage_state())
    other.goto(f"{url}?listen={test}")
    wait_for_trial(other, 2)
    vote(other, "B")
    wait_for_trial(other, 3)
    vote(begun, "A")  # that trial has its vote: this one comes too late
    wait_for_trial(begun, 3)
    assert choices(tests_folder, begun, test) == ["A", "B"]
    other.close()


def test_a_vote_that_does_not_arrive_is_sent_again(begun, test, tests_folder):
    sent = []

    def drop(route):
        sent.append(route.request.post_data_json)
        if len(sent) < 3:
            route.abort()
        else:
            route.continue_()

    begun.route(VOTES, drop)
    vote(begun, "B")
    wait_for_status(begun, "The server does not answer", ".listen")
    wait_for_trial(begun, 3)
    assert len(sent) == 3
    assert sent[0] == sent[1] == sent[2]
    assert choices(tests_folder, begun, test) == ["A", "B"]


def test_a_vote_whose_answer_is_lost_counts_once(begun, test, tests_folder):
    lost = []

    def lose(route):
        if lost:
            return route.continue_()
        lost.append(route.fetch())
        return route.abort()

    begun.route(VOTES, lose)
    vote(begun, "B")
    wait_for_trial(begun, 3)
    assert lost[0].ok
    assert choices(tests_folder, begun, test) == ["A", "B"]


def test_a_second_press_while_the_answer_is_late_changes_nothing(begun, test, tests_folder):
    held = []
    begun.route(VOTES, lambda route: held.append(route))
    vote(begun, "B")
    wait_for_status(begun, "Saving", ".listen")
    begun.keyboard.press("1")
    begun.evaluate("document.querySelector('.answers button').click()")
    begun.wait_for_timeout(100)
    assert len(held) == 1
    held[0].continue_()
    wait_for_trial(begun, 3)
    assert choices(tests_folder, begun, test) == ["A", "B"]


def test_a_vote_is_kept_by_the_browser_until_the_server_has_it(begun, test, tests_folder):
    begun.route(VOTES, lambda route: route.abort())
    vote(begun, "B")
    wait_for_status(begun, "The server does not answer", ".listen")
    begun.unroute(VOTES)
    begun.reload()
    wait_for_trial(begun, 3)
    assert choices(tests_folder, begun, test) == ["A", "B"]


def test_a_full_disk_is_told_and_the_vote_sent_again(begun, test, tests_folder):
    told = []

    def refuse(route):
        if told:
            return route.continue_()
        told.append(route)
        return route.fulfill(status=503, body="The vote could not be saved (disk full).")

    begun.route(VOTES, refuse)
    vote(begun, "B")
    wait_for_status(begun, "The vote could not be saved (disk full).", ".listen")
    wait_for_trial(begun, 3)
    assert choices(tests_folder, begun, test) == ["A", "B"]


def test_trials_and_the_result_are_asked_for_until_they_come(begun):
    failed = []

    def fail_once(route):
        if route.request.url in failed:
            return route.continue_()
        failed.append(route.request.url)
        return route.abort()

    begun.route("**/trial", fail_once)
    begun.route("**/result", fail_once)
    for number in range(2, 6):
        wait_for_trial(begun, number)
        vote(begun, "A")
    begun.wait_for_selector(".outcome")
    assert len(failed) == 2


def test_a_session_that_is_gone_begins_anew(begun, test, tests_folder):
    (tests_folder / test / f"votes-{token(begun, test)}.csv").unlink()
    begun.reload()
    begun.wait_for_selector(".introduction .begin")
    wait_for_status(begun, "The server no longer knows", ".listen")
    begun.click(".begin")
    wait_for_trial(begun, 1)


def test_another_server_goes_on_with_the_session(browser, tmp_path):
    """As after a crash: nothing but the folder is left of the first one."""
    test = prepared(tmp_path).test
    port = pick_port("127.0.0.1", None)

    def serve():
        made = build_page(Studio(lambda _: SlowVoice().engine()), "joe", tests=tmp_path)
        return made, in_a_thread(lambda: start(made, "127.0.0.1", port))

    first, url = serve()
    page = browser.new_page()
    begin(page, url, test)
    vote(page, "A")
    wait_for_trial(page, 2)
    first.close()
    vote(page, "B")
    wait_for_status(page, "The server does not answer", ".listen")
    second, _ = serve()
    wait_for_trial(page, 3)
    assert choices(tmp_path, page, test) == ["A", "B"]
    assert page.evaluate(f"{TRIAL}.number") == 2
    page.close()
    second.close()
