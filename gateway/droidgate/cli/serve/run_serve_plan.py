"""What `serve --plan` prints, and its document."""

from __future__ import annotations

from typing import Final, Literal

from droidgate.cli.output.json_output import Document, PublishedDocument
from droidgate.cli.output.pages import Block, Line, Table
from droidgate.cli.output.reports import Report
from droidgate.cli.output.waiting_line import run_with_steps_shown
from droidgate.cli.serve.serve_options import Serve
from droidgate.serving.phone_tools import PhoneTools
from droidgate.serving.server_application import plan_tokens
from droidgate.serving.tool_search import SearchTools
from droidgate_mappings.text.counted_nouns import amount


class PlannedAppPart(Document):
    """The tools of one app.

    Attributes:
        app: Its package, after its phone's serial number and a slash where several phones are served.
        tools: How many.
        tokens: Estimate of what a model is given for them: the bytes of their JSON divided by four.
        output_tokens: How many of these are for the schemas of outputs, which not every client gives to it.
    """

    app: str
    tools: int
    tokens: int
    output_tokens: int


class ServedPart(Document):
    """What a client is given.

    Attributes:
        mode: `all` for every tool by itself, `search` for three that find, describe and call the others.
        tools: How many.
        tokens: Estimate of what a model is given for them.
    """

    mode: Literal["all", "search"]
    tools: int
    tokens: int


class ServePlanDocument(PublishedDocument, schema="droidgate.serve-plan/1"):
    """What serving the apps of phones costs a model.

    Attributes:
        apps: The apps, the most expensive first.
        tools: How many tools all of them have.
        tokens: Estimate for all of them.
        output_tokens: How many of these are for the schemas of outputs.
        served: What a client is given.
    """

    apps: tuple[PlannedAppPart, ...]
    tools: int
    tokens: int
    output_tokens: int
    served: ServedPart


_COLUMNS: Final = ("APP", "TOOLS", "TOKENS", "OUTPUTS")


def print_plan(tools: PhoneTools, options: Serve) -> SearchTools:
    """Print what a client would be given and what that costs a model; return the tools as they are served.

    Raises:
        DeviceError: a phone is not there, or fails.
    """
    run_with_steps_shown(lambda: tools.look(strict=True))
    provider = SearchTools(tools, always=options.search)
    apps = plan_tokens(tools.snapshot().tools)
    served = plan_tokens(provider.snapshot().tools)
    count, tokens = sum(app.tools for app in apps), sum(app.tokens for app in apps)
    output_tokens = sum(app.output_tokens for app in apps)
    rows = [(app.group, f"{app.tools:,}", f"{app.tokens:,}", f"{app.output_tokens:,}") for app in apps]
    sums = f"{amount(len(apps), 'app')}, {amount(count, 'tool')}, {amount(tokens, 'token')}"
    explained = (
        f"{sums}, {output_tokens:,} of them for the schemas of outputs, which not every client gives to its "
        "model; a token is about four bytes of a tool's JSON"
    )
    page: list[Block] = [Table(_COLUMNS, rows), Line(explained)] if rows else [Line("no tools")]
    if provider.is_searched:
        cost = amount(sum(app.tokens for app in served), "token")
        page.append(Line(f"in search mode a client gets three tools in their place: {cost}"))
    report = Report(
        lambda: page,
        lambda: ServePlanDocument(
            apps=tuple(PlannedAppPart.of(app, app=app.group) for app in apps),
            tools=count,
            tokens=tokens,
            output_tokens=output_tokens,
            served=ServedPart(
                mode="search" if provider.is_searched else "all",
                tools=sum(app.tools for app in served),
                tokens=sum(app.tokens for app in served),
            ),
        ),
    )
    report.print(options.form)
    return provider
