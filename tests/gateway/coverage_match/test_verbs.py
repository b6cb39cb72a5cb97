"""A verb decides: what it serves, and what it is grouped with."""

from xml.etree import ElementTree as ET

import pytest
from pydantic import ValidationError

from droidgate.coverage.match.capability_groups import Scorer, match_capabilities
from droidgate.coverage.match.features import CapabilityText, declared_text, features_of
from droidgate.coverage.match.match_words import Vocabulary
from droidgate.coverage.match.use_cases import UseCases
from droidgate_mappings.tables.taxonomy import WordsOfCapabilities
from gateway.coverage_match.labelled_pairs import row_of_use_cases
from gateway.coverage_match.test_matching import DOCUMENT
from gateway.coverage_match.verb_table import VERB_TABLE
from gateway.synthetic_ecosystem.names import Names
from requirements_of_tests import CHECKOUT

CLOCK_IN = CHECKOUT / "device_shim/apps/clock-in/app/src/main/res/xml/mcp_capabilities.xml"


def _said(*names: str, description: bool = False) -> list[CapabilityText]:
    """Return a capability of an app of its own for each name."""
    return [
        CapabilityText(
            f"k{place:04}",
            f"com.app{place}",
            "mmcp",
            name,
            f"{name.replace('_', 's the ', 1)}." if description else None,
        )
        for place, name in enumerate(names)
    ]


def _groups(*names: str, description: bool = False) -> set[frozenset[str]]:
    kept = {item.key: item.name for item in _said(*names, description=description)}
    matching = match_capabilities(_said(*names, description=description))
    return {frozenset(kept[key] for key in keys) for keys in matching.groups}


def _served(name: str, description: str | None = None) -> set[str]:
    return {
        item.use_case for item in UseCases().served_by(CapabilityText("k", "p", "mmcp", name, description))
    }


def test_the_document_says_how_well_the_table_by_hand_is_met() -> None:
    answers = ((_served(name, description), set(meant.split())) for name, description, meant in VERB_TABLE)
    line = row_of_use_cases("by hand", answers)
    assert line in DOCUMENT.read_text(encoding="utf-8").splitlines()


def test_the_table_by_hand_has_many_that_serve_none() -> None:
    assert len({(name, description) for name, description, _ in VERB_TABLE}) == len(VERB_TABLE) >= 60
    assert sum(not meant for *_, meant in VERB_TABLE) >= 25


def test_getting_an_event_is_neither_creating_nor_editing_one() -> None:
    assert _served("get_event", "Gets an event.") == {"calendar.manage"}


@pytest.mark.parametrize(
    "verb", ["get", "fetch", "retrieve", "read", "find", "list", "show", "view", "search"]
)
def test_looking_up_notes_is_searching_them_in_whatever_words(verb: str) -> None:
    assert _served(f"{verb}_note") == {"notes.search"}


def test_getting_rid_of_a_thing_is_deleting_it_and_not_getting_it() -> None:
    assert _groups("get_rid_of_note", "delete_note", "get_note", "read_note", "get_ride", "getRide") == {
        frozenset({"get_rid_of_note", "delete_note"}),
        frozenset({"get_note", "read_note"}),
        frozenset({"get_ride", "getRide"}),
    }


@pytest.mark.parametrize(
    "name", ["rebur_event", "noburVideo", "zilko_contact", "gribble_recipe", "dorvanWifi"]
)
def test_an_unknown_verb_serves_nothing(name: str) -> None:
    assert _served(name) == set()


def test_an_unknown_verb_serves_what_its_description_says() -> None:
    assert _served("zilko_event", "Creates an event.") == {"calendar.create"}


def test_a_thing_without_a_verb_is_reported_by_the_thing_where_that_is_enough() -> None:
    (served,) = UseCases().served_by(
        CapabilityText("k", "p", "mmcp", "battery_level", "Level of the battery.")
    )
    assert (served.use_case, served.action, served.object) == ("tools.device", None, "battery")
    assert _served("event", "An event.") == set()


def test_what_is_given_back_in_the_end_is_not_what_is_done() -> None:
    assert _served("munge_note", "Munges a note and returns it.") == set()
    assert _served("notes_of_today", "Returns the notes of today.") == {"notes.search"}


def test_an_unknown_word_is_not_a_verb_where_the_description_begins_with_a_thing() -> None:
    assert _served("espresso_recipe", "Recipe of an espresso.") == {"food.recipes"}
    assert _served("espresso_recipe") == _served("espresso_recipe", "Espresso and its recipe.") == set()


def test_the_verb_of_a_phrase_that_says_a_thing_is_what_is_done_to_it() -> None:
    assert _served("generate_image") == {"creativity.make"}
    assert _served("heart_rate") == {"fitness.metrics"}


def test_to_move_is_to_edit_but_to_edit_is_not_to_move() -> None:
    assert "notes.organise" not in _served("update_note")
    assert _served("move_event") == {"calendar.edit"}


def test_a_word_for_a_thing_after_an_unknown_one_is_not_a_verb() -> None:
    assert _served("blorp_drawing", "Blorps the drawing.") == set()
    assert _served("draw_picture") == {"creativity.make"}


@pytest.mark.parametrize(
    ("first", "other"), [("pause", "share"), ("create", "share"), ("get", "create"), ("delete", "create")]
)
@pytest.mark.parametrize("thing", ["video", "note", "contact"])
def test_contradicting_verbs_are_in_no_group_together(first: str, other: str, thing: str) -> None:
    pair = f"{first}_{thing}", f"{other}_{thing}"
    for leader in (thing, f"nobur_{thing}", f"{thing}_library"):
        for group in _groups(*[leader] * 3, *pair):
            assert not group.issuperset(pair)


def test_one_of_two_contradicting_verbs_may_join_a_thing_without_a_verb() -> None:
    assert _groups("video", "video", "pause_video", "share_video") == {frozenset({"video", "pause_video"})}


def test_an_unknown_verb_is_like_itself_alone() -> None:
    assert _groups("rebur_contact", "get_contact", "vepaki_contact", "fetchContact", "reburContact") == {
        frozenset({"rebur_contact", "reburContact"}),
        frozenset({"get_contact", "fetchContact"}),
    }


def test_names_that_begin_with_one_unknown_word_are_not_surely_the_same() -> None:
    """They may do the same (`rebur_recipe`), or name the same (`espresso_recipe`)."""
    vocabulary = Vocabulary()
    names = "espresso_recipe", "espresso_stock", "vepaki_stock", "order_stock"
    features = [features_of(declared_text(item), vocabulary) for item in _said(*names)]
    scorer = Scorer(features)
    first, *others = map(scorer.prepare, features)
    assert [scorer.signals(first, other).actions for other in others] == [0.4, 0.0, 0.0]


def test_no_group_of_many_made_up_capabilities_contradicts_itself() -> None:
    names = Names(seed=11)
    made = [names.capability() for _ in range(4_000)]
    texts = [
        CapabilityText(f"k{place:04}", f"com.app{place}", "mmcp", item.snake_name, item.description)
        for place, item in enumerate(made)
    ]
    verbs = {text.key: item.verb for text, item in zip(texts, made, strict=True)}
    looking, making = {"get", "list", "show", "read"}, {"create", "add"}
    families = [
        looking,
        making,
        {"send"},
        {"delete", "cancel"},
        {"share"},
        {"pause"},
        {"edit", "update"},
        {"export"},
    ]
    groups = match_capabilities(texts).groups
    assert len(groups) >= 100
    for keys in groups:
        met = [family for family in families if family & {verbs[key] for key in keys}]
        assert len(met) <= 1, keys


def test_the_sample_app_that_clocks_in_lists_nothing_twice() -> None:
    texts = [
        CapabilityText(
            item.attrib["id"],
            "dev.droidgate.sample.clockin",
            "mobile-mcp",
            item.attrib["id"],
            item.attrib["description"],
            ", ".join(f"{kept.attrib['name']}:string" for kept in item.findall("input/param")),
        )
        for item in ET.parse(CLOCK_IN).getroot().findall("capability")
    ]
    assert {item.name for item in texts} == {"clock_in_today", "make_up_clock_in", "query_clock_in"}
    assert match_capabilities(texts).groups == ()


def test_of_a_text_that_many_apps_share_each_app_is_asked_for_its_own_list() -> None:
    """Two capabilities of different names of one app share no group, be it the last of many."""
    finding = [
        CapabilityText(f"a{n:02}", f"com.a{n:02}", "mmcp", "find_note", "Finds a note.") for n in range(20)
    ]
    searching = [
        CapabilityText(f"b{n:02}", f"com.b{n:02}", "mmcp", "search_my_note", "Searches my notes.")
        for n in range(12)
    ]
    both = [CapabilityText("c", "com.b11", "mmcp", "find_note", "Finds a note.")]
    groups = match_capabilities([*finding, *searching, *both]).groups
    package = {item.key: item.package for item in (*finding, *searching, *both)}
    (largest,) = groups
    assert len(largest) == 32
    assert len({package[key] for key in largest}) == 32


def test_a_word_that_opens_a_text_is_a_stop_word_elsewhere() -> None:
    read = {"id": "read", "words": "read", "opening": "get"}
    empty = {"objects": (), "roles": ()}
    assert WordsOfCapabilities.model_validate({"stop": "get", "actions": (read,), **empty}).actions[
        0
    ].opening == ("get",)
    with pytest.raises(ValidationError, match="unknown stop word: get"):
        WordsOfCapabilities.model_validate({"stop": "the", "actions": (read,), **empty})
