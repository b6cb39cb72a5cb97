"""A proof: all steps on one phone, which is then restored."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final

from pydantic import Field

from droidgate.devices.properties import build_of, get_properties
from droidgate.proofs.phone_changes import PhoneChanges, only_proof
from droidgate.proofs.proof_bench import OWN_PACKAGES, Asker, Bench, StepOutcome, Verdict, passed_if
from droidgate.proofs.proof_steps import STATE_STEP, STEPS, Step
from droidgate.shims.device_user import DeviceUser
from droidgate_mappings.formats.installed import is_shim
from droidgate_mappings.model.errors import DeviceError, DroidgateError, UsageError
from droidgate_mappings.model.types import Frozen

_OWN: Final = frozenset(OWN_PACKAGES)


class ProofStep(Frozen):
    """A step with its outcome.

    Attributes:
        id: Its name.
        title: What it proves.
        frontend: How an agent reached the shim, where it is about one.
        backend: Kind of the app behind the shim, where it is about one.
        verdict: `passed`, `failed`, `not-applicable` at this API level, or `needs-a-hand`.
        reason: Why, where it is not passed.
        seconds: How long it took.
    """

    id: str
    title: str
    frontend: str | None
    backend: str | None
    verdict: Verdict
    reason: str
    seconds: float


class ProvedPhone(Frozen):
    """What was proved on one phone.

    Attributes:
        api_level: With its minor level where there is one.
        release: Android's version, as users know it.
        manufacturer: The maker.
        model: The model.
        fingerprint: The build.
        lost: The step in which the phone went away; null where it did not.
        left: Commands that put the phone back; `droidgate prove` does it at its next start.
        steps: The steps that were done.
    """

    api_level: str = Field(pattern=r"^[0-9]{1,3}(\.[0-9]{1,2})?$")
    release: str
    manufacturer: str
    model: str
    fingerprint: str
    lost: str | None
    left: tuple[str, ...]
    steps: tuple[ProofStep, ...]


def chosen_steps(patterns: Sequence[str]) -> tuple[Step, ...]:
    """Return the steps that patterns name, with those that they need; all steps without a pattern.

    Raises:
        UsageError: a pattern names no step.
    """
    for pattern in patterns:
        if not any(fnmatchcase(step.id, pattern) for step in STEPS):
            groups = ", ".join(dict.fromkeys(f"{step.id.partition('/')[0]}/*" for step in STEPS))
            raise UsageError(f"no step {pattern!r}", hint=f"use some of {groups}")
    return tuple(
        step
        for step in STEPS
        if not patterns or step.is_setup or any(fnmatchcase(step.id, pattern) for pattern in patterns)
    )


def prove(
    device_user: DeviceUser,
    steps: Sequence[Step],
    apks: Mapping[str, bytes],
    ask: Asker,
    report: Callable[[str], None],
) -> ProvedPhone:
    """Do the steps on a phone, then restore the phone.

    Args:
        device_user: The phone.
        steps: As `chosen_steps` returns them.
        apks: Sample apps that are installed for the proof where they are not there, by package.
        ask: Asks a person.
        report: Is called with a line before each step.

    Raises:
        UsageError: the phone has a shim or an agent, which the proof would replace, or another proof runs.
        DeviceError: the phone cannot be reached.
    """
    with only_proof(device_user):
        return _prove(device_user, steps, apks, ask, report)


def _prove(
    device_user: DeviceUser,
    steps: Sequence[Step],
    apks: Mapping[str, bytes],
    ask: Asker,
    report: Callable[[str], None],
) -> ProvedPhone:
    put_back_earlier(device_user, report)
    own = sorted(name for name in device_user.packages() if name in _OWN or is_shim(name))
    if own:
        hint = "remove them first: `droidgate shim uninstall --all`, `droidgate agent uninstall`"
        raise UsageError(f"the phone has {', '.join(own)}, which the proof would replace", hint=hint)
    build = build_of(get_properties(device_user.device))
    changes = PhoneChanges.begin(device_user)
    bench = Bench(device_user, changes, apks, ask)
    done: list[ProofStep] = []
    lost: str | None = None
    leftovers: tuple[str, ...] = ()
    try:
        for step in steps:
            report(f"{step.id} ...")
            began = time.monotonic()
            outcome = _run_step(step, bench)
            if outcome is None:
                lost = step.id
                break
            seconds = round(time.monotonic() - began, 1)
            done.append(_proof_step(step.id, step.title, outcome, step.frontend, step.backend, seconds))
    finally:
        report("put the phone back ...")
        try:
            different = changes.put_back()
        except DeviceError:
            lost, leftovers = lost or STATE_STEP[0], changes.left
        else:
            outcome = passed_if(not different, "; ".join(different))
            done.append(_proof_step(*STATE_STEP, outcome))
    return ProvedPhone(
        api_level=build.sdk_full,
        release=build.release,
        manufacturer=build.manufacturer,
        model=build.model,
        fingerprint=build.fingerprint,
        lost=lost,
        left=leftovers,
        steps=tuple(done),
    )


def _proof_step(
    step_id: str,
    title: str,
    outcome: StepOutcome,
    frontend: str | None = None,
    backend: str | None = None,
    seconds: float = 0.0,
) -> ProofStep:
    return ProofStep(
        id=step_id,
        title=title,
        frontend=frontend,
        backend=backend,
        verdict=outcome.verdict,
        reason=outcome.reason,
        seconds=seconds,
    )


def put_back_earlier(device_user: DeviceUser, report: Callable[[str], None]) -> None:
    """Put back what a proof changed that lost the phone.

    Raises:
        DeviceError: the phone fails.
    """
    earlier = PhoneChanges.load(device_user)
    if earlier is None:
        return
    report("restoring what an earlier proof changed ...")
    for line in earlier.put_back():
        report(f"not as it was before that proof: {line}")


def _run_step(step: Step, bench: Bench) -> StepOutcome | None:
    """Return the outcome of a step; None where the phone went away."""
    try:
        return step.run(bench)
    except DroidgateError as error:
        try:
            bench.device_user.device.run(["true"])
        except DeviceError:
            return None
        hint = f"; {error.hint}" if error.hint else ""
        return StepOutcome("failed", error.message + hint)
