"""The bytes of the tokens of a tokenizer.json, read from its vocabulary."""

import json


def byte_letters():
    """What byte-level vocabularies write a byte as: itself if it is a letter that can be seen, and the
    others from U+0100 on."""
    seen = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    letters = {chr(byte): byte for byte in seen}
    others = (byte for byte in range(256) if byte not in seen)
    letters.update({chr(0x100 + place): byte for place, byte in enumerate(others)})
    return letters


def of(path):
    """A list of bytes by id. Empty for a special token, and where there is none."""
    with open(path, encoding="utf-8") as file:
        tokenizer = json.load(file)
    letters = byte_letters() if "ByteLevel" in json.dumps(tokenizer["decoder"]) else None
    added = {token["id"]: token for token in tokenizer["added_tokens"]}
    vocabulary = {id: text for text, id in tokenizer["model"]["vocab"].items()}
    tokens = [b""] * (max([*vocabulary, *added]) + 1)
    for id, text in vocabulary.items():
        if letters is not None:
            tokens[id] = bytes(letters[letter] for letter in text) if id not in added else b""
        elif len(text) == 6 and text.startswith("<0x"):
            tokens[id] = bytes([int(text[3:5], 16)])
        else:
            tokens[id] = text.replace("\u2581", " ").encode()
    for id, token in added.items():
        tokens[id] = b"" if token["special"] else token["content"].encode()
    return tokens
