VAR hits = 0
{double(4)} {max3(1, 9, 4)}
~ hit()
~ hit()
{hits}
{say_hello("Anna")}
=== function double(x)
~ return x * 2
=== function max3(a, b, c)
{ a < b:
    {
    - b < c: 
        ~ return c
    - else: 
        ~ return b
    }
}
~ return MAX(a, c)
=== function hit
~ hits = hits + 1
=== function say_hello(name)
Hello, {name}!
