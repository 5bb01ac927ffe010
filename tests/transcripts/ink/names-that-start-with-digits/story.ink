VAR 2nd = "second"
{2nd}
-> 3rd
=== 3rd
Third.
-> END
