"""The network guard stops what leaves this machine, lets local sockets through, and remembers."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.commands import Overread, overread_environment
from tests.offline import NoNetwork


def run(code: str, guard: NoNetwork) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-c", code],
        env=overread_environment(guard.env),
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    "code",
    [
        "import socket; socket.create_connection(('192.0.2.1', 443), timeout=1)",
        "import socket; socket.getaddrinfo('example.invalid', 443)",
        "import socket; socket.gethostbyname('example.invalid')",
        "import urllib.request; urllib.request.urlopen('http://example.invalid/', timeout=1)",
        "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))",
        "import subprocess, sys; subprocess.run([sys.executable, '-c', "
        "'import socket; socket.create_connection((\"192.0.2.1\", 80), timeout=1)'], check=True)",
    ],
)
def test_what_leaves_this_machine_is_refused_and_recorded(code: str, no_network: NoNetwork) -> None:
    done = run(code, no_network)
    assert done.returncode != 0
    assert "the network is blocked in this test" in done.stderr
    assert len(no_network.attempts()) == 1


def test_a_swallowed_refusal_is_still_recorded(no_network: NoNetwork) -> None:
    code = (
        "import contextlib, socket\n"
        "with contextlib.suppress(OSError): socket.create_connection(('192.0.2.1', 443), timeout=1)"
    )
    assert run(code, no_network).returncode == 0
    assert any("192.0.2.1" in attempt for attempt in no_network.attempts())


def test_local_sockets_work(no_network: NoNetwork) -> None:
    code = (
        "import asyncio, socket\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "socket.create_connection(('localhost', server.getsockname()[1]), timeout=5)\n"
        "asyncio.run(asyncio.sleep(0))"
    )
    done = run(code, no_network)
    assert done.returncode == 0, done.stderr
    assert no_network.attempts() == []


def test_help_needs_no_network(overread_cli: Overread, no_network: NoNetwork) -> None:
    outcome = overread_cli("--help", env=no_network.env)
    assert outcome.exit_code == 0, outcome
    assert no_network.attempts() == []
