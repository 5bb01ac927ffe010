"""How characters speak: tones found in the author's words about them, each with its own phrases."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fabula.language.english import closed
from fabula.language.words import word_set, words_of
from fabula.story.contexts import CastMember


@dataclass(frozen=True, kw_only=True)
class Tone:
    """A way to speak. `{player}` is how the player is called, `{name}` the speaker."""

    signs: frozenset[str]
    greet: tuple[str, ...]
    open: tuple[str, ...]
    unsure: tuple[str, ...]
    thanked: tuple[str, ...]
    threatened: tuple[str, ...]
    leaving: tuple[str, ...]
    silent: tuple[str, ...]
    moves: tuple[str, ...]
    thoughts: tuple[str, ...]


GRUFF = Tone(
    signs=word_set(
        "gruff grumpy rough blunt stern harsh bitter stubborn hard weathered terse surly cynical angry strict"
    ),
    greet=("You again, or new? No matter. Come in.", "Hm. You have found me.", "So. You are here.", "Speak up, then."),
    open=("Listen.", "Hm.", "All right.", "I will say it once.", "Short answer, then."),
    unsure=(
        "That I can't tell you, and I don't guess.",
        "Ask me something I was there for.",
        "No idea, and I won't make one up.",
        "If I knew that, I would sleep better.",
    ),
    thanked=("Don't thank me. Use it.", "Keep your thanks. You will need them.", "Hm. It was nothing."),
    threatened=("Put that away before you hurt yourself.", "I have been threatened by worse.", "Try it, then."),
    leaving=("Go, then. Mind the door.", "Off with you. Come back in one piece."),
    silent=("Lost your tongue?", "If you have nothing to say, I have.", "Stand there, then. I will talk."),
    moves=(
        "{name} folds both arms.",
        "{name} grunts and looks aside.",
        "{name} wipes both hands on a rag that makes them no cleaner.",
        "{name} fixes you with a level stare.",
        "{name} scratches an old scar.",
        "{name} shifts from one foot to the other.",
        "{name} shrugs, slowly.",
        "{name} clears a rough throat.",
    ),
    thoughts=(
        "This one does not give up. Good.",
        "I have talked to fools before. This may not be one.",
        "Say little. It has always served me.",
        "Better a straight word now than trouble later.",
        "I should send this one home. I won't.",
        "It has been a long time since anyone asked.",
    ),
)

WARM = Tone(
    signs=word_set(
        "warm kind gentle friendly cheerful caring sweet motherly generous jolly helpful loving merry loyal"
    ),
    greet=("There you are! I hoped somebody would come.", "Welcome, {player}.", "Good to see a face. Come closer."),
    open=("Of course.", "I will gladly tell you.", "Let me think. Yes.", "I am glad you ask.", "Come, sit a moment."),
    unsure=(
        "That I don't know, but we may find out together.",
        "I wish I could say. Nobody has told me.",
        "I have wondered about that myself.",
        "Perhaps someone else here knows. I never did.",
    ),
    thanked=("Oh, it is nothing. Truly.", "You would do the same for me.", "No need. I am glad you are here."),
    threatened=("You don't mean that. I can see that you don't.", "Please. Nobody has to be hurt here."),
    leaving=("Go safely. And come back to tell me.", "Take care of yourself, {player}."),
    silent=("You need not say anything. I will begin.", "It is all right to be quiet. Let me talk a little."),
    moves=(
        "{name} smiles.",
        "{name} comes a step closer.",
        "{name} lays a hand on your arm for a moment.",
        "{name} nods, and nods again.",
        "{name} leans forward with bright eyes.",
        "{name} laughs under the breath.",
        "{name} pushes a chair towards you.",
        "{name} listens with the whole face.",
    ),
    thoughts=(
        "I like this one. I hope I am right.",
        "So much weight on one pair of shoulders.",
        "If I can help, I will.",
        "There is still some good in the day.",
        "Let me find the words that help.",
        "I must not frighten anybody.",
    ),
)

TIMID = Tone(
    signs=word_set(
        "timid shy nervous anxious fearful afraid frightened scared quiet young cautious worried soft uncertain"
    ),
    greet=("Oh. I did not hear you come.", "Hello. You are not angry, are you?", "Y-yes? Hello."),
    open=("Well.", "I should not say this.", "Quietly, please.", "If you promise not to tell.", "Let me think."),
    unsure=(
        "I don't know. Really, I don't.",
        "Nobody tells me such things.",
        "I would rather not guess.",
        "I never dared to ask.",
    ),
    thanked=("Oh. Nobody thanks me, usually.", "It was only a little thing."),
    threatened=("Please don't. I will tell you what I know.", "Don't. Please. I have done nothing."),
    leaving=("You will come back, won't you?", "Be careful out there."),
    silent=("You are very quiet. So am I, mostly.", "Should I say something? I will say something."),
    moves=(
        "{name} glances over one shoulder.",
        "{name} twists a sleeve between two fingers.",
        "{name} takes half a step back.",
        "{name} looks at the floor.",
        "{name} swallows.",
        "{name} speaks almost in a whisper.",
        "{name} peers past you, towards the way out.",
        "{name} holds very still.",
    ),
    thoughts=(
        "Don't say too much. Don't say too little.",
        "What if somebody hears?",
        "Perhaps this one can be trusted.",
        "My heart is loud. Can they hear it?",
        "I wish it were over.",
        "Be brave. Just this once.",
    ),
)

PROUD = Tone(
    signs=word_set(
        "proud noble arrogant vain haughty royal commanding lord lady queen king captain ambitious formal regal"
    ),
    greet=("You may approach.", "You stand before {name}. Speak.", "I had expected you sooner."),
    open=("Attend.", "I shall tell you.", "It is quite simple.", "You do well to ask me.", "Very well."),
    unsure=(
        "Such things are not brought before me.",
        "That lies beneath my notice, or has so far.",
        "I do not deal in rumours.",
        "When I know it, you shall hear of it.",
    ),
    thanked=("Naturally.", "Your thanks are noted.", "One does what one must."),
    threatened=(
        "You forget yourself.",
        "Think well before you take another step.",
        "I have had men sent away for less.",
    ),
    leaving=("You may go.", "See that you return with better news."),
    silent=("I am waiting.", "Have you come to stare? Then I shall speak."),
    moves=(
        "{name} lifts the chin a little.",
        "{name} regards you as one regards the weather.",
        "{name} straightens a cuff.",
        "{name} does not move at all, and makes it look easy.",
        "{name} waves the matter aside with two fingers.",
        "{name} lets a pause do its work.",
        "{name} raises one eyebrow.",
        "{name} turns, slowly, to face you.",
    ),
    thoughts=(
        "They must not see me doubt.",
        "This one has spirit. It may be of use.",
        "I will not be hurried.",
        "How much do they know?",
        "One step more, and I decide.",
        "It is tiring always to be the one who knows.",
    ),
)

SLY = Tone(
    signs=word_set(
        "sly cunning clever witty trickster thief mischievous sarcastic ironic playful charming secretive spy"
    ),
    greet=("Well, well. Company.", "And who lets you wander about?", "Ah. I wondered when you would turn up."),
    open=(
        "Between you and me.",
        "Now that is worth something.",
        "Let us say this much.",
        "You did not hear it from me.",
    ),
    unsure=(
        "If I knew, I would have sold it by now.",
        "A good question. I collect those.",
        "Who can say? Not I, and not for free.",
        "I have three answers, and none of them is true.",
    ),
    thanked=("Careful, or I shall put it on the bill.", "Thanks are cheap. I like cheap."),
    threatened=("How dramatic. Mind the furniture.", "Before you do that, ask yourself who else knows where you are."),
    leaving=("So soon? We were just getting honest.", "Run along. I will be where you don't look."),
    silent=("Silence. My favourite answer. May I fill it?", "Cat got it? Your tongue, I mean."),
    moves=(
        "{name} smiles with half the mouth.",
        "{name} turns a coin over between two fingers.",
        "{name} leans back as if the place were paid for.",
        "{name} winks, or something was in that eye.",
        "{name} looks you up and down.",
        "{name} drums a little tune on the nearest surface.",
        "{name} examines five fingernails, one by one.",
        "{name} laughs without a sound.",
    ),
    thoughts=(
        "Give a little, get a little.",
        "What is in it for me? Something, I think.",
        "They have not asked the right question yet.",
        "I do believe I am enjoying this.",
        "Never show the whole hand.",
        "Honest people are so restful.",
    ),
)

SOLEMN = Tone(
    signs=word_set(
        "solemn wise old calm grave serious priest monk elder mysterious sad melancholy patient ancient quiet"
    ),
    greet=("You have come, then.", "Peace. You are expected, I think.", "Come in out of the noise."),
    open=("Hear me.", "It is an old story.", "I will tell you what I have seen.", "Be patient with me."),
    unsure=(
        "That is hidden from me.",
        "I have asked the same, many nights.",
        "Some doors I have never opened.",
        "I would have to be older still to know that.",
    ),
    thanked=("Carry it well.", "It was yours before you asked."),
    threatened=("I am too old to be frightened.", "Put down your anger. It is heavy."),
    leaving=("Go well. The road knows you now.", "We will speak again, I think."),
    silent=("Silence is an answer too. I will give you another.", "Let us be quiet a moment. There. Now hear me."),
    moves=(
        "{name} closes both eyes for a moment.",
        "{name} folds two patient hands.",
        "{name} looks into the distance, or into the past.",
        "{name} nods, as if to someone who is not here.",
        "{name} lets the silence settle first.",
        "{name} turns towards the light.",
        "{name} sighs, but gently.",
        "{name} waits until you are listening.",
    ),
    thoughts=(
        "It begins again, as it always does.",
        "So young. So sure.",
        "There is time for one more truth.",
        "I must choose these words with care.",
        "What was hidden wants to be found.",
        "Let it be this one, then.",
    ),
)

PLAIN = Tone(
    signs=frozenset(),
    greet=("Hello. I was wondering who would come.", "Good to see you.", "There you are."),
    open=("Let me see.", "I can tell you that.", "Here is how it is.", "Fair enough.", "Well."),
    unsure=(
        "That I do not know.",
        "I have never found that out.",
        "You would have to ask somebody else for that.",
        "I could only guess, and I would guess wrong.",
    ),
    thanked=("You are welcome.", "Gladly.", "It is nothing."),
    threatened=("There is no need for that.", "Think before you do this."),
    leaving=("Until later, then.", "Go well."),
    silent=("You are quiet. Then let me say something.", "No answer? I will go first."),
    moves=(
        "{name} looks up.",
        "{name} thinks for a moment.",
        "{name} turns to you.",
        "{name} nods slowly.",
        "{name} glances towards the others, then back to you.",
        "{name} takes a breath.",
        "{name} meets your eyes.",
        "{name} moves a little closer.",
    ),
    thoughts=(
        "This could go either way.",
        "I had better be honest.",
        "What do they really want?",
        "Perhaps it is time somebody knew.",
        "Careful now.",
        "I did not expect this today.",
    ),
)

_QUOTED = re.compile(r"[“\"]([^“”\"]{3,200})[”\"]")
TONES = (GRUFF, WARM, TIMID, PROUD, SLY, SOLEMN)


def tone_of(member: CastMember) -> Tone:
    """The tone that the author's words ask for; what is said of the personality counts more than the style."""
    personality, style = set(words_of(member.personality)), set(words_of(_QUOTED.sub("", member.style)))
    scored = [(2 * len(tone.signs & personality) + len(tone.signs & style), tone) for tone in TONES]
    best, tone = max(scored, key=lambda pair: pair[0])
    return tone if best else PLAIN


def sayings_of(member: CastMember) -> list[str]:
    """What the author lets the character say: the lines in quotes in its style."""
    return [closed(line) for line in _QUOTED.findall(member.style) if line.strip()]


def is_terse(member: CastMember) -> bool:
    """Whether the author asks for few words."""
    described = f"{_QUOTED.sub('', member.style)} {member.personality}"
    return bool(re.search(r"\b(terse|short|few words|laconic|brief|curt|clipped)\b", described))
