"""A model hub on this computer: real HTTP, no network, and every way of going wrong."""

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

COMMIT = "c0ffee" + 34 * "0"


@dataclass
class FakeHub:
    """Serves folders as repositories, at every revision but "gone".

    gated: repositories that are refused. damaged: files that arrive changed. cut: files of which
    the server sends only so many bytes per answer. end: those of which it sends nothing behind this
    byte. asked: methods and paths, in order. sent: bytes of each file, all answers together.
    """

    repositories: dict[str, Path] = field(default_factory=dict)
    gated: set[str] = field(default_factory=set)
    damaged: set[str] = field(default_factory=set)
    cut: dict[str, int] = field(default_factory=dict)
    end: dict[str, int] = field(default_factory=dict)
    sent: Counter[str] = field(default_factory=Counter)
    asked: list[str] = field(default_factory=list)
    url: str = ""

    def files(self, name: str) -> dict[str, bytes]:
        folder = self.repositories[name]
        return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}

    def info(self, name: str) -> dict:
        siblings = []
        for file, data in self.files(name).items():
            entry = {"rfilename": file, "size": len(data), "blobId": "0"}
            if file.endswith(".safetensors"):
                sha = hashlib.sha256(data).hexdigest()
                entry["lfs"] = {"size": len(data), "sha256": sha, "pointerSize": 130}
            siblings.append(entry)
        return {"id": name, "modelId": name, "sha": COMMIT, "private": False, "tags": []} | {
            "siblings": siblings
        }


@contextmanager
def serving(hub: FakeHub) -> Iterator[FakeHub]:
    """The hub, answering at its url."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self, hub)

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def answer(request: BaseHTTPRequestHandler, hub: FakeHub) -> None:
    path = urlsplit(request.path).path
    hub.asked.append(f"{request.command} {path}")
    parts = path.strip("/").split("/")
    if parts[:2] == ["api", "models"]:
        name, revision, file = "/".join(parts[2:4]), parts[-1], None
    else:
        name, revision, file = "/".join(parts[:2]), parts[3], parts[4]
    if name in hub.gated:
        return refuse(request, 403, "GatedRepo")
    if name not in hub.repositories:
        return refuse(request, 404, "RepoNotFound")
    if revision == "gone":
        return refuse(request, 404, "RevisionNotFound")
    if file is None:
        return send(request, json.dumps(hub.info(name)).encode(), {})
    return send_file(request, hub, name, file)


def refuse(request: BaseHTTPRequestHandler, status: int, code: str) -> None:
    request.send_response(status)
    request.send_header("X-Error-Code", code)
    request.send_header("Content-Length", "0")
    request.end_headers()


def send(request: BaseHTTPRequestHandler, data: bytes, headers: dict[str, str]) -> None:
    request.send_response(200)
    for key, value in ({"Content-Length": str(len(data))} | headers).items():
        request.send_header(key, value)
    request.end_headers()
    if request.command == "GET":
        request.wfile.write(data)


def send_file(request: BaseHTTPRequestHandler, hub: FakeHub, name: str, file: str) -> None:
    data = hub.files(name)[file]
    etag = hashlib.sha256(data).hexdigest()
    if file in hub.damaged:
        data = data[:-1] + bytes([data[-1] ^ 1])
    first = int(request.headers.get("Range", "bytes=0-")[6:].split("-")[0])
    request.send_response(206 if first else 200)
    request.send_header("X-Repo-Commit", COMMIT)
    request.send_header("ETag", f'"{etag}"')
    request.send_header("Content-Length", str(len(data) - first))
    if first:
        request.send_header("Content-Range", f"bytes {first}-{len(data) - 1}/{len(data)}")
    request.end_headers()
    if request.command == "GET":
        part = data[first : hub.end.get(file)][: hub.cut.get(file)]
        hub.sent[file] += len(part)
        request.wfile.write(part)
        request.close_connection = True
