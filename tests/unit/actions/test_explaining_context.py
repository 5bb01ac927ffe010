"""What would models be told next? Authors are told it of every role, players of what they may know themselves."""

from __future__ import annotations

from tests.doors import doors
from tests.unit.actions.conftest import Stage

from fabula.actions.conversations.open_conversation import OpenConversation, open_conversation
from fabula.actions.plays.explain_context import ContextPrompt, ExplainContext, explain_context


async def explained(stage: Stage, session_id: str, said: str | None = None) -> dict[str, ContextPrompt]:
    told = await stage.play(session_id, explain_context, ExplainContext(player_input=said))
    return {prompt.agent: prompt for prompt in told.prompts}


async def test_every_role_of_the_next_turn_is_explained_section_by_section(stage: Stage) -> None:
    session_id = await stage.session()
    await stage.say(session_id, "I knock.")
    prompts = await explained(stage, session_id)
    assert {"director", "narrator", "keeper", "actor"} == set(prompts) and prompts["actor"].character_id == "mara"
    director = prompts["director"]
    sections = {section.name: section for section in director.sections}
    assert director.tokens <= director.budget == 16_000
    history = sections["shared_history"]
    assert (history.kind, history.told, history.why) == ("story", "whole", "the preset has it")
    assert history.canonical and history.tokens == history.full_tokens > 0 and history.reserved > 0
    assert sections["canon"].told == "empty" and sections["canon"].tokens == 0
    assert sections["task"].required and sections["task"].kind == "instructions"


async def test_what_might_be_said_next_is_explained_as_if_it_were(stage: Stage) -> None:
    session_id = await stage.session()
    before, after = await explained(stage, session_id), await explained(stage, session_id, "I knock at the gate.")

    def versions(prompts: dict[str, ContextPrompt]) -> dict[str, str]:
        return {section.name: section.version for section in prompts["director"].sections}

    changed = {name for name, version in versions(after).items() if version != versions(before)[name]}
    # With the first line that they notice, those in the scene are told of where they came in.
    assert changed == {"shared_history", "current_cast", "present"}


async def test_in_a_conversation_only_those_in_it_are_asked(stage: Stage) -> None:
    session_id = await stage.session()
    await stage.play(session_id, open_conversation, OpenConversation(character_ids=["mara"]))
    told = await stage.play(session_id, explain_context, ExplainContext())
    [mara] = told.prompts
    assert mara.character_id == "mara" and "conversation" in {section.name for section in mara.sections}


async def test_a_player_is_told_of_the_prompt_that_knows_no_more_than_they_do() -> None:
    async with doors() as house:
        session = await house["owner"].play(house.story_id)
        told = await house["owner"].client.call("session.explain_context", session)
        everything = await house["admin"].client.call("session.explain_context", session)
    assert [prompt["agent"] for prompt in told["prompts"]] == ["replyer"]
    assert "actor" in {prompt["agent"] for prompt in everything["prompts"]}
    assert "Rain falls" not in str(everything), "no text is shown"
