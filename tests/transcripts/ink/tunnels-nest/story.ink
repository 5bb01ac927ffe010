-> outer ->
After both.
-> END
=== outer
Outer begins.
-> inner ->
Outer ends.
->->
=== inner
Inner.
->->
