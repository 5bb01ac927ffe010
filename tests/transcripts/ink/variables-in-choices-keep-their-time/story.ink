VAR n = 1
-> loop
=== loop
+ [Count {n}] You counted {n}.
~ n++
{n < 4: -> loop}
-> END
