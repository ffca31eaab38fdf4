"""Listening tests without a voice: clips of two tones, votes over the routes."""

import base64
from dataclasses import dataclass

import numpy as np
import soundfile
from starlette.applications import Starlette
from starlette.testclient import TestClient

from app.listen.design import ABX, Design, Item
from app.listen.routes import build_routes
from app.listen.store import new_id
from app.listen.ways import find_way

RATE, SAMPLES = 8000, 1600
PITCHES = {"baseline": 300, "lossless": 500}  # Hz
ROOT = "/forespeak/listen"


def make_test(store, kind=ABX, trials=5, first="baseline", second="lossless", **changes):
    """A test of short tones; its design."""
    test = new_id()
    folder = store.folder(test)
    folder.mkdir(parents=True)
    items = tuple(write_item(folder, number, (first, second)) for number in range(trials))
    design = Design(
        **{
            "test": test,
            "key": "the key",
            "secret": "the secret",
            "version": "0.1.0",
            "voice": "joe",
            "kind": kind,
            "first": first,
            "second": second,
            "first_title": find_way(first).title,
            "second_title": find_way(second).title,
            "temperature": 0.8,
            "top_p": 1.0,
            "gamma": 6,
            "rate": 1.0,
            "sample_rate": RATE,
            "gain": 1.0,
            "items": items,
            "at": "2026-01-01T00:00:00+00:00",
        }
        | changes
    )
    store.add(design)
    return design


def write_item(folder, number, ways, same=False):
    time = np.arange(SAMPLES) / RATE
    names = f"{new_id()}.flac", f"{new_id()}.flac"
    for name, way in zip(names, ways, strict=True):
        clip = 0.3 * np.sin(2 * np.pi * PITCHES.get(way, 700) * time)
        soundfile.write(folder / name, clip, RATE, subtype="PCM_24")
    return Item(f"Secret text {number}.", 40 + number, names, SAMPLES, same)


def client_of(store):
    return TestClient(Starlette(routes=build_routes(store)))


@dataclass
class Listener:
    """Takes a test over its routes, as the page does; client: anything that gets and posts."""

    client: object
    test: str
    session: str = ""

    def begin(self, **asked):
        """asked: what is posted; without any the listener has no name."""
        answer = self.client.post(f"{ROOT}/{self.test}/sessions", json=asked)
        self.session = answer.json()["session"]
        return self

    def get(self, what=""):
        return self.client.get(f"{ROOT}/sessions/{self.session}{what}")

    def trial(self):
        return self.get("/trial").json()

    def vote(self, number, choice, heard=None):
        body = {"trial": number, "choice": choice, "heard": heard or dict.fromkeys("ABX", 1.0)}
        return self.client.post(f"{ROOT}/sessions/{self.session}/votes", json=body)

    def take(self, answer):
        """To the end; answer: gives the choice for a trial's clips, {label: int16 [samples]}."""
        while not self.get().json()["done"]:
            trial = self.trial()
            choice = answer({label: decoded(text) for label, text in trial["clips"].items()})
            assert self.vote(trial["trial"], choice).status_code == 200
        return self


def decoded(text):
    return np.frombuffer(base64.b64decode(text), "<i2")


def by_ear(clips):
    """Hears the difference: the clip that is like X."""
    distance = {label: np.abs(clips[label] - clips["X"].astype(int)).max() for label in "AB"}
    return min(distance, key=distance.get)


def prefers(way):
    """Likes the way's pitch best."""

    def answer(clips):
        pitch = {
            label: np.abs(np.fft.rfft(clips[label])).argmax() * RATE / SAMPLES for label in "AB"
        }
        return min(pitch, key=lambda label: abs(pitch[label] - PITCHES[way]))

    return answer
