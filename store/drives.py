"""Places where a study's lock and fsync may not hold: network drives and folders that a program keeps in sync."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

_MOUNTS: Final = Path("/proc/self/mounts")
_NETWORK: Final = re.compile(r"nfs4?|cifs|smb\w*|afpfs|sshfs|fuse\.sshfs|9p|ceph|glusterfs|lustre|davfs|fuse\.rclone")
_SYNCED: Final = re.compile(
    r"Dropbox.*|OneDrive.*|Google ?Drive.*|iCloud ?Drive|com~apple~CloudDocs|Nextcloud|ownCloud|Syncthing|Box Sync"
)


class Mount(NamedTuple):
    """A mounted file system: where, and of which type."""

    folder: str
    kind: str


def unsafe_drive(path: Path, mounts: list[Mount] | None = None) -> str:
    """A sentence of warning when `path` lies where locks are not to be relied on, else ""."""
    for part in path.parent.parts:
        if _SYNCED.fullmatch(part):
            return _warning(path, f"a folder that is kept in sync ({part})")
    kind = _kind_of(path, read_mounts() if mounts is None else mounts)
    return _warning(path, f"a network drive ({kind})") if _NETWORK.fullmatch(kind) else ""


def read_mounts() -> list[Mount]:
    """The mounted file systems, where the system tells (Linux); else none."""
    try:
        lines = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return []
    fields = [line.split(" ") for line in lines]
    return [Mount(_unescaped(field[1]), field[2]) for field in fields if len(field) > 2]


def _unescaped(folder: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), folder)


def _kind_of(path: Path, mounts: list[Mount]) -> str:
    """The type of the innermost mount above `path`; "" when none is known."""
    above = [mount for mount in mounts if path.is_relative_to(mount.folder)]
    return max(above, key=lambda mount: len(mount.folder)).kind if above else ""


def _warning(path: Path, where: str) -> str:
    return (
        f"{path.name} lies in {where}: two computers could write to it at once, and what is saved may be lost there."
        " Keep it on a disk of this computer while you label."
    )
