"""Files: private, whole or not at all, never one over another."""

from __future__ import annotations

import errno
import os
import stat
import threading
from pathlib import Path

import pytest

from store import files
from store.drives import Mount, read_mounts, unsafe_drive
from store.errors import NotWrittenError, UsageError
from store.files import (
    free_name,
    fsync_folder,
    move_aside,
    not_written,
    private_umask,
    publish,
    sha256_of,
    write_atomically,
    write_private,
)


@pytest.fixture(autouse=True)
def usual_umask() -> object:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_umask_is_narrow_inside_and_as_before_after_nested_blocks(tmp_path: Path) -> None:
    with private_umask():
        with private_umask():
            (tmp_path / "a").touch()
        (tmp_path / "b").touch()
    (tmp_path / "c").touch()
    assert [mode(tmp_path / name) for name in "abc"] == [0o600, 0o600, 0o644]


def test_the_umask_is_as_before_after_blocks_that_overlap_over_threads(tmp_path: Path) -> None:
    """Each thread putting back what it found would leave the narrow one for good."""
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with private_umask():
            inside.set()
            leave.wait(10)

    with private_umask():
        thread = threading.Thread(target=other)
        thread.start()
        inside.wait(10)
    (tmp_path / "still narrow").touch()
    leave.set()
    thread.join(10)
    (tmp_path / "after").touch()
    assert mode(tmp_path / "still narrow") == 0o600 and mode(tmp_path / "after") == 0o644


def test_a_file_is_replaced_whole_and_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("before", encoding="utf-8")
    write_atomically(path, iter(["漢,", "\r\n", "b\n"]))
    assert path.read_bytes() == "漢,\r\nb\n".encode()
    assert mode(path) == 0o600 and list(tmp_path.iterdir()) == [path]


def test_an_interrupted_write_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("before", encoding="utf-8")

    def chunks():  # type: ignore[no-untyped-def]
        yield "half"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, chunks())
    assert path.read_text(encoding="utf-8") == "before" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_refused_write_is_told_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    path = tmp_path / "out.csv"

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(files.os if call == "fsync" else Path, call, refuse)
        with pytest.raises(NotWrittenError, match=r"out.csv cannot be written") as caught:
            write_atomically(path, ["text"])
    assert "No space left" in caught.value.detail and caught.value.hint == "Free disk space, then try again."
    assert caught.value.exit_code == 4 and list(tmp_path.iterdir()) == []


def test_a_link_is_followed_and_a_device_refused(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    target, link = tmp_path / "far" / "real.csv", tmp_path / "link.csv"
    target.write_text("before", encoding="utf-8")
    link.symlink_to(target)
    write_atomically(link, ["after"])
    assert link.is_symlink() and target.read_text(encoding="utf-8") == "after"
    for place in (Path("/dev/null"), tmp_path):
        with pytest.raises(UsageError, match="no ordinary file"):
            write_atomically(place, ["x"])
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_the_remedy_fits_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "x"
    assert "Free disk space" in not_written(path, OSError(errno.EDQUOT, "Quota")).hint
    assert "right to write" in not_written(path, OSError(errno.EROFS, "Read-only")).hint
    assert "try again" in not_written(path, OSError(errno.EIO, "I/O")).hint
    assert not_written(path, OSError(errno.EIO, "I/O", "/named")).detail == "/named: I/O"


def test_a_private_file_is_new(tmp_path: Path) -> None:
    write_private(tmp_path / "torn", b"\x00half")
    assert (tmp_path / "torn").read_bytes() == b"\x00half" and mode(tmp_path / "torn") == 0o600
    with pytest.raises(FileExistsError):
        write_private(tmp_path / "torn", b"other")


@pytest.mark.parametrize("links", [True, False])
def test_a_finished_file_gets_its_name_and_never_anothers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    if not links:
        monkeypatch.setattr(files.os, "link", _no_links)
    unfinished, path = tmp_path / ".x.part", tmp_path / "x"
    unfinished.write_bytes(b"mine")
    publish(unfinished, path)
    assert path.read_bytes() == b"mine" and list(tmp_path.iterdir()) == [path]
    unfinished.write_bytes(b"late")
    with pytest.raises(FileExistsError):
        publish(unfinished, path)
    assert path.read_bytes() == b"mine"


def _no_links(*_: object) -> None:
    raise OSError(errno.EPERM, "Operation not permitted")


def test_what_is_moved_aside_never_meets_another(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / "s.duckdb").write_bytes(bytes([number]))
        assert move_aside(tmp_path / "s.duckdb", "damaged").name == f"s.duckdb.damaged-{number}"
    assert free_name(tmp_path / "s.duckdb", "damaged").name == "s.duckdb.damaged-3"


def test_hashing_and_syncing(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"")
    assert sha256_of(tmp_path / "x").startswith("e3b0c442")
    fsync_folder(tmp_path)
    with pytest.raises(FileNotFoundError):
        fsync_folder(tmp_path / "none")


MOUNTS = [Mount("/", "ext4"), Mount("/home", "nfs4"), Mount("/home/me/local", "ext4"), Mount("/mnt/c", "9p")]


@pytest.mark.parametrize(
    ("path", "where"),
    [
        ("/data/s.duckdb", ""),
        ("/home/me/s.duckdb", "a network drive (nfs4)"),
        ("/home/me/local/s.duckdb", ""),
        ("/homework/s.duckdb", ""),
        ("/mnt/c/s.duckdb", "a network drive (9p)"),
        ("/data/Dropbox (Clinic)/s.duckdb", "kept in sync (Dropbox (Clinic))"),
        ("/data/OneDrive - Clinic/a/s.duckdb", "kept in sync"),
        ("/data/Dropbox.duckdb", ""),
    ],
)
def test_places_where_locks_do_not_hold_are_warned_of(path: str, where: str) -> None:
    warning = unsafe_drive(Path(path), MOUNTS)
    assert bool(warning) == bool(where) and where in warning


def test_this_machines_mounts_can_be_read() -> None:
    assert all(mount.folder.startswith("/") and mount.kind for mount in read_mounts())
