"""Opens the page: a port, a server on this computer, and the engine loading meanwhile."""

import errno
import ipaddress
import os
import socket
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import gradio as gr
from starlette.middleware import Middleware

from app.page import ASSETS, Page, build_page
from app.password import Password
from app.studio import Studio
from core.engine import Engine, leave_a_core, pick_device
from core.errors import ForespeakError
from core.voices.catalog import find_voice

DEFAULT_PORT = 7860
PORTS_TRIED = 100
LARGEST_UPLOAD = "64mb"  # a trace of ten minutes with its sound is half of that
INTERRUPTED = 130  # what a shell expects of a command that Ctrl-C ended
SYSTEM_FONTS = ["system-ui", "sans-serif"]
MONO_FONTS = ["ui-monospace", "monospace"]
ANYWHERE = "192.0.2.1"  # an address of documentation: nobody is there, and nothing is sent
OPEN_TO_ALL = (
    "Everybody on the network can use this page: --password WORD asks them for a password."
)


def serve(
    host: str,
    port: int | None,
    browser: bool,
    voice: str,
    device: str,
    tests: Path | None,
    password: str | None,
) -> None:
    """Serve the page until interrupted. Raises for what is wrong with any of these.

    tests: the folder of listening tests, by default one of the user's.
    """
    find_voice(voice)
    pick_device(device)
    check_sharing(tests, password)
    port = pick_port(host, port)
    lan = network_address(host, port)
    leave_a_core()
    studio = Studio(lambda name: Engine.load(name, device), device)
    page = build_page(studio, voice, tests=tests, lan=lan)
    url = start(page, host, port, browser, password)
    try:
        if not (password or is_loopback(host)):
            print(OPEN_TO_ALL, file=sys.stderr, flush=True)
        print(f"Forespeak is at {url}  (Ctrl-C stops it)", flush=True)
        if lan:
            print(f"On the local network: {lan}", flush=True)
        threading.Thread(target=_load_early, args=(studio, voice), daemon=True).start()
        while True:
            time.sleep(1)  # an untimed wait for a lock or event ignores Ctrl-C on Windows
    except KeyboardInterrupt:
        page.close()
        # Threads that load or speak are inside PyTorch; Python would abort, ending under them.
        os._exit(INTERRUPTED)


def start(
    page: Page, host: str, port: int, browser: bool = False, password: str | None = None
) -> str:
    """Start serving and return the page's address; raises ForespeakError if the port is taken."""
    gate = [Middleware(Password, password=password)] if password else []
    # Gradio asks its own server whether it is there; a proxy must not answer in its place.
    for name in ("NO_PROXY", "no_proxy"):
        os.environ[name] = ",".join(filter(None, (os.environ.get(name), "localhost", host)))
    try:
        _, url, _ = page.blocks.launch(
            server_name=host,
            server_port=port,
            inbrowser=browser,
            share=False,
            prevent_thread_lock=True,
            quiet=True,
            ssr_mode=False,
            strict_cors=True,
            run_history=False,
            max_file_size=LARGEST_UPLOAD,
            app_kwargs={"routes": page.routes, "middleware": gate},
            footer_links=["api"],
            css_paths=[ASSETS / f"{sheet}.css" for sheet in ("page", "listen", "learn", "bench")],
            theme=gr.themes.Base(font=SYSTEM_FONTS, font_mono=MONO_FONTS),
        )
    except OSError as error:  # somebody took the port since `pick_port` looked
        raise ForespeakError(
            f"Cannot listen on {host}, port {port}: choose another with --port."
        ) from error
    return url


def pick_port(host: str, port: int | None) -> int:
    """The given port, which must be free; without one 7860 or the next free one."""
    if port is not None:
        if not _is_free(host, port):
            raise ForespeakError(f"Port {port} is in use: choose another with --port.")
        return port
    for candidate in range(DEFAULT_PORT, DEFAULT_PORT + PORTS_TRIED):
        if _is_free(host, candidate):
            return candidate
    raise ForespeakError(f"No port from {DEFAULT_PORT} on is free: choose one with --port.")


def check_sharing(tests: Path | None, password: str | None) -> None:
    """Raise where the folder of tests is none, or the password is empty or cannot be typed."""
    if tests and tests.exists() and not tests.is_dir():
        raise ForespeakError(f"{tests} is no folder: choose another with --tests.")
    if password is not None and not password.strip():
        raise ForespeakError("The password is empty: give --password a word.")
    if password and not password.isprintable():
        raise ForespeakError("The password has characters that nobody can type: choose another.")


def network_address(host: str, port: int) -> str | None:
    """The page's address for other computers on the local network; None if they have none."""
    if is_loopback(host):
        return None
    with suppress(ValueError):
        if ipaddress.ip_address(host).is_unspecified:
            host = _own_address()
    if not host or is_loopback(host):
        return None
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def is_loopback(host: str) -> bool:
    """Whether only this computer can reach it."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _own_address() -> str:
    """This computer's address on its network; empty without one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, suppress(OSError):
        probe.connect((ANYWHERE, 9))
        return probe.getsockname()[0]
    return ""


def _is_free(host: str, port: int) -> bool:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            # As the server does: a port whose last user has just left counts as free.
            # On Windows the option would share a port that is in use.
            if os.name != "nt":
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except socket.gaierror as error:
        raise ForespeakError(f"Cannot listen on {host} ({error.strerror}): check it.") from error
    except PermissionError as error:
        raise ForespeakError(f"Port {port} needs more rights: choose one above 1023.") from error
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return False
        raise ForespeakError(f"Cannot listen on {host} ({error.strerror}): check it.") from error
    return True


def _load_early(studio: Studio, voice: str) -> None:
    with suppress(ForespeakError):  # the page tells whoever opens it
        studio.ready(voice)
