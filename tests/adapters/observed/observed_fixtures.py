"""Apps of other agents' protocols, typed from the reference's paragraphs (mobile-mcp-and-mmcp 4 and 5)."""

from collections.abc import Mapping

from droidgate.sources import application_from_tree
from droidgate_mappings.formats.application import Application
from droidgate_mappings.formats.format import Reading
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Provider
from droidgate_observed.format import FORMAT

PACKAGE = "org.example.tools"

MANIFEST = """<manifest xmlns:android="http://schemas.android.com/apk/res/android"
package="org.example.tools">
<application android:label="Example">{}</application></manifest>"""


def service(*actions: str, meta: str = "", name: str = ".Tools", more: str = "") -> str:
    named = "".join(f'<action android:name="{action}"/>' for action in actions)
    return (
        f'<service android:name="{name}" android:exported="true" {more}>'
        f"<intent-filter>{named}</intent-filter>{meta}</service>"
    )


def meta_value(name: str, value: str) -> str:
    return f'<meta-data android:name="{name}" android:value="{value}"/>'


def meta_resource(name: str, reference: str) -> str:
    return f'<meta-data android:name="{name}" android:resource="{reference}"/>'


def application(inner: str, files: Mapping[str, str] | None = None) -> Application:
    tree = {"AndroidManifest.xml": MANIFEST.format(inner), **(files or {})}
    return application_from_tree({name: text.encode() for name, text in tree.items()}, path="app")


def read(inner: str, files: Mapping[str, str] | None = None) -> Reading:
    return FORMAT.read_application(application(inner, files), ReadingContext())


def read_one(inner: str, files: Mapping[str, str] | None = None) -> Provider:
    (provider,) = read(inner, files).providers
    return provider


def facts(provider: Provider) -> Mapping[str, object]:
    return provider.extensions.get("observed", {})
