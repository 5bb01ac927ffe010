VAR money = 10
~ temp debt = 5
~ alter(money, -3)
~ alter(debt, 2)
{money} {debt}
~ twice(money)
{money}
=== function alter(ref x, by)
~ x = x + by
=== function twice(ref y)
~ alter(y, y)
