# An NPC in the room: a figure, its name, and a speech bubble that grows with the stream.
extends Node2D

export var agent_id := ""
export var display_name := ""
export(String, MULTILINE) var personality := ""
export(PoolStringArray) var knowledge := PoolStringArray()
export(PoolStringArray) var inventory := PoolStringArray()
export var body_color := Color(0.4, 0.5, 0.7)

const SECONDS_SHOWN := 6.0

onready var _bubble: PanelContainer = $Bubble
onready var _words: Label = $Bubble/Words
onready var _gesture: Label = $Gesture

var _seconds_left := 0.0


func _ready() -> void:
	$Name.text = display_name
	_bubble.hide()


func _draw() -> void:
	draw_circle(Vector2(0, -78), 22, body_color.lightened(0.3))
	draw_rect(Rect2(-24, -56, 48, 76), body_color)


func _process(delta: float) -> void:
	if _seconds_left > 0.0:
		_seconds_left -= delta
		if _seconds_left <= 0.0:
			_bubble.hide()
			_gesture.text = ""


# What Fabula is told of this NPC before each turn. In a real game this is read from the game's own state.
func state() -> Dictionary:
	return {
		"spec": {"name": display_name, "personality": personality, "knowledge": Array(knowledge)},
		"world": {"location": "a quiet tavern", "time": "evening", "inventory": Array(inventory)},
		"player": {"id": "player", "name": "Traveller"},
	}


func begin_turn() -> void:
	_words.text = ""
	_gesture.text = ""
	_seconds_left = 0.0


func hear_tag(tag) -> void:
	if tag.name == "say":
		if _words.text != "":
			_words.text += " "
		_bubble.show()


func hear_text(tag, text: String) -> void:
	if tag.name == "say":
		_words.text += text
	else:
		_gesture.text += text


func end_turn(interrupted: bool) -> void:
	if interrupted and _words.text != "":
		_words.text += "--"
	_seconds_left = SECONDS_SHOWN


func words() -> String:
	return _words.text
