"""Imported by Python at start when this folder is on PYTHONPATH: refuses and records every non-local connection.

An audit hook sees what any Python code does with sockets, cannot be removed again, and needs no privileges. The file
named by NETWORK_GUARD_LOG gets one line for each attempt.
"""

from __future__ import annotations

import ipaddress
import os
import sys

RESOLVES = {"socket.getaddrinfo", "socket.gethostbyname"}
"""Audit events whose first argument is a host."""
SENDS = {"socket.connect", "socket.sendto", "socket.sendmsg"}
"""Audit events whose second argument is an address: (host, port, …), or the path of a Unix socket."""


def host_of(event: str, arguments: tuple[object, ...]) -> str:
    """The host an event reaches for; "" for events that stay on this machine by their kind."""
    host: object = ""
    if event in RESOLVES:
        host = arguments[0]
    elif event in SENDS and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    return host.decode("ascii", "replace") if isinstance(host, bytes) else str(host or "")


def is_local(host: str) -> bool:
    """True for this machine: no host, its usual name, a loopback address."""
    if host in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


def guard(event: str, arguments: tuple[object, ...]) -> None:
    """The audit hook."""
    if event.startswith("socket.") and not is_local(host := host_of(event, arguments)):
        _record(f"{event} {host}\n")
        raise ConnectionRefusedError(f"the network is blocked in this test: {event} {host}")


def _record(line: str) -> None:
    if path := os.environ.get("NETWORK_GUARD_LOG"):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(descriptor, line.encode())
        os.close(descriptor)


sys.addaudithook(guard)
