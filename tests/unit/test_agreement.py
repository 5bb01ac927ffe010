"""A telling is passed on sentence by sentence, and none claims the opposite of what the dice decided."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.mass import examples

from fabula.rules.agreement import AgreeingStream, correction
from fabula.story.checks import Check, Resolution, RollView
from fabula.story.game_systems import Level

TELLING = st.lists(
    st.sampled_from(["You succeed. ", "You fail. ", "Rain falls. ", "It works! ", "Mara nods… ", "to no avail", " "]),
    max_size=12,
)


def rolled(level: Level) -> Resolution:
    check = Check(check_id="c", act="risk", deed="climb")
    return Resolution(check=check, roll=RollView(formula="1d20", total=5), margin=-7, level=level)


def passed(stream: AgreeingStream, pieces: list[str]) -> str:
    return "".join(stream.take(piece) for piece in pieces) + stream.close()


def test_it_stops_before_the_sentence_that_claims_the_opposite_and_goes_on_after_it() -> None:
    stream = AgreeingStream(rolled("failure"))
    assert (passed(stream, ["Rain. You su", "cceed. Birds."]), stream.denied) == ("Rain.", True)
    stream.resume()
    assert (passed(stream, ["You manage it", ". Still, rain."]), stream.denied) == (" Still, rain.", False)
    assert (stream.correction_due, stream.correction) == (True, "But no: it does not succeed.")


def test_a_telling_that_agrees_is_passed_on_whole() -> None:
    stream = AgreeingStream(rolled("success"))
    assert passed(stream, ["You ", "succeed. ", "It", " rains"]) == "You succeed. It rains"
    assert not stream.denied and not stream.correction_due


@examples(2000)
@given(TELLING, TELLING, st.sampled_from(["failure", "critical_failure", "success", "critical_success", "partial"]))
def test_nothing_that_is_told_claims_the_opposite_however_it_comes(
    first: list[str], second: list[str], level: Level
) -> None:
    stream = AgreeingStream(rolled(level))
    told = passed(stream, first)
    if stream.denied:
        stream.resume()
        told = f"{told} {passed(stream, second)}"
    assert all(correction(rolled(level), sentence) is None for sentence in told.split("."))
