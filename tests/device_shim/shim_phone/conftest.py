"""What the shims of these tests run on."""

import pytest

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


@pytest.fixture(params=["python", JVM])
def shim_runtime(request: pytest.FixtureRequest) -> ShimRuntime:
    """The engine in Python, and the shim's own Java classes on a JVM that all tests of a process share."""
    runtime: ShimRuntime = request.param
    # As where a phone starts: Android waits 20 s for a service, and a JVM on a busy machine begins later.
    start_shim_runtime(runtime, load_release("36.1"))
    return runtime
