"""address.js: a password that somebody typed into the address is asked of nobody and handed on to
nobody. Browsers refuse to fetch an address that has one."""

import pytest

pytestmark = pytest.mark.browser

SEEN = """async () => {
  const at = (name) => import(`${location.origin}/forespeak/page/${name}.js`);
  const [{ address }, { linkTo }] = await Promise.all([at("address"), at("listen-links")]);
  const { url } = await fetch(address("state"));
  return [document.baseURI, url, linkTo("For listeners", {}).querySelector("input").value];
}"""


def test_a_password_in_the_address_stays_there(browser, url):
    page = browser.new_page()
    page.goto(url.replace("//", "//me:secret@") + "forespeak/page/dom.js")
    here, asked, link = page.evaluate(SEEN)
    page.close()
    assert "secret" in here
    assert asked.startswith(url)
    assert link.startswith(url)
