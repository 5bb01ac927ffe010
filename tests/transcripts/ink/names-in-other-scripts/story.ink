VAR größe = 3
VAR имя = "Анна"
{größe} {имя}
-> κόμβος
=== κόμβος
Ende.
-> END
