"""Ports: the default gives way, a chosen one does not. Addresses for others on the network."""

import socket

import gradio as gr
import pytest

from app import serve
from app.page import Page
from core.errors import ForespeakError


@pytest.fixture
def taken():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_the_default_port_gives_way(taken, monkeypatch):
    monkeypatch.setattr(serve, "DEFAULT_PORT", taken)
    assert serve.pick_port("127.0.0.1", None) > taken


def test_a_chosen_port_does_not(taken):
    with pytest.raises(ForespeakError, match=str(taken)):
        serve.pick_port("127.0.0.1", taken)


def test_a_port_that_is_taken_in_the_last_moment(taken):
    with gr.Blocks(analytics_enabled=False) as blocks:
        pass
    with pytest.raises(ForespeakError, match=f"port {taken}: choose another"):
        serve.start(Page(blocks, []), "127.0.0.1", taken)


@pytest.mark.parametrize("host", ["nowhere.invalid", "192.0.2.1"])
def test_a_host_that_cannot_be_listened_on(host):
    with pytest.raises(ForespeakError, match=f"Cannot listen on {host}"):
        serve.pick_port(host, None)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.8.8.8"])
def test_others_cannot_reach_a_loopback_address(host):
    assert serve.is_loopback(host)
    assert serve.network_address(host, 1) is None


def test_the_address_for_others(monkeypatch):
    monkeypatch.setattr(serve, "_own_address", lambda: "192.168.1.20")
    assert serve.network_address("0.0.0.0", 7860) == "http://192.168.1.20:7860/"
    assert serve.network_address("::", 7860) == "http://192.168.1.20:7860/"
    assert serve.network_address("192.168.1.9", 80) == "http://192.168.1.9:80/"
    assert serve.network_address("fd00::9", 80) == "http://[fd00::9]:80/"
    assert serve.network_address("desk.local", 80) == "http://desk.local:80/"


@pytest.mark.parametrize("own", ["", "127.0.0.1"])
def test_a_computer_without_a_network_has_none(monkeypatch, own):
    monkeypatch.setattr(serve, "_own_address", lambda: own)
    assert serve.network_address("0.0.0.0", 7860) is None
