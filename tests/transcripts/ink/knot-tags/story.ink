-> room
=== room
# location: Germany
# overview: munich.ogg
The room.
-> END
