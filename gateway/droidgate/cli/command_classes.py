"""What a command is: a class of its options, and the work that is done with them.

Nothing heavy is imported here, nor where commands are declared: completions read all of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from enum import Enum
from functools import partial
from importlib import import_module
from inspect import Parameter, Signature, get_annotations
from pathlib import Path
from types import ModuleType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Final,
    Self,
    TypeAlias,
    dataclass_transform,
    get_args,
)

import typer
from typer.core import TyperCommand

from droidgate.cli.failure_texts import USAGE_ERROR
from droidgate.cli.output.page_length import PageLength, choose_page_length
from droidgate.cli.output.verbosity import Quiet, Verbose, add_verbosity
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.records import dataclass

if TYPE_CHECKING:
    from droidgate.cli.output.reports import Form, Report

    Outcome: TypeAlias = Report | Callable[[], int] | int


def _print_schema(context: typer.Context, is_asked: bool) -> None:  # noqa: FBT001
    if not is_asked or context.resilient_parsing:
        return
    from droidgate.cli.output.json_output import print_json, schema_of
    from droidgate.cli.published_schemas import PUBLISHED

    words = context.command_path.split()[1:]
    print_json(schema_of(PUBLISHED["-".join(words)]))
    raise typer.Exit


@dataclass(frozen=True, slots=True)
class _Option:
    """How an option is given on the command line, and what it is where it is not given."""

    info: Any
    default: Any


def option(words: str, about: str, default: Any = None, **more: Any) -> Any:
    """Return an option, for the field of its name.

    Args:
        words: Its names, and the word for its value in the help: `--output -o DIR`.
        about: What it does, for the help.
        default: What it is where it is not given; `...` where it has to be given.
        more: What else `typer.Option` takes.
    """
    *names, last = words.split()
    metavar = None if last.startswith("-") else last
    names += [] if metavar else [last]
    return _Option(typer.Option(*names, metavar=metavar, help=about, **more), default)


def flag(words: str, about: str, **more: Any) -> Any:
    """Return an option without a value, which is false where it is not given."""
    return option(words, about, default=False, **more)


def argument(metavar: str, about: str, default: Any = None, **more: Any) -> Any:
    """Return an argument, as `option` returns an option; its word has neither dots nor brackets."""
    return _Option(typer.Argument(metavar=metavar, help=about, **more), default)


_JSON_SCHEMA: Final = flag(
    "--json-schema", "Print the JSON Schema of what --json prints", is_eager=True, callback=_print_schema
)
_DETAILS: Final = flag("--details", "Show everything, in place of about a page")


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Options:
    """Options of a command, as a user gives them: a class that has them as annotated fields.

    A field whose annotation is such a class itself is replaced by its options in `--help`.
    """

    _headings: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Headings of `--help` with the fields below each; the others are below `_heading`."""
    _heading: ClassVar[str | None] = None
    """The heading of the others; without one they follow below `Options`."""

    def __init__(self, **given: Any) -> None:
        fields = vars(type(self)).items()
        defaults = {name: field.default for name, field in fields if isinstance(field, _Option)}
        self.__dict__.update(defaults | given)

    @classmethod
    def taken_from(cls, given: dict[str, Any]) -> Self:
        """Return the options, of all that typer passes."""
        return cls(
            **{
                name: below.taken_from(given) if (below := _options_below(annotation)) else given[name]
                for name, annotation in get_annotations(cls, eval_str=True).items()
            }
        )

    @classmethod
    def parameters(cls) -> Iterator[Parameter]:
        """Yield the options as typer reads them from the signature of a function."""
        for name, annotation in get_annotations(cls, eval_str=True).items():
            below = _options_below(annotation)
            if below is not None:
                yield from below.parameters()
            else:
                yield _parameter(name, annotation, vars(cls).get(name, ...), cls.heading_of(name))

    @classmethod
    def heading_of(cls, name: str) -> str | None:
        """Return the heading of a field's option in `--help`, None where it has none of its own."""
        return next((heading for heading, names in cls._headings.items() if name in names), cls._heading)


def _options_below(annotation: Any) -> type[Options] | None:
    return annotation if isinstance(annotation, type) and issubclass(annotation, Options) else None


def _parameter(name: str, annotation: Any, default: Any, heading: str | None = None) -> Parameter:
    if isinstance(default, _Option):
        info = copy(default.info)
        info.metavar = info.metavar or _word_of(annotation)
        info.rich_help_panel = heading
        annotation, default = Annotated[annotation, info], default.default
    default = Parameter.empty if default is ... else default
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


_FORMS: Final[tuple[Form, ...]] = ("json", "sarif", "markdown", "junit")
_WORDS: Final[Mapping[type, str]] = {int: "N", float: "N", Path: "PATH", str: "TEXT"}


def _word_of(annotation: Any) -> str | None:
    """Return the word for one value of what an option takes; None for a flag."""
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return "|".join(item.value for item in annotation)
    words = (_word_of(inner) for inner in get_args(annotation))
    return next(filter(None, words), None) or _WORDS.get(annotation)


class _CommandLine(TyperCommand):
    """A command for typer: its help has one word for each value, and the options below their headings."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        for item in self.params:
            item.process_value = partial(_process_value, item, item.process_value)  # type: ignore[method-assign]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read what is typed; an error that it raises has the command."""
        try:
            return super().parse_args(ctx, args)
        except USAGE_ERROR as error:
            error.ctx = ctx
            raise

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage after the command's name."""
        arguments = (item for item in self.get_params(ctx) if item.param_type_name == "argument")
        return ["[OPTIONS]", *(_usage_of(item) for item in arguments)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options in sections."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for item in self.get_params(ctx):
            record = item.get_help_record(ctx)
            if record is not None and item.param_type_name == "argument":
                sections.setdefault("Arguments", []).append((_usage_of(item), record[1]))
            elif record is not None:
                sections.setdefault(getattr(item, "rich_help_panel", None) or "Options", []).append(record)
        for heading in sorted(sections, key="Options".__eq__):
            with formatter.section(heading):
                formatter.write_dl(sections[heading])


def _process_value(item: Any, process: Callable[..., Any], ctx: Any, value: Any) -> Any:
    """Return the value of an option or argument; typer would compile a validator for what is not given."""
    if value is None and not item.required and item.callback is None:
        return () if item.multiple or item.nargs != 1 else None
    return process(ctx, value)


def _usage_of(argument: Any) -> str:
    word = f"{argument.metavar}{'...' if argument.nargs != 1 else ''}"
    return word if argument.required else f"[{word}]"


class Command(Options):
    """A command; its docstring is its help, and the words of its class name are its own.

    An ending `Command` does not count: a class has it where the Python API has a class of the other name.
    """

    _short_help: ClassVar[str] = ""
    _work: ClassVar[str]
    _page: ClassVar[PageLength | None] = None
    """How long its pages are without `--details`; None where it has no such option."""
    _shows_steps: ClassVar[bool] = True
    """Whether a terminal shows what it is doing, once it lasts; False where it shows that by itself."""

    def __init_subclass__(cls, *, short: str = "", work: str = "") -> None:
        """Take what is not an option.

        Args:
            short: The help in the list of a group's commands.
            work: Takes the options and returns a report, what prints one and returns the exit code, or that
                code: `MODULE:FUNCTION`, imported when the command runs.
        """
        cls._short_help, cls._work = short, work

    def run(self) -> int:
        """Do the work, print its report, and return the exit code."""
        return self.prepare()()

    def prepare(self) -> Callable[[], int]:
        """Do the work, and return what prints its report and returns the exit code."""
        form = self.form
        self._check_sources(form)
        module, _, name = self._work.partition(":")
        work: Callable[[Command], Outcome] = getattr(import_module(module), name)
        result = self._with_steps_shown(work) if self._shows_steps else work(self)
        if isinstance(result, int):
            return lambda: result
        return result if callable(result) else result.prepare(form)

    def _with_steps_shown(self, work: Callable[[Command], Outcome]) -> Outcome:
        from droidgate.cli.output.waiting_line import run_with_steps_shown

        return run_with_steps_shown(lambda: work(self))

    @property
    def form(self) -> Form:
        """The form of its report that is asked for.

        Raises:
            UsageError: two are.
        """
        forms = [form for form in _FORMS if getattr(self, f"as_{form}", False)]
        if len(forms) > 1:
            message = f"--{forms[0]} and --{forms[1]} exclude each other"
            raise UsageError(message, hint="choose one of them")
        return forms[0] if forms else "text"

    def _check_sources(self, form: Form) -> None:
        """Raise where a source is the file that a report should go into: reports are printed."""
        if form == "text":
            return
        for name in getattr(self, "sources", None) or ():
            if name.endswith(".sarif") or (name.endswith((".md", ".json")) and not Path(name).exists()):
                hint = f"to write it into a file, end the command with: --{form} > {name}"
                raise UsageError(f"--{form} prints its report, and takes no file", hint=hint)


class PagedCommand(Command):
    """A command that prints requested content, with `--details`."""

    _page = PageLength.SHORT_ON_TERMINALS


class ReportingCommand(Command):
    """A command that reports its work, with `--details`."""

    _page = PageLength.SHORT


def _body_of(command: type[Command]) -> Callable[..., int]:
    """Return the function that typer calls for a command, with the options that all commands have."""
    parameters = {parameter.name: parameter for parameter in command.parameters()}
    page = command._page  # noqa: SLF001
    if "as_json" in parameters:
        # The option's callback has printed the schema and ended the run where it is asked for.
        heading = command.heading_of("as_json")
        parameters["json_schema"] = _parameter("json_schema", bool, _JSON_SCHEMA, heading)
    if page is not None:
        parameters["details"] = _parameter("details", bool, _DETAILS)
    parameters["quiet"] = _parameter("quiet", Quiet, 0)
    parameters["verbose"] = _parameter("verbose", Verbose, False)

    def body(**given: Any) -> int:
        add_verbosity(given["quiet"], verbose=given["verbose"])
        if page is not None:
            choose_page_length(PageLength.WHOLE if given["details"] else page)
        return command.taken_from(given).run()

    body.__doc__ = command.__doc__
    body.__signature__ = Signature([*parameters.values()])  # type: ignore[attr-defined]
    body.__annotations__ = {name: parameter.annotation for name, parameter in parameters.items()}
    return body


def add_commands(app: typer.Typer, module: ModuleType, name: str, short_help: str) -> None:
    """Add a command, or a group of commands, to the program.

    Args:
        app: The program.
        module: Where the classes are: the one whose words are the name, or those whose words begin with it.
        name: The command, or the group.
        short_help: Its help in a list of commands.
    """
    commands = {
        re.sub(r"(?<!^)(?=[A-Z])", "-", item.__name__.removesuffix("Command")).lower(): item
        for item in vars(module).values()
        if isinstance(item, type) and issubclass(item, Command)
    }
    if name in commands:
        app.command(name, cls=_CommandLine, short_help=short_help)(_body_of(commands[name]))
        return
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
    for words, command in commands.items():
        if words.startswith(f"{name}-"):
            register = group.command(
                words.removeprefix(f"{name}-"),
                cls=_CommandLine,
                short_help=command._short_help,  # noqa: SLF001
            )
            register(_body_of(command))
    if len(group.registered_commands) == 1:
        # Without a callback, the only command would be the group itself.
        group.callback()(_take_no_option)
    app.add_typer(group, name=name, help=short_help)


def _take_no_option() -> None:
    """Take no option before the command."""
