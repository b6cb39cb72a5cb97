"""What the two forms of the file declare, as one tree of plain values: capabilities, fulfilments, inventory.

`shortcuts.xml` has its attributes in the namespaces `android` and `app`, `actions.xml` in none (reference
app-actions 1, 2). Everything that neither form has is left out and reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal, NamedTuple

from droidgate_app_actions.format import ACTIONS, ENTITY_LINK, NAMES, SHORTCUTS
from droidgate_mappings.formats.application import Resources
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.records import dataclass, field, replace
from droidgate_mappings.text.aapt_text import boolean_in, read_plain_attribute, reference_in
from droidgate_mappings.text.xml_text import TOOLS, Element, child_elements, parse_xml

FulfilmentKind = Literal["intent", "shortcut", "slice", "app-widget"]

MAX_VALUES: Final = 200_000
"""Values and names that a file may list, each as often as something refers to it. Google's pages allow 1,000
values with 20 names each."""
_VALUES_OF_A_FULFILMENT: Final = 20
"""A fulfilment takes more time than a value: each is compared with the activities of the app."""

_VARIABLE: Final = re.compile(r"\{[?&#/.;+@]?([^{}]*)\}")
_MODIFIER: Final = re.compile(r":\d+$|\*$")


@dataclass(frozen=True, slots=True)
class FulfilmentParameter:
    """One parameter that a fulfilment passes on.

    Attributes:
        field: Path of the built-in intent's field, or the custom intent's own name.
        key: What the app receives it as: the extra's key, or the template's variable.
        type_url: The schema.org URL of its type, which only custom intents state.
        required: The fulfilment is not used without it.
        match_required: Only a value of the inventory is passed on.
        is_web_inventory: Its values were to be looked up on the web.
    """

    field: str
    key: str
    type_url: str | None = None
    required: bool = False
    match_required: bool = False
    is_web_inventory: bool = False


@dataclass(frozen=True, slots=True)
class Fulfilment:
    """One way in which a capability is answered.

    Attributes:
        kind: An activity that is started, the bound shortcut's own intent, or a slice or widget to show.
        place: Where it is.
        action: The intent's, None where it is not stated: VIEW.
        target_package: As written.
        target_class: As written.
        data: A fixed URI.
        template: A URI with variables.
        identifier: Of a widget.
        parameters: In order.
        extras: Fixed extras.
        is_foreground: It was to answer only while its activity is open.
    """

    kind: FulfilmentKind
    place: Place
    action: str | None = None
    target_package: str | None = None
    target_class: str | None = None
    data: str | None = None
    template: str | None = None
    identifier: str | None = None
    parameters: tuple[FulfilmentParameter, ...] = ()
    extras: Mapping[str, str] = field(default_factory=dict)
    is_foreground: bool = False

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of its template."""
        names = (name.strip() for part in _VARIABLE.findall(self.template or "") for name in part.split(","))
        return tuple(_MODIFIER.sub("", name) for name in names if name)


@dataclass(frozen=True, slots=True)
class InventoryItem:
    """One value that the app lists for a field.

    Attributes:
        id: What the app receives.
        names: What users say for it.
        place: Where it is.
        label: The shortcut's label; None for an entity, and where it has none.
        url: The entity's own link.
        same_as: A URL that says what it is.
        starts: The bound shortcut's own intent.
    """

    id: str
    names: tuple[str, ...]
    place: Place
    label: str | None = None
    url: str | None = None
    same_as: str | None = None
    starts: Fulfilment | None = None


@dataclass(frozen=True, slots=True)
class DeclaredAction:
    """One declared capability or action.

    Attributes:
        name: A built-in intent's name with its prefix, or a custom one.
        place: Where it is.
        patterns: What users say for a custom one; None where it states no patterns.
        fulfilments: The alternatives, in the order in which they are tried.
        inventory: Field -> the values that the app lists for it.
    """

    name: str
    place: Place
    patterns: tuple[str, ...] | None = None
    fulfilments: tuple[Fulfilment, ...] = ()
    inventory: Mapping[str, tuple[InventoryItem, ...]] = field(default_factory=dict)

    @property
    def built_in_name(self) -> str | None:
        """The name without the prefix of built-in intents; None for a custom one."""
        prefix = NAMES["built_in_prefix"]
        return self.name.removeprefix(prefix) if self.name.startswith(prefix) else None


@dataclass(frozen=True, slots=True)
class ActionFile:
    """What one file declares.

    Attributes:
        dialect: Which of the two forms it is.
        place: Its root element.
        actions: In order.
        bound: Names of the capabilities to which shortcuts are bound -> where.
    """

    dialect: str
    place: Place
    actions: tuple[DeclaredAction, ...] = ()
    bound: Mapping[str, Place] = field(default_factory=dict)


_INTENT: Final = ("action", "targetPackage", "targetClass", "data", "identifier")
_SHORTCUT: Final = (
    "shortcutId", "enabled", "icon", "shortcutShortLabel", "shortcutLongLabel", "shortcutDisabledMessage",
    "splashScreenTheme",
)  # fmt: skip


class _Form(NamedTuple):
    attributes: tuple[str, ...]
    children: tuple[str, ...] = ()


# Form of file -> element -> what it may have (reference app-actions 1, 2).
_GRAMMAR: Final[Mapping[str, Mapping[str, _Form]]] = {
    SHORTCUTS: {
        "shortcuts": _Form((), ("capability", "shortcut", "share-target")),
        "capability": _Form(
            ("name", "queryPatterns"), ("intent", "shortcut-fulfillment", "slice", "app-widget"),
        ),
        "intent": _Form(_INTENT, ("url-template", "parameter", "extra")),
        "slice": _Form((), ("url-template", "parameter")),
        "app-widget": _Form(("identifier", "targetClass", "targetPackage"), ("parameter", "extra")),
        "shortcut-fulfillment": _Form((), ("parameter",)),
        "url-template": _Form(("value",), ("parameter",)),
        "parameter": _Form(("name", "key", "mimeType", "required", "shortcutMatchRequired"), ("data",)),
        "extra": _Form(("key", "name", "value")),
        "shortcut": _Form(_SHORTCUT, ("intent", "categories", "capability-binding", "extra", "capability")),
        "capability-binding": _Form(("key",), ("parameter-binding",)),
        "parameter-binding": _Form(("key", "value")),
    },
    ACTIONS: {
        "actions": _Form(("supportedLocales",), ("action", "entity-set")),
        "action": _Form(("intentName", "queryPatterns"), ("fulfillment", "parameter", "action-display")),
        "fulfillment": _Form(
            ("urlTemplate", "fulfillmentMode", "requiredForegroundActivity"), ("parameter-mapping",),
        ),
        "parameter-mapping": _Form(("intentParameter", "urlParameter", "required", "entityMatchRequired")),
        "parameter": _Form(("name", "type"), ("entity-set-reference",)),
        "entity-set-reference": _Form(("entitySetId", "urlFilter")),
        "entity-set": _Form(("entitySetId",), ("entity",)),
        "entity": _Form(("name", "identifier", "alternateName", "url", "sameAs"), ("synonym",)),
    },
}  # fmt: skip

# Element and name as seen -> the name that is meant.
_MISSPELLED: Final = {
    ("entity", "indentifier"): "identifier",
    ("entity", "alternateNames"): "alternateName",
    ("capability-binding", "capability"): "key",
}


def parse_actions(
    text: str | bytes,
    path: str,
    context: ReadingContext,
    *,
    compiled: bool = False,
    resources: Resources | None = None,
) -> ActionFile:
    """Parse a file of either form.

    Args:
        text: The XML.
        path: How messages name it.
        context: Collects the leniencies.
        compiled: It comes from an APK, so its escapes are undone and its lines are not those of the source.
        resources: Where references lead; without them, none is known.

    Raises:
        InputError: not well-formed, or another root element.
        BudgetError: it lists more than `MAX_VALUES`.
    """
    root = parse_xml(text, path=path)
    if root.tag not in {SHORTCUTS, ACTIONS}:
        message = f"<{root.tag!s}> is not <shortcuts> or <actions>"
        raise InputError(message, place=f"{path}:{root.sourceline}")
    return _Parser(path, str(root.tag), compiled, resources, context).parse(root)


def _is_true(text: str | None) -> bool:
    return text is not None and boolean_in(text) is True


@dataclass(slots=True)
class _Parser:
    path: str
    dialect: str
    compiled: bool
    resources: Resources | None
    context: ReadingContext
    has_other_namespace: bool = False
    unresolved: set[str] = field(default_factory=set)
    spent: int = 0

    @property
    def grammar(self) -> Mapping[str, _Form]:
        return _GRAMMAR[self.dialect]

    def parse(self, root: Element) -> ActionFile:
        place = self.place(root)
        self.attributes(root)
        if self.dialect == SHORTCUTS:
            return self.parse_shortcuts(root, place)
        parts = self.with_wrapped_sets(root)
        sets = self.entity_sets(part for part in parts if part.tag == "entity-set")
        actions = [self.action(part, sets) for part in parts if part.tag == "action"]
        return ActionFile(self.dialect, place, tuple(filter(None, actions)))

    # Attributes, texts and what is left out

    def place(self, element: Element) -> Place:
        return Place(path=self.path, line=None if self.compiled else element.sourceline)

    def allow(self, row: str, message: str, element: Element, *, lost: bool = False) -> None:
        self.context.allow(row, message, source=self.place(element), lost=lost)

    def attributes(self, element: Element) -> dict[str, str]:
        """Return an element's attributes by local name, as written; unknown ones are left out."""
        tag = str(element.tag)
        attributes: dict[str, str] = {}
        for key, raw in element.attrib.items():
            if str(key).startswith(TOOLS):
                continue
            namespace, _, name = str(key).rpartition("}")
            meant = _MISSPELLED.get((tag, name), name)
            if meant not in self.grammar[tag].attributes:
                message = f"the attribute {name!r} of <{tag}> is not known and is left out"
                self.allow("AA05", message, element, lost=True)
                continue
            if meant != name:
                self.allow("AA04", f"the attribute {name!r} of <{tag}> is read as {meant!r}", element)
            if bool(namespace) != (self.dialect == SHORTCUTS) and not self.has_other_namespace:
                self.has_other_namespace = True
                message = (
                    f"the attribute {name!r} of <{tag}> is in another namespace than {self.dialect}.xml has"
                )
                self.allow("AA02", message, element)
            attributes.setdefault(meant, str(raw))
        return attributes

    def children(self, element: Element) -> list[Element]:
        """Return the elements inside; those that it does not have are left out."""
        children = []
        for child in child_elements(element):
            if child.tag in self.grammar[str(element.tag)].children:
                children.append(child)
                form = self.grammar.get(str(child.tag))
                if form is not None and not form.children:
                    self.children(child)
            else:
                self.leave_out_unknown(child, element)
        return children

    def leave_out_unknown(self, child: Element, parent: Element) -> None:
        message = f"<{child.tag!s}> in <{parent.tag!s}> is not known and is left out"
        self.allow("AA05", message, child, lost=True)

    def merged(self, items: Iterable[InventoryItem], element: Element) -> tuple[InventoryItem, ...]:
        """Return each value once, with all its names."""
        by_id: dict[str, InventoryItem] = {}
        names: dict[str, dict[str, None]] = {}
        for item in items:
            first = by_id.setdefault(item.id, item)
            if first is item:
                continue
            if replace(first, names=item.names, place=item.place) == item:
                names.setdefault(item.id, dict.fromkeys(first.names)).update(dict.fromkeys(item.names))
            else:
                self.leave_out(f"another value {item.id!r}", element)
        repeated = {
            item_id: replace(by_id[item_id], names=tuple(all_of)) for item_id, all_of in names.items()
        }
        return tuple({**by_id, **repeated}.values())

    def spend(self, values: int, element: Element) -> None:
        """Count listed values.

        Raises:
            BudgetError: the file has more than the budget.
        """
        self.spent += values
        if self.spent > MAX_VALUES:
            message = f"the file lists more than {MAX_VALUES} values, each as often as it is referred to"
            raise BudgetError(message, place=str(self.place(element)))

    def checked(self, action: DeclaredAction, element: Element) -> DeclaredAction:
        """Return an action whose parameters have as many values as the budget allows."""
        sizes = {path: sum(1 + len(item.names) for item in items) for path, items in action.inventory.items()}
        for fulfilment in action.fulfilments:
            listed = sum(sizes.get(parameter.field, 0) for parameter in fulfilment.parameters)
            self.spend(listed + _VALUES_OF_A_FULFILMENT, element)
        return action

    def leave_out(self, subject: str, element: Element) -> None:
        self.allow("AA07", f"{subject} is left out", element, lost=True)

    def text(self, raw: str | None, element: Element) -> str | None:
        """Return what an attribute says: references are followed, escapes undone."""
        if raw is None:
            return None
        reference = reference_in(raw)
        if reference is not None:
            return self.resolve(reference, element)
        return raw if self.compiled else read_plain_attribute(raw)

    def texts(self, raw: str | None, element: Element) -> tuple[str, ...] | None:
        """Return the texts of an attribute that is one text or an array."""
        reference = None if raw is None else reference_in(raw)
        if reference is None or not reference.rpartition("/")[0].endswith("array"):
            text = self.text(raw, element)
            return None if text is None else (text,)
        items = None if self.resources is None else self.resources.read_array(reference)
        if items is None:
            self.report_unresolved(reference, element)
            return (reference,)
        self.spend(len(items), element)
        return tuple(self.resolve(item, element) if reference_in(item) else item for item in items)

    def resolve(self, reference: str, element: Element) -> str:
        text = None if self.resources is None else self.resources.read_text(reference)
        if text is None:
            self.report_unresolved(reference, element)
        return reference if text is None else text

    def report_unresolved(self, reference: str, element: Element) -> None:
        if reference not in self.unresolved:
            self.unresolved.add(reference)
            message = f"{reference} is not among the resources; the reference itself is read as the text"
            self.allow("AA03", message, element)

    # shortcuts.xml

    def parse_shortcuts(self, root: Element, place: Place) -> ActionFile:
        parts = self.children(root)
        bound: dict[str, Place] = {}
        inventory: dict[str, list[tuple[str | None, InventoryItem]]] = {}
        inside: list[DeclaredAction | None] = []
        for shortcut in parts:
            if shortcut.tag == "shortcut":
                inside.extend(self.shortcut(shortcut, bound, inventory))
        capabilities = (self.capability(part, inventory) for part in parts if part.tag == "capability")
        return ActionFile(self.dialect, place, tuple(filter(None, (*capabilities, *inside))), bound)

    def shortcut(
        self,
        shortcut: Element,
        bound: dict[str, Place],
        inventory: dict[str, list[tuple[str | None, InventoryItem]]],
    ) -> Iterator[DeclaredAction | None]:
        """Read what a shortcut binds; yield the capabilities that are declared inside of it."""
        attributes = self.attributes(shortcut)
        parts = self.children(shortcut)
        intents = [part for part in parts if part.tag == "intent"]
        # Android starts the last one, and has the others behind it.
        starts = self.launcher_intent(intents[-1]) if intents else None
        extras = dict(filter(None, (self.fixed_extra(part) for part in parts if part.tag == "extra")))
        for part in parts:
            if part.tag == "capability":
                message = (
                    "a <capability> inside of a <shortcut> is read as one that starts the shortcut's intent"
                )
                self.allow("AA06", message, part)
                yield self.capability(part, {}, starts)
            if part.tag != "capability-binding":
                continue
            name = self.text(self.attributes(part).get("key"), part)
            if name is None:
                self.leave_out("a <capability-binding> without a key", part)
                continue
            bound.setdefault(name, self.place(part))
            item = InventoryItem(
                self.text(attributes.get("shortcutId"), shortcut) or "",
                (),
                self.place(shortcut),
                label=self.text(attributes.get("shortcutShortLabel"), shortcut),
                same_as=extras.get("sameAs"),
                starts=starts,
            )
            for binding in self.children(part):
                values = self.attributes(binding)
                names = self.texts(values.get("value"), binding) or ()
                entry = (self.text(values.get("key"), binding), replace(item, names=names))
                inventory.setdefault(name, []).append(entry)
            if not child_elements(part):
                inventory.setdefault(name, []).append((None, item))

    def launcher_intent(self, element: Element) -> Fulfilment:
        """Read a shortcut's own intent, of which Android reads more than is read here."""
        attributes = {str(key).rpartition("}")[2]: str(raw) for key, raw in element.attrib.items()}
        return self.intent_of(element, {name: attributes[name] for name in _INTENT if name in attributes})

    def intent_of(self, element: Element, attributes: Mapping[str, str]) -> Fulfilment:
        read = {name: self.text(raw, element) for name, raw in attributes.items()}
        return Fulfilment(
            "intent",
            self.place(element),
            action=read.get("action"),
            target_package=read.get("targetPackage"),
            target_class=read.get("targetClass"),
            data=read.get("data"),
            identifier=read.get("identifier"),
        )

    def capability(
        self,
        element: Element,
        inventory: Mapping[str, list[tuple[str | None, InventoryItem]]],
        starts: Fulfilment | None = None,
    ) -> DeclaredAction | None:
        attributes = self.attributes(element)
        name = self.text(attributes.get("name"), element)
        if not name:
            self.leave_out("a <capability> without a name", element)
            return None
        bound = inventory.get(name, [])
        self.spend(len(bound), element)
        if starts is None:
            fulfilments = [self.fulfilment(part, bound) for part in self.children(element)]
        else:
            parameters = []
            for part in child_elements(element):
                if part.tag == "parameter":
                    parameters.append(part)
                else:
                    self.leave_out_unknown(part, element)
            fulfilments = [replace(starts, parameters=self.parameters(parameters))]
        fields = {parameter.field for each in fulfilments for parameter in each.parameters}
        # A binding without a key is that of the only field.
        only = next(iter(fields)) if len(fields) == 1 else None
        items: dict[str, list[InventoryItem]] = {}
        for key, item in bound:
            path = key or only
            if path is not None and (item.names or key is not None):
                items.setdefault(path, []).append(item)
        action = DeclaredAction(
            name,
            self.place(element),
            self.texts(attributes.get("queryPatterns"), element),
            tuple(fulfilments),
            {path: self.merged(listed, element) for path, listed in items.items()},
        )
        return self.checked(action, element)

    def fulfilment(self, element: Element, bound: Iterable[tuple[str | None, InventoryItem]]) -> Fulfilment:
        attributes, parts = self.attributes(element), self.children(element)
        read = self.intent_of(element, attributes)
        parameters = [part for part in parts if part.tag == "parameter"]
        templates = []
        for part in parts:
            if part.tag == "url-template":
                templates.append(self.text(self.attributes(part).get("value"), part))
                for inside in self.children(part):
                    message = "a <parameter> inside of a <url-template> is read as one of the fulfilment"
                    self.allow("AA06", message, inside)
                    parameters.append(inside)
        kind: FulfilmentKind = "intent"
        stated = self.parameters(parameters, is_shortcut=element.tag == "shortcut-fulfillment")
        if element.tag == "shortcut-fulfillment":
            fields = dict.fromkeys(key for key, item in bound if key and item.starts)
            stated = stated or tuple(
                FulfilmentParameter(key, key, required=True, match_required=True) for key in fields
            )
            starts = next((item.starts for _, item in bound if item.starts is not None), read)
            read, kind = replace(starts, place=read.place), "shortcut"
        elif element.tag in {"slice", "app-widget"}:
            kind = "slice" if element.tag == "slice" else "app-widget"
        return replace(
            read,
            kind=kind,
            template=next(filter(None, templates), None),
            parameters=stated,
            extras=dict(filter(None, (self.fixed_extra(part) for part in parts if part.tag == "extra"))),
        )

    def fixed_extra(self, element: Element) -> tuple[str, str] | None:
        attributes = self.attributes(element)
        # Google's table has `name`, its text has `key`.
        key = self.text(attributes.get("key", attributes.get("name")), element)
        value = self.text(attributes.get("value"), element)
        return None if key is None or value is None else (key, value)

    def parameters(
        self, elements: Iterable[Element], *, is_shortcut: bool = False
    ) -> tuple[FulfilmentParameter, ...]:
        """Read parameters; those of a `<shortcut-fulfillment>` have no key and choose the shortcut."""
        parameters = []
        for element in elements:
            attributes = {name: self.text(raw, element) for name, raw in self.attributes(element).items()}
            parameter = FulfilmentParameter(
                field=attributes.get("name") or "",
                key=attributes.get("key") or attributes.get("name") or "",
                type_url=attributes.get("mimeType"),
                required=is_shortcut or _is_true(attributes.get("required")),
                match_required=is_shortcut or _is_true(attributes.get("shortcutMatchRequired")),
                is_web_inventory=bool(self.children(element)),
            )
            if not is_shortcut and attributes.get("key") is None:
                self.leave_out(f"the parameter {parameter.field!r} without a key", element)
            else:
                parameters.append((parameter, element))
        return self.distinct(parameters)

    def distinct(
        self, parameters: Iterable[tuple[FulfilmentParameter, Element]]
    ) -> tuple[FulfilmentParameter, ...]:
        """Return the parameters of a fulfilment whose key is new."""
        by_key: dict[str, FulfilmentParameter] = {}
        for parameter, element in parameters:
            if not parameter.key or not parameter.field:
                self.leave_out("a parameter without a name", element)
            elif by_key.setdefault(parameter.key, parameter) is not parameter:
                self.leave_out(f"another parameter with the key {parameter.key!r}", element)
        return tuple(by_key.values())

    # actions.xml

    def with_wrapped_sets(self, root: Element) -> list[Element]:
        """Return the elements of the root, those in an `<entity-sets>` among them."""
        parts: list[Element] = []
        for wrapper in [child for child in child_elements(root) if child.tag == "entity-sets"]:
            self.allow("AA04", "<entity-sets> is read as the entity sets inside of it", wrapper)
            parts.extend(child for child in child_elements(wrapper) if child.tag == "entity-set")
            root.remove(wrapper)
        return [*self.children(root), *parts]

    def entity_sets(self, elements: Iterable[Element]) -> dict[str, tuple[InventoryItem, ...]]:
        sets: dict[str, tuple[InventoryItem, ...]] = {}
        for element in elements:
            name = self.text(self.attributes(element).get("entitySetId"), element)
            entities = self.merged(filter(None, map(self.entity, self.children(element))), element)
            if name is None or name in sets:
                self.leave_out(
                    f"an <entity-set> with the id {name!r}, which is missing or repeated,", element
                )
            else:
                sets[name] = entities
        return sets

    def entity(self, element: Element) -> InventoryItem | None:
        attributes = self.attributes(element)
        name = self.text(attributes.get("name"), element)
        identifier = self.text(attributes.get("identifier"), element) or name
        if identifier is None:
            self.leave_out("an <entity> without name and identifier", element)
            return None
        names = [] if name is None else [name]
        names.extend(self.texts(attributes.get("alternateName"), element) or ())
        for synonym in self.children(element):
            self.allow("AA04", "a <synonym> is read as an alternate name", synonym)
            names.append((synonym.text or "").strip())
        return InventoryItem(
            identifier,
            tuple(names),
            self.place(element),
            url=self.text(attributes.get("url"), element),
            same_as=self.text(attributes.get("sameAs"), element),
        )

    def action(
        self, element: Element, sets: Mapping[str, tuple[InventoryItem, ...]]
    ) -> DeclaredAction | None:
        attributes = self.attributes(element)
        name = self.text(attributes.get("intentName"), element)
        if not name:
            self.leave_out("an <action> without an intent name", element)
            return None
        parts = self.children(element)
        types: dict[str, str | None] = {}
        inventory: dict[str, tuple[InventoryItem, ...]] = {}
        on_web: set[str] = set()
        for part in parts:
            if part.tag != "parameter":
                continue
            stated = self.attributes(part)
            path = self.text(stated.get("name"), part) or ""
            types[path] = self.text(stated.get("type"), part)
            for reference in self.children(part):
                of_set = self.attributes(reference)
                set_id = self.text(of_set.get("entitySetId"), reference) or ""
                if "urlFilter" in of_set:
                    on_web.add(path)
                elif set_id not in sets:
                    self.leave_out(
                        f"a reference to the entity set {set_id!r}, which is not there,", reference
                    )
                else:
                    self.spend(len(sets[set_id]), reference)
                    inventory[path] = sets[set_id]
        fulfilments = [
            self.link(part, types, on_web, inventory) for part in parts if part.tag == "fulfillment"
        ]
        patterns = self.texts(attributes.get("queryPatterns"), element)
        action = DeclaredAction(name, self.place(element), patterns, tuple(fulfilments), inventory)
        return self.checked(action, element)

    def link(
        self,
        element: Element,
        types: Mapping[str, str | None],
        on_web: set[str],
        inventory: Iterable[str],
    ) -> Fulfilment:
        attributes = {name: self.text(raw, element) for name, raw in self.attributes(element).items()}
        pairs = []
        for mapping in self.children(element):
            stated = {name: self.text(raw, mapping) for name, raw in self.attributes(mapping).items()}
            path = stated.get("intentParameter") or ""
            parameter = FulfilmentParameter(
                field=path,
                key=stated.get("urlParameter") or "",
                type_url=types.get(path),
                required=_is_true(stated.get("required")),
                match_required=_is_true(stated.get("entityMatchRequired")),
                is_web_inventory=path in on_web,
            )
            if parameter.key:
                pairs.append((parameter, mapping))
            else:
                self.leave_out(f"the parameter {path!r} without a URL parameter", mapping)
        template = attributes.get("urlTemplate")
        if template == ENTITY_LINK:
            # It is the listed value's link, which Google's samples map to no parameter.
            mapped = {parameter.field for parameter, _ in pairs}
            unmapped = (path for path in inventory if path not in mapped)
            pairs.extend((FulfilmentParameter(path, path), element) for path in unmapped)
            pairs = [(replace(each, required=True, match_required=True), place) for each, place in pairs]
        is_slice = attributes.get("fulfillmentMode") == NAMES["slice_mode"] or (template or "").startswith(
            "content:"
        )
        return Fulfilment(
            "slice" if is_slice else "intent",
            self.place(element),
            template=template,
            parameters=self.distinct(pairs),
            is_foreground=bool(attributes.get("requiredForegroundActivity")),
        )
