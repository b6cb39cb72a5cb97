"""Where the source trees of the sample apps are."""

from pathlib import Path


def sample_apps_directory() -> Path:
    """Return the folder that holds one source tree per sample app.

    An installed package carries the folder inside itself; in a checkout it stands beside the package.

    Raises:
        FileNotFoundError: neither place has it, so the installation is damaged.
    """
    package = Path(__file__).resolve().parent
    inside, beside = package / "app_sources", package.parent / "apps"
    for directory in (inside, beside):
        if directory.is_dir():
            return directory
    raise FileNotFoundError(f"The sample apps are neither at {inside} nor at {beside}.")
