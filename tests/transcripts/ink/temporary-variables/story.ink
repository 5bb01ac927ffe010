-> count
=== count
~ temp n = 2
~ temp word = "two"
{n} is {word}.
~ n = n * n
{n}.
-> END
