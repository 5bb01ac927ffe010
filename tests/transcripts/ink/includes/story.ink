INCLUDE words.ink
Main text. {word}
-> greeting
