"""The Listen tab in a real browser, with the fake voice: prepare a test, and take it."""

import pytest

from tests.browser.listeners import (
    ENOUGH,
    answer,
    begin,
    go_to_test,
    hear,
    open_test,
    prepared,
    rows_of,
    token,
    wait_for_trial,
)
from tests.browser.pages import wait_for_status

pytestmark = pytest.mark.browser
HOSTILE = "<img src=x onerror='window.hacked = 1'> ${window.hacked = 2} {{hacked}} C:\\users"
PLAYING = "player.playing"
POSITION = "player.position"
LISTENER = "localStorage['forespeak-listener']"


@pytest.fixture(scope="module")
def abx(tests_folder):
    return prepared(tests_folder).test


@pytest.fixture(scope="module")
def ab(tests_folder):
    return prepared(tests_folder, kind="ab", trials=6).test


class TestPrepare:
    def fill(self, page, texts, trials):
        page.get_by_role("tab", name="Listen").click()
        page.fill("#listen-texts textarea", texts)
        page.fill("#listen-form input[type=number]", str(trials))
        page.click("#prepare")

    def test_a_form_becomes_a_test_and_its_two_links(self, page, browser, url):
        self.fill(page, f"hello\n{HOSTILE}", 5)
        page.wait_for_selector(".prepared .begin")
        wait_for_status(page, "The test is ready.", ".listen")
        ours, own = (field.input_value() for field in page.locator(".prepared input").all())
        assert own.startswith(f"{ours}&key=")
        listener = browser.new_page()
        test = ours.split("listen=")[1]
        begin(listener, url, test)
        for number in range(1, 6):
            wait_for_trial(listener, number)
            hear(listener)
            answer(listener, "A")
        listener.wait_for_selector(".outcome table")
        assert HOSTILE in listener.inner_text(".outcome table")
        assert listener.evaluate("window.hacked") is None
        page.goto(own)
        page.wait_for_selector(".listen table")
        assert "Session 1" in page.inner_text(".listen table")
        assert page.evaluate("window.hacked") is None
        listener.close()

    def test_what_is_wrong_is_said_and_the_next_press_works(self, page):
        self.fill(page, "hello", 3)
        wait_for_status(page, "Choose 5 to 100 trials", ".listen")
        self.fill(page, " \n", 5)
        wait_for_status(page, "There are no texts", ".listen")
        self.fill(page, "hello\nfail", 5)
        wait_for_status(page, "The fake voice failed", ".listen")
        self.fill(page, "hello", 5)
        page.wait_for_selector(".prepared .begin")

    def test_stop_leaves_no_test(self, page, tests_folder):
        before = set(tests_folder.iterdir())
        self.fill(page, "hello", 100)
        page.wait_for_function("document.querySelector('.listen progress')?.value > 2")
        page.click("#stop-prepare")
        wait_for_status(page, "Stopped", ".listen")
        page.wait_for_timeout(1000)
        assert set(tests_folder.iterdir()) == before
        assert page.is_enabled("#prepare")

    def test_only_the_settings_above_count_for_it(self, page):
        page.get_by_role("tab", name="Listen").click()
        page.wait_for_selector("#listen-form")
        assert page.is_visible("#settings")
        assert not page.is_visible("#text")
        page.get_by_role("tab", name="Live").click()
        page.wait_for_selector("#text")


class TestTaking:
    def test_by_keyboard_each_clip_heard_for_real(self, page, url, abx, tests_folder):
        open_test(page, url, abx)
        page.keyboard.press("Enter")
        for number in range(1, 6):
            wait_for_trial(page, number)
            page.keyboard.press("1")  # nothing was heard yet
            for name in "abx":
                page.keyboard.press(name)
                page.wait_for_function(f"player.heard.{name.upper()}.enough")
            page.keyboard.press("12"[number % 2])
        page.wait_for_selector(".outcome")
        rows = rows_of(tests_folder, page, abx)
        assert [row["choice"] for row in rows] == ["B", "A", "B", "A", "B"]
        assert all(float(seconds) > 0.3 for row in rows for seconds in row["heard_s"].split()[1::2])
        assert page.evaluate("document.activeElement.textContent") == "Your result"

    def test_by_mouse(self, page, url, ab, tests_folder):
        begin(page, url, ab)
        choices = ["A", "B", "none", "A", "none", "B"]
        for number, choice in enumerate(choices, 1):
            wait_for_trial(page, number)
            for name in "AB":
                page.get_by_role("button", name=f"Listen to {name}").click()
                page.wait_for_function(f"player.heard.{name}.enough")
            answer(page, choice)
        page.wait_for_selector(".outcome")
        assert [row["choice"] for row in rows_of(tests_folder, page, ab)] == choices
        assert "2 without a preference" in page.inner_text(".outcome")

    def test_no_answer_before_each_clip_was_heard(self, page, url, abx):
        begin(page, url, abx)
        asked = []
        page.on("request", lambda r: r.url.endswith("/votes") and asked.append(r.url))
        enabled = "[...document.querySelectorAll('.answers button')].map((b) => !b.disabled)"
        for name in "ABX":
            assert page.evaluate(enabled) == [False, False]
            page.evaluate("document.querySelector('.answers button').click()")
            page.keyboard.press("1")
            wait_for_status(page, "Listen before you answer", ".listen")
            assert name in page.inner_text(".listen .status")
            page.evaluate(f"player.heard.{name}.add(0, 9), player.onchange()")
        assert asked == []
        assert page.evaluate(enabled) == [True, True]
        wait_for_status(page, "Answer when you are ready", ".listen")

    def test_space_arrows_and_home(self, page, url, tests_folder):
        begin(page, url, prepared(tests_folder, "a rather long text " * 3).test)
        keys = page.keyboard
        keys.press(" ")
        page.wait_for_function(f"{PLAYING} && {POSITION} > 0.2")
        keys.press(" ")
        assert not page.evaluate(PLAYING)
        at = page.evaluate(POSITION)
        keys.press("ArrowRight")
        assert page.evaluate(POSITION) == pytest.approx(at + 1, abs=0.001)
        keys.press("b")
        assert page.evaluate("player.chosen") == "B"
        assert page.evaluate(POSITION) == pytest.approx(at + 1, abs=0.2)
        keys.press("ArrowLeft")
        keys.press("Home")
        assert page.evaluate(POSITION) < 0.2
        # A pointer leaves the focus where it was: Space goes on to mean play and pause.
        page.get_by_role("button", name="Listen to X").click()
        page.wait_for_function(f"{PLAYING} && player.chosen === 'X'")
        keys.press(" ")
        assert not page.evaluate(PLAYING)

    def test_keys_work_within_the_trial_only(self, page, url, abx):
        begin(page, url, abx)
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("b")
        assert not page.evaluate(PLAYING)
        page.click(".trial .question")
        page.keyboard.press("b")
        assert page.evaluate(PLAYING)
        assert page.evaluate("player.chosen") == "B"

    def test_keys_are_those_of_the_tab_that_shows(self, page):
        """Space on the Listen tab neither plays nor stops what Live holds."""
        page.get_by_role("tab", name="Listen").click()
        page.wait_for_selector(".listen .pooling")
        page.evaluate("document.activeElement.blur()")
        for key in (" ", "p", "?"):
            page.keyboard.press(key)
        assert page.evaluate("document.querySelector('.live .stage').stage.player.state") == "idle"
        assert not page.evaluate("document.body.classList.contains('presenter')")
        assert page.locator("dialog[open]").count() == 0

    def test_a_listener_sees_the_test_and_nothing_else(self, page, url, abx):
        begin(page, url, abx)
        for hidden in ("#ask", "#listen-form", "#prepare", "footer", "#heading p"):
            assert not page.is_visible(hidden)
        assert page.get_by_role("tab", name="Live").count() == 0
        assert "right" not in page.inner_text(".listen")  # no running score

    def test_take_it_again_is_a_session_of_its_own(self, page, url, abx):
        begin(page, url, abx)
        for number in range(1, 6):
            wait_for_trial(page, number)
            hear(page)
            answer(page, "A")
        page.wait_for_selector(".outcome")
        first = token(page, abx)
        page.click("text=Take it again")
        page.click(".begin")
        wait_for_trial(page, 1)
        assert token(page, abx) != first

    def test_an_unknown_test_says_so(self, page, url):
        page.goto(f"{url}?listen=0123456789abcdef")
        wait_for_status(page, "There is no such test", ".listen")
        page.click("text=Prepare a test")
        page.get_by_role("tab", name="Listen").click()
        page.wait_for_selector("#listen-form")

    @pytest.mark.parametrize("link", ["", "%20", "..%2Fpool", "%3Cb%3E"])
    def test_a_link_to_no_test_is_explained(self, page, url, link):
        page.goto(f"{url}?listen={link}")
        wait_for_status(page, "This link leads to no test", ".listen")
        assert page.is_visible("#listen-form")
        assert page.is_visible("#prepare")

    def test_who_comes_back_goes_on_or_is_somebody_else(self, page, url, abx):
        begin(page, url, abx)
        hear(page)
        answer(page, "A")
        wait_for_trial(page, 2)
        first, listener = token(page, abx), page.evaluate(LISTENER)
        page.reload()
        page.wait_for_selector("text=Go on with trial 2")
        assert page.evaluate("document.activeElement.textContent") == "Go on with trial 2"
        page.click("text=I am somebody else")
        page.click("text=Start the test")
        wait_for_trial(page, 1)
        assert token(page, abx) != first
        assert page.evaluate(LISTENER) != listener

    def test_no_answer_without_all_clips(self, page, url, abx):
        def spoil(route):
            given = route.fetch().json()
            del given["clips"]["X"]
            route.fulfill(json=given)

        page.route("**/trial", spoil)
        open_test(page, url, abx)
        page.click(".begin")
        wait_for_status(page, "This page does not work as it should", ".listen")
        assert page.locator(".answers button:enabled").count() == 0

    def test_no_answer_where_the_browser_refuses_the_sound(self, page, url, abx):
        page.add_init_script(
            "BaseAudioContext.prototype.createBuffer = () => { throw new Error('no'); }"
        )
        begin(page, url, abx)
        wait_for_status(page, "This sound cannot be played here", ".listen")
        for key in ("a", "b", "x", " ", "Home", "1"):
            page.keyboard.press(key)
        assert page.locator(".answers button:enabled").count() == 0
        assert page.inner_text(".trial h2") == "Trial 1 of 5"


class TestAccess:
    @pytest.mark.parametrize(("width", "height"), [(390, 844), (844, 390)])
    def test_telephones_have_no_keys(self, browser, url, abx, width, height):
        size = {"width": width, "height": height}
        page = browser.new_page(viewport=size, has_touch=True, is_mobile=True)
        begin(page, url, abx)
        assert page.locator(".answers kbd").count() == 2
        assert not any(kbd.is_visible() for kbd in page.locator(".trial kbd").all())
        page.close()

    def test_everything_has_a_name_and_states_are_told(self, page, url, abx):
        begin(page, url, abx)
        hear(page)
        names = page.evaluate("""() => [
          ...document.querySelectorAll(".listen :is(button, input, [role])"),
        ].map((e) => e.getAttribute("aria-label") || e.textContent)""")
        assert all(names)
        assert all(button.inner_text() for button in page.locator(".trial button").all())
        assert page.get_attribute(".clip button", "aria-pressed") == "true"
        assert page.get_attribute(".heard", "aria-valuetext").endswith(" s")
        assert page.get_attribute(".listen .status", "role") == "status"
        assert page.evaluate("document.activeElement.tagName") == "H2"

    @pytest.mark.parametrize("theme", ["light", "dark"])
    @pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844)])
    def test_nothing_sticks_out(self, browser, url, abx, theme, width, height):
        page = browser.new_page(viewport={"width": width, "height": height})
        go_to_test(page, url, f"{abx}&__theme={theme}")
        page.click(".begin")
        wait_for_trial(page, 1)
        wide = "document.documentElement.scrollWidth"
        assert page.evaluate(wide) <= width
        assert page.locator(".answers").bounding_box()["y"] < height - 60
        for number in range(1, 6):
            wait_for_trial(page, number)
            hear(page)
            answer(page, "B")
        page.wait_for_selector(".outcome .figure")
        assert page.evaluate(wide) <= width
        page.close()


def test_enough_is_what_the_player_says(page, url, abx):
    """`hear` stands in for listening elsewhere: it must end where listening ends."""
    begin(page, url, abx)
    hear(page)
    assert all(page.evaluate(f"{ENOUGH}.map((heard) => heard.enough)"))
