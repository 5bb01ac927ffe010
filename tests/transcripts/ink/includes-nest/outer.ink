Outer.
INCLUDE inner.ink
=== outer_knot
Outer knot.
-> END
