-> one -> two -> three
=== one
One.
->->
=== two
Two.
->->
=== three
Three.
-> END
