# A room with two NPCs and a line to type in. Type while somebody speaks, and you interrupt them.
extends Node2D

const DEFAULT_URL := "ws://127.0.0.1:8420/ws"

onready var client: FabulaClient = $FabulaClient
onready var line: LineEdit = $Screen/Line
onready var status: Label = $Screen/Status

var npcs := {}
var addressed := "mara"


func _ready() -> void:
	for npc in $People.get_children():
		npcs[npc.agent_id] = npc
	client.connect("connected", self, "_on_connected")
	client.connect("disconnected", self, "_on_disconnected")
	client.connect("state_requested", self, "_on_state_requested")
	client.connect("turn_started", self, "_on_turn_started")
	client.connect("tag_opened", self, "_on_tag_opened")
	client.connect("tag_grew", self, "_on_tag_grew")
	client.connect("turn_ended", self, "_on_turn_ended")
	client.connect("failed", self, "_on_failed")
	line.connect("text_entered", self, "speak")
	line.grab_focus()
	var url := OS.get_environment("FABULA_URL")
	client.connect_to_fabula(url if url != "" else DEFAULT_URL, "two-npcs-in-a-room")


# The player speaks: to whom the words name, or to whom was spoken last. The other one hears it, too.
func speak(text: String) -> void:
	line.clear()
	if text.strip_edges() == "":
		return
	for agent_id in npcs:
		if npcs[agent_id].display_name.to_lower() in text.to_lower():
			addressed = agent_id
	client.say(addressed, text, "Traveller")
	for agent_id in npcs:
		if agent_id != addressed:
			client.notify([agent_id], "overheard", "Traveller says to %s: %s" % [npcs[addressed].display_name, text])


func _on_connected(_resumed: bool) -> void:
	status.text = "Connected. Speak to Mara or to Orr."


func _on_disconnected() -> void:
	status.text = "The connection is lost; trying again."


func _on_state_requested(agent_id: String, request_id: String) -> void:
	if npcs.has(agent_id):
		client.send_state(agent_id, request_id, npcs[agent_id].state())


func _on_turn_started(turn) -> void:
	npcs[turn.agent_id].begin_turn()


func _on_tag_opened(turn, tag) -> void:
	npcs[turn.agent_id].hear_tag(tag)


func _on_tag_grew(turn, tag, text: String) -> void:
	npcs[turn.agent_id].hear_text(tag, text)


func _on_turn_ended(turn) -> void:
	npcs[turn.agent_id].end_turn(turn.interrupted)


func _on_failed(frame: Dictionary) -> void:
	status.text = frame["message"]
