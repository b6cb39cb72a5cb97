"""Write mappings/droidgate_mappings/text_safety/unicode_tables.json from Unicode's character data.

The properties come from Node.js, whose regular expressions know them. The confusables of UTS 39 come from
`src/tables.rs` of the crate unicode-security, which is generated from Unicode's confusables.txt:

    cargo fetch                  # in a package that depends on unicode-security
    python scripts/write_unicode_tables.py PATH_TO_TABLES_RS
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

_OUT: Final = (
    Path(__file__).resolve().parents[1] / "mappings/droidgate_mappings/text_safety/unicode_tables.json"
)
_JOINING_SCRIPTS: Final = """
    Arabic Syriac Nko Mandaic Adlam Hanifi_Rohingya Sogdian Chorasmian Mongolian Phags_Pa Devanagari Bengali
    Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala Khmer Myanmar Tibetan Balinese Javanese
    Sundanese Lao Thai Chakma Meetei_Mayek Newa Tirhuta Grantha Brahmi Kaithi Sharada Takri Limbu Lepcha
""".split()  # noqa: SIM905
_HIDDEN: Final = (
    r"\p{Default_Ignorable_Code_Point}",
    r"\p{Bidi_Control}",
    r"\p{Variation_Selector}",
    r"[\p{Cc}--[\t\n]]",
    r"\p{Cs}",
    r"\p{Co}",
    r"\p{Zl}",
    r"\p{Zp}",
    r"\p{Noncharacter_Code_Point}",
    # Format characters that take no room. Those that are drawn are the signs before a number.
    r"[\p{Cf}--[\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u{110BD}\u{110CD}]]",
    r"[\u{13430}-\u{13440}\u{13447}-\u{13455}\u2800\uFFF0-\uFFFB]",
)
_TABLES: Final = {
    "hidden": f"[{''.join(_HIDDEN)}]",
    "joining": "[["
    + "".join(f"\\p{{Script={item}}}" for item in _JOINING_SCRIPTS)
    + r"]&&[\p{L}\p{M}\p{Nd}]]",
    "emoji": r"\p{Emoji}",
    "pictographs": r"[\p{Extended_Pictographic}\p{Emoji_Modifier}]",
    "ideographs": r"\p{Ideographic}",
    "mongolian": r"[\p{Script=Mongolian}&&\p{L}]",
    "standard_bases": r"[\p{Sm}[\p{Script=Myanmar}&&\p{L}][\p{Script=Phags_Pa}&&\p{L}]]",
}
_PROGRAM: Final = """
const tables = JSON.parse(process.argv[1]), out = {version: process.versions.unicode};
for (const name in tables) {
  const set = new RegExp('^' + tables[name] + '$', 'v'), ranges = [];
  for (let at = 0; at <= 0x10ffff; at++) {
    const surrogate = at >= 0xd800 && at <= 0xdfff;
    if (surrogate ? name === 'hidden' : set.test(String.fromCodePoint(at))) {
      const last = ranges[ranges.length - 1];
      if (last && last[1] === at - 1) last[1] = at; else ranges.push([at, at]);
    }
  }
  out[name] = ranges;
}
console.log(JSON.stringify(out));
"""


def main() -> None:
    """Write the tables."""
    rust = Path(sys.argv[1]).read_text("utf-8")
    version = re.findall(r"UNICODE_VERSION[^=]*= \(([^)]*)\)", rust)[0].replace(", ", ".")
    text = rust[rust.index("const CONFUSABLES") :]
    pairs = re.findall(r"\('\\u\{([0-9a-f]+)\}',\s*&\[([^\]]*)\]\)", text[: text.index("];")])
    command = ["node", "-e", _PROGRAM, json.dumps(_TABLES)]
    answered = subprocess.run(command, capture_output=True, text=True, check=True)
    ranges = json.loads(answered.stdout)
    tables = {
        "about": "Character data of Unicode; written by scripts/write_unicode_tables.py. "
        f"Properties: Unicode {ranges['version']}. Confusables: Unicode {version} (UTS 39). "
        "Copyright Unicode, Inc.; used under the Unicode License v3."
    }
    for name in _TABLES:
        tables[name] = " ".join(f"{a:X}" if a == b else f"{a:X}-{b:X}" for a, b in ranges[name])
    tables["confusables"] = " ".join(
        f"{item.upper()}={'+'.join(re.findall(r'{([0-9a-f]+)}', to)).upper()}" for item, to in pairs
    )
    _OUT.write_text(json.dumps(tables, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
