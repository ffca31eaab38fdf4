"""Weights from a hub that is at hand, absent, closed, cut off, or lying."""

import errno
import json
import shutil
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import ForespeakError
from tests.fake_hub import FakeHub, serving

pytest.importorskip("httpx2")
huggingface_hub = pytest.importorskip("huggingface_hub", minversion="2.4")

from core.hub import INDEX, Hub, Repository  # noqa: E402

MODEL = Repository("someone/model", files=("config.json", "tokenizer.json"))
WEIGHTS = bytes(range(256)) * 64


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """A hub that has the model, whole."""
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "tokenizer.json").write_text("[]")
    (folder / "model.safetensors").write_bytes(WEIGHTS)
    (folder / "pytorch_model.bin").write_bytes(b"a pickle")
    monkeypatch.setattr("huggingface_hub.file_download.time.sleep", lambda _: None)
    with serving(FakeHub({"someone/model": folder})) as fake:
        yield fake


@pytest.fixture
def hub(fake: FakeHub, tmp_path: Path) -> Hub:
    return Hub(fake.url, tmp_path / "cache")


def left_over(hub: Hub) -> set[str]:
    """Names of all files with content in the cache, but for the library's own."""
    files = [file for file in hub.cache.rglob("*") if file.is_file() and not file.is_symlink()]
    return {file.name for file in files if "blobs" in file.parts}


def test_all_that_is_wanted_comes_and_nothing_else(hub: Hub, fake: FakeHub) -> None:
    assert hub.find(MODEL) is None
    assert [file.name for file in hub.missing(MODEL)] == [*MODEL.files, "model.safetensors"]
    folder = hub.download(MODEL)
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS
    assert not any("pytorch" in path for path in fake.asked), "a pickle was fetched"
    assert hub.missing(MODEL) == []
    assert hub.find(MODEL) == folder == hub.require(MODEL, "fetch it")


def test_what_is_here_needs_no_hub(hub: Hub, fake: FakeHub) -> None:
    folder = hub.download(MODEL)
    fake.asked.clear()
    assert Hub("http://127.0.0.1:9", hub.cache).find(MODEL) == folder
    assert fake.asked == []


def test_shards_come_with_their_index_and_are_missed_one_by_one(hub: Hub, fake: FakeHub) -> None:
    served = fake.repositories["someone/model"]
    (served / "model.safetensors").unlink()
    shards = [f"model-0000{n}-of-00002.safetensors" for n in (1, 2)]
    for shard in shards:
        (served / shard).write_bytes(shard.encode())
    index = {"weight_map": dict(zip("abc", [*shards, shards[0]], strict=True))}
    (served / INDEX).write_text(json.dumps(index))
    folder = hub.download(MODEL)
    assert hub.find(MODEL) == folder
    (folder / shards[1]).unlink()
    assert hub.find(MODEL) is None
    (folder / INDEX).resolve().write_text("{")
    with pytest.raises(ForespeakError, match="damaged"):
        hub.find(MODEL)


def test_what_is_not_here_is_asked_for_by_the_user(hub: Hub, fake: FakeHub) -> None:
    with pytest.raises(ForespeakError, match=r"^someone/model is not on this computer yet: do it"):
        hub.require(MODEL, "do it")
    assert fake.asked == []


def test_no_hub(tmp_path: Path) -> None:
    hub = Hub("http://127.0.0.1:9", tmp_path)  # the discard port: nobody listens
    with pytest.raises(ForespeakError, match=r"Cannot reach http://127.0.0.1:9 for someone/model"):
        hub.download(MODEL)
    assert not left_over(hub)


def test_a_gated_repository(hub: Hub, fake: FakeHub) -> None:
    fake.gated.add("someone/model")
    with pytest.raises(ForespeakError, match=f"accept its terms at {fake.url}/someone/model"):
        hub.download(MODEL)
    assert not left_over(hub)


@pytest.mark.parametrize(
    ("repository", "words"),
    [
        (Repository("no/where"), "has no no/where"),
        (Repository("someone/model", "gone"), "has no revision gone"),
        (Repository("someone/model", files=("vocab.json",)), "has no vocab.json at revision main"),
    ],
)
def test_what_the_hub_does_not_have(hub: Hub, repository: Repository, words: str) -> None:
    with pytest.raises(ForespeakError, match=words):
        hub.download(repository)
    assert not left_over(hub)


def test_pickled_weights_are_refused(hub: Hub, fake: FakeHub) -> None:
    (fake.repositories["someone/model"] / "model.safetensors").unlink()
    with pytest.raises(ForespeakError, match="no safetensors at revision main"):
        hub.download(MODEL)
    assert not left_over(hub)


def test_a_disk_without_room_is_noticed_before_anything_is_fetched(
    hub: Hub, fake: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(len(WEIGHTS)))
    with pytest.raises(ForespeakError, match=r"too full for someone/model \(needs .* HF_HOME"):
        hub.download(MODEL)
    assert not any("resolve" in path for path in fake.asked)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(len(WEIGHTS) + 4))
    hub.download(MODEL)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(0))
    hub.download(MODEL)  # what is here needs no room


def test_a_disk_that_fills_up_meanwhile(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", full)
    with pytest.raises(ForespeakError, match="too full for someone/model"):
        hub.download(MODEL)


def test_a_damaged_file_is_deleted_and_comes_anew(hub: Hub, fake: FakeHub) -> None:
    fake.damaged.add("model.safetensors")
    with pytest.raises(
        ForespeakError, match=r"model\.safetensors of someone/model arrived damaged"
    ):
        hub.download(MODEL)
    assert hub.find(MODEL) is None
    fake.damaged.clear()
    assert (hub.download(MODEL) / "model.safetensors").read_bytes() == WEIGHTS


def test_a_file_that_was_damaged_here_is_found_out_by_fetching_again(hub: Hub) -> None:
    weights = hub.download(MODEL) / "model.safetensors"
    weights.resolve().write_bytes(WEIGHTS[:-1] + b"x")
    with pytest.raises(ForespeakError, match="damaged"):
        hub.download(MODEL)
    assert (hub.download(MODEL) / "model.safetensors").read_bytes() == WEIGHTS


def test_a_download_that_is_cut_goes_on_where_it_was(
    hub: Hub, fake: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "DOWNLOAD_CHUNK_SIZE", 1024)
    fake.cut["model.safetensors"] = len(WEIGHTS) // 2
    assert (hub.download(MODEL) / "model.safetensors").read_bytes() == WEIGHTS
    asked = [path for path in fake.asked if path.endswith("model.safetensors")]
    assert [path[:3] for path in asked].count("GET") == 2, "each half once"


def test_a_download_that_broke_off_goes_on_in_the_next_call(
    hub: Hub, fake: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "DOWNLOAD_CHUNK_SIZE", 1024)
    name, half = "model.safetensors", len(WEIGHTS) // 2
    fake.end[name] = half
    with pytest.raises(ForespeakError, match=r"broke off: start it again; what has arrived stays"):
        hub.download(MODEL)
    assert fake.sent[name] == half
    assert hub.find(MODEL) is None, "half a file passes for a whole one"
    fake.end.clear()
    again = Hub(fake.url, hub.cache)
    assert [(file.name, file.size) for file in again.missing(MODEL)] == [(name, half)]
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(half))  # what is here needs no room
    assert (again.download(MODEL) / name).read_bytes() == WEIGHTS
    assert fake.sent[name] == len(WEIGHTS), "fetched twice"
    assert not any(file.endswith(".incomplete") for file in left_over(hub))


def test_what_came_before_and_is_damaged_is_found_out(hub: Hub, fake: FakeHub) -> None:
    """It is deleted, so that the call after that one begins anew."""
    name = "model.safetensors"
    fake.end[name] = 0
    with pytest.raises(ForespeakError, match="broke off"):
        hub.download(MODEL)
    fake.end.clear()
    (partial,) = hub.cache.rglob("*.incomplete")
    partial.write_bytes(b"x" * (len(WEIGHTS) // 2))
    with pytest.raises(ForespeakError, match="arrived damaged and was deleted"):
        hub.download(MODEL)
    assert hub.find(MODEL) is None
    assert (hub.download(MODEL) / name).read_bytes() == WEIGHTS
    partial.write_bytes(WEIGHTS + b"more")
    (hub.find(MODEL) / name).resolve().unlink()
    assert (hub.download(MODEL) / name).read_bytes() == WEIGHTS


def test_where_files_cannot_be_linked_nothing_is_kept_twice(
    hub: Hub, fake: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.file_download.are_symlinks_supported", lambda *_: False)
    for _ in range(2):
        assert (hub.download(MODEL) / "model.safetensors").read_bytes() == WEIGHTS
    assert fake.sent["model.safetensors"] == len(WEIGHTS)
    assert not left_over(hub)


def test_a_download_that_is_cut_for_good_leaves_nothing_that_passes_for_whole(
    hub: Hub, fake: FakeHub
) -> None:
    fake.cut["model.safetensors"] = 0
    with pytest.raises(ForespeakError, match="broke off"):
        hub.download(MODEL)
    assert hub.find(MODEL) is None
    whole = [file for file in left_over(hub) if not file.endswith(".incomplete")]
    assert len(whole) == 2  # config and tokenizer
    fake.cut.clear()
    fake.asked.clear()
    hub.download(MODEL)
    assert [it for it in fake.asked if "config.json" in it and "GET" in it] == [], "fetched twice"
