"""A verb decides: what it serves, and what it is grouped with."""

import pytest

from droidgate.coverage.match.capability_groups import Scorer
from droidgate.coverage.match.features import CapabilityText, declared_text, features_of
from droidgate.coverage.match.match_words import Vocabulary, actions_alike, stem_of
from droidgate_mappings.tables.taxonomy import WordsOfCapabilities, load_taxonomy, load_words
from gateway.coverage_match.fitting import signals
from gateway.coverage_match.test_matching import match_all
from gateway.coverage_match.test_use_cases import served_by
from gateway.synthetic_ecosystem.names import Names


def _texts_of(*names: str, description: bool = False) -> list[CapabilityText]:
    """Return a capability of an app of its own for each name."""
    described = (f"{name.replace('_', 's the ', 1)}." if description else None for name in names)
    return [
        CapabilityText(f"k{place:04}", f"com.app{place}", "mmcp", name, text)
        for place, (name, text) in enumerate(zip(names, described, strict=True))
    ]


def _groups(*names: str, description: bool = False) -> set[frozenset[str]]:
    names_by_key = {item.key: item.name for item in _texts_of(*names, description=description)}
    matching = match_all(_texts_of(*names, description=description))
    return {frozenset(names_by_key[key] for key in keys) for keys in matching.groups}


def _served(name: str, description: str | None = None) -> set[str]:
    return {item.use_case for item in served_by(CapabilityText("k", "p", "mmcp", name, description))}


LOOKING_UP = ("get", "fetch", "retrieve", "read", "find", "list", "show", "view", "search")
SERVED: dict[str, tuple[tuple[str, str | None, str], ...]] = {
    "getting an event is neither creating nor editing one": (
        ("get_event", "Gets an event.", "calendar.manage"),
    ),
    "looking up notes is searching them in whatever words": tuple(
        (f"{verb}_note", None, "notes.search") for verb in LOOKING_UP
    ),
    "an unknown verb serves nothing": (
        ("rebur_event", None, ""), ("noburVideo", None, ""), ("zilko_contact", None, ""),
        ("gribble_recipe", None, ""), ("dorvanWifi", None, ""),
    ),
    "an unknown verb serves what its description says": (
        ("zilko_event", "Creates an event.", "calendar.create"),
    ),
    "a thing without a verb serves nothing where the thing is not enough": (("event", "An event.", ""),),
    "what is given back in the end is not what is done": (
        ("munge_note", "Munges a note and returns it.", ""),
        ("notes_of_today", "Returns the notes of today.", "notes.search"),
    ),
    "an unknown word is not a verb where the description begins with a thing": (
        ("espresso_recipe", "Recipe of an espresso.", "food.recipes"), ("espresso_recipe", None, ""),
        ("espresso_recipe", "Espresso and its recipe.", ""),
    ),
    "the verb of a phrase that names a thing is what is done to it": (
        ("generate_image", None, "creativity.make"), ("heart_rate", None, "fitness.metrics"),
    ),
    "to move is to edit, but to edit is not to move": (
        ("move_event", None, "calendar.edit"), ("update_note", None, "notes.edit"),
    ),
    "a word for a thing after an unknown one is not a verb": (
        ("blorp_drawing", "Blorps the drawing.", ""), ("draw_picture", None, "creativity.make"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "description", "meant"),
    [pytest.param(*row, id=f"{rule}: {row[0]}") for rule, rows in SERVED.items() for row in rows],
)
def test_words_decide_which_use_cases_a_capability_serves(
    name: str, description: str | None, meant: str
) -> None:
    assert _served(name, description) == set(meant.split())


def test_getting_rid_of_a_thing_is_deleting_it_and_not_getting_it() -> None:
    assert _groups("get_rid_of_note", "delete_note", "get_note", "read_note", "get_ride", "getRide") == {
        frozenset({"get_rid_of_note", "delete_note"}),
        frozenset({"get_note", "read_note"}),
        frozenset({"get_ride", "getRide"}),
    }


@pytest.mark.parametrize(
    ("first", "other"), [("pause", "share"), ("create", "share"), ("get", "create"), ("delete", "create")]
)
@pytest.mark.parametrize("thing", ["video", "note", "contact"])
def test_contradicting_verbs_are_in_no_group_together(first: str, other: str, thing: str) -> None:
    pair = f"{first}_{thing}", f"{other}_{thing}"
    for leader in (thing, f"nobur_{thing}", f"{thing}_library"):
        for group in _groups(*[leader] * 3, *pair):
            assert not group.issuperset(pair)


def test_names_that_begin_with_one_unknown_word_are_not_surely_the_same() -> None:
    """They may do the same (`rebur_recipe`), or name the same (`espresso_recipe`)."""
    vocabulary = Vocabulary()
    names = "espresso_recipe", "espresso_stock", "vepaki_stock", "order_stock"
    features = [features_of(declared_text(item), vocabulary) for item in _texts_of(*names)]
    scorer = Scorer(features)
    first, *others = map(scorer.prepare, features)
    assert [signals(scorer, first, other)[0] for other in others] == [0.4, 0.0, 0.0]


def test_no_group_of_many_made_up_capabilities_contradicts_itself() -> None:
    names = Names(seed=11)
    capabilities = [names.capability() for _ in range(4_000)]
    texts = [
        CapabilityText(f"k{place:04}", f"com.app{place}", "mmcp", item.snake_name, item.description)
        for place, item in enumerate(capabilities)
    ]
    verbs = {text.key: item.verb for text, item in zip(texts, capabilities, strict=True)}
    families = [
        {"get", "list", "show", "read"}, {"create", "add"}, {"send"}, {"delete", "cancel"}, {"share"},
        {"pause"}, {"edit", "update"}, {"export"},
    ]  # fmt: skip
    groups = match_all(texts).groups
    assert len(groups) >= 100
    for keys in groups:
        met = [family for family in families if family & {verbs[key] for key in keys}]
        assert len(met) <= 1, keys


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
    groups = match_all([*finding, *searching, *both]).groups
    package = {item.key: item.package for item in (*finding, *searching, *both)}
    (largest,) = groups
    assert len(largest) == 32
    assert len({package[key] for key in largest}) == 32


def test_a_word_that_opens_a_text_is_a_stop_word_elsewhere() -> None:
    read = {"id": "read", "words": "read", "opening": "get"}
    empty = {"objects": (), "roles": ()}
    words = WordsOfCapabilities.model_validate({"stop": "get", "actions": (read,), **empty})
    assert words.actions[0].opening == ("get",)


def test_the_use_cases_are_those_of_the_guideline_and_keep_their_ids() -> None:
    """The guideline's table is reference style-and-peers 2.6."""
    assert " ".join(use_case.id for use_case in load_taxonomy().use_cases()) == (
        "messaging.send messaging.contacts messaging.call notes.create notes.edit notes.search "
        "notes.organise calendar.create calendar.edit calendar.manage tasks.create tasks.manage "
        "tasks.search fitness.start fitness.stop fitness.pause fitness.resume fitness.metrics "
        "fitness.on-demand shopping.search shopping.manage shopping.buy travel.itinerary "
        "travel.ride travel.navigation travel.local food.reserve food.order food.recipes "
        "creativity.make creativity.edit creativity.projects media.search media.share media.edit "
        "media.playback tools.device tools.remote"
    )


def test_no_two_meanings_share_a_stem() -> None:
    for meanings in (load_words().actions, load_words().objects):
        seen: dict[str, str] = {}
        for meaning in meanings:
            for word in meaning.words:
                assert seen.setdefault(stem_of(word), meaning.id) == meaning.id, word


@pytest.mark.parametrize("written", ["createNotes", "create_note", "Creating NOTES", "create-note"])
def test_spellings_of_one_name_have_the_same_words(written: str) -> None:
    assert [word.stem for word in Vocabulary().words_of(written)] in (["creat", "not"], ["creat", "note"])
    assert [(word.action, word.object) for word in Vocabulary().words_of(written)] == [
        ("create", None),
        (None, "note"),
    ]


@pytest.mark.parametrize(("written", "action", "thing"), [
    ("lichtEinschalten", "turn_on", "light"),
    ("enviar mensaje", "send", "message"),
    ("créer_une_tâche", "create", "task"),
    ("prenotare un tavolo", "book", "table"),
])  # fmt: skip
def test_other_languages_have_the_same_meanings(written: str, action: str, thing: str) -> None:
    words = Vocabulary().words_of(written)
    assert action in {word.action for word in words}
    assert thing in {word.object for word in words}


@pytest.mark.parametrize(
    ("text", "action"),
    [("Turns the kitchen lamp on", "turn_on"), ("switch it off", "turn_off"), ("look for a name", "search")],
)
def test_a_phrase_is_found_with_words_between(text: str, action: str) -> None:
    vocabulary = Vocabulary()
    assert {meaning for _, _, meaning, _ in vocabulary.phrases_of(vocabulary.words_of(text))} == {action}


def test_a_word_too_short_for_an_ending_is_in_a_phrase_as_it_is_written() -> None:
    vocabulary = Vocabulary()
    phrases = [list(vocabulary.phrases_of(vocabulary.words_of(text))) for text in ("getRid", "gets a ride")]
    assert phrases == [[(0, 1, "delete", None)], []]


def test_a_word_too_short_for_an_ending_is_not_a_form_of_a_longer_one() -> None:
    note, *others = Vocabulary().words_of("notes not rid")
    assert (note.object, [item.object for item in others]) == ("note", [None, None])
    assert [item.object for item in Vocabulary().words_of("car cars ride")] == ["ride"] * 3


def test_likeness_is_symmetric() -> None:
    for name, others in actions_alike().items():
        assert all(name in actions_alike()[other] for other in others)
        assert name not in others
