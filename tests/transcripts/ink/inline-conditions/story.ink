VAR rich = true
VAR n = 0
You are {rich: rich|poor}.
You {n > 0: have some|have no} coins{n == 0:, alas}.
{not rich: never}
End.
