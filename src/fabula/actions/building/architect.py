"""The architect: takes down what an author says, by rule and with a model's help, and answers."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import Final

from fabula.actions.audit_notes import note_objections
from fabula.actions.house import House
from fabula.actions.repositories import API_GROUPS, APIS, WORLDS
from fabula.actions.setups.default_binding import default_group
from fabula.agents.canon_extraction import read_extraction, write_extraction_prompt
from fabula.agents.world_architect import read_reply, world_messages
from fabula.canon.author_words import LORE, Taken, take_at_word
from fabula.loops.guardrails import NO_GUARDRAILS, Guardrails, guardrails_of
from fabula.ports.errors import FabulaError
from fabula.ports.models import CallOrigin, Message, ModelRequest, whole
from fabula.ports.threads import run_in_thread
from fabula.ports.work import Work
from fabula.story.canon import Content, EntityContent, FactContent
from fabula.story.resources import Api
from fabula.story.seeds import derived_seed
from fabula.story.worldbuilding import BuildingTurn, TakenDown, WorldContext

log = logging.getLogger("fabula.building")

CALL_S: Final = 60.0
MOST_TOKENS: Final = 1_500
MOST_NAMES: Final = 2_000


@dataclass(frozen=True, kw_only=True)
class Architect:
    """Answers one turn of a building. Without an `api` it does so by rule."""

    house: House
    work: Work
    api: Api | None
    names: dict[str, str]
    guardrails: Guardrails

    @staticmethod
    async def of(house: House, work: Work) -> Architect:
        async with house.store.reading() as unit:
            group_id = await default_group(unit)
            group = None if group_id is None else await API_GROUPS.find(unit, group_id)
            api = None if group is None else await APIS.find(unit, group.bindings.api_for("architect"))
            world = await WORLDS.find(unit, str(work.input["world_id"]))
            rows = await unit.canon.true_now(str(work.input["world_id"]), limit=MOST_NAMES)
        entities = [row.change.content for row in rows if isinstance(row.change.content, EntityContent)]
        names = {name: one.entity_id for one in entities for name in (*one.aliases, one.name)}
        plays_by_rule = api is None or api.provider == "understudy"
        rails = NO_GUARDRAILS
        if world is not None:
            rails = guardrails_of(
                world.session_zero, directives=world.directives, who=("architect",), minute=world.minute
            )
        return Architect(house=house, work=work, api=None if plays_by_rule else api, names=names, guardrails=rails)

    async def answer(self, context: WorldContext) -> BuildingTurn:
        """What the author's words say, and the reply; by rule the reply is made when it is known what was added."""
        by_rule = await run_in_thread(
            lambda: take_at_word(context.text, self.names, world_id=context.world_id) if context.text else []
        )
        if self.api is None:
            return BuildingTurn(taken=self._named(by_rule))
        found, reply = await asyncio.gather(
            self._extract(self.api, context, by_rule), self._ask(self.api, "reply", world_messages(context))
        )
        checked = self.guardrails.cut(read_reply(reply))
        await note_objections(self.house, context.world_id, "architect", checked.objections)
        return BuildingTurn(taken=self._named(found), reply=checked.text)

    def _named(self, found: list[Taken]) -> list[TakenDown]:
        return [
            TakenDown(change_id=self.house.ids.new("change"), content=one.content, quote=one.sentence[:1000])
            for one in found
        ]

    async def _extract(self, api: Api, context: WorldContext, by_rule: list[Taken]) -> list[Taken]:
        """What rules and a model find; lore is what neither found more in."""
        if not context.text:
            return []
        entities = {
            one.content.name: one.content.entity_id for one in by_rule if isinstance(one.content, EntityContent)
        }
        known = {id: name for name, id in {**self.names, **entities}.items()}
        said = await self._ask(api, "extraction", write_extraction_prompt([context.text], known))
        quoted = read_extraction(said, [context.text], known, minute=0)
        taken = {_key(one.content) for one in by_rule}
        more = [
            Taken(content=_of_author(content), sentence=quote)
            for content, quote in quoted
            if _key(content) not in taken
        ]
        told = [" ".join(one.sentence.split()).casefold() for one in more]
        kept = [
            one
            for one in by_rule
            if not _is_lore(one.content) or not any(quote in one.sentence.casefold() for quote in told)
        ]
        return [*kept, *more][:40]

    async def _ask(self, api: Api, call: str, messages: tuple[Message, ...]) -> str:
        request = ModelRequest(
            origin=CallOrigin(agent="world_architect"),
            messages=messages,
            # With the same seed a turn that was interrupted is answered from the memo.
            seed=derived_seed(self.work.work_id, call),
            max_tokens=MOST_TOKENS,
            streaming=False,
            deadline=self.house.clock.monotonic() + CALL_S,
        )
        try:
            client = await self.house.models.client_for(api)
            return (await whole(client, request)).text
        except FabulaError as error:
            log.info("A world is built by rule, because the model failed: %s", error.message)
            return ""


def _is_lore(content: Content) -> bool:
    return isinstance(content, FactContent) and content.predicate == LORE


def _of_author(content: Content) -> Content:
    """What a model quoted from an author: it is there because the author says so, and was always so."""
    if isinstance(content, EntityContent):
        return content.model_copy(update={"anchor": True})
    return content.model_copy(update={"since": None}) if hasattr(content, "since") else content


def _key(content: Content) -> str:
    if isinstance(content, EntityContent):
        return f"entity {content.entity_id}"
    return content.model_dump_json(exclude={"since", "reason", "strength", "known_to"})
