"""What a given tokenizer file holds: how many ids, and which special pieces. Both sides of the compiler read it with this code.

The formats, as their libraries write them: SentencePiece's ModelProto (`.model`), Hugging Face's `tokenizer.json`, and tiktoken's
list of base64 pieces with their ranks (`.tiktoken`), in which no special piece stands.
"""

import base64
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6  # sentencepiece_model.proto, SentencePiece.Type
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5  # wire types of protocol buffers
MOST = 1 << 24  # ids: more than fifty times as many as the largest vocabularies have; a table of pieces and an embedding are made for them
PIECES, PIECE, TYPE = 1, 1, 3  # field numbers of ModelProto and SentencePiece


class NoVocabulary(ValueError):
    """Why a file is no vocabulary of its kind; `zh`: the same in Chinese."""

    def __init__(self, en: str, zh: str) -> None:
        super().__init__(en)
        self.zh = zh


@dataclass(frozen=True)
class Pieces:
    """`size`: the largest id + 1. `special`: pieces, with their ids, that have a meaning beside text.

    `ordinary`: ids of text. `appends`: the file never holds special pieces, they are counted on behind its last id.
    """

    size: int
    special: Mapping[str, int]
    ordinary: frozenset[int]
    appends: bool = False


@dataclass(frozen=True)
class Resolved:
    """`ids`: text of every special piece -> id. `missing`: asked for, and not there. `taken`: (text, id) of an id that is text's,
    or another piece's. `size`: the largest id + 1."""

    ids: Mapping[str, int]
    missing: tuple[str, ...]
    taken: tuple[tuple[str, int], ...]
    size: int


def visible(text: str) -> str:
    """A piece for people: blanks and signs that are not seen in quotes."""
    return text if text.isprintable() and text.strip() == text else repr(text)


def read(kind: str, data: bytes) -> Pieces:
    """What the file of a kind (sentencepiece, hf, tiktoken) holds. Raises NoVocabulary that says why it is none."""
    readers = {"sentencepiece": _sentencepiece, "hf": _hugging_face, "tiktoken": _tiktoken}
    return readers[kind](data)


def resolve(pieces: Pieces, named: Sequence[str], stated: Mapping[str, int]) -> Resolved:
    """Ids of the pieces that a spec names; `stated`: ids that the spec itself gives."""
    ids, missing, taken = dict[str, int](), list[str](), list[tuple[str, int]]()
    for text, id in stated.items():
        known = pieces.special.get(text, id)
        if known != id or id in pieces.ordinary or id in ids.values() or (text not in pieces.special and id in pieces.special.values()):
            taken.append((text, id))
        ids[text] = id
    size = max([pieces.size, *(id + 1 for id in ids.values())])
    for text in dict.fromkeys(named):
        if text in ids:
            continue
        if text in pieces.special:
            ids[text] = pieces.special[text]
        elif pieces.appends:
            ids[text], size = size, size + 1
        else:
            missing.append(text)
    return Resolved(ids, tuple(missing), tuple(taken), size)


def _hugging_face(data: bytes) -> Pieces:
    try:
        file = json.loads(data)
        listed, added = file["model"]["vocab"], cast(list[dict[str, Any]], file.get("added_tokens") or [])
        special = {str(piece["content"]): piece["id"] for piece in added}
        texts = _by_id(listed)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise NoVocabulary(
            "it is no tokenizer.json, or has no model with a vocabulary", "不是 tokenizer.json，或其中没有带词表的模型"
        ) from None
    if file["model"].get("type") == "WordPiece":
        raise NoVocabulary(
            "it is a WordPiece model, which does not give the blanks of a text back; BPE and Unigram do",
            "它是 WordPiece 模型，不能还原文本中的空白；BPE 与 Unigram 可以",
        )
    ordinary = frozenset(texts) - frozenset(special.values())
    everything = [*texts, *(piece["id"] for piece in added)]
    if not everything:
        raise NoVocabulary("it holds no piece", "其中没有词元")
    _check_ids(everything)
    for text, id in special.items():
        if texts.setdefault(id, text) != text:
            raise NoVocabulary(f"{texts[id]!r} and {text!r} have one id, {id}", f"{texts[id]!r} 与 {text!r} 的编号同为 {id}")
    return Pieces(max(everything) + 1, special, ordinary)


def _by_id(listed: Any) -> dict[int, str]:
    """Pieces by id: a Unigram model lists them in order with their scores, the others number them."""
    if isinstance(listed, dict):
        return {id: text for text, id in cast(dict[str, int], listed).items()}
    return {id: str(scored[0]) for id, scored in enumerate(cast(list[tuple[str, float]], listed))}


def _check_ids(ids: Iterable[Any]) -> None:
    """Raise ValueError for what numbers no row of an embedding."""
    wrong = [id for id in ids if type(id) is not int or not 0 <= id < MOST]
    if wrong:
        raise NoVocabulary(
            f"the id {wrong[0]!r:.40} of a piece is no number from 0 to {MOST - 1}",
            f"词元编号 {wrong[0]!r:.40} 不是 0 到 {MOST - 1} 之间的整数",
        )


def _tiktoken(data: bytes) -> Pieces:
    ranks = tiktoken_ranks(data)
    return Pieces(max(ranks.values()) + 1, {}, frozenset(ranks.values()), appends=True)


def tiktoken_ranks(data: bytes) -> dict[bytes, int]:
    """Piece -> id of a `.tiktoken` file. Raises NoVocabulary that names the line that is none, or a byte that has no piece."""
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(data.splitlines(), 1):
        if line.strip():
            try:
                piece, rank = line.split()
                content, id = base64.b64decode(piece, validate=True), int(rank)
            except ValueError:
                raise NoVocabulary(f"line {number} is not a base64 piece and its rank", f"第 {number} 行不是 base64 词元及其序号") from None
            if ranks.setdefault(content, id) != id:
                raise NoVocabulary(
                    f"line {number}: the piece has the rank {ranks[content]} already", f"第 {number} 行：该词元已有序号 {ranks[content]}"
                )
    _check_ids(ranks.values())
    if len(set(ranks.values())) != len(ranks):
        raise NoVocabulary("two pieces have one rank", "有两个词元序号相同")
    if missing := [byte for byte in range(256) if bytes([byte]) not in ranks]:
        raise NoVocabulary(
            f"{len(missing)} of the 256 bytes have no piece, the first is 0x{missing[0]:02X}",
            f"256 个字节中有 {len(missing)} 个没有词元，第一个是 0x{missing[0]:02X}",
        )
    return ranks


def _sentencepiece(data: bytes) -> Pieces:
    try:
        kinds = list(sentencepiece_pieces(data))
    except (IndexError, ValueError, AttributeError):  # a number where a text stands has no `decode`
        raise NoVocabulary("it is no SentencePiece model", "不是 SentencePiece 模型") from None
    if not kinds:
        raise NoVocabulary("it is no SentencePiece model: it holds no piece", "不是 SentencePiece 模型：其中没有词元")
    special = {text: id for id, (text, kind) in enumerate(kinds) if kind in (CONTROL, USER_DEFINED)}
    if sum(kind == BYTE for _, kind in kinds) == 256:  # then no text is unknown, and the piece is free to mean something else
        special |= {text: id for id, (text, kind) in enumerate(kinds) if kind == UNKNOWN}
    return Pieces(len(kinds), special, frozenset(id for id, (text, _) in enumerate(kinds) if text not in special))


def sentencepiece_pieces(data: bytes) -> Iterator[tuple[str, int]]:
    """(text, type) of the pieces of a ModelProto in the order of their ids. Raises ValueError or IndexError where it is none."""
    for text, kind, _ in _pieces(data):
        yield text, kind


def as_control(data: bytes, texts: Collection[str]) -> bytes:
    """The same ModelProto, in which user-defined pieces of these texts are control pieces: no text gives them any more."""
    made = bytearray(data)
    for text, kind, place in _pieces(data):
        if kind == USER_DEFINED and text in texts:
            made[place] = CONTROL
    return bytes(made)


def _pieces(data: bytes) -> Iterator[tuple[str, int, int]]:
    """(text, type, where in the data the type stands) of each piece; the place means nothing for a type that is not written."""
    for field, value, start in _fields(data):
        if field == PIECES and isinstance(value, bytes):
            content = {field: (value, start + place) for field, value, place in _fields(value)}
            text, kind = content.get(PIECE, (b"", 0)), content.get(TYPE, (NORMAL, 0))
            yield cast(bytes, text[0]).decode(), cast(int, kind[0]), kind[1]


def _fields(data: bytes) -> Iterator[tuple[int, bytes | int, int]]:
    """(number, value, where it stands) of the fields of a message."""
    place = 0
    while place < len(data):
        tag, place = _varint(data, place)
        field, wire = tag >> 3, tag & 7
        if wire == VARINT:
            start = place
            value, place = _varint(data, place)
            yield field, value, start
            continue
        length, place = _varint(data, place) if wire == BYTES else ({FIXED64: 8, FIXED32: 4}.get(wire, -1), place)
        if length < 0 or place + length > len(data):
            raise ValueError("no protocol buffer")
        yield field, data[place : place + length], place
        place += length


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        value, place, shift = value | (byte & 0x7F) << shift, place + 1, shift + 7
        if byte < 0x80:
            return value, place
        if shift > 63:
            raise ValueError("no protocol buffer")
