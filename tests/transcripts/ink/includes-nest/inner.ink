Inner.
=== inner_knot
Inner knot.
-> outer_knot
