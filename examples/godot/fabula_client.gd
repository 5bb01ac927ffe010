# One connection to Fabula for all NPCs of a game. Copy this file into your game and add it as a node.
#
#   client.connect_to_fabula("ws://127.0.0.1:8420/ws", "my-game")
#   client.connect("state_requested", self, "_on_state_requested")   # answer with send_state()
#   client.say("mara", "Hello there!")
#
# Speaking to an NPC that speaks interrupts it. What was played is confirmed by itself; set `auto_confirm` to false and
# call confirm() when the player has really heard it. A lost connection is taken up again.
class_name FabulaClient
extends Node

signal connected(resumed)
signal disconnected()
signal state_requested(agent_id, request_id)
signal turn_started(turn)
signal tag_opened(turn, tag)
signal tag_grew(turn, tag, text)
signal tag_closed(turn, tag)
signal tool_called(turn, tag)
signal turn_ended(turn)
signal failed(frame)

const FIRST_WAIT := 0.5
const LONGEST_WAIT := 10.0


class Tag:
	extends Reference
	var id: String
	var name: String
	var attrs: Dictionary
	var text := ""
	var complete := false


class Turn:
	extends Reference
	var id: String
	var agent_id: String
	var tags := []
	var interrupted := false

	# What the NPC said aloud, so far.
	func said() -> String:
		var words := PoolStringArray()
		for tag in tags:
			if tag.name == "say":
				words.append(tag.text)
		return words.join(" ")


var auto_confirm := true
var is_open := false

var _socket := WebSocketClient.new()
var _url := ""
var _game := ""
var _token := ""
var _connection_id := ""
var _turns := {}
var _waiting := []
var _retry_in := -1.0
var _wait := FIRST_WAIT


func _ready() -> void:
	_socket.connect("connection_established", self, "_on_established")
	_socket.connect("connection_closed", self, "_on_closed")
	_socket.connect("connection_error", self, "_on_closed")
	_socket.connect("data_received", self, "_on_data")


func connect_to_fabula(url: String, game: String, token := "") -> void:
	_url = url
	_game = game
	_token = token
	_open()


# The player says something to an NPC.
func say(agent_id: String, text: String, player := "Player", interrupt := true) -> void:
	var source := {"id": "player", "name": player, "kind": "player"}
	tell(agent_id, "player_speech", text, {"source": source, "interrupt": interrupt})


# Anything that happens to an NPC and that it reacts to.
func tell(agent_id: String, event_type: String, text: String, fields := {}) -> void:
	var frame := {"agent_id": agent_id, "event_type": event_type, "text": text}
	_send("interaction_event", _with(frame, fields))


# Something that NPCs notice without reacting; ["*"] means all of them.
func notify(agent_ids: Array, event_type: String, text: String) -> void:
	_send("notification_event", {"agent_ids": agent_ids, "event_type": event_type, "text": text})


# Who an NPC is now. Answers `state_requested`; `state` has spec, world, tags, tools and player.
func send_state(agent_id: String, request_id: String, state: Dictionary) -> void:
	var frame := {"agent_id": agent_id, "request_id": request_id}
	_send("agent_state_snapshot", _with(frame, state))


# The NPC falls silent.
func cancel(agent_id: String) -> void:
	_send("cancel_turn", {"agent_id": agent_id})


# What came of a tool; with `goes_on` the NPC takes another turn on it.
func answer_tool(turn: Turn, tag: Tag, ok: bool, result, goes_on := true) -> void:
	var answer := {"call_id": tag.id, "name": tag.attrs.get("name", ""), "ok": ok, "result": result}
	_send(
		"tool_results",
		{"agent_id": turn.agent_id, "turn_id": turn.id, "results": [answer], "continue": goes_on}
	)


# Tells what was really played of a turn; only this enters the NPC's memory.
func confirm(turn: Turn) -> void:
	var tags := []
	for tag in turn.tags:
		var status := "played" if tag.complete else "partial"
		tags.append({"tag": tag.name, "attrs": tag.attrs, "text": tag.text, "status": status})
	var status := "interrupted" if turn.interrupted else "completed"
	_send("agent_turn_result", {"agent_id": turn.agent_id, "turn_id": turn.id, "status": status, "tags": tags})


func _process(delta: float) -> void:
	if _retry_in >= 0.0:
		_retry_in -= delta
		if _retry_in < 0.0:
			_open()
	elif _url != "":
		_socket.poll()


func _open() -> void:
	_retry_in = -1.0
	if _socket.connect_to_url(_url) != OK:
		_retry()


func _retry() -> void:
	_retry_in = _wait
	_wait = min(_wait * 2.0, LONGEST_WAIT)


func _on_established(_protocol: String) -> void:
	_socket.get_peer(1).set_write_mode(WebSocketPeer.WRITE_MODE_TEXT)
	var hello := {"type": "hello", "protocol": 1, "client": _game}
	if _token != "":
		hello["token"] = _token
	if _connection_id != "":
		hello["resume"] = _connection_id
	_socket.get_peer(1).put_packet(JSON.print(hello).to_utf8())


func _on_closed(_was_clean := false) -> void:
	if is_open:
		emit_signal("disconnected")
	is_open = false
	_retry()


func _on_data() -> void:
	var text := _socket.get_peer(1).get_packet().get_string_from_utf8()
	var parsed := JSON.parse(text)
	if parsed.error == OK and parsed.result is Dictionary:
		_hear(parsed.result)


# Sends a frame, or keeps it until the connection stands.
func _send(type: String, fields: Dictionary) -> void:
	fields["type"] = type
	if is_open:
		_socket.get_peer(1).put_packet(JSON.print(fields).to_utf8())
	else:
		_waiting.append(fields)


func _with(frame: Dictionary, fields: Dictionary) -> Dictionary:
	for name in fields:
		frame[name] = fields[name]
	return frame


func _hear(frame: Dictionary) -> void:
	match frame.get("type"):
		"welcome":
			_take_up(frame)
		"get_agent_state":
			emit_signal("state_requested", frame["agent_id"], frame["request_id"])
		"agent_turn_started":
			var turn := Turn.new()
			turn.id = frame["turn_id"]
			turn.agent_id = frame["agent_id"]
			_turns[turn.id] = turn
			emit_signal("turn_started", turn)
		"agent_tag_open", "agent_tag_chunk", "agent_tag_close":
			if _turns.has(frame["turn_id"]):
				_hear_tag(frame, _turns[frame["turn_id"]])
		"agent_turn_finished":
			_end(frame["turn_id"], false)
		"agent_turn_interrupted":
			_end(frame["turn_id"], true)
		"error":
			emit_signal("failed", frame)


# After a lost connection: what was being said is over, and is confirmed as far as it was heard.
func _take_up(welcome: Dictionary) -> void:
	var resumed := _connection_id != ""
	_connection_id = welcome["connection_id"]
	is_open = true
	_wait = FIRST_WAIT
	for turn_id in _turns.keys():
		_end(turn_id, true)
	var waiting := _waiting
	_waiting = []
	for fields in waiting:
		_send(fields["type"], fields)
	emit_signal("connected", resumed)


func _hear_tag(frame: Dictionary, turn: Turn) -> void:
	if frame["type"] == "agent_tag_open":
		var tag := Tag.new()
		tag.id = frame["tag_id"]
		tag.name = frame["tag"]
		tag.attrs = frame["attrs"]
		turn.tags.append(tag)
		emit_signal("tag_opened", turn, tag)
		return
	var open: Tag = turn.tags.back()
	if frame["type"] == "agent_tag_chunk":
		open.text += frame["text"]
		emit_signal("tag_grew", turn, open, frame["text"])
		return
	open.complete = frame["complete"]
	emit_signal("tag_closed", turn, open)
	if open.name == "tool":
		emit_signal("tool_called", turn, open)


func _end(turn_id: String, interrupted: bool) -> void:
	if not _turns.has(turn_id):
		return
	var turn: Turn = _turns[turn_id]
	_turns.erase(turn_id)
	turn.interrupted = interrupted
	if auto_confirm:
		confirm(turn)
	emit_signal("turn_ended", turn)
