"""Answers of models: a server may send any JSON; whoever asked gets a reply of the right types, or a ModelError."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.adapters.models.events import NotAnEvent
from fabula.adapters.models.open_ai import MOST_TOKENS, _Gathered
from fabula.adapters.models.wire import in_our_words
from fabula.ports.models import CallOrigin, Message, ModelError, ModelReply, ModelRequest

ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def _fields(**known: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """An object that has some of the known fields, each as it should be or as anything else; or anything at all."""
    return ANY | st.fixed_dictionaries({}, optional={name: ANY | value for name, value in known.items()})


DELTA = _fields(content=st.text(max_size=20), refusal=st.text(max_size=5), role=st.just("assistant"))
CHOICE = _fields(delta=DELTA, finish_reason=st.sampled_from(["stop", "length", "content_filter"]), index=st.just(0))
EVENT = _fields(
    model=st.text(max_size=10),
    usage=_fields(prompt_tokens=st.integers(), completion_tokens=st.integers()),
    choices=st.lists(CHOICE, max_size=2),
    error=ANY,
)
REQUEST = ModelRequest(origin=CallOrigin(agent="test"), messages=(Message(role="user", content="Hi."),), deadline=1e9)


@given(st.lists(EVENT, max_size=5))
def test_any_json_becomes_a_reply_of_the_right_types_or_a_model_error(events: list[Any]) -> None:
    gathered, sent = _Gathered(model="asked-for"), b""
    for event in events:
        try:
            sent += b"data: " + orjson.dumps(event) + b"\n\n"
        except TypeError:
            sent += b"data: 1e999\n\n"
    try:
        with in_our_words():
            for chunk in (sent, b"data: [DONE]\n\n", b""):
                texts, failure = gathered.take(chunk)
                assert all(isinstance(text, str) for text in texts)
                if failure is not None:
                    raise failure
            gathered.rest()
            reply = gathered.reply(REQUEST)
    except (ModelError, NotAnEvent):
        return
    assert isinstance(reply, ModelReply) and isinstance(reply.text, str)
    assert isinstance(reply.model, str) and 0 < len(reply.model) <= 200
    for number in (reply.usage.prompt_tokens, reply.usage.completion_tokens):
        assert type(number) is int and 0 <= number <= MOST_TOKENS


def test_a_name_refusal_or_count_of_another_type_counts_as_not_sent() -> None:
    gathered = _Gathered(model="asked-for")
    choice = {"delta": {"content": "Hello.", "refusal": 7}, "finish_reason": "stop"}
    event = {"model": 5, "choices": [choice], "usage": {"prompt_tokens": "3", "completion_tokens": -9}}
    gathered.take(b"data: " + orjson.dumps(event) + b"\n\ndata: [DONE]\n\n")
    reply = gathered.reply(REQUEST)
    assert (reply.text, reply.model, reply.usage.total_tokens) == ("Hello.", "asked-for", 0)


def test_a_count_that_no_answer_has_can_still_be_kept_and_uses_up_a_budget() -> None:
    gathered = _Gathered(model="asked-for")
    choice = {"delta": {"content": "Hello."}, "finish_reason": "stop"}
    gathered.take(b"data: " + orjson.dumps({"choices": [choice], "usage": {"prompt_tokens": 2**63}}) + b"\n\n")
    assert gathered.reply(REQUEST).usage.prompt_tokens == MOST_TOKENS


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ([rb"A fox \ud83e", rb"\udd8a runs."], "A fox \U0001f98a runs."),
        ([rb"A fox \ud83e", rb"", rb"\udd8a\ud83e", rb"\udd8a"], "A fox \U0001f98a\U0001f98a"),
        ([rb"A fox \ud83e", rb" runs. \udd8a"], "A fox \ufffd runs. \ufffd"),
        ([rb"A fox \ud83e"], "A fox \ufffd"),
        ([b"A fox \xf0\x9f", b" runs."], "A fox \ufffd runs."),
    ],
)
def test_a_character_of_which_half_comes_with_the_next_piece_is_put_together(pieces: list[bytes], text: str) -> None:
    gathered = _Gathered(model="half")
    for piece in pieces:
        event = b'{"model": "\\ud83e", "choices": [{"delta": {"content": "%b"}, "finish_reason": "stop"}]}' % piece
        assert gathered.take(b"data: " + event + b"\n\n")[1] is None
    gathered.take(b"")
    gathered.rest()
    reply = gathered.reply(REQUEST)
    assert (reply.text, reply.model) == (text, "\ufffd")
