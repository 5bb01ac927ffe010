VAR yes = true
VAR no = false
{yes and no} {yes or no} {not no} {!no} {yes && yes} {no || no}
{yes and not no: good}
{ (yes or no) and yes: fine }
{not (yes and no)}
