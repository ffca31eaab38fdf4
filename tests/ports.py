"""A port for a server of a test."""

import socket


def free_port() -> int:
    """A port of 127.0.0.1 that is free; the system does not soon give it to another process."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]
