"""Which texts are in another script."""

import pytest

from app.spelling import spelled


@pytest.mark.parametrize(
    "text", ["你好世界", "one 字 here", "Привет", "Γειά", "שלום", "カナ", "สวัสดี"]
)
def test_words_of_another_script(text):
    assert spelled(text)


@pytest.mark.parametrize(
    "text",
    ["", "Dr. Smith", "naïve café", "Łódź", "α is 0.9, 5 µm", "1ª, 2º", "Ｗｉｄｅ", "🧠 ½", "ﬁne"],
)
def test_others(text):
    assert not spelled(text)
