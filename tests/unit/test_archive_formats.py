"""Archives from strangers are read whole or refused with a sentence."""

from __future__ import annotations

import io
import json
import random
import stat
import struct
import zipfile
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from tests.mass import Mass, examples

from fabula.formats import packages
from fabula.formats.archives import Limits, pack, unpack
from fabula.formats.character_cards import CharacterCard, read_chr, write_chr
from fabula.formats.images import ImageType, decoding_work, read_image, sniff
from fabula.formats.packages import DataPackage, PackagedCover, read_package, write_package
from fabula.story.values import JsonObject


def picture(kind: str = "PNG", size: tuple[int, int] = (8, 6)) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", size, (120, 40, 200)).save(buffer, kind)
    return buffer.getvalue()


def content(character_id: str = "mira", **more: Any) -> dict[str, Any]:
    plain = {"id": character_id, "name": "Mira", "personality": "calm", "style": "short", "schema_id": "person"}
    return {**plain, "system_prompt": "You are {{char}}.", "tags": ["a"], "folder": "", **more}


def card(**more: Any) -> CharacterCard:
    return CharacterCard(**{"content": content(), "cover": picture(), "cover_mime_type": "image/png", **more})


def package() -> DataPackage:
    cover = PackagedCover(data=picture("JPEG"), file_name="cover.jpg", content_type="image/jpeg")
    return DataPackage(
        created_at_ms=1_700_000_000_000,
        documents={
            "schemas": {"person": {"schema_id": "person", "display_name": "Person", "fields": {}}},
            "characters": {"mira": content(), "bare": content("bare")},
            "stories": {"story:1": {"story_id": "story:1", "graph": {"nodes": []}}},
        },
        covers={"mira": cover},
    )


def zipped(entries: dict[str, bytes]) -> bytes:
    return pack(entries.items())


def test_a_character_survives_the_trip_with_every_picture_type() -> None:
    for kind, mime in (("PNG", "image/png"), ("JPEG", "image/jpeg"), ("WEBP", "image/webp")):
        schema = {"schema_id": "person", "display_name": "Person", "fields": {}}
        sent = card(cover=picture(kind), cover_mime_type=mime, schema=schema)
        data, problems = write_chr(sent)
        assert problems == [] and data is not None
        assert read_chr(data) == (sent, [])


def test_the_chr_archive_has_the_contracted_names_and_manifest() -> None:
    data, _ = write_chr(card(cover=picture("JPEG"), cover_mime_type="image/jpeg"))
    assert data is not None
    files, _ = unpack(data)
    assert list(files) == ["manifest.json", "content.json", "cover.jpg"]
    assert json.loads(files["manifest.json"]) == {
        "format": "sillystage_character_card",
        "version": 1,
        "character_id": "mira",
        "content_path": "content.json",
        "cover_path": "cover.jpg",
        "cover_mime_type": "image/jpeg",
    }


def test_old_content_without_tags_and_folder_is_read() -> None:
    old = {key: value for key, value in content().items() if key not in ("tags", "folder")}
    data, _ = write_chr(card(content=old))
    assert data is not None
    assert read_chr(data)[0] == card(content=old)


def test_a_package_survives_the_trip_and_has_the_contracted_names() -> None:
    data, problems = write_package(package())
    assert problems == [] and data is not None
    assert read_package(data) == (package(), [])
    files, _ = unpack(data)
    assert set(files) == {
        "manifest.json",
        "schemas/person.json",
        "characters/mira/content.json",
        "characters/mira/cover.bin",
        "characters/bare/content.json",
        "stories/story:1.json",
    }
    manifest = json.loads(files["manifest.json"])
    assert (manifest["format"], manifest["version"]) == ("sillystage_data_package", 1)
    assert manifest["contents"]["characters"] == {"ids": ["bare", "mira"], "count": 2}
    assert manifest["contents"]["presets"] == {"ids": [], "count": 0}
    assert manifest["characters"][1] == {
        "character_id": "mira",
        "content_path": "characters/mira/content.json",
        "cover_path": "characters/mira/cover.bin",
        "cover_file_name": "cover.jpg",
        "cover_content_type": "image/jpeg",
    }


def test_an_empty_package_and_a_too_large_one_are_not_written() -> None:
    assert write_package(DataPackage(created_at_ms=1, documents={})) == (None, ["the package is empty"])
    many: dict[str, JsonObject] = {f"s{n}": {"schema_id": f"s{n}"} for n in range(200)}
    data, problems = write_package(DataPackage(created_at_ms=1, documents={"schemas": many}))
    assert data is None and "export it in parts" in problems[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"manifest.json": b"{"}, "manifest.json' is not valid JSON"),
        ({"manifest.json": b"[]"}, "is not a JSON object"),
        ({"manifest.json": b'{"format":"x"}'}, "format is not"),
        ({"content.json": b'{"id":"mira"}'}, "'name' is missing"),
        ({"content.json": json.dumps(content("other")).encode()}, "differ"),
        ({"content.json": json.dumps(content(extra=1)).encode()}, "unknown field 'extra'"),
        ({"content.json": json.dumps(content("a b")).encode()}, "not an id"),
        ({"content.json": b'{"a":' * 5000}, "deeper than 64 levels"),
        ({"content.json": b'{"a":' * 50}, "not valid JSON"),
        ({"content.json": b'{"a":[' + b"0," * 100_000 + b"0]}"}, "More than 100000 JSON values"),
        ({"content.json": json.dumps(content(name="a\0b")).encode()}, "NUL character"),
        ({f"more/{n}.json": b"[" + b"0," * 99_000 + b"0]" for n in range(6)}, "more than 500000 values together"),
        ({"cover.png": b""}, "not a png"),
        ({"cover.png": picture("JPEG")}, "does not fit"),
        ({"cover.png": picture()[:40]}, "damaged"),
        ({"schema.json": b'{"schema_id":"other","fields":{}}'}, "not the schema"),
    ],
)
def test_a_wrong_part_of_a_chr_archive_is_named(change: dict[str, bytes], words: str) -> None:
    data, _ = write_chr(card())
    assert data is not None
    files, _ = unpack(data)
    found, problems = read_chr(zipped({**files, **change}))
    assert found is None
    assert any(words in problem for problem in problems), problems


@pytest.mark.parametrize("name", ["/etc/x", "../x", "a/../x", "a//b", "./a", "C:/x", "a\\b", "a\0b"])
def test_names_that_lead_elsewhere_are_refused(name: str) -> None:
    innocent = "n" * len(name)
    data = zipped({"manifest.json": b"{}", innocent: b"x"}).replace(innocent.encode(), name.encode())
    files, problems = unpack(data)
    assert files == {}
    assert len(problems) == 1


def test_folders_inside_an_archive_are_passed_over() -> None:
    assert unpack(zipped({"a/": b"", "a/b": b"x"})) == ({"a/b": b"x"}, [])


def test_bombs_links_encryption_duplicates_and_odd_methods_are_refused() -> None:
    assert "64 MiB" in _problem(_raw([(zipfile.ZipInfo("a"), b"\0" * (65 * 1024 * 1024))]))
    link = zipfile.ZipInfo("a")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    assert "link" in _problem(_raw([(link, b"/etc/passwd")]))
    with pytest.warns(UserWarning):
        twice = _raw([(zipfile.ZipInfo("a"), b"1"), (zipfile.ZipInfo("a"), b"2")])
    assert "twice" in _problem(twice)
    odd = zipfile.ZipInfo("a")
    odd.compress_type = zipfile.ZIP_LZMA
    assert "deflate" in _problem(_raw([(odd, b"x" * 100)]))
    plain = bytearray(_raw([(zipfile.ZipInfo("a"), b"x")]))
    plain[plain.rindex(b"PK\x01\x02") + 8] |= 1
    assert "encrypted" in _problem(bytes(plain))
    assert "200 entries" in _problem(zipped({f"f{n}": b"" for n in range(201)}))


def test_a_size_that_lies_is_refused_without_inflating_the_rest() -> None:
    data = bytearray(_raw([(zipfile.ZipInfo("a"), b"\0" * 1_000_000)]))
    place = data.rindex(b"PK\x01\x02")
    struct.pack_into("<L", data, place + 24, 10)
    assert unpack(bytes(data))[0] == {}
    data = bytearray(zipped({f"f{n}": b"" for n in range(300)}))
    struct.pack_into("<HH", data, len(data) - 14, 3, 3)
    assert unpack(bytes(data))[1]


def test_limits_can_be_narrowed() -> None:
    assert unpack(zipped({"a": b"12345"}), Limits(unpacked_bytes=4))[1]


def _raw(entries: list[tuple[zipfile.ZipInfo, bytes]]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for info, data in entries:
            info.compress_type = info.compress_type or zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return buffer.getvalue()


def _problem(data: bytes) -> str:
    files, problems = unpack(data)
    assert files == {}
    return " / ".join(problems)


def test_a_picture_is_told_by_its_bytes_and_must_decode() -> None:
    assert sniff(b"GIF89a") is None
    assert read_image(picture("WEBP")) == ("image/webp", [])
    assert read_image(picture(size=(5000, 4000)))[1] == ["the cover has more than 16777216 pixels; make it smaller"]


def test_a_webp_picture_may_have_half_as_many_pixels() -> None:
    for height, problems in ((2048, []), (2049, ["the cover has more than 8388608 pixels; make it smaller"])):
        buffer = io.BytesIO()
        Image.new("RGB", (4096, height)).save(buffer, "WEBP", lossless=True, quality=0, method=0)
        assert len(buffer.getvalue()) < 100 and read_image(buffer.getvalue())[1] == problems


def test_a_picture_of_very_many_parts_is_not_decoded() -> None:
    png = picture("PNG")
    note = b"\0\0\0\3tEXta\0b" + zlib.crc32(b"tEXta\0b").to_bytes(4, "big")
    buffer = io.BytesIO()
    Image.effect_noise((64, 64), 90).save(buffer, "JPEG", progressive=True)
    jpeg = buffer.getvalue()
    scan = jpeg[jpeg.rindex(b"\xff\xda") : -2]
    comment = b"\xff\xfe\0\3x"
    for sound, part, place in ((png, note, 33), (jpeg, scan, len(jpeg) - 2), (jpeg, comment, 2)):
        assert read_image(sound[:place] + part * 3 + sound[place:])[0] is not None
        _, problems = read_image(sound[:place] + part * 10_000 + sound[place:])
        assert problems == ["the cover has far more parts than a picture needs; save it anew"]


def mutated(data: bytes, chance: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(chance.choice([1, 1, 2, 8, 40])):
        place = chance.randrange(len(out))
        match chance.randrange(4):
            case 0:
                out[place] = chance.randrange(256)
            case 1:
                del out[place : place + chance.choice([1, 4, 64])]
            case 2:
                out[place:place] = chance.randbytes(chance.choice([1, 4, 16]))
            case _:
                out[place : place + 4] = chance.choice([b"\0\0\0\0", b"\xff\xff\xff\xff", b"PK\x05\x06", b"../x"])
        if not out:
            return b""
    return bytes(out)


def mutated_inside(data: bytes, chance: random.Random) -> bytes:
    """Damage that the archive's own checksums do not notice."""
    files, _ = unpack(data)
    victim = chance.choice(sorted(files))
    return zipped({**files, victim: mutated(files[victim], chance)})


@pytest.mark.parametrize("part", range(5))
def test_two_thousand_mutated_archives_are_refused_or_read_whole(part: int, mass: Mass) -> None:
    chance = random.Random(part)
    chr_data, _ = write_chr(card())
    package_data, _ = write_package(package())
    assert chr_data is not None and package_data is not None
    whole = 0
    for number in range(mass(1000)):
        damage = mutated if number % 2 else mutated_inside
        found, problems = read_chr(damage(chr_data, chance))
        assert (found is None) == bool(problems)
        assert found is None or write_chr(found)[1] == []
        held, problems = read_package(damage(package_data, chance))
        assert (held is None) == bool(problems)
        assert held is None or write_package(held)[1] == []
        whole += (found is not None) + (held is not None)
    assert 0 < whole < 2 * mass(1000)


# A NUL is refused, whatever else is in the archive.
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


def json_with(integers: st.SearchStrategy[int]) -> st.SearchStrategy[Any]:
    return st.recursive(
        st.none() | st.booleans() | integers | st.floats(allow_nan=False, allow_infinity=False) | texts,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
        max_leaves=8,
    )


json_values = json_with(st.integers())
# Whoever sends a whole number of more than 64 bits to a server has it read as a fraction: no document holds one.
stored_values = json_with(st.integers(-(2**63), 2**64 - 1))


@examples(300)
@given(st.dictionaries(st.sampled_from(["format", "version", "contents", "characters", "created_at_ms"]), json_values))
def test_no_manifest_breaks_the_reader(manifest: dict[str, Any]) -> None:
    data = zipped({"manifest.json": json.dumps(manifest).encode()})
    assert read_package(data)[0] is None
    assert read_chr(data)[0] is None


@given(
    st.dictionaries(
        st.text("abc-_.:", min_size=1, max_size=6).filter(lambda one: set(one) != {"."}),
        st.dictionaries(texts, stored_values, max_size=3),
        min_size=1,
        max_size=4,
    )
)
def test_any_documents_survive_the_trip(documents: dict[str, dict[str, Any]]) -> None:
    stories = {key: {**value, "story_id": key} for key, value in documents.items()}
    sent = DataPackage(created_at_ms=0, documents={"stories": stories})
    data, problems = write_package(sent)
    assert problems == [] and data is not None
    assert read_package(data) == (sent, [])


def test_a_character_that_is_listed_many_times_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its picture would be decoded as often: a manifest of a kilobyte kept all pictures waiting for half an hour."""
    decoded: list[bytes] = []

    def seen(data: bytes) -> tuple[ImageType | None, list[str]]:
        decoded.append(data)
        return read_image(data)

    monkeypatch.setattr(packages, "read_image", seen)
    data, _ = write_package(package())
    assert data is not None
    files, _ = unpack(data)
    manifest = json.loads(files["manifest.json"])
    mira = next(one for one in manifest["characters"] if one["character_id"] == "mira")
    manifest["characters"] += [mira] * 100
    decoded.clear()
    found, problems = read_package(zipped({**files, "manifest.json": json.dumps(manifest).encode()}))
    assert found is None and problems == ["the manifest lists a character twice"]
    assert decoded == []


@given(st.binary(max_size=200))
def test_noise_is_refused(noise: bytes) -> None:
    assert read_chr(noise)[0] is None
    assert read_package(b"PK\x03\x04" + noise)[0] is None


def crowd(cover: bytes, members: int = 20) -> DataPackage:
    ids = [f"c{number}" for number in range(members)]
    packaged = PackagedCover(data=cover, file_name="cover", content_type="image/png")
    documents = {"characters": {id: content(id) for id in ids}}
    return DataPackage(created_at_ms=0, documents=documents, covers=dict.fromkeys(ids, packaged))  # type: ignore[arg-type]


def test_the_covers_of_a_package_have_so_many_pixels_together() -> None:
    large = picture(size=(4096, 4096))
    most = packages.MOST_COVER_WORK
    told = f"its covers have more than {most} pixels together; make them smaller, or export it in parts"
    assert write_package(crowd(large)) == (None, [told])
    data, _ = write_package(crowd(picture()))
    assert data is not None
    files, _ = unpack(data)
    swollen = {name: large if name.endswith("cover.bin") else held for name, held in files.items()}
    assert read_package(zipped(swollen)) == (None, [told])


def test_the_scans_of_a_jpeg_count_as_pixels_that_are_decoded_again() -> None:
    plain, many = picture("JPEG", (100, 100)), picture("JPEG", (100, 100)) + b"\xff\xda" * 50
    assert (decoding_work(plain), decoding_work(many)) == (10_000, 51_000)
    assert decoding_work(b"nothing") == decoding_work(plain[:4]) == 0
