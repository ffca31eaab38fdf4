"""The Listen tab when the connection, the server or the browser goes away: no vote is lost."""

import pytest

from app.page import build_page
from app.serve import start
from app.studio import Studio
from tests.browser.conftest import in_a_thread
from tests.browser.listeners import (
    answer,
    begin,
    go_on,
    go_to_test,
    hear,
    prepared,
    rows_of,
    token,
    wait_for_trial,
)
from tests.browser.pages import SlowVoice, wait_for_status
from tests.ports import free_port

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
    go_on(begun)
    wait_for_trial(begun, 2)
    assert token(begun, test) == session
    vote(begun, "B")
    wait_for_trial(begun, 3)
    assert choices(tests_folder, begun, test) == ["A", "B"]


def test_another_tab_goes_on_with_the_same_session(browser, begun, url, test, tests_folder):
    other = browser.new_page(storage_state=begun.context.storage_state())
    go_to_test(other, url, test)
    go_on(other)
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
    go_on(begun)
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


def test_a_session_that_the_server_does_not_know_is_kept_until_it_does(begun, test, tests_folder):
    """It may be another server, or another folder."""
    votes = tests_folder / test / f"votes-{token(begun, test)}.csv"
    aside = votes.rename(votes.with_suffix(".aside"))
    begun.reload()
    wait_for_status(begun, "There is no such session", ".listen")
    aside.rename(votes)
    begun.click("text=Try again")
    go_on(begun)
    wait_for_trial(begun, 2)
    assert choices(tests_folder, begun, test) == ["A"]


def test_a_session_that_is_gone_begins_anew_if_the_listener_says_so(begun, test, tests_folder):
    gone = token(begun, test)
    (tests_folder / test / f"votes-{gone}.csv").unlink()
    begun.reload()
    begun.click("text=Begin a new session")
    begun.click(".introduction .begin")
    wait_for_trial(begun, 1)
    assert token(begun, test) != gone


@pytest.mark.parametrize("status", [401, 404])
def test_a_vote_is_owed_until_the_server_has_judged_it(begun, test, tests_folder, status):
    begun.route(VOTES, lambda route: route.fulfill(status=status, body="Not now."))
    vote(begun, "B")
    wait_for_status(begun, "Not now.", ".listen")
    begun.unroute(VOTES)
    begun.click("text=Try again")
    go_on(begun)
    wait_for_trial(begun, 3)
    assert choices(tests_folder, begun, test) == ["A", "B"]


def test_a_lost_answer_makes_no_second_session(page, url, tests_folder):
    test, lost = prepared(tests_folder).test, []

    def lose(route):
        if lost:
            return route.continue_()
        lost.append(route.fetch())
        return route.abort()

    page.route("**/sessions", lose)
    begin(page, url, test)
    assert lost[0].json()["session"] == token(page, test)
    assert len(list((tests_folder / test).glob("votes-*.csv"))) == 1


def test_an_answer_that_makes_no_sense_is_told(page, url, test):
    page.route(f"**/forespeak/listen/{test}", lambda route: route.fulfill(body="null"))
    go_to_test(page, url, test)
    wait_for_status(page, "This page does not work as it should", ".listen")
    assert page.is_visible("text=Try again")


def test_another_server_goes_on_with_the_session(browser, tmp_path):
    """As after a crash: nothing but the folder is left of the first one."""
    test = prepared(tmp_path).test
    port = free_port()

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
    assert page.inner_text(".trial h2") == "Trial 3 of 5"
    page.close()
    second.close()
