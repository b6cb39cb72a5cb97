"""Words of other languages whose company in one sentence makes a phrase that commands a model.

A sentence is marked where words of all kinds of a combination are close together, in any order: languages
differ in the order of words more than in the words. Verbs are listed in the forms of commands, since a
description of a tool uses other forms where the language has them.
"""

# ruff: noqa: RUF001 - letters of other scripts are what this table is about

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

_CLOSE: Final = 100
"""Characters between the first and the last word of a combination."""

_END: Final = "end"

SETS_ASIDE: Final = "sets_aside"
KEEPS_FROM_USER: Final = "keeps_from_user"
SENDS_AWAY: Final = "sends_away"

COMBINATIONS: Final = (
    (SETS_ASIDE, frozenset(("aside", "prior", "rule"))),
    (KEEPS_FROM_USER, frozenset(("not", "tell", "user"))),
    (KEEPS_FROM_USER, frozenset(("hide", "user"))),
    (SENDS_AWAY, frozenset(("send", "secret", "user", "place"))),
    (SENDS_AWAY, frozenset(("send", "secret", "user", "prior"))),
)

# A star matches any ending, an underscore a blank. Languages in Latin letters are written without
# accents, but for Vietnamese, whose words differ by them.
_WORDS: Final[dict[str, dict[str, str]]] = {
    "de": {
        "aside": "ignoriere ignorieren vergiss missachte missachten ubergehe verwirf",
        "prior": "vorherig* bisherig* vorig* fruher* vorangegangen* obig* alle aller allen samtlich*",
        "rule": "anweisung* regel* instruktion* vorgabe* richtlinie* befehl*",
        "not": "nicht nichts nie niemals",
        "tell": "sage sag sagen erzahle erzahl erzahlen verrate verraten informiere erwahne erwahnen",
        "user": "nutzer* benutzer* anwender* user",
        "send": "schicke schick sende ubermittle ubertrage poste",
        "secret": "passwort* kennwort* zugangsdaten token* chatverlauf password* passwords",
        "place": "adresse* server* url",
    },
    "fr": {
        "aside": "ignore ignorez ignorer oublie oubliez oublier",
        "prior": "precedent* anterieur* toutes tous dessus haut",
        "rule": "instruction* consigne* regle* directive*",
        "not": "ne n pas jamais",
        "tell": "dis dites dire informe informez informer revele revelez mentionne mentionnez previens",
        "user": "utilisateur* utilisatrice*",
        "send": "envoie envoyez envoyer transmets transmettez",
        "secret": "mots_de_passe mot_de_passe identifiants jetons",
        "place": "serveur*",
    },
    "es": {
        "aside": "ignora ignorad ignorar olvida olvide olvidar descarta",
        "prior": "anterior* previa* previo* todas todos arriba",
        "rule": "instruccion* regla* ordenes indicacion* directriz* directrices",
        "not": "no nunca jamas",
        "tell": "digas diga informes informe reveles revele menciones mencione cuentes cuente",
        "user": "usuari*",
        "send": "envia envie enviad enviar manda mande reenvia",
        "secret": "contrasen* clave* credencial*",
        "place": "direccion* servidor*",
    },
    "pt": {
        "aside": "esqueca esquece esquecer desconsidere desconsiderar",
        "prior": "acima",
        "rule": "instruc* regra* ordens diretriz* diretrizes",
        "not": "nao",
        "tell": "conte contar dizer informar mencionar avise",
        "user": "utilizador*",
        "send": "encaminhe",
        "secret": "senha* credenciais",
        "place": "endereco*",
    },
    "it": {
        "aside": "ignorare ignorate dimentica dimenticare dimenticate",
        "prior": "prima tutte tutti sopra",
        "rule": "istruzion* regol* ordini direttiv*",
        "not": "non mai",
        "tell": "dica informare rivelare riveli menzionare",
        "user": "utente utenti",
        "send": "invia inviare inviate spedisci",
        "secret": "credenzial*",
        "place": "indirizzo*",
    },
    "nl": {
        "aside": "negeer negeren vergeet vergeten",
        "prior": "eerdere vorige voorgaande bovenstaande",
        "rule": "instructie* aanwijzing* opdracht*",
        "not": "niet niets nooit",
        "tell": "vertel vertellen zeg zeggen onthul informeer",
        "user": "gebruiker*",
        "send": "stuur verstuur zend",
        "secret": "wachtwoord*",
        "place": "adres*",
    },
    "pl": {
        "aside": "zignoruj ignoruj zapomnij",
        "prior": "poprzedni* wczesniejsz* wszystki* powyzsz*",
        "rule": "instrukcj* zasad* regul* polecen* wytyczn*",
        "not": "nie nigdy",
        "tell": "mow powiedz informuj zdradzaj wspominaj ujawniaj",
        "user": "uzytkowni*",
        "send": "wyslij przeslij",
        "secret": "hasl*",
        "place": "serwer*",
    },
    "sv": {
        "aside": "ignorera glom bortse",
        "prior": "tidigare foregaende alla ovanstaende",
        "rule": "anvisning* regler*",
        "not": "inte aldrig",
        "tell": "beratta sag namn avsloja",
        "user": "anvandar*",
        "send": "skicka",
        "secret": "losenord*",
        "place": "adress*",
    },
    "cs": {
        "aside": "zapomen",
        "prior": "predchozi* vsechn* drivejsi*",
        "rule": "pokyn* pravid* instrukc*",
        "hide": "nerikej neprozrazuj nezminuj",
        "user": "uzivatel*",
        "send": "posli odesli",
        "secret": "hesl*",
    },
    "ru": {
        "aside": "игнорируй игнорируйте проигнорируй проигнорируйте забудь забудьте",
        "prior": "предыдущ* прежни* ранее все всех выше вышеуказанн*",
        "rule": "инструкци* правил* указани* команд*",
        "not": "не никогда ничего",
        "tell": "говори говорите сообщай сообщайте рассказывай рассказывайте упоминай упоминайте",
        "user": "пользовател*",
        "send": "отправь отправьте перешли перешлите пошли передай",
        "secret": "парол* токен*",
        "place": "адрес* сервер*",
    },
    "uk": {
        "aside": "ігноруй ігноруйте проігноруй проігноруйте",
        "prior": "попередн* всі усі вище",
        "rule": "інструкці* вказівк*",
        "not": "ніколи",
        "tell": "кажи кажіть повідомляй повідомляйте розповідай згадуй",
        "user": "користувач*",
        "send": "надішли надішліть відправ відправте",
    },
    "el": {
        "aside": "αγνόησε αγνοήστε ξέχασε ξεχάστε",
        "prior": "προηγούμεν* όλες όλους όλα παραπάνω",
        "rule": "οδηγίες οδηγιών κανόν* εντολ*",
        "not": "μη μην",
        "tell": "πεις πείτε αναφέρεις",
        "user": "χρήστη*",
        "send": "στείλε στείλτε",
        "secret": "κωδικ*",
        "place": "διεύθυνση* διακομιστή*",
    },
    "tr": {
        "aside": "yok_say yok_sayin gormezden_gel gormezden_gelin unut unutun dikkate_alma",
        "prior": "onceki tum butun yukaridaki",
        "rule": "talimat* kural* yonerge* komut*",
        "hide": "soyleme soylemeyin bahsetme bahsetmeyin haber_verme",
        "user": "kullanici*",
        "send": "gonder gonderin ilet iletin",
        "secret": "sifre* parola*",
        "place": "sunucu*",
    },
    "vi": {
        "aside": "bỏ_qua quên",
        "prior": "trước trên tất_cả",
        "rule": "chỉ_dẫn hướng_dẫn quy_tắc chỉ_thị lệnh",
        "not": "đừng",
        "tell": "nói cho_biết tiết_lộ",
        "user": "người_dùng",
        "send": "gửi chuyển",
        "secret": "mật_khẩu",
        "place": "địa_chỉ máy_chủ",
    },
    "id": {
        "aside": "abaikan lupakan",
        "prior": "sebelumnya semua",
        "rule": "instruksi* aturan* perintah* petunjuk*",
        "not": "jangan",
        "tell": "beri_tahu memberi_tahu katakan sampaikan ungkapkan",
        "user": "pengguna*",
        "send": "kirim kirimkan teruskan",
        "secret": "kata_sandi",
        "place": "alamat*",
    },
}

# Scripts whose words have parts attached, or no blanks between them, or signs that Python does not count as
# letters: they are searched as parts of the text.
_PARTS: Final[dict[str, dict[str, str]]] = {
    "\u0600-\u06ff": {
        "aside": r"\b[وف]?(?:تجاهل[يو]?ا?|[اإ]نس[ىي]?)\b|(?:نادیده بگیر|فراموش کن)(?![دن])",
        "prior": r"سابق|جميع|\bكل\b|علاه|قبلی|پیشین|همه|تمام",
        "rule": r"تعليمات|قواعد|وامر|رشادات|دستور|قوانین",
        "hide": r"\bلا (?:تخبر|تقل|تذكر)|\bنگو",
        "user": r"مستخدم|کاربر",
        "send": r"\b[وف]?[اأ]رسل[يو]?\b|(?:بفرست|ارسال کن)(?![دن])",
        "secret": r"كلم(?:ات|ة) (?:ال)?(?:مرور|سر)|گذرواژه|رمز(?:های)? عبور",
        "place": r"عنوان|خادم|نشانی|آدرس|سرور",
    },
    "\u0900-\u097f": {
        "aside": r"(?:अनदेखा|नज़रअंदाज़|नजरअंदाज) (?:करो|करें|कर दो|कीजिए)|भूल जा(?:ओ|एँ|एं|इए)",
        "prior": r"पिछल|पहले|सभी|ऊपर|पूर्व",
        "rule": r"निर्देश|नियम|आदेश",
        "hide": r"मत (?:बता|कह)|न(?:हीं)? बता(?:ओ|एं|एँ)",
        "user": r"उपयोगकर्ता|यूज़र",
        "send": r"भेज(?:ो|ें|िए| दो)",
        "secret": r"पासवर्ड|टोकन",
        "place": r"पते|पता|सर्वर",
    },
    "\u0e00-\u0e7f": {
        "aside": "เพิกเฉย|ละเว้น|ลืม|ไม่ต้องสนใจ",
        "prior": "ก่อนหน้า|ทั้งหมด|ข้างต้น",
        "rule": "คำสั่ง|กฎ",
        "hide": "(?:อย่า|ห้าม)บอก",
        "user": "ผู้ใช้",
        "send": "ส่ง",
        "secret": "รหัสผ่าน",
        "place": "ที่อยู่|เซิร์ฟเวอร์",
    },
    "\u3040-\u30ff\u3400-\u9fff": {
        "aside": r"忽略|无视|忘记|忘掉|忘記|無視(?:して(?!い)|しろ|せよ)|忘れ(?:て(?!しま|い)|ろ)",
        "prior": "之前|以上|先前|前面|上述|所有|全部|此前|以前|これまで|前の|上記|すべて|全て",
        "rule": "指令|指示|规则|規則|提示词|命令|ルール|プロンプト|ガイドライン",
        "hide": (
            "(?:不要|别|切勿|请勿)(?:告诉|告知|告訴|透露|让)|(?:不要|别|切勿|请勿)向.{1,4}(?:提及|透露)"
            "|(?:知らせ|伝え|言わ|教え|話さ|明かさ)ないで|(?:知らせ|伝え|教え)るな"
        ),
        "user": "用户|使用者|用戶|ユーザ|利用者",
        "send": "发送|发到|发给|上传|转发|(?:送信して|送って|転送して)(?!い)|送れ",
        "secret": "密码(?!重置|找回|修改)|口令|令牌|密钥|聊天记录|パスワード|トークン|秘密鍵",
        "place": "地址|服务器|网址|アドレス|サーバ",
    },
    "\uac00-\ud7af": {
        "aside": "무시하(?:고|세요|십시오|라)|무시해|잊어버리|잊으(?:세요|십시오|라)|잊어라",
        "prior": "이전|앞의|앞서|위의|모든|기존",
        "rule": "지시|규칙|명령|지침|프롬프트",
        "hide": "(?:알리|말하|알려 ?주|언급하)지 ?(?:마|말)",
        "user": "사용자|이용자",
        "send": "(?:보내|전송하|전달하)(?:세요|십시오|라)",
        "secret": "비밀번호|암호|토큰",
        "place": "주소|서버",
    },
}

_WORD: Final = re.compile(r"[^\W\d_]+|[.!?;](?=\s|$)")
_START: Final = 3
"""Characters of a word by which its entries are found."""

_Entry = tuple[str, bool, tuple[str, ...], str]


def combinations_in(text: str) -> frozenset[str]:
    """Return the combinations whose words are close together in a sentence of a text in small letters."""
    found: set[str] = set()
    events = (_word_events(text), *(_part_events(text, parts) for parts in _part_expressions(text)))
    for kinds in events:
        found.update(_combined(kinds))
    return frozenset(found)


def _combined(events: Iterable[tuple[int, str]]) -> Iterator[str]:
    last: dict[str, int] = {}
    for at, kind in events:
        if kind == _END:
            last.clear()
            continue
        last[kind] = at
        for name, needed in COMBINATIONS:
            if kind in needed and all(at - last.get(item, -_CLOSE - 1) <= _CLOSE for item in needed):
                yield name


def _word_events(text: str) -> Iterator[tuple[int, str]]:
    entries = _entries()
    words = [(match.start(), match[0]) for match in _WORD.finditer(text)]
    for number, (at, word) in enumerate(words):
        if not word[0].isalpha():
            yield at, _END
            continue
        for stem, is_open, more, kind in entries.get(word[:_START], ()):
            if not (word.startswith(stem) if is_open else word == stem):
                continue
            if not more or tuple(item for _, item in words[number + 1 : number + 1 + len(more)]) == more:
                yield at, kind


def _part_expressions(text: str) -> Iterator[re.Pattern[str]]:
    if not text.isascii():
        yield from (parts for letters, parts in _expressions() if letters.search(text))


def _part_events(text: str, parts: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    return ((match.start(), match.lastgroup or _END) for match in parts.finditer(text))


@cache
def _entries() -> dict[str, list[_Entry]]:
    """Return the listed words by their first characters: beginning, any ending, further words, kind."""
    entries: dict[str, list[_Entry]] = {}
    for kinds in _WORDS.values():
        for kind, listed in kinds.items():
            for part in listed.casefold().split():
                first, *more = part.rstrip("*").split("_")
                entries.setdefault(first[:_START], []).append((first, part.endswith("*"), tuple(more), kind))
    return entries


@cache
def _expressions() -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    """Return for each script the class of its letters, and the expression of its words by kind."""
    return tuple(
        (
            re.compile(f"[{letters}]"),
            re.compile(
                unicodedata.normalize(
                    "NFKC", "|".join(f"(?P<{kind}>{parts})" for kind, parts in kinds.items())
                )
                + f"|(?P<{_END}>[.!?;。।])"
            ),
        )
        for letters, kinds in _PARTS.items()
    )
