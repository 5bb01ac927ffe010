{true} {false} {1 == 1} {not true}
{true + 1}
