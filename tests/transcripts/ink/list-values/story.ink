LIST primes = two = 2, three = 3, five = 5, (seven) = 7, eight
{LIST_VALUE(two)} {LIST_VALUE(seven)} {LIST_VALUE(eight)}
{primes} {primes(5)} {primes(4)}x
