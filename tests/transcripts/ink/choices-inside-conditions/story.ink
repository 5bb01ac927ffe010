VAR met = true
-> bar
=== bar
{ met:
    * [Say hello] You say hello. -> bar
    * [Turn away] You turn away. -> done
- else:
    * [Introduce yourself] -> bar
}
* [Leave] -> done
=== done
Good night.
-> END
