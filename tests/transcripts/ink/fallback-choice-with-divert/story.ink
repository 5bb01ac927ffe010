-> find
=== find
* [Key] A key. -> find
* -> nothing
=== nothing
Nothing is left.
-> END
