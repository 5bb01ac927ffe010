"""How a character takes what is done to it, and how it shows where it stands, by rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fabula.language.social_acts import SocialAct, acts_in
from fabula.story.contexts import ActorContext, CastMember, SceneContext
from fabula.story.relations import Relation
from fabula.understudy.line import Line
from fabula.understudy.minds import mind_of
from fabula.understudy.voice import FreshVoice

WARY_BELOW: Final = -0.3
AFRAID_FROM: Final = 0.3
FOND_FROM: Final = 0.3

_TAKEN: Final[Mapping[SocialAct, tuple[str, ...]]] = {
    "betrayal": (
        "Say that again. Slowly, and look at me while you do.",
        "You. Of all people, you.",
        "I opened the door to you. Remember that, when you try to sleep.",
        "Then there is nothing left to talk about, is there?",
        "So it was worth that little to you.",
    ),
    "threat": (
        "All right. All right. Nobody has to do anything foolish.",
        "You would do it, too. I can see that you would.",
        "Then do it, or stop talking about it.",
        "I heard you the first time.",
        "Keep your distance, and we can still speak.",
    ),
    "confession": (
        "That must have been heavy to carry about.",
        "Why do you tell me this? No, wait. I think I know.",
        "I had wondered. I would not have asked.",
        "It changes things. I can't tell you yet how.",
        "You could have kept that to yourself. You didn't.",
    ),
    "rescue": (
        "I had stopped believing that anybody would come.",
        "You need not have done that. I am glad that you did.",
        "I will not forget this. I don't forget such things.",
        "Give me a moment. My hands will not stop shaking.",
    ),
    "favour": (
        "That is too much. You know that it is too much.",
        "Nobody has ever done that for me, and asked for nothing.",
        "Then I owe you. And I pay what I owe.",
        "I will take it, because you mean it. But I will remember the price.",
    ),
    "insult": (
        "Is that all? I have been called worse by better people.",
        "If you came to say that, you have said it.",
        "Careful. I am still being polite.",
        "Words like that are cheap. What do you want?",
        "I was beginning to think well of you. My mistake.",
    ),
    "accusation": (
        "You have made up your mind already, haven't you?",
        "Believe what you like. I know what I did, and what I didn't.",
        "And what would you have done in my place?",
        "That is a hard thing to say to somebody's face.",
        "Show me why you think so, and then we talk.",
    ),
    "mockery": (
        "Laugh, if it helps you.",
        "I am glad that one of us finds it funny.",
        "Go on. I have time.",
    ),
    "order": (
        "I don't take orders. Ask, and we will see.",
        "Try that again with a please in it.",
        "You speak as if I worked for you.",
    ),
    "praise": (
        "I don't hear that often. Thank you.",
        "You don't have to say such things. But I like to hear them.",
        "Now you are only being kind.",
        "Well. Somebody noticed.",
    ),
    "promise": (
        "Good. I will hold you to it.",
        "People promise a great deal. You, I might believe.",
        "Then I need not say more about it.",
        "I would like that to be true.",
    ),
    "gift": (
        "For me? What did I do to deserve it?",
        "I have nothing to give you back. Not today.",
        "I will keep it where I can see it.",
    ),
    "comfort": (
        "It helps that you say so.",
        "I want to believe that.",
        "You are kinder than you look.",
        "Stay a little. It is easier with somebody here.",
    ),
}
_GUARDED: Final = (
    "Why should I tell you that?",
    "You had my trust once. Ask somebody else now.",
    "I would rather say nothing than something you can use.",
    "Ask all you like. I am careful what I say to you.",
    "There was a time when I would have answered that.",
    "You will understand if I keep that to myself.",
    "No. Not to you.",
)
_SCARED: Final = (
    "Please. I will tell you what you want to know.",
    "Don't be angry. I am trying to remember it right.",
    "I only want to go home.",
    "Whatever you like. Only stay over there.",
)
_MOVES_WARY: Final = (
    "{name} watches your hands, not your face.",
    "{name} has put the width of the room between you.",
    "{name} answers to the wall beside you.",
    "{name} does not sit down.",
)
_MOVES_SCARED: Final = (
    "{name} takes half a step back, and pretends that it was nothing.",
    "{name} looks for the way out, and finds you in it.",
    "{name} speaks quickly, as if the words had to be got rid of.",
    "{name} flinches when you move.",
)
_MOVES_FOND: Final = (
    "{name} leans a little closer.",
    "{name} smiles before you have finished.",
    "{name} makes room for you.",
    "Something in {name}'s shoulders comes to rest.",
)


def standing(context: SceneContext, actor: CastMember) -> Relation | None:
    """How whoever is played stands to the player, if that is worth a word; always in a conversation."""
    note = context.conversation if isinstance(context, ActorContext) else None
    if note is not None:
        return note.relation if note.mode == "talk" else None
    mind = mind_of(context, actor)
    return None if mind is None else mind.relation


def taken(context: SceneContext, actor: CastMember, line: Line, voice: FreshVoice) -> str:
    """What a character says to what the line does to it, or because of where it stands; nothing where that is nothing
    special."""
    relation = standing(context, actor)
    if relation is None:
        return ""
    for act in acts_in(line.text):
        if act in _TAKEN and (said := voice.pick(_TAKEN[act])):
            return said
    if not line.is_question:
        return ""
    if relation.trust <= WARY_BELOW and not voice.chance(3):
        return voice.pick(_GUARDED)
    return ""


def fearful(context: SceneContext, actor: CastMember, voice: FreshVoice) -> str:
    """What fear puts before an answer, now and then."""
    relation = standing(context, actor)
    return voice.pick(_SCARED) if relation is not None and relation.fear >= AFRAID_FROM and voice.chance(2) else ""


def shown_standing(context: SceneContext, actor: CastMember, voice: FreshVoice) -> str:
    """A gesture in which it shows how somebody stands to the player, now and then."""
    relation = standing(context, actor)
    if relation is None or not voice.chance(2):
        return ""
    slots = {"name": actor.name}
    if relation.fear >= AFRAID_FROM:
        return voice.pick(_MOVES_SCARED, slots)
    if relation.trust <= WARY_BELOW:
        return voice.pick(_MOVES_WARY, slots)
    return voice.pick(_MOVES_FOND, slots) if relation.affinity >= FOND_FROM else ""
