-> inner ->
-> END
=== inner
Inside.
->-> outer("yard")
=== outer(place)
Out in the {place}.
-> END
