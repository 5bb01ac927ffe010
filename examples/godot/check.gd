# Plays the room without a screen and checks what a player would notice:
#   FABULA_URL=ws://127.0.0.1:8420/ws godot3-server --path examples/godot -s check.gd
# With FABULA_CHECK=interrupt the NPC must speak long enough to be interrupted; with FABULA_CHECK=reconnect the server
# must die while it speaks, and come back.
extends SceneTree

const LONGEST := 40.0

var room: Node
var seconds := 0.0
var started := []
var ended := []
var grew := 0
var step := 0


func _initialize() -> void:
	room = load("res://room.tscn").instance()
	root.add_child(room)


func _idle(delta: float) -> bool:
	seconds += delta
	if step == 0 and room.client != null:
		room.client.connect("turn_started", self, "_on_turn_started")
		room.client.connect("turn_ended", self, "_on_turn_ended")
		room.client.connect("tag_grew", self, "_on_tag_grew")
		room.client.connect("connected", self, "_on_connected")
		step = 1
	elif step == 1 and room.client.is_open:
		room.speak("Mara, what happened to the bridge?")
		step = 2
	elif step == 2 and OS.get_environment("FABULA_CHECK") == "interrupt" and grew >= 3:
		room.speak("Stop! Mara, listen to me.")
		step = 3
	elif step >= 2 and ended.size() == (2 if step == 3 else 1):
		_judge()
		return true
	if seconds > LONGEST:
		_fail("nothing more happened after %d turns; %s" % [ended.size(), room.status.text])
		return true
	return false


func _judge() -> void:
	var reason := _what_is_wrong(ended[0], room.npcs["mara"].words())
	if reason != "":
		_fail(reason)
		return
	print("CHECKS PASSED: ", room.npcs["mara"].words())
	quit(0)


func _what_is_wrong(first, words: String) -> String:
	if step == 3 and (not first.interrupted or ended[1].interrupted or started.size() != 2):
		return "the first turn was not interrupted by the second"
	if step == 2 and not "bridge" in first.said():
		return "Mara does not speak of the bridge: " + first.said()
	if grew < 2 or words == "":
		return "the bubble did not grow"
	if room.npcs["orr"].words() != "":
		return "Orr speaks although nobody spoke to him"
	return ""


func _fail(reason: String) -> void:
	print("CHECK FAILED: ", reason)
	quit(1)


# The second time, the connection was lost: what was being said is over, and the player goes on.
func _on_connected(resumed: bool) -> void:
	if resumed and step == 2:
		room.speak("Mara, and then?")
		step = 3


func _on_turn_started(turn) -> void:
	started.append(turn)


func _on_turn_ended(turn) -> void:
	ended.append(turn)


func _on_tag_grew(_turn, _tag, _text) -> void:
	grew += 1
