VAR place = -> hall
{place == -> hall} {place == -> yard} {place != -> yard}
=== hall
-> END
=== yard
-> END
