"""The first process of its own network and tree of files: Android's adbd, with a shell that is elsewhere.

`adbd_root.py FOLDER SOCKET PORT ROOT`: adbd and its libraries are below FOLDER, whoever listens at SOCKET
runs the commands, and ROOT is an empty folder. It needs root, and to be started by `unshare`.
"""

import fcntl
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

SET_INTERFACE_FLAGS, UP = 0x8914, 1
# What runs in place of the shell: it hands its three files over, and ends with the status that comes back.
SHELL = """#!{python} -IS
import os, socket, sys
with socket.socket(socket.AF_UNIX) as phone:
    phone.connect({path!r})
    socket.send_fds(phone, [b"x"], [0, 1, 2])
    command = sys.argv[2] if sys.argv[1:2] == ["-c"] else ""
    phone.sendall(os.fsencode(os.environ.get("TERM", "") + "\\0" + command))
    phone.shutdown(socket.SHUT_WR)
    os._exit(int(phone.recv(16) or b"255"))
"""


def mount(*arguments: object) -> None:
    """Mount something."""
    subprocess.run(["mount", *map(str, arguments)], check=True)


def main(folder: Path, path: str, port: str, root: Path) -> None:
    """Lay out the tree and become adbd."""
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SET_INTERFACE_FLAGS, struct.pack("16sH14x", b"lo", UP))
    mount("-t", "tmpfs", "phone", root)
    for here in Path("/").iterdir():
        there = root / here.name
        if here.name in {"data", "dev", "proc", "system"}:
            continue
        if here.is_symlink():
            there.symlink_to(here.readlink())
        elif here.is_dir():
            there.mkdir()
            mount("--rbind", here, there)
    for name in ("data/local/tmp", "dev", "proc", "system/bin"):
        (root / name).mkdir(parents=True)
    os.chown(root / "data/local/tmp", 2000, 2000)
    (root / "data/local/tmp").chmod(0o771)
    mount("-t", "proc", "proc", root / "proc")
    mount("--rbind", "/dev", root / "dev")
    mount("-t", "devpts", "terminals", root / "dev/pts", "-o", "newinstance,ptmxmode=0666")
    shell = root / "shell"
    shell.write_text(SHELL.format(python=sys.executable, path=path))
    shell.chmod(0o755)
    mount("--bind", shell, root / "bin/sh")
    os.chroot(root)
    os.chdir("/")
    libraries = folder / "usr/lib/x86_64-linux-gnu"
    loader = libraries / "ld-linux-x86-64.so.2"
    adbd = folder / "usr/lib/android-sdk/platform-tools/adbd"
    search = f"{libraries}/android:{libraries}"
    environment = {"PATH": "/system/bin:/bin:/usr/bin", "HOME": "/", "ADBD_PORT": port}
    os.execve(loader, [str(loader), "--library-path", search, str(adbd)], environment)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], Path(sys.argv[4]))
