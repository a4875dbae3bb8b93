#!/usr/bin/env python3
"""Writes Sources/EventStore/Basics/Text/CompositionTable.swift: the canonical decompositions of Unicode, but for Hangul
syllables, which are computed. Normalisation is stable: what a later Unicode adds changes no text of today."""
import unicodedata

entries = []
for code in range(0x110000):
    if 0xD800 <= code < 0xE000:
        continue
    parts = unicodedata.decomposition(chr(code))
    if not parts or parts.startswith("<"):
        continue
    composes = unicodedata.normalize("NFC", chr(code)) == chr(code)
    words = " ".join(word.lstrip("0") for word in parts.split())
    entries.append(f"{'' if composes else '!'}{code:X} {words}")

lines, line = [], ""
for entry in entries:
    if len(line) + len(entry) + 1 > 150:
        lines.append(line)
        line = ""
    line += entry + ";"
lines.append(line)
body = "\\\n".join("        " + line for line in lines)
path = "Sources/EventStore/Basics/Text/CompositionTable.swift"
with open(path, "w") as out:
    out.write(f'''/// Canonical decompositions of Unicode {unicodedata.unidata_version}, but for Hangul syllables, which are computed. Made by
/// `Scripts/make-composition-table.py`.
enum CompositionTable {{
    /// A character and what it decomposes to, one step: one character or two, in hexadecimal. With `!` nothing composes to it.
    static let entries: StaticString = """
{body}
        """
}}
''')
