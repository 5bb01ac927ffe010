He is {name()}<>
, they say.
~ shout()
<> indeed.
=== function name
tall
~ return
=== function shout
Very tall
