-> knot.stitch(5)
=== knot
= stitch(x)
x is {x}.
-> END
