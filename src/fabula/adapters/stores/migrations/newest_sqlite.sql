CREATE TABLE fabula_revision (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT fabula_revision_pkc PRIMARY KEY (version_num)
);
CREATE TABLE resources (
	kind TEXT NOT NULL, 
	id TEXT NOT NULL, 
	revision INTEGER NOT NULL, 
	built_in BOOLEAN NOT NULL, 
	doc TEXT NOT NULL, 
	created_at_ms INTEGER NOT NULL, 
	updated_at_ms INTEGER NOT NULL, 
	CONSTRAINT resources_pk PRIMARY KEY (kind, id)
);
CREATE INDEX resources_by_change ON resources (kind, updated_at_ms, id);
CREATE INDEX resources_by_origin ON resources (kind, built_in, id);
CREATE TABLE resource_references (
	user_kind TEXT NOT NULL, 
	user_id TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	id TEXT NOT NULL, 
	CONSTRAINT resource_references_pk PRIMARY KEY (user_kind, user_id, kind, id), 
	CONSTRAINT resource_references_user_fk FOREIGN KEY(user_kind, user_id) REFERENCES resources (kind, id) ON DELETE CASCADE, 
	CONSTRAINT resource_references_used_fk FOREIGN KEY(kind, id) REFERENCES resources (kind, id)
);
CREATE INDEX resource_references_by_used ON resource_references (kind, id, user_kind, user_id);
CREATE TABLE blobs (
	hash TEXT NOT NULL, 
	size INTEGER NOT NULL, 
	uses INTEGER NOT NULL, 
	data BLOB NOT NULL, 
	CONSTRAINT blobs_pk PRIMARY KEY (hash)
);
CREATE TABLE secrets (
	name TEXT NOT NULL, 
	key_id TEXT NOT NULL, 
	ciphertext BLOB NOT NULL, 
	updated_at_ms INTEGER NOT NULL, 
	CONSTRAINT secrets_pk PRIMARY KEY (name)
);
CREATE TABLE tokens (
	token_id TEXT NOT NULL, 
	label TEXT NOT NULL, 
	role TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	created_at_ms INTEGER NOT NULL, 
	last_used_at_ms INTEGER, 
	revoked_at_ms INTEGER, 
	CONSTRAINT tokens_pk PRIMARY KEY (token_id)
);
CREATE UNIQUE INDEX tokens_by_hash ON tokens (hash);
CREATE TABLE slots (
	slot_id TEXT NOT NULL, 
	purpose TEXT NOT NULL, 
	blob TEXT, 
	doc TEXT NOT NULL, 
	expires_at_ms INTEGER NOT NULL, 
	CONSTRAINT slots_pk PRIMARY KEY (slot_id)
);
CREATE INDEX slots_by_expiry ON slots (expires_at_ms);
CREATE TABLE memo (
	"key" TEXT NOT NULL, 
	reply TEXT NOT NULL, 
	created_at_ms INTEGER NOT NULL, 
	CONSTRAINT memo_pk PRIMARY KEY ("key")
);
CREATE TABLE calls (
	number INTEGER NOT NULL, 
	agent TEXT NOT NULL, 
	session_id TEXT, 
	story_id TEXT, 
	turn_id TEXT, 
	model TEXT NOT NULL, 
	prompt_tokens INTEGER NOT NULL, 
	completion_tokens INTEGER NOT NULL, 
	latency_ms INTEGER NOT NULL, 
	first_piece_ms INTEGER, 
	memo_hit BOOLEAN NOT NULL, 
	outcome TEXT NOT NULL, 
	error TEXT, 
	recorded_at_ms INTEGER NOT NULL, error_name TEXT, 
	CONSTRAINT calls_pk PRIMARY KEY (number)
);
CREATE INDEX calls_by_session ON calls (session_id, number);
CREATE INDEX calls_by_story ON calls (story_id, number);
CREATE TABLE plays (
	session_id TEXT NOT NULL, 
	tree_id TEXT NOT NULL, 
	head_turn_id TEXT NOT NULL, 
	active_turn_id TEXT, 
	turn_index INTEGER NOT NULL, 
	status TEXT NOT NULL, 
	token_budget INTEGER, 
	updated_at_ms INTEGER NOT NULL, owner_token_id TEXT, 
	CONSTRAINT plays_pk PRIMARY KEY (session_id)
);
CREATE INDEX plays_by_tree ON plays (tree_id, session_id);
CREATE INDEX plays_by_change ON plays (updated_at_ms, session_id);
CREATE TABLE turns (
	turn_id TEXT NOT NULL, 
	tree_id TEXT NOT NULL, 
	session_id TEXT NOT NULL, 
	parent_id TEXT, 
	jump_id TEXT, 
	depth INTEGER NOT NULL, 
	turn_index INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	status TEXT NOT NULL, 
	player_input TEXT NOT NULL, 
	request_id TEXT NOT NULL, 
	seed INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	state_hash TEXT, 
	error TEXT, 
	owner TEXT NOT NULL, 
	lease_until_ms INTEGER NOT NULL, 
	created_at_ms INTEGER NOT NULL, 
	finished_at_ms INTEGER, "key" TEXT DEFAULT '' NOT NULL, asked TEXT DEFAULT '' NOT NULL, cut INTEGER DEFAULT '0' NOT NULL, wish TEXT, 
	CONSTRAINT turns_pk PRIMARY KEY (turn_id)
);
CREATE INDEX turns_by_tree ON turns (tree_id, turn_id);
CREATE INDEX turns_by_parent ON turns (parent_id, turn_id);
CREATE INDEX turns_by_request ON turns (session_id, request_id);
CREATE INDEX turns_running ON turns (turn_id) WHERE status = 'running';
CREATE TABLE turn_states (
	turn_id TEXT NOT NULL, 
	state TEXT NOT NULL, 
	result TEXT, 
	CONSTRAINT turn_states_pk PRIMARY KEY (turn_id), 
	CONSTRAINT turn_states_turn_fk FOREIGN KEY(turn_id) REFERENCES turns (turn_id) ON DELETE CASCADE
);
CREATE TABLE messages (
	turn_id TEXT NOT NULL, 
	ordinal INTEGER NOT NULL, 
	op TEXT NOT NULL, 
	message_id TEXT NOT NULL, 
	said_in_turn_id TEXT NOT NULL, 
	turn_index INTEGER NOT NULL, 
	sequence INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	speaker_id TEXT NOT NULL, 
	speaker_name TEXT NOT NULL, 
	text TEXT NOT NULL, 
	recorded_at_ms INTEGER NOT NULL, 
	created_at_ms INTEGER NOT NULL, 
	updated_at_ms INTEGER NOT NULL, heard_by TEXT, 
	CONSTRAINT messages_pk PRIMARY KEY (turn_id, ordinal), 
	CONSTRAINT messages_turn_fk FOREIGN KEY(turn_id) REFERENCES turns (turn_id) ON DELETE CASCADE
);
CREATE TABLE npc_entries (
	game_id TEXT NOT NULL, 
	agent_id TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	turn_id TEXT, 
	connection_id TEXT NOT NULL, 
	status TEXT NOT NULL, 
	event TEXT NOT NULL, 
	played TEXT NOT NULL, 
	played_hash TEXT, 
	created_at_ms INTEGER NOT NULL, 
	updated_at_ms INTEGER NOT NULL, 
	CONSTRAINT npc_entries_pk PRIMARY KEY (game_id, agent_id, number)
);
CREATE UNIQUE INDEX npc_entries_by_turn ON npc_entries (game_id, agent_id, turn_id);
CREATE INDEX npc_entries_by_connection ON npc_entries (game_id, connection_id);
CREATE TABLE work (
	work_id TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	"key" TEXT NOT NULL, 
	subject TEXT NOT NULL, 
	input TEXT NOT NULL, 
	status TEXT NOT NULL, 
	owner TEXT NOT NULL, 
	lease_until_ms INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	let_go INTEGER NOT NULL, 
	due_at_ms INTEGER NOT NULL, 
	trace_id TEXT NOT NULL, 
	result TEXT, 
	error TEXT, 
	created_at_ms INTEGER NOT NULL, 
	updated_at_ms INTEGER NOT NULL, cut_asked INTEGER DEFAULT '0' NOT NULL, 
	CONSTRAINT work_pk PRIMARY KEY (work_id)
);
CREATE UNIQUE INDEX work_once ON work (kind, "key") WHERE key <> '' AND status IN ('waiting', 'running', 'done');
CREATE INDEX work_by_key ON work (kind, "key", created_at_ms) WHERE key <> '';
CREATE INDEX work_waiting ON work (due_at_ms) WHERE status = 'waiting';
CREATE INDEX work_running ON work (lease_until_ms) WHERE status = 'running';
CREATE INDEX work_by_subject ON work (subject, created_at_ms);
CREATE INDEX work_ended ON work (updated_at_ms) WHERE status NOT IN ('waiting', 'running');
CREATE TABLE loop_checkpoints (
	thread_id TEXT NOT NULL, 
	namespace TEXT NOT NULL, 
	checkpoint_id TEXT NOT NULL, 
	encoding TEXT NOT NULL, 
	checkpoint BLOB NOT NULL, 
	metadata TEXT NOT NULL, 
	CONSTRAINT loop_checkpoints_pk PRIMARY KEY (thread_id, namespace)
);
CREATE INDEX plays_by_owner ON plays (owner_token_id, session_id);
CREATE TABLE play_invitations (
	token_id TEXT NOT NULL, 
	session_id TEXT NOT NULL, 
	CONSTRAINT play_invitations_pk PRIMARY KEY (token_id, session_id)
);
CREATE INDEX play_invitations_by_session ON play_invitations (session_id);
CREATE INDEX npc_entries_open ON npc_entries (created_at_ms) WHERE status = 'open';
CREATE UNIQUE INDEX turns_by_key ON turns (session_id, "key") WHERE key <> '';
CREATE INDEX messages_by_id ON messages (message_id);
CREATE INDEX resources_by_creation ON resources (kind, created_at_ms, id);
CREATE TABLE search_entries (
	kind TEXT NOT NULL, 
	id TEXT NOT NULL, 
	part TEXT NOT NULL, 
	scope TEXT NOT NULL, 
	name TEXT NOT NULL, 
	sort_name TEXT NOT NULL, 
	excerpt TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	words INTEGER, 
	scenes INTEGER, 
	endings INTEGER, 
	CONSTRAINT search_entries_pk PRIMARY KEY (kind, id, part), 
	CONSTRAINT search_entries_resource_fk FOREIGN KEY(kind, id) REFERENCES resources (kind, id) ON DELETE CASCADE
);
CREATE INDEX search_entries_by_name ON search_entries (scope, sort_name, id, part);
CREATE TABLE search_words (
	kind TEXT NOT NULL, 
	id TEXT NOT NULL, 
	part TEXT NOT NULL, 
	word TEXT NOT NULL, 
	scope TEXT NOT NULL, 
	place INTEGER NOT NULL, 
	CONSTRAINT search_words_pk PRIMARY KEY (kind, id, part, word), 
	CONSTRAINT search_words_entry_fk FOREIGN KEY(kind, id, part) REFERENCES search_entries (kind, id, part) ON DELETE CASCADE
);
CREATE INDEX search_words_by_word ON search_words (scope, place, word, id, part);
CREATE TABLE turn_marks (
	turn_id TEXT NOT NULL, 
	tree_id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	bookmarked BOOLEAN NOT NULL, 
	CONSTRAINT turn_marks_pk PRIMARY KEY (turn_id), 
	CONSTRAINT turn_marks_turn_fk FOREIGN KEY(turn_id) REFERENCES turns (turn_id) ON DELETE CASCADE
);
CREATE INDEX turn_marks_by_tree ON turn_marks (tree_id, turn_id);
CREATE INDEX calls_by_turn ON calls (turn_id);
CREATE TABLE turn_summaries (
	turn_id TEXT NOT NULL, 
	summary TEXT NOT NULL, 
	CONSTRAINT turn_summaries_pk PRIMARY KEY (turn_id), 
	CONSTRAINT turn_summaries_turn_fk FOREIGN KEY(turn_id) REFERENCES turns (turn_id) ON DELETE CASCADE
);
CREATE INDEX work_unfinished ON work (created_at_ms) WHERE status IN ('waiting', 'running', 'dead');
CREATE INDEX calls_by_time ON calls (recorded_at_ms);
CREATE TABLE world_records (
	turn_id TEXT NOT NULL, 
	record TEXT NOT NULL, 
	CONSTRAINT world_records_pk PRIMARY KEY (turn_id), 
	CONSTRAINT world_records_turn_fk FOREIGN KEY(turn_id) REFERENCES turns (turn_id) ON DELETE CASCADE
);
CREATE TABLE trace_parts (
	number INTEGER NOT NULL, 
	turn_id TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	at_ms INTEGER NOT NULL, 
	doc BLOB NOT NULL, 
	CONSTRAINT trace_parts_pk PRIMARY KEY (number)
);
CREATE INDEX trace_parts_by_turn ON trace_parts (turn_id, number);
CREATE INDEX trace_parts_by_time ON trace_parts (at_ms);
CREATE TABLE trace_texts (
	hash TEXT NOT NULL, 
	used_at_ms INTEGER NOT NULL, 
	text BLOB NOT NULL, 
	CONSTRAINT trace_texts_pk PRIMARY KEY (hash)
);
CREATE INDEX trace_texts_by_use ON trace_texts (used_at_ms);
CREATE TABLE memory_lines (
	line_no INTEGER NOT NULL, 
	scope TEXT NOT NULL, 
	parent_no INTEGER, 
	fork_depth INTEGER NOT NULL, 
	CONSTRAINT memory_lines_pk PRIMARY KEY (line_no)
);
CREATE INDEX memory_lines_by_scope ON memory_lines (scope, line_no);
CREATE TABLE memory_turns (
	turn_id TEXT NOT NULL, 
	line_no INTEGER NOT NULL, 
	depth INTEGER NOT NULL, 
	CONSTRAINT memory_turns_pk PRIMARY KEY (turn_id), 
	CONSTRAINT memory_turns_line_fk FOREIGN KEY(line_no) REFERENCES memory_lines (line_no) ON DELETE CASCADE
);
CREATE UNIQUE INDEX memory_turns_by_line ON memory_turns (line_no, depth);
CREATE TABLE memory_spaces (
	space_no INTEGER NOT NULL, 
	line_no INTEGER NOT NULL, 
	owner TEXT NOT NULL, 
	names TEXT NOT NULL, 
	CONSTRAINT memory_spaces_pk PRIMARY KEY (space_no), 
	CONSTRAINT memory_spaces_line_fk FOREIGN KEY(line_no) REFERENCES memory_lines (line_no) ON DELETE CASCADE
);
CREATE UNIQUE INDEX memory_spaces_by_owner ON memory_spaces (line_no, owner);
CREATE TABLE memories (
	space_no INTEGER NOT NULL, 
	place INTEGER NOT NULL, 
	memory_id TEXT NOT NULL, 
	turn_id TEXT, 
	kind TEXT NOT NULL, 
	text TEXT NOT NULL, 
	speaker TEXT NOT NULL, 
	people TEXT NOT NULL, 
	scene TEXT NOT NULL, 
	at_where TEXT NOT NULL, 
	minute INTEGER NOT NULL, 
	importance INTEGER NOT NULL, 
	valence FLOAT NOT NULL, 
	words TEXT NOT NULL, 
	language TEXT NOT NULL, 
	signs TEXT NOT NULL, 
	dates TEXT NOT NULL, 
	day TEXT NOT NULL, 
	pinned INTEGER NOT NULL, 
	recalls INTEGER NOT NULL, 
	fidelity FLOAT NOT NULL, 
	doc TEXT NOT NULL, 
	vector BLOB NOT NULL, 
	embedder TEXT NOT NULL, 
	created_at_ms INTEGER NOT NULL, number INTEGER DEFAULT '0' NOT NULL, stems TEXT DEFAULT '' NOT NULL, 
	CONSTRAINT memories_pk PRIMARY KEY (space_no, place), 
	CONSTRAINT memories_space_fk FOREIGN KEY(space_no) REFERENCES memory_spaces (space_no) ON DELETE CASCADE
);
CREATE UNIQUE INDEX memories_by_id ON memories (memory_id);
CREATE INDEX memories_by_scene ON memories (space_no, scene, place);
CREATE INDEX memories_by_embedder ON memories (embedder, memory_id);
CREATE TABLE memory_words (
	space_no INTEGER NOT NULL, 
	word TEXT NOT NULL, 
	place INTEGER NOT NULL, 
	CONSTRAINT memory_words_pk PRIMARY KEY (space_no, word, place), 
	CONSTRAINT memory_words_memory_fk FOREIGN KEY(space_no, place) REFERENCES memories (space_no, place) ON DELETE CASCADE
)
 WITHOUT ROWID

;
CREATE INDEX memory_words_by_memory ON memory_words (space_no, place);
CREATE TABLE canon_changes (
	change_id TEXT NOT NULL, 
	world_id TEXT NOT NULL, 
	session_id TEXT, 
	kind TEXT NOT NULL, 
	subject TEXT NOT NULL, 
	object TEXT NOT NULL, 
	status TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	replaced_by TEXT, 
	doc TEXT NOT NULL, 
	verdict TEXT, 
	decision TEXT, 
	created_at_ms INTEGER NOT NULL, 
	updated_at_ms INTEGER NOT NULL, predicate TEXT DEFAULT '' NOT NULL, strength FLOAT, begins_at INTEGER, ends_at INTEGER, entity_kind TEXT, entity_name TEXT, 
	CONSTRAINT canon_changes_pk PRIMARY KEY (change_id)
);
CREATE INDEX canon_changes_by_status ON canon_changes (world_id, status, change_id);
CREATE INDEX canon_changes_by_version ON canon_changes (world_id, version);
CREATE INDEX canon_changes_by_subject ON canon_changes (world_id, subject);
CREATE INDEX canon_changes_by_object ON canon_changes (world_id, object);
CREATE INDEX canon_changes_by_session ON canon_changes (session_id);
CREATE TABLE lore_bundles (
	version TEXT NOT NULL, 
	bundle TEXT NOT NULL, 
	created_at_ms INTEGER NOT NULL, 
	CONSTRAINT lore_bundles_pk PRIMARY KEY (version)
);
CREATE INDEX lore_bundles_by_age ON lore_bundles (created_at_ms, version);
CREATE INDEX canon_true_by_kind ON canon_changes (world_id, kind, change_id) WHERE status = 'committed' AND replaced_by IS NULL;
CREATE INDEX canon_true_by_time ON canon_changes (world_id, begins_at, change_id) WHERE status = 'committed' AND replaced_by IS NULL;
CREATE TABLE audit (
	number INTEGER NOT NULL, 
	at_ms INTEGER NOT NULL, 
	caller TEXT NOT NULL, 
	token_id TEXT, 
	what TEXT NOT NULL, 
	why TEXT NOT NULL, 
	about TEXT NOT NULL, 
	sentence TEXT NOT NULL, 
	CONSTRAINT audit_pk PRIMARY KEY (number)
);
CREATE INDEX audit_by_time ON audit (at_ms);
CREATE TABLE canon_staged (
	change_id TEXT NOT NULL, 
	tree_id TEXT NOT NULL, 
	turn_id TEXT NOT NULL, 
	depth INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	subject TEXT NOT NULL, 
	object TEXT NOT NULL, 
	doc TEXT NOT NULL, 
	created_at_ms INTEGER NOT NULL, 
	CONSTRAINT canon_staged_pk PRIMARY KEY (change_id)
);
CREATE INDEX canon_staged_by_depth ON canon_staged (tree_id, depth, number);
CREATE INDEX canon_staged_by_subject ON canon_staged (tree_id, subject, depth);
CREATE INDEX canon_staged_by_object ON canon_staged (tree_id, object, depth);
CREATE TABLE canon_rulings (
	tree_id TEXT NOT NULL, 
	change_id TEXT NOT NULL, 
	turn_id TEXT NOT NULL, 
	depth INTEGER NOT NULL, 
	status TEXT NOT NULL, 
	verdict TEXT, 
	decision TEXT NOT NULL, 
	ruled_at_ms INTEGER NOT NULL, 
	CONSTRAINT canon_rulings_pk PRIMARY KEY (change_id, turn_id)
);
CREATE INDEX canon_rulings_by_tree ON canon_rulings (tree_id);
CREATE TABLE canon_commits (
	turn_id TEXT NOT NULL, 
	tree_id TEXT NOT NULL, 
	world_id TEXT NOT NULL, 
	why TEXT NOT NULL, 
	accepted INTEGER NOT NULL, 
	rejected INTEGER NOT NULL, 
	pending INTEGER NOT NULL, 
	committed_at_ms INTEGER NOT NULL, 
	CONSTRAINT canon_commits_pk PRIMARY KEY (turn_id)
);
CREATE INDEX canon_commits_by_tree ON canon_commits (tree_id);
CREATE INDEX memories_by_kind ON memories (space_no, kind, place);
CREATE TABLE memory_covers (
	space_no INTEGER NOT NULL, 
	place INTEGER NOT NULL, 
	line_no INTEGER NOT NULL, 
	from_place INTEGER NOT NULL, 
	summary_id TEXT NOT NULL, 
	CONSTRAINT memory_covers_pk PRIMARY KEY (space_no, place, summary_id), 
	CONSTRAINT memory_covers_memory_fk FOREIGN KEY(space_no, place) REFERENCES memories (space_no, place) ON DELETE CASCADE
);
CREATE INDEX memory_covers_by_summary ON memory_covers (summary_id);
CREATE TABLE scenes (
	turn_id TEXT NOT NULL, 
	tree_id TEXT NOT NULL, 
	depth INTEGER NOT NULL, 
	doc TEXT NOT NULL, 
	ended_at_ms INTEGER NOT NULL, 
	CONSTRAINT scenes_pk PRIMARY KEY (turn_id)
);
CREATE INDEX scenes_by_depth ON scenes (tree_id, depth);
CREATE INDEX canon_replaced_entities ON canon_changes (world_id, kind, subject) WHERE kind = 'entity' AND replaced_by IS NOT NULL;
CREATE INDEX canon_graph_by_subject ON canon_changes (world_id, subject, kind, change_id, object, predicate, strength, begins_at, ends_at, session_id, status, replaced_by) WHERE status = 'committed' AND replaced_by IS NULL;
CREATE INDEX canon_graph_by_object ON canon_changes (world_id, object, kind, change_id, subject, predicate, strength, begins_at, ends_at, session_id, status, replaced_by) WHERE status = 'committed' AND replaced_by IS NULL;
CREATE INDEX canon_graph_names ON canon_changes (world_id, subject, kind, change_id, entity_kind, entity_name, session_id, status, replaced_by) WHERE status = 'committed' AND replaced_by IS NULL AND kind = 'entity';
CREATE INDEX canon_true_of_kind ON canon_changes (world_id, kind, version) WHERE status = 'committed' AND replaced_by IS NULL;
