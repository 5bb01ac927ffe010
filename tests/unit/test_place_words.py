"""What a sentence tells of a place is known in every language that stems are known of."""

from __future__ import annotations

import pytest

from fabula.language.place_words import tells_of
from fabula.language.stemming import STOP_WORDS, language_of

SENTENCES = {
    "english": (
        "The gate is locked, and only the warden may pass.",
        "Whoever draws water here is the last to drink.",
        "They say that the miller has a second book.",
    ),
    "german": (
        "Das Tor ist verschlossen, und nur der Wächter darf hinein.",
        "Jedes Jahr wird hier mit den Nachbarn gegessen.",
        "Es heißt, dass der Müller ein zweites Buch hat.",
    ),
    "french": (
        "La porte est fermée et le gardien a la clé.",
        "Chaque année les gens du village mangent ici ensemble.",
        "On raconte que le meunier a un second livre dans sa maison.",
    ),
    "spanish": (
        "La puerta está cerrada y el guardián tiene la llave.",
        "Cada año los vecinos comen aquí con todos.",
        "Se cuenta que el molinero tiene un segundo libro en su casa.",
    ),
    "italian": (
        "La porta è chiusa e il custode ha la chiave.",
        "Ogni anno i vicini mangiano qui con gli altri.",
        "Si racconta che il mugnaio ha un secondo libro nella sua casa.",
    ),
    "portuguese": (
        "A porta está trancada e o homem não tem a chave.",
        "Todos os anos os vizinhos comem aqui com os outros.",
        "Conta-se que o moleiro tem um segundo livro na sua casa.",
    ),
    "dutch": (
        "De poort is gesloten en de man heeft de sleutel niet.",
        "Elk jaar eten de buren hier met elkaar.",
        "Men zegt dat de molenaar een tweede boek heeft.",
    ),
    "swedish": (
        "Porten är låst och det är han som har nyckeln.",
        "Varje år äter de som bor här med varandra.",
        "Det sägs att mjölnaren har en bok till i sitt hus.",
    ),
    "russian": (
        "Дверь заперта, и у него нет ключа от неё.",
        "Каждый год они едят здесь все вместе, и это так.",
        "Рассказывают, что у него есть ещё одна книга.",
    ),
    "polish": (
        "Drzwi są zamknięte i nie ma do nich klucza.",
        "Co roku sąsiedzi jedzą tu i są razem, jak to u nich.",
        "Mówi się, że ma on jeszcze jedną księgę w domu i nie jest to dobre.",
    ),
}
PLAIN = {
    "german": "Der Raum ist groß und hat ein Fenster auf den Fluss.",
    "french": "La salle est grande et elle a une fenêtre sur la rivière.",
}


def test_every_language_is_known() -> None:
    assert SENTENCES.keys() == STOP_WORDS.keys()


@pytest.mark.parametrize("language", SENTENCES)
def test_access_custom_and_talk_are_told_apart(language: str) -> None:
    access, custom, talk = SENTENCES[language]
    assert [language_of(one) for one in (access, custom, talk)] == [language] * 3
    assert tells_of("access", access, language)
    assert tells_of("custom", custom, language) and not tells_of("access", custom, language)
    assert tells_of("talk", talk, language)


def test_what_is_only_there_to_be_seen_is_none_of_them() -> None:
    for language, text in PLAIN.items():
        assert not any(tells_of(kind, text, language) for kind in ("access", "custom", "talk"))
