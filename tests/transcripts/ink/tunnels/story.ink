-> crossing ->
You are on the other side.
-> END
=== crossing
You cross the river.
->->
