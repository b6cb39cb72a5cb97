"""English words for `find_tools`: those that say nothing about a tool, and those that users say for another.

A tool is found by the words in its own texts. Users, and models that pass their words on, have others: the
weather answers how hot it is. A group has words of which one may stand for another in what a phone does; they
count less than the words of the query itself.
"""

from __future__ import annotations

from typing import Final

_STOP_WORDS: Final = """
    a about after all am an and any app are as at be but by can could d did do does for from get give had has
    have he her here his how i if in into is it its just let ll m may me my need no not of on one or our out
    please re s she should so some t than that the their them then there these they this those to too tool
    tools up us use used uses ve want was we were what when where which who why will with would you your
"""
STOP_WORDS: Final = frozenset(_STOP_WORDS.split())
"""What a query is searched without, unless it has nothing else."""

RELATED_WORDS: Final = tuple(
    """
    weather forecast temperature warm warmer warmest hot heat cold rain umbrella snow sun sunny wind storm
    weather outside outdoors degrees hot cold
    map route directions navigate way
    alarm wake timer countdown stopwatch seconds minutes
    calendar event appointment meeting schedule agenda
    remind reminder remember
    message text sms chat
    mail email inbox
    call phone dial ring
    contact person people friend
    share send forward
    note memo jot write
    todo task chore errand
    list checklist
    done finish complete tick mark
    pending open left remaining unfinished outstanding
    archive away
    summary summarize overview statistics figures
    document file paper pdf
    page sheet
    merge join combine glue unite
    picture image photo selfie snapshot screenshot camera capture
    text words say content extract copy
    find search look locate query
    add create new make insert
    delete remove erase clear discard
    change edit update modify set adjust switch
    reset restart over anew
    save keep store later bookmark
    off disable stop
    play watch listen hear
    stop pause halt
    resume continue keep
    next skip forward ahead
    previous back backward rewind
    repeat loop again
    speed slow slower fast faster
    music song musical album
    film movie cinema
    series serial season show
    kids child children family
    sport football soccer match game basketball tennis
    esports cyber gaming
    news politics political
    video clip
    live stream broadcast
    channel station tv television
    subscribe subscription follow
    unsubscribe unfollow
    popular trending trends
    home main start
    settings preferences configure options
    size font bigger smaller larger
    money pay spend spent expense cost price euro dollar buy transaction transfer account savings bank
    clock punch attendance check office work shift
    score points total
    word vocabulary learn language translate
    rude insult swear
    phone device model battery android version
    app application program package
    open launch start run
    tap click touch press push
    type enter input
    swipe scroll drag
    screen display
    wait sleep
    increase increment count counter
    author creator channel
    """.strip().splitlines()
)
"""Groups of words, separated by spaces; a word may be in several."""
