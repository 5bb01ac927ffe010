VAR big = 2147483647
{big + 1} {big * 2} {-big - 2}
