"""The contract's result shapes as one table, and the comparison of an answer with it.

A name alone must be there and not null; `name|null` must be there; `name?` may be missing, but is never null;
`+name` goes beyond the contract and may be there.
"""

from __future__ import annotations

from typing import Any

SHAPES = """
api: api_id display_name provider base_url model has_api_key api_key_masked? +api_key_problem
apis_listed: apis
api_models_listed: provider base_url models
api_deleted: api_id
api_group: api_group_id display_name bindings
api_groups_listed: api_groups
api_group_deleted: api_group_id
preset: preset_id display_name agents
presets_listed: presets
preset_deleted: preset_id
preset_entry: preset_id agent module_id entry
preset_entry_deleted: preset_id agent module_id entry_id
preset_prompt_preview: preset_id agent module_id? architect_mode? preview_kind message_role messages \
unresolved_context_keys
schema: schema_id display_name tags fields +additional
schemas_listed: schemas
schema_deleted: schema_id
lorebook: lorebook_id display_name entries
lorebooks_listed: lorebooks
lorebook_deleted: lorebook_id
lorebook_entry: lorebook_id entry_id title content keywords enabled always_include +match +order +budget +recursive
lorebook_entries_listed: lorebook_id entries
lorebook_entry_deleted: lorebook_id entry_id
player_profile: player_profile_id display_name description
player_profiles_listed: player_profiles
player_profile_deleted: player_profile_id
character_created: character_id character_summary
character: character_id content cover_file_name|null cover_mime_type|null
character_summary: character_id name personality style tags folder cover_file_name|null cover_mime_type|null
characters_listed: characters
character_deleted: character_id
story_resources: resource_id display_name story_concept character_ids player_schema_id_seed|null \
world_schema_id_seed|null lorebook_ids planned_story|null
story_resources_created: =story_resources
story_resources_updated: =story_resources
story_resources_listed: resources
story_resources_deleted: resource_id
story_planned: resource_id story_script
story: story_id display_name resource_id graph world_schema_id player_schema_id introduction common_variables +kind
story_generated: =story
story_summary: story_id display_name resource_id world_schema_id player_schema_id introduction common_variables +kind \
+created_at_ms +updated_at_ms +plays +words
stories_listed: stories
story_deleted: story_id
session_started: story_id display_name snapshot player_profile_id|null player_schema_id api_group_id preset_id history \
created_at_ms updated_at_ms character_summaries config +session_id
story_draft: draft_id display_name resource_id api_group_id preset_id planned_story outline_sections \
next_section_index partial_graph world_schema_id player_schema_id introduction common_variables section_summaries \
status final_story_id|null created_at_ms updated_at_ms total_sections +lint
story_draft_summary: draft_id display_name resource_id api_group_id preset_id planned_story outline_sections \
next_section_index world_schema_id player_schema_id introduction common_variables section_summaries status \
final_story_id|null created_at_ms updated_at_ms total_sections partial_node_count
story_drafts_listed: drafts
story_draft_deleted: draft_id
session: session_id story_id display_name player_profile_id|null player_schema_id api_group_id preset_id \
created_at_ms updated_at_ms turn_index snapshot history config +status +head_turn_id +active_turn_id +state_hash \
+scene +cast
session_forked: =session
session_summary: session_id story_id display_name player_profile_id|null player_schema_id api_group_id preset_id \
created_at_ms updated_at_ms turn_index +status +story_name +last_line
sessions_listed: sessions
session_deleted: session_id
session_variables: custom player_state character_state
suggested_replies: replies
player_description_updated: snapshot
runtime_snapshot: snapshot
session_config: api_group_id preset_id +token_budget
session_character: session_character_id display_name personality style system_prompt in_scene created_at_ms \
updated_at_ms
session_characters_listed: session_characters
session_character_deleted: session_character_id
session_message: message_id kind sequence turn_index recorded_at_ms created_at_ms updated_at_ms speaker_id \
speaker_name text +turn_id +edited +earlier_wordings
session_messages_listed: messages +more_before +more_after
session_message_deleted: message_id
session_branches: session_id head_turn_id turns heads +runs +left_out
turn_cancelled: turn_id +kept
global_config: api_group_id|null preset_id|null
dashboard: health counts global_config recent_stories recent_sessions
data_package_export_prepared: export_id archive contents
data_package_import_prepared: import_id archive
data_package_import_committed: import_id contents
usage_listed: calls totals
openrpc_document: document
"""


def _table(text: str) -> dict[str, list[str]]:
    rows = dict(line.split(":", 1) for line in text.strip().splitlines())
    table = {name: fields.split() for name, fields in rows.items()}
    return {name: table[fields[0][1:]] if fields[0].startswith("=") else fields for name, fields in table.items()}


_TABLE = _table(SHAPES)


def misshapen(result: dict[str, Any]) -> list[str]:
    """How a result, and every item of a list in it, differs from the contract; empty when it does not."""
    fields = _TABLE.get(result["type"])
    if fields is None:
        return [f"the type {result['type']} is not in the contract"]
    found = [problem for field in fields for problem in _field_problems(result, field)]
    known = {field.strip("+?").removesuffix("|null") for field in fields} | {"type", "next_cursor"}
    found += [f"{name} is not in the contract" for name in result.keys() - known]
    if result["type"].endswith("_listed") and result["type"] not in ("usage_listed", "api_models_listed"):
        items = next(value for value in result.values() if isinstance(value, list))
        found += [problem for item in items for problem in misshapen(item)]
    return [f"{result['type']}: {problem}" for problem in found]


def _field_problems(result: dict[str, Any], field: str) -> list[str]:
    if field.startswith("+"):
        return []
    name = field.strip("?").removesuffix("|null")
    if name not in result:
        return [] if field.endswith("?") else [f"{name} is missing"]
    return [f"{name} is null"] if result[name] is None and not field.endswith("|null") else []
