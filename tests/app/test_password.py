"""The password in front of the whole page."""

import base64
import unicodedata

import gradio as gr
import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from app.page import Page
from app.serve import start
from tests.ports import free_port

SECRET = unicodedata.normalize("NFD", "wört: with a colon")


@pytest.fixture(scope="module")
def url():
    """A real server: Gradio's own start must get through the gate."""
    with gr.Blocks(analytics_enabled=False) as blocks:
        gr.Markdown("hello")
    page = Page(blocks, [Route("/forespeak/state", lambda _: PlainTextResponse("secret"))])
    yield start(page, "127.0.0.1", free_port(), password=SECRET)
    page.close()


def get(url, path, *credentials, **headers):
    auth = credentials or None
    return httpx.get(url + path, auth=auth, headers=headers, trust_env=False)


def basic(text):
    return "Basic " + base64.b64encode(text.encode()).decode()


PATHS = ["", "config", "forespeak/state", "gradio_api/info", "gradio_api/startup-events/"]


@pytest.mark.parametrize("path", PATHS)
def test_nothing_is_told_without_it(url, path):
    response = get(url, path)
    assert (response.status_code, response.text) == (401, "This page asks for a password.")
    assert response.headers["www-authenticate"].startswith("Basic ")


@pytest.mark.parametrize("user", ["", "anybody", "ö"])
@pytest.mark.parametrize("path", PATHS[:4])
def test_all_is_there_with_it_whatever_the_name(url, path, user):
    assert get(url, path, authorization=basic(f"{user}:{SECRET}")).status_code == 200


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_however_a_keyboard_composes_its_letters(url, form):
    given = basic(f"me:{unicodedata.normalize(form, SECRET)}")
    assert get(url, "config", authorization=given).status_code == 200


@pytest.mark.parametrize(
    "given",
    [
        basic("me:wrong"),
        basic(f"{SECRET}"),
        basic("me:"),
        basic(f"me:{SECRET} "),
        "Basic %%%",
        "Basic " + base64.b64encode(b"me:\xff\xfe").decode(),
        "Basic",
        "",
        "Bearer " + SECRET.encode().hex(),
    ],
)
def test_what_does_not_open_it(url, given):
    assert get(url, "config", authorization=given).status_code == 401
