"""Which user of this machine is at the other end of a loopback connection.

A TCP port on loopback is open to every local user. The kernel knows the user of each socket: Linux reports
it by `sock_diag(7)`, or in `/proc/net/tcp` where that is not available. Other systems report nothing.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import sys
from pathlib import Path
from typing import Final

_FAMILY: Final = 16  # AF_NETLINK
_SOCK_DIAG: Final = 4
_DO_NOT_WAIT: Final = 0x40  # MSG_DONTWAIT
_BY_FAMILY: Final = 20
_REQUEST: Final = 1
_TCP: Final = 6
_ALL_STATES: Final = 0xFFFFFFFF
_ANY_COOKIE: Final = 0xFFFFFFFF
_MESSAGE: Final = struct.Struct("=IHHII")
_ANSWER: Final = struct.Struct("=BBBB2s2s16s16sIIIIIIII")
_TIME_WAIT: Final = 6
_NOBODY: Final = 65534
"""What the kernel reports for a user that this user namespace does not know."""

_TABLES: Final = (Path("/proc/self/net/tcp"), Path("/proc/self/net/tcp6"))

Address = tuple[str, int]


def can_be_known() -> bool:
    """Return whether this system reports the user of a loopback connection."""
    return sys.platform == "linux"


def is_from_this_user(connected: socket.socket) -> bool:
    """Return whether an accepted connection comes from a process of the user that this process runs as.

    It is false where the system does not report it, and where the other side is gone already.
    """
    if sys.platform == "win32":
        return False
    try:
        peer, own = connected.getpeername(), connected.getsockname()
        user = peer_user(peer, own)
        # A port can belong to another user as soon as this connection has ended: it must still be open.
        connected.getpeername()
    except OSError:
        return False
    return user is not None and user == os.geteuid()


def peer_user(peer: Address, own: Address) -> int | None:
    """Return the user id of the socket that is bound to `peer` and connected to `own`; None if unknown.

    Args:
        peer: Its address, an IPv4 one.
        own: The address of this end.
    """
    if not can_be_known():
        return None
    try:
        user = _user_by_netlink(peer, own)
    except OSError:
        user = _user_by_table(peer, own)
    return None if user == _NOBODY else user


def _user_by_netlink(peer: Address, own: Address) -> int | None:
    """Ask for one socket.

    Raises:
        OSError: this kind of question is not allowed or not known here.
    """
    identity = struct.pack("!HH", peer[1], own[1]) + b"".join(
        socket.inet_aton(address).ljust(16, b"\0") for address, _ in (peer, own)
    )
    question = struct.pack("=BBBBI", socket.AF_INET, _TCP, 0, 0, _ALL_STATES) + identity
    question += struct.pack("=III", 0, _ANY_COOKIE, _ANY_COOKIE)
    with socket.socket(_FAMILY, socket.SOCK_RAW, _SOCK_DIAG) as asking:
        asking.send(_MESSAGE.pack(_MESSAGE.size + len(question), _BY_FAMILY, _REQUEST, 1, 0) + question)
        # The kernel has answered when `send` returns.
        answer = asking.recv(8192, _DO_NOT_WAIT)
    _, kind, *_ = _MESSAGE.unpack_from(answer)
    if kind != _BY_FAMILY:
        code = -struct.unpack_from("=i", answer, _MESSAGE.size)[0] if len(answer) >= _MESSAGE.size + 4 else 0
        raise OSError(code, "no answer about this connection")
    fields = _ANSWER.unpack_from(answer, _MESSAGE.size)
    state, ports, user, inode = fields[1], fields[4] + fields[5], fields[14], fields[15]
    return user if ports == identity[:4] and _has_owner(state, inode) else None


def _user_by_table(peer: Address, own: Address) -> int | None:
    """Look the socket up in the kernel's table; a program may have reached it by IPv6."""
    ends = tuple(f"{_hexadecimal(address)}:{port:04X}" for address, port in (peer, own))
    for table in _TABLES:
        with contextlib.suppress(OSError):
            # Twice the same: a socket that is closed in between has the user 0.
            first = _row(table, ends)
            if first is not None and first == _row(table, ends):
                return first
    return None


def _row(table: Path, ends: tuple[str, ...]) -> int | None:
    for line in table.read_text("ascii", errors="replace").splitlines()[1:]:
        fields = line.split()
        if len(fields) > 9 and all(map(str.endswith, fields[1:3], ends)):  # noqa: PLR2004 - the inode's column
            return int(fields[7]) if _has_owner(int(fields[3], 16), int(fields[9])) else None
    return None


def _hexadecimal(address: str) -> str:
    return f"{struct.unpack('=I', socket.inet_aton(address))[0]:08X}"


def _has_owner(state: int, inode: int) -> bool:
    """Return whether a process still has the socket; without one the kernel reports the user 0."""
    return state != _TIME_WAIT and inode != 0
