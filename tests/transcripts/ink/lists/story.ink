LIST kettle = cold, (boiling), recently_boiled
{kettle}
~ kettle = cold
{kettle} {kettle == cold: It is cold.}
~ kettle++
{kettle}
{LIST_VALUE(kettle)}
{kettle(3)}
