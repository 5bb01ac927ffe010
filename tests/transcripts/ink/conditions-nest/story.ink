VAR a = true
VAR b = false
{ a:
    { b:
        Both.
    - else:
        Only a: {a and not b: sure|unsure}.
    }
}
