VAR word = "hello"
Included text.
=== greeting
{word} from the included knot.
-> END
