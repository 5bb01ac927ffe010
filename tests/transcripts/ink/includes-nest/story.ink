INCLUDE outer.ink
Main.
-> inner_knot
