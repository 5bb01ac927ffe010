LIST days = monday, tuesday, wednesday, thursday, friday
~ SEED_RANDOM(5)
{LIST_RANDOM(LIST_ALL(days))} {LIST_RANDOM((monday, friday))}
{LIST_RANDOM(())}x
