-> hurt(3) ->
-> hurt(4) ->
Done.
-> END
=== hurt(amount)
You lose {amount} points.
->->
