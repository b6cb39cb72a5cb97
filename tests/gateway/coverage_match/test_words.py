import pytest

from droidgate.coverage.match.match_words import Vocabulary, actions_alike, stem_of
from droidgate_mappings.tables.taxonomy import load_taxonomy, load_words

# The guideline's table (reference style-and-peers 2.6), row by row.
APP_TYPES = (
    ("messaging", 3), ("notes", 4), ("calendar", 3), ("tasks", 3), ("fitness", 6), ("shopping", 3),
    ("travel", 4), ("food", 3), ("creativity", 3), ("media", 4), ("tools", 2),
)  # fmt: skip


def test_the_taxonomy_has_the_guidelines_app_types_and_use_cases() -> None:
    taxonomy = load_taxonomy()
    assert [(app_type.id, len(app_type.use_cases)) for app_type in taxonomy.app_types] == list(APP_TYPES)


def test_the_ids_of_the_use_cases_are_stable() -> None:
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


@pytest.mark.parametrize(
    ("written", "action", "thing"),
    [
        ("lichtEinschalten", "turn_on", "light"),
        ("enviar mensaje", "send", "message"),
        ("créer_une_tâche", "create", "task"),
        ("prenotare un tavolo", "book", "table"),
    ],
)
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
    assert {found for _, _, found, _ in vocabulary.phrases_of(vocabulary.words_of(text))} == {action}


def test_a_word_too_short_for_an_ending_is_in_a_phrase_as_it_is_written() -> None:
    vocabulary = Vocabulary()
    phrases = [list(vocabulary.phrases_of(vocabulary.words_of(text))) for text in ("getRid", "gets a ride")]
    assert phrases == [[(0, 1, "delete", None)], []]


def test_a_word_too_short_for_an_ending_is_not_a_form_of_a_longer_one() -> None:
    note, *others = Vocabulary().words_of("notes not rid")
    assert (note.object, [item.object for item in others]) == ("note", [None, None])
    assert [item.object for item in Vocabulary().words_of("car cars ride")] == ["ride"] * 3


def test_being_alike_goes_both_ways() -> None:
    for name, others in actions_alike().items():
        assert all(name in actions_alike()[other] for other in others)
        assert name not in others
