"""Where the source trees of the sample apps are."""

from pathlib import Path


def sample_apps_directory() -> Path:
    """Return the folder that holds one source tree per sample app.

    An installed package includes the folder; in a checkout it is next to the package.

    Raises:
        FileNotFoundError: neither place has it, so the installation is damaged.
    """
    package = Path(__file__).resolve().parents[1]
    inside, adjacent = package / "app_sources", package.parent / "apps"
    for directory in (inside, adjacent):
        if directory.is_dir():
            return directory
    raise FileNotFoundError(f"The sample apps are neither at {inside} nor at {adjacent}.")


def agent_dex() -> bytes:
    """Return the code of the agent app, the only sample app that comes with code.

    Raises:
        FileNotFoundError: the installation is damaged.
    """
    return (sample_apps_directory() / "agent" / "classes.dex").read_bytes()
