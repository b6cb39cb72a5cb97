"""What the wire needs of the phone behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from droidgate_phone.phone_files import VirtualFiles
from droidgate_phone.streams import CommandStreams


@dataclass(frozen=True, slots=True)
class Banner:
    """What the phone reports about itself when a host connects.

    Attributes:
        product: `ro.product.name`.
        model: `ro.product.model`.
        device: `ro.product.device`.
        features: What its adbd can do.
    """

    product: str
    model: str
    device: str
    features: tuple[str, ...]

    def text(self) -> str:
        """Return the text of the CNXN packet."""
        properties = (
            f"ro.product.name={self.product}",
            f"ro.product.model={self.model}",
            f"ro.product.device={self.device}",
            f"features={','.join(self.features)}",
        )
        return f"device::{';'.join(properties)}"


@dataclass(frozen=True, slots=True)
class Userland:
    """The phone behind the wire.

    Attributes:
        run: Runs a shell command to its end and returns its exit status. An empty command is a shell that
            reads its commands from standard input.
        files: What push and pull see, as the shell.
        banner: Returns what the phone reports about itself.
    """

    run: Callable[[str, CommandStreams, Mapping[str, str]], int]
    files: VirtualFiles
    banner: Callable[[], Banner]
