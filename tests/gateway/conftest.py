"""Every module here has a home of its own, and no adb variable of the user."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def _home_of_the_module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("ANDROID_SERIAL", "ADB_SERVER_SOCKET", "ANDROID_ADB_SERVER_ADDRESS"):
            patch.delenv(name, raising=False)
        patch.setenv("DROIDGATE_HOME", str(tmp_path_factory.mktemp("home")))
        yield
