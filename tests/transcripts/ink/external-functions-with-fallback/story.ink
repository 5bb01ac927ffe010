EXTERNAL add(a, b)
EXTERNAL play(sound)
{add(2, 3)}
~ play("bell")
Done.
=== function add(a, b)
~ return a + b
=== function play(sound)
[{sound} is played]
