VAR mood = "grim"
VAR n = 3
A line. #mood: {mood} # level {n + 1}
Another. # {n > 2: many|few}
