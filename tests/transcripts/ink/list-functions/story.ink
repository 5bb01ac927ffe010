LIST days = monday, (tuesday), (wednesday), thursday, friday
{LIST_COUNT(days)} {LIST_MIN(days)} {LIST_MAX(days)}
{LIST_ALL(days)}
{LIST_INVERT(days)}
{LIST_RANGE(LIST_ALL(days), tuesday, thursday)}
{LIST_RANGE(LIST_ALL(days), 2, 3)}
{LIST_COUNT(())}
{LIST_VALUE(LIST_MAX(days))}
