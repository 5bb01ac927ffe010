LIST colours = red, green
LIST sizes = small, red_large
VAR things = (red, small)
{things} {LIST_ALL(things)}
~ things += green
{things} {things ? (green, small)}
{colours.red} {things ? colours.red}
{LIST_INVERT(things)}
~ things = ()
{things}-{LIST_COUNT(things)}
