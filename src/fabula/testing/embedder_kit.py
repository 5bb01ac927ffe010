"""The conformance kit of embedders: each sentence of Embedder's law is a check."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable

from fabula.ports.embedder import Embedder, Vector

SEA, OCEAN, LEDGER = "The sea was rough that night.", "A stormy ocean after dark.", "Invoices are due on Monday."


async def there_is_one_vector_per_text_in_order_each_of_the_dimension(embedder: Embedder) -> None:
    vectors = await embedder.embed([SEA, OCEAN, LEDGER])
    assert len(vectors) == 3
    assert all(len(vector) == embedder.dimension for vector in vectors)
    assert close(vectors[2], (await embedder.embed([LEDGER]))[0])
    assert await embedder.embed([]) == []


async def vectors_have_length_one_and_an_empty_text_the_zero_vector(embedder: Embedder) -> None:
    full, empty, blank = await embedder.embed([SEA, "", "  \n"])
    assert math.isclose(likeness(full, full), 1.0, abs_tol=1e-4)
    assert not any(empty) and not any(blank)


async def the_same_text_has_the_same_vector_whatever_stands_beside_it(embedder: Embedder) -> None:
    alone = (await embedder.embed([SEA]))[0]
    beside = (await embedder.embed([LEDGER * 20, SEA, ""]))[1]
    assert close(alone, beside)


async def texts_of_like_meaning_are_more_alike(embedder: Embedder) -> None:
    sea, ocean, ledger = await embedder.embed([SEA, OCEAN, LEDGER])
    assert likeness(sea, ocean) > likeness(sea, ledger)


async def the_name_names_the_dimension(embedder: Embedder) -> None:
    assert str(embedder.dimension) in embedder.name


async def the_event_loop_goes_on_while_it_works(embedder: Embedder) -> None:
    work = asyncio.create_task(embedder.embed([f"{SEA} {number}" for number in range(2000)]))
    beats = 0
    while not work.done():
        await asyncio.sleep(0)
        beats += 1
    assert beats > 1


async def it_may_be_loaded_before_it_is_asked(embedder: Embedder) -> None:
    await embedder.load()
    await embedder.load()
    assert len(await embedder.embed([SEA])) == 1


Check = Callable[[Embedder], Awaitable[None]]
CHECKS: tuple[Check, ...] = (
    there_is_one_vector_per_text_in_order_each_of_the_dimension,
    vectors_have_length_one_and_an_empty_text_the_zero_vector,
    the_same_text_has_the_same_vector_whatever_stands_beside_it,
    texts_of_like_meaning_are_more_alike,
    the_name_names_the_dimension,
    the_event_loop_goes_on_while_it_works,
    it_may_be_loaded_before_it_is_asked,
)


def likeness(left: Vector, right: Vector) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


def close(left: Vector, right: Vector) -> bool:
    return all(math.isclose(a, b, abs_tol=1e-4) for a, b in zip(left, right, strict=True))
