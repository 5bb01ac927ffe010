VAR has_key = false
VAR has_lamp = true
* {has_key} [Unlock the door] Open.
* {not has_key} [Knock] Nobody answers.
* {has_lamp} {not has_key} [Light the lamp] It is bright.
- -> END
