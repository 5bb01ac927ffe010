"""The line to the broker is encrypted where its address says so."""

from __future__ import annotations

import ssl
from typing import Any

import pytest

from fabula.adapters.queues.celery_app import celery_app


def encryption(address: str) -> Any:
    with celery_app(address, "fabula.").connection_for_write() as connection:
        return connection.ssl


@pytest.mark.parametrize(
    ("options", "asked_for"), [("", ssl.CERT_NONE), ("?ssl_cert_reqs=required", ssl.CERT_REQUIRED)]
)
def test_a_broker_at_an_address_of_rediss_is_spoken_to_in_secret(options: str, asked_for: ssl.VerifyMode) -> None:
    assert encryption(f"rediss://:secret@broker.example:6380/1{options}") == {"ssl_cert_reqs": asked_for}


def test_a_broker_at_a_plain_address_is_spoken_to_plainly() -> None:
    assert not encryption("redis://:secret@broker.example:6379/1")
