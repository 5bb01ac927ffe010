"""The catalogue: every method of the protocol with its rule."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from fabula.actions import search
from fabula.actions.building import build_world
from fabula.actions.campaigns import end_scene, flashback
from fabula.actions.canon import (
    advance_world,
    changes,
    clocks,
    conflicts,
    entities,
    export_world,
    known_canon,
    play_canon,
    plot_threads,
    promotion,
    questions,
    worlds,
)
from fabula.actions.care import (
    audit,
    backups,
    overview,
    server_status,
    token_list,
    usage,
    usage_summary,
    whoami,
    work_list,
)
from fabula.actions.conversations import close_conversation, open_conversation
from fabula.actions.drafts import build_story, story_drafts
from fabula.actions.followers import outbox
from fabula.actions.governance import directives, story_templates
from fabula.actions.library import (
    api_groups,
    api_trials,
    apis,
    characters,
    copy_story,
    ink_stories,
    lorebooks,
    model_choice,
    packages,
    player_profiles,
    presets,
    schemas,
    stories,
    story_resources,
    story_worlds,
    title_pages,
)
from fabula.actions.listing import Listing
from fabula.actions.plays import (
    boundaries,
    branches,
    explain_context,
    export_session,
    find_lines,
    journal,
    list_turn_notes,
    loops,
    masks,
    messages,
    play_memories,
    player,
    preview_prompts,
    recap_session,
    relations,
    scene_lore,
    scenes,
    session_characters,
    session_turns,
    session_zero,
    sessions,
    start_session,
    suggest_replies,
    whereabouts,
)
from fabula.actions.rules import game_systems, roll_dice, sheets
from fabula.actions.turns import explain_turn, run_turn
from fabula.actions.views import Nothing, Paging
from fabula.actions.work_items import ListUnfinished, NameWork, WorkItem
from fabula.server.rpc.method import Catalogue, Method, free_method, method, session_method
from fabula.server.rpc.progress import progress_method
from fabula.server.rpc.streams import turn_methods

TAKE_STORIES = frozenset(
    {
        "lorebook.create",
        "story.create",
        "story.update_graph",
        "story_draft.update_graph",
        "story.create_ink",
        "story.update_ink",
        "ink.check",
    }
)
"""The methods to which whole stories, graphs and lorebooks are sent."""


@cache
def build_catalogue() -> Catalogue:
    """All methods; `rpc.discover` describes the others and is added by the door that serves them."""
    methods = [*_operating(), *_watching_over(), *_authoring(), *_packages(), *_overview(), *_sessions()]
    return Catalogue([replace(one, takes_stories=one.name in TAKE_STORIES) for one in methods])


def _operating() -> list[Method]:
    """What only an operator may change: it decides where prompts and keys are sent."""
    m = method
    return [
        m("api.create", apis.CreateApi, apis.create_api, apis.ApiView),
        m("api.get", apis.NameApi, apis.get_api, apis.ApiView),
        m("api.list", Paging, apis.list_apis, apis.ApisListed),
        m("api.list_models", apis.ListModels, apis.list_models, apis.ApiModelsListed),
        m("api.test", api_trials.TryApi, api_trials.try_api, api_trials.ApiTested),
        m("api.update", apis.UpdateApi, apis.update_api, apis.ApiView),
        m("api.delete", apis.NameApi, apis.delete_api, apis.ApiDeleted),
        m(
            "api_group.create",
            api_groups.CreateApiGroup,
            api_groups.create_api_group,
            api_groups.ApiGroupView,
        ),
        m("api_group.get", api_groups.NameApiGroup, api_groups.get_api_group, api_groups.ApiGroupView),
        m("api_group.list", Paging, api_groups.list_api_groups, api_groups.ApiGroupsListed),
        m(
            "api_group.update",
            api_groups.UpdateApiGroup,
            api_groups.update_api_group,
            api_groups.ApiGroupView,
        ),
        m(
            "api_group.delete",
            api_groups.NameApiGroup,
            api_groups.delete_api_group,
            api_groups.ApiGroupDeleted,
        ),
        m("outbox.list", ListUnfinished, outbox.list_outbox, outbox.OutboxListed),
        m("outbox.retry", NameWork, outbox.retry_outbox, WorkItem),
        m("outbox.drop", NameWork, outbox.drop_outbox, outbox.OutboxDropped),
        m("model.detect", Nothing, model_choice.detect_models, model_choice.ModelsDetected),
        m("model.use", model_choice.UseModel, model_choice.use_model, model_choice.ModelUsed),
        m("model.remove", model_choice.NameModel, model_choice.remove_model, model_choice.ModelRemoved),
    ]


def _watching_over() -> list[Method]:
    """What whoever runs the server looks at and puts right."""
    m, t, w, b = method, token_list, work_list, backups
    return [
        m("server.status", Nothing, server_status.tell_status, server_status.ServerStatus),
        m("usage.summary", usage_summary.SumUpUsage, usage_summary.sum_up_usage, usage_summary.UsageSummary),
        m("work.list", w.ListWork, w.list_work, w.WorkListed),
        m("work.cancel", NameWork, w.cancel_work, WorkItem),
        m("token.list", Paging, t.show_tokens, t.TokensListed),
        m("token.create", t.CreateToken, t.make_token, t.TokenCreated),
        m("token.revoke", t.NameToken, t.end_token, t.TokenView),
        m("audit.list", audit.ListAudit, audit.list_audit, audit.AuditListed),
        m("backup.create", Nothing, b.create_backup, b.BackupView),
        m("backup.list", Paging, b.list_backups, b.BackupsListed),
    ]


def _authoring() -> list[Method]:
    """What authors keep."""
    return [
        *_presets(),
        *_schemas(),
        *_game_systems(),
        *_canon(),
        *_building(),
        *_lorebooks(),
        *_profiles(),
        *_characters(),
        *_resources(),
        *_stories(),
        *_drafts(),
    ]


def _presets() -> list[Method]:
    m, p, v = method, presets, preview_prompts
    preview = v.PresetPromptPreview
    return [
        m("preset.create", p.CreatePreset, p.create_preset, p.PresetView),
        m("preset.get", p.NamePreset, p.get_preset, p.PresetView),
        m("preset.list", Listing, p.list_presets, p.PresetsListed),
        m("preset.update", p.UpdatePreset, p.update_preset, p.PresetView),
        m("preset.delete", p.NamePreset, p.delete_preset, p.PresetDeleted),
        m("preset_entry.create", p.CreatePresetEntry, p.create_preset_entry, p.PresetEntryView),
        m("preset_entry.update", p.UpdatePresetEntry, p.update_preset_entry, p.PresetEntryView),
        m("preset_entry.delete", p.NamePresetEntry, p.delete_preset_entry, p.PresetEntryDeleted),
        m("preset_preview.template", v.PreviewTemplate, v.preview_preset_template, preview),
        free_method("preset_preview.runtime", v.PreviewRuntime, v.preview_preset_runtime, preview),
    ]


def _schemas() -> list[Method]:
    m, s = method, schemas
    return [
        m("schema.create", s.CreateSchema, s.create_schema, s.SchemaView),
        m("schema.get", s.NameSchema, s.get_schema, s.SchemaView),
        m("schema.list", Listing, s.list_schemas, s.SchemasListed),
        m("schema.update", s.UpdateSchema, s.update_schema, s.SchemaView),
        m("schema.delete", s.NameSchema, s.delete_schema, s.SchemaDeleted),
    ]


def _game_systems() -> list[Method]:
    m, g = method, game_systems
    return [
        m("game_system.create", g.CreateGameSystem, g.create_game_system, g.GameSystemView),
        m("game_system.get", g.NameGameSystem, g.get_game_system, g.GameSystemView),
        m("game_system.list", Paging, g.list_game_systems, g.GameSystemsListed),
        m("game_system.update", g.UpdateGameSystem, g.update_game_system, g.GameSystemView),
        m("game_system.delete", g.NameGameSystem, g.delete_game_system, g.GameSystemDeleted),
    ]


def _canon() -> list[Method]:
    m, w, c, q, p = method, worlds, changes, questions, play_canon
    return [
        m("world.create", w.CreateWorld, w.create_world, w.WorldView),
        m("world.get", w.NameWorld, w.get_world, w.WorldView),
        m("world.list", Paging, w.list_worlds, w.WorldsListed),
        m("world.update", w.UpdateWorld, w.update_world, w.WorldView),
        m("world.delete", w.NameWorld, w.delete_world, w.WorldDeleted),
        free_method("world.export", export_world.ExportWorld, export_world.export_world, export_world.WorldExported),
        free_method(
            "world.advance",
            advance_world.AdvanceWorld,
            advance_world.advance_world,
            advance_world.WorldAdvancedView,
        ),
        free_method("clock.list", clocks.ListClocks, clocks.list_clocks, clocks.ClocksListed),
        free_method("clock.create", clocks.CreateClock, clocks.create_clock, clocks.ClockView),
        free_method("clock.update", clocks.UpdateClock, clocks.update_clock, clocks.ClockView),
        free_method("conflict.list", conflicts.ListConflicts, conflicts.list_conflicts, conflicts.ConflictsListed),
        free_method("conflict.get", conflicts.NameConflict, conflicts.get_conflict, conflicts.ConflictDetailView),
        m("conflict.create", conflicts.CreateConflict, conflicts.create_conflict, conflicts.ConflictDetailView),
        free_method(
            "conflict.update", conflicts.UpdateConflict, conflicts.update_conflict, conflicts.ConflictDetailView
        ),
        free_method("thread.list", plot_threads.ListThreads, plot_threads.list_threads, plot_threads.ThreadsListed),
        free_method("thread.update", plot_threads.UpdateThread, plot_threads.update_thread, plot_threads.ThreadView),
        m("canon.policy.get", w.NameWorld, w.get_policy, w.PolicyView),
        m("canon.policy.update", w.UpdatePolicy, w.update_policy, w.PolicyView),
        free_method("canon.propose", c.Propose, p.propose_changes, c.ChangesProposed),
        free_method("canon.list", c.ListChanges, p.list_canon_changes, c.ChangesListed),
        free_method("canon.get", c.NameChange, p.show_change, c.ChangeView),
        free_method("canon.decide", c.Decide, p.decide_canon, c.ChangeView),
        free_method("canon.review", c.Review, p.review_canon, c.Reviewed),
        free_method("canon.undo", c.Undo, p.undo_canon, c.ChangeView),
        session_method("canon.promote", promotion.Promote, promotion.promote_canon, c.Reviewed),
        session_method("canon.known", known_canon.AskKnown, known_canon.tell_known_canon, known_canon.KnownCanon),
        session_method("canon.commits", p.ListCommits, p.list_commits, p.CommitsListed),
        m("canon.since", c.Since, c.changes_since, c.CanonSince),
        free_method("canon.graph", q.AskGraph, q.ask_graph, q.GraphView),
        free_method("canon.path", q.AskPath, q.ask_path, q.PathView),
        free_method("canon.who_knows", q.NameFact, q.ask_who_knows, q.KnowersListed),
        free_method("timeline.list", q.AskTimeline, q.list_timeline, q.TimelineListed),
        m("entity.update", entities.UpdateEntity, entities.update_entity, q.EntityView),
        m("entity.merge", entities.MergeEntities, entities.merge_entities, entities.EntitiesMerged),
        free_method("entity.list", q.InWorld, p.list_known_entities, q.EntitiesListed),
        free_method("entity.get", q.NameEntity, p.show_entity, q.EntityView),
        free_method("fact.list", q.FactsAsked, p.list_known_facts, c.ChangesListed),
        free_method("relationship.list", q.InWorld, p.list_known_relationships, c.ChangesListed),
    ]


def _building() -> list[Method]:
    m, b = method, build_world
    return [
        m("building.open", b.OpenBuilding, b.open_building, b.BuildingView),
        progress_method("building.say", b.SayInBuilding, b.say_in_building, b.BuildingView),
        m("building.undo", b.UndoInBuilding, b.undo_in_building, b.ItemUndone),
        m("building.close", b.NameBuilding, b.close_building, b.BuildingClosed),
    ]


def _lorebooks() -> list[Method]:
    m, b = method, lorebooks
    return [
        m("lorebook.create", b.CreateLorebook, b.create_lorebook, b.LorebookView),
        m("lorebook.get", b.NameLorebook, b.get_lorebook, b.LorebookView),
        m("lorebook.list", Listing, b.list_lorebooks, b.LorebooksListed),
        m("lorebook.update", b.UpdateLorebook, b.update_lorebook, b.LorebookView),
        m("lorebook.delete", b.NameLorebook, b.delete_lorebook, b.LorebookDeleted),
        m(
            "lorebook_entry.create",
            b.CreateLorebookEntry,
            b.create_lorebook_entry,
            b.LorebookEntryView,
        ),
        m("lorebook_entry.get", b.NameLorebookEntry, b.get_lorebook_entry, b.LorebookEntryView),
        m(
            "lorebook_entry.list",
            b.ListLorebookEntries,
            b.list_lorebook_entries,
            b.LorebookEntriesListed,
        ),
        m(
            "lorebook_entry.update",
            b.UpdateLorebookEntry,
            b.update_lorebook_entry,
            b.LorebookEntryView,
        ),
        m(
            "lorebook_entry.delete",
            b.NameLorebookEntry,
            b.delete_lorebook_entry,
            b.LorebookEntryDeleted,
        ),
    ]


def _profiles() -> list[Method]:
    m, p = method, player_profiles
    return [
        m(
            "player_profile.create",
            p.CreatePlayerProfile,
            p.create_player_profile,
            p.PlayerProfileView,
        ),
        m("player_profile.get", p.NamePlayerProfile, p.get_player_profile, p.PlayerProfileView),
        m("player_profile.list", Paging, p.list_player_profiles, p.PlayerProfilesListed),
        m(
            "player_profile.update",
            p.UpdatePlayerProfile,
            p.update_player_profile,
            p.PlayerProfileView,
        ),
        m(
            "player_profile.delete",
            p.NamePlayerProfile,
            p.delete_player_profile,
            p.PlayerProfileDeleted,
        ),
    ]


def _characters() -> list[Method]:
    m, c = method, characters
    return [
        m("character.create", c.CreateCharacter, c.create_character, c.CharacterCreated),
        m("character.get", c.NameCharacter, c.get_character, c.CharacterView),
        m("character.update", c.UpdateCharacter, c.update_character, c.CharacterView),
        m("character.list", Listing, c.list_characters, c.CharactersListed),
        m("character.delete", c.NameCharacter, c.delete_character, c.CharacterDeleted),
    ]


def _resources() -> list[Method]:
    m, r = method, story_resources
    return [
        m(
            "story_resources.create",
            r.CreateStoryResources,
            r.create_story_resources,
            r.StoryResourcesCreated,
        ),
        m("story_resources.get", r.NameStoryResources, r.get_story_resources, r.StoryResourcesView),
        m("story_resources.list", Listing, r.list_story_resources, r.StoryResourcesListed),
        m(
            "story_resources.update",
            r.UpdateStoryResources,
            r.update_story_resources,
            r.StoryResourcesUpdated,
        ),
        m(
            "story_resources.delete",
            r.NameStoryResources,
            r.delete_story_resources,
            r.StoryResourcesDeleted,
        ),
    ]


def _stories() -> list[Method]:
    m, s, i, c, w = method, stories, ink_stories, copy_story, story_worlds
    return [
        m("story.create", s.CreateStory, s.create_story, s.StoryGenerated),
        m("story.get", s.NameStory, s.show_story, s.StoryView, other_result=s.InkStoryView),
        m("story.list", Listing, s.list_stories, s.StoriesListed),
        m("story.summary", s.NameStory, title_pages.show_title_page, title_pages.StoryTitlePage),
        m("story.update", s.UpdateStory, s.update_story, s.StoryView),
        m("story.update_graph", s.UpdateStoryGraph, s.update_story_graph, s.StoryView),
        m("story.copy", c.CopyStory, c.copy_story, s.StoryView, other_result=s.InkStoryView),
        m("story.delete", s.NameStory, s.delete_story, s.StoryDeleted),
        m("calendar.get", w.NameCalendar, w.get_calendar, w.CalendarView),
        m("calendar.update", w.UpdateCalendar, w.update_calendar, w.CalendarView),
        m("schedule.get", whereabouts.ShowSchedule, whereabouts.get_schedule, w.ScheduleView),
        m("schedule.update", w.UpdateSchedule, w.update_schedule, w.ScheduleView),
        m("story.create_ink", i.CreateInk, i.create_ink, i.InkStoryPublished),
        m("story.update_ink", i.UpdateInk, i.update_ink, i.InkStoryPublished),
        m("ink.check", i.CheckInk, i.check_ink, i.InkChecked),
    ]


def _drafts() -> list[Method]:
    m, w, b, d = method, progress_method, build_story, story_drafts
    view = d.StoryDraftView
    return [
        m("story.generate_plan", b.GeneratePlan, b.generate_plan, b.StoryPlanned),
        w("story.generate", b.GenerateStory, b.generate_story, stories.StoryGenerated),
        w("story_draft.start", b.StartDraft, b.start_draft, view),
        w("story_draft.continue", b.ContinueDraft, b.continue_draft, view),
        m("story_draft.get", d.NameDraft, d.get_draft, view),
        m("story_draft.list", Listing, d.list_drafts, d.StoryDraftsListed),
        m("story_draft.update_graph", d.UpdateDraftGraph, d.update_draft_graph, view),
        m("story_draft.finalize", d.NameDraft, d.finalize_draft, stories.StoryGenerated),
        m("story_draft.delete", d.NameDraft, d.delete_draft, d.StoryDraftDeleted),
    ]


def _packages() -> list[Method]:
    m, p = method, packages
    return [
        m("data_package.export_prepare", p.PrepareExport, p.prepare_export, p.ExportPrepared),
        m("data_package.import_prepare", Nothing, p.prepare_import, p.ImportPrepared),
        progress_method("data_package.import_commit", p.CommitImport, p.commit_import, p.ImportCommitted),
    ]


def _overview() -> list[Method]:
    m, o = method, overview
    return [
        m("access.whoami", Nothing, whoami.tell_caller, whoami.Caller),
        m("config.get_global", Nothing, o.get_global_config, o.GlobalConfig),
        m("dashboard.get", Nothing, o.get_dashboard, o.Dashboard),
        m("loop.list", Nothing, loops.list_loops, loops.LoopsListed),
        m("search.find", search.Find, search.find_anything, search.SearchFound),
        m("usage.list", usage.ListUsage, usage.list_usage, usage.UsageListed),
    ]


def _sessions() -> list[Method]:
    return [
        *_session_keeping(),
        *_reading(),
        *_memories(),
        *_tree(),
        *_turns(),
        *turn_methods(),
        *_conversations(),
        *_session_zero(),
        *_directives(),
        *_story_templates(),
        *_guests(),
        *_messages(),
    ]


def _session_keeping() -> list[Method]:
    m, s, p = session_method, sessions, player
    return [
        method(
            "story.start_session",
            start_session.StartSession,
            start_session.start_session,
            start_session.SessionStarted,
        ),
        method("session.list", s.ListSessions, s.list_sessions, s.SessionsListed),
        m("session.get", s.ShowSession, s.get_session, s.SessionView),
        m("session.update", s.RenameSession, s.update_session, s.SessionView),
        m("session.delete", Nothing, s.delete_session, s.SessionDeleted),
        m("session.get_runtime_snapshot", Nothing, s.get_runtime_snapshot, s.RuntimeSnapshot),
        m("session.end_scene", Nothing, end_scene.end_scene, end_scene.SceneEnded),
        m("session.flashback", flashback.BeginFlashback, flashback.begin_flashback, flashback.FlashbackBegun),
        m("session.roll", roll_dice.RollDice, roll_dice.roll_dice, roll_dice.DiceRolled),
        m("sheet.get", sheets.NameSheet, sheets.get_sheet, sheets.SheetView),
        m("sheet.update", sheets.UpdateSheet, sheets.update_sheet, sheets.SheetView),
        m("session.get_variables", s.ShowVariables, s.get_variables, s.SessionVariables),
        m("session.update_variables", p.UpdateVariables, p.update_variables, s.SessionVariables),
        m("session.get_config", Nothing, s.get_config, s.SessionConfig),
        m("session.update_config", s.UpdateConfig, s.update_config, s.SessionConfig),
        m(
            "session.suggest_replies",
            suggest_replies.SuggestReplies,
            suggest_replies.suggest_replies,
            suggest_replies.SuggestedReplies,
        ),
        m("session.set_player_profile", p.SetPlayerProfile, p.set_player_profile, s.SessionView),
        m(
            "session.update_player_description",
            p.UpdatePlayerDescription,
            p.update_player_description,
            p.PlayerDescriptionUpdated,
        ),
    ]


def _reading() -> list[Method]:
    """What those do who read a play again."""
    m, f, r, e = session_method, find_lines, recap_session, export_session
    return [
        m("session.find", f.FindLines, f.find_lines, f.LinesFound),
        m("journal.list", journal.ListJournal, journal.list_journal, journal.JournalListed),
        m("scene.list", scenes.ListScenes, scenes.list_scenes, scenes.ScenesListed),
        m("session.recap", r.RecapSession, r.recap_session, r.Recap),
        m("session.export_prepare", e.ExportSession, e.prepare_session_export, e.SessionExportPrepared),
    ]


def _memories() -> list[Method]:
    m, a = session_method, play_memories
    return [
        m("memory.list", a.ListMemories, a.list_memories, a.MemoriesListed),
        m("memory.search", a.SearchMemories, a.search_memories, a.MemoriesFound),
        m("memory.get", a.NameMemory, a.get_memory, a.MemoryView),
        m("memory.add", a.AddMemory, a.add_memory, a.MemoryView),
        m("memory.update", a.UpdateMemory, a.update_memory, a.MemoryView),
        m("memory.pin", a.PinMemory, a.pin_memory, a.MemoryView),
        m("memory.delete", a.NameMemory, a.delete_memory, a.MemoryForgotten),
        m("memory.knows", a.AskKnowledge, a.ask_knowledge, a.Knowledge),
        m("belief.list", a.ListBeliefs, a.list_beliefs, a.BeliefsListed),
        m("relation.list", relations.ListRelations, relations.list_relations, relations.RelationsListed),
        m("mask.get", masks.NameMask, masks.get_mask, masks.MaskView),
        m("mask.update", masks.UpdateMask, masks.update_mask, masks.MaskView),
    ]


def _tree() -> list[Method]:
    m, b = session_method, branches
    return [
        m("session.backtrack", b.Backtrack, b.backtrack, sessions.SessionView),
        m("session.fork", b.Fork, b.fork, b.SessionForked),
        m("session.branches", b.ListBranches, b.list_branches, b.SessionBranches),
        m("session.switch_branch", b.SwitchBranch, b.switch_branch, sessions.SessionView),
        m("session.follow_story", sessions.ShowSession, b.follow_story, sessions.SessionView),
        m("session.cancel_turn", run_turn.CancelTurn, run_turn.cancel_turn, run_turn.TurnCancelled),
    ]


def _turns() -> list[Method]:
    m, t, n, x = session_method, session_turns, list_turn_notes, explain_context
    return [
        m("session.explain_context", x.ExplainContext, x.explain_context, x.ContextExplained),
        m("session.scene_lore", scene_lore.ShowSceneLore, scene_lore.show_scene_lore, scene_lore.SceneLoreShown),
        m("session.explain_turn", explain_turn.ExplainTurn, explain_turn.explain_turn, explain_turn.TurnTraceView),
        m("loop.state", loops.AskLoop, loops.get_loop_state, loops.LoopState),
        m("session_turn.get", t.GetTurn, t.get_turn, t.SessionTurn),
        m("session_turn.notes", n.ListTurnNotes, n.list_turn_notes, n.TurnNotesListed),
        m("session_turn.list", t.ListTurns, t.list_turns, t.TurnsListed),
        m("session_turn.siblings", t.FindSiblings, t.find_siblings, t.SiblingsFound),
        m("session_turn.update", t.UpdateTurn, t.update_turn, t.SessionTurn),
    ]


def _conversations() -> list[Method]:
    o, c = open_conversation, close_conversation
    return [
        free_method("conversation.open", o.OpenConversation, o.open_conversation, o.ConversationOpened),
        session_method("conversation.close", Nothing, c.close_conversation, c.ConversationClosed),
    ]


def _session_zero() -> list[Method]:
    f, z = free_method, session_zero
    b = boundaries
    return [
        f("boundary.get", b.AskBoundaries, b.get_boundaries, b.BoundariesView),
        f("boundary.update", b.UpdateBoundaries, b.update_boundaries, b.BoundariesView),
        f("session_zero.get", z.AskSessionZero, z.get_session_zero, z.SessionZeroView),
        f("session_zero.update", z.AnswerSessionZero, z.update_session_zero, z.SessionZeroView),
    ]


def _directives() -> list[Method]:
    f, d = free_method, directives
    return [
        f("directive.list", d.ListDirectives, d.list_directives, d.DirectivesListed),
        f("directive.create", d.CreateDirective, d.create_directive, d.DirectiveView),
        f("directive.delete", d.NameDirective, d.delete_directive, d.DirectiveDeleted),
    ]


def _story_templates() -> list[Method]:
    t = story_templates
    return [
        method("story_template.list", t.ListTemplates, t.list_templates, t.TemplatesListed),
        method("story_template.update", t.UpdateTemplate, t.update_template, t.TemplateView),
        method("story_template.delete", t.NameTemplate, t.delete_template, t.TemplateDeleted),
        session_method("story_template.follow", t.FollowTemplate, t.follow_story_template, t.TemplateChecked),
        session_method("story_template.check", Nothing, t.check_template, t.TemplateChecked),
    ]


def _guests() -> list[Method]:
    m, c = session_method, session_characters
    name, view = c.NameSessionCharacter, c.SessionCharacterView
    return [
        m("session_character.create", c.CreateSessionCharacter, c.create_session_character, view),
        m("session_character.get", name, c.get_session_character, view),
        m("session_character.list", Paging, c.list_session_characters, c.SessionCharactersListed),
        m("session_character.update", c.UpdateSessionCharacter, c.update_session_character, view),
        m("session_character.delete", name, c.delete_session_character, c.SessionCharacterDeleted),
        m("session_character.enter_scene", name, c.enter_scene, view),
        m("session_character.leave_scene", name, c.leave_scene, view),
    ]


def _messages() -> list[Method]:
    m, t = session_method, messages
    view = sessions.MessageView
    return [
        m("session_message.create", t.CreateMessage, t.create_message, view),
        m("session_message.get", t.NameMessage, t.get_message, view),
        m("session_message.list", t.ListMessages, t.list_messages, t.MessagesListed),
        m("session_message.update", t.UpdateMessage, t.update_message, view),
        m("session_message.delete", t.NameMessage, t.delete_message, t.MessageDeleted),
    ]
