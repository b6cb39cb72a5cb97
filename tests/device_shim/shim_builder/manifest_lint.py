"""Rules for what is built: a shim's manifest and what it points to (reference android-runtime 1.1 to 2.3).

They are read from the finished APK, by nothing that wrote it but the format's own readers.

`targetSdkVersion` is 36. What changes for apps that target 24 to 36 and touches the shim:

- 29 and later: activities are not started from the background (the shim has four routes);
- 31: exported has to be stated;
- 31, 34: foreground services have a type and do not start from the background (a plain service is enough);
- 33: notifications need the user's leave;
- 33: explicit intents reach only components with a fitting filter (outgoing ones carry the action);
- 36 is the first release with app functions.
"""

from __future__ import annotations

from dataclasses import dataclass

from device_shim.shim_builder.manifest_facts import ShimApk
from device_shim.shim_builder.manifest_rules import CHECKS
from droidgate_android.apk.reader import open_apk


@dataclass(frozen=True, slots=True)
class Breach:
    """A rule that a shim breaks, by the rule's id; what it requires, and what in the shim breaks it."""

    rule: str
    requirement: str
    found: tuple[str, ...]


def lint_shim_manifest(apk: bytes) -> tuple[Breach, ...]:
    """Return where a built shim breaks a rule; nothing for what `build_shims` makes.

    Raises:
        InputError: it is not an APK, or has no application.
    """
    with open_apk(apk) as opened:
        shim = ShimApk(opened)
        broken = [(rule, check(shim)) for rule, check in CHECKS]
    return tuple(
        Breach(rule.id, rule.requirement, () if found is True else tuple(found))
        for rule, found in broken
        if found
    )
