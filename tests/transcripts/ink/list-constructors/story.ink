LIST volume = off, quiet = 10, loud = 20
VAR now = ()
~ now = volume(10)
{now} {LIST_VALUE(now)}
~ now = volume()
{now}x{LIST_ALL(now)}
