"""What the shims of these tests run on."""

from collections.abc import Iterator

import pytest

from device_shim.shim_phone.world import World
from droidgate_phone.apps.shim_runtimes import ShimRuntime, start_shim_runtime
from droidgate_phone.system.releases import load_release

JVM = pytest.param(
    "jvm",
    marks=(
        pytest.mark.slow,
        pytest.mark.requires("newer-jdk", "robolectric", "dex2jar"),
        pytest.mark.timeout(600),
    ),
)

ON_THE_JVM = pytest.mark.parametrize("shim_runtime", [JVM], indirect=True)
"""Only the shim's own classes do what the test is about."""


@pytest.fixture(autouse=True)
def close_phones() -> Iterator[None]:
    """Close the phones of a test."""
    yield
    for world in [*World.open]:
        world.close()


@pytest.fixture(params=["python", JVM])
def shim_runtime(request: pytest.FixtureRequest) -> ShimRuntime:
    """The engine in Python, and the shim's own Java classes on a JVM that all tests of a process share."""
    runtime: ShimRuntime = request.param
    # As where a phone starts: Android waits 20 s for a service, and a JVM on a busy machine begins later.
    start_shim_runtime(runtime, load_release("36.1"))
    return runtime
