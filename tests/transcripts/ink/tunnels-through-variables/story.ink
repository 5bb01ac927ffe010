VAR stop = -> inn
-> stop ->
And on.
-> visit(-> mill) ->
Home.
-> END
=== visit(-> where)
-> where ->
->->
=== inn
The inn.
->->
=== mill
The mill.
->->
