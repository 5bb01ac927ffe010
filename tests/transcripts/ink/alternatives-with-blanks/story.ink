-> step
=== step
I took a step forward. {||||Then the lights went out. -> dark}
-> step
= dark
Dark.
-> END
