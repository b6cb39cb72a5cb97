"""Phrases that command a model instead of describing a tool: a hint for users, not a boundary.

The boundary is the policy of calls: an app whose author knows these phrases avoids them. The measured
precision and recall are in docs/concepts/text-marks.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from droidgate_mappings.text_safety import phrase_words
from droidgate_mappings.text_safety.phrase_forms import (
    decoded_parts,
    latin_of,
    leet_of,
    lines_of,
    one_line_of,
    squeezed_of,
    turned_of,
)

SETS_ASIDE: Final = "asks to ignore other instructions"
IMITATES_CHAT: Final = "imitates the messages of a conversation"
KEEPS_FROM_USER: Final = "asks to keep something from the user"
COMES_FIRST: Final = "claims priority over other tools"
CHANGES_ROLE: Final = "gives the model another role, or refers to its prompt"
SENDS_AWAY: Final = "asks to send secrets or a conversation"
HAS_LEAKING_LINK: Final = "has a link or image that can carry data away"
HAS_ENCODED_TEXT: Final = "has a long encoded text"
IN_ENCODED_TEXT: Final = ", in an encoded part"

# Every repetition below has a bound, so each expression takes time in proportion to the text. Runs of blanks
# are one blank before they are searched.
_INSTRUCTIONS: Final = r"(?:instruction|prompt|guideline|directive|guidance)s?"
_RULES: Final = (
    r"(?:instruction|prompt|guideline|directive|rule|restriction|polic(?:y|ie))s?|guidance|programming"
)
_EARLIER: Final = (
    r"(?:previous|prior|earlier|preceding|above|foregoing|former|original|initial|existing|safety|system)"
)
_SET_ASIDE: Final = (
    r"(?:ignore|disregard|forget|override|bypass|discard|neglect"
    r"|(?:do not|don't|never|stop|quit) (?:follow|obey)(?:ing)?)"
)
_GAP: Final = r"[^.]{0,40}?"
_DO_NOT: Final = r"(?:do not|don't|dont|never|must not|should not|shall not|not to|without|avoid)"
_USER: Final = r"(?:the |this |your |any |our )?(?:end |human )?(?:user|human|account owner|account holder)"
_MODEL: Final = r"(?:ai|llm|language model|ai model|ai assistant|ai agent)"
_SECRETS: Final = (
    r"(?:password|passcode|(?:access |auth |session )?token|credential|secret|api ?key|private key"
    r"|one-time code|cookie)s?"
)
_CHAT: Final = (
    r"(?:conversation(?: history)?|chat(?: history| log)|message history|system prompt|tool list"
    r"|address book)"
)
_WHOLE: Final = r"(?: of)?(?: (?:the|your|this|our|all|whole|entire|full|complete|so|far|user's|users')){1,4}"
_SEND: Final = (
    r"(?:send|post|upload|forward|exfiltrate|leak|transmit|submit|include|append|attach|copy|put|pass|paste"
    r"|insert|e-?mail|reveal|report)"
)
_PRIVATE: Final = (
    r"(?:user_?(?:e-?mail|name|id)|e-?mail|conversation|chat|password|token|secret|history|messages?|notes"
    r"|api_?key)"
)

_PATTERNS: Final = (
    (SETS_ASIDE, rf"\b{_SET_ASIDE}\b{_GAP}\b{_EARLIER}\b{_GAP}\b(?:{_RULES})\b"),
    (
        SETS_ASIDE,
        rf"\b{_SET_ASIDE} (?:\w{{1,20}} ){{0,2}}(?:all|any|every|other)\b[^.]{{0,20}}?\b{_INSTRUCTIONS}\b",
    ),
    (
        SETS_ASIDE,
        (
            rf"\b{_SET_ASIDE}\b[^.]{{0,30}}?\b(?:{_RULES})\b[^.]{{0,20}}?"
            r"\b(?:above|before|earlier|so far|you (?:were|have|had|got)|of the (?:user|system|developer))\b"
        ),
    ),
    (SETS_ASIDE, rf"\b{_SET_ASIDE} (?:all |everything )?(?:of )?the (?:above|previous) and\b"),
    (SETS_ASIDE, r"\bforget (?:everything|anything|all|what)(?: that)? (?:you|above|before|was said)\b"),
    (
        SETS_ASIDE,
        rf"\b(?:bypass|override|ignore|disable)[sd]? (?:all |any |its |your )?safety (?:{_RULES})\b",
    ),
    (
        SETS_ASIDE,
        rf"\b{_EARLIER} (?:{_RULES})\b[^.]{{0,30}}?\b(?:no longer|are void|is void|are obsolete|outdated)\b",
    ),
    (IMITATES_CHAT, r"< ?/? ?(?:system|assistant|developer|important|instructions?|secret) ?>"),
    (IMITATES_CHAT, r"<\|[a-z_]{2,20}\|>|\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>"),
    (
        IMITATES_CHAT,
        (
            r"< ?/?(?:tool_(?:result|response|call|output)|function_(?:results?|calls?)"
            r"|system[-_](?:reminder|message|prompt))s?>"
        ),
    ),
    (IMITATES_CHAT, r"\n ?#{1,3} ?(?:system|assistant|developer) ?(?:prompt|message|instructions?)? ?:"),
    (
        IMITATES_CHAT,
        r"\n ?(?:human|user|system) ?: ?[^\n]{1,200}\n{1,3} ?(?:assistant|ai|model) ?:",
    ),
    (IMITATES_CHAT, rf"<!--[^>]{{0,20}}?\b(?:assistant|system|agent|model|{_MODEL}) ?:"),
    (IMITATES_CHAT, r"[\"']role[\"'] ?: ?[\"'](?:system|developer|assistant)[\"']"),
    (IMITATES_CHAT, r"\[(?:system|assistant)\] ?\(#"),
    (
        IMITATES_CHAT,
        r"\b(?:begin|start|end)(?: of)? (?:the )?(?:system (?:message|prompt)|tool description)\b",
    ),
    (
        KEEPS_FROM_USER,
        rf"\b{_DO_NOT} (?:ever )?(?:tell|inform|warn)(?:ing)? {_USER}\b(?!'s| interface)",
    ),
    (
        KEEPS_FROM_USER,
        rf"\b{_DO_NOT} (?:ever )?(?:mention|reveal|disclose|say)(?:ing)?\b[^.]{{0,30}}?\bto {_USER}\b(?!'s)",
    ),
    (KEEPS_FROM_USER, rf"\b{_DO_NOT} (?:notify|alert)(?:ing)? {_USER} (?:that|about|of (?:this|the call))\b"),
    (KEEPS_FROM_USER, rf"\b{_DO_NOT} (?:mention|reveal|disclose)(?:ing)? (?:it|this|that)\b(?! (?:is|was))"),
    (
        KEEPS_FROM_USER,
        rf"\b(?:keep|hide|conceal) (?:this|it|that|the|what)\b[^.]{{0,30}}?\bfrom {_USER}\b(?!'s)",
    ),
    (
        KEEPS_FROM_USER,
        (
            rf"\b{_USER} (?:must|should|may|can|need|does)(?: not|n't| never) (?:to )?"
            r"(?:find out|know|learn|notice|be (?:told|informed)|hear)\b"
        ),
    ),
    (
        COMES_FIRST,
        (
            rf"\b(?:always|must|first)\b{_GAP}\b(?:call|use|run|invoke)\b{_GAP}"
            r"\bbefore\b[^.]{0,30}?\b(?:any|every|all|other|another)\b[^.]{0,20}?\btools?\b"
        ),
    ),
    (
        COMES_FIRST,
        (
            r"\b(?:before|whenever) (?:any|every|all|each|another)(?: other)? tools?\b"
            r"[^.]{0,40}?\b(?:call|use|run|invoke)(?:d)?\b"
        ),
    ),
    (
        COMES_FIRST,
        r"\b(?:prefer|choose) this (?:tool|function|app|server)?\b[^.]{0,20}?\b(?:all|any|every) other",
    ),
    (
        COMES_FIRST,
        r"\b(?:do not|don't|never|stop) (?:call|use|run|trust)(?:ing)? (?:any |the |all )?other tools?",
    ),
    (
        COMES_FIRST,
        r"\bother tools?\b[^.]{0,20}?\b(?:are|is) (?:broken|unsafe|dangerous|malicious|deprecated)\b",
    ),
    (COMES_FIRST, r"\bonly (?:trustworthy|trusted|safe|reliable) tool\b"),
    (
        CHANGES_ROLE,
        (
            r"\b(?:reveal|print|repeat|show|output|return|leak|send|upload|include|tell|write|give|quote)s?\b"
            r"[^.]{0,30}? your (?:\w{1,20} ){0,2}(?:system (?:prompt|message)|(?:hidden|initial) instructions"
            r"|original instructions|secret instructions)\b"
        ),
    ),
    (CHANGES_ROLE, r"\byour (?:hidden|original|previous|earlier|real|initial) instructions\b"),
    (
        CHANGES_ROLE,
        (
            r"\byou are now (?:in (?:developer|debug|admin|god|jailbreak|unrestricted|maintenance) mode|dan\b"
            r"|(?:an? |the )?(?:\w{1,20} ){0,2}(?:administrator|assistant|ai|language model|agent|chatbot)\b"
            r"|un(?:restricted|limited|filtered|censored)|free (?:of|from))"
        ),
    ),
    (
        CHANGES_ROLE,
        r"\byou are no longer (?:an? )?(?:\w{1,20} ){0,2}(?:assistant|ai|model|bound|restricted|limited)\b",
    ),
    (CHANGES_ROLE, r"\byou (?:have|are in) (?:developer|debug|god|jailbreak|unrestricted) mode\b"),
    (
        CHANGES_ROLE,
        r"\bfrom now on,? (?:you )?(?:are|act|obey|follow|answer|respond|must|only (?:follow|obey|answer))\b",
    ),
    (
        CHANGES_ROLE,
        r"\b(?:pretend|act as if|behave as if)(?: that)? you (?:have|are|had|were) (?:no|not|un\w{1,20})\b",
    ),
    (
        CHANGES_ROLE,
        (
            r"\b(?:answer|respond|assistant|act)\b[^.]{0,20}? without (?:any )?"
            r"(?:restriction|limit|limitation|filter|rule)s?\b"
        ),
    ),
    (CHANGES_ROLE, r"\bnew (?:system )?instructions? ?:"),
    (CHANGES_ROLE, r"\byour (?:real|actual|true) (?:task|goal|mission|purpose|job|objective) is\b"),
    (CHANGES_ROLE, r"\byour new (?:task|goal|mission|purpose|job|objective) is to\b"),
    (
        CHANGES_ROLE,
        r"\byour (?:guardrails|safety (?:rules|guidelines|checks|filters|training)|content policy)\b",
    ),
    (
        CHANGES_ROLE,
        rf"\b(?:even (?:when|if|though)|although)\b{_GAP}\byour (?:rules|guidelines|instructions)\b",
    ),
    (CHANGES_ROLE, rf"\battention,? (?:to )?(?:the |all |any )?(?:assistant|agents?|model|{_MODEL}s?)\b"),
    (CHANGES_ROLE, rf"\b(?:note|message|hint) to (?:the |all |any )?(?:assistant|model|{_MODEL})s? ?[:!]"),
    (CHANGES_ROLE, rf"\bas (?:the|an?|your) (?:model|assistant|{_MODEL}),? you\b"),
    (
        SENDS_AWAY,
        rf"\b{_SEND}\b[^.]{{0,60}}?\b(?:their|his|her|users?'s?|all|every) [^.]{{0,30}}?\b{_SECRETS}\b",
    ),
    (SENDS_AWAY, rf"\b{_SEND}{_WHOLE} {_CHAT}\b(?! (?:list|window|view))"),
    (SENDS_AWAY, rf"\b(?:call|invoke|pass)\b{_GAP}\b(?:the|your) (?:full|whole|entire|complete) {_CHAT}\b"),
    (
        SENDS_AWAY,
        (
            r"\b(?:forward|exfiltrate|send|upload|copy)\b[^.]{0,20}?\b(?:users?'s?|their|his|her) [^.]{0,20}?"
            r"\bcontacts?\b[^.]{0,20}?\bto (?:the (?:app|server|host|address)|https?:|this |[\w.]{1,64}@)"
        ),
    ),
    (
        SENDS_AWAY,
        (
            r"\b(?:read|include|send|pass|cat|copy|contents?)\b[^\n]{0,40}?"
            r"(?:\.ssh/|\bid_(?:rsa|ed25519)\b|/etc/(?:passwd|shadow)\b|\.aws/credentials|the file \.env\b)"
        ),
    ),
    (
        HAS_LEAKING_LINK,
        r"!\[[^\]\n]{0,200}\]\( ?<?https?://[^)\s]{0,500}?(?:\{|%7b|<|\[|\$)",
    ),
    (
        HAS_LEAKING_LINK,
        rf"\]\( ?<?https?://[^)\s]{{0,500}}?[?&][^)\s=]{{1,40}}=(?:\{{|%7b|<|\[|\$)?{_PRIVATE}\b",
    ),
    (HAS_LEAKING_LINK, r"<img [^>]{0,100}?src ?= ?[\"']?https?://[^>\s\"']{0,500}?(?:\{|%7b|<|\[|\$)"),
)
_MARKS: Final = tuple((meaning, re.compile(pattern)) for meaning, pattern in _PATTERNS)
_MARKS_OF_LINES: Final = tuple(item for item in _MARKS if item[1].pattern.startswith(r"\n"))
_MARKS_OF_TEXT: Final = tuple(item for item in _MARKS if item not in _MARKS_OF_LINES)

_HINTS: Final = {
    SETS_ASIDE: (
        *("ignor", "disregard", "forget", "overrid", "bypass", "discard", "neglect", "follow", "obey"),
        *("disable", "no longer", "void", "obsolete", "outdated"),
    ),
    IMITATES_CHAT: ("<", "[", ":", "begin", "start", "end"),
    KEEPS_FROM_USER: ("user", "human", "account", "mention", "reveal", "disclose"),
    COMES_FIRST: ("tool", "prefer this", "choose this"),
    CHANGES_ROLE: (
        *("you", "from now on", "without", "instruction", "attention", "note to", "message to", "hint to"),
    ),
    SENDS_AWAY: (
        *(
            "pass",
            "token",
            "credential",
            "secret",
            "key",
            "code",
            "cookie",
            "conversation",
            "chat",
            "history",
        ),
        *("prompt", "tool list", "address book", "contact", ".ssh/", "id_", "/etc/", ".env"),
    ),
    HAS_LEAKING_LINK: ("http",),
}
"""For each meaning, parts of words of which a text has one if an expression of that meaning matches.

Looking for them takes a small part of the time of the expressions.
"""

# In a text without blanks.
_SQUEEZED_ASIDE: Final = (
    r"(?:ignore(?![ds])|disregard(?![s])|forget|override(?![sd]))[a-z]{0,14}?"
    r"(?:previous|prior|earlier|preceding|above)[a-z]{0,10}?(?:instruction|prompt|rule|guideline)"
)
_SQUEEZED_MARKS: Final = tuple(
    (meaning, re.compile(pattern))
    for meaning, pattern in (
        (SETS_ASIDE, _SQUEEZED_ASIDE),
        (KEEPS_FROM_USER, r"(?:donot|dont|never)(?:tell|inform)(?:the|this)?user(?!interface)"),
        (CHANGES_ROLE, r"(?:reveal|print|repeat)(?:me)?your(?:system|hidden)prompt"),
    )
)
_COMBINATIONS: Final = {
    phrase_words.SETS_ASIDE: SETS_ASIDE,
    phrase_words.KEEPS_FROM_USER: KEEPS_FROM_USER,
    phrase_words.SENDS_AWAY: SENDS_AWAY,
}
_ENCODED: Final = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{256}")
_SHORTEST: Final = 6


def injection_marks(text: str) -> tuple[str, ...]:
    """Return why a text reads as if it commanded a model, each reason once; empty where nothing looks so.

    The whole text is searched, in the forms of `phrase_forms`: without hidden characters, with full-width,
    mathematical and look-alike letters as plain ones, with digits for letters, across line ends, without
    blanks, and decoded.
    """
    if len(text) < _SHORTEST:
        return ()
    found = dict.fromkeys(_marks_in(text))
    for part in dict.fromkeys(decoded_parts(text)):
        found.update(
            dict.fromkeys(f"{mark}{IN_ENCODED_TEXT}" for mark in _marks_in(part) if mark not in found)
        )
    if _ENCODED.search(text) is not None:
        found[HAS_ENCODED_TEXT] = None
    return tuple(found)


def _marks_in(text: str) -> Iterator[str]:
    lines = lines_of(text)
    latin = latin_of(lines)
    line = one_line_of(latin)
    leet = leet_of(line)
    yield from _found(_MARKS_OF_LINES, latin)
    squeezed = squeezed_of(line)
    yield from _found(_MARKS_OF_TEXT, *dict.fromkeys((line, leet)))
    for form in dict.fromkeys((squeezed, squeezed_of(leet), turned_of(squeezed))):
        yield from (meaning for meaning, pattern in _SQUEEZED_MARKS if pattern.search(form))
    for form in dict.fromkeys((one_line_of(lines), line)):
        yield from (_COMBINATIONS[combination] for combination in sorted(phrase_words.combinations_in(form)))


def _found(marks: Iterable[tuple[str, re.Pattern[str]]], *forms: str) -> Iterator[str]:
    for form in forms:
        hinted = {item for item, hints in _HINTS.items() if any(hint in form for hint in hints)}
        yield from (meaning for meaning, pattern in marks if meaning in hinted and pattern.search(form))
