"""Every tool in one list, and the registry that holds it together with its rules."""

from __future__ import annotations

from functools import cache

from fabula.actions.canon import changes, play_canon, questions, scene_commits, worlds
from fabula.actions.canon.export_world import ExportWorld, export_world
from fabula.actions.library.stories import NameStory, list_stories
from fabula.actions.library.title_pages import show_title_page
from fabula.actions.listing import Listing
from fabula.actions.plays import messages, play_memories, recap_session, sessions, start_session
from fabula.actions.rules import roll_dice, sheets
from fabula.actions.tools.authority_table import AUTHORITY
from fabula.actions.tools.checks import only_own_memories, speaks_for_itself
from fabula.actions.tools.play_turn import PlayTurn, play_turn
from fabula.actions.tools.tool import Registry, Tool, free_tool, session_tool, tool
from fabula.actions.views import Paging


@cache
def all_tools() -> Registry:
    """The registry of this house; building it checks every rule."""
    return Registry([*_world_tools(), *_canon_tools(), *_play_tools()], AUTHORITY)


def _world_tools() -> list[Tool]:
    w, q, c, k = worlds, questions, changes, play_canon
    return [
        tool("list_worlds", Paging, w.list_worlds),
        tool("get_world", w.NameWorld, w.get_world),
        free_tool("list_entities", q.InWorld, k.list_known_entities),
        free_tool("get_entity", q.NameEntity, k.show_entity),
        free_tool("list_facts", q.FactsAsked, k.list_known_facts),
        free_tool("list_relationships", q.InWorld, k.list_known_relationships),
        free_tool("list_timeline", q.AskTimeline, q.list_timeline),
        free_tool("look_around", q.AskGraph, q.ask_graph),
        free_tool("find_path", q.AskPath, q.ask_path),
        free_tool("who_knows", q.NameFact, q.ask_who_knows),
        tool("changed_since", c.Since, c.changes_since),
        free_tool("export_world", ExportWorld, export_world),
    ]


def _canon_tools() -> list[Tool]:
    c, k, e = changes, play_canon, scene_commits
    return [
        free_tool("list_changes", c.ListChanges, k.list_canon_changes),
        free_tool("propose_changes", c.Propose, k.propose_changes, writes=True, check=speaks_for_itself),
        free_tool("review_canon", c.Review, k.review_canon, writes=True),
        session_tool("read_scene", e.ReadScene, e.read_scene),
        session_tool("commit_scene", e.CommitScene, e.commit_scene, writes=True, check=speaks_for_itself),
        free_tool("decide_change", c.Decide, k.decide_canon, writes=True),
        free_tool("undo_change", c.Undo, k.undo_canon, writes=True),
    ]


def _play_tools() -> list[Tool]:
    p, s, m = play_memories, sessions, session_tool
    return [
        tool("list_stories", Listing, list_stories),
        tool("get_story", NameStory, show_title_page),
        tool("list_sessions", s.ListSessions, s.list_sessions),
        m("get_session", s.ShowSession, s.get_session, defaults={"history": 20}),
        m("read_transcript", messages.ListMessages, messages.list_messages),
        m("recap_session", recap_session.RecapSession, recap_session.recap_session),
        m("list_memories", p.ListMemories, p.list_memories, check=only_own_memories),
        m("search_memories", p.SearchMemories, p.search_memories, check=only_own_memories),
        m("get_sheet", sheets.NameSheet, sheets.get_sheet),
        tool("start_session", start_session.StartSession, start_session.start_session, writes=True),
        m("run_turn", PlayTurn, play_turn, writes=True),
        m("roll_dice", roll_dice.RollDice, roll_dice.roll_dice, writes=True),
    ]
