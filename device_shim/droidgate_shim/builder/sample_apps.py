"""Where the source trees of the sample apps are, and the agent app, the only one that comes with code."""

from pathlib import Path

from droidgate_android.apk.pack import pack_project
from droidgate_android.apk.signing_keys import SigningKey


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
    raise FileNotFoundError(f"the sample apps are neither at {inside} nor at {adjacent}")


def agent_dex() -> bytes:
    """Return the code of the agent app.

    Raises:
        FileNotFoundError: the installation is damaged.
    """
    return (sample_apps_directory() / "agent" / "classes.dex").read_bytes()


def agent_apk(application_id: str, key: SigningKey) -> bytes:
    """Return the signed APK of the agent app under an application id.

    Raises:
        FileNotFoundError: the installation is damaged.
    """
    project = sample_apps_directory() / "agent" / "app"
    return pack_project(project, key=key, package=application_id, dex=[agent_dex()])
