VAR x = 1
~ x++
{x}
~ x--
~ x--
{x}
~ x += 10
{x}
~ x -= 3
{x}
