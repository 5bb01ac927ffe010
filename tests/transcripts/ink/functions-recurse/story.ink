{factorial(5)} {fib(10)}
=== function factorial(n)
{ n <= 1:
    ~ return 1
}
~ return n * factorial(n - 1)
=== function fib(n)
{ n < 2:
    ~ return n
- else:
    ~ return fib(n - 1) + fib(n - 2)
}
