"""dom.js: elements whose text is never markup."""

import pytest

pytestmark = pytest.mark.browser

BUILD = """async ([hostile]) => {
  const { h } = await import("./page/dom.js");
  const heard = [];
  const element = h(
    "p",
    { class: "a", title: hostile, hidden: true, lang: null, dir: false,
      onclick: () => heard.push(1) },
    hostile, null, false, 0, [h("b", null, "bold"), ["deep"]],
  );
  element.click();
  return {
    names: element.getAttributeNames(), title: element.title, text: element.textContent,
    tags: [...element.children].map((child) => child.tagName), clicks: heard.length,
  };
}"""


def test_attributes_listeners_and_text_children(blank):
    hostile = "<img src=x onerror=alert(1)> ${x} {{x}}"
    assert blank.evaluate(BUILD, [hostile]) == {
        "names": ["class", "title", "hidden"],
        "title": hostile,
        "text": f"{hostile}0bolddeep",
        "tags": ["B"],
        "clicks": 1,
    }
